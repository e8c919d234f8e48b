"""The file of one program (`Compiled.save`, `tracebuf.load`): a format of its own.

It holds what a record of the cache on disk holds (`programs`), the objects that the program is linked of, the name of
its function, and what it was made with, as JSON text behind a digest of all. Where the cache knows this library by the
times of its files, here it is known by their text, for a file may go to another machine. Everything is looked at when
it is loaded, but for the call's arguments: each difference has its words.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache as once
from importlib import import_module
from types import FunctionType
from typing import Any, Protocol

from tracebuf import cache
from tracebuf.backend.runtime.kernel import Kernel
from tracebuf.backend.runtime.parts import objects_of
from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.frontends.numpy.call.call import Call
from tracebuf.frontends.numpy.call.captures import Hidden
from tracebuf.frontends.numpy.call.encoding import NotEncodable, Stale, named
from tracebuf.frontends.numpy.call.provenance import Data, function_digest
from tracebuf.frontends.numpy.call.results import CallPlan
from tracebuf.options import Options
from tracebuf.persist.programs import (
    Kept,
    bare_group,
    check_captured,
    check_related,
    group_of,
    looked_again,
    options_of,
    own_files,
    record_of,
    versions,
)
from tracebuf.persist.programs import opened as opened_record

MAGIC = b"tracebuf program 1\n"
_DIGEST, _SIZE = 32, 8
LONGEST = 60
"""Characters of a version that a message shows."""
Path = str | os.PathLike[str]


class Function(Protocol):
    """A bufferized function."""

    __wrapped__: FunctionType
    options: Options


class Saved:
    """A program out of a file: `data` is all of it, `shown` and the groups say for which calls it is."""

    def __init__(
        self, data: bytes, shown: str, groups: tuple[Data, Data], hidden: tuple[Hidden, ...], plan: CallPlan,
        link: Callable[[], Kernel], check: Callable[[Call], None],
    ) -> None:  # fmt: skip
        self.data, self.shown, self.hidden, self.plan = data, shown, hidden, plan
        self.bare, self.group = groups
        self.guard = plan.guard_function()
        self._link, self._check_related = link, check
        self.kernel, self._taken = link(), False
        """That of the last one who took it."""

    def take(self) -> Kept:
        """The program, for one who runs it: a kernel has one context for native calls, so each has its own."""
        if self._taken:
            self.kernel = self._link()
        self._taken = True
        return Kept(self.plan, self.kernel)

    def is_for(self, call: Call) -> bool:
        """Whether a call, with what is captured, is of the kind that the program is for."""
        try:
            return bool(group_of(call) == self.group)
        except NotEncodable:
            return False

    def is_as_it_was(self, call: Call) -> bool:
        """Whether what tracing looked at is related as it was then, for a call of the kind that the program is for."""
        try:
            self._check_related(call)
        except (NotEncodable, Stale):
            return False
        return True

    def serve(self, call: Call) -> Kept | None:
        """The program, if it serves a call. Raises NewCapture where that needs values that are not in it yet."""
        try:
            if bare_group(call) != self.bare:
                return None
            check_captured(call, self.hidden)
        except (NotEncodable, Stale):
            return None
        fits = self.is_for(call) and self.guard(call.values) and self.plan.captures_hold() and self.is_as_it_was(call)
        return self.take() if fits else None


# -- writing
def written(f: Function, call: Call, plan: CallPlan, kernel: Kernel, shown: str) -> bytes:
    """The content of a file. Raises UnsupportedError where the program cannot be written down."""
    function = f.__wrapped__
    try:
        if kernel.code.tier != "fast":
            raise NotEncodable('it has no fast code (tier="quick")')
        record = record_of(function, call, plan, kernel)
        header = {
            "function": [function.__module__ or "", function.__qualname__],
            "environment": environment(),
            "digest": function_digest(function),
            "options": options_of(f.options),
            "shown": shown,
            "bare": bare_group(call),
            "record": [part.hex() if isinstance(part, bytes) else part for part in record],
        }
    except NotEncodable as reason:
        what = f"this program of {function.__qualname__} cannot be saved: {reason}"
        raise UnsupportedError(what, instead="call it: the cache on disk keeps its machine code, if not all") from None
    objects = {key: library.object.to_bytes() for key, library in objects_of(kernel.library).items()}
    header["objects"] = [[key.hex(), len(image)] for key, image in objects.items()]
    text = json.dumps(header, separators=(",", ":")).encode()
    body = b"".join((len(text).to_bytes(_SIZE, "little"), text, *objects.values()))
    return MAGIC + cache.digest("saved", body) + body


def write(path: Path, data: bytes) -> None:
    """Puts a file in its place at once."""
    name = os.fspath(path)
    beside = f"{name}.{os.getpid()}.new"
    try:
        with open(beside, "wb") as file:
            file.write(data)
        os.replace(beside, name)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


# -- reading
def read(path: Path) -> bytes:
    """The content of a file, if it is as it was written, and was made with what is here."""
    with open(path, "rb") as file:
        data = file.read()
    check(data, path)
    then = _header(data)[0].get("environment", {})
    if differing := _differences(then, environment()):
        raise TracebufError(f"{path!s} is of no use here: it was made with {differing}")
    return data


def check(data: bytes, path: Path) -> None:
    """Raises TracebufError where the content of a file is not as it was written."""
    if not data.startswith(MAGIC):
        raise TracebufError(f"{path!s} is no program that this version of tracebuf has saved")
    body = data[len(MAGIC) + _DIGEST :]
    if data[len(MAGIC) : len(MAGIC) + _DIGEST] != cache.digest("saved", body):
        raise TracebufError(f"{path!s} is damaged, or cut short")


def _header(data: bytes) -> tuple[Mapping[str, Any], int]:
    """What a file says, and where its objects begin."""
    start = len(MAGIC) + _DIGEST + _SIZE
    size = int.from_bytes(data[start - _SIZE : start], "little")
    header: Mapping[str, Any] = json.loads(data[start : start + size])
    return header, start + size


def function_of(data: bytes, path: Path) -> Any:
    """The function that a file names, in its module, which is imported."""
    module, name = _header(data)[0]["function"]
    where = f"{path!s} has a program of {name}, of the module {module or '(none)'}"
    try:
        if not module:
            raise Stale(name)
        import_module(module)
        found = named(module, name)
    except ImportError as error:
        raise TracebufError(f"{where}, which cannot be imported: {error}") from error
    except Stale:
        raise TracebufError(
            f"{where}, where there is no such name; load(path, function=...) says where it is"
        ) from None
    if (f := bufferized(found)) is None:
        kind = type(found).__name__
        raise TracebufError(f"{where}, which is a {kind} and not bufferized; load(path, function=...) says where it is")
    return f


def bufferized(x: Any) -> Any:
    """The bufferized function that an object is, or that a method holds; None where it is none."""
    found = getattr(x, "__func__", x)
    return found if getattr(type(found), "__tracebuf__", False) is True else None


def opened(data: bytes, f: Function, path: Path) -> Saved:
    """The program of a file, for its function. Raises TracebufError where anything is not as it was."""
    header, at = _header(data)
    function = f.__wrapped__
    where = f"{path!s} is of no use here"
    name = ".".join(filter(None, header["function"]))
    try:
        if function_digest(function) != header["digest"]:
            raise Stale(f"{name} is not what it was: its code, its defaults or the text of its file")
        if options_of(f.options) != header["options"]:
            raise Stale(f"the options of {name} are not what they were")
        objects = {}
        for key, size in header["objects"]:
            objects[bytes.fromhex(key)] = data[at : at + size]
            at += size
        looked_at, hidden, group, relations, *encoded = header["record"]
        ways, captures = looked_again(function, looked_at)
        needed = tuple(ways.found(h) for h in hidden)
        plan, link = opened_record(ways, captures, [*map(bytes.fromhex, encoded)], objects.get)

        def check(call: Call) -> None:
            check_related(function, call, ways, relations)

        return Saved(data, header["shown"], (header["bare"], group), needed, plan, link, check)
    except (Stale, NotEncodable) as reason:
        raise TracebufError(f"{where}: {reason}") from None


# -- what it was made with
@once
def environment() -> dict[str, str]:
    """What a program depends on beside the user's code, by names."""
    texts = []
    for name, path, _ in own_files():
        with open(path, "rb") as file:
            texts.append(f"{name} {cache.digest(file.read()).hex()}")
    own = cache.digest(*sorted(texts)).hex()
    return {**versions(), "tracebuf": f"{sys.modules['tracebuf'].__version__} ({own[:12]})"}


def _differences(then: Mapping[str, str], now: Mapping[str, str]) -> str:
    found = []
    for name in sorted({*then, *now}):
        was, is_ = then.get(name, ""), now.get(name, "")
        if was != is_:
            short = max(len(was), len(is_)) <= LONGEST
            found.append(f"{name} {was!r}, and here is {is_!r}" if short else f"another {name}")
    return "; ".join(found)
