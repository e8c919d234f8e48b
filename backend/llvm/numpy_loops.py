"""NumPy's own inner loops, as addresses that native code can call.

A ufunc's loop for given types, called on blocks that stay in the L1 cache, gives what eager NumPy gives, bit for bit,
at NumPy's speed and for whatever instruction set NumPy chose at import: no vector math library, no second rounding.
Source: `PyUFuncObject` and `PyUFuncGenericFunction` in `numpy/ufuncobject.h` (public C API of NumPy 2).

A loop is `void loop(char **args, npy_intp const *dimensions, npy_intp const *steps, void *data)`: one pointer and one
byte stride per input and output, `dimensions[0]` elements, `data` as given here beside the address. Operands must be
aligned and in native byte order; an output may be exactly one of the inputs, any other overlap is the caller's error.
Give them contiguous blocks, or a step of 0 for an operand that is one element. Other steps are legal, but with negative
steps many loops take a scalar path that rounds otherwise, and in NumPy 2.4 on AVX-512 `isnan`, `isinf`, `isfinite` and
`signbit` write wrong values to a strided output (eager NumPy too). Of two zeros, `fmin` and `fmax` may choose either.
Loops set the floating-point status flags and read none. The integer `power` loops set a Python exception for a negative
exponent (they take the GIL themselves), so a caller of these has to look at `PyErr_Occurred` afterwards.

The loop of a generalised ufunc takes the sizes of its core dimensions after the count, in the order of its signature,
and after the outer steps the strides of each operand's core dimensions in bytes: any strides, for it copies what it
works on. Those of linear algebra need no GIL; they say by the status flag `invalid` that there is no result, and
leave an exception pending where there is no memory for a copy.

Does not resolve types: which loop a call needs (`exp` of int64 is `d->d` after a cast) is decided before.
"""

from __future__ import annotations

import ctypes
import platform
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from tracebuf.running.ufuncs import core_dims, generalised

__all__ = ["core_loop", "extreme_loop", "halves_are_roots", "inner_loop", "sort_loop", "status_flags"]


class _UFunc(ctypes.Structure):
    """The head of `PyUFuncObject`, unchanged since NumPy 1.0."""

    _fields_ = [
        ("ob_base", ctypes.c_byte * object.__basicsize__),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
        ("reserved1", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("types", ctypes.POINTER(ctypes.c_byte)),
    ]


_Loop = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


@cache
def inner_loop(ufunc: np.ufunc, types: str) -> tuple[int, int]:
    """Address of the loop of `ufunc` for `types`, and of the data to pass to it (0 for none).

    `types` is written as in `ufunc.types`, e.g. `inner_loop(np.power, "dd->d")`. Characters stand for dtypes: `"qq->q"`
    finds the `"ll->l"` loop where both are int64. Where NumPy lists types twice, the first is the one it uses. The loop
    is run once against the ufunc on a small array before its address is given out.

    Raises LookupError if the ufunc is a generalised one, has no such loop, the loop works on Python objects, or the
    loop found does not do what the ufunc does (a NumPy whose struct is laid out otherwise).
    """
    if ufunc.signature is not None:
        raise LookupError(f"{ufunc!r} is a generalised ufunc")
    index, loop, data = _loop_at(ufunc, types)
    if not _agrees(ufunc, ufunc.types[index], loop, data):
        raise _wrong(ufunc, types)
    return int(loop), int(data or 0)


@cache
def core_loop(module: str, name: str, types: str) -> tuple[int, int]:
    """Address of the loop of a generalised ufunc for `types`, and of the data to pass to it (0 for none).

    The loop is run once against the ufunc before its address is given out. Raises LookupError if the module has no such
    ufunc, or as `inner_loop`.
    """
    ufunc = generalised(module, name)
    if ufunc is None:
        raise LookupError(f"{module} has no generalised ufunc {name!r}")
    _, loop, data = _loop_at(ufunc, types)
    if not _core_agrees(ufunc, types, loop, data):
        raise _wrong(ufunc, types)
    return int(loop), int(data or 0)


@cache
def halves_are_roots(types: str) -> bool:
    """Whether NumPy's loop of `power` takes square roots where one exponent, of step 0, is 0.5: another result than a
    power's for -0.0 and -inf."""
    try:
        (loop, data), dtype = inner_loop(np.power, types), np.dtype(types[0])
    except LookupError:
        return False
    x, half, told = np.array([-0.0, -np.inf, 3.0], dtype), np.array([0.5], dtype), np.zeros(3, dtype)
    with np.errstate(all="ignore"):
        expected = np.sqrt(x)
    pointers = (ctypes.c_void_p * 3)(*(a.ctypes.data for a in (x, half, told)))
    for count in (1, 3):
        told[:] = 7
        steps = (ctypes.c_ssize_t * 3)(dtype.itemsize, 0, dtype.itemsize)
        _Loop(loop)(pointers, (ctypes.c_ssize_t * 1)(count), steps, data or None)
        if not np.array_equal(told[:count].view(f"u{dtype.itemsize}"), expected[:count].view(f"u{dtype.itemsize}")):
            return False
    return True


def _wrong(ufunc: np.ufunc, types: str) -> LookupError:
    return LookupError(f"the C loop of {ufunc!r} for {types} does not compute what the ufunc computes")


def _loop_at(ufunc: np.ufunc, types: str) -> tuple[int, int, int | None]:
    """The position of the loop in the ufunc's table, its address and its data's."""
    index = _loop_index(ufunc, types)
    head = _UFunc.from_address(id(ufunc))
    seen = (head.nin, head.nout, head.nargs, head.ntypes, head.name)
    if seen != (ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.ntypes, ufunc.__name__.encode()):
        raise LookupError(f"this NumPy ({np.__version__}) lays out PyUFuncObject otherwise than NumPy 2's header says")
    loop, data = head.functions[index], head.data[index] if head.data else None
    if not loop:
        raise LookupError(f"{ufunc!r} has no plain C loop for {types}")
    return index, int(loop), data


def _loop_index(ufunc: np.ufunc, types: str) -> int:
    """Position of the loop in the ufunc's table: same characters if there, else same dtypes."""
    if "O" in types:
        raise LookupError(f"the loop of {ufunc!r} for {types} works on Python objects")
    listed = list(ufunc.types)
    if types in listed:
        return listed.index(types)
    wanted = _dtypes(types)
    for index, candidate in enumerate(listed):
        if _dtypes(candidate) == wanted:
            return index
    raise LookupError(f"{ufunc!r} has no loop for {types}; it has {' '.join(listed)}")


def _dtypes(types: str) -> tuple[int, list[np.dtype[Any]]]:
    inputs, _, outputs = types.partition("->")
    return len(inputs), [np.dtype(c) for c in inputs + outputs]


def _agrees(ufunc: np.ufunc, types: str, loop: int, data: int | None) -> bool:
    """Run the loop on seven elements in (0, 1], or small integers, and compare bytes with the ufunc."""
    nin, dtypes = _dtypes(types)
    count = 7
    arrays = [_sample(dtype, count, position) for position, dtype in enumerate(dtypes[:nin])]
    arrays += [np.zeros(count, dtype) for dtype in dtypes[nin:]]
    pointers = (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])
    steps = (ctypes.c_ssize_t * len(arrays))(*[a.itemsize for a in arrays])
    with np.errstate(all="ignore"):
        expected = ufunc(*arrays[:nin], signature=tuple(dtypes))
        _Loop(loop)(pointers, (ctypes.c_ssize_t * 1)(count), steps, data)
    results = expected if isinstance(expected, tuple) else (expected,)
    return all(a.tobytes() == r.tobytes() for a, r in zip(arrays[nin:], results, strict=True))


def _sample(dtype: np.dtype[Any], count: int, position: int) -> np.ndarray[Any, Any]:
    numbers = np.arange(1, count + 1) + position
    if dtype.kind in "fc":
        return (numbers / (count + position)).astype(dtype)
    return (numbers % 2 if dtype.kind == "b" else numbers).astype(dtype)


def _core_agrees(ufunc: np.ufunc, types: str, loop: int, data: int | None) -> bool:
    """Run the loop on two operands each, whose core dimensions are all 2, and compare bytes with the ufunc."""
    nin, dtypes = _dtypes(types)
    cores = core_dims(str(ufunc.signature))
    shapes = [(2, *[2] * len(core)) for core in cores]
    arrays = [np.array([np.eye(*shape[1:]) if len(shape) == 3 else np.ones(shape[1:])] * 2) * 2 for shape in shapes]
    arrays = [array.astype(dtype) for array, dtype in zip(arrays, dtypes, strict=True)]
    sizes = [2, *[2] * len({dim for core in cores for dim in core})]
    steps = [a.strides[0] for a in arrays] + [stride for a in arrays for stride in a.strides[1:]]
    pointers = (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])
    with np.errstate(all="ignore"):
        expected = ufunc(*arrays[:nin], out=tuple(a.copy() for a in arrays[nin:]), signature=types)
        given = (ctypes.c_ssize_t * len(sizes))(*sizes), (ctypes.c_ssize_t * len(steps))(*steps)
        _Loop(loop)(pointers, *given, data)
    results = expected if isinstance(expected, tuple) else (expected,)
    return all(a.tobytes() == r.tobytes() for a, r in zip(arrays[nin:], results, strict=True))


# -- sorts


_ARR_FUNCS = 365
"""The slot of `PyDataType_GetArrFuncs` in NumPy 2's `_ARRAY_API`."""
_CASTS, _BEFORE_SORTS, _KINDS = 21, 12, 3
"""In `PyArray_ArrFuncs`: how many casts come first, how many functions then, how many sorts, and then argsorts."""


@cache
def sort_loop(dtype: str, kind: int, indirect: bool) -> tuple[int, Any]:
    """Address of NumPy's `int sort(void *start, npy_intp n, void *array)` for a dtype and an algorithm (0: quicksort,
    2: stable), or of `argsort(start, indices, n, array)`, and an array to pass. It sorts contiguous
    elements without the GIL; a negative number is an error. Raises LookupError where there is none.
    """
    array = np.array([3, 1, 2, 0]).astype(dtype)
    address = _array_function(array.dtype, _CASTS + _BEFORE_SORTS + (_KINDS if indirect else 0) + kind)
    if not address:
        raise LookupError(f"NumPy has no C function of its own that sorts {dtype}")
    call = ctypes.PYFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * (2 + indirect), ctypes.c_void_p)(address)
    values, places = array.copy(), np.arange(4)
    where = [values.ctypes.data, *([places.ctypes.data] if indirect else []), 4, id(array)]
    done = call(*where)
    expected = array.argsort(kind=_NAMES[kind]) if indirect else np.sort(array, kind=_NAMES[kind])
    if done or (places if indirect else values).tobytes() != expected.tobytes():
        raise LookupError(f"the C function for {dtype} does not sort")
    return address, array


_NAMES: dict[int, Any] = {0: "quicksort", 2: "stable"}


def _array_function(dtype: np.dtype[Any], place: int) -> int | None:
    """The address at a place of a dtype's `PyArray_ArrFuncs`."""
    core = import_module("numpy._core._multiarray_umath")
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    api = (ctypes.c_void_p * (_ARR_FUNCS + 1)).from_address(pointer(core._ARRAY_API, None))
    found = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object)(api[_ARR_FUNCS] or 0)(dtype)
    return (ctypes.c_void_p * (place + 1)).from_address(found)[place]


_EXTREMES = {"argmax": _CASTS + 5, "argmin": _CASTS + _BEFORE_SORTS + 2 * _KINDS + 7}
"""Where `PyArray_ArrFuncs` has them."""


@cache
def extreme_loop(dtype: str, name: str) -> tuple[int, Any]:
    """Address of NumPy's `int argmax(void *start, npy_intp n, npy_intp *index, void *array)` for a dtype, or of
    `argmin`, and an array to pass: of contiguous elements, one at least, without the GIL. Raises LookupError where
    there is none.
    """
    array = np.array([3, 9, 0, 9, 0]).astype(dtype)
    address = _array_function(array.dtype, _EXTREMES[name])
    if not address:
        raise LookupError(f"NumPy has no C function of its own for {name} of {dtype}")
    found = ctypes.c_ssize_t(-1)
    call = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_void_p)(address)
    if call(array.ctypes.data, 5, ctypes.addressof(found), id(array)) or found.value != getattr(array, name)():
        raise LookupError(f"the C function for {dtype} is not {name}")
    return address, array


# -- the floating-point status


_FLAGS = {"x86_64": (1, 4, 8, 16), "aarch64": (1, 2, 4, 8)}
"""The flags of the C library by machine: invalid, division by zero, overflow, underflow."""


@cache
def status_flags() -> tuple[int, int, int, int]:
    """The C library's flags: (test, clear): addresses of `fetestexcept` and `feclearexcept`, the flag for an invalid
    operation, all flags that NumPy looks at. Raises LookupError where they are not what they are taken for."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    try:
        library = ctypes.CDLL("ucrtbase" if platform.system() == "Windows" else None)
        test, clear = library.fetestexcept, library.feclearexcept
    except (AttributeError, OSError, TypeError):
        raise LookupError("the C library has no floating-point status") from None
    invalid, divided, over, under = flags = _FLAGS.get(machine, (0, 0, 0, 0))
    every = sum(flags)
    told = []
    one_by_one = ("divide", 0.0, 0.0), ("divide", 1.0, 0.0), ("multiply", 1e300, 1e300), ("multiply", 1e-300, 1e-300)
    for ufunc, x, y in ((getattr(np, name), x, y) for name, x, y in one_by_one):
        loop, data = inner_loop(ufunc, "dd->d")
        values = (ctypes.c_double * 3)(x, y)
        at = ctypes.addressof(values)
        pointers, none = (ctypes.c_void_p * 3)(at, at + 8, at + 16), (ctypes.c_ssize_t * 3)(8, 8, 8)
        clear(every)
        _Loop(loop)(pointers, (ctypes.c_ssize_t * 1)(1), none, data or None)
        told.append(test(every))
    clear(every)
    if not every or tuple(told) != flags:
        raise LookupError("the C library's floating-point status is not what is expected")
    return ctypes.cast(test, ctypes.c_void_p).value or 0, ctypes.cast(clear, ctypes.c_void_p).value or 0, invalid, every
