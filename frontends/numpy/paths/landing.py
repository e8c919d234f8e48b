"""Regions that a raise may leave which a `try` further out catches (record/regions): how they go on after a check, and
what names hold at their end.

`land` runs what records a region's statements; afterwards RAISED of its names is the number of what has been raised
(0 for nothing), which the region around it passes on (`raise_on`) or, at the `try` itself, a handler takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from tracebuf.frontends.numpy.numbers.lattice import GO_ON, JUMP, RETURN, from_values
from tracebuf.frontends.numpy.paths.joins import MISSING, join_branches
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.raises import DeadEnd
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.regions import RAISED, Frame, Landing, Site
from tracebuf.frontends.numpy.record.sizes import Region
from tracebuf.frontends.numpy.record.values import INT, Env, Kind, PyBool, PyInt
from tracebuf.ir.core import Block, Value
from tracebuf.ir.dims import sub
from tracebuf.ir.types import INDEX


class Opened:
    """A check after which a region goes on in a branch of its own: what names held there, and the branch."""

    __slots__ = ("condition", "env", "frame", "region")

    def __init__(self, condition: Value, env: Env, region: Region) -> None:
        self.condition, self.env, self.region, self.frame = condition, env, region, region.__enter__()


class RegionLanding(Landing):
    """The landing of a region with the names `env`, of which `live` are live after it. `jump`: how a block ends there
    that raises, if it is a loop's."""

    def __init__(self, r: Recorder, env: Env, live: frozenset[str], jump: int | None) -> None:
        self.r, self.env, self.live, self.jump = r, env, live, jump
        self.current = r.frame
        self.read_if_raised = r.read_if_raised[-1]
        self.opened: list[Opened] = []
        self.sites: frozenset[Site] = frozenset()
        self.thrown: Env | None = None
        """What names held where the region was left for certain."""

    def check(self, condition: Value, site: Site, values: Sequence[Value]) -> None:
        self.open(condition, self.left_with(site.number, operands(self.r, site, values)), frozenset([site]))

    def throw(self, site: Site, values: Sequence[Value]) -> None:
        self.leave(self.left_with(site.number, operands(self.r, site, values)), frozenset([site]))

    def left_with(self, number: int | PyInt, held: Env) -> Env:
        """The names where the region is left with the number of a site."""
        names = {n: x for n, x in self.env.items() if n not in self.r.unbound_there}
        left = {**names, **held, RAISED: number}
        return left if self.jump is None else {**left, JUMP: self.jump}

    def open(self, condition: Value, left: Env, sites: frozenset[Site]) -> None:
        """Goes on in a branch where the condition holds."""
        self.sites |= sites
        self.opened.append(Opened(condition, left, self.r.region("branch", Block())))
        self.r.assume_yielded(condition, True)
        self.current = self.opened[-1].frame
        self.r.passable.add(self.current)

    def leave(self, left: Env, sites: frozenset[Site]) -> None:
        """The region is left here."""
        self.thrown, self.sites = left, self.sites | sites

    def abandon(self) -> None:
        """Ends the branches of a region that is not traced to its end."""
        while self.opened:
            one = self.opened.pop()
            self.r.heap.leave(one.frame)
            one.region.__exit__()

    def close(self, reached: bool) -> None:
        """Ends the branches, and brings the region's names up to date. `reached`: whether its end is."""
        env: Env | None = self.thrown if self.thrown is not None else dict(self.env) if reached else None
        while self.opened:
            one = self.opened.pop()
            changed: list[ByIdentity[Any, Any]] = [ByIdentity(self.r.heap.leave(one.frame)), ByIdentity()]
            one.region.__exit__()
            with self.r.region("branch", Block()) as other:
                pass
            env = self.joined(PyBool(one.condition), [one.frame, other], env, one.env, changed)
        assert env is not None
        self.env.clear()
        self.env.update(env)

    def joined(
        self, condition: PyBool, frames: Sequence[Frame], on: Env | None, left: Env,
        changed: Sequence[ByIdentity[Any, Any]],
    ) -> Env:  # fmt: skip
        """The names after a check: those where it held, and those where the region was left."""
        if on is None:
            env = dict(left)
            join_branches(self.r, condition, env, frames, [None, left], changed, (), frozenset(left), frozenset())
            return env
        hidden, by_jump = raised_names(self.sites), self.jump is not None
        for one in (on, left):
            if by_jump:
                one.setdefault(JUMP, GO_ON)
            one.setdefault(RAISED, 0)
        names = [n for n in {**on, **left} if on.get(n, MISSING) is not left.get(n, MISSING)]
        env = {n: x for n, x in on.items() if n not in names}
        seen = self.read_if_raised | hidden | ({JUMP} if by_jump else frozenset())
        unread = frozenset(n for n in names if n not in seen)
        there = {n: x for n, x in left.items() if n not in unread}
        live = self.live | self.read_if_raised | hidden | {JUMP, RETURN, *env}
        unchecked = unread | hidden | {JUMP, RETURN}
        join_branches(self.r, condition, env, frames, [on, there], changed, names, live, unchecked)
        return env


def land(
    r: Recorder, env: Env, run: Callable[[Env], None], live: frozenset[str], jump: int | None = None
) -> frozenset[Site]:
    """Runs what records a region's statements in `env`; the sites of what is raised there and caught further out.
    RAISED of `env` is the number of the one that has raised. `live`: the names live after it."""
    if not r.catching:
        run(env)
        return frozenset()
    landing, frame, reached = RegionLanding(r, env, live, jump), r.frame, False
    new = frame not in r.passable
    r.landings.append(landing)
    r.passable.add(frame)
    try:
        try:
            run(env)
            reached = True
        except DeadEnd:
            if landing.thrown is None and not landing.opened:
                raise
        finally:
            r.landings.pop()
            if new:
                r.passable.discard(frame)
        landing.close(reached)
    finally:
        landing.abandon()
    return landing.sites


def operands(r: Recorder, site: Site, values: Sequence[Value]) -> Env:
    """The operands of a message as the values of names."""
    return {
        name: from_values(r, [v], INT if v.type is INDEX else Kind("np", v.type), name)  # type: ignore[arg-type]
        for name, v in zip(site.operands, values)
    }


def raised_names(sites: Iterable[Site]) -> frozenset[str]:
    """The names that only the tracer binds where one of the sites has raised."""
    return frozenset([RAISED, *(n for site in sites for n in site.operands)])


def with_raised(
    names: Iterable[str], live: frozenset[str], sites: frozenset[Site], envs: Iterable[Env | None]
) -> tuple[list[str], frozenset[str]]:
    """The names to be joined, and those that are live, with those of what has been raised."""
    for env in envs:
        if env is not None:
            env.setdefault(RAISED, 0)
    more = raised_names(sites)
    return list(dict.fromkeys([*names, *sorted(more)])), live | more


def raise_on(r: Recorder, env: Env, sites: frozenset[Site]) -> None:
    """Leaves the region where something has been raised inside; what follows is traced where nothing has."""
    number = env.pop(RAISED, 0)
    held = {n: env.pop(n) for site in sites for n in site.operands if n in env}
    if not sites or (isinstance(number, int) and number == 0):
        return
    if surely_raised(r, number):
        leave_by(r, number, held, sites)
    landing = landing_here(r)
    landing.open(r.compare("eq", number.expr, 0), landing.left_with(number, held), sites)


def leave_by(r: Recorder, number: int | PyInt, held: Env, sites: frozenset[Site]) -> NoReturn:
    """Leaves the region with the number of one of the sites, which has raised with these operands."""
    landing = landing_here(r)
    landing.leave(landing.left_with(number, held), sites)
    raise DeadEnd


def landing_here(r: Recorder) -> RegionLanding:
    """Where what is raised here lands."""
    landing = r.landings[-1]
    assert isinstance(landing, RegionLanding) and landing.current is r.frame, "a raise that lands nowhere"
    return landing


def surely_raised(r: Recorder, number: int | PyInt) -> bool:
    """Whether something has been raised on each path, by the number of its site."""
    return number > 0 if isinstance(number, int) else r.facts.nonneg(sub(number.expr, 1))
