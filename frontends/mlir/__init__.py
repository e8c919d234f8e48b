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
    """The module in a text of MLIR's generic form. `name`: the file's, for locations.

    Raises ReadError (with file, line and column) where the text is none, TypeError for what is no text."""
    if not isinstance(text, str):
        raise TypeError(f"read takes MLIR text, not an object of type {type(text).__name__}")
    return Parser(Tokens(text, name)).module()


def read_all(text: str, name: str = "<text>") -> list[Module]:
    """The modules of the parts between lines `// -----`, in order; locations count the lines of the whole text (MLIR:
    -split-input-file)."""
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
    """The path of the installed mlir-opt, or ""."""
    return next(filter(None, map(shutil.which, ("mlir-opt-22", "mlir-opt"))), "")


def generic(text: str, binary: str = "", name: str = "<text>") -> str:
    """MLIR text, of custom form too, in generic form, by running mlir-opt.

    Args:
        text: one module, or several between lines `// -----`.
        binary: the mlir-opt to run; by default mlir-opt-22 or mlir-opt on the PATH.
        name: the file's, for locations and messages.

    Raises TracebufError with mlir-opt's messages, or where it is not installed.
    """
    command = binary or mlir_opt()
    if not command:
        raise TracebufError("mlir-opt is not installed (Debian: mlir-22-tools), and only it reads the custom form")
    options = ["-allow-unregistered-dialect", "-mlir-print-op-generic", "-mlir-print-debuginfo", "-split-input-file"]
    run = subprocess.run([command, "-", *options], input=text, capture_output=True, text=True)
    if run.returncode:
        raise TracebufError(run.stderr.strip().replace("<stdin>", name))
    return run.stdout.replace('loc("<stdin>"', f'loc("{name}"')
