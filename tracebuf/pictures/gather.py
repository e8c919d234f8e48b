"""What a report shows of a call: the source with what its lines take, lifetimes of buffers, the program at each stage,
conflicts, and other decisions. All of it plain data."""

from __future__ import annotations

import linecache
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tracebuf import stages
from tracebuf.errors import TracebufError
from tracebuf.explain.report import known
from tracebuf.frozen import frozen
from tracebuf.ir.dims import Sym, symbols
from tracebuf.ir.func import Func
from tracebuf.ir.printer import print_func
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.arena import Plan
from tracebuf.pictures.page import page
from tracebuf.process.progress import step
from tracebuf.stories.meaning import Numbers
from tracebuf.stories.saved import Step, codes_of
from tracebuf.stories.story import arrays_by_name, steps_of, stories
from tracebuf.stories.trials import Arguments, Reading, Variant, read, variant

MOST_STEPS = 600
"""Of the lines that eager runs: of more, one of several is shown, that with the most bytes alive."""
MOST_LINES = 5000
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
        above.set(title="NumPy", ylabel="bytes alive", xlabel="lines as they run")
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
            "stories": [{**s.to_dict(), "text": str(s)} for s in told],
            "saved": [s.to_dict() for s in told.saved],
            "source": source_of(f, [s.line for s in told]),
            "eager": [{"line": s.line, "live": s.live} for s in thinned(steps)],
            "ours": {"buffers": buffers(base.program, base.sizes), "ops": sum(1 for _ in base.program.walk())},
            "stages": list(programs(texts)),
            "whatif": whatif(f, base, reading, given),
        })  # fmt: skip


def source_of(f: Any, told: Sequence[int]) -> list[dict[str, Any]]:
    code = codes_of(f.__wrapped__)[-1]
    last = max([code.co_firstlineno, *told, *(n for _, _, n in code.co_lines() if n is not None)])
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 : last]
    return [{"line": code.co_firstlineno + k, "text": line.rstrip("\n")} for k, line in enumerate(lines)]


def thinned(steps: Sequence[Step]) -> list[Step]:
    """Not more than can be seen."""
    width = -(-len(steps) // MOST_STEPS) or 1
    return [max(steps[k : k + width], key=lambda s: s.live) for k in range(0, len(steps), width)]


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
            yield {"name": name, "lines": [placed(line) for line in text.splitlines()[:MOST_LINES]]}
        before = text


def placed(line: str) -> list[Any]:
    """A line of a program without its location, and the user's line."""
    found = [m for m in _PLACE.finditer(line) if m.end() == len(line)]
    return [_PLACE.sub("", line), int(found[0][1] or 0) if found else 0]


def whatif(f: Any, base: Variant, reading: Reading, given: Arguments) -> list[dict[str, Any]]:
    """What the program would take under other decisions. What donates is traced anew."""
    plain = f.options
    ways: list[tuple[str, dict[str, Any]]] = [
        ("as it is", {}), ("strategy: optimal", {"strategy": "optimal"}),
        ("strategy: copy-before-write", {"strategy": "copy-before-write"}), ("decisions of MLIR", {"compat": "mlir"}),
        ("order: bottom-up", {"heuristic": "bottom-up"}), ("order: top-down", {"heuristic": "top-down"}),
        *((f"donate: {n}", {"donate": (n,), "donate_optional": ()}) for n in arrays_by_name(f, given)),
    ]  # fmt: skip
    rows = []
    for name, options in ways:
        step(name)
        try:
            again = reading if "donate" not in options else None
            here = replace(plain, **options)
            made = base if not options else variant(type(f), f.__wrapped__, here, given, {}, again, keep=True)
        except TracebufError as error:
            rows.append({"name": name, "why": getattr(error, "reason", str(error)).splitlines()[0]})
            continue
        use = made.memory()
        amounts = {"allocated": str(use.allocated), "copied": str(use.copied)}
        rows.append({"name": name, "allocations": made.count("allocation"), "copies": made.count("copy"), **amounts})
    return rows


