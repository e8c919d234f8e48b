"""Rule B5: arrays from outside a function are hidden arguments, fetched at each call; what else is captured is guarded
by identity. With B2, B4 and C1 for captured arrays, as for passed ones."""

from __future__ import annotations

import collections
import logging
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.threads import at_once
from tracebuf import bufferize
from tracebuf.testing.ladder import climb

TABLE = np.arange(5.0)
MODE: Any = None
CONFIG = types.ModuleType("config")
CONFIG.A = np.arange(4.0)
CONFIG.B = np.arange(20.0).reshape(4, 5)[:, 1:4]


class Settings:
    scale = 2.0
    weights = np.arange(4.0)
    items = [1.0]


def line(n: int = 4) -> np.ndarray:
    return np.arange(float(n)) + 1


def climbs(f: Any, *args: Any) -> None:
    """The whole ladder, on the function as it is."""
    climb(f, args)


# -- the ladder: values, stores, identity and shared memory (B5, C1)
PROGRAMS: dict[str, tuple[str, list[str]]] = {
    "read": ("return x * A + A[::-1]", []),
    "whole": ("return A", []),
    "view": ("return A[1:], A.T, A", []),
    "view of a view": ("b = A[1:]\n    return b[::2], b", []),
    "store": ("A[0] = x[1]\n    A[1:] += x[:-1]\n    return A.sum()", []),
    "store, then views": ("A[...] = x * 2\n    return A, A[::2], x", []),
    "store in a loop": ("for i in range(len(A)):\n        A[i] += x[i] * i\n    return A[0]", []),
    "store in a branch": ("if x[0] > 0:\n        A[:] = 7\n    else:\n        x[:] = 8\n    return A + x", []),
    "two names, one array": ("B[1:] = A[:-1] + x[0]\n    return A is B, A, B", []),
    "tuple": ("a, b = PAIR\n    a[0] = b[1] + x[0]\n    return PAIR[0], PAIR[1][1:], len(PAIR)", []),
    "nested tuple": ("return DEEP[1][0] * DEEP[0] + x, DEEP is DEEP", []),
    "passed too": ("x[0] = 9\n    return A[0] + x[1], A is x, A, x", ["same"]),
    "passed too, as a view": ("x[0] = 9\n    return A[0] + x[1], A is x, A, x", ["view"]),
    "overlapping, read": ("return A * x", ["reversed"]),
    "other shapes": ("M[1:] += x[:3]\n    return M.sum(axis=0), M[:, 0]", []),
    "module": ("config.A[0] += x[0]\n    return config.B[:, 0] + config.A", []),
    "inlined": ("return h(x) + h(A)", []),
    "inlined default": ("return g(x)", []),
    "inner function": ("inner = lambda t: t + A\n    return inner(x) * inner(A)", []),
    "broadcast": ("return Z + x", []),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_b5_captured_arrays_on_the_whole_ladder(name: str) -> None:
    body, how = PROGRAMS[name]
    a, b, m = line(), line() * 10, np.arange(12.0).reshape(4, 3)
    config = types.ModuleType("config")
    config.A, config.B = line(), np.arange(20.0).reshape(4, 5)[:, 1:4]
    source = f"""
        def h(t):
            A[1] += 1
            return t * A

        def g(t, b=B, *, c=PAIR):
            b[0] = c[0][1]
            return t * b

        def f(x):
            {body.replace(chr(10), chr(10) + " " * 8)}
        """
    names = {"A": a, "B": a if "one array" in name else b, "PAIR": (line(), b), "DEEP": (2, (line(), 3.0)), "M": m,
             "config": config, "Z": np.broadcast_to(3.0, 4)}  # fmt: skip
    x = {"same": a, "view": a[:], "reversed": a[::-1]}.get(how[0], a) if how else line() + 0.5
    before = a.copy()
    climbs(program(source, **names), x)
    assert (a == before).all()


def test_b5_each_call_sees_the_array_and_its_elements_as_they_are() -> None:
    global TABLE

    def f(x):
        return x + TABLE

    g = bufferize(f)
    kept = TABLE
    try:
        for _ in range(2):
            TABLE[0] += 1
            assert (g(1.0) == TABLE + 1).all()
            TABLE = np.arange(7.0)
            assert (g(1.0) == TABLE + 1).all()
        assert len(g.specializations()) == 1 and g.specializations()[0].calls == 4
        TABLE = np.arange(7, dtype=np.float32)
        assert g(1.0).dtype == np.float32
        TABLE = np.arange(12.0).reshape(3, 4)
        assert g(1.0).shape == (3, 4)
    finally:
        TABLE = kept


def test_b5_a_name_may_become_an_array_and_stop_being_one() -> None:
    global MODE

    def f(x):
        return x if MODE is None else x * MODE

    g = bufferize(f)
    x = line()
    try:
        for value in (None, 2.0, line(), None, 3, line() * 2, np.float32(2), line(1), "x", np.array(2.0)):
            MODE = value
            if isinstance(value, str):
                with pytest.raises(TypeError):
                    f(x)
                with pytest.raises(TypeError):
                    g(x)
                continue
            want, got = f(x), g(x)
            assert (got == want).all() and got.dtype == want.dtype and (got is x) == (want is x)
        del MODE
        with pytest.raises(NameError):
            g(x)
    finally:
        MODE = None


@pytest.mark.slow
def test_b5_closures_are_told_apart() -> None:
    def make(a: np.ndarray) -> Any:
        def f(x):
            a[0] += 1
            return x + a

        return f

    for f, n in ((make(line()), 4), (make(line(5) * 3), 5)):
        climbs(f, line(n))
    one, two = line(), line()
    f, g = bufferize(make(one)), bufferize(make(two))
    f(line()), f(line()), g(line())
    assert one[0] == 3 and two[0] == 2


@pytest.mark.slow
def test_b5_arrays_of_modules_and_classes() -> None:
    def f(x):
        return x * Settings.scale + Settings.weights + CONFIG.A

    g = bufferize(f)
    x = line()
    kept = CONFIG.A
    try:
        for _ in range(2):
            assert (g(x) == f(x)).all()
            CONFIG.A = CONFIG.A * 2
            Settings.scale += 1
            Settings.weights[0] += 5
            assert (g(x) == f(x)).all()
            Settings.weights = Settings.weights[::-1]
            assert (g(x) == f(x)).all()
    finally:
        CONFIG.A, Settings.scale, Settings.weights = kept, 2.0, np.arange(4.0)


def test_b5_results_are_the_captured_array_itself_or_views_of_it() -> None:
    def f():
        return TABLE, TABLE[1:], TABLE + 0

    a, b, c = bufferize(f)()
    assert a is TABLE and np.shares_memory(b, TABLE) and not np.shares_memory(c, TABLE)
    assert b.base is TABLE or b.base is TABLE.base


@pytest.mark.parametrize("x", ["A", "A[:]", "A[::-1]", "A[1:]", "A + 0"])
def test_b4_a_captured_array_that_is_passed_too(x: str, caplog: pytest.LogCaptureFixture) -> None:
    """One storage with two names where it is the same view, the original function where it overlaps otherwise."""
    results, texts = [], []
    for decorate in (lambda f: f, bufferize(verify=True)):
        a = line(6)
        f = decorate(program("def f(x):\n    A[: len(x)] += x[0]\n    x[1] = A[2]\n    return A is x, x, A", A=a))
        passed = eval(x, {"A": a})
        with caplog.at_level(logging.CRITICAL, logger="tracebuf"):
            same, y, z = f(passed)
        assert y is passed and z is a
        results.append((same, y.copy(), z.copy()))
        texts.append(str(getattr(f, "specializations", str)()))
    assert ("`x` and `A` overlap" in texts[1]) == (x in ("A[::-1]", "A[1:]"))
    assert results[0][0] == results[1][0]
    assert all((p == q).all() for p, q in zip(results[0][1:], results[1][1:]))


def test_b2_a_read_only_captured_array() -> None:
    a = line()
    a.flags.writeable = False
    g = bufferize(program("def f(x, k):\n    if k > 0:\n        A[0] = 1\n    return A + x", A=a))
    assert (g(a, 0) == a + a).all()
    with pytest.raises(ValueError, match="read-only"):
        g(a, 1)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("make, reason", [
    (lambda: {1.0}, "mutable set"), (lambda: (np.ones(3), {1.0}), "mutable set"),
    (lambda: collections.OrderedDict(), "OrderedDict"), (lambda: np.matrix([[1.0]]), "subclass"),
    (lambda: np.ma.array([1.0], mask=[1]), "subclass"),
    (lambda: np.array([None]), "dtype object"), (lambda: np.zeros(3, ">f8"), "byte-swapped"),
    (lambda: np.zeros(3, "M8[s]"), "datetime64"),
])  # fmt: skip
def test_b5_what_may_change_unseen_or_is_no_plain_array_is_refused(make: Any, reason: str) -> None:
    f = program("def f(x):\n    t = T\n    return x + t[0]", T=make())
    for g in (f, bufferize(f)):
        error = refused(g, line())
        assert reason in error.reason and error.instead and error.location is not None and error.location.line == 2
    refused(program("def f(x): return x + g()", g=program("def g(t=T): return t[0]", T=make())), line())


def test_b5_a_union_of_classes_stays() -> None:
    kinds = np.float32 | np.float64
    f = program("def f(x):\n    return x * 2 if x.dtype.type in KINDS.__args__ else x + 1", KINDS=kinds)
    for dtype in (np.float64, np.float32, np.int64):
        agree(f, line().astype(dtype))


def test_b5_a_list_of_a_class_is_fetched_at_each_call() -> None:
    @bufferize
    def f(x):
        return x * Settings.scale + Settings.items[0]

    assert agree(f, line())[0] == 3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Settings, "items", [5.0])
        assert agree(f, line())[0] == 7
    assert len(f.specializations()) == 1


def test_b5_names_of_builtins_may_be_bound_later() -> None:
    f = program("def f(x): return abs(x)")
    g = bufferize(f)
    assert (g(-line()) == line()).all()
    f.__globals__["abs"] = program("def mine(x): return x + 1")
    assert (g(line()) == line() + 1).all()


@pytest.mark.slow
def test_b5_paths_that_capture_different_arrays() -> None:
    f = program("""
        def f(x, how):
            if how == "a":
                return x + A
            if how == "b":
                return x * B
            return x
        """, A=line(), B=line() * 2)  # fmt: skip
    g = bufferize(f)
    for _ in range(2):
        for how in ("a", "b", "c"):
            assert (g(line(), how) == f(line(), how)).all()
    f.__globals__["B"] = "no array"
    assert (g(line(), "a") == f(line(), "a")).all()
    with pytest.raises(TypeError):
        g(line(), "b")


def test_b5_a_misaligned_captured_array_runs_the_original_function() -> None:
    a = np.zeros(33, np.uint8)[1:].view(np.float64)
    g = bufferize(program("def f(x):\n    A[0] += 1\n    return A + x", A=a))
    assert (g(1.0) == [2, 1, 1, 1]).all() and a[0] == 1
    assert "not aligned" in str(g.specializations())
    with pytest.raises(tracebuf.UnsupportedError, match="original function"):
        g.lower(1.0)


def test_b5_defaults_are_arguments() -> None:
    table = line()
    g = bufferize(program("def f(x, t=T, *, s=T):\n    t[0] += 1\n    return x + t, t is s, t", T=table))
    for k in range(3):
        total, same, t = g(line())
        assert same and t is table and table[0] == 2 + k and total[0] == 3 + k
    assert g(line(), line(), s=line())[1] is False
    agree(program("def f(x, t=[1.0]): return x + t[0]"), line())


def test_b5_more_arrays_than_can_be_captured_run_the_original_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracebuf.api, "MAX_CAPTURES", 2)
    g = bufferize(program("def f(x): return x + A + B + C", A=line(), B=line(), C=line()))
    assert (g(1.0) == 3 * line() + 1).all()
    assert "captures more than" in str(g.specializations())


@pytest.mark.slow
def test_texts_name_captured_arrays_and_leave_them_as_they_are() -> None:
    a = line()
    f = program("def f(x):\n    A[1:] += x[1:]\n    return A * x", A=a)
    g = bufferize(f)
    assert "%A" in g.lower(line()).as_text("tensor") and (a == line()).all()
    assert "1 allocation" in str(g.explain(line())) and (a == line()).all()
    assert g.captured(line())[0] is a
    measured = tracebuf.measure(g, line())
    assert measured.native.allocations == 1 and measured.eager.allocations >= 1
    tracebuf.measure(g, a), tracebuf.measure(g, a[::-1])
    assert (a == line()).all()
    result, counters = g.call_counted(line())
    assert counters is not None and counters.copies == 0 and a[1] == 4 and result[1] == 8
    assert "captured A: float64[n]" in str(g.specializations())


def test_b5_threads_meet_captured_arrays_at_once() -> None:
    f = program("def f(x):\n    return x + A + B[0] + C.sum()", A=line(), B=line(), C=line())
    g = bufferize(f)

    def work(k: int) -> None:
        for _ in range(20):
            np.testing.assert_array_equal(g(line()), f(line()))

    at_once(work, 4)
    assert len(g.specializations()) == 1


# -- traces that are refused
LATE = np.arange(3.0)


def late(a, flag):
    if flag is None:
        return a * 2
    b = LATE * a
    id(b)
    return a


def test_programs_outlive_a_trace_that_is_refused() -> None:
    """A trace met a captured array and was then refused: the programs of other branches stay, and are found."""
    f = bufferize(late)
    f(np.ones(3), None)
    program = f.specializations()[0]
    for _ in range(2):
        refused(f, np.ones(3), "x")
        np.testing.assert_array_equal(f(np.ones(3), None), 2 * np.ones(3))
    assert f.specializations() == (program,) and program.calls == 3


def test_a_refusal_that_met_captured_arrays_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """With `fallback`, the reason is found again without another trace, and holds as long as its guards do."""
    f = bufferize(late, fallback="numpy")
    f(np.ones(3), None)
    with pytest.warns(tracebuf.TracebufWarning):
        f(np.ones(3), "x")
    monkeypatch.setattr(tracebuf.stages, "trace", None)
    f(np.ones(3), "x")
    np.testing.assert_array_equal(f(np.ones(3), None), 2 * np.ones(3))
    compiled, original = f.specializations()
    assert compiled.calls == 2 and original.calls == 2
    monkeypatch.undo()

    @bufferize(fallback="numpy")
    def by_size(a, n):
        if n > 3:
            b = LATE * a
            id(b)
            return b
        return a + LATE if n == 2 else a

    with pytest.warns(tracebuf.TracebufWarning):
        by_size(np.ones(3), 4)
    np.testing.assert_array_equal(by_size(np.ones(3), 2), 1 + LATE)
    np.testing.assert_array_equal(by_size(np.ones(3), 1), np.ones(3))
    np.testing.assert_array_equal(by_size(np.ones(3), 5), LATE)


class Changing(dict[str, Any]):
    """A module's names, of which one is another number each time it is read, as if another thread bound it."""

    def __getitem__(self, name: str) -> Any:
        if name == "SCALE":
            self["SCALE"] = super().__getitem__(name) + 1
        return super().__getitem__(name)


def test_b5_a_number_that_another_thread_binds_anew_is_read_once() -> None:
    """A trace read it anew wherever it stood: its answer was that of two values."""
    f = program("def f(x):\n    y = x * SCALE\n    return y - x * SCALE")
    g = types.FunctionType(f.__code__, Changing(f.__globals__ | {"SCALE": 1}))
    assert not bufferize(g)(line()).any()


class Hooked(dict[str, Any]):
    """A module's names: what SCALE is, is decided when it is read."""

    def __init__(self, names: dict[str, Any], read: Callable[[], Any]) -> None:
        super().__init__(names)
        self.read = read

    def __getitem__(self, name: str) -> Any:
        return self.read() if name == "SCALE" else super().__getitem__(name)


def test_b5_threads_that_met_the_same_arrays_in_another_order() -> None:
    """The program of one was found for the other, and took TABLE for SCALE. (Found by the fuzzer's threads.)"""
    scale, reads = line(), 0

    def read() -> Any:
        nonlocal reads
        reads += 1
        if reads == 1:
            return 2.0  # then TABLE is met alone, and SCALE after it
        if reads == 3:
            meanwhile.append(f(line()))  # by another thread, which meets SCALE first
        return scale

    meanwhile: list[Any] = []
    g = program("def g(x):\n    return x * SCALE + TABLE", TABLE=line() + 5, SCALE=None)
    f = bufferize(types.FunctionType(g.__code__, Hooked(g.__globals__, read)))
    expected = line() * scale + line() + 5
    np.testing.assert_array_equal(f(line()), expected)
    np.testing.assert_array_equal(meanwhile, [expected])


def test_b5_an_argument_more_is_no_captured_array() -> None:
    """What `*args` took had been compiled; a captured array was taken for it."""
    text = "def f(*args):\n    if len(args) == 2:\n        return args[0] + args[1]\n    return args[0] * A"
    f = program(text, A=line() + 5)
    g = bufferize(f)
    for args in ((line(), line()), (line(),), (line(), line())):
        np.testing.assert_array_equal(g(*args), f(*args))


def test_b6_specializations_are_listed_while_others_compile() -> None:
    """RuntimeError: dictionary changed size during iteration."""
    f = bufferize(lambda x: x + 1)

    class Meanwhile(list[Any]):
        def __iter__(self) -> Any:
            f(np.ones((2, 2)))  # as another thread may do at any moment
            return super().__iter__()

    f(line())
    f._compiled.update({key: Meanwhile(group) for key, group in f._compiled.items()})
    assert len(f.specializations()) == 1
    assert len(f.specializations()) == 2


class Sometimes:
    """Its attribute `scale` comes and goes."""


@pytest.mark.slow
def test_what_was_missing_comes() -> None:
    """A name, an attribute of a module, a class or an object's class that tracing had not found was not looked for
    again."""
    space = types.ModuleType("space")

    def scaled(x: Any, y: Any) -> Any:
        try:
            x = x + LATER  # type: ignore[name-defined]
        except NameError:
            x = x - 1
        if hasattr(space, "flag"):
            x = x * space.flag
        return x * getattr(Sometimes, "scale", 2) + getattr(y, "bias", 1)

    class Layer:
        pass

    f, x, y = bufferize(scaled), np.arange(3.0), Layer()
    agree(f, x, y)
    changes: tuple[Callable[[], object], ...] = (
        lambda: globals().update(LATER=3), lambda: setattr(space, "flag", 4), lambda: setattr(Sometimes, "scale", 5),
        lambda: setattr(Layer, "bias", 6), lambda: globals().pop("LATER"), lambda: delattr(space, "flag"),
        lambda: delattr(Sometimes, "scale"), lambda: delattr(Layer, "bias"),
    )  # fmt: skip
    for change in changes:
        change()
        agree(f, x, y)


SETTINGS: dict[str, Any] = {}


def set_and_raises(a: Any, b: Any) -> None:
    SETTINGS["n"] = 1
    a[...] = b.sum()
    raise KeyError(a[0])


def test_a_call_that_raises_on_each_path_changes_what_eager_changes() -> None:
    """Which one of two exceptions only the run tells: a sum that is NaN is no int."""
    for _ in range(2):
        SETTINGS.clear()
        agree(set_and_raises, np.zeros(3, int), np.ones(3))
        SETTINGS.clear()
        f = bufferize(set_and_raises)
        with pytest.raises(KeyError):
            f(np.zeros(3, int), np.ones(3))
        assert SETTINGS == {"n": 1}


MODES = {"nearest", "wrap"}


class Options:
    def __init__(self) -> None:
        self.names, self.sizes = {"l1", "l2"}, {1, 2}


OPTIONS = Options()


def by_name(a: np.ndarray, name: str) -> np.ndarray:
    if name not in MODES:
        raise ValueError(name)
    return a * (2 if name in OPTIONS.names else 3)


def test_b5_a_set_from_outside_is_asked_what_it_holds() -> None:
    """It is compared at each call; what depends on its order is refused."""
    f, a = bufferize(by_name), np.arange(3.0)
    agree(f, a, "wrap")
    agree(f, a, "other")
    MODES.add("other")
    OPTIONS.names.add("wrap")
    try:
        assert f(a, "other").tolist() == [0.0, 3.0, 6.0] and f(a, "wrap").tolist() == [0.0, 2.0, 4.0]
    finally:
        MODES.remove("other")
        OPTIONS.names.remove("wrap")
    agree(f, a, "other")
    agree(f, a, "wrap")
    agree(lambda a: [a * k for k in range(4) if k in OPTIONS.sizes], a)
    for more in (lambda: len(MODES), lambda: isinstance(MODES, set), lambda: OPTIONS.sizes | MODES):
        f = bufferize(lambda a, more=more: (a, "wrap" in MODES, 3 in OPTIONS.sizes, more()))
        assert " set" in refused(f, a).reason


def loaded(a: np.ndarray) -> Any:
    found = sys.modules.get("module_of_captures")
    if found is not None:
        return a * found.factor
    try:
        sys.modules["module_of_captures"]
    except KeyError:
        return a, "module_of_captures" in sys.modules, sys.modules["numpy"].sqrt(a)


def test_b5_which_modules_are_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    f, a = bufferize(loaded), np.arange(3.0)
    agree(f, a)
    module = types.ModuleType("module_of_captures")
    module.factor = 3.0  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "module_of_captures", module)
    assert f(a).tolist() == [0.0, 3.0, 6.0]
    monkeypatch.undo()
    agree(f, a)
    for more in (lambda: len(sys.modules), lambda: sys.modules.keys(), lambda: sys.modules):
        refused(bufferize(lambda a, more=more: (a, more())), a)
