"""`python -m tracebuf export MODULE:FUNCTION ARGUMENT ... -o FILE`: a program as a file of Python, to be kept.

The file has no import of tracebuf: the function of the user's name and parameters, which asserts what the program was
made for, and calls the loops. What only this process knows (a function of the user's, a captured array, an object) is
refused.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from tracebuf.api import bufferize
from tracebuf.backend.numba.hosted import definition
from tracebuf.backend.numba.module import Module, module_of
from tracebuf.backend.numba.style.folding import Folder
from tracebuf.backend.numba.style.format import fitted
from tracebuf.backend.numba.style.render import shown
from tracebuf.commands.given import (
    captured,
    constant,
    expressions,
    has_test,
    holders,
    is_captured,
    tree_tests,
)
from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.frontends.numpy.call.arguments import ArrayKey, Key, ScalarKey, StaticKey
from tracebuf.frontends.numpy.call.call import Call
from tracebuf.frontends.numpy.call.encoding import Stale, named
from tracebuf.frontends.numpy.call.results import ChosenResult, NewContainer, ResultLeaf
from tracebuf.frontends.numpy.interpreter.trace import Traced
from tracebuf.ir.dims import to_python
from tracebuf.persist.precompile import UsageError, arguments
from tracebuf.persist.saved import bufferized as decorated
from tracebuf.stages import bufferized

USAGE = """Writes the program of a function, for arguments of given kinds, as a file of Python with loops.

An argument is written as for `python -m tracebuf precompile`: the text of a tracebuf.spec ("f8[n, m]", float), or a
constant; NAME=ARGUMENT is one by keyword.

  python -m tracebuf export solvers:step "f8[n]" "f8[n]" dt=float -o step.py

The function need not be bufferized.
"""
ANOTHER = """def another(x, *others):
    return x.view() if any(x is y for y in others) else x"""
_PYTHON = ("int", "float", "complex", "bool")


def main(argv: Sequence[str]) -> int:
    """Runs the command; the exit status: 1 where the program cannot be exported, which stderr says."""
    made = ArgumentParser("python -m tracebuf export", description=USAGE, formatter_class=RawDescriptionHelpFormatter)
    made.add_argument("target", metavar="MODULE:FUNCTION")
    made.add_argument("arguments", nargs="*", metavar="ARGUMENT")
    made.add_argument("-o", dest="file", metavar="FILE", help="where to write it, if not to standard output")
    made.add_argument("--njit", action="store_true", help="with its loops compiled by Numba, which the file imports")
    command = made.parse_intermixed_args(argv)
    if "" not in sys.path:
        sys.path.insert(0, "")  # as for `python -m`
    try:
        text = exported(command.target, command.arguments, command.njit)
    except (UsageError, TracebufError) as error:
        print(f"error: {command.target}: {error}", file=sys.stderr)
        return 1
    if command.file is None:
        print(text, end="")
    else:
        Path(command.file).write_text(text)
    return 0


def exported(target: str, words: Sequence[str], compiled: bool = False) -> str:
    """The text of the file. Raises UsageError for a command that names no function, UnsupportedError for a program that
    cannot be exported, and whatever tracing raises."""
    module, colon, name = target.partition(":")
    if not colon or not module or not name:
        raise UsageError("a function is named MODULE:FUNCTION, as in solvers:step")
    import_module(module)
    try:
        found = named(module, name)
    except Stale as error:
        raise UsageError(str(error)) from None
    f = decorated(found)
    if f is None and isinstance(found, FunctionType):
        f = bufferize(found)
    if f is None:
        raise UsageError("it is no function")
    args, kwargs = arguments(words)
    return text_of(f, args, kwargs, compiled)


def text_of(f: Any, args: Sequence[Any], kwargs: dict[str, Any], compiled: bool = False) -> str:
    """The file for one call of a bufferized function. UnsupportedError where it would need what only this process
    knows."""
    call, traced = f.trace(*args, **kwargs)
    check(call, traced)
    function = f.__wrapped__
    name = function.__name__ if function.__name__.isidentifier() else "program"
    module = module_of(bufferized(traced, f.options).told, f"{name}_loops", compiled, plain=True)
    parts = [definition(n, x) for n, x in module.objects.items()]
    head, body = module.text.split("\n\n\n", 1)
    if any(re.search(r"(?<!\w)math\.", p) for p in parts):
        head = "import math\n\n" + head
    if held := list(captured(call, traced.stored, traced.func.loc)):
        head += "\n\n" + "\n".join(part for line in held for part in fitted(line))
    title = "\n".join(title_lines(name, function, call))
    entry = "\n".join(entry_lines(name, function, call, traced, module))
    if "another(" in entry:
        parts.append(ANOTHER)
    return "\n\n\n".join([f"{title}\n\n{head}", *parts, body.rstrip("\n"), entry]) + "\n"


def title_lines(name: str, function: Any, call: Call) -> Iterator[str]:
    """The docstring of the file."""
    doc = (inspect.getdoc(function) or "").splitlines()[:1]
    yield f'"""{doc[0]}' if doc and fits(doc[0]) else f'"""`{name}` as loops over arrays that are allocated beforehand.'
    yield ""
    yield f"Written by tracebuf {__version__()} from `{name}`, for"
    yield ""
    for k, (n, key) in enumerate(zip(expressions(call), call.keys)):
        if not is_captured(call, k) and has_test(call, k):
            yield f"    {n}: {kind_of(key)}"
    yield '"""'


def kind_of(key: Key) -> str:
    """What the program takes for one argument, in words."""
    match key:
        case ArrayKey():
            return f"an array of {np.dtype(key.dtype).name}, {len(key.dims)}-d"
        case ScalarKey():
            return str(key.kind)
        case StaticKey():
            return shown(ast.Constant(key.value))[:60]
    return type(key).__name__


def fits(doc: str) -> bool:
    """Whether a line of the user's can begin a docstring."""
    return bool(doc) and '"' not in doc and "\\" not in doc and len(doc) < 80


def __version__() -> str:
    import tracebuf

    return getattr(tracebuf, "__version__", "")


def check(call: Call, traced: Traced) -> None:
    """UnsupportedError for calls whose program is not of the parameters alone."""
    loc = traced.func.loc
    list(captured(call, traced.stored, loc))
    if traced.writes:
        reason = "it changes what a list, dict or object of the caller's holds, which no file does: return the new one"
        raise UnsupportedError(reason, location=loc)
    if call.out is not None and call.out != ():
        raise UnsupportedError("a call with `out=` cannot be exported", location=loc)


def entry_lines(name: str, function: Any, call: Call, traced: Traced, module: Module) -> list[str]:
    """The function of the user's name."""
    names = expressions(call)
    lines = [f"def {name}({signature(function, call.tops)}):"]
    if fits(doc := (inspect.getdoc(function) or "").split("\n")[0]):
        lines.append(f'    """{doc}"""')
    lines += [f"    assert {test}" for test in tree_tests(call, traced.func.loc)]
    for k, (n, key) in enumerate(zip(names, call.keys)):
        if not is_captured(call, k) and has_test(call, k):
            lines += [f"    assert {test}" for test in tests(n, key, traced)]
    shared = call.related
    for i in traced.stored:
        lines.append(f"    assert {names[i]}.flags.writeable")
    for k, n in enumerate(names):
        if isinstance(call.keys[k], ArrayKey) and shared.same[k] != k:
            lines.append(f"    assert {n} is {names[shared.same[k]]}")
    lines += [f"    assert not np.may_share_memory({a}, {b})" for a, b in apart(names, call, traced)]
    signs = {"nonneg": ">= 0", "zero": "== 0", "nonzero": "!= 0"}
    for g in traced.guards:
        text = to_python(g.expr, lambda s: source(names, traced.bindings[s]))
        lines.append(f"    assert {compared(f'{text} {signs[g.kind]}')}")
    ends = list(endings(traced.plan, names, traced, module, holders(call)))
    passed = ", ".join(number(names[i], call.keys[i]) for i in traced.arguments)
    lines.append('    with np.errstate(all="ignore"):')
    whole = f"return ({', '.join(given(k, module) for k in range(len(module.gives)))})"
    if ends == ["return found"] or ends == [whole] and len(module.gives) > 1:
        lines.append(f"        return {module.name}({passed})")
    else:
        kept = "found = " if re.search(r"\bfound\b", "\n".join(ends)) else ""
        lines.append(f"        {kept}{module.name}({passed})")
        lines += [f"    {line}" for line in ends if ends != ["return None"]]
    return [part for line in lines for part in fitted(line)]


def signature(function: Any, names: Sequence[str]) -> str:
    """The parameters as text, without annotations."""
    shown = []
    for p in inspect.signature(function).parameters.values():
        if p.name not in names or p.kind not in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY, p.KEYWORD_ONLY):
            raise UnsupportedError(f"the parameter `{p}` cannot be exported")
        plain = isinstance(p.default, (int, float, str, type(None)))
        shown.append(f"{p.name}={constant(p.default)}" if p.default is not p.empty and plain else p.name)
    kinds = [p.kind is p.KEYWORD_ONLY for p in inspect.signature(function).parameters.values()]
    if True in kinds:
        shown.insert(kinds.index(True), "*")
    return ", ".join(shown)


def tests(name: str, key: Key, traced: Traced) -> list[str]:
    """What the program takes for granted of one argument."""
    match key:
        case ArrayKey():
            found = [f"{name}.dtype == np.{np.dtype(key.dtype).name} and {name}.ndim == {len(key.dims)}"]
            for axis, n in enumerate(key.dims):
                found.append(f"{name}.shape[{axis}] {'> 1' if n > 1 else f'== {n}'}")
            if key.layout == "dense" and all(n > 1 for n in key.dims) and key.dims:
                order = "" if key.order == tuple(range(len(key.dims))) else f".transpose{key.order!r}"
                found.append(f"{name}{order}.flags.c_contiguous")
            return found
        case ScalarKey():
            return [f"type({name}) is {key.kind}"]
        case StaticKey():
            value = key.value
            if key.type is type(None):
                return [f"{name} is None"]
            if key.type in (int, str, bool, float):
                return [f"{name} == {constant(value)}"]
    raise UnsupportedError(f"the argument `{name}` cannot be exported", location=traced.func.loc)


def apart(names: Sequence[str], call: Call, traced: Traced) -> list[tuple[str, str]]:
    """The pairs of arrays that must not overlap: one is stored to."""
    arrays = [i for i, key in enumerate(call.keys) if isinstance(key, ArrayKey) and call.related.same[i] == i]
    stored = set(traced.stored)
    return [(names[i], names[j]) for k, i in enumerate(arrays) for j in arrays[k + 1 :] if {i, j} & stored]


def source(names: Sequence[str], binding: Any) -> str:
    """Where the value of a symbol comes from."""
    x: str = names[binding.leaf]
    if binding.axis is None:
        return x
    return f"({x}.strides[{binding.axis}] // {x}.itemsize)" if binding.stride else f"{x}.shape[{binding.axis}]"


def number(name: str, key: Key) -> str:
    """An argument as the loops take it."""
    kinds = {"float": "np.float64", "complex": "np.complex128"}
    return f"{kinds[key.kind]}({name})" if isinstance(key, ScalarKey) and key.kind in kinds else name


def result(plan: Any, names: Sequence[str], traced: Traced, module: Module, containers: Sequence[str]) -> str:
    """What the function returns, of what the loops have given."""
    match plan:
        case ResultLeaf("const", value=value) if isinstance(value, (int, float, str, type(None))):
            return constant(value)
        case ResultLeaf("argument", index=k):
            return str(names[k])
        case ResultLeaf("container", index=k):
            return containers[k]
        case NewContainer(kind=kind, keys=("*",), items=(ResultLeaf("items" | "rows") as i,)) if kind in (list, tuple):
            return listed(i, module) if kind is list else f"tuple({listed(i, module)})"
        case ResultLeaf("array", read_only=False, index=k):
            if module.is_new(k):
                return given(k, module)
            others = [*(given(i, module) for i in range(k)), *names]
            return f"another({', '.join([given(k, module), *others])})"
        case ResultLeaf(kind=kind, index=k) if kind in _PYTHON:
            return f"{kind}({given(k, module)})"
        case ResultLeaf(kind=kind, index=k) if kind == "numpy":
            x = given(k, module)
            return f"np.bool_({x})" if traced_type(traced, k) == "i1" else x
        case ChosenResult(index=k, then=a, orelse=b):
            then, orelse = (result(x, names, traced, module, containers) for x in (a, b))
            return f"{then} if {given(k, module)} else {orelse}"
        case NewContainer(kind=kind, keys=None, items=items) if kind in (tuple, list):
            shown = ", ".join(result(i, names, traced, module, containers) for i in items)
            return f"[{shown}]" if kind is list else f"({shown}{',' if len(items) == 1 else ''})"
        case NewContainer(kind=kind, keys=keys, items=items) if kind is dict and plain_keys(keys):
            shown_items = [result(i, names, traced, module, containers) for i in items]
            pairs = (f"{constant(k)}: {x}" for k, x in zip(keys or (), shown_items))
            return f"{{{', '.join(pairs)}}}"
    if isinstance(plan, NewContainer):
        reason = f"it returns an object of {plan.kind.__name__}, which no file can make: return a tuple, list or dict"
        raise UnsupportedError(reason, location=traced.func.loc)
    raise UnsupportedError("a result of this kind cannot be exported", location=traced.func.loc)


def listed(items: ResultLeaf, module: Module) -> str:
    """The list of what an array of the loops' holds."""
    x = given(items.index, module)
    if items.kind == "rows":
        return f"[row.copy() for row in {x}]"
    kind, flags = items.value
    if flags != items.index:
        raise UnsupportedError("a list whose items are of several kinds cannot be exported")
    return f"list({x})" if kind == "np" else f"{x}.tolist()"


def endings(
    plan: Any, names: Sequence[str], traced: Traced, module: Module, containers: Sequence[str]
) -> Iterator[str]:
    """The lines that return the result."""
    while isinstance(plan, ChosenResult):
        yield f"if {given(plan.index, module)}:"
        for line in endings(plan.then, names, traced, module, containers):
            yield f"    {line}"
        plan = plan.orelse
    yield f"return {result(plan, names, traced, module, containers)}"


def given(k: int, module: Module) -> str:
    """Result k of the loops."""
    return f"found[{k}]" if len(module.gives) > 1 else "found"


def compared(test: str) -> str:
    """A comparison of a difference with zero, as one of its operands."""
    tree = ast.parse(test, mode="eval").body
    match tree:
        case ast.Compare(left=ast.BinOp(op=ast.Sub(), left=a, right=b), ops=[op]):
            tree = ast.Compare(a, [op], [b])
    return shown(Folder(frozenset()).visit(tree))


def plain_keys(keys: Any) -> bool:
    return all(type(k) in (str, int) for k in keys)


def traced_type(traced: Traced, k: int) -> str:
    return str(traced.func.result_types[k])
