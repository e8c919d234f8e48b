"""The recorder: appends ops to regions, and tracks the current SSA value of each storage.

Reading a storage inside a loop makes an optimistic loop-carried value at the first touch; what comes back unchanged is
dropped when the loop is closed (rule S10).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tracebuf.frontends.numpy.call.talk import Filter
from tracebuf.frontends.numpy.record.allocatable import require_memory
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.cond import ends
from tracebuf.frontends.numpy.record.growing import Growth
from tracebuf.frontends.numpy.record.heap import Heap
from tracebuf.frontends.numpy.record.raises import DeadEnd
from tracebuf.frontends.numpy.record.regions import ENDED, Frame
from tracebuf.frontends.numpy.record.sizes import Sizes
from tracebuf.frontends.numpy.record.values import (
    ArrayRef,
    Diagonal,
    Groups,
    GuardedRef,
    NpScalar,
    Recast,
    Regrouping,
    Storage,
    View,
    Windows,
)
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.dims import Dim, Sym, add, mul, sub, sym
from tracebuf.ir.func import Func
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import INDEX, ScalarType, TensorType
from tracebuf.location import Location
from tracebuf.ops.arrays import tensor
from tracebuf.ops.arrays.recast import Recast as RecastOp
from tracebuf.ops.arrays.windows import ExtractWindows
from tracebuf.ops.control import scf

R = TypeVar("R")
STEP_UNKNOWN = "this view's step is only known where the view was made", "make the slice again where it is used"


class Recorder(Sizes):
    """Records one `Func`. `hints` are the traced call's values of the size symbols."""

    def __init__(self, func: Func, hints: Mapping[Sym, int]) -> None:
        super().__init__(func, hints)
        self.given: list[ArrayRef] = []
        """The caller's own array objects."""
        self.unbound: set[str] = set()
        """Names that were read where nothing is bound to them."""
        self.watched: ByIdentity[ArrayRef, None] = ByIdentity()
        self.changed_lists: list[Any] = []
        """The lists of run-time length that were changed, one after another."""
        self.compared: ByIdentity[Any, None] = ByIdentity()
        """The array objects that `is` was asked about."""
        """What names hold at the heads of loops, where more than the name tells which object it is."""
        self.ordered_sets: ByIdentity[Any, None] = ByIdentity()
        """Sets of known items that come in the order in which eager's do, though not in that of their numbers."""
        self.makes_generators = False
        """Whether the program makes random generators (functions/host/draws), or draws from Python's
        (formulas/twister)."""
        self.calls_users = False
        """Whether the program calls functions of the user's (functions/host/declared, callbacks)."""
        self.heap = Heap()
        self.growth = Growth()
        self.held: Any = None
        """The arrays in growing lists (arrays/held); None where these hold none."""
        self.callees: list[Func] = []
        """The functions that the program calls (interpreter/recursion)."""
        self.loops: list[Any] = []
        """What is said of the loops (paths/loops/report)."""
        self.filters: list[tuple[Frame, list[Filter]]] = []
        """For each `with warnings.catch_warnings()` that is being traced: where it began, and the filters set in it."""
        self.locked: list[str] = []
        """The locks that the `with` statements being traced take."""
        self.errstates = 0
        """In how many `with np.errstate(...)`, which are not entered."""
        self.printing: list[dict[str, Any]] = []
        """The options of each `with np.printoptions(...)` that is being traced."""
        self.maps: Any = None
        """Which arguments are memmaps (arrays/memmaps); None where none is."""
        self.masks: set[Location] = set()
        """Where a mask is made of numbers (`Traced.masks`)."""
        self.order_is_open = False
        """Whether only the run time knows the order in memory of an array that was joined (`Traced.order_is_open`)."""
        self.warns = False
        """Whether NumPy's floating-point warnings are to be given (`Options.warnings`)."""
        self.longlong = ""
        """Whether arrays of longlong are arguments ("given"), or are made ("made"; numbers/longlongs)."""
        self.keep_text: Any = None
        """Records that a text is kept which a loop adds to (interpreter/talk)."""
        self.outer_values: Callable[[], Iterable[Any]] = tuple
        self.asked: Callable[[ArrayRef, str], Any] = lambda x, what: None
        """What the call is asked about the memory of an array of the caller's; None where it cannot be."""
        """What names of the functions around the one being traced hold."""

    # -- storages
    def new_storage(
        self, element: ScalarType, shape: Sequence[Dim], order: Sequence[int], value: Value, name: str = ""
    ) -> Storage:
        """A storage that begins with `value`, or with no contents yet."""
        storage = Storage(element, shape, order, name=name)
        self.frame.values[storage] = value
        self.frame.locals.add(storage)
        if self.held is not None:
            self.held.note_made(self, storage)
        return storage

    def empty(self, element: ScalarType, shape: Sequence[Dim], order: Sequence[int] | None = None) -> Value:
        """A new tensor of undefined contents; raises what NumPy raises where no memory holds it."""
        require_memory(self, shape, element)
        sizes, type_ = [*map(self.mixed, shape)], self.tensor_type(shape, element)
        return self.emit(tensor.Empty.of(type_, sizes, order=None if order is None else tuple(order)))

    def placeholder(
        self, element: ScalarType, shape: Sequence[Dim], order: Sequence[int], constant: bool = True
    ) -> Value:
        """A placeholder tensor that is never read: without elements, except that constant sizes stay (if
        `constant`)."""
        none = self.symbol(self.constant(0, INDEX), "none", 0, 0)
        made = self.empty(element, [d if constant and isinstance(d, int) else none for d in shape], order)
        if any(d is none for d in made.tensor_type.shape) and made.defining_op is not None:
            made.defining_op.attrs["absent"] = True
        return made

    def value(self, storage: Storage) -> Value:
        """The current SSA value of a storage, in the region being recorded."""
        return self._value_in(self.frame, storage)

    def _value_in(self, frame: Frame, storage: Storage) -> Value:
        while (found := frame.values.get(storage)) is None and frame.kind == "branch":
            assert frame.parent is not None, "a branch of nothing"
            frame = frame.parent
        if found is not None:
            return found
        if frame.parent is None:
            raise self.refuse(*ENDED)
        phi = frame.block.add_arg(self._value_in(frame.parent, storage).type)
        frame.phis[storage] = frame.values[storage] = phi
        return phi

    def slice(self, view: View) -> Slice:
        """The geometry of a view in its base (offsets, sizes, strides), as SSA values."""
        sizes: list[Dim] = [1] * len(view.offsets)
        for d, size in zip(view.dims, view.sizes):
            if d is not None:
                sizes[d] = size
        if not all(isinstance(s, int) or self.in_scope(s) for s in view.strides):
            raise self.refuse(*STEP_UNKNOWN)
        offsets, numbers, steps = (tuple(map(self.mixed, part)) for part in (view.offsets, sizes, view.strides))
        return Slice(offsets, numbers, steps, view.dims)

    def tensor_type(self, shape: Sequence[Dim], element: ScalarType) -> TensorType:
        """The tensor type of a shape and an element type; symbolic sizes are dynamic."""
        return TensorType(tuple(map(self.facts.canon, shape)), element)

    def read(self, ref: ArrayRef) -> Value:
        """The current elements of a reference, as an SSA value."""
        if isinstance(ref, GuardedRef):
            value = self.on_either(ref, self.read)
            value.type = self.tensor_type(ref.shape, ref.element)
            return value
        return self._read(ref.storage, ref.view)

    def _read(self, storage: Storage, view: View) -> Value:
        base = self._base(storage, view)
        if view.is_whole(storage.shape if view.over is None else view.over.shape):
            return base
        s = self.slice(view)
        type_ = self.tensor_type(view.sizes, view.element(storage))
        return self.once(("extract", base, s), lambda: tensor.ExtractSlice.of(base, s, type_, self.loc))

    def once(self, key: object, make: Callable[[], Op]) -> Value:
        """The value that `make` records, recorded once per region."""
        return self.cached(key) or self.remember(key, self.emit(make()))

    def _base(self, storage: Storage, view: View) -> Value:
        """The base of a view: the storage's value, or another view of it under another shape."""
        over = view.over
        if over is None:
            return self.value(storage)
        source = self._read(storage, over.view)
        if isinstance(over, Diagonal):
            return self.once((over.axes, source), lambda: tensor.ExtractDiagonal.of(source, over.axes, self.loc))
        if isinstance(over, Windows):
            size, rest = self.index(over.size), (over.axis, over.shape, self.loc)
            return self.once(("windows", source, size, over.axis), lambda: ExtractWindows.of(source, size, *rest))
        if isinstance(over, Recast):
            return self.once(("recast", source, over.element), lambda: RecastOp.of(source, over.element, self.loc))
        return self._regrouped(source, over.shape, over.old, over.new, over.merged)

    def _regrouped(self, value: Value, shape: Sequence[Dim], old: Groups, new: Groups, merged: Sequence[Dim]) -> Value:
        """Groups of axes, each collapsed into one axis of the size in `merged` (unless it is a single axis) and then
        expanded into the new ones."""
        element = value.tensor_type.element
        if any(len(group) > 1 for group in old):
            source = value
            merged = [shape[after[0]] if len(after) == 1 else n for after, n in zip(new, merged, strict=True)]
            type_ = self.tensor_type(merged, element)
            value = self.once(("collapse", source, old), lambda: tensor.CollapseShape.of(source, old, type_, self.loc))
        if any(len(group) > 1 for group in new):
            flat, type_ = value, self.tensor_type(shape, element)
            mixed = tuple(self.mixed(d) for d in shape)
            value = self.once(
                ("expand", flat, new, mixed), lambda: tensor.ExpandShape.of(flat, new, mixed, type_, self.loc)
            )
        return value

    def store(self, ref: ArrayRef, new: Value) -> None:
        """Replaces the elements of a reference by `new`, of its shape and element type."""
        if isinstance(ref, GuardedRef):
            return self.on_either(ref, self.store, new)
        self.check_writable(ref)
        if any(step == 0 and size != 1 for step, size in ref.view.steps):
            raise self.refuse("a store through a view that repeats elements", "store to the array")
        if self.held is not None:
            self.held.note_store(self, ref.storage)
        base = self._base(ref.storage, ref.view)
        stored = self.emit(tensor.InsertSlice.of(new, base, self.slice(ref.view)))
        self._set_base(ref.storage, ref.view, stored)

    def _set_base(self, storage: Storage, view: View, value: Value) -> None:
        """Replaces the base of a view by `value`: up the chain of views to the storage (rule S5)."""
        over = view.over
        if over is None:
            self.set_value(storage, value)
            return
        if isinstance(over, Diagonal):
            self._store_diagonal(storage, over, value)
            return
        if isinstance(over, Windows):
            raise self.refuse("a store through windows, which overlap", "store to the array")
        inner = over.view
        if isinstance(over, Regrouping):
            back = self._regrouped(value, inner.sizes, over.new, over.old, over.merged)
        else:
            back = self.emit(RecastOp.of(value, inner.element(storage)))
        base = self._base(storage, inner)
        found, wanted = (tuple(map(self.facts.canon, v.tensor_type.shape)) for v in (back, base))
        if found != wanted or not replace(inner, sizes=wanted).is_whole(wanted):
            back = self.emit(tensor.InsertSlice.of(back, base, self.slice(inner)))
        self._set_base(storage, inner, back)

    def _store_diagonal(self, storage: Storage, over: Diagonal, value: Value) -> None:
        """Replaces the diagonal of a view by `value`, whose last axis runs along it: element by element, for a diagonal
        is not a slice of the array."""
        target, shape = ArrayRef(storage, over.view), over.shape
        new = ArrayRef(self.new_storage(value.tensor_type.element, shape, range(len(shape)), value))

        def one(k: Dim) -> None:
            place, source = target.at(dict.fromkeys(over.axes, k)), new.at({len(shape) - 1: k})
            if place.ndim:
                self.store(place, self.read(source))
            else:
                self.store_element(place, (), self.load(source, ()))

        self.for_each(0, shape[-1], one)

    def set_value(self, storage: Storage, value: Value) -> None:
        """Makes `value` the current value of a storage, in the region being recorded."""
        if storage.picked:
            raise self.refuse("a store to an item of a list, in a loop over it that is traced once")
        self.frame.values[storage] = value
        storage.stored = True

    def check_writable(self, ref: ArrayRef, what: str = "assignment destination") -> None:
        """Raises ValueError, where the store is reached, for a store through a read-only argument or view (rule B2);
        `what`: what the array is, in NumPy's words."""
        if isinstance(ref, GuardedRef):
            if any(end.read_only or not end.storage.writable or end.storage.of_object for end in ends(ref)):
                self.on_either(ref, lambda end: self.check_writable(end, what))
            return
        if ref.read_only or not ref.storage.writable:
            self.fail("ValueError", f"{what} is read-only")
        if ref.storage.of_object:
            reason = "a store into an array that an object of a library's holds"
            raise self.refuse(reason, "make a new object of the changed array, or change a copy: x = x.copy()")

    def element_view(self, view: View, index: Sequence[Dim]) -> list[Value]:
        """The indices, in the base of a view, of one element of the view."""
        places: list[Dim] = list(view.offsets)
        for d, i in zip(view.dims, index):
            if d is not None:
                places[d] = add(places[d], mul(i, view.strides[d]))
        return [self.index(p) for p in places]

    def load(self, ref: ArrayRef, index: Sequence[Dim]) -> Value:
        """One element of a reference; its index is normalised and checked."""
        if isinstance(ref, GuardedRef):
            return self.on_either(ref, self.load, index)
        base = self._base(ref.storage, ref.view)
        if not index and (op := base.defining_op) is not None and op.name == "linalg.fill":
            return op.operands[0]
        return self.emit(tensor.Extract.of(base, self.element_view(ref.view, index)))

    def number(self, ref: ArrayRef, index: Sequence[Dim] = ()) -> NpScalar:
        """One element as a number, like `load`."""
        return NpScalar(self.load(ref, index), ref.element)

    def store_element(self, ref: ArrayRef, index: Sequence[Dim], scalar: Value) -> None:
        """Replaces one element of a reference by `scalar`."""
        if isinstance(ref, GuardedRef):
            return self.on_either(ref, self.store_element, index, scalar)
        self.check_writable(ref)
        if self.held is not None:
            self.held.note_store(self, ref.storage)
        base = self._base(ref.storage, ref.view)
        places = self.element_view(ref.view, index)
        made = self.emit(tensor.Insert.of(scalar, base, places))
        self._set_base(ref.storage, ref.view, made)

    # -- branches and loops
    def either(self, condition: Value, run: Callable[[int], Sequence[Value]]) -> list[Value]:
        """An scf.if with what `run` records for each side (0 where the condition holds); its values joined."""
        frames, values = [], []
        for side in (0, 1):
            with self.region("branch", Block()) as frame:
                frames.append(frame)
                self.assume_yielded(condition, side == 0)
                try:
                    values.append(list(run(side)))
                except DeadEnd:
                    values.append([])
        return self.close_if(condition, frames, values)

    def on_either(self, ref: GuardedRef, run: Callable[..., R], *rest: Any) -> R:
        """What `run(array, *rest)` gives, recorded for either array of a path-dependent reference in a branch."""

        def side(k: int) -> list[Value]:
            value: Any = run(ref.arms[k], *rest)
            return [] if value is None else [value]

        return next(iter(self.either(ref.condition, side)), None)  # type: ignore[return-value]

    def close_if(self, condition: Value, frames: Sequence[Frame], values: Sequence[Sequence[Value]]) -> list[Value]:
        """Ends two branches with their yields and records the scf.if; storages take their joined values, the other
        joined values are returned."""
        storages = list(dict.fromkeys(s for f in frames for s in f.values if s not in f.locals))
        yields = [[f.values.get(s) or self.value(s) for s in storages] + list(v) for f, v in zip(frames, values)]
        for frame, given in zip(frames, yields):
            frame.block.append(scf.Yield.of(given, self.loc))
        # Of what a storage holds by its sizes from before: on a path that does not store they may be others' (0).
        types = [self.value(s).type for s in storages] + [v.type for v in yields[0][len(storages) :]]
        results = self.add(scf.If.of(condition, types, frames[0].block, frames[1].block)).results
        for storage, value in zip(storages, results):
            self.set_value(storage, value)
        return results[len(storages) :]

    def for_each(self, start: Dim, stop: Dim, body: Callable[[Dim], None]) -> None:
        """An scf.for whose body `body` records once, for the indices from `start` to before `stop`; the storages that
        it stores to are loop-carried."""
        block, index = Block([INDEX]), Sym("k", "iv")
        self.func.symbols[index] = block.args[0]
        with self.region("loop", block, (index, start, sub(stop, 1))) as frame:
            body(sym(index))
        carried: dict[Storage, Value] = {}
        for storage, phi in frame.phis.items():
            if frame.values[storage] is not phi:
                carried[storage] = phi
                continue
            phi.replace_all_uses(self.value(storage))
            block.drop_arg(block.args.index(phi))
        order = list(carried)
        block.append(scf.Yield.of([frame.values[s] for s in order], self.loc))
        bounds = [self.index(b) for b in (start, stop, 1)]
        results = self.add(scf.For.of(bounds, [self.value(s) for s in order], block)).results
        for storage, result in zip(order, results):
            self.set_value(storage, result)

    def for_all(self, sizes: Sequence[Dim], body: Callable[[Sequence[Dim]], None]) -> None:
        """A loop nest that runs `body` for all tuples of indices below `sizes`, the last index fastest."""

        def nest(indices: tuple[Dim, ...]) -> None:
            if len(indices) == len(sizes):
                body(indices)
            else:
                self.for_each(0, sizes[len(indices)], lambda i: nest((*indices, i)))

        nest(())
