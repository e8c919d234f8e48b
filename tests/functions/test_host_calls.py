"""tracebuf.host_call: the user's functions, called from compiled code as from eager code."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.mlir.oracle import UNREGISTERED, binary, needs_mlir
from tests.support.agreement import agree, program, refused
from tests.support.params import one_in, slow_but
from tracebuf import host_call
from tracebuf.backend.runtime.arena import Context
from tracebuf.backend.runtime.compiled import kernel_of
from tracebuf.frontends.mlir import read
from tracebuf.ir.func import Func, Module
from tracebuf.ir.print_generic import print_generic
from tracebuf.ir.types import F64, MemRefType
from tracebuf.location import UNKNOWN
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.control.func import Return
from tracebuf.ops.memory.memref import Alloc

LOG: list[Any] = []


def log(*args: Any) -> None:
    LOG.append([x.copy() if isinstance(x, np.ndarray) else x for x in args])


def logs_agree(f: Callable[..., Any], *args: Any) -> None:
    """Eager and compiled code make the same calls with the same arguments, in the same order."""
    LOG.clear()
    agree(f, *args)
    assert LOG and len(LOG) % 2 == 0
    eager, native = LOG[: len(LOG) // 2], LOG[len(LOG) // 2 :]
    for a, b in zip(eager, native, strict=True):
        assert list(map(type, a)) == list(map(type, b))
        assert all(np.array_equal(x, y) and np.asarray(x).dtype == np.asarray(y).dtype for x, y in zip(a, b))


# -- effects: never left out, merged or reordered


def effects(a, n, x):
    host_call(log, "begin", n, x)
    for i in range(n):
        host_call(log, i, a[i], a)
        if a[i] > 0:
            host_call(log, "positive")
            host_call(log, "positive")
        a[i] *= 2
    host_call(log, a, a[::2], x > 1, x * 2, n + 1, a.sum(), None, (1, 2))
    return a + 1


@pytest.mark.slow
def test_effects() -> None:
    logs_agree(effects, np.array([1.0, -1.0, 3.0]), 3, 0.5)
    logs_agree(effects, np.repeat([1.0, -1.0], 2)[::2], 2, 2.5)
    logs_agree(effects, np.array([1], np.int8), 0, 2.0)


def effects_in_a_while(a):
    while a[0] > 0:
        a -= 1
        host_call(log, a)
    return a


def an_effect_before_an_error(a, b):
    host_call(log, a)
    return b[7] + np.linalg.inv(a)


@pytest.mark.slow
def test_effects_before_an_error_and_in_a_while() -> None:
    logs_agree(effects_in_a_while, np.array([3, 4]))
    logs_agree(an_effect_before_an_error, np.eye(2), np.zeros(3))
    logs_agree(an_effect_before_an_error, np.zeros((2, 2)), np.zeros(8))


def test_a_result_that_nobody_needs_is_computed() -> None:
    def f(a):
        host_call(logged_sum, a, result_shape=())
        return a

    LOG.clear()
    tracebuf.bufferize(f)(np.ones(3))
    assert len(LOG) == 1


def logged_sum(a: np.ndarray) -> Any:
    log(a)
    return a.sum()


# -- results


def roll(a):
    return np.roll(a, 1)


def pair(a, k):
    return a * k, int(a.sum())


def results(a, k):
    b = host_call(roll, a, result_shape=a.shape, result_dtype=a.dtype)
    c, s = host_call(pair, a[1:], k, result_shape=[(a.shape[0] - 1,), ()], result_dtype=(a.dtype, int))
    return b + 1, c, s, host_call(roll, a + b, result_shape=len(a), result_dtype=a.dtype)


@pytest.mark.parametrize("dtype", [np.float64, *slow_but((), [np.float32, np.int64, np.uint8, np.bool_, np.float16])])
def test_results(dtype: Any) -> None:
    a = np.arange(1, 6).astype(dtype)
    k = dtype(1)
    for x in (a, a[::-1].copy()[::-1], np.repeat(a, 3)[::3], a[:1]):
        agree(results, x, k)


def matrices(a):
    b = host_call(np.linalg.matrix_power, a, 3, result_shape=a.shape)
    return b, b.T @ a, host_call(np.trace, b, result_shape=()), a.T


@pytest.mark.slow
@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, lambda a: np.pad(a, 1)[1:-1, 1:-1]])
def test_matrices(layout: Callable[[np.ndarray], np.ndarray]) -> None:
    agree(matrices, layout(np.arange(9.0).reshape(3, 3)))
    agree(matrices, layout(np.zeros((0, 0))))


def the_argument_itself(a):
    b = host_call(np.asarray, a, result_shape=a.shape)
    b += 1
    return b


def test_a_result_is_a_new_array() -> None:
    agree(the_argument_itself, np.ones(3))


# -- arrays that are written


def double(a):
    a *= 2


def sort_into(source, target):
    target[:] = np.sort(source)


def writes(a, b):
    c = a + 1
    host_call(double, c, writes=0)
    host_call(double, a[::2], writes=(0,))
    host_call(sort_into, b, a, writes=1, reads=0)
    host_call(double, a[1:], writes=0, reads=0)
    return c, a.sum()


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["one-shot", *slow_but((), ["copy-before-write", "optimal"])])
def test_writes(strategy: Any) -> None:
    f = tracebuf.bufferize(verify=True, strategy=strategy)(writes)
    agree(f, np.arange(5.0), np.array([3.0, 1.0, 2.0, 5.0, 4.0]))
    agree(f, np.arange(10.0)[::2], np.array([3.0, 1.0, 2.0, 5.0, 4.0])[::-1])


def test_written_in_place_without_copies() -> None:
    f = tracebuf.bufferize(writes)
    report = f.explain(np.arange(5.0), np.ones(5))
    assert not report.copies and len(report.allocations) == 1


def writes_in_loops(a, n):
    for i in range(n):
        if a[i] > 1:
            host_call(double, a[i:], writes=0)
        else:
            host_call(double, a, writes=0)
    return a


def test_writes_in_loops() -> None:
    agree(writes_in_loops, np.arange(6.0), 4)
    agree(writes_in_loops, np.arange(6.0)[::-1], 4)


def test_a_read_only_array_is_not_written() -> None:
    a = np.arange(4.0)
    a.flags.writeable = False

    def f(a):
        host_call(double, a, writes=0)

    assert isinstance(agree(f, a), ValueError)
    assert isinstance(agree(lambda a: host_call(double, a), np.ones(3)), ValueError)  # writes= is missing


def test_one_array_twice() -> None:
    def whole(a):
        host_call(sort_into, a, a, writes=1)

    def part(a):
        host_call(sort_into, a[1:], a[:-1], writes=1)

    for f in (whole, part):
        assert "passed to it twice" in str(refused(f, np.ones(4)))


# -- what is wrong is said


def gives_floats(a):
    return a / 2


WRONG: list[tuple[Callable[..., Any], str]] = [
    (lambda a: host_call(gives_floats, a, result_shape=5), "shape \\(3,\\), declared is float64 of shape \\(5,\\)"),
    (lambda a: host_call(gives_floats, a, result_shape=3, result_dtype=int), "gave float64"),
    (lambda a: host_call(gives_floats, a, result_shape=[(3,), (3,)]), "declared are 2 results"),
    (lambda a: host_call(double, a, result_shape=3, writes=0), "gave None"),
    (lambda a: host_call(len, a, result_shape=(), result_dtype=np.float32) + host_call(len, a, result_shape=3),
     "of shape \\(\\), declared"),
]  # fmt: skip


@pytest.mark.parametrize("case", one_in(4, range(len(WRONG))))
def test_wrong_results(case: int) -> None:
    f, text = WRONG[case]
    for g in (f, tracebuf.bufferize(f)):
        with pytest.raises(tracebuf.TracebufError, match=text):
            g(np.arange(3.0))


@pytest.mark.parametrize(
    "f",
    [
        lambda a: host_call(double, a, writes=1), lambda a: host_call(double, a, writes=(True,)),
        lambda a: host_call(double, 3, writes=0), lambda a: host_call(roll, a, result_shape=(2.5,)),
        lambda a: host_call(pair, a, 2, result_shape=[(3,), ()], result_dtype=(float,)),
        lambda a: host_call(gives_floats, a, result_shape=-1),
    ],
)  # fmt: skip
def test_wrong_declarations(f: Callable[..., Any]) -> None:
    assert isinstance(agree(f, np.arange(3.0)), (TypeError, ValueError))


def test_refused() -> None:
    def inner(a):
        return host_call(lambda x: x * 2, a, result_shape=a.shape)

    def text(a):
        host_call(print, f"sum {a.sum()}")

    def a_list(a):
        host_call(print, [a, a])

    assert "made in the traced function" in str(refused(inner, np.ones(2)))
    assert "one by one" in str(refused(text, np.ones(2)))
    assert "one by one" in str(refused(a_list, np.ones(2)))


class Odd(Exception):
    pass


def fails(a, k):
    if a[k] > 2:
        raise Odd("too large", k)
    return a.sum()


def calls_what_fails(a, n):
    total = 0.0
    for k in range(n):
        total += host_call(fails, a, k, result_shape=())
    return total


def test_exceptions_are_passed_on() -> None:
    agree(calls_what_fails, np.arange(4.0), 3)
    f = tracebuf.bufferize(calls_what_fails)
    for _ in range(3):
        with pytest.raises(Odd) as raised:
            f(np.arange(4.0), 4)
        assert raised.value.args == ("too large", 3)
        assert "total += host_call" in raised.value.__notes__[0]
        frames, trace = [], raised.value.__traceback__
        while trace is not None:
            frames.append(trace.tb_frame)
            trace = trace.tb_next
        held = frames[-1].f_locals["a"]
        assert held.tolist() == [0, 1, 2, 3]
    assert f(np.arange(3.0), 3) == 9


def interrupted(a):
    raise KeyboardInterrupt


def test_any_exception_is_passed_on() -> None:
    with pytest.raises(KeyboardInterrupt):
        tracebuf.bufferize(lambda a: host_call(interrupted, a))(np.ones(2))


# -- functions that keep what they are given

KEPT: list[Any] = []


def keeps(a):
    KEPT.append(a)


def keeps_a_part(a):
    KEPT.append(a[::2])


def keeps_its_memory(a):
    KEPT.append(memoryview(a))


def keeps_a_copy(a):
    KEPT.append(a.copy())


def keeps_a_cycle(a):
    found: list[Any] = [a]
    found.append(found)


@pytest.mark.slow
@pytest.mark.parametrize("keep", [keeps, keeps_a_part, keeps_its_memory])
@pytest.mark.parametrize("n", [4, 5000])
def test_a_function_that_keeps_its_array(keep: Callable[..., Any], n: int) -> None:
    """It is told so, and what it keeps can be used: it is never freed memory."""
    KEPT.clear()

    def inside(a):
        b = a * 2
        host_call(keep, b)
        return (b + a).sum()

    def result(a):
        b = a * 2
        host_call(keep, b[1:])
        return b

    def argument(a):
        host_call(keep, a, writes=0)

    for f in (inside, result, argument):
        for g in (f, tracebuf.bufferize(f), tracebuf.bufferize(f)):
            for _ in range(2):
                with pytest.raises(tracebuf.TracebufError, match="keeps an array"):
                    g(np.ones(n))
    gc.collect()
    other = tracebuf.bufferize(lambda a: (np.linalg.inv(a) @ a).sum())
    other(np.eye(40))
    for x in KEPT:
        kept = np.asarray(x)
        assert kept.sum() >= 0
        if kept.flags.writeable:
            kept[...] = 1
    KEPT.clear()


@pytest.mark.slow
@pytest.mark.parametrize("keep", [keeps_a_copy, keeps_a_cycle])
def test_a_function_that_keeps_a_copy(keep: Callable[..., Any]) -> None:
    f = tracebuf.bufferize(lambda a: host_call(keep, a * 2))
    f(np.ones(3))
    f(np.ones(3))


def raises_in_a_handler(a):
    try:
        a[a.size]
    except IndexError as error:
        if len(a) > 4:
            raise ValueError("too long") from error
        raise ValueError("too short")  # noqa: B904


@pytest.mark.parametrize("n", [4, 5])
def test_a_caught_exception_keeps_no_array(n: int) -> None:
    """Nor does the one that it was raised from, or in the handler of."""

    def f(a):
        b = a * 2
        try:
            host_call(raises_in_a_handler, b)
        except ValueError:
            b = b + 1
        return b

    agree(f, np.ones(n))


SEEN: list[Any] = []


def keeps_the_third(a):
    SEEN.append(0)
    if len(SEEN) == 3:
        KEPT.append(a)


def keeps_the_base(a):
    KEPT.append(a.base)


def keeps_by_weak_reference(a):
    SEEN.append(weakref.ref(a))


def changes_the_array(a):
    SEEN.append((a.shape, a.dtype, a.flags.writeable, a.sum()))
    a.shape = (2, 2)
    a.dtype = np.int64
    a.flags.writeable = False


@pytest.mark.slow
def test_arrays_serve_the_next_call_unless_something_holds_or_changed_them() -> None:
    """One array object is pointed at the memory of call after call."""

    def loop(a, f):
        for k in range(5):
            b = a + k
            host_call(f, b, writes=0)
        return b

    f, a = tracebuf.bufferize(loop), np.ones(4)
    KEPT.clear()
    for keep in (keeps_the_third, keeps_the_base):
        SEEN.clear()
        with pytest.raises(tracebuf.TracebufError, match="keeps an array"):
            f(a, keep)
    assert len(SEEN) == 0 and KEPT[0].tolist() == [3] * 4
    KEPT.clear()
    f(a, keeps_by_weak_reference)
    assert [ref() for ref in SEEN] == [None] * 5
    SEEN.clear()
    f(a, changes_the_array)
    assert SEEN == [((4,), np.float64, True, 4.0 * (1 + k)) for k in range(5)]


# -- a call within a call, threads


@tracebuf.bufferize
def factorial(n):
    if n[0] < 2:
        return np.ones(1)
    b = n - 1
    return n * host_call(smaller, b, result_shape=1)


def smaller(n):
    return factorial(n)


def test_a_call_within_a_call() -> None:
    assert factorial(np.array([6.0]))[0] == 720
    with pytest.raises(RecursionError):
        factorial(np.array([np.inf]))
    assert factorial(np.array([5.0]))[0] == 120


@pytest.mark.slow
def test_a_recursion_may_end_anywhere() -> None:
    """Where it ends within ctypes, a RecursionError became a ctypes.ArgumentError."""
    factorial(np.array([6.0]))

    def from_depth(k: int) -> None:
        if k:
            return from_depth(k - 1)
        with pytest.raises(RecursionError):
            factorial(np.array([np.inf]))

    for depth in range(24):
        from_depth(depth)


def test_an_error_while_a_call_is_prepared() -> None:
    """The recursion may end where a context is made: what there is of it goes without a word."""
    Context.__new__(Context).__del__()


def slow(a, k):
    event.wait(0.01)
    return a * k


event = threading.Event()


def test_threads() -> None:
    @tracebuf.bufferize
    def f(a, k):
        b = a + k
        c = host_call(slow, b, k, result_shape=b.shape)
        return c + b

    a = np.arange(100.0)
    f(a, 1)
    wrong = []

    def run(k: int) -> None:
        wrong.extend([k] * (not np.array_equal(f(a, k), (a + k) * k + a + k)))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(2, 12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# -- random numbers, printing, other callables


class Draws:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def __call__(self, n: int) -> np.ndarray:
        return self.rng.normal(size=n)


def test_random_numbers() -> None:
    def walk(a, n):
        for _ in range(n):
            a += host_call(draw, len(a), result_shape=a.shape)
        return a

    draw = Draws(0)
    want = walk(np.zeros(4), 5)
    draw.rng = np.random.default_rng(0)
    assert np.array_equal(tracebuf.bufferize(walk)(np.zeros(4), 5), want)


def test_printing(capsys: pytest.CaptureFixture[str]) -> None:
    def f(a):
        host_call(print, "sum", a.sum(), a)

    f(np.arange(3))
    tracebuf.bufferize(f)(np.arange(3))
    first, second = capsys.readouterr().out.splitlines()
    assert first == second == "sum 3 [0 1 2]"


@dataclass(frozen=True)
class Scale:
    by: float

    def apply(self, a: np.ndarray) -> np.ndarray:
        return a * self.by


def test_methods_and_bufferized_functions() -> None:
    scale = Scale(3.0).apply
    square = tracebuf.bufferize(lambda a: a * a)

    def f(a):
        return host_call(scale, a, result_shape=a.shape), host_call(square, a + 1, result_shape=a.shape)

    agree(f, np.arange(3.0))


def test_another_function_is_another_program() -> None:
    f = tracebuf.bufferize(lambda a, fn: host_call(fn, a, result_shape=()))
    assert f(np.array([1.0, 5.0]), np.sum) == 6
    assert f(np.array([1.0, 5.0]), np.max) == 5


def test_without_source() -> None:
    space: dict[str, Any] = {"host_call": host_call, "roll": roll}
    exec("def f(a):\n    b = host_call(roll, a * 2, result_shape=a.shape)\n    return b + a", space)
    agree(space["f"], np.arange(4.0))


def test_of_a_program_text() -> None:
    agree(program("def f(a):\n    return host_call(np.trace, a @ a, result_shape=())", host_call=host_call), np.eye(3))


# -- what explain says, and the text


@pytest.mark.slow
def test_explain() -> None:
    def f(a, b):
        for i in range(3):
            a[i:] = np.linalg.inv(a)[i:]
        host_call(double, b, writes=0)
        return a

    g = tracebuf.bufferize(f)
    a, b = np.eye(4), np.ones(6)
    report = g.explain(a, b)
    inverse, own = report.host_calls
    assert inverse.in_loop and inverse.reason == "numpy.linalg.inv" and inverse.bytes == 256 and inverse.read == 128
    assert own.bytes == 96 and own.read == 48 and own.reason.endswith("double")
    assert "host call of numpy.linalg.inv (each iteration): reads 128 B, writes 128 B" in str(report)
    assert "2 host calls" in str(report)
    text = g.lower(a, b).as_text("memref")
    assert '"tracebuf.host_call"' in text and 'callee = "numpy.linalg.inv"' in text


def into_half(x):
    order = np.zeros(2 * len(x), int)
    order[::2] = np.lexsort((x,))
    return order


@pytest.mark.slow
def test_m5_explain_lists_the_array_that_the_called_function_makes() -> None:
    """`measure` counted it, explain did not list it. What np.lexsort gives is taken over, but into part of an array it
    is copied; np.sort computes in the buffer itself."""
    x = np.random.default_rng(0).random(1000)
    for n, f in ((2, lambda x: x[np.lexsort((x,))]), (2, into_half)):
        g = tracebuf.bufferize(f)
        report = g.explain(x)
        assert len(report.allocations) == tracebuf.measure(g, x, repeat=1).native.allocations == n
    assert report.allocations[1].reason == "numpy.lexsort makes its result, which is copied"
    assert len(tracebuf.bufferize(lambda x: np.sort(x) * 2).explain(x).allocations) == 1
    assert len(tracebuf.bufferize(lambda x: np.argsort(x)).explain(x).allocations) == 1
    indirect, x = tracebuf.bufferize(lambda x: np.argsort(x)), np.tile(x, 2)
    assert len(indirect.explain(x[::2]).allocations) == 2
    assert len(indirect.explain(x[::4]).allocations) == 1  # a short row is sorted as a copy on the stack
    assert tracebuf.measure(indirect, x[::4], repeat=1).native.allocations == 1


@pytest.mark.slow
@needs_mlir
@pytest.mark.parametrize("stage", ["tensor", "memref"])
def test_mlir_opt_takes_the_text(stage: str) -> None:
    def f(a, b, k):
        for i in range(k):
            a[i:] = np.linalg.inv(a)[i:]
            host_call(log, i, a)
        b.sort()
        return np.unique(b), host_call(pair, b, k, result_shape=[(len(b),), ()], result_dtype=(float, int))

    text = tracebuf.bufferize(f).lower(np.eye(4), np.ones(6), 2).as_text(stage)
    run = binary(text, UNREGISTERED, "-mlir-print-op-generic")
    assert run.returncode == 0 and run.stdout.count("tracebuf.host_call") == 5, run.stderr
    calls = [op for op in read(run.stdout).func("f").walk() if isinstance(op, HostCall)]
    assert [op.callee for op in calls][-2:] == ["numpy.unique", f"{__name__}.pair"]


def test_a_call_from_text_is_not_run() -> None:
    f = Func("f", [MemRefType((3,), F64, (1,), 0)])
    f.block.append(HostCall(f.args, [], UNKNOWN, {"n_ins": 0, "callee": "numpy.sort", "unread": ()}))
    f.block.append(Return.of([], UNKNOWN))
    kernel = kernel_of(read(print_generic(Module([f]))).func("f"), "f")
    with pytest.raises(tracebuf.UnsupportedError, match="the function numpy.sort of a host call is not known"):
        kernel.run([np.ones(3)])


def test_a_call_from_text_that_gives_memory_is_not_run() -> None:
    type_ = MemRefType((3,), F64, (1,), 0)
    f = Func("f", [type_])
    made = Alloc([], [type_], UNKNOWN, {"static_sizes": (3,), "order": (0,), "given": True, "kind": "array"})
    attrs = {"n_ins": 1, "callee": "numpy.fft.fft", "unread": (0,), "gives": (0,)}
    for op in (made, HostCall([*f.args, made.result], [], UNKNOWN, attrs), Return.of([made.result], UNKNOWN)):
        f.block.append(op)
    kernel = kernel_of(read(print_generic(Module([f]))).func("f"), "f")
    with pytest.raises(tracebuf.UnsupportedError, match="the function numpy.fft.fft of a host call is not known"):
        kernel.run([np.ones(3)])


def test_a_result_that_is_not_declared() -> None:
    """It is not dropped silently: the error says what to declare. None, and an argument that was written, are."""
    for f in (lambda a: host_call(np.sum, a), lambda a: host_call(np.exp, a)):
        for g in (f, tracebuf.bufferize(f)):
            with pytest.raises(tracebuf.TracebufError, match=r"none is declared\n.*result_shape="):
                g(np.ones(3))
    agree(lambda a, b: host_call(np.negative, a, b, writes=1), np.ones(3), np.zeros(3))
