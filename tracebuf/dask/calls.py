"""`tracebuf.dask.distribute(f)`: a bufferized function on dask arrays.

The function is traced on small stand-ins for the arrays, cut into stages (`split.py`) whose windows are laid out
(`grid.py`), and built as a graph (`graph.py`). Axes that cannot be cut are rechunked to one chunk; where the function
itself cannot be run so, UnsupportedError says why.
"""

from __future__ import annotations

import functools
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from tracebuf.dask.files import Mapped, file_of, in_parts
from tracebuf.dask.flow import shape_of
from tracebuf.dask.graph import Blocks, Call, Graph, Unwritten, dtype_of
from tracebuf.dask.grid import Begins, Grid, Needs
from tracebuf.dask.memory import chunk_bytes, small_sizes
from tracebuf.dask.program import Program, guards_hold, program_of, with_constants
from tracebuf.dask.rewrites.apart import Staged, staged
from tracebuf.dask.split import Stage, Uncut, delta_of, symbol_of
from tracebuf.dask.worker import checked
from tracebuf.errors import TracebufError, TracebufWarning, UnsupportedError, render
from tracebuf.frontends.numpy.call.results import ChosenResult, NewContainer, ResultLeaf
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Sym, evaluate, symbols
from tracebuf.ir.types import ScalarType
from tracebuf.ops.arrays import linalg
from tracebuf.ops.scalars import arith


def distribute(f: Any, *, steps: int | None = None, resource: str | None = None) -> Callable[..., Any]:
    """A bufferized function that takes dask arrays and returns dask arrays, computed chunk by chunk when they are asked
    for. An argument that the function stores to is from then on the array with what is stored, as after
    `x[...] = y` of dask; nobody sees it half done. Elementwise functions and stencils give the bits of the function
    itself; sums are combined from parts.

    Args:
        f: a bufferized function, or one to bufferize.
        steps: how many iterations of a loop over time are run between exchanges of halos; by default what a model of
            the costs says.
        resource: the name under which workers of `distributed` declare their memory in bytes (`--resources
            "memory=1e9"`): each task asks the scheduler for what a chunk takes. Workers without it get no tasks. dask
            forgets it where it fuses tasks: `dask.config.set({"optimization.fuse.active": False})`, else it is warned.

    Raises (the function that is returned) what `f.lower` raises; UnsupportedError for what cannot be run so.

    >>> import dask.array as da, tracebuf
    >>> mean = distribute(tracebuf.bufferize(lambda a: a - a.mean()))
    >>> x = mean(da.ones((4, 4), chunks=2))
    >>> x.chunks, float(x.sum().compute())
    (((2, 2), (2, 2)), 0.0)
    """
    if not hasattr(f, "trace"):
        from tracebuf import bufferize

        f = bufferize(f)

    if steps is not None and steps < 1:
        raise ValueError(f"steps={steps}: at least one iteration is run between exchanges")

    @functools.wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        return planned(f, args, kwargs, steps, resource).result()

    return run


def planned(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], steps: int | None, resource: str | None
) -> Distributed:
    """A call whose stages and chunks are known. Where ints among the arguments are in the way (`x[n:] - x[:-n]`), they
    are constants of its program."""
    call = Distributed(f, args, kwargs, steps, resource)
    error = None
    try:
        call.plan()
        if not any(r.reason for r in call.reasons.values()):
            return call
    except UnsupportedError as reason:
        error = reason
    if (constant := with_constants(f, args, kwargs)) is not None:
        other = Distributed(constant, args, kwargs, steps, resource)
        try:
            other.plan()
            if error is not None or len(other.grids) > len(call.grids):
                return other
        except UnsupportedError:
            pass  # the first one is told
    if error is not None:
        raise error
    return call


class Distributed:
    """One call on dask arrays."""

    def __init__(
        self, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any], steps: int | None, resource: str | None = None
    ) -> None:
        import dask.array as da

        self.da: Any = da
        self.f, self.steps, self.resource = f, steps, resource
        self.claimed = 0
        self.stages: list[Stage] = []
        self.needs: list[tuple[Begins, Needs]] = []
        """Of each stage, or an iteration of it: where its inputs begin, and what that needs."""
        self.grids: dict[Sym, Grid] = {}
        self.reasons: dict[Sym, Uncut] = {}
        self.arrays: dict[int, Any] = {}
        """By the identity of what stands for it in the trace: each array."""
        whole = (*args, *kwargs.values())
        given = [self.da.from_array(x, asarray=False) if isinstance(x, Mapped) else x for x in whole]
        self.turned = {id(made) for made, x in zip(given, whole) if isinstance(x, Mapped)}
        """Those that are arrays of NumPy's."""
        sizes = small_sizes([a.shape for a in given if isinstance(a, (da.Array, np.ndarray))])
        self.program = self.first_trace(given, args, kwargs, sizes)
        if not self.holds():
            self.program = self.trace(given, args, kwargs, None)
        for a in self.captured():
            self.arrays[id(a)] = made = self.da.from_array(a, chunks=-1)
            self.turned.add(id(made))
        self.leaves = [self.given(k) for k in range(len(self.program.func.args))]
        self.env = {s: b.value(self.values) for s, b in self.program.traced.bindings.items()}
        for n in self.program.stored:
            if not isinstance(self.leaves[n], da.Array) or id(self.leaves[n]) in self.turned:
                name = self.program.names[n]
                raise UnsupportedError(
                    f"{name} is stored to and is no dask array", instead=f"pass dask.array.from_array({name})"
                )

    def first_trace(
        self, given: Sequence[Any], args: tuple[Any, ...], kwargs: dict[str, Any], sizes: Mapping[int, int]
    ) -> Program:
        """The program for small stand-ins, or where captured arrays are as large as arguments, for large ones."""
        try:
            self.program = self.trace(given, args, kwargs, sizes)
        except TracebufError:
            raise
        except Exception:  # what NumPy raises for other sizes
            return self.trace(given, args, kwargs, None)
        return self.trace(given, args, kwargs, None) if any(a.ndim for a in self.captured()) else self.program

    def captured(self) -> list[np.ndarray]:
        """The arrays from outside that the function reads."""
        return [a for a in self.program.call.values if isinstance(a, np.ndarray) and id(a) not in self.arrays]

    def check(self) -> None:
        """Refuses what a call on dask arrays cannot give back."""
        if self.program.call.out:
            raise UnsupportedError("out= on dask arrays", instead="take the result")
        if self.program.traced.writes:
            raise UnsupportedError(
                f"{self.program.name} changes a list, a dict or an object of the caller",
                instead="return what it is to hold", location=self.program.func.loc,
            )  # fmt: skip
        self.build(self.program.traced.plan, [None] * len(self.program.returned))

    def trace(
        self, given: Sequence[Any], args: tuple[Any, ...], kwargs: dict[str, Any], sizes: Mapping[int, int] | None
    ) -> Program:
        """The program for stand-ins of the arrays; what each stands for is kept."""
        da = self.da
        self.arrays = {}
        self.keep: list[Any] = []

        def stand_in(a: Any) -> Any:
            if isinstance(a, da.Array) and any(np.isnan(n) for n in a.shape):
                raise UnsupportedError(
                    "a dask array has axes of unknown size", instead="call compute_chunk_sizes() of it before"
                )
            if isinstance(a, (da.Array, np.ndarray)) and a.dtype.kind not in "biufc":
                raise UnsupportedError(f"an array of dtype {a.dtype} in chunks", instead="use numbers for it")
            if isinstance(a, da.Array) and type(a._meta) is not np.ndarray:
                raise UnsupportedError(
                    f"a dask array of {type(a._meta).__name__}", instead="map_blocks(np.asarray), if that is meant"
                )
            if not isinstance(a, (da.Array, np.memmap)):
                if isinstance(a, (list, tuple, dict)) and any(isinstance(x, da.Array) for x in flat(a)):
                    raise UnsupportedError(
                        "dask arrays in lists, tuples or dicts", instead="pass each as an argument of its own"
                    )
                if isinstance(a, np.ndarray) and a.ndim:
                    self.arrays[id(a)] = made = da.from_array(a, chunks=-1)
                    self.turned.add(id(made))
                return a
            shape = tuple(a.shape) if sizes is None else tuple(sizes[n] for n in a.shape)
            made = np.empty(shape, a.dtype)
            made.fill(0) if sizes is not None else None
            self.arrays[id(made)] = lazy = a if isinstance(a, da.Array) else in_parts(a)
            if lazy is not a:
                self.turned.add(id(lazy))
            self.keep.append(made)
            return made

        done: dict[int, Any] = {}
        for a in given:
            if id(a) not in done:
                done[id(a)] = stand_in(a)
        numpy_too = {n: done[id(a)] for n, a in enumerate(given)}
        if sizes is not None and any(
            isinstance(a, np.ndarray) and a.ndim and not isinstance(a, np.memmap)
            and tuple(sizes[n] for n in a.shape) != a.shape for a in given
        ):  # fmt: skip
            return self.trace(given, args, kwargs, None)
        new_args = tuple(numpy_too[n] for n in range(len(args)))
        new_kwargs = {k: numpy_too[len(args) + n] for n, k in enumerate(kwargs)}
        return program_of(self.f, new_args, new_kwargs)

    @property
    def values(self) -> list[Any]:
        """The leaves of the call, with the dask arrays themselves."""
        return [self.arrays.get(id(v), v) for v in self.program.call.values]

    def given(self, k: int) -> Any:
        return self.values[self.program.traced.arguments[k]]

    def holds(self) -> bool:
        """Whether what tracing assumed of sizes is so for the real ones."""
        traced = self.program.traced
        env = {s: b.value(self.values) for s, b in traced.bindings.items()}
        return guards_hold(traced.guards, env)

    # -- chunks
    def chunked(self) -> dict[Sym, set[int]]:
        """Of each symbol the places at which some array is cut."""
        found: dict[Sym, set[int]] = {}
        for v, a in zip(self.program.func.args, self.leaves):
            for axis, size in enumerate(shape_of(v)):
                if (s := symbol_of(size)) is not None and isinstance(a, self.da.Array):
                    ends = np.cumsum(a.chunks[axis])[:-1]
                    found.setdefault(s, set()).update(int(e) for e in ends if 0 < e < self.env[s])
        return found

    def plan(self) -> None:
        """Finds the stages, and the chunks of what is cut: as the arrays are, where that can be."""
        self.check()
        ends = self.chunked()
        cut = frozenset(s for s, e in ends.items() if e)
        grids: dict[Sym, Grid] = {}

        def widened(found: Staged) -> None:
            """The chunks as their halos ask for."""
            grids.clear()
            grids.update({s: Grid(self.env[s], (*sorted(ends[s]), self.env[s])) for s in found.cut})
            low, high = dict.fromkeys(found.cut, 0), dict.fromkeys(found.cut, 0)
            for _, needs in found.needs:
                for s, h in needs.halos.items():
                    low[s], high[s] = max(low[s], h.low), max(high[s], h.high)
            self.program = found.program
            for s in found.cut:
                self.widen(grids, s, low[s], high[s])

        found = staged(self.program, self.env, cut, widened)
        self.program, self.reasons = found.program, found.reasons
        if not grids and any(r.reason for r in self.reasons.values()):
            raise self.uncut()
        self.stages, self.needs, self.grids = found.stages, found.needs, grids

    def uncut(self) -> UnsupportedError:
        """Nothing of what is in chunks can be computed in chunks."""
        reason = next(r for r in self.reasons.values() if r.reason)
        return UnsupportedError(
            f"{self.program.name} cannot be cut as its arguments are: {reason.reason}",
            instead="rechunk them to one chunk, x.rechunk(-1), and it runs on these, or cut along other axes",
            location=reason.loc if reason.loc.file else self.program.func.loc,
        )

    def widen(self, grids: dict[Sym, Grid], s: Sym, low: int, high: int) -> None:
        """Chunks that are narrower than their halos are joined with others."""
        least, grid = low + high + 4, grids[s]
        if low == high == 0 and self.fits(s, 1):
            return
        while least < grid.n and not self.fits(s, least):
            least *= 2
        ends, last = [], 0
        for e in grid.ends:
            if e - last >= least or e == grid.n:
                ends.append(e)
                last = e
        if len(ends) > 1 and grid.n - ends[-2] < least:
            del ends[-2]
        if len(ends) == 1:
            raise Uncut({s}, self.program.func.loc, "")  # too short to be worth it
        grids[s] = Grid(grid.n, tuple(ends))

    def fits(self, s: Sym, size: int) -> bool:
        """Whether what tracing assumed of sizes is so for chunks of that size."""
        return self.program.fits(self.env, s, size)

    # -- the call
    def result(self) -> Any:
        self.tell()
        try:
            return self.built()
        except Unwritten as unwritten:
            raise UnsupportedError(
                f"{self.program.name} is several steps in chunks, of which one cannot be sent to workers: {unwritten}",
                instead="make what comes before it, or it, a function of its own", location=self.program.func.loc,
            ) from None  # fmt: skip

    def tell(self) -> None:
        """Warns of each axis that becomes one chunk, with the access that decides: it takes memory, and dask sends all
        chunks along it to one worker."""
        for reason in dict.fromkeys(self.reasons.values()):
            axes = [
                f"axis {axis} of {name} ({len(a.chunks[axis])} chunks)"
                for v, a, name in zip(self.program.func.args, self.leaves, self.program.names)
                for axis, size in enumerate(shape_of(v))
                if isinstance(a, self.da.Array) and len(a.chunks[axis]) > 1 and symbol_of(size) in reason.syms
            ]
            if reason.reason and axes:
                where = reason.loc if reason.loc.file else self.program.func.loc
                text = f"{self.program.name}: {', '.join(axes)} is rechunked to one chunk, since {reason.reason}"
                warnings.warn(TracebufWarning(render(text, "", where)), stacklevel=4)

    def built(self) -> Any:
        stages, grids = self.stages, self.grids
        cut = frozenset(grids)
        call = self.call() if len(stages) == 1 else None
        graph = Graph(self.program, cut, grids, self.env, uuid.uuid4().hex[:12], call)
        sources = []
        for v, a in zip(self.program.func.args, self.leaves):
            if isinstance(v.type, ScalarType) or not isinstance(a, self.da.Array):
                graph.blocks[v] = Blocks(lambda _: None, literal(a, v))
                continue
            file = file_of(a)
            a = a.rechunk(tuple(self.chunks(v, axis, n, grids) for axis, n in enumerate(a.shape)))
            sources.append(a)
            graph.blocks[v] = Blocks(lambda index, name=a.name: (name, *index), file=file)  # type: ignore[misc]
        if self.resource is not None:
            self.warn_of_fusion()
            local = {**self.env, **{s: max(b - a for a, b in g.chunks) for s, g in grids.items()}}
            self.claimed = max(chunk_bytes(self.program, s, local, cut) for s in stages)
        steps = {s.loop: self.steps_of(one, grids, s) for s, (_, one) in zip(stages, self.needs) if s.loop is not None}
        for stage, (begins, needs) in zip(stages, self.needs, strict=True):
            graph.stage(stage, steps, needs if stage.loop is None and begins == graph.begins else None)
        made: dict[Value, Any] = {}

        def array(v: Value) -> Any:
            if v not in made:
                made[v] = self.array(v, graph, sources)
            return made[v]

        results = [array(v) for v in self.program.returned]
        for n, v in self.program.stored.items():
            new, old = array(v), self.leaves[n]
            old.dask, old._name, old._chunks = new.dask, new._name, new._chunks
            old._meta = new._meta
        return self.build(self.program.traced.plan, results)

    def warn_of_fusion(self) -> None:
        import dask

        if dask.config.get("optimization.fuse.active", None) is not False:
            text = 'dask forgets what tasks ask for where it fuses them: set "optimization.fuse.active" to False'
            warnings.warn(TracebufWarning(f'resource="{self.resource}": {text}'), stacklevel=5)

    def call(self) -> Call | None:
        """The call itself, to be made on windows, where its arguments are the program's."""
        call = self.program.call
        if call.tree is not None or call.extra or call.hidden:
            return None
        places = dict(enumerate(self.program.traced.arguments))
        return Call(self.f, call.values, call.names, places, self.numbers_of_results())

    def numbers_of_results(self) -> dict[int, int]:
        """Where among the arrays and numbers that the function returns each result of the program stands."""
        found: dict[int, int] = {}
        count = 0

        def walk(plan: Any) -> None:
            nonlocal count
            if isinstance(plan, NewContainer):
                for p in plan.items:
                    walk(p)
                return
            if isinstance(plan, ResultLeaf) and plan.kind not in ("const", "argument", "container"):
                found.setdefault(plan.index, count)
            count += 1

        walk(self.program.traced.plan)
        return found

    def steps_of(self, one: Needs, grids: Mapping[Sym, Grid], stage: Stage) -> int:
        """How many iterations of a loop are run between exchanges."""
        from tracebuf.dask.model import best_steps

        least = {s: min(b - a for a, b in grids[s].chunks) for s in grids}
        most = min([(least[s] - 4) // max(h.low + h.high, 1) for s, h in one.halos.items() if h.low + h.high] or [1])
        if self.steps is not None:
            return max(1, min(self.steps, most))
        width = {s: h.low + h.high for s, h in one.halos.items()}
        size = [sorted(b - a for a, b in grids[s].chunks)[len(grids[s].ends) // 2] for s in width]
        n_arrays = sum(1 for v in stage.inputs if shape_of(v))
        return max(1, min(best_steps(size, list(width.values()), n_arrays), most))

    def chunks(self, v: Value, axis: int, n: int, grids: Mapping[Sym, Grid]) -> tuple[int, ...]:
        size = shape_of(v)[axis]
        if (s := symbol_of(size)) not in grids or s is None:
            return (n,)
        parts = [grids[s].own(k, 0, delta_of(size)) for k in range(len(grids[s].ends))]
        return tuple(b - a for a, b in parts)

    def array(self, v: Value, graph: Graph, sources: Sequence[Any]) -> Any:
        """A value as a dask array; a number as one of no axes."""
        import dask
        from dask._task_spec import Alias, List, Task, TaskRef
        from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

        from tracebuf.dask.tasks import taker

        blocks = graph.blocks.get(v)
        if blocks is None or (blocks.literal is not None):
            return blocks.literal if blocks is not None else self.constant(v)
        shape, begins = shape_of(v), graph.begins.get(v)
        if any(s not in self.env for n in shape if not isinstance(n, int) for s in symbols(n)):
            raise UnsupportedError(
                f"{self.program.name} gives an array whose size the data decide, which has no chunks",
                instead="return a mask, or what is computed from the selected elements",
                location=v.defining_op.loc if v.defining_op is not None else None,
            )
        chunks = []
        for axis, size in enumerate(shape):
            s = symbol_of(size)
            if s in graph.grids and s is not None:
                grid, begin = graph.grids[s], (begins or (0,) * len(shape))[axis]
                own = [grid.own(k, begin, delta_of(size)) for k in range(len(grid.ends))]
                chunks.append(tuple(b - a for a, b in own))
            else:
                chunks.append((evaluate(size, self.env),))
        name = graph.name("tracebuf")
        tasks: dict[Any, Any] = {}
        checks = List(*map(TaskRef, graph.checks))
        for index in np.ndindex(*(len(c) for c in chunks)):
            key = (name, *index)
            source = blocks.keys(tuple(index))
            part: Any = TaskRef(source)
            if graph.checks or blocks.item is not None:
                part = taker(blocks.several and not graph.checks)(key, checked, part, checks, blocks.item)
            if not shape:
                tasks[key] = Task(key, np.asarray, part)
            else:
                tasks[key] = Alias(key, source) if isinstance(part, TaskRef) else part
        claims: Any = nullcontext()
        if self.resource is not None:
            claims = dask.annotate(resources={self.resource: self.claimed})
        stages = f"stages-{graph.token}"
        with claims:  # one layer for all results
            whole = HighLevelGraph.from_collections(stages, graph.tasks, dependencies=sources)
            layers = {**whole.layers, name: MaterializedLayer(tasks)}
        layered = HighLevelGraph(layers, {**whole.dependencies, name: {stages}})
        return self.da.Array(layered, name, tuple(chunks), dtype=dtype_of(v))

    def constant(self, v: Value) -> Any:
        if (size := self.program.flow.size(v)) is not None:
            return evaluate(size, self.env)
        op = v.defining_op
        if isinstance(op, arith.Constant):
            return dtype_of(v).type(op.attrs["value"])
        if isinstance(op, linalg.Fill) and isinstance(value := op.operand(0).defining_op, arith.Constant):
            sizes = tuple(evaluate(n, self.env) for n in shape_of(v))
            chunks = tuple(self.chunks(v, axis, n, self.grids) for axis, n in enumerate(sizes))
            return self.da.full(sizes, value.attrs["value"], dtype=dtype_of(v), chunks=chunks)
        raise UnsupportedError("a result that is no array and no number")

    def build(self, plan: Any, results: Sequence[Any]) -> Any:
        """What the function returns."""
        if isinstance(plan, ResultLeaf):
            if plan.kind == "const":
                return plan.value
            if plan.kind == "argument":
                return self.values[plan.index]
            if plan.kind not in ("container", "text", "text array", "items", "rows", "alternatives", "kept"):
                return results[plan.index]
        if isinstance(plan, ChosenResult):
            return self.chosen(results[plan.index], self.build(plan.then, results), self.build(plan.orelse, results))
        if isinstance(plan, NewContainer) and (plan.kind is dict or (plan.kind in (tuple, list) and not plan.keys)):
            items = [self.build(p, results) for p in plan.items]
            return dict(zip(plan.keys or (), items)) if plan.kind is dict else plan.kind(items)
        raise UnsupportedError(
            f"{self.program.name} returns what is no array, number, tuple, list or dict of these, or a list that grows",
            instead="return arrays: one that a list is stored into, np.zeros((n, *x.shape)), in place of it",
        )


    def chosen(self, condition: Any, then: Any, otherwise: Any) -> Any:
        """What the function returns on one path or on another."""
        if condition is None:  # it is only asked whether it can be built
            return None
        if np.shape(then) != np.shape(otherwise):
            raise UnsupportedError(
                f"{self.program.name} returns arrays of one shape or another, by path", location=self.program.func.loc
            )
        return self.da.where(condition, then, otherwise)


def flat(a: Any) -> list[Any]:
    if isinstance(a, dict):
        a = list(a.values())
    return [y for x in a for y in flat(x)] if isinstance(a, (list, tuple)) else [a]


def literal(a: Any, v: Value) -> Any:
    """An argument that is a number or a small array, as it is."""
    if isinstance(v.type, ScalarType):
        return a
    return np.asarray(a)
