"""Errors of NumPy's functions: class and text are NumPy's own, asked on arrays of the same shapes and dtypes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.forms import names_in, split
from tests.support.params import one_in
from tracebuf.testing.numpy_suite.through import leaked

VALUES = {
    "a": np.arange(12.0).reshape(3, 4), "x": np.arange(24.0).reshape(2, 3, 4), "v": np.arange(5.0),
    "e": np.zeros((0, 3)), "k": 5, "m": -4,
}  # fmt: skip
RAISED = """
np.moveaxis(x, 3, 0) | np.moveaxis(x, [0, 0], [0, 1]) | np.moveaxis(x, 0, 4) | np.moveaxis(x, [0, 1], [0])
np.rollaxis(x, m, 0) | np.rollaxis(x, 0, k) | np.rollaxis(x, 0, m) | np.rollaxis(x, 1, 4) | np.sum(x, axis=range(2))
np.expand_dims(v, range(2)) | np.transpose(a, 'x') | np.transpose(a, 'xy') | a.transpose('x')
np.transpose(a, [0, 0]) | np.transpose(a, 3) | np.transpose(a, [0, 5]) | np.swapaxes(a, 'x', 0) | np.squeeze(a, 'x')
np.flip(a, 'x') | np.matrix_transpose(v) | v.mT | np.linalg.matrix_transpose(v) | np.tensordot(a, a, axes='x')
np.tensordot(a, a, axes=None) | np.tensordot(a, a, axes='xy') | np.tensordot(a, a, axes=[0]) | np.einsum(a)
np.einsum(a, [0, 0]) | np.einsum(a, [0, 60]) | np.einsum(a, [0, 'a']) | np.concatenate((v, a))
np.concatenate((a, a[:2]), axis=1) | np.concatenate((v, v), axis=1) | a.ravel(order=5) | a.ravel(order='Q')
a.flatten(order=5) | a.reshape(12, order=5) | a.copy(order=5) | np.zeros(3, order=5) | np.ones(3, order='Q')
np.ravel(a, order=1.5) | np.mean(a, 'x') | np.mean(a, 0, 3) | np.sum(a, 0, 'nope') | np.sum(a, dtype=2**62)
np.mean(True, np.int8(3), 2**62, "C") | np.std(True, np.int8(3)) | np.sum(True, 3) | np.correlate(v, v, mode='d')
np.correlate(v, v, mode=None) | np.convolve(v, v, mode='vv') | np.convolve(v, v, k) | np.convolve(v, [])
np.pad(v, 3, 'mean', stat_length=-2) | np.pad(a, 3, 'maximum', stat_length=((k, -2), (2, 3)))
np.pad(v, 3, 'maximum', stat_length=0) | np.pad(a, ((1, 2, 3),)) | np.pad(a, ((1, 2), (3, 4), (5, 6)))
np.unravel_index([], (2, 3)) | np.unravel_index([0], (2**40, 2**40)) | np.unravel_index([1], ())
np.ravel_multi_index(([0], [0]), (2**62, 2)) | np.nanargmax(e, axis=0) | np.nanargmin(e)
np.lib.stride_tricks.sliding_window_view(a, (2,)) | np.linspace(0, 1, m) | np.diff(a, n='x') | np.split(a, 'x')
np.zeros_like(a, 3) | np.ones((), k) | np.identity(3, a) | np.full(3, 1j, a) | np.arange(3, 9, 2, k)
np.mean(a, np.float32, 2.5) | np.cumsum(a, 0, k) | np.fft.ifftshift(2.5, 2.5) | np.linspace(k, None)
np.arange(None, k) | np.searchsorted(v, 2, a) | np.trace(v, {}) | np.std(v, 3, {}, 1j) | np.identity(())
np.add(k, m, outx=None) | np.matmul.at(x, [0], x) | np.astype([1, 2], float) | np.broadcast_to(a, 'x')
np.sort(a, 'x') | np.argsort(a, axis=1.5) | np.stack(a, 'x')
np.isfortran(k) | np.isfortran([v]) | np.isfortran({}) | np.polyint({}) | np.polyder({}) | np.polyval({}, 1)
np.add.at(v, 0, [1]) | np.add.at(v, (0,), v[:2]) | v.sum(zzz=None) | v.max(like=v) | v.clip(0, 1, zzz=None)
np.ogrid[k] | np.zeros(3, device=k) | np.zeros(3, like=3) | np.asarray(a, device='gpu') | np.eye(3, like='x')
np.zeros_like(a, device='gpu') | np.full_like(a, 2, device='gpu') | np.zeros_like(a, subok='no') | a.sum(like=a)
np.add(a, a, subok='x') | np.add(a, a, subok=None) | np.eye(3, device='gpu') | np.add(a, a, like=a)
np.roll(v[0, ...], 1, ()) | np.fft.fftshift(v[0, ...]) | np.fft.ifftshift(v[0, ...])
np.interp({}, v, v) | np.vander({}) | np.stack({1: v}.values()) | np.polyint({1: v}, k) | np.polyadd({}, 1)
"""


def compiled(text: str) -> tuple[Any, list[Any]]:
    names = names_in(text, VALUES)
    return program(f"def f({', '.join(names)}):\n    return {text}"), [VALUES[n] for n in names]


@pytest.mark.parametrize("text", one_in(8, split(RAISED)))
def test_c1_class_and_text_of_an_error_are_numpys(text: str) -> None:
    f, args = compiled(text)
    with pytest.raises(Exception) as eager:
        f(*args)
    with pytest.raises(type(eager.value)) as ours:
        tracebuf.bufferize(f)(*args)
    assert type(ours.value) is type(eager.value) and str(ours.value) == str(eager.value)
    assert not leaked(ours.value)


OF_OTHER_ARRAYS = """
np.eye(3, like=a) | np.zeros(3, device='cpu') | np.full(3, 1, like=a) | np.linspace(0, 1, 3, device='cpu')
np.add(a, a, subok=False) | np.zeros_like(a, device=None) | np.array(a, subok='x') | np.astype(a, int, device='cpu')
a.astype(int, subok=False) | np.arange(k, like=v) | np.tri(3, like=a) | np.broadcast_to(v, (2, 5), subok=True)
"""


@pytest.mark.parametrize("text", one_in(8, split(OF_OTHER_ARRAYS)))
def test_c1_what_means_nothing_for_numpys_own_arrays(text: str) -> None:
    """device=, like= and subok= were refused, or taken whatever they were."""
    f, args = compiled(text)
    agree(f, *args)


@pytest.mark.parametrize("text", ["x, = np.ogrid[:,]", "x = np.mgrid[2:, :k]", "x = np.mgrid[v]"])
def test_c1_grids_without_an_end(text: str) -> None:
    def of(names):
        return program(f"def f({', '.join(names)}):\n    {text}\n    return x")

    names = names_in(text, VALUES)
    assert isinstance(agree(of(names), *[VALUES[n] for n in names]), AttributeError)


ACCEPTED = """
np.add(v, v, where=3.5) | np.add(v, v, where=1) | v[:0] * float
np.int8(3) % range(k) | a.ravel(order=None)
"""


@pytest.mark.parametrize("text", one_in(6, split(ACCEPTED)))
def test_c1_what_numpy_takes_is_no_error(text: str) -> None:
    """A handler that knows less than NumPy refuses; it does not say that NumPy raises."""
    f, args = compiled(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f(*args)
    refused(f, *args)


@pytest.mark.parametrize(
    "text",
    [
        "np.array({1: v})", "np.asarray({1: 2.0})", "np.asarray({1: v}.values())", "np.array({1: v}.items())",
        "np.asarray({}.keys())",
    ],
)  # fmt: skip
def test_c1_a_dict_is_one_object(text: str) -> None:
    """NumPy does not iterate over a dict, or a view of one, as Python's functions do."""
    f, args = compiled(text)
    assert f(*args).dtype == object and "list(d.values())" in str(refused(f, *args))


@pytest.mark.parametrize(
    "text",
    [
        "np.percentile(x, 7, axis=range(2))", "np.quantile(x, 0.5, axis=[0, 1])", "np.median(x, axis=(0, -1))",
        "np.moveaxis(x, range(2), [1, 0])", "np.moveaxis(x, range(1, 3), range(2))", "np.flip(x, range(2))",
        "a.transpose(range(2))", "np.transpose(a, range(2))", "np.fft.fftshift(a, axes=range(2))", "np.sum(range(5))",
        "np.ix_(range(0), range(3))", "np.array_split(v, range(1, 3))",
    ],
)  # fmt: skip
def test_c1_a_range_is_a_sequence(text: str) -> None:
    f, args = compiled(text)
    agree(f, *args, ulp=4)


@pytest.mark.slow
def test_c1_ints_that_are_arguments_are_ints() -> None:
    """`isinstance(x, int)` of a traced int was False: the text of the check, or the wrong axis, came out."""
    for start in range(-3, 4):
        agree(lambda x, k, n: np.rollaxis(x, axis=k, start=n), VALUES["x"], 1, start)
    for mode in range(3):
        agree(lambda v, n: np.convolve(v, v[:2], n), VALUES["v"], mode)
    agree(lambda a, k: np.fft.fftshift(a, axes=(k,)), VALUES["a"], 1)
    for number in (3, 2.5, np.float64(2)):
        agree(lambda a: np.linalg.matrix_rank(a), number)
        agree(lambda a: np.fft.fftn(a), number)
        agree(lambda a: np.linalg.tensorsolve(a, 1j), number)
    agree(lambda v, n: np.histogram(v, n), VALUES["v"], np.int8(3))
    agree(lambda v, n: np.histogram2d(v, v, (n, [0, 1.0, 2.0]))[1:], VALUES["v"], 4)


@pytest.mark.slow
def test_c1_unsigned_numbers_do_not_wrap() -> None:
    for kind in (np.uint8, np.uint16, np.uint32, np.uint64, np.int8):
        for window in (np.hanning, np.hamming, np.bartlett, np.blackman):
            agree(lambda n, window=window: window(n), kind(10), ulp=4)
        agree(lambda v, n: np.roll(v, n), VALUES["v"], kind(7))
    agree(lambda v, n: np.roll(v, n), VALUES["v"], np.uint64(2**63 + 2))
    agree(lambda v, n: np.roll(v, n), np.zeros(0), np.uint64(2**63 + 2))


def test_n2_pythons_numbers_are_weak_in_isclose() -> None:
    below = float(1 - np.finfo(float).eps)
    one = np.array(below, np.float32)
    strong = np.float64(below)
    for a, b, atol, rtol in ((one, below, 0, 0), (one, 2, 0, below / 2), (one, strong, 0, 0), (one, 0, below, 0)):
        agree(lambda a, b, atol, rtol: np.isclose(a, b, atol=atol, rtol=rtol), a, b, atol, rtol)


def test_an_array_of_too_many_axes_is_refused() -> None:
    """It was compiled, and crashed."""
    deep = np.ones((1,) * 33)
    error = refused(lambda a, b: np.add.outer(a, b), deep, deep)
    assert "66 axes" in str(error) or "65 axes" in str(error)
    refused(lambda a: np.expand_dims(a, tuple(range(40))), deep)


def test_a_refusal_at_the_door_names_the_line() -> None:
    error = refused(lambda a, t: np.nanstd(-1, 99, t), VALUES["a"], VALUES["v"])
    assert error.location is not None and "needs a known one" in str(error)


def test_c1_unsafe_casts_of_exponents() -> None:
    agree(lambda a, b: np.power(a, b, dtype=np.intp, casting="unsafe"), 1.5, 2.8)


def test_errors_behind_what_may_raise_keep_their_class() -> None:
    def f(a: np.ndarray, n: float) -> Any:
        if n > 3:
            return np.transpose(a, "x")
        return a

    agree(f, VALUES["a"], 2.0)
    agree(f, VALUES["a"], 4.0)
