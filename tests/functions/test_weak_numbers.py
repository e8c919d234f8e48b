"""Python's numbers beside arrays, as any argument of NumPy's functions: weak in some, made an array at first in others
(rule N1)."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program
from tests.support.params import one_in, some
from tracebuf import UnsupportedError, bufferize

EXPRESSIONS = (
    "np.clip(N, a, (N + 5))", "np.clip(N, a, None)", "np.clip(N, None, a)", "np.clip(a, N, (N + 5))", "np.dot(N, a)",
    "np.dot(a, N)", "np.inner(N, a)", "np.outer(N, a)", "np.outer(a, N)", "np.kron(N, a)", "np.convolve(a, N)",
    "np.correlate(a, N)", "np.convolve(N, a)", "np.vdot(a[0], N)", "np.tensordot(N, a, 0)", "np.where(a>1, N, a)",
    "np.append(a, N)", "np.insert(a, 1, N)", "np.concatenate((a, [N]))", "np.hstack((a, N))",
    "np.vstack((a[:1], N))", "np.full_like(a, N)", "np.heaviside(a, N)", "np.copysign(N, a)", "np.hypot(N, a)",
    "np.maximum(N, a)", "np.power(N, a)", "np.isclose(a, N)", "np.select([a>1], [a], N)", "np.select([a>1], [N], a)",
    "np.choose([0,1,0], [N, a])", "np.piecewise(a, [a>1], [N, 0])", "np.nan_to_num(a, nan=N)",
    "np.linspace(N, a[0], 3)", "np.linspace(a, N, 3)", "np.arange(N, a[0])", "np.arange(a[0])",
    "np.arange(N, 9, a[1])", "np.logspace(N, a[0], 3)", "np.geomspace(N, a[1], 3)",
    "np.pad(a, 1, constant_values=N)", "np.interp(N, a, a)", "np.interp(a, a, [N, N, N])", "np.trapezoid(a, dx=N)",
    "np.diff(a, prepend=N)", "np.diff(a, append=N)", "np.ediff1d(a, to_end=[N])", "np.cross([N, N, N], a)",
    "np.polyval(a, N)", "np.polyval([N, N], a)", "np.average(a, weights=[N, N, N])", "np.quantile(a, 0.5)",
    "np.quantile(a, N*0+1)", "np.unwrap(a, N)", "np.gradient(a, N)", "np.sum(a, initial=N)", "np.prod(a, initial=N)",
    "np.max(a, initial=N)", "np.cumsum([N, N]) * a", "np.mean([N, N]) * a", "np.sum(N) * a", "np.abs(N) * a",
    "np.sqrt(N) * a", "np.float32(N) * a", "np.asarray(N) * a", "np.array([N]) * a", "np.square(N) + a",
    "np.round(N, 1) + a", "np.max([N, 1]) + a", "np.add(N, N) + a", "np.multiply(N, a[0])", "np.sum([N, a[0]])",
    "np.array([N, a[0]])", "np.stack([a, a*N])", "np.minimum(N, a[0])", "np.mod(N, a)", "divmod(N, a)",
    "np.divmod(N, a)[0]", "np.modf(N)[0] + a", "np.ldexp(a, 2)", "np.real(N) * a", "np.imag(N) * a",
    "np.conj(N) * a", "np.angle(N) * a", "np.squeeze(N) * a", "np.ravel(N) * a", "np.reshape(N, (1,)) * a",
    "np.transpose(N) * a", "np.copy(N) * a", "np.atleast_1d(N) * a", "np.expand_dims(N, 0) * a",
    "np.broadcast_to(N, (3,)) * a", "np.full(3, N) * a", "np.repeat(N, 3) * a", "np.tile(N, 3) * a",
    "np.diag([N]) * a", "np.take(N, 0) * a", "np.sort([N]) * a", "np.median([N, N]) * a", "np.std([N, N]) * a",
    "np.trace([[N]]) * a", "np.linalg.norm([N, N]) * a", "np.dot([N, N, N], a)", "a @ [N, N, N]",
    "np.matmul(a, [N, N, N])", "np.vander(a, 2) * N", "np.meshgrid(a, N)[1]", "np.broadcast_arrays(a, N)[1]",
    "np.bitwise_count(3) * a", "np.sign(N) * a", "np.floor(N) * a", "np.trunc(N) * a", "np.rint(N) * a",
    "np.fix(N) * a", "np.negative(N) * a", "np.positive(N) * a", "np.reciprocal(N+1) * a", "np.exp(N) * a",
    "np.nan_to_num(N) * a", "np.cumprod(N) * a", "np.ptp([N,1]) * a", "np.any(N) * a", "np.all(N) * a",
    "np.argmax([N]) * a", "np.count_nonzero(N) * a", "np.clip(N, 0, 1) * a", "np.unique([N]) * a",
    "np.histogram(a, bins=[0, N, 9])[1]", "np.searchsorted(a, N) * a", "np.bincount([1, 1], weights=[N, N])",
    "np.result_type(N, a)", "np.min_scalar_type(3)", "np.promote_types(np.int8, a.dtype)", "np.float_power(N, a)",
    "np.fmod(N, a)", "np.logaddexp(N, a)", "np.nextafter(N, a)", "np.fmax(a, N)", "sum([N, a[0]])", "max(N, a[0])",
    "min(a[0], N)", "abs(N) * a", "pow(N, 2) * a", "round(N) * a", "N // a", "N % a", "N ** a", "a ** N", "a // N",
    "-N + a",
)  # fmt: skip
"""`N` is the number."""
REFUSED = ("np.arange(N, a[0])", "np.arange(N, 9, a[1])", "np.searchsorted(a, N) * a")
"""With a complex number."""
NAME = r"\bN\b"
NUMBERS = ("2", "1.5", "True", "np.int8(3)", "1j", "x", "k")


@pytest.mark.parametrize("text", one_in(48, EXPRESSIONS))
@pytest.mark.cases(12)
def test_n1_numbers_beside_arrays(text: str) -> None:
    for number in some(2, NUMBERS):
        f = bufferize(program(f"def f(a, x, k): return {re.sub(NAME, number, text)}"))
        for dtype in (np.float32, np.int16, np.float64, np.uint8):
            if number == "1j" and text in REFUSED:
                with pytest.raises(UnsupportedError):
                    f(np.array([1, 2, 3], dtype), 1.25, 2)
            else:
                agree(f, np.array([1, 2, 3], dtype), 1.25, 2, ulp=16)


def test_a_number_has_no_methods_that_only_arrays_have() -> None:
    for text in ("a.sum().dot(2)", "np.subtract(a[0], 1).argpartition(0)", "a[0].partition(0)", "a.max().T.mT"):
        agree(program(f"def f(a): return {text}"), np.arange(3.0))


def test_an_int_that_fits_no_element_is_an_overflow_before_it_is_no_matrix() -> None:
    for text in ("-1 @ a", "a @ -1", "300 @ a", "2 @ a", "np.dot(-1, a)"):
        f = bufferize(program(f"def f(a, k):\n    a[k] += 1\n    return {text}"))
        for dtype in (np.uint8, np.uint64, np.int16):
            agree(f, np.arange(3, dtype=dtype), 1)
            agree(f, np.arange(3, dtype=dtype), 5)


def test_numpys_numbers_that_are_known_stay_numbers() -> None:
    for text in ("np.transpose(np.trunc(2))", "np.squeeze(np.float32(2))", "np.reshape(np.trunc(2), ())"):
        agree(program(f"def f(): return {text}"))


@pytest.mark.parametrize("dtype", one_in(3, [np.float64, np.float32, np.float16, np.complex128, np.int64]))
@pytest.mark.slow
def test_products_with_a_number_and_zero(dtype: type) -> None:
    """np.dot of a number adds to zeros: nothing is -0.0, as `a * b` is."""
    for text in ("np.dot(-1, a)", "np.dot(a, k)", "a.dot(-1.0)", "np.inner(-1, a)", "np.inner(a, k)", "np.outer(-1, a)",
                 "np.einsum('i,j', a, a - 3)", "np.einsum(',i', k, a)", "np.tensordot(a, a - 3, 0)",
                 "np.dot(k, a[0])", "np.dot(a[:, None], -1)", "np.tensordot(-1, a, 0)", "np.kron(-1, a)"):  # fmt: skip
        agree(program(f"def f(a, k): return {text}"), np.array([0, -0.0, 2]).astype(dtype), dtype(-1))


@pytest.mark.parametrize("x", one_in(9, [2, 300, -1, 2.5, 1e300, True, 1j, np.int64(2), np.float32(1)]))
@pytest.mark.slow
def test_numbers_joined_with_arrays_are_weak(x: Any) -> None:
    """They were of int64 or float64, as those of np.append and np.hstack are."""

    def joined(x: Any, a: Any) -> Any:
        return np.concatenate((x, a), axis=None), np.concatenate((a, 2, [a[0, 0]], x), axis=None)

    def of_numbers(x: Any, a: Any) -> Any:
        return np.concatenate((x, 2.5), axis=None), np.append(a, x), np.concatenate((x, a), axis=None, dtype=complex)

    for dtype in ("u1", "i4", "f4", "f8", "?", "c8"):
        for f in (joined, of_numbers):
            agree(f, x, np.ones((2, 2), dtype))


def test_a_number_joined_into_an_array_that_is_given() -> None:
    def f(x: Any, a: Any) -> Any:
        return np.concatenate((x, a), axis=None, out=np.zeros(a.size + 1, a.dtype))

    for x in (2, 2.5):
        agree(f, x, np.ones(3, "f4"))
    agree(f, 300, np.ones(3, "u1"))
