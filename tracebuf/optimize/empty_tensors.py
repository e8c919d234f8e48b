"""Results computed straight into the slice that they are stored to, instead of a new array that is then copied.

What: where the value of a store (`x[1:-1] = a + b`, `c[i] = m @ v`, `u += dt * v`) began in a `tensor.empty`, the
empty is replaced by the slice of the destination; a store to everything becomes the op itself. The ops of the chain
move down to the store, so that the destination and the slice's bounds stand before them. What not: no chain that has
another use, that reads the destination elsewhere than at the elements it writes (there eager has one temporary too),
or that would have to move past a store to what it reads. So it never costs a copy, which MLIR's pass may (behaviour
48: its st03).
MLIR counterpart: -eliminate-empty-tensors (EmptyTensorElimination.cpp), which moves the slice up instead of the chain
down.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tracebuf.ir.core import Block, Func, Op, Use, Value
from tracebuf.ops import tensor
from tracebuf.ops.bufferization import MaterializeInDestination
from tracebuf.ops.linalg import DestinationOp, Generic
from tracebuf.optimize.versions import Versions

Store = tensor.InsertSlice | MaterializeInDestination
Link = DestinationOp | tensor.Insert | tensor.InsertSlice


@dataclass(frozen=True, slots=True)
class Chain:
    """`empty` -> `links` (in program order, each continuing the one before) -> `store`."""

    empty: tensor.Empty
    links: tuple[Use, ...]
    """The operand of each link that is what the link before it made."""
    store: Store

    @property
    def whole(self) -> bool:
        """The store overwrites its destination entirely."""
        return isinstance(self.store, MaterializeInDestination) or self.store.overwrites_all()


def eliminate_empty_tensors(func: Func) -> None:
    """Treats every store, later ones first: what is stored may itself be put together by stores."""
    versions = Versions(func)
    blocks = [func.block]
    for op in func.walk():
        if not isinstance(op, Generic):
            blocks += [b for region in op.regions for b in region.blocks]
    for block in blocks:
        _Mover(block, versions).run()


class _Mover:
    """One block: which ops have moved to stand before which, and at what place an op now counts."""

    def __init__(self, block: Block, versions: Versions) -> None:
        self.block, self.versions = block, versions
        self.before: dict[Op, list[Op]] = {}
        self.moved_to: dict[Op, int] = {}
        self.gone: set[Op] = set()

    def run(self) -> None:
        for store in reversed(self.block.ops):
            if isinstance(store, tensor.InsertSlice | MaterializeInDestination):
                chain = chain_of(store)
                if chain is not None and may_compute_in_place(chain, self.versions, self.place(store)):
                    self.rewrite(chain)
        if self.before or self.gone:
            self.block.replace_ops(self.ordered())
            for op in self.gone:
                op.block = None

    def place(self, op: Op) -> int:
        return self.moved_to.get(op, self.versions.place(op))

    def rewrite(self, chain: Chain) -> None:
        store, place = chain.store, self.place(chain.store)
        target, made = self.target(chain)
        moved: list[Op] = [*made]
        for use in chain.links:
            self.moved_to[use.op] = place
            moved.append(use.op)
        self.before[store] = moved
        chain.links[0].set(target)
        self.versions.join(store.operand(1), chain.empty.result)
        _retype(chain.links)
        if not chain.empty.result.uses:
            chain.empty.drop_uses()
            self.gone.add(chain.empty)
        if isinstance(store, tensor.InsertSlice) and chain.whole:
            source = store.source
            store.result.replace_all_uses(source)
            store.drop_uses()
            self.gone.add(store)

    def target(self, chain: Chain) -> tuple[Value, list[Op]]:
        """What the chain starts with now, and the new op that makes it, if any."""
        store = chain.store
        if chain.whole:
            return store.operand(1), []
        assert isinstance(store, tensor.InsertSlice)
        for use in chain.links[0].op.uses:
            if same_elements(use.value, chain):
                return use.value, []
        read = tensor.ExtractSlice.of(store.dest, store.slice, store.source.tensor_type, store.loc)
        self.versions.join(store.dest, read.result)
        return read.result, [read]

    def ordered(self) -> list[Op]:
        """The block's ops with the moved ones at their new places."""
        moved = {op for ops in self.before.values() for op in ops}
        result: list[Op] = []
        stack: list[tuple[Op, bool]] = [(op, False) for op in reversed(self.block.ops) if op not in moved]
        while stack:
            op, done = stack.pop()
            if not done and op in self.before:
                stack.append((op, True))
                stack += [(inner, False) for inner in reversed(self.before[op])]
            elif op not in self.gone:
                result.append(op)
        return result


def _retype(links: Sequence[Use]) -> None:
    """Results have the types of what they continue (sizes may be spelled in another way)."""
    for use in links:
        result = _result_for(use)
        result.type = use.value.type


def _result_for(use: Use) -> Value:
    op = use.op
    return op.results[use.index - op.n_ins] if isinstance(op, DestinationOp) else op.result


def chain_of(store: Store) -> Chain | None:
    """The chain that ends in the store's source, if it begins in an empty tensor in the store's block.

    Links are destination-style ops (generic, fill, matrix products) and stores of elements and slices.
    """
    links: list[Use] = []
    value = store.operand(0)
    while (op := value.defining_op) is not None and op.block is store.block:
        if isinstance(op, tensor.Empty):
            return Chain(op, tuple(reversed(links)), store) if links else None
        if isinstance(op, DestinationOp):
            links.append(op.uses[op.n_ins + value.index])
        elif isinstance(op, tensor.Insert | tensor.InsertSlice):
            links.append(op.uses[1])
        else:
            return None
        value = links[-1].value
    return None


# -- when it is safe, and not worse


def may_compute_in_place(chain: Chain, versions: Versions, place: int) -> bool:
    """All the rules; `place` is where the store stands."""
    return (
        is_stored_only(chain)
        and is_stored_densely(chain)
        and reads_only_its_own_elements(chain, versions)
        and passes_no_new_version(chain, versions, place)
    )


def is_stored_only(chain: Chain) -> bool:
    """Not if any value of the chain has another use than the next link, or the store.

    It would be seen after the store, or stored through, and needs a buffer (`t = a + b; x[1:] = t; return t`).
    """
    values = [use.value for use in chain.links] + [chain.store.operand(0)]
    return all(len(v.uses) == 1 for v in values) and all(len(use.op.results) == 1 for use in chain.links)


def is_stored_densely(chain: Chain) -> bool:
    """Not if the slice repeats elements (stride 0): the results of several iterations would meet in one element."""
    return isinstance(chain.store, MaterializeInDestination) or 0 not in chain.store.slice.strides


def reads_only_its_own_elements(chain: Chain, versions: Versions) -> bool:
    """Not if the chain reads the destination's storage, but for the element it is about to write.

    The first link alone may do that, if it is element-wise: its read of the very slice (or of the whole, where all is
    overwritten) comes before its write of the same element. After it the old contents are gone. Anything else
    (`a[1:-1] = a[:-2] + a[2:]`, `a[...] = a @ b`) keeps its temporary, as in eager NumPy.
    """
    dest = chain.store.operand(1)
    for position, link in enumerate(chain.links):
        for use in link.op.tensor_uses():
            if use is link or not versions.same_storage(use.value, dest):
                continue
            if position or not (same_elements(use.value, chain) and link.op.elementwise_access(use, link)):
                return False
    return True


def same_elements(value: Value, chain: Chain) -> bool:
    """Whether the value is exactly what the store is about to overwrite."""
    store, op = chain.store, value.defining_op
    dest = store.operand(1)
    if chain.whole and value is dest:
        return True
    if not isinstance(op, tensor.ExtractSlice) or op.source is not dest:
        return False
    return isinstance(store, tensor.InsertSlice) and op.same_subset(store) and value.type == store.source.type


def passes_no_new_version(chain: Chain, versions: Versions, place: int) -> bool:
    """Not if a link, moved down to the store, would pass the next version of a storage that it reads (rule S4)."""
    block = chain.store.block
    assert block is not None
    for link in chain.links:
        first = versions.place(link.op)
        for use in link.op.tensor_uses():
            if use is not link and versions.written_between(use.value, block, first, place):
                return False
    return True
