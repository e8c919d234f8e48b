"""How a call of a NumPy function that has no loop form becomes a `tracebuf.host_call`: by its `HostEntry` in the table.

The result's shape is a rule of the entry. Everything else (dtypes, ranks, order of axes, tuple or not) NumPy is asked
for (`kinds`). Errors are raised when the program runs, by the function itself, which gets the same arrays as in eager
NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from itertools import takewhile
from typing import Any, NoReturn
from uuid import uuid4

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays.axes import axes_of, flag, own_axes_of
from tracebuf.frontends.numpy.arrays.creation import asarray
from tracebuf.frontends.numpy.arrays.indexing import int_of
from tracebuf.frontends.numpy.arrays.new_arrays import copy_of, k_order
from tracebuf.frontends.numpy.arrays.reshape import whole_number
from tracebuf.frontends.numpy.call.arguments import is_matrix
from tracebuf.frontends.numpy.call.talk import Filtered
from tracebuf.frontends.numpy.functions.host.kinds import (
    Described,
    HostResult,
    describe,
    positional_of,
    signature,
    takes_out,
)
from tracebuf.frontends.numpy.functions.reductions.reduce import kept_axes
from tracebuf.frontends.numpy.numbers.operands import supported
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.callees import Buffer
from tracebuf.frontends.numpy.record.judged import judged
from tracebuf.frontends.numpy.record.raises import Raises, ask, asking
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.regions import Kept
from tracebuf.frontends.numpy.record.scalar_checks import check_origin
from tracebuf.frontends.numpy.record.values import (
    NUMBERS,
    PYTHON_TYPES,
    ArrayRef,
    NpScalar,
    PyBool,
    PyComplex,
    PyFloat,
    PyInt,
    Scalar,
    is_traced,
    storages_of,
)
from tracebuf.frozen import frozen
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, sub
from tracebuf.ir.types import I64, INDEX, ScalarType, scalar_type
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.scalars import arith
from tracebuf.running.handed import Handed
from tracebuf.running.host import (
    Attempt,
    ByLoop,
    CoreLoop,
    Direct,
    HostFunction,
    Passed,
    Put,
    put_converted,
    put_nothing,
)

Shape = Sequence[Dim]
Given = Mapping[str, Any]
"""A call's arguments by parameter: arrays are references, numbers are traced or known."""
Arguments = dict[str, Any]
"""A call's arguments by parameter, when the program runs."""


@frozen()
class UpTo:
    """The size of a result that only the elements determine, and its upper bound."""

    most: Dim


Shapes = Callable[[Recorder, Given], Sequence[Sequence[Dim | UpTo]]]
"""The shapes of a call's results, from its arguments."""


Fresh = tuple[ScalarType, Shape, Sequence[int]]
"""A new array: its element type, shape and order."""
Parts = Callable[[Recorder, Given, Sequence[Fresh]], Any]


@frozen(eq=False)
class HostEntry:
    """One function of the table.

    `arrays` are the parameters that are converted to arrays, `values` those that may be traced numbers, or tuples of
    numbers or arrays; of what is among both, lists of constants stay lists. All others must be known when the function
    is traced. `shapes` gives the shape of each array in the result, one size of which may be `UpTo`. `stand_ins`
    replaces arguments in the call that finds the dtypes, where small arrays are not representative; `into` says of a
    call whether the function's own `out=` takes the memory of the result.
    """

    function: Callable[..., Any]
    arrays: tuple[str, ...]
    shapes: Shapes
    values: tuple[str, ...] = ()
    stand_ins: Mapping[str, Any] | None = None
    into: Callable[[Given], bool] | None = None
    only: Mapping[str, Any] = field(default_factory=dict)
    """The parameters that are taken with one value only, on which the results' shapes depend."""
    refuses: Callable[[Recorder, Given], None] | None = None
    counts: bool = False
    """Whether a size in the result may be `UpTo`."""
    method: bool = False
    """Whether the function has an array's method of its name do it, which is called then: it takes half the time."""
    loop: Callable[[Given], CoreLoop | None] | None = None
    """The inner loop that computes what the function does, from the arrays in order, in the loop's types."""
    breaks: float | None = None
    """A number such that the function raises LinAlgError for matrices that are full of it, as it does wherever its loop
    sets `invalid`."""
    parts: Parts | None = None
    """Records a call of which native code does without the function; None for one it does not do."""
    given_back: Callable[[Recorder, Given, list[Any]], list[Any]] | None = None
    """What the results are, where some are no arrays of their own: from a call's arguments and its results."""
    size: int | Callable[[Given], int] = 3
    """The size that stands for unknown ones where the dtypes are found."""
    complex_results: bool = False
    """Whether its results are taken as complex numbers, though the function gives real ones where it can."""
    out: str = "out"
    """The parameter for an array that the result is written into; of SciPy's filters `output`, which may be a dtype."""
    label: str = ""
    """Its name, if it is not the function's."""
    of_sizes: bool = False
    """Whether a call that raises for stand-ins does so for its own sizes alone: they become part of the key."""

    @property
    def name(self) -> str:
        """Its name with its public module: of `scipy.linalg._basic.solve`, `scipy.linalg.solve`."""
        if self.label:
            return self.label
        module = ".".join(part for part in self.function.__module__.split(".") if part[:1] != "_")
        return f"{module}.{self.function.__name__}"

    def __call__(self, r: Recorder, *args: Any, **kwargs: Any) -> Any:
        """Records a call: the handler of the function."""
        given = self.bind(r, args, kwargs)
        for name, value in self.only.items():
            found = given.get(name, signature(self.function).parameters[name].default)
            if found is not value and not (isinstance(found, (int, np.bool_)) and found == value):
                raise r.refuse(*refusals.parameters(self.name.replace("numpy.", "np.", 1), [name]))
        if self.refuses is not None:
            self.refuses(r, given)
        out = given.pop(self.out, None) if self.out == "out" or is_out(given.get(self.out)) else None
        try:
            size = self.size if isinstance(self.size, int) else self.size(given)
            if out is not None and takes_out(self.function, given, self.stand_ins or {}, self.out, size):
                return self.writes(r, given, out)
            if out is not None and self.out != "out":
                raise r.refuse(f"`{self.out}=` of {self.name}", "store the result: out[...] = ...")
            found = describe(self.function, given, self.stand_ins or {}, size)
            if self.complex_results:
                found = in_complex(found)
            known = found.exact and not self.counts
            sizes = [leaf.shape for leaf in found.leaves] if known else self.shapes(r, self.shaped(given))
        except Raises as said:
            if said.placed:
                raise
            if self.of_sizes:
                for x in given.values():
                    for n in x.shape if isinstance(x, ArrayRef) else ():
                        r.static_int(n, f"whether {self.name} raises")
            found_out = judged(r, self.function, args, kwargs, said)  # sizes are those of the call, not of stand-ins
            if isinstance(found_out, UnsupportedError):
                raise found_out from None
            return self.fails(r, given, found_out.error)
        shapes = [Bounded.of(self.fitting(r, shape, leaf)) for shape, leaf in zip(sizes, found.leaves, strict=True)]
        new = [k for k, leaf in enumerate(found.leaves) if leaf.is_new]
        fresh = [
            (supported(leaf.dtype, f"the result of {self.name}", r.loc), shapes[k].shape, leaf.order)
            for k, leaf in enumerate(found.leaves)
            if k in new
        ]
        if self.parts is not None and (result := self.parts(r, given, fresh)) is not None:
            return result
        loop = self.loop_of(given, len(fresh))
        if loop is not None:
            return found.build(self.calls_loop(r, given, loop, fresh, found.leaves))
        counts = [(I64, (), ())] * sum(shapes[k].axis is not None for k in new)
        ins: list[Value] = []
        pattern = {k: pass_on(r, v, ins) for k, v in given.items()}
        if new and self.into is not None and self.into(given):
            function = self.writer(pattern, len(ins))
        else:
            bounds = {k: shapes[k] for k in new}
            call = self.call(pattern, found.kind, bounds)
            if self.method and isinstance(given[self.arrays[0]], ArrayRef):
                call = replace(call, function=getattr(np.ndarray, self.function.__name__))
            function = HostFunction(self.name, call, returns=len(fresh))
        made = iter(record(r, function, ins, [*fresh, *counts]))
        whole = {k: next(made) for k in new}
        results = [leaf.of_call(given) if k not in whole else loaded(r, shapes[k].part(r, whole[k], made), leaf)
                   for k, leaf in enumerate(found.leaves)]  # fmt: skip
        return found.build(results if self.given_back is None else self.given_back(r, given, results))

    def loop_of(self, given: Given, results: int) -> CoreLoop | None:
        """The inner loop for a call, if NumPy has it."""
        loop = None if self.loop is None else self.loop(given)
        if loop is None or len(loop.cores) != len(self.arrays) + results:
            return None
        return loop if all(isinstance(given.get(name), ArrayRef) for name in self.arrays) else None

    def calls_loop(
        self, r: Recorder, given: Given, loop: CoreLoop, fresh: Sequence[Fresh], leaves: Sequence[HostResult]
    ) -> list[Any]:
        """Records a call that native code makes without the function, on arrays in the loop's types."""
        if self.breaks is not None:
            loop = replace(loop, error=words_of_error(self.function, len(self.arrays), self.breaks))
        ins, _, outs = loop.types.partition("->")
        arrays = {name: in_type(r, given[name], scalar_type(np.dtype(c))) for name, c in zip(self.arrays, ins)}
        values = [r.read(arrays[name]) for name in self.arrays]
        new = [(scalar_type(np.dtype(c)), shape, order) for c, (_, shape, order) in zip(outs, fresh, strict=True)]
        order = {name: k for k, name in enumerate(self.arrays)}
        call = self.call({k: Passed(order[k]) if k in order else v for k, v in given.items()})
        made = record(r, HostFunction(self.name, ByLoop(loop, call), loop=loop), values, new)
        return [
            loaded(r, result_in_type(r, ref, element), leaf)
            for ref, (element, _, _), leaf in zip(made, fresh, leaves, strict=True)
        ]

    def shaped(self, given: Given) -> Given:
        """The arguments with numbers that are operands as what has the shape of one."""
        numbers = (Scalar, *NUMBERS)
        return {k: NUMBER if k in self.arrays and isinstance(x, numbers) else x for k, x in given.items()}

    def fitting(self, r: Recorder, shape: Sequence[Dim | UpTo], leaf: HostResult) -> Sequence[Dim | UpTo]:
        """The shape that the rule gives, unless NumPy gives another rank (a number, where there are no elements)."""
        if len(shape) != len(leaf.shape) and leaf.shape:
            reason = f"{self.name} gives an array of another rank than for other sizes"
            raise r.refuse(reason, "call it outside, or through tracebuf.host_call")
        return shape if len(shape) == len(leaf.shape) else ()

    def writes(self, r: Recorder, given: Given, out: Any) -> ArrayRef:
        """Records a call with `out=`, which the function itself writes; a read-only one is passed as it is, and refused
        by the function."""
        if not isinstance(out, ArrayRef):
            raise Raises(TypeError("return arrays must be of ArrayType"))
        for x in given.values() if self.out != "out" else ():
            if isinstance(x, ArrayRef) and not x.same(out) and not set(storages_of(x)).isdisjoint(storages_of(out)):
                raise r.refuse(f"`{self.out}=` of {self.name} that may overlap an argument", "another array")
        ins: list[Value] = []
        function = self.writer({k: pass_on(r, v, ins) for k, v in given.items()}, len(ins))
        writable = not out.read_only and all(s.writable for s in storages_of(out))
        record(r, function, ins if writable else [*ins, r.read(out)], [], [out] if writable else [])
        r.check_writable(out)
        return out

    def writer(self, pattern: Given, place: int) -> HostFunction:
        """The call with `out=`, the operand at `place`: an out, or the last input, which may not be written."""
        return HostFunction(self.name, self.call({**pattern, self.out: Passed(place)}))

    def fails(self, r: Recorder, given: Given, error: BaseException) -> NoReturn:
        """Records a call that raises by all that is known now: the function is called, for other errors may come
        first, unless the original function will be."""
        if r.certain:
            r.fail(error)
        ins: list[Value] = []
        call = self.call({k: pass_on(r, v, ins) for k, v in given.items()})
        record(r, HostFunction(self.name, call), ins, [])
        r.fail(error)

    def laid_out(self, pattern: Given) -> tuple[list[Any], Arguments]:
        """The arguments that are passed by position, and those by name."""
        leading = list(takewhile(lambda name: name in pattern and name != self.out, positional_of(self.function)))
        return [pattern[name] for name in leading], {k: p for k, p in pattern.items() if k not in leading}

    def call(self, pattern: Given, kind: type | None = None, shapes: Mapping[int, Bounded] | None = None) -> Direct:
        """What runs at the call: the function on the operands, its results of these numbers stored into the outs; of
        none, it has written them itself."""
        positional, named = self.laid_out(pattern)
        arguments = (*positional, *named.values())
        if not shapes:
            return Direct(self.function, arguments, tuple(named), None, (), (), put_nothing)
        places, bounds = tuple(shapes), tuple(bounded.axis for bounded in shapes.values())
        put = put_converted if self.complex_results else Put(self.name, places, bounds)
        return Direct(self.function, arguments, tuple(named), kind, places, bounds, put)

    def bind(self, r: Recorder, args: Sequence[Any], kwargs: Given) -> Arguments:
        """The arguments by parameter, without defaults; TypeError as Python's."""
        with asking:
            try:
                given = dict(signature(self.function).bind(*args, **kwargs).arguments)
            except TypeError:
                self.function(*[None] * len(args), **dict.fromkeys(kwargs))  # raises the same, in its own words
                raise
        for name, value in given.items():
            if name == self.out and is_out(value):
                continue
            if name in self.arrays and isinstance(value, (list, tuple)):
                given[name] = value if name in self.values and is_constant(value) else asarray(r, value)
            elif name not in self.values and not (name in self.arrays and isinstance(value, (ArrayRef, Scalar))):
                given[name] = static(r, value, f"`{name}` of {self.name}")
                if name in self.arrays and not isinstance(value, (*NUMBERS, type(None))):
                    raise r.refuse(f"a {name_of(value)} as `{name}` of {self.name}", "pass an array")
        return given


def in_complex(found: Described) -> Described:
    """The results with complex numbers in place of real ones."""
    leaves = [replace(leaf, dtype=np.result_type(leaf.dtype, np.complex64)) for leaf in found.leaves]
    return replace(found, leaves=tuple(leaves))


def is_out(x: Any) -> bool:
    """Whether an argument may be an array that the result goes to, or None."""
    return x is None or isinstance(x, ArrayRef)


@cache
def words_of_error(function: Callable[..., Any], arrays: int, number: float) -> str:
    """The words of the LinAlgError that a function raises for matrices that are full of a number; "" for none."""
    try:
        ask(function, *[np.zeros((2, 2)) + number] * arrays)
    except Raises as said:
        return str(said.error) if type(said.error) is np.linalg.LinAlgError else ""
    return ""


def in_type(r: Recorder, ref: ArrayRef, element: ScalarType) -> ArrayRef:
    """The array in an element type."""
    return ref if ref.element is element else copy_of(r, ref, element, k_order(ref))


def result_in_type(r: Recorder, made: ArrayRef, element: ScalarType) -> ArrayRef:
    """What a loop made in an element type; its axes of size 1, too, are where they were, for they may grow."""
    return made if made.element is element else copy_of(r, made, element, made.storage.order)


def moved(ref: ArrayRef, axis: int) -> ArrayRef:
    """A view with the axis as the last."""
    rest = [k for k in range(ref.ndim) if k != axis]
    return ref if axis == ref.ndim - 1 else ref.derive(lambda view: view.transpose([*rest, axis]))


@frozen()
class Bounded:
    """The shape of the buffer for a result, and the axis of which perhaps only the first part is used."""

    shape: tuple[Dim, ...]
    axis: int | None

    @staticmethod
    def of(shape: Sequence[Dim | UpTo]) -> Bounded:
        axes = [k for k, d in enumerate(shape) if isinstance(d, UpTo)]
        return Bounded(tuple(d.most if isinstance(d, UpTo) else d for d in shape), axes[0] if axes else None)

    def part(self, r: Recorder, ref: ArrayRef, counts: Iterator[ArrayRef]) -> ArrayRef:
        """An array of the elements that are used; `counts` gives their number."""
        axis = self.axis
        if axis is None:
            return ref
        index = r.emit(arith.IndexCast.of(r.load(next(counts), ()), INDEX))
        size = r.symbol(index, "found", 0)
        r.facts.assume_nonneg(sub(self.shape[axis], size), entry=False)
        used = ref.derive(lambda view: view.narrow(axis, 0, 1, size))
        return copy_of(r, used, ref.element, ref.storage.order)


def pass_on(r: Recorder, x: Any, ins: list[Value]) -> Any:
    """An argument with a `Passed` for each array and traced number in it, whose values are appended to `ins`."""
    if isinstance(x, (tuple, list)):
        return type(x)([pass_on(r, item, ins) for item in x])
    if isinstance(x, Buffer):
        return Handed(x.leaf)
    if not is_traced(x):
        return x
    check_origin(r, x)
    ins.append(r.read(x) if isinstance(x, ArrayRef) else r.index(x.expr) if isinstance(x, PyInt) else x.value)
    return Passed(len(ins) - 1, PYTHON_TYPES.get(type(x)))


def static(r: Recorder, value: Any, what: str) -> Any:
    """An argument that must be known while tracing: an int of the caller's becomes part of the key."""
    if isinstance(value, PyInt):
        return r.static_int(value.expr, what)
    if isinstance(value, PyBool) and r.entry_only(found := whole_number(r, value)):
        return bool(r.static_int(found, what))
    if isinstance(value, (tuple, list)):
        return type(value)([static(r, v, what) for v in value])
    if isinstance(value, (ArrayRef, NpScalar, PyFloat, PyComplex, PyBool)):
        raise r.refuse(f"{what} is only known at run time", "use a constant")
    if isinstance(value, Buffer) and is_matrix(value.of):
        return value
    if type(value).__module__.startswith("tracebuf."):  # a range, an iterator, a function of the traced code
        raise r.refuse(f"a {name_of(value)} as {what}", "use arrays and numbers")
    return value


class Number:
    """Stands for a number where shapes are looked at."""

    shape: tuple[Dim, ...] = ()
    ndim = 0


NUMBER = Number()


def is_constant(x: Any) -> bool:
    """Whether a number, or nested lists of numbers, are the same in each call."""
    return all(map(is_constant, x)) if isinstance(x, (list, tuple)) else type(x) in (int, float)


def dims(x: Any) -> Shape:
    """The shape of an array, of nested lists of constants, or of a number."""
    return x.shape if isinstance(x, ArrayRef) else np.shape(x) if isinstance(x, (list, tuple)) else ()


def like(name: str) -> Shapes:
    """The shape of an argument, for one result."""
    return lambda r, given: [dims(given[name])]


def reduced(r: Recorder, ref: Any, axis: Any, keepdims: Any) -> Shape:
    """An array's shape without these axes, or with size 1 in their place."""
    if not isinstance(ref, ArrayRef):
        return ()
    if isinstance(axis, (int, np.integer)):
        axes = axes_of(r, axis, ref.ndim, bools=True)
    else:
        axes = own_axes_of(r, axis, ref.ndim)
    return kept_axes(r, ref, axes, flag(r, keepdims))[0]


def record(
    r: Recorder, function: HostFunction, ins: Sequence[Value], fresh: Sequence[Fresh],
    written: Sequence[ArrayRef] = (), unread: Sequence[int] = (),
) -> list[ArrayRef]:  # fmt: skip
    """Records the op.

    `fresh` gives new arrays by element type, shape and order; `written` are arrays that the call writes in place, of
    which it does not read those whose index is in `unread`.
    """
    filters = tuple(f for _, found in r.filters for f in found)
    if filters and not isinstance(function.run, Attempt):
        function = replace(function, run=Filtered(function.run, filters), returns=0)
    if kinds := r.caught_here():
        return attempted(r, function, kinds, ins, fresh, written, unread)
    outs = [r.empty(element, shape, order) for element, shape, order in fresh]
    not_read = [*range(len(fresh)), *(len(fresh) + k for k in unread)]
    results = r.add(HostCall.of(function, ins, [*outs, *map(r.read, written)], not_read)).results
    for ref, value in zip(written, results[len(fresh) :], strict=True):
        r.store(ref, value)
    return [
        ArrayRef(r.new_storage(element, shape, order, value)) for (element, shape, order), value in zip(fresh, results)
    ]


def attempted(
    r: Recorder, function: HostFunction, kinds: tuple[type[BaseException], ...], ins: Sequence[Value],
    fresh: Sequence[Fresh], written: Sequence[ArrayRef], unread: Sequence[int],
) -> list[ArrayRef]:  # fmt: skip
    """Records a call within a `try` that catches exceptions of these classes."""
    kept = Kept(uuid4().hex)
    attempt = Attempt(function.run, kinds, len(fresh), kept.name)
    function = replace(function, run=attempt, returns=0, loop=None)
    with r.uncaught():
        *made, status = record(r, function, ins, [*fresh, (I64, (), ())], written, unread)
    number = r.load(status, ())
    for k, kind in enumerate(kinds):
        if (landing := r.landing_for(kind, kept)) is not None:
            is_other = r.emit(arith.CmpI.of("ne", number, r.constant(k + 1, I64)))
            landing.check(is_other, r.site(kind, kept, []), [])
    return made


def loaded(r: Recorder, ref: ArrayRef, leaf: HostResult) -> ArrayRef | NpScalar | PyInt | PyFloat:
    """A result as eager has it: an array, or the number that it holds."""
    if leaf.number is None:
        return ref
    if leaf.number is float:
        return PyFloat(number(r, ref).value)
    return PyInt(int_of(r, r.load(ref, ()))) if leaf.number is int else number(r, ref)


def number(r: Recorder, ref: ArrayRef) -> NpScalar:
    """The only element of an array."""
    return r.number(ref)
