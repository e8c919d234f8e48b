"""docs/support.md says what is: it is written anew from the tracer, and each kind of row is held by calls."""

from __future__ import annotations

import numpy as np
import pytest

from tracebuf import support
from tracebuf.support import HOSTED, KNOWN, NATIVE, PAGE, REFUSED, fingerprint, is_refused, page, row, rows, traced
from tracebuf.testing.drawn import Array, Call

SAME_NUMPY = pytest.mark.skipif(
    f"NumPy {np.__version__}" not in PAGE.read_text(), reason="the page is of another NumPy, whose names differ"
)


@SAME_NUMPY
def test_the_page_has_every_handler() -> None:
    """Fails after a function was added or taken away; `python -m tracebuf.support` writes the page."""
    assert f"handlers: {fingerprint()}" in PAGE.read_text(), "docs/support.md is old: run python -m tracebuf.support"


@SAME_NUMPY
@pytest.mark.slow
def test_the_page_is_what_the_tracer_does() -> None:
    assert PAGE.read_text() == page(rows()), "docs/support.md is old: run python -m tracebuf.support"


@pytest.mark.parametrize(
    "name, how",
    [
        ("np.sum", NATIVE),
        ("np.add", NATIVE),
        ("np.add.reduce", NATIVE),
        ("ndarray.reshape", NATIVE),
        ("ndarray.T", NATIVE),
        ("np.linalg.solve", HOSTED),
        ("np.can_cast", KNOWN),
        ("np.save", REFUSED),
        ("ndarray.tofile", REFUSED),
        ("print", HOSTED),
        ("open", REFUSED),
        ("math.sin", NATIVE),
    ],
)
def test_rows(name: str, how: str) -> None:
    """Native and host calls are told apart by the op; a limit is a call that eager makes and the tracer refuses."""
    found = row(name)
    assert found.how == how
    assert all(is_refused(limit.call) for limit in found.limits)
    assert found.instead or how != REFUSED


def test_a_limit_is_found_by_its_parameter() -> None:
    assert "`order=`" in [limit.text for limit in row("np.add").limits]
    plain = Call("np.linalg.inv", ("return np.linalg.inv(a)",), {"a": Array("float64", (2, 2), "C", "regular")})
    assert traced(plain)[0] == HOSTED and not is_refused(plain)


def test_the_page_is_markdown_of_the_rows() -> None:
    text = page([row("np.add"), row("np.save"), row("np.concatenate")])
    assert "| `np.add` | native | " in text and "`np.concatenate` (`np.concat`)" in text
    assert "- `np.save`: " in text and support.fingerprint() in text


@pytest.mark.parametrize(
    "name, reason, limit",
    [
        ("np.interp", "np.interp of complex values", "of complex values"),
        ("np.linspace", "np.arange of complex numbers", "of complex numbers"),
        ("ndarray.argmax", "argmax into dtype uint8", "into an integer dtype"),
        ("np.power", "np.power with `where=`", "`where=`"),
        ("np.isin", "np.isin with assume_unique=", "`assume_unique=`"),
        ("np.add", "np.add with order= is not supported", "`order=`"),
        ("ndarray.round", "np.round of integers with out=", "of integers with `out=`"),
        ("np.fft.fft", "numpy.fft.fft gives one rank or another", "`np.fft.fft` gives one rank or another"),
        ("np.full_like", "another shape", "another shape"),
        ("max", "this result is a Python number or NumPy's", "a result that is a Python number or NumPy's"),
    ],
)
def test_a_limit_names_its_function_or_nothing(name: str, reason: str, limit: str) -> None:
    assert support.brief(name, reason) == limit


def test_methods_of_ufuncs_share_the_limits_of_their_method() -> None:
    limit = support.Limit("`where=`", Call("np.add.reduce", ("",), {}))
    table = [
        support.Row("np.add.reduce", NATIVE, (limit,)),
        support.Row("np.multiply.reduce", NATIVE),
        support.Row("np.add.outer", NATIVE),
        support.Row("np.ldexp.reduce", REFUSED, instead="fold in a for loop"),
    ]
    text = page(table)
    assert "| `reduce` of every ufunc but `np.ldexp` | native | `where=` |" in text
    assert "**Native**: `outer` of every ufunc." in text
    assert "- `reduce` of `np.ldexp`: fold in a for loop" in text
