"""`python -m tracebuf measure MODULE:FUNCTION ARGUMENT ...`: what a call costs, and whether that is within limits."""

from __future__ import annotations

import inspect
import json
import re
import sys
import traceback
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from importlib import import_module
from typing import Any, get_args

import numpy as np

from tracebuf.errors import TracebufError
from tracebuf.frontends.numpy.call.encoding import Stale, named
from tracebuf.measure import Measurement, measure
from tracebuf.options import Strategy
from tracebuf.persist.precompile import UsageError, arguments
from tracebuf.process.display import users_part
from tracebuf.process.progress import shown
from tracebuf.specs import Spec, examples

USAGE = """Measures one call of a Python function, bufferized or not: memory by line, page faults, CPU time.

An argument is the text of a tracebuf.spec with the sizes of the call ("f8[1000, 1000]"), a constant (3, 0.5, "'mean'"),
or a list, tuple or dict of these; NAME=ARGUMENT is one by keyword. Arrays get numbers from 0 to 1, integers are 1.
--npz and --factory give real data; what they give by position stands before the ARGUMENTs, the factory's first.

  python -m tracebuf measure solvers:step "f8[500, 500]" "f8[500, 500]" dt=0.1
  python -m tracebuf measure solvers:step --npz state.npz dt=0.1 --max-allocations 0 --max-peak 16MiB

Limits hold for the compiled program of a bufferized function, otherwise for NumPy. The exit status is 1 where one is
broken or the function raises, 2 for a command line that says nothing.
"""
LIMITS = {
    "max_allocations": "allocations", "max_copies": "copies", "max_bytes": "allocated_bytes", "max_peak": "peak_bytes"
}  # fmt: skip
"""What each limit is of, by the names of `Counts`."""
_UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def main(argv: Sequence[str]) -> int:
    """Runs the command; the exit status."""
    given = parser().parse_intermixed_args(argv)
    if "" not in sys.path:
        sys.path.insert(0, "")  # as for `python -m`
    try:
        with _output(given.json):
            f = function_of(given.target)
            args, kwargs = call_of(given)
            strategies = _strategies(given, f)
            _check_fits(f, args, kwargs)
    except (UsageError, Stale, ImportError, OSError) as error:
        print(f"error: {given.target}: {error}", file=sys.stderr)
        return 2
    try:
        with _output(given.json), shown("measure", steps_of(f, given.repeat, len(strategies))):
            measured = measure(f, *args, repeat=given.repeat, strategies=strategies, **kwargs)
    except TracebufError as error:
        print(f"error: {given.target}: {error}", file=sys.stderr)
        return 1
    except Exception as error:
        traceback.print_exception(type(error), error, users_part(error.__traceback__))
        print(f"error: {given.target}: the function raises {type(error).__name__}", file=sys.stderr)
        return 1
    broken = list(broken_limits(measured, given))
    limits = {name: limit for name in LIMITS if (limit := getattr(given, name)) is not None}
    told = {**measured.to_dict(), "limits": limits, "broken": broken}
    print(json.dumps(told) if given.json else measured.text(given.all), flush=True)
    for text in broken:
        print(f"error: {given.target}: {text}", file=sys.stderr)
    return int(bool(broken))


def _output(json: bool) -> AbstractContextManager[Any]:
    """Where the program prints: JSON has standard output for itself."""
    return redirect_stdout(sys.stderr) if json else nullcontext()


def _check_fits(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raises UsageError where these cannot be the arguments of a call."""
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):  # of C code
        return
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise UsageError(f"{error} (its parameters: {signature})") from None


def steps_of(f: Any, repeat: int, strategies: int) -> int:
    """How many steps `measure` tells of."""
    return repeat + (3 if not hasattr(f, "call_counted") else 5 + strategies)


def parser() -> ArgumentParser:
    made = ArgumentParser("python -m tracebuf measure", description=USAGE, formatter_class=RawDescriptionHelpFormatter)
    made.add_argument("target", metavar="MODULE:FUNCTION")
    made.add_argument("arguments", nargs="*", metavar="ARGUMENT")
    made.add_argument("--args", dest="more", nargs="+", default=[], metavar="ARGUMENT", help="arguments, too")
    made.add_argument(
        "--npz", metavar="FILE", help="arrays of numpy.savez: arr_0, arr_1, ... by position, all others by keyword"
    )
    made.add_argument(
        "--factory", metavar="MODULE:FUNCTION", help="called without arguments, returns a tuple of arguments or a dict"
    )
    made.add_argument("--repeat", type=_at_least(1), default=3, metavar="N", help="rounds that are timed (3)")
    made.add_argument("--strategies", metavar="NAMES", help="other strategies beside: 'all', or names with commas")
    made.add_argument("--all", action="store_true", help="all lines, those of less than 1 KiB too")
    made.add_argument("--json", action="store_true", help="print all of it as JSON")
    for limit, of in LIMITS.items():
        text = f"at most so many {of.replace('_', ' ')}"
        kind = _size if "bytes" in of else _at_least(0)
        made.add_argument("--" + limit.replace("_", "-"), type=kind, metavar="N", help=text)
    return made


def _at_least(least: int) -> Any:
    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise ArgumentTypeError(f"{text!r} is no number from {least} on")
        return int(text)

    return number


def _size(text: str) -> int:
    """Bytes: 4096, 16KiB, 2MiB, 1GiB."""
    if (match := re.fullmatch(r"(\d+)\s*([KMG]iB|)", text)) is None:
        raise ArgumentTypeError(f"{text!r} is no number of bytes (4096, 16KiB, 2MiB, 1GiB)")
    return int(match[1]) * _UNITS[match[2]]


def _strategies(given: Namespace, f: Any) -> Sequence[str]:
    if given.strategies is None:
        return ()
    if not hasattr(f, "call_counted"):
        raise UsageError("--strategies are those of a bufferized function")
    names = get_args(Strategy) if given.strategies == "all" else given.strategies.split(",")
    if unknown := [name for name in names if name not in get_args(Strategy)]:
        raise UsageError(f"no strategy {unknown[0]!r}: they are {', '.join(get_args(Strategy))}")
    return names


def function_of(target: str) -> Any:
    """What MODULE:FUNCTION names. Raises UsageError, Stale, ImportError."""
    module, colon, name = target.partition(":")
    if not (module and colon and name):
        raise UsageError("a function is named MODULE:FUNCTION, as in solvers:step")
    import_module(module)
    found = named(module, name)
    if not callable(found):
        raise UsageError(f"a {type(found).__name__}, which cannot be called")
    return found


def call_of(given: Namespace) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of the call, from all places that give some. Raises UsageError."""
    sources = [
        *([_of_factory(given.factory)] if given.factory is not None else []),
        *([_of_file(given.npz)] if given.npz is not None else []),
        _of_words([*given.arguments, *given.more]),
    ]
    kwargs: dict[str, Any] = {}
    for _, named_ones in sources:
        if twice := sorted(kwargs.keys() & named_ones.keys()):
            raise UsageError(f"the argument {twice[0]!r} is given twice")
        kwargs |= named_ones
    return tuple(x for args, _ in sources for x in args), kwargs


def _of_factory(target: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    made = function_of(target)()
    if isinstance(made, tuple):
        return made, {}
    if isinstance(made, dict) and all(isinstance(name, str) for name in made):
        return (), made
    returned = f"{target} returns {type(made).__name__}"
    raise UsageError(f"{returned}, not a tuple of arguments nor a dict of arguments by name")


def _of_file(file: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    try:
        loaded = np.load(file)
    except ValueError as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    if not isinstance(loaded, np.lib.npyio.NpzFile):
        return (loaded,), {}
    with loaded:
        try:
            arrays = {name: loaded[name] for name in loaded.files}
        except ValueError as error:
            raise UsageError(f"{file} cannot be read: {error}") from None
    count = 0
    while f"arr_{count}" in arrays:
        count += 1
    return tuple(arrays.pop(f"arr_{k}") for k in range(count)), arrays


def _of_words(words: Sequence[str]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    try:
        args, kwargs = arguments(words)
        made, named_ones, sizes = examples(args, kwargs)
    except ValueError as error:
        word = next(
            (w for w in words if w.rpartition("=")[2].isidentifier() and repr(w.rpartition("=")[2]) in str(error)), ""
        )
        hint = f"; a string has quotes of its own: \"'{word.rpartition('=')[2]}'\"" if word else ""
        raise UsageError(f"{error}{hint}") from None
    if sizes:
        raise UsageError(f"a call has sizes: write a number in the place of {', '.join(sizes)}")
    _fill((args, kwargs), (made, named_ones))
    return made, named_ones


def _fill(given: Any, made: Any) -> None:
    """Gives numbers to the arrays that stand for specs."""
    if isinstance(given, Spec):
        if isinstance(made, np.ndarray):
            made.flags.writeable = True
            made[...] = _numbers(made.shape, made.dtype)
            made.flags.writeable = given.writable
    elif isinstance(given, dict):
        for key in given:
            _fill(given[key], made[key])
    elif isinstance(given, tuple | list):
        for x, y in zip(given, made, strict=True):
            _fill(x, y)


def _numbers(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    if dtype.kind in "fc":
        return np.random.default_rng(0).random(shape)
    return np.random.default_rng(0).random(shape) < 0.5 if dtype.kind == "b" else 1


def broken_limits(measured: Measurement, given: Namespace) -> Iterator[str]:
    """A text for each limit that does not hold, or of which nothing is known."""
    side, counts = ("NumPy", measured.eager) if measured.native is None else ("the program", measured.native)
    for limit, of in LIMITS.items():
        most, found = getattr(given, limit), getattr(counts, of)
        option = f"--{limit.replace('_', '-')} {most}"
        if most is None:
            continue
        if found is None:
            yield f"{option} cannot be checked: what NumPy copies cannot be observed"
        elif found > most:
            yield f"{found} {of.replace('_', ' ')} of {side}, where {option}"
