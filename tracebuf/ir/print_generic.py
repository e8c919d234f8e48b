"""MLIR's generic form of a whole module, in MLIR's own layout: what `mlir-opt -mlir-print-op-generic` would print.

Every op prints all of itself by `Op.to_form`, so nothing is lost between the printer and the reader.
"""

from __future__ import annotations

from tracebuf.ir.core import Op
from tracebuf.ir.explicit import explicit
from tracebuf.ir.func import Func, Module
from tracebuf.ir.text import Writer

__all__ = ["print_generic"]


def print_generic(what: Module | Func | Op, *, locations: bool = False) -> str:
    """The text of a module, a function or an op."""
    writer = _Generic(locations)
    if isinstance(what, Module):
        writer.module(what)
    elif isinstance(what, Func):
        writer.func(what)
    else:
        writer.op(what)
    return writer.text


class _Generic(Writer):
    def func(self, func: Func) -> None:
        super().func(explicit(func))
