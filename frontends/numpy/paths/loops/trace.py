"""Loops: what a loop carries is discovered by tracing its body, once if nothing was guessed wrong (rules S8-S11).

A loop over a range that nothing leaves early is an `scf.for`; any other is an `scf.while` whose first region does one
iteration and says whether another follows. At the head every number that the body assigns is a value of its own, and
every array is assumed to be what it was; where the end of the body disagrees (`compare`), the plan for the loop is
mended and the body traced again: a number is widened, a view's offsets and sizes are carried, private storages are
carried by value, names that exchange arrays carry which one they hold. If only the first iteration differs, it is
peeled: traced before the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from types import FunctionType
from typing import Any

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.numbers.lattice import (
    BREAK,
    DONE,
    GO_ON,
    JUMP,
    LEAVE,
    RETURN,
    Maybe,
    leaves,
    parts,
    parts_of,
    path_dependent,
    rebuild,
    structure,
    with_maybes,
)
from tracebuf.frontends.numpy.paths.branches import trace_if
from tracebuf.frontends.numpy.paths.container_joins import OtherLength
from tracebuf.frontends.numpy.paths.cycles import cycles_refused
from tracebuf.frontends.numpy.paths.joins import anchored, plain, references
from tracebuf.frontends.numpy.paths.landing import raise_on
from tracebuf.frontends.numpy.paths.leaving import parameters
from tracebuf.frontends.numpy.paths.loops.close import LoopClose
from tracebuf.frontends.numpy.paths.loops.containers import CarriedContainers, NewKeys
from tracebuf.frontends.numpy.paths.loops.plan import (
    MAX_PEELED,
    WHICH,
    ArrayCarry,
    Carry,
    Item,
    LoopPlan,
    LoopSpec,
    Path,
    goes_on,
    without_left_paths,
)
from tracebuf.frontends.numpy.paths.loops.raising import Raising
from tracebuf.frontends.numpy.paths.loops.report import LoopReport
from tracebuf.frontends.numpy.record.callees import NestedFunction
from tracebuf.frontends.numpy.record.cond import Cond
from tracebuf.frontends.numpy.record.heap import Changed
from tracebuf.frontends.numpy.record.raises import DeadEnd
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import INT, ArrayRef, Env, GuardedRef, PyBool, PyInt, kind_of, storages_of
from tracebuf.frozen import frozen
from tracebuf.ir.dims import Dim, Sym, add, floordiv, mul, sub, sym
from tracebuf.ir.types import INDEX

UNROLLED = 32
"""A loop of as many iterations is unrolled, whatever it records, where no plan fits it."""
MAX_OPS = 1000
"""The most ops that a longer loop may record when it is unrolled: what they cost to compile is seconds."""


def trace_loop(
    r: Recorder, spec: LoopSpec, env: Env, plans: dict[Path, LoopPlan], peeled: int = 0, hint: LoopPlan | None = None
) -> None:
    """Traces a loop and brings `env` up to date.

    `plans` keeps what was learnt about the loop, for when names hold the same kinds of values again. Raises
    UnsupportedError where no plan fits and the loop is too long to be unrolled.
    """
    if spec.rng is not None and r.facts.decide_nonneg(add(spec.rng.trips(), -1)) is False:
        return
    key = (*spec.key, peeled, kinds_of_names(env))
    if key not in plans:
        arrays = {**rebound_arrays(spec, env), **({} if hint is None or spec.otherwise else hint.arrays)}
        plans[key] = LoopPlan(arrays=arrays, mends=() if hint is None else hint.mends)
        if hint is None and (reason := why_peeled(r, spec, env)) is not None:
            plans[key] = plans[key].mended(*reason, peel_first=True)
    try:
        with r.at(r.loc):
            loop = attempt(r, spec, env, plans, key, peeled)
    except UnsupportedError as refusal:
        n = None if spec.rng is None else r.facts.canon(spec.rng.trips())
        if n is not None and isinstance(refusal, OtherLength) and is_short(r, n) and not r.growth.sized:
            n = r.static_int(n, "the number of iterations")
        if not isinstance(n, int):
            raise
        if not plans[key].unrolled:  # not the exception itself, whose frames hold the arguments
            why = UnsupportedError(refusal.reason, instead=refusal.instead, location=refusal.location)
            plans[key] = replace(plans[key], unrolled=True, refusal=why)
        refused = plans[key].refusal
        assert refused is not None
        r.loops.append(LoopReport(r.loc, (), plans[key].mends, peeled, refused.reason))
        if spec.otherwise is not None:
            assert spec.rng is not None and isinstance(spec.rng.start, int)
            return spec.otherwise(env, spec.rng.start)
        return unroll(r, spec, env, n, Budget(r.recorded + MAX_OPS, refused))
    if loop is not None:
        r.loops.append(replace(loop.close(), peeled=peeled))
        raise_on(r, env, loop.plan.raises)
        return
    peel(r, spec, env, plans, peeled, plans[key])


def is_short(r: Recorder, n: Dim) -> bool:
    """Whether a number of iterations that sizes and ints of the call decide is small in the traced call."""
    value = r.in_this_call(n)
    return value is not None and value <= UNROLLED


def attempt(
    r: Recorder, spec: LoopSpec, env: Env, plans: dict[Path, LoopPlan], key: Path, peeled: int
) -> Loop | None:
    """An attempt at a loop that may be recorded; None where the first iteration has to be peeled. `plans[key]` is the
    plan that it begins with, and then what it has become."""
    if plans[key].unrolled:
        raise plans[key].refusal or r.refuse("this loop is unrolled")
    plans[key] = replace(plans[key], may_peel=peeled < MAX_PEELED)
    peel_for = ""
    for _ in range(0 if plans[key].peel_first else 8):
        plan, kept = plans[key], r.growth.effort.kept
        raising = Raising(r, spec, plan.raises)
        env |= raising.nothing()
        carried = CarriedContainers(r, raising.spec, env, plan.containers, plan.rebound_containers)
        loop = Loop(r, carried.spec, env, plan, carried)
        loop.raising = raising
        try:
            with r.at(r.loc):
                loop.trace()
            if spec.otherwise is not None and not loop.peel_for and not loop.retry:
                loop.check_pays()
            if not loop.peel_for and not loop.retry:
                loop.note_held()
        except (UnsupportedError, Changed) as error:
            loop.discard()
            r.growth.effort.discard(kept)
            carried.restore()
            plans[key] = loop.plan
            if isinstance(error, NewKeys) and plans[key].may_peel and spec.otherwise is None:
                plans[key] = loop.plan.mended("", "an object gets attributes, or a dict keys", peel_first=True)
                return None
            if not isinstance(error, Changed) or error.labels <= plan.containers:
                raise
            if spec.otherwise is not None:
                raise r.refuse("a container changes in the loop") from None
            labels = loop.plan.containers | error.labels
            plans[key] = loop.plan.mended("", "a list, dict or object is changed", containers=labels)
            continue
        plans[key], peel_for = loop.plan, loop.peel_for
        if not peel_for and not loop.retry:
            return loop
        if spec.otherwise is not None and not peeled and loop.plan.sizes_vary:
            peel_for = "the first size"
        loop.discard()
        r.growth.effort.discard(kept)
        carried.restore()
        if peel_for:
            break
    plans[key] = replace(plans[key], peel_first=True)
    if peeled == MAX_PEELED:
        raise path_dependent(r, peel_for or "this loop's arrays", "another array or object in each iteration")
    return None


@frozen(slots=False)
class Budget:
    """How many ops may have been recorded when a loop is unrolled, and why no plan fits it."""

    ops: int
    refusal: UnsupportedError

    def check(self, r: Recorder, n: int, done: int) -> None:
        """Raises UnsupportedError where a loop of n iterations is too long to be unrolled, as the first ones show."""
        left = self.ops - r.recorded
        if n <= UNROLLED or left >= 0 and (done < 8 or (MAX_OPS - left) * n <= MAX_OPS * done):
            return
        raise self.too_long(r, n, done)

    def too_long(self, r: Recorder, n: int, done: int) -> UnsupportedError:
        """The refusal of a loop that is too long to be unrolled, with its limits."""
        why, each = self.refusal, (MAX_OPS - self.ops + r.recorded) // max(done, 1)
        text = f"{why.reason}; and a loop of {n} iterations of about {each} operations is not unrolled"
        limits = f" (limits: {UNROLLED} iterations, or {MAX_OPS} operations where nothing leaves the loop early)"
        return UnsupportedError(text + limits, instead=why.instead, location=why.location)


def unroll(r: Recorder, spec: LoopSpec, env: Env, n: int, budget: Budget, done: int = 0) -> None:
    """Traces the iterations of a short loop one by one, each with its index known."""
    rng = spec.rng
    assert rng is not None
    for k in range(done, n):
        budget.check(r, n, k)
        r.growth.note_unrolled()
        env[JUMP] = GO_ON
        spec.run(env, add(rng.start, mul(rng.step, k)))
        further = goes_on(r, env, BREAK)
        if isinstance(further, PyBool):
            if n > UNROLLED:  # each iteration would stand inside of the one before
                raise budget.too_long(r, n, k + 1)
            names, live = (*spec.assigned, JUMP, RETURN), spec.head | spec.after | {JUMP, RETURN}
            rest = lambda inner, k=k: unroll(r, spec, inner, n, budget, k + 1)  # noqa: E731
            return trace_if(r, further, env, [rest, lambda e: None], names, live, frozenset([RETURN]))
        if not further:
            return


def forget_left_paths(env: Env) -> None:
    """After a loop no path has left it: drops what was known of the paths that had, which does not hold in a loop
    around it."""
    work, seen = [*env.values()], set[int]()
    while work:
        if id(x := work.pop()) not in seen:
            seen.add(id(x))
            if isinstance(x, Cond):
                x.leaving = None
            if isinstance(x, Maybe):
                x.left = False
            work += x.arms if isinstance(x, Cond) else parts(x) or ()


def rebound_arrays(spec: LoopSpec, env: Env) -> dict[Path, Carry]:
    """A first guess: private arrays whose names the body rebinds are carried by value."""
    found: dict[Path, Carry] = {}
    for name in spec.assigned:
        x = env.get(name)
        if name in spec.rebound and isinstance(x, ArrayRef) and plain(x) and x.is_whole and x.storage.arg is None:
            found[name, 0] = ArrayCarry(True, (False,) * x.ndim, (False,) * len(parameters(x.view)))
    return found


def why_peeled(r: Recorder, spec: LoopSpec, env: Env) -> tuple[str, str] | None:
    """The name of which the first iteration certainly replaces an array that something else refers to (an argument,
    say), or an int by a float, and which of these: it then has to be peeled."""
    for n in sorted(spec.floats & spec.head):
        if kind_of(env.get(n)) is INT:
            return f"`{n}`", "begins as an int and becomes a float"
    held = {n: env[n] for n in spec.assigned if n in spec.computed and n in spec.head and plain(env.get(n))}
    live = spec.head | spec.after
    shared = anchored(r, (x for n, x in env.items() if n not in held and n in live))
    found = (n for n, x in held.items() if x.storage.arg is not None or x.storage in shared)
    return next(((f"`{n}`", "begins as an array that something else holds too") for n in found), None)


def kinds_of_names(env: Env) -> Path:
    """The kinds of values that names hold; functions are distinguished by what they do, for loops call them."""

    def kind(x: Any) -> Any:
        if isinstance(x, NestedFunction):
            return x.source.node
        if isinstance(x, FunctionType):
            return x.__code__
        if isinstance(x, ArrayRef):
            return x.element, x.ndim, plain(x) and x.storage.arg, type(x)
        return kind_of(x) or type(x)

    return tuple((n, tuple(map(kind, leaves(x))), structure(x)) for n, x in env.items())


def peel(r: Recorder, spec: LoopSpec, env: Env, plans: dict[Path, LoopPlan], peeled: int, plan: LoopPlan) -> None:
    """Traces the first iteration by itself, then the loop from the second on (rule S9)."""
    names = (*spec.assigned, JUMP, RETURN)
    live = spec.head | spec.after | {JUMP, RETURN}
    rest, loc = spec if spec.rng is None else replace(spec, rng=spec.rng.rest()), r.loc

    def others(inner: Env) -> None:
        inner |= {n: without_left_paths(x, r.heap) for n, x in inner.items()}
        inner[JUMP] = GO_ON
        inner.pop(RETURN, None)  # the paths that return do not come here
        with r.at(loc):
            trace_loop(r, rest, inner, plans, peeled + 1, plan)

    def once(inner: Env) -> None:
        spec.run(inner, None if spec.rng is None else spec.rng.start)
        further = goes_on(r, inner, BREAK)
        if isinstance(further, PyBool):
            trace_if(r, further, inner, [others, lambda e: None], names, live, frozenset([RETURN]))
        elif further:
            others(inner)

    if spec.test is not None:
        conditionally(r, spec.test(env), env, once, names, live)
        return
    assert spec.rng is not None
    trips = spec.rng.trips()
    runs: bool | PyBool | None = r.ask_nonneg(add(trips, -1))
    if runs is None:
        runs = PyBool(r.compare("sge", trips, 1), add(trips, -1))
    conditionally(r, runs, env, once, names, live)


def conditionally(
    r: Recorder,
    condition: bool | PyBool,
    env: Env,
    body: Callable[[Env], None],
    names: Iterable[str],
    live: frozenset[str],
) -> None:
    """Traces an iteration under the condition of the loop."""

    def done(inner: Env) -> None:
        inner[JUMP] = DONE

    if isinstance(condition, PyBool):
        trace_if(r, condition, env, [body, done], names, live, frozenset([RETURN]))
    else:
        (body if condition else done)(env)


class Loop(LoopClose):
    """One attempt at a loop, traced."""

    raising: Raising

    # -- tracing an iteration
    def trace(self) -> None:
        """Records the body in a region of its own, and what it shows about the plan."""
        r = self.r
        made: dict[Callable[..., Any], Any] = {}
        given = self.env | {n: make(r, made) for n, make in self.plan.first_bound_inside.items()}
        for n, make in self.plan.maybes.items():
            given[n] = with_maybes(r, given.get(n), make(r, made))
        with r.region("loop", self.block) as self.frame:
            r.passable.add(self.frame)
            try:
                with cycles_refused(r):
                    self.iteration(self.enter(given))
            except DeadEnd:
                self.dead = True
                self.note_end_values()
            finally:
                r.passable.discard(self.frame)
                r.heap.leave(self.frame)

    def iteration(self, inside: Env) -> None:
        """The body of the loop, and what its end shows."""
        self.after = dict(inside)
        if self.spec.test is not None:
            self.once_more(self.spec.test(inside), inside, lambda env: self.spec.run(env, None))
        elif self.spec.exits:
            self.count(inside)
        else:
            return self.iterate(inside)
        self.after = inside
        if not self.may_raise_more():
            self.compare()

    def may_raise_more(self) -> bool:
        """Whether the plan is mended because the body may raise what is caught outside of the loop."""
        if (sites := self.raising.sites) <= self.plan.raises:
            return False
        self.mend("", "may raise what is caught outside of it", raises=self.plan.raises | sites)
        return True

    def iterate(self, inside: Env) -> None:
        """The body of an scf.for."""
        r, rng = self.r, self.spec.rng
        assert rng is not None
        iv = Sym("i", "iv")
        r.func.symbols[iv] = self.block.args[0]
        start, stop, step = rng.bounds()
        steps = floordiv(sub(sub(stop, start), 1), step)
        with r.facts.loop(iv, start, add(start, mul(step, steps))):
            once = r.facts.canon(steps) == 0  # a single iteration: its index is known
            place = rng.start if once else sym(iv) if rng.rising else add(rng.start, mul(rng.step, sym(iv)))
            self.spec.run(inside, place)
            inside.pop(JUMP, None)
            self.after = inside
            if self.may_raise_more():
                return
            self.note_end_values()
            if not self.stops_asking():
                self.rotate(inside, sym(iv))
                self.compare()

    def count(self, inside: Env) -> None:
        """The body of a loop over a range that may be left early: a counter is carried, and tested first."""
        r, rng = self.r, self.spec.rng
        assert rng is not None
        trips = rng.trips()
        self.counter = self.block.add_arg(INDEX)
        k = Sym("k", "iv")
        r.func.symbols[k] = self.counter
        r.facts.assume_nonneg(sym(k))
        left = sub(sub(trips, sym(k)), 1)

        def body(env: Env) -> None:
            with r.facts.loop(k, 0, add(trips, -1)):
                self.spec.run(env, add(rng.start, mul(rng.step, sym(k))))

        self.once_more(PyBool(r.compare("slt", sym(k), trips), left), inside, body)

    def once_more(self, condition: bool | PyBool, inside: Env, body: Callable[[Env], None]) -> None:
        """An iteration of a loop that tests first whether there is one."""
        live = self.spec.head | self.spec.after | {JUMP, RETURN}
        heads = dict(inside)

        def whole(env: Env) -> None:
            body(env)
            self.part_from_result(env, heads)

        conditionally(self.r, condition, inside, whole, (*self.spec.assigned, JUMP, RETURN), live)

    def part_from_result(self, env: Env, heads: Env) -> None:
        """Where an iteration may return an array that a name holds too, for the next one: nothing reads the name on the
        path that returns, nor the result on the other, so that each may hold there what it held at the head, and each
        array has one owner."""
        jump, result = env.get(JUMP), env.get(RETURN)
        if RETURN not in heads or not isinstance(jump, PyInt) or structure(result) != structure(heads[RETURN]):
            return
        pairs = zip(parts_of(result), parts_of(heads[RETURN]))
        made = rebuild(result, iter([without_head(x, head) for x, head in pairs]))
        returned = {s for ref in references(made) for s in storages_of(ref)} & self.r.frame.locals
        names = [n for n in self.spec.assigned if n in self.entry_values and n not in self.spec.read_if_returned]
        shared = [n for n in names if plain(env.get(n)) and plain(heads.get(n)) and env[n].storage in returned]
        if shared:
            left = PyBool(self.r.compare("slt", jump.expr, LEAVE), sub(LEAVE - 1, jump.expr))
            going_on = lambda inner: inner.update({RETURN: heads[RETURN]})  # noqa: E731
            returning = lambda inner: inner.update({n: heads[n] for n in shared}, **{RETURN: made})  # noqa: E731
            changed = (*shared, RETURN)
            live = self.spec.head | self.spec.after | {JUMP, RETURN}
            trace_if(self.r, left, env, [going_on, returning], changed, live, frozenset([RETURN]))

    # -- names that rotate arrays (rule S9)
    def rotate(self, inside: Env, iv: Dim) -> None:
        """If the body rotates arrays, makes the loop do a whole period per round, so that each array keeps its
        buffer."""
        cycle = self.cycle()
        if cycle < 2 or self.retry or self.peel_for:
            return
        asked = [i.path for i in self.rotated() if i.known]
        if asked:  # planned before the names rotated: after each period they hold the objects of before the loop
            return self.stop_asking(asked)
        rotated = {i.path[0] for i in self.rotated()}
        heads = {n: self.entry_values[n] for n in rotated}
        self.rotation = [heads, {n: inside[n] for n in rotated}]
        names = self.spec.assigned
        live = (self.spec.head | self.spec.after) - rotated
        rng = self.spec.rng
        assert rng is not None
        _, stop, step = rng.bounds()

        def another(env: Env, done: int) -> None:
            at = add(iv, done * step)
            left = sub(sub(stop, at), 1)
            run = lambda e: turn(e, done, at)  # noqa: E731
            trace_if(self.r, PyBool(self.r.compare("slt", at, stop), left), env, [run, lambda e: None], names, live)

        def turn(env: Env, done: int, at: Dim) -> None:
            self.spec.run(env, at if rng.rising else add(rng.start, mul(rng.step, at)))
            env.pop(JUMP, None)
            self.rotation.append({n: env[n] for n in rotated})
            if done + 1 < cycle:
                another(env, done + 1)

        another(inside, 1)
        inside |= heads
        if not same_rotations(self.rotation, cycle):
            self.rotation = []
            items = [i for i in self.items if i.path[0] in rotated and isinstance(i.entry, ArrayRef)]
            if all(self.compatible(items[0].head, i.head) for i in items):
                for i in items:
                    self.mend(i.path[0], "is another of the arrays of before the loop", arrays={i.path: WHICH})
            else:
                self.peel(items[0].path[0], "takes the place of an array of another form")

    def stops_asking(self) -> bool:
        """Whether the plan is mended because the body rotates arrays whose objects are asked for at the head: after a
        period these are the ones of before the loop, so nothing is carried that tells which they are."""
        asked = [i.path for i in self.rotated() if i.known]
        if not asked or self.cycle() < 2 or self.retry or self.peel_for:
            return False
        self.stop_asking(asked)
        return True

    def stop_asking(self, asked: Sequence[Path]) -> None:
        """Mends the plan: the head of the loop does not tell which objects these leaves hold."""
        rest = {p: x for p, x in self.plan.other_objects.items() if p not in asked}
        self.plan, self.retry = replace(self.plan, other_objects=rest), True

    def rotated(self) -> list[Item]:
        """The leaves whose array another one replaces."""
        arrays = [i for i in self.items if isinstance(i.entry, ArrayRef)]
        moved = [i for i in arrays if isinstance(i.back, ArrayRef) and i.how is None and i.back is not i.head]
        return [i for i in moved if not i.head.same(i.back) or any(i.back is j.head for j in moved)]

    def cycle(self) -> int:
        """The period with which arrays that the loop does not own rotate; 0 if they do not."""
        items = self.rotated()
        if not items or not all(
            plain(i.head) and plain(i.back) and self.entry_values[i.path[0]] is i.entry for i in items
        ):
            return 0
        if all(i.head.storage.arg is None for i in items) and not {i.head.storage for i in items} & self.anchored():
            return 0  # private arrays are carried, and their buffers are exchanged
        exactly = any(map(self.observed, items))  # an observed object comes to each of the names in its turn
        order = [predecessor(i, items, exactly) for i in items]
        if sorted(order) != list(range(len(items))):
            return 0
        now, period = list(order), 1
        while now != list(range(len(items))) and period <= 3:
            now, period = [order[k] for k in now], period + 1
        return period if period <= 3 else 0


def without_head(x: Any, head: Any) -> Any:
    """A part of what an iteration returns: never the placeholder that stood there at the head."""
    while isinstance(x, GuardedRef) and plain(head):
        arms = [a for a in x.arms if not (plain(a) and a.storage is head.storage)]
        if len(arms) != 1:
            return x
        x = arms[0]
    return x


def predecessor(item: Item, items: Sequence[Item], exactly: bool) -> int:
    """The leaf at whose head an item's array stood: that of the very object, or else (not `exactly`) one of the same
    elements; -1 for none."""
    exact = [k for k, j in enumerate(items) if item.back.same_object(j.head)]
    alike = [] if exactly else [k for k, j in enumerate(items) if item.back.same(j.head)]
    return next(iter([*exact, *alike]), -1)


def same_rotations(turns: Sequence[Env], cycle: int) -> bool:
    """Whether each iteration of a period permutes the arrays as the first did, and the last restores them."""
    names = list(turns[0])
    if len(turns) != cycle + 1:
        return False
    move = {n: next((m for m in names if turns[1][n].same(turns[0][m])), None) for n in names}
    return all(
        plain(after[n]) and after[n].same(before[move[n]])  # type: ignore[index]
        for before, after in zip(turns, turns[1:])
        for n in names
    )
