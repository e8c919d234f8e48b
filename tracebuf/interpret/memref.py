"""The memref program on the memory of `tracebuf.interpret.memory`, one op at a time, every misuse a `MemoryFault`.

Why: native code that reads stale or freed memory mostly gives the right answer; here it never does. Besides the
memory's own faults this knows the *hazard*: a linalg op or a copy whose output overlaps an input other than element for
element, since native loops run element by element while the NumPy reference computes everything first. What np.empty
left undefined may be copied (by memref.copy, by a generic that yields its input, by arith.select that does not choose
it), not computed with. Programs of MLIR text may have tensors beside buffers: these are values, as in
`tracebuf.interpret.tensor`. Limitations: only as fast as fuzzing needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import permutations
from math import prod
from typing import Any

import numpy as np

from tracebuf.errors import InternalError
from tracebuf.frozen import frozen
from tracebuf.interpret import Known, Runner, Watch
from tracebuf.interpret.memory import POISON, Buffer, Counts, Memory, MemoryFault, MemRef
from tracebuf.interpret.places import Places
from tracebuf.interpret.tensor import argument, evaluated
from tracebuf.ir.core import Op, Use, Value, join_mixed
from tracebuf.ir.dense import dense_array
from tracebuf.ir.func import Func
from tracebuf.ir.types import INDEX, MemRefType, ShapedType, TensorType, is_unnamed
from tracebuf.ir.verifier import where
from tracebuf.ops.arrays import bufferization, linalg, vector
from tracebuf.ops.arrays.gather import Element
from tracebuf.ops.arrays.linalg import AffineMap
from tracebuf.ops.arrays.pick import Pick
from tracebuf.ops.arrays.scatter import Scatter
from tracebuf.ops.control import checks, scf
from tracebuf.ops.control.cf import Assert
from tracebuf.ops.control.forall import Forall
from tracebuf.ops.control.func import Call
from tracebuf.ops.control.region_if import TestCopy
from tracebuf.ops.memory import indexing, memref, metadata
from tracebuf.ops.memory.arena import Plan
from tracebuf.ops.scalars import arith

__all__ = ["MemoryFault", "Result", "run"]


@frozen()
class Result:
    """`results`: arrays over the memory they are in (so aliases of arguments share it), NumPy scalars, ints for index.
    `written`: for each array result, which elements are defined (None for scalars)."""

    results: list[Any]
    written: list[np.ndarray | None]
    counts: Counts


def run(
    func: Func,
    args: Sequence[Any],
    *,
    may_leak: bool = False,
    tensors: bool = False,
    known: Known | None = None,
    memory: Memory | None = None,
    watch: Watch | None = None,
) -> Result:
    """Runs a memref-level function on NumPy arrays, which it really modifies, and scalars.

    `may_leak` is for programs that have no frees yet, `tensors` for those that have tensors beside buffers: arrays that
    stay as they are. `known` is what it calls, by name; a callable gets arrays over the buffers' own memory, and a
    result that is none of these becomes a buffer of the caller's. `memory` has the buffers; `watch` is told of each op
    that was run. Raises what a `tracebuf.check` raises, MemoryFault for a misuse of memory, InternalError where a
    buffer has not the dtype, sizes, strides or offset that its type declares.
    """
    runner = _MemRefRunner(func, tensors, known, memory)
    runner.watch = watch
    if len(args) != len(func.args):
        raise InternalError(f"{func.name}: {len(args)} arguments for {len(func.args)}")
    arrays = {i: a for i, a in enumerate(args) if isinstance(func.args[i].type, MemRefType)}
    readonly = [not func.arg_attrs[i].get("bufferization.writable", True) for i in arrays]
    refs = iter(runner.memory.wrap(list(arrays.values()), readonly))
    data = [next(refs) if i in arrays else argument(func.args[i], a) for i, a in enumerate(args)]
    runner.bind_sizes([getattr(getattr(d, "array", d), "shape", None) for d in data])
    return runner.finish(runner.run_block(func.block, data), may_leak)


class _MemRefRunner(Runner):
    __slots__ = ("globals", "memory", "places", "tensors")

    def __init__(self, func: Func, tensors: bool, known: Known | None = None, memory: Memory | None = None) -> None:
        super().__init__(func, known)
        self.tensors = tensors
        self.memory = Memory() if memory is None else memory
        self.globals: dict[str, MemRef] = {}
        self.places: Places[Buffer] = Places(func.attrs.get("arena", Plan()), self.size, _overlay)

    def finish(self, values: list[Any], may_leak: bool) -> Result:
        terminator = self.ended
        refs = [v for v in values if isinstance(v, MemRef)]
        try:
            if any(v is POISON for v in values):
                raise MemoryFault("returns a scalar that was never written")
            for ref in refs:
                ref.check_alive()
                if ref.buffer.kind == "stack":
                    raise MemoryFault(f"returns {ref.buffer!r}, which is on the stack")
            if not may_leak:
                self.memory.check_leaks(refs)
        except MemoryFault as e:
            raise e if e.op else MemoryFault(e.message, terminator) from None
        results = [v.array if isinstance(v, MemRef) else v for v in values]
        return Result(results, [v.written if isinstance(v, MemRef) else None for v in values], self.memory.counts)

    def run_op(self, op: Op, args: list[Any]) -> Sequence[Any]:
        try:
            used = args[: op.first] if isinstance(op, scf.Loop) else args[1:] if isinstance(op, memref.Store) else args
            if any(a is POISON for a in used):
                raise MemoryFault("uses a scalar that was never written")
            self.places.before(op)
            handler = _HANDLERS.get(type(op))
            if handler is not None:
                return handler(self, op, args)
            if isinstance(op, Call) or op.name in self.known:
                return self.called(op, args)
            if isinstance(op, CONTROL_FLOW) or op.flows() is not None:
                return op.evaluate(self, args)
            if self.tensors and not any(isinstance(a, MemRef) for a in args):
                return evaluated(op, self, args)
            if isinstance(op, linalg.DestinationOp):
                return self.structured(op, args)
        except MemoryFault as e:
            raise e if e.op else MemoryFault(e.message, op) from None
        raise InternalError(f"{where(op)}: not an op of the memref level")

    def wrong(self, value: Value, data: Any) -> str:
        return "" if data is POISON else super().wrong(value, data)

    def check_shaped(self, value: Value, type: ShapedType, data: Any) -> str:
        """Dtype, sizes, and what the type declares of strides and offset."""
        if not isinstance(data, MemRef) or not isinstance(type, MemRefType):
            if self.tensors and isinstance(data, np.ndarray) and isinstance(type, TensorType):
                return self.wrong_shape(type, data)
            return f"holds {data!r}: this is not the memref level"
        array = data.array
        wrong = self.wrong_shape(type, array)
        if wrong or not array.size:
            return wrong
        for n, declared, bytes_ in zip(array.shape, type.strides, array.strides):
            if declared is None or is_unnamed(declared) or n <= 1:
                continue
            if self.size(declared) * array.itemsize != bytes_:
                return f"has strides {data.strides}"
        if type.offset is not None and self.size(type.offset) != data.offset:
            return f"has offset {data.offset}"
        return ""

    # -- calls
    def called(self, op: Op, args: list[Any]) -> list[Any]:
        """What a function of the module gives, whose stack ends with it, or a given callable."""
        callee = self.known.get(op.callee if isinstance(op, Call) else op.name)
        if callable(callee):
            return self.memory.given(callee, op, args)
        assert isinstance(op, Call)
        start = len(self.memory.buffers)
        results = self.call(op, args)
        self.memory.end_stack(start, op)
        for ref in results:
            if isinstance(ref, MemRef):
                ref.check_alive()
        return results

    # -- memref
    def alloc(self, op: memref.Alloc, args: list[Any]) -> list[Any]:
        rest = iter(args)
        sizes = [next(rest) if s is None else s for s in op.attrs["static_sizes"]]
        kind = "stack" if isinstance(op, memref.Alloca) else "heap"
        dtype = op.result.memref_type.element.dtype
        made = self.memory.allocate(sizes, op.attrs["order"], dtype, op, kind)
        if (place := self.places.plan.places.get(op)) is not None:
            self.places.take(op, made.buffer, [self.env[v].buffer for v in place.beside], made.buffer.nbytes)
        return [made]

    def dealloc(self, op: Op, args: list[Any]) -> list[Any]:
        self.memory.free(args[0], op)
        return []

    def copy(self, op: Op, args: list[Any]) -> list[Any]:
        self.memory.copy(args[0], args[1], op.attrs.get("reason") != "store")
        return []

    def load(self, op: Op, args: list[Any]) -> list[Any]:
        element = args[0].load(args[1:])
        return [int(element) if op.result.type is INDEX and element is not POISON else element]

    def store(self, op: Op, args: list[Any]) -> list[Any]:
        args[1].store(args[0], args[2:])
        return []

    def dim(self, op: Op, args: list[Any]) -> list[Any]:
        return [memref.size_along(args[0].array.shape, op.attrs["dim"])]

    def rank(self, op: Op, args: list[Any]) -> list[Any]:
        return [args[0].array.ndim]

    def cast(self, op: Op, args: list[Any]) -> list[Any]:
        return [args[0]]

    def subview(self, op: memref.Subview, args: list[Any]) -> list[Any]:
        rest = iter(args[1:])
        keys = ("static_offsets", "static_sizes", "static_strides")
        parts = [tuple(next(rest) if s is None else s for s in op.attrs[k]) for k in keys]
        return [args[0].view((parts[0], parts[1], parts[2], op.attrs["dims"]))]

    def collapse(self, op: Op, args: list[Any]) -> list[Any]:
        return [args[0].regrouped([prod(args[0].array.shape[a] for a in group) for group in op.attrs["groups"]])]

    def expand(self, op: Op, args: list[Any]) -> list[Any]:
        return [args[0].regrouped(join_mixed(op.attrs["static_sizes"], args[1:]))]

    def reshape(self, op: Op, args: list[Any]) -> list[Any]:
        return [args[0].regrouped([int(n) for n in args[1].array])]

    def get_global(self, op: memref.GetGlobal, args: list[Any]) -> list[Any]:
        """A constant's buffer, allocated on first use."""
        found = self.globals.get(op.attrs["name"].text)
        if found is None:
            type_ = op.result.memref_type
            array = dense_array(op.attrs["dense"], [int(n) for n in type_.shape], type_.element.dtype)  # type: ignore[arg-type]
            (found,) = self.memory.wrap([array], [True])
            self.globals[op.attrs["name"].text] = found
        return [found]

    def recast(self, op: Op, args: list[Any]) -> list[Any]:
        return [args[0].recast(op.result.memref_type.element.dtype)]

    def diagonal(self, op: Op, args: list[Any]) -> list[Any]:
        return [args[0].diagonal(op.attrs["axes"])]

    def windows(self, op: Op, args: list[Any]) -> list[Any]:
        return [args[0].windows(args[1], op.attrs["axis"])]

    # -- vector
    def transfer_read(self, op: vector.TransferRead, args: list[Any]) -> list[Any]:
        source, *rest = args
        if not isinstance(source, MemRef):
            return op.evaluate(self, args)
        source.check_alive()
        padding = source.array.ndim
        defined = op.evaluate(self, [source.written, *rest[:padding], True, *rest[padding + 1 :]])[0]
        if not defined.all():
            raise MemoryFault(f"reads elements of {source.buffer!r} that were never written")
        return op.evaluate(self, [source.array, *rest])

    def transfer_write(self, op: vector.TransferWrite, args: list[Any]) -> list[Any]:
        data, dest, *rest = args
        if not isinstance(dest, MemRef):
            return op.evaluate(self, args)
        values = op.evaluate(self, [data, dest.array, *rest])[0]
        dest.write(values, op.evaluate(self, [np.ones(data.shape, bool), dest.written, *rest])[0])
        return []

    # -- bufferization
    def to_tensor(self, op: Op, args: list[Any]) -> list[Any]:
        """What the buffer holds now: a tensor does not change."""
        args[0].check_alive()
        return [args[0].array.copy(order="K")]

    def to_buffer(self, op: Op, args: list[Any]) -> list[Any]:
        """A buffer of these elements. It is the tensor's own, which nobody may read who expects the old elements."""
        new = self.memory.allocate(args[0].shape, range(args[0].ndim), args[0].dtype, op)
        new.write(args[0], True)
        return [new]

    def materialize(self, op: Op, args: list[Any]) -> list[Any]:
        source, dest = args
        if not isinstance(dest, MemRef):
            return op.evaluate(self, args)
        dest.write(source, True)
        return []

    def conditional_dealloc(self, op: Op, args: list[Any]) -> list[Any]:
        """Frees a memref iff its condition holds and no retained memref and no earlier one of the list has its base."""
        n = op.attrs["n_memrefs"]
        refs, conditions, retained = args[:n], args[n : 2 * n], args[2 * n :]
        for i, (ref, condition) in enumerate(zip(refs, conditions)):
            if condition and not any(_same_base(ref, r) for r in [*retained, *refs[:i]]):
                self.memory.free(ref, op)
        owned = (any(c and _same_base(m, r) for m, c in zip(refs, conditions)) for r in retained)
        return [np.bool_(o) for o in owned]

    def same_base(self, op: Op, args: list[Any]) -> list[Any]:
        for ref in args:
            ref.check_place()
        return [np.bool_(_same_base(args[0], args[1]))]

    def clone(self, op: Op, args: list[Any]) -> list[Any]:
        source: MemRef = args[0]
        strides, shape = source.array.strides, source.array.shape
        order = sorted(range(len(shape)), key=lambda d: -abs(strides[d]))
        new = self.memory.allocate(shape, order, source.array.dtype, op)
        self.memory.copy(source, new, True)
        return [new]

    # -- metadata
    def strided_metadata(self, op: Op, args: list[Any]) -> list[Any]:
        ref: MemRef = args[0]
        return [ref.base(), ref.offset if ref.array.size else 0, *ref.array.shape, *ref.strides]

    def aligned_pointer(self, op: Op, args: list[Any]) -> list[Any]:
        """An address that no other buffer has had."""
        ref: MemRef = args[0]
        return [(ref.buffer.id + 1 << 32) + ref.origin - ref.buffer.address]

    def reinterpret(self, op: metadata.ReinterpretCast, args: list[Any]) -> list[Any]:
        return [args[0].reinterpreted(*op.geometry(args[1:]))]

    def realloc(self, op: metadata.Realloc, args: list[Any]) -> list[Any]:
        source: MemRef = args[0]
        source.check_alive()
        size: Any = args[1] if len(args) > 1 else op.result.memref_type.shape[0]
        new = self.memory.allocate([size], [0], source.array.dtype, op)
        kept = min(size, source.array.shape[0])
        new.view(((0,), (kept,), (1,), (0,))).write(source.array[:kept], source.written[:kept])
        self.memory.free(source, op)
        return [new]

    # -- linalg
    def structured(self, op: linalg.DestinationOp, args: list[Any]) -> list[Any]:
        """A linalg op: its reference on what the operands hold, after every check; then the outs are written."""
        outs: list[MemRef] = args[op.n_ins :]
        for use, a in zip(op.out_uses, outs, strict=True):
            a.check_writable()
            self._check_hazards(op, use, args)
        read = [u for u in op.uses if isinstance(args[u.index], MemRef) and _reads(op, u)]
        for use in read:
            args[use.index].check_alive()
        written: list[Any] = [True] * len(outs)
        if not all(args[u.index].written.all() for u in read):
            if isinstance(op, Scatter):
                written = [self._scattered(op, args)]
            elif not (isinstance(op, linalg.Generic) and op.all_parallel):
                for use in read:
                    args[use.index].check_written()
            else:
                written = self._poison_flow(op, args)
        results = evaluated(op, self, [a.array if isinstance(a, MemRef) else a for a in args])
        for out, result, defined in zip(outs, results, written, strict=True):
            if result.dtype != out.array.dtype:
                raise InternalError(f"{where(op)}: computes {result.dtype} for {out.array.dtype}")
            out.write(result, defined)
        return []

    def _check_hazards(self, op: linalg.DestinationOp, out: Use, args: list[Any]) -> None:
        for use in op.uses:
            other, target = args[use.index], args[out.index]
            if use is out or not isinstance(other, MemRef) or not (use.index >= op.n_ins or _reads(op, use)):
                continue
            if other.overlaps(target) and not (use.index < op.n_ins and _read_in_time(op, use, out, args)):
                raise MemoryFault(f"hazard: output {out.index} overlaps operand {use.index} in {target.buffer!r}")

    def _scattered(self, op: Scatter, args: list[Any]) -> np.ndarray:
        """Which elements of the destination are defined after a scatter of elements that all are."""
        for use in op.in_uses:
            if isinstance(args[use.index], MemRef) and _reads(op, use):
                args[use.index].check_written()
        if op.looks:
            args[-1].check_written()
        written: np.ndarray = args[-1].written.copy()
        for place, _ in op.stores(self, [a.array.copy() if isinstance(a, MemRef) else a for a in args]):
            written[place] = True
        return written

    def _poison_flow(self, op: linalg.Generic, args: list[Any]) -> list[np.ndarray]:
        """For each out, which elements become defined; a fault where the body computes with an undefined one."""
        values = [a.array if isinstance(a, MemRef) else a for a in args]
        shape = indexing.iteration_shape(op.maps, values, len(op.iterators))
        spread = [indexing.spread_operand(v, m, shape) for v, m in zip(values, op.maps, strict=True)]
        defined: dict[Value, Any] = {}
        for arg, a, m in zip(op.body.args, args, op.maps, strict=True):
            defined[arg] = indexing.spread_operand(a.written, m, shape) if isinstance(a, MemRef) else True
        for inner in op.body.ops[:-1]:
            flags = [defined[v] for v in inner.operands]
            if isinstance(inner, arith.Select) and np.all(flags[0]):
                indices = np.ogrid[tuple(map(slice, shape))]
                condition = linalg.run_body(op.body, spread, self, [inner.operand(0)], indices)[0]
                defined[inner.result] = np.where(condition, flags[1], flags[2])
            elif isinstance(inner, Element):
                indices = np.ogrid[tuple(map(slice, shape))]
                picked = linalg.run_body(op.body, spread, self, inner.operands[1:], indices)
                defined[inner.result] = np.asarray(flags[0])[tuple(picked)]
            elif all(np.all(f) for f in flags):
                defined[inner.result] = True
            else:
                raise MemoryFault(f"{inner.name} computes with elements that were never written")
        yielded = [defined[v] for v in op.body.terminator.operands]
        outs = [(m, args[i].written) for i, m in enumerate(op.maps) if i >= op.n_ins]
        return [indexing.gather_result(y, m, shape, w) for y, (m, w) in zip(yielded, outs, strict=True)]


def _overlay(buffer: Buffer, op: Op) -> None:
    buffer.overlaid_by = op


def _same_base(a: MemRef, b: MemRef) -> bool:
    """Whether both have one base pointer (arguments that overlap have pointers of their own)."""
    return a.buffer is b.buffer and a.origin == b.origin


def _reads(op: linalg.DestinationOp, use: Use) -> bool:
    return op.reads_in(use) if use.index < op.n_ins else op.reads_out(use)


def _read_in_time(op: linalg.DestinationOp, use: Use, out: Use, args: list[Any]) -> bool:
    """Whether every shared element is read before it is written, or by the op that writes it: in all loops that count
    up, however they are nested. NumPy's inner loops take blocks at once, and read a block before they write it."""
    spec = op.spec([v.type for v in op.operands])
    if spec is None:
        return True  # all is read before anything is written
    a, b = args[use.index], args[out.index]
    values = [x.array if isinstance(x, MemRef) else x for x in args]
    shape = indexing.iteration_shape(spec.maps, values, len(spec.iterators))
    if np.prod(shape) <= 1:
        return True
    whole = spec.maps[use.index].whole or spec.maps[out.index].whole
    if whole or not spec.all_parallel or a.array.itemsize != b.array.itemsize:
        return op.elementwise_access(use, out) and _same_elements(a.array, b.array)
    read, written = (_addresses(x, spec.maps[u.index], shape) for x, u in ((a, use), (b, out)))
    return all(_in_time(read.transpose(p), written.transpose(p)) for p in permutations(range(len(shape))))


def _same_elements(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays are one, element for element."""
    return (a.ctypes.data, a.shape, a.strides, a.dtype) == (b.ctypes.data, b.shape, b.strides, b.dtype)


def _in_time(read: np.ndarray, written: np.ndarray) -> bool:
    """Whether in C order no address is read after it was written."""
    when = {int(address): i for i, address in enumerate(written.ravel())}
    return all(when.get(int(address), i) >= i for i, address in enumerate(read.ravel()))


def _addresses(ref: MemRef, map_: AffineMap, shape: tuple[int, ...]) -> np.ndarray:
    """The address that an operand has at each point of the iteration space."""
    grid = np.indices(shape)
    steps = _steps(ref.array, map_, len(shape))
    return ref.address + sum((g * step for g, step in zip(grid, steps)), np.zeros(shape, int))


def _steps(array: np.ndarray, map_: AffineMap, n: int) -> list[int]:
    """Bytes that one step of each loop moves in this operand."""
    steps = [0] * n
    for r, stride in zip(map_.results, array.strides):
        if r is not None:
            steps[r] += stride
    return steps


CONTROL_FLOW = (checks.Check, Assert, arith.ScalarOp, scf.Loop, scf.If, scf.ExecuteRegion, Forall)
"""Ops that touch no buffers, but may pass them on; so does whatever says how control flows through its regions."""
_HANDLERS: dict[type[Op], Callable[[_MemRefRunner, Any, list[Any]], list[Any]]] = {
    memref.Alloc: _MemRefRunner.alloc,
    memref.Alloca: _MemRefRunner.alloc,
    memref.Dealloc: _MemRefRunner.dealloc,
    memref.Copy: _MemRefRunner.copy,
    TestCopy: _MemRefRunner.copy,
    memref.Load: _MemRefRunner.load,
    memref.Store: _MemRefRunner.store,
    memref.Dim: _MemRefRunner.dim,
    memref.Rank: _MemRefRunner.rank,
    memref.Cast: _MemRefRunner.cast,
    memref.Subview: _MemRefRunner.subview,
    memref.View: _MemRefRunner.subview,
    memref.CollapseShape: _MemRefRunner.collapse,
    memref.ExpandShape: _MemRefRunner.expand,
    memref.Diagonal: _MemRefRunner.diagonal,
    memref.Windows: _MemRefRunner.windows,
    memref.Recast: _MemRefRunner.recast,
    Pick: lambda runner, op, args: op.evaluate(runner, args),
    memref.Reshape: _MemRefRunner.reshape,
    memref.GetGlobal: _MemRefRunner.get_global,
    vector.TransferRead: _MemRefRunner.transfer_read,
    vector.TransferWrite: _MemRefRunner.transfer_write,
    bufferization.ToTensor: _MemRefRunner.to_tensor,
    bufferization.ToBuffer: _MemRefRunner.to_buffer,
    bufferization.MaterializeInDestination: _MemRefRunner.materialize,
    bufferization.Dealloc: _MemRefRunner.conditional_dealloc,
    bufferization.SameBase: _MemRefRunner.same_base,
    bufferization.Clone: _MemRefRunner.clone,
    metadata.ExtractStridedMetadata: _MemRefRunner.strided_metadata,
    metadata.ExtractAlignedPointer: _MemRefRunner.aligned_pointer,
    metadata.Realloc: _MemRefRunner.realloc,
    metadata.ReinterpretCast: _MemRefRunner.reinterpret,
}
