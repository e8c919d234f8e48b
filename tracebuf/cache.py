"""The cache on disk: what was compiled once is loaded by later processes.

An entry is bytes under a key that says everything they were made of, so it never goes stale; nothing is unpickled, and
nothing but bytes is ever read. `TRACEBUF_CACHE_DIR` says where it is, by default `tracebuf` in the user's folder for
caches (`XDG_CACHE_HOME`, `~/.cache`); empty, there is none. With `TRACEBUF_CACHE_PROGRAMS=0` it has machine code alone.

Any number of processes use one cache at once, and may end at any moment: entries are written beside their place and
renamed. Each holds a digest of its key and bytes: what is damaged, cut short or in the place of another is a miss. So
is what another user owns or could write to, entry or folder: machine code is loaded from here. Where the
disk is full or may not be written to, nothing is kept. Beyond its limit the entries that were not used for longest go.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from tracebuf.frozen import frozen

if TYPE_CHECKING:
    from pathlib import Path

try:  # what hashlib has, without OpenSSL, which takes longer to load than all else here
    from _blake2 import blake2b as blake2b
except ImportError:
    from hashlib import blake2b as blake2b

__all__ = ["Info", "clear", "info", "load", "store", "use"]

LIMIT = 2**28
"""Bytes, by default."""
FOLDERS = 16
"""Entries lie in that many folders; each has its part of the limit."""
_MAGIC = b"tracebuf 1\n"
_DIGEST = 32
_STALE, _FRESH = 3600.0, 600.0
"""Seconds: of a file that its writer has not renamed; between two notes that an entry was used."""
_SWEPT = 8
"""One entry in that many is followed by a look at its folder's size."""


@frozen()
class Info:
    """What the cache holds.

    Attributes:
        directory: where it is, None where there is none.
        entries: how many.
        size: bytes on disk.
        limit: bytes at most, a tenth or so over at times.
        hits, misses: of this process.
    """

    directory: Path | None
    entries: int
    size: int
    limit: int
    hits: int
    misses: int


class _State:
    """Of this process. `folder` is None where nothing is kept, and not known before it is asked for."""

    folder: str | None = None
    known = False
    programs = True
    limit = LIMIT
    hits = misses = written = 0


def use(directory: str | os.PathLike[str] | None, *, limit: int = LIMIT, programs: bool | None = None) -> None:
    """The cache of this process from now on.

    Args:
        directory: where it is; made with its first entry. None: nothing is loaded or kept.
        limit: how many bytes it holds at most.
        programs: whether whole programs are loaded and kept, which are run without tracing; else machine code alone.
            By default unless `TRACEBUF_CACHE_PROGRAMS` is 0.

    Raises:
        ValueError: for a limit below 0.
    """
    if limit < 0:
        raise ValueError(f"the limit of a cache is a number of bytes, not {limit}")
    _State.folder = None if directory is None else os.path.abspath(os.fspath(directory))
    _State.limit, _State.known = limit, True
    _State.programs = _programs() if programs is None else programs


def info() -> Info:
    """Where the cache is and what it holds."""
    from pathlib import Path  # which takes as long to load as an entry does

    folder = _folder()
    sizes = [status.st_size for inner in _inner(folder) for entry, status in _files(inner) if _is_entry(entry)]
    directory = None if folder is None else Path(folder)
    return Info(directory, len(sizes), sum(sizes), _State.limit, _State.hits, _State.misses)


def clear() -> None:
    """Removes every entry. Programs that this process has compiled or loaded stay as they are."""
    for inner in _inner(_folder()):
        for entry, _ in _files(inner):
            with suppress(OSError):
                os.unlink(entry.path)


def digest(*parts: bytes | str) -> bytes:
    """A key: of these parts in this order, wherever one ends and the next begins."""
    found = blake2b(digest_size=_DIGEST)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(len(data).to_bytes(8, "little"))
        found.update(data)
    return found.digest()


def keeps_programs() -> bool:
    """Whether there is a cache, and whole programs are in it."""
    return _folder() is not None and _State.programs


def load(key: bytes, *, count: bool = True) -> bytes | None:
    """The bytes under a key; None where there are none that can be trusted. `count`: as a hit or a miss."""
    folder = _folder()
    if folder is None:
        return None
    found = None
    with suppress(OSError):
        found = _read(folder, key)
    if count and found is None:
        _State.misses += 1
    elif count:
        _State.hits += 1
    return found


def store(key: bytes, data: bytes) -> None:
    """Keeps bytes under a key, if that can be done."""
    folder = _folder()
    if folder is None or len(data) > _State.limit // FOLDERS:
        return
    with suppress(OSError):
        _write(folder, key, data)


def _folder() -> str | None:
    if not _State.known:
        _State.folder, _State.known = _default(), True
        _State.programs = _programs()
    return _State.folder


def _programs() -> bool:
    return os.environ.get("TRACEBUF_CACHE_PROGRAMS") != "0"


def _default() -> str | None:
    wanted = os.environ.get("TRACEBUF_CACHE_DIR")
    if wanted is not None:
        return os.path.abspath(wanted) if wanted else None
    if not hasattr(os, "getuid"):  # who may write to a file cannot be asked here
        return None
    above = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser(
        "~/Library/Caches" if sys.platform == "darwin" else "~/.cache"
    )
    return os.path.join(above, "tracebuf") if os.path.isabs(above) else None


def _place(folder: str, key: bytes) -> tuple[str, str]:
    return os.path.join(folder, f"{key[0] % FOLDERS:x}"), key.hex()


def _read(folder: str, key: bytes) -> bytes | None:
    inner, name = _place(folder, key)
    with _opened(inner, os.O_RDONLY | os.O_DIRECTORY) as at:
        if not (_is_safe(os.stat(folder)) and _is_safe(os.fstat(at))):
            return None
        with _opened(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, at) as file:
            status = os.fstat(file)
            if not (stat.S_ISREG(status.st_mode) and _is_safe(status)):
                return None
            content = _content(file, status.st_size)
            if status.st_mtime < time.time() - _FRESH:
                with suppress(OSError):
                    os.utime(file)
    start = len(_MAGIC) + _DIGEST
    data = content[start:]
    return data if content[:start] == _MAGIC + digest(key, data) else None


def _write(folder: str, key: bytes, data: bytes) -> None:
    inner, name = _place(folder, key)
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    for made in (folder, inner):
        with suppress(FileExistsError):
            os.mkdir(made, 0o700)
    with _opened(inner, os.O_RDONLY | os.O_DIRECTORY) as at:
        if not (_is_safe(os.stat(folder)) and _is_safe(os.fstat(at))):
            return
        _State.written += 1
        beside = f"{name}.{os.getpid()}.{_State.written}"
        try:
            with _opened(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, at) as file:
                left = memoryview(_MAGIC + digest(key, data) + data)
                while left:
                    left = left[os.write(file, left) :]
            os.replace(beside, name, src_dir_fd=at, dst_dir_fd=at)
        except BaseException:
            with suppress(OSError):
                os.unlink(beside, dir_fd=at)
            raise
    if key[1] % _SWEPT == 0:
        _sweep(inner)


def _sweep(inner: str) -> None:
    """Removes the entries of a folder that were not used for longest, while it is over its part of the limit; and what
    processes that ended meanwhile have not renamed."""
    now, found = time.time(), []
    for entry, status in _files(inner):
        if _is_entry(entry):
            found.append((status.st_mtime, status.st_size, entry.path))
        elif status.st_mtime < now - _STALE:
            with suppress(OSError):
                os.unlink(entry.path)
    over = sum(size for _, size, _ in found) - _State.limit // FOLDERS
    for _, size, path in sorted(found):
        if over <= 0:
            return
        with suppress(OSError):
            os.unlink(path)
        over -= size


def _inner(folder: str | None) -> list[str]:
    """The folders in which entries lie."""
    return [] if folder is None else [os.path.join(folder, f"{k:x}") for k in range(FOLDERS)]


def _files(inner: str) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    """The files in one of them, with their states; those that other processes take away meanwhile are not there."""
    with suppress(OSError), os.scandir(inner) as entries:
        for entry in entries:
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    yield entry, status


def _is_entry(file: os.DirEntry[str]) -> bool:
    """Whether a file has its name, and is not being written."""
    return "." not in file.name


@contextmanager
def _opened(path: str, flags: int, at: int | None = None) -> Iterator[int]:
    file = os.open(path, flags | os.O_CLOEXEC, 0o600, dir_fd=at)
    try:
        yield file
    finally:
        os.close(file)


def _content(file: int, size: int) -> bytes:
    parts = []
    while size > 0 and (part := os.read(file, size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _is_safe(status: os.stat_result) -> bool:
    """Whether nobody else could have written it."""
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
