"""np.memmap arguments: traced as the arrays that they are, as long as it is known which results are memmaps too.

In NumPy a view of a memmap is a memmap, what a ufunc computes of it is an ndarray, a copy of it is a memmap on memory
of its own, and np.asarray gives another object. What a function of NumPy's makes is told by the tables below; where
another one has made something, a returned array may be either, and is refused. Source: numpy/_core/memmap.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.call.arguments import Leaf
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.values import ArrayRef, Storage
from tracebuf.frozen import plain
from tracebuf.ir.dims import sub

INSTEAD = "pass np.asarray(x), an array of the same memory"

VIEWS = frozenset((
    "reshape", "ravel", "transpose", "swapaxes", "moveaxis", "diagonal", "flip", "fliplr", "flipud", "view", "split",
    "asanyarray", "real", "atleast_1d", "atleast_2d", "atleast_3d", "rot90", "expand_dims", "diag",
))  # fmt: skip
"""Functions and methods whose results are memmaps where they are views."""
PLAIN = frozenset((
    "sum", "prod", "mean", "std", "var", "max", "min", "amax", "amin", "any", "all", "ptp", "cumsum", "cumprod", "clip",
    "median", "average", "nansum", "nanmean", "nanmax", "nanmin", "nanstd", "nanvar",
    "diff", "trapezoid", "where", "array", "outer", "einsum", "tensordot", "concatenate", "stack", "vstack", "hstack",
    "nonzero", "argwhere", "flatnonzero", "searchsorted", "digitize", "interp", "convolve", "cross", "kron", "unique",
    "bincount", "cov", "corrcoef", "tril", "triu", "diag", "vander", "select", "isclose", "count_nonzero",
    "pad", "linspace", "sinc", "unwrap", "append", "delete", "insert", "isin", "norm", "solve", "inv", "eigh", "svd",
    "fft", "rfft", "ifft", "det", "lstsq",
))  # fmt: skip
"""Functions and methods whose results are ndarrays where they are not views."""


@plain(eq=False)
class Maps:
    """Which arguments are memmaps, the first call after which it is not known of views of them whether they are memmaps
    (`views`), and by new array of which it is not known the call that made it (`made`)."""

    leaves: frozenset[Leaf]
    views: UnsupportedError | None = None
    made: dict[Storage, UnsupportedError] = field(default_factory=dict)

    def note(
        self, r: Recorder, function: Any, args: Iterable[ArrayRef], results: Iterable[ArrayRef], known: bool = True
    ) -> None:
        """Notes a call of a function of NumPy's, or of a method of an array (its name); `known`: whether the tables say
        what it makes."""
        given = list(args)
        numpys = isinstance(function, str) or (getattr(function, "__module__", None) or "").startswith("numpy")
        name = function if isinstance(function, str) else getattr(function, "__name__", "")
        rounded = name == "round" and all(a.dtype.kind == "f" for a in given)  # integers are copied
        made_new = known and numpys and (name in PLAIN or rounded)
        ufunc = isinstance(getattr(function, "__self__", function), np.ufunc)
        for x in results if given else ():
            what = f"whether an array is a memmap is not known after a call of {name}"
            if ufunc:
                continue
            if any(x.storage is a.storage for a in given):
                itself = made_new and name != "array" and any(x is a for a in given)  # of out=
                sure = name not in ("diagonal", "diag") or r.ask_nonneg(sub(x.shape[-1], 1)) is True  # empty: a memmap
                if not itself and not (numpys and name in VIEWS and sure):
                    self.views = self.views or r.refuse(what, INSTEAD)
            elif not made_new:
                self.made.setdefault(x.storage, r.refuse(what, INSTEAD))

    def check_result(self, r: Recorder, x: ArrayRef) -> None:
        """Raises UnsupportedError for a returned array of which it is not known whether it is a memmap."""
        if x.storage.arg is not None and x.storage.arg not in self.leaves:
            return
        by_path = (op := r.value(x.storage).defining_op) is not None and op.name.startswith("scf.")
        doubts = [self.made.get(x.storage), next(iter(self.made.values()), None) if by_path else None]
        doubts += [self.views if x.storage.arg is not None or by_path else None]
        for doubt in doubts:
            if doubt is not None:
                raise doubt

    def check_identity(self, r: Recorder) -> None:
        """Raises UnsupportedError where it was asked which object an array is, and np.asarray has made another one."""
        if self.views is not None and r.compared:
            raise self.views


def check_shown(r: Recorder) -> None:
    """Refuses the text of an array, which may name its class, in a program that has memmaps."""
    if r.maps is not None:
        raise r.refuse("the text of an array beside a memmap", INSTEAD)


def check_class(r: Recorder, asked: str, of_array: Any, of_map: Any) -> None:
    """Refuses a question of an array's class that a memmap answers in its own way, in a program that has memmaps."""
    if r.maps is not None and of_array != of_map:
        raise r.refuse(f"{asked} of an array that may be a memmap", INSTEAD)
