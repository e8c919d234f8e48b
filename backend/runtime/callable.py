"""`NativeCallable`: a class whose objects may be called by machine code, without a line of Python in between.

A class of C, made by `PyType_FromSpec`, whose objects have two words after the object's head: the function that
CPython's vectorcall protocol calls (0: the class's `__call__`), and a word that is this function's own. A class in
Python that derives from it has its own `__call__`, which is what a call comes to while the first word is 0. That such a
class has the protocol at all must be said by `by_vectorcall`: CPython 3.11 does not let it inherit that, and later ones
do not where there is a `__call__`.

On anything but CPython with its usual object heads (free-threaded, debugging references, 32 bits) and in
subinterpreters, `NativeCallable` is a plain class, and `NATIVE` is False.

Source: PEP 590; `Objects/call.c`, `_PyObject_VectorcallTstate`.
"""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["NATIVE", "NativeCallable", "by_vectorcall", "point_at"]

_HEAD = 16
"""The bytes of an object's head: reference count and class."""
VECTORCALL, OWN = _HEAD, _HEAD + 8
"""Where an object has its two words, in bytes from its start."""
_TP_MEMBERS, _T_PYSSIZET, _READONLY = 72, 19, 1
_BASETYPE, _HAVE_VECTORCALL, _METHOD_DESCRIPTOR, _DEFAULT = 1 << 10, 1 << 11, 1 << 17, 1 << 18
_FLAGS_AT = 168
"""Where a class has its flags (`tp_flags` of `PyTypeObject`)."""

C = TypeVar("C", bound=type)


class _Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class _Member(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("type", ctypes.c_int), ("offset", ctypes.c_ssize_t), ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]  # fmt: skip


class _Spec(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("basicsize", ctypes.c_int), ("itemsize", ctypes.c_int), ("flags", ctypes.c_uint),
        ("slots", ctypes.POINTER(_Slot)),
    ]  # fmt: skip


def _supported() -> bool:
    """Whether objects and classes of this interpreter are laid out as this module takes them to be."""
    if sys.implementation.name != "cpython" or object.__basicsize__ != _HEAD or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    api = ctypes.pythonapi
    api.PyInterpreterState_Get.restype = api.PyInterpreterState_Main.restype = ctypes.c_void_p
    return bool(api.PyInterpreterState_Get() == api.PyInterpreterState_Main()) and _flags_of(object) == object.__flags__


def _flags_of(kind: type) -> int:
    return ctypes.c_ulong.from_address(id(kind) + _FLAGS_AT).value


_kept: list[Any] = []
"""What CPython points to for ever: a class's name, on some versions its members."""


def _made() -> type:
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", _T_PYSSIZET, VECTORCALL, _READONLY, None))
    slots = (_Slot * 2)(_Slot(_TP_MEMBERS, ctypes.addressof(members)))
    flags = _DEFAULT | _BASETYPE | _HAVE_VECTORCALL
    spec = _Spec(b"tracebuf.backend.runtime.callable.NativeCallable", OWN + 8, 0, flags, slots)
    _kept.append((members, slots, spec))
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.POINTER(_Spec))(("PyType_FromSpec", ctypes.pythonapi))
    made: type = make(ctypes.byref(spec))
    return made


NATIVE = _supported()
"""Whether objects of `NativeCallable` may be called by machine code."""
if TYPE_CHECKING or not NATIVE:

    class NativeCallable:
        """A plain class, whose objects are called through `__call__`."""

        __slots__ = ()

else:
    NativeCallable = _made()


def by_vectorcall(kind: C) -> C:
    """A class decorator: calls of its objects look for a native function first. If its `__get__` binds as a function's
    does, `x.f(a)` is `f(x, a)`, and no bound object is made for it."""
    if NATIVE:
        flags = ctypes.c_ulong.from_address(id(kind) + _FLAGS_AT)
        flags.value |= _HAVE_VECTORCALL | (_METHOD_DESCRIPTOR if "__get__" in vars(kind) else 0)
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
    return kind


def point_at(x: NativeCallable, function: int, own: int) -> None:
    """Sets an object's two words: the address of its vectorcall function, or 0, and what that function finds beside."""
    words = (ctypes.c_void_p * 2).from_address(id(x) + VECTORCALL)
    words[0], words[1] = None, own  # never the function without its word
    words[0] = function
