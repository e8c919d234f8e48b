"""Structured ops in destination-passing style: linalg.generic, fill and the matrix products. MLIR counterpart: the
linalg dialect.

On tensors an op has one result per `outs` operand, tied to it; on memrefs it has none and writes its outs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any, ClassVar

import numpy as np

from tracebuf.errors import InternalError
from tracebuf.ir.attributes import Attr, array_of, segments
from tracebuf.ir.clone import clone_region
from tracebuf.ir.core import (
    Alias,
    Block,
    Effect,
    Effects,
    Facts,
    Form,
    FormError,
    Interpreter,
    Op,
    Region,
    Rewriter,
    Use,
    Value,
    is_buffer,
)
from tracebuf.ir.dims import Dim
from tracebuf.ir.types import I1, MemRefType, ScalarType, ShapedType, TensorType, Type
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.arrays.gather import check_whole
from tracebuf.ops.control.func import check_blocks
from tracebuf.ops.control.structure import Index as Index
from tracebuf.ops.control.structure import Spec as Spec
from tracebuf.ops.control.structure import Yield as Yield
from tracebuf.ops.memory.indexing import AffineMap as AffineMap
from tracebuf.ops.memory.indexing import gather_result, iteration_shape, parse_maps, reduce_exactly, spread_operand
from tracebuf.ops.memory.indexing import identity_map as identity_map
from tracebuf.ops.scalars import arith, complex

ANY_ORDER = (
    arith.AddI, arith.MulI, arith.AndI, arith.OrI, arith.XorI, arith.MaxSI, arith.MinSI, arith.MaxUI, arith.MinUI,
    arith.MaximumF, arith.MinimumF, arith.MaxNumF, arith.MinNumF,
)  # fmt: skip
"""Ops that fold elements in any order with equal results."""


class DestinationOp(Op):
    """Destination-passing style: `n_ins` inputs, then the outs (MLIR: DestinationStyleOpInterface).

    operands: n_ins inputs (tensors, memrefs or scalars), the outs (tensors or memrefs); results: on tensors 1 for each
    out, aliases it; on memrefs none; attrs: n_ins. A subclass says what it computes by `evaluate`, and how by `spec`:
    then it is loops in native code. Without a spec native code calls `evaluate` back.
    """

    __slots__ = ()
    gives = "tensor*"
    levels = frozenset({"tensor", "memref"})

    def spec(self, types: Sequence[Type]) -> Spec | None:
        """The op as loops over operands of these types (tensors or memrefs); None if there is no such form."""
        return None

    @classmethod
    def from_form(cls, form: Form) -> Op:
        attrs: dict[str, Any] = {"n_ins": cls.count_inputs(form)}
        tie_outs(form, attrs["n_ins"])
        return cls.rebuilt(form.operands, form.result_types, form.loc, attrs | form.attrs, form.regions)

    @classmethod
    def count_inputs(cls, form: Form) -> int:
        """The number of operands that are inputs, taken out of the form."""
        return len(form.segments(2)[0])

    def to_form(self) -> Form:
        return self.form_with({"operandSegmentSizes": segments(self.n_ins, len(self.uses) - self.n_ins)})

    @property
    def n_ins(self) -> int:
        n: int = self.attrs["n_ins"]
        return n

    @property
    def in_uses(self) -> list[Use]:
        return self.uses[: self.n_ins]

    @property
    def out_uses(self) -> list[Use]:
        return self.uses[self.n_ins :]

    @property
    def on_tensors(self) -> bool:
        return bool(self.results)

    def reads_out(self, use: Use) -> bool:
        """Whether the op reads the destination's old contents."""
        return True

    def reads_in(self, use: Use) -> bool:
        return True

    def effects(self) -> Effects | None:
        """On buffers it reads and writes as `reads_in` and `reads_out` say; on tensors it does nothing to memory."""
        found: list[tuple[Effect, Value]] = []
        n_ins = self.n_ins
        for use in self.uses:
            if is_buffer(use.value):
                if self.reads_in(use) if use.index < n_ins else self.reads_out(use):
                    found.append((Effect.READ, use.value))
                if use.index >= n_ins:
                    found.append((Effect.WRITE, use.value))
        return tuple(found)

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return self.reads_in(use) if use.index < self.n_ins else self.reads_out(use)

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return use.index >= self.n_ins

    def aliasing_values(self, use: Use) -> list[Alias]:
        return [Alias(self.results[use.index - self.n_ins])] if use.index >= self.n_ins else []

    def elementwise_access(self, a: Use, b: Use) -> bool:
        spec = self.spec([v.type for v in self.operands])
        return spec is not None and spec.all_parallel and all(spec.maps[u.index].is_identity for u in (a, b))

    def bufferize(self, rewriter: Rewriter) -> None:
        operands = [rewriter.buffer(u) if u.value.is_tensor else rewriter.value(u.value) for u in self.uses]
        regions = [self._body_of(r, rewriter, operands) for r in self.regions]
        rewriter.add(self.rebuilt(operands, [], self.loc, dict(self.attrs), regions))
        for use, result in zip(self.out_uses if self.results else [], self.results, strict=True):
            rewriter.replace(result, operands[use.index])

    def _body_of(self, region: Region, rewriter: Rewriter, buffers: Sequence[Value]) -> Region:
        """A copy of the region, in which arguments for whole operands have these buffers' types; where MLIR text uses
        tensors from outside in a body, with their buffers."""
        block, end = region.block, region.block.terminator
        if not any(v.is_tensor and v.owner is not block for op in region.walk() for v in op.operands):
            copy = clone_region(region, {})
            for arg, buffer in zip(copy.block.args, buffers):
                arg.type = buffer.type if arg.is_tensor else arg.type
            return copy

        def yields() -> None:
            rewriter.add(Yield.of([rewriter.value(v) for v in end.operands], end.loc))

        return rewriter.body(block, [a.type for a in block.args], block.args, yields).region


def tie_outs(form: Form, n_ins: int) -> None:
    """Gives the results the sizes of the outs."""
    outs = [v for v in form.operands[n_ins:] if v.is_tensor]
    others = [v.type for v in form.operands[n_ins:] if not v.is_tensor]
    if not all(isinstance(t, MemRefType) for t in others) or (outs and others):
        raise FormError(f"{form.name}: what it writes to is neither all tensors nor all memrefs")
    form.expect(results=len(outs))
    for i, out in enumerate(outs):
        form.tie(i, out)


class Generic(DestinationOp):
    """`linalg.generic`: a scalar body over an iteration space; np ufuncs, where, reductions, and what fusion makes of
    them.

    operands: n_ins inputs (tensors, memrefs or scalars), the outs; results: on tensors 1 for each out, aliases it;
    attrs: n_ins, maps (an AffineMap for each operand; without results for scalars), iterators ("parallel" | "reduction"
    for each loop); regions: 1, the body, with an argument for each operand. A reduction's body combines a new element
    with its out argument, in the op that is yielded; sums may be reassociated (rule C2).
    """

    __slots__ = ()
    name = "linalg.generic"
    region_ends = ("linalg.yield",)

    @classmethod
    def of(
        cls,
        ins: Sequence[Value],
        outs: Sequence[Value],
        maps: Sequence[AffineMap],
        iterators: Sequence[str],
        body: Block,
        loc: Location = UNKNOWN,
    ) -> Generic:
        """`maps`: one for each of `ins` and `outs`; `iterators`: "parallel" or "reduction" for each loop; `body`: see
        the class."""
        results = [o.type for o in outs if isinstance(o.type, TensorType)]
        attrs = {"n_ins": len(ins), "maps": tuple(maps), "iterators": tuple(iterators)}
        return cls([*ins, *outs], results, loc, attrs, [Region(body)])

    @classmethod
    def from_form(cls, form: Form) -> Op:
        attrs: dict[str, Any] = {"n_ins": cls.count_inputs(form), "maps": parse_maps(form, len(form.operands))}
        tie_outs(form, attrs["n_ins"])
        attrs["iterators"] = tuple(form.take("iterator_types", kind=list))
        check_blocks(form, "linalg.yield")
        return cls.rebuilt(form.operands, form.result_types, form.loc, attrs | form.attrs, form.regions)

    def to_form(self) -> Form:
        maps = array_of((Attr(str(m)) for m in self.maps), inherent=True)
        kinds = array_of((Attr(f"#linalg.iterator_type<{i}>") for i in self.iterators), inherent=True)
        form = super().to_form()
        return replace(form, attrs={"indexing_maps": maps, "iterator_types": kinds} | form.attrs)

    @property
    def body(self) -> Block:
        return self.regions[0].block

    @property
    def maps(self) -> tuple[AffineMap, ...]:
        maps: tuple[AffineMap, ...] = self.attrs["maps"]
        return maps

    @property
    def iterators(self) -> tuple[str, ...]:
        iterators: tuple[str, ...] = self.attrs["iterators"]
        return iterators

    @property
    def all_parallel(self) -> bool:
        return all(i == "parallel" for i in self.iterators)

    def loop_dims(self) -> tuple[Dim, ...]:
        """The size of each loop, read off the operands' types."""
        found: dict[int, Dim] = {}
        for use, map_ in zip(self.uses, self.maps, strict=True):
            if isinstance(use.value.type, ShapedType) and not map_.whole:
                for r, size in zip(map_.results, use.value.type.shape, strict=True):
                    if r is not None:
                        found.setdefault(r, size)
        return tuple(found[d] for d in range(len(self.iterators)))

    def verify(self) -> None:
        if len(self.maps) != len(self.uses) or len(self.body.args) != len(self.uses):
            raise InternalError("linalg.generic: operands, maps and block arguments differ in number")
        for use, map_, arg in zip(self.uses, self.maps, self.body.args, strict=True):
            type_ = use.value.type
            if map_.whole:
                check_whole(self, use, arg)
                continue
            element = type_.element if isinstance(type_, ShapedType) else type_
            rank = type_.rank if isinstance(type_, ShapedType) else 0
            if len(map_.results) != rank or map_.n_dims != len(self.iterators) or arg.type != element:
                raise InternalError(f"linalg.generic: operand {use.index} ({type_}) does not fit {map_} and {arg.type}")
        told = {r for map_ in self.maps if not map_.whole for r in map_.results}
        if missing := set(range(len(self.iterators))) - told:
            raise InternalError(f"linalg.generic: no map tells the size of loop {min(missing)}")

    def reads_in(self, use: Use) -> bool:
        return bool(self.body.args[use.index].uses)

    reads_out = reads_in

    @property
    def may_raise(self) -> bool:
        return any(op.may_raise for op in self.body.ops)

    def elementwise_access(self, a: Use, b: Use) -> bool:
        """Each iteration has elements of its own, whatever it carries to the next (a running sum)."""
        return self.maps[a.index].is_identity and self.maps[b.index].is_identity

    def spec(self, types: Sequence[Type]) -> Spec | None:
        if not all(m.runs for m in self.maps):
            return None
        ordered = self.attrs.get("ordered", False)
        return Spec(self.name, tuple(types), self.maps, self.iterators, self.n_ins, self.body, ordered)

    def combiner(self, out: Use, also: tuple[type[Op], ...] = ()) -> tuple[Op, Value] | None:
        """(the op that folds a new element into this out, the new element), where the body has that form and the op is
        one whose order is free, a sum, or one of `also`."""
        arg = self.body.args[out.index]
        op = self.body.terminator.operand(out.index - self.n_ins).defining_op
        if op is None or len(arg.uses) != 1 or next(iter(arg.uses)).op is not op or len(op.uses) != 2:
            return None
        others = [v for v in op.operands if v is not arg]
        alone = len(others) == 1 and len(op.result.uses) == 1
        return (op, others[0]) if alone and isinstance(op, (arith.AddF, complex.Add, *ANY_ORDER, *also)) else None

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        shape = iteration_shape(self.maps, args, len(self.iterators))
        if 0 in shape:
            return [a.copy(order="K") for a in args[self.n_ins :]]
        spread = [spread_operand(a, m, shape) for a, m in zip(args, self.maps, strict=True)]
        if self.all_parallel:
            yielded = run_body(self.body, spread, interpreter, places=np.ogrid[tuple(map(slice, shape))])
            return [
                gather_result(y, m, shape, o)
                for y, m, o in zip(yielded, self.maps[self.n_ins :], args[self.n_ins :], strict=True)
            ]
        return self._evaluate_reduction(interpreter, args, spread, shape)

    def _evaluate_reduction(
        self, interpreter: Interpreter, args: list[Any], spread: list[Any], shape: tuple[int, ...]
    ) -> list[Any]:
        results = []
        for use in self.out_uses:
            out, map_ = args[use.index], self.maps[use.index]
            found = self.combiner(use)
            if found is None:
                return self._evaluate_one_by_one(interpreter, args, shape)
            op, element = found
            places = np.ogrid[tuple(map(slice, shape))]
            values = run_body(self.body, spread, interpreter, wanted=[element], places=places)[0]
            full = np.broadcast_to(values, shape)
            axes = tuple(d for d in range(len(shape)) if d not in map_.results)
            order = [d for d in range(len(shape)) if d not in axes]
            reference = type(op).reference  # type: ignore[attr-defined]
            if isinstance(op, (arith.MaxUI, arith.MinUI)):
                full, out = arith.as_unsigned(full), arith.as_unsigned(out)
            with np.errstate(all="ignore"):
                reduced = full if not axes else reduce_exactly(reference, full, axes)
                kept = [r for r in map_.results if r is not None]
                if kept and reduced is not None:
                    reduced = np.asarray(reduced).transpose([order.index(d) for d in kept])
                target = out if reduced is None else reference(out, np.reshape(reduced, out.shape))
            results.append(np.asarray(target).astype(args[use.index].dtype))
        return results

    def _evaluate_one_by_one(self, interpreter: Interpreter, args: list[Any], shape: tuple[int, ...]) -> list[Any]:
        outs = [a.copy(order="K") for a in args[self.n_ins :]]
        operands = [*args[: self.n_ins], *outs]
        for point in product(*map(range, shape)):
            places = [tuple(0 if r is None else point[r] for r in m.results) for m in self.maps]
            scalars = [a[p] if isinstance(a, np.ndarray) else a for a, p in zip(operands, places, strict=True)]
            yielded = run_body(self.body, scalars, interpreter, places=point)
            for out, place, y in zip(outs, places[self.n_ins :], yielded, strict=True):
                out[place] = y
        return outs


def run_body(
    body: Block,
    args: Sequence[Any],
    interpreter: Interpreter,
    wanted: Sequence[Value] | None = None,
    places: Sequence[Any] = (),
) -> list[Any]:
    """The body on whole arrays (or scalars) at these loop indices: what it yields, or the `wanted` values."""
    env: dict[Value, Any] = dict(zip(body.args, args, strict=True))
    targets = body.terminator.operands if wanted is None else list(wanted)
    for op in body.ops[:-1]:
        if isinstance(op, Index):
            env[op.result] = places[op.dim]
        elif all(v in env for v in op.operands) and not all(t in env for t in targets):
            env.update(zip(op.results, op.evaluate(interpreter, [env[v] for v in op.operands]), strict=True))
    return [env[t] for t in targets]


class PlainOp(DestinationOp):
    """An op that its name and types determine: MLIR's region of it is dropped when it is read, and made when it is
    printed. One with another region (that converts elements), or with other maps, is read as the class in `general`."""

    __slots__ = ()
    n_operands: ClassVar[int] = 3
    general: ClassVar[dict[str, type[DestinationOp]]] = {}
    """By name; `ops.named` fills it."""

    @classmethod
    def from_form(cls, form: Form) -> Op:
        check_blocks(form, "linalg.yield")
        maps = form.attrs.get("indexing_maps")
        types = [element_type(v.type) for v in form.operands]
        if (maps is not None and maps.value != cls.plain_maps()) or not cls.is_plain(form.regions[0].block, types):
            if cls.name not in cls.general:
                raise FormError(f"{cls.name}: the region does not compute what the name says")
            return cls.general[cls.name].from_form(form)
        form.attrs.pop("indexing_maps", None)
        form.regions = []
        return super().from_form(form)

    def to_form(self) -> Form:
        body = Block([element_type(v.type) for v in self.operands])
        body.append(Yield.of([self.payload(body)], UNKNOWN))
        form = replace(super().to_form(), regions=[Region(body)])
        if maps := self.plain_maps():
            form.attrs["indexing_maps"] = array_of(map(Attr, maps), inherent=True)
        return form

    @classmethod
    def plain_maps(cls) -> list[str] | None:
        """The `indexing_maps` that MLIR shows where the op has that attribute."""
        return None

    @classmethod
    def is_plain(cls, body: Block, types: Sequence[ScalarType]) -> bool:
        """Whether a region computes what the name says, without converting elements."""
        if len(set(types)) != 1 or len(types) != cls.n_operands:
            return False
        wanted = Block(types)
        wanted.append(Yield.of([cls.payload(wanted)], UNKNOWN))
        return _same_ops(body, wanted)

    @classmethod
    def payload(cls, body: Block) -> Value:
        """What the region yields; its ops are added to the block."""
        raise NotImplementedError(cls.name)


def _same_ops(a: Block, b: Block) -> bool:
    """Whether two blocks of scalar ops are the same, attributes aside only where there are none."""
    if [v.type for v in a.args] != [v.type for v in b.args] or len(a.ops) != len(b.ops):
        return False
    same = dict(zip(a.args, b.args))
    for x, y in zip(a.ops, b.ops):
        if x.name != y.name or x.attrs or y.attrs or [same.get(v) for v in x.operands] != y.operands:
            return False
        same.update(zip(x.results, y.results))
    return True


class Fill(PlainOp):
    """`linalg.fill`: every element one scalar (np.zeros, np.ones, a[...] = x). Does not read its destination.

    operands: scalar, out (tensor or memref); results: on tensors 1, aliases out; attrs: n_ins.
    """

    __slots__ = ()
    name, n_operands = "linalg.fill", 2

    @classmethod
    def of(cls, scalar: Value, out: Value, loc: Location = UNKNOWN) -> Fill:
        return cls([scalar, out], [out.type] if out.is_tensor else [], loc, {"n_ins": 1})

    @classmethod
    def payload(cls, body: Block) -> Value:
        return body.args[0]

    def reads_out(self, use: Use) -> bool:
        return False

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        result = np.empty_like(args[1])
        result[...] = args[0]
        return [result]

    def spec(self, types: Sequence[Type]) -> Spec:
        assert isinstance(types[1], ShapedType)
        out, element = identity_map(types[1].rank), types[1].element
        body = Block([element, element])
        body.append(Yield.of([body.args[0]], self.loc))
        return Spec(self.name, tuple(types), (AffineMap(out.n_dims, ()), out), ("parallel",) * out.n_dims, 1, body)


class Contraction(PlainOp):
    """A matrix product accumulated into its destination: out += a @ b, or out -= a @ b where `negative`. Native code
    calls BLAS where that has the product, else loops.

    operands: a, b, out (tensors or memrefs of one element type); results: on tensors 1, aliases out; attrs: n_ins.
    """

    __slots__ = ()
    negative: ClassVar[bool] = False
    conjugated: ClassVar[bool] = False
    """Whether `a` is conjugated."""
    axes: ClassVar[tuple[tuple[int, ...], ...]]
    """The loops of each operand's axes."""
    loops: ClassVar[str]
    """The kind of each loop: "p" parallel, "r" reduction."""

    @classmethod
    def of(
        cls, a: Value, b: Value, out: Value, loc: Location = UNKNOWN, negative: bool = False, conjugated: bool = False
    ) -> Contraction:
        """The class for the ranks of `a` and `b`, each 1 or 2; `negative`: out -= a @ b (not for two vectors);
        `conjugated`: out += conj(a) @ b (for two vectors alone)."""
        kinds = {(2, 2): MatMul, (2, 1): MatVec, (1, 2): VecMat, (1, 1): Dot}
        if conjugated:
            kinds = {(1, 1): DotC}
        if negative:
            kinds = {(2, 2): MatMulSub, (2, 1): MatVecSub, (1, 2): VecMatSub}
        ranks = tuple(v.type.rank if isinstance(v.type, ShapedType) else -1 for v in (a, b))
        return kinds[ranks]([a, b, out], [out.type] if out.is_tensor else [], loc, {"n_ins": 2})  # type: ignore[index]

    @classmethod
    def payload(cls, body: Block) -> Value:
        a, b, out = body.args
        times, plus = _ring(element_type(out.type))
        if cls.conjugated:
            body.append(opposite := complex.Conj.of(a, UNKNOWN))
            a = opposite.result
        body.append(product := times.of(a, b, UNKNOWN))
        term = product.result
        if cls.negative:
            body.append(minus := (complex.Neg if times is complex.Mul else arith.NegF).of(term, UNKNOWN))
            term = minus.result
        body.append(total := plus.of(out, term, UNKNOWN))
        return total.result

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        a, b, out = args
        with np.errstate(all="ignore"):
            product = np.asarray(np.vdot(a, b) if self.conjugated else np.matmul(a, b))
            if product.shape != out.shape:
                raise ValueError(f"a product of shape {product.shape} for {out.shape}")
            return [np.asarray((np.subtract if self.negative else np.add)(out, product), dtype=out.dtype)]

    def spec(self, types: Sequence[Type]) -> Spec:
        """Loops over the axes as MLIR's named op has them, i, k, j for a matrix product."""
        body = Block([element_type(types[2])] * 3)
        body.append(Yield.of([self.payload(body)], UNKNOWN))
        names = tuple({"p": "parallel", "r": "reduction"}[i] for i in self.loops)
        maps = tuple(AffineMap(len(names), m) for m in self.axes)
        return Spec(self.name, tuple(types), maps, names, 2, body)


def _ring(element: ScalarType) -> tuple[type[arith.BinaryOp], type[arith.BinaryOp]]:
    """The ops for the product and the sum of elements."""
    if element.is_float or element.is_complex:
        return (complex.Mul, complex.Add) if element.is_complex else (arith.MulF, arith.AddF)
    return (arith.AndI, arith.OrI) if element == I1 else (arith.MulI, arith.AddI)


class MatMul(Contraction):
    """`linalg.matmul`: out += a @ b. operands: a (m, k), b (k, n), out (m, n); results: on tensors 1, aliases out."""

    __slots__ = ()
    name = "linalg.matmul"
    axes, loops = ((0, 1), (1, 2), (0, 2)), "prp"

    @classmethod
    def plain_maps(cls) -> list[str] | None:
        loops, operands = "(d0, d1, d2)", ("(d0, d2)", "(d2, d1)", "(d0, d1)")
        return None if cls.negative else [f"affine_map<{loops} -> {r}>" for r in operands]


class MatVec(Contraction):
    """`linalg.matvec`: out += a @ b. operands: a (m, k), b (k,), out (m,); results: on tensors 1, aliases out."""

    __slots__ = ()
    name = "linalg.matvec"
    axes, loops = ((0, 1), (1,), (0,)), "pr"


class VecMat(Contraction):
    """`linalg.vecmat`: out += a @ b. operands: a (k,), b (k, n), out (n,); results: on tensors 1, aliases out."""

    __slots__ = ()
    name = "linalg.vecmat"
    axes, loops = ((0,), (0, 1), (1,)), "rp"


class Dot(Contraction):
    """`linalg.dot`: out += a @ b. operands: a (k,), b (k,), out (); results: on tensors 1, aliases out."""

    __slots__ = ()
    name = "linalg.dot"
    axes, loops = ((0,), (0,), ()), "r"


class DotC(Dot):
    """`tracebuf.dotc`: out += conj(a) @ b, for which MLIR has no op; the name is BLAS's. operands: a (k,), b (k,),
    out (), complex; results: on tensors 1, aliases out."""

    __slots__ = ()
    name, conjugated = "tracebuf.dotc", True


class MatMulSub(MatMul):
    """`tracebuf.matmul_sub`: out -= a @ b, for which MLIR has no op. operands: a (m, k), b (k, n), out (m, n); results:
    on tensors 1, aliases out."""

    __slots__ = ()
    name, negative = "tracebuf.matmul_sub", True


class MatVecSub(MatVec):
    """`tracebuf.matvec_sub`: out -= a @ b. operands: a (m, k), b (k,), out (m,); results: on tensors 1, aliases out."""

    __slots__ = ()
    name, negative = "tracebuf.matvec_sub", True


class VecMatSub(VecMat):
    """`tracebuf.vecmat_sub`: out -= a @ b. operands: a (k,), b (k, n), out (n,); results: on tensors 1, aliases out."""

    __slots__ = ()
    name, negative = "tracebuf.vecmat_sub", True


def element_type(type_: Type) -> ScalarType:
    """The element type of an operand of a structured op (a scalar's own)."""
    if isinstance(type_, ShapedType):
        return type_.element
    assert isinstance(type_, ScalarType)
    return type_
