"""What NumPy's tests call instead of NumPy: the call in a bufferized function, or as it is where that is refused.

A function, method or operator is bufferized once; its arguments are those of the test. An InternalError is no refusal:
the test fails. An error whose text names a class of the tracer is replaced by an AssertionError.
"""

from __future__ import annotations

import functools
import operator
import re
import types
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from tracebuf.api import bufferize
from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.testing.functions import function_of

__all__ = ["Through", "leaked"]

MOST = 400
"""Calls of one function that are traced; more run as they are."""
MODULES = np, np.linalg, np.fft, np.lib.stride_tricks
NO_NUMBERS = frozenset({
    "array2string", "array_repr", "array_str", "fromfile", "fromiter", "genfromtxt", "get_include",
    "get_printoptions", "geterr", "geterrcall", "info", "load", "loadtxt", "may_share_memory", "printoptions",
    "save", "savetxt", "savez", "savez_compressed", "set_printoptions", "seterr", "seterrcall", "setbufsize",
    "getbufsize", "shares_memory", "show_config", "show_runtime", "test", "errstate", "frompyfunc", "array",
    "asarray", "asanyarray", "result_type", "can_cast", "promote_types", "isscalar", "ndim", "shape", "size",
    "from_dlpack",
})  # fmt: skip
"""Functions of NumPy that are not routed: of files, texts and settings, or of what an object is, tests' own means."""
CHECKERS = frozenset({"assert_raises", "assert_raises_regex", "assertRaises", "assertRaisesRegex", "raises", "warns",
                      "assert_warns", "assert_no_warnings", "deprecated_call"})  # fmt: skip
"""Functions that call the function they are given."""
OPERATORS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "MatMult": "@",
    "BitAnd": "&", "BitOr": "|", "BitXor": "^", "LShift": "<<", "RShift": ">>",
    "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=",
    "USub": "-", "UAdd": "+", "Invert": "~",
}  # fmt: skip
"""By class of the syntax tree: the operator's text."""
LEAKS = re.compile(
    r"tracebuf\.|\b(ArrayRef|GuardedRef|NpScalar|Py(Int|Float|Bool|Complex)|NestedFunction|FlatIterator|Record)\b"
    r"|\b(Raises|DeadEnd|NewCapture|Recorder|Storage) object\b"
)
"""Names of the tracer's own in the text of an error."""


def leaked(error: BaseException) -> str:
    """The name of the tracer's own that the text of an error has; else nothing."""
    found = LEAKS.search(str(error))
    return found[0] if found else ""


class Through:
    """Runs what tests call, and counts: `ran` and `refused` by what was called, `reasons` of the refusals."""

    def __init__(self, methods: bool, most: int = MOST) -> None:
        self.methods, self.most = methods, most
        self.ran, self.refused, self.reasons = Counter[str](), Counter[str](), Counter[str]()
        self._made: dict[str, Callable[..., Any]] = {}
        self._busy = False
        self._functions = dict(functions())
        self._wrapped: dict[int, Callable[..., Any]] = {}

    # -- what rewritten modules call

    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """f(...)"""
        if getattr(function, "__name__", "") in CHECKERS:
            callee = next((k for k, x in enumerate(args) if callable(x) and not is_error(x)), len(args))
            return function(*args[:callee], *map(self.routed, args[callee : callee + 1]), *args[callee + 1 :], **kwargs)
        name = self._name_of(function)
        if not name or self._busy:
            return function(*args, **kwargs)
        return self._run(name, lambda: bufferized(function), function, args, kwargs)

    def method(self, name: str, base: Any, /, *args: Any, **kwargs: Any) -> Any:
        """base.f(...)"""
        if self._traces(base):
            text = f"return x.{name}(*args, **kwargs)"
            return self._text(text, "x, *args, **kwargs", f".{name}", base, *args, **kwargs)
        return self.call(getattr(base, name), *args, **kwargs)

    def attribute(self, name: str, base: Any, /) -> Any:
        """base.T"""
        return self._text(f"return x.{name}", "x", f".{name}", base) if self._traces(base) else getattr(base, name)

    def binary(self, name: str, a: Any, b: Any, /) -> Any:
        """a + b"""
        op = OPERATORS[name]
        return self._text(f"return a {op} b", "a, b", op, a, b) if self._traces(a, b) else PLAIN[name](a, b)

    compared = binary

    def unary(self, name: str, a: Any, /) -> Any:
        """-a"""
        op = OPERATORS[name]
        return self._text(f"return {op}a", "a", f"unary {op}", a) if self._traces(a) else PLAIN[name](a)

    def item(self, base: Any, index: Any, /) -> Any:
        """base[index]"""
        if not self._traces(base):
            return base[index]
        text, given = subscript(index)
        return self._text(f"return x[{text}]", parameters("x", given), "x[i]", base, *given)

    def store(self, value: Any, base: Any, index: Any, /) -> None:
        """base[index] = value"""
        if not self._traces(base):
            base[index] = value
            return
        text, given = subscript(index)
        self._text(f"x[{text}] = v", parameters("x, v", given), "x[i] =", base, value, *given)

    def in_place(self, name: str, a: Any, b: Any, /) -> Any:
        """a += b"""
        op = OPERATORS[name]
        if not self._traces(a):
            return IN_PLACE[name](a, b)
        return self._text(f"a {op}= b\n    return a", "a, b", f"{op}=", a, b)

    def item_in_place(self, name: str, base: Any, index: Any, b: Any, /) -> None:
        """base[index] += b"""
        if not self._traces(base):
            base[index] = IN_PLACE[name](base[index], b)
            return
        op, (text, given) = OPERATORS[name], subscript(index)
        self._text(f"x[{text}] {op}= b", parameters("x, b", given), f"x[i] {op}=", base, b, *given)

    # -- how it is run

    def routed(self, x: Any) -> Any:
        """A function that a test passes on, so that its calls are routed; anything else as it is."""
        if not self._name_of(x):
            return x

        @functools.wraps(x)
        def run(*args: Any, **kwargs: Any) -> Any:
            return self.call(x, *args, **kwargs)

        return run

    def _name_of(self, function: Any) -> str:
        """The name of a function that is routed."""
        found = self._functions.get(id(function), "")
        if found or not self.methods:
            return found
        name: str = getattr(function, "__name__", "")
        if isinstance(function, np.ufunc) and getattr(np, name, None) is function:
            return f"np.{name}"
        of = getattr(function, "__self__", None)
        if isinstance(of, np.ufunc) and not name.startswith("_") and (ufunc := self._name_of(of)):
            return f"{ufunc}.{name}"
        return ""

    def _traces(self, *operands: Any) -> bool:
        """Whether what is done to these is routed: an array or number of NumPy's is among them."""
        if not self.methods or self._busy:
            return False
        routed = any(type(x) is np.ndarray or isinstance(x, np.generic) for x in operands)
        return routed and not isinstance(operands[0], (str, bytes))

    def _text(self, text: str, given: str, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Runs the body of a function."""
        plain = plain_function(f"def call({given}):\n    {text}\n")
        key = name if name.startswith((".", "x[")) else f"a {name} b"
        return self._run(key, lambda: bufferize(plain), plain, args, kwargs, of=f"{given}: {text}")

    def _run(
        self, name: str, make: Callable[[], Any], plain: Any, args: Any, kwargs: Any, of: str = ""
    ) -> Any:  # fmt: skip
        if self.ran[name] + self.refused[name] >= self.most:
            return plain(*args, **kwargs)
        made = self._made.get(of or name)
        if made is None:
            made = self._made[of or name] = make()
        self._busy = True
        try:
            result = made(*args, **kwargs)
        except UnsupportedError as error:
            self.refused[name] += 1
            self.reasons[kind_of(error.reason)] += 1
        except TracebufError:
            raise
        except BaseException as error:
            self.ran[name] += 1
            if found := leaked(error):
                raise AssertionError(f"a message names {found}: {type(error).__name__}: {error}") from error
            raise
        else:
            self.ran[name] += 1
            return result
        finally:
            self._busy = False
        return plain(*args, **kwargs)


def is_error(x: Any) -> bool:
    """Whether something is a class of exceptions."""
    return isinstance(x, type) and issubclass(x, BaseException)


def kind_of(reason: str) -> str:
    """The reason of a refusal without the names and types of one call."""
    reason = re.sub(r"argument `[^`]*`", "an argument", reason)
    reason = re.sub(r"dtype .*; supported are .*", "another dtype", reason)
    return re.sub(r"`[^`]*`", "`..`", re.sub(r"\d+", "n", reason))


def functions() -> list[tuple[int, str]]:
    """The public functions of NumPy that are routed, by id, and their names."""
    found = []
    for module in MODULES:
        short = module.__name__.replace("numpy", "np", 1)
        for name in dir(module):
            value = getattr(module, name)
            kinds = (type, types.ModuleType, np.ufunc)
            if not name.startswith("_") and name not in NO_NUMBERS and callable(value) and not isinstance(value, kinds):
                found.append((id(value), f"{short}.{name}"))
    return found[::-1]


def bufferized(function: Any) -> Any:
    """A bufferized function that calls this one."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return bufferize(call)


@functools.cache
def plain_function(text: str) -> Any:
    return function_of(text)


def subscript(index: Any) -> tuple[str, list[Any]]:
    """The text of a subscript, in which values are p0, p1 ..., and the values."""
    given: list[Any] = []

    def value(x: Any) -> str:
        if x is None or x is Ellipsis:
            return "None" if x is None else "..."
        given.append(x)
        return f"p{len(given) - 1}"

    def part(x: Any) -> str:
        if not isinstance(x, slice):
            return value(x)
        bounds = ["" if p is None else value(p) for p in (x.start, x.stop, x.step)]
        return ":".join(bounds if x.step is not None else bounds[:2])

    if type(index) is tuple:
        return (", ".join(map(part, index)) + "," if index else "()"), given
    return part(index), given


def parameters(first: str, given: list[Any]) -> str:
    return ", ".join([first, *(f"p{i}" for i in range(len(given)))])


PLAIN: dict[str, Callable[..., Any]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv, "Mod": operator.mod,
    "FloorDiv": operator.floordiv, "Pow": operator.pow, "MatMult": operator.matmul, "BitAnd": operator.and_,
    "BitOr": operator.or_, "BitXor": operator.xor, "LShift": operator.lshift, "RShift": operator.rshift,
    "Eq": operator.eq, "NotEq": operator.ne, "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt,
    "GtE": operator.ge, "USub": operator.neg, "UAdd": operator.pos, "Invert": operator.invert,
}  # fmt: skip
"""By class of the syntax tree: Python's function."""
IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.iadd, "Sub": operator.isub, "Mult": operator.imul, "Div": operator.itruediv, "Mod": operator.imod,
    "FloorDiv": operator.ifloordiv, "Pow": operator.ipow, "MatMult": operator.imatmul, "BitAnd": operator.iand,
    "BitOr": operator.ior, "BitXor": operator.ixor, "LShift": operator.ilshift, "RShift": operator.irshift,
}  # fmt: skip
"""By class of the syntax tree: Python's function that works in place."""
