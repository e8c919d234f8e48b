"""`frozen` and `plain` do what `dataclass` does, later; the check at run time only where it is asked for."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, astuple, dataclass, field, fields, replace
from typing import Any

import pytest

from tracebuf.frozen import cached_property, frozen, plain
from tracebuf.options import Options


@frozen()
class Pair:
    first: int
    second: tuple[int, ...] = ()
    note: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class Reference:
    first: int
    second: tuple[int, ...] = ()
    note: str = field(default="", compare=False, repr=False)


@frozen(eq=False)
class Same:
    first: int


@frozen(slots=False)
class Own:
    first: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own)

    def __repr__(self) -> str:
        return "own"


@frozen(slots=False)
class Below(Pair):
    third: int = 0


@frozen(checked=True)
class Kept:
    first: int
    second: int = 2


@plain(eq=True)
class Changing:
    first: int
    rest: list[int] = field(default_factory=list)
    made: list[int] = field(default_factory=lambda: [7], init=False)
    named: int = field(default=3, kw_only=True)
    found: int = field(init=False)

    def __post_init__(self) -> None:
        self.found = self.first + self.named


@dataclass
class Changed:
    first: int
    rest: list[int] = field(default_factory=list)
    made: list[int] = field(default_factory=lambda: [7], init=False)
    named: int = field(default=3, kw_only=True)
    found: int = field(init=False)

    def __post_init__(self) -> None:
        self.found = self.first + self.named


@plain(slots=True)
class Alone:
    first: int = 1


@frozen(slots=False)
class Asked:
    times: list[int]

    @cached_property
    def answer(self) -> int:
        """What is found."""
        self.times.append(1)
        return 42


def test_values_are_compared_hashed_and_shown_by_their_fields() -> None:
    pair, reference = Pair(1, (2,), "a"), Reference(1, (2,), "a")
    assert repr(pair) == repr(reference).replace("Reference", "Pair")
    assert hash(pair) == hash(reference) and len({pair, Pair(1, (2,), "b"), Pair(2)}) == 2
    assert pair == Pair(1, (2,), "b") and pair != Pair(1) and pair != reference and pair != (1, (2,))
    assert replace(pair, first=3) == Pair(3, (2,)) and pickle.loads(pickle.dumps(pair)) == pair
    assert Below(1) == Below(1) != Below(1, third=2) and Pair(1) != Below(1) and hash(Below(1)) != hash(Below(2))
    with pytest.raises(AttributeError):
        pair.other = 1  # type: ignore[attr-defined]


def test_what_a_class_defines_itself_stays() -> None:
    assert Own(1) == Own(2) and hash(Own(1)) != hash(Own(2)) and repr(Own(1)) == "own"
    one = Same(1)
    assert one == one != Same(1) and len({one, one, Same(1)}) == 2


def test_what_is_checked_stays() -> None:
    kept = Kept(1)
    for change in (lambda: setattr(kept, "first", 2), lambda: delattr(kept, "second")):
        with pytest.raises(FrozenInstanceError, match="cannot (assign to|delete) field '(first|second)'"):
            change()
    assert pickle.loads(pickle.dumps(kept)) == copy.copy(kept) == copy.deepcopy(kept) == replace(kept, second=2) == kept
    assert pickle.loads(pickle.dumps(options := Options(donate="a", seed=3))) == options != Options()


def test_objects_that_change_are_made_as_those_of_dataclass() -> None:
    one, other = Changing(1), Changed(1)
    assert repr(one) == repr(other).replace("Changed", "Changing") and vars(one) == vars(other)
    assert Changing(1) == one != Changing(1, [2]) and one.rest is not Changing(1).rest and Alone() != Alone()
    assert Changing(1, named=4).found == 5 and Changing.__hash__ is None and hash(alone := Alone()) == hash(alone)
    one.first = 2
    assert one != Changing(1) and replace(alone, first=3).first == 3 and not hasattr(alone, "__dict__")


@pytest.mark.parametrize(("kind", "like"), [(Pair, Reference), (Changing, Changed)])
def test_constructors_are_shown_and_refuse_as_those_of_dataclass(kind: Any, like: Any) -> None:
    assert str(inspect.signature(kind)) == str(inspect.signature(like)) and kind.__match_args__ == like.__match_args__
    assert [(f.name, f.type, f.default, f.init) for f in fields(kind)] == [
        (f.name, f.type, f.default, f.init) for f in fields(like)
    ]
    said = []
    for made in (kind, like):
        with pytest.raises(TypeError) as raised:
            made(other=1)
        said.append(str(raised.value).replace(like.__name__, kind.__name__))
    assert said[0] == said[1]


def test_methods_are_made_when_they_are_asked_for() -> None:
    @frozen()
    class Unused:
        first: int

    def late() -> list[str]:
        return [name for name, method in vars(Unused).items() if type(method).__name__ == "_Late"]

    assert late() == ["__init__", "__eq__", "__hash__"] and Unused(1) == Unused(1)
    assert late() == ["__hash__"] and hash(Unused(1)) == hash((1,)) and late() == []


def test_classes_of_one_form_share_what_is_compiled() -> None:
    @frozen()
    class One:
        left: int
        right: int = 3

    @frozen()
    class Other:
        low: int = 1
        high: int = 2

    assert (One(5).right, One(right=1, left=2).left, Other().high, Other(high=7).low) == (3, 2, 2, 1)
    codes = One.__init__.__code__, Other.__init__.__code__
    assert codes[0].co_code == codes[1].co_code and codes[0].co_varnames == ("self", "left", "right")


@pytest.mark.parametrize(
    ("args", "given"),
    [((), {}), ((1, (), "", 4), {}), ((1,), {"first": 2}), ((1,), {"other": 2}), ((), {"second": ()}), ((1,), {})],
)
def test_arguments_are_those_of_a_dataclass(args: tuple[Any, ...], given: dict[str, Any]) -> None:
    @frozen()
    class Late:
        first: int
        second: tuple[int, ...] = ()
        note: str = ""

    wanted: str | Reference
    try:
        wanted = Reference(*args, **given)
    except TypeError as error:
        wanted = str(error)
    if isinstance(wanted, str):
        with pytest.raises(TypeError) as raised:
            Late(*args, **given)
        assert str(raised.value).rpartition(".")[2] == wanted.rpartition(".")[2]
    else:
        assert astuple(Late(*args, **given)) == astuple(wanted)


def test_types_of_fields_are_kept() -> None:
    assert [f.type for f in fields(Below)] == ["int", "tuple[int, ...]", "str", "int"]  # type: ignore[arg-type]
    assert Pair.__annotations__ == Reference.__annotations__


def test_what_is_found_once() -> None:
    asked = Asked([])
    assert (asked.answer, asked.answer, len(asked.times)) == (42, 42, 1)
    assert Asked.answer.__doc__ == "What is found." and Asked([]) == Asked([])
