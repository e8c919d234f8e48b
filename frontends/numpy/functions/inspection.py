"""What code asks of an array beside its shape and dtype: flags, strides, memory shared with another one, `np.ma`.

Contiguity and strides follow from the geometry of views, by proof or guard (rule S7). What is not part of it, who owns
the memory and where it is, is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays import memmaps
from tracebuf.frontends.numpy.arrays.new_arrays import as_array, filled_with
from tracebuf.frontends.numpy.arrays.reshape import is_dense
from tracebuf.frontends.numpy.functions import memory
from tracebuf.frontends.numpy.numbers.lattice import parts
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value
from tracebuf.frontends.numpy.record.cond import Cond, ends
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces, traces_late
from tracebuf.frontends.numpy.record.values import ArrayRef, GuardedRef, NpScalar, is_traced, stand_in
from tracebuf.frozen import frozen
from tracebuf.ir.dims import mul, sub, symbols
from tracebuf.ir.types import I1

OWN_MEMORY = frozenset(("owndata", "num", "OWNDATA", "O"))
"""The flags that say who owns the memory."""
NO_GEOMETRY = frozenset((
    "writeable", "aligned", "behaved", "writebackifcopy", "WRITEABLE", "ALIGNED", "BEHAVED", "WRITEBACKIFCOPY", "W",
    "A", "B", "X",
))  # fmt: skip
"""The flags that do not depend on the order of elements."""


# -- flags
@frozen(eq=False)
class Flags:
    """a.flags."""

    of: ArrayRef


def is_writable(r: Recorder, a: ArrayRef) -> bool:
    """Whether elements may be stored through a reference (rule B2)."""
    found = {not end.read_only and end.storage.writable for end in ends(a)}
    if len(found) > 1:
        raise r.refuse("whether this array may be written depends on the path taken", "make a copy on both paths")
    return found.pop()


def flags_like(r: Recorder, a: ArrayRef, geometry: bool) -> Any:
    """The flags of an array of NumPy's of the same writability and, if that is asked for, contiguity."""
    if r.held is not None:
        r.held.check_layout(r, a)
    axes = range(a.ndim)
    by_rows, by_columns = (is_dense(r, a, axes), is_dense(r, a, axes[::-1])) if geometry else (True, True)
    whole = np.empty((4, 4))
    like = whole[0] if by_rows and by_columns else whole if by_rows else whole.T if by_columns else whole[::2, ::2]
    like.flags.writeable = is_writable(r, a)
    return like.flags


def flag(r: Recorder, flags: Flags, name: Any, item: bool = False) -> Any:
    """flags.name, or flags["NAME"] (`item`)."""
    if isinstance(name, str) and name in ("owndata", "OWNDATA", "O"):
        if item == name.isupper():
            return memory.owns(r, flags.of)
    if isinstance(name, str) and name in OWN_MEMORY:
        what = f'`.flags["{name}"]`' if item else f"`.flags.{name}`"
        raise r.refuse(f"{what}: who owns an array's memory is not known while tracing", "ask outside")
    found = flags_like(r, flags.of, name not in NO_GEOMETRY if isinstance(name, str) else False)
    if item:
        return ask(type(found).__getitem__, found, name)
    value = ask(getattr, found, name)
    if not isinstance(value, bool):
        raise r.refuse(f"`.flags.{name}` is not supported yet", "ask for one flag: a.flags.c_contiguous")
    return value


def depends_on_path(x: Any) -> bool:
    """Whether a value may hold an array that is one of several."""
    if isinstance(x, Cond) or (isinstance(x, ArrayRef) and x.origin is not None):
        return True
    return any(map(depends_on_path, parts(x) or ()))


def set_writable(r: Recorder, a: ArrayRef, value: Any, others: Iterable[Any]) -> None:
    """`a.flags.writeable = value`, of an array object that the function has made. `others`: what names hold."""
    if value is not True and value is not False:
        raise r.refuse("a flag that is set to what is not True or False", "set it to False")
    if value == is_writable(r, a):
        return
    by_path = isinstance(a, GuardedRef) or a.origin is not None
    by_path = by_path or any(map(depends_on_path, others))
    if value or by_path or r.frame.parent is not None or any(a is g for g in r.given):
        what = "of an array of the caller's" if any(a is g for g in r.given) else "here"
        raise r.refuse(f"setting `.flags.writeable` {what}", "set it outside, or to False at the function's end")
    a.read_only = True


# -- strides
def strides(r: Recorder, a: ArrayRef) -> tuple[Any, ...]:
    """a.strides, in bytes. Those of an argument that is not contiguous are part of the key."""
    if r.held is not None:
        r.held.check_layout(r, a)
    for n in a.shape:
        if r.ask_nonneg(sub(n, 2)) is not True:  # NumPy keeps any stride there
            what = "`.strides` of an array with an axis of fewer than 2 elements"
            raise r.refuse(what, "use .shape, .flags or .itemsize")
    found: list[Any] = []
    for stride in a.strides:
        e = r.facts.canon(mul(stride, a.dtype.itemsize))
        if not r.stride_symbols.isdisjoint(symbols(e)):
            known = r.in_this_call(e)
            if known is None or r.ask_strides(e, known) is not True:
                raise r.refuse("`.strides` of a part that is computed, of an array that is not contiguous", "copy it")
            e = known
        found.append(as_int_value(e))
    return tuple(found)


# -- classes
def check_attribute(r: Recorder, name: str) -> None:
    """Refuses an attribute that a memmap has in its own way."""
    own = hasattr(np.memmap, name) != hasattr(np.ndarray, name) or name in ("__dict__", "__class__", "flat", "imag")
    own = own or name in ("filename", "mode", "offset", "_mmap")
    memmaps.check_class(r, f"`.{name}`", False, own)


@traces(issubclass)
def issubclass_of(r: Recorder, kind: Any, kinds: Any) -> bool:
    """issubclass(kind, kinds), of classes whose metaclass does not answer itself."""
    for x in (kind, *(kinds if isinstance(kinds, tuple) else (kinds,))):
        if isinstance(x, type) and type(x).__module__ not in ("builtins", "abc", "typing", "enum"):
            raise r.refuse(f"issubclass of {x.__name__}, whose class is {type(x).__name__}", "ask outside")
    return ask(issubclass, kind, kinds)


def class_of(x: Any) -> type:
    """`x.__class__` of an array or a number."""
    return np.ndarray if isinstance(x, ArrayRef) else type(stand_in(x))


def has(x: Any, name: str) -> bool:
    """Whether an array, or a number of a known type, has an attribute."""
    like: Any = np.empty((0,) * x.ndim, x.dtype) if isinstance(x, ArrayRef) else stand_in(x)
    return ask(hasattr, like, name)


# -- memory
def made_here(r: Recorder, a: Any) -> bool:
    """Whether an array is certainly in memory that the function has asked for, by itself."""
    if not isinstance(a, ArrayRef) or isinstance(a, GuardedRef) or a.storage.arg is not None or a.storage.picked:
        return False
    op = r.value(a.storage).defining_op
    return op is not None and not op.name.startswith("scf.")


@traces(method="__array_namespace__")
def array_namespace(r: Recorder, a: ArrayRef, *, api_version: Any = None) -> Any:
    """a.__array_namespace__(): NumPy."""
    return ask(np.empty(0).__array_namespace__, api_version=api_version)


@traces(method="__array__")
def array_itself(r: Recorder, a: ArrayRef, dtype: Any = None, /, *, copy: Any = None) -> ArrayRef:
    """a.__array__(): the array itself."""
    if dtype is not None or copy not in (None, False):
        raise r.refuse("`__array__` with a dtype or a copy", "np.array(a, dtype, copy=...)")
    return a


@traces(method="__array_wrap__")
def array_wrap(
    r: Recorder, a: ArrayRef, array: Any, context: Any = None, return_scalar: Any = False, /
) -> ArrayRef | NpScalar:
    """a.__array_wrap__(array): the array itself, for both are of NumPy's own class; or the number in one without
    axes."""
    if not isinstance(array, ArrayRef):
        raise Raises(TypeError("can only be called with ndarray object"))
    if not isinstance(return_scalar, bool):
        raise r.refuse("`__array_wrap__` with a return_scalar that is no bool", "leave it out")
    return NpScalar(r.load(array, ()), array.element) if return_scalar and not array.ndim else array


@traces(method="to_device")
def to_device(r: Recorder, a: ArrayRef, device: Any, /, *, stream: Any = None) -> ArrayRef:
    """a.to_device("cpu"): the array itself."""
    ask(np.empty(0).to_device, device, stream=stream)
    return a


@traces(np.shares_memory, of=True)
@traces(np.may_share_memory, of=False)
def shares_memory(exact: bool, r: Recorder, a: Any, b: Any, /, max_work: Any = None) -> bool:
    """Whether two arrays share memory: known where one is all of the other's memory, or both are one part of it."""
    if r.held is not None:
        r.held.check_identity(r, a, b)
    if any(made_here(r, x) for x in (a, b)) and all(isinstance(x, ArrayRef) for x in (a, b)):
        if a.storage is not b.storage:
            return False
    refusal = r.refuse("whether these arrays share memory is not known while tracing", "ask outside")
    if any(not isinstance(x, ArrayRef) or isinstance(x, GuardedRef) for x in (a, b)):
        raise refusal
    one_memory = a.storage is b.storage and (a.is_whole or b.is_whole or a.same(b))
    if not one_memory or not all(r.ask_nonneg(sub(n, 1)) is True for n in (*a.shape, *b.shape)):
        raise refusal
    return True


# -- np.ma, of arrays that are none
@traces_late("numpy.ma.core", "isMaskedArray")
def is_masked_array(r: Recorder, x: Any) -> bool:
    """np.ma.isMaskedArray(x)."""
    return False if is_traced(x) else _refuse_masked(r, x)


@traces_late("numpy.ma.core", "is_masked")
def is_masked(r: Recorder, x: Any) -> bool:
    """np.ma.is_masked(x): an array that has no mask has nothing masked."""
    return False if is_traced(x) else _refuse_masked(r, x)


@traces_late("numpy.ma.core", "getdata")
def getdata(r: Recorder, a: Any, subok: Any = True) -> ArrayRef:
    """np.ma.getdata(a): the array itself."""
    return as_array(r, a)


@traces_late("numpy.ma.core", "getmask")
def getmask(r: Recorder, a: Any) -> Any:
    """np.ma.getmask(a): np.ma.nomask."""
    return np.ma.nomask if is_traced(a) else _refuse_masked(r, a)


@traces_late("numpy.ma.core", "getmaskarray")
def getmaskarray(r: Recorder, arr: Any) -> ArrayRef:
    """np.ma.getmaskarray(a): False for each element."""
    a = as_array(r, arr)
    return filled_with(r, a.shape, I1, False)


@traces_late("numpy.ma.core", "filled")
def filled(r: Recorder, a: Any, fill_value: Any = None) -> ArrayRef:
    """np.ma.filled(a): the array itself."""
    return as_array(r, a) if isinstance(a, ArrayRef) else _refuse_masked(r, a)


def _refuse_masked(r: Recorder, x: Any) -> Any:
    raise r.refuse(f"a {type(x).__name__} as an argument of a function of np.ma", "pass an array")
