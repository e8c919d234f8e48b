"""A function's text with its loops as functions of their own, for Numba to compile: what Numba does not compile to the
same bits (NumPy's transcendental functions, products, host calls) stays in the function, which is plain Python."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from itertools import count

from tracebuf.backend.numba.style.format import fitted
from tracebuf.backend.numba.style.liveness import Liveness, parsed

BEGIN, END = "#<", "#>"
"""Lines around an op that may be a function of its own."""
DECORATOR = '@njit(error_model="numpy")'
_SAME_BITS = (
    "empty zeros float64 float32 complex128 complex64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool_ "
    "sqrt floor ceil trunc rint copysign fmod isnan isinf isfinite conj"
).split()
_NOT_COMPILED = re.compile(
    r"""f["'][^"']*\{[^{}]*:[^{}]*\}|"""  # how a number is written in a text
    r" @ |@= |\)\[|float16|np\.reshape|scipy\.|\b(?:part|windows|diagonal|recast)\(|\b(?:call|c|error)_\w*\(|\berror\("
)
_ASSIGNED = re.compile(r"\s*(\w+(?:, \w+)*) [-+*/]?= ")
_LOOP = re.compile(r"\s*for (\w+) in ")


def outlined(
    name: str, args: Sequence[str], lines: Sequence[str], variables: set[str], others: set[str],
    without: set[str],
) -> tuple[list[str], list[str]]:  # fmt: skip
    """The texts of the functions, and the lines that are left. `variables` are all that the function has, `others` the
    functions of the program; what uses variables of `without` is not compiled."""
    return _Outliner(name, list(lines), Liveness(args, parsed(args, lines)), variables, others, without).run()


class _Outliner:
    def __init__(
        self, name: str, lines: list[str], liveness: Liveness, variables: set[str], others: set[str],
        without: set[str],
    ) -> None:  # fmt: skip
        self.name, self.lines, self.liveness = name, lines, liveness
        self.variables, self.others, self.without = variables, others, without
        self.made: list[str] = []
        self.names = (f"{name}_{k}" for k in count(1))

    def run(self) -> tuple[list[str], list[str]]:
        return self.made, self._block(0, len(self.lines))

    def _block(self, start: int, end: int) -> list[str]:
        found: list[str] = []
        k = start
        while k < end:
            if not self.lines[k].lstrip().startswith(BEGIN):
                found.append(self.lines[k])
                k += 1
                continue
            after = self._end(k)
            inner = [x for x in self.lines[k + 1 : after] if not _is_mark(x)]
            if self._compiles(inner):
                found += self._piece(k, after, inner)
            else:
                found += self._block(k + 1, after)
            k = after + 1
        return found

    def _end(self, start: int) -> int:
        depth = 0
        for k in range(start, len(self.lines)):
            text = self.lines[k].lstrip()
            depth += text.startswith(BEGIN) - text.startswith(END)
            if not depth:
                return k
        return len(self.lines)

    def _compiles(self, lines: Sequence[str]) -> bool:
        """Whether Numba compiles these lines, to the same bits, and that is worth it."""
        code = "\n".join(x for x in lines if x.lstrip()[:1] != "#")
        if not re.search(r"^\s*(for|while) ", code, re.MULTILINE) or _NOT_COMPILED.search(code):
            return False
        if "break" in code and not _ends_loops_of_its_own(lines):
            return False
        if not self.without.isdisjoint(re.findall(r"\w+", code)):
            return False
        called = set(re.findall(r"(\w+)\(", code))
        return not called & self.others and set(re.findall(r"\bnp\.(\w+)\(", code)) <= set(_SAME_BITS)

    def _piece(self, start: int, end: int, lines: Sequence[str]) -> list[str]:
        """Makes a function of these lines; the call of it."""
        known = [k for k in range(start, end) if k in self.liveness.before]
        outer = [k for k in known if _indent(self.lines[k]) == _indent(self.lines[start])]
        used = {w for x in lines if x.lstrip()[:1] != "#" for w in re.findall(r"\w+", x)}
        given = sorted(self.liveness.before[outer[0]] & self.variables & used)
        gives = sorted(_assigned(lines) & self.liveness.after[outer[-1]] & self.variables)
        indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
        name = next(n for n in self.names if n not in self.others)
        kept = (x for x in lines if not x.lstrip().startswith("del "))
        body = [part for x in kept for part in fitted(f"    {x[len(indent) :]}")]
        tail = [f"    return {', '.join(gives)}"] if gives else []
        head = fitted(f"def {name}({', '.join(given)}):")
        self.made.append("\n".join([DECORATOR, *head, *body, *tail]))
        comments = [x for x in lines[:1] if x.lstrip()[:1] == "#"]
        call = f"{name}({', '.join(given)})"
        return [*comments, f"{indent}{', '.join(gives)} = {call}" if gives else f"{indent}{call}"]


def _ends_loops_of_its_own(lines: Sequence[str]) -> bool:
    """Whether each `break` stands in a loop of these lines."""
    try:
        compile(textwrap.dedent("\n".join(lines)), "<lines>", "exec")
    except SyntaxError:
        return False
    return True


def _is_mark(line: str) -> bool:
    return line.lstrip().startswith((BEGIN, END))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _assigned(lines: Sequence[str]) -> set[str]:
    """The variables that lines assign to, as a whole."""
    found: set[str] = set()
    for x in lines:
        if match := _ASSIGNED.match(x):
            found |= set(match[1].split(", "))
        if match := _LOOP.match(x):
            found.add(match[1])
    return found
