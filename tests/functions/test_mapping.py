"""np.apply_along_axis, np.apply_over_axes and np.vectorize, against eager NumPy (rules C1, X1)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.forms import names_in, split
from tests.support.params import slow_but
from tracebuf.testing.ladder import climb

RNG = np.random.default_rng(6)


def spread(line: np.ndarray, scale: float = 1.0) -> Any:
    return (line.max() - line.min()) * scale


def centred(line: np.ndarray) -> Any:
    return line - line.mean()


def pairs(line: np.ndarray) -> Any:
    return line[:2, None] * line[1:3]


def step(x: float, y: float = 2.0) -> float:
    if x > y:
        return x - y
    return math.sqrt(abs(x))


def parts(x: float) -> tuple[float, int]:
    return x / 2, int(x)


VECTORIZED = np.vectorize(step)
VALUES: dict[str, Any] = {
    "a": RNG.uniform(-3, 3, (4, 5)), "v": RNG.uniform(-3, 3, 5), "i": RNG.integers(-9, 9, (4, 5)), "x": 2.5,
    "t": RNG.uniform(-3, 3, (2, 3, 4)), "n": np.zeros((0, 3)), "f": RNG.uniform(-3, 3, (4, 5)).astype(np.float32),
}  # fmt: skip
NAMES = {
    "spread": spread, "centred": centred, "pairs": pairs, "step": step, "parts": parts, "VECTORIZED": VECTORIZED
}  # fmt: skip
FORMS = """
np.apply_along_axis(spread, 0, a)|np.apply_along_axis(spread, 1, a)|np.apply_along_axis(spread, -1, t)
np.apply_along_axis(np.sum, 1, i)|np.apply_along_axis(centred, 0, a)|np.apply_along_axis(centred, 1, t)
np.apply_along_axis(pairs, 1, a)|np.apply_along_axis(pairs, 1, t)|np.apply_along_axis(spread, 0, v)
np.apply_along_axis(centred, 0, v)|np.apply_along_axis(lambda r: r @ r, 1, a)|np.apply_along_axis(spread, 1, a, 2)
np.apply_along_axis(spread, 0, a, scale=3.0)|np.apply_along_axis(np.cumsum, 0, a)
np.apply_along_axis(np.convolve, 1, a, v[:3], "same")|np.apply_along_axis(spread, 1, n)
np.apply_along_axis(spread, 2, a)|np.apply_along_axis(np.linalg.norm, 1, a)|np.apply_along_axis(spread, 0, x)
np.apply_over_axes(np.sum, t, [0, 2])|np.apply_over_axes(np.max, a, 1)|np.apply_over_axes(np.sum, t, (0, -1))
np.apply_over_axes(np.cumsum, a, 0)|np.vectorize(step)(a)|np.vectorize(step)(a, v)|np.vectorize(step)(a, 1.0)
VECTORIZED(a, v)|VECTORIZED(x)|np.vectorize(step)(a.T)|np.vectorize(parts)(a)
np.vectorize(lambda p, q: p * q + 1)(i, v)|np.vectorize(step, otypes=[np.float32])(a)|np.vectorize(step)(n)
np.vectorize(step, otypes="d")(n)|np.vectorize(math.sin)(v)|np.vectorize(lambda p: p * 2)(i)
np.vectorize(lambda p: p > 0)(v)
np.vectorize(step, excluded=['y'])(v, y=1.0)|np.vectorize(step)(a, y=v)|np.vectorize(step, excluded={0})(1.0, v)
np.vectorize(lambda c, x: c[0] + c[1] * x, excluded=["c"])(c=[1.0, x], x=v)|np.vectorize(step, cache=True)(a)
np.vectorize(np.convolve, signature="(n),(m)->(k)")(a, v)|np.vectorize(spread, signature="(n)->()")(t)
np.vectorize(lambda p: (p[0], p * 2), signature="(n)->(),(n)")(t)|np.vectorize(spread, signature="(n)->()")(v)
np.vectorize(np.dot, signature="(n),(n)->()")(a, v[:2])|np.vectorize(spread, signature="(n)->()")(x)
np.vectorize(np.dot, signature="(n),(n)->()")(a)|np.vectorize(spread, signature="(n)->()")(n[:, :0])
np.vectorize(parts, signature="()->()")(v)
"""
TEXTS = split(FORMS)


@pytest.mark.parametrize("text", slow_but(TEXTS[::6], TEXTS))
@pytest.mark.cases(3)
def test_c1_functions_applied(text: str) -> None:
    names = names_in(text, VALUES)
    source = f"def f({', '.join(names)}):\n    return {text}"
    agree(program(source, math=math, **NAMES), *(VALUES[n] for n in names), ulp=8)


@pytest.mark.slow
def test_on_every_rung() -> None:
    def program(a, v):
        return np.apply_along_axis(spread, 1, a), np.vectorize(step)(a, v)

    climb(program, (VALUES["a"], VALUES["v"]), again=[(RNG.uniform(-1, 1, (3, 7)), RNG.uniform(-1, 1, 7))])


def test_what_is_refused() -> None:
    path_of_the_first_element_decides = program("def f(f):\n    return np.vectorize(step)(f)", step=step)
    refused(path_of_the_first_element_decides, VALUES["f"])
    for text in ("np.vectorize(np.sum, 'd', signature='(n)->()')(v)", "np.frompyfunc(step, 2, 1)(v, v)"):
        refused(program(f"def f(v):\n    return {text}", step=step), VALUES["v"])


def test_the_first_element_is_computed_once_where_it_is_kept() -> None:
    def f(v):
        calls = []

        def double(x):
            calls.append(x)
            return x * 2.0

        return np.vectorize(double, cache=True)(v), len(calls), np.vectorize(double)(v), len(calls)

    agree(f, VALUES["v"])
