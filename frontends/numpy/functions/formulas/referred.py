"""Lists that are items of lists (interpreter/lists/references): where their items are, and how they change.

The items of all such lists are in one list, `held`, one after another; of list number r, `size[r]` items stand from
`start[r]` on, and there is room for `room[r]`.
"""

from __future__ import annotations

from typing import Any


def new_list(start: Any, size: Any, room: Any, first: int, n: int) -> Any:
    """The number of a new list of n items, which are there from `first` on."""
    number = len(start)
    start.append(first)
    size.append(n)
    room.append(n)
    return number


def place_of(start: Any, size: Any, r: int, k: int, message: str) -> Any:
    """Where item k of list r is."""
    n = size[r]
    if k < 0:
        k = k + n
    if k < 0 or k >= n:
        raise IndexError(message)
    return start[r] + k


def append(held: Any, start: Any, size: Any, room: Any, r: int, x: Any) -> None:
    """Appends an item to list r; where there is no room, it moves behind all others, with twice the room."""
    n = size[r]
    first = start[r]
    if n < room[r]:
        held[first + n] = x
    elif first + n == len(held):
        held.append(x)
        room[r] = n + 1
    else:
        start[r] = len(held)
        for k in range(first, first + n):
            held.append(held[k])
        for _ in range(n + 4):
            held.append(x)
        room[r] = 2 * n + 4
    size[r] = n + 1


def last_place(start: Any, size: Any, r: int, message: str) -> Any:
    """Where the last item of list r is, which is taken from it."""
    n = size[r]
    if n == 0:
        raise IndexError(message)
    size[r] = n - 1
    return start[r] + n - 1


def replace(held: Any, start: Any, size: Any, room: Any, r: int, items: Any) -> None:
    """Puts other items, of a list of its own, in the place of those of list r."""
    n = len(items)
    if n <= room[r]:
        first = start[r]
        for k in range(n):
            held[first + k] = items[k]
    else:
        start[r] = len(held)
        for x in items:
            held.append(x)
        room[r] = n
    size[r] = n


def fill(held: Any, x: Any, n: int) -> None:
    """Puts an item n times behind all others."""
    for _ in range(n):
        held.append(x)


def check_count(size: Any, r: int, n: int) -> None:
    """Raises where list r has not as many items as there are targets."""
    if size[r] < n:
        raise ValueError("not enough values to unpack")
    if size[r] > n:
        raise ValueError("too many values to unpack")


def width_of(numbers: Any, size: Any) -> Any:
    """The number of items of each of some lists, which there are; all have as many."""
    n = size[numbers[0]]
    for r in numbers:
        if size[r] != n:
            text = "setting an array element with a sequence. The requested array has an inhomogeneous shape after"
            raise ValueError(f"{text} 1 dimensions. The detected shape was ({len(numbers)},) + inhomogeneous part.")
    return n


def as_table(numbers: Any, start: Any, n: int, column: Any, make: Any) -> Any:
    """The array of the items of lists that have n each, of which `column` holds a part."""
    made = make((len(numbers), n, *column.shape[1:]), column.dtype)
    for k in range(len(numbers)):
        first = start[numbers[k]]
        made[k] = column[first : first + n]
    return made


def concatenated(numbers: Any, start: Any, size: Any, column: Any, make: Any) -> Any:
    """The elements of some lists, one list after another."""
    if len(numbers) == 0:
        raise ValueError("need at least one array to concatenate")
    total = 0
    for r in numbers:
        total += size[r]
    made = make((total, *column.shape[1:]), column.dtype)
    done = 0
    for r in numbers:
        first, n = start[r], size[r]
        made[done : done + n] = column[first : first + n]
        done += n
    return made
