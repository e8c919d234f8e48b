"""MLIR text in and out: what mlir-opt prints is read, and what is printed is the same to mlir-opt, in either form.

`tests/mlir/text/ops.mlir` has every op that is spoken of; what mlir-opt-22 makes of it is recorded beside, so that the
reader is tested where the binary is absent.
"""

from __future__ import annotations

import difflib
import re
import subprocess
from pathlib import Path
from typing import Literal

import pytest

from tests.mlir.oracle import MLIR_OPT, needs_mlir
from tests.support.ir_programs import PROGRAMS
from tests.support.memref_programs import memory_program
from tests.support.params import one_in
from tracebuf.frontends.mlir import generic, read, read_all
from tracebuf.ir.explicit import explicit
from tracebuf.ir.func import Module
from tracebuf.ir.print_generic import print_generic
from tracebuf.ir.printer import print_module
from tracebuf.ir.unknown import UnknownOp
from tracebuf.ir.verifier import verify
from tracebuf.module_pipeline import module_to_memref
from tracebuf.options import OneShotOptions

FOLDER = Path(__file__).parent / "text"
OPS = (FOLDER / "ops.mlir").read_text()
RECORDED = (FOLDER / "ops.generic.mlir").read_text()
FLAGS = ("-allow-unregistered-dialect", "-split-input-file", "-mlir-print-op-generic")
LOCATIONS = ("-mlir-print-debuginfo", "-mlir-print-local-scope")


def mlir_opt(text: str, *flags: str) -> str:
    run = subprocess.run([str(MLIR_OPT), "-", *FLAGS, *flags], input=text, capture_output=True, text=True)
    assert run.returncode == 0, f"{run.stderr[:2000]}\n{text[:4000]}"
    return run.stdout


def printed(modules: list[Module], form: str, locations: bool) -> str:
    printer = print_generic if form == "generic" else print_module
    return "// -----\n".join(printer(m, locations=locations) for m in modules)


def without_places_of_arguments(text: str) -> str:
    """Arguments of blocks have the place of their op here."""
    lines = (re.sub(r' loc\((unknown|".*?":\d+:\d+)\)', "", ln) if "^bb" in ln else ln for ln in text.splitlines())
    return "\n".join(lines)


def assert_same(a: str, b: str) -> None:
    a, b = without_places_of_arguments(a), without_places_of_arguments(b)
    assert a == b, "\n".join(difflib.unified_diff(a.splitlines(), b.splitlines(), lineterm="", n=0))[:4000]


@needs_mlir
@pytest.mark.parametrize("form", one_in(4, ["generic", "custom"]))
@pytest.mark.slow
def test_mlir_opt_reads_back_what_it_printed(form: str) -> None:
    text = mlir_opt(OPS)
    assert_same(mlir_opt(text), mlir_opt(printed(read_all(text), form, False)))


@pytest.mark.slow
@needs_mlir
@pytest.mark.parametrize("flags", one_in(4, [LOCATIONS, LOCATIONS[:1]]), ids=["local", "aliases"])
def test_locations_survive(flags: tuple[str, ...]) -> None:
    text = mlir_opt(OPS, *flags)
    assert_same(mlir_opt(text, *LOCATIONS), mlir_opt(printed(read_all(text), "generic", True), *LOCATIONS))


@needs_mlir
def test_the_record_is_what_mlir_opt_prints() -> None:
    run = subprocess.run(
        [str(MLIR_OPT), "ops.mlir", *FLAGS, LOCATIONS[0]], cwd=FOLDER, capture_output=True, text=True, check=True
    )
    assert run.stdout == RECORDED


def test_what_is_printed_is_read_as_the_same() -> None:
    modules = read_all(RECORDED)
    text = printed(modules, "generic", True)
    assert printed(read_all(text), "generic", True) == text


@pytest.mark.slow
def test_ops_of_mlir_have_classes() -> None:
    """What stands for an op that nobody has registered is seen here when a name is misspelled in a class."""
    unknown = {op.name for m in read_all(RECORDED) for f in m.funcs for op in f.walk() if isinstance(op, UnknownOp)}
    assert not {name for name in unknown if name.split(".")[0] in ("linalg", "scf", "bufferization", "func")}
    known = {op.name for m in read_all(RECORDED) for f in m.funcs for op in f.walk() if not isinstance(op, UnknownOp)}
    assert {"linalg.map", "scf.forall", "tensor.pad", "cf.switch"} <= known | {"cf.switch"}


@pytest.mark.slow
@needs_mlir
def test_numpy_programs_in_generic_form() -> None:
    for funcs in ([p.build() for p in PROGRAMS], [memory_program()]):
        custom = mlir_opt(print_module(funcs, locations=True), *LOCATIONS)
        assert len(custom) > 1000
        assert_same(mlir_opt(print_module(funcs)), mlir_opt(print_generic(Module(funcs))))


@needs_mlir
@pytest.mark.slow
def test_numpy_programs_are_read_back() -> None:
    text = mlir_opt(print_module([p.build() for p in PROGRAMS]))
    assert_same(text, mlir_opt(print_generic(read(text))))


@pytest.mark.slow
def test_programs_with_ops_of_tracebufs_own_are_read_back() -> None:
    for level, funcs in (("tensor", [p.build() for p in PROGRAMS]), ("memref", [memory_program()])):
        text = print_generic(Module(funcs), locations=True)
        again = read(text)
        assert print_generic(again, locations=True) == text
        for a, b in zip(funcs, again.funcs, strict=True):
            verify(b, level)
            spelled_out = [op for op in explicit(a).walk() if op.name.startswith("tracebuf.")]
            for old, new in zip(spelled_out, [op for op in b.walk() if op.name.startswith("tracebuf.")], strict=True):
                assert type(old) is type(new) and old.to_form().attrs == new.to_form().attrs


@needs_mlir
def test_any_text_is_made_generic_first() -> None:
    module = read(generic("func.func @f() {\n  return\n}", name="f.mlir"), "f.mlir")
    assert str(module.func("f").block.ops[0].loc) == 'loc("f.mlir":2:3)'


@pytest.mark.slow
@needs_mlir
@pytest.mark.parametrize("compat", ["mlir", None])
def test_mlir_opt_verifies_what_becomes_of_programs(compat: Literal["mlir"] | None) -> None:
    """The memref programs of the corpus, in both forms, which must say the same."""
    options = OneShotOptions(
        bufferize_function_boundaries=True, allow_return_allocs_from_loops=True, allow_unknown_ops=True, compat=compat
    )
    texts = [p.read_text() for p in sorted((FOLDER.parent / "corpus").glob("*.mlir")) if "two_yields" not in p.name]
    modules = [module_to_memref(m, options) for m in read_all(generic("// -----\n".join(texts)))]
    assert len(modules) == len(texts)
    plain, shown = mlir_opt(printed(modules, "generic", False)), mlir_opt(printed(modules, "custom", False))
    assert_same(plain, shown)
    assert_same(plain, mlir_opt(printed(read_all(plain), "generic", False)))
    mlir_opt(printed(modules, "custom", True), *LOCATIONS)
