"""One call: its arguments, and what of them and of the captured arrays the specialisation is looked up by."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from tracebuf.frontends.numpy.call.arguments import ArrayKey, Key, Leaf, Relations, ScalarKey, StaticKey, brief
from tracebuf.frontends.numpy.call.captures import CapturePlace, Hidden, itself
from tracebuf.frontends.numpy.call.flatten import Tree
from tracebuf.frontends.numpy.call.outputs import Form, labels
from tracebuf.frozen import frozen


@frozen(slots=False)
class Call:
    """The arguments of one call.

    `values`: the bound parameters in order, the `extra` arguments of `*args`, those of `**kwargs` (`named`), the
    buffers of `out=`, the captured arrays (`hidden`). `keys` are their parts of the specialisation's key, `related` how
    they may alias, `donated` those that the program may overwrite. Where arguments are containers, these are their
    leaves; `tops` are the names of the arguments, `starts` the index of each one's first leaf, `tree` and `containers`
    the containers. `presumed`: some of `hidden` are there for a program that was kept; `misled`: the places that others
    needed, which did not serve.
    """

    names: tuple[str, ...]
    values: tuple[Any, ...]
    keys: tuple[Key, ...]
    related: Relations
    extra: int
    named: tuple[str, ...]
    out: Form
    hidden: tuple[Hidden, ...]
    donated: tuple[Leaf, ...]
    tops: tuple[str, ...]
    starts: tuple[Leaf, ...]
    tree: Tree | None
    containers: tuple[Any, ...]
    presumed: bool = False
    misled: frozenset[frozenset[CapturePlace]] = frozenset()

    def leaves_before(self, count: int) -> Leaf:
        """The number of leaves before the last `count` arguments."""
        return Leaf(len(self.keys)) if count == 0 else self.starts[-count]

    def without(self, count: int) -> Call:
        """The call without the last `count` captured values, as far as its group depends on them."""
        last = self.leaves_before(count)
        same, objects, shared = self.related.same[:last], self.related.objects[:last], self.related.shared
        tree = None if self.tree is None else self.tree[:-count]
        return replace(
            self, keys=self.keys[:last], related=Relations(same, objects, shared), hidden=self.hidden[:-count],
            tree=tree if tree is not None and any(node is not None for node in tree) else None,
        )  # fmt: skip

    def overlap(self, stored: Collection[Leaf]) -> str | None:
        """Why the call cannot run a program that stores to these leaves: some overlap. None where none do."""
        shared = self.related.shared
        touched = {i for pair in shared for i in pair} & {self.related.same[i] for i in stored}
        if not touched:
            return None
        names = " and ".join(f"`{self.names[i]}`" for i in sorted({i for p in shared for i in p if touched & set(p)}))
        verb = "overlap in memory and are" if " and " in names else "overlaps itself in memory and is"
        return f"{names} {verb} stored to"

    @property
    def paths(self) -> list[Hidden]:
        """How each argument is fetched."""
        count = len(self.starts) - len(self.hidden)
        first = [Hidden(name, ("argument", i), itself, i) for i, name in enumerate(self.tops[:count])]
        return [*first, *self.hidden]

    @property
    def group(self) -> tuple[Any, ...]:
        """What all specialisations that may serve the call have in common. (What is captured is one more argument: the
        keys alone do not tell it from an argument of `*args`, nor in which order it was met.)"""
        captured = tuple(h.place for h in self.hidden)
        keys = self.keys, self.related.same, self.related.objects, self.named, self.out, self.donated, self.tree
        return *keys, captured


def show_key(key: Key) -> str:
    """One argument's key as text."""
    if isinstance(key, ArrayKey):
        dims = ", ".join("n" if d > 1 else str(d) for d in key.dims)
        marks = (
            []
            if key.layout == "dense" and key.order == tuple(range(len(key.dims)))
            else [key.layout, f"axes {key.order}"]
        )
        marks += [] if key.writable else ["read-only"]
        marks += ["memmap"] if key.mapped else []
        return f"{key.dtype}[{dims}]" + (f" ({', '.join(marks)})" if marks else "")
    if isinstance(key, ScalarKey):
        return key.kind
    return key.text or (f"={key.value}" if key.type is tuple else f"={brief(key.value)}")


def show_keys(call: Call) -> str:
    """The keys of a call as text: parameters, buffers of `out=`, captured arrays."""
    parameters = call.leaves_before(len(call.hidden) + len(labels(call.out)))
    shown = []
    for i, (name, key) in enumerate(zip(call.names, call.keys[:parameters])):
        label = "" if call.tree is None or name.isidentifier() else f"{name}: "
        shown.append(label + show_key(key) + (", donated" if i in call.donated else ""))
    first = call.leaves_before(len(call.hidden))
    for i, (name, key) in enumerate(zip(call.names, call.keys)):
        if i >= parameters and not isinstance(key, StaticKey):
            shown.append(f"{'captured ' if i >= first else ''}{name}: {show_key(key)}")
    return ", ".join(shown)
