"""What is known about symbolic sizes where an op stands: scopes, substitutions and questions.

`SizeFacts` holds the constant bounds of symbols, the loops in scope, entry guards and branch conditions, in nested
scopes, and decides signs and equalities of `Dim`s. An equality is kept as a substitution, so that everything stays
canonical; anything else is an expression known to be >= 0. `ir/prover.py` does the proofs.

Limitations: False from a question means "not proved", never "false". Contradictory facts (dead code) prove anything.

MLIR counterpart: `ValueBoundsOpInterface` (mlir/include/mlir/Interfaces/ValueBoundsOpInterface.td), with guards added.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import Any

from tracebuf.ir.dims import (
    Dim,
    Expr,
    FloorDiv,
    Max,
    Min,
    Sym,
    dim_max,
    dim_min,
    evaluate,
    floordiv,
    from_terms,
    mul,
    neg,
    replace_atom,
    sub,
    substitute,
    sym,
    symbols,
)
from tracebuf.ir.prover import Interval, Prover, coefficient, composites

__all__ = ["SizeFacts", "Interval"]


class _Scope:
    """The facts stated in one loop, one branch or at the entry; derived data is in `SizeFacts`."""

    __slots__ = ("loop", "nonneg", "equal", "proven", "unlike_hints", "before")

    def __init__(self, loop: tuple[Sym, Dim, Dim] | None = None) -> None:
        self.loop = loop
        self.nonneg: list[Dim] = []
        self.equal: list[tuple[Dim, Dim]] = []
        self.proven: list[Expr] = []
        self.unlike_hints = False  # said something that is not so for the hints
        self.before: _Derived | None = None
        """What was derived before its first fact, while that is what holds without it."""

    @property
    def silent(self) -> bool:
        """Whether nothing was stated in it."""
        return not (self.loop or self.nonneg or self.equal)


_Derived = tuple[dict[str, Any], dict[str, Any]]
"""What follows from facts: the parts that learning changes, copied, and the answers kept so far."""
_LEARNT = ("_bounds", "_index", "_loops", "_subst", "_told")
_KEPT = ("_intervals", "_failed", "_canon", "_settled", "_simple")


class SizeFacts(Prover):
    """Scoped knowledge about sizes: loops by `push_loop`, branches by `push_scope`; the entry is outermost.

    A fact goes to the innermost scope; but one that speaks of entry symbols only (kinds "dim" and "arg") and is said
    outside any branch is an entry guard, and goes to the outermost. `entry=True` or `False` decides it explicitly.

    `hints` are the values of symbols in the call that is traced (more may be put in at any time). They prove nothing: a
    question that is false for them is given up at once, which is what most idle proofs would end with."""

    __slots__ = (
        "version", "hints", "refreshed", "_scopes", "_subst", "_told", "_stale", "_canon", "_settled", "_simple",
    )  # fmt: skip

    def __init__(self, hints: Mapping[Sym, int] | None = None) -> None:
        self.version = 0  # changes with every change of what is known
        self.refreshed = 0  # how often all facts were learnt anew
        self.hints = dict(hints or {})
        self._scopes = [_Scope()]
        super().__init__()

    # -- telling -----------------------------------------------------------------------------------------------------

    def push_loop(self, iv: Sym, lower: Dim, last: Dim) -> None:
        """Inside a loop that runs: lower <= iv <= last, and so lower <= last."""
        self._refresh()
        self._scopes.append(_Scope((iv, lower, last)))
        self._scopes[-1].before = self._derived()
        final, trips = self._hint(last), self._hint(sub(last, lower))
        if final is not None:
            self.hints[iv] = final
        self._scopes[-1].unlike_hints = trips is not None and trips < 0
        self._changed()
        self._enter_loop(iv, lower, last)

    def pop_loop(self) -> None:
        """Leave the innermost scope, which must be a loop."""
        self._pop(is_loop=True)

    def push_scope(self) -> None:
        """Enter a branch."""
        self._scopes.append(_Scope())

    def pop_scope(self) -> None:
        """Leave the innermost scope, which must be a branch."""
        self._pop(is_loop=False)

    @contextmanager
    def loop(self, iv: Sym, lower: Dim, last: Dim) -> Iterator[None]:
        """`with facts.loop(iv, lower, last)`: inside a loop that runs."""
        self.push_loop(iv, lower, last)
        try:
            yield
        finally:
            self.pop_loop()

    @contextmanager
    def supposing(self, nonneg: Iterable[Dim]) -> Iterator[None]:
        """`with facts.supposing(nonneg)`: these are taken for not negative inside."""
        self.push_scope()
        try:
            for e in nonneg:
                self.assume_nonneg(e, entry=False)
            yield
        finally:
            self.pop_scope()

    def assume_nonneg(self, e: Dim, *, entry: bool | None = None) -> None:
        """e >= 0 holds in the scope (an entry guard, or a condition of the branch)."""
        self._refresh()
        scope = self._scope_for(symbols(e), entry)
        self._keep(scope)
        scope.nonneg.append(e)
        scope.unlike_hints |= (self._hint(e) or 0) < 0
        self._changed()
        self._learn(self.canon(e))
        self._stale |= scope is self._scopes[0] and bool(self._loops)  # a loop's variable may be bounded closer now

    def assume_equal(self, a: Dim, b: Dim, *, entry: bool | None = None) -> None:
        """a == b holds in the scope: a substitution if one symbol can be solved for, else two inequalities."""
        scope = self._scope_for(symbols(a) | symbols(b), entry)
        self._keep(scope)
        scope.equal.append((a, b))
        scope.unlike_hints |= (self._hint(sub(a, b)) or 0) != 0
        self._changed()
        if not self._replaced(a, b):
            self._stale = True

    def _replaced(self, a: Dim, b: Dim) -> bool:
        """Whether a == b only replaces a symbol, of which no loop in scope speaks: what else is known of it is learnt
        again, and all else holds as it stands."""
        solved = None if self._stale else _solve(self.canon(sub(a, b)))
        if solved is None or any(solved[0] in used for used in map(_symbols_of_loop, self._loops)):
            return False
        told = self._told.pop(solved[0], ())
        self._substitute(*solved)
        self._learn_bounds(*solved)
        for e in dict.fromkeys(map(self.canon, told)):
            self._learn(e)
        return True

    def _scope_for(self, used: frozenset[Sym], entry: bool | None) -> _Scope:
        only_entry = all(s.kind in ("dim", "arg") for s in used)
        if entry and not only_entry:
            raise ValueError("an entry guard can only speak of argument sizes and integer arguments")
        if entry is None:
            entry = only_entry and all(s.loop for s in self._scopes[1:])
        return self._scopes[0] if entry else self._scopes[-1]

    def _pop(self, is_loop: bool) -> None:
        if len(self._scopes) == 1 or (self._scopes[-1].loop is not None) != is_loop:
            raise RuntimeError("scopes of loops and branches must be left in the order they were entered")
        scope = self._scopes.pop()
        self._proven.difference_update(scope.proven)
        if scope.loop:
            self.hints.pop(scope.loop[0], None)
        if scope.silent:
            return
        self.version += 1
        self._stale = scope.before is None
        if scope.before is not None:
            for part in scope.before:
                for name, value in part.items():
                    setattr(self, name, value)

    def _keep(self, scope: _Scope) -> None:
        """Before a fact goes to a scope: keeps what holds without that scope. A fact of the entry's holds without the
        scopes inside too, of which it is not known what follows from it there."""
        if scope is self._scopes[-1] and scope is not self._scopes[0]:
            if scope.silent:
                self._refresh()
                scope.before = self._derived()
            return
        for inner in self._scopes[1:]:
            inner.before = None

    def _derived(self) -> _Derived:
        """What is derived now; answers are kept anew from here on."""
        learnt = {name: copy(getattr(self, name)) for name in _LEARNT}
        kept = {name: getattr(self, name) for name in _KEPT}
        for name in _KEPT:
            setattr(self, name, type(kept[name])())
        return learnt, kept

    # -- what follows from what was said -----------------------------------------------------------------------------

    def _reset(self) -> None:
        super()._reset()
        self._subst: dict[Sym, Dim] = {}
        self._told: dict[Sym, tuple[Dim, ...]] = {}
        """By symbol: what was learnt of it."""
        self._canon: dict[Expr, Dim] = {}
        self._settled = object()
        """What an expression holds that is known to be as `canon` gives it."""
        self._simple: dict[Expr, Dim] = {}
        self._stale = False

    def _hint(self, e: Dim) -> int | None:
        try:
            return evaluate(e, self.hints)
        except (KeyError, ZeroDivisionError):
            return None

    def _refuted(self, e: Expr) -> bool:
        return (self._hint(e) or 0) < 0 and not any(s.unlike_hints for s in self._scopes)

    def _proved(self, e: Expr) -> None:
        self._scopes[-1].proven.append(e)

    def _changed(self) -> None:
        self.version += 1
        self._failed.clear()
        self._simple.clear()

    def _refresh(self) -> None:
        """Derives everything again after a new substitution or a dropped scope."""
        if not self._stale:
            return
        self._reset()
        self.refreshed += 1
        unsolved: list[Dim] = []
        for scope in self._scopes:
            for a, b in scope.equal:
                d = self.canon(sub(a, b))
                solved = _solve(d)
                if solved is None:
                    unsolved += (d, neg(d))
                    continue
                self._substitute(*solved)
        for s in self._subst:
            self._learn_bounds(s, self.canon(sym(s)))
        for scope in self._scopes:
            if scope.loop:
                self._enter_loop(*scope.loop)
            for e in scope.nonneg:
                self._learn(self.canon(e))
        for e in unsolved:
            self._learn(self.canon(e))

    def _substitute(self, s: Sym, by: Dim) -> None:
        """Replaces a symbol from now on; symbols of `by` may be replaced later (`canon` follows)."""
        self._subst[s] = by
        self._canon.clear()
        self._settled = object()

    def _learn_bounds(self, s: Sym, by: Dim) -> None:
        """What the bounds of a symbol say of its replacement."""
        if s.lo is not None:
            self._learn(sub(by, s.lo))
        if s.hi is not None:
            self._learn(sub(s.hi, by))

    def _learn(self, e: Dim) -> None:
        for s in symbols(e):
            self._told[s] = (*self._told.get(s, ()), e)
        super()._learn(e)

    def _enter_loop(self, iv: Sym, lower: Dim, last: Dim) -> None:
        lower, last = self.canon(lower), self.canon(last)
        self._learn(sub(last, lower))
        if iv in self._subst:
            itself = self.canon(sym(iv))
            self._learn(sub(itself, lower))
            self._learn(sub(last, itself))
            return
        self._loops.append((iv, lower, last))
        self._tighten(iv, self.interval_of(lower)[0], self.interval_of(last)[1])

    # -- asking ------------------------------------------------------------------------------------------------------

    def canon(self, e: Dim) -> Dim:
        """e with what equalities have replaced."""
        if self._stale:
            self._refresh()
        if isinstance(e, int) or not self._subst or e.settled is self._settled:
            return e
        out = self._canon.get(e)
        if out is None:
            out = e
            for _ in self._subst:  # at most so many follow one another
                if self._subst.keys().isdisjoint(symbols(out)):
                    break
                out = _rewrite(out, self._subst)
            self._canon[e] = out
        if isinstance(out, Expr):
            out.settled = self._settled
        return out

    def nonneg(self, e: Dim) -> bool:
        """Whether e >= 0 is proved."""
        return self.holds(self.canon(e))

    def nonneg_at_entry(self, e: Dim) -> bool:
        """Whether e >= 0 is proved by what is known at the entry, without the loops and branches in scope."""
        if len(self._scopes) == 1:
            return self.nonneg(e)
        outermost = SizeFacts(self.hints)
        outermost._scopes, outermost._stale = self._scopes[:1], True
        outermost._refresh()
        return outermost.nonneg(e)

    def le(self, a: Dim, b: Dim) -> bool:
        """Whether a <= b is proved."""
        return self.nonneg(sub(b, a))

    def less(self, a: Dim, b: Dim) -> bool:
        """Whether a < b is proved."""
        return self.nonneg(sub(sub(b, a), 1))

    def equal(self, a: Dim, b: Dim) -> bool:
        """Whether a == b is proved."""
        if a is b:
            return True
        if (same := a == b) or (isinstance(a, int) and isinstance(b, int)):
            return same
        for k, e in ((a, b), (b, a)):
            if isinstance(k, int):  # mostly a 1, which the bounds exclude
                lo, hi = self.interval_of(self.canon(e))
                if (lo is not None and lo > k) or (hi is not None and hi < k):
                    return False
        d = self.canon(sub(a, b))
        if isinstance(d, int):
            return d == 0
        lo, hi = self.interval_of(d)
        if (lo is not None and lo > 0) or (hi is not None and hi < 0):
            return False
        return self.holds(d) and self.holds(neg(d))

    def decide_nonneg(self, e: Dim) -> bool | None:
        """True if e >= 0 is proved, False if e < 0 is proved, None if neither."""
        e = self.canon(e)
        if isinstance(e, int):
            return e >= 0
        lo, hi = self.interval_of(e)
        if hi is not None and hi < 0:
            return False
        if (lo is not None and lo >= 0) or self.holds(e):
            return True
        return False if self.holds(sub(-1, e)) else None

    def interval(self, e: Dim) -> Interval:
        """Constant bounds (inclusive, None for unbounded); not always the best."""
        e = self.simplify(e)
        lo, hi = self.interval_of(e)
        if (lo is None or lo < 0) and self.holds(e):
            lo = 0
        if (hi is None or hi > 0) and lo != 0 and self.holds(neg(e)):
            hi = 0
        return lo, hi

    def within(self, e: Dim, low: int, high: int) -> bool:
        """Whether low <= e <= high is known, for low < 0 < high: by constant bounds, or where e has a sign that decides
        it, which is only asked then."""
        e = self.simplify(e)
        lo, hi = self.interval_of(e)
        if lo is None or lo < low:
            return hi is not None and hi <= high and self.holds(e)
        return (hi is not None and hi <= high) or (lo < 0 and self.holds(neg(e)))

    def bounding(self, e: Dim) -> frozenset[Sym]:
        """The symbols of e, and those in the bounds of its loops' variables."""
        found = symbols(self.canon(e))
        for iv, lower, last in reversed(self._loops):
            if iv in found:
                found |= symbols(lower) | symbols(last)
        return found

    def simplify(self, e: Dim) -> Dim:
        """canon(e) without dominated arguments of min and max, and without quotients known to be 0."""
        e = self.canon(e)
        if isinstance(e, int):
            return e
        out = self._simple.get(e)
        if out is None:
            out = self._simple[e] = self._simplify(e)
        return out

    def _simplify(self, e: Expr) -> Dim:
        out: Dim = e
        for atom in composites(e):
            args = [self.simplify(x) for x in atom.args]
            by: Dim
            if isinstance(atom, FloorDiv):
                top, bottom = args
                zero = self.holds(top) and self.holds(sub(sub(bottom, top), 1))
                by = 0 if zero else from_terms({(atom,): 1}) if bottom == 0 else floordiv(top, bottom)
            else:
                least = isinstance(atom, Min)
                for x in args[:]:
                    others = [y for y in args if y is not x]
                    if any(self.holds(sub(y, x) if not least else sub(x, y)) for y in others):
                        args = others
                by = dim_min(*args) if least else dim_max(*args)
            if isinstance(out, Expr) and by != from_terms({(atom,): 1}):
                out = replace_atom(out, atom, by)
        return out

    # -- a sufficient condition at entry -----------------------------------------------------------------------------

    def hoist(self, e: Dim) -> Dim | None:
        """An expression g over entry symbols with g >= 0 => e >= 0 in all iterations of the loops in scope, or None."""
        out: Dim | None = self.simplify(e)
        for iv, lower, last in reversed(self._loops):
            if out is None:
                return None
            out = self._least(out, iv, lower, last, 16)
        if out is None or any(s.kind not in ("dim", "arg") for s in symbols(out)):
            return None
        out = self.simplify(out)
        return out if _defined(out) else None

    def _least(self, e: Dim, iv: Sym, lower: Dim, last: Dim, budget: int) -> Dim | None:
        """A lower bound of e without the loop variable."""
        if isinstance(e, int) or iv not in symbols(e):
            return e
        if budget <= 0:
            return None
        for atom in composites(e):
            if iv not in atom.symbols:
                continue
            factor = coefficient(e, atom)
            sign = self._sign(factor) if factor is not None else None
            if isinstance(atom, FloorDiv):
                by = self._quotient_bound(atom, sign, iv, lower, last, budget // 2)
                return None if by is None else self._least(replace_atom(e, atom, by), iv, lower, last, budget // 2)
            parts = [self._least(replace_atom(e, atom, x), iv, lower, last, budget // 2) for x in atom.args]
            known = [p for p in parts if p is not None]
            if sign == (1 if isinstance(atom, Max) else -1):  # e is the greatest of its cases
                return dim_max(*known) if known else None
            return dim_min(*known) if len(known) == len(parts) else None
        factor = coefficient(e, iv)
        if factor is None:
            return None
        sign = self._sign(factor)
        at = [replace_atom(e, iv, b) for b, s in ((lower, -1), (last, 1)) if sign != s]
        return dim_min(*at)

    def _quotient_bound(
        self, q: FloorDiv, sign: int | None, iv: Sym, lower: Dim, last: Dim, budget: int
    ) -> Dim | None:
        """The bound of q without iv that makes sign*q least; a quotient by a positive divisor is monotone."""
        top, bottom = q.args
        if sign is None or iv in symbols(bottom) or not self.holds(sub(bottom, 1)):
            return None
        if sign > 0:
            bound = self._least(top, iv, lower, last, budget)
        else:
            bound = self._least(neg(top), iv, lower, last, budget)
            bound = None if bound is None else neg(bound)
        return None if bound is None else floordiv(bound, bottom)

    def _sign(self, e: Dim) -> int | None:
        """1 if e >= 0 is known, -1 if e <= 0, None if neither."""
        return 1 if self.holds(e) else -1 if self.holds(neg(e)) else None


def _rewrite(e: Dim, env: dict[Sym, Dim]) -> Dim:
    """substitute(e, env), or e itself where that divides by 0: dead code, about which asking is no error."""
    try:
        return substitute(e, env)
    except ZeroDivisionError:
        return e


def _solve(d: Dim) -> tuple[Sym, Dim] | None:
    """(s, x) with s == x equivalent to d == 0.

    x must be available where s is, so a loop variable or an opaque size is solved for only if it is the newest; among
    entry symbols an argument goes before a dimension, and the newer before the older."""
    if isinstance(d, int):
        return None
    used = symbols(d)
    inner = [s for s in used if s.kind in ("iv", "opaque")]
    ranked = [max(inner, key=_age)] if inner else sorted(used, key=lambda s: (s.kind == "dim", -s.serial))
    for s in ranked:
        c = d.terms.get((s,), 0)
        if c in (1, -1) and not any(s in a.symbols for m in d.terms if m != (s,) for a in m):
            rest = sub(d, mul(c, sym(s)))
            return s, mul(rest, -c)
    return None


def _symbols_of_loop(loop: tuple[Sym, Dim, Dim]) -> frozenset[Sym]:
    iv, lower, last = loop
    return symbols(lower) | symbols(last) | {iv}


def _age(s: Sym) -> int:
    return s.serial


def _defined(e: Dim) -> bool:
    """Whether every divisor in e is positive by the symbols' own bounds: what loops tell is not known at entry."""
    for a in composites(e) if isinstance(e, Expr) else ():
        if isinstance(a, FloorDiv) and (Prover().interval_of(a.args[1])[0] or 0) < 1:
            return False
        if not all(map(_defined, a.args)):
            return False
    return True
