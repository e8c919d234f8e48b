"""Random statements without jumps: stores, names for arrays and views, numbers, calls of helper functions.

A statement is only text: what it does to the names in scope is found by running the program so far (see `probe`), and
one that raises is taken back. `look` is that run.
"""

from __future__ import annotations

import random

import numpy as np

from tracebuf.testing.expressions import Dims, Expr, Mode, Var, is_array, is_float
from tracebuf.testing.picks import Picks

__all__ = ["HELPERS", "Statements"]

HELPERS = {
    "shifted": "def shifted(x, k):\n    return x[1:] + k",
    "scale": "def scale(x, by=2):\n    x *= by",
    "backwards": "def backwards(x):\n    return x[::-1]",
    "both": "def both(x, y):\n    z = x + y\n    return y, z",
    "bump": "def bump(x, i):\n    x[i] = x[i] + 1\n    return x",
    "rows": "def rows(x):\n    for j in range(len(x)):\n        x[j] += j\n    return x.T",
    "choose": "def choose(x, flag):\n    if flag:\n        return x\n    return x + 1",
    "first": "def first(x):\n    for j in range(len(x)):\n        if x[j] > 0:\n            return j\n    return -1",
    "larger": "def larger(x, y):\n    if x.sum() > y.sum():\n        return x\n    return y",
    "trimmed": "def trimmed(x):\n    while len(x) > 2:\n        x = x[1:-1]\n    return x",
    "mixed": "def mixed(x, k):\n    if k > 0:\n        x = x * k\n    x[0] = k\n    return x, k",
    "ordered": "def ordered(x):\n    x.sort()\n    return np.sort(x)[::-1]",
    "middle": "def middle(x):\n    return np.median(x, axis=0)",
    "smooth": "def smooth(x):\n    return np.fft.irfft(np.fft.rfft(x.copy())[:3], len(x) + 1)",
    "total": "def total(*parts, start=0):\n    for p in parts:\n        start = start + p\n    return start",
}
_CALLS = {
    "shifted": "{new} = shifted({a}, {x})", "scale": "scale({a})", "backwards": "{new} = backwards({a})",
    "both": "{new}, {new}z = both({a}, {b})", "bump": "{new} = bump({a}, {i})", "rows": "{new} = rows({a})",
    "choose": "{new} = choose({a}, {x} > 1)", "first": "{new} = first({a})", "larger": "{new} = larger({a}, {b})",
    "trimmed": "{new} = trimmed({a})", "mixed": "{new}, s{new} = mixed({a}, {x})",
    "ordered": "{new} = ordered({a})", "middle": "{new} = middle({a})", "smooth": "{new} = smooth({a})",
    "total": "{new} = total({a}, {b}, start={x})",
}  # fmt: skip


class Statements(Picks):
    """Writes lines; `depth` is that of the block being written."""

    def __init__(self, draw: random.Random, mode: Mode, worlds: int) -> None:
        super().__init__(draw, mode, worlds)
        self.lines: list[str] = []
        self.depth = 0
        self.count = 0
        self.loose: list[str] = []
        self.helpers: set[str] = set()
        self.parameters: list[Var] = []

    def look(self) -> bool:
        """Runs the program so far and brings the scope up to date; False where its last statement is no good."""
        raise NotImplementedError

    def emit(self, text: str) -> None:
        self.lines.append("    " * (self.depth + 1) + text)

    def fresh(self, kind: str = "t") -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def name(self, like: Dims = (), kind: str = "t") -> str:
        """A new name, or one that is taken: rather an array's of these sizes."""
        if self.chance(60) or not self.arrays():
            return self.fresh(kind)
        same = [a.name for a in self.arrays() if a.dims == like]
        if self.loose and self.chance(20):
            return self.pick(self.loose)
        return self.pick(same) if same and self.chance(70) else self.pick(self.arrays()).name

    def writables(self) -> list[Var]:
        return [v for v in self.arrays() if v.writable or self.chance(1)]

    def target(self) -> Dims:
        """Sizes worth computing an array of."""
        arrays = self.arrays()
        if not arrays:
            return ()
        a = self.pick(arrays)
        return a.dims if self.chance(40) else self.view(a.expr).dims

    # -- names of arrays
    def do_fresh(self) -> None:
        e = self.expression(self.target(), 3)
        self.emit(f"{self.name(e.dims)} = {e.text}")

    def do_view(self) -> None:
        if pool := self.arrays():
            base = self.pick(pool).expr
            if len(base.dims) > 1 and self.chance(30):
                turned = self.pick((f"{base.text}.T", f"np.transpose({base.text})"))
                base = Expr(turned, base.sample, base.dims[::-1])
            e = self.view(base)
            self.emit(f"{self.name(e.dims, 'v')} = {e.text}")

    def do_call(self) -> None:
        """A name for a view, a reduction or a new array by NumPy's functions."""
        make = self.pick((self.view_call, self.view_call, self.reduction_call, self.new_call))
        if (text := make()) is not None:
            self.emit(f"{self.name((), self.pick('vrt'))} = {text}")

    def do_alias(self) -> None:
        """Another name for an array, or one array or the other."""
        if not (pool := self.arrays()):
            return
        x, y = self.pick(pool), self.pick(pool)
        test = self.condition() if self.chance(50) else None
        text = x.name if test is None else f"{x.name} if {test} else {y.name}"
        self.emit(f"{self.name(x.dims, 'v')} = {text}")

    def do_carry(self) -> None:
        """A name computed from itself: of the same sizes, shorter, longer."""
        if pool := self.arrays():
            a = self.pick(pool)
            n, e = a.name, self.expression(a.dims, 1).inner
            text = self.pick(
                (f"{n} + {e}", f"{n} + 1", f"{n}[1:]", f"{n}[:-1]", f"{n}[:-1] + {n}[1:]", f"{n}[::-1]", f"{n}.T", e,
                 f"np.maximum({n}, {e})", f"{n}.copy()", f"{n}[1:-1]", f"np.concatenate(({n}, {n}[:1]))", f"-{n}")
            )  # fmt: skip
            self.emit(f"{n} = {text}")

    def do_copy(self) -> None:
        if pool := self.arrays():
            base, dtype = self.pick(pool), self.dtype()
            form = self.pick(("{}.copy()", "np.copy({})", "{}.astype(np.%s)" % dtype))  # noqa: UP031
            if not (self.mode == "rough" and is_float(base.sample) and not dtype.startswith(("float", "complex"))):
                self.emit(f"{self.fresh()} = {form.format(base.name)}")

    def do_say(self) -> None:
        """A call that reads arrays and numbers where it stands, and does nothing else."""
        if pool := self.arrays():
            n, s = self.pick(pool).name, [v.name for v in self.scalars()]
            shown = self.pick((n, f"{n}.shape", *s[:2]))
            joined = f"', '.join([str({shown})])"
            said = self.pick((f"f'{{{shown}}}'", f"str({shown})", f"'%s %s' % ({n}, [{shown}])", joined))
            self.emit(f"np.testing.assert_equal({n}, {n}.copy(), err_msg={said})")

    def do_create(self) -> None:
        pool = self.arrays()
        if not pool:
            return
        base, name, dtype = self.pick(pool), self.fresh(), self.dtype()
        kind = self.pick(("zeros", "ones", "empty"))
        given = f", dtype=np.{dtype}" if self.chance(40) else ""
        if self.chance(45):
            self.emit(f"{name} = np.{kind}_like({base.name}{given})")
            dims, made = base.dims, dtype if given else base.sample.dtype.name
        else:
            sizes = [self.length() for _ in range(self.draw.randrange(1, 3))]
            shape = f"({', '.join(t for t, _ in sizes)})" if len(sizes) > 1 else sizes[0][0]
            self.emit(f"{name} = np.{kind}({shape}{given})")
            dims, made = tuple(d for _, d in sizes), dtype if given else "float64"
        if kind == "empty":
            value = self.expression(dims, 2) if self.chance(60) else self.atom(())
            if not self.may_store(np.ones((), made), value) or not self.fits(value.dims, dims):
                value = Expr("1", 1)
            self.emit(f"{name}[...] = {value.text}" if self.chance(80) or value.dims else f"{name}.fill({value.text})")

    def length(self) -> tuple[str, tuple[int, ...]]:
        """A size for a new axis."""
        pool = [(f"{a.name}.shape[{k}]", d) for a in self.arrays() for k, d in enumerate(a.dims)]
        ints = [(v.name, v.values) for v in self.scope if v.values and 0 <= min(v.values) <= max(v.values) < 20]
        pool += [*ints, *((f"{n} + 1", tuple(k + 1 for k in v)) for n, v in ints)]
        return self.pick([*pool, ("3", self.constant(3)), ("1", self.constant(1))])

    def do_swap(self) -> None:
        """Names, or elements, change places."""
        pool = self.arrays() if self.chance(75) else [v for v in self.scalars() if v.name[0] != "w"]
        kind = self.weighted((5, "two"), (2, "three"), (2, "elements"))
        if kind == "elements":
            if ones := [a for a in self.writables() if len(a.dims) == 1]:
                a = self.pick(ones)
                if (i := self.place(a.dims[0])) and (j := self.place(a.dims[0])):
                    self.emit(f"{a.name}[{i}], {a.name}[{j}] = {a.name}[{j}], {a.name}[{i}]")
            return
        like = [v for v in pool if pool and v.dims == pool[0].dims] if self.chance(50) else pool
        if len(like) >= (count := 2 if kind == "two" else 3):
            names = [v.name for v in self.draw.sample(like, count)]
            self.emit(f"{', '.join(names)} = {', '.join(names[1:] + names[:1])}")

    # -- stores
    def may_store(self, target: object, value: Expr) -> bool:
        return not (self.mode == "rough" and is_float(value.sample) and not is_float(target))

    def do_store(self) -> None:
        if pool := self.writables():
            base = self.pick(pool)
            target = self.view(base.expr)
            value = self.expression(target.dims, self.weighted((3, 1), (5, 2), (2, 3)))
            if self.may_store(target.sample, value) and (self.fits(value.dims, target.dims) or self.chance(2)):
                self.emit(f"{target.text} = {value.text}")

    def do_augmented(self) -> None:
        if not (pool := self.writables()):
            return
        base = self.pick(pool)
        target = base.expr if self.chance(45) else self.view(base.expr)
        value = self.expression(target.dims, self.weighted((4, 1), (4, 2), (1, 3)))
        op = self.pick(("+", "+", "+", "-", "*", "/", "//", "%", "&", "|", "^", "**", "<<", ">>"))
        allowed = {"whole": "+ - * & | ^ << >> // %", "bits": "+ - * / // % & | ^ << >>", "rough": "+ - * /"}
        if op not in allowed[self.mode].split() or not self.fits(value.dims, target.dims):
            return
        e = self.result("", lambda x, y: eval(f"x {op} y"), [target, value])
        if e is None:
            return
        if np.can_cast(np.asarray(e.sample).dtype, np.asarray(target.sample).dtype, "same_kind") or self.chance(2):
            self.emit(f"{target.text} {op}= {value.text}")

    def do_out(self) -> None:
        """A ufunc with out= or where=, or both; not with a conversion, where NumPy 2.4 stores beside the mask if the
        target overlaps an operand."""
        if not (pool := self.writables()):
            return
        base = self.pick(pool)
        target = base.expr if self.chance(50) else self.view(base.expr)
        x, y = self.expression(target.dims, 1), self.expression(target.dims, 1)
        where, name = "", self.ufunc()
        made = self.result("", getattr(np, name), [x, y])
        if self.chance(40) and made is not None and np.asarray(made.sample).dtype == np.asarray(target.sample).dtype:
            test = self.expression(target.dims, 1)
            rounded = self.mode == "rough" and is_float(test.sample)
            where = "" if rounded else f", where={test.inner} > 0"
        self.emit(f"np.{name}({x.text}, {y.text}, out={target.text}{where})")

    # -- numbers
    def do_scalar(self) -> None:
        """A number: an element, a full reduction, Python's functions, a constant."""
        if self.chance(25):
            text = self.pick(("0.0", "0", "1.0", "np.float64(0)", "np.int64(3)", "False", "np.float32(1)", "-7"))
            self.emit(f"{self.fresh('s')} = {text}")
            return
        e = (self.scalar_call() if self.chance(60) else None) or self.expression((), 2)
        if not is_array(e.sample):
            names = [v.name for v in self.scalars() if v.name.startswith("s")]
            self.emit(f"{self.pick(names) if names and self.chance(30) else self.fresh('s')} = {e.text}")

    def do_int(self) -> None:
        """A Python int, or the sizes of an array unpacked."""
        name = self.fresh("k")
        if self.chance(30) and (pool := [a for a in self.arrays() if len(a.dims) >= 2]):
            a = self.pick(pool)
            self.emit(f"{', '.join(f'{name}{axis}' for axis in 'xyzw'[: len(a.dims)])} = {a.name}.shape")
            return
        text, other = self.index()[0], self.index()[0]
        if self.chance(40):
            op = self.pick(("+", "-", "*", "min", "max"))
            text = f"{op}({text}, {other})" if op[0] == "m" else f"({text}) {op} ({other})"
        self.emit(f"{name} = {text}")

    def do_accumulate(self) -> None:
        """`s = s + e`, `s += e` and the like."""
        pool = [v for v in self.scalars() if v.name[0] in "sk"]
        if pool:
            s, e = self.pick(pool), self.expression((), 2)
            ops = ("+", "+", "+", "-") if self.mode == "rough" else ("+", "+", "+", "-", "//", "%", "^", "|", "<<", "*")
            op = self.pick(ops)
            e = Expr("2", 2) if op == "<<" else e
            text = f"{s.name} {op}= {e.text}" if self.chance(60) else f"{s.name} = {s.name} {op} {e.inner}"
            self.emit(f"{s.name} = {self.pick(('min', 'max'))}({s.name}, {e.text})" if self.chance(15) else text)

    # -- functions
    def do_helper(self) -> None:
        name = self.pick(tuple(HELPERS))
        pool = self.arrays()
        if not pool or (self.mode == "rough" and name in ("first", "larger", "choose", "mixed")):
            return
        if self.mode == "bits" and name == "larger":
            return
        a, b, x = self.pick(pool), self.pick(pool), self.atom(())
        if self.chance(60):
            b = self.pick([v for v in pool if v.dims == a.dims])
        text = _CALLS[name].format(new=self.fresh("h"), a=a.name, b=b.name, x=x.text, i=self.index()[0])
        self.helpers.add(name)
        self.emit(text)

    def do_inner(self) -> None:
        """A function inside, over a name of the outer one, and a call."""
        if not (pool := self.arrays()):
            return
        a, f, new = self.pick(pool), self.fresh("f"), self.fresh("h")
        body = self.pick((f"y + {a.name}", f"{a.name}[y:]", f"y * {self.atom(()).inner}", f"({a.name}, y)[0]", a.name))
        if self.chance(40):
            self.emit(f"{f} = lambda y: {body}")
        else:
            self.emit(f"def {f}(y, z={self.pick(('1', '2'))}):")
            if a.writable and self.chance(40):
                self.emit(f"    {a.name}[...] = z")
            self.emit(f"    return {body}")
        if self.chance(30):
            self.do_carry()
        self.emit(f"{new} = {f}({self.pick((self.index()[0], self.pick(pool).name))})")

    def do_list(self) -> None:
        """A list that grows, a comprehension; then put together."""
        if not (pool := self.arrays()):
            return
        parts, a = self.fresh("l"), self.pick(pool)
        if self.chance(50):
            self.emit(f"{parts} = []")
            for _ in range(self.draw.randrange(1, 4)):
                self.emit(f"{parts}.append({self.expression(a.dims, 1).text})")
        else:
            item = self.pick((a.name, f"{a.name}[q:]", f"{a.name} + q", f"{a.name}[q]"))
            self.emit(f"{parts} = [{item} for q in range({self.pick(('2', '3'))})]")
        uses = "np.stack({0}); {0}[0]; {0}[-1]; len({0}); np.concatenate({0}); np.array({0}); {0}[1]"
        use = self.pick(uses.split("; "))
        self.emit(f"{self.fresh('t')} = {use.format(parts)}")

    def condition(self) -> str | None:
        """A test on a number: Python's or a traced one."""
        if self.chance(45) and (ints := [v for v in self.scope if v.values is not None]):
            n = self.pick(ints).name
            return self.pick((f"{n} > 1", f"{n} % 2 == 0", f"{n} == 2", f"0 < {n} < 3", f"{n} >= {self.index()[0]}"))
        if any(v.name == "flag" for v in self.scope) and self.chance(40):
            return self.pick(("flag", "not flag"))
        if self.chance(15) and (shaped := [a for a in self.arrays() if a.dims]):
            return f"{self.pick(shaped).name}.shape[0] > {self.pick((1, 2, 3))}"
        e = self.expression((), 1)
        if is_array(e.sample) or (self.mode == "rough" and is_float(e.sample)):
            return None
        if self.chance(15) and (other := self.condition()):
            return f"{e.inner} > 1 {self.pick(('and', 'or'))} {other}"
        return f"{e.inner} {self.pick(('>', '<=', '!='))} {self.pick(('0', '1', '2'))}"
