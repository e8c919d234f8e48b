"""What the writers of ops write to: lines, indented, and an expression or a name for each value."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tracebuf.backend.numba.expressions import Expr, number
from tracebuf.backend.numba.helpers import HELPERS
from tracebuf.backend.numba.names import Names, hint_of, line_of
from tracebuf.backend.numba.needed import Needed
from tracebuf.backend.numba.scalars import Scalar, expression, libm_name
from tracebuf.backend.numba.style.format import WIDTH
from tracebuf.errors import UnsupportedError
from tracebuf.ir.core import Mixed, Op, Use, Value
from tracebuf.ir.dims import Dim
from tracebuf.ir.func import Func
from tracebuf.ir.types import INDEX, ShapedType
from tracebuf.location import Location
from tracebuf.ops.arrays import linalg
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.control import scf
from tracebuf.ops.control.checks import Check
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith, libm

_PURE = (arith.ScalarOp, memref.Dim, memref.Subview, memref.Cast, memref.CollapseShape, memref.ExpandShape, memref.Load)
"""Ops past which what reads an array may move."""


class Text:
    """The lines of a function so far, and the expressions of its values. `objects` are those that the text has by name
    and the module must define."""

    def __init__(
        self,
        func: Func,
        objects: dict[str, Any],
        helpers: set[str],
        functions: dict[str, str],
        marks: bool = False,
        plain: bool = False,
    ) -> None:
        self.func, self.objects, self.helpers, self.functions = func, objects, helpers, functions
        self.names = Names(func)
        self.names.taken |= {*objects, *functions.values()}
        self.needed = Needed(func)
        self.marks = marks
        """Whether it is for Numba: ops that may be functions of their own are marked."""
        self.plain = plain
        """Whether NumPy's functions are called by their names, under the error state that is set."""
        self.arrays: set[str] = set()
        """Variables of arrays."""
        self.places: dict[str, Location] = {}
        """Where the lines that are comments stand in the user's files."""
        self.lines: list[str] = []
        self.depth = 1
        self.exprs: dict[Value, Expr] = {}
        self.cells: set[Value] = set()
        self.pure: set[str] = set()
        """Variables whose lines may go where nothing uses them."""
        self.size_names: dict[Dim, Expr] = {}
        self.hint = ""
        self._shown: tuple[str, int] | None = None
        self._named: list[tuple[int, Value, Expr]] = []
        """Values that got a variable where they are used, with the depth of that block, and what they are outside."""
        self._fresh: set[Value] = set()
        """Arrays of zeros that are not stored, since a product follows."""

    # -- lines
    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @property
    def room(self) -> int:
        """Characters of an expression that is no variable of its own."""
        return max(WIDTH - 4 * self.depth - 20, 24)

    def open(self, text: str) -> None:
        self.line(text)
        self.depth += 1

    def close(self, count: int = 1) -> None:
        self.depth -= count
        while self._named and self._named[-1][0] > self.depth:
            _, v, x = self._named.pop()
            self.exprs[v] = x

    def assign(self, place: Expr, value: Expr) -> None:
        if value.text != place.text:
            self.line(f"{place} = {value}")

    def end_block(self, start: int) -> None:
        """Ends a block whose lines begin at `start`."""
        if all(text.lstrip().startswith("#") for text in self.lines[start:]):
            self.line("pass")
        self.close()

    def comment(self, loc: Location) -> None:
        """The user's line, once."""
        if (text := line_of(loc)) and self._shown != (loc.file, loc.line):
            self._shown = (loc.file, loc.line)
            self.line(f"# line {loc.line}: {text}")
            self.places.setdefault(key_of(self.lines[-1]), loc)

    def drop_unused(self) -> None:
        """Drops the lines of variables that nothing uses, such as sizes that are written otherwise."""
        while True:
            code = [text for text in self.lines if text.lstrip()[:1] != "#"]
            words = Counter(w for text in code for w in re.findall(r"\w+", text))
            kept = [text for text in self.lines if not self._is_unused(text, words)]
            if len(kept) == len(self.lines):
                break
            self.lines = kept
        self.lines = [x for k, text in enumerate(self.lines) for x in self._with_pass(text, self.lines[k + 1 :])]

    def _with_pass(self, text: str, after: Sequence[str]) -> list[str]:
        """A line, and a `pass` where a block begins with it that has lost its lines."""
        code = next((x for x in after if x.lstrip()[:1] != "#"), "")
        indent = len(text) - len(text.lstrip())
        ends = text.endswith(":") and text.lstrip()[:1] != "#" and len(code) - len(code.lstrip()) <= indent
        return [text, " " * (indent + 4) + "pass"] if ends else [text]

    def _is_unused(self, text: str, words: Counter[str]) -> bool:
        found = re.match(r"\s*(\w+) = ", text)
        return found is not None and found[1] in self.pure and words[found[1]] == 1

    # -- values
    def value(self, v: Value) -> Expr:
        found = self.exprs.get(v)
        if found is None:
            raise UnsupportedError(f"no Python for {v.owner!r}")
        return found

    def variable(self, v: Value) -> Expr:
        """The value by a name, or as what costs nothing."""
        x = self.value(v)
        if re.fullmatch(r"-?[\w.]+(\.shape\[\d+\])?", x.text):
            return x
        name = self.names.new(hint_of(v) or "x")
        self.line(f"{name} = {x}")
        self.pure.add(name)
        self._is_array(v, name)
        self._named.append((self.depth, v, x))
        self.exprs[v] = Expr(name, soft=x.soft)
        return self.exprs[v]

    def is_number(self, v: Value) -> bool:
        return v in self.cells or not isinstance(v.type, ShapedType)

    def size(self, n: Mixed) -> Expr:
        return number(n) if isinstance(n, int) else self.value(n)

    def scalar(self, op: Op, args: Sequence[Expr]) -> Expr:
        if not isinstance(op, Scalar):
            raise UnsupportedError(f"no Python for {op.name}", location=op.loc)
        if isinstance(op, libm.Libm):
            self.objects.setdefault(libm_name(op), libm.python_function(op.attrs["function"], op.signature))
        x = expression(op, args)
        self.helpers |= {name for name in re.findall(r"(\w+)\(", x.text) if name in HELPERS}
        return x

    def bind(self, v: Value, x: Expr, hint: str = "") -> None:
        """Gives a value its expression, in line where that is its only use and may be."""
        uses = self.needed.uses(v)
        if not uses:
            return
        trivial = bool(re.fullmatch(r"-?[\w.]+", x.text)) and not x.reads
        if trivial or (len(uses) == 1 and len(x.text) <= self.room and self._may_move(v, x, uses[0])):
            self.exprs[v] = x
            return
        if isinstance(v.owner, Op):
            self.comment(v.owner.loc)
        name = self.names.new(hint or hint_of(v) or ("n" if v.type is INDEX else "x"))
        self.line(f"{name} = {x}")
        self.pure.add(name)
        self._is_array(v, name)
        self.exprs[v] = Expr(name, soft=x.soft)

    def _is_array(self, v: Value, name: str) -> None:
        if isinstance(v.type, ShapedType) and v not in self.cells:
            self.arrays.add(name)

    def _may_move(self, v: Value, x: Expr, use: Use) -> bool:
        if isinstance(use.op, linalg.DestinationOp) and not isinstance(use.op, linalg.Fill | HostCall):
            return False
        if isinstance(use.op, Check | scf.While) or use.op.block is not v.block or use.op.parent_op is None and x.reads:
            return isinstance(use.op, Check) and use.index == 0 and not x.reads and use.op.block is v.block
        if not x.reads:
            return True
        block = v.block
        ops = block.ops
        start = ops.index(v.owner) if isinstance(v.owner, Op) else -1
        between = ops[start + 1 : ops.index(use.op)]
        acts = (op in self.needed.ops and not isinstance(op, _PURE) or isinstance(op, memref.Dealloc) for op in between)
        return not any(acts)


def key_of(comment: str) -> str:
    """What a comment is known by: its beginning, for long ones are cut."""
    return comment.strip()[:40]
