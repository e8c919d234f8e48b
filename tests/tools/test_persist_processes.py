"""Whole programs on disk, by many processes at once, some of which are killed; and where bytes are damaged."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.params import amount
from tracebuf import bufferize, cache
from tracebuf.api import Specialization

pytestmark = pytest.mark.fast_tier

PROGRAM = """
import sys
import numpy as np
import tracebuf

@tracebuf.bufferize
def wave(u, v, dt):
    v[1:-1] += dt * (u[:-2] - 2 * u[1:-1] + u[2:])
    u += dt * v
    return u.max()

@tracebuf.bufferize
def norms(rows, k):
    if k > 2:
        return [np.sqrt((row * row).sum()) for row in rows]
    return [np.abs(row).max() for row in rows]

@tracebuf.bufferize
def smooth(x, n):
    for _ in range(n):
        x = (x[1:] + x[:-1]) / 2
    return x, x.mean()

def doubled(x):
    return 2 * x

@tracebuf.bufferize
def hosted(x):
    y = tracebuf.host_call(doubled, x, result_shape=x.shape)
    return np.unique(y, return_counts=True), np.fft.rfft(y), np.linalg.eigvals(y[:4].reshape(2, 2) + 0j)

@tracebuf.bufferize
def ordered(x):
    return np.sort(x), np.argsort(x), np.median(x), np.linalg.inv(np.eye(3) + x.reshape(3, 3))

@tracebuf.bufferize
def factored(x):
    q, r = np.linalg.qr(x.reshape(3, 3) + np.eye(3))
    return r @ q, q

u, v = np.linspace(0, 1, 9), np.zeros(9)
found = [wave(u, v, 0.1), norms([u, v], 3), norms([u, v], 1), smooth(u, 3), ordered(u), hosted(u)]
for _ in range(2):
    result, counters = factored.call_counted(u)
    found += [result, counters, counters.given > 0]
tracebuf.wait()
loaded = all(s.loaded for f in (wave, norms, smooth, ordered, hosted, factored) for s in f.specializations())
traced = any(m in sys.modules for m in ("tracebuf.frontends.numpy.interpreter.trace", "tracebuf.ops", "llvmlite"))
print(repr(found).replace(" ", ""), loaded, traced)
"""
LOADED = ["True", "False"]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(PROGRAM)
    return path


def started(script: Path) -> subprocess.Popen[str]:
    environment = os.environ | {
        "TRACEBUF_CACHE_DIR": str(script.parent / "cache"), "TRACEBUF_CACHE_PROGRAMS": "1", "TRACEBUF_TIER": "auto",
    }  # fmt: skip
    return subprocess.Popen([sys.executable, str(script)], env=environment, stdout=subprocess.PIPE, text=True)


def answers(process: subprocess.Popen[str]) -> list[str]:
    return "".join(process.communicate()[0].split("\n")).rsplit(" ", 2)


@pytest.mark.slow
def test_a_second_process_loads_all_of_it(script: Path) -> None:
    first, second = answers(started(script)), answers(started(script))
    assert first[1:] == ["False", "True"] and second == [first[0], *LOADED]


@pytest.mark.slow
def test_many_processes_start_at_once_and_some_are_killed(script: Path) -> None:
    draw, wanted = random.Random(5), answers(started(script))[0]
    for entry in (script.parent / "cache").rglob("*"):
        if entry.is_file():
            entry.unlink()
    for _ in range(amount(1, 2)):
        at_work = [started(script) for _ in range(6)]
        for process in at_work[::3]:
            time.sleep(draw.uniform(0, 0.5))
            process.kill()
        found = [answers(process) for process in at_work]
        assert {answer[0] for answer in found if answer[0]} == {wanted}
        assert sum(not answer[0] for answer in found) <= 2
    assert answers(started(script)) == [wanted, *LOADED]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    before = cache.info()
    cache.use(tmp_path / "kept", programs=True)
    yield tmp_path / "kept"
    cache.use(before.directory, limit=before.limit)


def scaled(x: np.ndarray, k: float) -> np.ndarray:
    return x[::2] * k + 1


def hosted(x: np.ndarray, k: float) -> np.ndarray:
    return np.unique(tracebuf.host_call(scaled, x, k, result_shape=3))


def answer_of(function: Callable[..., Any]) -> tuple[list[float], bool]:
    f = bufferize(function)
    found = f(np.arange(6.0), 2.5).tolist()
    (spec,) = f.specializations()
    assert isinstance(spec, Specialization)
    return found, spec.loaded


@pytest.mark.parametrize("function", [scaled, hosted])
def test_damaged_bytes_make_a_miss(folder: Path, function: Callable[..., Any]) -> None:
    """Each time the program is traced anew, and kept again."""
    answer = partial(answer_of, function)
    wanted = [1.0, 6.0, 11.0]
    assert answer() == (wanted, False) and answer() == (wanted, True)
    entries = [path for path in folder.rglob("*") if path.is_file()]
    draw = random.Random(1)
    for entry in entries:
        whole = entry.read_bytes()
        for _ in range(4):
            at = draw.randrange(len(whole))
            entry.write_bytes(whole[:at] + bytes([whole[at] ^ draw.randrange(1, 256)]) + whole[at + 1 :])
            assert answer()[0] == wanted
            assert answer() == (wanted, True)
        for cut in (0, 1, len(whole) // 2, len(whole) - 1):
            entry.write_bytes(whole[:cut])
            assert answer()[0] == wanted
            assert answer() == (wanted, True)
