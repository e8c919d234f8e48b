"""What tracing looked at outside of the arguments, as data that a later process can look at again.

A program holds while the names that its trace fetched have the values that it saw (`Conditions.captures`). Within a
process these are compared by identity. For the cache on disk each fetch is written down as a way from the traced
function to the value (`Ways`), and each value by what of it a trace may depend on (`described`): numbers and texts as
they are, functions by their code, defaults and the text of their file, classes by all that they and their bases hold,
what belongs to Python, NumPy or SciPy by its name and version. What cannot be described so is NotEncodable, and the
program is not kept.

Counterparts: the guards of TorchDynamo and their sources (torch/_dynamo/source.py); Numba's index of overloads, which
looks at the time stamp of one file.
"""

from __future__ import annotations

import dataclasses
import linecache
import os
import struct
import sys
import types
from abc import ABCMeta
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import cache as once
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from tracebuf.cache import digest
from tracebuf.frontends.numpy.call.captures import (
    CapturePlace,
    Hidden,
    answer_of,
    attribute_of,
    default_of,
    item_of,
    itself,
    own_attribute_of,
)
from tracebuf.frontends.numpy.call.encoding import NotEncodable, Stale, name_of, named
from tracebuf.frontends.numpy.call.lookups import NOTHING, Absent, Attribute, FreeName, Lookup, OfClass
from tracebuf.ir.types import SUPPORTED_DTYPES

Data = Any
"""What `marshal` writes and texts show: None, bools, numbers, texts, bytes, lists and tuples of these."""
LIBRARIES = frozenset({"numpy", "scipy", "tracebuf"}) | sys.stdlib_module_names - {"__main__"}
"""The packages whose code does not change while their version is the same."""
DEEPEST = 30
_HAS_FACTORY = type(getattr(dataclasses, "_HAS_DEFAULT_FACTORY", None))
"""Of the default of a parameter for which a dataclass calls a factory."""


# -- values
def described(x: Any, within: tuple[int, ...] = ()) -> Data:
    """What a trace may depend on in a value from outside. Raises NotEncodable where that cannot be said."""
    kind = type(x)
    if kind is int:
        return ["int", hex(x)]  # of any size
    if kind is range:
        return ["range", hex(x.start), hex(x.stop), hex(x.step)]
    if x is None or x is Ellipsis or x is NotImplemented or kind in (bool, str, bytes):
        return [kind.__name__, repr(x)]
    if kind in (float, complex):  # the bits: NaNs have signs
        return [kind.__name__, struct.pack("dd", x.real, x.imag).hex()]
    if kind is slice:
        return ["slice", *[described(i, within) for i in (x.start, x.stop, x.step)]]
    if x is NOTHING:
        return ["nothing"]
    if isinstance(x, np.ndarray) or kind in (list, dict):
        return ["argument"]  # it is fetched anew at each call, and has a key
    if id(x) in within or len(within) > DEEPEST:
        return ["above", len(within)]
    within = (*within, id(x))
    if kind is tuple:
        return ["tuple", *[described(i, within) for i in x]]
    if kind is frozenset:
        return ["frozenset", *sorted(repr(described(i, within)) for i in x)]
    if isinstance(x, np.generic):
        return ["number", x.dtype.str, x.dtype.char, x.tobytes().hex()]
    if isinstance(x, np.dtype):
        return ["dtype", x.char, repr(x)]
    if kind is types.ModuleType:
        return ["module", module_name(x)]
    if kind is _HAS_FACTORY:
        return ["default of a dataclass"]
    if kind is partial:
        return ["partial", *[described(i, within) for i in (x.func, x.args, *x.keywords, *x.keywords.values())]]
    if isinstance(x, Enum):
        return ["member", described(kind, within), x.name, described(x.value, within)]
    if getattr(kind, "__tracebuf__", False) is True:
        return ["bufferized", described(x.__wrapped__, within), repr(x.options)]
    if kind in (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType):
        return ["method", described(x.__objclass__, within), x.__name__]
    if kind in (staticmethod, classmethod):
        return [kind.__name__, described(x.__func__, within)]
    if kind is property:
        return ["property", *[described(f, within) for f in (x.fget, x.fset, x.fdel)]]
    if (own := of_library(x)) is not None:
        return own
    if kind is types.BuiltinFunctionType and x.__self__ is not None:
        return ["bound", described(x.__self__, within), x.__name__]
    if kind is types.FunctionType:
        return ["function", function_digest(x, within)]
    if isinstance(x, type):
        return ["class", x.__module__, x.__qualname__, class_digest(x, within)]
    raise NotEncodable(f"a value from outside of type {kind.__name__}")


def module_name(x: types.ModuleType) -> str:
    """The name under which a module is loaded."""
    if sys.modules.get(x.__name__) is not x:
        raise NotEncodable(f"a module {x.__name__} that is not loaded under that name")
    return x.__name__


def of_library(x: Any) -> Data | None:
    """The description of what a library made, if it is at its place."""
    try:
        module, name = name_of(x)
    except NotEncodable:
        return None
    package = module.partition(".")[0]
    if package not in LIBRARIES or not is_at_home(x, package):
        return None
    version = getattr(sys.modules.get(package), "__version__", "")
    return ["library", package, str(version), module, name]


def held_by_library(x: Any) -> Data:
    """The description of what a module of a library's holds: of an object of a library's class, as np.r_ is, the class
    says it."""
    try:
        return described(x)
    except NotEncodable:
        if (own := of_library(type(x))) is None:
            raise
        return ["object", own]


_HOME = os.path.dirname(os.__file__) + os.sep
"""Of Python's own modules in Python."""


def is_at_home(x: Any, package: str) -> bool:
    """Whether a library's package is the real one, not a file of the user's of the same name (`test.py`), and a
    function its own, not one that was put in its place."""
    file = getattr(sys.modules.get(package), "__file__", None)
    if file is None:  # built in
        return True
    if package in sys.stdlib_module_names and (not file.startswith(_HOME) or "site-packages" in file):
        return False
    x = getattr(x, "_implementation", x) if type(x) is type(np.sum) else x  # of what NumPy dispatches
    if not isinstance(x, types.FunctionType):
        return True
    code = x.__code__.co_filename
    return code.startswith(("<", os.path.dirname(file) + os.sep))


def function_digest(f: types.FunctionType, within: tuple[int, ...] = (), run: bool = False) -> str:
    """Of a function's code, the text of its file, and its defaults. Not of what it looks up, which tracing fetches and
    notes; but where there is no text, or Python calls it while tracing (`run`), what it names belongs to it."""
    code = f.__code__
    own, has_text = code_digest(code, code.co_filename, code.co_firstlineno)
    found = [
        [described(x, within) for x in f.__defaults__ or ()],
        [[k, described(x, within)] for k, x in (f.__kwdefaults__ or {}).items()],
    ]
    if run or not has_text:
        cells = dict(zip(code.co_freevars, map(cell_contents, f.__closure__ or ())))
        held = {**f.__globals__, **cells}
        inner = as_run if run else described
        found.append([[n, inner(held[n], within)] for n in sorted(names_in(code)) if n in held])
    return digest(f.__module__ or "", f.__name__, f.__qualname__, own, repr(found)).hex()


@lru_cache(maxsize=1024)
def code_digest(code: types.CodeType, file: str, line: int) -> tuple[bytes, bool]:
    """Of a code object in a file (equal ones may stand in several), with those in it; whether the file's text can be
    read."""
    linecache.checkcache(file)
    text = "".join(linecache.getlines(file))
    return digest(repr(list(parts_of(code))), text), bool(text)


def as_run(x: Any, within: tuple[int, ...]) -> Data:
    """The description of what a function that Python calls while tracing is, or names."""
    if id(x) in within:
        return ["above"]
    if type(x) is property:
        return ["property", *[as_run(f, within) for f in (x.fget, x.fset, x.fdel)]]
    if type(x) in (staticmethod, classmethod):
        return [type(x).__name__, as_run(x.__func__, within)]
    if (own := of_library(x)) is not None:
        return own
    if type(x) is types.FunctionType:
        return ["function", function_digest(x, (*within, id(x)), run=True)]
    if type(x) is types.ModuleType and x.__name__.partition(".")[0] not in LIBRARIES:
        raise NotEncodable(f"a function that is not traced names the module {x.__name__}")
    if isinstance(x, (list, dict, np.ndarray)):
        raise NotEncodable(f"a function that is not traced names a {type(x).__name__}")
    return described(x, within)


def cell_contents(cell: types.CellType) -> Any:
    """What a cell holds, NOTHING while it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return NOTHING


def names_in(code: types.CodeType) -> set[str]:
    """The names that a code object and those in it look up."""
    inner = (names_in(x) for x in code.co_consts if isinstance(x, types.CodeType))
    return {*code.co_names, *code.co_freevars}.union(*inner)


def parts_of(code: types.CodeType) -> Iterator[Any]:
    """What code objects differ in."""
    yield code.co_name, code.co_qualname, code.co_filename, code.co_firstlineno, code.co_flags
    yield code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
    yield code.co_code, code.co_linetable, code.co_exceptiontable
    yield code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    for x in code.co_consts:
        if isinstance(x, types.CodeType):
            yield list(parts_of(x))
        else:
            yield described(x)


_MADE_BY_CLASS = frozenset({"__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "_abc_impl"})
"""Entries of a class that say nothing about how its objects behave."""


def class_digest(kind: type, within: tuple[int, ...] = ()) -> str:
    """Of all that a class and its bases hold."""
    found: list[Data] = [described(type(kind), within)]
    constant = issubclass(kind, (Enum, type, tuple, *_NUMBERS_AND_TEXTS))
    for c in kind.__mro__:
        if (own := of_library(c)) is not None:
            found.append(own)
            continue
        found.append([c.__module__, c.__qualname__])
        for name, x in sorted(vars(c).items()):
            if name in _MADE_BY_CLASS:
                continue
            asked = constant and name not in _MAKING and (type(x) is property or name[:2] == name[-2:] == "__")
            found.append([name, (as_run if asked and is_code(x) else held_by_class)(x, within)])
    return digest(repr(found)).hex()


_NUMBERS_AND_TEXTS = (int, float, complex, str, bytes)
_MAKING = frozenset({"__new__", "__init__", "__init_subclass__", "__set_name__", "__post_init__", "__prepare__"})
"""Methods that make objects and classes: what they made is described itself."""


def is_code(x: Any) -> bool:
    """Whether what a class holds is a function of Python's, or made of some. Those of objects that are constants to
    tracing, as members of an Enum are, are called by Python where it compares, shows or reads the objects."""
    return type(x) in (types.FunctionType, property, staticmethod, classmethod)


@once
def _tuple_getter() -> type:
    """The class of what a named tuple's class holds for each field."""
    return type(vars(NamedTuple("_", [("x", int)]))["x"])


def held_by_class(x: Any, within: tuple[int, ...]) -> Data:
    """The description of what stands in the dict of a class."""
    kind = type(x)
    if kind in (types.MemberDescriptorType, types.GetSetDescriptorType):
        return [kind.__name__, x.__name__]
    if kind is _tuple_getter():
        return [kind.__name__, x.__reduce__()[1][0]]
    if kind in (list, dict):  # `__dataclass_fields__` and the like: not fetched anew
        items = list(x.items()) if kind is dict else x
        return [kind.__name__, *[held_by_class(i, within) for i in items]]
    if kind is tuple:
        return ["tuple", *[held_by_class(i, within) for i in x]]
    if isinstance(x, np.ndarray):
        return ["argument"]
    if kind.__module__ in ("dataclasses", "functools") and hasattr(kind, "__slots__"):
        return [kind.__name__, *[[n, field_value(getattr(x, n, None), within)] for n in kind.__slots__]]
    return described(x, within)


def field_value(x: Any, within: tuple[int, ...]) -> Data:
    """Of a part of a dataclass's field: its type is a text or a class, which is not looked at."""
    if isinstance(x, types.MappingProxyType):
        return ["mapping", *[held_by_class(i, within) for i in x.items()]]
    try:
        return held_by_class(x, within)
    except NotEncodable:
        if isinstance(x, type) or type(x).__module__ in ("dataclasses", "typing", "types"):
            return ["type", repr(x) if isinstance(x, type) else type(x).__name__]
        raise


# -- relations
def related(roots: Sequence[Any]) -> Data:
    """Which of the values that tracing looked at are one object, with the namespaces and cells of functions and the
    bases of classes; and what classes that say so themselves (`abc`) take for their subclasses."""
    numbers: dict[int, int] = {}
    pattern: list[int] = []
    held: list[Any] = []
    """The objects, so that no id is used twice."""
    kinds: list[type] = []
    asked: list[type] = []

    def visit(x: Any) -> None:
        met = id(x) in numbers
        pattern.append(numbers.setdefault(id(x), len(numbers)))
        if met:
            return
        held.append(x)
        kind = type(x)
        kinds.extend(kind.__mro__)
        if isinstance(x, type):
            kinds.extend(x.__mro__)
            for c in x.__mro__[1:]:
                pattern.append(numbers.setdefault(id(c), len(numbers)))
            if kind.__instancecheck__ is ABCMeta.__instancecheck__:  # type: ignore[comparison-overlap]
                asked.append(x)
            elif kind.__instancecheck__ is not type.__instancecheck__:  # type: ignore[comparison-overlap]
                raise NotEncodable(f"{x.__name__} says itself what its instances are")
        for part in parts_to_visit(x):
            visit(part)

    for x in roots:
        visit(x)
    others = list(dict.fromkeys([*kinds, *_KINDS])) if asked else []
    try:
        return [pattern, [[issubclass(other, kind) for other in others] for kind in asked]]
    except Exception as error:  # a `__subclasshook__` of the user's
        raise NotEncodable(f"a class that cannot say what its subclasses are: {error!r}") from None


_KINDS: tuple[type, ...] = (
    np.ndarray, *_NUMBERS_AND_TEXTS, bool, tuple, list, dict, range, slice, type(None),
    *(dtype.type for dtype in SUPPORTED_DTYPES),
)  # fmt: skip
"""Classes of values that tracing meets, beside the user's."""


def parts_to_visit(x: Any) -> Iterator[Any]:
    """The values in a value whose identity a trace may ask for, and where its names are looked up."""
    if isinstance(x, tuple):
        yield from x
    elif type(x) is partial:
        yield from (x.func, x.args, *x.keywords.values())
    elif getattr(type(x), "__tracebuf__", False) is True:
        yield x.__wrapped__
    elif isinstance(x, Enum):
        yield type(x)
    elif isinstance(x, types.FunctionType):
        home = sys.modules.get(x.__globals__.get("__name__") or "")
        yield from (x.__globals__, None if home is None else vars(home), *(x.__closure__ or ()), x.__defaults__)
        yield from (x.__kwdefaults__ or {}).values()


# -- ways
class Ways:
    """The ways from a traced function to the values that its trace fetched. Values join as they are met (`add`): what
    they hold can be reached from then on."""

    def __init__(self, function: types.FunctionType) -> None:
        self.values: list[Any] = []
        self.known: dict[int, Data] = {}
        """By id: `values` holds the objects."""
        self.functions: list[tuple[types.FunctionType, Data]] = []
        self._meet(function, ["root"])
        self.root = function

    def add(self, value: Any) -> None:
        """One more value that was fetched."""
        self.values.append(value)
        self._meet(value, ["value", len(self.values) - 1])

    def _meet(self, x: Any, way: Data) -> None:
        if id(x) in self.known:
            return
        self.known[id(x)] = way
        if isinstance(x, types.FunctionType):
            self.functions.append((x, way))
        elif getattr(type(x), "__tracebuf__", False) is True:
            self._meet(x.__wrapped__, ["wrapped", way])
        elif type(x) is partial:
            self._meet(x.func, ["func", way])

    def known_to(self, x: Any) -> Data | None:
        """The way to a value that tracing fetched, or that such a one holds."""
        return self.known.get(id(x))

    def to(self, x: Any) -> Data:
        """The way to a function, class or module."""
        if (way := self.known_to(x)) is not None:
            return way
        if type(x) is types.ModuleType:
            return ["module", module_name(x)]
        return ["named", *name_of(x)]

    def object(self, way: Data) -> Any:
        """What a way leads to. Raises Stale where there is nothing."""
        match way:
            case ["root"]:
                return self.root
            case ["value", k]:
                return self.values[k]
            case ["wrapped", inner]:
                return self.object(inner).__wrapped__
            case ["func", inner]:
                return self.object(inner).func
            case ["module", name] if name in sys.modules:
                return sys.modules[name]
            case ["named", module, name]:
                return named(module, name)
        raise Stale(str(way))

    def fetch(self, f: Callable[..., Any]) -> Data:
        """A fetch as data. Raises NotEncodable for what is made while tracing."""
        if isinstance(f, FreeName):
            return ["free", self._namespace(f), f.name]
        if isinstance(f, Attribute):
            return ["attribute", self.to(f.x), f.name]
        if isinstance(f, OfClass):
            return ["class", self.to(f.kind), f.name]
        if isinstance(f, Absent):
            return ["absent", self.fetch(f.lookup)]
        if f is itself:
            return ["itself"]
        if isinstance(f, partial) and not f.keywords and len(f.args) == 2:
            first, key = f.args
            if f.func is default_of:
                return ["default", self.to(first), key]
            name = _STEP_NAMES.get(f.func)
            if name is not None and type(key) in (str, int):
                return [name, self.fetch(first), key]
        raise NotEncodable(f"a value that is fetched by {f!r}")

    def _namespace(self, f: FreeName) -> Data:
        """Where a free name is looked up: as a function does it, or a module."""
        cell = f.cells.get(f.name)
        for function, way in self.functions:
            own = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
            if own.get(f.name) is cell and function.__globals__ is f.names:
                return way
        if cell is None and isinstance(module := f.names.get("__name__"), str):
            if module in sys.modules and vars(sys.modules[module]) is f.names:
                return ["module", module]
        raise NotEncodable(f"the name {f.name}, whose function is not known")

    def fetched(self, data: Data) -> Callable[..., Any]:
        """A fetch of what was written down."""
        match data:
            case ["free", way, name]:
                found = self.object(way)
                if isinstance(found, types.ModuleType):
                    return FreeName({}, vars(found), name)
                if not isinstance(found, types.FunctionType):
                    raise Stale(str(way))
                cells = dict(zip(found.__code__.co_freevars, found.__closure__ or ()))
                return FreeName(cells, found.__globals__, name)
            case ["attribute", way, name]:
                return Attribute(self.object(way), name)
            case ["class", way, name]:
                kind = self.object(way)
                if not isinstance(kind, type):
                    raise Stale(str(way))
                return OfClass(kind, name)
            case ["absent", inner]:
                lookup = self.fetched(inner)
                assert isinstance(lookup, Lookup)
                return Absent(lookup)
            case ["itself"]:
                return itself
            case ["default", way, name]:
                return partial(default_of, self.object(way), name)
            case [step, inner, key] if step in _STEPS:
                return partial(_STEPS[step], self.fetched(inner), key)
        raise Stale(str(data))

    # -- captured arrays and attributes
    def hidden(self, h: Hidden) -> Data:
        """A captured value as data: its name, its place but for what only this process knows, its fetch."""
        scope = h.place[1]
        if h.root is None:
            if scope != id(self._scope(h.fetch)):
                raise NotEncodable(f"the place of {h.label}")
        elif h.place[0] != "argument":
            raise NotEncodable(f"the place of {h.label}")
        return [h.label, h.root, h.place[0], scope if h.root is not None else None, _steps(h.place[2:]),
                self.fetch(h.fetch)]  # fmt: skip

    def found(self, data: Data) -> Hidden:
        """The captured value that was written down."""
        label, root, first, scope, steps, fetch = data
        made = self.fetched(fetch)
        place: CapturePlace = (first, id(self._scope(made)) if root is None else scope, *_unstepped(steps))
        return Hidden(label, place, made, root)

    def _scope(self, f: Any) -> Any:
        """What binds the value that a fetch begins with: its identity is part of a place."""
        while type(f) is partial and f.func is not default_of:
            f = f.args[0]
        if type(f) is partial:
            return f.args[0]
        if type(f) is FreeName:
            return f.cells.get(f.name, f.names)
        if type(f) is Attribute:
            return f.x
        if type(f) is OfClass:
            return f.kind
        raise NotEncodable(f"the place of {f!r}")


_STEPS: dict[str, Callable[..., Any]] = {
    "item": item_of, "attribute of": attribute_of, "own attribute of": own_attribute_of,
    "answer of": answer_of,
}  # fmt: skip
_STEP_NAMES = {f: name for name, f in _STEPS.items()}
_KEYS: dict[str, type] = {"int": int, "str": str}


def _steps(place: Sequence[Any]) -> Data:
    """The rest of a place: numbers, words, and the classes of keys."""
    found = []
    for x in place:
        if x in _KEYS.values():
            found.append(["class", x.__name__])
        elif type(x) in (int, str):
            found.append(["is", x])
        else:
            raise NotEncodable(f"a place with {x!r}")
    return found


def _unstepped(steps: Data) -> Iterator[Any]:
    return (_KEYS[x] if kind == "class" else x for kind, x in steps)


def fetchable(fetch: Callable[[], Any]) -> Any:
    """What a fetch gives now. Raises Stale where it gives nothing."""
    try:
        return fetch()
    except (LookupError, AttributeError, NameError, ValueError, TypeError) as error:
        raise Stale(str(error)) from None

