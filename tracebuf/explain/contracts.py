"""Contracts: what `max_allocations`, `max_copies`, `max_bytes` and `in_place` of `Options` allow a program.

They are checked on the memref program when it is compiled, before it runs: what breaks one raises ContractError with
the entries of `explain` that do. A limit in bytes is compared as a formula of the sizes; where that proves nothing the
program is for the sizes for which it holds, so that a call with others is checked anew.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from tracebuf.errors import ContractError
from tracebuf.explain.memory import memory_of
from tracebuf.explain.report import Entry, conflicts_of, entry_of, human, known, made_by_callee
from tracebuf.ir.core import Op, Value
from tracebuf.ir.dims import Dim, Sym, add, dim_max, dim_min, floordiv, mul, neg, product, sub
from tracebuf.ir.facts import SizeFacts
from tracebuf.ir.func import Func
from tracebuf.ir.types import MemRefType
from tracebuf.ops.arrays import bufferization
from tracebuf.ops.arrays.host import HostCall
from tracebuf.ops.memory import memref
from tracebuf.options import Options


def check(
    func: Func,
    options: Options,
    stored: frozenset[str],
    sizes: Mapping[Sym, int],
    given: Mapping[str, Any],
    own: Mapping[str, ast.expr | str],
) -> tuple[Dim, ...]:
    """Raises ContractError where a memref program breaks a contract.

    `stored` are the parameters that it stores to, `sizes` the values of its symbols in this call, `given` the call's
    arguments by parameter, `own` the sizes that the function names (`sizes_named`). Returns what must not be negative
    so that the contracts hold for other sizes too.
    """
    found = list(entries(func, sizes))
    for kind, limit in (("allocation", options.max_allocations), ("copy", options.max_copies)):
        if limit is not None:
            check_count(func, kind, limit, [e for e in found if e.kind == kind])
    for name in options.in_place:
        check_in_place(func, name, name in stored, sizes)
    return () if options.max_bytes is None else check_bytes(func, options.max_bytes, found, sizes, given, own)


def entries(func: Func, sizes: Mapping[Sym, int]) -> Iterator[Entry]:
    """Those of `explain`, in numbers, but for what is of no bytes whatever the sizes are."""
    for op in func.walk():
        yield from (shown for e, shown in zip(entries_of(op, {}), entries_of(op, sizes)) if e.bytes != 0)


def entries_of(op: Op, sizes: Mapping[Sym, int]) -> list[Entry]:
    own = entry_of(op, sizes)
    return [*([] if own is None else [own]), *(made_by_callee(op, sizes) if isinstance(op, HostCall) else [])]


# -- counts
def check_count(func: Func, kind: str, limit: int, found: Sequence[Entry]) -> None:
    """Of what happens in each iteration of a loop no number is allowed."""
    looping = [e for e in found if e.in_loop]
    if len(found) > limit or looping:
        plural = {"allocation": "allocations", "copy": "copies"}[kind]
        number = f"{len(found)} {kind if len(found) == 1 else plural}"
        raise broken(func, f"max_{plural}={limit}", number + " in a loop" * (looping == found), found)


HELP = "change these lines (the function's `stories(...)` with these arguments looks for edits), or allow it"
"""Where the stories are not told with the error."""


def broken(func: Func, contract: str, what: str, shown: Sequence[Entry], instead: str = "") -> ContractError:
    """The error, at the first of the entries that break the contract."""
    text = "\n".join([f"`{contract}` does not hold: {what}", *map(str, shown)])
    location = shown[0].location if shown else func.loc
    return ContractError(contract, text, location, instead or HELP, tuple(shown))


# -- updates in place
def check_in_place(func: Func, name: str, is_stored: bool, sizes: Mapping[Sym, int]) -> None:
    """What is stored to the parameter is computed in its memory, and none of its contents are copied because something
    reads them after the store."""
    contract = f'in_place="{name}"'
    arg = next((a for a in func.args if a.name == name and isinstance(a.type, MemRefType)), None)
    if arg is None or not is_stored:
        what = "nothing is stored to it" if arg is not None else "it is no array in this call"
        raise broken(func, contract, what, [], f"take {name!r} out of in_place=")
    for op in func.walk():
        entry = out_of_place(op, arg, sizes)
        if entry is not None:
            raise broken(func, contract, f"`{name}` is not updated in place", [entry], "")


def out_of_place(op: Op, arg: Value, sizes: Mapping[Sym, int]) -> Entry | None:
    """The entry of an array that a value is computed in before it is stored to the argument, or of a copy of the
    argument's contents that a conflict asks for; None for anything else."""
    if isinstance(op, memref.Copy) and op.attrs.get("reason") == "store":
        source, dest = (roots(v) for v in op.operands[:2])
        buffer = next((v.defining_op for v in source if isinstance(v.defining_op, memref.Alloc)), None)
        return entry_of(buffer, sizes) if buffer is not None and arg in dest else None
    if isinstance(op, (bufferization.Clone, memref.Copy)) and conflicts_of(op) and arg in roots(op.operand(0)):
        return entry_of(op, sizes)
    if isinstance(op, HostCall) and (made := made_by_callee(op, sizes)):
        copied = [u.value for k, u in enumerate(op.out_uses[: op.makes]) if k not in op.given_outs]
        return made[0] if any(arg in roots(v) for v in copied) else None
    return None


def roots(buffer: Value, seen: set[Value] | None = None) -> set[Value]:
    """The allocations and arguments that a buffer may be (part of), through views, branches and loops."""
    seen = set() if seen is None else seen
    base = memref.base_of(buffer)
    if base in seen:
        return set()
    seen.add(base)
    sources = list(sources_of(base))
    return set[Value]().union(*(roots(v, seen) for v in sources)) if sources else {base}


def sources_of(value: Value) -> Iterator[Value]:
    """What a result, or an argument of a region, of control flow may be."""
    op = value.owner if isinstance(value.owner, Op) else value.owner.parent_op
    for flow in (op.flows() or ()) if op is not None and op.regions else ():
        yield from (use.value for use, received in zip(flow.passed, flow.received) if received is value)


# -- bytes
def check_bytes(
    func: Func,
    limit: int | str,
    found: Sequence[Entry],
    sizes: Mapping[Sym, int],
    given: Mapping[str, Any],
    own: Mapping[str, ast.expr | str],
) -> tuple[Dim, ...]:
    """The peak of `lower(...).memory()` is compared with the limit; what must not be negative for other sizes."""
    contract, peak = f"max_bytes={limit!r}", memory_of(func).peak
    if peak.unknown:
        raise broken(func, contract, f"the peak is not known: {peak.unknown}", found)
    room = sub(limit_of(func, limit, given, own), peak.size)
    if SizeFacts().nonneg(room):
        return ()
    here = known(room, sizes)
    if here is None:
        said = "".join(f"; {name}: {meaning}" for name, meaning in peak.decided)
        raise broken(func, contract, f"the peak is {peak} bytes{said}", found)
    if here < 0:
        least = known(peak.size, sizes)
        assert least is not None
        text = f"the peak is {peak} bytes, {human(least)} in this call, {human(-here)} more than the limit"
        raise broken(func, contract, text, found)
    return (room,)


OPERATORS: dict[type[ast.operator], Callable[[Dim, Dim], Dim]] = {
    ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.FloorDiv: floordiv,
}  # fmt: skip


def limit_of(func: Func, text: int | str, given: Mapping[str, Any], own: Mapping[str, ast.expr | str]) -> Dim:
    """A limit as a formula of the sizes; `own` has those that the function names. Raises ValueError for what is
    none."""

    def array(node: ast.expr) -> MemRefType:
        if isinstance(node, ast.Name):
            found = next((a.type for a in func.args if a.name == node.id), None)
            if isinstance(found, MemRefType):
                return found
        raise wrong(node, "is no array among the parameters")

    def wrong(node: ast.AST, why: str) -> ValueError:
        return ValueError(f"max_bytes={text!r}: {ast.unparse(node)!r} {why}")

    def number(node: ast.expr) -> Dim:
        match node:
            case ast.Constant(int(value)):
                return value
            case ast.Name(name):
                symbol = next((s for s, v in func.symbols.items() if v.name == name and v.owner is func.block), None)
                if symbol is not None and any(a.name == name and not isinstance(a.type, MemRefType) for a in func.args):
                    return symbol.expr
                if isinstance(given.get(name), int):
                    return int(given[name])
                meant = own.get(name, "is no int among the parameters, nor a size of one that the function names")
                if isinstance(meant, str):
                    raise wrong(node, meant)
                try:
                    return number(meant)
                except ValueError as error:
                    raise wrong(node, f"is {ast.unparse(meant)!r}, which is no size of a parameter") from error
            case ast.BinOp(left, op, right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](number(left), number(right))
            case ast.UnaryOp(ast.USub(), operand):
                return neg(number(operand))
            case ast.Call(ast.Name("len"), [x], []) if array(x).shape:
                return array(x).shape[0]
            case ast.Call(ast.Name("max" | "min" as name), [_, _, *_] as args, []):
                return reduce(dim_max if name == "max" else dim_min, map(number, args))
            case ast.Attribute(x, "size" | "nbytes" | "itemsize" | "ndim" as name):
                type_ = array(x)
                sizes = {"size": product(type_.shape), "nbytes": type_.byte_size, "ndim": len(type_.shape)}
                return sizes.get(name, type_.element.dtype.itemsize)
            case ast.Subscript(ast.Attribute(x, "shape"), ast.Constant(int(k))) if k < len(array(x).shape):
                return array(x).shape[k]
            case ast.Subscript(ast.Attribute(x, "shape"), ast.UnaryOp(ast.USub(), ast.Constant(int(k)))) if (
                0 < k <= len(array(x).shape)
            ):
                return array(x).shape[-k]
        known_ones = "ints, parameters, `a.nbytes`, `a.size`, `a.shape[0]`, `len(a)`, + - * // max min"
        raise wrong(node, f"is not supported: use {known_ones}")

    return text if isinstance(text, int) else number(ast.parse(text, mode="eval").body)
