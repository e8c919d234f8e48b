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


@pytest.mark.slow
def test_markers_hold_for_each_call(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_suite=SUITE + MARKED)
    result = ran(pytester)
    result.assert_outcomes(passed=4, failed=1)
    result.stdout.fnmatch_lines(["*test_breaks*", "scaled: 1 allocation, where max_allocations=0", "*return u [*] k"])
    wrong = "\n@pytest.mark.tracebuf(max_alocations=0)\ndef test_wrong():\n    pass\n"
    pytester.makepyfile(test_suite=SUITE + wrong)
    ran(pytester).stdout.fnmatch_lines(["*no limit 'max_alocations'; there are max_allocations, *"])


@pytest.mark.slow
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


@pytest.mark.slow
def test_only_the_first_calls_of_a_test_are_compared(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """142,811 calls of a package's tests took nine minutes."""
    many = "\n\ndef test_many():\n    for k in range(9):\n        scaled(np.ones(2), k)\n"
    pytester.makepyfile(test_suite=SUITE + many)
    result = ran(pytester, "--tracebuf-validate", "--tracebuf-validate-calls=2", "-k", "many or scaled")
    result.assert_outcomes(passed=2, deselected=1)
    result.stdout.fnmatch_lines(["tracebuf: calls compared with NumPy on every rung: 3, 7 were not"])
    monkeypatch.setattr(arith.MulF, "instruction", "fadd")
    ran(pytester, "--tracebuf-validate-calls=2", "-k", "many").assert_outcomes(failed=1, deselected=2)
    ran(pytester, "--tracebuf-validate-calls=0").stderr.fnmatch_lines(["*--tracebuf-validate-calls wants 1 or more"])


@pytest.mark.slow
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
                        (("--tracebuf-update-baseline",), "*wants --tracebuf-baseline=FILE"),
                        (("--tracebuf-memory", "test_suite.py"), "*ends in .json*")):  # fmt: skip
        ran(pytester, *wrong).stderr.fnmatch_lines([said])
    assert path.read_text().startswith(SUITE[:20])


def test_what_is_counted_first_warns_in_the_call_itself(pytester: pytest.Pytester) -> None:
    """A warning that is given once was given to the call that the plugin makes before."""
    pytester.makepyfile(test_suite="""
        import numpy as np, pytest, tracebuf

        @tracebuf.bufferize(fallback="numpy")
        def noisy(a):
            return a + 0 * id(a)

        def test_noisy():
            with pytest.warns(tracebuf.TracebufWarning):
                noisy(np.ones(3))
            assert [s.calls for s in noisy.specializations()] == [1]
        """)
    ran(pytester, "--tracebuf-memory", "--tracebuf-validate").assert_outcomes(passed=1)


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


PACKAGE = '''
"""Money over time: rates and payments broadcast, "begin" or "end" of a period, exact numbers too."""
from decimal import Decimal
import numpy as np
from tracebuf import bufferize

_WHEN = {"end": 0, "begin": 1, 0: 0, 1: 1}

def _when_of(when):
    if isinstance(when, np.ndarray):
        return when
    try:
        return _WHEN[when]
    except (KeyError, TypeError):
        return [_WHEN[x] for x in when]

@bufferize(fallback="numpy")
def future(rate, periods, paid, present, when="end"):
    when = _when_of(when)
    rate, periods, paid, present, when = map(np.asarray, [rate, periods, paid, present, when])
    growth = (1 + rate) ** periods
    grown = np.where(rate == 0, periods, (1 + rate * when) * (growth - 1) / np.where(rate == 0, 1, rate))
    return -(present * growth + paid * grown)

@bufferize(fallback="numpy")
def payment(rate, periods, present, future=0, when="end"):
    when = _when_of(when)
    rate, periods, present, future, when = map(np.array, [rate, periods, present, future, when])
    growth = (1 + rate) ** periods
    zero = rate == 0
    safe = np.where(zero, 1, rate)
    factor = np.where(zero, periods, (1 + safe * when) * (growth - 1) / safe)
    return -(future + present * growth) / factor

@bufferize(fallback="numpy")
def present_value(rate, values):
    values = np.asarray(values)
    return (values / (1 + rate) ** np.arange(0, len(values))).sum(axis=0)

@bufferize(fallback="numpy")
def rate_of(periods, paid, present, future, guess=0.1, tolerance=1e-6, rounds=100):
    r, close = guess, False
    k = 0
    while k < rounds and not close:
        growth = (r + 1) ** periods
        g = future + present * growth + paid * (growth - 1) / r
        dg = periods * present * growth / (r + 1) - paid * (growth - 1) / r**2 + periods * paid * growth / (r + 1) / r
        new = r - g / dg
        close = np.all(abs(new - r) < tolerance)
        r = new
        k += 1
    if not close:
        return np.nan + r
    return r

@bufferize(fallback="numpy")
def schedule(rate, periods, present):
    each, left, out = payment(rate, periods, present), present, np.empty((periods, 2))
    for k in range(periods):
        out[k, 0] = left * rate
        left = left + each + out[k, 0]
        out[k, 1] = left
    return out
'''
ITS_TESTS = '''
from decimal import Decimal
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_almost_equal, assert_equal
import money

class TestMoney:
    def test_future(self):
        assert_almost_equal(money.future(0.075, 20, -2000, 0, 0), 86609.362673042924, 10)
        assert_allclose(money.future([0, 0.1], 2, [-1, -2], 0), [2, 4.2])

    def test_when(self):
        for when in (1, "begin", [1], ["begin"], np.array([1])):
            assert_allclose(money.future(0.1, 10, -1, 0, when), 17.53116706, rtol=1e-7)
        with pytest.raises(Exception):
            money.future(0.1, 10, -1, 0, "sometime")

    def test_decimal(self):
        found = money.future(Decimal("0.5"), Decimal(2), Decimal(-8), Decimal(0), 0)
        assert_equal(found, Decimal(20))

    def test_payment(self):
        assert_allclose(money.payment(np.array([[0.0, 0.8], [0.3, 0.8]]), [12, 3], [2000, 20000]),
                        [[-166.66667, -19311.258], [-626.90814, -19311.258]])

    @pytest.mark.parametrize("rate", [0.05, 0.281])
    def test_present_value(self, rate):
        values = [-15000, 1500, 2500, 3500, 4500, 6000]
        assert_almost_equal(money.present_value(rate, values), sum(v / (1 + rate) ** k for k, v in enumerate(values)))
        assert money.present_value(rate, np.ones((3, 3))).shape == (3,)

    def test_rate(self):
        assert_almost_equal(money.rate_of(10, 0, -3500, 10000), 0.1107, 4)
        assert np.isnan(money.rate_of(12.0, 400.0, 10000.0, 5000.0, rounds=3)).all()

    def test_schedule(self):
        out = money.schedule(0.01, 12, 100.0)
        assert out.shape == (12, 2) and abs(out[-1, 1]) < 1e-9
'''


@pytest.mark.slow
def test_a_package_with_a_few_functions_decorated(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the style of a public package of finance and its own tests: they pass on every rung, a fault of compiled code
    is found and named, and the baseline tells of a function that takes more."""
    package = pytester.mkpydir("money")
    (package / "__init__.py").write_text(PACKAGE)
    (package / "tests").mkdir()
    (package / "tests" / "__init__.py").touch()
    (package / "tests" / "test_money.py").write_text(ITS_TESTS)

    def suite(*args: str) -> pytest.RunResult:
        for name in [n for n in sys.modules if n.partition(".")[0] == "money"]:
            del sys.modules[name]
        return ran(pytester, "-W", "ignore", "money", *args)

    result = suite("--tracebuf-validate", "--tracebuf-baseline=base.json", "--tracebuf-update-baseline")
    result.assert_outcomes(passed=8)
    rows = json.loads((pytester.path / "base.json").read_text())["functions"]
    assert set(rows) == {f"money.{n}" for n in ("future", "payment", "present_value", "rate_of", "schedule")}
    assert all(row["in_numpy"] < row["calls"] for row in rows.values())
    suite("--tracebuf-baseline=base.json").assert_outcomes(passed=8)

    with monkeypatch.context() as faulty:
        faulty.setattr(arith.MulF, "instruction", "fadd")
        result = suite("--tracebuf-validate")
    assert result.parseoutcomes()["failed"] >= 3
    result.stdout.fnmatch_lines(["*a call of payment is not what NumPy gives:", "*first different: native"])

    more = PACKAGE.replace("values = np.asarray(values)", "values = np.cumsum(np.array(values), axis=0) * 0 + values")
    (package / "__init__.py").write_text(more)
    result = suite("--tracebuf-baseline=base.json")
    result.assert_outcomes(passed=8)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*more memory than the baseline*", "money.present_value: * allocations, *"])
