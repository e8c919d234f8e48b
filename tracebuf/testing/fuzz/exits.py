"""The end of the process at any moment: while threads call or compile, in `atexit` handlers, in finalizers.

A drawn script runs in a process of its own. Its return code, what it prints and that nothing is on stderr (but the
traceback of an exception of its own) are compared with what the script says of itself in EXPECTED. A crash, a hang, a
message of the interpreter's or of LLVM's is a failure.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from pathlib import Path

from tracebuf.testing.fuzz.patience import finished
from tracebuf.testing.ladder import Mismatch
from tracebuf.testing.programs import Program

__all__ = ["check_exit", "generate"]

PATIENCE = 60.0
"""Seconds of processor time after which a process counts as hanging."""

_TEXT = """
import atexit
import gc
import os
import sys
import threading
import time
import weakref

import numpy as np

from tracebuf import bufferize

EXPECTED = ({code}, {printed!r}, {raised!r})


def program(a, n):
{body}


f = bufferize(program)
g = bufferize(program)
a = np.arange({size}.0)
right = program(a.copy(), 2)


def work(function):
    while True:
        function(a.copy(), 2)


def compiling():
    while True:
        bufferize(program)(a.copy(), 2)


def check(function, word):
    assert np.array_equal(function(a.copy(), 2), right), word
    print(word, flush=True)


class Dying:
    def __del__(self):
        f(a.copy(), 2)


if __name__ == "__main__":
"""
_BODIES = (
    "    return a * n + 1", "    for i in range(n):\n        a[1:] = a[:-1] * 2 + a[1:]\n    return a",
    "    if a[0] > n:\n        return a\n    return np.sort(a) + n", "    return np.linalg.norm(a) + a @ a * n",
    "    while a[0] < n:\n        a += 1\n    return a.copy()",
)  # fmt: skip
_AHEAD = (
    ("f(a.copy(), 2)", ""), ("check(f, 'first')", "first"), ("gc.collect()", ""), ("kept = f(a.copy(), 2)", ""),
    ("threading.Thread(target=work, args=(f,), daemon=True).start()", ""),
    ("threading.Thread(target=compiling, daemon=True).start()", ""),
    ("threading.Thread(target=check, args=(g, 'thread')).start()", "*"),
    ("f(a.copy(), 2)\n    dying = Dying()", ""), ("f.itself = f", ""),
    ("f.explain(a, 2)", ""),
)  # fmt: skip
_LATE = (
    "atexit.register(check, f, 'late')", "atexit.register(check, g, 'late')",
    "weakref.finalize(f, check, bufferize(program), 'late')",
)  # fmt: skip
_ENDS = (
    ("sys.exit(0)", 0, ""), ("sys.exit(3)", 3, ""), ("pass", 0, ""), ("os._exit(4)", 4, ""),
    ("raise KeyError('end')", 1, "KeyError: 'end'"), ("raise KeyboardInterrupt", 130, "KeyboardInterrupt"),
)  # fmt: skip


def generate(draw: random.Random) -> Program:
    """A script that says in EXPECTED how it ends: the return code, the last words it prints, the end of stderr."""
    lines: list[str] = []
    printed: list[str] = []
    for text, word in draw.sample(_AHEAD, draw.randrange(1, 5)):
        if word == "*" and any(w == "first" for w in printed):
            continue
        if word == "*":
            text, word = f"t = {text[:-8]}\n    t.start()\n    t.join()", "thread"
        lines.append(text)
        printed += [word] if word else []
    lines.append(f"time.sleep({draw.choice((0, 0, 0.001, 0.02, 0.1, 0.25)) * draw.random():.4f})")
    end, code, raised = draw.choice(_ENDS)
    if draw.random() < 0.5:
        lines.append(draw.choice(_LATE))
        if code != 4:
            printed.append("late")
    lines.append(end)
    body = draw.choice(_BODIES)
    words, size = " ".join(printed), draw.choice((9, 20_000))
    head = _TEXT.lstrip().format(code=code, printed=words, raised=raised, body=body, size=size)
    return Program(head + "\n".join(f"    {line}" for line in lines) + "\n")


def check_exit(source: str, expected: tuple[int, str, str]) -> None:
    """Raises Mismatch where a script ends in another way than it says."""
    code, printed, raised = expected
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ending.py"
        path.write_text(source)
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        done = finished([sys.executable, "-X", "faulthandler", str(path)], PATIENCE, env=environment)
    if done is None:
        raise Mismatch("exit", f"no end after {PATIENCE:.0f} seconds", source)
    returned = 130 if done.returncode == -2 else done.returncode  # by SIGINT, which Python sends itself
    if returned == 1 and raised == "KeyboardInterrupt" and (printed[-4:] == "late" or "threading.Thread(" in source):
        returned = 130  # CPython forgets it where a handler or thread executes text, as dataclasses do when imported
    if returned != code:
        raise Mismatch("exit", f"code {done.returncode}, not {code}: {done.stderr[-1500:]}", source)
    if done.stdout.split() != printed.split():
        raise Mismatch("exit", f"printed {done.stdout!r}, not {printed!r}: {done.stderr[-1500:]}", source)
    if (done.stderr.strip().split("\n")[-1] if raised else "") != raised or (done.stderr and not raised):
        raise Mismatch("exit", f"on stderr: {done.stderr[-1500:]}", source)
