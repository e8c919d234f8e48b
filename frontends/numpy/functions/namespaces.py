"""The choice of a library of arrays, SciPy's (scipy/_lib/_array_api.py) and array_api_compat's, of which libraries have
copies: what is traced is NumPy's, so that the namespace is that of NumPy there, whatever SCIPY_ARRAY_API says."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from tracebuf.frontends.numpy.numbers.scalars import concrete
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces_late
from tracebuf.frontends.numpy.record.values import NUMBERS, ArrayRef, Scalar

COMPAT = ("scipy._lib.array_api_compat", "sklearn.externals.array_api_compat", "array_api_compat")
"""Copies of array_api_compat."""
HELPERS = [f"{home}.common._helpers" for home in COMPAT]
PLAIN = (ArrayRef, Scalar, *NUMBERS, tuple, list, str, type(None))


@traces_late("scipy._lib._array_api", "array_namespace")
@traces_late("scipy._lib._array_api_override", "array_namespace")
def array_namespace(r: Recorder, *arrays: Any) -> Any:
    """array_namespace(*arrays): NumPy's."""
    check_arrays(r, arrays)
    return sys.modules["scipy._lib.array_api_compat.numpy"]


def check_arrays(r: Recorder, arrays: Sequence[Any]) -> None:
    """Refuses objects, which may be arrays of another library."""
    other = next((x for x in arrays if isinstance(x, Record) or not isinstance(x, PLAIN)), None)
    if other is not None:
        name = (other.kind if isinstance(other, Record) else type(other)).__name__
        raise r.refuse(f"an object ({name}) among the arrays of a function of SciPy's", "pass its arrays")


def namespace_in(home: str) -> Callable[..., Any]:
    """array_namespace(*arrays) of a copy of array_api_compat."""

    def array_namespace(r: Recorder, *arrays: Any, api_version: Any = None, use_compat: Any = None) -> Any:
        check_arrays(r, arrays)
        known = [x if isinstance(x, (str, types.NoneType)) else concrete(x) for x in arrays]
        return ask(vars(sys.modules[f"{home}.common._helpers"])["array_namespace"], *known, api_version=api_version,
                   use_compat=use_compat)  # fmt: skip

    return array_namespace


def is_another(r: Recorder, x: Any) -> bool:
    """Whether a namespace, or an array, is of another library."""
    return False


def is_numpys(r: Recorder, x: Any) -> bool:
    """Whether a namespace, or an array, is NumPy's."""
    return not isinstance(x, Record)


def device(r: Recorder, x: Any, /) -> str:
    """xp_device(x)."""
    return "cpu"


def check_device(r: Recorder, bare_xp: Any, device: Any) -> None:
    """_check_device(xp, device): NumPy has one."""
    if device not in ("cpu", None):
        raise Raises(ValueError(f"Unsupported device for NumPy: {device!r}"))


@traces_late("inspect", "signature")
def signature(r: Recorder, obj: Any, /) -> inspect.Signature:
    """inspect.signature(f), of what is known."""
    return ask(inspect.signature, obj)


@traces_late("inspect", "getfullargspec")
def getfullargspec(r: Recorder, func: Any) -> inspect.FullArgSpec:
    """inspect.getfullargspec(f), of what is known."""
    return ask(inspect.getfullargspec, func)


traces_late("scipy._lib._array_api", "is_marray")(is_another)
for _home, _helpers in zip(COMPAT, HELPERS):
    for _library in ("cupy", "torch", "dask", "jax", "pydata_sparse", "ndonnx", "array_api_strict"):
        traces_late(_helpers, f"is_{_library}_namespace")(is_another)
        traces_late(_helpers, f"is_{_library}_array")(is_another)
    traces_late(_helpers, "array_namespace")(namespace_in(_home))
    traces_late(_helpers, "device")(device)
    traces_late(_helpers, "_check_device")(check_device)
    traces_late(_helpers, "is_lazy_array")(is_another)
    traces_late(_helpers, "_is_jax_zero_gradient_array")(is_another)
    traces_late(_helpers, "is_numpy_namespace")(is_numpys)
    traces_late(_helpers, "is_numpy_array")(lambda r, x: isinstance(x, ArrayRef))
