"""How many operands, results, regions and blocks an op has, and of which kinds of types: what its class declares.

`takes` and `gives` of an op class list kinds, such as "tensor, index*": one for each operand or result, `?` where it
may be missing, `*` where there may be any number. Checked when text is read, and by the verifier; what depends on
values, attributes or several types is the class's own `verify`. MLIR counterpart: the traits and type constraints of
ODS.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from tracebuf.ir.core import Op
from tracebuf.ir.types import (
    I1,
    INDEX,
    MemRefType,
    ScalarType,
    ShapedType,
    TensorType,
    Type,
    UnrankedMemRefType,
    UnrankedTensorType,
    VectorType,
)

KINDS: dict[str, Callable[[Type], bool]] = {
    "any": lambda t: True,
    "scalar": lambda t: isinstance(t, ScalarType),
    "index": lambda t: t is INDEX,
    "i1": lambda t: t is I1,
    "vector": lambda t: isinstance(t, VectorType),
    "shaped": lambda t: isinstance(t, ShapedType),
    "tensor": lambda t: isinstance(t, TensorType),
    "tensors": lambda t: isinstance(t, TensorType | UnrankedTensorType),
    "memref": lambda t: isinstance(t, MemRefType),
    "memrefs": lambda t: isinstance(t, MemRefType | UnrankedMemRefType),
}
"""Whether a type is of a kind; "tensors" and "memrefs" may be unranked."""


@cache
def kinds(declared: str) -> tuple[tuple[str, int, int | None], ...]:
    """Of a declaration: each kind with the least and the greatest number of types (None: any)."""
    found = []
    for word in declared.split(","):
        kind = word.strip()
        if kind:
            many = kind[-1] if kind[-1] in "?*" else ""
            found.append((kind.rstrip("?*"), 0 if many else 1, None if many == "*" else 1))
    return tuple(found)


def fits(declared: str, types: Sequence[Type]) -> bool:
    """Whether the types are those declared, in order."""
    return declared == "any*" or _fits(kinds(declared), types, 0)


def _fits(left: Sequence[tuple[str, int, int | None]], types: Sequence[Type], at: int) -> bool:
    if not left:
        return at == len(types)
    (kind, least, most), rest = left[0], left[1:]
    is_kind, n = KINDS[kind], 0
    limit = len(types) - at if most is None else min(most, len(types) - at)
    while n < limit and is_kind(types[at + n]):
        n += 1
    return any(_fits(rest, types, at + k) for k in range(n, least - 1, -1))


def types_problem(kind: type[Op], operands: Sequence[Type], results: Sequence[Type]) -> str:
    """What is wrong with the numbers or kinds of an op's operands and results, or the empty string."""
    for what, declared, types in (("operands", kind.takes, operands), ("results", kind.gives, results)):
        if not fits(declared, types):
            return f"its {what} are ({', '.join(map(str, types))}), where ({declared}) should be"
    return ""


def structure_problem(op: Op) -> str:
    """What is wrong with an op's regions, their blocks, and what ends these, or the empty string."""
    if len(op.regions) != len(op.region_ends):
        return f"it has {len(op.regions)} regions, where {len(op.region_ends)} should be"
    for region, end in zip(op.regions, op.region_ends):
        if len(region.blocks) != 1 and (not op.branching or not region.blocks):
            return f"a region has {len(region.blocks)} blocks, where {'some' if op.branching else 'one'} should be"
        for block in region.blocks:
            if not end:
                continue
            if not block.ops:
                return "a block is empty: it must end in a terminator"
            last = block.ops[-1]
            if last.name != end and not (op.branching and last.successors):
                return f"a block ends with {last.name}, where {end} should be"
            if any(other.terminator for other in block.ops[:-1]):
                return "an op that ends a block stands in its middle"
    return ""
