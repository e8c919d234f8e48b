"""The decorator: guards on what is captured, one compilation for all sizes, overlap, methods, threads, failures
(rules B2, B4, B5, B6, F3, F5, X2)."""

from __future__ import annotations

import copy
import logging
import pickle
import threading
import time
import types
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.arrays import floats
from tests.support.threads import at_once
from tracebuf import bufferize

FACTOR = 2.0
SETTINGS = types.SimpleNamespace(k=3.0)


def double(x):
    return x * 2


def test_the_function_keeps_its_face() -> None:
    def f(a: np.ndarray, b: float = 1.0) -> np.ndarray:
        """Says what it does."""
        return a + b

    g = bufferize(f)
    assert g.__wrapped__ is f
    assert (g.__name__, g.__doc__, g.__module__) == ("f", "Says what it does.", __name__)
    assert "f" in repr(g)


def test_decorating_twice_is_decorating_once() -> None:
    def f(a):
        return a + 1

    g = bufferize(bufferize(f))
    assert g.__wrapped__ is f
    agree(g, np.arange(3.0))


@pytest.mark.parametrize("what", [None, 3, np.sin, int, "f", len, types.SimpleNamespace()])
def test_only_python_functions_are_decorated(what: Any) -> None:
    if what is None:
        assert callable(bufferize(None))
        return
    with pytest.raises(TypeError, match="bufferize takes a Python function"):
        bufferize(what)


def test_unknown_options_are_errors() -> None:
    with pytest.raises(TypeError):
        bufferize(speed=11)
    with pytest.raises(ValueError):
        bufferize(strategy="magic")


def test_keywords_and_defaults() -> None:
    def f(a, b=2.0, *, c=1.0):
        return a * b + c

    g = bufferize(f)
    a = np.arange(4.0)
    for args, kwargs in [((a,), {}), ((a, 3.0), {}), ((a,), {"c": 5.0}), ((), {"b": 1.5, "a": a}), ((a, 2), {"c": 3})]:
        agree(g, *args, **kwargs)


@pytest.mark.parametrize("args, kwargs", [((), {}), ((1, 2, 3), {}), ((1,), {"d": 2}), ((1,), {"a": 1})])
def test_a_wrong_number_of_arguments_is_a_type_error(args: Any, kwargs: Any) -> None:
    def f(a, b=2):
        return a + b

    agree(bufferize(f), *args, **kwargs)


def test_one_compilation_serves_all_sizes() -> None:
    def f(a, b):
        a[1:] += b[:-1] * 2
        return a.sum(), b[::2]

    g = bufferize(f)
    for n in (5, 9, 100, 4, 17):
        agree(g, np.arange(float(n)), np.ones(n))
    assert len(g.specializations()) == 1
    assert g.specializations()[0].calls == 5


@pytest.mark.slow
def test_sizes_0_and_1_are_programs_of_their_own() -> None:
    def f(a, b):
        return a + b

    g = bufferize(f)
    for m, n in ((5, 5), (5, 1), (1, 5), (0, 0), (0, 1), (1, 1)):
        agree(g, np.arange(float(m)), np.ones(n))
    assert len(g.specializations()) == 6
    agree(g, np.arange(5.0), np.ones(3))  # raises ValueError, in eager too
    agree(g, np.arange(7.0), np.ones(1))
    assert len(g.specializations()) == 6


def test_f3_guards_select_and_do_not_raise() -> None:
    def f(a, n):
        if n > len(a):
            return a * 2
        return a[:n]

    g = bufferize(f)
    for size, n in ((5, 3), (5, 9), (7, 2), (3, 3), (8, 0), (8, -1), (4, -9)):
        agree(g, np.arange(float(size)), n)


def test_f4_what_is_not_reached_does_not_raise() -> None:
    def f(a, n):
        if n > 0:
            return a[n]
        return a[0]

    g = bufferize(f)
    for n in (2, 9, 0, -50, 4, 5):
        agree(g, np.arange(5.0), n)


@pytest.mark.slow
def test_f5_there_is_a_limit_of_specialisations() -> None:
    def f(a, s):
        return a + len(s)

    g = bufferize(max_specializations=3)(f)
    for k in range(3):
        agree(g, np.arange(3.0), "x" * k)
    agree(g, np.arange(3.0), "xxxx")
    assert "max_specializations" in str(g.specializations()[-1])
    agree(g, np.arange(3.0), "x")


def test_b5_captured_numbers_are_guards() -> None:
    global FACTOR

    def f(a):
        return a * FACTOR

    g = bufferize(f)
    for value in (2.0, 3.0, 2.0, np.float32(2), 2, True, -0.0, 0.0):
        FACTOR = value
        agree(g, np.arange(3, dtype=np.float32))
    FACTOR = 2.0
    assert len(g.specializations()) == 7


def test_b5_captured_cells_are_guards() -> None:
    k = 1

    def f(a):
        return a + k

    g = bufferize(f)
    agree(g, np.arange(3.0))
    k = 2.5
    agree(g, np.arange(3))


def test_b5_redefined_functions_are_seen() -> None:
    space: dict[str, Any] = {}
    first, second = program("def h(x): return x + 1"), program("def h(x): return x * 3")
    f = program("def f(a): return h(a)", h=first)
    g = bufferize(f)
    assert agree(g, np.arange(3.0))[0] == 1
    f.__globals__["h"] = second
    assert agree(g, np.arange(3.0))[0] == 0
    del f.__globals__["h"]
    agree(g, np.arange(3.0))  # NameError
    assert space == {}


def test_b5_attributes_of_objects_are_fetched_at_each_call() -> None:
    @bufferize
    def f(a):
        return a * SETTINGS.k

    agree(f, np.arange(3.0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SETTINGS, "k", 4.0)
        assert agree(f, np.arange(3.0))[2] == 8
    assert len(f.specializations()) == 1


def test_methods() -> None:
    class Model:
        @staticmethod
        @bufferize
        def twice(a):
            return a * 2

        @bufferize
        def plus(self, a):
            return a + 1

    assert Model.twice(np.arange(3.0))[2] == 4
    assert Model().twice(np.arange(3.0))[2] == 4
    assert Model().plus(np.arange(3.0))[2] == 3


def test_bufferized_functions_call_each_other() -> None:
    inner = bufferize(double)

    def f(a):
        return inner(a) + inner(a[::-1])

    agree(bufferize(f), np.arange(4.0))
    agree(inner, np.arange(4.0))


def test_recursion_is_refused_where_it_cannot_end() -> None:
    def f(a, n):
        return a if n == 0 else f(a + 1, n - 1)

    g = bufferize(f)
    f = g  # what a decorated recursive function sees
    agree(g, np.arange(3.0), 3)

    def endless(a):
        return endless(a)

    assert "recursion" in refused(bufferize(endless), np.arange(3.0)).reason


def test_a_good_call_after_a_bad_one() -> None:
    def f(a, b):
        t = a + b
        t[0] = 5
        return t @ a

    g = bufferize(verify=True)(f)
    for _ in range(2):
        agree(g, np.arange(3.0), np.arange(3.0))
        agree(g, np.arange(3.0), np.arange(4.0))  # ValueError
        agree(g, np.arange(3.0), [1, 2, 3])
        refused(g, np.arange(3.0), np.arange(3, dtype=np.longdouble))
        agree(g, np.arange(3.0), "abc")  # TypeError
        agree(g, np.zeros((0,)), np.zeros((0,)))  # IndexError


# -- B2, B4: read-only and overlapping arguments
def locked(a: np.ndarray) -> np.ndarray:
    a = a.copy()
    a.flags.writeable = False
    return a


@pytest.mark.parametrize("step", [1, 2])
def test_b2_a_view_of_what_has_become_read_only(step: int) -> None:
    """It stays writable, and so do views of it. (ValueError; found by the fuzzer's calls.)"""
    a = np.arange(6.0)
    view = a[::step]
    a.flags.writeable = False
    f = bufferize(lambda v: (v[1:], v.T[::-1]))
    for x in (view, view, a, view):
        found = f(x)
        assert [y.flags.writeable for y in found] == [x.flags.writeable] * 2
        assert all(np.shares_memory(y, a) for y in found)


def test_b2_reading_a_read_only_argument() -> None:
    agree(bufferize(double), locked(np.arange(3.0)))


def test_b2_storing_raises_where_it_stands() -> None:
    def f(a, b, k):
        b[0] = 9
        if k > 0:
            a[0] = 1
        return b

    g = bufferize(f)
    agree(g, locked(np.arange(3.0)), np.arange(3.0), 0)
    agree(g, locked(np.arange(3.0)), np.arange(3.0), 1)
    agree(g, np.arange(3.0), np.arange(3.0), 1)


def test_b2_storing_in_a_branch_of_the_data() -> None:
    def f(a, b):
        for i in range(len(b)):
            if b[i] > 2:
                a[i] = 1
        return a.sum()

    g = bufferize(f)
    agree(g, locked(np.arange(3.0)), np.zeros(3))
    agree(g, locked(np.arange(3.0)), np.arange(3.0) + 2)


def axpy(a, b, k):
    a += k * b
    b[0] = a[-1]
    return a is b, b, a


def test_b4_one_array_under_two_names() -> None:
    g = bufferize(verify=True)(axpy)
    a = np.arange(5.0)
    agree(g, a, a, 2.0)
    agree(g, a, a[:], 2.0)
    agree(g, a, a.copy(), 2.0)
    assert len(g.specializations()) == 3
    assert all(isinstance(s, tracebuf.api.Specialization) for s in g.specializations())


@pytest.mark.parametrize("make", [
    lambda a: (a[1:], a[:-1]), lambda a: (a, a[::-1]), lambda a: (a[:6], a[2:8]), lambda a: (a.view(), a[::1][::-1]),
])  # fmt: skip
def test_b4_overlap_runs_the_original_function(make: Any, caplog: pytest.LogCaptureFixture) -> None:
    g = bufferize(axpy)
    with caplog.at_level(logging.WARNING, logger="tracebuf"):
        for _ in range(3):
            agree(g, *make(np.arange(9.0)), 2.0)
    found = [s for s in g.specializations() if isinstance(s, tracebuf.api.OriginalCalls)]
    assert len(found) == 1 and found[0].calls == 3 and "`a` and `b` overlap" in found[0].reason
    assert len(caplog.records) == 1 and "axpy" in caplog.text


def test_b4_overlap_of_what_is_only_read_is_compiled() -> None:
    def f(a, b):
        return a * b

    g = bufferize(f)
    a = np.arange(9.0)
    agree(g, a[1:], a[:-1])
    agree(g, a, a[::-1])
    agree(g, np.broadcast_to(3.0, 9), a)
    assert all(isinstance(s, tracebuf.api.Specialization) for s in g.specializations())


def test_b4_interleaved_arguments_do_not_overlap() -> None:
    g = bufferize(axpy)
    a = np.arange(10.0)
    agree(g, a[::2], a[1::2], 2.0)
    assert len(g.specializations()) == 1 and isinstance(g.specializations()[0], tracebuf.api.Specialization)


def test_b4_an_argument_that_overlaps_itself() -> None:
    def f(a):
        a += 1

    g = bufferize(f)
    windows = np.lib.stride_tricks.as_strided(np.arange(9.0), (4, 3), (16, 8))
    agree(g, windows)
    agree(bufferize(double), windows)
    assert "itself" in str(g.specializations())
    agree(g, np.arange(12.0).reshape(4, 3))


def test_b6_results_outlive_the_call_and_each_other() -> None:
    def f(a):
        b = a + 1
        return b, b[1:], b[::-1]

    g = bufferize(f)
    kept = [g(np.full(1000, float(k)))[k % 3] for k in range(30)]
    for k, x in enumerate(kept):
        assert (x == k + 1).all()


@pytest.mark.slow
def test_b6_threads_call_at_once() -> None:
    def f(a, n):
        for i in range(n):
            t = a * a
            a += t.sum() * 1e-9 + i
        return a + a[::-1].copy()

    g = bufferize(f)
    wanted = [f(np.arange(2000.0) + k, 20) for k in range(8)]

    def work(k: int) -> None:
        for _ in range(20):
            np.testing.assert_allclose(g(np.arange(2000.0) + k, 20), wanted[k], rtol=1e-12)

    at_once(work, 8)
    assert len(g.specializations()) == 1


@pytest.mark.slow
def test_x2_lower_explain_and_measure_leave_the_arguments_alone() -> None:
    def f(a, b):
        a += b
        return a[1:] * b[:-1]

    g = bufferize(f)
    a, b = np.arange(5.0), np.ones(5)
    for stage in ("tensor", "memref", "llvm"):
        assert g.lower(a, b).as_text(stage)
    with pytest.raises(ValueError, match="stage"):
        g.lower(a, b).as_text("magic")
    assert str(g.explain(a, b)) and str(tracebuf.measure(g, a, b)) and str(g.specializations())
    assert (a == np.arange(5)).all() and (b == 1).all()


def test_x1_what_is_called_counts_not_how_it_is_spelt() -> None:
    from numpy import maximum as biggest

    def f(a):
        make = np.zeros
        t = make(len(a))
        t += biggest(a, np.float64(1))
        return t, isinstance(a, np.ndarray), isinstance(t[0], float), isinstance(len(a), int)

    agree(bufferize(f), np.arange(3.0))


def test_x1_conversions_that_lose_the_trace_are_refused() -> None:
    for body in ("np.array([a, {1: s}])", "[1, 2, 3][s]", "math.factorial(s)", "hash(s)"):
        f = program(f"def f(a, s): return {body}", math=__import__("math"))
        refused(f, np.arange(3.0), 1.5 if "[s]" not in body else np.float64(1))
    for body in ("str(s)", "f'{s}'", "'%s' % s"):
        f = bufferize(program(f"def f(a, s): return {body}"))
        for s in (1.5, 2.5, -0.0):
            agree(f, np.arange(3.0), s)


def test_b4_identity_of_arguments_is_part_of_the_key() -> None:
    def f(a, b):
        return a is b, b, a

    g = bufferize(f)
    for a in (np.arange(3.0), np.zeros(0), np.array(3.0)):
        for pair in ((a, a), (a, a[...]), (a[...], a), (a, a)):
            agree(g, *pair)


@pytest.mark.slow
def test_functions_are_arguments() -> None:
    def f(a, g):
        return g(a)

    h = bufferize(f)
    for function in (np.sin, np.sum, abs, double, bufferize(double), np.sin):
        agree(h, np.arange(3.0), function)
    assert len(h.specializations()) == 5


@pytest.mark.slow
def test_long_loops_run_without_the_gil() -> None:
    """Another thread goes on in the middle half of a long call; under the GIL it could not."""

    def f(a, n):
        for _ in range(n):
            a[1:-1] = (a[:-2] + a[2:]) * 0.5

    g = bufferize(f)
    a = np.ones(200_000)
    g(a, 1)
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.wait(0.001):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    g(a, 2000)
    end = time.perf_counter()
    done.set()
    thread.join()
    quarter = (end - start) / 4
    assert any(start + quarter < t < end - quarter for t in ticks)


def test_packages_that_are_called_like_numpy() -> None:
    """Functions and classes of a package `numpy_ml` were taken for NumPy's own."""
    space: dict[str, Any] = {"np": np, "__name__": "numpy_ml.layers"}
    exec("class Scale:\n    def __init__(self, k):\n        self.k = k", space)

    def double(a):
        return a * 2

    def program(layer, a):
        return double(a) * layer.k

    double.__module__ = "numpy_ml.layers"
    agree(bufferize(program), space["Scale"](3.0), floats(4))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["<lambda>", "größe"])
def test_a_function_of_any_name_is_lowered(name: str) -> None:
    def f(a):
        return a + 1

    f.__name__ = name
    g = bufferize(f)
    assert "@kernel" in g.lower(np.ones(3)).as_text("llvm")
    np.testing.assert_array_equal(g(np.ones(3)), 2)


def test_bufferized_functions_are_copied_and_pickled_as_functions_are() -> None:
    from tracebuf.testing import programs

    held = bufferize(programs.generate)
    assert copy.deepcopy([held])[0] is held and copy.copy(held) is held
    assert pickle.loads(pickle.dumps(held)).__wrapped__ is held.__wrapped__
