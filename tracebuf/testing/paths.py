"""Random control flow: loops of every kind, branches, jumps, returns out of them.

Every loop ends: what it counts is changed by lines that nothing drops (`closing` lines are part of each run of the
half-written program, see `probe`).
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from tracebuf.testing.expressions import Mode
from tracebuf.testing.statements import Statements

__all__ = ["Paths"]


class Paths(Statements):
    """Writes blocks."""

    def __init__(self, draw: random.Random, mode: Mode, worlds: int) -> None:
        super().__init__(draw, mode, worlds)
        self.closing: list[str] = []
        self.broken = False
        self.jumps: list[bool] = []
        """Whether `break` and `continue` may stand in each open loop."""

    def statement(self) -> None:
        for _ in range(8):
            if self.broken:
                return
            mark, scope, worlds, loose = len(self.lines), self.scope, self.worlds, self.loose
            getattr(self, "do_" + self.kind())()
            if len(self.lines) == mark:
                continue
            if self.look():
                return
            if not self.broken:
                del self.lines[mark:]
                self.scope, self.worlds, self.loose = scope, worlds, loose

    def kind(self) -> str:
        nested = 3 if self.depth < 3 and len(self.lines) < 40 else 0
        jump = 3 if self.jumps and self.depth > 1 else 0
        return self.weighted(
            (10, "store"), (10, "augmented"), (6, "fresh"), (4, "view"), (3 * nested, "loop"), (2 * nested, "branch"),
            (3, "create"), (5, "scalar"), (3, "helper"), (4, "accumulate"), (1, "copy"), (8, "call"), (2, "int"),
            (1, "say"), (4, "swap"), (4, "alias"), (6, "carry"), (3, "out"), (1, "inner"), (1, "list"), (jump, "jump"),
            (2 if self.depth else 0, "leave"), (1, "check"), (9, "pick"),
        )  # fmt: skip

    def block(self, header: str, count: int, closing: Sequence[str] = (), looping: bool = False) -> None:
        """A header and a body of `count` statements, then the closing lines."""
        self.emit(header)
        self.depth += 1
        indent = "    " * (self.depth + 1)
        before, outside = len(self.lines), len(self.closing)
        self.closing.extend(indent + c for c in closing)
        if looping:
            self.jumps.append(not closing)
        if self.look():
            for _ in range(count):
                self.statement()
        if looping:
            self.jumps.pop()
        del self.closing[outside:]
        if len(self.lines) == before and not closing:
            self.emit("pass")
        for c in closing:
            self.emit(c)
        self.depth -= 1

    # -- loops
    def do_loop(self) -> None:
        self.loops += 1
        for_each = self.weighted((6, "range"), (3, "items"), (5, "while"))
        getattr(self, f"loop_{for_each}")(self.weighted((4, 1), (4, 2), (3, 3)))
        self.loops -= 1
        if self.chance(15) and self.look():
            self.block("else:", 1)

    def loop_range(self, count: int) -> None:
        i = "ijk"[self.loops - 1] if self.loops < 4 else self.fresh("i")
        stop, start, step = self.bound(), None, None
        if self.chance(5) and (found := self.element("int64")) is not None:
            stop = f"{found.text} % 3", self.constant(3)
        if self.chance(45):
            start = self.index()
            step = self.pick((None, None, 1, -1, 2, -2))
            if step is not None and step < 0 and self.chance(80):
                start, stop = stop, start
        ranges = [range(start[1][w] if start else 0, stop[1][w], step or 1) for w in range(self.worlds)]
        if max(map(len, ranges)) > 10 or (not any(map(len, ranges)) and not self.chance(5)):
            return
        text = ", ".join([*([start[0]] if start else []), stop[0], *([str(step)] if step is not None else [])])
        text = f"reversed(range({text}))" if self.chance(10) else f"range({text})"
        self.block(f"for {i} in {text}:", count, looping=True)

    def bound(self) -> tuple[str, tuple[int, ...]]:
        shaped = [(f"{a.name}.shape[{k}]", d) for a in self.arrays() for k, d in enumerate(a.dims)]
        return self.pick(shaped) if shaped and self.chance(60) else self.index()

    def loop_items(self, count: int) -> None:
        pool = [a for a in self.arrays() if a.dims and max(a.dims[0]) <= 10]
        if not pool:
            return
        x, i, a = self.fresh("x"), self.fresh("i"), self.pick(pool).name
        b = self.pick(pool).name
        header = self.pick(
            (f"for {x} in {a}:", f"for {i}, {x} in enumerate({a}):", f"for {x}, {x}y in zip({a}, {b}):",
             f"for {x} in ({a}, {b}):", f"for {i}, {x} in enumerate(({a}, {b})):", f"for {x} in [{a}, {a}[1:]]:",
             f"for {x} in (1, 2.5):", f"for {x} in {a}[::-1]:", f"for {i}, {x} in enumerate({a}, 1):",
             f"for {i}, ({x}, {x}y) in enumerate(zip({a}, {b})):", f"for {x} in reversed({a}):")
        )  # fmt: skip
        self.block(header, count, looping=True)

    def loop_while(self, count: int) -> None:
        """A counter that is changed at the beginning (then `continue` may follow) or at the end of the body."""
        k = self.fresh("w")
        end = self.pick(("3", "2", "4", self.bound()[0]))
        down = self.chance(25)
        self.emit(f"{k} = {end if down else '0'}")
        test, change = (f"{k} > 0", f"{k} -= 1") if down else (f"{k} < {end}", f"{k} += 1")
        more = self.condition() if self.chance(40) else None
        if more is not None and self.look():
            test = f"{test} and ({more})" if " or " in more or self.chance(50) else f"{test} and {more}"
        if self.chance(12):
            self.block("while True:", count, (change, f"if not ({test}):", "    break"), looping=True)
        elif self.chance(50):
            self.block(f"while {test}:", count, (change,), looping=True)
        else:
            self.emit(f"while {test}:")
            self.depth += 1
            self.emit(change)
            self.depth -= 1
            header = self.lines[-2:]
            del self.lines[-2:]
            self.block("\n".join(header).lstrip(), count, looping=True)

    # -- branches and jumps
    def do_branch(self) -> None:
        condition = self.condition()
        if condition is None:
            return
        self.block(f"if {condition}:", self.weighted((5, 1), (4, 2)))
        if self.chance(12) and (more := self.condition()):
            self.block(f"elif {more}:", 1)
        if self.chance(50):
            self.block("else:", self.weighted((5, 1), (4, 2)))

    def do_jump(self) -> None:
        if (condition := self.condition()) is not None:
            self.emit(f"if {condition}:")
            jumps = ("break", "continue") if self.jumps[-1] else ("break",)
            self.emit(f"    {self.pick(jumps)}")

    def do_leave(self) -> None:
        """A return under a condition."""
        if (condition := self.condition()) is not None:
            self.emit(f"if {condition}:")
            self.emit(f"    return {self.pick(('', self.result_text(), self.result_text()))}".rstrip())

    def do_check(self) -> None:
        if (condition := self.condition()) is not None:
            if self.chance(50):
                self.emit(f"assert {condition}" + self.pick(("", ", 'no'")))
            else:
                self.emit(f"if not ({condition}):")
                self.emit(f"    raise {self.pick(('ValueError', 'RuntimeError', 'ZeroDivisionError'))}('no')")

    # -- results
    def finish(self) -> None:
        if not self.chance(6):
            self.emit(f"return {self.result_text()}")

    def result_text(self) -> str:
        count = self.weighted((5, 1), (4, 2), (2, 3), (1, 4))
        texts = [self.returned() for _ in range(count)]
        if self.chance(8) and count > 1:
            texts[-1] = texts[0]
        if self.chance(6):
            texts.append(f"({texts[0]}, {self.returned()})")
        return ", ".join(texts)

    def returned(self) -> str:
        kinds = (8, "array"), (3, "view"), (3, "scalar"), (2, "expression"), (1, "reduction"), (1, "loose")
        kind = self.weighted(*kinds)
        if kind == "loose" and self.loose:
            return self.pick(self.loose)
        if kind == "scalar" and (pool := self.scalars()):
            return self.pick(pool).name
        recent = self.arrays()
        if not recent:
            return "None"
        if kind == "view":
            return self.view(self.pick(recent).expr).text
        if kind == "expression":
            return self.expression(self.target(), 2).inner
        if kind == "reduction" and self.mode != "bits":
            return f"{self.pick(recent).name}.{self.pick(('sum', 'mean'))}()"
        return (recent[-1] if self.chance(40) else self.pick(recent)).name
