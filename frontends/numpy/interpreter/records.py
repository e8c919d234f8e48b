"""Objects of the user's classes in a trace: attributes, methods, properties, constructors, `super()`.

An attribute of an object of the caller's is an argument that is fetched at each call; methods and properties are
inlined. Does not trace classes that define attribute access themselves, or descriptors other than Python's own.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import math
import operator
import random
import re
import types
from abc import ABCMeta
from collections import namedtuple
from collections.abc import Callable, Sequence
from enum import EnumMeta
from functools import partial
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.call.arguments import BUFFERS, RunOriginal, is_text_array
from tracebuf.frontends.numpy.call.captures import ABSENT, Hidden, NewCapture, attribute_of, item_of
from tracebuf.frontends.numpy.call.conditions import same_capture
from tracebuf.frontends.numpy.call.containers import attributes_of, is_named_tuple
from tracebuf.frontends.numpy.call.flatten import check_items, is_written_in_python
from tracebuf.frontends.numpy.call.host_call import host_call
from tracebuf.frontends.numpy.call.lookups import Attribute, Globals, ItemsOf, OfClass
from tracebuf.frontends.numpy.functions import inspection, table
from tracebuf.frontends.numpy.functions.formulas import twister
from tracebuf.frontends.numpy.interpreter import dicts
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.numbers.lattice import choice
from tracebuf.frontends.numpy.paths.iteration import OneShotIterator
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.callees import Buffer, Generator, Method, NestedFunction, Partial
from tracebuf.frontends.numpy.record.cond import ends
from tracebuf.frontends.numpy.record.growing import is_growing, is_inner, is_keyed
from tracebuf.frontends.numpy.record.heap import Record, is_generator, is_of_class, without_methods
from tracebuf.frontends.numpy.record.raises import Raises, ask, bind, call_as, call_handler, hold, is_tracers
from tracebuf.frontends.numpy.record.scalar_checks import by_origin
from tracebuf.frontends.numpy.record.values import (
    NUMBERS,
    ArrayRef,
    Env,
    NpScalar,
    PyBool,
    PyInt,
    Scalar,
    is_traced,
    stand_in,
)
from tracebuf.frozen import frozen
from tracebuf.location import UNKNOWN
from tracebuf.running.jitted import CFunction, is_callback, is_vectorized

MISSING = object()
"""Stands for an attribute that does not exist."""
PASS_IT = "read it outside and pass the value as an argument"


@frozen(eq=False, slots=False)
class BoundMethod:
    """A method bound to an object or a class."""

    function: Any
    owner: Any


@frozen(eq=False, slots=False)
class Variables:
    """`x.__dict__` of an object that the function has made."""

    of: Record


@frozen(eq=False, slots=False)
class VariablesMethod:
    """A method of such a dict."""

    of: Record
    name: str


@frozen(eq=False, slots=False)
class Super:
    """super(): an object, as the bases after `after` see it."""

    after: type
    owner: Any


def in_class(mro: Sequence[type], name: str) -> Any:
    """The attribute of a class or its bases, as it is stored there."""
    for c in mro:
        own = vars(c)[LOCAL].fields if LOCAL in vars(c) else {}
        if name in own or name in vars(c):
            return own[name] if name in own else vars(c)[name]
    return MISSING


def attribute(i: Evaluator, node: ast.AST, base: Any, name: str, dynamic: bool = True) -> Any:
    """`base.name` of an object, a named tuple or super(). `dynamic`: by the class's `__getattr__` too."""
    if isinstance(base, Super):
        mro = mro_behind(base)
        found = in_class(mro, name)
        if found is MISSING:
            raise Raises(AttributeError(f"'super' object has no attribute '{name}'"))
        if found is object.__new__:
            return found
        return from_class(i, node, base.owner, found, name)
    if is_generator(base) and name not in base.known:
        return twister.method(i.r, base, name)
    if isinstance(base, Record) and base.kind is random.Random and name != "gauss_next":
        return of_outer_random(i, base, name)
    kind = kind_of_object(base)
    if name == "__class__":
        return kind
    if name == "__dict__" and isinstance(base, Record):
        return variables(i, node, base)
    found = in_class(kind.__mro__, name)
    if isinstance(base, Record):
        if isinstance(found, property):
            return of_property(i, node, base, found, name)
        value = field(i, base, name, found)
        if value is not MISSING:
            if found is MISSING or hasattr(type(found), "__get__"):
                keeps(i, kind, name)
            return value
        if isinstance(found, functools.cached_property):
            value = i.call_function(found.func, [base], {})
            store(i, node, base, name, value)
            return value
    elif name in kind._fields:
        return base[kind._fields.index(name)]
    elif name in (more := attributes_of(base)):
        return more[name]
    if found is MISSING or isinstance(found, types.MemberDescriptorType):
        keeps(i, kind, name)
        if not lacks(i, kind, "__getattr__"):
            if not dynamic or not isinstance(base, Record):
                raise i.refuse(node, f"{kind.__name__} has a `__getattr__` of its own", PASS_IT)
            return i.call(node, special(i, node, base, "__getattr__", "has none"), [name], {})
        if kind is Globals:
            raise Raises(NameError(f"name '{name}' is not defined"))
        i.captures.setdefault((name, id(kind)), (name, OfClass(kind, name), OfClass(kind, name).held(None)))
        raise Raises(refusals.without(kind, name))
    return from_class(i, node, base, found, name)


def of_outer_random(i: Evaluator, base: Record, name: str) -> Any:
    """`base.name` of a generator of Python's from outside: its state, for the formulas, or what a method is."""
    if name != "state" or i.scope.source.file != twister.__file__:
        return twister.method(i.r, base, name)
    hidden = base.path.made(twister.state_fetched, "state")
    if hidden.place not in i.hidden:
        if twister.state_of(base.actual) is None:
            raise i.r.refuse("a generator of Python's `random` whose state is laid out otherwise", PASS_IT)
        raise NewCapture(hidden)
    return i.hidden[hidden.place]


def of_property(i: Evaluator, node: ast.AST, base: Record, found: property, name: str) -> Any:
    """The value of a property; after an AttributeError of its own Python asks the class's `__getattr__`."""
    try:
        return from_class(i, node, base, found, name)
    except Raises as said:
        if isinstance(said.error, AttributeError) and not lacks(i, base.kind, "__getattr__"):
            reason = f"the property `{name}` raises AttributeError, and {base.kind.__name__} has a `__getattr__`"
            raise i.refuse(node, reason, PASS_IT) from None
        raise


def special(i: Evaluator, node: ast.AST, base: Record, name: str, without: str) -> Any:
    """A call of a special method; TypeError where the class has none."""
    if lacks(i, base.kind, name):
        raise Raises(TypeError(f"'{base.kind.__name__}' object {without}"))
    return from_class(i, node, base, in_class(base.kind.__mro__, name), name)


def keeps(i: Evaluator, kind: type, name: str) -> None:
    """Guards what a class or its bases hold, or do not: what is put there later may come before what an object has."""
    if is_local(kind):
        for base in kind.__bases__:
            if base is not object and name not in vars(kind):
                keeps(i, base, name)
    elif kind is not types.SimpleNamespace and not kind.__module__.startswith("tracebuf."):
        fetch = OfClass(kind, name)
        i.captures.setdefault((name, id(kind)), (name, fetch, fetch()))


def lacks(i: Evaluator, kind: type, name: str) -> bool:
    """Whether neither a class nor its bases have an attribute; guarded where they have not."""
    if in_class(kind.__mro__, name) is not MISSING:
        return False
    keeps(i, kind, name)
    return True


def is_equal_to_itself_alone(i: Evaluator, kind: type) -> bool:
    """Whether the objects of a class are compared by identity."""
    keeps(i, kind, "__eq__")
    return in_class(kind.__mro__[:-1], "__eq__") is MISSING


def kind_of_object(base: Any) -> Any:
    """The class of an object."""
    return base.kind if isinstance(base, Record) else type(base)


def mro_behind(base: Super) -> Sequence[type]:
    """The classes in which an attribute is looked up: those after `after` for super()."""
    kind = base.owner if isinstance(base.owner, type) else kind_of_object(base.owner)
    if base.after not in kind.__mro__:
        raise Raises(TypeError("super(type, obj): obj must be an instance or subtype of type"))
    return kind.__mro__[kind.__mro__.index(base.after) + 1 :]


def field(i: Evaluator, base: Record, name: str, found: Any) -> Any:
    """The value of an attribute of the object itself (for an object of the caller's, of its class too); MISSING if it
    has none. It is fetched anew at each call."""
    return base.fields[name] if name in base.fields else original(i, base, name, found)


def original(i: Evaluator, base: Record, name: str, found: Any) -> Any:
    """The value that an attribute of the caller's object has when the call begins."""
    if name in base.base:
        return base.base[name]
    if base.actual is None:
        return MISSING
    slot = isinstance(found, types.MemberDescriptorType)
    data = slot or not (found is MISSING or hasattr(type(found), "__get__"))
    if not data and not hasattr(base.actual, "__dict__"):
        return MISSING
    hidden = base.path.attribute(name) if data else base.path.own(name)
    if hidden.place not in i.hidden:
        value = getattr(base.actual, name, ABSENT) if data else vars(base.actual).get(name, ABSENT)
        if hidden.root is None and i.asks_items(value):
            fetch = ItemsOf(hidden.fetch)
            i.captures.setdefault((name, id(base.actual)), (hidden.label, fetch, fetch()))
            return fetch()
        if not is_text_array(value):
            check_items(hidden.label, value, i.r.loc)
        raise NewCapture(hidden, further_captures(i, base, name))
    value = i.hidden[hidden.place]
    if value is ABSENT:
        return MISSING
    base.base[name] = value
    return value


def further_captures(i: Evaluator, base: Record, name: str) -> list[Hidden]:
    """Further attributes of the object itself that the function being traced names, and that may be arguments: so that
    tracing does not begin again for each."""
    names = [n for n, x in i.scope.env.items() if x is base]
    nodes = (n for n in ast.walk(i.scope.source.node) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load))
    found = dict.fromkeys(n.attr for n in nodes if isinstance(n.value, ast.Name) and n.value.id in names)
    own = getattr(base.actual, "__dict__", {})
    plain = [n for n in found if n != name and type(own.get(n)) in (np.ndarray, int, float, bool)]
    return [h for n in plain if (h := base.path.own(n)).place not in i.hidden and is_argument(own[n])]


def is_argument(x: Any) -> bool:
    """Whether a value may be an argument."""
    try:
        check_items("", x, UNKNOWN)
    except (UnsupportedError, RunOriginal):
        return False
    return True


def read(i: Evaluator, base: Record, name: str, default: Any) -> Any:
    """An attribute that an object itself has when the call begins, else the default."""
    value = original(i, base, name, in_class(base.kind.__mro__, name))
    return default if value is MISSING else value


def from_class(i: Evaluator, node: ast.AST, base: Any, found: Any, name: str) -> Any:
    """The value, for an object, of an attribute that its class holds: a bound method, a property's value."""
    if isinstance(found, property):
        if isinstance(found.fget, NestedFunction):
            return i.call_nested(found.fget, [base], {})
        if not isinstance(found.fget, types.FunctionType):
            raise i.refuse(node, f"the property `{name}` has no function of Python's", PASS_IT)
        guarded(i, base, name, found)
        return i.call_function(found.fget, [base], {})
    if isinstance(found, (staticmethod, classmethod)):
        of_here = isinstance(found.__func__, NestedFunction)
        inner = found.__func__ if of_here else guarded(i, base, name, found.__func__)
        if isinstance(found, staticmethod):
            return inner
        return BoundMethod(inner, base if isinstance(base, type) else kind_of_object(base))
    if is_method(found):
        return BoundMethod(guarded(i, base, name, found), base)
    if type(found) is functools.partialmethod and is_method(found.func) and not isinstance(base, type):
        return part_of(i, base, name, found)
    if isinstance(found, (types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodDescriptorType)):
        return BoundMethod(found, base)
    if hasattr(type(found), "__get__"):
        raise i.refuse(node, f"`{name}` is a descriptor of type {type(found).__name__}", PASS_IT)
    return guarded(i, base, name, found)


def is_method(found: Any) -> bool:
    """Whether a function that a class holds is bound to the object through which it is read."""
    functions = (types.FunctionType, NestedFunction)
    return isinstance(found, functions) or getattr(type(found), "__tracebuf__", False) is True


def part_of(i: Evaluator, base: Any, name: str, found: functools.partialmethod[Any]) -> Partial:
    """A functools.partialmethod read from an object; what it holds is guarded, for the class may get another one."""
    kind = kind_of_object(base.owner if isinstance(base, Super) else base)

    def now(part: str) -> Callable[[], Any]:
        return partial(attribute_of, OfClass(kind, name), part)

    args = i.capture(f"{name}.args", now("args"), found.args, kind)
    named = {k: i.capture(k, partial(item_of, now("keywords"), k), x, found) for k, x in found.keywords.items()}
    return Partial(BoundMethod(i.capture(f"{name}.func", now("func"), found.func, kind), base), args, named)


def guarded(i: Evaluator, base: Any, name: str, found: Any) -> Any:
    """A value that a class holds, guarded: it may be changed between calls."""
    kind = base if isinstance(base, type) else kind_of_object(base.owner if isinstance(base, Super) else base)
    if is_local(kind):
        kind = next(c for c in kind.__mro__ if in_class([c], name) is found or (name in vars(c) and not is_local(c)))
        if is_local(kind):
            return found
    return i.capture(name, OfClass(kind, name), found, kind)


def store(i: Evaluator, node: ast.AST, base: Any, name: str, value: Any) -> None:
    """`base.name = value`."""
    check_name(name)
    if is_local(base) and not name.startswith("__"):
        own = vars(base)[LOCAL]
        if own.fields.get(name, MISSING) is not value:
            i.change(node, own)
            own.fields[name] = value
        return
    if not has_attributes_here(base) or isinstance(base, Super):
        if isinstance(base, (ArrayRef, Scalar)):
            check_has(np.ndarray(0) if isinstance(base, ArrayRef) else stand_in(base), name)
        if base is None or isinstance(base, (str, *NUMBERS)):
            check_has(base, name)
        raise i.refuse(node, *refusals.ATTRIBUTE_SET)
    kind = kind_of_object(base)
    if not isinstance(base, Record):
        if has_dict(kind) and name not in kind._fields:
            return store_in_tuple(i, node, base, name, value)
        plain = f"'{kind.__name__}' object has no attribute '{name}'"
        raise Raises(AttributeError("can't set attribute" if name in kind._fields else plain))
    found = in_class(kind.__mro__, name)
    if is_result(kind):
        return set_field(i, node, base, name, value)
    if in_class(kind.__mro__[:-1], "__setattr__") is not MISSING and kind is not types.SimpleNamespace:
        if is_frozen(kind):
            raise Raises(dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}"))
        raise i.refuse(node, f"{kind.__name__} has a `__setattr__` of its own", "return the value, and set it outside")
    keeps(i, kind, "__setattr__")
    if found is MISSING or hasattr(type(found), "__get__"):
        keeps(i, kind, name)
    if isinstance(found, property):
        if found.fset is None:
            raise Raises(AttributeError(f"property '{name}' of '{kind.__name__}' object has no setter"))
        i.call_function(found.fset, [base, value], {})
        return
    if not has_dict(kind) and not isinstance(found, types.MemberDescriptorType):
        raise Raises(refusals.without(kind, name))
    if kind is Globals and is_argument(vars(base.actual).get(name, ABSENT)):
        original(i, base, name, MISSING)  # other functions read it as it is at each call
    if base.known.get(name, MISSING) is not value or (name not in base.fields and is_of_class(base, name)):
        i.change(node, base)
        base.fields[name] = value


def has_dict(kind: type) -> bool:
    """Whether the objects of a class have a `__dict__`."""
    return any("__dict__" in vars(c) for c in kind.__mro__) or kind is types.SimpleNamespace


def is_bunch(kind: type) -> bool:
    """Whether a class of named tuples is one whose objects may have further attributes, as SciPy's results are."""
    init = vars(kind).get("__init__")
    return hasattr(kind, "_extra_fields") and getattr(getattr(init, "__code__", None), "co_filename", "") == "<string>"


def store_in_tuple(i: Evaluator, node: ast.AST, base: Any, name: str, value: Any) -> None:
    """`base.name = value` of a named tuple that may have further attributes, which no branch or loop undoes."""
    kind, odd = type(base), (types.FunctionType, property)
    if not is_bunch(kind) and isinstance(in_class(kind.__mro__[:-1], "__setattr__"), odd):
        raise i.refuse(node, f"{kind.__name__} has a `__setattr__` of its own", "return the value, and set it outside")
    if isinstance(in_class(kind.__mro__, name), odd[1]):
        raise i.refuse(node, f"`{name}` of a named tuple is a property", PASS_IT)
    if i.r.frame.kind != "func" or i.scopes[1:]:
        raise i.refuse(node, "an attribute of a named tuple that is set in a branch, loop or called function", PASS_IT)
    vars(base)[name] = value


def check_has(x: object, name: str) -> None:
    """The AttributeError of a store to an attribute that NumPy's and Python's own objects do not have."""
    if not hasattr(x, name):
        ask(setattr, x, name, None)


def is_frozen(kind: type) -> bool:
    """Whether a class is a frozen dataclass."""
    return bool(getattr(getattr(kind, "__dataclass_params__", None), "frozen", False))


# -- classes that the function defines
# Such a class is made anew in each tracing, as Python makes one in each call; its methods are functions inside. So no
# guard is about it, and none of its objects, nor itself, leaves the function.
LOCAL = "__tracebuf_local__"
"""What such a class holds, and others do not."""
LOCAL_TUPLE = "__tracebuf_local_tuple__"
"""What such a class of named tuples holds."""
DECORATORS = (property, staticmethod, classmethod)
"""Those that a method may have."""
BY_CPYTHON = ("__new__", "__init_subclass__", "__class_getitem__", "__slots__", "__set_name__", "__getattribute__")
"""Names that make a class another thing."""


def is_local(kind: Any) -> bool:
    """Whether a class is one that the function being traced has defined."""
    return isinstance(kind, type) and LOCAL in vars(kind)


def define_tuple(i: Evaluator, node: ast.AST, args: Sequence[Any], kwargs: dict[str, Any]) -> type:
    """collections.namedtuple(...) in the function: of names that are known."""
    if any(map(is_traced, i.flat([*args, *kwargs.values()]))):
        raise i.refuse(node, "a namedtuple with defaults that only the run time knows", "pass them where it is made")
    key = i.at(node), repr((args, kwargs))
    if key not in i.r.growth.named_tuples:
        made = i.r.growth.named_tuples[key] = ask(namedtuple, *args, **{"module": "__main__", **kwargs})
        setattr(made, LOCAL_TUPLE, True)
    return i.r.growth.named_tuples[key]


def define_class(i: Evaluator, node: ast.ClassDef, env: Env) -> type:
    """The class that a statement defines: methods, and attributes that expressions give."""
    options = dataclass_options(i, node, env)
    bases = tuple(i.expr(base, env) for base in node.bases)
    for base in bases:
        odd = not is_class(base) or type(base) is not type or issubclass(base, tuple)
        odd = odd or (is_generated(base) and not is_local(base))
        if base is not object and (odd or in_class(base.__mro__[:-1], "__init_subclass__") is not MISSING):
            name = getattr(base, "__name__", refusals.name_of(base))
            raise i.refuse(node, f"a class in a traced function that derives of {name}", "define it outside")
    around = None if i.scope.closure is i.scope.lookup else i.scope.closure
    name = f"{around.__qualname__}.<locals>.{node.name}" if isinstance(around, types.FunctionType) else node.name
    held: dict[str, Any] = {LOCAL: i.own(Record(types.SimpleNamespace)), "__module__": "tracebuf", "__qualname__": name}
    found: list[type] = []
    annotations: dict[str, str] = {}

    def seen_by(lookup: Callable[[str], Any]) -> Callable[[str], Any]:
        return lambda name: found[0] if name == "__class__" else lookup(name)

    for statement in node.body:
        target: ast.expr | None = None
        value: ast.expr | None = None
        if isinstance(statement, ast.FunctionDef):
            held[statement.name] = method_of(i, statement, {**env, **held}, env, seen_by)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
        elif isinstance(statement, ast.AnnAssign):
            target, value = statement.target, statement.value
            annotations[ast.unparse(target)] = ast.unparse(statement.annotation)
        elif not isinstance(statement, ast.Pass) and not is_text(statement):
            raise i.refuse(statement, "this statement in a class in a traced function", "define the class outside")
        if target is not None and not isinstance(target, ast.Name):
            raise i.refuse(statement, "this statement in a class in a traced function", "define the class outside")
        if target is not None and value is not None:
            made = field_of(i, value, {**env, **held}) if options is not None else None
            held[target.id] = held[LOCAL].fields[target.id] = made or i.expr(value, {**env, **held})
    if own := next((name for name in BY_CPYTHON if name in held), None):
        raise i.refuse(node, f"a class with a `{own}` of its own in a traced function", "define it outside")
    if options is not None:
        if any(word in text for text in annotations.values() for word in ("ClassVar", "InitVar", "KW_ONLY")):
            raise i.refuse(node, "ClassVar or InitVar in a dataclass in a traced function", "define it outside")
        if any(is_tracers(held.get(name)) for name in annotations):
            raise i.refuse(node, "a dataclass whose defaults only the run time knows", "pass them where it is made")
        held["__annotations__"] = annotations
    found.append(ask(type, node.name, bases or (object,), held))
    if options is not None:
        found[0] = ask(dataclasses.dataclass, found[0], **options)
        held[LOCAL].fields = {name: vars(found[0])[name] for name in held[LOCAL].fields if name in vars(found[0])}
    return found[0]


def dataclass_options(i: Evaluator, node: ast.ClassDef, env: Env) -> dict[str, Any] | None:
    """What `@dataclass(...)`, the only decorator of a class in a traced function, is given; None without it."""
    options: dict[str, Any] = {}
    for d in node.decorator_list:
        call = d if isinstance(d, ast.Call) and not d.args else ast.Call(d, [], [])
        options = {k.arg or "": i.expr(k.value, env) for k in call.keywords}
        known = options.keys() <= {"frozen", "eq", "repr"} and not any(map(is_traced, options.values()))
        if len(node.decorator_list) > 1 or i.expr(call.func, env) is not dataclasses.dataclass or not known:
            raise i.refuse(node, "a class with such decorators in a traced function", "define it outside")
    if node.keywords:
        raise i.refuse(node, "a class with keywords in a traced function", "define it outside")
    return options if node.decorator_list else None


def field_of(i: Evaluator, node: ast.expr, env: Env) -> Any:
    """What `field(...)` says of a field of a dataclass; None for any other expression."""
    if not isinstance(node, ast.Call) or i.expr(node.func, env) is not dataclasses.field:
        return None
    return hold(dataclasses.field, **{k.arg or "": i.expr(k.value, env) for k in node.keywords})


def method_of(
    i: Evaluator, node: ast.FunctionDef, around: Env, env: Env,
    seen_by: Callable[[Callable[[str], Any]], Callable[[str], Any]],
) -> Any:  # fmt: skip
    """A method that a class statement defines."""
    decorators = [i.expr(d, around) for d in node.decorator_list]
    if any(d not in DECORATORS for d in decorators):
        raise i.refuse(node, "a decorator of a method of a class in a traced function", "leave it out")
    made = i.make_nested(node, node.name, env)
    whole: Any = NestedFunction(made.source, made.name, seen_by(made.lookup), made.defaults, made.names)
    for decorator in decorators[::-1]:
        whole = decorator(whole)
    return whole


def is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a text, or another constant, alone."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def is_class(x: Any) -> bool:
    """Whether a value is a class written in Python, not of NumPy's, whose objects can be made in a trace."""
    if not isinstance(x, type) or x is object or issubclass(x, BaseException):
        return False
    return x.__module__.partition(".")[0] != "numpy" and is_written_in_python_or_named(x)


def is_written_in_python_or_named(kind: type) -> bool:
    if issubclass(kind, tuple):
        return isinstance(getattr(kind, "_fields", None), tuple)
    return kind is types.SimpleNamespace or all(is_written_in_python(c) for c in kind.__mro__[:-1])


def construct(i: Evaluator, node: ast.AST, kind: type, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`kind(...)`."""
    if issubclass(kind, tuple):
        new = kind.__new__
        if any("__new__" in vars(c) and "_fields" not in vars(c) for c in kind.__mro__[:-2]):
            raise i.refuse(node, f"{kind.__name__} has a `__new__` of its own", "build it outside")
        if in_class(kind.__mro__[:-2], "__init__") is not MISSING and not is_bunch(kind):
            raise i.refuse(node, f"{kind.__name__}, a named tuple, has an `__init__` of its own", "build it outside")
        whole = hold(new, kind, *args, **kwargs)
        if is_bunch(kind):
            hold(kind.__init__, whole, *args, **kwargs)
        return whole
    if type(kind) not in (type, ABCMeta):
        raise i.refuse(node, f"{kind.__name__} has a metaclass of its own ({type(kind).__name__})", "build it outside")
    made, new = None, in_class(kind.__mro__[:-1], "__new__")
    if new is not MISSING and kind is not types.SimpleNamespace:
        made = made_by(i, node, kind, new, args, kwargs)
        if not isinstance(made, Record) or not issubclass(made.kind, kind):
            return made
        kind = made.kind
    made = made or i.r.heap.own(Record(kind), i.r)
    init = in_class(kind.__mro__, "__init__")
    if kind is types.SimpleNamespace:
        made.fields.update(kwargs)
    elif is_generated(kind):
        fill_dataclass(i, made, args, kwargs)
    elif isinstance(init, NestedFunction):
        i.call_nested(init, [made, *args], kwargs)
    elif isinstance(init, types.FunctionType):
        i.call_function(guarded(i, made, "__init__", init), [made, *args], kwargs)
    elif (args or kwargs) and new is MISSING:
        raise Raises(TypeError(f"{kind.__name__}() takes no arguments"))
    return made


def made_by(
    i: Evaluator, node: ast.AST, kind: type, new: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """What the `__new__` of a class gives, before `__init__`."""
    if not isinstance(new, staticmethod) or not isinstance(new.__func__, types.FunctionType):
        raise i.refuse(node, f"the `__new__` of {kind.__name__} is no function of Python's", "build it outside")
    made = i.call_function(guarded(i, kind, "__new__", new.__func__), [kind, *args], kwargs)
    if any(isinstance(x, Record) for x in ends(made)) and not isinstance(made, Record):
        raise i.refuse(node, f"`{kind.__name__}(...)` is one object or another, depending on the path", "use an if")
    return made


def blank(i: Evaluator, node: ast.AST, kind: Any, *args: Any, **kwargs: Any) -> Any:
    """object.__new__(kind)."""
    own = is_class(kind) and in_class(kind.__mro__[:-1], "__new__") is not MISSING
    if (args or kwargs) and is_class(kind) and (own or in_class(kind.__mro__[:-1], "__init__") is MISSING):
        exactly = "object.__new__() takes exactly one argument (the type to instantiate)"
        raise Raises(TypeError(exactly if own else f"{kind.__name__}() takes no arguments"))
    if not is_class(kind) or issubclass(kind, tuple) or type(kind) not in (type, ABCMeta) or args or kwargs:
        raise i.refuse(node, "object.__new__ of this", "build the object outside")
    return i.r.heap.own(Record(kind), i.r)


def is_result(kind: Any) -> bool:
    """Whether a value is a class of SciPy's results, which are dicts whose items are attributes, too."""
    return isinstance(kind, type) and issubclass(kind, dict) and kind.__module__.startswith("scipy.")


def make_result(i: Evaluator, node: ast.AST, kind: type, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """A result of SciPy's, as scipy.optimize.OptimizeResult(x=...) is."""
    if in_class(kind.__mro__, "__init__") is not vars(dict)["__init__"]:
        raise i.refuse(node, f"{kind.__name__} has an `__init__` of its own", "build it outside")
    made = Record(kind)
    made.fields.update(dicts.make(i, node, *args, **kwargs))
    return i.r.heap.own(made, i.r)


def is_generated(kind: type) -> bool:
    """Whether a class has the constructor that `dataclass` made for it."""
    owner = next((c for c in kind.__mro__ if "__init__" in vars(c)), object)
    parameters = vars(owner).get("__dataclass_params__")
    code = getattr(vars(owner).get("__init__"), "__code__", None)
    return parameters is not None and parameters.init and code is not None and code.co_filename == "<string>"


def fill_dataclass(i: Evaluator, made: Record, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """Does what the constructor of a dataclass does."""
    init = made.kind.__init__  # type: ignore[misc]
    bound = bind(inspect.signature(init), (None, *args), kwargs).arguments
    extra: list[Any] = []
    for name, f in made.kind.__dataclass_fields__.items():  # type: ignore[attr-defined]
        sort = f._field_type.name
        if sort == "_FIELD_CLASSVAR":
            continue
        if name in bound:
            value = bound[name]
        elif f.default_factory is not dataclasses.MISSING:
            value = i.call(None, f.default_factory, [], {})  # type: ignore[arg-type]
        elif f.default is not dataclasses.MISSING and is_local(made.kind):
            value = f.default
        elif f.default is not dataclasses.MISSING:
            found = partial(item_of, OfClass(made.kind, "__dataclass_fields__"), name)
            value = i.capture(name, partial(attribute_of, found, "default"), f.default, f)
        else:
            continue
        if sort == "_FIELD_INITVAR":
            extra.append(value)
        else:
            made.fields[name] = value
    after = in_class(made.kind.__mro__, "__post_init__")
    if not lacks(i, made.kind, "__post_init__"):
        i.call_function(guarded(i, made, "__post_init__", after), [made, *extra], {})


# -- functions of Python's and of dataclasses that know objects
def get_attribute(i: Evaluator, node: ast.AST, base: Any, name: Any, *default: Any) -> Any:
    """getattr(base, name[, default])."""
    check_name(name)
    if default and isinstance(base, NpScalar) and isinstance(there := has_attribute(i, node, base, name), PyBool):
        return choice(there.value, i.attribute(node, NpScalar(base.value, base.element), name), default[0])
    try:
        return asked_attribute(i, node, base, name) if default else i.attribute(node, base, name)
    except Raises as said:
        if not default or not isinstance(said.error, AttributeError):
            raise
        return default[0]


def check_name(name: Any) -> None:
    """TypeError as Python's for a name that is no text."""
    if not isinstance(name, str):
        raise Raises(TypeError(f"attribute name must be string, not '{refusals.name_of(name)}'"))


def has_attribute(i: Evaluator, node: ast.AST, base: Any, name: Any) -> bool | PyBool:
    """hasattr(base, name)."""
    check_name(name)
    if isinstance(base, NpScalar) and base.python is not None:
        return by_origin(i.r, base, lambda x: hasattr(x, name))
    if is_traced(base) and name != "mT":  # which raises ValueError of a vector
        if isinstance(base, ArrayRef):
            inspection.check_attribute(i.r, name)
        return inspection.has(base, name)
    if type(base) in (tuple, list, dict, set, frozenset, str, type(None)):
        return hasattr(type(base)(), name)  # the class itself has more, as `__name__`
    if isinstance(base, Buffer):
        if base.kind not in BUFFERS:
            raise i.refuse(node, f"hasattr of a {base.kind.__name__}", "ask outside")
        return ask(hasattr, base.kind, name)
    try:
        asked_attribute(i, node, base, name)
    except Raises as said:
        if not isinstance(said.error, AttributeError):
            raise
        return False
    return True


def asked_attribute(i: Evaluator, node: ast.AST, base: Any, name: str) -> Any:
    """`base.name`, or its AttributeError, which no `__getattr__` may have recorded."""
    return attribute(i, node, base, name, False) if isinstance(base, Record) else i.attribute(node, base, name)


def replaced(i: Evaluator, node: ast.AST, x: Any, /, **changes: Any) -> Any:
    """dataclasses.replace: a new object, made by the constructor."""
    if not isinstance(x, Record):
        raise Raises(TypeError("replace() should be called on dataclass instances"))
    fields = ask(dataclasses.fields, x.kind)
    given = {f.name: attribute(i, node, x, f.name) for f in fields if f.init}
    return construct(i, node, x.kind, [], {**given, **changes})


def super_in(kind: type, owner: Any) -> Super:
    """super(kind, owner)."""
    return Super(kind, owner)


def super_of(i: Evaluator, node: ast.AST, *args: Any) -> Super:
    """super() or super(Class, self)."""
    if args:
        return call_handler(super_in, *args)
    if not i.scopes:
        raise i.refuse(node, "super() in a function whose source cannot be read", "super(Class, self)")
    scope = i.scope
    parameters = [*scope.source.node.args.posonlyargs, *scope.source.node.args.args]
    if not parameters:
        raise Raises(RuntimeError("super(): no arguments"))
    try:
        kind = scope.lookup("__class__")
    except Raises:
        raise Raises(RuntimeError("super(): __class__ cell not found")) from None
    return Super(kind, ask(operator.getitem, scope.env, parameters[0].arg))


def variables(i: Evaluator, node: ast.AST, x: Any) -> Any:
    """vars(x), or `x.__dict__`."""
    if not isinstance(x, Record) or x.actual is not None:
        raise i.refuse(node, "vars() of an object", "name the attributes")
    if not has_dict(x.kind):
        raise Raises(AttributeError(f"'{x.kind.__name__}' object has no attribute '__dict__'"))
    return Variables(x)


def listed_variables(i: Evaluator, node: ast.AST, x: Any, function: Any = dict) -> Any:
    """A copy of `x.__dict__`, for what only reads it; any other value as it is."""
    if not isinstance(x, Variables):
        return x
    if not any(function is f for f in (dict, list, tuple, set, frozenset, sorted, len, bool, iter)):
        raise i.refuse(node, "the `__dict__` of an object as an argument", "pass a copy: dict(vars(x))")
    return i.own(dict(x.of.fields))


def method_of_variables(i: Evaluator, node: ast.AST, x: Variables, name: str) -> VariablesMethod:
    """A method of `x.__dict__`."""
    if name not in VARIABLES and hasattr(dict, name):
        raise i.refuse(node, f"`.{name}` of the `__dict__` of an object", "name the attributes")
    if name not in VARIABLES:
        raise Raises(AttributeError(f"'dict' object has no attribute '{name}'"))
    return VariablesMethod(x.of, name)


def set_all(i: Evaluator, node: ast.AST, x: Record, *args: Any, **kwargs: Any) -> None:
    """x.__dict__.update(...), which no property and no `__setattr__` of the class sees."""
    for name, value in dicts.make(i, node, *args, **kwargs).items():
        set_variable(i, node, x, name, value)


def set_field(i: Evaluator, node: ast.AST, x: Record, name: Any, value: Any) -> None:
    """Stores to an attribute that the object itself has from then on."""
    if x.fields.get(name, MISSING) is not value:
        i.change(node, x)
        x.fields[name] = value


def set_variable(i: Evaluator, node: ast.AST, x: Record, name: Any, value: Any) -> None:
    """x.__dict__[name] = value."""
    if not isinstance(name, str) or isinstance(in_class(x.kind.__mro__, name), (property, types.MemberDescriptorType)):
        raise i.refuse(node, f"an item {name!r} of `__dict__` that is no attribute", "use a dict")
    set_field(i, node, x, name, value)


def variable(i: Evaluator, x: Record, name: Any) -> Any:
    """x.__dict__[name]."""
    if name not in x.fields:
        raise Raises(KeyError(name))
    return x.fields[name]


def of_copy(name: str) -> Callable[..., Any]:
    """The handler of a method that reads a copy of `__dict__`."""
    return lambda i, node, x, *args: dicts.DICT[name](i, node, i.own(dict(x.fields)), *args)


VARIABLES: dict[str, Callable[..., Any]] = {
    "update": set_all, **{name: of_copy(name) for name in ("items", "keys", "values", "get", "copy")},
}  # fmt: skip
"""By name of the method of `x.__dict__`: its handler."""


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    getattr: get_attribute, hasattr: has_attribute, setattr: store, dataclasses.replace: replaced,
    super: super_of, vars: variables,
}  # fmt: skip
"""By function: its handler for an object."""


def call(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of an object's method, of a function of objects, or with an object as argument; NotImplemented for
    anything else."""
    if isinstance(function, BoundMethod):
        return call_method(i, node, function, args, kwargs)
    if isinstance(function, VariablesMethod):
        handler = VARIABLES[function.name]
        return call_as(getattr(dict, function.name), handler, (i, node, function.of), args, kwargs)
    if function is host_call and args and isinstance(args[0], Record):
        return i.call(node, function, [itself(i, node, args[0]), *args[1:]], kwargs)
    if isinstance(function, Record):
        return i.call(node, special(i, node, function, "__call__", "is not callable"), args, kwargs)
    if isinstance(function, types.MethodType) or getattr(type(function), "__tracebuf_bound__", False):
        owner = i.capture("__self__", Attribute(function, "__self__"), function.__self__, function)
        return i.call(node, function.__func__, [owner, *args], kwargs)
    if function is dict:
        return dicts.make(i, node, *args, **kwargs)
    if function == object.__new__:
        return blank(i, node, *args, **kwargs)
    if any(function is f for f in FUNCTIONS):
        return call_as(function, FUNCTIONS[function], (i, node), args, kwargs)
    return NotImplemented


def call_with_objects(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a function of Python's or NumPy's that asks its arguments for numbers or items, with objects among
    them: by the special method that Python asks first. Where a class has none, Python is asked with an object of an
    empty class. NotImplemented for other functions."""
    inside = [x for y in (*args, *kwargs.values()) for x in (y if type(y) in (list, tuple) else (y,))]
    held = [x for x in (inside if function in LOOK_INTO or is_numpys(function) else args) if isinstance(x, Record)]
    if not held or "key" in kwargs or not takes_numbers(function):
        return NotImplemented
    if function is pow and len(args) == 2 and not kwargs:
        return i.operate("Pow", *args)
    if function is sum and type(args[0]) in (list, tuple) and not kwargs:
        start = args[1] if len(args) > 1 else 0
        return functools.reduce(lambda total, x: i.operate("Add", total, x), args[0], start)
    if function is bool and len(args) == 1 and not kwargs:
        return i.truth(node, args[0])
    first, name = args[0] if args else None, CONVERTED.get(function) if is_hashable(function) else None
    if isinstance(first, Record) and name is not None and not lacks(i, first.kind, name):
        found = i.call(node, special(i, node, first, name, f"has no {name}"), args[1:], kwargs)
        return checked(i, node, first, name, found)
    if any(map(is_inner, held)):
        name = getattr(function, "__name__", "this")
        raise i.refuse(node, f"a call of {name} with lists or dicts that are items of a list", "use copies: list(x)")
    if any(is_growing(x) or is_keyed(x) for x in held):
        name = getattr(function, "__name__", "this")
        reason = f"a call of {name} with lists or dicts whose length is only known at run time in one"
        raise i.refuse(node, reason, "give a key: key=lambda x: x[0], or use arrays")
    for x in held:
        has = next((n for n in OF_OBJECTS if n in getattr(x.actual, "__dict__", ())), None)
        has = has or asked_of(x.kind)
        if has is not None:
            name = function.name if isinstance(function, Method) else getattr(function, "__name__", str(function))
            reason = f"an object with `{has}` as an argument of {name}"
            raise i.refuse(node, reason, "pass the number, array or list that it stands for")
    named = {key: without_methods(x) for key, x in kwargs.items()}
    return i.call(node, function, [without_methods(x) for x in args], named)


def checked(i: Evaluator, node: ast.AST, x: Record, name: str, found: Any) -> Any:
    """What Python makes of what a special method gives: a number of the type that it stands for, else TypeError."""
    if name not in GIVES:
        return found
    kind, wrong = GIVES[name]
    for end in ends(found):
        of = type(stand_in(end)) if isinstance(end, Scalar) else end.kind if isinstance(end, Record) else type(end)
        if not (of in (int, bool) or issubclass(of, np.integer) if name == "__len__" else issubclass(of, kind)):
            raise Raises(TypeError(wrong.format(x.kind.__name__, refusals.name_of(end))))
    if kind is not bool:
        found = i.call(node, kind, [found], {})
    if name == "__len__":
        size = found.expr if isinstance(found, PyInt) else found
        i.r.require_nonneg(size, "ValueError", "__len__() should return >= 0")
    return found


def gives_generator(x: Any) -> bool:
    """Whether a value is an object whose `__iter__` is a generator function."""
    return isinstance(x, Record) and inspect.isgeneratorfunction(getattr(x.kind, "__iter__", None))


def iterator_of(i: Evaluator, node: ast.AST, x: Any) -> Any:
    """What is iterated over: of an object, the iterator that its class's `__iter__` gives."""
    if not isinstance(x, Record) or lacks(i, x.kind, "__iter__"):
        return members_of(i, x)
    found = i.call(node, special(i, node, x, "__iter__", "is not iterable"), [], {})
    if not isinstance(found, (OneShotIterator, Record, Generator)):
        raise Raises(TypeError(f"iter() returned non-iterator of type '{refusals.name_of(found)}'"))
    return found


def takes_numbers(function: Any) -> bool:
    """Whether a function is one of Python's or NumPy's that asks its arguments for numbers or items."""
    if isinstance(function, type) or not is_numpys(function):
        return is_hashable(function) and (function in ASKING or function.__module__ in ("math", "cmath"))
    return True


def is_numpys(function: Any) -> bool:
    """Whether a function is NumPy's, or a method of an array."""
    module = getattr(function, "__module__", None) or type(getattr(function, "__self__", function)).__module__
    return isinstance(function, Method) or (not isinstance(function, type) and module.partition(".")[0] == "numpy")


def asked_of(kind: type) -> str | None:
    """A special method of a class that numbers, containers or arrays have; None if it has none."""
    names = (name for c in kind.__mro__[:-1] for name in vars(c) if name in ASKED and vars(c)[name] is not None)
    return next(names, None)


def itself(i: Evaluator, node: ast.AST, x: Record) -> Any:
    """The caller's object itself, guarded by its identity."""
    if x.actual is None or x.path.root is not None:
        raise i.refuse(node, "a host call of an object that is an argument", "use a function, or a global object")
    i.captures.setdefault((x.path.label, id(x.actual)), (x.path.label, x.path.fetch, x.actual))
    return x.actual


def is_hashable(x: Any) -> bool:
    return isinstance(x, (types.BuiltinFunctionType, type)) and x is not np.ndarray


OF_OBJECTS = ("__array_interface__", "__array_struct__", "__array__")
"""What NumPy asks objects themselves for, not only their classes."""
ASKED = frozenset(f"__{name}__" for name in (
    "iter", "next", "len", "getitem", "contains", "reversed", "index", "int", "float", "complex", "bool", "trunc",
    "floor", "ceil", "round", "abs", "neg", "pos", "invert", "lt", "le", "gt", "ge", "array", "array_ufunc",
    "array_function", "array_interface", "array_struct", "buffer", "add", "radd", "sub", "rsub", "mul", "rmul",
    "truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "rmod", "divmod", "rdivmod", "pow", "rpow", "matmul",
    "rmatmul",
))  # fmt: skip
"""The special methods by which Python and NumPy take an object for a number, a container or an array."""
CONVERTED: dict[Any, str] = {
    len: "__len__", abs: "__abs__", float: "__float__", int: "__int__", bool: "__bool__", round: "__round__",
    complex: "__complex__", divmod: "__divmod__", reversed: "__reversed__", iter: "__iter__",
    math.floor: "__floor__", math.ceil: "__ceil__", math.trunc: "__trunc__",
}  # fmt: skip
"""By function that calls a special method of its first argument and gives back what that gives: the method."""
GIVES: dict[str, tuple[type, str]] = {
    "__bool__": (bool, "__bool__ should return bool, returned {1}"),
    "__int__": (int, "__int__ returned non-int (type {1})"),
    "__float__": (float, "{0}.__float__ returned non-float (type {1})"),
    "__complex__": (complex, "__complex__ returned non-complex (type {1})"),
    "__len__": (int, "'{1}' object cannot be interpreted as an integer"),
    "__index__": (int, "__index__ returned non-int (type {1})"),
}
"""By special method that has to give a number: its class, and the TypeError (of which class, what it gave)."""
LOOK_INTO = (sum, min, max, sorted)
"""Builtins that ask the items of their argument for numbers."""
ASKING = frozenset((*CONVERTED, *LOOK_INTO, pow, range, slice, any, all))
"""Builtins that ask their arguments for numbers or items."""


def call_method(i: Evaluator, node: ast.AST, method: BoundMethod, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a method, inlined."""
    function, owner = method.function, method.owner
    if function is object.__init__:
        return None
    if function in (object.__setattr__,) and isinstance(owner, Record):
        return call_handler(store, i, node, owner, *args)
    return i.call(node, function, [owner, *args], kwargs)


def has_attributes_here(x: Any) -> bool:
    """Whether the attributes of a value are found here."""
    return isinstance(x, (Record, Super)) or is_named_tuple(x)


# -- objects whose class is not the user's plain Python: thread-locals, dates, results of Python's own C code
# What they hold is read while tracing, as the call would read it, and looked at again at each call: arrays and
# containers are fetched, numbers and texts compared by value, other objects by identity. Where reading runs code of the
# user's, or gives another object each time, it is refused.
READ_BY_C = (types.MemberDescriptorType, types.GetSetDescriptorType)
"""Descriptors that run no Python."""


def foreign_attribute(i: Evaluator, node: ast.AST, base: Any, name: str, value: Any) -> Any:
    """`base.name` of an object that is guarded by its identity; `value` is what it is now."""
    if isinstance(base, inspect.Signature) and name == "parameters":
        return dict(value)  # which nothing changes
    if isinstance(base, inspect.Signature) and name == "bind":
        return Partial(inspect.Signature.bind, (base,), {})
    if type(base) is inspect.Parameter and stays_in_trace(value):
        return value
    if isinstance(base, (re.Pattern, re.Match)) or table.is_info(type(base)):  # which nothing changes
        return value
    if is_callback(base) and name == "ctypes":
        return CFunction(value)
    if is_vectorized(base) and name == "outer":
        return value
    if not runs_python(base, name) and is_steady(base, name, value):
        return i.capture(name, Attribute(base, name), value, base)
    reason = f"`.{name}` of an object ({type(base).__name__}) from outside may change between calls"
    raise i.refuse(node, reason, refusals.of_object(type(base)))


def stays_in_trace(x: Any) -> bool:
    """Whether what a parameter has, its default say, is a value that nothing changes."""
    plain = (str, int, float, complex, type(None), types.FunctionType, type, inspect._ParameterKind)
    return isinstance(x, plain) or (type(x) is tuple and all(map(stays_in_trace, x)))


def has_fields(x: Any) -> bool:
    """Whether a tuple is one that C code of Python's gives, with names for its items, as `sys.float_info` is."""
    return type(x).__module__ in ("sys", "time", "os", "posix", "resource") and hasattr(type(x), "n_sequence_fields")


def runs_python(base: Any, name: str) -> bool:
    """Whether reading an attribute may run code in Python: a property's, a descriptor's, or the class's own access."""
    found = {n: vars(c)[n] for c in reversed(type(base).__mro__) for n in ("__getattr__", name) if n in vars(c)}
    access = type(base).__getattribute__
    if "__getattr__" in found or not isinstance(access, types.WrapperDescriptorType):
        return True
    at = found.get(name)
    return at is not None and hasattr(type(at), "__get__") and not isinstance(at, READ_BY_C)


def is_steady(base: Any, name: str, value: Any) -> bool:
    """Whether an attribute gives one object, or one number or text, as long as nothing is stored to it."""
    again = ask(getattr, base, name)
    return again is value or same_capture(again, value)


# -- classes of Enum
def is_enum(x: Any) -> bool:
    """Whether a value is a class of Enum whose members Python finds by itself."""
    return isinstance(x, EnumMeta) and getattr(x._missing_, "__func__", x._missing_).__module__ == "enum"  # type: ignore[attr-defined]


def call_enum(i: Evaluator, node: ast.AST, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """`Color(1)`, of a class of Enum with members; NotImplemented for any other call."""
    if not isinstance(function, EnumMeta) or not len(function) or not is_enum(function):
        return NotImplemented
    known = [i.r.static_int(x.expr, f"the value of a {function.__name__}") if isinstance(x, PyInt) else x for x in args]
    if kwargs or any(map(is_tracers, i.flat(known))):
        raise i.refuse(node, f"{function.__name__}(...) of a value that only the run time knows", "use the members")
    return member(i, ask(function, *known))


def member(i: Evaluator, x: Any) -> Any:
    """A member of an Enum, which its class holds as long as it lives."""
    i.constants[x] = None
    return x


def members_of(i: Evaluator, x: Any) -> Any:
    """The members of a class of Enum, as a tuple; any other value as it is."""
    if not isinstance(x, EnumMeta):
        return x
    members: list[Any] = list(x)
    return tuple(member(i, x) for x in members)
