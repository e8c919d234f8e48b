"""scf.forall: iterations that may run at once, each storing its parts into shared results. MLIR counterpart: scf.forall
and SCF/BufferizableOpInterfaceImpl.cpp. Here they run one after another."""

from __future__ import annotations

from itertools import product
from typing import Any

from tracebuf.errors import InternalError
from tracebuf.ir.attributes import integers, segments
from tracebuf.ir.core import (
    Alias,
    Block,
    Facts,
    Flow,
    Form,
    Interpreter,
    Mixed,
    Op,
    Region,
    Rewriter,
    Use,
    Value,
    join_mixed,
    no_effects,
)
from tracebuf.ir.types import INDEX, same_type
from tracebuf.ops.control.func import check_blocks
from tracebuf.ops.memory.indexing import constant_index

_BOUNDS = ("staticLowerBound", "staticUpperBound", "staticStep")


class InParallel(Op):
    """`scf.forall.in_parallel`: ends the body of scf.forall. operands: none; results: none; regions: 1, with the
    tensor.parallel_insert_slice ops that store an iteration's parts into the shared results."""

    __slots__ = ()
    name = "scf.forall.in_parallel"
    takes, gives = "", ""
    region_ends = ("",)
    terminator = True
    effects = no_effects

    @property
    def stores(self) -> list[Op]:
        return self.regions[0].block.ops


class Forall(Op):
    """`scf.forall`: iterations that may run at once.

    operands: the dynamic lower bounds, upper bounds and steps (index), the shared outs (tensors); results: 1 for each
    out, aliases it; attrs: static_lower, static_upper, static_step (None for each operand); regions: 1, whose arguments
    are the indices and the outs. An out is written, and read: elements that no iteration stores stay as they were
    (MLIR behaviours 32, 38).
    """

    __slots__ = ()
    name = "scf.forall"
    takes, gives = "index*, tensors*", "tensors*"
    region_ends = ("scf.forall.in_parallel",)
    effects = no_effects

    def flows(self) -> list[Flow]:
        """The shared outs go into the body as its last arguments; what leaves it is stored, not passed on."""
        args = self.regions[0].block.args
        outs = self.uses[len(self.uses) - len(self.results) :]
        return [Flow(None, self.regions[0], outs, args[len(args) - len(outs) :]), Flow(None, None, outs, self.results)]

    @property
    def bounds(self) -> list[tuple[Mixed, Mixed, Mixed]]:
        """(lower, upper, step) of each dimension."""
        rest = iter(self.operands)
        lower, upper, step = (join_mixed(self.attrs[k], rest) for k in ("static_lower", "static_upper", "static_step"))
        return list(zip(lower, upper, step, strict=True))

    @property
    def rank(self) -> int:
        return len(self.attrs["static_lower"])

    @property
    def first(self) -> int:
        """The index of the first shared out among the operands."""
        return len(self.uses) - self.n_outs

    @property
    def n_outs(self) -> int:
        return len(self.body.args) - self.rank

    @property
    def outs(self) -> list[Use]:
        return self.uses[self.first :]

    @property
    def body(self) -> Block:
        return self.regions[0].block

    @property
    def shared(self) -> list[Value]:
        """The body's arguments for the outs."""
        return self.body.args[self.rank :]

    @property
    def runs_once(self) -> bool:
        """Whether constants show that there is one iteration: then nothing is repeated or parallel."""
        for dim in self.bounds:
            low, up, step = map(constant_index, dim)
            if low is None or up is None or step is None or up - low > step:
                return False
        return True

    @property
    def is_repetitive(self) -> bool:
        return not self.runs_once

    @property
    def is_parallel(self) -> bool:
        return not self.runs_once

    @classmethod
    def from_form(cls, form: Form) -> Op:
        check_blocks(form, "scf.forall.in_parallel")
        groups = form.segments(4)
        static = [form.static(k, len(g)) for k, g in zip(_BOUNDS, groups)]
        made = super().from_form(form)
        made.attrs |= zip(("static_lower", "static_upper", "static_step"), static, strict=True)
        return made

    def to_form(self) -> Form:
        form = self.form_with({})
        parts = [self.attrs[k] for k in ("static_lower", "static_upper", "static_step")]
        form.attrs.update(zip(_BOUNDS, map(integers, parts), strict=True))
        form.attrs["operandSegmentSizes"] = segments(*(p.count(None) for p in parts), self.n_outs)
        return form

    def verify(self) -> None:
        ranks = {len(self.attrs[k]) for k in ("static_lower", "static_upper", "static_step")}
        if len(ranks) != 1 or len(self.body.args) != ranks.pop() + self.n_outs:
            raise InternalError("scf.forall: bounds and arguments of the body differ in number")
        if len(self.results) not in (0, self.n_outs) or len(self.uses) < self.n_outs:
            raise InternalError("scf.forall: outs and results differ in number")
        held = [*(INDEX for _ in range(self.rank)), *(use.value.type for use in self.outs)]
        if not all(map(same_type, (a.type for a in self.body.args), held)):
            raise InternalError("scf.forall: its body's arguments are not indices and the outs")
        if not all(map(same_type, (r.type for r in self.results), held[self.rank :])):
            raise InternalError("scf.forall: a result has not its out's type")
        if not isinstance(self.body.terminator, InParallel):
            raise InternalError("scf.forall: its body ends with scf.forall.in_parallel")

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        return True

    def bufferizes_to_memory_write(self, use: Use, facts: Facts) -> bool:
        return True

    def aliasing_values(self, use: Use) -> list[Alias]:
        at = use.index - self.first
        return [Alias(self.results[at])] if at >= 0 else []

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        rest = iter(args)
        static = (self.attrs[k] for k in ("static_lower", "static_upper", "static_step"))
        bounds = [[next(rest) if b is None else b for b in part] for part in static]
        outs = [a.copy(order="K") for a in rest]
        end = self.body.terminator
        assert isinstance(end, InParallel)
        for point in product(*(range(*dim) for dim in zip(*bounds, strict=True))):
            interpreter.run_block(self.body, [*point, *args[self.first :]])
            for store in end.stores:
                source, _, *sizes = interpreter.operands(store)
                at = self.shared.index(store.operand(1))
                outs[at] = store.evaluate(interpreter, [source, outs[at], *sizes])[0]
        return outs

    def bufferize(self, rewriter: Rewriter) -> None:
        for use, arg, result in zip(self.outs, self.shared, self.results, strict=True):
            buffer = rewriter.buffer(use)
            rewriter.replace(arg, buffer)
            rewriter.replace(result, buffer)
        last = self.body.terminator

        def end() -> None:
            for store in last.regions[0].block.ops:
                store.bufferize(rewriter)
            rewriter.add(InParallel([], [], last.loc, {}, [Region(Block())]))

        indices = self.body.args[: self.rank]
        body = rewriter.body(self.body, [i.type for i in indices], indices, end)
        bounds = [rewriter.value(v) for v in self.operands[: self.first]]
        attrs = {k: v for k, v in self.attrs.items() if k != "mapping"}
        rewriter.add(Forall(bounds, [], self.loc, attrs, [Region(body)]))
