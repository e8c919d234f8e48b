"""Parameters that a function is traced with for one value only: each is declared where its handler is registered, and
refused in the same words."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import one_in
from tracebuf.frontends.numpy.functions import table  # noqa: F401, fills the tables
from tracebuf.frontends.numpy.functions.host.calls import HostEntry
from tracebuf.frontends.numpy.functions.parameters import signature_of, taken
from tracebuf.frontends.numpy.record.judged import OF_OTHER_ARRAYS
from tracebuf.frontends.numpy.record.refusals import spelled
from tracebuf.frontends.numpy.record.registry import HANDLERS, LATE, METHODS

CALLS = {
    "np.array ndmax": "np.array([a, a], ndmax=2)",
    "np.ndarray buffer": "np.ndarray((2,), np.float64, buffer=a)",
    "np.ndarray offset": "np.ndarray((2,), np.float64, offset=8)",
    "np.ndarray strides": "np.ndarray((2,), np.float64, strides=(8,))",
    "np.lib.stride_tricks.sliding_window_view writeable":
        "np.lib.stride_tricks.sliding_window_view(a, 2, writeable=True)",
    "np.nanmedian overwrite_input": "np.nanmedian(a, overwrite_input=True)",
    "np.percentile overwrite_input": "np.percentile(a, 30, overwrite_input=True)",
    "np.quantile overwrite_input": "np.quantile(a, 0.3, overwrite_input=True)",
    "np.nanpercentile overwrite_input": "np.nanpercentile(a, 30, overwrite_input=True)",
    "np.nanquantile overwrite_input": "np.nanquantile(a, 0.3, overwrite_input=True)",
    "np.polyfit full": "np.polyfit(a, a, 1, full=True)",
    "np.polyfit cov": "np.polyfit(a, a, 1, cov=True)",
}  # fmt: skip
"""For each such parameter of NumPy's: a call that NumPy takes."""
ELSEWHERE = {
    "round number": "it is named so by Python, and passed by position",
    "np.median overwrite_input": "True is taken: the formula sorts in place (tests/language/test_inspection.py)",
    "np.atleast_1d arys": "it is `*arys`", "np.atleast_2d arys": "it is `*arys`", "np.atleast_3d arys": "it is `*arys`",
}  # fmt: skip


def declared() -> Iterator[str]:
    """Each parameter of NumPy's functions and methods that its handler takes with one value only."""
    for function, handler in HANDLERS.items():
        if isinstance(handler, HostEntry):
            yield from (f"{spelled(function)} {name}" for name in handler.only)
        elif (getattr(function, "__module__", None) or "numpy").partition(".")[0] in ("numpy", "builtins"):
            yield from (f"{spelled(function)} {name}" for name in missing(function, handler))
    for name, handler in METHODS.items():
        method = getattr(np.ndarray, name)
        yield from (f"{spelled(method, True)} {p}" for p in missing(method, handler) if p != "self")


def missing(function: object, handler: object) -> Iterator[str]:
    signature, (_, named) = signature_of(function), taken(handler)  # type: ignore[arg-type]
    for p in signature.parameters.values() if signature is not None and named is not None else ():
        if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.name not in (*named, *OF_OTHER_ARRAYS):  # type: ignore[misc]
            yield p.name


def test_each_declared_parameter_has_a_call() -> None:
    assert {*declared()} - {*ELSEWHERE} == {*CALLS}


@pytest.mark.parametrize("key", CALLS)
def test_each_is_refused_in_the_same_words(key: str) -> None:
    function, name = key.split()
    f = program(f"def f(a):\n    return {CALLS[key]}")
    f(np.array([3.0, 1.0, 2.0, 5.0]))  # NumPy takes it
    error = refused(f, np.array([3.0, 1.0, 2.0, 5.0]))
    assert error.reason == f"{function} with {name}= is not supported" and error.instead and error.location


def test_scipys_parameters_are_declared_with_values_of_their_own() -> None:
    """A misspelt one would refuse every call, or none."""
    pytest.importorskip("scipy")
    for (module, name), handler in LATE.items():
        if "entry" in (getattr(handler, "__kwdefaults__", None) or {}):
            import_module(module)
            entry = handler.__kwdefaults__["entry"]()
            assert {*entry.only} <= {*inspect.signature(entry.function).parameters}, name


def test_the_one_value_is_taken() -> None:
    a = np.array([3.0, 1.0, 2.0, 5.0])
    for text in ("np.percentile(a, 30, overwrite_input=False)", "np.nanmedian(a, overwrite_input=0)",
                 "np.polyfit(a, a * 2, 1, None, False)", "a.astype(np.float32, order='K')"):  # fmt: skip
        agree(program(f"def f(a):\n    return {text}"), a)


FORMS = [
    f"{made}.astype({dtype}, order={order!r}, casting={casting!r}, copy={copy})"
    for made in ("a", "a.T", "a[:, ::2]", "a[0]", "a[::-1]", "a[:1]", "a.transpose(1, 0)[1:]")
    for order in "CFAK" for copy in (True, False) for dtype in ("np.float32", "np.float64", "int")
    for casting in ("unsafe", "same_kind", "safe")
]  # fmt: skip


@pytest.mark.parametrize("text", one_in(101, FORMS))
def test_astype_in_an_order_with_a_casting(text: str) -> None:
    agree(program(f"def f(a):\n    b = {text}\n    return b, b is a"), np.arange(12.0).reshape(3, 4))
