"""Whole programs that shrink: a small grammar of array statements, drawn by Hypothesis piece by piece.

The fuzzer's grammar (tracebuf/testing/programs.py) has more of the language and runs each statement where it is tried,
so that a draw takes a tenth of a second and hangs on all draws before it: Hypothesis cannot shrink that. Here a
statement is drawn by itself, as a tree whose names are settled when it is written down: a name that is not bound where
it stands becomes the first parameter. So statements, blocks and operands can go one by one. All arrays of a program
have one shape; views, stores to overlapping parts, branches and loops on sizes, ints and data are in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

from tracebuf.testing.programs import FOOTER, HEADER, Program

__all__ = ["programs"]

Scope = frozenset[str]
"""The names that are bound where a text stands."""
Text = Callable[[Scope], str]
"""Writes an expression."""
Lines = Callable[[Scope], tuple[list[str], Scope]]
"""Writes a statement; the names that are bound after it."""

Draw = Any
"""What `st.composite` hands over."""
Header = tuple[list[str], list[str], tuple[int, ...]]

PARAMETERS = ("a", "b", "c")
NAMES = (*PARAMETERS, "t", "s", "v")
BINARY = ("+", "-", "*", "/")
UNARY = ("-{}", "np.abs({})", "np.sqrt(np.abs({}))", "np.exp(-np.abs({}))", "{}[::-1]", "np.cumsum({}, axis=-1)",
         "np.roll({}, 1, axis=0)", "{}.copy()", "{}.T.copy().T", "np.sort({}, axis=-1)", "np.floor({})")  # fmt: skip
NUMBERS = ("1", "2.0", "0.5", "-1", "x", "k")
REDUCED = ("{}.sum()", "{}.max(initial=0)", "{}.any()", "np.ptp(np.append({}, 0))", "len({})")
PARTS = ("[:]", "[1:]", "[:-1]", "[::2]", "[::-1]", "[...]")
STORES = ("{a}[:] = {e}", "{a}[1:] = {e}[:-1]", "{a}[:-1] = {e}[1:]", "{a}[::-1] = {e}", "{a} += {e}", "{a} *= {e}",
          "{a}[:1] = {n}", "{a}[{a} > {n}] = {n}", "np.negative({a}, out={a})",
          "{a}[min(k, len({a})):] = {n}")  # fmt: skip
TESTS = ("x > 1", "k > 2", "{n} > 1", "len({a}) > 1")


def programs(statements: int = 6) -> st.SearchStrategy[Program]:
    """Programs of up to so many statements at each level: texts of modules with a function `program`, and functions
    `arguments` and `arguments_again` that make two sets of arguments of other sizes.

    `tracebuf.testing.programs.loaded(program)` imports one for as long as a `with` block.

    >>> from hypothesis import find
    >>> from tracebuf.testing.strategies import programs
    >>> print(find(programs(), lambda p: "+=" in str(p)))    # doctest: +SKIP
    """
    return whole(statements)


# -- what is drawn: composites, whose text, which Hypothesis asks for, stays short
@st.composite
def whole(draw: Draw, most: int) -> Program:
    header, body = draw(headers()), draw(blocks(most, 2))
    return written(header, body, draw(st.lists(names(), min_size=1, max_size=2)))


@st.composite
def names(draw: Draw, pool: Sequence[str] = NAMES) -> Text:
    name = draw(st.sampled_from(pool))
    return lambda scope: name if name in scope else "a"


@st.composite
def expressions(draw: Draw, depth: int = 2) -> Text:
    """Of the shape that all arrays have."""
    kind = draw(st.integers(0, 4)) if depth else 0
    if kind == 0:
        return draw(names())  # type: ignore[no-any-return]
    if kind == 1:
        form = draw(st.sampled_from(UNARY)).replace("{}", "{x}")
        return filled(form, x=draw(expressions(depth - 1)))
    if kind == 4:
        holes = {"x": draw(expressions(depth - 1)), "n": draw(numbers(0)), "y": draw(expressions(depth - 1))}
        return filled("np.where({x} > {n}, {x}, {y})", **holes)
    op, x = draw(st.sampled_from(BINARY)), draw(expressions(depth - 1))
    return filled(f"({{x}} {op} {{y}})", x=x, y=draw(numbers(0) if kind == 2 else expressions(depth - 1)))


@st.composite
def numbers(draw: Draw, depth: int = 1) -> Text:
    if depth and draw(st.booleans()):
        return filled(draw(st.sampled_from(REDUCED)).replace("{}", "{x}"), x=draw(expressions(1)))
    text = draw(st.sampled_from(NUMBERS))
    return lambda scope: text


@st.composite
def blocks(draw: Draw, most: int, depth: int, least: int = 0) -> list[Lines]:
    return draw(st.lists(statements(depth), min_size=least, max_size=most))  # type: ignore[no-any-return]


@st.composite
def statements(draw: Draw, depth: int) -> Lines:
    kind = draw(st.integers(0, 4 if depth else 2))
    if kind == 0:
        return assigned(draw(st.sampled_from(NAMES[len(PARAMETERS) :])), draw(expressions()))
    if kind == 1:
        return stored(draw(st.sampled_from(STORES)), draw(names()), draw(expressions()), draw(numbers()))
    if kind == 2:
        return viewed(draw(names()), draw(st.sampled_from(PARTS)), draw(st.sampled_from(NUMBERS)))
    inner = draw(blocks(3, depth - 1, 1))
    if kind == 3:
        return loop(draw(st.sampled_from(("range(k)", "range(3)", "range(len({a}))"))), draw(names()), inner)
    orelse = draw(blocks(3, depth - 1))
    return branch(draw(st.sampled_from(TESTS)), draw(names()), draw(numbers()), inner, orelse)


@st.composite
def headers(draw: Draw) -> Header:
    """The dtypes of the arrays, their layouts, and their shape in the first call."""
    dtypes = draw(st.lists(st.sampled_from(("float64", "int64", "float32")), min_size=1, max_size=len(PARAMETERS)))
    layouts = [draw(st.sampled_from(("C", "reversed", "stepped", "F"))) for _ in dtypes]
    shape = draw(st.lists(st.sampled_from((3, 2, 1, 4, 0)), min_size=1, max_size=2))
    return dtypes, layouts, tuple(shape)


# -- what is written
def filled(form: str, **holes: Text) -> Text:
    return lambda scope: form.format(**{k: text(scope) for k, text in holes.items()})


def assigned(name: str, value: Text) -> Lines:
    return lambda scope: ([f"{name} = {value(scope)}"], scope | {name})


def stored(form: str, a: Text, e: Text, n: Text) -> Lines:
    return lambda scope: ([form.format(a=a(scope), e=e(scope), n=n(scope))], scope)


def viewed(a: Text, part: str, number: str) -> Lines:
    """A view is made and stored through, under a name that nothing else reads: it may have another shape."""
    return lambda scope: ([f"view = {a(scope)}{part}", f"view -= {number}"], scope)


def branch(test: str, a: Text, n: Text, then: list[Lines], orelse: list[Lines]) -> Lines:
    def write(scope: Scope) -> tuple[list[str], Scope]:
        one, two = block(then, scope), block(orelse, scope)
        lines = [f"if {test.format(a=a(scope), n=n(scope))}:", *one[0]]
        return [*lines, "else:", *two[0]] if orelse else lines, one[1] & two[1] if orelse else scope

    return write


def loop(over: str, a: Text, body: list[Lines]) -> Lines:
    return lambda scope: ([f"for i in {over.format(a=a(scope))}:", *block(body, scope)[0]], scope)


def block(body: list[Lines], scope: Scope) -> tuple[list[str], Scope]:
    lines: list[str] = []
    for statement in body:
        more, scope = statement(scope)
        lines += [f"    {line}" for line in more]
    return lines, scope


def written(header: Header, body: list[Lines], results: list[Text]) -> Program:
    """The text of the module."""
    dtypes, layouts, shape = header
    given = PARAMETERS[: len(dtypes)]
    lines, scope = block(body, frozenset(given))
    parameters = ", ".join((*given, "x", "k"))
    returned = ", ".join(dict.fromkeys(text(scope) for text in results))
    parts = [HEADER, "TOLERANCE = 1e-9\nDONATED = ()\n"]
    parts.append("\n".join(["", f"def program({parameters}):", *lines, f"    return {returned}", ""]))
    for function, more, numbers in (("arguments", 0, "2.5, 3"), ("arguments_again", 2, "0.5, 5")):
        size = tuple(n + more for n in shape)
        made = [f'    {n} = array("{d}", {size}, {k}, "{layouts[k]}")' for k, (n, d) in enumerate(zip(given, dtypes))]
        parts.append("\n".join(["", f"def {function}():", *made, f"    return ({', '.join(given)}, {numbers})", ""]))
    return Program("\n".join(parts) + FOOTER)
