"""The programs of `corpus`: we decide as `mlir-opt-22` did, and the recorded answers are those it gives now."""

from __future__ import annotations

import pytest

from tests.mlir.expected import current, expected, programs
from tests.mlir.oracle import HEURISTICS, needs_mlir, ours
from tests.support.params import one_in


def test_every_program_is_recorded() -> None:
    assert list(expected()) == list(programs()), "python -m tests.mlir.expected --write"
    assert len(programs()) >= 100


def test_every_program_says_what_it_shows() -> None:
    for text in programs().values():
        first = text.splitlines()[0]
        assert first.startswith("// ") and first.endswith("."), first


def test_each_function_has_answers_under_each_heuristic() -> None:
    for name, known in expected().items():
        for heuristic in HEURISTICS:
            assert known[heuristic] and (
                "error" in known[heuristic] or any("ops" in f for f in known[heuristic].values())
            ), name


@needs_mlir
@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_the_recorded_answers_are_current(part: int) -> None:
    some = list(programs())[part::8]
    assert current(some) == {name: expected()[name] for name in some}, "python -m tests.mlir.expected --write"


@pytest.mark.parametrize("heuristic", one_in(6, HEURISTICS))
def test_we_decide_the_same(heuristic: str) -> None:
    """Decisions, access and equivalence, or that the program is refused."""
    for name, known in expected().items():
        found = ours("\n".join(known["generic"]), heuristic)
        if "error" in known[heuristic]:
            assert isinstance(found, str), name
        else:
            assert not isinstance(found, str), f"{name}: {found}"
            assert {f: a.as_json() for f, a in found.items()} == known[heuristic], name
