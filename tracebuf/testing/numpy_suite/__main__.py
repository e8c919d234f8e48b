"""The command: `python -m tracebuf.testing.numpy_suite [--methods] [--jobs N] [--list] [MODULE ...]`.

The modules' tests are run as they are and through tracebuf. Prints, for each module, how many calls were compiled and
how many refused, and the tests that fail through tracebuf alone; then what was refused, by function and by reason, and
the exceptions that are listed. The exit code is 1 if a test fails that is not listed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from tracebuf.testing.numpy_suite.runs import EXCEPTIONS, MODULES, Compared, Mode, compare

SHOWN = 40
"""Reasons of refusals that are shown."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tracebuf.testing.numpy_suite", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="modules of NumPy's tests (all of --list)")
    parser.add_argument("--list", action="store_true", help="print the modules and the exceptions, and run nothing")
    parser.add_argument("--methods", action="store_true", help="methods, operators and ufuncs too, not functions alone")
    parser.add_argument("--jobs", type=int, default=1, help="modules that run at once (1)")
    parser.add_argument("--seconds", type=float, default=120.0, help="seconds that one test may take (120)")
    parser.add_argument("--most", type=int, default=400, help="calls of one function that are traced in a module (400)")
    parser.add_argument("-k", dest="select", default="not slow", help="pytest's -k: which tests (not slow)")
    options = parser.parse_args(argv)
    if options.list:
        print("\n".join(MODULES), EXCEPTIONS.read_text(), sep="\n\n")
        return 0
    mode: Mode = "methods" if options.methods else "functions"
    one = partial(compare, mode=mode, seconds=options.seconds, most=options.most, select=options.select)
    with ThreadPoolExecutor(options.jobs) as pool:
        found = []
        for compared in pool.map(one, options.modules or MODULES):
            print("\n".join(shown(compared)), flush=True)
            found.append(compared)
    print("\n".join(summed(found)))
    return 1 if any(c.failures.keys() - c.expected.keys() for c in found) else 0


def shown(c: Compared) -> Iterator[str]:
    """The lines of one module."""
    ran, refused = sum(c.mine.ran.values()), sum(c.mine.refused.values())
    new = {name: text for name, text in c.failures.items() if name not in c.expected}
    yield (
        f"{c.module}: {c.tests} tests, {ran} calls compiled, {refused} refused, {len(new)} fail, "
        f"{len(c.expected)} are excepted"
    )
    for name, text in new.items():
        yield f"    FAILED {name}: {' | '.join(text.splitlines())[:400]}"
    for pattern in c.stale:
        yield f"    listed, but passes: {pattern}"


def summed(found: Sequence[Compared]) -> Iterator[str]:
    """The lines of all modules together."""
    ran, refused, reasons = Counter[str](), Counter[str](), Counter[str]()
    for c in found:
        ran.update(c.mine.ran)
        refused.update(c.mine.refused)
        reasons.update(c.mine.reasons)
    yield "\nrefused, so run as they are, by function: " + ", ".join(f"{n} {k}" for n, k in refused.most_common())
    yield "\nthe reasons that were met most:"
    yield from (f"    {k:6} {reason}" for reason, k in reasons.most_common(SHOWN))
    yield "\nexceptions, by their reason:"
    why = Counter(reason for c in found for reason in c.expected.values())
    for reason, k in why.most_common():
        yield f"    {k} tests: {reason}"
        yield from (f"        {c.module}::{n}" for c in found for n, r in c.expected.items() if r == reason)
    tests, failed = sum(c.tests for c in found), sum(len(c.failures.keys() - c.expected.keys()) for c in found)
    yield (
        f"\nNumPy's own tests through tracebuf: {tests} tests, {ran.total()} calls compiled, {refused.total()} "
        f"refused, {failed} fail, {sum(why.values())} are excepted"
    )


if __name__ == "__main__":
    sys.exit(main())
