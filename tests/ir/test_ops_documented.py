"""Every op class says what it takes and gives: the first page of whoever reads or writes an op."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import TypeGuard

import pytest

import tracebuf.ops.dialects
from tracebuf.ir.core import Op

CLASSES = {name: cls for name, cls in sorted(Op.registry.items()) if cls.__module__.startswith(tracebuf.ops.__name__)}


def test_the_registry_is_loaded() -> None:
    assert {"arith.addf", "linalg.generic", "memref.alloc", "scf.for", "tensor.insert_slice"} <= CLASSES.keys()


@pytest.mark.parametrize("word", ["operands:", "results:"])
def test_an_op_class_lists_its_operands_and_results(word: str) -> None:
    """Classes made from a table of names inherit the docstring of their base."""
    assert [name for name, cls in CLASSES.items() if word not in (inspect.getdoc(cls) or "")] == []


def test_a_class_written_out_has_a_docstring_of_its_own() -> None:
    written = {cls for cls in CLASSES.values() if f"class {cls.__name__}(" in inspect.getsource(inspect.getmodule(cls))}  # type: ignore[arg-type]
    assert len(written) > 100
    assert [cls.__qualname__ for cls in written if not cls.__dict__.get("__doc__")] == []


def test_the_attributes_that_a_constructor_sets_are_listed() -> None:
    missing = []
    for name, cls in CLASSES.items():
        if (of := cls.__dict__.get("of")) is None:
            continue
        tree = ast.parse(textwrap.dedent(inspect.getsource(of.__func__)))
        keys = [k.value for node in ast.walk(tree) if isinstance(node, ast.Dict) for k in node.keys if is_text(k)]
        missing += [f"{name}: {key}" for key in keys if key not in (inspect.getdoc(cls) or "")]
    assert missing == []


def is_text(node: ast.expr | None) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
