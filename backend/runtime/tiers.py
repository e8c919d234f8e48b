"""A program's machine code in two tiers: quick to make at its first call, then fast, made by a thread meanwhile.

LLVM's pipeline takes 50 to 100 times as long as its plainest code generator, whose code takes 2 to 10 times as long to
run. So a program that is long to compile, and is not on disk, begins in plain code; a thread writes the text of the
fast code and compiles its parts one after another, and each takes its place as soon as it is there: a loop nest at its
next call, in the middle of the program (its callers ask a pointer; `shared.pointer_to`), the program itself at its next
call. Counterparts: the tiers of .NET's and HotSpot's compilers.

Both tiers give the same bits. What LLVM may compute in several ways, the sums of a nest above all (`leaves_choice`), it
must compute in one: such a nest is a function of its own in the quick tier (`emit_kernel(apart=True)`), compiled as in
the fast one. Nothing else that is computed depends on the level.

Programs that are quick to compile have no quick tier (`SHORT`). One with loops of its own over scalars, in which a call
may be for long, begins in better code. What fails in the background is logged, and the quick code stays.

The thread is none of Python's: it handles no signal, lets others into LLVM first, and ends with the interpreter, which
waits for the part being compiled, or, where there is a cache on disk, a little longer for all (`FINISH`). In a forked
child another goes on. Only fast code is kept on disk, and lent.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import time
import weakref
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from tracebuf import cache
from tracebuf.backend.llvm.jit import (
    AbandonedError,
    CompiledObject,
    Library,
    SpeedLevel,
    after_others,
    compile_object,
    find_object,
    link_object,
    object_key,
)
from tracebuf.backend.llvm.kernel_text import KernelText
from tracebuf.backend.llvm.shared import Shared, leaves_choice, pointer_to
from tracebuf.backend.runtime.code import Code
from tracebuf.backend.runtime.parts import Linked, note
from tracebuf.backend.runtime.pool import pool
from tracebuf.frozen import cached_property
from tracebuf.options import Tier
from tracebuf.process import log as logger
from tracebuf.process.aside import ending, in_background

SHORT, SHORT_LOOPS = 100, 400
"""Programs of no more lines of LLVM's text to compile have no quick tier; the latter of those with loops of their
own."""
PLAIN: SpeedLevel = 0
BETTER: SpeedLevel = 1
PAUSE = 0.005
"""Seconds before the thread begins with a program, in which its first call may end."""
FINISH = 2.0
"""Seconds at most that Python's end waits for fast code that will be kept on disk."""
WAIT = 0.001
"""Seconds between two looks at what another thread does."""


class MachineCode(Code):
    """The machine code of one program that this process compiles."""

    def __init__(
        self, emitted: KernelText, imports: Mapping[str, int], tier: Tier, anew: Callable[[], KernelText] | None
    ) -> None:
        """`emitted`: what the first code is made of; `anew`: writes what that of the other tier is made of, where it is
        something else."""
        super().__init__()
        self._first, self._anew, self._imports = emitted, anew, imports
        self._begins_fast = tier == "fast"
        self._level: SpeedLevel = 1 if emitted.glue else 3
        self._quick: tuple[KernelText, Library] | None = None
        self._kept: list[Any] = []
        """The lives of libraries in which a call may be that began with the quick code."""
        begun = tier == "auto" and self._loaded() or tier != "fast" and self._begun(always=tier == "quick")
        if not begun:
            self._make_fast()
        elif self._quick is not None and tier == "auto":
            self.pending = True
        if not self.pending:
            self._forget()

    def _forget(self) -> None:
        """What it was made from is not needed any more."""
        del self._first, self._anew
        for made in ("_fast", "_first_text"):
            self.__dict__.pop(made, None)

    @cached_property
    def _fast(self) -> tuple[KernelText, str]:
        """What the fast code is made of, with its whole text."""
        emitted = self._first
        if self._anew is not None and not self._begins_fast:
            emitted = self._anew()
            if not _alike(emitted, self._first):
                emitted = self._first
        return emitted, emitted.write(()) if emitted is not self._first else self._first_text

    @cached_property
    def _marker(self) -> bytes:
        """Under which it is noted that there is fast code for what begins in this quick code."""
        written = self._anew().write(()) if self._anew is not None and self._begins_fast else self._first_text
        return cache.digest("fast", written)

    @cached_property
    def _first_text(self) -> str:
        return self._first.write(())

    @property
    def tier(self) -> Tier:
        """That of the code which runs now."""
        return "fast" if self._quick is None else "quick"

    def improve_later(self) -> None:
        """Has the thread make what is pending."""
        if self.pending:
            _queue.append(weakref.ref(self))
            _start()

    def wait(self) -> None:
        """Until the fast code runs, or cannot be made."""
        while self.pending and not ending():
            _start()
            time.sleep(WAIT)

    # -- the fast tier
    def _loaded(self) -> bool:
        """Whether the fast code was there already, as a whole or in parts."""
        if self._anew is not None and not pool.has(self._marker) and cache.load(self._marker, count=False) is None:
            return False
        emitted, whole = self._fast
        name = emitted.name
        text, lenders = pool.written(emitted, whole)
        found = find_object(text, name, speed_level=self._level)
        if found is None:
            missing = {s: one for s, one in emitted.shared.items() if s not in lenders}
            if not missing:
                return False
            text = emitted.write(emitted.shared)
            if (found := find_object(text, name, speed_level=self._level)) is None:
                return False
            parts = {symbol: find_object(one.text(), symbol, speed_level=one.level) for symbol, one in missing.items()}
            if None in parts.values():
                return False
            lenders |= {s: self._linked(missing[s], part) for s, part in parts.items() if part is not None}
        self._link_fast(found, text, lenders)
        return True

    def _make_fast(self) -> None:
        emitted, whole = self._fast
        for symbol, one in emitted.shared.items():
            if one.level < self._level and not pool.lenders([symbol]):
                self._compiled(one)
        text, lenders = pool.written(emitted, whole)
        compiled = compile_object(text, emitted.name, speed_level=self._level)
        self._link_fast(compiled, text, lenders)
        if self._anew is not None:
            pool.note(self._marker)
            cache.store(self._marker, b"")

    def _link_fast(self, compiled: CompiledObject, text: str, lenders: Mapping[str, Library]) -> None:
        """Makes an image of `text`, the program without what the `lenders` have, the code that runs."""
        imports = {**self._imports, **{s: library.address(s) for s, library in lenders.items()}}
        emitted, whole = self._fast
        name, own = emitted.name, tuple(s for s in emitted.shared if s not in lenders)
        library = link_object(compiled, whole, name, imports, speed_level=self._level)
        self._note(library, name, object_key(text, name, self._level), own, lenders)
        pool.lend(library, own)
        pool.note_written(whole, text, lenders)
        self.cpu_seconds += library.cpu_seconds
        if self._quick is not None:
            self._kept += (self._quick[1].life, *(library.life for library in self.lenders.values()))
        self.library, self._quick = library, None

    def _note(
        self, library: Library, name: str, key: bytes, shared: tuple[str, ...], lenders: Mapping[str, Library]
    ) -> None:
        needs = frozenset(library.object.needs)
        imports = {s: what for s, what in self._first.imports.items() if s in needs}
        note(library, Linked(name, key, library.speed_level, imports, shared, lenders))

    # -- the quick tier
    def _begun(self, always: bool) -> bool:
        """Whether there is quick code; none where it would not be much quicker, unless `always`."""
        quick = self._first
        text, _ = pool.written(quick, self._first_text)
        short = SHORT_LOOPS if quick.scalar_loops else SHORT
        if text.count("\n") <= short and not always:
            return False
        if leaves_choice(quick.write(quick.shared)):
            return False
        if always:  # what it lends is no part of what an equal program is compiled of, and is looked for as
            fast, whole = self._fast
            pool.note_written(whole, *pool.written(fast, whole))
        lenders = pool.lenders(quick.shared)
        for symbol, one in quick.shared.items():
            if symbol not in lenders and one.leaves_choice:
                lenders[symbol] = self._compiled(one)
        level = BETTER if quick.scalar_loops else PLAIN
        text = quick.write(lenders, by_pointer=True)
        compiled = compile_object(text, quick.name, speed_level=level, keep=always)
        imports = {**self._imports, **{s: library.address(s) for s, library in lenders.items()}}
        library = link_object(compiled, text, quick.name, imports, speed_level=level)
        self._note(library, quick.name, b"", (), lenders)
        self.cpu_seconds += library.cpu_seconds
        self.library, self._quick = library, (quick, library)
        return True

    def _compiled(self, one: Shared) -> Library:
        """A shared function as in the fast tier, which from now on others have too."""
        return self._linked(one, compile_object(one.text(), one.symbol, speed_level=one.level))

    def _linked(self, one: Shared, compiled: CompiledObject) -> Library:
        text = one.text()
        library = link_object(compiled, text, one.symbol, self._imports, speed_level=one.level)
        self._note(library, one.symbol, object_key(text, one.symbol, one.level), (one.symbol,), {})
        self.cpu_seconds += library.cpu_seconds
        pool.lend(library, [one.symbol])
        return library

    def _improve(self) -> None:
        """Makes the fast code, part by part; done in the background."""
        try:
            time.sleep(PAUSE)
            self._replace(self._fast[0].shared)
            if self.busy():
                self._replace_apart()
            quick = self._quick
            self._make_fast()
            self.switched()
            if quick is not None and self.busy():  # in a call that began with the quick code
                self._replace_apart(quick)
        except AbandonedError:
            return
        except Exception:
            logger.exception("the fast code of %s could not be made; the quick code stays", self._first.name)
        try:
            self._do_then()
            self.pending = False
            self._do_then()  # what came meanwhile
        except Exception:
            logger.exception("%s could not be kept", self._first.name)
        self.pending = False
        self._forget()

    def _replace_apart(self, quick: tuple[KernelText, Library] | None = None) -> None:
        """Replaces the nests that are no functions in the fast tier, for a call that is in the quick code for long."""
        quick = quick or self._quick
        if quick is not None:
            self._replace(quick[0].shared, quick)

    def _replace(self, functions: Mapping[str, Shared], quick: tuple[KernelText, Library] | None = None) -> None:
        quick = quick or self._quick
        for symbol, one in functions.items():
            if ending():
                raise AbandonedError
            library = pool.lenders([symbol]).get(symbol) or self._compiled(one)
            if quick is not None and (pointer := pointer_to(symbol)) in quick[1].addresses:
                self._kept.append(library.life)
                ctypes.c_size_t.from_address(quick[1].addresses[pointer]).value = library.address(symbol)


def wait() -> None:
    """Until the fast code of every program is made."""
    while (_queue or _current) and not ending():
        _start()
        time.sleep(WAIT)


_queue: deque[weakref.ref[MachineCode]] = deque()
"""The programs whose fast code is to be made; each step is one operation of the deque, so that no lock is held, which a
fork could find taken."""
_current: list[weakref.ref[MachineCode]] = []
"""That which the thread is at."""
_at_work: list[None] = []
"""One for the thread, if there is one."""


def _start() -> None:
    if _queue and not _at_work and not ending():
        _at_work.append(None)
        if not in_background(_work):
            _at_work.clear()


def _work() -> None:
    with after_others():
        while not ending():
            try:
                next_ = _queue.popleft()
            except IndexError:
                break
            _current.append(next_)
            if (code := next_()) is not None:
                code._improve()
            del code
            _current.remove(next_)
    _at_work.clear()
    _start()  # what came meanwhile


def _finish() -> None:
    """At Python's end: what is kept on disk spares later processes all that this one has done."""
    end = time.monotonic() + FINISH
    with suppress(KeyboardInterrupt):
        while (_queue or _current) and cache.keeps_programs() and time.monotonic() < end:
            _start()
            time.sleep(WAIT)


atexit.register(_finish)


def _in_child() -> None:
    """After a fork: the thread is no more."""
    _queue.extendleft(_current)
    _current.clear()
    _at_work.clear()
    _start()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


def _alike(a: KernelText, b: KernelText) -> bool:
    """Whether two texts of one program are called in the same way, and call the same."""
    return (
        a.frame == b.frame
        and len(a.checks) == len(b.checks)
        and a.references == b.references
        and a.imports == b.imports
        and (a.arena_slots, a.arena_blocks, a.arena_idle) == (b.arena_slots, b.arena_blocks, b.arena_idle)
    )
