"""Symbolic sizes: immutable, canonical integer expressions over argument sizes, integer arguments and loop variables.

`Expr` is a polynomial `{monomial: coefficient}` whose monomials are sorted products of atoms: a symbol (`Sym`), `Min`,
`Max` or `FloorDiv` (a remainder is `a - b*(a//b)`). Two expressions that are equal here evaluate equally everywhere, so
most questions about shapes are answered by `==`. Anything constant is a plain `int`; `Dim` is either.

Why: one compilation serves all sizes, every pass compares sizes, and the comparison must cost microseconds.

Limitations: the bounds of a symbol, the loops around and the guards at entry are not known here; `ir/facts.py` knows
them, and proves what the canonical form cannot. Identities of `//` hold where the divisor is not zero.

MLIR counterpart: `AffineExpr` (mlir/include/mlir/IR/AffineExpr.h), with products of symbols, `min` and `max` added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from math import gcd
from typing import Any, Literal, TypeVar

__all__ = [
    "Atom", "Dim", "Expr", "FloorDiv", "Max", "Min", "Mono", "Sym", "add", "constant_part", "dim_max", "dim_min",
    "evaluate", "floordiv", "fold", "from_terms", "mod", "mul", "neg", "only_symbol", "product", "replace_atom", "sub",
    "substitute", "sym", "symbols", "terms_of", "to_python",
]  # fmt: skip

Kind = Literal["dim", "arg", "iv", "opaque", "unnamed"]
T = TypeVar("T")
_Key = tuple[Any, ...]  # nested tuples of ints, comparable with each other

_serial = count()  # gives symbols their creation order, which is the only order anything here depends on
_MAX_FLAT = 8  # min/max are not flattened into one another beyond this many arguments


class Sym:
    """A size symbol, equal only to itself; `lo` and `hi` are inclusive constant bounds, and a "dim" has a `lo` of 2."""

    __slots__ = ("name", "kind", "lo", "hi", "serial", "key", "expr", "symbols")

    def __init__(self, name: str, kind: Kind, lo: int | None = None, hi: int | None = None) -> None:
        self.name = name
        self.kind: Kind = kind
        self.lo = 2 if lo is None and kind == "dim" else lo
        self.hi = hi
        self.serial = next(_serial)
        self.key: _Key = (0, self.serial)
        self.symbols: frozenset[Sym] = frozenset((self,))
        self.expr = Expr({(self,): 1})

    def __hash__(self) -> int:  # by creation, so that the order of a set does not depend on addresses
        return self.serial

    def __repr__(self) -> str:
        return self.name


class _Atom:
    """What `Min`, `Max`, `FloorDiv` share: structural equality by a cached key. `dim_min`, `floordiv` .. make them."""

    __slots__ = ("args", "key", "symbols", "_hash")
    tag = 0

    def __init__(self, args: tuple[Dim, ...]) -> None:
        self.args = args
        self.key: _Key = (self.tag, tuple(map(_dim_key, args)))
        self.symbols: frozenset[Sym] = frozenset().union(*map(symbols, args))
        self._hash = hash(self.key)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, _Atom) and self._hash == other._hash and self.key == other.key)

    def __repr__(self) -> str:
        return _render_atom(self, lambda s: s.name)  # type: ignore[arg-type]


class Min(_Atom):
    """The least of `args`, two or more, sorted, without a common part."""

    __slots__ = ()
    tag = 1


class Max(_Atom):
    """The greatest of `args`, two or more, sorted, without a common part."""

    __slots__ = ()
    tag = 2


class FloorDiv(_Atom):
    """`args[0] // args[1]` with Python's rounding (down); a constant divisor is positive and at least 2."""

    __slots__ = ()
    tag = 3


Atom = Sym | Min | Max | FloorDiv
Mono = tuple[Atom, ...]


class Expr:
    """A non-constant canonical polynomial. Not made directly: `sym` and the functions of this module return `Dim`s."""

    __slots__ = ("terms", "settled", "_hash", "_symbols", "_key", "_sums")

    def __init__(self, terms: dict[Mono, int]) -> None:
        self.terms = terms  # never empty, no zero coefficient, never only the constant; not to be changed
        self.settled: object = None  # by whose substitutions it is known not to change
        self._hash: int | None = None
        self._symbols: frozenset[Sym] | None = None
        self._key: _Key | None = None
        self._sums: dict[int, Expr] | None = None  # with constants, so that equal ones are one object

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((frozenset(self.terms), sum(self.terms.values())))  # whose own hashes the dict keeps
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Expr) and self.terms == other.terms)

    def __bool__(self) -> bool:
        raise TypeError(f"the truth of the symbolic size {self} is not known while tracing; ask Facts")

    def __add__(self, other: Dim) -> Dim:
        return add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Dim) -> Dim:
        return sub(self, other)

    def __rsub__(self, other: Dim) -> Dim:
        return sub(other, self)

    def __mul__(self, other: Dim) -> Dim:
        return mul(self, other)

    __rmul__ = __mul__

    def __neg__(self) -> Dim:
        return neg(self)

    def __floordiv__(self, other: Dim) -> Dim:
        return floordiv(self, other)

    def __rfloordiv__(self, other: Dim) -> Dim:
        return floordiv(other, self)

    def __mod__(self, other: Dim) -> Dim:
        return mod(self, other)

    def __rmod__(self, other: Dim) -> Dim:
        return mod(other, self)

    def __str__(self) -> str:
        return to_python(self, lambda s: s.name)

    __repr__ = __str__


Dim = int | Expr


# -- building --------------------------------------------------------------------------------------------------------


def sym(s: Sym) -> Expr:
    """The expression that is the symbol."""
    return s.expr


def only_symbol(e: Dim) -> Sym | None:
    """The symbol that the expression is, if it is nothing else."""
    if isinstance(e, int) or len(e.terms) > 1:
        return None
    ((m, c),) = e.terms.items()
    return m[0] if c == 1 and len(m) == 1 and isinstance(m[0], Sym) else None


def from_terms(terms: dict[Mono, int]) -> Dim:
    """The Dim of a dictionary of terms, which is taken over; zero coefficients are dropped."""
    for c in terms.values():
        if not c:
            terms = {m: c for m, c in terms.items() if c}
            break
    if not terms:
        return 0
    return terms[()] if len(terms) == 1 and () in terms else Expr(terms)


def terms_of(e: Dim) -> dict[Mono, int]:
    """The terms of a Dim, to be read only."""
    return e.terms if isinstance(e, Expr) else {(): e} if e else {}


def constant_part(e: Dim) -> int:
    """The coefficient of the empty monomial."""
    return e.terms.get((), 0) if isinstance(e, Expr) else e


def _plus_const(a: Expr, c: int) -> Expr:
    """a + c, which is never constant."""
    if not c:
        return a
    if a._sums is None:
        a._sums = {}
    elif (known := a._sums.get(c)) is not None:
        return known
    terms = dict(a.terms)
    k = c + terms.get((), 0)
    if k:
        terms[()] = k
    else:
        del terms[()]
    made = a._sums[c] = Expr(terms)
    return made


def _combine(a: Expr, b: Expr, k: int) -> Dim:
    """a + k*b for k of 1 or -1."""
    terms = dict(a.terms)
    for m, c in b.terms.items():
        s = terms.get(m, 0) + k * c
        if s:
            terms[m] = s
        else:
            del terms[m]
    if not terms:
        return 0
    return terms[()] if len(terms) == 1 and () in terms else Expr(terms)


def add(a: Dim, b: Dim) -> Dim:
    """a + b."""
    if isinstance(a, int):
        return a + b if isinstance(b, int) else _plus_const(b, a)
    return _plus_const(a, b) if isinstance(b, int) else _combine(a, b, 1)


def sub(a: Dim, b: Dim) -> Dim:
    """a - b."""
    if isinstance(b, int):
        return a - b if isinstance(a, int) else _plus_const(a, -b)
    return add(a, neg(b)) if isinstance(a, int) else _combine(a, b, -1)


def neg(a: Dim) -> Dim:
    """-a."""
    return -a if isinstance(a, int) else Expr({m: -c for m, c in a.terms.items()})


def _key(a: Atom) -> _Key:
    return a.key


def mul(a: Dim, b: Dim) -> Dim:
    """a * b, expanded."""
    if isinstance(a, int):
        if isinstance(b, int):
            return a * b
        a, b = b, a
    if isinstance(b, int):
        if b == 1:
            return a
        return Expr({m: c * b for m, c in a.terms.items()}) if b else 0
    terms: dict[Mono, int] = {}
    for m, c in a.terms.items():
        for n, d in b.terms.items():
            p = tuple(sorted(m + n, key=_key)) if m and n else m or n
            terms[p] = terms.get(p, 0) + c * d
    return from_terms(terms)


def product(factors: Iterable[Dim]) -> Dim:
    """All of them multiplied; 1 for none."""
    total: Dim = 1
    for factor in factors:
        total = mul(total, factor)
    return total


def floordiv(a: Dim, b: Dim) -> Dim:
    """a // b with Python's rounding. ZeroDivisionError if b is the constant 0."""
    if isinstance(b, int):
        if isinstance(a, int):
            return a // b
        if b == 0:
            raise ZeroDivisionError("integer division or modulo by zero")
        return _div_const(a, b) if b > 0 else _div_const(neg(a), -b)
    if isinstance(a, int) and a == 0:
        return 0
    quotient, rest = _divide(a, b)
    if rest == 0:
        return quotient
    return add(quotient, Expr({(FloorDiv((rest, b)),): 1}))


def _div_const(a: Dim, b: int) -> Dim:
    """a // b for b > 0: multiples of b come out of the coefficients, common factors cancel, nested divisions merge."""
    if isinstance(a, int) or b == 1:
        return a // b if isinstance(a, int) else a
    out = {m: c // b for m, c in a.terms.items()}
    rest = from_terms({m: c % b for m, c in a.terms.items()})
    if isinstance(rest, int):  # 0 <= rest < b
        return from_terms(out)
    g = b
    for m, c in rest.terms.items():
        if m:
            g = gcd(g, c)
    if g > 1:  # the constant rounds down
        rest, b = from_terms({m: c // g for m, c in rest.terms.items()}), b // g
        return add(from_terms(out), _div_const(rest, b))
    single = [m for m in rest.terms if m]
    if len(single) == 1 and len(single[0]) == 1 and rest.terms[single[0]] == 1:
        inner = single[0][0]
        if isinstance(inner, FloorDiv) and isinstance(inner.args[1], int):
            d = inner.args[1]
            return add(from_terms(out), _div_const(add(inner.args[0], d * constant_part(rest)), b * d))
    return add(from_terms(out), Expr({(FloorDiv((rest, b)),): 1}))


def _without(m: Mono, d: Mono) -> Mono | None:
    """The monomial m / d, or None."""
    left = list(m)
    for atom in d:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def _divide(a: Dim, b: Expr) -> tuple[Dim, Dim]:
    """(q, r) with a == b*q + r: by terms for b of one term, else the exact quotient or (0, a)."""
    lead = max(b.terms, key=_mono_key)
    lead_coef = b.terms[lead]
    if len(b.terms) == 1:
        taken: dict[Mono, int] = {}
        for m, c in terms_of(a).items():
            n = _without(m, lead)
            if n is not None and c // lead_coef:
                taken[n] = c // lead_coef
        q = from_terms(taken)
        return q, sub(a, mul(b, q))
    q, r = 0, a
    while r != 0:
        top = max(terms_of(r), key=_mono_key)
        n, c = _without(top, lead), terms_of(r)[top]
        if n is None or c % lead_coef:
            return 0, a
        step = from_terms({n: c // lead_coef})
        q, r = add(q, step), sub(r, mul(b, step))
    return q, 0


def mod(a: Dim, b: Dim) -> Dim:
    """a % b with Python's sign (that of b). ZeroDivisionError if b is the constant 0."""
    return sub(a, mul(b, floordiv(a, b)))


# -- min and max -----------------------------------------------------------------------------------------------------


def dim_min(*xs: Dim) -> Dim:
    """The least of one or more."""
    return _extreme(Min, xs)


def dim_max(*xs: Dim) -> Dim:
    """The greatest of one or more."""
    return _extreme(Max, xs)


def _extreme(cls: type[Min] | type[Max], xs: Iterable[Dim]) -> Dim:
    pick = min if cls is Min else max
    args = _distinct(xs, pick)
    out: Dim = 0
    while len(args) > 1:
        common = _common(args)
        if common != 0:
            out = add(out, common)
            args = [sub(a, common) for a in args]
        flat = _distinct((b for a in args for b in _flatten(cls, a)), pick)
        if len(flat) > _MAX_FLAT or (len(flat) == len(args) and flat == args):
            break
        args = flat
    if len(args) == 1:
        return add(out, args[0])
    args.sort(key=_shape_key)
    shift = constant_part(args[0])
    args = [sub(a, shift) for a in args]
    g = gcd(*(c for a in args for c in terms_of(a).values()))
    args = [from_terms({m: c // g for m, c in terms_of(a).items()}) for a in args] if g > 1 else args
    return add(out, add(Expr({(cls(tuple(args)),): max(g, 1)}), shift))


def _distinct(xs: Iterable[Dim], pick: Callable[[int, int], int]) -> list[Dim]:
    """The arguments without those that differ from a better one by a constant."""
    best: dict[Dim, int] = {}
    for x in xs:
        c = constant_part(x)
        part = sub(x, c)
        best[part] = pick(best[part], c) if part in best else c
    return [add(part, c) for part, c in best.items()]


def _common(args: list[Dim]) -> Dim:
    """The non-constant terms that all arguments have with the same coefficient."""
    rest = [terms_of(a) for a in args[1:]]
    return from_terms({m: c for m, c in terms_of(args[0]).items() if m and all(r.get(m) == c for r in rest)})


def _flatten(cls: type[Min] | type[Max], a: Dim) -> Iterator[Dim]:
    """max(k*max(x, y) + z, ..) has the arguments k*x + z and k*y + z; a negative k turns a min into a max."""
    other = Max if cls is Min else Min
    if isinstance(a, Expr):
        inner = [m[0] for m, c in a.terms.items() if len(m) == 1 and type(m[0]) is (cls if c > 0 else other)]
        if len(inner) == 1:
            atom = inner[0]
            assert isinstance(atom, _Atom)
            k = a.terms[(atom,)]
            rest = from_terms({m: c for m, c in a.terms.items() if m != (atom,)})
            yield from (add(rest, mul(k, x)) for x in atom.args)
            return
    yield a


# -- keys and order --------------------------------------------------------------------------------------------------


def _mono_key(m: Mono) -> _Key:
    return (len(m), tuple(a.key for a in m))


def _dim_key(e: Dim) -> _Key:
    """A structural key, equal for equal Dims."""
    if isinstance(e, int):
        return ((0, (), e),) if e else ()
    if e._key is None:
        e._key = tuple(sorted((*_mono_key(m), c) for m, c in e.terms.items()))
    return e._key


def _shape_key(e: Dim) -> _Key:
    """The key of the non-constant part: among the arguments of a min or max it is unique."""
    return tuple(t for t in _dim_key(e) if t[0])


# -- reading ---------------------------------------------------------------------------------------------------------


def symbols(e: Dim) -> frozenset[Sym]:
    """All symbols of e, those inside atoms too."""
    if isinstance(e, int):
        return frozenset()
    if e._symbols is None:
        e._symbols = frozenset().union(*[a.symbols for m in e.terms for a in m])
    return e._symbols


def _remake(a: Atom, env: Mapping[Sym, Dim]) -> Dim:
    if isinstance(a, Sym):
        return env.get(a, a.expr)
    args = [substitute(x, env) for x in a.args]
    if isinstance(a, FloorDiv):
        return floordiv(args[0], args[1])
    return _extreme(type(a), args)


def substitute(e: Dim, env: Mapping[Sym, Dim]) -> Dim:
    """e with all symbols of env replaced at once, canonical again."""
    if isinstance(e, int) or not any(s in env for s in symbols(e)):
        return e
    kept: dict[Mono, int] = {}
    out: Dim = 0
    for m, c in e.terms.items():
        if not any(s in env for a in m for s in a.symbols):
            kept[m] = c
            continue
        p: Dim = c
        for a in m:
            p = mul(p, _remake(a, env))
        out = add(out, p)
    return add(from_terms(kept), out)


def replace_atom(e: Expr, atom: Atom, by: Dim) -> Dim:
    """e with an atom of its own monomials (not of atoms inside) replaced."""
    kept: dict[Mono, int] = {}
    out: Dim = 0
    for m, c in e.terms.items():
        if atom not in m:
            kept[m] = c
            continue
        p = from_terms({tuple(a for a in m if a != atom): c})
        for _ in range(m.count(atom)):
            p = mul(p, by)
        out = add(out, p)
    return add(from_terms(kept), out)


def evaluate(e: Dim, env: Mapping[Sym, int]) -> int:
    """The exact value. KeyError for a symbol without value, ZeroDivisionError where a divisor is 0."""
    if isinstance(e, int):
        return e
    total = 0
    for m, c in e.terms.items():
        for a in m:
            c *= env[a] if isinstance(a, Sym) else _evaluate_atom(a, env)
        total += c
    return total


def _evaluate_atom(a: Min | Max | FloorDiv, env: Mapping[Sym, int]) -> int:
    values = [evaluate(x, env) for x in a.args]
    if isinstance(a, FloorDiv):
        return values[0] // values[1]
    return min(values) if isinstance(a, Min) else max(values)


def _ordered(e: Expr) -> list[tuple[Mono, int]]:
    """The terms as shown and computed: by degree, then creation, a positive one in front, the constant last.

    A constant that would cancel one inside a min or max goes back in: max(n - 2, 0) + 2 is shown as max(n, 2)."""
    terms = sorted(e.terms.items(), key=lambda t: (-len(t[0]), _mono_key(t[0])))
    const = constant_part(e)
    for i, (m, c) in enumerate(terms):
        if const and c == 1 and len(m) == 1 and isinstance(m[0], (Min, Max)):
            if any(constant_part(x) == -const for x in m[0].args):
                shown = type(m[0])(tuple(add(x, const) for x in m[0].args))
                terms[i] = ((shown,), 1)
                terms.pop()
                break
    first = next((i for i, (m, c) in enumerate(terms) if c > 0), 0)
    return [terms[first], *terms[:first], *terms[first + 1 :]]


def to_python(e: Dim, name_of: Callable[[Sym], str]) -> str:
    """Python source of e (with `min`, `max`, `//`), in an order that depends on the creation of symbols only."""
    if isinstance(e, int):
        return str(e)
    out = ""
    for m, c in _ordered(e):
        factors = [f"({_render_atom(a, name_of)})" if isinstance(a, FloorDiv) and len(m) + (abs(c) != 1) > 1
                   else _render_atom(a, name_of) for a in m]  # fmt: skip
        if abs(c) != 1 or not m:
            factors.insert(0, str(abs(c)))
        sign = (" - " if c < 0 else " + ") if out else "-" if c < 0 else ""
        text = "*".join(factors)
        out += sign + (f"({text})" if sign == "-" and isinstance(m[0], FloorDiv) and len(factors) == 1 else text)
    return out


def _render_atom(a: Atom, name_of: Callable[[Sym], str]) -> str:
    if isinstance(a, Sym):
        return name_of(a)
    if isinstance(a, FloorDiv):
        top, bottom = (to_python(x, name_of) for x in a.args)
        return f"{_bracket(a.args[0], top)} // {_bracket(a.args[1], bottom)}"
    return f"{'min' if isinstance(a, Min) else 'max'}({', '.join(to_python(x, name_of) for x in reversed(a.args))})"


def _bracket(e: Dim, text: str) -> str:
    simple = (isinstance(e, int) and e >= 0) or (isinstance(e, Expr) and text.isidentifier())
    return text if simple else f"({text})"


def fold(
    e: Dim,
    leaf: Callable[[Sym], T],
    const: Callable[[int], T],
    add: Callable[[T, T], T],
    mul: Callable[[T, T], T],
    minimum: Callable[[T, T], T],
    maximum: Callable[[T, T], T],
    floordiv: Callable[[T, T], T],
) -> T:
    """Compute e bottom-up with the given operations, in the order it prints in. To subtract is to add -1 times."""

    def atom(a: Atom) -> T:
        if isinstance(a, Sym):
            return leaf(a)
        values = [run(x) for x in a.args]
        op = floordiv if isinstance(a, FloorDiv) else minimum if isinstance(a, Min) else maximum
        out = values[0]
        for v in values[1:]:
            out = op(out, v)
        return out

    def term(m: Mono, c: int) -> T:
        parts = [atom(a) for a in m]
        if c != 1 or not m:
            parts.append(const(c))
        out = parts[0]
        for p in parts[1:]:
            out = mul(out, p)
        return out

    def run(x: Dim) -> T:
        if isinstance(x, int):
            return const(x)
        (m, c), *rest = _ordered(x)
        out = term(m, c)
        for m, c in rest:
            out = add(out, term(m, c))
        return out

    return run(e)
