"""The pytest plugin, in small suites: contracts by marker, comparison with NumPy, the table, the baseline."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from tracebuf.ops.scalars import arith

pytest_plugins = "pytester"

INSTALLED = any(e.value == "pytest_tracebuf" for e in entry_points(group="pytest11"))
PLUGIN = () if INSTALLED else ("-p", "pytest_tracebuf")

SUITE = """
import numpy as np, pytest
from tracebuf import bufferize

@bufferize
def scaled(u, k):
    return u * k

@bufferize
def relax(u):
    u[1:-1] = (u[:-2] + u[2:]) / 2

def test_scaled():
    assert scaled(np.ones(4), 3.0).shape == (4,)

def test_relax():
    u = np.arange(5.0)
    for _ in range(3):
        relax(u)
    assert u.tolist() == list(range(5))
"""
MARKED = """
@pytest.mark.tracebuf(max_allocations=1, max_copies=0)
def test_keeps():
    scaled(np.ones(4), 2.0)

@pytest.mark.tracebuf(max_allocations=0)
def test_breaks():
    scaled(np.ones(4), 2.0)

@pytest.mark.tracebuf(validate=True)
def test_beside_numpy():
    scaled(np.ones(4), 2.0)
"""


def ran(pytester: pytest.Pytester, *args: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess(*PLUGIN, "-p", "no:randomly", "-p", "no:cacheprovider", *args)


def test_markers_hold_for_each_call(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_suite=SUITE + MARKED)
    result = ran(pytester)
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(["*test_breaks*", "scaled: 1 allocation, where max_allocations=0", "*return u [*] k"])
    wrong = "\n@pytest.mark.tracebuf(max_alocations=0)\ndef test_wrong():\n    pass\n"
    pytester.makepyfile(test_suite=SUITE + wrong)
    ran(pytester).stdout.fnmatch_lines(["*no limit 'max_alocations'; there are max_allocations, *"])


def test_each_call_runs_beside_numpy(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makepyfile(test_suite=SUITE + MARKED)
    result = ran(pytester, "--tracebuf-validate", "-k", "not breaks")
    result.assert_outcomes(passed=4, deselected=1)
    result.stdout.fnmatch_lines(["tracebuf: calls compared with NumPy on every rung: 6"])
    monkeypatch.setattr(arith.MulF, "instruction", "fadd")
    result = ran(pytester, "--tracebuf-validate", "-k", "scaled or relax")
    result.assert_outcomes(passed=1, failed=1, deselected=3)
    said = ["a call of scaled is not what NumPy gives:", "first different: native", "*return u [*] k"]
    result.stdout.fnmatch_lines(said)


def test_the_table_and_the_baseline(pytester: pytest.Pytester) -> None:
    path = pytester.makepyfile(test_suite=SUITE)
    writes = "--tracebuf-baseline=base.json", "--tracebuf-update-baseline"
    result = ran(pytester, "--tracebuf-memory=memory.json", *writes)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["function*calls*allocations*", "test_suite.scaled*1*0*1*0*32 B*32 B"])
    found = json.loads((pytester.path / "memory.json").read_text())["functions"]
    assert found["test_suite.relax"]["calls"] == 3 and found["test_suite.scaled"]["allocations"] == 1
    assert ran(pytester, "--tracebuf-baseline=base.json").ret == 0
    path.write_text(SUITE.replace("return u * k", "return (u * k)[::-1].copy() + np.sort(u)"))
    for name in ("test_suite", "tracebuf-session"):
        sys.modules.pop(name, None)
    result = ran(pytester, "--tracebuf-baseline=base.json")
    assert result.ret == 1
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*more memory than the baseline*", "test_suite.scaled: * allocations, * more than 1"])
    result = ran(pytester, *writes, "-k", "nothing")
    result.stdout.fnmatch_lines(["base.json was not written: the run did not pass"])
    for wrong, said in ((("--tracebuf-baseline=no.json",), "*write it with --tracebuf-update-baseline"),
                        (("--tracebuf-update-baseline",), "*wants --tracebuf-baseline=FILE")):  # fmt: skip
        ran(pytester, *wrong).stderr.fnmatch_lines([said])


@pytest.mark.slow
def test_workers_of_xdist_are_put_together(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(test_suite=SUITE)
    result = pytester.runpytest_subprocess(*PLUGIN, "-n", "2", "--tracebuf-memory")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["test_suite.scaled*1*0*1*0*", "test_suite.relax*3*0*1*0*24 B*"])


@pytest.mark.slow
def test_a_run_without_options_imports_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one():\n    pass\n")
    code = f"import pytest, sys; pytest.main([*{PLUGIN!r}, '-q']); print('tracebuf' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=pytester.path, capture_output=True, text=True)
    assert done.stdout.endswith("False\n"), done.stdout + done.stderr
