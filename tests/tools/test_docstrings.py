"""The examples in the docstrings of the public modules run, and the public names have docstrings."""

from __future__ import annotations

import doctest
import inspect
from importlib import import_module

import pytest

import tracebuf

EXAMPLES = {"api": 4, "options": 3, "stages": 3, "measure": 3, "specs": 4, "persist.compiled": 4}


@pytest.mark.parametrize(("module", "least"), EXAMPLES.items())
def test_examples(module: str, least: int) -> None:
    found = doctest.testmod(import_module(f"tracebuf.{module}"), verbose=False)
    assert found.failed == 0 and found.attempted >= least


def test_public_names_have_docstrings() -> None:
    for name in tracebuf.__all__:
        value = getattr(tracebuf, name)
        assert value.__doc__, name
        for member, method in vars(value).items() if isinstance(value, type) else ():
            if inspect.isfunction(method) and not member.startswith("_"):
                assert method.__doc__, f"{name}.{member}"
