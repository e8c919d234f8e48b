"""The contestants: how each makes a program ready for one set of arguments, so that a call has nothing left to convert.

A peer is a function of a program and its arguments that gives a call without arguments, or None where the program has
no form for it. It raises ImportError where the peer is not installed, and anything at all where it cannot compile the
program, which is reported.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

import tracebuf
from benchmarks.programs.registry import Array, Function, Program

Call = Callable[[], Any]
Peer = Callable[[Program, Sequence[Any]], "Call | None"]
OURS, NUMPY = "tracebuf", "NumPy"
BUILT = Path(__file__).resolve().parents[2] / "build" / "bench"
FAST = {"reassoc", "nsz", "contract"}
"""Numba's flags: without `reassoc` a sum is not vectorised. tracebuf's sums are reordered too."""
PATIENCE = 300
"""Seconds that a compiler in a process of its own may take."""


def ours(p: Program, args: Sequence[Any]) -> Call:
    f = tracebuf.bufferize(p.function, tier="fast")
    kept = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    for _ in range(4):
        f(*kept)
        for i in p.stores:
            kept[i][...] = args[i]
    f.wait()
    return partial(f, *args)


def numpy(p: Program, args: Sequence[Any]) -> Call:
    return partial(p.function, *args)


# -- Numba


def numba(p: Program, args: Sequence[Any]) -> Call:
    """Numba on the NumPy source as it stands."""
    return partial(jitted(p.function), *args)


def numba_loops(p: Program, args: Sequence[Any]) -> Call | None:
    return partial(jitted(p.loops), *args) if p.loops else None


def jitted(function: Function) -> Function:
    """Compiled by Numba, with the functions of its module that it calls; kept on disk for the next run."""
    os.environ.setdefault("NUMBA_CACHE_DIR", str(BUILT / "numba"))
    import numba

    scope = function.__globals__
    called = {name: jitted(scope[name]) for name in function.__code__.co_names if own(function, scope.get(name))}
    named = FunctionType(function.__code__, scope | called, function.__name__, function.__defaults__)
    named.__module__, named.__qualname__ = function.__module__, function.__qualname__
    made: Function = numba.njit(fastmath=FAST, cache=True, error_model="numpy")(named)
    return made


# -- JAX, numexpr


def own(function: Function, other: Any) -> bool:
    """Whether it is a function of the same module."""
    return isinstance(other, FunctionType) and other.__module__ == function.__module__


def in_terms_of(function: Function, names: Mapping[str, Any]) -> Function:
    """The function, and those of its module that it calls, with other meanings of global names."""
    scope = {**function.__globals__, **names}
    for name, f in function.__globals__.items():
        if own(function, f):
            scope[name] = FunctionType(f.__code__, scope, name, f.__defaults__)
    return FunctionType(function.__code__, scope, function.__name__, function.__defaults__)


def jax(p: Program, args: Sequence[Any]) -> Call | None:
    """JAX's jit in double precision on its own arrays; Python's ints are static."""
    import jax

    jax.config.update("jax_enable_x64", True)
    if p.jax is None:
        return None
    names = {"np": jax.numpy, "jnp": jax.numpy, "lax": jax.lax, "jax": jax}
    static = [i for i, a in enumerate(args) if isinstance(a, int)]
    made = jax.jit(in_terms_of(p.jax, names), static_argnums=static)
    there = [jax.numpy.array(a) if isinstance(a, np.ndarray) else a for a in args]
    return lambda: jax.block_until_ready(made(*there))


def numexpr(p: Program, args: Sequence[Any]) -> Call | None:
    import numexpr

    numexpr.set_num_threads(1)
    return partial(in_terms_of(p.numexpr, {"ne": numexpr}), *args) if p.numexpr else None


# -- compilers that make a library: kept in build/bench by what they were made of


def pythran(p: Program, args: Sequence[Any]) -> Call | None:
    """The NumPy source alone, with its export line, compiled for these types."""
    if not p.pythran:
        return None
    if importlib.util.find_spec("pythran") is None:
        raise ImportError("pythran")
    types = ", ".join(pythran_type(a) for a in args)
    text = f"import numpy as np\n\n#pythran export {p.name}({types})\n{inspect.getsource(p.function)}"
    command = [sys.executable, "-m", "pythran.run", "-O3", "-march=native"]
    path = built(p.name, text, ".py", ".so", command)
    spec = importlib.util.spec_from_file_location(p.name, path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return partial(getattr(module, p.name), *args)


def pythran_type(a: Any) -> str:
    return f"{a.dtype}[{','.join(':' * a.ndim)}]" if isinstance(a, np.ndarray) else type(a).__name__


def c(p: Program, args: Sequence[Any]) -> Call | None:
    if p.c is None:
        return None
    command = [os.environ.get("CC", "gcc"), "-O3", "-march=native", "-shared", "-fPIC"]
    function = getattr(ctypes.CDLL(str(built(p.name, p.c.text, ".c", ".so", command))), p.name)
    function.restype = {"double": ctypes.c_double, "long": ctypes.c_long, "": None}[p.c.returns]
    given = [x for a in args for x in c_arguments(a)]
    if (make := p.c.out) is None:
        return partial(function, *given)

    def call() -> Array:
        out: Array = make(*args)
        function(*given, ctypes.c_void_p(out.ctypes.data))
        return out

    return call


def c_arguments(a: Any) -> list[Any]:
    if isinstance(a, np.ndarray):
        assert a.flags.c_contiguous
        return [ctypes.c_void_p(a.ctypes.data), *map(ctypes.c_long, a.shape)]
    return [ctypes.c_double(a) if isinstance(a, float) else ctypes.c_long(a)]


def built(name: str, text: str, suffix: str, result: str, command: Sequence[str]) -> Path:
    """The library that a compiler makes of this text; RuntimeError with its last line where it cannot."""
    key = hashlib.sha256("\n".join([text, *command]).encode()).hexdigest()[:16]
    folder = BUILT / f"{name}-{key}"
    source, library = folder / f"{name}{suffix}", folder / f"{name}{result}"
    if library.exists():
        return library
    folder.mkdir(parents=True, exist_ok=True)
    source.write_text(text)
    line = [*command, str(source), "-o", str(library)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=PATIENCE, cwd=folder)
    if done.returncode or not library.exists():
        raise RuntimeError((done.stderr.strip().splitlines() or [f"{command[0]} failed"])[-1])
    return library


PEERS: dict[str, Peer] = {
    OURS: ours, NUMPY: numpy, "Numba": numba, "Numba loops": numba_loops, "JAX": jax, "numexpr": numexpr,
    "Pythran": pythran, "C": c,
}  # fmt: skip
