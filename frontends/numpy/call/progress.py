"""Progress bars around loops, as they run: one for each number that `begin` gives, until its loop ends. How they are
traced stands in interpreter/progress.py.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

_numbers = itertools.count(1)
_bars: dict[int, tuple[Any, Iterator[Any]]] = {}


class _Begun(threading.local):
    """The numbers of this thread's bars, the innermost last."""

    def __init__(self) -> None:
        self.numbers: list[int] = []


_begun = _Begun()


def begin(kind: Callable[..., Any], sized: bool, count: int, *args: Any, **kwargs: Any) -> int:
    """Makes a bar around so many items, whose number it can ask for if they are `sized`; its number."""
    items = range(count)
    bar = kind(items if sized else iter(items), *args, **kwargs)
    number = next(_numbers)
    _bars[number] = bar, iter(bar)
    _begun.numbers.append(number)
    return number


def advance(number: int) -> None:
    """The next item's turn has come."""
    next(_bars[number][1])


def end(number: int, whole: bool) -> None:
    """The loop has ended, after all items or before."""
    _begun.numbers.remove(number)
    _, items = _bars.pop(number)
    if whole:
        next(items, None)
    else:
        items.close()  # type: ignore[attr-defined]


def tell(number: int, method: str, *args: Any, **kwargs: Any) -> None:
    """Calls a method of a bar whose loop is running."""
    getattr(_bars[number][0], method)(*args, **kwargs)


class closing(AbstractContextManager[None]):
    """A call under way, whose bars are closed where it raises."""

    def __enter__(self) -> None:
        self.count = len(_begun.numbers)

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        for number in reversed(_begun.numbers[self.count :]) if kind is not None else ():
            end(number, False)
