"""MLIR text for functions of either level: custom assembly for MLIR's own ops, generic form for the tracebuf dialect.

Why: what the user reads is what `mlir-opt` parses and verifies (with -allow-unregistered-dialect where `tracebuf.` ops
stand). Symbolic sizes print as `?`. What MLIR wants as SSA values and we keep as attributes or types (the dimension of
`dim`, the strides of a permuted allocation, the static offset of a subview) is printed as small ops beside. What not:
no casts between layouts that only our type system lets pass. Counterpart: mlir/lib/IR/AsmPrinter.cpp.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from tracebuf.ir.attributes import DYNAMIC, Attr, float_text, number
from tracebuf.ir.core import Block, Func, Op, Value, join_mixed
from tracebuf.ir.location import Location
from tracebuf.ir.types import MemRefType, ScalarType, ShapedType

__all__ = ["print_func", "print_module", "print_op"]

def print_op(op: Op) -> str:
    """One op (with its regions); values it does not define are named by their names, or numbered as they come."""
    printer = _Printer(locations=False)
    printer.op(op)
    return "\n".join(printer.lines)


def print_func(func: Func, *, locations: bool = False) -> str:
    """`func.func` with its body, each op with its location if asked."""
    printer = _Printer(locations)
    printer.func(func)
    return "\n".join(printer.lines)


def print_module(funcs: Iterable[Func], *, locations: bool = False) -> str:
    """`module { ... }`, as mlir-opt reads it."""
    printer = _Printer(locations)
    printer.line("module {")
    printer.depth += 1
    for func in funcs:
        printer.names, printer.taken, printer.count = {}, set(), 0
        printer.func(func)
    printer.depth -= 1
    printer.line("}")
    return "\n".join(printer.lines) + "\n"


class _Printer:
    __slots__ = ("count", "depth", "dims", "lines", "locations", "names", "taken")

    def __init__(self, locations: bool) -> None:
        self.locations = locations
        self.names: dict[Value, str] = {}
        self.taken: set[str] = set()
        self.dims: dict[int, str] = {}
        self.count = 0
        self.depth = 0
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def loc(self, loc: Location) -> str:
        return f" {loc}" if self.locations else ""

    # -- names
    def claim(self, wanted: str) -> str:
        """A name not taken yet, near the wanted one."""
        name = base = re.sub(r"[^A-Za-z0-9_$.]", "_", wanted)
        i = 0
        while name in self.taken:
            name, i = f"{base}_{i}", i + 1
        self.taken.add(name)
        return "%" + name

    def number(self) -> str:
        while str(self.count) in self.taken:
            self.count += 1
        return self.claim(str(self.count))

    def name(self, value: Value) -> str:
        found = self.names.get(value)
        if found is None:
            found = self.names[value] = self.claim(value.name) if value.name[:1].isalpha() else self.number()
        return found

    def all(self, values: Iterable[Value]) -> str:
        return ", ".join(self.name(v) for v in values)

    def typed(self, values: Sequence[Value]) -> str:
        """`%a, %b : t, t`, or nothing."""
        return f"{self.all(values)} : {types(values)}" if values else ""

    def mixed(self, static: Sequence[int | None], dynamic: Iterable[Value]) -> str:
        return ", ".join(self.name(m) if isinstance(m, Value) else str(m) for m in join_mixed(static, dynamic))

    def left(self, op: Op) -> str:
        """`%3 = `, `%3:2 = ` or nothing."""
        if len(op.results) > 1:
            name = self.number()
            self.names.update((r, f"{name}#{i}") for i, r in enumerate(op.results))
            return f"{name}:{len(op.results)} = "
        return f"{self.name(op.results[0])} = " if op.results else ""

    # -- structure
    def func(self, func: Func) -> None:
        args = []
        for i, (arg, attrs) in enumerate(zip(func.args, func.arg_attrs)):
            self.names[arg] = self.claim(arg.name if arg.name[:1].isalpha() else f"arg{i}")
            shaped = isinstance(arg.type, ShapedType)
            shown = {k: v for k, v in attrs.items() if k == "bufferization.writable" and shaped}
            args.append(f"{self.names[arg]}: {arg.type}{attributes(shown)}")
        ops = func.block.ops
        results = types(ops[-1].operands) if ops and ops[-1].name == "func.return" else ""
        arrow = f" -> ({results})" if results else ""
        name = func.name if re.fullmatch(r"[A-Za-z_][\w$.]*", func.name) else json.dumps(func.name)
        self.line(f"func.func @{name}({', '.join(args)}){arrow} {{")
        self.depth += 1
        for d in sorted({op.attrs["dim"] for op in func.walk() if _is_dim(op)}):
            self.dims[d] = self.claim(f"c{d}")
            self.line(f"{self.dims[d]} = arith.constant {d} : index")
        self.ops(func.block)
        self.depth -= 1
        self.line("}" + self.loc(func.loc))

    def ops(self, block: Block, skip_empty: str = "") -> None:
        for op in block.ops:
            if not (op.name == skip_empty and not op.uses):
                self.op(op)

    def op(self, op: Op) -> None:
        region_form = _REGION_FORMS.get(op.name)
        if region_form is not None:
            region_form(self, op)
            return
        text = _FORMS.get(op.name, _scalar_form if op.name.startswith(("arith.", "math.")) else None)
        if text is None:
            _generic_form(self, op)
            return
        written = text(self, op)
        self.line(self.left(op) + written + self.loc(op.loc))

    def region(self, block: Block, skip_empty: str = "") -> None:
        self.depth += 1
        self.ops(block, skip_empty)
        self.depth -= 1


def types(values: Sequence[Value]) -> str:
    return ", ".join(str(v.type) for v in values)


def attribute(value: Any, key: str = "") -> str:
    """An attribute of ours as MLIR text."""
    if isinstance(value, Attr):
        return value.text
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return float_text(value, 64) + " : f64"
    if isinstance(value, int):
        return f"{value} : i64"
    if isinstance(value, (tuple, list)) and all(v is None or isinstance(v, int) for v in value):
        missing = -1 if key == "dims" else DYNAMIC
        numbers = ", ".join(str(missing if v is None else v) for v in value)
        return f"array<i64: {numbers}>" if value else "array<i64>"
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(attribute(v) for v in value)}]"
    named = type(value) if isinstance(value, BaseException) else value
    return json.dumps(named.__name__ if isinstance(named, type) else str(value), ensure_ascii=False)


def attributes(attrs: dict[str, Any]) -> str:
    """` {key = value, ...}`, or nothing."""
    shown = [f"{k} = {attribute(v, k)}" for k, v in attrs.items() if v is not None]
    return f" {{{', '.join(shown)}}}" if shown else ""


# -- ops without regions ---------------------------------------------------------------------------------------------

_CASTS = frozenset("extf truncf sitofp uitofp extui extsi trunci bitcast index_cast fptosi fptoui".split())


def _scalar_form(p: _Printer, op: Op) -> str:
    operands = op.operands
    if op.name.removeprefix("arith.") in _CASTS:
        return f"{op.name} {p.name(operands[0])} : {operands[0].type} to {op.result.type}"
    if "predicate" in op.attrs:
        return f"{op.name} {op.attrs['predicate']}, {p.all(operands)} : {operands[0].type}"
    return f"{op.name} {p.all(operands)} : {op.result.type}"


def _constant(p: _Printer, op: Op) -> str:
    value, type_ = op.attrs["value"], op.result.type
    if isinstance(value, Attr):
        return f"arith.constant {value}"
    assert isinstance(type_, ScalarType)
    return f"arith.constant {number(value, type_)}"


def _geometry(p: _Printer, op: Op, leading: int) -> str:
    rest = iter(op.operands[leading:])
    parts = [join_mixed(op.attrs[k], rest) for k in ("static_offsets", "static_sizes", "static_strides")]
    return " ".join(f"[{', '.join(p.name(m) if isinstance(m, Value) else str(m) for m in part)}]" for part in parts)


def _extract_slice(p: _Printer, op: Op) -> str:
    return f"{op.name} {p.name(op.operand(0))}{_geometry(p, op, 1)} : {op.operand(0).type} to {op.result.type}"


def _insert_slice(p: _Printer, op: Op) -> str:
    source, dest = op.operand(0), op.operand(1)
    return f"{op.name} {p.name(source)} into {p.name(dest)}{_geometry(p, op, 2)} : {source.type} into {dest.type}"


def _subview(p: _Printer, op: Op) -> str:
    """Prints MLIR's own inferred type; a cast to ours follows where ours knows less."""
    source = op.operand(0)
    base, declared = source.memref_type, op.result.memref_type
    strides = _static_steps(base, op)
    offset: int | None = base.offset if isinstance(base.offset, int) else None
    for at, stride in zip(op.attrs["static_offsets"], base.strides):
        if at != 0:
            known = offset is not None and at is not None and isinstance(stride, int)
            offset = offset + at * stride if known else None
    inferred = replace(declared, strides=strides, offset=offset)
    text = f"{op.name} {p.name(source)}{_geometry(p, op, 1)} : {base} to "
    if str(inferred) == str(declared) or declared.is_identity:
        return text + str(declared)
    name = p.claim("view")
    p.line(f"{name} = {text}{inferred}{p.loc(op.loc)}")
    return f"memref.cast {name} : {inferred} to {declared}"


def _static_steps(base: MemRefType, op: Op) -> tuple[int | None, ...]:
    steps: list[int | None] = []
    for d in op.attrs["dims"]:
        stride, step = base.strides[d], op.attrs["static_strides"][d]
        steps.append(stride * step if isinstance(stride, int) and step is not None else None)
    return tuple(steps)


def _regrouping(p: _Printer, op: Op) -> str:
    groups = ", ".join(f"[{', '.join(map(str, g))}]" for g in op.attrs["groups"])
    static = op.attrs.get("static_sizes")
    sizes = f" output_shape [{p.mixed(static, op.operands[1:])}]" if static is not None else ""
    return f"{op.name} {p.name(op.operand(0))} [{groups}]{sizes} : {op.operand(0).type} into {op.result.type}"


def _indexed(verb: str, buffer: int, joint: str = "") -> Callable[[_Printer, Op], str]:
    """load, extract: buffer 0; store, insert: the value first, then the buffer."""

    def form(p: _Printer, op: Op) -> str:
        into = op.operand(buffer)
        value = f"{p.name(op.operand(0))}{joint} " if buffer else ""
        return f"{verb} {value}{p.name(into)}[{p.all(op.operands[buffer + 1 :])}] : {into.type}"

    return form


def _is_dim(op: Op) -> bool:
    """Whether MLIR wants an operand that the op has not: which dimension it asks for."""
    return op.name in ("tensor.dim", "memref.dim") and len(op.uses) == 1


def _dim(p: _Printer, op: Op) -> str:
    dim = op.attrs["dim"]
    index = p.dims.get(dim, f"%c{dim}") if _is_dim(op) else p.name(op.operand(1))
    return f"{op.name} {p.name(op.operand(0))}, {index} : {op.operand(0).type}"


def _new(p: _Printer, op: Op) -> str:
    """tensor.empty, memref.alloc, memref.alloca; what we note of them (axis order, reason, slot) as attributes."""
    type_ = op.result.type
    assert isinstance(type_, ShapedType)
    shown = {k: v for k, v in op.attrs.items() if k != "static_sizes"}
    if tuple(shown.get("order") or ()) == tuple(range(type_.rank)):
        shown.pop("order", None)
    symbols = _stride_symbols(p, op, type_) if isinstance(type_, MemRefType) and not type_.is_identity else ""
    return f"{op.name}({p.all(op.operands)}){symbols}{attributes(shown)} : {type_}"


def _stride_symbols(p: _Printer, op: Op, type_: MemRefType) -> str:
    """A permuted allocation gives MLIR its dynamic strides as symbols: products of the sizes of the axes inside."""
    sizes = join_mixed(op.attrs["static_sizes"], op.operands)
    inside: dict[int, tuple[int, str]] = {}
    static, dynamic = 1, ""
    for axis in reversed(op.attrs["order"]):
        inside[axis] = (static, dynamic)
        size = sizes[axis]
        if axis == op.attrs["order"][0]:
            break
        if isinstance(size, int):
            static *= size
        else:
            dynamic = _product(p, dynamic, p.name(size)) if dynamic else p.name(size)
    wanted = [inside[d] for d, s in enumerate(type_.strides) if not isinstance(s, int)]
    symbols = [d if s == 1 else _product(p, d, _line_constant(p, s)) for s, d in wanted]
    return f"[{', '.join(symbols)}]" if symbols else ""


def _product(p: _Printer, a: str, b: str) -> str:
    name = p.claim("stride")
    p.line(f"{name} = arith.muli {a}, {b} : index")
    return name


def _line_constant(p: _Printer, value: int) -> str:
    name = p.claim(f"c{value}")
    p.line(f"{name} = arith.constant {value} : index")
    return name


def _to(p: _Printer, op: Op) -> str:
    """`name %a : t to t`."""
    return f"{op.name} {p.name(op.operand(0))} : {op.operand(0).type} to {op.result.type}"


def _copy(p: _Printer, op: Op) -> str:
    source, target = op.operands
    return f"memref.copy {p.name(source)}, {p.name(target)}{attributes(op.attrs)} : {source.type} to {target.type}"


def _plain(text: str) -> Callable[[_Printer, Op], str]:
    """`text %a, %b : t, t`, and just `text` without operands."""
    return lambda p, op: f"{text} {p.typed(op.operands)}".rstrip()


def _condition(p: _Printer, op: Op) -> str:
    go, *forwarded = op.operands
    return f"scf.condition({p.name(go)}) {p.typed(forwarded)}".rstrip()


def _materialize(p: _Printer, op: Op) -> str:
    source, dest = op.operands
    arrow = f"({source.type}, {dest.type}) -> {op.result.type}"
    return f"{op.name} {p.name(source)} in {p.name(dest)} : {arrow}"


def _conditional_dealloc(p: _Printer, op: Op) -> str:
    n = op.attrs["n_memrefs"]
    memrefs, conditions, retained = op.operands[:n], op.operands[n : 2 * n], op.operands[2 * n :]
    freed = f" ({p.typed(memrefs)}) if ({p.all(conditions)})" if memrefs else ""
    return f"{op.name}{freed}" + (f" retain ({p.typed(retained)})" if retained else "")


def _named_linalg(p: _Printer, op: Op) -> str:
    return f"{op.name} {_ins_outs(p, op)}" + (f" -> {types(op.results)}" if op.results else "")


def _ins_outs(p: _Printer, op: Op) -> str:
    ins, outs = op.operands[: op.attrs["n_ins"]], op.operands[op.attrs["n_ins"] :]
    return (f"ins({p.typed(ins)}) " if ins else "") + f"outs({p.typed(outs)})"


_FORMS: dict[str, Callable[[_Printer, Op], str]] = {
    "arith.constant": _constant,
    "tensor.empty": _new,
    "tensor.extract_slice": _extract_slice,
    "tensor.insert_slice": _insert_slice,
    "tensor.extract": _indexed("tensor.extract", 0),
    "tensor.insert": _indexed("tensor.insert", 1, " into"),
    "tensor.dim": _dim,
    "tensor.collapse_shape": _regrouping,
    "tensor.expand_shape": _regrouping,
    "memref.alloc": _new,
    "memref.alloca": _new,
    "memref.dealloc": _plain("memref.dealloc"),
    "memref.copy": _copy,
    "memref.load": _indexed("memref.load", 0),
    "memref.store": _indexed("memref.store", 1, ","),
    "memref.dim": _dim,
    "memref.cast": _to,
    "memref.subview": _subview,
    "memref.collapse_shape": _regrouping,
    "memref.expand_shape": _regrouping,
    "bufferization.materialize_in_destination": _materialize,
    "bufferization.dealloc": _conditional_dealloc,
    "bufferization.clone": _to,
    "func.return": _plain("return"),
    "scf.yield": _plain("scf.yield"),
    "scf.condition": _condition,
    "tensor.cast": _to,
    "linalg.yield": _plain("linalg.yield"),
    "linalg.index": lambda p, op: f"linalg.index {op.attrs['dim']} : index",
} | {f"linalg.{n}": _named_linalg for n in ("fill", "matmul", "matvec", "vecmat", "dot")}


# -- ops with regions ------------------------------------------------------------------------------------------------


def _generic(p: _Printer, op: Op) -> None:
    maps = ", ".join(str(m) for m in op.attrs["maps"])
    iterators = ", ".join(f'"{i}"' for i in op.attrs["iterators"])
    head = f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} {_ins_outs(p, op)} {{"
    p.line(p.left(op) + head)
    _labelled(p, op.regions[0].block)
    p.line("}" + (f" -> {_several(op)}" if op.results else "") + p.loc(op.loc))


def _several(op: Op) -> str:
    return types(op.results) if len(op.results) == 1 else f"({types(op.results)})"


def _labelled(p: _Printer, block: Block) -> None:
    args = ", ".join(f"{p.name(a)}: {a.type}" for a in block.args)
    p.line(f"^bb0({args}):" if args else "^bb0:")
    p.region(block)


def _for(p: _Printer, op: Op) -> None:
    lower, upper, step, *inits = op.operands
    bounds = f"{p.name(lower)} to {p.name(upper)} step {p.name(step)}"
    left = p.left(op)
    iv, *carried = op.regions[0].block.args
    text = f"{left}scf.for {p.name(iv)} = {bounds}"
    if inits:
        pairs = ", ".join(f"{p.name(a)} = {p.name(v)}" for a, v in zip(carried, inits))
        text += f" iter_args({pairs}) -> ({types(op.results)})"
    p.line(text + " {")
    p.region(op.regions[0].block, "scf.yield")
    p.line("}" + p.loc(op.loc))


def _while(p: _Printer, op: Op) -> None:
    before, after = (r.block for r in op.regions)
    left = p.left(op)
    pairs = ", ".join(f"{p.name(a)} = {p.name(v)}" for a, v in zip(before.args, op.operands))
    head = f"{left}scf.while ({pairs})" if pairs else f"{left}scf.while"
    p.line(f"{head} : ({types(op.operands)}) -> ({types(op.results)}) {{")
    p.region(before)
    p.line("} do {")
    _labelled(p, after)
    p.line("}" + p.loc(op.loc))


def _if(p: _Printer, op: Op) -> None:
    arrow = f" -> ({types(op.results)})" if op.results else ""
    p.line(f"{p.left(op)}scf.if {p.name(op.operand(0))}{arrow} {{")
    then, orelse = (r.block for r in op.regions)
    p.region(then, "scf.yield")
    if op.results or len(orelse.ops) > 1:
        p.line("} else {")
        p.region(orelse, "scf.yield")
    p.line("}" + p.loc(op.loc))


def _generic_form(p: _Printer, op: Op) -> None:
    """`%r = "name"(%a) ({regions}) {attributes} : (types) -> (types)`."""
    head = f'{p.left(op)}"{op.name}"({p.all(op.operands)})'
    if op.regions:
        p.line(head + " ({")
        for i, region in enumerate(op.regions):
            if i:
                p.line("}, {")
            _labelled(p, region.block)
        head = "})"
    result = str(op.results[0].type) if len(op.results) == 1 else f"({types(op.results)})"
    p.line(f"{head}{attributes(op.attrs)} : ({types(op.operands)}) -> {result}{p.loc(op.loc)}")


_REGION_FORMS: dict[str, Callable[[_Printer, Op], None]] = {
    "linalg.generic": _generic, "scf.for": _for, "scf.while": _while, "scf.if": _if,
}  # fmt: skip
