"""Hash tables in Python, for dicts and sets whose keys only the run time knows: traced like the user's code.

The items are in columns, in the order in which they were added; `keys` are the columns of the ints that a key consists
of. The table of a dict has a place for the number of each item, or -1: where the hash of its key points to, or the next
free one. Half of the places are free at least. That of a set is laid out as CPython's, whose items come in the order
of their places.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tracebuf.frontends.numpy.functions.formulas.primitives import check_sure, hash_bits, is_float, slot_of, within

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


def removed(columns: Any, keys: Any, table: Any, n: int, key: Any, k: int) -> None:
    """Takes item k, which has a key, out of n: those behind it move on."""
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
        for j in range(size):
            if table[j] > k:
                table[j] -= 1
        for column in columns:
            column[k : n - 1] = column[k + 1 : n]


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


def check_size(now: int, before: int, goes_on: Any, what: str) -> None:
    """Raises what Python does where a dict or set gets or loses items in a loop over it that goes on."""
    if goes_on:
        if now != before:
            raise RuntimeError(f"{what} changed size during iteration")


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


# -- the table of a set, as in CPython's Objects/setobject.c (3.11 to 3.14): the numbers of the items by place, UNUSED
# or GONE; then how many places are not UNUSED (`fill`), where `pop` looks first (`finger`), and whether the layout may
# be another than eager's. `keys` and `key` as above, `tuples`: whether the keys are tuples
PRIME = 2**61 - 1
"""Hashes of numbers are taken modulo this one: `sys.hash_info.modulus`."""
UNUSED, GONE = -1, -2
LEAST = 8
"""The number of places at first."""
RUN = 9
"""So many places behind one are looked at before a far one is, if there are so many."""
MANY = 50_000
"""Sets of more items grow by less."""
TAIL = 3


def new_set() -> Any:
    """The table of no items."""
    return table_of_places(LEAST, 0, 0, 0)


def table_of_places(size: Any, fill: Any, finger: Any, unsure: Any) -> Any:
    """A table of so many places without items."""
    table = np.full(size + TAIL, UNUSED)
    table[size] = fill
    table[size + 1] = finger
    table[size + 2] = unsure
    return table


def cleared_set(table: Any) -> Any:
    """The table after `clear`."""
    return table_of_places(LEAST, 0, table[places_in(table) + 1], 0)


def hash_of_key(key: Any, tuples: bool) -> Any:
    """hash(key): of an int or a float, or of a tuple of them (xxHash)."""
    if not tuples:
        return hash_of_number(key[0])
    total = 2870177450012600261
    for x in key:
        total = total + hash_of_number(x) * -4417276706812531889
        total = ((total << 31) | ((total >> 33) & LAST)) * -7046029288634856825
    total = total + (len(key) ^ 2870177450012600261 ^ 3527539)
    if total == -1:
        total = total + 1546275797
    return total


def hash_of_number(x: Any) -> Any:
    """hash(x)."""
    bits = hash_bits(x)
    sign = bits >> 63
    if is_float(x):
        power = (bits >> 52) & 2047
        whole = bits & (2**52 - 1)
        if power > 0:
            whole = whole | 2**52
        else:
            power = power + 1
        turns = (power + 23) % 61  # 2**61 is 1
        h = ((whole << turns) & PRIME) | (whole >> (61 - turns))
        if power == 2047:
            h = np.int64(314159)
    else:
        size = bits ^ sign  # one less of a negative one
        h = (size & PRIME) + (size >> 61) - sign
        h = h - (PRIME & ~((h - PRIME) >> 63))
    h = (h ^ sign) - sign
    return h - (h == -1)


def places_in(table: Any) -> Any:
    """The number of places of a table: a power of 2."""
    return table.shape[0] - TAIL


def run_from(place: Any, size: Any) -> Any:
    """How many places behind one are looked at next."""
    return RUN if place + RUN < size else 0


def looked_up(table: Any, keys: Any, key: Any, tuples: bool) -> Any:
    """The place of the item with a key, or the UNUSED one where the search ends; and the last one on the way that is
    GONE, or -1."""
    size = places_in(table)
    bits = hash_of_key(key, tuples)
    place = start = slot_of(bits, size)
    left, gone, k = run_from(start, size), -1, table[place]
    while k != UNUSED and (k < 0 or differs(keys, key, k)):
        if k < 0:
            gone = place
        if left > 0:
            left = left - 1
            place = place + 1
        else:
            bits = (bits >> 5) & (2**59 - 1)
            place = start = slot_of(start * 5 + 1 + bits, size)
            left = run_from(start, size)
        k = table[within(place, size)]
    return within(place, size), gone


def enter_into_set(table: Any, keys: Any, k: Any, tuples: bool) -> None:
    """Enters item k, which is new, into a table without places that are GONE."""
    size = places_in(table)
    bits = hash_of_key([column[k] for column in keys], tuples)
    place = start = slot_of(bits, size)
    left = run_from(start, size)
    while table[within(place, size)] >= 0:
        if left > 0:
            left = left - 1
            place = place + 1
        else:
            bits = (bits >> 5) & (2**59 - 1)
            place = start = slot_of(start * 5 + 1 + bits, size)
            left = run_from(start, size)
    table[within(place, size)] = k


def number_in_set(table: Any, keys: Any, key: Any, tuples: bool) -> int:
    """The number of the item with a key; -1 if there is none."""
    return int(table[looked_up(table, keys, key, tuples)[0]])


def added_to_set(columns: Any, keys: Any, table: Any, n: Any, key: Any, item: Any, tuples: bool) -> Any:
    """Adds an item to n others, if there is none with its key. The number of items."""
    size = places_in(table)
    place, gone = looked_up(table, keys, key, tuples)
    if table[place] < 0:
        if gone >= 0:
            table[within(gone, size)] = n
        else:
            table[place] = n
            table[size] += 1
        for column, x in zip(columns, item):
            column[n] = x
        n = n + 1
    return n


def grown_set(table: Any, keys: Any, n: Any, tuples: bool) -> Any:
    """The table after an item was added, of n items."""
    size = places_in(table)
    if table[size] * 5 >= (size - 1) * 3:
        table = laid_out(table, keys, n, size_above(grown_size(n)), table[size + 1], tuples)
    return table


def grown_size(n: Any) -> Any:
    """More than so many places has a table of n items after it has grown."""
    return n * 2 if n > MANY else n * 4


def size_above(least: Any) -> Any:
    """The smallest table of more than so many places."""
    size = LEAST
    while size <= least:
        size = size * 2
    return size


def laid_out(table: Any, keys: Any, n: Any, size: Any, finger: Any, tuples: bool) -> Any:
    """A table of so many places for the n items of another one."""
    before = places_in(table)
    made = table_of_places(within(size, 2**40), n, finger, table[before + 2])
    for place in range(before):
        k = table[place]
        if k >= 0:
            enter_into_set(made, keys, within(k, keys[0].shape[0]), tuples)
    return made


def copied_set(table: Any, keys: Any, n: Any, tuples: bool) -> Any:
    """The table of a copy of a set."""
    size, now = places_in(table), LEAST
    if n * 5 >= (LEAST - 1) * 3:
        now = size_above(n * 2)
    if now == size and table[size] == n:
        made = np.copy(table)
        made[size + 1] = 0
    else:
        made = laid_out(table, keys, n, now, 0, tuples)
    return made


def set_with_room(table: Any, keys: Any, n: Any, more: Any, tuples: bool) -> Any:
    """The table of n items before those of a set or dict of `more` items are added."""
    size = places_in(table)
    if more > 0 and (table[size] + more) * 5 >= (size - 1) * 3:
        table = laid_out(table, keys, n, size_above((n + more) * 2), table[size + 1], tuples)
    return table


def is_taken_over(table: Any, other: Any, n: Any) -> Any:
    """Whether an empty set gets the n items of another one in their places."""
    size = places_in(table)
    return table[size] == 0 and size == places_in(other) and other[places_in(other)] == n


def as_taken_over(table: Any, other: Any, takes: Any) -> None:
    """The table of what was an empty set, to which the items of another one were added in order, if it `takes` the
    layout; it is no surer than that of the other one."""
    size = places_in(table)
    table[size + 2] |= other[places_in(other) + 2]
    if takes:
        number = 0
        for place in range(size):
            k = other[within(place, other.shape[0])]
            table[place] = UNUSED
            if k >= 0:
                table[place] = number
                number = number + 1


def make_unsure(table: Any) -> None:
    """Notes that the layout may be another than eager's."""
    table[places_in(table) + 2] = 1


def doubted(table: Any, other: Any) -> None:
    """A table is no surer than another one."""
    table[places_in(table) + 2] |= other[places_in(other) + 2]


def removed_from_set(columns: Any, keys: Any, table: Any, n: Any, place: Any, tuples: bool) -> None:
    """Takes the item at a place out of n: the last one gets its number."""
    k = within(table[place], columns[0].shape[0])
    if k < n - 1:
        table[looked_up(table, keys, [column[n - 1] for column in keys], tuples)[0]] = k
        for column in columns:
            column[k] = column[n - 1]
    table[place] = GONE


def place_to_remove(table: Any, keys: Any, key: Any, tuples: bool, shown: Any) -> Any:
    """The place of the item with a key; the KeyError that shows it if there is none."""
    place = looked_up(table, keys, key, tuples)[0]
    if table[place] < 0:
        raise KeyError(shown)
    return place


def popped_from_nothing() -> Any:
    """Raises what Python raises for set().pop()."""
    raise KeyError("pop from an empty set")


def place_to_pop(table: Any, n: Any) -> Any:
    """The place of the item that `pop` takes out."""
    if n == 0:
        raise KeyError("pop from an empty set")
    check_sure(within(table[places_in(table) + 2], 2))
    size = places_in(table)
    place = slot_of(table[size + 1], size)
    while table[within(place, size)] < 0:
        place = next_place(place, size)
    table[size + 1] = place + 1
    return within(place, size)


def purged_set(table: Any, keys: Any, n: Any, tuples: bool) -> Any:
    """The table after items were taken out by -=."""
    size = places_in(table)
    if table[size] - n > (size - 1) // 4:
        table = laid_out(table, keys, n, size_above(grown_size(n)), table[size + 1], tuples)
    return table


def take_finger(table: Any, other: Any) -> None:
    """A table gets the finger of another one."""
    table[places_in(table) + 1] = other[places_in(other) + 1]


def order_of_set(table: Any, n: Any, checked: bool) -> Any:
    """The numbers of the n items in the order in which a loop meets them."""
    if checked:
        check_sure(within(table[places_in(table) + 2], 2))
    numbers, k = np.empty(n, np.int64), 0
    for place in range(places_in(table)):
        if table[place] >= 0:
            numbers[within(k, n)] = table[place]
            k = k + 1
    return numbers


def in_that_order(column: Any, numbers: Any) -> Any:
    """The elements of a column in the order of their numbers."""
    made = np.empty(numbers.shape[0], column.dtype)
    for k in range(numbers.shape[0]):
        made[k] = column[within(numbers[k], column.shape[0])]
    return made


def number_at(numbers: Any, k: Any, n: Any) -> Any:
    """The number of the item that comes as the k-th of n."""
    return within(numbers[within(k, numbers.shape[0])], n)


# -- of sets `a` and `b`; `items` are those of one of them
def common_of(a: Any, b: Any, first: Any, second: Any, made: Any) -> None:
    """a & b, of items `first` and `second`."""
    if len(b) > len(a):
        for x in first:
            if x in b:
                made.add(x)
    else:
        for x in second:
            if x in a:
                made.add(x)


def found_of(items: Any, a: Any, made: Any) -> None:
    """a.intersection(items), of no set."""
    for x in items:
        if x in a:
            made.add(x)


def others_of(a: Any, b: Any, items: Any, made: Any) -> None:
    """a - b."""
    if (len(a) >> 2) > len(b):
        made.update(a)
        made.difference_update(b)
    else:
        for x in items:
            if x not in b:
                made.add(x)


def taken_from(items: Any, a: Any) -> None:
    """a -= b."""
    for x in items:
        if x in a:
            a.remove(x)


def changed_by(items: Any, a: Any) -> None:
    """a ^= b."""
    for x in items:
        if x in a:
            a.remove(x)
        else:
            a.add(x)


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
