"""Symbolic sizes: the canonical form keeps the value, what is proved holds, and the usual questions are answered."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tracebuf.ir.dims import (
    Dim,
    Expr,
    Sym,
    add,
    dim_max,
    dim_min,
    evaluate,
    floordiv,
    fold,
    mod,
    mul,
    neg,
    sub,
    substitute,
    sym,
    symbols,
    to_python,
)
from tracebuf.ir.facts import SizeFacts

SYMS = [
    Sym("n", "dim"), Sym("m", "dim"), Sym("k", "arg"), Sym("p", "arg", lo=0, hi=9), Sym("i", "iv"), Sym("c", "opaque"),
]  # fmt: skip
n, m, k, p, i, c = SYMS
N, M, K, P, I, C = map(sym, SYMS)

OPS: list[tuple[Callable[[Any, Any], Any], Callable[[int, int], int]]] = [
    (add, operator.add), (sub, operator.sub), (mul, operator.mul), (dim_min, min), (dim_max, max),
    (floordiv, operator.floordiv), (mod, operator.mod),
]  # fmt: skip


@dataclass(frozen=True)
class Tree:
    """An expression as written, to be evaluated without the canonical form."""

    op: int
    args: tuple[Any, ...] = field(default=())

    def dim(self) -> Dim:
        values = [a.dim() if isinstance(a, Tree) else sym(a) if isinstance(a, Sym) else a for a in self.args]
        out: Dim = values[0] if self.op < 0 else OPS[self.op][0](*values)
        return out

    def value(self, env: dict[Sym, int]) -> int:
        values = [a.value(env) if isinstance(a, Tree) else env[a] if isinstance(a, Sym) else a for a in self.args]
        return int(values[0]) if self.op < 0 else OPS[self.op][1](*values)



def trees(over: list[Sym], leaves: int) -> st.SearchStrategy[Tree]:
    def node(op: int, a: Tree, b: Tree) -> Tree:
        return Tree(op, (a, b))

    leaf = (st.sampled_from(over) | st.integers(-6, 6)).map(lambda x: Tree(-1, (x,)))
    return st.recursive(leaf, lambda t: st.builds(node, st.integers(0, 6), t, t), max_leaves=leaves)


TREES = trees(SYMS, 7)
OUTSIDE = trees([s for s in SYMS if s is not i], 4)  # without the loop variable
ENVS = st.fixed_dictionaries({s: st.integers(-9, 9) for s in SYMS})
LEGAL = st.fixed_dictionaries({
    s: st.integers(-9 if s.lo is None else s.lo, 9 if s.hi is None else s.hi) for s in SYMS if s is not i
})  # fmt: skip


def built(tree: Tree) -> Dim:
    try:
        return tree.dim()
    except ZeroDivisionError:
        assume(False)
        raise


def value_of(tree: Tree, env: dict[Sym, int]) -> int:
    try:
        return tree.value(env)
    except ZeroDivisionError:
        assume(False)
        raise


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(TREES, ENVS)
def test_canonical_form_keeps_the_value(tree: Tree, env: dict[Sym, int]) -> None:
    e, want = built(tree), value_of(tree, env)
    assert evaluate(e, env) == want
    names = {s.name: v for s, v in env.items()}
    assert eval(to_python(e, lambda s: s.name), {"min": min, "max": max}, names) == want
    assert want == fold(
        e, env.__getitem__, int, operator.add, operator.mul, lambda a, b: min(a, b), lambda a, b: max(a, b),
        operator.floordiv,
    )  # fmt: skip
    assert isinstance(e, int) == (not symbols(e))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(TREES, TREES, TREES, ENVS)
def test_substitution_commutes_with_evaluation(tree: Tree, x: Tree, y: Tree, env: dict[Sym, int]) -> None:
    e, by = built(tree), {n: built(x), i: built(y)}
    inner = {**env, n: value_of(x, env), i: value_of(y, env)}
    want, plain = value_of(tree, inner), value_of(tree, env)
    try:
        out = substitute(e, by)
    except ZeroDivisionError:
        assume(False)
    assert evaluate(out, env) == want
    assert evaluate(substitute(e, {**env}), {}) == plain


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(TREES, TREES, TREES)
def test_the_algebra_is_canonical(x: Tree, y: Tree, z: Tree) -> None:
    a, b, d = built(x), built(y), built(z)
    assert add(a, b) == add(b, a) and add(add(a, b), d) == add(a, add(b, d))
    assert mul(a, b) == mul(b, a) and mul(a, add(b, d)) == add(mul(a, b), mul(a, d))
    assert sub(a, a) == 0 and neg(neg(a)) == a and sub(add(a, b), b) == a
    assert dim_max(a, b) == dim_max(b, a) and dim_min(a, a) == a
    assert hash(add(a, b)) == hash(add(b, a)) and str(add(a, b)) == str(add(b, a))


@pytest.mark.parametrize(("e", "text"), [
    (N - 2, "n - 2"), (dim_max(N - 2, 0), "max(n - 2, 0)"), (dim_max(N, 2), "max(n, 2)"), (5 - I, "5 - i"),
    (N * M - 2 * N + 1, "n*m - 2*n + 1"), (N % 2, "n - 2*(n // 2)"), (-(-N // 2), "n - n // 2"), (7, "7"),
    (dim_min(N, I + 2), "min(i + 2, n)"), ((N + 1) // M, "(n + 1) // m"), (-((N + 1) // M), "-((n + 1) // m)"),
])  # fmt: skip
def test_text(e: Dim, text: str) -> None:
    assert str(e) == text


def test_equal_forms() -> None:
    assert (N * M) // N == M and ((N - 2) * (M - 2)) // (N - 2) == M - 2
    assert dim_max(N - 2, 0) + 2 == dim_max(2, N) and dim_max(2 * N, 2 * M) == 2 * dim_max(M, N)
    assert (N // 2) // 3 == N // 6 and (4 * N + 6) // 4 == N + 1 and (2 * N) % 2 == 0
    assert dim_min(dim_min(N, M), K) == dim_min(N, dim_min(K, M)) and dim_max(I + N, I + M) - I == dim_max(N, M)
    assert floordiv(-7, 2) == -4 and mod(-7, 2) == 1 and mod(7, -2) == -1
    with pytest.raises(ZeroDivisionError):
        floordiv(N, 0)
    with pytest.raises(TypeError, match="not known while tracing"):
        bool(N)


# -- facts -----------------------------------------------------------------------------------------------------


def test_sizes_are_at_least_two() -> None:
    f = SizeFacts()
    assert f.simplify(dim_max(N - 2, 0)) == N - 2 and f.less(0, N - 1) and not f.nonneg(N - 3)
    assert f.simplify(dim_min(dim_max(N - 1, 0), N)) == N - 1
    assert f.nonneg(N * M - N - M) and f.le(N, N * M) and not f.nonneg(N * M - 2 * N - 1)
    assert f.decide_nonneg(1 - N) is False and f.decide_nonneg(N - 3) is None
    assert f.interval(P + N) == (2, None) and f.interval(2 * P - 1) == (-1, 17)


def test_loops() -> None:
    f = SizeFacts()
    j = Sym("j", "iv")
    f.push_loop(i, 1, N - 2)
    assert f.less(I, N) and f.nonneg(I - 1) and f.nonneg(N - 3) and f.less(I + 1, N)
    f.push_loop(j, I, M - 1)
    assert f.nonneg(sym(j) - 1) and f.nonneg(M - 1 - I) and not f.less(sym(j), N)
    assert f.nonneg(N * M - 1 - (I * M + sym(j)))
    assert f.hoist(N - sym(j) - 1) == N - M and f.hoist(C) is None
    f.pop_loop()
    assert f.simplify(dim_max(I - 1, 0)) == I - 1 and not f.nonneg(M - 1 - I)
    f.pop_loop()
    assert not f.nonneg(N - 3)
    with pytest.raises(RuntimeError):
        f.pop_scope()


def test_loop_windows() -> None:
    f = SizeFacts()
    f.push_loop(i, 0, N - 1)
    stop, start = dim_min(I + 3, N), dim_max(I - 3, 0)
    assert f.less(start, stop) and f.le(stop, N) and f.equal(f.simplify(dim_max(sub(stop, start), 0)), sub(stop, start))
    assert f.le(sub(stop, start), 6) and f.nonneg(I // 2) and f.less(I // 2, N) and f.less(I % 3, 3)
    assert f.simplify(I % N) == I and f.less(C % N, N) and f.nonneg(C % N)
    assert f.hoist(K - I) == K - N + 1 and f.hoist(K - stop) == K - N


def test_guards() -> None:
    f = SizeFacts()
    f.push_loop(i, 0, K - 1)
    assert not f.less(I, N)
    f.assume_nonneg(N - K)
    assert f.less(I, N)
    f.pop_loop()
    assert f.le(K, N)  # it speaks of entry symbols, so it outlives the loop
    f.push_scope()
    f.assume_nonneg(K - 5)
    f.assume_equal(N, M)
    assert f.nonneg(N - 5) and f.equal(N * 2, N + M) and f.canon(M) == N
    f.pop_scope()
    assert not f.nonneg(N - 5) and not f.equal(N, M) and f.canon(M) == M
    f.assume_equal(K, N + 3)
    assert f.canon(K) == N + 3 and f.nonneg(K - 5)
    with pytest.raises(ValueError, match="entry guard"):
        f.assume_nonneg(I, entry=True)


def test_an_entry_guard_made_in_a_branch_does_not_lean_on_the_branch() -> None:
    f = SizeFacts()
    f.push_scope()
    f.assume_equal(M, N)
    f.assume_equal(M, K, entry=True)
    assert f.equal(K, N)
    f.pop_scope()
    assert f.equal(K, M) and not f.equal(K, N)


def test_hints_only_give_up_earlier() -> None:
    f = SizeFacts({n: 4, m: 7, k: 1})
    f.assume_nonneg(M - N)
    assert f.le(N, M) and not f.le(M, N) and not f.less(N, M)  # the second is false for the hints, the third unproved
    f.push_scope()
    f.assume_nonneg(N - M)  # a branch the hints do not take
    assert f.le(M, N) and f.equal(N, M)
    f.pop_scope()
    f.push_loop(i, 0, N - 1)
    assert f.less(I, N) and not f.nonneg(K - I)
    f.push_loop(p, 5, K)  # does not run for the hints
    assert f.nonneg(K - 5)
    f.pop_loop()
    f.pop_loop()
    assert f.hints == {n: 4, m: 7, k: 1}


def test_an_equality_keeps_what_is_known_of_other_symbols() -> None:
    """Deriving everything again took time that grows with the square of the number of guards."""
    f = SizeFacts()
    f.assume_nonneg(N - 7, entry=True)
    f.push_scope()
    f.assume_equal(M, N, entry=False)  # of M nothing is known
    assert f.nonneg(M - 7) and f.canon(M + N) == 2 * N
    f.assume_nonneg(9 - K, entry=False)
    f.assume_equal(N, K, entry=False)  # of K something is
    assert f.nonneg(K - 7) and f.nonneg(9 - M) and f.equal(M, K)
    f.pop_scope()
    assert f.nonneg(N - 7) and not f.nonneg(M - 7) and not f.equal(M, N)
    assert f.refreshed == 0


def test_a_branch_that_is_left_takes_back_what_it_told_only() -> None:
    """Everything was derived again after each branch, so that tracing took the cube of the number of branches."""
    f = SizeFacts()
    f.assume_nonneg(N - 7, entry=True)
    f.push_loop(i, 0, N - 1)
    for _ in range(5):
        f.push_scope()
        f.assume_equal(M, N, entry=False)
        f.assume_nonneg(K - M, entry=False)
        f.push_scope()
        f.assume_equal(M, K, entry=False)
        assert f.equal(N, K) and f.nonneg(K - 7)
        f.pop_scope()
        assert f.equal(N, M) and f.nonneg(K - 7) and not f.equal(N, K)
        f.pop_scope()
        assert not f.equal(N, M) and not f.nonneg(K - 7) and f.nonneg(N - 7) and f.less(I, N)
    f.pop_loop()
    assert f.refreshed == 0


def test_a_replaced_symbol_keeps_its_bounds() -> None:
    f = SizeFacts()
    f.assume_equal(N, K + 5)  # arguments go before dimensions
    assert f.canon(K) == N - 5
    g = SizeFacts()
    g.assume_equal(M, 2 * N - 6)
    assert g.nonneg(N - 4) and g.canon(M) == 2 * N - 6


FACTS = st.lists(st.tuples(st.booleans(), TREES, TREES), max_size=3)


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(TREES, FACTS, OUTSIDE, OUTSIDE, st.lists(LEGAL, min_size=1, max_size=6), st.data())
def test_what_is_proved_holds(
    question: Tree, facts: list[tuple[bool, Tree, Tree]], lower: Tree, last: Tree, envs: list[Any], data: st.DataObject
) -> None:
    """Each assignment is made consistent with the loop; where it breaks a fact it says nothing."""
    f = SizeFacts()
    lo, hi, e = built(lower), built(last), built(question)
    f.push_loop(i, lo, hi)
    for is_equal, a, b in facts:
        if is_equal:
            f.assume_equal(built(a), built(b), entry=False)
        else:
            f.assume_nonneg(sub(built(a), built(b)), entry=False)
    proved, sign, (least, most) = f.nonneg(e), f.decide_nonneg(e), f.interval(e)
    simple, hoisted, canonical, small = f.simplify(e), f.hoist(e), f.canon(e), f.within(e, -8, 8)
    for env in envs:
        try:
            first, final = evaluate(lo, env), evaluate(hi, env)
            if first > final:
                continue
            env = {**env, i: data.draw(st.integers(first, final))}
            told = [(q, a.value(env), b.value(env)) for q, a, b in facts]
            value = question.value(env)
        except ZeroDivisionError:
            continue
        if not all(x == y if q else x >= y for q, x, y in told):
            continue
        assert not small or -8 <= value <= 8
        assert value >= 0 or not (proved or sign)
        assert value < 0 or sign is not False
        assert (least is None or least <= value) and (most is None or value <= most)
        assert evaluate(simple, env) == evaluate(canonical, env) == value
        assert hoisted is None or evaluate(hoisted, env) < 0 or value >= 0


def test_symbols_and_order_do_not_depend_on_addresses() -> None:
    assert sorted(symbols(C + N * K), key=lambda s: s.serial) == [n, k, c]
    assert isinstance(N, Expr) and str(C + K + N) == "n + k + c"


def test_a_fact_of_many_minima_is_learnt_in_time() -> None:
    """Of each minimum either argument is at least that: what follows is two to the power of their number."""
    facts, pairs = SizeFacts(), [[sym(Sym("dim", f"d{j}", lo=0)) for j in (k, k + 1)] for k in range(0, 48, 2)]
    facts.assume_nonneg(sub(functools.reduce(add, [dim_min(*pair) for pair in pairs]), 100), entry=False)
    assert facts.nonneg(sub(functools.reduce(add, [a for a, _ in pairs]), 100))
