"""SciPy's functions that are written in Python are traced like the user's own; its namespace of arrays is NumPy's."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.signal
import scipy.special

import tracebuf
from tests.support.agreement import agree, refused
from tests.support.params import one_in

TRACED = {
    "softmax": lambda x: scipy.special.softmax(x), "simpson": lambda x: scipy.integrate.simpson(x * x, x=x),
    "trapezoid": lambda x: scipy.integrate.trapezoid(x * x, x=x), "sawtooth": lambda x: scipy.signal.sawtooth(x),
    "detrend": lambda x: scipy.signal.detrend(x, type="constant"), "square": lambda x: scipy.signal.square(x),
    "windows": lambda x: scipy.signal.windows.hann(20) * x[:20] + scipy.signal.windows.kaiser(20, 3.0),
    "get_window": lambda x: scipy.signal.get_window("hamming", 20) * x[:20],
    "comb": lambda x: scipy.special.comb(9, 3) * x,
    "chirp": lambda x: scipy.signal.chirp(x, 1.0, 2.0, 3.0), "pulse": lambda x: scipy.signal.gausspulse(x, 5),
    "impulse": lambda x: scipy.signal.unit_impulse(10) * x[:10],
    "peaks": lambda x: scipy.signal.argrelmax(np.sin(5 * x)),
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(3, TRACED))
@pytest.mark.cases(2)
def test_functions_written_in_python(name: str) -> None:
    agree(TRACED[name], np.linspace(0.1, 3.0, 50), ulp=8)


def test_they_are_decorated_themselves() -> None:
    f, x = tracebuf.bufferize(scipy.integrate.simpson), np.linspace(0, 3, 51)
    np.testing.assert_allclose(f(x * x, x=x), scipy.integrate.simpson(x * x, x=x), rtol=1e-14)


def test_a_refusal_names_the_users_line_and_scipys_function() -> None:
    error = refused(lambda x: scipy.linalg.logm(x), np.eye(3))
    assert "a call of scipy.linalg._matfuncs.logm cannot be traced: " in error.reason
    assert error.location is not None and error.location.file == __file__


def test_a_signature_is_known_while_tracing() -> None:
    def f(x, scale=2.0):
        names = list(inspect.signature(f).parameters)
        return x * scale, names, len(inspect.getfullargspec(f).args)

    agree(f, np.ones(3))
