"""The front end for MLIR text in generic form, which `mlir-opt -mlir-print-op-generic` prints.

    read(text)        one module
    read_all(text)    the parts between lines `// -----`
    generic(text)     any MLIR text in generic form, by asking mlir-opt where it is installed

Locations are those in the text (`-mlir-print-debuginfo`); where it has none, the lines and columns of the text itself.
May import: ir, ops and below.
"""

from __future__ import annotations

import re
import shutil
import subprocess

from tracebuf.errors import TracebufError
from tracebuf.frontends.mlir.lexer import ReadError, Tokens
from tracebuf.frontends.mlir.parser import Parser
from tracebuf.ir.func import Module

__all__ = ["ReadError", "generic", "mlir_opt", "parts", "read", "read_all"]

_SPLIT = re.compile(r"(?m)^[ \t]*// ?-----[ \t]*$")


def read(text: str, name: str = "<text>") -> Module:
    """The module that a text is; ReadError (with file, line and column) where it is none."""
    return Parser(Tokens(text, name)).module()


def read_all(text: str, name: str = "<text>") -> list[Module]:
    """The module of each part; what is above a part counts in its lines (MLIR: -split-input-file)."""
    return [read(part, name) for part in parts(text)]


def parts(text: str) -> list[str]:
    """The parts between lines `// -----`, each at its own lines."""
    found, start = [], 0
    for match in [*_SPLIT.finditer(text), None]:
        end = len(text) if match is None else match.start()
        found.append("\n" * text.count("\n", 0, start) + text[start:end])
        start = len(text) if match is None else match.end()
    return found


def mlir_opt() -> str:
    """The mlir-opt that is installed, or nothing."""
    return next(filter(None, map(shutil.which, ("mlir-opt-22", "mlir-opt"))), "")


def generic(text: str, binary: str = "", name: str = "<text>") -> str:
    """A text in custom form in generic form. What mlir-opt says against it is raised as TracebufError."""
    command = binary or mlir_opt()
    if not command:
        raise TracebufError("mlir-opt is not installed (Debian: mlir-22-tools), and only it reads the custom form")
    options = ["-allow-unregistered-dialect", "-mlir-print-op-generic", "-mlir-print-debuginfo", "-split-input-file"]
    run = subprocess.run([command, "-", *options], input=text, capture_output=True, text=True)
    if run.returncode:
        raise TracebufError(run.stderr.strip().replace("<stdin>", name))
    return run.stdout.replace('loc("<stdin>"', f'loc("{name}"')
