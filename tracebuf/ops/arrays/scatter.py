"""`tracebuf.scatter`: stores to elements whose indices are data, in order: a[i] = v, a[mask] = v, a[mask], np.nonzero,
np.add.at. MLIR counterpart: tensor.scatter, which asks for indices without repetition and has no loops of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tracebuf.errors import InternalError
from tracebuf.ir.attributes import Attr, all_encoded, array_of
from tracebuf.ir.core import Block, Form, Interpreter, Op, Region, Use, Value
from tracebuf.ir.types import INDEX, TensorType, Type
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.arrays.gather import check_whole
from tracebuf.ops.arrays.linalg import Generic, Index, Spec, run_body, tie_outs
from tracebuf.ops.memory.indexing import AffineMap, iteration_shape, parse_maps, spread_operand, whole_map


class Scatter(Generic):
    """`tracebuf.scatter`: sequential loops over the inputs, the last dimension fastest; each iteration may store one
    element.

    operands: the inputs (tensors, memrefs or scalars), dest; results: on tensors 1 of dest's type, aliases dest; attrs:
    n_ins, maps, iterators, fills (see `Spec`); regions: 1, with an argument for each input, one for dest as a whole
    (`Element` of it is its current contents) and the number of iterations that have counted so far (index). It yields
    whether to store, whether this iteration counts, the element, and its indices in dest. Elements that are not stored
    to stay. Fusion takes producers into it, but does not take it apart.
    """

    __slots__ = ()
    name = "tracebuf.scatter"

    @classmethod
    def into(
        cls,
        ins: Sequence[Value],
        dest: Value,
        maps: Sequence[AffineMap],
        body: Block,
        loc: Location = UNKNOWN,
        fills: bool = False,
    ) -> Scatter:
        """`maps` are those of the inputs; `fills`: see `Spec`."""
        n = maps[0].n_dims
        attrs = {"n_ins": len(ins), "maps": (*maps, whole_map(n)), "iterators": ("parallel",) * n, "fills": fills}
        return cls([*ins, dest], [dest.type] if isinstance(dest.type, TensorType) else [], loc, attrs, [Region(body)])

    @classmethod
    def from_form(cls, form: Form) -> Op:
        attrs: dict[str, Any] = {"n_ins": len(form.operands) - 1, "fills": form.take("fills", False)}
        attrs["iterators"] = ("parallel",) * form.take("n_loops")
        n = len(attrs["iterators"])
        attrs["maps"] = (*parse_maps(form, attrs["n_ins"]), whole_map(n))
        tie_outs(form, attrs["n_ins"])
        return cls.rebuilt(form.operands, form.result_types, form.loc, attrs | form.attrs, form.regions)

    def to_form(self) -> Form:
        maps = array_of((Attr(str(m)) for m in self.maps[: self.n_ins]), inherent=True)
        loops = Attr(f"{len(self.iterators)} : i64")
        return self.form_with({"indexing_maps": maps, "n_loops": loops} | all_encoded({"fills": self.attrs["fills"]}))

    @property
    def step(self) -> Value:
        """The body's argument for the number of iterations that have counted."""
        return self.body.args[-1]

    def verify(self) -> None:
        types = [a.type for a in self.body.args]
        if len(self.uses) != self.n_ins + 1 or len(types) != len(self.uses) + 1 or types[-1] is not INDEX:
            raise InternalError(f"{self.name}: operands and block arguments differ in number")
        for use, map_, arg in zip(self.uses, self.maps, self.body.args):
            if map_.whole:
                check_whole(self, use, arg)
        if len(self.body.terminator.uses) != 3 + self.rank:
            raise InternalError(f"{self.name}: the place has not {self.rank} indices")

    @property
    def rank(self) -> int:
        type_ = self.body.args[self.n_ins].type
        return type_.rank  # type: ignore[union-attr]

    def reads_out(self, use: Use) -> bool:
        """Elements that are not stored to stay, so the destination counts as read."""
        return True

    @property
    def looks(self) -> bool:
        """Whether the body reads the destination's contents."""
        return bool(self.body.args[self.n_ins].uses)

    def elementwise_access(self, a: Use, b: Use) -> bool:
        """Where each step stores to its own element of dest, if to any: `b[b] = v` with an array of bool."""
        end = [v.defining_op for v in self.body.terminator.operands[3:]]
        own = [isinstance(op, Index) and op.dim == k for k, op in enumerate(end)]
        maps = [self.maps[u.index] for u in (a, b) if u.index < self.n_ins]
        return all(own) and len(own) == len(self.iterators) and not self.looks and all(m.is_identity for m in maps)

    def spec(self, types: Sequence[Type]) -> Spec:
        fills = self.attrs.get("fills", False)
        return Spec(self.name, tuple(types), self.maps, self.iterators, self.n_ins, self.body, True, fills)

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        result = args[-1].copy(order="K")
        for place, value in self.stores(interpreter, [*args[:-1], result]):
            result[place] = value
        return [result]

    def stores(self, interpreter: Interpreter, args: list[Any]) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """The indices and elements stored, in order: all at once, or one by one where the body reads the destination,
        which changes in between. Elements that are not stored are not computed."""
        shape = iteration_shape(self.maps, args, len(self.iterators))
        count = int(np.prod(shape))
        spread = [spread_operand(a, m, shape) for a, m in zip(args, self.maps)]
        flat = [
            np.broadcast_to(a, shape).ravel() if isinstance(a, np.ndarray) and not m.whole else a
            for a, m in zip(spread, self.maps)
        ]
        points, steps = [g.ravel() for g in np.indices(shape)], np.zeros(count, np.int64)
        end = self.body.terminator.operands
        do, counted = run_body(self.body, [*flat, steps], interpreter, end[:2], points)
        steps[1:] = np.cumsum(np.broadcast_to(counted, count))[:-1]
        chosen = np.flatnonzero(np.broadcast_to(do, count))
        for lanes in chosen if self.looks else [chosen] * (len(chosen) > 0):
            here = [a[lanes] if isinstance(a, np.ndarray) and not m.whole else a for a, m in zip(flat, self.maps)]
            step = int(steps[lanes]) if self.looks else steps[lanes]
            at = [int(p[lanes]) if self.looks else p[lanes] for p in points]
            value, *place = run_body(self.body, [*here, step], interpreter, end[2:], at)
            # Without axes every step stores to the one element: the last one stays.
            yield tuple(place), value if place or not np.ndim(value) else value[-1]
