"""tracebuf: plain NumPy functions bufferized in place, by MLIR's One-Shot analysis, compiled to native loops.

`bufferize` decorates a function; `measure` compares it with eager NumPy; `TracebufError` is the root of tracebuf's
errors. `release` gives back memory that compiled programs keep, `wait` waits for their fast code. `host_call` calls a
Python function from compiled code; `fori_loop`, `while_loop` and `cond` are control flow for functions whose source
cannot be read. `cache` is where programs are kept for later processes; `spec` stands for an argument of a program that
is compiled before it is called, and `load` takes one out of a file; `options` sets options for a whole program.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tracebuf import bufferize as _package  # noqa: F401  the package of that name is loaded first, then hidden by the decorator
from tracebuf.process.late import importing

with importing():
    from tracebuf import cache
    from tracebuf.api import BufferizedFunction, bufferize, release, wait
    from tracebuf.errors import (
        ContractError,
        DonationError,
        InternalError,
        TracebufError,
        TracebufWarning,
        UnsupportedError,
    )
    from tracebuf.measure import Measurement, measure
    from tracebuf.options import Options, options  # the function hides the module of that name

if TYPE_CHECKING:
    from tracebuf.frontends.numpy.call.host_call import host_call
    from tracebuf.frontends.numpy.functions.formulas.prelude import cond, fori_loop, while_loop
    from tracebuf.persist.compiled import Compiled, load
    from tracebuf.specs import spec

__all__ = [
    "BufferizedFunction",
    "Compiled",
    "ContractError",
    "DonationError",
    "InternalError",
    "Measurement",
    "Options",
    "TracebufError",
    "TracebufWarning",
    "UnsupportedError",
    "bufferize",
    "cache",
    "cond",
    "fori_loop",
    "host_call",
    "load",
    "measure",
    "options",
    "release",
    "spec",
    "wait",
    "while_loop",
]
__version__ = "0.1.0.dev0"


_LATE = {
    "host_call": "tracebuf.frontends.numpy.call.host_call",
    "spec": "tracebuf.specs",
    **dict.fromkeys(("Compiled", "load"), "tracebuf.persist.compiled"),
    **dict.fromkeys(("cond", "fori_loop", "while_loop"), "tracebuf.frontends.numpy.functions.formulas.prelude"),
}
"""Names that few processes need, by module: they are loaded when they are first asked for (PEP 562)."""


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with importing():
        found = import_module(_LATE[name])
    globals()[name] = value = getattr(found, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if os.environ.get("TRACEBUF_CHECK_ENTRY"):
    from tracebuf.testing.entries import install

    install()
