"""New arrays are computed in the memory of arguments that are donated, instead of in new memory.

A `tensor.empty` of an argument's type and axis order becomes that argument, if nothing uses the argument afterwards: it
is read before (reads are moved for that), or element by element by the very op that writes. Results come first, which
live longest; then others, one after the other, as long as their lifetimes are disjoint. A plain copy of such an
argument is the argument, and an argument that a new array overwrites entirely is that array from then on. Not for
arrays that are made inside a loop or a branch, nor for arguments that are returned themselves (whose stores are in
place already). So it never costs a copy. No MLIR counterpart; JAX: donate_argnames.

It runs after reuse-dying-inputs, so that a chain of temporaries asks for one buffer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from tracebuf.analysis.one_shot.base import describe
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.analysis.one_shot.storages import Storages
from tracebuf.errors import DonationError
from tracebuf.frozen import frozen
from tracebuf.ir.core import Op, Use, Value
from tracebuf.ir.func import Donation, Func
from tracebuf.ir.types import TensorType, strides_in_order
from tracebuf.location import Location
from tracebuf.ops.arrays.linalg import Generic
from tracebuf.ops.arrays.tensor import Empty, InsertSlice
from tracebuf.ops.control.func import Return
from tracebuf.optimize.tensors.move_reads_early import moved_before
from tracebuf.optimize.tensors.reuse_dying_inputs import beginning, is_read_where_it_is_written
from tracebuf.optimize.tensors.versions import Versions, destinations


@frozen()
class Fresh:
    """A new array: where it is made, the operand it begins as, and the indices in the block of its first op and its
    last use."""

    empty: Empty
    out: Use
    first: int
    last: int
    returned: bool


def reuse_donated_arguments(func: Func) -> None:
    """Rewrites every such array."""
    for argument in donated_arguments(func):
        replace_overwritten(func, argument)
        read_first(func, argument)
        own, taken = Versions(func), list[Fresh]()
        for fresh in candidates(func, argument, own):
            start = destination(argument, fresh, own)
            if start is not None and all(fresh.last < other.first or other.last < fresh.first for other in taken):
                taken.append(fresh)
                begin_in(start, fresh)


def donated_arguments(func: Func) -> Iterator[Value]:
    """The donated arguments whose final contents nobody sees."""
    free = (Donation.FREE, Donation.SPARED)
    return (a for a in func.args if a.is_tensor and func.arg_attrs[a.index].get("tracebuf.donated") in free)


def replace_overwritten(func: Func, argument: Value) -> None:
    """Drops a store over all of the argument of a new array that nothing else uses: the array replaces the argument
    from then on."""
    for op in list(func.block.ops):
        if isinstance(op, InsertSlice) and op.overwrites_all() and beginning(op.dest) is argument:
            made = beginning(op.source).owner
            if isinstance(made, Empty) and len(op.source.uses) == 1 and is_alike(func, argument, made):
                op.result.replace_all_uses(op.source)
                op.erase()


def read_first(func: Func, argument: Value) -> None:
    """Where every new array is begun before the last read of the argument, the reads after one of them move, if they
    can."""
    versions, block = Versions(func), func.block
    found = candidates(func, argument, versions)
    if any(destination(argument, fresh, versions) for fresh in found):
        return
    order = list(block.ops)
    for fresh in found:
        later = [op for op in order[fresh.first + 1 :] if uses_storage(op, argument, versions)]
        moved = moved_before(block, fresh.out.op, later) if later else None
        if moved is not None:
            block.replace_ops(moved)
            now = Versions(func)
            if any(destination(argument, f, now) for f in candidates(func, argument, now)):
                return
            block.replace_ops(order)


def uses_storage(op: Op, value: Value, versions: Versions) -> bool:
    return any(versions.same_storage(u.value, value) for o in (op, *op.walk()) for u in o.tensor_uses())


def candidates(func: Func, argument: Value, versions: Versions) -> list[Fresh]:
    """The new arrays like the argument, those that are returned first."""
    found = (f for f in fresh_arrays(func, versions) if is_alike(func, argument, f.empty))
    return sorted(found, key=lambda f: not f.returned)


def fresh_arrays(func: Func, versions: Versions) -> Iterator[Fresh]:
    """The new arrays of the function's own block that one op begins to write."""
    returned = {versions.storage(v) for v in func.block.terminator.operands if v.is_tensor}
    for op in func.block.ops:
        if not isinstance(op, Empty) or len(op.result.uses) != 1:
            continue
        (out,) = op.result.uses
        if out.op.block is func.block and out in destinations(out.op):
            last = versions.last_use(op.result, func.block)
            yield Fresh(op, out, versions.place(out.op), last, versions.storage(op.result) in returned)


def begin_in(start: Value, fresh: Fresh) -> None:
    """The array begins as `start`; a copy of that is nothing."""
    op = fresh.out.op
    fresh.out.set(start)
    fresh.empty.erase()
    if isinstance(op, Generic) and is_copy(op) and op.operand(0) is start:
        op.result.replace_all_uses(start)
        op.erase()


def is_copy(op: Generic) -> bool:
    """Whether the op stores one operand, as it is, into another."""
    return (
        len(op.uses) == 2
        and len(op.body.ops) == 1
        and op.body.terminator.operands == [op.body.args[0]]
        and all(m.is_identity for m in op.maps)
    )


# -- when it is safe


def is_alike(func: Func, argument: Value, empty: Empty) -> bool:
    """Whether the argument has the size, dtype and axis order of the new array."""
    strides = strides_in_order(empty.result.tensor_type.shape, empty.attrs["order"])
    return argument.type == empty.result.type and func.arg_attrs[argument.index]["strides"] == strides


def destination(argument: Value, fresh: Fresh, versions: Versions) -> Value | None:
    """What the array may begin as: the argument, if all its uses come before, or the version of it that the first op
    reads for the last time, element by element."""
    op, block = fresh.out.op, fresh.empty.block
    assert block is not None
    last = versions.last_use(argument, block)
    if last < fresh.first:
        return argument
    if last > fresh.first or not isinstance(op, Generic):
        return None
    for use in op.tensor_uses():
        if use.value.type == argument.type and beginning(use.value) is argument and use is not fresh.out:
            inside = any(uses_storage(o, argument, versions) for o in op.walk())
            if not inside and is_read_where_it_is_written(use, fresh.out, versions):
                return use.value
    return None


# -- whether it helped


def check_donations(func: Func, analysis: Analysis, names: Collection[str]) -> None:
    """Notes for each donated argument that the analysed program does not store to why not, as `tracebuf.unused`;
    DonationError if it is one of the names."""
    storages: Storages | None = None
    for argument, attrs in zip(func.args, func.arg_attrs, strict=True):
        donation = attrs.get("tracebuf.donated")
        if donation in (None, Donation.SPARED, Donation.STORED):
            continue
        storages = storages or Storages(analysis.flow)
        writes = [u for op in func.walk() for u in op.tensor_uses() if analysis.writes(u)]
        stores = [u for u in writes if argument in storages.of(u.value)]
        if donation is Donation.RETURNED or not any(map(analysis.is_in_place, stores)):
            conflict = analysis.conflict(stores[0]) if stores else None
            found = why_unused(func, argument) if conflict is None else (str(conflict), stores[0].op.loc)
            error = DonationError(argument.name, *found)
            if argument.name in names:
                raise error
            attrs["tracebuf.unused"] = error.reason


def why_unused(func: Func, argument: Value) -> tuple[str, Location, str]:
    """Why a donated argument could not be used, where, and what to write instead, if that is known."""
    end = func.block.terminator
    if func.arg_attrs[argument.index]["tracebuf.donated"] is Donation.RETURNED:
        return "it is returned as it is", end.loc, ""
    empties = [op for op in func.walk() if isinstance(op, Empty)]
    alike = [op for op in empties if is_alike(func, argument, op)]
    if not alike:
        return _nothing_alike(argument, empties), func.loc, ""
    versions = Versions(func)
    fresh = next(iter(candidates(func, argument, versions)), None)
    if fresh is None:
        return f"{describe(alike[0].loc)} is made anew inside a loop or a branch", alike[0].loc, ""
    made = describe(fresh.out.op.loc)
    later = versions.last_use(argument, func.block)
    if later <= fresh.first:
        return f"{made} reads it at other elements than it is about to write", fresh.out.op.loc, ""
    user = func.block.ops[later]
    if isinstance(user, Return):
        return f"its memory is returned, beside that of {made}", end.loc, ""
    return f"{describe(user.loc)} reads it after {made}", user.loc, "copy what is still needed of it; or "


def _nothing_alike(argument: Value, empties: list[Empty]) -> str:
    like = describe_type(argument.tensor_type)
    if not empties:
        return f"the function makes no array that could be in its memory, {like}"
    others = dict.fromkeys(f"{describe(e.loc)} is {describe_type(e.result.tensor_type)}" for e in empties[:3])
    return f"no array that the function makes lies as it does, {like}: {', '.join(others)}"


def describe_type(type: TensorType) -> str:
    return f"{type.element.dtype.name}[{', '.join(map(str, type.shape))}]"
