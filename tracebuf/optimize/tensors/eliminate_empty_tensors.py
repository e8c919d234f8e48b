"""Results computed straight into the slice that they are stored to, instead of a new array that is then copied.

Where the value of a store (`x[1:-1] = a + b`, `c[i] = m @ v`, `u += dt * v`) began in a `tensor.empty`, the empty is
replaced by the slice of the destination; a store to everything becomes the op itself. The ops of the chain move down to
the store, so that the destination and the slice's bounds stand before them. Not for a chain that has another use, that
reads the destination elsewhere than at the elements it writes (there eager has one temporary too), or that would have
to move past a store to what it reads. So it never costs a copy, which MLIR's pass may (MLIR behaviour 48). A chain with
loops in it stays where it is; then nothing may touch the destination meanwhile. MLIR counterpart:
-eliminate-empty-tensors (EmptyTensorElimination.cpp), which moves the slice up instead of the chain down.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from tracebuf.analysis.one_shot.base import describe
from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.parts import Parts
from tracebuf.analysis.one_shot.storages import Storages
from tracebuf.frozen import cached_property, frozen
from tracebuf.ir.core import Block, Op, Use, Value, dominates
from tracebuf.ir.func import Func
from tracebuf.ops.arrays import tensor
from tracebuf.ops.arrays.bufferization import MaterializeInDestination
from tracebuf.ops.arrays.linalg import DestinationOp, Generic
from tracebuf.ops.control import scf
from tracebuf.optimize.tensors.read_whole_numbers import read_whole_numbers
from tracebuf.optimize.tensors.versions import Versions

Store = tensor.InsertSlice | MaterializeInDestination


@frozen()
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

    @property
    def dest(self) -> Value:
        return self.store.operand(1)

    @property
    def block(self) -> Block:
        assert self.store.block is not None
        return self.store.block


class ChainFacts:
    """The facts for the rules: the versions of storages, and which parts of one are disjoint."""

    def __init__(self, func: Func) -> None:
        self._func = func
        self._regrouped = [op.source for op in func.walk() if isinstance(op, tensor.Regrouping)]

    def is_regrouped(self, value: Value) -> bool:
        """Whether a version of the value's storage is reshaped, which depends on its layout."""
        return any(self.versions.same_storage(value, source) for source in self._regrouped)

    @cached_property
    def versions(self) -> Versions:
        """As they are before the first rewrite: of each store its place is asked first."""
        return Versions(self._func)

    @cached_property
    def parts(self) -> Parts:
        return Parts(Dataflow(self._func))

    @cached_property
    def storages(self) -> Storages:
        """Values of which a path makes one value, here or later, may be in memories that are apart."""
        return Storages(Dataflow(self._func))


def eliminate_empty_tensors(func: Func) -> None:
    """Rewrites every store, later ones first: the stored value may itself be built by stores."""
    known = ChainFacts(func)
    blocks = [func.block]
    for op in func.walk():
        if not isinstance(op, Generic):
            blocks += [b for region in op.regions for b in region.blocks]
    for block in blocks:
        _Mover(block, known).run()


class _Mover:
    """The moves in one block: the ops moved before each op, and the index at which a moved op now counts."""

    def __init__(self, block: Block, known: ChainFacts) -> None:
        self.block, self.known = block, known
        self.before: dict[Op, list[Op]] = {}
        self.moved_to: dict[Op, int] = {}
        self.gone: set[Op] = set()

    def run(self) -> None:
        for store in reversed(self.block.ops):
            if isinstance(store, tensor.InsertSlice | MaterializeInDestination):
                chain = chain_of(store)
                place = self.place(store)
                if chain is None or not is_stored_densely(chain) or self.known.is_regrouped(chain.empty.result):
                    continue
                read_whole_numbers(store)
                if may_move_down(chain, self.known, place):
                    self.rewrite(chain, store, [use.op for use in chain.links])
                elif store not in self.moved_to and may_stay(chain, self.known.versions, place):
                    self.rewrite(chain, chain.links[0].op, [])
                else:
                    chain.empty.attrs.setdefault("reason", why_kept(chain, self.known, place))
        if self.before or self.gone:
            self.block.replace_ops(self.ordered())
            for op in self.gone:
                op.block = None

    def place(self, op: Op) -> int:
        return self.moved_to.get(op, self.known.versions.place(op))

    def rewrite(self, chain: Chain, anchor: Op, moved: list[Op]) -> None:
        """Moves the ops `moved`, and the slice of the destination if it must be made, to before `anchor`."""
        store, place = chain.store, self.place(chain.store)
        target, made = self.target(chain)
        self.before.setdefault(anchor, []).extend(made + moved)
        for op in moved:
            self.moved_to[op] = place
            for use in op.tensor_uses():
                self.known.versions.also_used_at(use.value, self.block, place)
        chain.links[0].set(target)
        self.known.storages.replaced(chain.empty.result)
        self.known.versions.join(store.operand(1), chain.empty.result)
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
        """The value that the chain starts with now, and the new op that makes it, if any."""
        store = chain.store
        if chain.whole:
            return store.operand(1), []
        assert isinstance(store, tensor.InsertSlice)
        for use in chain.links[0].op.uses:
            if same_elements(use.value, chain):
                return use.value, []
        read = tensor.ExtractSlice.of(store.dest, store.slice, store.source.tensor_type, store.loc)
        self.known.versions.join(store.dest, read.result)
        return read.result, [read]

    def ordered(self) -> list[Op]:
        """The block's ops in their new order."""
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
    """Gives results the types of what they continue (sizes may be other expressions of equal value)."""
    for use in links:
        result = _result_for(use)
        result.type = use.value.type


def _result_for(use: Use) -> Value:
    op = use.op
    first = op.n_ins if isinstance(op, DestinationOp) else op.first if isinstance(op, scf.Loop) else use.index
    return op.results[use.index - first]


def chain_of(store: Store) -> Chain | None:
    """The chain that ends in the store's source, if it begins in an empty tensor in the store's block.

    Links are destination-style ops (generic, fill, matrix products), stores of elements and slices, and loops that
    carry their initial value in place.
    """
    links: list[Use] = []
    value = store.operand(0)
    if not store.results:
        return None  # into a memref
    while (op := value.defining_op) is not None and op.block is store.block:
        if isinstance(op, tensor.Empty):
            return Chain(op, tuple(reversed(links)), store) if links else None
        link = continued(value)
        if link is None:
            return None
        links.append(link)
        value = link.value
    return None


def continued(value: Value) -> Use | None:
    """The operand whose buffer `value` is the next version of."""
    op = value.defining_op
    if isinstance(op, DestinationOp):
        return op.uses[op.n_ins + value.index]
    if isinstance(op, tensor.Insert | tensor.InsertSlice):
        return op.uses[1]
    if isinstance(op, scf.Loop) and value.index < len(op.inits) and op.aliasing_values(op.inits[value.index]):
        return op.inits[value.index] if op.keeps(value.index, continues) else None
    return None


def continues(value: Value, arg: Value) -> bool:
    """Whether a value is a later version of a loop-carried value."""
    while value is not arg:
        link = continued(value)
        if link is None:
            return False
        value = link.value
    return True


# -- when it is safe, and not worse


def may_move_down(chain: Chain, known: ChainFacts, place: int) -> bool:
    """All the rules for a chain that moves down to its store, which stands at `place`."""
    return (
        is_straight(chain)
        and is_stored_only(chain)
        and reads_only_its_own_elements(chain, known)
        and passes_no_new_version(chain, known.versions, place)
    )


def may_stay(chain: Chain, versions: Versions, place: int) -> bool:
    """All the rules for a chain that is computed where it stands, in a slice that is known before it."""
    return (
        destination_is_known(chain)
        and destination_is_untouched(chain, versions, place)
        and is_unused_afterwards(chain, versions, place)
    )


def why_kept(chain: Chain, known: ChainFacts, place: int) -> str:
    """The first rule that stood against it, in the user's words (for explain)."""
    store = describe(chain.store.loc)
    if not is_stored_only(chain):
        return f"the value that {store} stores is used elsewhere too"
    if (over := overwriting(chain, known, place)) is not None:
        return f"{describe(over.loc)} overwrites what the value is computed from before {store} stores it"
    if not reads_only_its_own_elements(chain, known):
        return f"{store} stores over elements that the value is computed from"
    return f"the value is computed in a loop before {store} stores it"


def overwriting(chain: Chain, known: ChainFacts, place: int) -> Op | None:
    """What makes, between a link and the store, the next version of a storage that the link reads."""
    versions = known.versions
    for link in chain.links:
        for use in link.op.tensor_uses():
            if use is link:
                continue
            for op in versions.writers_between(use.value, chain.block, versions.place(link.op), place):
                written = op.uses[1] if isinstance(op, tensor.Insert | tensor.InsertSlice) else None
                if op.loc != chain.store.loc and (written is None or not known.parts.disjoint(use, written)):
                    return op
    return None


def is_straight(chain: Chain) -> bool:
    """Not if a loop is part of the chain: it may hold checks, whose order matters, and would move many ops."""
    return not any(isinstance(use.op, scf.Loop) for use in chain.links)


def is_stored_only(chain: Chain) -> bool:
    """Not if any value of the chain has another use than the next link, or the store.

    It would be seen after the store, or stored through, and needs a buffer (`t = a + b; x[1:] = t; return t`). Nor if
    something uses another result of a link, such as the total of a running sum.
    """
    values = [use.value for use in chain.links] + [chain.store.operand(0)]
    results = {r for use in chain.links for r in use.op.results}
    return all(len(v.uses) == 1 for v in values) and all(not r.uses for r in results.difference(values))


def is_stored_densely(chain: Chain) -> bool:
    """Not if the slice repeats elements (stride 0): the results of several iterations would meet in one element."""
    return isinstance(chain.store, MaterializeInDestination) or 0 not in chain.store.slice.strides


def reads_only_its_own_elements(chain: Chain, known: ChainFacts) -> bool:
    """Not if the chain reads the destination's storage, but for the element it is about to write.

    The first link alone may do that, if it is element-wise: its read of the very slice (or of the whole, where all is
    overwritten) comes before its write of the same element. After it the old contents are gone. Parts that certainly do
    not overlap may be read by any (`a[i] = a[i - 1] @ b`). Anything else (`a[1:-1] = a[:-2] + a[2:]`, `a[...] = a @ b`)
    keeps its temporary, as in eager NumPy.
    """
    for position, link in enumerate(chain.links):
        for use in link.op.tensor_uses():
            if use is link or not known.versions.same_storage(use.value, chain.dest):
                continue
            own = position == 0 and reads_own_element(use, chain)
            if not (own or reads_apart(use, chain, known) or in_other_memory(use.value, chain.dest, known.storages)):
                return False
    return True


def in_other_memory(value: Value, dest: Value, storages: Storages) -> bool:
    """A branch or a loop makes one value of both, here or later, but they are in different arrays here."""
    return storages.apart(value, dest) or storages.is_newer(dest, value) or storages.disjoint(value, dest)


def reads_own_element(use: Use, chain: Chain) -> bool:
    """The first link reads through `use` exactly the element that it is about to write."""
    first = chain.links[0]
    return same_elements(use.value, chain) and first.op.elementwise_access(use, first)


def reads_apart(use: Use, chain: Chain, known: ChainFacts) -> bool:
    """The operand is a part of the destination's current version that does not overlap what is stored.

    Only where no loop stands between the two, so that offsets which differ in one iteration cannot meet in another.
    """
    if chain.whole or not (is_yet_to_stand(chain.dest) or chain.dest.block is chain.block):
        return False
    value = use.value
    while isinstance(op := value.defining_op, tensor.ExtractSlice):
        value = op.source
    return value is chain.dest and known.parts.disjoint(use, chain.store.uses[1])


def destination_is_known(chain: Chain) -> bool:
    """Not if the destination, or a bound of the slice, comes only after the chain's first op; nor if sizes are
    different expressions, since a loop would carry the other type."""
    first, store = chain.links[0].op, chain.store
    target = chain.dest.type if chain.whole else store.operand(0).type
    return chain.empty.result.type == target and all(
        not is_yet_to_stand(v) and dominates(v, first) for v in store.operands[1:]
    )


def is_yet_to_stand(value: Value) -> bool:
    """Whether a value is the slice of another chain's destination, which `target` made and `ordered` will place."""
    return isinstance(op := value.defining_op, tensor.ExtractSlice) and op.block is None


def destination_is_untouched(chain: Chain, versions: Versions, place: int) -> bool:
    """Not if between the chain's first op and the store anything uses the destination's storage; the first op itself
    may read the element that it writes."""
    first = chain.links[0]
    if versions.used_between(chain.dest, chain.block, versions.place(first.op), place):
        return False
    uses = [u for u in first.op.tensor_uses() if u is not first and versions.same_storage(u.value, chain.dest)]
    nested = any(versions.same_storage(u.value, chain.dest) for op in first.op.walk() for u in op.tensor_uses())
    return not nested and all(reads_own_element(u, chain) for u in uses)


def is_unused_afterwards(chain: Chain, versions: Versions, place: int) -> bool:
    """Not if a version of what the chain computes is used after the store: it would be seen, or stored through."""
    return not versions.used_between(chain.empty.result, chain.block, place, inf)


def same_elements(value: Value, chain: Chain) -> bool:
    """Whether the value is exactly what the store is about to overwrite."""
    store, op, dest = chain.store, value.defining_op, chain.dest
    if chain.whole and value is dest:
        return True
    if not isinstance(op, tensor.ExtractSlice) or op.source is not dest:
        return False
    return isinstance(store, tensor.InsertSlice) and op.same_subset(store) and value.type == store.source.type


def passes_no_new_version(chain: Chain, versions: Versions, place: int) -> bool:
    """Not if a link, moved down to the store, would pass the next version of a storage that it reads (rule S4)."""
    for link in chain.links:
        first = versions.place(link.op)
        for use in link.op.tensor_uses():
            if use is not link and versions.written_between(use.value, chain.block, first, place):
                return False
    return True
