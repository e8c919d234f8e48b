"""`func.func` and `builtin.module` from their generic forms, and back (see `ir.print_generic`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tracebuf.ir.attributes import Attr, string
from tracebuf.ir.core import Form, FormError, Op, Region, Value
from tracebuf.ir.dims import Sym
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import Type, same_type
from tracebuf.ops.control.func import Return


def func_of(form: Form, symbols: Mapping[Sym, Value]) -> Func:
    """The function; its attributes other than name and types are kept as they are."""
    form.expect(operands=0, results=0, regions=1)
    if (named := form.attrs.get("sym_name")) is not None and not named.text.startswith('"'):
        raise FormError("func.func: `sym_name` is no text")
    name = form.take("sym_name", kind=str)
    signature = form.attrs.pop("function_type", None)
    if signature is None or not isinstance(signature.value, tuple):
        raise FormError("func.func: the attribute `function_type` is missing")
    inputs, results = signature.value
    func = Func(name, inputs, form.loc, results)
    (body,) = form.regions
    if body.blocks:
        _check_body(body, inputs, results)
        func.body = body
        func.symbols = dict(symbols)
    func.arg_attrs = _each(form, "arg_attrs", len(inputs))
    func.result_attrs = _each(form, "res_attrs", len(results))
    if not isinstance(form.attrs.get("sym_visibility", string("")).value, str):
        raise FormError("func.func: `sym_visibility` is no string")
    func.attrs = dict(form.attrs)
    return func


def _check_body(body: Region, inputs: Sequence[Type], results: Sequence[Type]) -> None:
    args = body.block.args
    if len(args) != len(inputs) or not all(same_type(a.type, t) for a, t in zip(args, inputs)):
        raise FormError("func.func: the arguments of its first block are not those of its type")
    for block in body.blocks:
        if not block.ops:
            raise FormError("func.func: a block is empty: it must end in a terminator")
        end = block.ops[-1]
        if end.name in Op.registry and not end.successors and not isinstance(end, Return):
            raise FormError(f"func.func: a block ends with {end.name}, where func.return or a branch should be")
        if any(op.terminator for op in block.ops[:-1]):
            raise FormError("func.func: an op that ends a block stands in its middle")
        returned = [v.type for v in end.operands]
        if isinstance(end, Return) and (len(returned) != len(results) or not all(map(same_type, returned, results))):
            raise FormError(f"func.return: ({_types(returned)}) are returned, where ({_types(results)}) should be")


def _types(types: Sequence[Type]) -> str:
    return ", ".join(map(str, types))


def _each(form: Form, name: str, n: int) -> list[dict[str, object]]:
    """The dictionaries of an array attribute, one for each argument (or result); none where it is missing."""
    found = form.attrs.pop(name, None)
    if found is None:
        return [{} for _ in range(n)]
    if not isinstance(found.value, list) or len(found.value) != n or not all(isinstance(d, dict) for d in found.value):
        raise FormError(f"func.func: `{name}` is not {n} dictionaries")
    return [{k: _plain(a) for k, a in entries.items()} for entries in found.value]


def _plain(attr: Attr) -> object:
    """Strings and bools as Python values, which passes ask for; all else as MLIR's text."""
    plain = attr.text in ("true", "false", f'"{attr.value}"')
    return attr.value if plain else attr


def module_of(form: Form, items: Sequence[Func | Op | Module]) -> Module:
    form.expect(operands=0, results=0)
    module = Module(items, form.loc, form.take("sym_name", "", str))
    module.attrs = dict(form.attrs)
    return module
