"""One variable for those that only hand a value on: `b = a`, where neither is assigned while the other is still to be
read. Loops and branches then assign to what they began with, as a person would write them.

Counterpart: the coalescing of register allocators (Chaitin, "Register allocation & spilling via graph coloring", 1982),
on the lines of one function.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence

from tracebuf.backend.numba.style.liveness import Liveness, assigned, parsed, read, statements

__all__ = ["coalesced"]


def coalesced(args: Sequence[str], lines: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The lines of a function's body, each a statement, a block's head or a comment, with fewer variables; and the new
    names of those that are gone."""
    tree = parsed(args, lines)
    new = _Classes(args, tree).names()
    return (_without_blanks(_renamed(tree, lines, new)), new) if new else (list(lines), {})


# -- which become one
class _Classes:
    """Sets of variables that are one."""

    def __init__(self, args: Sequence[str], tree: ast.FunctionDef) -> None:
        self.args = set(args)
        self.with_ = Liveness(args, tree).interfering
        self.of: dict[str, set[str]] = {}
        self.fixed = {n for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for n in read(node)}
        """Those whose places in the lines are not known."""
        copies = [(name, value.id) for s in statements(tree.body) if isinstance(s, ast.Assign)
                  for name, value in assigned(s) if isinstance(value, ast.Name)]  # fmt: skip
        degree = Counter(name for pair in copies for name in pair)
        for a, b in sorted(copies, key=lambda pair: -degree[pair[0]] - degree[pair[1]]):
            self._merge(a, b)

    def _merge(self, a: str, b: str) -> None:
        mine, other = self.of.get(a, {a}), self.of.get(b, {b})
        if mine is other or any(self.with_.get(x, set()) & other for x in mine):
            return
        both = mine | other
        if len(both & self.fixed) > 1 or both & self.fixed and both & self.args - self.fixed:
            return
        for name in both:
            self.of[name] = both

    def names(self) -> dict[str, str]:
        """The new names of the variables that get one."""
        new: dict[str, str] = {}
        for names in {id(c): c for c in self.of.values()}.values():
            kept = min(names, key=lambda n: (n not in self.fixed, n not in self.args, *_plainness(n)))
            new.update(dict.fromkeys(names - {kept}, kept))
        return new


def _plainness(name: str) -> tuple[int, int, str]:
    """Names of the user's before made ones, without numbers before those with some."""
    return (re.fullmatch(r"[nx](_\d+)*", name) is not None, len(re.findall(r"_\d+", name)), name)


# -- the lines
def _renamed(tree: ast.FunctionDef, lines: Sequence[str], new: dict[str, str]) -> list[str]:
    """The lines with the new names; an assignment of a variable to itself is an empty line."""
    found = list(lines)
    inside = {id(n) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for n in ast.walk(node)}
    places = [(n.lineno - 2, n.col_offset, n.id) for n in ast.walk(tree)
              if isinstance(n, ast.Name) and n.id in new and id(n) not in inside]  # fmt: skip
    for line, column, name in sorted(places, reverse=True):
        start = len(found[line].encode()[:column].decode())
        found[line] = found[line][:start] + new[name] + found[line][start + len(name) :]
    for s in statements(tree.body):
        if isinstance(s, ast.Assign) and len(pairs := assigned(s)) > 0 and all(_is_copy(v) for _, v in pairs):
            left = [(new.get(n, n), w) for n, v in pairs if (w := _name(v, new)) != new.get(n, n)]
            if len(left) < len(pairs):
                indent = " " * s.col_offset
                text = f"{indent}{', '.join(n for n, _ in left)} = {', '.join(v for _, v in left)}"
                found[s.lineno - 2] = text if left else ""
    return found


def _is_copy(value: ast.expr) -> bool:
    return isinstance(value, (ast.Name, ast.Constant))


def _name(value: ast.expr, new: dict[str, str]) -> str:
    return new.get(value.id, value.id) if isinstance(value, ast.Name) else ast.unparse(value)


def _without_blanks(lines: Sequence[str]) -> list[str]:
    """The lines without those that are empty, and without branches that are."""
    found = list(lines)
    for k in range(len(found) - 1, -1, -1):  # inner ones first
        if found[k].endswith(":") and found[k].lstrip()[:1] != "#":
            body = _body(found, k)
            if any(found[i].strip() and not _is_comment(found[i]) for i in body):
                continue
            if found[k].strip() == "else:":
                for i in (k, *body):
                    found[i] = ""
            elif body and _is_else(found, k, body[-1] + 1):
                after = body[-1] + 1
                for i in (after, *body):
                    found[i] = ""
                found[k] = re.sub(r"^(\s*)if (.*):$", lambda m: f"{m[1]}if {_not(m[2])}:", found[k])
            elif body:
                found[body[0]] = " " * (_indent(found[k]) + 4) + "pass"
    return [x for x in found if x]


def _body(lines: Sequence[str], k: int) -> range:
    """The places of the lines of a block, from its head."""
    end = k + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > _indent(lines[k])):
        end += 1
    return range(k + 1, end)


def _is_else(lines: Sequence[str], k: int, end: int) -> bool:
    return end < len(lines) and lines[end].strip() == "else:" and _indent(lines[end]) == _indent(lines[k])


def _not(test: str) -> str:
    plain = re.fullmatch(r"[\w.]+(\[[^\[\]]*\])?", test)
    return f"not {test}" if plain else test[4:] if re.fullmatch(r"not [\w.]+", test) else f"not ({test})"


def _is_comment(line: str) -> bool:
    return line.lstrip()[:1] == "#"


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
