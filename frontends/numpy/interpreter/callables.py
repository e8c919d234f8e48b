"""Callees that the interpreter itself answers, because they do what an expression does: `operator.*`, getattr, hasattr,
callable, and iterators.

Int functions of `math` make traced arguments part of the key. Functions of text are in `texts`.
"""

from __future__ import annotations

import ast
import builtins
import copy
import functools
import inspect
import math
import operator
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib._function_base_impl import _parse_gufunc_signature  # type: ignore[attr-defined]

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.arrays.reshape import whole_number
from tracebuf.frontends.numpy.call.lookups import NOTHING, Attribute, Called, Loaded
from tracebuf.frontends.numpy.functions import table
from tracebuf.frontends.numpy.functions.formulas import prelude
from tracebuf.frontends.numpy.functions.formulas.mapping import vectorized
from tracebuf.frontends.numpy.functions.formulas.nditer import NdIter
from tracebuf.frontends.numpy.interpreter import folds, iterators, text_questions, texts
from tracebuf.frontends.numpy.interpreter.dicts import ContainerMethod
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists.text_keys import settled
from tracebuf.frontends.numpy.interpreter.records import BoundMethod, VariablesMethod
from tracebuf.frontends.numpy.numbers.scalars import BINARY, COMPARE, SPECIAL, UNARY, as_int_value, truth, unary
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.by_identity import ByIdentity
from tracebuf.frontends.numpy.record.callees import Method, NestedFunction, Partial, Untold, UntoldMethod
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.raises import Raises, ask, bind, call_as, call_handler, check_number
from tracebuf.frontends.numpy.record.values import NUMBERS, ArrayRef, Env, PyBool, PyInt, Scalar, is_traced, stand_in
from tracebuf.frontends.numpy.source.liveness import COMPREHENSIONS
from tracebuf.frontends.numpy.source.source import expression_of
from tracebuf.frozen import frozen
from tracebuf.location import Location

TREE = {special: name for name, special in SPECIAL.items()} | {"inv": "Invert"}
"""By name of a function of the operator module, without underscores: the operator of the syntax tree."""
GETTERS: tuple[Any, ...] = (operator.itemgetter, operator.attrgetter, operator.methodcaller)
"""Classes of the operator module whose objects are called with an object to look into."""
CALLEES = (NestedFunction, Method, Partial, UntoldMethod, BoundMethod, VariablesMethod, ContainerMethod)
"""The tracer's classes of what may be called."""
INTS = (math.comb, math.perm, math.factorial, math.lcm, math.gcd, math.isqrt)
"""Functions of ints whose traced arguments become part of the key, unless they have a traced form."""

OF_DATA: dict[Any, Callable[..., Any]] = {
    math.comb: prelude.comb_of,
    math.perm: prelude.perm_of,
    math.factorial: prelude.factorial_of,
}
"""By one of these: what is traced where only the run time knows an argument."""


def call(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The result of a call; NotImplemented for a callee that is not answered here."""
    found = iterators.make(i, node, function, args, kwargs)
    if found is not NotImplemented:
        return found
    found = folds.call(i, node, function, args, kwargs)
    if found is not NotImplemented:
        return found
    if function is np.array_split and not kwargs and args[2:] in ([], [0]) and is_open(i, *args[1:2]):
        i.call_function(prelude.stretches, [made := i.own([]), i.call(node, np.asarray, args[:1], {}), args[1]], {})
        return made
    if isinstance(function, np.vectorize):
        made = function.pyfunc, function.otypes, None, function.excluded, function.cache, function.signature
        return i.call(node, elementwise_function(*made), args, kwargs)
    if function is inspect.Signature.bind:
        return bound_arguments(i, args[0], args[1:], kwargs)
    if function is np.nditer:
        return i.call(node, NdIter, args, kwargs)
    if function is np.vectorize:
        return call_handler(elementwise_function, *args, **kwargs)
    if function in GETTERS and not any(map(is_traced, i.flat([*args, *kwargs.values()]))):
        return ask(function, *args, **kwargs)
    if isinstance(function, functools._lru_cache_wrapper):
        return from_cache(i, node, function, args, kwargs)
    if isinstance(function, GETTERS):
        return call_handler(getter, i, node, function, *args)
    found = text_questions.call(i, node, function, args, kwargs)
    if found is not NotImplemented:
        return found
    found = texts.made(i, node, function, args, kwargs)
    if found is not NotImplemented:
        return found
    args = [*args[:1], *(settled(i.r, x) for x in args[1:])] if function is format else args
    texts.check_handed(i.r, function, args)
    if isinstance(function, types.FunctionType) and function in HANDLERS:
        return call_as(function, HANDLERS[function], (i, node), args, kwargs)
    if not isinstance(function, types.BuiltinFunctionType):
        return texts.call(i, node, function, args, kwargs)
    if function.__module__ == "_operator":
        return operation(i, node, function, args)
    if function in HANDLERS:
        return call_as(function, HANDLERS[function], (i, node), args, kwargs)
    if function in OF_DATA and not kwargs and any(isinstance(x, PyInt) and not i.r.entry_only(x.expr) for x in args):
        return i.call_function(OF_DATA[function], args, {})
    if function in INTS and table.handler_of(function) is None:
        what = f"an argument of math.{function.__name__}"
        known = [i.r.static_int(x.expr, what) if isinstance(x, PyInt) else x for x in args]
        return NotImplemented if any(map(is_traced, known)) else ask(function, *known)
    return texts.call(i, node, function, args, kwargs)


def elementwise_function(
    pyfunc: Any, otypes: Any = None, doc: Any = None, excluded: Any = None, cache: bool = False, signature: Any = None
) -> Partial:
    """np.vectorize(pyfunc): a function that is applied to each element."""
    cores = None if signature is None else ask(_parse_gufunc_signature, signature)
    if cores is not None and otypes is not None:
        raise UnsupportedError("np.vectorize with otypes= and signature=", instead="leave out otypes=")
    known = () if excluded is None else tuple(excluded)
    if is_traced(pyfunc) or any(map(is_traced, known)):
        raise UnsupportedError("np.vectorize of no function", instead=refusals.call("numpy.vectorize"))
    return Partial(vectorized, (pyfunc, otypes, bool(cache), known, cores), {})


def operation(i: Evaluator, node: ast.AST, function: Any, args: Sequence[Any]) -> Any:
    """A call of a function of the operator module."""
    check_number(function, len(args), ())
    name = function.__name__.strip("_")
    tree = TREE.get(name, "")
    if tree in BINARY:
        return i.operate(tree, *args)
    if tree in COMPARE:
        return i.compared(node, tree, *args)
    if tree in UNARY:
        return unary(i.r, tree, args[0])
    if name.startswith("i") and TREE.get(name[1:]) in BINARY:
        return i.augmented(TREE[name[1:]], *args)
    if name in OPERATIONS:
        return OPERATIONS[name](i, node, *args)
    return ask(function, *args) if not any(map(is_traced, i.flat(args))) else NotImplemented


def negated(i: Evaluator, node: ast.AST, x: Any) -> Any:
    """operator.not_(x)."""
    found = truth(i.r, x)
    return i.negate(found) if isinstance(found, PyBool) else not found


OPERATIONS: dict[str, Callable[..., Any]] = {
    "contains": lambda i, node, items, x: i.contains(node, items, x),
    "getitem": lambda i, node, x, index: i.subscript(node, x, index), "not": negated,
    "truth": lambda i, node, x: truth(i.r, x), "abs": lambda i, node, x: i.call(node, abs, [x], {}),
    "index": lambda i, node, x: as_int_value(whole_number(i.r, x)) if is_traced(x) else ask(operator.index, x),
}  # fmt: skip
"""By name of a function of the operator module, without underscores: what it does."""


def getter(i: Evaluator, node: ast.AST, function: Any, x: Any) -> Any:
    """A call of what operator.itemgetter, attrgetter or methodcaller made."""
    names = function.__reduce__()[1]
    if isinstance(function, operator.itemgetter):
        found = tuple(i.subscript(node, x, k) for k in names)
    elif isinstance(function, operator.attrgetter):
        found = tuple(dotted(i, node, x, name) for name in names)
    else:
        maker, rest = function.__reduce__()
        given = {} if maker is operator.methodcaller else maker.keywords
        name, *args = rest if maker is operator.methodcaller else (*maker.args, *rest)
        return i.call(node, i.attribute(node, x, name), list(args), dict(given))
    return found[0] if len(found) == 1 else found


def constant_attribute(i: Evaluator, node: ast.AST, x: Any, name: str) -> Any:
    """An attribute of an object that is part of the key, or of a member of an Enum: a constant, and guarded."""
    value = ask(getattr, x, name)
    if isinstance(value, types.MethodType) and value.__self__ is x:
        return Partial(value.__func__, (x,), {})
    if isinstance(value, (np.ndarray, list, dict, set, bytearray)):
        reason = f"`.{name}` of a static argument is a mutable {type(value).__name__}"
        raise i.refuse(node, reason, "pass it as an argument of its own")
    if getattr(x, name) is value:  # else a property, which gives a new object each time
        i.captures.setdefault((name, id(x)), (name, Attribute(x, name), value))
    i.constants[value] = None
    return value


def dotted(i: Evaluator, node: ast.AST, x: Any, name: str) -> Any:
    """The attribute of a dotted name."""
    for part in name.split("."):
        x = i.attribute(node, x, part)
    return x


def get_attribute(i: Evaluator, node: ast.AST, x: Any, name: Any, *default: Any) -> Any:
    """getattr(x, name) or getattr(x, name, default)."""
    if not isinstance(name, str):
        raise Raises(TypeError(f"attribute name must be string, not '{refusals.name_of(name)}'"))
    if len(default) == 1 and not has_attribute(i, node, x, name):
        return default[0]
    return i.attribute(node, x, name)


def has_attribute(i: Evaluator, node: ast.AST, x: Any, name: str) -> bool:
    """hasattr(x, name)."""
    if is_traced(x):
        return hasattr(np.ndarray if isinstance(x, ArrayRef) else type(stand_in(x)), name)
    try:
        i.attribute(node, x, name)
    except Raises as said:
        if not isinstance(said.error, AttributeError):
            raise
        return False
    return True


@frozen(eq=False)
class LoadedModules:
    """sys.modules, of which is asked whether there is a module, and which."""


MODULES = LoadedModules()


def module_named(i: Evaluator, node: ast.AST, name: Any) -> Any:
    """The module of that name, NOTHING where none is imported; guarded."""
    if not isinstance(name, str):
        raise i.refuse(node, "the name of a module that is only known at run time", "write the name")
    fetch = Loaded(name)
    return i.capture(f"sys.modules[{name!r}]", fetch, fetch(), sys)


def get_module(of: LoadedModules, key: Any, default: Any = None) -> Any:
    """sys.modules.get(name), as it is traced."""


def module_or(i: Evaluator, node: ast.AST, of: LoadedModules, key: Any, default: Any = None) -> Any:
    """sys.modules.get(name, default)."""
    found = module_named(i, node, key)
    return default if found is NOTHING else found


def module_or_raise(i: Evaluator, node: ast.AST, key: Any) -> Any:
    """sys.modules[name]."""
    found = module_named(i, node, key)
    if found is NOTHING:
        raise Raises(KeyError(key))
    return found


NOWHERE = object()


def get_attribute_unasked(i: Evaluator, node: ast.AST, obj: Any, attr: Any, default: Any = NOWHERE) -> Any:
    """inspect.getattr_static(x, name, default) of an array, number, list, tuple or dict: what its class holds."""
    if is_traced(obj):
        like: Any = np.empty(0) if isinstance(obj, ArrayRef) else stand_in(obj)
    elif type(obj) in (list, tuple, dict, str, type(None)):
        like = type(obj)()
    else:
        raise i.refuse(node, f"inspect.getattr_static of a {refusals.name_of(obj)}", "getattr(x, name)")
    found = ask(inspect.getattr_static, like, attr, NOWHERE)
    if found is NOWHERE and default is not NOWHERE:
        return default
    return ask(inspect.getattr_static, like, attr) if found is NOWHERE else found


def is_callable(i: Evaluator, node: ast.AST, x: Any) -> bool:
    """callable(x): of an object, whether its class has `__call__`."""
    if isinstance(x, Record):
        return any("__call__" in vars(kind) for kind in x.kind.__mro__)
    if isinstance(x, Untold):
        raise i.refuse(node, f"callable of a {refusals.name_of(x)}", "ask before the call")
    return not isinstance(x, (ArrayRef, Scalar)) and (isinstance(x, CALLEES) or callable(x))


def copied(i: Evaluator, node: ast.AST, x: Any) -> Any:
    """copy.copy(x) of an array, a number, a list, a tuple or a dict."""
    if type(x) is list:
        return i.own(list(x))
    if type(x) is dict:
        return i.own(dict(x))
    return deeply_copied(i, node, x) if not isinstance(x, tuple) else x


def deeply_copied(i: Evaluator, node: ast.AST, x: Any, memo: Any = None) -> Any:
    """copy.deepcopy(x) of arrays, numbers, and lists, tuples and dicts of such: one object stays one."""
    if memo is not None and not isinstance(memo, ByIdentity):
        raise i.refuse(node, "copy.deepcopy with a memo", "leave it out")
    made: ByIdentity[Any, Any] = ByIdentity() if memo is None else memo
    if isinstance(x, (Scalar, *NUMBERS, str, types.NoneType, np.dtype, type)):
        return x
    if x in made:
        if made[x] is None:
            raise i.refuse(node, "copy.deepcopy of a list or dict that is in itself", "copy its arrays: a.copy()")
        return made[x]
    if isinstance(x, ArrayRef):
        made[x] = i.call(node, Method(x, "copy"), ["K"], {})
    elif type(x) is list:
        made[x] = None
        made[x] = i.own(inner_copies(i, node, x, made))
    elif type(x) is dict:
        made[x] = None
        made[x] = i.own({key: deeply_copied(i, node, item, made) for key, item in x.items()})
    elif type(x) is tuple:
        items = [deeply_copied(i, node, item, made) for item in x]
        made[x] = x if all(a is b for a, b in zip(items, x)) else tuple(items)
    else:
        raise i.refuse(node, f"copy.deepcopy of a {refusals.name_of(x)}", "copy its arrays: a.copy()")
    return made[x]


def inner_copies(i: Evaluator, node: ast.AST, x: list[Any], made: Any) -> list[Any]:
    """The copies of a list's items, made at a place of their own: what is found of lists is kept by where they are
    made."""
    outer = i.r.loc
    with i.r.at(Location(outer.file, outer.line, outer.column + 1, outer.end_column, outer.function)):
        return [deeply_copied(i, node, item, made) for item in x]


def cache_of(i: Evaluator, node: ast.AST, maxsize: Any = 128, typed: Any = False) -> Any:
    """functools.lru_cache as a decorator of an inner function: its results are kept in a dict. Without its argument
    list it is given the function."""
    if isinstance(maxsize, NestedFunction):
        return with_cache(i, node, 128, maxsize)
    if typed or not (maxsize is None or type(maxsize) is int):
        raise i.refuse(node, "functools.lru_cache with typed=, or of no inner function", "functools.lru_cache(None)")
    return Partial(cache_of_function, (maxsize,), {})


def cache_of_function(most: Any, f: Any) -> None:
    """What functools.lru_cache(most) gives, called with a function: `with_cache`."""


def with_cache(i: Evaluator, node: ast.AST, most: int | None, f: Any) -> Partial:
    """An inner function that keeps up to `most` results."""
    if not isinstance(f, NestedFunction):
        raise i.refuse(node, "a cache of a function from outside", "decorate that function")
    return Partial(prelude.cached, (i.own({}), most, f), {})


def called_once(i: Evaluator, node: ast.AST, memo: Any, most: Any, f: Any, *key: Any, **named: Any) -> Any:
    """A call of an inner function with a cache."""
    if named:
        raise i.refuse(node, "a function of functools.lru_cache called with keywords", "pass them by their places")
    if (odd := next((x for x in key if isinstance(x, (ArrayRef, list, dict))), None)) is not None:
        raise Raises(TypeError(f"unhashable type: '{refusals.name_of(odd)}'"))
    return i.call_function(prelude.cached, [memo, most, f, *key], {})


def evaluated(i: Evaluator, node: ast.AST, text: str, env: Env) -> Any:
    """eval(text) of a known text: what the expression is where the call stands. Its names are local ones, builtins or
    modules; others may be changed where nothing watches the text."""
    instead = "write the expression itself"
    try:
        made = expression_of(text, node)
    except (SyntaxError, ValueError):
        raise i.refuse(node, f"eval of {text!r}, which is no expression, cannot be traced", instead) from None
    for n in ast.walk(made):
        if isinstance(n, (*COMPREHENSIONS, ast.Lambda, ast.NamedExpr)):
            raise i.refuse(node, f"eval of {text!r} cannot be traced", instead)
        if isinstance(n, ast.Name) and n.id not in i.scope.source.locals:
            found = i.scope.lookup(n.id)
            if not isinstance(found, types.ModuleType) and found is not getattr(builtins, n.id, NOTHING):
                raise i.refuse(node, f"eval of {text!r}: `{n.id}` is neither local nor a module", instead)
    return i.any_expr(made, env)


def bound_arguments(i: Evaluator, of: inspect.Signature, args: Sequence[Any], kwargs: dict[str, Any]) -> Record:
    """signature.bind(...): an object whose class is traced."""
    arguments = bind(of, args, kwargs).arguments
    made = Record(inspect.BoundArguments)
    made.fields["arguments"] = i.own({name: i.own(x) if type(x) is dict else x for name, x in arguments.items()})
    made.fields["_signature"] = of
    i.r.heap.own(made, i.r)
    return made


def from_cache(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """A call of a function of functools.lru_cache from outside. Of known arguments it is made at each call, as values
    from outside are fetched, for what it gives is kept there; of others it is traced, if it makes numbers only."""

    def known(x: Any) -> Any:
        return i.r.static_int(x.expr, "this") if isinstance(x, PyInt) and i.r.entry_only(x.expr) else x

    args, kwargs = [known(x) for x in args], {name: known(x) for name, x in kwargs.items()}
    if all(map(stays, (*args, *kwargs.values()))):
        met = i.cached.setdefault(function, set())
        met.add(repr((args, kwargs)))
        if (most := ask(function.cache_parameters)["maxsize"]) is not None and len(met) > most:
            reason = f"a cache of functools.lru_cache for {most} results is asked for {len(met)}, and drops some"
            raise i.refuse(node, reason, "give it a larger maxsize")
        fetch = Called(function, args, kwargs)
        name = f"{function.__name__}({', '.join([*map(repr, args), *(f'{k}={x!r}' for k, x in kwargs.items())])})"
        return i.capture(name, fetch, ask(fetch), function)
    found = i.call(node, function.__wrapped__, args, kwargs)
    if not all(isinstance(x, (Scalar, *NUMBERS)) for x in (found if type(found) is tuple else (found,))):
        reason = "a function of functools.lru_cache, of what only the run time knows, gives more than numbers"
        raise i.refuse(node, reason, "leave out the cache")
    return found


def power_of(i: Evaluator, node: ast.AST, base: Any, exp: Any, mod: Any = None) -> Any:
    """pow(a, b); with a modulus only of known ints."""
    if not any(map(is_traced, (base, exp, mod))):
        return ask(pow, base, exp, mod)
    if mod is not None:
        raise i.refuse(node, "pow() with a modulus", "a loop of x = x * x % m")
    return i.operate("Pow", base, exp)


def is_open(i: Evaluator, x: Any = None) -> bool:
    """Whether a value is a vector of ints of which only the run time knows how many there are."""
    ints = isinstance(x, ArrayRef) and x.ndim == 1 and x.element.is_integer
    return ints and not isinstance(x.shape[0], int) and not i.r.entry_only(x.shape[0])


def stays(x: Any) -> bool:
    """Whether a value is a constant."""
    if type(x) is tuple:
        return all(map(stays, x))
    return x is None or (isinstance(x, (str, np.dtype, type, *NUMBERS)) and not is_traced(x))


HANDLERS: dict[Any, Callable[..., Any]] = {
    get_module: module_or, getattr: get_attribute, inspect.getattr_static: get_attribute_unasked,
    hasattr: has_attribute, callable: is_callable, copy.copy: copied, pow: power_of,
    copy.deepcopy: lambda i, node, x, memo=None: deeply_copied(i, node, x, memo),
    functools.lru_cache: cache_of, cache_of_function: with_cache, prelude.cached: called_once,
    functools.cache: lambda i, node, user_function, /: with_cache(i, node, None, user_function),
    functools.update_wrapper: lambda i, node, wrapper, wrapped, assigned=(), updated=(): wrapper,
}  # fmt: skip
"""By callee: its handler, whose first arguments are the interpreter and the node."""
