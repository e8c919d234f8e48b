"""The exceptions that compiled code raises, as data: what `tracebuf.check` has for attributes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from types import BuiltinFunctionType

from tracebuf.frozen import frozen


@frozen(slots=False)
class Shown:
    """An argument of an exception: a text with a {} for each of the next `count` operands."""

    template: str
    count: int


@frozen(slots=False)
class Number:
    """An argument of an exception: the next operand, as a number of the type `kind` (Python's or NumPy's)."""

    kind: type


@frozen(slots=False)
class Several:
    """An argument of an exception: a tuple, list or dict (of which the parts are keys and values in turn)."""

    kind: type
    parts: tuple[object, ...]


Message = str | tuple[object, ...] | None
"""The arguments of an exception: a text with a {} for each operand, or a tuple of constants, `Shown`, `Number` and
`Several`; None where there are none."""
Raised = str | type[BaseException] | BaseException
"""An exception to raise: a class, the name of a common one, or one to raise again (by its class and arguments)."""
EXCEPTIONS: dict[str, type[BaseException]] = {
    e.__name__: e for e in (IndexError, ValueError, ZeroDivisionError, OverflowError, TypeError, MemoryError)
}


def raised(exception: Raised) -> type[BaseException] | BaseException:
    return EXCEPTIONS[exception] if isinstance(exception, str) else exception


def make_error(exception: Raised, message: Message, values: Sequence[object]) -> BaseException:
    """The exception with its arguments: those of `message`, with `values`."""
    kind = raised(exception)
    if isinstance(kind, BaseException):
        return type(kind)(*kind.args)
    if isinstance(message, tuple):
        rest = iter(values)
        return kind(*(argument(part, rest) for part in message))
    return kind() if message is None else kind(message.format(*values))


def error_text(exception: Raised, message: Message, quoted: bool, *values: object) -> str:
    """The text of an exception, as `str` shows it or (`quoted`) as `repr` does."""
    error = make_error(exception, message, values)
    return repr(error) if quoted else str(error)


def bare(exception: Raised) -> BaseException | None:
    """One of the exception's class, without arguments; None where making it runs code of the class."""
    kind = raised(exception)
    kind = type(kind) if isinstance(kind, BaseException) else kind
    return kind.__new__(kind) if isinstance(kind.__new__, BuiltinFunctionType) else None


def argument(part: object, values: Iterator[object]) -> object:
    """One argument of an exception, which takes its operands from `values`."""
    if isinstance(part, Shown):
        return part.template.format(*islice(values, part.count))
    if isinstance(part, Several):
        made = [argument(p, values) for p in part.parts]
        return dict(zip(made[::2], made[1::2])) if part.kind is dict else part.kind(made)
    return part.kind(next(values)) if isinstance(part, Number) else part
