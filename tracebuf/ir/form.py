"""An op in MLIR's generic form, which says everything in one way: what the reader makes of text, and what the generic
printer asks of an op.

`Op.from_form` and `Op.to_form` translate; a class overrides both where it encodes its attributes in its own way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tracebuf.errors import TracebufError
from tracebuf.ir.attributes import Attr
from tracebuf.ir.location import UNKNOWN, Location

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

    def take(self, name: str, default: Any = ...) -> Any:
        """The meaning of an attribute, which is removed; FormError where it is missing and has no default."""
        found = self.attrs.pop(name, None)
        if found is not None:
            return found.value
        if default is ...:
            raise FormError(f"{self.name}: the attribute `{name}` is missing")
        return default

    def segments(self, n: int) -> list[list[Value]]:
        """The operands in the `n` groups that `operandSegmentSizes` tells."""
        sizes: Sequence[int] = self.take("operandSegmentSizes")
        if len(sizes) != n or sum(sizes) != len(self.operands):
            raise FormError(f"{self.name}: operandSegmentSizes {list(sizes)} do not fit {len(self.operands)} operands")
        rest = iter(self.operands)
        return [[next(rest) for _ in range(size)] for size in sizes]
