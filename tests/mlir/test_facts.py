"""Every op's facts against `mlir-opt-22`: the programs of `facts.mlir` put each op where its facts decide something."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mlir.expected import BUFFERIZE, CLEAN, counted
from tests.mlir.oracle import HEURISTICS, MARKER, ask, generic, needs_mlir, ours, run_mlir
from tests.support.params import one_in
from tracebuf.frontends.mlir import read
from tracebuf.ir.print_generic import print_generic
from tracebuf.module_pipeline import module_to_memref
from tracebuf.options import OneShotOptions

PROGRAMS = (Path(__file__).parent / "facts.mlir").read_text().split(MARKER)


@needs_mlir
@pytest.mark.parametrize("heuristic", one_in(6, HEURISTICS))
def test_decisions_are_mlirs(heuristic: str) -> None:
    texts = generic(PROGRAMS)
    assert None not in texts
    for text, known in zip([t for t in texts if t is not None], ask(PROGRAMS, heuristic), strict=True):
        assert ours(text, heuristic) == known


@pytest.mark.slow
@needs_mlir
def test_the_rewrite_is_valid_and_copies_no_more() -> None:
    """But for a collapsed tensor that a loop carries, whose layout we forget."""
    asked = OneShotOptions(
        analysis_heuristic="bottom-up", bufferize_function_boundaries=True, allow_return_allocs_from_loops=True,
        allow_unknown_ops=True,
    )  # fmt: skip
    texts = [t for t in generic(PROGRAMS) if t is not None]
    rewritten = run_mlir([print_generic(module_to_memref(read(t), asked)) for t in texts], *CLEAN)
    for text, mine, theirs in zip(texts, rewritten, run_mlir(texts, BUFFERIZE[1], *CLEAN), strict=True):
        assert mine is not None and theirs is not None, text
        if "@collapsed" not in mine:
            assert sum(counted(mine).values()) <= sum(counted(theirs).values()), mine
