"""Fills the marked blocks of docs/architecture.md and docs/ir.md with real output.

    python docs/generate.py --write     # writes both pages
    python docs/generate.py             # says whether they are up to date (exit status 1 if not)

`<!-- real: NAME -->` marks the block of code, or the table, that stands behind it and ends at a blank line. The
function that architecture.md follows is its own first Python block, compiled under the page's name, so that the lines
in the output are those of the block. What depends on the machine (addresses, vector widths) is left out of the
excerpts. `tests/tools/test_architecture.py` runs this.
"""

from __future__ import annotations

import argparse
import linecache
import os
import re
import sys
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

os.environ["TRACEBUF_CACHE_PROGRAMS"] = "0"  # the page shows what a first call does

import tracebuf
from tracebuf import pipeline
from tracebuf.ir.core import Op
from tracebuf.ir.types import MemRefType, ScalarType
from tracebuf.ir.verifier import LEGAL
from tracebuf.ops import dialects  # noqa: F401  all ops are registered
from tracebuf.options import Options

DOCS = Path(__file__).parent
MARKED = re.compile(r"(<!-- real: (\w+) -->\n(?:```\w*\n)?)(.*?)((?:```)?\n(?=\n|\Z))", re.S)
SIZE, WIDTH = 1000, 118


# -- the journey


@dataclass
class Journey:
    """The page's function and one call of it."""

    source: str

    @cached_property
    def function(self) -> Any:
        file = "<architecture.md>"
        linecache.cache[file] = (len(self.source), None, self.source.splitlines(True), file)
        names: dict[str, Any] = {"bufferize": tracebuf.bufferize}
        exec(compile(self.source, file, "exec"), names)
        return names["step"]

    @cached_property
    def arguments(self) -> tuple[np.ndarray, np.ndarray, float]:
        r = np.random.default_rng(0)
        return r.random(SIZE), r.random(SIZE), 0.1

    @cached_property
    def lowered(self) -> Any:
        return self.function.lower(*self.arguments)

    @cached_property
    def specialization(self) -> Any:
        self.function.explain(*self.arguments)
        return self.function.specializations()[0]

    # -- its blocks
    def key(self) -> str:
        return str(self.specialization).replace("; 0 calls", "")

    def traced(self) -> str:
        text = short(self.lowered.as_text("traced"))
        first, second = (r"func\.func", r"\{$"), (r"extract_slice %u\[1\]", r"-> tensor<")
        return excerpt(text, first, second, (r"insert_slice", r"insert_slice"), (r"materialize_in_dest", r"return"))

    def tensor(self) -> str:
        text = short(self.lowered.as_text("tensor"))
        first, second = (r"extract_slice", r"insert_slice"), (r"tensor\.empty", r"linalg\.generic")
        counts = [f"// {s}: {self.count(s)}" for s in ("traced", "fuse", "eliminate-empty-tensors")]
        return "\n".join([*counts, excerpt(text, first, second, (r"insert_slice", r"insert_slice"))])

    def count(self, stage: str) -> str:
        text = self.lowered.as_text(stage)
        return f"{text.count('linalg.generic')} linalg.generic, {text.count('tensor.empty')} tensor.empty"

    def decisions(self) -> str:
        """The operands that are written, or not in place."""
        func = self.function.trace(*self.arguments)[1].func
        pipeline.optimize_tensors(func, Options())
        analysis = pipeline.analyze(func, Options())
        rows = []
        for op in func.walk():
            for use in op.tensor_uses():
                if analysis.writes(use) or not analysis.is_in_place(use):
                    rows.append(f"line {op.loc.line}  {op.name:<40} operand {use.index}  {decided(analysis, use)}")
        return "\n".join(rows)

    def bufferized(self) -> str:
        text = short(self.lowered.as_text("bufferize"))
        return excerpt(text, (r"subview %v\[0\]", r"subview %v\[1\]"), (r'"store"', r'"store"'))

    def memref(self) -> str:
        text = short(self.lowered.as_text("memref"))
        loop, nest = (r"scf\.for", r"scf\.for"), (r"linalg\.generic", r"linalg\.generic")
        before, behind = ((r"memref\.alloc\(", r"memref<\?xf64>$"), loop, nest, nest), (loop, (r"memref\.load", r"^}"))
        return excerpt(text, *before, (r'"store"', r"dealloc"), *behind)

    def frame(self) -> str:
        frame, names = self.specialization.kernel.frame, ("u", "v", "dt")
        rows = ["slot 0       the context: call backs, counters, arena slots"]
        for name, type_, at in zip(names, frame.args, frame.arg_at):
            rows.append(slots(name, type_, at, "element 0"))
        for type_, at in zip(frame.results, frame.result_at):
            rows.append(slots("result", type_, at, "base, element 0"))
        return "\n".join([*rows, f"slot {frame.error_at:<7} the values that a failed check puts into its message"])

    def llvm(self) -> str:
        text = re.sub(r", !\S+( !\d+)?", "", self.lowered.as_text("llvm"))
        text = re.sub(r' "prefer-vector-width"="\d+"', "", text)
        text = re.sub(r"(@nest_[0-9a-f]{4})[0-9a-f]+", r"\1", text)
        grow, nest = text.index("call i64 @tracebuf_ask"), text.index("\ndefine i64 @nest")
        before = text.rindex("load i64", 0, text.rindex("icmp slt i64", 0, grow))
        parts = [
            lines_of(text, r"^define i64 @step", r"\{"),
            lines_of(text, r"call i64 @nest", r"br i1"),
            lines_of(text, r"load i64", r"call i64 .*", before),
            lines_of(text, r"define i64 @nest", r"\{", nest),
            lines_of(text, r"load double", r"br label", nest),
        ]
        return "\n  ...\n".join(parts)

    def result(self) -> str:
        u, v, dt = (a.copy() if isinstance(a, np.ndarray) else a for a in self.arguments)
        result = self.function(u, v, dt)
        lines = [
            ">>> result = step(u, v, 0.1)",
            ">>> result.base is u, result.shape",
            str((result.base is u, result.shape)),
            ">>> print(step.explain(u, v, 0.1))",
            str(self.function.explain(u, v, dt)),
        ]
        return "\n".join(lines)


def decided(analysis: Any, use: Any) -> str:
    return "in place" if analysis.is_in_place(use) else f"copied:\n        {analysis.conflicts(use)[0]}"


def slots(name: str, type_: Any, at: int, pointers: str) -> str:
    if isinstance(type_, MemRefType):
        last = at + 2 * type_.rank + pointers.count(",")
        return f"slots {at}-{last:<4} {name}: {pointers}, size, stride".rstrip()
    assert isinstance(type_, ScalarType)
    return f"slot {at:<7} {name}: {type_}"


def short(text: str) -> str:
    """A program without what every line repeats: maps of linalg.generic, and types that its operands say."""
    text = re.sub(r"\{indexing_maps = .*?iterator_types = \[[^\]]*\]\} ", "", text)
    text = re.sub(r"(ins|outs)\(([^:()]*) : [^()]*\)", r"\1(\2)", text)
    return "\n".join(part for line in text.splitlines() for part in wrapped(line))


def wrapped(line: str) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, WIDTH, subsequent_indent=indent + "    ", break_long_words=False, break_on_hyphens=False,
                         initial_indent=indent if not line.startswith(indent) else "") or [""]  # fmt: skip


def excerpt(text: str, *parts: tuple[str, str]) -> str:
    """The lines from the first that matches to the next that matches, for each part; `...` for what is left out."""
    lines, kept, at = text.splitlines(), list[str](), 0
    for first, last in parts:
        start = next(i for i in range(at, len(lines)) if re.search(first, lines[i]))
        end = next(i for i in range(start, len(lines)) if re.search(last, lines[i]))
        kept += ([] if start == at else ["  ..."]) + lines[start : end + 1]
        at = end + 1
    return "\n".join(kept + ([] if at == len(lines) else ["  ..."]))


def lines_of(text: str, first: str, last: str, begin: int = 0) -> str:
    """Whole lines, from the first match behind `begin` to the next match of the other pattern."""
    start = re.compile(first, re.M).search(text, begin)
    assert start is not None, first
    end = re.compile(last, re.M).search(text, start.end())
    assert end is not None, last
    return text[text.rfind("\n", 0, start.start() + 1) + 1 : text.find("\n", end.start())]


# -- the ops of the IR


def levels_of(name: str, op: type[Op]) -> frozenset[str]:
    """The levels of a registered op: those that the verifier allows, with those that the op declares."""
    allowed = {level for level, names in LEGAL.items() if name in names or name.partition(".")[0] + "." in names}
    return frozenset(allowed | (op.levels - {"body"}))


TITLES = {
    frozenset({"tensor", "memref"}): "both levels",
    frozenset({"tensor"}): "tensor",
    frozenset({"memref"}): "memref",
    frozenset[str](): "MLIR text only",
}


def ops() -> str:
    """A table of all registered ops: dialect, level, names."""
    found: dict[tuple[str, frozenset[str]], list[str]] = defaultdict(list)
    for name, op in Op.registry.items():
        if op.__module__.startswith("tracebuf."):
            dialect, _, rest = name.partition(".")
            found[dialect, levels_of(name, op)].append(rest)
    rows = ["| dialect | level | ops |", "|---|---|---|"]
    for (dialect, levels), names in sorted(found.items(), key=lambda item: (item[0][0], sorted(item[0][1]))):
        rows.append(f"| `{dialect}` | {TITLES[levels]} | {' '.join(f'`{n}`' for n in sorted(names))} |")
    return "\n".join(rows)


# -- the pages


def filled(page: str, block: Callable[[str], str]) -> str:
    """The page with its marked blocks as `block` gives them by their names."""

    def new(match: re.Match[str]) -> str:
        head, name, _, tail = match.groups()
        return head + block(name) + ("\n" if "```" in head else "") + tail

    return MARKED.sub(new, page)


def architecture(page: str) -> str:
    """docs/architecture.md with its blocks filled."""
    source = re.search(r"```python\n(.*?)```", page, re.S)
    assert source is not None
    journey = Journey(source[1])
    return filled(page, lambda name: getattr(journey, name)())


def ir(page: str) -> str:
    """docs/ir.md with its table filled."""
    return filled(page, lambda name: {"ops": ops}[name]())


def pages() -> Iterator[tuple[Path, str]]:
    """Each page and what it should hold."""
    for name, fill in (("architecture.md", architecture), ("ir.md", ir)):
        path = DOCS / name
        yield path, fill(path.read_text())


def main(argv: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description="Fills docs/architecture.md and docs/ir.md with real output.")
    parser.add_argument("--write", action="store_true", help="write the pages (default: only compare)")
    options = parser.parse_args(argv)
    old = [path for path, text in pages() if path.read_text() != text]
    if options.write:
        for path, text in pages():
            path.write_text(text)
        return 0
    for path in old:
        print(f"{path.name} is not up to date: python docs/generate.py --write")
    return int(bool(old))


if __name__ == "__main__":
    sys.exit(main())
