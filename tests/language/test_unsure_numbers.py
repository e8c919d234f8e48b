"""Numbers that are Python's on one path and NumPy's on another: what is asked of them depends on the path (rule C1)."""

import numpy as np
import pytest

from tests.support.agreement import agree, outcome, program, refused
from tracebuf import UnsupportedError, bufferize

ANSWERED = [
    "isinstance(n, int)", "isinstance(n, float)", "isinstance(n, (int, np.integer))", "isinstance(n, np.generic)",
    "hasattr(n, 'dtype'), hasattr(n, 'real')", "getattr(n, 'ndim', 'no')", "n.dtype", "n.shape", "n.item()", "n.real",
    "n.nothing",
]  # fmt: skip
OR_REFUSED = [
    "np.common_type(n, a)(1)", "np.result_type(n, np.float32)", "np.dot(n, a)", "np.dot(n, a.astype('f4'))",
    "n.numerator", "f'{n:d}'", "n.astype(np.float64)", "n / 0", "n // 0", "n % 0",
]  # fmt: skip
PAIRS = [("k", "a[0]"), ("k", "a.astype('f4')[0]"), ("k", "np.int64(3)"), ("2.5", "a[0]")]


@pytest.mark.parametrize("python, numpys", PAIRS)
@pytest.mark.parametrize("text", ANSWERED + OR_REFUSED)
def test_what_depends_on_whose_number_it_is(text, python, numpys):
    """`isinstance`, attributes and dtypes were those of NumPy's number on Python's path too."""
    f = program(f"def f(a, k):\n    n = {python}\n    if a[1] > 9:\n        n = {numpys}\n    return {text}")
    g = bufferize(verify=True)(f)
    for last in (10.0, 1.0):
        try:
            agree(g, np.array([1.0, last]), 3)
        except AssertionError as error:
            if text in ANSWERED or not isinstance(error.__cause__, UnsupportedError):
                raise


def test_a_branch_on_the_type_goes_the_way_of_the_path():
    def f(a, k):
        n = a[0]
        if a[1] > 9:
            n = k
        if isinstance(n, int):
            raise ValueError("an int")
        return n * 2

    for last in (1.0, 10.0):
        agree(f, np.array([1.0, last]), 3)


SAYING = ["max(i for i in range(k))", "min(v for v in a if v > k)", "max(a[:0])", "1.5 % (k - 3)", "k % (k - 3)"]


@pytest.mark.parametrize("text", SAYING)
def test_messages_are_of_this_python(text):
    """Python's words of an empty sequence, and of a division by zero, differ from version to version."""
    f = program(f"def f(a, k):\n    return {text}")
    for k in (0, 3):
        want, got = (outcome(g, (np.ones(2), k), {})[1] for g in (f, bufferize(f)))
        assert str(want) == str(got)


def test_the_type_itself_is_refused():
    error = refused(program("def f(a, k):\n    n = k if a[0] > 0 else a[0]\n    return type(n)"), np.ones(2), 3)
    assert "Python's or NumPy's" in str(error)
