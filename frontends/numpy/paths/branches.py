"""An `if` whose branches are both traced (rules S8, F3): `trace_if` is the door. What names hold at the ends of the
branches is joined in `joins`; what a branch raises and a `try` catches goes on outwards (`landing`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tracebuf.frontends.numpy.numbers.lattice import GO_ON, JUMP
from tracebuf.frontends.numpy.paths.choices import narrow
from tracebuf.frontends.numpy.paths.cycles import cycles_refused
from tracebuf.frontends.numpy.paths.joins import join_branches
from tracebuf.frontends.numpy.paths.landing import land, raise_on, raised_names, surely_raised, with_raised
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.raises import DeadEnd
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.regions import RAISED, Frame, Site
from tracebuf.frontends.numpy.record.values import Env, PyBool
from tracebuf.ir.core import Block
from tracebuf.ir.dims import sub


def trace_if(
    r: Recorder,
    condition: PyBool,
    env: Env,
    run: Sequence[Callable[[Env], None]],
    names: Iterable[str],
    live: frozenset[str],
    unchecked: frozenset[str] = frozenset(),
) -> None:
    """Traces both branches (`run[0]` if true) and joins them into `env`: `names` are those assigned, `live` those live
    after; those of `unchecked` are read only where they are known to be bound.

    What the branches raise and a `try` catches leaves the region around them too; if RAISED is among the names, that
    is left to the caller.
    """
    if JUMP in live:
        env.setdefault(JUMP, GO_ON)
    frames: list[Frame] = []
    envs: list[Env | None] = []
    changed: list[ByIdentity[Any, Any]] = []
    sites: frozenset[Site] = frozenset()
    with r.at(r.loc):
        for positive, body in zip((True, False), run):
            changed.append(ByIdentity())
            frame, after, raised = trace_branch(r, condition, positive, env, body, changed[-1], live)
            frames.append(frame)
            envs.append(after)
            sites |= raised
    if envs[0] is None and envs[1] is None:
        r.close_if(condition.value, frames, [[], []])
        raise DeadEnd
    names = list(dict.fromkeys(names))
    passed_on = RAISED not in names
    if sites:
        names, live = with_raised(names, live, sites, envs)
        unchecked |= raised_names(sites)
        if passed_on:
            unread = frozenset(names) - r.read_if_raised[-1] - raised_names(sites)
            unchecked |= forget_raised(r, envs, unread)
    join_branches(r, condition, env, frames, envs, changed, names, live, unchecked)
    if sites and passed_on:
        ended = which_raises(r, envs)
        raise_on(r, env, sites)
        if ended is not None and condition.nonneg is not None:  # here the other branch was taken
            r.facts.assume_nonneg(condition.nonneg if ended == 1 else sub(-1, condition.nonneg), entry=False)


def forget_raised(r: Recorder, envs: Sequence[Env | None], names: frozenset[str]) -> frozenset[str]:
    """Where one branch certainly raises, drops what its names hold that nothing reads then; these names."""
    ended = which_raises(r, envs)
    env = None if ended is None else envs[ended]
    if env is None:
        return frozenset()
    for name in names:
        env.pop(name, None)
    return names


def which_raises(r: Recorder, envs: Sequence[Env | None]) -> int | None:
    """The branch that certainly raises what is caught further out, if one of them does."""
    raising = [env is not None and surely_raised(r, env.get(RAISED, 0)) for env in envs]
    return raising.index(True) if sum(raising) == 1 else None


def trace_branch(
    r: Recorder,
    condition: PyBool,
    positive: bool,
    env: Env,
    body: Callable[[Env], None],
    changed: ByIdentity[Any, Any],
    live: frozenset[str],
) -> tuple[Frame, Env | None, frozenset[Site]]:
    """Traces one branch in its own region; its names afterwards, None where its end cannot be reached, and the sites
    that may raise in it. Adds to `changed` the containers that it changes, with their contents at its end."""
    with r.region("branch", Block()) as frame:
        frame.taken = condition.value, positive
        try:
            if condition.nonneg is not None:
                r.facts.assume_nonneg(condition.nonneg if positive else sub(-1, condition.nonneg), entry=False)
            r.assume_yielded(condition.value, positive)
            after = narrow(env, condition.value, positive, r.heap)
            with cycles_refused(r):
                sites = land(r, after, body, live)
            return frame, after, sites
        except DeadEnd:
            return frame, None, frozenset()
        finally:
            changed.update(r.heap.leave(frame))
