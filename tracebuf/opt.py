"""`python -m tracebuf opt FILE -pass [-pass="option=value ..."] ...`: MLIR text in, passes by MLIR's names, text out.

Counterpart: mlir-opt, whose flags it takes where it has them. By default it decides as MLIR does (`--compat=mlir`);
`--compat=tracebuf` makes the improvements.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_args

from tracebuf.analysis.annotate import annotate, forget_annotations
from tracebuf.analysis.module import analyze_module
from tracebuf.bufferize.module import bufferize_module
from tracebuf.errors import TracebufError
from tracebuf.frontends import mlir
from tracebuf.ir.core import Module
from tracebuf.ir.print_generic import print_generic
from tracebuf.ir.printer import print_module
from tracebuf.options import Layout, OneShotOptions

USAGE = """usage: python -m tracebuf opt FILE [flags] [passes]

FILE is MLIR text (- for standard input): generic form, or any form where mlir-opt is installed.

passes, run in the order given:
{passes}
flags:
  --compat=mlir|tracebuf    decide as MLIR 22 (default), or with fewer copies
  -o FILE                   write there instead of to standard output
  -mlir-print-op-generic    print every op in generic form
  -mlir-print-debuginfo     print locations
  -mlir-print-local-scope   no aliases (there never are any)
  -split-input-file         parts between lines `// -----` are modules of their own
  -allow-unregistered-dialect   (always so)
"""
SILENT = {"mlir-print-local-scope", "allow-unregistered-dialect"}


class UsageError(TracebufError):
    """A command line that makes no sense."""


@dataclass
class Command:
    """A parsed command line."""

    file: str = ""
    output: str = ""
    compat: str = "mlir"
    generic: bool = False
    locations: bool = False
    split: bool = False
    passes: list[tuple[str, str]] = field(default_factory=list)


def main(argv: Sequence[str]) -> int:
    """Runs the command; the exit status."""
    if "-h" in argv or "--help" in argv:
        print(usage())
        return 0
    try:
        command = parse(argv)
        text = run(command)
        if command.output:
            Path(command.output).write_text(text)
        else:
            sys.stdout.write(text)
    except (TracebufError, OSError) as e:
        print(f"error: {e}" if isinstance(e, UsageError | OSError) else str(e), file=sys.stderr)
        return 1
    return 0


def parse(argv: Sequence[str]) -> Command:
    """The command line as MLIR's tools take theirs: one dash or two, `=value` or none. UsageError."""
    command, rest = Command(), list(argv)
    while rest:
        word = rest.pop(0)
        if word == "-" or not word.startswith("-"):
            if command.file:
                raise UsageError(f"there are two files: {command.file} and {word}")
            command.file = word
            continue
        name, _, value = word.lstrip("-").partition("=")
        if name == "o":
            command.output = value or (rest.pop(0) if rest else "")
        elif name == "compat":
            if value not in ("mlir", "tracebuf"):
                raise UsageError(f"--compat is mlir or tracebuf, not {value!r}")
            command.compat = value
        elif name in ("mlir-print-op-generic", "mlir-print-debuginfo", "split-input-file"):
            setattr(command, {"m": "generic", "s": "split"}[name[0]] if "debug" not in name else "locations", True)
        elif name in PASSES:
            command.passes.append((name, value.strip("\"'")))
        elif name not in SILENT:
            raise UsageError(f"unknown flag {word} (-h lists passes and flags)")
    if not command.file:
        raise UsageError("no file (- for standard input; -h for help)")
    return command


def run(command: Command) -> str:
    """The text that the command prints."""
    name = "<stdin>" if command.file == "-" else command.file
    text = sys.stdin.read() if command.file == "-" else Path(command.file).read_text()
    parts = read_parts(text, name, split=command.split)
    for k, module in enumerate(parts):
        for pass_name, options in command.passes:
            module = PASSES[pass_name].run(module, options, command)
        parts[k] = module
    printed = print_generic if command.generic else print_module
    return "\n// -----\n\n".join(printed(m, locations=command.locations) for m in parts)


def read_parts(text: str, name: str, *, split: bool) -> list[Module]:
    """The modules of a text; a text in custom form is asked of mlir-opt first, where it is installed."""
    try:
        return mlir.read_all(text, name) if split else [mlir.read(text, name)]
    except mlir.ReadError:
        if is_generic(text) or not mlir.mlir_opt():
            raise
    text = mlir.generic(text, name=name)
    return mlir.read_all(text, name) if split else [mlir.read(text, name)]


def is_generic(text: str) -> bool:
    """Whether the first op of a text is in generic form."""
    first = re.search(r"(?m)^\s*(?:%[\w:, %#]+ = )?(\"?)[a-z_]\w*[. ]", re.sub(r"(?m)^\s*(?://|#|!|\{-#).*$", "", text))
    return first is not None and first[1] == '"'


# -- passes


@dataclass(frozen=True)
class Pass:
    """A pass over a module: `run` takes the module, the pass' own options as text, and the command."""

    run: Callable[[Module, str, Command], Module]
    help: str


def options_of(text: str) -> dict[str, str]:
    """`a b=1 c="x,y"` as a dictionary; an option without a value is "true"."""
    found = {}
    for word in re.findall(r'[^\s="]+(?:=(?:"[^"]*"|\{[^}]*\}|\S*))?', text):
        name, _, value = word.partition("=")
        found[name] = value.strip('"{}') or "true"
    return found


def one_shot_options(text: str, compat: str) -> OneShotOptions:
    """MLIR's options of -one-shot-bufferize; UsageError for one that is unknown or not supported."""
    options = OneShotOptions(compat="mlir" if compat == "mlir" else None)
    known = {f.name.replace("_", "-"): f for f in fields(OneShotOptions) if f.name not in ("compat", "improvements")}
    for name, value in options_of(text).items():
        if name not in known:
            raise UsageError(f"-one-shot-bufferize has no option {name!r}; it has {', '.join(known)}")
        options = replace(options, **{known[name].name: typed(name, value, getattr(options, known[name].name))})
    return options


def typed(name: str, value: str, like: Any) -> Any:
    """The value of an option, as its default is."""
    if isinstance(like, bool):
        if value not in ("true", "false", "1", "0"):
            raise UsageError(f"{name} is true or false, not {value!r}")
        return value in ("true", "1")
    if isinstance(like, int):
        if not re.fullmatch(r"-?\d+", value):
            raise UsageError(f"{name} is a number, not {value!r}")
        return int(value)
    if isinstance(like, tuple):
        return tuple(v for v in value.split(",") if v)
    if like in get_args(Layout) and value not in get_args(Layout):
        raise UsageError(f"{name} is one of {', '.join(get_args(Layout))}, not {value!r}")
    return value


def one_shot_bufferize(module: Module, text: str, command: Command) -> Module:
    options = one_shot_options(text, command.compat)
    if options.print_conflicts and not options.test_analysis_only:
        raise UsageError("print-conflicts goes with test-analysis-only")
    forget_annotations(module)
    try:
        analysis = analyze_module(module, options)
    except ValueError as e:
        raise UsageError(str(e)) from None
    if options.test_analysis_only:
        annotate(module, analysis, options)
        return module
    return bufferize_module(module, analysis, options)


PASSES: dict[str, Pass] = {
    "one-shot-bufferize": Pass(one_shot_bufferize, "tensors become buffers (options: MLIR's)"),
}


def usage() -> str:
    return USAGE.format(passes="".join(f"  -{name:<32} {p.help}\n" for name, p in PASSES.items()))
