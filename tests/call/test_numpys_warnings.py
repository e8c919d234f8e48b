"""`warnings="numpy"`: NumPy's floating-point warnings, its errors by errstate, and what arguments hold afterwards."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import program, same

GOOD = np.array([1.0, 2.0, 3.0]), np.array([1.0, 4.0, 2.0])
DATA = {
    "finite": GOOD, "a zero": (GOOD[0], np.array([0.0, 1.0, 2.0])), "zeros": (np.zeros(3), np.zeros(3)),
    "large": (np.full(3, 1e200), np.full(3, 1e-200)), "infinite": (np.array([1.0, np.inf, 2.0]), GOOD[1]),
    "NaN": (np.array([1.0, np.nan, 2.0]), GOOD[1]), "negative": (-GOOD[0], -GOOD[1]),
}  # fmt: skip
NATIVE = {
    "division": "return a / b", "a part of it": "return (a / b)[1:]", "one that is not used": "x = a / b; return b",
    "selected": "return np.where(b > 0, a / b, 0.0)", "lost in a quotient": "return 1 / (1 / b)",
    "lost in an extreme": "return np.minimum(a / b, 1)", "lost in a function": "return np.arctan(a / b)",
    "roots": "return np.sqrt(a) * 0 + b", "exp": "return np.exp(a * b * 300)", "logs": "return np.log(b).sum()",
    "in place": "a /= b; return a", "two stores": "a += 1; b[:] = a / b; return b.max()", "product": "return a @ b",
    "squares": "return (a * a * b).sum() / 3", "powers": "return np.power(b, -1.0), b ** -1, a ** 2",
    "narrow": "return (a * b).astype(np.float32), a.astype(np.float16)", "to ints": "return (a * 2).astype(int)",
    "narrow ints": "return a.astype(np.int8), a.astype('u1')", "one int": "return int(a.sum())",
    "of nothing": "return a[:0].mean()", "statistics": "return a.mean(), np.std(b), np.var(a)",
    "nan-functions": "return np.nanmax(a), np.nanmean(a - a / b)", "numbers": "return np.float64(1) / b[0]",
    "masked": "return np.divide(a, b, out=np.zeros(len(a)), where=b != 0)", "not by its errstate": """
    with np.errstate(divide="ignore", invalid="ignore"):
        x = a / b
    return x + 1
    """,
    "in a loop": """
    s = 0.0
    for i in range(len(a)):
        if a[i] > 1:
            s += a[i] / b[i]
    return s
    """,
    "a chain": """
    x = a * b
    for k in range(3):
        x = x * x - a / (b + k)
    return x
    """,
}  # fmt: skip
"""Function bodies, which compiled code runs on finite data."""
ORIGINAL = {
    "integers": "return a.astype(int) // b.astype(int)", "host calls": "return np.sort(a) / b",
    "complex": "return (a + 1j) / b",
    "known": "return a + np.float64(1) / np.float64(0)", "errstate": "with np.errstate(all='warn'): return a / b",
    "scalars": "return np.int64(2**62) * a.view(int)[0]", "talks": "print(end=''); return a / b",
}  # fmt: skip
"""Others: the original function runs."""


def recorded(f: Callable[..., Any], *args: Any) -> tuple[Any, Any, list[tuple[str, type[Warning], int]]]:
    """The result or the class of what is raised, the arguments afterwards, and the warnings."""
    given = [x.copy() for x in args]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = f(*given)
        except Exception as error:
            result = type(error)
    return result, given, [(str(w.message), w.category, w.lineno) for w in caught]


@pytest.mark.parametrize("name", [*NATIVE, *ORIGINAL])
def test_results_warnings_and_errors_are_numpys(name: str) -> None:
    body = {**NATIVE, **ORIGINAL}[name]
    f = tracebuf.bufferize(verify=True, warnings="numpy")(program(f"def f(a, b):\n    {body.strip()}"))
    for case, args in DATA.items():
        for _ in range(2):
            wanted, got = recorded(f.__wrapped__, *args), recorded(f, *args)
            assert got[2] == wanted[2], (case, got[2], wanted[2])
            if isinstance(wanted[0], type):
                assert got[0] is wanted[0], case
            else:
                same(got[0], wanted[0], 0, f"{case}: result")
            same(got[1], wanted[1], 0, f"{case}: arguments")
        with np.errstate(all="raise"):
            wanted, got = recorded(f.__wrapped__, *args), recorded(f, *args)
        assert got[2] == wanted[2] and (got[0] is wanted[0] or not isinstance(wanted[0], type)), case
        same(got[1], wanted[1], 0, f"{case}: arguments after an error")
    native = f.specializations().native_share
    assert (native > 0) == (name in NATIVE and name != "of nothing"), f.specializations()


def test_what_stays_as_it_is_after_warnings() -> None:
    f = tracebuf.bufferize(warnings="numpy")(program("""
        def f(a, b, out):
            out[0] += 1
            a *= 2
            b[:] = out[0] / b
            return a + b
        """))
    a, b, out = np.ones(3), np.array([1.0, 0.0, 2.0]), [0]
    out = np.zeros(1)
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
        f(a, b, out)
    assert a.tolist() == [2, 2, 2] and out[0] == 1 and b.tolist() == [1, np.inf, 0.5], "stored once"
    with warnings.catch_warnings(), pytest.raises(RuntimeWarning):
        warnings.simplefilter("error")
        f(a, np.zeros(3), out)
    assert out[0] == 2 and a.tolist() == [4, 4, 4]
    counted = f.call_counted(np.ones(3), np.ones(3), out)
    assert counted[1] is not None and out[0] == 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert f.call_counted(np.ones(3), np.zeros(3), out)[1] is None and out[0] == 4


@pytest.mark.slow
def test_the_option() -> None:
    with tracebuf.options(warnings="numpy"):
        f = tracebuf.bufferize(lambda a: 1 / a)
    with pytest.warns(RuntimeWarning):
        f(np.zeros(2))
    assert f(np.ones(2)).tolist() == [1, 1] and "|" not in str(f.specializations())
    with pytest.raises(ValueError, match="warnings is 'numpy' or None"):
        tracebuf.bufferize(warnings="all")
    for use in (lambda: f.lower(np.ones(2)).compile(), lambda: f.ctypes(1.0)):
        with pytest.raises(tracebuf.UnsupportedError, match="warnings="):
            use()
    assert "arith.cmpf" in f.lower(np.ones(2)).as_text("traced")
    for _ in range(400):
        f(np.ones(2))
    f.wait()
    with pytest.warns(RuntimeWarning):
        f(np.zeros(2))
