"""Structured ops as loops: elementwise ones, reductions, gathers, scatters."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from tracebuf.backend.numba.expressions import Expr, number
from tracebuf.backend.numba.scalars import literal
from tracebuf.backend.numba.text import Text
from tracebuf.errors import UnsupportedError
from tracebuf.ir.core import Op, Value
from tracebuf.ir.types import ScalarType, ShapedType
from tracebuf.ops.arrays import linalg
from tracebuf.ops.control.structure import Index, Spec
from tracebuf.ops.memory.indexing import AffineMap
from tracebuf.ops.scalars import arith, complex

BLOCK = 512
"""Elements of a sum that are added one after the other."""


class Nest:
    """The loops of one op, written by a `Text`."""

    def __init__(self, w: Text, op: linalg.DestinationOp, spec: Spec) -> None:
        self.w, self.op, self.spec = w, op, spec
        self.indices = w.names.indices[: len(spec.iterators)]
        self.env: dict[Value, Expr] = {}
        self.operands = [w.variable(v) for v in op.operands]

    def place(self, k: int) -> Expr:
        """The element of operand k that an iteration has: the operand itself where that is a number."""
        map_, operand = self.spec.maps[k], self.operands[k]
        if map_.whole or self.w.is_number(self.op.operand(k)):
            return operand
        indices = ["0" if r is None else self.indices[r] for r in map_.results]
        return Expr(f"{operand}[{', '.join(indices) or '()'}]", reads=True)

    def size(self, d: int) -> Expr:
        """How many iterations loop d has: by preference read off the out."""
        found: Expr | None = None
        n = self.spec.n_ins
        for k in [*range(n, len(self.operands)), *range(n)]:
            map_, type_ = self.spec.maps[k], self.op.operand(k).type
            if map_.whole or not isinstance(type_, ShapedType) or d not in map_.results:
                continue
            axis = map_.results.index(d)
            if isinstance(size := type_.shape[axis], int):
                return number(size)
            if (known := self.w.size_names.get(size)) is not None:
                return known
            found = found or Expr(f"{self.operands[k]}.shape[{axis}]")
        assert found is not None
        return found

    def loop(self, d: int) -> None:
        self.w.open(f"for {self.indices[d]} in range({self.size(d)}):")

    def write(self) -> None:
        if self.spec.scatters:
            self._scatter()
        else:
            self._generic()

    # -- one or several outs, each iteration an element of each
    def _generic(self) -> None:
        w, spec = self.w, self.spec
        loops = len(spec.iterators)
        outs = range(spec.n_ins, len(self.operands))
        inner = loops
        while inner and all(inner - 1 not in spec.maps[k].results for k in outs):
            inner -= 1
        for d in range(inner):
            self.loop(d)
        targets = {k: self.place(k) for k in outs}
        folds = {k: targets[k] for k in outs}
        if inner < loops and inner:
            for k in outs:
                folds[k] = Expr(w.names.new(w.hint or "total"))
                w.line(f"{folds[k]} = {targets[k]}")
        sums = self._sums(inner, loops)
        for d in range(inner, loops - bool(sums)):
            self.loop(d)
        parts = self._block(sums, loops - 1) if sums else {}
        into = folds | parts
        for k, arg in enumerate(spec.body.args):
            self.env[arg] = into[k] if k in into else self.place(k)
        self._bind_loads(range(spec.n_ins) if len(outs) == 1 else range(len(self.operands)), outs)
        values = self._body(spec.body.terminator.operands)
        if len(outs) > 1:
            values = [self._named(v) for v in values]
        for k, v in zip(outs, values, strict=True):
            w.assign(into[k], v)
        if sums:
            w.close()
            for k, part in parts.items():
                w.line(f"{folds[k]} += {part}")
        w.close(loops - inner)
        if inner < loops and inner:
            for k in outs:
                w.line(f"{targets[k]} = {folds[k]}")
        w.close(inner)

    def _sums(self, inner: int, loops: int) -> list[int]:
        """The outs that are float sums along the innermost loop: they are taken in blocks (rule C2)."""
        op = self.op
        if inner == loops or not isinstance(op, linalg.Generic):
            return []
        n = self.size(loops - 1)
        found = [u.index for u in op.out_uses if (c := op.combiner(u)) and isinstance(c[0], arith.AddF | complex.Add)]
        return [] if n.is_number and int(n.text) <= BLOCK else found

    def _block(self, sums: Sequence[int], d: int) -> dict[int, Expr]:
        """Begins a loop over blocks, and the one over the elements of each; the variable of each sum's block."""
        w, n, start = self.w, self.size(d), self.w.names.new("start")
        w.open(f"for {start} in range(0, {n}, {BLOCK}):")
        parts = {k: Expr(w.names.new("part"), soft=True) for k in sums}
        complex_zero = builtins.complex(-0.0, -0.0)
        for k, part in parts.items():
            element = linalg.element_type(self.op.operand(k).type)
            w.line(f"{part} = {literal(-0.0 if element.is_float else complex_zero, element)}")
        w.open(f"for {self.indices[d]} in range({start}, min({start} + {BLOCK}, {n})):")
        return parts

    def _bind_loads(self, operands: Sequence[int], outs: Sequence[int]) -> None:
        """Elements that are used more than once get names."""
        for k in operands:
            arg, x = self.spec.body.args[k], self.env[self.spec.body.args[k]]
            if x.reads and isinstance(arg.type, ScalarType) and (len(arg.uses) > 1 or len(outs) > 1 and arg.uses):
                self.env[arg] = self._named(x)

    def _named(self, x: Expr) -> Expr:
        if x.text.isidentifier() or (x.soft and x.is_number):
            return x
        name = self.w.names.new("t")
        self.w.line(f"{name} = {x}")
        return Expr(name, soft=x.soft)

    def _body(self, wanted: Sequence[Value]) -> list[Expr]:
        """The body's ops that `wanted` needs and that are not there yet; the expressions of `wanted`."""
        needed = _slice(wanted, self.env)
        for op in self.spec.body.ops[:-1]:
            if isinstance(op, Index):
                self.env.setdefault(op.result, Expr(self.indices[op.dim], soft=True))
            elif op.results and op.result in needed and op.result not in self.env:
                x = self._expression(op)
                many = len(op.result.uses) > 1 and not x.is_number
                constant = not op.operands
                if not constant and (many or len(x.text) > self.w.room or op.may_raise):
                    x = self._named(x)
                self.env[op.result] = x
        return [self._value(v) for v in wanted]

    def _value(self, v: Value) -> Expr:
        return self.env[v] if v in self.env else self.w.variable(v)

    def _expression(self, op: Op) -> Expr:
        """The op's expression; the longest of its operands get names where it would be too long for a line."""
        given = [self._value(v) for v in op.operands]
        while sum(len(x.text) for x in given) > self.w.room:
            k = max(range(len(given)), key=lambda k: len(given[k].text))
            if given[k].text.isidentifier() or not isinstance(op.operand(k).type, ScalarType):
                break
            self.env[op.operand(k)] = given[k] = self._named(given[k])
        return self.w.scalar(op, given)

    # -- stores to places that are data
    def _scatter(self) -> None:
        w, spec = self.w, self.spec
        end = spec.body.terminator.operands
        counts = bool(spec.body.args[-1].uses)
        step = Expr(w.names.new("count"), soft=True)
        if counts:
            w.line(f"{step} = 0")
        for d in range(len(spec.iterators)):
            self.loop(d)
        for k in range(len(self.operands)):
            self.env[spec.body.args[k]] = self.place(k)
        self.env[spec.body.args[-1]] = step
        self._bind_loads(range(spec.n_ins), [0])
        do, counted = self._body(end[:2])
        if counts and counted.text not in ("True", "False", do.text):
            counted = self._named(counted)
        if do.text != "True":
            if do.text != counted.text or not counts or do.reads:
                do = self._named(do) if counts and do.text == counted.text else do
                counted = do if counts and end[0] is end[1] else counted
            w.open(f"if {do}:")
        value, *place = self._body(end[2:])
        dest = self.operands[-1]
        at = ", ".join(map(str, place)) or "()"
        w.assign(Expr(f"{dest}[{at}]", reads=True) if not w.is_number(self.op.operands[-1]) else dest, value)
        same = do.text == counted.text
        if counts and same:
            w.line(f"{step} += 1")
        if do.text != "True":
            w.close()
        if counts and not same and counted.text != "False":
            if counted.text == "True":
                w.line(f"{step} += 1")
            else:
                w.open(f"if {counted}:")
                w.line(f"{step} += 1")
                w.close()
        w.close(len(spec.iterators))


def _slice(wanted: Sequence[Value], known: dict[Value, Expr]) -> set[Value]:
    """The values that these are computed from."""
    found: set[Value] = set()
    work = list(wanted)
    while work:
        v = work.pop()
        if v in found or v in known:
            continue
        found.add(v)
        if v.defining_op is not None:
            work += v.defining_op.operands
    return found


def spec_of(op: linalg.DestinationOp) -> Spec:
    spec = op.spec([v.type for v in op.operands])
    if spec is None or not all(isinstance(m, AffineMap) and m.runs for m in spec.maps):
        raise UnsupportedError(f"no Python for {op.name}", location=op.loc)
    return spec
