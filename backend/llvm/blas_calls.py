"""Float products through BLAS: gemm, gemv, dot by pointer, straight into strided sub-views, with loops where strides
forbid it.

All products of a kind are one function, which programs share, so that one of many products is not long to compile.
BLAS is column-major; a row-major C = A B is read as C^T = B^T A^T. Which operand is to be called transposed, its
leading dimension, and whether BLAS can be called at all (a unit stride, sizes and leading dimensions of 32 bits,
nothing empty) is decided at run time by a few integer instructions. Arguments are passed by address, from stack slots
in the entry block. Beta is 1, or 0 where the fill with zero before the product was left out; then the loops fill
first.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracebuf.backend.llvm.code import Code, literal
from tracebuf.backend.llvm.loops import Around, Buffer, NestWriter, Scopes
from tracebuf.backend.llvm.polls import Polls
from tracebuf.backend.llvm.scalars import ELEMENT_SLOT
from tracebuf.frozen import frozen
from tracebuf.ir.core import Block
from tracebuf.ir.dims import Sym
from tracebuf.ir.emitter import components, join_components, llvm_type
from tracebuf.ir.types import C64, C128, F32, F64, MemRefType, ScalarType
from tracebuf.location import UNKNOWN
from tracebuf.lower.plan import Nest, plan
from tracebuf.ops.arrays import linalg as la

_LETTERS = {F32: "s", F64: "d", C64: "c", C128: "z"}


def by_blas(op: la.Contraction, element: ScalarType) -> bool:
    """Whether BLAS has this product; complex dot products, whose return convention varies, are loops."""
    return element in _LETTERS and not (element.is_complex and isinstance(op, la.Dot))


_LIMIT = str(2**31 - 1)


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
        code.products[name] = code.share(writer.code, name, writer.write())
    parts = [part for b in operands for part in (("ptr", b.pointer), *(("i64", v) for v in (*b.sizes, *b.strides)))]
    polls.resume(code.call("i64", code.products[name], [*polls.state(), ("i1", str(overwrite).lower()), *parts]))


class ProductWriter:
    """Writes the function of one kind of product, of operands of any sizes and strides."""

    def __init__(self, code: Code, op: la.Contraction, element: ScalarType) -> None:
        self.code, self.op, self.element = code, op, element
        self.polls = Polls(code, "%context", "stopped", "%left")
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
        call, loops, end = code.new_label(), code.new_label(), code.new_label()
        nothing, one = (components(element, literal(element, v)) for v in (0, 1))
        beta = [code.select("%fresh", llvm_type(t), x, y) for (t, x), (_, y) in zip(nothing, one, strict=True)]
        factors = literal(element, -1 if self.op.negative else 1), join_components(beta)
        a, b, out = self.operands
        if isinstance(self.op, la.MatMul):
            self._gemm(matrix(a), matrix(b), matrix(out), out, factors, (call, loops))
        elif isinstance(self.op, la.MatVec):
            self._gemv(matrix(a), b, out, factors, (call, loops))
        elif isinstance(self.op, la.VecMat):
            self._gemv(matrix(b).transposed, a, out, factors, (call, loops))
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

    def _gemm(
        self, a: Matrix, b: Matrix, c: Matrix, out: Buffer, factors: tuple[str, str], labels: tuple[str, str]
    ) -> None:
        code, (alpha, beta) = self.code, factors
        as_it_is, _ = self._rows(c)
        x, y = self._either(as_it_is, a, b.transposed), self._either(as_it_is, b, a.transposed)
        z = self._either(as_it_is, c, c.transposed)
        z_ok, z_ld = self._rows(z)
        (x_ok, x_t, x_ld), (y_ok, y_t, y_ld) = self._oriented(x), self._oriented(y)
        sizes = (z.sizes[1], z.sizes[0], x.sizes[1])
        code.branch(code.every([z_ok, x_ok, y_ok, *self._in_range(sizes)]), *labels)
        code.place(labels[0])
        element = llvm_type(out.type.element)
        self._call(
            out, "gemm", "void",
            [("i8", y_t), ("i8", x_t), *(("i32", s) for s in sizes), (element, alpha), ("ptr", y.pointer),
             ("i32", y_ld), ("ptr", x.pointer), ("i32", x_ld), (element, beta), ("ptr", z.pointer), ("i32", z_ld)],
        )  # fmt: skip

    def _gemv(self, a: Matrix, x: Buffer, out: Buffer, factors: tuple[str, str], labels: tuple[str, str]) -> None:
        code, (alpha, beta) = self.code, factors
        ok, transposed, ld = self._oriented(a)
        m = code.select(code.icmp("eq", transposed, "78", "i8"), "i64", a.sizes[1], a.sizes[0])  # 78 is "N"
        n = code.select(code.icmp("eq", transposed, "78", "i8"), "i64", a.sizes[0], a.sizes[1])
        steps = [self._step(x), self._step(out)]
        code.branch(code.every([ok, *self._in_range((m, n, *steps))]), *labels)
        code.place(labels[0])
        element = llvm_type(out.type.element)
        flipped = code.select(code.icmp("eq", transposed, "78", "i8"), "i8", "84", "78")
        self._call(
            out, "gemv", "void",
            [("i8", flipped), ("i32", m), ("i32", n), (element, alpha), ("ptr", a.pointer), ("i32", ld),
             ("ptr", x.pointer), ("i32", steps[0]), (element, beta), ("ptr", out.pointer), ("i32", steps[1])],
        )  # fmt: skip

    def _dot(self, a: Buffer, b: Buffer, out: Buffer, labels: tuple[str, str]) -> None:
        code, element = self.code, llvm_type(out.type.element)
        steps = [self._step(a), self._step(b)]
        code.branch(code.every(self._in_range((a.sizes[0], *steps))), *labels)
        code.place(labels[0])
        args = [("i32", a.sizes[0]), ("ptr", a.pointer), ("i32", steps[0]), ("ptr", b.pointer), ("i32", steps[1])]
        total = self._call(out, "dot", element, args)
        before = code.load(out.type.element, out.pointer)
        added = code.inst(f"fadd {element} {before}, {total}")
        code.store(out.type.element, code.select("%fresh", element, total, added), out.pointer)

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
        return ok, code.select(rows, "i8", "78", "84"), code.select(rows, "i64", ld, other)

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

    def _in_range(self, values: Sequence[str]) -> list[str]:
        """Conditions: each is from 1 to the largest 32-bit integer."""
        return [self.code.inst(f"icmp ult i64 {self.code.sub(v, '1')}, {_LIMIT}") for v in dict.fromkeys(values)]

    def _call(self, out: Buffer, routine: str, result: str, args: Sequence[tuple[str, str]]) -> str:
        """A BLAS call: what is not a pointer goes by address; 64-bit integers are cut to 32."""
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
            stored = code.inst(f"trunc i64 {value} to i32") if type_ == "i32" and value[0] == "%" else value
            code.do(f"store {type_} {stored}, ptr {slot}")
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
