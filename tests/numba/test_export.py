"""Files of programs: they run without tracebuf, assert what they were made for, and are formatted."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tracebuf.commands.export import main, text_of

SOURCE = '''
import numpy as np
from tracebuf import bufferize

LIMIT = [1.0]


@bufferize
def step(u, v, dt=0.1):
    """One step."""
    inner = u[1:-1]
    v[1:-1] += dt * inner
    inner[:] = (u[:-2] + u[2:]) / 2 + v[1:-1]
    v[1:] = v[:-1]
    return inner


@bufferize
def stats(a, n):
    s = 0.0
    for i in range(n):
        if a[i, 0] > 0:
            s += a[i].sum() * i
    return {"mean": a.mean(axis=0), "sorted": np.sort(a[:, 0]), "s": s}, n + 1, a.max(), (a > 0).any(), a[:]


@bufferize
def solve(a, b):
    if b[0] == 0:
        raise ValueError("zero")
    return np.linalg.solve(a, b) @ a


@bufferize
def captured(a):
    LIMIT.append(a.sum())
    return a
'''
CALLS = {
    "step": (["f8[n]", "f8[n]", "dt=float"], (np.arange(9.0), np.ones(9), 0.5)),
    "stats": (["f8[n, m]", "int"], (np.arange(12.0).reshape(3, 4) - 2, 3)),
    "solve": (["f8[n, n]", "f8[n]"], (np.eye(3) * 2 + 1, np.arange(3.0) + 1)),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "exported_here.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", CALLS)
def test_a_file_does_what_the_function_does(name: str, here: Path) -> None:
    import exported_here

    words, args = CALLS[name]
    assert main([f"exported_here:{name}", *words, "-o", f"{name}.py"]) == 0
    text = (here / f"{name}.py").read_text()
    assert "import tracebuf" not in text
    space: dict[str, Any] = {}
    exec(compile(text, f"{name}.py", "exec"), space)
    eager = getattr(exported_here, name).__wrapped__
    given, mine = ([np.copy(a) if isinstance(a, np.ndarray) else a for a in args] for _ in range(2))
    want, got = eager(*given), space[name](*mine)
    np.testing.assert_equal(got, want)
    np.testing.assert_equal(mine, given)
    if name == "stats":
        assert [type(x) for x in got] == [type(x) for x in want] and got[-1].base is mine[0]
    with pytest.raises(AssertionError):
        space[name](args[0].astype(np.float32), *args[1:])
    if name == "solve":
        with pytest.raises(ValueError, match="zero"):
            space[name](args[0], np.zeros(3))


@pytest.mark.slow
def test_a_file_for_numba_has_the_same_results(here: Path) -> None:
    pytest.importorskip("numba")
    words, args = CALLS["step"]
    made = []
    for flags in ([], ["--njit"]):
        assert main(["exported_here:step", *words, *flags, "-o", "either.py"]) == 0
        space: dict[str, Any] = {}
        exec((here / "either.py").read_text(), space)
        given = [np.copy(a) if isinstance(a, np.ndarray) else a for a in args]
        made.append([space["step"](*given), *given])
    assert "@njit" in (here / "either.py").read_text()
    for x, y in zip(*made):
        np.testing.assert_array_equal(x, y)


@pytest.mark.skipif(shutil.which("ruff", path=str(Path(sys.executable).parent)) is None, reason="ruff is not there")
def test_files_are_formatted(here: Path) -> None:
    ruff = str(Path(sys.executable).parent / "ruff")
    for name, (words, _) in CALLS.items():
        main([f"exported_here:{name}", *words, "-o", f"made_{name}.py"])
    files = [f"made_{name}.py" for name in CALLS]
    style = ["check", "--isolated", "--select=E,F,W,I,UP,B,SIM", "--line-length=120"]
    wide = ["format", "--isolated", "--check", "--line-length=120"]
    for command in (["check", "--isolated"], style, ["format", "--isolated", "--check"], wide):
        done = subprocess.run([ruff, *command, *files], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_a_function_need_not_be_bufferized(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "plain_here.py").write_text("def twice(a):\n    return 2 * a\n\n\nLIMIT = 3\n")
    assert main(["plain_here:twice", "f8[n]", "-o", "twice.py"]) == 0
    space: dict[str, Any] = {}
    exec((here / "twice.py").read_text(), space)
    assert space["twice"](np.arange(3.0)).tolist() == [0, 2, 4]
    assert main(["plain_here:LIMIT", "f8[n]"]) == 1
    assert "it is no function" in capsys.readouterr().err


def test_what_no_file_can_hold_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exported_here:captured", "f8[n]"]) == 1
    assert "which is no parameter: pass it" in capsys.readouterr().err
    with pytest.raises(tracebuf.TracebufError, match="what a list, dict or object of the caller's holds"):
        text_of(tracebuf.bufferize(rebinds), ({"w": np.ones(3)},), {})
    with pytest.raises(tracebuf.TracebufError, match="which no file can make: return a tuple"):
        text_of(tracebuf.bufferize(lambda a: Pair(a, 2 * a)), (np.ones(3),), {})
    with pytest.raises(tracebuf.TracebufError, match="it stores to `COUNTS`"):
        text_of(tracebuf.bufferize(counted), (np.ones(3),), {})


class Pair(NamedTuple):
    a: np.ndarray
    b: np.ndarray


@dataclass
class Body:
    x: np.ndarray
    mass: float

    def moved(self, by: float) -> np.ndarray:
        return self.x + by / self.mass


WEIGHTS = np.array([[1.0, np.inf, 0.5], [2.0, -1.0, 3.0]]).T
COUNTS = np.zeros(3)


def rebinds(params: dict[str, np.ndarray]) -> None:
    params["w"] = params["w"] * 2


def counted(a: np.ndarray) -> np.ndarray:
    COUNTS[0] += 1
    return a + COUNTS


def trained(params: dict[str, np.ndarray], rates: list[float], state: Any) -> Any:
    params["w"] -= rates[1] * params["b"]
    return params, [2.0 * state[0], state[1]["t"] + 1]


def weighted(a: np.ndarray, pair: Pair) -> Any:
    return a @ WEIGHTS + pair.b, [int(x) for x in a if x > 0], [x for x in a if x > 1]


def pushed(body: Body, by: float) -> Any:
    body.x *= 2
    return body.moved(by)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (trained, lambda: ({"w": np.ones(4), "b": np.arange(4.0)}, [0.1, 0.5], (np.arange(3.0), {"t": 7}))),
        (weighted, lambda: (np.arange(3.0), Pair(np.ones(4), np.ones(2)))),
        (pushed, lambda: (Body(np.arange(3.0), 2.0), 0.5)),
    ],
)
def test_parts_of_arguments_and_captured_arrays(function: Any, arguments: Any) -> None:
    """A file takes lists, dicts, tuples and objects apart, and holds the arrays that a function captures."""
    text, space = text_of(tracebuf.bufferize(function), arguments(), {}), dict[str, Any]()
    exec(text, space)
    mine, given = arguments(), arguments()
    got, want = space[function.__name__](*mine), function(*given)
    np.testing.assert_equal(got, want)
    for x, y in zip(mine, given):
        np.testing.assert_equal(vars(x) if isinstance(x, Body) else x, vars(y) if isinstance(y, Body) else y)
    with pytest.raises((AssertionError, AttributeError, TypeError)):
        space[function.__name__](*reversed(arguments()))


@pytest.mark.slow
def test_a_file_allocates_no_more_than_eager() -> None:
    """A product or a call of NumPy's is the variable itself; what is not used any more is deleted, with its views."""

    def f(a: np.ndarray, n: int) -> Any:
        for _ in range(n):
            q, r = np.linalg.qr(a)
            a = r @ q + np.median(a, axis=0)
        return a

    args = np.random.default_rng(0).random((6, 6)), 5
    space = dict[str, Any]()
    exec(text_of(tracebuf.bufferize(f), args, {}), space)
    np.testing.assert_array_equal(space["f"](*args), f(*args))
    file, eager = (tracebuf.measure(x, *args, repeat=1).eager for x in (space["f"], f))
    assert file.peak_bytes <= eager.peak_bytes + 64, (file, eager)


def test_loops_end_where_the_users_do() -> None:
    def f(a: np.ndarray, limit: float) -> int:
        for i in range(len(a)):
            if a[i] > limit:
                break
        else:
            return -1
        return i

    space = dict[str, Any]()
    exec(text := text_of(tracebuf.bufferize(f), (np.arange(5.0), 2.5), {}), space)
    assert "if a[i] > limit:" in text and "break" in text, text
    assert space["f"](np.arange(5.0), 2.5) == 3 and space["f"](np.arange(5.0), 7.0) == -1


def test_reads_stay_before_frees_and_stores() -> None:
    """A number that a later line uses is read where it was, not where it is used."""

    def f(m: np.ndarray, flag: np.ndarray) -> Any:
        x = 1.0
        for _ in range(2):
            x = np.linalg.det(m) * 1e-3
        first = m[0, 0]
        m[0, 0] = 5.0
        return m * first, x, (flag[0] != flag[1]) * first

    flag = np.array([True, False])
    agree(f, np.eye(3) * 3, flag)
    space: dict[str, Any] = {}
    exec(text_of(tracebuf.bufferize(f), (np.eye(3) * 3, flag), {}), space)
    np.testing.assert_equal(space["f"](np.eye(3) * 3, flag), f(np.eye(3) * 3, flag))


def test_a_result_of_two_kinds_is_broken_into_lines() -> None:
    """What is chosen between long tuples stays what it is, and is no tuple of one."""

    def f(numbers_to_search: np.ndarray, the_threshold: float) -> Any:
        for index in range(len(numbers_to_search)):
            if numbers_to_search[index] > the_threshold:
                return index, numbers_to_search[index], numbers_to_search[index] - the_threshold, the_threshold
        return None

    x, space = np.arange(5.0), dict[str, Any]()
    text = text_of(tracebuf.bufferize(f), (x, 2.5), {})
    exec(text, space)
    assert space["f"](x, 2.5) == f(x, 2.5) and space["f"](x, 9.5) is None
