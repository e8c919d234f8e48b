"""Progress bars around loops: `tqdm(range(n))`, `trange(n)`. The loop is traced as the one over what the bar is around;
host calls make the bar, say that the next item's turn has come, and end it (call/progress.py).
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any

from tracebuf.frontends.numpy.call import progress
from tracebuf.frontends.numpy.interpreter import talk
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.paths.iteration import Items, OneShotIterator, Range, length
from tracebuf.frontends.numpy.record.callees import Partial, Progress
from tracebuf.frontends.numpy.record.values import PyBool, PyInt
from tracebuf.ir.types import I64

METHODS = ("set_description", "set_description_str", "set_postfix", "set_postfix_str", "refresh")
"""Methods of a bar that only change what it shows."""
FORM = "for x in tqdm(range(n)), or an array, list or tuple in the place of the range"


def is_bar(function: Any) -> bool:
    """Whether a callee is the class of tqdm's bars, or a class made of it."""
    return isinstance(function, type) and any(
        c.__name__ == "tqdm" and c.__module__ == "tqdm.std" for c in function.__mro__
    )


def bar_of(function: Any) -> Any:
    """The class of bars that a callee makes: it is one, or `trange`; None for others."""
    if isinstance(function, types.FunctionType) and function.__module__.partition(".")[0] == "tqdm":
        function = function.__globals__.get("tqdm") if function.__name__ in ("trange", "tnrange") else None
    return function if is_bar(function) else None


def call(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """The bar that a call makes; NotImplemented for other callees."""
    if function is progress.tell:
        return tell(i, node, args, kwargs)
    kind = bar_of(function)
    if kind is None:
        return NotImplemented
    if kind is not function:
        args = [i.call(node, range, args, {})]
    over, rest = kwargs.pop("iterable", None) if not args else args[0], args[1:]
    if over is None:
        raise i.refuse(node, "a progress bar around nothing", FORM)
    it = i.iterable(node, over)
    if isinstance(over, OneShotIterator) or not isinstance(it, (list, Range, Items)):
        raise i.refuse(node, "a progress bar around an iterator", FORM)
    count = length(i.r, it)
    number = count if isinstance(count, int) else PyInt(count)
    return Progress(over, talk.say(i, node, progress.begin, [kind, True, number, *rest], kwargs, I64))


def attribute(base: Any, name: str) -> Any:
    """A method of a bar; NotImplemented for anything else."""
    known = isinstance(base, Progress) and name in METHODS
    return Partial(progress.tell, (base, name), {}) if known else NotImplemented


def tell(i: Evaluator, node: ast.AST, args: list[Any], kwargs: dict[str, Any]) -> None:
    """A call of a method of a bar."""
    bar, name, *rest = args
    if not any(bar is b for _, b in i.bars):
        raise i.refuse(node, f"`{name}` of a progress bar outside of its loop", "call it in the loop")
    talk.say(i, node, progress.tell, [bar.number, name, *rest], kwargs)


def begin_loop(i: Evaluator, node: ast.AST, bar: Progress) -> Any:
    """What a loop over a bar iterates over."""
    if not i.r.in_scope(bar.number.expr) or any(bar is b for _, b in i.bars):
        raise i.refuse(node, "a progress bar that is made elsewhere", FORM)
    return bar.over


def advance(i: Evaluator, node: ast.For) -> None:
    """Says that the next item's turn has come in a loop, if it is one over a bar."""
    if i.bars and i.bars[-1][0] is node:
        talk.say(i, node, progress.advance, [i.bars[-1][1].number], {})


def end_loop(i: Evaluator, node: ast.AST, whole: Callable[[], bool | PyBool]) -> None:
    """Ends the bar of a loop, if it is one over a bar; `whole`: whether the loop went through all items."""
    if i.bars and i.bars[-1][0] is node:
        talk.say(i, node, progress.end, [i.bars[-1][1].number, whole()], {})
