"""Arguments: what of a call's arguments belongs to the key of a specialisation, and the traced values they become.

An array's key is its dtype, the class of each dimension (0, 1 or more), the class of its layout and whether it may be
written (rules S6, B2). A Python int, float, complex or bool is dynamic; None, strings, dtypes, functions and huge ints
are static.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import types
from abc import ABCMeta
from array import array
from collections.abc import Sequence
from dataclasses import field
from enum import Enum
from functools import lru_cache, partial
from typing import Any, NewType

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.call.control import Control
from tracebuf.frozen import frozen
from tracebuf.ir.ndarray import address
from tracebuf.ir.types import CHARS, SUPPORTED, SUPPORTED_DTYPES

SMALL = 2**31
"""Python ints of a smaller magnitude are dynamic; larger ones are part of the key."""
MAX_SIZE = 2**40
"""No array in memory is longer along an axis, or has more elements: only repeated and empty ones."""

Position = NewType("Position", int)
"""The number of an argument of the call: the bound parameters in order, what `*args` and `**kwargs` take, the buffers
of `out=`, the captured values."""
Leaf = NewType("Leaf", int)
"""The number of an array, number or static value among the arguments or in a container of theirs: of `f((a, b), x)`, x
is at position 1, and leaf 2."""
ContainerNumber = NewType("ContainerNumber", int)
"""The number of a container among the arguments, in the order in which `flatten` meets them."""


@frozen()
class ArrayKey:
    """What the compiled code depends on in an array argument.

    `order`: axes outermost first; `layout`: "dense" in that order, "unit" (innermost stride 1) or "strided";
    `repeated`: axes longer than 1 of stride 0, which have no place in an order; `mapped`: it is an np.memmap.
    """

    dtype: str
    dims: tuple[int, ...]
    order: tuple[int, ...]
    layout: str
    writable: bool
    repeated: tuple[int, ...] = ()
    mapped: bool = False


@frozen()
class ScalarKey:
    """A dynamic scalar: "int", "float", "complex", "bool" (Python's), or NumPy's as "np." and the dtype's name."""

    kind: str


@frozen()
class StaticKey:
    """A value that is part of the key; `text` is how it is shown, if not by its repr. `any`: its class alone is."""

    type: type
    value: Any
    text: str = field(default="", compare=False)
    any: bool = False


Key = ArrayKey | ScalarKey | StaticKey
"""One argument's part of the key of a specialisation."""


class RunOriginal(Control):
    """Control flow, not an error: a call with these arguments has to run the original function; the reason is shown by
    `specializations()`. `under`: what tracing assumed of the call, where it was tracing that found it."""

    under: Any = None
    """Conditions, or None."""


_STATIC = (str, np.dtype, type, types.FunctionType, types.BuiltinFunctionType, np.ufunc, type(np.sum))
"""Classes whose objects are part of the key as they are."""


def is_static(x: Any) -> bool:
    """Whether an object is compared by its value as part of the key; not if its class defines a hash of its own."""
    kind = type(x)
    if isinstance(x, str):
        return kind is str
    if kind.__module__ == "logging" and kind.__name__ in ("Logger", "RootLogger"):
        return True
    plain = not isinstance(x, type) or all(getattr(kind, n) is getattr(type, n) for n in ("__hash__", "__eq__"))
    return plain and (isinstance(x, _STATIC) or getattr(kind, "__tracebuf__", False) is True)


BUFFERS = (bytes, bytearray, memoryview, array, mmap.mmap)
"""Python's own classes with the buffer protocol."""
INTERFACES = ("__array_struct__", "__array_interface__", "__dlpack__")
"""By which an object says where its memory is; NumPy asks them before `__array__`, but for the last."""
_OWN_RULES = ("__array_ufunc__", "__array_function__", "__array_priority__", "__array_wrap__", "__array_prepare__")


_METACLASSES = frozenset({type, ABCMeta, type(ctypes.Array)})
"""A class with another metaclass is asked nothing, which might answer with code of the user's; not even its hash."""


def defers(kind: Any) -> bool:
    """Whether NumPy's functions and operators leave objects of a class to it: pandas, xarray, subclasses of ndarray."""
    return type(kind) in _METACLASSES and _defers(kind)


@lru_cache(maxsize=512)
def _defers(kind: Any) -> bool:
    return any(hasattr(kind, name) for name in _OWN_RULES)


def is_buffer(kind: Any) -> bool:
    """Whether objects of a class are buffers, of which nothing but their arrays is asked."""
    return type(kind) in _METACLASSES and _is_buffer(kind)


@lru_cache(maxsize=512)
def _is_buffer(kind: Any) -> bool:
    if kind in BUFFERS or issubclass(kind, ctypes.Array):
        return True
    if issubclass(kind, (np.ndarray, np.generic)) or kind.__module__.partition(".")[0] in ("numpy", "scipy"):
        return False
    return hasattr(kind, "__array__") if defers(kind) else any(hasattr(kind, name) for name in INTERFACES[:2])


def key_of(name: str, x: Any) -> Key:
    """The part of the key that belongs to the argument `name`.

    Raises UnsupportedError for what cannot be an argument, RunOriginal for what cannot be compiled for.
    """
    kind = type(x)
    if kind is np.ndarray or is_map(x):
        return array_key(name, x)
    if kind is float:
        return ScalarKey("float")
    if kind is complex:
        return ScalarKey("complex")
    if kind is bool:
        return ScalarKey("bool")
    if kind is int:
        return ScalarKey("int") if -SMALL < x < SMALL else StaticKey(int, x)
    if is_generator(x):
        return StaticKey(kind, None, f"a {kind.__name__}", any=True)
    if isinstance(x, np.str_) and kind is np.str_:
        return StaticKey(kind, str(x), f"={x}")
    if isinstance(x, np.generic):
        check_own_type(name, x.dtype)
        if x.dtype in SUPPORTED_DTYPES and kind is x.dtype.type:
            return ScalarKey(f"np.{x.dtype.name}")
        raise UnsupportedError(f"argument `{name}` is a scalar of dtype {x.dtype}", instead=f"pass {SUPPORTED}")
    if x is None or x is Ellipsis or is_static(x):
        return StaticKey(kind, x)
    if kind is tuple and all(type(i) in (float, complex, bool, str) or (type(i) is int and abs(i) < 2**64) for i in x):
        return StaticKey(kind, repr(x))  # 0.0 is not -0.0, and True is not 1
    if (key := static_key_of(x)) is not None:
        return key
    if is_buffer(kind):
        return StaticKey(kind, None, f"a {kind.__name__}", any=True)
    if is_matrix(x) and x.dtype in SUPPORTED_DTYPES:
        rows, columns = x.shape
        return StaticKey(kind, (x.shape, x.dtype.str), f"{kind.__name__}[{rows}, {columns}] of {x.dtype}", any=True)
    raise refused_argument(name, x)


def is_of_scipy(kind: type, package: str = "scipy.") -> bool:
    """Whether a class is of one of SciPy's packages. One with a metaclass of its own is not, and is asked nothing."""
    module = kind.__module__ if type(kind) in (type, ABCMeta) else None
    return isinstance(module, str) and module.startswith(package)


def is_sparse_class(kind: type) -> bool:
    """Whether a class is one of SciPy's of sparse matrices and arrays: linear operators have no elements."""
    return is_of_scipy(kind, "scipy.sparse.") and hasattr(kind, "nnz")


def is_matrix(x: Any) -> bool:
    """Whether an object is one of SciPy's sparse matrices or arrays of two axes: its class, shape and dtype are part of
    the key, and its elements are read by the functions of SciPy's that a call makes (functions/host/sparse)."""
    return is_sparse_class(type(x)) and x.ndim == 2


def is_text_array(x: Any) -> bool:
    """Whether an object is an array of text whose elements lie in memory as those of an array of ints do."""
    if type(x) is not np.ndarray or x.dtype.kind != "U" or not x.dtype.isnative or x.dtype.metadata is not None:
        return False
    return x.dtype.itemsize > 0 and (x.ndim == 1 or x.flags.c_contiguous or x.flags.f_contiguous)


def text_key(x: np.ndarray) -> StaticKey:
    """The key of an array of text: its dtype and number of axes; what else a program needs of it is fetched
    (interpreter/lists/labels)."""
    dims = ", ".join("n" * x.ndim)
    return StaticKey(np.ndarray, (x.dtype.str, x.ndim), f"{x.dtype.str[1:]}[{dims}]", any=True)


def is_text_key(key: Key) -> bool:
    """Whether a key is that of an array of text."""
    return isinstance(key, StaticKey) and key.type is np.ndarray and key.any


def brief(x: Any) -> str:
    """The start of an object's repr; its type where there is none (ints of 4301 digits)."""
    try:
        text = repr(x)
    except Exception:
        return f"<{type(x).__name__}>"
    return text if len(text) <= 80 else text[:77] + "..."


def refused_argument(name: str, x: Any) -> UnsupportedError:
    """Why an object cannot be an argument."""
    kind = type(x).__name__
    if isinstance(x, np.ndarray):
        return UnsupportedError(
            f"argument `{name}` is a {kind}, a subclass of ndarray with rules of its own",
            instead=f"pass np.asarray({name})",
        )
    if isinstance(x, (list, tuple, dict, set, frozenset)):
        instead = "pass a tuple, or an array" if isinstance(x, (set, frozenset)) else "pass a plain one"
        return UnsupportedError(f"argument `{name}` is of type {kind}", instead=instead)
    return UnsupportedError(f"argument `{name}` is of type {kind}", instead=in_its_place(name, x))


def in_its_place(name: str, x: Any) -> str:
    """What to pass instead of an object that cannot be an argument."""
    kind = type(x)
    if hasattr(kind, "toarray"):
        return f"pass {name}.toarray(), or the arrays that it is made of"
    if hasattr(kind, "__array_ufunc__"):
        text = f"pass np.asarray({name}), for which the result is an array, or"
        return f'{text} bufferize(fallback="numpy"), by which calls with objects of {kind.__name__} run as they are'
    if hasattr(kind, "__array__"):
        return f"pass np.asarray({name})"
    if kind.__hash__ is None or isinstance(x, np.random.Generator):
        return "pass an array or a number"
    return f'pass an array or a number; or name "{name}" in static_argnames: then each value has a program of its own'


NO_VALUE: Any = getattr(np, "_NoValue", None)
"""NumPy's mark of an argument that is not given, as an `object()` is in other code."""


def static_key_of(x: Any) -> StaticKey | None:
    """The key of what is static by its nature, besides strings, types and functions; None for anything else."""
    kind = type(x)
    if isinstance(x, Enum) and kind.__hash__ in _HASHES and kind.__eq__ in _EQUALITIES:
        return StaticKey(kind, x, f"={x}")
    derived = isinstance(x, (int, float, complex, str)) and not getattr(x, "__dict__", None)
    if derived and is_plain_subclass(kind):  # type: ignore[arg-type]
        return StaticKey(kind, value_of_subclass(x), f"={brief(x)}")
    if kind is partial:
        return StaticKey(kind, x)
    if kind is object or x is NO_VALUE:
        return StaticKey(kind, x, "a mark")
    if kind is range or (kind is slice and all(type(i) in (int, type(None)) for i in (x.start, x.stop, x.step))):
        return StaticKey(kind, (x.start, x.stop, x.step), f"={x}")
    if kind is slice and all(i is None or isinstance(i, (int, np.integer)) for i in (x.start, x.stop, x.step)):
        return StaticKey(kind, tuple((type(i), repr(i)) for i in (x.start, x.stop, x.step)), f"={x}")
    if kind is frozenset and all(type(i) in (int, float, bool, str, types.NoneType) for i in x):
        return StaticKey(kind, frozenset((type(i), repr(i)) for i in x), f"={brief(x)}")
    return None


_HASHES: tuple[Any, ...] = (Enum.__hash__, int.__hash__, str.__hash__, float.__hash__)
_EQUALITIES: tuple[Any, ...] = (object.__eq__, int.__eq__, str.__eq__, float.__eq__)
"""By which members of an Enum are hashed and compared, unless their class does it itself."""


@lru_cache(maxsize=256)
def is_plain_subclass(kind: Any) -> bool:
    """Whether the objects of a class derived from int, float, complex or str are told apart by their values alone."""
    base = next(b for b in (int, float, complex, str) if issubclass(kind, b))
    mine = kind.__mro__[: kind.__mro__.index(base)]
    odd = ("__eq__", "__hash__", "__getattribute__", "__getattr__", "__slots__")
    return not any(vars(c).get(n) for c in mine for n in odd) and type(kind) is type


def value_of_subclass(x: Any) -> Any:
    """The value of a number or text of a subclass as part of a key: 0.0 is not -0.0."""
    base = next(b for b in (int, float, complex, str) if isinstance(x, b))
    return str.__str__(x) if base is str else base.__repr__(x)


def has_supported_dtype(x: np.ndarray) -> bool:
    """Whether the element type of an array is one that can be compiled for."""
    return x.dtype in SUPPORTED_DTYPES and x.dtype.isnative and x.dtype.metadata is None


def check_own_type(name: str, dtype: np.dtype) -> None:
    """Raises RunOriginal for numbers of longlong and the like, whose class is another than that of the supported dtype
    that theirs equals (rule C1)."""
    if dtype in SUPPORTED_DTYPES and dtype.char not in CHARS:
        raise RunOriginal(f"argument `{name}` is of type {dtype.type.__name__}, which NumPy tells apart from {dtype}")


def name_of(dtype: np.dtype) -> str:
    """The name of a dtype in a key: longlong, which equals int64, has its own (numbers/longlongs)."""
    return dtype.name if dtype.char in CHARS else dtype.type.__name__


def array_key(name: str, x: np.ndarray) -> ArrayKey:
    """The key of an exact ndarray."""
    if not has_supported_dtype(x):
        note = "" if x.dtype.isnative else " (byte-swapped)"
        note += "" if x.dtype.metadata is None else " with metadata"
        instead = f"convert it, for example with {name}.astype(np.float64)"
        if x.dtype.kind in "UOS":
            instead = "pass an array of text (str) as an argument by itself, in C order; or ints for its labels: "
            instead += f"labels, codes = np.unique({name}, return_inverse=True)"
        raise UnsupportedError(
            f"argument `{name}` has dtype {x.dtype}{note}; supported are {SUPPORTED}", instead=instead
        )
    if x.size > MAX_SIZE or (x.size == 0 and max(x.shape) > MAX_SIZE):
        raise RunOriginal(f"argument `{name}` is larger than memory")
    flags = x.flags
    dims = tuple(n if n < 2 else 2 for n in x.shape)
    if flags.c_contiguous:
        layout, order = "dense", tuple(range(x.ndim))
    elif flags.f_contiguous:
        layout, order = "dense", tuple(range(x.ndim))[::-1]
    else:
        if not flags.aligned or any(s % x.itemsize for s in x.strides):
            raise RunOriginal(f"argument `{name}` is not aligned to its elements")
        order = tuple(sorted(range(x.ndim), key=lambda a: (-abs(x.strides[a]) if x.shape[a] > 1 else 0, a)))
        inner = next((a for a in reversed(order) if x.shape[a] > 1), None)
        layout = "unit" if inner is not None and x.strides[inner] == x.itemsize else "strided"
    if not flags.aligned or (not x.size and any(s % x.itemsize for s in x.strides)):
        raise RunOriginal(f"argument `{name}` is not aligned to its elements")
    repeated = tuple(a for a in range(x.ndim) if x.strides[a] == 0 and x.shape[a] > 1) if x.size else ()
    return ArrayKey(name_of(x.dtype), dims, order, layout, flags.writeable, repeated, type(x) is np.memmap)


def is_map(x: Any) -> bool:
    """Whether an object is an np.memmap of a file; a copy of one is an array of that class too."""
    return type(x) is np.memmap and x._mmap is not None  # type: ignore[attr-defined]


def check_files(names: Sequence[str], values: Sequence[Any]) -> None:
    """Raises RunOriginal where two memmaps may be of one file, of which one may be written: their memory is one, at two
    addresses."""
    maps = [(name, x) for name, x in zip(names, values) if is_map(x)]
    if len({id(x._mmap) for _, x in maps}) < 2 or all(x.mode in ("r", "c") for _, x in maps):
        return
    found: dict[Any, tuple[int, str]] = {}
    for name, x in maps:
        try:
            about = os.stat(x.filename)
        except (OSError, TypeError, ValueError):
            raise RunOriginal(f"argument `{name}` is a memmap of a file that cannot be told from others") from None
        other, first = found.setdefault((about.st_dev, about.st_ino), (id(x._mmap), name))
        if other != id(x._mmap):
            raise RunOriginal(f"arguments `{first}` and `{name}` are memmaps of one file")


def is_generator(x: Any) -> bool:
    """Whether an object is one of NumPy's random generators, by whose class alone a call has its key."""
    kind = type(x)
    return kind.__name__ in ("Generator", "RandomState") and kind.__module__.startswith("numpy.random")


_STATIC_KINDS = frozenset((str, type, types.FunctionType, types.BuiltinFunctionType, np.ufunc, type(np.sum)))
"""The exact types whose objects `signature` takes themselves."""
_DYNAMIC = frozenset((float, complex, bool, *(dtype.type for dtype in SUPPORTED_DTYPES)))
"""The exact types of dynamic numbers: their values are not part of the key."""


def signature(values: Sequence[Any]) -> tuple[Any, ...] | None:
    """A hashable value that determines the keys of all arguments and is quick to make; None where only `key_of` can
    tell."""
    parts: list[Any] = []
    file = None
    for x in values:
        kind = type(x)
        if kind.__class__ is not type and kind.__class__ is not ABCMeta:
            return None  # classes of such classes may hash and compare as they like
        if kind is np.ndarray:
            if x.dtype.metadata is not None:
                return None  # equal to the dtype without it
            parts.append((x.dtype, x.dtype.num, x.shape, x.strides, x.flags.num))
        elif kind in _DYNAMIC or x is None or (kind is int and -SMALL < x < SMALL):
            parts.append(kind)
        elif kind in _STATIC_KINDS:
            parts.append((kind, x))
        elif is_generator(x) or kind in BUFFERS:
            parts.append(kind)
        elif is_matrix(x):
            parts.append((kind, x.shape, x.dtype))
        elif kind in (range, slice) and all(type(i) in (int, types.NoneType) for i in (x.start, x.stop, x.step)):
            parts.append((kind, x.start, x.stop, x.step))
        elif is_map(x) and (file is None or file is x._mmap):  # of several files `check_files` is asked
            file = x._mmap
            parts.append((kind, x.dtype, x.dtype.num, x.shape, x.strides, x.flags.num))
        else:
            return None
    return tuple(parts)


def extent(x: np.ndarray) -> tuple[int, int]:
    """The range of memory of an array's elements, in bytes from element 0: the first byte and one past the last."""
    if not x.size:
        return 0, 1
    reaches = [s * (n - 1) for s, n in zip(x.strides, x.shape)]
    return sum(r for r in reaches if r < 0), sum(r for r in reaches if r > 0) + x.itemsize


def disjoint(values: Sequence[Any], extents: Sequence[tuple[int, int] | None]) -> bool:
    """Whether the arguments' ranges of memory are pairwise disjoint (then no two are one array, and none overlap)."""
    ranges = sorted([(at + e[0], at + e[1]) for x, e in zip(values, extents) if e is not None and (at := address(x))])
    return all(a[1] <= b[0] for a, b in zip(ranges, ranges[1:]))


def overlapping_itself(x: np.ndarray) -> bool:
    """Whether two indices of an array may address one element: False is certain, and exact for views made by
    slicing."""
    if x.size < 2 or x.flags.c_contiguous or x.flags.f_contiguous:
        return False
    reach = 0
    for stride, n in sorted((abs(s), n) for s, n in zip(x.strides, x.shape) if n > 1):
        if stride <= reach:
            return True
        reach += stride * (n - 1)
    return False


def same_view(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two array objects are the same view of the same memory (rule B4)."""
    return x is y or (
        x.shape == y.shape
        and x.strides == y.strides
        and x.dtype == y.dtype
        and x.__array_interface__["data"] == y.__array_interface__["data"]
    )


def overlap(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two arrays share an element (True where it is too hard to tell)."""
    if not np.may_share_memory(x, y):
        return False
    try:
        return np.shares_memory(x, y, max_work=10_000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


@frozen(slots=False)
class Relations:
    """How the array arguments of a call may alias.

    `same[i]` is the first leaf that is the same view as leaf i, `objects[i]` the first that is the same object;
    `shared` holds the other pairs that overlap (a leaf with itself if it overlaps itself).
    """

    same: tuple[Leaf, ...]
    objects: tuple[Leaf, ...]
    shared: tuple[tuple[Leaf, Leaf], ...]


def relations(values: Sequence[Any]) -> Relations:
    """The relations among the arguments of one call."""
    arrays = [(Leaf(i), x) for i, x in enumerate(values) if isinstance(x, np.ndarray)]
    same = list(map(Leaf, range(len(values))))
    first: dict[int, Leaf] = {}  # by id: at each call, and `values` holds them
    objects = tuple(first.setdefault(id(x), i) if isinstance(x, np.ndarray) else i for i, x in zip(same, values))
    shared = [(i, i) for i, x in arrays if overlapping_itself(x)]
    for n, (i, x) in enumerate(arrays):
        for j, y in arrays[:n]:
            if same[j] == j and (x is y or (x.size and overlap(x, y))):
                if same_view(x, y):
                    same[i] = j
                    break
                shared.append((j, i))
    return Relations(tuple(same), objects, tuple(shared))
