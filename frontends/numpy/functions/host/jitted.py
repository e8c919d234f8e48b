"""Calls of functions that Numba compiles (`@njit`, `@jit`): host calls of their machine code, for the types at hand;
and of generalised ufuncs of `numba.guvectorize`.

Numba says what a call gives. An array argument is taken to be read and written, unless the function can be compiled for
one that is read-only. Sizes of arrays that it returns are told when the program runs. Not supported: arguments that are
lists, dicts, texts known only at run time, and results other than numbers, arrays and tuples of these.
Counterpart: Numba's own calls of functions (`numba/core/dispatcher.py`), whose types of arguments these are.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tracebuf.frontends.numpy.arrays.reshape import is_dense
from tracebuf.frontends.numpy.functions.host.calls import Fresh, in_type, pass_on, record, static
from tracebuf.frontends.numpy.functions.host.untraced import put_together
from tracebuf.frontends.numpy.numbers.operands import loop_dtypes, supported, weak_type
from tracebuf.frontends.numpy.record.broadcasting import broadcast
from tracebuf.frontends.numpy.record.raises import Raises, ask, bind
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.refusals import name_of
from tracebuf.frontends.numpy.record.scalar_checks import check_origin
from tracebuf.frontends.numpy.record.values import (
    NUMBERS,
    ArrayRef,
    NpScalar,
    PyBool,
    PyComplex,
    PyFloat,
    PyInt,
    Scalar,
    axis_order,
    is_traced,
    storages_of,
)
from tracebuf.ir.core import Value
from tracebuf.ir.dims import Dim
from tracebuf.ir.types import C128, F64, I1, I64, INDEX, ScalarType
from tracebuf.ops.scalars import arith
from tracebuf.running import jitted
from tracebuf.running.host import ByLoop, CoreLoop, Direct, HostFunction, Passed, Put, put_nothing
from tracebuf.running.ufuncs import core_dims, note_made
from tracebuf.running.untraced import Form, FormOfConstant, FormOfContainer, FormOfNumber, numbers_in

_PYTHON: dict[type, tuple[type, ScalarType]] = {
    PyInt: (int, I64), PyFloat: (float, F64), PyBool: (bool, I1), PyComplex: (complex, C128),
}  # fmt: skip
_ELEMENTS = {int: I64, float: F64, bool: I1, complex: C128}


def call(r: Recorder, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Records a call."""
    if jitted.is_dispatcher(function):
        bind(inspect.signature(function.py_func), args, kwargs)  # TypeError as Python's
        name = f"{function.__module__}.{function.__name__}"
    else:
        name = "a C function"
        if kwargs or len(args) != function.takes:
            raise r.refuse(f"a C function of {function.takes} arguments with others", "pass its own")
    given = [argument_of(r, x, name) for x in (*args, *kwargs.values())]
    constants = [None if is_traced(x) else (x,) for x in given]
    wrapped = jitted.wrapped(function, constants[: len(args)], list(zip(kwargs, constants[len(args) :])))
    passed = [x for x in given if is_traced(x)]
    compiled, written = compiled_for(r, wrapped, passed)
    form = form_of(r, compiled.result, name)
    leaves = [leaf for leaf in numbers_in(form) if isinstance(leaf, FormOfNumber)]
    places, ins = dict[int, int](), list[Value]()
    arguments = [None if k in written else pass_on(r, x, ins) for k, x in enumerate(passed)]
    numbers = [leaf for leaf in leaves if leaf.number is not None]
    arrays = [leaf for leaf in leaves if leaf.number is None]
    counts = sum(leaf.ndim for leaf in arrays) + bool(arrays)
    fresh: list[Fresh] = [(supported(leaf.dtype, name, r.loc), (), ()) for leaf in numbers]
    fresh += [(I64, (), ())] * counts
    outs = [passed[k] for k in written]
    for place, k in enumerate(written, len(ins) + len(fresh)):
        arguments[k] = Passed(place)
    slots, size = slots_of([*(x for k, x in enumerate(passed) if k not in written), *fresh, *outs])
    for k, x in enumerate(arguments):
        assert isinstance(x, Passed)
        places[k] = slots[x.place]
    layouts = [""] * len(slots)
    for x, layout in zip(arguments, compiled.layouts):
        layouts[x.place] = layout  # type: ignore[union-attr]
    filled = iter(arguments)
    patterns = [next(filled) if is_traced(x) else x for x in given]
    run = jitted.Calls(function, tuple(patterns), tuple(kwargs), tuple(layouts), len(numbers), len(arrays))
    entry = jitted.begins(compiled, [places[k] for k in range(len(passed))], slots[len(ins)] if fresh else size)
    made = record(r, HostFunction(name, run, loop=entry), ins, fresh, outs)
    found = iter(made[: len(numbers)])
    returned = iter(returned_arrays(r, compiled, name, arrays, made[len(numbers) :]) if arrays else ())
    results = [next(returned if leaf.number is None else found) for leaf in leaves]
    return put_together(r, form, iter(results))


def returned_arrays(
    r: Recorder, compiled: jitted.Wrapped, name: str, arrays: Sequence[FormOfNumber], counts: Sequence[ArrayRef]
) -> list[ArrayRef]:
    """The arrays that a call has returned, whose sizes it has told, and where they are."""
    shapes = []
    told = iter(counts)
    for leaf in arrays:
        shape: list[Dim] = []
        for _ in range(leaf.ndim):
            index = r.emit(arith.IndexCast.of(r.load(next(told), ()), INDEX))
            shape.append(r.symbol(index, "found", 0))
        shapes.append(shape)
    handle = r.load(next(told), ())
    fresh: list[Fresh] = [
        (supported(leaf.dtype, name, r.loc), shape, order_of(of))
        for leaf, shape, of in zip(arrays, shapes, arrays_in(compiled.result), strict=True)
    ]
    places = [1 + sum(1 + 2 * leaf.ndim for leaf in arrays[:k]) for k in range(len(arrays))]
    entry = jitted.delivers(compiled, 0, [(at, leaf.ndim) for at, leaf in zip(places, arrays)])
    return record(r, HostFunction(name, jitted.delivered, loop=entry), [handle], fresh)


def arrays_in(type_: Any) -> list[Any]:
    """The types of the arrays in a result."""
    if hasattr(type_, "layout"):
        return [type_]
    return [x for of in type_ for x in arrays_in(of)] if hasattr(type_, "count") else []


def order_of(type_: Any) -> range:
    axes = range(type_.ndim)
    return axes[::-1] if type_.layout == "F" else axes


def slots_of(operands: Sequence[Any]) -> tuple[list[int], int]:
    """The first slot of each operand, as native code describes them to a function; how many there are."""
    found, at = [], 0
    for x in operands:
        found.append(at)
        if isinstance(x, ArrayRef):
            at += 1 + 2 * x.ndim
        else:
            at += 1 if isinstance(x, tuple) else -(-dtype_of(x).itemsize // 8)
    return found, at


def dtype_of(x: Any) -> np.dtype:
    """The dtype of a traced number, as it is passed."""
    return x.element.dtype if isinstance(x, NpScalar) else _PYTHON[type(x)][1].dtype


def argument_of(r: Recorder, x: Any, name: str) -> Any:
    """An argument: an array, a traced number, or a constant."""
    if isinstance(x, ArrayRef):
        return x
    if isinstance(x, Scalar):
        check_origin(r, x)
        return x
    if isinstance(x, tuple) and any(map(is_traced, x)):
        x = static(r, x, f"a tuple as an argument of {name}")
    if not is_constant(x):
        raise r.refuse(f"a {name_of(x)} as an argument of {name}", "pass arrays, numbers and constants")
    return x


def is_constant(x: Any) -> bool:
    """Whether Numba takes a value for a constant."""
    if isinstance(x, tuple):
        return type(x) is tuple and all(map(is_constant, x))
    return x is None or isinstance(x, (*NUMBERS, str, np.generic)) or jitted.is_dispatcher(x)


def compiled_for(
    r: Recorder, wrapped: Callable[[Any], jitted.Wrapped], passed: Sequence[Any]
) -> tuple[jitted.Wrapped, list[int]]:
    """The function compiled for arguments, and which of them are arrays that it may write to."""
    arrays = [k for k, x in enumerate(passed) if isinstance(x, ArrayRef)]
    types = [types_of(r, x) for x in passed]
    writable = [k for k in arrays if types[k][0].mutable is not False]
    fixed: dict[int, int] = {}
    if writable:
        try:
            return ask(wrapped, [t[-1] for t in types]), []
        except Raises:
            pass
    for k in writable if len(writable) > 1 else ():
        tried = [t[-1 if j == k or j in fixed else 0] for j, t in enumerate(types)]
        try:
            ask(wrapped, tried)
            fixed[k] = -1
        except Raises:
            continue
    made: jitted.Wrapped = ask(wrapped, [t[fixed.get(k, 0)] for k, t in enumerate(types)])
    written = [k for k in writable if k not in fixed]
    for k in written:
        mine = set(storages_of(passed[k]))
        if any(not mine.isdisjoint(storages_of(passed[j])) for j in arrays if j != k):
            reason = f"an array that {made.function.__name__} writes to is passed to it twice, in whole or in part"
            raise r.refuse(reason, "pass it once, and take the parts in the function")
    return made, written


def types_of(r: Recorder, x: Any) -> tuple[Any, ...]:
    """The type of an argument in Numba's terms; of an array, then that of a read-only one."""
    from numba.core import types
    from numba.np import numpy_support

    if not isinstance(x, ArrayRef):
        python = {PyInt: types.int64, PyFloat: types.float64, PyBool: types.boolean, PyComplex: types.complex128}
        return (python[type(x)] if type(x) in python else ask(numpy_support.from_dtype, dtype_of(x)),)
    axes = range(x.ndim)
    layout = "C" if is_dense(r, x, axes) else "F" if is_dense(r, x, axes[::-1]) else "A"
    array = partial(types.Array, ask(numpy_support.from_dtype, x.dtype), x.ndim, layout)
    read_only = x.read_only or not all(s.writable for s in storages_of(x))
    return (array(readonly=read_only), array(readonly=True))


def form_of(r: Recorder, type_: Any, name: str) -> Form:
    """What a call gives, of a type in Numba's terms."""
    from numba.core import types
    from numba.np import numpy_support

    if isinstance(type_, types.NoneType):
        return FormOfConstant(type(None), None)
    if isinstance(type_, types.Array):
        return FormOfNumber(None, ask(numpy_support.as_dtype, type_.dtype), type_.ndim, False)
    if isinstance(type_, (types.Tuple, types.UniTuple)):
        return FormOfContainer(tuple, (), tuple([form_of(r, of, name) for of in type_]))
    kinds = {types.Boolean: bool, types.Integer: int, types.Float: float, types.Complex: complex}
    kind = next((kinds[of] for of in kinds if isinstance(type_, of)), None)
    if kind is None or type_ == types.uint64:
        raise r.refuse(f"{name} returns {type_}", "return numbers, arrays, or tuples of these")
    return FormOfNumber(kind, _ELEMENTS[kind].dtype, 0, False)


# -- ufuncs
def call_generalised(r: Recorder, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A call of a generalised ufunc that `numba.guvectorize` has made. Without loops of given types it takes the
    outputs as arguments, as eager does."""
    if function.gufunc_builder.writable_args:
        raise r.refuse(f"{function.__name__}, which writes to its inputs", "an @njit function")
    return call_by_cores(r, function, function.gufunc_builder.signature, args, kwargs, function.is_dynamic)


def call_elementwise(r: Recorder, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A call of a ufunc that `numba.vectorize` has made, whose function may raise: Python makes it."""
    ufunc = function.ufunc
    signature = "->".join(",".join(["()"] * n) for n in (ufunc.nin, ufunc.nout))
    return call_by_cores(r, function, signature, args, kwargs)


def call_by_cores(
    r: Recorder, function: Any, signature: str, args: Sequence[Any], kwargs: Mapping[str, Any], dynamic: bool = False
) -> Any:
    """A call of a ufunc of Numba's, which reads its inputs and writes its outputs: a host call, or its inner loop."""
    name = function.__name__
    cores_in, cores_out = (core_dims(part) for part in signature.split("->"))
    out = kwargs.get("out")
    given = [*args, *(out if isinstance(out, tuple) else () if out is None else (out,))]
    if kwargs.keys() - {"out"}:
        raise r.refuse(f"{name} with {', '.join(sorted(kwargs.keys() - {'out'}))}=", "its operands, and out=")
    n = len(cores_in)
    if len(given) not in (n, n + len(cores_out)) or (dynamic and len(given) == n):
        raise Raises(TypeError(f"{name}() takes {n} operands, and {len(cores_out)} outputs"))
    for x in given:
        if not isinstance(x, (ArrayRef, Scalar, *NUMBERS)):
            raise r.refuse(f"a {name_of(x)} as an operand of {name}", "use arrays: np.array(x)")
    ins = list[Value]()
    patterns = tuple([pass_on(r, x, ins) for x in given[:n]])
    if len(given) > n:
        return into_arrays(r, function, patterns, ins, given, n)
    dtypes = loop_dtypes(function.ufunc, tuple([weak_type(x) for x in given]))
    shapes = shapes_of(r, name, signature, given)
    order = outer_order(given, [len(core) for core in cores_in])
    orders = [(*order, *range(len(order), len(shape))) for shape in shapes]
    fresh: list[Fresh] = [
        (supported(dtype, f"the result of {name}", r.loc), shape, axes)
        for dtype, shape, axes in zip(dtypes[n:], shapes, orders, strict=True)
    ]
    if all(isinstance(x, ArrayRef) for x in given) and not jitted.may_raise(function):
        made = by_loop(r, function, given, dtypes, fresh)
    else:
        places, bounds = tuple(range(len(fresh))), (None,) * len(fresh)
        kind = tuple if len(fresh) > 1 else None
        direct = Direct(function, patterns, (), kind, places, bounds, Put(name, places, bounds))
        made = record(r, HostFunction(name, direct, returns=len(fresh)), ins, fresh)
    results = [x if x.ndim else r.number(x) for x in made]
    return results[0] if len(results) == 1 else tuple(results)


def into_arrays(
    r: Recorder, function: Any, patterns: tuple[Any, ...], ins: Sequence[Value], given: Sequence[Any], n: int
) -> Any:
    """Records a call that writes to arrays: those among what is given from the n-th on."""
    written = [x for x in given[n:] if isinstance(x, ArrayRef)]
    if len(written) != len(given) - n:
        raise Raises(TypeError("return arrays must be of ArrayType"))
    for x in written:
        r.check_writable(x)
        mine = set(storages_of(x))
        if sum(not mine.isdisjoint(storages_of(y)) for y in given if isinstance(y, ArrayRef)) > 1:
            raise r.refuse(f"an output of {function.__name__} that may overlap another operand", "another array")
    outs = tuple([Passed(len(ins) + k) for k in range(len(written))])
    direct = Direct(function, (*patterns, *outs), (), None, (), (), put_nothing)
    record(r, HostFunction(function.__name__, direct), ins, [], written)
    return written[0] if len(written) == 1 else tuple(written)


def shapes_of(r: Recorder, name: str, signature: str, operands: Sequence[Any]) -> list[tuple[Dim, ...]]:
    """The shapes of the outputs; sizes of core dimensions that differ the ufunc itself refuses."""
    cores_in, cores_out = (core_dims(part) for part in signature.split("->"))
    sizes: dict[str, Dim] = {}
    shapes = [x.shape if isinstance(x, ArrayRef) else () for x in operands]
    for k, (core, shape) in enumerate(zip(cores_in, shapes)):
        if len(shape) < len(core):
            text = f"{name}: Input operand {k} does not have enough dimensions (has {len(shape)}, gufunc core with"
            raise Raises(ValueError(f"{text} signature {signature} requires {len(core)})"))
        for d, n in zip(core, shape[len(shape) - len(core) :]):
            sizes.setdefault(d, n)
    missing = {d for core in cores_out for d in core} - sizes.keys()
    if missing:
        raise r.refuse(f"{name}, whose outputs alone have the size {min(missing)}", "pass out=")
    outer = broadcast(r, [shape[: len(shape) - len(core)] for core, shape in zip(cores_in, shapes)])
    return [(*outer, *(sizes[d] for d in core)) for core in cores_out]


def outer_order(operands: Sequence[Any], cores: Sequence[int]) -> tuple[int, ...]:
    """The axes of results before their core dimensions, in K-order."""
    fronts = [(x, x.ndim - core) for x, core in zip(operands, cores) if isinstance(x, ArrayRef)]
    n = max([front for _, front in fronts], default=0)
    return axis_order([(x, [None] * (n - front) + list(range(front))) for x, front in fronts], n)


def by_loop(
    r: Recorder, function: Any, operands: Sequence[Any], dtypes: Sequence[np.dtype], fresh: Sequence[Fresh]
) -> list[ArrayRef]:
    """Records a call of a generalised ufunc whose inner loop native code calls by pointer, on arrays of its types."""
    module, _, name = note_made(function.ufunc, function.__name__).rpartition(".")
    ins, outs = dtypes[: len(operands)], dtypes[len(operands) :]
    types = "".join(d.char for d in ins) + "->" + "".join(d.char for d in outs)
    loop = CoreLoop(module, name, types, str(function.ufunc.signature), quiet=False)
    arrays = [in_type(r, x, supported(d, name, r.loc)) for x, d in zip(operands, ins)]
    call = HostFunction(function.__name__, ByLoop(loop, None), loop=loop)
    return record(r, call, [r.read(x) for x in arrays], fresh)
