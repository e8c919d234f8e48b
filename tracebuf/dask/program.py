"""One call's tensor program as the analysis looks at it: the function after the tensor passes, its arguments by name,
what it returns and stores to, and the states of these."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tracebuf import pipeline
from tracebuf.dask.flow import Flow
from tracebuf.dask.reach import State
from tracebuf.errors import UnsupportedError
from tracebuf.frozen import cached_property, frozen
from tracebuf.ir.clone import clone_op
from tracebuf.ir.core import Op, Use, Value, happens_in
from tracebuf.ir.dims import Dim, Sym, add, evaluate, neg, sub, substitute, symbols
from tracebuf.ir.func import Func
from tracebuf.ir.types import TensorType
from tracebuf.ops.arrays import bufferization, tensor

if TYPE_CHECKING:
    from tracebuf.frontends.numpy.call.call import Call
    from tracebuf.frontends.numpy.call.conditions import Guard
    from tracebuf.frontends.numpy.interpreter.trace import Traced


@frozen(slots=False)
class Program:
    """The tensor program of one call."""

    name: str
    call: Call
    traced: Traced
    func: Func
    same: Mapping[Sym, Dim]
    """Sizes in terms of those that they equal, but for a constant."""

    @cached_property
    def flow(self) -> Flow:
        flow = Flow(self.func, same=self.same, bound=self.traced.bindings)
        flow.run(self.func.block)
        return flow

    @property
    def names(self) -> list[str]:
        """The names of the program's arguments."""
        return [v.name or f"argument {k}" for k, v in enumerate(self.func.args)]

    @property
    def stored(self) -> dict[int, Value]:
        """What is stored back to an argument, by its number: the value that it has in the end."""
        found: dict[int, Value] = {}
        for op in self.func.block.ops:
            if isinstance(op, bufferization.MaterializeInDestination):
                found[self.func.args.index(op.operand(1))] = op.operand(0)
        return found

    @property
    def returned(self) -> list[Value]:
        return list(self.func.block.terminator.operands)

    def outputs(self) -> list[tuple[str, Value]]:
        """What a call gives: results, then what it stores to arguments, each by its name."""
        results = self.returned
        named = [("result" if len(results) == 1 else f"result {k}", v) for k, v in enumerate(results)]
        return named + [(self.names[n], v) for n, v in self.stored.items()]

    def fits(self, env: Mapping[Sym, int], s: Sym, size: int) -> bool:
        """Whether what tracing assumed of sizes is so where one of them is another."""
        env = {**env, s: size}
        env |= {other: evaluate(d, env) for other, d in self.same.items()}
        return guards_hold(self.traced.guards, env)

    def state(self, v: Value) -> State:
        return self.flow.state(v)


def program_of(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Program:
    """The program of a call with these arguments; `tracebuf.spec` may stand for arguments. Raises what `f.lower`
    raises."""
    call, traced = f.trace(*args, **kwargs)
    if any(isinstance(a, np.ndarray) and a.dtype.kind not in "biufc" for a in call.values):
        raise UnsupportedError("arrays of text are not cut", instead="use numbers for the texts")
    pipeline.optimize_tensors(traced.func, f.options)
    read_what_is_stored(traced.func)
    own_slices(traced.func)
    same = equal_sizes(traced.guards)
    if same:
        for v in traced.func.values():
            if isinstance(t := v.type, TensorType):
                v.type = replace(t, shape=tuple(substitute(n, same) for n in t.shape))
    return Program(getattr(f, "__name__", "f"), call, traced, traced.func, same)


def with_constants(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The function with the ints among these arguments as constants (`static_argnames`); None where there are none."""
    given = inspect.signature(f.__wrapped__).bind(*args, **kwargs).arguments
    names = frozenset(name for name, a in given.items() if type(a) is int) - set(f.options.static_argnames)
    if not names:
        return None
    return type(f)(f.__wrapped__, replace(f.options, static_argnames=(*f.options.static_argnames, *sorted(names))))


def read_what_is_stored(func: Func) -> None:
    """Has what reads an argument after a store to it read what is stored, which is no other value to chunks."""
    for op in func.block.ops:
        if isinstance(op, bufferization.MaterializeInDestination):
            for result in op.results:
                for use in list(result.uses):
                    use.set(op.operand(0))


def own_slices(func: Func) -> None:
    """Gives each user of a slice a slice of its own, so that stages take arrays, not slices, of each other."""
    for op in reversed(list(func.block.ops)):
        if not isinstance(op, tensor.ExtractSlice):
            continue
        users: dict[Op, list[Use]] = {}
        for use in op.result.uses:
            if (user := happens_in(use.op, func.block)) is not None:
                users.setdefault(user, []).append(use)
        for user, uses in list(users.items())[1:]:

            def before(new: Op, user: Op = user) -> Op:
                func.block.insert_before(user, new)
                return new

            made = clone_op(op, {}, before)
            for use in uses:
                use.set(made.result)


def equal_sizes(guards: Iterable[Guard]) -> dict[Sym, Dim]:
    """Sizes in terms of others, as guards say that these are equal, but for a constant."""
    found: dict[Sym, Dim] = {}
    for g in guards:
        if g.kind != "zero":
            continue
        d = substitute(g.expr, found)
        plus = [s for s in symbols(d) if s.kind == "dim" and not symbols(sub(d, s.expr)) & {s}]
        minus = [s for s in symbols(d) if s.kind == "dim" and not symbols(add(d, s.expr)) & {s}]
        if len(symbols(d)) == 2 and len(plus) == len(minus) == 1:
            a, b = plus[0], minus[0]  # a - b + c is 0
            late, early = (a, b) if a.serial > b.serial else (b, a)
            rest = sub(d, late.expr) if late is a else add(d, late.expr)
            made = neg(rest) if late is a else rest
            if symbols(made) == {early}:
                found = {s: substitute(e, {late: made}) for s, e in found.items()} | {late: made}
    return found


def guards_hold(guards: Sequence[Any], env: Mapping[Sym, int]) -> bool:
    """Whether conditions on sizes hold."""
    for g in guards:
        try:
            value = evaluate(g.expr, env)
        except ZeroDivisionError:
            return False
        if not {"nonneg": value >= 0, "zero": value == 0, "nonzero": value != 0}[g.kind]:
            return False
    return True
