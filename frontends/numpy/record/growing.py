"""Lists whose length only the run time knows: what is known of them while tracing.

Their items are numbers, or tuples and lists of such: a column for each number (two where its type depends on the path).

A list is a list of values while a function is traced, unless a loop that is traced once changes its length, or an index
that only the run time knows picks its items. Then the function is traced again, and where that list is made, an
object takes its place (a `Record` of a class that `growing_class` makes): columns of elements, which are longer than
the list mostly, and a length; branches and loops join and carry them like the attributes of any object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeGuard

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.call.containers import is_named_tuple
from tracebuf.frontends.numpy.call.control import Control
from tracebuf.frontends.numpy.call.talk import Rows
from tracebuf.frontends.numpy.record.callees import Shape, text_shape
from tracebuf.frontends.numpy.record.cond import ends
from tracebuf.frontends.numpy.record.heap import Record
from tracebuf.frontends.numpy.record.values import (
    BOOL,
    COMPLEX,
    EITHER,
    FLOAT,
    INT,
    ArrayRef,
    Kind,
    Kinds,
    PyInt,
    axis_order,
    in_order,
    kinds_of,
    types_of,
    words_of,
)
from tracebuf.frozen import frozen
from tracebuf.ir.dims import Dim, Sym, sub, substitute, sym, symbols
from tracebuf.ir.facts import SizeFacts
from tracebuf.ir.types import I64, INDEX, UI64, ScalarType
from tracebuf.location import Location

LENGTH = "length"
"""The attribute that holds the length; the columns are others, by their numbers."""
MOST_KNOWN = 32
"""The most items of a list whose length is made part of the key at once."""
MOST_IN_ROW = 32
"""The most items of a list of items that are not alike, where it is an item of a list."""
MOST_LOST = 30_000
"""The most statements that are traced in attempts that are discarded, and half of the most in all: they take tens of
seconds."""
MOST_UNROLLED = 100
"""So many iterations are traced one by one before it is tried without."""
TABLE = "table"
"""The attribute of a dict or set by run-time keys that holds the hash table; items are pairs, or tuples of a key."""


@frozen()
class Several:
    """What an item is that is a tuple, a named tuple or a list: its class, and what each of its parts is."""

    of: type
    parts: tuple[Form, ...]

    @property
    def types(self) -> tuple[ScalarType, ...]:
        """The types of the SSA values that stand for the item."""
        return tuple(t for part in self.parts for t in part.types)

    @property
    def words(self) -> str:
        """For messages."""
        return f"a {self.of.__name__} of ({', '.join(part.words for part in self.parts)})"


@frozen()
class Elements:
    """What an item is that is an array in C order: its element type and shape."""

    element: ScalarType
    shape: tuple[Dim, ...]

    @property
    def types(self) -> tuple[ScalarType, ...]:
        """The type of its elements, of which there is one column."""
        return (self.element,)

    @property
    def words(self) -> str:
        """For messages."""
        return f"an array of {self.element.dtype}[{', '.join(map(str, self.shape))}]"


@frozen()
class Ragged:
    """What an item is that is an array whose first axis is of any length: the number of a list of its elements, or of
    its parts along that axis (`item`), as of lists that are items."""

    item: Kind | Elements

    @property
    def element(self) -> ScalarType:
        """The element type."""
        return self.item.element

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The sizes that all have."""
        return self.item.shape if isinstance(self.item, Elements) else ()

    @property
    def types(self) -> tuple[ScalarType, ...]:
        """The type of the number."""
        return (I64,)

    @property
    def words(self) -> str:
        """For messages."""
        axes = f"{1 + len(self.shape)} axes" if self.shape else "one axis"
        return f"an array of {self.element.dtype} of {axes}"


def ragged_of(form: Elements) -> Ragged:
    """The form of arrays like one, but of any length."""
    rest = form.shape[1:]
    return Ragged(Elements(form.element, rest) if rest else Kind("np", form.element))


@frozen()
class OneOf:
    """What an item is that is a number of one of several kinds, or None: which one is in columns of flags."""

    kinds: Kinds

    @property
    def types(self) -> tuple[ScalarType, ...]:
        """The types of the flags, of which there is one for each kind but the last, and of the numbers."""
        return tuple(types_of(self.kinds))

    @property
    def words(self) -> str:
        """For messages."""
        return words_of(self.kinds)


@frozen()
class Texts:
    """What an item is that is a text: of one of these shapes. Which one is in the first column, if there are several;
    its numbers are in the others. Known texts are in order, so that their numbers compare as they do."""

    shapes: tuple[Shape, ...]

    @property
    def types(self) -> tuple[ScalarType, ...]:
        """The types of the columns, of which there is one at least."""
        numbers = [t for shape in self.shapes for kind in shape.kinds() for t in kind.types]
        return (INDEX, *numbers) if len(self.shapes) > 1 or not numbers else tuple(numbers)

    @property
    def known(self) -> tuple[str, ...]:
        """The texts, if all are known; else nothing."""
        found = [shape.text(iter(())) for shape in self.shapes if not any(shape.kinds())]
        known = tuple(x for x in found if isinstance(x, str))
        return known if len(known) == len(self.shapes) else ()

    @property
    def rows(self) -> Rows:
        """How the texts are made of the columns, when the program runs."""
        counts = [sum(len(kind.types) for kind in shape.kinds()) for shape in self.shapes]
        return Rows(tuple((shape.pattern(iter(range(n))), n) for shape, n in zip(self.shapes, counts)))

    @property
    def words(self) -> str:
        """For messages."""
        return "a text"


@frozen()
class Lists:
    """What an item is that is a list itself: a reference, the number of a list among all whose items are of this form
    (interpreter/lists/references)."""

    item: Form | Unfilled

    @property
    def types(self) -> tuple[ScalarType, ...]:
        """The type of the number."""
        return (I64,)

    @property
    def words(self) -> str:
        """For messages."""
        return "an empty list" if isinstance(self.item, Unfilled) else f"a list of items that are {self.item.words}"


@frozen()
class Dicts:
    """What an item is that is a dict of known keys, or a list of items that are not alike (`of`), whose keys are their
    places: a reference, the number of a dict or list among all of this form (interpreter/lists/rows)."""

    keys: tuple[Any, ...]
    values: Several
    of: type = dict

    @property
    def types(self) -> tuple[ScalarType, ...]:
        """The type of the number."""
        return (I64,)

    @property
    def words(self) -> str:
        """For messages."""
        if self.of is list:
            return f"a list of ({', '.join(part.words for part in self.values.parts)})"
        return f"a dict of ({', '.join(f'{k!r}: {part.words}' for k, part in zip(self.keys, self.values.parts))})"


@frozen()
class Unfilled:
    """What the items are of lists made at a place, into which nothing is put as far as is known."""

    place: Location


Leaf = Kind | OneOf | Elements | Ragged | Texts | Lists | Dicts
"""What has columns of its own in such a list."""
Form = Leaf | Several
"""What an item of a growing list is besides its value."""
ARRAYS = (Elements, Ragged)
"""The forms of arrays."""
NOTHING = Several(tuple, ())
"""The form of the items of a deque, dict or set into which nothing is ever put."""


def form_of(
    x: Any, canon: Callable[[Dim], Dim], inner: Callable[[Any], Form | Unfilled | None] | None = None,
    around: tuple[Any, ...] = (),
) -> Form | None:
    """The form of an item, of sizes in one expression each (`canon`); None for what such a list does not hold. `inner`:
    that of the items of a list that is one, where such are references; `around`: the lists that the item is in."""
    if any(x is y for y in around):
        return None
    if inner is not None and type(x) is list and (mark := mark_in(x)) is not None and "to" in mark.fields:
        x = mark.fields["to"]
    if inner is not None and is_row(x):
        return x.kind.pool  # type: ignore[attr-defined, no-any-return]
    if inner is not None and is_list(x):
        within = inner(x)
        return Lists(within) if within is not None else row_of(x, canon, inner, (*around, x))
    if inner is not None and type(x) is dict:
        values = form_of(tuple(x.values()), canon, inner, (*around, x))
        return Dicts(tuple(x), values) if isinstance(values, Several) else None
    if isinstance(x, ArrayRef):
        fits = x.ndim and not any(end.storage.picked for end in ends(x)) and in_c_order(x)
        return Elements(x.element, tuple(map(canon, x.shape))) if fits else None
    if type(x) not in (tuple, list) and not is_named_tuple(x):
        if (found := text_shape(x)) is not None:
            known = all(type(end) is str for end in ends(x))
            return known_texts(ends(x)) if known else Texts(shapes_of(ends(x)) or (found[0],))
        kinds = kinds_of(x)
        return None if kinds is None else one_of(kinds)
    parts = [f for f in (form_of(part, canon, inner, (*around, x)) for part in x) if f is not None]
    return Several(type(x), tuple(parts)) if parts and len(parts) == len(x) else None


def row_of(
    x: Any, canon: Callable[[Dim], Dim], inner: Callable[[Any], Form | Unfilled | None], around: tuple[Any, ...]
) -> Dicts | None:
    """The form of a list of a few items that are not alike; None for what is no such list."""
    values = form_of(tuple(x), canon, inner, around) if type(x) is list and 0 < len(x) <= MOST_IN_ROW else None
    return Dicts(tuple(range(len(x))), values, list) if isinstance(values, Several) else None


def known_texts(texts: Iterable[str]) -> Texts:
    """The form of known texts."""
    return Texts(shapes_of(sorted(set(texts))))


def shapes_of(texts: Iterable[Any]) -> tuple[Shape, ...]:
    """The shapes of texts."""
    return tuple(dict.fromkeys(found[0] for x in texts if (found := text_shape(x)) is not None))


PYTHONS = {kind.name: kind for kind in (INT, FLOAT, COMPLEX, BOOL)}
"""By name: the kinds of Python's numbers."""


def one_of(kinds: Kinds) -> Kind | OneOf | None:
    """The form of numbers of these kinds, or None; None where it is not certain which numbers are Python's."""
    if len(kinds) == 1 and kinds[0] is not None:
        return kinds[0]
    if any(k is not None and k.python and (k.python == EITHER or k.element is UI64) for k in kinds):
        return None
    pythons = [PYTHONS[k.python] for k in kinds if k is not None and k.python]
    return OneOf(in_order((*(k if k is None else Kind(k.name, k.element) for k in kinds), *pythons)))


def in_c_order(x: ArrayRef) -> bool:
    """Whether a copy of an array, in C order, has its axes as the array has them."""
    return all(axis_order([(end, range(x.ndim))], x.ndim) == tuple(range(x.ndim)) for end in ends(x))


def parts_of(form: Form) -> tuple[Leaf, ...]:
    """The numbers and arrays that an item consists of, in order."""
    return tuple(k for part in form.parts for k in parts_of(part)) if isinstance(form, Several) else (form,)


def inner_forms(form: Form) -> list[Form | Unfilled]:
    """The forms of the items of lists, and of the values of dicts, in an item."""
    inside = (p.item if isinstance(p, Lists) else p.values for p in parts_of(form) if isinstance(p, (Lists, Dicts)))
    return list(inside)


def arrays_of(form: Form | Unfilled) -> list[Elements | Ragged]:
    """The arrays that an item consists of, and those in lists in it."""
    if isinstance(form, Unfilled):
        return []
    inside = [p.item if isinstance(p, Lists) else p.values if isinstance(p, Dicts) else p for p in parts_of(form)]
    return [e for p in inside for e in ([p] if isinstance(p, ARRAYS) else [] if is_number(p) else arrays_of(p))]


def axes_of(form: Elements | Ragged) -> int:
    """How many axes an item has."""
    return len(form.shape) + isinstance(form, Ragged)


def ragged(form: Form, is_known: Callable[[Form], bool]) -> Form:
    """A form with arrays of any length in the place of those of which, where a list is made, all of the shape is known
    but the length."""
    if isinstance(form, Several):
        return Several(form.of, tuple(ragged(p, is_known) for p in form.parts))
    if not isinstance(form, Elements) or is_known(form):
        return form
    return found if is_known(found := ragged_of(form)) else form


def is_number(form: Form | Unfilled) -> bool:
    """Whether an item is a number or a text."""
    return isinstance(form, (Kind, OneOf, Texts))


def with_sizes(form: Form, env: Mapping[Sym, Dim]) -> Form:
    """A form with other symbols in the place of those of sizes."""
    if isinstance(form, Lists):
        return form if isinstance(form.item, Unfilled) else Lists(with_sizes(form.item, env))
    if isinstance(form, Dicts):
        return Dicts(form.keys, with_sizes(form.values, env), form.of)  # type: ignore[arg-type]
    if isinstance(form, Elements):
        return Elements(form.element, tuple(substitute(d, env) for d in form.shape))
    if isinstance(form, Ragged):
        return Ragged(with_sizes(form.item, env))  # type: ignore[arg-type]
    return Several(form.of, tuple(with_sizes(p, env) for p in form.parts)) if isinstance(form, Several) else form


def holds_list(x: Any) -> bool:
    """Whether an item is a list or dict, or a tuple that holds one."""
    return is_list(x) or type(x) is dict or is_row(x) or (isinstance(x, tuple) and any(map(holds_list, x)))


class GrowingList:
    """The class of the objects that stand for such lists; its subclasses say of which form the items are."""

    items: Form
    python: type = list
    """The class that eager has: list, tuple or deque."""
    most: Dim | None = None
    """The most items that a deque holds."""
    default: Any = None
    """What a dict's missing items are made by: of a defaultdict, or Counter."""


def is_growing(x: object) -> TypeGuard[Record]:
    """Whether a value stands for a list whose length only the run time knows, or a dict or set by run-time keys."""
    return isinstance(x, Record) and issubclass(x.kind, GrowingList)


def is_keyed(x: object) -> TypeGuard[Record]:
    """Whether a value stands for a dict or set whose keys only the run time knows."""
    return is_growing(x) and issubclass(python_of(x), (dict, set))


def with_sizes_in(item: Form | Unfilled, env: Mapping[Sym, Dim]) -> Form | Unfilled:
    """As `with_sizes`, of the items of lists."""
    return item if isinstance(item, Unfilled) else with_sizes(item, env)


class InnerList:
    """The class of references to lists that are items of lists; its subclasses say of which form their items are. Which
    list it is: the attribute `number`."""

    pool: Form | Unfilled


class InnerDict(InnerList):
    """The class of references to dicts, or lists of items that are not alike, that are items of lists; `pool` is their
    form."""


class Moved:
    """The class of what is in the place of the contents of a list that has become an item: the attribute `to` is a
    reference to it; without it, the list has become one on some paths only, and may not be used any more."""


def is_inner(x: object) -> TypeGuard[Record]:
    """Whether a value is a reference to a list, or a dict, that is an item of a list."""
    return isinstance(x, Record) and issubclass(x.kind, InnerList)


def is_row(x: object) -> TypeGuard[Record]:
    """Whether a value is a reference to a dict, or a list of items that are not alike, that is an item of a list."""
    return isinstance(x, Record) and issubclass(x.kind, InnerDict)


def row_type(x: Record) -> type:
    """The class that eager has for such an item: dict or list."""
    return x.kind.pool.of  # type: ignore[attr-defined, no-any-return]


def mark_in(held: Any) -> Record | None:
    """What is in the place of the contents of a list that has become an item, of such contents; None for others."""
    if isinstance(held, dict):
        found = held.get("moved")
    else:
        found = held[0] if isinstance(held, (list, tuple)) and len(held) == 1 else None
    return found if isinstance(found, Record) and found.kind is Moved else None


def moved_to(r: Any, x: Any) -> Any:
    """A value; of a list that has become an item, the reference to it."""
    if (mark := mark_in(x.fields if isinstance(x, Record) else x)) is None:
        return x
    if "to" not in mark.fields:
        raise r.refuse("a list has become an item of another on some paths only", "copy it: items.append(list(x))")
    return mark.fields["to"]


def is_list(x: object) -> bool:
    """Whether a value is a list, or stands for one."""
    if is_inner(x):
        return not is_row(x) or row_type(x) is list
    return type(x) is list or (is_growing(x) and python_of(x) is list)


def form_in(x: Record) -> Form:
    """The form of the items of such a list."""
    form: Form = x.kind.items  # type: ignore[attr-defined]
    return form


def python_of(x: Record) -> type:
    """The class that eager has for such a list."""
    return x.kind.python  # type: ignore[attr-defined, no-any-return]


def columns(x: Record) -> list[Any]:
    """The columns of elements."""
    return [c for name, c in x.fields.items() if name not in (LENGTH, TABLE)]


def size(x: Record) -> Dim:
    """The length, as a size."""
    n = x.fields[LENGTH]
    return n.expr if isinstance(n, PyInt) else int(n)


def filled(facts: SizeFacts, x: Record) -> list[ArrayRef]:
    """The parts of the columns that hold the items."""
    n, found = size(x), []
    facts.assume_nonneg(n)
    for column in columns(x):
        facts.assume_nonneg(sub(column.shape[0], n))
        found.append(column.derive(lambda view: view.narrow(0, 0, 1, n)))
    return found


class Regrow(Control):
    """A list grows, or holds numbers, otherwise than was known: the function has to be traced again."""


class Sized(Control):
    """A list is as long as an int or a size of the call says, and long: its length is better left to the run time."""


class Effort:
    """How much of the tracing of one call was in vain: loops are traced until a plan fits them, and the whole function
    again for lists that grow. In loops inside one another attempts multiply."""

    __slots__ = ("lost", "parts", "statements")

    def __init__(self) -> None:
        self.statements = 0
        """How many were traced."""
        self.lost = 0
        """How many of these were traced in attempts that are discarded."""
        self.parts = 0

    @property
    def kept(self) -> int:
        return self.statements - self.lost

    def discard(self, kept: int) -> None:
        """Notes that what was traced since so many statements were kept is discarded."""
        self.lost = self.statements - kept

    def note_part(self) -> None:
        """Counts an object of those that an array is, by the path, where paths join: they may be hundreds; ten take the
        time of a statement."""
        self.parts += 1
        if self.parts % 10 == 0:
            self.statements += 1

    @property
    def is_spent(self) -> bool:
        return self.lost > MOST_LOST or self.statements > 2 * MOST_LOST

    def check(self) -> None:
        """Counts a statement. Raises UnsupportedError where there were too many."""
        self.statements += 1
        if self.is_spent:
            raise UnsupportedError(
                f"tracing takes too long: it came to {self.statements} statements, {self.lost} of them in attempts "
                "that do not fit, as what names and lists hold differs from iteration to iteration, in loops inside "
                "one another",
                instead="make lists of one kind and length before the loops, or arrays of them, or move inner loops "
                "into a function of its own",
            )


class Growth:
    """What tracings of one call have found: the lists that grow, by where they are made, with the forms of their
    items."""

    def __init__(self, sized: bool | None = None, effort: Effort | None = None) -> None:
        self.effort = effort or Effort()
        self.sized = sized
        """Whether lists that are as long as ints or sizes of the call say are of run-time length, so that the program
        serves them all; None: not decided, `Sized` where one is long."""
        self.known: dict[Location, frozenset[Form]] = {}
        self.found: dict[Location, frozenset[Form]] = {}
        """What is known from the next tracing on."""
        self.classes: dict[tuple[Form, type, Dim | None, Any], type[GrowingList]] = {}
        self.named_tuples: dict[tuple[Location, str], type] = {}
        """The classes of named tuples that the function makes, by where and of what: each is one in all tracings."""
        self.inner_classes: dict[Form | Unfilled, type[InnerList]] = {}
        self.bindings: Mapping[Sym, Any] = {}
        """What each symbol of a size is at a call."""
        self.canon: Callable[[Dim], Dim] = lambda d: d
        self.rolled: frozenset[Location] = frozenset()
        """Where lists are made item by item in a loop: of so many items, or of those that data select."""
        self.long: set[Location] = set()
        """Those of the next tracing."""
        self.unsure: frozenset[Location] = frozenset()
        """Where statements are that are traced once for a list with items and once without: the array of an empty list
        is of float64, and has one axis."""
        self.found_unsure: set[Location] = set()
        """Those of the next tracing."""
        self.stepped: frozenset[Location] = frozenset()
        """Where iterators are made from which items are taken here and there (interpreter/lists/cursors)."""
        self.found_stepped: set[Location] = set()
        """Those of the next tracing."""
        self.changing: frozenset[Location] = frozenset()
        """Where loops are whose lists change in their bodies."""
        self.found_changing: set[Location] = set()
        """Those of the next tracing."""
        self.unlike = False
        """Whether the refusal that is on its way says that a value is of one type or another."""
        self.made = False
        """Whether there is any such list in the program."""
        self.stuck = False
        """Whether the refusal that is on its way says that items are too many, or that data select them."""
        self.unordered = False
        """Whether the refusal that is on its way says that tuples have no order."""
        self.recursive: dict[Any, Any] = {}
        """The functions that call themselves, to a depth that only the run time knows (`Known` of recursion)."""
        self.unrolled = 0
        """How many iterations were traced one by one."""
        self.hurried = self.patient = False
        """Whether that was given up for lists whose length the run time knows; whether it is not to be."""
        self.nested = self.found_nested = False
        """Whether lists that are items are references, and from the next tracing on."""
        self.widened: dict[Form | Unfilled, Form] = {}
        """By the form of the items of such lists: the wider one that they are found to have."""
        self.found_widened: dict[Form | Unfilled, Form] = {}
        """From the next tracing on."""
        self.inner_form: Callable[[Any], Form | Unfilled | None] | None = None
        """The form of the items of a list that is an item."""
        self.changing_tables: frozenset[int] = frozenset()
        """The numbers of lists of lists of the caller's that change, or whose lists do."""
        self.found_changing_tables: set[int] = set()
        """Those of the next tracing."""
        self.arguments: dict[int, frozenset[Form]] = {}
        """By number of a list of the caller's that is one whose items the run time picks or changes: their forms."""
        self.found_arguments: dict[int, frozenset[Form]] = {}
        """From the next tracing on."""
        self.forked = False
        """Whether there is an array of a list that has another type where the list is empty."""
        self.assumes_items = False
        """Whether such lists are taken to have items, for what works with either type cannot be traced; the program
        refuses one without."""
        self.mixed = self.as_rows = False
        """Whether lists that are items have numbers of several types; whether each place in those that are short has a
        type of its own (interpreter/lists/rows)."""
        self.any_lengths = True
        """Whether lists may hold arrays of any length."""
        self.loops_return = self.returns_after_loops = False
        """Whether loops return; whether what they return is evaluated after them (source/returns)."""
        self.groups: set[Location] = set()
        """Where a defaultdict(list) is made whose lists are not like others (interpreter/lists/groups)."""
        self.untraced: dict[Any, UnsupportedError] = {}
        """The functions of SciPy that are called as they are, and why they cannot be traced."""

    @property
    def holds_ragged(self) -> bool:
        """Whether some of them may be of any length."""
        return any(isinstance(a, Ragged) for forms in self.known.values() for f in forms for a in arrays_of(f))

    def leave(self, function: Any, refusal: UnsupportedError) -> None:
        """Notes that a function of SciPy's cannot be traced, unless growing lists are why: traces again."""
        if self.has_news:
            raise refusal
        self.untraced[function] = refusal.with_traceback(None)
        raise Regrow

    def return_after_loops(self) -> bool:
        """Begins a tracing in which what loops return is evaluated after them, after one that was refused; whether any
        does."""
        if self.returns_after_loops or not self.loops_return:
            return False
        self.returns_after_loops = True
        self.begin()
        return True

    def list_groups(self) -> bool:
        """Begins a tracing in which the lists of each defaultdict(list) are like others, after one that was refused;
        whether there are any."""
        if self.groups <= self.rolled:
            return False
        self.long |= self.groups
        self.found, self.found_nested = {}, True
        self.begin()
        return True

    def assume_items(self) -> bool:
        """Begins a tracing for lists that have items, after one that was refused; whether there is a point in that."""
        if self.assumes_items or not self.forked:
            return False
        self.assumes_items, self.any_lengths, self.found = True, True, {}
        self.begin()
        return True

    def take_as_rows(self) -> bool:
        """Begins a tracing in which lists of numbers that are items have a type for each place, after one that was
        refused; whether there are such."""
        if self.as_rows or not self.mixed:
            return False
        self.as_rows, self.found, self.found_widened = True, {}, {}
        self.begin()
        return True

    def enter(self, bindings: Mapping[Sym, Any], canon: Callable[[Dim], Dim]) -> bool:
        """Begins a tracing, with symbols of its own; whether arrays are known to be in such lists."""
        now = {binding: s for s, binding in bindings.items()}
        env = {s: sym(now[binding]) for s, binding in self.bindings.items() if binding in now}
        for forms in (self.known, self.found):
            forms.update((label, frozenset(with_sizes(f, env) for f in old)) for label, old in forms.items())
        for widened in (self.widened, self.found_widened):
            pairs = [(with_sizes_in(old, env), with_sizes(new, env)) for old, new in widened.items()]
            widened.clear()
            widened.update(pairs)
        self.bindings, self.canon, self.classes, self.inner_classes = bindings, canon, {}, {}
        return self.holds_arrays

    @property
    def holds_arrays(self) -> bool:
        """Whether such lists have arrays in their items, which are copied into them."""
        return any(arrays_of(f) for forms in self.known.values() for f in forms)

    def form_of(self, x: Any) -> Form | None:
        """The form of an item; None for what such a list does not hold."""
        return form_of(x, self.canon, self.inner_form if self.nested else None)

    def class_of_inner(self, item: Form | Unfilled) -> type[InnerList]:
        """The class of references to lists of such items; its name is for messages."""
        name, base = (item.of.__name__, InnerDict) if isinstance(item, Dicts) else ("list", InnerList)
        made = type(name, (base,), {"pool": item})
        return self.inner_classes.setdefault(item, made)

    def widen(self, old: Form | Unfilled, new: Form) -> None:
        """Notes that lists that are items, of items of one form, get those of a wider one. Raises UnsupportedError for
        a list among whose items are lists like itself, as of one that is put into itself."""
        if self.settled(old) == (new := self.settled(new)):
            return
        known: list[Form | Unfilled] = [new]
        for form in known:  # and what these are found to become
            found = self.found_widened.get(form, form)
            inside = [found] if isinstance(found, Unfilled) else inner_forms(found)
            known += [x for x in inside if x not in known]
        if old in known[1:]:
            reason = "a list gets itself, or lists that are made where it is, so that how deep they go is not known"
            raise UnsupportedError(reason, instead="keep numbers of lists in place of the lists, or arrays")
        self.found_widened[old] = new

    def settled(self, item: Any) -> Any:
        """A form as it is with what is known of the items of lists in it."""
        while item in self.widened:
            item = self.widened[item]
        if isinstance(item, Lists):
            return Lists(self.settled(item.item))
        if isinstance(item, Dicts):
            return Dicts(item.keys, self.settled(item.values), item.of)
        return Several(item.of, tuple(map(self.settled, item.parts))) if isinstance(item, Several) else item

    def class_of(
        self, form: Form, python: type = list, most: Dim | None = None, default: Any = None
    ) -> type[GrowingList]:
        """The class of growing lists of items of a form; its name is for messages."""
        made = type(
            python.__name__, (GrowingList,), {"items": form, "python": python, "most": most, "default": default}
        )
        return self.classes.setdefault((form, python, most, default), made)

    def leaves(self, n: int | None) -> bool:
        """Whether the length of a list that has so many items in this call is left to the run time; not that of an
        empty one, of which less is known."""
        if self.sized is None and n is not None and n > MOST_KNOWN:
            raise Sized
        return bool(self.sized and n)

    def is_known_size(self, form: Form) -> bool:
        """Whether the sizes of the arrays in an item are known where a list is made: they are those of arguments."""
        sizes = [d for p in arrays_of(form) for d in p.shape]
        return all(symbols(d) <= self.bindings.keys() for d in sizes)

    def note(self, label: Any, items: Iterable[Any]) -> bool:
        """Notes that the list made at a place grows, and what is in it; whether that is news. Lists of items without a
        form are left as they are."""
        if isinstance(label, tuple) and label[0] == "argument":
            return self.note_argument(label[1], items)
        forms, lists = self.forms(label, items := list(items)), any(map(holds_list, items))
        if forms is None or not isinstance(label, Location):
            self.found_nested |= lists and isinstance(label, Location)
            return lists and not self.nested
        old = self.found.get(label, frozenset())
        self.found[label] = old.union(map(self.settled, forms))
        self.found_nested |= lists and self.found[label] == self.known.get(label)
        self.found_nested |= any(isinstance(p, Ragged) for f in forms for p in parts_of(f))
        return self.found[label] != old or self.found_nested != self.nested

    def note_argument(self, number: int, items: Iterable[Any]) -> bool:
        """Notes that the run time picks or changes items of a list of the caller's; whether that is news."""
        found = [self.form_of(x) for x in items]
        forms = frozenset(f for f in found if f is not None and all(map(is_number, parts_of(f))))
        if found and all(f in forms for f in found):
            self.found_arguments[number] = self.found_arguments.get(number, frozenset()) | forms
        return self.found_arguments != self.arguments

    def note_form(self, label: Any, form: Form) -> None:
        """Notes that the list made at a place gets items of a form."""
        if isinstance(label, Location) and self.is_known_size(form):
            self.found[label] = self.found.get(label, frozenset()) | {form}

    def forms(self, label: Any, items: Iterable[Any]) -> list[Form] | None:
        """The forms of the items of the list made at a place; None where it cannot grow."""
        forms = list(map(self.form_of, items))
        found = [ragged(f, self.is_known_size) if self.any_lengths else f for f in forms if f is not None]
        known = [f for f in found if self.is_known_size(f)]
        return known if isinstance(label, Location) and len(known) == len(forms) else None

    def note_long(self, place: Location) -> None:
        """Notes that the list made at a place takes a loop, where a refusal says so."""
        if self.stuck:
            self.long.add(place)
        self.stuck = False

    def note_unrolled(self) -> None:
        """Counts iterations that are traced one by one. Where they are many, and lists whose length the run time knows
        may save them, these are tried first."""
        self.unrolled += 1
        if self.unrolled > MOST_UNROLLED and not self.patient:
            if self.has_news:
                self.hurried = True
                raise Regrow
            if self.sized is None:
                raise Sized

    def note_tuples(self, place: Location) -> None:
        """Notes that the smallest or largest of the tuples that are made at a place takes a list of them, where a
        refusal says that these have no order."""
        if self.unordered:
            self.long.add(place)
        self.unordered = False

    def note_unsure(self, place: Location) -> None:
        """Notes that the statement at a place is to be traced for lists with and without items, where a refusal says
        so."""
        if self.unlike:
            self.found_unsure.add(place)
        self.unlike = False

    @property
    def news(self) -> dict[Location, frozenset[Form]]:
        return {label: forms for label, forms in self.found.items() if forms}

    @property
    def has_news(self) -> bool:
        """Whether the next tracing would know anything new."""
        if self.found_nested != self.nested or self.found_widened != self.widened:
            return True
        if self.found_arguments != self.arguments or not self.found_stepped <= self.stepped:
            return True
        if not self.found_changing <= self.changing or not self.found_changing_tables <= self.changing_tables:
            return True
        return self.news != self.known or not self.long <= self.rolled or not self.found_unsure <= self.unsure

    def begin(self) -> bool:
        """Begins the next tracing; whether it knows anything new."""
        changed, self.unrolled = self.has_news, 0
        if self.found_nested and not self.nested:
            self.nested, self.found = True, {}
        if any(isinstance(old, Unfilled) for old in self.found_widened.keys() - self.widened.keys()):
            self.found = {}  # what lists were found to get of one that seemed to have no items
        self.widened, self.arguments = dict(self.found_widened), dict(self.found_arguments)
        self.found = {place: frozenset(map(self.settled, forms)) for place, forms in self.found.items()}
        self.known, self.rolled, self.stuck = self.news, self.rolled | self.long, False
        self.changing_tables |= self.found_changing_tables
        self.stepped, self.changing = self.stepped | self.found_stepped, self.changing | self.found_changing
        self.unsure, self.unlike, self.unordered = self.unsure | self.found_unsure, False, False
        return changed
