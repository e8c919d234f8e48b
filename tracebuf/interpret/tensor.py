"""The tensor program on values: each op's NumPy reference, nothing shared, nothing modified.

Why: it says what the traced program means before any decision about memory, so it tells a wrong trace from a wrong
bufferization. Does not model memory, so nor aliasing of results with arguments; `tracebuf.interpret.memref` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tracebuf.errors import InternalError, TracebufError
from tracebuf.frozen import frozen
from tracebuf.interpret import Known, Runner, Watch
from tracebuf.ir.core import Op, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import ScalarType, ShapedType, TensorType
from tracebuf.ir.verifier import where
from tracebuf.ops.arrays.bufferization import MaterializeInDestination
from tracebuf.ops.control.checks import Check
from tracebuf.ops.control.func import Call
from tracebuf.ops.scalars.arith import convert

__all__ = ["Result", "run"]


@frozen()
class Result:
    """`results`: what `func.return` returns (arrays, NumPy scalars, ints for index). `arguments`: the final contents of
    each argument that was stored to, by index. All arrays are read-only."""

    results: list[Any]
    arguments: dict[int, np.ndarray]


def run(func: Func, args: Sequence[Any], known: Known | None = None, watch: Watch | None = None) -> Result:
    """Runs a tensor-level function; the arguments (arrays and scalars of the declared types) are not modified.
    `known` are the functions that it calls, by name; `watch` is told of each op that was run.

    Raises what a `tracebuf.check` raises, and InternalError, naming the op and the user's line, where a value does not
    have the dtype, rank or sizes that its type declares, or an op's reference fails.
    """
    runner = _TensorRunner(func, known)
    runner.watch = watch
    if len(args) != len(func.args):
        raise InternalError(f"{func.name}: {len(args)} arguments for {len(func.args)}")
    data = [argument(v, a) for v, a in zip(func.args, args, strict=True)]
    runner.bind_sizes([d.shape if isinstance(d, np.ndarray) else None for d in data])
    results = runner.run_block(func.block, data)
    return Result(results, runner.arguments)


def argument(value: Value, data: Any) -> Any:
    """A read-only copy of an array (same axis order), or the scalar as the interpreters hold it."""
    if isinstance(value.type, ScalarType):
        return convert(data, value.type)
    array = np.array(data, order="K", copy=True)
    array.flags.writeable = False
    return array


def evaluated(op: Op, runner: Runner, args: list[Any]) -> list[Any]:
    """The results of an op's reference; InternalError, naming the op, where it fails that should not."""
    try:
        return op.evaluate(runner, args)
    except TracebufError:
        raise
    except Exception as e:
        if op.may_raise:
            raise
        raise InternalError(f"{where(op)}: its reference failed: {type(e).__name__}: {e}") from e


class _TensorRunner(Runner):
    __slots__ = ("arguments",)

    def __init__(self, func: Func, known: Known | None = None) -> None:
        super().__init__(func, known)
        self.arguments: dict[int, np.ndarray] = {}

    def run_op(self, op: Op, args: list[Any]) -> Sequence[Any]:
        if isinstance(op, Check) or op.name.startswith("scf."):
            return op.evaluate(self, args)
        if isinstance(op, Call):
            return self.call(op, args)
        results = evaluated(op, self, args)
        for r in results:
            if isinstance(r, np.ndarray):
                r.flags.writeable = False
        if isinstance(op, MaterializeInDestination) and not self.depth:
            self.arguments[self._destination(op)] = results[0]
        return results

    def _destination(self, op: MaterializeInDestination) -> int:
        dest = op.operand(1)
        while isinstance(earlier := dest.defining_op, MaterializeInDestination):
            dest = earlier.operand(1)
        if dest.owner is not self.func.block:
            raise InternalError(f"{where(op)}: its destination is not an argument")
        return dest.index

    def check_shaped(self, value: Value, type: ShapedType, data: Any) -> str:
        if not isinstance(type, TensorType):
            return "is no tensor: this is not the tensor level"
        return self.wrong_shape(type, data) if isinstance(data, np.ndarray) else f"holds {data!r}, no array"
