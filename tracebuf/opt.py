"""`python -m tracebuf opt FILE -pass [-pass="option=value ..."] ...`: MLIR text in, passes by MLIR's names, text out.

Counterpart: mlir-opt, whose flags it takes where it has them. By default it decides as MLIR does (`--compat=mlir`);
`--compat=tracebuf` makes the improvements.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import field
from importlib import import_module
from pathlib import Path

from tracebuf.errors import TracebufError
from tracebuf.frontends import mlir
from tracebuf.frontends.mlir.parser import CUSTOM
from tracebuf.frozen import plain
from tracebuf.ir.func import Module
from tracebuf.ir.print_generic import print_generic
from tracebuf.ir.printer import print_module
from tracebuf.ir.verifier import verify_module
from tracebuf.location import Location
from tracebuf.passes import PASSES, Compat, UsageError, help_of_passes

USAGE = """usage: python -m tracebuf opt FILE [flags] [passes]

FILE is MLIR text (- for standard input): generic form, or any form where mlir-opt is installed.

passes, run in the order given, each with options as in -name="option=value other-option":
{passes}
flags:
  --compat=mlir|tracebuf         decide as MLIR 22 (default), or with fewer copies
  -pass-pipeline="builtin.module(a{{option=1}},func.func(b))"   passes as a pipeline
  -o FILE                        write there instead of to standard output
  -load-dialect-plugin=MODULE    import a Python module first, which registers ops and models (tracebuf.extend)
  -mlir-print-op-generic         print every op in generic form
  -mlir-print-debuginfo          print locations
  -mlir-print-local-scope        no aliases (there never are any)
  -split-input-file              parts between lines `// -----` are modules of their own
  -allow-unregistered-dialect    (always so)
"""
FLAGS = {"mlir-print-op-generic": "generic", "mlir-print-debuginfo": "locations", "split-input-file": "split"}
SILENT = {"mlir-print-local-scope", "allow-unregistered-dialect", "verify-each", "mlir-disable-threading"}


@plain(eq=True)
class Command:
    """A parsed command line."""

    file: str = ""
    output: str = ""
    compat: Compat = "mlir"
    flags: set[str] = field(default_factory=set)
    passes: list[tuple[str, str]] = field(default_factory=list)


def main(argv: Sequence[str]) -> int:
    """Runs the command; the exit status. An error in one part of the input is printed on stderr, and the other parts
    are still printed."""
    if "-h" in argv or "--help" in argv:
        print(USAGE.format(passes=help_of_passes()))
        return 0
    try:
        command = parse(argv)
        name, text = source(command)
    except (UsageError, OSError) as e:
        print(f"error: {e}", file=sys.stderr)
        return 1
    except UnicodeDecodeError as e:
        print(f"{command.file}:{e.object.count(10, 0, e.start) + 1}:1: error: the text is no UTF-8", file=sys.stderr)
        return 1
    printed, failed = [], False
    for part in mlir.parts(text) if "split" in command.flags else [text]:
        try:
            printed.append(run(command, part, name))
        except TracebufError as e:
            failed = True
            printed.append("")
            print(message(e), file=sys.stderr)
    try:
        if any(printed):
            write(command, "// -----\n".join(printed))
    except OSError as e:
        print(f"error: {e}", file=sys.stderr)
        return 1
    return int(failed)


def source(command: Command) -> tuple[str, str]:
    """(name, text) of the input."""
    if command.file == "-":
        return "<stdin>", sys.stdin.read()
    return command.file, Path(command.file).read_text()


def write(command: Command, text: str) -> None:
    if command.output in ("", "-"):
        sys.stdout.write(text)
    else:
        Path(command.output).write_text(text)


def message(e: TracebufError) -> str:
    """An error as mlir-opt prints it: `file:line:column: error: reason`."""
    location, reason = getattr(e, "location", None), getattr(e, "reason", None)
    text = str(e)
    if isinstance(location, Location) and location.line and reason:
        place = f"{location.file}:{location.line}:{location.column + 1}: "
        return f"{place}error: {text.removeprefix(place) if text.startswith(place) else reason}"
    return text if ": error: " in text else f"error: {text}"


def parse(argv: Sequence[str]) -> Command:
    """The command line as MLIR's tools take theirs: one dash or two, `=value` or none. UsageError."""
    command, rest = Command(), list(argv)
    while rest:
        word = rest.pop(0)
        name, _, value = word.lstrip("-").partition("=")
        if word == "-" or not word.startswith("-"):
            if command.file:
                raise UsageError(f"there are two files: {command.file} and {word}")
            command.file = word
        elif name == "o":
            command.output = value or (rest.pop(0) if rest else "")
        elif name == "compat":
            if value not in ("mlir", "tracebuf"):
                raise UsageError(f"--compat is mlir or tracebuf, not {value!r}")
            command.compat = "mlir" if value == "mlir" else "tracebuf"
        elif name == "load-dialect-plugin":
            load_plugin(value)
        elif name in FLAGS:
            command.flags.add(FLAGS[name])
        elif name in ("pass-pipeline", "passes"):
            command.passes += pipeline(value or (rest.pop(0) if rest else ""))
        elif name in PASSES:
            command.passes.append((name, value.strip("\"'")))
        elif name not in SILENT:
            raise UsageError(f"unknown flag {word} (-h lists passes and flags)")
    if not command.file:
        raise UsageError("no file (- for standard input; -h for help)")
    for name, options in command.passes:
        PASSES[name].check(options, command.compat)
    return command


def load_plugin(module: str) -> None:
    """Imports a module of the user's; UsageError where it cannot be found."""
    try:
        import_module(module)
    except (ImportError, ValueError) as e:
        raise UsageError(f"-load-dialect-plugin={module}: {e}") from None


def pipeline(text: str) -> list[tuple[str, str]]:
    """The passes of `builtin.module(a{option=1},func.func(b))`; the anchors make no difference here."""
    words = re.findall(r"[\w.-]+(?:\{[^{}]*\})?|[(),]", text.strip("\"' "))
    if words.count("(") != words.count(")") or "".join(words) != re.sub(r"\s+(?![^{]*\})", "", text.strip("\"' ")):
        raise UsageError(f"not a pipeline of passes: {text}")
    found = []
    for word, after in zip(words, [*words[1:], ""]):
        name, _, options = word.partition("{")
        if word in "()," or after == "(":
            continue
        if name not in PASSES:
            raise UsageError(f"no such pass: {name} (-h lists them)")
        found.append((name, options.removesuffix("}")))
    return found


def run(command: Command, text: str, name: str) -> str:
    """What the command prints for one module."""
    module = transformed(command, read(text, name))
    printed = print_generic if "generic" in command.flags else print_module
    return printed(module, locations="locations" in command.flags)


def transformed(command: Command, module: Module) -> Module:
    """What the passes make of a module, which is verified after each (MLIR: -verify-each)."""
    for pass_name, options in command.passes:
        module = PASSES[pass_name].run(module, options, command.compat)
        verify_module(module)
    return module


def read(text: str, name: str) -> Module:
    """The module of a text; custom form is converted by mlir-opt first, where that is installed."""
    try:
        return mlir.read(text, name)
    except mlir.ReadError as e:
        if e.reason != CUSTOM or not mlir.mlir_opt():
            raise
    return mlir.read(mlir.generic(text, name=name), name)
