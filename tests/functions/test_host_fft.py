"""np.fft as host calls: values, dtypes, layouts, sizes, errors, in place; shifts and frequencies as loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.forms import check_forms
from tests.support.params import slow_but
from tracebuf import bufferize
from tracebuf.testing.ladder import climb

RNG = np.random.default_rng(0)
A = RNG.normal(size=(6, 5))
C = A + 1j * RNG.normal(size=(6, 5))
DTYPES = [np.float32, np.float16, np.int64, np.uint8, np.bool_, np.complex64, np.complex128]
LAYOUTS: list[Callable[[np.ndarray], np.ndarray]] = [
    np.asfortranarray, lambda a: np.pad(a, 1)[1:-1, 1:-1], lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    lambda a: np.repeat(a, 2, 1)[:, ::2], lambda a: np.broadcast_to(a[:, :1], a.shape),
    lambda a: a[:1], lambda a: a[:, :1],
]  # fmt: skip
ANY = [
    "np.fft.fft(a)", "np.fft.ifft(a, axis=0)", "np.fft.fft(a, n)", "np.fft.ifft(a.T, 2 * n + 1, 0, 'ortho')",
    "np.fft.fft(a, norm='forward')", "np.fft.fft2(a)", "np.fft.ifft2(a, axes=(1, 0))", "np.fft.fft2(a, (n, n + 1))",
    "np.fft.fftn(a)", "np.fft.fftn(a, axes=())", "np.fft.fftn(a[0, 0])",
    "np.fft.fftn(a, axes=(0,))", "np.fft.ifftn(a, s=(n, -1), axes=(0, 1))", "np.fft.fft(a[0])",
    "np.fft.irfft(a, n)", "np.fft.hfft(a, n, axis=0)", "np.fft.irfft2(a, (n, n))", "np.fft.irfftn(a, (n, 4), (1, 0))",
    "np.fft.fft(a[::-1, ::2])", "np.fft.fft(a, len(a))", "np.fft.fft([1.0, a[0, 0], 2])",
]  # fmt: skip
DEFAULT = ["np.fft.irfft(a)", "np.fft.hfft(a, axis=0)", "np.fft.irfft2(a)", "np.fft.irfftn(a)"]
REAL = [
    "np.fft.rfft(a)", "np.fft.rfft(a, n, axis=0)", "np.fft.ihfft(a)", "np.fft.ihfft(a, n)", "np.fft.rfft2(a)",
    "np.fft.rfftn(a, axes=(1, 0))", "np.fft.rfftn(a, (n, n), axes=(0, 1))",
]  # fmt: skip
SHIFTS = [
    "np.fft.fftshift(a)", "np.fft.ifftshift(a)", "np.fft.fftshift(a, 1)", "np.fft.ifftshift(a, axes=(-1,))",
    "np.fft.ifftshift(np.fft.fftshift(a, [0]), 0) + a",
]  # fmt: skip
ALL = [*ANY, *DEFAULT, *REAL, *SHIFTS]


def made(text: str, first: str = "") -> Any:
    return program(f"def f(a, n, d):\n    {first}\n    return {text}")


@pytest.mark.parametrize("text", slow_but([ANY[0], DEFAULT[0], REAL[0]], ALL))
def test_values(text: str) -> None:
    for x in (A, C)[: 1 + (text not in REAL)]:
        g = tracebuf.bufferize(verify=True)(made(text))
        agree(g, x, 4, 0.1)
        agree(g, np.vstack([x, x])[:-1], 8, 0.1)
        assert len(g.specializations()) == 1


KINDS = [ANY, DEFAULT, REAL, SHIFTS]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("texts", KINDS)
def test_dtypes(texts: list[str], dtype: Any) -> None:
    check_forms(texts, values={"a": np.abs(3 * A).astype(dtype), "n": 4})


@pytest.mark.slow
@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
@pytest.mark.parametrize("texts", KINDS)
def test_layouts(texts: list[str], layout: int) -> None:
    for array, n in ((A, 4), (C, 1))[: 1 + (texts is not REAL)]:
        a = LAYOUTS[layout](array)
        check_forms(texts, values={"a": a, "n": n}, first="a = a.copy()" if 1 in a.shape else "")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["np.fft.fft(a, n)", "np.fft.fft2(a, (n, n))"])
def test_an_axis_of_length_1_that_grows(text: str) -> None:
    """The order of axes would depend on the stride of that axis."""
    for a in (A[:, :1], A[:1]):
        if a.shape[-1] == 1 or "2" in text:
            assert "an axis of length 1 grows" in str(refused(made(text), a, 4, 0.1))
        agree(made(text, "a = a.copy()"), a, 4, 0.1)
        agree(made(text, "a = a[0, :, None] * 1.0"), a, 4, 0.1)
        agree(made(text, "a = np.asfortranarray(a[None, 0] + 1)"), a, 4, 0.1)
    for first in ("a = a[:, None]", "a = a[None]"):
        (agree if "2" not in text else refused)(made(text, first), A[0], 4, 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("shape", slow_but(((3, 1),), ((3, 1), (1, 3), (2, 1, 3), (2, 3, 1))))
def test_an_axis_of_length_1_that_grows_in_what_was_made_here(shape: tuple[int, ...]) -> None:
    """A float32 result was converted with its axes of length 1 outermost; and a Fortran-ordered array was taken for
    what its strides say, which are equal there."""
    grows = shape.index(1)

    def twice(x):
        return np.fft.irfft(np.fft.fft(x, axis=0), 4, axis=grows)

    def fortran(x):
        return np.fft.fft(np.asfortranarray(x) * 2, 4, axis=grows)

    for dtype in (np.float32, np.float64):
        for order in ("C", "F"):
            x = np.asarray(np.random.default_rng(0).random(shape), dtype, order)
            for f in (twice, fortran):
                got, wanted = bufferize(f)(x), f(x)
                assert got.strides == wanted.strides and np.allclose(got, wanted, rtol=1e-5)


def frequencies(n, d):
    return np.fft.fftfreq(n), np.fft.rfftfreq(n), np.fft.fftfreq(n, d), np.fft.rfftfreq(n + 1, d), np.fft.fftfreq(6, d)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_frequencies(n: int) -> None:
    for d in (0.1, 2, np.float64(0.3), np.float32(0.3), np.int32(2)):
        agree(frequencies, n, d)


ERRORS = [
    "np.fft.fft(a, 0)", "np.fft.fft(a, axis=2)", "np.fft.fft(a, n)", "np.fft.fft(a, norm='odd')", "np.fft.fft(d)",
    "np.fft.fft2(a[0])", "np.fft.rfft(a + 1j)", "np.fft.fft(a[:, :0])", "np.fft.irfft(a[:, :1])", "np.fft.fftfreq(0)",
    "np.fft.fftfreq(d)", "np.fft.fftn(a, (1, 2, 3))", "np.fft.fft(a, 1.5)", "np.fft.fftfreq(n)",
    "np.fft.fftshift(a, 3)", "np.fft.fftfreq(3, d * 0)",
]  # fmt: skip


@pytest.mark.parametrize("text", slow_but(ERRORS[::6], ERRORS))
def test_errors(text: str) -> None:
    assert isinstance(agree(made(text), A, -3, 0.1), Exception)


def low_pass(a, n, keep):
    for _ in range(n):
        terms = np.fft.rfft(a)
        if abs(terms[1]) > 0.5:
            terms[keep:] = 0
        a[:] = np.fft.irfft(terms, len(a))
    return a


def in_place(a):
    a[:] = np.fft.ifft2(np.fft.fft2(a) * 2)
    a[1:, 0] = np.fft.fft(a[:-1, 0])
    a[:, ::2] = np.fft.fftshift(a[:, ::2])
    return a.T


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["one-shot", *slow_but((), ["copy-before-write", "optimal"])])
def test_in_place_and_in_loops(strategy: Any) -> None:
    for layout in LAYOUTS[:3]:
        agree(tracebuf.bufferize(verify=True, strategy=strategy)(in_place), layout(C))
    for n in (8, 9):
        agree(tracebuf.bufferize(verify=True, strategy=strategy)(low_pass), np.linspace(0, 1, n) ** 2, 3, 3)


# -- NumPy's loops, called without the functions


@pytest.mark.slow
def test_native_code_calls_the_loops() -> None:
    def f(a):
        return np.fft.rfft(a), np.fft.ifft(a, axis=0), np.fft.hfft(a), np.fft.ihfft(a)

    text = tracebuf.bufferize(f).lower(A).as_text("llvm")
    for name in ("rfft_n_even_dd_D", "rfft_n_odd_dd_D", "ifft_Dd_D", "irfft_Dd_d"):
        assert f"@numpy_{name}" in text
    assert "hfft" not in tracebuf.bufferize(f).lower(A).as_text("memref")
    agree(f, A)


@pytest.mark.slow
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_norms_sizes_and_axes(norm: Any) -> None:
    def real(a):
        x = np.fft.rfft(a, axis=-2, norm=norm)
        return x, np.fft.irfft(x, norm=norm), np.fft.rfft(a, 5, norm=norm), np.fft.rfft2(a, norm=norm)

    def other(a):
        return np.fft.fft(a, axis=1, norm=norm), np.fft.ifftn(a, norm=norm), np.fft.irfftn(a, norm=norm)

    stack = RNG.normal(size=(3, 4, 7))
    for f in (tracebuf.bufferize(real), tracebuf.bufferize(other)):
        for a in (
            stack,
            stack[:, ::-2],
            stack.transpose(2, 1, 0),
            np.asfortranarray(stack),
            stack[:0],
            stack[:, :, :2],
        ):
            agree(f, a)
            agree(f, a.astype(np.float32))
    for dtype in (np.complex64, np.complex128):
        agree(other, (stack * (1 + 2j)).astype(dtype))


@pytest.mark.slow
def test_large_transforms_go_to_the_function() -> None:
    f = tracebuf.bufferize(lambda a: (np.fft.fft(a), np.fft.rfft(a), np.fft.irfft(a, axis=0)))
    for n in (8191, 8193, 20001):
        agree(f, RNG.normal(size=(2, n)))


@pytest.mark.slow
def test_the_loops_at_every_stage() -> None:
    text = """
    def loops(a, b):
        b[:] = np.fft.fft(a, axis=0)
        for _ in range(2):
            b = np.fft.ifft(b)
        return b, np.fft.rfft(a[0])
    """
    climb(program(text), [A, C])


def test_warnings_are_numpys() -> None:
    f = tracebuf.bufferize(lambda a: np.fft.fft(a))
    f(C)
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError, match="invalid value encountered in fft") as e:
        f(C * np.inf)
    assert "in <lambda>" in e.value.__notes__[0]


def test_numpys_functions_may_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """By wrappers that call them, say: irfft2 went over the axes in the other order, with other results."""
    irfft, irfft2 = np.fft.irfft, np.fft.irfft2
    monkeypatch.setattr(np.fft, "irfft", lambda *args, **named: irfft(*args, **named))
    agree(lambda a: irfft2(np.fft.rfft2(a)), np.random.default_rng(0).random((6, 4)))
