"""`python -m tracebuf.testing.fuzz`."""

import sys

from tracebuf.testing.fuzz.command import main

if __name__ == "__main__":
    sys.exit(main())
