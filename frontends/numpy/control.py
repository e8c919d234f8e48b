"""Joins and loops: what a branch or a loop carries is discovered by tracing it once (rules S8, S10, F3).

Storages are carried by value where they were stored to. Names are joined where both sides hold the same reference or
numbers of one kind; a name whose array depends on the path is refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.python_ints import surely_fits
from tracebuf.frontends.numpy.recorder import DeadEnd, Frame, Recorder
from tracebuf.frontends.numpy.scalars import as_int_value
from tracebuf.frontends.numpy.ufuncs import scalar_value
from tracebuf.frontends.numpy.values import ArrayRef, NpScalar, PyBool, PyFloat, PyInt, Storage
from tracebuf.ir.core import Block, Region, Value
from tracebuf.ir.dims import Dim, Sym, add, floordiv, mul, sub, sym
from tracebuf.ir.types import F64, I1, INDEX, SUPPORTED_DTYPES, ScalarType, scalar_type
from tracebuf.ops import scf

Env = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """What kind of number a carried name holds: int, float, bool (Python's), or np with an element type."""

    name: str
    element: ScalarType
    maybe_python: bool = False


INT, FLOAT, BOOL = Kind("int", INDEX), Kind("float", F64), Kind("bool", I1)


def kind_of(x: Any) -> Kind | None:
    """The kind of a number, traced or not; None for anything else."""
    if isinstance(x, NpScalar):
        return Kind("np", x.element, x.maybe_python)
    if isinstance(x, np.generic):
        return Kind("np", scalar_type(x.dtype)) if x.dtype in SUPPORTED_DTYPES else None
    if isinstance(x, (PyBool, bool)):
        return BOOL
    if isinstance(x, PyInt) or type(x) is int:
        return INT
    return FLOAT if isinstance(x, (PyFloat, float)) else None


def unify(a: Kind, b: Kind) -> Kind | None:
    """One kind for both, or None. A Python number beside a NumPy one is marked (see NpScalar.maybe_python)."""
    if a == b:
        return a
    if a.name == b.name == "np":
        return Kind("np", a.element, True) if a.element is b.element else None
    python, numpy = (a, b) if b.name == "np" else (b, a)
    if numpy.name != "np":
        return None
    fits = python in (INT, FLOAT) if numpy.element.is_float else python is BOOL and numpy.element is I1
    fits = fits or (python is INT and numpy.element.is_integer)
    return Kind("np", numpy.element, True) if fits else None


def to_value(r: Recorder, x: Any, kind: Kind) -> Value:
    """A number as an SSA value of a kind."""
    if kind is INT:
        return r.index(x.expr if isinstance(x, PyInt) else int(x))
    if kind.maybe_python and kind.element.is_integer and not surely_fits(r, x, kind.element):
        raise UnsupportedError(  # it may stay a Python int, or raise where it meets NumPy's
            f"a Python int that may not fit {kind.element.dtype} is bound to the name of one", location=r.loc,
            instead=f"start it as np.{kind.element.dtype.name}(...)",
        )  # fmt: skip
    return scalar_value(r, x, kind.element)


def from_value(r: Recorder, value: Value, kind: Kind, name: str) -> Any:
    """The traced number for an SSA value of a kind."""
    if kind == INT:
        return PyInt(r.symbol(value, name))
    if kind == FLOAT:
        return PyFloat(value)
    return PyBool(value) if kind == BOOL else NpScalar(value, kind.element, kind.maybe_python)


def same_value(a: Any, b: Any) -> bool:
    """Whether two bindings are the same: the same object, reference, expression or plain value."""
    if a is b:
        return True
    if isinstance(a, ArrayRef) and isinstance(b, ArrayRef):
        return a.same(b)
    if isinstance(a, PyInt) and isinstance(b, PyInt):
        return a.expr == b.expr
    if isinstance(a, (PyFloat, PyBool, NpScalar)) and type(a) is type(b):
        return a.value is b.value
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(same_value(x, y) for x, y in zip(a, b))
    plain = (bool, int, float, str, type(None), np.dtype)
    return type(a) is type(b) and isinstance(a, plain) and repr(a) == repr(b)


def path_dependent(r: Recorder, name: str, what: str) -> UnsupportedError:
    """A name that holds one thing or another, depending on the path taken."""
    plain = name if name.isidentifier() else "x"
    shown = f"`{name}`" if name.isidentifier() else "this value"
    instead = {
        "values of different types": f"give {shown} one type on both paths, for example 1.0 in place of 1",
        "a value in one branch only": f"bind `{plain}` before the `if`",
        "a value inside the loop only": f"bind a number before the loop; make a view again after it: {plain} = ...",
        "its last value, if the loop runs": f"bind a name of its own in the loop, starting before it: last = {plain}",
    }.get(what, f"make `{plain}` one array before and store into it: {plain}[...] = ...")
    return UnsupportedError(f"{shown} is bound to {what}, depending on the path", location=r.loc, instead=instead)


# -- branches


def trace_if(
    r: Recorder,
    condition: PyBool,
    env: Env,
    run: Sequence[Callable[[Env], None]],
    names: Sequence[str],
    live: frozenset[str],
) -> None:
    """Traces both branches (`run[0]` if true) and joins them into `env`: `names` are those assigned, `live` those
    live after."""
    loc = r.loc
    frames: list[Frame] = []
    envs: list[Env | None] = []
    for positive, body in zip((True, False), run):
        frame, after = trace_branch(r, condition, positive, env, body)
        frames.append(frame)
        envs.append(after)
    r.loc = loc
    if envs[0] is None and envs[1] is None:
        close_if(r, condition, frames, [], [])
        raise DeadEnd
    storages = list(dict.fromkeys(s for f in frames for s in f.values if s not in f.locals))
    numbers: list[tuple[str, Kind]] = []
    for name in names:
        join_name(r, env, envs, name, name in live, numbers)
    values = close_if(
        r, condition, frames, storages, [(n, k, [{} if e is None else e for e in envs]) for n, k in numbers]
    )
    for storage, value in zip(storages, values):
        r.set_value(storage, value)
    for (name, kind), value in zip(numbers, values[len(storages) :]):
        env[name] = from_value(r, value, kind, name)


def trace_branch(
    r: Recorder, condition: PyBool, positive: bool, env: Env, body: Callable[[Env], None]
) -> tuple[Frame, Env | None]:
    """One branch in its own region; its names afterwards, None where its end cannot be reached."""
    outer = r.frame
    frame = r.push("branch", Block())
    r.facts.push_scope()
    try:
        if condition.nonneg is not None:
            r.facts.assume_nonneg(condition.nonneg if positive else sub(-1, condition.nonneg), entry=False)
        after = dict(env)
        body(after)
        return frame, after
    except DeadEnd:
        return frame, None
    finally:
        r.facts.pop_scope()
        r.frame = outer


def join_name(
    r: Recorder, env: Env, envs: Sequence[Env | None], name: str, live: bool, numbers: list[tuple[str, Kind]]
) -> None:
    """Joins one name: the same binding, or numbers of one kind; refuses the rest if the name is live."""
    sides = [e for e in envs if e is not None]
    bound = [name in e for e in sides]
    if not live or not any(bound):
        env.pop(name, None)
        return
    if not all(bound):
        raise path_dependent(r, name, "a value in one branch only")
    values = [e[name] for e in sides]
    kept = same_value(values[0], values[-1]) if len(values) == 2 else name in env and same_value(env[name], values[0])
    if kept and not made_inside(r, values[0]):
        env[name] = values[0]
        return
    kinds = [kind_of(v) for v in values]
    joined = None if None in kinds else kinds[0] if len(kinds) == 1 else unify(kinds[0], kinds[1])  # type: ignore[arg-type]
    if joined is None:
        arrays = any(isinstance(v, ArrayRef) for v in values)
        raise path_dependent(r, name, "different arrays" if arrays else "values of different types")
    numbers.append((name, joined))


def made_inside(r: Recorder, value: Any) -> bool:
    """Whether an array's storage belongs to a region that has ended."""
    if isinstance(value, tuple):
        return any(made_inside(r, v) for v in value)
    if not isinstance(value, ArrayRef):
        return False
    frame: Frame | None = r.frame
    while frame is not None:
        if value.storage in frame.values or value.storage.arg is not None:
            return False
        frame = frame.parent
    return True


def close_if(
    r: Recorder,
    condition: PyBool,
    frames: Sequence[Frame],
    storages: Sequence[Storage],
    numbers: Sequence[tuple[str, Kind, list[Env]]],
) -> list[Value]:
    """Ends both branches with their yields and records the scf.if; the joined values of storages, then numbers."""
    outer, yields = r.frame, []
    for side, frame in enumerate(frames):
        values = [frame.values.get(s) or r.value(s) for s in storages]
        r.frame = frame
        for name, kind, envs in numbers:
            value = envs[side].get(name)
            values.append(zero(r, kind) if value is None else to_value(r, value, kind))
        frame.block.append(scf.Yield.of(values, r.loc))
        yields.append(values)
        r.frame = outer
    types = [v.type for v in yields[0]]
    return r.add(scf.If.of(condition.value, types, frames[0].block, frames[1].block, r.loc)).results


def zero(r: Recorder, kind: Kind) -> Value:
    """A number that nobody reads."""
    return r.constant(False if kind.element is I1 else 0.0 if kind.element.is_float else 0, kind.element)


# -- loops


@dataclass(frozen=True, slots=True)
class Range:
    """range(start, stop, step). A step that is only known at run time comes with the number of iterations."""

    start: Dim
    stop: Dim
    step: Dim
    count: Dim | None = None

    @property
    def rising(self) -> bool:
        """Whether scf.for can count it as it stands."""
        return isinstance(self.step, int) and self.step > 0

    def trips(self) -> Dim:
        """The number of iterations, if it is positive."""
        if self.count is not None:
            return self.count
        assert isinstance(self.step, int)
        span = sub(self.stop, self.start) if self.step > 0 else sub(self.start, self.stop)
        return span if abs(self.step) == 1 else floordiv(add(span, abs(self.step) - 1), abs(self.step))


def trace_for(
    r: Recorder,
    rng: Range,
    env: Env,
    target: str | None,
    body: Callable[[Env], None],
    assigned: Sequence[str],
    head: frozenset[str],
    after: frozenset[str],
) -> None:
    """Traces a loop over a range, its body once (again only where a carried number's kind was guessed wrong)."""
    loc = r.loc
    if r.facts.decide_nonneg(add(rng.trips(), -1)) is False:
        return
    plan: dict[str, Kind] = {}
    for name in assigned:
        kind = kind_of(env[name]) if name in env and name in head and name != target else None
        if kind is not None:
            plan[name] = kind
    for _ in range(4):
        loop = Loop(r, rng, env, target, plan)
        loop.trace(body)
        r.loc = loc
        wrong = loop.kinds_to_widen(plan)
        if not wrong:
            break
        loop.discard()
        plan = {**plan, **wrong}
    loop.close(assigned, head, after)


class Loop:
    """One attempt at a loop."""

    def __init__(self, r: Recorder, rng: Range, env: Env, target: str | None, plan: dict[str, Kind]) -> None:
        self.r, self.rng, self.env, self.target, self.plan = r, rng, env, target, plan
        self.outer = r.frame
        self.block = Block([INDEX])
        self.after: Env = {}
        self.phis: dict[str, tuple[Value, Any]] = {}
        self.dead = False

    def trace(self, body: Callable[[Env], None]) -> None:
        """Records the body in a region of its own."""
        r, rng = self.r, self.rng
        self.frame = r.push("loop", self.block)
        iv = Sym(f"{self.target or 'i'}", "iv")
        r.func.symbols[iv] = self.block.args[0]
        self.block.args[0].name = self.target or "i"
        counted = rng if rng.rising else Range(0, rng.trips(), 1)
        assert isinstance(counted.step, int)
        steps = floordiv(sub(sub(counted.stop, counted.start), 1), counted.step)
        r.facts.push_loop(iv, counted.start, add(counted.start, mul(counted.step, steps)))
        try:
            inside = dict(self.env)
            for name, kind in self.plan.items():
                phi = self.block.add_arg(kind.element)
                inside[name] = from_value(r, phi, kind, name)
                self.phis[name] = (phi, inside[name])
            once = r.facts.canon(steps) == 0  # a single iteration: its index is known
            place = rng.start if once else sym(iv) if rng.rising else add(rng.start, mul(rng.step, sym(iv)))
            self.place = as_int_value(place)
            if self.target is not None:
                inside[self.target] = self.place
            self.after = dict(inside)
            body(inside)
            self.after = inside
        except DeadEnd:
            self.dead = True
        finally:
            r.facts.pop_loop()
            r.frame = self.outer

    def discard(self) -> None:
        """Forgets the attempt: what it recorded uses nothing any more."""
        for op in Region(self.block).walk():
            op.drop_uses()

    def kinds_to_widen(self, plan: dict[str, Kind]) -> dict[str, Kind]:
        """Carried names whose kind after the body is not the planned one, with the kind that covers both."""
        wrong = {}
        for name, kind in plan.items():
            got = kind_of(self.after.get(name))
            joined = unify(kind, got) if got is not None else None
            if joined is None:
                raise path_dependent(self.r, name, "values of different types")
            if joined != kind:
                wrong[name] = joined
        return wrong

    def close(self, assigned: Sequence[str], head: frozenset[str], after: frozenset[str]) -> None:
        """Drops what is not carried, records the scf.for, and brings names and storages up to date."""
        r, frame = self.r, self.frame
        self.check_names(assigned, head, after)
        late = self.bound_inside(assigned, after)
        carried: dict[Value, tuple[Value, Value]] = {}
        storages: dict[Storage, Value] = {}
        numbers: dict[str, tuple[Value, Kind]] = {}
        for name, (phi, given) in self.phis.items():
            value, kind = self.after[name], self.plan[name]
            init = to_value(r, self.env[name], kind)
            if same_value(value, given):
                self.drop(phi, init)
                continue
            carried[phi] = (init, self.inside(value, kind))
            if (kept := self.kind_afterwards(value, kind)) is not None:
                numbers[name] = (phi, kept)
        for name, kind in late.items():
            phi = self.block.add_arg(kind.element)
            carried[phi] = (zero(r, kind), self.inside(self.after[name], kind))
            numbers[name] = (phi, kind)
        for storage, phi in list(frame.phis.items()):
            outside = r.value(storage)
            if frame.values[storage] is phi:
                self.drop(phi, outside)
            else:
                carried[phi] = (outside, frame.values[storage])
                storages[storage] = phi
        self.finish(carried, storages, numbers)
        self.bind_target(after)

    def kind_afterwards(self, value: Any, kind: Kind) -> Kind | None:
        """The kind of a carried number after the loop: NumPy's for sure if the loop is sure to run (proved or
        guarded, S9) and its last value is; None if the loop is sure not to run, so that the number stays what it was.
        """
        last = kind_of(value)
        if not kind.maybe_python or last is None or last.maybe_python:
            return kind
        runs = self.r.ask_nonneg(add(self.rng.trips(), -1))
        return None if runs is False else Kind("np", kind.element, maybe_python=not runs)

    def inside(self, value: Any, kind: Kind) -> Value:
        """A number as a value in the loop's region."""
        self.r.frame = self.frame
        made = to_value(self.r, value, kind)
        self.r.frame = self.outer
        return made

    def drop(self, phi: Value, init: Value) -> None:
        """Replaces a carried argument that does not change by its initial value."""
        phi.replace_all_uses(init)
        symbols = self.r.func.symbols
        for s in [s for s, v in symbols.items() if v is phi]:
            symbols[s] = init
        self.block.drop_arg(self.block.args.index(phi))

    def finish(
        self,
        carried: dict[Value, tuple[Value, Value]],
        storages: dict[Storage, Value],
        numbers: dict[str, tuple[Value, Kind]],
    ) -> None:
        """Records the op; results take the place of what was carried."""
        r, rng = self.r, self.rng
        order = self.block.args[1:]
        self.block.append(scf.Yield.of([carried[p][1] for p in order], r.loc))
        bounds = (rng.start, rng.stop, rng.step) if rng.rising else (0, rng.trips(), 1)
        op = r.add(scf.For.of([r.index(b) for b in bounds], [carried[p][0] for p in order], self.block, r.loc))
        results = dict(zip(order, op.results))
        for storage, phi in storages.items():
            r.set_value(storage, results[phi])
        for name, (phi, kind) in numbers.items():
            self.env[name] = from_value(r, results[phi], kind, name)

    def check_names(self, assigned: Sequence[str], head: frozenset[str], after: frozenset[str]) -> None:
        """Names that are live at the loop's head and are no numbers must keep their binding."""
        for name in assigned:
            if name in self.phis or name == self.target or name not in self.env:
                continue
            if name not in head:
                self.env.pop(name)
            elif not self.dead and (name not in self.after or not same_value(self.env[name], self.after[name])):
                raise path_dependent(self.r, name, "another array in each iteration")

    def bound_inside(self, assigned: Sequence[str], after: frozenset[str]) -> dict[str, Kind]:
        """Numbers first bound in the body and used after the loop: their last values, if the loop is sure to run."""
        found: dict[str, Kind] = {}
        for name in assigned:
            if name in self.env or name == self.target or name not in after or self.dead or name not in self.after:
                continue
            kind = kind_of(self.after[name])
            if kind is None or self.r.ask_nonneg(add(self.rng.trips(), -1)) is not True:
                raise path_dependent(self.r, name, "a value inside the loop only")
            found[name] = kind
        return found

    def bind_target(self, after: frozenset[str]) -> None:
        """The loop variable keeps its last value (rule F1)."""
        r, name = self.r, self.target
        if name is None:
            return
        if name not in after:
            self.env.pop(name, None)
            return
        runs = r.ask_nonneg(add(self.rng.trips(), -1))
        if runs is None or (runs and not same_value(self.after.get(name), self.place)):
            raise path_dependent(r, name, "its last value, if the loop runs")
        if runs:
            last = add(self.rng.start, mul(self.rng.step, sub(self.rng.trips(), 1)))
            self.env[name] = last if isinstance(last, int) else PyInt(last)
