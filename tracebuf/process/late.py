"""Modules that are imported late, when something is first asked for.

A child that is forked while another thread imports a module could never import it: the module's lock is held in it for
ever. So forking waits (stages.py) for what is imported inside of `importing()`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tracebuf.process.garbage import collections_later, promote

lock = threading.RLock()
"""Held meanwhile."""


@contextmanager
def importing() -> Iterator[None]:
    """Where modules are imported late. No collection walks through their code, classes and tables, which live as long
    as the process."""
    with lock, collections_later:
        before = len(sys.modules)
        yield
        if len(sys.modules) > before:
            promote()
