"""Structured control flow: scf.for, scf.while, scf.if, scf.execute_region and their terminators. MLIR counterpart: the
scf dialect and SCF/BufferizableOpInterfaceImpl.cpp."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, ClassVar

import numpy as np

from tracebuf.errors import InternalError, UnsupportedError
from tracebuf.ir.core import (
    Alias,
    Block,
    Facts,
    Flow,
    Form,
    Interpreter,
    Op,
    Region,
    Relation,
    Rewriter,
    Use,
    Value,
    no_effects,
)
from tracebuf.ir.effects import only_makes_results
from tracebuf.ir.types import INDEX, ScalarType, TensorType, Type
from tracebuf.location import UNKNOWN, Location
from tracebuf.ops.control.func import Terminator, check_blocks
from tracebuf.ops.memory import memref
from tracebuf.ops.memory.indexing import constant_index

Same = Callable[[Value, Value], bool]


class Yield(Terminator):
    """`scf.yield`. operands: the results of a branch, or the next iteration's loop-carried values; results: none."""

    __slots__ = ()
    name = "scf.yield"

    def aliasing_values(self, use: Use) -> list[Alias]:
        parent = self.parent_op
        if isinstance(parent, If | ExecuteRegion):
            return [Alias(parent.results[use.index], definite=isinstance(parent, ExecuteRegion))]
        return []

    def bufferize(self, rewriter: Rewriter) -> None:
        """The terminator of an scf.execute_region; loops and scf.if make their own."""
        assert self.parent_op is not None
        types = [carried_type(r) for r in self.parent_op.results]
        rewriter.add(Yield.of([rewriter.cast(u, t) for u, t in zip(self.uses, types, strict=True)], self.loc))


class Condition(Terminator):
    """`scf.condition`: ends the first region of scf.while. operands: condition (i1), the values forwarded to the second
    region if it holds, else to the loop's results; results: none."""

    __slots__ = ()
    name = "scf.condition"
    takes = "i1, any*"


class Loop(Op):
    """What loops share. Loop-carried value i begins as `inits[i]`, is `args[i]` inside, and leaves the first region by
    `passed[i]`, which is the next iteration's value if the loop is `straight`.

    A loop-carried argument is a buffer of its own and always writable (MLIR behaviour 20).
    """

    __slots__ = ()
    repetitive = True
    first: ClassVar[int] = 0
    """The index of the first initial value among the operands."""
    effects = no_effects

    @property
    def inits(self) -> list[Use]:
        return self.uses[self.first :]

    @property
    def args(self) -> list[Value]:
        raise NotImplementedError

    @property
    def passed(self) -> list[Use]:
        raise NotImplementedError

    @property
    def straight(self) -> bool:
        return True

    def keeps(self, index: int, same: Same) -> bool:
        """Whether the loop-carried value of this index and the result stay in the initial value's buffer; `same` says
        which values are one buffer."""
        return same(self.passed[index].value, self.args[index])

    def aliasing_values(self, use: Use) -> list[Alias]:
        index = use.index - self.first
        if index < 0 or index >= len(self.results):
            return []
        init, result = use.value.type, self.results[index].type
        if init is not result and str(init) != str(result):
            return []
        same = self.keeps(index, lambda a, b: a is b)
        return [Alias(self.results[index], Relation.EQUIVALENT if same else Relation.UNKNOWN, definite=same)]


class For(Loop):
    """`scf.for`.

    operands: lower, upper, step (index or integer), the initial values (iter_args); results: 1 for each initial value;
    regions: 1, the body, from the induction variable and the loop-carried values to the next ones (scf.yield). The
    initial tensor is written (the loop may store to it) and read if the body reads its argument, or if the result is
    read and there may be no iteration (MLIR does not ask whether it is read; MLIR behaviours 14, 36).
    """

    __slots__ = ()
    name = "scf.for"
    takes = "scalar, scalar, scalar, any*"
    region_ends = ("scf.yield",)
    first = 3

    @classmethod
    def of(
        cls,
        bounds: Sequence[Value],
        inits: Sequence[Value],
        body: Block,
        loc: Location = UNKNOWN,
        types: Sequence[Type] | None = None,
    ) -> For:
        """`bounds`: lower, upper, step; `types`: of the results, where their sizes are other expressions than the
        initial values'."""
        found = [v.type for v in inits] if types is None else types
        return cls([*bounds, *inits], found, loc, {}, [Region(body)])

    @classmethod
    def from_form(cls, form: Form) -> Op:
        check_blocks(form, "scf.yield")
        return super().from_form(form)

    @property
    def body(self) -> Block:
        return self.regions[0].block

    @property
    def args(self) -> list[Value]:
        return self.body.args[1:]

    @property
    def passed(self) -> list[Use]:
        return self.body.terminator.uses

    def carried(self, use: Use) -> Value:
        """The body's argument for an initial value."""
        return self.body.args[use.index - 2]

    def yielded(self, use: Use) -> Use:
        return self.body.terminator.uses[use.index - 3]

    def drop_carried(self, index: int) -> None:
        """Removes a loop-carried value; its argument and its result must be unused."""
        _drop_operand(self.body.terminator, index)
        _drop_operand(self, 3 + index)
        self.body.drop_arg(1 + index)
        _drop_result(self, index)

    def verify(self) -> None:
        types = [r.type for r in self.results]
        args = self.body.args
        if not args or not isinstance(args[0].type, ScalarType) or len(args) != len(types) + 1:
            raise InternalError("scf.for: body arguments do not fit")
        if len(self.body.terminator.uses) != len(types) or len(self.uses) != len(types) + 3:
            raise InternalError("scf.for: carried values differ in number")

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        values, type_ = args[3:], self.body.args[0].type
        assert isinstance(type_, ScalarType)
        for i in range(*(self._as_compared(n) for n in args[:3])):
            at = np.array(i if i < 2**63 else i - 2**64).astype(type_.dtype)[()]
            values = interpreter.run_block(self.body, [int(at) if type_ is INDEX else at, *values])
        return list(values)

    def _as_compared(self, bound: int) -> int:
        """A bound as a number that compares as the loop compares it."""
        type_ = self.operand(0).type
        assert isinstance(type_, ScalarType)
        return int(bound) & (2 ** (8 * type_.dtype.itemsize) - 1) if "unsignedCmp" in self.attrs else int(bound)

    def known_bounds(self) -> tuple[int, int] | None:
        """Lower and upper bound where both are constants, as numbers that compare as the loop compares them."""
        lower, upper = map(constant_index, self.operands[:2])
        if lower is None or upper is None:
            return None
        return self._as_compared(lower), self._as_compared(upper)

    def flows(self) -> list[Flow]:
        body, ends = self.regions[0], ((None, self.inits), (self.body.terminator, self.passed))
        return [
            flow for end, uses in ends
            for flow in (Flow(end, body, uses, self.args), Flow(end, None, uses, self.results))
        ]  # fmt: skip

    @property
    def surely_runs(self) -> bool:
        """Whether constants show that there is at least one iteration."""
        known = self.known_bounds()
        return known is not None and known[0] < known[1]

    def bufferizes_to_memory_read(self, use: Use, facts: Facts) -> bool:
        if facts.is_value_read(self.carried(use)):
            return True
        return not self.surely_runs and (facts.as_mlir or facts.is_value_read(self.results[use.index - 3]))

    def bufferize(self, rewriter: Rewriter) -> None:
        places = range(len(self.results))
        fixed = _fixed(self, rewriter)
        inits = _enter(self, fixed, rewriter)
        moving = [k for k in places if k not in fixed]
        args = [self.args[k] for k in moving]
        types = [carried_type(a) for a in args]
        counter = self.body.args[0]
        body = rewriter.block(self.body, [counter.type, *types], [counter, *args], [self.passed[k] for k in moving])
        bounds = [rewriter.value(u.value) for u in self.uses[:3]]
        new = For.of(bounds, inits, body, self.loc, [carried_type(self.results[k]) for k in moving])
        new.attrs.update(self.attrs)
        _leave(self, rewriter.add(new), moving, fixed, rewriter)


class While(Loop):
    """`scf.while`.

    operands: the initial values; results: 1 for each value forwarded by scf.condition; regions: before (from the
    loop-carried values to scf.condition), after (from the forwarded values to the next loop-carried ones, scf.yield).
    The initial tensors are read and written. Result i may share the buffer of operand i, if they have one type
    (MLIR behaviours 15, 37). The loop is straight if `after` yields its arguments unchanged.
    """

    __slots__ = ()
    name = "scf.while"
    region_ends = ("scf.condition", "scf.yield")

    @property
    def may_not_end(self) -> bool:
        return True

    @classmethod
    def of(
        cls,
        inits: Sequence[Value],
        before: Block,
        after: Block,
        loc: Location = UNKNOWN,
        types: Sequence[Type] | None = None,
    ) -> While:
        """`types`: of the results, where their sizes are other expressions than the forwarded values'."""
        found = [v.type for v in before.terminator.operands[1:]] if types is None else types
        return cls(inits, found, loc, {}, [Region(before), Region(after)])

    @classmethod
    def from_form(cls, form: Form) -> Op:
        check_blocks(form, "scf.condition", "scf.yield")
        return super().from_form(form)

    @property
    def before(self) -> Block:
        return self.regions[0].block

    @property
    def after(self) -> Block:
        return self.regions[1].block

    @property
    def args(self) -> list[Value]:
        return self.before.args

    @property
    def passed(self) -> list[Use]:
        return self.before.terminator.uses[1:]

    def flows(self) -> list[Flow]:
        before, after = self.regions
        go = self.before.terminator
        return [
            Flow(None, before, self.uses, self.before.args),
            Flow(go, after, self.passed, self.after.args),
            Flow(go, None, self.passed, self.results),
            Flow(self.after.terminator, before, self.yielded, self.before.args),
        ]

    @property
    def yielded(self) -> list[Use]:
        """The operands of the after region's yield: the next iteration's values."""
        return self.after.terminator.uses

    @property
    def straight(self) -> bool:
        return len(self.yielded) == len(self.after.args) and all(
            u.value is a for u, a in zip(self.yielded, self.after.args)
        )

    def keeps(self, index: int, same: Same) -> bool:
        return super().keeps(index, same) and same(self.yielded[index].value, self.after.args[index])

    def fold_steady(
        self,
        replace: Callable[[Value, Value], None] = Value.replace_all_uses,
        same: Same = lambda a, b: a is b,
    ) -> bool:
        """Replaces arguments that never change by their initial values, and forwarded values from outside by these;
        whether any of them had a use. A straight loop stays one."""
        found, straight = False, self.straight
        ends = set(self.yielded if straight else ())
        while True:
            pairs = [
                (old, use.value)
                for k, use in enumerate(self.passed) if use.value.block is not self.before
                for old in (self.after.args[k], self.results[k])
            ]  # fmt: skip
            for k, arg in enumerate(self.before.args):
                new, init = self.yielded[k].value, self.operand(k)
                if isinstance(new.owner, Block) and new.owner is self.after:
                    new = self.passed[new.index].value
                if new is arg or same(new, init):
                    pairs.append((arg, init))
            changed = any(use not in ends for old, _ in pairs for use in old.uses)
            for old, new in pairs:
                replace(old, new)
            for use, arg in zip(self.yielded, self.after.args) if straight else ():
                use.set(arg)  # the next iteration goes on with what was forwarded, known or not
            if not changed:
                return found
            found = True

    def dead(self, pinned: Collection[Value]) -> tuple[set[int], set[int]]:
        """Operands and results that only feed one another: they have no other use, nor have the values in `pinned` that
        they become."""
        starts, ends = set(range(len(self.uses))), set(range(len(self.results)))
        last = self.after.terminator
        while True:
            asked = {k for k in starts if self._is_asked(self.before.args[k], pinned, ends)}
            live = {
                k
                for k in ends
                if not {self.results[k], self.after.args[k]}.isdisjoint(pinned)
                or self.results[k].uses
                or any(u.op is not last or u.index not in starts for u in self.after.args[k].uses)
            }
            if not asked and not live:
                return starts, ends
            starts, ends = starts - asked, ends - live

    def _is_asked(self, arg: Value, pinned: Collection[Value], ends: set[int]) -> bool:
        """Whether an argument of the first region is used by anything that is not dead itself."""
        work, seen = [arg], {arg}
        while work:
            value = work.pop()
            if value in pinned:
                return True
            for use in value.uses:
                op, parent = use.op, use.op.parent_op
                if isinstance(op, Yield) and isinstance(parent, If):
                    near = [parent.results[use.index]]
                elif op.results and only_makes_results(op):
                    near = op.results
                elif op is self.before.terminator and use.index - 1 in ends:
                    near = []
                else:
                    return True
                work += [v for v in near if v not in seen]
                seen.update(near)
        return False

    def drop(self, starts: Collection[int], ends: Collection[int]) -> None:
        """Removes operands and results (with the arguments of the regions) that are dead."""
        for k in sorted(ends, reverse=True):
            _drop_operand(self.before.terminator, 1 + k)
            _drop_result(self, k)
        for k in sorted(starts, reverse=True):
            self.before.args[k].replace_all_uses(self.operand(k))
            _drop_operand(self.after.terminator, k)
            _drop_operand(self, k)
            self.before.drop_arg(k)
        for k in sorted(ends, reverse=True):
            self.after.drop_arg(k)

    def verify(self) -> None:
        if len(self.before.args) != len(self.uses) or len(self.yielded) != len(self.uses):
            raise InternalError("scf.while: initial values differ in number from what the after region yields")
        if len(self.after.args) != len(self.results) or len(self.passed) != len(self.results):
            raise InternalError("scf.while: results differ in number from what is forwarded")

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        while True:
            go, *args = interpreter.run_block(self.before, args)
            if not go:
                return args
            args = interpreter.run_block(self.after, args)

    def bufferize(self, rewriter: Rewriter) -> None:
        fixed = _fixed(self, rewriter)
        inits = _enter(self, fixed, rewriter)
        for k, buffer in fixed.items():
            rewriter.replace(self.after.args[k], buffer)
        start = [k for k in range(len(self.uses)) if k not in fixed]
        end = [k for k in range(len(self.results)) if k not in fixed]
        args, forwarded = [self.args[k] for k in start], [self.after.args[k] for k in end]
        before = rewriter.block(self.before, [carried_type(a) for a in args], args, [self.passed[k] for k in end])
        after = rewriter.block(
            self.after, [carried_type(a) for a in forwarded], forwarded, [self.yielded[k] for k in start]
        )
        new = While.of(inits, before, after, self.loc, [carried_type(self.results[k]) for k in end])
        _leave(self, rewriter.add(new), end, fixed, rewriter)


def fixed_places(loop: Loop, same: Same) -> set[int]:
    """The indices of the loop-carried tensors that never leave the initial value's buffer."""
    return {
        k for k, use in enumerate(loop.inits)
        if use.value.is_tensor and loop.aliasing_values(use) and loop.keeps(k, same)
    }  # fmt: skip


def _fixed(loop: Loop, rewriter: Rewriter) -> dict[int, Value]:
    """The buffers of the initial values at fixed indices."""
    return {k: rewriter.buffer(loop.inits[k]) for k in sorted(fixed_places(loop, rewriter.equivalent))}


def _enter(loop: Loop, fixed: dict[int, Value], rewriter: Rewriter) -> list[Value]:
    """The initial values of the loop-carried values that remain; inside, those at fixed indices are their buffers."""
    inits = []
    for k, use in enumerate(loop.inits):
        if k in fixed:
            rewriter.replace(loop.args[k], fixed[k])
        elif use.value.is_tensor:
            type_ = memref.forget_layout(use.value.tensor_type)
            inits.append(rewriter.add(memref.Cast.of(rewriter.buffer(use), type_, loop.loc)).result)
        else:
            inits.append(rewriter.value(use.value))
    return inits


def _leave(loop: Loop, new: Loop, moving: Sequence[int], fixed: dict[int, Value], rewriter: Rewriter) -> None:
    for k, result in zip(moving, new.results, strict=True):
        old = loop.results[k]
        rewriter.replace(old, result) if old.is_tensor else rewriter.set_value(old, result)
    for k, buffer in fixed.items():
        rewriter.replace(loop.results[k], buffer)


class If(Op):
    """`scf.if`.

    operands: condition (i1); results: those that its branches yield, each a maybe-alias of both (MLIR behaviour 35);
    regions: then, else, without arguments (scf.yield).
    """

    __slots__ = ()
    name = "scf.if"
    takes = "i1"
    region_ends = ("scf.yield", "scf.yield")
    effects = no_effects

    @classmethod
    def of(cls, condition: Value, types: Sequence[Type], then: Block, orelse: Block, loc: Location = UNKNOWN) -> If:
        return cls([condition], types, loc, {}, [Region(then), Region(orelse)])

    @classmethod
    def from_form(cls, form: Form) -> Op:
        """The op; where MLIR has no else region, it gets an empty one."""
        if len(form.regions) == 2 and not form.regions[1].blocks and not form.result_types:
            nothing = Block()
            nothing.append(Yield.of([], form.loc))
            form.regions[1] = Region(nothing)
        check_blocks(form, "scf.yield", "scf.yield")
        return super().from_form(form)

    def to_form(self) -> Form:
        form = self.form_with({})
        if not self.results and len(self.branches[1].ops) == 1:
            form.regions = [self.regions[0], Region()]
        return form

    def verify(self) -> None:
        if any(len(b.terminator.uses) != len(self.results) for b in self.branches):
            raise InternalError("scf.if: the branches yield other values than there are results")

    def flows(self) -> list[Flow]:
        into = [Flow(None, r, (), ()) for r in self.regions]
        return [*into, *(Flow(b.terminator, None, b.terminator.uses, self.results) for b in self.branches)]

    @property
    def branches(self) -> tuple[Block, Block]:
        return self.regions[0].block, self.regions[1].block

    def drop_result(self, index: int) -> None:
        """Removes a result, which must be unused."""
        for block in self.branches:
            _drop_operand(block.terminator, index)
        _drop_result(self, index)

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return interpreter.run_block(self.branches[0 if args[0] else 1], [])

    def aliasing_uses(self, value: Value) -> list[tuple[Use, Relation, bool]]:
        return [(b.terminator.uses[value.index], Relation.EQUIVALENT, False) for b in self.branches]

    def bufferize(self, rewriter: Rewriter) -> None:
        rewriter.branches(self)


class ExecuteRegion(Op):
    """`scf.execute_region`: blocks that run once (MLIR behaviour 38). operands: none; results: the operands of its
    scf.yield; regions: 1, of branching blocks."""

    __slots__ = ()
    name = "scf.execute_region"
    branching = True
    takes = ""
    region_ends = ("scf.yield",)
    effects = no_effects

    @property
    def may_not_end(self) -> bool:
        return len(self.regions[0].blocks) > 1

    def verify(self) -> None:
        for block in self.regions[0].blocks:
            end = block.terminator
            if isinstance(end, Yield) and [str(v.type) for v in end.operands] != [str(r.type) for r in self.results]:
                raise InternalError("scf.execute_region: an scf.yield gives other values than there are results")

    def flows(self) -> list[Flow]:
        ends = [b.ops[-1] for b in self.regions[0].blocks if isinstance(b.ops[-1], Yield)]
        return [Flow(None, self.regions[0], (), ()), *(Flow(end, None, end.uses, self.results) for end in ends)]

    @property
    def yielded(self) -> list[Use]:
        """The operands of its scf.yield; UnsupportedError where there is not exactly one."""
        ends = [b.ops[-1] for b in self.regions[0].blocks if isinstance(b.ops[-1], Yield)]
        if len(ends) != 1:
            raise UnsupportedError("an scf.execute_region without unique scf.yield is not supported", location=self.loc)
        return ends[0].uses

    def evaluate(self, interpreter: Interpreter, args: list[Any]) -> list[Any]:
        return interpreter.run_block(self.regions[0].block, [])

    def aliasing_uses(self, value: Value) -> list[tuple[Use, Relation, bool]]:
        return [(self.yielded[value.index], Relation.EQUIVALENT, True)] if value.owner is self else []

    def bufferize(self, rewriter: Rewriter) -> None:
        types = [carried_type(r) for r in self.results]
        new = rewriter.add(ExecuteRegion([], types, self.loc, {}, [rewriter.region(self.regions[0])]))
        for old, result in zip(self.results, new.results, strict=True):
            rewriter.replace(old, result) if old.is_tensor else rewriter.set_value(old, result)


def _drop_operand(op: Op, index: int) -> None:
    use = op.uses.pop(index)
    del use.value.uses[use]
    for i, u in enumerate(op.uses):
        u.index = i


def _drop_result(op: Op, index: int) -> None:
    if op.results.pop(index).uses:
        raise InternalError(f"{op.name}: result {index} is removed while in use")
    for i, r in enumerate(op.results):
        r.index = i


def carried_type(value: Value) -> Type:
    """The type of a value that control flow passes on: a tensor's buffer gets a type without a layout."""
    return memref.forget_layout(value.type) if isinstance(value.type, TensorType) else value.type
