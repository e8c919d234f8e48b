"""The text of one LLVM function while it is being written: instructions, labels, loops, stack slots, metadata, imports.

Nothing here knows what is computed. All allocas go to the entry block; integer arithmetic on literals is done here, so
that the text of constant strides stays short. Alias scopes: each storage is one scope of one domain; an access lists
the scopes it may touch and those it cannot. Accesses of one parallel loop share an access group, by which LLVM knows
that iterations do not depend on one another and vectorises without run-time checks.
"""

from __future__ import annotations

import struct
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any

from tracebuf.backend.llvm.shared import Shared, module_text, named
from tracebuf.backend.objects.image import SpeedLevel
from tracebuf.frozen import frozen, plain
from tracebuf.ir.emitter import components, join_components, llvm_type
from tracebuf.ir.types import I1, ScalarType


@plain(eq=True, slots=True)
class OpenLoop:
    """A loop being written: its index, the loop-carried values in the body (after the loop: at its end), the label
    after it, the values for the next iteration; the next index where that is not a step further."""

    index: str
    carried: list[str]
    end: str
    next: list[str] = field(default_factory=list)
    after: str = ""


@frozen()
class Access:
    """The metadata of loads and stores to one storage: its alias scopes, and the access group of the loop around."""

    scopes: str = ""
    group: str = ""

    def __str__(self) -> str:
        return self.scopes + self.group


class Code:
    """One function's text. Values are names (`%v3`) or literals."""

    def __init__(self) -> None:
        self.entry: list[str] = []
        self.lines: list[str] = []
        self.label = "entry"
        self.imports: dict[str, tuple[str, ...]] = {}
        """Imported symbols and what they are, as `KernelText` says; the addresses are found when linking."""
        self._declared: dict[str, str] = {}
        self.shared: dict[str, Shared] = {}
        """By symbol the functions that the module calls and other modules may have."""
        self.products: dict[str, str] = {}
        """The symbol of each kind of product among them."""
        self._metadata: list[str] = []
        self._numbered: dict[str, str] = {}
        self._slots: dict[tuple[str, int], str] = {}
        self._count = 0

    def beside(self) -> Code:
        """The code of another function of the same module."""
        other = Code()
        other.imports, other._declared, other.shared = self.imports, self._declared, self.shared
        other.products = self.products
        other._metadata, other._numbered = self._metadata, self._numbered
        return other

    # -- instructions
    def name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def inst(self, text: str) -> str:
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        self.lines.append("  " + text)

    def declare(self, name: str, signature: str) -> None:
        """`signature` has `@` where the name goes: "void @(ptr)"."""
        self._declared[name] = "declare " + signature.replace("@", f"@{name}", 1)

    def define(self, name: str, text: str) -> None:
        """A whole function, beside the one that is written."""
        self._declared[name] = text

    def constant(self, name: str, data: bytes) -> str:
        """The pointer to constant bytes."""
        text = "".join(f"\\{byte:02X}" for byte in data)
        self._declared[name] = f'@{name} = private constant [{len(data)} x i8] c"{text}", align 64'
        return f"@{name}"

    def call(
        self, result: str, name: str, args: Sequence[tuple[str, str]], attributes: str = "", flags: str = ""
    ) -> str:
        """A call of a declared function; the result's name ("" for void)."""
        text = f"call {flags}{result} @{name}({', '.join(f'{t} {v}' for t, v in args)}){attributes}"
        if result == "void":
            self.do(text)
            return ""
        return self.inst(text)

    def intrinsic(self, name: str, result: str, args: Sequence[tuple[str, str]], flags: str = "") -> str:
        self.declare(name, f"{result} @({', '.join(t for t, _ in args)})")
        return self.call(result, name, args, flags=flags)

    # -- integers and pointers
    def add(self, a: str, b: str) -> str:
        if a == "0" or b == "0":
            return b if a == "0" else a
        return str(int(a) + int(b)) if _both(a, b) else self.inst(f"add i64 {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        if b == "0":
            return a
        return str(int(a) - int(b)) if _both(a, b) else self.inst(f"sub i64 {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        if "0" in (a, b):
            return "0"
        if "1" in (a, b):
            return b if a == "1" else a
        return str(int(a) * int(b)) if _both(a, b) else self.inst(f"mul nsw i64 {a}, {b}")

    def product(self, values: Sequence[str]) -> str:
        total = "1"
        for v in values:
            total = self.mul(total, v)
        return total

    def icmp(self, predicate: str, a: str, b: str, type: str = "i64") -> str:
        return self.inst(f"icmp {predicate} {type} {a}, {b}")

    def select(self, condition: str, type: str, a: str, b: str) -> str:
        return a if a == b else self.inst(f"select i1 {condition}, {type} {a}, {type} {b}")

    def either_way(self, condition: str, type: str, a: str, b: str) -> str:
        """A select that stays one: a branch in its place would be foretold wrongly half the time."""
        hint = self.metadata("")
        return self.inst(f"select i1 {condition}, {type} {a}, {type} {b}, !unpredictable {hint}")

    def least(self, a: str, b: str) -> str:
        return self.intrinsic("llvm.smin.i64", "i64", [("i64", a), ("i64", b)])

    def greatest(self, a: str, b: str) -> str:
        return self.intrinsic("llvm.smax.i64", "i64", [("i64", a), ("i64", b)])

    def every(self, conditions: Sequence[str]) -> str:
        """The and of conditions ("true" for none)."""
        total = "true"
        for c in conditions:
            total = c if total == "true" else self.inst(f"and i1 {total}, {c}")
        return total

    def offset(self, pointer: str, type: str, count: str) -> str:
        """pointer + count elements."""
        return pointer if count == "0" else self.inst(f"getelementptr inbounds {type}, ptr {pointer}, i64 {count}")

    def opaque(self, pointer: str) -> str:
        """A pointer, of which LLVM does not know how it follows from others. Where they are those of rows in an outer
        loop, its search for the cheapest addresses (loop strength reduction), which weighs each against all others,
        takes half of the time to compile a stencil, for nothing: the elements of a row are one index away."""
        return self.intrinsic("llvm.strip.invariant.group.p0", "ptr", [("ptr", pointer)])

    # -- memory
    def load(self, element: ScalarType, pointer: str, access: Access | str = "") -> str:
        """An element; a bool's byte becomes an i1."""
        if element is I1:
            return self.icmp("ne", self.inst(f"load i8, ptr {pointer}{access}"), "0", "i8")
        if element.is_complex:
            places = self._parts_at(element, pointer)
            return join_components([self.load(element.component, place, access) for place in places])
        return self.inst(f"load {llvm_type(element)}, ptr {pointer}{access}")

    def load_stored_over(self, element: ScalarType, pointer: str, access: Access | str = "") -> str:
        """An element that is loaded where another is stored: of a `select` between the two, LLVM makes a store under a
        mask, which takes three times as long on AMD's processors; it does not see through `freeze`."""
        loaded = self.load(element, pointer, access)
        if element.is_complex or element is I1:
            return loaded
        return self.inst(f"freeze {llvm_type(element)} {loaded}")

    def store(self, element: ScalarType, value: str, pointer: str, access: Access | str = "") -> None:
        if element is I1:
            byte = {"true": "1", "false": "0"}.get(value) or self.inst(f"zext i1 {value} to i8")
            self.do(f"store i8 {byte}, ptr {pointer}{access}")
        elif element.is_complex:
            for (part, v), place in zip(components(element, value), self._parts_at(element, pointer), strict=True):
                self.store(part, v, place, access)
        else:
            self.do(f"store {llvm_type(element)} {value}, ptr {pointer}{access}")

    def _parts_at(self, element: ScalarType, pointer: str) -> tuple[str, str]:
        """Where the real and the imaginary part of a complex element are."""
        return pointer, self.offset(pointer, llvm_type(element.component), "1")

    def slot(self, type: str, key: int = 0, align: int = 8) -> str:
        """A stack slot in the entry block, one for each (type, key)."""
        if (type, key) not in self._slots:
            self._slots[type, key] = self.fresh_slot(type, align)
        return self._slots[type, key]

    def fresh_slot(self, type: str, align: int = 8) -> str:
        name = self.name()
        self.entry.append(f"  {name} = alloca {type}, align {align}")
        return name

    # -- control flow
    def new_label(self) -> str:
        self._count += 1
        return f"b{self._count}"

    def place(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def jump(self, label: str, metadata: str = "") -> None:
        self.do(f"br label %{label}{metadata}")

    def branch(self, condition: str, yes: str, no: str, metadata: str = "") -> None:
        self.do(f"br i1 {condition}, label %{yes}, label %{no}{metadata}")

    @contextmanager
    def loop(
        self, stop: str, start: str = "0", step: str = "1", carried: Sequence[tuple[str, str]] = (), metadata: str = ""
    ) -> Iterator[OpenLoop]:
        """for index in range(start, stop, step), step > 0; `carried`: loop-carried values as (type, initial value)."""
        head, body, end = self.new_label(), self.new_label(), self.new_label()
        before = self.label
        self.jump(head)
        self.place(head)
        place = len(self.lines)
        loop = OpenLoop(self.name(), [self.name() for _ in carried], end)
        self.lines += [""] * (1 + len(carried))
        self.branch(self.icmp("slt", loop.index, stop), body, end)
        self.place(body)
        yield loop
        after = loop.after or self.inst(f"add nsw i64 {loop.index}, {step}")
        latch = self.label
        self.jump(head, metadata)
        self.lines[place] = f"  {loop.index} = phi i64 [ {start}, %{before} ], [ {after}, %{latch} ]"
        self._write_phis(place + 1, loop, carried, before, latch)
        self.place(end)

    @contextmanager
    def rounds(self, carried: Sequence[tuple[str, str]]) -> Iterator[OpenLoop]:
        """while True, left by a branch to its end; `carried`: the loop-carried values as (type, initial value)."""
        head, before = self.new_label(), self.label
        self.jump(head)
        self.place(head)
        loop = OpenLoop("", [self.name() for _ in carried], self.new_label())
        place = len(self.lines)
        self.lines += [""] * len(carried)
        yield loop
        latch = self.label
        self.jump(head)
        self._write_phis(place, loop, carried, before, latch)
        self.place(loop.end)

    def _write_phis(
        self, place: int, loop: OpenLoop, carried: Sequence[tuple[str, str]], before: str, latch: str
    ) -> None:
        for k, ((type_, init), name, new) in enumerate(zip(carried, loop.carried, loop.next, strict=True)):
            self.lines[place + k] = f"  {name} = phi {type_} [ {init}, %{before} ], [ {new}, %{latch} ]"

    # -- metadata
    def metadata(self, text: str, distinct: bool = False) -> str:
        """The number of a metadata node; equal nodes are one unless distinct. `@` in a distinct one is the node
        itself.
        """
        if not distinct and text in self._numbered:
            return self._numbered[text]
        number = f"!{len(self._metadata)}"
        self._metadata.append(f"{number} = {'distinct ' if distinct else ''}!{{{text.replace('@', number)}}}")
        self._numbered[text] = number
        return number

    def parallel_group(self, vectorize: bool = True, short: bool = False, twice: bool = False) -> tuple[str, str]:
        """(metadata of the accesses, metadata of the back branch) of a loop whose iterations are independent; `twice`:
        two of them in one round, where it is not vectorised (a strided copy takes half the time)."""
        group = self.metadata("", distinct=True)
        properties = [self.metadata(f'!"llvm.loop.parallel_accesses", {group}')]
        if not vectorize:
            still, single = self.as_it_stands()
            properties += [still, self.metadata('!"llvm.loop.unroll.count", i32 2') if twice else single]
        elif short:  # a few hundred elements in the L1 cache: one vector at a time will do, and compiles sooner
            properties += [self.metadata('!"llvm.loop.interleave.count", i32 1'), self.as_it_stands()[1]]
        return f", !llvm.access.group {group}", self.loop_metadata(*properties)

    def as_it_stands(self) -> list[str]:
        """Properties of a loop that is not worth vectorising or unrolling, which costs time to compile."""
        names = '"llvm.loop.vectorize.enable", i1 false', '"llvm.loop.unroll.disable"'
        return [self.metadata("!" + name) for name in names]

    def rarely(self) -> str:
        """The metadata of a branch that is hardly ever taken to its first label."""
        return ", !prof " + self.metadata('!"branch_weights", i32 1, i32 2000')

    def loop_metadata(self, *properties: str) -> str:
        return f", !llvm.loop {self.metadata(', '.join(('@', *properties)), distinct=True)}"

    def text(self, head: str, elsewhere: Container[str] = (), by_pointer: bool = False) -> str:
        """The whole module, but for the shared functions `elsewhere`; `head`: the first line up to the brace;
        `by_pointer`: the others are called through pointers."""
        function = self.function_text(head)
        return module_text(self._declared, function, self._metadata, self.shared, elsewhere, by_pointer)

    def function_text(self, head: str) -> str:
        """The function alone."""
        return f"{head} {self._body()}"

    def _body(self) -> str:
        return "\n".join(["{", "entry:", *self.entry, *self.lines, "}"])

    def address_of(self, symbol: str) -> str:
        """The pointer to a shared function, in a form that `through_pointers` knows."""
        return self.inst(f"getelementptr i8, ptr @{symbol}, i64 0")

    def share_text(
        self, kind: str, parameters: Sequence[tuple[str, str]], body: str, needs: Mapping[str, str]
    ) -> str:
        """The symbol of a function that is there as text, for modules to share: quick to compile, hardly ever run."""
        symbol, function = named(kind, parameters, body, needs, (), 1)
        self.shared[symbol] = function
        return symbol

    def share(self, inner: Code, kind: str, parameters: Sequence[tuple[str, str]], level: SpeedLevel = 3) -> str:
        """The symbol of the function that `inner` is the whole code of, for modules to share."""
        symbol, function = named(kind, parameters, inner._body(), inner._declared, inner._metadata, level)
        self.shared[symbol] = function
        self.imports.update(inner.imports)
        return symbol


def _both(a: str, b: str) -> bool:
    return a[0] != "%" and b[0] != "%"


def literal(type: ScalarType, value: Any) -> str:
    """A constant of an element type; floats as the bits of the double that equals them."""
    if type is I1:
        return "true" if value else "false"
    if type.is_complex:
        return join_components([literal(type.component, part) for part in (value.real, value.imag)])
    if not type.is_float:
        return str(int(value))
    exact = type.dtype.type(value)
    return f"0x{struct.unpack('<Q', struct.pack('<d', float(exact)))[0]:016X}"
