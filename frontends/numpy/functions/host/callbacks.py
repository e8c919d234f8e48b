"""Functions of the user's that a library's function calls, where that is called as it is: `minimize(lambda p: ..., x)`.

Such a function is made anew when the program runs, of its source, with the values that its free names have then. It
may read what it is given and compute: what prints, keeps or changes anything from outside is refused.
"""

from __future__ import annotations

import ast
import builtins
import copy
import dis
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.record.callees import NestedFunction, Recipe, Untold
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.values import NUMBERS, ArrayRef, Scalar
from tracebuf.frontends.numpy.source.source import read_source
from tracebuf.frozen import frozen
from tracebuf.running.untraced import CALLBACK, FunctionText

Lookup = Callable[[str], Any]
LookupOf = Callable[[types.FunctionType], Lookup]
BUILTINS = frozenset((
    "abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "float", "int", "isinstance", "len", "list",
    "map", "max", "min", "pow", "range", "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple", "zip",
    "ValueError", "ZeroDivisionError", "OverflowError", "FloatingPointError", "ArithmeticError", "Exception",
))  # fmt: skip
"""Of Python's own functions those that compute, and do nothing else."""
WRITES = ("save", "tofile", "dump", "load", "fromfile", "memmap", "seterr", "setbufsize", "setflags", "set_", "seed",
          "open")  # fmt: skip
"""How the names of functions and methods begin that do more than compute."""
LIBRARIES = ("numpy", "scipy", "math", "cmath", "builtins")
INSTEAD = "let it compute a result of its arguments, and nothing else"


@frozen(eq=False)
class Callback:
    """A function that is made when the program runs: its text, and what its free names hold."""

    text: FunctionText
    values: tuple[Any, ...]


def with_callbacks(r: Recorder, x: Any, lookup_of: LookupOf) -> Any:
    """An argument with a `Callback` for each function of the user's."""
    if isinstance(x, (tuple, list)) and type(x) in (tuple, list):
        return type(x)([with_callbacks(r, item, lookup_of) for item in x])
    if type(x) is dict:
        return {key: with_callbacks(r, item, lookup_of) for key, item in x.items()}
    return callback(r, x, lookup_of, ()) if is_users(x) else x


def is_users(x: Any) -> bool:
    """Whether a value is a function whose source is the user's."""
    if isinstance(x, NestedFunction):
        return True
    return isinstance(x, types.FunctionType) and library_of(x) not in LIBRARIES


def library_of(x: Any) -> str:
    """The package that a function, class or module is of; that of a function is its code's: it may say that it is
    another's (functools.wraps)."""
    module: Any
    if isinstance(x, types.ModuleType):
        module = x.__name__
    else:
        module = x.__globals__.get("__name__") if isinstance(x, types.FunctionType) else getattr(x, "__module__", None)
    return str(module).partition(".")[0]


def callback(r: Recorder, function: Any, lookup_of: LookupOf, within: Sequence[Any]) -> Callback:
    """The function, to be made when the program runs; refuses one that does more than compute."""
    r.calls_users = True
    if any(function is f for f in within):
        raise r.refuse("a function that calls itself is passed to a library's function", "write a loop")
    if isinstance(function, NestedFunction):
        node, file, lookup, defaults = function.source.node, function.source.file, function.lookup, function.defaults
    else:
        code = function.__code__
        source = read_source(code, code.co_filename, code.co_firstlineno)
        if source is None:
            raise r.refuse(f"{function.__name__}, whose source cannot be read, as an argument", INSTEAD)
        node, file, lookup = source.node, source.file, lookup_of(function)
        plain = code.co_varnames[: code.co_argcount]
        given = function.__defaults__ or ()
        defaults = {**dict(zip(plain[len(plain) - len(given) :], given)), **(function.__kwdefaults__ or {})}
    tree = alone(node, defaults)
    check_computes(r, tree)
    names = [name for name in free_names(tree, defaults) if not is_builtin(name, lookup)]
    called = function.name if isinstance(function, NestedFunction) else function.__qualname__
    text = FunctionText(ast.unparse(tree), called, file, node.lineno, (*map(default, defaults), *names))
    found = [*defaults.values(), *(lookup(name) for name in names)]
    values = [held(r, x, name, lookup_of, (*within, function)) for x, name in zip(found, text.names, strict=True)]
    return Callback(text, tuple(values))


def default(name: str) -> str:
    """The name that holds a parameter's default."""
    return f"default_of_{name}"


def alone(node: ast.FunctionDef | ast.Lambda, defaults: dict[str, Any]) -> ast.Module:
    """A module that has the function alone, as `CALLBACK`, whose defaults are names."""
    node = copy.deepcopy(node)
    a = node.args
    plain = [*a.posonlyargs, *a.args]
    for p in (*plain, *a.kwonlyargs, *([a.vararg] if a.vararg else []), *([a.kwarg] if a.kwarg else [])):
        p.annotation = None
    a.defaults = [ast.Name(default(p.arg), ast.Load()) for p in plain if p.arg in defaults]
    a.kw_defaults = [ast.Name(default(p.arg), ast.Load()) if p.arg in defaults else None for p in a.kwonlyargs]
    if isinstance(node, ast.Lambda):
        made: ast.stmt = ast.Assign([ast.Name(CALLBACK, ast.Store())], node)
    else:
        node.name, node.decorator_list, node.returns = CALLBACK, [], None
        made = node
    return ast.fix_missing_locations(ast.Module([made], []))


def free_names(tree: ast.Module, defaults: dict[str, Any]) -> list[str]:
    """The names that the function reads and does not bind."""
    found: dict[str, None] = {}
    pending: list[types.CodeType] = [compile(tree, "<callback>", "exec")]
    while pending:
        code = pending.pop()
        pending += [x for x in code.co_consts if isinstance(x, types.CodeType)]
        reads = [i for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
        found.update(dict.fromkeys(i.argval for i in reads))
    ours = {default(name) for name in defaults}
    return [name for name in found if name not in ours]


def is_builtin(name: str, lookup: Lookup) -> bool:
    """Whether a name is that of a function of Python's own which computes, here: it may be bound anew."""
    return name in BUILTINS and lookup(name) is getattr(builtins, name)


def check_computes(r: Recorder, tree: ast.Module) -> None:
    """Refuses a function that may change anything but its own names and what it has made."""
    function = tree.body[0].value if isinstance(tree.body[0], ast.Assign) else tree.body[0]
    more = (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.ClassDef, ast.With, ast.Yield, ast.YieldFrom,
            ast.Await, ast.AsyncFunctionDef, ast.Delete)  # fmt: skip
    own = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    own |= {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}
    for n in ast.walk(function):
        refused = isinstance(n, more)
        if isinstance(n, ast.Attribute):
            refused = isinstance(n.ctx, ast.Store) or n.attr.startswith(WRITES)
        if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store):
            refused = not (isinstance(root := root_of(n), ast.Name) and root.id in own)
        if refused:
            raise r.refuse("a function that does more than compute is passed to a library's function", INSTEAD)


def root_of(n: ast.AST) -> ast.AST:
    """What is subscripted in the end."""
    while isinstance(n, (ast.Subscript, ast.Attribute)):
        n = n.value
    return n


def held(r: Recorder, x: Any, name: str, lookup_of: LookupOf, within: Sequence[Any]) -> Any:
    """What a free name holds, as the function gets it when the program runs; refuses what may change meanwhile."""
    if is_users(x):
        return callback(r, x, lookup_of, within)
    if type(x) is tuple:
        return tuple([held(r, item, name, lookup_of, within) for item in x])
    if x is None or isinstance(x, (ArrayRef, Scalar, str, *NUMBERS, np.dtype)) or computes(x):
        return x
    raise r.refuse(f"`{name}`, a {name_of(x)}, in a function that is passed to a library's function", INSTEAD)


def computes(x: Any) -> bool:
    """Whether a value is a function, class or module of NumPy's, SciPy's or Python's that computes, and does nothing
    else."""
    if isinstance(x, np.ufunc):
        return True
    kinds = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, type, type(np.sum))
    home = library_of(x) if isinstance(x, kinds) else ""
    return home in LIBRARIES and (x.__name__ in BUILTINS if home == "builtins" else not x.__name__.startswith(WRITES))


def values_in(x: Any, seen: set[Recipe] | None = None) -> Iterator[Any]:
    """The values within an argument: of lists, tuples, dicts and callbacks, and what objects were made of."""
    seen = set() if seen is None else seen
    if isinstance(x, Callback):
        x = x.values
    if isinstance(x, Untold) and x.recipe is not None:
        if x.recipe in seen:  # it was given to a method of its own, say
            return
        seen.add(x.recipe)
        x = [*x.recipe.args, *(arg for _, args, _ in x.recipe.then for arg in args)]
    if isinstance(x, (tuple, list, dict)) and type(x) in (tuple, list, dict):
        for item in x.values() if isinstance(x, dict) else x:
            yield from values_in(item, seen)
    else:
        yield x
