"""What structured ops are made of: what ends a body, the index of a loop in it, and the op as loops see it."""

from __future__ import annotations

from dataclasses import dataclass

from tracebuf.errors import InternalError
from tracebuf.ir.attributes import inherent
from tracebuf.ir.core import Block, Form, Op
from tracebuf.ir.types import INDEX, ShapedType, Type
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.control.func import Terminator
from tracebuf.ops.memory.indexing import AffineMap


class Yield(Terminator):
    """`linalg.yield`: the elements for the outs."""

    __slots__ = ()
    name = "linalg.yield"


class Index(Op):
    """`linalg.index`: where the iteration stands along loop `dim`; in linalg.generic. np.arange, np.argmax."""

    __slots__ = ()
    name = "linalg.index"
    pure = True

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


@dataclass(frozen=True)
class Spec:
    """A structured op as loops see it: operand types, their maps, the iterators, the number of inputs, the scalar
    body.
    """

    name: str
    types: tuple[Type, ...]
    maps: tuple[AffineMap, ...]
    iterators: tuple[str, ...]
    n_ins: int
    body: Block
    ordered: bool = False
    """An element may be read by one iteration and written by a later one: iterations are not independent."""

    fills: bool = False
    """Of a scatter: as many steps count as the axis of the destination is long along which they are stored in turn, and
    those are the steps that store."""

    @property
    def scatters(self) -> bool:
        """Whether the body says where its element goes, and has an argument more (tracebuf.scatter)."""
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
