"""Calls while Python shuts down, from `__del__` and `atexit`: modules cannot be imported any more, or are gone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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


COMPILING = """
import sys, threading, time, weakref
import numpy as np
from tracebuf import bufferize

def program(a, n):
    for i in range(n):
        a[1:] = a[:-1] * 2 + a[1:]
    return a

def compiling():
    while True:
        bufferize(program)(np.arange(9.0), 2)

if __name__ == "__main__":
    threading.Thread(target=compiling, daemon=True).start()
    time.sleep({seconds})
    weakref.finalize(program, lambda f: print(f(np.arange(3.0), 2)), bufferize(program))
    raise KeyError("end")
"""


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.03, 0.05, 0.07, 0.1])
def test_a_thread_that_compiles_when_python_ends(seconds: float, tmp_path: Path) -> None:
    """It died inside of LLVM, and held the lock for which who disposed of objects afterwards waited for ever."""
    (tmp_path / "ends.py").write_text(COMPILING.replace("{seconds}", str(seconds)))
    env = {k: x for k, x in os.environ.items() if k != "TRACEBUF_TIER"} | {"TRACEBUF_CACHE_DIR": ""}
    command = [sys.executable, "ends.py"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr.splitlines()[-1]) == ("[0. 1. 6.]\n", "KeyError: 'end'")
