"""`tracebuf.spec`: what stands for an argument that is not there yet, by its dtype and the names of its sizes.

A program is traced for a call, so stand-ins become small arrays of that kind before the call is made (`examples`), with
one size for each name: sizes of different names differ, so that nothing is assumed to be equal by chance. Nothing is
run, and the arrays' contents are never read. Counterparts: jax.ShapeDtypeStruct with symbolic shapes (jax.export);
the signatures of Numba.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from math import prod
from typing import Any, Literal, get_args

import numpy as np

from tracebuf.frontends.numpy.call.arguments import has_supported_dtype
from tracebuf.frontends.numpy.call.containers import is_named_tuple, made_of
from tracebuf.frontends.numpy.call.flatten import MAX_DEPTH, MAX_LEAVES, is_object
from tracebuf.frozen import frozen
from tracebuf.ir.types import CHARS, SUPPORTED, SUPPORTED_DTYPES

Order = Literal["C", "F", "unit", "strided"]
NUMBERS = {"float": 1.5, "int": 7, "complex": 1.5 + 0.5j, "bool": True}
"""Python's numbers, with a value that stands for all."""
STARTS = (1000, 100, 30, 10, 4)
"""Where the sizes that stand for names begin: at the first of which no array has more than `ELEMENTS`."""
ELEMENTS = 2**22
_FORM = re.compile(r"\s*(?P<dtype>[\w.?]+)\s*(?P<sizes>\[.*?\])?\s*(?P<words>\(.*\))?\s*", re.DOTALL)


@frozen(checked=True)
class Spec:
    """Stands for an argument: the result of `tracebuf.spec`.

    Attributes: `text`, as it was given; `dtype`, an array's, or None; `sizes`, of an array: a name or a number for each
    axis; `number`, of no array: "float", "int", "complex", "bool", "np.float32" and so on; `order` and `writable`.
    """

    text: str
    dtype: np.dtype | None
    sizes: tuple[str | int, ...]
    number: str
    order: Order
    writable: bool

    def __repr__(self) -> str:
        options = "" if self.order == spec(self.text).order else f", order={self.order!r}"
        options += "" if self.writable == spec(self.text).writable else f", writable={self.writable}"
        return f"spec({self.text!r}{options})"

    def example(self, named: Mapping[str, int]) -> Any:
        """An argument of this kind; `named` are the sizes that have names. Raises ValueError where none can be made."""
        if self.dtype is None:
            return NUMBERS[self.number] if self.number in NUMBERS else np.dtype(self.number[3:]).type(1)
        shape = self.shape(named)
        try:
            x = self._array(shape)
        except (MemoryError, ValueError):
            reason = f"{self.text!r} is too large for an example of it: sizes {shape}"
            raise ValueError(f"{reason}; give names in the place of numbers") from None
        x.flags.writeable = self.writable
        return x

    def shape(self, named: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(named[n] if isinstance(n, str) else n for n in self.sizes)

    def _array(self, shape: tuple[int, ...]) -> np.ndarray:
        if self.order == "F":
            return np.empty(shape, self.dtype, order="F")
        if self.order == "C" or not shape:
            return np.empty(shape, self.dtype)
        *rows, columns = shape
        if self.order == "unit":
            return np.empty((*rows, columns + 1), self.dtype)[..., :columns]
        return np.empty((*rows, 2 * columns), self.dtype)[..., ::2]


def spec(text: str, *, order: Order = "C", writable: bool = True) -> Spec:
    """What stands for an argument of `f.lower`, `f.explain` and `f.trace`, alone or in a container.

    Args:
        text: of an array its dtype, by NumPy's name or code, and its sizes: `"f8[n, m]"`, `"complex128[3, n]"`,
            `"bool[]"` (no axes). A name is any size of 2 or more; where it occurs again, in another argument too, it is
            the same size. A number is itself as far as programs tell sizes apart: 0, 1, or more. Of a number its type:
            `"float"`, `"int"`, `"complex"`, `"bool"` (Python's), `"np.float32"` (NumPy's). At the end in parentheses
            there may be the two options as words: `"f8[n, m] (F, read-only)"`.
        order: of an array: "C", "F", "unit" (C, with gaps between the rows: a part of a larger array), or "strided"
            (gaps between all elements).
        writable: whether the array may be stored to.

    Numbers are not constants: one program serves all values. But where a value decides what is done (`range(n)`), that
    is found by an example (7 of "int", True of "bool"); pass a number of your own in its place where that matters.

    Raises ValueError for another text or order.

    >>> from tracebuf import bufferize, spec
    >>> step = bufferize(lambda u, dt: u[1:] - dt * u[:-1])
    >>> compiled = step.lower(spec("f8[n]"), spec("float")).compile()
    >>> compiled(np.ones(4), 0.5)
    array([0.5, 0.5, 0.5])
    >>> step.specializations()[0].calls
    1
    >>> spec("f8[n, 2m]")
    Traceback (most recent call last):
    ValueError: in 'f8[n, 2m]', '2m' (column 7) is no size: allowed are names, for any size of 2 or more, and numbers
    """
    found = _FORM.match(text)
    if found is None or found.end() < len(text):
        place = 0 if found is None else found.end()
        allowed = "allowed are dtype[sizes], with (F, read-only) and the like behind it, and a number's type"
        raise ValueError(f"{_at(text, text[place:], place)} cannot be read: {allowed}")
    order, writable = _words(text, found, order, writable)
    if order not in get_args(Order):
        raise ValueError(f"in {text!r}, the order {order!r} is none of {', '.join(get_args(Order))}")
    name, sizes = found["dtype"], found["sizes"]
    if sizes is None:
        return Spec(text, None, (), _number(text, name, found.start("dtype")), order, writable)
    return Spec(text, _dtype(text, name, found.start("dtype")), _sizes(text, sizes, found), "", order, writable)


def _at(text: str, what: str, place: int) -> str:
    return f"in {text!r}, {what!r} (column {place + 1})"


def _words(text: str, found: re.Match[str], order: Order, writable: bool) -> tuple[Order, bool]:
    for match in re.finditer(r"[^,]+", (found["words"] or "()")[1:-1]):
        word = match[0].strip()
        if word == "read-only":
            writable = False
        elif word in get_args(Order):
            order = word  # type: ignore[assignment]
        else:
            allowed = f"allowed are read-only, {', '.join(get_args(Order))}"
            raise ValueError(f"{_at(text, word, text.index(word, found.start('words')))} is no option: {allowed}")
    return order, writable


def _number(text: str, name: str, place: int) -> str:
    try:
        dtype = np.dtype(name.removeprefix("np."))
    except TypeError:
        dtype = None
    usable = dtype is not None and dtype in SUPPORTED_DTYPES and dtype.char in CHARS
    if name in NUMBERS or (usable and name.startswith("np.") and hasattr(np, name[3:])):
        return name if name in NUMBERS else f"np.{dtype.name}"  # type: ignore[union-attr]
    allowed = f"{', '.join(NUMBERS)}, and NumPy's by their names: np.float32"
    array = f"; {name}[] is an array without axes, {name}[n] one of an axis" if usable else ""
    raise ValueError(f"{_at(text, name, place)} is no type of a number: allowed are {allowed}{array}")


def _dtype(text: str, name: str, place: int) -> np.dtype:
    try:
        dtype: np.dtype = np.dtype(name.removeprefix("np."))
    except TypeError:
        dtype = np.dtype(object)
    if dtype.char not in CHARS or not has_supported_dtype(np.empty(0, dtype)):
        allowed = f"allowed are {SUPPORTED}, by NumPy's names or codes"
        raise ValueError(f"{_at(text, name, place)} is no dtype that can be compiled for: {allowed}")
    return dtype


def _sizes(text: str, sizes: str, found: re.Match[str]) -> tuple[str | int, ...]:
    made: list[str | int] = []
    inner = sizes[1:-1]
    if inner.strip() in ("", "()"):  # as Python writes an index of no axes
        return ()
    place = found.start("sizes") + 1
    for part in inner.split(","):
        size = part.strip()
        at = place + len(part) - len(part.lstrip())
        if not re.fullmatch(r"[^\W\d]\w*|[0-9]+", size):
            what = "is no size: allowed are names, for any size of 2 or more, and numbers"
            raise ValueError(f"{_at(text, size, at)} {what}")
        made.append(int(size) if size[0].isdigit() else size)
        place += len(part) + 1
    if len(made) > 64:
        raise ValueError(f"{text!r} has {len(made)} axes: NumPy's arrays have 64 at most")
    return tuple(made)


# -- examples
def examples(
    args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], dict[str, int] | None]:
    """The arguments of a call with examples in the place of specs, and the sizes by name; None where there are no
    specs.

    Containers that hold specs are copied, the others are the same.
    """
    found: dict[int, Spec] = {}
    given = (*args, *kwargs.values())
    _Places(found).of(given)
    if not found:
        return args, dict(kwargs), None
    named = sizes_of(found.values())
    stand_ins = _StandIns(named)
    made = [stand_ins.of(x) for x in given]
    return tuple(made[: len(args)]), dict(zip(kwargs, made[len(args) :])), named


def sizes_of(specs: Iterable[Spec]) -> dict[str, int]:
    """A size for each name in some specs: primes, unless there are many, that differ from one another and from the
    sizes that are given."""
    specs = list(specs)
    names = list(dict.fromkeys(n for s in specs for n in s.sizes if isinstance(n, str)))
    taken = {n for s in specs for n in s.sizes if isinstance(n, int)} | {NUMBERS["int"]}
    for start in STARTS:
        named = dict(zip(names, (p for p in _primes(start) if p not in taken)))
        if all(prod(s.shape(named)) <= ELEMENTS for s in specs):
            return named
    return dict(zip(names, (n for n in count(2) if n not in taken)))


def _primes(start: int) -> Iterator[int]:
    return (k for k in count(start) if all(k % d for d in range(2, int(k**0.5) + 1)))


def _items(x: Any) -> Mapping[Any, Any] | None:
    """What a container holds, by its place; None of anything else."""
    kind = type(x)
    if kind is dict:
        return x  # type: ignore[no-any-return]
    if kind in (list, tuple) or is_named_tuple(x):
        return dict(enumerate(x)) if len(x) <= MAX_LEAVES else {}
    if not is_object(x):
        return None
    slots = (n for c in kind.__mro__ for n in _slots(c) if hasattr(x, n))
    return {**{n: getattr(x, n) for n in slots}, **getattr(x, "__dict__", {})}


def _slots(kind: type) -> tuple[str, ...]:
    names = vars(kind).get("__slots__", ())
    return tuple(n for n in ((names,) if isinstance(names, str) else names) if n not in ("__dict__", "__weakref__"))


class _Places:
    """Finds the specs in containers, and notes them by their ids."""

    def __init__(self, found: dict[int, Spec]) -> None:
        self.found = found
        self.seen: dict[int, Any] = {}

    def of(self, x: Any, depth: int = 0) -> None:
        if isinstance(x, Spec):
            self.found[id(x)] = x
        elif id(x) not in self.seen and depth <= MAX_DEPTH and (items := _items(x)) is not None:
            self.seen[id(x)] = x
            for item in items.values():
                self.of(item, depth + 1)


class _StandIns:
    """Arguments with examples in the place of specs. A container that occurs again stays one."""

    def __init__(self, named: Mapping[str, int]) -> None:
        self.named = named
        self.made: dict[int, tuple[Any, Any]] = {}

    def of(self, x: Any, depth: int = 0) -> Any:
        if isinstance(x, Spec):
            return x.example(self.named)
        if id(x) in self.made:
            return self.made[id(x)][1]
        if depth > MAX_DEPTH or (items := _items(x)) is None:
            return x
        self.made[id(x)] = x, x  # what holds itself is refused later
        changed = {k: new for k, item in items.items() if (new := self.of(item, depth + 1)) is not item}
        result = self._copy(x, changed) if changed else x
        self.made[id(x)] = x, result
        return result

    def _copy(self, x: Any, changed: Mapping[Any, Any]) -> Any:
        if isinstance(x, tuple):
            items = [changed.get(k, item) for k, item in enumerate(x)]
            return made_of(type(x), items)
        result = copy.copy(x)
        for k, item in changed.items():
            if isinstance(x, (list, dict)):
                result[k] = item
            else:
                object.__setattr__(result, k, item)
        return result
