"""Loop nests and products that programs share: equal ones are compiled once, live as long as they are used, and work
wherever they are called from."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tests.support.threads import at_once
from tracebuf.backend.runtime.kernel import Kernel, release
from tracebuf.backend.runtime.pool import Pool
from tracebuf.options import Tier

pytestmark = pytest.mark.fast_tier


@pytest.fixture(autouse=True)
def nothing_lent() -> None:
    release()


def ready(f: Callable[..., Any], *args: Any) -> tuple[Any, Kernel]:
    g = tracebuf.bufferize(verify=True)(f)
    agree(g, *args)
    return g, next(iter(g._compiled.values()))[0].kernel


def functions(kernel: Kernel) -> set[str]:
    """The functions of a program that others may have too: its own, and those that it took."""
    return {*kernel.code.shared, *kernel.code.lenders}


A = np.arange(200.0)
M = np.arange(400.0).reshape(20, 20)


def one(a: Any) -> Any:
    return np.sqrt(a) + 1


def other(b: Any) -> Any:
    b *= 3
    c = np.sqrt(b) + 1
    return c[::-1], c @ c


def test_equal_nests_are_compiled_once() -> None:
    """Whatever else the programs do, and whatever their arrays are called."""
    _, first = ready(one, A)
    _, second = ready(other, A)
    shared = set(first.code.shared)
    assert len(shared) == 1 and set(second.code.lenders) == shared
    (symbol,) = shared
    assert f"define i64 @{symbol}(" in first.library.text and f"define i64 @{symbol}(" in second.library.text
    assert symbol not in second.library.object.symbols and symbol in second.library.object.needs


def test_products_are_compiled_once() -> None:
    ready(lambda a, b: a @ b, M, M + 1)
    _, second = ready(lambda a, b: (a.T @ b)[::2] - 1, M, M + 1)
    assert any(s.startswith("d_linalg_matmul_") for s in second.code.lenders)


@pytest.mark.parametrize("tier", ["fast", "auto"])
def test_products_are_compiled_at_a_low_level(tier: Tier) -> None:
    """At the highest one LLVM takes five times as long, for loops that only prepare BLAS's call."""
    f = tracebuf.bufferize(lambda a, b: (a @ b)[::2] - 1, tier=tier)
    f(M, M + 1)
    f.wait()
    kernel = next(iter(f._compiled.values()))[0].kernel
    products = [one for s, one in kernel.code.lenders.items() if "matmul" in s]
    assert [one.speed_level for one in products] == [1] and kernel.library.speed_level == 3


@pytest.mark.parametrize(
    "f", [lambda a: np.sqrt(a) - 1, lambda a: np.sqrt(a[::2]) + 1, lambda a: np.sqrt(a.astype("f4")) + 1]
)
def test_other_nests_are_others(f: Callable[..., Any]) -> None:
    """Another op, stride or dtype."""
    ready(one, A)
    assert not functions(ready(f, A)[1]) & functions(ready(one, A)[1])


def test_what_is_known_of_memory_is_part_of_a_nest() -> None:
    """The same ops on one array, in place, and on two: only of two is it known that they are apart."""

    def into(a: Any, b: Any) -> None:
        np.add(a, 1, out=b)

    def within(a: Any) -> None:
        np.add(a, 1, out=a)

    _, first = ready(into, A, A + 1)
    _, second = ready(within, A)
    assert functions(first) and functions(second) and not functions(first) & functions(second)


@pytest.mark.slow
def test_code_lives_as_long_as_it_is_used() -> None:
    """The program that came with a nest dies; its code does not."""
    g, first = ready(one, A)
    f, second = ready(other, A)
    library = weakref.ref(first.library)
    assert library() in second.code.lenders.values()
    release()
    del g, first
    gc.collect()
    agree(f, A)
    assert library() is not None
    del f, second
    gc.collect()
    assert library() is None


def test_few_functions_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from tracebuf.backend.runtime import pool

    monkeypatch.setattr(pool, "MOST", 2)
    for k in range(5):
        ready(lambda a, k=k: np.sqrt(a) + [1, 2, 3, 4, 5][k], A)
    assert len(pool.pool._libraries) == 2
    kept = Pool()
    kept.lend(ready(one, A)[1].library, ["a", "b", "c"])
    assert list(kept._libraries) == ["b", "c"]


def test_an_index_out_of_bounds_in_a_shared_nest() -> None:
    """The nest says that it failed, the program which index, and on which line."""

    def pick(a: Any, i: Any) -> Any:
        return a[i] * 2

    def twice(a: Any, i: Any) -> Any:
        b = a[i] * 2
        return b + a[i - 1] * 2

    bad = np.array([0, 5, 200])
    ready(pick, A, np.array([0, 5, 7]))
    for f in (pick, twice):
        g, _ = ready(f, A, np.array([0, 5, 7]))
        assert agree(g, A, bad) is not None


def test_nests_overspend_the_work_between_two_polls() -> None:
    """A nest that only counts its work may leave less than nothing, which no signal handler has raised."""

    def f(a: Any) -> Any:
        b = a + 1
        c = b * 2
        d = c - a[::-1]
        return b, c, d, a[::2] - 1

    ready(f, np.arange(100_000.0))


@pytest.mark.slow
def test_threads_compile_programs_that_share() -> None:
    def work(k: int) -> None:
        for f in (one, other):
            agree(tracebuf.bufferize(f), A + k)

    at_once(work, 4)
