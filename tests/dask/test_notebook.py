"""The notebook of chunks, executed: what each cell shows."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
preprocessors = pytest.importorskip("nbconvert.preprocessors")
pytest.importorskip("ipykernel")
pytest.importorskip("dask.array")

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples/chunks.ipynb"
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.slow
def test_the_notebook_of_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    found = nbformat.read(NOTEBOOK, 4)
    assert not any(c.get("outputs") for c in found.cells), "the notebook is kept without outputs"
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))))
    monkeypatch.delenv("TRACEBUF_VERIFY", raising=False)
    preprocessors.ExecutePreprocessor(timeout=120).preprocess(found, {"metadata": {"path": str(ROOT)}})
    shown = [c.outputs for c in found.cells if c.cell_type == "code"]
    texts = [" ".join(map(text, outputs)) for outputs in shown]
    assert "halo (steps, steps)" in texts[1]
    assert texts[2] == "{'u': (1024, 2048), 'v': (1024, 2048)}"
    assert "dask.array<" in texts[3] and "chunksize=(400, 400)" in texts[3]
    assert texts[4] == "True"
    assert "running cannot be cut along any axis" in texts[5] and "In[" in texts[5]


def text(output: Any) -> str:
    if output.output_type == "error":
        return COLOURS.sub("", "\n".join(output.traceback))
    return str(output.text if output.output_type == "stream" else output.data["text/plain"])
