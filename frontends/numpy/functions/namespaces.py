"""SciPy's choice of a library of arrays (scipy/_lib/_array_api.py): what is traced is NumPy's, so that the namespace is
SciPy's own of NumPy, whatever SCIPY_ARRAY_API says."""

from __future__ import annotations

import inspect
import sys
from typing import Any

from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces_late
from tracebuf.frontends.numpy.record.values import NUMBERS, ArrayRef, Scalar

HELPERS = "scipy._lib.array_api_compat.common._helpers"
PLAIN = (ArrayRef, Scalar, *NUMBERS, tuple, list, str, type(None))


@traces_late("scipy._lib._array_api", "array_namespace")
@traces_late("scipy._lib._array_api_override", "array_namespace")
def array_namespace(r: Recorder, *arrays: Any) -> Any:
    """array_namespace(*arrays): NumPy's."""
    other = next((x for x in arrays if isinstance(x, Record) or not isinstance(x, PLAIN)), None)
    if other is not None:
        name = (other.kind if isinstance(other, Record) else type(other)).__name__
        raise r.refuse(f"an object ({name}) among the arrays of a function of SciPy's", "pass its arrays")
    return sys.modules["scipy._lib.array_api_compat.numpy"]


def is_another(r: Recorder, x: Any) -> bool:
    """Whether a namespace, or an array, is of another library."""
    return False


def is_numpys(r: Recorder, x: Any) -> bool:
    """Whether a namespace, or an array, is NumPy's."""
    return not isinstance(x, Record)


@traces_late(HELPERS, "device")
def device(r: Recorder, x: Any, /) -> str:
    """xp_device(x)."""
    return "cpu"


@traces_late(HELPERS, "_check_device")
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


for _library in ("cupy", "torch", "dask", "jax", "pydata_sparse", "ndonnx", "array_api_strict"):
    traces_late(HELPERS, f"is_{_library}_namespace")(is_another)
    traces_late(HELPERS, f"is_{_library}_array")(is_another)
traces_late(HELPERS, "is_lazy_array")(is_another)
traces_late(HELPERS, "_is_jax_zero_gradient_array")(is_another)
traces_late("scipy._lib._array_api", "is_marray")(is_another)
traces_late(HELPERS, "is_numpy_namespace")(is_numpys)
traces_late(HELPERS, "is_numpy_array")(lambda r, x: isinstance(x, ArrayRef))
