"""Whole specialisations in the cache on disk: a later process runs a program without tracing, passes or LLVM.

An entry lies under a key of the function (its code, defaults, the text of its file), the options, the keys of the call
without what is captured, and the versions of all that makes programs (`environment`). It is a list of records, one for
each program that such calls were compiled to, the last one first: what tracing looked at (`Ways`, `described`), what is
captured, how the program is called (`CallPlan`), its image and the keys of its objects (`encoding`). A record serves a
call where all that was looked at is as it was, the captured values have the same keys, and its guards hold.

A function of Python's that a program calls is written down by its name, if it has one that leads to it, or by the way
on which tracing came to it; what it does is its own affair, at each call.

Not kept are programs that call back ops, or that looked at what cannot be described; a call of theirs traces, and takes
the machine code from the cache.
"""

from __future__ import annotations

import marshal
import os
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache as once
from types import FunctionType
from typing import Any

import numpy as np

import tracebuf.backend
import tracebuf.frontends
from tracebuf import cache
from tracebuf.backend.layout.abi import Frame
from tracebuf.backend.llvm.jit import machine
from tracebuf.backend.runtime.image import Failure, Image, Result
from tracebuf.backend.runtime.kernel import Kernel
from tracebuf.backend.runtime.parts import Part, has_parts, kept_parts
from tracebuf.frontends.numpy.call.arguments import StaticKey
from tracebuf.frontends.numpy.call.call import Call
from tracebuf.frontends.numpy.call.captures import Hidden, NewCapture
from tracebuf.frontends.numpy.call.conditions import Binding, Guard
from tracebuf.frontends.numpy.call.encoding import Codec, NotEncodable, Stale, named
from tracebuf.frontends.numpy.call.flatten import Tree
from tracebuf.frontends.numpy.call.provenance import (
    Data,
    Ways,
    described,
    fetchable,
    function_digest,
    held_by_library,
    related,
)
from tracebuf.frontends.numpy.call.results import CallPlan, ChosenResult, ContainerWrite, NewContainer, ResultLeaf
from tracebuf.frozen import frozen
from tracebuf.ir.types import ELEMENTS, INDEX, MemRefType
from tracebuf.location import Location
from tracebuf.options import CONTRACTS, Options
from tracebuf.process import log as logger
from tracebuf.process.late import importing
from tracebuf.running.raised import Number, Several, Shown
from tracebuf.running.ufuncs import is_made_name

Capture = tuple[str, Callable[[], Any], Any]
"""As in `Conditions`."""
MOST_RECORDS = 8
"""How many programs one entry holds."""
_CODEC = Codec(
    Binding, ChosenResult, ContainerWrite, Failure, Frame, Guard, Image, Location, MemRefType, NewContainer, Number,
    Part, Result, ResultLeaf, Several, Shown, constants={t.name: t for t in (*ELEMENTS.values(), INDEX)},
)  # fmt: skip


@once
def _codec_of_callbacks() -> Codec:
    """For the functions of Python's that a program calls, which few do."""
    with importing():
        from tracebuf.backend.runtime.callback import Callback
        from tracebuf.frontends.numpy.call import talk
        from tracebuf.frontends.numpy.call.host_call import DeclaredRun
        from tracebuf.running import host, untraced
    return Codec(
        Callback, DeclaredRun, Location, host.ByLoop, host.CoreLoop, host.Direct, host.ExtremeLoop,
        host.HostFunction, host.MedianLoop, host.Passed, host.Put, host.QuantileLoop, host.SortLoop, talk.Applied,
        talk.Chosen, talk.Filter, talk.Filtered, talk.Formatted, talk.Mapped, talk.OldSetting, talk.Place,
        talk.Stream, talk.Talk, talk.Weak, talk.Written, untraced.Begun, untraced.Delivered, untraced.FormOfConstant,
        untraced.FormOfContainer, untraced.FormOfNumber, untraced.FormOfUntold, untraced.FunctionText,
        untraced.KeptArgument, untraced.MadeFunction, untraced.Stored, untraced.UntracedCall,
        constants={**_CODEC.constants, **{f.__name__: f for f in (host.put_nothing, host.put_there)}},
    )  # fmt: skip


@frozen()
class Kept:
    """A program from the cache: how it is called, and its machine code."""

    plan: CallPlan
    kernel: Kernel


def find(function: FunctionType, options: Options, call: Call) -> Kept | None:
    """The program for a call, if it is in the cache and still holds.

    Raises NewCapture where a program is there whose captured values are not in the call yet.
    """
    try:
        key = _key(function, options, call)
        data = cache.load(key)
        if data is None:
            return None
        group = group_of(call)
    except NotEncodable:
        return None
    for record in sorted(marshal.loads(data), key=_captured_by):
        try:
            return restored(function, call, group, record)
        except (Stale, NotEncodable) as reason:
            logger.debug("a program of %s in the cache is not used: %s", function.__qualname__, reason)
    return None


def _captured_by(record: Data) -> int:
    """How many values a program captures: those with the fewest are tried first."""
    return len(record[1])


def keep(function: FunctionType, options: Options, call: Call, plan: CallPlan, kernel: Kernel) -> None:
    """Puts a program into the cache, if it can be written down, as soon as its fast code is there. What tracing looked
    at is described at once: until then it may change."""
    try:
        key = _key(function, options, call)
        looked_at, called = seen(function, call, plan, kernel)
    except NotEncodable as reason:
        logger.debug("a program of %s is not kept: %s", function.__qualname__, reason)
        return
    kernel.code.when_fast(lambda: _store(key, completed(looked_at, called, kernel)))


def put(function: FunctionType, options: Options, call: Call, plan: CallPlan, kernel: Kernel) -> bool:
    """`keep`, of a program that has fast code; whether it is there now. Raises NotEncodable where it cannot be written
    down."""
    key, record = _key(function, options, call), record_of(function, call, plan, kernel)
    _store(key, record)
    after = cache.load(key, count=False)
    return after is not None and record in marshal.loads(after) and has_parts(kernel.library)


def _store(key: bytes, record: Data) -> None:
    before = cache.load(key, count=False)
    records = [record, *(r for r in (marshal.loads(before) if before else ()) if r != record)]
    cache.store(key, marshal.dumps(records[:MOST_RECORDS]))


# -- the key
def _key(function: FunctionType, options: Options, call: Call) -> bytes:
    """Of a call without what it captures, which only tracing or a record can say."""
    parts = [function_digest(function), options_of(options), bare_group(call)]
    return cache.digest("program", *environment(), shown_as(), repr(parts))


def shown_as() -> str:
    """How NumPy shows its numbers in texts."""
    return repr(np.get_printoptions()["legacy"])


def options_of(options: Options) -> Data:
    if not isinstance(options.strategy, str):
        raise NotEncodable("an analysis of the user's")
    return repr(
        (options.strategy, options.heuristic, options.seed, options.verify, options.donate, options.donate_optional,
         options.compat, sorted(options.improvements), options.static_argnames, options.fallback, options.tier,
         options.backend, options.warnings, options.parallel, options.tile,
         [getattr(options, name) for name in CONTRACTS])
    )  # fmt: skip


def bare_group(call: Call) -> Data:
    """The group of a call without what it captures."""
    return group_of(call.without(len(call.hidden)) if call.hidden else call)


def group_of(call: Call) -> Data:
    """`Call.group` as data."""
    keys = [described_key(k) if isinstance(k, StaticKey) else repr(k) for k in call.keys]
    tree = None if call.tree is None else [_node(node) for node in call.tree]
    if any(type(name) is not str for name in call.named):
        raise NotEncodable("a keyword that is no plain text")
    same, objects = list(call.related.same), list(call.related.objects)
    return [keys, same, objects, list(call.named), repr(call.out), list(call.donated), tree]


def described_key(key: StaticKey) -> Data:
    return [described(key.type), described(key.value)]


def _node(node: Tree | int | None) -> Data:
    if node is None or isinstance(node, int):
        return node
    kind, keys, items = node
    return [described(kind), described(keys), [_node(i) for i in items]]


@once
def environment() -> tuple[str, ...]:
    """What programs depend on beside the user's code: Python, NumPy, LLVM, the processor, this library, and the
    settings that are read while compiling. (SciPy's version belongs to what of it was looked at; BLAS is found by
    name.)"""
    states = ((name, status.st_size, int(status.st_mtime)) for name, _, status in own_files())  # images keep seconds
    return *versions().values(), cache.digest(repr(sorted(states))).hex()


def versions() -> dict[str, str]:
    """What of the environment is not this library's, by its names."""
    found = {"Python": sys.version, "Python's bytecode": sys.implementation.cache_tag or "",
             "machine": platform.machine(), "NumPy": np.__version__}  # fmt: skip
    found |= {("processor", "LLVM")[min(k, 1)]: part for k, part in enumerate(machine())}
    return found | {"python -O": str(sys.flags.optimize), "TRACEBUF_GUARD": os.environ.get("TRACEBUF_GUARD", "")}


def own_files() -> list[tuple[str, str, os.stat_result]]:
    """The files of this library that programs are made by: their names, paths and states."""
    found: list[tuple[str, str, os.stat_result]] = []
    own = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    pending = [own, *(path for m in (tracebuf.backend, tracebuf.frontends) for path in m.__path__)]
    for folder in pending:
        at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)  # from which the way to each file is short
        try:
            with os.scandir(at) as entries:
                for entry in entries:
                    name = entry.name
                    if name.endswith(".py"):
                        found.append((f"{os.path.basename(folder)}/{name}", f"{folder}/{name}", entry.stat()))
                    elif name not in _ELSEWHERE and entry.is_dir():
                        pending.append(f"{folder}/{name}")
        finally:
            os.close(at)
    return found


_ELSEWHERE = frozenset({"__pycache__", "py.typed", "testing", "backend", "frontends"})
"""What no programs are made by, and what is a package of its own, which a checkout has elsewhere."""


# -- records
def record_of(function: FunctionType, call: Call, plan: CallPlan, kernel: Kernel) -> Data:
    """The record of a program that has fast code. Raises NotEncodable where it cannot be written down."""
    return completed(*seen(function, call, plan, kernel), kernel)


def completed(looked_at: tuple[Data, ...], called: Any, kernel: Kernel) -> Data:
    """A record of what was `seen`, and of the fast code."""
    body = _CODEC.encode((called, kernel.image, kept_parts(kernel.library)))
    return *looked_at, body, _CODEC.encode(tuple(kernel.failures()))


def seen(function: FunctionType, call: Call, plan: CallPlan, kernel: Kernel) -> tuple[tuple[Data, ...], Any]:
    """What a record begins with, and how the program is called."""
    if kernel.confined:
        raise NotEncodable(kernel.confined)
    if kernel.calls_back:
        raise NotEncodable("it calls back an op")
    if any(what[0] == "jitted" or what[1:2] and is_made_name(what[1]) for what in kernel.image.imports.values()):
        raise NotEncodable("it calls machine code that Numba has made in this process")
    ways = Ways(function)
    looked_at = []
    for describe, found in ((described, plan.captures), (held_by_library, plan.taken)):
        for name, fetch, value in found:
            looked_at.append([name, ways.fetch(fetch), describe(value)])
            ways.add(value)
    hidden = [ways.hidden(h) for h in call.hidden]
    called = plan.guards, dict(plan.bindings), plan.arguments, plan.stored, plan.plan, plan.writes
    callbacks = _codec_of_callbacks().encode(tuple(kernel.callbacks), ways.known_to) if kernel.callbacks else b""
    body = _CODEC.encode((called, kernel.image, tuple(kernel.failures())))  # raises now what it would then
    names = list(dict.fromkeys((_CODEC.named_in(callbacks) if callbacks else []) + _CODEC.named_in(body)))
    relations = [names, relations_of(function, call, ways, names)]
    return ([len(plan.captures), looked_at], hidden, group_of(call), _plain(relations), callbacks), called


def _plain(data: Data) -> Data:
    """Data as JSON gives it back."""
    return [_plain(x) for x in data] if isinstance(data, (list, tuple)) else data


def check_related(function: FunctionType, call: Call, ways: Ways, relations: Data) -> None:
    """Raises Stale where what tracing looked at, or what a program names, is related otherwise."""
    names, then = relations
    if _plain(relations_of(function, call, ways, names)) != then:
        raise Stale("other values are one object, or what it names is not what it was")


def relations_of(function: FunctionType, call: Call, ways: Ways, names: Sequence[Sequence[str]]) -> Data:
    """Which of the values are one object that tracing looked at and that a program names, and what the latter are."""
    objects = [named(module, name) for module, name in names]
    return [related([*_looked_at(function, call, ways), *objects]), [described(x) for x in objects]]


def _looked_at(function: FunctionType, call: Call, ways: Ways) -> list[Any]:
    """The function, what is part of the call's key and what tracing fetched."""
    static = [x for k in call.keys if isinstance(k, StaticKey) for x in (k.type, k.value)]
    nodes = [node for node in call.tree or () if node is not None]
    return [function, *static, *_kinds(nodes), *ways.values]


def _kinds(nodes: Iterable[Tree | int | None]) -> Iterator[Any]:
    """The classes of containers and objects among the arguments."""
    for node in nodes:
        if node is not None and not isinstance(node, int):
            yield node[0]
            yield from _kinds(node[2])


def restored(function: FunctionType, call: Call, group: Data, record: Data) -> Kept:
    """The program of a record. Raises Stale where it does not serve the call, NewCapture where that cannot be said
    before more is captured."""
    looked_at, hidden, wanted, relations, *encoded = record
    ways, captures = looked_again(function, looked_at)
    check_captured(call, [ways.found(h) for h in hidden])
    if group != wanted:
        raise Stale("the captured values have other keys")
    check_related(function, call, ways, relations)
    plan, link = opened(ways, captures, encoded, cache.load)
    if not plan.guard_function()(call.values):
        raise Stale("its guards do not hold")
    return Kept(plan, link())


def check_captured(call: Call, needed: Sequence[Hidden]) -> None:
    """Raises NewCapture where the captured values that a program needs are not in the call yet, Stale where others
    are."""
    have = [h.place for h in call.hidden]
    if [h.place for h in needed] != have:
        more = [h for h in needed if h.place not in have]
        if any(h.root is None and h.value() is None for h in more):
            raise Stale("what was captured is no array any more")
        if more and len(more) + len(have) == len(needed):
            if frozenset(h.place for h in needed) in call.misled:
                raise Stale("it did not serve with what it captures")
            raise NewCapture(more[0], more[1:], presumed=True)
        raise Stale("other values are captured")


def opened(
    ways: Ways, captures: Sequence[Capture], encoded: Sequence[bytes], load: Callable[[bytes], bytes | None]
) -> tuple[CallPlan, Callable[[], Kernel]]:
    """How the program of a record is called, and what links it of the objects that `load` gives by their keys (Stale
    where that cannot be done). `encoded`: the last parts of the record."""
    functions, body, failures = encoded
    callbacks = _codec_of_callbacks().decode(functions, ways.object) if functions else ()
    (guards, bindings, *called), image, parts = _CODEC.decode(body)
    later = _CODEC.decoded_later(failures)
    plan = CallPlan(guards, bindings, tuple(captures), (), *called)

    def link() -> Kernel:
        try:
            kernel = Kernel.of_parts(image, parts, later, callbacks, load)
        except (RuntimeError, LookupError, AttributeError, ImportError, OSError) as error:
            raise Stale(f"its machine code cannot be linked: {error}") from None
        if kernel is None:
            raise Stale("its machine code is missing")
        return kernel

    return plan, link


def looked_again(function: FunctionType, looked_at: Data) -> tuple[Ways, list[Capture]]:
    """What tracing looked at, as it is now, and what of it is compared at each call. Raises Stale where that is not
    what it was."""
    ways, found = Ways(function), []
    captured, items = looked_at
    for k, (name, way, description) in enumerate(items):
        fetch = ways.fetched(way)
        value = fetchable(fetch)
        if (described if k < captured else held_by_library)(value) != description:
            raise Stale(f"`{name}` is not what it was")
        ways.add(value)
        found.append((name, fetch, value))
    return ways, found[:captured]
