"""What names hold in a trace besides arrays and numbers: functions, bound methods, texts, messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tracebuf.frontends.numpy.call import talk
from tracebuf.frontends.numpy.call.arguments import Leaf
from tracebuf.frontends.numpy.record.cond import Cond, ends
from tracebuf.frontends.numpy.record.heap import Record, TextArray
from tracebuf.frontends.numpy.record.raises import ask
from tracebuf.frontends.numpy.record.regions import Kept, Regions, Site
from tracebuf.frontends.numpy.record.values import (
    BOOL,
    EITHER,
    UNSURE_TYPES,
    ArrayRef,
    Env,
    Kind,
    PyBool,
    PyInt,
    Scalar,
)
from tracebuf.frontends.numpy.source.binding import parameters_in
from tracebuf.frontends.numpy.source.source import Source
from tracebuf.frozen import frozen, plain
from tracebuf.location import Location
from tracebuf.running.host import Passed
from tracebuf.running.kept import kept
from tracebuf.running.labels import array_of, item_of


@frozen(slots=False)
class Method:
    """A bound method of a traced array, or (`of_number`) of a number, whose results without axes are numbers."""

    ref: ArrayRef
    name: str
    of_number: bool = False


@frozen(eq=False, slots=False)
class NestedFunction:
    """A function or lambda defined inside a traced function; free names are looked up where it was defined."""

    source: Source
    name: str
    lookup: Callable[[str], Any]
    defaults: dict[str, Any]
    names: dict[str, Any] | None = None
    """The names of its module, if it is the user's."""

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Env:
        """Parameters bound to arguments; TypeError as Python's."""
        p = parameters_in(self.source.node.args)
        defaults = tuple(self.defaults[n] for n in (*p.first, *p.plain) if n in self.defaults)
        named = {n: self.defaults[n] for n in p.named if n in self.defaults}
        return dict(zip(p.all, ask(p.bind, self.name, defaults, named, args, kwargs)))


def closure_of(function: Any) -> Any:
    """What tells the scope of a function, or method, apart from those of others of the same code."""
    of = getattr(function, "__func__", None) or getattr(function, "function", function)
    return of.lookup if isinstance(of, NestedFunction) else of


@plain(eq=False)
class Generator:
    """An iterator that a generator function of the user's gives: `run` traces the function, and what it is given for
    each `yield`, with the value; its second argument is None, or has what says that the consumer has left its loop. To
    be consumed once, in the region (`frame`) that it was made in."""

    name: str
    run: Callable[[Callable[[Any], None], Any], None]
    frame: Any
    done: bool = False
    scope: Any = None
    """The scope of its function, of which nothing has run."""
    place: Any = None
    """Where its function was called."""


@frozen(eq=False, slots=False)
class Partial:
    """functools.partial of a function and traced arguments."""

    func: Any
    args: tuple[Any, ...]
    keywords: dict[str, Any]


@frozen(eq=False, slots=False)
class Drawer:
    """A random generator, of the class `kind`. `source`: itself, if it is from outside, else where it is when the
    program runs (functions/host/draws)."""

    kind: type
    source: Any


@frozen(eq=False, slots=False)
class Buffer:
    """An argument that is no array, and of which NumPy makes one (`is_buffer` of call/arguments): its class, its leaf,
    itself in the call that is traced, and how it is fetched, if it stands in no container."""

    kind: type
    leaf: Leaf
    of: Any
    path: Any


@frozen(eq=False, slots=False)
class NoneArray:
    """np.array(None), an array of objects without axes: what its attributes say, and nothing else, is known."""


@frozen(eq=False, slots=False)
class Draw:
    """A method of a random generator."""

    of: Drawer
    name: str


@plain(eq=False)
class Recipe:
    """How an object of a library's was made, so that one can be made of stand-ins: a function or class, its arguments,
    and the methods that were called since."""

    function: Any
    args: list[Any]
    names: tuple[str, ...]
    then: list[tuple[str, list[Any], tuple[str, ...]]]


@frozen(eq=False, slots=False)
class Untold:
    """A text or an object that a library's function gives, which only the run time knows, by its number."""

    number: PyInt
    kind: type = object
    recipe: Recipe | None = None


def are_objects_of_one_class(a: Any, b: Any) -> bool:
    """Whether two values are objects of libraries, of one class, of which is known how they were made."""
    both = isinstance(a, Untold) and isinstance(b, Untold)
    return both and a.kind is b.kind and None not in (a.recipe, b.recipe)


@frozen(eq=False, slots=False)
class UntoldMethod:
    """A method of such an object."""

    of: Untold
    name: str


@frozen(eq=False, slots=False)
class Progress:
    """A progress bar around what a loop is to iterate over, and its number among those that run."""

    over: Any
    number: PyInt


@frozen(eq=False, slots=False)
class Part:
    """A part of a text that only the run time knows: a number, the elements of an array as they were, or a text, after
    a conversion (`r`, `s`, `a`, or none) in a format. None as its value: what no run knows either (an address).
    `template`: what the message of an exception has for it, a {} for a number; "" where no message can have it."""

    value: Scalar | ArrayRef | Text | Made | Cond[Any] | None
    conversion: str = ""
    spec: str = ""
    template: str = ""


@frozen(eq=False, slots=False)
class SetOfOne:
    """A set of one tuple of sizes, as of the shapes of arrays that a guard tells to be equal, made at a place. Its
    length and its item are all that is known of it; for more it becomes a set of ints, which are part of the key then.
    """

    item: tuple[Any, ...]
    place: Location


@frozen(eq=False, slots=False)
class Made:
    """A text, or a list of such, that a function of Python's or NumPy's makes of arguments, which cannot fail, where it
    is shown."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class MadeError(Made):
    """An exception that the function has made, of values that only the run time knows, and has not raised."""


@frozen(eq=False, slots=False)
class Text:
    """A text of which parts are known only at run time."""

    parts: tuple[str | Part, ...]

    @property
    def known(self) -> str | None:
        """The text, where all of it is known."""
        return None if self.open else "".join(p for p in self.parts if isinstance(p, str))

    @property
    def open(self) -> tuple[Part, ...]:
        """The parts that are not known."""
        return tuple(p for p in self.parts if isinstance(p, Part))

    @property
    def exact(self) -> bool:
        """Whether the message of an exception can have it as eager does."""
        return all(p.template for p in self.open)

    @property
    def template(self) -> str:
        """Its form in the message of an exception: a {} for each number."""
        return "".join(escaped(p) if isinstance(p, str) else p.template or "..." for p in self.parts)

    @property
    def numbers(self) -> list[Scalar]:
        """The numbers that its template is for."""
        return [p.value for p in self.open if p.template and isinstance(p.value, Scalar)]


def made_text(function: Callable[..., str], args: Sequence[Any], kwargs: dict[str, Any] | None = None) -> Text:
    """A text that a function makes where it is shown."""
    return Text((Part(Made(function, tuple(args), kwargs or {})),))


def shown_label(x: Record) -> Made:
    """An array of text, or a text out of one (interpreter/lists/labels), made where it is shown."""
    if issubclass(x.kind, TextArray):
        return Made(array_of, (x.fields["letters"], x.fields["codes"], x.kind.dtype.str), {})
    return Made(item_of, (x.fields["letters"], x.fields["code"]), {})


def text_of_loop(number: PyInt) -> Text:
    """The text that a loop adds to, by its number among what is kept."""
    return made_text(kept, [number])


@frozen(eq=False, slots=False)
class Caught:
    """An exception that was raised at run time, at one of these sites: the one with this number. `operands`: what their
    messages show, by name."""

    number: int | PyInt
    sites: frozenset[Site]
    operands: Mapping[str, Any]

    def exact_class(self, r: Regions) -> type[BaseException]:
        """Its class. Raises UnsupportedError where only the run time knows it."""
        found = {None if isinstance(site.message, Kept) else site.kind for site in self.sites}
        if len(found) == 1 and (kind := found.pop()) is not None:
            return kind
        raise r.refuse("the class of an exception that only the run time raises", "write a handler for each class")

    def is_a(self, r: Regions, kinds: Any) -> bool:
        """Whether it is of one of these classes."""
        if len(self.sites) == 1 and ask(issubclass, next(iter(self.sites)).kind, kinds):
            return True
        return ask(issubclass, self.exact_class(r), kinds)


def escaped(text: str) -> str:
    """Text with its braces doubled, as part of a message."""
    return text.replace("{", "{{").replace("}", "}}")


# -- texts as items of lists
PYTHONS = {"int": int, "float": float, "complex": complex, "bool": bool}
"""By name of a kind of Python's numbers: their type."""


@frozen(slots=False)
class Shape:
    """What a text is besides its numbers: its class, what it holds as such, and the shapes of its parts, which are str,
    shapes, and the kinds of numbers. Texts of one shape differ in numbers only."""

    of: type
    fixed: tuple[Any, ...]
    parts: tuple[Any, ...]

    def kinds(self) -> Iterator[Kind]:
        """The kinds of its numbers, in order."""
        if self.of is Cond:
            yield BOOL
        for part in self.parts:
            if isinstance(part, Shape):
                yield from part.kinds()
            elif isinstance(part, Kind):
                yield part

    def text(self, numbers: Iterator[Any]) -> Any:
        """The text with these numbers."""
        if self.of is Cond:
            return Cond(next(numbers).value, *(made_of(part, numbers) for part in self.parts), *self.fixed)
        made = [made_of(part, numbers) for part in self.parts]
        if self.of is Made:
            function, names = self.fixed
            first = len(made) - len(names)
            return Made(function, tuple(made[:first]), dict(zip(names, made[first:])))
        if self.of is Part:
            return Part(made[0], *self.fixed)
        return "".join(made) if all(isinstance(part, str) for part in made) else Text(tuple(made))

    def pattern(self, places: Iterator[int]) -> Any:
        """The text as a pattern, which is filled in when the program runs: its operands are those that stand for the
        numbers (`Kind.types`)."""
        if self.of is Cond:
            return talk.Chosen(next(places), tuple(pattern_of(part, places) for part in self.parts))
        made = tuple(pattern_of(part, places) for part in self.parts)
        if self.of is Made:
            return talk.Applied(self.fixed[0], made, self.fixed[1])
        return talk.Formatted(made[0], *self.fixed[:2]) if self.of is Part else talk.Written(made)


def shape_of(x: Any, numbers: list[Any]) -> Any:
    """The shape of a text, whose numbers are appended to `numbers`; what is known as it is. None for a text of anything
    else, as of arrays."""
    if isinstance(x, Scalar):
        numbers.append(x)
        return x.kind
    if isinstance(x, Text):
        found = Shape(Text, (), tuple(shape_of(part, numbers) for part in x.parts))
    elif isinstance(x, Part):
        found = Shape(Part, (x.conversion, x.spec, x.template), (shape_of(x.value, numbers),))
    elif isinstance(x, Made):
        given = (*x.args, *x.kwargs.values())
        found = Shape(Made, (x.function, tuple(x.kwargs)), tuple(shape_of(part, numbers) for part in given))
    elif type(x) is Cond:
        numbers.append(PyBool(x.condition))
        found = Shape(Cond, (x.ways,), tuple(shape_of(arm, numbers) for arm in x.arms))
    else:
        return x if type(x) in (str, int) else None
    return None if None in found.parts else found


def is_text(x: Any) -> bool:
    """Whether a value is a text on each path."""
    return all(isinstance(end, Text) or type(end) is str for end in ends(x))


def text_shape(x: Any) -> tuple[Shape, list[Any]] | None:
    """The shape of what is a text on each path, and its numbers; None for anything else."""
    if not is_text(x):
        return None
    numbers: list[Any] = []
    found = shape_of(Text((x,)) if isinstance(x, str) else x, numbers)
    unsure = any(n.kind.python == EITHER for n in numbers)
    return None if unsure or not isinstance(found, Shape) else (found, numbers)


def made_of(part: Any, numbers: Iterator[Any]) -> Any:
    """A part of a text with the next numbers."""
    return part.text(numbers) if isinstance(part, Shape) else next(numbers) if isinstance(part, Kind) else part


def pattern_of(part: Any, places: Iterator[int]) -> Any:
    """A part of a text as a pattern."""
    if isinstance(part, Shape):
        return part.pattern(places)
    if not isinstance(part, Kind):
        return part
    if part.python:
        flag = next(places)
        return talk.Weak(next(places), flag, UNSURE_TYPES[part.python][0])
    return Passed(next(places), None if part.name == "np" else PYTHONS[part.name])
