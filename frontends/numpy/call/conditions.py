"""What a compiled program assumes of its calls besides their key: guards on sizes and ints (rules F3, Z1), and the
values of names from outside."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from tracebuf.frontends.numpy.call.arguments import Leaf
from tracebuf.frozen import frozen
from tracebuf.ir.dims import Expr, Sym, to_python


@frozen(slots=False)
class Conditions:
    """What tracing assumed of a call besides its key: guards on sizes and ints, and the values of names from
    outside."""

    guards: tuple[Guard, ...]
    bindings: Mapping[Sym, Binding]
    captures: tuple[tuple[str, Callable[[], Any], Any], ...]
    taken: tuple[tuple[str, Callable[[], Any], Any], ...]
    """What was taken from modules of NumPy's or math, as in `captures`: a process goes on with what it took, and a
    later one looks whether it is the same there."""

    def guard_function(self) -> Callable[[Sequence[Any]], bool]:
        """The guards as one compiled predicate over the call's arguments. A division by zero counts as no."""
        if not self.guards:
            return lambda args: True

        tests = {"nonneg": ">= 0", "zero": "== 0", "nonzero": "!= 0"}
        exprs = (to_python(g.expr, lambda s: self.bindings[s].source()) for g in self.guards)
        text = " and ".join(f"{e} {tests[g.kind]}" for e, g in zip(exprs, self.guards))
        predicate: Callable[[Sequence[Any]], bool] = eval(compile(f"lambda args: {text}", "<guards>", "eval"), {})
        if " // " not in text:
            return predicate

        def holds(args: Sequence[Any]) -> bool:
            try:
                return predicate(args)
            except ZeroDivisionError:
                return False

        return holds

    @property
    def guard_texts(self) -> tuple[str, ...]:
        """The guards as text."""
        signs = {"nonneg": ">= 0", "zero": "== 0", "nonzero": "!= 0"}
        return tuple(f"{g.expr} {signs[g.kind]}" for g in self.guards)

    def captures_hold(self) -> bool:
        """Whether names from outside still have the values that tracing saw."""
        try:
            return all((now := fetch()) is value or same_capture(now, value) for _, fetch, value in self.captures)
        except (LookupError, AttributeError, ValueError):
            return False


def is_method(x: Any) -> bool:
    """Whether a value is a method of an object or class, which is made anew each time that it is read."""
    return isinstance(x, types.MethodType)


def same_method(a: Any, b: Any) -> bool:
    """Whether two methods are one function, of one object or class."""
    return a.__self__ is b.__self__ and a.__func__ is b.__func__


def same_capture(now: Any, then: Any) -> bool:
    """Whether a value from outside equals the one that tracing saw."""
    if type(now) is not type(then):
        return False
    if isinstance(now, (float, complex, np.generic)):
        return repr(now) == repr(then)  # the zeros are two, NaN is one
    if is_method(now):
        return same_method(now, then)
    return type(now) in (bool, int, str) and bool(now == then)


@frozen()
class Guard:
    """A condition on entry sizes and integer arguments that the specialisation assumes: expr >= 0, == 0 or != 0."""

    kind: Literal["nonneg", "zero", "nonzero"]
    expr: Expr


@frozen(slots=False)
class Binding:
    """Where the value of a symbol comes from at a call: the size of `leaf` along `axis`, its stride there in
    elements (`stride`), or its own int value (`axis` None)."""

    leaf: Leaf
    axis: int | None
    stride: bool = False

    def value(self, values: Sequence[Any]) -> int:
        """The symbol's value for the arguments of a call."""
        x = values[self.leaf]
        if self.axis is None:
            return int(x)
        return x.strides[self.axis] // x.itemsize if self.stride else x.shape[self.axis]  # type: ignore[no-any-return]

    def source(self) -> str:
        """The symbol's value as Python source text over `args`."""
        x = f"args[{self.leaf}]"
        if self.axis is None:
            return x
        return f"({x}.strides[{self.axis}] // {x}.itemsize)" if self.stride else f"{x}.shape[{self.axis}]"
