"""How each function of the support table is called: a hole for each parameter, found by its name.

`PARAMETERS` says what stands at a parameter of that name in any function, so that a new function needs nothing here.
What differs is said in a line of `_specify`, which stands with the function's family: holes for single parameters,
which values are drawn (`pool`), and how near results must be (`near`):

    exact    eager's bits
    loops    the same where all arrays are contiguous, else within 4 ulp (rule C2)
    sums     within the rounding errors of sums of that many terms
    folds    whatever: NumPy's own loop is wrong there (folds of np.arctan2 and np.power by vectors, NumPy 2.4)
    solves   within those of a well-conditioned system of equations
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import field, replace
from functools import cache
from typing import Any, Literal

import numpy as np

from tracebuf.frozen import frozen
from tracebuf.testing import names
from tracebuf.testing.drawn import FLOATS, INTEGERS, NUMBERS, SHAPES, Drawn, Hole, texts_of
from tracebuf.testing.holes import (
    ARRAY,
    ARRAYS,
    AXES,
    AXIS,
    BOOLS,
    DTYPE,
    FLAG,
    MASK,
    NUMBER,
    OPERAND,
    ORDER,
    OTHER,
    PLACES,
    SAME,
    SHAPE,
    VECTOR,
    WRITABLE,
    array_of,
    arrays_along,
    ints,
    several,
)

__all__ = ["OUT", "Near", "Spec", "spec_of"]

Near = Literal["exact", "loops", "sums", "solves", "folds"]
OUT = "out"
"""The hole of `out=`: filled last, by what eager NumPy gives without it."""
PARAMETERS: dict[str, Hole | None] = {
    **dict.fromkeys("a x x1 z m arr ary array p f y v val element data prototype a1 ar1 cond condition".split(), ARRAY),
    **dict.fromkeys("b x2 a2 ar2 values fill_value vals value test_elements".split(), OTHER),
    **dict.fromkeys("arrays tup arys".split(), ARRAYS),
    **dict.fromkeys("axis axis1 axis2 axisa axisb axisc source destination start".split(), AXIS),
    **dict.fromkeys(
        "keepdims equal_nan endpoint sparse retstep returned increasing rowvar bias right density include_initial "
        "assume_unique invert return_index return_inverse return_counts".split(),
        FLAG,
    ),
    **dict.fromkeys("k offset".split(), ints(1, 0, -1, 2, 7)),
    **dict.fromkeys("indices ind".split(), PLACES),
    **dict.fromkeys("shape newshape new_shape dimensions".split(), SHAPE),
    "axes": AXES, "where": MASK, "dtype": DTYPE, "initial": NUMBER, "order": ORDER, "copy": FLAG, "N": ints(3, 2, 0, 1),
    "M": ints(4, 2, 0, 1), "n": ints(3, 1, 0, 2), "decimals": ints(1, 0, 2, -1), "ddof": texts_of("1|0|2|1.5|9"),
    "correction": texts_of("1|0"), "mode": texts_of("'raise'|'wrap'|'clip'"), "num": ints(5, 1, 0, 2),
    "casting": texts_of("'same_kind'|'unsafe'|'safe'|'no'"), "norm": texts_of("None|'ortho'|'forward'|'backward'"),
    "rtol": texts_of("1e-3|0.5"), "atol": texts_of("0|1e-2"), "stop": NUMBER, "step": NUMBER,
    "shift": ints(1, -2, 0, 9),
    "mean": None, "subok": None, "like": None, "device": None, "kwargs": None, "optimize": FLAG, "copyto": None,
    "side": texts_of("'left'|'right'"), "indexing": texts_of("'xy'|'ij'"), "fweights": None, "aweights": None,
    "kind": texts_of("None|'stable'|'quicksort'"), "stable": texts_of("None|True"), "deg": FLAG, "dx": NUMBER,
    "minlength": ints(0, 3), "base": texts_of("10.0|2.0"), "UPLO": texts_of("'L'|'U'"), "edge_order": texts_of("1|2"),
    "to_end": None, "to_begin": None, "method": texts_of("'linear'|'lower'|'nearest'"), "overwrite_input": None,
    "weights": SAME, "prepend": NUMBER, "append": NUMBER, "nan": NUMBER, "posinf": NUMBER, "neginf": NUMBER,
}  # fmt: skip
"""None: not tried, for it has no meaning on plain arrays."""


@frozen(slots=False)
class Spec:
    """How calls of one function are drawn and judged. `form` is the text around `{}`, the arguments; a form without it
    is filled by `whole`. `required` and `optional` are parameters with their holes, the former without their names."""

    name: str
    form: str
    required: tuple[tuple[str, Hole], ...] = ()
    optional: tuple[tuple[str, Hole], ...] = ()
    out: bool = False
    method: bool = False
    whole: Hole | None = None
    dtypes: Sequence[str] = NUMBERS
    shapes: Sequence[tuple[int, ...]] = SHAPES
    pool: str = "any"
    near: Near = "exact"
    masks: bool = False
    """Whether `where=` leaves elements as they are, so that it is only drawn with `out=`."""
    own: bool = False
    """Whether the form is written out here, for what has no handler of its own (loops over `zip` and the like)."""
    pure: bool = True
    """Whether its first array may be a view or a copy that is made inside."""
    given: dict[str, Any] = field(default_factory=dict, compare=False)


_SPECIAL: dict[str, dict[str, Any]] = {}
_FIELDS = ("dtypes", "shapes", "pool", "near", "whole", "form", "pure", "required", "optional")


def _specify(texts: str, **given: Any) -> None:
    """What is special in functions, named without `np.`."""
    for text in texts.split():
        name = text if text.startswith(("ndarray.", "math.", "cmath.", "python.")) else f"np.{text}"
        name = name.removeprefix("python.")
        _SPECIAL[name] = {**_SPECIAL.get(name, {}), **given}


# -- reductions
_SUMMED = "sum prod mean std var nansum nanprod nanmean nanstd nanvar average trace cumsum cumprod nancumsum nancumprod"
_specify(_SUMMED + " cumulative_sum cumulative_prod", near="sums", pool="sums")
_specify(f"{_SUMMED} max min amax amin any all ptp count_nonzero nanmax nanmin median nanmedian", axis=AXES)
_specify("cumsum cumprod nancumsum nancumprod trace cumulative_sum cumulative_prod", axis=AXIS)
_specify("average", weights=SAME)
_specify("max min amax amin nanmax nanmin", where=MASK)

# -- shapes


def _reshaped(d: Drawn) -> str:
    """A shape that the main array may have."""
    n = int(np.prod(d.shape, dtype=int))
    parts = [k for k in range(1, n + 1) if n % k == 0]
    one = d.pick(parts or [0])
    other = n // one if one else 2
    return str(d.pick((-1, n, (n,), (one, -1), (one, other), (-1, one), (1, *d.shape), d.shape[::-1], (one, 1, -1))))


def _permuted(d: Drawn) -> str:
    n = d.ndim
    orders = [tuple(range(n))[::-1], tuple(range(n)), (*range(1, n), *range(min(n, 1))), tuple(range(-n, 0))]
    return str(d.pick([*orders, "None"]))


def _wider(d: Drawn) -> str:
    return str(d.pick(((2, *d.shape), tuple(2 if n == 1 else n for n in d.shape), d.shape, (3, 2), (2, 2, *d.shape))))


def _sections(d: Drawn) -> str:
    return str(d.pick((2, 1, 3, [1], [1, 2], [2, 2, 3], [0, -1], [])))


def _axis_or_axes(d: Drawn) -> str:
    return d.pick((AXIS, AXIS, AXES))(d)  # type: ignore[no-any-return]


_specify("reshape", shape=_reshaped, order=texts_of("'C'|'F'|'A'"))
_specify("ndarray.reshape", shape=_reshaped, order=texts_of("'C'|'F'|'A'"))
_specify("ravel ndarray.ravel ndarray.flatten", order=texts_of("'C'|'F'|'K'|'A'"))
_specify("transpose permute_dims ndarray.transpose", axes=_permuted)
_specify("squeeze ndarray.squeeze flip expand_dims", axis=_axis_or_axes)
_specify("broadcast_to", shape=_wider)
_specify("split array_split hsplit vsplit dsplit", indices_or_sections=_sections)
_specify("rot90", k=texts_of("1|0|2|3|-1|5"), axes=texts_of("(0, 1)|(1, 0)|(-1, -2)|(0, 0)"))
_specify("diagonal ndarray.diagonal", axis1=AXIS, axis2=AXIS)
_specify("matrix_transpose", shapes=((2, 3), (3, 3), (2, 3, 2), (3,), (0, 2), (1, 3)))
_specify("atleast_1d atleast_2d atleast_3d broadcast_arrays", arys=several(ARRAY), args=several(OTHER))
_specify("ndarray.view", args=texts_of(""), whole=lambda d: f"{d.array()}.view()")

# -- joining
_specify("concatenate concat append", arrays=arrays_along(0), values=SAME)
_specify("hstack", tup=arrays_along(1))
_specify("vstack row_stack dstack column_stack", tup=arrays_along(0))
_specify("roll", axis=_axis_or_axes, shift=lambda d: d.pick((ints(1, -2, 0, 9), texts_of("(1, 2)")))(d))
_specify("repeat ndarray.repeat", repeats=lambda d: d.pick((ints(2, 0, 1, 3), texts_of("[1, 2, 0]")))(d))
_specify("tile", A=ARRAY, reps=texts_of("2|(2, 1)|(1, 2)|0|(2, 1, 2)|1|()"))
_specify(
    "pad",
    pad_width=texts_of("1|(1, 2)|((1, 2),)|0|((0, 1), (2, 0))"),
    mode=texts_of("'constant'|'edge'|'wrap'|'reflect'|'symmetric'"),
    constant_values=NUMBER,
)
_specify("diff", n=texts_of("1|0|2|3"), near="loops")
_specify("meshgrid", xi=several(VECTOR), copy=FLAG)
_specify("block", arrays=lambda d: f"[[{(a := d.array(shapes_two(d)))}, {a}], [{a}, {a}]]")


def shapes_two(d: Drawn) -> tuple[int, ...]:
    return tuple(d.pick(((2, 3), (1, 1), (3,), (0, 2))))


# -- creation
_specify("zeros ones empty full", order=texts_of("'C'|'F'"), fill_value=NUMBER)
_specify("empty", whole=lambda d: f"np.empty({SHAPE(d)}, {DTYPE(d)}).shape")
_specify("ndarray", whole=lambda d: f"np.ndarray({SHAPE(d)}, {DTYPE(d)}).dtype")
_specify("empty_like", whole=lambda d: f"np.empty_like({ARRAY(d)}, order={ORDER(d)}).shape")
_specify("zeros_like ones_like full_like", shape=SHAPE)
_specify("arange", whole=lambda d: f"np.arange({d.pick((_RANGE1, _RANGE2, _RANGE3))(d)}{_maybe(d, 'dtype', DTYPE)})")
_specify("linspace logspace geomspace", start=NUMBER, near="loops")
_specify("eye tri identity", k=ints(0, 1, -1, 5), order=texts_of("'C'|'F'"))
_specify("tril triu diag diagflat", pool="any")
_specify("copyto", dst=ARRAY, src=OTHER, whole=lambda d: f"(np.copyto({ARRAY(d)}, {OTHER(d)}), {d.main_name})[1]")
_specify("array asarray asanyarray", object=lambda d: d.pick((ARRAY, NUMBER, _nested))(d), ndmin=texts_of("0|2|3"))
_specify("array asarray asanyarray ascontiguousarray asfortranarray copy ndarray.copy", a=ARRAY)
_specify("array asarray asanyarray", copy=texts_of("True|None"))
_specify("require", requirements=texts_of("None|'C'|'F'|'W'|['A', 'C', 'W']|'FORTRAN'"))
_specify("common_type", whole=lambda d: f"np.common_type({ARRAY(d)}, {OTHER(d)})")
_specify("array", ndmax=None)
_specify("select", condlist=lambda d: f"[{(d.array(), BOOLS(d))[1]}, {BOOLS(d)}]", choicelist=lambda d: _two(d))
_specify("where", whole=lambda d: f"np.where({OPERAND(d)}, {OTHER(d)}, {OTHER(d)})")
_specify("einsum", whole=lambda d: _einsum(d), near="sums", pool="sums")


def _einsum(d: Drawn) -> str:
    kind = d.pick(
        ("ij->ji", "ij->", "ij->j", "ii->i", "ii", "ij,jk->ik", "ij,ij->ij", "ij,j", "ij,kj->ki", "...j->...")
    )
    m = d.array(tuple(d.pick(((3, 3),) if "ii" in kind else ((3, 3), (2, 3), (0, 3)))))
    n = d.shape[1]
    other = {"ij,jk->ik": (n, 2), "ij,ij->ij": d.shape, "ij,j": (n,), "ij,kj->ki": (2, n)}.get(kind)
    return f"np.einsum('{kind}', {m}" + (")" if other is None else f", {d.array(other)})")


def _two(d: Drawn) -> str:
    return f"[{OTHER(d)}, {OTHER(d)}]"


def _nested(d: Drawn) -> str:
    return str(d.pick(([1, 2, 3], [[1.0, 2.0], [3.0, 4.0]], [], (1, 2.5), [[True], [False]], [[1, 2], [3]])))


def _maybe(d: Drawn, name: str, hole: Hole) -> str:
    return f", {name}={hole(d)}" if d.one_in(3) else ""


def _START(d: Drawn) -> str:
    """No uint32: 0 - np.uint32(1) is a range of 4 billions."""
    kind = d.pick(("int", "float", "int", "int64", "float32", "uint8", "int16"))
    return d.number(kind, (2.5, 0.0, 5.0) if kind.startswith("float") else (3, 0, 1, 5))


def _RANGE1(d: Drawn) -> str:
    return _START(d)


def _RANGE2(d: Drawn) -> str:
    return f"{_START(d)}, {d.number('int', (5, 3, 0))}"


def _RANGE3(d: Drawn) -> str:
    return f"{d.number('int', (0, 5, -3))}, {d.number('float', (4.0, 0.5))}, {d.pick(('1', '0.25', '2', '-1', '0'))}"


_specify("fromfunction", function=texts_of("lambda i, j: i + j|lambda i, j: i == j"), shape=texts_of("(3, 2)|(1, 4)"))
_specify("trim_zeros", filt=VECTOR, trim=texts_of("'fb'|'f'|'b'"))
_specify("putmask", whole=lambda d: f"(np.putmask({ARRAY(d)}, {MASK(d)}, {NUMBER(d)}), {d.main_name})[1]", pure=False)
_specify("lib.stride_tricks.sliding_window_view", window_shape=texts_of("2|(2,)|1|(1, 2)|0|5"), writeable=None)

# -- products


def _after_dot(d: Drawn) -> str:
    """An array that np.dot takes after the main one."""
    n = d.shape[-1] if d.shape else 3
    shapes = [(n,), (n, 2), (n, 3), d.shape[::-1], (2, n, 2), (), (n, 0)]
    return d.array(tuple(d.pick(shapes)), None if d.one_in(3) else (d.main.dtype if d.main else "float64",))


def _after_inner(d: Drawn) -> str:
    n = d.shape[-1] if d.shape else 3
    return d.array(tuple(d.pick([(n,), (2, n), d.shape, (3, n)])))


_PRODUCTS = "inner vdot outer vecdot matvec vecmat kron cross tensordot einsum convolve correlate cov corrcoef"
_specify(_PRODUCTS, near="sums", pool="sums", b=_after_inner, x2=_after_inner, v=VECTOR)
_specify("dot matmul ndarray.dot", b=_after_dot, x2=_after_dot, other=_after_dot, near="sums", pool="sums")
_specify("outer kron", b=ARRAY)
_specify("vdot cross", b=SAME)
_specify("convolve correlate", a=VECTOR, mode=texts_of("'full'|'same'|'valid'"))
_SQUARES = ((3, 3), (2, 2), (1, 1), (2, 3, 3), (0, 0), (3, 3), (2, 3), (3,))
_MATRICES = ((3, 3), (2, 3), (3, 2), (1, 1), (2, 3, 2), (0, 2), (3,))
_SOLVED = ("float64", "float32", "complex128", "int64")


def _right_side(d: Drawn) -> str:
    n = d.shape[-1] if d.shape else 3
    return d.array(tuple(d.pick(((n,), (n, 2), (n, 1), (*d.shape[:-2], n, 2), (n + 1,)))), _known(_SOLVED))


def _known(dtypes: Sequence[str]) -> Sequence[str]:
    return [k for k in dtypes if k in NUMBERS]


def _linalg(texts: str, **given: Any) -> None:
    given = {"near": "solves", "shapes": _SQUARES, "pool": "regular", "dtypes": _known(_SOLVED), **given}
    _specify(" ".join(f"linalg.{t}" for t in texts.split()), **given)


_linalg(
    "inv det slogdet solve tensorsolve tensorinv matrix_power cond eigvals eig", b=_right_side, n=ints(2, 0, 1, -1, 3)
)
_linalg("cholesky eigh eigvalsh", pool="spd")
_linalg("qr svd svdvals pinv lstsq matrix_rank matrix_norm", shapes=_MATRICES, b=_right_side)
_linalg("qr", mode=texts_of("'reduced'|'complete'|'r'|'raw'"))
_linalg("multi_dot", shapes=((3, 3),), pool="sums")
_linalg(
    "norm vector_norm trace diagonal cross outer vecdot matmul tensordot", shapes=SHAPES, dtypes=NUMBERS, near="sums"
)
_specify("linalg.norm", ord=texts_of("None|1|2|np.inf|-np.inf|0|3|'fro'"), axis=AXES, near="sums", pool="sums")

# -- places, order, statistics


def _sorted_vector(d: Drawn) -> str:
    return d.array((d.pick((3, 5, 1, 9)),), None, "sorted")


def _sorter(d: Drawn) -> str:
    """What sorts a vector that is sorted: among others nothing is found in any order."""
    return f"np.arange({d.shape[0] if d.ndim else 1})"


def _points(d: Drawn) -> str:
    """Two vectors as np.interp takes them."""
    n = d.pick((3, 5, 1))
    return f"{d.array((n,), _REAL, 'sorted')}, {d.array((n,), NUMBERS, 'sums')}"


_REAL = tuple(k for k in NUMBERS if np.dtype(k).kind in "iuf")
_KTH, _QUANTILES = texts_of("1|0|-1|[0, 1]|2"), texts_of("0.5|[0.25, 0.75]|0.0|1.0|0.1|(0.5,)|1.5")
_specify("bincount", x=array_of(INTEGERS, ((5,), (3,), (0,), (1,)), "index"), weights=SAME, minlength=ints(0, 3))
_specify("searchsorted ndarray.searchsorted", a=_sorted_vector, v=OTHER, sorter=_sorter, pool="sums")
_specify("ndarray.searchsorted", self=_sorted_vector)
_specify("digitize", bins=_sorted_vector, x=ARRAY, right=FLAG)
_specify(
    "interp", whole=lambda d: f"np.interp({d.pick((ARRAY, NUMBER))(d)}, {_points(d)}{_maybe(d, 'left', NUMBER)})",
    dtypes=_REAL, near="sums", pool="sums",
)  # fmt: skip
_specify("partition argpartition ndarray.partition ndarray.argpartition", kth=_KTH)
_ORDERED = "percentile quantile nanpercentile nanquantile median nanmedian"
_specify(_ORDERED, q=_QUANTILES, axis=AXES, near="sums", pool="sums", dtypes=_REAL)
_specify("histogram histogram_bin_edges", bins=texts_of("3|5|[0.0, 1.0, 2.0]|'auto'"), range=texts_of("(0, 4)|None"))
_specify("histogram histogram_bin_edges histogram2d histogramdd", near="sums", pool="sums", dtypes=_REAL, weights=SAME)
_specify("histogram2d", x=VECTOR, y=SAME, bins=texts_of("3|[2, 3]"))
_specify("lexsort", keys=ARRAYS)
_specify("choose", whole=lambda d: f"np.choose({d.array(None, INTEGERS, 'index')}, ({SAME(d)}, {NUMBER(d)}, 1))")
_specify("gradient", varargs=None, f=ARRAY, edge_order=texts_of("1|2"), near="sums", pool="sums")
_specify("trapezoid", x=SAME, near="sums", pool="sums")
_specify("cov corrcoef", y=SAME, ddof=texts_of("None|1|0"), shapes=((3, 4), (5,), (2, 3), (1, 3), (3, 1), (0,)))
_specify("convolve correlate", a=VECTOR, v=VECTOR)
_specify("cross linalg.cross", shapes=((3,), (2, 3), (2,), (4, 2), (2, 2, 3), (4,)), b=SAME, x2=SAME)
_specify("tensordot linalg.tensordot", b=SAME, x2=SAME, axes=texts_of("1|0|2|([0], [0])|([1], [1])|([-1], [0])"))
_specify("kron", near="exact", pool="sums", b=array_of(None, ((2,), (2, 2), (), (1, 3), (0,))))
_specify("insert", obj=texts_of("0|1|-1|[0, 2]|9|np.array([1, -1])|slice(0, 2)|[-1, 0]"), values=NUMBER)
_specify("delete", obj=texts_of("0|1|-1|[0, 1]|9|slice(0, 2)"))
_specify("piecewise", whole=lambda d: f"np.piecewise({ARRAY(d)}, [{BOOLS(d)}, {BOOLS(d)}], [1, {NUMBER(d)}, 3])")
_specify("apply_along_axis", whole=lambda d: f"np.apply_along_axis(np.sum, {(ARRAY(d), d.axis())[1]}, {d.main_name})")
_specify("fill_diagonal", val=NUMBER, shapes=((3, 3), (2, 3), (5, 2), (2, 2, 2), (3,), (0, 0), (1, 1)), wrap=FLAG)
_specify("ravel_multi_index", whole=lambda d: f"np.ravel_multi_index(({d.array((3,), INTEGERS, 'index')}, 1), (3, 4))")
_specify("indices", dimensions=SHAPE, sparse=FLAG)
_specify("bartlett blackman hamming hanning kaiser", M=ints(4, 1, 0, 5), beta=texts_of("14.0|0"), near="sums")
_POLYNOMIALS = "polyval polyadd polysub polymul polydiv polyder polyint poly roots vander"
_specify(_POLYNOMIALS, p=VECTOR, x=VECTOR, a1=VECTOR, a2=VECTOR, u=VECTOR, v=VECTOR, seq_of_zeros=VECTOR)
_specify(_POLYNOMIALS, m=texts_of("1|2|0"), N=texts_of("3|0|None"), near="sums", pool="sums", k=None)
_FFTS = "fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn"
for _name in _FFTS.split():
    _specify(f"fft.{_name}", near="solves", pool="sums", n=texts_of("4|3|None|1"), s=texts_of("None|(2, 3)"))
    _specify(f"fft.{_name}", axes=texts_of("None|(0, 1)|(-1,)"), shapes=((4,), (2, 3), (5,), (3, 4), (2, 2, 3), (1,)))
_specify("polyfit", x=VECTOR, y=SAME, deg=texts_of("1|2|0"), near="solves", pool="sums")
_specify("tril_indices triu_indices tri", m=ints(3, 2), M=ints(3, 2))
_specify("fft.fftfreq fft.rfftfreq", n=ints(4, 5, 1), d=texts_of("1.0|0.5"))
_specify("fft.fftshift fft.ifftshift", axes=texts_of("None|0|(0,)|-1"))

# -- rounding and clipping
_BOUND = OTHER
_specify("clip ndarray.clip", a_min=_BOUND, a_max=_BOUND, min=_BOUND, max=_BOUND)
_specify("nan_to_num round around", near="exact")
_specify("ndarray.astype", casting=texts_of("'unsafe'|'same_kind'"), order=ORDER)
_specify("ndarray.fill", whole=lambda d: f"({ARRAY(d)}.fill({NUMBER(d)}), {d.main_name})[1]", pure=False)
_specify("ndarray.item", whole=lambda d: f"{d.array(((), (1,), (3,), (2, 2))[d.pick((0, 1, 2, 3))])}.item({_place(d)})")


def _place(d: Drawn) -> str:
    return str(d.pick(("", d.pick(range(-3, 4)), ", ".join("0" * d.ndim))))


# -- ufuncs
_UFUNC_OPTIONS: dict[str, Hole] = {"where": MASK, "dtype": DTYPE, "casting": PARAMETERS["casting"], "order": ORDER}  # type: ignore[dict-item]
_METHODS: dict[str, tuple[dict[str, Hole], dict[str, Hole]]] = {
    "reduce": ({"array": ARRAY}, {"axis": AXES, "dtype": DTYPE, "keepdims": FLAG, "initial": NUMBER, "where": MASK}),
    "accumulate": ({"array": ARRAY}, {"axis": AXIS, "dtype": DTYPE}),
    "outer": ({"a": OPERAND, "b": OPERAND}, {"dtype": DTYPE}),
    "reduceat": ({"array": ARRAY, "indices": texts_of("[0, 1]|[0, 2, 1]|[0]")}, {"axis": AXIS, "dtype": DTYPE}),
    "at": ({}, {}),
}


def _at(name: str) -> Hole:
    def whole(d: Drawn) -> str:
        head = f"np.{name}.at({WRITABLE(d)}, {PLACES(d)}"
        rest = f", {NUMBER(d)})" if getattr(np, name).nin == 2 else ")"
        return f"({head}{rest}, {d.main_name})[1]"

    return whole


def _of_ufunc(name: str, value: np.ufunc, special: dict[str, Any]) -> Spec:
    if value.signature is not None:
        second = _after_dot if value is np.matmul else _after_inner
        required: tuple[tuple[str, Hole], ...] = (("x1", ARRAY), ("x2", second))
        found = Spec(name, f"{name}({{}})", required, (("dtype", DTYPE),), True, near="sums", pool="sums")
    else:
        required = (("x1", OPERAND), ("x2", OTHER))[: value.nin]
        found = Spec(name, f"{name}({{}})", required, tuple(_UFUNC_OPTIONS.items()), True, near="loops", masks=True)
    return replace(found, **{k: v for k, v in special.items() if k in _FIELDS})


def _of_method(name: str, value: Any) -> Spec:
    """A method of a ufunc, as `np.add.reduce`."""
    ufunc, method = name.split(".")[1:]
    required, optional = _METHODS[method]
    rounded = ufunc in ("add", "multiply", "subtract", "divide", "hypot", "logaddexp", "logaddexp2", "arctan2", "power")
    near: Near = "sums" if rounded and method != "outer" else "loops"
    pool = "sums" if near == "sums" else "any"
    if ufunc in ("arctan2", "power") and method in ("reduce", "reduceat"):
        near = "folds"
    whole = _at(ufunc) if method == "at" else None
    found = Spec(name, f"{name}({{}})", tuple(required.items()), tuple(optional.items()), method != "at")
    return replace(found, near=near, pool=pool, whole=whole, pure=method != "at")


# -- numbers
_REALS = (0.5, 2.0, -1.5, 0.0, -0.0, math.inf, math.nan, 1e300, 7.0, -700.0)
_INT = ints(3, 0, -2, 7, 12)


def _FLOAT(d: Drawn) -> str:
    return d.number("float", _REALS).replace("nan", "np.nan").replace("inf", "np.inf")


def _any_number(d: Drawn) -> str:
    kind = d.pick(("float", "int", "float", "bool", *FLOATS, *INTEGERS))
    if kind == "float":
        return _FLOAT(d)
    return _INT(d) if kind == "int" else d.number(kind, (1, 0) if kind == "bool" else (2, 0, 1, 3))


def _any_complex(d: Drawn) -> str:
    return d.number("complex", (0.5 + 2j, -1j, 0j, 3.0, -1.5, complex(math.nan, 1))) if d.one_in(2) else _any_number(d)


def _ITEMS(d: Drawn) -> str:
    return VECTOR(d) if d.one_in(2) else f"({_FLOAT(d)}, {_INT(d)}, {_FLOAT(d)})"


_specify("math.gcd math.lcm", integers=several(_INT))
_specify("math.isqrt math.factorial", n=_INT)
_specify("math.comb math.perm", n=_INT, k=ints(2, 0, 5))
_specify("math.ldexp", i=_INT)
_specify("math.hypot", form="math.hypot({})", required=(("coordinates", several(_FLOAT)),))
_specify("cmath.log", form="cmath.log({})", required=(("x", lambda d: _any_complex(d)),))
_specify("math.log", form="math.log({})", required=(("x", _any_number),))
_specify("math.isclose", b=_any_number, rel_tol=texts_of("1e-9|0.5|-1.0"), abs_tol=texts_of("0.0|0.5"))
_specify("math.fsum math.prod", seq=_ITEMS, iterable=_ITEMS, start=NUMBER)
_specify("math.dist", p=_ITEMS, q=_ITEMS)
_WHOLE: dict[str, Hole] = {
    "abs": lambda d: f"abs({d.pick((_any_number, ARRAY))(d)})",
    "float": lambda d: f"float({d.pick((_any_number, ARRAY))(d)})",
    "int": lambda d: f"int({d.pick((_any_number, ARRAY))(d)})",
    "bool": lambda d: f"bool({d.pick((_any_number, ARRAY))(d)})",
    "round": lambda d: f"round({d.pick((_any_number, ARRAY))(d)}{d.pick(('', ', 1', ', -1'))})",
    "divmod": lambda d: f"divmod({d.pick((_any_number, ARRAY))(d)}, {d.pick((_any_number, OTHER))(d)})",
    "pow": lambda d: f"pow({d.pick((_any_number, ARRAY))(d)}, {d.pick((_any_number, ints(2, 3)))(d)})",
    "any": lambda d: f"any({_ITEMS(d)})", "all": lambda d: f"all({_ITEMS(d)})", "sum": lambda d: f"sum({_ITEMS(d)})",
    "min": lambda d: f"min({d.pick((several(_any_number, (2, 3)), _ITEMS))(d)})",
    "max": lambda d: f"max({d.pick((several(_any_number, (2, 3)), _ITEMS))(d)})",
    "len": lambda d: f"len({d.pick((ARRAY, _ITEMS))(d)})", "type": lambda d: f"type({OPERAND(d)})",
    "isinstance": lambda d: f"isinstance({OPERAND(d)}, {d.pick(('np.ndarray', 'float', '(int, np.integer)'))})",
    "slice": lambda d: f"{ARRAY(d)}[slice({d.pick(('2', '1, None', '0, 5, 2', 'None, None, -1'))}), ...]",
    "range": lambda d: f"[i for i in range({d.pick(('3', '1, 4', '5, 0, -2'))})]",
    "enumerate": lambda d: f"[i for i, _ in enumerate({_ITEMS(d)})]", "tuple": lambda d: f"tuple([{_any_number(d)}])",
    "zip": lambda d: f"[x for x, y in zip(({NUMBER(d)}, 1), ({NUMBER(d)}, 2))]",
    "reversed": lambda d: f"[x for x in reversed(({NUMBER(d)}, {NUMBER(d)}))]",
    "map": lambda d: f"[x for x in map(abs, ({NUMBER(d)}, {NUMBER(d)}))]",
    "filter": lambda d: f"[x for x in filter(None, [1, 0, {d.pick((2, 3))}])]",
    "iter": lambda d: f"[x for x in iter(({NUMBER(d)}, 2))]", "next": lambda d: f"next(iter(({NUMBER(d)}, 2)))",
    "np.ndindex": lambda d: f"[i for i in np.ndindex({d.pick(('2', '2, 3', '(1, 2)'))})]",
    "np.ndenumerate": lambda d: f"[x for _, x in np.ndenumerate({d.array((2, 3))})]",
    "list": lambda d: f"list(({_any_number(d)}, 2))", "complex": lambda d: f"complex({_FLOAT(d)}, {_FLOAT(d)})",
}  # fmt: skip


def _of_attribute(name: str, value: Any) -> Spec:
    attribute = name.removeprefix("ndarray.")
    ending = {"flat": ".flat[0]", "ctypes": ".ctypes.data"}.get(attribute, f".{attribute}")
    return Spec(name, "", whole=lambda d: f"{ARRAY(d)}{ending}")


def _of_signature(name: str, special: dict[str, Any]) -> Spec:
    """A function or an array method, by its parameters."""
    method = name.startswith("ndarray.")
    parameters = list(names.parameters(name))
    if method and any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
        like = names.parameters("np." + name.removeprefix("ndarray."))
        kept = [p for p in like[1:] if p.name in ("keepdims", "initial", "where")]
        parameters = [p for p in parameters if p.kind is not inspect.Parameter.VAR_KEYWORD] + kept
    required: dict[str, Hole] = {"self": special.get("self", ARRAY)} if method else {}
    optional: dict[str, Hole] = {}
    seen = set(required)
    for p in parameters:
        if p.name in seen:
            continue
        seen.add(p.name)
        hole = special.get(p.name, PARAMETERS.get(p.name))
        needed = p.default is p.empty and p.kind is not p.VAR_KEYWORD
        if name.startswith(("math.", "cmath.")):
            hole = special.get(p.name, _any_number if name.startswith("math.") else _any_complex)
        if p.kind is p.VAR_POSITIONAL and hole is None:
            hole = special.get("shape" if "shape" in p.name else p.name)
        if p.name != OUT and hole is not None:
            (required if needed else optional)[p.name] = hole
        elif needed and p.name not in special:
            required[p.name] = ARRAY
    more = {k: v for k, v in special.items() if k not in _FIELDS and k not in seen and _takes_any(parameters)}
    form = "{0}." + name.removeprefix("ndarray.") + "({1})" if method else f"{name}({{}})"
    found = Spec(
        name, form, tuple(required.items()), tuple({**optional, **more}.items()), OUT in seen, method, given=special
    )
    return replace(found, **{k: v for k, v in special.items() if k in _FIELDS})


def _takes_any(parameters: Sequence[inspect.Parameter]) -> bool:
    return any(p.kind is p.VAR_KEYWORD for p in parameters)


@cache
def spec_of(name: str) -> Spec:
    """How calls of a name are drawn. At a parameter that must be given and has no hole of its own stands an array."""
    value = names.object_of(name)
    special = _SPECIAL.get(name, {})
    if name.startswith("ndarray."):
        special = {**_SPECIAL.get("np." + name.removeprefix("ndarray."), {}), **special}
        whole = _SPECIAL.get(name, {}).get("whole")
        special = {k: v for k, v in special.items() if k not in ("whole", "form")} | ({"whole": whole} if whole else {})
    if "whole" in special:
        return Spec(name, "", **{k: v for k, v in special.items() if k in _FIELDS})
    if "form" in special:
        return Spec(name, **{k: v for k, v in special.items() if k in _FIELDS})
    if name in _WHOLE:
        return Spec(name, "", whole=_WHOLE[name], own=True)
    if isinstance(value, np.ufunc):
        return _of_ufunc(name, value, special)
    if names.section(name) == "Methods of ufuncs":
        return _of_method(name, value)
    if names.section(name) == "NumPy's types":
        return Spec(name, "", whole=lambda d: f"{name}({OPERAND(d)})")
    if not callable(value):
        return _of_attribute(name, value)
    return _of_signature(name, special)
