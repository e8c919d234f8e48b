"""How results show themselves: the same text in print and at a prompt, tables and texts in notebooks."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import tracebuf


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
    assert repr(found) == str(found)
    texts = Checked(found._repr_html_()).texts
    table = hasattr(found, "rows")
    assert texts == [c for row in found.rows() for c in row if c] if table else "".join(texts) == str(found)


def test_tables_have_a_row_for_each_program_and_count() -> None:
    rows = shown("measure").rows()
    assert [row[0] for row in rows] == [
        "sample", "allocations", "allocated bytes", "peak bytes", "copies", "copied bytes", "CPU time"
    ]  # fmt: skip
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
