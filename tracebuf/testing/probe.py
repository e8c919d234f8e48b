"""What the names of a half-written program hold where its next statement will stand, by running it.

A program is written from top to bottom; the call `_look(locals())` at its end is reached on every path and in every
iteration that leads there. Each such visit is a *world* (see `expressions`). Why: names rebound in loops and branches,
arrays that shrink, jumps and early returns all keep exact sizes and types, without a model of NumPy; and a statement
that raises, or numbers that grow too large, can be taken back.

Limitations: knows nothing of aliases, nor of code that no visit reaches.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tracebuf.frozen import frozen
from tracebuf.testing.expressions import Mode, Var

__all__ = ["Visits", "run"]

WORLDS = 40
"""Visits that are kept."""
VISITS = 1500
"""Visits after which a program runs too long."""
_MOST = {
    "whole": {"float64": 2.0**30, "float32": 2.0**12, "float16": 2.0**6},
    "rough": {"float64": 1e4, "float32": 1e4},
}
_FRACTION = {"float64": 2.0**10, "float32": 2.0**4, "float16": 2.0**2}


@frozen(slots=False)
class Visits:
    """The names seen: one Var each with what it held in every visit. `loose`: names that hold different types, or
    nothing, in some of them."""

    worlds: int
    scope: list[Var]
    loose: list[str]
    error: Exception | None


class _Stop(BaseException):
    pass


class _Watched(ast.NodeTransformer):
    """Looks at what each part of an expression makes: Python's ints have 64 bits (rule N1), also those without a
    name."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        node = super().generic_visit(node)
        if isinstance(node, ast.Call | ast.BinOp | ast.UnaryOp | ast.Subscript):
            if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
                return node
            call = ast.Call(ast.Name("_within_64_bits", ast.Load()), [node], [])
            return ast.fix_missing_locations(ast.copy_location(call, node))
        return node

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.MatchValue:
        """Patterns stay literals."""
        return node


def run(text: str, mode: Mode) -> Visits | None:
    """The visits of both calls of a module; None where its numbers are no good, or its text no program."""
    seen: dict[Any, dict[str, Var]] = {}
    count = 0
    error: Exception | None = None

    def look(names: Mapping[str, Any]) -> None:
        nonlocal count
        count += 1
        facts = {k: var for k, v in names.items() if (var := _fact(k, v)) is not None}
        if count > VISITS or not all(_sane(v, mode) for v in names.values()):
            raise _Stop
        if len(seen) < WORLDS:
            seen.setdefault(repr(facts), facts)

    def within_64_bits(value: Any) -> Any:
        if type(value) is int and not -(2**63) <= value < 2**63:
            raise _Stop
        return value

    names: dict[str, Any] = {"_look": look, "_within_64_bits": within_64_bits, "__name__": "probed"}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(_Watched().visit(ast.parse(text)), "<probed>", "exec"), names)
            for arguments in ("arguments", "arguments_again"):
                try:
                    names["program"](*names[arguments]())
                except Exception as raised:
                    error = raised
        except (_Stop, SyntaxError):
            return None
    return _together(list(seen.values()), error)


def _together(visits: list[dict[str, Var]], error: Exception | None) -> Visits:
    names = list(dict.fromkeys(n for v in visits for n in v))
    scope, loose = [], []
    for name in names:
        found = [v[name] for v in visits if name in v]
        first = found[0]
        kinds = {(type(v.sample), np.asarray(v.sample).dtype, len(v.dims), v.values is None) for v in found}
        if len(found) < len(visits) or len(kinds) > 1:
            loose.append(name)
            continue
        dims = tuple(tuple(v.dims[k][0] for v in found) for k in range(len(first.dims)))
        values = None if first.values is None else tuple(v.values[0] for v in found if v.values)
        scope.append(replace(first, dims=dims, values=values, writable=all(v.writable for v in found)))
    return Visits(len(visits), scope, loose, error)


def _fact(name: str, value: Any) -> Var | None:
    """A name in one world; None for what is not an array or a number."""
    if isinstance(value, np.ndarray):
        sample = np.ones((1,) * value.ndim, value.dtype)
        return Var(name, sample, tuple((n,) for n in value.shape), writable=value.flags.writeable)
    if isinstance(value, np.generic):
        return Var(name, value.dtype.type(1))
    if type(value) is int:
        return Var(name, 1, values=(value,))
    return Var(name, type(value)(1)) if type(value) in (bool, float) else None


def _sane(value: Any, mode: Mode) -> bool:
    """Small arrays; numbers whose sums are exact ("whole") or whose errors stay small ("rough"); ints of 62 bits."""
    if isinstance(value, tuple | list):
        return all(_sane(v, mode) for v in value)
    if type(value) is int:
        return abs(value) < 2**61
    if not isinstance(value, np.ndarray | np.generic | float):
        return True
    x = np.asarray(value)
    if x.size > 2000 or x.ndim > 4:
        return False
    if x.dtype.kind != "f" or mode == "bits":
        return True
    large = _MOST[mode].get(x.dtype.name, 0.0)
    if mode == "rough":
        return bool((np.abs(x[np.isfinite(x)]) < large).all())
    scaled = x.astype(np.float64) * _FRACTION[x.dtype.name]
    return bool((np.isfinite(scaled) & (np.abs(x) < large)).all() and (scaled == np.floor(scaled)).all())
