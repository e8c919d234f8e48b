"""Stores to the elements that a mask selects, of others at the same places (`y[m] = x[m]`, `y[m] += x[m]`): element by
element, by the mask. The loops of `tracebuf.scatter` may store anywhere, these store to their own place alone. What is
reduced of the elements that a mask selects (`x[m].sum()`) is of all, to which the others give what changes nothing.
"""

from __future__ import annotations

from dataclasses import replace

from tracebuf.dask.flow import shape_of
from tracebuf.dask.program import Program
from tracebuf.dask.rewrites.extremes import extreme
from tracebuf.dask.rewrites.starts import NEUTRAL
from tracebuf.dask.rules import NAMES, folding
from tracebuf.dask.split import symbol_of
from tracebuf.ir.clone import clone_op
from tracebuf.ir.core import Block, Op, Use, Value
from tracebuf.ir.dims import Sym
from tracebuf.ir.types import I1, INDEX, ScalarType, TensorType
from tracebuf.ops.arrays import linalg, tensor
from tracebuf.ops.arrays.gather import Element
from tracebuf.ops.arrays.scatter import Scatter
from tracebuf.ops.memory.indexing import identity_map
from tracebuf.ops.scalars import arith


def selected_apart(program: Program, cut: frozenset[Sym]) -> Program | None:
    """The program whose stores along axes that are cut, each loop's to its own place, are choices; None where there
    are none."""
    found = False
    for op in list(program.func.walk()):
        if isinstance(op, Scatter) and op.results and any(symbol_of(n) in cut for n in shape_of(op.operand(op.n_ins))):
            if is_own_place(op):
                choose(op)
                found = True
    return replace(program) if found else None


def reduced_of_selected(program: Program, cut: frozenset[Sym]) -> Program | None:
    """The program where what is computed, element by element, of what a mask selects out of arrays that are cut is
    computed before it is selected, and what is reduced or stored back is of all elements; None where there is none."""
    found = False
    for op in list(program.func.block.ops):
        if isinstance(op, Scatter):
            if (source := stored_back(op)) is not None and any(symbol_of(n) in cut for n in shape_of(source)):
                store_all(op, source)
                found = True
        elif isinstance(op, linalg.Generic) and len(op.loop_dims()) == 1:
            mask = mask_of(op)
            if mask is not None and any(symbol_of(n) in cut for n in shape_of(mask)):
                if op.all_parallel:
                    compute_before(op, mask)
                else:
                    reduce_all(op, mask)
                found = True
    return replace(program) if found else None


def selection(v: Value) -> tuple[Value, Value] | None:
    """(the mask, what it selects from) of an array that holds the selected elements and nothing else."""
    op = v.defining_op
    if not isinstance(op, Scatter) or not op.attrs["fills"] or len(op.body.ops) != 1:
        return None
    selected, counts, value, *place = op.body.terminator.operands
    dest = op.operand(op.n_ins).defining_op
    ins = op.body.args[: op.n_ins]
    if selected is not counts or place != [op.step] or not isinstance(dest, tensor.Empty):
        return None
    if selected not in ins or value not in ins:
        return None
    mask, source = op.operand(selected.index), op.operand(value.index)
    whole = identity_map(len(shape_of(mask)))
    if any(op.maps[k.index] != whole for k in (selected, value)) or len(op.maps[0].results) != len(shape_of(source)):
        return None
    return mask, source


def mask_of(op: linalg.Generic) -> Value | None:
    """The mask that selects all arrays of an op; None where there is none, or it has other arrays too."""
    masks: list[Value] = []
    for u in op.uses[: op.n_ins]:
        if goes_along(op, u):
            chosen = selection(u.value)
            if chosen is None:
                return None
            masks.append(chosen[0])
    if not masks or any(m is not masks[0] for m in masks) or any(isinstance(o, linalg.Index) for o in op.walk()):
        return None
    if op.all_parallel:
        return masks[0] if not any(op.reads_out(u) for u in op.out_uses) and len(op.results) == 1 else None
    combined = [folding(op, out) for out in op.out_uses]
    if any(f is None or goes_along(op, out) or nothing_of(f[0]) is None for f, out in zip(combined, op.out_uses)):
        return None
    return masks[0]


def goes_along(op: linalg.Generic, use: Use) -> bool:
    """Whether an op of one loop takes each element of an operand, not one for all."""
    return any(d is not None for d in op.maps[use.index].results)


def nothing_of(combine: Op) -> bool | int | float | None:
    """What changes nothing, combined by an op; None where it is not known."""
    element = combine.results[0].type
    if not isinstance(element, ScalarType) or element.is_complex:
        return None
    if (name := NAMES[type(combine)]) in NEUTRAL:
        return element.dtype.type(NEUTRAL[name]).item()  # type: ignore[no-any-return]
    return extreme(element, name == "maximum")[1] if name in ("maximum", "minimum") else None


def compute_before(op: linalg.Generic, mask: Value) -> None:
    """Computes of all elements what an op computes of selected ones, and selects then."""
    block, rank = op.block, len(shape_of(mask))
    assert block is not None
    element = op.results[0].tensor_type.element
    ins, maps, packed = [], [], None
    for u in op.uses[: op.n_ins]:
        chosen = selection(u.value) if goes_along(op, u) else None
        packed = packed if chosen is None else u.value.defining_op
        ins.append(u.value if chosen is None else chosen[1])
        maps.append(identity_map(rank) if chosen else linalg.AffineMap(rank, op.maps[u.index].results))
    assert isinstance(packed, Scatter)

    def add(new: Op) -> Value:
        assert block is not None
        block.insert_before(op, new)
        return new.results[0]

    dest = packed.operand(packed.n_ins).defining_op
    assert isinstance(dest, tensor.Empty)
    sizes = [n if isinstance(n, int) else add(tensor.Dim.of(mask, k)) for k, n in enumerate(shape_of(mask))]
    body, mapping = Block([a.type for a in op.body.args]), dict[Value, Value]()
    mapping.update(zip(op.body.args, body.args))

    def put(new: Op) -> Op:
        body.append(new)
        return new

    for o in op.body.ops:
        clone_op(o, mapping, put)
    whole = add(tensor.Empty.of(TensorType(shape_of(mask), element), sizes, op.loc))
    kinds = ["parallel"] * rank
    made = add(linalg.Generic.of(ins, [whole], [*maps, identity_map(rank)], kinds, body, op.loc))
    type_ = TensorType(shape_of(op.results[0]), element)
    few = add(tensor.Empty.of(type_, list(dest.operands), op.loc))
    chosen_body = Block([I1, element, type_, INDEX])
    yes, value, _, place = chosen_body.args
    chosen_body.append(type(packed.body.terminator)([yes, yes, value, place], [], op.loc, {}))
    result = add(Scatter.into([mask, made], few, [identity_map(rank)] * 2, chosen_body, op.loc, fills=True))
    unread = [u.value.defining_op for u in op.uses]
    op.results[0].replace_all_uses(result)
    op.erase()
    erase_unread(unread)


def stored_back(op: Scatter) -> Value | None:
    """What is stored by an op that stores selected elements to where the same mask selects: the array out of which they
    were selected; None for another op."""
    dest = op.body.args[op.n_ins]
    if op.attrs["fills"] or not op.results or dest.uses or op.loop_dims() != shape_of(op.operand(op.n_ins)):
        return None
    selected, counts, value, *places = op.body.terminator.operands
    own = all(isinstance(v.defining_op, linalg.Index) and v.defining_op.dim == k for k, v in enumerate(places))
    read = value.defining_op
    if not own or selected is not counts or not isinstance(read, Element) or len(read.operands) != 2:
        return None
    at, packed = read.operand(1), read.operand(0)
    if isinstance(at.defining_op, arith.Select):  # one element is stored to all, and one is selected
        at = at.defining_op.operand(2)
    if packed in op.body.args[: op.n_ins]:
        packed = op.operand(packed.index)
    chosen = selection(packed)
    if at is not op.step or chosen is None or selected not in op.body.args[: op.n_ins]:
        return None
    mask = op.operand(selected.index)
    if op.maps[selected.index] != identity_map(len(shape_of(mask))) or not is_same(mask, chosen[0]):
        return None
    return chosen[1]


def is_same(a: Value, b: Value) -> bool:
    """Whether two values are computed element by element in the same way of the same values."""
    x, y = a.defining_op, b.defining_op
    if a is b:
        return True
    if isinstance(x, arith.Constant) and isinstance(y, arith.Constant):
        return a.type == b.type and repr(x.attrs["value"]) == repr(y.attrs["value"])
    if type(x) is not linalg.Generic or type(y) is not linalg.Generic or a.index != b.index:
        return False
    if x.attrs != y.attrs or a.type != b.type or not x.all_parallel:
        return False
    if len(x.operands) != len(y.operands) or any(o.reads_out(u) for o in (x, y) for u in o.out_uses):
        return False
    alike: dict[Value, Value] = dict(zip(x.body.args, y.body.args))
    if len(x.body.ops) != len(y.body.ops) or any(o.regions for o in x.body.ops):
        return False
    for o, p in zip(x.body.ops, y.body.ops):
        if type(o) is not type(p) or repr(o.attrs) != repr(p.attrs) or len(o.operands) != len(p.operands):
            return False
        if not all(alike.get(v) is w or v not in alike and is_same(v, w) for v, w in zip(o.operands, p.operands)):
            return False
        if [r.type for r in o.results] != [r.type for r in p.results]:
            return False
        alike.update(zip(o.results, p.results))
    return all(is_same(u.value, v.value) for u, v in zip(x.uses[: x.n_ins], y.uses[: y.n_ins]))


def store_all(op: Scatter, source: Value) -> None:
    """Puts a choice in the place of a store of selected elements."""
    block, dest, rank = op.block, op.operand(op.n_ins), len(shape_of(source))
    assert block is not None
    mask = op.operand(op.body.terminator.operands[0].index)
    element = dest.tensor_type.element
    body = Block([I1, element, element])
    chosen = arith.Select.of(body.args[0], body.args[1], body.args[2], op.loc)
    body.append(chosen)
    body.append(linalg.Yield.of([chosen.result], op.loc))
    whole = [identity_map(rank)] * 3
    new = linalg.Generic.of([mask, source], [dest], whole, ["parallel"] * rank, body, op.loc)
    block.insert_before(op, new)
    unread = [v.defining_op for v in op.operands]
    op.results[0].replace_all_uses(new.result)
    op.erase()
    erase_unread(unread)


def erase_unread(todo: list[Op | None]) -> None:
    """Erases selections that nobody reads any more."""
    while todo:
        op = todo.pop()
        if isinstance(op, (Scatter, tensor.Empty)) and op.block is not None and op.results:
            if not any(r.uses for r in op.results):
                todo += [v.defining_op for v in op.operands]
                op.erase()


def reduce_all(op: linalg.Generic, mask: Value) -> None:
    """Puts a reduction of all elements in the place of one of those that a mask selects."""
    block, rank = op.block, len(shape_of(mask))
    assert block is not None
    chosen = [selection(u.value) if goes_along(op, u) else None for u in op.uses[: op.n_ins]]
    ins = [u.value if c is None else c[1] for c, u in zip(chosen, op.uses)]
    one = [linalg.AffineMap(rank, m.results) for m in op.maps]
    maps = [m if c is None else identity_map(rank) for c, m in zip(chosen, one)]
    types = [a.type for a in op.body.args]
    body = Block([*types[: op.n_ins], I1, *types[op.n_ins :]])
    selected = body.args[op.n_ins]
    mapping: dict[Value, Value] = dict(zip(op.body.args, [a for a in body.args if a is not selected]))

    def put(new: Op) -> Op:
        body.append(new)
        return new

    folds = dict(f for f in (folding(op, out) for out in op.out_uses) if f is not None)
    for o in op.body.ops:
        if (v := folds.get(o)) is not None:
            element, number = mapping.get(v, v), nothing_of(o)
            nothing = put(arith.Constant.of(number, o.results[0].type, o.loc)).results[0]  # type: ignore[arg-type]
            mapping[v] = put(arith.Select.of(selected, element, nothing, o.loc)).results[0]
            clone_op(o, mapping, put)
            mapping[v] = element
        else:
            clone_op(o, mapping, put)
    outs = [u.value for u in op.out_uses]
    maps += [identity_map(rank), *one[op.n_ins :]]
    new = linalg.Generic.of([*ins, mask], outs, maps, ["reduction"] * rank, body, op.loc)
    block.insert_before(op, new)
    unread = [u.value.defining_op for u in op.uses[: op.n_ins]]
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses(result)
    op.erase()
    erase_unread(unread)


def is_own_place(op: Scatter) -> bool:
    """Whether each loop stores to the element of its own indices, and looks at no other one."""
    dest, body = op.body.args[op.n_ins], op.body
    looks = [u.op for u in dest.uses]
    places = [list(body.terminator.operands[3:]), *(list(o.operands[1:]) for o in looks)]
    own = all(isinstance(v.defining_op, linalg.Index) and v.defining_op.dim == k
              for place in places for k, v in enumerate(place))  # fmt: skip
    if not own or op.attrs["fills"] or op.step.uses or not all(isinstance(o, Element) for o in looks):
        return False
    return op.loop_dims() == shape_of(op.operand(op.n_ins))


def choose(op: Scatter) -> None:
    """Puts a choice in the place of a store."""
    block, dest = op.block, op.operand(op.n_ins)
    assert block is not None
    body = Block([*(a.type for a in op.body.args[: op.n_ins]), dest.tensor_type.element])
    mapping: dict[Value, Value] = dict(zip(op.body.args, body.args[: op.n_ins]))
    mapping |= {u.op.results[0]: body.args[-1] for u in op.body.args[op.n_ins].uses}

    def put(new: Op) -> Op:
        body.append(new)
        return new

    for o in op.body.ops:
        if o is not op.body.terminator and not any(r in mapping for r in o.results):
            clone_op(o, mapping, put)
    selected, _, value = (mapping[v] if v in mapping else v for v in op.body.terminator.operands[:3])
    chosen = put(arith.Select.of(selected, value, body.args[-1], op.loc))
    put(linalg.Yield.of([chosen.result], op.loc))
    rank = len(shape_of(dest))
    maps = [*op.maps[: op.n_ins], identity_map(rank)]
    new = linalg.Generic.of(op.operands[: op.n_ins], [dest], maps, ["parallel"] * rank, body, op.loc)
    block.insert_before(op, new)
    op.results[0].replace_all_uses(new.result)
    op.erase()
