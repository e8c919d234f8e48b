"""What is raised at run time has NumPy's and Python's words: class, message and order of the checks are eager's."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program
from tests.support.params import one_in
from tracebuf import bufferize
from tracebuf.measure import clone_arguments

A, TWO, EMPTY, M = np.ones(3), np.ones(2), np.ones((0, 3)), np.ones((2, 3))
MASK = np.array([True, False, True])


def read_only(n: int) -> Any:
    made = np.ones(n)
    made.flags.writeable = False
    return made


READ_ONLY = np.ones((0, 3))
READ_ONLY.flags.writeable = False
FORMS: dict[str, tuple[Any, ...]] = {
    # operands that do not fit, with an output
    "b += a": (A, TWO), "a += b": (TWO, np.ones((3, 2))), "np.add(a, 3, out=b)": (TWO, A),
    "np.add(a, b, out=np.ones((4, 5)))": (TWO, A), "np.clip(a, 0, b)": (TWO, A), "np.where(a > 0, 1.0, b)": (TWO, A),
    "np.add(a, a, out=a, where=b > 0)": (TWO, A), "np.power(b, [1, -1], b)": (A, np.arange(3)),
    # outputs of the wrong size or kind
    "np.cumsum(a, out=b)": (np.array(2.0), A), "np.cumprod(a, out=b)": (M, M.copy()), "np.cumsum(a, out=1)": (A, A),
    "np.cumsum(a, axis=0, out=a)": (np.array(2.0), A), "np.cumprod(a, out=a)": (np.array(2.0), A),
    "a.cumsum(0, None, a)": (np.array(2), A), "np.round(a, out=b)": (np.ones(7), np.ones(1)),
    "np.choose(False, [a], out=b)": (TWO, np.ones(4)),
    "np.choose(a, b, out=np.ones(4, int))": (np.array([7, -9]), np.ones((2, 2), int)),
    "np.copyto(a, b)": (np.ones(3, np.uint16), np.arange(3)), "np.copyto(a, b[0])": (np.ones(3, np.uint16), A),
    # what is read only
    "a += 1": (read_only(3), A), "np.add(b, 1, out=a)": (read_only(3), A), "b.sum(axis=0, out=a)": (read_only(3), M),
    "np.cumprod(a, out=a, axis=0)": (READ_ONLY, A), "np.prod(a[0], axis=1)": (A, A), "a[0].sum(axis=-2)": (A, A),
    # conversions
    "a.flat[0] = x": (np.ones(3, int), float("nan")), "a.flat[1] = x": (np.ones(3, np.int8), 300),
    "a.flat[2] = x ": (np.ones(3, np.int8), float("inf")), "a.flat[0] = 2j": (np.ones(3, int), A),
    "a.flat[9] = 1": (A, A), "a[0].astype(int, casting='safe')": (A, A), "a.astype(int, casting='safe')": (A, A),
    "a[0].astype(np.int8, order='X')": (A, A), "a[0].astype(np.int8, order='F')": (A, A),
    "np.sqrt(a, out=b, where=np.array(1))": (A, A.copy()), "a.sum(where=np.array([1, 0, 1]))": (A, A),
    "a.sum(where=1)": (A, A), "np.ones((3, 3)).any(where=b[b > 1] > 0)": (A, np.arange(3.0)),
    "np.ones((3, 3)).sum(where=b > 0)": (A, TWO), "np.choose(np.array(1), [a, 2.0], out=b)": (np.ones(()), np.ones(())),
    # indices
    "np.take(a, 0, axis=0)": (EMPTY, A), "np.take(a[:, :0], 5, axis=1)": (EMPTY, A), "a.item(0)": (EMPTY, A),
    "np.compress([True], a, axis=0)": (EMPTY, A), "a.item(9)": (M, A), "a.item(4)": (A, A), "b[a:]": (np.arange(2), A),
    "np.take(a, 0, axis=1)": (np.ones((2, 2, 2))[:0, :0], A),
    "np.maximum.at(a, [4], b)": (A, TWO), "np.multiply.at(a, [0], b)": (M, TWO), "np.add.at(a, [0], b)": (A, M),
    # shapes
    "np.concatenate((a, b))": (np.ones((1, 2)), np.ones((1, 3))), "np.concatenate((a, b))[0]": (A, M),
    "np.block([[a], [b]])": (A, TWO), "a.reshape(-1, 4)": (A, A), "a.reshape(4, -1)": (A, A), "a.reshape(5)": (A, A),
    "np.vecdot(a, 1)": (A, A), "np.copysign(a)": (A, A), "np.tensordot(b, a[a > 0])": (A, M),
    "np.tensordot(b, a[a > 2])": (np.arange(4.0), np.ones((1, 2))), "np.tensordot(b, b, 9)": (A, M),
    "np.tensordot(a[a > 0], b)": (A, M), "np.tensordot(a, b, 3)": (A, M),
    "np.vdot(a, b)": (A, TWO), "np.matrix_transpose(a)": (A, A), "a.mT": (A, A), "b.swapaxes(0, 3)": (A, M),
    "np.moveaxis(b, 0, 5)": (A, M), "np.diagonal(b, 0, 0, 5)": (A, M), "np.cross(b, b, axis=5)": (A, M),
    "np.concatenate((a, 1))": (A, A), "np.lib.stride_tricks.sliding_window_view(b, 2)": (A, M),
    "np.lib.stride_tricks.sliding_window_view(b, 2, (0, 1))": (A, M),
    "np.putmask(k, True, 1)": (A, A), "np.place(a[0], True, 1)": (A, A), "np.copyto(a[0], 1)": (A, A),
    "a.sum().partition": (A, A),
    # operators
    "a[k] //= 0": (np.ones(4, complex), A), "a[k] // 2": (np.ones(4, complex), A), "k ** -1": (A, A),
    "x = 2j; x //= k": (A, A), "x = None; x %= 2.0": (A, A), "x = 'ab'; x -= k": (A, A), "x = None; x **= 2": (A, A),
    "x = [k]; x -= 1": (A, A), "x = None; x += k": (A, A),
    # what is unpacked, and stores to lists
    "x, *y = k": (A, A), "x, *y = range(5, 0)": (A, A), "x, y, *z = [k]": (A, A), "x, y = 5": (A, A),
    "x = [k]; x[7] = 1": (A, A),
    "divmod(k, 0.0)": (A, A), "divmod(1.5, k)": (A, A), "divmod(1, k)": (A, A), "divmod(a[0], 0.0)": (A, A),
    "divmod(a[0], k)": (A, A),
    "[k, 2].index(5)": (A, A), "(k, 2).index(5)": (A, A), "(k * 0j) ** -1": (A, A), "(k + 0j) ** 2j": (A, A),
}  # fmt: skip


@pytest.mark.parametrize("reached", ["at once", "by the data", "in a loop"])
@pytest.mark.parametrize("form", one_in(3, FORMS))
def test_the_words_of_eager(form: str, reached: str) -> None:
    """What is known while tracing, and what is reached by the data, is worded in the same way."""
    value = form if "=" in form.replace("==", "").replace("out=", "").replace("axis=", "") else f"x = {form}"
    heads = {"at once": "if True:", "by the data": "if a.size < 99 and c.sum() > 0:", "in a loop": "for c in c:"}
    f = program(f"""
        def f(a, b, c):
            k, x = 0, b
            {heads[reached]}
                {value}
            return a, b
    """)
    agree(f, *FORMS[form], np.ones(2))
    words = []
    for call in (f, bufferize(f)):
        try:
            with np.errstate(all="ignore"):
                call(*clone_arguments(FORMS[form], {})[0], np.ones(2))
            words.append("")
        except Exception as error:
            words.append(re.sub("^index -?[0-9]+ ", "an index ", str(error)))  # of arrays, it is not said which one
    assert words[0] == words[1]


@pytest.mark.parametrize("of", [7, 2.5, np.int64(7), np.float32(0.1)])
def test_what_is_not_in_a_list_that_grows_is_named(of: Any) -> None:
    f = program("""
        def f(n, x):
            some = []
            for k in range(n):
                some.append(k * 2)
            try:
                return some.index(x), 0
            except ValueError as error:
                return str(error), len(some)
    """)
    agree(f, 50, of)


def test_of_operands_that_may_not_be_cast_numpy_says_which() -> None:
    f = program("def f(a): a *= 2.5")
    raised = []
    for call in (f, bufferize(f)):
        with pytest.raises(TypeError) as error:
            call(np.arange(2))
        raised.append((type(error.value), error.value.args, vars(error.value).get("out_i")))
    assert raised[0] == raised[1]


EXPONENTS = np.array([1, -2, 3, 0])
POWERS: dict[str, Callable[..., Any]] = {}
for text in (
    "a[m] **= -1; return a", "return np.power(a, e, where=m, out=np.zeros_like(a))",
    "return np.power(a, e, where=e >= 0, out=np.zeros_like(a))", "a[e >= 0] **= e[e >= 0]; return a",
    "return np.power(a, -2, where=m, out=a.copy())", "return np.power(a, k, where=m, out=a.copy())",
    "return np.power(a * 0.5, e, where=m, out=np.ones(a.shape))",
    "return np.power(a, -2, where=m[:, None], out=np.ones((m.size, a.size), int))",
):  # fmt: skip
    POWERS[text] = program(f"def f(a, e, m, k): {text}")


@pytest.mark.parametrize("text", POWERS)
@pytest.mark.cases(3)
def test_exponents_that_a_mask_leaves_out_may_be_negative(text: str) -> None:
    """NumPy's loop is run on those that are selected only; a store by a mask raised, np.power was refused."""
    for mask in (MASK[[0, 1, 0, 1]], np.zeros(4, bool), EXPONENTS >= 0):
        for k in (-1, 2):
            agree(POWERS[text], np.arange(1, 5), EXPONENTS, mask, k)


@pytest.mark.parametrize("part", ["a[2:1]", "a[2:1,]", "a[:, 3:3]", "a[k:1]"])
def test_a_part_without_elements_has_any_power(part: str) -> None:
    """NumPy's loop looks at the exponent before it counts: it is not run on rows without elements."""
    f = program(f"def f(a, k):\n    b = {part}\n    b **= -1\n    return {part} ** -k, {part} ** np.int64(-2), a")
    for a in (np.arange(1, 21).reshape(5, 4), np.arange(1, 21).reshape(4, 5).T, np.arange(1, 61).reshape(5, 4, 3).T):
        agree(f, a, 3)


def test_parts_are_stored_as_arrays_are() -> None:
    """NumPy makes an array of a number first: nothing is checked."""
    f = program("""
        def f(b, x):
            b.real = x
            return b
    """)
    for x in (float("nan"), np.float64("nan"), 300.5, 7):
        agree(f, np.arange(3), x)
        agree(f, np.arange(0), x)
        agree(f, np.ones(3, np.int8), x)


def test_an_object_whose_iter_is_a_generator_is_unpacked() -> None:
    class Pair:
        def __init__(self, x: Any) -> None:
            self.x = x

        def __iter__(self) -> Any:
            yield self.x
            yield self.x + 1

    f = program(
        """
        def f(x):
            *some, last = Pair(x)
            first, second = Pair(last)
            return some, last, first, second
        """,
        Pair=Pair,
    )
    for x in (1, 2.5, np.arange(3.0)):
        agree(f, x)


@pytest.mark.parametrize("made", [
    "collections.deque([k, k])", "collections.deque(a.tolist())", "collections.defaultdict(int)",
    "collections.Counter([1, 2])", "np.random.default_rng(k)",
    "np.random.RandomState(k)", "random.Random(k)", "a.flat", "a.flags", "range(k)", "slice(k)", "[k, a]",
    "{'x': k}", "{1, 2}", "a.data", "functools.partial(max, k)", "Point(k)",
])  # fmt: skip
def test_the_class_without_an_attribute_is_named(made: str) -> None:
    import collections
    import functools
    import random

    point = "class Point:\n    def __init__(self, x):\n        self.x = x\n"
    text = f"{point}\ndef f(a, k):\n    x = {made}\n    return x.nope"
    f = program(text, collections=collections, functools=functools, random=random)
    words = []
    for call in (f, bufferize(f)):
        with pytest.raises(AttributeError) as error:
            call(np.arange(3.0), 3)
        words.append(str(error.value))
    assert words[0] == words[1]
