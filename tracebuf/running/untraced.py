"""Calls of functions of other libraries, which give what they give: arrays and numbers in tuples, lists, dicts and
objects, taken apart into buffers, as data (see `host`).

A call whose results have sizes that only it can tell is made of two: `Begun` makes it, keeps the results, and tells the
sizes; `Delivered` stores the results.
"""

from __future__ import annotations

import ast
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import lru_cache, partial
from types import CodeType, ModuleType
from typing import Any, ClassVar

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frozen import frozen
from tracebuf.running.host import fill
from tracebuf.running.kept import keep

# -- the form of a result
CONSTANTS = (Enum, np.dtype, type, ModuleType)


@frozen()
class FormOfNumber:
    """A number (of class `number`) or an array (None) in a result. `private`: an attribute whose name says so, or an
    item of a library's own dict, which may have memory of the arguments."""

    number: type | None
    dtype: np.dtype
    ndim: int
    private: bool


@frozen()
class FormOfConstant:
    """What is the same in each call: None, a text, a member of an enumeration, a dtype, a class."""

    kind: type
    value: Any


@frozen()
class FormOfContainer:
    """A tuple, list, dict or object: its class, the keys or the names of attributes, and what it holds. Of a tuple
    with attributes of its own, `names` are theirs, and what they hold comes last."""

    kind: type
    names: tuple[Any, ...]
    items: tuple[FormOfNumber | FormOfConstant | FormOfContainer | FormOfUntold, ...]


@frozen()
class FormOfUntold:
    """What the program hands on: a text or an object in a dict of a library's own class. It has a number (`kept`)."""

    ndim: int = 0
    private: bool = True
    dtype: np.dtype = np.dtype(np.int64)


Form = FormOfNumber | FormOfConstant | FormOfContainer | FormOfUntold


def taken_apart(x: Any, arrays: list[np.ndarray], private: bool = False, like: Form | None = None) -> Form:
    """The form of a result, whose arrays and numbers are appended to `arrays`; TypeError for what is none of those.
    What the form `like` does not tell is not told."""
    kind = type(x)
    if kind is np.ndarray or isinstance(x, np.generic) or kind in (bool, int, float, complex):
        array = np.asarray(x)
        arrays.append(array)
        return FormOfNumber(None if array is x else kind, array.dtype, array.ndim, private)
    if x is None or kind is str or isinstance(x, CONSTANTS):
        return FormOfConstant(kind, x)
    if isinstance(x, tuple) and (kind is tuple or hasattr(kind, "_fields")):
        more = getattr(x, "__dict__", {})
        hidden = [private or name[:1] == "_" for name in more]
        return container(kind, tuple(more), [*x, *more.values()], [*(private for _ in x), *hidden], arrays, like)
    if kind is list:
        return container(kind, (), x, [private] * len(x), arrays, like)
    if isinstance(x, dict) and all(type(key) in (str, int) for key in x):
        if kind is not dict and (vars(x) or isinstance(x, (OrderedDict, defaultdict))):
            raise TypeError(f"a {kind.__name__} among the results")
        return container(kind, tuple(x), list(x.values()), [private or kind is not dict] * len(x), arrays, like)
    if is_plain_object(kind):
        hidden = [private or name[:1] == "_" for name in vars(x)]
        return container(kind, tuple(vars(x)), list(vars(x).values()), hidden, arrays, like)
    raise TypeError(f"a {kind.__name__} among the results")


def container(
    kind: type, names: tuple[Any, ...], held: Sequence[Any], private: Sequence[bool], arrays: list[np.ndarray],
    like: Form | None,
) -> Form:  # fmt: skip
    """The form of a container. Its texts differ from call to call; in a dict of a library's class, as SciPy's results
    of optimizations are, there may be anything."""
    parts: Sequence[Form | None] = [None] * len(held)
    if isinstance(like, FormOfContainer) and like.kind is kind and len(like.items) == len(held):
        parts = like.items
    items: list[Form] = []
    for x, hidden, part in zip(held, private, parts, strict=True):
        before = len(arrays)
        try:
            form = None if type(x) is str or isinstance(part, FormOfUntold) else taken_apart(x, arrays, hidden, part)
        except TypeError:
            if not is_librarys_dict(kind):
                raise
            form = None
        if form is None:
            del arrays[before:]
            arrays.append(keep(x))
        items.append(form or FormOfUntold())
    return FormOfContainer(kind, names, tuple(items))


def is_librarys_dict(kind: type) -> bool:
    """Whether a class is a library's own of dicts, whose items may have the memory of others, and be anything."""
    return kind is not dict and issubclass(kind, dict)


def in_common(a: Form, b: Form) -> Form | None:
    """What two forms of a result of one function have in common: an item of a library's own dict is not told where it
    is one or the other. None where they have to be equal and are not."""
    if a == b or not isinstance(a, FormOfContainer) or not isinstance(b, FormOfContainer):
        return a if a == b else None
    if a.kind is not b.kind or a.names != b.names or len(a.items) != len(b.items):
        return None
    other = FormOfUntold() if is_librarys_dict(a.kind) else None
    items = [in_common(x, y) or other for x, y in zip(a.items, b.items)]
    return None if None in items else FormOfContainer(a.kind, a.names, tuple([x for x in items if x is not None]))


def numbers_in(form: Form) -> Iterator[FormOfNumber | FormOfUntold]:
    """The forms of the arrays and numbers of a result, in order."""
    if isinstance(form, (FormOfNumber, FormOfUntold)):
        yield form
    elif isinstance(form, FormOfContainer):
        for item in form.items:
            yield from numbers_in(item)


def shared(form: Form, found: Sequence[np.ndarray], inputs: Sequence[Any]) -> bool:
    """Whether an array of a result that is not private has memory of the arguments', or of another one."""
    seen = [x for x in inputs if isinstance(x, np.ndarray)]
    for leaf, x in zip(numbers_in(form), found, strict=True):
        if leaf.ndim and not leaf.private:
            if any(np.may_share_memory(x, y) for y in seen):
                return True
            seen.append(x)
    return False


def is_plain_object(kind: type) -> bool:
    """Whether objects of a class are made of their attributes alone."""
    return (
        all("__new__" not in vars(c) for c in kind.__mro__[:-1])
        and type(kind) is type
        and kind.__module__.partition(".")[0] not in ("builtins", "numpy")
        and "__dict__" in dir(kind)
        and not any("__slots__" in vars(c) for c in kind.__mro__[:-1])
    )


# -- functions of the user's
CALLBACK = "__callback__"
"""What a function is called in its text: no name that it reads."""


@frozen()
class FunctionText:
    """The text of a function, which is called `CALLBACK` in it, and `name` elsewhere; the file and line where it
    stands; the names that it is given."""

    text: str
    name: str
    file: str
    line: int
    names: tuple[str, ...]

    def made(self, values: Sequence[Any]) -> Any:
        """The function, whose names hold these values."""
        names = dict(zip(self.names, values, strict=True))
        exec(compiled(self), names)
        function = names[CALLBACK]
        function.__name__ = function.__qualname__ = self.name
        return function


@lru_cache(maxsize=512)
def compiled(x: FunctionText) -> CodeType:
    tree = ast.parse(x.text)
    return compile(ast.increment_lineno(tree, x.line - 1), x.file, "exec")


@frozen(eq=False)
class MadeFunction:
    """An argument that is a function of the user's, and what its names hold, as arguments have it."""

    text: FunctionText
    values: tuple[Any, ...]


# -- runs
@frozen(eq=False)
class UntracedCall:
    """The function, its arguments as `Direct` has them, and the form of its result: stores the arrays and numbers in
    the result into the outs."""

    function: Callable[..., Any]
    name: str
    arguments: tuple[Any, ...]
    names: tuple[str, ...]
    form: Form
    may_refuse: ClassVar[bool] = True

    def arrays(self, ins: Sequence[Any]) -> list[np.ndarray]:
        """Makes the call; the arrays and numbers in its result."""
        operands = list(map(writable, ins))
        given = [filled(p, operands) for p in self.arguments]
        positional = len(given) - len(self.names)
        called = partial(self.function, *given[:positional], **dict(zip(self.names, given[positional:])))
        result = called() if not any(map(is_made, self.arguments)) else self.watched(called, given, ins, operands)
        found: list[np.ndarray] = []
        try:
            form = taken_apart(result, found, like=self.form)
        except TypeError as error:
            raise self.other(str(error)) from None
        if form != self.form:
            raise self.other(told(form))
        if shared(form, found, ins):
            raise self.other("memory of its arguments, or the same memory twice")
        return found

    def watched(self, called: Callable[[], Any], given: list[Any], ins: Sequence[Any], operands: list[Any]) -> Any:
        """Makes a call in which functions of the user's are called, which may not write to what they are given."""
        before = contents(given)
        try:
            return called()
        finally:
            if contents(given) != before or contents(operands, True) != contents(ins, True):
                reason = f"a function that {self.name} calls writes to an array, list or dict from outside of it"
                raise UnsupportedError(reason, instead="let it compute a result of its arguments, and nothing else")

    def other(self, what: str) -> UnsupportedError:
        """What a result raises that is of other types than those for stand-ins."""
        reason = f"{self.name} gives {what}; for stand-ins of these types it gives {told(self.form)}"
        return UnsupportedError(reason, instead='call it outside of the compiled function, or use fallback="numpy"')

    def store(self, found: Sequence[np.ndarray], outs: Sequence[np.ndarray]) -> None:
        for x, out in zip(found, outs, strict=True):
            if x.shape != out.shape:
                raise self.other(f"an array of shape {x.shape} where {out.shape} was expected")
            out[...] = x

    def __call__(self, ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
        self.store(self.arrays(ins), outs)


def writable(x: Any) -> Any:
    """An array that may be stored to, as code in C wants it that stores nothing: a copy."""
    return x.copy(order="K") if isinstance(x, np.ndarray) else x


def contents(x: Any, of_arrays: bool = False) -> list[Any]:
    """What lists, tuples and dicts hold, to be compared; the elements of arrays too."""
    if isinstance(x, (tuple, list)):
        return [len(x), *(found for item in x for found in contents(item, of_arrays))]
    if type(x) is dict:
        return [*x, *contents(list(x.values()), of_arrays)]
    return [x.tobytes() if of_arrays else id(x)] if isinstance(x, np.ndarray) else [x]


def is_made(pattern: Any) -> bool:
    """Whether there is a function of the user's in an argument."""
    if isinstance(pattern, dict):
        return any(map(is_made, pattern.values()))
    return isinstance(pattern, MadeFunction) or (isinstance(pattern, (tuple, list)) and any(map(is_made, pattern)))


def filled(pattern: Any, operands: Sequence[Any]) -> Any:
    """An argument as the function gets it: lists and dicts of its own, functions made."""
    if isinstance(pattern, MadeFunction):
        return pattern.text.made([filled(p, operands) for p in pattern.values])
    if isinstance(pattern, dict):
        return {key: filled(p, operands) for key, p in pattern.items()}
    if isinstance(pattern, (tuple, list)) and type(pattern) in (tuple, list):
        return type(pattern)([filled(p, operands) for p in pattern])
    return fill(pattern, operands)


class _Kept(threading.local):
    """The results of calls that are begun and not delivered."""

    def __init__(self) -> None:
        self.results: list[list[np.ndarray]] = []


_kept = _Kept()


@frozen(eq=False)
class Begun:
    """Makes the call, keeps its results, and tells their sizes: for each of `sizes` (result, axis) one out."""

    call: UntracedCall
    sizes: tuple[tuple[int, int], ...]
    may_refuse: ClassVar[bool] = True

    def __call__(self, ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
        found = self.call.arrays(ins)
        for (k, axis), out in zip(self.sizes, outs, strict=True):
            out[...] = found[k].shape[axis]
        _kept.results.append(found)


@frozen(eq=False)
class Delivered:
    """Stores the results of the call that was begun last."""

    call: UntracedCall

    def __call__(self, ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
        self.call.store(_kept.results.pop(), outs)


def told(form: Form) -> str:
    """A form in words."""
    if isinstance(form, FormOfNumber):
        return f"{form.number.__name__}" if form.number else f"{form.dtype}[{', '.join('?' * form.ndim)}]"
    if isinstance(form, FormOfConstant):
        return repr(form.value)
    if isinstance(form, FormOfUntold):
        return "..."
    return f"{form.kind.__name__}({', '.join(map(told, form.items))})"
