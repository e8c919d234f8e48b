"""`condition ? then : otherwise`, what is one thing or another depending on the path (rule S8): arrays of one form
(`GuardedRef`, record/values), values of different types, or which object something is (paths/identity).

Names that exchange what they hold by the path share it: `nodes` visits each node once, since there may be twice as many
ways to it after each exchange. Values, whose walks follow each way, have at most `MOST_WAYS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from tracebuf.errors import UnsupportedError
from tracebuf.ir.core import Value

T = TypeVar("T")

MOST_WAYS = 512
"""What a path-dependent value may be, counted on each path: one that names exchange by the path may be twice as many
things each time."""


class Cond(Generic[T]):
    """`arms[0]` where the condition held, else `arms[1]`. `ways` counts the paths by which a value is one thing or
    another. `leaving`: the arm of a path that has left the loop, if there is one. A value whose type is Cond, and not a
    subclass, is of different types."""

    def __init__(
        self, condition: Value, then: T, otherwise: T, ways: int = 2, leaving: int | None = None
    ) -> None:
        self.condition, self.arms, self.ways, self.leaving = condition, (then, otherwise), ways, leaving

    def like(self, condition: Value, then: T, otherwise: T) -> Cond[T]:
        """One of other parts, of the same form; itself where they are its own, so that what is shared stays shared."""
        same = condition is self.condition and then is self.arms[0] and otherwise is self.arms[1]
        return self if same else self.of(condition, then, otherwise)

    def of(self, condition: Value, then: T, otherwise: T) -> Cond[T]:
        """A new one of other parts."""
        return Cond(condition, then, otherwise, self.ways, self.leaving)

    def map(self, change: Callable[[T], T]) -> Cond[T]:
        """The arms changed; itself where none changes."""
        return self.like(self.condition, *map(change, self.arms))


def ways_of(first: int, second: int) -> int:
    """In how many ways a value is found that is one of two. Raises UnsupportedError for too many."""
    if first + second > MOST_WAYS:
        raise UnsupportedError(
            f"there are more than {MOST_WAYS} paths by which a value may be one thing or another",
            instead="keep the number of the one that is meant, and take it from a list or an array where it is needed",
        )
    return first + second


def nodes(x: Any) -> Iterator[Any]:
    """What a value may be, and the choices between these: each once, the first on its path first."""
    if not isinstance(x, Cond):
        yield x
        return
    seen, todo = set[int](), [x]
    while todo:
        x = todo.pop()
        if id(x) not in seen:
            seen.add(id(x))
            yield x
            if isinstance(x, Cond):
                todo += x.arms[::-1]


def ends(x: Any) -> list[Any]:
    """What a value may be: each once, the first on its path first."""
    return [end for end in nodes(x) if not isinstance(end, Cond)] if isinstance(x, Cond) else [x]


def conditions(x: Any) -> Iterator[Value]:
    """The conditions that it depends on what a value is."""
    return (node.condition for node in nodes(x) if isinstance(node, Cond))


def narrow(x: Any, condition: Value, side: int) -> Any:
    """What a value is where a condition holds (side 0) or does not (side 1); itself if that says nothing about it."""
    if not isinstance(x, Cond):
        return x
    if x.condition is condition:
        return narrow(x.arms[side], condition, side)
    return x.map(lambda arm: narrow(arm, condition, side))


def undecided(xs: Sequence[Any]) -> Value | None:
    """A condition on which it depends what some values are; None where each is known."""
    return next((x.condition for x in xs if isinstance(x, Cond)), None)


def count_paths(xs: Sequence[Any], most: int) -> int:
    """The number of paths on which the values differ; counted to the first above `most`."""
    condition, total = undecided(xs), 0
    if condition is None:
        return 1
    for side in (0, 1):
        total += count_paths([narrow(x, condition, side) for x in xs], most) if total <= most else 0
    return total


def alike(a: Any, b: Any, same: Callable[[Any, Any], bool]) -> bool:
    """Whether two values are the same on each path, by what they may be."""
    if a is b or not (isinstance(a, Cond) or isinstance(b, Cond)):
        return a is b or same(a, b)
    both = isinstance(a, Cond) and isinstance(b, Cond) and a.condition is b.condition
    return both and all(alike(x, y, same) for x, y in zip(a.arms, b.arms))
