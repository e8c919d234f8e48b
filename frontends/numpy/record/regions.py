"""Regions being recorded: where ops are appended, constants made once per region, which ops are certain to be reached,
and which exceptions are caught further out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.frontends.numpy.record.values import Storage
from tracebuf.frozen import frozen
from tracebuf.ir.core import Block, Op, OpT, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import ScalarType
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.control import checks
from tracebuf.ops.scalars import arith
from tracebuf.ops.scalars.complex import constant
from tracebuf.running.raised import Message, Raised, raised


class Frame:
    """A region being recorded: the values of storages inside it, and (for loops) the carried arguments made so far."""

    __slots__ = ("block", "cache", "kind", "locals", "parent", "phis", "taken", "values")

    def __init__(self, kind: Literal["func", "loop", "branch"], block: Block, parent: Frame | None) -> None:
        self.kind, self.block, self.parent = kind, block, parent
        self.values: dict[Storage, Value] = {}
        self.phis: dict[Storage, Value] = {}
        self.cache: dict[object, Value] = {}
        self.locals: set[Storage] = set()
        self.taken: tuple[Value, bool] | None = None
        """Of a branch: its condition, and whether it is the one where that holds."""


ENDED = (
    "what is used here was made on a path, or in an iteration, that has ended",
    "make it again here, for example a list of the iterator's items",
)
"""Reason and rewrite for a value that is held by what is not followed where paths meet."""
MOST_RECORDED = 60_000
"""Ops that are recorded for a call, those of attempts at loops too; a program of so many would compile for minutes."""
TOO_MUCH = (
    f"tracing takes more than {MOST_RECORDED:,} operations, of loops that are unrolled inside of one another",
    "write the inner loops over arrays, or make them a function that is bufferized by itself",
)


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
        if self.recorded > MOST_RECORDED:
            raise self.refuse(*TOO_MUCH)
        return op

    def emit(self, op: Op) -> Value:
        """Appends an op like `add`; its single result."""
        return self.first_made(self.add(op).result)

    def first_made(self, value: Value) -> Value:
        """A value; the earlier one, where it is that of the last op, and of a comparison that was made before: what
        depends on it is known where it is asked again (`narrow`)."""
        op = value.owner
        if not isinstance(op, (arith.CmpI, arith.CmpF)) or self.frame.block.ops[-1:] != [op]:
            return value
        key = (type(op), op.attrs["predicate"], *op.operands)
        if (earlier := self.cached(key)) is None:
            return self.remember(key, value)
        if earlier is not value:
            op.erase()
        return earlier

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


# -- exceptions that a `try` catches
RAISED = "<raised>"
"""A name that only the tracer binds: the number of the `Site` that has raised, 0 for none."""
OVERFLOW = "Python integers are limited to 64 bits in compiled code"
LIMITS = (OVERFLOW, "Python int too large to convert to C long", "Python integer {:.0f} out of bounds for int64")
"""Messages of compiled code's own limits, which eager does not know: no `try` catches them."""


@frozen()
class Kept:
    """In the place of a message: the exception is one of Python's, kept under a name (`Attempt` of running/host)."""

    name: str


@frozen(eq=False)
class Site:
    """A place that may raise: its number, the exception with its message (as of `Sizes.check`), and the line."""

    number: int
    exception: type[BaseException] | BaseException
    message: Message | Kept
    types: tuple[Any, ...]
    """The types of the operands of the message."""
    loc: Location

    @property
    def kind(self) -> type[BaseException]:
        return self.exception if isinstance(self.exception, type) else type(self.exception)

    @property
    def operands(self) -> list[str]:
        """The names that hold the operands of the message where it has raised."""
        return [f"<raised {self.number}.{k}>" for k in range(len(self.types))]


@frozen(eq=False)
class Catch:
    """A `try` whose body is being traced: the region it stands in, the classes that it catches, and the names that may
    be read where they are caught."""

    frame: Frame
    kinds: tuple[type[BaseException], ...]


class Landing(ABC):
    """Where raises of one region land."""

    current: Frame
    """The innermost of the open branches, else the region itself."""

    @abstractmethod
    def check(self, condition: Value, site: Site, values: Sequence[Value]) -> None:
        """Goes on where the condition holds, and leaves the region with the site's number else."""

    @abstractmethod
    def throw(self, site: Site, values: Sequence[Value]) -> None:
        """Notes that the region is left here, with the site's number."""


class Landings(Regions):
    """The part of the recorder that knows which exceptions a `try` catches at run time: within its body a check is no
    end of the program but a jump.

    A region in which one may be raised (the body of the `try`, a branch, an iteration) has a `Landing`. A check there
    records an `scf.if` that stays open: the rest of the region is recorded in its first branch, and the other one
    leaves with the number of what was raised (`Site`) and what names held then. The region's end closes them, and the
    number goes on outwards until a handler takes it (paths/landing, interpreter/protected).
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.catching: list[Catch] = []
        """The `try` statements whose bodies are being traced, innermost last."""
        self.landings: list[Landing] = []
        """The regions that may be left by a raise, innermost last."""
        self.passable: set[Frame] = set()
        """The regions that a raise may leave."""
        self.read_if_raised: list[frozenset[str]] = [frozenset()]
        """The names of the function being traced that may be read where an exception is caught."""
        self.unbound_there: list[str] = []
        """The names of the exceptions that are being handled."""
        self.sites: list[Site] = []
        self.site_numbers: dict[object, Site] = {}

    @contextmanager
    def catch(self, kinds: tuple[type[BaseException], ...], names: frozenset[str]) -> Iterator[None]:
        """A context for what a `try` protects."""
        self.catching.append(Catch(self.frame, kinds))
        self.read_if_raised.append(self.read_if_raised[-1] | names)
        try:
            yield
        finally:
            self.catching.pop()
            self.read_if_raised.pop()

    @contextmanager
    def of_a_call(self) -> Iterator[None]:
        """A context for a function's body: its names are not read where its caller catches what it raises."""
        self.read_if_raised.append(frozenset())
        try:
            yield
        finally:
            self.read_if_raised.pop()

    @contextmanager
    def unbound_if_raised(self, name: str | None) -> Iterator[None]:
        """A context for a handler: the name of what it has caught is not bound any more where it raises."""
        self.unbound_there.append(name or "")
        try:
            yield
        finally:
            self.unbound_there.pop()

    def landing_for(self, exception: Raised, message: Message | Kept) -> Landing | None:
        """Where an exception lands that is raised here; None where nothing catches it, or nothing can: then the program
        ends with it."""
        landing = self.landings[-1] if self.landings else None
        if landing is None or landing.current is not self.frame or message in LIMITS:
            return None
        found = raised(exception)
        return landing if self.is_caught(found if isinstance(found, type) else type(found)) else None

    def is_caught(self, kind: type[BaseException]) -> bool:
        """Whether a `try` catches what is raised here."""
        if issubclass(kind, TracebufError):
            return False
        catch = next((c for c in reversed(self.catching) if issubclass(kind, c.kinds)), None)
        return catch is not None and self.leads_to(catch)

    def leads_to(self, catch: Catch) -> bool:
        """Whether each region from here to a `try` may be left by a raise."""
        for frame in self.frames():
            if frame is catch.frame:
                return True
            if frame not in self.passable:
                return False
        return False

    def caught_here(self) -> tuple[type[BaseException], ...]:
        """The classes of what is caught where it is raised here, those of the innermost `try` first."""
        if not self.landings or self.landings[-1].current is not self.frame:
            return ()
        return tuple(k for c in reversed(self.catching) if self.leads_to(c) for k in c.kinds)

    @contextmanager
    def uncaught(self) -> Iterator[None]:
        """A context for what notes by itself what it raises."""
        catching, self.catching = self.catching, []
        try:
            yield
        finally:
            self.catching = catching

    def site(self, exception: Raised, message: Message | Kept, values: Sequence[Value]) -> Site:
        """The place that raises here; the same one where a line is traced again."""
        kind, types = raised(exception), tuple(v.type for v in values)
        key = (kind if isinstance(kind, type) else id(kind), repr(message), types, self.loc)
        found = self.site_numbers.get(key)
        if found is None:
            found = self.site_numbers[key] = Site(len(self.sites) + 1, kind, message, types, self.loc)
            self.sites.append(found)
        return found
