"""A memref program as the text of one LLVM function: `emit_kernel`.

A walk over the program in order. Scalars are SSA values; a memref is a base pointer, a pointer to element 0, sizes and
strides, of which the ones known at compile time are literals, so that LLVM sees unit strides as such. Structured ops
are planned by `tracebuf.lower.plan` and written by `loops`. scf.for and scf.if become phi nodes, and so do the
arguments of blocks that branch (`blocks`). A failed check leaves its values in the frame and returns its number.
Functions that it calls are functions beside it. MLIR counterpart: the lowering of memref, scf and linalg to the LLVM
dialect.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType

from numpy.linalg import LinAlgError

from tracebuf.backend.layout import abi
from tracebuf.backend.llvm.blas_calls import by_blas, rows_at_once, write_product
from tracebuf.backend.llvm.blocks import BlockWriter
from tracebuf.backend.llvm.code import Access, Code, literal
from tracebuf.backend.llvm.host_calls import HostWriter, call_reference
from tracebuf.backend.llvm.kernel_text import KernelText
from tracebuf.backend.llvm.loops import Around, Buffer, Scopes, access_to
from tracebuf.backend.llvm.memory import Memory, layout_order, storages
from tracebuf.backend.llvm.nests import (
    Outside,
    Parameters,
    Shared,
    are_apart,
    has_scalar_loops,
    may_stand_apart,
    shared_by_threads,
    write_nest,
)
from tracebuf.backend.llvm.polls import Polls, work
from tracebuf.backend.llvm.scalars import Scalars, memory_type
from tracebuf.backend.llvm.texts import parallel
from tracebuf.errors import InternalError
from tracebuf.frozen import plain
from tracebuf.ir.core import Block, Op, Value
from tracebuf.ir.dense import dense_array
from tracebuf.ir.dims import Dim, Expr, Sym, fold
from tracebuf.ir.emitter import components, join_components, llvm_type, value_types
from tracebuf.ir.func import Func
from tracebuf.ir.types import F64, I1, INDEX, MemRefType, ScalarType, Type, unnamed
from tracebuf.location import Location
from tracebuf.lower.independent import independent
from tracebuf.lower.plan import PAIRWISE, Nest, plan, spec_of
from tracebuf.lower.registers import WIDTH, Sweep, sweep_of
from tracebuf.lower.rows import product_of, read_of
from tracebuf.lower.split import split_of
from tracebuf.ops.arrays import bufferization, linalg
from tracebuf.ops.arrays.gather import CheckedIndex
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.arrays.pick import Pick
from tracebuf.ops.control import checks, scf
from tracebuf.ops.control.cf import Assert, Branch, CondBranch
from tracebuf.ops.control.func import Call, Return
from tracebuf.ops.memory import memref, metadata
from tracebuf.ops.memory.arena import Plan
from tracebuf.ops.scalars import arith

FEW_ITERATIONS = 8
"""A loop of the program's of fewer iterations is not shared, but the nests in it may be."""


class OutsideBuffers(dict[Value, Buffer]):
    """The buffers around a loop, which become parameters when they are asked for."""

    def __init__(self, buffers: Mapping[Value, Buffer], parameters: Parameters) -> None:
        super().__init__()
        self.buffers_outside, self.parameters = buffers, parameters

    def __missing__(self, value: Value) -> Buffer:
        outside = self.buffers_outside[value]
        self[value] = self.parameters.of_buffer(outside, {r: r for r in outside.roots})
        return self[value]


def emit_kernel(func: Func, name: str, callees: Sequence[Func] = (), *, apart: bool = False) -> KernelText:
    """The LLVM text of a memref-level function, `i64 @name(ptr frame)`, with those that it calls, directly or not.
    `apart`: all nests are functions of their own, but for some of a few elements."""
    return KernelWriter(func, name, Whole({f.name: (f, f"{name}.{f.name}") for f in callees}, apart)).write()


@plain(eq=True)
class Whole:
    """What the functions of one kernel share. `functions`: those that are called, by name, each with its symbol."""

    functions: dict[str, tuple[Func, str]]
    apart: bool = False
    inlined: bool = False
    """Whether nests are written into it that could be functions."""
    checks: list[checks.Check] = field(default_factory=list)
    references: list[linalg.DestinationOp] = field(default_factory=list)
    plans: list[str] = field(default_factory=list)
    nests: int = 0


class KernelWriter:
    """Writes one function. `values` are scalars, `buffers` memrefs. `outer`: the code of the kernel, for a function
    that it calls."""

    def __init__(self, func: Func, name: str, whole: Whole, outer: Code | None = None) -> None:
        self.func, self.name, self.whole, self.inner = func, name, whole, outer is not None
        self.code = Code() if outer is None else outer.beside()
        self.scalars = Scalars(self.code)
        self.values: dict[Value, str] = {}
        self.buffers: dict[Value, Buffer] = {}
        self.dims: dict[Dim, str] = {}
        plan = func.attrs.get("arena", Plan())
        anywhere = bool(whole.functions) or any(op.successors for op in func.walk())
        everything = frozenset((0,))
        self.roots, near = (defaultdict(lambda: everything), {0: everything}) if anywhere else storages(func, plan)
        domain = self.code.metadata("@", distinct=True) if len(near) > 1 else ""
        scopes = {k: self.code.metadata(f"@, {domain}", distinct=True) for k in near} if len(near) > 1 else {}
        self.scopes = Scopes(scopes, near)
        self.results = results_of(func)
        self.frame = abi.frame_of([a.type for a in func.args], [v.type for v in self.results], self.inner)
        self.checks, self.references, self.plans = whole.checks, whole.references, whole.plans
        self.context = self.code.inst("load ptr, ptr %frame")
        self.memory = Memory(self.code, self.context, "stopped", plan)
        budget = self.code.inst(f"load i64, ptr {self._slot(abi.LEFT)}") if self.inner else str(abi.BUDGET)
        self.polls = Polls(self.code, self.context, "stopped", budget)
        self.host = HostWriter(self.code, self.polls, self.memory)
        self.blocks = BlockWriter(self.code, self.polls, self._all_parts, self._bind_all, self._block)
        self.floor = self._floor()
        self.skipped: set[Op] = set()
        self.by_rows: dict[linalg.MatVec, linalg.Generic] = {}
        """By product the op that makes its matrix, which is written with it."""
        self.begun: dict[linalg.Generic, linalg.Fill] = {}
        """By sum the fill before it, whose value it may begin with."""
        self.tables: dict[Pick, list[list[str]]] = {}
        """What is written of the arrays that an op picks from: see `_tabulate`."""
        self.call_frame = ""
        self.within = False
        """Whether it is written for what threads share, within which nothing is shared."""
        self.loops = int(anywhere)
        """How many loops are around what is written, but for those over large blocks."""

    def write(self) -> KernelText:
        self._function()
        for func, symbol in self.whole.functions.values():
            inner = KernelWriter(func, symbol, self.whole, self.code)
            inner._function()
            self.code.define(symbol, inner.code.function_text(inner._head("internal ")))
        plan, write = self.memory.plan, functools.partial(self.code.text, self._head())
        roaming = None if plan.roaming is None else (plan.roaming.block, plan.roaming.table)
        return KernelText(
            self.name, write, dict(self.code.shared), tuple(self.plans), dict(self.code.imports), self.frame,
            tuple(self.checks), plan.slots, plan.blocks, plan.idle, roaming, self.results, tuple(self.references),
            self._is_glue(), self.whole.inlined, any(map(has_scalar_loops, self._all_functions())),
        )  # fmt: skip

    def _all_functions(self) -> list[Func]:
        return [self.func, *(func for func, _ in self.whole.functions.values())]

    def _head(self, linkage: str = "") -> str:
        return f'define {linkage}i64 @{self.name}(ptr noalias %frame) nounwind "prefer-vector-width"="512"'

    def _function(self) -> None:
        self._arguments()
        if self.inner:
            here = self.code.inst(f"ptrtoint ptr {self._frame_address()} to i64")
            fits = self.code.icmp("ugt", here, self.floor)
            self._check_flag(fits, RecursionError, "maximum recursion depth exceeded", self.func.loc)
            self.polls.poll(CALL)
        if self.memory.plan.roaming is not None:
            self.memory.clear_table(self.memory.plan.roaming)
        self.blocks.region(self.func.body)
        self.code.place("stopped")
        self.code.do(f"ret i64 {abi.STOPPED}")

    def _floor(self) -> str:
        """The address below which the stack must not grow, where functions are called."""
        if self.inner:
            return self.code.inst(f"load i64, ptr {self._slot(abi.FLOOR)}")
        if not self.whole.functions:
            return ""
        here = self.code.inst(f"ptrtoint ptr {self._frame_address()} to i64")
        return self.code.sub(here, str(abi.STACK))

    def _frame_address(self) -> str:
        return self.code.intrinsic("llvm.frameaddress.p0", "ptr", [("i32", "0")])

    def _is_glue(self) -> bool:
        """Whether all that takes time is done by what the program calls: no nests, and no loop without a call."""
        loops = [op for op in self.func.walk() if isinstance(op, scf.For | scf.While)]
        called = all(any(isinstance(op, HostCall) for op in loop.walk()) for loop in loops)
        return bool(self.references) and not self.whole.nests and called

    # -- arguments and results
    def _slot(self, index: int) -> str:
        return self.code.offset("%frame", "i64", str(index))

    def _arguments(self) -> None:
        """Arguments from the frame; sizes that have one expression are one value, strides are made from sizes where
        they can.
        """
        sizes: dict[Value, tuple[str, ...]] = {}
        for arg, at in zip(self.func.args, self.frame.arg_at, strict=True):
            if isinstance(arg.type, MemRefType):
                sizes[arg] = tuple(self._size(n, at + self.inner + 1 + k) for k, n in enumerate(arg.type.shape))
            elif isinstance(arg.type, ScalarType):
                self.values[arg] = self.code.load(arg.type, self._slot(at))
        for arg, at in zip(self.func.args, self.frame.arg_at, strict=True):
            if isinstance(type_ := arg.type, MemRefType):
                base = pointer = self.code.inst(f"load ptr, ptr {self._slot(at)}")
                if self.inner:
                    pointer = self.code.inst(f"load ptr, ptr {self._slot(at + 1)}")
                first = at + self.inner + 1 + type_.rank
                strides = tuple(self._stride(s, first + k) for k, s in enumerate(type_.strides))
                self.buffers[arg] = Buffer(type_, base, pointer, sizes[arg], strides, self.roots[arg])

    def _size(self, size: Dim, slot: int) -> str:
        if isinstance(size, int):
            return str(size)
        if size not in self.dims:
            self.dims[size] = self.code.inst(f"load i64, ptr {self._slot(slot)}")
        return self.dims[size]

    def _stride(self, stride: Dim | None, slot: int) -> str:
        known = None if stride is None else self._expression(stride)
        return self.code.inst(f"load i64, ptr {self._slot(slot)}") if known is None else known

    def _expression(self, e: Dim) -> str | None:
        """A polynomial of sizes that are known at entry; None for any other."""
        if isinstance(e, int) or e in self.dims:
            return str(e) if isinstance(e, int) else self.dims[e]
        total = "0"
        for monomial, coefficient in e.terms.items():
            factors = [
                self.dims.get(a.expr) if isinstance(a, Sym) else self.dims.get(Expr({(a,): 1})) for a in monomial
            ]
            if None in factors:
                return None
            total = self.code.add(total, self.code.product([str(coefficient), *(f for f in factors if f is not None)]))
        self.dims[e] = total
        return total

    def _return(self, op: Return) -> None:
        many = len(op.operands) > MANY
        for value, at in zip(op.operands, self.frame.result_at, strict=True):
            if many and isinstance(value.type, MemRefType):
                self._put_by_call(value, "%frame", at)
            else:
                self._put(value, "%frame", at)
        if self.inner:
            self.code.do(f"store i64 {self.polls.state()[1][1]}, ptr {self._slot(abi.LEFT)}")
        self.code.do("ret i64 0")

    def _put(self, value: Value, frame: str, at: int) -> None:
        """Puts a value into a frame: of a memref base pointer, pointer, sizes and strides."""
        where = [self.code.offset(frame, "i64", str(at))]
        if isinstance(value.type, MemRefType):
            b = self.buffers[value]
            where += [self.code.offset(frame, "i64", str(at + k)) for k in range(1, 2 + 2 * value.type.rank)]
            for k, pointer in enumerate((b.base, b.pointer)):
                self.code.do(f"store ptr {pointer}, ptr {where[k]}")
            for k, n in enumerate((*b.sizes, *b.strides)):
                self.code.do(f"store i64 {n}, ptr {where[2 + k]}")
        else:
            assert isinstance(value.type, ScalarType)
            self.code.store(value.type, self.values[value], where[0])

    def _put_by_call(self, value: Value, frame: str, at: int) -> None:
        """`_put` of a memref by a function beside this one, of many: LLVM compares each store with all others."""
        b = self.buffers[value]
        words = [("ptr", b.base), ("ptr", b.pointer), *(("i64", n) for n in (*b.sizes, *b.strides))]
        name = f"put{b.type.rank}"
        stores = []
        for k, (kind, _) in enumerate(words):
            stores += [f"  %p{k} = getelementptr i64, ptr %at, i64 {k}", f"  store {kind} %v{k}, ptr %p{k}"]
        given = ", ".join(f"{kind} %v{k}" for k, (kind, _) in enumerate(words))
        head = f"define internal void @{name}(ptr nocapture writeonly %at, {given}) noinline nounwind {{"
        self.code.define(name, "\n".join([head, *stores, "  ret void", "}"]))
        self.code.call("void", name, [("ptr", self.code.offset(frame, "i64", str(at))), *words])

    def _store_scalar(self, value: Value, slot: int) -> None:
        self._put(value, "%frame", slot)

    def _number(self, e: Dim) -> str:
        """An expression of sizes that are known here."""
        code = self.code

        def extreme(name: str) -> Callable[[str, str], str]:
            return lambda a, b: code.intrinsic(f"llvm.{name}.i64", "i64", [("i64", a), ("i64", b)])

        def floordiv(a: str, b: str) -> str:
            quotient, rest = code.inst(f"sdiv i64 {a}, {b}"), code.inst(f"srem i64 {a}, {b}")
            apart = code.icmp("slt", code.inst(f"xor i64 {rest}, {b}"), "0")
            down = code.every([apart, code.icmp("ne", rest, "0")])
            return code.inst(f"sub i64 {quotient}, {code.inst(f'zext i1 {down} to i64')}")

        return fold(e, self._symbol, str, code.add, code.mul, extreme("smin"), extreme("smax"), floordiv)

    def _real(self, e: Dim) -> str:
        """About the same in a double, which holds more."""
        code = self.code

        def op(name: str) -> Callable[[str, str], str]:
            return lambda a, b: code.inst(f"{name} double {a}, {b}")

        def extreme(name: str) -> Callable[[str, str], str]:
            return lambda a, b: code.intrinsic(f"llvm.{name}.f64", "double", [("double", a), ("double", b)])

        def leaf(s: Sym) -> str:
            return code.inst(f"sitofp i64 {self._symbol(s)} to double")

        def constant(n: int) -> str:
            return literal(F64, float(n))

        return fold(e, leaf, constant, op("fadd"), op("fmul"), extreme("minnum"), extreme("maxnum"), op("fdiv"))

    def _symbol(self, s: Sym) -> str:
        return self.dims[s.expr] if s.expr in self.dims else self.values[self.func.symbols[s]]

    # -- ops
    def _block(self, block: Block) -> None:
        for op in block.ops:
            for phase in self.memory.plan.phases.get(op, ()):
                self.memory.begin(phase, self._number, self._real)
            if op not in self.skipped:
                self._op(op)

    def _op(self, op: Op) -> None:
        if isinstance(op, arith.ScalarOp) and not isinstance(op.result.type, MemRefType):
            self.scalars.op(op, self.values)
            return
        writer = _writer(type(op))
        if writer is None:
            raise InternalError(f"no native form of {op.name}")
        writer(self, op)

    def _check(self, op: checks.Check) -> None:
        self.checks.append(op)
        fail, ok = self.code.new_label(), self.code.new_label()
        self.code.branch(self.values[op.operand(0)], ok, fail, self._likely())
        self.code.place(fail)
        for k, value in enumerate(op.operands[1 : 1 + abi.MAX_ERROR_VALUES]):
            if self.within:
                self._put(value, "%values", abi.ERROR_VALUE * k)
            else:
                self._store_scalar(value, self.frame.error_at + abi.ERROR_VALUE * k)
        self.code.do(f"ret i64 {len(self.checks) + (parallel.CHECK if self.within else 0)}")
        self.code.place(ok)

    def _likely(self) -> str:
        return ", !prof " + self.code.metadata('!"branch_weights", i32 2000, i32 1')

    def _alloc(self, op: memref.Alloc) -> None:
        type_ = op.result.memref_type
        sizes = tuple(str(s) if isinstance(s, int) else self.values[s] for s in op.sizes)
        sizes = tuple(str(n) if isinstance(n, int) else v for n, v in zip(type_.shape, sizes, strict=True))
        order = op.attrs.get("order", tuple(range(type_.rank)))
        root = next(iter(self.roots[op.result]))
        if "given" in op.attrs:  # by the call that follows
            self.buffers[op.result] = self.memory.later(type_, sizes, order, root)
            return
        place = self.memory.plan.places.get(op)
        beside = [self.buffers[v].base for v in place.beside] if place is not None else []
        roaming = self.memory.plan.roaming
        others = [self.buffers[v] for v in roaming.others.get(op, ())] if roaming is not None else []
        self.buffers[op.result] = self.memory.allocate(type_, sizes, order, op, root, beside, others)

    def _get_global(self, op: memref.GetGlobal) -> None:
        type_ = op.result.memref_type
        sizes = tuple(int(str(n)) for n in type_.shape)
        data = dense_array(op.attrs["dense"], sizes, type_.element.dtype).tobytes()
        pointer = self.code.constant(op.attrs["name"].value.strip("_"), data)
        strides = tuple(str(s) for s in type_.strides)
        roots = self.roots[op.result]
        self.buffers[op.result] = Buffer(type_, pointer, pointer, tuple(map(str, sizes)), strides, roots)

    def _dealloc(self, op: memref.Dealloc) -> None:
        self.memory.free(op, self.buffers[op.operand(0)], self.buffers[memref.base_of(op.operand(0))])

    def _dim(self, op: memref.Dim) -> None:
        self.values[op.result] = self.buffers[op.operand(0)].sizes[op.attrs["dim"]]

    def _rank(self, op: memref.Rank) -> None:
        self.values[op.result] = str(op.operand(0).memref_type.rank)

    def _cast(self, op: memref.Cast) -> None:
        self.buffers[op.result] = self.buffers[op.operand(0)]

    def _view(self, op: memref.Subview) -> None:
        self.buffers[op.result] = self.memory.view(op, self.buffers[op.operand(0)], self.values)

    def _regrouped(self, op: Op) -> None:
        self.buffers[op.result] = self.memory.regrouped(op, self.buffers[op.operand(0)], self.values)

    def _element(self, buffer: Buffer, indices: Sequence[Value]) -> str:
        moved = "0"
        for index, stride in zip(indices, buffer.strides, strict=True):
            moved = self.code.add(moved, self.code.mul(self.values[index], stride))
        return self.code.offset(buffer.pointer, memory_type(buffer.type.element), moved)

    def _load(self, op: memref.Load) -> None:
        b = self.buffers[op.operand(0)]
        load = self.code.load_stored_over if _is_stored_over(op) else self.code.load
        self.values[op.result] = load(b.type.element, self._element(b, op.operands[1:]), self._access(b))

    def _store(self, op: memref.Store) -> None:
        b = self.buffers[op.operand(1)]
        self.code.store(b.type.element, self.values[op.operand(0)], self._element(b, op.operands[2:]), self._access(b))

    def _access(self, buffer: Buffer) -> Access:
        return access_to(self.code, buffer, self.scopes)

    def _same_base(self, op: bufferization.SameBase) -> None:
        a, b = (self.buffers[v].base for v in op.operands)
        self.values[op.result] = self.code.icmp("eq", a, b, "ptr")

    def _copy(self, op: memref.Copy) -> None:
        source, target = (self.buffers[v] for v in op.operands)
        if op.attrs.get("reason") != "store":
            self.memory.count_copy(self.memory.nbytes(source))
        self._copy_elements(op, source, target)

    def _copy_elements(self, op: memref.Copy, source: Buffer, target: Buffer) -> None:
        spec = spec_of(op, [source.type, target.type])
        assert spec is not None
        nest = plan(spec)
        shared = self.func.attrs.get("parallel") and not self.within and not source.roots & target.roots
        if shared or len(nest.loops) > 1 or any(o.inner != 1 for o in nest.operands):
            self._write_nest(nest, [source, target])
            return
        nbytes = self.memory.nbytes(source)
        if source.roots & target.roots:
            self._copy_bytes("memmove", source.pointer, target.pointer, nbytes)
        elif nbytes.isdigit():
            self._copy_bytes("memcpy", source.pointer, target.pointer, nbytes)
        else:
            with self.code.loop(nbytes, step=str(COPIED)) as loop:
                left = self.code.least(self.code.sub(nbytes, loop.index), str(COPIED))
                from_, to = (self.code.offset(b.pointer, "i8", loop.index) for b in (source, target))
                self._copy_bytes("memcpy", from_, to, left)

    def _copy_bytes(self, name: str, source: str, target: str, nbytes: str) -> None:
        args = [("ptr", target), ("ptr", source), ("i64", nbytes), ("i1", "false")]
        self.code.declare(f"llvm.{name}.p0.p0.i64", "void @(ptr, ptr, i64, i1)")
        self.code.call("void", f"llvm.{name}.p0.p0.i64", args)
        if not nbytes.isdigit():
            self.polls.poll(self.code.inst(f"lshr i64 {nbytes}, 3"))

    def _clone(self, op: bufferization.Clone) -> None:
        source = self.buffers[op.operand(0)]
        root = next(iter(self.roots[op.result]))
        order = layout_order(source.type)
        new = self.memory.allocate(source.type, source.sizes, order, op, root)
        self.buffers[op.result] = new
        self.memory.count_copy(new.nbytes)
        self._copy_elements(memref.Copy.of(op.operand(0), op.operand(0), "clone", op.loc), source, new)

    # -- structured ops
    def _structured(self, op: linalg.DestinationOp) -> None:
        if isinstance(op, linalg.Generic) and (product := self._product_of(op)) is not None:
            self.by_rows[product] = op
            return
        operands = [self.buffers[v] if isinstance(v.type, MemRefType) else self.values[v] for v in op.operands]
        types: list[Type] = [
            b.type if isinstance(b, Buffer) else v.type for b, v in zip(operands, op.operands, strict=True)
        ]
        spec = spec_of(op, types)
        if spec is None:
            if type(op).evaluate is Op.evaluate:
                raise InternalError(f"{op.name} has neither loops (`spec`) nor a reference (`evaluate`)")
            self._refer(op, operands, types)
            return
        nest = plan(spec)
        if isinstance(op, linalg.Contraction) and by_blas(op, linalg.element_type(types[2])):
            self.plans.append(f"{op.name} by BLAS where strides allow, else\n{nest}")
            self.whole.nests += 1
            fill = zero_fill_before(op)
            buffers = [b for b in operands if isinstance(b, Buffer)]
            if isinstance(op, linalg.MatVec) and op in self.by_rows:
                self._by_rows(self.by_rows[op], op, buffers, fill in self.skipped)
            else:
                write_product(self.code, self.polls, op, buffers, fill in self.skipped)
        else:
            fill = self.begun.pop(op, None) if isinstance(op, linalg.Generic) else None
            if fill is not None and not begins_each_out(nest):
                self._structured(fill)
                fill = None
            self._write_nest(nest, operands, {op.n_ins: self.values[fill.operand(0)]} if fill is not None else {})

    def _product_of(self, op: linalg.Generic) -> linalg.MatVec | None:
        """The product by BLAS that the rows of an op's result are for, if they may be made a few at a time."""
        if self.func.attrs.get("parallel") or (product := product_of(op)) is None:
            return None
        out = product.operand(2)
        apart = self._is_apart(out, (*read_of(op), *read_of(product)))
        return product if apart and by_blas(product, out.memref_type.element) else None

    def _is_apart(self, stored: Value, read: Sequence[Value]) -> bool:
        """Whether a buffer that is stored to has certainly no bytes of those that are read."""
        return all(are_two(stored, v) or not self._are_near(stored, v) for v in read)

    def _by_rows(
        self, op: linalg.Generic, product: linalg.MatVec, buffers: Sequence[Buffer], overwrite: bool
    ) -> None:
        """Makes and multiplies a few rows of a matrix at a time, all of them in the place of the first."""
        code, (matrix, vector, out) = self.code, buffers
        m, n = matrix.sizes
        rows, size = rows_at_once(code, matrix), unnamed()
        # the last rows are as many as any, and up to as many more
        with code.loop(code.greatest(code.add(code.sub(m, rows), "1"), "1"), step=rows) as loop:
            left = code.sub(m, loop.index)
            many = code.icmp("sge", left, code.mul(rows, "2"))
            count = code.select(many, "i64", rows, left)

            def some(b: Buffer, axis: int | None, first: str) -> Buffer:
                return b if axis is None else part_of(code, b, axis, first, count, size)

            operands: list[Buffer | str] = []
            for v, map_ in zip(op.operands, op.maps, strict=True):
                axis = map_.results.index(0) if 0 in map_.results else None
                b = self.buffers[v] if isinstance(v.type, MemRefType) else self.values[v]
                first = "0" if v is product.operand(0) else loop.index
                operands.append(some(b, axis, first) if isinstance(b, Buffer) else b)
            types = [b.type if isinstance(b, Buffer) else v.type for b, v in zip(operands, op.operands, strict=True)]
            spec = spec_of(op, types)
            assert spec is not None
            self.loops += 1
            self._write_nest(plan(spec), operands)
            self.loops -= 1
            parts = [some(matrix, 0, "0"), vector, some(out, 0, loop.index)]
            write_product(code, self.polls, product, parts, overwrite)

    def _refer(self, op: linalg.DestinationOp, operands: Sequence[Buffer | str], types: Sequence[Type]) -> None:
        """An op without loops of its own: NumPy's loop, or a call back."""
        number = len(self.references)
        self.references.append(op)

        def call_back() -> None:
            places = call_reference(self.code, self.memory, number, operands, types)
            for k in op.given_outs if isinstance(op, HostCall) else ():
                out = op.n_ins + k
                self.buffers[op.operand(out)] = self.memory.given(self.buffers[op.operand(out)], places[out])

        def check(holds: str, words: str) -> None:
            self._check_flag(holds, LinAlgError, words, op.loc)

        loop = op.loop if isinstance(op, HostCall) else None
        if loop is None:
            call_back()
        elif (called := self.host.call(loop, operands, types, call_back, check)) is not None:
            self.plans.append(f"{op.name}: {called}")

    def _fill(self, op: linalg.Fill) -> None:
        """A fill with zero right before a BLAS product into the same buffer is left to the product (its beta is 0
        then).
        """
        following = product_after(op)
        if following is not None and by_blas(following, linalg.element_type(op.operand(1).type)):
            self.skipped.add(op)
        elif not self.func.attrs.get("parallel") and (sum_ := sum_after(op)) is not None:
            self.begun[sum_] = op
        else:
            self._structured(op)

    def _write_nest(
        self, nest: Nest, operands: Sequence[Buffer | str], first: Mapping[int, str] = MappingProxyType({})
    ) -> None:
        self.whole.nests += 1
        split = split_of(nest) if self.func.attrs.get("parallel") and not self.within else None
        self.plans.append(str(nest) + ("" if split is None else f"\n  threads share loop {split.depth}"))
        around = Around(self.code, self.polls, self.values, self.scopes, first)
        once = self.loops == 0
        self.whole.inlined |= not once and split is None and may_stand_apart(nest)
        for it in write_nest(nest, operands, around, once=once, apart=self.whole.apart, split=split):
            self._raise_where(it.op, it.flag, it.size)

    def _check_flag(self, holds: str, exception: type[BaseException], text: str, loc: Location) -> None:
        """A check of a condition that no op computes."""
        flag = arith.Constant.of(0, I1, loc).result
        self.values[flag] = holds
        self._check(checks.Check.of(flag, exception, text.replace("{", "{{").replace("}", "}}"), [], loc))

    def _assert(self, op: Assert) -> None:
        self._check_flag(self.values[op.operand(0)], AssertionError, str(op.attrs["msg"].value), op.loc)

    def _raise_where(self, op: CheckedIndex, failed: str, size: str) -> None:
        """An index was out of bounds: the number of a check that says so."""
        flag, n = (arith.Constant.of(0, t, op.loc).result for t in (I1, INDEX))
        self.values[flag], self.values[n] = self.code.inst(f"xor i1 {failed}, true"), size
        self._check(checks.Check.of(flag, IndexError, op.message, [n], op.loc))

    # -- control flow
    def _bind(self, value: Value, parts: list[str]) -> list[str]:
        """Binds `value` to the front of `parts` and returns the rest. A memref takes what its type does not fix."""
        if isinstance(value.type, ScalarType):
            n = len(value_types(value.type))
            self.values[value] = join_components(parts[:n])
            return parts[n:]
        type_, rest = value.memref_type, iter(parts[2:])
        known = [str(n) if isinstance(n, int) else next(rest) for n in (*type_.shape, *type_.strides)]
        sizes, strides = tuple(known[: type_.rank]), tuple(known[type_.rank :])
        self.buffers[value] = Buffer(type_, parts[0], parts[1], sizes, strides, self.roots[value])
        return list(rest)

    def _bind_all(self, values: Sequence[Value], parts: list[str]) -> None:
        for value in values:
            parts = self._bind(value, parts)

    def _all_parts(self, values: Sequence[Value], like: Sequence[Value]) -> list[tuple[str, str]]:
        """`values` as (LLVM type, value) pairs, in the form that the types of `like` ask for (see `_bind`)."""
        parts: list[tuple[str, str]] = []
        for value, target in zip(values, like, strict=True):
            if isinstance(target.type, MemRefType):
                b, t = self.buffers[value], target.type
                fixed = zip((*t.shape, *t.strides), (*b.sizes, *b.strides), strict=True)
                parts += [
                    ("ptr", b.base),
                    ("ptr", b.pointer),
                    *(("i64", v) for n, v in fixed if not isinstance(n, int)),
                ]
            else:
                assert isinstance(target.type, ScalarType)
                parts += [(llvm_type(t), v) for t, v in components(target.type, self.values[value])]
        return parts

    def _tabulate_outside(self, loop: scf.For | scf.While) -> None:
        """Writes the tables of the arrays that are picked from in a loop, where they are known before it."""
        for op in loop.walk():
            if isinstance(op, Pick) and op not in self.tables and all(v in self.buffers for v in op.arrays):
                self.tables[op] = self._tabulate(op)

    def _tabulate(self, op: Pick) -> list[list[str]]:
        """The parts of an array that is picked (`_all_parts`): each the one value that all have (of sizes and strides
        that its type has an expression for, that of the first one), or a table of theirs on the stack besides."""
        type_ = op.result.memref_type
        unknown = [None, None, *(n for n in (*type_.shape, *type_.strides) if not isinstance(n, int))]
        columns = list(zip(*(self._all_parts([v], op.results) for v in op.arrays), strict=True))
        columns = [c if n is None else c[:1] for n, c in zip(unknown, columns, strict=True)]
        made: dict[tuple[tuple[str, str], ...], str] = {}
        found = []
        for column in columns:
            kind, value = column[0]
            if len(set(column)) == 1:
                found.append([kind, value])
                continue
            if column not in made:
                made[column] = self.code.fresh_slot(f"[{len(column)} x i64]")
                for k, (_, one) in enumerate(column):
                    self.code.do(f"store {kind} {one}, ptr {self.code.offset(made[column], 'i64', str(k))}")
            found.append([kind, value, made[column]])
        return found

    def _pick(self, op: Pick) -> None:
        code, number = self.code, self.values[op.operand(0)]
        loaded: dict[str, str] = {}
        parts = []
        for kind, value, *table in self.tables[op] if op in self.tables else self._tabulate(op):
            if table and table[0] not in loaded:
                loaded[table[0]] = code.inst(f"load {kind}, ptr {code.offset(table[0], 'i64', number)}")
            parts.append(loaded[table[0]] if table else value)
        self._bind(op.result, parts)

    def _for(self, op: scf.For) -> None:
        found = independent(op, self._are_near) if self.func.attrs.get("parallel") and not self.within else None
        if found is None:
            if (sweep := sweep_of(op)) is not None and self._is_apart(sweep.op.operand(sweep.op.n_ins), sweep.read):
                self._in_registers(op, sweep)
            else:
                self._for_whole(op)
            return
        it = self._outlined(op, found.checks)
        stored = [(self.buffers[v], min(touched.axes)) for v, touched in found.touched.items() if touched.stored]

        def fits() -> str:
            apart = [self.code.icmp("sge", it.n, str(FEW_ITERATIONS))]
            for b, axis in stored:
                others = [(s, n) for k, (s, n) in enumerate(zip(b.strides, b.sizes, strict=True)) if k != axis]
                apart.append(are_apart(self.code, b.strides[axis], it.n, others))
            return self.code.every(apart)

        touched = "0"
        for v in found.touched:
            touched = self.code.add(touched, self.memory.nbytes(self.buffers[v]))

        def fail(number: str, values: str) -> None:
            self._copy_values(values)
            self.code.do(f"ret i64 {number}")

        it = it._replace(limit=parallel.IN_TURN if found.checks else it.limit)
        it = it._replace(work=self.code.mul(touched, str(found.cost)))
        with shared_by_threads(self.code, self.polls, it, fits, fail=fail if found.checks else None):
            self._for_whole(op)

    def _are_near(self, a: Value, b: Value) -> bool:
        """Whether two buffers may have bytes in common."""
        x, y = self.roots[a], self.roots[b]
        return not self.scopes or any(not self.scopes.near[r].isdisjoint(y) for r in x)

    def _outlined(self, op: scf.For, checked: bool) -> Shared:
        """Some iterations of a loop as a function of its own, `i64 (context, budget left, lo, hi, what is around)`, and
        where the values of a check are put that fails, if it is `checked`."""
        lower, upper = (self.values[v] for v in op.operands[:2])
        code, scopes, inner, parameters = self.code, self.scopes, Code(), Parameters()
        whole = self.whole
        kept = dict(self.__dict__), len(self.plans), whole.apart, whole.inlined, whole.nests
        whole.apart, self.within = False, True
        self.code, self.scalars, self.tables = inner, Scalars(inner), {}
        self.polls = Polls(inner, "%context", "stopped", "%left")
        self.memory = Memory(inner, "%context", "stopped", Plan())
        self.values, self.buffers = Outside(self.values, parameters), OutsideBuffers(self.buffers, parameters)
        domain = inner.metadata("@", distinct=True) if scopes else ""
        self.scopes = Scopes({k: inner.metadata(f"@, {domain}", distinct=True) for k in scopes}, scopes.near)
        self.loops += 1
        first = parameters.of("i64", lower)
        with inner.loop("%hi", "%lo") as loop:
            self.values[op.body.args[0]] = inner.add(first, loop.index)
            self._block(op.body)
        self.polls.leave()
        self.__dict__.update(kept[0])
        del self.plans[kept[1] :]
        whole.apart, whole.inlined, whole.nests = kept[2:]
        self.plans.append(f"threads share the loop of line {op.loc.line}")
        bounds = [("ptr", "%context"), ("i64", "%left"), ("i64", "%lo"), ("i64", "%hi")]
        values = [("ptr", "%values")] if checked else []
        symbol = code.share(inner, "loop", [*bounds, *parameters.named, *values])
        n = self.code.greatest(self.code.sub(upper, lower), "0")
        return Shared(symbol, parameters.passed, n, "0")

    def _in_registers(self, op: scf.For, sweep: Sweep) -> None:
        """The loop for a few elements of the vector at a time, then for each of those that are left."""
        code, target = self.code, self.buffers[sweep.op.operand(sweep.op.n_ins)]
        element, access, n = target.type.element, self._access(target), target.sizes[0]
        lower, upper = (self.values[v] for v in op.operands[:2])
        units = str(2 * len(sweep.op.body.ops))
        many = code.inst(f"and i64 {n}, {-WIDTH}")
        for start, stop, width in (("0", many, WIDTH), (many, n, 1)):
            with code.loop(stop, start, str(width)) as each:
                places = [
                    self._element_at(target, code.add(each.index, str(k)) if k else each.index) for k in range(width)
                ]
                carried = [(llvm_type(element), code.load(element, place, access)) for place in places]
                with code.loop(upper, lower, carried=carried) as loop:
                    self.values[op.body.args[0]] = loop.index
                    for inner in op.body.ops[:-1]:
                        if inner is sweep.op:
                            loop.next = [
                                self._swept(sweep.op, code.add(each.index, str(k)) if k else each.index, total)
                                for k, total in enumerate(loop.carried)
                            ]
                        else:
                            self._op(inner)
                for place, total in zip(places, loop.carried, strict=True):
                    code.store(element, total, place, access)
                rounds = code.greatest(code.sub(upper, lower), "0")
                self.polls.poll(code.product([rounds, str(width), units]))

    def _element_at(self, b: Buffer, index: str) -> str:
        """The place of an element of a vector."""
        return self.code.offset(b.pointer, memory_type(b.type.element), self.code.mul(index, b.strides[0]))

    def _swept(self, op: linalg.Generic, index: str, total: str) -> str:
        """What an op makes of an element of the vector that it stores to."""
        values, target = dict[Value, str](), op.operand(op.n_ins)
        for v, arg in zip(op.operands, op.body.args, strict=True):
            if v is target:
                values[arg] = total
            elif isinstance(v.type, MemRefType):
                b = self.buffers[v]
                if arg.uses:
                    values[arg] = self.code.load(b.type.element, self._element_at(b, index), self._access(b))
            else:
                values[arg] = self.values[v]
        for inner in op.body.ops[:-1]:
            assert isinstance(inner, arith.ScalarOp)
            operands = [values[v] if v in values else self.values[v] for v in inner.operands]
            values[inner.result] = inner.emit(self.scalars, operands)
        made = op.body.terminator.operand(0)
        return values[made] if made in values else self.values[made]

    def _for_whole(self, op: scf.For) -> None:
        self._tabulate_outside(op)
        lower, upper, step = (self.values[v] for v in op.operands[:3])
        carried = op.body.args[1:]
        inits = self._all_parts(op.operands[3:], carried)
        units = work(op.body)
        most = 0 if units is None else self.polls.chunk(units)
        if units is not None and self._constant_trips(lower, upper, step) <= most:
            self._for_range(op, upper, lower, step, inits, "")
            self.polls.spend(str(units * max(self._constant_trips(lower, upper, step), 0)))
        elif units is not None and step.isdigit() and int(step) < 2**20:
            whole = int(step) * most
            with self.code.loop(upper, lower, str(whole), inits) as chunk:
                stop = self.code.intrinsic("llvm.sadd.sat.i64", "i64", [("i64", chunk.index), ("i64", str(whole))])
                chunk.after = stop = self.code.least(stop, upper)
                pairs = [(t, v) for (t, _), v in zip(inits, chunk.carried, strict=True)]
                chunk.next = self._for_range(op, stop, chunk.index, step, pairs, "")
                self.polls.poll(self.code.mul(self.code.sub(stop, chunk.index), str(units)))
            self._bind_all(carried, chunk.carried)
        else:
            self._for_range(op, upper, lower, step, inits, str(units or len(op.body.ops)))
        self._bind_all(op.results, [v for _, v in self._all_parts(carried, op.results)])

    def _for_range(
        self, op: scf.For, stop: str, start: str, step: str, inits: Sequence[tuple[str, str]], units: str
    ) -> list[str]:
        """The iterations from start to stop, each of which polls if `units` are given; what is carried in the end."""
        carried, code = op.body.args[1:], self.code
        known = all(v.lstrip("-").isdigit() and abs(int(v)) < 2**62 for v in (stop, step))
        blocks = op.attrs.get("blocks", False)  # of no more bytes than there are, or of a few
        by_number = step != "1" and not known and not blocks  # a step beyond the last index may be no 64-bit integer
        if by_number:
            last = code.inst(f"sub i64 {code.sub(stop, '1')}, {start}")  # which may have all of 64 bits
            n = code.add(code.inst(f"udiv i64 {last}, {step}"), "1")
            stop = code.select(code.icmp("slt", start, stop), "i64", n, "0")
        with code.loop(stop, *(("0", "1") if by_number else (start, step)), inits) as loop:
            index = loop.index
            if by_number and start.isdigit():
                index = code.add(start, code.mul(index, step))
            elif by_number:  # the way from a negative start may be longer than the greatest integer
                index = code.inst(f"add i64 {start}, {code.inst(f'mul i64 {index}, {step}')}")
            self.values[op.body.args[0]] = index
            self._bind_all(carried, loop.carried)
            around = 0 if blocks else 1  # of the loops that nests are in
            self.loops += around
            self._block(op.body)
            self.loops -= around
            loop.next = [v for _, v in self._all_parts(op.body.terminator.operands, carried)]
            if units and not blocks:
                self.polls.poll(units)
        self._bind_all(carried, loop.carried)
        return loop.carried

    def _constant_trips(self, lower: str, upper: str, step: str) -> float:
        """How many iterations; infinity if that is not known."""
        if all(v.lstrip("-").isdigit() for v in (lower, upper, step)):
            return len(range(int(lower), int(upper), int(step)))
        return float("inf")

    def _while(self, op: scf.While) -> None:
        self._tabulate_outside(op)
        inits = self._all_parts(op.operands, op.before.args)
        with self.code.rounds(inits) as loop:
            self._bind_all(op.before.args, loop.carried)
            self.loops += 1
            self._block(op.before)
            forwarded = [u.value for u in op.passed]
            results = [v for _, v in self._all_parts(forwarded, op.results)]
            parts = [v for _, v in self._all_parts(forwarded, op.after.args)]
            more = self.code.new_label()
            self.code.branch(self.values[op.before.terminator.operand(0)], more, loop.end)
            self.code.place(more)
            self._bind_all(op.after.args, parts)
            self._block(op.after)
            self.loops -= 1
            loop.next = [v for _, v in self._all_parts(op.after.terminator.operands, op.before.args)]
            self.polls.poll(str(len(op.before.ops) + len(op.after.ops)))
        self._bind_all(op.results, results)

    def _if(self, op: scf.If) -> None:
        labels, end = [self.code.new_label(), self.code.new_label()], self.code.new_label()
        self.code.branch(self.values[op.operand(0)], labels[0], labels[1])
        arms = []
        for label, block in zip(labels, op.branches, strict=True):
            self.code.place(label)
            self._block(block)
            arms.append((self._all_parts(block.terminator.operands, op.results), self.code.label))
            self.code.jump(end)
        self.code.place(end)
        (then, at_then), (orelse, at_else) = arms
        phis = [
            self.code.inst(f"phi {t} [ {a}, %{at_then} ], [ {b}, %{at_else} ]")
            for (t, a), (_, b) in zip(then, orelse, strict=True)
        ]
        self._bind_all(op.results, phis)

    def _select(self, op: arith.Select) -> None:
        """A select of memrefs."""
        condition, *sides = op.operands
        first, second = (self._all_parts([v], op.results) for v in sides)
        chosen = [self.code.select(self.values[condition], t, a, b) for (t, a), (_, b) in zip(first, second)]
        self._bind_all(op.results, chosen)

    def _execute(self, op: scf.ExecuteRegion) -> None:
        self._bind_all(op.results, self.blocks.region(op.regions[0], op.results))

    def _branch(self, op: Branch | CondBranch) -> None:
        self.blocks.branch(op, [] if isinstance(op, Branch) else [self.values[op.operand(0)]])

    def _call(self, op: Call) -> None:
        """A call of a function beside this one: its frame is on the stack."""
        func, symbol = self.whole.functions[op.callee]
        code, frame = self.code, abi.frame_of([a.type for a in func.args], func.result_types, inner=True)
        at = self._call_frame()
        code.do(f"store ptr {self.context}, ptr {at}")
        left = code.offset(at, "i64", str(abi.LEFT))
        code.do(f"store i64 {self.floor}, ptr {code.offset(at, 'i64', str(abi.FLOOR))}")
        code.do(f"store i64 {self.polls.state()[1][1]}, ptr {left}")
        for value, k in zip(op.operands, frame.arg_at, strict=True):
            self._put(value, at, k)
        status = code.call("i64", symbol, [("ptr", at)])
        failed, going = code.new_label(), code.new_label()
        code.branch(code.icmp("ne", status, "0"), failed, going, code.rarely())
        code.place(failed)
        self._copy_values(code.offset(at, "i64", str(frame.error_at)))
        code.do(f"ret i64 {status}")
        code.place(going)
        self.polls.resume(code.inst(f"load i64, ptr {left}"))
        for result, k in zip(op.results, frame.result_at, strict=True):
            self._take(result, at, k)

    def _copy_values(self, source: str) -> None:
        """Puts the values of a check that failed elsewhere into the frame."""
        nbytes = 8 * abi.ERROR_VALUE * abi.MAX_ERROR_VALUES
        self.code.declare("llvm.memcpy.p0.p0.i64", "void @(ptr, ptr, i64, i1)")
        words = [("ptr", self._slot(self.frame.error_at)), ("ptr", source), ("i64", str(nbytes)), ("i1", "false")]
        self.code.call("void", "llvm.memcpy.p0.p0.i64", words)

    def _call_frame(self) -> str:
        """The place of the frame of what is called: one for all calls, for the stack may have to hold a thousand."""
        if not self.call_frame:
            called = {op.callee: self.whole.functions[op.callee][0] for op in self.func.walk() if isinstance(op, Call)}
            frames = [abi.frame_of([a.type for a in f.args], f.result_types, inner=True) for f in called.values()]
            self.call_frame = self.code.fresh_slot(f"[{max(frame.size for frame in frames)} x i64]")
        return self.call_frame

    def _take(self, value: Value, frame: str, at: int) -> None:
        """The value that is in a frame."""
        if isinstance(value.type, ScalarType):
            self.values[value] = self.code.load(value.type, self.code.offset(frame, "i64", str(at)))
            return
        type_ = value.memref_type
        kinds = ["ptr", "ptr", *("" if isinstance(n, int) else "i64" for n in (*type_.shape, *type_.strides))]
        places = [(kind, self.code.offset(frame, "i64", str(at + k))) for k, kind in enumerate(kinds) if kind]
        self._bind(value, [self.code.inst(f"load {kind}, ptr {place}") for kind, place in places])

    def _metadata(self, op: metadata.ExtractStridedMetadata) -> None:
        b = self.buffers[op.operand(0)]
        self.buffers[op.base] = Buffer(op.base.memref_type, b.base, b.base, (), (), b.roots)
        offset, *parts = op.results[1:]
        if offset.uses:
            start, here = (self.code.inst(f"ptrtoint ptr {p} to i64") for p in (b.base, b.pointer))
            moved = self.code.sub(here, start)
            self.values[offset] = self.code.inst(f"sdiv exact i64 {moved}, {b.type.element.itemsize}")
        for part, n in zip(parts, (*b.sizes, *b.strides), strict=True):
            self.values[part] = n

    def _address(self, op: metadata.ExtractAlignedPointer) -> None:
        self.values[op.result] = self.code.inst(f"ptrtoint ptr {self.buffers[op.operand(0)].base} to i64")

    def _nothing(self, op: Op) -> None:
        """A terminator: its parent takes the values."""


def results_of(func: Func) -> tuple[Value, ...]:
    """What a function returns; where it does in several places, values that stand for its results."""
    ends = [b.terminator for b in func.body.blocks if isinstance(b.terminator, Return)]
    if len(ends) == 1:
        return tuple(ends[0].operands)
    return tuple(Block(func.result_types).args)


MANY = 32
"""More results are put into the frame by calls."""
CALL = "16"
"""Units of work of a call."""
COPIED = 2**25
"""The bytes that are copied between two polls: so many that the C library's way of copying is the same."""
def _is_stored_over(op: memref.Load) -> bool:
    """Whether another element, or this one, is chosen and stored in its block, perhaps in its place."""
    chosen = any(isinstance(u.op, arith.Select) and u.op.block is op.block for u in op.result.uses)
    return chosen and any(isinstance(u.op, memref.Store) and u.op.block is op.block for u in op.operand(0).uses)


def are_two(a: Value, b: Value) -> bool:
    """Whether two buffers that are alive are allocated by two ops."""
    x, y = memref.base_of(a).defining_op, memref.base_of(b).defining_op
    return x is not y and isinstance(x, memref.Alloc) and isinstance(y, memref.Alloc)


def part_of(code: Code, b: Buffer, axis: int, first: str, count: str, size: Dim) -> Buffer:
    """A buffer from one index of an axis on; `size`: of that axis, in its type."""
    pointer = code.offset(b.pointer, memory_type(b.type.element), code.mul(first, b.strides[axis]))
    sizes = (*b.sizes[:axis], count, *b.sizes[axis + 1 :])
    shape = (*b.type.shape[:axis], size, *b.type.shape[axis + 1 :])
    return replace(b, type=MemRefType(shape, b.type.element, b.type.strides, None), pointer=pointer, sizes=sizes)


_WITHOUT_EFFECT = (arith.ScalarOp, memref.Alloc, memref.Dim, *memref.VIEW_OPS)


def product_after(fill: linalg.Fill) -> linalg.Contraction | None:
    """The float product into the buffer that this op fills with zero, if nothing between them can see the buffer."""
    value = fill.operand(0).defining_op
    if not isinstance(value, arith.Constant) or value.attrs["value"] != 0 or fill.block is None:
        return None
    for op in fill.block.ops[fill.block.op_index(fill) + 1 :]:
        if isinstance(op, linalg.Contraction) and op.operand(2) is fill.operand(1):
            base = memref.base_of(op.operand(2))
            return None if base in [memref.base_of(v) for v in op.operands[:2]] else op
        if not isinstance(op, _WITHOUT_EFFECT):
            return None
    return None


def sum_after(fill: linalg.Fill) -> linalg.Generic | None:
    """The op that folds floats into the buffer that this op fills with a constant, if nothing between them can see the
    buffer, and it may begin with the constant."""
    value = fill.operand(0).defining_op
    if not isinstance(value, arith.Constant) or fill.block is None:
        return None
    for op in fill.block.ops[fill.block.op_index(fill) + 1 :]:
        if isinstance(op, linalg.Generic) and op.operand(op.n_ins) is fill.operand(1):
            base = memref.base_of(fill.operand(1))
            others = [*op.operands[: op.n_ins], *op.operands[op.n_ins + 1 :]]
            if any(isinstance(v.type, MemRefType) and memref.base_of(v) is base for v in others):
                return None
            spec = spec_of(op, [v.type for v in op.operands])
            return op if spec is not None and begins_each_out(plan(spec)) else None
        if not isinstance(op, _WITHOUT_EFFECT):
            return None
    return None


def begins_each_out(nest: Nest) -> bool:
    """Whether a nest makes sums of floats, each from its beginning to its end before the next one."""
    sums = bool(nest.folds) and all(f.how == PAIRWISE for f in nest.folds)
    outs = len(nest.spec.types) - nest.spec.n_ins
    return sums and len(nest.folds) == outs == 1 and nest.fold_loops == sum(lp.reduction for lp in nest.loops)


def zero_fill_before(product: linalg.Contraction) -> linalg.Fill | None:
    """The fill with zero whose `product_after` is this product, if there is one."""
    assert product.block is not None
    for op in reversed(product.block.ops[: product.block.op_index(product)]):
        if isinstance(op, linalg.Fill):
            return op if product_after(op) is product else None
        if not isinstance(op, _WITHOUT_EFFECT):
            return None
    return None


_WRITERS: dict[type[Op], Callable[..., None]] = {
    checks.Check: KernelWriter._check,
    memref.Alloc: KernelWriter._alloc,
    memref.Alloca: KernelWriter._alloc,
    memref.Dealloc: KernelWriter._dealloc,
    memref.GetGlobal: KernelWriter._get_global,
    memref.Dim: KernelWriter._dim,
    memref.Rank: KernelWriter._rank,
    memref.Cast: KernelWriter._cast,
    memref.Subview: KernelWriter._view,
    memref.View: KernelWriter._view,
    memref.CollapseShape: KernelWriter._regrouped,
    memref.ExpandShape: KernelWriter._regrouped,
    memref.Diagonal: KernelWriter._regrouped,
    memref.Windows: KernelWriter._regrouped,
    memref.Recast: KernelWriter._regrouped,
    memref.Load: KernelWriter._load,
    memref.Store: KernelWriter._store,
    memref.Copy: KernelWriter._copy,
    bufferization.SameBase: KernelWriter._same_base,
    bufferization.Clone: KernelWriter._clone,
    linalg.Fill: KernelWriter._fill,
    linalg.DestinationOp: KernelWriter._structured,
    scf.For: KernelWriter._for,
    scf.While: KernelWriter._while,
    scf.If: KernelWriter._if,
    scf.Yield: KernelWriter._nothing,
    scf.Condition: KernelWriter._nothing,
    scf.ExecuteRegion: KernelWriter._execute,
    arith.Select: KernelWriter._select,
    Pick: KernelWriter._pick,
    Branch: KernelWriter._branch,
    CondBranch: KernelWriter._branch,
    Assert: KernelWriter._assert,
    Call: KernelWriter._call,
    metadata.ExtractStridedMetadata: KernelWriter._metadata,
    metadata.ExtractAlignedPointer: KernelWriter._address,
    Return: KernelWriter._return,
}


def _writer(kind: type[Op]) -> Callable[..., None] | None:
    """The writer of a class or of the nearest one it derives from."""
    return next((_WRITERS[base] for base in kind.__mro__ if base in _WRITERS), None)
