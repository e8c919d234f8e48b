"""Work in another thread: what signals' handlers raise meanwhile reaches the caller, and nothing else does."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from tests.support.params import slow_but
from tracebuf.process.aside import aside
from tracebuf.testing.alarm import alarm

PROGRAM = """
import signal, time
from tracebuf.process.aside import aside

class Late(RuntimeError):
    pass

def ring(*_):
    raise Late

signal.signal(signal.SIGALRM, ring)
done = late = 0
while done + late < TIMES:
    try:
        signal.setitimer(signal.ITIMER_REAL, (1 + (done + late) % 150) * 1e-6)
        for _ in range(8):
            assert aside(lambda: 7) == 7
        done += 1
    except Late as error:
        assert error.__context__ is None, error.__context__
        late += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
assert late > 50 < late + done
"""


@pytest.mark.parametrize("times", slow_but([600], [600, 9000]))
@pytest.mark.slow
def test_a_handler_may_raise_at_any_moment(times: int) -> None:
    """Inside of `threading.Thread.start` it left the thread's own lock half released: RuntimeError."""
    program = f"TIMES = {times}\n{PROGRAM}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_the_end_waits_for_work_that_was_left() -> None:
    program = """
import signal, sys, time
from tracebuf.process.aside import aside
from tracebuf.testing.alarm import Alarm, alarm

def work():
    time.sleep(0.3)
    print("done", flush=True)

try:
    with alarm(0.05):
        aside(work)
except Alarm:
    print("left", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "left\ndone\n", "")


def test_what_the_work_raises_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        aside(lambda: 1 / 0)
    with pytest.raises(KeyboardInterrupt), alarm(30):
        aside(lambda: (_ for _ in ()).throw(KeyboardInterrupt))


def test_another_thread_than_the_main_one_works_itself() -> None:
    seen: list[int] = []
    thread = threading.Thread(target=lambda: seen.append(aside(threading.get_ident)))
    thread.start()
    thread.join()
    assert seen == [thread.ident]
    assert aside(threading.get_ident) != threading.get_ident()
