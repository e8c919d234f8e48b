"""Functions of the user's that change what the compiled code around them took: names, items, attributes, the memory of
arrays. It computed on with what was there before, or on memory that was freed."""

from __future__ import annotations

import numpy as np
import pytest

import tracebuf
from tests.support.params import one_in
from tracebuf import bufferize, host_call

WEIGHTS = np.ones(3)
SCALE = 2.0
TABLE = {"w": np.ones(3), "k": 1.0}
LEVELS = [1.0, 2.0]
CALLS = 0


class Model:
    def __init__(self) -> None:
        self.x, self.k, self.calls = np.ones(3), 1.0, 0


MODEL = Model()


def bind_array():
    global WEIGHTS
    WEIGHTS = np.full(3, 5.0)


def bind_number():
    global SCALE
    SCALE = 7.0


def replace_item():
    TABLE["w"] = np.full(3, 9.0)


def replace_number():
    TABLE["k"] = 4.0


def add_item():
    TABLE["z"] = 4.0


def append():
    LEVELS.append(3.0)


def set_attribute():
    MODEL.x = np.full(3, 9.0)


def set_number():
    MODEL.k = 3.0


def count():
    global CALLS
    CALLS += 1
    MODEL.calls += 1


def grow():
    WEIGHTS.resize(10**6, refcheck=False)
    WEIGHTS[:] = 3


def shrink():
    WEIGHTS.resize(1, refcheck=False)


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    for name, value in (("WEIGHTS", np.ones(3)), ("SCALE", 2.0), ("LEVELS", [1.0, 2.0]), ("MODEL", Model())):
        monkeypatch.setitem(globals(), name, value)
    monkeypatch.setitem(globals(), "TABLE", {"w": np.ones(3), "k": 1.0})


def uses(a, change):
    x = a * SCALE + WEIGHTS + TABLE["w"] * TABLE["k"] + LEVELS[0] + LEVELS[-1] + MODEL.x * MODEL.k
    host_call(change)
    return x * SCALE + WEIGHTS + TABLE["w"] * TABLE["k"] + LEVELS[0] + LEVELS[-1] + MODEL.x * MODEL.k


CHANGES = {
    bind_array: "`WEIGHTS`", bind_number: "`SCALE`", replace_item: r"`TABLE\['w'\]`", replace_number: r"`TABLE\['k'\]`",
    add_item: "a list, dict or object", append: "a list, dict or object", set_attribute: "`MODEL.x`",
    set_number: "`MODEL.k`", grow: "the memory or the shape of `WEIGHTS`", shrink: "the memory or the shape of",
}  # fmt: skip


@pytest.mark.parametrize("change", one_in(10, CHANGES))
def test_what_is_changed_is_named(change) -> None:
    f, said = bufferize(uses), f"host_call: .*{change.__name__} has changed {CHANGES[change]}"
    for _ in range(2):
        globals().update(WEIGHTS=np.ones(3), SCALE=2.0, LEVELS=[1.0, 2.0], MODEL=Model())
        globals()["TABLE"] = {"w": np.ones(3), "k": 1.0}
        with pytest.raises(tracebuf.TracebufError, match=said):
            f(np.arange(3.0), change)


def test_what_is_not_used_may_change() -> None:
    """Names and attributes that only the called function reads."""
    assert np.array_equal(bufferize(uses)(np.arange(3.0), count), uses(np.arange(3.0), count))
    assert MODEL.calls == 2


def test_an_argument_whose_memory_moves() -> None:
    def f(a):
        x = a + 1
        host_call(grow)
        return x + a

    with pytest.raises(tracebuf.TracebufError, match="memory or the shape of `a`"):
        bufferize(f)(WEIGHTS)


def test_the_items_of_an_argument() -> None:
    def f(p, change):
        x = p[0] + 1
        host_call(change)
        return x + p[0]

    given = [np.ones(3), np.zeros(3)]
    with pytest.raises(tracebuf.TracebufError, match=r"has changed `p\[0\]`"):
        bufferize(f)(given, lambda: given.reverse())


def test_a_call_within_a_call() -> None:
    """What the inner call takes anew is its own affair."""

    @bufferize
    def inner(a):
        host_call(count)
        return a * SCALE

    def outer(a):
        host_call(inner, a, result_shape=3)
        return a + 1

    assert np.array_equal(bufferize(outer)(np.ones(3)), np.full(3, 2.0))


def test_the_original_function_does_not_run_after_it() -> None:
    f = bufferize(fallback="numpy")(uses)
    with pytest.raises(tracebuf.TracebufError, match="has changed `SCALE`"):
        f(np.arange(3.0), bind_number)


class Refused(Exception):
    pass


def uses_caught(a, change):
    x = a * SCALE + WEIGHTS + TABLE["w"] * TABLE["k"] + LEVELS[0] + LEVELS[-1] + MODEL.x * MODEL.k
    try:
        host_call(change)
    except Refused:
        x = x + 1
    return x * SCALE + WEIGHTS + TABLE["w"] * TABLE["k"] + LEVELS[0] + LEVELS[-1] + MODEL.x * MODEL.k


def uses_cleaning(a, change):
    try:
        host_call(change)
    finally:
        np.add(a * SCALE + WEIGHTS + TABLE["w"] * TABLE["k"] + LEVELS[0] + LEVELS[-1], MODEL.x * MODEL.k, out=a)


def raising(change):
    def raises():
        change()
        raise Refused

    return raises


@pytest.mark.parametrize("change", one_in(10, CHANGES))
@pytest.mark.parametrize("f", [uses_caught, uses_cleaning])
def test_what_is_changed_before_a_raise_that_is_caught(f, change) -> None:
    """The code that goes on would use what was there before."""
    f, said = bufferize(f), f"host_call: .*raises has changed {CHANGES[change]}"
    for _ in range(2):
        globals().update(WEIGHTS=np.ones(3), SCALE=2.0, LEVELS=[1.0, 2.0], MODEL=Model())
        globals()["TABLE"] = {"w": np.ones(3), "k": 1.0}
        with pytest.raises(tracebuf.TracebufError, match=said) as caught:
            f(np.arange(3.0), raising(change))
        assert isinstance(caught.value.__cause__, Refused)


def test_what_is_changed_before_a_raise_that_ends_the_call() -> None:
    """Nothing is computed after it: the exception passes."""
    for change in (bind_number, grow, append):
        globals().update(WEIGHTS=np.ones(3), LEVELS=[1.0, 2.0])
        with pytest.raises(Refused):
            bufferize(uses)(np.arange(3.0), raising(change))


def test_what_is_not_used_may_change_before_a_raise() -> None:
    eager, ours = [f(np.arange(3.0), raising(count)) for f in (uses_caught, bufferize(uses_caught))]
    assert np.array_equal(eager, ours)


def test_a_change_in_a_call_whose_exception_the_called_function_catches() -> None:
    """It concerns the inner call, and another exception the outer one."""

    bind_and_raise = raising(bind_number)

    @bufferize
    def inner(a):
        x = a * SCALE
        host_call(bind_and_raise)
        return x

    def called():
        try:
            inner(np.ones(3))
        except Refused:
            raise Refused from None

    def outer(a):
        try:
            host_call(called)
        except Refused:
            a = a + 1
        return a

    assert np.array_equal(bufferize(outer)(np.ones(3)), np.full(3, 2.0))


def test_the_error_names_a_way_out() -> None:
    """A store to the elements of a captured array is declared."""

    def store(w):
        w[:] = 4

    def f(a):
        x = a + WEIGHTS
        host_call(store, WEIGHTS, writes=0)
        return x + WEIGHTS

    with pytest.raises(tracebuf.TracebufError, match="writes="):
        bufferize(uses)(np.ones(3), bind_array)
    globals()["WEIGHTS"] = np.ones(3)
    assert np.array_equal(bufferize(f)(np.ones(3)), np.full(3, 6.0))
