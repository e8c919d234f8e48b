"""`fori_loop`, `while_loop` and `cond`: control flow on values, for functions that are traced by running them.

They are what JAX documents, in plain Python, and traced as such; errors in them are reported at the caller's line. In a
function whose source can be read a plain `for`, `while` or `if` does the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
FILE = __file__


def fori_loop(lower: int, upper: int, body_fun: Callable[[int, T], T], init_val: T) -> T:
    """`body_fun(i, value)` for i from `lower` to before `upper`, each time with the value that it returned before.

    `init_val`, an array, a number or a nesting of tuples of them, is the first value; returns the last.
    Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html
    """
    for i in range(lower, upper):
        init_val = body_fun(i, init_val)
    return init_val


def while_loop(cond_fun: Callable[[T], Any], body_fun: Callable[[T], T], init_val: T) -> T:
    """`body_fun(value)` again and again, as long as `cond_fun(value)` holds; returns the last value.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html
    """
    while cond_fun(init_val):
        init_val = body_fun(init_val)
    return init_val


def cond(pred: Any, true_fun: Callable[..., T], false_fun: Callable[..., T], *operands: Any) -> T:
    """`true_fun(*operands)` if `pred` holds, else `false_fun(*operands)`; the other one is not run.

    Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.cond.html
    """
    if pred:
        result = true_fun(*operands)
    else:
        result = false_fun(*operands)
    return result
