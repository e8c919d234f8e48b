"""Random programs up the ladder: a short run that is the same each time, and a longer one."""

from __future__ import annotations

import ast
import mmap
import random
import signal
import subprocess
import sys
import time
import types

import pytest
from hypothesis import HealthCheck, given, settings

from tests.support.params import amount, slow_but
from tracebuf.testing import probe
from tracebuf.testing.alarm import Alarm
from tracebuf.testing.boxes import check_boxed
from tracebuf.testing.fuzz import (
    Report,
    attempt,
    calls,
    driver,
    exits,
    generators,
    kinds,
    labels,
    libraries,
    objects,
    peaks,
    talk,
    threads,
    untyped,
)
from tracebuf.testing.fuzz.driver import MODULE, Drawn, drive, in_a_child, smaller
from tracebuf.testing.fuzz.patience import Patience, finished, within
from tracebuf.testing.guard import guarded
from tracebuf.testing.ladder import Mismatch
from tracebuf.testing.minimise import minimise
from tracebuf.testing.programs import Program, generate, loaded, programs


def check(program: Program) -> None:
    report = attempt(program)
    assert report.kind != "failed", f"{report.rung}: {report.what}\n{report.text}"


@pytest.mark.parametrize("seed", slow_but(range(2), range(40)))
@pytest.mark.cases(2)
def test_programs_climb_the_ladder(seed: int) -> None:
    """Rules C1 to C4 and S2 over the whole language."""
    check(generate(random.Random(seed)))


@pytest.mark.parametrize("seed", slow_but(range(2), range(120)))
def test_programs_over_objects_climb_the_ladder(seed: int) -> None:
    """Rules C1 to C3 and S2 over objects, lists and dicts."""
    check(objects.generate(random.Random(f"objects {seed}")))


@pytest.mark.parametrize("seed", slow_but(range(1), range(40)))
def test_calls_in_turn_do_what_they_do_in_numpy(seed: int) -> None:
    check(calls.generate(random.Random(f"calls {seed}")))


@pytest.mark.parametrize("seed", slow_but(range(1), range(30)))
@pytest.mark.slow
def test_programs_of_labels_climb_the_ladder(seed: int) -> None:
    check(labels.generate(random.Random(f"labels {seed}")))


@pytest.mark.parametrize("seed", slow_but(range(1), range(30)))
def test_programs_of_generators_climb_the_ladder(seed: int) -> None:
    check(generators.generate(random.Random(f"generators {seed}")))


@pytest.mark.parametrize("seed", slow_but(range(1), range(20)))
def test_programs_of_libraries_climb_the_ladder(seed: int) -> None:
    check(libraries.generate(random.Random(f"libraries {seed}")))


@pytest.mark.parametrize("seed", slow_but(range(3), range(60)))
def test_programs_without_types_climb_the_ladder(seed: int) -> None:
    """What NumPy raises is raised, whatever meets."""
    check(untyped.generate(random.Random(f"untyped {seed}")))


@pytest.mark.parametrize("seed", slow_but(range(2), range(40)))
def test_what_is_said_is_what_eager_says(seed: int) -> None:
    check(talk.generate(random.Random(f"talk {seed}")))


def test_another_text_is_found() -> None:
    body = "def program(a):\n    print(__file__)\n    return a\n\n\ndef steps(call):\n    call(np.ones(3))\n"
    report = attempt(Program(f"import numpy as np\n\n\n{body}"))  # each side is loaded from a file of its own
    assert report.kind == "failed" and "what is said" in report.what


@pytest.mark.parametrize("seed", slow_but((), range(12)))
def test_threads_get_answers_of_some_order(seed: int) -> None:
    check(threads.generate(random.Random(seed)))


def test_a_name_may_change_between_two_readings_of_the_original() -> None:
    module = types.ModuleType("module")
    exec("def helper():\n    return SCALE\n\ndef program(a):\n    return SCALE and (a, helper())\n", vars(module))
    module.THREADS = {"SCALE": [0, 1, 2]}
    found = [outcome.result for outcome in threads.torn(module, (7,))]
    assert found == [0, (7, 0), (7, 1), (7, 2), (7, 0), (7, 1), (7, 2)]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_processes_end_as_they_say(seed: int) -> None:
    check(exits.generate(random.Random(seed)))


def test_ints_beyond_64_bits_are_taken_back_in_the_middle_of_an_expression() -> None:
    """Only the ints that a name held were looked at: `math.gcd(a[0])` of a uint64 was drawn, and raised OverflowError
    by rule N1."""
    text = "import math, numpy as np\ndef program(n): return {}\narguments = arguments_again = lambda: (2,)\n"
    assert probe.run(text.format("math.gcd(np.uint64(2**62)) - 1"), "bits") is not None
    for too_large in ("float(math.gcd(np.uint64(2) ** 63))", "(n << 70) % 7", "[2**62 * n for _ in range(n)][0] > 0"):
        assert probe.run(text.format(too_large), "bits") is None


@pytest.mark.slow
@settings(max_examples=amount(12, 70), deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_more_programs_climb_the_ladder(program: Program) -> None:
    check(program)


@pytest.mark.slow
@settings(max_examples=15, suppress_health_check=list(HealthCheck), deadline=None)
@given(programs())
def test_programs_can_be_called_with_both_sets_of_arguments(program: Program) -> None:
    with loaded(program) as module:
        assert len(module.arguments()) == len(module.arguments_again()) == module.program.__code__.co_argcount


def test_the_minimiser_keeps_what_fails() -> None:
    text = (
        "def program(a, b):\n    c = a + 1\n    for i in range(3):\n        b[i] = np.sqrt(a[i]) * c\n    return a, b\n"
    )
    assert minimise(text, lambda t: "np.sqrt" in t) == "def program():\n    b[i] = np.sqrt()"


OBJECTS = """
class Box:
    def __init__(self, a):
        self.a = a

    def unused(self):
        return 1


def program(p, a, n):
    t = [a, p.a]
    try:
        for x in t:
            if n > 1:
                t[0], t[1] = t[1], t[0]
                p.a += x
    except ValueError:
        t = {"k": a, "j": t}
    return (p, a if n else t, [x for x in t])


def arguments():
    a = array("float64", (4,), 3, "reversed")
    p = Box(a + 1)
    return (p, a, 3)


def arguments_again():
    a = array("float64", (5,), 4, "reversed")
    p = Box(a + 1)
    return (p, a, 3)
"""


@pytest.mark.parametrize(
    ("needle", "smallest"),
    [
        ("p.a", "def program():\n    p.a += x\n\ndef arguments():\n    return ()\n\n"
         "def arguments_again():\n    return ()"),
        ("t[0], t[1] = (t[1]", None),
        ("for x in t", None),
    ],
)  # fmt: skip
def test_the_minimiser_takes_what_stands_around(needle: str, smallest: str | None) -> None:
    """Classes, parameters with their arguments, blocks, containers."""

    def fails(text: str) -> bool:
        return needle in text

    found = minimise(OBJECTS, fails)
    assert found == smallest or (smallest is None and len(found.splitlines()) <= 11 and "class" not in found), found


def test_kinds_are_drawn_by_weights() -> None:
    assert kinds.parsed("objects") == {"objects": 1.0}
    assert kinds.parsed("arrays=2, threads=0.5") == {"arrays": 2.0, "threads": 0.5}
    for wrong in ("object", "objects=x", "objects=0"):
        with pytest.raises(ValueError):
            kinds.parsed(wrong)
    drawn = [kinds.generate(f"1 {n}", {"threads": 1.0, "exits": 3.0}).text for n in range(20)]
    assert 2 <= sum("THREADS" in text for text in drawn) <= 10
    assert drawn == [kinds.generate(f"1 {n}", {"threads": 1.0, "exits": 3.0}).text for n in range(20)]


def test_the_command_that_draws_a_program_again() -> None:
    drawn = Drawn(3, {"objects": 1.0}, guard=True)
    assert drawn.command(2, 17) == f"python -m {MODULE} --seed 3 --weights objects=1 --guard --only 2.17"
    assert drawn.program(2, 17) == drawn.program(2, 17)


def test_guarded_memory_is_next_to_a_page_that_may_not_be_touched() -> None:
    for size in (1, 24, 5000):
        for _ in range(2):
            memory = guarded(size)
            memory[:] = 7
            page = mmap.PAGESIZE
            assert memory.nbytes == size and 0 in ((memory.ctypes.data + size) % page, memory.ctypes.data % page)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["memory.ctypes.data + 24", "memory.ctypes.data - 1"])
def test_a_store_beside_guarded_memory_is_a_crash(place: str) -> None:
    skipped = "" if "+" in place else "guarded(24)\n"
    text = f"import ctypes\nfrom tracebuf.testing.guard import guarded\n{skipped}memory = guarded(24)\n"
    done = subprocess.run([sys.executable, "-c", f"{text}ctypes.memset({place}, 1, 1)"], capture_output=True)
    assert done.returncode == -signal.SIGSEGV


def test_what_waits_for_the_processor_does_not_hang() -> None:
    """Other load on the machine made a failure of a program: its time was that of the clock."""
    with within(0.01):
        time.sleep(0.03)
    for wait in (lambda: None, lambda: time.sleep(0.01)):
        with pytest.raises(Alarm), within(0.01):
            while True:
                wait()
    with subprocess.Popen([sys.executable, "-c", "input(); [0 for _ in iter(int, 1)]"], stdin=subprocess.PIPE) as child:
        patience = Patience(child.pid, 0.02)
        assert not patience.is_over and child.stdin is not None
        child.stdin.write(b"\n")
        child.stdin.flush()
        while not patience.is_over:
            time.sleep(0.005)
        child.kill()


@pytest.mark.slow
def test_commands_that_do_not_end() -> None:
    done = finished([sys.executable, "-c", "print(1)"], 5.0)
    assert done is not None and (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")
    for text in ("while True: pass", "import time; time.sleep(60)"):
        assert finished([sys.executable, "-c", text], 0.1) is None


@pytest.mark.slow
def test_crashes_are_made_smaller() -> None:
    text = "import ctypes\nTOLERANCE = 0.0\nDONATED = ()\ndef program(a):\n    b = a + 1\n    return b\n"
    crash = f"{text}def arguments():\n    ctypes.string_at(0)\n    return (1,)\narguments_again = arguments\n"
    found = smaller(Report("failed", crash, "crash", "exit code -11"), 120.0)
    assert found.rung == "crash" and len(found.text) < len(crash)


@pytest.mark.slow
def test_a_program_without_end_in_eager_is_no_failure() -> None:
    """A program on which tracing hung was made smaller until it was one that has no end in NumPy either."""
    head, end = "TOLERANCE = 0.0\nDONATED = ()\n", "def arguments():\n    return (1,)\narguments_again = arguments\n"
    without_end = "def program(a):\n    while True:\n        pass\n"
    hangs_elsewhere = "def program(a):\n    return a\nwhile __name__ != '<run_path>':\n    pass\n"
    for text, kind in ((without_end, "raised"), (hangs_elsewhere, "failed")):
        assert in_a_child(head + text + end, 1.0).kind == kind


def test_a_program_without_end_in_eager_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It counted as one on which the library hangs."""
    monkeypatch.setattr(driver, "ENDLESS", 0.05)
    text = "TOLERANCE = 0.0\nDONATED = ()\ndef program(a):\n    while a > 0:\n        a += 1\n    return a\n"
    report = attempt(Program(f"{text}def arguments():\n    return (1,)\narguments_again = arguments\n"))
    assert report.kind == "refused" and "no end" in report.what


def test_one_limit_of_time_within_another() -> None:
    with pytest.raises(Alarm), within(0.05):
        with within(5.0):
            pass
        while True:
            pass


def test_a_wrong_program_is_reported() -> None:
    program = "def program(a):\n    id(a)\n"
    text = f"TOLERANCE = 0.0\nDONATED = ()\n{program}def arguments():\n    return (1,)\narguments_again = arguments\n"
    assert attempt(Program(text)).kind in ("refused", "failed")


@pytest.mark.slow
def test_the_driver_counts_programs_of_a_worker(tmp_path) -> None:
    tally = drive(Drawn(seed=7), seconds=6, folder=tmp_path)
    assert tally.counts["ok"] > 0 and not tally.failures, str(tally)
    assert isinstance(tally.counts, dict) and Report("ok").signature == ": differs"


@pytest.mark.slow
def test_a_peak_above_eagers_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of the kind `peaks` passes; it fails where native is said to hold one array more."""
    program = peaks.generate(random.Random("peaks"))
    assert attempt(program).kind in ("ok", "refused")
    with loaded(program) as module:
        monkeypatch.setattr(peaks, "peaks", lambda function, args: (320_000, 640_000))
        with pytest.raises(Mismatch, match="peak of eager is 320,000 bytes, of native 640,000"):
            peaks.check_peak(module, program.text)


def test_every_program_of_peaks_is_python() -> None:
    """Two equal branches left a loop without a body, which the minimiser did not survive."""
    for n in range(300):
        ast.parse(peaks.generate(random.Random(n)).text)
    assert minimise("for x in y:\nreturn", lambda text: True) == "for x in y:\nreturn"


def test_floats_of_32_bits_have_a_larger_tolerance() -> None:
    """Also in a container, where the fuzzer took float64's."""
    program = Program(
        "import numpy as np\nTOLERANCE = 1e-9\nBOXED = ['b'], [], ['b']\n"
        "def box(b): return [b]\ndef boxed(S): S[0][:] = np.mean(S[0])\n"
        "def arguments(): return (np.full((6, 5), 0.4 + 2.3j, np.complex64),)\narguments_again = arguments\n"
    )
    with loaded(program) as module:
        check_boxed(module, program.text)
