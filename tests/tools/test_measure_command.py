"""`python -m tracebuf measure`: arguments from words, files and factories; limits; JSON."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracebuf
from tracebuf.commands.measure import main, steps_of
from tracebuf.process import progress

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """
import numpy as np
from tracebuf import bufferize

def twice(a, b=0.0, scale=1.0):
    if (a < 0).any() or (a > 1).any():
        raise ValueError("numbers")
    return a * scale + b

@bufferize
def shifted(a):
    a[1:] = a[:-1] * 2.0
    return a + 1.0

def needs(a, items, n, k=None):
    assert len(items) == 2 and items["x"].dtype == np.float32 and items["y"] == (1, "t") and n.dtype == np.int64
    assert (n == 1).all() and (k is None or k.dtype == bool)
    return a + 1

def wrong():
    return 3

def given():
    return np.ones(100), 2.0

def by_name():
    return {"a": np.ones(100), "scale": 3.0}

CONSTANT = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "measured_module.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "measured_module", raising=False)
    return "measured_module"


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any], str]:
    code = main([*argv, "--json", "--repeat", "1"])
    shown = capsys.readouterr()
    return code, json.loads(shown.out) if shown.out else {}, shown.err


@pytest.mark.slow
def test_arguments_come_from_words_files_and_factories(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("state.npz", np.zeros(100), b=np.zeros(100))
    np.savez("named.npz", a=np.zeros(100))
    np.save("one.npy", np.zeros(100))
    for words in (
        ["f8[100]"], ["f8[100]", "b=0.5"], ["scale=2.0", "a=f8[100]"], ["--args", "a=f8[100]", "scale=2.0"],
        ["--args", "a=f8[100],scale=2.0, b=f8[100]"],
        ["--npz", "state.npz"], ["--npz", "named.npz", "scale=2.0"], ["--npz", "one.npy", "2.0"],
        ["--factory", f"{module}:given"], ["--factory", f"{module}:by_name", "b=f8[100]"],
    ):  # fmt: skip
        code, found, error = run(capsys, f"{module}:twice", *words)
        assert (code, error, found["name"], found["native"], found["broken"]) == (0, "", "twice", None, [])
        assert found["eager"]["peak_bytes"] >= 1600
        assert {x["text"] for x in found["lines"]} >= {"return a * scale + b"}
    words = ["f8[5] (F, read-only)", "{'x': f4[3], 'y': (1, 't')}", "i8[2, 2]", "k=bool[3]"]
    assert run(capsys, f"{module}:needs", *words)[0] == 0
    assert run(capsys, "numpy:sqrt", "f8[100]")[1]["eager"]["allocated_bytes"] == 800


@pytest.mark.slow
def test_limits_decide_the_exit_status(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    kept = ["--max-allocations", "2", "--max-copies", "1", "--max-bytes", "16KiB", "--max-peak", "16000"]
    code, found, error = run(capsys, f"{module}:shifted", "f8[1000]", *kept)
    assert (code, error, found["broken"]) == (0, "", []) and found["native"]["allocations"] <= 2
    assert found["limits"] == {"max_allocations": 2, "max_copies": 1, "max_bytes": 16384, "max_peak": 16000}
    code, found, error = run(capsys, f"{module}:shifted", "f8[1000]", "--max-allocations", "0", "--max-peak", "1KiB")
    assert code == 1 and len(found["broken"]) == 2 and "of the program, where --max-allocations 0" in error
    code, found, error = run(capsys, f"{module}:twice", "f8[1000]", "--max-copies", "9", "--max-bytes", "1")
    assert code == 1 and "--max-copies 9 cannot be checked" in error and "allocated bytes of NumPy" in error
    code, found, _ = run(capsys, f"{module}:shifted", "f8[1000]", "--strategies", "copy-before-write")
    assert code == 0 and list(found["strategies"]) == ["copy-before-write"]


def test_what_says_nothing_is_refused(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("objects.npz", a=np.array([None]))
    for argv, text in (
        (["twice"], "MODULE:FUNCTION"), ([f"{module}:no"], "there is no"), (["no_such_module:f"], "no_such_module"),
        ([f"{module}:CONSTANT"], "cannot be called"), ([f"{module}:twice", "f8[n]"], "in the place of n"),
        ([f"{module}:twice", "f8["], "f8["), ([f"{module}:twice", "--npz", "missing.npz"], "missing.npz"),
        ([f"{module}:twice", "--npz", "objects.npz"], "cannot be read"),
        ([f"{module}:twice", "--factory", f"{module}:wrong"], "returns int, not"),
        ([f"{module}:twice", "--factory", f"{module}:by_name", "a=3"], "given twice"),
        ([f"{module}:twice", "f8[3]", "--strategies", "all"], "bufferized"),
        ([f"{module}:shifted", "f8[3]", "--strategies", "best"], "best"),
    ):  # fmt: skip
        code, found, error = run(capsys, *argv)
        assert (code, found) == (2, {}) and text in error, (argv, error)
    for words in (["--max-peak", "much"], ["--max-allocations", "-1"], ["--repeat", "0"]):
        with pytest.raises(SystemExit, match="2"):
            main([f"{module}:twice", "f8[3]", *words])
        assert "no number" in capsys.readouterr().err
    np.savez("large.npz", np.full(3, 9.0))
    assert main([f"{module}:twice", "--npz", "large.npz"]) == 1
    assert "ValueError: numbers" in capsys.readouterr().err


@pytest.mark.slow
def test_the_command(module: str) -> None:
    command = [sys.executable, "-m", "tracebuf", "measure", f"{module}:twice", "f8[100]", "--max-peak", "100"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert ran.returncode == 1 and "return a * scale + b" in ran.stdout
    assert "peak bytes of NumPy, where --max-peak 100" in ran.stderr


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("with_tqdm", [False, True])
@pytest.mark.parametrize("bufferized", [False, True])
@pytest.mark.cases(4)
def test_progress_is_shown_on_a_terminal(with_tqdm: bool, bufferized: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many steps as were told of before, and nothing stays; anywhere else nothing is written."""
    seen: list[tuple[int, int | None]] = []
    if with_tqdm:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm", None)

    class Watched(progress.Bar):
        def close(self) -> None:
            seen.append((self.done, self.steps))
            super().close()

    def double(u: Any) -> Any:
        return u * 2

    f = tracebuf.bufferize(double) if bufferized else double
    monkeypatch.setattr(progress, "Bar", Watched)
    out, pipe = Terminal(), io.StringIO()
    for file in (out, pipe):
        with progress.shown("measure", steps_of(f, 2, 0), file):
            tracebuf.measure(f, np.ones(9), repeat=2)
    assert pipe.getvalue() == "" and len(seen) == 1 and seen[0][0] == seen[0][1]
    text = out.getvalue()
    assert "measure" in text and text.rpartition("\r")[2].strip() == ""
    assert with_tqdm or f"{seen[0][0]}/{seen[0][1]} buffers" in text


@pytest.mark.slow
def test_what_raises_what_prints_and_what_does_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd_ones.py").write_text(
        "print('imported')\nimport tracebuf\n\n\nclass A:\n    def m(self, x):\n        return x\n\n\n"
        "@tracebuf.bufferize\ndef scaled(u, by=2):\n    return u * by\n\n\n"
        "def bad(x):\n    print('called')\n    raise RuntimeError('boom')\n\n\ndef loud(x):\n    print('called')\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    assert main(["odd_ones:bad", "f8[10]"]) == 1
    said = capsys.readouterr().err.splitlines()
    assert [line.strip() for line in said if "File" in line] == [f'File "{tmp_path}/odd_ones.py", line 17, in bad']
    assert said[-2:] == ["RuntimeError: boom", "error: odd_ones:bad: the function raises RuntimeError"]
    for words, why in (
        (["odd_ones:A.m", "f8[3]"], "missing a required argument: 'x' (its parameters: (self, x))"),
        (["odd_ones:scaled"], "missing a required argument: 'u' (its parameters: (u, by=2))"),
        (["odd_ones:scaled", "f8[3]", "of=3"], "got an unexpected keyword argument 'of'"),
        (["odd_ones:loud", "mean"], "a string has quotes of its own: \"'mean'\""),
    ):
        assert main(words) == 2
        assert why in capsys.readouterr().err
    assert main(["odd_ones:loud", "'mean'", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["name"] == "loud" and printed.err.startswith("called")
