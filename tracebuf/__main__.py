"""`python -m tracebuf opt ...`: see tracebuf.opt."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs a command of the package; the exit status."""
    if len(sys.argv) > 1 and sys.argv[1] == "opt":
        from tracebuf.opt import main as opt

        return opt(sys.argv[2:])
    print("usage: python -m tracebuf opt FILE [flags] [passes]   (python -m tracebuf opt -h)", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
