"""Checks after which NumPy would have given no floating-point warning (`warnings="numpy"`).

NumPy warns of a division by zero, an overflow or an invalid value where an operation's result is infinite or NaN and
its operands are not. So each result of floating-point arithmetic is checked for being finite, as traced, before any
pass drops, narrows or fuses what computes it: the program ends at the first one that is not, and the original function
runs. Where one result is not finite because another one is not (sums, products, roots), the last one alone is checked.

What is converted to integers is checked for its range. What may set NumPy's flags with finite results (division of
integers, complex numbers, integers of NumPy's own), and calls of Python's and NumPy's, are not looked through:
`insert_checks` says what. Underflow is not seen. MLIR has no such pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tracebuf.errors import TracebufError
from tracebuf.ir.core import Block, Op, Use, Value
from tracebuf.ir.func import Func
from tracebuf.ir.types import F16, I1, INDEX, ScalarType, TensorType
from tracebuf.location import Location
from tracebuf.ops.arrays import bufferization, gather, host, linalg, pick, recast, tensor, windows
from tracebuf.ops.control import checks, func, scf
from tracebuf.ops.memory.indexing import AffineMap, identity_map
from tracebuf.ops.scalars import arith, casts, division, functions, integers, libm


class MayWarn(TracebufError):
    """What a failed check raises: it never reaches the user."""


CARRIERS: dict[type[Op], tuple[int, ...]] = {
    **dict.fromkeys((arith.AddF, arith.SubF, arith.MulF), (0, 1)), arith.DivF: (0,), arith.CopySign: (0,),
    **dict.fromkeys((
        arith.NegF, arith.AbsF, arith.Sqrt, arith.Floor, arith.Ceil, arith.Trunc, arith.RoundEven, casts.ExtF,
        casts.TruncF,
    ), (0,)),
    arith.Select: (1, 2),
}  # fmt: skip
"""Ops whose result is not finite where one of these operands is not; of Select, the one that is taken."""
RISKY = (
    arith.AddF, arith.SubF, arith.MulF, arith.DivF, arith.Sqrt, casts.TruncF, arith.MaximumF, arith.MinimumF,
    arith.MaxNumF, arith.MinNumF,
)  # fmt: skip
"""Ops after which NumPy may warn, if the result is not finite; extremes, of which the functions for NaN warn."""
UFUNCS = frozenset((
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh",
    "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "hypot", "arctan2", "cbrt", "power", "float_power", "logaddexp",
    "logaddexp2", "degrees", "radians", "deg2rad", "rad2deg", "square", "reciprocal", "floor_divide", "remainder",
    "fmod",
))  # fmt: skip
"""Ufuncs of floats whose finite results are given without a warning."""
SILENT = (
    arith.Constant, arith.CmpF, arith.CmpI, arith.AndI, arith.OrI, arith.XorI, arith.MaxSI, arith.MinSI, arith.MaxUI,
    arith.MinUI, arith.NegF, arith.AbsF, arith.CopySign, arith.Floor, arith.Ceil, arith.Trunc, arith.RoundEven,
    arith.Select, arith.IndexCast, casts.ExtF, casts.ExtUI, casts.ExtSI, casts.TruncI, casts.SIToFP, casts.UIToFP,
    functions.IsNan, functions.IsInf, functions.IsFinite, linalg.Index, gather.Element, gather.CheckedIndex,
    gather.SortedPlace, integers.Overflows, integers.BitLength, integers.ShLI, integers.ShRSI, division.ShRUI,
    libm.Libm,
)  # fmt: skip
"""Scalar ops of which NumPy never warns, whatever the operands are."""
OF_ARRAYS = (arith.AddI, arith.SubI, arith.MulI, arith.AbsI)
"""Ops of integers of which NumPy warns for its scalars, and not for the elements of arrays."""
TO_INTEGERS = (casts.FPToSI, casts.FPToUI)
Found = tuple[Value, ScalarType | None]
"""A number or an array that is to be finite, or to be in the range of an integer type."""
MOVES = (
    tensor.Empty, tensor.ExtractSlice, tensor.ExtractView, tensor.InsertSlice, tensor.InsertView, tensor.Cast,
    tensor.CollapseShape, tensor.ExpandShape, tensor.Reshape, tensor.ExtractDiagonal, tensor.Extract, tensor.Insert,
    tensor.Dim, bufferization.MaterializeInDestination, linalg.Fill, recast.Recast, windows.ExtractWindows, pick.Pick,
    checks.Check, func.Return, scf.For, scf.While, scf.If, scf.Yield, scf.Condition, linalg.Yield,
)  # fmt: skip
"""Other ops that compute nothing."""


class Unseen(Exception):
    """An op that is not looked through."""

    def __init__(self, op: Op) -> None:
        self.op = op


def insert_checks(f: Func) -> tuple[str, Location] | None:
    """Inserts the checks; or says what is not looked through, and where, and changes nothing."""
    try:
        found = [(block, op, *one) for block in blocks(f) for op in block.ops for one in wanted(op)]
    except Unseen as unseen:
        what = "a call of Python's or NumPy's" if isinstance(unseen.op, host.HostCall) else unseen.op.name
        return what, unseen.op.loc
    for block, op, value, range_of in found:
        insert_check(block, op, value, range_of)
    return None


def blocks(f: Func) -> list[Block]:
    """The blocks of the program, without the bodies of structured ops."""
    inner = [r.block for op in f.walk() if not isinstance(op, linalg.DestinationOp) for r in op.regions]
    return [f.block, *inner]


def wanted(op: Op) -> list[Found]:
    """What is to be checked of an op: results, or what it converts to integers. Raises Unseen."""
    if isinstance(op, linalg.Contraction):
        return [(v, None) for v in op.results if is_float(v.tensor_type.element)]
    if type(op) is linalg.Generic:
        risky = carried(op)
        given = [(x, inner) for inner in op.body.ops if isinstance(inner, TO_INTEGERS) for x in inner.operands]
        converted = [(op.operand(x.index), inner.element) for x, inner in given]
        return [*converted, *((v, None) for k, v in enumerate(op.results) if k in risky and not is_carried(v))]
    if isinstance(op, TO_INTEGERS):
        return [(op.operand(0), op.element)]
    if isinstance(op, arith.ScalarOp):
        if is_risky(op, alone=True):
            return [] if carried_on(op.result) else [(op.result, None)]
    elif type(op) not in MOVES:
        raise Unseen(op)
    return []


def is_float(type_: Any) -> bool:
    return isinstance(type_, ScalarType) and type_.is_float


def is_risky(op: Op, alone: bool) -> bool:
    """Whether NumPy may warn after a scalar op. `alone`: it is of numbers, not of the elements of arrays. Raises Unseen
    for what is not looked through."""
    types = [v.type for v in (*op.operands, *op.results)]
    of_complex = any(isinstance(t, ScalarType) and t.is_complex for t in types)
    if of_complex and type(op) not in (arith.Constant, arith.Select):
        raise Unseen(op)
    if type(op) in RISKY:
        return True
    if isinstance(op, arith.Ufunc):
        if op.attrs["ufunc"] in UFUNCS and all(map(is_float, types)):
            return True
        raise Unseen(op)
    if type(op) in (casts.SIToFP, casts.UIToFP):
        return op.result.type is F16
    if isinstance(op, TO_INTEGERS) and (alone or op.operand(0).owner is op.block):
        return False
    if type(op) in OF_ARRAYS and (not alone or all(t is INDEX for t in types) or is_of_sizes(op)):
        return False
    of_sizes = isinstance(op, (division.Division, division.FloorDivIndex)) and all(t is INDEX for t in types)
    if type(op) not in SILENT and not of_sizes:
        raise Unseen(op)
    return False


def is_of_sizes(op: Op) -> bool:
    """Whether an op adds or subtracts numbers as small as sizes and Python's ints are here: it does not overflow."""

    def small(x: Value) -> bool:
        by = x.defining_op
        if isinstance(by, arith.Constant):
            return bool(abs(by.attrs["value"]) < MAX_SMALL)
        return isinstance(by, arith.IndexCast) and bool(by.operand(0).type is INDEX)

    return isinstance(op, (arith.AddI, arith.SubI)) and all(map(small, op.operands))


MAX_SMALL = 2**40


def carried(op: linalg.Generic) -> set[int]:
    """The results of an op that are not finite where a result of arithmetic in its body is not. Raises Unseen where
    none is."""
    found: set[int] = set()
    for inner in op.body.ops:
        if inner is not op.body.terminator and is_risky(inner, alone=False):
            if not (places := yielded(inner.result, op.body)):
                raise Unseen(inner)
            found |= places
    return found


def yielded(value: Value, body: Block, selected: bool = True) -> set[int]:
    """Which results of a body are not finite where a value in it is not; or (`selected`) where that one of several
    values that the body computes is taken: NumPy's loops compute no other."""
    found: set[int] = set()
    for use in value.uses:
        if use.op is body.terminator:
            found.add(use.index)
        elif use.index in CARRIERS.get(type(use.op), ()) and (selected or type(use.op) is not arith.Select):
            found |= yielded(use.op.result, body, selected)
    return {k for k in found if is_float(body.terminator.operand(k).type)}


def carried_on(value: Value) -> bool:
    """Whether a number makes a later one of its block infinite or NaN, which is checked."""
    return any(
        use.op.block is owner_block(value) and use.index in CARRIERS.get(type(use.op), ()) and type(use.op) in RISKY
        for use in value.uses
    )


def is_carried(value: Value) -> bool:
    """Whether an array's elements make those of a later one of its block, which is checked, infinite or NaN."""
    return any(carries(use) for use in value.uses if use.op.block is owner_block(value))


def carries(use: Use) -> bool:
    """Whether an op takes all elements of an array into results that are checked."""
    op = use.op
    if type(op) is not linalg.Generic or use.index >= op.n_ins or not op.maps[use.index].is_identity:
        return False
    added = op.all_parallel or all(isinstance(inner, (arith.AddF, linalg.Yield)) for inner in op.body.ops)
    return added and bool(yielded(op.body.args[use.index], op.body, selected=False) & carried(op))


def owner_block(value: Value) -> Block | None:
    op = value.defining_op
    return None if op is None else op.block


def insert_check(block: Block, after: Op, value: Value, range_of: ScalarType | None) -> None:
    """Inserts a check of a number, or of all elements of an array, behind an op."""
    at = block.ops.index(after) + 1

    def add(op: Op) -> Value:
        nonlocal at
        block.insert(at, op)
        at += 1
        return op.result if op.results else value

    loc = after.loc
    if isinstance(value.type, TensorType):
        element, n = value.type.element, value.type.rank
        true = add(arith.Constant.of(True, I1, loc))
        begin = add(linalg.Fill.of(true, add(tensor.Empty.of(TensorType((), I1), [], loc=loc)), loc))
        body = Block([element, I1])

        def inside(op: Op) -> Value:
            body.append(op)
            return op.result

        both = inside(arith.AndI.of(body.args[1], holds(body.args[0], range_of, loc, inside), loc))
        body.append(linalg.Yield.of([both], loc))
        maps = [identity_map(n), AffineMap(n, ())]
        whole = add(linalg.Generic.of([value], [begin], maps, ["reduction"] * n, body, loc))
        known = add(tensor.Extract.of(whole, [], loc))
    else:
        known = holds(value, range_of, loc, add)
    add(checks.Check.of(known, MayWarn, None, [], loc))


def holds(x: Value, range_of: ScalarType | None, loc: Location, add: Callable[[Op], Value]) -> Value:
    """Whether |x| < inf, or x is in a range, in ops that `add` appends."""
    assert isinstance(x.type, ScalarType)
    if range_of is None:
        infinite = add(arith.Constant.of(float("inf"), x.type, loc))
        return add(arith.CmpF.of("olt", add(arith.AbsF.of(x, loc)), infinite, loc))
    least, largest = range_of.bounds
    low, high = (add(arith.Constant.of(float(bound), x.type, loc)) for bound in (least, largest + 1))
    at_least, below = arith.CmpF.of("oge", x, low, loc), arith.CmpF.of("olt", x, high, loc)
    return add(arith.AndI.of(add(at_least), add(below), loc))

