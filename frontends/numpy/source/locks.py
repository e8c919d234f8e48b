"""`with lock:` in a bufferized function: which locks it takes, by the form of its statements, and the call that holds
one.

What a compiled function reads of objects it takes when a call begins, and what it changes it puts back at the end. So
the whole call holds the lock, which is as if no other thread came in between. That is sound for one lock alone, and for
a `threading.Lock`, which a caller may hold, only where the function surely takes it.
"""

from __future__ import annotations

import ast
import threading
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any

from tracebuf.frontends.numpy.source.liveness import leaves_by, own_nodes, stored
from tracebuf.frontends.numpy.source.source import Source, read_source
from tracebuf.frozen import frozen

LOCK, RLOCK = type(threading.Lock()), type(threading.RLock())
NOTHING = object()


@frozen()
class LockExpression:
    """A name with attributes that a function enters by `with`; `surely`: in each call that comes to its end."""

    root: str
    attributes: tuple[str, ...]
    surely: bool

    @property
    def text(self) -> str:
        return ".".join((self.root, *self.attributes))

    def value(self, function: FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What it is in a call; NOTHING where it cannot be had."""
        code = function.__code__
        cells = dict(zip(code.co_freevars, function.__closure__ or ()))
        try:
            if self.root in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
                place = code.co_varnames.index(self.root)
                x = args[place] if place < min(len(args), code.co_argcount) else kwargs[self.root]
            else:
                x = cells[self.root].cell_contents if self.root in cells else function.__globals__[self.root]
            for name in self.attributes:
                x = getattr(x, name)
        except (LookupError, AttributeError, ValueError):
            return NOTHING
        return x


def dotted(node: ast.expr) -> tuple[str, ...] | None:
    """The names of a name with attributes."""
    if isinstance(node, ast.Name):
        return (node.id,)
    inner = dotted(node.value) if isinstance(node, ast.Attribute) else None
    return None if inner is None else (*inner, node.attr)  # type: ignore[attr-defined]


@lru_cache(maxsize=512)
def lock_expressions(code: CodeType) -> tuple[LockExpression, ...]:
    """What a function enters by `with` that may be a lock: names that it does not bind itself."""
    source = read_source(code, code.co_filename, code.co_firstlineno)
    if source is None or isinstance(source.node, ast.Lambda):
        return ()
    node = source.node
    found, bound, sure = [], set(stored(node.body)), list[ast.stmt]()
    for statement in node.body:
        sure.append(statement)
        if leaves_by([statement], ast.Return):
            break
    for inside in (n for statement in node.body for n in own_nodes(statement) if isinstance(n, ast.With)):
        for item in inside.items:
            names = dotted(item.context_expr)
            if names is not None and item.optional_vars is None and names[0] not in bound:
                found.append(LockExpression(names[0], names[1:], inside in sure and inside.items[0] is item))
    return tuple(found)


class Holding:
    """A call that holds the lock it takes, if there is one: a context. `names`: what the function calls it."""

    def __init__(self, source: Source | None, lock: Any, names: frozenset[str]) -> None:
        self.source, self.lock, self.names = source, lock, names
        self.reentrant = isinstance(lock, RLOCK)

    def __enter__(self) -> None:
        if self.lock is not None:
            self.lock.acquire()
        _calls.stack.append(self)

    def __exit__(self, *error: object) -> None:
        _calls.stack.pop()
        if self.lock is not None:
            self.lock.release()


class Without:
    """A context in which a call does not hold its lock: the original function runs, and takes it itself."""

    def __init__(self, function: FunctionType) -> None:
        source = source_of(function)
        self.call = None if source is None else held_for(source)

    def __enter__(self) -> None:
        if self.call is not None:
            self.call.lock.release()
            _calls.stack.append(Holding(None, None, frozenset()))

    def __exit__(self, *error: object) -> None:
        if self.call is not None:
            _calls.stack.pop()
            self.call.lock.acquire()


class _Calls(threading.local):
    """The calls of this thread to functions that take locks, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[Holding] = []


_calls = _Calls()


def held_for(source: Source) -> Holding | None:
    """The call that holds a lock, if it is the call of the function with this source."""
    found = _calls.stack[-1] if _calls.stack else None
    return found if found is not None and found.lock is not None and found.source is source else None


def holds_lock() -> bool:
    """Whether the call of this thread that is being traced holds a lock."""
    return bool(_calls.stack) and _calls.stack[-1].lock is not None


def source_of(function: FunctionType) -> Source | None:
    """The source of a function; None where it cannot be read."""
    code = function.__code__
    return read_source(code, code.co_filename, code.co_firstlineno)


def takes_locks(function: FunctionType) -> bool:
    """Whether a function enters what may be a lock."""
    return bool(lock_expressions(function.__code__))


def holding(function: FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Holding:
    """The call with the lock that it has to hold."""
    source, entered = source_of(function), lock_expressions(function.__code__)
    values = {e.text: e.value(function, args, kwargs) for e in entered}
    locks = {text: x for text, x in values.items() if isinstance(x, (LOCK, RLOCK))}
    one = next(iter(locks.values()), None)
    sure = isinstance(one, RLOCK) or any(e.surely for e in entered if e.text in locks)
    if not sure or any(x is not one for x in locks.values()):
        return Holding(source, None, frozenset())
    return Holding(source, one, frozenset(locks))
