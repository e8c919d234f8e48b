"""Everything that a package with ops of its own needs: op classes, models for existing ones, how a function becomes an
op.

An op that writes into a destination derives from `DestinationOp`: `evaluate` is its NumPy reference, `spec` its loops
(without one native code calls the reference back), `reads_in` and `reads_out` its facts. Any other op derives from `Op`
and says what it does to memory (`effects`; until it does, it is neither removed nor moved), and how it is rewritten
(`bufferize`), to ops of `memref` where it gives a view. Attributes of its own are
converted to text and back by `to_form` and `from_form`. `traced_as` ties a NumPy function to it. `external_model`
states other facts of an existing class. `testing.check_op` tests the facts.

    class Lerp(DestinationOp):
        name = "mine.lerp"

        @classmethod
        def of(cls, x: Value, y: Value, w: Value, out: Value, loc: Location) -> "Lerp":
            return cls([x, y, w, out], [out.type], loc, {"n_ins": 3})

        def reads_out(self, use: Use) -> bool:
            return False

        def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
            x, y, w, _ = args
            return [x + w * (y - x)]

    @traced_as(lerp)
    def _(t: Tracing, x: ArrayRef, y: ArrayRef, w: Any) -> ArrayRef:
        a, b, out = t.tensor(x), t.tensor(y), t.empty(x.shape, x.dtype)
        return t.array_of(t.add(Lerp.of(a, b, t.scalar(w, x.dtype), out, t.loc)).result)

tests/second_package has this op with loops, checks and text, and others that view, replace or model.
"""

from tracebuf.frontends.numpy.functions.extension import ArrayRef, Tracing, traced_as
from tracebuf.ir.attributes import Attr
from tracebuf.ir.core import (
    Alias,
    Block,
    Builder,
    Effect,
    Effects,
    Facts,
    Form,
    FormError,
    Interpreter,
    Op,
    Relation,
    Rewriter,
    Use,
    Value,
    no_effects,
)
from tracebuf.ir.external import ExternalModel, external_model
from tracebuf.ir.slices import Slice
from tracebuf.ir.types import MemRefType, ShapedType, TensorType, Type
from tracebuf.location import Location
from tracebuf.ops.arrays.linalg import AffineMap, DestinationOp, Spec, identity_map
from tracebuf.ops.arrays.linalg import Yield as BodyYield
from tracebuf.ops.memory import memref
from tracebuf.ops.scalars import arith

__all__ = [
    "AffineMap", "Alias", "ArrayRef", "Attr", "Block", "BodyYield", "Builder", "DestinationOp", "Effect", "Effects",
    "ExternalModel", "Facts", "Form", "FormError", "Interpreter", "Location", "MemRefType", "Op", "Relation",
    "Rewriter", "ShapedType", "Slice", "Spec", "TensorType", "Tracing", "Type", "Use", "Value", "arith",
    "external_model", "identity_map", "memref", "no_effects", "traced_as",
]  # fmt: skip
