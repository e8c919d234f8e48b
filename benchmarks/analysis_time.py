"""How the time of One-Shot analysis grows with the program, in both modes, beside mlir-opt-22 where it is installed.

Run with `python benchmarks/analysis_time.py [--sizes 128 ... 4000] [--svg FILE]`. CPU seconds, least of three for small
programs; ratios are of one row to the row before, beside the ratio of their sizes. Ours is the analysis alone, of a
module that has been read; MLIR's is the whole process with `test-analysis-only`, less that of parsing alone.
"""

from __future__ import annotations

import argparse
import math
import resource
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tracebuf import mlir
from tracebuf.analysis.modules.module import analyze_module
from tracebuf.options import OneShotOptions

SIZES = (128, 250, 500, 1000, 2000, 4000)
MLIR_SIZES = 500
"""MLIR is not asked for more steps, nor after a run of more than `PATIENCE` seconds."""
PATIENCE = 20.0
MLIR = "mlir-opt-22"
MODES = {"as MLIR": "mlir", "default": None}
COLOURS = ("#1b6ca8", "#d1495b", "#66a182", "#8d6a9f")


# -- programs, in MLIR's generic form


def extract(result: str, source: str, at: int, of: str) -> str:
    spec = "operandSegmentSizes = array<i32: 1, 0, 0, 0>"
    return f'{result} = "tensor.extract_slice"({source}) <{{{spec}, {place(at)}}}> : ({of}) -> tensor<4xf64>'


def insert(result: str, source: str, dest: str, at: int, of: str) -> str:
    spec = "operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>"
    types = f"(tensor<4xf64>, {of}) -> {of}"
    return f'{result} = "tensor.insert_slice"({source}, {dest}) <{{{spec}, {place(at)}}}> : {types}'


def place(at: int) -> str:
    numbers = {"static_offsets": at, "static_sizes": 4, "static_strides": 1}
    return ", ".join(f"{name} = array<i64: {n}>" for name, n in numbers.items())


def fill(result: str, dest: str, of: str) -> str:
    body = '({^bb0(%in: f64, %out: f64): "linalg.yield"(%in) : (f64) -> ()})'
    spec = "operandSegmentSizes = array<i32: 1, 1>"
    return f'{result} = "linalg.fill"(%x, {dest}) <{{{spec}}}> {body} : (f64, {of}) -> {of}'


def add(result: str, a: str, b: str, of: str) -> str:
    """a + b, computed in the place of a."""
    maps = ", ".join(["affine_map<(d0) -> (d0)>"] * 2)
    attrs = f"indexing_maps = [{maps}], iterator_types = [#linalg.iterator_type<parallel>]"
    body = (
        '({^bb0(%in: f64, %out: f64): %s = "arith.addf"(%in, %out) <{fastmath = #arith.fastmath<none>}> '
        ': (f64, f64) -> f64 "linalg.yield"(%s) : (f64) -> ()})'
    )
    spec = f"{attrs}, operandSegmentSizes = array<i32: 1, 1>"
    return f'{result} = "linalg.generic"({b}, {a}) <{{{spec}}}> {body} : ({of}, {of}) -> {of}'


def function(name: str, of: str, lines: Sequence[str], result: str) -> str:
    args, types = f"%a0: {of}, %b: {of}, %x: f64", f"({of}, {of}, f64) -> {of}"
    body = "\n  ".join([f"^bb0({args}):", *lines, f'"func.return"({result}) : ({of}) -> ()'])
    return f'"func.func"() <{{function_type = {types}, sym_name = "{name}"}}> ({{\n  {body}\n}}) : () -> ()'


def module(*functions: str) -> str:
    return '"builtin.module"() ({\n' + "\n".join(functions) + "\n}) : () -> ()\n"


def slices(steps: int) -> str:
    """a[4 * i:4 * i + 4] = x, step after step."""
    of, lines = f"tensor<{4 * steps}xf64>", list[str]()
    for i in range(steps):
        lines += [extract(f"%p{i}", f"%a{i}", 4 * i, of), fill(f"%f{i}", f"%p{i}", "tensor<4xf64>")]
        lines.append(insert(f"%a{i + 1}", f"%f{i}", f"%a{i}", 4 * i, of))
    return module(function("f", of, lines, f"%a{steps}"))


def generics(steps: int) -> str:
    """a += b, step after step."""
    of = "tensor<64xf64>"
    lines = [add(f"%a{i + 1}", f"%a{i}", "%b", of) for i in range(steps)]
    return module(function("f", of, lines, f"%a{steps}"))


def loops(steps: int) -> str:
    """Loops four deep that fill parts of what they carry; a step is a loop with its three ops."""
    of = "tensor<64xf64>"
    lines = [f'%c{n} = "arith.constant"() <{{value = {n} : index}}> : () -> index' for n in (0, 1)]

    def nest(name: str, carried: str, depth: int) -> list[str]:
        arg, part = f"%{name}", f"%{name}_"
        inside = [extract(f"{part}p", arg, 4 * depth, of), fill(f"{part}f", f"{part}p", "tensor<4xf64>")]
        inside.append(insert(f"{part}0", f"{part}f", arg, 4 * depth, of))
        if depth:
            inside += nest(f"{name}_{depth}", f"{part}0", depth - 1)
        last = f"%{name}_{depth}_r" if depth else f"{part}0"
        head = f'%{name}_r = "scf.for"(%c0, %c1, %c1, {carried}) ({{^bb0(%{name}i: index, {arg}: {of}):'
        end = f'"scf.yield"({last}) : ({of}) -> ()}}) : (index, index, index, {of}) -> {of}'
        return [head, *inside, end]

    last = "%a0"
    for k in range(max(1, steps // 4)):
        lines += nest(f"l{k}", last, 3)
        last = f"%l{k}_r"
    return module(function("f", of, lines, last))


def functions(steps: int) -> str:
    """Each function fills a part and calls the one before it."""
    of, made = "tensor<64xf64>", list[str]()
    for k in range(steps):
        lines = [extract("%p", "%a0", 4 * (k % 16), of), fill("%f", "%p", "tensor<4xf64>")]
        lines.append(insert("%a1", "%f", "%a0", 4 * (k % 16), of))
        if k:
            lines.append(f'%a2 = "func.call"(%a1, %b, %x) <{{callee = @f{k - 1}}}> : ({of}, {of}, f64) -> {of}')
        made.append(function(f"f{k}", of, lines, "%a2" if k else "%a1"))
    return module(*made)


PROGRAMS: dict[str, Callable[[int], str]] = {
    "slices": slices, "generics": generics, "loops": loops, "functions": functions,
}  # fmt: skip


# -- time


def ours(text: str, compat: str | None) -> float:
    found = math.inf
    for _ in range(3):
        read = mlir.read(text)
        options = OneShotOptions(
            bufferize_function_boundaries=True, allow_return_allocs_from_loops=True, compat=compat  # type: ignore[arg-type]
        )
        start = time.process_time()
        analyze_module(read, options)
        found = min(found, time.process_time() - start)
        if found > 1:
            break
    return found


def theirs(text: str) -> float | None:
    """CPU seconds of MLIR's analysis; None where it takes too long."""
    options = "bufferize-function-boundaries allow-return-allocs-from-loops test-analysis-only"
    try:
        parsing, all_of_it = (process(text, flags) for flags in ((), (f"-one-shot-bufferize={options}",)))
    except subprocess.TimeoutExpired:
        return None
    return max(all_of_it - parsing, 1e-3)


def process(text: str, flags: Sequence[str]) -> float:
    """CPU seconds of one run of the binary, the least of three."""
    found = math.inf
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        command = [MLIR, "-", *flags, "-o", "/dev/null"]
        subprocess.run(command, input=text, text=True, check=True, timeout=10 * PATIENCE)
        found = min(found, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        if found > 1:
            break
    return found


Row = tuple[int, float]


def measure(name: str, sizes: Sequence[int], with_mlir: bool) -> dict[str, list[Row]]:
    """(steps, seconds) for each mode, printed as they come."""
    found: dict[str, list[Row]] = {}
    for label, compat in MODES.items():
        rows = found.setdefault(label, [])
        for n in sizes:
            rows.append((n, ours(PROGRAMS[name](n), compat)))
            report(name, label, rows)
    if with_mlir:
        rows = found.setdefault(MLIR, [])
        for n in sorted({16, 32, 64, *(n for n in sizes if n <= MLIR_SIZES)}):
            if (seconds := theirs(PROGRAMS[name](n))) is None:
                break
            rows.append((n, seconds))
            report(name, MLIR, rows)
            if seconds > PATIENCE:
                break
    return found


def report(name: str, label: str, rows: list[Row]) -> None:
    (steps, seconds), more = rows[-1], ""
    if len(rows) > 1:
        before, earlier = rows[-2]
        more = f"  x{seconds / max(earlier, 1e-9):.1f} for x{steps / before:.1f}"
    print(f"{name:<10} {label:<12} {steps:>5} steps  {seconds:8.3f} s{more}", flush=True)


# -- plot


def svg(found: dict[str, dict[str, list[Row]]]) -> str:
    """One panel a program, both axes logarithmic."""
    width, height, edge = 300, 260, 44
    seconds = [s for panel in found.values() for rows in panel.values() for _, s in rows]
    steps = [n for panel in found.values() for rows in panel.values() for n, _ in rows]
    xs, ys = (math.log10(min(steps)), math.log10(max(steps))), (math.log10(min(seconds)), math.log10(max(seconds)))

    def at(n: float, s: float) -> tuple[float, float]:
        x = edge + (math.log10(n) - xs[0]) / (xs[1] - xs[0]) * (width - 2 * edge)
        return x, height - edge - (math.log10(s) - ys[0]) / (ys[1] - ys[0]) * (height - 2 * edge)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width * len(found)}" height="{height + 24}"']
    parts[0] += ' font-family="sans-serif" font-size="10"><rect width="100%" height="100%" fill="white"/>'
    for k, (name, panel) in enumerate(found.items()):
        parts.append(f'<g transform="translate({k * width},0)"><text x="{edge}" y="20">{name}: seconds by steps</text>')
        for power in range(math.ceil(ys[0]), math.floor(ys[1]) + 1):
            x, y = at(min(steps), 10**power)
            parts.append(f'<path d="M{x:.0f} {y:.0f}H{width - edge}" stroke="#ddd"/>')
            parts.append(f'<text x="{x - 6:.0f}" y="{y + 3:.0f}" text-anchor="end">{10**power:g}</text>')
        for n in (n for n in SIZES if n in steps):
            x, y = at(n, min(seconds))
            parts.append(f'<text x="{x:.0f}" y="{y + 14:.0f}" text-anchor="middle">{n}</text>')
        for colour, rows in zip(COLOURS, panel.values()):
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(n, s) for n, s in rows))
            parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append("</g>")
    labels = [*MODES, MLIR]
    for k, (label, colour) in enumerate(zip(labels, COLOURS)):
        parts.append(f'<text x="{edge + 90 * k}" y="{height + 12}" fill="{colour}">{label}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--svg", type=Path, default=Path(__file__).with_name("analysis_time.svg"))
    parser.add_argument("--no-mlir", action="store_true", help="do not ask mlir-opt-22")
    given = parser.parse_args()
    with_mlir = not given.no_mlir and shutil.which(MLIR) is not None
    if not with_mlir:
        print(f"without {MLIR}")
    found = {name: measure(name, given.sizes, with_mlir) for name in given.programs}
    given.svg.write_text(svg(found))
    print(f"plot: {given.svg}")


if __name__ == "__main__":
    main()
