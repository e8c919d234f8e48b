"""A Python bool where an int is wanted: it counts as 0 or 1, unless NumPy's C code asks for a size or an axis."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.params import one_in
from tracebuf.errors import InternalError

TAKEN = """
a[k:]; a[:k]; a[::k]; a[k:k]; m[0, k:]; len(a[k:]); [1, 2, 3][k:]; [1, 2, 3][k]; (5, 6)[k]; [i for i in range(k)]
[i for i in range(0, 4, k)]; range(4)[k]; [*range(k, 3)]; list(enumerate([1, 2], k)); sum([1], k); operator.index(k)
k.conjugate(); k.real; k.imag; k.numerator; k.denominator; round(k); divmod(7, k); math.gcd(k, 4); round(2.345, k)
np.eye(3, k=k); np.tri(3, k=k); np.tri(k); np.tril(m, k); np.triu(m, k=k); np.diag(a, k); np.diag(m, k=k)
np.trace(m, k); np.diagonal(m, k); m.trace(offset=k); np.diff(a, k); np.diff(m, axis=k); np.stack((a, a), axis=k)
np.linspace(0, 1, k); np.logspace(0, 1, k); np.geomspace(1, 2, k); np.split(a, [k])
np.array_split(m, 2, axis=k); np.expand_dims(a, k); np.sort(m, k); np.repeat(a, k); a.repeat(k); np.tile(a, k)
np.roll(a, k); np.roll(m, 1, axis=k); np.rollaxis(m, k); np.moveaxis(m, 0, k); np.swapaxes(m, 0, k); np.flip(m, k)
np.rot90(m, k); np.take(a, k); np.delete(m, 0, k); np.insert(m, 0, 5.0, axis=k); np.arange(k, 5); np.arange(0, 5, k)
np.pad(a, (k, 2)); np.pad(m, ((k, 1), (0, k))); np.histogram(a, k)[0]; np.gradient(m, axis=k)
np.percentile(m, 50, axis=k); np.median(m, axis=k); np.average(m, axis=k); np.linalg.norm(m, axis=k)
np.linalg.matrix_power(m, k); np.fft.fft(m, axis=k); np.fft.fftshift(m, k); np.round(a, k); np.cov(m, ddof=k)
np.ravel_multi_index((k, k), (2, 2)); np.triu_indices(3, k); np.unstack(m, axis=k); np.take_along_axis(m, n, k)
np.apply_along_axis(np.sum, k, m); np.tensordot(m, m, k)
"""
REFUSED_BY_NUMPY = """
np.eye(k); np.zeros(k); np.ones((k, 2)); np.full(k, 2.0); a.reshape(k, -1); np.reshape(a, (k, 4)); np.resize(a, k)
np.sum(m, axis=k); m.sum(k); m.max(axis=(k,)); np.cumsum(m, k); m.argmax(axis=k); np.concatenate((m, m), axis=k)
np.squeeze(m[:, :1], k); np.repeat(m, 2, k); np.transpose(m, (k, 0)); np.take(m, 1, k); np.broadcast_to(a, (k, 4))
np.pad(a, k); np.bincount(n[0], minlength=k); np.fft.fft(a, k); np.fft.fftfreq(k); np.add.reduce(m, k)
np.delete(a, k); np.insert(a, k, 5.0); np.indices((k, 2)); np.lib.stride_tricks.sliding_window_view(a, k)
a.item(k); m.item(k, 0); m.item(0, k); m.item((k, 0)); m.item(k, k); a[1].item(k); np.sum(a).item(k)
a[:1].sum().item((k,))
"""
ITEMS = """
a[1].item(0); a[1].item(-1); a[1].item(n[0, 0]); a[1].item((0,)); a[1].item(()); a[1].item(np.int8(0))
a.item(np.int8(1)); m.item(np.int8(1), np.uint8(0)); a[1].item(n[0, 1]); a[1].item(k + 0); a[1].item(k - 1)
a[1].item(-2); a[1].item((0, 0)); a[1].item(0.0)
a[1].item(None); a[1].item("x"); a[1].item(a); a[1].item([0]); a[1].item(a[0]); a[1].item(a[0] < 1)
a.item(np.True_); a.item(a[0] < 1); m.item(a[0] < 1, 0); a.item(n); a.item(2.0); a[1].item(np.float64(0)); m.item(n[0])
a[1].item(k or a[0]); a.item(a[0] < 1 or 2)
"""


def forms(text: str) -> list[str]:
    return [x.strip() for x in text.replace("\n", ";").split(";") if x.strip()]


def arguments(k: Any) -> tuple[Any, ...]:
    return np.arange(4.0), np.arange(4.0).reshape(2, 2) + 1, np.array([[0, 1], [1, 0]]), k


def outcome(form: str, of_data: bool, k: Any) -> str:
    lines = "    k = bool(a[0] < 1)\n" if of_data else ""
    f = program(f"def f(a, m, n, k):\n{lines}    return {form}", math=math, operator=operator)
    g = tracebuf.bufferize(verify=True)(f)
    try:
        g(*arguments(k))
    except InternalError:
        raise
    except tracebuf.UnsupportedError:
        return "refused"
    except Exception:
        pass
    return type(agree(g, *arguments(k), ulp=4)).__name__


@pytest.mark.parametrize("form", one_in(27, forms(TAKEN)))
def test_a_bool_is_an_int(form: str) -> None:
    """An argument, and where the value need not be known while tracing also a bool computed from data."""
    assert outcome(form, False, True) != "refused"
    outcome(form, True, True)


@pytest.mark.parametrize("k", [True, False])
@pytest.mark.parametrize("form", ["np.roll(m, 1, axis=k)", "np.flip(m, k) + np.flip(m, k)", "np.delete(m, k, k) * k"])
def test_a_bool_that_is_part_of_the_key_stays_an_int(form: str, k: bool) -> None:
    """An axis asked for again is known, as the first time."""
    assert outcome(form, False, k) != "refused"


@pytest.mark.parametrize("form", one_in(18, forms(REFUSED_BY_NUMPY)))
def test_where_numpy_takes_no_bool(form: str) -> None:
    kinds = {outcome(form, of_data, True) for of_data in (False, True)}
    assert kinds <= {"TypeError", "ValueError", "AttributeError"}


@pytest.mark.parametrize("form", one_in(18, forms(ITEMS)))
def test_indices_of_item(form: str) -> None:
    """Of numbers as of arrays: ints of any kind, in bounds."""
    for of_data in (False, True):
        outcome(form, of_data, True)


@pytest.mark.parametrize("bound", ["a[0] > 5 or k", "a[0] < 5 and k"])
@pytest.mark.parametrize("k", [True, False, 2, 1.5])
def test_a_bound_of_a_slice_that_is_an_int_on_one_path(bound: str, k: Any) -> None:
    """A NumPy bool is no bound, and a Python bool or int is one: which it is, only the run time knows."""
    f = tracebuf.bufferize(program(f"def f(a, k):\n    return a[: {bound}]"))
    for first in (0.0, 7.0):
        try:
            agree(f, np.array([first, 1, 2]), k)
        except AssertionError as error:
            assert "bufferized UnsupportedError" in str(error)
