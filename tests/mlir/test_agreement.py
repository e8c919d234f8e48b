"""Random programs as MLIR text: they are valid, Hypothesis can make them, we decide as MLIR does on them, and what
differs would be found and shrunk.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings

from tests.mlir import agreement as mlir_agreement
from tests.mlir.agreement import compare
from tests.mlir.oracle import BOUNDARIES, HEURISTICS, Answers, answers, generic, needs_mlir, ours, run_mlir
from tests.mlir.regions import modules, program
from tests.mlir.shrink import shrink


@needs_mlir
@pytest.mark.slow
def test_programs_are_valid() -> None:
    texts = [program(random.Random(seed)) for seed in range(100)]
    invalid = [text for text, found in zip(texts, generic(texts)) if found is None]
    assert not invalid, invalid[0]


@pytest.mark.slow
@needs_mlir
@settings(max_examples=10)
@given(modules(ops=6))
def test_hypothesis_makes_them(text: str) -> None:
    assert generic([text]) != [None], text


def test_programs_are_the_same_for_the_same_seed() -> None:
    assert program(random.Random("a")) == program(random.Random("a"))


@pytest.mark.slow
@needs_mlir
def test_the_shrinker_leaves_what_is_needed() -> None:
    """What is left of a random program is one op and its function."""
    texts = generic([program(random.Random(seed)) for seed in range(20)])
    text = next(t for t in texts if t is not None and '"tensor.insert"' in t)
    small = shrink(text, lambda many: [t is not None and '"tensor.insert"' in t for t in generic(many)])
    assert small.count("tensor.insert") == 1
    assert small.count('"(') <= 8, small


@needs_mlir
@pytest.mark.slow
def test_we_decide_as_mlir_does() -> None:
    texts = [program(random.Random(f"agree-{i}")) for i in range(200)]
    assert compare(texts, [*HEURISTICS, "fuzzer-5"], kinds=1) == 0


@needs_mlir
@pytest.mark.slow
def test_a_difference_is_found(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where we would decide otherwise, the comparison says on which op, and shrinks the program to it."""

    def wrong(text: str, heuristic: str) -> Answers | str:
        found = ours(text, heuristic)
        for answer in found.values() if not isinstance(found, str) else ():
            answer.ops = [(name, ["true"] * len(words)) for name, words in answer.ops]
        return found

    monkeypatch.setattr(mlir_agreement, "ours", wrong)
    texts = [program(random.Random(f"agree-{i}"), 6) for i in range(30)]
    assert compare(texts, ["bottom-up"], kinds=1) == 1
    shown = capsys.readouterr().out
    assert "shrunk" in shown and "times: decides otherwise on" in shown


@needs_mlir
@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "options"),
    [
        ("", {"bufferize_function_boundaries": False}),
        ("bufferize-function-boundaries", {"allow_return_allocs_from_loops": False}),
        (BOUNDARIES + " check-parallel-regions=false", {"check_parallel_regions": False}),
    ],
)
def test_options_mean_the_same(flags: str, options: dict[str, Any]) -> None:
    flags = flags or "allow-return-allocs-from-loops"
    texts = [t for t in generic([program(random.Random(f"option-{i}")) for i in range(100)]) if t is not None]
    asked = run_mlir(texts, "-mlir-print-op-generic", f"-one-shot-bufferize=test-analysis-only {flags}")
    for text, printed in zip(texts, asked, strict=True):
        found = ours(text, "bottom-up", **options)
        if printed is None:
            assert isinstance(found, str), text
        else:
            assert mlir_agreement.told(found) == mlir_agreement.told(answers(printed)), text
