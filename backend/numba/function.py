"""One function of a program as Python: its ops in order, indented, with the user's lines as comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from tracebuf.backend.numba.expressions import ATOM, PRODUCT, SIGN, Expr, call, negation, number
from tracebuf.backend.numba.hosted import FRESH, direct_call, exception
from tracebuf.backend.numba.names import hint_of, line_of, loop_name, targets
from tracebuf.backend.numba.nests import Nest, spec_of
from tracebuf.backend.numba.pieces import BEGIN, END, outlined
from tracebuf.backend.numba.scalars import dtype_name, hard, literal
from tracebuf.backend.numba.style.coalesce import coalesced
from tracebuf.backend.numba.style.format import fitted
from tracebuf.backend.numba.style.liveness import first_read
from tracebuf.backend.numba.style.render import quoted
from tracebuf.backend.numba.style.tidy import tidied
from tracebuf.backend.numba.text import Text, key_of
from tracebuf.backend.numba.views import element_range, pieces, sliced
from tracebuf.errors import InternalError, UnsupportedError
from tracebuf.ir.core import Block, Op, Use, Value
from tracebuf.ir.types import F16, I1, INDEX, MemRefType, ScalarType, ShapedType
from tracebuf.ops.arrays import linalg
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.arrays.pick import Pick
from tracebuf.ops.control import scf
from tracebuf.ops.control.checks import Check
from tracebuf.ops.control.func import Call, Return
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith
from tracebuf.running.raised import Message, Number, Shown, make_error

_VIEWS = (
    memref.Subview, memref.CollapseShape, memref.ExpandShape, memref.Recast, memref.Diagonal, memref.Windows,
)  # fmt: skip


class Writer(Text):
    """Writes a function, op by op."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._given: set[Value] = set()
        """Arrays that a call gives."""

    # -- the function
    def write(self) -> str:
        """The text of the function."""
        own: dict[Value, str] = {}
        for v in self.func.args:  # first those that keep their names
            if v.name.isidentifier() and v.name not in self.names.taken:
                own[v] = v.name
                self.names.taken.add(v.name)
        args = [own[v] if v in own else self.names.new(v.name) for v in self.func.args]
        for v, name in zip(self.func.args, args):
            self.exprs[v] = Expr(name, soft=v.type in (INDEX, I1))
        self.returned: list[str] = []
        self.block(self.func.block)
        self.drop_unused()
        if unbound := first_read(args, self.lines) & self.names.made - set(args):
            raise InternalError(f"variables that are read before they are assigned: {', '.join(sorted(unbound))}")
        self.lines, new = coalesced(args, self.lines)
        arrays = {new.get(n, n) for n in (*self.arrays, *self._bound_arrays())}
        taken, effects = self.names.taken - self.names.made, frozenset(self.functions.values()) | FRESH
        self.lines, more = tidied(args, self.lines, self.names.bases, taken, effects, arrays)
        self.returned = [renamed(renamed(x, new), more) for x in self.returned]
        name, pieces = self.functions[self.func.name], list[str]()
        if self.marks:
            variables = {more.get(n, n) for n in self.names.made} | set(args)
            halves = {more.get(m := new.get(n, n), m) for n in self._halves()}
            others = set(self.functions.values())
            pieces, self.lines = outlined(name, args, self.lines, variables, others, halves)
        lines = [f"def {name}({', '.join(args)}):", *(self.lines or ["    pass"])]
        return "\n\n\n".join([*pieces, "\n".join(part for line in lines for part in fitted(line))])

    def _bound_arrays(self) -> Iterator[str]:
        """The variables that arrays have."""
        for v, x in self.exprs.items():
            if isinstance(v.type, ShapedType) and v not in self.cells and x.text.isidentifier():
                yield x.text

    def _halves(self) -> Iterator[str]:
        """The variables that hold float16 numbers, or arrays of them: Numba has no such type."""
        for v, x in self.exprs.items():
            element = v.type.element if isinstance(v.type, ShapedType) else v.type
            if element is F16 and x.text.isidentifier():
                yield x.text

    def _mark(self, mark: str) -> None:
        """Where what may be a function of its own begins, or ends."""
        self.lines.append("    " * self.depth + mark)

    def block(self, block: Block) -> None:
        """The ops of a block, but its end."""
        for op in block.ops:
            if op in self.needed.ops:
                self.op(op)

    def op(self, op: Op) -> None:
        self.hint = ""
        match op:
            case scf.Yield() | scf.Condition():
                return
            case arith.Select() if isinstance(op.result.type, ShapedType):
                c, a, b = map(self.value, op.operands)
                return self.bind(op.result, Expr(f"{a} if {c} else {b}", 0))
            case arith.Constant():
                self.exprs[op.result] = literal(op.attrs["value"], op.element)
            case arith.ScalarOp():
                self.bind(op.result, self.scalar(op, [self.value(v) for v in op.operands]))
            case memref.Dim():
                self._dim(op)
            case memref.Cast():
                self.exprs[op.result] = self.exprs[op.operand(0)]
            case scf.If() | scf.For() | scf.While() if self.marks:
                self._mark(BEGIN)
                self._act(op)
                self._mark(END)
            case linalg.DestinationOp() if self.marks:
                self._mark(BEGIN)
                self.comment(op.loc)
                self._act(op)
                self._mark(END)
            case _:
                self.comment(op.loc)
                self._act(op)

    def _act(self, op: Op) -> None:
        match op:
            case memref.Alloc():
                self._alloc(op)
            case _ if isinstance(op, _VIEWS):
                self._view(op)
            case memref.Load():
                self._load(op)
            case memref.Store():
                self._store(op)
            case memref.Copy():
                self._copy(op)
            case Pick():
                arrays = pieces([self.value(v) for v in op.arrays])
                self.bind(op.result, Expr(f"{arrays}[{self.value(op.operand(0))}]"))
            case linalg.Fill() if self._begins_product(op):
                self._fresh.add(op.operand(1))
            case linalg.Fill():
                self._store_all(op.operand(1), self.value(op.operand(0)))
            case HostCall():
                self._host_call(op)
            case linalg.Contraction():
                self._product(op)
            case linalg.DestinationOp():
                Nest(self, op, spec_of(op)).write()
            case scf.If():
                self._if(op)
            case scf.For():
                self._for(op)
            case scf.While():
                self._while(op)
            case Check():
                self._check(op)
            case Call():
                self._call(op)
            case Return():
                self._return(op)
            case _:
                raise UnsupportedError(f"no Python for {op.name}", location=op.loc)

    # -- memory
    def _alloc(self, op: memref.Alloc) -> None:
        type_ = op.result.memref_type
        if type_.rank == 0 and all(_is_cell_use(u) for u in op.result.uses):
            self.cells.add(op.result)
            name = self.names.new(hint_of(op.result) or "total")
            self.exprs[op.result] = Expr(name, soft=True)
            return
        sizes = [self.size(n) for n in op.sizes]
        order: tuple[int, ...] = op.attrs["order"]
        dtype = [] if type_.element.dtype == "f8" else [dtype_name(type_.element)]
        shape = [sizes[d] for d in order]
        made = call("np.empty", shape[0] if len(shape) == 1 else pieces(shape), *dtype)
        if order != tuple(range(type_.rank)):
            back = [order.index(d) for d in range(type_.rank)]
            made = Expr(f"{made}.T" if back == [1, 0] else f"{made}.transpose({', '.join(map(str, back))})")
        giver = self._giver(op) if self.plain and order == tuple(range(type_.rank)) else None
        known = targets(giver.op.loc) if isinstance(giver, Use) and isinstance(giver.op, HostCall) else ()
        place = giver.index - giver.op.n_ins if known and giver is not None else 0  # type: ignore[attr-defined]
        name = self.names.new(hint_of(op.result) or (known[place] if place < len(known) else "x"))
        self.exprs[op.result] = Expr(name)
        if giver is not None:
            self._given.add(op.result)
        else:
            self.line(f"{name} = {made}")
        if op.block is not self.func.block:  # of which the names are bound wherever they are used
            return
        for axis, n in enumerate(type_.shape):
            if not isinstance(n, int) and re.fullmatch(r"[\w.]+(\.shape\[\d+\])?", sizes[axis].text):
                self.size_names.setdefault(n, sizes[axis])

    def _dim(self, op: memref.Dim) -> None:
        source, axis = self.value(op.operand(0)), op.attrs["dim"]
        n = op.operand(0).memref_type.shape[axis]
        x = number(n) if isinstance(n, int) else Expr(f"{source.at(ATOM)}.shape[{axis}]", soft=True)
        if len(self.needed.uses(op.result)) > 2 and x.text[-1] == "]":
            letter = "nmkpqr"[min(axis, 5)]
            name = self.names.new(f"{letter}_{source}" if source.text.isidentifier() else letter)
            self.line(f"{name} = {x}")
            self.pure.add(name)
            x = Expr(name, soft=True)
        self.exprs[op.result] = x
        if self.needed.uses(op.result) and op.block is self.func.block and not isinstance(n, int):
            self.size_names.setdefault(n, x)

    def _view(self, op: Op) -> None:
        base, before, after = self.value(op.operand(0)), op.operand(0).memref_type, op.result.memref_type
        hint = hint_of(op.result) or (f"{base}_part" if base.text.isidentifier() else "part")
        match op:
            case memref.Subview():
                if self.marks and before.rank and not op.slice.dims:
                    found = self._item(base, op)
                else:
                    found = sliced(base, op.slice, before, after, self.size) or self._part(base, op)
            case memref.CollapseShape():
                sizes = [self._product_of(base, before, group) for group in op.attrs["groups"]]
                found = Expr(f"np.reshape({base}, {pieces(sizes)}, copy=False)")
            case memref.ExpandShape():
                found = Expr(f"np.reshape({base}, {pieces([self.size(n) for n in op.sizes])}, copy=False)")
            case memref.Recast():
                self.helpers.add("recast")
                found = Expr(f"recast({base}, {dtype_name(after.element)})")
            case memref.Diagonal():
                self.helpers.add("diagonal")
                found = Expr(f"diagonal({base}, {', '.join(map(str, op.attrs['axes']))})")
            case memref.Windows():
                self.helpers.add("windows")
                found = Expr(f"windows({base}, {self.value(op.operand(1))}, {op.attrs['axis']})")
            case _:
                raise UnsupportedError(f"no Python for {op.name}", location=op.loc)
        self.bind(op.result, found, hint)

    def _item(self, base: Expr, op: memref.Subview) -> Expr:
        """An element as an array without axes: `x[0, ...]` is a number in Numba."""
        self.helpers.add("item")
        return Expr(f"item({element_range(base, op.slice.offsets, self.size)})")

    def _part(self, base: Expr, op: memref.Subview) -> Expr:
        self.helpers.add("part")
        s = op.slice
        given = [pieces([self.size(n) for n in part]) for part in (s.offsets, s.sizes, s.strides)]
        return Expr(f"part({base}, {', '.join(given)}, {s.dims!r})")

    def _product_of(self, base: Expr, type_: MemRefType, group: Sequence[int]) -> Expr:
        sizes = [n if isinstance(n := type_.shape[a], int) else f"{base.at(ATOM)}.shape[{a}]" for a in group]
        return Expr(" * ".join(map(str, sizes)) or "1", ATOM if len(sizes) == 1 else 10)

    def _element(self, buffer: Value, indices: Sequence[Value]) -> Expr:
        x = self.value(buffer)
        if buffer in self.cells:
            return Expr(x.text, soft=True, reads=True)
        if buffer in self._given and not indices:
            return Expr(x.text, reads=True)
        if not indices and x.text.endswith(", ...]"):
            return Expr(x.text.removesuffix(", ...]") + "]", reads=True)
        return Expr(f"{x.at(ATOM)}[{', '.join(str(self.value(i)) for i in indices) or '()'}]", reads=True)

    def _load(self, op: memref.Load) -> None:
        x = self._element(op.operand(0), op.operands[1:])
        if op.result.type is INDEX:
            x = Expr(f"int({x})", soft=True, reads=True)
        if op.operand(0) in self.cells and self._is_last(op):
            x = Expr(x.text, soft=True)
        self.bind(op.result, x)

    def _is_last(self, op: memref.Load) -> bool:
        """Whether a cell is not stored to after this load."""
        ops = op.operand(0).block.ops
        if op.block is not op.operand(0).block:
            return False
        after = set(ops[ops.index(op) + 1 :])
        return not any(_top(u.op, ops) in after and not isinstance(u.op, memref.Load | memref.Dealloc)
                       for u in op.operand(0).uses)  # fmt: skip

    def _store(self, op: memref.Store) -> None:
        value, target, *indices = op.operands
        self.assign(self._element(target, indices), self.value(value))

    def _store_all(self, target: Value, value: Expr) -> None:
        x = self.value(target)
        if target in self.cells:
            self.line(f"{x} = {value}")
        elif re.fullmatch(r"\w+\[[^\[\]]*\]", x.text):
            self.line(f"{x} = {value}")
        else:
            self.line(f"{x.at(ATOM)}[...] = {value}")

    def _copy(self, op: memref.Copy) -> None:
        source, target = op.operands
        x = self.value(source)
        if source not in self.cells and source.memref_type.rank == 0:
            x = self._element(source, ())
        self._store_all(target, x)

    # -- calls
    def _host_call(self, op: HostCall) -> None:
        callee = op.callee
        if isinstance(callee, str):
            raise UnsupportedError(f"the function {callee} of a host call is not known", location=op.loc)
        base = re.sub(r"\W+", "_", callee.name.rpartition(".")[2]).strip("_") or "function"
        name = self._object(f"call_{base}", callee.run)
        ins = [hard(self.value(u.value), u.value.type) if isinstance(u.value.type, ScalarType) else self.value(u.value)
               for u in op.in_uses]  # fmt: skip
        outs = [self.value(u.value) for u in op.out_uses]
        if self.plain and (made := direct_call(name, callee.run, [str(x) for x in (*ins, *outs)])):
            del self.objects[name]
            places = [str(x) if u.value in self._given else f"{x.at(ATOM)}[...]" for x, u in zip(outs, op.out_uses)]
            return self.line(f"{', '.join(places)} = {made[0]}")
        self.line(f"{name}([{', '.join(map(str, ins))}], [{', '.join(map(str, outs))}])")

    def _giver(self, op: memref.Alloc) -> Use | None:
        """Where a call of NumPy's gives this array, which nothing uses before."""
        block, uses = op.block, self.needed.uses(op.result)
        if block is None or any(isinstance(u.op, memref.CollapseShape) for u in uses):
            return None
        if not op.result.memref_type.rank and not all(isinstance(u.op, HostCall | memref.Load) for u in uses):
            return None
        first = min((top for u in uses if (top := _top(u.op, block.ops))), key=block.ops.index, default=None)
        if not isinstance(first, HostCall) or isinstance(first.callee, str):
            return None
        if sum(v is op.result for v in first.operands) > 1:
            return None
        made = direct_call("call", first.callee.run, ["x"] * len(first.operands))
        if made is None or not op.result.memref_type.rank and sum(isinstance(u.op, HostCall) for u in uses) > 1:
            return None
        return next((u for u in first.out_uses if u.value is op.result), None)

    def _object(self, hint: str, x: Any) -> str:
        """The name of an object from outside."""
        name, k = hint, 0
        while self.objects.setdefault(name, x) is not x:
            name, k = f"{hint}_{k}", k + 1
        return name

    def _product(self, op: linalg.Contraction) -> None:
        a, b, out = (self.value(v) for v in op.operands)
        product = f"np.vdot({a}, {b})" if op.conjugated else f"{a.at(PRODUCT)} @ {b.at(SIGN)}"
        target = op.operand(2)
        fresh, sign = target in self._fresh, "-" if op.negative else "+"
        self._fresh.discard(target)
        if target in self.cells:
            self.line(f"{out} = {product}" if fresh else f"{out} {sign}= {product}")
        elif fresh and target.memref_type.rank:
            self.line(f"np.matmul({a}, {b}, out={out})")
        else:
            place = "()" if not target.memref_type.rank else "..."
            self.line(f"{out.at(ATOM)}[{place}] {'' if fresh else sign}= {product}")

    def _begins_product(self, op: linalg.Fill) -> bool:
        """Whether zeros are stored for the product to add to that follows."""
        ops = op.operand(1).block.ops if op.block is None else op.block.ops
        after = next((o for o in ops[ops.index(op) + 1 :] if o in self.needed.ops), None)
        zero = self.value(op.operand(0)).text
        adds = isinstance(after, linalg.Contraction) and not after.negative and after.operand(2) is op.operand(1)
        return adds and zero in ("0", "0.0", "np.float32(0.0)", "False")

    def _call(self, op: Call) -> None:
        name = self.functions.get(op.callee)
        if name is None:
            raise UnsupportedError(f"no Python for a call of {op.callee}", location=op.loc)
        made = call(name, *(hard(self.value(v), v.type) if isinstance(v.type, ScalarType) else self.value(v)
                            for v in op.operands))  # fmt: skip
        results = [self.names.new(hint_of(r) or "x") for r in op.results]
        for r, n in zip(op.results, results):
            self.exprs[r] = Expr(n, soft=r.type in (INDEX, I1))
        self.line(f"{', '.join(results)} = {made}" if results else str(made))

    def _check(self, op: Check) -> None:
        condition = self.value(op.operand(0))
        kind, message = op.attrs["exception"], op.attrs["message"]
        values = [self.value(v) for v in op.operands[1:]]
        if line := line_of(op.loc):
            self.places[key_of(f"# line {op.loc.line}: {line}")] = op.loc  # of which the columns are those of the check
        always = condition.text == "False"
        if not always:
            self.open(f"if {negation(condition)}:")
        parts = _arguments(message, [str(v) for v in values])
        if self.plain and isinstance(kind, type) and issubclass(kind, UnsupportedError):
            kind = NotImplementedError
        builtin = isinstance(kind, type) and kind.__module__ == "builtins"
        if parts is not None and isinstance(kind, type) and (builtin or self.plain):
            self.line(f"raise {exception(kind)}({', '.join(parts)})")
        else:
            name = self._object("error", _Maker(kind, message))
            self.line(f"raise {name}({', '.join(map(str, values))})")
        self.close(not always)

    def _return(self, op: Return) -> None:
        values = [self._result(v) for v in op.operands]
        self.returned = [v.text for v in values]
        if values:
            self.line(f"return {values[0] if len(values) == 1 else pieces(values)}")

    def _result(self, v: Value) -> Expr:
        x = self.value(v)
        return hard(x, v.type) if isinstance(v.type, ScalarType) else x

    # -- control flow
    def _passed(self, values: Sequence[tuple[str, Value]]) -> None:
        """Assigns values to variables, all at once."""
        pairs = [(name, self.value(v)) for name, v in values if self.value(v).text != name]
        if len(pairs) == 1 or all(not _mentions(x, {n for n, _ in pairs}) for _, x in pairs):
            for name, x in pairs:
                self.assign(Expr(name), x) if self._is_scalar(values, name) else self.line(f"{name} = {x}")
        elif pairs:
            self.line(f"{', '.join(n for n, _ in pairs)} = {', '.join(x.at(1) for _, x in pairs)}")

    def _is_scalar(self, values: Sequence[tuple[str, Value]], name: str) -> bool:
        return any(n == name and isinstance(v.type, ScalarType) for n, v in values)

    def _if(self, op: scf.If) -> None:
        then, orelse = op.branches
        live = [k for k, r in enumerate(op.results) if r in self.needed.values and self.needed.uses(r)]
        names: dict[int, str] = {}
        for k in live:
            names[k] = self.names.new(self._hint(op.results[k]) or "x")
        condition = self.value(op.operand(0))
        empty = [not any(o in self.needed.ops for o in b.ops if not o.terminator) for b in op.branches]
        if not live and all(empty):
            return
        blocks = [(condition.at(1), then), ("", orelse)]
        if not live and empty[0]:
            blocks = [(f"not {condition.at(3)}", orelse)]
        elif not live and empty[1]:
            blocks.pop()
        soft = dict.fromkeys(live, False)
        shown = self._shown
        for text, block in blocks:
            self.open(f"if {text}:" if text else "else:")
            start = len(self.lines)
            self.block(block)
            self._passed([(names[k], block.terminator.operand(k)) for k in live])
            for k in live:
                soft[k] |= self.value(block.terminator.operand(k)).soft
            self.end_block(start)
            self._shown = shown
        for k in live:
            self.exprs[op.results[k]] = Expr(names[k], soft=soft[k])

    def _hint(self, v: Value) -> str:
        """The name in the user's lines of a value, or of what it comes from."""
        op = v.defining_op
        if isinstance(op, scf.If):
            return next((h for b in op.branches if (h := self._hint(b.terminator.operand(v.index)))), "")
        if op is not None and (found := hint_of(v)):
            return found
        x = self.exprs.get(v)
        return x.text if x is not None and x.text.isidentifier() and x.text not in ("True", "False") else ""

    def _carried(self, passed: Value, init: Value) -> str:
        """The variable that a loop carries a value in."""
        return self.names.new(self._hint(passed) or self._hint(init) or "x")

    def _for(self, op: scf.For) -> None:
        live = [k for k, a in enumerate(op.args) if a in self.needed.values]
        names = {k: self._carried(op.passed[k].value, op.inits[k].value) for k in live}
        self._passed([(names[k], op.inits[k].value) for k in live])
        for k in live:
            soft = isinstance(op.args[k].type, ScalarType)
            self.exprs[op.args[k]] = self.exprs[op.results[k]] = Expr(names[k], soft=soft)
        lower, upper, step = (self.value(v) for v in op.operands[:3])
        var = self.names.new(loop_name(op.loc) or "n")
        self.exprs[op.body.args[0]] = Expr(var, soft=True)
        bounds = f"{lower}, {upper}, {step}" if step.text != "1" else f"{lower}, {upper}"
        self.open(f"for {var} in range({bounds.removeprefix('0, ') if step.text == '1' else bounds}):")
        start = len(self.lines)
        self.block(op.body)
        self._passed([(names[k], op.passed[k].value) for k in live])
        self.end_block(start)
        self._shown = None

    def _counts(self, op: scf.While, k: int) -> bool:
        """Whether a loop that may end early counts its rounds in this value."""
        passed = op.yielded[k].value
        if passed in op.after.args:
            passed = op.passed[passed.index].value
        step = passed.defining_op
        return self.value(op.operand(k)).text == "0" and isinstance(step, arith.AddI) and step.loc.line == op.loc.line

    def _while(self, op: scf.While) -> None:
        live = [k for k, a in enumerate(op.before.args) if a in self.needed.values]
        counter = next((k for k in live if self._counts(op, k)), -1) if loop_name(op.loc) else -1
        names = {k: self.names.new(loop_name(op.loc)) if k == counter
                 else self._carried(op.yielded[k].value, op.operand(k)) for k in live}  # fmt: skip
        self._passed([(names[k], op.operand(k)) for k in live])
        for k in live:
            self.exprs[op.before.args[k]] = Expr(names[k], soft=isinstance(op.before.args[k].type, ScalarType))
        self.open("while True:")
        self.block(op.before)
        passed: list[tuple[str, Value]] = []
        for k, use in enumerate(op.passed):
            if op.after.args[k] not in self.needed.values and op.results[k] not in self.needed.values:
                continue
            x = self.value(use.value)
            if use.value not in op.before.args:
                passed.append((self.names.new(self._hint(use.value) or "x"), use.value))
                x = Expr(passed[-1][0], soft=isinstance(use.value.type, ScalarType))
            self.exprs[op.after.args[k]] = self.exprs[op.results[k]] = x
        self._passed(passed)
        condition = self.value(op.before.terminator.operand(0))
        self.open(f"if {negation(condition)}:")
        self.line("break")
        self.close()
        self.block(op.after)
        self._passed([(names[k], op.yielded[k].value) for k in live])
        self.close()
        self._shown = None


class _Maker:
    """Makes the exception of a check that is no class of Python's own, or has objects for arguments."""

    def __init__(self, kind: Any, message: Any) -> None:
        self.kind, self.message = kind, message

    def __call__(self, *values: Any) -> BaseException:
        return make_error(self.kind, self.message, values)


def _arguments(message: Message, values: Sequence[str]) -> list[str] | None:
    """The arguments of an exception as text; None where one has no text."""
    if not isinstance(message, tuple):
        return [] if message is None else [_text(message, values)]
    rest, found = iter(values), list[str]()
    for part in message:
        match part:
            case Shown():
                found.append(_text(part.template, list(islice(rest, part.count))))
            case Number():
                name = part.kind.__name__
                found.append(f"{name if part.kind.__module__ == 'builtins' else f'np.{name}'}({next(rest)})")
            case str() | int() | None:
                found.append(quoted(part) if isinstance(part, str) else repr(part))
            case _:
                return None
    return found


def _text(message: str, values: Sequence[str]) -> str:
    """A message as a literal, with values in its braces."""
    parts = re.split(r"(\{[^{}]*\}|\{\{|\}\})", message)
    rest = iter(values)
    if not values:
        return quoted(message.format())
    found = "".join("{" + next(rest) + p[1:] if p[:1] == "{" and p != "{{" else p for p in parts)
    quote = '"' if '"' not in found else "'''"
    return f"f{quote}{found}{quote}"


def _is_cell_use(use: Use) -> bool:
    op = use.op
    match op:
        case memref.Dealloc() | memref.Load():
            return True
        case memref.Store() | linalg.Fill():
            return use.index == 1
        case linalg.Dot():
            return use.index == 2
        case HostCall() | linalg.Contraction():
            return False
        case linalg.Generic():
            return not op.maps[use.index].whole
    return False


def _top(op: Op, ops: Sequence[Op]) -> Op | None:
    """The op of a block in which another one stands."""
    inside = set(ops)
    found: Op | None = op
    while found is not None and found not in inside:
        found = found.parent_op
    return found


def renamed(text: str, new: Mapping[str, str]) -> str:
    return re.sub(r"\w+", lambda m: new.get(m[0], m[0]), text)


def _mentions(x: Expr, names: set[str]) -> bool:
    return bool(names & set(re.findall(r"\w+", x.text)))
