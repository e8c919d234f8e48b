"""docs/passes.md: the documents' programs through the passes they were written for, as text and executed, with what
`mlir-opt-22` does beside it.

    python -m tests.mlir.documents --write      # writes the page; needs mlir-opt-22
    python -m tests.mlir.documents              # says whether it is up to date

`tests/mlir/documents.mlir` has the programs in generic form.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.mlir.oracle import UNREGISTERED, binary
from tracebuf import mlir, opt
from tracebuf.errors import InternalError, TracebufError
from tracebuf.frontends.mlir import parts
from tracebuf.interpret import memref
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import INDEX, MemRefType, ScalarType, TensorType, Type

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "passes.md"
BUFFERIZE = "-one-shot-bufferize=bufferize-function-boundaries"
PIPELINE = "-buffer-deallocation-pipeline"
OWNERSHIP = "-ownership-based-buffer-deallocation"
CASES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("003_ownership", (OWNERSHIP,)),
    ("003_ownership", (PIPELINE,)),
    ("003_if_new_alloc", (BUFFERIZE, PIPELINE)),
    ("003_dealloc_one", ("-bufferization-lower-deallocations",)),
    ("003_dealloc_one_retained", ("-bufferization-lower-deallocations",)),
    ("003_dealloc_general", ("-bufferization-lower-deallocations",)),
    ("004_branch", ("-buffer-hoisting",)),
    ("004_branch", ("-promote-buffers-to-stack",)),
    ("004_branch", ("-buffer-deallocation",)),
    ("004_branch", (OWNERSHIP,)),
    ("004_condBranch", ("-buffer-hoisting",)),
    ("004_condBranch", ("-buffer-deallocation",)),
    ("004_condBranchDynamic", ("-buffer-hoisting",)),
    ("004_condBranchDynamic", ("-buffer-deallocation",)),
    ("004_nested", ("-buffer-deallocation",)),
    ("004_region_if", ("-buffer-deallocation",)),
    ("004_region_if", (OWNERSHIP,)),
    ("004_region_if_div", ("-buffer-deallocation",)),
    ("004_region_if_div", (PIPELINE,)),
    ("004_nested_region", ("-buffer-deallocation",)),
    ("004_loop_nested_if", ("-buffer-hoisting",)),
    ("004_loop_nested_if", ("-buffer-deallocation",)),
    ("004_mixed", ("-buffer-deallocation",)),
    ("004_copy_removal_src", ("-copy-removal",)),
    ("004_copy_removal_dst", ("-copy-removal",)),
    ("004_out_params", ("-buffer-results-to-out-params",)),
    ("004_out_params", ("-buffer-results-to-out-params=hoist-static-allocs",)),
    ("004_callee_caller_tensors", (BUFFERIZE, "-drop-equivalent-buffer-results", PIPELINE)),
    ("004_func_on_tensors", (BUFFERIZE, PIPELINE)),
    ("002_foo", (BUFFERIZE, PIPELINE)),
    ("001_to_buffer", ("-finalizing-bufferize",)),
    ("004_func_on_tensors", ("-linalg-bufferize",)),
    ("004_func_on_tensors", ("-tensor-bufferize", "-linalg-bufferize", "-func-bufferize", "-finalizing-bufferize")),
    ("002_foo", (f"{BUFFERIZE} copy-before-write", PIPELINE, "-copy-removal")),
)
FREES = {"-buffer-deallocation", PIPELINE, OWNERSHIP}
INTRODUCTION = """# The buffer passes of the documents

The documents are MLIR's on bufferization, past and present: the page and the talk on One-Shot Bufferize, the pages on
ownership-based and on the older buffer deallocation, and the discussion of the designs weighed. Each of their
programs here goes through the passes that it was written for: what `python -m tracebuf opt` prints, what
the program does before and after in the interpreter of memory (a leak, a double free or a use after free is an error),
and what `mlir-opt-22` makes of it. Written by `python -m tests.mlir.documents --write`, and held by
`tests/mlir/test_documents.py`. The programs are in `tests/mlir/documents.mlir`.

`test.use` stands for any op; here it sets every element to 1. Attributes that tell a reason are left out.
"""


@cache
def programs() -> dict[str, str]:
    """The programs in generic form, by name."""
    texts = parts((Path(__file__).parent / "documents.mlir").read_text())
    return {text.split("// name: ")[1].split()[0]: text for text in texts}


def ours(name: str, flags: Sequence[str]) -> str:
    """What the command prints."""
    printed = opt.run(opt.parse(["-", *flags]), programs()[name], name)
    return re.sub(r" \{reason = \"[^\"]*\"\}|, reason = \"[^\"]*\"", "", printed)


def after(name: str, flags: Sequence[str]) -> Module:
    text = opt.run(opt.parse(["-", *flags, "-mlir-print-op-generic"]), programs()[name], name)
    return mlir.read(text)


# -- execution


def arguments(before: Module, func: Func) -> list[Any]:
    """Small arguments of the function's types with which it runs; flags are true."""
    for size in (2, 1):
        found = [_argument(v.type, k, size) for k, v in enumerate(func.args)]
        if [v.type for v in func.args[:3]] == [INDEX] * 3:  # the bounds of a loop
            found[:3] = [0, 3, 1]
        try:
            run(before, func.name, found, may_leak=True)
        except (InternalError, IndexError):
            continue
        return found
    raise AssertionError(f"{func.name} does not run")


def _argument(type_: Type, k: int, size: int) -> Any:
    if isinstance(type_, MemRefType | TensorType):
        shape = [n if isinstance(n, int) else 2 for n in type_.shape]
        return np.arange(int(np.prod(shape)), dtype=type_.element.dtype).reshape(shape) + k
    assert isinstance(type_, ScalarType)
    return size if type_ is INDEX else type_.dtype.type(1)


def use(buffer: np.ndarray) -> None:
    buffer[...] = 1


def run(module: Module, name: str, args: Sequence[Any], may_leak: bool) -> tuple[list[Any], list[Any], memref.Result]:
    given = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
    found = mlir.interpret(module, name, given, given={"test.use": use}, may_leak=may_leak)
    return [np.array(r) for r in found.results], given, found


def executed(name: str, flags: Sequence[str]) -> str:
    """What the program does before and after, in a sentence; AssertionError where that differs."""
    before, then = mlir.read(programs()[name]), after(name, flags)
    if any("dealloc" in op.name for f in before.funcs for op in f.walk() if "bufferization" in op.name):
        return "It frees what its caller has made, and is not run alone."
    func = before.funcs[-1]
    changed = len(then.func(func.name).args) - len(func.args)
    sentences = []
    for flag in (1, 0):
        args = [type(a)(flag) if isinstance(a, np.bool_) else a for a in arguments(before, func)]
        results, seen, first = run(before, func.name, args, may_leak=True)
        outs = [np.zeros_like(r) for r in results[len(results) - changed :]] if changed else []
        found, now, second = run(then, func.name, [*args, *outs], may_leak=not FREES.intersection(flags))
        if changed:
            found, now = [*found, *now[len(args) :]], now[: len(args)]
        same = len(found) >= len(results) and all(np.array_equal(a, b, equal_nan=True) for a, b in zip(results, found))
        assert same, (name, flags, results, found)
        if not any(isinstance(a.type, TensorType) for a in func.args):
            assert all(np.array_equal(a, b) for a, b in zip(seen, now)), (name, flags)
        pairs = [(c.allocations, c.copies) for c in (first.counts, second.counts)]
        (a, b), (c, d) = zip(*pairs)
        sentences.append(f"allocations {a} before, {b} after, copies {c} and {d}")
    if sentences[0] == sentences[1]:
        return f"Run: {sentences[0]}."
    return f"Run with flags true: {sentences[0]}; false: {sentences[1]}."


# -- MLIR


def plain(text: str) -> list[str]:
    """The ops of a text in custom form, without names of values, alignments, spaces and comments."""
    text = re.sub(r"%[\w$]+(:\d+|#\d+)?|alignment = 64 : i64|\{\s*\}|//.*", "", text)
    return [" ".join(line.split()) for line in text.splitlines() if line.strip(" }")]


def beside(name: str, flags: Sequence[str], text: str) -> str:
    """What MLIR does, in a sentence."""
    theirs = binary(programs()[name], UNREGISTERED, *flags)
    if "Unknown command line argument" in theirs.stderr:
        return "MLIR 22 has no such pass any more."
    if theirs.returncode:
        reason = re.search(r"error: (.*)", theirs.stderr)
        return f"MLIR 22 refuses it: {reason[1].rstrip('.') if reason else theirs.stderr[:60]}."
    again = binary(text, UNREGISTERED)
    assert not again.returncode, again.stderr
    if sorted(plain(again.stdout)) == sorted(plain(theirs.stdout)):
        return "MLIR 22 prints the same ops."
    words = ("memref.alloc(", "bufferization.clone", "memref.copy")
    here, there = ([t.count(word) for word in words] for t in (text, theirs.stdout))
    return f"MLIR 22 prints other ops: allocations, clones, copies {there}, here {here}."


# -- the page


def case(name: str, flags: Sequence[str]) -> list[str]:
    """The section of a case but for what MLIR does."""
    heading = f"### {name}: {' '.join(f'`{flag}`' for flag in flags)}"
    try:
        text = ours(name, flags).strip()
    except TracebufError as e:
        return [heading, f"Refused: {opt.message(e).partition('error: ')[2].rstrip('.')}."]
    return [heading, f"```mlir\n{text}\n```", executed(name, flags)]


def page() -> str:
    sections = [INTRODUCTION.strip()]
    for name, flags in CASES:
        found = case(name, flags)
        text = found[1].removeprefix("```mlir\n").removesuffix("\n```") if len(found) > 2 else ""
        said = beside(name, flags, text)
        sections += [*found[:-1], f"{found[-1]} {said}"]
    return "\n\n".join(sections) + "\n"


if __name__ == "__main__":
    written = page()
    if "--write" in sys.argv:
        PAGE.write_text(written)
    elif PAGE.read_text() != written:
        sys.exit("docs/passes.md is not up to date: python -m tests.mlir.documents --write")
