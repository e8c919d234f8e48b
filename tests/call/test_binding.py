"""Arguments are bound as Python binds them: by the code object, whatever a decorator has copied or set."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program
from tests.support.params import one_in
from tracebuf import bufferize


def with_signature(f: Callable[..., Any]) -> Callable[..., Any]:
    """SciPy's way: the wrapper takes anything, and shows the signature of what it wraps."""
    @functools.wraps(f)
    def wrapper(*args: Any, _no: bool = False, **kwds: Any) -> Any:
        return f(*args, **kwds)

    wrapper.__signature__ = inspect.signature(f)  # type: ignore[attr-defined]
    return wrapper


def wrapped(f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def wrapper(*args: Any, **kwds: Any) -> Any:
        return f(*args, **kwds)

    return wrapper


@with_signature
def scale(a, k=2.0):
    return a * k


@wrapped
@with_signature
@wrapped
def many(a, /, k=2.0, *, m=1.0):
    return a * k + m


def all_kinds(a, b=2, /, c=3, *args, d=4, e, **kw):
    return a * b + c * len(args) + d * e + sum(kw.values())


zeros, total, root = wrapped(np.zeros), wrapped(np.sum), wrapped(math.sqrt)
plain = bufferize(lambda a, k=3: a * k)


class Thing:
    def __init__(self) -> None:
        self.k = 3.0

    def __call__(self, a, *, b=1):
        return a * self.k + b

    def method(self, a, b=2):
        return a * b + self.k

    @staticmethod
    def static(a, b=2):
        return a - b

    @classmethod
    def of_class(cls, a, b=2):
        return a / b

    part = functools.partialmethod(method, b=5)
    bufferized = bufferize(method)
    bufferized_part = functools.partialmethod(bufferized, b=7)
    part_bufferized = bufferize(functools.partialmethod(method, b=7))
    decorated, shown = wrapped(method), with_signature(method)

    @bufferize
    @staticmethod
    def outer_static(a, b=2):
        return a - b

    @staticmethod
    @bufferize
    def inner_static(a, b=2):
        return a - b

    @bufferize
    @classmethod
    def outer_class(cls, a, b=2):
        return a - b

    @classmethod
    @bufferize
    def inner_class(cls, a, b=2):
        return a - b

    default = lambda self, a, g=lambda x, *, k=2: x * k: g(a) + g(a, k=3)  # noqa: E731


thing = Thing()
X = np.arange(3.0)
CALLS = [
    (scale, (X,), {}), (scale, (X,), {"k": 3.0}), (scale, (X, 2), {}), (scale, (), {"a": X}), (scale, (X,), {"q": 1}),
    (scale, (X, 2, 3), {}), (scale, (), {}), (scale, (X,), {"_no": True}), (many, (X,), {"k": 3.0, "m": 2}),
    (many, (), {"a": X}), (many, (X, 2, 3), {}), (all_kinds, (X,), {"e": 1}), (all_kinds, (X,), {}),
    (all_kinds, (X, 2, 3, 4, 5), {"e": 2, "z": 3, "y": 4}), (all_kinds, (X,), {"e": 1, "a": 2}),
    (all_kinds, (X,), {"e": 1, "b": 2}), (all_kinds, (X, 2, 3), {"c": 1, "e": 1}), (all_kinds, (), {"e": 1}),
    (all_kinds, (X, 2, 3), {"d": 1}),
]  # fmt: skip


@pytest.mark.parametrize("f, args, kwargs", one_in(12, CALLS, rows=True))
def test_calls(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """The same values, or a TypeError as eager's; also where the function is called by a traced one."""
    agree(f, *args, **kwargs)
    given = ", ".join([*(f"args[{i}]" for i in range(len(args))), *(f"{n}=kwargs[{n!r}]" for n in kwargs)])
    agree(program(f"def g(args, kwargs):\n    return f({given})", f=f), list(args), kwargs)
    agree(program(f"def g(args, kwargs):\n    return f({given})", f=bufferize(f)), list(args), kwargs)


def test_python_says_what_is_wrong() -> None:
    with pytest.raises(TypeError, match=r"all_kinds\(\) missing 1 required keyword-only argument: 'e'"):
        bufferize(all_kinds)(X)


@pytest.mark.parametrize(
    "text",
    one_in(9, """thing(a); thing(a, b=3); thing.method(a); thing.method(b=3, a=a); thing.static(a); Thing.static(a, b=1)
    thing.of_class(a); Thing.of_class(a); thing.part(a); thing.bufferized(a); thing.bufferized_part(a)
    thing.part_bufferized(a); thing.outer_static(a); thing.inner_static(a); thing.outer_class(a); thing.inner_class(a)
    Thing.outer_static(a); thing.decorated(a); thing.shown(a, b=1); thing.default(a); zeros(a.shape, dtype=a.dtype) + a
    total(a, axis=0) + root(4.0); plain(a); plain(k=2, a=a); functools.partial(plain, k=5)(a)
    functools.partial(thing.method, b=9)(a); functools.partial(functools.partial(all_kinds, e=1), a, d=5)()
    (lambda x, /, y=a, *, z=lambda v: v * 2: z(x) + y)(a)
    """.replace("\n", ";").replace("    ", "").rstrip("; ").split(";")),
)
@pytest.mark.cases(4)
def test_callees(text: str) -> None:
    """Methods of all kinds, partials and decorated functions, called by a traced function, and themselves bufferized"""
    text = text.strip()
    space = {"thing": thing, "Thing": Thing, "zeros": zeros, "total": total, "root": root, "plain": plain,
             "functools": functools, "all_kinds": all_kinds}  # fmt: skip
    agree(program(f"def f(a):\n    return {text}", **space), X)
    if text.startswith("thing") and "(b=" not in text and ", b" not in text:
        eager = eval(text, {**space, "a": X})
        for f in (bufferize(eval(text.removesuffix("(a)"), space)), eval(text.removesuffix("(a)"), space)):
            np.testing.assert_array_equal(f(X), eager)


@pytest.mark.parametrize(
    "f", one_in(10, [functools.partial(scale, k=5), functools.partial(plain, k=6), Thing.static, len, np.sin])
)
def test_functions_as_arguments(f: Callable[..., Any]) -> None:
    agree(lambda a, f: f(a), X, f)
