"""What the printers share: lines, names of values, and the generic form. Counterpart: mlir/lib/IR/AsmPrinter.cpp."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tracebuf.ir.attributes import Attr, dictionary, encoded, inherent, string
from tracebuf.ir.core import Block, Op, Region, Value
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import TENSORS, ShapedType, Type
from tracebuf.location import Location


class Writer:
    """Collects lines; `op` and `func` are the generic form here."""

    def __init__(self, locations: bool = False) -> None:
        self.locations = locations
        self.names: dict[Value, str] = {}
        self.taken: set[str] = set()
        self.again: Counter[str] = Counter()
        self.labels: dict[Block, str] = {}
        self.count = 0
        self.depth = 0
        self.lines: list[str] = []

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def line(self, text: str) -> None:
        self.lines.append("  " * self.depth + text)

    def loc(self, loc: Location) -> str:
        return f" {loc}" if self.locations else ""

    # -- names
    def forget_names(self) -> None:
        """Another function has names of its own."""
        self.names, self.taken, self.again, self.count = {}, set(), Counter(), 0

    def claim(self, wanted: str) -> str:
        """A name not taken yet, near the wanted one."""
        name = base = re.sub(r"[^A-Za-z0-9_$.]", "_", wanted)
        while name in self.taken:
            name = f"{base}_{self.again[base]}"
            self.again[base] += 1
        self.taken.add(name)
        return "%" + name

    def number(self) -> str:
        while str(self.count) in self.taken:
            self.count += 1
        return self.claim(str(self.count))

    def name(self, value: Value) -> str:
        found = self.names.get(value)
        if found is None:
            found = self.names[value] = self.claim(value.name) if value.name[:1].isalpha() else self._new_name(value)
        return found

    def _new_name(self, value: Value) -> str:
        op = value.defining_op
        if op is None or len(op.results) == 1:
            return self.number()
        name = self.number()
        self.names.update((r, f"{name}#{i}") for i, r in enumerate(op.results))
        return self.names[value]

    def all(self, values: Iterable[Value]) -> str:
        return ", ".join(self.name(v) for v in values)

    def left(self, op: Op) -> str:
        """`%3 = `, `%3:2 = ` or nothing."""
        if len(op.results) > 1:
            return f"{self._new_name(op.results[0]).partition('#')[0]}:{len(op.results)} = "
        return f"{self.name(op.results[0])} = " if op.results else ""

    # -- the generic form
    def op(self, op: Op) -> None:
        self.generic(op)

    def generic(self, op: Op) -> None:
        """`%r = "name"(%a)[^bb1] <{properties}> ({regions}) {attributes} : (types) -> types`"""
        form = op.to_form()
        head = f'{self.left(op)}"{form.name}"({self.all(form.operands)})'
        if form.successors:
            head += f"[{', '.join(self.labels.get(b, '^bb0') for b in form.successors)}]"
        head += _properties(form.attrs)
        arrow = f" : ({_types(v.type for v in form.operands)}) -> {_results(form.result_types)}{self.loc(op.loc)}"
        tail = _discardable(form.attrs) + arrow
        if not form.regions:
            self.line(head + tail)
            return
        self.line(head + " ({")
        self.regions(form.regions, op.loc)
        self.line("})" + tail)

    def regions(self, regions: Sequence[Region], loc: Location) -> None:
        """The regions of an op; their block arguments get the op's location."""
        for i, region in enumerate(regions):
            if i:
                self.line("}, {")
            self.number_blocks(region)
            for block in region.blocks:
                self.labelled(block, loc, needed=block is not region.blocks[0] or not block.ops)

    def number_blocks(self, region: Region) -> None:
        self.labels.update((block, f"^bb{n}") for n, block in enumerate(region.blocks))

    def labelled(self, block: Block, loc: Location, needed: bool = False) -> None:
        """A block with its label, which the first one needs for its arguments only."""
        if block.args or needed:
            args = ", ".join(f"{self.name(a)}: {a.type}{self.loc(loc)}" for a in block.args)
            self.line(f"{self.labels.get(block, '^bb0')}({args}):" if args else f"{self.labels[block]}:")
        self.depth += 1
        for op in block.ops:
            self.op(op)
        self.depth -= 1

    def func(self, func: Func) -> None:
        self.forget_names()
        signature = f"({_types(a.type for a in func.args)}) -> {_results(func.result_types)}"
        properties = {k: v for k, v in func.attrs.items() if isinstance(v, Attr)}
        properties |= {"function_type": inherent(signature), "sym_name": string(func.name, inherent=True)}
        arguments = [a.type for a in func.args]
        for key, attrs, types in (
            ("arg_attrs", func.arg_attrs, arguments), ("res_attrs", func.result_attrs, func.result_types),
        ):  # fmt: skip
            if any(shown := [shown_attrs(a, t) for a, t in zip(attrs, types)]):
                properties[key] = inherent(f"[{', '.join(map(dictionary, shown))}]")
        self.line(f'"func.func"(){_properties(properties)} ({{')
        self.regions([] if func.external else [func.body], func.loc)
        self.line(f"}}){_discardable(properties)} : () -> (){self.loc(func.loc)}")

    # -- modules
    def items(self, items: Iterable[Func | Op | Module]) -> None:
        self.depth += 1
        for item in items:
            if isinstance(item, Func):
                self.func(item)
            elif isinstance(item, Module):
                self.module(item)
            else:
                self.op(item)
        self.depth -= 1

    def module(self, module: Module) -> None:
        attrs = {k: v for k, v in module.attrs.items() if isinstance(v, Attr)}
        if module.name:
            attrs["sym_name"] = string(module.name, inherent=True)
        self.line(f'"builtin.module"(){_properties(attrs)} ({{')
        self.items(module.items)
        self.line(f"}}){_discardable(attrs)} : () -> (){self.loc(module.loc)}")


def shown_attrs(attrs: Mapping[str, Any], type: Type) -> dict[str, Attr]:
    """The attributes of an argument or a result that MLIR would know: those that name a dialect."""
    shaped = isinstance(type, (ShapedType, *TENSORS))
    return {k: encoded(v, k) for k, v in attrs.items() if "." in k and (shaped or k != "bufferization.writable")}


def _properties(attrs: Mapping[str, Attr]) -> str:
    shown = {k: v for k, v in attrs.items() if v.inherent}
    return f" <{dictionary(shown)}>" if shown else ""


def _discardable(attrs: Mapping[str, Attr]) -> str:
    shown = {k: v for k, v in attrs.items() if not v.inherent}
    return f" {dictionary(shown)}" if shown else ""


def _types(types: Iterable[Type]) -> str:
    return ", ".join(map(str, types))


def _results(types: Sequence[Type]) -> str:
    return str(types[0]) if len(types) == 1 else f"({_types(types)})"
