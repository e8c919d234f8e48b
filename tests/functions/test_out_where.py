"""`out=`, `where=` and `dtype=` of ufuncs, reductions and products, and `a @= b` (rules C1, S3, N5, X2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.functions.test_reductions import VALUES
from tests.support.agreement import agree, program, refused
from tests.support.forms import UNUSUAL, expression, split
from tracebuf.errors import UnsupportedError
from tracebuf.testing.ladder import climb

FORMS = """
np.add(a, b, out=c)|np.add(a, b, c)|np.add(a, b, out=(c,))|np.add(a, row, out=c)|np.add(a, b, out=a)
np.add(a[1:], 1, out=a[:-1])|np.add(a[:, :4], a[:, :4].T, out=a[:, :4])|np.add(row, 1, out=c)|np.add(1.5, 2, out=c)
np.add(a, b, out=v)|np.add(a, b, out=i)|np.add(i, i, out=c)|np.add(a, b, out=f)|np.add(f, f, out=c)
np.sqrt(a, out=c)|np.exp(a, out=c, where=m)|np.divide(a, i, out=c, where=i != 0)|np.add(a, b, out=c, where=m)
np.add(a, b, out=a, where=m)|np.add(a, 1, out=a[::-1], where=m)|np.add(a, b, out=c, where=m[0])
np.add(a, b, out=c, where=False)|np.add(a, b, out=c, where=True)|np.add(row, 1, out=c, where=m)
np.heaviside(a, 0.5, out=c, where=m)|np.heaviside(a, row, out=a, where=m)
np.add(row, 1, out=v, where=m)|np.add(a, b, where=i)|np.add(a, b, out=c, where=i)|np.add(a, b, dtype=np.float32)
np.add(f, f, dtype=np.float64)|np.add(i, i, dtype=np.float64)|np.add(a, b, dtype=np.int64)|np.sqrt(i, dtype=np.float32)
np.add(a, b, c, out=c)|np.add(a, b, c, c)|np.add(a)|np.add(a, b, out=3)|np.add(a, b, out=(c, c))|np.less(a, b, out=m)
np.less(a, b, out=c)|np.add(a, b, out=m)|np.clip(a, -1, 1, out=c)|np.clip(a, -1, 1, a)|a.clip(-1, 1, out=a)
np.clip(a, None, 1, out=c)|a.sum(out=s)|np.sum(a, out=s)|a.sum(axis=0, out=v)|a.sum(0, None, v)|a.sum(axis=1, out=v)
a.sum(axis=0, out=k)|i.sum(axis=0, out=v)|a.mean(axis=0, out=v)|i.mean(axis=0, out=v)|a.max(axis=0, out=v)
a.max(0, v)|a.std(axis=0, out=v)|a.var(axis=1, out=w, ddof=1)|a.argmax(axis=0, out=k)|np.cumsum(a, axis=0, out=c)
np.all(a, axis=1, out=np.zeros(4, bool))|np.matmul(a, b.T, out=np.zeros((4, 4)))|np.matmul(a, b.T, np.zeros((4, 4)))
np.matmul(i, i.T, out=np.zeros((4, 4)))|np.matmul(a, b.T, out=np.zeros((4, 4), np.int64))
np.matmul(a, b.T, out=np.zeros((4, 5)))|np.dot(a, b.T, out=np.zeros((4, 4)))|a.dot(row, w)|np.ptp(a, 0, v)
np.dot(a, b.T, np.zeros((4, 4), np.float32))|np.dot(a, b.T, out=np.zeros((4, 3)))|a.dot(b.T, out=np.zeros((4, 4)))
np.cumsum(a, axis=0, out=a)|np.sum(a, axis=0, out=a[1])|np.matmul(a[:, :4], b[:, :4], out=a[:, :4])
"""


@pytest.mark.slow
@pytest.mark.parametrize("text", split(FORMS))
def test_c1_out_and_where(text: str) -> None:
    """Rules C1, S3, N5: what is stored where, that the very `out` is returned, NumPy's casting errors; an `out` that
    overlaps an input is written as if the input were read before."""
    expression(text, VALUES, ulp=100)


@pytest.mark.parametrize("text", ["a @= a", "a @= row", "row @= a", "i @= a", "a @= i", "a @= b", "a @= 2.0"])
def test_c1_products_in_place(text: str) -> None:
    """Rule C1: `a @= b` is np.matmul into `a`, with its errors."""
    values: dict[str, Any] = {
        "a": VALUES["a"][:, :4].copy(), "b": VALUES["b"], "row": VALUES["row"][:4].copy(),
        "i": VALUES["i"][:, :4].copy(),
    }  # fmt: skip
    target = text.split()[0]
    names = [n for n in values if n in text.split()]
    f = program(f"def f({', '.join(names)}):\n    {text}\n    return {target}")
    agree(f, *(values[n] for n in names), ulp=100)


@pytest.mark.slow
def test_s2_masked_updates_on_every_rung() -> None:
    """Rule S2: a masked store is in place, on each rung of the ladder; so is a chain of outs."""
    f = program("""
        def f(a, b, c, m):
            np.multiply(a, 2, out=c)
            np.add(c, b, out=c, where=m)
            np.exp(c, out=c)
            d = np.negative(a, out=b[:])
            np.sqrt(np.abs(d), out=d, where=m[0])
            return np.sum(c, axis=0), c.max(axis=1, out=np.empty(4))
        """)
    climb(f, tuple(VALUES[n] for n in "abcm"), tolerance=1e-13)


def test_b2_out_must_be_writable() -> None:
    """Rule B2: an `out` that is read-only raises ValueError."""
    c = np.zeros((4, 5))
    c.flags.writeable = False
    agree(program("def f(a, c):\n    return np.add(a, 1, out=c)"), VALUES["a"], c)
    agree(program("def f(a, c):\n    return np.sum(a, axis=0, out=c[0])"), VALUES["a"], c)


def test_what_is_refused() -> None:
    for text in ("np.add(a, 1, where=a > 0)", "np.add(a, 1, order='A')"):
        refused(program(f"def f(a):\n    return {text}"), VALUES["a"])


@pytest.mark.parametrize("text", ["np.add(a, 1, casting='unsafe')", "np.add(a, 1, order='F')"])
def test_casting_and_order(text: str) -> None:
    agree(program(f"def f(a):\n    return {text}"), VALUES["a"])


def test_masked_results_converted_into_an_array_that_is_read_are_refused() -> None:
    """NumPy converts the elements that are not selected as well; without a conversion, or an overlap, all is well."""

    def converts(n, b):
        np.logical_and(n, b[:, ::-1], out=b, where=np.equal(n, b.T) > 0)

    def keeps(n, b):
        np.add(b, b[::-1], out=b, where=b > 3)

    def same(n, b):
        np.logical_and(n, b, out=b, where=b > 3)

    b = np.arange(9, dtype=np.int16).reshape(3, 3)
    with pytest.raises(UnsupportedError, match="also reads"):
        tracebuf.bufferize(converts)(0, b)
    agree(keeps, 0, b)
    agree(same, 0, b)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "np.add(v, 0.5, out=fixed)",  # read-only before the cast
        "np.dot(v, v, out=z)",
    ],
)
def test_c1_calls_that_once_differed(text: str) -> None:
    """Found by calls that `tracebuf.testing.functions` drew."""
    expression(text, UNUSUAL)
