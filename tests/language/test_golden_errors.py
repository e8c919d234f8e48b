"""Golden errors (rules F2, F3, X1): each file in golden_errors is one kind of refusal, as a page of a manual.

It holds a program, the whole message that the user reads, and what he writes instead. The message is compared to the
letter, and the rewrite must do, compiled, what the program does in eager NumPy (rule C1).

    python -m tests.language.test_golden_errors --write    writes the messages anew
"""

from __future__ import annotations

import contextlib
import io
import linecache
import random
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import outcome, same, same_memory
from tests.support.params import one_in
from tracebuf import DonationError, UnsupportedError, bufferize
from tracebuf.frontends.numpy.record import refusals
from tracebuf.process.error_pages import PAGES

FOLDER = Path(__file__).parent / "golden_errors"
ROOT = Path(__file__).parents[2]
FILES = sorted(FOLDER.glob("*.txt"))
SECTIONS = ("program", "call", "message", "rewrite")


@dataclass(frozen=True)
class Golden:
    """A page: `program` defines f (bufferized), `call` is an expression that calls it, `rewrite` defines f anew."""

    name: str
    program: str
    call: str
    message: str
    rewrite: str


def read(path: Path) -> Golden:
    parts = re.split(r"^=== (\w+)\n", path.read_text(), flags=re.M)
    found = dict(zip(parts[1::2], (text.strip("\n") for text in parts[2::2])))
    assert tuple(found) == SECTIONS, f"{path.name} has the sections {tuple(found)}, not {SECTIONS}"
    return Golden(path.stem, **found)


def text_of(golden: Golden) -> str:
    return "\n\n".join(f"=== {name}\n{getattr(golden, name)}" for name in SECTIONS) + "\n"


def run(source: str, file: str, call: str, decorator: Any) -> tuple[Any, list[Any]]:
    """What the call gives, and the arguments that f was called with."""
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space: dict[str, Any] = {"__name__": "example", "np": np, "bufferize": decorator}
    exec(compile(source, file, "exec"), space)
    f, given = space["f"], []

    def recording(*args: Any, **kwargs: Any) -> Any:
        given.extend([*args, *kwargs.values()])
        return f(*args, **kwargs)

    return eval(call, {**space, "f": recording}), given


def eagerly(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """In the place of `bufferize`: the function as it is."""
    return function if function is not None else lambda f: f


def message_of(golden: Golden) -> str:
    """What the program is refused with."""
    try:
        result, _ = run(golden.program + "\n", f"{golden.name}.py", golden.call, bufferize)
    except (UnsupportedError, DonationError) as error:
        return str(error)
    raise AssertionError(f"{golden.name} is not refused: gave {result!r}")


def complete(golden: Golden, source: str, decorator: Any) -> tuple[Any, list[Any], str, Exception | None]:
    """Result, arguments after the call, what was printed, and the exception; random numbers are the same each time."""
    random.seed(1)
    np.random.seed(1)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        done, error = outcome(run, (source + "\n", f"{golden.name}_instead.py", golden.call, decorator), {})
    return *(done or (None, [])), printed.getvalue(), error


@pytest.mark.parametrize("path", one_in(6, FILES), ids=lambda p: p.stem)
def test_a_refusal_says_where_and_why_and_what_to_write(path: Path) -> None:
    golden = read(path)
    assert message_of(golden) == golden.message
    assert "\nInstead: " in golden.message


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_c1_the_rewrite_does_what_the_program_does(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a program that writes a file does so in eager NumPy
    golden = read(path)
    assert "bufferize" in golden.rewrite
    want, before, said, expected = complete(golden, golden.program, eagerly)
    got, after, printed, raised = complete(golden, golden.rewrite, bufferize)
    assert (type(raised), printed) == (type(expected), said) and str(raised) == str(expected), raised
    if expected is None:
        same(got, want, 0, "result")
        same(after, before, 0, "arguments")
        same_memory(after, got, before, want)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_refusal_names_its_page(path: Path) -> None:
    """Where several pages have one reason, it is that of one of them."""
    *message, last = read(path).message.splitlines()
    page = ROOT / last.removeprefix("See ")
    assert last.startswith("See docs/errors/") and page.exists()
    assert path.stem in PAGES or read(page).message.splitlines()[-3:-2] == message[-2:-1]
    assert page.stem == path.stem or path.stem not in PAGES


def test_every_page_is_there() -> None:
    assert set(PAGES) <= {path.stem for path in FILES} and set(PAGES) <= {p.stem for p in ROOT.glob("docs/errors/*")}


def test_an_error_has_its_page() -> None:
    def f(a: Any) -> Any:
        with open("x"):
            return a

    def g(a: Any) -> Any:
        return a, a * a[0] + a.sum()

    with pytest.raises(UnsupportedError) as refused:
        bufferize(f)(np.ones(3))
    assert refused.value.url in str(refused.value) and (ROOT / refused.value.url).exists()
    with pytest.raises(DonationError) as donated:
        bufferize(g, donate="a")(np.ones(3))
    assert donated.value.url == "docs/errors/donate.txt"
    assert UnsupportedError("not a reason that has a page").url == ""


def advice() -> list[str]:
    """Every text of the tables of rewrites."""
    kinds = [*refusals.STATEMENTS.values(), *refusals.EXPRESSIONS.values()]
    tables = [refusals.CALLS, refusals.MODULES, refusals.ATTRIBUTES]
    rest = [refusals.OUTSIDE, refusals.OF_ARRAYS]
    return [text for pair in kinds for text in pair] + [text for t in tables for text in t.values()] + rest


@pytest.mark.parametrize("text", sorted(set(advice())))
def test_every_rewrite_of_the_tables_is_shown_to_work(text: str) -> None:
    assert any(text in read(path).message for path in FILES)


def write() -> None:
    """Writes the messages anew."""
    for path in FILES:
        parts = re.split(r"^=== (\w+)\n", path.read_text(), flags=re.M)
        found = {"message": "", **dict(zip(parts[1::2], (text.strip("\n") for text in parts[2::2])))}
        golden = Golden(path.stem, **found)
        path.write_text(text_of(Golden(**{**vars(golden), "message": message_of(golden)})))


if __name__ == "__main__" and "--write" in sys.argv:
    write()
