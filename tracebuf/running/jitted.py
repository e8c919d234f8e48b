"""Functions that Numba has compiled, called from native code: `entry_of` makes one function `i64 f(ptr slots)` around
each, of the operands as host calls describe them (`call_reference` of backend/llvm/host_calls.py): of an array the
pointer, sizes, strides in elements, of a scalar its value.

It gives 0; 1 where an array is not laid out as the function was compiled for (Python makes the call then, on copies);
-1 where it has raised, with the exception pending, as Numba's own callers have it.

Arrays that the function returns are kept until their sizes are known (`Delivers`): `Begins` gives sizes, and the
address of what was returned. Arrays are passed without an owner, so that one that is returned without an owner is
known to be, or to be a part of, an argument: such calls are refused.
"""

from __future__ import annotations

import itertools
import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from tracebuf.errors import UnsupportedError
from tracebuf.frozen import frozen
from tracebuf.process.late import importing
from tracebuf.running.host import NativeLoop, fill

OK, OTHER_LAYOUT, RAISED = 0, 1, -1
_entries: weakref.WeakValueDictionary[str, NativeLoop] = weakref.WeakValueDictionary()
"""Those that are alive, by their names: of this process."""
_numbers = itertools.count()
_kept: dict[int, list[np.ndarray]] = {}
"""Arrays that calls by Python have returned and not delivered."""


def address_of(name: str) -> int:
    """The address of an entry."""
    return _entries[name].address


def is_dispatcher(function: Any) -> bool:
    """Whether a value is a function that `numba.njit` or `numba.jit` has made; Numba is not imported for this."""
    module = sys.modules.get("numba.core.dispatcher")
    return module is not None and isinstance(function, module.Dispatcher)


def is_callback(function: Any) -> bool:
    """Whether a value is what `numba.cfunc` has made, which Python calls as the function that it was made of."""
    module = sys.modules.get("numba.core.ccallback")
    return module is not None and isinstance(function, module.CFunc)


@frozen(eq=False, slots=False)
class CFunction:
    """`.ctypes` of what `numba.cfunc` has made, which cannot be hashed itself."""

    function: Any

    @property
    def takes(self) -> int:
        """How many arguments."""
        return len(self.function.argtypes)


def is_vectorized(function: Any) -> bool:
    """Whether a value is a ufunc that `numba.vectorize` has made."""
    module = sys.modules.get("numba.np.ufunc.dufunc")
    return module is not None and isinstance(function, module.DUFunc)


def is_guvectorized(function: Any) -> bool:
    """Whether a value is a generalised ufunc that `numba.guvectorize` has made."""
    module = sys.modules.get("numba.np.ufunc.gufunc")
    return module is not None and isinstance(function, module.GUFunc)


def may_raise(function: Any) -> bool:
    """Whether a loop of such a ufunc may raise, by the code that Numba has made of its function."""
    if is_vectorized(function):
        libraries = [made.library for made in function._dispatcher.overloads.values()]
    else:
        libraries = [made.library for made in function.gufunc_builder.nb_func.overloads.values()]
    return any("picklebuf" in text or "PyErr" in text for text in (x.get_llvm_str() for x in libraries))


def compile_loop(function: Any, dtypes: Sequence[Any]) -> None:
    """Has a ufunc of `numba.vectorize` made a loop of its own for these dtypes."""
    from numba.np import numpy_support

    function._compile_for_argtys(tuple([numpy_support.from_dtype(d) for d in dtypes]))


@frozen(eq=False)
class Wrapped:
    """A call of a function as one that Numba compiles: its parameters are the arguments that are passed, the others are
    constants. `layouts`: of each parameter "C", "F" or "A", or "" for a number."""

    function: Any
    jitted: Any
    types: tuple[Any, ...]
    layouts: tuple[str, ...]
    entries: dict[Any, NativeLoop]
    """Those that are made."""

    @property
    def compiled(self) -> Any:
        return self.jitted.overloads[self.types]

    @property
    def result(self) -> Any:
        """The type of its result, in Numba's terms."""
        return self.compiled.signature.return_type


def wrapped(function: Any, positional: Sequence[Any], named: Sequence[tuple[str, Any]]) -> Callable[[Any], Wrapped]:
    """What compiles a call of a function for types of its arguments: each is `None` where it is passed, or a tuple with
    the constant. It is kept with the function."""
    kept: dict[Any, Any] = vars(function).setdefault("_tracebuf", {})
    key = (*map(_key, positional), *((name, _key(x)) for name, x in named))
    if key not in kept:
        kept[key] = _wrapping(function, positional, named)
    return kept[key]  # type: ignore[no-any-return]


def _key(x: Any) -> Any:
    """A constant as a part of a key: -0.0 is not 0.0, nor True 1."""
    if x is None or isinstance(x, tuple):
        return x and tuple(map(_key, x))
    return type(x), repr(x) if isinstance(x, (float, complex, np.generic)) else x


def _wrapping(
    function: Any, positional: Sequence[Any], named: Sequence[tuple[str, Any]]
) -> Callable[[Any], Wrapped]:
    names, passed, globals_ = [], [], {"function": getattr(function, "function", function)}
    for k, x in enumerate([*positional, *(x for _, x in named)]):
        name = f"a{k}"
        if x is None:
            passed.append(name)
        else:
            globals_[name] = x[0]
        names.append(name if k < len(positional) else f"{named[k - len(positional)][0]}={name}")
    text = f"def call({', '.join(passed)}):\n    return function({', '.join(names)})\n"
    with importing():
        import numba
    exec(text, globals_)
    jitted: Any = numba.njit(globals_["call"])

    made: dict[Any, Any] = {}

    def compiled(types: Sequence[Any]) -> Wrapped:
        key = tuple(types)
        if key not in made:
            try:
                jitted.compile(key)
                made[key] = Wrapped(function, jitted, key, tuple([getattr(t, "layout", "") for t in key]), {})
            except Exception as error:
                made[key] = error.with_traceback(None)
        if isinstance(made[key], Exception):
            raise made[key]
        return made[key]  # type: ignore[no-any-return]

    return compiled


# -- calls by Python
@frozen(eq=False)
class Calls:
    """A call by Python: of the function on its arguments (as `Direct` has them). The first outs get the numbers that it
    returns. `laid_out`: by operand the layout that it has to have."""

    function: Any
    arguments: tuple[Any, ...]
    names: tuple[str, ...]
    laid_out: tuple[str, ...]
    numbers: int
    arrays: int
    """How many arrays are returned."""

    def __call__(self, ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
        given = [*ins, *outs]
        operands = [in_layout(x, layout) for x, layout in zip(given, self.laid_out, strict=True)]
        values = [fill(p, operands) for p in self.arguments]
        positional = len(values) - len(self.names)
        function = getattr(self.function, "function", self.function)
        result = function(*values[:positional], **dict(zip(self.names, values[positional:])))
        for x, copy in zip(given[len(ins) :], operands[len(ins) :]):
            if x is not copy:
                x[...] = copy
        found = list(leaves(result))
        arrays = [x for x in found if isinstance(x, np.ndarray)]
        for x, out in zip([x for x in found if not isinstance(x, np.ndarray)], outs):
            out[...] = x
        if self.arrays:
            if any(np.may_share_memory(x, y) for x in arrays for y in given if isinstance(y, np.ndarray)):
                raise shares(self.function)
            sizes = [n for x in arrays for n in x.shape]
            for n, out in zip(sizes, outs[self.numbers :], strict=False):
                out[...] = n
            handle = next(_numbers)
            _kept[handle] = arrays
            outs[self.numbers + len(sizes)][...] = handle


def delivered(ins: Sequence[Any], outs: Sequence[np.ndarray]) -> None:
    """Stores the arrays that a call by Python has returned."""
    for x, out in zip(_kept.pop(int(ins[0])), outs, strict=True):
        out[...] = x


def in_layout(x: Any, layout: str) -> Any:
    """An array as it is, or a copy in this layout."""
    if layout not in ("C", "F") or x.flags.c_contiguous and layout == "C" or x.flags.f_contiguous and layout == "F":
        return x
    return x.copy(order="C" if layout == "C" else "F")


def leaves(x: Any) -> Iterator[Any]:
    """The numbers and arrays of a result in order."""
    if isinstance(x, tuple):
        for item in x:
            yield from leaves(item)
    elif x is not None:
        yield x


def shares(function: Any) -> UnsupportedError:
    return UnsupportedError(*refusal_of(function))


def refusal_of(function: Any) -> tuple[str]:
    name = getattr(function, "__name__", "a C function")
    return (f"{name}, a function of Numba's, returns memory of its arguments, or a constant array",)


# -- calls by native code
def begins(call: Wrapped, operands: Sequence[int], results: int) -> NativeLoop:
    """The entry of a call: `operands` are the slots of the parameters, `results` the first slot of the outs."""
    key = (*operands, results)
    return _entry(call, key, lambda builder, c: _begin(builder, c, call, operands, results))


def delivers(call: Wrapped, first: int, arrays: Sequence[tuple[int, int]]) -> NativeLoop:
    """The entry that stores the arrays which a call has returned: the slot of the address, then the arrays' slots and
    ranks."""
    key = (first, *arrays)
    return _entry(call, key, lambda builder, c: _deliver(builder, c, call, first, arrays))


class _Writing:
    """What entries are written with."""

    def __init__(self, context: Any, module: Any, function: Any) -> None:
        self.context, self.module, self.function = context, module, function

    def slot(self, builder: Any, k: int) -> Any:
        """The place of a slot."""
        from llvmlite import ir

        return builder.gep(self.function.args[0], [ir.Constant(ir.IntType(64), k)])

    def word(self, builder: Any, k: int) -> Any:
        return builder.load(self.slot(builder, k))

    def pointer(self, builder: Any, k: int, type_: Any) -> Any:
        """The pointer in a slot, to a value of a type as memory has it."""
        return builder.inttoptr(self.word(builder, k), self.context.get_data_type(type_).as_pointer())

    def array(self, builder: Any, k: int, type_: Any) -> tuple[Any, Any]:
        """An array of the slots from k on, and whether it is laid out as its type says."""
        from llvmlite import ir
        from numba.core import cgutils, types
        from numba.np.arrayobj import make_array, populate_array

        context, i64, n = self.context, ir.IntType(64), type_.ndim
        itemsize = ir.Constant(i64, context.get_abi_sizeof(context.get_data_type(type_.dtype)))
        shape = [self.word(builder, k + 1 + d) for d in range(n)]
        strides = [builder.mul(self.word(builder, k + 1 + n + d), itemsize) for d in range(n)]
        fits: Any = ir.Constant(ir.IntType(1), 1)
        if type_.layout in ("C", "F"):
            step: Any = itemsize
            for d in reversed(range(n)) if type_.layout == "C" else range(n):
                short = builder.icmp_signed("<=", shape[d], ir.Constant(i64, 1))
                fits = builder.and_(fits, builder.or_(short, builder.icmp_signed("==", strides[d], step)))
                step = builder.mul(step, shape[d])
        made = make_array(type_)(context, builder)
        intp = context.get_value_type(types.intp)
        populate_array(
            made, data=self.pointer(builder, k, type_.dtype), shape=cgutils.pack_array(builder, shape, ty=intp),
            strides=cgutils.pack_array(builder, strides, ty=intp), itemsize=itemsize, meminfo=None,
        )  # fmt: skip
        return made, fits


def _entry(call: Wrapped, key: tuple[Any, ...], write: Callable[[Any, _Writing], None]) -> NativeLoop:
    if key in call.entries:
        return call.entries[key]
    with importing():
        from llvmlite import ir
        from numba.core.compiler_lock import global_compiler_lock
        from numba.core.runtime.nrt import rtsys
    name = f"tracebuf_entry_{next(_numbers)}"
    compiled = call.compiled
    context = compiled.target_context.subtarget(enable_nrt=True)
    context.__dict__.pop("nrt", None)  # which is kept from before
    with global_compiler_lock:
        library = context.codegen().create_library(name)
        module = library.create_ir_module(name)
        i64 = ir.IntType(64)
        function = ir.Function(module, ir.FunctionType(i64, [i64.as_pointer()]), name)
        builder = ir.IRBuilder(function.append_basic_block("entry"))
        write(builder, _Writing(context, module, function))
        library.add_ir_module(module)
        library.add_linking_library(compiled.library)
        library.add_linking_library(rtsys.library)
        address = library.get_pointer_to_function(name)
    made = call.entries[key] = _entries[name] = NativeLoop(name, address, (library, call))
    return made


def _begin(builder: Any, c: _Writing, call: Wrapped, operands: Sequence[int], results: int) -> None:
    from llvmlite import ir
    from numba.core import cgutils

    context, i64 = c.context, ir.IntType(64)
    signature, fndesc = call.compiled.signature, call.compiled.fndesc
    type_ = context.call_conv.get_function_type(fndesc.restype, fndesc.argtypes)
    callee = ir.Function(c.module, type_, fndesc.llvm_func_name)
    callee.attributes.add("alwaysinline")
    values, fits = [], ir.Constant(ir.IntType(1), 1)
    for k, of in zip(operands, signature.args, strict=True):
        if hasattr(of, "layout"):
            array, laid_out = c.array(builder, k, of)
            values.append(array._getvalue())
            fits = builder.and_(fits, laid_out)
        else:
            place = builder.bitcast(c.slot(builder, k), context.get_data_type(of).as_pointer())
            values.append(context.unpack_value(builder, of, place))
    with cgutils.if_unlikely(builder, builder.not_(fits)):
        builder.ret(ir.Constant(i64, OTHER_LAYOUT))
    status, result = context.call_conv.call_function(builder, callee, fndesc.restype, fndesc.argtypes, values)
    with cgutils.if_unlikely(builder, status.is_error):
        api = context.get_python_api(builder)
        held = api.gil_ensure()
        context.call_conv.raise_error(builder, api, status)
        api.gil_release(held)
        builder.ret(ir.Constant(i64, RAISED))
    found = list(_parts(builder, context, fndesc.restype, result))
    at = results
    for of, value in found:
        if not hasattr(of, "layout"):
            to = canonical(of)
            context.pack_value(builder, to, context.cast(builder, value, of, to), c.pointer(builder, at, to))
            at += 1
    if arrays := [(of, value) for of, value in found if hasattr(of, "layout")]:
        _keep(builder, c, call, result, arrays, at)
    builder.ret(ir.Constant(i64, OK))


def _keep(builder: Any, c: _Writing, call: Wrapped, result: Any, arrays: Sequence[Any], at: int) -> None:
    """Keeps a result with arrays, and stores their sizes and where it is."""
    from llvmlite import ir
    from numba.core import cgutils
    from numba.np.arrayobj import make_array

    context, i64 = c.context, ir.IntType(64)
    for of, value in arrays:
        array = make_array(of)(context, builder, value)
        with cgutils.if_unlikely(builder, cgutils.is_null(builder, array.meminfo)):
            context.nrt.decref(builder, call.result, result)
            error = context.add_dynamic_addr(builder, id(UnsupportedError), info="UnsupportedError")
            _raise(builder, c, error, *refusal_of(call.function))
    for of, value in arrays:
        array = make_array(of)(context, builder, value)
        for n in cgutils.unpack_tuple(builder, array.shape):
            builder.store(n, builder.inttoptr(c.word(builder, at), i64.as_pointer()))
            at += 1
    size = ir.Constant(i64, context.get_abi_sizeof(result.type))
    where = context.nrt.allocate_unchecked(builder, size)
    with cgutils.if_unlikely(builder, cgutils.is_null(builder, where)):
        context.nrt.decref(builder, call.result, result)
        _raise(builder, c, "PyExc_MemoryError", "no memory for a result")
    builder.store(result, builder.bitcast(where, result.type.as_pointer()))
    handle = builder.inttoptr(c.word(builder, at), i64.as_pointer())
    builder.store(builder.ptrtoint(where, i64), handle)


def _raise(builder: Any, c: _Writing, error: Any, text: str) -> None:
    """Leaves an entry with an exception: of a class by its name, or of an object."""
    from llvmlite import ir

    api = c.context.get_python_api(builder)
    held = api.gil_ensure()
    api.err_set_string(error if isinstance(error, str) else builder.bitcast(error, api.pyobj), text)
    api.gil_release(held)
    builder.ret(ir.Constant(ir.IntType(64), RAISED))


def _deliver(builder: Any, c: _Writing, call: Wrapped, first: int, arrays: Sequence[tuple[int, int]]) -> None:
    from llvmlite import ir
    from numba.core import cgutils, types
    from numba.np.arrayobj import load_item, make_array, store_item

    context, i64 = c.context, ir.IntType(64)
    kind = context.get_value_type(call.result)
    where = builder.inttoptr(c.word(builder, first), kind.as_pointer())
    result = builder.load(where)
    found = [x for x in _parts(builder, context, call.result, result) if hasattr(x[0], "layout")]
    for (of, value), (k, rank) in zip(found, arrays, strict=True):
        source = make_array(of)(context, builder, value)
        out_type = types.Array(of.dtype, rank, "A")
        out, _ = c.array(builder, k, out_type)
        shape = cgutils.unpack_tuple(builder, source.shape, rank)
        with cgutils.loop_nest(builder, shape, context.get_value_type(types.intp)) as indices:
            ends = []
            for array, layout in ((source, of.layout), (out, "A")):
                strides = cgutils.unpack_tuple(builder, array.strides, rank)
                ends.append(
                    cgutils.get_item_pointer2(context, builder, array.data, shape, strides, layout, list(indices))
                )
            store_item(context, builder, out_type, load_item(context, builder, of, ends[0]), ends[1])
    context.nrt.decref(builder, call.result, result)
    context.nrt.free(builder, builder.bitcast(where, ir.IntType(8).as_pointer()))
    builder.ret(ir.Constant(i64, OK))


def _parts(builder: Any, context: Any, type_: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """The numbers and arrays of a result, with their types."""
    from numba.core import types

    if isinstance(type_, types.BaseTuple):
        for k, of in enumerate(type_):
            yield from _parts(builder, context, of, builder.extract_value(value, k))
    elif not isinstance(type_, types.NoneType):
        yield type_, value


def canonical(type_: Any) -> Any:
    """The type in which a number becomes one of Python's."""
    from numba.core import types

    if isinstance(type_, (types.Boolean, types.BooleanLiteral)):
        return types.boolean
    if isinstance(type_, types.Integer):
        return types.int64
    return types.float64 if isinstance(type_, types.Float) else types.complex128
