"""An op in MLIR's generic form, which says everything in one way: what the reader makes of text, and what the generic
printer asks of an op.

`Op.from_form` and `Op.to_form` translate; a class overrides both where it encodes its attributes in its own way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tracebuf.errors import TracebufError
from tracebuf.ir.attributes import Attr, decoded, places
from tracebuf.ir.dims import Expr
from tracebuf.ir.types import INDEX, MemRefType, ShapedType, row_major, same_type, unnamed
from tracebuf.location import UNKNOWN, Location

if TYPE_CHECKING:
    from tracebuf.ir.core import Block, Region, Value
    from tracebuf.ir.types import Type


class FormError(TracebufError):
    """A generic form that does not fit the op's class: the reader adds line and column."""


@dataclass
class Form:
    """`"name"(operands)[successors] <{properties}> ({regions}) {attributes} : (types) -> (types) loc(...)`; properties
    and attributes are in `attrs`, told apart by `Attr.inherent`."""

    name: str
    operands: list[Value]
    result_types: list[Type]
    attrs: dict[str, Attr] = field(default_factory=dict)
    regions: list[Region] = field(default_factory=list)
    successors: list[Block] = field(default_factory=list)
    loc: Location = UNKNOWN
    size: Callable[[Value], Expr] = lambda value: unnamed()
    """What stands for the size that a value of type index tells, the same for the same value."""

    def take(self, name: str, default: Any = ..., kind: type = object) -> Any:
        """The meaning of an attribute, which is removed; FormError where it is missing and has no default, or is of
        another kind."""
        found = self.attrs.pop(name, None)
        if found is not None:
            if not isinstance(found.value, kind):
                raise FormError(f"{self.name}: `{name} = {found}` is no {kind.__name__}")
            return found.value
        if default is ...:
            raise FormError(f"{self.name}: the attribute `{name}` is missing")
        return default

    def decoded(self) -> dict[str, Any]:
        """The attributes of an op of tracebuf's own as the Python values that it was printed from."""
        return {k: a if a.inherent else decoded(a.value, k) for k, a in self.attrs.items()}

    def segments(self, n: int) -> list[list[Value]]:
        """The operands in the `n` groups that `operandSegmentSizes` tells."""
        sizes: Sequence[int] = self.take("operandSegmentSizes", kind=list)
        if len(sizes) != n or sum(sizes) != len(self.operands) or min(sizes) < 0:
            raise FormError(f"{self.name}: operandSegmentSizes {list(sizes)} do not fit {len(self.operands)} operands")
        rest = iter(self.operands)
        return [[next(rest) for _ in range(size)] for size in sizes]

    def expect(self, operands: int | None = None, results: int | None = None, regions: int | None = None) -> None:
        """FormError unless there are so many."""
        for what, wanted, found in (
            ("operands", operands, self.operands), ("results", results, self.result_types),
            ("regions", regions, self.regions),
        ):  # fmt: skip
            if wanted is not None and len(found) != wanted:
                raise FormError(f"{self.name}: {len(found)} {what} where {wanted} should be")

    def expect_indices(self, place: int) -> None:
        """FormError unless an index for each dimension stands behind the operand at `place`."""
        into, rest = self.operands[place].type, self.operands[place + 1 :]
        if not isinstance(into, ShapedType) or len(rest) != into.rank or any(v.type is not INDEX for v in rest):
            raise FormError(f"{self.name}: {len(rest)} operands are no indices of {into}")

    def static(self, name: str, n_dynamic: int) -> tuple[int | None, ...]:
        """The numbers of an attribute, which is removed, with None for each of so many operands."""
        found = places(self.take(name, kind=list))
        if found.count(None) != n_dynamic:
            raise FormError(f"{self.name}: {n_dynamic} operands do not fit `{name}`")
        return found

    def tie(self, result: int, operand: Value) -> None:
        """The result has the operand's very sizes."""
        if not same_type(self.result_types[result], operand.type):
            raise FormError(f"{self.name}: {operand.type} gives no {self.result_types[result]}")
        self.result_types[result] = operand.type

    def shaped_result(self) -> ShapedType:
        """The type of the only result, which has a shape."""
        self.expect(results=1)
        type_ = self.result_types[0]
        if not isinstance(type_, ShapedType):
            raise FormError(f"{self.name}: the result is a {type_}")
        return type_

    def own_sizes(self, dynamic: Sequence[Value]) -> tuple[int | None, ...]:
        """The static sizes of the only result, with None for each of the `dynamic` ones, which its type then has."""
        shape = self.shaped_result().shape
        static = tuple(d if isinstance(d, int) else None for d in shape)
        if static.count(None) != len(dynamic):
            raise FormError(f"{self.name}: {len(dynamic)} sizes for {self.result_types[0]}")
        rest = iter(dynamic)
        self.resize(0, [next(rest) if d is None else d for d in static])
        return static

    def resize(self, result: int, sizes: Sequence[int | Value | None]) -> None:
        """Where the result's sizes are not constant they are those; of None nothing is known."""
        type_ = self.result_types[result]
        if not isinstance(type_, ShapedType) or type_.rank != len(sizes):
            raise FormError(f"{self.name}: {len(sizes)} sizes do not fit {type_}")
        known = tuple(
            d if isinstance(d, int) or s is None or isinstance(s, int) else self.size(s)
            for d, s in zip(type_.shape, sizes)
        )
        dense = isinstance(type_, MemRefType) and type_.is_identity
        more = {"strides": row_major(known)} if dense else {}
        self.result_types[result] = replace(type_, shape=known, **more)  # type: ignore[arg-type]
