"""Quick code at first, then fast code: the same bits, in the middle of a call too, whatever ends meanwhile."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracebuf
from tests.support.agreement import agree
from tests.support.corpus import PROGRAMS
from tests.support.params import one_in, slow_but
from tracebuf import api, cache
from tracebuf.backend.layout import abi
from tracebuf.backend.llvm import jit
from tracebuf.backend.objects import locked
from tracebuf.backend.runtime import tiers
from tracebuf.backend.runtime.kernel import Kernel, release
from tracebuf.options import Tier


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing is on disk or lent, every program has a quick tier, and no thread is at work afterwards."""
    before = cache.info().directory
    cache.use(None)
    release()
    monkeypatch.setattr(tiers, "SHORT", 0)
    monkeypatch.setattr(tiers, "SHORT_LOOPS", 0)
    yield
    tracebuf.wait()
    cache.use(before)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """The fast code is made after this is set."""
    event = threading.Event()
    improve = tiers.MachineCode._improve

    def later(self: tiers.MachineCode) -> None:
        event.wait(60)
        improve(self)

    monkeypatch.setattr(tiers.MachineCode, "_improve", later)
    return event


def smooth(x: Any, rounds: int) -> Any:
    for _ in range(rounds):
        x[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3
        x *= 1 / np.sqrt((x * x).sum())
    return x - x.mean(), x.max()


def values() -> tuple[np.ndarray, int]:
    return np.random.default_rng(0).random(1000), 5


def code_of(f: Any) -> tiers.MachineCode:
    kernel: Kernel = next(iter(f._compiled.values()))[0].kernel
    return kernel.code


def same(a: Any, b: Any) -> None:
    for x, y in zip(a, b, strict=True):
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


def test_the_fast_code_takes_the_place_of_the_quick(held: threading.Event) -> None:
    """With the same results; until then the quick code is what runs."""
    f = tracebuf.bufferize(tier="auto")(smooth)
    first = f(*values())
    assert code_of(f).tier == "quick" and code_of(f).pending
    same(first, f(*values()))
    held.set()
    f.wait()
    assert code_of(f).tier == "fast" and not code_of(f).pending
    same(first, f(*values()))
    same(first, tracebuf.bufferize(tier="fast")(smooth)(*values()))


@pytest.mark.slow
def test_the_fast_code_of_a_nest_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was compiled alone, to replace the quick one, and then again as a part of the program."""
    texts: list[str] = []
    compiled = tiers.compile_object

    def noted(text: str, name: str, **given: Any) -> jit.CompiledObject:
        texts.append(text)
        return compiled(text, name, **given)

    monkeypatch.setattr(tiers, "compile_object", noted)
    f = tracebuf.bufferize(tier="auto")(smooth)
    f(*values())
    f.wait()
    nests = [s for s in code_of(f).lenders if s.startswith("nest")]
    assert nests and not code_of(f).shared
    for symbol in nests:
        assert sum(f"define i64 @{symbol}(" in t and f"@{symbol}.first(" not in t for t in texts) == 1


def test_fast_waits() -> None:
    f = tracebuf.bufferize(tier="fast")(smooth)
    f(*values())
    assert code_of(f).tier == "fast" and not code_of(f).pending


def test_programs_that_are_quick_to_compile_have_one_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "SHORT", 1000)
    f = tracebuf.bufferize(tier="auto")(lambda a: a + 1)
    f(np.ones(3))
    assert code_of(f).tier == "fast"


@pytest.mark.parametrize("kept", slow_but(["auto"], ["fast", "auto"]))
@pytest.mark.slow
def test_what_is_kept_has_one_tier(kept: Tier, tmp_path: Path) -> None:
    """In this process, or on disk, whether it was compiled as a whole or part by part. Quick code is not kept."""
    cache.use(tmp_path)
    release()
    quick = tracebuf.bufferize(tier="quick")(smooth)
    result = quick(*values())
    f = tracebuf.bufferize(tier=kept)(smooth)
    f(*values())
    f.wait()
    release()
    again = tracebuf.bufferize(tier="auto")(smooth)
    same(result, again(*values()))
    assert code_of(again).tier == "fast" and not code_of(again).pending


def test_a_call_in_quick_code_goes_on_with_fast_nests(held: threading.Event) -> None:
    """A nest is replaced at its next call: the caller asks a pointer."""
    pointers: list[list[int]] = []

    def look(k: Any) -> Any:
        if k == 2:
            held.set()
            while code_of(f).pending:
                time.sleep(0.001)
        pointers.append([ctypes.c_size_t.from_address(at).value for at in places])
        return k

    def long(x: Any, rounds: int) -> Any:
        for k in range(rounds):
            x[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3
            x[0] += tracebuf.host_call(look, float(k), result_shape=())
        return x.sum()

    f, places = tracebuf.bufferize(tier="auto")(long), []
    f.explain(np.ones(50), 4)
    quick = code_of(f).library
    places += [at for name, at in quick.addresses.items() if name.endswith(".at")]
    total = f(np.ones(50), 4)
    assert len(places) > 0 and pointers[0] == pointers[1]
    assert not set(pointers[0]) & set(pointers[2]) and pointers[2] == pointers[3]
    assert code_of(f).library is not quick
    assert total == tracebuf.bufferize(tier="fast")(long)(np.ones(50), 4)


@pytest.mark.slow
def test_calls_by_machine_code_change_over_too(monkeypatch: pytest.MonkeyPatch, held: threading.Event) -> None:


    monkeypatch.setattr(api, "WORTH", 0)
    f = tracebuf.bufferize(tier="auto")(smooth)
    results = [f(*values()) for _ in range(6)]
    (spec,) = f.specializations()
    assert isinstance(spec, tracebuf.api.Specialization)
    assert spec.entry is not None and spec.entry.calls and code_of(f).tier == "quick"
    held.set()
    f.wait()
    before = spec.entry.calls
    results.append(f(*values()))
    assert spec.entry.calls == before + 1
    assert spec.entry.context.slots[abi.KERNEL] == code_of(f).library.address(spec.kernel.name)
    for other in results:
        same(results[0], other)


def test_what_fails_in_the_background_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(self: tiers.MachineCode) -> None:
        raise RuntimeError("LLVM refuses")

    f = tracebuf.bufferize(tier="auto")(smooth)
    monkeypatch.setattr(tiers.MachineCode, "_make_fast", fail)
    with caplog.at_level(logging.ERROR, "tracebuf"):
        first = f(*values())
        f.wait()
    assert code_of(f).tier == "quick" and "the quick code stays" in caplog.text
    same(first, f(*values()))


def test_errors_are_the_same() -> None:
    def pick(a: Any, i: Any) -> Any:
        if a[0] > 5:
            raise ValueError(f"{a[0]} is large")
        return a[i] * 2

    for tier in ("quick", "fast"):
        f = tracebuf.bufferize(tier=tier)(pick)
        agree(f, np.arange(5.0), np.array([1, 2]))
        agree(f, np.arange(5.0), np.array([1, 7]))
        agree(f, np.arange(5.0) + 6, np.array([1, 2]))


def test_others_go_first() -> None:
    """A thread that compiles in the background waits for those that want LLVM."""
    order: list[str] = []

    def background() -> None:
        with jit.after_others():
            jit._inside_llvm(lambda _: order.append("background"))

    with locked.lock:
        jit._waiting.append(0)
        thread = threading.Thread(target=background)
        thread.start()
    time.sleep(0.01)
    jit._inside_llvm(lambda _: order.append("other"))
    jit._waiting.remove(0)
    thread.join()
    assert order == ["other", "background"]


@pytest.mark.parametrize("name", one_in(15, list(PROGRAMS)))
@pytest.mark.cases(9)
def test_both_tiers_give_the_same_bits(name: str) -> None:
    function, arguments = PROGRAMS[name]
    for n in (6, 23):
        results = []
        for tier in ("quick", "fast"):
            given = arguments(drawn(n), n)
            with np.errstate(all="ignore"):
                results.append((tracebuf.bufferize(tier=tier)(function)(*given), given))
        assert bits(results[0]) == bits(results[1])


def bits(x: Any) -> Any:
    """A result as bytes; all NaNs are one."""
    if isinstance(x, (np.ndarray, np.generic, float, complex)):
        a = np.array(x)
        parts = a.view(a.real.dtype) if a.dtype.kind == "c" and a.ndim else a
        if parts.dtype.kind == "f":
            parts[np.isnan(parts)] = np.nan
        return a.dtype, a.shape, a.tobytes()
    if isinstance(x, (list, tuple)):
        return [bits(y) for y in x]
    return {k: bits(v) for k, v in x.items()} if isinstance(x, dict) else repr(x)


def drawn(seed: int) -> Any:
    random = np.random.default_rng(seed)
    return lambda *shape: random.random(shape)


SCRIPT = """
import os, signal, sys, time
import numpy as np
import tracebuf
from tracebuf import bufferize

def f(x, k):
    for _ in range(3):
        x = np.sqrt(x * x + k) - x[::-1] + x.mean()
    return np.sort(x[x > 0]), np.cumsum(x) / k, x.max(), (x.reshape(2, -1) * k).sum(0), np.where(x > k, x, -x) + 1

def made(k):
    g = bufferize(f)
    assert g(np.arange(1.0, 21.0), float(k))[0].size
    return g
"""
FORKS = """
ends = []
for k in range(6):
    g = made(k)
    time.sleep(0.03 * k)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        h = made(k + 0.5)
        g.wait()
        tracebuf.wait()
        fast = [next(iter(x._compiled.values()))[0].kernel.code.tier == "fast" for x in (g, h)]
        os._exit(0 if all(fast) else 1)
    ends.append(os.waitpid(child, 0)[1])
tracebuf.wait()
print(ends)
"""


def run(script: str, *args: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "TRACEBUF_TIER": "auto", "TRACEBUF_CACHE_DIR": "", "TRACEBUF_VERIFY": ""}
    return subprocess.run([sys.executable, script, *args], capture_output=True, text=True, timeout=300, env=env)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_makes_the_fast_code_itself(tmp_path: Path) -> None:
    """Whatever the thread of the parent was at."""
    (tmp_path / "script.py").write_text(SCRIPT + FORKS)
    done = run(str(tmp_path / "script.py"))
    assert done.stdout == f"{[0] * 6}\n", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "end"), [(0, ""), (1, "sys.exit(0)"), (2, "os.kill(os.getpid(), signal.SIGINT)")]
)
def test_python_ends_while_the_fast_code_is_made(tmp_path: Path, first: int, end: str) -> None:
    """Each end at moments of its own: a process takes two seconds."""
    (tmp_path / "script.py").write_text(f"{SCRIPT}\ng = made(1)\ntime.sleep(float(sys.argv[1]))\n{end}\n")
    for k in range(first, 9, 3):
        done = run(str(tmp_path / "script.py"), str(0.02 * k))
        assert done.returncode in (0, -signal.SIGINT) and (not done.stderr or "KeyboardInterrupt" in done.stderr)
