"""Integer arrays without axes as indices: ints of which NumPy makes copies, not views."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import agree, program
from tests.support.params import one_in

FORMS = """a[b]|a[b, b]|a[b, 1]|a[1, b]|a[..., b]|a[b, ...]|a[b, :]|a[1:, b]|a[b, None]|a[0][b]|a[0][b, ...]
a[0][..., b]|a[0][b, None]|a[b, [0, 1]]|a[[0, 1], b]|a[b, b, ...]|a[b, ::-2]|a.T[b]|a.T[..., b]|a[::-1, b]"""


@pytest.mark.parametrize("form", one_in(4, FORMS.replace("\n", "|").split("|")))
@pytest.mark.cases(6)
def test_it_reads_a_copy(form: str) -> None:
    """It was a view, so that a store to it changed the array."""
    stored = program(f"""
        def f(a, b):
            v = {form}
            if isinstance(v, np.ndarray):
                v += 1
            return a, v
    """)
    in_place = program(f"""
        def f(a, b):
            {form} += 2
            {form} = {form} * 3
            return a
    """)
    for f in (stored, in_place):
        for b in (np.array(1), np.array(-2, np.int8), np.array(0, np.uint16)):
            agree(f, np.arange(12.0).reshape(3, 4), b)


def test_it_is_out_of_bounds_as_an_int_is() -> None:
    f = program("def f(a, b): return a[b]")
    for b in (3, -4):
        agree(f, np.arange(3.0), np.array(b))
        agree(f, np.arange(6.0).reshape(3, 2), np.array(b))
