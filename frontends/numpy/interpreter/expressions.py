"""Expressions of the abstract interpreter: names, operators, subscripts, attributes and calls."""

from __future__ import annotations

import ast
import inspect
import math
import operator
import sys
import threading
import types
from collections import defaultdict, deque, namedtuple
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from functools import cache, partial, reduce
from typing import Any, TypeGuard

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays.new_arrays import as_array, as_operand
from tracebuf.frontends.numpy.arrays.reshape import FlatIterator, reshaped, whole_number
from tracebuf.frontends.numpy.arrays.shapes import UnknownRank
from tracebuf.frontends.numpy.call.captures import item_of
from tracebuf.frontends.numpy.call.lookups import NOTHING, Absent, Attribute, OfClass
from tracebuf.frontends.numpy.functions import inspection, memory, table, ufunc_calls
from tracebuf.frontends.numpy.functions.formulas import hashing, prelude, twister
from tracebuf.frontends.numpy.functions.formulas.sequences import GRIDS
from tracebuf.frontends.numpy.functions.host import draws, jitted, made_objects, objects, sparse, untraced
from tracebuf.frontends.numpy.functions.host.callbacks import with_callbacks
from tracebuf.frontends.numpy.functions.host.objects import check_steady
from tracebuf.frontends.numpy.functions.indices import subscripts
from tracebuf.frontends.numpy.functions.products.matmul import matmul
from tracebuf.frontends.numpy.functions.python.folds import truth_of_all
from tracebuf.frontends.numpy.interpreter import (
    array_likes,
    callables,
    dicts,
    folds,
    iterators,
    operators,
    records,
    talk,
    text_questions,
    texts,
)
from tracebuf.frontends.numpy.interpreter.comprehensions import Comprehensions
from tracebuf.frontends.numpy.interpreter.lists import arrays as list_arrays
from tracebuf.frontends.numpy.interpreter.lists import calls as list_calls
from tracebuf.frontends.numpy.interpreter.lists import (
    cursors,
    deques,
    groups,
    growing,
    heaps,
    keyed,
    labels,
    picked,
    references,
    sets,
    tables,
)
from tracebuf.frontends.numpy.interpreter.lists import order as list_order
from tracebuf.frontends.numpy.interpreter.lists.cursors import is_cursor
from tracebuf.frontends.numpy.interpreter.lists.text_keys import settled
from tracebuf.frontends.numpy.numbers import longlongs, subclasses
from tracebuf.frontends.numpy.numbers.lattice import Maybe, check_one_type, parts_of
from tracebuf.frontends.numpy.numbers.operands import is_operand
from tracebuf.frontends.numpy.numbers.powers import UnknownSign
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value
from tracebuf.frontends.numpy.numbers.scalars import SPECIAL, binary, compare, concrete, holds_traced, truth, unary
from tracebuf.frontends.numpy.paths.branches import trace_if
from tracebuf.frontends.numpy.paths.choices import narrowed
from tracebuf.frontends.numpy.paths.container_joins import apart
from tracebuf.frontends.numpy.paths.identity import same_thing
from tracebuf.frontends.numpy.paths.iteration import (
    Iterable,
    OneShotIterator,
    Range,
    each,
    iterable_of,
    length,
    make_range,
    range_item,
)
from tracebuf.frontends.numpy.paths.joins import bound_value
from tracebuf.frontends.numpy.paths.loops.alternatives import of_each_origin
from tracebuf.frontends.numpy.paths.outputs import store_results
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.callees import (
    Buffer,
    Caught,
    Generator,
    MadeError,
    Method,
    NestedFunction,
    NoneArray,
    Part,
    Partial,
    Progress,
    SetOfOne,
    Text,
    Untold,
    UntoldMethod,
    closure_of,
    is_text,
)
from tracebuf.frontends.numpy.record.cond import Cond, ends
from tracebuf.frontends.numpy.record.conditions import negation
from tracebuf.frontends.numpy.record.growing import Form, is_growing, is_inner, is_keyed, is_list, moved_to, python_of
from tracebuf.frontends.numpy.record.heap import (
    DictView,
    GroupRef,
    Record,
    is_groups,
    is_label,
    items_of,
    without_methods,
)
from tracebuf.frontends.numpy.record.judged import for_plain_arrays
from tracebuf.frontends.numpy.record.raises import DeadEnd, Raises, ask, call_as, call_handler, hold, is_tracers
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import METHODS
from tracebuf.frontends.numpy.record.scalar_checks import (
    UnknownOrigin,
    by_origin,
    origins,
    static_flags,
    unknown_origin,
)
from tracebuf.frontends.numpy.record.slices import OrNone, SliceOf, as_slices, as_value
from tracebuf.frontends.numpy.record.values import (
    NUMBERS,
    ArrayRef,
    Env,
    NpScalar,
    PyBool,
    PyInt,
    Scalar,
    is_plain,
    is_traced,
    stand_in,
)
from tracebuf.frontends.numpy.source.liveness import CHANGING, stored
from tracebuf.frontends.numpy.source.source import make_source
from tracebuf.frontends.numpy.source.steps import iterate
from tracebuf.ir.core import Value
from tracebuf.ir.dims import sub
from tracebuf.running import jitted as running_jitted

NO_CALLEES = (ArrayRef, Scalar, *NUMBERS, str, tuple, list, dict, type(None))
"""What cannot be called, and functools.partial does not take."""
EAGER: dict[type, type] = {
    Range: range, NestedFunction: types.FunctionType, Method: types.BuiltinMethodType, Partial: partial,
    FlatIterator: np.flatiter, Generator: types.GeneratorType, Text: str, SetOfOne: set,
}  # fmt: skip
"""By class of the tracer: the class that eager Python has there; of `Bits` see `eager_kind`."""

ORDERS = {"Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge}
"""By name of a comparison that is an order: Python's function."""
MOST_LISTED = 64
"""The most elements of an array of two axes whose `tolist` has lists of a known length."""
TAKES_ALL = (list, tuple, sum, sorted, max, min)
"""Functions that take all items of a generator before they do anything else."""
OF_GENERATORS: dict[int, Callable[..., Any]] = {
    id(enumerate): prelude.enumerated, id(any): prelude.any_of, id(all): prelude.all_of,
}  # fmt: skip
"""By id of a builtin: the function of `prelude` that does the same with what a generator function gives."""
GENERIC = ("builtins", "collections", "collections.abc", "numpy", "typing")
"""Modules of classes that have items for checkers of types, as `list[int]` is."""
LONG = (ArrayRef, Range, range, OneShotIterator, FlatIterator, Text)
"""What a list may be made of in a loop."""
METHOD_NAMES: dict[type, str] = {}
"""By class of expression: the name of the method that evaluates it."""


def is_or_none(node: ast.expr | None) -> TypeGuard[ast.BoolOp]:
    """Whether a bound is written `x or None`."""
    match node:
        case ast.BoolOp(ast.Or(), [_, ast.Constant(None)]):
            return True
    return False


def has_or_none(node: ast.expr) -> bool:
    """Whether an index is a slice with such a bound."""
    return isinstance(node, ast.Slice) and (is_or_none(node.lower) or is_or_none(node.upper))


def condition_in(index: Any) -> Value | None:
    """The condition that decides a part of an index, or a bound of a slice; None where none does."""
    if type(index) is Cond:
        return index.condition
    parts = index if isinstance(index, tuple) else ()
    return next((found for part in parts if (found := condition_in(part)) is not None), None)


class Expressions(Comprehensions):
    """Mixin: evaluates expressions in an environment."""

    def expr(self, node: ast.expr, env: Env) -> Any:
        """An expression's value."""
        value = self.any_expr(node, env)
        if type(value) is Cond:
            self.at(node)
            check_one_type(self.r, value, name=node.id if isinstance(node, ast.Name) else "<value>")
        return value

    def array_of_number(self, number: Any, item: Any) -> ArrayRef:
        """The array whose elements are a list that is an item: a part of those of all such lists."""
        return references.array_of_number(self, number, item)

    def number_of_list(self, x: Any, item: Any) -> Any:
        """The number of a list that becomes an item of another, among those of items of a form."""
        return references.number_of_list(self, x, item)

    def any_expr(self, node: ast.expr, env: Env) -> Any:
        """The value of an expression, which may be of different types, depending on the path."""
        kind = type(node)
        method = getattr(self, METHOD_NAMES.get(kind) or METHOD_NAMES.setdefault(kind, f"expr_{kind.__name__}"), None)
        if method is None:
            raise self.refuse(node, *refusals.expression(node))
        return moved_to(self.r, method(node, env)) if self.r.growth.nested else method(node, env)

    def expr_Constant(self, node: ast.Constant, env: Env) -> Any:
        return node.value

    def expr_Name(self, node: ast.Name, env: Env) -> Any:
        return self.load_name(node.id, env, node)

    def load_name(self, name: str, env: Env, node: ast.AST) -> Any:
        if name in env:
            if isinstance(env[name], Maybe):
                self.at(node)
                self.r.unbound.add(name)
                env[name] = bound_value(self.r, name, env[name])
            return env[name]
        self.at(node)
        if name in self.scope.source.locals:
            self.r.unbound.add(name)
            raise Raises(
                UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")
            )
        return self.scope.lookup(name)

    def expr_Tuple(self, node: ast.Tuple, env: Env) -> Any:
        made = self.written(node.elts, tuple, env)
        return tuple(made) if type(made) is list else made

    def expr_List(self, node: ast.List, env: Env) -> Any:
        made = self.written(node.elts, list, env)
        if type(made) is not list:
            return made
        with self.r.at(self.r.loc):
            self.at(node)
            return self.own(made)

    def expr_Set(self, node: ast.Set, env: Env) -> Any:
        made = self.written(node.elts, set, env)
        return dicts.set_of(self, node, set, made) if type(made) is list else made

    def written(self, nodes: Sequence[ast.expr], kind: type, env: Env) -> Any:
        """The items that are written out; or what [*x], (*x,), {*x} or [*x, y] is, where only the run time knows how
        many."""
        if not any(isinstance(n, ast.Starred) for n in nodes):
            return self.items(nodes, env)
        parts: list[Any] = [[]]
        for node in nodes:
            if not isinstance(node, ast.Starred):
                parts[-1].append(self.any_expr(node, env))
                continue
            value = self.expr(node.value, env)
            if is_growing(value) or keyed.view_in(value) is not None:
                parts += [value, []]
            else:
                parts[-1] += self.iterate_static(node, value)
        found = [p for p in parts if type(p) is not list or p]
        if len(parts) == 1:
            return parts[0]
        if len(found) == 1:
            return self.call(nodes[0], kind, found, {})
        lists = [self.own(p) if type(p) is list else self.call(nodes[0], list, [p], {}) for p in found]
        made = reduce(partial(self.operate, "Add"), lists)
        return made if kind is list else self.call(nodes[0], kind, [made], {})

    def expr_Dict(self, node: ast.Dict, env: Env) -> Any:
        made: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values):
            if key is None:
                made.update(dicts.pairs_of(self, value, references.listing(self, node, self.expr(value, env))))
            else:
                name = dicts.key_of(self, key, self.expr(key, env))
                made[name] = self.any_expr(value, env)
        with self.r.at(self.r.loc):  # which of several in a line it is
            self.at(node)
            return self.own(made)

    def expr_DictComp(self, node: ast.DictComp, env: Env) -> Any:
        pair = ast.copy_location(ast.Tuple([node.key, node.value], ast.Load()), node)
        over = ast.copy_location(ast.ListComp(pair, node.generators), node)
        return keyed.comprehended(self, node, dict, over, env, dicts.make)

    def expr_SetComp(self, node: ast.SetComp, env: Env) -> Any:
        over = ast.copy_location(ast.ListComp(node.elt, node.generators), node)
        return keyed.comprehended(self, node, set, over, env, lambda i, node, x: dicts.set_of(i, node, set, x))

    def own(self, made: Any) -> Any:
        """Registers a list or dict that the trace made; returns it."""
        for replaced in (growing.replaced, keyed.replaced):
            if (grown := replaced(self, made)) is not made:
                return grown
        return self.r.heap.own(made, self.r)

    def change(self, node: ast.AST, x: Any) -> None:
        """Notes that a container is changed; refuses it where the container is path-dependent."""
        tables.note_change(self, x)
        if not self.r.heap.may_change(x, self.r):
            self.r.growth.found_nested |= type(x) is list and self.r.growth.made and self.r.heap.find(x) is None
            reason = f"a {refusals.name_of(x)} is changed that is one or another, depending on the path"
            raise self.refuse(node, reason, "change it where it is made, or build a new one")

    def items(self, nodes: Sequence[ast.expr], env: Env) -> list[Any]:
        values: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                values += self.iterate_static(node, self.expr(node.value, env))
            else:
                values.append(self.any_expr(node, env))
        return values

    def iterate_static(self, node: ast.AST, value: Any) -> list[Any]:
        """The items of an iterable whose length is known, or made part of the key."""
        value = self.listed(node, value) if isinstance(value, Generator) else value
        return list(value) if type(value) in (list, tuple) else list(self.each(node, value))

    def each(self, node: ast.AST, value: Any) -> Iterator[Any]:
        """The items of an iterable one after another, each as its turn comes; their number is known, or made part of
        the key."""
        self.at(node)
        if is_cursor(value):
            self.r.growth.stuck = True
            raise cursors.refused(self, node, "taking all items of")
        value = keyed.iterable(self, node, groups.listing(self, node, value))
        value = records.iterator_of(self, node, value)
        if isinstance(value, Generator):  # which `__iter__` gives
            return iter(self.iterate_static(node, value))
        value = growing.iterator(self, value)
        if isinstance(value, OneShotIterator):
            return value.pull(self.r, all_of_them=True)
        return each(self.r, self.iterable(node, value))

    def iterable(self, node: ast.AST, value: Any, statement: ast.AST | None = None) -> Iterable:
        """What a loop over a value iterates over; `statement`: the loop, where it is one."""
        self.at(node if statement is None else statement)
        if is_cursor(value):
            raise cursors.refused(self, node, "iterating over")
        if is_inner(value):
            return references.items(self, value)
        if isinstance(value, GroupRef) and statement is not None:
            return groups.walked(self, node, value)
        value = groups.listing(self, node, records.listed_variables(self, node, value))
        if (view := keyed.view_in(value)) is not None:
            return keyed.items(self, node, *view)
        if is_label(value):
            return labels.items(self, node, value)
        if isinstance(value, Text):
            return text_questions.letters(self, node, value)
        if isinstance(value, DictView) and is_groups(value.of):
            return groups.items(self, node, value.of, value.sort)
        it = growing.items(self, value) if is_growing(value) else iterable_of(
            self.r, records.iterator_of(self, node, value)
        )
        if it is None:
            dicts.note_order(self, value)
            reason = f"iterating over a {refusals.name_of(value)} is not supported"
            raise self.refuse(node, reason, "use range(...), an array, a tuple or a list")
        return it

    def expr_NamedExpr(self, node: ast.NamedExpr, env: Env) -> Any:
        env[node.target.id] = value = self.expr(node.value, env)
        return value

    def expr_JoinedStr(self, node: ast.JoinedStr, env: Env) -> Any:
        return texts.joined_text([self.piece(p, env) for p in node.values])

    def piece(self, node: ast.expr, env: Env) -> Text:
        """One part of an f-string."""
        if not isinstance(node, ast.FormattedValue):
            return texts.text_of(self, node, self.expr(node, env))
        value = self.any_expr(node.value, env)
        of_texts = is_text(value)
        if type(value) is Cond and not of_texts and (node.format_spec is not None or node.conversion > 0):
            self.at(node)
            check_one_type(self.r, value)
        spec = "" if node.format_spec is None else settled(self.r, self.expr(node.format_spec, env))
        self.at(node)

        def formatted(x: Any) -> Text:
            if of_texts and type(x) is Cond:
                return Text((Part(x.map(lambda arm: texts.joined_text([formatted(arm)]))),))
            return texts.formatted_value(self, node, x, spec, chr(node.conversion) if node.conversion > 0 else "")

        if spec and (split := of_each_origin(self.r, value)) is not None:
            return Text((Part(self.by_type(node, (split,), env, lambda x: texts.joined_text([formatted(x)]))),))
        return formatted(value)

    def expr_Slice(self, node: ast.Slice, env: Env) -> Any:
        return slice(*(None if part is None else self.expr(part, env) for part in (node.lower, node.upper, node.step)))

    def expr_BinOp(self, node: ast.BinOp, env: Env) -> Any:
        self.consumed |= {node.left, node.right}
        a, b = self.any_expr(node.left, env), self.any_expr(node.right, env)
        self.at(node)
        made = self.by_type(node, (a, b), env, lambda a, b: self.operate(type(node.op).__name__, a, b))
        return self.noted(node, (a, b), made)

    def noted(self, function: Any, given: Sequence[Any], made: Any) -> Any:
        """What an operator or a function has made of these, of which it is noted whose memory it is."""
        if not self.is_fixed_here() and isinstance(made, (ArrayRef, tuple, list)):
            memory.note(function, given, [x for x in self.flat([made]) if isinstance(x, ArrayRef)])
        return made

    def operate(self, name: str, a: Any, b: Any) -> Any:
        """`a OP b`, by the operator's name in the syntax tree."""
        a, b = dicts.closed(self, a), dicts.closed(self, b)
        if is_plain(a) and is_plain(b) and name != "MatMult":
            try:
                return binary(self.r, name, a, b)
            except UnknownSign:
                return self.call_function(prelude.power_of_ints, [a, b], {})
        node = ast.Pass()
        a, b = array_likes.operands(self, node, groups.listing(self, node, a), groups.listing(self, node, b))
        a, b = operators.as_sets(a, b)
        if (found := made_objects.operated(self.r, SPECIAL[name], a, b)) is not NotImplemented:
            return found
        if name != "MatMult":
            check_steady(self.r, a, b)
        if (found := sets.operate(self, node, name, a, b)) is not NotImplemented:
            return found
        a = settled(self.r, a) if name == "Mod" else a
        if isinstance(a, str) and name == "Mod":
            return texts.percent(self, node, a, b)
        if self.coding is not None:
            labels.operate(self, node, a, b)
        if is_growing(a) or is_growing(b):
            if (found := list_calls.operate(self, node, name, a, b)) is not NotImplemented:
                return found
            a, b = list_arrays.beside(self, node, a, b)
        if name == "Mult" and (found := texts.repeated(self, node, a, b)) is not NotImplemented:
            return found
        if operators.is_operand(a) or operators.is_operand(b):
            found = operators.operate(self, node, name, a, b)
            if found is not NotImplemented:
                return found
        if isinstance(a, Text) or isinstance(b, Text):
            if name == "Add":
                return texts.added(self, node, a, b)
            texts.check_known(self.r, a, b)
        a, b = subclasses.operands(self.r, a, b)
        a, b = self.beside(as_plain(a), b), self.beside(as_plain(b), a)
        if name == "MatMult":
            if (found := sparse.matmul(self.r, a, b)) is not NotImplemented:
                return found
            check_steady(self.r, a, b)
            if not isinstance(a, ArrayRef) and not isinstance(b, ArrayRef):
                return ask(operator.matmul, concrete(a), concrete(b))  # raises what Python raises
            for x in (a, b):
                if not is_operand(x):
                    raise self.r.refuse(f"a {refusals.name_of(x)} as an operand of @", "use arrays: np.array(x)")
            return matmul(self.r, a, b, "matmul")
        return binary(self.r, name, a, b)

    def beside(self, x: Any, other: Any) -> Any:
        """An operand; a list, tuple or range beside an array becomes the array of its items."""
        if not isinstance(other, ArrayRef):
            return x
        if not isinstance(x, (Range, range)):
            return as_operand(self.r, x, other.dtype)
        by_dtype = other.element.is_float or other.element.is_complex  # that of an empty range makes no difference
        return self.in_array(ast.Pass(), x) if by_dtype else self.array_of(ast.Pass(), x)

    def array_of(self, node: ast.AST, x: Range | range) -> Any:
        """The array that NumPy makes of a range; that of an empty one is of float64."""
        it = Range(x.start, x.stop, x.step) if isinstance(x, range) else x
        last = sub(length(self.r, it), 1)
        if self.r.ask_nonneg(last) is False:
            return self.call(node, np.empty, [0], {})
        reason = "the array of a range that is empty, which only the run time knows, is of float64"
        self.r.require_nonneg(last, UnsupportedError, reason)
        return self.in_array(node, x)

    def expr_UnaryOp(self, node: ast.UnaryOp, env: Env) -> Any:
        a = self.any_expr(node.operand, env)
        self.at(node)
        return self.noted(node, (a,), self.by_type(node, (a,), env, lambda a: self.unary(node, a)))

    def unary(self, node: ast.UnaryOp, a: Any) -> Any:
        """`OP a`."""
        if is_label(a) and not isinstance(node.op, ast.Not):
            labels.operate(self, node, a, a)
        check_steady(self.r, a)
        if not isinstance(node.op, ast.Not) and made_objects.is_object(a):
            return made_objects.operated(self.r, SPECIAL[type(node.op).__name__], a)
        if isinstance(a, Record) and not isinstance(node.op, ast.Not):
            found = operators.signed(self, node, type(node.op).__name__, a)
            if found is not NotImplemented:
                return found
        if isinstance(node.op, ast.Not):
            known = self.truth(node, a)
            return (not known) if isinstance(known, bool) else self.negate(known)
        return unary(self.r, type(node.op).__name__, a)

    def negate(self, condition: PyBool) -> PyBool:
        value = negation(self.r, condition.value)
        return PyBool(value, None if condition.nonneg is None else sub(-1, condition.nonneg))

    def expr_Compare(self, node: ast.Compare, env: Env) -> Any:
        if len(node.ops) == 1:
            (op,), a = node.ops, self.any_expr(node.left, env)
            b = self.asked_for_items(op, node.comparators[0], env)
            whole = isinstance(op, (ast.In, ast.NotIn)) and takes_texts(b) and is_text(a)
            if whole or isinstance(op, (ast.Is, ast.IsNot)):
                return self.compare_one(node, op, a, b)
            return self.by_type(node, (a, b), env, lambda a, b: self.compare_one(node, op, a, b))
        left = self.any_expr(node.left, env)
        return self.chain(node, left, list(zip(node.ops, node.comparators)), env)

    def asked_for_items(self, op: ast.cmpop, node: ast.expr, env: Env) -> Any:
        """The right operand of a comparison. `x in NAME` asks a set from outside for nothing but what it holds."""
        if not isinstance(op, (ast.In, ast.NotIn)) or not isinstance(node, (ast.Name, ast.Attribute)):
            return self.any_expr(node, env)
        self.asking_items = self.scope
        try:
            return self.any_expr(node, env)
        finally:
            self.asking_items = None

    def chain(self, node: ast.Compare, left: Any, rest: list[tuple[ast.cmpop, ast.expr]], env: Env) -> Any:
        """a < b < c: evaluates the later operands only where the earlier comparison holds."""
        (op, right_node), *more = rest
        right = self.any_expr(right_node, env)
        first = self.by_type(node, (left, right), env, lambda a, b: self.compare_one(node, op, a, b))
        if not more:
            return first
        return self.and_then(node, first, lambda inner: self.chain(node, right, more, inner), env, keep=False)

    def compare_one(self, node: ast.Compare, op: ast.cmpop, a: Any, b: Any) -> Any:
        self.at(node)
        name = type(op).__name__
        if name in ("Is", "IsNot"):
            if self.r.held is not None:
                self.r.held.check_identity(self.r, a, b)
            if isinstance(a, np.dtype) and isinstance(b, np.dtype):
                longlongs.check_dtype(self.r, a, "which object a dtype is")
            if isinstance(a, GroupRef) or (isinstance(b, GroupRef) and a is not None):
                raise self.refuse(node, "`is` of a list of a defaultdict(list)", "compare keys")
            if is_inner(a) and is_inner(b):
                found = references.is_same(self, a, b)
            elif any(map(is_inner, (*ends(a), *ends(b)))) and not any(x is None for x in (a, b)):
                raise self.refuse(node, "`is` of what may be an item of a list", "compare their places")
            elif isinstance(a, memory.Base) or isinstance(b, memory.Base):
                found = memory.same_base(self.r, *((a, b) if isinstance(a, memory.Base) else (b, a)))
            else:
                found = same_thing(self.r, a, b)
            if isinstance(found, bool):
                return found == (name == "Is")
            return found if name == "Is" else self.negate(found)
        if name in ("In", "NotIn"):
            found = self.contains(node, b, a)
            return found if name == "In" else self.negate(found) if isinstance(found, PyBool) else not found
        return self.compared(node, name, a, b)

    def compared(self, node: ast.AST, name: str, a: Any, b: Any) -> Any:
        """a == b, a < b ..., by the operator's name in the syntax tree."""
        a, b = dicts.closed(self, a), dicts.closed(self, b)
        if isinstance(a, memory.Memory) or isinstance(b, memory.Memory):
            pair = memory.compared_memory(self.r, a, b)
            if name not in ("Eq", "NotEq"):
                symbol = {"Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">="}[name]
                said = f"'{symbol}' not supported between instances of 'memoryview' and 'memoryview'"
                raise Raises(TypeError(said))
            found = self.call(node, np.array_equal, list(pair), {})
            return found if name == "Eq" else self.negate(found) if isinstance(found, PyBool) else not found
        if self.coding is not None and (found := labels.compared(self, node, name, a, b)) is not NotImplemented:
            return found
        if name in ORDERS and type(a) is type(b) and type(a) in (list, tuple) and (holds_traced(a) or holds_traced(b)):
            return self.call_function(prelude.in_order, [a, b, ORDERS[name]], {})
        a, b = array_likes.operands(self, node, groups.listing(self, node, a), groups.listing(self, node, b))
        a, b = operators.as_sets(a, b)
        a, b = (reshaped(self.r, x.ref, (x.size,)) if isinstance(x, FlatIterator) else x for x in (a, b))
        check_steady(self.r, a, b)
        if (found := made_objects.operated(self.r, SPECIAL[name], a, b)) is not NotImplemented:
            return found
        if (found := keyed.compared(self, node, name, a, b)) is not NotImplemented:
            return found
        if is_growing(a) or is_growing(b):
            if (found := list_calls.compared(self, node, name, a, b)) is not NotImplemented:
                return found
            a, b = list_arrays.beside(self, node, a, b)
        if operators.is_operand(a) or operators.is_operand(b):
            found = operators.compared(self, node, name, a, b)
            if found is not NotImplemented:
                return found
        if (found := text_questions.compared(self, node, name, a, b)) is not NotImplemented:
            return found
        texts.check_known(self.r, *self.flat([a, b]))
        for x, other in ((a, b), (b, a)):
            if isinstance(x, Range) and isinstance(other, ArrayRef):
                continue
            if isinstance(x, (Range, SliceOf)) or (isinstance(x, slice) and holds_traced([x.start, x.stop, x.step])):
                raise self.refuse(node, "a comparison of ranges or slices", "compare their bounds")
        a, b = subclasses.operands(self.r, a, b)
        return compare(self.r, name, self.beside(a, b), self.beside(b, a))

    def contains(self, node: ast.AST, items: Any, x: Any) -> bool | PyBool:
        """`x in items`: known, or a number among known numbers (a NaN is in a tuple by its identity)."""
        if self.coding is not None and labels.among((items, x)):
            return labels.contains(self, node, items, x)
        check_steady(self.r, items)
        if is_cursor(items):
            raise cursors.refused(self, node, "`in` of")
        items = groups.listing(self, node, items)
        if (keys := keyed.view_in(items)) is not None and keys[1] == "keys":
            found = keyed.contains(self, node, keys[0], x)
            assert isinstance(found, (bool, PyBool))
            return found
        if keys is not None:
            items = keyed.listing(self, *keys)
        if is_growing(items):
            found = growing.contains(self, node, items, x)
            assert isinstance(found, (bool, PyBool))
            return found
        if isinstance(x, Text) or isinstance(items, Text):
            if (asked := text_questions.contains(self, node, items, x)) is not NotImplemented:
                return asked  # type: ignore[no-any-return]
        if isinstance(items, SetOfOne):
            ask(operator.contains, frozenset(), x)  # raises what Python raises for lists in it
            found = self.truth(node, self.compared(node, "Eq", x, items.item)) if isinstance(x, tuple) else False
            return found
        if isinstance(items, records.Variables):
            items = items.of.fields
        if isinstance(items, DictView):
            items = items.of if items.sort == "keys" else items.items()
        if isinstance(items, dict):
            return dicts.contains(self, node, items, x)
        texts.check_known(self.r, *self.flat([x, items]))
        if isinstance(items, (set, frozenset)) and holds_traced(x):
            return dicts.in_set(self, node, items, x)
        if isinstance(items, callables.LoadedModules):
            return callables.module_named(self, node, x) is not NOTHING
        if isinstance(items, Record) and items.kind is not dict and not records.lacks(self, items.kind, "__contains__"):
            method = records.special(self, node, items, "__contains__", "is not iterable")
            return self.truth(node, self.call(node, method, [x], {}))
        plain = isinstance(items, (tuple, list, set, frozenset)) and all(is_known_number(i) for i in items)
        nested = isinstance(items, (tuple, list)) and isinstance(x, (tuple, list, dict))
        if isinstance(items, ArrayRef):
            equal = compare(self.r, "Eq", items, self.beside(x, items))
            return self.truth(node, self.call(node, np.any, [equal], {}))
        if isinstance(items, (tuple, list)) and (not plain or isinstance(x, Scalar)):
            found = among_numbers(self.r, items, x)
            if found is not None:
                return found
        if (plain and isinstance(x, Scalar)) or (nested and (holds_traced(x) or holds_traced(items))):
            found = truth_of_all("any", self.r, tuple(compare(self.r, "Eq", x, i) for i in items))
            assert isinstance(found, (bool, PyBool))
            return found
        known = isinstance(items, (tuple, list, str, set, frozenset, range))
        if is_traced(x) or not known or any(is_traced(i) for i in items):
            raise self.refuse(node, "`in` needs values known at trace time", refusals.CONTAINS)
        objects = [o for o in (x, *items) if is_tracers(o)]
        if not all(isinstance(o, Record) and records.is_equal_to_itself_alone(self, o.kind) for o in objects):
            raise self.refuse(node, "`in` compares objects by their `__eq__`", "compare their items")
        return hold(operator.contains, items, x) if objects else ask(operator.contains, items, x)

    def expr_BoolOp(self, node: ast.BoolOp, env: Env) -> Any:
        return self.bool_chain(node, node.values, env)

    def bool_chain(self, node: ast.BoolOp, values: Sequence[ast.expr], env: Env) -> Any:
        """`and` or `or`: returns operands, and evaluates no more of them than Python would (rule F1)."""
        first = self.expr(values[0], env)
        if len(values) == 1:
            return first
        rest = lambda inner: self.bool_chain(node, values[1:], inner)  # noqa: E731
        return self.and_then(node, first, rest, env, keep=isinstance(node.op, ast.Or))

    def and_then(self, node: ast.AST, first: Any, rest: Callable[[Env], Any], env: Env, keep: bool) -> Any:
        """`rest` if the truth of `first` is not `keep`, else `first`."""
        known = self.condition(node, first)
        if isinstance(known, bool):
            return first if known == keep else rest(env)
        arms: list[Callable[[Env], Any]] = [lambda _: first, rest]
        return self.choose(node, known, arms if keep else arms[::-1], env)

    def condition(self, node: ast.AST, value: Any) -> bool | PyBool:
        """The truth of a value, decided by a guard where entry values determine it (rule F4)."""
        return self.decided(node, self.truth(node, value))

    def truth(self, node: ast.AST, value: Any) -> bool | PyBool:
        """bool(value): a bool where it is known now, else a condition."""
        if is_label(value):
            raise labels.refusal(self, node, "the truth of an array, or of a text out of one,", value)
        check_steady(self.r, value)
        return truth(self.r, operators.truth_of(self, node, value))  # type: ignore[no-any-return]

    def decided(self, node: ast.AST, known: bool | PyBool) -> bool | PyBool:
        self.at(node)
        decided = known if isinstance(known, bool) else self.entry_condition(known)
        return known if decided is None else decided

    def entry_condition(self, condition: PyBool) -> bool | None:
        if condition.nonneg is not None and self.r.entry_only(condition.nonneg):
            return self.r.ask_nonneg(condition.nonneg)
        return None

    def choose(self, node: ast.AST, condition: PyBool, arms: Sequence[Callable[[Env], Any]], env: Env) -> Any:
        """A traced choice between two expressions."""

        def arm(evaluate: Callable[[Env], Any]) -> Callable[[Env], None]:
            def run(inner: Env) -> None:
                try:
                    with self.scope.inside(inner):
                        inner["<value>"] = evaluate(inner)
                except Raises as said:
                    self.reached(said)
                    raise

            return run

        names = ("<value>", *stored([node]))
        trace_if(self.r, condition, env, [arm(a) for a in arms], names, frozenset(env) | frozenset(names))
        if "<value>" not in env:  # both arms raise, by sites that the paths decide
            raise DeadEnd
        return env.pop("<value>")

    def by_type(self, node: ast.AST, values: Sequence[Any], env: Env, evaluate: Callable[..., Any]) -> Any:
        """`evaluate(*values)`, for each type that a path-dependent one of them may have."""
        for x in values:
            if type(x) is Cond:
                return self.for_each_type(node, x.condition, values, env, evaluate)
        try:
            return evaluate(*values)
        except UnknownOrigin:
            split = [of_each_origin(self.r, x) for x in values]
            if not any(split):
                raise
            condition = next(s.condition for s in split if s)
            either = [s if s and s.condition is condition else x for s, x in zip(split, values)]
            return self.for_each_type(node, condition, either, env, evaluate)

    def by_items(self, node: ast.AST, values: Sequence[Any], env: Env, evaluate: Callable[..., Any]) -> Any:
        """`by_type`, of the items of tuples too."""
        found = next((p for x in values if type(x) is tuple for p in parts_of(x) if type(p) is Cond), None)
        if found is None:
            return self.by_type(node, values, env, evaluate)
        of_each = lambda *given: self.by_items(node, given, env, evaluate)  # noqa: E731
        return self.for_each_type(node, found.condition, values, env, of_each)

    def for_each_type(
        self, node: ast.AST, condition: Value, values: Sequence[Any], env: Env, evaluate: Callable[..., Any]
    ) -> Any:
        """`by_type` of values that a condition decides."""

        def arm(positive: bool) -> Callable[[Env], Any]:
            return lambda inner: self.by_type(
                node, [narrowed(x, condition, positive, self.r.heap) for x in values], inner, evaluate
            )

        return self.choose(node, PyBool(condition), [arm(True), arm(False)], env)

    def expr_IfExp(self, node: ast.IfExp, env: Env) -> Any:
        known = self.decided(node.test, operators.holds(self, node.test, env))
        if isinstance(known, bool):
            return self.any_expr(node.body if known else node.orelse, env)
        self.at(node)
        return self.choose(
            node, known, [lambda e: self.any_expr(node.body, e), lambda e: self.any_expr(node.orelse, e)], env
        )

    def expr_Subscript(self, node: ast.Subscript, env: Env) -> Any:
        tables.note_reads(self, [node.value])
        base = self.any_expr(node.value, env)
        index = self.index_expr(node.slice, base, env)
        self.at(node)
        if takes_texts(base) and is_text(index):
            return self.subscript(node, base, index)
        return self.by_index(node, base, index, env, partial(self.subscript, node))

    def index_expr(self, node: ast.expr, base: Any, env: Env) -> Any:
        """An index, or a slice or tuple of slices into an array with bounds that are written `x or None`."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        if not isinstance(base, ArrayRef) or not any(map(has_or_none, parts)):
            return self.any_expr(node, env)
        found = tuple(self.slice_expr(p, env) if isinstance(p, ast.Slice) else self.any_expr(p, env) for p in parts)
        return found if isinstance(node, ast.Tuple) else found[0]

    def slice_expr(self, node: ast.Slice, env: Env) -> Any:
        """A slice whose bounds may be written `x or None`."""

        def part(bound: ast.expr | None) -> Any:
            if not is_or_none(bound):
                return None if bound is None else self.expr(bound, env)
            value = self.expr(bound.values[0], env)
            if isinstance(value, PyInt) or (isinstance(value, NpScalar) and value.element.dtype.kind in "iu"):
                return OrNone(value)
            if is_traced(value):
                raise self.refuse(bound, f"a {refusals.name_of(value)} or None as a bound of a slice", "use an int")
            return value or None

        return SliceOf(part(node.lower), part(node.upper), part(node.step))

    def by_index(self, node: ast.AST, base: Any, index: Any, env: Env, evaluate: Callable[[Any, Any], Any]) -> Any:
        """`by_type` of what is indexed and of the index, also of the parts of one into an array."""
        if isinstance(base, ArrayRef) and (condition := condition_in(index)) is not None:
            inner = lambda base, index: self.by_index(node, base, index, env, evaluate)  # noqa: E731
            return self.for_each_type(node, condition, (base, index), env, inner)
        return self.by_type(node, (base, as_slices(index)), env, evaluate)

    def place(self, node: ast.Subscript, env: Env) -> tuple[Any, Any]:
        """What is indexed, and the index, which may be one or another key of a dict; one into an array may differ in
        parts by the path."""
        base = self.any_expr(node.value, env)
        index = self.index_expr(node.slice, base, env)
        base = self.apart(node.value, base, env)
        if isinstance(base, ArrayRef) and type(index) is not Cond and condition_in(index) is not None:
            return base, index
        index = as_slices(index)
        if type(index) is Cond and not isinstance(base, dict) and not (takes_texts(base) and is_text(index)):
            self.at(node)
            check_one_type(self.r, index)
        return base, index

    def apart(self, node: ast.expr, x: Any, env: Env) -> Any:
        """What is changed, of the value of an expression that no name holds yet; the statement did it for names."""
        return x if isinstance(node, ast.Name) else apart(self.r, x, env)

    def subscript(self, node: ast.AST, base: Any, index: Any) -> Any:
        index = as_slices(index)
        if self.coding is not None and (found := labels.subscript(self, node, base, index)) is not NotImplemented:
            return found
        if isinstance(base, ArrayRef):
            return subscripts.read(self.r, base, self.in_array(node, index))
        check_steady(self.r, base)
        if made_objects.is_object(base):
            return made_objects.item(self.r, base, index)
        if isinstance(base, (FlatIterator, tuple, list, str, range, Range)):
            index = self.as_index(node, index)
        if is_groups(base):
            return groups.read(self, node, base, index)
        if is_inner(base):
            return references.read(self, node, base, index)
        base = groups.listing(self, node, base)
        if is_keyed(base):
            return keyed.read(self, node, base, index)
        if is_growing(base):
            return growing.item(self, node, base, index)
        if isinstance(base, FlatIterator):
            places = self.places_of(node, index)
            if places is not None:
                return self.subscript(node, self.call(node, np.ravel, [base.ref], {}), places)
            return base.item(index)
        if isinstance(base, records.Variables):
            return records.variable(self, base.of, index)
        if isinstance(base, inspection.Flags):
            return inspection.flag(self.r, base, index, item=True)
        if isinstance(base, dict):
            return dicts.read(self, node, base, index)
        if isinstance(base, Record) and issubclass(base.kind, dict):  # of SciPy's
            return dicts.read(self, node, base.fields, index)
        if isinstance(base, Record):
            found = records.special(self, node, base, "__getitem__", "is not subscriptable")
            return self.call(node, found, [index], {})
        if isinstance(base, Text) and (found := text_questions.part(self, node, base, index)) is not NotImplemented:
            return found
        if isinstance(base, str) and isinstance(index, (PyInt, NpScalar)):
            if (letter := texts.letter(self, node, base, index)) is not NotImplemented:
                return letter
        if isinstance(base, (tuple, list, str)):
            if isinstance(index, PyInt) and self.picking and not self.r.entry_only(index.expr):
                found = self.picking[-1].item(base, index.expr)
                if found is not NotImplemented:
                    return found
            if isinstance(index, NpScalar) and not base and index.element.is_integer:
                ask(operator.getitem, base, 0)  # raises what Python raises
            if isinstance(base, tuple) and (found := picked.item(self, node, base, index)) is not NotImplemented:
                return found
            if type(base) is list and (found := tables.row(self, node, base, index)) is not NotImplemented:
                return found
            if type(base) is list and (found := picked.item_of_callers(self, node, base, index)) is not NotImplemented:
                return found
            if isinstance(index, (PyInt, PyBool)):
                if not base and not self.r.entry_only(whole_number(self.r, index)):
                    ask(operator.getitem, base, 0)  # raises what Python raises
                if not self.r.entry_only(whole_number(self.r, index)):
                    self.note_picked(base)
                index = self.known_int(index, "the index of a tuple or list")
            if isinstance(index, slice):
                parts = (index.start, index.stop, index.step)
                if any(isinstance(part, PyInt) and not self.r.entry_only(part.expr) for part in parts):
                    self.note_growth(base)
                if any(isinstance(part, NpScalar) for part in parts):
                    self.note_growth(base)
                    reason = f"the bounds of a {type(base).__name__}'s slice are only known at run time"
                    raise self.refuse(node, reason, "slice an array: np.array(x)[i:j]")
                index = slice(
                    *(self.known_int(i, "a tuple's slice") if isinstance(i, (PyInt, PyBool)) else i for i in parts)
                )
            if not is_traced(index):
                found = ask(operator.getitem, base, index)
                return self.own(found) if isinstance(index, slice) and type(base) is list else found
        if (grid := GRIDS.get(type(base))) is not None:
            return self.call_function(grid, [index], {})
        if isinstance(base, type(np.s_)):
            return as_value((index,) if base.maketuple and not isinstance(index, tuple) else index)
        if isinstance(base, (Range, range)):
            it = iterable_of(self.r, base)
            assert isinstance(it, Range)
            return range_item(self.r, it, index)
        if isinstance(base, OneShotIterator):
            raise Raises(TypeError(f"'{base.kind}' object is not subscriptable"))
        if records.is_enum(base) and isinstance(index, str):
            return records.member(self, ask(operator.getitem, base, index))
        if isinstance(base, Scalar) and not is_traced(index):
            ask(operator.getitem, stand_in(base), index)  # raises what Python raises
            if isinstance(base, NpScalar) and base.python is None:  # by `...`, None and (), the indices that it has
                return subscripts.read(self.r, as_array(self.r, base), index)
        if isinstance(base, np.ndarray):
            raise self.refuse(node, "an array from outside the function", "pass it as an argument")
        if base is None or type(base) is object or isinstance(base, (int, float, complex)):
            ask(operator.getitem, base, index)
        if isinstance(base, callables.LoadedModules):
            return callables.module_or_raise(self, node, index)
        if isinstance(base, type) and base.__module__ in GENERIC and not any(map(is_traced, self.flat([index]))):
            return ask(operator.getitem, base, index)  # a type for checkers
        if isinstance(base, (tuple, list, str)):
            self.note_picked(base)
            reason = f"the index of a {type(base).__name__} is only known at run time"
            raise self.refuse(node, reason, "index an array: np.array(x)[i]")
        raise self.refuse(node, f"indexing a {refusals.name_of(base)} is not supported", "index arrays and tuples")

    def places_of(self, node: ast.AST, index: Any) -> ArrayRef | None:
        """An index of `a.flat` that is an array or list of ints, as an array."""
        listed = (type(index) is list and bool(index)) or is_growing(index)
        places = self.call(node, np.asarray, [index], {}) if listed else index
        if not isinstance(places, ArrayRef) or not places.ndim or places.dtype.kind not in "iu":
            return None
        return None if places.dtype == np.uint64 else places

    def rolled(self, node: ast.AST, items: Any) -> Any:
        """list(items), made in a loop."""
        self.at(node)  # not where an item of it is made
        made = self.own([])
        self.append_all(node, made, items)
        return made

    def append_all(self, node: ast.AST, made: Any, items: Any) -> None:
        """Appends items to a list, in a loop."""
        self.put_all(prelude.list_of, made, items)

    def put_all(self, by: Callable[..., Any], made: Any, items: Any) -> None:
        """Puts items into a container, in a loop of the prelude's."""
        folds.fold(self, by, growing.iterator(self, items), [made])

    def note_growth(self, x: Any, more: Sequence[Any] = (), form: Form | None = None) -> None:
        """Notes that a list, which gets more items, or some of a form, is indexed by what only the run time knows."""
        if type(x) is list:
            known = self.r.heap.find(x)
            label = self.r.heap.stand_ins.get(x) if known is None else known.label
            self.r.growth.note(label, [*x, *more])
            if form is not None:
                self.r.growth.note_form(label, form)

    def note_picked(self, x: Any) -> None:
        """Notes that the run time picks items of a container: of the caller's lists of lists, of all lists in it."""
        self.note_growth(x)
        if type(x) is list and self.r.heap.number(x) is not None:
            for row in (row for y in (x, *tables.around(self, x)) for row in y):
                if type(row) is list:
                    self.note_growth(row)

    def known_int(self, x: PyInt | PyBool, what: str) -> int:
        """The value that an int or a bool has in the traced call."""
        return self.r.static_int(whole_number(self.r, x), what)

    def expr_Attribute(self, node: ast.Attribute, env: Env) -> Any:
        base = self.any_expr(node.value, env)
        self.at(node)
        return self.by_type(node, (base,), env, lambda base: self.attribute(node, base, node.attr))

    def attribute(self, node: ast.AST, base: Any, name: str) -> Any:
        """`base.name`."""
        if name == "__getitem__" and (isinstance(base, ArrayRef) or is_growing(base)):
            return self.call_function(prelude.getter, [base], {})
        if not is_traced(base):
            return self.plain_attribute(node, base, name)
        if isinstance(base, ArrayRef):
            inspection.check_attribute(self.r, name)
        if isinstance(base, NpScalar) and base.python is not None:
            self.check_has(base, name)
        value = table.attribute(self.r, base, name)
        if value is not NotImplemented:
            return value
        if isinstance(base, ArrayRef) and name in ("tolist", "setflags"):
            return Method(base, name)
        if isinstance(base, ArrayRef) and name in METHODS:
            return Method(base, name)
        if isinstance(base, NpScalar) and name in METHODS and hasattr(np.generic, name):
            return Method(as_array(self.r, base), name, True)
        kind = np.ndarray if isinstance(base, ArrayRef) else type(stand_in(base))
        if hasattr(kind, name):
            article = "an array" if isinstance(base, ArrayRef) else f"a number of type {kind.__name__}"
            raise self.refuse(node, f"`.{name}` of {article} is not supported yet", refusals.attribute(name))
        raise Raises(AttributeError(f"'{refusals.name_of(base)}' object has no attribute '{name}'"))

    def check_has(self, base: NpScalar, name: str) -> None:
        """Records a check where a number has an attribute as NumPy's only, and may be Python's."""
        numpys, *pythons = origins(base)
        if not hasattr(numpys, name) and any(hasattr(x, name) for x in pythons):
            raise unknown_origin(self.r.loc)
        there = by_origin(self.r, base, lambda x: hasattr(x, name))
        if isinstance(there, PyBool):
            kind = type(pythons[0]).__name__
            self.r.check(there.value, AttributeError, f"'{kind}' object has no attribute '{name}'")

    def plain_attribute(self, node: ast.AST, base: Any, name: str) -> Any:
        """`base.name` of what is not traced."""
        base = dicts.closed(self, base)
        if is_cursor(base):
            raise cursors.refused(self, node, f"`.{name}` of")
        if is_label(base):
            return labels.attribute(self, node, base, name)
        if base is np or base is math:
            return self.held_attribute(node, base, name)
        if records.is_local(base):
            if (found := records.in_class(base.__mro__, name)) is records.MISSING:
                raise Raises(AttributeError(f"type object '{base.__name__}' has no attribute '{name}'"))
            return found if isinstance(found, NestedFunction) else records.from_class(self, node, base, found, name)
        if name == "format" and isinstance(known := settled(self.r, base), str):
            return ask(getattr, known, name)
        for methods in (texts.method, text_questions.method):
            if (found := methods(base, name)) is not NotImplemented:
                return found
        texts.check_known(self.r, base)
        if isinstance(base, callables.LoadedModules) and hasattr(dict, name):
            if name != "get":
                raise self.refuse(node, f"`.{name}` of sys.modules", "sys.modules.get(name), or name in sys.modules")
            return Partial(callables.get_module, (base,), {})
        if isinstance(base, (Caught, MadeError)):
            return texts.exception_attribute(self, node, base, name)
        found = dicts.method(base, name)
        if is_groups(base) and name in base.fields and self.scope.source.file == hashing.__file__:
            return base.fields[name]
        if found is None and (isinstance(base, GroupRef) or is_groups(base)):
            reason = f"`.{name}` of a defaultdict(list) by run-time keys, or of a list in one"
            raise self.refuse(node, reason, "d[k].append(x), or sorted(d[k])")
        if found is None and is_inner(base):
            sort = base.kind.__name__
            if not hasattr(dict if sort == "dict" else list, name):
                raise Raises(AttributeError(f"'{sort}' object has no attribute '{name}'"))
            raise self.refuse(node, f"`.{name}` of a {sort} that is an item of a list", f"use a copy: x = {sort}(x)")
        if found is None and is_growing(base):
            if not hasattr(python_of(base), name):
                raise Raises(refusals.without(python_of(base), name))
            reason = f"`.{name}` of a {python_of(base).__name__} whose length is only known at run time"
            raise self.refuse(node, reason, "store into an array that is made before")
        if found is not None:
            return found
        if (found := talk.attribute(base, name)) is not NotImplemented:
            return found
        if isinstance(base, records.Variables):
            return records.method_of_variables(self, node, base, name)
        if records.has_attributes_here(base):
            return records.attribute(self, node, base, name)
        if isinstance(base, inspection.Flags):
            return inspection.flag(self.r, base, name)
        if isinstance(base, memory.Memory):
            return memory.memory_attribute(self.r, base, name, partial(self.attribute, node))
        if isinstance(base, memory.Base):
            raise self.refuse(node, f"`.{name}` of the base of an array of the caller's", memory.INSTEAD)
        if (drawer := draws.drawer_of(base)) is not None:
            return draws.attribute(self.r, drawer, name)
        if isinstance(base, Untold):
            return made_objects.attribute(self.r, base, name)
        for attribute in (sparse.attribute, objects.method):
            if (found := attribute(base, name)) is not NotImplemented:
                return found
        if isinstance(base, Buffer):
            return array_likes.attribute(self, node, base, name)
        if isinstance(base, NoneArray):
            return array_likes.attribute_of_none(self, node, base, name)
        if is_tracers(base):
            kind = base.of.T if isinstance(base, sparse.Transposed) else eager_kind(base)
            if kind is not object and not hasattr(kind, name):
                raise Raises(refusals.without(kind, name))
            reason = f"`.{name}` of a {refusals.name_of(base)} is not supported in a traced function"
            raise self.refuse(node, reason, "build a tuple, or store into an array")
        return self.held_attribute(node, base, name)

    def held_attribute(self, node: ast.AST, base: Any, name: str) -> Any:
        """What an object that is not the tracer's holds under a name."""
        if base is sys and name == "modules":
            return callables.MODULES
        try:
            there = type(base) is types.ModuleType and name in vars(base)
            value = vars(base)[name] if there else ask(getattr, base, name)
        except Raises as said:
            if isinstance(said.error, AttributeError) and isinstance(base, (types.ModuleType, type, threading.local)):
                missing = OfClass(base, name) if isinstance(base, type) else Absent(Attribute(base, name))
                self.captures.setdefault((name, id(base)), (name, missing, NOTHING))
            raise
        if isinstance(base, types.ModuleType):
            if self.is_fixed_here() and not is_users(value):
                return value
            ours = base.__name__.partition(".")[0] in ("numpy", "scipy", "math", "cmath")
            if not ours or put_there(base, name, value):
                return self.capture(name, Attribute(base, name), value, base)
            self.taken.setdefault((name, id(base)), (name, Attribute(base, name), value))
            return value
        if isinstance(base, type) and base.__module__.partition(".")[0] not in ("numpy", "builtins"):
            held = records.in_class(base.__mro__, name)
            if isinstance(held, classmethod) and isinstance(held.__func__, types.FunctionType):
                if not hasattr(type(base), name):
                    return records.from_class(self, node, base, held, name)
            plain = records.in_class(base.__mro__, name) is value and not hasattr(type(base), name)
            return self.capture(name, OfClass(base, name) if plain else Attribute(base, name), value, base)
        if isinstance(base, np.dtype):
            longlongs.check_answer(self.r, lambda dtype: ask(getattr, dtype, name), base, f"`.{name}` of a dtype")
        if isinstance(base, (np.ufunc, np.dtype, type, str, *NUMBERS, np.finfo, np.iinfo, slice, types.CodeType)):
            return value
        if isinstance(base, (tuple, list, dict, set, type(None))) and not records.has_fields(base):
            if not hasattr(base, name):
                raise Raises(AttributeError(f"'{refusals.name_of(base)}' object has no attribute '{name}'"))
            self.note_growth(base)
            dicts.note_change(self, base, name)
            reason = f"`.{name}` of a {type(base).__name__} is not supported in a traced function"
            raise self.refuse(node, reason, "build a tuple, or store into an array")
        if base in self.constants or isinstance(base, Enum):
            return callables.constant_attribute(self, node, base, name)
        return records.foreign_attribute(self, node, base, name, value)

    def expr_Lambda(self, node: ast.Lambda, env: Env) -> Any:
        return self.make_nested(node, "<lambda>", env)

    def make_nested(self, node: ast.FunctionDef | ast.Lambda, name: str, env: Env) -> NestedFunction:
        """A function object for an inner def or lambda; it sees the enclosing names as they are when it is called."""
        outer = self.scope
        source = make_source(node, outer.source.file)
        plain = [*node.args.posonlyargs, *node.args.args]
        pairs = list(zip([a.arg for a in plain][len(plain) - len(node.args.defaults) :], node.args.defaults))
        pairs += [(a.arg, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults) if d is not None]
        defaults = {n: self.expr(d, env) for n, d in pairs}

        cells = outer.cells[::-1]

        def lookup(wanted: str) -> Any:
            for cell in cells:
                if wanted in cell:
                    return cell[wanted]
            if wanted not in outer.env:
                return outer.lookup(wanted)
            return bound_value(self.r, wanted, outer.env[wanted], free=True)

        return NestedFunction(source, name, lookup, defaults, outer.names)

    # -- calls
    def expr_Call(self, node: ast.Call, env: Env) -> Any:
        base = self.any_expr(node.func.value, env) if isinstance(node.func, ast.Attribute) else None
        if isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            base = self.apart(node.func.value, base, env)
        of_several = type(base) is Cond
        function = None if of_several else self.callee(node.func, base, env)
        if function is zip and len(node.args) == 1 and isinstance(star := node.args[0], ast.Starred):
            value = self.expr(star.value, env)
            self.at(node)
            if not node.keywords and (found := growing.transposed(self, node, value)) is not None:
                return found
            args = self.iterate_static(star, value)
        else:
            if any(function is reader for reader in tables.READERS):
                tables.note_reads(self, node.args)
            args = self.items(node.args, env)
        kwargs: dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.any_expr(keyword.value, env)
            self.add_named(node, kwargs, value if keyword.arg is None else {keyword.arg: value})
        self.at(node)
        if function is eval and len(args) == 1 and type(args[0]) is str and not (kwargs or self.scope.cells):
            return callables.evaluated(self, node, args[0], env)
        call = operators.reshape_to_read if node in self.consumed else type(self).call
        if not of_several and takes_choices(function):
            return call(self, node, function, args, kwargs)
        places = tuple(kwargs)

        def run(base: Any, *given: Any) -> Any:
            called = self.callee(node.func, base, env) if of_several else function
            return call(self, node, called, list(given[: len(args)]), dict(zip(places, given[len(args) :])))

        return self.by_items(node, (base, *args, *kwargs.values()), env, run)

    def callee(self, node: ast.expr, base: Any, env: Env) -> Any:
        """What a call calls: an attribute of `base`, if it is one."""
        if not isinstance(node, ast.Attribute):
            return self.expr(node, env)
        self.at(node)
        return self.attribute(node, base, node.attr)

    def add_named(self, node: ast.Call, kwargs: dict[str, Any], more: Any) -> None:
        """Adds what `name=x` or `**x` gives to the named arguments of a call."""
        self.at(node)
        more = references.listing(self, node, records.listed_variables(self, node, more))
        if not isinstance(more, dict):
            raise Raises(TypeError(f"argument after ** must be a mapping, not {refusals.name_of(more)}"))
        for name, value in more.items():
            if not isinstance(name, str):
                raise Raises(TypeError("keywords must be strings"))
            if name in kwargs:
                raise Raises(TypeError(f"got multiple values for keyword argument '{name}'"))
            kwargs[name] = value

    def call(self, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A call; of a program that has memmaps, it is noted which arrays may be such after it."""
        if is_of_libraries(function):
            longlongs.note(self.r, function, [*args, *kwargs.values()])
        self.unread_function = closure_of(function) if node is self.unread_call else None
        try:
            made = self.dispatch(node, function, args, kwargs)
        except UnknownRank as unknown:
            made = self.call_function(prelude.squeezed, [unknown.ref, unknown.ones, unknown.axis], {})
        if isinstance(made, (ArrayRef, tuple, list)) and is_of_libraries(function):
            of = [function.ref] if isinstance(function, Method) else []
            given = [*of, *self.flat([*args, *kwargs.values()])]
            self.noted(function.name if isinstance(function, Method) else function, given, made)
        if self.r.maps is not None and not self.is_fixed_here() and is_of_libraries(function):
            of = [function.ref] if isinstance(function, Method) else []
            given = [x for x in (*of, *self.flat([*args, *kwargs.values()])) if isinstance(x, ArrayRef)]
            results = [x for x in self.flat([made]) if isinstance(x, ArrayRef)]
            known = "subok" not in kwargs
            self.r.maps.note(self.r, function.name if isinstance(function, Method) else function, given, results, known)
        return made

    def dispatch(self, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A call, dispatched on the callee itself (rule X1)."""
        if isinstance(function, np.ufunc) and not kwargs and all(map(is_plain, args)):
            if table.is_numpys(function):
                return table.call_known(self.r, function, args, kwargs)
        if function is len and len(args) == 1 and type(args[0]) in (list, tuple) and not kwargs:
            return len(args[0])
        if getattr(function, "__wrapped__", None) is open:
            function = open  # IPython's, which asks for the file descriptor first
        if not takes_choices(function):
            if (found := folds.of_choices(self, node, function, args, kwargs)) is not NotImplemented:
                return found
            args = array_likes.with_floats(self, node, function, args, kwargs)
            check_one_type(self.r, *self.flat([*args, *kwargs.values()]))
        if any(isinstance(x, SetOfOne) for x in (*args, *kwargs.values())) and not takes_choices(function):
            if function is len and len(args) == 1 and not kwargs:
                return 1
            if len(args) == 1 and any(function is f for f in (list, tuple, iter)):
                args = [self.own([x.item]) if isinstance(x, SetOfOne) else x for x in args]
            args = [dicts.closed(self, x) for x in args]
            kwargs = {k: dicts.closed(self, x) for k, x in kwargs.items()}
        if any(isinstance(x, records.Variables) for x in (*args, *kwargs.values())):
            args = [records.listed_variables(self, node, x, function) for x in args]
            kwargs = {k: records.listed_variables(self, node, x, None) for k, x in kwargs.items()}
        if (made_of_none := array_likes.of_none(function, args, kwargs)) is not None:
            return made_of_none
        if any(isinstance(x, Progress) for x in args) and any(function is f for f in talk.GO_THROUGH):
            args = [talk.along(self, node, x) for x in args]
        if function is np.select and len(args) == 2 and kwargs.keys() == {"default"}:
            args, kwargs = [*args, kwargs["default"]], {}
        if (arrays := labels.with_arrays(self, function, args, kwargs)) is not None:
            return labels.call(self, node, function, arrays, kwargs)
        if self.coding is not None and labels.among((*args, *kwargs.values())):
            if isinstance(function, dicts.ContainerMethod):
                labels.check_method(self, node, function.name, args)
            elif not is_inlined(function) or heaps.takes(function):
                if (found := labels.call(self, node, function, args, kwargs)) is not NotImplemented:
                    return found
        if (draw := draws.draw_of(function)) is not None:
            if draw.name == "shuffle" and len(args) == 1 and not kwargs and is_list(args[0]):
                order = self.call(node, np.arange, [self.call(node, len, args, {})], {})
                draws.call(self.r, draw, [order], {})  # which draws what a list's shuffle does
                return self.call_function(prelude.shuffled, [args[0], order], {})
            drawn_from = [self.array_of(node, x) if isinstance(x, (Range, range)) else as_plain(x) for x in args]
            drawn_from, kwargs = (list_arrays.as_arrays(self, node, x, None) for x in (drawn_from, kwargs))
            return draws.call(self.r, draw, drawn_from, kwargs)
        if (drawn := twister.call(self.r, self.call_function, function, args, kwargs)) is not NotImplemented:
            return drawn
        if isinstance(function, NO_CALLEES):
            raise Raises(TypeError(f"'{refusals.name_of(function)}' object is not callable"))
        if (made := self.call_numbas(function, args, kwargs)) is not NotImplemented:
            return made
        if function is np.fromiter and args and len(args) + len(kwargs) > 1:
            if isinstance(args[0], (Generator, ArrayRef, list, tuple, range, Range, OneShotIterator)):
                return self.from_items(node, *args, **kwargs)
        if any(function is f for f in TAKES_ALL) and "key" not in kwargs and args and isinstance(args[0], Generator):
            args = [self.listed(node, args[0]), *args[1:]]
            if function is list and len(args) == 1 and not kwargs:
                return args[0]
            if type(args[0]) is list and any(type(x) is Cond for x in args[0]):
                return self.dispatch(node, function, args, kwargs)
        if args and isinstance(args[0], Generator) and (by := OF_GENERATORS.get(id(function))) is not None:
            return self.call_function(by, args, kwargs)
        if function is zip and len(args) == 2 and not kwargs:
            for by, items, other in ((prelude.zipped_with, *args), (prelude.zipped_to, *args[::-1])):
                if isinstance(items, Generator) and isinstance(other, (ArrayRef, list, tuple, range, Range)):
                    return self.call_function(by, args, {})
        found = array_likes.call(self, node, function, args, kwargs)
        if found is not NotImplemented:
            return found
        args, kwargs = array_likes.given(self, node, function, args, kwargs)
        if function is next and args and isinstance(args[0], Generator):
            return call_handler(folds.following, self, node, *args, **kwargs)
        if function is iterate:
            return iterators.stepped(self, node, args[0])
        if any(map(is_cursor, (*args, *kwargs.values()))) and not is_inlined(function):
            return folds.with_cursors(self, node, function, args, kwargs)
        if not hands_on(function):
            check_steady(self.r, *self.flat([*args, *kwargs.values()]))
        if (asked := made_objects.asked(self.r, function, args, kwargs)) is not NotImplemented:
            return asked
        if function is namedtuple:
            return records.define_tuple(self, node, args, kwargs)
        if function is deque:
            return deques.call(self, node, args, kwargs)
        for call in (heaps.call, sets.make, keyed.make):
            if (found := call(self, node, function, args, kwargs)) is not NotImplemented:
                return found
        if function is defaultdict and len(args) == 1 and not kwargs and args[0] is list:
            return groups.begin(self, node, keyed.label_of(self.at(node)))
        if function is len and len(args) == 1 and is_inner(args[0]) and not kwargs:
            return references.length(self, args[0])
        if (function is reversed or function is iter) and len(args) == 1 and is_inner(args[0]) and not kwargs:
            return references.iterator(self, node, args[0], function is reversed)
        if function is len and len(args) == 1 and isinstance(args[0], GroupRef) and not kwargs:
            return groups.length(self, node, args[0])
        if (function is str or function is repr) and len(args) == 1 and not kwargs and is_listed(args[0]):
            return texts.text_of(self, node, args[0], function is repr)
        if not is_inlined(function):
            args = groups.given(self, node, function, args)
        if function is dict and kwargs and not any(is_growing(x) or keyed.view_in(x) for x in args):
            return call_handler(dicts.make, self, node, *args, **kwargs)
        if any(keyed.view_in(x) for x in (*args, *kwargs.values())) and not is_inlined(function):
            return keyed.call(self, node, function, args, kwargs, records.is_numpys(function))
        if list_calls.takes(function, [*args, *kwargs.values()]) and not is_inlined(function):
            return list_calls.call(self, node, function, args, kwargs, records.is_numpys(function))
        found = records.call_with_objects(self, node, function, args, kwargs)
        if found is not NotImplemented:
            return found
        if isinstance(function, Method) and function.name == "setflags":
            return call_as(np.ndarray.setflags, self.set_flags, (function.ref,), args, kwargs)
        if isinstance(function, Method) and function.name == "tolist":
            if args or kwargs:
                raise Raises(TypeError("ndarray.tolist() takes no arguments"))
            return self.to_list(node, function.ref)
        if isinstance(function, Method):
            given, named = subclasses.arguments(self.r, True, False, args, kwargs)
            given, named = [as_plain(x) for x in given], {k: as_plain(x) for k, x in named.items()}
            made = table.call_array_method(self.r, function.ref, function.name, given, named)
            alone = function.of_number and isinstance(made, ArrayRef) and not made.ndim
            return self.r.number(made) if alone else made
        if isinstance(function, NestedFunction):
            return self.call_nested(function, args, kwargs)
        if function is partial:
            if not args or isinstance(args[0], NO_CALLEES):
                ask(partial, *map(concrete, args[:1]))  # raises what Python raises
            return Partial(args[0], tuple(args[1:]), kwargs)
        if isinstance(function, (Partial, partial)):
            first, named = self.bound_before(function)
            return self.call(node, function.func, [*first, *args], {**named, **kwargs})
        if isinstance(function, dicts.ContainerMethod):
            return dicts.call(self, node, function, args, kwargs)
        if function is range:
            return make_range(self.r, args)
        if (function is isinstance or function is type) and args and isinstance(args[0], Range):
            args = [range(0), *args[1:]]
        if function is len and len(args) == 1 and isinstance(args[0], Range) and not kwargs:
            return as_int_value(length(self.r, args[0]))
        if untraced.takes_class_method(function) and not self.is_in_library():
            return untraced.call(self.r, function, *with_callbacks(self.r, [args, kwargs], self.global_lookup))
        if untraced.takes_class(function) and not self.is_in_library():
            return made_objects.make(self.r, function, *with_callbacks(self.r, [args, kwargs], self.global_lookup))
        if isinstance(function, (Untold, UntoldMethod)):
            given = with_callbacks(self.r, [args, kwargs], self.global_lookup)
            return made_objects.called(self.r, function, *given)
        for make in (draws.make, objects.call):
            found = make(self.r, function, args, kwargs)
            if found is not NotImplemented:
                return found
        if function is sorted and "key" in kwargs:
            return call_handler(list_order.sorted_by, self, node, *args, **kwargs)
        found = records.call(self, node, function, args, kwargs)
        if found is not NotImplemented or isinstance(function, records.BoundMethod):  # which may give NotImplemented
            return found
        if function is list and len(args) == 1 and not kwargs and isinstance(args[0], LONG):
            return self.list_of(node, args[0])
        if function is sorted and len(args) == 1 and isinstance(args[0], ArrayRef) and args[0].ndim == 1:
            listed = growing.of_array(self, node, args[0], False)
            return list_calls.call(self, node, function, [listed], kwargs, False)
        if function is sorted and len(args) == 1 and isinstance(args[0], OneShotIterator):
            args = [self.list_of(node, args[0])]
            if list_arrays.among(args):
                return list_calls.call(self, node, function, args, kwargs, False)
            check_one_type(self.r, *self.flat(args))  # of an iterator they are only known now
        if function is sorted and len(args) == 1 and type(args[0]) in (list, tuple) and kwargs.keys() <= {"reverse"}:
            if (found := list_order.of_known_length(self, node, args[0], **kwargs)) is not NotImplemented:
                return found
        if args and (function is sorted or function is min or function is max):
            self.note_growth(args[0])
        for answer in (talk.call, callables.call, dicts.call_with_sets, records.call_enum):
            found = answer(self, node, function, args, kwargs)
            if found is not NotImplemented:
                return found
        args, kwargs = [as_plain(x) for x in args], {k: as_plain(x) for k, x in kwargs.items()}
        if (numpys := table.is_of_numpy(function)) or any(map(is_traced, self.flat([*args, *kwargs.values()]))):
            if numpys or table.handler_of(function) is not None or table.is_pure(function):
                whole = function is min or function is max
                args, kwargs = subclasses.arguments(self.r, numpys, whole, args, kwargs)
        if numpys:
            as_array = self.in_array if function in TAKE_PLACES else self.array_of
            args = [as_array(node, x) if isinstance(x, Range) else x for x in args]
            for x in (*args, *kwargs.values()):
                if isinstance(x, Record):
                    what = f"an object ({x.kind.__name__}) as an argument of {getattr(function, '__name__', 'this')}"
                    raise self.refuse(node, what, "pass its arrays")
            kwargs = for_plain_arrays(self.r, function, args, kwargs)
        if function is np.median and kwargs.get("overwrite_input") is True:  # which sorts its argument partly
            return self.call_function(inspect.unwrap(function), args, kwargs)
        if (formula := table.formula_of(function)) is not None:
            named, wanted = static_flags(self.r, kwargs), formula
            return table.by_numpy(function, self.r, args, kwargs, lambda: self.call_function(wanted, args, named))
        leaves = untraced.takes(function) and (untraced.is_lapacks(function) or not self.is_in_library())
        if leaves and (function in self.r.growth.untraced or not isinstance(function, types.FunctionType)):
            return self.call_as_it_is(node, function, args, kwargs)
        try:
            known = table.call_known(self.r, function, args, kwargs)
        except UnsupportedError as refusal:
            if leaves:
                self.r.growth.leave(function, refusal)
            raise
        if known is not NotImplemented:
            return self.own(known) if type(known) is list else known
        if texts.is_new_error(function, args, kwargs):
            return MadeError(function, tuple(args), {})
        if (function is min or function is max) and args and not kwargs:
            return folds.of_items(self, node, function, args)
        if getattr(function, "__tracebuf__", False):
            out = kwargs.pop("out", None) if function.takes_out else None
            whole = function.__wrapped__
            librarys = untraced.takes(whole)  # called as it is where it is not traced
            result = self.call(node, whole, args, kwargs) if librarys else self.call_function(whole, args, kwargs)
            return store_results(self.r, result, out)
        name = getattr(function, "__name__", str(function))
        module = getattr(function, "__module__", None) or type(getattr(function, "__self__", None)).__module__
        plain = not any(is_traced(x) or isinstance(x, (Cond, Range)) for x in self.flat([*args, *kwargs.values()]))
        if table.is_pure(function) and (plain or function in (tuple, list)):
            found = ask(function, *args, **kwargs) if plain else function(self.iterate_static(node, args[0]))
            return self.own(found) if type(found) in (list, dict) else found
        if leaves:
            return self.call_or_leave(function, args, kwargs)
        if isinstance(function, types.FunctionType):
            return self.call_function(function, args, kwargs)
        if records.is_class(function):
            return records.construct(self, node, function, args, kwargs)
        if records.is_result(function):
            return records.make_result(self, node, function, args, kwargs)
        where = f"{module}.{name}" if module not in ("", "builtins") and function is not open else name
        raise self.refuse(node, f"a call of {where} cannot be traced", refusals.call(where))

    def call_numbas(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A call of what Numba has made; NotImplemented for anything else."""
        given, named = [as_plain(x) for x in args], {k: as_plain(x) for k, x in kwargs.items()}
        if running_jitted.is_callback(function):
            return self.call_function(function.__wrapped__, args, kwargs)
        if running_jitted.is_dispatcher(function) or isinstance(function, running_jitted.CFunction):
            return jitted.call(self.r, function, given, named)
        if running_jitted.is_vectorized(function):
            return ufunc_calls.call_vectorized(self.r, function, given, named)
        if running_jitted.is_vectorized(of := getattr(function, "__self__", None)) and function.__name__ == "outer":
            return ufunc_calls.call_vectorized(self.r, of, given, named, outer=True)
        if running_jitted.is_guvectorized(function):
            return jitted.call_generalised(self.r, function, given, named)
        return NotImplemented

    def to_list(self, node: ast.AST, a: ArrayRef) -> Any:
        """a.tolist(): of several axes, a list for each row, of which there is a known number."""
        if a.ndim < 2:
            return growing.of_array(self, node, a, True) if a.ndim else self.call(node, Method(a, "item"), [], {})
        rows = self.iterate_static(node, a)
        known = a.ndim == 2 and self.r.entry_only(a.shape[-1]) and a.element.dtype != np.uint64
        wide = self.r.in_this_call(a.shape[-1]) if known else None
        if wide is None or wide * len(rows) > MOST_LISTED:
            return self.own([self.to_list(node, row) for row in rows])
        item: Callable[[Any], Any] = lambda x: self.call(node, self.attribute(node, x, "item"), [], {})  # noqa: E731
        items = [[item(x) for x in self.iterate_static(node, row)] for row in rows]
        with self.r.at(replace(self.r.loc, text="rows")):  # not where the list of them is made
            lists = [self.own(of_one) for of_one in items]
        return self.own(lists)

    def is_in_library(self) -> bool:
        """Whether the code being traced is a library's own."""
        return bool(self.scopes) and untraced.file_is_librarys(self.scope.source.file)

    def call_or_leave(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A call of a library's function from the user's code, traced; where it cannot be, it is made as it is in the
        next tracing."""
        try:
            result = self.call_function(function, args, kwargs)
            check_one_type(self.r, *self.flat([result]))
            return result
        except UnsupportedError as refusal:
            self.r.growth.leave(function, refusal)
            raise

    def call_as_it_is(self, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """A call of a library's function that cannot be traced."""
        try:
            return untraced.call(self.r, function, *with_callbacks(self.r, [args, kwargs], self.global_lookup))
        except UnsupportedError as why:
            if (refusal := self.r.growth.untraced.get(function)) is None:
                raise
            reason = f"{refusal.reason}; nor can it be called as it is: {why.reason}"
            raise self.refuse(node, reason, refusal.instead) from None

    def from_items(self, node: ast.AST, x: Any, dtype: Any = None, count: Any = -1, **more: Any) -> Any:
        """np.fromiter(x, dtype)."""
        if dtype is None or more or not (isinstance(count, int) and count == -1):
            raise self.refuse(node, "np.fromiter with more than a dtype", "np.array(list(...), dtype)")
        items = self.listed(node, x) if isinstance(x, Generator) else self.call(node, list, [x], {})
        odd = not is_growing(items) and any(isinstance(i, (ArrayRef, tuple, list)) for i in items)
        if odd or (isinstance(x, ArrayRef) and x.ndim > 1):
            reason = "np.fromiter of arrays, tuples or lists"
            raise self.refuse(node, reason, "np.array(list(...))")
        return self.call(node, np.array, [items, dtype], {})

    def set_flags(self, a: ArrayRef, write: Any = None, align: Any = None, uic: Any = None) -> None:
        """a.setflags(...)."""
        if align is not None or uic is not None:
            raise self.r.refuse("setflags of more than write=", "leave it out")
        if write is not None:
            self.set_writable(a, write)

    def set_writable(self, a: ArrayRef, value: Any) -> None:
        """a.flags.writeable = value."""
        inspection.set_writable(self.r, a, value, [x for s in self.scopes for x in s.env.values()])

    def list_of(self, node: ast.AST, x: Any) -> Any:
        """list(x)."""
        place = self.r.loc
        if isinstance(text := x, Text):
            x = OneShotIterator("iterator", lambda _: text_questions.letters(self, node, text), self.r.frame)
        if place in self.r.growth.rolled:
            one_axis = isinstance(x, ArrayRef) and x.ndim == 1
            return growing.of_array(self, node, x, False) if one_axis else self.rolled(node, x)
        try:
            return self.own(list(self.iterate_static(node, x)))
        except UnsupportedError:
            self.r.growth.note_long(place)
            raise

    def bound_before(self, function: Partial | partial[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments that a partial holds; those of one from outside are values from outside."""
        if isinstance(function, Partial):
            return function.args, function.keywords
        given, outer = function.keywords, function
        keywords = Attribute(outer, "keywords")
        named = {k: self.capture(k, partial(item_of, keywords, k), v, outer) for k, v in given.items()}
        return self.capture("partial", Attribute(outer, "args"), outer.args, outer), named

    def in_array(self, node: ast.AST, index: Any) -> Any:
        """An index of an array, with the array of its ints in the place of each range."""
        if is_plain(index):
            return index
        if type(index) is tuple:
            return tuple(self.in_array(node, part) for part in index)
        if isinstance(index, range) or (isinstance(index, Range) and index.count is None):
            return self.call(node, np.arange, list(map(as_int_value, (index.start, index.stop, index.step))), {})
        return self.as_index(node, index)

    def as_index(self, node: ast.AST, index: Any) -> Any:
        """An index in which each object is replaced by what its `__index__` gives."""
        if isinstance(index, slice):
            parts = (index.start, index.stop, index.step)
            plain = all([part is None or is_plain(part) for part in parts])  # noqa: C419 (faster)
            return index if plain else slice(*(self.as_index(node, part) for part in parts))
        if type(index) is tuple:
            return tuple(self.as_index(node, part) for part in index)
        if not isinstance(index, (Record, GroupRef)):
            return index
        index = groups.listing(self, node, index)
        if is_growing(index):
            return list_arrays.as_index(self, node, index)
        if records.lacks(self, index.kind, "__index__"):
            if (asked := records.asked_of(index.kind)) is not None:
                raise self.refuse(node, f"an object with `{asked}` as an index", "pass int(index) as an argument")
            return without_methods(index)
        found = self.call(node, records.special(self, node, index, "__index__", "has no __index__"), [], {})
        return records.checked(self, node, index, "__index__", found)

    def flat(self, values: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        for v in values:
            found += self.flat(items_of(v)) if isinstance(v, (tuple, list, dict, Record)) else [v]
        return found


def takes_texts(x: Any) -> bool:
    """Whether a value is a dict or set by run-time keys, which are looked for whichever text they are."""
    return is_keyed(x) or is_groups(x)


def is_listed(x: Any) -> bool:
    """Whether a value is a list whose length only the run time knows, or an item of one."""
    return is_inner(x) or (is_growing(x) and python_of(x) is list)


def is_of_libraries(function: Any) -> bool:
    """Whether a callee is a method of an array, or a function of NumPy's, SciPy's or of this package."""
    module = getattr(function, "__module__", None) or ""
    return isinstance(function, Method) or table.is_of_numpy(function) or module.startswith(("scipy", "tracebuf."))


def as_plain(x: Any) -> Any:
    """A range whose bounds are known as Python's own, and a slice: what NumPy's functions take."""
    if isinstance(x, Range) and x.count is None and all(isinstance(d, int) for d in (x.start, x.stop, x.step)):
        return range(x.start, x.stop, x.step)  # type: ignore[arg-type]
    return as_slices(x)


def eager_kind(x: Any) -> type:
    """The class that eager Python has in the place of one of the tracer's; `object` where that is not known, as of a
    frozen distribution. `np.random` takes long to import, and is where generators are."""
    if isinstance(x, Partial) and hasattr(type(x.func), "freeze"):
        return object
    return np.random.PCG64 if type(x) is draws.Bits else EAGER.get(type(x), object)


TAKE_PLACES = (np.delete, np.insert, np.ix_, np.fromiter)
"""Functions of NumPy's that take an empty range for one of ints."""
OF_CLASSES = (isinstance, type, hasattr, getattr, callable)
"""What asks for the class of an object, or for what is guarded by itself."""
NUMBERS_OF_MATH = frozenset({"pi", "e", "tau", "inf", "nan", "infj", "nanj"})


@cache
def names_of(module: types.ModuleType) -> frozenset[str]:
    """What a module of NumPy's says that it has, or numbers of math's."""
    return frozenset(getattr(module, "__all__", NUMBERS_OF_MATH))


def put_there(module: types.ModuleType, name: str, value: Any) -> bool:
    """Whether what a module of NumPy's, or math, holds is the user's, who may put something else there."""
    if isinstance(value, types.FunctionType):
        return is_users(value)
    if isinstance(value, types.ModuleType) or name in names_of(module):
        return False
    return getattr(value, "__name__", None) != name


def is_known_number(x: Any) -> bool:
    return (type(x) is int or type(x) is float or type(x) is complex or type(x) is bool) and bool(x == x)


def among_numbers(r: Recorder, items: Sequence[Any], x: Any) -> bool | PyBool | None:
    """`x in items`, of numbers, texts and None, by equality alone; None where identity may decide: two floats may be
    one NaN, and of other values more is to be asked."""
    if not all(isinstance(i, (Scalar, *NUMBERS, str, types.NoneType)) for i in (x, *items)):
        return None
    if isinstance(x, (str, types.NoneType)):
        return x in [i for i in items if not isinstance(i, Scalar)]
    numbers = [i for i in items if not isinstance(i, (str, types.NoneType))]
    if not is_never_nan(x) and not all(map(is_never_nan, numbers)):
        return None
    found = truth_of_all("any", r, tuple(compare(r, "Eq", x, i) for i in numbers))
    assert isinstance(found, (bool, PyBool))
    return found


def is_never_nan(x: Any) -> bool:
    """Whether a number is surely none that differs from itself."""
    traced_int = isinstance(x, NpScalar) and not x.maybe_python and not x.element.component.is_float
    return isinstance(x, (PyInt, PyBool)) or traced_int or (isinstance(x, NUMBERS) and bool(x == x))


def is_users(function: Any) -> bool:
    """Whether a function is Python source of the user's, which is inlined. A decorator copies `__module__`: one of
    the user's around NumPy's function is the user's, by its code, and so is one of SciPy's around the user's."""
    if not isinstance(function, types.FunctionType):
        return False
    names = getattr(function, "__module__", None), function.__globals__.get("__name__")
    return any(str(name or "").partition(".")[0] not in ("numpy", "scipy") for name in names)


def hands_on(function: Any) -> bool:
    """Whether a call computes nothing of objects itself: it asks for their class, is traced, or is an operator."""
    if isinstance(function, types.FunctionType):
        return table.handler_of(function) is None
    operators_own = getattr(function, "__module__", None) == "_operator"
    return operators_own or is_inlined(function) or any(function is f for f in OF_CLASSES)


def is_inlined(function: Any) -> bool:
    """Whether a call hands its arguments to code that is traced, or to a container."""
    if takes_choices(function) or isinstance(function, (Partial, partial)):
        return True
    if records.is_result(function):
        return True
    made_as_it_is = untraced.takes_class(function) and function.__module__.startswith("scipy.")
    return records.is_class(function) and not made_as_it_is


def takes_choices(function: Any) -> bool:
    """Whether a call only passes its arguments on, so that their types may be path-dependent."""
    methods = (dicts.ContainerMethod, records.BoundMethod, records.VariablesMethod)
    handed = isinstance(function, (NestedFunction, *methods))
    passed = is_users(function) or talk.talks(function) or heaps.takes(function)
    return handed or getattr(function, "__tracebuf__", False) or passed
