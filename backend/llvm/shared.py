"""Functions that programs share: loop nests and products, of which equal ones are compiled once in a process.

Such a function stands alone: its text has numbers of its own for names and metadata, and what is outside of it comes
by parameters, so that equal work is equal text, whatever program it is in. Its symbol is a hash of that text. A program
is written with the text of all its functions; of those whose code is there already it is compiled with the
declaration, and linked to that code (backend/runtime/kernel.py).
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence

from tracebuf.cache import blake2b
from tracebuf.frozen import frozen

_NUMBER = re.compile(r"!(\d+)")
ATTRIBUTES = 'noinline nounwind "prefer-vector-width"="512"'


@frozen()
class Shared:
    """A function by its symbol: its declaration, its definition, what both need: declarations and definitions by name,
    metadata nodes in the order of their numbers."""

    declaration: str
    definition: str
    needs: Mapping[str, str]
    metadata: tuple[str, ...]

    def numbered_from(self, first: int) -> Shared:
        """The same with metadata numbers from `first` on."""

        def moved(text: str) -> str:
            return _NUMBER.sub(lambda m: f"!{int(m[1]) + first}", text)

        needs = {name: moved(text) for name, text in self.needs.items()}
        return Shared(self.declaration, moved(self.definition), needs, tuple(map(moved, self.metadata)))


def named(
    kind: str, parameters: Sequence[tuple[str, str]], body: str, needs: Mapping[str, str], metadata: Sequence[str]
) -> tuple[str, Shared]:
    """The symbol of a function that gives an i64, and the function. `parameters`: types and names."""
    given = ", ".join(f"{t} {v}" for t, v in parameters)
    defined = [text for text in needs.values() if text.startswith("define")]
    whole = "\n".join([given, body, *metadata, *defined])
    symbol = f"{kind}_{blake2b(whole.encode(), digest_size=10).hexdigest()}"
    declaration = f"declare i64 @{symbol}({', '.join(t for t, _ in parameters)}) nounwind"
    return symbol, Shared(
        declaration, f"define i64 @{symbol}({given}) {ATTRIBUTES} {body}", dict(needs), tuple(metadata)
    )


def module_text(
    declared: Mapping[str, str], function: str, metadata: Sequence[str], shared: Mapping[str, Shared],
    elsewhere: Container[str] = (),
) -> str:  # fmt: skip
    """A module: a function, with the shared ones that are not `elsewhere`, which are declared."""
    needs, nodes, functions = dict(declared), list(metadata), [function]
    for symbol, one in shared.items():
        if symbol in elsewhere:
            needs[symbol] = one.declaration
            continue
        one = one.numbered_from(len(nodes))
        needs = {**one.needs, **needs}
        functions.append(one.definition)
        nodes += one.metadata
    return "\n".join([*(line for _, line in sorted(needs.items())), "", *functions, "", *nodes, ""])
