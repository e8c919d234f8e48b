"""Which names are live after each `if` and loop, and which each assigns: backward data flow over one function's AST.

Liveness is part of how paths are joined (rule S8): a dead temporary must not decide whether two branches can be joined.
Names that nested functions, lambdas and generators read later count as live everywhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from tracebuf.frozen import frozen, plain


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """By class of nodes the fields in which there are others."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        inner = () if issubclass(kind, (ast.Constant, ast.alias, ast.Global, ast.Nonlocal)) else kind._fields
        found = self[kind] = tuple(f for f in inner if f not in _LEAVES)
        return found


_FIELDS = _Fields()
_LEAVES = {
    "ctx", "op", "ops", "id", "name", "attr", "module", "type_comment", "level", "simple", "is_async",
}  # fmt: skip
"""The fields in which there are none, or only contexts and operators."""


CHANGING = frozenset((
    "append", "appendleft", "add", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "remove",
    "reverse", "setdefault", "sort", "update",
))  # fmt: skip
"""The names of the methods that change a container."""
GLOBALS = "<globals>"
"""The name of the object whose attributes are the globals of a function."""


@plain(eq=True)
class Liveness:
    """Names, per compound statement: live after it, live at a loop's head, assigned by it. Live after `a = b` and
    `a = []` too.

    Per loop, of the names that its body assigns: those that it rebinds (not by `+=` alone), bound to an operator's
    result, and those bound to something that is certainly not an int. Per statement: live at the end of the block it
    stands in."""

    after: dict[ast.stmt, frozenset[str]] = field(default_factory=dict)
    head: dict[ast.stmt, frozenset[str]] = field(default_factory=dict)
    ends: dict[ast.stmt, frozenset[str]] = field(default_factory=dict)
    always: dict[ast.stmt, frozenset[str]] = field(default_factory=dict)
    """Of a loop: live wherever one goes from it, by `return` too."""
    assigned: dict[ast.stmt, tuple[str, ...]] = field(default_factory=dict)
    caught: dict[ast.Try, frozenset[str]] = field(default_factory=dict)
    """Of a `try`: live at the end of its body, and where its handlers begin."""
    rebound: dict[ast.stmt, frozenset[str]] = field(default_factory=dict)
    computed: dict[ast.stmt, frozenset[str]] = field(default_factory=dict)
    floats: dict[ast.stmt, frozenset[str]] = field(default_factory=dict)
    read: dict[ast.AST, frozenset[str]] = field(default_factory=dict)
    bound: dict[ast.AST, frozenset[str]] = field(default_factory=dict)
    changed: dict[ast.AST, frozenset[str]] = field(default_factory=dict)
    """What has been asked of expressions, and of statements without others inside: the names that they read, surely
    bind, and change in place. A loop's body is gone through twice or more often, those inside of it again each time."""

    def reads(self, node: ast.AST) -> frozenset[str]:
        if (found := self.read.get(node)) is None:
            found = self.read[node] = frozenset(loaded(node))
        return found

    def changes(self, node: ast.AST) -> frozenset[str]:
        """The names of containers that a node changes in place, by a store or by a method of such a name."""
        if (found := self.changed.get(node)) is None:
            places = (n for n in nodes(node) if isinstance(n, (ast.Subscript, ast.Attribute)))
            changed = [n.value for n in places if isinstance(n.ctx, (ast.Store, ast.Del))
                       or (isinstance(n, ast.Attribute) and n.attr in CHANGING)]  # fmt: skip
            changed += [n.target for n in nodes(node) if isinstance(n, ast.AugAssign)]
            found = self.changed[node] = frozenset(n.id for n in changed if isinstance(n, ast.Name))
        return found

    def binds(self, node: ast.AST) -> frozenset[str]:
        if (found := self.bound.get(node)) is None:
            found = self.bound[node] = frozenset(stored([node], surely=True))
        return found

    def assigns(self, s: ast.stmt, parts: Sequence[ast.AST]) -> None:
        """Notes what a statement that consists of these assigns."""
        if s not in self.assigned:
            self.assigned[s] = stored(parts)


@frozen(slots=False)
class JumpTargets:
    """Names live everywhere, and where `continue` and `break` lead to."""

    always: frozenset[str]
    head: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()


def analyse(function: ast.FunctionDef | ast.Lambda) -> Liveness:
    """The liveness of a function's body."""
    result = Liveness()
    if isinstance(function, ast.Lambda):
        return result
    inner = [n for n in nodes(function) if n is not function]
    always = frozenset(name for n in inner for name in read_later(n))
    if any(isinstance(n, ast.Name) and n.id == "eval" for n in inner):  # whose text may name any
        always |= {a.arg for a in inner if isinstance(a, ast.arg)} | {*stored(function.body)}
    _block(function.body, always, JumpTargets(always), result)
    return result


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def loaded(node: ast.AST) -> set[str]:
    """Names read anywhere in a node (an augmented assignment reads its target); not those that are of comprehensions
    inside."""
    names: set[str] = set()
    work = [node]
    while work:
        n = work.pop()
        if isinstance(n, ast.Name):
            if isinstance(n.ctx, ast.Load):
                names.add(n.id)
        elif isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
            names.add(n.target.id)
        if isinstance(n, COMPREHENSIONS):
            names |= loaded(n.generators[0].iter) | loaded_inside(n)
        elif _FIELDS[n.__class__]:
            work += children(n)
    return names


def loaded_inside(n: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> set[str]:
    """Names from outside that a comprehension reads; not those of its first iterable, which is evaluated outside."""
    first = n.generators[0].iter
    parts = [p for x in children(n) for p in (children(x) if isinstance(x, ast.comprehension) else [x])]
    bound = [t for g in n.generators for t in nodes(g.target) if isinstance(t, ast.Name)]
    own = {t.id for t in bound if isinstance(t.ctx, ast.Store)}
    return {name for part in parts if part is not first for name in loaded(part)} - own


def read_later(f: ast.AST) -> set[str]:
    """Names that may be read whenever what a node makes is used: a function, a generator. Other comprehensions are
    evaluated where they stand."""
    if isinstance(f, ast.GeneratorExp):
        return loaded_inside(f)
    return loaded(f) if isinstance(f, (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef)) else set()


def stored(nodes: Iterable[ast.AST], surely: bool = False) -> tuple[str, ...]:
    """Names bound anywhere in nodes, in order of appearance; not those that belong to functions and comprehensions
    inside. `surely`: without those of `:=`, which Python may not evaluate."""
    found: dict[str, None] = {}
    for node in nodes:
        for n in own_nodes(node):
            if isinstance(n, ast.Name) and isinstance(n.ctx, (ast.Store, ast.Del)):
                found[n.id] = None
            elif isinstance(n, (ast.FunctionDef, ast.ClassDef)):
                found[n.name] = None
            elif isinstance(n, ast.ExceptHandler) and n.name:
                found[n.name] = None
            elif isinstance(n, ast.NamedExpr) and not surely:
                found[n.target.id] = None
    return tuple(found)


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, in order."""
    found: list[ast.AST] = []
    for name in _FIELDS[node.__class__]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [v for v in value if isinstance(v, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def nodes(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, each before those below it, as of `ast.walk`, but for contexts and operators: a third of
    all, in half of the time."""
    work = [node]
    while work:
        node = work.pop()
        yield node
        if _FIELDS[node.__class__]:
            work += children(node)[::-1]


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one whose names are the function's own; the target of a `:=` counts with the `:=`."""
    work = [node]
    while work:
        node = work.pop()
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            continue
        if isinstance(node, COMPREHENSIONS):
            yield from (n for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
        elif _FIELDS[node.__class__]:
            work += [node.value] if isinstance(node, ast.NamedExpr) else children(node)[::-1]


def _block(body: Sequence[ast.stmt], live: frozenset[str], place: JumpTargets, out: Liveness) -> frozenset[str]:
    """The names live before a block, where `live` are live after it; fills `out` for the statements in it."""
    end = live
    for statement in reversed(body):
        out.ends[statement] = out.ends.get(statement, frozenset()) | end
        live = _statement(statement, live, place, out)
    return live


def _statement(s: ast.stmt, live: frozenset[str], place: JumpTargets, out: Liveness) -> frozenset[str]:
    """The names live before a statement, where `live` are live after it."""
    if isinstance(s, ast.If):
        out.after[s] = live
        out.assigns(s, [s])
        return _block(s.body, live, place, out) | _block(s.orelse, live, place, out) | out.reads(s.test)
    if isinstance(s, (ast.For, ast.While)):
        return _loop(s, live, place, out)
    if isinstance(s, (ast.Return, ast.Raise)):
        return place.always | out.reads(s)
    if isinstance(s, (ast.Break, ast.Continue)):
        return place.after if isinstance(s, ast.Break) else place.head
    if isinstance(s, ast.With):
        out.assigns(s, [s])
        out.after[s] = live
        return _block(s.body, live, place, out).union(*map(out.reads, s.items))
    if isinstance(s, ast.Try):
        out.assigns(s, [s])
        after = _block(s.finalbody, live, place, out)
        handled = after.union(*(_block(h.body, after, place, out) for h in s.handlers))
        inside = JumpTargets(place.always | handled, place.head | handled, place.after | handled)
        end = _block(s.orelse, after, place, out) | handled
        out.after[s], out.caught[s] = after, end
        body = _block(s.body, end, inside, out)
        return body.union(*(out.reads(h.type) for h in s.handlers if h.type is not None))
    if isinstance(s, ast.Assign) and isinstance(s.value, (ast.Name, ast.List)):
        out.after[s] = live
    return (live - out.binds(s)) | out.reads(s) | place.always


def _loop(s: ast.For | ast.While, live: frozenset[str], place: JumpTargets, out: Liveness) -> frozenset[str]:
    """The names live before a loop: its body is analysed to a fixed point, for its end leads back to its head."""
    live_after = _block(s.orelse, live, place, out) | live
    bound = out.binds(s.target) if isinstance(s, ast.For) else frozenset[str]()
    test = out.reads(s.test) if isinstance(s, ast.While) else frozenset[str]()
    head = live_after | test
    while True:  # what is live at the head: the body with what is live after it, to a fixed point
        inside = JumpTargets(place.always, head, live_after)
        entry = (_block(s.body, head, inside, out) - bound) | live_after | test
        if entry <= head:
            break
        head |= entry
    out.after[s], out.head[s], out.always[s] = live_after, head, place.always
    if s not in out.assigned:
        _note_what_is_bound(s, out)
    return head | (out.reads(s.iter) if isinstance(s, ast.For) else frozenset())


def _note_what_is_bound(s: ast.For | ast.While, out: Liveness) -> None:
    """By the form of a loop's body alone."""
    inside = [n for b in s.body for n in nodes(b)]
    results = [n for n in inside if isinstance(n, ast.Assign) and isinstance(n.value, ast.BinOp)]
    out.computed[s] = frozenset(t.id for n in results for t in n.targets if isinstance(t, ast.Name))
    out.floats[s] = frozenset(n for a in inside for n in bound_to_floats(a))
    changed = {n.target for n in inside if isinstance(n, ast.AugAssign)}
    bound_anew = [n for n in inside if isinstance(n, ast.Name) and n not in changed]
    out.rebound[s] = frozenset(n.id for n in bound_anew if isinstance(n.ctx, ast.Store))
    out.assigns(s, [s.target, *s.body] if isinstance(s, ast.For) else [*s.body, s.test])


def bound_to_floats(s: ast.AST) -> list[str]:
    """The names that an assignment binds to a float: there is a division, or a float literal, in its value."""
    if isinstance(s, ast.AugAssign):
        found = isinstance(s.op, ast.Div) or makes_float(s.value)
        return [s.target.id] if found and isinstance(s.target, ast.Name) else []
    if isinstance(s, ast.Assign) and isinstance(s.value, ast.BinOp) and makes_float(s.value):
        return [t.id for t in s.targets if isinstance(t, ast.Name)]
    return []


def makes_float(e: ast.expr) -> bool:
    """Whether an expression certainly gives a number that is not an int, by its form alone."""
    if isinstance(e, ast.BinOp):
        return isinstance(e.op, ast.Div) or makes_float(e.left) or makes_float(e.right)
    return isinstance(e, ast.Constant) and isinstance(e.value, float)


def leaves_by(body: Sequence[ast.stmt], *kinds: type[ast.stmt]) -> bool:
    """Whether a block contains a jump of these kinds out of it (`break` and `continue` belong to their loop)."""
    for s in body:
        if isinstance(s, kinds):
            return True
        if isinstance(s, (ast.For, ast.While)):
            inner = tuple(k for k in kinds if k is ast.Return)
            if (inner and leaves_by(s.body, *inner)) or leaves_by(s.orelse, *kinds):
                return True
        elif isinstance(s, (ast.If, ast.With, ast.Try)) and leaves_by(inner_statements(s), *kinds):
            return True
    return False


def inner_statements(s: ast.If | ast.With | ast.Try) -> list[ast.stmt]:
    """The statements inside a statement that is not a loop."""
    handlers = [b for h in getattr(s, "handlers", []) for b in h.body]
    return [*s.body, *handlers, *getattr(s, "orelse", []), *getattr(s, "finalbody", [])]


def may_end(body: Sequence[ast.stmt]) -> bool:
    """Whether a block may be run to its end, by its form alone."""
    for s in body:
        if isinstance(s, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return False
        if isinstance(s, ast.If) and s.orelse and not may_end(s.body) and not may_end(s.orelse):
            return False
    return True
