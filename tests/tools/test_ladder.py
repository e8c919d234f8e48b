"""The ladder finds what it is there to find: each kind of difference from eager NumPy, made on purpose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.arrays import floats
from tracebuf import pipeline, stages
from tracebuf.api import BufferizedFunction, bufferize
from tracebuf.errors import UnsupportedError
from tracebuf.ir.func import Func
from tracebuf.stages import Bufferized
from tracebuf.testing import ladder
from tracebuf.testing.ladder import (
    Mismatch,
    Outcome,
    Rules,
    call,
    climb,
    compare,
    copy_first,
    traced_call,
    with_variants,
)


def difference(eager: Outcome, other: Outcome, tolerance: float = 0.0) -> str:
    """What compare says, or the empty string."""
    try:
        compare(eager, other, Rules(tolerance), "rung", "source")
    except Mismatch as error:
        return error.what
    return ""


A = np.arange(6.0).reshape(2, 3)
TABLE = np.arange(1, 4)


@pytest.mark.parametrize(
    ("eager", "other", "words"),
    [
        (A, A + 1e-12, "became"),
        (A, A.astype(np.float32), "float32"),
        (A, A[:, None], "(2, 1, 3)"),
        (A, np.asfortranarray(A), "strides"),
        (A[::-1], A[::-1].copy(), "strides"),
        (np.float64(1), 1.0, "is a float"),
        (1, True, "a bool"),
        ((A,), [A], "results"),
        ((1, 2), (1, 3), "became"),
        (np.array([0.0]), np.array([-0.0]), "became"),
    ],
)
def test_differences_of_results(eager: object, other: object, words: str) -> None:
    assert words in difference(Outcome([], eager), Outcome([], other))


def test_equal_outcomes() -> None:
    nan = np.array([np.nan, 1.0])
    assert not difference(Outcome([A], (nan, 1)), Outcome([A.copy()], (nan.copy(), 1)))
    assert not difference(Outcome([], A), Outcome([], A + 1e-12), tolerance=1e-9)
    assert not difference(Outcome([], np.zeros((1, 3))), Outcome([], np.zeros((3, 1)).T))


def test_complex_numbers_that_are_not_finite() -> None:
    """NumPy's product of such hangs on strides; within a tolerance they are one."""
    a, b = np.array([1 + 1j, complex(np.nan, -np.inf)]), np.array([1 + 1j, complex(-np.inf, -np.inf)])
    assert difference(Outcome([], a), Outcome([], b))
    assert not difference(Outcome([], a), Outcome([], b), tolerance=1e-9)
    assert difference(Outcome([], a), Outcome([], np.array([1 + 1j, 3])), tolerance=1e-9)
    assert difference(Outcome([], a), Outcome([], np.array([2 + 2j, b[1]])), tolerance=1e-9)


def test_sharing_and_identity() -> None:
    a, b = A.copy(), A.copy()
    assert "one object" in difference(Outcome([a], a), Outcome([b], b[:]))
    assert "memory" in difference(Outcome([a], a[:1]), Outcome([b], b[:1].copy()))
    assert "memory" in difference(Outcome([a], (a[0], a[0] + 0)), Outcome([b], (b[0], b[0])))
    c = np.zeros((4, 3))
    d = c.copy()
    assert "another part" in difference(Outcome([c], c[:2]), Outcome([d], d[2:]))


def test_arguments_and_exceptions() -> None:
    assert "argument 0" in difference(Outcome([A]), Outcome([A + 1]))
    assert "raises" in difference(Outcome([A], error=ValueError()), Outcome([A], error=IndexError()))
    assert "raises" in difference(Outcome([A], error=ValueError()), Outcome([A], 1))
    assert not difference(Outcome([A], error=ValueError()), Outcome([A + 1], error=ValueError()))
    with pytest.raises(Mismatch):
        compare(
            Outcome([A], error=ValueError()),
            Outcome([A + 1], error=ValueError()),
            Rules(0.0, stored=frozenset()),
            "",
            "",
        )


def test_slice_stores_copy_their_source_first() -> None:
    """Rule C4: NumPy ends in 3 here."""

    def program(c):
        c[::2] = c[1:5]

    c = np.arange(7.0)
    copy_first(program)(c)
    assert c[-1] == 4
    climb(program, (np.arange(7.0),))


def test_refusals_pass_through() -> None:
    def program(a):
        return np.abs(a).astype(np.uint64).tolist()[0]

    with pytest.raises(UnsupportedError):
        climb(program, (A,))


def test_a_rung_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def program(a):
        return a + 1

    climb(program, (A,), again=[(A[:, ::2],)])
    monkeypatch.setattr(ladder, "eager_allocations", lambda *args: 0)
    with pytest.raises(Mismatch, match="native, counts"):
        climb(program, (A,))
    monkeypatch.setattr(ladder.tensor, "run", lambda func, args: ladder.tensor.Result([A], {}))
    with pytest.raises(Mismatch, match="tensor, raw"):
        climb(program, (A,))


def test_a_program_is_traced_once_and_each_rung_has_its_own_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    """The native rung compiles what the interpreters have run. A fault of a pass is found before it, one of the code
    there."""

    def program(a):
        a[1:] = a[:-1] - a[1:]
        return a.copy()

    traced, trace = [], stages.trace
    monkeypatch.setattr(stages, "trace", lambda *args: traced.append(args) or trace(*args))
    f = climb(program, (np.arange(6.0),), quick=True, again=[(np.arange(9.0),)])
    assert len(traced) == 1 and [s.calls for s in f.specializations()] == [2]
    climb(program, (np.arange(6.0),), again=[(np.arange(1.0),)])
    assert len(traced) == 3  # one element is another program

    def exchanging(func: Func) -> None:
        for op in func.walk():
            if op.name == "arith.subf":
                op.set_operands(op.operands[::-1])

    for where, rung in (("TENSOR_PASSES", "tensor, optimised"), ("MEMREF_PASSES", "memref, one-shot")):
        with monkeypatch.context() as patch, pytest.raises(Mismatch, match=rung):
            patch.setattr(pipeline, where, (*getattr(pipeline, where), ("exchange", exchanging)))
            climb(program, (np.arange(6.0),))
    compiled = Bufferized.compile

    def compile_wrongly(made: Bufferized, *args: Any) -> Any:
        exchanging(made.func)
        return compiled(made, *args)

    monkeypatch.setattr(Bufferized, "compile", compile_wrongly)
    with pytest.raises(Mismatch, match="native: "):
        climb(program, (np.arange(6.0),))


def test_errors_are_compared() -> None:
    def program(a, b):
        a[0] = 1
        return a + b

    climb(program, (np.zeros(3), np.zeros(4)), again=[(np.zeros(4), np.zeros(4)), (np.zeros(0), np.zeros(1))])


def test_the_original_function_copies_no_sources() -> None:
    """Where arguments overlap, NumPy runs, which gets some stores from an overlapping source wrong (rule C4): the
    ladder asked it for the elements of the documented meaning."""

    def program(a, b):
        a[-1] = a[:, 1]
        TABLE[0] *= 2
        return b

    a = np.arange(16.0).reshape(4, 4).T
    climb(program, (a, a), again=[(a, a[1:])])


def test_another_specialisation_may_store_to_other_arguments() -> None:
    """The ladder took the arguments that the first call's program stores to for those of every call."""

    def program(a, b):
        for _ in range(1):
            b[:] = np.min(a)
        return b[7]

    climb(program, (floats(0, 5), floats(4)), again=[(floats(5, 5), floats(4))])


@pytest.mark.slow
def test_another_specialisation_may_have_sizes_that_are_constant() -> None:
    """What stands for an array that only a loop makes, of a size that is 1, was counted by the program of other sizes,
    where it has none."""

    def program(a):
        for _ in range(2):
            t = a.copy()
        return t

    climb(program, (floats(4),), again=[(floats(1),)])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value")
def test_floats_beyond_a_uint32_are_not_compared() -> None:
    """Rule N4: NumPy's own loops give one value for four elements, another for one; other integers are compared."""

    def program(a, c):
        a[:] = c

    climb(program, (np.zeros(8, np.uint32), np.full(8, 2.0**32 + 3)), again=[(np.zeros(9, np.uint32), np.ones(9))])
    climb(program, (np.zeros(8, np.int32), np.full(8, 2.0**32 + 3)))

    def others(a, c):
        a[:] = c
        b = a * 2.0
        return b, c.sum(), a[0] * 1.5, a[1]

    c = np.array([2.0**32 + 3, 1, 2, 3])
    climb(others, (np.zeros(4, np.uint32), c))
    eager = Outcome([np.zeros(3, np.int32)], beyond=True)
    with pytest.raises(Mismatch, match="argument 0"):
        compare(eager, Outcome([np.ones(3, np.int32)]), Rules(0.0), "rung", "source")


def test_what_hangs_on_no_float_beyond_a_uint32_is_compared() -> None:
    """Nothing of such a program was: each wrong element went unseen."""
    first, other = Outcome([], np.array([3.0, 1.0])), Outcome([], np.array([9.0, 1.0]))
    eager = Outcome([], np.array([5.0, 1.0]), beyond=True, variants=(first, other))
    compare(eager, Outcome([], np.array([7.0, 1.0])), Rules(0.0), "rung", "a.astype(np.uint32)")
    with pytest.raises(Mismatch):
        compare(eager, Outcome([], np.array([5.0, 2.0])), Rules(0.0), "rung", "a.astype(np.uint32)")


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_float_beyond_a_uint32_is_followed_through_the_program() -> None:
    def program(a, c):
        a[:] = c
        return a * 2.0, c.sum()

    args = np.zeros(4, np.uint32), np.array([2.0**32 + 3, 1, 2, 3])
    f = bufferize(program)
    assert isinstance(f, BufferizedFunction)
    traced = traced_call(f, args, "")
    found = with_variants(call(program, args), traced, args, lambda values: (list(values), ()))
    (one, of_one), (other, of_other) = ((v.args, v.result) for v in found.variants[:2])
    assert [(x != y).tolist() for x, y in zip((one[0], of_one[0]), (other[0], of_other[0]))] == [
        [True, *[False] * 3]
    ] * 2
    assert of_one[1] == of_other[1]


class Box:
    def __init__(self, a: object, items: object = None) -> None:
        self.a, self.items = a, items


def test_containers_among_the_arguments_are_compared() -> None:
    """What they hold, which objects they are, and whether they are one."""
    x, y, items = A.copy(), A.copy(), [A]
    same: list[tuple[object, object, str]] = [
        (Box(x, [x]), Box(y, [y]), ""),
        (Box(x, [x]), Box(y, [A.copy()]), "one object in eager only"),
        (Box(x, [A.copy()]), Box(y, [y]), "two objects in eager only"),
        ([x, x + 1], [y, y], "became"),
        ([x], [y, y], "form"),
        ({"k": x}, {"j": y}, "form"),
        ([items, items], [items, items], ""),
        ([items, items], [items, [A]], "form"),
    ]
    for eager, other, words in same:
        found = difference(Outcome([eager]), Outcome([other]))
        assert words in found and bool(words) == bool(found), found


def test_programs_over_containers_climb() -> None:
    def f(p, a, n):
        if n > 1:
            p.items[0], p.items[1] = p.items[1], p.items[0]
            p.a = a
        p.items.append(a + 1)
        p.items[0] += 2
        return p, p.a, [p.items, a]

    climb(f, (Box(A, [A, A * 2]), A, 3), again=[(Box(A, [A, A * 2]), A + 1, 1)])


COUNTS = np.arange(3)


def test_an_array_from_outside_that_only_a_later_call_stores_to() -> None:
    """It stays as it was for the rungs that follow."""

    def counted(a):
        for x in a:
            COUNTS[0] += int(x) + 1
        return COUNTS.sum()

    climb(counted, (np.zeros(0),), again=[(np.zeros(2),)])
    assert COUNTS[0] == 0


def test_errors_after_memory_that_eager_does_not_get() -> None:
    """With more memory eager goes on to another error, which a rung may know before it makes the array."""
    out_of_memory = Outcome([], None, error=MemoryError("Unable to allocate 32.0 GiB for an array with shape (1,)"))
    assert not difference(out_of_memory, Outcome([], None, error=TypeError("Cannot cast ufunc 'floor_divide' output")))
    assert difference(out_of_memory, Outcome([], 1.0))
    assert difference(Outcome([], None, error=IndexError("out of bounds")), Outcome([], None, error=TypeError("no")))
