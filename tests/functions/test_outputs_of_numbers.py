"""What methods of NumPy's numbers give with an output without axes: a number, where those of arrays give the output."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import agree, program

FORMS = [
    "np.round(x, out=a)", "np.around(x, 1, a)", "np.clip(x, 1, 2, out=a)", "np.take(x, 0, out=a)", "np.sum(x, out=a)",
    "np.prod(x, out=a)", "np.max(x, out=a)", "np.min(x, out=a)", "np.mean(x, out=a)", "np.std(x, out=a)",
    "x.round(out=a)", "x.clip(1, 2, out=a)", "x.sum(out=a)", "x.max(out=a)", "x.mean(out=a)",
    "np.median(x, out=a)", "np.nansum(x, out=a)", "np.add(x, 1, out=a)", "np.sum(v, out=a)", "v.round(out=v)",
    "np.round(v.sum(), out=a)", "np.clip(np.float64(3.5), 0, 2, out=a)", "np.cumsum(x, out=a.reshape(1))",
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_a_number_or_the_output(form: str) -> None:
    agree(program(f"def f(v, a):\n    x = v[1]\n    return {form}, a"), np.array([0.5, 2.5, 4.0]), np.array(9.0))
