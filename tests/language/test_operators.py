"""Operators, ufuncs, stores and indices, each against eager NumPy, over dtypes (rules C1, N1-N5, X1). Many expressions
share one program, so that one compilation judges them all."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.forms import judge
from tests.support.params import one_in, some
from tracebuf import bufferize

FLOATS = np.array([0.0, -0.0, 1.5, -2.5, np.nan, np.inf, -np.inf, 3.0, 1e300, 2.0])
OPERANDS: dict[str, Any] = {
    "bool": np.array([0, 1] * 5, bool), "int64": np.array([0, -3, 5, 7, -9, 2**40, 1, -1, 2, 3]), "float64": FLOATS,
    "float32": np.clip(FLOATS, -1e30, 1e30).astype(np.float32), "int": 3, "float": 2.5, "True": True,
    "np.bool": np.True_, "np.int64": np.int64(-3), "np.float64": np.float64(0.5), "np.float32": np.float32(2),
}  # fmt: skip
ARRAYS = ("bool", "int64", "float64", "float32")
OPERATORS = "+ - * / // % ** & | ^ << >> < <= > >= == !=".split()


def small(kind: str) -> bool:
    return kind in ("bool", "np.bool", "True")


@pytest.mark.slow
@pytest.mark.parametrize("a, b", [(a, b) for a, b in itertools.product(OPERANDS, OPERANDS) if {a, b} & set(ARRAYS)])
def test_operators(a: str, b: str) -> None:
    operators = [o for o in OPERATORS if not (small(a) and small(b) and o in ("//", "%", "**", "<<", ">>"))]
    if b == "int64" and a in ("bool", "int64", "int", "True", "np.bool", "np.int64"):
        operators.remove("**")  # an exponent may be negative
    x, y = OPERANDS[a], OPERANDS[b]
    judge([f"a {o} b" for o in operators], "a, b", x, y[::-1].copy() if b in ARRAYS else y)


SCALARS = [k for k in OPERANDS if k not in ARRAYS]


@pytest.mark.slow
@pytest.mark.parametrize("a, b", list(itertools.product(SCALARS, SCALARS)))
def test_operators_on_scalars(a: str, b: str) -> None:
    operators = [o for o in OPERATORS if not (small(a) and small(b) and o in ("//", "%", "**", "<<", ">>"))]
    python = {"int", "float", "True"}
    if {a, b} <= python:  # results whose type depends on values are refused
        operators = [o for o in operators if o not in ("**", "<<", ">>") and not (o in "//%" and b == "True")]
    judge([f"a {o} b" for o in operators], "a, b", OPERANDS[a], OPERANDS[b])


@pytest.mark.parametrize("a", one_in(8, OPERANDS))
def test_unary_operators(a: str) -> None:
    judge(["-a", "+a", "~a", "abs(a)"] + (["not a"] if a in SCALARS else []), "a", OPERANDS[a])


UNARY = [n for n in dir(np) if isinstance(u := getattr(np, n), np.ufunc) and (u.nin, u.nout) == (1, 1)]
BINARY = [n for n in dir(np) if isinstance(u := getattr(np, n), np.ufunc) and (u.nin, u.nout) == (2, 1)]
BINARY = [n for n in BINARY if getattr(np, n).signature is None]


def computed(name: str, *kinds: Any) -> bool:
    """Whether NumPy computes the ufunc on these operands in bool, int64, float32 and float64."""
    u = getattr(np, name)
    dtypes = [
        np.asarray(x).dtype if not isinstance(x, (int, float)) or isinstance(x, np.generic) else type(x) for x in kinds
    ]
    if name in ("power", "pow") and dtypes[1] == np.int64 and np.dtype(dtypes[0]).kind in "bi":
        return False
    try:
        found = u.resolve_dtypes((*dtypes, None)) if not all(isinstance(d, type) for d in dtypes) else None
    except TypeError:
        return True
    if found is None:
        return name != "bitwise_count"
    return all(d.char in "?lqdf" for d in found)


@pytest.mark.slow
@pytest.mark.parametrize("a", OPERANDS)
def test_ufuncs_of_one_operand(a: str) -> None:
    x = OPERANDS[a]
    values = [x] if a not in ARRAYS else [x, x[3:4].reshape(()), x[:0], x[1:2]]
    for v in values:
        names = [n for n in UNARY if computed(n, np.asarray(v) if a == "True" else v)]
        judge([f"np.{n}(a)" for n in names], "a", v)


@pytest.mark.slow
@pytest.mark.parametrize("a, b", list(itertools.product(ARRAYS, [*ARRAYS, "float", "np.float64", "int"])))
def test_ufuncs_of_two_operands(a: str, b: str) -> None:
    x, y = OPERANDS[a], OPERANDS[b]
    y = y[::-1].copy() if b in ARRAYS else y
    judge([f"np.{n}(a, b)" for n in BINARY if computed(n, x, y)], "a, b", x, y)


@pytest.mark.slow
def test_n3_scalar_exponents_take_numpys_fast_path() -> None:
    f = bufferize(program("def f(a, e): return a ** e, np.power(a, e), (a + 1) ** e"))
    g = program(
        "def g(a): return a**0.5, a**2, a**2.0, a**-1, a**0, a**1, a**3, a**-2, np.power(a, 0.5), a**np.float64(2)"
    )
    x = np.array([-0.0, -np.inf, 2.0, 3.0, np.nan, np.inf, -4.0])
    for dtype in (np.float64, np.float32):
        for e in (0.5, 2.0, -1.0, 0.0, 1.0, 3.5, np.float64(0.5), 2, -1, 0, True, np.int64(2), np.array(0.5)):
            agree(f, x.astype(dtype), e)
        agree(f, x.astype(dtype), np.full(7, 0.5))
        agree(g, x.astype(dtype))


@pytest.mark.slow
def test_n3_roots_by_a_run_time_exponent_are_taken_side_by_side() -> None:
    body = "b = a ** e\n    a[:-1] **= e\n    return b, (a[:, None] ** e).T, a[::2] ** e"
    f = bufferize(program(f"def f(a, e):\n    {body}"))
    x = np.concatenate([np.linspace(0, 9, 1200), [-0.0, -np.inf, np.inf, -2.0, np.nan, 5e-324]])
    for dtype in (np.float64, np.float32):
        for e in (0.5, 2.0, 1.7, np.array(0.5), np.array([0.5])):
            agree(f, x.astype(dtype), e)
        agree(f, x[:1].astype(dtype), 0.5)
    for dtype, name in ((np.float64, "f64"), (np.float32, "f32")):
        assert f"@llvm.sqrt.{name}" in f.lower(x.astype(dtype), 0.5).as_text("llvm")


@pytest.mark.slow
def test_n4_integer_division_and_shifts_do_not_trap() -> None:
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    a = np.array([0, 1, -1, low, high, low, 7, -7, 5, 5])
    b = np.array([0, 0, 0, -1, -1, 1, 64, 65, -1, 3])
    judge(["a // b", "a % b", "a << b", "a >> b", "np.fmod(a, b)", "a * b", "a - b", "abs(a)", "-a"], "a, b", a, b)
    f = bufferize(program("def f(a, n): return a // n, a % n, a << n, a >> n"))
    for n in (0, -1, 1, 63, 64, 200, -5):
        agree(f, a, n)


def test_n4_floats_become_ints_as_numpy_converts_them() -> None:
    judge(["a.astype(int)", "a.astype(bool)", "a.astype(np.float32).astype(np.int64)"], "a", FLOATS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ARRAYS)
def test_in_place_operators(kind: str) -> None:
    for o in ("+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "|="):
        f = bufferize(program(f"def f(a, b):\n    a[1:] {o} b\n    v = a[..., 0]\n    v {o} b\n    return a"))
        for y in (2, 2.5, True, np.float32(2.5), np.int64(3), np.float64(0.5)):
            if kind == "bool" and isinstance(y, bool) and o in ("//=", "%=", "**="):
                continue
            agree(f, OPERANDS[kind], y)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ARRAYS)
def test_stores_convert(kind: str) -> None:
    f = bufferize(program("def f(a, b):\n    a[1:3] = b\n    a[..., 4] = b"))
    g = bufferize(program("def g(a, b):\n    a[0] = b"))
    values = [np.float64("nan"), float("nan"), float("inf"), 1e300, 2**40, True, -0.0, 2.5, np.True_, np.int64(-3)]
    for y in values:
        agree(f, OPERANDS[kind], y)
        agree(g, OPERANDS[kind], y)
    for other in ARRAYS:
        agree(program("def f(a, b):\n    a[::-2] = b[1::2]\n    a[0] = b[3]"), OPERANDS[kind], OPERANDS[other])
        agree(g, OPERANDS[kind], OPERANDS[other])  # ValueError


@pytest.mark.slow
def test_n1_python_ints() -> None:
    f = bufferize(
        program(
"def f(n, k): return n + k, n * k, n // k, n % k, -n // k, n - k, n / k, n ** 2, "
            "n & k, n ^ k, ~n, n << 3, n >> 1"
        )
    )
    for n, k in ((7, 3), (-7, 3), (7, -3), (0, 1), (10**9, 10**9), (5, 0)):
        agree(f, n, k)
    judge(["a + n", "a < n", "a == n"], "a, n", np.arange(3), 2**31)
    judge(["a + n", "a * n"], "a, n", np.arange(3), 2**70)  # OverflowError
    judge(["a + 9223372036854775808", "a + 1e400", "a - 9223372036854775807"], "a", np.arange(3))


@pytest.mark.slow
def test_n1_python_floats() -> None:
    names = "x, y"
    expressions = ["x + y", "x - y", "x * y", "x / y", "x // y", "x % y", "-x", "x < y", "x ** 2", "x ** 3.0", "abs(x)"]
    for x, y in ((7.5, 2.0), (-7.5, 2.0), (7.5, -0.5), (0.0, 1.0), (1.0, 0.0), (float("inf"), 3.0), (1e200, 1e-5)):
        judge(expressions, names, x, y)


@pytest.mark.slow
def test_n5_where() -> None:
    a, b, c, f = FLOATS, OPERANDS["int64"], OPERANDS["bool"], OPERANDS["float32"]
    judge(
        ["np.where(a > 0, a, -a)", "np.where(c, 1, 0)", "np.where(c, 1, 2.5)", "np.where(c, True, False)",
         "np.where(b, a, f)", "np.where(c, f, 1)", "np.where(c, f, 1.5)", "np.where(c, f, np.float64(1.5))",
         "np.where(c[:, None], a, b)", "np.where(a[0] > 0, a, b)", "np.where(a[0], 1, 2)", "np.where(c, a, b[:3])",
         "np.where(a, b, c)", "np.where(c, a[2], b[3])"],
        "a, b, c, f", a, b, c, f,
    )  # fmt: skip


@pytest.mark.slow
def test_n5_clip_minimum_and_maximum_with_nan_and_signed_zeros() -> None:
    a, b, c, f = FLOATS, OPERANDS["int64"], OPERANDS["bool"], OPERANDS["float32"]
    judge(
        ["np.clip(a, 0, 2)", "np.clip(a, None, 2)", "np.clip(a, -0.0, None)", "np.clip(a, a[::-1], 2)", "a.clip(0, 1)",
         "np.clip(b, 0, 2)", "np.clip(b, 0.5, 2)", "np.clip(f, 0, 2.5)", "np.clip(a, 2, 0)", "np.clip(a, min=0, max=1)",
         "np.clip(a, np.nan, 1)", "np.clip(a[0], 0, 1)", "np.clip(f, np.float64(0), 1)", "np.clip(a, None, None)",
         "np.minimum(a, a[::-1])", "np.maximum(a, -0.0)", "np.maximum(0.0, a)", "np.minimum(f, np.nan)",
         "np.maximum(b, 2)", "np.minimum(c, True)", "np.fmax(a, a[::-1])", "np.maximum(a[0], a[1])"],
        "a, b, c, f", a, b, c, f,
    )  # fmt: skip


@pytest.mark.slow
def test_conversions_and_attributes() -> None:
    judge(
        ["a.astype(np.float32)", "a.astype(float, copy=False)", "a.astype(float)", "b.astype(np.float32) + f",
         "float(a[0])",
         "int(b[0])", "bool(a[0])", "float(n)", "int(n)", "max(n, 2)", "min(a[0], a[1])", "len(a)", "a.shape", "a.ndim",
         "a.size", "a.dtype", "a.T.shape", "a.itemsize", "a.nbytes", "np.shape(a)", "np.copy(a)", "np.float64(a[0])",
         "np.int64(b[0])", "np.bool_(a[0])", "np.float32(n)", "(a > 0).sum()", "a.sum() / len(a)", "a is a", "a.T is a",
         "0 < n < 5", "not n", "n and a", "n or a", "a[0] and a[1]", "'abc'[n]", "(a, b, f)[n - 1][1:]",
         "a[slice(1, n)]",
         "isinstance(n, int)", "isinstance(a[0], np.floating)", "a.dtype == np.float64", "np.iinfo(int).max",
         "a[n > 1:]",
         "a.fill(3)", "sum((1, 2, 3))", "a[0] == None", "n == 'x'", "divmod(7, 2)", "np.finfo(float).eps * a"],
        "a, b, f, n", np.array([0.5, -1.0, 3.0, 2.0]), np.arange(4) + 1, np.ones(4, np.float32), 2,
    )  # fmt: skip


ITEMS_1 = ["0", "-1", "6", "7", "-8", "1:", "::2", "::-1", ":-1", "5:2", "::-3", "100:", "-100:3", "4:1:-1",
           ":0:-1", "...", "None",
           "..., None", "None, 1:, None", "()", "1.0", "'a'", "np.int64(2)", "..., ...", "1:5:0", "0, 0"]  # fmt: skip
ITEMS_2 = ["0", "1, 2", "1, -1", "-1, ::-1", ":, 0", ":, -6", "1:, 1:", "..., 0", "0, ...", "..., 0, 0", "None, 0",
           ":, None",
           "0, None, 1:", "1, 2, 3", "::-1, ::-2", "1:0, :", ":, 3:3", "..., None, 1:", "4, 0",
           "np.newaxis, :, 1"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "body", ["return a[{0}]", "a[{0}] = 5", "a[{0}] += 2", "v = a[{0}]\n    a[{0}] = v * 2\n    return v"]
)
def test_items(body: str) -> None:
    for item in ITEMS_1:
        agree(program(f"def f(a):\n    {body.format(item)}"), np.arange(7.0) - 3)
    for item in ITEMS_2:
        agree(program(f"def f(a):\n    {body.format(item)}"), np.arange(20.0).reshape(4, 5) - 7)


@pytest.mark.slow
@pytest.mark.parametrize(
    "item", ["i", "-i", "i:", "i:j", "::i", "j:i:-1", "i - 9", "i, j", ":i, j:", "i:, None, j", ":, i:j:2", "i * j:"]
)
def test_items_known_at_run_time(item: str) -> None:
    f = bufferize(max_specializations=60)(
        program(f"def f(a, i, j):\n    v = a[{item}]\n    a[{item}] = 4\n    return v")
    )
    for i in (1, 2, 0, 3, -1, -2, 5, 9):
        for a in (np.arange(7.0), np.arange(20.0).reshape(4, 5)):
            agree(f, a, i, 2)


@pytest.mark.slow
def test_f1_membership_among_known_numbers() -> None:
    f = program("""
        def f(a, k, x):
            if k in (1, 2, 4):
                a += 1
            hits = 0
            for i in range(len(a)):
                if a[i] in [0, 2.5, True] or i not in (0, 3):
                    hits += 1
            return hits, x in (1, 2.0), k not in (3, 1.0), a[0] in ()
        """)
    g = bufferize(f)
    for k, x in ((1, 2.0), (3, 2.5), (2**40, float("nan")), (-1, 1.0)):
        agree(g, np.array([2.5, 0, 1, 7, np.nan]), k, x)


def test_f1_star_parameters_of_inner_functions() -> None:
    agree(
        program("""
        def f(a, b):
            def total(first, *rest, scale=2.0):
                rest = rest[::-1]
                for x in rest:
                    first = first + x
                return first * scale, len(rest)
            return total(a), total(a, b, scale=3.0), (lambda *x: x[0])(b, a)
        """),
        np.arange(3.0),
        np.ones(3),
    )


def test_n1_an_axis_from_data_is_refused_and_from_an_argument_joins_the_key() -> None:
    f = program("def f(a, k): return a.sum(axis=k)")
    for k in (0, 1, -1, 2):
        agree(f, np.ones((2, 3)), k)
    refused(program("def f(a, k): return a.sum(axis=k[0])"), np.ones((2, 3)), np.array([1]))


def test_items_by_a_flat_index() -> None:
    g = bufferize(program("def f(a, k): return a.T.item(k)"))
    for k in (0, 4, -1, 6, -7):
        agree(g, np.arange(6.0).reshape(2, 3), k)


def test_stores_into_what_takes_none_raise_pythons_error() -> None:
    for body in ("(a, 1)[0] = 2", "a[0][1] = 2", "a[0][0] += 2", "t = (a[0], 1)\n    t[1] += 1", "n[0] = 1"):
        assert isinstance(agree(program(f"def f(a, n):\n    {body}"), np.ones(3), 2), (TypeError, IndexError))


@pytest.mark.parametrize("right", ["None", "'x'", "float"])
def test_c1_an_augmented_assignment_of_what_is_no_number(right: str) -> None:
    """The error of the ufunc in place, not that of the operator."""
    assert agree(program(f"def f(a):\n    a += {right}\n    return a"), np.ones(3)) is not None


def test_x1_the_truth_of_a_range_is_not_that_of_an_object() -> None:
    """It was always true."""
    refused(program("def f(a, n):\n    return a if range(n) else a + 1"), np.ones(3), 0)

NUMPYS = ("np.int64(2)", "np.uint8(2)", "np.float64(2)", "np.float32(2)", "np.True_", "np.complex128(2)", "a[1]")
LISTS = ("[x, 3]", "(x, 3)", "[a[0], 3]", "[1, 2]", "[]", "[[x, 1], [2, 3]]", "[a, a]")
SIGNS = ("+", "-", "*", "/", "//", "%", "**", "<", ">=", "==", "!=", "&", "@")


@pytest.mark.parametrize("pair", one_in(8, [" ".join(pair) for pair in itertools.product(NUMPYS, LISTS)]))
@pytest.mark.cases(3)
def test_numbers_of_numpys_beside_lists(pair: str) -> None:
    """NumPy takes a list for an array, unless an int repeats it; a comparison with a known number was False."""
    a, (number, _, items) = np.array([1.5, 2.5]), pair.partition(" ")
    for sign, (left, right) in itertools.product(some(3, SIGNS), ((number, items), (items, number))):
        agree(program(f"def f(a, x):\n    return {left} {sign} {right}"), a, 3.5)
    for sign in "+*-":
        agree(program(f"def f(a, x):\n    m = l = {items}\n    l {sign}= {number}\n    return l, m"), a, 3.5)


class Interval:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def __contains__(self, x):
        return self.low <= x and x < self.high


class Odd:
    def __contains__(self, x):
        return x % 2


UNIT = Interval(0.0, 1.0)


def test_in_asks_an_object() -> None:
    def f(a, t):
        if t in UNIT:
            a = a + 1
        return a * 2 if a[0] not in Interval(0, t) else a, 3 in Odd(), 2 in Odd()

    for t in (0.5, 1.0, -1.0, 7.0):
        agree(f, np.arange(3.0), t)
