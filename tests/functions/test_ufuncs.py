"""Ufuncs with all their parameters and methods: two results, `casting=`, lists, folds in order (rules C1, C2, N5)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.forms import UNUSUAL, expression, split
from tests.support.params import slow_but
from tracebuf import bufferize
from tracebuf.testing.ladder import climb

RNG = np.random.default_rng(11)
A = RNG.uniform(-3, 3, (4, 5))
VALUES: dict[str, Any] = {
    "a": A, "v": A[0].copy(), "w": A[1, :4].copy(), "i": RNG.integers(1, 5, (4, 5)), "p": RNG.integers(1, 3, 4),
    "b": A[0] > 0, "m": A > 0, "f": A.astype(np.float32), "h": A.astype(np.float16), "i8": np.array([3, 2, 1], np.int8),
    "none": np.zeros(0), "flat": np.zeros((0, 3)), "neg": np.array([2, -1]), "x": np.zeros(5), "y": np.zeros(5),
    "k": np.zeros(5, np.int64), "g": np.zeros(5, np.float32), "o": np.zeros((4, 5)), "s": np.zeros(()),
    "odd": np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e-310, -2.5, 3.0, 1e300, 0.5]), "z": np.float64(-2.5),
    "at": np.array([0, 3, 1, 2]), "far": np.array([0, 5]), "t": RNG.uniform(0.5, 2, (3, 4, 5)).transpose(2, 0, 1),
    "c": RNG.random(5) > 0.5, "n": 3, "u": np.array([200, 7, 0], np.uint8),
}  # fmt: skip


def forms(text: str) -> list[Any]:
    return slow_but(split(text)[::18], split(text))


TWO_RESULTS = """
np.modf(a)|np.modf(odd)|np.modf(odd.astype(np.float32))|np.modf(h)|np.modf(i)|np.modf(z)|np.modf(n)|np.modf(v[::-2])
np.frexp(a)|np.frexp(odd)|np.frexp(odd.astype(np.float32))|np.frexp(odd.astype(np.float16))|np.frexp(i8)|np.frexp(z)
np.divmod(a, 2)|np.divmod(i, 3)|np.divmod(i8, 2)|np.divmod(z, v)|np.divmod(i, a)|np.divmod(u, 7)|np.divmod(a, v)
np.modf(v, x)|np.modf(v, x, y)|np.modf(v, out=(x, y))|np.modf(v, out=(None, y))|np.modf(v, out=(g, None))
np.frexp(v, out=(x, k))|np.frexp(v, out=(x, y))|np.divmod(v, 2, out=(x, y), where=c)|np.divmod(i[0], 2, out=(k, y))
np.modf(v, out=(v, y))|np.divmod(i, p[:, None])|np.divmod.outer(i8, p)|np.divmod(i, i8, dtype=float)|np.divmod(9, i)
np.modf(v, out=x)|np.modf(v, out=(x,))|np.frexp(v, dtype=float)|np.modf(v, out=(k, y))|np.modf(v, out=(a, y))
np.modf(a, out=(x, o))|np.divmod(v)|np.divmod(a, w)|np.modf(v, x, out=(x, y))|np.divmod(u, -1)|divmod(a, 2)
"""
CASTING = """
np.add(a, i, casting="safe")|np.add(a, i, casting="no")|np.add(a, a, dtype=int)
np.add(a, a, dtype=int, casting="unsafe")|np.add(i, i, dtype=np.float32)
np.add(i, i, dtype=np.float32, casting="safe")|np.add(v, v, out=k, casting="unsafe")
np.add(v, v, out=g, casting="safe")|np.add(v, v, out=g)|np.add(a, a, casting="foo")|np.sqrt(a, dtype=np.float32)
np.add(v, 2.5, dtype=int, casting="unsafe")|np.less(a, i, dtype=bool)|np.sqrt(i, casting="equiv")
np.sin(i, casting="no")|np.add([1, 2], 3)|np.add([1, 2], i8[:2])|np.maximum(v, [0, 1, 2, 3, 4.5])|np.sqrt((v[0], n))
np.hypot([[1, 2]], p[:2])|np.add([v, x], [1])|np.sin([])|np.add([1, [2]], v)
np.multiply((v, v), w[:2, None], out=np.zeros((2, 5)))|np.add(a, a, subok=True)
np.add(a, a.T[:4, :4].T[0, 0], order="F")|np.add(t, 1, order="C")|np.hypot(a, i, order="f")|np.modf(t, order="F")
np.sqrt(z, order="F")|np.add(a, a, order="X")|np.add(v, v[:, None], order="F", dtype=np.float32)|np.float_power(i, 2)
np.ldexp(a, i)|np.heaviside(a, 0.5)|np.isnat(a)|np.bitwise_count(i)|np.bitwise_count(i8)|np.bitwise_count(u)
np.bitwise_count(a)|np.spacing(odd)|np.nextafter(odd, 0)|np.reciprocal(i)|np.positive(u)|np.gcd(i, 6)|np.lcm(i, 6)
np.left_shift(i, 2)|np.right_shift(u, 1)|np.signbit(odd)
"""
REDUCE = """
np.subtract.reduce(a)|np.subtract.reduce(a, axis=1)|np.subtract.reduce(v)|np.subtract.reduce(t, axis=1)
np.arctan2.reduce(a)|np.divide.reduce(i)|np.divide.reduce(i, dtype=np.float32)|np.floor_divide.reduce(i, axis=1)
np.remainder.reduce(a)|np.power.reduce(p)|np.power.reduce(neg)|np.hypot.reduce(a)|np.hypot.reduce(a, axis=None)
np.hypot.reduce(v[:1])|np.logaddexp.reduce(a, axis=1)|np.logaddexp2.reduce(v)|np.gcd.reduce(i * 4, axis=None)
np.gcd.reduce(i)|np.lcm.reduce(i)|np.less.reduce(b)|np.less.reduce(a)|np.equal.reduce(m, axis=1)|np.copysign.reduce(a)
np.nextafter.reduce(v)|np.fmod.reduce(a)|np.left_shift.reduce(p)|np.left_shift.reduce(b)|np.heaviside.reduce(v)
np.float_power.reduce(p)|np.fmax.reduce(a, axis=(0, 1))|np.fmin.reduce(odd)|np.maximum.reduce(i, axis=None)
np.subtract.reduce(h)|np.divide.reduce(h)|np.subtract.reduce(a, axis=(0, 1))|np.subtract.reduce(a, axis=None)
np.subtract.reduce(a, axis=(1,))|np.subtract.reduce(a, axis=())|np.subtract.reduce(a, keepdims=True)
np.subtract.reduce(t, axis=-1, keepdims=True)|np.subtract.reduce(v, initial=100)|np.subtract.reduce(a, where=m)
np.subtract.reduce(a, where=m, initial=5)|np.subtract.reduce(v, initial=None)|np.hypot.reduce(v, initial=None)
np.add.reduce(v, initial=None)|np.add.reduce(none, initial=None)|np.hypot.reduce(a, where=m)
np.gcd.reduce(i, where=m, axis=1)|np.subtract.reduce(none)|np.subtract.reduce(flat)|np.subtract.reduce(flat, axis=1)
np.hypot.reduce(none)|np.hypot.reduce(flat)|np.subtract.reduce(v, out=s)|np.subtract.reduce(a, out=x)
np.subtract.reduce(i, dtype=np.int8)|np.floor_divide.reduce(i, dtype=float)|np.less.reduce(a, dtype=bool)
np.subtract.reduce(z)|np.add.reduce([v, x])|np.maximum.reduce([1, n, 2])|np.logical_and.reduce([b, c, b])
np.subtract.reduce(m)|np.sin.reduce(a)|np.divmod.reduce(a)|np.matmul.reduce(a)|np.subtract.reduce(a, 1)
np.subtract.reduce(a, axis=3)|np.bitwise_xor.reduce(i, axis=1)
"""
OTHERS = """
np.subtract.accumulate(a)|np.subtract.accumulate(a, axis=1)|np.subtract.accumulate(v)|np.hypot.accumulate(v)
np.subtract.accumulate(none)|np.divide.accumulate(i)|np.divide.accumulate(i, axis=1)|np.power.accumulate(p)
np.power.accumulate(neg)|np.power.accumulate(v, dtype="int8")|np.power.reduce(np.array(2))|np.less.accumulate(b)
np.less.accumulate(a)|np.ldexp.accumulate(i8)|np.gcd.accumulate(i, axis=1)|np.arctan2.accumulate(t, axis=1)
np.subtract.accumulate(z)|np.floor_divide.accumulate(i[:, ::-1], axis=1)|np.subtract.accumulate(i, dtype=float)
np.logaddexp.accumulate(h, axis=1)|np.subtract.accumulate(v, out=x)|np.fmod.accumulate(a[::2], axis=0)
np.divmod.accumulate(i)|np.subtract.accumulate(flat)|np.subtract.accumulate(flat, axis=1)
np.equal.accumulate(m, axis=1)|np.maximum.accumulate([3, n, 5])|np.add.reduceat(v, [0, 3, 1])|np.add.reduceat(v, at)
np.add.reduceat(a, at, axis=1)|np.add.reduceat(a, at)|np.subtract.reduceat(v, at)|np.maximum.reduceat(t, at, axis=2)
np.add.reduceat(i8, [0, 2])|np.subtract.reduceat(i8, [0, 2])|np.add.reduceat(v, far)|np.add.reduceat(v, neg)
np.add.reduceat(v, [])|np.add.reduceat(v, 0)|np.add.reduceat(none, [0])|np.hypot.reduceat(f, at, axis=1)
np.add.reduceat(v, at, out=w)|np.multiply.reduceat(i, at, dtype=float)|np.logical_or.reduceat(b, at)
np.add.reduceat(h[0], at)|np.subtract.outer(v, w)|np.hypot.outer(v, [1, 2])|np.add.outer(2, v)|np.add.outer(f, 2.0)
np.less.outer(a, w)|np.add.outer(v, z)|np.add.outer([1, 2], [3, 4])|np.maximum.outer(i8, v, dtype=np.float32)
np.sin.outer(a)|np.add.outer(t, w)|np.add.outer(v, w, out=np.zeros((5, 4)))|np.add.nin + np.modf.nout
np.add.identity + np.multiply.identity|np.hypot.nargs|np.add.__name__ == "add"|np.matmul.signature is None
"""


@pytest.mark.parametrize("text", forms(TWO_RESULTS))
def test_c1_two_results(text: str) -> None:
    expression(text, VALUES, ulp=100)


@pytest.mark.parametrize("text", forms(CASTING))
def test_n5_casting_and_lists(text: str) -> None:
    expression(text, VALUES, ulp=100)


@pytest.mark.parametrize("text", forms(REDUCE))
def test_c2_reduce_of_every_ufunc(text: str) -> None:
    expression(text, VALUES, ulp=100)


@pytest.mark.parametrize("text", forms(OTHERS))
def test_c2_accumulate_reduceat_outer(text: str) -> None:
    expression(text, VALUES, ulp=100)


def test_what_is_refused() -> None:
    for text in (
        'np.add(v, v, order="A")', "np.subtract.reduce(a, out=k)", "np.subtract.accumulate(v, out=k)",
        "np.ldexp.reduce(k)", "np.sqrt(v, where=c)", "np.modf(v, where=c)", "np.modf(v, out=(x, x))",
        "np.frompyfunc(f, 1, 1)(v)",
    ):  # fmt: skip
        names = [n for n in ("a", "v", "k", "c", "x") if f"{n}," in text or f"{n})" in text or f"={n}" in text]
        refused(program(f"def f({', '.join(names)}):\n    return {text}"), *(VALUES[n] for n in names))


@pytest.mark.slow
def test_on_every_rung() -> None:
    """Both interpreters and native code agree, and nothing is allocated but results."""

    def program(a, at):
        fraction, whole = np.modf(a)
        mantissa, exponent = np.frexp(a)
        np.divmod(fraction, 0.25, out=(fraction, mantissa))
        first = np.subtract.reduce(a) + np.hypot.reduce(a, axis=0)
        return whole, mantissa, exponent, first, np.subtract.accumulate(a, axis=1), np.add.reduceat(a, at, axis=1)

    climb(program, (A, VALUES["at"]), again=[(RNG.uniform(-2, 2, (3, 9)), np.array([7, 1]))], tolerance=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "np.clip(a, a_min=1)",
        "np.clip(a, 1, 2, min=1)",
        "np.clip(a, min=1), np.clip(a, None, 2), a.clip(1), a.clip(max=2), np.clip(a)",
        "(np.add.at(shorts, [0, 0], 1.5), shorts)",  # the result is converted whatever it is
        "(np.bitwise_or.at(shorts, 1, -1), np.arccosh.at(shorts, 0), shorts)",
        "(np.power.at(shorts, [0, 1], -1), shorts)",
        "np.power(e[0:0, 0, 0] > 0, -1)",
        "np.bitwise_and.reduce(fixed, where=fixed > 0)",
        "np.bitwise_or.reduceat(v, [0, 9])",
        "np.divmod(v, 2, out=(shorts, fixed))",
        "np.left_shift(-1, shorts.astype(np.int8), dtype='uint8')",
    ],
)
def test_c1_calls_that_once_differed(text: str) -> None:
    """Found by calls that `tracebuf.testing.functions` drew."""
    expression(text, UNUSUAL)


@pytest.mark.parametrize("text", slow_but(["part * part.T"], ["part * part.T", "part * a.T[:1].T", "a.T[:1].T * part"]))
@pytest.mark.slow
def test_s6_an_axis_that_a_guard_makes_1_is_repeated_in_the_order_of_the_result(text: str) -> None:
    """Its stride counted: the fuzzer found the result in another order than eager's."""
    f = bufferize(verify=True)(program(f"def f(a):\n    part = a.T[2::3]\n    return {text}"))
    for last in (5, 8, 11):
        agree(f, RNG.random((2, 5, last)))


RUNNING = {
    "d": "power hypot arctan2 logaddexp logaddexp2 fmax fmin fmod nextafter heaviside float_power",
    "f": "power hypot arctan2 logaddexp fmax fmod nextafter heaviside",
    "e": "power hypot logaddexp fmin nextafter",
    "l": "power gcd lcm left_shift right_shift floor_divide remainder",
    "B": "power gcd left_shift",
    "D": "power",
}
"""By dtype: ufuncs whose accumulations NumPy's loop does alone."""


@pytest.mark.parametrize("form", slow_but(["d power"], [f"{c} {name}" for c in RUNNING for name in RUNNING[c].split()]))
@pytest.mark.slow
def test_accumulations_by_one_call_of_numpys_loop(form: str) -> None:
    """Of all sizes and strides, of computed elements, into a part of an argument, and over the elements themselves."""
    code, name = form.split()
    whole = np.random.default_rng(6).random(300) * 3 + 0.25
    whole = np.round(whole * (4 if code in "lB" else 16)).astype(code) / np.array(1 if code in "lB" else 16, code)
    whole = whole.astype(code)
    if code in "def":
        whole[[7, 200]] = np.nan, np.inf
    f = program(f"def f(a):\n    return np.{name}.accumulate(a), np.{name}.accumulate(a[::-1] + a)")
    into = program(f"def f(a):\n    np.{name}.accumulate(a[1:], out=a[1:])\n    return a")
    rows = program(f"def f(a):\n    return np.{name}.accumulate(a, axis=1), np.{name}.accumulate(a, 0)")
    with np.errstate(all="ignore"):
        for n in (0, 1, 2, 9, 300):
            agree(f, whole[:n])
            agree(f, whole[:n][::-2])
            agree(into, whole[:n].copy())
        agree(into, whole.copy()[::3])
        agree(rows, whole.reshape(3, 100))
        agree(rows, whole.reshape(100, 3).T[:, ::2])
        agree(program(f"def f(a):\n    return np.{name}.accumulate(a, dtype=float)"), whole[:20])
        if code in "def":
            agree(program(f"def f(a):\n    return np.{name}.accumulate(np.arange(len(a)) + 1)"), whole[:20])


def test_a_long_accumulation_goes_on_where_its_parts_end() -> None:
    """Native code polls between parts of a row."""
    a = np.random.default_rng(7).random(400_000) + 0.5
    parts = "np.hypot.accumulate(a), np.fmax.accumulate(a), np.logaddexp.accumulate(a * 2)"
    agree(program(f"def f(a):\n    return {parts}"), a)


@pytest.mark.parametrize("form", [
    "np.hypot(b[1:], 3, out=a)", "np.fmin(b[1:], b[:1], out=a)", "np.arctan2(b[1:], 3, out=a)",
    "np.hypot(np.fmin(b[1:], 2) + b[:1], b[:1], out=a)", "np.fmod(7, b[1:], out=a)",
])  # fmt: skip
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.cases(3)
def test_an_operand_that_is_repeated_into_out(form: str, dtype: type) -> None:
    """NumPy's loop got the elements that another version of the nest gathers, which were none: any numbers."""
    f = program(f"def f(a, b): {form}")
    for shape in ((6, 5), (3, 40), (2, 700), (1, 1)):
        agree(f, np.ones(shape, dtype), np.array([7.0, 2.0]))
