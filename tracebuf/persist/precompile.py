"""`python -m tracebuf precompile MODULE:FUNCTION ARGUMENT ...`: programs for the cache on disk, before any call.

For container images and clusters: a process that calls the function so, on such a processor, then neither traces nor
compiles. Nothing of the function is run; its module is imported.
"""

from __future__ import annotations

import ast
import re
import shlex
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from tracebuf import cache
from tracebuf.errors import TracebufError
from tracebuf.frontends.numpy.call.call import show_keys
from tracebuf.frontends.numpy.call.encoding import NotEncodable, Stale, named
from tracebuf.persist.programs import put
from tracebuf.persist.saved import bufferized
from tracebuf.specs import spec

USAGE = """Compiles functions for arguments of given kinds, and puts the programs into the cache on disk.

An argument is the text of a tracebuf.spec ("f8[n, m]", "f8[n] (F, read-only)", float, np.float32), a constant
(3, 0.5, True, None, "'mean'"), or a list, tuple or dict of these ("{'w': f8[n, k], 'rate': float}"); NAME=ARGUMENT is
one by keyword. Equal names of sizes are equal sizes within one call.

  python -m tracebuf precompile solvers:step "f8[n, m]" "f8[n, m]" dt=float
  python -m tracebuf precompile --from calls.txt        (a line MODULE:FUNCTION ARGUMENT ... for each; # comments)

A program serves the processor, the versions and the user (of the operating system) that compiled it, and the module in
the same place. The exit status is 1 where a program could not be made or kept.
"""
_KEYWORD = re.compile(r"([^\W\d]\w*)=(?!=)(.*)", re.DOTALL)


class UsageError(Exception):
    """A command line that says nothing that can be done."""


def main(argv: Sequence[str]) -> int:
    """Runs the command; the exit status. What fails is printed on stderr, and the others are still compiled."""
    command = parser().parse_args(argv)
    try:
        calls = calls_of(command)
    except (UsageError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    where = Path(command.cache) if command.cache is not None else cache.info().directory
    if where is None:
        print("error: there is no cache (TRACEBUF_CACHE_DIR is empty); --cache DIR says where", file=sys.stderr)
        return 1
    cache.use(where, programs=True)
    if "" not in sys.path:
        sys.path.insert(0, "")  # as for `python -m`
    failed = False
    for target, words in calls:
        try:
            print(precompile(target, words), flush=True)
        except Exception as error:  # of the module, or what a call of the function raises
            failed = True
            kind = "" if isinstance(error, (TracebufError, UsageError)) else f"{type(error).__name__}: "
            notes = "".join(f"\n{note}" for note in getattr(error, "__notes__", ()))
            print(f"error: {target}: {kind}{error}{notes}", file=sys.stderr)
    return int(failed)


def parser() -> ArgumentParser:
    made = ArgumentParser(
        "python -m tracebuf precompile", description=USAGE, formatter_class=RawDescriptionHelpFormatter
    )
    made.add_argument("target", nargs="?", metavar="MODULE:FUNCTION")
    made.add_argument("arguments", nargs="*", metavar="ARGUMENT")
    made.add_argument("--from", dest="file", metavar="FILE", help="a file of such calls (- for standard input)")
    made.add_argument("--cache", metavar="DIR", help="where the cache is, if not in its usual place")
    return made


def calls_of(command: Namespace) -> list[tuple[str, list[str]]]:
    """The functions and their arguments. Raises UsageError where there are none."""
    calls = [] if command.target is None else [(command.target, list(command.arguments))]
    if command.file is not None:
        text = sys.stdin.read() if command.file == "-" else Path(command.file).read_text()
        for k, line in enumerate(text.splitlines(), 1):
            try:
                words = shlex.split(line, comments=True)
            except ValueError as error:
                raise UsageError(f"{command.file}, line {k}: {error}") from None
            calls += [(words[0], words[1:])] if words else []
    if not calls:
        raise UsageError("no function: MODULE:FUNCTION ARGUMENT ..., or --from FILE (-h for help)")
    return calls


def precompile(target: str, words: Sequence[str]) -> str:
    """Compiles a function for arguments, and keeps the program; a line that says what was done. Raises UsageError,
    and whatever compiling raises."""
    module, colon, name = target.partition(":")
    if not colon or not module or not name:
        raise UsageError("a function is named MODULE:FUNCTION, as in solvers:step")
    import_module(module)
    try:
        found = named(module, name)
    except Stale as error:
        raise UsageError(str(error)) from None
    if (f := bufferized(found)) is None:
        raise UsageError(f"a {type(found).__name__}, which is not bufferized")
    args, kwargs = arguments(words)
    program = f._program_for(args, kwargs)
    try:
        kept = put(f.__wrapped__, f.options, program.call, program.traced, program.kernel)
    except NotEncodable as reason:
        what = "its machine code is kept, but each process traces it"
        raise UsageError(f"this program cannot be kept as a whole: {reason}; {what}") from None
    if not kept:
        raise UsageError(f"the program could not be written into {cache.info().directory}")
    return f"{'was there' if program.loaded else 'compiled'}: {target} for ({show_keys(program.call)})"


def arguments(words: Sequence[str]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, positional and by keyword."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for word in (one for given in words for one in separate(given)):
        if match := _KEYWORD.fullmatch(word):
            kwargs[match[1]] = argument(match[2])
        elif kwargs:
            raise UsageError(f"the argument {word!r} follows one by keyword")
        else:
            args.append(argument(word))
    return tuple(args), kwargs


def separate(word: str) -> list[str]:
    """The arguments in a word, which commas before names separate: `a=f8[9, 9],n=5`."""
    commas, depth, quote = list[int](), 0, ""
    for k, c in enumerate(word):
        if quote or c in "'\"":
            quote = "" if c == quote else quote or c
            continue
        depth += (c in "([{") - (c in ")]}")
        if c == "," and not depth and re.match(r"\s*[^\W\d]\w*\s*=(?!=)", word[k + 1 :]):
            commas.append(k)
    begins, ends = [0, *(k + 1 for k in commas)], [*commas, len(word)]
    return [word[a:b].strip() for a, b in zip(begins, ends)] if commas else [word]


def argument(text: str) -> Any:
    """One argument: a spec, a constant, or a container of these. They are written as Python expressions, but for an
    array without axes."""
    written = re.sub(r"(?<=\w)\[\s*\]", "[()]", text.strip())
    try:
        node = ast.parse(written, mode="eval").body
    except (SyntaxError, ValueError):
        return spec(text)  # which says what is wrong
    return _value(written, node)


def _value(text: str, node: ast.expr) -> Any:
    if isinstance(node, (ast.List, ast.Tuple)):
        items = [_value(text, item) for item in node.elts]
        return items if isinstance(node, ast.List) else tuple(items)
    if isinstance(node, ast.Dict):
        if None in node.keys:
            raise UsageError(f"{text!r} is no dict of arguments")
        return {_value(text, k): _value(text, v) for k, v in zip(node.keys, node.values) if k is not None}
    try:
        return ast.literal_eval(node)
    except ValueError:
        return spec(ast.get_source_segment(text, node) or text)
