"""How a function's source is found in its file: a `def` is parsed without the rest, which must be the same tree."""

from __future__ import annotations

import ast
import linecache
import os
import types
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program
from tests.support.params import one_in
from tracebuf.frontends.numpy.source.source import definition_alone, definitions, matches

ROOT = Path(__file__).parents[2]


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield inner
            yield from codes(inner)


def parsed_alone(text: str, file: str = "file.py") -> int:
    """How many functions of a file are parsed alone, to the tree that the whole file's has."""
    alone, lines, whole = 0, text.splitlines(keepends=True), definitions(text)
    for code in codes(compile(text, file, "exec", dont_inherit=True)):
        same = [d for d in whole.get(code.co_firstlineno, ()) if matches(d, code)]
        mine = definition_alone(lines, code, code.co_firstlineno)
        if mine is not None and len(same) == 1 and "match" not in text:  # whose subjects are numbered in a file
            assert ast.dump(mine, include_attributes=True) == ast.dump(same[0], include_attributes=True), code
            alone += 1
    return alone


FILES = sorted((ROOT / "tracebuf").resolve().rglob("*.py"))[::2] + sorted((ROOT / "tests").rglob("*.py"))[::4]


@pytest.mark.parametrize("path", one_in(40, FILES), ids=lambda path: path.stem)
def test_a_function_parsed_alone_is_as_in_its_file(path: Path) -> None:
    parsed_alone(path.read_text(), str(path))


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("def f(x):\n    return x\n", 1),
        ("@g\n@h(1,\n   2)\ndef f(x):\n    return x\n", 1),
        ("class A:\n    def f(self):\n        return 1\n\n    @g\n    def h(self):\n        return 2\nB = 1\n", 2),
        ("if 1:\n\tdef f(x):\n\t\treturn x\n", 1),
        ("def f(x):\n    return x + '''\nat the left\n'''\n", 1),
        ("def f(x):\n# at the left\n    y = (\nx)\n    return y\n# behind\nz = 1\n", 1),
        ("def f(x):\n    def g(y):\n        return y + x\n\n    return g\n", 2),
        ("def f(x):\n    return x\n    '''left\nout'''\n", 0),  # no code: what is cut off ends in the text
        ("def f(x): return x\n", 1),
        ("f = lambda x: x\n", 0),
        ("async def f(x):\n    return x\n", 0),
    ],
)
def test_what_is_parsed_alone(text: str, alone: int) -> None:
    assert parsed_alone(text) == alone


def defined(text: str, file: str) -> types.FunctionType:
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    space: dict[str, types.FunctionType] = {}
    exec(compile(text, file, "exec"), space)
    return space["f"]


def test_a_name_that_is_given_again_has_another_text() -> None:
    """As of two cells with one name: the first function's text is gone, and it is traced by calling it."""
    first = defined("def f(a):\n    return a * 2\n", "<given again>")
    second = defined("def f(a):\n    return a * 3\n", "<given again>")
    assert agree(first, np.ones(2))[0] == 2
    assert agree(second, np.ones(2))[0] == 3


def test_a_file_that_is_put_in_the_place_of_the_imported_one_is_another_text(tmp_path: Path) -> None:
    """With the time of an older file, as `cp -p` and `tar` leave it."""
    file, other = tmp_path / "imported.py", tmp_path / "other.py"
    for path, k in ((file, 2), (other, 5)):
        path.write_text(f"def f(a):\n    return a * {k}\n")
        os.utime(path, (1e9, 1e9))
    space: dict[str, types.FunctionType] = {}
    exec(compile(file.read_text(), str(file), "exec"), space)
    os.replace(other, file)
    assert agree(space["f"], np.ones(2))[0] == 2


def test_a_function_is_traced_whose_text_does_not_end_where_its_code_does() -> None:
    """What follows the last statement that does something belongs to no line of its code."""
    f = program(
        """
        def f(x):
            y = x * 2
            return y
            '''a text
        at the left'''
        """
    )
    assert agree(f, np.ones(3))[0] == 2


@pytest.mark.slow
def test_assertions_that_pytest_rewrites() -> None:
    """Those of this file are: the code object has names that the source has not."""

    @tracebuf.bufferize
    def checked(a, n):
        assert a.ndim == 1, "a vector"
        assert n > 0 and a.shape[0] == n
        if a.sum() > 3:
            return a + 1
        return a - 1

    assert "locals" in checked.__wrapped__.__code__.co_names
    assert checked(np.ones(4), 4).tolist() == [2.0] * 4
    with pytest.raises(AssertionError, match="a vector"):
        checked(np.ones((2, 2)), 2)
