"""Signals while compiled code runs: their handlers run soon, what they raise ends the call, and nothing is left behind.

What a call would do without the signal takes hours, so that it ends at all is the test; that it does so soon is judged
by a bound that a busy machine keeps too.
"""

from __future__ import annotations

import logging
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.params import one_in
from tracebuf import bufferize
from tracebuf.backend.runtime.memory_hook import counting
from tracebuf.frontends.numpy.source.source import definitions
from tracebuf.testing.alarm import Alarm, alarm

# CPython reports, and goes on, where a handler that it calls inside of a weak reference's callback raises.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


class Late(Exception):
    """What the handler raises where an ordinary exception is asked for."""


HUGE, MANY = 10**7, 10**13


def endless(x: Any) -> Any:
    while x > 0:
        x = x * 1.0
    return x


def endless_arrays(x: Any) -> Any:
    a = np.ones(3) * x
    while a[0] > 0:
        a = a[::-1] * 1.0
    return a


def endless_store(a: Any) -> Any:
    k = 0
    while k >= 0:
        a[k % 3] = k
        k = (k + 1) % 7
    return a


def counted(x: Any, n: Any) -> Any:
    for _ in range(n):
        x = x * 0.5 + 1
    return x


def counted_in_steps(x: Any, n: Any, step: Any) -> Any:
    for _ in range(0, n, step):
        x = x * 0.5 + 1
    return x


def counted_twice(x: Any, n: Any) -> Any:
    for _ in range(n):
        for k in range(3):
            x = x * 0.5 + k
    return x


def stencil(u: Any, n: Any) -> Any:
    for _ in range(n):
        u[1:-1] = (u[:-2] + u[2:]) / 2
    return u


def fresh_arrays(u: Any, n: Any) -> Any:
    for _ in range(n):
        u = u[::-1] * 0.5
    return u


def products(a: Any, n: Any) -> Any:
    for _ in range(n):
        a = a @ a
    return a


def hosted(x: Any, n: Any) -> Any:
    for _ in range(n):
        x = abs(complex(x, 0.5) ** 0.5)
    return x


def sorted_again(a: Any, n: Any) -> Any:
    for _ in range(n):
        a = np.sort(a)
    return a


def total(x: Any, n: Any, m: Any) -> Any:
    return np.broadcast_to(x, (n, m)).sum()


def of_exp(x: Any, n: Any, m: Any) -> Any:
    return np.exp(np.broadcast_to(x, (n, m))).sum()


def largest(x: Any, n: Any, m: Any) -> Any:
    return (np.broadcast_to(x, (n, m)) * 2).max()


def largest_of_three(x: Any, n: Any, m: Any, k: Any) -> Any:
    return np.broadcast_to(x, (n, m, k)).max()


def by_rows(x: Any, n: Any, m: Any) -> Any:
    return np.broadcast_to(x, (n, m)).max(axis=0)


def by_columns(x: Any, n: Any, m: Any) -> Any:
    return np.broadcast_to(x, (n, m)).max(axis=1)


def how_many(x: Any, n: Any) -> Any:
    return np.count_nonzero(np.broadcast_to(x, n) > 2)


X = np.linspace(0, 1, 8)
LOOPS: list[tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = [
    (endless, lambda: (1.0,)), (endless_arrays, lambda: (1.0,)), (endless_store, lambda: (np.ones(3),)),
    (counted, lambda: (1.0, 10**15)), (counted_in_steps, lambda: (1.0, 10**15, 3)),
    (counted_in_steps, lambda: (1.0, sys.maxsize, 2**16)), (counted_twice, lambda: (1.0, 10**15)),
    (stencil, lambda: (X.copy(), 10**12)), (stencil, lambda: (np.ones(10**6), 10**12)),
    (fresh_arrays, lambda: (np.ones(1000), 10**12)), (products, lambda: (np.eye(3), 10**12)),
    (products, lambda: (np.eye(100), 10**12)), (products, lambda: (np.eye(300, dtype=int), 10**12)),
    (hosted, lambda: (1.5, 10**12)), (sorted_again, lambda: (X.copy(), 10**12)),
    *((f, partial(lambda *sizes: sizes, x, *sizes))
      for f in (total, of_exp, largest) for x in (1.0, 1) for sizes in ((HUGE, HUGE), (1, MANY), (MANY, 1), (MANY, 3))),
    *((largest_of_three, partial(lambda *sizes: sizes, 1.0, *sizes))
      for sizes in ((3, MANY, 2), (2, 3, MANY), (MANY, 2, 3), (HUGE, 3, HUGE))),
    (by_rows, lambda: (1.0, MANY, 2)), (by_columns, lambda: (1.0, 2, MANY)), (how_many, lambda: (1.0, MANY)),
]  # fmt: skip


@pytest.mark.slow
def test_a_handler_that_raises_ends_the_reading_of_a_long_file() -> None:
    """CPython 3.11 makes SystemError of what is raised inside of `ast.parse`."""
    text = "\n".join(f"x = [{i}, {i}, f({i}, a=[{i}])]" for i in range(8000))
    with pytest.raises(Alarm), alarm(0.05):
        definitions(text)


@pytest.mark.parametrize("f, arguments", one_in(60, LOOPS, rows=True))
def test_a_handler_that_raises_ends_any_loop(f: Callable[..., Any], arguments: Callable[[], tuple[Any, ...]]) -> None:
    """C3: what it raises is the caller's to catch, soon, and the call has kept no memory. Then all is as before."""
    g = bufferize(f)
    args = arguments()
    with pytest.raises(Alarm), alarm(0.05):
        g(*args)  # ended while it compiles, as a rule
    g.explain(*args)
    for _ in range(2):
        g.release()
        start, late = time.process_time(), 0.0  # not by the clock: the machine may be busy
        with counting() as seen:
            try:
                with alarm(0.03):
                    g(*args)
            except Alarm:
                late = time.process_time() - start
            g.release()
        assert 0 < late < 5
        assert seen.live_bytes == 0


def several(a: Any, n: Any) -> Any:
    b = np.zeros_like(a)
    for k in range(3):
        b[k:] += np.cumsum(a)[k:] * n
    try:
        c = {"x": np.concatenate([a, b]), "y": a.reshape(2, -1).max(axis=1)}
    except ValueError:
        c = {"x": a}
    return [np.where(x > 0, x, -x).sum() if n > 2 else x.mean() for x in c.values()]


@pytest.mark.parametrize("milliseconds", one_in(24, range(2, 50)))
@pytest.mark.slow
def test_a_handler_that_raises_in_the_first_call_is_the_callers(milliseconds: int) -> None:
    """C3: a signal while tracing or compiling is no error of the traced code, and no bug of the tracer's."""
    a = np.arange(6.0)
    g = bufferize(several)
    expected = several(a, 3)
    try:
        with alarm(milliseconds / 1000, Late):
            g(a, 3)
    except Late:
        pass
    assert g(a, 3) == expected


SCRIPT = """
import signal, sys, threading
import numpy as np
from tracebuf import bufferize

signal.signal(signal.SIGINT, signal.default_int_handler)  # the jobs of a shell's background ignore it
signal.alarm(200)

@bufferize
def run(a):
    n = 0
    while n >= 0:
        a[n % 3] = n
        n = (n + 1) % 5
    return a

try:
    a, b = np.zeros(3), np.zeros(3)
    run.explain(a)
    if sys.argv[1] == "True":
        threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()
    print("running", flush=True)
    run(a)
except KeyboardInterrupt:
    print("interrupted", a.min() >= 0, b.tolist())
"""


@pytest.mark.slow
@pytest.mark.parametrize("thread", [False, True])
def test_ctrl_c_ends_a_call_on_the_main_thread(thread: bool, tmp_path: Path) -> None:
    """A real SIGINT to a real process, also while another thread computes in Python and holds the GIL."""
    (tmp_path / "script.py").write_text(SCRIPT)
    started = [sys.executable, str(tmp_path / "script.py"), str(thread)]
    with subprocess.Popen(started, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "running\n"
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted True [0.0, 0.0, 0.0]\n"
            assert process.wait(60) == 0
        finally:
            process.kill()


def test_other_threads_are_not_interrupted() -> None:
    """Python runs handlers on the main thread, which waits here, and is not held up by the call."""
    g, begin, done = bufferize(counted), threading.Event(), threading.Event()
    g(1.0, 3)

    def work() -> None:
        begin.wait()
        g(1.0, 3 * 10**7)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        with pytest.raises(Alarm), alarm(0.03):
            begin.set()
            done.wait()
            raise AssertionError("the call was quicker than the alarm")
    finally:
        begin.set()
        thread.join()
    assert done.is_set()


def test_a_handler_that_raises_in_the_back_end_is_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is it a bug of the back end's, which comes as an InternalError."""

    def interrupted(*_: Any) -> None:
        signal.raise_signal(signal.SIGALRM)

    g = bufferize(counted)
    with monkeypatch.context() as patched, pytest.raises(Late), alarm(60, Late):
        patched.setattr("tracebuf.backend.runtime.compiled.kernel_of", interrupted)
        g(1.0, 3)
    assert g(1.0, 3) == counted(1.0, 3)


def test_compiling_takes_no_lock_of_logging() -> None:
    """Which a handler's exception in the midst of `getLogger` leaves taken: threads waited for it for ever."""
    bufferize(counted)(1.0, 3)
    taken, over = threading.Event(), threading.Event()

    def hold() -> None:
        with logging._lock:  # type: ignore[attr-defined]
            taken.set()
            over.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait()
    compiling = threading.Thread(target=bufferize(counted), args=(1.0, 3))
    compiling.start()
    compiling.join(30)
    waits = compiling.is_alive()
    over.set()
    holder.join()
    compiling.join()
    assert not waits
