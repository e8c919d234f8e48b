"""np.lib.stride_tricks.sliding_window_view: a view of overlapping runs, on every rung (rules S1, S2, S3, S6)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.forms import check_forms
from tracebuf import bufferize
from tracebuf.testing.ladder import climb

NAMES = {"windows": np.lib.stride_tricks.sliding_window_view}


@pytest.mark.slow
def test_c1_forms() -> None:
    forms = """
W(v, 3)|W(v, 3).max(axis=-1)|W(a, (2, 2))|W(a, 2, axis=1)|W(a, 2, axis=0)|W(v, m)|W(v, 9)|W(a, 2)|W(v, m)*2
W(v[::2], 2)|W(v, m)[::2, 1:]|W(v, m).T|W(v, m).copy()|W(v, m).reshape(-1)|W(a.T, (2, 3)).max(axis=(-2, -1))|W(v, 0)
W(v, -1)|W(v, 6)|W(v, 1)|W(np.sin(v), m)|W(e, 1)|np.argmax(W(v, m), axis=1)|W(a, (2, 2), axis=(0, 0))|W(v, m)[1]
W(odd, 2, axis=-1)|W(W(v, 4), 2, axis=1)|np.where(W(i, 2, axis=1) > 2, 1, 0)
"""
    check_forms(forms.replace("W(", "np.lib.stride_tricks.sliding_window_view("))


@pytest.mark.slow
def test_s1_stores_are_seen_through_the_windows_and_conflict_with_them() -> None:
    f = program("""
        def f(a, n):
            w = windows(a, n)
            a[0] = 7.0
            first = w.copy()
            a[n - 1:] = w.max(axis=-1)
            a[:] = a[::-1] + w[0, 0]
            return first, w, w.min(axis=0)
        """, **NAMES)  # fmt: skip
    for n in (1, 2, 3):
        agree(f, np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0]), n)
    g = program("def g(x, k):\n    x += 1\n    return (windows(x, len(k)) * k).sum(axis=-1)", **NAMES)
    climb(g, (np.arange(9.0), np.arange(3.0)), again=[(np.arange(5.0), np.ones(5))], tolerance=1e-14)


@pytest.mark.slow
def test_a_sum_over_windows_makes_nothing_but_its_result() -> None:
    f = bufferize(program("def f(a):\n    return windows(a, (3, 3)).mean(axis=(2, 3))", **NAMES))
    assert "1 allocation, no copies" in str(f.explain(np.ones((9, 9))))


def test_what_is_refused() -> None:
    refused(program("def f(a):\n    return windows(a, 2, writeable=True)", **NAMES), np.ones(4))
    agree(program("def f(a):\n    windows(a, 2)[0, 0] = 1", **NAMES), np.ones(4))
