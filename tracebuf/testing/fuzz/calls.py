"""Sequences of calls of one function: arguments by position and by name, defaults, `*args` and `**kwargs`, numbers,
arrays of all kinds, containers and objects in turn. Between calls what the function captures is bound anew, changed in
place, gets and loses items and attributes. Each call gives, raises and changes what it does in eager NumPy; results,
arguments and captured values are one object where they are one there. What is refused runs as it is.

The same calls follow one another often enough that machine code takes them. All is computed exactly: bits are compared.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from tracebuf.api import bufferize
from tracebuf.errors import TracebufError, UnsupportedError
from tracebuf.testing.ladder import Mismatch
from tracebuf.testing.programs import Program, loaded

__all__ = ["check_calls", "generate"]

STATE = ("TABLE", "SCALE", "CONFIG", "MODEL", "ITEMS", "X", "Y", "DEFAULT")
"""The names that a function may capture."""
WHAT = ("outcome", "what is said", "arguments", "names", "objects")
"""What is compared of each call."""
_HEAD = """
import numpy as np

from tracebuf.testing.arrays import array


class Model:
    rate = 0.5

    def __init__(self, w, k=2):
        self.w, self.k = w, k

    def out(self, x):
        return x * self.w + self.k


class Other(Model):
    def out(self, x):
        return super().out(x) - self.w


def helper(x, y=None):
    if y is None:
        return x + TABLE
    return x * y + SCALE


"""
_END = """

if __name__ == "__main__":
    from tracebuf.testing.fuzz.calls import check_calls

    check_calls(open(__file__).read())
"""
_SIGNATURES = (
    "a, b=None, *args, d=1, **kw", "a, b, *args, d=1, **kw", "a, *args, b=None, d=2, **kw",
    "a, b=DEFAULT, /, *args, d=0.5, **kw", "self, a=TABLE, b=None, *args, d=1, **kw",
)  # fmt: skip
_STATEMENTS = (
    "r = r + TABLE", "r = r * SCALE", "r = helper(r)", "r = helper(r, SCALE)", "r = r + CONFIG['p']",
    "r = MODEL.out(r)", "r = r + MODEL.w", "r += 1", "r = r + ITEMS[0]", "r = np.where(r > 0, r, d)",
    "return r, a, TABLE", "return r, x0", "x0 = a",
    "a[...] = r[:1].sum() if r.ndim else r", "TABLE[:1] = 3", "CONFIG['n'] = 1", "MODEL.seen = r", "ITEMS[0] = r",
    "r = r + kw.get('d', 1)", "for z in args:\n    r = r + z", "if d > 1:\n    r = r - d",
    "if len(args) > 1:\n    r = r + args[1]", "if args:\n    r = r * 2 + args[0]",
    "if b is None:\n    r = r + 1\nelse:\n    r = r + b", "if isinstance(b, tuple):\n    r = r + b[0] * b[1]",
    "if isinstance(b, dict):\n    r = r + b['p']", "if isinstance(b, list):\n    r = r + b[-1]",
    "if isinstance(b, Model):\n    r = b.out(r)", "if b == 'x':\n    r = r - 1", "if TABLE is None:\n    return r",
    "if isinstance(SCALE, float):\n    r = r + SCALE", "if 'q' in CONFIG:\n    r = r * CONFIG['q']",
    "if hasattr(MODEL, 'extra'):\n    r = r + MODEL.extra", "if r.ndim and r.shape[0] > 3:\n    r = r[:3]",
    "if len(ITEMS) > 1:\n    r = r + ITEMS[1]", "if kw:\n    r = r + kw['c']", "if 'c' in kw:\n    r = r - kw['c']",
)  # fmt: skip
_NUMBERS = ("2", "3", "0.5", "True", "np.float64(2)", "np.float32(3)", "np.int64(2)", "-1", "0", "2j")
_SHAPES = ("(3,)",) * 5 + ("(4,)", "(1,)", "(0,)", "(2, 3)", "()")
_LAYOUTS = ("C",) * 6 + ("F", "reversed", "stepped")
_RAISED = "(AttributeError, IndexError, KeyError, TypeError, ValueError)"


def generate(draw: random.Random) -> Program:
    """A function of an array `a` and much else, the names that it captures, and what is done with them in turn."""
    made = _Values(draw)
    signature = draw.choice(_SIGNATURES)
    body = ["r = a * 1", "x0 = 0", *(draw.choice(_STATEMENTS) for _ in range(draw.randrange(2, 7))), "return r"]
    names = [
        f"TABLE = {made.array()}", f"SCALE = {made.number()}", f"DEFAULT = {made.array()}",
        f"CONFIG = {{'p': {made.array()}, 'q': {made.number()}}}", f"MODEL = Model({made.array()}, {made.number()})",
        f"ITEMS = [{made.array()}]", f"X = {made.array()}", f"Y = {made.array()}",
    ]  # fmt: skip
    steps = [f"try:\n    {step}\nexcept {_RAISED}:\n    pass" for step in made.steps("self" in signature)]
    program = f"def program({signature}):\n{_indented(body)}"
    calls = f"def steps(call):\n{_indented(['global TABLE, SCALE, CONFIG, MODEL', *steps])}"
    parts = ["\n".join(names), program, calls]
    return Program(_HEAD.lstrip() + "\n\n\n".join(parts) + "\n" + _END)


def _indented(statements: Sequence[str]) -> str:
    return "\n".join(f"    {line}" for statement in statements for line in statement.split("\n"))


class _Values:
    """Draws values and calls, as texts."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw

    def array(self) -> str:
        pick = self.draw.choice
        dtype, shape = pick(("float64",) * 4 + ("int64", "float32", "bool")), pick(_SHAPES)
        layout = pick(_LAYOUTS) if shape != "()" else "C"
        locked = ", writable=False" if self.draw.random() < 0.1 else ""
        return f'array("{dtype}", {shape}, {self.draw.randrange(99)}, "{layout}"{locked})'

    def number(self) -> str:
        return self.draw.choice(_NUMBERS)

    def either(self) -> str:
        return self.draw.choice((self.array, self.number))()

    def value(self) -> str:
        array, number = self.array(), self.number()
        others = (
            "None", "'x'", "'y'", f"({array}, {number})", f"[{array}, {self.array()}]",
            f"{{'p': {array}, 'q': {number}}}", f"Model({array}, {number})", f"Other({array})", "X",
            "Y", "TABLE", "X[1:]",
        )  # fmt: skip
        return self.draw.choice((array,) * 6 + (number,) * 3 + others)

    def call(self, method: bool) -> str:
        draw, first = self.draw, self.draw.choice((self.array(), self.array(), "X", "Y"))
        given = [self.value() for _ in range(draw.randrange(3))]
        given = ["MODEL", *([first, *given] if draw.random() < 0.8 else [])] if method else [first, *given]
        if draw.random() < 0.25:
            given.append(f"d={self.number()}")
        if draw.random() < 0.2:
            given.append(f"c={self.either()}")
        if draw.random() < 0.15 and len(given) < 3:
            given.append(f"b={self.value()}")
        return f"call({', '.join(given)})"

    def change(self) -> str:
        """Of what is captured."""
        either, array, number = self.either(), self.array(), self.number()
        return self.draw.choice((
            f"TABLE = {self.draw.choice((array, array, either, 'None'))}", f"SCALE = {either}",
            f"CONFIG['p'] = {either}", f"CONFIG['q'] = {either}", "CONFIG.pop('q', None)",
            f"CONFIG = {{'p': {array}}}", f"MODEL.w = {either}", f"MODEL.k = {number}",
            f"MODEL = {self.draw.choice(('Model', 'Other'))}({array}, {number})", f"MODEL.extra = {either}",
            "MODEL.__dict__.pop('extra', None)", f"ITEMS.append({array})",
            "len(ITEMS) > 1 and ITEMS.pop()", f"ITEMS[0] = {either}", "TABLE *= 2",
        ))  # fmt: skip

    def steps(self, method: bool) -> list[str]:
        """Calls, of which many are made again, and changes."""
        found: list[str] = []
        calls: list[str] = []
        for _ in range(self.draw.randrange(6, 14)):
            kind = self.draw.random()
            if kind < 0.3 and calls:
                found.append(self.change())
            elif kind < 0.6 and calls:
                found.append(self.draw.choice(calls))
            else:
                calls.append(self.call(method))
                found.append(calls[-1])
            if self.draw.random() < 0.2 and calls:
                found += [calls[-1]] * self.draw.randrange(2, 6)
        return found


def check_calls(source: str) -> None:
    """Raises Mismatch where a call of the program's does not what it does in eager NumPy, UnsupportedError where each
    one is refused."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        with loaded(Program(source + "\n# eager")) as module:
            eager = list(done(module, module.program))
        with loaded(Program(source + "\n# compiled")) as module:
            assert isinstance(module.program, FunctionType)
            f = bufferize(fallback="numpy")(module.program)
            native = list(done(module, f))
    for k, (theirs, ours) in enumerate(zip(eager, native, strict=True)):
        for what, x, y in zip(WHAT, theirs, ours, strict=True):
            if x != y:
                raise Mismatch("calls", f"call {k}, {what}: {y}, eager {x}", source)
    if all("original" in str(s) for s in f.specializations()):
        raise UnsupportedError("each call is refused")


def done(module: ModuleType, function: Callable[..., Any]) -> Iterator[tuple[Any, ...]]:
    """Of each call in a module's steps: what it gives or raises, what it prints and warns of, what its arguments and
    the captured names are then, and which of all these are one object."""
    found = []

    def call(*args: Any, **kwargs: Any) -> None:
        result: Any = None
        with redirect_stdout(StringIO()) as printed, warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            try:
                result = function(*args, **kwargs)
                outcome = described(result)
            except TracebufError:
                raise
            except Exception as error:
                outcome = type(error).__name__, str(error)
        said = printed.getvalue(), [(str(w.message), w.lineno) for w in warned if w.category is UserWarning]
        names = [getattr(module, name, None) for name in STATE]
        held = objects([result, args, kwargs, names])
        found.append((outcome, said, described([args, kwargs]), described(names), held))

    module.steps(call)
    yield from found


def described(x: Any) -> Any:
    """A value as data that are equal where values are the same, to the bit."""
    if isinstance(x, np.ndarray):
        return x.dtype.str, x.shape, repr(x.tolist()), x.flags.writeable
    if isinstance(x, np.generic):
        return x.dtype.str, repr(x.item())
    if isinstance(x, (tuple, list, dict)):
        return type(x).__name__, [described(i) for i in (x.items() if isinstance(x, dict) else x)]
    if hasattr(x, "__dict__") and not isinstance(x, type):
        return type(x).__name__, [(name, described(value)) for name, value in sorted(vars(x).items())]
    return type(x).__name__, repr(x)


def objects(x: Any) -> list[int]:
    """The arrays in a value, in order, by the number of the object that each is."""
    numbers: dict[int, int] = {}
    found: list[int] = []

    def look(x: Any) -> None:
        if isinstance(x, np.ndarray):
            found.append(numbers.setdefault(id(x), len(numbers)))
        elif isinstance(x, (tuple, list)):
            for item in x:
                look(item)
        elif isinstance(x, dict) or (hasattr(x, "__dict__") and not isinstance(x, type)):
            look(list((x if isinstance(x, dict) else dict(sorted(vars(x).items()))).values()))

    look(x)
    return found
