"""The notebook of examples, executed: what each cell shows."""

from __future__ import annotations

import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
preprocessors = pytest.importorskip("nbconvert.preprocessors")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).parents[2]
PRE = '<pre style="font-family: monospace">'
NOTEBOOK = ROOT / "examples/displays.ipynb"
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Cells(HTMLParser):
    """The rows of a table."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def outputs() -> dict[str, Any]:
    """By the last line of a cell: its outputs."""
    found = nbformat.read(NOTEBOOK, 4)
    assert not any(c.get("outputs") for c in found.cells), "the notebook is kept without outputs"
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", paths)
        patch.delenv("TRACEBUF_VERIFY", raising=False)
        preprocessors.ExecutePreprocessor(timeout=120).preprocess(found, {"metadata": {"path": str(ROOT)}})
    return {c.source.strip().split("\n")[-1]: c.outputs for c in found.cells if c.cell_type == "code"}


def html(outputs: dict[str, Any], cell: str) -> str:
    (shown,) = outputs[cell]
    return str(shown.data["text/html"])


@pytest.mark.slow
def test_results_are_tables(outputs: dict[str, Any]) -> None:
    rows = Cells(html(outputs, "tracebuf.measure(smooth, u, v, 0.1)")).rows
    assert rows[0] == ["smooth", "eager", "native", "eager/native"] and rows[1] == ["allocations", "6", "1", "6.00"]
    rows = Cells(html(outputs, "smooth.specializations()")).rows
    assert rows[0] == ["program", "guards", "calls", "compiled in"]
    assert rows[1][:2] == ["(float64[n], float64[n], float)", "len(v) - len(u) == 0"]
    rows = Cells(html(outputs, "smooth.lower(u, v, 0.1)")).rows
    assert rows[0] == ["stage", "lines", "arrays", "copies"] and rows[1][0] == "traced" and rows[1][2:] == ["5", "0"]
    rows = Cells(html(outputs, "typed.specializations()")).rows
    assert rows[1][0].startswith("the original function: Cell In[") and rows[1][2] == "1"
    assert html(outputs, "smooth.explain(u, v, 0.1)").startswith(PRE + "smooth: 1 allocation, no copies\nline 11: ")
    assert html(outputs, "smooth.lower(u, v, 0.1).memory()").startswith(PRE + "peak      8*len(u) - 16\n")
    assert html(outputs, "smooth.lower(u, v, 0.1).loops()") == f"{PRE}no loops</pre>"


@pytest.mark.slow
def test_errors_name_the_cell_and_show_no_frame_of_ours(outputs: dict[str, Any]) -> None:
    for cell, reason in (
        ("parts(u)", "a call of memoryview cannot"), ("parts.lower(u)", "a call of memoryview cannot"),
        ("pick(u, 200_000)", "index 200000 is out of"), ("solved(u)", "ArithmeticError: no solution"),
        ("solved(u, u)", "takes 1 positional argument but 2"),
    ):  # fmt: skip
        (error,) = outputs[cell]
        text = COLOURS.sub("", "\n".join(error.traceback))
        assert reason in text and re.search(r"^Cell In\[\d+\], line \d, in \w+", text, re.M), text
        assert "tracebuf/" not in text and "api.py" not in text, text
        assert re.search(r"----> \d     (return|raise) ", text) or cell == "solved(u, u)", "the user's line"
    (warning, _) = outputs["typed(u)"]
    assert "typed runs as it is, in NumPy" in warning.text and "Cell In[" in warning.text
