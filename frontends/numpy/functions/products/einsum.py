"""np.einsum, with subscripts known while tracing, as views, loop nests and matrix products; np.tensordot.

As in NumPy, a single operand of which nothing is summed gives a view; with `optimize=` pairs are contracted one after
another along np.einsum_path; without it all operands are in one loop nest, and the result is in K-order.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import methodcaller
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.new_arrays import array_of, as_array, only, strong
from tracebuf.frontends.numpy.arrays.reshape import order_of, reshaped, whole_number
from tracebuf.frontends.numpy.functions.products.contractions import (
    Labelled,
    Sizes,
    contract_pair,
    fitted,
    is_matrix_product,
    label_sizes,
    sum_of_products,
    typical,
)
from tracebuf.frontends.numpy.functions.products.matmul import matmul
from tracebuf.frontends.numpy.functions.reductions.reduce import deliver
from tracebuf.frontends.numpy.numbers.operands import out_of, supported
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.registry import traces
from tracebuf.frontends.numpy.record.values import ArrayRef, NpScalar, PyInt, axis_order
from tracebuf.ir.dims import product
from tracebuf.ir.types import ScalarType

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@traces(np.einsum)
def einsum(
    r: Recorder, *operands: Any, out: Any = None, optimize: Any = False, dtype: Any = None, order: Any = "K",
    casting: Any = "safe",
) -> Any:  # fmt: skip
    """np.einsum."""
    text, values = written(r, operands)
    items = [operand(r, x) for x in values]
    into = out_of(r, out)
    if order_of(order, "CFAK") == "A" or (order != "K" and optimize is not False):
        only(r, "np.einsum", order=(order, "K"))
    is_view = try_out(text, items, into, dtype, casting)
    terms, result = parse(text, [x.ndim if isinstance(x, ArrayRef) else 0 for x in items])
    labelled = [diagonals(r, x, term) for x, term in zip(items, terms)]
    if is_view:
        return labelled[0].ordered(result).array if result else labelled[0].array.derive(methodcaller("transpose", ()))
    kinds = [x.element.dtype for x in items] + ([] if into is None else [into.dtype])
    element = supported(ask(np.dtype, dtype) if dtype is not None else np.result_type(*kinds), "np.einsum", r.loc)
    sizes = label_sizes(r, labelled)
    if optimize is not False and len(labelled) > 1:
        found, is_array = along_path(r, labelled, result, sizes, None if dtype is None else element, optimize)
        return found if into is None and is_array else deliver(r, found, into, "einsum")
    return deliver(r, contract_all(r, labelled, result, sizes, element, order_of(order, "CFK")), into, "einsum")


def operand(r: Recorder, x: Any) -> ArrayRef | NpScalar:
    """An operand: an array, or a NumPy number."""
    if isinstance(x, (list, tuple)):
        return array_of(r, x, None)
    found = strong(r, x)
    if isinstance(found, np.generic):
        element = supported(found.dtype, "np.einsum", r.loc)
        return NpScalar(r.constant(found.item(), element), element)
    assert isinstance(found, (ArrayRef, NpScalar))
    return found


# -- subscripts


def written(r: Recorder, operands: Sequence[Any]) -> tuple[str, list[Any]]:
    """(subscripts, operands), from either form of call."""
    if not operands:
        wanted = "at least one operand, or at least one operand and its corresponding subscripts list"
        raise Raises(ValueError(f"must specify the einstein sum subscripts string and {wanted}"))
    if isinstance(operands[0], str):
        return operands[0].replace(" ", ""), list(operands[1:])
    n = len(operands) // 2
    text = ",".join(letters(r, operands[2 * k + 1]) for k in range(n))
    return text + ("->" + letters(r, operands[-1]) if len(operands) % 2 else ""), list(operands[: 2 * n : 2])


def letters(r: Recorder, places: Any) -> str:
    """A list of subscripts as a string; ints of the caller's become part of the key."""
    if isinstance(places, (list, tuple)):
        places = [r.static_int(x.expr, "a subscript of np.einsum") if isinstance(x, PyInt) else x for x in places]
    if not isinstance(places, (list, tuple)) or not all(
        x is Ellipsis or isinstance(x, (int, np.integer)) for x in places
    ):
        raise Raises(TypeError("each subscript must be either an integer or an ellipsis"))
    if any(x is not Ellipsis and not 0 <= x < len(LETTERS) for x in places):
        raise Raises(ValueError("subscript is not within the valid range [0, 52)"))
    return "".join("..." if x is Ellipsis else LETTERS[x] for x in places)


def try_out(text: str, items: Sequence[Any], into: ArrayRef | None, dtype: Any, casting: Any) -> bool:
    """NumPy's own call on arrays of one element: raises its errors, and says whether it gives a view (rule N5)."""
    small = [np.ones((1,) * getattr(x, "ndim", 0), x.element.dtype) for x in items]
    target = None if into is None else np.empty((1,) * into.ndim, into.dtype)
    found = ask(np.einsum, text, *small, out=target, dtype=dtype, casting=casting)
    return into is None and len(small) == 1 and np.may_share_memory(found, small[0])


def parse(text: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """A letter for each axis of each operand, and of the result; the axes of an ellipsis are digits (and the characters
    after them), which sort before letters."""
    inputs, arrow, result = text.partition("->")
    terms = inputs.split(",")
    widths = [n - len(t.replace("...", "")) if "..." in t else 0 for t, n in zip(terms, ranks)]
    dots = [chr(ord("0") + k) for k in range(max(widths, default=0))]
    terms = [t.replace("...", "".join(dots[len(dots) - w :])) for t, w in zip(terms, widths)]
    if arrow:
        return terms, result.replace("...", "".join(dots))
    every = "".join(terms)
    return terms, "".join(dots) + "".join(x for x in sorted({*every} - {*dots}) if every.count(x) == 1)


def diagonals(r: Recorder, x: Any, term: str) -> Labelled:
    """An operand under its letters; a letter that occurs twice takes the diagonal."""
    labels = list(term)
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            i = labels.index(label)
            j = labels.index(label, i + 1)
            message = f"dimensions in single operand for collapsing index '{label}' don't match ({{}} != {{}})"
            r.require_equal(x.shape[i], x.shape[j], "ValueError", message, [x.shape[i], x.shape[j]])
            x = x.derive(methodcaller("diagonal", (i, j)))
            labels = [y for k, y in enumerate(labels) if k not in (i, j)] + [label]
    return Labelled(x, tuple(labels))


# -- one loop nest


def contract_all(
    r: Recorder, items: Sequence[Labelled], out: str, sizes: Sizes, element: ScalarType, layout: str = "K"
) -> ArrayRef:
    """The product of all operands in one loop nest, as without `optimize=`; `layout`: the result's `order=`."""
    parts = [fitted(r, x, sizes) for x in items]
    rows = tuple(range(len(out)))
    order = k_order(parts, out) if layout == "K" else rows if layout == "C" else rows[::-1]
    if len(parts) == 2:
        made = contract_pair(r, parts[0], parts[1], out, sizes, element, order)
        if made is not None:
            return made
    return sum_of_products(r, parts, out, sizes, element, order)


def k_order(parts: Sequence[Labelled], out: str) -> tuple[int, ...]:
    """The axes of the result, outermost first, in the order in which nditer sorts all axes."""
    loops = [*out, *sorted({label for x in parts for label in x.labels} - {*out})]
    axes = [(x.array, [x.labels.index(y) if y in x.labels else None for y in loops]) for x in parts if x.labels]
    return tuple(axis for axis in axis_order(axes, len(loops)) if axis < len(out))


# -- pairs along a path


def along_path(
    r: Recorder, items: Sequence[Labelled], out: str, sizes: Sizes, wanted: ScalarType | None, optimize: Any
) -> tuple[ArrayRef, bool]:
    """The operands contracted in the order that np.einsum_path finds for the sizes of the traced call, each pair in its
    common dtype (or the `wanted` one); and whether a result without axes is an array."""
    parts, is_array = [fitted(r, x, sizes) for x in items], False
    for places in path_of(r, items, out, optimize):
        chosen = [parts.pop(k) for k in sorted(places, reverse=True)]
        mine = {y for x in chosen for y in x.labels}
        needed = mine & ({y for x in parts for y in x.labels} | {*out})
        names = "".join(sorted(needed, key=lambda y: (typical(r, sizes[y]), y))) if parts else out
        found = np.result_type(*(x.value.element.dtype for x in chosen))
        element = wanted or supported(found, "np.einsum", r.loc)
        if len(chosen) == 2:
            a, b = (without(r, x, chosen, names, sizes) for x in chosen)
            made, is_array = pair_of(r, a, b, names, sizes, element)
        else:
            made, is_array = contract_all(r, chosen, names, sizes, element), False
        parts.append(Labelled(made, tuple(names)))
    return parts[0].array, is_array


def path_of(r: Recorder, items: Sequence[Labelled], out: str, optimize: Any) -> list[tuple[int, ...]]:
    """The operands that are contracted in each step (np.einsum_path accepts letters only)."""
    letter = dict(zip(dict.fromkeys(y for x in items for y in x.labels), LETTERS))
    terms = ["".join(letter[y] for y in names) for names in (*(x.labels for x in items), out)]
    shapes = [[typical(r, n) for n in x.value.shape] if isinstance(x.value, ArrayRef) else [] for x in items]
    text = f"{','.join(terms[:-1])}->{terms[-1]}"
    operands = [np.broadcast_to(0.0, n) for n in shapes]
    path: list[Any] = ask(np.einsum_path, text, *operands, optimize=optimize)[0]
    return path[1:]


def without(r: Recorder, x: Labelled, pair: Sequence[Labelled], names: str, sizes: Sizes) -> Labelled:
    """One operand of a pair, summed in its own dtype over the axes that neither the other operand nor the result
    has."""
    kept = [y for y in x.labels if y in names or all(y in other.labels for other in pair)]
    if len(kept) == len(x.labels):
        return x
    made = sum_of_products(r, [x], kept, sizes, x.value.element, k_order([x], "".join(kept)))
    return Labelled(made, tuple(kept))


def pair_of(
    r: Recorder, a: Labelled, b: Labelled, out: str, sizes: Sizes, element: ScalarType
) -> tuple[ArrayRef, bool]:
    """The contraction of a pair, in the layout of np.matmul's result; and whether it is one."""
    both = [x for x in a.labels if x in b.labels]
    if all(x in out or sizes[x] == 1 for x in both):
        return sum_of_products(r, [a, b], out, sizes, element, k_order([a, b], out)), False
    batch = [x for x in both if x in out]
    made = [*batch, *(x for x in (*a.labels, *b.labels) if x not in both)]
    order = [out.index(x) for x in made]
    product = contract_pair(r, a, b, out, sizes, element, order)
    return product or sum_of_products(r, [a, b], out, sizes, element, order), True


# -- np.tensordot


@traces(np.tensordot)
def tensordot(r: Recorder, a: Any, b: Any, axes: Any = 2) -> ArrayRef:
    """np.tensordot: the sum over pairs of axes, in C order."""
    first, second = as_array(r, a), as_array(r, b)
    pairs = axis_pairs(r, first, second, axes)
    names = [list(LETTERS[: first.ndim]), list(LETTERS[first.ndim : first.ndim + second.ndim])]
    for i, j in pairs:
        names[1][j] = names[0][i]
    summed = [names[0][i] for i, _ in pairs]
    out = [x for x in (*names[0], *names[1]) if x not in summed]
    x, y = Labelled(first, tuple(names[0])), Labelled(second, tuple(names[1]))
    sizes = {**dict(zip(y.labels, second.shape)), **dict(zip(x.labels, first.shape))}
    element = supported(np.result_type(first.dtype, second.dtype), "np.tensordot", r.loc)
    order = range(len(out))
    if not is_matrix_product(x, y, out, element):
        return sum_of_products(r, [x, y], out, sizes, element, order)
    return contract_pair(r, x, y, out, sizes, element, order) or by_copies(r, x, y, summed, sizes, element)


def by_copies(
    r: Recorder, a: Labelled, b: Labelled, summed: Sequence[str], sizes: Sizes, element: ScalarType
) -> ArrayRef:
    """One matrix product of the arrays as matrices, copied where their layout requires it, as in NumPy."""
    rest = [[y for y in x.labels if y not in summed] for x in (a, b)]
    k = product(sizes[y] for y in summed)
    m, n = (product(sizes[y] for y in kept) for kept in rest)
    left = reshaped(r, a.ordered([*rest[0], *summed]).array, (m, k))
    right = reshaped(r, b.ordered([*summed, *rest[1]]).array, (k, n))
    made = matmul(r, left, right, "dot")
    assert isinstance(made, ArrayRef)
    return reshaped(r, made, tuple(sizes[y] for kept in rest for y in kept))


def axis_pairs(r: Recorder, a: ArrayRef, b: ArrayRef, axes: Any) -> list[tuple[int, int]]:
    """The axes that are summed over, in pairs; ValueError unless the sizes of each pair are equal."""
    if isinstance(axes, (tuple, list)):
        given = [tuple(x) if isinstance(x, (tuple, list)) else (x,) for x in axes]
        if len(given) != 2:
            raise Raises(ValueError("axes must be a number or a pair"))
        given = [tuple(r.static_int(whole_number(r, axis), "an axis") for axis in x) for x in given]
    else:
        n = r.static_int(whole_number(r, axes), "the number of axes")
        n = min(n, max(a.ndim, b.ndim) + 1)  # the loop below raises for what is too many, after it compared the others
        given = [tuple(range(-n, 0)), tuple(range(n))]
    wrong = "shape-mismatch for sum"
    if len(given[0]) != len(given[1]):
        raise Raises(ValueError(wrong))
    for i, j in zip(*given):
        if not (-a.ndim <= i < a.ndim and -b.ndim <= j < b.ndim):
            raise Raises(IndexError("tuple index out of range"))
        r.require_equal(a.shape[i], b.shape[j], "ValueError", wrong)
    pairs = [(i % a.ndim, j % b.ndim) for i, j in zip(*given)]
    if any(len(set(places)) < len(places) for places in zip(*pairs)):
        raise Raises(ValueError("repeated axis in transpose"))
    return pairs
