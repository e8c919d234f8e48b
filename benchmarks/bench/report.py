"""What `make bench` writes: a table in Markdown, JSON with all times, and a plot (SVG)."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version

from benchmarks.bench.contest import Row
from benchmarks.bench.peers import NUMPY, OURS, PEERS
from benchmarks.programs.registry import SIZES

BEHIND = 0.95
"""Rows with best peer / ours below it are marked: 5 % is what two runs differ by."""
PACKAGES = ("numpy", "numba", "jax", "numexpr", "pythran")
COLOURS = {
    NUMPY: "#888888", "Numba": "#d1495b", "Numba loops": "#edae49", "JAX": "#66a182", "numexpr": "#8d6a9f",
    "Pythran": "#00798c", "C": "#222222",
}  # fmt: skip


def mean(ratios: Iterable[float | None]) -> float:
    """The geometric mean of those that are there; NaN of none."""
    found = [math.log(r) for r in ratios if r]
    return math.exp(sum(found) / len(found)) if found else math.nan


def versions() -> str:
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"Python {platform.python_version()}, {', '.join(found)}, {platform.machine()}"


# -- the table


def title(row: Row) -> str:
    return f"{row.program.name}, {getattr(row.program, row.size):,}"


def against_best(row: Row, without: Sequence[str] = ()) -> float | None:
    return row.ratio(best) if (best := row.best(without)) else None


def behind(row: Row) -> bool:
    ratio = against_best(row)
    return ratio is not None and ratio < BEHIND


def cells(row: Row, names: Sequence[str]) -> list[str]:
    if OURS not in row.times:
        return [title(row), "**wrong**" if OURS in row.wrong else "**refused**", *[""] * (len(names) + 1)]
    ratio = against_best(row)
    best = f"{'**' if behind(row) else ''}{ratio:.2f} {row.best()}{'**' if behind(row) else ''}" if ratio else ""
    return [title(row), shown(row.times[OURS].least), best, *(cell(row, name) for name in names)]


def cell(row: Row, name: str) -> str:
    if name in row.wrong:
        return "wrong"
    ratio = row.ratio(name)
    return "-" if name in row.failed else f"{ratio:.2f}" if ratio else ""


def table(rows: Sequence[Row]) -> str:
    """Ratios to our time (above 1, tracebuf is faster), least CPU times of a call; then what to know about rows."""
    names = [name for name in PEERS if name != OURS and any(name in (r.times | r.failed | r.wrong) for r in rows)]
    lines = [
        f"{versions()}; one core; least CPU time of a call, contestant / tracebuf (above 1: tracebuf is faster)",
        "", row_of(["program", OURS, "best / tracebuf", *names]), row_of(["---"] * (3 + len(names))),
    ]  # fmt: skip
    for size in SIZES:
        part = [r for r in rows if r.size == size]
        lines += [row_of(cells(r, names)) for r in part]
        if part:
            means = [mean(r.ratio(name) for r in part) for name in names]
            best = mean(against_best(r) for r in part)
            lines.append(row_of([f"geometric mean, {size}", "", f"{best:.2f}", *(f"{m:.2f}" for m in means)]))
    return "\n".join([*lines, *notes(rows)])


PAGE = """# Performance

`make bench` compares the programs of [benchmarks/programs](../benchmarks/programs) with NumPy and with peers, each
where it runs: Numba (the NumPy source as it is, and loops written by hand), JAX, numexpr, Pythran, and C (`gcc -O3
-march=native`). All contestants of a program take turns in one process on one core; each call is timed by itself, on
arguments that are restored before it; compiling is not timed; results are checked against NumPy's. The numbers of the
table are ratios: above 1 tracebuf is faster. Rows on which a peer is more than 5 % ahead are bold, and stay; their
reasons are below the table.

Ops that go over the same rows run on one block of rows after the other, 128 KB at a time, so that each row is read
from memory once, and what is only needed between them has a block's size; the bits are the same
(`tests/passes/test_rows_by_blocks.py`). `tile=False` (an option of `bufferize` and of `tracebuf.options`;
`TRACEBUF_TILE=0`) switches it off. CPU time with it as a share of the time without, in turns in one process
(`python -m benchmarks.tile`): several consumers of one value (`w = sqrt(u*u + v*v); u += w * c; v -= where(w > 1,
w, 0) * c`) 0.52 on 4,000,000 elements and on 2,000 x 2,000, 0.93 on 10,000; at their large sizes layer_norm 0.83
(0.90 of Numba's loops, 0.76 without), softmax 0.86, limited_diffusion 0.85, attention 0.94 to 0.98, the others 0.97
to 1.08, as far apart as two runs; small sizes 0.99 to 1.01.

![time of each contestant, as a multiple of tracebuf's](pictures/bench.svg)

"""


def page(rows: Sequence[Row]) -> str:
    """docs/performance.md: how it is measured, the plot, the table."""
    return f"{PAGE}{table(rows)}\n"


def notes(rows: Sequence[Row]) -> list[str]:
    """Who is missing, what is wrong or refused, and where we are behind, with the reason."""
    missing = sorted({name for r in rows for name in r.missing})
    late = [r for r in rows if behind(r)]
    late.sort(key=lambda r: against_best(r) or 0.0)
    lines = ["", f"missing: {', '.join(missing)} (pip install .[bench])"] if missing else []
    lines += ["", "`-`: the peer does not compile the program."]
    for r in rows:
        lines += [f"wrong: {title(r)}: {name}: {why}" for name, why in r.wrong.items()]
        lines += [f"refused: {title(r)}: {why}" for name, why in r.failed.items() if name == OURS]
    lines += ["", arrays(rows), "", f"behind the best: {len(late)} of {len(rows)}"]
    lines += [f"- {title(r)}: {against_best(r):.2f} of {r.best()}: {r.program.reason or 'no reason yet'}" for r in late]
    return lines


def arrays(rows: Sequence[Row]) -> str:
    """The best of those that take NumPy's code, or the like of it: what stays if nobody writes loops by hand."""
    found = [r for row in rows if (r := against_best(row, ["Numba loops"]))]
    late = sum(r < BEHIND for r in found)
    return f"best / tracebuf without loops by hand: {mean(found):.2f}, below {BEHIND} in {late} of {len(found)}"


def line(row: Row) -> str:
    """One row while the run goes on."""
    best, ratio = row.best(), against_best(row)
    parts = [f"{name} {shown(t.least)}" for name, t in row.times.items()]
    parts += [f"{name} FAILED {why}" for name, why in row.failed.items() if name == OURS]
    parts += [f"{name} WRONG {why}" for name, why in row.wrong.items()]
    return f"{title(row):<36}" + (f"{ratio:5.2f} of {best}: " if ratio else "") + ", ".join(parts)


def row_of(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def shown(seconds: float) -> str:
    unit, factor = next(((u, f) for u, f in (("s", 1.0), ("ms", 1e3), ("us", 1e6)) if seconds * f >= 1), ("ns", 1e9))
    return f"{seconds * factor:.3g} {unit}" if seconds * factor < 1000 else f"{seconds * factor:.0f} {unit}"


# -- JSON


def as_json(rows: Sequence[Row]) -> str:
    """All times in seconds, by contestant."""
    found = [
        {
            "program": r.program.name, "family": r.program.family, "size": r.size,
            "n": getattr(r.program, r.size), "times": {name: t.summary() for name, t in r.times.items()},
            "best": r.best(), "best / tracebuf": against_best(r), "NumPy / tracebuf": r.ratio(NUMPY),
            "does not compile": r.failed, "wrong": r.wrong, "missing": sorted(r.missing),
            "reason": r.program.reason if behind(r) else "",
        }
        for r in rows
    ]  # fmt: skip
    return json.dumps({"versions": versions(), "rows": found}, indent=1) + "\n"


# -- plot


def svg(rows: Sequence[Row]) -> str:
    """A panel a size, a line a program, a dot a contestant: its time over ours, on a logarithmic axis."""
    sizes = [size for size in SIZES if any(r.size == size for r in rows)]
    names = list(dict.fromkeys(r.program.name for r in rows))
    ratios = [r.ratio(name) for r in rows for name in COLOURS]
    least, most = min([0.5, *(x for x in ratios if x)]), min(max([2.0, *(x for x in ratios if x)]), 1000.0)
    left, width, step, top = 130, 360, 14, 40
    height = top + step * len(names) + 40

    def at(panel: int, ratio: float) -> float:
        share = math.log(min(max(ratio, least), most) / least) / math.log(most / least)
        return left + panel * (width + 30) + share * width

    total = left + len(sizes) * (width + 30)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="{height}" font-family="sans-serif"']
    parts[0] += ' font-size="10"><rect width="100%" height="100%" fill="white"/>'
    for k, name in enumerate(names):
        parts.append(f'<text x="{left - 8}" y="{top + step * k + 4}" text-anchor="end">{name}</text>')
    for panel, size in enumerate(sizes):
        parts.append(f'<text x="{at(panel, least):.0f}" y="16">{size}: time / tracebuf\'s</text>')
        for power in range(math.ceil(math.log2(least)), math.floor(math.log2(most)) + 1):
            x, colour = at(panel, 2.0**power), "#222" if power == 0 else "#ddd"
            parts.append(f'<path d="M{x:.1f} {top - 8}V{height - 34}" stroke="{colour}"/>')
            parts.append(f'<text x="{x:.1f}" y="{top - 11}" text-anchor="middle">{2.0**power:g}</text>')
        for r in (r for r in rows if r.size == size):
            y = top + step * names.index(r.program.name)
            for name, colour in COLOURS.items():
                if ratio := r.ratio(name):
                    parts.append(f'<circle cx="{at(panel, ratio):.1f}" cy="{y}" r="3.5" fill="{colour}"/>')
    for k, (name, colour) in enumerate(COLOURS.items()):
        parts.append(f'<text x="{left + 90 * k}" y="{height - 10}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
