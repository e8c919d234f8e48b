"""How the operands of a structured op lie in its loops: indexing maps, and arrays spread over the loops by them.

MLIR counterpart: AffineMap, as linalg uses it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from tracebuf.errors import InternalError, UnsupportedError
from tracebuf.frozen import frozen
from tracebuf.ir.core import Form, FormError, Mixed


def constant_index(value: Mixed) -> int | None:
    """The number that a size or bound certainly is (MLIR: getConstantIntValue)."""
    if isinstance(value, int):
        return value
    op = value.defining_op
    found = op.attrs["value"] if op is not None and op.name == "arith.constant" else None
    return found if isinstance(found, int) else None


@frozen()
class AffineMap:
    """(d0, ..., dn-1) -> results: each a loop dimension, or None for the constant 0 (a broadcast dimension of size 1).

    A map of MLIR's that has other results, or one dimension twice, is kept as `text`: analysed and printed, not run.
    `whole`: every iteration sees the whole operand and reads elements of it (`tracebuf.ops.arrays.gather`).
    """

    n_dims: int
    results: tuple[int | None, ...]
    text: str = ""
    whole: bool = False

    @classmethod
    def parse(cls, text: str) -> AffineMap:
        """The map of `affine_map<(d0, d1) -> (d1, 0)>`; ValueError."""
        match = _MAP.fullmatch(text)
        if match is None:
            raise ValueError(f"`{text}` is no affine map")
        dims, results = ([n.strip() for n in part.split(",") if n.strip()] for part in match.groups())
        places: dict[str, int | None] = {name: i for i, name in enumerate(dims)} | {"0": None}
        found = tuple(places.get(name) for name in results)
        axes = [r for r in found if r is not None]
        plain = all(name in places for name in results) and len(set(axes)) == len(axes)
        return cls(len(dims), found, "" if plain else text)

    @property
    def runs(self) -> bool:
        """Whether each result is a loop dimension or 0, so that it can be run."""
        return not self.text

    @property
    def is_identity(self) -> bool:
        return self.results == tuple(range(self.n_dims)) and not self.whole

    def compose(self, inner: Sequence[int | None], n_dims: int) -> AffineMap:
        """This map after its dimension d has become `inner[d]` of `n_dims` dimensions."""
        if not self.runs:
            raise InternalError(f"{self} is composed with another map")
        return AffineMap(n_dims, tuple(None if r is None else inner[r] for r in self.results), whole=self.whole)

    def __str__(self) -> str:
        if self.text or self.whole:
            return self.text or "whole"
        dims = ", ".join(f"d{i}" for i in range(self.n_dims))
        return f"affine_map<({dims}) -> ({', '.join('0' if r is None else f'd{r}' for r in self.results)})>"


_MAP = re.compile(r"affine_map<\(([^)]*)\)\s*(?:\[\s*\])?\s*->\s*\(([^<>]*)\)>")


def parse_maps(form: Form, n_operands: int) -> tuple[AffineMap, ...]:
    """The indexing maps of a form, which are taken out of it."""
    attr = form.attrs.pop("indexing_maps", None)
    if attr is None or not isinstance(attr.value, list) or len(attr.value) != n_operands:
        raise FormError(f"{form.name}: `indexing_maps` is not {n_operands} maps")
    try:
        return tuple(map(AffineMap.parse, attr.value))
    except (TypeError, ValueError) as e:
        raise FormError(f"{form.name}: `indexing_maps`: {e}") from None


@cache
def identity_map(n: int) -> AffineMap:
    return AffineMap(n, tuple(range(n)))


def whole_map(n: int) -> AffineMap:
    """The map of an operand that each iteration of `n` loops sees as a whole."""
    return AffineMap(n, (), whole=True)


def check_maps(maps: Iterable[AffineMap]) -> None:
    """UnsupportedError unless all of them can be run."""
    for m in maps:
        if not m.runs:
            raise UnsupportedError(f"a linalg op with the map {m} can be analysed and rewritten, not run")


def iteration_shape(maps: Sequence[AffineMap], args: Sequence[Any], n: int) -> tuple[int, ...]:
    """Run-time loop sizes; InternalError where operands disagree, UnsupportedError for maps that do not run."""
    check_maps(maps)
    shape: list[int | None] = [None] * n
    for map_, arg in zip(maps, args, strict=True):
        if isinstance(arg, np.ndarray) and not map_.whole:
            for r, size in zip(map_.results, arg.shape, strict=True):
                if r is not None and shape[r] not in (None, size):
                    raise InternalError(f"linalg.generic: loop {r} has sizes {shape[r]} and {size}")
                if r is not None:
                    shape[r] = size
    return tuple(0 if s is None else s for s in shape)


def spread_operand(arg: Any, map_: AffineMap, shape: tuple[int, ...]) -> Any:
    """An operand as an array that broadcasts over the iteration space."""
    if not isinstance(arg, np.ndarray) or map_.whole:
        return arg
    dims = [r for r in map_.results if r is not None]
    if any(r is None and size == 0 for r, size in zip(map_.results, arg.shape)):  # nobody reads it: it tells sizes
        return np.zeros([shape[d] if d in dims else 1 for d in range(len(shape))], arg.dtype)
    kept = arg[tuple(0 if r is None else slice(None) for r in map_.results)] if map_.results else arg
    kept = np.asarray(kept).transpose(np.argsort(dims)) if dims else np.asarray(kept)
    return kept.reshape([shape[d] if d in dims else 1 for d in range(len(shape))])


def gather_result(value: Any, map_: AffineMap, shape: tuple[int, ...], out: np.ndarray) -> np.ndarray:
    """A yielded value over the iteration space, laid out as the out operand."""
    result = np.empty_like(out)
    full = np.broadcast_to(value, shape)
    kept = [r for r in map_.results if r is not None]
    result[...] = full.transpose(kept).reshape(out.shape) if kept else full.reshape(out.shape)
    return result


def reduce_exactly(ufunc: Any, full: np.ndarray, axes: tuple[int, ...]) -> Any:
    """ufunc.reduce over axes; None for an empty reduction without identity (the out keeps its initial value)."""
    if any(full.shape[a] == 0 for a in axes):
        return None
    return ufunc.reduce(full, axis=axes, dtype=full.dtype)
