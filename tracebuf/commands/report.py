"""`python -m tracebuf report MODULE:FUNCTION ARGUMENT ... -o FILE`: the report of a call as an HTML file."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from types import FunctionType

from tracebuf.api import bufferize
from tracebuf.errors import TracebufError
from tracebuf.frontends.numpy.call.encoding import Stale, named
from tracebuf.persist.precompile import UsageError, arguments
from tracebuf.persist.saved import bufferized

USAGE = """Writes a report of one call of a function, bufferized or to be, as an HTML file that needs nothing else.

An argument is the text of a tracebuf.spec with the sizes of the call ("f8[1000, 1000]"), a constant (3, 0.5, "'mean'"),
or a list, tuple or dict of these; NAME=ARGUMENT is one by keyword. Arrays are examples: the function is run on them.

  python -m tracebuf report solvers:step "f8[500, 500]" "f8[500, 500]" dt=0.1 -o step.html
"""


def main(argv: Sequence[str]) -> int:
    """Runs the command; the exit status: 1 where there is no report, 2 for a command line that says nothing."""
    command = ArgumentParser(
        "python -m tracebuf report", description=USAGE, formatter_class=RawDescriptionHelpFormatter
    )
    command.add_argument("target", metavar="MODULE:FUNCTION")
    command.add_argument("arguments", nargs="*", metavar="ARGUMENT")
    command.add_argument("--args", dest="more", nargs="+", default=[], metavar="ARGUMENT", help="arguments, too")
    command.add_argument("-o", dest="file", default="report.html", metavar="FILE", help="report.html by default")
    given = command.parse_args(argv)
    if "" not in sys.path:
        sys.path.insert(0, "")  # as for `python -m`
    module, colon, name = given.target.partition(":")
    try:
        if not (module and colon and name):
            raise UsageError("a function is named MODULE:FUNCTION, as in solvers:step")
        import_module(module)
        f = bufferized(found := named(module, name))
        if f is None and isinstance(found, FunctionType):
            f = bufferize(found)
        if f is None:
            raise UsageError(f"a {type(found).__name__}, which is no function")
        args, kwargs = arguments([*given.arguments, *given.more])
    except (UsageError, Stale, ImportError) as error:
        print(f"error: {given.target}: {error}", file=sys.stderr)
        return 2
    try:
        f.report(given.file, *args, **kwargs)
    except (TracebufError, OSError) as error:
        print(f"error: {given.target}: {error}", file=sys.stderr)
        return 1
    print(f"wrote {given.file}")
    return 0
