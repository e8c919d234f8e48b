"""`frozen` does what `dataclass(frozen=True)` does, but for the check at run time."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field, replace

import pytest

from tracebuf.frozen import cached_property, frozen


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


def test_what_is_found_once() -> None:
    asked = Asked([])
    assert (asked.answer, asked.answer, len(asked.times)) == (42, 42, 1)
    assert Asked.answer.__doc__ == "What is found." and Asked([]) == Asked([])
