"""Calls of functions of other libraries, which give what they give: arrays and numbers in tuples, lists, dicts and
objects, taken apart into buffers, as data (see `host`).

A call whose results have sizes that only it can tell is made of two: `Begun` makes it, keeps the results, and tells the
sizes; `Delivered` stores the results.
"""

from __future__ import annotations

import ast
import sys
import threading
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import lru_cache, partial
from types import CodeType, ModuleType
from typing import Any, ClassVar, Literal

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frozen import frozen
from tracebuf.running.host import Direct, Passed, fill
from tracebuf.running.kept import keep, kept

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


Keeps = Literal["", "texts", "all"]
"""What of a result is kept, and not taken apart: nothing, the texts in it, or all of it (an object)."""


class Parts:
    """Takes a result apart: its form, and the arrays and numbers in it."""

    def __init__(self, keeps: Keeps, like: Form | None = None) -> None:
        self.keeps, self.arrays, self.like = keeps, list[np.ndarray](), like
        """What the form `like` does not tell is not told."""

    def whole(self, x: Any) -> Form:
        """The form of a whole result; TypeError where it holds what is neither array, number nor constant."""
        try:
            if self.keeps != "all":
                return self.form(x, False, self.like)
        except TypeError:
            if not of_library(type(x)):
                raise
            self.arrays.clear()
        return self.kept(x)

    def kept(self, x: Any) -> FormOfUntold:
        self.arrays.append(keep(x))
        return FormOfUntold()

    def form(self, x: Any, private: bool = False, like: Form | None = None) -> Form:
        kind = type(x)
        if kind is np.ndarray or isinstance(x, np.generic) or kind in (bool, int, float, complex):
            array = np.asarray(x)
            self.arrays.append(array)
            return FormOfNumber(None if array is x else kind, array.dtype, array.ndim, private)
        if x is None or kind is str or isinstance(x, CONSTANTS):
            return FormOfConstant(kind, x)
        if isinstance(x, tuple) and (kind is tuple or hasattr(kind, "_fields")):
            more = getattr(x, "__dict__", {})
            hidden = [private or name[:1] == "_" for name in more]
            return self.container(kind, tuple(more), [*x, *more.values()], [*(private for _ in x), *hidden], like)
        if kind is list:
            return self.container(kind, (), x, [private] * len(x), like)
        if isinstance(x, dict) and all(type(key) in (str, int) for key in x):
            if kind is not dict and (vars(x) or isinstance(x, (OrderedDict, defaultdict))):
                raise TypeError(f"a {kind.__name__} among the results")
            hidden = [private or kind is not dict] * len(x)
            return self.container(kind, tuple(x), list(x.values()), hidden, like)
        if is_plain_object(kind):
            hidden = [private or name[:1] == "_" for name in vars(x)]
            return self.container(kind, tuple(vars(x)), list(vars(x).values()), hidden, like)
        raise TypeError(f"a {kind.__name__} among the results")

    def container(
        self, kind: type, names: tuple[Any, ...], held: Sequence[Any], private: Sequence[bool], like: Form | None
    ) -> Form:
        """The form of a container. In a dict of a library's class, as SciPy's results of optimizations are, there may
        be anything, and texts differ from call to call."""
        parts: Sequence[Form | None] = [None] * len(held)
        if isinstance(like, FormOfContainer) and like.kind is kind and len(like.items) == len(held):
            parts = like.items
        items: list[Form] = []
        for x, hidden, part in zip(held, private, parts, strict=True):
            before = len(self.arrays)
            text = type(x) is str and (bool(self.keeps) or is_librarys_dict(kind))
            try:
                form = None if text or isinstance(part, FormOfUntold) else self.form(x, hidden, part)
            except TypeError:
                if not is_librarys_dict(kind):
                    raise
                form = None
            if form is None:
                del self.arrays[before:]
                form = self.kept(x)
            items.append(form)
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


def of_library(kind: type) -> bool:
    """Whether a class is of a library that is not Python's own, or NumPy's, or of NumPy's polynomials."""
    root = kind.__module__.partition(".")[0]
    if kind.__module__.startswith("numpy.polynomial.") or kind is np.poly1d:
        return True
    return root not in ("builtins", "numpy") and root not in sys.stdlib_module_names


def numbers_in(form: Form) -> Iterator[FormOfNumber | FormOfUntold]:
    """The forms of the arrays and numbers of a result, in order."""
    if isinstance(form, (FormOfNumber, FormOfUntold)):
        yield form
    elif isinstance(form, FormOfContainer):
        for item in form.items:
            yield from numbers_in(item)


def take(x: Any, form: Form, arrays: list[np.ndarray]) -> bool:
    """Whether a result has a form: what `Parts` finds out, without it. Appends the arrays and numbers."""
    kind = type(form)
    if kind is FormOfNumber:
        if form.number is not None:  # type: ignore[union-attr]
            if type(x) is not form.number:  # type: ignore[union-attr]
                return False
            x = np.asarray(x)
        elif type(x) is not np.ndarray or x.ndim != form.ndim:  # type: ignore[union-attr]
            return False
        arrays.append(x)
        return bool(x.dtype == form.dtype)  # type: ignore[union-attr]
    if isinstance(form, FormOfContainer):
        if type(x) is not form.kind:
            return False
        items = items_of(x, form)
        return items is not None and all(take(item, part, arrays) for item, part in zip(items, form.items))
    if isinstance(form, FormOfConstant):
        return type(x) is form.kind and bool(x == form.value)
    arrays.append(keep(x))
    return True


def items_of(x: Any, form: FormOfContainer) -> Sequence[Any] | None:
    """The items of a container that has the names and the number of items of a form; None for any other."""
    if form.kind is tuple or form.kind is list:
        held, names = x, ()
    elif isinstance(x, dict):
        held, names = list(x.values()), tuple(x)
    else:
        more = getattr(x, "__dict__", {})
        held, names = [*(x if isinstance(x, tuple) else ()), *more.values()], tuple(more)
    return held if names == form.names and len(held) == len(form.items) else None


def shared(form: Form, found: Sequence[np.ndarray], inputs: Sequence[Any]) -> bool:
    """Whether an array of a result that is not private has memory of the arguments', or of another one."""
    if all(x.base is None or not x.ndim for x in found) and len(set(map(id, found))) == len(found):
        given = set(map(id, inputs))
        return any(id(x) in given for x in found)
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


@frozen(eq=False)
class KeptArgument:
    """An argument that is a kept object; its number, as arguments have it."""

    number: Any


# -- calls, as functions that native code calls (`Direct`)
@frozen(eq=False)
class UntracedCall:
    """The function, its arguments by the operands (as `Direct` has them), and the form of its result. A call gives the
    arrays and numbers in the result, as arrays."""

    function: Callable[..., Any]
    name: str
    arguments: tuple[Any, ...]
    names: tuple[str, ...]
    form: Form
    keeps: Keeps
    calls_back: bool
    may_refuse: ClassVar[bool] = True

    @property
    def keeps_some(self) -> bool:
        """Whether some of the result is kept by number."""
        return any(isinstance(leaf, FormOfUntold) for leaf in numbers_in(self.form))

    def __call__(self, *operands: Any) -> tuple[np.ndarray, ...]:
        ins = [own_copy(x) if self.calls_back or not is_writable(x) else x for x in operands]
        given = [filled(p, ins) for p in self.arguments]
        positional = len(given) - len(self.names)
        named = dict(zip(self.names, given[positional:]))
        if self.calls_back:
            result = self.watched(partial(self.function, *given[:positional], **named), given, ins, operands)
        else:
            result = self.function(*given[:positional], **named)
        arrays: list[np.ndarray] = []
        if self.keeps != "all" and take(result, self.form, arrays) and not shared(self.form, arrays, operands):
            return tuple(arrays)
        parts = Parts(self.keeps, self.form)
        try:
            form = parts.whole(result)
        except TypeError as error:
            raise self.other(str(error)) from None
        if form != self.form:
            raise self.other(told(form))
        if shared(form, parts.arrays, operands):
            raise self.other("memory of its arguments, or the same memory twice")
        return tuple(parts.arrays)

    def watched(self, called: Callable[[], Any], given: Any, ins: Any, operands: Any) -> Any:
        """Makes a call in which functions of the user's are called, which may not write to what they are given: they
        get copies."""
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


def direct(function: Callable[..., Any], call: UntracedCall, count: int, operands: int) -> Direct:
    arguments = tuple([Passed(k) for k in range(operands)])
    return Direct(function, arguments, (), tuple, tuple(range(count)), (None,) * count, Stored(call))


@frozen(eq=False)
class Stored:
    """Stores results that native code does not store itself, or refuses them."""

    call: UntracedCall

    def __call__(self, found: Any, outs: Sequence[np.ndarray]) -> None:
        for x, out in zip(found, outs, strict=True):
            if x.shape != out.shape:
                raise self.call.other(f"an array of shape {x.shape} where {out.shape} was expected")
            out[...] = x


def is_writable(x: Any) -> bool:
    """Whether code in C takes an argument that it stores nothing to: in the interpreters arrays are read-only."""
    return type(x) is not np.ndarray or x.flags.writeable


def own_copy(x: Any) -> Any:
    return x.copy(order="K") if type(x) is np.ndarray else x


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
    if isinstance(pattern, KeptArgument):
        return kept(fill(pattern.number, operands))
    if isinstance(pattern, dict):
        return {key: filled(p, operands) for key, p in pattern.items()}
    if isinstance(pattern, (tuple, list)) and type(pattern) in (tuple, list):
        return type(pattern)([filled(p, operands) for p in pattern])
    return fill(pattern, operands)


class _Kept(threading.local):
    """The results of calls that are begun and not delivered."""

    def __init__(self) -> None:
        self.results: list[tuple[np.ndarray, ...]] = []


_kept = _Kept()


@frozen(eq=False)
class Begun:
    """Makes the call, keeps its results, and gives their sizes: those of `sizes` (result, axis)."""

    call: UntracedCall
    sizes: tuple[tuple[int, int], ...]
    may_refuse: ClassVar[bool] = True

    @property
    def keeps_some(self) -> bool:
        return self.call.keeps_some

    def __call__(self, *operands: Any) -> tuple[np.ndarray, ...]:
        found = self.call(*operands)
        _kept.results.append(found)
        return tuple([np.asarray(found[k].shape[axis]) for k, axis in self.sizes])


@frozen(eq=False)
class Delivered:
    """Gives the results of the call that was begun last."""

    def __call__(self) -> tuple[np.ndarray, ...]:
        return _kept.results.pop()


def told(form: Form) -> str:
    """A form in words."""
    if isinstance(form, FormOfNumber):
        return f"{form.number.__name__}" if form.number else f"{form.dtype}[{', '.join('?' * form.ndim)}]"
    if isinstance(form, FormOfConstant):
        return repr(form.value)
    if isinstance(form, FormOfUntold):
        return "..."
    return f"{form.kind.__name__}({', '.join(map(told, form.items))})"
