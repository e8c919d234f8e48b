"""What a report shows of a call: the source with what its lines take, lifetimes of buffers, the program at each stage,
conflicts, and other decisions. All of it plain data."""

from __future__ import annotations

import ast
import itertools
import linecache
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tracebuf import pipeline, stages
from tracebuf.errors import TracebufError
from tracebuf.explain.memory import memory_of
from tracebuf.explain.report import known, large_first
from tracebuf.frontends.numpy.source.source import read_source
from tracebuf.frozen import frozen
from tracebuf.ir.clone import clone_func
from tracebuf.ir.dims import Sym, symbols
from tracebuf.ir.func import Func
from tracebuf.ir.printer import print_func
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.arena import Plan
from tracebuf.options import Options
from tracebuf.pictures.page import page
from tracebuf.process.progress import step
from tracebuf.stories.meaning import Numbers
from tracebuf.stories.saved import Step, codes_of
from tracebuf.stories.story import Stories, steps_of, stories
from tracebuf.stories.trials import Arguments, Reading, Variant, bare, entries_of, read, variant

MOST_STEPS = 600
"""Of the lines that eager runs: of more, one of several is shown, that with the most bytes alive."""
MOST_LINES = 20_000
"""Of a stage's text."""
_PLACE = re.compile(r' loc\((?:unknown|"(?:[^"\\]|\\.)*":(\d+):\d+)\)')


@frozen(slots=False)
class Report:
    """The report of one call: `data` is what it shows, `html` the file's text; written by `save`."""

    data: dict[str, Any]

    def __repr__(self) -> str:
        return f"<report of {self.data['name']}: save(path) writes it, figure() draws the lifetimes of buffers>"

    @property
    def html(self) -> str:
        return page(self.data)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file. Raises OSError."""
        Path(path).write_text(self.html, encoding="utf-8")

    def figure(self) -> Any:
        """The lifetimes of buffers, eager's and the compiled program's, as a figure of matplotlib.

        Raises ImportError where matplotlib is not there (`pip install matplotlib`).

        >>> import numpy as np, tracebuf
        >>> report = tracebuf.bufferize(lambda a: np.cumsum(a).max()).report(None, np.ones(9))
        >>> [b["bytes"] for b in report.data["ours"]["buffers"]]
        [72]
        """
        from matplotlib.figure import Figure  # type: ignore[import-not-found,unused-ignore]

        made = Figure(figsize=(8, 5), layout="constrained")
        above, below = made.subplots(2, 1)
        steps = self.data["eager"]
        above.step(range(len(steps)), [s["live"] for s in steps], where="post")
        above.set(title="NumPy", ylabel="bytes alive", xlabel="lines as they run, of a loop one iteration")
        for b in self.data["ours"]["buffers"]:
            below.broken_barh([(b["from"], b["to"] - b["from"])], (b["at"], b["bytes"]), edgecolor="black")
        below.set(title="compiled", ylabel="bytes", xlabel="operations")
        return made

    def _repr_html_(self) -> str:
        import html

        return f'<iframe srcdoc="{html.escape(self.html)}" style="width: 100%; height: 640px; border: 0"></iframe>'


def report(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], seconds: float) -> Report:
    """The report of a call of a bufferized function (see `BufferizedFunction.report`)."""
    with stages.examples(args, kwargs) as (args, kwargs, _):
        given: Arguments = (args, kwargs)
        step("program")
        texts: list[tuple[str, str]] = []
        numbers: Numbers = {}

        def observe(name: str, func: Func) -> None:
            texts.append((name, print_func(func, locations=True)))

        reading = read(type(f), f.__wrapped__, f.options, given, numbers)
        texts.append(("traced", print_func(reading.traced.func, locations=True)))
        base = variant(type(f), f.__wrapped__, f.options, given, numbers, reading, observe, keep=True)
        told = stories(f, args, kwargs, seconds, base=base, numbers=numbers)
        step("lines of NumPy")
        steps = steps_of(f, base, given)
        code = codes_of(f.__wrapped__)[-1]
        return Report({
            "name": f.__wrapped__.__qualname__, "file": Path(code.co_filename).name,
            "stories": stories_of(told),
            "saved": [s.to_dict() for s in told.saved],
            "source": source_of(f, [s.line for s in told]),
            "eager": thinned(folded(steps, loops_of(f))),
            "ours": {"buffers": buffers(base.program, base.sizes), "ops": sum(1 for _ in base.program.walk())},
            "stages": list(programs(texts)),
            "whatif": whatif(f, base, reading, given),
        })  # fmt: skip


def stories_of(told: Stories) -> list[dict[str, Any]]:
    """The stories, those that take most first; with what is only counted where there is more."""
    count = len(large_first(told.stories, lambda s: s.amount, False)[0])
    ordered, _ = large_first(told.stories, lambda s: s.amount, True)
    return [{**s.to_dict(), "text": str(s), "small": k >= count} for k, s in enumerate(ordered)]


def source_of(f: Any, told: Sequence[int]) -> list[dict[str, Any]]:
    code = codes_of(f.__wrapped__)[-1]
    last = max([code.co_firstlineno, *told, *(n for _, _, n in code.co_lines() if n is not None)])
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 : last]
    return [{"line": code.co_firstlineno + k, "text": line.rstrip("\n")} for k, line in enumerate(lines)]


def loops_of(f: Any) -> dict[str, list[tuple[int, int]]]:
    """By file the outermost loops of a function and of those that it wraps, as their first and last lines."""
    found: dict[str, list[tuple[int, int]]] = {}
    for code in codes_of(f.__wrapped__):
        source = read_source(code, code.co_filename, code.co_firstlineno)
        pending: list[ast.AST] = [source.node] if source is not None else []
        while pending:
            node = pending.pop()
            if isinstance(node, ast.For | ast.While):
                found.setdefault(code.co_filename, []).append((node.lineno, node.end_lineno or node.lineno))
            else:
                pending += ast.iter_child_nodes(node)
    return found


def folded(steps: Sequence[Step], loops: Mapping[str, Sequence[tuple[int, int]]]) -> list[dict[str, Any]]:
    """The lines that eager runs, with the bytes alive after each; of a loop one iteration, each line once, with the
    most bytes of all its `times`."""
    found: list[dict[str, Any]] = []
    for at, group in itertools.groupby(steps, lambda s: loop_at(s, loops)):
        if at is None:
            found += [{"line": s.line, "live": s.live, "times": 1} for s in group]
            continue
        rows: dict[int, dict[str, Any]] = {}
        for s in group:
            row = rows.setdefault(s.line, {"line": s.line, "live": 0, "times": 0, "loop": at[1]})
            row["live"], row["times"] = max(row["live"], s.live), row["times"] + 1
        found += [rows[line] for line in sorted(rows)]
    return found


def loop_at(s: Step, loops: Mapping[str, Sequence[tuple[int, int]]]) -> tuple[str, int] | None:
    """The outermost loop that a line is in, by its file and first line."""
    return next(((s.file, first) for first, last in loops.get(s.file, ()) if first <= s.line <= last), None)


def thinned(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Not more than can be seen."""
    width = -(-len(rows) // MOST_STEPS) or 1
    return [max(rows[k : k + width], key=lambda r: r["live"]) for k in range(0, len(rows), width)]


def buffers(func: Func, sizes: Any) -> list[dict[str, Any]]:
    """The buffers of a memref program: from which op to which they live, and at which byte: those of the arena where
    they are, so that bytes that are shared are seen; others above them."""
    ops, plan = list(func.walk()), func.attrs.get("arena", Plan())
    place = {op: k for k, op in enumerate(ops)}
    found: list[dict[str, Any]] = []
    for op in ops:
        if not isinstance(op, memref.Alloc) or isinstance(op, memref.Alloca):
            continue
        size = known(op.result.memref_type.byte_size, sizes)
        ends = [place[o] for o in ops if isinstance(o, memref.Dealloc) and memref.base_of(o.operand(0)) is op.result]
        lives = "arena" if op.attrs.get("kind") == "arena" else "result"
        spot = plan.places.get(op)
        wanted = {s for d in spot.offset.sizes for s in symbols(d)} if spot is not None else set[Sym]()
        at = spot.offset.value(sizes) if spot is not None and spot.phase is not None and wanted <= {*sizes} else None
        found.append({"line": op.loc.line, "from": place[op], "to": max(ends, default=len(ops)), "bytes": size or 0,
                      "known": size is not None, "lives": lives, "at": at, "size": str(op.result.memref_type.byte_size),
                      "type": str(op.result.type)})  # fmt: skip
    top = max((b["at"] + b["bytes"] for b in found if b["at"] is not None), default=0)
    for b in found:
        if b["at"] is None:
            b["at"], top = top, top + b["bytes"]
    return found


def programs(texts: Sequence[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """The text after each stage that changed it, each line with the user's line it comes from."""
    before = ""
    for name, text in texts:
        if text != before:
            lines = text.splitlines()
            more = len(lines) - MOST_LINES
            rest = [[f"// and {more:,} lines more", 0]] if more > 0 else []
            yield {"name": name, "lines": [*(placed(line) for line in lines[:MOST_LINES]), *rest]}
        before = text


def placed(line: str) -> list[Any]:
    """A line of a program without its location, and the user's line."""
    found = [m for m in _PLACE.finditer(line) if m.end() == len(line)]
    return [_PLACE.sub("", line), int(found[0][1] or 0) if found else 0]


def whatif(f: Any, base: Variant, reading: Reading, given: Arguments) -> list[dict[str, Any]]:
    """What the program would take under other decisions. What donates is traced anew; where the program before the
    decisions is the same, and the decisions are, it is made once."""
    plain = bare(f.options)
    ways: list[tuple[str, dict[str, Any]]] = [
        ("as it is", {}), ("strategy: optimal", {"strategy": "optimal"}),
        ("strategy: copy-before-write", {"strategy": "copy-before-write"}), ("decisions of MLIR", {"compat": "mlir"}),
        ("order: bottom-up", {"heuristic": "bottom-up"}), ("order: top-down", {"heuristic": "top-down"}),
        *((f"donate: {n}", {"donate": (n,), "donate_optional": ()}) for n in base.arrays),
    ]  # fmt: skip
    found = Decided(reading, plain)
    rows = []
    for name, options in ways:
        step(name)
        here = replace(plain, **options)
        try:
            if "donate" in options:
                again = read(type(f), f.__wrapped__, here, given, None)
                row = taken(stages.bufferized(again.traced, here).func, again.sizes)
            else:
                row = found.row(here)
        except TracebufError as error:
            row = {"why": getattr(error, "reason", str(error)).splitlines()[0]}
        rows.append({"name": name, **row})
    return rows


class Decided:
    """A program under several decisions."""

    def __init__(self, reading: Reading, plain: Options) -> None:
        self.reading = reading
        self.plain = plain
        self.rows: dict[tuple[bool, ...], dict[str, Any]] = {}
        self.tensors: Func | None = None
        """After the passes over tensors, with the improvements that it has as it is."""

    def row(self, options: Options) -> dict[str, Any]:
        func = clone_func(self.reading.traced.func if self.tensors is None else self.tensors)[0]
        if options.improved != self.plain.improved:
            func = clone_func(self.reading.traced.func)[0]
            return taken(stages.bufferized(replace(self.reading.traced, func=func), options).func, self.reading.sizes)
        if self.tensors is None:
            pipeline.optimize_tensors(func, options)
            self.tensors = clone_func(func)[0]
        analysis = pipeline.analyze(func, options)
        decisions = tuple(analysis.is_in_place(u) for op in func.walk() for u in op.tensor_uses())
        if decisions not in self.rows:
            self.rows[decisions] = taken(pipeline.decided_to_memref(func, analysis, options), self.reading.sizes)
        return self.rows[decisions]


def taken(func: Func, sizes: Mapping[Sym, int]) -> dict[str, Any]:
    """What a memref program takes."""
    use, kinds = memory_of(func), [e.kind for _, e in entries_of(func, sizes)]
    amounts = {"allocated": str(use.allocated), "copied": str(use.copied)}
    return {"allocations": kinds.count("allocation"), "copies": kinds.count("copy"), **amounts}
