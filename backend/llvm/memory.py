"""Buffers in the emitted code: allocation (arena, NumPy array, stack), frees, views, copies, and their counters.

At the beginning of a phase of the arena (ops/memory/arena.py) its block is asked for, by a call back where it is too
small; a buffer of the phase is at an offset in it. Where the block cannot be had (it is null then: guard pages, no
memory for buffers of which some may never be made), each buffer asks for a slot of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod

from tracebuf.backend.layout import abi
from tracebuf.backend.llvm import roaming as roams
from tracebuf.backend.llvm.code import Code, literal
from tracebuf.backend.llvm.loops import Buffer
from tracebuf.backend.llvm.scalars import memory_type
from tracebuf.ir.core import Mixed, Op, Value
from tracebuf.ir.dims import Dim
from tracebuf.ir.func import Func
from tracebuf.ir.types import F64, MemRefType, strides_in_order
from tracebuf.lower.plan import magnitude
from tracebuf.ops.arrays import bufferization
from tracebuf.ops.arrays.pick import Pick
from tracebuf.ops.control import scf
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.arena import Extent, Phase, Plan, Range, Roaming, lines_exactly
from tracebuf.running.lines import LINE, SMALL, rounded


class Memory:
    """Writes allocations and frees; `context` is the pointer to the context's slots, `stopped` the label that leaves
    the kernel where a call back raises."""

    def __init__(self, code: Code, context: str, stopped: str, plan: Plan) -> None:
        self.code, self.context, self.stopped = code, context, stopped
        self.plan = plan
        self.arena_slots = plan.slots
        self._has_floating = any(p.floats for phases in plan.phases.values() for p in phases)
        self._begun: dict[Phase, tuple[str, dict[Dim, str]]] = {}
        """By phase its block's pointer, and the sizes of its buffers in whole lines."""
        self._entries = _entries(plan)
        self._lowest_is_written = False

    def context_slot(self, slot: int) -> str:
        return self.code.offset(self.context, "i64", str(slot))

    def ask(self, slot: int, a: str, b: str = "0") -> str:
        """Calls the context's Python function in that slot with two integers; the integer it gives."""
        self.code.declare("tracebuf_ask", "i64 @(ptr, i64, i64, i64) nounwind")
        self.code.imports["tracebuf_ask"] = ("runtime", "ask")
        return self._answer("tracebuf_ask", ("i64", str(slot)), ("i64", a), ("i64", b))

    def _answer(self, function: str, *args: tuple[str, str]) -> str:
        """What a function of the context gives, that leaves the kernel where it is negative."""
        return self.going(self.code.call("i64", function, [("ptr", self.context), *args]))

    def going(self, answer: str) -> str:
        """Leaves the kernel where an answer is negative; the answer."""
        code, going = self.code, self.code.new_label()
        code.branch(code.icmp("slt", answer, "0"), self.stopped, going)
        code.place(going)
        return answer

    def count(self, slot: int, amount: str) -> str:
        """Adds to a counter; the new value."""
        where = self.context_slot(slot)
        new = self.code.add(self.code.inst(f"load i64, ptr {where}"), amount)
        self.code.do(f"store i64 {new}, ptr {where}")
        return new

    def count_allocation(self, nbytes: str) -> None:
        """A buffer of no bytes does not count."""
        self.count(abi.ALLOCATIONS, self._any(nbytes))
        self.count(abi.ALLOCATED, nbytes)
        live, peak = self.count(abi.LIVE, nbytes), self.context_slot(abi.PEAK)
        most = self.code.intrinsic(
            "llvm.smax.i64", "i64", [("i64", live), ("i64", self.code.inst(f"load i64, ptr {peak}"))]
        )
        self.code.do(f"store i64 {most}, ptr {peak}")

    def count_copy(self, nbytes: str) -> None:
        self.count(abi.COPIES, self._any(nbytes))
        self.count(abi.COPIED, nbytes)

    def _any(self, nbytes: str) -> str:
        """1 if there is a byte, else 0."""
        if nbytes.isdigit():
            return str(min(int(nbytes), 1))
        return self.code.inst(f"zext i1 {self.code.icmp('ne', nbytes, '0')} to i64")

    def _if_any(self, number: str, nbytes: str) -> str:
        """The number of an array that is made anew; another one where it has no elements, and stands for one of another
        path."""
        if number == "0" or nbytes.isdigit() and nbytes != "0":
            return number
        none = self.code.icmp("eq", nbytes, "0")
        return self.code.select(none, "i64", self.code.add(number, str(abi.EMPTY_SPARE)), number)

    def nbytes(self, buffer: Buffer) -> str:
        return self.code.mul(self.code.product(buffer.sizes), str(buffer.type.element.itemsize))

    def allocate(
        self,
        type_: MemRefType,
        sizes: tuple[str, ...],
        order: Sequence[int],
        op: Op,
        root: int,
        beside: Sequence[str] = (),
        others: Sequence[Buffer] = (),
    ) -> Buffer:
        """A dense buffer with axes in `order`, of the kind the op's attributes say; `beside`: the bases of buffers that
        are in use and may be in one of its places; `others`: arrays in use beside those that roam."""
        nbytes = self.code.mul(self.code.product(sizes), str(type_.element.itemsize))
        if isinstance(op, memref.Alloca):
            count = max(int(self.code.product(sizes)), 1)
            base = self.code.fresh_slot(f"[{count} x {memory_type(type_.element)}]", align=64)
        elif op.attrs.get("kind") == "arena":
            base = self._arena(op, sizes, type_.element.itemsize, nbytes, beside)
        elif op.attrs.get("kind") == "nowhere":
            base = self.context  # which no array is at
        else:
            base = self._array(type_, sizes, order, op, nbytes, others)
        if not isinstance(op, memref.Alloca):
            self.count_allocation(nbytes)
        known = MemRefType(type_.shape, type_.element, strides_in_order(type_.shape, order), 0)
        return Buffer(known, base, base, sizes, self._dense(sizes, order), frozenset([root]), nbytes)

    def later(self, type_: MemRefType, sizes: tuple[str, ...], order: Sequence[int], root: int) -> Buffer:
        """A buffer whose memory a called function gives."""
        nbytes = self.code.mul(self.code.product(sizes), str(type_.element.itemsize))
        known = MemRefType(type_.shape, type_.element, strides_in_order(type_.shape, order), 0)
        return Buffer(known, "null", "null", sizes, self._dense(sizes, order), frozenset([root]), nbytes)

    def given(self, buffer: Buffer, where: str) -> Buffer:
        """That buffer once the memory is there, at an address that is noted."""
        base = self.code.inst(f"load ptr, ptr {where}")
        self.count_allocation(buffer.nbytes)
        return Buffer(buffer.type, base, base, buffer.sizes, buffer.strides, buffer.roots, buffer.nbytes)

    def _dense(self, sizes: tuple[str, ...], order: Sequence[int]) -> tuple[str, ...]:
        strides, step = ["1"] * len(sizes), "1"
        for k, axis in enumerate(reversed(order)):
            strides[axis] = step
            if k + 1 < len(order):
                step = self.code.mul(step, sizes[axis])
        return tuple(strides)

    def _refuse_overflow(self, sizes: tuple[str, ...], itemsize: int) -> None:
        """Leaves where the number of bytes is beyond 64 bits (NumPy checks its own arrays)."""
        code, dynamic = self.code, [n for n in sizes if n[0] == "%"]
        constant = itemsize * prod(int(n) for n in sizes if n[0] != "%")
        if not dynamic and constant < 2**62:
            return
        total = literal(F64, constant)
        for n in dynamic:
            total = code.inst(f"fmul double {total}, {code.inst(f'sitofp i64 {n} to double')}")
        fits = code.new_label()
        code.branch(code.inst(f"fcmp olt double {total}, {literal(F64, 2.0**62)}"), fits, self.stopped)
        code.place(fits)

    # -- the arena
    def begin(self, phase: Phase, number: Callable[[Dim], str], real: Callable[[Dim], str]) -> None:
        """Asks for the block of a phase; `number` and `real` give sizes that are known here, as i64 and double."""
        code, sizes = self.code, {}
        later = () if phase.next is None else phase.next.total.sizes
        placed = [] if phase.floats else [r for r in self._entries if r.phase is phase]
        ends = [size for r in placed for extent in (r.first, r.end) for size in extent.sizes]
        for size in dict.fromkeys((*phase.total.sizes, *phase.sizes, *later, *ends)):
            exact = isinstance(size, int) or lines_exactly(size)
            n = number(size)
            sizes[size] = n if exact else code.inst(f"and i64 {code.add(n, str(LINE - 1))}, -{LINE}")
        total, at = self.extent(phase.total, sizes), abi.ARENA + abi.ARENA_SLOT * phase.block
        if any(not isinstance(n, int) for n in sizes):  # beyond 64 bits each buffer asks, if it is made at all
            fits = code.inst(f"fcmp olt double {self._real_sum(phase.total, real)}, {literal(F64, 2.0**62)}")
            total = code.select(fits, "i64", total, str(2**62))
        if phase.floats:
            base = self._in_gap(at, phase, total, self._offset(phase, total, sizes, real))
        else:
            base = self._own_block(at, phase, total)
        self._begun[phase] = base, sizes
        for r in placed:
            self._set(self._entries[r], self.extent(r.first, sizes), self.extent(r.end, sizes))

    def _own_block(self, at: int, phase: Phase, total: str) -> str:
        """The phase's own block, grown by a call back where it is too small."""
        code = self.code
        self._note_asked(at, total)
        if self._has_floating and phase.block == 0:  # what it has had room for, it has again
            total = code.greatest(total, code.inst(f"load i64, ptr {self.context_slot(at + 3)}"))
        room = code.inst(f"load i64, ptr {self.context_slot(at + 1)}")
        grow, ready = code.new_label(), code.new_label()
        code.branch(code.icmp("slt", room, total), grow, ready, code.rarely())
        code.place(grow)
        self.ask(abi.GROW, str(phase.block), total)
        code.jump(ready)
        code.place(ready)
        return code.inst(f"load ptr, ptr {self.context_slot(at)}")

    def _in_gap(self, at: int, phase: Phase, total: str, first: str) -> str:
        """An offset of the first block; where the block ends before, the phase's own: then the first one is made larger
        after the call."""
        code, there = self.code, abi.ARENA
        end = code.add(first, total)
        self._set(self._entries[Range(phase)], first, end)
        room = code.inst(f"load i64, ptr {self.context_slot(there + 1)}")
        inside, outside, ready = code.new_label(), code.new_label(), code.new_label()
        code.branch(code.icmp("sle", end, room), inside, outside)
        code.place(inside)
        self._note_asked(there, end)
        here = code.offset(code.inst(f"load ptr, ptr {self.context_slot(there)}"), "i8", first)
        at_inside = code.label
        code.jump(ready)
        code.place(outside)
        own = self._own_block(at, phase, total)
        wanted = self.context_slot(there + 3)
        found = code.icmp("ne", own, "null", "ptr")
        most = code.greatest(code.inst(f"load i64, ptr {wanted}"), code.select(found, "i64", end, "0"))
        code.do(f"store i64 {most}, ptr {wanted}")
        code.do(f"store i64 1, ptr {self.context_slot(abi.LARGE)}")
        at_outside = code.label
        code.jump(ready)
        code.place(ready)
        return code.inst(f"phi ptr [ {here}, %{at_inside} ], [ {own}, %{at_outside} ]")

    def _offset(self, phase: Phase, total: str, sizes: Mapping[Dim, str], real: Callable[[Dim], str]) -> str:
        """The lowest gap of the first block; or the lowest one beside the next that floats, where both end lower so."""
        code, taken, own = self.code, self._numbers(phase.beside), self._entries[Range(phase)]
        first = self._lowest(taken, total)
        if phase.next is None:
            return first
        needed = self.extent(phase.next.total, sizes)
        fits = code.inst(f"fcmp olt double {self._real_sum(phase.next.total, real)}, {literal(F64, 2.0**60)}")
        needed = code.select(fits, "i64", needed, str(2**60))
        others, end = self._numbers(phase.next.beside), code.add(first, total)
        self._set(own, first, end)
        end = code.greatest(end, code.add(self._lowest([*others, own], needed), needed))
        below = self._lowest(others, needed)
        above = code.add(below, needed)
        self._set(own, below, above)
        second = self._lowest([*taken, own], total)
        lower = code.icmp("slt", code.greatest(above, code.add(second, total)), end)
        return code.select(lower, "i64", second, first)

    def _numbers(self, beside: Sequence[Range]) -> list[int]:
        return [self._entries[_entry(r)] for r in beside]

    def _table(self) -> str:
        """Where ranges of the first block are kept, each by its first place and its end."""
        return self.code.slot(f"[{2 * len(self._entries)} x i64]")

    def _set(self, entry: int, first: str, end: str) -> None:
        for k, place in enumerate((first, end)):
            self.code.do(f"store i64 {place}, ptr {self.code.offset(self._table(), 'i64', str(2 * entry + k))}")

    def _lowest(self, taken: Sequence[int], total: str) -> str:
        """The lowest offset at which so many bytes are in none of the ranges that are in use: 0, or the end of one."""
        if not taken:
            return "0"
        code = self.code
        if not self._lowest_is_written:
            self._lowest_is_written = True
            code.define(LOWEST, _lowest_gap(code.beside()))
        entries = b"".join(entry.to_bytes(4, "little") for entry in taken)
        which = code.constant(f"{LOWEST}.{'.'.join(map(str, taken))}", entries)
        args = [("ptr", self._table()), ("ptr", which), ("i64", str(len(taken))), ("i64", total)]
        return code.call("i64", LOWEST, args)

    def _note_asked(self, at: int, nbytes: str) -> None:
        asked = self.context_slot(at + 2)
        most = self.code.intrinsic(
            "llvm.smax.i64", "i64", [("i64", self.code.inst(f"load i64, ptr {asked}")), ("i64", nbytes)]
        )
        self.code.do(f"store i64 {most}, ptr {asked}")

    def extent(self, extent: Extent, sizes: Mapping[Dim, str]) -> str:
        """The bytes of an extent."""
        code, best = self.code, ""
        for s in extent.sums:
            total = "0"
            for size, count in s:
                total = code.add(total, code.mul(sizes[size], str(count)))
            best = code.intrinsic("llvm.smax.i64", "i64", [("i64", best), ("i64", total)]) if best else total
        return best

    def _real_sum(self, extent: Extent, real: Callable[[Dim], str]) -> str:
        """More than each of the sums of an extent, if that is beyond 64 bits."""
        code, total = self.code, literal(F64, 0.0)
        for size in extent.sizes:
            most = max(dict(s).get(size, 0) for s in extent.sums)
            if not isinstance(size, int):
                total = code.inst(
                    f"fadd double {total}, {code.inst(f'fmul double {real(size)}, {literal(F64, float(most))}')}"
                )
        return total

    def _arena(self, op: Op, sizes: tuple[str, ...], itemsize: int, nbytes: str, beside: Sequence[str]) -> str:
        """The place of a buffer in the arena."""
        code, place = self.code, self.plan.places[op]
        if place.phase is None:
            self._refuse_overflow(sizes, itemsize)
            return self._slot(place.slot, nbytes)
        block, lines = self._begun[place.phase]
        inside, apart, made = code.new_label(), code.new_label(), code.new_label()
        code.branch(code.icmp("eq", block, "null", "ptr"), apart, inside, code.rarely())
        code.place(apart)
        self._refuse_overflow(sizes, itemsize)
        slot = str(place.slot)
        if place.turns > 1:
            at = [self._slot_pointer(place.slot + k) for k in range(place.turns)]
            slot = self._free_of([str(place.slot + k) for k in range(place.turns)], at, beside, "i64")
        self.ask(abi.GROW, slot, nbytes)
        where = code.add(code.mul(slot, str(abi.ARENA_SLOT)), str(abi.ARENA))
        own = code.inst(f"load ptr, ptr {code.offset(self.context, 'i64', where)}")
        at_apart = code.label
        code.jump(made)
        code.place(inside)
        first = code.offset(block, "i8", self.extent(place.offset, lines))
        if place.turns > 1:
            step = lines[place.size] if not isinstance(place.size, int) else str(rounded(place.size))
            places = [code.offset(first, "i8", code.mul(step, str(k))) for k in range(place.turns)]
            first = self._free_of(places, places, beside, "ptr")
        at_inside = code.label
        code.jump(made)
        code.place(made)
        return code.inst(f"phi ptr [ {own}, %{at_apart} ], [ {first}, %{at_inside} ]")

    def _slot_pointer(self, slot: int) -> str:
        return self.code.inst(f"load ptr, ptr {self.context_slot(abi.ARENA + abi.ARENA_SLOT * slot)}")

    def _free_of(self, choices: Sequence[str], pointers: Sequence[str], beside: Sequence[str], type_: str) -> str:
        """The first of the choices whose pointer none of `beside` is."""
        code, chosen = self.code, choices[-1]
        for choice, pointer in reversed(list(zip(choices[:-1], pointers))):
            taken = [code.icmp("eq", pointer, base, "ptr") for base in beside]
            if taken:
                used = taken[0]
                for other in taken[1:]:
                    used = code.inst(f"or i1 {used}, {other}")
                chosen = code.select(used, type_, chosen, choice)
            else:
                chosen = choice
        return chosen

    def _slot(self, slot: int, nbytes: str) -> str:
        """The memory of a slot of one buffer, grown by a call back where it is too small."""
        code, at = self.code, abi.ARENA + abi.ARENA_SLOT * slot
        grow, ready = code.new_label(), code.new_label()
        self._note_asked(at, nbytes)
        room = code.inst(f"load i64, ptr {self.context_slot(at + 1)}")
        code.branch(code.icmp("slt", room, nbytes), grow, ready)
        code.place(grow)
        self.ask(abi.GROW, str(slot), nbytes)
        code.jump(ready)
        code.place(ready)
        return code.inst(f"load ptr, ptr {self.context_slot(at)}")

    # -- buffers that roam
    def clear_table(self, roaming: Roaming) -> None:
        """Nothing roams yet."""
        table = abi.ARENA + abi.ARENA_SLOT * roaming.table
        for where in (table + abi.IN_USE, table + abi.MOST, abi.LIVE):
            self.code.do(f"store i64 0, ptr {self.context_slot(where)}")

    def _ask_roaming(self, name: str, roaming: Roaming, *args: tuple[str, str]) -> str:
        """What one of the functions that keep the table gives."""
        self.code.declare(name, roams.SIGNATURES[name])
        self.code.imports[name] = ("roaming", name)
        return self._answer(name, ("i64", str(roaming.block)), ("i64", str(roaming.table)), *args)

    # -- arrays
    def _array(
        self,
        type_: MemRefType,
        sizes: tuple[str, ...],
        order: Sequence[int],
        op: Op,
        nbytes: str,
        others: Sequence[Buffer],
    ) -> str:
        """A new NumPy array's memory; that of one of a number that was freed; or a place in the block of those that
        roam, beside `others`."""
        code, spec = self.code, self.code.slot(f"[{abi.SPEC_SLOTS} x i64]")
        number, roaming = self.plan.spares.get(op, 0), self.plan.roaming
        fields = [str(abi.element_code(type_.element)), str(type_.rank), *sizes, *map(str, order)]
        for k, value in enumerate(fields):
            code.do(f"store i64 {value}, ptr {code.offset(spec, 'i64', str(k))}")
        how = self._if_any(str(number), self.code.product(sizes))
        what = code.inst(f"ptrtoint ptr {spec} to i64")
        if roaming is None or op not in roaming.others:
            at = self.ask(abi.ALLOCATE, what, how)
        else:
            other = "0"
            for buffer in others:
                other = code.add(other, self.nbytes(buffer))
            numbers = [str(roaming.turns), nbytes, other, what, how]
            at = self._ask_roaming(roams.MAKE, roaming, *(("i64", n) for n in numbers))
        return code.inst(f"inttoptr i64 {at} to ptr")

    def free(self, op: memref.Dealloc, buffer: Buffer, base: Buffer) -> None:
        """memref.dealloc: a place in the arena only stops counting; an array is given back."""
        if isinstance(memref.base_of(op.operand(0)).owner, memref.Alloca):
            return
        if op in self.plan.frees:
            self.count(abi.LIVE, self.code.sub("0", self.nbytes(base)))
            return
        code, number, roaming = self.code, self.plan.spares.get(op, 0), self.plan.roaming
        how, after = str(number), code.new_label()
        if self.plan.nowhere:
            there = code.new_label()
            code.branch(code.icmp("eq", base.base, self.context, "ptr"), after, there)
            code.place(there)
        if number:
            nbytes = self.nbytes(base)
            large = code.icmp("sgt", nbytes, str(SMALL))
            how = self._if_any(code.select(large, "i64", str(number + abi.LARGE_SPARE), how), nbytes)
        if roaming is not None and op in roaming.frees:
            self._ask_roaming(roams.FREE, roaming, ("ptr", base.base), ("i64", how))
            freed = self.nbytes(base)
        else:
            freed = self.ask(abi.RELEASE, code.inst(f"ptrtoint ptr {buffer.base} to i64"), how)
        self.count(abi.LIVE, code.sub("0", freed))
        if self.plan.nowhere:
            code.jump(after)
            code.place(after)

    def view(self, op: memref.Subview, source: Buffer, values: dict[Value, str]) -> Buffer:
        """A subview: pointer and strides from the slice."""
        code, s = self.code, op.slice

        def text(value: Mixed) -> str:
            return str(value) if isinstance(value, int) else values[value]

        pointer, moved = source.pointer, "0"
        for offset, stride in zip(s.offsets, source.strides, strict=True):
            moved = code.add(moved, code.mul(text(offset), stride))
        pointer = code.offset(pointer, memory_type(source.type.element), moved)
        shape = op.result.memref_type.shape
        known = MemRefType(shape, source.type.element, s.view_strides(source.type), None)
        sizes = tuple("1" if d is None else text(s.sizes[d]) for d in s.dims)
        sizes = tuple(str(n) if isinstance(n, int) else v for n, v in zip(shape, sizes, strict=True))
        strides = tuple("0" if d is None else code.mul(source.strides[d], text(s.strides[d])) for d in s.dims)
        return Buffer(known, source.base, pointer, sizes, strides, source.roots, source.nbytes)

    def regrouped(self, op: Op, source: Buffer, values: dict[Value, str]) -> Buffer:
        """A collapse_shape, expand_shape, recast, diagonal or windows: the same memory, other sizes and strides."""
        code, type_ = self.code, op.result.memref_type
        sizes: list[str] = []
        strides: list[str] = []
        if isinstance(op, memref.ExpandShape):
            sizes = [str(s) if isinstance(s, int) else values[s] for s in op.sizes]
            strides = ["0"] * len(sizes)
            for group, step in zip(op.attrs["groups"], source.strides, strict=True):
                for axis in reversed(group):
                    strides[axis] = step
                    step = code.mul(step, sizes[axis]) if axis != group[0] else step
        elif isinstance(op, memref.CollapseShape):
            for group in op.attrs["groups"]:
                sizes.append(code.product([source.sizes[a] for a in group]))
                strides.append(source.strides[memref.innermost(source.type, group)])
        elif isinstance(op, memref.Recast):
            sizes, strides = self._recast(op, source)
        elif isinstance(op, memref.Windows):
            axis, size = op.attrs["axis"], values[op.operand(1)]
            count = code.add(code.inst(f"sub i64 {source.sizes[axis]}, {size}"), "1")
            sizes = [*source.sizes[:axis], count, *source.sizes[axis + 1 :], size]
            strides = [*source.strides, source.strides[axis]]
        else:
            a, b = op.attrs["axes"]
            kept = [k for k in range(len(source.sizes)) if k not in (a, b)]
            sizes = [*(source.sizes[k] for k in kept), source.sizes[a]]
            strides = [*(source.strides[k] for k in kept), code.add(source.strides[a], source.strides[b])]
        sizes = [str(n) if isinstance(n, int) else v for n, v in zip(type_.shape, sizes, strict=True)]
        return Buffer(type_, source.base, source.pointer, tuple(sizes), tuple(strides), source.roots, source.nbytes)

    def _recast(self, op: memref.Recast, source: Buffer) -> tuple[list[str], list[str]]:
        """Sizes and strides of the same memory as elements of another type."""
        code, sizes, strides = self.code, list(source.sizes), list(source.strides)
        rank = op.result.memref_type.rank
        if rank > len(sizes):
            return [*sizes, "2"], [*(code.mul(s, "2") for s in strides), "1"]
        if rank < len(sizes):
            halves = [str(int(s) // 2) if s[0] != "%" else code.inst(f"sdiv i64 {s}, 2") for s in strides[:-1]]
            return sizes[:-1], halves
        return sizes, strides


def _entries(plan: Plan) -> dict[Range, int]:
    """The ranges of the first block that something may float beside, each with its number in a table."""
    floating = [phase for phases in plan.phases.values() for phase in phases if phase.floats]
    beside = [r for phase in floating for r in (*phase.beside, *(phase.next.beside if phase.next is not None else ()))]
    return {r: k for k, r in enumerate(dict.fromkeys([*map(Range, floating), *map(_entry, beside)]))}


def _entry(r: Range) -> Range:
    """That of a phase which floats is all of it."""
    return Range(r.phase) if r.phase.floats else r


LOWEST = "tracebuf_lowest"


def _lowest_gap(code: Code) -> str:
    """The function by which `Memory._lowest` finds it, among those ranges of a table that are in use. Written out where
    it is asked for, the code would grow with the cube of their number, and be most of a long program."""
    as_it_stands = code.loop_metadata(*code.as_it_stands())

    def place(k: str, end: int) -> str:
        entry = code.inst(f"load i32, ptr {code.offset('%which', 'i32', k)}")
        entry = code.mul(code.inst(f"zext i32 {entry} to i64"), "2")
        return code.inst(f"load i64, ptr {code.offset('%table', 'i64', code.add(entry, str(end)))}")

    with code.loop("%count", "-1", carried=[("i64", str(2**62))], metadata=as_it_stands) as each:
        at = code.select(code.icmp("slt", each.index, "0"), "i64", "0", place(code.greatest(each.index, "0"), 1))
        stop = code.add(at, "%total")
        with code.loop("%count", carried=[("i1", "true")], metadata=as_it_stands) as other:
            below, above = code.icmp("sle", stop, place(other.index, 0)), code.icmp("sge", at, place(other.index, 1))
            apart = code.inst(f"or i1 {below}, {above}")
            other.next = [code.inst(f"and i1 {other.carried[0]}, {apart}")]
        found = code.select(other.carried[0], "i64", at, str(2**62))
        each.next = [code.least(each.carried[0], found)]
    code.do(f"ret i64 {each.carried[0]}")
    parameters = "ptr %table, ptr %which, i64 %count, i64 %total"
    attributes = "noinline nounwind willreturn memory(argmem: read)"
    return code.function_text(f"define internal i64 @{LOWEST}({parameters}) {attributes}")


def layout_order(type_: MemRefType) -> tuple[int, ...]:
    """Axes outermost first, by strides where they are known; else in C order."""
    if any(s is None for s in type_.strides):
        return tuple(range(type_.rank))
    return tuple(sorted(range(type_.rank), key=lambda d: -magnitude(type_.strides[d])))


def storages(func: Func, plan: Plan) -> tuple[dict[Value, frozenset[int]], dict[int, frozenset[int]]]:
    """For each memref value the storages it may be part of, and for each storage those that it may share bytes with.

    A storage is an argument, an allocation, a constant, or a place in the arena.
    """
    roots: dict[Value, frozenset[int]] = {}
    slots: dict[object, int] = {}
    for arg in func.args:
        if isinstance(arg.type, MemRefType):
            roots[arg] = frozenset([slots.setdefault(arg, len(slots))])
    ops = list(func.walk())
    for op in ops:
        if isinstance(op, memref.Alloc | bufferization.Clone):
            place = plan.places.get(op)
            roots[op.result] = frozenset([slots.setdefault(op if place is None else ("slot", place.slot), len(slots))])
        elif isinstance(op, memref.GetGlobal):
            roots[op.result] = frozenset([slots.setdefault(("global", op.attrs["name"].text), len(slots))])
    passing = [op for op in ops if isinstance(op, _PASSING)]
    changed = True
    while changed:
        changed = False
        for op in passing:
            changed |= _flow(op, roots)
    near = {k: frozenset([k]) for k in range(len(slots))}
    for slot, others in plan.sharing.items():
        mine = slots["slot", slot]
        near[mine] |= {slots["slot", other] for other in others}
    if plan.roaming is not None:
        below = frozenset(slots["slot", slot] for slot in plan.roaming.over)
        for alloc, sharers in plan.roaming.near.items():
            near[slots[alloc]] |= below.union(slots[other] for other in sharers)
            for mine in below:
                near[mine] |= {slots[alloc]}
    return roots, near


_PASSING = (*memref.VIEW_OPS, scf.For, scf.While, scf.If, Pick)
"""Ops whose results are buffers of others, or parts of them."""


def _flow(op: Op, roots: dict[Value, frozenset[int]]) -> bool:
    """Propagates roots through one op; whether anything changed."""
    pairs: list[tuple[Value, Value]] = []
    if isinstance(op, memref.VIEW_OPS):
        pairs = [(op.operand(0), op.result)]
    elif isinstance(op, scf.For):
        yields = op.body.terminator.operands
        for init, arg, new, result in zip(op.operands[3:], op.body.args[1:], yields, op.results, strict=True):
            pairs += [(init, arg), (new, arg), (new, result), (init, result)]
    elif isinstance(op, scf.While):
        pairs = [*zip(op.operands, op.before.args), *zip(op.after.terminator.operands, op.before.args)]
        for use, arg, result in zip(op.passed, op.after.args, op.results, strict=True):
            pairs += [(use.value, arg), (use.value, result)]
    elif isinstance(op, Pick):
        pairs = [(v, op.result) for v in op.arrays]
    elif isinstance(op, scf.If):
        pairs = [(v, r) for b in op.branches for v, r in zip(b.terminator.operands, op.results, strict=True)]
    changed = False
    for source, target in pairs:
        if isinstance(target.type, MemRefType):
            before = roots.get(target, frozenset())
            roots[target] = before | roots.get(source, frozenset())
            changed |= roots[target] != before
    return changed
