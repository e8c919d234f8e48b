"""Which elements of one array an element of another is computed from, axis by axis: the lattice of the analysis.

The element at `p` of a value may read an argument's axis at `p[k] + low .. p[k] + high`, k an axis of the value, for
p[k] in a range (`Near`, of which there are several where borders are treated in another way); at fixed places, whatever
`p` is (`at`); all of it, combined by an operation (`reduced`); or all of it (`whole`). Offsets are symbolic sizes, so
that a slice that begins at `n - 1` composes with one that ends there. Beside that an axis of a value has margins: how
far from either end the program treats elements in another way. Each bound has the access of the source that made it.

Sizes of arrays are taken to be large beside the constants of the program; what is cut is asked whether it is
(`plan.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tracebuf.frozen import frozen
from tracebuf.ir.dims import Dim, Sym, add, dim_max, neg, sub, symbols, terms_of
from tracebuf.location import UNKNOWN, Location


@frozen(slots=False)
class Why:
    """The access that decides, in words, and where it stands."""

    text: str
    loc: Location = UNKNOWN


@frozen(slots=False)
class Near:
    """`p[axis] + low .. p[axis] + high`, for p[axis] from `begin` to `end`."""

    axis: int
    low: Dim
    high: Dim
    begin: Dim
    end: Dim
    low_why: Why
    high_why: Why
    around: bool = False
    """Whether places before the first are counted from the end, and so on (np.roll)."""


@frozen(slots=False)
class Reach:
    """What is read of one axis: of each kind, where there is any."""

    near: tuple[Near, ...] = ()
    at: tuple[Dim, Dim] | None = None
    at_why: Why | None = None
    reduced: tuple[tuple[str, Why], ...] = ()
    whole: Why | None = None

    @property
    def is_nothing(self) -> bool:
        return not self.near and self.at is None and not self.reduced and self.whole is None


Reaches = Mapping[int, tuple[Reach, ...]]
"""By the number of an argument: the reach into each of its axes."""


@frozen(slots=False)
class Margin:
    """How many elements at the low and the high end of an axis the program treats in another way; `whole`: why no
    two places are known to be alike."""

    low: Dim = 0
    high: Dim = 0
    low_why: Why | None = None
    high_why: Why | None = None
    whole: Why | None = None


@frozen(slots=False)
class State:
    """What is known of a value: its reaches, and a margin for each of its axes (none: a scalar)."""

    reaches: Reaches
    margins: tuple[Margin, ...] = ()


# -- offsets


def known(d: Dim) -> bool:
    """Whether an offset does not depend on a size of an array."""
    return all(s.kind == "arg" for s in symbols(d))


def greater(a: Dim, b: Dim) -> Dim | None:
    """The greater of two offsets, where that is known without knowing sizes."""
    d = sub(a, b)
    if isinstance(d, int):
        return a if d >= 0 else b
    return dim_max(a, b) if known(d) else None


def lesser(a: Dim, b: Dim) -> Dim | None:
    found = greater(neg(a), neg(b))
    return None if found is None else neg(found)


def sign(d: Dim) -> int | None:
    """The sign of a difference of places, for large arrays."""
    if isinstance(d, int):
        return (d > 0) - (d < 0)
    signs = set()
    for atoms, c in terms_of(d).items():
        if not all(isinstance(a, Sym) and a.kind == "dim" for a in atoms):
            return None
        if atoms:
            signs.add(c > 0)
    return None if len(signs) != 1 else 1 if signs.pop() else -1


def later(a: Dim, b: Dim, otherwise: Dim) -> Dim:
    """The later of two places, for large arrays."""
    found = sign(sub(a, b))
    return otherwise if found is None else a if found >= 0 else b


def sooner(a: Dim, b: Dim, otherwise: Dim) -> Dim:
    found = sign(sub(a, b))
    return otherwise if found is None else b if found >= 0 else a


# -- joins

MOST_PIECES = 32
"""Of an axis; the time to follow a program grows with their square."""


def whole_of(why: Why) -> Reach:
    return Reach(whole=why)


def join_pieces(a: tuple[Near, ...], b: tuple[Near, ...]) -> tuple[Near, ...]:
    """All pieces; those of one range are one, and what another one covers is left out."""
    found = list(a)
    for new in b:
        if any(covers(old, new) for old in found):
            continue
        found = [old for old in found if not covers(new, old)]
        for k, old in enumerate(found):
            if (old.axis, old.begin, old.end) == (new.axis, new.begin, new.end):
                low, high = lesser(old.low, new.low), greater(old.high, new.high)
                if low is not None and high is not None:
                    found[k] = replace(
                        old, low=low, high=high, around=old.around or new.around,
                        low_why=new.low_why if low == new.low != old.low else old.low_why,
                        high_why=new.high_why if high == new.high != old.high else old.high_why,
                    )  # fmt: skip
                    break
        else:
            found.append(new)
    return tuple(found)


def covers(a: Near, b: Near) -> bool:
    """Whether one piece says all that another one says."""
    if a.axis != b.axis or a.around < b.around:
        return False
    bounds = (sub(b.begin, a.begin), sub(a.end, b.end), sub(b.low, a.low), sub(a.high, b.high))
    if a.around != b.around and a.low != b.low:
        return False
    return all(isinstance(d, int) and d >= 0 for d in bounds)


def join_reach(a: Reach, b: Reach) -> Reach:
    if a is b or b.is_nothing:
        return a
    if a.is_nothing:
        return b
    whole = a.whole or b.whole
    near = join_pieces(a.near, b.near) if whole is None else a.near or b.near
    if whole is None and len(near) > MOST_PIECES:
        whole = Why(f"it is read in more than {MOST_PIECES} parts ({near[0].low_why.text})", near[0].low_why.loc)
    near = near if whole is None else near[:1]
    if whole is None and len({n.axis for n in near}) > 1:
        other = next(n for n in near if n.axis != near[0].axis)
        text = f"it is read along axis {near[0].axis} and along axis {other.axis} ({other.low_why.text})"
        whole = Why(text, other.low_why.loc)
    at, at_why = a.at or b.at, a.at_why or b.at_why
    if a.at is not None and b.at is not None:
        low, high = lesser(a.at[0], b.at[0]), greater(a.at[1], b.at[1])
        if high is None or low is None:
            whole = whole or b.at_why
        else:
            at = low, high
    reduced = a.reduced + tuple(r for r in b.reduced if r[0] not in {o for o, _ in a.reduced})
    return Reach(near, at, at_why, reduced, whole)


def join_reaches(a: Reaches, b: Reaches) -> Reaches:
    if not b or a is b:
        return a
    found = dict(a)
    for arg, axes in b.items():
        old = found.get(arg)
        found[arg] = axes if old is None else tuple(map(join_reach, old, axes))
    return found


def join_margin(a: Margin, b: Margin) -> Margin:
    if b == Margin():
        return a
    if a == Margin():
        return b
    whole = a.whole or b.whole
    low, high = greater(a.low, b.low), greater(a.high, b.high)
    low_why = a.low_why if low == a.low else b.low_why
    high_why = a.high_why if high == a.high else b.high_why
    if low is None or high is None:
        return replace(a, whole=whole or b.low_why or b.high_why or a.low_why or a.high_why)
    return Margin(low, high, low_why, high_why, whole)


def join(a: State, b: State) -> State:
    """Both states of a value of one rank."""
    if a is b:
        return a
    margins = tuple(map(join_margin, a.margins, b.margins)) if a.margins and b.margins else a.margins or b.margins
    return State(join_reaches(a.reaches, b.reaches), margins)


# -- composition


def through(outer: Sequence[Reach], inner: Reaches) -> Reaches:
    """What a value reads of the arguments, which reads `outer` of another value that reads `inner` of them."""
    found: dict[int, tuple[Reach, ...]] = {}
    for arg, axes in inner.items():
        made = []
        for reach in axes:
            new = Reach((), reach.at, reach.at_why, reach.reduced, reach.whole)
            for near in reach.near:
                new = join_reach(new, _composed(outer[near.axis], near))
            made.append(new)
        found[arg] = tuple(made)
    return found


def _composed(outer: Reach, near: Near) -> Reach:
    """What is read of an argument's axis, where `outer` is read of the value's axis that `near` stands for."""
    pieces: tuple[Near, ...] = ()
    for o in outer.near:
        piece = _piece(o, near)
        if piece is not None:
            pieces = join_pieces(pieces, (piece,))
    at, whole = None, outer.whole
    if (o_at := outer.at) is not None and sign(sub(o_at[1], near.begin)) != -1 and (
        sign(sub(near.end, o_at[0])) in (1, None)
    ):  # fmt: skip
        at = add(o_at[0], near.low), add(o_at[1], near.high)
        if near.around and (at := turned(*at, near.end)) is None:
            reason = outer.at_why or near.low_why
            whole = whole or Why(f"{reason.text}, of what is read around the end", reason.loc)
    return Reach(pieces, at, outer.at_why if at is not None else None, outer.reduced, whole)


def turned(first: Dim, last: Dim, size: Dim) -> tuple[Dim, Dim] | None:
    """Places of an axis of a size, where some are counted around the end: those that they are; None where that is
    unknown, or only some of them are around."""
    by = set()
    for place in (first, last):
        if isinstance(place, int):
            by.add(size if place < 0 else 0)
        elif isinstance(behind := sub(place, size), int):
            by.add(neg(size) if behind >= 0 else 0)
        else:
            return None
    return (add(first, turn), add(last, turn)) if len(by) == 1 and (turn := by.pop()) is not None else None


def _piece(o: Near, i: Near) -> Near | None:
    """Places `p` read `p + o.low .. p + o.high` of a value whose places read `i`; None where none of these are in the
    range of `i`."""
    low, high, first, end = o.low, o.high, o.begin, o.end
    if not o.around:
        first = later(o.begin, sub(i.begin, o.high), o.begin)
        end = sooner(o.end, sub(i.end, o.low), o.end)
        if sign(sub(end, first)) in (0, -1):
            return None
        low = later(o.low, sub(i.begin, sub(end, 1)), o.low)
        high = sooner(o.high, sub(sub(i.end, 1), first), o.high)
        if not known(low) or not known(high):  # both ends are far from one another
            low, high = o.low, o.high
    return Near(
        o.axis, add(low, i.low), add(high, i.high), first, end,
        o.low_why if i.low == 0 else i.low_why, o.high_why if i.high == 0 else i.high_why, o.around or i.around,
    )  # fmt: skip


def margins_through(
    outer: Sequence[Reach], inner: Sequence[Margin], sizes: Sequence[Dim], of: Sequence[Dim]
) -> tuple[Margin, ...]:
    """The margins of a value of sizes `sizes` that reads `outer` of a value of sizes `of` with margins `inner`. An axis
    of a fixed size has none, unless its elements depend on where they are."""
    found = [Margin() for _ in sizes]
    for reach, margin, size in zip(outer, inner, of):
        for near in reach.near if margin != Margin() else ():
            if isinstance(sizes[near.axis], int) and not isinstance(size, int):
                margin = Margin(whole=margin.whole)
            low = 0 if margin.low == 0 else sub(margin.low, near.low)
            high = 0 if margin.high == 0 else add(margin.high, add(near.high, sub(sizes[near.axis], size)))
            new = Margin(at_least_0(low), at_least_0(high), margin.low_why, margin.high_why, margin.whole)
            if near.around or not known(new.low) or not known(new.high):
                new = Margin(whole=margin.whole or margin.low_why or margin.high_why)
            found[near.axis] = join_margin(found[near.axis], new)
    return tuple(found)


def at_least_0(d: Dim) -> Dim:
    return max(d, 0) if isinstance(d, int) else dim_max(d, 0)


def hull(pieces: Sequence[Near]) -> Near | Why | None:
    """All pieces as one; a reason where they lie around the end of the array, or sizes decide."""
    if not pieces:
        return None
    found = pieces[0]
    for n in pieces[1:]:
        low, high = lesser(found.low, n.low), greater(found.high, n.high)
        if low is None or high is None:
            far = n if not known(n.low) or not known(n.high) else found
            return Why(f"{far.low_why.text}: it is read both near and far", far.low_why.loc)
        found = replace(
            found, low=low, high=high, around=found.around or n.around,
            low_why=found.low_why if low == found.low else n.low_why,
            high_why=found.high_why if high == found.high else n.high_why,
        )  # fmt: skip
    if not known(found.low) or not known(found.high):
        return Why(f"{found.low_why.text}: how far away it is hangs on the size", found.low_why.loc)
    return found
