"""Progress bars around loops, as they run: one for each number that `begin` gives, until its loop ends. How they are
traced stands in interpreter/progress.py.
"""

from __future__ import annotations

import itertools
import threading
import types
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from typing import Any

_numbers = itertools.count(1)
_bars: dict[int, tuple[Any, Iterator[Any]]] = {}


class _Begun(threading.local):
    """The numbers of this thread's bars, the innermost last."""

    def __init__(self) -> None:
        self.numbers: list[int] = []


_begun = _Begun()


def is_bar(function: Any) -> bool:
    """Whether a callee is the class of tqdm's bars, or a class made of it."""
    return isinstance(function, type) and any(
        c.__name__ == "tqdm" and c.__module__ == "tqdm.std" for c in function.__mro__
    )


def bar_of(function: Any) -> Any:
    """The class of bars that a callee makes: it is one, or `trange`; None for others."""
    if isinstance(function, types.FunctionType) and str(function.__module__).partition(".")[0] == "tqdm":
        function = function.__globals__.get("tqdm") if function.__name__ in ("trange", "tnrange") else None
    return function if is_bar(function) else None


def begin(kind: Callable[..., Any], sized: bool, count: int, *args: Any, **kwargs: Any) -> int:
    """Makes a bar around so many items, whose number it can ask for if they are `sized`; its number."""
    items = range(count)
    bar = kind(items if sized else iter(items), *args, **kwargs)
    number = next(_numbers)
    _bars[number] = bar, iter(bar)
    _begun.numbers.append(number)
    return number


def begin_alone(kind: Callable[..., Any], *args: Any, **kwargs: Any) -> int:
    """Makes a bar around nothing; its number."""
    number = next(_numbers)
    _bars[number] = kind(*args, **kwargs), iter(())
    _begun.numbers.append(number)
    return number


def advance(number: int) -> None:
    """The next item's turn has come."""
    next(_bars[number][1])


def end(number: int, whole: bool) -> None:
    """The loop has ended, after all items or before."""
    _begun.numbers.remove(number)
    bar, items = _bars.pop(number)
    if whole:
        next(items, None)
    elif isinstance(items, Generator):
        items.close()
        bar.close()  # whose loop has not begun, perhaps
    else:
        bar.close()


def tell(number: int, method: str, *args: Any, **kwargs: Any) -> None:
    """Calls a method of a bar whose loop is running, or that has none; or closes one."""
    if method != "close" or number in _bars:
        getattr(_bars[number][0], method)(*args, **kwargs)


class closing(AbstractContextManager[None]):
    """A call under way, whose bars that are left are closed where it ends."""

    def __enter__(self) -> None:
        self.count = len(_begun.numbers)

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        for number in reversed(_begun.numbers[self.count :]):
            end(number, False)
