"""Calls for random programs, as texts with holes: Python's functions of numbers, views, reductions, new arrays.

`{x}`, `{y}` are numbers, `{a}`, `{b}` arrays, `{i}` an int, `{k}` an axis. Whether one makes sense is found by running
the program, so nothing here computes sizes. Which may be used depends on the mode (see `expressions.Mode`): "e" exact
functions, no difference in rounding can decide their result otherwise; "w" exact on whole numbers; "r" rounded.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from tracebuf.testing.arrays import DTYPES
from tracebuf.testing.expressions import Dims, Expr, Expressions, is_array, is_float

__all__ = ["Calls"]

_SCALARS = {
    "er": (
        "abs({x}); min({x}, {y}); max({x}, {y}); float({x}); math.fabs({x}); -{x}; {x} + {y}; {x} - {y}; "
        "min({x}, {y}, {i})"
    ),
    "ew": (
        "{x} // {y}; {x} % {y}; bool({x}); "
        "divmod({x}, {y})[0]; divmod({x}, {y})[1]; {x} ** 2; {x} << 1; {x} >> 1; {x} & {y}; {x} | {y}; {x} ^ {y}; "
        "~{x}; math.isnan({x}); math.isfinite({x}); math.gcd({x}, {y}); "
        "float({x}).is_integer(); not {x}; {x} == {y}; {x} < {y} <= {i}; {x} and {y}; {x} or {y}; int({x} > {y}); "
        "np.int64({x}); np.float64({x}); np.int32({x}); np.uint8({x}); np.int8({x}) + np.int8(100); pow({x}, 2); "
        "{x} % 7; {x} // 2; -{x} // 3; {x} % -3; math.fmod({x}, 3); 1 << ({i} % 5); ({x} & 3) << 2; "
        "np.uint32({x}) << 30; np.bool_({x}); {x}.item(); isinstance({x}, float); math.isqrt({i} * {i}); "
        "int({x}).bit_length(); "
        "round({x}, 1); math.prod(({i}, 2)); sum(({x}, {y}))"
    ),
    "w": "int({x}); round({x}); math.floor({x}); math.ceil({x}); math.trunc({x}); int({x}) % 5",
    "r": (
        "math.sqrt(abs({x})); math.sin({x}); math.atan2({x}, {y}); math.hypot({x}, {y}); {x} * {y}; {x} / 3; "
        "math.tanh({x}); {x} ** 2; math.exp(-abs({x})); math.pi * {x}; np.sqrt(abs({x}))"
    ),
}
_VIEWS = (
    "{a}.reshape(-1); {a}.ravel(); {a}.flatten(); {a}.swapaxes(0, 1); np.swapaxes({a}, 0, -1); "
    "np.moveaxis({a}, 0, -1); np.expand_dims({a}, {k}); {a}.squeeze(); np.squeeze({a}, {k}); np.flip({a}); "
    "np.flip({a}, {k}); {a}.diagonal(); np.rot90({a}); {a}.reshape({a}.shape[::-1]); {a}.reshape(-1, 1); "
    "{a}.reshape(1, -1); {a}.reshape(2, -1); {a}.T; {a}.reshape(-1, order='F'); np.ravel({a}, order='F'); "
    "np.transpose({a}); {a}[::-1].ravel(); {a}[:, ::-1].T; {a}[{i}:].reshape(-1); {a}[:, :{i}].reshape(-1); "
    "np.atleast_2d({a}); np.broadcast_to({a}, (2, *{a}.shape)); {a}.transpose(1, 0); {a}[None]; "
    "{a}[..., np.newaxis]; {a}.reshape({a}.shape[0], -1); np.fliplr({a}); np.flipud({a}); {a}[:]; {a}[{i}]; "
    "{a}[..., {i}]; np.diagonal({a}, 1); {a}.reshape({i}, -1); {a}.T.ravel(); {a}.T.reshape(-1); np.asarray({a}); "
    "np.ascontiguousarray({a}); {a}.T.copy(); np.copy({a}); {a}.T.reshape({a}.shape)"
)
_REDUCTIONS = {
    "ewr": (
        "{a}.max(axis={k}); {a}.min({k}); np.amax({a}, {k}, keepdims=True); {a}.any(axis={k}); "
        "np.all({a}, axis={k}); np.max({a}, axis=(0, 1)); {a}.max(initial=2); np.min({a}, axis={k}, initial=1); "
        "np.count_nonzero({a}); {a}.any()"
    ),
    "ew": (
        "{a}.argmax(); {a}.argmin(); np.argmax({a}, axis={k}); {a}.argmin(axis={k}); "
        "np.argmax({a}, {k}, keepdims=True); np.max({a}, where={a} > 1, initial=0); {a}.max() - {a}.min(); "
        "np.ptp({a}, axis={k})"
    ),
    "wr": (
        "{a}.sum(axis={k}); np.sum({a}, axis=(0, 1)); {a}.sum(axis=(-1, 0), keepdims=True); {a}.cumsum(); "
        "{a}.prod(); np.cumsum({a}, axis={k}); np.sum({a}, {k}, initial=3); {a}.sum(dtype=np.float64); "
        "np.dot({a}, {b}); {a} @ {b}; np.outer({a}, {b}); {a}.trace(); np.sum({a}, keepdims=True); "
        "np.prod({a}, axis={k}); np.vdot({a}, {b})"
    ),
    "w": ("np.sum({a}, where={a} > 0); {a}.sum(axis={k}, where={a} != 1)"),
    "r": (
        "{a}.mean(axis={k}); {a}.std(); {a}.var(axis={k}); np.mean({a}, axis=(0, 1)); np.std({a}, {k}, ddof=1); "
        "{a}.mean()"
    ),
}
_NEW = {
    "ewr": (
        "np.concatenate(({a}, {b})); np.stack(({a}, {b})); np.roll({a}, 1); np.roll({a}, {i}, axis={k}); "
        "np.vstack(({a}, {b})); np.hstack(({a}, {b})); np.repeat({a}, 2); np.arange({i}); np.arange(1, {i}, 2); "
        "np.eye(3); np.full({i}, {x}); np.array([{x}, {y}]); np.full_like({a}, {x}); np.clip({a}, {x}, {y}); "
        "{a}.clip(0, 2); np.concatenate(({a}, {b}), axis={k}); np.where({a} > {b}, {a}, {b}); {a}.astype(np.{d}); "
        "{a}.astype(np.{d}) + {b}; np.tile({a}, 2); np.pad({a}, 1); np.minimum({a}, {x}); "
        "np.maximum({a}, {b}, dtype=np.float64); np.zeros({a}.shape); np.ones_like({a}) * 0 == 1; "
        "np.zeros_like({a}.T); np.ones(({i}, 2), np.{d}); np.identity(2); np.tri(3); np.logical_and({a}, {b}); "
        "{a}.copy() + {x}"
    ),
    "ew": (
        "{a} // 2; {a} % 3; {a} ** 2; {a} >> 1; {a} << 2; ~{a}; {a} & 1; {a} | {b}; {a} ^ {x}; np.diff({a}); "
        "np.rint({a}); np.floor_divide({a}, 3); np.sign({a}); np.round({a}); {a} == {b}; np.equal({a}, {x}); "
        "np.power({a}, 2); {a} * 100; np.isin({a}, 1); np.add({a}, {b}, dtype=np.{d}); np.square({a}); "
        "np.invert({a}); 7 // {a}; 100 - {a} * 50"
    ),
    "r": (
        "np.linspace(0, 1, {i}); np.sqrt(np.abs({a})); np.tanh({a}); {a} / 3; {a} * {b}; np.hypot({a}, {b}); "
        "1 / (1 + np.exp(-{a}))"
    ),
}


def _texts(groups: dict[str, str], mode: str) -> tuple[str, ...]:
    kinds = {"whole": "w", "bits": "e", "rough": "r"}[mode]
    return tuple(t.strip() for group, texts in groups.items() if kinds in group for t in texts.split(";"))


class Calls(Expressions):
    """Draws calls; expressions over numbers have them too."""

    def scalar_call(self) -> Expr | None:
        """A function of numbers in scope."""
        form = self.pick(_texts(_SCALARS, self.mode))
        holes = {h: self.number(rounded="{x} " in form) for h in "xyi" if "{" + h + "}" in form}
        if "{i}" in form:
            holes["i"] = Expr(self.index()[0], 1, atomic=False)
        text = form.format(**{h: e.inner for h, e in holes.items()})
        names: dict[str, Any] = {"np": np, "math": math} | {h: e.sample for h, e in holes.items()}
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                sample = eval(form.format(x="x", y="y", i="i"), names)
            except (TypeError, ValueError, ArithmeticError, AttributeError):
                return None
        return None if is_array(sample) else Expr(text, sample, atomic=False)

    def number(self, rounded: bool) -> Expr:
        """A number in scope, an element, a constant."""
        return self.atom(()) if self.chance(80) else self.expression((), 1)

    def make_scalar(self, target: Dims, depth: int) -> Expr | None:
        found = None if target else self.scalar_call()
        return None if found is None or type(found.sample) is tuple else found

    def filled(self, form: str) -> str | None:
        """A text over arrays with its holes filled from the scope."""
        arrays = self.arrays()
        if not arrays:
            return None
        a = self.pick(arrays)
        if self.mode == "bits" and is_float(a.sample) and form in _texts(_REDUCTIONS, "rough"):
            return None
        like = [b for b in arrays if b.dims == a.dims] if self.chance(60) else arrays
        axis = self.draw.randrange(max(len(a.dims), 1)) - (len(a.dims) if self.chance(25) else 0)
        base = a.name if self.chance(65) else self.view(a.expr).inner
        numbers = {h: self.atom(()).inner for h in "xy" if "{" + h + "}" in form}
        int_ = self.index()[0] if "{i}" in form else ""
        return form.format(a=base, b=self.pick(like).name, k=axis, i=int_, d=self.pick(DTYPES), **numbers)

    def view_call(self) -> str | None:
        return self.filled(self.pick([t.strip() for t in _VIEWS.split(";")]))

    def reduction_call(self) -> str | None:
        forms = list(_texts(_REDUCTIONS, self.mode))
        return self.filled(self.pick(forms))

    def new_call(self) -> str | None:
        return self.filled(self.pick(_texts(_NEW, self.mode)))
