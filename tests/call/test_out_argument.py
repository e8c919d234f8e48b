"""`f(..., out=buffer)`: results computed into the caller's arrays, checked and converted as ufuncs' out= (rules C1, B1,
B2, B4): the buffers are returned, nothing is allocated for what goes there, and a buffer may be an argument too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import program, same
from tests.support.params import one_in
from tests.support.threads import at_once
from tracebuf import bufferize
from tracebuf.api import Specialization
from tracebuf.measure import clone_arguments


def linear(x):
    return x * 2 + 1


def into(f: Callable[..., Any], *args: Any, out: Any) -> Any:
    """Calls the bufferized function, and its eager form, with clones; everything must be the same."""
    g = f if isinstance(f, tracebuf.BufferizedFunction) else bufferize(verify=True)(f)
    outcomes = []
    for call in (g.eager, g):
        values, named = clone_arguments(args, {"out": out})
        try:
            with np.errstate(all="ignore"):
                result, error = call(*values, **named), None
        except Exception as raised:
            result, error = None, raised
        outcomes.append((result, error, values, named["out"]))
    (want, expected, a1, o1), (got, raised, a2, o2) = outcomes
    assert type(raised) is type(expected), f"eager {expected!r}, bufferized {raised!r}"
    if expected is not None:
        return expected
    same((got, a2, o2), (want, a1, o1), 0, "after")
    buffers, places = (o2, got) if isinstance(got, (tuple, list)) and isinstance(o2, tuple) else ((o2,), (got,))
    assert all(b is None or b is p for b, p in zip(buffers, places))
    return want


# -- what a ufunc does is the definition
BUFFERS: list[Callable[[], Any]] = [
    lambda: np.zeros(4), lambda: np.zeros(4, np.float32), lambda: np.zeros(4, int), lambda: np.zeros(4, bool),
    lambda: np.zeros(5), lambda: np.zeros(1), lambda: np.zeros(0), lambda: np.zeros((2, 4)), lambda: np.zeros((1, 4)),
    lambda: np.zeros((4, 4))[:, 1], lambda: np.zeros(8)[::2], lambda: np.zeros(4)[::-1], lambda: np.zeros(()),
    lambda: np.broadcast_to(0.0, 4), lambda: [0.0] * 4, lambda: 3.0, lambda: "abcd", lambda: None, lambda: (None,),
    lambda: (np.zeros(4),), lambda: (np.zeros(4), np.zeros(4)), lambda: (), lambda: np.zeros(4).tobytes(),
    lambda: np.zeros(33, np.uint8)[1:].view(np.float64), lambda: (np.zeros(5),), lambda: ([0.0] * 4,),
]  # fmt: skip


@pytest.mark.parametrize("k", one_in(6, range(len(BUFFERS))))
def test_checks_are_those_of_ufuncs(k: int) -> None:
    """The class of exception, and the result, are np.add's; but nothing is broadcast to a larger buffer."""
    x, y = np.arange(4.0), np.ones(4)
    first, second, third = BUFFERS[k](), BUFFERS[k](), BUFFERS[k]()
    f = program("def f(x, y): return x + y")

    def run(call: Callable[..., Any], out: Any) -> tuple[Any, type | None]:
        try:
            return call(x, y, out=out), None
        except Exception as error:
            return None, next(c for c in type(error).__mro__ if c.__module__ == "builtins")

    (want, expected), (got, raised), (eager, by_numpy) = (
        run(np.add, first), run(bufferize(f), second), run(bufferize(f).eager, third),
    )  # fmt: skip
    if np.shape(first) in ((2, 4), (1, 4)) and isinstance(first, np.ndarray):
        expected = want = None
        assert raised is by_numpy is ValueError
        return
    assert raised is by_numpy is expected
    if want is not None:
        assert np.array_equal(got, want) and np.array_equal(eager, want) and got.dtype == want.dtype
        assert (got is second) == (want is first) or isinstance(second, tuple)


@pytest.mark.slow
def test_the_buffer_is_written_directly() -> None:
    """Rule S2: no allocation and no copy for what goes into the buffer, even where it is the argument."""
    g = bufferize(linear)
    x, out = np.arange(100.0), np.empty(100)
    for target in (out, out[::-1], np.empty((100, 2))[:, 1], x):
        result, counters = g.call_counted(x, out=target)
        assert result is target and counters is not None
        assert (counters.allocations, counters.copies) == (0, 0)
    assert (out == (np.arange(100.0) * 2 + 1)[::-1]).any()
    assert "out: float64[n]" in str(g.specializations())
    h = bufferize(program("def f(a, b):\n    return a @ b"))
    _, counters = h.call_counted(np.eye(3), np.ones((3, 3)), out=np.empty((3, 3)))
    assert counters is not None and counters.allocations == counters.copies == 0
    h = bufferize(program("def f(a):\n    s = np.zeros(len(a))\n    for i in range(len(a)):\n        s[i] = a[i] * i\n"
                          "    return s"))  # fmt: skip
    _, counters = h.call_counted(np.arange(9.0), out=np.empty(9))
    assert counters is not None and counters.allocations == counters.copies == 0


def test_texts_and_measurements() -> None:
    g = bufferize(linear)
    x, out = np.arange(8.0), np.zeros(8)
    assert "no allocations, no copies" in str(g.explain(x, out=out))
    assert "%out" in g.lower(x, out=out).as_text("tensor")
    m = tracebuf.measure(g, x, out=out)
    assert m.native.allocations == 0 and m.eager.allocations >= 2 and not out.any()


@pytest.mark.slow
@pytest.mark.parametrize("body", [
    "return x", "return x[::-1]", "return x.T", "return x.copy()", "return x + 1", "return x[0] + x",
    "return x * x[::-1]",
    "x[0] = 9\n    return x[::-1]", "x += 1\n    return x", "return x[:]", "return np.zeros(len(x))",
    "b = x[1:]\n    b[:] = 5\n    return x[::-1]", "return (x > 2) * x", "return np.where(x > 1, x[::-1], 0.0)",
])  # fmt: skip
@pytest.mark.parametrize("where", ["apart", "itself", "view", "reversed", "shifted"])
def test_b4_buffers_that_are_arguments(body: str, where: str) -> None:
    """Results are taken before the buffer is written; overlap runs the original function."""
    f = bufferize(verify=True)(program(f"def f(x):\n    {body}"))
    base = np.arange(7.0)
    x = base[:6]
    out = {"apart": np.zeros(6), "itself": x, "view": x[:], "reversed": x[::-1], "shifted": base[1:]}[where]
    into(f, x, out=out)
    into(f, x, out=out)


RESULTS: list[tuple[str, Any]] = [
    ("return x + 1, x * 2", (np.zeros(4), np.zeros(4))), ("return x + 1, x * 2", (None, np.zeros(4))),
    ("return x + 1, x * 2", (None, None)), ("return x + 1, x * 2", np.zeros(4)),
    ("return x + 1, x * 2", (np.zeros(4),)),
    ("return [x + 1, x]", (np.zeros(4), np.zeros(4, np.float32))), ("return x, x[::-1], x[1:]", (np.zeros(4),) * 3),
    ("return x + 1,", (np.zeros(4),)), ("return x + 1,", np.zeros(4)), ("return x.sum(), x", (np.zeros(()), None)),
    ("return (x + 1, x), x", (np.zeros(4), None)), ("return (x + 1, x), x", (None, np.zeros(4))),
    ("return None", np.zeros(4)), ("return 'a'", np.zeros(())), ("return 3", np.zeros(())), ("return 3", np.zeros(4)),
    ("return 2.5", np.zeros((), int)), ("return 2.5", np.zeros((), np.float32)), ("return True", np.zeros(())),
    ("return x.sum()", np.zeros(())), ("return x.sum()", np.zeros(1)), ("return x.sum()", np.zeros((), int)),
    ("return x.sum(keepdims=True)", np.zeros(1)), ("return x[..., 0]", np.zeros(())), ("return x[0]", np.zeros(())),
    ("return len(x)", np.zeros(())), ("return len(x) * 0.5", np.zeros((), np.float32)),
    ("return x[0] > 1", np.zeros(())),
    ("return x[0] > 1", np.zeros((), bool)), ("return 2 ** 80", np.zeros((), int)), ("return 2 ** 80", np.zeros(())),
    ("return None, x", (None, np.zeros(4))),
    ("return x[:2]", np.zeros(4)), ("return x[None]", np.zeros(4)), ("return x[None]", np.zeros((1, 4))),
    ("return x > 1", np.zeros(4)), ("return x.astype(int)", np.zeros(4, np.float32)), ("return x[9]", np.zeros(4)),
    ("return x[: int(2)]", np.zeros(2)), ("y = x + 1\n    return y, y", (np.zeros(4), None)), ("return ()", ()),
    ("for i in range(4):\n        x[i] += i\n    return x", np.zeros(4)), ("return x, x", (np.zeros(4), None)),
]  # fmt: skip


@pytest.mark.parametrize("k", one_in(8, range(len(RESULTS))), ids=lambda k: f"{k}: {RESULTS[k][0][:30]}")
def test_results_of_every_kind(k: int) -> None:
    body, out = RESULTS[k]
    into(program(f"def f(x):\n    {body}"), np.arange(4.0), out=out)


def test_tuple_results_are_taken_before_any_buffer_is_written() -> None:
    """f(x) -> (x + 1, view of x) with x as the first buffer: the second has the old elements, a free view the new."""
    for out in ("b", "n"):
        for decorate in (lambda f: bufferize(f).eager, bufferize):
            x, b = np.arange(4.0), np.zeros(4)
            f = decorate(program("def f(x): return x + 1, x[::-1]"))
            first, second = f(x, out=(x, b if out == "b" else None))
            assert first is x and (x == [1, 2, 3, 4]).all()
            assert (second == ([3, 2, 1, 0] if out == "b" else [4, 3, 2, 1])).all()


def test_one_program_serves_all_sizes_and_a_size_that_does_not_fit_raises() -> None:
    g = bufferize(linear)
    for n in (4, 9, 2):
        into(g, np.arange(float(n)), out=np.zeros(n))
        assert isinstance(into(g, np.arange(float(n)), out=np.zeros(n + 1)), ValueError)
    assert len([s for s in g.specializations() if isinstance(s, Specialization) and s.calls > 1]) == 1


def test_a_size_known_at_run_time_only_is_checked() -> None:
    f = bufferize(program("""
        def f(x, k):
            n = 0
            for i in range(len(x)):
                if x[i] > 1:
                    n += 1
            return x[:n] * 2
        """))  # fmt: skip
    into(f, np.arange(4.0), 1, out=np.zeros(2))
    assert isinstance(into(f, np.arange(4.0), 1, out=np.zeros(3)), ValueError)


def test_a_parameter_named_out_is_the_functions_own() -> None:
    g = bufferize(program("def f(x, out=None):\n    return x + 1 if out is None else out * x"))
    b = np.ones(3)
    assert (g(np.arange(3.0), out=b) == [0, 1, 2]).all() and (b == 1).all()
    assert (g(np.arange(3.0)) == [1, 2, 3]).all()
    with pytest.raises(TypeError):
        bufferize(linear)(np.ones(3), into=b)


def test_b5_a_captured_array_as_the_buffer() -> None:
    a = np.arange(4.0)
    g = bufferize(verify=True)(program("def f(x): return A[::-1] + x", A=a))
    assert g(1.0, out=a) is a and (a == [4, 3, 2, 1]).all()
    b = np.zeros(4)
    assert g(1.0, out=b) is b and (b == [2, 3, 4, 5]).all()
    assert g(1.0, out=a[::-1]) is not a and (a[::-1] == [2, 3, 4, 5]).all()


@pytest.mark.slow
def test_bufferized_functions_call_each_other_with_out() -> None:
    g = bufferize(linear)
    f = bufferize(verify=True)(program("""
        def f(x, t):
            y = g(x, out=t)
            g(t, out=t[::-1])
            return y is t, y, g(x, out=(None,))
        """, g=g))  # fmt: skip
    for x in (np.arange(4.0), np.arange(4)):
        t1, t2 = np.zeros(4), np.zeros(4)
        want, got = f.__wrapped__(x, t1), f(x, t2)
        assert got[0] is want[0] is True and got[1] is t2 and (t1 == t2).all() and (got[2] == want[2]).all()
    with pytest.raises(ValueError):
        f(np.arange(4.0), np.zeros(3))


def test_b6_threads_have_buffers_of_their_own() -> None:
    g = bufferize(linear)

    def work(k: int) -> None:
        out = np.empty(1000)
        for _ in range(50):
            assert g(np.full(1000, float(k)), out=out) is out and (out == 2 * k + 1).all()

    at_once(work, 4)


def test_a_result_that_is_none_on_some_paths_has_no_buffer() -> None:
    def maybe(a):
        if a[0] > 0:
            return None
        return a * 2

    for a in (np.ones(3), -np.ones(3)):
        with pytest.raises(tracebuf.UnsupportedError, match="depending on the path"):
            bufferize(maybe)(a, out=np.zeros(3))


@pytest.mark.slow
def test_complex_results_none_in_a_tuple_and_an_out_of_its_own() -> None:
    x = np.arange(1.0, 5.0)
    assert into(lambda a: a * 2j, x, out=np.zeros(4, complex)) is not None
    into(lambda a: a * 2j, x, out=np.zeros(4, np.complex64))
    assert isinstance(into(lambda a: a * 2j, x, out=np.zeros(4)), TypeError)
    into(lambda a: complex(a[0], 1), x, out=np.zeros((), complex))
    into(lambda a: (a * 2, None), x, out=(np.zeros(4), None))
    assert isinstance(into(lambda a: (a * 2, None), x, out=(np.zeros(4), np.zeros(4))), TypeError)
    assert isinstance(into(lambda a: None, x, out=np.zeros(4)), TypeError)
    into(lambda a: None, x, out=None)

    def own(a, out):
        out[...] = a
        return 7

    buffer = np.zeros(4)
    assert bufferize(own)(x, out=buffer) == 7 and np.array_equal(buffer, x)
