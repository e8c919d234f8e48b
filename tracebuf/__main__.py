"""`python -m tracebuf opt ...`: see tracebuf.opt; `python -m tracebuf precompile ...`: see persist/precompile.py;
`python -m tracebuf report ...`: see commands/report.py; `python -m tracebuf export ...`: see commands/export.py;
`python -m tracebuf measure ...`: see commands/measure.py; `python -m tracebuf suggest ...`: see suggest/command.py."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Runs a command of the package; the exit status."""
    if len(sys.argv) > 1 and sys.argv[1] == "opt":
        from tracebuf.opt import main as opt

        return opt(sys.argv[2:])
    if len(sys.argv) > 1 and sys.argv[1] == "precompile":
        from tracebuf.persist.precompile import main as precompile

        return precompile(sys.argv[2:])
    if len(sys.argv) > 1 and sys.argv[1] == "report":
        from tracebuf.commands.report import main as report

        return report(sys.argv[2:])
    if len(sys.argv) > 1 and sys.argv[1] == "export":
        from tracebuf.commands.export import main as export

        return export(sys.argv[2:])
    if len(sys.argv) > 1 and sys.argv[1] == "measure":
        from tracebuf.commands.measure import main as measure

        return measure(sys.argv[2:])
    if len(sys.argv) > 1 and sys.argv[1] == "suggest":
        from tracebuf.suggest.command import main as suggest

        return suggest(sys.argv[2:])
    print("usage: python -m tracebuf opt FILE [flags] [passes]", file=sys.stderr)
    print("       python -m tracebuf precompile MODULE:FUNCTION ARGUMENT ...   (-h for help)", file=sys.stderr)
    print("       python -m tracebuf report MODULE:FUNCTION ARGUMENT ... -o FILE   (-h for help)", file=sys.stderr)
    print("       python -m tracebuf export MODULE:FUNCTION ARGUMENT ... -o FILE   (-h for help)", file=sys.stderr)
    print("       python -m tracebuf measure MODULE:FUNCTION ARGUMENT ...   (-h for help)", file=sys.stderr)
    print("       python -m tracebuf suggest SCRIPT ARGUMENT ...   (-h for help)", file=sys.stderr)
    return 2


if __name__ == "__main__":
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:  # as of `... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    sys.exit(status)
