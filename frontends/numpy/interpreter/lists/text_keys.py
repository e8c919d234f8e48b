"""Texts as keys of dicts and sets by run-time keys: known ones, and those of ints (f"{i},{j}"), by their shape and
the ints. Which shapes there may be beside each other: those of which no two texts are equal. Texts of ints that may be
part of the call's key are known where that is needed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate, combinations
from typing import Any

from tracebuf.frontends.numpy.numbers.operands import scalar_value
from tracebuf.frontends.numpy.record.callees import Part, Shape, Text, text_shape
from tracebuf.frontends.numpy.record.cond import Cond
from tracebuf.frontends.numpy.record.growing import Form, Texts
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import Kind, PyInt
from tracebuf.frozen import frozen
from tracebuf.ir.core import Value
from tracebuf.ir.types import I1, I64, UI64
from tracebuf.ops.scalars import arith


@frozen()
class Written:
    """A text: what is before, between and after its ints, and the format of each of these. A known text has no ints.

    Texts of one shape are equal where their ints are, and only there: what follows an int, but for the last, begins
    with what is no part of an int."""

    pieces: tuple[str, ...]
    specs: tuple[str, ...] = ()

    @property
    def before(self) -> str:
        """What all texts of this shape begin with."""
        return self.pieces[0]

    @property
    def after(self) -> str:
        """What all texts of this shape end with."""
        return self.pieces[-1]

    def numbers(self, text: str) -> list[int] | None:
        """The ints in a text of this shape; None if it is of another."""
        pattern = "( *-?[0-9]+)".join(map(re.escape, self.pieces))
        if not (found := re.fullmatch(pattern, text)):
            return None
        numbers = [int(digits) for digits in found.groups()]
        held = all(-(2**63) <= n < 2**63 for n in numbers)
        return numbers if held and self.text(numbers) == text else None

    def text(self, numbers: Sequence[int]) -> str:
        """The text with its ints."""
        shown = (format(n, spec) + piece for n, spec, piece in zip(numbers, self.specs, self.pieces[1:], strict=True))
        return self.before + "".join(shown)

    def differs(self, other: Written) -> bool:
        """Whether no text of this shape is one of another."""
        if not self.specs and not other.specs:
            return self.before != other.before
        if any(self.others(c) != other.others(c) for c in {*"".join(self.pieces), *"".join(other.pieces)}):
            return True
        if not self.specs or not other.specs:
            known, open_ = (self, other) if not self.specs else (other, self)
            return not (known.before.startswith(open_.before) and known.before.endswith(open_.after))
        begin = self.before.startswith(other.before) or other.before.startswith(self.before)
        return not (begin and (self.after.endswith(other.after) or other.after.endswith(self.after)))

    def others(self, c: str) -> int:
        """How often a character is in each text of this shape, if no int is written with it; else 0."""
        return 0 if c in IN_INTS else "".join(self.pieces).count(c)


IN_INTS = "0123456789- "
"""What ints are written with."""


def written(shape: Shape) -> Written | None:
    """A text that is known, or has ints that are certain from it; None for any other."""
    parts: list[Any] = [shape] if shape.of is Part else list(shape.parts)
    pieces, specs = [""], list[str]()
    for part in parts:
        if isinstance(part, str):
            pieces[-1] += part
            continue
        if not isinstance(part, Shape) or part.of is not Part or not is_int(part.parts[0]):
            return None
        conversion, spec, _ = part.fixed
        if not re.fullmatch("0?[0-9]*d?", spec) or (conversion not in ("", "s") and part.parts[0].name == "np"):
            return None
        specs.append(spec)
        pieces.append("")
    apart = all(piece and piece[0] not in IN_INTS[:10] for piece in pieces[1:-1])
    return Written(tuple(pieces), tuple(specs)) if apart else None


def is_int(kind: Any) -> bool:
    """Whether a number is an int for certain, not a bool."""
    return isinstance(kind, Kind) and is_whole(kind) and kind.element is not I1 and not kind.python


def is_whole(form: Form) -> bool:
    """Whether numbers of a form are ints that 64 bits hold."""
    return isinstance(form, Kind) and form.element.dtype.kind in "iub" and form.element is not UI64


def distinct(form: Texts) -> bool:
    """Whether texts of different shapes, or of different ints, always differ."""
    shapes = [written(shape) for shape in form.shapes]
    known = [shape for shape in shapes if shape is not None]
    return len(known) == len(shapes) and all(a.differs(b) for a, b in combinations(known, 2))


def searched_text(r: Recorder, x: Any, form: Texts) -> list[Value] | None:
    """A text as the numbers that are looked for: its shape if there are several, and the int of each; -1 and zeros for
    one of another shape. None where it cannot be told from the others."""
    if type(x) is Cond:
        arms = [searched_text(r, arm, form) for arm in x.arms]
        if arms[0] is None or arms[1] is None:
            return None
        return [r.emit(arith.Select.of(x.condition, *pair)) for pair in zip(*arms, strict=True)]
    given = text_shape(x)
    if given is None:
        return None
    which, found = numbers_in(r, x, *given, form)
    several = len(form.shapes) > 1 or bool(form.known)
    apart = type(x) is str or distinct(Texts((*form.shapes, given[0])))
    if which < 0 and not (several and apart):
        return None
    nothing = r.constant(0, I64)
    numbers = []
    for k, shape in enumerate(form.shapes):
        numbers += found if k == which else [nothing for _ in shape.kinds()]
    return [*([r.constant(which, I64)] if several else []), *numbers]


def numbers_in(r: Recorder, x: Any, shape: Shape, numbers: Sequence[Any], form: Texts) -> tuple[int, list[Value]]:
    """Which shape a text is of, -1 for none, and its ints."""
    of = written(shape)
    for k, other in enumerate(form.shapes):
        if shape == other or (of is not None and written(other) == of):
            return k, [scalar_value(r, n, I64) for n in numbers]
    for k, other in enumerate(form.shapes if type(x) is str else ()):
        if (of := written(other)) is not None and (found := of.numbers(x)) is not None:
            return k, [r.constant(n, I64) for n in found]
    return -1, []


def places(form: Form) -> list[int]:
    """Of the columns of a part of a key, those that are looked for: the number; of a text its shape and its ints."""
    if not isinstance(form, Texts):
        return [len(form.types) - 1]
    kinds = [kind for shape in form.shapes for kind in shape.kinds()]
    first = len(form.types) - sum(len(kind.types) for kind in kinds)
    return [end - 1 for end in accumulate((len(kind.types) for kind in kinds), initial=first) if end]


def settled(r: Recorder, x: Any) -> Any:
    """A text whose only numbers are ints that may be part of the call's key, as a known one, which makes them so; any
    other value as it is."""
    if not isinstance(x, Text) or not all(is_settled(r, part) for part in x.open):
        return x
    known = (p if isinstance(p, str) else settled_part(r, p) for p in x.parts)
    return "".join(known)


def is_settled(r: Recorder, part: Part) -> bool:
    """Whether a part of a text is an int that may be part of the call's key."""
    return isinstance(part.value, PyInt) and not part.conversion and r.entry_only(part.value.expr)


def settled_part(r: Recorder, part: Part) -> str:
    """A part of a text that `is_settled`."""
    assert isinstance(part.value, PyInt)
    return format(r.static_int(part.value.expr, "a text"), part.spec)
