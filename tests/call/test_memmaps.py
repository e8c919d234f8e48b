"""np.memmap arguments: memory like any other, and results that are memmaps where eager's are (rules B2, C1)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import program, refused, same, same_memory
from tests.support.params import one_in
from tracebuf import bufferize


def mapped(path: Path, mode: str = "r+", dtype: Any = float) -> np.memmap:
    (np.arange(12.0) + 1).astype(dtype).tofile(path)
    return np.memmap(path, dtype, mode, shape=(3, 4))  # type: ignore[call-overload, no-any-return]


def agree(tmp_path: Path, f: Any, *more: Any, mode: str = "r+") -> None:
    """Calls a function and its original on memmaps of two files; compares results, files, and what is a memmap."""
    g = f if isinstance(f, tracebuf.BufferizedFunction) else bufferize(verify=True)(f)
    mine, theirs = mapped(tmp_path / "mine", mode), mapped(tmp_path / "theirs", mode)
    want, got = g.__wrapped__(theirs, *more), g(mine, *more)
    same(got, want, 4, "result")
    same_memory((mine,), got, (theirs,), want)
    for a, b in zip(in_tuple(got), in_tuple(want), strict=True):
        if isinstance(b, np.memmap):
            assert (a.filename == mine.filename, a.mode, a.offset) == (b.filename == theirs.filename, b.mode, b.offset)
            assert (a.base is mine) == (b.base is theirs) and (a is mine) == (b is theirs)
    mine.flush()
    theirs.flush()
    assert (tmp_path / "mine").read_bytes() == (tmp_path / "theirs").read_bytes()


def in_tuple(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


FORMS = (
    "m + 1", "2 * m @ m.T", "np.sqrt(m)", "m.sum()", "m.sum(axis=0)", "np.mean(m, axis=1)", "m.max(0)",
    "np.std(m, axis=0)", "m.cumsum()", "np.where(m > 2, m, 0)", "m[m > 2]", "m[[0, 1]]", "m[0, 0]", "m[1]",
    "m[1:, ::2]", "m.T", "m.reshape(-1)", "m.reshape(4, 3)[1:]", "m", "(m, m[1:], m[1:] * 2)", "m.ravel()", "m[None]",
    "np.swapaxes(m, 0, 1)", "np.outer(m, m)", "np.array(m)", "np.concatenate([m, m])", "np.add.reduce(m)",
    "np.round(m, 1)", "np.clip(m, 2, 3)", "np.median(m, axis=0)", "np.asarray(m) * 2", "np.asarray(m).sum(axis=0)",
    "isinstance(m, np.ndarray), m.shape, m.dtype, m.nbytes", "[row.sum() for row in m][1]", "tuple(row for row in m)",
    "np.linalg.norm(m)", "np.diff(m)", "np.count_nonzero(m)", "np.trace(m)", "m.view(np.int64)", "np.flip(m, 0)",
    "m.diagonal()", "np.nonzero(m > 3)", "m[:, 0].copy().sum()", "m[1:1]",
    "m[:0].T", "m[0, 0, ...]", "np.diag(m)", "np.diag(m[0])", "m.sum(keepdims=True)", "np.modf(m)", "m[:, :0] * 2",
)  # fmt: skip
STORES = (
    "m[:] = m * 2", "m += 1", "m[1:] -= m[:-1]", "m[m > 3] = 0", "np.add(m, 1, out=m)", "m.T[0] = 5", "m.fill(2)",
    "m.sort(axis=0)", "np.copyto(m, 3)", "for row in m:\n        row *= 2", "m.flags.writeable",
)  # fmt: skip


@pytest.mark.slow
def test_what_is_computed_is_plain_and_what_is_a_view_is_a_memmap(tmp_path: Path) -> None:
    for form in FORMS:
        agree(tmp_path, program(f"def f(m):\n    return {form}"))
        agree(tmp_path, program(f"def f(m):\n    return {form}"), mode="r")


@pytest.mark.parametrize("result", one_in(2, ["m", "m[1:]", "m * 2", "None"]))
@pytest.mark.cases(4)
def test_what_is_stored_is_in_the_file(tmp_path: Path, result: str) -> None:
    for form in STORES:
        agree(tmp_path, program(f"def f(m):\n    {form}\n    return {result}"))
        agree(tmp_path, program(f"def f(m):\n    {form}\n    return {result}"), mode="c")
    f = program("def f(m, n):\n    x = m[1:]\n    for k in range(n):\n        x = x + 1\n    return x")
    for n in (0, 1, 3):
        agree(tmp_path, f, n)


def test_what_may_be_a_memmap_or_not_is_refused(tmp_path: Path) -> None:
    m = mapped(tmp_path / "data")
    for form in (
        "m.copy()", "np.asarray(m)", "np.asarray(m)[1:]", "np.zeros_like(m)", "m.astype(np.float32)", "np.sort(m)",
        "type(m)", "np.take(m, [0])", "np.asarray(m) is m", "m.filename", "hasattr(m, 'mode')",
        "isinstance(m, np.memmap)", "repr(m)", "m.imag", "np.dot(m, m.T)", "m.argmax(axis=0)", "m.flush()",
        "np.squeeze(m)", "f'{m!r}'", "m.T.reshape(-1)", "np.array(m, subok=True)", "np.array(m, copy=None)",
        "np.einsum('ij->ji', m)",
    ):  # fmt: skip
        error = refused(program(f"def f(m):\n    return {form}"), m)
        assert "memmap" in error.reason and "np.asarray" in (error.instead or ""), (form, error)
    with pytest.raises(tracebuf.UnsupportedError, match="a subclass of ndarray"):
        bufferize(program("def f(m):\n    return m + 1"))(m.copy())


class Data:
    def __init__(self, values: np.ndarray) -> None:
        self.values = values


def test_memmaps_from_outside_and_in_objects(tmp_path: Path) -> None:
    m, other = mapped(tmp_path / "data"), mapped(tmp_path / "other")
    source = "def f(a):\n    M[0] += a\n    return M[1:] * a, M[1:], M"
    f, data = bufferize(program(source, M=m)), Data(m)
    g = bufferize(program("def g(d, a):\n    d.values[0] += a\n    return d.values[1:] * a, d.values[1:], d.values"))
    h = bufferize(program("def h(of):\n    return [x.mean() for x in of], of[0][1:], of[1] * 2"))
    for given in (m, np.ones((3, 4)), other, np.ones((3, 4)), m):
        f.__wrapped__.__globals__["M"] = data.values = given
        for run, args in ((f, (2.0,)), (g, (data, 2.0)), (h, ([given, given[:1]],))):
            before = given.copy()
            got, after = run(*args), given.copy()
            given[:] = before
            same(got, run.__wrapped__(*args), 0, "result")
            same(np.asarray(after), np.asarray(given.copy()), 0, "memory")
            assert any(x is given for x in got) or run is h


def test_memmaps_that_are_donated_or_measured(tmp_path: Path) -> None:
    m = mapped(tmp_path / "data")
    with pytest.raises(tracebuf.DonationError, match="it is a memmap"):
        bufferize(donate="a")(program("def f(a):\n    return a + 1"))(m)
    f = bufferize(donate_optional="a")(program("def f(a):\n    return a + 1"))
    assert type(f(m)) is np.ndarray and m[0, 0] == 1
    assert tracebuf.measure(f, m).rows()[1][0] == "allocations"


def test_two_memmaps_of_one_file_share_memory(tmp_path: Path) -> None:
    first, other = mapped(tmp_path / "data"), np.memmap(tmp_path / "data", float, "r+", shape=(3, 4))
    f = bufferize(program("def f(a, b):\n    a[0] = 7\n    return b[0] + a[1]"))
    want = f.eager(first, other)
    for _ in range(400):
        assert f(first, other).tolist() == want.tolist()
    assert "memmaps of one file" in str(f.specializations())
    second = mapped(tmp_path / "second")
    for _ in range(3):
        assert f(first, second).tolist() == f.eager(first, second).tolist()
    assert "compiled for (float64[n, n] (memmap), float64[n, n] (memmap))" in str(f.specializations())


def test_calls_of_memmaps_and_arrays(tmp_path: Path) -> None:
    f: Callable[..., Any] = bufferize(program("def f(m):\n    m += 1\n    return m[1:], m * 2"))
    m, a = mapped(tmp_path / "data"), np.ones((3, 4))
    for _ in range(400):
        assert [type(x) for x in f(m)] == [np.memmap, np.ndarray]
        assert [type(x) for x in f(a)] == [np.ndarray, np.ndarray]
    assert m[0, 0] == 401 and a[0, 0] == 401
    out = mapped(tmp_path / "out")
    assert bufferize(lambda a: a * 2)(np.ones((3, 4)), out=out) is out and out[0, 0] == 2


@pytest.mark.parametrize("copied", ["m.copy()", "m.astype('f4')", "np.sort(m)", "np.asarray(m)"])
def test_what_is_computed_of_copies_is_an_array(tmp_path: Path, copied: str) -> None:
    """Each result of a function that made a copy was refused; the copy itself, also by the path, still is."""
    m = mapped(tmp_path / "data")
    f = bufferize(program(f"def f(m):\n    c = {copied}\n    return c[1:] * 2, m + c, c.sum(axis=0)"))
    for got, want in zip(f(m), f.eager(m), strict=True):
        assert type(got) is type(want) is np.ndarray
        assert got.dtype == want.dtype
        same(got, want, 0, "result")
    for returned in ("c", "c[1:]", "c + 1 if m[0, 0] > 0 else c"):
        with pytest.raises(tracebuf.UnsupportedError, match="whether an array is a memmap"):
            bufferize(program(f"def f(m):\n    c = {copied}\n    return {returned}"))(m)
