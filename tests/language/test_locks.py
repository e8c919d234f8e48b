"""`with lock:`: the whole call is under the lock, so that what it reads and changes of objects is of one moment."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tracebuf
from tracebuf import UnsupportedError, bufferize

LOCK, OTHER = threading.Lock(), threading.RLock()


class Box:
    def __init__(self, kind: Any = threading.Lock) -> None:
        self.lock = kind()
        self.total = 0
        self.sums = np.zeros(3)

    @bufferize
    def add(self, x: Any) -> Any:
        with self.lock:
            self.total += 1
            self.sums[:] += x
        return self.total

    @bufferize
    def add_some(self, x: Any) -> Any:
        if x[0] > 0:
            with self.lock:
                self.sums += x
        return self.sums.sum()


@bufferize
def limited(a: Any) -> Any:
    b = a * 2
    with LOCK:
        a += 1
        if a[0] > 3:
            raise ValueError("large")
        return b


def test_no_update_is_lost() -> None:
    box, x = Box(), np.ones(3)

    def work() -> None:
        for _ in range(50):
            box.add(x)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert box.total == 200 and (box.sums == 200).all() and not box.lock.locked()
    assert len(Box.add.specializations()) == 1


def test_the_lock_is_let_go_where_the_call_raises() -> None:
    a = np.zeros(2)
    assert (limited(a) == 0).all() and (limited(a) == 2).all() and (limited(a) == 4).all()
    with pytest.raises(ValueError, match="large"):
        limited(a)
    assert not LOCK.locked()
    assert (tracebuf.measure(limited, np.zeros(2), repeat=1).native is not None) and not LOCK.locked()


def test_a_lock_that_the_caller_holds() -> None:
    box, x = Box(threading.RLock), np.ones(3)
    with box.lock:
        assert box.add(x) == 1 and box.add_some(x) == 6 and box.add_some(-x) == 6


def test_what_is_no_lock_is_left_to_eager() -> None:
    box, x = Box(), np.ones(3)
    box.add(x)
    box.lock = None
    with pytest.raises((TypeError, AttributeError)):
        box.add(x)


def test_what_is_not_sound_is_refused() -> None:
    def some(a: Any) -> Any:
        if a[0] > 0:
            with LOCK:  # which the caller may hold in calls that do not come here
                a += 1
        return a

    def two(a: Any) -> Any:
        with LOCK, OTHER:
            return a + 1

    def twice(a: Any) -> Any:
        with LOCK:
            with LOCK:  # which hangs
                return a + 1

    def named(a: Any) -> Any:
        lock = LOCK
        with lock:
            return a + 1

    def calls(a: Any) -> Any:
        tracebuf.host_call(print, a)
        with LOCK:
            return a + 1

    for f in (some, two, twice, named, calls):
        with pytest.raises(UnsupportedError):
            bufferize(f)(np.ones(2))
        assert not LOCK.locked()
    runs = bufferize(fallback="numpy")(some)
    with pytest.warns(tracebuf.TracebufWarning):
        assert (runs(np.ones(2)) == 2).all()
    with pytest.raises(UnsupportedError):
        limited.ctypes(1.0)
