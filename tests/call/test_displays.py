"""What users see at a prompt, in a notebook, in a type checker, and while a first call takes long."""

from __future__ import annotations

import io
import linecache
import logging
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import program
from tracebuf import bufferize
from tracebuf.process import log

ROOT = Path(__file__).parents[2]


def test_results_show_themselves_as_their_tables() -> None:
    f = bufferize(program("def f(a):\n    return (a[1:] < a[:-1]) & (a[1:] > 0)"))
    a = np.ones(10)
    f(a)
    for shown, first in ((f.explain(a), "f: "), (f.specializations(), "compiled for"), (tracebuf.measure(f, a), "f  ")):
        assert repr(shown) == str(shown) and repr(shown).startswith(first)
        html = shown._repr_html_()
        assert html.startswith(f"<pre>{first}") and html.endswith("</pre>") and "<pre>" not in html[5:]
    head, _, first, *_ = repr(f.lower(a)).splitlines()
    assert head.split() == ["stage", "lines", "arrays", "copies"] and first.split()[0] == "traced"
    assert str(f.lower(a)) == f.lower(a).as_text("memref")


def test_errors_in_a_notebook_name_the_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    file, text = "/tmp/ipykernel_1/2.py", "def f(a):\n    print(a)\n    return a\n"
    shell = types.SimpleNamespace(compile=types.SimpleNamespace(_filename_map={file: 7}))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))  # type: ignore[misc]
    monkeypatch.setitem(linecache.cache, file, (len(text), None, text.splitlines(True), file))
    space: dict[str, Any] = {}
    exec(compile(text, file, "exec"), space)
    with pytest.raises(tracebuf.UnsupportedError, match=r"^Cell In\[7\], line 2, in f\n"):
        bufferize(space["f"])(np.ones(3))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))  # type: ignore[misc]
    with pytest.raises(tracebuf.UnsupportedError, match='^File "/tmp/ipykernel_1/2.py", line 2, in f'):
        bufferize(space["f"])(np.ones(3))


def test_a_first_call_that_takes_long_says_so_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(log, "_told", [])
    caplog.set_level(logging.INFO, "tracebuf")
    f = bufferize(program("def f(a):\n    return a + 1"))
    f(np.ones(3))
    assert terminal.getvalue() == "" and "to compile" not in caplog.text
    monkeypatch.setattr(log, "SLOW", 0.0)
    f(np.ones((3, 3)))
    f(np.ones((3, 3, 3)))
    f(np.ones((3, 3, 3)))
    assert terminal.getvalue().count("tracebuf: compiling f took") == 1
    assert caplog.text.count("the first call of f for such arguments took") == 2


TYPED = """
import numpy as np
from tracebuf import bufferize

@bufferize
def f(a: np.ndarray, n: int = 2) -> float:
    return float(a.sum() * n)

@bufferize(fallback="numpy")
def g(a: np.ndarray) -> np.ndarray:
    return a

reveal_type(f(np.ones(3)))
reveal_type(g(np.ones(3)).shape)
reveal_type(g(np.ones(3), out=np.ones(3)))
reveal_type(f.specializations())
f("x")
f(np.ones(3), m=1)
"""


@pytest.mark.slow
def test_type_checkers_see_the_functions_own_signature(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "typed.py").write_text(TYPED)
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--config-file=", str(tmp_path / "typed.py")]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300).stdout
    notes = [line.partition("Revealed type is ")[2] for line in found.splitlines() if "Revealed" in line]
    assert notes[0].endswith('float"') and "tuple" in notes[1], found
    assert notes[2:] == ['"Any"', '"tracebuf.api.Specializations"'] and found.count("error:") == 2, found
