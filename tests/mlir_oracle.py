"""Asks `mlir-opt-22` for its decisions on functions printed as MLIR text, many functions in one run."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence

import pytest

from tracebuf.analysis import Analysis
from tracebuf.analysis.order import post_order
from tracebuf.ir.core import Func
from tracebuf.ir.printer import print_module

MLIR_OPT = shutil.which("mlir-opt-22")
needs_mlir = pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt-22 is not installed (Debian: mlir-22-tools)")
_FUNC = re.compile(r"\bfunc\.func (?:private |public )?@([\w.$-]+)")
_ATTR = re.compile(r"__inplace_operands_attr__ = \[([^\]]*)\]")
Decisions = list[list[str]]
"""For each op with tensors, inner ops before outer ones: "true", "false" or "none" for each operand."""


def mlir_decisions(funcs: Sequence[Func], heuristic: str = "bottom-up") -> dict[str, Decisions]:
    """By function name; the functions must not be more than MLIR knows (no materialize of a loop's result)."""
    options = (
        "test-analysis-only bufferize-function-boundaries allow-return-allocs-from-loops "
        f"analysis-heuristic={heuristic}"
    )
    command = [str(MLIR_OPT), "-", "-allow-unregistered-dialect", f"-one-shot-bufferize={options}"]
    done = subprocess.run(command, input=print_module(funcs), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
    found: dict[str, Decisions] = {}
    current: Decisions = []
    for line in done.stdout.splitlines():
        if match := _FUNC.search(line):
            current = found[match[1]] = []
        for attr in _ATTR.findall(line):
            decisions = [d.strip().strip('"') for d in attr.split(",")]
            if decisions != ["none"] * len(decisions):
                current.append(decisions)
    return found


def our_decisions(func: Func, analysis: Analysis) -> Decisions:
    """The same of an analysis. tensor.dim has its dimension as an attribute here and as an operand there."""
    found = []
    for op in post_order(func):
        words = ["none" if not u.value.is_tensor else str(analysis.is_in_place(u)).lower() for u in op.uses]
        if words != ["none"] * len(words):
            found.append([*words, "none"] if op.name == "tensor.dim" else words)
    return found
