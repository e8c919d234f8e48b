"""The recorder: where ops go, what each storage's current value is, which sizes are equal, and which guards were
assumed.

A `Frame` is the function, a loop's body or a branch. Reading a storage inside a loop makes an optimistic loop-carried
value on first touch; what comes back unchanged is dropped when the loop is closed (rule S10). Questions about sizes are
answered by proof, else by a guard on entry values (decided by the traced call's own values), else not at all (rules
F3, Z1b).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any, Literal, NoReturn

from tracebuf.errors import UnsupportedError, note_location
from tracebuf.frontends.numpy.record.frames import Frame as Frame
from tracebuf.frontends.numpy.record.frames import Guard as Guard
from tracebuf.frontends.numpy.record.heap import Heap
from tracebuf.frontends.numpy.record.values import (
    ArrayRef,
    Diagonal,
    Groups,
    GuardedRef,
    Recast,
    Regrouping,
    Storage,
    View,
    Windows,
    storages_of,
)
from tracebuf.ir.core import Block, Func, Mixed, Op, OpT, Value
from tracebuf.ir.dims import Dim, Expr, Sym, add, evaluate, fold, mul, neg, sub, substitute, sym, symbols
from tracebuf.ir.facts import Facts
from tracebuf.ir.prover import composites
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import I1, I64, INDEX, ScalarType, TensorType
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.arrays import tensor
from tracebuf.ops.arrays.recast import Recast as RecastOp
from tracebuf.ops.arrays.windows import ExtractWindows
from tracebuf.ops.control import checks, scf
from tracebuf.ops.scalars import arith, division, integers
from tracebuf.ops.scalars.complex import constant

INT_MIN, INT_MAX = -(2**63), 2**63 - 1
OVERFLOW = "Python integers are limited to 64 bits in compiled code"


class DeadEnd(Exception):
    """The rest of this branch or loop body cannot be reached: a check that always fails was recorded."""


class Recorder:
    """Builds one Func. `hints` are the traced call's entry values of the size symbols."""

    def __init__(self, func: Func, hints: Mapping[Sym, int]) -> None:
        self.func = func
        self.hints: dict[Sym, int] = dict(hints)
        self.facts = Facts(self.hints)
        self.guards: list[Guard] = []
        self.frame = Frame("func", func.block, None)
        self.loc: Location = UNKNOWN
        self.surely: list[Callable[[], bool]] = []  # what tells it within each `try`
        self.blocks: list[Block] = []
        """The regions recorded, in the order they were begun."""
        self.doubts: list[UnsupportedError] = []
        """Refusals of what is recorded in loops that may yet be dropped."""
        self.index_symbols: dict[Value, Dim] = {}
        self.given: list[ArrayRef] = []
        """The caller's own array objects."""
        self.stride_symbols: frozenset[Sym] = frozenset()
        """Those that stand for arguments' strides: they occur in guards only."""
        self.unbound: set[str] = set()
        self.watched: set[int] = set()
        """Names that were read where nothing is bound to them."""
        self.heap = Heap()
        self.outer_values: Callable[[], Iterable[Any]] = tuple
        """What names of the functions around the one being traced hold."""

    # -- ops
    def add(self, op: OpT) -> OpT:
        self.frame.block.append(op)
        return op

    def push(self, kind: Literal["loop", "branch"], block: Block) -> Frame:
        self.frame = Frame(kind, block, self.frame)
        self.blocks.append(block)
        return self.frame

    @property
    def mark(self) -> tuple[int, int]:
        """How much was recorded: for `forget`."""
        return len(self.blocks), len(self.doubts)

    def forget(self, mark: tuple[int, int]) -> None:
        """Drops the regions begun since, and the doubts: what they recorded uses nothing any more."""
        for block in self.blocks[mark[0] :]:
            for op in block.ops:
                op.drop_uses()
        del self.blocks[mark[0] :], self.doubts[mark[1] :]

    def doubt(self, error: UnsupportedError) -> None:
        """Refuses what was recorded, unless it rests on a wrong guess in a loop and is dropped."""
        if not any(f.kind == "loop" for f in self.frames()):
            raise error
        self.doubts.append(error)

    def frames(self) -> Iterator[Frame]:
        """The regions being recorded, innermost first."""
        frame: Frame | None = self.frame
        while frame is not None:
            yield frame
            frame = frame.parent

    def pop(self) -> Frame:
        frame = self.frame
        assert frame.parent is not None
        self.frame = frame.parent
        return frame

    @property
    def conditional(self) -> bool:
        """Whether what is recorded now may not run."""
        return self.frame.parent is not None

    @property
    def certain(self) -> bool:
        """Whether what is recorded now is always reached: nothing before it may raise either."""
        if self.surely:
            return self.surely[-1]()
        return not self.conditional and not any(checks.may_stop(op) for op in self.func.walk())

    def constant(self, value: bool | int | float | complex, element: ScalarType) -> Value:
        """An SSA constant, made once per region."""
        key = ("constant", type(value), str(value), element)
        return self.cached(key) or self.remember(key, self.add(constant(value, element, self.loc)).result)

    def cached(self, key: object) -> Value | None:
        frame: Frame | None = self.frame
        while frame is not None:
            if (found := frame.cache.get(key)) is not None:
                return found
            frame = frame.parent
        return None

    def remember(self, key: object, value: Value) -> Value:
        self.frame.cache[key] = value
        return value

    # -- sizes
    def symbol(self, value: Value, name: str, lo: int | None = None, hi: int | None = None) -> Expr:
        """A new symbol for an index value that an op defines."""
        s = Sym(name, "opaque", INT_MIN if lo is None else lo, INT_MAX if hi is None else hi)
        self.func.symbols[s] = value
        return sym(s)

    def mixed(self, e: Dim) -> Mixed:
        """A size as an op takes it: a constant, or the SSA value of the expression (computed once per region)."""
        e = self.facts.canon(e)
        return e if isinstance(e, int) else self.index(e)

    def index(self, e: Dim) -> Value:
        """The expression as an SSA index value; OverflowError where 64 bits may not hold it and do not (rule N1)."""
        e = self.facts.canon(e)
        found = self.cached(e)
        if found is not None:
            return found
        constant: Callable[[int], Value] = lambda c: self.constant(self._small(c), INDEX)  # noqa: E731
        wraps: list[Value] = []
        exact = self.fits(e) or self.narrow(e)
        arithmetic = [self._index_op(c, None if exact else wraps) for c in (arith.AddI, arith.MulI)]
        rest = [self._index_op(c) for c in (arith.MinSI, arith.MaxSI, division.FloorDivIndex)]
        value = fold(e, self._symbol_value, constant, *arithmetic, *rest)
        if wraps:
            wrap = reduce(lambda a, b: self.add(arith.OrI.of(a, b, self.loc)).result, wraps)
            fine = self.add(arith.XorI.of(wrap, self.constant(True, I1), self.loc)).result
            self.check(fine, "OverflowError", OVERFLOW)
        return self.remember(e, value)

    def wrapping_sum(self, a: Dim, b: Dim) -> Value:
        """a + b as an SSA index value, for a reader who does not look at it where it leaves 64 bits."""
        e = self.facts.canon(add(a, b))
        return self.index(e) if self.fits(e) else self.add(arith.AddI.of(self.index(a), self.index(b), self.loc)).result

    def fits(self, e: Dim) -> bool:
        """Whether 64 bits surely hold e, and what its quotients and extremes are made of (rule N1)."""
        low, high = self.facts.interval(e)
        if low is None or high is None or low < INT_MIN or high > INT_MAX:
            return False
        return isinstance(e, int) or all(self.fits(x) for atom in composites(e) for x in atom.args)

    def narrow(self, e: Dim) -> bool:
        """Makes e fit 64 bits by guards, if it does when the int arguments (then the sizes too) that it depends on are
        not large."""
        if any(s.kind == "opaque" for s in symbols(e)):
            return False
        entry = sorted((s for s in self.facts.bounding(e) if s in self.hints), key=lambda s: s.serial)
        for some in ([s for s in entry if s.kind == "arg"], entry):
            for limit in (2**31, 2**24, 2**20, 2**15):
                bounds = [b for s in some for b in (add(limit, sym(s)), sub(limit, sym(s)))]
                if all(abs(self.hints[s]) <= limit for s in some) and self._fits_if(e, bounds):
                    for bound in bounds:
                        self.ask_nonneg(bound)
                    return True
        return False

    def _fits_if(self, e: Dim, nonneg: Sequence[Dim]) -> bool:
        self.facts.push_scope()
        try:
            for bound in nonneg:
                self.facts.assume_nonneg(bound, entry=False)
            return self.fits(e)
        finally:
            self.facts.pop_scope()

    def _small(self, c: int) -> int:
        if not INT_MIN <= c <= INT_MAX:
            raise UnsupportedError(
                f"the integer {c} does not fit 64 bits", location=self.loc, instead=f"float({c}), or smaller numbers"
            )
        return c

    def _index_op(self, cls: type[arith.BinaryOp], wraps: list[Value] | None = None) -> Callable[[Value, Value], Value]:
        def record(a: Value, b: Value) -> Value:
            if wraps is not None:
                operation = "add" if cls is arith.AddI else "mul"
                wraps.append(self.add(integers.Overflows.of(operation, a, b, self.loc)).result)
            return self.add(cls.of(a, b, self.loc)).result

        return record

    def _symbol_value(self, s: Sym) -> Value:
        return self.func.symbols[s]

    def i64(self, e: Dim) -> Value:
        """A Python int as i64 data."""
        if isinstance(e, int):
            return self.constant(self._small(e), I64)
        key = ("i64", e)
        return self.cached(key) or self.remember(key, self.add(arith.IndexCast.of(self.index(e), I64, self.loc)).result)

    def entry_only(self, e: Dim) -> bool:
        return all(s in self.hints for s in symbols(e))

    def ask_nonneg(self, e: Dim, guard: bool = True) -> bool | None:
        """Whether e >= 0: proved, or assumed by a guard on entry values; None where only the run time knows."""
        e = self.facts.canon(e)
        known = self.facts.decide_nonneg(e)
        if known is not None or isinstance(e, int) or not guard:
            return known
        if self.entry_only(e):
            holds = evaluate(e, self.hints) >= 0
            self._guard("nonneg", e if holds else add(neg(e), -1))
            return holds
        bound = self.facts.hoist(e)
        if bound is not None and self.entry_only(bound) and evaluate(bound, self.hints) >= 0:
            self._guard("nonneg", bound)
            return True
        return None

    def ask_equal(self, a: Dim, b: Dim) -> bool | None:
        """Whether a == b: proved either way, or guarded; None where only the run time knows."""
        difference = self.facts.canon(sub(a, b))
        if isinstance(difference, int):
            return difference == 0
        if self.facts.equal(a, b):
            return True
        if self.facts.decide_nonneg(add(difference, -1)) or self.facts.decide_nonneg(add(neg(difference), -1)):
            return False
        if not self.entry_only(difference):
            return self._tie(self.facts.canon(a), self.facts.canon(b))
        holds = evaluate(difference, self.hints) == 0
        self._guard("zero" if holds else "nonzero", difference)
        return holds

    def _tie(self, a: Dim, b: Dim) -> bool | None:
        """True if sizes that occur on one side only, guarded to be equal where they are in this call, make both
        equal (Z1b)."""
        left, right = ([s for s in symbols(x) if s in self.hints and s not in symbols(y)] for x, y in ((a, b), (b, a)))
        pairs: dict[Sym, Dim] = {}
        for s in sorted(left, key=lambda s: s.serial):
            same = [t for t in right if self.hints[t] == self.hints[s]]
            if same:
                pairs[s] = sym(min(same, key=lambda t: t.serial))
        if not pairs or substitute(a, pairs) != b:
            return None
        for s, t in pairs.items():
            self._guard("zero", sub(sym(s), t))
        return True

    def ask_strides(self, a: Dim, b: Dim) -> bool | None:
        """Whether a == b for expressions over sizes and strides of arguments, as `ask_equal`; no fact follows, for
        strides have no value in the program."""
        difference = self.facts.canon(sub(a, b))
        if isinstance(difference, int) or self.facts.equal(a, b) or not self.entry_only(difference):
            return self.facts.equal(a, b) or (False if isinstance(difference, int) else None)
        if self.stride_symbols.isdisjoint(symbols(difference)):
            return self.ask_equal(a, b)
        holds = evaluate(difference, self.hints) == 0
        guard = Guard("zero" if holds else "nonzero", difference)
        if guard not in self.guards:
            self.guards.append(guard)
        return holds

    def static_int(self, e: Dim, what: str) -> int:
        """The int that an entry expression has in the traced call; a guard makes it part of the key."""
        e = self.facts.canon(e)
        if isinstance(e, int):
            return e
        if not self.entry_only(e):
            raise UnsupportedError(
                f"{what} depends on computed values",
                location=self.loc,
                instead="use a constant, or an argument that is an int",
            )
        value = evaluate(e, self.hints)
        self._guard("zero", sub(e, value))
        return value

    def _guard(self, kind: Literal["nonneg", "zero", "nonzero"], e: Dim) -> None:
        if isinstance(e, int):
            return
        guard = Guard(kind, e)
        if guard not in self.guards:
            self.guards.append(guard)
        if kind == "zero":
            self.facts.assume_equal(e, 0, entry=True)
        elif kind == "nonneg":
            self.facts.assume_nonneg(e, entry=True)
        elif evaluate(e, self.hints) > 0 and self.facts.decide_nonneg(e):
            self.facts.assume_nonneg(add(e, -1), entry=True)

    # -- checks
    def check(
        self, condition: Value, exception: checks.Raised, message: str | None, values: Sequence[Value] = ()
    ) -> None:
        """Records an op that raises where the condition is false; `message` has a {} for each of `values`."""
        self.add(checks.Check.of(condition, exception, message, values, self.loc))

    def compare(self, predicate: str, a: Dim, b: Dim) -> Value:
        """i1 of an integer comparison (slt, sge, eq ...)."""
        return self.add(arith.CmpI.of(predicate, self.index(a), self.index(b), self.loc)).result

    def require_nonneg(self, e: Dim, exception: checks.Raised, message: str, values: Sequence[Dim] = ()) -> None:
        """e >= 0 by proof, guard or check; `message` has a {} for each of `values`."""
        known = self.ask_nonneg(e)
        if known is False:
            self.fail(exception, message, values)
        if known is None:
            self.check(self.compare("sge", e, 0), exception, message, [self.index(v) for v in values])

    def require_equal(self, a: Dim, b: Dim, exception: checks.Raised, message: str, values: Sequence[Dim] = ()) -> None:
        """a == b by proof, guard or check."""
        known = self.ask_equal(a, b)
        if known is False:
            self.fail(exception, message, values)
        if known is None:
            self.check(self.compare("eq", a, b), exception, message, [self.index(v) for v in values])

    def fail(
        self, exception: checks.Raised, message: str | None = None, values: Sequence[Dim | Value] = ()
    ) -> NoReturn:
        """What stands here always raises: at once if it is always reached, else when it is reached (an earlier error
        wins, rule F3)."""
        known = [v for v in values if not isinstance(v, Value) and self.entry_only(v)]
        if self.certain and len(known) == len(values):
            numbers = [evaluate(v, self.hints) for v in known]
            raise note_location(checks.make_error(exception, message, numbers), self.loc)
        computed = [v if isinstance(v, Value) else self.index(v) for v in values]
        self.check(self.constant(False, I1), exception, message, computed)
        raise DeadEnd

    def argument_strides(self, storage: Storage) -> tuple[Dim | None, ...]:
        """The strides of an argument's storage, as far as its key tells them."""
        value = self.func.args[[a.name for a in self.func.args].index(storage.name)]
        strides: tuple[Dim | None, ...] = self.func.arg_attrs[self.func.args.index(value)]["strides"]
        return strides

    # -- storages
    def new_storage(
        self, element: ScalarType, shape: Sequence[Dim], order: Sequence[int], value: Value, name: str = ""
    ) -> Storage:
        storage = Storage(element, shape, order, name=name)
        self.frame.values[storage] = value
        self.frame.locals.add(storage)
        return storage

    def empty(self, element: ScalarType, shape: Sequence[Dim], order: Sequence[int] | None = None) -> Value:
        """A new tensor of undefined contents."""
        sizes = [self.mixed(d) for d in shape]
        type_ = TensorType(tuple(self.facts.canon(d) for d in shape), element)
        return self.add(tensor.Empty.of(type_, sizes, self.loc, tuple(order) if order is not None else None)).result

    def nothing(
        self, element: ScalarType, shape: Sequence[Dim], order: Sequence[int], constant: bool = True
    ) -> Value:
        """A tensor that nobody reads: of no elements, but for sizes that are constant (if those are to stay)."""
        none = self.symbol(self.constant(0, INDEX), "none", 0, 0)
        return self.empty(element, [d if constant and isinstance(d, int) else none for d in shape], order)

    def value(self, storage: Storage) -> Value:
        """The storage's current value here."""
        return self._value_in(self.frame, storage)

    def _value_in(self, frame: Frame, storage: Storage) -> Value:
        found = frame.values.get(storage)
        if found is not None:
            return found
        assert frame.parent is not None, "a storage without a value"
        if frame.kind == "branch":
            return self._value_in(frame.parent, storage)
        phi = frame.block.add_arg(self._value_in(frame.parent, storage).type)
        frame.phis[storage] = frame.values[storage] = phi
        return phi

    def slice(self, view: View) -> Slice:
        """The view's geometry in its base, as SSA values."""
        sizes: list[Dim] = [1] * len(view.offsets)
        for d, size in zip(view.dims, view.sizes):
            if d is not None:
                sizes[d] = size
        if not all(self.in_scope(s) for s in view.strides):
            raise UnsupportedError(
                "this view's step is only known where the view was made", location=self.loc,
                instead="make the slice again where it is used",
            )  # fmt: skip
        offsets, steps = (tuple(self.mixed(e) for e in part) for part in (view.offsets, view.strides))
        return Slice(offsets, tuple(self.mixed(s) for s in sizes), steps, view.dims)

    def tensor_type(self, shape: Sequence[Dim], element: ScalarType) -> TensorType:
        return TensorType(tuple(self.facts.canon(d) for d in shape), element)

    # -- branches
    def either(self, condition: Value, run: Callable[[int], Sequence[Value]]) -> list[Value]:
        """An scf.if with what `run` records for each side (0 where the condition holds); its values joined."""
        frames, values = [], []
        outer = self.frame
        for side in (0, 1):
            frames.append(self.push("branch", Block()))
            self.facts.push_scope()
            try:
                values.append(list(run(side)))
            except DeadEnd:
                values.append([])
            finally:
                self.facts.pop_scope()
                self.frame = outer
        return self.close_if(condition, frames, values)

    def on_either(self, ref: GuardedRef, run: Callable[[ArrayRef], None]) -> None:
        """Something done to the array that a guarded reference is to."""

        def side(k: int) -> list[Value]:
            run(ref.arms[k])
            return []

        self.either(ref.condition, side)

    def close_if(self, condition: Value, frames: Sequence[Frame], values: Sequence[Sequence[Value]]) -> list[Value]:
        """Ends two branches with their yields and records the scf.if; storages take their joined values, the rest is
        given back."""
        storages = list(dict.fromkeys(s for f in frames for s in f.values if s not in f.locals))
        yields = [[f.values.get(s) or self.value(s) for s in storages] + list(v) for f, v in zip(frames, values)]
        for frame, given in zip(frames, yields):
            frame.block.append(scf.Yield.of(given, self.loc))
        types = [v.type for v in yields[0]]
        results = self.add(scf.If.of(condition, types, frames[0].block, frames[1].block, self.loc)).results
        for storage, value in zip(storages, results):
            self.set_value(storage, value)
        return results[len(storages) :]

    def is_visible(self, value: Value) -> bool:
        """Whether a value is defined in the region being recorded or one around it."""
        return any(frame.block is value.block for frame in self.frames())

    def in_scope(self, e: Dim) -> bool:
        """Whether the symbols of e have their values in the regions being recorded."""
        return all(s not in self.func.symbols or self.is_visible(self.func.symbols[s]) for s in symbols(e))

    def read(self, ref: ArrayRef) -> Value:
        """The reference's current elements."""
        if isinstance(ref, GuardedRef):
            value = self.either(ref.condition, lambda side: [self.read(ref.arms[side])])[0]
            value.type = self.tensor_type(ref.shape, ref.element)
            return value
        return self._read(ref.storage, ref.view)

    def _read(self, storage: Storage, view: View) -> Value:
        base = self._base(storage, view)
        if view.is_whole(storage.shape if view.over is None else view.over.shape):
            return base
        s = self.slice(view)
        type_ = self.tensor_type(view.sizes, view.element(storage))
        return self._once(("extract", base, s), lambda: tensor.ExtractSlice.of(base, s, type_, self.loc))

    def _once(self, key: object, make: Callable[[], Op]) -> Value:
        """What `make` gives, made once per region."""
        return self.cached(key) or self.remember(key, self.add(make()).result)

    def _base(self, storage: Storage, view: View) -> Value:
        """What the view is of: the storage's value, or another view of it under another shape."""
        over = view.over
        if over is None:
            return self.value(storage)
        source = self._read(storage, over.view)
        if isinstance(over, Diagonal):
            return self._once((over.axes, source), lambda: tensor.ExtractDiagonal.of(source, over.axes, self.loc))
        if isinstance(over, Windows):
            size, rest = self.index(over.size), (over.axis, over.shape, self.loc)
            return self._once(("windows", source, size, over.axis), lambda: ExtractWindows.of(source, size, *rest))
        if isinstance(over, Recast):
            return self._once(("recast", source, over.element), lambda: RecastOp.of(source, over.element, self.loc))
        return self._regrouped(source, over.shape, over.old, over.new, over.merged)

    def _regrouped(self, value: Value, shape: Sequence[Dim], old: Groups, new: Groups, merged: Sequence[Dim]) -> Value:
        """Groups of axes, each made one axis of a size in `merged` (unless each is one) and then split likewise."""
        element = value.tensor_type.element
        if any(len(group) > 1 for group in old):
            source = value
            merged = [shape[after[0]] if len(after) == 1 else n for after, n in zip(new, merged, strict=True)]
            type_ = self.tensor_type(merged, element)
            value = self._once(("collapse", source, old), lambda: tensor.CollapseShape.of(source, old, type_, self.loc))
        if any(len(group) > 1 for group in new):
            flat, type_ = value, self.tensor_type(shape, element)
            mixed = tuple(self.mixed(d) for d in shape)
            value = self._once(
                ("expand", flat, new, mixed), lambda: tensor.ExpandShape.of(flat, new, mixed, type_, self.loc)
            )
        return value

    def store(self, ref: ArrayRef, new: Value) -> None:
        """The reference's elements become `new` (of its shape and element type)."""
        if isinstance(ref, GuardedRef):
            self.on_either(ref, lambda arm: self.store(arm, new))
            return
        self.check_writable(ref)
        base = self._base(ref.storage, ref.view)
        stored = self.add(tensor.InsertSlice.of(new, base, self.slice(ref.view), self.loc)).result
        self._set_base(ref.storage, ref.view, stored)

    def _set_base(self, storage: Storage, view: View, value: Value) -> None:
        """What the view is of becomes `value`: up the chain to the storage (rule S5)."""
        over = view.over
        if over is None:
            self.set_value(storage, value)
            return
        if isinstance(over, Diagonal):
            from tracebuf.frontends.numpy.record.diagonals import store_diagonal  # which is built on this module

            store_diagonal(self, storage, over, value)
            return
        assert not isinstance(over, Windows), "a store through a read-only view"
        inner = over.view
        if isinstance(over, Regrouping):
            back = self._regrouped(value, inner.sizes, over.new, over.old, over.merged)
        else:
            back = self.add(RecastOp.of(value, inner.element(storage), self.loc)).result
        if not inner.is_whole(storage.shape if inner.over is None else inner.over.shape):
            base = self._base(storage, inner)
            back = self.add(tensor.InsertSlice.of(back, base, self.slice(inner), self.loc)).result
        self._set_base(storage, inner, back)

    def set_value(self, storage: Storage, value: Value) -> None:
        self.frame.values[storage] = value
        storage.stored = True

    def check_writable(self, ref: ArrayRef) -> None:
        """Rule B2: a store through a read-only argument, or a read-only view, raises where it stands."""
        if isinstance(ref, GuardedRef):
            if any(arm.read_only or not s.writable for arm in ref.arms for s in storages_of(arm)):
                self.on_either(ref, lambda arm: self.check_writable(arm))
            return
        if ref.read_only or not ref.storage.writable:
            self.fail("ValueError", "assignment destination is read-only")

    def element_view(self, view: View, index: Sequence[Dim]) -> list[Value]:
        """Indices into what the view is of, of one of its elements."""
        places: list[Dim] = list(view.offsets)
        for d, i in zip(view.dims, index):
            if d is not None:
                places[d] = add(places[d], mul(i, view.strides[d]))
        return [self.index(p) for p in places]

    def load(self, ref: ArrayRef, index: Sequence[Dim]) -> Value:
        """One element, its index normalised and checked."""
        if isinstance(ref, GuardedRef):
            return self.either(ref.condition, lambda side: [self.load(ref.arms[side], index)])[0]
        base = self._base(ref.storage, ref.view)
        return self.add(tensor.Extract.of(base, self.element_view(ref.view, index), self.loc)).result

    def store_element(self, ref: ArrayRef, index: Sequence[Dim], scalar: Value) -> None:
        """One element becomes `scalar`."""
        if isinstance(ref, GuardedRef):
            self.on_either(ref, lambda arm: self.store_element(arm, index, scalar))
            return
        self.check_writable(ref)
        base = self._base(ref.storage, ref.view)
        places = self.element_view(ref.view, index)
        made = self.add(tensor.Insert.of(scalar, base, places, self.loc)).result
        self._set_base(ref.storage, ref.view, made)
