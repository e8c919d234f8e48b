"""`fallback="numpy"`: what is outside the language runs as it is, with one warning for each reason (rules F3, X1)."""

from __future__ import annotations

import gc
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.native_calls import by_python, natively
from tracebuf import BufferizedFunction, TracebufWarning, UnsupportedError, api, bufferize
from tracebuf.frontends.numpy.interpreter import interpreter

A = np.arange(4.0)


def warned(f: Any, *args: Any, **kwargs: Any) -> tuple[Any, list[str]]:
    """The result of a call, and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = f(*args, **kwargs)
    assert all(issubclass(w.category, TracebufWarning) for w in found)
    assert all(w.filename == __file__ for w in found)
    return result, [str(w.message) for w in found]


def printing(a):
    b = a + 1
    id(b), print("sum", b.sum())
    return b


def test_the_original_runs_and_the_reason_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    f = bufferize(fallback="numpy")(printing)
    result, texts = warned(f, A)
    assert np.array_equal(result, A + 1) and capsys.readouterr().out == "sum 10.0\n"
    (text,) = texts
    line = printing.__code__.co_firstlineno + 2
    assert text.startswith("printing runs as it is, in NumPy:\n")
    assert f'"{__file__}", line {line}' in text and "a call of id cannot be traced" in text
    assert warned(f, A)[1] == [] and warned(f, A + 1)[1] == []
    (row,) = f.specializations()
    assert isinstance(row, tracebuf.api.OriginalCalls)
    assert row.calls == 3 and "a call of id cannot be traced" in str(row)


def test_without_it_nothing_falls_back() -> None:
    for f in (bufferize(printing), bufferize(fallback="error")(printing)):
        with pytest.raises(UnsupportedError, match="a call of id"):
            f(A)
    with pytest.raises(ValueError, match="fallback is 'error' or 'numpy', not 'eager'"):
        bufferize(fallback="eager")


def count_traces(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that grows by the function's name at each trace."""
    seen: list[str] = []
    run = interpreter.Interpreter.call_function

    def counting(self: Any, function: Any, *args: Any) -> Any:
        seen.append(function.__name__)
        return run(self, function, *args)

    monkeypatch.setattr(interpreter.Interpreter, "call_function", counting)
    return seen


def sized(a):
    if len(a) > 100:
        id("long")
    return a * 2


def test_a_refusal_is_found_once_for_each_key_and_holds_where_its_guards_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    traces = count_traces(monkeypatch)
    f = bufferize(fallback="numpy")(sized)
    long = np.zeros(200)
    assert len(warned(f, long)[1]) == 1 and traces == ["sized"]
    warned(f, long)
    warned(f, np.zeros(300))
    assert traces == ["sized"]
    assert warned(f, A)[1] == [] and traces == ["sized"] * 2  # short: another path, compiled
    warned(f, long)
    warned(f, A)
    assert traces == ["sized"] * 2
    assert warned(f, long.astype(int))[1] == []  # another key, for the same reason
    kinds = [type(row).__name__ for row in f.specializations()]
    assert kinds == ["Specialization", "OriginalCalls"] and f.specializations()[1].calls == 5


LIMIT = 1.0


def captured(a):
    if LIMIT > 1:
        id("high")
    return a * LIMIT


def test_names_from_outside_are_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    f = bufferize(fallback="numpy")(captured)
    monkeypatch.setitem(globals(), "LIMIT", 2.0)
    assert len(warned(f, A)[1]) == 1
    monkeypatch.setitem(globals(), "LIMIT", 0.5)
    assert np.array_equal(warned(f, A)[0], A / 2)
    assert sorted(type(row).__name__ for row in f.specializations()) == ["OriginalCalls", "Specialization"]


def test_arguments_that_cannot_be_traced() -> None:
    f = bufferize(fallback="numpy")(lambda a: a[0])
    marker = object()
    result, texts = warned(f, {0: marker, "k": bytearray(b"x")})
    assert result is marker and len(texts) == 1
    masked = np.ma.array([1.0, 2.0], mask=[True, False])
    result, texts = warned(f, masked)
    assert result is np.ma.masked and len(texts) == 1 and "subclass" in texts[0]


def test_the_program_s_own_errors_are_raised() -> None:
    def bad(a):
        return a + np.zeros(3)

    f = bufferize(fallback="numpy")(bad)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="broadcast"):
            f(A)
        with pytest.raises(TypeError):
            f()
        with pytest.raises(NameError):
            bufferize(fallback="numpy")(lambda a: a + nothing_of_that_name)(A)  # noqa: F821
    assert not f.specializations() or all(isinstance(s, tracebuf.api.Specialization) for s in f.specializations())


def test_an_error_of_the_original_is_its_own() -> None:
    def bad(a):
        id(a)
        a[0] = 7
        raise KeyError("mine")

    f = bufferize(fallback="numpy")(bad)
    a = A.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            with pytest.raises(KeyError, match="mine"):
                f(a)
    assert a[0] == 7


def test_effects_happen_once() -> None:
    def stores_then_prints(a):
        a += 1
        id(a)
        a += 1

    f = bufferize(fallback="numpy")(stores_then_prints)
    a = A.copy()
    warned(f, a)
    warned(f, a)
    assert np.array_equal(a, A + 4)


def test_a_refusal_at_run_time_falls_back_where_nothing_was_stored() -> None:
    f, strict = bufferize(fallback="numpy")(doubtful), bufferize(doubtful)
    a, big = A.astype(np.float32), 2**24 + 1
    for g in (f, strict):
        assert g(a, 2) == doubtful(a, 2) == 3
    with pytest.raises(UnsupportedError, match="may not hold exactly"):
        strict(a, big)
    result, texts = warned(f, a, big)
    assert type(result) is int and result == big and len(texts) == 1
    assert warned(f, a, big)[1] == []


def test_a_refusal_at_run_time_is_raised_where_something_was_stored() -> None:
    def storing(a, n):
        a += 1
        return doubtful(a, n)

    f = bufferize(fallback="numpy")(storing)
    with pytest.raises(UnsupportedError, match="may not hold exactly"):
        f(A.astype(np.float32), 2**24 + 1)


def doubtful(a, n):
    best = n
    for x in a:
        if x > best:
            best = x
    return best


def test_with_out_and_warnings_as_errors() -> None:
    f = bufferize(fallback="numpy")(printing)
    out = np.zeros(4)
    assert warned(f, A, out=out)[0] is out and np.array_equal(out, A + 1)
    g = bufferize(fallback="numpy")(printing)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(TracebufWarning, match="a call of id"):
                g(A)


def test_lower_and_explain_say_why() -> None:
    f = bufferize(fallback="numpy")(printing)
    for _ in range(2):
        for ask in (f.lower, f.explain):
            with pytest.raises(UnsupportedError, match="a call of id"):
                ask(A)
        warned(f, A)
    assert isinstance(f, BufferizedFunction)


def test_inside_of_another_function_the_outer_one_decides() -> None:
    inner = bufferize(fallback="numpy")(printing)

    @bufferize
    def outer(a):
        return inner(a) + 1

    with pytest.raises(UnsupportedError, match="a call of id"):
        outer(A)


def test_nothing_is_kept_alive() -> None:
    import gc
    import weakref

    class Array(np.ndarray):
        pass

    f = bufferize(fallback="numpy")(printing)
    a = np.zeros(5)
    warned(f, a)
    gc.collect()
    gone = weakref.ref(a)
    del a
    assert gone() is None


def test_what_the_user_s_functions_did_is_not_done_twice() -> None:
    calls = []

    def note(x):
        calls.append(len(x))
        return x * 1

    def f(a, n):
        b = tracebuf.host_call(note, a, result_shape=a.shape, result_dtype=a.dtype)
        return doubtful(b, n)

    with pytest.raises(UnsupportedError, match="may not hold exactly"):
        bufferize(fallback="numpy")(f)(A.astype(np.float32), 2**24 + 1)
    assert len(calls) == 1


class Offset:
    def __init__(self, by: float) -> None:
        self.by = np.full(4, by)

    @bufferize(fallback="numpy")
    def moved(self, a: Any, times: int = 1) -> Any:
        id(a)
        return a + self.by * times


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code takes refused calls from the third on."""
    monkeypatch.setattr(api, "MANY_REFUSED", 3)
    monkeypatch.setattr(api, "WORTH", 0)


def quietly(f: Any, *args: Any, **kwargs: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TracebufWarning)
        return f(*args, **kwargs)


def by_machine_code(f: Any, *args: Any, **kwargs: Any) -> Any:
    """The result of a call that machine code takes, after those that Python makes."""
    for _ in range(4):
        quietly(f, *args, **kwargs)
    return natively(f, *args, **kwargs)


def tagged(a: Any, words: Any = ("x",), *, mode: str = "sum") -> Any:
    id(a)
    return a * len(words), mode, words


def test_calls_that_are_refused_again_and_again_cost_nothing(soon: None) -> None:
    """Each took 45 microseconds to find its refusal; now machine code calls the original function."""
    f = bufferize(fallback="numpy")(printing)
    assert np.array_equal(by_machine_code(f, A), A + 1)
    assert np.array_equal(natively(f, A[::-1]), A[::-1] + 1)  # whatever their layout and sizes
    assert np.array_equal(by_python(f, A.reshape(2, 2)), A.reshape(2, 2) + 1)
    (row,) = f.specializations()
    assert "ran the original function 7 times" in str(row)
    with pytest.raises(AttributeError, match="sum"):
        by_python(f, 3)


def test_refused_calls_of_any_form(soon: None) -> None:
    f, o = bufferize(fallback="numpy")(tagged), Offset(2)
    words = ["a", "b"]
    a, mode, same = by_machine_code(f, A, words)
    assert a.tolist() == [0, 2, 4, 6] and mode == "sum" and same is words
    assert quietly(f, A, words, mode="max")[1] == "max" and quietly(f, A)[2] == ("x",)
    many = bufferize(fallback="numpy")(lambda *all: id(all) and len(all))
    assert by_machine_code(many, A, A) == 2 and by_machine_code(many, A) == 1
    assert by_machine_code(o.moved, A).tolist() == [2, 3, 4, 5] and o.moved(A, times=2).tolist() == [4, 5, 6, 7]
    assert natively(Offset.moved, Offset(1), A).tolist() == [1, 2, 3, 4]
    masked = np.ma.array([1.0, 2.0], mask=[True, False])
    first = bufferize(fallback="numpy")(lambda a: a[0])
    assert by_machine_code(first, masked) is np.ma.masked


def test_what_a_refused_call_raises_again_and_again(soon: None) -> None:
    def failing(a, k):
        id(a)
        return a[k]

    f = bufferize(fallback="numpy")(failing)
    assert by_machine_code(f, A, 1) == 1
    for _ in range(3):
        with pytest.raises(IndexError, match="out of bounds"):
            natively(f, A, 7)
    gc.collect()
    before = sys.getrefcount(A)
    for _ in range(50):
        f(A, 2)
    assert sys.getrefcount(A) == before


def test_refusals_do_not_take_the_calls_of_programs(soon: None) -> None:
    f = bufferize(fallback="numpy")(sized)
    assert np.array_equal(f(A), A * 2)
    long = np.zeros(200)
    for _ in range(6):
        assert np.array_equal(quietly(f, long), long)
        assert np.array_equal(f(A), A * 2)
    kinds = {type(row).__name__: row.calls for row in f.specializations()}
    assert kinds == {"Specialization": 7, "OriginalCalls": 6}


def late(a, loud=False):
    if loud:
        print("loud"), id(a)
    return a * 2


def test_a_refused_call_leaves_the_programs_of_others(capsys: pytest.CaptureFixture[str]) -> None:
    f = bufferize(late)
    for _ in range(3):
        f(A)
    with pytest.raises(UnsupportedError, match="a call of id") as caught:
        f(A, True)
    (note,) = caught.value.__notes__
    assert note.startswith("1 program is compiled for other calls, and takes them as before") and "fallback" in note
    assert np.array_equal(f(A), A * 2) and len(f.specializations()) == 1 and f.specializations().native_share == 1
    g = bufferize(fallback="numpy")(late)
    texts = [t for loud in (False, True, False, True, False) for t in warned(g, A, loud)[1]]
    assert len(texts) == 1 and capsys.readouterr().out == "loud\n" * 2
    rows = g.specializations()
    assert [r.calls for r in rows] == [3, 2] and rows.native_share == 0.6
    assert str(rows).endswith("3 of 5 calls ran natively (60 %)")
    assert bufferize(late).specializations().native_share == 1


def test_a_setting_for_a_whole_program(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    f, strict = bufferize(late), bufferize(fallback="error")(late)
    for _ in range(2):
        with tracebuf.options(fallback="numpy", tier="fast", max_specializations=3) as chosen:
            assert "fallback='numpy'" in repr(chosen)
            assert len(warned(f, A, True)[1]) <= 1 and warned(f, A, True)[1] == []
            assert bufferize(late).options.tier == "fast" and bufferize(late).options.max_specializations == 3
            assert bufferize(tier="quick")(late).options.tier == "quick"
            with tracebuf.options(fallback="error"), pytest.raises(UnsupportedError):
                f(A, True)
            with pytest.raises(UnsupportedError):
                strict(A, True)
        with pytest.raises(UnsupportedError):
            f(A, True)
    assert bufferize(late).options.max_specializations == 64 and capsys.readouterr().out == "loud\n" * 4
    monkeypatch.setenv("TRACEBUF_FALLBACK", "numpy")
    monkeypatch.setenv("TRACEBUF_MAX_SPECIALIZATIONS", "5")
    monkeypatch.setenv("TRACEBUF_STRATEGY", "optimal")
    warned(f, A, True)
    assert bufferize(late).options.max_specializations == 5 and bufferize(late).options.strategy == "optimal"
    monkeypatch.setenv("TRACEBUF_MAX_SPECIALIZATIONS", "many")
    with pytest.raises(ValueError, match="TRACEBUF_MAX_SPECIALIZATIONS is a whole number, not 'many'"):
        bufferize(late)
    monkeypatch.setenv("TRACEBUF_FALLBACK", "eager")
    with pytest.raises(ValueError, match="fallback is 'error' or 'numpy', not 'eager'"):
        f(A, True)
    for wrong, kind in (({"fallback": "eager"}, ValueError), ({"donate": "a"}, TypeError), ({"colour": 1}, TypeError)):
        with pytest.raises(kind):
            tracebuf.options(**wrong)
