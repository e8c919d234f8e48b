"""What is known of a loop while it is traced: what it is, what it carries, what attempts at it have shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tracebuf.frontends.numpy.numbers.lattice import GO_ON, JUMP, Kind
from tracebuf.frontends.numpy.paths.iteration import Range
from tracebuf.frontends.numpy.paths.joins import alike
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, Env, GuardedRef, PyBool, PyInt, Storage
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, sub

MAX_PEELED = 3
Path = tuple[Any, ...]


@dataclass(frozen=True)
class Carry:
    """An array carried: by value or (a view of one storage) by its parameters only. `sizes` says which of the
    storage's sizes change, `parts` which of the view's offsets and sizes do."""

    by_value: bool
    sizes: tuple[bool, ...]
    parts: tuple[bool, ...]

    def fits(self, ref: ArrayRef) -> bool:
        """Whether an array has these sizes and parts."""
        sizes = len(ref.storage.shape) if self.by_value else 0
        return len(self.sizes) == sizes and len(self.parts) == len(ref.view.offsets) + len(ref.view.sizes)


class Which:
    """A name that holds one or another of the arrays that the loop's names held before it (rule S8)."""


WHICH = Which()


@dataclass
class Plan:
    """What attempts at a loop have shown: the kinds of numbers, how arrays are carried, whether ints rise (1) or fall
    (-1), names first bound inside, names whose arrays others may come to hold, labels of
    containers that are changed, names for those that hold others in each iteration, whether sizes that begin
    equal part.
    `again` and `peel` (the name that asks for it) are what the last attempt says; `peels`: the first iteration is
    another; `unrolled`: no iteration is like another."""

    numbers: dict[Path, Kind] = field(default_factory=dict)
    arrays: dict[Path, Carry | Which] = field(default_factory=dict)
    bounds: dict[Path, int] = field(default_factory=dict)
    late: dict[str, Any] = field(default_factory=dict)
    others: tuple[Path, ...] = ()
    boxes: frozenset[Any] = frozenset()
    loose: frozenset[str] = frozenset()
    split: bool = False
    again: bool = False
    peel: str = ""
    peels: bool = False
    unrolled: bool = False


@dataclass(frozen=True)
class LoopSpec:
    """One loop: `run(env, place)` does an iteration; over a range (place: its int), or while `test(env)` holds.
    `exits`: something may leave it early. `key` names it among the loops of a call; `rebound` are the names
    of `assigned` that are bound anew, not only changed in place, `computed` those bound to an operator's result,
    `floats` those bound to what is no int."""

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


def jump_of(env: Env) -> int | PyInt:
    """How the statements traced so far ended."""
    found: int | PyInt = env.get(JUMP, GO_ON)
    return found


def goes_on(r: Recorder, env: Env, below: int) -> bool | PyBool:
    """Whether the jump is less than `below`."""
    jump = jump_of(env)
    if isinstance(jump, int):
        return jump < below
    left = sub(below - 1, jump.expr)
    known = r.facts.decide_nonneg(left)
    return PyBool(r.compare("slt", jump.expr, below), left) if known is None else known


@dataclass
class Item:
    """One leaf of a carried name: what it is before the loop, at the head, and at the end of the body."""

    path: Path
    entry: Any
    head: Any
    kind: Kind | None = None
    how: Carry | Which | None = None
    phi: Value | None = None
    flag: Value | None = None
    parts: tuple[Value | None, ...] = ()
    back: Any = None
    found: Any = None


@dataclass
class Carried:
    """A storage carried by value: what it was before, its stand-in inside, the block argument, those of its sizes."""

    entry: Storage
    inner: Storage
    phi: Value
    sizes: list[Value | None]


def arms_of(ref: ArrayRef) -> list[ArrayRef]:
    """The references that a reference may be."""
    return [a for arm in ref.arms for a in arms_of(arm)] if isinstance(ref, GuardedRef) else [ref]


def similar(a: ArrayRef, b: ArrayRef) -> bool:
    """Whether one may stand for the other with other sizes."""
    if a.element is not b.element or a.storage.order != b.storage.order or a.read_only != b.read_only:
        return False
    return (a.is_whole and b.is_whole) or alike(a.view, b.view)
