"""np.fmod, remainder, floor_divide and divmod, whose loops are tracebuf's own, judged by eager NumPy to the bit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.agreement import agree, program
from tests.support.params import slow_but
from tracebuf import bufferize
from tracebuf.testing.ladder import climb

FORMS = ("np.fmod(a, b)", "a % b", "a // b", "np.divmod(a, b)")


def special(code: str) -> np.ndarray:
    """Zeros, infinities, NaN, the least and largest numbers, and some beside whole ones."""
    info = np.finfo(code)
    some = [0, 1, 0.5, 3, 7, 0.1, 1 / 3, 1e-4, 1025, info.tiny, info.smallest_subnormal, info.max, info.eps, np.inf]
    numbers = np.array([*some, 1 + info.eps, 1 - info.epsneg], code)
    return np.concatenate((numbers, -numbers, [np.nan])).astype(code)


def pairs(code: str, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Operands of quotients of all sizes: any bits, near multiples, whole numbers, ordinary numbers."""
    r, kind = np.random.default_rng(n), np.dtype(code)
    anything = r.integers(0, 256, (2, n * kind.itemsize), dtype=np.uint8).view(kind)
    b = r.random(n).astype(kind)
    multiple = (r.integers(1, 2**15, n) * b.astype(float)).astype(kind)
    above, below = (np.nextafter(multiple, kind.type(k * np.inf)) for k in (1, -1))
    whole = r.integers(-50, 50, (2, n)).astype(kind)
    return [(anything[0], anything[1]), (multiple, b), (above, b), (below, -b), (whole[0], whole[1] / 8)]


def same(f, g, *args: np.ndarray) -> None:
    with np.errstate(all="ignore"):
        wanted, found = f(*args), g(*args)
    for x, y in zip(*([v] if isinstance(v, np.ndarray) else v for v in (wanted, found)), strict=True):
        number = ~np.isnan(x)
        assert x.dtype == y.dtype and x.shape == y.shape and (np.isnan(y) == ~number).all()
        assert x[number].tobytes() == y[number].tobytes()


@pytest.mark.parametrize("code", slow_but("d", "efd"))
@pytest.mark.parametrize("form", slow_but(FORMS[-1:], FORMS))
@pytest.mark.slow
def test_bits(form: str, code: str) -> None:
    f = program(f"def f(a, b):\n    return {form}")
    g, every = bufferize(f), special(code)
    same(f, g, every.repeat(every.size), np.tile(every, every.size))
    for n in (0, 1, 2, 7, 127, 128, 129, 5000):
        for a, b in pairs(code, n):
            same(f, g, a, b)
    a, b = pairs(code, 5000)[0]
    same(f, g, a[::3], b[::-3])
    same(f, g, a.reshape(50, 100).T, b[:50])
    for number in every:
        same(f, g, a[:300], number.reshape(1))
        same(f, g, number.reshape(1), b[:300])


@pytest.mark.parametrize("code", slow_but("d", "efd"))
@pytest.mark.slow
def test_of_one_far_quotient_among_others(code: str) -> None:
    """And into an operand's memory, of which a part is computed again."""
    a, b = (np.linspace(-9, 9, 300).astype(code) + np.array(k, code) for k in (0, 9.5))
    a[[5, 131, 299]] = np.finfo(code).max, np.inf, np.nan
    b[200] = 0
    for text in ("a %= b", "b[:] = a % b", "np.fmod(a, b, out=a)", "np.divmod(a, b, out=(b, a))", "a[1:] //= a[:-1]"):
        with np.errstate(all="ignore"):
            agree(program(f"def f(a, b):\n    {text}\n    return a, b"), a, b)


@pytest.mark.parametrize("code", slow_but("l", "bBhHiIlL"))
def test_divmod_of_integers(code: str) -> None:
    """By zero, of the least by -1, and of all signs."""
    info, r = np.iinfo(code), np.random.default_rng(4)
    f = program("def f(a, b):\n    return np.divmod(a, b)")
    numbers = np.array([info.min, info.min + 1, info.max, 0, 1, 2, 3, 7, info.max // 3], code)
    numbers = np.concatenate((numbers, -numbers)).astype(code)
    with np.errstate(all="ignore"):
        agree(f, numbers.repeat(numbers.size), np.tile(numbers, numbers.size))
        for n in (0, 1, 300):
            agree(f, r.integers(info.min, info.max, n, code), r.integers(0, 9, 2 * n).astype(code)[::2])


@pytest.mark.slow
def test_on_every_rung() -> None:
    def wrapped(a, b):
        return (a + np.pi) % (2 * np.pi) - np.pi, np.fmod(a, b).max(), a // b, np.divmod(a[::2], 0.75)

    climb(wrapped, (np.linspace(-40, 40, 150), np.linspace(0.5, 3, 150)), again=[(np.ones(1), np.ones(1) * 0.3)])


def test_accumulated() -> None:
    a = np.random.default_rng(5).random(200) * 50 + 0.5
    for kind in "efd":
        agree(program("def f(a):\n    return np.remainder.accumulate(a), np.fmod.accumulate(a)"), a.astype(kind))
