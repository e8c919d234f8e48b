"""Ops, blocks, regions and modules from MLIR's generic form. Counterpart: mlir/lib/AsmParser/Parser.cpp.

What is read is built at once: an op's `Form` goes to the `from_form` of its class, `func.func` becomes a `Func` and
`builtin.module` a `Module`. A value may be used before the text defines it, as blocks stand in any order: the argument
of a `Later` stands for it until then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from tracebuf.errors import InternalError, TracebufError
from tracebuf.frontends.mlir.attributes import AttributeParser
from tracebuf.frontends.mlir.functions import func_of, module_of
from tracebuf.frontends.mlir.lexer import Tokens
from tracebuf.frontends.mlir.rules import problem
from tracebuf.frontends.mlir.sizes import Later, Sizes
from tracebuf.ir.attributes import Attr
from tracebuf.ir.core import Block, Form, FormError, Op, Region, Value
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import Type, same_type
from tracebuf.ir.unknown import unknown_op
from tracebuf.ir.verifier import first_not_dominated, types_problem, verify_op
from tracebuf.location import Location
from tracebuf.ops import dialects  # noqa: F401  each op by its name

Item = Op | Func | Module
T = TypeVar("T")
ISOLATED = ("func.func", "builtin.module")
"""Ops whose regions see no value from outside."""
EMPTY = ("scf.forall.in_parallel",)
"""Ops whose blocks may be empty."""
CUSTOM = "only the generic form is read, which `mlir-opt -mlir-print-op-generic` prints: an op's name in quotes"


class _Scope:
    """What is known in a region that sees nothing from outside. A region in it has names of its own, which end with it;
    in one of several blocks the order of the text is not that of the program."""

    def __init__(self) -> None:
        self.names: dict[str, list[Value]] = {}
        self.regions: list[list[str]] = [[]]
        self.later: dict[str, dict[int, tuple[Value, int]]] = {}
        """What stands for values that are defined further down, and the token of the first use."""
        self.straight = True
        self.entry = True
        """Whether the function's first block, which surely runs, is still being read."""
        self.sizes = Sizes()


class Parser(AttributeParser):
    """Reads one module."""

    def __init__(self, tokens: Tokens) -> None:
        super().__init__(tokens)
        self.scopes: list[_Scope] = []
        self.blocks: list[dict[str, tuple[Block, int]]] = []
        self.tokens_of: dict[Op, int] = {}

    # -- structure
    def module(self) -> Module:
        """The whole text: one module, or what stands in one."""
        self.scopes.append(_Scope())
        items = self._items("end")
        self._leave()
        self._check_calls(items)
        if len(items) == 1 and isinstance(items[0], Module):
            return items[0]
        return Module(items, Location(self.tokens.name, 1))

    def _leave(self) -> _Scope:
        """Ends a scope, in which every value must be defined by now."""
        scope = self.scopes.pop()
        for name, uses in scope.later.items():
            raise self.error(f"the value `{name}` is not defined", next(iter(uses.values()))[1])
        return scope

    def _items(self, closing: str) -> list[Item]:
        """What stands in a module, up to its end."""
        items: list[Item] = []
        while closing not in (self.kind, self.text):
            if self.kind in ("hash", "bang") and self.tokens.texts[self.at + 1] == "=":
                read = self.attribute if self.kind == "hash" else self.type_text
                self.at += 2
                read()
            elif self.text == "{" and self.tokens.texts[self.at + 1] == "-":
                raise self.error("resources (`{-# ... #-}`) are not read")
            else:
                items.append(self.operation(True))
        return items

    def _module_body(self) -> list[Item]:
        """`({items})`"""
        self.expect("(")
        self.expect("{")
        self.deeper()
        if self.kind == "caret":
            self.at += 1
            self.expect(":")
        items = self._items("}")
        self._check_calls(items)
        self.expect("}")
        self.expect(")")
        self.depth -= 1
        return items

    def _check_calls(self, items: list[Item]) -> None:
        """What is called is a function of the module."""
        funcs = {f.name: f for f in items if isinstance(f, Func)}
        for op in (op for f in funcs.values() for op in f.walk() if op.name == "func.call"):
            callee = funcs.get(op.attrs["callee"])
            if callee is None:
                raise self.error(f"no function `{op.attrs['callee']}` stands in the module", self.tokens_of[op])
            found = [v.type for v in (*op.operands, *op.results)]
            wanted = [*(a.type for a in callee.args), *callee.result_types]
            counts = len(op.uses) == len(callee.args) and len(found) == len(wanted)
            if not counts or not all(map(same_type, found, wanted)):
                raise self.error(f"the types are not those of the function `{callee.name}`", self.tokens_of[op])

    def region(self) -> Region:
        """`{ops ^bb1(%a: t): ops ...}`"""
        self.expect("{")
        scope, labels = self.scopes[-1], dict[str, tuple[Block, int]]()
        scope.regions.append([])
        self.blocks.append(labels)
        blocks: dict[Block, None] = {}
        if self.kind != "caret" and self.text != "}":
            blocks[self._ops(Block())] = None
            scope.entry &= len(scope.regions) > 2
        while self.kind == "caret":
            token, block = self.at, self._label()
            if block in blocks:
                raise self.error(f"the block `{self.tokens.texts[token]}` is defined twice", token)
            blocks[self._ops(block)] = None
            scope.entry &= len(scope.regions) > 2
        self.expect("}")
        for block, token in labels.values():
            if block not in blocks:
                raise self.error(f"the block `{self.tokens.texts[token]}` is not defined", token)
        self.blocks.pop()
        for name in scope.regions.pop():
            del scope.names[name]
        scope.straight &= len(blocks) < 2
        return Region(*blocks)

    def _label(self) -> Block:
        """`^bb1(%a: type, ...):`"""
        block = self._block_named()
        if self.accept("("):
            self.listed(")", lambda: self._argument(block))
        self.expect(":")
        return block

    def _argument(self, block: Block) -> None:
        name, token = self.take("value", "an argument"), self.at - 1
        self.expect(":")
        value = block.add_arg(self.type())
        if self.text == "loc":
            self.location()
        self.define(name, [value], token)

    def _block_named(self) -> Block:
        token = self.at
        name = self.take("caret", "a block")
        if not self.blocks:
            raise self.error("a module has one block", token)
        return self.blocks[-1].setdefault(name, (Block(), token))[0]

    def _ops(self, block: Block) -> Block:
        while self.kind in ("string", "value"):
            op = self.operation(False)
            assert isinstance(op, Op)
            block.append(op)
        if self.kind != "caret" and self.text != "}":
            raise self.expected("an op's name in quotes") if self.kind != "id" else self.error(CUSTOM)
        return block

    # -- values
    def define(self, name: str, values: list[Value], token: int) -> None:
        scope = self.scopes[-1]
        if name in scope.names or "#" in name:
            raise self.error(f"`{name}` is defined twice" if name in scope.names else "`#` stands in uses only", token)
        scope.names[name] = values
        scope.regions[-1].append(name)
        for value in values:
            value.name = name[1:] if name[1].isalpha() and len(values) == 1 else ""
        for index, (stand_in, use) in scope.later.pop(name, {}).items():
            if index >= len(values) or str(values[index].type) != str(stand_in.type):
                raise self.error(f"`{name}` is used as {stand_in.type}, number {index}: it is no such value", use)
            stand_in.replace_all_uses(values[index])
            scope.straight = False

    def use(self, token: int, type: Type) -> Value:
        """The value of this name, which must have this type."""
        name, _, number = self.tokens.texts[token].partition("#")
        index = int(number or 0)
        scope = self.scopes[-1]
        values = scope.names.get(name)
        if values is None:
            found = scope.later.setdefault(name, {}).setdefault(index, (Later([type]).args[0], token))[0]
        elif index < len(values):
            found = values[index]
        else:
            raise self.error(f"`{name}` has {len(values)} results", token)
        if not same_type(found.type, type):
            raise self.error(f"`{self.tokens.texts[token]}` is of type {found.type}, not {type}", token)
        return found

    # -- operations
    def operation(self, in_module: bool) -> Item:
        """`%r:2 = "name"(%a)[^b] <{properties}> ({regions}) {attributes} : (types) -> types loc(...)`"""
        left = self._left() if self.kind == "value" else []
        token = self.at
        if self.kind == "id":
            raise self.error(CUSTOM)
        self.take("string", "an op's name in quotes")
        name = self.string(token)
        self.expect("(")
        operands = self.listed(")", self._operand)
        successors = self.listed("]", self._block_named) if self.accept("[") else []
        attrs = self._properties() if self.text == "<" else {}
        isolated = name in ISOLATED
        if isolated:
            self.scopes.append(_Scope())
        module = in_module and name == "builtin.module" and self.text == "("
        items = self._module_body() if module else []
        regions: list[Region] = self.listed(")", self.region) if self.accept("(") else []
        inner = self._leave() if isolated else None
        attrs |= self._discardable(attrs)
        values, types = self._typed(operands)
        loc = self.location() if self.text == "loc" else self.tokens.location(token)
        scope = self.scopes[-1]
        scope.sizes.certain = scope.entry and len(scope.regions) == 2
        form = Form(name, values, types, attrs, regions, successors, loc, self.scopes[-1].sizes)
        item = self._guarded(token, lambda: self._item(form, items if module else None, inner if in_module else None))
        if isinstance(item, Op):
            self.tokens_of[item] = token
            self._define_results(left, item, token)
        elif left:
            raise self.error(f"`{name}` has no results", token)
        if inner is not None and not inner.straight:
            self._check_order(form.regions)
        if in_module and not isinstance(item, Module):
            for op in [*([item] if isinstance(item, Op) else []), *item.walk()]:
                self._guarded(self.tokens_of.get(op, token), partial(_check, op))
        return item

    def _left(self) -> list[tuple[str, int, int]]:
        """`%a:2, %b = `: names, how many values each, and the tokens."""
        found = []
        while True:
            token, count = self.at, 1
            name = self.take("value", "a result")
            if self.accept(":"):
                count = int(self.take("int", "a number of results"))
            found.append((name, count, token))
            if not self.accept(","):
                break
        self.expect("=")
        return found

    def _operand(self) -> int:
        self.take("value", "an operand")
        return self.at - 1

    def _properties(self) -> dict[str, Attr]:
        self.expect("<")
        found = {k: Attr(a.text, a.value, True) for k, a in self.entries().items()}
        self.expect(">")
        return found

    def _discardable(self, properties: dict[str, Attr]) -> dict[str, Attr]:
        start = self.at
        found = self.entries() if self.text == "{" else {}
        for key in found:
            if key in properties:
                raise self.error(f"`{key}` is a property and an attribute", start)
        return found

    def _typed(self, operands: list[int]) -> tuple[list[Value], list[Type]]:
        """`: (types) -> types`: the operands, which must have these types, and the types of the results."""
        self.expect(":")
        start = self.at
        inputs, results = self.function_types()
        if len(inputs) != len(operands):
            raise self.error(f"{len(inputs)} types for {len(operands)} operands", start)
        return [self.use(token, type_) for token, type_ in zip(operands, inputs)], results

    def _item(self, form: Form, items: list[Item] | None, scope: _Scope | None) -> Item:
        """What a form stands for: a module of these items, a function, or an op."""
        if items is not None:
            return module_of(form, items)
        if form.name == "func.func" and scope is not None:
            return func_of(form, scope.sizes.symbols)
        kind = Op.registry.get(form.name)
        if kind is None:
            return unknown_op(form.name).from_form(form)
        if any(not block.ops and form.name not in EMPTY for region in form.regions for block in region.blocks):
            raise FormError(f"{form.name}: a block is empty: it must end in a terminator")
        if problem := types_problem(kind, [v.type for v in form.operands], form.result_types):
            raise FormError(f"{form.name}: {problem}")
        return kind.from_form(form)

    def _guarded(self, token: int, step: Callable[[], T]) -> T:
        """Whatever an op's class raises is an error of the text, at the op."""
        try:
            return step()
        except TracebufError as e:
            raise self.error(str(e), token) from None
        except Exception as e:
            raise self.error(f"its parts do not fit ({type(e).__name__}: {e})", token) from e

    def _define_results(self, left: list[tuple[str, int, int]], op: Op, token: int) -> None:
        if left and sum(n for _, n, _ in left) != len(op.results):
            raise self.error(f"{op.name} has {len(op.results)} results", token)
        at = 0
        for name, count, place in left:
            self.define(name, op.results[at : at + count], place)
            at += count

    def _check_order(self, regions: list[Region]) -> None:
        for region in regions:
            wrong = first_not_dominated(region)
            if wrong is not None:
                reason = f"{wrong.name} uses a value that is not defined on every way here"
                raise self.error(reason, self.tokens_of[wrong])


def _check(op: Op) -> None:
    """FormError, with the op's name, where it is not well-formed."""
    try:
        verify_op(op)
    except InternalError as e:
        raise FormError(f"{op.name}: {str(e).removeprefix(f'{op.name}: ')}") from None
    if wrong := problem(op):
        raise FormError(f"{op.name}: {wrong}")
