"""heapq in Python, as CPython's: traced like the user's code, on lists of any kind. Comparisons are heapq's, in its
order, so that the items are where they are in Python's list at each moment."""

from __future__ import annotations

from typing import Any


def sift_down(heap: Any, first: int, k: Any) -> None:
    """heapq._siftdown(heap, first, k): moves item k towards the root."""
    item = heap[k]
    while k > first:
        parent = (k - 1) >> 1
        above = heap[parent]
        if not item < above:
            break
        heap[k] = above
        k = parent
    heap[k] = item


def sift_up(heap: Any, first: Any, n: Any) -> None:
    """heapq._siftup(heap, first), of the first n items: moves item `first` to a leaf, and up from there."""
    item = heap[first]
    k, child = first, 2 * first + 1
    while child < n:
        if child + 1 < n:
            if not heap[child] < heap[child + 1]:
                child = child + 1
        heap[k] = heap[child]
        k = child
        child = 2 * k + 1
    heap[k] = item
    sift_down(heap, first, k)


def heappush(heap: Any, item: Any) -> None:
    heap.append(item)
    sift_down(heap, 0, len(heap) - 1)


def heappop(heap: Any) -> Any:
    if len(heap) == 0:
        raise IndexError("index out of range")
    root, last = heap[0], heap.pop()
    n = len(heap)
    if n > 0:
        heap[0] = last
        sift_up(heap, 0, n)
    return root


def heapreplace(heap: Any, item: Any) -> Any:
    if len(heap) == 0:
        raise IndexError("index out of range")
    root = heap[0]
    heap[0] = item
    sift_up(heap, 0, len(heap))
    return root


def heappushpop(heap: Any, item: Any) -> Any:
    """The item is put behind the heap, and exchanged with the root, if that is less."""
    n = len(heap)
    heap.append(item)
    if n > 0:
        if heap[0] < heap[n]:
            heap[0], heap[n] = heap[n], heap[0]
            sift_up(heap, 0, n)
    return heap.pop()


def heapify(heap: Any) -> None:
    n = len(heap)
    for k in range(n // 2 - 1, -1, -1):
        sift_up(heap, k, n)
