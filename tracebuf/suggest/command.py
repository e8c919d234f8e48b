"""`python -m tracebuf suggest script.py`: the run, the trials, the table."""

from __future__ import annotations

import json
import sys
from argparse import REMAINDER, ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from types import CodeType, FunctionType

from tracebuf import cache
from tracebuf.api import BufferizedFunction, bufferize
from tracebuf.suggest import program
from tracebuf.suggest.decorators import edited
from tracebuf.suggest.owned import Owner
from tracebuf.suggest.profiler import Profiler, Seen
from tracebuf.suggest.report import Report, ranked
from tracebuf.suggest.trials import Trial, tried

__all__ = ["main", "suggestions"]

USAGE = """Runs a program as it is, tries its hot NumPy functions decorated, and says which to decorate.

  python -m tracebuf suggest script.py ARGUMENT ...
  python -m tracebuf suggest -m package ARGUMENT ...
  python -m tracebuf suggest -m pytest tests

The exit status is the program's. Options of this command stand before the program.
"""
_MEBI = 1 << 20
_SHARE = 0.01
"""Functions that take less of the run are not tried."""


def main(argv: Sequence[str]) -> int:
    """Runs the command; the program's exit status, 2 where there is no program."""
    command = ArgumentParser(
        "python -m tracebuf suggest", description=USAGE, formatter_class=RawDescriptionHelpFormatter
    )
    command.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module")
    command.add_argument("--top", type=int, default=10, metavar="N", help="try the N hottest functions (10)")
    command.add_argument("--include", action="append", default=[], metavar="PATTERN",
                         help="files whose path has PATTERN are yours, too: a library's")  # fmt: skip
    command.add_argument("--limit", type=int, default=512, metavar="MIB",
                         help="memory for copies of arguments, all together (512)")  # fmt: skip
    command.add_argument("--longest", type=float, default=20.0, metavar="SECONDS",
                         help="calls that take longer are not tried (20)")  # fmt: skip
    command.add_argument("--json", metavar="FILE", help="write what was found as JSON; - is standard output")
    command.add_argument("--diff", action="store_true", help="show the decorators as a unified diff")
    command.add_argument("--apply", action="store_true", help="write the decorators into the files")
    command.add_argument("program", metavar="PROGRAM")
    command.add_argument("arguments", nargs=REMAINDER, metavar="ARGUMENT", help="the program's own")
    given = command.parse_args(argv)
    try:
        start = program.module(given.program) if given.module else program.script(given.program)
    except (program.NotFound, SyntaxError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    profiler = Profiler(Owner(given.include), given.limit * _MEBI)
    status = program.run(start, [given.program, *given.arguments], profiler)
    sys.stdout.flush()
    found = suggestions(profiler, status, given.top, given.longest)
    if given.json == "-":
        print(json.dumps(found.to_dict(), indent=1))
        return status
    if given.json:
        with open(given.json, "w") as file:
            json.dump(found.to_dict(), file, indent=1)
    print(f"\n{found}")
    suggested = [f.code for f in found.of("suggested")]
    if given.diff or given.apply:
        _decorate(suggested, given.diff, given.apply)
    elif suggested:
        print("\n--diff shows these decorators in the source, --apply writes them.")
    return status


def _decorate(codes: Sequence[CodeType], show: bool, write: bool) -> None:
    """Shows, or writes, the decorators."""
    changes, left = edited(codes)
    for change in changes:
        if show:
            print(f"\n{change.diff()}", end="")
        if write:
            try:
                change.write()
            except OSError as error:
                left.append(f"{', '.join(change.functions)}: {error}")
                continue
            print(f"\nDecorated in {change.file}: {', '.join(change.functions)}")
    for why in left:
        print(f"\nLeft out: {why}")


def suggestions(profiler: Profiler, status: int = 0, top: int = 10, longest: float = 20.0) -> Report:
    """Tries the hottest functions that a profiler has seen."""
    cache.use(None)  # first calls are to compile
    seen = profiler.functions()
    decorated = [s.code.co_qualname for s in seen if isinstance(s.function, BufferizedFunction)]
    hot = [s for s in seen if not isinstance(s.function, BufferizedFunction) and s.seconds > _SHARE * profiler.seconds]
    if hot:
        _load()
    tries = ranked([(s, _trial(s, longest)) for s in hot[:top]])
    memory = profiler.allocations, profiler.allocated_bytes, profiler.peak_bytes
    return Report(profiler.seconds, status, tries, decorated, *memory)


def _trial(seen: Seen, longest: float) -> Trial:
    if not isinstance(seen.function, FunctionType):
        return Trial("untried", reason="its function was not found")
    if seen.record is None:
        return Trial("untried", reason="its arguments could not be copied, or are larger than --limit")
    if seen.record_seconds > longest:
        return Trial("untried", reason=f"a call takes {seen.record_seconds:.0f} s; --longest tries it all the same")
    return tried(seen.function, seen.record)


def _load() -> None:
    """The compiler, which every process loads once: no function's first call is to pay for it here."""
    import numpy as np

    bufferize(lambda a: a + a)(np.ones(3))
