"""Garbage collections are put off while a program is made, and only then."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tracebuf import bufferize, pipeline
from tracebuf.errors import UnsupportedError
from tracebuf.process.garbage import MANY, RARE, Living, collections_later, full_collections_later, promote
from tracebuf.process.late import importing


@pytest.fixture(autouse=True)
def before() -> Iterator[tuple[int, int, int]]:
    """The usual thresholds, as they are before and after."""
    given = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield 700, 10, 10
    gc.set_threshold(*given)


def old() -> int:
    return gc.get_threshold()[2]


def test_first_calls_put_them_off(before: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def optimize(*args: Any) -> None:
        seen.append(old())
        passes(*args)

    passes = pipeline.optimize_tensors
    monkeypatch.setattr(pipeline, "optimize_tensors", optimize)
    bufferize(lambda a: a * 2)(np.ones(3))
    assert seen == [RARE] and gc.get_threshold() == before


def test_errors_leave_nothing(before: tuple[int, int, int]) -> None:
    with pytest.raises(UnsupportedError):
        bufferize(lambda a: a + id(a))(np.ones(3))
    assert gc.get_threshold() == before


def test_within_one_another(before: tuple[int, int, int]) -> None:
    with full_collections_later:
        with full_collections_later:
            assert gc.get_threshold() == (MANY, 10, RARE)
        assert gc.get_threshold() == (MANY, 10, RARE)
    assert gc.get_threshold() == before


def test_rarer_ones_stay() -> None:
    gc.set_threshold(700, 10, 5 * RARE)
    with full_collections_later:
        assert old() == 5 * RARE
    assert old() == 5 * RARE


def test_another_setting_meanwhile_stays() -> None:
    with full_collections_later:
        gc.set_threshold(800, 20, 30)
    assert gc.get_threshold() == (800, 20, 30)


def test_all_collections(before: tuple[int, int, int]) -> None:
    with full_collections_later, collections_later:
        assert gc.get_threshold() == (MANY, 10, RARE)
    with collections_later:
        assert gc.get_threshold() == (MANY, 10, 10)
        with full_collections_later:
            assert gc.get_threshold() == (MANY, 10, RARE)
    assert gc.get_threshold() == before
    gc.set_threshold(0, 10, 10)
    with collections_later:
        assert gc.get_threshold()[0] == 0


@pytest.fixture
def unfrozen() -> Iterator[None]:
    """Nothing is frozen. Afterwards what conftest has frozen is so again: each collection of the tests that follow
    would walk through it."""
    frozen = gc.get_freeze_count()
    gc.unfreeze()
    yield
    if frozen:
        gc.freeze()


@pytest.mark.usefixtures("unfrozen")
def test_what_was_imported_is_old(before: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    gc.set_threshold(MANY, 10, 10)
    held: list[Any] = [[]]
    assert any(x is held for x in gc.get_objects(0))
    with importing():
        pass
    assert any(x is held for x in gc.get_objects(0))
    with importing():
        monkeypatch.setitem(sys.modules, "imported.late", sys)
    assert any(x is held for x in gc.get_objects(2)) and not gc.get_freeze_count()


@pytest.mark.usefixtures("unfrozen")
def test_what_was_frozen_stays_frozen() -> None:
    gc.freeze()
    count = gc.get_freeze_count()
    promote()
    assert 0 < gc.get_freeze_count() <= count  # another thread may have freed some


def test_several_threads(before: tuple[int, int, int]) -> None:
    inside, leave = threading.Barrier(3), threading.Event()

    def work() -> None:
        with full_collections_later:
            inside.wait()
            leave.wait()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    inside.wait()
    with full_collections_later:
        pass
    assert old() == RARE  # they are still inside
    leave.set()
    for t in threads:
        t.join()
    assert gc.get_threshold() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_has_the_usual(before: tuple[int, int, int]) -> None:
    with full_collections_later:
        if not (child := os.fork()):
            with full_collections_later:
                within = old()
            os._exit(0 if gc.get_threshold() == before and within == RARE else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert gc.get_threshold() == before


def test_what_is_alive_is_gone_over_while_it_changes() -> None:
    """As other threads make functions, and drop them, while all is released."""
    living, made = Living[Thing](), [Thing() for _ in range(3)]
    for x in made:
        living.add(x)
    seen = 0
    for _ in living.all():
        made.append(Thing())
        living.add(made[-1])
        made.pop(0)
        seen += 1
    del _, x
    assert (seen, len(living.all())) == (3, 3)


class Thing:
    pass
