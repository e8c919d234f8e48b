"""The rewrite of a module: functions that call one another, blocks that branch, layouts at the boundary. MLIR
counterpart: OneShotModuleBufferize.cpp and FuncBufferizableOpInterfaceImpl.cpp.

Callees come first, so that a call knows what its callee returns. With `infer-layout-map` a result has the type of the
buffer that is returned (of any layout, where there are several); the other conversions fix it, and what does not fit is
copied.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracebuf.analysis.modules.module import ModuleAnalysis, order_by_calls, returns
from tracebuf.analysis.one_shot.base import AnalysisError
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.bufferize.boundary import has_shape, unknown_type
from tracebuf.bufferize.dense import lies_dense
from tracebuf.bufferize.globals import add_globals
from tracebuf.bufferize.rewrite import Rewrite
from tracebuf.errors import UnsupportedError
from tracebuf.ir.core import Block, Use, Value
from tracebuf.ir.dims import Sym
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import TENSORS, MemRefType, Type, same_type, with_symbols
from tracebuf.location import Location
from tracebuf.ops.control.func import Call, Return
from tracebuf.ops.memory import memref
from tracebuf.options import Layout, OneShotOptions


def bufferize_module(module: Module, analysis: ModuleAnalysis, options: OneShotOptions) -> Module:
    """The memref program of an analysed module; `module` is left as it is.

    Without `bufferize_function_boundaries` tensors cross the boundaries, and calls and returns are unknown ops. Raises
    AnalysisError for other unknown ops with tensors, unless `allow_unknown_ops`.
    """
    if not options.allow_unknown_ops:
        for f in module.funcs:
            if not f.external:
                refuse_unknown_ops(f, analysis.funcs[f.name], options)
    layout = options.function_boundary_type_conversion
    if not options.bufferize_function_boundaries:
        return _rebuilt(module, {f.name: _inside(f, analysis, options) for f in module.funcs})
    signatures: dict[str, Func] = {}
    ordered, circular = order_by_calls(module)
    for f in circular:
        signatures[f.name] = _signature(f, layout)
    for f in (*ordered, *circular):
        if f.external:
            signatures[f.name] = _signature(f, layout)
        else:
            unsettled = f in circular and layout == "infer-layout-map"
            fixed: Layout = "fully-dynamic-layout-map" if unsettled else layout
            rewrite = _ModuleRewrite(f, analysis.funcs[f.name], layout, signatures)
            rewrite.unknown_layout = options.unknown_type_conversion
            signatures[f.name] = rewrite.run_to(fixed)
    return _rebuilt(module, signatures)


def refuse_unknown_ops(f: Func, analysis: Analysis, options: OneShotOptions) -> None:
    """AnalysisError at the first op with tensors of which nothing is known; what the options leave out may stay."""
    for op in f.walk():
        left_out = not options.allows(op.name) or isinstance(op, Call | Return)
        if not analysis.flow.is_known(op) and not left_out:
            inside = [a for region in op.regions for block in region.blocks for a in block.args]
            if any(v.is_tensor for v in (*op.operands, *op.results, *inside)):
                raise AnalysisError("op was not bufferized (allow-unknown-ops lets it stay)", op.loc)


def _rebuilt(module: Module, funcs: dict[str, Func]) -> Module:
    new = Module([funcs[i.name] if isinstance(i, Func) else i for i in module.items], module.loc, module.name)
    new.attrs = dict(module.attrs)
    add_globals(new)
    return new


def _inside(f: Func, analysis: ModuleAnalysis, options: OneShotOptions) -> Func:
    """A function whose arguments and results stay tensors."""
    if f.external:
        return f
    rewrite = Rewrite(f, analysis.funcs[f.name], [a.type for a in f.args])
    rewrite.unknown_layout, rewrite.infers_own_blocks = options.unknown_type_conversion, False
    new = rewrite.run()
    new.results = f.results
    return new


def _signature(f: Func, layout: Layout) -> Func:
    """The function without a body: what its callers see before it is rewritten."""
    new = Func(f.name, [unknown_type(a.type, layout) for a in f.args], f.loc)
    new.arg_attrs, new.attrs = [_kept(a) for a in f.arg_attrs], dict(f.attrs)
    new.results = tuple(unknown_type(t, layout) for t in f.result_types)
    return new


def _kept(attrs: dict[str, object]) -> dict[str, object]:
    """The attributes of an argument, without those for the analysis."""
    return {k: v for k, v in attrs.items() if not k.startswith("bufferization.")}


class _ModuleRewrite(Rewrite):
    """The rewrite of one function of a module, whose calls know the other functions."""

    def __init__(self, func: Func, analysis: Analysis, layout: Layout, signatures: dict[str, Func]) -> None:
        super().__init__(func, analysis, [unknown_type(a.type, layout) for a in func.args])
        self.signatures = signatures

    def run_to(self, layout: Layout) -> Func:
        """The rewritten function, its results as the layout asks."""
        new = self.run()
        new.arg_attrs = [_kept(a) for a in self.func.arg_attrs]
        ends = returns(new)
        if not ends:
            raise UnsupportedError("cannot bufferize func.func without func.return", location=self.func.loc)
        for k, type_ in enumerate(self.func.result_types):
            if isinstance(type_, TENSORS):
                self._settle([op.uses[k] for op in ends], type_, layout)
        new.results = tuple(v.type for v in ends[0].operands)
        return new

    def _settle(self, ends: Sequence[Use], type_: Type, layout: Layout) -> None:
        """Gives a result one type in all returns."""
        first = ends[0].value.type
        if layout == "infer-layout-map":
            if all(same_type(use.value.type, first) for use in ends) and has_shape(first, type_):
                return
            layout = "fully-dynamic-layout-map"
        wanted = unknown_type(type_, layout)
        for use in ends:
            if not same_type(use.value.type, wanted):
                use.set(self._converted(use, wanted))

    def _converted(self, use: Use, wanted: Type) -> Value:
        """The buffer as another type: a cast where that is safe, else a copy."""
        at, value = use.op, use.value
        assert at.block is not None
        self.target, kept = Block(), at.block
        if isinstance(wanted, MemRefType) and wanted.is_identity and not lies_dense(value):
            value = self.fresh_copy(value, at.loc, "a result has to lie in C order, without gaps")
        if not same_type(value.type, wanted):
            value = self.add(memref.Cast.of(value, wanted, at.loc)).result
        place = kept.op_index(at)
        kept.replace_ops([*kept.ops[:place], *self.target.ops, *kept.ops[place:]])
        return value

    # -- what only modules have
    def call(self, callee: str, args: Sequence[Use], loc: Location) -> tuple[list[Value], Sequence[Type]]:
        """The operands of a call of the new function, and its result types."""
        signature = self.signatures[callee]
        values = []
        for use, arg in zip(args, signature.args, strict=True):
            value = self.buffer(use) if use.value.is_tensor else self.value(use.value)
            values.append(value if same_type(value.type, arg.type) else self._cast_to(value, arg.type, loc))
        sizes: dict[Sym, Sym] = {}

        def own(symbol: Sym) -> Sym:  # no value of this function stands for it, and each call gives other sizes
            return sizes.setdefault(symbol, Sym("?", "unnamed", symbol.lo, symbol.hi))

        return values, [with_symbols(t, own) for t in signature.result_types]

    def _cast_to(self, value: Value, type_: Type, loc: Location) -> Value:
        if isinstance(type_, MemRefType) and type_.is_identity and not lies_dense(value):
            value = self.fresh_copy(value, loc, "the callee asks for C order, without gaps")
        return value if same_type(value.type, type_) else self.add(memref.Cast.of(value, type_, loc)).result
