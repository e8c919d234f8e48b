"""A call's stages as a graph of dask: windows put together out of blocks, stages run on them, parts combined."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from operator import getitem
from typing import Any

import numpy as np

from tracebuf.dask import worker
from tracebuf.dask.flow import shape_of
from tracebuf.dask.grid import Begins, Grid, Halo, Needs, needs_of
from tracebuf.dask.program import Program
from tracebuf.dask.split import Builder, Stage, Text, delta_of, symbol_of
from tracebuf.dask.tiles import plan_of, tiling_of
from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.frozen import plain
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, Sym, evaluate, symbols
from tracebuf.ir.types import ScalarType, ShapedType

Index = tuple[int, ...]
TREE = 8
"""How many parts of a reduction are combined at once."""
LONG = 20_000
"""How long the text of a stage may be that is sent with each of its chunks."""


@plain()
class Blocks:
    """A value as blocks: the key of each, by the numbers of the chunks of its axes. What the key stands for may be all
    that a stage gives, of which it is an `item`, one of `several`. A number of Python's is a `literal` of its own. What
    is in a `file` is read there, whatever its blocks are."""

    keys: Callable[[Index], Any]
    literal: Any = None
    item: int | None = None
    file: Any = None
    several: bool = False


@plain()
class Call:
    """The call of the function itself: its values, names, the value that each argument of the program is, and where
    each result of the program stands in what it returns."""

    function: Any
    values: tuple[Any, ...]
    names: tuple[str, ...]
    places: Mapping[int, int]
    results: Mapping[int, int]


Part = tuple[Any, int | None, worker.Bounds]
"""Of a block by its key: the item, and where."""


@plain()
class Rims:
    """What chunks need of their neighbours, by the index of these: parts, numbered."""

    parts: dict[Index, dict[Part, int]] = field(default_factory=dict)

    def place(self, index: Index, part: Part, near: list[Index]) -> tuple[int, int]:
        """The number of the neighbour among those that a chunk has, and of the part among those taken of it."""
        found = self.parts.setdefault(index, {})
        if index not in near:
            near.append(index)
        return near.index(index), found.setdefault(part, len(found))


@plain()
class Reader:
    """A task that has a block as its input of this number, and gives `n_outputs` numbers or arrays that are not cut."""

    key: Any
    number: int
    n_outputs: int


class Unwritten(Exception):
    """A stage has no text that a worker could read."""


@plain()
class Graph:
    """What is built: tasks by key."""

    program: Program
    cut: frozenset[Sym]
    grids: Mapping[Sym, Grid]
    env: Mapping[Sym, int]
    token: str
    call: Call | None
    tasks: dict[Any, Any] = field(default_factory=dict)
    blocks: dict[Value, Blocks] = field(default_factory=dict)
    begins: Begins = field(default_factory=dict)
    readers: dict[Any, Reader] = field(default_factory=dict)
    """By the key of a block the task that takes of it what neighbours need too, beside what it does."""
    checks: list[Any] = field(default_factory=list)
    """The keys of tasks that raise what the function raises, without which there are no results."""
    serial: Any = field(default_factory=itertools.count)

    def name(self, what: str) -> str:
        return f"{what}-{self.token}-{next(self.serial)}"

    def symbols_of(self, v: Value) -> list[Sym | None]:
        """Of each axis the symbol, where it is cut."""
        return [s if (s := symbol_of(n)) in self.cut else None for n in shape_of(v)]

    # -- stages
    def stage(self, stage: Stage, steps: Mapping[Any, int], needs: Needs | None = None) -> None:
        """Adds the tasks of a stage. `steps`: how many iterations of a loop are run between exchanges; `needs`: what it
        needs, where that is known."""
        if stage.loop is None:
            self.once(stage, needs or needs_of(self.program, stage, self.cut, self.begins), ())
            return
        loop = stage.loop
        first, last, step = (self.number(self.program.flow.size(v)) for v in loop.operands[:3])
        total = max(0, -(-(last - first) // step))
        if total == 0:
            for init, result in zip(loop.inits, loop.results):
                self.blocks[result] = self.blocks[init.value]
                self.begins[result] = self.begins.get(init.value, (0,) * len(shape_of(result)))
            return
        k = max(1, min(steps.get(loop, total), total))
        kept = dict(self.blocks)
        done = 0
        texts: dict[int, tuple[Needs, Text]] = {}
        while done < total:
            now = min(k, total - done)
            needs = needs_of(self.program, stage, self.cut, self.begins, now) if now not in texts else texts[now][0]
            texts[now] = needs, self.once(stage, needs, (first + done * step, first + (done + now) * step),
                                          texts.get(now, (needs, None))[1])  # fmt: skip
            done += now
            results = [self.blocks[r] for r in loop.results]
            self.blocks.update(kept)
            for init, blocks in zip(loop.inits, results):
                self.blocks[init.value] = blocks
        self.blocks.update(kept)
        for result, blocks in zip(loop.results, results):
            self.blocks[result] = blocks

    def number(self, d: Dim | None) -> int:
        assert d is not None
        return evaluate(d, self.env)

    def once(self, stage: Stage, needs: Needs, bounds: tuple[int, ...], text: Text | None = None) -> Text:
        from dask._task_spec import DataNode, List, Task, TaskRef

        axes = self.axes_of(stage)
        halos = {s: needs.halos.get(s, Halo()) for s in axes}
        owned = self.owned(stage, halos)
        program: worker.StageProgram | worker.FunctionProgram
        if text is None:
            around = frozenset(s for s, h in halos.items() if h.around and len(self.grids[s].ends) > 1)
            text = Builder(self.program, stage, self.cut, owned, around).text()
        found = None if self.cut else self.by_function(stage, text, owned)
        if found is not None:
            program = found
        else:
            try:
                program = self.by_text(stage, text)
            except (TracebufError, NotImplementedError, Unwritten) as reason:
                if not self.cut or (found := self.by_function(stage, text, owned)) is None:
                    raise Unwritten(str(reason)) from reason
                program = found
        sent: Any = program  # in each task, which dask then makes one with that before it, where there is no other
        if not isinstance(program, worker.StageProgram) or len(program.text) > LONG:
            program_key = self.name(f"program-{text.name}")
            self.tasks[program_key] = DataNode(program_key, program)
            sent = TaskRef(program_key)
        plan = plan_of(self, stage, halos, owned) if isinstance(program, worker.StageProgram) else None
        name = self.name(text.name)
        self.begins.update(needs.begins)
        made: dict[Index, Any] = {}
        rims = Rims()
        takers: list[tuple[Any, worker.Job, Any, list[Index]]] = []
        for index in itertools.product(*(range(len(self.grids[s].ends)) for s in axes)):
            at = dict(zip(axes, index))
            windows = {s: self.grids[s].window(k, halos[s]) for s, k in at.items()}
            inputs, specs = [], []
            near: list[Index] = []
            for k, v in enumerate(stage.inputs):
                window, parts = self.window(v, windows, rims, near, k in owned)
                specs.append(window)
                if window is None:
                    inputs.append(parts)
                else:
                    inputs.append(List(*parts))
            job = worker.Job(
                tuple(specs),
                self.numbers(text, stage, needs, windows, at, self.grids) + bounds,
                tuple(self.trim(stage, v, needs, windows, at) for v in stage.outputs),
                tiling_of(self, plan, stage, text, needs, halos, windows, at, bounds, owned) if plan else None,
            )
            key = (name, *index)
            takers.append((key, job, List(*inputs), near))
            made[index] = key
        refs = {index: self.rim(parts, f"rim-{name}", index) for index, parts in rims.parts.items()}
        cut = any(s is not None for v in stage.outputs for s in self.symbols_of(v))
        for key, job, given, near in takers:
            neighbours = List(*(refs[index] for index in near))
            self.tasks[key] = Task(key, worker.run, sent, DataNode(None, job), given, neighbours)
            for k, (window, parts) in enumerate(zip(job.windows, given.args)):
                if cut or window is None or window.parts is not None or not window.shape:
                    continue
                if isinstance(parts.args[0], TaskRef):  # no file
                    self.readers.setdefault(parts.args[0].key, Reader(key, k, len(stage.outputs)))
        if stage.stops and not cut:
            self.checks += made.values()
        self.give(stage, axes, made, name)
        return text

    def by_text(self, stage: Stage, text: Text) -> worker.StageProgram:
        """The stage as text, which is compiled here to see whether it can be. What it calls are NumPy's own loops."""
        for callee in text.callees:
            if callee.loop is None:
                raise Unwritten(f"it calls {callee.name}")
        try:
            callees = pickle.dumps(text.callees) if text.callees else b""
        except (pickle.PicklingError, AttributeError, TypeError) as reason:
            raise Unwritten(str(reason)) from reason
        program = worker.StageProgram(text.name, text.text, tuple(map(dtype_of, stage.outputs)), callees)
        program.program()
        return program

    def by_function(self, stage: Stage, text: Text, owned: frozenset[int]) -> worker.FunctionProgram | None:
        """The function itself as a stage, where that is all there is to do."""
        call, args = self.call, self.program.func.args
        if call is None or text.trims or text.places or stage.loop is not None or (text.globals and self.cut):
            return None
        if any(v not in args for v in stage.inputs):
            return None
        inputs = tuple(call.places[args.index(v)] for v in stage.inputs)
        stored = {v: call.places[n] for n, v in self.program.stored.items()}
        returned = {v: call.results[n] for n, v in enumerate(self.program.returned) if n in call.results}
        if any(v not in stored and v not in returned for v in stage.outputs):
            return None  # a flag that says which of several a result is
        outputs = tuple(-1 - stored[v] if v in stored else returned[v] for v in stage.outputs)
        shapes = {place: args[k] for k, place in call.places.items()}
        constants = tuple(
            worker.Unread(tuple(evaluate(n, self.env) for n in shape_of(shapes[k])), v.dtype)
            if isinstance(v, np.ndarray) and v.ndim and k in shapes else v for k, v in enumerate(call.values)
        )  # fmt: skip
        text.locals.clear()
        text.globals.clear()
        return worker.FunctionProgram(
            call.function, inputs, constants, (), tuple(stored.values()), outputs,
            tuple(k in owned for k in range(len(inputs))),
        )  # fmt: skip

    def axes_of(self, stage: Stage) -> list[Sym]:
        """The symbols along which a stage is cut."""
        values = [*stage.inputs, *stage.outputs]
        found = dict.fromkeys(s for v in values for s in self.symbols_of(v) if s is not None)
        for fold in stage.folds:
            found.update(dict.fromkeys(s for _, s in fold.loops))
        return list(found)

    def owned(self, stage: Stage, halos: Mapping[Sym, Halo]) -> frozenset[int]:
        """The inputs whose windows are put together for the stage alone."""
        found = set()
        for k, v in enumerate(stage.inputs):
            for s in self.symbols_of(v):
                if s is not None and halos[s] != Halo() and len(self.grids[s].ends) > 1:
                    found.add(k)
        return frozenset(found)

    def numbers(
        self, text: Text, stage: Stage, needs: Needs, windows: Mapping[Sym, tuple[int, int]], at: Mapping[Sym, int],
        grids: Mapping[Sym, Grid],
    ) -> tuple[int, ...]:  # fmt: skip
        """The indices that a stage is passed for a window, of a chunk of these grids."""
        local = dict(self.env) | {s: w1 - w0 for s, (w0, w1) in windows.items()}
        found = [evaluate(d, local) for d in text.locals] + [evaluate(d, self.env) for d in text.globals]
        for op, d in text.trims:
            s = next(s for f in stage.folds if f.op is op for loop, s in f.loops if loop == d)
            begin, delta = needs.folds[op, d]
            a, b = grids[s].own(at[s], begin, delta)
            found += [a - windows[s][0], max(b - a, 0)]
        return (*found, *(windows[s][0] for s in text.places))

    def trim(
        self, stage: Stage, v: Value, needs: Needs, windows: Mapping[Sym, tuple[int, int]], at: Mapping[Sym, int]
    ) -> worker.Bounds | None:
        """What of a stage's output is the chunk's own."""
        shape = shape_of(v)
        if not shape:
            return None
        begins = needs.begins.get(v, (0,) * len(shape))
        bounds = []
        for axis, size in enumerate(shape):
            s = symbol_of(size)
            if s is not None and s in windows:
                a, b = self.grids[s].own(at[s], begins[axis], delta_of(size))
                bounds.append((a - windows[s][0], b - windows[s][0]))
            elif any(x not in self.env for x in symbols(size)):
                return None
            else:
                bounds.append((0, evaluate(size, self.env)))
        return tuple(bounds)

    # -- windows
    def rim(self, parts: Mapping[Part, int], name: str, index: Index) -> Any:
        """The task that takes of a chunk what its neighbours need: one for all of them, for tasks cost more; where an
        earlier stage has the block and gives little, the task of that."""
        from dask._task_spec import DataNode, Task, TaskRef

        key: Any = (name, *index)
        blocks = list(dict.fromkeys(block for block, _, _ in parts))
        if len(blocks) == 1 and (reader := self.readers.pop(blocks[0], None)) is not None:
            wanted = tuple((reader.number, inside) for _, _, inside in parts)
            task = self.tasks[reader.key]
            self.tasks[reader.key] = Task(reader.key, worker.run_and_rim, *task.args, DataNode(None, wanted))
            return Task(None, worker.after, TaskRef(reader.key), reader.n_outputs)
        taken = tuple((blocks.index(block), item, inside) for block, item, inside in parts)
        self.tasks[key] = Task(key, worker.rim, DataNode(None, taken), *(TaskRef(block) for block in blocks))
        return TaskRef(key)

    def window(
        self, v: Value, windows: Mapping[Sym, tuple[int, int]], rims: Rims, near: list[Index], owned: bool
    ) -> tuple[worker.Window | None, Any]:
        """An input's window, and the keys of the blocks that are in it as a whole. `owned`: the stage stores to it, so
        that it is never a block itself."""
        from dask._task_spec import DataNode, TaskRef

        blocks = self.blocks[v]
        if not isinstance(v.type, ShapedType):
            return None, blocks.literal if blocks.literal is not None else TaskRef(blocks.keys(()))
        shape = shape_of(v)
        axes = []
        for axis, size in enumerate(shape):
            axes.append(self.pieces(v, axis, size, windows, blocks.file is not None))
        sizes = tuple(sum(p[2][1] - p[2][0] for p in axis) for axis in axes)
        bounds, taken = [], list[tuple[int, int] | None]()
        parts: list[Any] = []
        for combination in itertools.product(*axes):
            index = tuple(p[0] for p in combination)
            inside = tuple(p[1] for p in combination)
            full = blocks.file is not None or all(p[3] for p in combination)
            key = blocks.keys(index)
            taken.append(None if full else rims.place(index, (key, blocks.item, inside), near))
            if blocks.file is not None:
                parts.append(DataNode(None, worker.InFile(blocks.file, inside)))
            elif full:
                parts.append(TaskRef(key))
            bounds.append(tuple(p[2] for p in combination))
        if len(bounds) == len(parts) == 1 and not owned:
            return worker.Window(sizes, None, (), blocks.item), parts
        return worker.Window(sizes, tuple(bounds), tuple(taken), blocks.item), parts

    def pieces(
        self, v: Value, axis: int, size: Dim, windows: Mapping[Sym, tuple[int, int]], whole: bool
    ) -> list[tuple[int, tuple[int, int], tuple[int, int], bool]]:
        """Of one axis the blocks that a window touches: the number of the block, where in it, where in the window, and
        whether that is all of the block. `whole`: all of the axis is one."""
        s = symbol_of(size)
        if s not in self.cut or s is None:
            if not symbols(size) <= self.env.keys():
                raise UnsupportedError(
                    f"an array of {size} places, which is known only where it is computed, in a later step of several",
                    instead="make what comes before it, or it, a function of its own",
                    location=v.defining_op.loc if v.defining_op is not None else self.program.func.loc,
                )
            n = evaluate(size, self.env)
            return [(0, (0, n), (0, n), True)]
        grid, delta = self.grids[s], delta_of(size)
        w0, w1 = windows.get(s, (0, grid.n))
        w1 += delta
        n = grid.n + delta
        begin = (self.begins.get(v) or (0,) * (axis + 1))[axis]
        found = []
        blocks = [(0, n)] if whole else [grid.own(k, begin, delta) for k in range(len(grid.ends))]
        for turn in (-1, 0, 1) if w0 < 0 or w1 > n else (0,):
            for k, (a, b) in enumerate(blocks):
                low, high = max(a + turn * n, w0), min(b + turn * n, w1)
                if low < high:
                    inside = low - a - turn * n, high - a - turn * n
                    found.append((k, inside, (low - w0, high - w0), inside == (0, b - a)))
        return sorted(found, key=lambda p: p[2])

    # -- what a stage gives
    def give(self, stage: Stage, axes: Sequence[Sym], made: Mapping[Index, Any], name: str) -> None:
        """The blocks of a stage's outputs."""
        from dask._task_spec import TaskRef

        from tracebuf.dask.tasks import taker

        several = len(stage.outputs) > 1
        folds = {f.op.results[f.number]: f for f in stage.folds}
        alike: dict[Any, list[int]] = {}
        for k, v in enumerate(stage.outputs):
            symbols = self.symbols_of(v)
            if (fold := folds.get(v)) is not None:
                own = tuple(s for s in symbols if s is not None)
                alike.setdefault((own, frozenset(s for _, s in fold.loops)), []).append(k)
                continue
            groups = grouped(axes, made, symbols, frozenset())
            if any(s is not None for s in symbols):
                keys, item = {mine: parts[0] for mine, parts in groups.items()}, k
            else:
                (whole,) = groups[(0,) * len(symbols)]
                key = (f"{name}-{k}", *whole[1:])
                self.tasks[key] = taker(several)(key, getitem, TaskRef(whole), k)
                keys, item = {(0,) * len(symbols): key}, None
            self.blocks[v] = Blocks(keys.__getitem__, None, item, several=several)
        for (own, over), numbers in alike.items():
            self.combined(stage, axes, made, name, own, over, numbers)

    def combined(
        self, stage: Stage, axes: Sequence[Sym], made: Mapping[Index, Any], name: str, own: Sequence[Sym],
        over: frozenset[Sym], numbers: list[int],
    ) -> None:  # fmt: skip
        """The blocks of outputs that are cut along the same symbols and combined over the same: one tree for all of
        them, whose parts are all that a stage gives where the rest of it is numbers and arrays that are not cut."""
        from dask._task_spec import Task, TaskRef

        from tracebuf.dask.tasks import taker

        folds = {f.op.results[f.number]: f for f in stage.folds}
        values = [stage.outputs[k] for k in numbers]
        ufuncs = [folds[v].ufunc for v in values]
        base = f"{name}-{numbers[0]}"
        found: dict[Index, Any] = {}
        large = any(s is not None for v in stage.outputs if v not in folds for s in self.symbols_of(v))
        for mine, parts in grouped(axes, made, own, over).items():
            if large or len(parts) == 1:
                picked = [(base, *key[1:]) for key in parts]
                for key, whole in zip(picked, parts):
                    self.tasks[key] = taker(len(stage.outputs) > 1)(key, worker.pick, TaskRef(whole), numbers)
                parts = picked
            found[mine] = self.tree(ufuncs, parts, f"{base}-tree", range(len(numbers)) if large else numbers)
        for place, v in enumerate(values):
            if isinstance(v.type, ShapedType):
                cut = [axis for axis, s in enumerate(self.symbols_of(v)) if s is not None]
                keys = lambda index, cut=cut: found[tuple(index[k] for k in cut)]  # noqa: E731
                self.blocks[v] = Blocks(keys, None, place)
                continue
            number = f"{base}-{place}-number"
            self.tasks[number] = Task(number, getitem, TaskRef(found[()]), place)
            self.blocks[v] = Blocks(lambda _, number=number: number)  # type: ignore[misc]

    def tree(self, ufuncs: list[str], parts: list[Any], name: str, numbers: Sequence[int]) -> Any:
        """The key of what reductions give, whose parts, items of these numbers, are combined a few at a time."""
        from dask._task_spec import List, Task, TaskRef

        level = 0
        while len(parts) > 1:
            level += 1
            new = []
            for k in range(0, len(parts), TREE):
                key = (name, level, parts[k], next(self.serial))
                group = [TaskRef(p) for p in parts[k : k + TREE]]
                self.tasks[key] = Task(key, worker.combine, ufuncs, list(numbers), List(*group))
                new.append(key)
            parts, numbers = new, range(len(ufuncs))
        return parts[0]


def grouped(
    axes: Sequence[Sym], made: Mapping[Index, Any], symbols: Sequence[Sym | None], over: frozenset[Sym]
) -> dict[Index, list[Any]]:
    """Of a value's chunks the keys of the parts that it is combined from, `over` these symbols; one where it is not.
    Along others that it does not have, all chunks give the same."""
    groups: dict[Index, list[Any]] = {}
    for index, key in made.items():
        at = dict(zip(axes, index))
        if all(at[s] == 0 for s in axes if s not in symbols and s not in over):
            groups.setdefault(tuple(at[s] if s is not None else 0 for s in symbols), []).append(key)
    return groups


def dtype_of(v: Value) -> np.dtype:
    """The dtype of a value."""
    type_ = v.type
    assert isinstance(type_, (ScalarType, ShapedType))
    return type_.dtype if isinstance(type_, ScalarType) else type_.element.dtype
