"""Strategies for users: arrays in every layout, views that overlap, programs that shrink."""

from __future__ import annotations

import ast
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import find, given, settings

from tests.support.params import amount
from tracebuf.testing.ladder import climb
from tracebuf.testing.programs import Program, loaded
from tracebuf.testing.strategies import LAYOUTS, arrays, layouts, overlapping, programs


def seen(strategy: Any, examples: int = 60) -> list[Any]:
    """What a strategy draws."""
    found: list[Any] = []

    @settings(max_examples=examples)
    @given(strategy)
    def draw(x: Any) -> None:
        found.append(x)

    draw()
    return found


@pytest.mark.slow
def test_arrays_come_in_every_layout_size_and_value() -> None:
    found = seen(arrays("float64"), 200)
    assert {0, 1, 2, 3} == {a.ndim for a in found} and {0, 1} < {n for a in found for n in a.shape}
    assert any(not a.flags.writeable for a in found) and any(a.flags.writeable for a in found)
    steps = [(a, s) for a in found for s, n in zip(a.strides, a.shape) if n > 1]
    assert any(s < 0 for _, s in steps) and any(s == 0 for _, s in steps)
    assert any(s > a.nbytes and a.ndim == 1 for a, s in steps) or any(abs(s) > 8 and a.ndim == 1 for a, s in steps)
    assert any(a.flags.f_contiguous and not a.flags.c_contiguous for a in found)
    values = np.concatenate([a.ravel() for a in found])
    assert np.isnan(values).any() and np.isinf(values).any() and (np.signbit(values) & (values == 0)).any()
    assert {a.dtype.kind for a in seen(arrays(dims=1))} > {"i", "u", "f"}


def test_arrays_are_what_was_asked_for() -> None:
    assert {a.shape for a in seen(arrays("int8", (2, 3), layouts=("F",), read_only=False), 20)} == {(2, 3)}
    plain = seen(arrays("float32", dims=(1, 2), special=False), 20)
    assert all(np.isfinite(a).all() and (abs(a) <= 1e6).all() for a in plain)
    assert {*seen(layouts((2,)), 30)} <= {*LAYOUTS} and {*seen(layouts(()), 2)} == {"C"}
    with pytest.raises(ValueError, match="no layout 'G': there are C, F, "):
        find(arrays(layouts=("G",)), lambda a: True)


@pytest.mark.slow
def test_arrays_shrink_to_plain_ones() -> None:
    how = settings(max_examples=1000, database=None)
    small = find(arrays("float64"), lambda a: a.ndim > 0 and len(a) > 1, settings=how, random=random.Random(1))
    assert small.tolist() == [0, 0] and small.flags.c_contiguous and small.flags.writeable


@pytest.mark.slow
def test_overlapping_pairs_are_of_one_buffer() -> None:
    pairs = [(a, b) for a, b in seen(overlapping(dims=(1, 2))) if a.size]
    assert all(a.shape == b.shape and np.may_share_memory(a, b) and b.flags.writeable for a, b in pairs)
    assert len({a.strides for a, _ in pairs}) > 3 and any(a.strides != b.strides for a, b in pairs)
    assert {True, False} == {np.shares_memory(a, b) for a, b in pairs}


@pytest.mark.slow
@settings(max_examples=amount(2, 40))
@given(programs())
def test_programs_climb(program: Program) -> None:
    with loaded(program) as module:
        climb(module.program, module.arguments(), again=[module.arguments_again()], tolerance=1e-9)


@pytest.mark.slow
def test_programs_shrink_to_the_statements_that_matter() -> None:
    how = settings(max_examples=1000, database=None)
    program = find(programs(), lambda p: "np.cumsum" in str(p), settings=how, random=random.Random(3))
    body = next(n for n in ast.parse(program.text).body if isinstance(n, ast.FunctionDef))
    assert len(ast.unparse(body).splitlines()) <= 4, program.text


@pytest.mark.slow
def test_importing_tracebuf_imports_none_of_this() -> None:
    code = "import sys, tracebuf.testing; print({'hypothesis', 'numpy.testing', 'pytest'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"
