"""What structured ops are made of: the body's terminator, the index of a loop in it, and the op as loops."""

from __future__ import annotations

from tracebuf.errors import InternalError
from tracebuf.frozen import frozen
from tracebuf.ir.attributes import inherent
from tracebuf.ir.core import Block, Form, Op, no_effects
from tracebuf.ir.types import INDEX, ShapedType, Type
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.control.func import Terminator
from tracebuf.ops.memory.indexing import AffineMap


class Yield(Terminator):
    """`linalg.yield`: ends a structured op's body. operands: an element (scalar) for each out; results: none."""

    __slots__ = ()
    name = "linalg.yield"


class Index(Op):
    """`linalg.index`: the index of a loop around the body; np.arange, np.argmax. operands: none; results: 1 index;
    attrs: dim (the loop)."""

    __slots__ = ()
    name = "linalg.index"
    takes, gives = "", "index"
    effects = no_effects

    @classmethod
    def of(cls, dim: int, loc: Location = UNKNOWN) -> Index:
        return cls([], [INDEX], loc, {"dim": dim})

    @classmethod
    def from_form(cls, form: Form) -> Op:
        form.expect(operands=0, results=1)
        attrs = {"dim": form.take("dim", kind=int), **form.attrs}
        return cls.rebuilt([], form.result_types, form.loc, attrs)

    def to_form(self) -> Form:
        return self.form_with({"dim": inherent(f"{self.dim} : i64", self.dim)})

    @property
    def dim(self) -> int:
        dim: int = self.attrs["dim"]
        return dim

    def verify(self) -> None:
        attrs = {} if self.parent_op is None else self.parent_op.attrs
        loops = len(attrs["iterators"]) if "iterators" in attrs else self.dim + 1
        if "n_ins" not in attrs or not 0 <= self.dim < loops:
            raise InternalError(f"linalg.index: there is no loop {self.dim} around it")


@frozen(slots=False)
class Spec:
    """A structured op as loops: operand types, their maps, the iterators, the number of inputs, the scalar body."""

    name: str
    types: tuple[Type, ...]
    maps: tuple[AffineMap, ...]
    iterators: tuple[str, ...]
    n_ins: int
    body: Block
    ordered: bool = False
    """An element may be read by one iteration and written by a later one: iterations are not independent."""

    fills: bool = False
    """Of a scatter: exactly as many iterations count as the destination is long along the axis that the number of
    counted iterations indexes, and those iterations store."""

    @property
    def scatters(self) -> bool:
        """Whether the body yields the indices of its element, and has one more argument (tracebuf.scatter)."""
        return len(self.body.args) > len(self.types)

    @property
    def indexed(self) -> set[int]:
        """The loops whose index the body reads."""
        return {op.dim for op in self.body.ops if isinstance(op, Index)}

    @property
    def all_parallel(self) -> bool:
        return "reduction" not in self.iterators

    def sizes(self) -> list[tuple[int, int]]:
        """For each loop dimension an (operand, axis) that has its size."""
        found: dict[int, tuple[int, int]] = {}
        for k, (type_, map_) in enumerate(zip(self.types, self.maps, strict=True)):
            if isinstance(type_, ShapedType) and not map_.whole:
                for axis, d in enumerate(map_.results):
                    if d is not None and (d not in found or isinstance(type_.shape[axis], int)):
                        found[d] = (k, axis)
        return [found[d] for d in range(len(self.iterators))]
