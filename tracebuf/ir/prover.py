"""The prover of `ir/facts.py`: whether a size is >= 0, by the facts known at one op, and constant bounds of it.

For `e >= 0`, in turn: interval arithmetic; `min` and `max` by cases; `//` by its rational bounds; the innermost loop
variable at its worst bound; products by shifting each factor to its least value; subtracting known facts. Depth and
fuel are bounded, and answers are kept until the facts change. False means "not proved", never "false".

Limitations: no integer programming, no disjunctions among the facts, no scopes (they are in `SizeFacts`).

Source: the order of the steps is that of their use in traced NumPy programs, where bounds answer most questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import gcd

from tracebuf.ir.dims import (
    Atom,
    Dim,
    Expr,
    FloorDiv,
    Max,
    Min,
    Mono,
    Sym,
    add,
    from_terms,
    mul,
    neg,
    replace_atom,
    sub,
    symbols,
    terms_of,
)

__all__ = ["Interval", "Prover", "coefficient", "composites"]

Interval = tuple[int | None, int | None]
_DEPTH = 3  # facts subtracted one after another
_FUEL = 150  # expressions looked at in one question
MOST_LEARNT = 100  # facts that are taken of one


class Prover:
    """Bounds of symbols, loops from the outermost in, facts by the terms they can cancel; all expressions canonical."""

    __slots__ = ("_bounds", "_loops", "_index", "_intervals", "_proven", "_failed", "_seen", "_fuel")

    def __init__(self) -> None:
        self._proven: set[Expr] = set()
        self._reset()

    def _reset(self) -> None:
        """Forget all but what has been proved, which is for the owner of the scopes to take back."""
        self._bounds: dict[Sym, Interval] = {}
        self._loops: list[tuple[Sym, Dim, Dim]] = []
        self._index: dict[tuple[Mono, bool], tuple[Expr, ...]] = {}
        self._intervals: dict[Expr, Interval] = {}
        self._failed: set[Expr] = set()
        self._seen: dict[Expr, int] = {}
        self._fuel = 0

    # -- learning ----------------------------------------------------------------------------------------------------

    def _tighten(self, s: Sym, lo: int | None, hi: int | None) -> None:
        old_lo, old_hi = old = self._bounds.get(s, (s.lo, s.hi))
        new = (_meet(max, old_lo, lo), _meet(min, old_hi, hi))
        if new != old:
            self._bounds[s] = new
            self._intervals.clear()

    def _learn(self, e: Dim) -> None:
        """Take e >= 0 into the index, and what follows from it: the first MOST_LEARNT, for of several minima each
        choice of arguments does."""
        self._take_in(e, set())

    def _take_in(self, e: Dim, met: set[Expr]) -> None:
        """A bound of one symbol is a tighter constant bound."""
        if isinstance(e, int) or e in met or len(met) >= MOST_LEARNT:
            return
        met.add(e)
        for atom, k in _linear_atoms(e):
            if (isinstance(atom, Min) and k > 0) or (isinstance(atom, Max) and k < 0):
                for x in atom.args:
                    self._take_in(replace_atom(e, atom, x), met)
                return
        for atom, k in _linear_atoms(e):  # bottom*e is at most what stands here, so that is >= 0 too
            if isinstance(atom, FloorDiv) and isinstance(bottom := atom.args[1], int):
                bound = atom.args[0] if k > 0 else sub(atom.args[0], bottom - 1)
                self._take_in(add(mul(bottom, replace_atom(e, atom, 0)), mul(k, bound)), met)
        monos = [m for m in e.terms if m]
        if len(monos) == 1 and len(monos[0]) == 1 and isinstance(s := monos[0][0], Sym):
            k, c = e.terms[monos[0]], e.terms.get((), 0)
            self._tighten(s, *((-(c // k), None) if k > 0 else (None, c // -k)))
            if s.kind != "iv":  # a loop variable is replaced by its loop's bounds, so its fact is kept as well
                return
        for m in monos:
            key = m, e.terms[m] > 0
            self._index[key] = (*self._index.get(key, ()), e)

    # -- intervals ---------------------------------------------------------------------------------------------------

    def interval_of(self, e: Dim) -> Interval:
        """Constant bounds of a canonical e, by interval arithmetic."""
        if isinstance(e, int):
            return e, e
        known = self._intervals.get(e)
        if known is not None:
            return known
        lo: int | None = 0
        hi: int | None = 0
        for m, c in e.terms.items():
            if len(m) == 1 and isinstance(s := m[0], Sym):
                low, high = self._bounds.get(s) or (s.lo, s.hi)
            else:
                low, high = self._mono_interval(m)
            if c < 0:
                low, high = high, low
            lo = None if lo is None or low is None else lo + c * low
            hi = None if hi is None or high is None else hi + c * high
            if lo is None and hi is None:
                break
        self._intervals[e] = lo, hi
        return lo, hi

    def _mono_interval(self, m: Mono) -> Interval:
        if not m:
            return 1, 1
        out = self._atom_interval(m[0])
        for a in m[1:]:
            out = _product(out, self._atom_interval(a))
        return out

    def _atom_interval(self, a: Atom) -> Interval:
        if isinstance(a, Sym):
            return self._bounds.get(a) or (a.lo, a.hi)
        parts = [self.interval_of(x) for x in a.args]
        if isinstance(a, FloorDiv):
            return _quotient(*parts)
        best, worst = (max, 0) if isinstance(a, Max) else (min, 1)
        known = [p[worst] for p in parts if p[worst] is not None]
        all_of = [p[1 - worst] for p in parts]
        near = best(known) if known else None  # type: ignore[type-var]
        far = None if None in all_of else best(all_of)  # type: ignore[type-var]
        return (near, far) if worst == 0 else (far, near)

    # -- the prover --------------------------------------------------------------------------------------------------

    def holds(self, e: Dim) -> bool:
        """Prove e >= 0 for a canonical e."""
        if isinstance(e, int):
            return e >= 0
        if e in self._proven:
            return True
        low = self.interval_of(e)[0]
        if low is not None and low >= 0:
            return True
        if e in self._failed or self._refuted(e):
            return False
        self._seen, self._fuel = {}, _FUEL
        ok = self._prove(e, _DEPTH)
        if ok:
            self._proven.add(e)
            self._proved(e)
        else:
            self._failed.add(e)
        return ok

    def _refuted(self, e: Expr) -> bool:
        """Whether a case is known that the facts allow and where e < 0, so that trying to prove it is idle."""
        return False

    def _proved(self, e: Expr) -> None:
        """Called with each new proof, for an owner that must take it back later."""

    def _prove(self, e: Dim, depth: int) -> bool:
        if isinstance(e, int):
            return e >= 0
        lo, hi = self.interval_of(e)
        if lo is not None and lo >= 0:
            return True
        if (hi is not None and hi < 0) or self._fuel <= 0 or self._seen.get(e, -1) >= depth:
            return False
        if e in self._proven:
            return True
        self._fuel -= 1
        self._seen[e] = depth
        return (
            self._by_atoms(e, depth)
            or self._by_loops(e, depth)
            or self._by_products(e, depth)
            or (depth > 0 and any(self._prove(x, depth - 1) for x in self._less_facts(e)))
        )

    def _by_atoms(self, e: Expr, depth: int) -> bool:
        """min and max by cases, // by a//b - 1 < q <= a//b over the rationals."""
        for atom in composites(e):
            factor = coefficient(e, atom)
            if isinstance(atom, FloorDiv):
                weaker = None if factor is None else self._without_quotient(e, atom, factor)
                if weaker is not None:
                    return self._prove(weaker, depth)
                continue
            cases = (replace_atom(e, atom, x) for x in atom.args)
            low, high = self.interval_of(factor) if factor is not None else (None, None)
            some = (low is not None and low >= 0) if isinstance(atom, Max) else (high is not None and high <= 0)
            return (any if some else all)(self._prove(x, depth) for x in cases)
        return False

    def _without_quotient(self, e: Expr, q: FloorDiv, factor: Dim) -> Dim | None:
        """For e = factor*q + rest: something without q whose sign implies e >= 0, or None."""
        top, bottom = q.args
        low, high = self.interval_of(factor)
        positive = low is not None and low >= 0
        if not positive and not (high is not None and high <= 0):
            return None
        rest = sub(e, mul(factor, from_terms({(q,): 1})))
        bound = add(sub(top, bottom), 1) if positive else top  # of bottom*q
        if isinstance(bottom, int):  # e >= 0 if bottom*e > -bottom
            return add(add(mul(factor, bound), mul(bottom, rest)), bottom - 1)
        floor = self.interval_of(bottom)[0]
        if floor is None or floor < 1:
            return None
        times = _divide_by(factor, bottom)
        if times is not None:
            return add(mul(times, bound), rest)
        floor = self.interval_of(top)[0]
        if floor is None or floor < 0:
            return None
        return rest if positive else add(mul(factor, top), rest)

    def _by_loops(self, e: Expr, depth: int) -> bool:
        """The innermost loop variable at its worst bound; at both where its factor has no known sign."""
        used = symbols(e)
        for iv, lower, last in reversed(self._loops):
            if iv in used:
                factor = coefficient(e, iv)
                if factor is None or any(iv in a.symbols for a in composites(e)):
                    return False
                low, high = self.interval_of(factor)
                up = low is not None and low >= 0
                down = not up and high is not None and high <= 0
                return (down or self._prove(replace_atom(e, iv, lower), depth)) and (
                    up or self._prove(replace_atom(e, iv, last), depth)
                )
        return False

    def _by_products(self, e: Expr, depth: int) -> bool:
        """A common factor of known sign is left out; else every factor is written as its bound plus something >= 0."""
        if all(len(m) < 2 for m in e.terms):
            return False
        for a in min(e.terms, key=len):
            if all(a in m for m in e.terms):
                low, high = self._atom_interval(a)
                quotient = from_terms({_drop(m, a): c for m, c in e.terms.items()})
                if low is not None and low >= 0:
                    return self._prove(quotient, depth)
                if high is not None and high <= 0:
                    return self._prove(neg(quotient), depth)
        shifted: Dim = e
        for a in {a: None for m in e.terms for a in m}:
            low, high = self._atom_interval(a)
            itself = from_terms({(a,): 1})
            if not isinstance(shifted, Expr) or (low is None and high is None):
                return False
            if low != 0:
                shifted = replace_atom(shifted, a, add(itself, low) if low is not None else sub(high or 0, itself))
        return all(c >= 0 for c in terms_of(shifted).values())

    def _less_facts(self, e: Expr) -> Iterator[Dim]:
        """e less multiples of facts that cancel one of its terms (negative ones first): if that is >= 0, so is e."""
        if not self._index:
            return
        for m, c in sorted(((m, c) for m, c in e.terms.items() if m), key=lambda t: t[1] > 0):
            for f in self._index.get((m, c > 0), ()):
                yield _cancel(e, c, f, f.terms[m])
            if len(m) < 2:
                continue
            for a in dict.fromkeys(m):
                low = self._atom_interval(a)[0]
                if low is not None and low >= 0:
                    rest = _drop(m, a)
                    for f in self._index.get((rest, c > 0), ()):
                        yield _cancel(e, c, mul(f, from_terms({(a,): 1})), f.terms[rest])


# -- helpers ---------------------------------------------------------------------------------------------------------


def _cancel(e: Dim, c: int, fact: Dim, k: int) -> Dim:
    """For a term c of e and k of the fact, of one sign: r with r >= 0 => e >= 0 (for integers -a < a*e is enough)."""
    g = gcd(c, k)
    a, b = abs(k) // g, abs(c) // g
    return add(sub(mul(e, a), mul(fact, b)), a - 1)


def _meet(pick: Callable[[int, int], int], a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else pick(a, b)


def _drop(m: Mono, a: Atom) -> Mono:
    i = m.index(a)
    return m[:i] + m[i + 1 :]


def composites(e: Expr) -> list[Min | Max | FloorDiv]:
    """The atoms of e that are not symbols: min and max first."""
    for m in e.terms:
        for a in m:
            if a.__class__ is not Sym:
                found = {a: None for m in e.terms for a in m if not isinstance(a, Sym)}
                return sorted(found, key=lambda a: isinstance(a, FloorDiv))
    return []


def _linear_atoms(e: Expr) -> list[tuple[Min | Max | FloorDiv, int]]:
    """The composite atoms that stand in one term only, alone, with their coefficients."""
    return [
        (a, c) for m, c in e.terms.items() if len(m) == 1 and not isinstance(a := m[0], Sym)
        and sum(a in n for n in e.terms) == 1
    ]  # fmt: skip


def coefficient(e: Expr, a: Atom) -> Dim | None:
    """The factor of an atom in which e is linear, or None."""
    c = e.terms.get((a,))
    if c is not None and not any(a in m for m in e.terms if len(m) > 1):
        return c
    if any(m.count(a) > 1 for m in e.terms):
        return None
    return from_terms({_drop(m, a): c for m, c in e.terms.items() if a in m})


def _divide_by(a: Dim, b: Expr) -> int | None:
    """The constant k with a == k*b, or None."""
    m, c = next(iter(b.terms.items()))
    k = terms_of(a).get(m, 0) // c
    return k if k and mul(b, k) == a else None


def _product(x: Interval, y: Interval) -> Interval:
    (a, b), (c, d) = x, y
    if a is not None and c is not None and a >= 0 and c >= 0:
        return a * c, None if b is None or d is None else b * d
    if a is None or b is None or c is None or d is None:
        return None, None
    ends = (a * c, a * d, b * c, b * d)
    return min(ends), max(ends)


def _quotient(x: Interval, y: Interval) -> Interval:
    (a, b), (c, d) = x, y
    if c is None or c < 1 or (d is not None and d < c):  # the last by contradictory facts
        return None, None
    if a is not None:
        a = a // c if a < 0 else 0 if d is None else a // d
    if b is not None:
        b = b // c if b >= 0 else -1 if d is None else b // d
    return a, b
