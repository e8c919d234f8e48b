"""Functions from outside that a program calls, as text: NumPy's, and the C library's by way of Python's `math`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tracebuf.backend.numba.style.render import quoted
from tracebuf.errors import UnsupportedError
from tracebuf.running import host

_MODULES: tuple[tuple[str, Any], ...] = (
    ("np", np), ("np.linalg", np.linalg), ("np.fft", np.fft), ("np.ndarray", np.ndarray),
)  # fmt: skip
FRESH = frozenset({
    "median", "argmax", "argmin", "argsort", "sort", "quantile", "percentile", "solve", "inv", "svd", "qr", "eigh",
    "eig", "det", "cholesky", "pinv", "eigvalsh",
})  # fmt: skip
"""Functions whose results are arrays of their own, laid out in order."""


def definition(name: str, x: Any) -> str:
    """The definition of a function that an emitted module has by name. UnsupportedError where it has no text."""
    if name == "c_true_divide":
        return _without_errors(name, "int(args[0]) / int(args[1])")
    if name.startswith("c_") and hasattr(math, name[2:]):
        return _without_errors(name, f"math.{name[2:]}(*args)")
    if name == "c_round":  # Python's, also of NumPy's numbers
        return _without_errors(name, "round(float(args[0]), int(args[1]))")
    if isinstance(x, host.Attempt):
        return _attempt(name, x)
    if isinstance(x, host.ByLoop):
        return _by_ufunc(name, x.loop) if x.call is None else _direct(name, x.call, host.put_converted)
    if isinstance(x, host.Direct):
        return _direct(name, x, x.put)
    raise UnsupportedError(f"`{name}` calls what only this process knows, which no file can hold")


def _without_errors(name: str, call: str) -> str:
    return "\n".join([
        f"def {name}(*args):",
        '    """As in C: NaN or infinite in the place of an exception."""',
        "    try:",
        f"        return {call}",
        "    except ValueError:",
        "        return math.nan",
        "    except (OverflowError, ZeroDivisionError):",
        "        return math.inf",
    ])  # fmt: skip


def _by_ufunc(name: str, loop: host.CoreLoop) -> str:
    """A generalised ufunc of NumPy's, by its loop for these types."""
    ufunc = f"{loop.module.replace('numpy.', 'np.')}.{loop.ufunc}"
    lines = [f"def {name}(ins, outs):"]
    if loop.odd:
        odd = f"{loop.module.replace('numpy.', 'np.')}.{loop.odd}"
        lines += ["    if ins[0].shape[-1] % 2:", f"        run = {odd}", "    else:", f"        run = {ufunc}"]
        ufunc = "run"
    return "\n".join([*lines, f"    {ufunc}(*ins, out=tuple(outs), signature={quoted(loop.types)})"])


def _attempt(name: str, x: host.Attempt) -> str:
    """A call within a `try`: its last out says which exception was raised, if one was."""
    inner = definition(f"{name}_once", x.run)
    lines = [f"def {name}(ins, outs):", "    outs = [*outs]", f"    status = outs.pop({x.place})"]
    lines += ["    status[...] = 0", "    try:", f"        {name}_once(ins, outs)"]
    for k, kind in enumerate(x.kinds):
        lines += [f"    except {exception(kind)}:", f"        status[...] = {k + 1}"]
    return "\n".join([inner, "", "", *lines])


def exception(kind: type[BaseException]) -> str:
    """The name of an exception's class in a file. UnsupportedError where only this process has it."""
    if kind.__module__ == "builtins":
        return kind.__name__
    for module in ("np.linalg", "np.exceptions"):
        if getattr(eval(module, {"np": np}), kind.__name__, None) is kind:
            return f"{module}.{kind.__name__}"
    raise UnsupportedError(f"{kind.__name__} is a class of your own, which no file can hold")


def _direct(name: str, run: host.Direct, put: Callable[..., Any]) -> str:
    function = _path(name, run.function)
    given = [_argument(name, a) for a in run.arguments]
    positional = len(given) - len(run.names)
    words = [*given[:positional], *(f"{k}={v}" for k, v in zip(run.names, given[positional:]))]
    call = f"{function}({', '.join(words)})"
    lines = [f"def {name}(ins, outs):", f"    operands = [*ins, *outs]  # of {function}"]
    if put is host.put_nothing:
        lines.append(f"    {call}")
    elif put is host.put_there:
        lines.append(f"    outs[0][...] = {call}")
    elif put is host.put_converted:
        lines.append(f"    found = {call}")
        lines.append("    results = found if isinstance(found, tuple) else (found,)")
        lines += ["    for out, x in zip(outs, results, strict=True):", "        out[...] = x"]
    elif isinstance(put, host.Put):
        lines.append(f"    found = {call}")
        lines.append("    results = found if isinstance(found, tuple) else (found,)")
        counts = len(put.places)
        for k, (place, axis) in enumerate(zip(put.places, put.bounds)):
            if axis is None:
                lines.append(f"    outs[{k}][...] = results[{place}]")
                continue
            used = ", ".join([":"] * axis + [":size"])
            lines.append(f"    size = outs[{counts}][...] = results[{place}].shape[{axis}]")
            lines.append(f"    outs[{k}][{used}] = results[{place}]")
            counts += 1
    else:
        raise UnsupportedError(f"`{name}` calls what only this process knows, which no file can hold")
    return "\n".join(lines)


def direct_call(name: str, run: Any, operands: Sequence[str]) -> tuple[str, int] | None:
    """A call as text of one expression, with the number of its results, each of which is one out's; None where more is
    to be done."""
    put: Callable[..., Any] = host.put_converted
    if isinstance(run, host.ByLoop) and run.call is not None:
        run = run.call
    elif isinstance(run, host.Direct):
        put = run.put
    else:
        return None
    if getattr(run.function, "__name__", "") not in FRESH:
        return None
    given = [_argument(name, a, operands) for a in run.arguments]
    positional = len(given) - len(run.names)
    words = [*given[:positional], *(f"{k}={v}" for k, v in zip(run.names, given[positional:]))]
    function = _path(name, run.function)
    if function.startswith("np.ndarray."):
        function, words = f"{words[0]}.{run.function.__name__}", words[1:]
    count = 1 if run.kind is None else len(getattr(run.kind, "_fields", ()))
    places = put.places if isinstance(put, host.Put) else tuple(range(count))
    plain = put in (host.put_there, host.put_converted)
    if isinstance(put, host.Put):
        plain = put.number is None and all(b is None for b in put.bounds)
    return (f"{function}({', '.join(words)})", count) if plain and places == tuple(range(count)) else None


def _path(name: str, function: Callable[..., Any]) -> str:
    short = getattr(function, "__name__", "")
    for module, where in _MODULES:
        if getattr(where, short, None) is function:
            return f"{module}.{short}"
    raise UnsupportedError(f"`{name}` calls {short or function!r}, which is no public function of NumPy's")


def _argument(name: str, x: Any, operands: Sequence[str] = ()) -> str:
    if isinstance(x, host.Passed):
        operand = operands[x.place] if operands else f"operands[{x.place}]"
        return operand if x.type is None else f"{x.type.__name__}({operand})"
    if isinstance(x, (tuple, list)) and type(x) in (tuple, list):
        items = ", ".join(_argument(name, i, operands) for i in x)
        return f"[{items}]" if isinstance(x, list) else f"({items}{',' if len(x) == 1 else ''})"
    if x is None or type(x) in (int, float, bool):
        return repr(x)
    if type(x) is str:
        return quoted(x)
    raise UnsupportedError(f"`{name}` is given {x!r}, which has no text")
