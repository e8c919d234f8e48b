"""Several orders of decisions: the cheapest is kept, MLIR's is among them, and no order is tried for nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.random_programs import random_func
from tests.support.rules import double, finish, maker, out_of_place
from tracebuf import bufferize
from tracebuf.analysis.cost.choose import analyze as auto
from tracebuf.analysis.cost.cost import CostModel
from tracebuf.analysis.cost.several_orders import ORDERS
from tracebuf.analysis.one_shot.chosen import illegal
from tracebuf.analysis.one_shot.dataflow import Dataflow
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.analysis.one_shot.one_shot import OneShot, one_shot
from tracebuf.ir.func import Func
from tracebuf.ir.types import F64
from tracebuf.options import IMPROVEMENTS, Options
from tracebuf.pipeline import analyze

N = 16


def doubled_part() -> Func:
    """Half of an array doubled, the array still needed: bottom-up copies the half before, others need no copy."""
    m = maker(a=(N,))
    (a,) = m.args
    part = m.view(a, (0, 8, 1))
    return finish(m, a, double(m, part, part))


def two_big_one_small() -> Func:
    """An insert into a new array keeps what was put into it before if that is decided first."""
    m = maker(a=(N,), b=(N,), c=(N,))
    a, b, c = m.args
    new = m.store(a, b, (0, N, 1))
    part = m.view(c, (4, 4, 1))
    m.store(new, c, (0, N, 1))
    return finish(m, b, new, part)


def bytes_of(f: Func, analysis: Analysis) -> float:
    return CostModel(Dataflow(f)).cost(analysis).bytes


def names(f: Func, analysis: Analysis) -> list[str]:
    uses = (use for op in f.walk() for use in op.tensor_uses() if not analysis.is_in_place(use))
    return [f"{use.op.name.split('.')[1]}#{use.index}" for use in uses]


def test_the_cheapest_order_is_kept() -> None:
    f = doubled_part()
    assert out_of_place(f) == ["extract_slice#0"]
    assert names(f, auto(f)) == ["generic#2"]
    assert bytes_of(f, one_shot(f)) == 3 * 64 and bytes_of(f, auto(f)) == 64


def test_each_order_by_its_name() -> None:
    f = two_big_one_small()
    costs = {order: bytes_of(f, one_shot(f, heuristic=order)) for order in ORDERS}
    assert bytes_of(f, auto(f)) == min(costs.values())


def test_inserts_first() -> None:
    """The insert's destination is in place though a read of it was decided after it stands later."""
    m = maker(a=(N,), b=(N, N))
    a, b = m.args
    row = m.view(b, (0, 1, 1), (0, N, 1), dims=(1,))
    new = m.store(double(m, row, a), b, (1, 1, 1), (0, N, 1), dims=(1,))
    f = finish(m, new, double(m, row, m.empty(N)))
    assert out_of_place(f, heuristic="insert-slice-first") == []


def test_nothing_is_tried_where_nothing_can_be_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []
    run = OneShot.run

    def counted(self: OneShot, heuristic: str, seed: int = 0) -> OneShot:
        tried.append(heuristic)
        return run(self, heuristic, seed)

    monkeypatch.setattr(OneShot, "run", counted)
    m = maker(a=(N,), x=F64)
    auto(finish(m, m.insert(m.args[1], m.args[0], 0)))
    m = maker(a=(N,), x=F64)  # the argument is returned as it was: in no order is the insert in place
    auto(finish(m, m.insert(m.args[1], m.args[0], 0), m.args[0]))
    assert tried == ["bottom-up"] * 2
    auto(doubled_part())
    assert len(tried) > 3


@pytest.mark.slow
def test_not_more_copies_than_mlir_on_any_way() -> None:
    for seed in range(60):
        f = random_func(seed, ops=6 + seed % 14)
        ours, theirs = auto(f), one_shot(f, compat="mlir")
        model = CostModel(ours.flow)
        assert not model.exceeds(model.cost(ours), model.cost(theirs)), f"seed {seed}\n{f!r}"


@pytest.mark.slow
def test_dearer_than_bottom_up_only_where_that_copies_more_often_than_mlir() -> None:
    better = 0
    for seed in range(100):
        f = random_func(seed, ops=3 + seed % 12)
        found, plain = auto(f), one_shot(f)
        model = CostModel(plain.flow)
        more = model.exceeds(model.cost(plain), model.cost(one_shot(f, compat="mlir")))
        assert (more or bytes_of(f, found) <= bytes_of(f, plain)) and not illegal(found), f"seed {seed}\n{f!r}"
        better += bytes_of(f, found) < bytes_of(f, plain)
    assert better


def test_options() -> None:
    f = doubled_part()
    assert names(f, analyze(f, Options())) == ["generic#2"]
    assert names(f, analyze(f, Options(heuristic="bottom-up"))) == ["extract_slice#0"]
    assert names(f, analyze(f, Options(improvements=IMPROVEMENTS - {"several-orders"}))) == ["extract_slice#0"]
    assert names(f, analyze(f, Options(compat="mlir"))) == ["extract_slice#0"]


@pytest.mark.parametrize("heuristic", ["auto", "insert-slice-first"])
def test_numpy_functions(heuristic: Any) -> None:
    @bufferize(heuristic=heuristic)
    def f(a: np.ndarray) -> Any:
        part = a[:4]
        old = a.copy()
        a[2:6] = part * 2
        return old, part + 1

    got, expected = np.arange(8.0), np.arange(8.0)
    for x, y in zip(f(got), f.__wrapped__(expected), strict=True):
        np.testing.assert_array_equal(x, y)
    np.testing.assert_array_equal(got, expected)
