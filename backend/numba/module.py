"""A program as a module of Python."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tracebuf.backend.numba.function import Writer
from tracebuf.backend.numba.helpers import NAME, NOT_COMPILED, texts
from tracebuf.backend.numba.hosted import FRESH
from tracebuf.backend.numba.names import Names
from tracebuf.backend.numba.pieces import DECORATOR
from tracebuf.backend.numba.text import key_of
from tracebuf.frozen import frozen
from tracebuf.ir.func import Func
from tracebuf.ir.types import INDEX, ScalarType, Type
from tracebuf.location import Location


@frozen(slots=False)
class Module:
    """The text, the function in it that runs the program, and the objects that it has by name from outside."""

    text: str
    name: str
    objects: dict[str, Any]
    takes: tuple[Type, ...]
    gives: tuple[Type, ...]
    returned: tuple[str, ...]
    """The expressions of the results."""
    places: dict[str, Location]
    """Where the lines of the comments stand in the user's files, by what these begin with."""

    def is_new(self, k: int) -> bool:
        """Whether result k is surely an array object that is neither an argument nor another result."""
        x = self.returned[k]
        if not x.isidentifier():
            return "[" in x or x.endswith((".T", ")"))
        makers = "|".join(rf"(?:linalg\.)?{name}" for name in ("empty", "zeros", *FRESH))
        made = re.findall(rf"\n *(?:{x} = |(?:\w+, )*{x}, |(?:\w+, )+{x} = )(np\.(?:{makers})\()?", self.text)
        return bool(made) and all(made) and self.returned.count(x) == 1

    def run(self, args: Sequence[Any]) -> list[Any]:
        """The program's results for these arguments, by Python. Raises what the program raises."""
        given = [as_given(t, x) for t, x in zip(self.takes, args, strict=True)]
        function = self.load()
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = function(*given)
        return self.results(found)

    def results(self, found: Any) -> list[Any]:
        """The results of what the function returns: nothing, one, or a tuple of several."""
        several = found if len(self.gives) > 1 else (found,) * len(self.gives)
        return [as_given(t, x) for t, x in zip(self.gives, several, strict=True)]

    def place_of(self, error: BaseException) -> Location | None:
        """The user's line that an exception comes from: the one that the text shows above the line which raised it."""
        at, tb = 0, error.__traceback__
        while tb is not None:
            at = tb.tb_lineno if tb.tb_frame.f_code.co_filename == self.file else at
            tb = tb.tb_next
        for line in reversed(self.text.splitlines()[:at]):
            if line.startswith("def "):
                break
            if (found := self.places.get(key_of(line))) is not None:
                return found
        return None

    @property
    def file(self) -> str:
        return f"<{self.name} as Python>"

    def load(self, objects: Mapping[str, Any] | None = None) -> Callable[..., Any]:
        """The function: on the program's arguments, to what `results` takes apart. `objects` are instead of its own."""
        space: dict[str, Any] = dict(self.objects if objects is None else objects)
        exec(compile(self.text, self.file, "exec"), space)
        found: Callable[..., Any] = space[self.name]
        return found


def as_given(type: Type, x: Any) -> Any:
    """An array as it is, a number as one of NumPy's; sizes are Python's."""
    if not isinstance(type, ScalarType):
        return x
    if type is INDEX:
        return int(x)
    return x if x.__class__ is type.dtype.type else np.asarray(x).astype(type.dtype)[()]


def module_of(func: Func, name: str = "", compiled: bool = False, plain: bool = False) -> Module:
    """The memref program `func` with what it calls; `name`: of its function; `compiled`: with its loops as functions
    that Numba compiles; `plain`: NumPy's functions are called by their names, under the error state that is set.
    UnsupportedError for an op that has no
    form in Python."""
    objects: dict[str, Any] = {}
    helpers: set[str] = set()
    names = Names(func)
    functions = {f.name: names.new(f.name if f.name.isidentifier() else "program") for f in (*func.callees, func)}
    functions[func.name] = name or functions[func.name]
    writers = [Writer(f, objects, helpers, functions, compiled, plain) for f in (*func.callees, func)]
    parts = [w.write() for w in writers]
    imports = ["import numpy as np"]
    if any("scipy.special." in part for part in parts):
        imports.append("import scipy.special")
    made = texts(helpers)
    if compiled:
        made = [t if NAME.match(t)[1] in NOT_COMPILED else f"{DECORATOR}\n{t}" for t in made]  # type: ignore[index]
        imports += ["from numba import njit"] * any(DECORATOR in part for part in (*made, *parts))
    text = "\n\n\n".join(["\n".join(imports), *made, *parts]) + "\n"
    takes = tuple(v.type for v in func.args)
    places = {key: loc for w in writers for key, loc in w.places.items()}
    return Module(text, functions[func.name], objects, takes, func.result_types, tuple(writers[-1].returned), places)
