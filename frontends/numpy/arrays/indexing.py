"""Basic indexing, `a[i]` and `a[i] = v`: ints, slices with any step, `...`, None.

Reading gives a reference or a scalar, storing writes through. Slices clamp and never fail; an index is normalised by
its sign (rule Z3) and checked: by proof, guard or at run time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import methodcaller
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frontends.numpy.numbers.bodies import Body
from tracebuf.frontends.numpy.numbers.generics import convert_to
from tracebuf.frontends.numpy.numbers.operands import Operand, scalar_value, weak_type
from tracebuf.frontends.numpy.numbers.python_ints import bool_as_int, int_of_value, opaque
from tracebuf.frontends.numpy.numbers.weak_ints import require_fits
from tracebuf.frontends.numpy.record import refusals
from tracebuf.frontends.numpy.record.broadcasting import require_same_or_one, shape_text
from tracebuf.frontends.numpy.record.cond import Cond
from tracebuf.frontends.numpy.record.conditions import both
from tracebuf.frontends.numpy.record.each_path import on_each_path
from tracebuf.frontends.numpy.record.raises import Raises, ask
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.scalar_checks import unknown_origin
from tracebuf.frontends.numpy.record.slices import OrNone
from tracebuf.frontends.numpy.record.values import (
    EITHER,
    ArrayRef,
    NpScalar,
    PyBool,
    PyFloat,
    PyInt,
    Scalar,
    View,
    in_turn,
    storages_of,
)
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim, add, dim_max, dim_min, floordiv, neg, sub
from tracebuf.ir.types import F64, I1, I64, INDEX, UI64, ScalarType
from tracebuf.ops.arrays.linalg import element_type
from tracebuf.ops.scalars import arith, casts
from tracebuf.running.raised import Raised

Wrong = tuple[Raised, str]
"""An exception's class and text, `{}` standing for the name of the object's type."""
NO_INT: Wrong = "TypeError", "'{}' object cannot be interpreted as an integer"
NO_INDEX: Wrong = (
    "IndexError",
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
    "indices",
)
NO_BOUND: Wrong = "TypeError", "slice indices must be integers or None or have an __index__ method"

NO_SCALAR: Wrong = "TypeError", "only integer scalar arrays can be converted to a scalar index"


def read_item(r: Recorder, ref: ArrayRef, index: Any) -> ArrayRef | Scalar:
    """`ref[index]`: a view, or a NumPy scalar where every axis is given an int and there is no `...`."""
    parts = index_parts(r, ref, index)
    if all(kind == "int" for kind, _ in parts) and len(parts) == ref.ndim:
        places = [normalise(r, i, n, axis) for axis, ((_, i), n) in enumerate(zip(parts, ref.shape))]
        return r.number(ref, places)
    return ref.derive(index_steps(r, ref, parts))


def store_item(r: Recorder, ref: ArrayRef, index: Any, value: Operand | Sequence[Operand]) -> None:
    """`ref[index] = value`, converted (unsafe casting) and broadcast as NumPy does; a sequence has to consist of
    numbers."""
    r.check_writable(ref)  # before the index is looked at, as in NumPy
    parts = index_parts(r, ref, index)
    if all(kind == "int" for kind, _ in parts) and len(parts) == ref.ndim:
        places = [normalise(r, i, n, axis) for axis, ((_, i), n) in enumerate(zip(parts, ref.shape))]
        require_one_element(r, ref.element, value, type(value) if isinstance(value, Sequence) else None)
        assert not isinstance(value, Sequence)
        scalar = r.number(value) if isinstance(value, ArrayRef) else value
        if not isinstance(value, ArrayRef):
            check_number(r, scalar, ref)
        r.store_element(ref, places, scalar_value(r, scalar, ref.element))
        return
    target = ref.derive(index_steps(r, ref, parts))
    if isinstance(value, Sequence):
        store_numbers(r, target, value)
    else:
        store_view(r, target, value)


def is_one_element(r: Recorder, ref: ArrayRef, index: Any) -> bool:
    """Whether the index is an int for each axis, so that one element is meant."""
    items = index if isinstance(index, tuple) else (index,)
    return len(items) == ref.ndim and all(part_of(r, i)[0] == "int" for i in items)


def require_one_element(
    r: Recorder, element: ScalarType, value: Operand | Sequence[Operand], sequence: type | None
) -> None:
    """Fails as NumPy does where what becomes one element has axes, or is (an array made of) a sequence of this type."""
    text = "setting an array element with a sequence."
    if sequence:
        if element is I1:
            raise r.refuse("a sequence is stored into one bool", "store its truth, for example len(x) > 0")
        if element.is_complex:
            r.fail("TypeError", f"must be real number, not {sequence.__name__}")
        if element.is_float:
            r.fail("ValueError", text)
        wanted = "a string, a bytes-like object or a real number"
        r.fail("TypeError", f"int() argument must be {wanted}, not '{sequence.__name__}'")
    if isinstance(value, ArrayRef) and value.ndim:
        if any(d != 1 for d in value.shape):
            if element is I1 and all(r.ask_nonneg(sub(1, d)) is not False for d in value.shape):
                raise r.refuse("an array is stored into one bool", "index the array, for example b[0]")
            if element.is_complex:
                r.fail("TypeError", "only 0-dimensional arrays can be converted to Python scalars")
            r.fail("ValueError", text)
        raise r.refuse(  # NumPy's releases differ
            "an array is stored into one element", "index the array, for example b[0]"
        )


TOO_DEEP = (
    "setting an array element with a sequence. The requested array would exceed the maximum number of dimension of 0."
)


def store_numbers(r: Recorder, target: ArrayRef, values: Sequence[Operand]) -> None:
    """`target[...] = x, y`: one number for each index of the last axis, each converted by itself."""
    if target.ndim == 0:
        r.fail("ValueError", TOO_DEEP)
    if len(values) == 1:
        return store_view(r, target, values[0])
    for x in values:
        check_number(r, x, target)
    wanted, sizes = shape_text([target.shape])
    message = f"could not broadcast input array from shape ({len(values)},) into shape {wanted}"
    r.require_equal(target.shape[-1], len(values), "ValueError", message, sizes)
    for k, x in enumerate(values):
        store_view(r, target.derive(index_steps(r, target, index_parts(r, target, (Ellipsis, k)))), x)


def store_view(r: Recorder, target: ArrayRef, value: Operand) -> None:
    """`target[...] = value`, for an array or a number."""
    r.check_writable(target)
    if on_each_path(r, [target], [value], lambda to, of: store_view(r, to[0], of[0])):
        return
    if isinstance(value, ArrayRef):
        value = drop_leading_ones(r, value, target.ndim, lambda: target.shape)
        source, source_values = shape_text([value.shape])
        wanted, wanted_values = shape_text([target.shape])
        message = f"could not broadcast input array from shape {source} into shape {wanted}"
        if value.ndim > target.ndim:
            r.fail("ValueError", message, source_values + wanted_values)
        for a, b in zip(reversed(value.shape), reversed(target.shape)):
            if a != 1:
                require_same_or_one(r, a, b, "ValueError", message, source_values + wanted_values)
        if value.same(target) or is_settled_as(r, value, target):
            return
        overlaps = not set(storages_of(value)).isdisjoint(storages_of(target))
        if overlaps and all(r.facts.canon(n) == 1 for n in value.shape):
            value = r.number(value, [0] * value.ndim)  # its own memory needs no copy then
    else:
        check_number(r, value, target)
    turned = isinstance(value, ArrayRef) and value.is_whole and value.storage in storages_of(target)  # b[::-1] = b
    r.store(target, convert_to(r, value, target.element, target.shape, turned))


def is_settled_as(r: Recorder, value: ArrayRef, target: ArrayRef) -> bool:
    """Whether two references to one array turn out to be the same, or nothing: `a[n:] = a` says that n is 0."""
    if not (type(value) is type(target) is ArrayRef and value.storage is target.storage):
        return False
    return settled(r, value).same(settled(r, target))


def settled(r: Recorder, ref: ArrayRef) -> ArrayRef:
    """The reference, without slices that are as long as their axes by what is known now; of an axis of one element a
    slice is the axis, or nothing."""
    view = ref.view
    shape = ref.storage.shape if view.over is None else view.over.shape
    offsets, strides, sizes = list(view.offsets), list(view.strides), list(view.sizes)
    for k, d in enumerate(view.dims):
        if d is None:
            continue
        if r.facts.canon(shape[d]) == 1 or (view.strides[d] == 1 and r.facts.equal(sizes[k], shape[d])):
            offsets[d], strides[d], sizes[k] = 0, 1, shape[d]
    return ArrayRef(ref.storage, replace(view, offsets=tuple(offsets), strides=tuple(strides), sizes=tuple(sizes)))


def drop_leading_ones(
    r: Recorder, value: ArrayRef, ndim: int, shape: Callable[[], Sequence[Dim]]
) -> ArrayRef:  # fmt: skip
    """The stored value without surplus leading axes of size 1, which a store into an array of that shape ignores."""
    given, values = shape_text([value.shape])
    while value.ndim > ndim and (one := r.ask_equal(size := value.shape[0], 1)) is not False:
        if one is None:
            wanted, more = shape_text([tuple(shape())])
            message = f"could not broadcast input array from shape {given} into shape {wanted}"
            r.require_equal(size, 1, "ValueError", message, values + more)
        value = value.derive(methodcaller("drop", 0))
    return value


def check_number(r: Recorder, value: Operand, target: ArrayRef, as_array: bool = False) -> None:
    """Checks that a number stored into integers fits them (a 0-d array is converted instead).

    For Python's numbers, and for NumPy's stored into signed integers, by int() of them; setters of unsigned integers
    convert NumPy's scalars (the setters in NumPy's arraytypes.c.src). `as_array`: what is stored is made an array of
    the target's dtype first, as by an index array or a mask: then a NumPy number is converted, as an array is.
    """
    element = target.element
    if weak_type(value) is complex and not element.is_complex and element is not I1:
        raise Raises(
            TypeError(f"{'float' if element.is_float else 'int'}() argument must be a real number, not 'complex'")
        )
    strong = isinstance(value, (NpScalar, np.generic))
    if as_array and strong:
        if element.is_integer and isinstance(value, NpScalar) and value.maybe_python and value.element != element:
            raise unknown_origin(r.loc)
        return
    if element.is_integer and not (strong and element.is_unsigned) and weak_type(value) != element.dtype:
        check_int_of(r, value, element)


def check_single(r: Recorder, value: Operand, element: ScalarType) -> None:
    """Raises the one error of a store by an index of `.flat`, for a number that does not fit an integer type."""
    if not element.is_integer:
        return
    text = "Error setting single item of array."
    if isinstance(value, PyInt):
        low, high = element.bounds
        fits = both(r, r.compare("sge", value.expr, low), r.compare("sle", value.expr, high))
        r.check(fits, "ValueError", text)
    elif isinstance(value, PyFloat):
        r.check(whole_within(r, value.value, element)[1], "ValueError", text)
    elif isinstance(value, (int, float, complex)) and not isinstance(value, np.generic):
        ask(np.ones(1, element.dtype).flat.__setitem__, 0, value)


def check_int_of(r: Recorder, value: Operand, element: ScalarType) -> None:
    """Raises what int(value) raises, and OverflowError where that does not fit an integer type."""
    if isinstance(value, PyInt):
        require_fits(r, value.expr, element)
    elif isinstance(value, (PyFloat, NpScalar)):
        given = value.element if isinstance(value, NpScalar) else F64
        if given.component.is_float:
            check_float_fits(r, scalar_value(r, value, F64), element)
        else:
            check_integer_fits(r, value.value, given, element)
    elif not isinstance(value, PyBool):
        require_fits(r, ask(int, value), element)


def check_float_fits(r: Recorder, value: Value, element: ScalarType) -> None:
    """Raises at run time where a float has no int of this type."""
    ordered = r.emit(arith.CmpF.of("oeq", value, value))
    r.check(ordered, "ValueError", "cannot convert float NaN to integer")
    for end in (float("inf"), -float("inf")):
        finite = r.emit(arith.CmpF.of("one", value, r.constant(end, F64)))
        r.check(finite, "OverflowError", "cannot convert float infinity to integer")
    whole, fits = whole_within(r, value, element)
    r.check(fits, "OverflowError", f"Python integer {{:.0f}} out of bounds for {element.dtype}", [whole])


def whole_within(r: Recorder, value: Value, element: ScalarType) -> tuple[Value, Value]:
    """A float rounded towards 0, and whether an integer type has that number."""
    whole = r.emit(arith.Trunc.of(value))
    low, high = element.bounds
    above = r.emit(arith.CmpF.of("oge", whole, r.constant(float(low), F64)))
    below = r.emit(arith.CmpF.of("olt", whole, r.constant(float(high + 1), F64)))
    return whole, both(r, above, below)


def check_integer_fits(r: Recorder, value: Value, given: ScalarType, element: ScalarType) -> None:
    """Raises at run time where an integer of one type is out of the range of another."""
    sign = "u" if given.is_unsigned else "s"
    for predicate, bound, own in zip(("ge", "le"), element.bounds, given.bounds):
        if (bound > own) if predicate == "ge" else (bound < own):
            fits = r.emit(arith.CmpI.of(sign + predicate, value, r.constant(bound, given)))
            r.check(fits, "OverflowError", f"Python integer {{}} out of bounds for {element.dtype}", [value])


def index_parts(r: Recorder, ref: ArrayRef, index: Any) -> list[tuple[str, Any]]:
    """The index as (kind, value) for each axis: int, slice, new (None), with `...` expanded."""
    items = list(index) if isinstance(index, tuple) else [index]
    parts = [part_of(r, i) for i in items]
    used = sum(item.ndim if kind == "mask" else kind in ("int", "slice", "places") for kind, item in parts)
    if sum(kind == "ellipsis" for kind, _ in parts) > 1:
        r.fail("IndexError", "an index can only have a single ellipsis ('...')")
    if used > ref.ndim:
        r.fail("IndexError", f"too many indices for array: array is {ref.ndim}-dimensional, but {used} were indexed")
    rest: list[tuple[str, Any]] = [("slice", slice(None))] * (ref.ndim - used)
    for place, (kind, _) in enumerate(parts):
        if kind == "ellipsis":  # an ellipsis that stands for nothing still makes the result a view (rule N2)
            return [*parts[:place], *(rest or [("view", None)]), *parts[place + 1 :]]
    return parts + rest


def part_of(r: Recorder, item: Any) -> tuple[str, Any]:
    """One item of an index, as (kind, value)."""
    if item is None:
        return "new", None
    if item is Ellipsis:
        return "ellipsis", None
    if isinstance(item, slice):
        return "slice", item
    if isinstance(item, ArrayRef) and item.ndim and (item.element is I1 or item.element.is_integer):
        return ("mask" if item.element is I1 else "places"), item
    if isinstance(item, (bool, np.bool_, PyBool)) or (isinstance(item, (ArrayRef, NpScalar)) and item.element is I1):
        raise r.refuse("an index that is one bool", "if condition: ... with a branch for each case")
    if isinstance(item, ArrayRef) and item.ndim:
        r.fail("IndexError", "arrays used as indices must be of integer (or boolean) type")
    if (i := as_int(r, item, NO_INDEX)) is not None:
        if isinstance(i, int) and not -(2**63) <= i < 2**63:
            raise r.refuse("an index of more than 64 bits", "an index within the array")
        return "int", i
    if not isinstance(item, (ArrayRef, Scalar, np.generic, str, bytes, float, complex, tuple)):
        raise r.refuse(f"an index of type {refusals.name_of(item)}", "pass int(index) as an argument")
    refuse_perhaps_float(r, item)
    r.fail(*NO_INDEX)


def refuse_perhaps_float(r: Recorder, item: Any) -> None:
    """Refuses a number that NumPy takes for no index, where eager may have a Python int instead."""
    if isinstance(item, NpScalar) and item.python is not None and item.python.kind == EITHER:
        raise r.refuse("an index that is an int or a float, depending on the path", "take int(...) of it")


def as_int(r: Recorder, item: Any, wrong: Wrong | None = NO_INT) -> Dim | None:
    """What operator.index gives of a value, traced or not, as an expression: a Python int or bool, a NumPy int; None
    for anything else.

    Where eager has a Python int or bool on some paths only, the other paths raise `wrong`; if that is None, it is
    nothing that is known as an int.
    """
    if isinstance(item, PyBool):
        item = bool_as_int(r, item)
    if isinstance(item, PyInt):
        return item.expr
    if isinstance(item, (int, np.integer)):
        return int(item)
    if isinstance(item, NpScalar) and not item.element.is_integer and item.python is not None:
        return None if wrong is None else int_on_a_path(r, item, wrong)
    if isinstance(item, ArrayRef) and item.element.is_integer and item.ndim == 0:
        item = r.number(item)
    if isinstance(item, NpScalar) and item.element.is_integer:
        return int_of(r, item.value)
    return None


def as_strict_int(r: Recorder, item: Any) -> Dim | None:
    """What NumPy's C code takes for a size or an axis: `as_int` without the bools."""
    unsure = isinstance(item, NpScalar) and item.python is not None and item.python.kind == "bool"
    return None if isinstance(item, (bool, PyBool)) or unsure else as_int(r, item)


def int_on_a_path(r: Recorder, x: NpScalar, wrong: Wrong) -> Dim | None:
    """The int that eager has where a number is Python's; elsewhere it is a NumPy bool, float or complex number, which
    is no int."""
    assert x.python is not None
    if x.python.kind not in ("bool", "int"):
        return None
    kind, text = wrong
    r.check(x.python.flag, kind, text.format(refusals.name_of(x)))
    if x.element is I1:
        return int_of_value(r, r.emit(casts.ExtUI.of(x.value, I64)), 0, 1).expr
    wide = Body(r.frame.block, r.loc).cast(x.value, I64)  # exact: such a number holds the int exactly
    return opaque(r, wide)


def int_of(r: Recorder, value: Value) -> Dim:
    """A NumPy integer as Python's, recorded once per value; 64 bits wide (rule N1)."""
    if (known := r.int_expressions.get(value)) is not None:
        return known
    element = element_type(value.type)
    if (op := value.defining_op) is not None and op.name == "arith.constant" and element is I64:
        return int(op.attrs["value"])
    key = ("index of", value)
    made = r.cached(key)
    if made is None:
        low, high = element.bounds
        if element is UI64:
            small = r.emit(arith.CmpI.of("ult", value, r.constant(2**63, UI64)))
            r.check(small, "OverflowError", "Python int too large to convert to C long")
        wide = Body(r.frame.block, r.loc).cast(value, I64)
        made = r.remember(key, r.emit(arith.IndexCast.of(wide, INDEX)))
        narrow = element.bits < 64
        name = f"i{len(r.func.symbols)}"
        lo = low if narrow or element.is_unsigned else None
        r.index_symbols[made] = r.symbol(made, name, lo, high if narrow else None)
    return r.index_symbols[made]


def normalise(r: Recorder, i: Dim, n: Dim, axis: int | None, message: str = "") -> Dim:
    """An index made non-negative and checked against the size n; `message` is for what is no array, and no axis for all
    elements of one."""
    told = [] if message else [i, n]
    of = "" if axis is None else f"axis {axis} with "
    message = message or f"index {{}} is out of bounds for {of}size {{}}"
    sign = r.ask_nonneg(i)
    if sign is True:
        r.require_nonneg(sub(sub(n, i), 1), "IndexError", message, told)
        return i
    if sign is False:
        r.require_nonneg(add(i, n), "IndexError", message, told)
        return add(i, n)
    negative = r.compare("slt", i, 0)
    wrapped = r.emit(arith.Select.of(negative, r.wrapping_sum(i, n), r.index(i)))
    low = r.emit(arith.CmpI.of("sge", wrapped, r.index(0)))
    high = r.emit(arith.CmpI.of("slt", wrapped, r.index(n)))
    r.check(both(r, low, high), "IndexError", message, [r.index(d) for d in told])
    place = r.symbol(wrapped, f"i{len(r.func.symbols)}")
    r.facts.assume_nonneg(place)  # from here on: the check precedes it
    r.facts.assume_nonneg(sub(sub(n, place), 1))
    return place


def index_steps(r: Recorder, ref: ArrayRef, parts: Sequence[tuple[str, Any]]) -> Callable[[View], View]:
    """The view that an index makes, as steps on the view it is applied to; every question to the run time is asked
    here."""
    steps: list[Callable[[View], View]] = []
    axis = source = 0
    for kind, item in parts:
        if kind == "new":
            steps.append(methodcaller("new_axis", axis))
            axis += 1
        elif kind == "int":
            i = normalise(r, item, ref.shape[source], source)
            steps += [methodcaller("narrow", axis, i, 1, 1), methodcaller("drop", axis)]
            source += 1
        elif kind == "slice":
            start, step, size = slice_range(r, item, ref.shape[source])
            steps.append(methodcaller("narrow", axis, start, step, size))
            axis, source = axis + 1, source + 1
    return in_turn(steps)


def slice_range(r: Recorder, s: slice, n: Dim) -> tuple[Dim, Dim, Dim]:
    """(start, step, size) of a slice over n elements, as slice.indices gives them."""
    step, rising = step_of(r, s.step)
    if rising:
        start, stop = end_of(r, s.start, 0, n, n, 0), end_of(r, s.stop, 0, n, n, n)
        length, pace = sub(stop, start) if s.stop is not None else rest_of(r, start, s.start, n), step
    else:
        start, stop = end_of(r, s.start, -1, sub(n, 1), n, sub(n, 1)), end_of(r, s.stop, -1, sub(n, 1), n, -1)
        length, pace = sub(start, stop), neg(step)
    size = at_least_zero(r, length if pace == 1 else floordiv(add(length, sub(pace, 1)), pace))
    return (0 if size == 0 else start), (1 if size == 1 else step), size


def end_of(r: Recorder, item: Any, low: int, high: Dim, n: Dim, otherwise: Dim) -> Dim:
    """Where a slice over n elements begins or stops, within [low, high]; `otherwise` without a bound."""
    if item is None:
        return otherwise
    if not isinstance(item, OrNone):
        return clamp(r, bound(r, item), low, high, n)
    e = bound(r, item.value)
    if otherwise == n and r.ask_nonneg(neg(e)):  # -k or None: k elements from the end
        stop = add(e, n)
        return stop if r.ask_nonneg(stop) else r.facts.simplify(dim_max(stop, 0))
    found = clamp(r, e, low, high, n)
    if found == otherwise or r.ask_nonneg(sub(e, 1)) or r.ask_nonneg(sub(-1, e)):
        return found
    chosen = arith.Select.of(r.compare("eq", e, 0), r.index(otherwise), r.index(found))
    return r.symbol(r.emit(chosen), f"i{len(r.func.symbols)}", lo=low)


def rest_of(r: Recorder, start: Dim, item: Any, n: Dim) -> Dim:
    """How many of n elements there are from the start on. Where that is the lesser of `item` and n, in the form that
    the size of `a[:-item]` has: `a[1:] + a[:-1]` has operands of one size."""
    if item is None or isinstance(item, OrNone) or r.ask_nonneg(i := bound(r, item)) is not True or start in (i, n):
        return sub(n, start)
    return r.facts.simplify(dim_max(sub(n, i), 0))


def at_least_zero(r: Recorder, e: Dim) -> Dim:
    """max(e, 0), simplified by proof or guard."""
    known = r.ask_nonneg(e)
    return r.facts.canon(e) if known else 0 if known is False else r.facts.simplify(dim_max(e, 0))


def step_of(r: Recorder, step: Any) -> tuple[Dim, bool]:
    """The step of a slice, and whether it is positive."""
    e = 1 if step is None else bound(r, step)
    return signed_step(r, e, "a slice", "ValueError", "slice step cannot be zero")


def signed_step(r: Recorder, e: Dim, of: str, exception: Raised, zero: str) -> tuple[Dim, bool]:
    """A step, and whether it is positive.

    One computed from entry values joins the key; one that only the run time knows has to be positive, which is checked
    where it is not proved.
    """
    e = r.facts.canon(e)
    if r.entry_only(e):
        e = r.static_int(e, f"the step of {of}")
        if e == 0:
            r.fail(exception, zero)
        return e, e > 0
    if r.ask_nonneg(sub(e, 1)) or r.ask_nonneg(sub(-1, e)):
        return e, r.ask_nonneg(e) is True
    r.check(r.compare("ne", e, 0), exception, zero)
    r.check(r.compare("sgt", e, 0), UnsupportedError, f"the step of {of} that is computed from elements is negative")
    return r.symbol(r.index(e), f"i{len(r.func.symbols)}", 1), True


def bound(r: Recorder, item: Any) -> Dim:
    """A slice's start, stop or step, as an expression."""
    if type(item) is Cond:
        reason = "a bound of a slice is of one type or another, depending on the path"
        raise r.refuse(reason, "use it inside of the branches")
    if isinstance(item, NpScalar) and item.element is UI64:  # beyond every size, but within 64 bits
        item = NpScalar(r.emit(arith.MinUI.of(item.value, r.constant(2**62, UI64))), UI64)
    e = as_int(r, item, NO_BOUND)
    if e is None:
        refuse_perhaps_float(r, item)
        r.fail(*(NO_SCALAR if isinstance(item, ArrayRef) else NO_BOUND))
    return e


def wrapped_once(r: Recorder, i: Dim, n: Dim) -> Dim:
    """A bound of a slice, wrapped if it is negative: the same for the same bound, so that `a[:i]` and `b[i:]` are known
    to be as long as `a`."""
    key = ("wrapped", r.facts.canon(i), r.facts.canon(n))
    value = r.cached(key)
    if value is None:
        negative = r.compare("slt", i, 0)
        value = r.remember(key, r.emit(arith.Select.of(negative, r.wrapping_sum(i, n), r.index(i))))
    if value not in r.index_symbols:
        r.index_symbols[value] = r.symbol(value, f"i{len(r.func.symbols)}")
    return r.index_symbols[value]


def clamp(r: Recorder, i: Dim, low: int, high: Dim, n: Dim) -> Dim:
    """A bound of a slice, wrapped if negative and clamped to [low, high]."""
    sign = r.ask_nonneg(i)
    if sign is None:
        return r.facts.simplify(dim_max(dim_min(wrapped_once(r, i, n), high), low))
    if sign:
        inside = r.ask_nonneg(sub(high, i))
        return i if inside else high if inside is False else r.facts.simplify(dim_max(dim_min(i, high), low))
    wrapped = add(i, n)
    inside = r.ask_nonneg(sub(wrapped, low))
    return wrapped if inside else low if inside is False else r.facts.simplify(dim_max(wrapped, low))
