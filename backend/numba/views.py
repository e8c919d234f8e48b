"""Parts of arrays as NumPy writes them: `u[1:-1]`, transposed, with new axes; what indexing cannot say, by a helper."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tracebuf.backend.numba.expressions import ATOM, PRODUCT, SIGN, Expr, binary, number, total
from tracebuf.ir.core import Mixed
from tracebuf.ir.dims import Dim, sub
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import MemRefType

Sizes = Callable[[Mixed], Expr]


def sliced(base: Expr, s: Slice, before: MemRefType, after: MemRefType, size: Sizes) -> Expr | None:
    """The view by indexing; None where that cannot say it."""
    if any(not isinstance(step, int) or step == 0 for step in s.strides):
        return None
    real = [d for d in s.dims if d is not None]
    sizes: dict[int, Dim] = {d: after.shape[k] for k, d in enumerate(s.dims) if d is not None}
    parts = [
        _range(s.offsets[d], s.sizes[d], s.strides[d], before.shape[d], sizes[d], size) if d in sizes
        else size(s.offsets[d]).text
        for d in range(before.rank)
    ]  # fmt: skip
    text = base.at(ATOM)
    new = [d is None for d in s.dims]
    if not real and before.rank and new:  # a new axis of one element, of which Numba compiles a range alone
        parts[-1] = _range(s.offsets[-1], 1, 1, before.shape[-1], 1, size)
        new[-1] = False
    elif not real and before.rank:
        parts.append("...")
    elif parts and all(p == ":" for p in parts):
        parts = []
    while len(parts) > 1 and real and parts[-1] == ":":
        parts.pop()
    if parts:
        text = f"{text}[{', '.join(parts)}]"
    if any(back := _backwards(s)):
        text += f"[{', '.join('::-1' if b else ':' for b in back)}]"
    if real != sorted(real):
        order = [sorted(real).index(d) for d in real]
        text += ".T" if order == [1, 0] else f".transpose({', '.join(map(str, order))})"
    if any(new):
        kept = ["None" if n else ":" for n in new]
        text += f"[{', '.join(kept)}]" if ":" in kept else f"[{', '.join(kept)}, ...]"
    return Expr(text)


def element_range(base: Expr, offsets: Sequence[Mixed], size: Sizes) -> str:
    """An element as a part with all axes, of one element each."""
    starts = map(size, offsets)
    return f"{base.at(ATOM)}[{', '.join(f'{start}:{total(start, number(1))}' for start in starts)}]"


def _range(offset: Mixed, count: Mixed, step: Mixed, whole: Dim, n: Dim, size: Sizes) -> str:
    assert isinstance(step, int)
    start = size(offset)
    if step == 1:
        first = "" if start.text == "0" else start.text
        if isinstance(offset, int):
            rest = sub(sub(whole, n), offset)
            if isinstance(rest, int) and rest >= 0:
                return f"{first}:{-rest or ''}"
        end = total(start, size(count)).text
        return f"{first}:{end}" if end.isidentifier() or end.isdecimal() else f"{first} : {end}"
    reach = binary("*", PRODUCT, size(count), number(abs(step)))
    if step > 0:
        first = "" if start.text == "0" else f"{start.text} "
        return f"{first}: {total(start, reach)} : {step}"
    if step == -1 and n == whole:
        return ":"
    low = total(start, Expr(f"-{binary('*', PRODUCT, total(size(count), number(-1)), number(-step)).text}", SIGN))
    end = total(start, number(1)).text
    if not isinstance(count, int) and not isinstance(offset, int):  # of no elements it may begin before the array
        end = f"max({end}, 0)"
    return f"{low} : {end}" + f" : {-step}" * (step < -1)


def _backwards(s: Slice) -> list[bool]:
    """For each axis of the base that stays an axis, in order, whether it runs backwards."""
    return [s.strides[d] < 0 for d in sorted(d for d in s.dims if d is not None)]  # type: ignore[operator]


def pieces(items: Sequence[Expr]) -> str:
    """A tuple."""
    return f"({', '.join(map(str, items))}{',' if len(items) == 1 else ''})"
