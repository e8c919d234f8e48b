"""Random programs as MLIR text: they are valid, Hypothesis can make them, and the shrinker keeps what it must."""

from __future__ import annotations

import random

from hypothesis import given, settings
from mlir_oracle import generic, needs_mlir
from mlir_regions import modules, program
from mlir_shrink import shrink


@needs_mlir
def test_programs_are_valid() -> None:
    texts = [program(random.Random(seed)) for seed in range(100)]
    invalid = [text for text, found in zip(texts, generic(texts)) if found is None]
    assert not invalid, invalid[0]


@needs_mlir
@settings(max_examples=10)
@given(modules(ops=6))
def test_hypothesis_makes_them(text: str) -> None:
    assert generic([text]) != [None], text


def test_programs_are_the_same_for_the_same_seed() -> None:
    assert program(random.Random("a")) == program(random.Random("a"))


@needs_mlir
def test_the_shrinker_leaves_what_is_needed() -> None:
    """What is left of a random program is one op and its function."""
    texts = generic([program(random.Random(seed)) for seed in range(20)])
    text = next(t for t in texts if t is not None and '"tensor.insert"' in t)
    small = shrink(text, lambda many: [t is not None and '"tensor.insert"' in t for t in generic(many)])
    assert small.count("tensor.insert") == 1
    assert small.count('"(') <= 8, small
