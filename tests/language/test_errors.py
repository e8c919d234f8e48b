"""Errors that are the user's keep their class and get his line; a refusal leaves no trace (rules F2, F3, C3). What is
refused, and with what words: golden_errors."""

from __future__ import annotations

import dataclasses
import enum
import statistics
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, outcome, program, refused
from tests.support.arrays import floats
from tests.support.params import one_in
from tracebuf import UnsupportedError, bufferize


def test_a_refusal_stores_nothing_and_leaves_no_trace() -> None:
    f = program("""
        def f(a, k):
            a[0] = 100
            if k == 1:
                return id(a)
            for i in range(len(a)):
                if k == 2:
                    id(a[i])
                a[i] += 1
            return a.sum()
        """)
    g = bufferize(verify=True)(f)
    for k in (1, 0, 2, 1, 3, 2, 0):
        a = np.arange(4.0)
        if k in (1, 2):
            refused(g, a, k)
            assert (a == np.arange(4)).all()
        else:
            agree(g, a, k)


@pytest.mark.parametrize("key", ["c", 7, ("c", None), "{c}"])
def test_a_key_that_is_missing_on_some_paths(key: Any) -> None:
    """KeyError had the key's text as text: KeyError("'c'")."""
    f = program("def f(a, d, k):\n    if a[0] > 0:\n        return d[k]\n    return a")
    agree(f, np.array([0.0]), {"p": 2.0}, key)
    g = bufferize(f)
    for _ in range(5):  # by Python, then by machine code
        with pytest.raises(KeyError) as raised:
            g(np.array([1.0]), {"p": 2.0}, key)
        assert raised.value.args == (key,)


# (body of f(a, b, n), exception) raised where it stands, with the user's line in a note
RAISED: list[tuple[str, type[Exception]]] = [
    ("return a[9]", IndexError), ("a[n] = 1", IndexError), ("return a[1, 2]", IndexError),
    ("return a['x']", IndexError),
    ("return a + b", ValueError), ("a[:] = b", ValueError), ("a += b", ValueError), ("return a @ b", ValueError),
    ("return np.dot(a, b)", ValueError), ("return a[::n - 5]", ValueError), ("return np.zeros(-n)", ValueError),
    ("return a[3:3].max()", ValueError), ("return a.sum(axis=2)", np.exceptions.AxisError),
    ("return a + None", TypeError),
    ("return a.nosuch", AttributeError), ("return np.nosuch", AttributeError), ("return nosuch", NameError),
    ("return n // (n - 5)", ZeroDivisionError), ("return 1.0 / (n - 5)", ZeroDivisionError), ("x, y = a[0]", TypeError),
    ("x, y = a, b, n", ValueError), ("return np.sin(a, b, n, n)", TypeError), ("return np.zeros()", TypeError),
    ("return (lambda x: x)(a, b)", TypeError), ("a &= 3", TypeError), ("b = a.astype(int)\n    b += 0.5", TypeError),
    ("if a:\n        return a", ValueError), ("return c\n    c = 1", UnboundLocalError),
    ("return 'abc'[n]", IndexError),
    ("for i in range(n):\n        a[i] = i", IndexError), ("for i in range(0.5):\n        pass", TypeError),
    ("for i in range(0, 5, n - 5):\n        pass", ValueError), ("return (a.astype(int) ** -1)", ValueError),
    ("s = 0.0\n    for i in range(len(a)):\n        s += b[i]\n    return s", IndexError), ("return -'x'", TypeError),
    ("if a[0] == 0:\n        b[n] = 1", IndexError), ("return a[n] if a[0] == 0 else a[0]", IndexError),
    ("a = a.sort()\n    a[0] = 1", TypeError), ("n[0] = 1", TypeError), ("x = 1.5\n    x[0] = 1", TypeError),
    ("a.max()[0] = 1", TypeError), ("del (a, b)[0]", TypeError), ("x = None\n    del x[0]", TypeError),
    ("x = None\n    x.y = 1", AttributeError), ("n.y = 1", AttributeError), ("x = 'a'\n    x.y = 1", AttributeError),
    ("x = b if a[0] else None\n    x[0] = 1", TypeError),
]  # fmt: skip


@pytest.mark.parametrize("body, kind", one_in(4, RAISED, rows=True), ids=[r[0].replace("\n", ";")[:40] for r in RAISED])
def test_what_python_and_numpy_raise(body: str, kind: type[Exception]) -> None:
    f = bufferize(program(f"def f(a, b, n):\n    {body}"))
    a, b = np.arange(4.0), np.arange(3.0)
    for _ in range(2):
        error = agree(f, a, b, 5)
        assert isinstance(error, kind)
        with pytest.raises(kind) as caught:
            f(a.copy(), b.copy(), 5)
        assert any(f'File "{f.__wrapped__.__code__.co_filename}", line ' in note for note in caught.value.__notes__)


def test_c3_an_earlier_error_wins() -> None:
    f = bufferize(program("def f(a, b, n):\n    x = a[n]\n    return a + b + x"))
    assert isinstance(agree(f, np.arange(3.0), np.arange(4.0), 9), IndexError)
    assert isinstance(agree(f, np.arange(3.0), np.arange(4.0), 1), ValueError)
    agree(f, np.arange(3.0), np.arange(3.0), 1)


@pytest.mark.slow
def test_errors_are_not_hidden_by_a_loop_that_does_not_run() -> None:
    f = bufferize(
        program("""
        def f(a, n):
            for i in range(n):
                a[i + 3] = 1
            return a
        """)
    )
    for n in (0, 1, 2, 0):
        agree(f, np.arange(4.0), n)


def test_messages_are_numpys() -> None:
    for body in ("a[7]", "a + b", "a @ b", "a.T[1, 2]", "np.dot(a, b)", "a[0] + b[-9]", "np.zeros(3)[n]"):
        f = program(f"def f(a, b, n): return {body}")
        args: tuple[Any, ...] = (np.arange(4.0), np.arange(3.0), 5)
        with pytest.raises(Exception) as eager:
            f(*args)
        with pytest.raises(Exception) as ours:
            bufferize(f)(*args)
        assert str(ours.value) == str(eager.value)


def test_carets_count_characters() -> None:
    f = program('def f(a):\n    größe = "äöü"; return id(a)  # ünïcode')
    text = str(refused(f, np.arange(3.0)))
    source, carets = text.split("\n")[1:3]
    assert source[carets.index("^") : carets.rindex("^") + 1] == "id(a)"


def test_keyword_only_parameters_stay_keyword_only() -> None:
    g = bufferize(program("def f(a, *, c=1.0): return a + c"))
    agree(g, np.arange(3.0), 2.0)  # TypeError
    agree(g, np.arange(3.0), c=2.0)


def test_a_refusal_shows_the_users_frames_alone() -> None:
    """The text has the line and the caret; a page of the tracer's own frames would hide it."""

    @bufferize(verify=False)
    def f(a: np.ndarray) -> object:
        return a.dump("file")

    with pytest.raises(UnsupportedError) as caught:
        f(np.ones(3))
    assert [entry.name for entry in caught.traceback[1:]] == ["__call__", "f"]


def test_a_function_whose_every_path_raises() -> None:
    """The tracer's own signal for code that cannot be reached left the function."""

    def program(a, b):
        if a[0] > 0:
            b[0] = b[7]
        else:
            b[1] = b[8]
        return b

    with pytest.raises(IndexError, match="index 8 is out of bounds"):
        bufferize(program)(floats(3), floats(3))


def test_an_error_that_is_certain_waits_for_earlier_ones() -> None:
    """Rule F3: an index that is always out of range was raised while tracing, before an error that comes first."""

    def program(a, b):
        s = 0.0
        for i in range(b.shape[0]):
            s += a[:, i, :0].max()
        return a[0, 0, 0] + s

    with pytest.raises(ValueError, match="zero-size array"):
        bufferize(program)(np.zeros((0, 2, 2)), np.zeros(2))


@pytest.mark.slow
@pytest.mark.parametrize("axes", [3, 9])
def test_an_error_that_names_many_sizes(axes: int) -> None:
    """More sizes than a kernel's error could carry made an IndexError of the message's own."""

    def program(a, b, n):
        for i in range(1, n):
            a[..., i:] = b[..., i:]

    shape = (*range(2, 2 + axes - 1), 4)
    f = bufferize(program)
    f(np.zeros(shape), np.zeros(shape), 3)
    with pytest.raises(ValueError, match="could not broadcast input array from shape"):
        f(np.zeros(shape), np.zeros((2, *shape[:-1], 9)[-axes:]), 3)
    with pytest.raises(ValueError, match="could not broadcast input array from shape"):
        f(np.zeros(shape), np.zeros((*shape[:-1], 9)), 3)


def test_a_read_only_target_is_seen_before_its_index() -> None:
    """NumPy looks whether it may write before it looks at the index."""

    def program(a):
        a[0, 1] = 9

    given = floats(3)
    given.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        bufferize(program)(given)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ("f8", "f4", "i4", "u1", "c16", "?"))
def test_what_is_not_one_element_is_not_taken_for_one(dtype: str) -> None:
    """`.fill` took arrays with axes and sequences; what a sequence raises depends on the dtype."""
    arrays, sequences = ("b", "b[1:]", "b[:2, None]", "b.sum()"), ("[b[1]]", "(1,)", "[b[1], 2]")
    stores = {"a.fill({})": (*arrays, *sequences, "[b]", "range(2)"), "a[1] = {}": (*arrays, *sequences)}
    for store, value in ((s, v) for s, values in stores.items() for v in values):
        f = program(f"def f(a, b):\n    {store.format(value)}\n    return a.sum()")
        if dtype == "?" and ".fill" in store and value not in arrays:  # which is its truth
            assert "stored into one bool" in refused(f, np.zeros(3, dtype), floats(4)).reason
        else:
            agree(f, np.zeros(3, dtype), floats(4))


def test_an_array_that_may_have_one_element_is_not_stored_into_one_bool() -> None:
    """NumPy takes one that has: the exception for a sequence was raised where only the run time finds the size."""
    f = program("def f(a, b):\n    a[0] = np.unique(b)")
    assert "stored into one bool" in refused(f, np.zeros(3, bool), floats(4)).reason
    agree(f, floats(3), floats(4))


@pytest.mark.parametrize("dtype", ("f8", "i1", "c16", "?"))
def test_a_list_that_grew_is_not_taken_for_one_element(dtype: str) -> None:
    """It was taken for an array of its items: another exception, and no truth for a bool."""

    def grown(a, n):
        rows = []
        for i in range(n):
            rows.append(i)
        a[1] = rows

    for n in (0, 1, 3):
        agree(grown, np.ones(3, dtype), n)
    agree(program("def f(a):\n    a[1] = a.tolist()"), np.ones(3, dtype))


# calls that are refused, were it not that NumPy does not take them either
NOT_NUMPYS = [
    "setattr(a, 'foo', 1)", "np.fft.fft('x')", "np.fft.irfftn(Color.RED)", "np.clip(a, 'x', 2)", "a.std(ddof='x')",
    "np.linalg.tensorinv(n > 2, lambda p, q: p)", "np.full_like(a, Color.RED)", "a.clip(n, 'x')",
]  # fmt: skip


@pytest.mark.parametrize("call", one_in(8, NOT_NUMPYS))
def test_a_call_that_numpy_does_not_take_either_raises_what_numpy_raises(call: str) -> None:
    Color = enum.Enum("Color", "RED")
    in_the_open = program(f"def f(a, n):\n    return {call}", Color=Color)
    in_a_branch = program(f"def f(a, n):\n    if n > 5:\n        return {call}\n    return a + 1", Color=Color)
    in_a_try = program(
        f"def f(a, n):\n    try:\n        return {call}\n    except Exception:\n        return a + 1", Color=Color
    )
    for f in (in_the_open, in_a_branch, in_a_try):
        for n in (3, 7):
            agree(f, np.arange(4.0), n)


# (expression of a and b on several lines, the line that Python's traceback names, from 1)
OF_SEVERAL_LINES = [
    ("a\n.reshape(5)\n.sum(axis=7)", 3), ("a\n.foo", 2), ("np\n.linalg\n.norm(a, axis=5)", 3), ("np\n.nothing(a)", 2),
    ("a\n.T\n[0, 0]", 1), ("a\n+ b\n- b[:2]", 1), ("np.sum(\na + b[:3],\naxis=0)", 2), ("np.add(\na,\nb[:3])", 1),
    ("a.sum(\n), a.sum(axis=\n3)", 2), ("[\na,\na + b[:3]]", 3), ("a\n.reshape(\n2,\n2)", 2),
    ("0\n< a\n< b[:2]", 1), ("{'x': a,\n'y':\na @ b[:2]}", 3), ("nothing\n(a,\nnothing)", 1),
]  # fmt: skip


@pytest.mark.parametrize("text, line", OF_SEVERAL_LINES, ids=[t for t, _ in OF_SEVERAL_LINES])
def test_an_expression_of_several_lines_is_shown_by_the_line_that_raises(text: str, line: int) -> None:
    f = program(f"def f(a, b):\n    return (\n{text})")
    args = np.arange(5.0), np.arange(5.0)
    with pytest.raises(Exception) as eager:
        f(*args)
    assert eager.traceback[1].lineno + 1 == line + 2
    with pytest.raises(type(eager.value)) as ours:
        bufferize(f)(*args)
    assert [f"line {line + 2}, in f" in note for note in ours.value.__notes__] == [True]


def test_an_assertion_of_several_lines_is_shown_by_its_test() -> None:
    f = program("def f(a):\n    assert (\n        a.sum() < 0), 'no'\n    return a")
    with pytest.raises(AssertionError) as ours:
        bufferize(f)(np.arange(5.0))
    assert "line 3, in f\n       3 | a.sum() < 0), 'no'\n           ^^^^^^^^^^^" in ours.value.__notes__[0]


@pytest.mark.parametrize("text", ["dataclasses.fields(5)", "dataclasses.asdict(a)", "dataclasses.replace(a)"])
def test_what_pythons_library_raises_shows_the_users_line(text: str) -> None:
    f = program(f"def f(a, k):\n    return {text}", dataclasses=dataclasses)
    with pytest.raises(Exception) as eager:
        f(np.arange(5.0), 2)
    with pytest.raises(type(eager.value)) as ours:
        bufferize(f)(np.arange(5.0), 2)
    assert str(ours.value) == str(eager.value)
    assert [f"line 2, in f\n       2 | return {text}" in note for note in ours.value.__notes__] == [True]


def test_a_refusal_in_pythons_library_names_the_function_that_was_called() -> None:
    f = program("def f(a):\n    return statistics.mean([a.sum()])", statistics=statistics)
    error = refused(f, np.arange(5.0))
    assert "line 2, in f" in str(error)
    assert error.reason.startswith("a call of statistics.mean cannot be traced: ")


def test_numpys_axis_error_is_made_with_its_arguments() -> None:
    f = program("""
        def f(a, n, k):
            if k == 0 and a[0] > 0:
                raise np.exceptions.AxisError("`axis` is out of bounds")
            if k == 1 and a[0] > 0:
                raise np.exceptions.AxisError(f"out of bounds for {n}")
            if k == 2:
                raise np.exceptions.AxisError(n, a.ndim)
            if k == 3 and a[0] > 0:
                raise np.exceptions.AxisError(n, a.ndim, "of a")
            if k == 4:
                raise np.exceptions.AxisError
            return a + n
        """)
    for k in range(6):
        agree(f, np.array([0.0, 1.0]), 3, k)
        agree(f, np.array([1.0, 1.0]), 3, k)
    for k, shown in ((1, "out of bounds for 3"), (3, "of a: axis 3 is out of bounds for array of dimension 1")):
        with pytest.raises(np.exceptions.AxisError, match=shown):
            bufferize(f)(np.ones(2), 3, k)


AXES_THAT_GROW = [
    "a.reshape(x)", "a.transpose(x)", "np.transpose(a, x)", "np.moveaxis(a, x, x)", "np.expand_dims(a, x)",
    "np.flip(a, x)", "np.roll(a, 1, x)", "np.average(a, axis=x)", "a.transpose(np.array(x))", "np.transpose(a, s)",
    "np.moveaxis(a, s, s)", "np.flip(a, s)",
]  # fmt: skip


@pytest.mark.parametrize("e", AXES_THAT_GROW)
def test_shapes_and_axes_read_from_what_the_run_time_knows_are_refused(e: str) -> None:
    """They raised TypeError and ValueError, as if the list or array were one number."""
    f = program(f"""
        def f(a, n, s):
            x = []
            for i in range(n):
                x.append(i)
            return {e}
        """)
    refused(bufferize(f), np.ones((2, 3)), 2, np.array([0, 1]))


def test_an_array_of_objects_takes_items_of_any_shapes() -> None:
    """It raised the ValueError of arrays of numbers."""
    f = program("def f(a, b):\n    return np.array([a * 2, b], dtype=object)")
    refused(bufferize(f), np.ones(3), np.ones(4))
    refused(bufferize(f), np.ones(3), np.ones(3))


class Diverged(ArithmeticError):
    pass


class Numbered(KeyError):
    code = 3


def diverges(x, n):
    for k in range(n):
        x *= 3.0
        if x.max() > 50:
            raise Diverged(f"after {k}")
    if n > 4:
        raise Numbered("n")
    return x


def test_exceptions_of_classes_derived_from_any_of_pythons() -> None:
    agree(diverges, np.ones(3), 2)
    agree(diverges, np.ones(3), 6)
    agree(diverges, np.zeros(3), 6)


class Lost(Exception):
    def __init__(self, step, msg="diverged", *, hint=None):
        self.step, self.hint = step, hint
        super().__init__(f"{msg} at step {step}")


class Bad(ValueError):
    def __init__(self, name, value):
        self.name, self.value = name, value


@pytest.mark.parametrize(
    "text",
    [
        "Lost(k)", "Lost(k, msg='lost')", "Bad('sum', a.sum())", "Bad(value=a, name=k)", "Bad('a', a)",
        "Lost(k, hint=a.sum())", "Lost()", "Bad(1, 2, 3)",
    ],
)  # fmt: skip
def test_exceptions_whose_constructor_is_a_function_of_pythons(text):
    f = bufferize(program(f"def f(a):\n    for k in range(5):\n        if a[0] + k > 2:\n            raise {text}\n"
                          "    return a", Lost=Lost, Bad=Bad))  # fmt: skip
    for first in (-9.0, 0.0, 1.0, 1.0, 1.5):
        a = np.array([first, 2.0])
        (_, wanted), (_, found) = outcome(f.__wrapped__, (a,), {}), outcome(f, (a,), {})
        assert type(wanted) is type(found)
        if wanted is not None:
            assert repr(wanted.args) == repr(found.args) and str(wanted) == str(found)
            held = {name: x for name, x in vars(found).items() if name != "__notes__"}
            assert repr(vars(wanted)) == repr(held)
