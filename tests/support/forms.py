"""Expressions over a few arrays and numbers, each held against eager NumPy: several in one function, those that raise
one by one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tests.support.agreement import agree, program

RNG = np.random.default_rng(0)
A = RNG.standard_normal((4, 5))
N = A.copy()
N[1, 2], N[3], N[0, 4] = np.nan, np.nan, np.inf
VALUES: dict[str, Any] = {
    "a": A, "b": A * 2, "T": A.T.copy(), "N": N, "nv": N[1].copy(), "i": RNG.integers(-3, 9, (4, 5)), "bb": A > 0,
    "v": RNG.standard_normal(6), "w": RNG.standard_normal(6), "iv": np.arange(6), "sv": np.arange(6.0) ** 2,
    "f": A.astype(np.float32), "h": A.astype(np.float16), "fn": N.astype(np.float32), "odd": A[::2, ::-1],
    "u8": np.arange(12, dtype=np.uint8).reshape(3, 4), "sq": RNG.standard_normal((3, 5, 5)), "e": np.zeros(0),
    "e2": np.zeros((0, 5)), "o": RNG.standard_normal(1), "z0": np.array(2.5), "anan": np.full((2, 3), np.nan),
    "n": 7, "m": 3, "one": 1, "z": 0, "neg": -4, "x": 0.3, "y": 2.75, "s": np.float64(2.5), "s4": np.float32(1.5),
}  # fmt: skip


def check_forms(texts: str, ulp: float = 0) -> None:
    """Expressions, one in each part of a text between bars or on a line."""
    found = [t.strip() for line in texts.split("\n") for t in line.split("|") if t.strip()]
    fine = [t for t in found if not raises(t)]
    for k in range(0, len(fine), 5):
        check(f"[{', '.join(fine[k : k + 5])}]", ulp)
    for text in found:
        if text not in fine:
            check(text, ulp)


def check(text: str, ulp: float) -> None:
    words = set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())
    names = [n for n in VALUES if n in words]
    try:
        agree(program(f"def f({', '.join(names)}):\n    return {text}"), *(VALUES[n] for n in names), ulp=ulp)
    except Exception as error:
        error.add_note(text)
        raise


def raises(text: str) -> bool:
    """Whether eager NumPy raises for an expression."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            eval(text, {"np": np, **VALUES})
        except Exception:
            return True
    return False
