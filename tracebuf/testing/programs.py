"""Random whole programs over the supported language, each a module that runs on its own.

A program has a function `program`, perhaps helper functions, and `arguments()` and `arguments_again()`, two sets of
arguments with different sizes. It goes into a real file, so that its source can be read as a user's. Everything is
drawn from a `random.Random`, which Hypothesis can stand in for (`programs()`).

What not: while loops, early returns, masks, names bound to different arrays on different paths; they are outside the
language, and refused programs test little.
"""

from __future__ import annotations

import importlib.util
import linecache
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tracebuf.testing.arrays import LAYOUTS
from tracebuf.testing.expressions import CONSTANTS, Dims, Expr, Expressions, Mode, Sizes, Var, is_array, is_float

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["Program", "generate", "loaded", "programs"]

HELPERS = {
    "shifted": "def shifted(x, k):\n    return x[1:] + k",
    "scale": "def scale(x, by=2):\n    x *= by",
    "backwards": "def backwards(x):\n    return x[::-1]",
    "both": "def both(x, y):\n    z = x + y\n    return y, z",
    "bump": "def bump(x, i):\n    x[i] = x[i] + 1\n    return x",
    "rows": "def rows(x):\n    for j in range(len(x)):\n        x[j] += j\n    return x.T",
    "choose": "def choose(x, flag):\n    if flag:\n        return x\n    return x + 1",
}
HEADER = "import numpy as np\n\nfrom tracebuf.testing.arrays import array\n\nSCALE = 2.0"
FOOTER = """
if __name__ == "__main__":
    from tracebuf.testing.ladder import climb

    climb(program, arguments(), again=[arguments_again()], tolerance=TOLERANCE)
"""


@dataclass(frozen=True)
class Program:
    """The text of a module (see above). `tolerance` is in the text too, as TOLERANCE."""

    text: str

    def __str__(self) -> str:
        return self.text


def generate(draw: random.Random) -> Program:
    """A program drawn from a source of random numbers."""
    return _Programs(draw).program()


def programs() -> SearchStrategy[Program]:
    """Programs as a Hypothesis strategy."""
    from hypothesis import strategies as st

    return st.randoms(use_true_random=False).map(generate)


@contextmanager
def loaded(program: Program) -> Iterator[ModuleType]:
    """The program as a module from a file that is there for as long as the context."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "generated.py"
        path.write_text(program.text)
        name = f"generated_{abs(hash(program.text))}"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
            yield module
        finally:
            del sys.modules[name]
            linecache.checkcache(str(path))
            linecache.cache.pop(str(path), None)


def _ones(rank: int, dtype: str) -> Any:
    return np.ones((1,) * rank, dtype)


class _Programs(Expressions):
    """Statements; two worlds at the start, one a call."""

    def __init__(self, draw: random.Random) -> None:
        mode: Mode = ("whole", "whole", "bits", "bits", "rough")[draw.randrange(5)]
        super().__init__(draw, mode, 2)
        self.lines: list[str] = []
        self.depth = 0
        self.count = 0
        self.helpers: set[str] = set()
        self.parameters: list[Var] = []
        self.made: tuple[list[str], list[str]] = ([], [])

    def program(self) -> Program:
        self.arguments()
        for _ in range(self.weighted((2, 1), (3, 2), (4, 3), (4, 4), (3, 6), (2, 8))):
            self.statement()
        self.finish()
        head = f"def program({', '.join(v.name for v in self.parameters)}):"
        parts = [HEADER, f"TOLERANCE = {0.0 if self.mode == 'bits' else 1e-9}\n"]
        parts += [f"\n{HELPERS[h]}\n" for h in sorted(self.helpers)]
        parts.append("\n" + "\n".join([head, *(self.lines or ["    pass"])]) + "\n")
        names = ", ".join(v.name for v in self.parameters)
        for name, lines in zip(("arguments", "arguments_again"), self.made):
            parts.append(
                "\n"
                + "\n".join([f"def {name}():", *(f"    {line}" for line in lines), f"    return ({names},)"])
                + "\n"
            )
        return Program("\n".join([*parts, FOOTER]))

    def emit(self, text: str) -> None:
        self.lines.append("    " * (self.depth + 1) + text)

    def fresh(self, kind: str = "t") -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def bind(self, var: Var) -> None:
        self.scope = [v for v in self.scope if v.name != var.name] + [var]

    # -- arguments
    def arguments(self) -> None:
        sizes: list[Sizes] = [self.size() for _ in range(2)]
        large = self.chance(15)
        if large:  # the second call is long enough for vectors, blocks and their remainders
            sizes[0] = (sizes[0][0], self.pick((17, 40, 129, 300)))
        for name in "abcd"[: self.weighted((3, 1), (5, 2), (4, 3), (1, 4))]:
            earlier = [v for v in self.parameters if v.dims]
            if earlier and self.chance(9):
                self.same_memory(name, self.pick(earlier))
            else:
                self.array_argument(name, sizes, 2 if large else 3)
        for name in "nm"[: self.weighted((4, 0), (4, 1), (2, 2))]:
            values = self.size()
            if self.chance(10):
                values = (-values[0], -values[1])
            self.scalar_argument(Var(name, 1, values=values), [str(v) for v in values])
        if self.chance(35):
            text = self.pick(CONSTANTS[self.mode]) if self.chance(70) else "0.5"
            text = (
                text
                if isinstance(eval(text), float)
                else self.pick(("np.float64(2)", "np.float32(3)", "np.int64(2)", "2.0"))
            )
            self.scalar_argument(Var("x", eval(text)), [text, text])
        if self.chance(20):
            self.scalar_argument(Var("flag", True), [self.pick(("True", "False")), self.pick(("True", "False"))])

    def size(self) -> Sizes:
        common = ((20, 3), (20, 4), (20, 5), (12, 6), (8, 2), (8, 1), (4, 0), (2, 9))
        return self.weighted(*common), self.weighted(*common)

    def array_argument(self, name: str, sizes: list[Sizes], most: int) -> None:
        rank = min(self.weighted((1, 0), (8, 1), (9, 2), (2, 3)), most)
        dims: list[Sizes] = []
        for _ in range(rank):
            size = self.pick(sizes)
            more = self.weighted((8, 0), (1, 1), (1, 2))
            size = (size[0] + more, size[1] + more)
            dims.append(self.pick((self.constant(1), self.size(), self.constant(2))) if self.chance(14) else size)
        common = ((8, "float64"), (3, "float32"), (4, "int64"), (2, "bool"))
        dtype = self.weighted(*common, (4, self.pick(self.rare_dtypes())))
        layout = self.pick(LAYOUTS) if rank and self.chance(45) else "C"
        special = self.mode == "bits" and self.chance(60)
        writable = layout != "repeated" and not self.chance(4)
        self.parameters.append(Var(name, _ones(rank, dtype), tuple(dims), writable=writable))
        self.scope.append(self.parameters[-1])
        for call, lines in enumerate(self.made):
            other = self.pick(LAYOUTS) if rank and call and self.chance(20) and layout != "repeated" else layout
            other = layout if other == "repeated" else other
            rest = (", special=True" if special else "") + ("" if writable else ", writable=False")
            shape = tuple(d[call] for d in dims)
            lines.append(f'{name} = array("{dtype}", {shape}, {self.draw.randrange(100)}, "{other}"{rest})')

    def same_memory(self, name: str, base: Var) -> None:
        """One array under two names, or two that overlap."""
        text, dims = (
            self.pick((base.name, f"{base.name}[:]", f"{base.name}[1:]", f"{base.name}[::-1]", f"{base.name}.T")),
            base.dims,
        )
        if text.endswith("[1:]"):
            dims = (tuple(max(n - 1, 0) for n in dims[0]), *dims[1:])
        elif text.endswith(".T"):
            dims = dims[::-1]
        self.parameters.append(Var(name, base.sample, dims, writable=base.writable))
        self.scope.append(self.parameters[-1])
        for lines in self.made:
            lines.append(f"{name} = {text}")

    def scalar_argument(self, var: Var, texts: list[str]) -> None:
        self.parameters.append(var)
        self.scope.append(var)
        for lines, text in zip(self.made, texts):
            lines.append(f"{var.name} = {text}")

    # -- statements
    def statement(self) -> None:
        before = len(self.lines)
        for _ in range(6):
            nested = 3 if self.depth < 2 and len(self.lines) < 25 else 0
            kind = self.weighted(
                (12, "store"), (12, "augmented"), (8, "fresh"), (7, "view"), (2 * nested, "loop"), (nested, "branch"),
                (3, "create"), (4, "scalar"), (2, "helper"), (3, "accumulate"), (1, "copy"), (2, "reduction"),
                (2, "int"), (1, "swap"), (2, "out"),
            )  # fmt: skip
            getattr(self, "do_" + kind)()
            if len(self.lines) > before:
                return

    def writables(self) -> list[Var]:
        return [v for v in self.arrays() if v.writable or self.chance(1)]

    def target(self) -> Dims:
        """Sizes worth computing an array of."""
        arrays = self.arrays()
        a = self.pick(arrays)
        return a.dims if self.chance(40) else self.view(a.expr).dims

    def do_fresh(self) -> None:
        e = self.expression(self.target(), 3)
        name = self.fresh()
        if self.depth == 0 and is_array(e.sample) and self.chance(15):
            name = self.pick(self.arrays()).name
        self.emit(f"{name} = {e.text}")
        self.bind(Var(name, e.sample, e.dims, writable=all(v.writable for v in self.arrays())))

    def do_view(self) -> None:
        base = self.pick(self.arrays())
        e = base.expr
        if len(e.dims) > 1 and self.chance(30):
            e = Expr(self.pick((f"{e.text}.T", f"np.transpose({e.text})")), e.sample, e.dims[::-1])
        if self.chance(80) or e is base.expr:
            e = self.view(e)
        name = base.name if self.depth == 0 and is_array(e.sample) and self.chance(10) else self.fresh("v")
        self.emit(f"{name} = {e.text}")
        self.bind(Var(name, e.sample, e.dims, writable=base.writable))

    def do_copy(self) -> None:
        base = self.pick(self.arrays())
        name = self.fresh()
        dtype = self.dtype()
        form, new = self.pick((("{}.copy()", ""), ("np.copy({})", ""), ("{}.astype(np.%s)" % dtype, dtype)))  # noqa: UP031
        if new and is_float(base.sample) and not new.startswith("float") and self.mode == "rough":
            return
        self.emit(f"{name} = {form.format(base.name)}")
        self.bind(Var(name, base.sample.astype(new) if new else base.sample, base.dims))

    def do_create(self) -> None:
        base = self.pick(self.arrays())
        name, dtype = self.fresh(), self.dtype()
        kind = self.pick(("zeros", "ones", "empty"))
        if self.chance(45):
            given = self.chance(30)
            self.emit(f"{name} = np.{kind}_like({base.name}{f', dtype=np.{dtype}' if given else ''})")
            var = Var(name, base.sample.astype(dtype) if given else base.sample, base.dims)
        else:
            pool = [(f"{a.name}.shape[{k}]", d) for a in self.arrays() for k, d in enumerate(a.dims)]
            pool += [(v.name, v.values) for v in self.scope if v.values and min(v.values) >= 0]
            pool += [
                (f"{v.name} + 1", tuple(n + 1 for n in v.values))
                for v in self.scope
                if v.values and min(v.values) >= -1
            ]
            pool += [("3", self.constant(3)), ("1", self.constant(1))]
            sizes = [self.pick(pool) for _ in range(self.draw.randrange(1, 3))]
            shape = f"({', '.join(t for t, _ in sizes)})" if len(sizes) > 1 else sizes[0][0]
            self.emit(f"{name} = np.{kind}({shape}{f', dtype=np.{dtype}' if self.chance(50) else ''})")
            var = Var(
                name, _ones(len(sizes), dtype if "dtype" in self.lines[-1] else "float64"), tuple(d for _, d in sizes)
            )
        if kind == "empty":
            value = self.expression(var.dims, 2) if self.chance(60) else self.atom(())
            if not self.may_store(var.sample, value) or not self.fits(value.dims, var.dims):
                value = Expr("1", 1)
            self.emit(f"{name}[...] = {value.text}" if self.chance(80) or value.dims else f"{name}.fill({value.text})")
        self.bind(var)

    def may_store(self, target: Any, value: Expr) -> bool:
        return not (self.mode == "rough" and is_float(value.sample) and not is_float(target))

    def do_store(self) -> None:
        pool = self.writables()
        if not pool:
            return
        base = self.pick(pool)
        target = self.view(base.expr)
        value = self.expression(target.dims, self.weighted((3, 1), (5, 2), (2, 3)))
        if self.may_store(base.sample, value) and (self.fits(value.dims, target.dims) or self.chance(2)):
            self.emit(f"{target.text} = {value.text}")

    def do_augmented(self) -> None:
        pool = self.writables()
        if not pool:
            return
        base = self.pick(pool)
        target = base.expr if self.chance(45) else self.view(base.expr)
        value = self.expression(target.dims, self.weighted((4, 1), (4, 2), (1, 3)))
        op = self.pick(("+", "+", "+", "-", "*", "/", "//", "%", "&", "|", "^", "**"))
        allowed = {"whole": "+ - * & | ^", "bits": "+ - * / // % & | ^", "rough": "+ - * /"}[self.mode].split()
        if (
            op not in allowed
            or not self.fits(value.dims, target.dims)
            or (self.loops and op == "*" and value.dims and self.mode == "whole")
        ):
            return
        e = self.result("", lambda x, y: eval(f"x {op} y"), [target, value])
        if e is None or not (np.can_cast(np.asarray(e.sample).dtype, base.sample.dtype, "same_kind") or self.chance(2)):
            return
        self.emit(f"{target.text} {op}= {value.text}")

    def do_out(self) -> None:
        """A ufunc into an array or a view, everywhere or where a comparison holds."""
        pool = self.writables()
        if not pool:
            return
        base = self.pick(pool)
        target = base.expr if self.chance(50) else self.view(base.expr)
        x, y = self.expression(target.dims, 1), self.expression(target.dims, 1)
        name = self.ufunc()
        e = self.result("", getattr(np, name), [x, y])
        if e is None or not is_array(target.sample) or not self.fits(e.dims, target.dims):
            return
        if not self.may_store(base.sample, e) or not np.can_cast(e.sample.dtype, base.sample.dtype, "same_kind"):
            return
        masked = self.mode != "rough" and any(is_array(o.sample) for o in (x, y)) and self.chance(35)
        where = f", where={x.inner} > {y.inner}" if masked else ""
        self.emit(f"np.{name}({x.text}, {y.text}, out={target.text}{where})")

    def do_scalar(self) -> None:
        """A scalar: an element, a full reduction, a Python number."""
        if self.chance(25):
            name = self.fresh("s")
            text = self.pick(("0.0", "0", "1.0", "np.float64(0)"))
            self.emit(f"{name} = {text}")
            self.bind(Var(name, eval(text)))
            return
        e = self.expression((), 2)
        if is_array(e.sample):
            return
        if self.chance(8) and isinstance(e.sample, np.floating):
            e = Expr(f"float({e.text})", 1.0)
        name = self.fresh("s")
        self.emit(f"{name} = {e.text}")
        self.bind(Var(name, e.sample))

    def do_int(self) -> None:
        """A Python int, or the sizes of an array unpacked."""
        name = self.fresh("k")
        if self.chance(30) and (pool := [a for a in self.arrays() if len(a.dims) >= 2]):
            a = self.pick(pool)
            names = [f"{name}{axis}" for axis in "xyz"[: len(a.dims)]]
            self.emit(f"{', '.join(names)} = {a.name}.shape")
            for n, size in zip(names, a.dims):
                self.bind(Var(n, 1, values=size))
            return
        text, values = self.index()
        if self.chance(40):
            other, more = self.index()
            op = self.pick(("+", "-", "*", "min", "max"))
            text = f"{op}({text}, {other})" if op[0] == "m" else f"({text}) {op} ({other})"
            compute: dict[str, Callable[[int, int], int]] = {
                "+": lambda x, y: x + y,
                "-": lambda x, y: x - y,
                "*": lambda x, y: x * y,
                "min": min,
                "max": max,
            }
            values = tuple(compute[op](x, y) for x, y in zip(values, more))
        if max(map(abs, values)) < 50:
            self.emit(f"{name} = {text}")
            self.bind(Var(name, 1, values=values))

    def do_swap(self) -> None:
        """Two names or two elements change places."""
        scalars = [v for v in self.scalars() if v.values is None and v.name.startswith("s")]
        if len(scalars) > 1 and self.chance(50):
            x, y = self.draw.sample(scalars, 2)
            if type(x.sample) is type(y.sample):
                self.emit(f"{x.name}, {y.name} = {y.name}, {x.name}")
            return
        if self.depth == 0 and self.chance(40) and len(self.arrays()) > 1:
            x, y = self.draw.sample(self.arrays(), 2)
            self.emit(f"{x.name}, {y.name} = {y.name}, {x.name}")
            self.bind(replace(y, name=x.name))
            self.bind(replace(x, name=y.name))
            return
        pool = [a for a in self.writables() if len(a.dims) == 1]
        if pool and (i := self.place((a := self.pick(pool)).dims[0])) and (j := self.place(a.dims[0])):
            self.emit(f"{a.name}[{i}], {a.name}[{j}] = {a.name}[{j}], {a.name}[{i}]")

    def do_accumulate(self) -> None:
        """`s = s + e` or `s += e` on a number that keeps its type."""
        pool = [v for v in self.scalars() if v.values is None and v.name.startswith("s")]
        if not pool:
            return
        s, e = self.pick(pool), self.expression((), 2)
        result = self.result("", lambda x, y: x + y, [s.expr, e])
        if result is None or is_array(result.sample):
            return
        if (
            self.depth
            and type(result.sample) is not type(s.sample)
            and not (isinstance(s.sample, float) and isinstance(result.sample, float))
        ):
            return
        self.emit(f"{s.name} += {e.text}" if self.chance(60) else f"{s.name} = {s.name} + {e.text}")
        self.bind(replace(s, sample=result.sample))

    def do_reduction(self) -> None:
        """An array reduced along one or several axes, with a name."""
        pool = [a for a in self.arrays() if len(a.dims) >= 2]
        if not pool:
            return
        a = self.pick(pool)
        e = a.expr if self.chance(50) else self.view(a.expr, keep_rank=True)
        kinds = {"whole": ("sum", "max", "min"), "bits": ("max", "min"), "rough": ("sum", "mean", "max", "min")}[
            self.mode
        ]
        kind, rank = self.pick(kinds), len(e.dims)
        axes = tuple(sorted(self.draw.sample(range(rank), self.draw.randrange(1, rank + 1 if rank > 2 else rank))))
        keep = self.chance(35)
        shown = str(axes[0] - (rank if self.chance(20) else 0)) if len(axes) == 1 else str(axes)
        full = getattr(np, kind)(e.sample, axis=axes, keepdims=keep)
        dims = tuple(self.constant(1) if k in axes else d for k, d in enumerate(e.dims) if keep or k not in axes)
        name = self.fresh("r")
        self.emit(f"{name} = {e.inner}.{kind}(axis={shown}{', keepdims=True' if keep else ''})")
        self.bind(Var(name, full, dims))

    def do_helper(self) -> None:
        name = self.pick(tuple(HELPERS))
        pool = [a for a in self.arrays() if a.dims and (a.writable or name not in ("scale", "bump", "rows"))]
        if not pool:
            return
        a = self.pick(pool)
        made = self.fresh("h")
        scalar, kind = self.atom(()), a.sample.dtype.kind
        after: list[Var] = []
        if (
            name == "shifted"
            and (e := self.result("", lambda x, y: x + y, [a.expr, scalar]))
            and not is_array(scalar.sample)
        ):
            text, after = (
                f"{made} = shifted({a.name}, {scalar.text})",
                [Var(made, e.sample, (tuple(max(n - 1, 0) for n in a.dims[0]), *a.dims[1:]))],
            )
        elif name == "scale" and kind == "f" and not (self.loops and self.mode == "whole"):
            text = f"scale({a.name})" if self.chance(50) else f"scale({a.name}, by={self.pick(('3', '-1', '0.5'))})"
        elif name == "backwards":
            text, after = f"{made} = backwards({a.name})", [replace(a, name=made)]
        elif name == "both":
            b = self.pick([v for v in pool if v.dims == a.dims])
            e = self.result("", lambda x, y: x + y, [a.expr, b.expr])
            if e is None:
                return
            text, after = (
                f"{made}, {made}z = both({a.name}, {b.name})",
                [replace(b, name=made), Var(made + "z", e.sample, e.dims)],
            )
        elif name == "bump" and kind != "b" and (i := self.place(a.dims[0])):
            text, after = f"{made} = bump({a.name}, {i})", [replace(a, name=made)]
        elif name == "rows" and kind != "b":
            text, after = f"{made} = rows({a.name})", [Var(made, a.sample, a.dims[::-1])]
        elif name == "choose" and kind != "b":
            text, after = f"{made} = choose({a.name}, {self.pick(('True', 'False'))})", [replace(a, name=made)]
        else:
            return
        self.helpers.add(name)
        self.emit(text)
        for v in after:
            self.bind(v)

    # -- control flow
    def do_loop(self) -> None:
        i = "ijk"[self.loops] if self.loops < 3 else self.fresh("i")
        stop, start, step = self.bound(), None, None
        if self.chance(5) and (found := self.element("int64")) is not None:
            stop = f"{found.text} % 3", self.constant(3)
        if self.chance(45):
            start = self.index()
            step = self.pick((None, None, 1, -1, 2, -2))
            if step is not None and step < 0 and self.chance(80):
                start, stop = stop, start
        ranges = [range(start[1][w] if start else 0, stop[1][w], step or 1) for w in range(self.worlds)]
        if max(map(len, ranges)) > 20 or (not any(map(len, ranges)) and not self.chance(5)):
            return
        picked = [(w, n) for w, r in enumerate(ranges) for n in dict.fromkeys((*r[:2], *r[-1:]))][:40]
        if not picked:
            picked = [(0, 0)]
        text = ", ".join([*([start[0]] if start else []), stop[0], *([str(step)] if step is not None else [])])
        self.emit(f"for {i} in range({text}):")
        outer, worlds = self.scope, self.worlds
        self.enter([w for w, _ in picked])
        self.bind(Var(i, 1, values=tuple(n for _, n in picked)))
        self.loops += 1
        self.body(self.weighted((4, 1), (4, 2), (2, 3)))
        self.loops -= 1
        inside = {v.name: v for v in self.scope}
        self.worlds = worlds
        self.scope = [replace(v, sample=inside[v.name].sample) for v in outer if v.name in inside]
        self.scope = [v for v in self.scope if v.name != i]

    def bound(self) -> tuple[str, Sizes]:
        shaped = [(f"{a.name}.shape[{k}]", d) for a in self.arrays() for k, d in enumerate(a.dims)]
        return self.pick(shaped) if shaped and self.chance(60) else self.index()

    def body(self, count: int) -> None:
        self.depth += 1
        before = len(self.lines)
        for _ in range(count):
            self.statement()
        if len(self.lines) == before:
            self.emit("pass")
        self.depth -= 1

    def do_branch(self) -> None:
        condition = self.condition()
        if condition is None:
            return
        self.emit(f"if {condition}:")
        for side in range(2 if self.chance(50) else 1):
            if side:
                self.emit("else:")
            outer = self.scope
            self.body(self.weighted((5, 1), (4, 2)))
            inside = {v.name: v for v in self.scope}
            self.scope = [replace(v, sample=inside[v.name].sample) for v in outer]

    def condition(self) -> str | None:
        """A test on a number: Python's or a traced one."""
        if self.chance(45) and (ints := [v for v in self.scope if v.values is not None]):
            v = self.pick(ints)
            return self.pick(
                (
                    f"{v.name} > 1",
                    f"{v.name} % 2 == 0",
                    f"{v.name} == 2",
                    f"0 < {v.name} < 3",
                    f"{v.name} >= {self.index()[0]}",
                )
            )
        if any(v.name == "flag" for v in self.scope) and self.chance(40):
            return self.pick(("flag", "not flag"))
        if self.chance(15) and (shaped := [a for a in self.arrays() if a.dims]):
            return f"{self.pick(shaped).name}.shape[0] > {self.pick((1, 2, 3))}"
        e = self.expression((), 1)
        if is_array(e.sample) or (self.mode == "rough" and is_float(e.sample)):
            return None
        if self.chance(15) and (other := self.condition()):
            return f"{e.inner} > 1 {self.pick(('and', 'or'))} {other}"
        return f"{e.inner} {self.pick(('>', '<=', '!='))} {self.pick(('0', '1', '2'))}"

    # -- results
    def finish(self) -> None:
        if self.chance(6):
            return
        count = self.weighted((5, 1), (4, 2), (2, 3), (1, 4))
        texts = [self.returned() for _ in range(count)]
        if self.chance(8) and count > 1:
            texts[-1] = texts[0]
        if self.chance(6):
            texts.append(f"({texts[0]}, {self.returned()})")
        self.emit(f"return {', '.join(texts)}")

    def returned(self) -> str:
        kind = self.weighted((8, "array"), (3, "view"), (3, "scalar"), (2, "expression"), (1, "reduction"))
        if kind == "scalar" and (pool := self.scalars()):
            return self.pick(pool).name
        if kind == "view":
            return self.view(self.pick(self.arrays()).expr).text
        if kind == "expression":
            return self.expression(self.target(), 2).inner
        if kind == "reduction" and self.mode != "bits":
            return f"{self.pick(self.arrays()).name}.{self.pick(('sum', 'mean'))}()"
        recent = self.arrays()
        return (recent[-1] if self.chance(40) else self.pick(recent)).name
