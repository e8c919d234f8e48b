"""Arrays that several names of a loop hold in turn, at most one owner each (rule S11): `best = x` in some iterations.

Each name of a group owns one array at a time, a storage that is carried by value; a name whose array is path-dependent
also carries which array it holds: its own, one that another name owns, or one of before the loop. At the end of an
iteration each array goes to the first name that holds it. So arrays that no name holds any more are freed, no array is
copied, and stores through one name are seen through the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from tracebuf.frontends.numpy.arrays.new_arrays import k_order
from tracebuf.frontends.numpy.paths.loops.plan import Path
from tracebuf.frontends.numpy.record.cond import count_paths, ends, narrow, undecided
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.sizes import USUAL
from tracebuf.frontends.numpy.record.values import ArrayRef, GuardedRef, Storage, storages_of
from tracebuf.frozen import plain
from tracebuf.ir.core import Value
from tracebuf.ir.types import TensorType
from tracebuf.ops.scalars import arith

PATHS = 64
"""How many paths are written out, each with what the names then own; beyond it each name has branches of its own."""

@plain()
class Slot:
    """The array that a name owns: its entry, the storage inside, its value at the head, and the values of its sizes,
    which are 0 while the name owns none."""

    path: Path
    entry: ArrayRef
    inner: Storage
    phi: Value
    sizes: list[Value]
    ref: ArrayRef
    after: list[Value] = field(default_factory=list)
    always: bool = False
    """Whether there is nothing else that it may hold."""

    def always_own(self) -> None:
        """Has the array at the head as large as that before the loop, as each that the name comes to hold is."""
        self.always, self.inner.shape = True, self.entry.shape
        self.phi.type, self.ref = TensorType(tuple(self.entry.shape), self.entry.element), ArrayRef(self.inner)


@plain()
class OwnedGroup:
    """Arrays of one element type, order and shape: `owners` are the leaves (number of the item's path) that hold an
    array of their own in every iteration, with their references before the loop and at the head; `outer` the arrays of
    before the loop that stay where they are."""

    r: Recorder
    like: ArrayRef
    owners: dict[Path, tuple[ArrayRef, ArrayRef]] = field(default_factory=dict)
    slots: dict[Path, Slot] = field(default_factory=dict)
    outer: list[ArrayRef] = field(default_factory=list)

    def candidates(self, owners: Sequence[ArrayRef], slots: Sequence[ArrayRef]) -> list[ArrayRef]:
        """The arrays that a name may hold, in the order of their numbers."""
        return [*owners, *self.outer, *slots]

    @property
    def heads(self) -> list[ArrayRef]:
        """The arrays that a name may hold at the head."""
        return self.candidates([head for _, head in self.owners.values()], [s.ref for s in self.slots.values()])

    def holder(self, trees: dict[Path, ArrayRef], owners: Sequence[ArrayRef]) -> Holder:
        """Who owns what, where the names hold `trees` and `owners`."""
        return Holder(self.r, [*owners, *self.outer], [trees[path] for path in self.slots])


@plain()
class Pooled:
    """An array that the trees may hold, while it is given out: the number of the tree that owns it, or less than 0 as
    long as none does, and its sizes and elements, which are gone once one does."""

    like: ArrayRef
    owner: Value
    sizes: list[Value]
    value: Value


@plain()
class Holder:
    """Finds the owner of each array: `fixed` are those owned by others than the `trees`, which hold the rest; an array
    belongs to the first tree that holds it."""

    r: Recorder
    fixed: list[ArrayRef]
    trees: list[ArrayRef]

    def values(self) -> list[list[Value]]:
        """For each tree the number of the array that it holds (among the fixed ones, then those of the trees), and the
        sizes and elements of the array that it owns: without elements where it owns none.

        In the branches of each scf.if that yields them it is seen that each buffer has one owner.
        """
        return self.by_path(self.trees) if count_paths(self.trees, PATHS) <= PATHS else self.by_tree()

    # -- one nest of branches, whose ends are the paths
    def by_path(self, trees: Sequence[ArrayRef]) -> list[list[Value]]:
        """`values`, of the trees on a path: one scf.if yields them all, for each condition."""
        condition = undecided(trees)
        if condition is None:
            return self.owned(trees)
        counts: list[int] = []

        def side(k: int) -> list[Value]:
            found = self.by_path([narrow(tree, condition, k) for tree in trees])
            counts[:] = map(len, found)
            return [value for values in found for value in values]

        joined, found = self.r.either(condition, side), list[list[Value]]()
        for n in counts:
            which, *sizes, value = joined[:n]
            del joined[:n]
            found.append([which, *sizes, self.sized(value, sizes)])
        return found

    def owned(self, held: Sequence[ArrayRef]) -> list[list[Value]]:
        """The numbers, sizes and elements where it is known which array each tree holds."""
        r, found = self.r, list[list[Value]]()
        for k, ref in enumerate(held):
            place = self.place(ref)
            first = next(i for i, x in enumerate(held) if x.storage is ref.storage)
            storage = ref.storage
            if place is None and first == k:
                value, shape = r.value(storage), storage.shape
            else:
                value = r.placeholder(ref.element, ref.shape, order_of(ref), False)
                shape = value.tensor_type.shape
            found.append([r.index(len(self.fixed) + first if place is None else place), *map(r.index, shape), value])
        return found

    # -- a nest of branches for each tree
    def by_tree(self) -> list[list[Value]]:
        """`values`, where the trees take their arrays in turn out of a pool: each scf.if yields what a tree takes and
        what is left. The branches are as many as the trees have, the paths as many as their product."""
        pool = self.pool()
        return [self.take(k, tree, pool) for k, tree in enumerate(self.trees)]

    def pool(self) -> dict[Storage, Pooled]:
        """The arrays that the trees may hold, which none owns yet."""
        pool = dict[Storage, Pooled]()
        for ref in (end for tree in self.trees for end in ends(tree)):
            if self.place(ref) is None and ref.storage not in pool:
                sizes = [*map(self.r.index, ref.storage.shape)]
                pool[ref.storage] = Pooled(ref, self.r.index(-1), sizes, self.r.value(ref.storage))
        return pool

    def take(self, k: int, tree: ArrayRef, pool: dict[Storage, Pooled]) -> list[Value]:
        """What `values` says of one tree, which takes its array out of the pool."""
        if not isinstance(tree, GuardedRef):
            return self.taken(k, tree, pool)
        condition, reached = tree.condition, [s for s in pool if s in storages_of(tree)]

        def side(arm: int) -> list[Value]:
            left = {s: replace(p) for s, p in pool.items()}
            own = self.take(k, narrow(tree, condition, arm), left)
            return [*own, *(v for s in reached for v in (left[s].owner, *left[s].sizes, left[s].value))]

        n = tree.ndim + 2
        joined = self.r.either(condition, side)
        first, *others = (joined[at : at + n] for at in range(0, len(joined), n))
        for s, (owner, *sizes, value) in zip(reached, others):
            pool[s] = replace(pool[s], owner=owner, sizes=sizes, value=self.sized(value, sizes))
        which, *sizes, value = first
        return [which, *sizes, self.sized(value, sizes)]

    def taken(self, k: int, ref: ArrayRef, pool: dict[Storage, Pooled]) -> list[Value]:
        """Where it is known which array a tree holds: it becomes the tree's if no other owns it yet."""
        r, place = self.r, self.place(ref)
        none = r.placeholder(ref.element, ref.shape, order_of(ref), False)
        nothing = [*map(r.index, none.tensor_type.shape)]
        if place is not None:
            return [r.index(place), *nothing, none]
        held = pool[ref.storage]
        own = r.index(len(self.fixed) + k)
        free = r.emit(arith.CmpI.of("slt", held.owner, r.index(0)))
        which = r.emit(arith.Select.of(free, own, held.owner))
        pool[ref.storage] = replace(held, owner=which, sizes=nothing, value=none)
        return [which, *held.sizes, held.value]

    def sized(self, value: Value, sizes: Sequence[Value]) -> Value:
        """An array that branches yield, of the sizes that they yield."""
        shape = [self.r.symbol(size, "size", 0, USUAL) for size in sizes]
        value.type = self.r.tensor_type(shape, value.tensor_type.element)
        return value

    def place(self, ref: ArrayRef) -> int | None:
        """The number of a fixed array."""
        return next((n for n, x in enumerate(self.fixed) if x.same_object(ref)), None)


def order_of(ref: ArrayRef) -> tuple[int, ...]:
    """The axes of an array, which may be a view, as an array like it has them in memory."""
    one = ends(ref)[0]
    return one.storage.order if one.is_whole else k_order(one)
