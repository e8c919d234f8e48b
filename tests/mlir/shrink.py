"""Makes a module in MLIR's generic form smaller while it keeps a property, by deleting ops whole.

An op's results are replaced by another value of the same type; whether that is valid is for the property to say (it
asks the binary, many candidates at once). A line of generic form begins an op, ends its regions, or is a block's label.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_DEFINITION = re.compile(r"^\s*(%[\w#]+)(?::(\d+))? = ")
_VALUE = re.compile(r"%[\w]+(?:#\d+)?")
_TERMINATORS = ("yield", "return", "condition", "br", "in_parallel", "cond_br")

Property = Callable[[Sequence[str]], list[bool]]


def shrink(text: str, keeps: Property) -> str:
    """A module for which `keeps` holds as it does for `text`, with fewer ops."""
    while True:
        candidates = sorted({c for c in _smaller(text) if len(c) < len(text)}, key=len)
        kept = next((c for c, ok in _ask(candidates, keeps) if ok), None)
        if kept is None:
            return text
        text = kept


def _ask(candidates: Sequence[str], keeps: Property) -> list[tuple[str, bool]]:
    for i in range(0, len(candidates), 60):
        part = candidates[i : i + 60]
        answers = list(zip(part, keeps(part)))
        if any(ok for _, ok in answers):
            return answers
    return []


def _smaller(text: str) -> list[str]:
    """Candidates: each op, or run of ops, left out; its results stood in for by other values."""
    lines = text.splitlines()
    spans = [(i, _end(lines, i)) for i, line in enumerate(lines) if _begins(line)]
    found = []
    for begin, end in spans:
        name = lines[begin].split('"')[1]
        if name == "builtin.module" or name.rpartition(".")[2] in _TERMINATORS:
            continue
        found += _without(lines, begin, end)
    for k in (8, 4, 2):  # several neighbours at once
        for (begin, _), (_, end) in zip(spans, spans[k:]):
            if _depth(lines[begin]) == _depth(lines[end - 1]):
                found += _without(lines, begin, end)[:1]
    return found


def _begins(line: str) -> bool:
    return bool(re.match(r'^\s*(%[^"]*= )?"', line))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def _end(lines: list[str], begin: int) -> int:
    """Behind the last line of the op that begins at a line."""
    if not lines[begin].endswith("({"):
        return begin + 1
    depth = _depth(lines[begin])
    end = begin + 1
    while not (lines[end].lstrip().startswith("})") and _depth(lines[end]) == depth):
        end += 1
    return end + 1


def _without(lines: list[str], begin: int, end: int) -> list[str]:
    """The module without some lines, with up to four choices of what stands in for what they defined."""
    depth = _depth(lines[begin])
    if any(line.lstrip().startswith("^") and _depth(line) < depth for line in lines[begin:end]):
        return []  # the end of a block
    rest = lines[:begin] + lines[end:]
    wanted = {
        name: type
        for i in range(begin, end)
        for name, type in _defined(lines, i, end)
        if any(re.search(re.escape(name) + r"(?![\w#])", line) for line in rest)
    }
    if not wanted:
        return ["\n".join(rest) + "\n"]
    before = [pair for i in range(begin) for pair in _defined(lines, i, len(lines))]
    choices = {name: [v for v, t in reversed(before) if t == type][:30] for name, type in wanted.items()}
    if not all(choices.values()):
        return []
    found = []
    for k in range(4):
        table = {name: many[min(k, len(many) - 1)] for name, many in choices.items()}
        put = lambda m, table=table: table.get(m[0], m[0])  # noqa: E731
        found.append("\n".join([*lines[:begin], *(_VALUE.sub(put, line) for line in lines[end:])]) + "\n")
    return found


def _defined(lines: list[str], i: int, end: int) -> list[tuple[str, str]]:
    """The values, with types, that a line defines: results, or arguments of a block."""
    line = lines[i]
    if line.lstrip().startswith("^"):
        return re.findall(r"(%\w+): ((?:[^,()<>]|<[^<>]*>)+)", line)
    match = _DEFINITION.match(line)
    if match is None:
        return []
    last = lines[_end(lines, i) - 1]
    kinds = _split(last.rpartition(" -> ")[2].strip("()"))
    if match[2] is None:
        return [(match[1], kinds[0])]
    return [(f"{match[1]}#{k}", kind) for k, kind in enumerate(kinds)]


def _split(text: str) -> list[str]:
    """Types with commas between them."""
    return [t.strip() for t in re.findall(r"(?:[^,<>]|<[^<>]*>)+", text)]
