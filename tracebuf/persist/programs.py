"""Whole specialisations in the cache on disk: a later process runs a program without tracing, passes or LLVM.

An entry lies under a key of the function (its code, defaults, the text of its file), the options, the keys of the call
without what is captured, and the versions of all that makes programs (`environment`). It is a list of records, one for
each program that such calls were compiled to, the last one first: what tracing looked at (`Ways`, `described`), what is
captured, how the program is called (`CallPlan`), its image and the keys of its objects, as JSON text. A record serves a
call where all that was looked at is as it was, the captured values have the same keys, and its guards hold.

Not kept are programs that call Python, or that looked at what cannot be described; a call of theirs traces, and takes
the machine code from the cache.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from functools import cache as once
from pathlib import Path
from types import FunctionType

import numpy as np

from tracebuf import cache
from tracebuf.backend.llvm.abi import Frame
from tracebuf.backend.llvm.jit import machine
from tracebuf.backend.runtime.image import Failure, Image, Result
from tracebuf.backend.runtime.kernel import Kernel
from tracebuf.backend.runtime.parts import Part, kept_parts
from tracebuf.frontends.numpy.call.arguments import StaticKey
from tracebuf.frontends.numpy.call.call import Call
from tracebuf.frontends.numpy.call.captures import NewCapture
from tracebuf.frontends.numpy.call.conditions import Binding, Guard
from tracebuf.frontends.numpy.call.encoding import Codec, NotEncodable, Stale
from tracebuf.frontends.numpy.call.flatten import Tree
from tracebuf.frontends.numpy.call.provenance import Data, Ways, described, fetchable, function_digest
from tracebuf.frontends.numpy.call.results import CallPlan, ChosenResult, ContainerWrite, NewContainer, ResultLeaf
from tracebuf.frozen import frozen
from tracebuf.ir.types import ELEMENTS, INDEX, MemRefType
from tracebuf.location import Location
from tracebuf.ops.control.checks import Number, Shown
from tracebuf.options import Options
from tracebuf.process import log as logger

MOST_RECORDS = 8
"""How many programs one entry holds."""
_CODEC = Codec(
    Binding, ChosenResult, ContainerWrite, Failure, Frame, Guard, Image, Location, MemRefType, NewContainer, Number,
    Part, Result, ResultLeaf, Shown, constants={t.name: t for t in (*ELEMENTS.values(), INDEX)},
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
        group = _group(call)
    except NotEncodable:
        return None
    for record in json.loads(data):
        try:
            return _restored(function, call, group, record)
        except (Stale, NotEncodable) as reason:
            logger.debug("a program of %s in the cache is not used: %s", function.__qualname__, reason)
    return None


def keep(function: FunctionType, options: Options, call: Call, plan: CallPlan, kernel: Kernel) -> None:
    """Puts a program into the cache, if it can be written down."""
    try:
        key = _key(function, options, call)
        record = _record(function, call, plan, kernel)
    except NotEncodable as reason:
        logger.debug("a program of %s is not kept: %s", function.__qualname__, reason)
        return
    before = cache.load(key, count=False)
    records = [record, *(r for r in (json.loads(before) if before else ()) if r != record)]
    cache.store(key, json.dumps(records[:MOST_RECORDS], separators=(",", ":")).encode())


# -- the key
def _key(function: FunctionType, options: Options, call: Call) -> bytes:
    """Of a call without what it captures, which only tracing or a record can say."""
    bare = call.without(len(call.hidden)) if call.hidden else call
    parts = [function_digest(function), _options(options), _group(bare)]
    return cache.digest("program", *environment(), json.dumps(parts, separators=(",", ":")))


def _options(options: Options) -> Data:
    if not isinstance(options.strategy, str):
        raise NotEncodable("an analysis of the user's")
    return repr(
        (options.strategy, options.heuristic, options.seed, options.verify, options.donate, options.donate_optional,
         options.compat, sorted(options.improvements), options.static_argnames, options.fallback, options.tier)
    )  # fmt: skip


def _group(call: Call) -> Data:
    """`Call.group` as data."""
    keys = [described_key(k) if isinstance(k, StaticKey) else repr(k) for k in call.keys]
    tree = None if call.tree is None else [_node(node) for node in call.tree]
    related = call.related
    return [keys, list(related.same), list(related.objects), list(call.named), repr(call.out), list(call.donated), tree]


def described_key(key: StaticKey) -> Data:
    return [described(key.type), described(key.value)]


def _node(node: Tree | int | None) -> Data:
    if node is None or isinstance(node, int):
        return node
    kind, keys, items = node
    return [described(kind), described(keys), [_node(i) for i in items]]


@once
def environment() -> tuple[str, ...]:
    """What programs depend on beside the user's code: Python, NumPy, SciPy's BLAS, LLVM, the processor, this library,
    and the settings that are read while compiling."""
    versions = sys.version, sys.implementation.cache_tag or "", platform.machine(), np.__version__
    return *versions, *machine(), str(sys.flags.optimize), os.environ.get("TRACEBUF_GUARD", ""), _sources()


def _sources() -> str:
    """The state of this library's own files: their names, sizes and times."""
    return cache.digest(repr(sorted(own_files()))).hex()


def own_files() -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    pending = [Path(__file__).resolve().parents[1]]
    links = [p for p in (pending[0] / "frontends", pending[0] / "backend") if p.is_symlink()]
    if not links:
        import tracebuf.backend
        import tracebuf.frontends

        pending += [Path(p) for m in (tracebuf.backend, tracebuf.frontends) for p in m.__path__]
    while pending:
        with os.scandir(folder := pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    pending.append(Path(entry.path))
                elif entry.name.endswith(".py"):
                    status = entry.stat()
                    found.append((f"{folder.name}/{entry.name}", status.st_size, status.st_mtime_ns))
    return found


# -- records
def _record(function: FunctionType, call: Call, plan: CallPlan, kernel: Kernel) -> Data:
    if kernel.calls_functions:
        raise NotEncodable("it calls functions of Python's")
    ways = Ways(function)
    captures = []
    for name, fetch, value in plan.captures:
        captures.append([name, ways.fetch(fetch), described(value)])
        ways.add(value)
    hidden = [ways.hidden(h) for h in call.hidden]
    called = plan.guards, dict(plan.bindings), plan.arguments, plan.stored, plan.plan, plan.writes
    return [captures, hidden, _group(call), _CODEC.encode((called, kernel.image, kept_parts(kernel.library)))]


def _restored(function: FunctionType, call: Call, group: Data, record: Data) -> Kept:
    """The program of a record. Raises Stale where it does not serve the call, NewCapture where that cannot be said
    before more is captured."""
    looked_at, hidden, wanted, body = record
    ways, captures = Ways(function), []
    for name, way, description in looked_at:
        fetch = ways.fetched(way)
        value = fetchable(fetch)
        if described(value) != description:
            raise Stale(f"`{name}` is not what it was")
        ways.add(value)
        captures.append((name, fetch, value))
    needed = [ways.found(h) for h in hidden]
    have = [h.place for h in call.hidden]
    if [h.place for h in needed] != have:
        more = [h for h in needed if h.place not in have]
        if any(h.root is None and h.value() is None for h in more):
            raise Stale("what was captured is no array any more")
        if more and len(more) + len(have) == len(needed):
            raise NewCapture(more[0], more[1:])
        raise Stale("other values are captured")
    if group != wanted:
        raise Stale("the captured values have other keys")
    (guards, bindings, *called), image, parts = _CODEC.decode(body)
    plan = CallPlan(guards, bindings, tuple(captures), *called)
    if not plan.guard_function()(call.values):
        raise Stale("its guards do not hold")
    kernel = Kernel.of_parts(image, parts)
    if kernel is None:
        raise Stale("its machine code is not in the cache")
    return Kept(plan, kernel)
