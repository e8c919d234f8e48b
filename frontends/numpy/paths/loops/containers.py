"""Containers that a loop changes: their contents are loop-carried like the values of names (rule S10).

Which containers a loop changes is found by tracing it; it is then traced again with them. While its body is traced they
hold the carried contents; around the body they are empty, and a name that only the tracer binds holds the contents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.numbers.lattice import containers_in, leaves, shell
from tracebuf.frontends.numpy.paths.choices import within
from tracebuf.frontends.numpy.paths.container_joins import OtherLength
from tracebuf.frontends.numpy.paths.loops.plan import LoopSpec
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.heap import Changed, Fixed, Record, contents, items_of, set_contents, with_items
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.regions import Frame
from tracebuf.frontends.numpy.record.values import Env, PyBool


class NewKeys(UnsupportedError):
    """The refusal of an object that gets attributes in a loop, or of a dict that gets keys: those that the first
    iteration gives it may be there before the others, if that is traced by itself."""


class CarriedContainers:
    """The containers that one attempt at a loop carries. `spec` is the loop with names for their contents. Those of
    `rebound_containers` names hold other containers in each iteration."""

    def __init__(self, r: Recorder, spec: LoopSpec, env: Env, labels: Iterable[Any], rebound: Collection[str]) -> None:
        self.r, self.original_spec, self.env, self.rebound_containers = r, spec, env, rebound
        self.containers: dict[str, Any] = {}
        self.opened: ByIdentity[Any, None] = ByIdentity()
        """Containers of the head, made while it was traced, that hold carried ones while the body is."""
        self.promises: list[Callable[[], None]] = []
        """What has to hold where the loop is closed: raises where it does not."""
        places: Counter[str] = Counter()
        for x in r.heap.labelled(labels, r):
            label = str(r.heap.known[x].label)
            self.containers[f"<{label}, {places[label]}>"] = x
            places[label] += 1
        self.before = {name: contents(x) for name, x in self.containers.items()}
        self.names = [n for n in spec.assigned if n in env]
        self.bound = {n: env[n] for n in self.names}
        self.active = bool(self.containers) or any(self.wrapped(x) is not x for x in self.bound.values())
        if not self.active:
            self.spec = spec
            return
        for name, x in self.containers.items():
            env[name] = self.wrapped(self.before[name], inside=name not in rebound)
            set_contents(x, type(self.before[name])())
        env.update((n, self.wrapped(x)) for n, x in self.bound.items())
        names = tuple(self.containers)
        test = None if spec.test is None else lambda inner: self.within(inner, lambda: self.tested(inner))
        self.spec = replace(
            spec, run=lambda inner, place: self.within(inner, lambda: spec.run(inner, place)), test=test,
            assigned=(*spec.assigned, *names), head=spec.head | {*names}, after=spec.after | {*names},
        )  # fmt: skip

    def tested(self, inner: Env) -> bool | PyBool:
        """The loop's own test."""
        assert self.original_spec.test is not None
        return self.original_spec.test(inner)

    def within(self, inner: Env, run: Callable[[], Any]) -> Any:
        """Runs a part of the loop with the contents in the containers."""
        homes: dict[str, tuple[Frame, list[Callable[[], None]] | None]] = {}
        for name, x in self.containers.items():
            set_contents(x, self.unwrapped(inner.pop(name)))
            known = self.r.heap.known[x]
            homes[name] = known.home, known.promises
            known.home, known.promises = self.r.frame, self.promises
        inner.update((n, self.unwrapped(inner[n])) for n in self.original_spec.assigned if n in inner)
        try:
            found = run()
            self.check_shapes()
            return found
        finally:
            for name, x in self.containers.items():
                inner[name] = self.wrapped(contents(x), inside=name not in self.rebound_containers)
                set_contents(x, type(self.before[name])())
                known = self.r.heap.known[x]
                known.home, known.promises = homes[name]
            inner.update((n, self.wrapped(inner[n])) for n in self.original_spec.assigned if n in inner)

    def check_shapes(self) -> None:
        """Refuses lists that change their length, and dicts that change their keys."""
        for name, x in self.containers.items():
            if shell(contents(x)) == shell(self.before[name]):
                continue
            grows = False
            if isinstance(x, list):
                label, items = self.r.heap.known[x].label, [*self.before[name], *x]
                self.r.growth.note(label, items)
                grows = self.r.growth.forms(label, items) is not None
            what = "a list changes its length" if isinstance(x, list) else "a dict gets or loses keys"
            what = f"an object ({x.kind.__name__}) gets an attribute" if isinstance(x, Record) else what
            instead = "store into an array that is made before: out[i] = x"
            kind = UnsupportedError if grows else OtherLength if isinstance(x, list) else NewKeys
            raise kind(
                f"{what} in a loop that is traced once", location=self.r.heap.known[x].changed or self.r.loc,
                instead=instead if isinstance(x, list) else "give it all its keys before the loop",
            )  # fmt: skip

    def wrapped(self, x: Any, inside: bool = False) -> Any:
        """A value with `Fixed` in place of the containers that are carried; inside a carried one, in place of all that
        may be changed."""
        heap = self.r.heap
        if isinstance(x, (list, dict, Record)) and type(x) in (list, dict, Record) and not self.is_contents(x):
            mine = any(x is container for container in self.containers.values()) or heap.number(x) is not None
            if mine or (inside and heap.outlives(x, self.r)):
                return heap.fix(x)
            return self.holder(x) if any(c is y for y in containers_in(x) for c in self.containers.values()) else x
        if isinstance(x, dict):
            return heap.with_changed(x, lambda i: self.wrapped(i, inside))
        return within(x, lambda y: self.wrapped(y, inside), heap)

    def holder(self, x: Any) -> Any:
        """A container that is not carried and holds carried ones, with `Fixed` in their place: itself if it came from
        the head, or one that stands for it."""
        items = [self.wrapped(i) for i in items_of(x)]
        if x in self.opened:
            set_contents(x, contents(with_items(x, items)))
            return x
        made = self.r.heap.same_object(x, with_items(x, items))
        stand_in(self.r, x, made)
        return made

    def is_contents(self, x: Any) -> bool:
        """Whether a dict is the contents of a container, and not itself one."""
        return isinstance(x, dict) and self.r.heap.find(x) is None

    def unwrapped(self, x: Any) -> Any:
        """A value with the containers in place of `Fixed`: the inverse of `wrapped`."""
        if isinstance(x, Fixed):
            return x.of
        if self.is_contents(x):
            return self.r.heap.with_changed(x, self.unwrapped)
        if isinstance(x, (list, dict, Record)) and any(isinstance(i, Fixed) for i in leaves(x)):
            set_contents(x, contents(with_items(x, [self.unwrapped(i) for i in items_of(x)])))
            self.opened[x] = None
        return within(x, self.unwrapped, self.r.heap)

    def restore(self) -> None:
        """Undoes the attempt: containers and names are as they were before it."""
        for name, x in self.containers.items():
            set_contents(x, self.before[name])
            self.env.pop(name, None)
        self.env.update(self.bound if self.active else {})

    def close(self) -> None:
        """Puts the contents after the loop into the containers."""
        new = {name: self.unwrapped(self.env.pop(name)) for name in self.containers}
        for name, x in self.containers.items():
            set_contents(x, self.before[name])
        for name, x in self.containers.items():
            self.r.heap.note_change(x, self.r)
            set_contents(x, new[name])
        if self.active:
            self.env.update((n, self.unwrapped(self.env[n])) for n in self.original_spec.assigned if n in self.env)
        for check in self.promises:
            check()


def check_changes(r: Recorder, frame: Frame) -> None:
    """Raises `Changed` where a loop's body has changed containers that the loop does not carry."""
    journal = r.heap.journals.get(frame)
    if not journal:
        return
    for x, before in journal.items():
        if isinstance(x, Record):
            for name in x.fields.keys() - before.keys():
                if (old := r.heap.read(x, name)) is not r.heap:
                    before[name] = old
    raise Changed(r.heap.known[x].label for x in journal)


def stand_in(r: Recorder, x: Any, made: Any) -> None:
    """Notes that at the head of a loop one container, and each one in it, stands for another."""
    known = r.heap.find(x)
    label = r.heap.stand_ins.get(x) if known is None else known.label
    if label is not None and x is not made:
        r.heap.stand_ins[made] = label
    inside = isinstance(x, (tuple, list, dict, Record)) and not isinstance(made, Fixed)
    for a, b in zip(items_of(x), items_of(made)) if inside else ():
        stand_in(r, a, b)
