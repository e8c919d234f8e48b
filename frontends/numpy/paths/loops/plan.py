"""The data of a loop while it is traced: its specification, the plan of what it carries, and its leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.numbers.lattice import GO_ON, JUMP, Maybe, is_container
from tracebuf.frontends.numpy.paths.iteration import Range
from tracebuf.frontends.numpy.paths.joins import alike
from tracebuf.frontends.numpy.record.cond import Cond
from tracebuf.frontends.numpy.record.heap import Heap
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.regions import Site
from tracebuf.frontends.numpy.record.values import ArrayRef, Env, Kind, Kinds, PyBool, PyInt, Storage
from tracebuf.frozen import frozen, plain
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, sub

MAX_PEELED = 3
"""The most iterations that are traced before a loop because they differ from the rest."""
Path = tuple[Any, ...]
"""A leaf of a name (the name and the number of the leaf), or the key of a loop."""


@frozen(slots=False)
class ArrayCarry:
    """How an array is carried: by value, or as a view of one storage by its parameters only. `sizes` says which of the
    storage's sizes change, `parts` which of the view's offsets and sizes do."""

    by_value: bool
    sizes: tuple[bool, ...]
    parts: tuple[bool, ...]

    def fits(self, ref: ArrayRef) -> bool:
        """Whether an array has as many sizes and parts as the plan."""
        sizes = len(ref.storage.shape) if self.by_value else 0
        return len(self.sizes) == sizes and len(self.parts) == len(ref.view.offsets) + len(ref.view.sizes)


class OneOfCandidates:
    """How a name is carried whose array is, in each iteration, one of those that the loop's names held before it
    (rule S8)."""


WHICH = OneOfCandidates()


class OneOfOwned:
    """How a name is carried that in each iteration holds an array of its own, one that another name of the loop holds,
    or one of before the loop (owned.py)."""


OWNED = OneOfOwned()
Carry = ArrayCarry | OneOfCandidates | OneOfOwned
"""How an array is carried."""


@frozen()
class Mend:
    """Why a plan was mended: what an iteration does with a name."""

    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.name} {self.why}".strip()


@frozen(slots=False)
class LoopPlan:
    """What attempts at a loop have shown. A plan does not change: each attempt mends a copy.

    `numbers`: the kinds of numbers; `alternatives`: those of what is of several kinds, or None; `texts`: texts, and
    objects of libraries, that are others in each iteration; `arrays`: how arrays are carried; `directions`: whether
    ints rise (1) or fall (-1); `first_bound_inside`: names first bound inside, with their placeholders, `maybes`
    those that hold an array or container, or what stands by, by the path; `may_take_others`: leaves whose arrays
    other names may come to hold, `may_be_held` those that a name carried as `OWNED` may; `containers`: labels of
    containers that are changed; `rebound_containers`: names of containers that are others in each iteration;
    `other_objects`: leaves that hold the object of before the loop only at first, and are asked which, with the
    places of other objects of before the loop that they may hold; `apart`: those of them that begin as one object
    and do not stay one; `sizes_diverge`: sizes that begin equal do not stay equal.
    `raises`: what an iteration may raise that is caught outside of the loop, which it then leaves.
    `may_peel`: the first iteration may be traced by itself; `peel_first`: it is; `unrolled`: no iteration is like
    another, for the reason in `refusal`. `mends`: what has mended the plan.
    """

    numbers: Mapping[Path, Kind] = field(default_factory=dict)
    alternatives: Mapping[Path, Kinds] = field(default_factory=dict)
    texts: frozenset[Path] = frozenset()
    arrays: Mapping[Path, Carry] = field(default_factory=dict)
    directions: Mapping[Path, int] = field(default_factory=dict)
    first_bound_inside: Mapping[str, Any] = field(default_factory=dict)
    maybes: Mapping[str, Any] = field(default_factory=dict)
    may_take_others: tuple[Path, ...] = ()
    may_be_held: tuple[Path, ...] = ()
    containers: frozenset[Any] = frozenset()
    rebound_containers: frozenset[str] = frozenset()
    other_objects: Mapping[Path, tuple[Path, ...]] = field(default_factory=dict)
    apart: frozenset[Path] = frozenset()
    sizes_diverge: bool = False
    may_peel: bool = True
    peel_first: bool = False
    raises: frozenset[Site] = frozenset()
    unrolled: bool = False
    refusal: UnsupportedError | None = None
    mends: tuple[Mend, ...] = ()

    def mended(self, name: str, why: str, **changes: Any) -> LoopPlan:
        """The plan with other parts, of which mappings are added to those that are there."""
        mend = Mend(name, why)
        new: Any = {k: {**getattr(self, k), **v} if isinstance(v, Mapping) else v for k, v in changes.items()}
        return replace(self, mends=self.mends if mend in self.mends else (*self.mends, mend), **new)

    def forgetting(self, name: str) -> LoopPlan:
        """The plan without what it knows of the leaves of a name, which are now others."""
        maps = ("numbers", "alternatives", "arrays", "directions", "other_objects")
        kept: Any = {k: {p: x for p, x in getattr(self, k).items() if p[0] != name} for k in maps}
        return replace(self, **kept, texts=frozenset(p for p in self.texts if p[0] != name))

    @property
    def sizes_vary(self) -> bool:
        """Whether an array is carried whose sizes change, or what part of its storage it is."""
        return any(isinstance(how, ArrayCarry) and any((*how.sizes, *how.parts)) for how in self.arrays.values())


@frozen(slots=False)
class LoopSpec:
    """One loop: `run(env, place)` does an iteration, over a range (place: its int), or while `test(env)` holds.

    `exits`: something may leave it early. `key` identifies it among the loops of a call; of the `assigned` names,
    `rebound` are bound to new objects, not only changed in place, `computed` are bound to an operator's result, and
    `floats` to something that is certainly not an int. `head` and `after` are the names live there,
    `read_if_returned` those that something may read when the loop has returned. `otherwise(env,
    first)`: how the iterations from that one on are traced one by one, of a loop that is only traced once where it is
    better for it.
    """

    key: Path
    rng: Range | None
    test: Callable[[Env], bool | PyBool] | None
    run: Callable[[Env, Dim | None], None]
    exits: bool
    assigned: tuple[str, ...]
    rebound: frozenset[str]
    computed: frozenset[str]
    floats: frozenset[str]
    head: frozenset[str]
    after: frozenset[str]
    read_if_returned: frozenset[str] = frozenset()
    otherwise: Callable[[Env, int], None] | None = None


def jump_of(env: Env) -> int | PyInt:
    """How the statements traced so far ended: GO_ON ... DONE of numbers/lattice."""
    found: int | PyInt = env.get(JUMP, GO_ON)
    return found


def goes_on(r: Recorder, env: Env, below: int) -> bool | PyBool:
    """Whether the jump is less than `below`: known, or a condition."""
    jump = jump_of(env)
    if isinstance(jump, int):
        return jump < below
    left = sub(below - 1, jump.expr)
    known = r.facts.decide_nonneg(left)
    return PyBool(r.compare("slt", jump.expr, below), left) if known is None else known


@plain(eq=True)
class Item:
    """One leaf of a carried name: its value before the loop (`entry`), at the head, and at the end of the body
    (`back`); `known` says at the head whether it is the object of before the loop, or another one of then, where that
    is carried; `another` stands for any other object."""

    path: Path
    entry: Any
    head: Any
    kind: Kind | None = None
    kinds: Kinds = ()
    how: Carry | None = None
    phis: Sequence[Value] = ()
    known: tuple[tuple[Value, Any], ...] = ()
    another: Any = None
    parts: tuple[Value | None, ...] = ()
    back: Any = None
    found: Any = None
    is_text: bool = False
    """Whether it is a text that iterations add to, or an object of a library's, carried as its number among those that
    are kept."""


@plain(eq=True)
class CarriedStorage:
    """A storage carried by value: the one before the loop, its stand-in inside, the block argument, and the block
    arguments of its sizes."""

    entry: Storage
    inner: Storage
    phi: Value
    sizes: list[Value | None]


def without_left_paths(x: Any, heap: Heap) -> Any:
    """A value where the loop goes on: without what it is on the paths that have left it. Lists that do not change stay
    the same object."""
    if isinstance(x, Cond) and x.leaving is not None:
        return without_left_paths(x.arms[1 - x.leaving], heap)
    if isinstance(x, Maybe) and x.left:
        return without_left_paths(x.value, heap)
    return heap.with_changed(x, lambda i: without_left_paths(i, heap)) if is_container(x) else x


def similar(a: ArrayRef, b: ArrayRef) -> bool:
    """Whether one reference may stand for the other, up to sizes."""
    if a.element is not b.element or a.storage.order != b.storage.order or a.read_only != b.read_only:
        return False
    return (a.is_whole and b.is_whole) or alike(a.view, b.view)
