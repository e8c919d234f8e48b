"""@bufferize: arguments -> key -> specialisation -> native call -> results.

A specialisation serves every size of its key: dtypes, ranks, which sizes are 0 or 1, layout classes, writability, which
arguments are one array, and the guards that tracing assumed (rules F3, B2, B4).
"""

from __future__ import annotations

import functools
import inspect
import logging
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from tracebuf import stages
from tracebuf.errors import UnsupportedError
from tracebuf.explain.report import Explanation, explain
from tracebuf.frontends.numpy.arguments import (
    ArrayKey,
    Key,
    Relations,
    RunOriginal,
    ScalarKey,
    apart,
    extent,
    key_of,
    relations,
    signature,
)
from tracebuf.frontends.numpy.trace import Leaf
from tracebuf.ir.location import Location
from tracebuf.options import Options

if TYPE_CHECKING:
    from tracebuf.backend.runtime.arena import Counters
    from tracebuf.backend.runtime.kernel import Kernel, Prepared
    from tracebuf.frontends.numpy.trace import Plan, Traced

logger = logging.getLogger("tracebuf")


@dataclass(eq=False)
class Specialization:
    """One compiled program: what it was compiled for, and how often it ran."""

    key: tuple[Key, ...]
    traced: Traced
    program: stages.Bufferized
    kernel: Kernel
    guard: Callable[[Sequence[Any]], bool]
    calls: int = 0
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def guards(self) -> tuple[str, ...]:
        """The conditions on sizes and int arguments, as text."""
        signs = {"nonneg": ">= 0", "zero": "== 0", "nonzero": "!= 0"}
        return tuple(f"{g.expr} {signs[g.kind]}" for g in self.traced.guards)

    @property
    def compile_seconds(self) -> float:
        """CPU seconds of machine-code generation."""
        return self.kernel.cpu_seconds

    def fits(self, values: Sequence[Any]) -> bool:
        return self.guard(values) and self.traced.captures_hold()

    def __str__(self) -> str:
        guards = f"; guards {', '.join(self.guards)}" if self.guards else ""
        return f"compiled for ({', '.join(map(show_key, self.key))}){guards}; {self.calls} calls"


@dataclass(frozen=True, slots=True)
class _Recent:
    """The programs for one signature of arguments, and where each array's elements lie around its first."""

    group: list[Specialization]
    extents: tuple[tuple[int, int] | None, ...]
    prepared: dict[Specialization, Prepared] = field(default_factory=dict)


@dataclass(frozen=True)
class OriginalCalls:
    """Calls that ran the original function, and why."""

    reason: str
    calls: int

    def __str__(self) -> str:
        return f"ran the original function {self.calls} times: {self.reason}"


def show_key(key: Key) -> str:
    """One argument's key, readable."""
    if isinstance(key, ArrayKey):
        dims = ", ".join("n" if d > 1 else str(d) for d in key.dims)
        marks = (
            []
            if key.layout == "dense" and key.order == tuple(range(len(key.dims)))
            else [key.layout, f"axes {key.order}"]
        )
        marks += [] if key.writable else ["read-only"]
        return f"{key.dtype}[{dims}]" + (f" ({', '.join(marks)})" if marks else "")
    if isinstance(key, ScalarKey):
        return key.kind
    return f"={key.value}" if key.type is tuple else f"={key.value!r}"


class BufferizedFunction:
    """A NumPy function compiled on first call for each kind of arguments. `__wrapped__` is the original."""

    __tracebuf__ = True

    def __init__(self, function: FunctionType, options: Options) -> None:
        functools.update_wrapper(self, function)
        self.__wrapped__: FunctionType = function
        self.options = options
        self._signature = inspect.signature(function, follow_wrapped=False)
        self._names = tuple(self._signature.parameters)
        kinds = {p.kind for p in self._signature.parameters.values()}
        self._variadic = bool(kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD})
        self._all_positional = kinds <= {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
        self._compiled: dict[tuple[Any, ...], list[Specialization]] = {}
        self._recent: dict[tuple[Any, ...], _Recent] = {}
        self._originals: Counter[str] = Counter()
        self._lock = threading.RLock()

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<bufferized {self.__wrapped__.__qualname__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result, as eager NumPy gives it.

        Raises UnsupportedError where the function or an argument is outside the language, else what eager raises.
        """
        values = self._bind(args, kwargs)
        given = signature(values)
        if given is not None and (known := self._recent.get(given)) is not None and apart(values, known.extents):
            for spec in known.group:
                if spec.fits(values):
                    return self._run(spec, values, known)
        found = self._specialization(values, given)
        return self.__wrapped__(*args, **kwargs) if found is None else self._run(found, values)

    def _run(self, spec: Specialization, values: Sequence[Any], known: _Recent | None = None) -> Any:
        """A native call; for a known signature the frame is prepared once."""
        spec.calls += 1
        args = [values[i] for i in spec.traced.arguments]
        prepared = None if known is None else known.prepared.get(spec)
        if known is not None and prepared is None:
            prepared = known.prepared[spec] = spec.kernel.prepare(args)
        return build_results(spec.traced.plan, spec.kernel.run(args, prepared), values)

    def call_counted(self, *args: Any, **kwargs: Any) -> tuple[Any, Counters | None]:
        """The result and what the compiled code allocated and copied (None where the original function ran)."""
        values = self._bind(args, kwargs)
        spec = self._specialization(values)
        if spec is None:
            return self.__wrapped__(*args, **kwargs), None
        spec.calls += 1
        raw, counters = spec.kernel.run_counted([values[i] for i in spec.traced.arguments])
        return build_results(spec.traced.plan, raw, values), counters

    def lower(self, *args: Any, **kwargs: Any) -> stages.Lowered:
        """The program for these arguments at every stage, without running it; the arguments stay as they are."""
        values = self._bind(args, kwargs)
        keys, related = self._key(values)
        return stages.lowered(stages.trace(self.__wrapped__, self._names, values, keys, related), self.options)

    def explain(self, *args: Any, **kwargs: Any) -> Explanation:
        """Every allocation and copy that a call with these arguments makes, with its line, bytes and reason."""
        values = self._bind(args, kwargs)
        spec = self._specialization(values, count=False)
        if spec is None:
            raise UnsupportedError(
                "these arguments run the original function", instead="see specializations() for the reason"
            )
        bindings = spec.traced.bindings
        env = {s: values[b.index] if b.axis is None else values[b.index].shape[b.axis] for s, b in bindings.items()}
        return explain(spec.program.func, env)

    def specializations(self) -> Specializations:
        """What was compiled, for which key; and calls that ran the original function, with the reason."""
        compiled = [s for group in self._compiled.values() for s in group]
        return Specializations((*compiled, *(OriginalCalls(r, n) for r, n in self._originals.items())))

    # -- from arguments to a specialisation
    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sequence[Any]:
        if not kwargs and len(args) == len(self._names) and self._all_positional:
            return args
        if self._variadic:
            code = self.__wrapped__.__code__
            where = Location(code.co_filename, code.co_firstlineno, function=self.__wrapped__.__name__)
            reason = "*args and **kwargs are not supported"
            raise UnsupportedError(reason, location=where, instead="name the parameters")
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def _key(self, values: Sequence[Any]) -> tuple[tuple[Key, ...], Relations]:
        keys = tuple(key_of(n, v) for n, v in zip(self._names, values))
        return keys, relations(values)

    def _specialization(
        self, values: Sequence[Any], given: tuple[Any, ...] | None = None, count: bool = True
    ) -> Specialization | None:
        """The program for these arguments, compiled if need be; None where the original function must run. `given` is
        their signature, noted for the next call."""
        try:
            keys, related = self._key(values)
            spec = self._find(keys, related, values)
            if given is not None and not related.shared:
                self._remember(given, keys, values)
            touched = {i for pair in related.shared for i in pair} & {related.same[i] for i in spec.traced.stored}
            if touched:
                names = " and ".join(
                    f"`{self._names[i]}`" for i in sorted({i for p in related.shared for i in p if touched & set(p)})
                )
                verb = "overlap in memory and are" if " and " in names else "overlaps itself in memory and is"
                raise RunOriginal(f"{names} {verb} stored to")
            return spec
        except RunOriginal as reason:
            if count:
                if str(reason) not in self._originals:
                    logger.warning("%s runs the original function: %s", self.__wrapped__.__qualname__, reason)
                self._originals[str(reason)] += 1
            return None

    def _remember(self, given: tuple[Any, ...], keys: tuple[Key, ...], values: Sequence[Any]) -> None:
        """Notes which programs serve arguments of this signature when they lie apart, so that their keys need not be
        made again."""
        if len(self._recent) >= 256:
            self._recent.clear()
        distinct = tuple(range(len(values)))
        group = self._compiled.setdefault((keys, distinct, distinct), [])
        self._recent[given] = _Recent(group, tuple(extent(x) if isinstance(x, np.ndarray) else None for x in values))

    def _find(self, keys: tuple[Key, ...], related: Relations, values: Sequence[Any]) -> Specialization:
        group = self._compiled.get((keys, related.same, related.objects))
        for spec in group or ():
            if spec.fits(values):
                return spec
        with self._lock:
            group = self._compiled.setdefault((keys, related.same, related.objects), [])
            for spec in group:
                if spec.fits(values):
                    return spec
            spec = self._compile(keys, related, values)
            group.insert(0, spec)
            return spec

    def _compile(self, keys: tuple[Key, ...], related: Relations, values: Sequence[Any]) -> Specialization:
        made = sum(len(g) for g in self._compiled.values())
        if made >= self.options.max_specializations:
            raise RunOriginal(
                f"compiled {made} times, the limit (max_specializations); is a size or an int part of the key?"
            )
        traced = stages.trace(self.__wrapped__, self._names, values, keys, related)
        program = stages.bufferized(traced, self.options)
        kernel = program.compile(self.__wrapped__.__name__ if self.__wrapped__.__name__.isidentifier() else "kernel")
        logger.info("compiled %s for (%s)", self.__wrapped__.__qualname__, ", ".join(map(show_key, keys)))
        return Specialization(keys, traced, program, kernel, traced.guard_function())


class Specializations(tuple[Specialization | OriginalCalls, ...]):
    """What a function was compiled for, and calls that ran the original; readable as text."""

    __slots__ = ()

    def __new__(cls, items: Sequence[Specialization | OriginalCalls]) -> Specializations:
        return super().__new__(cls, items)

    def __str__(self) -> str:
        return "\n".join(map(str, self)) if self else "nothing was compiled yet"


def build_results(plan: Plan, raw: Sequence[Any], values: Sequence[Any]) -> Any:
    """What the function returns, from the compiled function's results (rule C1: types, identity, shared memory)."""
    if isinstance(plan, Leaf) and plan.kind == "const":
        return plan.value
    used: dict[int, int] = {id(v): -1 for v in values}
    kept: list[Any] = []

    def leaf(x: Leaf) -> Any:
        if x.kind == "const":
            return x.value
        if x.kind == "argument":
            return values[x.index]
        value = raw[x.index]
        if x.kind == "array":
            if (
                used.setdefault(id(value), x.identity) != x.identity
            ):  # another object in eager too: a view of the same memory
                value = raw[x.index] = value.view()  # type: ignore[index]
                used[id(value)] = x.identity
            kept.append(value)
            return value
        return {"int": int, "float": float, "bool": bool}[x.kind](value) if x.kind != "numpy" else value

    def build(p: Any) -> Any:
        if isinstance(p, tuple):
            return tuple(build(i) for i in p)
        return [build(i) for i in p] if isinstance(p, list) else leaf(p)

    return build(plan)


@overload
def bufferize(function: Callable[..., Any], /) -> BufferizedFunction: ...
@overload
def bufferize(**options: Any) -> Callable[[Callable[..., Any]], BufferizedFunction]: ...
def bufferize(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compiles a NumPy function, plain or with options: `@bufferize`, `@bufferize(strategy="copy-before-write")`,
    `bufferize(f)`.

    The options are the fields of `tracebuf.Options`. Tracing happens at the first call for each kind of arguments.
    Raises TypeError for what is not a Python function, ValueError for an unknown option's value.
    """
    chosen = Options(**options)

    def decorate(f: Callable[..., Any]) -> BufferizedFunction:
        if isinstance(f, BufferizedFunction):
            f = f.__wrapped__
        if not isinstance(f, FunctionType):
            raise TypeError(f"bufferize takes a Python function, not a {type(f).__name__}")
        return BufferizedFunction(f, chosen)

    return decorate if function is None else decorate(function)
