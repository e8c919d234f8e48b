"""Objects among a call's arguments that the program does not get, and functions that it calls do: random generators.

In a call by Python they are found here, in one by machine code in its values (`Passing.VALUE`).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from tracebuf.errors import TracebufError
from tracebuf.frozen import frozen


class _Calls(threading.local):
    """The leaves of this thread's calls that are under way and hand objects over, the innermost last."""

    def __init__(self) -> None:
        self.values: list[Sequence[Any]] = []


_calls = _Calls()


class handing(AbstractContextManager[None]):
    """`with handing(values)`: the call with these leaves is under way."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values

    def __enter__(self) -> None:
        _calls.values.append(self.values)

    def __exit__(self, *error: object) -> None:
        _calls.values.pop()


@frozen()
class Handed:
    """An argument of a host call: the call's own argument of that number."""

    leaf: int

    def now(self) -> Any:
        """The object, in the innermost call under way."""
        if not _calls.values:
            text = "a random generator that is an argument is found only in a call of the bufferized function itself"
            raise TracebufError(f"{text}\nInstead: call the function, not a program of it")
        return _calls.values[-1][self.leaf]
