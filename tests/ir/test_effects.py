"""Effects on memory: every op class states them, what an op does in the interpreter is among what it states, and passes
ask nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracebuf.ops.dialects
from tests.mlir.running import arguments
from tests.mlir.test_passes_run import BUFFERIZE, on_buffers
from tests.support.ir_programs import PROGRAMS, by_name
from tests.support.params import one_in
from tests.support.random_programs import random_args, random_func
from tracebuf import opt, pipeline
from tracebuf.frontends.mlir import read
from tracebuf.interpret import memref as interpreter
from tracebuf.interpret.memory import MemRef
from tracebuf.ir.core import Effect, Op, no_effects
from tracebuf.ir.effects import effects_of, is_effect_free, may_write, only_makes_results, only_reads
from tracebuf.ir.func import Func
from tracebuf.ir.unknown import unknown_op
from tracebuf.location import UNKNOWN
from tracebuf.optimize.mlir.inline_calls import inline_calls
from tracebuf.options import Options

CLASSES = {name: cls for name, cls in sorted(Op.registry.items()) if cls.__module__.startswith(tracebuf.ops.__name__)}
READ, WRITE, ALLOCATE, FREE = Effect
KEPT = ("memref.get_global", "bufferization.to_buffer")
"""Ops whose buffers are not new: the interpreter makes them when it meets them."""


def test_every_op_class_states_its_effects() -> None:
    assert [name for name, cls in CLASSES.items() if cls.effects is Op.effects] == []


def test_an_op_that_says_nothing_may_do_anything() -> None:
    op = unknown_op("lab.op")([], [], UNKNOWN)
    assert effects_of(op) is None
    assert may_write(op) and not (is_effect_free(op) or only_reads(op) or only_makes_results(op))


def found_in(text: str) -> dict[str, list[Op]]:
    """The ops of a module's last function, by name."""
    found: dict[str, list[Op]] = {}
    for op in read(text).funcs[-1].walk():
        found.setdefault(op.name, []).append(op)
    return found


def test_ops_on_tensors_do_nothing_and_on_buffers_read_and_write() -> None:
    text = on_buffers()["linalg_ops_on_buffers"]
    (product,) = found_in(text)["linalg.matmul"]
    assert product.effects() == () and only_makes_results(product)
    ops = found_in(opt.run(opt.parse(["-", BUFFERIZE, "-mlir-print-op-generic"]), text, "<text>"))
    a, b, out = ops["linalg.matmul"][0].operands
    assert ops["linalg.matmul"][0].effects() == ((READ, a), (READ, b), (READ, out), (WRITE, out))
    assert ops["linalg.fill"][0].effects() == ((WRITE, out),)
    assert not any(only_makes_results(op) for name in ("linalg.matmul", "linalg.fill") for op in ops[name])


def test_control_flow_does_what_is_in_it() -> None:
    ops = found_in(on_buffers()["loop_that_only_stores"])
    stores, sums = ops["scf.for"]
    assert may_write(stores) and not only_makes_results(stores)
    assert only_reads(sums) and only_makes_results(sums) and not is_effect_free(sums)
    last = ops["scf.if"][-1]
    assert may_write(last) and not only_makes_results(last)


def test_a_loop_that_may_not_end_stays() -> None:
    text = """
"func.func"() <{function_type = (i1) -> (), sym_name = "f"}> ({
^bb0(%c: i1):
  "scf.while"() ({
    "scf.condition"(%c) : (i1) -> ()
  }, {
    "scf.yield"() : () -> ()
  }) : () -> ()
  "func.return"() : () -> ()
}) : () -> ()
"""
    (loop,) = found_in(text)["scf.while"]
    assert is_effect_free(loop) and not only_makes_results(loop)


class Watched:
    """Runs ops as the interpreter does, and compares what becomes of their operands' memory with what they state."""

    def __init__(self) -> None:
        self.run_op = interpreter._MemRefRunner.run_op
        self.met: set[str] = set()

    def __call__(self, runner: Any, op: Op, args: list[Any]) -> Any:
        if op.regions and not hasattr(op, "spec"):
            return self.run_op(runner, op, args)
        given = [(v, a) for v, a in zip(op.operands, args) if isinstance(a, MemRef)]
        before = [(a.array.tobytes(), a.written.tobytes(), a.buffer.freed_by) for _, a in given]
        live = len(runner.memory.buffers)
        results = self.run_op(runner, op, args)
        after = [(a.array.tobytes(), a.written.tobytes(), a.buffer.freed_by) for _, a in given]
        stated = op.effects()
        if stated is None:
            return results
        self.met.add(op.name)
        bases = [a.buffer for v, a in given if (WRITE, v) in stated]
        for (value, a), (data, written, freed), (data_now, written_now, freed_now) in zip(given, before, after):
            if (data, written) != (data_now, written_now):
                assert any(a.buffer is b for b in bases), f"{op.name} writes {value!r}"
            assert freed == freed_now or (FREE, value) in stated, f"{op.name} frees {value!r}"
        allocates = op.name not in KEPT and len(runner.memory.buffers) > live
        assert not allocates or any(effect is ALLOCATE for effect, _ in stated), f"{op.name} allocates"
        return results


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    made = Watched()
    monkeypatch.setattr(interpreter._MemRefRunner, "run_op", lambda *args: made(*args))
    return made


def bufferize_and_run(func: Func, args: list[Any]) -> Func:
    """The memref program, which has run."""
    program = pipeline.to_memref(func, Options())
    interpreter.run(program, [np.array(a, order="K") if isinstance(a, np.ndarray) else a for a in args])
    return program


@pytest.mark.parametrize("name", one_in(6, [p.name for p in PROGRAMS]))
def test_what_ops_do_is_what_they_state(name: str, watched: Watched) -> None:
    program = by_name(name)
    bufferize_and_run(program.build(), program.arguments())
    assert watched.met


@pytest.mark.parametrize("seed", one_in(20, range(60)))
def test_what_ops_do_is_what_they_state_in_random_programs(seed: int, watched: Watched) -> None:
    program = bufferize_and_run(random_func(seed, defined=True, stores=True), random_args())
    assert watched.met or program.block.ops == [program.block.terminator]


@pytest.mark.parametrize("name", on_buffers())
def test_what_ops_do_is_what_they_state_in_text(name: str, watched: Watched) -> None:
    text = on_buffers()[name]
    for flags in ([], [BUFFERIZE]):
        module = read(opt.run(opt.parse(["-", *flags, "-mlir-print-op-generic"]), text, "<text>"))
        func = inline_calls(module, module.funcs[-1].name)
        interpreter.run(func, arguments(func), may_leak=True, tensors=True)


def test_a_wrong_statement_is_found(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    from tracebuf.ops.memory.memref import Store

    monkeypatch.setattr(Store, "effects", no_effects)
    func = inline_calls(read(on_buffers()["loads_and_stores"]), "f")
    with pytest.raises(AssertionError, match=r"memref.store writes"):
        interpreter.run(func, arguments(func), may_leak=True, tensors=True)
