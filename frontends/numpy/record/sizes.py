"""Sizes: symbols, their SSA values, and questions about them.

An answer is proved, else guarded on entry values (decided by the traced call's own values), else left to the run time
(rules F3, Z1, Z1b).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NoReturn

from tracebuf.errors import note_location
from tracebuf.frontends.numpy.call.conditions import Guard
from tracebuf.frontends.numpy.record.conditions import either, negated, negation
from tracebuf.frontends.numpy.record.raises import DeadEnd, Raises, ask
from tracebuf.frontends.numpy.record.regions import OVERFLOW, Frame, Inside, Landings
from tracebuf.ir.core import Block, Mixed, Value
from tracebuf.ir.dims import Dim, Expr, Sym, add, evaluate, fold, neg, only_symbol, sub, substitute, sym, symbols
from tracebuf.ir.facts import SizeFacts
from tracebuf.ir.func import Func
from tracebuf.ir.prover import composites
from tracebuf.ir.types import I1, I64, INDEX
from tracebuf.ops.control import checks
from tracebuf.ops.scalars import arith, division, integers
from tracebuf.running.raised import Message, Raised, bare, make_error

INT_MIN, INT_MAX = -(2**63), 2**63 - 1
USUAL = 2**40
"""The most elements along an axis of an array that exists, or of a part of one; such sizes need no check for memory."""


NARROW = (2**31, 2**24, 2**20, 2**15)
"""Bounds of int arguments and sizes that are tried for an expression to fit 64 bits: the first that does is taken."""


def is_bounded(s: Sym) -> bool:
    """Whether the symbol's own bounds are within 64 bits."""
    return s.lo is not None and s.lo >= INT_MIN and s.hi is not None and s.hi <= INT_MAX


def at_most(some: Sequence[Sym], limit: int) -> list[Dim]:
    """What is not negative where the symbols are within -limit and limit."""
    return [b for s in some for b in (add(limit, sym(s)), sub(limit, sym(s)))]


class Region(Inside):
    """A context in which a new region is recorded: what is assumed there of sizes holds there only."""

    __slots__ = ("loop",)
    r: Sizes

    def __init__(self, r: Sizes, frame: Frame, loop: tuple[Sym, Dim, Dim] | None) -> None:
        super().__init__(r, frame)
        self.loop = loop

    def __enter__(self) -> Frame:
        self.r.blocks.append(self.frame.block)
        if self.loop is None:
            self.r.facts.push_scope()
        else:
            self.r.facts.push_loop(*self.loop)
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        if self.loop is None:
            self.r.facts.pop_scope()
        else:
            self.r.facts.pop_loop()
        super().__exit__()


class Sizes(Landings):
    """What is known of sizes. `hints` are the traced call's entry values of the size symbols."""

    def __init__(self, func: Func, hints: Mapping[Sym, int]) -> None:
        super().__init__(func)
        self.hints: dict[Sym, int] = dict(hints)
        self.facts = SizeFacts(self.hints)
        self.guards: list[Guard] = []
        self.index_symbols: dict[Value, Dim] = {}
        self.int_expressions: dict[Value, Dim] = {}
        self.ratios: dict[Value, tuple[Dim, int]] = {}
        """The floats that are an int divided by a known one, but for rounding (numbers/ratios)."""
        """Of an int as i64 data: the expression."""
        self.yielded_sizes: dict[tuple[Value, bool], list[tuple[Dim, Dim]]] = {}
        """The sizes that an `if` has yielded, by its condition and side, with what they are on that side."""
        self.stride_symbols: frozenset[Sym] = frozenset()
        """The symbols of arguments' strides, which occur in guards only."""

    def region(
        self, kind: Literal["loop", "branch"], block: Block, loop: tuple[Sym, Dim, Dim] | None = None
    ) -> Region:
        """`with r.region(kind, block) as frame`: what is recorded goes to a new region. `loop`: its index and the
        index's least and greatest value, where they are known at once."""
        return Region(self, Frame(kind, block, self.frame), loop)

    def symbol(self, value: Value, name: str, lo: int | None = None, hi: int | None = None) -> Expr:
        """A new symbol for an index value that an op defines."""
        s = Sym(name, "opaque", INT_MIN if lo is None else lo, INT_MAX if hi is None else hi)
        self.func.symbols[s] = value
        return sym(s)

    def assume_yielded(self, condition: Value, positive: bool) -> None:
        """In a region where it is known whether the condition holds: what the sizes are there that earlier `if`s on it
        have yielded."""
        for size, there in self.yielded_sizes.get((condition, positive), ()):
            self.facts.assume_equal(size, there, entry=False)
        opposite = negated(condition)
        if opposite is not None:
            self.assume_yielded(opposite, not positive)

    def mixed(self, e: Dim) -> Mixed:
        """A size as an op takes it: a constant, or the SSA value of the expression (computed once per region)."""
        if isinstance(e, int):
            return e
        e = self.facts.canon(e)
        return e if isinstance(e, int) else self._index(e)

    def index(self, e: Dim) -> Value:
        """The expression as an SSA index value; OverflowError where 64 bits may not hold it and do not (rule N1)."""
        return self._index(self.facts.canon(e))

    def _index(self, e: Dim) -> Value:
        """`index` of an expression in which equalities have been replaced."""
        if (s := only_symbol(e)) is not None and is_bounded(s):
            return self.func.symbols[s]
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
            self.check(negation(self, either(self, *wraps)), "OverflowError", OVERFLOW)
        return self.remember(e, value)

    def wrapping_sum(self, a: Dim, b: Dim) -> Value:
        """a + b as an SSA index value, for a reader who does not look at it where it leaves 64 bits."""
        e = self.facts.canon(add(a, b))
        return self.index(e) if self.fits(e) else self.emit(arith.AddI.of(self.index(a), self.index(b)))

    def wrapping(self, e: Dim) -> Value:
        """An expression as an SSA index value, for a reader who does not look at it where it leaves 64 bits."""
        ops = (arith.AddI, arith.MulI, arith.MinSI, arith.MaxSI, division.FloorDivIndex)
        constant: Callable[[int], Value] = lambda c: self.constant(self._small(c), INDEX)  # noqa: E731
        return fold(e, self._symbol_value, constant, *map(self._index_op, ops))

    def fits(self, e: Dim) -> bool:
        """Whether 64 bits certainly hold e, and the operands of its quotients and extremes (rule N1)."""
        if not self.facts.within(e, INT_MIN, INT_MAX):
            return False
        return isinstance(e, int) or all(self.fits(x) for atom in composites(e) for x in atom.args)

    def narrow(self, e: Dim) -> bool:
        """Makes e fit 64 bits by guards, if it does when the int arguments (then the sizes too) that it depends on are
        not large."""
        if any(s.kind == "opaque" for s in symbols(e)):
            return False
        entry = sorted((s for s in self.facts.bounding(e) if s in self.hints), key=lambda s: s.serial)
        args = [s for s in entry if s.kind == "arg"]
        for some in (args, entry) if len(args) < len(entry) else (args,):
            limits = [n for n in NARROW if all(abs(self.hints[s]) <= n for s in some)] if some else []
            if not limits or not self._fits_if(e, some, limits[-1]):
                continue
            limit = next((n for n in limits[:-1] if self._fits_if(e, some, n)), limits[-1])
            for bound in at_most(some, limit):
                self.ask_nonneg(bound)
            return True
        return False

    def _fits_if(self, e: Dim, entry: Sequence[Sym], limit: int) -> bool:
        with self.facts.supposing(at_most(entry, limit)):
            return self.fits(e)

    def _small(self, c: int) -> int:
        if not INT_MIN <= c <= INT_MAX:
            raise self.refuse(f"the integer {c} does not fit 64 bits", f"float({c}), or smaller numbers")
        return c

    def _index_op(self, cls: type[arith.BinaryOp], wraps: list[Value] | None = None) -> Callable[[Value, Value], Value]:
        def record(a: Value, b: Value) -> Value:
            if wraps is not None:
                operation = "add" if cls is arith.AddI else "mul"
                wraps.append(self.emit(integers.Overflows.of(operation, a, b)))
            return self.emit(cls.of(a, b))

        return record

    def _symbol_value(self, s: Sym) -> Value:
        return self.func.symbols[s]

    def i64(self, e: Dim) -> Value:
        """A Python int as i64 data."""
        if isinstance(e, int):
            return self.constant(self._small(e), I64)
        key = ("i64", e)
        if (found := self.cached(key)) is None:
            found = self.remember(key, self.emit(arith.IndexCast.of(self.index(e), I64)))
            self.int_expressions[found] = e
        return found

    def entry_only(self, e: Dim) -> bool:
        return symbols(e) <= self.hints.keys()

    def in_this_call(self, e: Dim) -> int | None:
        """What an expression of sizes and ints of the call is in the call that is traced; None where only the run time
        knows. So it is where a divisor is 0: what is known where the call does not come has simplified the expression
        (`max(n, 1)` in a loop over range(1, n))."""
        if not self.entry_only(e):
            return None
        try:
            return evaluate(e, self.hints)
        except ZeroDivisionError:
            return None

    def ask_nonneg(self, e: Dim, guard: bool = True) -> bool | None:
        """Whether e >= 0: proved, or assumed by a guard on entry values; None where only the run time knows."""
        if isinstance(e, int):
            return e >= 0
        known = self.facts.decide_nonneg(e := self.facts.canon(e))
        if known is not None or isinstance(e, int) or not guard:
            return known
        if (value := self.in_this_call(e)) is not None:
            self._guard("nonneg", e if value >= 0 else add(neg(e), -1))
            return value >= 0
        bound = self.facts.hoist(e)
        if bound is None or (value := self.in_this_call(bound)) is None or value < 0:
            return None
        self._guard("nonneg", bound)
        return True

    def ask_equal(self, a: Dim, b: Dim) -> bool | None:
        """Whether a == b: proved either way, or guarded; None where only the run time knows."""
        difference = self.facts.canon(sub(a, b))
        if isinstance(difference, int):
            return difference == 0
        if self.facts.equal(a, b):
            return True
        if self.facts.nonneg(add(difference, -1)) or self.facts.nonneg(add(neg(difference), -1)):
            return False
        if (value := self.in_this_call(difference)) is None:
            return self._tie(self.facts.canon(a), self.facts.canon(b))
        self._guard("nonzero" if value else "zero", difference)
        return not value

    def _tie(self, a: Dim, b: Dim) -> bool | None:
        """True if sizes that occur on one side only, guarded to be equal where they are in this call, make both equal
        (Z1b)."""
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
        if isinstance(difference, int) or self.facts.equal(a, b) or (value := self.in_this_call(difference)) is None:
            return self.facts.equal(a, b) or (False if isinstance(difference, int) else None)
        if self.stride_symbols.isdisjoint(symbols(difference)):
            return self.ask_equal(a, b)
        guard = Guard("nonzero" if value else "zero", difference)
        if guard not in self.guards:
            self.guards.append(guard)
        return not value

    def static_int(self, e: Dim, what: str) -> int:
        """The int that an entry expression has in the traced call; a guard makes it part of the key."""
        e = self.facts.canon(e)
        if isinstance(e, int):
            return e
        if (value := self.in_this_call(e)) is None:
            raise self.refuse(f"{what} depends on computed values", "use a constant, or an argument that is an int")
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
        elif evaluate(e, self.hints) > 0 and self.facts.nonneg(e):  # which may hold in this loop or branch only
            self.facts.assume_nonneg(add(e, -1), entry=self.facts.nonneg_at_entry(e))

    def in_scope(self, e: Dim) -> bool:
        """Whether the symbols of e have their values in the regions being recorded."""
        return all(s not in self.func.symbols or self.is_visible(self.func.symbols[s]) for s in symbols(e))

    # -- checks
    def check(
        self, condition: Value, exception: Raised, message: Message, values: Sequence[Value] = ()
    ) -> None:
        """Records what raises where the condition is false; `message` has a {} for each of `values`."""
        if (landing := self.landing_for(exception, message)) is not None:
            return landing.check(condition, self.site(exception, message, values), values)
        self.add(checks.Check.of(condition, exception, message, values))

    def compare(self, predicate: str, a: Dim, b: Dim) -> Value:
        """i1 of an integer comparison (slt, sge, eq ...)."""
        return self.emit(arith.CmpI.of(predicate, self.index(a), self.index(b)))

    def require_nonneg(self, e: Dim, exception: Raised, message: str, values: Sequence[Dim] = ()) -> None:
        """e >= 0 by proof, guard or check; `message` has a {} for each of `values`."""
        known = self.ask_nonneg(e)
        if known is False:
            self.fail(exception, message, values)
        if known is None:
            self.check(self.compare("sge", e, 0), exception, message, [self.index(v) for v in values])

    def require_equal(self, a: Dim, b: Dim, exception: Raised, message: str, values: Sequence[Dim] = ()) -> None:
        """a == b by proof, guard or check."""
        known = self.ask_equal(a, b)
        if known is False:
            self.fail(exception, message, values)
        if known is None:
            self.check(self.compare("eq", a, b), exception, message, [self.index(v) for v in values])

    def fail(
        self, exception: Raised, message: Message = None, values: Sequence[Dim | Value] = ()
    ) -> NoReturn:
        """Records that the program raises here: tracing raises at once if this is always reached, else the program does
        when it is reached (an earlier error wins, rule F3)."""
        known = [None if isinstance(v, Value) else self.in_this_call(v) for v in values]
        if self.certain and None not in known:
            error = ask(make_error, exception, message, known)  # TypeError where the class takes more
            raise Raises(note_location(error, self.loc), True, self.loc)
        if (sure := bare(exception) if self.certain else None) is not None:
            note_location(sure, self.loc)
        computed = [v if isinstance(v, Value) else self.index(v) for v in values]
        if (landing := self.landing_for(exception, message)) is not None:
            landing.throw(self.site(exception, message, computed), computed)
            raise DeadEnd
        self.check(self.constant(False, I1), exception, message, computed)
        raise DeadEnd(sure)
