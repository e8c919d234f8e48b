"""Calls from several threads while another one rebinds what the function captures: arrays, numbers, items, attributes.

Each answer must be one that eager NumPy gives for some of the values that the captured names took, the first compile
included; which one is left open. Where it raises for some of them the original function may run, which sees a name
change in the middle of a call, as any function of Python's. Captured arrays are read, not stored to: stores from two
threads at once would be a race in eager NumPy too.
"""

from __future__ import annotations

import gc
import itertools
import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

from tracebuf.api import BufferizedFunction, bufferize
from tracebuf.errors import UnsupportedError
from tracebuf.testing.entries import unchecked
from tracebuf.testing.ladder import Mismatch, Outcome, Rules, call, compare, outcome_text
from tracebuf.testing.programs import Program

__all__ = ["check_threads", "generate"]

CALLS = 8
"""Calls of each thread."""
CALLERS = 3
TORN = 5000
"""How many ways of reading names that change are tried at most."""

_STATEMENTS = (
    "y = y + TABLE", "y = y * SCALE", "y = y - CONFIG['w']", "y = y + MODEL.w", "y += TABLE",
    "y = np.maximum(y, TABLE)",
    "y = y + CONFIG['k']", "y = helper(y)", "for i in range(n):\n    y = y + MODEL.w", "if n > 1:\n    y = y + TABLE",
    "if y[0] > 2:\n    y = y - SCALE", "if y.sum() > 5:\n    return y, TABLE.sum()", "a += SCALE",
    "while y[0] > 9:\n    y = y - 5", "y = MODEL.moved(y)", "y[1:] += TABLE[:1]", "if SCALE > 2:\n    y = y * 2",
)  # fmt: skip
_STATES = {
    "TABLE": ("array({d!r}, ({n},), {s})", "array({d!r}, (1,), {s})", "array({d!r}, (2, {n}), {s})"),
    "SCALE": ("2.0", "3", "0.5", "np.float32(4)", "array({d!r}, ({n},), {s})"),
    "CONFIG": ("{{'w': array({d!r}, ({n},), {s}), 'k': {k}}}", "{{'w': 1.0, 'k': {k}}}"),
    "MODEL": ("Model(array({d!r}, ({n},), {s}))", "Model({k})"),
}
_TEXT = """
import numpy as np

from tracebuf.testing.arrays import array

TOLERANCE = 0.0


class Model:
    def __init__(self, w):
        self.w = w

    def moved(self, y):
        return y + self.w


def helper(y):
    return y * SCALE + TABLE


"""
_END = """

if __name__ == "__main__":
    import sys

    from tracebuf.testing.fuzz.threads import check_threads

    for _ in range(20):
        check_threads(sys.modules[__name__], open(__file__).read())
"""


def generate(draw: random.Random) -> Program:
    """A program over captured values, its arguments, and the values that the names are bound to in turn (THREADS)."""
    n = draw.choice((1, 3, 4))
    lines = ["y = a * 1", *(draw.choice(_STATEMENTS) for _ in range(draw.randrange(2, 6))), "return y, a, n"]
    body = "\n".join(f"    {x}" for line in lines for x in line.split("\n"))
    states = {}
    for name, forms in _STATES.items():
        made = [draw.choice(forms[:2] if draw.random() < 0.8 else forms) for _ in range(draw.choice((1, 2, 2, 3)))]
        states[name] = [state(form, n, draw) for form in made]
    parts = [_TEXT.lstrip() + f"def program(a, n):\n{body}\n"]
    parts.append("\n" + "\n".join(f"{name} = {texts[0]}" for name, texts in states.items()))
    rows = "\n".join(f"    {name!r}: [{', '.join(texts)}]," for name, texts in states.items())
    parts.append(f"THREADS = {{\n{rows}\n}}\n")
    for name, k in (("arguments", draw.randrange(3)), ("arguments_again", draw.randrange(3))):
        dtype = draw.choice(("float64", "float64", "int64"))
        parts.append(f"\ndef {name}():\n    return array({dtype!r}, ({n},), {draw.randrange(99)}), {k}\n")
    return Program("\n".join(parts) + _END)


def state(form: str, n: int, draw: random.Random) -> str:
    dtype = draw.choice(("float64", "float64", "int64", "float32"))
    return form.format(d=dtype, n=n, s=draw.randrange(99), k=draw.choice(("2", "1.5", "7")))


def check_threads(module: ModuleType, source: str) -> None:
    """Raises Mismatch where a call from a thread gives what no binding of the captured names gives, and
    UnsupportedError where the program is outside the language."""
    sets = [module.arguments(), module.arguments_again()]
    names = list(module.THREADS)
    allowed = []
    for args in sets:
        found = []
        for values in itertools.product(*module.THREADS.values()):
            bind(module, dict(zip(names, values)))
            found.append(call(module.program, args))
        allowed.append(found)
    bind(module, {name: values[0] for name, values in module.THREADS.items()})
    program = module.program
    assert isinstance(program, FunctionType)
    answers: list[tuple[int, Outcome | UnsupportedError]] = []
    with switching_often(), unchecked():
        run(module, bufferize(program), sets, answers)
    for k, answer in answers:
        if isinstance(answer, UnsupportedError):
            raise answer
        runs = itertools.chain(allowed[k], torn(module, sets[k]) if any(x.error for x in allowed[k]) else ())
        if not any(equal(expected, answer, module.TOLERANCE) for expected in runs):
            texts = sorted({outcome_text(x) for x in allowed[k]})
            raise Mismatch("threads", f"{outcome_text(answer)}, eager one of {'; '.join(texts[:6])}", source)


class Rebound(dict[str, Any]):
    """The globals of a module, of which those that are bound anew have at each reading the next value of `choices`."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(vars(module))
        self.states: dict[str, list[Any]] = module.THREADS
        self.choices: list[int] = []
        self.counts: list[int] = []
        """Of how many each reading has chosen."""
        own = [x for x in vars(module).values() if isinstance(x, FunctionType) and x.__globals__ is vars(module)]
        self |= {f.__name__: FunctionType(f.__code__, self, f.__name__, f.__defaults__) for f in own}

    def __getitem__(self, name: str) -> Any:
        if name not in self.states:
            return super().__getitem__(name)
        at = len(self.counts)
        self.counts.append(len(self.states[name]))
        if at == len(self.choices):
            self.choices.append(0)
        return self.states[name][self.choices[at]]


def torn(module: ModuleType, args: tuple[Any, ...]) -> Iterator[Outcome]:
    """What eager NumPy gives where names are bound anew between any two readings of one call."""
    rebound = Rebound(module)
    for _ in range(TORN):
        yield call(rebound["program"], args)
        choices, counts = rebound.choices[: len(rebound.counts)], rebound.counts
        while choices and choices[-1] == counts[len(choices) - 1] - 1:
            choices.pop()
        if not choices:
            return
        choices[-1] += 1
        rebound.choices, rebound.counts = choices, []


def run(
    module: ModuleType,
    f: BufferizedFunction,
    sets: list[Any],
    answers: list[tuple[int, Outcome | UnsupportedError]],
) -> None:
    """Calls from threads that begin together; answers as they come."""
    begin = threading.Barrier(CALLERS + 2)
    over = threading.Event()
    failures: list[BaseException] = []

    def caller(number: int) -> None:
        for i in range(CALLS):
            k = (number + i) % 2
            try:
                answers.append((k, call(f, sets[k])))
            except UnsupportedError as refusal:
                answers.append((k, refusal))

    def rebinding() -> None:
        for name, values in itertools.cycle(module.THREADS.items()):
            for value in values[::-1]:
                bind(module, {name: value})
                if over.is_set():
                    return

    def looking() -> None:
        while not over.is_set():
            str(f.specializations())
            gc.collect(0)

    def begun(work: Callable[..., None], *args: Any) -> None:
        begin.wait()
        try:
            work(*args)
        except BaseException as failure:
            failures.append(failure)

    callers = [threading.Thread(target=begun, args=(caller, i)) for i in range(CALLERS)]
    others = [threading.Thread(target=begun, args=(work,)) for work in (rebinding, looking)]
    for t in (*callers, *others):
        t.start()
    for t in callers:
        t.join()
    over.set()
    for t in others:
        t.join()
    if failures:
        raise failures[0]


def bind(module: ModuleType, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(module, name, value)


def equal(expected: Outcome, answer: Outcome, tolerance: float) -> bool:
    try:
        compare(expected, answer, Rules(tolerance, sharing=False), "threads", "")
    except Mismatch:
        return False
    return True


@contextmanager
def switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(2e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
