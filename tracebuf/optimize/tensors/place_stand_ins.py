"""An array that a loop begins with, but never reads, is not made anew by each iteration of the loop around it.

`for i: for j: t = a.copy()` carries `t` through both loops, and before its first iteration a loop carries an array of
`t`'s constant size that stands for it. That of the inner loop is what the outer one carries anyway, where the outer
one does not use that; else it is made once, before the outer loop, unless an iteration hands it on to the next one.
"""

from __future__ import annotations

from tracebuf.ir.core import Block, Use, Value
from tracebuf.ir.func import Func
from tracebuf.ops.arrays import tensor
from tracebuf.ops.control import scf


def place_stand_ins(func: Func) -> None:
    """Places the stand-ins of constant sizes that the body of a loop makes for another loop."""
    empties = [op for op in func.walk() if isinstance(op, tensor.Empty) and not op.operands]
    for empty in empties:  # those of outer loops first
        around = empty.parent_op
        use = begun_with(empty) if isinstance(around, scf.Loop) else None
        if use is not None and isinstance(around, scf.Loop) and not take_over(empty, use, around):
            move_out(empty, use, around)


def begun_with(empty: tensor.Empty) -> Use | None:
    """The one use of a new array, as what a loop beside it begins with and does not use inside."""
    uses = list(empty.result.uses)
    loop = uses[0].op if len(uses) == 1 else None
    if not isinstance(loop, scf.Loop) or loop.block is not empty.block:
        return None
    return None if loop.args[uses[0].index - loop.first].uses else uses[0]


def take_over(empty: tensor.Empty, use: Use, around: scf.Loop) -> bool:
    """Begins the loop with an array that the loop around carries and does not use: first with the one that it leaves
    there, else with any like it."""
    made = {use.op.results[use.index - use.op.first]} if isinstance(use.op, scf.Loop) else set()
    found = [k for k, arg in enumerate(around.args) if is_like(empty, around, k) and not arg.uses]
    if not found or not around.straight:
        return False
    use.set(around.args[next((k for k in found if around.passed[k].value in made), found[0])])
    return True


def is_like(empty: tensor.Empty, loop: scf.Loop, index: int) -> bool:
    """Whether a loop carries, from a stand-in on, arrays of the type and order of axes of a new one."""
    init = loop.inits[index].value
    while isinstance(init.owner, Block) and isinstance(outer := init.owner.parent_op, scf.Loop) and init in outer.args:
        init = outer.inits[outer.args.index(init)].value
    made = init.defining_op
    return isinstance(made, tensor.Empty) and made.attrs == empty.attrs and init.type == empty.result.type


def move_out(empty: tensor.Empty, use: Use, around: scf.Loop) -> None:
    """Makes the stand-in before the loop around, and those around that."""
    loop, place = use.op, around
    assert isinstance(loop, scf.Loop)
    if hands_on(loop.results[use.index - loop.first], around):
        return
    while isinstance(place.parent_op, scf.Loop):
        place = place.parent_op
    assert isinstance(empty.block, Block) and isinstance(place.block, Block)
    empty.block.replace_ops([op for op in empty.block.ops if op is not empty])
    place.block.insert(place.block.op_index(place), empty)


def hands_on(value: Value, loop: scf.Loop) -> bool:
    """Whether a loop may hand on to its next iteration, or to another loop in it, the array of a value."""
    work, seen = [value], {value}
    while work:
        for use in work.pop().uses:
            if isinstance(use.op, scf.Loop) or isinstance(use.op.parent_op, scf.Loop) and use.op.terminator:
                return True
            near = [a.value for a in use.op.aliasing_values(use) if a.value not in seen]
            work += near
            seen.update(near)
    return False
