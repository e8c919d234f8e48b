"""`f.ctypes(...)` and `f.low_level_callable(...)`: a program as a C function (docs/calling.md).

A *shape* says how the C arguments are the function's: each parameter is a C argument, a number behind a pointer, or an
array of a pointer and its sizes; and what becomes of the results. The machine code is
in backend/llvm/entries/c_entries.py.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tracebuf.backend.llvm.entries.c_entries import MAX_WORDS, Thunk, thunk_text
from tracebuf.backend.runtime.c_entry import Filling, c_function
from tracebuf.backend.runtime.entries import ArrayArgument, NumberArgument, ObjectArgument, SameArgument
from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.call.results import NewContainer, ResultLeaf
from tracebuf.frozen import plain
from tracebuf.ir.ndarray import address
from tracebuf.ir.types import ScalarType

if TYPE_CHECKING:
    from types import FunctionType

    from tracebuf.backend.runtime.entries import ProgramEntry
    from tracebuf.backend.runtime.kernel import Kernel
    from tracebuf.frontends.numpy.call.call import Call
    from tracebuf.frontends.numpy.call.results import CallPlan


class Program(Protocol):
    """A specialisation."""

    call: Call
    traced: CallPlan
    kernel: Kernel
    entry: ProgramEntry | None


class Function(Protocol):
    """A bufferized function."""

    __wrapped__: FunctionType

    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def _for_c(self, args: tuple[Any, ...]) -> Program | None: ...
    def _for_c_values(self, args: tuple[Any, ...]) -> Sequence[Any]: ...


_C_TYPES: dict[str, Any] = {
    "i1": ctypes.c_bool, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
    "index": ctypes.c_int64, "ui8": ctypes.c_uint8, "ui16": ctypes.c_uint16, "ui32": ctypes.c_uint32,
    "ui64": ctypes.c_uint64, "f32": ctypes.c_float, "f64": ctypes.c_double,
}  # fmt: skip
_LLVM = {"f32": "float", "f64": "double", "i1": "i1", "index": "i64"}
DOUBLE_OF_DOUBLE = re.compile(r"double \(double(, void \*)?\)")
DOUBLE_OF_ARRAY = re.compile(r"double \(int, double \*(, void \*)?\)")
FILTER = re.compile(r"int \(double \*, (npy_intp|intptr_t|ssize_t), double \*, void \*\)")
MAPPING = re.compile(r"int \((npy_intp|intptr_t|ssize_t) \*, double \*, int, int, void \*\)")
SIGNATURES = (
    "double (double)", "double (double, void *)", "double (int, double *)", "double (int, double *, void *)",
    "int (double *, intptr_t, double *, void *)", "int (intptr_t *, double *, int, int, void *)",
)  # fmt: skip


@plain(eq=True)
class Shape:
    """How a C function's arguments are a program's."""

    types: list[Any] = field(default_factory=list)
    """Of the C function's arguments, in ctypes' terms."""
    numbers: dict[int, tuple[int, int | None]] = field(default_factory=dict)
    """By parameter: its C argument, and which number behind that pointer it is (None: the argument itself)."""
    arrays: dict[int, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    """By parameter: the C argument with the pointer, and those with the sizes."""
    result: Any = None
    """The C function's result; None: void, "natural": the program's number."""
    into: int | None = None
    """The C argument that points to the numbers that are the results."""
    equal: list[tuple[int, int]] = field(default_factory=list)
    """C arguments of type int that must be a number."""


def natural(args: Sequence[Any]) -> Shape:
    """Numbers by value; an array as a pointer to its elements in C order, and its sizes."""
    shape = Shape(result="natural")
    for i, x in enumerate(args):
        if isinstance(x, np.ndarray):
            first = len(shape.types)
            shape.types += [ctypes.c_void_p, *[ctypes.c_ssize_t] * x.ndim]
            shape.arrays[i] = first, tuple(range(first + 1, first + 1 + x.ndim))
        elif isinstance(x, (bool, int, float, np.number, np.bool)):
            shape.numbers[i] = len(shape.types), None
            kind = {bool: "i1", int: "i64", float: "f64"}.get(type(x)) or np.dtype(type(x)).name
            shape.types.append(_C_TYPES.get(kind) or _of_dtype(np.dtype(type(x))))
    return shape


def _of_dtype(dtype: np.dtype) -> Any:
    """The C type of NumPy's scalars; a pointer for those that C has not, which no shape has a use for."""
    try:
        return np.ctypeslib.as_ctypes_type(dtype)
    except NotImplementedError:
        return ctypes.c_void_p


def canonical(signature: str) -> str:
    """A signature as SciPy spells it."""
    text = " ".join(re.findall(r"\w+|[*(),]", signature))
    return text.replace(" ,", ",").replace("( ", "(").replace(" )", ")")


def of_signature(signature: str, args: Sequence[Any]) -> Shape:
    """The shape for one of SciPy's signatures."""
    text = canonical(signature)
    user_data = [ctypes.c_void_p]
    if DOUBLE_OF_DOUBLE.fullmatch(text):
        more = user_data if "void" in text else []
        return Shape([ctypes.c_double, *more], {0: (0, None)}, result=ctypes.c_double)
    if DOUBLE_OF_ARRAY.fullmatch(text):
        types = [ctypes.c_int, ctypes.POINTER(ctypes.c_double), *(user_data if "void" in text else [])]
        if args and isinstance(args[0], np.ndarray):
            return Shape(types, arrays={0: (1, (0,))}, result=ctypes.c_double)
        numbers: dict[int, tuple[int, int | None]] = {i: (1, i) for i in range(len(args))}
        return Shape(types, numbers, result=ctypes.c_double, equal=[(0, len(args))])
    if FILTER.fullmatch(text):
        pointer = ctypes.POINTER(ctypes.c_double)
        types = [pointer, ctypes.c_ssize_t, pointer, ctypes.c_void_p]
        return Shape(types, arrays={0: (0, (1,))}, result=ctypes.c_int, into=2)
    if MAPPING.fullmatch(text):
        types = [ctypes.POINTER(ctypes.c_ssize_t), ctypes.POINTER(ctypes.c_double), ctypes.c_int, ctypes.c_int]
        return Shape([*types, ctypes.c_void_p], arrays={0: (0, (2,))}, result=ctypes.c_int, into=1)
    raise ValueError(f"{signature!r} is none of the signatures {', '.join(map(repr, SIGNATURES))}")


def examples(signature: str) -> tuple[Any, ...]:
    """Arguments to compile for, of a function that is given none."""
    signature = canonical(signature)
    if signature.startswith("int (double *"):
        return (np.ones(3),)
    if signature.startswith("int"):
        return (np.ones(2, np.intp),)
    return (1.0,) if signature.startswith("double (double") else (np.ones(2),)


def c_callable(f: Function, args: tuple[Any, ...], shape: Shape) -> Any:
    """The C function of the program for these arguments. Raises UnsupportedError where only Python can call it."""
    spec = f._for_c(args)
    if spec is None or spec.entry is None or spec.kernel.calls_functions:
        raise UnsupportedError(
            f"{f.__wrapped__.__qualname__} cannot be called from C with such arguments: only Python calls its program",
            instead="pass numbers, and arrays in C order; no host calls",
        )
    return _Making(f, spec, args, shape).function()


class _Making:
    """A C function in the making."""

    def __init__(self, f: Function, spec: Program, args: tuple[Any, ...], shape: Shape) -> None:
        self.f, self.spec, self.args, self.shape = f, spec, args, shape
        assert spec.entry is not None
        self.entry = spec.entry
        self.plan, self.frame = spec.entry.plan, spec.kernel.frame
        self.kept: list[Any] = []
        """The captured arrays."""
        if self.plan.walk is not None and self.plan.walk.containers:
            raise self.refused("containers")
        if len(self.words()) >= MAX_WORDS:
            raise self.refused("so many arguments")

    def refused(self, what: str) -> UnsupportedError:
        name = self.f.__wrapped__.__qualname__
        return UnsupportedError(f"{name} takes or gives {what}, which no C caller has", instead="numbers and arrays")

    def words(self) -> range:
        """The words of the frame that are arguments."""
        results = [*self.frame.result_at, self.frame.error_at]
        return range(1, min(results))

    def fill(self) -> list[Filling]:
        """The instructions that fill them."""
        found: list[Filling] = [("EQUAL", 0, argument, value) for argument, value in self.shape.equal]
        for i, argument in enumerate(self.plan.arguments):
            number = self.plan.taken_as[i]
            if isinstance(argument, ObjectArgument):
                continue  # a constant: the one that it was made for
            if i >= len(self.args):  # a default, or what the function captures, as it is now
                found += self.captured(i)
                continue
            if isinstance(argument, SameArgument) or number < 0:
                raise self.refused("one array twice")
            at = self.frame.arg_at[number]
            if isinstance(argument, NumberArgument) and i in self.shape.numbers:
                given, item = self.shape.numbers[i]
                found.append(("COPY", at, given, 0) if item is None else ("LOAD", at, given, item))
            elif isinstance(argument, ArrayArgument) and i in self.shape.arrays:
                found += self.array(i, at)
            else:
                raise self.refused(f"a {type(self.args[i]).__name__} for `{self.spec.call.names[i]}`")
        return found

    def array(self, i: int, at: int) -> list[Filling]:
        pointer, sizes = self.shape.arrays[i]
        x, rank = self.args[i], len(sizes)
        if x.ndim != rank or not x.flags.c_contiguous or not x.flags.writeable:
            raise self.refused("an array that is not in C order, writable and of this rank")
        found: list[Filling] = [("COPY", at, pointer, 0)]
        found += [("COPY", at + 1 + k, size, 0) for k, size in enumerate(sizes)]
        first = at + 1 + rank
        for k in reversed(range(rank)):
            last = k == rank - 1
            found.append(("CONSTANT", first + k, 1, 0) if last else ("PRODUCT", first + k, first + k + 1, at + 2 + k))
        return found

    def captured(self, i: int) -> list[Filling]:
        number = self.plan.taken_as[i]
        if number < 0:
            return []
        value, at, type_ = self.f._for_c_values(self.args)[i], self.frame.arg_at[number], self.frame.args[number]
        if isinstance(type_, ScalarType):
            bits = np.zeros(2, np.int64)
            bits.view(np.uint8)[: type_.itemsize] = np.frombuffer(np.array(value, type_.dtype).tobytes(), np.uint8)
            return [("CONSTANT", at + k, int(bits[k]), 0) for k in range(-(-type_.itemsize // 8))]
        if not isinstance(value, np.ndarray):
            raise self.refused("a captured value that is no array")
        steps = [s // value.itemsize for s in value.strides]
        words = [address(value), *value.shape, *steps]
        self.kept.append(value)
        return [("CONSTANT", at + k, word, 0) for k, word in enumerate(words)]

    def leaves(self) -> list[ResultLeaf]:
        """The numbers that are the results."""
        plan = self.spec.traced.plan
        if self.spec.traced.writes:
            raise self.refused("containers")
        parts = plan.items if isinstance(plan, NewContainer) and plan.kind in (tuple, list) else (plan,)
        if isinstance(plan, NewContainer) and self.shape.into is None:
            raise self.refused("several results")
        if not all(isinstance(p, ResultLeaf) and p.kind in ("int", "float", "bool", "numpy", "const") for p in parts):
            raise self.refused("results that are no numbers")
        return list(parts)

    def numbers(self, leaves: Sequence[ResultLeaf]) -> tuple[list[str], list[int], list[str | None]]:
        """Of each result its type, its slot in the frame, and its value where that is known."""
        types, slots, known = list[str](), list[int](), list[str | None]()
        for leaf in leaves:
            type_ = None if leaf.kind == "const" else self.frame.results[leaf.index]
            if leaf.kind == "const" and type(leaf.value) in (float, int, bool):
                types.append("f64")
                slots.append(0)
                known.append(_literal(float(leaf.value)))
            elif isinstance(type_, ScalarType) and type_.name in _C_TYPES:
                types.append(type_.name)
                slots.append(self.frame.result_at[leaf.index])
                known.append(None)
            else:
                raise self.refused("results that are no real numbers")
        return types, slots, known

    def function(self) -> Any:
        """The C function, as ctypes calls it."""
        fills, plan = self.fill(), self.spec.traced.plan
        nothing = isinstance(plan, ResultLeaf) and plan.kind == "const" and plan.value is None
        types, slots, known = self.numbers([] if nothing else self.leaves())
        into, result = self.shape.into, self.shape.result
        if result == "natural":
            result = _C_TYPES[types[0]] if types else None
        elif not types and into is None:
            raise self.refused("no result")
        places = tuple((_LLVM.get(t, t.removeprefix("u")), into, k) for k, t in enumerate(types))
        if into is not None:
            thunk = Thunk(self.llvm_arguments(), "i32", "0", places, success="1")
        elif result is None:
            thunk = Thunk(self.llvm_arguments(), "void", "", ())
        else:
            of = "double" if result is ctypes.c_double else places[0][0]
            failure = {"double": _NAN, "float": _NAN, "i1": "false"}.get(of, "0")
            thunk = Thunk(self.llvm_arguments(), of, failure, places)
        by_python = _ByPython(self.f, self.args, self.shape, types)
        made = c_function(self.entry, thunk_text(thunk, known), fills, slots, len(self.words()) + 1, by_python)
        function: Any = ctypes.PYFUNCTYPE(result, *self.shape.types)(made.address)
        function.tracebuf = made, self.f, self.kept
        return function

    def llvm_arguments(self) -> tuple[str, ...]:
        sizes = {1: "i8", 2: "i16", 4: "i32", 8: "i64"}
        found = []
        for t in self.shape.types:
            if t is ctypes.c_double or t is ctypes.c_float or t is ctypes.c_bool:
                found.append({ctypes.c_double: "double", ctypes.c_float: "float", ctypes.c_bool: "i1"}[t])
            else:
                pointer = t is ctypes.c_void_p or hasattr(t, "contents")
                found.append("ptr" if pointer else sizes[ctypes.sizeof(t)])
        return tuple(found)


_NAN = "0x7FF8000000000000"


def _literal(x: float) -> str:
    return f"0x{int.from_bytes(np.float64(x).tobytes(), 'little'):016X}"


class _ByPython:
    """A call from C that the entry does not take: the function's own, on copies of the arrays, copied back after."""

    def __init__(self, f: Function, args: tuple[Any, ...], shape: Shape, types: list[str]) -> None:
        self.f, self.args, self.shape, self.types = f, args, shape, types

    def __call__(self, given: int, out: int) -> None:
        shape, words = self.shape, given
        for argument, value in shape.equal:
            if (n := self.number(words, argument)) != value:
                raise TypeError(f"{self.f.__wrapped__.__qualname__} takes {value} numbers, not {n}")
        values, arrays = list(self.args), []
        for i, (argument, k) in shape.numbers.items():
            if k is None:
                values[i] = type(self.args[i])(self.number(words, argument))
            else:
                pointer = ctypes.c_size_t.from_address(words + 8 * argument).value
                values[i] = ctypes.c_double.from_address(pointer + 8 * k).value
        for i, (argument, sizes) in shape.arrays.items():
            pointer = ctypes.c_size_t.from_address(words + 8 * argument).value
            values[i] = x = np.empty([self.number(words, k) for k in sizes], self.args[i].dtype)
            ctypes.memmove(address(x), pointer, x.nbytes)
            arrays.append((x, pointer))
        result = self.f(*values)
        for x, pointer in arrays:
            ctypes.memmove(pointer, address(x), x.nbytes)
        results = result if isinstance(result, (tuple, list)) else () if result is None else (result,)
        if len(results) != len(self.types):
            raise TypeError(f"{len(results)} results, where the C function was made for {len(self.types)}")
        for k, (x, type_) in enumerate(zip(results, self.types)):
            _C_TYPES[type_].from_address(out + 8 * k).value = x.item() if isinstance(x, np.generic) else x

    def number(self, words: int, argument: int) -> Any:
        return self.shape.types[argument].from_address(words + 8 * argument).value


__all__ = ["SIGNATURES", "c_callable", "canonical", "examples", "natural", "of_signature"]
