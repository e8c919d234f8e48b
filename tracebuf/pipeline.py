"""The whole pipeline at a glance: the passes by name, in order. Read this file first.

    trace (frontends/numpy)         a Python function and one call's arguments -> a tensor program in SSA, with
                                    destinations; its __init__.py says where each piece of Python and NumPy is traced
    TENSOR_PASSES                   the tensor program made smaller: fewer ops, fewer temporaries
    analyze                         One-Shot: which operand may use its buffer in place, and why the others may not
    bufferize                       -> a memref program, with a copy for each operand that may not
    MEMREF_PASSES                   frees by ownership; the storage of each buffer
    Kernel (backend/runtime)        -> LLVM IR, machine code, a call

MLIR text (frontends/mlir) enters at `module_to_memref` of module_pipeline.py: analysis and rewrite, for functions that
call one another (analysis/modules/module.py, bufferize/module.py). To run one of them: `module_to_run`,
`functions_to_run` (mlir.py). The command is opt.py, its passes passes.py.

`observe` is called with the name of each pass and the program after it: for dumps, timing, counting, the verifier.

Where is ...? Paths are relative to tracebuf/, in which frontends and backend are links to the top level (so grep from
the root); docs/architecture.md follows one call through all of them. What is NumPy's or Python's (a ufunc, np.linalg, a
loop, a refusal) has a table of its own, in frontends/numpy/__init__.py.

    an op, its facts, its rewrite   ops/, by dialect
    `a[i] = v` recorded             frontends/numpy: `assign` of interpreter/statements.py, then
                                    functions/indices/subscripts.py (`store`); then arrays/indexing.py, or
                                    functions/indices/masks.py (`store_advanced`): a mask by `store_masked` (one value
                                    for all places is a `select`, others `expand`), integers by `scattered` of
                                    gathers.py; then record/recorder.py (`store`,
                                    `store_element`); tests/language/test_references.py (slices),
                                    tests/functions/test_masks.py, tests/functions/test_gathers.py
    a call's key                    its parts: frontends/numpy/call/arguments.py (`key_of`); put together: api.py
                                    (`_call`); what finds the program: `Call.group` of
                                    frontends/numpy/call/call.py, in api.py (`_find`; `_recent` for known
                                    forms); tests/call/test_api.py, tests/call/test_static_arguments.py
    the choice of a library         of arrays, as SciPy makes it: frontends/numpy/functions/namespaces.py;
                                    tests/language/test_namespaces.py
    arguments that overlap          frontends/numpy/call/arguments.py (`relations`, `overlap`); api.py (`_fitting`
                                    has the original run, `_overlapping` remembers it); in machine code:
                                    backend/llvm/entries/checks.py; rule B4, tests/call/test_api.py (`test_b4_*`)
    a captured array                one more argument, with a key: frontends/numpy/call/captures.py; api.py
                                    (`_complete`, `_keep_captures`)
    a value from outside            met: `capture` of frontends/numpy/interpreter/interpreter.py (a field's default:
                                    records.py, `fill_dataclass`); compared at each call: `captures_hold` of
                                    frontends/numpy/call/conditions.py; rule B5, tests/call/test_captures.py; by a later
                                    process: frontends/numpy/call/provenance.py (`described`, `class_digest`)
    `global`, and bound             frontends/numpy/source/cells.py (`with_globals`), `Globals` of call/lookups.py;
                                    tests/language/test_globals.py
    whose memory an array is        `x.base`, `.flags.owndata`, `.data`: frontends/numpy/functions/memory.py;
                                    tests/language/test_inspection.py
    a `while`'s condition           frontends/numpy/interpreter/statements.py (`stmt_While`); traced with the iteration
                                    by paths/loops/trace.py (`Loop.iteration`); rule S10
    names that exchange arrays      in a loop, by the path: frontends/numpy/paths/loops/owned.py, rule S11,
                                    tests/language/test_best_so_far.py; in turn: `compare_moved` of
                                    frontends/numpy/paths/loops/compare.py, `peel` of trace.py, rule S9
    what a loop carries             frontends/numpy/paths/loops/ (trace.py, head.py, compare.py; close.py records it);
                                    storages at their first touch: record/recorder.py (`_value_in`). A `for` over a
                                    list, tuple or dict: paths/iteration.py (`iterable_of`), unrolled by
                                    interpreter/statements.py (`unrolled`), but for many alike items:
    a loop over a list, once        interpreter/lists/loops.py; which items are alike: paths/alike.py; where it does not
                                    pay: `check_pays` of paths/loops/compare.py; its op, `tracebuf.pick`:
                                    ops/arrays/pick.py, natively a table (`_tabulate` of backend/llvm/emit.py);
                                    tests/language/test_list_loops.py
    `try`, `with`                   frontends/numpy/interpreter/protected.py; tests/language/test_protected.py
    adding a function of NumPy      frontends/numpy/functions/ (table.py, formulas/); steps in CONTRIBUTING.md. Every
                                    ufunc is taken, with `out=` and `where=` (functions/ufunc_calls.py); a line in
                                    numbers/rules.py gives it ops of its own in place of NumPy's inner loop, which is
                                    compiled and fuses too; tests/functions/test_out_where.py
    np.linalg, fft, sort natively   frontends/numpy/functions/host/ names NumPy's loop, which
                                    backend/llvm/host_calls.py calls for arrays up to `SMALL` (sorts: contiguous
                                    rows of any size; addresses: numpy_loops.py); for larger ones, and what has no
                                    such loop, it calls Python's function: by native code
                                    where it can (`Direct` of running/host.py, backend/llvm/hosted.py), else by
                                    `call_reference`; tests/functions/test_host_linalg.py,
                                    tests/native/test_direct_calls.py (calls of Python's)
    a function that calls itself    frontends/numpy/interpreter/recursion.py (`note` finds it, `Recursion` traces it),
                                    `TracedCall` of ops/control/func.py, bufferize/callees.py;
                                    tests/language/test_recursion.py; arrays that it returns:
                                    frontends/numpy/paths/loops/returned.py, `_own_results` of deallocate/ownership.py;
                                    tests/language/test_recursion_of_arrays.py; lists and objects that it changes:
                                    frontends/numpy/interpreter/lists/threaded.py;
                                    tests/language/test_recursion_of_lists.py
    Python's `random`               frontends/numpy/functions/formulas/twister.py; tests/language/test_pythons_random.py
    medians of short rows           lower/networks.py (which elements are compared), backend/llvm/host_calls.py;
                                    tests/native/test_medians.py; other quantiles: tests/native/test_quantiles.py
    indices compared by blocks      backend/llvm/loops.py (`_checked_first`); tests/native/test_checked_indices.py
    x ** 2 of a float               backend/llvm/texts/squares.py; tests/native/test_squares.py
    masks by words, counts by 64    backend/llvm/scatters.py (`_by_words`), loops.py (`_number_of`);
                                    tests/functions/test_masks.py (`test_runs_of_a_mask`)
    what decides "in place"         analysis/one_shot/one_shot.py, with one function a rule in rules.py;
                                    analysis/cost/choose.py has several orders tried (several_orders.py), or the
                                    cheapest decisions searched for (optimal.py, to a limit) and proved
                                    (certificate.py)
    `c += a @ b` in place           optimize/tensors/accumulate_products.py makes it one op, also of `c[:] = a @ b + c`
                                    (`stores_back`), where its factors are not what it adds to (`is_disjoint`, rule S4);
                                    one_shot puts it in place; tests/passes/test_accumulate.py
    a conflict's reason             analysis/one_shot/rules.py finds it, base.py (`Conflict`) words it, unsaved.py says
                                    why no rule saved it; explain/report.py lists it
    another temporary's reason      optimize/tensors/eliminate_empty_tensors.py (`why_kept`); a result's:
                                    explain/report.py
    an array read only in slices    is not made: optimize/tensors/compute_slices.py; tests/passes/test_compute_slices.py
    `z[m] = z[m] * c[m]`            no array is compressed: optimize/tensors/compute_under_masks.py;
                                    tests/passes/test_compute_under_masks.py
    `a.min(), a.max()`              one sweep: optimize/tensors/merge_reductions.py;
                                    tests/passes/test_merge_reductions.py
    `for k ...: y += h[k] * x[k:]`  block by block: optimize/buffers/sweep_by_blocks.py;
                                    tests/passes/test_sweep_by_blocks.py; of columns in registers: lower/registers.py,
                                    `_in_registers` of backend/llvm/emit.py; tests/native/test_sweeps_in_registers.py
    `x - x.mean(axis=1)`            block of rows by block: optimize/buffers/rows_by_blocks.py; what users are told
                                    is of the program before it: `told` of pipeline.py;
                                    tests/passes/test_rows_by_blocks.py
    what a loop begins with, unread optimize/tensors/place_stand_ins.py; tests/passes/test_stand_ins.py
    a fresh result's buffer         bufferize/rewrite.py (`allocate`) for a `tensor.empty`; stack, arena or array:
                                    optimize/buffers/assign_storage.py (`to_stack`, `fits_stack`);
                                    tests/passes/test_storage.py; whose memory: backend/runtime/arena.py
    the plan of the arena           optimize/buffers/assign_storage.py makes it; who is alive with whom: lifetimes.py;
                                    offsets: pack.py; its data: ops/memory/arena.py; offsets for a user:
                                    `lower(...).as_text("memref")`; totals: `lower(...).memory()` (explain/memory.py)
    a copy's story, and its edit    stories/story.py; which edits are proposed: candidates.py, loops.py; tried:
                                    trials.py; what makes two programs the same: meaning.py, parts.py;
                                    tests/tools/test_stories.py
    the page that a refusal names   process/error_pages.py, by the text of its reason;
                                    tests/language/test_golden_errors.py
    what `measure` counts by line   measuring/recorder.py, lines.py; of bufferized functions that a plain one calls:
                                    within.py; with Python's objects: whole.py, tally.py;
                                    tests/tools/test_measure_lines.py, tests/tools/test_line_peaks.py
    which axes may be cut, halos    `f.cut`: dask/flow.py, by op: rules.py; said by cut.py; tests/dask/test_cut.py,
                                    tests/dask/test_halos.py, tests/dask/test_rows.py, tests/dask/test_loops.py
    a call on dask arrays           dask/calls.py; its tasks: graph.py, tasks.py, worker.py; files by their names:
                                    files.py; tests/dask/test_distribute.py
    a program made fit for chunks   dask/rewrites: what loops carry: carried.py; what reductions begin with: starts.py;
                                    argmax along an axis that is cut: extremes.py; what is read at one place: picks.py;
                                    stores far from the ends: stores.py, by a mask: masks.py; loops written out:
                                    unroll.py; which of these a program needs: apart.py;
                                    tests/dask/test_carried.py, tests/dask/test_places.py, tests/dask/test_picks.py,
                                    tests/dask/test_stores.py
    the HTML report                 pictures/gather.py (its data), page.py, report.js; tests/tools/test_report.py
    a contract that is broken       explain/contracts.py, asked by `_specialize` of api.py; tests/call/test_contracts.py
    a buffer whose size comes late  it floats: optimize/buffers/assign_storage.py (`_placed`); at run time
                                    backend/llvm/memory.py (`_in_gap`); tests/passes/test_storage.py
    what a called function gives    taken over: optimize/buffers/take_results.py; by native code backend/llvm/hosted.py,
                                    by Python `give` of backend/runtime/references.py; tests/native/test_direct_calls.py
    one that a loop carries so      it roams: optimize/buffers/assign_storage.py (`_roaming`), backend/llvm/roaming.py
    the pass that frees             deallocate/ownership.py; handover.py: what an `if` or a loop takes over; lower.py:
                                    what `bufferization.dealloc` becomes (deallocate/general/ has both for MLIR text);
                                    optimize/buffers/shorten_liveness.py moves frees up;
                                    tests/passes/test_deallocate.py (once, on every path); early enough:
                                    tests/passes/test_peak.py
    what MLIR text may not say      frontends/mlir/rules.py; of shapes and places memory_rules.py, of numbers' types
                                    number_rules.py, of loops, branches and names structure_rules.py;
                                    tests/mlir/test_wrong_parts.py
    a pass of `opt` by MLIR's name  passes.py lists them; on tensors and functions: optimize/mlir/,
                                    optimize/tensors/; on buffers: optimize/memrefs/ and deallocate/general/, for
                                    which analysis/flow/ knows how control and buffers flow through blocks and regions;
                                    tests/mlir/test_documents.py, tests/mlir/test_memrefs.py
    an op's native form             backend/llvm/emit.py chooses; loops: lower/plan.py plans them,
                                    backend/llvm/loops.py writes them (`_rows`: short rows in one block,
                                    `sum_after` of emit.py: sums without a fill before;
                                    tests/native/test_short_rows.py, tests/native/test_long_rows.py); LLVM's passes:
                                    backend/llvm/compiler.py (`_run_passes`, with what is off and why);
                                    tests/native/test_native.py, tests/native/test_jit.py
    what threads share              `parallel=True`: which nests may be split, lower/split.py, which loops have
                                    independent iterations, lower/independent.py; the code that shares them,
                                    `shared_by_threads` of backend/llvm/nests.py and llvm/texts/parallel.py; Numba's
                                    threads, backend/runtime/threads.py; docs/threads.md; tests/native/test_threads.py
    a program as Python             backend/numba/: module.py puts it together, function.py walks the ops, nests.py has
                                    the loops, pieces.py makes functions of them for Numba; style/ makes the lines
                                    those of a person (tidy.py; patterns, peepholes.py), deletes arrays and lays out;
                                    a rung of testing/ladder.py; as a file: commands/export.py, its arguments:
                                    commands/given.py; docs/numba.md; tests/numba/
    calls by Numba's code           njit/: extension.py is what Numba finds, sites.py has the programs of a place that
                                    calls; backend/llvm/entries/jit_entries.py their code; tests/numba/test_called.py
    calls of Numba's functions      frontends/numpy/functions/host/jitted.py traces them, running/jitted.py makes the
                                    machine code that calls them; `_call_native` of backend/llvm/host_calls.py;
                                    tests/numba/test_jitted.py, tests/numba/test_vectorized.py
    machine code in memory          backend/llvm/jit.py: compiled or from the cache (cache.py), then laid into
                                    memory by backend/objects/elf.py, LLVM's linker where that refuses;
                                    tests/native/test_objects.py
    an error of compiled code       a check ends it: ops/control/checks.py, made into an exception by `make_error` of
                                    running/raised.py (backend/runtime/kernel.py, `_error`), with its line by errors.py
                                    (`note_location`); from the second on machine code makes it
                                    (backend/runtime/failures.py); one that tracing meets is the original function's;
                                    tests/call/test_native_calls.py (`test_errors_have_their_line`)
    compiled before it is called    specs.py (`spec`: examples in the place of arguments), persist/compiled.py
                                    (`Compiled`, `load`), persist/saved.py (its file), persist/precompile.py (the
                                    command); tests/tools/test_ahead.py
    a program out of the cache      persist/programs.py; what it loads: backend/runtime/kernel.py and what is below, no
                                    ops (running/, backend/layout); what makes one: backend/runtime/compiled.py;
                                    tests/tools/test_persist.py, tests/test_house.py (`COMPILES`)
    a kept program, and when stale  persist/programs.py (`find`, `keep`), called through stages.py (`kept`, `keep`);
                                    stale: other code, options or versions make another key (`_key`, `environment`),
                                    whatever else tracing looked at is compared by `restored`; as data:
                                    frontends/numpy/call/provenance.py; tests/tools/test_persist.py
    what programs share             backend/llvm/nests.py: which loops are functions of their own; shared.py names
                                    them, backend/runtime/pool.py keeps them for `Kernel`; tests/native/test_shared.py
    InternalError, a bug of ours    made from what a handler lets out (a KeyError, say), with the user's line and "a bug
                                    of tracebuf: KeyError in ..., of the handler ...": `internal_error` of
                                    frontends/numpy/record/raises.py, called where handlers are; from a program that is
                                    not well formed: ir/verifier.py; from the back end: `honest` of stages.py;
                                    elsewhere where the message is raised;
                                    tests/language/test_honest_errors.py
    an exception that NumPy raises  the handler's `r.fail` or `Raises` (an index: frontends/numpy/arrays/indexing.py,
                                    `index_parts`, `normalise`); NumPy is asked first: record/judged.py;
                                    tests/language/test_errors.py (`RAISED`)
    quick code, then fast code      backend/runtime/tiers.py (`MachineCode`: `_improve` makes it), nests by pointer in
                                    backend/llvm/shared.py (the same bits: `leaves_choice`); the program's own switch:
                                    backend/runtime/kernel.py (`_await_code`); `Options.tier`;
                                    tests/native/test_tiers.py
    a copy that one branch needs    optimize/buffers/copy_on_paths.py; tests/passes/test_storage.py
    Ctrl-C in a compiled loop       backend/llvm/polls.py writes the polls, backend/runtime/entry.py has `poll`;
                                    rule C3; tests/native/test_interrupts.py
    a call, in Python               api.py: `__call__`, `_complete` (its arguments, captured ones too: `_call`),
                                    `_fitting`, `_find` (by key and guards); else a kept program (stages.py, `kept`);
                                    else `_compile`: stages.py (`trace`, `bufferized`, `compile`), which call
                                    frontends/numpy/interpreter/trace.py, pipeline.py and backend/runtime/compiled.py;
                                    then `_run`. Or the original runs, or the call is refused
    a call without Python           native_calls.py says for which programs (`plan_of`; which calls Python takes:
                                    docs/calling.md) and what it checks; backend/llvm/entries/ is its machine code
                                    (dispatch.py, checks.py, results.py; keywords and defaults: `_bind` of dispatch.py),
                                    on data that backend/runtime/entries.py lays out; backend/runtime/callable.py its
                                    class; tests/call/test_native_calls.py
    a call with `fallback="numpy"`  api.py: `_Refusal` is found again by the call's key, without a trace; a call that is
                                    refused often has the original called by machine code (`_make_original_native`);
                                    tests/call/test_fallback.py; libraries' functions: `_fallback`
    a function's text               frontends/numpy/source/source.py finds it, and sees whether it is the code's;
                                    tests/language/test_source.py
    the tier that a test runs       tests/conftest.py chooses it; the tiers: backend/runtime/tiers.py
    log messages                    process/log.py
    `tracebuf.release()`            api.py, of the functions and programs alive (`Living` of process/garbage.py);
                                    tests/call/test_memory.py
    what Python runs as fast        frontends/numpy/source/moves.py says which functions; `_loses` of api.py;
                                    backend/llvm/entries/dispatch.py calls it (`_forward`); tests/call/test_moves.py
    a product by BLAS               backend/llvm/blas_calls.py calls it, backend/runtime/blas.py finds it; of a matrix
                                    that is made for it, a few rows at a time: lower/rows.py, `_by_rows` of
                                    backend/llvm/emit.py; tests/native/test_products_by_rows.py
    what a decision costs           analysis/cost/cost.py; other decisions: choose.py, optimal.py
    the text of a refusal           grep its words in frontends/numpy: they stand where it is refused (`r.refuse`): a
                                    callee in interpreter/expressions.py (`call`), a generator in interpreter.py beside
                                    it (`call_function`), statements in frontends/numpy/record/refusals.py, with what to
                                    write instead; its page in tests/language/golden_errors is written by
                                    `python -m tests.language.test_golden_errors --write`
    rule S8, behaviour 29a          docs/semantics.md, docs/mlir-behaviours.md, with the tests that hold it by name
    what may import what            tests/test_house.py (`ROOMS`; `test_imports_run_one_way`)
"""

from __future__ import annotations

from collections.abc import Callable

from tracebuf.analysis.cost import choose
from tracebuf.analysis.one_shot.chosen import analysis_of
from tracebuf.analysis.one_shot.copy_before_write import copy_before_write
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.bufferize.callees import bufferize_callee
from tracebuf.bufferize.rewrite import bufferize
from tracebuf.deallocate.lower import lower_deallocs
from tracebuf.deallocate.ownership import insert_deallocs
from tracebuf.deallocate.simplify import simplify_deallocs
from tracebuf.ir.clone import clone_func
from tracebuf.ir.func import Func
from tracebuf.ir.verifier import Level, Verified
from tracebuf.optimize.buffers.assign_storage import assign_called_storage, assign_storage
from tracebuf.optimize.buffers.copy_on_paths import copy_on_paths
from tracebuf.optimize.buffers.fold_memref import fold_memref
from tracebuf.optimize.buffers.keep_layouts import keep_layouts
from tracebuf.optimize.buffers.order_copies import order_copies
from tracebuf.optimize.buffers.rows_by_blocks import rows_by_blocks
from tracebuf.optimize.buffers.shorten_liveness import shorten_liveness
from tracebuf.optimize.buffers.sweep_by_blocks import sweep_by_blocks
from tracebuf.optimize.buffers.take_results import take_results
from tracebuf.optimize.buffers.write_directly import write_directly
from tracebuf.optimize.tensors.accumulate_products import accumulate_products
from tracebuf.optimize.tensors.canonicalize import canonicalize
from tracebuf.optimize.tensors.compute_slices import compute_slices
from tracebuf.optimize.tensors.compute_under_masks import compute_under_masks
from tracebuf.optimize.tensors.cse import cse
from tracebuf.optimize.tensors.eliminate_empty_tensors import eliminate_empty_tensors
from tracebuf.optimize.tensors.fuse import fuse
from tracebuf.optimize.tensors.merge_reductions import merge_reductions
from tracebuf.optimize.tensors.move_reads_early import move_reads_early
from tracebuf.optimize.tensors.place_stand_ins import place_stand_ins
from tracebuf.optimize.tensors.read_through_reshapes import read_through_reshapes
from tracebuf.optimize.tensors.reuse_donated_arguments import check_donations, reuse_donated_arguments
from tracebuf.optimize.tensors.reuse_dying_inputs import reuse_dying_inputs
from tracebuf.options import Improvement, Options
from tracebuf.process.late import importing

Pass = Callable[[Func], None]
Observer = Callable[[str, Func], None]

TENSOR_PASSES: tuple[tuple[str, Pass], ...] = (
    ("canonicalize", canonicalize),
    ("cse", cse),
    ("accumulate-products", accumulate_products),
    ("compute-slices", compute_slices),
    ("compute-under-masks", compute_under_masks),
    ("fuse", fuse),
    ("canonicalize-fused", canonicalize),
    ("merge-reductions", merge_reductions),
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
    ("take-results", take_results),
    ("sweep-by-blocks", sweep_by_blocks),
    ("rows-by-blocks", rows_by_blocks),
    ("assign-storage", assign_storage),
)

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
        with importing():
            from tracebuf.analysis.cost.optimal import optimal

        return optimal(func, options.improved)
    return choose.analyze(
        func,
        heuristic=options.heuristic,
        seed=options.seed,
        compat=options.compat,
        improvements=options.improved,
    )


def optimize_tensors(func: Func, options: Options, observe: Observer | None = None) -> None:
    """The tensor passes, in place; `observe` sees the function, with those that it calls."""
    for callee in func.callees:
        run_passes(TENSOR_PASSES, callee, "tensor", options, None)
    run_passes(TENSOR_PASSES, func, "tensor", options, observe)


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
    program.callees = tuple(_callee_to_memref(f, options) for f in func.callees)
    for one in (program, *program.callees) if options.parallel else ():
        one.attrs["parallel"] = True
    if (certificate := getattr(analysis, "certificate", None)) is not None:
        program.attrs["certificate"] = certificate
    if observe is not None:
        observe("bufferize", program)
    run_passes(MEMREF_PASSES, program, "memref", options, observe)
    return program


def told(func: Func) -> Func:
    """The memref program that explanations, stories and formulas tell of: as it was before it got loops over blocks of
    rows, which no line of the user's asks for. Beside them it computes the same, and takes no less memory."""
    before: Func | None = func.attrs.get("before_blocks")
    if before is None:
        return func
    if "arena" not in before.attrs:
        made, _ = clone_func(before)  # several threads may be here
        assign_storage(made)
        func.attrs["before_blocks"] = before = made
    return before


def _callee_to_memref(func: Func, options: Options) -> Func:
    """The memref program of a function that another one calls, which has no arena."""
    program = bufferize_callee(func, analyze(func, options))
    passes = MEMREF_PASSES[:-3]  # its arguments may be parts of one array
    run_passes((*passes, ("assign-called-storage", assign_called_storage)), program, "memref", options, None)
    return program


def run_passes(
    passes: tuple[tuple[str, Pass], ...],
    func: Func,
    level: Level,
    options: Options,
    observe: Observer | None,
) -> None:
    """Runs passes on a function, in place, without those that the options switch off. With `verify` the function is
    looked at before the first and after each."""
    verified = Verified(level)
    if options.verify:
        verified.again(func)
    for name, step in passes:
        if name in SWITCHES and SWITCHES[name] not in options.improved:
            continue
        if name == "rows-by-blocks" and not (options.tile and options.backend == "llvm"):
            continue
        step(func)
        if options.verify:
            verified.again(func)
        if observe is not None:
            observe(name, func)
