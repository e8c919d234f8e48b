"""Every op's facts against `mlir-opt-22`: the programs of `facts.mlir` put each op where its facts decide something."""

from __future__ import annotations

from pathlib import Path

import pytest
from mlir_oracle import HEURISTICS, MARKER, ask, generic, needs_mlir, ours

PROGRAMS = (Path(__file__).parent / "facts.mlir").read_text().split(MARKER)


@needs_mlir
@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_decisions_are_mlirs(heuristic: str) -> None:
    texts = generic(PROGRAMS)
    assert None not in texts
    for text, known in zip([t for t in texts if t is not None], ask(PROGRAMS, heuristic), strict=True):
        assert ours(text, heuristic) == known
