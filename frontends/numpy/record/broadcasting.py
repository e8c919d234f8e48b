"""Broadcasting of shapes, and which shapes fit into an output: by proof, guard or a check in place (rule Z2)."""

from __future__ import annotations

from collections.abc import Sequence

from tracebuf.frontends.numpy.record.conditions import either
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.sizes import USUAL
from tracebuf.ir.dims import Dim
from tracebuf.ops.scalars import arith
from tracebuf.running.raised import Raised

MISMATCH = "operands could not be broadcast together with shapes {} "


def broadcast(
    r: Recorder, shapes: Sequence[tuple[Dim, ...]], exception: Raised = "ValueError", message: str = MISMATCH,
    shown: Sequence[tuple[Dim, ...]] = (),
) -> tuple[Dim, ...]:  # fmt: skip
    """The common shape of `shapes`, as NumPy broadcasts them (rule Z2).

    Raises `exception` where there is none, at run time where only the run time knows; `message` has a {} for the
    shapes, or those that are `shown` in their place.
    """
    n = max(map(len, shapes), default=0)
    result: list[Dim] = [1] * n
    for k, shape in enumerate(dict.fromkeys(shapes)):
        if k == 0:
            result[n - len(shape) :] = [1 if r.facts.equal(size, 1) else size for size in shape]
            continue
        for axis, size in enumerate(shape, n - len(shape)):
            result[axis] = broadcast_dim(r, result[axis], size, shown or shapes, exception, message)
    return tuple(result)


def shape_text(shapes: Sequence[tuple[Dim, ...]], comma: str = ",") -> tuple[str, list[Dim]]:
    """Shapes as part of a message, with a {} for each symbolic size, and those sizes."""
    values: list[Dim] = []
    parts = []
    for shape in shapes:
        inner = []
        for d in shape:
            inner.append(str(d) if isinstance(d, int) else "{}")
            if not isinstance(d, int):
                values.append(d)
        parts.append("(" + comma.join(inner) + ("," if len(inner) == 1 else "") + ")")
    return " ".join(parts), values


def broadcast_dim(
    r: Recorder, a: Dim, b: Dim, shapes: Sequence[tuple[Dim, ...]], exception: Raised = "ValueError",
    mismatch: str = MISMATCH,
) -> Dim:  # fmt: skip
    """The size of an axis that two shapes share: the sizes are equal, or one of them is 1."""
    if r.facts.equal(a, b) or b == 1:
        return a
    if a == 1:
        return b
    if r.ask_equal(a, b) is True:
        return r.facts.canon(a)
    for one, other in ((a, b), (b, a)):
        if r.entry_only(one) and r.ask_equal(one, 1) is True:
            return other
    text, values = shape_text(shapes)
    message = mismatch.format(text)
    if r.ask_equal(a, b) is False and r.ask_equal(a, 1) is False and r.ask_equal(b, 1) is False:
        r.fail(exception, message, values)
    equal, a1, b1 = r.compare("eq", a, b), r.compare("eq", a, 1), r.compare("eq", b, 1)
    ok = either(r, equal, either(r, a1, b1))
    r.check(ok, exception, message, [r.index(v) for v in values])
    size = r.emit(arith.Select.of(a1, r.index(b), r.index(a)))
    return r.symbol(size, "broadcast", 0, USUAL)


def fits_into(
    r: Recorder, shape: tuple[Dim, ...], target: tuple[Dim, ...], shown: Sequence[tuple[Dim, ...]]
) -> None:
    """ValueError unless `shape` broadcasts to `target` without changing it (in-place operators); `shown`: the shapes of
    all operands."""
    if shape == target:
        return
    for size, wanted in zip(reversed(shape), reversed(target)):
        if size != 1 and wanted != 1 and not r.facts.equal(size, wanted):
            broadcast_dim(r, size, wanted, shown)
    text, values = shape_text([target])
    more, more_values = shape_text([shape])
    message = f"non-broadcastable output operand with shape {text} doesn't match the broadcast shape {more}"
    if len(shape) > len(target):
        r.fail("ValueError", message, values + more_values)
    for size, wanted in zip(reversed(shape), reversed(target)):
        if size != 1:
            require_same_or_one(r, size, wanted, "ValueError", message, values + more_values)


def require_same_or_one(
    r: Recorder, size: Dim, wanted: Dim, exception: Raised, message: str, values: list[Dim]
) -> None:
    """size == wanted or size == 1, by proof, guard or check."""
    if r.facts.equal(size, wanted) or r.ask_equal(size, wanted) is True:
        return
    if r.entry_only(size) and r.ask_equal(size, 1) is True:
        return
    if r.ask_equal(size, wanted) is False and r.ask_equal(size, 1) is False:
        r.fail(exception, message, values)
    ok = either(r, r.compare("eq", size, wanted), r.compare("eq", size, 1))
    r.check(ok, exception, message, [r.index(v) for v in values])
