"""Methods and objects: attributes are fetched at each call, methods are inlined, what is set is set after the call."""

from __future__ import annotations

import dataclasses
import functools
import math
import types
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.arrays import line
from tests.support.params import one_in
from tracebuf import UnsupportedError, bufferize


class Base:
    scale = 2.0

    def __init__(self, n: int = 4) -> None:
        self.x, self.log = line(n), []
        self.name = "base"

    def rate(self, x: Any) -> Any:
        return -x

    def advance(self, dt: float) -> Base:
        self.x = self.x + dt * self.rate(self.x) * self.scale
        return self


class Sim(Base):
    def __init__(self, n: int = 4) -> None:
        super().__init__(n)
        self.v, self.t, self.steps, self.last = np.zeros(n), 0.0, 0, None

    def rate(self, x: Any) -> Any:
        return super().rate(x) + self.v

    @property
    def energy(self) -> Any:
        return (self.v**2).sum() / 2

    @property
    def speed(self) -> Any:
        return self.v

    @speed.setter
    def speed(self, v: Any) -> None:
        self.v = v * self.scale

    @functools.cached_property
    def size(self) -> int:
        return len(self.x)

    @staticmethod
    def twice(x: Any) -> Any:
        return 2 * x

    @classmethod
    def scaled(cls, x: Any) -> Any:
        return cls.scale * x

    def __call__(self, a: Any) -> Any:
        return a + self.x

    @bufferize
    def run(self, n: int, dt: float) -> Any:
        for _ in range(n):
            self.advance(dt)
            self.v += self.twice(self.x) * dt
            self.t += dt
            if self.energy > 1e3:
                self.steps += 1
        return self.energy, self.scaled(self.x)

    @bufferize
    def swap(self, n: int) -> None:
        for _ in range(n):
            self.x, self.v = self.v, self.x
            self.x[0] += 1

    @bufferize
    def calls(self, a: Any) -> Any:
        self.speed = a
        return self(a), self.size, isinstance(self, Base), type(self) is Sim, self.name

    @bufferize
    def remember(self, a: Any) -> Any:
        if self.last is None:
            self.last = a * 2
        else:
            self.last = self.last + a
        return self.last

    @bufferize
    def until(self, limit: float) -> Any:
        while self.t < limit:
            self.t += 0.5
            self.x = self.x * 0.5
            if self.x[0] < 0.2:
                return self.t
        return -1.0

    @bufferize
    def absent(self) -> Any:
        return getattr(self, "cache", 1.0), hasattr(self, "cache")

    @bufferize
    def nothing(self) -> Any:
        return self.nowhere


class Vec:
    __slots__ = ("x", "y")

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y

    def __add__(self, other: Vec) -> Vec:
        return Vec(self.x + other.x, self.y + other.y)

    def __mul__(self, k: float) -> Vec:
        return Vec(self.x * k, self.y * k)

    def __rmul__(self, k: float) -> Vec:
        return self * k

    def __neg__(self) -> Vec:
        return Vec(-self.x, -self.y)

    def __len__(self) -> int:
        return 2

    def __getitem__(self, i: int) -> Any:
        return (self.x, self.y)[i]

    def __setitem__(self, i: int, value: Any) -> None:
        if i:
            self.y = value
        else:
            self.x = value

    def __eq__(self, other: object) -> Any:
        return isinstance(other, Vec) and self.y == other.y

    __hash__ = None  # type: ignore[assignment]


CALLS: dict[str, Callable[[Sim], Any]] = {
    "run": lambda s: s.run(5, 0.1), "run not": lambda s: s.run(0, 0.1), "swap": lambda s: s.swap(5),
    "swap even": lambda s: s.swap(4), "calls": lambda s: s.calls(line()), "remember": lambda s: s.remember(line()),
    "remember twice": lambda s: (s.remember(line()), s.remember(line())), "until": lambda s: s.until(9.0),
    "until not": lambda s: s.until(1.0), "absent": lambda s: s.absent(), "nothing": lambda s: s.nothing(),
}  # fmt: skip
METHODS = [n for n, m in vars(Sim).items() if isinstance(m, tracebuf.BufferizedFunction)]


@pytest.mark.parametrize("name", one_in(6, CALLS))
def test_c1_methods_do_to_self_what_eager_does(name: str) -> None:
    def on_eager(s: Sim) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            for method in METHODS:
                patch.setattr(Sim, method, vars(Sim)[method].__wrapped__)
            return CALLS[name](s)

    def both(s: Sim) -> Any:
        return CALLS[name](s)

    wrapped = types.SimpleNamespace(__wrapped__=on_eager)
    eager, native = Sim(), Sim()
    for _ in range(2):
        results = []
        for run, s in ((wrapped.__wrapped__, eager), (both, native)):
            try:
                results.append(run(s))
            except AttributeError:
                results.append("AttributeError")
        assert repr(results[0]) == repr(results[1])
        assert repr(vars(eager)) == repr(vars(native))


def test_numbers_of_an_object_are_arguments_and_other_things_are_guards() -> None:
    class Model:
        def __init__(self) -> None:
            self.k, self.mode, self.x = 1, "on", line()

        @bufferize
        def f(self, a: Any) -> Any:
            return a * self.k + self.x if self.mode == "on" else a

    m = Model()
    for k in (1, 2, 3):
        m.k = k
        assert (m.f(line()) == line() * k + line()).all()
    assert len(Model.f.specializations()) == 1
    m.k = 2.5  # type: ignore[assignment]
    assert m.f(line())[0] == 3.5
    m.mode = "off"
    assert (m.f(line()) == line()).all()
    m.mode, m.x = "on", np.ones(4, np.float32)  # type: ignore[assignment]
    assert m.f(line())[1] == 6
    del m.mode
    with pytest.raises(AttributeError):
        m.f(line())


@pytest.mark.slow
def test_what_an_object_gets_later_is_seen() -> None:
    s = Sim()
    assert s.absent() == (1.0, False)
    s.cache = 5.0  # type: ignore[attr-defined]
    assert s.absent() == (5.0, True)
    s.rate = lambda x: x * 0  # type: ignore[method-assign, assignment]
    before = s.x.copy()
    s.run(1, 0.5)
    assert (s.x == before).all()


def test_two_names_of_one_object() -> None:
    @bufferize
    def f(a: Any, b: Any) -> Any:
        a.x = a.x + 1
        return b.x, a is b, a.x is b.x

    s = Sim()
    assert f(s, s)[1:] == (True, True)
    x, *same = f(s, Sim())
    assert same == [False, False] and (x == line()).all()


def test_b4_an_attribute_that_is_an_argument_too() -> None:
    @bufferize
    def f(s: Any, a: Any) -> Any:
        a += 1
        return s.x * 2

    s = Sim()
    assert (f(s, s.x) == (line() + 1) * 2).all()
    assert (f(s, s.x[1:]) == (np.array([2.0, 4, 5, 6])) * 2).all()
    assert "overlap" in str(f.specializations())


@pytest.mark.slow
def test_bound_methods_and_their_kin() -> None:
    s = Sim()
    assert (bufferize(s.rate)(line()) == -line()).all()
    assert s.run == s.run and hash(s.run) == hash(s.run) and "Sim.run" in repr(s.run)
    assert "no copies" in str(s.run.explain(3, 0.1))
    assert "func.func" in s.run.lower(3, 0.1).as_text()
    assert (bufferize(s.run)(0, 0.1)[1] == line() * 2).all()
    found = tracebuf.measure(s.run, 3, 0.1)
    assert (s.x == line()).all() and s.t == 0 and found.native.allocations <= found.eager.allocations

    class Tools:
        @bufferize
        @staticmethod
        def twice(a: Any) -> Any:
            return a * 2

        @bufferize
        @classmethod
        def kind(cls, a: Any) -> Any:
            return a if cls is Tools else a * 0

    assert Tools.twice(line())[0] == 2 and Tools().twice(line())[0] == 2
    assert Tools.kind(line())[0] == 1 and Tools().kind(line())[0] == 1


def test_operators_and_items_of_objects() -> None:
    @bufferize
    def f(a: Any, b: Any) -> Any:
        c = a + b * 2.0
        d = 0.5 * -c
        d[1] = d[1] + 1
        for _ in range(3):
            c = c + d
        return c.x, d[1], len(c), c, c == d, a == 3

    agree(f, Vec(line(), 1.0), Vec(-line(), 3.0))


def test_an_object_of_the_module_is_an_argument_that_is_not_written() -> None:
    @bufferize
    def f(a: Any) -> Any:
        WORLD.count += 1
        return a * WORLD.x + WORLD.count

    assert (f(line()) == line() * line() + 1).all() and WORLD.count == 1
    WORLD.x = line() * 2
    assert (f(line()) == line() * line() * 2 + 2).all() and WORLD.count == 2
    assert len(f.specializations()) == 1


WORLD = types.SimpleNamespace(x=line(), count=0)


def test_objects_made_inside() -> None:
    @dataclasses.dataclass
    class Point:
        x: Any
        k: int = 1
        tags: list[Any] = dataclasses.field(default_factory=list)
        extra: dataclasses.InitVar[float] = 0.5

        def __post_init__(self, extra: float) -> None:
            self.x = self.x * extra

    class Sum:
        def __init__(self, a: Any) -> None:
            self.total, self.count = np.zeros(len(a)), 0

        def add(self, a: Any) -> Sum:
            self.total += a
            self.count += 1
            return self

    @bufferize
    def f(a: Any, n: int) -> Any:
        s = Sum(a)
        for i in range(n):
            s.add(a).add(a * i)
        p = Point(a, tags=[1], extra=2.0)
        p.tags.append(s.count)
        return s.total, p.tags, p.x, dataclasses.replace(p, k=s.count, extra=1.0).k, p

    for n in (3, 0):
        found, expected = f(line(), n), f.__wrapped__(line(), n)
        assert repr(found) == repr(expected)


@pytest.mark.parametrize("make", [lambda: {1}, lambda: np.zeros(3, "M8[s]"), lambda: iter(())])
def test_an_attribute_that_is_no_argument_is_refused_where_it_is_read(make: Callable[[], Any]) -> None:
    def f(s: Any) -> Any:
        return s.odd

    error = refused(f, types.SimpleNamespace(odd=make()))
    assert "s.odd" in error.reason and error.location is not None and error.location.function == "f"


def test_coroutines_and_generators_themselves_are_refused() -> None:
    class Model:
        def parts(self) -> Any:
            yield 1

        @bufferize
        def f(self, a: Any) -> Any:
            return sum(self.parts()) + a

        @bufferize
        async def g(self, a: Any) -> Any:
            return a

        @bufferize
        def h(self, a: Any) -> Any:
            yield a

    assert Model().f(line()).tolist() == (1 + line()).tolist()
    with pytest.raises(tracebuf.UnsupportedError, match="generators and coroutines"):
        Model().h(line())
    with pytest.raises(tracebuf.UnsupportedError, match="generators and coroutines"):
        Model().g(line())


def test_the_attributes_of_an_object_are_met_together() -> None:
    traces: list[Any] = []

    @bufferize
    def f(s: Any) -> Any:
        return s.a + s.b * s.c + s.d

    with pytest.MonkeyPatch.context() as patch:
        trace = tracebuf.api.stages.trace
        patch.setattr(tracebuf.api.stages, "trace", lambda *given: traces.append(0) or trace(*given))
        assert f(types.SimpleNamespace(a=line(), b=2, c=3.0, d=line(1)))[1] == 9
    assert len(traces) == 2


def test_an_attribute_of_the_class_that_is_set_becomes_the_objects_own() -> None:
    class Base:
        x = np.arange(3.0)
        n = 4

    class Derived(Base):
        pass

    @bufferize
    def f(s: Base) -> None:
        s.x += 1
        s.n = s.n

    ours, theirs = Derived(), Derived()
    kept = Base.x.copy()
    f.__wrapped__(theirs)
    Base.x[:] = kept
    f(ours)
    assert sorted(vars(ours)) == sorted(vars(theirs)) and ours.x is Base.x and (Base.x == kept + 1).all()


class Plain:
    def __init__(self, x: Any) -> None:
        self.x = x


class Number:
    """An object with the special methods of a number."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __index__(self) -> Any:
        return self.x

    def __round__(self, places: int = 0) -> Any:
        return self.x + 100 + places

    def __complex__(self) -> complex:
        return 2j

    def __divmod__(self, other: Any) -> Any:
        return self.x // other, 5

    def __pow__(self, other: Any) -> Any:
        return self.x**other

    def __floor__(self) -> Any:
        return self.x - 1

    def __gt__(self, other: Any) -> Any:
        return self.x > other.x


ASKED = [
    "o + 1", "1 + o", "-o", "len(o)", "list(o)", "[*o]", "for_each(o)", "abs(o)", "int(o)", "float(o)", "bool(o)",
    "round(o)",
    "divmod(o, 2)", "pow(o, 2)", "range(o)", "np.zeros(o)", "np.sin(o)", "a.reshape(o)", "a.sum(axis=o)", "max(o, o)",
    "[1, 2][o]", "(1, 2)[:o]", "math.floor(o)", "complex(o)", "a[:o]",
]  # fmt: skip


@pytest.mark.parametrize("expression", one_in(10, ASKED))
def test_an_object_where_python_asks_for_a_number(expression: str) -> None:
    """By its special method; without one, as Python says, in the name of the object's class."""
    names = {"math": math, "Plain": Plain, "Number": Number, "for_each": lambda o: [x + 0 for x in o]}
    plain = program(f"def f(a, n):\n    o = Plain(n)\n    return {expression}", **names)
    agree(plain, np.arange(4.0), 3)
    assert "Record" not in str(_raised(plain))
    if expression not in ASKED[:10]:
        number = program(f"def f(a, n):\n    o = Number(n - 2)\n    return {expression}", **names)
        if not isinstance(error := _raised(number), UnsupportedError):  # never another answer
            agree(number, np.arange(4.0), 3)
        else:
            assert "an object with `__" in error.reason


def _raised(f: Any) -> Exception | None:
    """The exception that a call raises."""
    try:
        tracebuf.bufferize(f)(np.arange(4.0), 3)
    except Exception as error:
        return error
    return None


@pytest.mark.slow
def test_objects_in_lists_and_as_classes() -> None:
    contained = "o in [1]", "o in [o]", "o in (Plain(n), 2)", "1 in [o]"
    for expression in (*contained, "isinstance(1, o)", "isinstance(o, Plain)"):
        agree(program(f"def f(a, n):\n    o = Plain(n)\n    return {expression}", Plain=Plain), np.arange(4.0), 3)
    kind = dataclasses.make_dataclass("Kind", ["x"])
    refused(program("def f(a, n):\n    return Kind(n) in [Kind(n)]", Kind=kind), np.arange(4.0), 3)


class Given:
    """An object whose special methods give what it holds."""

    def __init__(self, x: Any, other: Any = 2) -> None:
        self.x, self.other = x, other

    @classmethod
    def made(cls, n: Any) -> Given:
        return cls(n * 2, n)

    def __bool__(self) -> Any:
        return self.x

    __float__ = __int__ = __complex__ = __len__ = __index__ = __bool__


class Sized:
    def __init__(self, n: Any) -> None:
        self.n = n

    def __len__(self) -> Any:
        return self.n


class ByPath(Given):
    def __float__(self) -> Any:
        return float(self.x) if self.x > 2 else self.other


@pytest.mark.filterwarnings("ignore:.*returned non:DeprecationWarning")
@pytest.mark.parametrize(
    "call",
    ["bool(x)", "not x", "3 if x else 4", "float(x)", "int(x)", "complex(x)", "len(x)", "[1, 2, 3, 4, 5][x]", "a[x]"],
)
def test_what_special_methods_of_conversion_have_to_give(call: str) -> None:
    """Python makes a number of the type of it, or raises TypeError."""
    computed = ("n > 2", "k", "n", "-n", "a[0]", "a[0] > 1", "np.float32(a[0])", "np.int64(n)")
    for given in (*computed, "True", "1.5", "2", "None", "'a'"):
        text = f"def f(a, n, k):\n    x = Given({given})\n    return {call}"
        agree(bufferize(program(text, Given=Given)), np.arange(4.0, 9.0), 3, 2.5)


@pytest.mark.filterwarnings("ignore:.*returned non:DeprecationWarning")
def test_what_special_methods_give_by_the_path() -> None:
    names = {"Sized": Sized, "ByPath": ByPath}
    for given in ("n", "-n", "np.uint8(n)", "a[0]", "n > 2"):
        for call in ("len(x)", "bool(x)", "4 if x else 5"):
            text = f"def f(a, n):\n    x = Sized({given})\n    return {call}"
            agree(bufferize(program(text, **names)), np.ones(2), 3)
    f = bufferize(program("def f(a, n):\n    return float(ByPath(a[0], 1.5)), float(ByPath(a[1], n > 2))", **names))
    agree(f, np.array([3.0, 4.0]), 3)
    agree(bufferize(program("def f(a): return float(ByPath(a[0], 1.5))", **names)), np.array([1.0, 4.0]))


def test_a_classmethod_read_from_a_class_of_the_module() -> None:
    """It is made anew at each reading, and is the same one."""
    text = "def f(a, n):\n    print(end='')\n    x = Given.made(n)\n    return x.x + a, x.other"
    f = bufferize(program(text, Given=Given))
    for n in (3, 4, 5):
        agree(f, np.ones(2), n)
    assert len(f.specializations()) == 1
    method = bufferize(program("def f(a, n):\n    print(end='')\n    return held(n).x + a", held=Given.made))
    agree(method, np.ones(2), 3)


class Answers:
    """Special methods that may give NotImplemented, and that derived classes override or not."""

    def __init__(self, n: Any) -> None:
        self.n = n

    def __add__(self, other: Any) -> Any:
        return ("+", self.n) if isinstance(other, Answers) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return ("r+", self.n) if isinstance(other, (Answers, float)) else NotImplemented

    def __eq__(self, other: object) -> Any:
        return self.n == other.n + 1 if isinstance(other, Answers) else NotImplemented

    def __lt__(self, other: Any) -> Any:
        return "<" if type(other) is Answers else NotImplemented

    def __gt__(self, other: Any) -> Any:
        return NotImplemented


class Overriding(Answers):
    def __radd__(self, other: Any) -> Any:
        return ("of the derived class", self.n)

    def __gt__(self, other: Any) -> Any:
        return "> of the derived class"


class Derived(Answers):
    pass


class Silent(Answers):
    def __add__(self, other: Any) -> Any:
        return NotImplemented

    __radd__ = __iadd__ = __eq__ = __lt__ = __add__


@pytest.mark.parametrize("left", ["Answers(n)", "Overriding(n)", "Derived(n)", "Silent(n)", "n", "1.5"])
@pytest.mark.parametrize("right", ["Answers(n)", "Overriding(n)", "Derived(n)", "Silent(n)", "n", "1.5"])
def test_which_operand_is_asked_first_and_what_follows_where_it_gives_not_implemented(left: str, right: str) -> None:
    names = {kind.__name__: kind for kind in (Answers, Overriding, Derived, Silent)}
    for name in ("x + y", "x == y", "x != y", "x < y", "x > y", "x == x"):
        agree(bufferize(program(f"def f(n):\n    x, y = {left}, {right}\n    return {name}", **names)), 3)
    agree(bufferize(program(f"def f(n):\n    x, y = {left}, {right}\n    x += y\n    return x", **names)), 3)


class Made:
    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, x: Any, factor: float = 1.0) -> None:
        self.x = x * factor


class Chosen(Made):
    """Makes an object of a class that it chooses, or none."""

    def __new__(cls, x: Any, factor: float = 1.0) -> Any:
        if cls is Chosen:
            return Vector.__new__(Vector, x) if np.ndim(x) else x + factor
        made = super().__new__(cls)
        made.first = x
        return made

    def __init__(self, x: Any, factor: float = 1.0) -> None:
        super().__init__(x, factor)
        self.ndim = np.ndim(x)


class Vector(Chosen):
    pass


class OfNew:
    """All is in `__new__`: the arguments, which object.__init__ then takes too."""

    def __new__(cls, *args: Any, factor: Any = 1.0) -> Any:
        made = super().__new__(cls)
        made.x = args[0] * factor if args else factor
        return made

    def __add__(self, other: Any) -> Any:
        return OfNew(self.x + other, factor=2.0)


class Excess:
    def __new__(cls, x: Any) -> Any:
        return super().__new__(cls, x)


@pytest.mark.slow
def test_classes_with_a_new_of_their_own() -> None:
    names = {"Made": Made, "Chosen": Chosen, "Vector": Vector, "Excess": Excess, "OfNew": OfNew, "Fraction": Fraction}
    for text in (
        "Made(a).x", "Made(a, factor=n).x, type(Made(a)) is Made", "Chosen(a).x, Chosen(a, 2.0).first, Chosen(a).ndim",
        "Chosen(n), type(Chosen(a)).__name__", "Vector(a, 3.0).x, isinstance(Chosen(a), Vector)", "Excess(a)",
        "hasattr(Made.__new__(Made, a), 'x'), object.__new__(Vector) is None", "Made()",
        "[Made(a).x for k in range(n)]", "OfNew(a).x, OfNew(factor=n).x, (OfNew(n) + 1).x, OfNew().x",
        "a * float(Fraction(n, 3) + 1)",
    ):  # fmt: skip
        g = bufferize(program(f"def f(a, n):\n    return {text}", **names))
        agree(g, np.arange(3.0), 2)
        agree(g, np.arange(5.0), 2)


def test_a_new_that_is_exchanged() -> None:
    """What a class holds is looked at again at each call."""

    class Point:
        def __new__(cls, x: Any) -> Any:
            return x * 2

    g = bufferize(program("def f(a):\n    return Point(a)", Point=Point))
    agree(g, np.arange(3.0))
    Point.__new__ = staticmethod(lambda cls, x: x * 3)
    agree(g, np.arange(3.0))


class Bag:
    def __init__(self, **given: Any) -> None:
        self.__dict__.update(given, first=1.0)
        self.last = 2.0
        self.__dict__["scale"] = 3.0

    def total(self) -> Any:
        return sum(v for k, v in self.__dict__.items() if k != "x")


def test_the_dict_of_an_object() -> None:
    for text in (
        "Bag(x=a).x, Bag(x=a, n=n).total(), Bag(n=n).__dict__['n']", "vars(Bag(x=a))['x'], 'x' in vars(Bag(y=a))",
        "sorted(vars(Bag(x=a)).keys()), vars(Bag()).get('x', n), dict(vars(Bag(n=n)).items())",
        "vars(Bag())['x']", "[vars(Bag(n=n)).copy()]", "vars(Slotted())", "len(vars(Bag())), [k for k in vars(Bag())]",
        "dict(**vars(Bag(x=a))), list(vars(Bag())), 1 if vars(Bag()) else 2", "vars(Bag()).nothing",
    ):  # fmt: skip
        agree(bufferize(program(f"def f(a, n):\n    return {text}", Bag=Bag, Slotted=Slotted)), np.arange(3.0), 2)

    def f(a: Any, n: Any) -> Any:
        bag = Bag(x=a)
        if a[0] > 0:
            bag.__dict__["x"] = a * 2
            vars(bag).update(scale=a[1])
        return bag.x, bag.scale, bag.total()

    for first in (0.0, 1.0):
        agree(f, np.array([first, 2.0]), 2)


def test_what_is_refused_of_the_dict_of_an_object() -> None:
    for text in ("vars(Bag(x=a)).pop('x')", "max(vars(Bag()))", "id(vars(Bag()))", "vars(Bag())", "vars(Bag()) == {}"):
        refused(bufferize(program(f"def f(a):\n    return {text}", Bag=Bag)), np.arange(3.0))


class Slotted:
    __slots__ = ("x",)
