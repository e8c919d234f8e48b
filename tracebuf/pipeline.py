"""The whole pipeline at a glance: the passes by name, in order. Read this file first.

    trace (frontends/numpy)         a Python function and one call's arguments -> a tensor program in SSA, with
                                    destinations; its __init__.py says where each piece of Python and NumPy is traced
    TENSOR_PASSES                   the tensor program made smaller: fewer ops, fewer temporaries
    analyze                         One-Shot: which operand may use its buffer in place, and why the others may not
    bufferize                       -> a memref program, with a copy for each operand that may not
    MEMREF_PASSES                   frees by ownership; the storage of each buffer
    Kernel (backend/runtime)        -> LLVM IR, machine code, a call

MLIR text (frontends/mlir) enters at `module_to_memref`: analysis and rewrite, for functions that call one another
(analysis/modules/module.py, bufferize/module.py). To run one of them: `module_to_run`, `functions_to_run` (mlir.py).
The command is opt.py, its passes passes.py.

`observe` is called with the name of each pass and the program after it: for dumps, timing, counting, the verifier.

Where is ...? Paths are relative to tracebuf/, in which frontends and backend are links to the top level (so grep from
the root); docs/architecture.md follows one call through all of them. What is NumPy's or Python's (a ufunc, np.linalg, a
loop, a refusal) has a table of its own, in frontends/numpy/__init__.py.

    an op, its facts, its rewrite   ops/, by dialect
    `a[i] = v` recorded             frontends/numpy: functions/indices/subscripts.py; then arrays/indexing.py, or
                                    functions/indices/gathers.py and masks.py; then record/recorder.py (`store`,
                                    `store_element`); tests/language/test_references.py (slices),
                                    tests/functions/test_masks.py, tests/functions/test_gathers.py
    a call's key                    its parts: frontends/numpy/call/arguments.py (`key_of`); put together: api.py
                                    (`_call`); what finds the program: `Call.group` of
                                    frontends/numpy/interpreter/trace.py, in api.py (`_find`; `_recent` for known
                                    forms); tests/call/test_api.py, tests/call/test_static_arguments.py
    arguments that overlap          frontends/numpy/call/arguments.py (`relations`, `overlap`); api.py (`_fitting`
                                    has the original run, `_overlapping` remembers it); in machine code:
                                    backend/llvm/entries/checks.py; rule B4, tests/call/test_api.py (`test_b4_*`)
    a captured array                one more argument, with a key: frontends/numpy/call/captures.py; api.py
                                    (`_complete`, `_keep_captures`)
    what a loop carries             frontends/numpy/paths/loops/ (trace.py, head.py, compare.py; close.py records it);
                                    storages at their first touch: record/recorder.py (`_value_in`)
    adding a function of NumPy      frontends/numpy/functions/ (table.py, formulas/); steps in CONTRIBUTING.md. Every
                                    ufunc is taken, with `out=` and `where=` (functions/ufunc_calls.py); a line in
                                    numbers/rules.py makes one native; tests/functions/test_out_where.py
    np.linalg, fft, sort natively   frontends/numpy/functions/host/ names NumPy's loop, which
                                    backend/llvm/host_calls.py calls for arrays up to `SMALL` (sorts: contiguous
                                    rows of any size; addresses: numpy_loops.py); for larger ones, and what has no
                                    such loop, it calls Python's function: by native code
                                    where it can (`Direct` of ops/arrays/host.py, backend/llvm/hosted.py), else by
                                    `call_reference`; tests/functions/test_host_linalg.py,
                                    tests/native/test_direct_calls.py (calls of Python's)
    what decides "in place"         analysis/one_shot/one_shot.py, with one function a rule in rules.py;
                                    analysis/cost/choose.py tries several orders
    `c += a @ b` in place           optimize/tensors/accumulate_products.py makes it one op, also of `c[:] = a @ b + c`
                                    (`stores_back`); one_shot puts it in place; tests/passes/test_accumulate.py
    a conflict's reason             analysis/one_shot/rules.py finds it, base.py (`Conflict`) words it, unsaved.py says
                                    why no rule saved it; explain/report.py lists it
    another temporary's reason      optimize/tensors/eliminate_empty_tensors.py (`why_kept`); a result's:
                                    explain/report.py
    what a loop begins with, unread optimize/tensors/place_stand_ins.py; tests/passes/test_stand_ins.py
    a fresh result's buffer         bufferize/rewrite.py (`allocate`) for a `tensor.empty`; which storage:
                                    optimize/buffers/assign_storage.py; whose memory: backend/runtime/arena.py
    the plan of the arena           optimize/buffers/assign_storage.py makes it; who is alive with whom: lifetimes.py;
                                    offsets: pack.py; its data: ops/memory/arena.py; offsets for a user:
                                    `lower(...).as_text("memref")`; totals: `lower(...).memory()` (explain/memory.py)
    a buffer whose size comes late  it floats: optimize/buffers/assign_storage.py (`_floating`); at run time
                                    backend/llvm/memory.py (`_in_gap`); tests/passes/test_storage.py
    one that a loop carries so      it roams: optimize/buffers/assign_storage.py (`_roaming`), backend/llvm/roaming.py
    the pass that frees             deallocate/ownership.py; handover.py: what an `if` or a loop takes over; lower.py:
                                    what `bufferization.dealloc` becomes (deallocate/general/ has both for MLIR text);
                                    optimize/buffers/shorten_liveness.py moves frees up;
                                    tests/passes/test_deallocate.py (once, on every path); early enough:
                                    tests/passes/test_peak.py
    a pass of `opt` by MLIR's name  passes.py lists them; on tensors and functions: optimize/mlir/,
                                    optimize/tensors/; on buffers: optimize/memrefs/ and deallocate/general/, for
                                    which analysis/flow/ knows how control and buffers flow through blocks and regions;
                                    tests/mlir/test_documents.py, tests/mlir/test_memrefs.py
    an op's native form             backend/llvm/emit.py chooses; loops: lower/plan.py plans them,
                                    backend/llvm/loops.py writes them (`_rows`: short rows in one block,
                                    tests/native/test_short_rows.py); LLVM's passes: backend/llvm/jit.py
                                    (`_run_passes`, with what is off and why); tests/native/test_native.py,
                                    tests/native/test_jit.py
    an error of compiled code       a check ends it: ops/control/checks.py (`check_error`), made into an exception by
                                    backend/runtime/kernel.py (`_error`), with its line by errors.py (`note_location`);
                                    tests/call/test_native_calls.py (`test_errors_have_their_line`)
    what programs share             backend/llvm/nests.py: which loops are functions of their own; shared.py names
                                    them, backend/runtime/pool.py keeps them for `Kernel`; tests/native/test_shared.py
    Ctrl-C in a compiled loop       backend/llvm/polls.py writes the polls, backend/runtime/entry.py has `poll`;
                                    rule C3; tests/native/test_interrupts.py
    a call without Python           native_calls.py says what it checks; backend/llvm/entries/ is its machine code
                                    (dispatch.py, checks.py, results.py), on data that backend/runtime/entries.py
                                    lays out; backend/runtime/callable.py its class
    a call with `fallback="numpy"`  api.py: `_Refusal` is found again by the call's key, without a trace; a call that is
                                    refused often has the original called by machine code (`_make_original_native`);
                                    tests/call/test_fallback.py
    a product by BLAS               backend/llvm/blas_calls.py calls it, backend/runtime/blas.py finds it
    what a decision costs           analysis/cost/cost.py; other decisions: choose.py, optimal.py
    the text of a refusal           frontends/numpy/interpreter/expressions.py (`call`): what cannot be traced;
                                    record/refusals.py: what to write instead; errors.py shows it
    what may import what            tests/test_house.py (`ROOMS`; `test_imports_run_one_way`)
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from tracebuf.analysis.cost import choose
from tracebuf.analysis.cost.optimal import Optimal, optimal
from tracebuf.analysis.modules.module import analyze_module
from tracebuf.analysis.one_shot.chosen import analysis_of
from tracebuf.analysis.one_shot.copy_before_write import copy_before_write
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.bufferize.globals import bring_constants
from tracebuf.bufferize.module import bufferize_module
from tracebuf.bufferize.rewrite import branches, bufferize
from tracebuf.deallocate.general.canonical import canonicalize_deallocs
from tracebuf.deallocate.general.lower_deallocations import lower_deallocations
from tracebuf.deallocate.general.ownership import ownership_based_buffer_deallocation
from tracebuf.deallocate.general.simplification import buffer_deallocation_simplification
from tracebuf.deallocate.lower import lower_deallocs
from tracebuf.deallocate.ownership import insert_deallocs
from tracebuf.deallocate.simplify import simplify_deallocs
from tracebuf.errors import UnsupportedError
from tracebuf.ir.attributes import string
from tracebuf.ir.clone import clone_func
from tracebuf.ir.core import Op
from tracebuf.ir.func import Func, Module
from tracebuf.ir.types import MemRefType, ScalarType, UnrankedMemRefType
from tracebuf.ir.verifier import Level, Verified, verify, verify_module
from tracebuf.ops.control.func import Call
from tracebuf.optimize.buffers.assign_storage import assign_storage
from tracebuf.optimize.buffers.copy_on_paths import copy_on_paths
from tracebuf.optimize.buffers.fold_memref import fold_memref
from tracebuf.optimize.buffers.keep_layouts import keep_layouts
from tracebuf.optimize.buffers.order_copies import order_copies
from tracebuf.optimize.buffers.shorten_liveness import shorten_liveness
from tracebuf.optimize.buffers.write_directly import write_directly
from tracebuf.optimize.memrefs.expand_realloc import expand_realloc
from tracebuf.optimize.mlir.add_runtime_checks import add_runtime_checks
from tracebuf.optimize.mlir.alloc_tensor_to_empty import alloc_tensor_to_empty
from tracebuf.optimize.mlir.generalize import generalize
from tracebuf.optimize.mlir.inline_calls import called_from, inline_calls, may_be_inlined
from tracebuf.optimize.mlir.inline_regions import inline_regions
from tracebuf.optimize.mlir.lower_allocas import lower_allocas
from tracebuf.optimize.mlir.lower_forall import lower_forall
from tracebuf.optimize.mlir.lower_given import Given, lower_given
from tracebuf.optimize.mlir.lower_reshapes import lower_reshapes
from tracebuf.optimize.mlir.lower_selects import lower_selects, own_constants
from tracebuf.optimize.mlir.mark_read_only import mark_read_only
from tracebuf.optimize.mlir.refuse_shared_reads import refuse_shared_reads
from tracebuf.optimize.tensors.accumulate_products import accumulate_products
from tracebuf.optimize.tensors.canonicalize import canonicalize, remove_dead
from tracebuf.optimize.tensors.cse import cse, merged_by_mlir
from tracebuf.optimize.tensors.eliminate_empty_tensors import eliminate_empty_tensors
from tracebuf.optimize.tensors.fold_whole_stores import fold_stores_back, fold_whole_stores
from tracebuf.optimize.tensors.fuse import fuse
from tracebuf.optimize.tensors.move_reads_early import move_reads_early
from tracebuf.optimize.tensors.place_stand_ins import place_stand_ins
from tracebuf.optimize.tensors.read_through_reshapes import read_through_reshapes
from tracebuf.optimize.tensors.reuse_donated_arguments import check_donations, reuse_donated_arguments
from tracebuf.optimize.tensors.reuse_dying_inputs import reuse_dying_inputs
from tracebuf.options import Improvement, OneShotOptions, Options

Pass = Callable[[Func], None]
Observer = Callable[[str, Func], None]

TENSOR_PASSES: tuple[tuple[str, Pass], ...] = (
    ("canonicalize", canonicalize),
    ("cse", cse),
    ("accumulate-products", accumulate_products),
    ("fuse", fuse),
    ("canonicalize-fused", canonicalize),
    ("eliminate-empty-tensors", eliminate_empty_tensors),
    ("reuse-dying-inputs", reuse_dying_inputs),
    ("read-through-reshapes", read_through_reshapes),
    ("move-reads-early", move_reads_early),
    ("reuse-donated-arguments", reuse_donated_arguments),
    ("place-stand-ins", place_stand_ins),
    ("cse-again", cse),
    ("canonicalize-again", canonicalize),
)

MEMREF_PASSES: tuple[tuple[str, Pass], ...] = (
    ("fold-memref", fold_memref),
    ("copy-on-paths", copy_on_paths),
    ("keep-layouts", keep_layouts),
    ("order-copies", order_copies),
    ("write-directly", write_directly),
    ("insert-deallocs", insert_deallocs),
    ("simplify-deallocs", simplify_deallocs),
    ("lower-deallocs", lower_deallocs),
    ("shorten-liveness", shorten_liveness),
    ("fold-memref-again", fold_memref),
    ("assign-storage", assign_storage),
)

MLIR_PASSES: tuple[tuple[str, Pass], ...] = (
    ("alloc-tensor-to-empty", alloc_tensor_to_empty),
    ("fold-whole-stores", fold_whole_stores),
    ("eliminate-empty-tensors", eliminate_empty_tensors),
    ("reuse-dying-inputs", reuse_dying_inputs),
    ("read-through-reshapes", read_through_reshapes),
    ("move-reads-early", move_reads_early),
)
"""The passes before the analysis of MLIR text: improvements only; the program is not canonicalized."""

SWITCHES: dict[str, Improvement] = {
    "eliminate-empty-tensors": "pay-only-empty-elimination",
    "reuse-dying-inputs": "dying-inputs",
    "fold-whole-stores": "whole-stores",
    "read-through-reshapes": "reshaped-reads",
    "move-reads-early": "early-reads",
}
"""The passes that run only with an improvement."""


def analyze(func: Func, options: Options) -> Analysis:
    """Decides for every tensor operand whether it is used in place."""
    if callable(options.strategy):
        return analysis_of(func, options.strategy(func))
    if options.strategy == "copy-before-write":
        return copy_before_write(func)
    if options.strategy == "optimal":
        return optimal(func, options.improved)
    return choose.analyze(
        func,
        heuristic=options.heuristic,
        seed=options.seed,
        compat=options.compat,
        improvements=options.improved,
    )


def optimize_tensors(func: Func, options: Options, observe: Observer | None = None) -> None:
    """The tensor passes, in place."""
    _run(TENSOR_PASSES, func, "tensor", options, observe)


def improve_tensors(func: Func, options: Options, observe: Observer | None = None) -> None:
    """Improves a function of MLIR text, in place; none where blocks branch, or buffers are among the tensors, which the
    passes do not support."""
    if not branches(func) and not any(isinstance(v.type, MemRefType | UnrankedMemRefType) for v in func.values()):
        _run(MLIR_PASSES, func, "any", options, observe)


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


def to_memref(func: Func, options: Options, observe: Observer | None = None) -> Func:
    """From the optimised tensor program to the memref program that is compiled; DonationError where the memory of an
    argument that `options.donate` names cannot be reused."""
    return decided_to_memref(func, analyze(func, options), options, observe)


def decided_to_memref(func: Func, analysis: Analysis, options: Options, observe: Observer | None = None) -> Func:
    """`to_memref` by decisions that are made. The program is theirs: whatever made them (strategy, heuristic), equal
    ones make it equal."""
    if options.donate or options.donate_optional:
        check_donations(func, analysis, options.donate)
    program = bufferize(func, analysis)
    if isinstance(analysis, Optimal):
        program.attrs["certificate"] = analysis.certificate
    if options.verify:
        verify(program, "memref")
    if observe is not None:
        observe("bufferize", program)
    _run(MEMREF_PASSES, program, "memref", options, observe)
    return program


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
    _run(MEMREF_PASSES, func, "memref", Options(verify=True), None)
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
    functions that are not `known`, values that are neither numbers nor buffers of strides."""
    for op in func.walk():
        if op.name not in Op.registry:
            raise UnsupportedError(f"{op.name} is not known: it cannot be run", location=op.loc)
        if isinstance(op, Call) and op.callee not in known:
            raise UnsupportedError(f"@{op.callee} is only declared: it cannot be run", location=op.loc)
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
    generalize(func)
    own_constants(func)
    lower_selects(func)
    lower_reshapes(func)
    add_runtime_checks(func)


def _run(
    passes: tuple[tuple[str, Pass], ...],
    func: Func,
    level: Level,
    options: Options,
    observe: Observer | None,
) -> None:
    verified = Verified(level)
    for name, step in passes:
        if name in SWITCHES and SWITCHES[name] not in options.improved:
            continue
        step(func)
        if options.verify:
            verified.again(func)
        if observe is not None:
            observe(name, func)
