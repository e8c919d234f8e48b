"""Loops that only read a loop-carried value do not store to it, so that its buffer may be read-only, or read elsewhere.

Beyond MLIR 22, which takes every initial value as written (behaviours 14, 15), as long as the loop's body has not been
analysed.
"""

from __future__ import annotations

from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.ir.core import Use, Value
from tracebuf.ops.control import scf


def only_read(flow: Dataflow, init: Use) -> bool:
    """Whether the use is a loop's initial value, and no iteration stores to what comes from it: carried in place, or
    permuted among the iter_args of an scf.for."""
    loop = init.op
    if not isinstance(loop, scf.Loop) or not flow.is_known(loop) or not flow.aliasing_values(init):
        return False
    start = init.index - loop.first
    if isinstance(loop, scf.While):
        if not loop.keeps(start, lambda a, b: a is b):
            return False
        return not any(is_written(flow, a, loop) for a in (loop.args[start], loop.after.args[start]))
    places, work = {start}, [start]
    while work:
        arg = loop.args[work.pop()]
        if is_written(flow, arg, loop):
            return False
        near = {use.index for use in loop.passed if use.value is arg} - places
        places |= near
        work += near
    return True


def is_written(flow: Dataflow, arg: Value, loop: scf.Loop) -> bool:
    """Whether something in the loop may store to the loop-carried value, through any alias."""
    ends = {*loop.passed, *(loop.yielded if isinstance(loop, scf.While) else ())}
    work, seen = [arg], {arg}
    while work:
        for use in work.pop().uses:
            if use in ends and use.value is arg:
                continue
            if use in ends or (flow.writes(use) and not only_read(flow, use)):
                return True
            near = [a.value for a in flow.aliasing_values(use) if a.value not in seen]
            work += near
            seen.update(near)
    return False
