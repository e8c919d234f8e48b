"""Text in a trace: messages, f-strings, formats and the arguments of exceptions are eager's (rule F3)."""

from __future__ import annotations

import re
import warnings
from collections import namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import one_in, slow_but
from tracebuf import UnsupportedError, bufferize
from tracebuf.running import kept


class Point:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __str__(self) -> str:
        return f"P({self.x})"


class Formatted:
    def __init__(self, x: Any) -> None:
        self.x = x

    def __format__(self, spec: str) -> str:
        return "<" + spec + ">"

    def __repr__(self) -> str:
        return "Formatted!"


@dataclass
class Pair:
    first: Any
    second: Any = "s"


Named = namedtuple("Named", "one two")
NAMES = {"Point": Point, "Formatted": Formatted, "Pair": Pair, "Named": Named}

TEXTS = [
    "'%s' % Point(n)", "'%s and %s' % (n, Point(2))", "'%r' % Pair(n)", "'%5s|' % Point(2)", "'%d items' % len(a)",
    "'{}'.format(Point(n))", "'{!s:>8}|'.format(Point(2))", "'{0} {0!r}'.format(Pair(1, n))", "f'{Point(n)}'",
    "f'{Point(n)!s}'", "f'{Formatted(n):abc}'", "f'{Formatted(n)}'", "str(Point(n))",
    "str(Pair(n))", "repr(Pair(n, 'x'))", "format(Formatted(n), 'x')", "format(n, '5d')", "f'{n:5d}|'", "f'{n=}'",
    "f'{(n, \"t\")}'", "f'{[\"t\", n]}'", "f'{ {\"k\": n} }'", "f'{Named(n, 2)}'", "'%s' % (Named(1, 2),)",
    "f'{a.shape}'", "f'{a.dtype}'", "f'{a[0]}'", "f'{n!r}'", "str(n) + '!'", "'a' + f'{n}'",
]  # fmt: skip


@pytest.mark.parametrize("text", one_in(10, TEXTS))
def test_the_text_of_a_message(text: str) -> None:
    f = program(f"def f(a, n):\n    raise ValueError({text})", **NAMES)
    with pytest.raises(ValueError) as expected:
        f(np.arange(3.0), 3)
    with pytest.raises(ValueError) as got:
        bufferize(f)(np.arange(3.0), 3)
    assert got.value.args == expected.value.args


RAISED = [
    "f'{n:zz}'", "f'{a:zz}'", "format(n, 'zz')", "f'{Point(n):5}'", "f'{[n]:5}'", "'%d' % Point(n)", "'%d' % 'x'",
    "'%s %s' % n", "'%s' % (n, n)", "'{} {}'.format(n)",
]  # fmt: skip


@pytest.mark.parametrize("text", one_in(8, RAISED))
def test_formats_that_python_does_not_take(text: str) -> None:
    if text == "'%d' % Point(n)":
        refused(bufferize(program(f"def f(a, n):\n    raise ValueError({text})", **NAMES)), np.arange(3.0), 3)
        return
    agree(program(f"def f(a, n):\n    return {text}", **NAMES), np.arange(3.0), 3)


def test_mappings_need_not_be_used_by_a_percent_format() -> None:
    """Arrays, NumPy's numbers and lists are mappings to it, Python's numbers and tuples are not."""
    for text in ("'i' % a", "'i' % a[0]", "'i' % [a[0]]", "'i' % n", "'i' % (a,)", "'%s' % [n]", "'i' % {n: a}"):
        agree(program(f"def f(a, n):\n    return {text}"), np.arange(3.0), 3)


def test_the_text_of_an_array_is_not_taken_for_a_known_one() -> None:
    for text in ("f'{a}'", "str(a)", "f'{[a]}'"):
        f = program(f"def f(a, n):\n    return {text} == 'array(...)', {text} == '[0. 1. 2.]'")
        agree(f, np.arange(3.0), 3)
    f = program("def f(a, n):\n    return repr(object_of(n))[0] == 'array(...)'", object_of=Point)
    refused(bufferize(f), np.arange(3.0), 3)


EXCEPTIONS = [
    "OSError(2, 'no')", "OSError(2, 'no', 'file')", "UnicodeDecodeError('utf8', b'x', 0, 1, 'bad')",
    "ExceptionGroup('g', [ValueError(1)])", "KeyError('x')", "ValueError(1, n)", "ValueError('shape', a.shape[0])",
    "ValueError(1, 2, 3)", "StopIteration(5)", "ValueError(n)", "ValueError(a[0])", "ValueError(n > 2, 1j)",
    "ValueError", "ValueError(None)", "ValueError(('t', 1))", "ValueError('x{}y')", "OSError(n, 'no')",
    "KeyError(f'{n}', n)",
]  # fmt: skip


@pytest.mark.parametrize("raised", one_in(8, EXCEPTIONS))
def test_the_arguments_of_an_exception(raised: str) -> None:
    for body in (f"raise {raised}", f"if a[0] > 100:\n        raise {raised}\n    return a"):
        f = program(f"def f(a, n):\n    {body}")
        found = []
        for g in (f, bufferize(f)):
            with pytest.raises(BaseException) as info:
                g(np.arange(3.0) + 101, 3)
            found.append(info.value)
        eager, ours = found
        assert type(ours) is type(eager) and repr(ours.args) == repr(eager.args)
        assert [type(x) for x in ours.args] == [type(x) for x in eager.args]


@pytest.mark.parametrize("dtype", slow_but("dF?", "fbe"))
def test_percent_formats_of_numbers(dtype: str) -> None:
    """A complex number of NumPy's loses its imaginary part, with a warning: that is refused."""
    for text in ("%f", "%5.1f", "%d", "%+d", "%g", "%05d", "%s", "%r", "%8s", "%.2g", "%3d%%"):
        for x in ("a[0]", "a[0].item()"):
            f = program(f"def f(a):\n    raise ValueError({text!r} % {x})")
            a, found = np.array([1, 0], dtype), []
            for g in (f, bufferize(f)):
                with warnings.catch_warnings(), pytest.raises(Exception) as info:
                    warnings.simplefilter("ignore")
                    g(a)
                found.append(info.value)
            eager, ours = found
            assert isinstance(ours, UnsupportedError) or repr(ours) == repr(eager), (text, x)
            assert not isinstance(ours, UnsupportedError) or text[-1] not in "sr"


@pytest.mark.slow
def test_a_message_is_evaluated_where_the_assertion_fails() -> None:
    for message in ("1 // 0", "Point(n).nosuch", "nosuch", "f'{1 // (n - 3)}'", "f'{a:zz}'"):
        for test in ("n < 5", "n > 5", "a[0] < 5", "a[0] > 5"):
            agree(program(f"def f(a, n):\n    assert {test}, {message}\n    return a + 1", **NAMES), np.arange(3.0), 3)


def test_classes_of_handlers_are_evaluated_where_an_exception_is_raised() -> None:
    for kind in ("5", "nosuch", "(ValueError, 5)", "ValueError"):
        for body in ("return a + 1", "raise ValueError('x')", "raise KeyError('x')"):
            f = program(f"def f(a, n):\n    try:\n        {body}\n    except {kind}:\n        return a")
            agree(f, np.arange(3.0), 3)


def test_super_outside_of_a_class() -> None:
    agree(program("def f(a, n):\n    super()\n    return a"), np.arange(3.0), 3)
    agree(program("def f(a, n):\n    return __class__"), np.arange(3.0), 3)


RETURNED = """
    def f(a, n):
        s = f"{a.sum():.2f}"
        d = {"mean": a.mean(), "label": f"mean={a.mean():.3f}, n={n}"}
        a[0] = 7  # after the texts were made
        try:
            if n > 2:
                raise ValueError(f"bad {n}")
            told, x = "", a * 2
        except ValueError as e:
            told, x = str(e), None
        size = "big" if n > 3 else f"only {n}" if n > 1 else None
        kind = f"{n} items" if n > 1 else n
        if n > 2:
            pair = (f"{a[1]:5.1f}|", a + 1)
        else:
            pair = ("none", a)
        made = Pair(f"{a[2]}", n) if n > 2 else Pair(n)
        objects = made, Point(f"{n}")
        each = [f"{v:.1f}" for v in a]
        return objects, s, d, told, x, size, kind, pair, each, ", ".join(str(v) for v in a), str(a), s + "!"
"""


@pytest.mark.slow
def test_texts_as_results() -> None:
    f = program(RETURNED, **NAMES)
    for n in (0, 2, 3, 5):
        agree(f, np.arange(3.0), n)
    g = program("""
        def f(a, d, l):
            d["label"] = f"{a.max()}"
            l[0] = "x" + d["label"]
            return repr(a.max())
    """)
    agree(g, np.arange(3.0), {"label": 1.0}, ["s", 2])
    h = program("def f(a):\n    return f'{a.sum()}'")
    compiled = bufferize(h)
    for k in range(200):  # so often that machine code would make the calls
        assert compiled(np.full(3, float(k))) == f"{3.0 * k}"
    assert not any(map(len, kept._scopes.held[1:])) and "3.0" not in kept._scopes.held[0].values()


def short_floats(x):
    if x[1] > 0:
        raise ValueError(f"{x[0]} {x[0]!s} {x[0]!r} " + str(x[1]))
    return str(x[0]), f"{x[0]}", f"{x[0]!s}", "%s" % x[0], str([x[0]]), "{}".format(x[0])  # noqa: UP031, UP032


def test_short_floats_as_str_and_as_format_show_them() -> None:
    """`str` of a float32 had the digits that `format` shows, which converts it to Python's float."""
    for dtype in (np.float16, np.float32, np.float64, np.complex64):
        agree(short_floats, np.array([1.1, -2.2], dtype).view())
        if dtype is not np.complex64:
            assert isinstance(error := agree(short_floats, np.array([1.1, 2.2], dtype)), ValueError)
            with pytest.raises(ValueError, match=str(error).split(" np")[0]):
                bufferize(short_floats)(np.array([1.1, 2.2], dtype))


PATTERN = re.compile(r"(\w+)=(\d+)")


@pytest.mark.parametrize(
    "text",
    [
        "[float(x) * a for x in re.findall(r'\\d+', s)]", "a * len(re.split('[,=]', s))",
        "PATTERN.match(s).group(1), a",
        "a * int(PATTERN.match(s).groups()[1]), re.search('x', s) is None", "re.sub('=', ':', s), a + 1",
        "re.match('(', s)", "PATTERN.nothing", "a * [int(m) for _, m in PATTERN.findall(s)][-1]",
    ],
)  # fmt: skip
def test_regular_expressions_on_texts_that_are_known(text: str) -> None:
    agree(program(f"def f(a, s):\n    return {text}", re=re, PATTERN=PATTERN), np.arange(3.0), "n=5,m=12")


def test_known_texts_are_compared_in_the_trace() -> None:
    """A dtype's kind was compared by a call of Python's at each call."""

    def f(a: Any) -> Any:
        return a * 2 if a.dtype.kind == "f" else a + 1 if a.dtype.name < "int32" else a

    assert "host_call" not in bufferize(f).lower(np.ones(3)).as_text()
    for dtype in (float, np.int16, np.int64):
        agree(f, np.arange(3).astype(dtype))


def places(v, p):
    by_name = "{:.{}f}".format(v[0], p), "{:{w}.{p}f}".format(v[1], p=p, w=9)
    return f"{v[0]:.{p}f}", f"{v[1]:{p + 6}.{p}e}|{p:>{p}}", by_name, format(v[0], f".{p}f"), [f"{x:.{p}f}" for x in v]


def built(v, p):
    first, second = f"%.{p}f", "{:." + str(p) + "f}"
    d = {f"lag{k}": v[k % 2] for k in range(p)}
    d[f"p{p}"] = 1.0
    return first % v[0], second.format(v[0]), d, d[f"p{p}"], d.get(f"q{p}", 3)


@pytest.mark.parametrize("f", [places, built])
@pytest.mark.cases(2)
def test_formats_with_ints_of_the_call(f: Any) -> None:
    for p in (2, 3):
        agree(f, np.array([1.23456, -7.5]), p)


def ticks(v):
    places = max(0, -int(np.floor(np.log10(v[0]))))
    labels = []
    for t in v:
        text = "{:.{}f}".format(t, places)
        if float(text) == 0:
            text = text.replace("-", "")
        labels.append(text + " m")
    return labels, [f"{x:.{k}f}" for k, x in enumerate(v)], f"{places:>{places}}"


@pytest.mark.slow
def test_formats_with_ints_that_only_the_run_time_knows() -> None:
    for v in ([1.23456, 3.5, -0.001], [0.00123, 2.0, 7.0]):
        agree(ticks, np.array(v))
    with pytest.raises(UnsupportedError, match="a format with a width or precision"):
        bufferize(lambda v: f"{v[0]:.{int(v[1])}f}")(np.array([1.0, 1e4]))


def by_path(x):
    n = 1 if x[0] > 0 else 2.5
    rows = [[0, np.inf], [x[1], 3]]
    k = int(x[2])
    return "%g: %s" % (n, n), "%5.2f" % n, ["%g" % v for row in rows for v in row], "%g" % rows[k][1 - k]  # noqa: UP031


@pytest.mark.slow
def test_percent_formats_of_ints_or_floats_by_the_path() -> None:
    for x in ([1.5, 2, 1], [-1.5, 2, 0]):
        agree(by_path, np.array(x))


def test_a_format_of_a_text_of_an_int_is_none_of_the_int() -> None:
    """An int is put to the right, its text to the left."""
    agree(program("def f(n, x): return f'{n:5}|%.1f' % x, f'{n!r:5}|'"), 3, 1.5)
    refused(program("def f(n, x): return f'{n!r:5}|%.1f' % x"), 3, 1.5)


def window_by_name(x, n, window):
    """As the cookbook of SciPy chooses a window."""
    w = eval("np." + window + "(n)")
    return np.convolve(w / w.sum(), x, mode="valid")


ONLY_READ_IN_TEXTS = """
    def f(x, n):
        k = n * 2 if n > 3 else n
        for j in range(n):
            unit = 1.5
            x = x + eval("k * j + unit")
        return eval("x.sum()") + k
"""
SCALE = 2.0


@pytest.mark.slow
def test_eval_of_known_texts() -> None:
    x = np.arange(6.0)
    for window in ("hanning", "blackman"):
        agree(window_by_name, x, 5, window)
    for n in (2, 5):
        agree(program(ONLY_READ_IN_TEXTS), x, n)
    agree(program("def f(x, text):\n    return eval(text)"), x, "x[9]")
    for text, said in (("x + SCALE", "`SCALE` is neither local nor a module"), ("x +", "no expression")):
        assert said in refused(program(f"def f(x):\n    return eval({text!r})", SCALE=SCALE), x).reason


def test_the_text_of_a_namespace() -> None:
    """Of one of the caller's, of which only what is asked for is fetched, the text had no attributes."""
    made = "def f(n):\n    s = SimpleNamespace(a=n, b='x')\n    return f'{s}', str([s])"
    agree(program(made, SimpleNamespace=SimpleNamespace), 3)
    for text in ("repr(s)", "str(s)", "f'{s}'", "str([s])"):
        refused(program(f"def f(s):\n    return {text}"), SimpleNamespace(v=1.0))
