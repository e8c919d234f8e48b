"""Containers that branches change, where the branches meet: their contents are joined like the values of names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.numbers.lattice import containers_in, leaves
from tracebuf.frontends.numpy.paths.holders import held_by
from tracebuf.frontends.numpy.record.by_identity import ByIdentity, distinct
from tracebuf.frontends.numpy.record.callees import NestedFunction, is_text
from tracebuf.frontends.numpy.record.cond import Cond, ends
from tracebuf.frontends.numpy.record.growing import Moved, mark_in
from tracebuf.frontends.numpy.record.heap import Record, contents, set_contents
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, Env, Scalar, kinds_of


def may_hold(leaf: Any) -> bool:
    """Whether a value may hold containers that are not seen: an iterator, a bound method."""
    known = isinstance(leaf, (ArrayRef, Scalar, NestedFunction)) or bool(held_by(leaf))
    return not known and type(leaf).__module__.startswith("tracebuf.")


def apart(r: Recorder, x: Any, env: Env) -> Any:
    """What is changed, of a container that stands for one or another since paths met: a choice of the two themselves,
    which its names hold from now on; itself for any other container, or where more than names of this region hold it.
    """
    found = r.heap.origins.get(x)
    if not isinstance(found, Cond) or r.heap.joined_in.get(x) is not r.frame:
        return x
    objects = distinct(ends(found))
    others = [*(v for v in env.values() if v is not x), *r.outer_values()]
    others += [h for v in others for leaf in leaves(v) for h in held_by(leaf)]
    held = distinct(y for v in others for y in containers_in(v))
    shared = (o for y in held if y not in objects for o in ends(r.heap.origins.get(y)))
    if x in held or any(o in objects for o in shared) or not all(r.heap.outlives(o, r) for o in objects):
        return x
    if any(may_hold(leaf) for v in others for leaf in leaves(v)):
        return x
    for o in objects:
        r.heap.merged.pop(o, None)
    env.update({name: found for name, v in env.items() if v is x})
    return found


def is_held_once(r: Recorder, x: Any, name: str, envs: Sequence[Env]) -> bool:
    """Whether a container of a region around this one is held by one name alone, of those and of what containers hold:
    the name is one of which nothing else may keep it (source/own_lists)."""
    known = r.heap.find(x)
    if known is None or known.home is r.frame or not r.heap.outlives(x, r) or x in r.heap.merged:
        return False
    if x in r.heap.origins or x in r.heap.stand_ins or r.heap.number(x) is not None:
        return False
    return is_held_by_one(r, x, name, envs)


def is_held_by_one(r: Recorder, x: Any, name: str, envs: Sequence[Env]) -> bool:
    """Whether no other name, and no container, holds a container."""
    others = [*(v for env in envs for n, v in env.items() if n != name), *r.outer_values()]
    others += [entry.of for entry in list(r.heap.known.values()) if entry.of is not x]
    found = [leaf for v in others for leaf in leaves(v)]
    others += [h for leaf in found for h in held_by(leaf)]
    return not any(y is x for v in others for y in containers_in(v))


class OtherLength(UnsupportedError):
    """The refusal of a list whose length changes on a path or in a loop, of items that no growing list holds."""


class JoinedContainers:
    """The containers that some branch has changed. Until `close` they are empty, and names that only the tracer binds
    hold their contents at the end of each branch."""

    def __init__(self, r: Recorder, envs: Sequence[Env | None], changed: Sequence[ByIdentity[Any, Any]]) -> None:
        self.r = r
        self.places = ByIdentity((x, r.heap.known[x].changed) for one in changed for x in one)
        found = distinct(x for one, env in zip(changed, envs) if env is not None for x in one)
        self.containers: dict[str, tuple[Any, Any]] = {}
        self.ends: ByIdentity[Any, Sequence[Any]] = ByIdentity()
        for x in found:
            r.heap.joins += 1
            name, before = f"<joined {r.heap.joins}>", contents(x)
            self.containers[name] = x, before
            ends: Sequence[Any] = [one.get(x, before) for one in changed]
            if isinstance(x, Record):
                ends = complete(r, x, ends)
            ends = with_marks(ends, [env is not None for env in envs])
            self.ends[x] = ends
            for env, end in zip(envs, ends):
                if env is not None:
                    env[name] = end
        for x, before in self.containers.values():
            set_contents(x, type(before)())

    @property
    def names(self) -> list[str]:
        """The names that hold the contents."""
        return list(self.containers)

    def restore(self) -> None:
        """Puts the contents before the branches into the containers."""
        for x, before in self.containers.values():
            set_contents(x, before)

    def close(self, env: Env) -> None:
        """Puts the joined contents into the containers."""
        new = {name: env.pop(name) for name in self.containers}
        for name, (x, before) in self.containers.items():
            if type(new[name]) is not type(before):
                raise self.unlike(x)
            self.r.heap.note_change(x, self.r)
            set_contents(x, new[name])

    def unlike(self, x: Any) -> UnsupportedError:
        """The refusal of a container whose length or keys depend on the path."""
        grows = False
        if isinstance(x, list):
            label, items = self.r.heap.known[x].label, [item for end in self.ends[x] for item in end]
            self.r.growth.note(label, items)
            grows = self.r.growth.forms(label, items) is not None
        elif type(x) is dict and (pairs := [pair for end in self.ends[x] for pair in end.items()]):
            if any(all(map(alike, (value for _, value in pairs))) for alike in (is_text, kinds_of)):
                label = self.r.heap.known[x].label
                self.r.growth.note(None if isinstance(label, tuple) else label, pairs)
        what = "the length of a list" if isinstance(x, list) else "which keys a dict has"
        if isinstance(x, Record):
            what = f"which attributes an object ({x.kind.__name__}) has"
        kind = OtherLength if isinstance(x, list) and not grows else UnsupportedError
        return kind(
            f"{what} depends on the path taken", location=self.places[x] or self.r.loc,
            instead="change the same places on all paths, for example by the old value: d[k] = d[k]",
        )  # fmt: skip


def with_marks(ends: Sequence[Any], reached: Sequence[bool]) -> Sequence[Any]:
    """The contents of a container at the ends of branches; of a list that has become an item of another on some only,
    what says so."""
    marks = [mark_in(end) is not None for end, known in zip(ends, reached) if known]
    if not any(marks) or all(marks):
        return ends
    mark = Record(Moved)
    return [{"moved": mark} if isinstance(end, dict) else (mark,) for end in ends]


def complete(r: Recorder, x: Record, ends: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The attributes of an object at the ends of branches: where one branch has set an attribute, the others have the
    old value."""
    names = list(dict.fromkeys(n for end in ends for n in end))
    old = {n: r.heap.read(x, n) for n in names if any(n not in end for end in ends)}
    full = [{n: end.get(n, old.get(n, r.heap)) for n in names} for end in ends]
    return [{n: v for n, v in end.items() if v is not r.heap} for end in full]
