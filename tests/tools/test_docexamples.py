"""The docstrings' examples of other libraries, traced: a small module of its own, with one function of each kind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tracebuf.testing.docexamples.__main__ import main, plain

MODULE = '''
import numpy as np

__all__ = ["halves", "again", "parts", "fails", "drawn", "silent", "writes"]

def halves(a):
    """
    >>> halves(np.arange(4.0))
    >>> raise ValueError  # ends this example only
    >>> halves(np.arange(3))
    """
    return {"half": a / 2, "n": len(a)}

def again(a):
    """
    >>> again(np.ones(3))
    """
    return halves(a)["half"] + 1

def parts(a):
    """
    >>> parts(np.ones(3))
    """
    yield a

def fails(a):
    """
    >>> fails(np.ones(3))
    """
    return a.reshape(2, 2)

calls = []

def drawn(a):
    """
    >>> np.random.seed(0)
    >>> drawn(np.ones(3))
    """
    return a + np.random.rand()

def writes(a):
    """
    >>> b = np.ones(3)
    >>> writes(b)
    >>> np.save("left behind.npy", b)
    """
    a[0] = 5.0

def silent(a):
    return a
'''


def test_the_examples_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "tiny_examples.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    code = main(["tiny_examples", "--seconds", "100"])
    said = capsys.readouterr().out
    lines = dict(line.split(": ", 1) for line in said.splitlines() if line.startswith("tiny_examples."))
    kinds = {name.partition(".")[2]: text.split()[0] for name, text in lines.items()}
    assert {k: v for k, v in kinds.items() if k != "drawn"} == {
        "halves": "right", "again": "right", "parts": "refused", "fails": "right", "writes": "right",
    }  # fmt: skip
    assert "(2 calls)" in lines["tiny_examples.halves"]
    assert "tiny_examples.py:" in lines["tiny_examples.parts"]
    assert "1 generators and coroutines cannot be traced" in said
    assert code == (1 if kinds["drawn"] == "wrong" else 0)
    assert os.listdir(tmp_path) == ["tiny_examples.py"] or "left behind.npy" not in os.listdir(tmp_path)
    module = sys.modules["tiny_examples"]
    assert not hasattr(module.halves, "__wrapped__")  # the functions are as they were


def test_names_do_not_part_the_reasons():
    assert plain("the method `a.update` of 'set'\n is unknown") == "the method `...` of `...` is unknown"
