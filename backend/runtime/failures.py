"""What a failed check raises, as steps for machine code (`entry_words.Result`): the exception's class, its arguments,
the note with the user's line, all of them looked up once.

Only for what these steps make just as `make_error` does; Python raises the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import Formatter
from types import BuiltinFunctionType, WrapperDescriptorType
from typing import Any

from tracebuf.backend.layout import abi
from tracebuf.backend.layout.entry_words import FAILURE_ROOM, Result
from tracebuf.backend.runtime.image import Failure
from tracebuf.errors import TracebufError, note_of
from tracebuf.ir.types import INDEX, ScalarType
from tracebuf.running.raised import Number, Several, Shown, raised

Step = tuple[Any, ...]


def raising(failure: Failure, at: int) -> list[Step] | None:
    """The steps, of a failure whose values are in the frame from slot `at`; None where Python must raise it."""
    kind, message = raised(failure.exception), failure.message
    if isinstance(kind, BaseException):
        kind, message = type(kind), kind.args
    if not _plain(kind) or len(failure.types) > abi.MAX_ERROR_VALUES:
        return None
    parts = (Shown(message, len(failure.types)),) if isinstance(message, str) else message or ()
    if any(isinstance(part, Several) for part in parts):
        return None
    steps: list[Step] = [(Result.OBJECT, kind)]
    slots = [(at + abi.ERROR_VALUE * k, t) for k, t in enumerate(failure.types)]
    taken = 0
    for part in parts:
        count = part.count if isinstance(part, Shown) else int(isinstance(part, Number))
        of = slots[taken : taken + count]
        taken += count
        made = _argument(part, of) if len(of) == count else None
        if made is None:
            return None
        steps += made
    if len(steps) > FAILURE_ROOM:
        return None
    return [*steps, (Result.CALL, len(parts)), (Result.RAISE, "__notes__", note_of(failure.location))]


def _plain(kind: type[BaseException]) -> bool:
    """Whether calling the class makes an instance of it, without notes, that takes them as exceptions do."""
    own = kind.__init__, kind.__setattr__
    made = type(kind) is type and isinstance(kind.__new__, BuiltinFunctionType)
    plain = made and all(isinstance(x, WrapperDescriptorType) for x in own)
    return plain and kind.add_note is BaseException.add_note and not issubclass(kind, TracebufError)


def _argument(part: object, of: Sequence[tuple[int, ScalarType]]) -> list[Step] | None:
    """One argument of an exception, of values in these slots."""
    if isinstance(part, Shown):
        return _shown(part.template, of)
    if not isinstance(part, Number):
        return [(Result.OBJECT, part)]
    at, type_ = of[0]
    if part.kind is type_.dtype.type and type_ is not INDEX:
        return [(Result.NUMPY, at, type_.dtype)]
    step = _number(at, type_)
    return [step] if step is not None and part.kind is _CLASSES[step[0]] else None


def _shown(template: str, of: Sequence[tuple[int, ScalarType]]) -> list[Step] | None:
    """A text of values: as `str` or `format` shows them, which is the same of NumPy's numbers and of Python's."""
    pieces, numbers = [*Formatter().parse(template)], [_number(at, type_) for at, type_ in of]
    if any(name or spec or how for _, name, spec, how in pieces) or None in numbers:
        alike = not any(how for _, _, _, how in pieces)
        given = [n if n is not None and alike else _exact(at, type_) for n, (at, type_) in zip(numbers, of)]
        return [(Result.OBJECT, template.format), *given, (Result.CALL, len(of))]
    if not of:
        return [(Result.OBJECT, template.format())]
    steps, rest = list[Step](), iter(numbers)
    for text, name, _, _ in pieces:
        if text:
            steps.append((Result.OBJECT, text))
        if name is not None:
            if (number := next(rest, None)) is None:
                return None
            steps.append(number)
    return [*steps, (Result.TEXT, len(steps))]


def _exact(at: int, type_: ScalarType) -> Step:
    """A number in a slot, of the class that `make_error` has it in."""
    return (Result.INT, at) if type_ is INDEX else (Result.NUMPY, at, type_.dtype)


_STEPS = {"index": Result.INT, "i64": Result.INT, "f64": Result.FLOAT, "i1": Result.BOOL}
_CLASSES = {Result.INT: int, Result.FLOAT: float, Result.BOOL: bool}


def _number(at: int, type_: ScalarType) -> Step | None:
    """A number in a slot, as one of Python's."""
    return (_STEPS[type_.name], at) if type_.name in _STEPS else None
