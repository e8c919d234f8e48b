"""Statements of the abstract interpreter: assignments, branches, loops, jumps, checks.

Tests that are known while tracing just run; traced ones become `scf.if`. A jump is a number that a name (`<jump>`)
carries like any other: the statements after an `if` that may jump are traced in the branch that goes on, or else under
a test of it.
"""

from __future__ import annotations

import ast
import operator
import re
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from functools import partial
from importlib import import_module
from importlib.util import resolve_name
from typing import Any, NoReturn

import numpy as np

from tracebuf.errors import TracebufError, UnsupportedError, note_location
from tracebuf.frontends.numpy.arrays.complex_views import set_part
from tracebuf.frontends.numpy.arrays.creation import arange
from tracebuf.frontends.numpy.arrays.indexing import as_strict_int, check_single, is_one_element, normalise
from tracebuf.frontends.numpy.arrays.new_arrays import as_operand
from tracebuf.frontends.numpy.arrays.reshape import FlatIterator, set_shape
from tracebuf.frontends.numpy.call.talk import raise_as
from tracebuf.frontends.numpy.functions import inspection
from tracebuf.frontends.numpy.functions.formulas.sequences import store_flat, store_flat_at
from tracebuf.frontends.numpy.functions.host import made_objects
from tracebuf.frontends.numpy.functions.indices import subscripts
from tracebuf.frontends.numpy.functions.products.matmul import inplace_matmul
from tracebuf.frontends.numpy.interpreter import array_likes, dicts, operators, records, talk
from tracebuf.frontends.numpy.interpreter.evaluator import pushed
from tracebuf.frontends.numpy.interpreter.expressions import Expressions, condition_in
from tracebuf.frontends.numpy.interpreter.lists import arrays as list_arrays
from tracebuf.frontends.numpy.interpreter.lists import calls as list_calls
from tracebuf.frontends.numpy.interpreter.lists import (
    cursors,
    groups,
    growing,
    keyed,
    labels,
    picked,
    references,
    sets,
)
from tracebuf.frontends.numpy.interpreter.lists.cursors import is_cursor
from tracebuf.frontends.numpy.interpreter.lists.loops import over_alike, over_numbers, while_picks
from tracebuf.frontends.numpy.interpreter.protected import Protected
from tracebuf.frontends.numpy.interpreter.texts import has_plain_constructor, number_value, text_of
from tracebuf.frontends.numpy.numbers import subclasses
from tracebuf.frontends.numpy.numbers.lattice import (
    BREAK,
    CONTINUE,
    DONE,
    GO_ON,
    JUMP,
    LEAVE,
    RETURN,
    check_one_type,
)
from tracebuf.frontends.numpy.numbers.operands import Operand, is_operand
from tracebuf.frontends.numpy.numbers.python_ints import as_int_value
from tracebuf.frontends.numpy.numbers.scalars import (
    BINARY,
    OF_REAL,
    SPECIAL,
    is_real_number,
    power_form,
    truth,
)
from tracebuf.frontends.numpy.numbers.ufuncs import elementwise
from tracebuf.frontends.numpy.paths.branches import trace_if
from tracebuf.frontends.numpy.paths.choices import SIMPLE, names_in, to_split
from tracebuf.frontends.numpy.paths.container_joins import apart, is_held_by_one, is_held_once
from tracebuf.frontends.numpy.paths.cycles import cycles_refused
from tracebuf.frontends.numpy.paths.iteration import (
    UNROLLED,
    Items,
    OneShotIterator,
    Range,
    held_by,
    item,
    item_at,
    length,
    pulled,
)
from tracebuf.frontends.numpy.paths.loops.plan import LoopSpec, goes_on, jump_of
from tracebuf.frontends.numpy.paths.loops.trace import forget_left_paths, trace_loop
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.callees import Buffer, Caught, Generator, MadeError, Progress, Text, escaped
from tracebuf.frontends.numpy.record.cond import Cond
from tracebuf.frontends.numpy.record.conditions import either
from tracebuf.frontends.numpy.record.growing import (
    Regrow,
    form_in,
    is_growing,
    is_inner,
    is_keyed,
    is_list,
    mark_in,
    moved_to,
    python_of,
    size,
)
from tracebuf.frontends.numpy.record.heap import GroupRef, Record, is_groups, is_label, set_contents
from tracebuf.frontends.numpy.record.judged import NoExample, error_of, example_of
from tracebuf.frontends.numpy.record.raises import DeadEnd, Raises, ask, by_signal, internal_error
from tracebuf.frontends.numpy.record.regions import MOST_RECORDED, TOO_MUCH
from tracebuf.frontends.numpy.record.scalar_checks import unknown_origin
from tracebuf.frontends.numpy.record.slices import as_slices
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
from tracebuf.frontends.numpy.source.cells import own_nodes_of
from tracebuf.frontends.numpy.source.liveness import leaves_by, may_end, stored
from tracebuf.frontends.numpy.source.own_lists import grows, is_own_list
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, sub
from tracebuf.ir.types import I1, I64
from tracebuf.location import Location
from tracebuf.ops.scalars import arith
from tracebuf.running.raised import Message, Number, Several, Shown

MOST_TURNS = 10_000
"""The most iterations of a loop over an iterator that are traced one by one."""
ENOUGH = 64
"""After so many iterations that are traced one by one it is asked whether all of them are too many."""
JUMPS = (ast.Return, ast.Break, ast.Continue)
TRACER_NAMES = frozenset([JUMP, RETURN])
"""Names that only the tracer binds."""
CERTAIN = (TypeError, ValueError, IndexError, KeyError, AttributeError, ZeroDivisionError, OverflowError,
           UnboundLocalError, NameError, np.exceptions.AxisError)  # fmt: skip
"""Exceptions that can be raised again from their text alone."""


class Statements(Expressions, Protected):
    """Mixin: runs statements in an environment."""

    def block(self, body: Sequence[ast.stmt], env: Env) -> None:
        """Runs statements until one jumps."""
        for k, statement in enumerate(body):
            method = getattr(self, f"stmt_{type(statement).__name__}", None)
            if method is None:
                raise self.refuse(statement, *refusals.statement(statement))
            place = self.at(statement)
            rest = body[k + 1 :]
            for name in self.scope.source.live.changes(statement) if self.r.heap.joined_in else ():
                apart(self.r, env.get(name), env)
            try:
                self.r.growth.effort.check()
                with cycles_refused(self.r):
                    if isinstance(statement, ast.If):
                        if self.stmt_If(statement, env, rest):
                            return
                    elif isinstance(statement, SIMPLE) and (found := to_split(statement, env, self.r.heap)) is not None:
                        self.split(statement, PyBool(found.condition), env)
                    elif (some := self.has_items(statement, place, env)) is not None:
                        self.split(statement, some, env)
                    else:
                        method(statement, env)
            except Raises as said:
                self.reached(said)
                raise
            except UnsupportedError as refusal:
                if isinstance(statement, SIMPLE):
                    self.r.growth.note_unsure(place)
                if refusal.location is not None:
                    raise
                raise UnsupportedError(refusal.reason, instead=refusal.instead, location=self.r.loc) from None
            except TracebufError:
                raise
            except Exception as error:
                if (late := by_signal(error)) is not None:
                    raise late  # noqa: B904
                raise internal_error(error, self.r.loc) from error
            on = goes_on(self.r, env, CONTINUE)
            if isinstance(on, PyBool):
                with cycles_refused(self.r):
                    return self.rest(on, rest, env)
            if not on:
                return

    def has_items(self, statement: ast.stmt, place: Location, env: Env) -> PyBool | None:
        """Whether a growing list has items that a statement uses, where it is to be traced for both."""
        if place not in self.r.growth.unsure or not isinstance(statement, SIMPLE):
            return None
        for name in names_in(statement):
            x = env.get(name)
            if is_growing(x) and list_arrays.may_differ(self, x):
                some = self.compared(statement, "GtE", growing.length(x), 1)
                if isinstance(some, PyBool) and self.r.ask_nonneg(sub(1, size(x))) is None:
                    return some
        return None

    def split(self, statement: ast.stmt, condition: PyBool, env: Env) -> None:
        """Traces a statement once where a condition holds, and once where not."""
        names = (*stored([statement]), JUMP, RETURN)
        arms = [self.branch([statement])] * 2
        live = frozenset(env) | frozenset(names)
        trace_if(self.r, condition, env, arms, names, live, frozenset([RETURN]))

    def test(self, node: ast.expr, env: Env) -> bool | PyBool:
        """The truth of an expression, for each type of a path-dependent value that it uses."""
        choice = to_split(node, env, self.r.heap)
        if choice is None:
            found: bool | PyBool = operators.holds(self, node, env)
        else:
            arms = [lambda inner: self.test(node, inner)] * 2
            found = truth(self.r, self.choose(node, PyBool(choice.condition), arms, env))
        return found

    def rest(self, on: PyBool, body: Sequence[ast.stmt], env: Env) -> None:
        """Traces the statements after one that may have jumped."""
        if not body:
            return
        live = self.block_end(body[-1]) | self.jump_targets()
        arms = [self.branch(body), self.branch([])]
        trace_if(self.r, on, env, arms, (*stored(body), JUMP, RETURN), live, frozenset([RETURN]))

    def block_end(self, statement: ast.stmt) -> frozenset[str]:
        """The names that may be read after the block that a statement stands in."""
        return self.scope.source.live.ends[statement]

    def jump_targets(self) -> frozenset[str]:
        """The names that may be read where a jump leads."""
        return (self.scope.targets[-1] if self.scope.targets else frozenset()) | TRACER_NAMES

    def reached(self, said: Raises) -> None:
        """Handles an exception that NumPy or Python raises for this code: where it is always reached and nothing before
        it may raise, it gets the user's line, and the caller raises it; else it is recorded, to be raised when it is
        reached.

        Not raised here: an exception bound in a frame of its own traceback is a reference cycle, and keeps the
        arguments alive.
        """
        error = said.error
        if said.placed:
            return
        said.loc = said.loc or self.r.loc
        if self.r.certain:
            note_location(error, self.r.loc)
            said.placed = True
        elif type(error) in CERTAIN:
            key = error.args[0] if isinstance(error, KeyError) and len(error.args) == 1 else str(error)
            self.r.fail(type(error), escaped(key) if isinstance(key, str) else (key,))
        elif isinstance(error, np._core._exceptions.UFuncTypeError):
            self.r.fail(error, None)
        else:
            text = f"this raises {type(error).__name__} when it is reached: {error}"
            raise self.r.refuse(text, "move it out of the loop or branch, or mend it") from error

    def stmt_Pass(self, node: ast.Pass, env: Env) -> None:
        pass

    def stmt_Expr(self, node: ast.Expr, env: Env) -> None:
        if isinstance(node.value, ast.Yield):
            self.yielded(node.value, env)
        elif not isinstance(node.value, ast.Constant):
            self.unread_call = node.value
            self.expr(node.value, env)

    def stmt_Assign(self, node: ast.Assign, env: Env) -> None:
        value = self.any_expr(node.value, env)
        if isinstance(node.value, ast.List) and type(value) is list and isinstance(node.targets[0], ast.Name):
            if len(node.targets) == 1 and self.begun_again(node, node.targets[0].id, value, env):
                return
        if isinstance(node.value, ast.Name) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            if self.handed_over(node, node.targets[0].id, node.value.id, env):
                return
        for target in node.targets:
            self.assign(target, value, env)

    def begun_again(self, node: ast.Assign, name: str, items: list[Any], env: Env) -> bool:
        """Whether `name = [...]` in a loop or branch puts these items into the list that the name holds, where nothing
        else holds that, so that it is one list which is carried."""
        x: Any = env.get(name)
        plain = type(x) is list or (is_growing(x) and python_of(x) is list)
        if not plain or self.scope.env is not env or not is_own_list(self.scope.source.node, name, self.by_path):
            return False
        if x in self.r.heap.stand_ins and grows(self.scope.source.node, name):
            self.change(node, x)  # the loop around carries the list itself then
        if not is_held_once(self.r, x, name, (self.still_held(node, env), {"": items})):
            return False
        self.at(node)
        self.change(node, x)
        if type(x) is list:
            x[:] = items
            return True
        if mark_in(x.fields) is not None:  # it has become an item of another
            set_contents(x, growing.begin(self, form_in(x), []).fields)
        else:
            growing.clear(self, node, x)
        for value in items:
            growing.append(self, node, x, value)
        return True

    def handed_over(self, node: ast.Assign, name: str, other: str, env: Env) -> bool:
        """Whether `name = other` in a loop or branch puts the items of a list into the one that `name` holds, where
        nothing else holds that, and `other` is bound anew before it is read."""
        x: Any = env.get(name)
        y: Any = env.get(other)
        if not self.by_path or x is y or self.scope.env is not env:
            return False
        if not all(self.sequence_of(v) is list for v in (x, y)):
            return False
        source = self.scope.source
        if other in source.live.after[node] or not all(is_own_list(source.node, n, True) for n in (name, other)):
            return False
        if is_growing(y) and not is_growing(x):
            self.note_growth(x, form=form_in(y))
            return False
        if x in self.r.heap.stand_ins:
            self.change(node, x)  # the loop around carries the list itself then
        held = (self.still_held(node, env),)
        if not is_held_once(self.r, x, name, held) or not is_held_by_one(self.r, y, other, held):
            return False
        if any(is_growing(v) and mark_in(v.fields) is not None for v in (x, y)):  # they have become items of others
            return False
        self.at(node)
        self.change(node, x)
        if is_growing(x):
            growing.clear(self, node, x)
            growing.extend(self, node, x, y)
        else:
            x[:] = y
        return True

    @property
    def by_path(self) -> bool:
        """Whether what is traced runs in some iterations of a loop only, after which lists have to be one."""
        return self.r.frame.kind == "branch" and any(f.kind == "loop" for f in self.r.frames())

    def still_held(self, node: ast.Assign, env: Env) -> Env:
        """The names that are read after a statement, and the tracer's own."""
        live = self.scope.source.live.after[node]
        return {n: x for n, x in env.items() if n in live or not n.isidentifier()}

    def stmt_AnnAssign(self, node: ast.AnnAssign, env: Env) -> None:
        if node.value is not None:
            self.assign(node.target, self.expr(node.value, env), env)

    def assign(self, target: ast.expr, value: Any, env: Env) -> None:
        """Binds a name, unpacks, or stores into an array."""
        value = moved_to(self.r, value) if self.r.growth.nested else value
        if isinstance(target, ast.Name):
            env[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, value, env)
        elif isinstance(target, ast.Subscript):
            base, index = self.place(target, env)
            self.at(target)
            if type(base) is Cond or isinstance(base, dict):
                store = lambda x, key: self.store_in_one(target, x, key, value, env)  # noqa: E731
                self.by_type(target, (base, index), env, store)
                return None
            if not isinstance(base, ArrayRef):
                return self.store_into(target, base, index, value)
            with made_objects.written_back(self.r, base if isinstance(target.value, ast.Attribute) else None):
                self.store_at(target, base, index, value, env)
        elif isinstance(target, ast.Attribute) and target.attr == "shape":
            base = self.expr(target.value, env)
            self.at(target)
            if not isinstance(base, ArrayRef):
                return self.set_attribute(target, base, target.attr, value)
            set_shape(self.r, base, value)
        elif isinstance(target, ast.Attribute):
            base = self.apart(target.value, self.any_expr(target.value, env), env)
            self.at(target)
            self.by_type(target, (base,), env, lambda x: self.set_attribute(target, x, target.attr, value))
        else:
            raise self.refuse(target, *refusals.ATTRIBUTE_SET)

    def store_in_one(self, target: ast.Subscript, base: Any, index: Any, value: Any, env: Env) -> None:
        """base[index] = value, of what `base` is on one of several paths."""
        if isinstance(base, ArrayRef):
            return self.store_at(target, base, index, value, env)
        return self.store_into(target, base, index, value)

    def store_at(self, target: ast.Subscript, base: ArrayRef, index: Any, value: Any, env: Env) -> None:
        """base[index] = value, of an array, for each path that decides a part of the index or the value's type."""
        if (condition := condition_in(index)) is not None:
            on_path = lambda base, index, value: self.store_at(target, base, index, value, env)  # noqa: E731
            return self.for_each_type(target, condition, (base, index, value), env, on_path)  # type: ignore[no-any-return]
        index = self.in_array(target, as_slices(index))
        self.by_type(target, (value,), env, lambda x: self.store_elements(target, base, index, x))

    def store_elements(self, target: ast.Subscript, base: ArrayRef, index: Any, value: Any) -> None:
        """base[index] = value, of an array."""
        value = groups.listing(self, target, value)
        kind = self.sequence_of(value)
        if kind and not subscripts.is_advanced(index) and is_one_element(self.r, base, index):  # items do not matter
            value = self.truth(target, value) if base.element is I1 else kind()
            return subscripts.store(self.r, base, index, value)
        subscripts.store(self.r, base, index, self.elements_for(target, base, value))

    def elements_for(self, target: ast.AST, base: ArrayRef, value: Any) -> Any:
        """What is stored into elements of an array."""
        value = groups.listing(self, target, value)
        if is_growing(value) and python_of(value) in (list, tuple):
            value = self.call(target, np.array, [value, base.dtype], {})
        return self.range_items(target, base, value) if isinstance(value, Range) else self.storable(target, value)

    def store_flat(self, target: ast.AST, base: ArrayRef, index: Any, value: Any) -> None:
        """base.flat[index] = value."""
        value = self.elements_for(target, base, value)
        if isinstance(index, slice) or index is Ellipsis:
            key = slice(None) if index is Ellipsis else index
            return self.call_function(store_flat, [base, key, value], {})  # type: ignore[no-any-return]
        if (places := self.places_of(target, index)) is not None:
            return self.call_function(store_flat_at, [base, places, value], {})  # type: ignore[no-any-return]
        if isinstance(index, PyBool) or (place := as_strict_int(self.r, index)) is None:
            raise self.refuse(target, *refusals.FLAT_STORE)
        flat = FlatIterator(self.r, base)
        at = flat.place(normalise(self.r, place, flat.size, None))
        check_single(self.r, value, base.element)
        subscripts.store(self.r, base, tuple(map(as_int_value, at)), value)

    def sequence_of(self, value: Any) -> type[list[Any] | tuple[Any, ...]] | None:
        """list or tuple, of a value that is one; None for any other."""
        kind = python_of(value) if is_growing(value) else type(value)
        return kind if kind in (list, tuple) else None

    def store_into(self, target: ast.Subscript, base: Any, index: Any, value: Any) -> None:
        """base[index] = value, where base is not an array."""
        if is_label(base) or (is_label(index) and not isinstance(base, ArrayRef)):
            raise labels.refusal(self, target, "a store into an array, or to a place that is a text out of one,", base)
        if isinstance(base, dict):
            dicts.store(self, target, base, index, value)
        elif isinstance(base, list) and isinstance(index, slice):
            dicts.store_slice(self, target, base, index, value)
        elif type(base) is list and picked.store_in_callers(self, target, base, index, value):
            pass
        elif isinstance(base, list) and isinstance(index, (int, PyInt, PyBool)):
            place = dicts.place(self, target, index, base)
            ask(operator.setitem, [None] * len(base), place, None)  # says it in the words of a store
            if base[place] is not value:
                self.change(target, base)
                base[place] = value
        elif isinstance(base, FlatIterator):
            self.store_flat(target, base.ref, index, value)
        elif isinstance(base, inspection.Flags) and index in ("WRITEABLE", "W"):
            self.set_writable(base.of, value)
        elif isinstance(base, records.Variables):
            records.set_variable(self, target, base.of, index, value)
        elif made_objects.is_object(base):
            made_objects.store(self.r, base, index, value)
        elif is_groups(base):
            groups.store(self, target, base, index, value)
        elif is_inner(base):
            references.store(self, target, base, index, value)
        elif is_keyed(base):
            keyed.store(self, target, base, index, value)
        elif is_growing(base):
            growing.store(self, target, base, index, value)
        elif isinstance(base, Record) and records.is_result(base.kind):
            records.set_field(self, target, base, dicts.key_of(self, target, index), value)
        elif isinstance(base, Record):
            found = records.special(self, target, base, "__setitem__", "does not support item assignment")
            self.call(target, found, [index, value], {})
        else:
            raise self.no_store(target, base)

    def set_attribute(self, node: ast.AST, base: Any, name: str, value: Any) -> None:
        """base.name = value."""
        if is_label(base):
            raise labels.refusal(self, node, f"a store to `.{name}` of an array", base)
        if isinstance(base, ArrayRef) and name == "flat":
            return self.store_flat(node, base, Ellipsis, value)
        if isinstance(base, ArrayRef) and name in ("real", "imag"):
            return set_part(self.r, base, name, self.storable(node, value))
        if isinstance(base, inspection.Flags) and name == "writeable":
            return self.set_writable(base.of, value)
        records.store(self, node, base, name, value)

    def no_store(self, target: ast.Subscript, base: Any) -> BaseException:
        """The refusal of a store to an item of `base`; raises what Python raises where it has no items to store to."""
        dicts.check_items(base, operator.setitem, 0, None)
        self.note_growth(base)
        place = " at a place that is only known at run time" if isinstance(base, list) else ""
        return self.refuse(target, f"storing into a {refusals.name_of(base)}{place}", "store into an array")

    def range_items(self, node: ast.AST, base: ArrayRef, x: Range) -> ArrayRef:
        """A range that is stored, as an array; narrow integers would have to hold each of its ints (rule N1)."""
        if base.element.is_integer and base.element is not I64:
            raise self.refuse(node, f"a range cannot be stored into {base.dtype} while tracing", "use np.arange")
        return arange(self.r, *(as_int_value(d) for d in (x.start, x.stop, x.step)))

    def storable(self, node: ast.AST, value: Any) -> Any:
        """A value that may be stored into elements."""
        check_one_type(self.r, value)
        value = array_likes.converted(self, node, value) if isinstance(value, Buffer) else value
        numbers = (Scalar, *NUMBERS)
        if isinstance(value, (ArrayRef, *numbers)):
            return value
        if isinstance(value, (tuple, list)) and value and all(isinstance(x, numbers) for x in value):
            return value
        raise self.refuse(
            node,
            f"a {refusals.name_of(value)} of these items cannot be stored"
            if isinstance(value, (tuple, list))
            else f"a {refusals.name_of(value)} cannot be stored into an array",
            "store numbers, arrays or a tuple of numbers",
        )

    def unpack(self, target: ast.Tuple | ast.List, value: Any, env: Env) -> None:
        if type(value) is Cond:
            self.at(target)
            check_one_type(self.r, value)
        starred = next((k for k, e in enumerate(target.elts) if isinstance(e, ast.Starred)), None)
        if is_inner(value) and starred is None:
            items = references.unpacked(self, target, value, len(target.elts))
        else:
            items = self.unpacked(target, value)
        if starred is not None and len(items) >= len(target.elts) - 1:
            behind = len(items) - (len(target.elts) - 1 - starred)
            items = [*items[:starred], self.own(items[starred:behind]), *items[behind:]]
        if len(items) != len(target.elts):
            few, wanted = len(items) < len(target.elts), str(len(target.elts))
            wanted = wanted if starred is None else f"at least {len(target.elts) - 1}"
            got = f"not enough values to unpack (expected {wanted}, got {len(items)})"
            raise Raises(ValueError(got if few else f"too many values to unpack (expected {wanted})"))
        for element, one in zip(target.elts, items):
            self.assign(element.value if isinstance(element, ast.Starred) else element, one, env)

    def unpacked(self, target: ast.Tuple | ast.List, value: Any) -> list[Any]:
        """The items of what is unpacked, in whose words it says that there are none."""
        try:
            return self.iterate_static(target, value)
        except Raises as said:
            found = re.fullmatch("'(.*)' object is not iterable", str(said.error))
            if found is None or isinstance(value, (Generator, OneShotIterator)):
                raise
            raise Raises(TypeError(f"cannot unpack non-iterable {found[1]} object")) from said

    def stmt_AugAssign(self, node: ast.AugAssign, env: Env) -> None:
        name = type(node.op).__name__
        target = node.target
        if isinstance(target, ast.Name):
            old = self.load_name(target.id, env, target)
            right = self.any_expr(node.value, env)
            self.at(node)
            env[target.id] = self.by_type(node, (old, right), env, partial(self.in_place, name))
        elif isinstance(target, ast.Subscript):
            base, index = self.place(target, env)
            self.at(target)
            if type(base) is Cond or isinstance(base, dict):
                augment = partial(self.augment_subscript, node, target, env=env)
                self.by_type(node, (base, index), env, augment)
            else:
                with made_objects.written_back(self.r, base if isinstance(target.value, ast.Attribute) else None):
                    self.augment_subscript(node, target, base, index, env)
        else:
            base = self.apart(target.value, self.any_expr(target.value, env), env)
            self.by_type(node, (base,), env, lambda x: self.augment_attribute(node, target, x, env))

    def augment_attribute(self, node: ast.AugAssign, target: ast.Attribute, base: Any, env: Env) -> None:
        """`base.name OP= ...`."""
        self.at(target)
        old = self.attribute(target, base, target.attr)
        right = self.expr(node.value, env)
        self.at(node)
        with made_objects.written_back(self.r, old if made_objects.is_object(base) else None) as stored:
            new = self.in_place(type(node.op).__name__, old, right)
        if stored:
            return
        if target.attr == "shape" and isinstance(base, ArrayRef):
            raise self.refuse(node, *refusals.ATTRIBUTE_SET)
        self.set_attribute(target, base, target.attr, new)

    def augment_subscript(
        self, node: ast.AugAssign, target: ast.Subscript, base: Any, index: Any, env: Env
    ) -> None:
        """`base[index] OP= ...`."""
        name = type(node.op).__name__
        if isinstance(base, ArrayRef) and (condition := condition_in(index)) is not None:
            on_path = lambda base, index: self.augment_subscript(node, target, base, index, env)  # noqa: E731
            return self.for_each_type(node, condition, (base, index), env, on_path)  # type: ignore[no-any-return]
        if isinstance(base, ArrayRef):
            index = self.in_array(target, as_slices(index))
        old = self.subscript(target, base, index)
        picked = isinstance(base, ArrayRef) and subscripts.is_advanced(index)
        state = subscripts.state(self.r, base, index) if picked else []
        right = self.any_expr(node.value, env)
        self.at(node)
        same = picked and state == subscripts.state(self.r, base, index)
        store = partial(self.augment_item, target, name, base, index, picked, same)
        self.by_type(node, (old, right), env, store)

    def augment_item(
        self, target: ast.Subscript, name: str, base: Any, index: Any, picked: bool, same: bool, old: Any, right: Any
    ) -> None:
        """`base[index] OP= right`, where `old` is what was there."""
        if picked:
            return self.augment_picked(name, base, index, old, right, same)
        new = self.in_place(name, old, right)
        if not isinstance(base, ArrayRef):
            self.store_into(target, base, index, new)
        elif not isinstance(old, ArrayRef) or subscripts.holds_scalar_array(index):
            subscripts.store(self.r, base, index, new)

    def augment_picked(self, name: str, base: ArrayRef, index: Any, old: Any, right: Any, same: bool) -> None:
        """`base[index] OP= right` where arrays are in the index: the gathered elements are changed and scattered back;
        in place, where a mask selects them, the right side is one number, and the storages are the `same` as when `old`
        was gathered."""
        plain = same and name != "MatMult" and not isinstance(right, ArrayRef) and is_operand(right)
        masked = subscripts.masked(self.r, base, index) if plain else None
        if masked is None:
            subscripts.store(self.r, base, index, self.in_place(name, old, right))
            return
        target, mask = masked
        self.r.check_writable(target)
        ufunc, operands = power_form(self.r, target, right) if name == "Pow" else (BINARY[name][1], [target, right])
        elementwise(self.r, ufunc, operands, into=target, mask=mask)

    def in_place(self, name: str, old: Any, right: Any) -> Any:
        """`old OP= right`, in whose words it says that there is no such operator."""
        grows = isinstance(old, list) and name in ("Add", "Mult")
        fits = all(map(is_real_number, (old, right))) and name in OF_REAL
        if not (fits or grows or isinstance(old, (ArrayRef, Record, set))):
            error = self.error_in_place(name, old, right)
            if isinstance(error, TypeError) and str(error).startswith("unsupported operand"):
                raise Raises(error)
        return self.augmented(name, old, right)

    def error_in_place(self, name: str, old: Any, right: Any) -> BaseException | None:
        """What `old OP= right` raises for values like these; None where it raises nothing, or there are none."""
        try:
            return error_of(getattr(operator, f"i{SPECIAL[name]}"), [example_of(self.r, x) for x in (old, right)], {})
        except NoExample:
            return None

    def augmented(self, name: str, old: Any, right: Any) -> Any:
        """`old OP= right`: in place for arrays."""
        if self.coding is not None:
            labels.operate(self, ast.Pass(), old, right)
        old = moved_to(self.r, old) if self.r.growth.nested else old
        if type(old) is ArrayRef and is_plain(right) and name != "MatMult":
            return self.changed(name, old, right)
        right = groups.listing(self, ast.Pass(), right) if isinstance(old, ArrayRef) else right
        right = keyed.given_out(self, ast.Pass(), right) if name == "Add" and is_list(old) else right
        if isinstance(old, ArrayRef) and is_growing(right) and python_of(right) in (list, tuple):
            right = list_arrays.beside(self, ast.Pass(), old, right)[1]
        if isinstance(old, GroupRef) and name == "Add":
            groups.extend(self, ast.Pass(), old, right)
            return old
        if is_inner(old) and name == "Add" and not isinstance(right, (ArrayRef, NpScalar, np.generic)):
            references.extend(self, ast.Pass(), old, right)
            return old
        if is_inner(old) and name == "Mult":
            references.repeat(self, ast.Pass(), old, right)
            return old
        if is_keyed(old):
            return sets.augmented(self, ast.Pass(), name, old, right)
        if isinstance(old, set):
            dicts.note_change(self, old, "update" if name in sets.OPERATORS else "")
            raise self.r.refuse("a set is changed in place", "a new one: s = s | t")
        check_one_type(self.r, old)
        if made_objects.is_object(old):
            return made_objects.operated(self.r, SPECIAL[name], old, right, in_place=True)
        if is_growing(old) and python_of(old) is tuple:
            return self.operate(name, old, right)
        if is_growing(old) and name == "Add" and not isinstance(right, (ArrayRef, NpScalar, np.generic)):
            growing.extend(self, ast.Pass(), old, right)
            return old
        if is_growing(old) and name == "Mult" and list_calls.repeats(self, ast.Pass(), old, right):
            return old
        if operators.is_operand(old) or (operators.is_operand(right) and not isinstance(old, ArrayRef)):
            found = operators.augmented(self, ast.Pass(), name, old, right)
            return self.operate(name, old, right) if found is NotImplemented else found
        if not isinstance(old, ArrayRef):
            return self.operate(name, old, right)
        right = array_likes.operands(self, ast.Pass(), old, right)[1]
        right = as_operand(self.r, subclasses.operands(self.r, old, right)[1], old.dtype)
        if name == "MatMult":
            return inplace_matmul(self.r, old, right)
        if not (is_traced(right) or isinstance(right, NUMBERS)):
            raise self.in_place_of(name, old, right)
        return self.changed(name, old, right)

    def changed(self, name: str, array: ArrayRef, right: Operand) -> ArrayRef:
        """The array, after `array OP= right`."""
        self.r.check_writable(array, "output array")
        ufunc, operands = power_form(self.r, array, right) if name == "Pow" else (BINARY[name][1], [array, right])
        try:
            elementwise(self.r, ufunc, operands, into=array)
        except Raises:
            if isinstance(right, NpScalar) and right.maybe_python:
                raise unknown_origin(self.r.loc) from None
            raise
        return array

    def in_place_of(self, name: str, old: ArrayRef, right: Any) -> Raises | UnsupportedError:
        """What `old OP= right` raises where the operand is neither array nor number."""
        refusal = self.r.refuse(f"a {refusals.name_of(right)} as an operand", "use numbers and arrays: np.array(x)")
        error = self.error_in_place(name, old, right)
        return refusal if error is None else Raises(error)

    # -- branches
    def stmt_If(self, node: ast.If, env: Env, rest: Sequence[ast.stmt] = ()) -> bool:
        """Traces an `if`; whether it has traced the rest of its block too."""
        condition = self.test(node.test, env)
        known = condition if isinstance(condition, bool) else None
        if isinstance(condition, PyBool):
            self.at(node.test)
            known = self.entry_condition(condition)
        if known is not None:
            self.block(node.body if known else node.orelse, env)
            return False
        assert isinstance(condition, PyBool)
        live, names = self.scope.source.live, self.scope.source.live.assigned[node]
        if not leaves_by([node], *JUMPS):
            branches = [self.branch(node.body), self.branch(node.orelse)]
            trace_if(self.r, condition, env, branches, names, live.after[node])
            return False
        arms, further = [list(node.body), list(node.orelse)], [may_end(node.body), may_end(node.orelse)]
        alone = sum(further) == 1
        after = live.after[node]
        if alone:
            arms[further.index(True)] += rest
            names, after = (*names, *stored(rest)), live.ends[node]
        after |= self.jump_targets()
        branches = [self.branch(arm) for arm in arms]
        trace_if(self.r, condition, env, branches, (*names, JUMP, RETURN), after, frozenset([RETURN]))
        return alone

    def branch(self, body: Sequence[ast.stmt]) -> Callable[[Env], None]:
        def run(env: Env) -> None:
            with self.scope.inside(env):
                self.block(body, env)

        return run

    # -- jumps
    def stmt_Return(self, node: ast.Return, env: Env) -> None:
        value = None if node.value is None else self.any_expr(node.value, env)
        self.at(node)
        env[JUMP], env[RETURN] = LEAVE, None if self.scope.unread else value

    def stmt_Break(self, node: ast.Break, env: Env) -> None:
        env[JUMP] = BREAK

    def stmt_Continue(self, node: ast.Continue, env: Env) -> None:
        env[JUMP] = CONTINUE

    # -- loops
    def stmt_For(self, node: ast.For, env: Env) -> None:
        x = self.iterated(node.iter, env)
        if isinstance(x, Generator):
            return self.over_generator(node, x, env)
        if is_cursor(x):
            return self.over_cursor(node, x, env)
        if isinstance(x, Progress):
            it = self.iterable(node.iter, talk.begin_loop(self, node, x), node)
            with pushed(self.bars, (node, x)), self.scope.holding(held_by(it)):
                if isinstance(it, (Range, Items)):
                    return self.over(node, it, env)
                return self.unroll(node, it, env)
        it = self.iterable(node.iter, x, node)
        if isinstance(x, OneShotIterator) and isinstance(it, list) and not isinstance(node.iter, ast.Call):
            x.gone, x.left = False, pulled(self.r, it)  # the body, or what follows, may take some items too
            it = x.pull(self.r)
        self.at(node)
        if isinstance(it, Items) and self.r.loc in self.r.growth.changing and it.watched is not None:
            if it.watched.more is not None:
                return self.over_cursor(node, cursors.begin_changing(self, it.watched), env)
        with self.scope.holding(held_by(it)):
            if isinstance(it, Iterator):
                return self.unroll(node, it, env)
            if isinstance(it, list):
                if not over_alike(self, node, it, env):
                    self.unroll(node, it, env)
            elif not (isinstance(it, Range) and over_numbers(self, node, it, env)):
                self.over(node, it, env)
        if isinstance(x, OneShotIterator) and not leaves_by(node.body, ast.Break, ast.Return):
            if self.trying:  # an exception may have left the loop
                x.gone = True
            else:
                x.exhaust()

    def over_cursor(self, node: ast.For, x: Record, env: Env) -> None:
        """A `for` over an iterator from which items are taken elsewhere too: as long as it has one."""
        if x.kind.steps is not None and not leaves_by(node.body, ast.Break, ast.Return):  # type: ignore[attr-defined]
            left = cursors.rest(self, node, x)
            with pushed(self.ending, x):
                return self.over_generator(node, left, env)
        if x.kind.generator is not None or x.kind.steps is not None:  # type: ignore[attr-defined]
            raise cursors.refused(self, node.iter, "a loop over")

        def test(inner: Env) -> bool | PyBool:
            self.at(node)
            with self.scope.inside(inner):
                return self.decided(node, self.truth(node, cursors.has_more(self, node, x)))

        def run(inner: Env, place: Dim | None) -> None:
            self.at(node)
            self.assign(node.target, cursors.take(self, node, x), inner)
            self.branch(node.body)(inner)

        with self.scope.holding(held_by(x.kind.over)):  # type: ignore[attr-defined]
            self.loop(node, None, run, True, env, test)

    def over(self, node: ast.For, it: Items | Range, env: Env) -> None:
        """A `for` whose iterations are alike."""
        rng = it if isinstance(it, Range) else Range(0, length(self.r, it), 1)
        watched = it.watched if isinstance(it, Items) else None

        def run(inner: Env, place: Dim | None) -> None:
            assert place is not None
            self.at(node)
            talk.advance(self, node)
            with self.scope.inside(inner):  # a generator expression, or a lambda of `map`, sees names as they are now
                if watched is not None and watched.more is None:
                    value = watched.get(place)
                else:
                    value = item(it, place) if isinstance(it, Items) else as_int_value(place)
            self.assign(node.target, value, inner)
            self.branch(node.body)(inner)
            if watched is not None:
                self.at(node)
                watched.check(goes_on(self.r, inner, BREAK))

        before = len(self.r.changed_lists)
        try:
            with pushed(self.walking, None if watched is None else watched.of):
                self.loop(node, rng, run, leaves_by(node.body, ast.Break, ast.Return), env)
        except UnsupportedError:
            lists = () if watched is None else watched.lists
            if not any(x is of for x in self.r.changed_lists[before:] for of in lists):
                raise
            self.at(node)  # perhaps for what the loop holds of the list
            self.r.growth.found_changing.add(self.r.loc)
            raise Regrow from None
        if watched is not None:
            self.at(node)
            cursors.check_deques(self, [x for x in self.r.changed_lists[before:] for of in watched.lists if x is of])

    def stmt_While(self, node: ast.While, env: Env) -> None:
        def test(inner: Env) -> bool | PyBool:
            self.at(node)
            with self.scope.inside(inner):
                try:
                    if picks is not None:
                        return picks.within(inner, lambda: self.decided(node.test, self.test(node.test, inner)))
                    return self.decided(node.test, self.test(node.test, inner))
                except Raises as said:
                    self.reached(said)  # here, where it is known whether the loop gets here at all
                    raise

        def run(inner: Env, place: Dim | None) -> None:
            if picks is not None:
                return picks.within(inner, lambda: self.branch(node.body)(inner))
            self.branch(node.body)(inner)

        picks = while_picks(self, node, env)
        self.loop(node, None, run, True, env, test)

    def loop(
        self,
        node: ast.For | ast.While,
        rng: Range | None,
        run: Callable[[Env, Dim | None], None],
        exits: bool,
        env: Env,
        test: Callable[[Env], bool | PyBool] | None = None,
    ) -> None:
        """A traced loop, and its `else`."""
        live = self.scope.source.live
        spec = self.loop_spec(node, rng, run, exits, test)
        env.pop(JUMP, None)
        with self.scope.jumping_to(live.head[node] | live.after[node]):
            trace_loop(self.r, spec, env, self.plans)
        forget_left_paths(env)
        self.at(node)
        self.after_loop(node, env, exits)

    def loop_spec(
        self,
        node: ast.For | ast.While,
        rng: Range | None,
        run: Callable[[Env, Dim | None], None],
        exits: bool = False,
        test: Callable[[Env], bool | PyBool] | None = None,
    ) -> LoopSpec:
        """What a loop statement is to the tracing of loops."""
        live = self.scope.source.live
        key = (node, self.r.loc, *(s.source.node for s in self.scopes))
        bound = live.assigned[node], live.rebound[node], live.computed[node], live.floats[node]
        return LoopSpec(key, rng, test, run, exits, *bound, live.head[node], live.after[node], live.always[node])

    def after_loop(self, node: ast.For | ast.While, env: Env, exits: bool) -> None:
        """The `else` of a loop that was not left by `break`, and the effect of a `return` in it on the statements after
        the loop."""
        ended = jump_of(env) if exits else DONE
        talk.end_loop(self, node, lambda: self.went_through(node, ended))
        if not leaves_by(node.body, ast.Return):
            env[JUMP] = GO_ON
        elif isinstance(ended, int):
            env[JUMP] = LEAVE if ended == LEAVE else GO_ON
        else:
            r = self.r
            left = r.compare("eq", ended.expr, LEAVE)
            value = r.emit(arith.Select.of(left, r.index(LEAVE), r.index(GO_ON)))
            env[JUMP] = PyInt(r.symbol(value, JUMP, GO_ON, LEAVE))
        if not node.orelse:
            return
        with self.scope.letting_go() if isinstance(node, ast.For) else nullcontext():
            self.else_of_loop(node, env, ended)

    def else_of_loop(self, node: ast.For | ast.While, env: Env, ended: int | PyInt) -> None:
        """The `else` of a loop, which was left as `ended` says: it holds what it went through no more."""
        if isinstance(ended, int):
            if ended in (GO_ON, CONTINUE, DONE):
                self.block(node.orelse, env)
            return
        if not leaves_by(node.body, ast.Break, ast.Return):
            return self.block(node.orelse, env)
        whole = self.went_through(node, ended)
        assert isinstance(whole, PyBool)
        live = self.scope.source.live.after[node] | self.jump_targets()
        arms = [self.branch(node.orelse), self.branch([])]
        trace_if(self.r, whole, env, arms, (*stored(node.orelse), JUMP, RETURN), live, frozenset([RETURN]))

    def went_through(self, node: ast.For | ast.While, ended: int | PyInt) -> bool | PyBool:
        """Whether a loop has ended by itself."""
        if isinstance(ended, int):
            return ended in (GO_ON, CONTINUE, DONE)
        if not leaves_by(node.body, ast.Break, ast.Return):
            return True
        r = self.r
        return PyBool(either(r, r.compare("slt", ended.expr, BREAK), r.compare("sgt", ended.expr, LEAVE)))

    def unroll(self, node: ast.For, items: Sequence[Any] | Iterator[Any], env: Env) -> None:
        """A loop over items known one by one."""
        live = self.scope.source.live
        targets = live.head[node] | live.after[node]
        with self.scope.jumping_to(targets):
            self.unrolled(node, items, env, targets)
        forget_left_paths(env)
        ended = jump_of(env)
        if not isinstance(ended, int):
            return self.after_loop(node, env, True)
        env[JUMP] = LEAVE if ended == LEAVE else GO_ON
        talk.end_loop(self, node, lambda: ended in (GO_ON, CONTINUE))
        if ended in (GO_ON, CONTINUE):
            self.block(node.orelse, env)

    def unrolled(
        self, node: ast.For, items: Sequence[Any] | Iterator[Any], env: Env, targets: frozenset[str], first: int = 0
    ) -> None:
        k, most = first, MOST_TURNS if isinstance(items, Iterator) else len(items) + UNROLLED
        recorded, number = self.r.recorded, 0 if isinstance(items, Iterator) else len(items) - first
        while one := item_at(items, k):
            if k - first == ENOUGH and (self.r.recorded - recorded) * number > 2 * ENOUGH * MOST_RECORDED:
                raise self.refuse(node, *TOO_MUCH)
            if k >= most:
                raise self.refuse(node, "a list grows in a loop over it", "loop over a copy: for x in list(items)")
            k += 1
            env[JUMP] = GO_ON
            self.r.growth.note_unrolled()
            talk.advance(self, node)
            self.assign(node.target, one[0], env)
            self.branch(node.body)(env)
            on = goes_on(self.r, env, BREAK)
            if isinstance(on, PyBool):

                def others(inner: Env, rest: int = k) -> None:
                    self.unrolled(node, items, inner, targets, rest)

                names, live = (*self.scope.source.live.assigned[node], JUMP, RETURN), targets | TRACER_NAMES
                return trace_if(self.r, on, env, [others, lambda e: None], names, live, frozenset([RETURN]))
            if not on:
                return

    # -- checks
    def stmt_Raise(self, node: ast.Raise, env: Env) -> None:
        handled = self.handling[-1][0] if self.handling else None
        if (again := handled if node.exc is None else self.caught_by(node.exc, env)) is not None:
            if isinstance(again, Caught):
                self.raise_caught(again)
            self.r.fail(again)
        if node.exc is None or not self.plain_cause(node.cause, env):
            raise self.refuse(node, "`raise` without an exception, or with `from`", 'raise ValueError("...")')
        call = node.exc if isinstance(node.exc, ast.Call) else None
        kind = self.expr(node.exc if call is None else call.func, env)
        if isinstance(kind, MadeError):
            self.at(node)
            self.raises(node, kind.function, list(kind.args))  # type: ignore[arg-type]
        exception = isinstance(kind, type) and issubclass(kind, BaseException)
        starred = call is not None and any(k.arg is None for k in call.keywords)
        if not exception or starred or (call is not None and call.keywords and not made_by_python(kind)):
            raise self.refuse(node, "`raise` of anything but an exception with a message", 'raise ValueError("...")')
        if not has_plain_constructor(kind) and not (made_by_python(kind) and not self.r.is_caught(kind)):
            raise self.refuse(node, f"{kind.__name__} has a constructor of its own", 'raise ValueError("...")')
        args = [] if call is None else self.items(call.args, env)
        named = {str(k.arg): self.expr(k.value, env) for k in (call.keywords if call is not None else ())}
        self.at(node)
        self.raises(node, kind, args, named)

    def raises(
        self, node: ast.AST, kind: type[BaseException], args: Sequence[Any], named: dict[str, Any] | None = None
    ) -> NoReturn:
        """Records that an exception is raised here. Where what it shows is more than numbers, or it takes arguments by
        name, Python raises it."""
        if named or any(has_elements(self, node, x) for x in args):
            caught = self.r.landing_for(kind, None) is not None
            if not caught and any(h.name for t in self.trying for h in t.handlers):
                raise self.refuse(node, "`except ... as`, of a message with an array", "leave the name out")
            if caught or not (self.r.surely and self.r.certain):
                talk.say(self, node, raise_as, [kind, *args], named or {})
            if caught:
                raise DeadEnd
        self.r.fail(kind, *self.message(node, args))

    def plain_cause(self, cause: ast.expr | None, env: Env) -> bool:
        """Whether the operand of `from` is one that no message shows: None, or the exception being handled."""
        return cause is None or self.expr(cause, env) is None or self.caught_by(cause, env) is not None

    def caught_by(self, node: ast.expr, env: Env) -> BaseException | Caught | None:
        """What has been caught, if a name holds it."""
        x = env.get(node.id) if isinstance(node, ast.Name) else None
        return next((caught for caught, held in self.handling if x is held), None)

    def stmt_Global(self, node: ast.Global | ast.Nonlocal, env: Env) -> None:
        """Names of outer scopes may be read."""
        nodes = own_nodes_of(self.scope.source.node)
        aliases = [a for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names]
        imported = {(a.asname or a.name).partition(".")[0] for a in aliases}
        if any(name in self.scope.source.locals or name in imported for name in node.names):
            raise self.refuse(node, *refusals.statement(node))

    stmt_Nonlocal = stmt_Global

    def stmt_Assert(self, node: ast.Assert, env: Env) -> None:
        known = self.decided(node.test, operators.holds(self, node.test, env))
        self.at(node.test)
        if known is True:
            return

        def fails(env: Env) -> None:
            try:
                given = [] if node.msg is None else [self.expr(node.msg, env)]
            except Raises as said:
                self.reached(said)
                raise
            self.at(node.test)
            self.raises(node.test, AssertionError, given)

        if not isinstance(known, PyBool):
            fails(env)
            return
        if node.msg is None or is_harmless(node.msg, env):
            given = [] if node.msg is None else [self.expr(node.msg, env)]
            self.at(node.test)
            if not any(has_elements(self, node, x) for x in given):
                self.r.check(known.value, AssertionError, *self.message(node, given))
                return
        trace_if(self.r, known, env, [lambda env: None, fails], (), frozenset(env))  # evaluated where it fails

    def message(self, node: ast.AST, args: Sequence[Any]) -> tuple[Message, list[Value]]:
        """The arguments of an exception, and the traced values in them."""
        if not args:
            return None, []
        values: list[Value] = []
        parts = self.message_parts(node, args, values)
        if len(parts) == 1 and isinstance(parts[0], Shown):
            return parts[0].template, values
        return escaped(parts[0]) if len(parts) == 1 and isinstance(parts[0], str) else tuple(parts), values

    def message_parts(self, node: ast.AST, args: Sequence[Any], values: list[Value]) -> list[object]:
        """The arguments of an exception as parts of a message. The traced values in them are appended to `values`."""
        parts: list[object] = []
        for x in args:
            if isinstance(x, Scalar):
                parts.append(Number(type(stand_in(x))))
            elif type(x) in (tuple, list, dict) and any(map(is_shown, self.flat([x]))):
                inner = [y for item in x.items() for y in item] if type(x) is dict else x
                parts.append(Several(type(x), tuple(self.message_parts(node, inner, values))))
                continue
            elif isinstance(x, Text) or any(map(is_shown, self.flat([x]))):
                shown = text_of(self, node, x)
                found = [number_value(self.r, n) for n in shown.numbers]
                parts.append(Shown(shown.template, len(found)))
                values += found
                continue
            else:
                parts.append(x)
                continue
            values.append(number_value(self.r, x))
        return parts

    def stmt_FunctionDef(self, node: ast.FunctionDef, env: Env) -> None:
        decorators = [self.any_expr(d, env) for d in node.decorator_list]
        made: Any = self.make_nested(node, node.name, env)
        for expression, decorator in zip(node.decorator_list[::-1], decorators[::-1]):
            self.at(expression)
            made = self.call(expression, decorator, [made], {})
        env[node.name] = made

    def stmt_ClassDef(self, node: ast.ClassDef, env: Env) -> None:
        env[node.name] = records.define_class(self, node, env)

    def stmt_Import(self, node: ast.Import, env: Env) -> None:
        for alias in node.names:
            module = self.loaded(node, alias.name)
            top = alias.name.partition(".")[0]
            env[alias.asname or top] = module if alias.asname else self.loaded(node, top)

    def stmt_ImportFrom(self, node: ast.ImportFrom, env: Env) -> None:
        name = node.module or ""
        if node.level:
            self.at(node)
            package = self.scope.lookup("__package__")
            if not package:
                raise Raises(ImportError("attempted relative import with no known parent package"))
            name = ask(resolve_name, "." * node.level + name, package)
        module = self.loaded(node, name)
        for alias in node.names:
            if not hasattr(module, alias.name) and hasattr(module, "__path__"):
                with suppress(Raises):
                    self.loaded(node, f"{name}.{alias.name}")
            if not hasattr(module, alias.name):
                raise Raises(ImportError(f"cannot import name '{alias.name}' from '{name}'"))
            env[alias.asname or alias.name] = getattr(module, alias.name)

    def loaded(self, node: ast.stmt, name: str) -> Any:
        """A module, imported while tracing if it is not there yet."""
        self.at(node)
        return ask(import_module, name)

    def stmt_Delete(self, node: ast.Delete, env: Env) -> None:
        for target in node.targets:
            if isinstance(target, ast.Subscript):
                base, index = self.place(target, env)
                self.at(target)
                if type(base) is Cond or isinstance(base, dict):
                    self.by_type(target, (base, index), env, partial(dicts.delete, self, target))
                else:
                    dicts.delete(self, target, base, index)
                continue
            if not isinstance(target, ast.Name):
                raise self.refuse(node, *refusals.statement(node))
            self.load_name(target.id, env, target)
            env.pop(target.id)


HARMLESS = (ast.Constant, ast.JoinedStr, ast.FormattedValue, ast.Name, ast.Tuple, ast.expr_context)
"""Expressions that neither raise nor have effects."""


def made_by_python(kind: type[BaseException]) -> bool:
    """Whether the constructor of a class of exceptions is a function of Python's, which runs where one is raised."""
    return isinstance(kind.__init__, types.FunctionType) and isinstance(kind.__new__, types.BuiltinFunctionType)


def is_harmless(node: ast.expr, env: Env) -> bool:
    """Whether a message can be evaluated without an effect or an exception, so that it need not wait until it is
    reached."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id not in env:
            return False
        if isinstance(part, ast.FormattedValue) and part.format_spec is not None:
            return False
        if not isinstance(part, HARMLESS):
            return False
    return True


def has_elements(i: Statements, node: ast.AST, x: Any) -> bool:
    """Whether an argument of an exception shows what a check does not: elements of an array, or other text."""
    if isinstance(x, Scalar) or not (isinstance(x, Text) or any(map(is_shown, i.flat([x])))):
        return False
    return any(not p.template and p.value is not None for p in text_of(i, node, x).open)


def is_shown(x: Any) -> bool:
    """Whether an argument of an exception is given as its text, for want of the value itself."""
    return is_traced(x) or type(x).__module__.startswith("tracebuf.")
