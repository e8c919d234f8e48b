"""`static_argnames`: arguments that are Python values while tracing and part of the key (rules B2, C1, F3)."""

from __future__ import annotations

import decimal
import enum
import fractions
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from tests.support.agreement import agree
from tracebuf import UnsupportedError, bufferize

A = np.arange(6.0).reshape(2, 3)


def static(names: Any) -> Callable[[Any], Any]:
    return bufferize(static_argnames=names, verify=True)


@pytest.mark.slow
def test_a_mode_an_axis_a_size_a_function_a_tuple() -> None:
    @static(("mode", "axis", "n", "of", "shape"))
    def reduce(a, mode="sum", axis=0, n=1, of=np.sqrt, shape=()):
        a = np.stack([of(a) for _ in range(n)])
        return (a.sum(axis=axis) if mode == "sum" else a.max()) + np.zeros(shape), n

    agree(reduce, A)
    agree(reduce, A, "max", 1, n=3)
    agree(reduce, A, axis=(0, 2), shape=(3, 2), of=lambda x: x + 1)
    agree(reduce, A, axis=None, shape=(2, 1))
    assert len(reduce.specializations()) == 4


@pytest.mark.slow
def test_numbers_are_constants_and_each_value_has_its_own_program() -> None:
    @static("n")
    def f(a, n):
        return a * n, n

    for n in (2, 3, 2.0, True, 1, 1.0, 0.0, -0.0, float("nan"), np.float32(2), np.int8(2)):
        agree(f, A, n)
        agree(f, A, n)
    assert len(f.specializations()) == 11
    assert "arith.constant" in f.lower(A, 7).as_text("traced") and "%n" not in f.lower(A, 7).as_text("traced")


@pytest.mark.slow
def test_what_is_equal_inside_of_a_tuple_is_told_apart() -> None:
    @static("n")
    def f(a, n):
        return a * n[0], n[0]

    for x in (1, 1.0, True, 0.0, -0.0, np.float32(1), np.float64(1)):
        agree(f, A.astype(np.float32), (x,))
    assert len(f.specializations()) == 7


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


@pytest.mark.slow
def test_enums_and_other_objects_that_are_compared() -> None:
    @static("mode")
    def f(a, mode):
        if mode is Mode.FAST:
            return a + 1
        return a - 1 if mode == Mode.SLOW else a

    for mode in (Mode.FAST, Mode.SLOW, None, "fast", frozenset([1]), ("x", None), slice(1, None), Mode):
        agree(f, A, mode)
    assert len(f.specializations()) == 8


@pytest.mark.slow
def test_a_slice() -> None:
    @static("where")
    def f(a, where):
        return a[where] * 2

    for where in (slice(1, None), slice(None, None, -1), (slice(None), 1), (..., None), 0):
        agree(f, A, where)


def test_keyword_only_and_positional_only() -> None:
    @static(["n", "mode"])
    def f(n, /, a, *, mode="x"):
        return (a * n if mode == "x" else a + n), mode

    agree(f, 2, A)
    agree(f, 2, a=A, mode="y")
    agree(f, 3, A, mode="y")
    assert len(f.specializations()) == 3


def test_functions_and_partials() -> None:
    assert static("mode")(lambda a, mode: a + 1 if mode == "x" else a)(A, "x")[0, 0] == 1.0
    plus = static("g")(lambda a, g: g(a))
    agree(plus, A, functools.partial(np.add, 2))
    agree(plus, A, np.exp, ulp=4)


def test_what_cannot_be_hashed_is_a_type_error() -> None:
    f = static("n")(lambda a, n: a)
    for x in ([1], {"a": 1}, A, {1}, ([1],), slice([1], None)):
        with pytest.raises(TypeError, match=r"`n` is static.*hashable.*(list|dict|ndarray|set)"):
            f(A, x)
    agree(f, A, 1)


@dataclass(frozen=True)
class Touchy:
    n: int

    def __hash__(self) -> int:
        raise RuntimeError("no hash")


def test_an_error_of_the_object_s_own_hash_is_raised() -> None:
    with pytest.raises(RuntimeError, match="no hash"):
        static("n")(lambda a, n: a)(A, Touchy(1))


def test_names_are_checked_where_it_is_decorated() -> None:
    for names in ("b", ("a", "b"), ["b"]):
        with pytest.raises(ValueError, match="static_argnames names 'b', which is no parameter"):
            bufferize(static_argnames=names)(lambda a: a)
    with pytest.raises(ValueError, match="not one argument"):
        bufferize(static_argnames="rest")(lambda *rest: rest)
    with pytest.raises(ValueError, match="donate and static_argnames both name a"):
        bufferize(static_argnames="a", donate=("a",))(lambda a: a)
    with pytest.raises(TypeError, match="static_argnames"):
        bufferize(static_argnames=0)


def test_beside_arrays_that_are_one_and_buffers() -> None:
    @static("n")
    def f(n, a, b):
        a += n
        return a + b

    agree(f, 2, A, A)
    x = A.copy()
    f(2, x, x)
    assert np.array_equal(x, A + 2)
    out = np.zeros_like(A)
    assert f(3, A.copy(), A, out=out) is out and np.array_equal(out, A + 3 + A)


def test_specializations_show_them() -> None:
    f = static("mode")(lambda a, mode: a)
    f(A, "fast")
    f(A, "fast")
    assert str(f.specializations()) == "compiled for (float64[n, n], ='fast'); 2 calls"


@pytest.mark.slow
def test_what_is_a_part_of_the_key_by_nature() -> None:
    def chosen(a, x):
        if x is Mode.FAST:
            return a + 1
        return a * 2 if x is None else a

    def sliced(a, x):
        return a[x]

    def counted(a, x):
        for k in x:
            a = a * k
        return a, len(x), x[0], 2 in x

    def called(a, x):
        return x(a)

    f = bufferize(verify=True)(chosen)
    for x in (Mode.FAST, Mode.SLOW, None, Mode.FAST):
        agree(f, A, x)
    assert len(f.specializations()) == 3 and "=Mode.FAST" in str(f.specializations())
    f = bufferize(verify=True)(sliced)
    for x in (slice(1), slice(None, None, -1), slice(0, 1), slice(1, 2), slice(0, 2, 2)):
        agree(f, A, x)
    f = bufferize(verify=True)(counted)
    for x in (range(3), range(1, 7, 2), range(5, 0, -1)):
        agree(f, A, x)
    agree(called, A, functools.partial(np.add, 2))
    agree(called, A, functools.partial(np.multiply, A))


NOT_GIVEN = object()


def test_marks_of_arguments_that_are_not_given() -> None:
    def f(a, b=NOT_GIVEN, *, axis=np._NoValue):
        if b is NOT_GIVEN:
            b = 2.0
        return a * b if axis is np._NoValue else (a * b).sum(axis), b == NOT_GIVEN

    g = bufferize(verify=True)(f)
    for given in ((A,), (A, 3.0), (A, NOT_GIVEN)):
        agree(g, *given)
        agree(g, *given, axis=0)
    assert len(g.specializations()) == 4


@pytest.mark.parametrize(
    "x, instead",
    [
        (decimal.Decimal(1), "static_argnames"),
        (scipy.sparse.coo_array(np.ones(3)), "x.toarray()"), (np.ma.array([1.0]), "np.asarray(x)"),
    ],
)  # fmt: skip
def test_other_objects_are_refused_with_what_to_pass(x: Any, instead: str) -> None:
    with pytest.raises(UnsupportedError, match="argument `x` is") as caught:
        bufferize(lambda a, x: a)(A, x)
    assert instead in caught.value.instead


def test_numbers_of_other_classes_behave_as_python_says() -> None:
    @static("x")
    def f(a, x):
        return a + x

    objects = [decimal.Decimal("1.5"), fractions.Fraction(1, 2), "text", None, b"bytes", Mode.FAST, range(3)]
    for x in objects:
        try:
            agree(f, A, x)
        except AssertionError as difference:  # what NumPy makes an object array of is refused
            assert isinstance(difference.__cause__, UnsupportedError)


@dataclass(frozen=True)
class Inner:
    shape: tuple[float, ...] = (0.5, 2.0)


@dataclass(frozen=True)
class Config:
    n: int
    scale: float = 2.0
    inner: Inner = Inner()

    @property
    def twice(self):
        return self.n * 2

    def shifted(self, a, by=1):
        return a + self.n * by


class Owner:
    def __init__(self):
        self.table, self.rate = np.ones(3), 2.0


@pytest.mark.slow
def test_objects_that_can_be_hashed_are_constants() -> None:
    @static("config")
    def f(a, config):
        b = config.shifted(a, by=3) + config.inner.shape[1] ** config.twice
        return a * config.scale + config.n, [a] * config.n, b

    for config in (Config(1), Config(2), Config(1), Config(2, 3.0)):
        agree(f, A, config)
    assert len(f.specializations()) == 3
    for bad in ({"n": 1}, [Config(1)], np.ones(3)):
        with pytest.raises(TypeError, match="`config` is static, so it must be hashable"):
            f(A, bad)
    agree(f, A, config=Config(3))
    agree(static("both")(lambda a, both: a * both[1].scale), A, (1, Config(3)))


def test_attributes_of_constants_are_guarded() -> None:
    f, owner = static("owner")(lambda a, owner: a * owner.rate), Owner()
    agree(f, A, owner)
    owner.rate = 3.0
    agree(f, A, owner)
    with pytest.raises(UnsupportedError, match="mutable ndarray"):
        static("owner")(lambda a, owner: a * owner.table)(A, owner)
    agree(static("owner")(lambda a, owner: a * owner.nothing), A, owner)


def test_members_of_enums_have_values() -> None:
    agree(lambda a, mode: a * mode.value if mode.name == "SLOW" else a, A, Mode.SLOW)
    agree(lambda a: a * Mode.SLOW.value, A)


def test_static_beside_containers() -> None:
    g = static("n")(lambda d, n: d["a"] * n)
    agree(g, {"a": A}, 2)
    agree(g, {"a": A}, 3)
    assert len(g.specializations()) == 2


def test_text_and_functions_are_known_at_once() -> None:
    def f(a, mode, g):
        return g(a) if mode == "g" else a

    f = bufferize(f)
    for mode in ("g", "h", "g", "h"):
        agree(f, A, mode, np.negative)
        agree(f, A, mode, helper)
    assert len(f.specializations()) == 4


def helper(a):
    return a + 1
