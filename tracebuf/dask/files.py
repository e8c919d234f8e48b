"""Arrays in files of NumPy's, as dask reads and stores them: a mapped array travels to workers by the name of its file,
where NumPy's own pickling would send all that is in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tracebuf.dask.worker import memory
from tracebuf.errors import UnsupportedError


class Mapped:
    """An np.memmap, or a part of one, whose file each process opens for itself.

        x = dask.array.from_array(Mapped(np.load("in.npy", mmap_mode="r")), chunks=1000)
        dask.array.store(y, Mapped(np.lib.format.open_memmap("out.npy", "w+", shape=y.shape)))

    Args:
        array: the np.memmap. Workers see its file under the same name.

    Raises UnsupportedError for what is no array in a file, or where its changes are not in the file (mode "c").
    Source: numpy.memmap; the chunks of dask.array.from_array and store.
    """

    def __init__(self, array: np.ndarray) -> None:
        root = array
        while isinstance(root.base, np.memmap):
            root = root.base
        if not isinstance(root, np.memmap) or root.filename is None or root.mode == "c":
            raise UnsupportedError("no array in a file of its own", instead="pass what np.memmap or np.load made")
        self.name, self.mode = str(root.filename), "r" if root.mode == "r" or not array.flags.writeable else "r+"
        self.shape, self.dtype, self.ndim, self.strides = array.shape, array.dtype, array.ndim, array.strides
        low = np.lib.array_utils.byte_bounds(array)[0] if array.size else array.ctypes.data
        self.offset = root.offset + low - root.ctypes.data
        self.first = array.ctypes.data - low
        self.n_bytes = np.lib.array_utils.byte_bounds(array)[1] - low if array.size else 0

    def opened(self) -> np.ndarray:
        """The array, mapped anew in this process."""
        if not self.n_bytes:
            return np.empty(self.shape, self.dtype)
        mode: Any = self.mode
        raw = np.memmap(self.name, np.uint8, mode, self.offset, (self.n_bytes,))
        return np.ndarray(self.shape, self.dtype, raw.data, self.first, self.strides)

    def __getitem__(self, index: Any) -> np.ndarray:
        """A part, read: what is mapped counts as memory of a worker, which may not have all of it."""
        part = np.asarray(self.opened()[index])
        made = memory(part.shape, part.dtype)
        made[...] = part
        return made

    def __setitem__(self, index: Any, value: Any) -> None:
        self.opened()[index] = value

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        from dask.base import normalize_token

        return "tracebuf.dask.Mapped", self.name, self.offset, self.first, self.shape, self.strides, normalize_token(
            self.dtype
        )


def file_of(a: Any) -> Mapped | None:
    """The file that a dask array is, where that is only read: any part of it can be read where it is needed."""
    from dask.array.core import getter, getter_inline, getter_nofancy

    layers = a.dask.layers
    original = layers.get(f"original-{a.name}", {}).get(f"original-{a.name}")
    found = getattr(original, "value", original)
    task = getattr(layers.get(a.name), "task", None)
    if not isinstance(found, Mapped) or getattr(task, "func", None) not in (getter, getter_inline, getter_nofancy):
        return None
    aligned = all(n % found.dtype.alignment == 0 for n in (found.offset + found.first, *found.strides))
    return found if found.mode == "r" and found.dtype.isnative and aligned and found.shape == a.shape else None


def in_parts(a: Any) -> Any:
    """An array of NumPy's as one of dask's, by the name of its file where it has one."""
    import dask.array as da

    try:
        return da.from_array(Mapped(a), asarray=False)
    except UnsupportedError:
        return da.from_array(a)
