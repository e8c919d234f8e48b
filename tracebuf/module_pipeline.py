"""The passes of functions read from MLIR text, which call one another: from tensors to buffers, and to what runs.

The passes on one function are those of pipeline.py.
"""

from __future__ import annotations

from collections.abc import Collection

from tracebuf.analysis.modules.module import analyze_module
from tracebuf.analysis.one_shot.chosen import analysis_of
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.bufferize.globals import bring_constants
from tracebuf.bufferize.module import bufferize_module
from tracebuf.deallocate.general.canonical import canonicalize_deallocs
from tracebuf.deallocate.general.lower_deallocations import lower_deallocations
from tracebuf.deallocate.general.ownership import ownership_based_buffer_deallocation
from tracebuf.deallocate.general.simplification import buffer_deallocation_simplification
from tracebuf.errors import UnsupportedError
from tracebuf.ir.attributes import string
from tracebuf.ir.clone import clone_func
from tracebuf.ir.core import Op
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import MemRefType, ScalarType, UnrankedMemRefType
from tracebuf.ir.verifier import verify_module
from tracebuf.ops.control.func import Call
from tracebuf.ops.memory.memref import Dim, dimension
from tracebuf.optimize.memrefs.expand_realloc import expand_realloc
from tracebuf.optimize.mlir.add_runtime_checks import add_runtime_checks
from tracebuf.optimize.mlir.alloc_tensor_to_empty import alloc_tensor_to_empty
from tracebuf.optimize.mlir.generalize import generalize
from tracebuf.optimize.mlir.inline_calls import called_from, inline_calls, may_be_inlined
from tracebuf.optimize.mlir.inline_regions import inline_regions
from tracebuf.optimize.mlir.lower_allocas import lower_allocas
from tracebuf.optimize.mlir.lower_forall import lower_forall
from tracebuf.optimize.mlir.lower_given import Given, lower_given
from tracebuf.optimize.mlir.lower_loops import lower_loops
from tracebuf.optimize.mlir.lower_reshapes import lower_reshapes
from tracebuf.optimize.mlir.lower_selects import lower_selects, own_constants
from tracebuf.optimize.mlir.mark_read_only import mark_read_only
from tracebuf.optimize.mlir.refuse_shared_reads import refuse_shared_reads
from tracebuf.optimize.tensors.canonicalize import remove_dead
from tracebuf.optimize.tensors.cse import cse, merged_by_mlir
from tracebuf.optimize.tensors.eliminate_empty_tensors import eliminate_empty_tensors
from tracebuf.optimize.tensors.fold_whole_stores import fold_stores_back, fold_whole_stores
from tracebuf.optimize.tensors.move_reads_early import move_reads_early
from tracebuf.optimize.tensors.read_through_reshapes import read_through_reshapes
from tracebuf.optimize.tensors.reuse_dying_inputs import reuse_dying_inputs
from tracebuf.options import OneShotOptions, Options
from tracebuf.pipeline import MEMREF_PASSES, Observer, Pass, run_passes

MLIR_PASSES: tuple[tuple[str, Pass], ...] = (
    ("alloc-tensor-to-empty", alloc_tensor_to_empty),
    ("fold-whole-stores", fold_whole_stores),
    ("eliminate-empty-tensors", eliminate_empty_tensors),
    ("reuse-dying-inputs", reuse_dying_inputs),
    ("read-through-reshapes", read_through_reshapes),
    ("move-reads-early", move_reads_early),
)
"""The passes before the analysis of MLIR text: improvements only; the program is not canonicalized."""


def improve_tensors(func: Func, options: Options, observe: Observer | None = None) -> None:
    """Improves a function of MLIR text, in place; none where blocks branch, or buffers are among the tensors, which the
    passes do not support."""
    if not branches(func) and not any(isinstance(v.type, MemRefType | UnrankedMemRefType) for v in func.values()):
        run_passes(MLIR_PASSES, func, "any", options, observe)


def improved_module(module: Module, options: OneShotOptions) -> Module:
    """The module with copies of the analysed functions in which the improvements that change a program are made. Where
    MLIR decides, these are the folds of MLIR's own passes: unused ops, stores over everything."""
    if options.copy_before_write:
        return module
    chosen, items = Options(improvements=options.improvements), list[Func | Op | Module]()
    for item in module.items:
        if isinstance(item, Func) and not item.external and item.name not in options.no_analysis_func_filter:
            item, _ = clone_func(item)
            for block in item.body.blocks:
                remove_dead(block, set(item.symbols.values()))
            fold_stores_back(item)
            fold_whole_stores(item) if options.compat else improve_tensors(item, chosen)
            if options.compat is None and "read-only-buffers" in options.improvements:
                mark_read_only(item)
        items.append(item)
    found = Module(items, module.loc, module.name)
    found.attrs = dict(module.attrs)
    return found


def module_to_memref(module: Module, options: OneShotOptions) -> Module:
    """From tensors to buffers for a module read from MLIR text: analysis and rewrite, without frees."""
    module = improved_module(module, options)
    return bufferize_module(module, analyze_module(module, options), options)


class MLIR:
    """MLIR's decisions as the user's own, to be checked for legality against the facts of the ops."""

    def __init__(self, decided: Analysis) -> None:
        self.is_in_place = decided.is_in_place


def module_to_run(module: Module, options: OneShotOptions, name: str) -> Module:
    """From tensors to buffers for a module of which the function of that name is to be run: analysis and rewrite,
    without frees.

    Where MLIR decides, its decisions are checked first against the facts of the ops (MLIR takes some ops to read or
    write less than they do): DecisionError where they would change the results. UnsupportedError where iterations of
    scf.forall read one another's results.
    """
    module = improved_module(module, options)
    analysis = analyze_module(module, options)
    for f in called_from(module, name):
        refuse_shared_reads(f)
        if options.compat is not None:
            analysis.funcs[f.name] = analysis_of(f, MLIR(analysis.funcs[f.name]), rotates=False)
    return bufferize_module(module, analysis, options)


def functions_to_run(module: Module, name: str, given: Given) -> list[Func]:
    """One function of a bufferized module as the interpreter and the compiler take it, freed: by itself, or where
    blocks branch, or functions call themselves, followed by those that it calls, directly or not.

    `given`: Python callables for functions that are only declared. Raises UnsupportedError for what can be analysed and
    rewritten, but not run.
    """
    if not may_be_inlined(module, name):
        return _linked(module, name, given)
    func = inline_calls(module, name, given)
    _prepare(func, module, set(given))
    lower_given(func, given, frees=False)
    run_passes(MEMREF_PASSES, func, "memref", Options(verify=True), None)
    return [func]


def _linked(module: Module, name: str, given: Given) -> list[Func]:
    """Functions that call one another. All tell who owns what they return; so the first has an i1 more for each buffer
    among its results."""
    funcs = [clone_func(f)[0] for f in called_from(module, name)]
    for func in funcs:
        _prepare(func, module, {*given, *(f.name for f in funcs)})
        func.attrs["sym_visibility"] = string("private")
    whole = Module(funcs)
    ownership_based_buffer_deallocation(whole, dynamic=True)
    for func in funcs:
        canonicalize_deallocs(func)
        buffer_deallocation_simplification(func)
        lower_deallocations(func)
        cse(func, merged_by_mlir)
        canonicalize_deallocs(func)
        lower_given(func, given, frees=True)
    verify_module(whole)
    return funcs


def _prepare(func: Func, module: Module, known: Collection[str]) -> None:
    bring_constants(func, module)
    refuse_to_run(func, known)
    lower_to_machine(func)


def refuse_to_run(func: Func, known: Collection[str]) -> None:
    """UnsupportedError, with the location, for what can be analysed and rewritten, but not run: unknown ops, calls of
    functions that are not `known`, dimensions that are not there, values that are neither numbers nor buffers of
    strides."""
    for op in func.walk():
        if op.name not in Op.registry:
            raise UnsupportedError(f"{op.name} is not known: it cannot be run", location=op.loc)
        if isinstance(op, Call) and op.callee not in known:
            raise UnsupportedError(f"@{op.callee} is only declared: it cannot be run", location=op.loc)
        if isinstance(op, Dim) and isinstance(dim := op.attrs["dim"], int) and dimension(op) is None:
            raise UnsupportedError(f"{op.operand(0).type} has no dimension {dim}: it cannot be run", location=op.loc)
    for value in func.values():
        if not isinstance(value.type, ScalarType | MemRefType):
            loc = value.owner.loc if isinstance(value.owner, Op) else func.loc
            raise UnsupportedError(f"values of type {value.type} are not run", location=loc)


def lower_to_machine(func: Func) -> None:
    """Lowers ops on buffers that only MLIR text has to those that the interpreter and native code know."""
    inline_regions(func)
    expand_realloc(func, emit_deallocs=False, by_subview=True)
    lower_allocas(func)
    lower_forall(func)
    lower_loops(func)
    generalize(func)
    own_constants(func)
    lower_selects(func)
    lower_reshapes(func)
    add_runtime_checks(func)


def branches(func: Func) -> bool:
    """Whether blocks branch."""
    return len(func.body.blocks) > 1 or any(len(r.blocks) > 1 for op in func.walk() for r in op.regions)
