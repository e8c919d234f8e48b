"""What users see at a prompt, in a notebook, in a type checker, and while a first call takes long."""

from __future__ import annotations

import functools
import io
import linecache
import logging
import shutil
import subprocess
import sys
import traceback
import types
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import program
from tracebuf import bufferize
from tracebuf.process import log

ROOT = Path(__file__).parents[2]


class Checked(HTMLParser):
    """The texts of well-formed HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@tracebuf.bufferize
def sample(a, b):
    c = a * 2 + b
    a[1:] = a[:-1] + c[1:]
    for k in range(len(a)):
        b[k] = b[k] + (a[k] if a[k] < 3 else 0)
    return c.sum()


def shown(what: str) -> Any:
    a, b = np.ones(20), np.zeros(20)
    sample(a, b)
    return {
        "measure": lambda: tracebuf.measure(sample, a, b), "explain": lambda: sample.explain(a, b),
        "specializations": sample.specializations, "lower": lambda: sample.lower(a, b),
        "loops": lambda: sample.lower(a, b).loops(), "memory": lambda: sample.lower(a, b).memory(),
        "program": lambda: sample.specializations()[0],
    }[what]()  # fmt: skip


@pytest.mark.parametrize("what", ["measure", "explain", "specializations", "lower", "loops", "memory", "program"])
def test_what_a_function_tells_is_shown_as_it_prints(what: str) -> None:
    found = shown(what)
    assert repr(found) == str(found) or what == "lower"
    texts = Checked(found._repr_html_()).texts
    lines = (*found.line_rows(all=False), found.notes(all=False)) if what == "measure" else ()
    rows = [*found.rows(), *lines] if hasattr(found, "rows") else None
    assert texts == [c for row in rows for c in row if c] if rows is not None else "".join(texts) == str(found)


def test_tables_have_a_row_for_each_program_and_count() -> None:
    rows = shown("measure").rows()
    assert [row[0] for row in rows] == [
        "sample", "allocations", "allocated bytes", "peak bytes", "copies", "copied bytes", "CPU time"
    ]  # fmt: skip
    lowered = shown("lower")
    assert lowered.rows()[0] == ("stage", "lines", "arrays", "copies") and lowered.rows()[1][0] == "traced"
    assert repr(lowered).split("\n")[2].split() == list(lowered.rows()[1])
    assert str(lowered) == lowered.as_text("memref")
    head, *programs = shown("specializations").rows()
    assert head == ("program", "guards", "calls", "compiled in")
    assert programs[0][:2] == ("(float64[n], float64[n])", "len(a) - len(b) == 0")


def test_functions_are_measured_as_they_run_after_a_while() -> None:
    """A measurement counted the first calls, which go through Python, where machine code takes all later ones."""
    f = tracebuf.bufferize(lambda a: a + 1)
    tracebuf.measure(f, np.ones(10))
    (program,) = f.specializations()
    before = program.by_python
    for _ in range(10):
        f(np.ones(10))
    assert program.by_python == before


def test_errors_in_a_notebook_name_the_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    file, text = "/tmp/ipykernel_1/2.py", "def f(a):\n    open(a)\n    return a\n"
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


def test_open_of_a_notebook_is_refused_where_it_is_called() -> None:
    """IPython has an `open` of its own: errors named a line of its file."""

    @functools.wraps(open)
    def guarded(file: Any, *args: Any, **kwargs: Any) -> Any:
        if file in {0, 1, 2}:
            raise ValueError(file)
        return open(file, *args, **kwargs)

    for name in ("x", "a"):
        f = program(f"def f(a):\n    return {'open(a)' if name == 'a' else 'open(chr(120))'}", open=guarded)
        text = r"(?s)line 2, in f.*a call of open cannot.*reads or writes"
        with pytest.raises(tracebuf.UnsupportedError, match=text):
            bufferize(f)(np.ones(3))


def test_an_option_that_names_no_parameter_shows_the_users_line() -> None:
    f = program("def f(a):\n    return a")
    with pytest.raises(ValueError, match="donate names 'zz'") as found:
        bufferize(donate="zz")(f)
    shown = traceback.extract_tb(found.value.__traceback__)
    assert shown[-1].filename == f.__code__.co_filename and shown[-1].lineno == 1
    assert not any(x.filename.endswith("static.py") for x in shown)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Notebook(io.StringIO):
    """As the class of ipykernel's streams, by its module."""


Notebook.__module__ = "ipykernel.iostream"


@pytest.mark.parametrize("kind", [Terminal, Notebook])
def test_a_first_call_that_takes_long_says_so_once(
    kind: type[io.StringIO], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    terminal = kind()
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

class C:
    @bufferize
    def m(self, a: np.ndarray) -> float:
        return float(a.sum())

    @bufferize(tier="fast")
    def k(self, a: np.ndarray, n: int = 2) -> tuple[int, str]:
        return n, "x"

reveal_type(f(np.ones(3)))
reveal_type(g(np.ones(3)).shape)
reveal_type(g(np.ones(3), out=np.ones(3)))
reveal_type(f.specializations())
reveal_type(C().m(np.ones(3)))
reveal_type(C().k(np.ones(3), n=1))
reveal_type(C.m(C(), np.ones(3)))
f("x")
f(np.ones(3), m=1)
C().m("x")
C().k(np.ones(3), m=1)
"""


@pytest.mark.slow
def test_type_checkers_see_the_functions_own_signature(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "typed.py").write_text(TYPED)
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--config-file=", str(tmp_path / "typed.py")]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300).stdout
    notes = [line.partition("Revealed type is ")[2] for line in found.splitlines() if "Revealed" in line]
    assert notes[0].endswith('float"') and "tuple" in notes[1], found
    assert notes[2:4] == ['"Any"', '"tracebuf.api.Specializations"'] and found.count("error:") == 4, found
    methods = [note.replace("builtins.", "") for note in notes[4:]]
    assert methods == ['"float"', '"tuple[int, str]"', '"float"'], found
    if shutil.which("pyright"):
        found = subprocess.run(["pyright", str(tmp_path / "typed.py")], cwd=ROOT, capture_output=True, text=True).stdout
        types = [line.rpartition(" is ")[2] for line in found.splitlines() if "Type of" in line]
        assert [types[k] for k in (0, 4, 5, 6)] == ['"float"', '"float"', '"tuple[int, str]"', '"float"'], found
