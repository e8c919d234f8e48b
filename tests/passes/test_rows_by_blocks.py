"""Ops over the same rows run block of rows by block of rows (optimize/buffers/rows_by_blocks.py)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import program
from tests.support.params import one_in
from tracebuf import bufferize
from tracebuf.optimize.buffers import rows_by_blocks
from tracebuf.options import Options
from tracebuf.testing import ladder

R = np.random.default_rng(0)
BLOCKED = {
    "softmax": "e = np.exp(x - x.max(axis=1, keepdims=True))\n    return e / e.sum(axis=1, keepdims=True)",
    "normalised": "d = x - x.mean(axis=1, keepdims=True)\n    v = (d * d).mean(axis=1, keepdims=True)\n"
    "    return d / np.sqrt(v + 1e-5) * r[0] + r[1]",
    "several consumers": "w = np.sqrt(x * x + y * y)\n    x += w * s\n    y -= np.where(w > 1, w, 0) * s",
    "vectors": "w = np.sqrt(u * u + v * v)\n    u += w * s\n    v -= np.where(w > 1, w, 0) * s",
    "two results": "return x + y, x - y, x.sum(axis=1)",
    "results in turn": "a = x + y\n    b = a * x\n    c = b - a\n    return a, c",
    "three axes": "m = t.max(axis=2)\n    return t - m[:, :, None], m",
    "of a view": "z = x[2:]\n    return z - z.mean(axis=1, keepdims=True)",
    "another type": "m = x.astype(np.float32)\n    x += m\n    return m.sum(axis=1)",
    "in a loop": "for k in range(3):\n        w = x * y\n        x += w * s\n        y -= w\n    return x",
    "vectors beside rows": "w = u * 2\n    v += w\n    return np.cos(w) + v",
    "scaled": "q = x * s\n    n = np.abs(q).sum(axis=1)\n    return q / n[:, None]",
}
KEPT = {
    "one op": "return x * 2 + y",
    "columns": "return x - x.mean(axis=0)",
    "transposed": "y[:] = x.T[: y.shape[0], : y.shape[1]] * s if x.shape[0] == x.shape[1] else y\n    return x - 1",
    "shifted": "y[1:] = x[1:] * s\n    y[:-1] += y[1:]",
    "a total between": "x += y\n    x -= x.sum()",
    "two lengths": "u += 1\n    return x * 2",
    "places": "x += np.arange(x.shape[0])[:, None]",
}


def args(n: int, m: int, s: float = 0.5) -> tuple[Any, ...]:
    x, y, u, v, r, t = (R.random(k) for k in ((n, m), (n, m), n, n, (2, m), (n, 3, m)))
    return x, y, u, v, r, t, s


def function(body: str) -> Any:
    return program(f"def f(x, y, u, v, r, t, s):\n    {body}")


def climb(f: Any, given: tuple[Any, ...], **how: Any) -> None:
    strategies = [Options(), Options(strategy="copy-before-write")]
    ladder.climb(f, given, quick=True, tolerance=1e-9, strategies=strategies, **how)


@pytest.mark.parametrize("name", one_in(12, [*BLOCKED, *KEPT]))
@pytest.mark.cases(4)
def test_each_element_takes_the_same_steps(name: str) -> None:
    f = function((BLOCKED | KEPT)[name])
    climb(f, args(9, 5), again=[args(300, 70), args(2, 9000), args(40, 300)])
    for n, m in ((0, 3), (3, 0), (1, 1), (1, 20_000), (20_000, 1), (700, 100)):
        given = args(n, m)
        climb(f, given, interpreted=False)


@pytest.mark.parametrize("name", one_in(3, BLOCKED))
@pytest.mark.cases(4)
def test_a_few_rows_at_a_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_by_blocks, "BLOCK_BYTES", 96)
    climb(function(BLOCKED[name]), args(9, 5), again=[args(40, 3), args(1, 20)])
    climb(function(BLOCKED[name]), args(100, 0))


def test_blocks_of_whole_cache_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_by_blocks, "BLOCK_BYTES", 3000)
    climb(function(BLOCKED["vectors"]), args(300, 2))


@pytest.mark.parametrize("name", one_in(12, [*BLOCKED, *KEPT]))
def test_a_loop_over_blocks_is_around(name: str) -> None:
    text = bufferize(function((BLOCKED | KEPT)[name])).lower(*args(50, 60)).as_text()
    assert ("arith.minsi" in text and "scf.for" in text) == (name in BLOCKED), text


@pytest.mark.slow
def test_the_bits_do_not_depend_on_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    given, found = args(500, 333), []
    for size in (2**12, 2**16, 2**40):
        monkeypatch.setattr(rows_by_blocks, "BLOCK_BYTES", size)
        found.append(bufferize(function(BLOCKED["normalised"]))(*given))
    assert all(np.array_equal(found[0], other) for other in found)


@pytest.mark.slow
def test_what_is_made_and_freed_between_takes_a_block() -> None:
    f = bufferize(function(BLOCKED["several consumers"]))
    x, y, *rest = args(1000, 500)
    native = tracebuf.measure(f, x, y, *rest, repeat=1).native
    assert native is not None and native.peak_bytes < x.nbytes / 10


def test_copies_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_by_blocks, "BLOCK_BYTES", 1024)
    counts = []
    for tile in (True, False):
        f = bufferize(function(BLOCKED["several consumers"]), tile=tile, strategy="copy-before-write")
        counts.append(f.call_counted(*args(50, 60))[1])
    assert counts[0] is not None and counts[1] is not None and counts[0].copies == counts[1].copies > 0
    assert counts[0].copied_bytes == counts[1].copied_bytes


@pytest.mark.parametrize("views", ["x, x", "x[1:], x[:-1]", "x, x[::-1]"])
def test_arguments_that_are_one_array(views: str) -> None:
    f = function(BLOCKED["several consumers"])
    x, _, *rest = args(300, 40)
    found = []
    for g in (f, bufferize(f)):
        a = x.copy()
        g(*eval(views, {"x": a}), *rest)
        found.append(a)
    np.testing.assert_array_equal(*found)


LOSS = """m = x.max(axis=1)
    e = np.exp(x - m[:, None])
    loss = np.log(e.sum(axis=1)) + m
    return loss, x - loss[:, None]"""


@pytest.mark.parametrize("name", one_in(4, [*BLOCKED, "loss"]))
@pytest.mark.parametrize("size", [2**17, 1024])
@pytest.mark.cases(12)
def test_no_more_memory_at_once(name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is made when something else is freed takes its memory, or is made in another loop."""
    monkeypatch.setattr(rows_by_blocks, "BLOCK_BYTES", size)
    body = (BLOCKED | {"loss": LOSS})[name]
    for given in (args(9, 2), args(200, 3), args(40, 300)):
        counts = [bufferize(function(body), tile=tile).call_counted(*clone(given))[1] for tile in (True, False)]
        assert counts[0] is not None and counts[1] is not None and counts[0].peak_bytes <= counts[1].peak_bytes


def clone(given: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(x.copy() if isinstance(x, np.ndarray) else x for x in given)


@pytest.mark.slow
def test_not_where_it_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    f, given = function(BLOCKED["vectors"]), args(50, 60)
    assert "scf.for" in bufferize(f).lower(*given).as_text()
    assert "scf.for" not in bufferize(f, tile=False).lower(*given).as_text()
    assert "scf.for" not in bufferize(f, backend="numba").lower(*given).as_text()
    monkeypatch.setenv("TRACEBUF_TILE", "0")
    assert "scf.for" not in bufferize(f).lower(*given).as_text()
    assert "scf.for" in bufferize(f, tile=True).lower(*given).as_text()
    with pytest.raises(TypeError, match="tile is True or False"):
        Options(tile=2)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", one_in(2, ["several consumers", "in a loop", "softmax", "two results"]))
@pytest.mark.cases(4)
def test_users_are_told_of_whole_arrays(name: str) -> None:
    """Blocks are nothing that a line of the user's asks for."""
    found = [bufferize(function(BLOCKED[name]), tile=tile) for tile in (True, False)]
    given = args(50, 60)
    tiled, whole = (f.lower(*given) for f in found)
    for formula, other in zip(vars(tiled.memory()).values(), vars(whole.memory()).values()):
        assert (str(formula.size), formula.unknown) == (str(other.size), "")
    assert tiled.as_text("numba") == whole.as_text("numba")
    told, without = (str(f.explain(*given)) for f in found)
    assert told == without
    told, without = (str(f.stories(*given)) for f in found)
    assert told == without


def test_formulas_are_upper_bounds_where_arrays_become_blocks() -> None:
    use = bufferize(function(BLOCKED["several consumers"])).lower(*args(50, 60)).memory()
    assert str(use.peak) == "at most 8*x.0*x.1" and use.copied.exact
    assert bufferize(function(BLOCKED["two results"])).lower(*args(50, 60)).memory().peak.exact


@pytest.mark.parametrize("limit", [1, 0])
@pytest.mark.cases(2)
def test_contracts_hold_for_whole_arrays(limit: int) -> None:
    f = bufferize(function(BLOCKED["several consumers"]), max_allocations=limit, max_bytes="x.nbytes")
    if limit:
        f(*args(50, 60))
        return
    with pytest.raises(tracebuf.ContractError, match="1 allocation\n"):
        f(*args(50, 60))
