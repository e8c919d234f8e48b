"""What MLIR text must say of loops, branches and symbols: bounds that are numbers, blocks that may be branched to,
names that stand for one thing. MLIR counterpart: SCF.cpp, SymbolTable.cpp and the region checks of Verifier.cpp."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tracebuf.frontends.mlir.memory_rules import Rule, element, sizes_fit
from tracebuf.frontends.mlir.number_rules import kind_of
from tracebuf.ir.attributes import Attr
from tracebuf.ir.core import Op, Value
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import MemRefType, ScalarType, Type, same_type
from tracebuf.ops.control.cf import BranchOp
from tracebuf.ops.memory.memref import GetGlobal, Global

OTHERS = {
    "arith": "addui_extended mulsi_extended mului_extended scaling_extf scaling_truncf", "cf": "switch",
    "complex": "angle atan2 bitcast powi rsqrt sign", "func": "call_indirect constant func",
    "linalg": "pack unpack winograd_filter_transform winograd_input_transform winograd_output_transform",
    "math": "clampf ctlz ctpop cttz fpowi ipowi isnormal sincos",
    "memref": "alloca_scope alloca_scope.return assume_alignment atomic_rmw atomic_yield distinct_objects dma_start "
    "dma_wait generic_atomic_rmw memory_space_cast prefetch transpose view",
    "scf": "index_switch parallel reduce reduce.return", "tensor": "bitcast gather scatter", "bufferization": "",
    "index": "",
}  # fmt: skip
"""Dialects of MLIR 22 of which all ops are known: those that have no class here."""
_KNOWN = {f"{dialect}.{name}" for dialect, names in OTHERS.items() for name in names.split()}


def any_op(op: Op) -> str:
    """What holds for all ops."""
    if op.name in Op.registry:
        if op.successors and not isinstance(op, BranchOp):
            return f"{len(op.successors)} successors where none should be"
    elif op.name.partition(".")[0] in OTHERS and op.name not in _KNOWN:
        return "MLIR 22 has no such op"
    elif op.name in ("func.func", "builtin.module") and len(op.regions) != 1:
        return f"{len(op.regions)} regions where 1 should be"
    region = op.block.region if op.block is not None and op.successors else None
    if region is not None and region.blocks and any(block is region.blocks[0] for block in op.successors):
        return "it goes to the first block of its region, which nothing may go to"
    return ""


def for_loop(op: Op) -> str:
    bounds, body = [v.type for v in op.operands[:3]], op.regions[0].block
    for type_ in bounds:
        if not isinstance(type_, ScalarType) or kind_of(type_) not in ("integer", "index"):
            return f"its bounds and its step are integers or index, not {type_}"
    if any(t != bounds[0] for t in (*bounds, body.args[0].type)):
        return f"its induction variable is {body.args[0].type}, its bounds and step {', '.join(map(str, bounds))}"
    return carried(op.operands[3:], body.args[1:]) or carried(body.args[1:], op.results)


def carried(given: Iterable[Value], taken: Iterable[Value]) -> str:
    for a, b in zip(given, taken):
        if not same_type(a.type, b.type):
            return f"it carries {a.type} as {b.type}"
    return ""


def global_buffer(op: Op) -> str:
    """A name, a memref's type, elements of that type."""
    if not text_of(op.attrs.get("sym_name")).startswith('"'):
        return "its `sym_name` is no text"
    type_, initial = value_of(op.attrs.get("type")), text_of(op.attrs.get("initial_value"))
    if not isinstance(type_, MemRefType) and not text_of(op.attrs.get("type")).startswith("memref<"):
        return "its `type` is no memref"
    return "" if not initial.startswith("dense") else _initial(initial, text_of(op.attrs.get("type")))


def _initial(initial: str, type_: str) -> str:
    said = initial[initial.rindex("> : ") + 4 :].removeprefix("tensor<").removesuffix(">").replace(" ", "")
    whole = type_.removeprefix("memref<").removesuffix(">").replace(" ", "").partition(",")[0]
    return "" if said == whole else f"its elements are tensor<{said}>, its type is {type_}"


def text_of(attr: object) -> str:
    return attr.text if isinstance(attr, Attr) else ""


def value_of(attr: object) -> object:
    return attr.value if isinstance(attr, Attr) else None


def get_global(op: Op) -> str:
    return "" if text_of(op.attrs.get("name")).startswith("@") else "its `name` is no symbol"


def symbols(items: Iterable[Op | Func | Module]) -> Iterator[tuple[Op | Func | Module, str]]:
    """What has a wrong name in a module, or asks for one: the place, and what is wrong."""
    named: dict[str, Op | Func | Module] = {}
    for item in items:
        name = str(value_of(item.attrs.get("sym_name")) or "") if isinstance(item, Op) else item.name
        if name and name in named:
            yield item, f"the name `{name}` is given twice in the module"
        named.setdefault(name, item)
    for op in (op for f in named.values() if isinstance(f, Func) for op in f.walk() if isinstance(op, GetGlobal)):
        name, type_ = str(value_of(op.attrs.get("name"))), op.result.type
        found = named.get(name)
        if not isinstance(found, Global):
            if "dense" not in op.attrs:
                yield op, f"no memref.global `{name}` stands in the module"
        elif not _of_type(type_, value_of(found.attrs.get("type")), text_of(found.attrs.get("type"))):
            yield op, f"`{name}` is of type {text_of(found.attrs.get('type'))}, not {type_}"


def _of_type(found: Type, declared: object, text: str) -> bool:
    if not isinstance(declared, MemRefType):
        return str(found) == text
    return str(found) == str(declared) and same_type(element(found), element(declared)) and sizes_fit(found, declared)


RULES: dict[str, Rule] = {"scf.for": for_loop, "memref.global": global_buffer, "memref.get_global": get_global}
