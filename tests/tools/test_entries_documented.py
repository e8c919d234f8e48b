"""The examples of the public entries run, and the map in tracebuf/pipeline.py leads to files that exist."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest

from tracebuf import pipeline

PACKAGE = Path(pipeline.__file__).parent


@pytest.mark.parametrize(
    ("module", "least"), [("mlir", 4), ("errors", 4), ("testing.declared", 3), ("testing.ladder", 2)]
)
def test_the_examples_run(module: str, least: int) -> None:
    found = doctest.testmod(importlib.import_module(f"tracebuf.{module}"), verbose=False)
    assert found.failed == 0 and found.attempted >= least


def test_the_map_leads_to_files() -> None:
    """A file without a folder is beside the one named before it."""
    assert pipeline.__doc__ is not None
    _, _, places = pipeline.__doc__.partition("Where is ...?")
    folder, found = PACKAGE, 0
    places = places.partition("through all of them.")[2]
    assert all((PACKAGE.parent / page).exists() for page in re.findall(r"[\w/-]+\.md", places))
    for path in re.findall(r"[\w/]+\.py|\b[a-z_]+(?:/[\w/]*)", re.sub(r"[\w/-]+\.md", "", places)):
        near = [base / path for base in (PACKAGE, folder, *folder.parents) if PACKAGE in (base, *base.parents)]
        near += [PACKAGE.parent / path] if path.startswith("tests/") else []
        there = next((p for p in near if p.exists()), None)
        assert there is not None, path
        folder, found = (there if there.is_dir() else there.parent), found + 1
    assert found > 15
