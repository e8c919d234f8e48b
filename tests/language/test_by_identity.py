"""Maps by identity: equal objects are different keys, and no id is used twice."""

from __future__ import annotations

import gc
import weakref

import pytest

from tracebuf.frontends.numpy.record.by_identity import ByIdentity, PairsByIdentity, counted, distinct


class Thing:
    """What a weak reference may be to."""

    def __eq__(self, other: object) -> bool:
        return True


def test_equal_objects_are_different_keys() -> None:
    a, b = [1], [1]
    found = ByIdentity([(a, "a")])
    assert a in found and b not in found
    found[b] = "b"
    assert (found[a], found[b], found.get([1]), found.get([1], "none")) == ("a", "b", None, "none")
    assert [k is x for k, x in zip(found, (a, b), strict=True)] == [True, True]
    del found[a]
    assert a not in found and len(found) == 1


@pytest.mark.slow
def test_keys_are_held() -> None:
    found: ByIdentity[Thing, int] = ByIdentity()
    thing = Thing()
    kept = weakref.ref(thing)
    found[thing] = 1
    del thing
    gc.collect()
    assert kept() is not None and found[kept()] == 1


def test_none_is_a_value() -> None:
    a, b = [1], [2]
    found = ByIdentity([(a, None)])
    assert a in found and found.get(a, 0) is None and found.setdefault(a, None) is None and found.get(b, 0) == 0


def test_pairs() -> None:
    a, b = [1], [1]
    found: PairsByIdentity[int] = PairsByIdentity()
    found[a, b] = 1
    assert (a, b) in found and (b, a) not in found and found.get((a, a)) is None and found[a, b] == 1


def test_counting_and_telling_apart() -> None:
    a, b = [1], [1]
    assert [n for _, n in counted([a, b, a]).items()] == [2, 1]
    assert [x is y for x, y in zip(distinct([a, b, a]), (a, b), strict=True)] == [True, True]
