"""A child that is forked while another thread compiles can compile, whatever that thread was doing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

SCRIPT = """
import os, signal, sys, threading, time
import numpy as np
from tracebuf import bufferize

def f(a): return np.sort(a[a > 0] * 2).sum() + a.max()
def g(a): return a * 2 + 1

stop, one = False, bufferize(f)
def compile_again():
    while not stop:
        bufferize(f)(np.ones(5))
        one._compiled.clear()
        one._recent.clear()
        one(np.ones(5))

thread = threading.Thread(target=compile_again)
thread.start()
ends = []
for k in range(int(sys.argv[1])):
    time.sleep(0.02 * k)
    child = os.fork()
    if child == 0:
        signal.alarm(40)
        right = bufferize(g)(np.ones(3)).tolist() == [3.0] * 3 and one(np.ones(5)) == 11
        os._exit(0 if right else 1)
    ends.append(os.waitpid(child, 0)[1])
stop = True
thread.join()
print(ends)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_of_a_process_that_compiles_can_compile(tmp_path: Path) -> None:
    """The child inherited LLVM's locks, those of the function, or of a module being imported, held for ever."""
    (tmp_path / "script.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, tmp_path / "script.py", "8"], capture_output=True, text=True, timeout=400)
    assert done.stdout == f"{[0] * 8}\n", done.stderr


def test_no_class_of_the_library_locks_what_it_finds_once() -> None:
    """`functools.cached_property` of Python 3.11 holds a lock of its class meanwhile: a child could inherit it held."""
    files = [f for room in ("tracebuf", "backend", "frontends") for f in (ROOT / room).rglob("*.py")]
    locked = re.compile(r"^\s*@functools\.cached_property|^from functools import .*\bcached_property", re.M)
    assert len(files) > 300 and not [str(f) for f in files if locked.search(f.read_text())]
