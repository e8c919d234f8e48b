"""Loops that only read a loop-carried value do not store to it, so that its buffer may be read-only, or read elsewhere.

Beyond MLIR 22, which takes every initial value as written (behaviours 14, 15), as long as the loop's body has not been
analysed.
"""

from __future__ import annotations

from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.storages import Storages
from tracebuf.ir.core import Relation, Use, Value
from tracebuf.ops.control import scf


def only_read(flow: Dataflow, storages: Storages, init: Use) -> bool:
    """Whether the use is a loop's initial value, and no iteration stores to what comes from it: carried in place, or
    handed on from one loop-carried value to another."""
    loop = init.op
    if not isinstance(loop, scf.Loop) or not flow.is_known(loop) or not flow.aliasing_values(init):
        return False
    start = init.index - loop.first
    if not loop.straight and not loop.keeps(start, lambda a, b: a is b):
        return False
    places = [k for k, found in enumerate(storages.reached(loop)) if start in found]
    carried = [loop.args, *([loop.after.args] if isinstance(loop, scf.While) else [])]
    return not any(is_written(flow, storages, args[k], loop) for args in carried for k in places)


def is_written(flow: Dataflow, storages: Storages, arg: Value, loop: scf.Loop) -> bool:
    """Whether something in the loop may store to the loop-carried value, through any alias; or hands on a part of it,
    or what an op that only may be it is."""
    ends = {*loop.passed, *(loop.yielded if isinstance(loop, scf.While) else ())}
    work = [(arg, True)]
    seen = set(work)
    while work:
        value, whole = work.pop()
        for use in value.uses:
            if use in ends:
                if whole and (value is arg or loop.straight):
                    continue
                return True
            inner = use.op
            if isinstance(inner, scf.Loop) and use.index >= inner.first:
                if not only_read(flow, storages, use):
                    return True
                reached = enumerate(storages.reached(inner))
                near = [(inner.results[k], whole) for k, found in reached if use.index - inner.first in found]
            elif flow.writes(use):
                return True
            else:
                near = [(a.value, whole and a.relation is Relation.EQUIVALENT) for a in flow.aliasing_values(use)]
            work += [x for x in near if x not in seen]
            seen.update(near)
    return False
