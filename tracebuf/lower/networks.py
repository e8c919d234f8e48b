"""Which elements of a few are compared, and exchanged if the second is the less, so that some places get the element
that sorting would put there: Batcher's odd-even merge sort, without the comparisons that these places do not need.

The comparisons are the same for all elements: rows side by side take one vector instruction for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def comparisons(n: int, wanted: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of places of `n`, in order, after which each wanted place has its element."""
    needed, kept = set(wanted), []
    for pair in reversed(list(_sort(n))):
        if not needed.isdisjoint(pair):
            needed.update(pair)
            kept.append(pair)
    return kept[::-1]


def _sort(n: int) -> Iterator[tuple[int, int]]:
    """Those of the whole sort (Knuth's algorithm 5.2.2M)."""
    top = 1 << max((n - 1).bit_length() - 1, 0)
    p = top
    while p:
        q, r, d = top, 0, p
        while True:
            yield from ((i, i + d) for i in range(n - d) if i & p == r)
            if q == p:
                break
            d, q, r = q - p, q >> 1, p
        p >>= 1
