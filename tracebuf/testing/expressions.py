"""Random expressions with tracked shapes, so that most of what is generated is valid NumPy.

A size is a tuple of ints, one for each *world*: a call (programs are called with two sets of sizes) and, inside
loops, an iteration (the first, the second and the last). Two sizes that agree in every world fit, however they came
about, so slices that move with a loop, stencils and clamped bounds come out without symbolic reasoning. The dtype of
an expression is found by computing it on arrays of one element.

Limitations: validity is not guaranteed. Some indices are left unchecked on purpose, to raise IndexError and ValueError.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, Literal, TypeVar

import numpy as np

from tracebuf.frozen import frozen
from tracebuf.testing.arrays import COMPLEX_DTYPES, DTYPES, RARE_DTYPES

__all__ = ["Expr", "Expressions", "Mode", "Sizes", "Var", "is_array"]

Sizes = tuple[int, ...]
Dims = tuple[Sizes, ...]
T = TypeVar("T")

Mode = Literal["whole", "bits", "rough"]
"""What data and ops are allowed together, so that a difference in rounding never decides a comparison. "whole": whole
numbers, all reductions and products. "bits": special values and IEEE-exact ops, compared bit by bit. "rough":
everything but comparisons and conversions to int of floats, compared within a tolerance. np.fmax and np.fmin are
rough: which of two zeros they take depends on strides in NumPy itself. np.copysign and np.signbit are in none: they
tell the sign of a NaN that was computed, which is the processor's business (rule C2)."""

UNARY: dict[Mode, tuple[str, ...]] = {
    "whole": tuple("abs square sign floor negative isfinite logical_not rint positive".split()),
    "bits": tuple(
        "abs sqrt floor ceil trunc rint isnan isinf isfinite logical_not sign square reciprocal negative fabs "
        "invert".split()
    ),
    "rough": tuple("exp sin cos tanh log1p sqrt abs arctan cbrt square exp2".split()),
}
BINARY: dict[Mode, tuple[str, ...]] = {
    "whole": tuple("maximum minimum add subtract logical_and less greater_equal equal".split()),
    "bits": tuple(
        "maximum minimum logical_or logical_xor not_equal greater divide multiply floor_divide mod "
        "fmod less_equal bitwise_and left_shift right_shift heaviside nextafter".split()
    ),
    "rough": tuple("hypot arctan2 fmax fmin maximum minimum add multiply logaddexp".split()),
}
OPERATORS: dict[Mode, tuple[str, ...]] = {
    "whole": ("+", "+", "-", "-", "*", "<", ">=", "==", "!=", "&", "|", "^"),
    "bits": ("+", "-", "*", "/", "//", "%", "<", "<=", ">", "==", "!=", "&", "|", "^"),
    "rough": ("+", "+", "-", "*", "*", "/"),
}
CONSTANTS: dict[Mode, tuple[str, ...]] = {
    "whole": ("2", "1", "0.5", "2.0", "-1", "3", "True", "0"),
    "bits": ("2", "0.1", "-1.5", "0", "-0.0", "3", "True", "1e10", "7"),
    "rough": ("2", "0.1", "0.3", "-1.5", "3", "0.25"),
}
_INT_FORMS: tuple[tuple[str, Callable[[int], int]], ...] = (
    ("{}", lambda n: n),
    ("{}", lambda n: n),
    ("{}", lambda n: n),
    ("{} + 1", lambda n: n + 1),
    ("{} - 1", lambda n: n - 1),
    ("-{}", lambda n: -n),
    ("{} // 2", lambda n: n // 2),
    ("{} % 3", lambda n: n % 3),
    ("-1 - {}", lambda n: -1 - n),
    ("2 * {}", lambda n: 2 * n),
    ("{} + 2", lambda n: n + 2),
)
_STEPS = (None, None, None, None, 1, 2, -1, -1, -2, 3)


@frozen(slots=False)
class Expr:
    """A piece of source with its sizes and a one-element value of its dtype and Python type."""

    text: str
    sample: Any
    dims: Dims = ()
    atomic: bool = True

    @property
    def inner(self) -> str:
        """The text as an operand."""
        return self.text if self.atomic else f"({self.text})"


@frozen(slots=False)
class Var:
    """A name in scope. `values`: a Python int's value in each world. `writable`: False, where a store would raise."""

    name: str
    sample: Any
    dims: Dims = ()
    values: Sizes | None = None
    writable: bool = True

    @property
    def expr(self) -> Expr:
        return Expr(self.name, self.sample, self.dims)


def is_array(sample: Any) -> bool:
    return isinstance(sample, np.ndarray)


def is_float(sample: Any) -> bool:
    return np.asarray(sample).dtype.kind in "fc"


def is_complex(sample: Any) -> bool:
    return np.asarray(sample).dtype.kind == "c"


OPEN = {
    "whole": ("abs", "sign", "rint"),
    "rough": ("sqrt", "arctan", "log1p", "maximum", "minimum", "max", "min", "hypot", "cbrt", "exp2"),
    "bits": ("**",),
}
"""Operations on complex numbers whose result depends on strides, or is discontinuous."""


class Expressions:
    """Makes expressions over the names in `scope`."""

    def __init__(self, draw: random.Random, mode: Mode, worlds: int) -> None:
        self.draw, self.mode, self.worlds = draw, mode, worlds
        self.scope: list[Var] = []
        self.loops = 0

    # -- drawing
    def chance(self, percent: int) -> bool:
        return self.draw.randrange(100) >= 100 - percent

    def pick(self, items: Sequence[T]) -> T:
        return items[self.draw.randrange(len(items))]

    def weighted(self, *choices: tuple[int, T]) -> T:
        left = self.draw.randrange(sum(w for w, _ in choices))
        for weight, item in choices:
            left -= weight
            if left < 0:
                return item
        raise AssertionError

    def rare_dtypes(self) -> list[str]:
        """Without float16 where sums are rounded, and without uint32 where special floats may become one, since NumPy's
        own values then depend on strides; so do those of complex numbers that are neither whole nor rounded."""
        without = "uint32" if self.mode == "bits" else "float16"
        return [d for d in RARE_DTYPES if d != without] + list(COMPLEX_DTYPES if self.mode != "bits" else ())

    def dtype(self) -> str:
        """Any dtype, rarely a rare one."""
        return self.pick(self.rare_dtypes() if self.chance(20) else DTYPES)

    def arrays(self) -> list[Var]:
        return [v for v in self.scope if is_array(v.sample)]

    def scalars(self) -> list[Var]:
        return [v for v in self.scope if not is_array(v.sample)]

    def constant(self, n: int) -> Sizes:
        return (n,) * self.worlds

    # -- ints
    def index(self) -> tuple[str, Sizes]:
        """An int expression for an index or a bound."""
        ints = [v for v in self.scope if v.values is not None]
        if not ints or self.chance(55):
            n = self.pick((0, 1, 1, 2, 2, 3, -1, -1, -2, -3, 4))
            return str(n), self.constant(n)
        if self.chance(12) and (shaped := [a for a in self.arrays() if a.dims]):
            a = self.pick(shaped)
            axis = self.draw.randrange(len(a.dims))
            text = self.pick((f"{a.name}.shape[{axis}]", f"len({a.name})")) if not axis else f"{a.name}.shape[{axis}]"
            return text, a.dims[axis]
        v = self.pick(ints)
        assert v.values is not None
        text, of = self.pick(_INT_FORMS)
        return text.format(v.name), tuple(map(of, v.values))

    def place(self, size: Sizes) -> str | None:
        """An int index into an axis, valid in every world (rarely unchecked)."""
        ints = ("int64", *(d for d in RARE_DTYPES if "int" in d))
        if self.chance(5) and (found := self.element(self.pick(ints))) is not None and min(size) > 0:
            return found.text if self.chance(20) else f"{found.inner} % {min(size)}"
        for _ in range(6):
            text, values = self.index()
            if all(-n <= i < n for i, n in zip(values, size)) or self.chance(1):
                return text
        return None

    def element(self, dtype: str) -> Expr | None:
        """One element of an array of this dtype."""
        pool = [a for a in self.arrays() if a.sample.dtype.name == dtype and a.dims and all(min(d) > 0 for d in a.dims)]
        if not pool:
            return None
        a = self.pick(pool)
        text = ", ".join(self.pick(("0", "-1")) for _ in a.dims)
        return Expr(f"{a.name}[{text}]", a.sample.dtype.type(1))

    def cut(self, size: Sizes) -> tuple[str, Sizes]:
        """A slice of an axis and the size it leaves."""
        if self.chance(30):
            return ":", size
        start = self.index() if self.chance(55) else None
        stop = self.index() if self.chance(55) else None
        step = self.pick(_STEPS)
        ranges = [
            range(*slice(start and start[1][w], stop and stop[1][w], step).indices(n)) for w, n in enumerate(size)
        ]
        text = f"{start[0] if start else ''}:{stop[0] if stop else ''}" + (f":{step}" if step is not None else "")
        return text, tuple(map(len, ranges))

    # -- views
    def subscript(self, items: Sequence[str]) -> str:
        """The text between the brackets; trailing full slices may go, or become an ellipsis."""
        parts = list(items)
        full = len(parts)
        while full and parts[full - 1] == ":":
            full -= 1
        if full < len(parts) and full and self.chance(60):
            parts = parts[:full] + (["..."] if self.chance(25) else [])
        elif self.chance(8) and "..." not in parts:
            parts.insert(self.draw.randrange(len(parts) + 1), "...")
        return ", ".join(parts) or "..."

    def view(self, base: Expr, keep_rank: bool = False) -> Expr:
        """A random view (or element) of an array expression."""
        if base.dims and not keep_rank and self.chance(12):
            base = self.reshaped(base)
        dims, items = list(base.dims), []
        left: list[Sizes] = []
        for size in dims:
            if self.chance(5) and not keep_rank:
                items.append("None")
                left.append(self.constant(1))
            place = None if keep_rank or self.chance(70) else self.place(size)
            if place is not None:
                items.append(place)
            else:
                text, n = self.cut(size)
                items.append(text)
                left.append(n)
        if not dims or (dims and not left and self.chance(30)):
            items.append("...")
        text = f"{base.inner}[{self.subscript(items)}]"
        scalar = not left and "..." not in text[len(base.inner) :]
        if is_complex(base.sample) and left and self.chance(40):
            sample = np.ones((1,) * len(left), base.sample.real.dtype)
            return Expr(f"{text}.{self.pick(('real', 'imag'))}", sample, tuple(left))
        sample = base.sample.dtype.type(1) if scalar else np.ones((1,) * len(left), base.sample.dtype)
        return Expr(text, sample, tuple(left))

    def reshaped(self, base: Expr) -> Expr:
        """The array under another shape, or with its axes permuted."""
        dims, a = base.dims, base.inner
        total = tuple(prod(sizes) for sizes in zip(*dims))
        forms: list[tuple[str, Dims]] = [
            (f"{a}.reshape(-1)", (total,)),
            (f"{a}.ravel()", (total,)),
            (f'{a}.reshape(-1, order="F")', (total,)),
            (f"np.flip({base.text})", dims),
            (f"np.moveaxis({base.text}, 0, -1)", (*dims[1:], dims[0])),
            (f"np.expand_dims({base.text}, 1)", (dims[0], self.constant(1), *dims[1:])),
        ]
        for n in (2, 3):
            if all(t and t % n == 0 for t in total):
                rest = tuple(t // n for t in total)
                forms += [(f"{a}.reshape({n}, -1)", (self.constant(n), rest))]
                forms += [(f"{a}.reshape(-1, {n})", (rest, self.constant(n)))]
        if len(dims) == 2:
            forms += [(f"np.rot90({base.text})", dims[::-1]), (f"{a}.swapaxes(0, 1)", dims[::-1])]
            if all(t for t in total):
                forms += [(f"{a}.reshape(({a}.shape[1], -1))", dims[::-1])]
        text, left = self.pick(forms)
        return Expr(text, np.ones((1,) * len(left), base.sample.dtype), left)

    def fit(self, a: Expr, target: Dims) -> Expr | None:
        """A view of `a` that broadcasts to the target, its rank as high as can be."""
        text, dims = a.text, a.dims
        if len(dims) > 1 and self.chance(25):
            text, dims = f"{a.inner}.T", dims[::-1]
        rank = min(len(dims), len(target))
        dropped = set(self.draw.sample(range(len(dims)), len(dims) - rank))
        items: list[str] = []
        left: list[Sizes] = []
        for axis, size in enumerate(dims):
            if axis in dropped:
                place = self.place(size)
                if place is None:
                    return None
                items.append(place)
                continue
            wanted = target[len(target) - rank + len(left)]
            found = ":" if size == wanted and not self.chance(15) else self.cut_to(size, wanted)
            if found is None:
                return None
            items.append(found)
            left.append(wanted)
        if rank and rank < len(target) and self.chance(10):
            items.append("None")
            left = [*left[1:], self.constant(1)] if all(w == 1 for w in left[0]) else left
            if len(left) and left[-1] != self.constant(1):
                items.pop()
        if all(i == ":" for i in items) and (items or not dims):
            return Expr(text, a.sample, dims)
        sample = np.ones((1,) * len(left), a.sample.dtype) if left else a.sample.dtype.type(1)
        return Expr(f"{text}[{self.subscript(items) if left else ', '.join(items)}]", sample, tuple(left))

    def cut_to(self, size: Sizes, wanted: Sizes) -> str | None:
        for _ in range(8):
            text, n = self.cut(size)
            if n == wanted:
                return text
        return ":" if size == wanted or all(n == 1 for n in size) else None

    # -- expressions
    def atom(self, target: Dims) -> Expr:
        """A name, a view, a number."""
        if self.chance(70):
            arrays = self.arrays()
            for _ in range(4):
                if arrays and (found := self.fit(self.pick(arrays).expr, target)) is not None:
                    return found
        scalars = self.scalars()
        if scalars and self.chance(60):
            return self.pick(scalars).expr
        if self.chance(10):
            return Expr(self.index()[0], 1, atomic=False)
        if self.chance(4):
            return Expr("SCALE", 2.0)
        text = self.pick(CONSTANTS[self.mode])
        return Expr(text, eval(text), atomic=not text.startswith("-"))

    def expression(self, target: Dims, depth: int) -> Expr:
        """An expression that broadcasts to the target."""
        if depth <= 0 or self.chance(20):
            return self.atom(target)
        for _ in range(3):
            kind = self.weighted(
                (50, "operator"),
                (14, "unary"),
                (12, "binary"),
                (6, "where"),
                (9, "reduce"),
                (5, "sign"),
                (4, "product"),
                (0 if target else 30, "scalar"),
            )
            made: Expr | None = getattr(self, "make_" + kind)(target, depth - 1)
            if made is not None:
                return made
        return self.atom(target)

    def make_operator(self, target: Dims, depth: int) -> Expr | None:
        if self.mode == "bits" and self.chance(8):
            a = self.expression(target, depth)
            return (
                self.result(f"{a.inner} ** {self.pick(('2', '0.5', '1'))}", lambda x: x**2 if is_array(x) else x, [a])
                if is_float(a.sample)
                else None
            )
        a, b = self.expression(target, depth), self.expression(target, depth - self.draw.randrange(2))
        op = self.pick(OPERATORS[self.mode])
        return self.result(f"{a.inner} {op} {b.inner}", lambda x, y: eval(f"x {op} y"), [a, b])

    def make_unary(self, target: Dims, depth: int) -> Expr | None:
        a = self.expression(target, depth)
        name = self.pick(UNARY[self.mode])
        if is_complex(a.sample):
            if self.chance(30):
                name = self.pick(("conj", "real", "imag"))
            if name in OPEN[self.mode]:
                return None
        return self.result(f"np.{name}({a.text})", getattr(np, name), [a], atomic=True)

    def make_binary(self, target: Dims, depth: int) -> Expr | None:
        a, b = self.expression(target, depth), self.expression(target, depth)
        name = self.pick(BINARY[self.mode])
        if name in OPEN[self.mode] and any(is_complex(x.sample) for x in (a, b)):
            return None
        return self.result(f"np.{name}({a.text}, {b.text})", getattr(np, name), [a, b], atomic=True)

    def make_sign(self, target: Dims, depth: int) -> Expr | None:
        a = self.expression(target, depth)
        op = self.pick(("-", "-", "~", "+", "abs"))
        if op == "abs":
            if is_complex(a.sample) and op in OPEN[self.mode]:
                return None
            return self.result(f"abs({a.text})", abs, [a], atomic=True)
        return self.result(f"{op}{a.inner}", lambda x: eval(f"{op}x"), [a])

    def condition(self) -> str | None:
        raise NotImplementedError

    def make_scalar(self, target: Dims, depth: int) -> Expr | None:
        raise NotImplementedError

    def make_where(self, target: Dims, depth: int) -> Expr | None:
        """np.where, or a conditional expression on numbers of one type."""
        if not target and self.chance(40):
            test, x, y = self.condition(), self.expression((), 1), self.expression((), 1)
            if test is None or is_array(x.sample) or type(x.sample) is not type(y.sample):
                return None
            return Expr(f"({x.inner} if {test} else {y.inner})", x.sample)
        c, x, y = (self.expression(target, depth - 1) for _ in range(3))
        if self.mode == "rough" and is_float(c.sample):
            return None
        return self.result(f"np.where({c.text}, {x.text}, {y.text})", np.where, [c, x, y], atomic=True)

    def ufunc(self) -> str:
        """The name of a ufunc of two operands."""
        return self.pick(BINARY[self.mode])

    def make_reduce(self, target: Dims, depth: int) -> Expr | None:
        """A reduction of a view to sizes that fit the target."""
        arrays = [a for a in self.arrays() if a.dims]
        kinds = {
            "whole": ("sum", "sum", "sum", "max", "min", "any", "all", "argmax", "argmin"),
            "bits": ("max", "min", "max", "min", "any", "all", "argmax", "argmin"),
            "rough": ("sum", "mean", "max", "min", "sum", "std", "var"),
        }
        if not arrays:
            return None
        a = self.pick(arrays)
        kind = self.pick(kinds[self.mode])
        if is_complex(a.sample) and kind in OPEN[self.mode]:
            return None
        axis = self.draw.randrange(len(a.dims))
        if self.mode == "whole" and self.chance(10) and self.fits(a.dims, target):
            return self.result(f"np.cumsum({a.name}, axis={axis})", lambda x: np.cumsum(x, axis=axis), [a.expr], True)
        outer = target[-1:] if len(a.dims) == 2 and target and self.chance(60) else ()
        if outer and (found := self.fit(a.expr, (a.dims[0], *outer))) is not None and len(found.dims) == 2:
            form = self.pick(
                ("{a}.{k}(axis=0)", "np.{k}({t}, axis=0)", "{a}.{k}(0)", "{a}.{k}(axis=-2, keepdims=True)")
            )
            keep = "keepdims" in form
            text = form.format(a=found.inner, t=found.text, k=kind)
            return self.reduced(
                text,
                found,
                kind,
                (self.constant(1), *outer) if keep and len(target) > 1 else outer if not keep else None,
            )
        if self.chance(30) and len(a.dims) <= len(target):
            dims = tuple(self.constant(1) if k == axis else d for k, d in enumerate(a.dims))
            if self.fits(dims, target):
                return self.reduced(f"{a.name}.{kind}(axis={axis}, keepdims=True)", a.expr, kind, dims)
        inside = a.expr if self.chance(50) else self.view(a.expr, keep_rank=True)
        return self.reduced(
            self.pick(("{a}.{k}()", "np.{k}({t})")).format(a=inside.inner, t=inside.text, k=kind), inside, kind, ()
        )

    def reduced(self, text: str, a: Expr, kind: str, dims: Dims | None) -> Expr | None:
        if dims is None:
            return None
        full = getattr(np, kind)(np.ones((1,) * max(a.sample.ndim, 1), a.sample.dtype))
        return Expr(text, np.ones((1,) * len(dims), full.dtype) if dims else full, dims)

    def make_product(self, target: Dims, depth: int) -> Expr | None:
        """A matrix product that fits the target."""
        if self.mode == "bits" or self.loops > 1:
            return None
        arrays = [a.expr for a in self.arrays() if 1 <= len(a.dims) <= 2]
        if not arrays:
            return None
        a = self.pick(arrays)
        if len(a.dims) == 2 and self.chance(50):
            a = Expr(f"{a.text}.T", a.sample, a.dims[::-1])
        if self.chance(40):
            a = self.view(a, keep_rank=True)
        pool = [b for b in arrays if b.dims[0] == a.dims[-1]] + [
            Expr(f"{b.text}.T", b.sample, b.dims[::-1]) for b in arrays if len(b.dims) == 2 and b.dims[1] == a.dims[-1]
        ]
        if not pool:
            return None
        b = self.pick(pool)
        dims = (*a.dims[:-1], *b.dims[1:])
        if not self.fits(dims, target):
            return None
        text = f"{a.inner} @ {b.inner}" if self.chance(60) else f"np.dot({a.text}, {b.text})"
        sample = np.ones((1,) * a.sample.ndim, a.sample.dtype) @ np.ones((1,) * b.sample.ndim, b.sample.dtype)
        return Expr(text, sample, dims, atomic=text.startswith("np."))

    # -- results
    def fits(self, dims: Dims, target: Dims) -> bool:
        """Whether an array of these sizes broadcasts to the target."""
        if len(dims) > len(target):
            return False
        return all(all(n in (1, m) for n, m in zip(d, t)) for d, t in zip(dims, target[len(target) - len(dims) :]))

    def result(
        self, text: str, compute: Callable[..., Any], operands: Sequence[Expr], atomic: bool = False
    ) -> Expr | None:
        """The expression of an elementwise operation; None where it makes no sense."""
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                sample = compute(*(o.sample for o in operands))
            except (TypeError, ValueError, ZeroDivisionError, OverflowError):
                return None
        dtype = np.asarray(sample).dtype
        if sample is NotImplemented or dtype.name not in (*DTYPES, *self.rare_dtypes()):
            return None
        if self.mode == "rough" and dtype.kind not in "fc" and any(is_float(o.sample) for o in operands):
            return None
        rank = max((len(o.dims) for o in operands), default=0)
        dims = []
        for axis in range(rank):
            sizes = [o.dims[axis - rank] for o in operands if len(o.dims) >= rank - axis]
            dims.append(tuple(max(world) if 0 not in world else 0 for world in zip(*sizes)))
        return Expr(text, sample, tuple(dims), atomic)
