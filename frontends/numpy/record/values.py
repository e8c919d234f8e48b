"""What names hold while a function is traced: storages and references to them, and traced scalars.

An array is a `Storage` (identity and, in the recorder, a current SSA value); a name holds an `ArrayRef`, one object per
Python array object: a storage and an affine `View` of it whose parameters are fixed (rules S1, S2), or a `GuardedRef`
where the array is path-dependent (rule S8). Scalars know whether they are Python's (weak) or NumPy's (strong), see NEP
50.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.call.arguments import Leaf
from tracebuf.frontends.numpy.record.cond import Cond, alike, ends, ways_of
from tracebuf.frozen import frozen
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, add, floordiv, mul, product, sub
from tracebuf.ir.types import C128, ELEMENTS, F64, I1, INDEX, ScalarType, row_major, scalar_type, strides_in_order
from tracebuf.ops.memory.memref import recast_shape

Env = dict[str, Any]
"""What the names of a scope hold."""


UNTOLD: Any = object()
"""The base of an array where it is not known."""
MAX_NDIM = 64
"""The most axes of an array of NumPy's."""


def check_ndim(shape: Sequence[Dim]) -> None:
    """Refuses an array with more axes than NumPy's have; where NumPy raises, its class and text differ by function."""
    if len(shape) > MAX_NDIM:
        reason = f"an array of {len(shape)} axes, where NumPy's have at most {MAX_NDIM}"
        raise UnsupportedError(reason, instead="keep to fewer axes")


class Storage:
    """One array's memory: element type, shape, axes outermost first; `arg` is the argument's index if it is the
    caller's.

    `writable` is False for a read-only argument (rule B2); `repeated` are an argument's axes of stride 0; `stored`
    becomes True with the first store. `picked`: it stands for one of several others, and is read only until it is known
    which (paths/alike). `of_object`: the object of a library's, and its attribute, of which it
    is a copy, which is not stored to.
    """

    __slots__ = (
        "_strides", "arg", "element", "name", "of_object", "order", "picked", "repeated", "shape", "stored", "writable",
    )  # fmt: skip

    def __init__(
        self, element: ScalarType, shape: Sequence[Dim], order: Sequence[int], arg: Leaf | None = None, name: str = ""
    ) -> None:
        check_ndim(shape)
        self.element, self.shape, self.order, self.arg, self.name = element, tuple(shape), tuple(order), arg, name
        self.writable, self.stored, self.picked = True, False, False
        self.of_object: tuple[Any, str] | None = None
        self.repeated: tuple[int, ...] = ()
        self._strides: tuple[Dim, ...] | None = None

    @property
    def strides(self) -> tuple[Dim, ...]:
        """The strides, in elements: those of a dense array unless others were set."""
        return strides_in_order(self.shape, self.order) if self._strides is None else self._strides

    @strides.setter
    def strides(self, strides: tuple[Dim, ...]) -> None:
        self._strides = strides


Groups = tuple[tuple[int, ...], ...]
"""Consecutive groups of axes."""


@frozen()
class Regrouping:
    """The elements of a view in C order under another shape (rule S5): one of the bases that an affine view can have.

    `old` and `new` group the axes of the view and of the new shape; group k of `old` becomes group k of `new`. The axes
    of a group are contiguous among themselves in memory. Equal groups of single axes change nothing.
    """

    view: View
    shape: tuple[Dim, ...]
    old: Groups
    new: Groups

    @property
    def merged(self) -> list[Dim]:
        """The number of elements in each group."""
        return [product(self.view.sizes[axis] for axis in group) for group in self.old]


@frozen()
class Diagonal:
    """The diagonal of two axes of equal size, as the last axis. Read only."""

    view: View
    axes: tuple[int, int]

    @property
    def shape(self) -> tuple[Dim, ...]:
        sizes = self.view.sizes
        return (*(n for k, n in enumerate(sizes) if k not in self.axes), sizes[self.axes[0]])


@frozen()
class Recast:
    """The memory of a view as elements of another type (`tracebuf.recast`): complex numbers as pairs of floats."""

    view: View
    element: ScalarType
    shape: tuple[Dim, ...]


@frozen()
class Windows:
    """The runs of `size` consecutive elements along an axis of a view, as a new last axis. Read only."""

    view: View
    axis: int
    size: Dim

    @property
    def shape(self) -> tuple[Dim, ...]:
        sizes = list(self.view.sizes)
        sizes[self.axis] = add(sub(sizes[self.axis], self.size), 1)
        return (*sizes, self.size)


@frozen()
class View:
    """The geometry of a view in its base: an offset and a stride per base dimension, and per view dimension its base
    dimension (None: a new axis) and its size.

    The base is the storage, or what `over` makes of another view.
    """

    offsets: tuple[Dim, ...]
    strides: tuple[Dim, ...]
    dims: tuple[int | None, ...]
    sizes: tuple[Dim, ...]
    over: Over | None = None

    def is_whole(self, shape: tuple[Dim, ...]) -> bool:
        """Whether the view is all of its base, a base of that shape."""
        n = len(shape)
        return (
            self.dims == tuple(range(n))
            and self.sizes == shape
            and self.offsets == (0,) * n
            and self.strides == (1,) * n
        )

    @property
    def steps(self) -> list[tuple[Dim, Dim]]:
        """The stride in the base and the size of each axis that is no new one."""
        return [(self.strides[d], n) for d, n in zip(self.dims, self.sizes) if d is not None]

    def transpose(self, axes: Sequence[int]) -> View:
        """The view with its axes permuted; axes of size 1 keep their strides among themselves, which moves no
        element."""
        ones = [k for k, a in enumerate(axes) if self.sizes[a] == 1 and self.dims[a] is not None]
        order = list(axes)
        for k, a in zip(ones, sorted(axes[k] for k in ones)):
            order[k] = a
        dims, sizes = tuple([self.dims[a] for a in order]), tuple([self.sizes[a] for a in axes])
        return View(self.offsets, self.strides, dims, sizes, self.over)

    def narrow(self, axis: int, start: Dim, step: Dim, size: Dim) -> View:
        """The view dimension `axis` restricted to the indices start, start + step ... (`size` of them; step 0 repeats
        one)."""
        d = self.dims[axis]
        if d is None:
            return self if size == 1 else self.rebased().narrow(axis, start, step, size)
        sizes = (*self.sizes[:axis], size, *self.sizes[axis + 1 :])
        offsets = (*self.offsets[:d], add(self.offsets[d], mul(self.strides[d], start)), *self.offsets[d + 1 :])
        strides = (*self.strides[:d], mul(self.strides[d], step), *self.strides[d + 1 :])
        return View(offsets, strides, self.dims, sizes, self.over)

    def drop(self, axis: int) -> View:
        """The view without dimension `axis` (its size is 1)."""
        d = self.dims[axis]
        strides = self.strides if d is None else (*self.strides[:d], 1, *self.strides[d + 1 :])
        dims, sizes = ((*x[:axis], *x[axis + 1 :]) for x in (self.dims, self.sizes))
        return View(self.offsets, strides, dims, sizes, self.over)

    def new_axis(self, axis: int) -> View:
        dims, sizes = (*self.dims[:axis], None, *self.dims[axis:]), (*self.sizes[:axis], 1, *self.sizes[axis:])
        return View(self.offsets, self.strides, dims, sizes, self.over)

    def rebased(self) -> View:
        """This view as the base of further views: its new axes then count as ordinary ones."""
        single = tuple((axis,) for axis in range(len(self.sizes)))
        return self.regrouped(self.sizes, single, single)

    def regrouped(self, shape: tuple[Dim, ...], old: Groups, new: Groups) -> View:
        """The elements of the view under another shape, by groups of axes (`Regrouping`)."""
        return whole(shape, Regrouping(self, shape, old, new))

    def diagonal(self, axes: tuple[int, int]) -> View:
        """The diagonal of two axes of equal size, as the last axis (`Diagonal`)."""
        over = Diagonal(self, axes)
        return whole(over.shape, over)

    def windows(self, axis: int, size: Dim) -> View:
        """The runs of `size` consecutive elements along an axis, as a new last axis (`Windows`)."""
        over = Windows(self, axis, size)
        return whole(over.shape, over)

    def recast(self, source: ScalarType, element: ScalarType) -> View:
        """The memory of the view as elements of another type (`Recast`)."""
        shape = recast_shape(self.sizes, source, element)
        return whole(shape, Recast(self, element, shape))

    def element(self, storage: Storage) -> ScalarType:
        """The element type of the view."""
        if self.over is None:
            return storage.element
        return self.over.element if isinstance(self.over, Recast) else self.over.view.element(storage)

    def place(self, axis: int, storage: Storage) -> tuple[int, ...] | None:
        """The rank of an axis by its stride in memory, comparable within a view (the least is outermost); None where
        the stride does not matter or is 0 (size 1, new axis, repeated)."""
        d = self.dims[axis]
        if d is None or self.sizes[axis] == 1 or self.strides[d] == 0:
            return None
        over = self.over
        if over is None:
            return None if d in storage.repeated else (storage.order.index(d),)
        if isinstance(over, Diagonal):
            kept = [k for k in range(len(over.view.sizes)) if k not in over.axes]
            found = [over.view.place(a, storage) for a in (over.axes if d == len(kept) else kept[d : d + 1])]
            return min((p for p in found if p is not None), default=None)
        if isinstance(over, Recast):  # the axis of pairs is the innermost
            return over.view.place(d, storage) if d < len(over.view.sizes) else (len(storage.shape),)
        if isinstance(over, Windows):
            return over.view.place(d if d < len(over.view.sizes) else over.axis, storage)
        k = next(k for k, group in enumerate(over.new) if d in group)
        outer = over.view.place(over.old[k][0], storage)
        return None if outer is None else (*outer, over.new[k].index(d))

    def memory_strides(self, storage: Storage) -> tuple[Dim, ...]:
        """The strides in memory, in elements; 0 for a new axis."""
        base = storage.strides if self.over is None else regrouped_strides(self.over, storage)
        return tuple(0 if d is None else mul(base[d], self.strides[d]) for d in self.dims)


Over = Regrouping | Diagonal | Recast | Windows
"""What a view may be based on other than a storage."""


def regrouped_strides(over: Over, storage: Storage) -> tuple[Dim, ...]:
    """The strides in memory of the base of an affine view."""
    inner = over.view.memory_strides(storage)
    if isinstance(over, Diagonal):
        a, b = over.axes
        return (*(s for k, s in enumerate(inner) if k not in over.axes), add(inner[a], inner[b]))
    if isinstance(over, Windows):
        return (*inner, inner[over.axis])
    if isinstance(over, Recast):
        if len(over.shape) > len(inner):
            return (*(mul(s, 2) for s in inner), 1)
        return inner if len(over.shape) == len(inner) else tuple(floordiv(s, 2) for s in inner[:-1])
    strides: list[Dim] = []
    for old, new in zip(over.old, over.new, strict=True):
        strides += [mul(inner[old[-1]], n) for n in row_major([over.shape[a] for a in new])]
    return tuple(strides)


def whole(shape: tuple[Dim, ...], over: Over | None = None) -> View:
    """The view that covers all of a storage, or all of what `over` makes of another view."""
    n = len(shape)
    return View((0,) * n, (1,) * n, tuple(range(n)), shape, over)


def in_turn(steps: Sequence[Callable[[View], View]]) -> Callable[[View], View]:
    """One step that applies several steps on views in order."""
    return lambda view: reduce(lambda made, step: step(made), steps, view)


class ArrayRef:
    """A reference: what a name bound to an array holds. Identity is the Python object's identity; `origin`, where it is
    set, says which object it is instead (paths/identity). `base`: the array whose memory it is a view of, None where it
    owns it; an array of the caller's itself."""

    __slots__ = ("base", "origin", "read_only", "storage", "view")

    def __init__(self, storage: Storage, view: View | None = None, read_only: bool = False) -> None:
        self.storage, self.view = storage, view if view is not None else whole(storage.shape)
        self.read_only = read_only
        self.origin: object = None
        self.base: Any = UNTOLD

    def at(self, indices: Mapping[int, Dim]) -> ArrayRef:
        """The part of the array at these indices of some of its axes, which are dropped."""

        def step(view: View) -> View:
            for axis in sorted(indices, reverse=True):
                view = view.narrow(axis, indices[axis], 1, 1).drop(axis)
            return view

        return self.derive(step)

    def __repr__(self) -> str:
        """For messages, which know nothing of the trace."""
        return "array(...)"

    def derive(self, step: Callable[[View], View], read_only: bool = False) -> ArrayRef:
        """A new array object that is a view of this one. `step` depends on nothing but the view that it is given."""
        view = step(self.view)
        check_ndim(view.sizes)
        made = ArrayRef(self.storage, view, self.read_only or read_only)
        made.base = self if self.base is None else self.base
        return made

    @property
    def shape(self) -> tuple[Dim, ...]:
        return self.view.sizes

    @property
    def ndim(self) -> int:
        return len(self.view.dims)

    @property
    def element(self) -> ScalarType:
        return self.view.element(self.storage)

    @property
    def dtype(self) -> np.dtype:
        return self.element.dtype

    @property
    def is_whole(self) -> bool:
        return self.view.over is None and self.view.is_whole(self.storage.shape)

    @property
    def strides(self) -> tuple[Dim, ...]:
        """The strides in memory, in elements."""
        return self.view.memory_strides(self.storage)

    def same(self, other: ArrayRef) -> bool:
        """Whether two references are to the same elements on each path."""
        return alike(self, other, same_view)

    def same_object(self, other: ArrayRef) -> bool:
        """Whether two references are to one array object on each path, not only to the same elements."""
        return alike(self, other, lambda a, b: same_view(a, b) and (a.origin or a) is (b.origin or b))

    def stride_rank(self, axis: int) -> tuple[int, ...] | None:
        """The rank of an axis by its stride in memory (see `View.place`)."""
        return self.view.place(axis, self.storage)

    def is_repeated(self, axis: int) -> bool:
        """Whether the axis is longer than 1 and of stride 0 (what is empty repeats nothing)."""
        sizes = self.view.sizes
        return sizes[axis] != 1 and self.strides[axis] == 0 and 0 not in sizes


def of_one_form(a: ArrayRef, b: ArrayRef) -> bool:
    """Whether a reference may be to either array, depending on the path: of one element type and order of axes."""
    return a.element is b.element and a.ndim == b.ndim and ranks_of(a) == ranks_of(b)


def ranks_of(a: ArrayRef) -> tuple[int | None, ...]:
    """The places of an array's axes in memory, the outermost first, as numbers that other arrays' compare with; None
    for an axis that is repeated, or may be any. There is but one for a single axis."""
    if a.ndim == 1:
        return (None if a.is_repeated(0) else 0,)
    ranks = [a.stride_rank(k) for k in range(a.ndim)]
    known = sorted({rank for rank in ranks if rank is not None})
    return tuple(None if rank is None else known.index(rank) for rank in ranks)


def same_view(a: ArrayRef, b: ArrayRef) -> bool:
    """Whether two references are to the same elements of one storage."""
    return a.storage is b.storage and a.view == b.view and a.read_only == b.read_only


class GuardedRef(Cond[ArrayRef], ArrayRef):
    """`condition ? arms[0] : arms[1]`: the value of a name whose array is path-dependent (rule S8).

    The arms have one element type and one order of axes; `sizes` is their common shape. Reads and stores through it are
    an `scf.if` with the access in each branch. `leaving`: the arm of a path that has left the loop, if there is one.
    `joined`: sizes, with what each is on either path; a view of the reference keeps them.
    """

    def __init__(
        self, condition: Value, arms: tuple[ArrayRef, ArrayRef], sizes: Sequence[Dim], leaving: int | None = None,
        joined: Sequence[tuple[Dim, Dim, Dim]] | None = None,
    ) -> None:  # fmt: skip
        ways = (arm.ways if isinstance(arm, GuardedRef) else 1 for arm in arms)
        super().__init__(condition, *arms, ways_of(*ways), leaving)
        own = zip(sizes, arms[0].shape, arms[1].shape, strict=True)
        self.joined = [x for x in own if not x[0] == x[1] == x[2]] if joined is None else joined
        self.sizes = tuple(sizes)
        self.read_only = arms[0].read_only or arms[1].read_only
        self.origin, self.base = None, UNTOLD

    def of(self, condition: Value, then: ArrayRef, otherwise: ArrayRef) -> GuardedRef:
        return GuardedRef(condition, (then, otherwise), self.sizes, self.leaving, self.joined)

    def derive(self, step: Callable[[View], View], read_only: bool = False) -> ArrayRef:
        first, second = (arm.derive(step, read_only) for arm in self.arms)
        return GuardedRef(self.condition, (first, second), step(whole(self.sizes)).sizes, self.leaving, self.joined)

    @property
    def shape(self) -> tuple[Dim, ...]:
        return self.sizes

    @property
    def ndim(self) -> int:
        return len(self.sizes)

    @property
    def element(self) -> ScalarType:
        return self.arms[0].element

    @property
    def is_whole(self) -> bool:
        return False

    @property
    def strides(self) -> tuple[Dim, ...]:
        first, second = (arm.strides for arm in self.arms)
        if first != second:
            raise UnsupportedError(
                "this array's strides depend on the path taken", instead="make a copy on both paths: b = a.copy()"
            )
        return first

    def is_repeated(self, axis: int) -> bool:
        return any(arm.is_repeated(axis) for arm in self.arms)

    def stride_rank(self, axis: int) -> tuple[int, ...] | None:
        return self.arms[0].stride_rank(axis)


def storages_of(ref: ArrayRef) -> list[Storage]:
    """The storages that a reference may refer to."""
    return [end.storage for end in ends(ref)] if isinstance(ref, Cond) else [ref.storage]


EITHER = "int or float"
"""The `python` of a kind that may be a Python int or a Python float."""


@frozen()
class Kind:
    """What a number is besides its value: Python's int, float, complex or bool, or np with an element type."""

    name: str
    element: ScalarType
    python: str = ""
    """For np: the type of the Python number that eager may have instead (or EITHER)."""

    @property
    def types(self) -> tuple[ScalarType, ...]:
        """The types of the SSA values that stand for the number: its own, and before it the flag whether it is
        Python's, where that depends on the path."""
        return (I1, self.element) if self.python else (self.element,)

    @property
    def words(self) -> str:
        """For messages."""
        return f"np.{self.element.dtype}" if self.name == "np" else f"{'an' if self.name == 'int' else 'a'} {self.name}"


INT, FLOAT, COMPLEX, BOOL = Kind("int", INDEX), Kind("float", F64), Kind("complex", C128), Kind("bool", I1)


class Scalar:
    """A traced number. One of Python's is weak (NEP 50)."""

    __slots__ = ()

    @property
    def kind(self) -> Kind:
        return KINDS[type(self)]

    def __repr__(self) -> str:
        """For messages, which know nothing of the trace."""
        return f"{type(stand_in(self)).__name__}(...)"


class PyInt(Scalar):
    """A Python int known as an expression over sizes, integer arguments and loop variables."""

    __slots__ = ("expr",)

    def __init__(self, expr: Dim) -> None:
        self.expr = expr


class PyFloat(Scalar):
    """A Python float: an f64 value."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class PyComplex(Scalar):
    """A Python complex number: a complex128 value."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class PyBool(Scalar):
    """A Python bool: an i1 value. `nonneg`, where known, is an expression that is >= 0 exactly if it is True."""

    __slots__ = ("nonneg", "value")

    def __init__(self, value: Value, nonneg: Dim | None = None) -> None:
        self.value, self.nonneg = value, nonneg


@frozen()
class Unsure:
    """Where `flag` (an i1) is True, eager has a Python number here, of type `kind` (int, float, complex, bool or
    EITHER); otherwise a NumPy one."""

    flag: Value
    kind: str


UNSURE_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,), "float": (float,), "complex": (complex,), "bool": (bool,), EITHER: (int, float),
}  # fmt: skip
"""By the `kind` of `Unsure`: the types that the Python number may have."""


class NpScalar(Scalar):
    """A NumPy scalar (np.float64 ...): strong. `python`: on some paths eager has a Python number here (a loop does not
    run, or max picks it), so it may only be used where both agree."""

    __slots__ = ("element", "python", "value")

    def __init__(self, value: Value, element: ScalarType, python: Unsure | None = None) -> None:
        self.value, self.element, self.python = value, element, python

    @property
    def kind(self) -> Kind:
        return Kind("np", self.element, self.python.kind if self.python else "")

    @property
    def dtype(self) -> np.dtype:
        return self.element.dtype

    @property
    def maybe_python(self) -> bool:
        return self.python is not None


PYTHON_TYPES: dict[type, type] = {
    PyInt: int, int: int, PyFloat: float, float: float, PyComplex: complex, complex: complex, PyBool: bool, bool: bool,
}  # fmt: skip
"""By class of a Python number, traced or not: its type in eager."""
_BY_TYPE = {int: INT, float: FLOAT, complex: COMPLEX, bool: BOOL}
KINDS = {kind: _BY_TYPE[python] for kind, python in PYTHON_TYPES.items()}
"""By class of a Python number, traced or not: its kind."""


def kind_of(x: Any) -> Kind | None:
    """The kind of a number, traced or not; None for anything else, and for what 64 bits do not hold."""
    if isinstance(x, NpScalar):
        return x.kind
    if isinstance(x, np.generic):
        return Kind("np", scalar_type(x.dtype)) if x.dtype in ELEMENTS else None
    return KINDS.get(type(x)) if type(x) is not int or -(2**63) <= x < 2**63 else None


Kinds = tuple[Kind | None, ...]
"""What a value may be: numbers of these kinds, or None."""


def kinds_of(x: Any) -> Kinds | None:
    """The kinds of a value that is a number or None on each path; None for any other value."""
    found = dict[Kind | None, None]()
    for end in ends(x):
        kind = kind_of(end)
        if kind is None and end is not None:
            return None
        found[kind] = None
    return tuple(found)


def types_of(kinds: Kinds) -> list[ScalarType]:
    """The types of the values that are carried: a flag for each kind but the last, then the numbers."""
    return [I1] * (len(kinds) - 1) + [t for kind in kinds if kind is not None for t in kind.types]


def words_of(kinds: Kinds) -> str:
    """For messages."""
    return " or ".join("None" if kind is None else kind.words for kind in kinds)


def in_order(kinds: Kinds) -> Kinds:
    """The kinds, each once, in one order."""
    names = {kind: "" if kind is None else f"{kind.name} {kind.element.name}" for kind in kinds}
    return tuple(sorted(names, key=names.__getitem__))


def is_traced(value: object) -> bool:
    return isinstance(value, (ArrayRef, Scalar))


NUMBERS = (bool, int, float, complex, np.generic)
"""Numbers of the program's own, known while tracing."""
PLAIN = frozenset(map(id, (ArrayRef, NpScalar, PyInt, PyFloat, PyComplex, PyBool, bool, int, float, complex)))
"""By identity, as a class of the user's may have a hash of its own: the classes of `is_plain`."""


def is_plain(x: object) -> bool:
    """Whether a value is an array or a number whose operators are NumPy's or Python's own, whatever else the program
    holds."""
    return id(type(x)) in PLAIN


def stand_in(x: Scalar) -> bool | int | float | complex | np.generic:
    """A concrete number of the type that a traced scalar has in eager Python."""
    zero: bool | int | float | complex | np.generic
    zero = x.dtype.type(0) if isinstance(x, NpScalar) else PYTHON_TYPES[type(x)]()
    return zero


def axis_order(operands: Sequence[tuple[ArrayRef, Sequence[int | None]]], ndim: int) -> tuple[int, ...]:
    """The axes of a fresh result, outermost first (rule S6: K-order, as nditer's npyiter_find_best_axis_ordering
    sorts them).

    Each operand comes with the operand axis at each result axis (None: broadcast there).
    """
    ranks = [[None if a is None else ref.stride_rank(a) for a in axes] for ref, axes in operands]
    perm: list[int] = []  # innermost first
    for axis in reversed(range(ndim)):
        place = len(perm)
        for i in reversed(range(len(perm))):
            ambiguous, swap = True, False
            for rank in ranks:
                r0, r1 = rank[axis], rank[perm[i]]
                if r0 is not None and r1 is not None:
                    if r1 >= r0:  # the other axis is further in: C order remains
                        swap = False
                    elif ambiguous:
                        swap = True
                    ambiguous = False
            if not ambiguous:
                if not swap:
                    break
                place = i
        perm.insert(place, axis)
    return tuple(reversed(perm))
