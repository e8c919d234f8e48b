"""Random whole programs over the supported language, each a module that runs on its own.

A program has a function `program`, perhaps helper functions, and `arguments()` and `arguments_again()`, two sets of
arguments with different sizes. It goes into a real file, so that its source can be read as a user's. Everything is
drawn from a `random.Random`, whose seed Hypothesis may draw (`programs()`).

Why written by running: each statement is tried in its place (see `probe`), so that most of what is generated is valid
NumPy whatever the names hold on each path. Masks and index arrays are in `picks`.
"""

from __future__ import annotations

import ast
import importlib.util
import linecache
import random
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tracebuf.frozen import frozen
from tracebuf.testing.arrays import LAYOUTS
from tracebuf.testing.boxes import boxed_text
from tracebuf.testing.expressions import CONSTANTS, Mode, Sizes, Var
from tracebuf.testing.paths import Paths
from tracebuf.testing.probe import run
from tracebuf.testing.statements import HELPERS

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["Program", "generate", "loaded", "programs"]

HEADER = "import math\n\nimport numpy as np\n\nfrom tracebuf.testing.arrays import array\n\nSCALE = 2.0"
FOOTER = """
if __name__ == "__main__":
    from tracebuf.testing.ladder import climb

    climb(program, arguments(), again=[arguments_again()], tolerance=TOLERANCE, donate=DONATED)
"""


BOXED = 0.15
"""How many programs have their names in containers."""


@frozen(slots=False)
class Program:
    """The text of a module (see above). `tolerance` is in the text too, as TOLERANCE, and the parameters that are
    donated, as DONATED."""

    text: str

    def __str__(self) -> str:
        return self.text


def generate(draw: random.Random) -> Program:
    """A program drawn from a source of random numbers: one that does not bind the name of the captured array, which the
    ladder rebinds."""
    while True:
        made = _Programs(draw).program()
        (body,) = [n for n in ast.parse(made.text).body if isinstance(n, ast.FunctionDef) and n.name == "program"]
        names = [n for n in ast.walk(body) if isinstance(n, ast.Name) and n.id == "TABLE"]
        if all(isinstance(n.ctx, ast.Load) for n in names):
            boxed = boxed_text(made.text, draw) if draw.random() < BOXED else None
            return made if boxed is None else Program(boxed + "\n" + FOOTER)


def programs() -> SearchStrategy[Program]:
    """Programs of the whole grammar as a Hypothesis strategy, by their seeds: these do not shrink (`minimise` makes
    them smaller). Those of `tracebuf.testing.strategies.programs` do."""
    from hypothesis import strategies as st

    return st.integers(0, 2**32).map(lambda seed: generate(random.Random(seed)))


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
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)  # of minimised programs
                spec.loader.exec_module(module)
            yield module
        finally:
            del sys.modules[name]
            linecache.checkcache(str(path))
            linecache.cache.pop(str(path), None)


def _ones(rank: int, dtype: str) -> Any:
    return np.ones((1,) * rank, dtype)


class _Programs(Paths):
    """Arguments and the whole; two worlds at the start, one a call."""

    def __init__(self, draw: random.Random) -> None:
        mode: Mode = ("whole", "whole", "bits", "bits", "rough")[draw.randrange(5)]
        super().__init__(draw, mode, 2)
        self.made: tuple[list[str], list[str]] = ([], [])
        self.captured = ""
        self.donated: tuple[str, ...] = ()

    def program(self) -> Program:
        self.arguments()
        if self.chance(20):
            self.captured = f'TABLE = array("{self.dtype()}", {self.pick(("(3,)", "(2, 3)", "(5,)"))}, 7)'
        self.look()
        for _ in range(self.weighted((2, 1), (3, 2), (4, 3), (4, 4), (3, 6), (2, 8))):
            self.statement()
        if not self.broken:
            self.ending()
        if self.chance(35):
            self.donated = tuple(v.name for v in self.parameters if v.name in "abcd" and self.chance(60))
        return Program(self.text(self.lines or ["    pass"]) + "\n" + FOOTER)

    def ending(self) -> None:
        """A return that does not raise, if it can be had."""
        mark = len(self.lines)
        for _ in range(4):
            del self.lines[mark:]
            self.finish()
            seen = run(self.text([*self.lines, "    pass"]), self.mode)
            if seen is not None and seen.error is None:
                return

    def look(self) -> bool:
        here = "    " * (self.depth + 1) + "_look(locals())"
        seen = run(self.text([*self.lines, here, *reversed(self.closing)]), self.mode)
        if seen is None:
            return False
        if seen.error is not None:
            self.broken = self.chance(3)
            return False
        if not seen.worlds:
            return self.depth > 0
        self.worlds, self.scope, self.loose = seen.worlds, seen.scope, seen.loose
        if self.captured and not any(v.name == "TABLE" for v in self.scope):
            shape = eval(self.captured.split(", ", 1)[1].rsplit(", ", 1)[0])
            sample = _ones(len(shape), self.captured.split('"')[1])
            self.scope = [*self.scope, Var("TABLE", sample, tuple(self.constant(n) for n in shape))]
        return True

    def text(self, body: Sequence[str]) -> str:
        """The module with this body, all but what runs it."""
        names = ", ".join(v.name for v in self.parameters)
        parts = [HEADER, *([self.captured] if self.captured else [])]
        parts.append(f"TOLERANCE = {0.0 if self.mode == 'bits' else 1e-9}\nDONATED = {self.donated}\n")
        parts += [f"\n{HELPERS[h]}\n" for h in sorted(self.helpers)]
        parts.append("\n" + "\n".join([f"def program({names}):", *body]) + "\n")
        for name, lines in zip(("arguments", "arguments_again"), self.made):
            made = [f"def {name}():", *(f"    {line}" for line in lines), f"    return ({names},)"]
            parts.append("\n" + "\n".join(made) + "\n")
        return "\n".join(parts)

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
        dtype = self.weighted(*common, (4, self.pick(self.rare_dtypes())), (self.mode != "bits", "complex128"))
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
