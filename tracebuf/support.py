"""The support table, docs/support.md: `python -m tracebuf.support` writes it, `--check` says whether it is up to date.

Nothing in it is written by hand. Every public name of NumPy, every builtin, function of `math`, method and attribute of
arrays is called in the ways of its spec (`testing/specs.py`), and each call is traced, not run: a call traced without a
`tracebuf.host_call` is native; one that is refused, though eager NumPy runs it, is a limit, described by the refusal's
reason.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import sys
import warnings
import zlib
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from tracebuf.api import BufferizedFunction, bufferize
from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.frontends.numpy.functions import table
from tracebuf.frontends.numpy.functions.host import scipys
from tracebuf.frontends.numpy.interpreter.talk import talks
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frozen import frozen
from tracebuf.ops.arrays.host import HostCall
from tracebuf.testing import names
from tracebuf.testing.drawn import Call
from tracebuf.testing.functions import drawn, function_of, picker
from tracebuf.testing.ladder import call
from tracebuf.testing.specs import OUT, spec_of

__all__ = ["PAGE", "Limit", "Row", "page", "row", "rows"]

PAGE = Path(__file__).parents[1] / "docs" / "support.md"
CALLS, EACH, MORE = 10, 3, 60
"""How many calls of each function are traced; with each of its optional parameters; and more where none was traced so
far."""
OF_METHODS = 4, 1
"""`CALLS` and `EACH` of a ufunc's method, which all ufuncs' have one handler of, and share the limits of."""
OFTEN = {"order": 30, "ord": 30}
"""By parameter that is drawn more often than `EACH`, because few of its arguments meet a limit (`order` of ufuncs), or
a host call (`ord`): how often, until one does."""
METHODS = "Methods of ufuncs"
NATIVE, HOSTED, BOTH, KNOWN, REFUSED = "native", "host call", "native or host call", "known values", "not supported"


@frozen(slots=False)
class Limit:
    """A limit in short, and a call that meets it."""

    text: str
    call: Call


@frozen(slots=False)
class Row:
    """A row of the table: a name, how it is supported, and its limits, or what to write instead of it."""

    name: str
    how: str
    limits: tuple[Limit, ...] = ()
    instead: str = ""


# -- finding out


def traced(example: Call) -> tuple[str, UnsupportedError | None]:
    """How a call is supported ("" where it raises), and the refusal if it is refused."""
    f = bufferize(function_of(example.text))
    assert isinstance(f, BufferizedFunction)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            _, found = f.trace(*example.arguments(0))
        except UnsupportedError as error:
            return REFUSED, error
        except TracebufError:
            raise
        except Exception:  # what NumPy raises
            return "", None
    return (HOSTED if any(isinstance(op, HostCall) for op in found.func.walk()) else NATIVE), None


def is_refused(example: Call) -> bool:
    """Whether the tracer refuses a call that eager NumPy runs."""
    if traced(example)[0] != REFUSED:
        return False
    return call(function_of(example.text), example.arguments(0)).error is None


_OF_OBJECT = "class P:\n        pass\n    p = P()\n    p.k = a"
ANSWERED: dict[str, str] = {
    "ascii": "return ascii('x')", "bin": "return bin(len(a))", "callable": "return callable(a)",
    "chr": "return chr(65)",
    "dict": "return dict(x=a)['x']", "eval": "return eval('a + 1')", "format": "return format(a[0], '.2f')",
    "getattr": "return getattr(a, 'shape')", "hasattr": "return hasattr(a, 'shape')", "hex": "return hex(len(a))",
    "issubclass": "return issubclass(int, object)", "oct": "return oct(len(a))", "ord": "return ord('a')",
    "repr": "return repr(len(a))", "setattr": f"{_OF_OBJECT}\n    setattr(p, 'k', a * 2)\n    return p.k",
}  # fmt: skip
"""By name of what the interpreter answers without a handler: the body of a function of an array that asks it."""


def is_answered(name: str) -> bool:
    """Whether the interpreter answers a call itself."""
    if name not in ANSWERED:
        return False
    try:
        bufferize(function_of(f"def f(a):\n    {ANSWERED[name]}\n")).trace(np.ones(3))
    except UnsupportedError:
        return False
    return True


def row(name: str) -> Row:
    """The row of a name."""
    value = names.object_of(name)
    if talks(value):
        return Row(name, HOSTED)
    if is_answered(name):
        return Row(name, NATIVE)
    if callable(value) and names.handler(name) is None and not spec_of(name).own:
        how = KNOWN if table.is_pure(value) and not isinstance(value, np.ufunc) else REFUSED
        return Row(name, how, instead=instead_of(name))
    ways, limits, instead = set[str](), dict[str, Limit](), ""
    for example in itertools.chain(examples(name, limits), more_examples(name, ways)):
        way, error = traced(example)
        ways.add(way)
        if error is not None and (text := brief(name, error.reason)) not in limits and is_refused(example):
            limits[text] = Limit(text, example)
            instead = error.instead or instead
    done = ways & {NATIVE, HOSTED}
    if not done:
        return Row(name, REFUSED, tuple(limits.values()), instead)
    how = done.pop() if len(done) == 1 else BOTH
    return Row(name, how, tuple(sorted(limits.values(), key=lambda limit: (len(limit.text), limit.text))))


def examples(name: str, limits: Container[str] = ()) -> Iterator[Call]:
    """Example calls of a function, with each of its parameters; `limits`: those met so far, by their texts."""
    spec = spec_of(name)
    calls, each = OF_METHODS if names.section(name) == METHODS else (CALLS, EACH)
    for number in range(calls):
        yield drawn(name, picker(random.Random(f"{name} {number}")))
    for parameter in (*(p for p, _ in spec.optional), *((OUT,) if spec.out else ())):
        often = parameter == "ord" or isinstance(names.object_of(name), np.ufunc)
        for number in range(OFTEN.get(parameter, each) if often else each):
            if number >= each and f"`{parameter}=`" in limits:
                break
            yield drawn(name, picker(random.Random(f"{name} {parameter} {number}")), parameter)


def more_examples(name: str, ways: set[str]) -> Iterator[Call]:
    """More example calls, as long as none could be traced."""
    for number in range(MORE):
        if ways & {NATIVE, HOSTED}:
            return
        yield drawn(name, picker(random.Random(f"{name} more {number}")))


def fingerprint() -> str:
    """A checksum of the names that the tracer has a handler for."""
    known = [n for n in names.public() if names.handler(n) is not None]
    return f"{zlib.crc32(' '.join(sorted(known)).encode()):08x}"


def instead_of(name: str) -> str:
    """What to write instead of a function or method that has no handler."""
    method = name.startswith("ndarray.")
    f = bufferize(function_of(f"def f(a):\n    return {name.replace('ndarray', 'a') if method else name}(a)\n"))
    try:
        f.trace(np.ones(3))
    except UnsupportedError as error:
        return error.instead if name.rpartition(".")[2] in error.reason else refusals.OUTSIDE
    except TracebufError:
        raise
    except Exception:  # what NumPy raises
        return refusals.OUTSIDE
    return ""


_PARAMETERS = re.compile(r".* with ((?:\w+=(?:, )?)+) is not supported$")
_JOINTS = "of|with|among|in|into|between"
"""The words that a limit begins with once the function's name is removed."""


def brief(name: str, reason: str) -> str:
    """The reason of a refusal as a limit of the function: without the function's name where a phrase remains ("of
    complex values"), else with the name that the table uses. A function that it was traced by is not named either."""
    if match := _PARAMETERS.match(reason):
        return ", ".join(f"`{p}`" for p in match[1].split(", "))
    text = re.sub(r"of a number of type \w+", "of a NumPy number", reason)
    text = re.sub(r"dtype \w+;.*", "this dtype", text)
    text = re.sub(r"dtype u?int\d+", "an integer dtype", text)
    text = re.sub(r"^this (result|value) is", r"a \1 that is", text)
    text = text.removesuffix(" is not supported").removesuffix(" yet")
    short = name.rpartition(".")[2]
    text = re.sub(rf"^(`?(np|numpy)\.[\w.]+`?|`?\.?{re.escape(short)}`?) ((?:{_JOINTS})\b)", r"\3", text)
    text = re.sub(r"^with (?=`?\w+=)", "", text)
    for own in (f"numpy.{name.removeprefix('np.')}", f".{short}"):
        text = re.sub(rf"(?<![.\w`])`?{re.escape(own)}`?(?![.\w])", f"`{name}`", text)
    return re.sub(r"(?<![`\w])(\w+=)(?![\w`])", r"`\1`", text).replace("|", "\\|")


@cache
def rows() -> tuple[Row, ...]:
    """The whole table, without the names that the interactive interpreter adds to the builtins (`exit`, `help` ...)."""
    added = [name for name in names.public() if type(names.object_of(name)).__module__ == "_sitebuiltins"]
    return tuple(row(name) for name in names.public() if name not in added)


# -- writing it

_HEAD = """# What is supported, name by name

[language.md](language.md) gives the overview. Here is every public function of NumPy, `np.linalg`, `np.fft`,
`np.lib.stride_tricks`, Python's builtins, `math` and `cmath`, and each method and attribute of arrays. Written by
`python -m tracebuf.support` from the tracer itself (do not edit); `tests/tools/test_support.py` holds it to that.

- **native**: traced into the program, compiled, fused with what surrounds it.
- **host call**: NumPy's own function, or the inner loop in it, runs on the program's arrays, as a `tracebuf.host_call`
  that `explain` lists. Ops before and after it are compiled as always, but nothing fuses across it.
- **known values**: may be called on what is known while tracing (dtypes, shapes, constants), not on arrays.
- A **limit** ("not") raises `UnsupportedError` while tracing, though NumPy does it: a parameter by its name, or the
  reason that the error gives, met by calls drawn at random. `like=`, `device=` and `subok=` are taken with all values
  that NumPy takes, and change nothing.

Of `np.random`, draws are supported ([language.md](language.md#random-numbers)), of `np.ma` questions about plain
arrays, of `ndarray.flags` each flag; of `np.testing` the assertions, of `scipy.special` the ufuncs with one result.
Functions that are written in Python, of other modules (`np.polynomial`, `np.lib`, SciPy) and of those that stand below
as not supported, are traced as they are written. Where that cannot be done, those of SciPy and of libraries built on it
are called as they are ([language.md](language.md)), and others refused. All else is called outside, or through
`tracebuf.host_call`.
"""


def of_scipy() -> str:
    """The compiled functions of SciPy that are host calls, by module."""
    lines = [f"- `{module}`: {listed(sorted(functions))}" for module, functions in sorted(scipys.ROWS.items())]
    return "\n".join(["Of SciPy's compiled functions, these are host calls:", "", *lines, ""])


def listed(texts: Iterable[str]) -> str:
    """Names as code, separated by commas."""
    return ", ".join(f"`{text}`" for text in texts)


def named(name: str) -> str:
    """A name as code, with its aliases."""
    others = names.aliases(name)
    return f"`{name}`" + (f" ({listed(others)})" if others else "")


def together(members: Sequence[Row], of: Sequence[Row]) -> str:
    """Names of a section as one text, of a section with the rows `of`; methods of ufuncs are grouped by method."""
    if names.section(members[0].name) != METHODS:
        return ", ".join(named(found.name) for found in members)
    return "; ".join(
        f"`{method}` of {ufuncs(with_method(members, method), with_method(of, method))}"
        for method in names.UFUNC_METHODS
        if with_method(members, method)
    )


def with_method(members: Iterable[Row], method: str) -> list[str]:
    """The ufuncs of those rows that are of a method."""
    return [found.name.rpartition(".")[0] for found in members if found.name.endswith(f".{method}")]


def ufuncs(some: Sequence[str], every: Sequence[str]) -> str:
    """Ufuncs by their names, or "every ufunc but" the others."""
    others = [name for name in every if name not in some]
    if len(others) >= len(some):
        return listed(some)
    return f"every ufunc but {listed(others)}" if others else "every ufunc"


def pooled(members: Sequence[Row]) -> Iterator[Row]:
    """The rows of ufuncs' methods, each with the limits of its method: one handler serves all ufuncs, but the calls
    drawn for each are too few to meet each limit."""
    for found in members:
        method = found.name.rpartition(".")[2]
        alike = [m for m in members if m.name.endswith(f".{method}") and m.how == found.how != REFUSED]
        limits = {limit.text: limit for m in alike for limit in m.limits}
        yield replace(found, limits=tuple(limits.values()) if alike else found.limits)


def section(title: str, members: Sequence[Row]) -> Iterator[str]:
    """One part of the page: names without limits as lists, the others as a table in which equal rows are merged."""
    free: dict[str, list[Row]] = {}
    limited: dict[tuple[str, str], list[Row]] = {}
    refused: dict[str, list[Row]] = {}
    for found in pooled(members) if title == METHODS else members:
        if found.how == REFUSED:
            refused.setdefault(found.instead or refusals.OUTSIDE, []).append(found)
        elif found.limits:
            limited.setdefault((found.how, "; ".join(limit.text for limit in found.limits)), []).append(found)
        else:
            free.setdefault(found.how, []).append(found)
    yield f"\n## {title}"
    for how, same in free.items():
        yield f"\n**{how[0].upper()}{how[1:]}**: {together(same, members)}."
    if limited:
        yield "\n| with limits | how | not |\n|---|---|---|"
        for (how, limits), same in limited.items():
            yield f"| {together(same, members)} | {how} | {limits} |"
    if refused:
        yield "\n**Not supported**, and what to write instead:\n"
        for instead, same in refused.items():
            yield f"- {together(same, members)}: {instead}"


def page(table: Sequence[Row]) -> str:
    """The table as a Markdown page."""
    sections: dict[str, list[Row]] = {}
    for found in table:
        sections.setdefault(names.section(found.name), []).append(found)
    counts = {how: sum(found.how == how for found in table) for how in (NATIVE, HOSTED, BOTH, KNOWN, REFUSED)}
    total = ", ".join(f"{how}: {count}" for how, count in counts.items())
    lines = [_HEAD, of_scipy(), f"{total} (NumPy {np.__version__})."]
    for title, members in sections.items():
        lines += section(title, members)
    return "\n".join([*lines, f"\n<!-- handlers: {fingerprint()} -->"]) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """The command line: writes the page, or checks it; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tracebuf.support", description="Writes docs/support.md.")
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    options = parser.parse_args(argv)
    text = page(rows())
    if options.check:
        return int(not PAGE.exists() or PAGE.read_text() != text)
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
