"""Random expressions over the places of a program: arrays, numbers, tests, containers, results.

An expression is only a text; one that raises where it stands is taken back by the caller, which runs the program. Sums,
products by small numbers and comparisons of whole numbers alone, so that every answer is exact. A bare view is never
stored into an array: which elements of overlapping stores NumPy 2.4 gets wrong is known (rule C4).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from tracebuf.testing.fuzz.places import Place

__all__ = ["CLASSES", "ObjectValues"]

T = TypeVar("T")

CLASSES = {
    "Box": """
class Box:
    def __init__(self, a, b):
        self.a = a
        self.items = [a, b]
        self.n = 0

    def push(self, x):
        self.items.append(x)
        self.n += 1
        return self

    def first(self):
        if self.a[0] > 1:
            return self.a
        return self.items[0]

    def add(self, x):
        self.a += x

    def replace(self, x):
        before, self.a = self.a, x
        return before

    def swap(self):
        self.items[0], self.items[-1] = self.items[-1], self.items[0]

    def best(self, x):
        if x.sum() > self.a.sum():
            self.a = x
            self.n += 1
            return True
        return False

    def turn(self, x):
        for i in range(len(self.items)):
            if x[0] > i:
                self.items[i] = self.items[i] + x
            else:
                break
        else:
            return self.items
        return None

    @property
    def total(self):
        return self.a.sum() + self.n
""",
    "Cell": """
@dataclass
class Cell:
    x: object
    y: object = 1.0
    parts: list = field(default_factory=list)

    def moved(self, by):
        return Cell(self.x + by, self.y, self.parts)

    def flip(self):
        self.x, self.y = self.y, self.x
        return self
""",
    "Pair": """
class Pair(NamedTuple):
    left: object
    right: object

    def turned(self):
        return Pair(self.right, self.left)
""",
}
_METHODS = {
    "Box": ("push({v})", "first()", "add({x})", "replace({a})", "swap()", "best({a})", "turn({a})"),
    "Cell": ("moved({x})", "flip()"),
    "Pair": ("turned()", "_replace(left={v})"),
    "list": ("copy()", "index({a})", "count({i})"),
    "dict": ("get('k')", "get('z', {a})", "copy()"),
}
HELPERS = {
    "larger": "def larger(x, y):\n    if x.sum() > y.sum():\n        return x\n    return y",
    "bump": "def bump(x, k):\n    x[0] = x[0] + k\n    return x",
    "put": "def put(p, x):\n    p[0] = x\n    return p",
    "sign": "def sign(x):\n    if x[0] > 1:\n        return 1\n    elif x[0] < 0:\n        return -1\n    return 0",
    "swapped": "def swapped(x, y):\n    return y, x",
    "search": (
        "def search(items, k):\n    for i, x in enumerate(items):\n        if x[0] > k:\n            return i, x\n"
        "    else:\n        k = k + 1\n    return -1, items[0]"
    ),
    "guarded": (
        "def guarded(x, k):\n    try:\n        if k > 2:\n            raise ValueError('large')\n        return x[k]\n"
        "    except IndexError:\n        return x[0]\n    finally:\n        x[0] += 1"
    ),
}
_CALLS = {
    "larger": "larger({a}, {b})", "bump": "bump({a}, {i})", "put": "put({l}, {v})", "sign": "sign({a})",
    "swapped": "swapped({v}, {b})", "search": "search({l}, {i})", "guarded": "guarded({a}, {i})",
}  # fmt: skip
CONTAINERS = ("Box", "Cell", "Pair", "list", "dict", "tuple")


class ObjectValues:
    """Makes texts over the places in `sure`."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.sure: list[Place] = []
        self.loose: list[str] = []
        self.classes: set[str] = set()
        self.helpers: set[str] = set()
        self.functions: list[str] = []
        """Functions defined inside, of one array."""
        self.count = 0

    def chance(self, percent: int) -> bool:
        return self.draw.randrange(100) < percent

    def pick(self, items: Sequence[T]) -> T:
        return items[self.draw.randrange(len(items))]

    def weighted(self, *choices: tuple[int, T]) -> T:
        return self.draw.choices([c for _, c in choices], [w for w, _ in choices])[0]

    def fresh(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def of(self, *kinds: str) -> list[Place]:
        return [p for p in self.sure if p.kind in kinds]

    def place(self, *kinds: str) -> str:
        """A place of a kind, a name as often as what is held; a constant if there is none."""
        found = self.of(*kinds)
        names = [p for p in found if p.text.isidentifier()]
        held = [p for p in found if not p.text.isidentifier()]
        pool = self.pick([x for x in (names, held) if x]) if found else []
        return self.pick(pool).text if pool else "1"

    # -- arrays and numbers
    def array(self) -> str:
        """A place that is an array."""
        return self.place("array")

    def fresh_array(self) -> str:
        """A new array."""
        a, b, x = self.array(), self.array(), self.number()
        return self.pick((
            f"{a} + {b}", f"{a} - {b}", f"{a} * {x}", f"{a} + {x}", f"-{a}", f"{a}.copy()", f"np.maximum({a}, {b})",
            f"np.where({a} > {x}, {a}, {b})", f"np.zeros_like({a})", f"{a}[::-1] + {b}", f"{a} * 2 - {b}", f"abs({a})",
            f"np.full_like({a}, {self.small()})", f"np.concatenate([{a}, {b}])", "np.ones(3)",
        ))  # fmt: skip

    def view(self) -> str:
        a = self.array()
        return self.pick((f"{a}[1:]", f"{a}[::-1]", f"{a}[:2]", f"{a}.T", f"{a}[:]", f"{a}.reshape(-1)"))

    def any_array(self) -> str:
        return self.weighted((6, self.array), (4, self.fresh_array), (2, self.view))()

    def small(self) -> str:
        return self.pick(("0", "1", "2", "3", "-1", "1.5"))

    def int(self) -> str:
        found = [p.text for p in self.of("int") if all(-6 < v < 6 for v in p.values)]
        return self.pick(found) if found and self.chance(60) else self.pick(("0", "1", "2", "-1"))

    def number(self) -> str:
        """A number; one that depends on data as often as not."""
        a = self.array()
        kinds = [
            (5, self.small()), (3, self.int()), (4, f"{a}[0]"), (2, f"{a}.sum()"), (1, f"{a}.max()"),
            (1, f"len({a})"), (1, f"int({a}[0])"), (1, f"float({a}[-1])"), (1, f"{a}[{self.int()}]"),
        ]  # fmt: skip
        if held := self.of("number", "float", "int"):
            kinds.append((4, self.pick(held).text))
        if boxes := self.of("Box"):
            kinds.append((1, f"{self.pick(boxes).text}.total"))
        if lists := self.of("list", "dict", "tuple"):
            kinds.append((1, f"len({self.pick(lists).text})"))
        return self.weighted(*kinds)

    def test(self) -> str:
        """A condition: on data, on a number from outside, on identity, on the form of containers."""
        a, b = self.array(), self.array()
        kinds = [
            (6, f"{a}[0] > {self.small()}"), (3, f"{a}.sum() > {b}.sum()"), (2, f"{a}[0] == {b}[0]"),
            (3, f"{self.number()} {self.pick(('>', '<=', '!=', '=='))} {self.small()}"),
            (3, f"{a} is {self.pick(('', 'not '))}{b}"), (1, f"{a}[-1] < {self.number()}"),
            (1, f"{a}.shape[0] > {self.small()}"), (1, f"({a} > {self.small()}).any()"),
        ]  # fmt: skip
        if ints := self.of("int"):
            kinds.append((4, f"{self.pick(ints).text} {self.pick(('>', '<', '=='))} {self.pick(('1', '2', '3'))}"))
        if flags := self.of("bool"):
            kinds.append((3, f"{self.pick(('', 'not '))}{self.pick(flags).text}"))
        if nones := self.of("none"):
            kinds.append((2, f"{self.pick(nones).text} is None"))
        if held := self.of(*CONTAINERS):
            p = self.pick(held)
            kinds += [(1, f"isinstance({p.text}, {p.kind})"), (1, f"{p.text} is {self.pick(held).text}")]
        if lists := self.of("list", "dict"):
            kinds.append((2, f"len({self.pick(lists).text}) > {self.pick(('1', '2'))}"))
        if self.loose and self.chance(30):
            kinds.append((4, f"{self.pick(self.loose)} is {self.pick((a, 'None'))}"))
        text = self.weighted(*kinds)
        if self.chance(12):
            return f"{text} {self.pick(('and', 'or'))} {self.test()}"
        return text

    # -- containers
    def item(self) -> str:
        """What a container holds: mostly arrays."""
        return self.weighted(
            (7, self.array), (3, self.fresh_array), (2, self.number), (1, self.view), (2, self.container), (1, self.old)
        )()

    def old(self) -> str:
        return self.pick(self.sure).text if self.sure else "None"

    def container(self) -> str:
        """A new container."""
        kind = self.pick(CONTAINERS)
        a, b = self.item(), self.array()
        if kind in CLASSES:
            self.classes.add(kind)
        if kind == "Box":
            return f"Box({b}, {a})"
        if kind == "Cell":
            return self.pick((f"Cell({a}, {b})", f"Cell({b})", f"Cell({b}, {self.number()}, [{a}])"))
        if kind == "Pair":
            return f"Pair({a}, {b})"
        if kind == "dict":
            return f'{{"k": {b}, "j": {a}}}'
        if kind == "tuple":
            return f"({a}, {b})"
        lists = [p.text for p in self.of("list", "tuple") if p.length]
        if lists and self.chance(35):
            items, x = self.pick(lists), self.number()
            return self.pick((
                f"[x for x in {items}]", f"[x + {x} for x in {items}]", f"list({items})", f"[*{items}, {b}]",
                f"{items} * 2", f"[x for x in {items} if x is not {b}]", f"[(x, {b}) for x in {items}]",
                f"[x if {b}[0] > {self.small()} else {b} for x in {items}]", f"{items}[1:]", f"{items}[::-1]",
            ))  # fmt: skip
        dicts = [p.text for p in self.of("dict") if p.length]
        if dicts and self.chance(30):
            items = self.pick(dicts)
            return self.pick((
                f"{{k: v for k, v in {items}.items()}}", f"list({items}.values())", f"[{items}[k] for k in {items}]",
                f"{{**{items}, 'm': {b}}}",
            ))  # fmt: skip
        return self.pick((f"[{b}, {a}]", f"[{b}, {a}, {self.array()}]", f"[{b}] * 2"))

    def called(self) -> str | None:
        """A call of a method, a helper or a function inside."""
        if self.functions and self.chance(40):
            return f"{self.pick(self.functions)}({self.array()})"
        held = self.of(*_METHODS)
        if held and self.chance(60):
            p = self.pick(held)
            return f"{p.text}.{self.filled(self.pick(_METHODS[p.kind]))}"
        name = self.pick(tuple(HELPERS))
        lists = [p for p in self.of("list") if p.length]
        if "{l}" in _CALLS[name] and not lists:
            return None
        self.helpers.add(name)
        return self.filled(_CALLS[name])

    def filled(self, form: str) -> str:
        lists = [p.text for p in self.of("list") if p.length]
        return form.format(
            a=self.array(), b=self.array(), v=self.item(), x=self.pick((self.number(), self.array())), i=self.int(),
            l=self.pick(lists) if lists else "[]",
        )  # fmt: skip

    def value(self) -> str:
        """Any value to be named, held or returned."""
        kinds = (5, "old"), (5, "fresh"), (2, "view"), (2, "number"), (4, "container"), (4, "call"), (2, "or")
        kind = self.weighted(*kinds)
        if kind == "call":
            return self.called() or self.array()
        if kind == "or":
            x = self.pick((self.array, self.item, self.number))()
            y = self.number() if self.chance(30) else self.array()
            return f"{x} if {self.test()} else {y}"
        made = {"old": self.old, "fresh": self.fresh_array, "view": self.view, "number": self.number}
        return made.get(kind, self.container)()
