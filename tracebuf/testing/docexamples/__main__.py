"""The command: `python -m tracebuf.testing.docexamples [--only NAME ...] MODULE ...`.

Prints for each public Python function of the modules that has examples whether it was right, called as it is, refused,
wrong or slow, with the reason of the worst call, and then the reasons by how many functions met them. The exit code is
1 if a function was wrong. Works in a temporary directory, since examples write files.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence

from tracebuf.testing.docexamples.examples import KINDS, Call, examples_of, public_functions, worst

SHOWN = 40
"""Reasons that are shown."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tracebuf.testing.docexamples", description=__doc__)
    parser.add_argument("modules", nargs="+", metavar="MODULE", help="modules with public functions: scipy.stats")
    parser.add_argument("--only", nargs="*", default=(), metavar="NAME", help="functions, by name (all)")
    parser.add_argument("--seconds", type=float, default=60.0, help="seconds that one bufferized call may take (60)")
    options = parser.parse_args(argv)
    os.environ.setdefault("MPLBACKEND", "Agg")
    found: list[Call] = []
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for module_name in options.modules:
            module = importlib.import_module(module_name)
            here = []
            for name, _ in public_functions(module):
                calls = examples_of(module, name, options.seconds) if name in (options.only or (name,)) else []
                if calls:
                    here.append(call := worst(calls))
                    text = "  ".join(x for x in (" ".join(call.why.split())[:200], call.where) if x)
                    print(f"{module_name}.{name}: {call.kind} ({len(calls)} calls)  {text}".rstrip(), flush=True)
            print(_summed(module_name, here), flush=True)
            found += here
    print(_summed("all", found))
    for kind, what in (("refused", "refused"), ("called", "called as they are")):
        print(f"functions {what}, by the reason:")
        reasons = Counter(plain(call.why) for call in found if call.kind == kind)
        for reason, count in reasons.most_common(SHOWN):
            print(f"    {count:4} {reason[:200]}")
    return 1 if any(call.kind == "wrong" for call in found) else 0


def plain(reason: str) -> str:
    """A reason without the names in it, so that equal kinds of refusals count together."""
    return re.sub(r"`[^`]*`|'[^']*'", "`...`", " ".join(reason.split()))


def _summed(name: str, calls: Sequence[Call]) -> str:
    counts = Counter(call.kind for call in calls)
    return f"{name}: {len(calls)} functions, " + ", ".join(f"{counts[kind]} {kind}" for kind in reversed(KINDS))


if __name__ == "__main__":
    sys.exit(main())
