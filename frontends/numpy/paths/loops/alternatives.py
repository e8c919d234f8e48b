"""Names and items of lists that hold None or a number, or numbers of different types, depending on the path: a number
of each kind is carried or stored, with flags that say which one it is (rules S8, S10)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from tracebuf.frontends.numpy.numbers.lattice import choice, from_values, to_values, zeros
from tracebuf.frontends.numpy.numbers.operands import scalar_value
from tracebuf.frontends.numpy.numbers.python_ints import int_of_value
from tracebuf.frontends.numpy.record.cond import Cond
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import EITHER, Kinds, NpScalar, PyBool, PyComplex, PyFloat, Unsure, kind_of
from tracebuf.ir.core import Value
from tracebuf.ir.types import C128, F64, I1, I64
from tracebuf.ops.scalars import arith


def to_alternatives(r: Recorder, x: Any, kinds: Kinds) -> list[Value]:
    """A value as those that are carried for it."""
    if isinstance(x, Cond):
        first, second = (to_alternatives(r, arm, kinds) for arm in x.arms)
        return [a if a is b else r.emit(arith.Select.of(x.condition, a, b)) for a, b in zip(first, second)]
    own = kind_of(x)
    if own not in kinds and isinstance(x, NpScalar) and x.python is not None:
        return to_alternatives(r, either_kind(r, x, x.python), kinds)
    values = [r.constant(kind == own, I1) for kind in kinds[:-1]]
    for kind in kinds:
        if kind is not None:
            values += to_values(r, x, kind) if kind == own else zeros(r, kind)
    return values


def of_each_origin(r: Recorder, x: Any) -> Cond[Any] | None:
    """`either_kind` of a number that is Python's or NumPy's, depending on the path; None for anything else."""
    unsure = x.python if isinstance(x, NpScalar) else None
    return None if unsure is None or unsure.kind == EITHER else either_kind(r, x, unsure)


def either_kind(r: Recorder, x: NpScalar, python: Unsure) -> Cond[Any]:
    """A number that is NumPy's or Python's, depending on the path, as one or the other."""
    numpys = NpScalar(x.value, x.element)
    if python.kind == "int":
        return choice(python.flag, int_of_value(r, scalar_value(r, numpys, I64)), numpys)
    kind = {"float": PyFloat, "complex": PyComplex, "bool": PyBool}[python.kind]
    element = {"float": F64, "complex": C128, "bool": I1}[python.kind]
    return choice(python.flag, kind(scalar_value(r, numpys, element)), numpys)


def from_alternatives(r: Recorder, values: Sequence[Value], kinds: Kinds, name: str) -> Any:
    """The value that carried ones stand for."""
    flags, numbers = values[: len(kinds) - 1], iter(values[len(kinds) - 1 :])
    made = [kind and from_values(r, list(islice(numbers, len(kind.types))), kind, name) for kind in kinds]
    found = made.pop()
    for flag, x in zip(reversed(flags), reversed(made)):
        found = choice(flag, x, found)
    return found
