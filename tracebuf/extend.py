"""Everything that a package of your own ops needs: op classes, models for existing ones, how a function becomes an op.

An op that writes into a destination derives from `DestinationOp`: `evaluate` is its NumPy reference, `spec` its loops
(without one native code calls the reference back), `reads_in` and `reads_out` its facts. Any other op derives from `Op`
and says how it is rewritten (`bufferize`), to ops of `memref` where it gives a view. What it keeps in attributes of its
own it gives to text and takes from there (`to_form`, `from_form`). `traced_as` ties a NumPy function to it.
`testing.check_op` tests the facts.
"""

from tracebuf.frontends.numpy.functions.extension import ArrayRef, Tracing, traced_as
from tracebuf.ir.attributes import Attr
from tracebuf.ir.core import (
    Alias,
    Block,
    Builder,
    Facts,
    Form,
    FormError,
    Interpreter,
    Op,
    Relation,
    Rewriter,
    Use,
    Value,
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
    "AffineMap", "Alias", "ArrayRef", "Attr", "Block", "BodyYield", "Builder", "DestinationOp", "ExternalModel",
    "Facts", "Form", "FormError", "Interpreter", "Location", "MemRefType", "Op", "Relation", "Rewriter", "ShapedType",
    "Slice", "Spec", "TensorType", "Tracing", "Type", "Use", "Value", "arith", "external_model", "identity_map",
    "memref", "traced_as",
]  # fmt: skip
