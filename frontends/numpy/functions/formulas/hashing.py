"""Hash tables in Python, for dicts and sets whose keys only the run time knows: traced like the user's code.

The items are in columns, in the order in which they were added; `keys` are the columns of the ints that a key consists
of. A table has a place for the number of each item, or -1: where the hash of its key points to, or the next free one.
Half of the places are free at least.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracebuf.frontends.numpy.functions.formulas.primitives import hash_bits, slot_of, within

FIRST = 32
"""The number of places at first: a power of 2."""

LAST = 2**31 - 1
MIX = 165901723
"""2**28 over the golden ratio, and odd: its products tell near ints apart."""


def new_table() -> Any:
    """The table of no items."""
    return np.full(FIRST, -1)


def hash_of(key: Any) -> Any:
    """The hash of some ints of 64 bits, or floats. Nothing here overflows, of which NumPy would warn."""
    h = mixed(hash_bits(key[0]))
    for x in key[1:]:
        h = mixed(h ^ hash_bits(x))
    return h


def mixed(x: Any) -> Any:
    """An int whose bits each depend on all those of another."""
    h = ((x & LAST) + ((x >> 31) & LAST) * 5) * MIX
    return h ^ (h >> 31)


def differs(keys: Any, key: Any, k: Any) -> Any:
    """Whether item k has another key."""
    k = within(k, keys[0].shape[0])
    other = keys[0][k] != key[0]
    for column, x in zip(keys[1:], key[1:]):
        other = other | (column[k] != x)
    return other


def place_of(table: Any, keys: Any, key: Any) -> Any:
    """The place of a key in the table, or the free one where it would be."""
    size = table.shape[0]
    place = slot_of(hash_of(key), size)
    k = table[place]
    while k >= 0 and differs(keys, key, k):
        place = next_place(place, size)
        k = table[place]
    return within(place, size)


def next_place(place: Any, size: int) -> Any:
    """The place behind one in a table, and the first behind the last."""
    return slot_of(within(place, size) + 1, size)


def number_of(table: Any, keys: Any, key: Any) -> int:
    """The number of the item with a key; -1 if there is none."""
    return int(table[place_of(table, keys, key)])


def number_to_read(table: Any, keys: Any, key: Any, shown: Any) -> int:
    """The number of the item with a key; the KeyError that shows it if there is none."""
    k = number_of(table, keys, key)
    if k < 0:
        raise KeyError(shown)
    return k


def table_with_room(table: Any, keys: Any, n: int) -> Any:
    """The table of n items, with a place for one more."""
    if 2 * n + 2 > table.shape[0]:
        table = np.full(4 * table.shape[0], -1)
        for k in range(n):
            enter(table, keys, k)
    return table


def enter(table: Any, keys: Any, k: int) -> None:
    """Enters item k, whose key is new, into the table."""
    size = table.shape[0]
    place = slot_of(hash_of([column[k] for column in keys]), size)
    while table[within(place, size)] >= 0:
        place = next_place(place, size)
    table[within(place, size)] = k


def added(
    first: Any, keys: Any, more: Any, table: Any, n: int, key: Any, item: Any, value: Any, replaces: bool
) -> int:
    """Adds an item to n others, in columns `first` and `more`, if there is none with its key; else that one gets the
    value, if it `replaces` the old one. The number of items."""
    place = place_of(table, keys, key)
    k = table[place]
    if k < 0:
        table[place] = n
        for column, x in zip(first, item):
            column[n] = x
        for column, x in zip(more, value):
            column[n] = x
        n = n + 1
    elif replaces:
        for column, x in zip(more, value):
            column[within(k, column.shape[0])] = x
    return n


def removed(columns: Any, keys: Any, table: Any, n: int, key: Any, k: int, ordered: bool) -> None:
    """Takes item k, which has a key, out of n: those behind it move on, or, where their order does not matter, the last
    one takes its place."""
    size = table.shape[0]
    hole = place_of(table, keys, key)
    place = next_place(hole, size)
    while table[within(place, size)] >= 0:
        moves = within(table[within(place, size)], keys[0].shape[0])
        home = slot_of(hash_of([column[moves] for column in keys]), size)
        if slot_of(place - home, size) >= slot_of(place - hole, size):
            table[within(hole, size)] = moves
            hole = place
        place = next_place(place, size)
    table[within(hole, size)] = -1
    if k < n - 1:
        if ordered:
            for j in range(size):
                if table[j] > k:
                    table[j] -= 1
            for column in columns:
                column[k : n - 1] = column[k + 1 : n]
        else:
            table[place_of(table, keys, [column[n - 1] for column in keys])] = k
            for column in columns:
                column[k] = column[n - 1]


def value_or(items: Any, k: int, default: Any) -> Any:
    """Item k, or a default where k is -1."""
    if k < 0:
        return default
    return items[within(k, len(items))]


def discarded(x: Any, key: Any) -> None:
    """x.discard(key) of a set."""
    if key in x:
        x.remove(key)


def popped(x: Any, key: Any, default: Any) -> Any:
    """x.pop(key, default) of a dict."""
    if key in x:
        return x.pop(key)
    return default


def check_size(now: int, before: int, goes_on: Any) -> None:
    """Raises what Python does where a dict gets or loses items in a loop over it that goes on."""
    if goes_on:
        if now != before:
            raise RuntimeError("dictionary changed size during iteration")


def made_if_missing(x: Any, key: Any, make: Any) -> None:
    """What a defaultdict puts under a key that is missing."""
    if key not in x:
        x[key] = make()


def missing(shown: Any) -> Any:
    """Raises the KeyError that shows a key."""
    raise KeyError(shown)


def last_number(n: int, message: str) -> int:
    """The number of the item that `popitem` takes."""
    if n == 0:
        raise KeyError(message)
    return n - 1


# -- of sets `a` and `b`; `items` are those of one of them
def common_of(items: Any, b: Any, made: Any) -> None:
    """a & b."""
    for x in items:
        if x in b:
            made.add(x)


def others_of(items: Any, b: Any, made: Any) -> None:
    """a - b."""
    for x in items:
        if x not in b:
            made.add(x)


def are_all_in(items: Any, b: Any) -> Any:
    """a <= b."""
    found = True
    for x in items:
        if x not in b:
            found = False
            break
    return found


def is_none_in(items: Any, b: Any) -> Any:
    """a.isdisjoint(b)."""
    found = True
    for x in items:
        if x in b:
            found = False
            break
    return found


def are_equal(items: Any, n: int, b: Any) -> Any:
    """a == b of dicts; `items` are those of `a`."""
    found = n == len(b)
    if found:
        for k, v in items:
            if k not in b:
                found = False
                break
            if v != b[k]:
                found = False
                break
    return found


def counts_are_in(items: Any, b: Any) -> Any:
    """Whether each of the items of a Counter is as often in another."""
    found = True
    for k, v in items:
        if v != b[k]:
            found = False
            break
    return found


def both(a: Any, b: Any) -> Any:
    """Whether two things hold."""
    found = False
    if a:
        if b:
            found = True
    return found


# -- lists by key (interpreter/lists/groups)
def number_of_list(groups: Any, key: Any) -> Any:
    """The number of the list of a key, which is made if there is none."""
    n = groups.numbers.get(key, -1)
    if n < 0:
        n = len(groups.sizes)
        groups.numbers[key] = n
        groups.first.append(-1)
        groups.last.append(-1)
        groups.sizes.append(0)
    return n


def put_into_list(groups: Any, n: int, item: Any) -> None:
    """Appends an item to list n."""
    place = len(groups.held)
    groups.held.append(item)
    groups.following.append(-1)
    if groups.sizes[n] == 0:
        groups.first[n] = place
    else:
        groups.following[groups.last[n]] = place
    groups.last[n] = place
    groups.sizes[n] += 1


def items_of_list(groups: Any, n: int, made: Any) -> None:
    """The items of list n."""
    place = groups.first[n]
    for _ in range(groups.sizes[n]):
        made.append(groups.held[place])
        place = groups.following[place]


def size_of_list(groups: Any, n: int) -> Any:
    """The length of list n."""
    return groups.sizes[n]
