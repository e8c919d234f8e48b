"""Which tensor values may be versions of one storage, and where in each block a storage gets its next version.

A partition of a function's tensors (union over what the ops say may alias) and, per block and storage, the indices of
the ops that write to it, nested ones counted at the op that holds them. Why: an op that reads a storage may not move
past its next version (rule S4), and a value may be computed in a slice of a storage only where nothing else reads it.
Not an analysis of conflicts: it errs towards "the same storage", which only prevents a rewrite. Built in one walk; the
indices are those at that time. MLIR counterpart: the alias sets of OneShotAnalysis.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence

from tracebuf.ir.core import Block, Op, Use, Value
from tracebuf.ir.func import Func
from tracebuf.ops.control import scf


class _NothingKnown:
    """Facts for asking ops before any analysis has run."""

    as_mlir = False

    def is_value_read(self, value: Value) -> bool:
        return True

    def are_equivalent(self, a: Value, b: Value) -> bool:
        return a is b


_NOTHING_KNOWN = _NothingKnown()


def destinations(op: Op) -> Iterator[Use]:
    """The tensor operands that the op writes to: outs, destinations of inserts, initial values of loops."""
    return filter(is_destination, op.tensor_uses())


def is_destination(use: Use) -> bool:
    return use.op.bufferizes_to_memory_write(use, _NOTHING_KNOWN)


_Places = dict[Value, dict[Block, list[int]]]


class Versions:
    """Storages, their uses and writes. `storage(value)` represents one: equal for values that may share a buffer."""

    __slots__ = ("_parent", "_places", "_uses", "_writes")

    def __init__(self, func: Func) -> None:
        self._parent: dict[Value, Value] = {}
        self._writes: _Places = {}
        self._uses: _Places = {}
        self._places: dict[Op, int] = {}
        places = self._places
        uses: list[Use] = []
        for op in func.walk():
            if mine := op.tensor_uses():
                self._join_aliases(op, mine)
                uses += mine
            if op not in places and op.block is not None:
                places.update(op.block.indices())
        for use in uses:
            storage = self.storage(use.value)
            self._record(self._uses, use.op, storage)
            if is_destination(use):
                self._record(self._writes, use.op, storage)

    def _join_aliases(self, op: Op, uses: Sequence[Use]) -> None:
        for use in uses:
            for alias in op.aliasing_values(use):
                self.join(use.value, alias.value)
            if isinstance(op, scf.Loop):
                self.join(use.value, op.args[use.index - op.first])
        if isinstance(op, scf.While):
            for arg, result in zip(op.after.args, op.results, strict=True):
                self.join(arg, result)

    def _record(self, table: _Places, op: Op | None, storage: Value) -> None:
        if (blocks := table.get(storage)) is None:
            blocks = table[storage] = {}
        while op is not None and (block := op.block) is not None:
            place = self._places[op]
            if (places := blocks.get(block)) is None:
                blocks[block] = [place]
            elif places[-1] != place:
                places.append(place)
            else:
                return  # it is known of the op, and so of those around it
            op = block.region.op

    def storage(self, value: Value) -> Value:
        parent = self._parent
        root = value
        while (above := parent.get(root, root)) is not root:
            root = above
        while value is not root:
            parent[value], value = root, parent.get(value, root)
        return root

    def join(self, a: Value, b: Value) -> None:
        """Records that both may share a buffer."""
        a, b = self.storage(a), self.storage(b)
        if a is b:
            return
        self._parent[b] = a
        for table in (self._uses, self._writes):
            for block, places in table.pop(b, {}).items():
                mine = table.setdefault(a, {}).setdefault(block, [])
                mine.extend(places)
                mine.sort()

    def same_storage(self, a: Value, b: Value) -> bool:
        return self.storage(a) is self.storage(b)

    def place(self, op: Op) -> int:
        """Where the op stood in its block when this was built."""
        return self._places[op]

    def stands_for(self, new: Op, op: Op) -> None:
        """Records that a new op takes the place of another."""
        self._places[new] = self._places[op]

    def written_between(self, value: Value, block: Block, first: int, last: int) -> bool:
        """Whether an op of `block` strictly between the two indices makes a next version of the value's storage."""
        return self._between(self._writes, value, block, first, last)

    def first_write_between(self, value: Value, block: Block, first: int, last: int) -> int | None:
        """The index of the first op of `block` strictly between the two that makes a next version of the value's
        storage."""
        places = self._writes.get(self.storage(value), {}).get(block, [])
        return next((p for p in places if first < p < last), None)

    def writers_between(self, value: Value, block: Block, first: int, last: int) -> Iterator[Op]:
        """The ops of `block` strictly between the two indices that make a next version of the value's storage."""
        wanted = {p for p in self._writes.get(self.storage(value), {}).get(block, []) if first < p < last}
        return (op for op in block.ops if wanted and self._places.get(op) in wanted)

    def used_between(self, value: Value, block: Block, first: int, last: float) -> bool:
        """Whether an op of `block` strictly between the two indices has a value of the storage as an operand."""
        return self._between(self._uses, value, block, first, last)

    def last_use(self, value: Value, block: Block) -> int:
        """The index of the last op of `block` that has a value of the storage as an operand; -1 where none has."""
        return max(self._uses.get(self.storage(value), {}).get(block, ()), default=-1)

    def also_used_at(self, value: Value, block: Block, place: int) -> None:
        """Records that an op with this operand has moved to another index."""
        insort(self._uses.setdefault(self.storage(value), {}).setdefault(block, []), place)

    def _between(self, table: _Places, value: Value, block: Block, first: int, last: float) -> bool:
        places = table.get(self.storage(value), {}).get(block, [])
        following = bisect_right(places, first)
        return following < len(places) and places[following] < last
