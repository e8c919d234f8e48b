"""MLIR text for functions of either level: custom assembly for MLIR's own ops, generic form for the tracebuf dialect.

Why: what the user reads is what `mlir-opt` parses and verifies (with -allow-unregistered-dialect for `tracebuf.` ops).
Symbolic sizes print as `?`. An op that has attributes its custom form does not show here prints generic, so that
nothing is lost. Limitations: no casts between layouts that only tracebuf's type system allows. Counterpart:
mlir/lib/IR/AsmPrinter.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tracebuf.ir.attributes import Attr, all_encoded, dictionary, number
from tracebuf.ir.core import Block, Op, Value, join_mixed
from tracebuf.ir.explicit import explicit
from tracebuf.ir.func import Func, Module
from tracebuf.ir.text import Writer, shown_attrs
from tracebuf.ir.types import I1, INDEX, ScalarType, same_type
from tracebuf.location import quoted

__all__ = ["print_func", "print_module", "print_op"]


def print_op(op: Op) -> str:
    """One op (with its regions); values it does not define are named by their names, or numbered as they come."""
    printer = _Printer()
    printer.op(op)
    return "\n".join(printer.lines)


def print_func(func: Func, *, locations: bool = False) -> str:
    """`func.func` with its body, each op with its location if asked; then the functions that it calls."""
    printer = _Printer(locations)
    for f in (func, *func.callees):
        printer.func(f)
    return "\n".join(printer.lines)


def print_module(what: Module | Iterable[Func], *, locations: bool = False) -> str:
    """`module { ... }`, as mlir-opt reads it."""
    printer = _Printer(locations)
    printer.module(what if isinstance(what, Module) else Module(what))
    return printer.text


Op.shown, Func.shown = staticmethod(print_op), staticmethod(print_func)


class _Printer(Writer):
    # -- names
    def typed(self, values: Sequence[Value]) -> str:
        """`%a, %b : t, t`, or nothing."""
        return f"{self.all(values)} : {types(values)}" if values else ""

    def mixed(self, static: Sequence[int | None], dynamic: Iterable[Value]) -> str:
        return ", ".join(self.name(m) if isinstance(m, Value) else str(m) for m in join_mixed(static, dynamic))

    # -- structure
    def module(self, module: Module) -> None:
        if any(a.inherent for a in module.attrs.values() if isinstance(a, Attr)):
            super().module(module)
            return
        name = f" {symbol(module.name)}" if module.name else ""
        attrs = {k: v for k, v in module.attrs.items() if isinstance(v, Attr)}
        self.line(f"module{name}{f' attributes {dictionary(attrs)}' if attrs else ''} {{")
        self.items(module.items)
        self.line("}" + self.loc(module.loc))

    def func(self, func: Func) -> None:
        attrs = {k: v for k, v in func.attrs.items() if isinstance(v, Attr)}
        visibility = attrs.pop("sym_visibility", None)
        func = explicit(func)
        if any(a.inherent for a in attrs.values()):
            super().func(func)
            return
        self.forget_names()
        args = []
        for i, (arg, shown) in enumerate(zip(func.args, func.arg_attrs)):
            self.names[arg] = self.claim(arg.name if arg.name[:1].isalpha() else f"arg{i}")
            name = "" if func.external else f"{self.names[arg]}: "
            args.append(f"{name}{arg.type}{braced(shown_attrs(shown, arg.type))}")
        more = [*func.result_attrs, *[{}] * (len(func.result_types) - len(func.result_attrs))]
        results = [f"{t}{braced(shown_attrs(a, t))}" for t, a in zip(func.result_types, more)]
        words = ["func.func", *([visibility.value] if visibility else []), f"{symbol(func.name)}({', '.join(args)})"]
        words += [f"-> ({', '.join(results)})"] if results else []
        words += [f"attributes {dictionary(attrs)}"] if attrs else []
        if func.external:
            self.line(" ".join(words) + self.loc(func.loc))
            return
        self.line(" ".join(words) + " {")
        self.number_blocks(func.body)
        self.region(func.block)
        for block in func.body.blocks[1:]:
            self.labelled(block, func.loc, needed=True)
        self.line("}" + self.loc(func.loc))

    def op(self, op: Op) -> None:
        if not says_all(op):
            self.generic(op)
            return
        region_form = _REGION_FORMS.get(op.name)
        if region_form is not None:
            region_form(self, op)
            return
        text = _FORMS.get(op.name, _scalar_form if op.name.startswith(("arith.", "math.")) else None)
        if text is None:
            self.generic(op)
            return
        written = text(self, op)
        self.line(self.left(op) + written + self.loc(op.loc))

    def region(self, block: Block, skip_empty: str = "") -> None:
        self.depth += 1
        for op in block.ops:
            if not (op.name == skip_empty and not op.uses and says_all(op)):
                self.op(op)
        self.depth -= 1


def says_all(op: Op) -> bool:
    """Whether the custom form shows all of an op."""
    if op.name in _WITH_ATTRIBUTES:
        return True
    if any(isinstance(v, Attr) for v in op.attrs.values()) or any(len(r.blocks) != 1 for r in op.regions):
        return False
    if op.name == "scf.for":
        return op.regions[0].block.args[0].type is INDEX
    if op.name == "arith.select":
        return op.operand(0).type == I1
    if op.name.startswith(("arith.", "math.")) and "predicate" not in op.attrs and not _is_cast(op):
        return len(op.results) == 1 and all(same_type(v.type, op.result.type) for v in op.operands)
    return True


_WITH_ATTRIBUTES = frozenset({"arith.constant", "tensor.empty", "memref.alloc", "memref.alloca", "memref.copy"})


def symbol(name: str) -> str:
    """`@name`, in quotes where it must be."""
    return f"@{name if re.fullmatch(r'[A-Za-z_][A-Za-z0-9_$.]*', name) else quoted(name)}"


def types(values: Sequence[Value]) -> str:
    return ", ".join(str(v.type) for v in values)


def attributes(attrs: dict[str, Any]) -> str:
    """` {key = value, ...}`, or nothing."""
    return braced(all_encoded(attrs))


def braced(attrs: dict[str, Attr]) -> str:
    return f" {dictionary(attrs)}" if attrs else ""


# -- ops without regions ---------------------------------------------------------------------------------------------

_CASTS = frozenset("extf truncf sitofp uitofp extui extsi trunci bitcast index_cast fptosi fptoui".split())


def _is_cast(op: Op) -> bool:
    return op.name.removeprefix("arith.") in _CASTS


def _scalar_form(p: _Printer, op: Op) -> str:
    operands = op.operands
    if _is_cast(op):
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


def _part(p: _Printer, op: Op) -> str:
    return f"{op.name} {p.name(op.operand(0))}{_geometry(p, op, 1)} : {op.operand(0).type} to {op.result.type}"


def _insert_slice(p: _Printer, op: Op) -> str:
    source, dest = op.operand(0), op.operand(1)
    return f"{op.name} {p.name(source)} into {p.name(dest)}{_geometry(p, op, 2)} : {source.type} into {dest.type}"


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


def _dim(p: _Printer, op: Op) -> str:
    index = p.name(op.operand(1)) if len(op.uses) == 2 else f"%c{op.attrs['dim']}"
    return f"{op.name} {p.name(op.operand(0))}, {index} : {op.operand(0).type}"


def _new(p: _Printer, op: Op) -> str:
    """tensor.empty, memref.alloc, memref.alloca; tracebuf's notes on them (axis order, reason, slot) as attributes."""
    n = op.attrs["static_sizes"].count(None)
    symbols = f"[{p.all(op.operands[n:])}]" if len(op.uses) > n else ""
    shown = {k: v for k, v in op.to_form().attrs.items() if k != "operandSegmentSizes"}
    return f"{op.name}({p.all(op.operands[:n])}){symbols}{braced(shown)} : {op.result.type}"


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
    "tensor.extract_slice": _part,
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
    "memref.subview": _part,
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
    p.labelled(op.regions[0].block, op.loc)
    p.line("}" + (f" -> {_several(op)}" if op.results else "") + p.loc(op.loc))


def _several(op: Op) -> str:
    return types(op.results) if len(op.results) == 1 else f"({types(op.results)})"


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
    p.labelled(after, op.loc)
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


_REGION_FORMS: dict[str, Callable[[_Printer, Op], None]] = {
    "linalg.generic": _generic, "scf.for": _for, "scf.while": _while, "scf.if": _if,
}  # fmt: skip
