"""NumPy's functions of arrays, called by native code itself: what they get, what is stored of what they give."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree
from tests.support.native_calls import natively
from tests.support.params import one_in
from tests.support.references import steady
from tracebuf import api, bufferize
from tracebuf.backend.runtime.callable import NATIVE
from tracebuf.backend.runtime.memory_hook import counting
from tracebuf.backend.runtime.references import Reference

pytestmark = pytest.mark.skipif(not NATIVE, reason="no calls by native code here")


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs have their entries after one call, those of one call alone too."""
    monkeypatch.setattr(api, "FORWARD", False)
    monkeypatch.setattr(api, "NATIVE_AFTER", 1)
    monkeypatch.setattr(api, "WORTH", 0)


@pytest.fixture
def by_python(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions that Python calls, or whose results it stores."""
    seen: list[str] = []
    call, store = Reference.call, Reference.store
    name = attrgetter("called.function.name")
    monkeypatch.setattr(Reference, "call", lambda self, *args: (seen.append(name(self)), call(self, *args)))
    monkeypatch.setattr(Reference, "store", lambda self, *args: (seen.append("store"), store(self, *args)))
    return seen


def ready(f: Callable[..., Any], *args: Any) -> Any:
    """The bufferized function after calls that show native code its arrays."""
    g = bufferize(f)
    for _ in range(3):
        g(*args)
    return g


def same(x: Any, y: Any) -> bool:
    if isinstance(x, tuple):
        return type(x) is type(y) and len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, np.ndarray):
        return type(y) is np.ndarray and (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes())
    return type(x) is type(y) and bool(x == y)


WIDE = np.arange(12.0).reshape(3, 4) % 5
VALUES = np.array([3.0, -1, 2, 2, 7, 3, 0, 5])
FUNCTIONS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (lambda a: np.linalg.qr(a), (WIDE,)),
    (lambda a: np.linalg.pinv(a), (WIDE,)),
    (lambda a: np.linalg.matrix_rank(a), (WIDE,)),
    (lambda a: np.linalg.cond(a), (WIDE @ WIDE.T,)),
    (lambda a, b: np.linalg.lstsq(a, b, rcond=None), (WIDE.T, np.arange(4.0))),
    (lambda a: np.percentile(a, [5, 50.0, 95]), (VALUES,)),
    (lambda a: np.unique(a), (VALUES.astype(int),)),
    (lambda a: np.unique(a, return_counts=True, return_index=True), (VALUES,)),
    (lambda a: np.unique(a, axis=0), (np.ones((4, 2)),)),
    (lambda a: np.partition(a, 3), (VALUES,)),
    (lambda a, n: np.partition(a, n, axis=0), (WIDE, 2)),
    (lambda a: np.sort(a, axis=0), (WIDE,)),
    (lambda a: a.sort(axis=0), (WIDE.copy(),)),
    (lambda a, b: np.lexsort((a, b)), (VALUES, VALUES[::-1])),
    (lambda a: np.median(a), (np.arange(900.0) % 71,)),
    (lambda a: np.median(a, axis=0), (np.arange(1200.0).reshape(600, 2) % 71,)),
    (lambda a, n: np.union1d(a, a * n), (VALUES, 2)),
    (lambda a: np.histogram_bin_edges(a, 4), (VALUES,)),
    (lambda a, b: np.intersect1d(a, b), (VALUES, VALUES[::2] * 2)),
    (lambda a, t: np.linalg.pinv(a, t), (WIDE, 0.1)),
    (lambda a: np.linalg.pinv(a, a[0, 1] / 100), (WIDE,)),
    (lambda a: np.fft.fftfreq(len(a), 0.5), (VALUES,)),
    (lambda a, b: np.lexsort([a, b]), (VALUES, VALUES[::-1])),
    (lambda a, b: np.linalg.multi_dot([a, b, a, b]), (WIDE, WIDE.T)),
    (lambda a, b: np.fft.rfft(a, out=b), (VALUES, np.zeros(5, complex))),
    (lambda a, b: np.percentile(a, 30, axis=0, out=b), (WIDE, np.zeros(4))),
    (lambda a: np.fft.fft(a, 5, axis=1), (WIDE.astype(np.float16),)),
    (lambda a: np.sort(a, axis=None), (WIDE.T,)),
    (lambda a: a[::2].argmax(), (np.arange(3000) % 71 * 1j,)),
    (lambda a: np.argmin(a, axis=0), (np.arange(3000).reshape(1500, 2) % 71 * 1j,)),
    (lambda a: np.partition(a, 3, axis=None), (WIDE,)),
    (lambda a: np.argsort(a[:, ::2]), (np.arange(3000.0).reshape(2, 1500) % 71,)),
    (lambda a: np.argsort(a), (np.asfortranarray(np.arange(3000.0).reshape(2, 1500) % 71),)),
]


@pytest.mark.parametrize("k", one_in(4, range(len(FUNCTIONS))))
def test_native_code_calls_the_function(k: int, by_python: list[str]) -> None:
    """Tuples and lists of arrays, numbers, arrays that are written, results whose sizes only the elements tell."""
    f, args = FUNCTIONS[k]
    g = ready(f, *args)
    by_python.clear()
    for _ in range(3):
        assert same(natively(g, *args), f(*args))
    assert by_python == []
    agree(f, *args)


def quarter(a: Any) -> Any:
    return np.quantile(a, 0.25)


def test_sizes_that_change_from_call_to_call() -> None:
    """The arrays of the last call have other sizes: Python makes new ones."""
    g = ready(quarter, VALUES)
    for n in (8, 5, 5, 3, 8, 8):
        assert natively(g, VALUES[:n].copy()) == quarter(VALUES[:n])
    h = ready(lambda a: np.unique(a[a > 2]), VALUES)
    for values in (VALUES, VALUES * 0, VALUES, -VALUES):
        assert natively(h, values.copy()).tolist() == np.unique(values[values > 2]).tolist()


def inverse(a: Any) -> Any:
    b = a * 2
    return np.linalg.pinv(b)


def test_what_the_function_raises_keeps_its_arrays() -> None:
    """The frames of an error hold arrays on the program's memory, which is not used again: later calls do not change
    them. The error has the user's line, and calls go on."""
    g = ready(inverse, WIDE)
    bad = np.where(WIDE == 4, np.nan, WIDE)
    with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge") as error:
        g(bad)
    assert any("in inverse" in note for note in error.value.__notes__)
    held = []
    traceback = error.value.__traceback__
    while traceback is not None:
        if "pinv" in traceback.tb_frame.f_code.co_name:
            held.append(traceback.tb_frame.f_locals["a"])
        traceback = traceback.tb_next
    assert len(held) == 1 and np.isnan(held[0]).any()
    before = held[0].copy()
    for _ in range(3):
        assert natively(g, WIDE).tobytes() == inverse(WIDE).tobytes()
    assert held[0].tobytes() == before.tobytes()


@pytest.mark.slow
def test_references_are_flat() -> None:
    f, args = lambda a, t: (np.linalg.qr(a), np.linalg.pinv(a, t), np.unique(a)), (WIDE, 0.1)
    g = ready(f, *args)
    bad = np.full((3, 4), np.nan)

    def calls() -> None:
        for _ in range(50):
            g(*args)
            with pytest.raises(np.linalg.LinAlgError):
                g(bad, 0.1)

    calls()
    assert steady(calls, (WIDE, bad, args[1], np.linalg.qr, np.ndarray, np.dtype(float)), 1)


def test_a_warning_is_given_once_and_may_be_an_error() -> None:
    def fitted(x: Any, y: Any) -> Any:
        return np.polyfit(x, y, 2)

    x, y = np.arange(5.0), np.arange(5.0) ** 2
    g = ready(fitted, x, y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        natively(g, np.ones(5), y)
    assert [w.category for w in caught] == [np.exceptions.RankWarning]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(np.exceptions.RankWarning):
            g(np.ones(5), y)
    assert natively(g, x, y).tobytes() == fitted(x, y).tobytes()


def test_a_result_of_another_shape_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python stores what is not as it was described; here it says so, as in a call by Python."""
    g = ready(inverse, WIDE)
    spec = next(s for s in g.specializations())
    reference = spec.entry.context.references[0]
    direct = reference.direct
    from tracebuf.backend.layout.called_words import Called

    def other(a: Any) -> Any:
        return a

    reference.words[Called.FUNCTION] = id(other)
    with pytest.raises(Exception, match="gives float64 of shape") as error:
        g(WIDE)
    reference.words[Called.FUNCTION] = id(direct.function)
    assert any("in inverse" in note for note in error.value.__notes__)
    for _ in range(2):
        assert natively(g, WIDE).tobytes() == inverse(WIDE).tobytes()


def factored(a: Any) -> Any:
    q, r = np.linalg.qr(a)
    return r @ q, q


def turned(a: Any, n: Any) -> Any:
    for _ in range(n):
        q, r = np.linalg.qr(a)
        a = r @ q
    return a


def fitted(a: Any) -> Any:
    x, rest, rank, s = np.linalg.lstsq(a, a[:, :1], rcond=None)
    return x + 1, s


GIVING: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (factored, ()), (turned, (3,)), (fitted, ()), (lambda a: np.linalg.tensorinv(a, 1), ()),
    (lambda a: np.histogram(a, np.linspace(0, 1, 10)), ()),
]  # fmt: skip


@pytest.mark.parametrize("f, args", one_in(2, GIVING, rows=True))
def test_what_a_function_gives_is_taken_over(f: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """It was copied into a buffer of as many bytes: the peak was above eager NumPy's, by that."""
    g, a = bufferize(f), np.random.default_rng(0).random((30, 30))
    for x in (a, a[:12, :12].copy(), a):
        with counting() as eager:
            expected = f(x, *args)
            del expected
        with counting() as seen:
            result, counters = g.call_counted(x, *args)
            del result
        assert counters is not None and counters.given > 0
        assert seen.whole_peak_bytes <= eager.whole_peak_bytes + 300
    for _ in range(4):
        for x in (a, a[:12, :12].copy()):
            assert same(g(x, *args), f(x, *args))


SHORTER = [
    lambda a: np.unique(a), lambda a: len(np.unique(a)), lambda a: np.unique(a, return_index=True),
    lambda a: np.unique(a, return_inverse=True), lambda a: np.unique(a, True, True, True),
    lambda a: np.unique_values(a), lambda a: np.union1d(a, a[::2]), lambda a: np.setdiff1d(a, a[:9]),
    lambda a: np.intersect1d(a, a[::2]), lambda a: np.setxor1d(a, a[::2]),
    lambda a: np.intersect1d(a, a[::2], return_indices=True), lambda a: np.unique(a.reshape(-1, 4), axis=0),
    lambda a: sum([np.unique(a[k:]).sum() for k in range(3)]),
]  # fmt: skip


@pytest.mark.parametrize("f", one_in(7, SHORTER))
def test_what_a_function_gives_may_be_shorter(f: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A buffer for the most elements stood beside the function's own arrays; it is made when these are gone, or what
    is given is taken over, if it has as many."""
    rng, g = np.random.default_rng(0), bufferize(f)
    different = rng.permutation(4096) + 0.5
    for a in (different, rng.integers(0, 50, 4096) + 0.5, different[:64]):
        with counting() as eager:
            expected = f(a)
            del expected
        with counting() as seen:
            result = g(a)
            del result
        if a is different or f in SHORTER[:2]:  # else the buffers for the most elements may be more than all of eager's
            assert seen.whole_peak_bytes <= eager.whole_peak_bytes + 1000
        assert same(g(a), f(a))
    g = ready(f, different)
    monkeypatch.setattr(Reference, "give", None)
    for a in (different, np.round(different, -2), different * 0, different):
        assert same(natively(g, a), f(a))


@pytest.mark.parametrize("f", [lambda a: np.histogram_bin_edges(a, 9), lambda a: np.histogram2d(a[0], a[1], 9)])
def test_views_that_a_function_gives_are_no_matter_of_python(f: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a view the array below it is taken over, where that is no larger; else it is copied, by machine code too."""
    g = ready(f, WIDE)
    monkeypatch.setattr(Reference, "give", None)
    for x in (WIDE, WIDE**2, WIDE):
        assert same(natively(g, x), f(x))
