"""Callees that are expressions in disguise: operator.*, getattr and its kin, text (rules F1, F2, X1)."""

from __future__ import annotations

import functools
import itertools
import operator

import numpy as np
import pytest

from tests.support.agreement import agree, program, refused
from tests.support.params import one_in

A = np.arange(6.0) + 1
MODE = "Sum-Of"

FOUND = [
    "operator.add(a, n), operator.mul(a, a), operator.lt(a, 2), operator.neg(a), operator.truediv(a, n)",
    "operator.floordiv(n, 2), operator.mod(n, 2), operator.and_(n, 2), operator.eq(n, 3), operator.not_(n)",
    "operator.pow(a, 2), operator.matmul(a, a), operator.getitem(a, 0), operator.abs(-a), operator.pos(n)",
    "operator.itemgetter(1)(a), operator.itemgetter(0, 2)(a), operator.attrgetter('shape')(a), operator.truth(n)",
    "operator.attrgetter('T.shape')(a), operator.methodcaller('sum')(a), operator.methodcaller('max', axis=0)(a)",
    "operator.iadd(a, 1) is a, a", "operator.contains((1, 2, 3), n), operator.index(3), operator.xor(n, 1)",
    "operator.lshift(n, 2), operator.invert(n), operator.not_(a[0] > 0), operator.add(a)", "operator.imul(n, 2)",
    "getattr(np, 'sin')(a), getattr(a, 'sum')(), getattr(a, 'foo', 3), getattr(a, 'T')", "getattr(a, 'foo')",
    "getattr(n, 'real'), getattr(a[0], 'dtype')", "getattr(a, 3)", "hasattr(a, 'shape'), hasattr(a, 'foo')",
    "hasattr(n, 'shape'), hasattr(np, 'sin'), hasattr(np, 'no')", "callable(np.sin), callable(a), callable(n)",
    "callable(lambda x: x), callable(a.sum), callable(functools.partial(np.sin))",
    "a.sum() if MODE.lower().split('-')[0] == 'sum' else a",
    "a if MODE.upper().startswith('SU') and MODE.endswith('f') and 'm-' in MODE else -a",
    "a * len('abc') + ord('a') + len('a,b'.split(',')) + int('3') + float('1.5')",
    "a if '%s-%d' % (MODE, 3) == 'Sum-Of-3' and '{}:{k}'.format(MODE, k=2) == 'Sum-Of:2' else -a",
    "a if '-'.join(['a', 'b']) == 'a-b' and chr(65) == 'A' and f'{3:03d}' == '003' and hex(255) == '0xff' else -a",
    "'abc'[1] == 'b', 'abc'[::-1], 'abc' * 2, 'a' + 'b', 'abc'.find('c'), 'a' < 'b', 'x'.isdigit(), str(3.5)",
    "repr('x'), ascii('x'), format(2.5, '.3f'), bin(5), '%5.2f|%r' % (2.0, 'x')", "'abc'.nothing", "'%d' % 'x'",
]  # fmt: skip


@pytest.mark.parametrize("text", one_in(8, FOUND))
def test_expressions(text: str) -> None:
    names = {"operator": operator, "functools": functools, "itertools": itertools, "MODE": MODE}
    agree(program(f"def f(a, n):\n    return {text}", **names), A, 3)


MESSAGES = [
    "'bad %d of %s, %.2f' % (n, a[0], a[1])", "'bad {} {:.3f}'.format(n, a[0])", "'bad ' + str(n) + '!'",
    "f'{n!r} {a[0]:.2e} {{}}'", "'{1} {0} {k}'.format(n, 2, k=a[1])", "'100%% of %i' % n", "str(a[0])",
    "'x' + str(n > 1)",
    "'%s' % (n,)", "'%g' % a[1]", "f'{MODE:>10}' + f'{n:4d}'",
]  # fmt: skip


@pytest.mark.parametrize("text", one_in(8, MESSAGES))
def test_numbers_in_messages(text: str) -> None:
    f = program(f"def f(a, n):\n    if a[0] > 0:\n        raise ValueError({text})\n    return a", MODE=MODE)
    agree(f, -A, 3)
    error = agree(f, A, 3)
    with pytest.raises(ValueError) as ours:
        __import__("tracebuf").bufferize(f)(A, 3)
    assert str(ours.value) == str(error)


LOOKED_AT = [
    "a if f'{n}' == '3' else -a", "a if str(n) in ('3', '4') else -a", "a if 'x' < str(n) else -a",
    "a if '3' in f'{n}' else -a", "a * len(f'{n}')", "f'{n}'[0]", "int(str(n))", "{'3': a, '45': -a}[str(n)]",
]  # fmt: skip


@pytest.mark.parametrize("text", LOOKED_AT)
def test_such_text_is_looked_at(text: str) -> None:
    f = program(f"def f(a, n):\n    return {text}")
    for n in (3, 45):
        agree(f, A, n)


@pytest.mark.parametrize("text", ["a if (f'{n}', 1) == ('3', 1) else -a", "'%-5d' % n == '3    '"])
def test_such_text_is_not_looked_at(text: str) -> None:
    assert refused(program(f"def f(a, n):\n    return {text}"), A, 3).location is not None


@pytest.mark.parametrize("text", ["str(n).upper()", "(a, str(n))", "f'{n}' * 2", "'{!r}'.format(n)"])
def test_such_text_is_returned(text: str) -> None:
    agree(program(f"def f(a, n):\n    return {text}"), A, 3)


class Scaled:
    def __init__(self, k):
        self.k = k

    def __call__(self, a):
        return a * self.k

    def plus(self, a):
        return a + self.k


class Kept:
    k = 1


SCALED, KEPT = Scaled(2.0), Kept()


def which_are_callable(a):
    made, kept = Scaled(a.sum()), Kept()
    return (
        *map(callable, (SCALED, KEPT, SCALED.plus, SCALED.k, Scaled, SCALED.__call__, len, np.sin)),
        *map(callable, (made, kept, made.plus, a, a.sum, [].append, lambda: 1, functools.partial(max, 1), None, "x")),
    )


def called_where_it_can_be(a, g):
    return g(a) if callable(g) else a


def test_callable_of_objects() -> None:
    """It was False of the user's objects."""
    agree(which_are_callable, A)
    for g in (SCALED, KEPT, np.sin, None):
        agree(called_where_it_can_be, A, g)
