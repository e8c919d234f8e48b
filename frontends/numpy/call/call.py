"""One call: its arguments, and what of them and of the captured arrays the specialisation is looked up by."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tracebuf.frontends.numpy.call.arguments import Key, Relations
from tracebuf.frontends.numpy.call.captures import Hidden, itself
from tracebuf.frontends.numpy.call.flatten import Tree
from tracebuf.frontends.numpy.call.outputs import Form
from tracebuf.frozen import frozen


@frozen(slots=False)
class Call:
    """The arguments of one call.

    `values`: the bound parameters in order, the `extra` arguments of `*args`, those of `**kwargs` (`named`), the
    buffers of `out=`, the captured arrays (`hidden`). `keys` are their parts of the specialisation's key, `related` how
    they may alias, `donated` those that the program may overwrite. Where arguments are containers, these are their
    leaves; `tops` are the names of the arguments, `starts` the index of each one's first leaf, `tree` and `containers`
    the containers.
    """

    names: tuple[str, ...]
    values: tuple[Any, ...]
    keys: tuple[Key, ...]
    related: Relations
    extra: int
    named: tuple[str, ...]
    out: Form
    hidden: tuple[Hidden, ...]
    donated: tuple[int, ...]
    tops: tuple[str, ...]
    starts: tuple[int, ...]
    tree: Tree | None
    containers: tuple[Any, ...]

    def leaves_before(self, count: int) -> int:
        """The number of leaves before the last `count` arguments."""
        return len(self.keys) if count == 0 else self.starts[-count]

    def without(self, count: int) -> Call:
        """The call without the last `count` captured values, as far as its group depends on them."""
        last = self.leaves_before(count)
        same, objects, shared = self.related.same[:last], self.related.objects[:last], self.related.shared
        tree = None if self.tree is None else self.tree[:-count]
        return replace(
            self, keys=self.keys[:last], related=Relations(same, objects, shared),
            tree=tree if tree is not None and any(node is not None for node in tree) else None,
        )  # fmt: skip

    @property
    def paths(self) -> list[Hidden]:
        """How each argument is fetched."""
        count = len(self.starts) - len(self.hidden)
        first = [Hidden(name, ("argument", i), itself, i) for i, name in enumerate(self.tops[:count])]
        return [*first, *self.hidden]

    @property
    def group(self) -> tuple[Any, ...]:
        """What all specialisations that may serve the call have in common."""
        return self.keys, self.related.same, self.related.objects, self.named, self.out, self.donated, self.tree
