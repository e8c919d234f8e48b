"""Calls replaced by what they call, so that a function of a module can be run or compiled by itself.

At either level: what the analysis decided at a call stays as it is. Limitations: not for recursive functions, nor for
functions that are only declared, unless they are given. A callee of several blocks becomes an scf.execute_region. Each
copy of a callee has size symbols of its own, as its sizes may be others at each call. MLIR counterpart: -inline.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from tracebuf.errors import UnsupportedError
from tracebuf.ir.clone import clone_func, clone_region
from tracebuf.ir.core import Block, Op, Region, Value
from tracebuf.ir.dims import Sym
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import Type, same_type, with_symbols
from tracebuf.ops.arrays import tensor
from tracebuf.ops.control import scf
from tracebuf.ops.control.func import Call
from tracebuf.ops.memory import memref


def inline_calls(module: Module, name: str, given: Collection[str] = ()) -> Func:
    """A copy of the function without calls but of what is given; KeyError for an unknown name, UnsupportedError for
    what cannot be run."""
    func, _ = clone_func(module.func(name))
    while calls := [op for op in func.walk() if isinstance(op, Call) and op.callee not in given]:
        for call in calls:
            callee = module.func(call.callee)
            if callee.external:
                raise UnsupportedError(f"@{call.callee} is only declared: it cannot be run", location=call.loc)
            if name == call.callee or _reaches(module, callee, call.callee):
                raise UnsupportedError(f"@{call.callee} calls itself: it cannot be run here", location=call.loc)
            _inline(call, callee, func)
    return func


def called_from(module: Module, name: str) -> list[Func]:
    """The function of that name and those that it calls, directly or not, as far as they have bodies."""
    found = {name: module.func(name)}
    work = [module.func(name)]
    while work:
        for op in work.pop().walk():
            if isinstance(op, Call) and op.callee not in found:
                found[op.callee] = module.func(op.callee)
                work.append(found[op.callee])
    return [f for f in found.values() if not f.external]


def may_be_inlined(module: Module, name: str) -> bool:
    """Whether no function that is called branches between blocks, and none calls itself."""
    funcs = called_from(module, name)
    return not any(op.successors for f in funcs for op in f.walk()) and not any(
        _reaches(module, f, f.name) for f in funcs
    )


def _reaches(module: Module, f: Func, goal: str) -> bool:
    work, seen = [f], {f.name}
    while work:
        for op in work.pop().walk():
            if isinstance(op, Call):
                if op.callee == goal:
                    return True
                if op.callee not in seen:
                    seen.add(op.callee)
                    work.append(module.func(op.callee))
    return False


def _inline(call: Call, callee: Func, func: Func) -> None:
    block = call.block
    assert block is not None
    mapping: dict[Value, Value] = {}
    body = clone_region(callee.body, mapping)
    renamed = _rename_sizes(body, callee, certain=block is func.block)
    made: list[Op] = []
    for old, arg, value in zip(callee.args, body.blocks[0].args, call.operands, strict=True):
        mapping[old] = _as(value, arg, call, made)
        arg.replace_all_uses(mapping[old])
    if len(body.blocks) == 1:
        *ops, end = body.blocks[0].ops
        made += ops
        results = end.operands
        end.drop_uses()
    else:
        region = _as_region(body, call)
        made.append(region)
        results = region.results
    for old, new in zip(call.results, results, strict=True):
        old.replace_all_uses(_as(new, old, call, made))
    call.drop_uses()
    place = block.op_index(call)
    block.replace_ops([*block.ops[:place], *made, *block.ops[place + 1 :]])
    func.symbols.update({renamed[s]: mapping[v] for s, v in callee.symbols.items()})


def _rename_sizes(body: Region, callee: Func, *, certain: bool) -> Mapping[Sym, Sym]:
    """Gives the copy symbols of its own; what they are for those of the callee. `certain`: whether the call is
    certain to be reached; elsewhere an argument that is a size in the callee may be negative."""
    values = [a for b in body.blocks for a in b.args]
    for op in body.walk():
        values += [*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)]
    renamed: dict[Sym, Sym] = {}

    def own(symbol: Sym) -> Sym:
        if symbol not in renamed:
            known = certain or symbol.kind == "unnamed"
            lo, hi = (symbol.lo, symbol.hi) if known else (None, None)
            renamed[symbol] = Sym(symbol.name, symbol.kind, lo, hi)
        return renamed[symbol]

    for symbol in callee.symbols:
        own(symbol)
    types: dict[int, tuple[Type, Type]] = {}
    for value in values:
        old = value.type
        if id(old) not in types:
            types[id(old)] = old, with_symbols(old, own)
        value.type = types[id(old)][1]
    return renamed


def _as(value: Value, like: Value, call: Call, made: list[Op]) -> Value:
    """The value cast to the type on the other side of the call."""
    if same_type(value.type, like.type):
        return value
    kind = tensor.Cast if value.is_tensor else memref.Cast
    made.append(kind([value], [like.type], call.loc))
    return made[-1].result


def _as_region(body: Region, call: Call) -> scf.ExecuteRegion:
    first = body.blocks[0]
    entry = Block()
    entry.replace_ops(first.ops)
    ends = [b.ops[-1] for b in body.blocks if b.ops[-1].name == "func.return"]
    if len(ends) != 1:
        raise UnsupportedError(f"@{call.callee} returns in several places: it cannot be inlined", location=call.loc)
    home = entry if ends[0] in entry.ops else ends[0].block
    assert home is not None
    yielded = scf.Yield.of(ends[0].operands, ends[0].loc)
    ends[0].drop_uses()
    home.replace_ops([*home.ops[:-1], yielded])
    types = [v.type for v in yielded.operands]
    return scf.ExecuteRegion([], types, call.loc, {}, [Region(entry, *body.blocks[1:])])
