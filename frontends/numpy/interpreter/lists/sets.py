"""Sets whose items only the run time knows: their methods and operators (`keyed` has what dicts have, too).

Items come in CPython's order, which follows from how a set was made: each function here builds or changes the table as
its counterpart in Objects/setobject.c does (`set_merge`, `set_intersection` ...). Where another set may be the same
one, depending on the path, and of a set of known items of which it is not known how it was made, the order is not
certain: the table says so, and what depends on it raises UnsupportedError then.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tracebuf.frontends.numpy.functions.formulas import hashing, prelude
from tracebuf.frontends.numpy.interpreter.evaluator import Evaluator
from tracebuf.frontends.numpy.interpreter.lists import growing, keyed
from tracebuf.frontends.numpy.interpreter.lists.text_keys import is_whole
from tracebuf.frontends.numpy.paths.identity import container_identity
from tracebuf.frontends.numpy.paths.iteration import OneShotIterator
from tracebuf.frontends.numpy.record.cond import ends
from tracebuf.frontends.numpy.record.growing import (
    NOTHING,
    TABLE,
    Form,
    Regrow,
    Several,
    columns,
    form_in,
    is_keyed,
    python_of,
)
from tracebuf.frontends.numpy.record.heap import DictView, Record, is_groups
from tracebuf.frontends.numpy.record.raises import call_as
from tracebuf.frontends.numpy.record.values import INT

OPERATORS = {"BitAnd": "&", "BitOr": "|", "Sub": "-", "BitXor": "^"}
"""By name in the syntax tree: the operators of sets."""


# -- operands
def is_set(x: Any) -> bool:
    """Whether a value is a set: of known items, or by run-time keys."""
    return isinstance(x, (set, frozenset)) or (is_keyed(x) and not keyed.is_ordered(x))


def as_set(i: Evaluator, node: ast.AST, x: Any, form: Several) -> Record:
    """A set as one by run-time keys of items of a form. One of known items is made so where it is made."""
    if is_keyed(x):
        return keyed.empty(i, node, form, set) if form_in(x) is NOTHING is not form else x
    place = i.sets.get(x)
    if x and place is not None and place not in i.r.growth.rolled:
        i.r.growth.long.add(place)
        raise Regrow
    made = keyed.empty(i, node, form, set)
    i.r.heap.known[made].label = replace(i.r.loc, text="operand")  # not that of the result
    for item in x:
        keyed.put(i, node, made, (item,))
    if x:
        i.call_function(hashing.make_unsure, [made.fields[TABLE]], {})
    return made


def common_form(i: Evaluator, node: ast.AST, sets: Sequence[Any], takes: bool = True) -> Several:
    """The form of the items of sets; `takes`: whether the result has items of those but the first."""
    of = sets if takes else sets[:1]
    forms: list[Form] = [form_in(x) for x in of if is_keyed(x) and form_in(x) is not NOTHING]
    known = [k for x in of if not is_keyed(x) for k in x]
    form = forms[0] if forms else Several(tuple, (INT,)) if known else NOTHING
    assert isinstance(form, Several)
    alike = all(f == form for f in forms) and (not known or form.parts[0] == INT)
    if not alike or not all(type(k) is int for k in known):
        raise i.refuse(node, "an operator on sets of unlike items", "make them of one type: {int(x) for x in ...}")
    return form


def operands(i: Evaluator, node: ast.AST, a: Any, b: Any, takes: bool = True) -> tuple[Record, Record]:
    """Two sets as such by run-time keys, of items of one form; of the second of another, if the result has none of
    them."""
    if not takes and form_in_set(a) is not NOTHING is not form_in_set(b):
        if all(is_whole_set(x) for x in (a, b)):
            return as_set(i, node, a, common_form(i, node, [a])), as_set(i, node, b, common_form(i, node, [b]))
    form = common_form(i, node, [a, b])
    return as_set(i, node, a, form), as_set(i, node, b, form)


def form_in_set(x: Any) -> Form:
    """The form of the items of a set."""
    return form_in(x) if is_keyed(x) else Several(tuple, (INT,)) if x else NOTHING


def is_whole_set(x: Any) -> bool:
    """Whether the items are ints."""
    form = form_in_set(x)
    return isinstance(form, Several) and bool(form.parts) and is_whole(form.parts[0])


def may_be_same(i: Evaluator, a: Record, b: Record) -> bool:
    """Whether two sets may be one, on some paths only."""
    if a is b:
        return False
    return any(x is y for x in ends(container_identity(i.r, a)) for y in ends(container_identity(i.r, b)))


def check_apart(i: Evaluator, node: ast.AST, x: Record, other: Record) -> None:
    """Refuses to change a set by one that may be itself."""
    if may_be_same(i, x, other):
        raise i.refuse(node, "a set is changed by one that may be the same", "use a copy: set(t)")


def in_order(x: Any) -> DictView:
    """The items of a set, in order."""
    return DictView(x, keyed.UNCHECKED)


def listed(i: Evaluator, node: ast.AST, x: Any) -> Any:
    """What is not a set, as what can be gone through."""
    if is_keyed(x):
        return keyed.listing(i, x, "keys")
    if isinstance(x, dict):
        return list(x)
    return i.call(node, list, [x], {}) if isinstance(x, OneShotIterator) else x


def count_of_dict(x: Any) -> Any:
    """The number of items of a dict, for which a set makes room; None for anything else."""
    if is_keyed(x):
        return growing.length(x) if python_of(x) is dict else None
    return len(x) if type(x) is dict else None


def given(i: Evaluator, x: Record) -> list[Any]:
    """The table, the columns of the keys, and the length."""
    return [keyed.table_of(i, x), keyed.key_columns(x, columns(x)), growing.length(x)]


def retable(i: Evaluator, node: ast.AST, x: Record, change: Callable[..., Any], *more: Any) -> None:
    """Gives a set the table that a function makes of the old one."""
    held = columns(x)
    i.change(node, x)
    i.r.heap.take(x, i.r)
    now = given(i, x)
    x.fields[TABLE] = None
    table = growing.on_column(i, change, *now, *more, keyed.is_of_tuples(x))
    growing.set_parts(i, x, held, growing.length(x))
    x.fields[TABLE] = table


# -- making
def make(i: Evaluator, node: ast.AST, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """set(x) of a dict, or of what becomes a set by run-time keys here, and set.union(s, ...); NotImplemented for any
    other call."""
    unbound = isinstance(function, types.MethodDescriptorType) and function.__objclass__ is set
    if unbound and args and is_set(args[0]) and is_keyed(args[0]) and function.__name__ in METHODS:
        return call_as(function, METHODS[function.__name__], (i, node, args[0]), args[1:], kwargs)
    if function is not set or kwargs or len(args) != 1:
        return NotImplemented
    known = isinstance(args[0], (dict, set, frozenset)) and i.at(node) in i.r.growth.rolled
    if not known and (not is_keyed(args[0]) or python_of(args[0]) is not dict):
        return NotImplemented
    made = keyed.begin(i, node, set, keyed.label_of(i.at(node)))
    update(i, node, made, args[0])
    return made


def as_written(i: Evaluator, node: ast.Set, made: Record, items: Sequence[Any]) -> Record:
    """A set that is written out, to which its items were added. Three constants or more are a frozenset of the
    compiler's, which is copied, but for a loop right over it; it is made in another order where it comes from a file
    of compiled code."""
    if form_in(made) is NOTHING:
        return made
    constant = all(map(is_constant, node.elts))
    unsure = any(isinstance(part, ast.Starred) or is_folded(part) for part in node.elts)
    if constant and len(items) > 2:
        made = keyed.copy(i, node, made)
        unsure |= not comes_in_one_order(set(items))
    if unsure:
        i.call_function(hashing.make_unsure, [made.fields[TABLE]], {})
    return made


def is_constant(node: ast.expr) -> bool:
    """Whether an expression is a constant, a tuple of such, or one with a sign."""
    if isinstance(node, ast.Tuple):
        return all(map(is_constant, node.elts))
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def is_folded(node: ast.expr) -> bool:
    """Whether the compiler may compute an expression that is not written as a constant."""
    names = (ast.Name, ast.Call, ast.Attribute, ast.Subscript)
    return not is_constant(node) and not any(isinstance(part, names) for part in ast.walk(node))


def comes_in_one_order(items: set[Any]) -> bool:
    """Whether known items are each in the first place of a set that they may have, in one order, if the set is made
    item by item and if it is a copy."""
    n, added, copied = len(items), hashing.LEAST, hashing.LEAST
    for k in range(1, n + 1):
        if k * 5 >= (added - 1) * 3:
            added = hashing.size_above(hashing.grown_size(k))
    if n * 5 >= (hashing.LEAST - 1) * 3:
        copied = hashing.size_above(2 * n)
    places = [{hash(x) % size: x for x in items} for size in (added, copied)]
    orders = [[of[place] for place in sorted(of)] for of in places]
    return len(orders[0]) == len(orders[1]) == n and orders[0] == orders[1]


# -- changing
def add(i: Evaluator, node: ast.AST, x: Record, key: Any, /) -> None:
    """x.add(key)."""
    keyed.put(i, node, x, (key,))


def discard(i: Evaluator, node: ast.AST, x: Record, key: Any, /) -> None:
    """x.discard(key)."""
    i.call_function(hashing.discarded, [x, key], {})


def remove(i: Evaluator, node: ast.AST, x: Record, key: Any, /) -> None:
    """x.remove(key)."""
    keyed.check_not_walked(i, node, x)
    if form_in(x) is NOTHING:
        i.call_function(hashing.missing, [key], {})
        return
    table, keys, _ = given(i, x)
    wanted = keyed.hashed(i, node, x, key)
    place = i.call_function(hashing.place_to_remove, [table, keys, wanted, keyed.is_of_tuples(x), key], {})
    take_out(i, x, growing.change(i, node, x), place)


def take_out(i: Evaluator, x: Record, held: list[Any], place: Any) -> None:
    """Takes the item at a place out, of a set whose columns were taken from it."""
    n, table = growing.length(x), keyed.table_of(i, x)
    growing.on_column(
        i, hashing.removed_from_set, held, keyed.key_columns(x, held), table, n, place, keyed.is_of_tuples(x)
    )
    growing.set_parts(i, x, held, i.operate("Sub", n, 1))


def pop(i: Evaluator, node: ast.AST, x: Record, /) -> Any:
    """x.pop(): the item that CPython takes."""
    keyed.check_not_walked(i, node, x)
    keyed.check_order(i, node, x)
    if form_in(x) is NOTHING:
        return i.call_function(hashing.popped_from_nothing, [], {})
    n = growing.length_in_memory(i, x)
    held, table = growing.change(i, node, x), keyed.table_of(i, x)
    place = growing.on_column(i, hashing.place_to_pop, table, n)
    made = growing.new(i, form_in(x).parts[0])  # type: ignore[union-attr]
    found = growing.at(i, made, held, i.call_function(hashing.number_at, [table, place, n], {}))
    take_out(i, x, held, place)
    return found


def merge(i: Evaluator, node: ast.AST, x: Record, other: Record) -> None:
    """Adds the items of another set (`set_merge`)."""
    if form_in(other) is NOTHING or x is other:
        return
    check_apart(i, node, x, other)
    if form_in(x) is NOTHING:
        i.call_function(prelude.set_of, [in_order(other), x], {})
        return
    retable(i, node, x, hashing.set_with_room, growing.length(other))
    theirs = keyed.table_of(i, other)
    takes = i.call_function(hashing.is_taken_over, [keyed.table_of(i, x), theirs, growing.length(other)], {})
    i.call_function(prelude.set_of, [in_order(other), x], {})
    growing.on_column(i, hashing.as_taken_over, keyed.table_of(i, x), theirs, takes)


def update(i: Evaluator, node: ast.AST, x: Record, /, *others: Any) -> None:
    """x.update(*others)."""
    keyed.check_not_walked(i, node, x)
    for other in others:
        if is_set(other):
            merge(i, node, x, operands(i, node, x, other)[1])
            continue
        if (n := count_of_dict(other)) is not None and form_in(x) is not NOTHING:
            retable(i, node, x, hashing.set_with_room, n)
        i.put_all(prelude.set_of, x, listed(i, node, other) if is_keyed(other) or isinstance(other, dict) else other)


def difference_update(i: Evaluator, node: ast.AST, x: Record, /, *others: Any) -> None:
    """x.difference_update(*others)."""
    keyed.check_not_walked(i, node, x)
    for other in others:
        if form_in(x) is NOTHING:
            continue
        if other is x:
            keyed.clear(i, node, x)
            continue
        if is_set(other):
            other = operands(i, node, x, other, takes=False)[1]
            check_apart(i, node, x, other)
            i.call_function(hashing.taken_from, [in_order(other), x], {})
        else:
            i.call_function(hashing.taken_from, [listed(i, node, other), x], {})
        retable(i, node, x, hashing.purged_set)


def symmetric_difference_update(i: Evaluator, node: ast.AST, x: Record, other: Any, /) -> None:
    """x.symmetric_difference_update(other)."""
    keyed.check_not_walked(i, node, x)
    if other is x:
        return keyed.clear(i, node, x)
    if count_of_dict(other) is not None:
        i.call_function(hashing.changed_by, [listed(i, node, other), x], {})
        return
    if not is_set(other):
        other = set_of(i, node, x, other)
    other = operands(i, node, x, other)[1]
    check_apart(i, node, x, other)
    i.call_function(hashing.changed_by, [in_order(other), x], {})
    doubt(i, x, other)


def set_of(i: Evaluator, node: ast.AST, x: Record, items: Any) -> Record:
    """The set of items that are those of another one."""
    made = like(i, node, x)
    update(i, node, made, items)
    return made


def intersection_update(i: Evaluator, node: ast.AST, x: Record, /, *others: Any) -> None:
    """x.intersection_update(*others)."""
    keyed.check_not_walked(i, node, x)
    made = intersection(i, node, x, *others)
    if form_in(x) is NOTHING:
        return
    growing.change(i, node, x)
    i.call_function(hashing.take_finger, [keyed.table_of(i, made), keyed.table_of(i, x)], {})
    growing.set_parts(i, x, columns(made), growing.length(made))
    x.fields[TABLE] = made.fields[TABLE]


# -- new sets
def union(i: Evaluator, node: ast.AST, x: Record, /, *others: Any) -> Record:
    """x.union(*others)."""
    if form_in(x) is NOTHING and others:
        made, others = i.call(node, set, [others[0]], {}), others[1:]
        made = made if is_keyed(made) else as_set(i, node, made, common_form(i, node, [made]))
    else:
        made = keyed.copy(i, node, x)
    for other in others:
        if other is not x:
            update(i, node, made, other)
            if is_keyed(other) and is_set(other) and may_be_same(i, x, other):
                i.call_function(hashing.make_unsure, [made.fields[TABLE]], {})
    return made


def intersection(i: Evaluator, node: ast.AST, x: Record, /, *others: Any) -> Record:
    """x.intersection(*others)."""
    made = x
    for other in others:
        a = made
        if other is a:
            made = keyed.copy(i, node, a)
        elif is_set(other):
            a, b = operands(i, node, a, other)
            made = like(i, node, a)
            if form_in(a) is not NOTHING:
                i.call_function(hashing.common_of, [a, b, in_order(a), in_order(b), made], {})
                doubt(i, made, a, b)
        else:
            made = like(i, node, a)
            if form_in(a) is not NOTHING:
                i.call_function(hashing.found_of, [listed(i, node, other), a, made], {})
    return made if made is not x else keyed.copy(i, node, x)


def like(i: Evaluator, node: ast.AST, x: Record) -> Record:
    """An empty set of items like those of another one."""
    form = form_in(x)
    assert isinstance(form, Several)
    return keyed.copy(i, node, x) if form is NOTHING else keyed.empty(i, node, form, set)


def difference(i: Evaluator, node: ast.AST, x: Record, /, *others: Any) -> Record:
    """x.difference(*others)."""
    if not others or form_in(x) is NOTHING:
        return keyed.copy(i, node, x)
    first, *more = others
    if is_set(first) or count_of_dict(first) is not None:
        b = operands(i, node, x, first, takes=False)[1] if is_set(first) else first
        made = like(i, node, x)
        i.call_function(hashing.others_of, [x, b, in_order(x), made], {})
        doubt(i, made, x)
    else:
        made = keyed.copy(i, node, x)
        more = [first, *more]
    difference_update(i, node, made, *more)
    return made


def symmetric_difference(i: Evaluator, node: ast.AST, x: Record, other: Any, /) -> Record:
    """x.symmetric_difference(other)."""
    if is_set(other):
        x, other = operands(i, node, x, other)
    made = keyed.copy(i, node, other) if is_set(other) else set_of(i, node, x, other)
    if form_in(x) is not NOTHING:
        i.call_function(hashing.changed_by, [in_order(x), made], {})
        doubt(i, made, x)
    return made


def doubt(i: Evaluator, made: Record, *others: Record) -> None:
    """The order of a set is no surer than that of others, of which it was made; nor where these may be one."""
    for other in others:
        i.call_function(hashing.doubted, [keyed.table_of(i, made), keyed.table_of(i, other)], {})
    if any(may_be_same(i, a, b) for a in others for b in others):
        i.call_function(hashing.make_unsure, [made.fields[TABLE]], {})


# -- operators
BY_OPERATOR: dict[str, Callable[..., Record]] = {
    "|": union, "&": intersection, "-": difference, "^": symmetric_difference,
}  # fmt: skip
IN_PLACE: dict[str, Callable[..., None]] = {
    "|": update, "&": intersection_update, "-": difference_update, "^": symmetric_difference_update,
}  # fmt: skip
"""By sign: the method that an operator is."""


def operate(i: Evaluator, node: ast.AST, name: str, a: Any, b: Any) -> Any:
    """a & b, a | b, a - b and a ^ b of sets, of which one is by run-time keys; NotImplemented for anything else."""
    if is_groups(a) or is_groups(b):
        raise i.refuse(node, "an operator on a defaultdict(list) by run-time keys", "change it by d[k].append(x)")
    if not (is_keyed(a) or is_keyed(b)) or name not in OPERATORS or not (is_set(a) and is_set(b)):
        return NotImplemented
    if isinstance(a, frozenset):
        raise i.refuse(node, "a frozenset of what only the run time knows", "put the set on the left")
    if not is_keyed(a):
        a = operands(i, node, a, b, name != "Sub")[0]
    return BY_OPERATOR[OPERATORS[name]](i, node, a, b)


def augmented(i: Evaluator, node: ast.AST, name: str, x: Record, other: Any) -> Record:
    """x |= other and the like, which change the dict or set itself."""
    if keyed.is_ordered(x):
        return keyed.augmented(i, node, name, x, other)
    if name not in OPERATORS or not is_set(other):
        raise i.refuse(node, "a set by run-time keys is changed in place by what is no set", "use s.update(...)")
    IN_PLACE[OPERATORS[name]](i, node, x, other)
    return x


# -- comparisons
def asking(name: str) -> Callable[..., Any]:
    """The handler of a method that compares two sets: `issubset`, `issuperset` or `isdisjoint`."""

    def run(i: Evaluator, node: ast.AST, x: Record, other: Any, /) -> Any:
        if not is_set(other):
            other = i.call(node, set, [other], {})
        if name == "isdisjoint":
            return i.call_function(hashing.is_none_in, [keyed.listing(i, x, "keys"), other], {})
        return keyed.compared(i, node, "LtE" if name == "issubset" else "GtE", x, other)

    return run


METHODS: dict[str, Callable[..., Any]] = {
    "add": add, "remove": remove, "discard": discard, "pop": pop, "clear": keyed.clear, "copy": keyed.copy,
    "update": update, "difference_update": difference_update, "intersection_update": intersection_update,
    "symmetric_difference_update": symmetric_difference_update, "__contains__": keyed.contains,
    "union": union, "intersection": intersection, "difference": difference,
    "symmetric_difference": symmetric_difference,
    **{name: asking(name) for name in ("issubset", "issuperset", "isdisjoint")},
}  # fmt: skip
"""By name of the method of a set: its handler."""
