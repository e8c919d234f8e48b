"""Functions that programs share: loop nests and products, of which equal ones are compiled once in a process.

Such a function stands alone: its text has numbers of its own for names and metadata, and what is outside of it comes
by parameters, so that equal work is equal text, whatever program it is in. Its symbol is a hash of that text. A program
is written with the text of all its functions; of those whose code is there already it is compiled with the
declaration, and linked to that code (backend/runtime/tiers.py).

In the quick tier a program calls such a function through a pointer, a variable of its module (`pointer_to`), so that
better code takes its place while the program runs.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence

from tracebuf.backend.objects.image import SpeedLevel
from tracebuf.cache import blake2b
from tracebuf.frozen import frozen

_NUMBER = re.compile(r"!(\d+)")
_FLAGS = ("reassoc", "nsz", "nnan", "ninf", "arcp", "contract", "afn", "fast")
"""The flags by which LLVM may choose between several results."""
_ADDRESS = re.compile(r"^( *%[\w.]+) = getelementptr i8, ptr @([\w.]+), i64 0$", re.MULTILINE)
_CALL = re.compile(r"^( *)(%[\w.]+) = call i64 @([\w.]+)\(", re.MULTILINE)
ATTRIBUTES = 'noinline nounwind "prefer-vector-width"="512"'


@frozen()
class Shared:
    """A function by its symbol: its parameters with their names, its body, what it needs: declarations and definitions
    by name, metadata nodes in the order of their numbers; the level at which it is compiled when it is alone."""

    symbol: str
    parameters: tuple[tuple[str, str], ...]
    body: str
    needs: Mapping[str, str]
    metadata: tuple[str, ...]
    level: SpeedLevel = 3

    @property
    def declaration(self) -> str:
        return f"declare i64 @{self.symbol}({', '.join(t for t, _ in self.parameters)}) nounwind"

    @property
    def definition(self) -> str:
        return self._defined(f"@{self.symbol}", self.body)

    def _defined(self, name: str, body: str) -> str:
        return f"define i64 {name}({', '.join(f'{t} {v}' for t, v in self.parameters)}) {ATTRIBUTES} {body}"

    @property
    def leaves_choice(self) -> bool:
        """Whether LLVM may choose between several results, as of a sum by its order."""
        return leaves_choice(self.body)

    @property
    def at_pointer(self) -> str:
        """The definition under another name, and a pointer to it."""
        name = f"@{self.symbol}.first"
        first = self._defined(name, self.body).replace("define ", "define internal ", 1)
        return f"@{pointer_to(self.symbol)} = global ptr {name}, align 8\n{first}"

    def text(self) -> str:
        """The module of this function alone."""
        return module_text(self.needs, self.definition, self.metadata, {})

    def numbered_from(self, first: int) -> Shared:
        """The same with metadata numbers from `first` on."""

        def moved(text: str) -> str:
            return _NUMBER.sub(lambda m: f"!{int(m[1]) + first}", text)

        needs, metadata = {name: moved(text) for name, text in self.needs.items()}, tuple(map(moved, self.metadata))
        return Shared(self.symbol, self.parameters, moved(self.body), needs, metadata, self.level)


def named(
    kind: str, parameters: Sequence[tuple[str, str]], body: str, needs: Mapping[str, str], metadata: Sequence[str],
    level: SpeedLevel = 3,
) -> tuple[str, Shared]:  # fmt: skip
    """The symbol of a function that gives an i64, and the function. `parameters`: types and names."""
    given = ", ".join(f"{t} {v}" for t, v in parameters)
    defined = [text for text in needs.values() if text.startswith("define")]
    whole = "\n".join([given, body, *metadata, *defined])
    symbol = f"{kind}_{blake2b(whole.encode(), digest_size=10).hexdigest()}"
    return symbol, Shared(symbol, tuple(parameters), body, dict(needs), tuple(metadata), level)


def pointer_to(symbol: str) -> str:
    """The variable through which a function is called in the quick tier."""
    return f"{symbol}.at"


def through_pointers(text: str, symbols: Container[str]) -> str:
    """A text that calls, or takes the address of, what the variables of these functions point to."""

    def load(m: re.Match[str]) -> str:
        if m[3] not in symbols:
            return m[0]
        at = f"ptr @{pointer_to(m[3])}"
        return f"{m[1]}{m[2]}.at = load atomic ptr, {at} monotonic, align 8\n{m[1]}{m[2]} = call i64 {m[2]}.at("

    def loaded(m: re.Match[str]) -> str:
        if m[2] not in symbols:
            return m[0]
        return f"{m[1]} = load atomic ptr, ptr @{pointer_to(m[2])} monotonic, align 8"

    return _CALL.sub(load, _ADDRESS.sub(loaded, text))


def leaves_choice(text: str) -> bool:
    """Whether a text has flags by which LLVM may choose between several results, as of a sum by its order."""
    return any(flag in text and re.search(rf"\b{flag}\b", text) for flag in _FLAGS)


def module_text(
    declared: Mapping[str, str], function: str, metadata: Sequence[str], shared: Mapping[str, Shared],
    elsewhere: Container[str] = (), by_pointer: bool = False,
) -> str:  # fmt: skip
    """A module: a function, with the shared ones that are not `elsewhere`, which are declared; `by_pointer`: called
    through pointers."""
    nodes = list(metadata)
    mine = [symbol for symbol in shared if symbol not in elsewhere]
    needs = {s: through_pointers(text, mine) if by_pointer else text for s, text in declared.items()}
    functions = [through_pointers(function, mine) if by_pointer else function]
    for symbol, one in shared.items():
        if symbol in elsewhere:
            needs[symbol] = one.declaration
            continue
        one = one.numbered_from(len(nodes))
        needs = {**one.needs, **needs}
        functions.append(one.at_pointer if by_pointer else one.definition)
        nodes += one.metadata
    return "\n".join([*(line for _, line in sorted(needs.items())), "", *functions, "", *nodes, ""])
