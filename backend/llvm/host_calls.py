"""Host calls that native code makes without Python: the inner loop of a generalised ufunc, or a sort, by pointer.

The loop gets the operands with their strides as they are; leading axes are its outer dimension, and loops around it
where there are several. Status flags are cleared before and looked at after. Where one is set for which the function
raises an error of known words, a check raises it. Where another is set that the function would look at, where core
dimensions differ, or where the work is large, the function itself is called back, on the same operands: the errors,
their words and warnings are its own.

A call back (`call_reference`) runs an op's NumPy reference. The kernel describes the operands in an array of slots: for
each memref the pointer to element 0, sizes and strides in elements, for a scalar its value. What the reference raises
ends the kernel. What it allocates itself is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack

from tracebuf.backend.layout import abi
from tracebuf.backend.layout.abi import scalar_slots
from tracebuf.backend.llvm.code import Code, OpenLoop, literal
from tracebuf.backend.llvm.loops import Buffer
from tracebuf.backend.llvm.memory import Memory
from tracebuf.backend.llvm.numpy_loops import core_loop, extreme_loop, sort_loop, status_flags
from tracebuf.backend.llvm.polls import Polls
from tracebuf.backend.llvm.scalars import ELEMENT_SLOT, memory_type
from tracebuf.ir.emitter import join_components, llvm_type
from tracebuf.ir.types import F64, ScalarType, Type
from tracebuf.lower.networks import comparisons
from tracebuf.running.host import (
    ROW,
    CoreLoop,
    ExtremeLoop,
    Loop,
    MedianLoop,
    NativeLoop,
    QuantileLoop,
    SortLoop,
)

SMALL = 2**14
"""Elements of an operand, up to which the loop is called: beyond, its work is many times what the function adds. Copies
of so few elements are not refused memory."""
LONG_ROW = 2**18
"""Elements that are searched between two polls."""
SHORT_ROW = 24
"""Elements of a row that are compared one by one, in less time than a call takes."""
FEW = 16
"""Elements of a row, up to which a network of comparisons finds the median: of as many rows at a time as a vector has
elements."""
ROWS = 4096
"""Rows between two polls."""
_SLOTS = 3000


class HostWriter:
    """Writes calls of loops; `call_back` writes the call of the function, `check` what ends the kernel with a
    LinAlgError of these words where a condition does not hold."""

    def __init__(self, code: Code, polls: Polls, memory: Memory) -> None:
        self.code, self.polls, self.memory = code, polls, memory

    def call(
        self,
        loop: Loop,
        operands: Sequence[Buffer | str],
        types: Sequence[Type],
        call_back: Callable[[], None],
        check: Callable[[str, str], None],
    ) -> str | None:
        """What is called, for the kernel's plan; None where there is no such loop."""
        if isinstance(loop, NativeLoop):
            return self._call_native(loop, operands, types, call_back)
        if isinstance(loop, SortLoop):
            return self._call_sort(loop, [b for b in operands if isinstance(b, Buffer)], call_back)
        if isinstance(loop, ExtremeLoop):
            return self._call_extreme(loop, [b for b in operands if isinstance(b, Buffer)], call_back)
        if isinstance(loop, MedianLoop):
            return self._call_median(loop, [b for b in operands if isinstance(b, Buffer)], call_back)
        if isinstance(loop, QuantileLoop):
            return self._call_quantile(loop, [b for b in operands if isinstance(b, Buffer)], call_back)
        return self._call_core(loop, operands, types, call_back, check)

    def _call_native(
        self, loop: NativeLoop, operands: Sequence[Buffer | str], types: Sequence[Type], call_back: Callable[[], None]
    ) -> str:
        code = self.code
        code.imports[loop.name] = ("jitted", loop.name)
        code.declare(loop.name, "i64 @(ptr)")
        spec, _ = slots_of(code, operands, types)
        gave = self.memory.going(code.call("i64", loop.name, [("ptr", spec)]))
        self.polls.spend("16")
        slow, end = code.new_label(), code.new_label()
        code.branch(code.icmp("ne", gave, "0"), slow, end, code.rarely())
        code.place(slow)
        call_back()
        code.jump(end)
        code.place(end)
        return "machine code of Numba's"

    def _call_core(
        self,
        loop: CoreLoop,
        operands: Sequence[Buffer | str],
        types: Sequence[Type],
        call_back: Callable[[], None],
        check: Callable[[str, str], None],
    ) -> str | None:
        try:
            for ufunc in filter(None, (loop.ufunc, loop.odd)):
                core_loop(loop.module, ufunc, loop.types)
            status_flags()
        except LookupError:
            call_back()
            return None
        code = self.code
        fast, slow, end = code.new_label(), code.new_label(), code.new_label()
        wanted: list[str] = []
        sizes = self._core_sizes(loop, operands, wanted)
        outer = self._outer_sizes(loop, operands, wanted)
        if "false" in wanted:
            call_back()
            return None
        counts = {code.product(b.sizes) for b in operands if isinstance(b, Buffer)}
        wanted += [code.icmp("sle", n, str(SMALL)) for n in sorted(counts) if not n.isdigit() or int(n) > SMALL]
        code.branch(code.every(wanted), fast, slow)
        code.place(fast)
        if loop.widens:
            first, out = operands[0], operands[-1]
            assert isinstance(first, Buffer) and isinstance(out, Buffer)
            self._widen(first, out)
            operands = [out, *operands[1:]]
        flagged = self._loop(loop, operands, types, sizes, outer)
        self.polls.spend(code.product([*sizes.values(), *sizes.values(), *outer]))
        if loop.error:
            check(code.inst(f"xor i1 {flagged}, true"), loop.error)
            code.jump(end)
        else:
            code.branch(flagged, slow, end, code.rarely())
        code.place(slow)
        call_back()
        code.jump(end)
        code.place(end)
        return f"loop of {loop.ufunc} for {loop.types}, by pointer where no operand has more than {SMALL} elements"

    def _call_sort(self, loop: SortLoop, buffers: Sequence[Buffer], call_back: Callable[[], None]) -> str | None:
        try:
            sort_loop(loop.dtype, loop.kind, loop.indirect)
        except LookupError:
            call_back()
            return None
        code = self.code
        n = buffers[-1].sizes[-1]
        wanted: list[str] = []
        for b in buffers:
            if b.strides[-1] != "1":
                wanted.append(code.inst(f"or i1 {code.icmp('eq', b.strides[-1], '1')}, {code.icmp('sle', n, '1')}"))
        if not wanted and not loop.kind:  # quicksort needs no memory
            self._sort(loop, buffers)
            return "sort of rows, by pointer"
        slow, end = code.new_label(), code.new_label()
        if wanted:
            fast, apart, copied = code.new_label(), code.new_label(), code.new_label()
            code.branch(code.every(wanted), fast, apart)
            code.place(apart)
            code.branch(code.icmp("sle", n, str(ROW)), copied, slow)
            code.place(copied)
            failed = self._sort(loop, buffers, copies=True)
            code.branch(code.icmp("slt", failed, "0", "i32"), slow, end, code.rarely())
            code.place(fast)
        failed = self._sort(loop, buffers)
        code.branch(code.icmp("slt", failed, "0", "i32"), slow, end, code.rarely())
        code.place(slow)
        call_back()
        code.jump(end)
        code.place(end)
        return f"sort of rows, by pointer where they are contiguous or have at most {ROW} elements"

    def _call_extreme(self, loop: ExtremeLoop, buffers: Sequence[Buffer], call_back: Callable[[], None]) -> str | None:
        try:
            extreme_loop(loop.dtype, loop.name)
        except LookupError:
            call_back()
            return None
        code, source = self.code, buffers[0]
        n, dense = source.sizes[-1], source.strides[-1]
        if dense == "1":
            self._extremes(loop, buffers)
            return "search of rows, by pointer"
        fast, apart, end = (code.new_label() for _ in range(3))
        code.branch(code.inst(f"or i1 {code.icmp('eq', dense, '1')}, {code.icmp('sle', n, '1')}"), fast, apart)
        code.place(apart)
        self._extremes(loop, buffers, copies=True)
        code.jump(end)
        code.place(fast)
        self._extremes(loop, buffers)
        code.jump(end)
        code.place(end)
        return f"search of rows, by pointer, in copies of {ROW} elements where they are not contiguous"

    def _extremes(self, loop: ExtremeLoop, buffers: Sequence[Buffer], copies: bool = False) -> None:
        """Searches each row in blocks, or copies of blocks; of the best so far and a block's best, the function says
        which it is."""
        code, (source, out) = self.code, buffers
        element, n, name = source.type.element, source.sizes[-1], f"numpy_{loop.name}_{loop.dtype.replace('?', 'b')}"
        code.imports[name] = ("extreme", loop.dtype, loop.name)
        code.imports[f"{name}_array"] = ("extreme array", loop.dtype, loop.name)
        code.declare(name, "i32 @(ptr, i64, ptr, ptr)")
        code.declare(f"{name}_array", "void @()")
        kind, most = memory_type(element), str(ROW if copies else LONG_ROW)
        stack = code.fresh_slot(f"[{ROW} x {kind}]", align=64) if copies else ""
        pair, found = code.fresh_slot(f"[2 x {kind}]", align=16), code.fresh_slot("i64")

        def search(row: str, count: str) -> str:
            code.call("i32", name, [("ptr", row), ("i64", count), ("ptr", found), ("ptr", f"@{name}_array")])
            return code.inst(f"load i64, ptr {found}")

        with ExitStack() as loops:
            indices = [loops.enter_context(self._plain_loop(size)).index for size in out.sizes]
            place = self._at(out, indices)
            done = code.new_label()
            if not element.is_complex:
                few, many = code.new_label(), code.new_label()
                code.branch(code.icmp("sle", n, str(SHORT_ROW)), few, many)
                code.place(few)
                code.do(f"store i64 {self._extreme_of_few(loop, source, indices)}, ptr {place}")
                self.polls.poll(n)
                code.jump(done)
                code.place(many)
            metadata = self._as_it_stands()
            with code.loop(n, step=most, metadata=metadata) as each:
                left = code.sub(n, each.index)
                count = code.select(code.icmp("slt", left, most), "i64", left, most)
                row = stack or self._at(source, [*indices, each.index])
                if copies:
                    self._copy_row(source, indices, stack, each.index, count)
                index = search(row, count)
                value = code.load(element, code.offset(row, kind, index))
                taken, other, next_ = (code.new_label() for _ in range(3))
                code.branch(code.icmp("eq", each.index, "0"), taken, other)
                code.place(other)
                code.store(element, value, code.offset(pair, kind, "1"))
                code.branch(code.icmp("eq", search(pair, "2"), "0"), next_, taken)
                code.place(taken)
                code.store(element, value, pair)
                code.do(f"store i64 {code.add(each.index, index)}, ptr {place}")
                code.jump(next_)
                code.place(next_)
                self.polls.poll(count)
            code.jump(done)
            code.place(done)

    def _extreme_of_few(self, loop: ExtremeLoop, source: Buffer, indices: Sequence[str]) -> str:
        """The index of a row's extreme, found one by one: the first NaN, else the first of the best."""
        code, element, largest = self.code, source.type.element, loop.name == "argmax"
        kind = f"i{element.bits}" if element.is_float else llvm_type(element)

        def key(index: str) -> str:
            value = code.load(element, self._at(source, [*indices, index]))
            return self._rank(element, value, largest) if element.is_float else value

        carried = [(kind, key("0")), ("i64", "0")]
        unsigned = element.name == "i1" or element.name.startswith("ui")
        better_than = f"{'u' if unsigned else 's'}{'gt' if largest else 'lt'}"
        with code.loop(source.sizes[-1], start="1", carried=carried, metadata=self._as_it_stands()) as each:
            best, place = each.carried
            value = key(each.index)
            better = code.icmp(better_than, value, best, kind)
            each.next[:] = code.either_way(better, kind, value, best), code.either_way(better, "i64", each.index, place)
        return place

    def _rank(self, element: ScalarType, value: str, largest: bool) -> str:
        """A float as an integer that is ordered as it is: both zeros are one, NaN is the extreme. Integers are compared
        and chosen in a fraction of the time that floats take, for which each element would wait."""
        code, float_, bits = self.code, llvm_type(element), element.bits
        whole = f"i{bits}"
        image = code.inst(f"bitcast {float_} {code.inst(f'fadd {float_} {value}, {literal(element, 0)}')} to {whole}")
        below = code.inst(f"lshr {whole} {code.inst(f'ashr {whole} {image}, {bits - 1}')}, 1")
        rank = code.inst(f"xor {whole} {image}, {below}")
        nan = code.inst(f"fcmp uno {float_} {value}, {value}")
        return code.select(nan, whole, str(2 ** (bits - 1) - 1 if largest else -(2 ** (bits - 1))), rank)

    def _copy_row(
        self, source: Buffer, indices: Sequence[str], to: str, first: str = "0", count: str | None = None
    ) -> None:
        """Copies elements of a row: all, or so many from the first."""
        code, element = self.code, source.type.element
        with self.code.loop(count or source.sizes[-1]) as each:
            at = each.index if first == "0" else code.add(first, each.index)
            value = code.load(element, self._at(source, [*indices, at]))
            code.store(element, value, code.offset(to, memory_type(element), each.index))

    def _call_median(self, loop: MedianLoop, buffers: Sequence[Buffer], call_back: Callable[[], None]) -> str | None:
        if not _is_sorted_natively(loop.dtype):
            call_back()
            return None
        code, (source, out) = self.code, buffers
        n, element, result = source.sizes[-1], source.type.element, out.type.element
        if n.isdigit() and 1 <= int(n) <= FEW:
            return self._medians_of_few(source, out, int(n), call_back)
        fast, slow, end = code.new_label(), code.new_label(), code.new_label()
        limits = [(n, str(ROW)), (code.product(out.sizes), str(SMALL))]
        wanted = [code.icmp("sle", size, most) for size, most in limits] + [code.icmp("sge", n, "1")]
        code.branch(code.every(wanted), fast, slow)
        code.place(fast)
        kind = llvm_type(result)
        row = code.fresh_slot(f"[{ROW} x {memory_type(element)}]", align=64)
        good = code.slot("i8", _SLOTS + 1)
        code.do(f"store i8 1, ptr {good}")
        name, array = self._sort_function(SortLoop(loop.dtype, 0, False))

        def at(index: str) -> tuple[str, str]:
            """A sorted element, and as a number of the result's type."""
            value = code.load(element, code.offset(row, memory_type(element), index))
            cast = "" if element.is_float else "uitofp" if element.name.startswith("ui") else "sitofp"
            return value, code.inst(f"{cast} {llvm_type(element)} {value} to {kind}") if cast else value

        with ExitStack() as loops:
            indices = [loops.enter_context(self._plain_loop(size)).index for size in out.sizes]
            self._copy_row(source, indices, row)
            code.call("i32", name, [("ptr", row), ("i64", n), ("ptr", array)])
            half = code.inst(f"lshr i64 {n}, 1")
            odd = code.inst(f"trunc i64 {n} to i1")
            (_, upper), (_, lower) = at(half), at(code.select(odd, "i64", half, code.sub(half, "1")))
            both = code.inst(f"fadd {kind} {lower}, {upper}")
            mean = code.inst(f"fdiv {kind} {both}, {literal(result, 2)}")
            median = code.select(odd, kind, upper, mean)
            code.store(result, median, self._at(out, indices))
            if element.is_float:
                last, infinite = at(code.sub(n, "1"))[0], literal(result, float("inf"))
                size = code.intrinsic(f"llvm.fabs.{result.name}", kind, [(kind, median)])
                tests = [("ord", last, last), ("one", upper, literal(result, 0)), ("one", lower, literal(result, 0))]
                tests += [("olt", size, infinite)]
                fine = code.every([code.inst(f"fcmp {test} {kind} {a}, {b}") for test, a, b in tests])
                so_far = code.inst(f"load i8, ptr {good}")
                code.do(f"store i8 {code.inst(f'select i1 {fine}, i8 {so_far}, i8 0')}, ptr {good}")
        self.polls.spend(code.mul(code.product(source.sizes), "8"))
        code.branch(code.icmp("ne", code.inst(f"load i8, ptr {good}"), "0", "i8"), end, slow)
        code.place(slow)
        call_back()
        code.jump(end)
        code.place(end)
        return f"medians of rows of at most {ROW} elements, by sorting copies"

    def _call_quantile(
        self, loop: QuantileLoop, buffers: Sequence[Buffer], call_back: Callable[[], None]
    ) -> str | None:
        """As NumPy's `_quantile` and `_lerp` (numpy/lib/_function_base_impl.py), which take the last element for both
        neighbours of a place at the end."""
        if not _is_sorted_natively(loop.dtype):
            call_back()
            return None
        code, (source, out) = self.code, buffers
        n, outer = source.sizes[-1], source.sizes[:-1]
        fast, slow, end = code.new_label(), code.new_label(), code.new_label()
        wanted = [code.icmp("sle", n, str(ROW)), code.icmp("sge", n, "1")]
        wanted.append(code.icmp("sle", code.product(outer), str(SMALL)))
        code.branch(code.every(wanted), fast, slow)
        code.place(fast)
        row = code.fresh_slot(f"[{ROW} x {memory_type(source.type.element)}]", align=64)
        odd_one = code.slot("i64", _SLOTS + 1)
        code.do(f"store i64 0, ptr {odd_one}")
        name, array = self._sort_function(SortLoop(loop.dtype, 0, False))
        last = code.sub(n, "1")
        end_place = code.inst(f"sitofp i64 {last} to double")
        with ExitStack() as loops:
            indices = [loops.enter_context(self._plain_loop(size)).index for size in outer]
            self._copy_row(source, indices, row)
            code.call("i32", name, [("ptr", row), ("i64", n), ("ptr", array)])
            odd = list[str]()
            for k, place in enumerate(loop.places):
                found, some = self._quantile(source.type.element, row, place, last, end_place)
                code.store(out.type.element, found, self._at(out, [str(k), *indices] if loop.several else indices))
                odd += some
            if odd:
                top = code.load(F64, code.offset(row, "double", last))
                odd.append(code.inst(f"fcmp uno double {top}, {top}"))
                self._note(odd_one, code.inst(f"zext i1 {self._any(odd)} to i64"))
        self.polls.spend(code.mul(code.product(source.sizes), "8"))
        code.branch(code.icmp("eq", code.inst(f"load i64, ptr {odd_one}"), "0"), end, slow)
        code.place(slow)
        call_back()
        code.jump(end)
        code.place(end)
        return f"quantiles of rows of at most {ROW} elements, by sorting copies"

    def _quantile(
        self, element: ScalarType, row: str, place: float, last: str, end_place: str
    ) -> tuple[str, list[str]]:
        """The quantile of a sorted row, and conditions (i1) of which none holds where it is the function's to the bit:
        for floats that it is not finite, or that a neighbour is zero, whose sign hangs on how it is found."""
        code, type_ = self.code, llvm_type(element)
        virtual = code.inst(f"fmul double {end_place}, {literal(F64, place)}")
        whole = code.intrinsic("llvm.floor.f64", "double", [("double", virtual)])
        at_end = code.inst(f"fcmp oge double {virtual}, {end_place}")
        before = code.select(at_end, "i64", last, code.inst(f"fptosi double {whole} to i64"))
        after = code.select(at_end, "i64", last, code.add(before, "1"))
        step = code.inst(f"fsub double {virtual}, {code.select(at_end, 'double', literal(F64, -1), whole)}")
        neighbours = [code.load(element, code.offset(row, memory_type(element), k)) for k in (before, after)]
        if element.is_float:
            a, b = neighbours
            way = code.inst(f"fsub double {b}, {a}")
        else:
            cast = "uitofp" if element.is_unsigned else "sitofp"
            difference = code.inst(f"sub {type_} {neighbours[1]}, {neighbours[0]}")
            a, b, way = (code.inst(f"{cast} {type_} {v} to double") for v in (*neighbours, difference))
        below = code.inst(f"fadd double {a}, {code.inst(f'fmul double {way}, {step}')}")
        rest = code.inst(f"fmul double {way}, {code.inst(f'fsub double {literal(F64, 1)}, {step}')}")
        above = code.inst(f"fsub double {b}, {rest}")
        upper = code.inst(f"fcmp oge double {step}, {literal(F64, 0.5)}")
        found = code.select(upper, "double", above, below)
        if not element.is_float:
            return found, []
        size = code.intrinsic("llvm.fabs.f64", "double", [("double", found)])
        odd = [code.inst(f"fcmp uge double {size}, {literal(F64, float('inf'))}")]
        return found, odd + [code.inst(f"fcmp oeq double {v}, {literal(F64, 0)}") for v in neighbours]

    def _medians_of_few(self, source: Buffer, out: Buffer, n: int, call_back: Callable[[], None]) -> str:
        """Medians of rows of so few elements that comparisons without branches find them, in a loop that LLVM
        vectorises across rows. The function is called where there is something for which it is needed."""
        code, odd_one = self.code, self.code.slot("i64", _SLOTS + 1)
        code.do(f"store i64 0, ptr {odd_one}")
        with ExitStack() as loops:
            indices = [loops.enter_context(self._plain_loop(size)).index for size in out.sizes[:-1]]
            if not out.sizes:
                self._note(odd_one, self._median_of_few(source, out, n, indices, ""))
            for size in out.sizes[-1:]:
                part = loops.enter_context(code.loop(size, step=str(ROWS), metadata=self._as_it_stands()))
                count = code.least(code.sub(size, part.index), str(ROWS))
                group, back = code.parallel_group()
                with code.loop(count, carried=[("i64", "0")], metadata=back) as each:
                    here = [*indices, code.add(part.index, each.index)]
                    found = self._median_of_few(source, out, n, here, group)
                    each.next = [code.inst(f"or i64 {each.carried[0]}, {found}")]
                self._note(odd_one, each.carried[0])
                self.polls.poll(code.mul(count, str(4 * n)))
        slow, end = code.new_label(), code.new_label()
        code.branch(code.icmp("ne", code.inst(f"load i64, ptr {odd_one}"), "0"), slow, end, code.rarely())
        code.place(slow)
        call_back()
        code.jump(end)
        code.place(end)
        return f"medians of rows of {n} elements, by comparisons"

    def _note(self, slot: str, found: str) -> None:
        """Notes in a slot what is not 0."""
        before = self.code.inst(f"load i64, ptr {slot}")
        self.code.do(f"store i64 {self.code.inst(f'or i64 {before}, {found}')}, ptr {slot}")

    def _median_of_few(self, source: Buffer, out: Buffer, n: int, indices: Sequence[str], group: str) -> str:
        """Stores the median of the row at these indices; as an i64 whether the function has to say what it is."""
        code, element, result = self.code, source.type.element, out.type.element
        type_, kind = llvm_type(element), llvm_type(result)
        row = [code.load(element, self._at(source, [*indices, str(k)]), group) for k in range(n)]
        given, middle = list(row), sorted({(n - 1) // 2, n // 2})
        less = "fcmp olt" if element.is_float else "icmp ult" if element.is_unsigned else "icmp slt"
        for a, b in comparisons(n, middle):
            exchanged = code.inst(f"{less} {type_} {row[b]}, {row[a]}")
            row[a], row[b] = (code.select(exchanged, type_, row[y], row[x]) for x, y in ((a, b), (b, a)))
        cast = "" if element.is_float else "uitofp" if element.is_unsigned else "sitofp"
        found = [code.inst(f"{cast} {type_} {row[k]} to {kind}") if cast else row[k] for k in middle]
        median = found[0]
        if len(found) == 2:
            sum_ = code.inst(f"fadd {kind} {found[0]}, {found[1]}")
            median = code.inst(f"fdiv {kind} {sum_}, {literal(result, 2)}")
        code.store(result, median, self._at(out, indices), group)
        return self._is_odd(element, given, found, median) if element.is_float else "0"

    def _is_odd(self, element: ScalarType, row: Sequence[str], middle: Sequence[str], median: str) -> str:
        """As an i64, whether a float is NaN, the median infinite, or a zero in the middle, whose sign hangs on how it
        is found, where a zero of the row is negative."""
        code, type_, whole = self.code, llvm_type(element), f"i{element.bits}"
        size = code.intrinsic(f"llvm.fabs.{element.name}", type_, [(type_, median)])
        found = [code.inst(f"fcmp uge {type_} {size}, {literal(element, float('inf'))}")]
        found += [code.inst(f"fcmp uno {type_} {v}, {v}") for v in row]
        negative = [
            code.icmp("eq", code.inst(f"bitcast {type_} {v} to {whole}"), str(-(2 ** (element.bits - 1))), whole)
            for v in row
        ]
        zero = [code.inst(f"fcmp oeq {type_} {v}, {literal(element, 0)}") for v in middle]
        found.append(code.inst(f"and i1 {self._any(negative)}, {self._any(zero)}"))
        return code.inst(f"zext i1 {self._any(found)} to i64")

    def _any(self, conditions: Sequence[str]) -> str:
        first, *others = conditions
        for other in others:
            first = self.code.inst(f"or i1 {first}, {other}")
        return first

    def _sort_function(self, loop: SortLoop) -> tuple[str, str]:
        """NumPy's sort, and the array to pass to it."""
        code, where = self.code, (loop.dtype, str(loop.kind), "indirect" if loop.indirect else "")
        name = f"numpy_{'arg' if loop.indirect else ''}sort_{loop.dtype.replace('?', 'b')}_{loop.kind}"
        code.imports[name], code.imports[f"{name}_array"] = ("sort", *where), ("sort array", *where)
        code.declare(name, f"i32 @({', '.join(['ptr'] * loop.indirect + ['ptr', 'i64', 'ptr'])})")
        code.declare(f"{name}_array", "void @()")
        return name, f"@{name}_array"

    def _sort(self, loop: SortLoop, buffers: Sequence[Buffer], copies: bool = False) -> str:
        """Sorts each row (`copies`: a copy of it, of at most `ROW` elements); what is negative where one failed."""
        code, out = self.code, buffers[-1]
        n = out.sizes[-1]
        kinds = [memory_type(b.type.element) for b in buffers]
        stack = [code.fresh_slot(f"[{ROW} x {kind}]", align=64) for kind in kinds] if copies else []
        name, array = self._sort_function(loop)
        failed = code.slot("i32", _SLOTS)
        code.do(f"store i32 0, ptr {failed}")
        with ExitStack() as loops:
            indices = [loops.enter_context(self._plain_loop(size)).index for size in out.sizes[:-1]]
            rows = stack or [self._at(b, [*indices, "0"]) for b in buffers]
            if copies:
                self._copy_row(buffers[0], indices, rows[0])
            if loop.indirect:
                with self._plain_loop(n) as each:
                    code.do(f"store i64 {each.index}, ptr {code.offset(rows[-1], 'i64', each.index)}")
            done = code.call("i32", name, [*(("ptr", row) for row in rows), ("i64", n), ("ptr", array)])
            worst = code.inst(f"or i32 {done}, {code.inst(f'load i32, ptr {failed}')}")
            code.do(f"store i32 {worst}, ptr {failed}")
            if copies:
                with self._plain_loop(n) as each:
                    value = code.load(out.type.element, code.offset(rows[-1], kinds[-1], each.index))
                    code.store(out.type.element, value, self._at(out, [*indices, each.index]))
        self.polls.spend(code.mul(code.product(out.sizes), "8"))
        return code.inst(f"load i32, ptr {failed}")

    def _core_sizes(self, loop: CoreLoop, operands: Sequence[Buffer | str], wanted: list[str]) -> dict[str, str]:
        """The size of each core dimension; what has to be equal at run time goes to `wanted`."""
        found: dict[str, str] = {}
        for names, b in zip(loop.cores, operands, strict=True):
            if isinstance(b, Buffer):
                sizes = b.sizes[len(b.sizes) - len(names) :]
                for name, size in zip(names, sizes, strict=True):
                    self._want_equal(found.setdefault(name, size), size, wanted)
        return found

    def _outer_sizes(self, loop: CoreLoop, operands: Sequence[Buffer | str], wanted: list[str]) -> list[str]:
        """The sizes of the axes before the core dimensions, which the last operand has; the others' are equal or 1."""
        last = operands[-1]
        assert isinstance(last, Buffer)
        outer = list(last.sizes[: len(last.sizes) - len(loop.cores[-1])])
        for names, b in zip(loop.cores, operands, strict=True):
            if isinstance(b, Buffer):
                own = b.sizes[: len(b.sizes) - len(names)]
                for n, size in zip(outer[len(outer) - len(own) :], own, strict=True):
                    if size != "1":
                        self._want_equal(n, size, wanted)
        return outer

    def _want_equal(self, a: str, b: str, wanted: list[str]) -> None:
        if a != b:
            wanted.append("false" if a[0] != "%" and b[0] != "%" else self.code.icmp("eq", a, b))

    def _loop(
        self,
        loop: CoreLoop,
        operands: Sequence[Buffer | str],
        types: Sequence[Type],
        sizes: dict[str, str],
        outer: Sequence[str],
    ) -> str:
        """Calls the loop on all; whether a flag was set."""
        code = self.code
        _, _, invalid, every = status_flags()
        looked_at = ("i32", str(invalid if loop.quiet else every))
        for name in ("test", "clear"):
            code.imports[f"status_{name}"] = ("status", name)
            code.declare(f"status_{name}", "i32 @(i32)")
        clear, ready = code.new_label(), code.new_label()
        code.branch(code.icmp("ne", code.call("i32", "status_test", [looked_at]), "0", "i32"), clear, ready)
        code.place(clear)
        code.call("i32", "status_clear", [looked_at])
        code.jump(ready)
        code.place(ready)
        called, data = self._function(loop, loop.ufunc)
        if loop.odd:
            is_odd = code.inst(f"trunc i64 {next(iter(sizes.values()))} to i1")
            other, others = self._function(loop, loop.odd)
            called, data = code.select(is_odd, "ptr", other, called), code.select(is_odd, "ptr", others, data)
        dimensions = [outer[-1] if outer else "1", *sizes.values()]
        places: list[tuple[str, ScalarType, list[str]]] = []
        steps, strides = list[str](), list[str]()
        for k, (names, b, type_) in enumerate(zip(loop.cores, operands, types, strict=True)):
            if isinstance(b, str):
                assert isinstance(type_, ScalarType)
                place = code.slot(ELEMENT_SLOT, _SLOTS + k)
                code.store(type_, b, place)
                places.append((place, type_, []))
                steps.append("0")
                continue
            itemsize, element = str(b.type.element.itemsize), b.type.element
            lead = len(b.sizes) - len(names)
            moved = ["0" if n == "1" else s for n, s in zip(b.sizes[:lead], b.strides[:lead], strict=True)]
            moved = ["0"] * (len(outer) - lead) + moved
            steps.append(code.mul(moved[-1], itemsize) if moved else "0")
            strides += [code.mul(s, itemsize) for s in b.strides[lead:]]
            places.append((b.pointer, element, moved[:-1]))
        pointers = code.slot(f"[{len(places)} x ptr]", _SLOTS)
        given = [self._array([str(n) for n in dimensions], 1), self._array([*steps, *strides], 2)]
        with ExitStack() as loops:
            indices = [loops.enter_context(self._plain_loop(n)).index for n in outer[:-1]]
            for k, (place, element, moved) in enumerate(places):
                at = place
                for index, step in zip(indices, moved):
                    at = code.offset(at, memory_type(element), code.mul(index, step))
                code.do(f"store ptr {at}, ptr {code.offset(pointers, 'ptr', str(k))}")
            passed = f"ptr {pointers}, ptr {given[0]}, ptr {given[1]}, ptr {data}"
            code.do(f"call void {called}({passed})")
        return code.icmp("ne", code.call("i32", "status_test", [looked_at]), "0", "i32")

    def _widen(self, source: Buffer, target: Buffer) -> None:
        """Real numbers as complex ones, one by one: there are few."""
        code = self.code
        real, wide = source.type.element, target.type.element.component
        with ExitStack() as loops:
            indices = [loops.enter_context(self._plain_loop(n)).index for n in target.sizes]
            value = code.load(real, self._at(source, indices))
            if real is not wide:
                value = code.inst(f"fpext {llvm_type(real)} {value} to {llvm_type(wide)}")
            code.store(target.type.element, join_components([value, literal(wide, 0)]), self._at(target, indices))

    def _at(self, b: Buffer, indices: Sequence[str]) -> str:
        """The place of an element, by its last indices."""
        place = b.pointer
        for index, stride in zip(indices[len(indices) - len(b.strides) :], b.strides, strict=True):
            place = self.code.offset(place, memory_type(b.type.element), self.code.mul(index, stride))
        return place

    def _function(self, loop: CoreLoop, ufunc: str) -> tuple[str, str]:
        """A ufunc's loop, and the data to pass to it."""
        code, where = self.code, (loop.module, ufunc, loop.types)
        name = f"numpy_{ufunc}_{loop.types.replace('->', '_')}"
        code.imports[name] = ("core", *where)
        code.declare(name, "void @(ptr, ptr, ptr, ptr)")
        if not core_loop(*where)[1]:  # no symbol can stand for a null pointer
            return f"@{name}", "null"
        code.imports[f"{name}_data"] = ("core data", *where)
        code.declare(f"{name}_data", "void @()")
        return f"@{name}", f"@{name}_data"

    def _plain_loop(self, n: str) -> AbstractContextManager[OpenLoop]:
        """A loop that is compiled soon."""
        return self.code.loop(n, metadata=self._as_it_stands())

    def _as_it_stands(self) -> str:
        return self.code.loop_metadata(*self.code.as_it_stands())

    def _array(self, values: Sequence[str], key: int) -> str:
        """Integers on the stack."""
        where = self.code.slot(f"[{len(values)} x i64]", _SLOTS + key)
        for k, value in enumerate(values):
            self.code.do(f"store i64 {value}, ptr {self.code.offset(where, 'i64', str(k))}")
        return where


def slots_of(
    code: Code, operands: Sequence[Buffer | str], types: Sequence[Type]
) -> tuple[str, list[str]]:
    """The array of slots that describes operands, and where each of them is."""
    count = sum(1 + 2 * len(b.sizes) if isinstance(b, Buffer) else 2 for b in operands)
    spec = code.fresh_slot(f"[{max(count, 1)} x i64]")
    at, places = 0, []
    for operand, type_ in zip(operands, types, strict=True):
        where = code.offset(spec, "i64", str(at))
        places.append(where)
        at += 1
        if isinstance(operand, str):
            assert isinstance(type_, ScalarType)
            code.store(type_, operand, where)
            at += scalar_slots(type_) - 1
            continue
        code.do(f"store ptr {operand.pointer}, ptr {where}")
        for n in (*operand.sizes, *operand.strides):
            code.do(f"store i64 {n}, ptr {code.offset(spec, 'i64', str(at))}")
            at += 1
    return spec, places


def call_reference(
    code: Code, memory: Memory, number: int, operands: Sequence[Buffer | str], types: Sequence[Type]
) -> list[str]:
    """Calls the reference of the kernel's op of that number on these operands; where each of them is."""
    spec, places = slots_of(code, operands, types)
    memory.ask(abi.REFER, code.inst(f"ptrtoint ptr {spec} to i64"), str(number))
    return places


def _is_sorted_natively(dtype: str) -> bool:
    """Whether NumPy has a loop that sorts elements of a dtype."""
    try:
        sort_loop(dtype, 0, False)
    except LookupError:
        return False
    return True
