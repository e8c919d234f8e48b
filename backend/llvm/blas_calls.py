"""Float products through BLAS: gemm, gemv, dot by pointer, straight into strided sub-views, by one call as a rule.
Operands whose strides BLAS does not take are copied block by block, to working memory that is not counted, as NumPy
copies them whole for `matmul`.

All products of a kind are one function, which programs share, so that one of many products is not long to compile.
Those of matrices are compiled at a low level: their time is BLAS's, and LLVM would write all their loops once for each
way to call it.
BLAS is column-major; a row-major C = A B is read as C^T = B^T A^T. Which operand is to be called transposed, its
leading dimension, and whether BLAS can take it as it is (a unit stride, leading dimensions of 32 bits) is decided at
run time by a few integer instructions; where sizes are beyond 32 bits, or 0, there are loops. Arguments are passed by
address, from stack slots in the entry block. Beta is 1, or 0 where the fill with zero before the product was left out;
then the loops fill first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tracebuf.backend.llvm.code import Code, literal
from tracebuf.backend.llvm.loops import Around, Buffer, NestWriter, Scopes
from tracebuf.backend.llvm.polls import Polls
from tracebuf.backend.llvm.scalars import ELEMENT_SLOT, memory_type
from tracebuf.backend.objects.image import SpeedLevel
from tracebuf.frozen import frozen
from tracebuf.ir.core import Block
from tracebuf.ir.dims import Sym
from tracebuf.ir.emitter import components, join_components, llvm_type
from tracebuf.ir.types import C64, C128, F32, F64, MemRefType, ScalarType
from tracebuf.location import UNKNOWN
from tracebuf.lower.plan import Nest, plan
from tracebuf.lower.rows import BYTES, STEP
from tracebuf.ops.arrays import linalg as la

_LETTERS = {F32: "s", F64: "d", C64: "c", C128: "z"}


def by_blas(op: la.Contraction, element: ScalarType) -> bool:
    """Whether BLAS has this product."""
    return element in _LETTERS


_LIMIT = str(2**31 - 1)
NO, YES = "78", "84"
"""The letters N and T: is an operand to be called transposed?"""
LOWER = "76"
"""The letter L: the triangle above the diagonal, as Fortran sees it."""
SMALL, LARGE = 2**14, 2**22
"""Bytes of an operand that is copied to the stack; of a block of a larger one, which is copied to memory of malloc."""


Operand = tuple[str, str, str]
"""What BLAS is told of a matrix: pointer, orientation, leading dimension."""


@frozen()
class Matrix:
    """Pointer, sizes and strides of a matrix operand."""

    pointer: str
    sizes: tuple[str, str]
    strides: tuple[str, str]

    @property
    def transposed(self) -> Matrix:
        return Matrix(self.pointer, self.sizes[::-1], self.strides[::-1])


def matrix(buffer: Buffer) -> Matrix:
    (m, n), (s, t) = buffer.sizes, buffer.strides
    return Matrix(buffer.pointer, (m, n), (s, t))


def write_product(code: Code, polls: Polls, op: la.Contraction, operands: Sequence[Buffer], overwrite: bool) -> None:
    """out += a @ b, or out = a @ b if `overwrite`; minus the product if the op is `negative`."""
    element = operands[2].type.element
    name = f"{_LETTERS[element]}_{op.name.replace('.', '_')}"
    if name not in code.products:
        writer = ProductWriter(Code(), op, element)
        level: SpeedLevel = 3 if isinstance(op, la.Dot) else 1
        code.products[name] = code.share(writer.code, name, writer.write(), level)
    parts = [part for b in operands for part in (("ptr", b.pointer), *(("i64", v) for v in (*b.sizes, *b.strides)))]
    polls.resume(code.call("i64", code.products[name], [*polls.state(), ("i1", str(overwrite).lower()), *parts]))


def rows_at_once(code: Code, matrix: Buffer) -> str:
    """How many rows of a matrix are made at a time for a product (lower/rows.py): all of them where BLAS has several
    threads, or may have."""
    (m, n), itemsize = matrix.sizes, matrix.type.element.itemsize
    code.imports["blas_threads"] = ("blas", "threads")
    code.declare("blas_threads", "i32 @()")
    alone = code.icmp("eq", code.call("i32", "blas_threads", []), "1", "i32")
    fitting = code.inst(f"udiv i64 {BYTES // itemsize}, {code.greatest(n, '1')}")
    few = code.greatest(code.inst(f"and i64 {fitting}, -{STEP}"), str(STEP))
    return code.select(alone, "i64", few, code.greatest(m, "1"))


class ProductWriter:
    """Writes the function of one kind of product, of operands of any sizes and strides."""

    def __init__(self, code: Code, op: la.Contraction, element: ScalarType) -> None:
        self.code, self.op, self.element = code, op, element
        self.polls = Polls(code, "%context", "stopped", "%left")
        self._end = code.new_label()
        self.parameters: list[tuple[str, str]] = []
        self.operands = [self._operand(len(axes)) for axes in op.axes]

    def _operand(self, rank: int) -> Buffer:
        pointer, *rest = (f"%p{len(self.parameters) + k}" for k in range(1 + 2 * rank))
        self.parameters += [("ptr", pointer), *(("i64", v) for v in rest)]
        shape = tuple(Sym(v[1:], "dim").expr for v in rest[:rank])
        type_ = MemRefType(shape, self.element, (None,) * rank, None)
        return Buffer(type_, pointer, pointer, tuple(rest[:rank]), tuple(rest[rank:]))

    def write(self) -> list[tuple[str, str]]:
        """The parameters of `i64 (context, budget left, whether out is overwritten, operands)`, see `Polls`."""
        code, element = self.code, self.element
        call, loops, end = code.new_label(), code.new_label(), self._end
        alpha = literal(element, -1 if self.op.negative else 1)
        a, b, out = self.operands
        if isinstance(self.op, la.MatMul):
            self._gemm(matrix(a), matrix(b), matrix(out), out, alpha, (call, loops))
        elif isinstance(self.op, la.MatVec):
            self._gemv(matrix(a), b, out, alpha, (call, loops))
        elif isinstance(self.op, la.VecMat):
            self._gemv(matrix(b).transposed, a, out, alpha, (call, loops))
        else:
            self._dot(a, b, out, (call, loops))
        code.jump(end)
        code.place(loops)
        self._loops(end)
        code.place(end)
        sizes = dict.fromkeys((*a.sizes, *b.sizes))
        self.polls.poll(code.inst(f"lshr i64 {code.product(list(sizes))}, 3"))
        self.polls.leave()
        return [("ptr", "%context"), ("i64", "%left"), ("i1", "%fresh"), *self.parameters]

    def _loops(self, end: str) -> None:
        """The loops where BLAS cannot be called."""
        code = self.code
        zero, add = code.new_label(), code.new_label()
        nest = plan(self.op.spec([b.type for b in self.operands]))
        code.branch("%fresh", zero, add)
        code.place(zero)
        self._nest(_zero(nest), [literal(self.element, 0), self.operands[2]])
        code.jump(add)
        code.place(add)
        self._nest(nest, self.operands)
        code.jump(end)

    def _nest(self, nest: Nest, operands: Sequence[Buffer | str]) -> None:
        NestWriter(nest.as_rare(), operands, Around(self.code, self.polls, {}, Scopes({}, {}))).write()

    def _gemm(self, a: Matrix, b: Matrix, c: Matrix, out: Buffer, alpha: str, labels: tuple[str, str]) -> None:
        """z += x @ y: by one call where BLAS can take all three, else by blocks, of which those operands that it
        cannot take are copied."""
        code, element = self.code, out.type.element
        (rows_ok, _), (columns_ok, _) = self._rows(c), self._rows(c.transposed)
        as_it_is = code.select(columns_ok, "i1", rows_ok, self._is_row_major(c))
        as_it_is = code.inst(f"or i1 {rows_ok}, {as_it_is}")
        x, y = self._either(as_it_is, a, b.transposed), self._either(as_it_is, b, a.transposed)
        z = self._either(as_it_is, c, c.transposed)
        z_ok, z_ld = self._rows(z)
        x_ok, y_ok = self._oriented(x), self._oriented(y)
        sizes = (z.sizes[0], z.sizes[1], x.sizes[1])

        def call(left: Operand, right: Operand, into: tuple[str, str], block: tuple[str, str, str], beta: str) -> None:
            rows, columns, depth = block
            self._call(
                out, "gemm", "void",
                [("i8", right[1]), ("i8", left[1]), ("i64", columns), ("i64", rows), ("i64", depth),
                 (llvm_type(element), alpha), ("ptr", right[0]), ("i64", right[2]), ("ptr", left[0]),
                 ("i64", left[2]), (llvm_type(element), beta), ("ptr", into[0]), ("i64", into[1])],
            )  # fmt: skip

        code.branch(code.every(self._in_range(sizes)), *labels)
        code.place(labels[0])
        self._gemm_of_one(a, b, c, out, alpha)
        with self._straight([x_ok[0], z_ok, "%fresh", *self._same(x, y.transposed)]):
            self._syrk(x, x_ok, z, z_ld, out, alpha)
        with self._straight([x_ok[0], y_ok[0], z_ok]):
            beta = self._beta("%fresh")
            call((x.pointer, *x_ok[1:]), (y.pointer, *y_ok[1:]), (z.pointer, z_ld), sizes, beta)
        steps, (left_copy, right_copy, out_copy), heap = self._blocks(sizes, (x_ok[0], y_ok[0], z_ok), labels[1])
        with self._each(sizes[0], steps[0]) as (i, rows):
            with self._each(sizes[2], steps[2]) as (k, depth):
                left = self._packed(x, x_ok, (i, k), (rows, depth), left_copy)
                with self._each(sizes[1], steps[1]) as (j, columns):
                    right = self._packed(y, y_ok, (k, j), (depth, columns), right_copy)
                    place = self._at(z, i, j)
                    into = code.select(z_ok, "ptr", place, out_copy), code.select(z_ok, "i64", z_ld, columns)
                    fresh = self._is_fresh(k)
                    call(left, right, into, (rows, columns, depth), self._beta(code.select(z_ok, "i1", fresh, "true")))
                    self._unpacked(z, z_ok, place, (rows, columns), out_copy, fresh)
        self._free(heap)

    def _gemm_of_one(self, a: Matrix, b: Matrix, c: Matrix, out: Buffer, alpha: str) -> None:
        """c += a @ b of one row or one column, which is a product with a vector, as NumPy has it: gemv adds up in
        another order."""
        code = self.code
        row, column = (code.icmp("eq", c.sizes[k], "1") for k in range(2))
        straight, other = code.new_label(), code.new_label()
        code.branch(code.inst(f"or i1 {row}, {column}"), straight, other, code.rarely())
        code.place(straight)
        rows, across = self._either(column, a, b.transposed), self._either(column, b.transposed, a)
        alone, both = code.icmp("eq", rows.sizes[1], "1"), code.every([row, column])
        into = code.select(both, "i64", "1", self._either(column, c, c.transposed).strides[0])
        vector = across.pointer, code.select(alone, "i64", "1", across.strides[1])
        along = code.select(alone, "i64", "1", rows.strides[1])
        with self._straight([both, *self._in_range((along, vector[1])), *self._has_dot()]):
            self._one_dot(rows.sizes[1], (rows.pointer, along), vector, out)
        ok, kind, ld = self._oriented(rows)
        with self._straight([ok, *self._in_range((vector[1], into))]):
            self._one_gemv((rows.pointer, kind, ld), rows.sizes, vector, (c.pointer, into), out, alpha)
        code.jump(other)
        code.place(other)

    def _one_gemv(
        self, a: Operand, sizes: tuple[str, str], x: tuple[str, str], y: tuple[str, str], out: Buffer, alpha: str,
        fresh: str = "%fresh",
    ) -> None:  # fmt: skip
        """y += a @ x, of vectors: pointers and increments."""
        code, element = self.code, llvm_type(out.type.element)
        straight = code.icmp("eq", a[1], NO, "i8")
        m, n = code.select(straight, "i64", *sizes[::-1]), code.select(straight, "i64", *sizes)
        self._call(
            out, "gemv", "void",
            [("i8", code.select(straight, "i8", YES, NO)), ("i64", m), ("i64", n), (element, alpha), ("ptr", a[0]),
             ("i64", a[2]), *zip(("ptr", "i64"), x), (element, self._beta(fresh)), *zip(("ptr", "i64"), y)],
        )  # fmt: skip

    def _same(self, a: Matrix, b: Matrix) -> list[str]:
        """Conditions: two matrices are one."""
        pairs = zip((*a.sizes, *a.strides), (*b.sizes, *b.strides), strict=True)
        return [self.code.icmp("eq", a.pointer, b.pointer, "ptr"), *(self.code.icmp("eq", x, y) for x, y in pairs)]

    def _syrk(self, x: Matrix, oriented: tuple[str, str, str], z: Matrix, ld: str, out: Buffer, alpha: str) -> None:
        """z = x @ x.T: the triangle above the diagonal, then its mirror image, as NumPy has it
        (https://github.com/numpy/numpy/blob/main/numpy/_core/src/umath/matmul.c.src)."""
        code, element, rows = self.code, out.type.element, z.sizes[0]
        straight = code.icmp("eq", oriented[1], NO, "i8")
        self._call(
            out, "syrk", "void",
            [("i8", LOWER), ("i8", code.select(straight, "i8", YES, NO)), ("i64", rows), ("i64", x.sizes[1]),
             (llvm_type(element), alpha), ("ptr", x.pointer), ("i64", oriented[2]),
             (llvm_type(element), literal(element, 0)), ("ptr", z.pointer), ("i64", ld)],
        )  # fmt: skip
        kind, align = f"i{8 * element.itemsize}", (element.component if element.is_complex else element).itemsize
        with code.loop(rows) as row:
            start = code.offset(z.pointer, kind, code.mul(row.index, ld))
            with code.loop(row.index) as column:
                above = code.add(code.mul(column.index, ld), row.index)
                value = code.inst(f"load {kind}, ptr {code.offset(z.pointer, kind, above)}, align {align}")
                code.do(f"store {kind} {value}, ptr {code.offset(start, kind, column.index)}, align {align}")

    def _gemv(self, a: Matrix, x: Buffer, out: Buffer, alpha: str, labels: tuple[str, str]) -> None:
        """out += a @ x: by one call, or by blocks, as `_gemm`."""
        code = self.code
        oriented, steps = self._oriented(a), [self._step(x), self._step(out)]

        def call(matrix: Operand, sizes: tuple[str, str], starts: tuple[str, str], fresh: str) -> None:
            first, into = [
                (self._vector(v, step, start, size), step)
                for v, step, start, size in zip((x, out), steps, starts, sizes[::-1], strict=True)
            ]
            self._one_gemv(matrix, sizes, first, into, out, alpha, fresh)

        code.branch(code.every([*self._in_range(a.sizes), *map(self._is_step, steps)]), *labels)
        code.place(labels[0])
        along = code.select(code.icmp("sle", a.sizes[1], "1"), "i64", "1", a.strides[1])
        one = code.icmp("eq", a.sizes[0], "1")  # NumPy has a dot of it
        with self._straight([one, *self._in_range((along, steps[0])), *self._has_dot()]):
            self._one_dot(a.sizes[1], (a.pointer, along), (x.pointer, steps[0]), out)
        with self._straight([oriented[0]]):
            call((a.pointer, *oriented[1:]), a.sizes, ("0", "0"), "%fresh")
        sizes = (a.sizes[0], "1", a.sizes[1])
        blocks, (copy, _, _), heap = self._blocks(sizes, (oriented[0], "true", "true"), labels[1])
        with self._each(a.sizes[0], blocks[0]) as (i, rows):
            with self._each(a.sizes[1], blocks[2]) as (k, columns):
                matrix = self._packed(a, oriented, (i, k), (rows, columns), copy)
                call(matrix, (rows, columns), (k, i), self._is_fresh(k))
        self._free(heap)

    def _dot(self, a: Buffer, b: Buffer, out: Buffer, labels: tuple[str, str]) -> None:
        code = self.code
        steps = [self._step(a), self._step(b)]
        code.branch(code.every([*self._in_range((a.sizes[0], *steps)), *self._has_dot()]), *labels)
        code.place(labels[0])
        self._one_dot(a.sizes[0], (a.pointer, steps[0]), (b.pointer, steps[1]), out)

    def _one_dot(self, size: str, a: tuple[str, str], b: tuple[str, str], out: Buffer) -> None:
        """The only element of out += a @ b, or of its negative, of vectors: pointers and increments. Of complex ones
        Fortran's function returns its value in one way or another, and C's stores it."""
        code, element = self.code, out.type.element
        args = [("i64", size), *zip(("ptr", "i64"), a), *zip(("ptr", "i64"), b)]
        if element.is_complex:
            name = f"blas_{_LETTERS[element]}dot{'c' if self.op.conjugated else 'u'}_sub"
            code.imports[name] = ("blas", name.removeprefix("blas_"))
            code.declare(name, "void @(i64, ptr, i64, ptr, i64, ptr)")
            code.call("void", name, [*args, ("ptr", slot := code.slot(ELEMENT_SLOT, 2000))])
            total = code.load(element, slot)
        else:
            total = self._call(out, "dot", llvm_type(element), args)
        found = list[str]()
        for (t, x), (_, y) in zip(components(element, total), components(element, code.load(element, out.pointer))):
            kind = llvm_type(t)
            alone = code.inst(f"fneg {kind} {x}") if self.op.negative else x
            both = code.inst(f"{'fsub' if self.op.negative else 'fadd'} {kind} {y}, {x}")
            found.append(code.select("%fresh", kind, alone, both))
        code.store(element, join_components(found), out.pointer)

    def _has_dot(self) -> list[str]:
        """Conditions: there is a dot of the elements."""
        code = self.code
        if not self.element.is_complex:
            return []
        code.imports["blas_has_subs"] = ("blas", "has_subs")
        code.declare("blas_has_subs", "void @()")
        return [code.icmp("ne", code.inst("load i32, ptr @blas_has_subs"), "0", "i32")]

    @contextmanager
    def _straight(self, conditions: Sequence[str]) -> Iterator[None]:
        """What is done where all conditions hold, and then the function is left; what follows, where not."""
        code = self.code
        straight, other = code.new_label(), code.new_label()
        code.branch(code.every(conditions), straight, other)
        code.place(straight)
        yield
        code.jump(self._end)
        code.place(other)

    # -- blocks
    def _blocks(
        self, sizes: tuple[str, str, str], ok: tuple[str, str, str], fails: str
    ) -> tuple[list[str], list[str], str]:
        """The sizes (m, n, k) of the blocks of a product x @ y = z (m, k by k, n), the place of each operand's copy,
        and what is to be freed (null: nothing).

        Those that are not `ok` are copied block by block, each of at most `LARGE` bytes; all of them at once to the
        stack where they are `SMALL`. `fails` is where it goes on without memory."""
        code, itemsize = self.code, self.element.itemsize
        (m, n, k), (x, y, z) = sizes, ok
        stack = [code.fresh_slot(f"[{SMALL} x i8]", align=64) if fine != "true" else "null" for fine in ok]
        areas = [(fine, code.mul(*pair)) for fine, pair in ((x, (m, k)), (y, (k, n)), (z, (m, n)))]
        fits = [code.inst(f"or i1 {fine}, {code.icmp('sle', area, str(SMALL // itemsize))}") for fine, area in areas]
        before, cut, ready, end = code.label, code.new_label(), code.new_label(), code.new_label()
        code.branch(code.every(fits), end, cut)
        code.place(cut)
        room = LARGE // itemsize
        side = str(1 << (room.bit_length() - 1) // 2)

        def fitting(size: str, *others: tuple[str, str]) -> str:
            for fine, other in others:
                size = code.least(size, code.select(fine, "i64", size, code.inst(f"udiv i64 {room}, {other}")))
            return size

        rows, columns = (
            code.select(code.every([one, z]), "i64", size, code.least(size, side)) for one, size in ((x, m), (y, n))
        )
        depth = fitting(k, (x, rows), (y, columns))
        rows = fitting(m, (x, depth), (z, columns))
        columns = fitting(n, (y, depth), (z, rows))
        ends = ["0"]
        for fine, pair in ((x, (rows, depth)), (y, (depth, columns)), (z, (rows, columns))):
            nbytes = code.select(fine, "i64", "0", code.mul(code.mul(*pair), str(itemsize)))
            ends.append(code.add(ends[-1], code.inst(f"and i64 {code.add(nbytes, '63')}, -64")))
        code.declare("PyMem_RawMalloc", "ptr @(i64)")
        heap = code.call("ptr", "PyMem_RawMalloc", [("i64", ends[-1])])
        code.branch(code.icmp("eq", heap, "null", "ptr"), fails, ready, code.rarely())
        code.place(ready)
        copies = [code.offset(heap, "i8", start) for start in ends[:-1]]
        code.jump(end)
        code.place(end)

        def either(type_: str, small: str, large: str) -> str:
            return code.inst(f"phi {type_} [ {small}, %{before} ], [ {large}, %{ready} ]")

        steps = [either("i64", *pair) for pair in zip(sizes, (rows, columns, depth), strict=True)]
        places = [either("ptr", *pair) for pair in zip(stack, copies, strict=True)]
        return steps, places, either("ptr", "null", heap)

    def _free(self, heap: str) -> None:
        code, free, end = self.code, self.code.new_label(), self.code.new_label()
        code.branch(code.icmp("eq", heap, "null", "ptr"), end, free)
        code.place(free)
        code.declare("PyMem_RawFree", "void @(ptr)")
        code.call("void", "PyMem_RawFree", [("ptr", heap)])
        code.jump(end)
        code.place(end)

    @contextmanager
    def _each(self, size: str, step: str) -> Iterator[tuple[str, str]]:
        """The blocks of an axis: where each begins, and its size."""
        with self.code.loop(size, step=step) as loop:
            yield loop.index, self.code.least(self.code.sub(size, loop.index), step)

    def _at(self, m: Matrix, i: str, j: str) -> str:
        code = self.code
        where = code.add(code.mul(i, m.strides[0]), code.mul(j, m.strides[1]))
        return code.offset(m.pointer, memory_type(self.element), where)

    def _packed(
        self, m: Matrix, oriented: tuple[str, str, str], at: tuple[str, str], sizes: tuple[str, str], stack: str
    ) -> Operand:
        """A block of a matrix for BLAS, copied where it has to be: pointer, orientation, leading dimension."""
        code, (ok, kind, ld) = self.code, oriented
        place, before = self._at(m, *at), code.label
        pack, end = code.new_label(), code.new_label()
        code.branch(ok, end, pack)
        code.place(pack)
        as_it_is = self._is_row_major(m)
        block = self._either(as_it_is, Matrix(place, sizes, m.strides), Matrix(place, sizes, m.strides).transposed)
        self._copy_rows(block, stack)
        copied, last = code.select(as_it_is, "i8", NO, YES), code.label
        code.jump(end)
        code.place(end)
        ways = (("ptr", place, stack), ("i8", kind, copied), ("i64", ld, block.sizes[1]))
        pointer, kind, ld = (code.inst(f"phi {t} [ {a}, %{before} ], [ {b}, %{last} ]") for t, a, b in ways)
        return pointer, kind, ld

    def _is_row_major(self, m: Matrix) -> str:
        return self.code.icmp("sge", *map(self._size, m.strides))

    def _size(self, stride: str) -> str:
        return self.code.intrinsic("llvm.abs.i64", "i64", [("i64", stride), ("i1", "false")])

    def _copy_rows(self, m: Matrix, to: str) -> None:
        code, (rows, columns), (outer, inner) = self.code, m.sizes, m.strides
        kind = f"i{8 * self.element.itemsize}"
        align = (self.element.component if self.element.is_complex else self.element).itemsize
        nbytes = code.mul(columns, str(self.element.itemsize))
        dense = code.icmp("eq", inner, "1")
        with code.loop(rows) as row:
            start = code.offset(m.pointer, kind, code.mul(row.index, outer))
            target = code.offset(to, kind, code.mul(row.index, columns))
            whole, each, end = code.new_label(), code.new_label(), code.new_label()
            code.branch(dense, whole, each)
            code.place(whole)
            code.declare("llvm.memcpy.p0.p0.i64", "void @(ptr, ptr, i64, i1)")
            code.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {start}, i64 {nbytes}, i1 false)")
            code.jump(end)
            code.place(each)
            with code.loop(columns) as one:
                place = code.offset(start, kind, code.mul(one.index, inner))
                value = code.inst(f"load {kind}, ptr {place}, align {align}")
                code.do(f"store {kind} {value}, ptr {code.offset(target, kind, one.index)}, align {align}")
            code.jump(end)
            code.place(end)

    def _unpacked(self, z: Matrix, ok: str, place: str, sizes: tuple[str, str], stack: str, fresh: str) -> None:
        """Adds a block of the product to its place, or stores it there."""
        code, element = self.code, self.element
        store, end = code.new_label(), code.new_label()
        code.branch(ok, end, store)
        code.place(store)
        with code.loop(sizes[0]) as row, code.loop(sizes[1]) as column:
            at = self._at(Matrix(place, sizes, z.strides), row.index, column.index)
            index = code.add(code.mul(row.index, sizes[1]), column.index)
            new = code.load(element, code.offset(stack, memory_type(element), index))
            totals = [
                code.select(fresh, llvm_type(t), v, code.inst(f"fadd {llvm_type(t)} {v}, {w}"))
                for (t, v), (_, w) in zip(components(element, new), components(element, code.load(element, at)))
            ]
            code.store(element, join_components(totals), at)
        code.jump(end)
        code.place(end)

    def _is_fresh(self, k: str) -> str:
        """Whether a block of the product is the first one of a result that is overwritten."""
        return self.code.every(["%fresh", self.code.icmp("eq", k, "0")])

    def _beta(self, fresh: str) -> str:
        nothing, one = (components(self.element, literal(self.element, v)) for v in (0, 1))
        return join_components(
            [self.code.select(fresh, llvm_type(t), x, y) for (t, x), (_, y) in zip(nothing, one, strict=True)]
        )

    # -- what BLAS can take
    def _rows(self, m: Matrix) -> tuple[str, str]:
        """(whether rows are contiguous and do not overlap, the leading dimension). The stride of a single row, or of a
        single column, does not matter."""
        code, (rows, columns), (outer, inner) = self.code, m.sizes, m.strides
        ld = code.select(code.icmp("sle", rows, "1"), "i64", columns, outer)
        unit = code.inst(f"or i1 {code.icmp('eq', inner, '1')}, {code.icmp('sle', columns, '1')}")
        return code.every(
            [unit, code.icmp("sge", ld, columns), code.icmp("sle", ld, _LIMIT), code.icmp("sge", ld, "1")]
        ), ld

    def _oriented(self, m: Matrix) -> tuple[str, str, str]:
        """(whether BLAS can take it, "N" if its rows are contiguous else "T", the leading dimension)."""
        code = self.code
        (rows, ld), (columns, other) = self._rows(m), self._rows(m.transposed)
        ok = code.inst(f"or i1 {rows}, {columns}")
        return ok, code.select(rows, "i8", NO, YES), code.select(rows, "i64", ld, other)

    def _either(self, condition: str, a: Matrix, b: Matrix) -> Matrix:
        code = self.code

        def pick(x: str, y: str) -> str:
            return code.select(condition, "i64", x, y)

        sizes = pick(a.sizes[0], b.sizes[0]), pick(a.sizes[1], b.sizes[1])
        strides = pick(a.strides[0], b.strides[0]), pick(a.strides[1], b.strides[1])
        return Matrix(code.select(condition, "ptr", a.pointer, b.pointer), sizes, strides)

    def _step(self, vector: Buffer) -> str:
        """A vector's increment; 1 where there is only one element."""
        return self.code.select(self.code.icmp("sle", vector.sizes[0], "1"), "i64", "1", vector.strides[0])

    def _is_step(self, step: str) -> str:
        """Whether BLAS takes an increment: any but 0."""
        return self._in_range([self._size(step)])[0]

    def _vector(self, vector: Buffer, step: str, start: str, size: str) -> str:
        """The pointer to a part of a vector: its lowest element, which is its last where the increment is negative."""
        code = self.code
        backward = code.icmp("slt", step, "0")
        first = code.select(backward, "i64", code.sub(code.add(start, size), "1"), start)
        return code.offset(vector.pointer, memory_type(self.element), code.mul(first, step))

    def _in_range(self, values: Sequence[str]) -> list[str]:
        """Conditions: each is from 1 to the largest 32-bit integer."""
        return [self.code.inst(f"icmp ult i64 {self.code.sub(v, '1')}, {_LIMIT}") for v in dict.fromkeys(values)]

    def _call(self, out: Buffer, routine: str, result: str, args: Sequence[tuple[str, str]]) -> str:
        """A BLAS call: what is not a pointer goes by address. Integers have 64 bits in memory, of which those libraries
        that have shorter ones read the lower half."""
        code = self.code
        element = out.type.element
        name = _LETTERS[element] + routine
        code.imports[f"blas_{name}"] = ("blas", name)
        code.declare(f"blas_{name}", f"{result} @({', '.join('ptr' for _ in args)})")
        passed = []
        for k, (type_, value) in enumerate(args):
            if type_ == "ptr":
                passed.append(("ptr", value))
                continue
            if element.is_complex and type_ == llvm_type(element):
                code.store(element, value, slot := code.slot(ELEMENT_SLOT, 2000 + k))
                passed.append(("ptr", slot))
                continue
            slot = code.slot("i64", 2000 + k)
            code.do(f"store {type_} {value}, ptr {slot}")
            passed.append(("ptr", slot))
        return code.call(result, f"blas_{name}", passed)


def _zero(nest: Nest) -> Nest:
    """The nest that fills the product's out with zero."""
    out = nest.spec.types[2]
    assert isinstance(out, MemRefType)
    body = Block([out.element, out.element])
    body.append(la.Yield.of([body.args[0]], UNKNOWN))
    maps = (la.AffineMap(out.rank, ()), la.identity_map(out.rank))
    return plan(la.Spec(la.Fill.name, (out.element, out), maps, ("parallel",) * out.rank, 1, body))
