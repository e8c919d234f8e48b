"""What Numba finds of a bufferized function: a function of its own that takes the same arguments, `callee_of`. It calls
`native_call`, whose types and code the arguments' types say (`CallSite`).
"""

from __future__ import annotations

import inspect
from typing import Any

import numba
from llvmlite import ir
from numba.core import callconv, cgutils, errors, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from tracebuf.errors import TracebufError
from tracebuf.njit.sites import CallSite, shared, words_of


def init() -> None:
    """What Numba calls when it compiles first (entry point `numba_extensions`): nothing, for a bufferized function says
    itself what it is (`_numba_type_`)."""


def callee_of(function: Any) -> Any:
    """The function in the place of a bufferized one."""
    original = function.__wrapped__
    names, defaults, text, odd = list[str](), dict[str, Any](), list[str](), ""
    for p in inspect.signature(original).parameters.values():
        if p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            odd = f"{original.__qualname__} takes {p}, which no call by Numba's code can give"
        names.append(p.name)
        text.append(p.name)
        if p.default is not p.empty:
            defaults[f"_{p.name}_default"] = p.default
            text[-1] = f"{p.name}=_{p.name}_default"
    passed = f"({', '.join(names)},)" if names else "()"
    space: dict[str, Any] = {"native_call": native_call_of(function, odd), **defaults}
    given, passed = ("*given", "given") if odd else (", ".join(text), passed)
    exec(f"def call({given}):\n    return native_call({passed})\n", space)
    call = space["call"]
    call.__name__, call.__qualname__, call.__module__ = original.__name__, original.__qualname__, original.__module__
    return numba.njit(call)


def native_call_of(function: Any, refusal: str) -> Any:
    """What Numba compiles a call to; `refusal`: why it does not, or the empty string."""
    sites: dict[Any, CallSite] = {}

    @intrinsic  # type: ignore[untyped-decorator]
    def native_call(typingctx: Any, arguments: Any) -> Any:
        given = tuple(arguments)
        if refusal:
            raise errors.TypingError(refusal)
        try:
            if given not in sites:
                sites[given] = CallSite(function, given)
        except TracebufError as error:
            raise errors.TypingError(str(error)) from error
        site = sites[given]
        return site.result(arguments), lambda context, builder, signature, args: write(context, builder, site, args[0])

    return native_call


def write(context: Any, builder: Any, site: CallSite, arguments: Any) -> Any:
    """Writes a call."""
    i64 = ir.IntType(64)
    many = ir.ArrayType(i64, max(site.words, 1))
    results = sum(words_of(of) for of in site.leaves)
    given = builder.bitcast(cgutils.alloca_once(builder, many), i64.as_pointer())
    out = builder.bitcast(cgutils.alloca_once(builder, ir.ArrayType(i64, max(results, 1))), i64.as_pointer())

    def place(of: Any, k: int) -> Any:
        return builder.gep(of, [ir.Constant(i64, k)])

    for k, x in enumerate(site.given):
        if x.word < 0:
            continue
        value = builder.extract_value(arguments, k)
        if not isinstance(x.type, types.Array):
            data = context.get_data_type(x.type)
            builder.store(ir.Constant(i64, 0), place(given, x.word))
            context.pack_value(builder, x.type, value, builder.bitcast(place(given, x.word), data.as_pointer()))
            continue
        array, n = make_array(x.type)(context, builder, value), x.type.ndim
        size = ir.Constant(i64, context.get_abi_sizeof(context.get_data_type(x.type.dtype)))
        builder.store(builder.ptrtoint(array.data, i64), place(given, x.word))
        for d, (length, stride) in enumerate(
            zip(cgutils.unpack_tuple(builder, array.shape, n), cgutils.unpack_tuple(builder, array.strides, n))
        ):
            builder.store(length, place(given, x.word + 1 + d))
            builder.store(builder.sdiv(stride, size, flags=("exact",)), place(given, x.word + 1 + n + d))
        builder.store(builder.ptrtoint(array.meminfo, i64), place(given, x.word + 1 + 2 * n))
    type_ = ir.FunctionType(i64, [i64.as_pointer()] * 3)
    dispatch = context.add_dynamic_addr(builder, shared().address("dispatch"), info="tracebuf dispatch")
    where = context.add_dynamic_addr(builder, site.address, info="tracebuf site")
    called = builder.bitcast(dispatch, type_.as_pointer())
    status = builder.call(called, [builder.bitcast(where, i64.as_pointer()), given, out])
    with cgutils.if_unlikely(builder, builder.icmp_signed("!=", status, ir.Constant(i64, 0))):
        context.call_conv._return_errcode_raw(builder, callconv.RETCODE_EXC)
    return _result(context, builder, site, site.result, out, [0], place)


def _result(context: Any, builder: Any, site: CallSite, type_: Any, out: Any, at: list[int], place: Any) -> Any:
    """The value of a result, from its words on."""
    if isinstance(type_, types.BaseTuple):
        parts = [_result(context, builder, site, of, out, at, place) for of in type_]
        return context.make_tuple(builder, type_, parts)
    if isinstance(type_, types.NoneType):
        return context.get_dummy_value()
    first, i64 = at[0], ir.IntType(64)
    at[0] += words_of(type_)
    if not isinstance(type_, types.Array):
        data = context.get_data_type(type_)
        return context.unpack_value(builder, type_, builder.bitcast(place(out, first), data.as_pointer()))
    n, array = type_.ndim, make_array(type_)(context, builder)
    words = [builder.load(place(out, first + k)) for k in range(2 + 2 * n)]
    intp = context.get_value_type(types.intp)
    populate_array(
        array,
        data=builder.inttoptr(words[1], context.get_data_type(type_.dtype).as_pointer()),
        shape=cgutils.pack_array(builder, words[2 : 2 + n], ty=intp),
        strides=cgutils.pack_array(builder, words[2 + n :], ty=intp),
        itemsize=ir.Constant(i64, context.get_abi_sizeof(context.get_data_type(type_.dtype))),
        meminfo=builder.inttoptr(words[0], ir.IntType(8).as_pointer()),
    )
    return array._getvalue()


__all__ = ["callee_of", "init"]
