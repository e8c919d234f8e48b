"""Random programs up the ladder: a short run that is the same each time, and a longer one."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings

from tests.support.params import slow_but
from tracebuf.testing.fuzz import peaks
from tracebuf.testing.fuzz.driver import Drawn, Report, attempt, drive
from tracebuf.testing.ladder import Mismatch
from tracebuf.testing.minimise import minimise
from tracebuf.testing.programs import Program, generate, loaded, programs


def check(program: Program) -> None:
    report = attempt(program)
    assert report.kind != "failed", f"{report.rung}: {report.what}\n{report.text}"


@pytest.mark.parametrize("seed", slow_but(range(2), range(40)))
def test_programs_climb_the_ladder(seed: int) -> None:
    """Rules C1 to C4 and S2 over the whole language."""
    check(generate(random.Random(seed)))


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
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


def test_a_wrong_program_is_reported() -> None:
    program = "def program(a):\n    print(a)\n"
    text = f"TOLERANCE = 0.0\nDONATED = ()\n{program}def arguments():\n    return (1,)\narguments_again = arguments\n"
    assert attempt(Program(text)).kind in ("refused", "failed")


@pytest.mark.slow
def test_the_driver_counts_programs_of_a_worker(tmp_path) -> None:
    tally = drive(Drawn(seed=7), seconds=15, folder=tmp_path)
    assert tally.counts["ok"] > 0 and not tally.failures, str(tally)
    assert isinstance(tally.counts, dict) and Report("ok").signature == ": differs"


def test_a_peak_above_eagers_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program of the kind `peaks` passes; it fails where native is said to hold one array more."""
    program = peaks.generate(random.Random("peaks"))
    assert attempt(program).kind in ("ok", "refused")
    with loaded(program) as module:
        monkeypatch.setattr(peaks, "peaks", lambda function, args: (320_000, 640_000))
        with pytest.raises(Mismatch, match="peak of eager is 320,000 bytes, of native 640,000"):
            peaks.check_peak(module, program.text)
