"""What runs where compiled code talks: prints, warns, logs, asserts, reads a clock. How such calls are traced stands in
interpreter/talk.py.

Arguments are patterns, which are filled in when the program comes there: numbers and arrays by their operands, text by
Python's own formatting of these.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from tracebuf.errors import TracebufError
from tracebuf.frontends.numpy.call.watched import call_watched
from tracebuf.frozen import frozen
from tracebuf.running.host import Passed, Run, fill
from tracebuf.running.kept import Rope


# -- arguments
@frozen()
class Weak:
    """A number that is Python's, of a type, where the operand `flag` holds, else NumPy's."""

    place: int
    flag: int
    type: type


@frozen()
class Chosen:
    """One of two values: the first where the operand `flag` holds."""

    flag: int
    arms: tuple[Any, ...]


@frozen()
class Formatted:
    """A value as a part of a text, after a conversion (`r`, `s`, `a`, or none), in a format."""

    value: Any
    conversion: str
    spec: str


@frozen()
class Written:
    """A text, made of texts and `Formatted`."""

    parts: tuple[Any, ...]


@frozen()
class Roped:
    """A text that loops add to: its parts, which are texts, `Applied` and the like."""

    parts: tuple[Any, ...]


@frozen(eq=False)
class Applied:
    """What a function gives for arguments, the last ones by `names`."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    names: tuple[str, ...]


@frozen()
class OldSetting:
    """One of the settings that `set_errors` has given as the operand `number`."""

    number: Any
    place: int


@frozen()
class Mapped:
    """A dict, by its items."""

    items: tuple[tuple[Any, Any], ...]


@frozen()
class Stream:
    """`sys.stdout` or `sys.stderr`, whatever that is when the program comes there."""

    name: str


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {"r": repr, "s": str, "a": ascii}


def filled(pattern: Any, operands: Sequence[Any]) -> Any:
    """An argument, when the program runs."""
    if isinstance(pattern, Passed):
        return fill(pattern, operands)
    if isinstance(pattern, Weak):
        x = operands[pattern.place]
        return pattern.type(x) if operands[pattern.flag] else x
    if isinstance(pattern, Chosen):
        return filled(pattern.arms[0 if operands[pattern.flag] else 1], operands)
    if isinstance(pattern, Written):
        return "".join([p if isinstance(p, str) else filled(p, operands) for p in pattern.parts])
    if isinstance(pattern, Roped):
        return Rope(tuple([p if isinstance(p, str) else filled(p, operands) for p in pattern.parts]))
    if isinstance(pattern, Formatted):
        x = filled(pattern.value, operands)
        return format(_CONVERSIONS[pattern.conversion](x) if pattern.conversion else x, pattern.spec)
    if isinstance(pattern, Applied):
        given = [filled(p, operands) for p in pattern.arguments]
        positional = len(given) - len(pattern.names)
        return pattern.function(*given[:positional], **dict(zip(pattern.names, given[positional:])))
    if isinstance(pattern, OldSetting):
        return ERROR_KINDS[filled(pattern.number, operands) >> 4 * pattern.place & 15]
    if isinstance(pattern, Mapped):
        return {filled(k, operands): filled(v, operands) for k, v in pattern.items}
    if isinstance(pattern, Stream):
        return getattr(sys, pattern.name)
    return type(pattern)([filled(p, operands) for p in pattern]) if type(pattern) in (tuple, list) else pattern


@frozen(eq=False)
class Talk:
    """A call as it runs: its arguments, the last ones by `names`. Where there is an out, it gets the result, a number
    of its dtype."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    names: tuple[str, ...]

    def __call__(self, ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
        function = self.function

        def call() -> Any:
            return filled(Applied(function, self.arguments, self.names), ins)

        result = call_watched(call, getattr(function, "__qualname__", str(function)), ())
        if outs:
            if not isinstance(result, (int, float)):
                raise TracebufError(f"{function.__qualname__} gave a {type(result).__name__}, which is no number")
            outs[0][...] = result


def under(options: dict[str, Any], show: Callable[[Any], str], x: Any) -> str:
    """The text of an array under options of `np.printoptions`."""
    with np.printoptions(**options):
        return show(x)


@frozen(eq=False)
class Rows:
    """The texts in a list of run-time length: a pattern for each shape that one may have, and how many operands it
    takes."""

    patterns: tuple[tuple[Any, int], ...]


def texts_of(rows: Rows, *columns: np.ndarray) -> list[str]:
    """The texts whose numbers are in columns; if there are several patterns, the first says which one each has."""
    patterns, made, several = rows.patterns, [], len(rows.patterns) > 1
    firsts = [several + sum(count for _, count in patterns[:k]) for k in range(len(patterns))]
    for row in zip(*columns):
        which = int(row[0]) if several else 0
        pattern, count = patterns[which]
        made.append(filled(pattern, row[firsts[which] : firsts[which] + count]))
    return made


def joined_texts(between: str, rows: Rows, *columns: np.ndarray) -> str:
    """between.join(...) of such texts."""
    return between.join(texts_of(rows, *columns))


# -- filters
@frozen(eq=False)
class Filter:
    """A call of `warnings.simplefilter` or `filterwarnings`."""

    function: Callable[..., None]
    arguments: tuple[Any, ...]


@frozen(eq=False)
class Filtered:
    """A call inside of `with warnings.catch_warnings()`, under the filters that were set there."""

    run: Run
    filters: tuple[Filter, ...]

    def __call__(self, ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
        with warnings.catch_warnings():
            for f in self.filters:
                f.function(*f.arguments)
            self.run(ins, outs)


# -- places
class Names:
    """The names of a module that has not been imported."""

    def __init__(self, held: dict[str, Any]) -> None:
        self.held = held


@frozen(eq=False)
class Place:
    """A line of the user's that talks: of a function that is traced, in a module, whose names are in `names` unless it
    has been imported; or, unless `above` is 0, of a caller of the bufferized function, the first, second ... one."""

    file: str
    line: int
    function: str
    module: str
    names: Names | None
    above: int = 0

    def here(self) -> tuple[str, int, str, dict[str, Any]]:
        """The file, the line, the function, and the names of its module."""
        if not self.above:
            names = vars(sys.modules[self.module]) if self.names is None else self.names.held
            return self.file, self.line, self.function, names
        frame = caller(self.above)
        if frame is None:  # as warnings.warn has it
            return "sys", 1, "<sys>", vars(sys)
        return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, frame.f_globals


def caller(above: int) -> FrameType | None:
    """The frame of a caller of the bufferized function that is running: the first, second ... one."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == "tracebuf":
        frame = frame.f_back
    for _ in range(above - 1):
        frame = frame and frame.f_back
    return frame


# -- what is called
def warn_at(place: Place, message: Any, category: Any, source: Any) -> None:
    """warnings.warn of a line."""
    if isinstance(message, Warning):
        category = type(message)
    category = UserWarning if category is None else category
    if not (isinstance(category, type) and issubclass(category, Warning)):
        warnings.warn(message, category, stacklevel=2)  # raises
    file, line, _, names = place.here()
    module, registry = names.get("__name__") or "<string>", names.setdefault("__warningregistry__", {})
    warnings.warn_explicit(message, category, file, line, module, registry, None, source)


def log_at(place: Place, logger: logging.Logger, level: int, message: Any, *args: Any) -> None:
    """logger.log of a line. A record may be kept: it gets arrays of its own."""
    if logger.isEnabledFor(level):
        file, line, function, _ = place.here()
        given = tuple(np.array(x) if isinstance(x, np.ndarray) else x for x in args)
        record = logger.makeRecord(logger.name, level, file, line, message, given, None, function, None, None)
        logger.handle(record)


def log_to_root(place: Place, level: int, message: Any, *args: Any) -> None:
    """logging.log of a line."""
    if not logging.root.handlers:
        logging.basicConfig()
    log_at(place, logging.root, level, message, *args)


ERROR_KINDS = ("ignore", "warn", "raise", "call", "print", "log")
"""What NumPy may do at a floating-point error."""
ERRORS = ("divide", "over", "under", "invalid")


def set_errors(**given: Any) -> int:
    """np.seterr(...): what was set before, as one number."""
    old: Any = np.seterr(**given)
    return sum(ERROR_KINDS.index(old[name]) << 4 * k for k, name in enumerate(ERRORS))


def write_to(stream: Any, text: str) -> Any:
    """stream.write(text)."""
    return stream.write(text)


def flush(stream: Any) -> None:
    """stream.flush()."""
    stream.flush()


def raise_as(kind: type[BaseException], *args: Any, **named: Any) -> NoReturn:
    """Raises an exception with arguments; it may be kept, and gets arrays of its own."""
    own = [np.array(x) if isinstance(x, np.ndarray) else x for x in (*args, *named.values())]
    raise kind(*own[: len(args)], **dict(zip(named, own[len(args) :])))
