"""Constant tensors become constants of the module: one memref.global for each, whatever functions use it. MLIR
counterpart: BufferUtils.cpp's getGlobalFor."""

from __future__ import annotations

from tracebuf.errors import UnsupportedError
from tracebuf.ir.attributes import Attr, inherent
from tracebuf.ir.core import Op
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import MemRefType
from tracebuf.ops.memory.memref import GetGlobal, Global


def add_globals(module: Module) -> None:
    """Gives each buffer of a constant the name of a global that the module then has; equal ones share it."""
    taken = {name for item in module.items if (name := _name(item))}
    names: dict[tuple[str, str], str] = {}
    for item in module.items:
        if isinstance(item, Global) and "constant" in item.attrs and "initial_value" in item.attrs:
            names[str(item.attrs["type"].text), _elements(item)] = _name(item)
    new_globals: list[Global] = []
    for func in module.funcs:
        for op in func.walk():
            if not isinstance(op, GetGlobal) or "dense" not in op.attrs:
                continue
            type_: MemRefType = op.result.memref_type
            key = (str(type_), op.attrs["dense"].partition(" : ")[0])
            if key not in names:
                names[key] = name = _unused(op.attrs["name"].value, taken)
                new_globals.append(Global.of(name, type_, op.attrs["dense"], op.loc))
            op.attrs["name"] = inherent(f"@{names[key]}", names[key])
    module.items[:0] = new_globals


def bring_constants(func: Func, module: Module) -> None:
    """Puts the elements of a module's globals into the memref.get_global ops of one function, which then needs no
    module (undoes `add_globals`). UnsupportedError for a global that is not constant."""
    by_name = {_name(item): item for item in module.items if isinstance(item, Global)}
    for op in func.walk():
        if isinstance(op, GetGlobal) and not isinstance(op.attrs.get("dense"), str):
            global_op = by_name.get(op.attrs["name"].value.removeprefix("@"))
            value = None if global_op is None else global_op.attrs.get("initial_value")
            if global_op is None or value is None or "constant" not in global_op.attrs:
                raise UnsupportedError("only globals that are constant are run", location=op.loc)
            op.attrs["dense"] = _elements(global_op)


def _elements(item: Global) -> str:
    """The elements of a global, as text."""
    text: str = item.attrs["initial_value"].text
    return text.rpartition(" : ")[0]


def _name(item: Func | Op | Module) -> str:
    if isinstance(item, Op):
        found = item.attrs.get("sym_name")
        return str(found.value) if isinstance(found, Attr) else ""
    return item.name


def _unused(wanted: str, taken: set[str]) -> str:
    name, i = wanted, 0
    while name in taken:
        name, i = f"{wanted}_{i}", i + 1
    taken.add(name)
    return name
