"""`f.validate`: calls that agree, and faults that are put into a stage, which are named."""

from __future__ import annotations

import inspect
import linecache
from functools import partial
from typing import Any

import numpy as np
import pytest

import tracebuf
from tracebuf import bufferize, pipeline
from tracebuf.ir.func import Func
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith

TABLE = np.ones(6)
HELD = [1.0]
RNG = np.random.default_rng(3)


@bufferize
def step(u: Any, v: Any, dt: float) -> Any:
    inner = u[1:-1]
    v[1:-1] += dt * inner
    inner[:] = (u[:-2] + u[2:]) / 2 + v[1:-1]
    v[1:] = v[:-1]
    return inner


@bufferize
def keeps(u: Any) -> Any:
    TABLE[:] += u
    HELD.append(2.0)
    return TABLE * len(HELD)


@bufferize
def draws(rng: np.random.Generator, n: int) -> Any:
    return rng.random(3) + RNG.random(3) * n + np.random.random(3)


@bufferize
def fails(u: Any, k: int) -> Any:
    u[0] = 7
    return u[k]


@bufferize(fallback="numpy")
def refused(u: Any) -> Any:
    return u + id(None) * 0


class Box:
    def __init__(self) -> None:
        self.u = np.arange(4.0)
        self.items: list[Any] = []

    @bufferize
    def add(self, k: float) -> Any:
        self.u += k
        self.items.append(self.u[1:])
        return self


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (step, (np.arange(6.0)[::-1], np.ones(6), 0.5)),
        (keeps, (np.arange(6.0),)),
        (draws, (np.random.default_rng(1), 2)),
        (fails, (np.arange(3.0), 9)),
        (Box().add, (2.0,)),
        (bufferize(lambda a, b: a + b), (np.ones(3), np.ones(4))),
        (partial(bufferize(lambda a, b: a + b), out=np.zeros(3)), (np.ones(3), np.ones(3))),
    ],
)  # fmt: skip
def test_calls_that_agree(f: Any, args: tuple[Any, ...]) -> None:
    before = [x.copy() if isinstance(x, np.ndarray) else x for x in args]
    state = RNG.bit_generator.state
    keywords = f.keywords if isinstance(f, partial) else {}
    found = getattr(f, "func", f).validate(*args, **keywords)
    assert found.ok and {said for _, said in found.rungs} == {"equal"}, found
    assert all(np.array_equal(x, y) for x, y in zip(before, args) if isinstance(x, np.ndarray))
    assert TABLE.tolist() == [1.0] * 6 and HELD == [1.0] and RNG.bit_generator.state == state


def test_arguments_that_overlap_and_the_original() -> None:
    memory = np.arange(9.0)
    assert step.validate(memory[:6], memory[3:], 1.0).notes[0].startswith("`"), "the original runs"
    assert memory.tolist() == [*range(9)]
    with pytest.warns(tracebuf.TracebufWarning):
        refused(np.ones(2))
    assert "a call of id cannot be traced" in str(refused.validate(np.ones(2)))
    with pytest.raises(tracebuf.UnsupportedError):
        bufferize(refused.__wrapped__).validate(np.ones(2))
    copied = bufferize(rule_c4).validate(np.arange(7.0))
    assert copied.ok and "rule C4" in str(copied)


def rule_c4(c: Any) -> Any:
    c[::2] = c[1:5]
    return c[-1]


# -- faults
def sums_for_products(func: Func) -> None:
    """The products of the line that adds `dt * inner` become sums: a fault of a pass."""
    for op in func.walk():
        if op.name == "arith.mulf" and "dt * inner" in linecache.getline(op.loc.file, op.loc.line):
            op.__class__ = arith.AddF


def without_a_copy(func: Func) -> None:
    """What a copy that a conflict asks for protects is read from where it is overwritten: a fault of bufferization."""
    for op in [*func.walk()]:
        if isinstance(op, memref.Copy) and op.attrs.get("conflicts"):
            op.uses[1].value.replace_all_uses(op.operand(0), unless=op)


def behind(passes: Any, name: str, fault: Any) -> Any:
    def step(func: Func, run: Any) -> None:
        run(func)
        fault(func)

    return tuple((n, partial(step, run=run) if n == name else run) for n, run in passes)


LINE = next(n for n, line in enumerate(inspect.getsource(step.__wrapped__).splitlines()) if "dt * inner" in line)
LINE += step.__wrapped__.__code__.co_firstlineno


def validated() -> Any:
    f = bufferize(verify=False)(step.__wrapped__)
    return f.validate(np.arange(6.0), np.linspace(0, 1, 6), 0.5)


@pytest.mark.parametrize(
    ("passes", "name", "rung"),
    [("TENSOR_PASSES", "canonicalize", 1), ("TENSOR_PASSES", "cse-again", 1), ("MEMREF_PASSES", "keep-layouts", 2)],
)
def test_a_fault_of_a_pass_is_named(passes: str, name: str, rung: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, passes, behind(getattr(pipeline, passes), name, sums_for_products))
    found = validated()
    assert [said for _, said in found.rungs] == [*["equal"] * rung, "differs", *["-"] * (3 - rung)], found
    assert found.difference.stage == f"after {name}"
    blame = found.difference.blame
    assert (blame.op, blame.location.line) == ("linalg.generic", LINE)
    assert "v[1:-1] += dt * inner" in str(found) and "v[2]: " in str(found) or "u[" in str(found), str(found)
    assert not np.array_equal(blame.value, blame.expected)


def test_a_missing_copy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = behind(pipeline.MEMREF_PASSES, "copy-on-paths", without_a_copy)
    monkeypatch.setattr(pipeline, "MEMREF_PASSES", passes)
    found = validated()
    assert found.difference is not None and found.difference.stage == "after copy-on-paths", found
    assert f"line {LINE + 2}" in str(found)


def test_a_fault_of_tracing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = tracebuf.stages.trace

    def trace(*args: Any) -> Any:
        traced = real(*args)
        sums_for_products(traced.func)
        return traced

    monkeypatch.setattr(tracebuf.stages, "trace", trace)
    found = validated()
    assert found.difference.stage == "as traced" and not found.ok
    assert found.rungs[0][1] == "differs" and "in eager NumPy" in found.difference.what
    assert found.difference.blame.location.line == LINE and "its value in eager NumPy: [" in str(found)


@bufferize
def product(u: Any) -> Any:
    return u * 3.0


def outer(u: Any) -> Any:
    return product(u) + 1


def test_what_a_function_calls_is_numpy_in_eager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arith.MulF, "instruction", "fadd")
    assert not bufferize(outer)(np.ones(2)).tolist() == [4.0, 4.0] and product(np.ones(2)).tolist() == [4.0, 4.0]
    assert bufferize(outer).validate(np.ones(2)).rungs[-1] == ("native", "differs")


def test_a_fault_of_native_code_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arith.MulF, "instruction", "fadd")
    found = validated()
    assert [said for _, said in found.rungs] == ["equal", "equal", "equal", "differs"]
    assert found.difference.stage == "native" and found.difference.blame.location.line == LINE + 1, str(found)


def test_a_call_that_may_warn_runs_the_original() -> None:
    f = tracebuf.bufferize(warnings="numpy")(lambda a: np.log(a))
    assert f.validate(np.ones(3)).ok
    found = f.validate(np.zeros(3))
    assert found.ok and "NumPy may warn" in str(found)
