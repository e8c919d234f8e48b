"""Random statements over objects, lists and dicts: stores, swaps, methods, loops, branches, exceptions, functions.

Every loop ends: a `while` counts, and its count is a line that nothing drops.
"""

from __future__ import annotations

import random

from tracebuf.testing.fuzz.object_values import ObjectValues
from tracebuf.testing.fuzz.places import Place, Sight

__all__ = ["ObjectStatements"]

_RAISED = ("ValueError", "IndexError", "KeyError", "RuntimeError", "ZeroDivisionError")


class ObjectStatements(ObjectValues):
    """Writes lines; `depth` is that of the block being written."""

    def __init__(self, draw: random.Random) -> None:
        super().__init__(draw)
        self.lines: list[str] = []
        self.depth = 0
        self.closing: list[str] = []
        """What ends the blocks that are open, from the outermost on."""
        self.loops = 0
        self.ended = False

    def sight(self, lines: list[str]) -> Sight | None:
        """What a program of these lines reaches."""
        raise NotImplementedError

    def emit(self, text: str) -> None:
        self.lines += ["    " * (self.depth + 1) + line for line in text.split("\n")]

    def look(self) -> bool:
        """Runs the program so far; False where its last statement is no good."""
        here = "    " * (self.depth + 1) + "_look(locals())"
        seen = self.sight([*self.lines, here, *reversed(self.closing)])
        if seen is None:
            return False
        if seen.error is not None and not (seen.worlds and self.depth and self.chance(30)):
            self.ended = self.chance(3)
            return False
        if seen.worlds:
            self.sure, self.loose = seen.sure, seen.loose
        return seen.worlds > 0 or self.chance(5)

    def statement(self) -> None:
        """One statement that runs."""
        for _ in range(8):
            if self.ended:
                return
            mark, sure, loose, functions = len(self.lines), self.sure, self.loose, list(self.functions)
            getattr(self, "do_" + self.kind())()
            if len(self.lines) == mark:
                continue
            if self.look():
                return
            if not self.ended:
                del self.lines[mark:]
                self.sure, self.loose, self.functions = sure, loose, functions

    def kind(self) -> str:
        nested = int(self.depth < 3 and len(self.lines) < 30)
        return self.weighted(
            (10, "name"), (10, "set"), (6, "swap"), (8, "store"), (6, "augmented"), (5, "grow"), (6, "call"),
            (9 * nested, "branch"), (7 * nested, "loop"), (3 * nested, "try"), (3 * nested, "function"),
            (3 if self.depth else 1, "leave"), (3 if self.loops else 0, "jump"), (1, "check"), (2, "unpack"),
        )  # fmt: skip

    def block(self, header: str, count: int, closing: str = "") -> None:
        """A header and a body of `count` statements, then a closing line."""
        self.emit(header)
        self.depth += 1
        indent, before, outside = "    " * (self.depth + 1), len(self.lines), len(self.closing)
        if closing:
            self.closing.append(indent + closing)
        if self.look():
            for _ in range(count):
                self.statement()
        del self.closing[outside:]
        if len(self.lines) == before and not closing:
            self.emit("pass")
        if closing:
            self.emit(closing)
        self.depth -= 1

    # -- names, attributes, items
    def settable(self) -> list[Place]:
        return [p for p in self.sure if p.settable and not p.text.isidentifier()]

    def do_name(self) -> None:
        names = [p.text for p in self.sure if p.text.isidentifier() and p.text not in "nxf" and p.kind != "int"]
        name = self.pick(names) if names and self.chance(35) else self.fresh("t")
        self.emit(f"{name} = {self.value()}")

    def do_set(self) -> None:
        if pool := self.settable():
            p = self.pick(pool)
            kinds = {"array": self.any_array, "number": self.number, "int": self.int, "float": self.number}
            self.emit(f"{p.text} = {kinds.get(p.kind, self.value)() if self.chance(70) else self.value()}")

    def do_swap(self) -> None:
        """Two or three places change what they hold."""
        pool = self.settable() if self.chance(75) else [p for p in self.sure if p.settable and p.text not in "nx"]
        if not pool:
            return
        first = self.pick(pool)
        like = [p for p in pool if p.kind == first.kind and p.text != first.text] if self.chance(85) else pool
        if not like:
            return
        texts = [first.text, *(p.text for p in self.draw.sample(like, min(len(like), 2 if self.chance(15) else 1)))]
        self.emit(f"{', '.join(texts)} = {', '.join(texts[1:] + texts[:1])}")

    def do_unpack(self) -> None:
        if pool := [p for p in self.of("list", "tuple", "Pair") if p.length]:
            p = self.pick(pool)
            names = [self.fresh("t") for _ in range(p.length)]
            star = "*" if self.chance(25) else ""
            self.emit(f"{star}{', '.join(names)}{'' if len(names) > 1 else ','} = {p.text}")

    # -- stores into arrays
    def do_store(self) -> None:
        a, i = self.array(), self.int()
        self.emit(self.pick((
            f"{a}[{i}] = {self.number()}", f"{a}[...] = {self.fresh_array()}", f"{a}[1:] = {self.number()}",
            f"{a}[{a} > {self.small()}] = {self.number()}", f"{a}[0], {a}[-1] = {a}[-1], {a}[0]",
            f"np.add({a}, {self.number()}, out={a})", f"{a}.fill({self.number()})",
        )))  # fmt: skip

    def do_augmented(self) -> None:
        places = [p for p in self.sure if p.settable and p.kind in ("array", "number", "int", "float")]
        if not places:
            return
        p = self.pick(places)
        value = self.pick((self.number(), self.array())) if p.kind == "array" else self.number()
        place = f"{p.text}[1:]" if p.kind == "array" and self.chance(15) else p.text
        self.emit(f"{place} {self.pick(('+', '+', '-', '*'))}= {value}")

    # -- containers
    def do_grow(self) -> None:
        """A list or dict that gets longer or shorter."""
        pool = self.of("list", "dict")
        if not pool:
            return
        p = self.pick(pool)
        v, a = self.item(), self.array()
        if p.kind == "list":
            forms = (
                f".append({v})", f".append({a})", f".insert(0, {a})", f".extend([{a}, {v}])", ".reverse()",
                f" += [{a}]", "[1:] = []", f"[:1] = [{a}, {v}]",
            )  # fmt: skip
            use = self.pick((*forms, ".pop()", ".pop(0)"))
        else:
            use = self.pick((f"['m'] = {v}", f".update(k={a})", f".setdefault('s', {a})", f"['k'] = {v}", ".pop('j')"))
        named = ".pop" in use or "setdefault" in use
        self.emit((f"{self.fresh('t')} = " if named and self.chance(70) else "") + p.text + use)

    def do_call(self) -> None:
        if (text := self.called()) is not None:
            self.emit(f"{self.fresh('t')} = {text}" if self.chance(60) else text)

    # -- functions inside
    def do_function(self) -> None:
        """A function over what is outside, with an early return; or a lambda."""
        f, a, b = self.fresh("f"), self.array(), self.array()
        if self.chance(25):
            self.emit(f"{f} = lambda z: {self.pick((f'z + {a}', a, f'(z, {a})', f'z if z is {a} else {b}'))}")
        else:
            self.emit(f"def {f}(z):")
            if self.chance(70):
                early = self.pick(("z", a, "1", "None", f"[z, {a}]", self.old()))
                self.emit(f"    if {self.pick((self.test(), f'z[0] > {self.small()}'))}:\n        return {early}")
            if (pool := self.settable()) and self.chance(50):
                p = self.pick(pool)
                self.emit(f"    {p.text} = {self.pick(('z', 'z + 1', a))}")
            if self.chance(25):
                self.emit(f"    z[0] += {self.small()}")
            self.emit(f"    return {self.pick(('z', a, f'z + {a}', f'(z, {b})', f'z is {a}', self.old()))}")
        self.functions.append(f)

    # -- branches, loops, jumps
    def do_branch(self) -> None:
        self.block(f"if {self.test()}:", self.weighted((4, 1), (4, 2), (1, 3)))
        if self.chance(12) and self.look():
            self.block(f"elif {self.test()}:", 1)
        if self.chance(45):
            self.block("else:", self.weighted((4, 1), (3, 2)))

    def do_loop(self) -> None:
        lists = [p.text for p in self.of("list", "tuple") if p.length]
        dicts = [p.text for p in self.of("dict") if p.length]
        i, x, a = self.fresh("i"), self.fresh("x"), self.array()
        kinds = [
            (4, f"for {i} in range({self.pick(('2', '3', self.int(), f'len({a})'))}):"), (1, f"for {x} in {a}:"),
            (2, f"for {x} in ({a}, {self.array()}):"), (5, "while"),
        ]  # fmt: skip
        if lists:
            items = self.pick(lists)
            kinds += [(5, f"for {x} in {items}:"), (2, f"for {i}, {x} in enumerate({items}):")]
            kinds += [(1, f"for {x}, {x}y in zip({items}, {self.pick(lists)}):"), (1, f"for {x} in reversed({items}):")]
        if dicts:
            items = self.pick(dicts)
            kinds += [(3, f"for {i}, {x} in {items}.items():"), (1, f"for {x} in {items}.values():")]
        header, closing = self.weighted(*kinds), ""
        if header == "while":
            k = self.fresh("w")
            self.emit(f"{k} = 0")
            header, closing = f"while {k} < {self.pick(('2', '3', f'len({a})'))}:", f"{k} += 1"
            if self.chance(50):
                header = f"{header[:-1]} and {self.test()}:".replace(" or ", " and ")
        self.loops += 1
        self.block(header, self.weighted((4, 1), (4, 2), (2, 3)), closing)
        self.loops -= 1
        if self.chance(18) and self.look():
            self.block("else:", 1)

    def do_jump(self) -> None:
        """Not `continue` where the count of a `while` would be left out."""
        jump = "break" if self.closing or self.chance(60) else "continue"
        self.emit(f"if {self.test()}:\n    {jump}")

    def do_leave(self) -> None:
        self.emit(f"if {self.test()}:\n    return {self.result()}")

    # -- exceptions
    def do_check(self) -> None:
        text = f"if {self.test()}:\n    raise {self.pick(_RAISED)}('no')"
        self.emit(f"assert {self.test()}" if self.chance(40) else text)

    def do_try(self) -> None:
        """A body that may raise by its own words, or in Python's or NumPy's; its handlers."""
        indent = "    " * (self.depth + 1)
        kind = self.pick(("ValueError", "IndexError", "KeyError", "Exception", "(KeyError, ValueError)"))
        final = self.chance(30)
        handler = f"except {kind}:" if not final or self.chance(50) else "finally:"
        self.closing.append(f"{indent}{handler}\n{indent}    pass")
        self.emit("try:")
        self.depth += 1
        before = len(self.lines)
        if self.look():
            for _ in range(self.pick((1, 2))):
                self.statement()
            if self.chance(60):
                self.may_raise()
        if len(self.lines) == before:
            self.emit("pass")
        self.depth -= 1
        self.closing.pop()
        if handler != "finally:":
            self.block(handler, 1)
            if self.chance(20):
                self.block("else:", 1)
        if final or handler == "finally:":
            self.block("finally:", 1)

    def may_raise(self) -> None:
        """A statement that raises in some worlds."""
        a = self.array()
        lists, dicts = self.of("list"), self.of("dict")
        forms = [f"if {self.test()}:\n    raise {self.pick(_RAISED)}('no')", f"{self.fresh('t')} = {a}[7]"]
        forms.append(f"assert {self.test()}")
        if lists:
            forms.append(f"{self.fresh('t')} = {self.pick(lists).text}[{self.pick(('2', '3', self.int()))}]")
        if dicts:
            forms.append(f"{self.fresh('t')} = {self.pick(dicts).text}['{self.pick('kmz')}']")
        self.emit(self.pick(forms))

    # -- results
    def result(self) -> str:
        """What is returned: places rather than new values, so that identity is compared."""
        texts = [self.value() if self.chance(25) else self.old() for _ in range(self.weighted((6, 1), (4, 2), (2, 3)))]
        if self.chance(12):
            texts.append(f"{self.old()} is {self.old()}")
        if self.loose and self.chance(10):
            texts.append(self.pick(self.loose))
        return ", ".join(texts)
