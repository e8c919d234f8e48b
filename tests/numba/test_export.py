"""Files of programs: they run without tracebuf, assert what they were made for, and are formatted."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

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
    for command in (["check", "--isolated"], ["format", "--isolated", "--check"]):
        done = subprocess.run([ruff, *command, *files], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_what_no_file_can_hold_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["exported_here:captured", "f8[n]"]) == 1
    assert "which is no parameter: pass it" in capsys.readouterr().err
    with pytest.raises(tracebuf.TracebufError):
        text_of(tracebuf.bufferize(lambda pair: pair[0] + pair[1]), ((np.ones(3), 2.0),), {})


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
