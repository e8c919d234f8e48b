"""Calls while Python shuts down, from `__del__` and `atexit`: modules cannot be imported any more, or are gone."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import numpy as np
from tracebuf import bufferize

@bufferize
def f(a, k):
    b = a * k
    a += b
    return b[2]

class Owner:
    def __init__(self):
        self.a = np.arange(3.0)

    def __del__(self):
        assert sys.meta_path is None
        print(float(f(self.a, 2)), self.a.tolist(), len(f.specializations()))

{before}
keep = Owner()
keep.itself = keep
"""


BEFORE = ("", "f(np.ones(3), 2)", "f(np.ones((3, 2)), 2)", "f(np.ones(3), 2.5); f(np.ones(3, 'f'), 2)")


@pytest.mark.slow
@pytest.mark.parametrize("before", BEFORE)
def test_a_call_from_a_finalizer(before: str) -> None:
    """A first call failed: ImportError "sys.meta_path is None"; the original function runs in its place."""
    program = PROGRAM.replace("{before}", before)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    expected = (before.count("f(") if before != "f(np.ones(3), 2)" else 0) + 1
    assert (done.stdout, done.stderr) == (f"4.0 [0.0, 3.0, 6.0] {expected}\n", "")


OUTLIVING = """
import atexit, gc
import numpy as np
from tracebuf import bufferize

def last():
    f = bufferize(lambda a: a * 2 + 1)
    print(f(np.arange(3.0)))
    from tracebuf.backend.llvm import jit
    np.kept = jit, [x for x in gc.get_objects() if isinstance(x, jit.Library)]

atexit.register(last)
"""


@pytest.mark.slow
def test_machine_code_that_outlives_the_module_that_unloads_it() -> None:
    """What was compiled first by an `atexit` handler was unloaded by functions whose module was gone; the message of
    that could wait for an import for ever."""
    done = subprocess.run([sys.executable, "-c", OUTLIVING], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("[1. 3. 5.]\n", "")
