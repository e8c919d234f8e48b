"""donate=: results in the memory of arguments that nobody needs afterwards. Values are eager's, on every rung."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import program
from tests.support.params import one_in
from tracebuf import BufferizedFunction, DonationError, UnsupportedError, bufferize
from tracebuf.testing.ladder import STRATEGIES, climb
from tracebuf.testing.programs import generate, loaded

Array = np.ndarray[Any, Any]


def numbers(*shape: int) -> Array:
    return np.random.default_rng(0).random(shape)


def donated(source: str, *args: Any, donate: tuple[str, ...] = ("x",)) -> tuple[BufferizedFunction, Any, int]:
    """The function, its result, and how many arrays it made; every rung agrees with eager."""
    function = program(source)
    climb(function, args, tolerance=1e-14, donate=donate)
    f = bufferize(donate=donate, verify=True)(function)
    result, counters = f.call_counted(*args)
    assert counters is not None and counters.copies == 0
    return f, result, counters.allocations


IN_ITS_MEMORY = [
    "def f(x):\n    return x * 2 + 1",
    "def f(x):\n    y = np.exp(x)\n    return y / y.sum()",
    "def f(x):\n    s = x.max()\n    return (x - s).clip(0, 1)",
    "def f(x):\n    y = x.copy()\n    y[0] = 7\n    return y",
    "def f(x):\n    s = x.sum()\n    y = np.zeros(len(x))\n    y[0] = s\n    return y",
    "def f(x):\n    x[1:] += x[:-1].sum()\n    return x * 2",
    "def f(x):\n    x *= 2\n    return x",
    "def f(x):\n    y = x * 2\n    return y + x[::-1].max() * x[0]",
    "def f(x, n=3):\n    for i in range(n):\n        x = x * 0.5 + i\n    return x + 0",
]


@pytest.mark.parametrize("source", one_in(18, IN_ITS_MEMORY))
def test_the_result_is_in_the_memory_of_the_argument(source: str) -> None:
    x = numbers(9)
    _, result, made = donated(source, x)
    assert made == 0 and np.shares_memory(result, x)
    assert (result is x) == source.endswith("return x")


def test_a_copy_of_a_donated_argument_is_the_argument() -> None:
    f, _, _ = donated("def f(x):\n    y = x.copy()\n    y[0] = 7\n    return y", numbers(9))
    assert "linalg" not in f.lower(numbers(9)).as_text("memref")


@pytest.mark.slow
def test_stores_need_not_reach_the_caller() -> None:
    source = "def f(x):\n    x[...] = x[::-1] + x\n    return x.max()"
    f, _, _ = donated(source, numbers(9))
    kept = bufferize(program(source)).lower(numbers(9)).as_text("memref")
    assert "memref.copy" in kept and "memref.copy" not in f.lower(numbers(9)).as_text("memref")


@pytest.mark.slow
def test_a_temporary_takes_the_memory_where_no_result_can() -> None:
    source = "def f(x):\n    t = np.exp(x)\n    t[0] = 0\n    return t.sum() + (t * t[0]).max()"
    assert donated(source, numbers(9))[2] == 0


@pytest.mark.slow
def test_results_come_before_temporaries() -> None:
    source = """
        def f(x):
            s = x[0]
            t = np.full(len(x), s)
            t[1] = 3
            y = np.arange(len(x)) * t.sum()
            return y
    """
    x = numbers(9)
    f, result, made = donated(source, x)
    assert np.shares_memory(result, x) and made == 0, f.lower(x).as_text()


def test_reads_move_before_what_overwrites_them() -> None:
    x = numbers(9)
    _, (result, largest), made = donated("def f(x):\n    y = x * 2\n    return y, x.max()", x)
    assert made == 0 and np.shares_memory(result, x) and largest == numbers(9).max()


def test_two_donated_arguments_hold_two_results() -> None:
    x, y = numbers(5), numbers(5) + 1
    _, result, made = donated("def f(x, y):\n    y = y * x.sum()\n    return x + 1, y", x, y, donate=("x", "y"))
    assert made == 0 and np.shares_memory(result[0], x) and np.shares_memory(result[1], y)


@pytest.mark.parametrize("options", [{"strategy": "optimal"}, {"compat": "mlir"}, {"heuristic": "top-down"}], ids=str)
def test_donation_under_other_strategies(options: dict[str, Any]) -> None:
    x = numbers(9)
    assert np.shares_memory(bufferize(donate="x", **options)(doubled)(x), x)


def test_copies_before_every_write_leave_a_donation_unused() -> None:
    f = bufferize(strategy="copy-before-write", donate="x")(doubled)
    with pytest.raises(DonationError, match="stores, and no analysis was asked for"):
        f(numbers(9))


def test_fortran_order() -> None:
    x = np.asfortranarray(numbers(4, 5))
    _, result, made = donated("def f(x):\n    return x + 1", x)
    assert made == 0 and result.flags.f_contiguous


NOT_USED = [
    ("def f(x):\n    return x.sum()", "makes no array|no array that the function makes", 1),
    ("def f(x):\n    y = x * 2\n    return y, (x * y[0]).max()", "`(x * y[0]).max()` (line 3) reads it after", 3),
    ("def f(x):\n    return x, x + 1", "it is returned as it is", 2),
    ("def f(x):\n    return x[1:], x + 1", "its memory is returned, beside that of `x + 1` (line 2)", 2),
    ("def f(x):\n    return x[::-1] * 2", "reads it at other elements than it is about to write", 2),
    ("def f(x):\n    return x.astype(np.float32) * np.float32(2)", "is float32[len(x)]", 1),
    ("def f(x):\n    s = 0.0\n    for i in range(3):\n        t = np.sin(x * i)\n        t[0] = s\n"
     "        s = t.sum()\n    return s", "is made anew inside a loop or a branch", 4),
]  # fmt: skip


@pytest.mark.parametrize(("source", "reason", "line"), one_in(6, NOT_USED, rows=True))
@pytest.mark.slow
def test_a_donation_to_no_use_is_an_error_with_its_reason(source: str, reason: str, line: int) -> None:
    function, x = program(source), numbers(6)
    climb(function, (x,), tolerance=1e-14, donate=("x",))
    with pytest.raises(DonationError) as caught:
        bufferize(donate="x")(function)(x)
    assert any(r in caught.value.reason for r in reason.split("|")), caught.value
    assert caught.value.location is not None and caught.value.location.line == line
    assert caught.value.parameter == "x" and (x == numbers(6)).all()
    with pytest.raises(DonationError):
        bufferize(donate="x")(function).lower(x)
    got, expected = bufferize(donate_optional="x")(function)(x), function(numbers(6))
    np.testing.assert_array_equal(np.asarray(got[0]), np.asarray(expected[0])) if isinstance(got, tuple) else None


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_programs_with_all_arrays_donated(seed: int) -> None:
    for number in range(9):
        made = generate(random.Random(f"donated {seed} {number}"))
        with loaded(made) as module:
            names = [name for name in inspect.signature(module.program).parameters if name in "abcd"]
            with suppress(UnsupportedError):
                climb(
                    module.program, module.arguments(), again=[module.arguments_again()],
                    strategies=STRATEGIES[:1], tolerance=module.TOLERANCE, donate=names,
                )  # fmt: skip


def doubled(x: Array) -> Array:
    return x * 2


def added(x: Array, y: Array) -> Array:
    return x + y.sum()


def test_arguments_that_cannot_be_donated_in_a_call() -> None:
    f, g = bufferize(donate="x")(doubled), bufferize(donate="x")(added)
    read_only = numbers(6)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="`x` is donated, but .* read-only"):
        f(read_only)
    with pytest.raises(DonationError, match="not contiguous"):
        f(numbers(6)[::2])
    with pytest.raises(DonationError, match="no array, but of type float"):
        f(2.0)
    x = numbers(6)
    for _ in range(2):  # the second call of a kind takes a shorter way
        g(numbers(6), numbers(3))
        with pytest.raises(DonationError, match="`y` is the same array, and not donated"):
            g(x, x)
        with pytest.raises(DonationError, match="shares memory with `y`"):
            g(x[:4], x[2:])
    assert (x == numbers(6)).all()


@pytest.mark.slow
def test_optional_donations_are_left_out_where_they_cannot_be() -> None:
    g = bufferize(donate_optional="x")(added)
    x, y, read_only = numbers(6), numbers(3), numbers(6)
    read_only.flags.writeable = False
    for _ in range(2):
        assert not np.shares_memory(g(x, x), x)
        assert not np.shares_memory(g(x[:4], x[2:]), x)
        assert not np.shares_memory(g(x[::2], y), x)
        assert not np.shares_memory(g(read_only, y), read_only)
        assert (x == numbers(6)).all() and (read_only == numbers(6)).all()
        assert bufferize(donate_optional="x")(doubled)(2.0) == 4.0
    fresh = numbers(6)
    assert np.shares_memory(g(fresh, y), fresh)


def test_one_array_that_is_donated_twice() -> None:
    both = bufferize(donate=("x", "y"))(added)
    x = numbers(6)
    result = both(x, x)
    assert np.shares_memory(result, x) and np.array_equal(result, added(numbers(6), numbers(6)))
    with pytest.raises(DonationError, match="shares memory"):
        both(x[:4], x[2:])


def test_empty_arrays_have_nothing_to_donate() -> None:
    assert bufferize(donate="x")(doubled)(np.zeros(0)).shape == (0,)


def test_the_output_array_is_no_donation() -> None:
    f = bufferize(donate="x")(doubled)
    x = numbers(6)
    with pytest.raises(DonationError, match="`out` is the same array"):
        f(x, out=x)
    out = np.empty(6)
    with pytest.raises(DonationError):
        f(x, out=out)  # the result is in `out`
    assert (x == numbers(6)).all()


def test_a_captured_array_is_not_overwritten() -> None:
    table = numbers(6)
    f = program("def f(x):\n    return x + TABLE", TABLE=table)
    with pytest.raises(DonationError, match="same array"):
        bufferize(donate="x")(f)(table)
    x = numbers(6)
    assert np.shares_memory(bufferize(donate="x")(f)(x), x) and (table == numbers(6)).all()


def test_names_are_looked_at_when_the_function_is_decorated() -> None:
    with pytest.raises(ValueError, match="donate names 'z', which is no parameter of doubled"):
        bufferize(donate=("x", "z"))(doubled)
    with pytest.raises(ValueError, match="donate_optional names 'z'"):
        bufferize(donate_optional="z")(doubled)
    with pytest.raises(ValueError, match="not one argument"):
        bufferize(donate="xs")(program("def f(*xs):\n    return xs[0] * 2"))
    with pytest.raises(ValueError, match="both name x"):
        bufferize(donate="x", donate_optional="x")
    assert tracebuf.Options(donate="x").donate == ("x",)  # type: ignore[arg-type]


def test_specialisations_say_what_is_donated() -> None:
    f = bufferize(donate_optional="x")(added)
    x = numbers(6)
    f(x, x)
    f(x, numbers(3))
    assert str(f.specializations()).count("donated") == 1


def test_methods_and_keywords() -> None:
    class Model:
        @bufferize(donate="x")
        def step(self, x, rate):  # type: ignore[no-untyped-def]
            return x * rate

    def step(x: Array, *, rate: float) -> Array:
        return x * rate

    x = numbers(4)
    call: Callable[..., Any] = bufferize(donate="x")(step)
    assert np.shares_memory(call(rate=2.0, x=x), x)


def test_results_outlive_the_name_of_the_argument() -> None:
    f = bufferize(donate="x")(doubled)
    result = f(numbers(50))
    junk = [numbers(50) for _ in range(20)]
    assert np.array_equal(result, numbers(50) * 2) and len(junk) == 20


def test_explain_tells_of_donations() -> None:
    x, y = numbers(6), numbers(3)
    explained = bufferize(donate="x", donate_optional="y")(added).explain(x, y)
    assert str(explained).splitlines()[0] == "added: no allocations, no copies" and explained.donated["x"] == ""
    assert "`x` is donated and used\n" in str(explained) and "`y` is donated to no use: no array" in str(explained)
    assert list(bufferize(donate_optional="x")(added).explain(x, x).donated) == []
