"""The cache on disk: a second process compiles nothing, and nothing that cannot be trusted is ever loaded."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.params import amount, slow_but
from tracebuf import cache

pytestmark = pytest.mark.skipif(not hasattr(os, "getuid"), reason="who may write to a file cannot be asked here")
KEY, DATA = cache.digest("key"), bytes(range(256)) * 3


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A cache that is empty."""
    before = cache.info()
    cache.use(tmp_path / "above" / "cache")
    yield tmp_path / "above" / "cache"
    cache.use(before.directory, limit=before.limit)


def entries(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if p.is_file()]


def test_what_is_kept_is_found(folder: Path) -> None:
    assert cache.load(KEY) is None
    assert not folder.exists()
    cache.store(KEY, DATA)
    assert cache.load(KEY) == DATA
    cache.store(KEY, DATA[:5])
    assert cache.load(KEY) == DATA[:5]
    cache.store(cache.digest("empty"), b"")
    assert cache.load(cache.digest("empty")) == b""
    found = cache.info()
    assert (found.directory, found.entries) == (folder, 2)
    assert found.size == sum(p.stat().st_size for p in entries(folder))
    cache.clear()
    assert (cache.load(KEY), cache.info().entries, entries(folder)) == (None, 0, [])


def test_what_goes_while_it_is_looked_at_does_not_count(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process renames or removes a file after its folder was read: that was FileNotFoundError."""
    cache.store(KEY, DATA)
    (kept,) = entries(folder)
    scandir = os.scandir

    @contextmanager
    def and_then_it_goes(path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
        beside = Path(path) / f"{kept.name}.1.1"
        beside.write_bytes(DATA)
        with scandir(path) as found:
            there = list(found)
        beside.unlink()
        yield iter(there)

    for k in range(cache.FOLDERS):
        (folder / f"{k:x}").mkdir(exist_ok=True)
    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", and_then_it_goes)
        found = cache.info()
        assert (found.entries, found.size) == (1, kept.stat().st_size)
        cache.clear()
    assert entries(folder) == []


def test_what_is_not_renamed_yet_is_no_entry(folder: Path) -> None:
    cache.store(KEY, DATA)
    (kept,) = entries(folder)
    kept.with_name(f"{kept.name}.1.1").write_bytes(DATA)
    assert cache.info().entries == 1


def test_keys_say_where_their_parts_end() -> None:
    assert len({cache.digest(*parts) for parts in (("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("", "abc"))}) == 5


def test_no_cache() -> None:
    before = cache.info()
    try:
        cache.use(None)
        cache.store(KEY, DATA)
        assert cache.load(KEY) is None
        assert (cache.info().directory, cache.info().size) == (None, 0)
        cache.clear()
        with pytest.raises(ValueError, match="not -1"):
            cache.use(None, limit=-1)
    finally:
        cache.use(before.directory, limit=before.limit)


@pytest.mark.parametrize("step", slow_but([7], [1, 7]))
def test_each_damaged_byte_makes_a_miss(step: int, folder: Path) -> None:
    cache.store(KEY, DATA)
    (entry,) = entries(folder)
    whole = entry.read_bytes()
    for k in range(0, len(whole), step):
        entry.write_bytes(whole[:k] + bytes([whole[k] ^ (1 << k % 8)]) + whole[k + 1 :])
        assert cache.load(KEY) is None
        entry.write_bytes(whole[:k])
        assert cache.load(KEY) is None
    entry.write_bytes(whole + b"x")
    assert cache.load(KEY) is None
    entry.write_bytes(whole)
    assert cache.load(KEY) == DATA


def test_an_entry_in_the_place_of_another_is_a_miss(folder: Path) -> None:
    other = cache.digest("other")
    cache.store(KEY, DATA)
    cache.store(other, DATA)
    places = {p.name: p for p in entries(folder)}
    os.replace(places[KEY.hex()], places[other.hex()])
    assert cache.load(other) is None


def test_what_others_may_write_to_is_a_miss(folder: Path) -> None:
    cache.store(KEY, DATA)
    (entry,) = entries(folder)
    for path in (entry, entry.parent, folder):
        mode = path.stat().st_mode & 0o777
        for more in (0o020, 0o002):
            path.chmod(mode | more)
            assert cache.load(KEY) is None
            path.chmod(mode)
        assert cache.load(KEY) == DATA
    if os.geteuid() == 0:
        for path in (entry, entry.parent, folder):
            os.chown(path, 12345, -1)
            assert cache.load(KEY) is None
            cache.store(cache.digest("new"), DATA)
            os.chown(path, 0, -1)


def test_no_link_is_followed_and_nothing_but_files_is_read(folder: Path, tmp_path: Path) -> None:
    cache.store(KEY, DATA)
    (entry,) = entries(folder)
    entry.rename(tmp_path / "moved")
    entry.symlink_to(tmp_path / "moved")
    assert cache.load(KEY) is None
    entry.unlink()
    os.mkfifo(entry)
    assert cache.load(KEY) is None
    entry.unlink()
    entry.mkdir()
    assert cache.load(KEY) is None
    cache.store(KEY, DATA)
    assert cache.load(KEY) is None


def test_where_nothing_can_be_written(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file in the place of a folder, a disk that may not be written to, one that is full."""
    (tmp_path / "file").write_text("")
    for where in (tmp_path / "file" / "cache", tmp_path / "file", Path("/proc/cache")):
        cache.use(where)
        cache.store(KEY, DATA)
        assert cache.load(KEY) is None
        cache.clear()
    cache.use(folder)
    written: list[int] = []

    def write(file: int, data: memoryview) -> int:
        if written:
            raise OSError(28, "No space left on device")
        written.append(real(file, data[:100]))
        return written[0]

    real = os.write
    monkeypatch.setattr(os, "write", write)
    cache.store(KEY, DATA)
    assert (len(written), entries(folder), cache.load(KEY)) == (1, [], None)


def test_what_was_not_used_for_longest_goes(folder: Path) -> None:
    cache.use(folder, limit=16 * 10_000)
    now, random_bytes = time.time(), random.Random(7).randbytes
    keys = [cache.digest(str(k)) for k in range(400)]
    for k, key in enumerate(keys[:-1]):
        cache.store(key, random_bytes(2000))
        path = folder / f"{key[0] % 16:x}" / key.hex()
        if path.exists():
            os.utime(path, (now - 10_000 + k,) * 2)
        assert cache.load(keys[0]) is not None or k > 0
    kept = [k for k, key in enumerate(keys) if cache.load(key) is not None]
    assert cache.info().size < 16 * 10_000 * 3
    assert len(kept) < 300 < kept[-1]
    cache.store(keys[-1], random_bytes(10_001))
    assert cache.load(keys[-1]) is None  # larger than a folder's part


def test_what_is_used_stays(folder: Path) -> None:
    cache.store(KEY, DATA)
    (entry,) = entries(folder)
    os.utime(entry, (1, 1))
    cache.load(KEY)
    assert entry.stat().st_mtime > time.time() - 100


def test_what_a_killed_process_left_is_removed(folder: Path) -> None:
    keys = [cache.digest(str(k)) for k in range(500)]
    key = next(k for k in keys if k[1] % 8 == 0)
    cache.store(key, DATA)
    left = folder / f"{key[0] % 16:x}" / f"{key.hex()}.1.1"
    left.write_text("half")
    cache.store(key, DATA)
    assert left.exists()  # its writer may be at work
    os.utime(left, (1, 1))
    cache.store(key, DATA)
    assert not left.exists()


PROGRAM = """
import sys
import numpy as np
from tracebuf import bufferize, cache

@bufferize
def f(a, b):
    a += np.sin(b) * 2
    return a.sum()

a = np.ones(5)
for _ in range(4):
    f(a, np.arange(5.0))
found = cache.info()
print(a.tobytes().hex(), found.misses, found.hits > 0)
"""


def started(folder: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"TRACEBUF_CACHE_DIR": str(folder)}
    return subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_a_second_process_compiles_nothing(folder: Path) -> None:
    first = started(folder).communicate()[0].split()
    assert int(first[1]) > 0
    assert started(folder).communicate()[0].split() == [first[0], "0", "True"]
    for entry in entries(folder):
        entry.write_bytes(entry.read_bytes()[:-1])
    assert started(folder).communicate()[0].split() == first
    assert started(folder).communicate()[0].split() == [first[0], "0", "True"]


@pytest.mark.slow
def test_many_processes_start_at_once_and_some_are_killed(folder: Path) -> None:
    """All answers are right, and so is the cache that they leave."""
    draw, wanted = random.Random(3), started(folder).communicate()[0].split()[0]
    cache.clear()
    for _ in range(amount(1, 4)):
        at_work = [started(folder) for _ in range(8)]
        for process in at_work[::3]:
            time.sleep(draw.uniform(0, 0.4))
            process.kill()
        answers = [process.communicate()[0].split() for process in at_work]
        assert {answer[0] for answer in answers if answer} == {wanted}
        assert sum(not answer for answer in answers) <= 3
    assert started(folder).communicate()[0].split() == [wanted, "0", "True"]


@pytest.mark.slow
def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def directory(**environment: str) -> str:
        clean = {k: v for k, v in os.environ.items() if k not in ("TRACEBUF_CACHE_DIR", "XDG_CACHE_HOME")}
        program = "from tracebuf import cache; print(cache.info().directory)"
        done = subprocess.run(
            [sys.executable, "-c", program], env=clean | environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert directory(TRACEBUF_CACHE_DIR="") == "None"
    assert directory(TRACEBUF_CACHE_DIR=str(tmp_path)) == str(tmp_path)
    assert directory(XDG_CACHE_HOME=str(tmp_path)) == str(tmp_path / "tracebuf")
    if sys.platform != "darwin":
        assert directory(HOME=str(tmp_path)) == str(tmp_path / ".cache" / "tracebuf")
