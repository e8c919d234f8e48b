"""Ops without a registered class. MLIR counterpart: unregistered ops (-allow-unregistered-dialect)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tracebuf.errors import UnsupportedError
from tracebuf.ir.core import Interpreter, Op, Rewriter, Value


@lru_cache(maxsize=1024)
def unknown_op(name: str) -> type[Op]:
    """The class of an unregistered op: kept as it is, with the conservative facts of `Op`."""
    made: type[Op] = type("UnknownOp", (UnknownOp,), {"__slots__": (), "__module__": __name__})
    made.name = name
    return made


class UnknownOp(Op):
    """An op without a class of its own (MLIR: an unregistered op)."""

    __slots__ = ()
    bufferizable = False

    def is_writable(self, value: Value) -> bool:
        return False

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        reason = f"{self.name} is not known here, so a program that has it cannot be run"
        raise UnsupportedError(reason, instead=f'interpret(..., given={{"{self.name}": function}})', location=self.loc)

    def bufferize(self, rewriter: Rewriter) -> None:
        rewriter.unknown(self)
