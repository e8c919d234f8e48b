"""Which part of which buffer a value is: a root, and the slices and changes of shape that lead to it. Beyond MLIR 22.

Two values with one root and equal slices are one buffer element for element, or do not overlap: each step from the root
on is in place (the same memory) or out of place (fresh memory). So parts that are disjoint geometrically never share an
element, whatever the analysis decides. Offsets are compared as symbolic sizes; nothing here knows of iterations.
"""

from __future__ import annotations

from itertools import pairwise
from math import gcd

from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.indices import Indices
from tracebuf.analysis.one_shot.order import post_order
from tracebuf.frozen import frozen
from tracebuf.ir.core import Relation, Use, Value
from tracebuf.ir.dims import Dim, add, mul, sub
from tracebuf.ir.facts import SizeFacts
from tracebuf.ir.types import ScalarType
from tracebuf.ops.arrays.tensor import ExtractSlice, InsertSlice, Regrouping, SliceOp
from tracebuf.ops.control import scf


@frozen()
class Regrouped:
    """A step that gives the elements another shape, or type (their C order stays)."""

    before: tuple[Dim | ScalarType, ...]
    after: tuple[Dim | ScalarType, ...]

    def same_subset(self, other: SliceOp | Regrouped) -> bool:
        return isinstance(other, Regrouped) and self.after == other.after


Step = SliceOp | Regrouped
Path = tuple[Value, tuple[Step, ...]]
"""A root, and the slices and changes of shape that lead from it to a value."""


Box = tuple[Value, tuple[tuple[int, int], ...]]
"""A root, and the first and the last index in each dimension."""


def same_step(a: Step, b: Step) -> bool:
    """Whether two steps from one value lead to the same elements."""
    return a.same_subset(b) if isinstance(a, Regrouped) else isinstance(b, SliceOp) and a.same_subset(b)


def is_whole(op: ExtractSlice) -> bool:
    """Whether the slice is all of its source, element for element."""
    return op.slice.covers(op.source.tensor_type, op.result.tensor_type)


def regrouped(path: tuple[Step, ...], op: Regrouping) -> tuple[Step, ...]:
    """The path with a change of shape added: two in a row are one, and none where the shape is the old one again."""
    before, after = ((*v.tensor_type.shape, v.tensor_type.element) for v in (op.source, op.result))
    if path and isinstance(last := path[-1], Regrouped):
        path, before = path[:-1], last.before
    return path if before == after else (*path, Regrouped(before, after))


def other_component(path: tuple[Step, ...], other: tuple[Step, ...]) -> bool:
    """Whether of one tensor of complex numbers one path takes real parts alone and the other imaginary ones: whichever
    numbers these are."""
    return {component_of(path), component_of(other)} == {0, 1}


def component_of(path: tuple[Step, ...]) -> int | None:
    """0 or 1 where a path goes through the numbers as pairs and takes the real or the imaginary part of each."""
    for step, after in pairwise(path):
        if isinstance(step, Regrouped):
            (*shape, element), (*pairs, _) = step.before, step.after
            if not isinstance(element, ScalarType) or not element.is_complex or pairs != [*shape, 2]:
                return None
            if not isinstance(after, SliceOp) or len(shape) in (cut := after.slice).dims:
                return None
            return component if isinstance(component := cut.offsets[-1], int) else None
    return None


class Parts:
    """Roots, parts and symbolic offsets of one function, each computed once."""

    __slots__ = ("_boxes", "_facts", "_flow", "_paths", "indices")

    def __init__(self, flow: Dataflow) -> None:
        self._flow, self._facts = flow, SizeFacts()
        self._paths: dict[Value, Path] = {}
        self._boxes: dict[tuple[Use, bool], Box | None] = {}
        self.indices = Indices(flow.func)
        for known, other in self.indices.equal:
            self._facts.assume_equal(known, other)
        for op in post_order(flow.func):
            for result in op.results:
                if result.is_tensor:
                    self._path(result)

    def same(self, a: Value, b: Value) -> bool:
        """Whether both have one root and equal slices."""
        (base, path), (other, others) = self._path(a), self._path(b)
        if base is not other or len(path) != len(others):
            return False
        return all(same_step(p, q) for p, q in zip(path, others, strict=True))

    def unrelated(self, a: Value, b: Value) -> bool:
        """Whether the two come from different storages: arguments, or new arrays."""
        base, other = self._path(a)[0], self._path(b)[0]
        return base is not other and self._is_storage(base) and self._is_storage(other)

    def _is_storage(self, root: Value) -> bool:
        op = root.defining_op
        return root.owner is self._flow.func.block if op is None else op.bufferizes_to_allocation(root)

    def boxes_disjoint(self, read: Use, write: Use) -> bool:
        """`disjoint` for parts of one value at constant indices only: quick, as it is asked of many pairs."""
        a, b = self._box(read, False), self._box(write, True)
        if a is None or b is None or a[0] is not b[0]:
            return False
        return any(last < start or end < first for (first, last), (start, end) in zip(a[1], b[1], strict=True))

    def _box(self, use: Use, write: bool) -> Box | None:
        """The root, and the first and last index in each dimension of the first slice of it; None where these are not
        constant."""
        if (use, write) not in self._boxes:
            root, path = self._touched(use, write)
            step, found = path[0] if path else None, None
            ranges = self._ranges(step) if isinstance(step, SliceOp) else [None]
            if all(r is not None and isinstance(r[0], int) and isinstance(r[1], int) for r in ranges):
                found = root, tuple(r[:2] for r in ranges if r is not None)
            self._boxes[use, write] = found  # type: ignore[assignment]
        return self._boxes[use, write]

    def _touched(self, use: Use, write: bool) -> Path:
        """The part that an operand touches, which may be less than its value: a store into a slice."""
        root, path = self._path(use.value)
        return (root, (*path, use.op)) if write and isinstance(use.op, InsertSlice) else (root, path)

    def disjoint(self, read: Use, write: Use) -> bool:
        """Whether the elements that two operands touch certainly differ."""
        base, path = self._touched(read, False)
        other, others = self._touched(write, True)
        if base is not other:
            return self.unrelated(base, other)
        for p, q in zip(path, others, strict=False):
            if not same_step(p, q):
                apart = isinstance(p, SliceOp) and isinstance(q, SliceOp) and self._slices_disjoint(p, q)
                return apart or other_component(path, others)
        return False

    def _path(self, value: Value) -> Path:
        """(root, slices from it to the value), through ops whose one result is the whole operand's buffer."""
        steps: list[tuple[Value, ExtractSlice | Regrouping | None]] = []
        current = value
        while (path := self._paths.get(current)) is None:
            op = current.defining_op
            sources = [] if op is None else self._flow.aliasing_uses(current)
            if isinstance(op, ExtractSlice | Regrouping):
                steps.append((current, None if isinstance(op, ExtractSlice) and is_whole(op) else op))
                current = op.source
            elif len(sources) == 1 and sources[0][1] is Relation.EQUIVALENT and sources[0][2]:
                steps.append((current, None))
                current = sources[0][0].value
            else:
                path = self._paths[current] = self._joined(current) or (current, ())
                break
        for step, step_op in reversed(steps):
            if isinstance(step_op, Regrouping):
                path = (path[0], regrouped(path[1], step_op))
            elif step_op is not None:
                path = (path[0], (*path[1], step_op))
            self._paths[step] = path
        return path

    def _joined(self, value: Value) -> Path | None:
        """The result of a loop that yields what it carries (stored to or not) is the initial value's buffer; that of an
        scf.if whose branches yield one part is that part."""
        op = value.defining_op
        if isinstance(op, scf.Loop):
            if value.index >= len(op.inits) or not op.aliasing_values(op.inits[value.index]):
                return None
            same = op.keeps(value.index, lambda v, arg: self._path(v) == (arg, ()))
            return self._path(op.inits[value.index].value) if same else None
        if isinstance(op, scf.If):
            then, orelse = (self._path(b.terminator.operand(value.index)) for b in op.branches)
            return then if then == orelse else None
        return None

    def _slices_disjoint(self, p: SliceOp, q: SliceOp) -> bool:
        """Whether in some dimension of their base the two slices have no index in common."""
        return any(self._ranges_apart(a, b) for a, b in zip(self._ranges(p), self._ranges(q), strict=True))

    def _ranges(self, op: SliceOp) -> list[tuple[Dim, Dim, int] | None]:
        """(first, last, step) of each base dimension, rising; None where the step is not constant. Sizes are taken as
        positive: a part without elements is disjoint from everything."""
        s = op.slice
        view = (op.operand(0) if isinstance(op, InsertSlice) else op.result).tensor_type.shape
        sizes: dict[int, Dim] = {d: view[k] for k, d in enumerate(s.dims) if d is not None}
        ranges: list[tuple[Dim, Dim, int] | None] = []
        for d, (offset, stride) in enumerate(zip(s.offsets, s.strides, strict=True)):
            if not isinstance(stride, int):
                ranges.append(None)
                continue
            first = self.indices.of(offset)
            last = add(first, mul(stride, sub(sizes.get(d, 1), 1)))
            ranges.append((first, last, stride) if stride >= 0 else (last, first, -stride))
        return ranges

    def _ranges_apart(self, a: tuple[Dim, Dim, int] | None, b: tuple[Dim, Dim, int] | None) -> bool:
        if a is None or b is None:
            return False
        (first, last, step), (other_first, other_last, other_step) = a, b
        common, distance = gcd(step, other_step), sub(first, other_first)
        if common > 1 and isinstance(distance, int) and distance % common:
            return True
        return self._facts.less(last, other_first) or self._facts.less(other_last, first)
