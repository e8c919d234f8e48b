"""Regions being recorded (`Frame`), and what the recorder assumes of entry values (`Guard`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tracebuf.frontends.numpy.record.values import Storage
from tracebuf.ir.core import Block, Value
from tracebuf.ir.dims import Expr


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition on entry sizes and integer arguments that the specialisation assumes: expr >= 0, == 0 or != 0."""

    kind: Literal["nonneg", "zero", "nonzero"]
    expr: Expr


class Frame:
    """A region being recorded: the values of storages inside it, and (for loops) the carried arguments made so far."""

    __slots__ = ("block", "cache", "kind", "locals", "parent", "phis", "values")

    def __init__(self, kind: Literal["func", "loop", "branch"], block: Block, parent: Frame | None) -> None:
        self.kind, self.block, self.parent = kind, block, parent
        self.values: dict[Storage, Value] = {}
        self.phis: dict[Storage, Value] = {}
        self.cache: dict[object, Value] = {}
        self.locals: set[Storage] = set()
