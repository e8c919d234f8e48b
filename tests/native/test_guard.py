"""`TRACEBUF_GUARD`: buffers of native code at the edge of pages that may not be touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from tests.support.params import slow_but
from tracebuf.backend.runtime.guard import Guard, chosen

OUTSIDE = """
import os
import sys
import numpy as np
from tests.native.test_native import N, Program
from tracebuf.ir.dims import symbols
from tracebuf.ir.types import F64, INDEX
from tracebuf.location import UNKNOWN as L
from tracebuf.ops.memory import memref

def store(kind, beyond):
    p = Program(INDEX, INDEX, F64)
    size, at, value = p.args
    alloc = memref.Alloc.of((N,), F64, [size], (0,), "test", L)
    buffer = p.add(alloc)
    if kind == "arena":
        p.func.symbols = {s: size for s in symbols(N)}
    p.add(memref.Store.of(value, buffer, [at], L))
    p.add(memref.Load.of(buffer, [at], L))
    p.result(*[buffer] * (kind == "result"), places=True)
    for size in (1, 3, 512, 1000):
        p(size, 0, 1.0), p(size, size - 1, 1.0)
    print("inside", kind, flush=True)
    p(3, beyond, 1.0)
    print("outside", kind, flush=True)

for kind in ("arena", "slot", "result"):
    child = os.fork()
    if child == 0:
        store(kind, int(sys.argv[1]))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
PROGRAMS = """
import sys
import numpy as np
from tests.programs import geometry, sparse, stencils, textbook, windows
from tests.programs.registry import PROGRAMS
from tests.support.agreement import agree
from tracebuf import bufferize
for name, program in sorted(PROGRAMS.items())[:: int(sys.argv[1])]:
    for n in program.sizes:
        agree(program.function, *program.arguments(np.random.default_rng(0), n), ulp=10**6)
print("right")
"""


SELECTS = """
import numpy as np
from tracebuf import bufferize
from tracebuf.testing.guard import guarded

def chosen(v, w):
    return np.where(w > 0.5, v, w * 2)

def of_two(v, w):
    return np.where(w < v[::-1], w, v)

def clipped(v, w):
    return np.where(v == 0.5, 1.5, np.where(v >= w, v, -1.0))

for dtype in ("f8", "f4"):
    v, w = (guarded(7 * np.dtype(dtype).itemsize).view(dtype) for _ in range(2))
    v[:], w[:] = np.linspace(0, 1, 7), np.linspace(1, 0.2, 7)
    for f in (chosen, of_two, clipped):
        assert (bufferize(f)(v, w) == f(v, w)).all(), (dtype, f)
print("right")
"""


def run(script: str, guard: str, *args: object, tier: str = "fast") -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "TRACEBUF_GUARD": guard, "PYTHONPATH": os.pathsep.join(sys.path), "TRACEBUF_TIER": tier}
    return subprocess.run([sys.executable, "-c", script, *map(str, args)], env=env, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("guard, at", [("1", 3), ("after", 500), ("before", -1), ("before", -400)])
def test_a_store_outside_of_a_buffer_ends_the_process(guard: str, at: int) -> None:
    done = run(OUTSIDE, guard, at)
    ends = [line for kind in ("arena", "slot", "result") for line in (f"inside {kind}", str(-signal.SIGSEGV))]
    assert done.stdout.splitlines() == ends, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("guard", ["1", "before"])
def test_programs_keep_to_their_buffers(guard: str) -> None:
    """A sample of tests/programs; the fuzzer runs under it too."""
    done = run(PROGRAMS, guard, 16)
    assert done.stdout == "right\n", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("tier", ["quick", "fast"])
def test_a_choice_between_elements_reads_no_more_than_them(tier: str) -> None:
    """In the quick tier 16 bytes were read of an element of 8 or 4: a crash at the end of a page."""
    done = run(SELECTS, "1", tier=tier)
    assert done.stdout == "right\n", done.stderr


ENDING = """
import numpy as np
from tracebuf import bufferize

@bufferize
def f(a):
    return a + 1

class Dying:
    def __del__(self):
        print(f(ones).tolist())

ones = np.ones(3)
f(ones)
dying = Dying()
"""


@pytest.mark.slow
def test_calls_while_python_ends() -> None:
    """The first import of a module there is an ImportError."""
    done = run(ENDING, "1")
    assert (done.stdout, done.stderr) == ("[2.0, 2.0, 2.0]\n", "")


@pytest.mark.slow
def test_quick_programs_keep_to_their_buffers() -> None:
    done = run(PROGRAMS, "1", 5, tier="quick")
    assert done.stdout == "right\n", done.stderr


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("sizes, dtype", [((0, 3), "f8"), ((5,), "c16"), ((3, 7), "i2"), ((), "f4"), ((600,), "f8")])
def test_guarded_arrays_are_aligned_arrays(sizes: tuple[int, ...], dtype: str, before: bool) -> None:
    a = Guard(before).array(sizes, np.dtype(dtype))
    assert a.shape == sizes and a.dtype == dtype
    assert a.flags.aligned and a.flags.writeable and a.flags.c_contiguous
    a[...] = 3
    assert (a == 3).all()


@pytest.mark.parametrize("value", slow_but(["off", "0"], ["", "0", "1", "after", "before", "off"]))
def test_the_environment_chooses(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRACEBUF_GUARD", value)
    if value == "off":
        with pytest.raises(ValueError, match="TRACEBUF_GUARD"):
            chosen()
    else:
        assert chosen() == {"1": Guard(False), "after": Guard(False), "before": Guard(True)}.get(value)
