"""Scalar ops: `arith` and `math`, and `tracebuf.ufunc` for everything that NumPy's own inner loops compute.

Each class: the op's name, its NumPy reference (works on scalars and on whole arrays alike), its LLVM form. MLIR
counterpart: the arith and math dialects. No fast-math flags and no contraction: results are bit-identical to NumPy's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from tracebuf.errors import InternalError
from tracebuf.ir.attributes import Attr, inherent, number
from tracebuf.ir.core import Alias, Facts, Form, FormError, Interpreter, Op, Rewriter, Use, Value, no_effects
from tracebuf.ir.dense import dense_array
from tracebuf.ir.emitter import Emitter, components, join_components, llvm_type
from tracebuf.ir.types import ELEMENTS, F16, I1, INDEX, ScalarType, ShapedType, TensorType, same_type
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.memory.memref import Cast, GetGlobal, forget_layout
from tracebuf.running.ufuncs import ufunc_named

CONSTANTS = frozenset({*ELEMENTS.values(), INDEX})
"""Types whose constants are Python numbers here; those of others stay MLIR's text."""


class ScalarOp(Op):
    """A pure function of scalars. In `linalg.generic` the reference is applied to whole arrays. MLIR text may apply it
    to tensors, where One-Shot treats it as an unknown op.

    operands: scalars; results: 1 scalar.
    """

    __slots__ = ()
    gives = "any"
    effects = no_effects
    bufferizable = False
    levels = frozenset({"tensor", "memref", "body"})
    reference: ClassVar[Callable[..., Any]]

    @classmethod
    def from_form(cls, form: Form) -> Op:
        """The op, without the flags that MLIR prints although they allow nothing."""
        for key in ("fastmath", "overflowFlags"):
            if (flags := form.attrs.get(key)) is not None and flags.value == "none":
                del form.attrs[key]
        return super().from_form(form)

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        with np.errstate(all="ignore"):
            return [self.compute(args)]

    def compute(self, args: Sequence[Any]) -> Any:
        """The value, with exactly the result type's dtype (Python int for index)."""
        return convert(type(self).reference(*args), self.element)

    @property
    def element(self) -> ScalarType:
        assert isinstance(self.result.type, ScalarType)
        return self.result.type

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        raise NotImplementedError(self.name)

    @property
    def llvm(self) -> str:
        """The LLVM type of the first operand."""
        operand = self.operand(0).type
        assert isinstance(operand, ScalarType)
        return llvm_type(operand)


def convert(value: Any, element: ScalarType) -> Any:
    """A reference's result as the interpreters hold it: arrays and NumPy scalars of its dtype, ints for index."""
    if isinstance(value, np.ndarray):
        return value.astype(element.dtype, copy=False)
    if element is not INDEX:
        return np.asarray(value).astype(element.dtype)[()]
    number = int(value)
    return number if -(2**63) <= number < 2**63 else (number + 2**63) % 2**64 - 2**63


def as_signed(value: Any) -> Any:
    """An integer (or array of them) as signed ops see it: to them a set bit is -1."""
    return -np.asarray(value).astype(np.int8)[()] if getattr(value, "dtype", None) == np.bool_ else value


def as_unsigned(value: Any) -> Any:
    """The bits of an integer (or array of them) as unsigned: MLIR's integers are signless, ops have the sign."""
    if isinstance(value, int):
        return np.uint64(value & (2**64 - 1))
    return value.view(f"u{value.dtype.itemsize}") if value.dtype.kind == "i" else value


def type_said(value: Attr) -> str:
    """The type that the text of a constant ends with, or that of a number without one."""
    plain = {bool: "i1", int: "i64", float: "f64"}.get(type(value.value), "")
    end = value.text.rfind("> : ") + 1 if value.text.startswith("dense") else value.text.find(" : ")
    return value.text[end + 3 :] if end > 0 else plain


class Constant(ScalarOp):
    """`arith.constant`. operands: none; results: 1 of a scalar type (or a tensor or vector in MLIR text); attrs: value
    (Python bool, int or float; MLIR's text, an Attr, for tensors and vectors). A constant tensor is a global buffer
    that must not be stored to (MLIR behaviour 18)."""

    __slots__ = ()
    name = "arith.constant"
    takes = ""
    bufferizable = True

    @classmethod
    def of(cls, value: bool | int | float, element: ScalarType, loc: Location = UNKNOWN) -> Constant:
        return cls([], [element], loc, {"value": value})

    @classmethod
    def from_form(cls, form: Form) -> Op:
        form.expect(operands=0, results=1)
        value, type_ = form.attrs.get("value"), form.result_types[0]
        if value is None:
            raise FormError(f"{cls.name}: the attribute `value` is missing")
        attrs: dict[str, Any] = dict(form.attrs)
        if (said := type_said(value)) and re.sub(r"\s", "", said) != re.sub(r"\s", "", str(type_)):
            raise FormError(f"{cls.name}: `{value.text[:60]}` is no {type_}")
        if isinstance(type_, ScalarType) and type_ in CONSTANTS:
            if not isinstance(value.value, float if type_.is_float else int):
                raise FormError(f"{cls.name}: `{value}` is no {type_}")
            attrs["value"] = value.value
        return cls.rebuilt([], form.result_types, form.loc, attrs)

    def to_form(self) -> Form:
        value = self.attrs["value"]
        if isinstance(value, Attr):
            return super().to_form()
        return self.form_with({"value": number(value, self.element)})

    def compute(self, args: Sequence[Any]) -> Any:
        type_, value = self.result.type, self.attrs["value"]
        if isinstance(type_, TensorType):
            return dense_array(value.text, [int(n) for n in type_.shape], type_.element.dtype)  # type: ignore[arg-type]
        return convert(value, self.element)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return e.literal(self.element, self.attrs["value"])

    def is_writable(self, value: Value) -> bool:
        return False

    def bufferize(self, rewriter: Rewriter) -> None:
        if not self.result.is_tensor:
            return rewriter.clone(self)
        made = rewriter.add(GetGlobal.constant(self.attrs["value"].text, self.result.tensor_type, self.loc))
        rewriter.replace(self.result, made.result)


class BinaryOp(ScalarOp):
    """A function of two scalars; `instruction` is the LLVM opcode.

    operands: a, b of one type; results: 1 of that type.
    """

    __slots__ = ()
    takes = "any, any"
    instruction: ClassVar[str]

    @classmethod
    def of(cls, a: Value, b: Value, loc: Location = UNKNOWN) -> BinaryOp:
        return cls([a, b], [a.type], loc)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return e.inst(f"{self.instruction} {self.llvm} {args[0]}, {args[1]}")


class AddF(BinaryOp):
    """`arith.addf`: np.add on floats. operands: a, b of one float type; results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "arith.addf", "fadd", np.add


class SubF(BinaryOp):
    """`arith.subf`: np.subtract on floats. operands: a, b of one float type; results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "arith.subf", "fsub", np.subtract


class MulF(BinaryOp):
    """`arith.mulf`: np.multiply on floats. operands: a, b of one float type; results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "arith.mulf", "fmul", np.multiply


class DivF(BinaryOp):
    """`arith.divf`: np.true_divide on floats. operands: a, b of one float type; results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "arith.divf", "fdiv", np.true_divide


class _Sum(BinaryOp):
    """Integer sums and differences; on i1 both are exclusive or, as in MLIR."""

    __slots__ = ()

    def compute(self, args: Sequence[Any]) -> Any:
        return convert(np.logical_xor(*args), I1) if self.element is I1 else super().compute(args)


class AddI(_Sum):
    """np.add on integers (wraps). operands: a, b of one integer type or index; results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "arith.addi", "add", np.add


class SubI(_Sum):
    """np.subtract on integers (wraps). operands: a, b of one integer type or index; results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "arith.subi", "sub", np.subtract


class MulI(BinaryOp):
    """np.multiply on integers (wraps). operands: a, b of one integer type or index; results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "arith.muli", "mul", np.multiply


class AndI(BinaryOp):
    """np.bitwise_and; on bool also np.logical_and, np.multiply, np.minimum. operands: a, b of one integer type, i1 or
    index; results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "arith.andi", "and", np.bitwise_and


class OrI(BinaryOp):
    """np.bitwise_or; on bool also np.logical_or, np.add, np.maximum. operands: a, b of one integer type, i1 or index;
    results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "arith.ori", "or", np.bitwise_or


class XorI(BinaryOp):
    """np.bitwise_xor; on bool also np.logical_xor, np.not_equal; with True np.logical_not. operands: a, b of one
    integer type, i1 or index; results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "arith.xori", "xor", np.bitwise_xor


class _ExtremeI(BinaryOp):
    """The larger or the smaller of two integers; `instruction` is LLVM's intrinsic."""

    __slots__ = ()

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return e.intrinsic(f"{self.instruction}.{self.llvm}", self.llvm, [(self.llvm, a) for a in args])


class _ExtremeSI(_ExtremeI):
    __slots__ = ()

    def compute(self, args: Sequence[Any]) -> Any:
        return super().compute([as_signed(a) for a in args])


class MaxSI(_ExtremeSI):
    """np.maximum on signed integers and sizes. operands: a, b of one integer type or index; results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "arith.maxsi", "llvm.smax", np.maximum


class MinSI(_ExtremeSI):
    """np.minimum on signed integers and sizes. operands: a, b of one integer type or index; results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "arith.minsi", "llvm.smin", np.minimum


class _ExtremeUI(_ExtremeI):
    __slots__ = ()

    def compute(self, args: Sequence[Any]) -> Any:
        return super().compute([as_unsigned(a) for a in args])


class MaxUI(_ExtremeUI):
    """np.maximum on unsigned integers. operands: a, b of one integer type or index; results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "arith.maxui", "llvm.umax", np.maximum


class MinUI(_ExtremeUI):
    """np.minimum on unsigned integers. operands: a, b of one integer type or index; results: 1 of that type."""

    __slots__ = ()
    name, instruction, reference = "arith.minui", "llvm.umin", np.minimum


class _ExtremeF(BinaryOp):
    """`a if a OP b or x is NaN else b`. With a for x, NaN propagates, as NumPy has it; with b, it is the result where
    both are. A strict OP takes the second of equal zeros (of halves the first, whose loops compare otherwise)."""

    __slots__ = ()
    predicate: ClassVar[str]
    nan: ClassVar[int]
    """Which operand x is."""

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        a, b = args
        predicate = self.predicate.replace("t", "e") if self.element is F16 else self.predicate
        wins = e.inst(f"fcmp {predicate} {self.llvm} {a}, {b}")
        nan = e.inst(f"fcmp uno {self.llvm} {args[self.nan]}, {args[self.nan]}")
        take = e.inst(f"or i1 {wins}, {nan}")
        return e.inst(f"select i1 {take}, {self.llvm} {a}, {self.llvm} {b}")


class MaximumF(_ExtremeF):
    """`arith.maximumf`: np.maximum on floats. operands: a, b of one float type; results: 1 of that type."""

    __slots__ = ()
    name, predicate, nan, reference = "arith.maximumf", "ogt", 0, np.maximum


class MinimumF(_ExtremeF):
    """`arith.minimumf`: np.minimum on floats. operands: a, b of one float type; results: 1 of that type."""

    __slots__ = ()
    name, predicate, nan, reference = "arith.minimumf", "olt", 0, np.minimum


class MaxNumF(_ExtremeF):
    """`arith.maxnumf`: np.fmax on floats; of equal zeros either may be taken. operands: a, b of one float type;
    results: 1 of that type."""

    __slots__ = ()
    name, predicate, nan, reference = "arith.maxnumf", "oge", 1, np.fmax


class MinNumF(_ExtremeF):
    """`arith.minnumf`: np.fmin on floats; of equal zeros either may be taken. operands: a, b of one float type;
    results: 1 of that type."""

    __slots__ = ()
    name, predicate, nan, reference = "arith.minnumf", "ole", 1, np.fmin


_COMPARE: dict[str, Callable[..., Any]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip


class _Compare(ScalarOp):
    __slots__ = ()
    takes = "any, any"
    predicates: ClassVar[tuple[str, ...]]
    """MLIR's predicates, in the order of their numbers."""

    @classmethod
    def from_form(cls, form: Form) -> Op:
        code = form.take("predicate")
        if not isinstance(code, int) or not 0 <= code < len(cls.predicates):
            raise FormError(f"{cls.name}: {code} is no predicate")
        form.expect(operands=2, results=1)
        made = super().from_form(form)
        made.attrs["predicate"] = cls.predicates[code]
        return made

    def to_form(self) -> Form:
        code = self.predicates.index(self.attrs["predicate"])
        return self.form_with({"predicate": inherent(f"{code} : i64", code)})

    @classmethod
    def of(cls, predicate: str, a: Value, b: Value, loc: Location = UNKNOWN) -> _Compare:
        return cls([a, b], [I1], loc, {"predicate": predicate})


class CmpF(_Compare):
    """`arith.cmpf`: np.equal, less ... on floats. operands: a, b of one float type; results: 1 i1; attrs: predicate
    (oeq, olt ... are false for NaN, une, ult ... true; ord, uno: whether neither, or either, is NaN)."""

    __slots__ = ()
    name = "arith.cmpf"
    predicates = tuple("false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split())

    def compute(self, args: Sequence[Any]) -> Any:
        predicate = self.attrs["predicate"]
        unordered = np.isnan(args[0]) | np.isnan(args[1])
        if predicate in ("uno", "ord"):
            return convert(unordered if predicate == "uno" else ~unordered, I1)
        if predicate in ("true", "false"):
            return convert(unordered | True if predicate == "true" else unordered & False, I1)  # scalars stay scalars
        found = _COMPARE[predicate[1:]](*args)
        return convert(found & ~unordered if predicate[0] == "o" else found | unordered, I1)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return e.inst(f"fcmp {self.attrs['predicate']} {self.llvm} {args[0]}, {args[1]}")


class CmpI(_Compare):
    """np.equal, less ... on integers, sizes and bool. operands: a, b of one integer type, i1 or index; results: 1 i1;
    attrs: predicate (eq, ne; signed slt sle sgt sge, to which a set bit is -1; unsigned ult ule ugt uge, also for
    bool)."""

    __slots__ = ()
    name = "arith.cmpi"
    predicates = tuple("eq ne slt sle sgt sge ult ule ugt uge".split())

    def compute(self, args: Sequence[Any]) -> Any:
        predicate = self.attrs["predicate"]
        if predicate in ("eq", "ne"):
            return convert(_COMPARE[predicate](*args), I1)
        if predicate[0] == "u":
            args = [as_unsigned(a) for a in args]
        elif self.operand(0).type is I1:
            args = args[::-1]
        return convert(_COMPARE[predicate[1:]](*args), I1)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return e.inst(f"icmp {self.attrs['predicate']} {self.llvm} {args[0]}, {args[1]}")


class Select(ScalarOp):
    """`arith.select` on scalars; np.where in `linalg.generic`. operands: condition (i1), a, b of one type (scalars,
    tensors or memrefs); results: 1 of that type; on tensors one of the two buffers (MLIR behaviour 13)."""

    __slots__ = ()
    name, reference, bufferizable = "arith.select", np.where, True
    takes = "any, any, any"

    @classmethod
    def of(cls, condition: Value, a: Value, b: Value, loc: Location = UNKNOWN) -> Select:
        return cls([condition, a, b], [a.type], loc)

    def verify(self) -> None:
        types = [v.type for v in (*self.operands[1:], self.result)]
        kinds = {(type(t), t.element if isinstance(t, ShapedType) else t) for t in types}
        if len(kinds) != 1:
            raise InternalError("arith.select: it chooses between values of two types")

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return False

    bufferizes_to_memory_write = bufferizes_to_memory_read

    def aliasing_values(self, use: Use) -> list[Alias]:
        return [Alias(self.result, definite=False)]

    def bufferize(self, rewriter: Rewriter) -> None:
        if not self.result.is_tensor:
            return rewriter.clone(self)
        a, b = (rewriter.buffer(use) for use in self.uses[1:])
        if not same_type(a.type, b.type):
            type_ = forget_layout(self.result.tensor_type)
            a, b = (rewriter.add(Cast.of(v, type_, self.loc)).result for v in (a, b))
        made = rewriter.add(Select([rewriter.value(self.operand(0)), a, b], [a.type], self.loc))
        rewriter.replace(self.result, made.result)

    def compute(self, args: Sequence[Any]) -> Any:
        if not isinstance(self.result.type, ScalarType):
            return args[1] if args[0] else args[2]
        found = np.where(*args)
        return convert(found if any(isinstance(a, np.ndarray) for a in args) else found[()], self.element)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        pairs, t = zip(*(components(self.element, a) for a in args[1:])), llvm_type(self.element.component)
        return join_components([e.inst(f"select i1 {args[0]}, {t} {a}, {t} {b}") for (_, a), (_, b) in pairs])


def lowest_bit(value: Any, element: ScalarType) -> Any:
    """What a cut to `element` keeps: of a bool one bit, not whether the number is zero."""
    return value & 1 if element is I1 else value


class CastOp(ScalarOp):
    """A conversion to the result type.

    operands: scalar; results: 1 scalar.
    """

    __slots__ = ()
    takes = "any"
    reference = np.positive
    instruction: ClassVar[str]

    @classmethod
    def of(cls, value: Value, element: ScalarType, loc: Location = UNKNOWN) -> CastOp:
        return cls([value], [element], loc)

    def compute(self, args: Sequence[Any]) -> Any:
        with np.errstate(all="ignore"):
            return convert(args[0] if isinstance(args[0], np.ndarray) else np.asarray(args[0])[()], self.element)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return e.inst(f"{self.instruction} {self.llvm} {args[0]} to {llvm_type(self.element)}")


class IndexCast(CastOp):
    """Between index and integers, with sign extension. operands: index or integer (or a tensor of them); results: 1
    integer or index; of a tensor a view of its buffer."""

    __slots__ = ()
    name = "arith.index_cast"
    bufferizable = True

    def compute(self, args: Sequence[Any]) -> Any:
        return super().compute([lowest_bit(self._read(args[0]), self.element)])

    @staticmethod
    def _read(value: Any) -> Any:
        return as_signed(value)

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return False

    bufferizes_to_memory_write = bufferizes_to_memory_read

    def aliasing_values(self, use: Use) -> list[Alias]:
        return [Alias(self.result)]

    def bufferize(self, rewriter: Rewriter) -> None:
        if not self.result.is_tensor:
            return rewriter.clone(self)
        buffer, element = rewriter.buffer(self.uses[0]), self.result.tensor_type.element
        made = rewriter.add(IndexCast([buffer], [replace(buffer.memref_type, element=element)], self.loc))
        rewriter.replace(self.result, made.result)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return self.resized(e, args[0], "sext")

    def resized(self, e: Emitter, value: str, extension: str) -> str:
        """None between index and i64, which need no conversion."""
        source, target = self.operand(0).type, self.element
        assert isinstance(source, ScalarType)
        if source.bits == target.bits:
            return value
        how = extension if source.bits < target.bits else "trunc"
        return e.inst(f"{how} {self.llvm} {value} to {llvm_type(target)}")


class UnaryOp(ScalarOp):
    """A function of one scalar; `intrinsic` is LLVM's.

    operands: scalar; results: 1 of that type.
    """

    __slots__ = ()
    takes = "any"
    intrinsic: ClassVar[str]

    @classmethod
    def of(cls, value: Value, loc: Location = UNKNOWN) -> UnaryOp:
        return cls([value], [value.type], loc)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return e.intrinsic(f"{self.intrinsic}.{self.element}", self.llvm, [(self.llvm, args[0])])


class NegF(UnaryOp):
    """`arith.negf`: np.negative on floats. operands: float; results: 1 of that type."""

    __slots__ = ()
    name, reference = "arith.negf", np.negative

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return e.inst(f"fneg {self.llvm} {args[0]}")


class AbsF(UnaryOp):
    """`math.absf`: np.absolute, np.fabs on floats. operands: float; results: 1 of that type."""

    __slots__ = ()
    name, intrinsic, reference = "math.absf", "llvm.fabs", np.absolute


class AbsI(UnaryOp):
    """`math.absi`: np.absolute on signed integers (the smallest int stays as it is). operands: integer; results: 1 of
    that type."""

    __slots__ = ()
    name, reference = "math.absi", np.absolute

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return e.intrinsic(f"llvm.abs.{self.llvm}", self.llvm, [(self.llvm, args[0]), ("i1", "false")])


class Sqrt(UnaryOp):
    """`math.sqrt`: np.sqrt. operands: float; results: 1 of that type."""

    __slots__ = ()
    name, intrinsic, reference = "math.sqrt", "llvm.sqrt", np.sqrt


class Floor(UnaryOp):
    """`math.floor`: np.floor. operands: float; results: 1 of that type."""

    __slots__ = ()
    name, intrinsic, reference = "math.floor", "llvm.floor", np.floor


class Ceil(UnaryOp):
    """`math.ceil`: np.ceil. operands: float; results: 1 of that type."""

    __slots__ = ()
    name, intrinsic, reference = "math.ceil", "llvm.ceil", np.ceil


class Trunc(UnaryOp):
    """`math.trunc`: np.trunc. operands: float; results: 1 of that type."""

    __slots__ = ()
    name, intrinsic, reference = "math.trunc", "llvm.trunc", np.trunc


class RoundEven(UnaryOp):
    """`math.roundeven`: np.rint. operands: float; results: 1 of that type."""

    __slots__ = ()
    name, intrinsic, reference = "math.roundeven", "llvm.rint", np.rint


class CopySign(BinaryOp):
    """`math.copysign`: np.copysign. operands: a, b of one float type; results: 1 of that type."""

    __slots__ = ()
    name, reference = "math.copysign", np.copysign

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return e.intrinsic(f"llvm.copysign.{self.element}", self.llvm, [(self.llvm, a) for a in args])


class Ufunc(ScalarOp):
    """`tracebuf.ufunc`: the inner loop of a ufunc of NumPy's or of scipy.special, called by pointer.

    operands: a scalar for each input of the loop, of the types of its characters; results: 1 scalar; attrs: ufunc
    ("exp", "scipy.special.erf"), types ("dd->d"). MLIR has counterparts for some (`math.exp`, `math.powf` ...); printed
    under its own name, since the result is NumPy's to the bit. Operands that do not vary in the loop are passed with
    step 0, as NumPy passes scalars (rule N3).
    """

    __slots__ = ()
    name = "tracebuf.ufunc"
    takes, gives = "scalar*", "scalar"

    @classmethod
    def of(cls, ufunc: str, types: str, args: Sequence[Value], element: ScalarType, loc: Location = UNKNOWN) -> Ufunc:
        """`types`: of the loop, as in `ufunc.types`; `element`: the result type."""
        return cls(args, [element], loc, {"ufunc": ufunc, "types": types})

    def verify(self) -> None:
        try:
            found = ufunc_named(str(self.attrs.get("ufunc")))
        except (AttributeError, ImportError):
            found = None
        if not isinstance(found, np.ufunc) or found.nin != len(self.uses) or "types" not in self.attrs:
            raise InternalError(f"{self.name}: `ufunc` and `types` are those of no ufunc of {len(self.uses)} operands")

    @property
    def function(self) -> np.ufunc:
        return ufunc_named(self.attrs["ufunc"])

    def compute(self, args: Sequence[Any]) -> Any:
        return convert(self.function(*args), self.element)

    def emit(self, e: Emitter, args: Sequence[str]) -> str:
        return e.ufunc(self.function, self.attrs["types"], args, llvm_type(self.element))


def constant_flag(value: Value) -> bool | None:
    """The value of an i1 constant, or None."""
    op = value.defining_op
    return bool(op.attrs["value"]) if isinstance(op, Constant) and value.type is I1 else None


def negated(flag: Value) -> Value | None:
    """What a flag is the negation of."""
    op = flag.defining_op
    return op.operand(0) if isinstance(op, XorI) and constant_flag(op.operand(1)) else None
