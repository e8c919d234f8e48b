"""Bounds of sizes that only the data decide: how many elements of a mask are true is not known, but not more than it
has; a slice has no more than the array. `upper` and `lower` of an expression by those of its open symbols.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tracebuf.frozen import frozen
from tracebuf.ir.core import Value
from tracebuf.ir.dims import (
    Atom,
    Dim,
    FloorDiv,
    Max,
    Min,
    Sym,
    add,
    dim_max,
    dim_min,
    floordiv,
    from_terms,
    mul,
    product,
    terms_of,
)  # fmt: skip
from tracebuf.ir.types import I1
from tracebuf.ops.arrays import linalg
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.arena import at_most
from tracebuf.ops.memory.indexing import constant_index
from tracebuf.ops.scalars import arith, casts


@frozen(slots=False)
class Bound:
    """Between what a number is; None where that is not known."""

    lo: Dim | None = None
    hi: Dim | None = None


Bounds = Mapping[Sym, Bound]
"""Of the open symbols: the others are what they are."""


def upper(size: Dim, bounds: Bounds) -> Dim | None:
    """What an expression is at most, without open symbols; None where that is not seen."""
    return _extreme(size, bounds, True)


def lower(size: Dim, bounds: Bounds) -> Dim | None:
    """What an expression is at least."""
    return _extreme(size, bounds, False)


def _extreme(size: Dim, bounds: Bounds, up: bool) -> Dim | None:
    total: Dim = 0
    for mono, c in terms_of(size).items():
        touched = [a for a in mono if is_open(a, bounds)]
        plain = [a for a in mono if a not in touched]
        limit = _of_product(touched, plain, bounds, up == (c > 0))
        if limit is None:
            return None
        total = add(total, mul(c, mul(product(from_terms({(a,): 1}) for a in plain), limit)))
    return total


def _of_product(touched: Sequence[Atom], plain: Sequence[Atom], bounds: Bounds, up: bool) -> Dim | None:
    """The bound of the open factors of a product."""
    if not touched:
        return 1
    if not all(is_natural(a, bounds) for a in plain):
        return None
    if len(touched) == 1:
        return _of_atom(touched[0], bounds, up)
    if not all(is_natural(a, bounds) for a in touched):
        return None
    found = [_of_atom(a, bounds, up) for a in touched] if up else [0]
    return None if None in found else product(d for d in found if d is not None)


def _of_atom(atom: Atom, bounds: Bounds, up: bool) -> Dim | None:
    if isinstance(atom, Sym):
        bound = bounds[atom]
        return bound.hi if up else bound.lo
    found = [_extreme(a, bounds, up) for a in atom.args]
    if isinstance(atom, FloorDiv):
        return floordiv(found[0], atom.args[1]) if found[0] is not None and isinstance(atom.args[1], int) else None
    known = [d for d in found if d is not None]
    one_is_enough = isinstance(atom, Min) == up
    if not known or not (one_is_enough or len(known) == len(found)):
        return None
    return greatest_of(known) if isinstance(atom, Max) else dim_min(*known)


def greatest_of(sizes: Sequence[Dim]) -> Dim:
    """The greatest, without those that are seen to be less than another."""
    kept: list[Dim] = []
    for k, size in enumerate(sizes):
        if not any(at_most(size, b) and (not at_most(b, size) or j < k) for j, b in enumerate(sizes) if j != k):
            kept.append(size)
    return dim_max(*kept)


def is_within(size: Dim, limit: Dim) -> bool:
    """Whether a size is at most a limit, which may be the greatest of several."""
    return at_most(size, limit) or (all(any(at_most(a, b) for b in alternatives(limit)) for a in alternatives(size)))


def alternatives(size: Dim) -> list[Dim]:
    """What a size is the greatest of."""
    terms = terms_of(size)
    found = [(mono, mono[0]) for mono, c in terms.items() if c == 1 and len(mono) == 1 and isinstance(mono[0], Max)]
    if len(found) != 1:
        return [size]
    rest = from_terms({m: c for m, c in terms.items() if m != found[0][0]})
    return [add(a, rest) for a in found[0][1].args]


def is_open(atom: Atom, bounds: Bounds) -> bool:
    return not atom.symbols.isdisjoint(bounds)


def is_natural(atom: Atom, bounds: Bounds) -> bool:
    """Whether it certainly is not negative."""
    if isinstance(atom, Sym):
        least = bounds[atom].lo if atom in bounds else atom.lo
        return least is not None and at_most(0, least)
    naturals = [_all_natural(a, bounds) for a in atom.args]
    return any(naturals) if isinstance(atom, Max) else all(naturals)


def _all_natural(size: Dim, bounds: Bounds) -> bool:
    return all(c > 0 and all(is_natural(a, bounds) for a in mono) for mono, c in terms_of(size).items())


def counted_by(buffer: Value) -> linalg.Generic | None:
    """The op that counts the true elements of a mask into a buffer of one number, if nothing else is done to that."""
    writers = [u.op for u in buffer.uses if not isinstance(u.op, memref.Load | memref.Dealloc)]
    fills = [op for op in writers if isinstance(op, linalg.Fill)]
    counts = [op for op in writers if isinstance(op, linalg.Generic)]
    if len(writers) != 2 or len(fills) != 1 or len(counts) != 1 or constant_index(fills[0].operand(0)) != 0:
        return None
    (op,) = counts
    use = next(u for u in op.uses if u.value is buffer)
    combined = op.combiner(use) if use.index >= op.n_ins else None
    if combined is None or not isinstance(combined[0], arith.AddI):
        return None
    flag = combined[1].defining_op
    return op if isinstance(flag, casts.ExtUI) and flag.operand(0).type is I1 else None


def iterations(op: linalg.Generic) -> list[Dim] | None:
    """The sizes of the loops of a structured op; None where they are not those of its operands."""
    found: list[Dim | None] = [None] * len(op.iterators)
    for value, map_ in zip(op.operands, op.maps, strict=True):
        for axis, d in enumerate(map_.results if map_.runs and not map_.whole else ()):
            if d is not None:
                found[d] = value.memref_type.shape[axis]
    return None if None in found else [d for d in found if d is not None]
