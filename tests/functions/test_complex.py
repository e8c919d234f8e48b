"""complex64 and complex128: elementwise functions, scalars, Python's complex numbers, reductions, products, parts."""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np
import pytest

import tracebuf
import tracebuf.mlir
from tests.support.agreement import agree, program, refused
from tests.support.arrays import complexes, floats
from tests.support.forms import check_forms, in_fives
from tests.support.params import one_in, slow_but
from tracebuf.ir.print_generic import print_generic
from tracebuf.testing.ladder import climb

TYPES = (np.complex128, np.complex64)
ODD = (0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan)


def odd(dtype: Any = np.complex128) -> np.ndarray:
    """Every pair of odd components."""
    return np.array([complex(a, b) for a in ODD for b in ODD]).astype(dtype)


BINARY = ["a + b", "a - b", "a * b", "a / b", "a == b", "a != b", "a < b", "a <= b", "a > b", "a >= b",
          "np.maximum(a, b)", "np.minimum(a, b)", "np.fmax(a, b)", "np.fmin(a, b)", "np.logical_and(a, b)",
          "np.logical_or(a, b)", "np.logical_xor(a, b)", "np.where(a == b, a, b)"]  # fmt: skip
UNARY = ["-a", "+a", "abs(a)", "np.conj(a)", "np.exp(a)", "np.log(a)", "np.sin(a)", "np.sqrt(a)", "np.square(a)",
         "np.isnan(a)", "np.isinf(a)", "np.isfinite(a)", "np.logical_not(a)", "np.reciprocal(a)", "np.sign(a)",
         "np.tanh(a)", "np.log10(a)", "np.expm1(a)", "np.arctan(a)", "a ** 2", "a ** 3", "a ** 0.5", "a ** -1",
         "a ** 1", "a * 2", "a + 0.5", "1 - a", "a * 1j", "a / 3", "2j / a", "a * np.float32(2)", "a + np.int8(1)",
         "a.astype(np.complex128)", "a.astype(np.complex64)", "a.astype(np.float64)", "a.astype(np.int16)",
         "a.astype(bool)", "a.copy()", "abs(a) ** 2", "np.abs(a - 1) > 2"]  # fmt: skip


@pytest.mark.parametrize("forms", one_in(5, [["a ** b"], *in_fives(BINARY)]))
@pytest.mark.parametrize("dtype", one_in(4, TYPES))
def test_binary_functions(forms: list[str], dtype: Any) -> None:
    rounded = 8 if forms == ["a ** b"] else 0
    pairs = (
        (complexes(50, dtype), complexes(50, dtype, 1)), (complexes((3, 4), dtype), complexes(4, dtype)),
        (complexes(0, dtype),) * 2,
    )  # fmt: skip
    for a, b in pairs:
        check_forms(forms, rounded, {"a": a, "b": b})
    first, second = np.meshgrid(odd(dtype), odd(dtype))
    check_forms(forms, 0, {"a": first.ravel(), "b": second.ravel()})


@pytest.mark.slow
@pytest.mark.parametrize("forms", in_fives(UNARY))
@pytest.mark.parametrize("dtype", TYPES)
def test_unary_functions(forms: list[str], dtype: Any) -> None:
    for a in (complexes(50, dtype), complexes((3, 1), dtype), complexes((), dtype), complexes(0, dtype), odd(dtype)):
        open_in_c = a.size > 40 and not np.isfinite(a).all()
        check_forms([form for form in forms if "int" not in form or not open_in_c], values={"a": a})


@pytest.mark.slow
@pytest.mark.parametrize("other", [np.float64, np.float32, np.int32, np.uint8, bool, np.float16])
@pytest.mark.parametrize("dtype", TYPES)
def test_dtypes_meet(other: Any, dtype: Any) -> None:
    x = (np.arange(5) % 2).astype(other)
    forms = ["a + x", "x * a", "x / (a + 2)", "a == x", "np.where(x, a, x)"]
    check_forms(forms, values={"a": complexes(5, dtype), "x": x})


@pytest.mark.slow
def test_scalars_of_numpy_multiply_like_pythons() -> None:
    f = program("def f(a, x, y): return x * y, x / y, a * x, x * a, np.multiply(x, y), x ** 2, abs(x), -x, x == y")
    for seed in range(20):
        a, x, y = complexes(7, seed=seed), complexes((), seed=seed + 1)[()], complexes((), seed=seed + 2)[()]
        agree(f, a, x, y)
        agree(f, a.astype(np.complex64), x, y)
        agree(f, a, np.complex64(x), y)
        agree(f, a, np.complex64(x), np.complex64(y))
        agree(f, a, np.float64(x.real), y)
        agree(f, a, x, complex(y))
        agree(f, a, np.complex64(x), complex(y))
        agree(program("def f(x): return np.square(x)"), np.complex64(x), ulp=2)  # NumPy's own choice hangs on addresses


PYTHON = ["x + y", "x - y", "x * y", "x / y", "x == y", "x != y", "-x", "+x", "x ** 2", "x ** 5", "x ** -3", "x ** 0",
          "abs(x)", "x.real", "x.imag", "x.conjugate()", "bool(x)", "x and y", "complex(x)", "complex(x, y)",
          "complex(x.real, y.imag)", "x * 2", "2.5 * x", "x + 1", "1 / y", "x ** 0.5", "x ** y", "x // y", "x < y",
          "float(x)", "int(x)", "complex(3, x.imag)", "sum((x, y, 1))", "~x"]  # fmt: skip


@pytest.mark.parametrize("form", one_in(24, PYTHON))
def test_python_numbers(form: str) -> None:
    f = program(f"def f(x, y): return {form}")
    for x, y in ((1 + 2j, -0.5 + 3j), (0.3 - 1e-9j, 2j), (0j, 1 + 0j), (complex("nan"), 1j),
                 (1e300 + 1e300j, 1e10 + 0j), (2 - 1j, 0j), (complex(np.inf, -1), -0j)):  # fmt: skip
        agree(f, x, y)


CMATH = (
    "exp", "log", "sqrt", "sin", "cos", "tan", "asin", "tanh", "acosh", "atan", "log10", "phase", "polar", "isnan",
    "isinf", "isfinite",
)  # fmt: skip


@pytest.mark.parametrize("name", one_in(16, CMATH))
def test_cmath(name: str) -> None:
    f = program(f"def f(z, x): return cmath.{name}(z), cmath.{name}(x)", cmath=cmath)
    for z, x in ((1 + 2j, 0.5), (-1 + 0j, -2.0), (0j, 1.0), (complex(800, 1), 2.0), (complex("inf"), 1.0)):
        agree(f, z, x)


def test_real_functions_refuse_complex_numbers_as_numpy_does() -> None:
    for form in ("np.floor(a)", "a // 2", "a % 2", "np.arctan2(a, a)", "a & 1", "np.signbit(a)", "np.hypot(a, a)"):
        assert isinstance(agree(program(f"def f(a): return {form}"), complexes(3)), TypeError)


@pytest.mark.slow
def test_stores() -> None:
    f = program("""
    def f(a, z, r, w):
        a[0] = z
        a[1:3] = r
        a[3] += 2j
        a *= 1 + 1j
        a[-1] = w
        a[4:6] = (1, 2j)
        a -= r[0]
        return a
    """)
    for dtype in TYPES:
        agree(f, complexes(8, dtype), 1 + 2j, np.array([1.5, 2.5]), np.complex64(3j))
    for target in (np.zeros(3), np.zeros(3, int)):
        assert isinstance(agree(program("def f(a, z): a[0] = z"), target, 1j), TypeError)
        assert isinstance(agree(program("def f(a, z): a += z"), target, 1j), TypeError)
    agree(program("def f(a, z): a[0] = z; a[1:] = z"), np.zeros(3), np.complex128(1 + 1j))


@pytest.mark.slow
def test_control_flow_carries_complex_numbers() -> None:
    escape = program("""
    def escape(c, n):
        z, k = 0j, 0
        while k < n and z.real * z.real + z.imag * z.imag <= 4.0:
            z = z * z + c
            k += 1
        return z, k
    """)
    for c in (-0.5 + 0.3j, 1 + 1j, 0j, 0.25 + 0j):
        agree(escape, c, 30)
    horner = program("""
    def horner(p, z):
        s = p[0]
        for k in range(1, len(p)):
            s = s * z + p[k]
        return s if s.real > 0 else -s
    """)
    for z in (0.3 + 1j, np.complex128(2 - 1j)):
        agree(horner, complexes(9), z)
    agree(program("def f(a, s):\n for x in a:\n  s += x\n return s"), complexes(6), 0j)
    agree(program("def f(a):\n s = 0\n for x in a:\n  s += x * x\n return s"), complexes(6))
    agree(program("def f(z, n):\n for i in range(n):\n  z = z * 1j\n return z, [z, 1j, 2]"), 1 + 0j, 3)


def test_creation() -> None:
    f = program("""
    def f(n, z):
        return (np.zeros(n, complex), np.ones(n, np.complex64), np.full(n, z), np.full(n, 1j), np.array([1, z, 2.5]),
                np.zeros_like(np.full(n, z)), np.array([[1j, 2], [3, 4]]), np.complex64(z))
    """)
    agree(f, 4, 1 + 2j)


def test_captured_numbers() -> None:
    f = program("def f(a): return a * W", W=np.exp(2j * np.pi / 8))
    agree(f, complexes(5))
    agree(program("def f(a): return a * W", W=1 - 0j), complexes(5))


REDUCTIONS = ["np.sum(a, axis=x)", "np.prod(a, axis=x)", "a.mean(axis=x)", "a.max(axis=x)", "a.min(axis=x)",
              "np.any(a, axis=x)", "np.all(a, axis=x)", "a.argmax(axis=x)", "a.argmin(axis=x)", "np.cumsum(a, axis=x)",
              "np.cumprod(a, axis=x)", "np.var(a, axis=x)", "np.std(a, axis=x, ddof=1)", "np.ptp(a, axis=x)",
              "np.sum(a, axis=x, where=a != 0)", "np.sum(a, axis=x, initial=2j)", "np.count_nonzero(a, axis=x)",
              "np.nansum(a, axis=x)", "np.nanmean(a, axis=x)", "np.nanmax(a, axis=x)", "np.linalg.norm(a, axis=x)",
              "np.add.reduce(a, axis=x or 0)", "np.multiply.accumulate(a, axis=x or 0)", "a.sum(axis=x, keepdims=True)",
              "np.sum(abs(a) ** 2, axis=x)"]  # fmt: skip


@pytest.mark.slow
def test_c2_folded_products_round_as_numpys() -> None:
    """Where elements that are folded lie next to each other, NumPy rounds each product of components."""
    f = program("def f(a): return np.prod(a, axis=0), np.prod(a, axis=1), np.prod(a), np.multiply.reduce(a[0])")
    running = program("def f(a): return np.cumprod(a, axis=0), np.cumprod(a, axis=1), np.multiply.accumulate(a[:, 1])")
    for dtype in TYPES:
        a = (1 + complexes((11, 9), dtype) / 8).astype(dtype)
        for given in (a, a.T, a[::2, ::2]):
            agree(f, given, ulp=0)
            agree(running, given, ulp=0)
    climb(program("def f(a): return np.cumprod(a, axis=0), np.cumprod(a[0]), np.prod(a, axis=1)"), (a,))


@pytest.mark.slow
@pytest.mark.parametrize("forms", in_fives(REDUCTIONS))
@pytest.mark.parametrize("dtype", TYPES)
def test_reductions(forms: list[str], dtype: Any) -> None:
    for axis in (None, 0, -1):
        texts = [form.replace("x or 0", str(axis or 0)).replace("axis=x", f"axis={axis}") for form in forms]
        for shape in ((3, 4), (1, 1), (7,), (40, 7), (40, 0)):
            for a in (complexes(shape, dtype), complexes(shape, dtype).T):
                check_forms(texts, 32 * a.size, {"a": a})
        holes = complexes((4, 5), dtype)
        holes[1, 2], holes[3, 3] = np.nan, complex(1, np.nan)
        check_forms(texts, 64, {"a": holes})


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TYPES)
def test_extremes_are_lexicographic(dtype: Any) -> None:
    f = program("def f(a): return a.max(), a.min(), a.argmax(), a.argmin(), np.maximum.reduce(a), np.fmax.reduce(a)")
    rng = np.random.default_rng(5)
    for n in (1, 2, 30):
        agree(f, (rng.integers(0, 3, n) + 1j * rng.integers(0, 3, n)).astype(dtype))
        agree(f, rng.choice(odd(dtype), n))


@pytest.mark.slow
def test_sums_are_exact_enough() -> None:
    """Pairwise, as float sums are: a running complex64 sum would stand still."""
    n = 2**22
    got = agree(program("def f(a): return a.sum()"), np.full(n, 0.1 + 0.1j, np.complex64), ulp=64)
    assert abs(got - n * np.complex64(0.1 + 0.1j)) < 1e-5 * abs(got)


PRODUCTS = ["a @ b", "np.dot(a, b)", "a @ v", "v @ b", "v @ v", "np.vdot(v, v)", "np.inner(a, a)", "np.outer(v, v)",
            "a @ b.real", "a.T @ a.conj()", "np.conj(a.T) @ a", "b[:, ::2] @ b[::2]", "np.vdot(a, a)",
            "np.linalg.norm(a)", "np.linalg.norm(v)", "np.linalg.norm(v, 1)", "np.einsum('ij,jk->ik', a, b)",
            "np.tensordot(a, b, 1)", "np.stack((a, b)) @ b", "np.trace(a)", "np.dot(a, 2j)"]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("forms", in_fives(PRODUCTS))
@pytest.mark.parametrize("dtype", TYPES)
def test_products(forms: list[str], dtype: Any) -> None:
    for n in (1, 2, 6, 0):
        a, b, v = complexes((n, n), dtype), complexes((n, n), dtype, 1), complexes(n, dtype, 2)
        check_forms(forms, 256, {"a": a, "b": b, "v": v})


@pytest.mark.slow
def test_products_into_matrices() -> None:
    f = program("def f(a, b, c):\n c += a @ b\n c -= b @ a\n c[1:, 1:] -= np.outer(a[0, 1:], b[1:, 0])\n return c")
    agree(f, complexes((5, 5)), complexes((5, 5), seed=1), complexes((5, 5), seed=2), ulp=256)


@pytest.mark.slow
def test_rounding() -> None:
    for digits in (0, 2, -1):
        f = program(f"def f(a): return np.round(a, {digits}), np.around(a), a.round({digits})")
        for a in (complexes((3, 4)), complexes((3, 4)).T, complexes(5, np.complex64)[::2], complexes(0)):
            agree(f, a)


def test_what_is_rounded_keeps_the_order_of_its_axes() -> None:
    f = program("def f(a): return np.round(a), np.round(a, 1)")
    for a in (complexes((2, 3, 4)).transpose(1, 0, 2), complexes((2, 3, 4))[:, :, ::2].T):
        agree(f, a)


@pytest.mark.parametrize("form", ["np.searchsorted(a, a)", "np.arange(a[0] * 2j)", "np.full(3, None)",
                                  "np.where(a == 0, None, a)", "a.fill(None)", "np.zeros(3, object)",
                                  "a.astype('M8[s]')", "a.astype(np.clongdouble)", "a.astype('c8,f8')",
                                  "np.matrix(a)", "np.ma.array(a)", "a.view('S16')"])  # fmt: skip
def test_refused(form: str) -> None:
    refused(program(f"def f(a): return {form}"), complexes(3))


def test_texts_beside() -> None:
    agree(program("def f(a): return np.full(3, 'x'), np.where(a == 0, 'none', 'some')"), complexes(3))


COMPLEX_TEXT = """
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<?xcomplex<f64>>, tensor<?xcomplex<f64>>) -> tensor<?xcomplex<f64>>,
                  sym_name = "f"}> ({
  ^bb0(%a: tensor<?xcomplex<f64>>, %b: tensor<?xcomplex<f64>>):
    %0 = "linalg.generic"(%a, %b) <{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%x: complex<f64>, %y: complex<f64>):
      %c = "complex.constant"() <{value = [2.0 : f64, -1.0 : f64]}> : () -> complex<f64>
      %m = "complex.mul"(%x, %c) <{fastmath = #arith.fastmath<none>}> : (complex<f64>, complex<f64>) -> complex<f64>
      %e = "complex.exp"(%m) : (complex<f64>) -> complex<f64>
      %r = "complex.re"(%e) : (complex<f64>) -> f64
      %n = "complex.abs"(%x) : (complex<f64>) -> f64
      %z = "complex.create"(%r, %n) : (f64, f64) -> complex<f64>
      "linalg.yield"(%z) : (complex<f64>) -> ()
    }) : (tensor<?xcomplex<f64>>, tensor<?xcomplex<f64>>) -> tensor<?xcomplex<f64>>
    "func.return"(%0) : (tensor<?xcomplex<f64>>) -> ()
  }) : () -> ()
}) : () -> ()
"""


def test_the_dialect_in_mlir_text() -> None:
    module = tracebuf.mlir.read(COMPLEX_TEXT)
    made = tracebuf.mlir.program(module, "f")
    x = complexes(6)
    e = np.exp(x * (2 - 1j))
    for found in (made(x.copy(), np.zeros_like(x)), made.on_values(x.copy(), np.zeros_like(x))):
        np.testing.assert_array_equal(found[0], e.real + 1j * np.abs(x))
    again = print_generic(module)
    assert "complex.constant" in again and print_generic(tracebuf.mlir.read(again)) == again


def test_numbers_of_two_parts() -> None:
    f = program("def f(x, y): return np.complex128(x, y), np.complex64(x, 2), np.complex128(1, 2), complex(x, y)")
    agree(f, 1.5, 2)
    assert isinstance(agree(program("def f(x): return np.float64(x, x)"), 1.5), TypeError)


@pytest.mark.slow
def test_numbers_that_are_pythons_or_numpys() -> None:
    """What a loop that may not run adds to."""
    head = "def f(a):\n s = 0\n for x in a:\n  s += x * x\n return "
    for end in ("s", "s * 2.5", "s + 1", "s == 0", "s / 2", "-s", "s * 1j", "abs(s)"):
        for a in (complexes(3), complexes(0)):
            g = tracebuf.bufferize(verify=True)(program(head + end))
            try:
                agree(g, a)
            except tracebuf.UnsupportedError:
                continue
    on_a_path = head.replace("  s +=", "  if x.real > 0: s +=")
    for end in ("s.real", "s.conjugate()"):
        agree(program(head + end), complexes(3))
    agree(program(on_a_path + "s.real"), complexes(3))
    refused(program(on_a_path + "s.conjugate()"), complexes(3))
    agree(program(head.replace("s = 0", "s = 0j") + "s, s * 2, s + 1"), complexes(0))


def test_messages_hold_complex_numbers() -> None:
    f = program("""
    def f(z, w):
        if z.real > w.real:
            raise ValueError(f"{z} and {w} and {z.imag}")
        assert w != z, w
        return z
    """)
    with pytest.raises(ValueError, match=r"\(3\+1j\) and \(1-2j\) and 1.0"):
        tracebuf.bufferize(f)(3 + 1j, np.complex128(1 - 2j))
    agree(f, 1 + 1j, np.complex64(3))
    agree(f, 1 + 1j, 1 + 1j)


def test_host_calls_take_complex_numbers() -> None:
    def scaled(a: np.ndarray, z: complex) -> np.ndarray:
        assert type(z) is complex
        return a * z

    def negated(part: np.ndarray) -> None:
        part *= -1

    def f(a: np.ndarray, z: complex) -> Any:
        made = tracebuf.host_call(scaled, a, z * 2, result_shape=a.shape, result_dtype=a.dtype)
        tracebuf.host_call(negated, made.imag, writes=0)
        return made, np.linalg.solve(np.eye(2) * z, a[:2]), np.fft.ifft(np.fft.fft(a) * z)

    agree(f, complexes(4), 1 + 1j, ulp=64)
    agree(program("def f(x, y): return [x] == [2j], x in (1j, 2j)"), 2j, 2j)


@pytest.mark.slow
def test_complex_constants() -> None:
    """A complex constant met an assertion (found by fuzzing)."""

    def program(a):
        return np.minimum(a, (-1.5) ** 0.5)

    climb(program, (floats(3),))


SEARCHES = [
    "a.argmax()", "np.argmin(a)", "np.argmax(a, 0)", "a.argmin(-1)", "np.argmax(a, axis=1, keepdims=True)",
    "a[:, 1].argmin()",
]  # fmt: skip


def test_an_index_of_an_extreme() -> None:
    a = np.array([1 + 2j, 3, 3 + 1j, 3 + 1j, complex(1, np.nan), complex(np.nan, 0)])
    f = tracebuf.bufferize(lambda a: a.argmax())
    assert "numpy_argmax_D" in f.lower(a).as_text("llvm")
    for x in (a, a[:4]):
        agree(f, x)


@pytest.mark.slow
@pytest.mark.parametrize("text", SEARCHES)
def test_indices_of_extremes(text: str) -> None:
    """By NumPy's own search: the order is lexicographic, the first NaN wins."""
    f = tracebuf.bufferize(program(f"def f(a):\n    return {text}"))
    r = np.random.default_rng(0)
    for dtype in (np.complex64, np.complex128):
        a = (r.integers(0, 3, (7, 9)) + 1j * r.integers(-2, 2, (7, 9))).astype(dtype)
        b = a.copy()
        b[r.random(a.shape) < 0.1] = complex(np.nan, 1)
        for x in (a, b, np.asfortranarray(a), np.repeat(b, 2, 1)[:, ::2], a[::-1, ::-1], np.tile(a, (100, 90)).T):
            agree(f, x)
    for shape in ((0, 3), (3, 0)):
        agree(f, np.zeros(shape, complex))


@pytest.mark.parametrize("dtype", [np.complex128, *slow_but((), [np.complex64])])
@pytest.mark.parametrize("name", slow_but(["minimum", "fmax"], ["maximum", "minimum", "fmax", "fmin"]))
@pytest.mark.cases(4)
def test_running_extremes(name: str, dtype: Any) -> None:
    """Ties, signed zeros, infinities, and NaNs in either part, in the middle and at the ends."""
    f = program(f"def f(a): return np.{name}.accumulate(a, -1), np.{name}.accumulate(a[..., ::-1], 0)")
    r = np.random.default_rng(7)
    parts = np.array([0.0, -0.0, 1, -1, 2, np.inf, -np.inf, np.nan])
    for chance in (0.0, 0.3):
        for n in (0, 1, 2, 7, 40):
            p = np.append(np.full(7, (1 - chance) / 7), chance)
            a = np.empty((3, n), dtype)
            a.real, a.imag = r.choice(parts, (3, n), p=p), r.choice(parts, (3, n), p=p)
            for x in (a, a[0], np.sort(a[1]), np.repeat(a, 2, 1)[:, ::2]):
                agree(f, x)


@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("z", [1.5, np.float64(1.5), np.ones(3)], ids=["python", "numpy", "array"])
def test_a_complex_number_as_a_real_type(kind: str, z: Any) -> None:
    """Python's has no real type, even where nothing reads the result; NumPy's leaves its imaginary part."""
    agree(program(f"def f(z): z = z + 0.5j; x = np.{kind}(z); return 1"), z)
    agree(program(f"def f(z): z = z + 0.5j; return np.{kind}(z)"), z)


def test_powers_of_an_imaginary_part_that_is_zero() -> None:
    """The array of zeros was compared with 0, element by element into another one."""

    def f(c):
        c **= c.imag

    climb(f, (np.arange(8, dtype=np.int16)[::2].reshape(4, 1),), again=[(np.array([[1 + 2j, 3]]),)])


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">="])
def test_orders_of_complex_numbers_raise_as_pythons(sign: str) -> None:
    """Where other statements come first, which is at run time."""
    f = program(f"def f(a, d):\n a[...] = a.sum()\n if d {sign} 1: pass")
    for g in (f, tracebuf.bufferize(f)):
        with pytest.raises(TypeError, match=f"'{sign}' not supported between instances of 'complex' and 'int'"):
            g(floats(3), 2j)
