"""Regions being recorded: where ops are appended, constants made once per region, and which ops are certain to be
reached."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.record.values import Storage
from tracebuf.ir.core import Block, Op, OpT, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import ScalarType
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.control import checks
from tracebuf.ops.scalars.complex import constant


class Frame:
    """A region being recorded: the values of storages inside it, and (for loops) the carried arguments made so far."""

    __slots__ = ("block", "cache", "kind", "locals", "parent", "phis", "values")

    def __init__(self, kind: Literal["func", "loop", "branch"], block: Block, parent: Frame | None) -> None:
        self.kind, self.block, self.parent = kind, block, parent
        self.values: dict[Storage, Value] = {}
        self.phis: dict[Storage, Value] = {}
        self.cache: dict[object, Value] = {}
        self.locals: set[Storage] = set()


ENDED = (
    "what is used here was made on a path, or in an iteration, that has ended",
    "make it again here, for example a list of the iterator's items",
)
"""Reason and rewrite for a value that is held by what is not followed where paths meet."""


class Inside:
    """A context in which ops are appended to a frame, and before and after which to another."""

    __slots__ = ("frame", "outer", "r")

    def __init__(self, r: Regions, frame: Frame) -> None:
        self.r, self.frame, self.outer = r, frame, r.frame

    def __enter__(self) -> Frame:
        self.outer, self.r.frame = self.r.frame, self.frame
        return self.frame

    def __exit__(self, *error: object) -> None:
        self.r.frame = self.outer


class At:
    """A context after which the current location is what it was before `Regions.at`."""

    __slots__ = ("before", "r")

    def __init__(self, r: Regions, before: Location) -> None:
        self.r, self.before = r, before

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        self.r.loc = self.before


class Regions:
    """The function being recorded, and the region of it that ops are appended to."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.frame = Frame("func", func.block, None)
        self.loc: Location = UNKNOWN
        self.surely: list[Callable[[], bool]] = []  # decides it within each `try`
        self.recorded = 0
        """How many ops were recorded so far."""
        self.blocks: list[Block] = []
        """The regions recorded, in the order they were begun."""
        self.doubts: list[UnsupportedError] = []
        """Refusals of what is recorded in loops that may yet be dropped."""

    def add(self, op: OpT) -> OpT:
        """Appends an op to the region; one made without a location gets the current one."""
        if op.loc is UNKNOWN:
            op.loc = self.loc
        here = self.frame.block
        for use in op.uses:
            owner = use.value.owner
            if (owner if isinstance(owner, Block) else owner.block) is not here and not self.is_visible(use.value):
                raise self.refuse(*ENDED)
        here.append(op)
        self.recorded += 1
        return op

    def emit(self, op: Op) -> Value:
        """Appends an op like `add`; its single result."""
        return self.add(op).result

    def inside(self, frame: Frame) -> Inside:
        """`with r.inside(frame)`: what is recorded goes to the end of a frame that was left, or is around this one."""
        return Inside(self, frame)

    def at(self, loc: Location) -> At:
        """Makes `loc` the current location, from here on; `with r.at(loc)`: inside only. `with r.at(r.loc)` goes back
        to where it began."""
        before, self.loc = self.loc, loc
        return At(self, before)

    @property
    def mark(self) -> tuple[int, int]:
        """How much was recorded: for `forget`."""
        return len(self.blocks), len(self.doubts)

    def forget(self, mark: tuple[int, int]) -> None:
        """Drops the regions begun since, and the doubts: what they recorded uses nothing any more."""
        for block in self.blocks[mark[0] :]:
            for op in block.ops:
                op.drop_uses()
        del self.blocks[mark[0] :], self.doubts[mark[1] :]

    def refuse(self, reason: str, instead: str = "") -> UnsupportedError:
        """The refusal of what the current location does, to be raised: the reason, and what to write instead."""
        return UnsupportedError(reason, instead=instead, location=self.loc)

    def doubt(self, error: UnsupportedError) -> None:
        """Refuses what was recorded, unless it rests on a wrong guess in a loop and is dropped."""
        if not any(f.kind == "loop" for f in self.frames()):
            raise error
        self.doubts.append(error)

    def frames(self) -> Iterator[Frame]:
        """The regions being recorded, innermost first."""
        frame: Frame | None = self.frame
        while frame is not None:
            yield frame
            frame = frame.parent

    @property
    def conditional(self) -> bool:
        """Whether what is recorded now may not run."""
        return self.frame.parent is not None

    @property
    def certain(self) -> bool:
        """Whether what is recorded now is always reached: nothing before it may raise either."""
        if self.surely:
            return self.surely[-1]()
        return not self.conditional and not any(checks.may_stop(op) for op in self.func.walk())

    def constant(self, value: bool | int | float | complex, element: ScalarType) -> Value:
        """An SSA constant, made once per region."""
        key = ("constant", type(value), str(value), element)
        return self.cached(key) or self.remember(key, self.emit(constant(value, element, self.loc)))

    def cached(self, key: object) -> Value | None:
        frame: Frame | None = self.frame
        while frame is not None:
            if (found := frame.cache.get(key)) is not None:
                return found
            frame = frame.parent
        return None

    def remember(self, key: object, value: Value) -> Value:
        self.frame.cache[key] = value
        return value

    def is_visible(self, value: Value) -> bool:
        """Whether a value is defined in the region being recorded or one around it."""
        block, frame = value.block, self.frame
        while frame.block is not block:
            if frame.parent is None:
                return False
            frame = frame.parent
        return True
