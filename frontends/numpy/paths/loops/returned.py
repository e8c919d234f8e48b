"""What a function of the program that calls itself gives back, at every depth: its parts, each as the values that its
calls return.

An array is an argument of the call, another part of one, one of before the first call, or one that the function makes.
Where only the run time knows which, the number of it is returned too, and the caller has a path-dependent array, as
after an `if`: so it is the object that it is in Python, and what is stored to it is seen where it is in NumPy. What the
function makes becomes the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any

from tracebuf.frontends.numpy.arrays.new_arrays import k_order
from tracebuf.frontends.numpy.numbers.lattice import from_values, parts_of, rebuild, to_values
from tracebuf.frontends.numpy.paths.identity import identity, with_identity
from tracebuf.frontends.numpy.paths.joins import one_or_other, pairable, plain
from tracebuf.frontends.numpy.paths.leaving import parameters
from tracebuf.frontends.numpy.paths.loops.alternatives import from_alternatives, to_alternatives
from tracebuf.frontends.numpy.record.cond import Cond, ends, narrow
from tracebuf.frontends.numpy.record.recorder import STEP_UNKNOWN, Recorder
from tracebuf.frontends.numpy.record.sizes import USUAL
from tracebuf.frontends.numpy.record.values import ArrayRef, Kinds, View, types_of
from tracebuf.frozen import frozen
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, symbols
from tracebuf.ir.types import INDEX, TensorType
from tracebuf.ops.scalars import arith

Path = tuple[str, int]
"""A part of an argument: the parameter, and the number of the leaf of what it holds."""
Place = Any
"""Which array a result is: the path of an argument that it is; one of around the function (`Around`); the path, or the
storage, that it is a part of, with the axes of that part; None where it is made."""


@frozen()
class Around:
    """An array object of around the function."""

    of: ArrayRef


@frozen()
class Numbers:
    """A part of a result that is a number, or None: its kinds."""

    kinds: Kinds

    @property
    def types(self) -> list[Any]:
        """The types of the values that stand for it."""
        return types_of(self.kinds)

    def values(self, r: Recorder, x: Any, place: Callable[[ArrayRef], Place]) -> list[Value]:
        """A part as the values that stand for it."""
        kind = self.kinds[0] if len(self.kinds) == 1 else None
        if kind is None:
            return to_alternatives(r, x, self.kinds)
        if isinstance(x, Cond):
            first, second = (self.values(r, arm, place) for arm in x.arms)
            return [r.emit(arith.Select.of(x.condition, a, b)) for a, b in zip(first, second)]
        return to_values(r, x, kind)

    def made(self, r: Recorder, values: Sequence[Value], given: Mapping[Path, ArrayRef]) -> Any:
        """The part that these values stand for, of a call that is given these arguments."""
        kind = self.kinds[0] if len(self.kinds) == 1 else None
        return from_values(r, values, kind, "result") if kind else from_alternatives(r, values, self.kinds, "result")


@frozen(eq=False)
class Argument:
    """An array that is an argument of the call, or one of around the function, the same object."""

    like: ArrayRef
    place: Path | Around
    types: tuple[Any, ...] = ()

    def values(self, r: Recorder, x: ArrayRef) -> list[Value]:
        return []

    def absent(self, r: Recorder) -> list[Value]:
        """The values where the result is another array."""
        return []

    def made(self, r: Recorder, values: Sequence[Value], given: Mapping[Path, ArrayRef]) -> ArrayRef:
        return self.place.of if isinstance(self.place, Around) else given[self.place]


@frozen(eq=False)
class Part:
    """A part of an array of before the call, or of the argument of that path: which of the view's offsets and sizes
    differ. `of_elements`: the view is of the argument's elements, not of its memory."""

    like: ArrayRef
    varies: tuple[bool, ...]
    path: Path | None = None
    of_elements: bool = False

    @property
    def types(self) -> list[Any]:
        return [INDEX] * sum(self.varies)

    def values(self, r: Recorder, x: ArrayRef) -> list[Value]:
        return [r.index(d) for d, v in zip(parameters(x.view), self.varies) if v]

    def absent(self, r: Recorder) -> list[Value]:
        return [r.index(0) for v in self.varies if v]

    def made(self, r: Recorder, values: Sequence[Value], given: Mapping[Path, ArrayRef]) -> ArrayRef:
        of = self.like
        if self.of_elements and self.path is not None:
            part = with_parameters(r, of, self.varies, values).view
            return given[self.path].derive(partial(narrowed, part=part))
        if self.path is not None:
            of = ArrayRef(given[self.path].storage, of.view, of.read_only)
        return with_parameters(r, of, self.varies, values)


@frozen(eq=False)
class Fresh:
    """An array that the function makes, dense with its axes in this order, or (`in_parts`) a part of one: which of its
    sizes differ, and of that part's offsets, sizes and (positive) steps."""

    like: ArrayRef
    order: tuple[int, ...]
    varies: tuple[bool, ...]
    in_parts: bool = False

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The sizes of what is returned."""
        return self.like.storage.shape if self.in_parts else self.like.shape

    @property
    def types(self) -> list[Any]:
        return [*[INDEX] * sum(self.varies), TensorType(tuple(self.shape), self.like.element)]

    def dims(self, x: ArrayRef) -> tuple[Dim, ...]:
        """Of an array like it what may differ."""
        return (*x.storage.shape, *geometry(x.view)) if self.in_parts else x.shape

    def any_size(self) -> Fresh:
        """The same where its sizes may differ."""
        steps = len(self.like.view.strides) if self.in_parts else 0
        kept = len(self.varies) - steps
        return replace(self, varies=(*[True] * kept, *self.varies[kept:]))

    def values(self, r: Recorder, x: ArrayRef) -> list[Value]:
        array = r.value(x.storage) if self.in_parts else r.read(x)
        return [*(index_of(r, d) for d, v in zip(self.dims(x), self.varies, strict=True) if v), array]

    def absent(self, r: Recorder) -> list[Value]:
        steps = len(self.like.view.strides) if self.in_parts else 0
        numbers = [0] * (len(self.varies) - steps) + [1] * steps
        none = r.placeholder(self.like.element, self.shape, self.order, False)
        return [*(r.index(n) for n, v in zip(numbers, self.varies) if v), none]

    def sized(self, r: Recorder, values: Sequence[Value]) -> list[Value]:
        """The values, where the array has the sizes that are among them."""
        rest = iter(values)
        shape: list[Dim] = [r.symbol(next(rest), "size", 0, USUAL) if v else d for d, v in zip(self.shape, self.varies)]
        values[-1].type = r.tensor_type(shape, self.like.element)
        return list(values)

    def made(self, r: Recorder, values: Sequence[Value], given: Mapping[Path, ArrayRef]) -> ArrayRef:
        value = self.sized(r, values)[-1]
        shape = value.tensor_type.shape
        storage = r.new_storage(self.like.element, shape, self.order, value)
        if not self.in_parts:
            return ArrayRef(storage)
        sizes, of_part = self.varies[: len(shape)], self.varies[len(shape) :]
        return with_parameters(r, ArrayRef(storage, self.like.view), of_part, values[sum(sizes) : -1])


Arm = Argument | Part | Fresh


@frozen(eq=False)
class Arrays:
    """A part of a result that is an array: what it may be. The first value is the number of what it is, where there
    is more than one."""

    arms: Mapping[Place, Arm]

    @property
    def types(self) -> list[Any]:
        own = [t for arm in self.arms.values() for t in arm.types]
        return [INDEX, *own] if len(self.arms) > 1 else own

    def values(self, r: Recorder, x: Any, place: Callable[[ArrayRef], Place]) -> list[Value]:
        """The values that stand for one array, or one or another."""
        if isinstance(x, Cond):
            condition = x.condition
            found = r.either(condition, lambda side: self.values(r, narrow(x, condition, side), place))
            which, own = self.split(found)
            return [*which, *(v for arm, of in own for v in (arm.sized(r, of) if isinstance(arm, Fresh) else of))]
        mine = place(x)
        which = [r.index(list(self.arms).index(mine))] if len(self.arms) > 1 else []
        each = [arm.values(r, x) if key == mine else arm.absent(r) for key, arm in self.arms.items()]
        return [*which, *(v for values in each for v in values)]

    def split(self, values: Sequence[Value]) -> tuple[Sequence[Value], list[tuple[Arm, Sequence[Value]]]]:
        """The number, if there is one, and the values of each that it may be."""
        n = int(len(self.arms) > 1)
        which, rest = values[:n], iter(values[n:])
        return which, [(arm, [next(rest) for _ in arm.types]) for arm in self.arms.values()]

    def made(self, r: Recorder, values: Sequence[Value], given: Mapping[Path, ArrayRef]) -> ArrayRef:
        which, own = self.split(values)
        made = [arm.made(r, of, given) for arm, of in own]
        found = made[-1]
        for k in reversed(range(len(made) - 1)):
            found = one_of_two(r, r.emit(arith.CmpI.of("eq", which[0], r.index(k))), made[k], found)
        return found


def one_of_two(r: Recorder, condition: Value, a: ArrayRef, b: ArrayRef) -> ArrayRef:
    """`a` where the condition holds, else `b`: parts of one array are one part, which stands for either object."""
    if not (plain(a) and plain(b) and a.storage is b.storage and pairable(a, b)):
        found = one_or_other(r, condition, a, b)
        assert isinstance(found, ArrayRef)
        return found
    sides = [[r.index(d) for d in parameters(x.view)] for x in (a, b)]
    chosen = [r.emit(arith.Select.of(condition, x, y)) for x, y in zip(*sides)]
    varies = [not r.facts.equal(x, y) for x, y in zip(parameters(a.view), parameters(b.view))]
    joined = with_parameters(r, a, varies, [v for v, varied in zip(chosen, varies) if varied])
    return with_identity(joined, Cond(condition, identity(a), identity(b)))


@frozen(eq=False)
class Result:
    """What a function returns at every depth: a value of the same structure, and its parts."""

    like: Any
    parts: tuple[Numbers | Arrays, ...]

    def values(self, r: Recorder, x: Any, place: Callable[[ArrayRef], Place]) -> list[Value]:
        """The result as the values that stand for it; `place` says of each array which it is."""
        return [v for part, leaf in zip(self.parts, parts_of(x)) for v in part.values(r, leaf, place)]

    @property
    def types(self) -> list[Any]:
        return [t for part in self.parts for t in part.types]

    def made(self, r: Recorder, values: Sequence[Value], given: Mapping[Path, Any]) -> Any:
        """The result that these values stand for, of a call that is given these arguments."""
        rest = iter(values)
        return rebuild(self.like, iter([p.made(r, [next(rest) for _ in p.types], given) for p in self.parts]))


def narrowed(view: View, part: View) -> View:
    """The part of a view that `part` is of a whole array."""
    for axis, (start, step, size) in enumerate(zip(part.offsets, part.strides, part.sizes, strict=True)):
        view = view.narrow(axis, start, step, size)
    return view


def geometry(view: View) -> tuple[Dim, ...]:
    """The offsets, sizes and steps of a view."""
    return (*parameters(view), *view.strides)


def with_parameters(r: Recorder, ref: ArrayRef, varies: Sequence[bool], values: Sequence[Value]) -> ArrayRef:
    """An array that is another part: where they vary, the offsets, sizes and (positive) steps are these values."""
    view, rest, n = ref.view, iter(values), len(ref.view.offsets)
    least = [0] * len(parameters(view)) + [1] * n
    made: list[Dim] = [
        r.symbol(next(rest), "part", lo, USUAL) if v else d
        for d, v, lo in zip_longest(geometry(view), varies, least, fillvalue=False)
    ]
    offsets, sizes, strides = tuple(made[:n]), tuple(made[n:-n] if n else made), tuple(made[-n:] if n else ())
    return ArrayRef(ref.storage, replace(view, offsets=offsets, sizes=sizes, strides=strides), ref.read_only)


def index_of(r: Recorder, d: Dim) -> Value:
    """A size, offset or step as an index; refused where it is not known here, as steps are after an `if`."""
    if not isinstance(d, int) and not (r.in_scope(d) and r.func.symbols.keys() >= set(symbols(d))):
        raise r.refuse(*STEP_UNKNOWN)
    return r.index(d)


def order_of(x: ArrayRef) -> tuple[int, ...]:
    """The axes of an array in memory, outermost first."""
    return x.storage.order if x.is_whole else k_order(x)


def is_array(x: Any) -> bool:
    """Whether a part is an array, or one array or another."""
    return all(isinstance(end, ArrayRef) for end in ends(x))
