"""Every supported dtype everywhere: loops, casts, stores, reductions, products, indices; bit by bit what eager NumPy
gives (rules N1, N4, N5, C1)."""

from __future__ import annotations

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree, program, refused
from tests.support.arrays import DTYPES, values
from tests.support.forms import UNUSUAL, batch, expression
from tests.support.params import slow_but
from tracebuf.testing.ladder import climb

INTS = tuple(d for d in DTYPES if "int" in d)
FLOATS = DTYPES[-3:]


def works(ufunc: str, *dtypes: str) -> bool:
    """Whether NumPy has a loop for these."""
    try:
        getattr(np, ufunc)(*(np.ones(1, d) for d in dtypes))
    except TypeError:
        return False
    return True


UNARY = (
    "negative positive absolute fabs sign square sqrt reciprocal floor ceil trunc rint invert logical_not isnan isinf "
    "isfinite signbit exp"
).split()
BINARY = (
    "add subtract multiply true_divide floor_divide remainder fmod maximum minimum fmax fmin bitwise_and bitwise_or "
    "bitwise_xor left_shift right_shift logical_and logical_or logical_xor equal not_equal less less_equal greater "
    "greater_equal copysign nextafter heaviside gcd"
).split()


@pytest.mark.parametrize("dtype", slow_but(("int64",), DTYPES))
def test_n5_unary_ufuncs(dtype: str) -> None:
    """Loops, their result dtypes, and N4: negation and abs of the least int, floats of every kind."""
    agree(batch([f"np.{u}(a)" for u in UNARY if works(u, dtype)], "a"), values(dtype))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_n4_binary_ufuncs(dtype: str) -> None:
    """N4: division by zero, the least int by -1, shifts past the width and by negative counts."""
    names = [u for u in BINARY if works(u, dtype, dtype)]
    agree(batch([f"np.{u}(a, b)" for u in names], "a, b"), values(dtype), values(dtype, 1))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_n5_mixed_operands(dtype: str) -> None:
    """Promotion of each pair of dtypes, comparisons of int64 with uint64 among them."""
    others = ", ".join(f"b{k}" for k in range(len(DTYPES)))
    items = [f"a {op} b{k}" for k, d in enumerate(DTYPES) for op in ("+", "<") if works("add", dtype, d)]
    agree(batch(items, f"a, {others}"), values(dtype), *(values(d, 1) for d in DTYPES))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("dtype", DTYPES)
def test_n4_casts(dtype: str) -> None:
    """astype from each dtype to each."""
    a = values(dtype)
    agree(batch([f"a.astype(np.{d})" for d in DTYPES if d != "uint32" or dtype not in FLOATS], "a"), a)
    if dtype in FLOATS:  # NumPy's own values hang on strides and sizes beyond these
        agree(batch(["a.astype(np.uint32)"], "a"), a[(a >= 0) & (a < 2**32)])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:overflow")
def test_n4_every_half() -> None:
    """All float16 values through the loops of their own, and every way to one: rounded once."""
    a = np.arange(2**16, dtype=np.uint16).view(np.float16)
    names = [u for u in UNARY if works(u, "float16")]
    agree(batch([f"np.{u}(a)" for u in names] + [f"a.astype(np.{d})" for d in DTYPES if d != "uint32"], "a"), a)
    exact = a[np.isfinite(a)].astype(np.float64)
    middle = (exact[1:] + exact[:-1]) / 2
    near = np.concatenate(
        [middle, np.nextafter(middle, 0), np.nextafter(middle, 1e9), middle * (1 + 2.0**-30), [65520]]
    )
    f = program("def f(a): return a.astype(np.float16)")
    agree(f, np.concatenate([near, -near]))
    agree(f, near.astype(np.float32))


@pytest.mark.slow
def test_n4_halves_of_equal_zeros() -> None:
    """np.maximum and np.minimum take the second of two equal zeros, of halves the first."""
    f = program(
        "def f(a, b): return np.maximum(a, b), np.minimum(a, b), np.maximum(a[0], b[1]), np.minimum(a[1], b[0])"
    )
    for dtype in FLOATS:
        agree(f, np.array([0.0, -0.0, np.nan, 1] * 9, dtype), np.array([-0.0, 0.0, 1, np.nan] * 9, dtype))


# What a Python int, or a number, of any size does where it meets each dtype.
NUMBERS = (
    300, -1, 2**40, 2**63, 2**64, 127, 255, 300.7, -1.5, 1e10, 1e20, float("nan"), float("inf"), True, np.int64(300),
    np.int64(-1), np.uint64(2**63), np.int8(-1), np.float64(300.7), np.float64("nan"), np.float16(7.5),
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
@pytest.mark.parametrize("form", ["a[1] = x", "a[...] = x", "a.fill(x)", "a = np.full(3, x, a.dtype)"])
def test_n1_numbers_stored_into_each_dtype(form: str) -> None:
    """What does not fit raises; NumPy's scalars into unsigned integers, and np.full of what is no Python int, wrap."""
    f = tracebuf.bufferize(program(f"def f(a, x):\n    {form}\n    return a"))
    for dtype in DTYPES:
        for x in NUMBERS:
            if dtype != "uint32" or not isinstance(x, np.floating) or 0 <= x < 2**32:
                agree(f, np.zeros(3, dtype), x)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_n1_numbers_converted_to_each_dtype() -> None:
    """np.int8(x) raises for Python's numbers that do not fit, and wraps NumPy's."""
    for dtype in DTYPES:
        f = tracebuf.bufferize(program(f"def f(x):\n    return np.{dtype}(x)"))
        for x in NUMBERS:
            if dtype != "uint32" or not isinstance(x, np.floating) or 0 <= x < 2**32:
                agree(f, x)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16"])
def test_n1_comparisons_with_any_python_int(dtype: str) -> None:
    """`i8 < 300` does not raise: known when traced, or not."""
    a = values(dtype)
    compared = ", ".join(f"a {op} x, x {op} a, a[0] {op} x" for op in ("<", "<=", ">", ">=", "==", "!="))
    f = tracebuf.bufferize(program(f"def f(a, x): return ({compared})"))
    for x in (3, -1, 300, -200, 2**40, 2**63, 2**64, -(2**70)):
        agree(f, a, x)
    for x in (-1, 300, 2**64):
        agree(program(f"def f(a): return ({compared.replace('x', f'({x})')})"), a)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["a + {}", "np.maximum(a, {})", "a[0] + {}", "np.where(a > 1, a, {})",
                                  "np.clip(a, {}, 3)", "a.clip(2, {})"])  # fmt: skip
def test_n1_python_ints_that_may_not_fit(form: str) -> None:
    """`i8 + 300` raises, np.where wraps, np.clip ignores: known when traced, or not."""
    for dtype in ("int8", "uint8", "uint64", "float16"):
        a = values(dtype)
        f = tracebuf.bufferize(program(f"def f(a, x): return {form.format('x')}"))
        for x in (2, 300, -1, -300):
            agree(f, a, x)
        agree(program(f"def f(a): return {form.format('(-1)')}"), a)
        agree(program(f"def f(a): return {form.format(300)}"), a)


@pytest.mark.slow
def test_n1_ints_that_change_in_a_loop() -> None:
    """The check of a loop's variable is made at run time: elements up to there are unspecified, the class is not."""
    f = tracebuf.bufferize(program("def f(a, n):\n    for i in range(n):\n        a[i % 3] += i\n    return a"))
    for dtype in ("int8", "uint8", "uint16"):
        for n in (0, 5, 127, 128, 129, 256, 257):
            agree(f, np.zeros(3, dtype), n)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_in_place_operators(dtype: str) -> None:
    """What is cast is NumPy's, and so are the casting errors (rule C1)."""
    a = np.array([1, 2, 3, 1], dtype)
    for other in ("int8", "uint64", "float16", "float64"):
        b, allowed, others = np.array([1, 3, 2, 1], other), [], []
        for op in ("+=", "-=", "*=", "/=", "//=", "%=", "<<=", "&="):
            try:
                exec(f"a {op} b", {"a": a.copy(), "b": b})
                allowed.append(op)
            except TypeError:
                others.append(op)
        lines = [f"    c{k} = a.copy()\n    c{k} {op} b" for k, op in enumerate(allowed)]
        kept = ", ".join(["a", *(f"c{k}" for k in range(len(allowed)))])
        agree(program("\n".join(["def f(a, b):", *lines, f"    return {kept}"])), a, b)
        for op in others[:: 1 if other == "float64" else 4]:
            agree(program(f"def f(a, b):\n    a {op} b\n    return a"), a, b)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions(dtype: str) -> None:
    """Sums of integers in the 64 bits of their sign, halves by way of float32 (rules N5, C2)."""
    a = np.arange(24).reshape(4, 6).astype(dtype)
    kinds = [
        f"a.{k}({axis})" for k in ("sum", "max", "min", "mean") for axis in ("", "axis=0", "axis=-1, keepdims=True")
    ]
    agree(batch(kinds, "a"), a)
    big = values(dtype) if dtype not in FLOATS else np.linspace(-30, 40, 4000).astype(dtype)
    agree(batch(["a.max()", "a.min()"] + ["a.sum()"] * (dtype not in FLOATS), "a"), big)
    if dtype == "float16":
        agree(batch(["a.sum()", "a.mean()"], "a"), big, ulp=1)
        agree(batch(["a.sum()", "a.mean()"], "a"), np.full(5000, 10, np.float16))  # the sum of halves would stand still


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_products(dtype: str) -> None:
    """Products of matrices and vectors, of integers modulo their width (rule C2)."""
    a, b = (np.resize(values(dtype, k) if dtype not in FLOATS else np.arange(9).astype(dtype), (4, 4)) for k in (0, 1))
    agree(batch(["a @ b", "a[0] @ b", "a @ b[:, 1]", "a[0] @ b[1]", "np.dot(a, b.T)", "a.dot(2)"], "a, b"), a, b)
    agree(batch(["a @ b", "a[1] @ b"], "a, b"), a, b.astype(np.int16))


@pytest.mark.parametrize("dtype", slow_but(("uint16",), INTS))
def test_indices_and_bounds(dtype: str) -> None:
    """A NumPy int of any type is an index, a bound, a size and a Python int (rule Z3)."""
    f = tracebuf.bufferize(
        program("""
            def f(a, i, k):
                total, n = np.float64(0), i[k]
                for j in range(n):
                    total += a[j]
                return total, a[n], a[n:], a[:n], a[i[0] : n : 2], np.zeros(n), int(n) + 1, float(n)
            """)
    )
    a, i = np.arange(8.0), np.array([1, 3, 7, 8, np.iinfo(dtype).max], dtype)
    for k in range(4):
        agree(f, a, i, k)
    agree(program("def f(a, i): return a[: i[4]], a[i[4] :]"), a, i)
    assert isinstance(agree(program("def f(a, i): return a[i[4]]"), a, i), (IndexError, OverflowError))
    if dtype[0] != "u":
        agree(program("def f(a, i): return a[i], a[i:], a[:i]"), a, np.dtype(dtype).type(-3))


@pytest.mark.parametrize("dtype", slow_but(("float32",), DTYPES))
def test_numbers_through_loops_and_branches(dtype: str) -> None:
    """NumPy scalars of each type carried, selected, returned and compared (rules C1, S10)."""
    f = program("""
        def f(a, x):
            s, t = a[0], x
            for k in range(1, len(a)):
                s = s + a[k]
                if a[k] > t:
                    t = a[k]
            return s, t, max(s, t), -t if t < s else +t, np.where(a > t, a, t), t == s, bool(t), float(t), abs(t)
        """)
    if dtype == "bool":
        f = program("def f(a, x): return a[1] & x, a[0], x, float(x), int(x), np.where(a, x, a), a[0] if x else a[1]")
    a = np.array([1, 3, 0, 2], dtype)
    for x in (1, 3):
        agree(f, a, a.dtype.type(x))


@pytest.mark.parametrize("dtype", slow_but(("uint8",), DTYPES))
def test_creation(dtype: str) -> None:
    """dtype= in every spelling (rule C1)."""
    kinds = ["np.zeros(3, np.{0})", "np.ones((2, n), '{0}')", "np.full(n, 7, dtype=np.{0})", "np.full_like(a, 1)",
             "np.zeros_like(a)", "np.ones_like(b, dtype=a.dtype)", "np.full(2, a[0])", "a.dtype.type(1)", "np.copy(a)",
             "a.itemsize", "a.nbytes", "a[0].dtype", "np.empty_like(a)[:0]"]  # fmt: skip
    agree(batch([k.format(dtype) for k in kinds], "a, b, n"), np.ones(3, dtype), np.zeros(4), 3)


@pytest.mark.slow
def test_n5_numbers_with_numbers() -> None:
    """NumPy's scalars of each pair of types, by each operator: what NumPy's scalar arithmetic gives, its types too."""
    operators = "+ - * / // % << >> & | ^ <= ==".split()
    name = {"//": "floor_divide", "+": "add", "-": "subtract", "*": "multiply", "/": "true_divide", "%": "remainder",
            "<<": "left_shift", ">>": "right_shift", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor",
            "<=": "less_equal", "==": "equal"}  # fmt: skip
    for d in DTYPES:
        others = [e for e in DTYPES if works("add", d, e)]
        items = [f"x {op} y{k}" for k, e in enumerate(others) for op in operators if works(name[op], d, e)]
        f = tracebuf.bufferize(batch(items, ", ".join(["x", *(f"y{k}" for k in range(len(others)))])))
        for k in range(3):
            x, ys = values(d, count=15)[k], [values(e, 1, 15)[k] for e in others]
            agree(f, x, *ys)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_whole_ladder(dtype: str) -> None:
    """Both interpreters and native code hold the same bits (rule N5: each value has its declared dtype)."""
    f = program("""
        def f(a, b, n):
            c = np.where(a > b[0], a, b) + a
            b[1:] = a[:-1] * 2.5
            a[::2] ^= 3
            total = a[0]
            for i in range(n):
                total = np.maximum(total, c[i])
                b[i] = i + 1
            return c, total, a.max(), c.astype(np.int16), (a == b).sum(), a[b[1]]
        """)
    if dtype in FLOATS:
        f = program("""
            def f(a, b, n):
                c = np.where(a > b[0], a, b) / a
                b[1:] = a[:-1] * 2.5
                a[::2] -= 3
                for i in range(n):
                    b[i] = i + 1
                return c, a.max(), np.rint(b).astype(np.int16), (a == b).sum(), np.sqrt(a), -b
            """)
    climb(f, [np.array([1, 0, 1, 1, 0], dtype), np.array([1, 1, 0, 1, 0], dtype), 3])


def test_c1_longlong_is_not_int64() -> None:
    """They are equal as dtypes, but their scalars are of two classes: a call that came before does not hide it."""
    f = tracebuf.bufferize(program("def f(a): return a + 1, a[0], a.sum()"))
    for dtype in ("int64", "longlong", "uint64", "ulonglong"):
        for _ in range(2):
            agree(f, np.arange(3).astype(dtype))
    for made in ("np.zeros(n, np.longlong)", "np.arange(n, dtype='q') / 2", "np.ones(n, int).astype('Q', copy=False)"):
        agree(program(f"def f(n): return {made}"), 3)
    for made in ("np.zeros(n, 'q')[0]", "np.sum(np.ones(n, int), dtype='q')", "np.asarray(np.ones(n, int), 'q')"):
        error = refused(program(f"def f(n): return {made}"), 3)
        assert "longlong" in error.reason and "np.int64" in error.instead


LONGLONG = (
    "a + 1", "a[::2]", "(a / 2, a * 1.5)", "int(a.sum())", "a.tolist()", "np.sort(a)", "a[a > 1]",
    "isinstance(a[0], np.integer)", "np.issubdtype(a.dtype, np.integer)", "np.array([x + 1 for x in a])",
    "a.view('u8')", "a.astype(np.int64, copy=False)", "np.bincount(a)", "float(a[0]), a.mean()", "a.dtype.name",
    "a.dtype == np.int64",
)  # fmt: skip
"""Programs of which it is not seen that an array is of longlong, which compiled code runs."""
SEEN = (
    "a.dtype", "a.dtype.char", "a.dtype.type(3)", "a.dtype.__class__", "type(a[0])", "a[0].__class__", "[a.max()]",
    "isinstance(a[0], np.int64)", "np.issubdtype(a.dtype, np.int64)", "np.asarray(a, np.int64)", "a @ a",
    "a.dtype is np.dtype(int)", "np.asarray(a, np.int64) is a", "[x for x in a]", "a.argmax()",
)  # fmt: skip
"""Others: the original function runs."""


@pytest.mark.slow
def test_c1_arrays_of_longlong() -> None:
    """They have int64's memory and an equal dtype: compiled code takes them where nothing tells which one it was."""
    a = np.array([3, 1, 2], np.longlong)
    for text in (*LONGLONG, *SEEN):
        f = tracebuf.bufferize(verify=True)(program(f"def f(a): return {text}"))
        for _ in range(2):
            agree(f, a)
        share = f.specializations().native_share
        assert share == (text in LONGLONG), f"{text}: {f.specializations()}"
    f = tracebuf.bufferize(verify=True)(program("""
        def f(a, b):
            a[1:] += b[:-1]
            b *= 2
        """))
    agree(f, a, np.arange(3))
    agree(f, np.arange(3), a)
    agree(f, a, a)
    assert f.specializations().native_share == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
@pytest.mark.parametrize("dtype", FLOATS)
def test_n4_floats_beyond_the_integers(dtype: str) -> None:
    """At and past the bounds of each integer type: what C gives on x86, at any stride and from numbers."""
    steps = [2.0**k + d for k in (7, 8, 15, 16, 31, 32, 53, 62, 63, 64, 65) for d in (-1, 0, 0.9, 1, 2.0**12)]
    a = np.array([*steps, *(-x for x in steps), 1e30, np.inf, np.nan]).astype(dtype)
    targets = [d for d in INTS if d != "uint32"]
    f = tracebuf.bufferize(batch([f"a.astype(np.{d})" for d in targets], "a"))
    agree(f, a)
    agree(f, a[::-3])
    g = tracebuf.bufferize(batch([f"np.{d}(x)" for d in targets], "x"))
    for x in a[::4]:
        agree(g, x)


@pytest.mark.slow
def test_builtin_extremes_of_narrow_numbers() -> None:
    """max(0, a[i]) where the Python int fits the dtype: the same number whichever wins (rules N1, C1)."""
    f = program("""
        def f(a, n):
            b = np.zeros(4, a.dtype)
            for i in range(3):
                b[i] = max(0, min(a[i], n)) + a[i]
                b[3] += max(a[i], 1)
            return b
        """)
    g = tracebuf.bufferize(f)
    for dtype in (*INTS, "float64"):
        for n in (5, 100):
            agree(g, np.array([3, 0, 90], dtype), n)


@pytest.mark.slow
def test_n1_totals_that_start_as_python_ints() -> None:
    """`total = 0` before a loop over integers of any width, of which the total becomes one."""
    f = program("""
        def f(a):
            total, scaled = 0, 1
            for i in range(len(a)):
                total += a[i]
                scaled = a[i] * scaled
            return total, scaled
        """)
    g = tracebuf.bufferize(f)
    for dtype in (*INTS, *FLOATS):
        agree(g, np.array([3, 2, 90, 7], dtype))
    narrow = program("def f(a):\n    s = 300\n    for i in range(len(a)):\n        s += a[i]\n    return s")
    assert isinstance(agree(narrow, np.ones(3, np.int8)), OverflowError)


@pytest.mark.slow
def test_n5_a_total_that_may_still_be_a_python_number() -> None:
    """After a loop that may not have run: a Python float beside any integer is a float64, a Python int is not."""
    source = "def f(a, k, m):\n    s = {}\n    for i in range(m[0]):\n        s = s + a[i]\n    return s + k"
    for dtype in INTS:
        f = tracebuf.bufferize(program(source.format("0.0")))
        for n in (2, 0, 1):
            agree(f, np.arange(1.0, 4.0), np.dtype(dtype).type(1), np.array([n]))
    f = tracebuf.bufferize(program(source.format("0")))
    for n in (2, 0, 1):
        agree(f, np.arange(1.0, 4.0), np.int64(1), np.array([n]))


@pytest.mark.parametrize(
    "text",
    [
        "np.float64(a) is a, np.float32(c), np.int64(i), np.bool(c)",
    ],
)
def test_c1_calls_that_once_differed(text: str) -> None:
    """Found by calls that `tracebuf.testing.functions` drew."""
    expression(text, UNUSUAL)


@pytest.mark.parametrize(
    "text",
    [
        "np.common_type(a, a.astype(np.int8))(1)", "np.common_type(a, 2.0)(1)", "np.common_type(a, k)(1)",
        "np.common_type(a.astype(np.complex64), a[0])(1)", "np.common_type()(2)", "np.common_type(a > 0)(1)",
        "np.zeros(2, np.common_type(a, np.float32(1)))", "np.isdtype(a.dtype, 'real floating')",
        "np.isdtype(a.dtype, ('bool', np.float32))", "np.isdtype(a.dtype, 'real')",
    ],
)  # fmt: skip
def test_functions_of_dtypes(text: str) -> None:
    """They are known while tracing, and raise what NumPy raises."""
    f = program(f"def f(a, k):\n    return {text}")
    for dtype in (np.float32, np.float64, np.int16):
        agree(f, np.ones(2, dtype), 3)
