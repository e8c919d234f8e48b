"""Passes over modules by MLIR's names, with MLIR's options: what `python -m tracebuf opt` runs.

Each pass takes a module, its options as text and whether to decide as MLIR does, and returns the module that it made. A
pass over functions runs on every function that has a body.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import Field, fields, replace
from typing import Any, Literal, get_args

from tracebuf import module_pipeline
from tracebuf.analysis.modules.annotate import annotate, forget_annotations
from tracebuf.analysis.modules.module import analyze_module
from tracebuf.bufferize.free_in_block import free_in_block
from tracebuf.bufferize.module import bufferize_module
from tracebuf.deallocate.general.canonical import canonicalize_deallocs
from tracebuf.deallocate.general.lower_deallocations import lower_deallocations
from tracebuf.deallocate.general.older import buffer_deallocation
from tracebuf.deallocate.general.ownership import ownership_based_buffer_deallocation
from tracebuf.deallocate.general.simplification import buffer_deallocation_simplification
from tracebuf.errors import TracebufError
from tracebuf.frozen import frozen
from tracebuf.ir.attributes import inherent
from tracebuf.ir.func import Func, Module
from tracebuf.ops.arrays.bufferization import MaterializeInDestination
from tracebuf.ops.memory.memref import Alloc
from tracebuf.optimize.memrefs import buffer_results_to_out_params as out_params
from tracebuf.optimize.memrefs import canonical
from tracebuf.optimize.memrefs.buffer_hoisting import buffer_hoisting
from tracebuf.optimize.memrefs.buffer_loop_hoisting import buffer_loop_hoisting
from tracebuf.optimize.memrefs.convert_bufferization_to_memref import convert_bufferization_to_memref
from tracebuf.optimize.memrefs.copy_removal import copy_removal
from tracebuf.optimize.memrefs.expand_realloc import expand_realloc
from tracebuf.optimize.memrefs.finalizing_bufferize import finalizing_bufferize
from tracebuf.optimize.memrefs.optimize_allocation_liveness import optimize_allocation_liveness
from tracebuf.optimize.memrefs.promote_buffers_to_stack import promote_buffers_to_stack
from tracebuf.optimize.mlir.alloc_tensor_to_empty import empty_to_alloc_tensor
from tracebuf.optimize.mlir.drop_equivalent_results import drop_equivalent_buffer_results
from tracebuf.optimize.mlir.eliminate_empty_tensors import eliminate_empty_tensors_as_mlir
from tracebuf.optimize.mlir.simplify_blocks import simplify_blocks
from tracebuf.optimize.tensors.canonicalize import canonicalize
from tracebuf.optimize.tensors.cse import cse, merged_by_mlir
from tracebuf.optimize.tensors.eliminate_empty_tensors import eliminate_empty_tensors
from tracebuf.optimize.tensors.fold_as_mlir import fold_as_mlir, remove_all_dead
from tracebuf.options import IMPROVEMENTS, Heuristic, Layout, OneShotOptions

Compat = Literal["mlir", "tracebuf"]


class UsageError(TracebufError):
    """A command line that makes no sense."""


@frozen(slots=False)
class Pass:
    """`run(module, options, compat)`; `check(options, compat)` raises UsageError where the options make no sense."""

    help: str
    run: Callable[[Module, str, Compat], Module]
    options: tuple[tuple[str, str], ...] = ()
    parse: Callable[[str, Compat], object] | None = None

    def check(self, text: str, compat: Compat) -> None:
        if self.parse is not None:
            self.parse(text, compat)
        elif found := options_of(text):
            raise UsageError(f"no such option: {next(iter(found))} (this pass has none)")


def functions(module: Module) -> list[Func]:
    """The functions with a body, those of nested modules too."""
    found = []
    for item in module.items:
        if isinstance(item, Module):
            found += functions(item)
        elif isinstance(item, Func) and not item.external:
            found.append(item)
    return found


def on_functions(step: Callable[[Func], None]) -> Callable[[Module, str, Compat], Module]:
    """A pass that changes each function in place."""

    def run(module: Module, options: str, compat: Compat) -> Module:
        for func in functions(module):
            step(func)
        return module

    return run


def on_module(step: Callable[[Module], None]) -> Callable[[Module, str, Compat], Module]:
    """A pass that changes the module in place."""

    def run(module: Module, options: str, compat: Compat) -> Module:
        step(module)
        return module

    return run


# -- options


def options_of(text: str) -> dict[str, str]:
    """`a b=1 c=x,y` as a dictionary; an option without a value is "true"."""
    found = {}
    for word in re.findall(r'[^\s="]+(?:=(?:"[^"]*"|\{[^}]*\}|\S*))?', text):
        name, _, value = word.partition("=")
        found[name] = value.strip('"{}') or "true"
    return found


_NOT_OURS = ("must-infer-memory-space", "use-encoding-for-memory-space")
_LAYOUTS = ", ".join(get_args(Layout))
_HEURISTICS = (*get_args(Heuristic), "optimal")
_KNOWN: dict[str, Field[Any]] = {f.name.replace("_", "-"): f for f in fields(OneShotOptions) if f.name != "compat"}

_CONVERSIONS = "identity-layout-map or fully-dynamic-layout-map"
ONE_SHOT_HELP = {
    "analysis-heuristic": f"the order of decisions: {', '.join(_HEURISTICS)}",
    "analysis-fuzzer-seed": "the seed of the order `fuzzer`",
    "bufferize-function-boundaries": "arguments, results and calls too",
    "allow-return-allocs-from-loops": "loops may pass on new buffers",
    "allow-unknown-ops": "ops that nobody knows stay as they are, on tensors",
    "dialect-filter": "only ops of these dialects (or of these names)",
    "create-deallocs": "free what does not leave its block, as One-Shot once did (off)",
    "copy-before-write": "no analysis: a copy before every write",
    "no-analysis-func-filter": "the same in these functions",
    "unknown-type-conversion": f"buffers of tensors from unknown ops: {_CONVERSIONS}",
    "function-boundary-type-conversion": f"buffers of arguments and results: infer-layout-map, {_CONVERSIONS}",
    "check-parallel-regions": "iterations that run at once do not share what they write (on)",
    "test-analysis-only": "decisions as attributes, nothing else",
    "dump-alias-sets": "with test-analysis-only: the values that share a buffer with each result and block argument",
    "print-conflicts": "with test-analysis-only: what stood against operands that are out of place",
    "buffer-alignment": "of allocations, in bytes (64)",
    "improvements": "with --compat=tracebuf: those that are made, by name, or none (all)",
}


def one_shot_options(text: str, compat: Compat) -> OneShotOptions:
    """MLIR's options of -one-shot-bufferize; UsageError for one that is unknown or not supported."""
    options = OneShotOptions(compat="mlir" if compat == "mlir" else None)
    for name, value in options_of(text).items():
        if name in _NOT_OURS:
            if value != "false":
                raise UsageError(f"-one-shot-bufferize: the option {name} is not supported")
        elif name not in _KNOWN:
            raise UsageError(f"-one-shot-bufferize: no such option: {name}; there are {', '.join(_KNOWN)}")
        else:
            field = _KNOWN[name].name
            options = replace(options, **{field: typed(name, value, getattr(options, field))})
    for name, wrong in (
        ("'print-conflicts' requires 'test-analysis-only'", options.print_conflicts and not options.test_analysis_only),
        ("'dump-alias-sets' requires 'test-analysis-only'", options.dump_alias_sets and not options.test_analysis_only),
        ("'copy-before-write' cannot be used with 'test-analysis-only'",
         options.copy_before_write and options.test_analysis_only),
        ("'infer-layout-map' is not a valid value for 'unknown-type-conversion'",
         options.unknown_type_conversion == "infer-layout-map"),
        ("'analysis-heuristic=optimal' requires --compat=tracebuf",
         options.analysis_heuristic == "optimal" and options.compat is not None),
    ):  # fmt: skip
        if wrong:
            raise UsageError(f"Invalid option: {name}")
    return options


def typed(name: str, value: str, like: Any) -> Any:
    """The value of an option, as its default is."""
    if isinstance(like, bool):
        if value not in ("true", "false", "1", "0"):
            raise UsageError(f"{name} is true or false, not {value!r}")
        return value in ("true", "1")
    if isinstance(like, int):
        if not re.fullmatch(r"-?\d+", value):
            raise UsageError(f"{name} is a number, not {value!r}")
        return int(value)
    if isinstance(like, frozenset):
        names = frozenset(v for v in value.split(",") if v and v != "none")
        if unknown := names - IMPROVEMENTS:
            raise UsageError(f"improvements are {', '.join(sorted(IMPROVEMENTS))}, not {', '.join(sorted(unknown))}")
        return names
    if isinstance(like, tuple):
        return tuple(v for v in value.split(",") if v)
    if name == "analysis-heuristic" and value not in _HEURISTICS:
        raise UsageError(f"{name} is one of {', '.join(_HEURISTICS)}, not {value!r}")
    if like in get_args(Layout) and value not in get_args(Layout):
        raise UsageError(f"{name} is one of {_LAYOUTS}, not {value!r}")
    return value


# -- the passes


def one_shot_bufferize(module: Module, text: str, compat: Compat) -> Module:
    options = one_shot_options(text, compat)
    forget_annotations(module)
    if not options.test_analysis_only:
        module = module_pipeline.improved_module(module, options)
        if compat == "mlir" and not options.copy_before_write:  # as MLIR's passes before this one leave it
            module = on_functions(remove_all_dead)(module, text, compat)
    analysis = analyze_module(module, options)
    if options.test_analysis_only:
        annotate(module, analysis, options)
        return module
    found = bufferize_module(module, analysis, options)
    if options.create_deallocs:
        on_functions(free_in_block)(found, text, compat)
    for op in (op for func in functions(found) for op in func.walk()):
        if options.buffer_alignment and isinstance(op, Alloc) and "alignment" not in op.attrs and op.attrs["reason"]:
            op.attrs["alignment"] = inherent(f"{options.buffer_alignment} : i64", options.buffer_alignment)
    return found


PARTIAL: dict[str, str] = {
    "arith-bufferize": "arith",
    "bufferization-bufferize": "bufferization",
    "func-bufferize": "func,cf",
    "linalg-bufferize": "linalg",
    "scf-bufferize": "scf",
    "std-bufferize": "arith.select,tensor.generate",
    "tensor-bufferize": "tensor",
    "tensor-constant-bufferize": "arith.constant",
    "vector-bufferize": "vector",
}
"""MLIR's old passes: partial-bufferize on these dialects and ops."""


def partial_bufferize(dialects: str) -> Callable[[Module, str, Compat], Module]:
    """One-Shot's rewrite of some dialects' ops without an analysis, as MLIR's old passes came to be written: between
    them and others stand to_tensor and to_buffer. With `func`, functions take and return buffers."""

    def run(module: Module, text: str, compat: Compat) -> Module:
        chosen = dialects or named_dialects(text)
        words = "copy-before-write allow-unknown-ops unknown-type-conversion=identity-layout-map"
        if "func" in chosen.split(","):
            words += " bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map"
        module = on_functions(remove_all_dead)(module, text, compat)  # what the pass before has left
        return one_shot_bufferize(module, f"{words} dialect-filter={chosen}", compat)

    return run


def named_dialects(text: str, compat: Compat = "mlir") -> str:
    """The option of -partial-bufferize."""
    found = options_of(text)
    if list(found) != ["dialects"]:
        raise UsageError("-partial-bufferize takes one option: dialects=a,b")
    return found["dialects"]


def eliminate_empty(module: Module, text: str, compat: Compat) -> Module:
    if compat == "mlir":
        eliminate_empty_tensors_as_mlir(module)
        return module
    return on_functions(eliminate_empty_tensors)(module, text, compat)


def empty_to_alloc(module: Module, text: str, compat: Compat) -> Module:
    if compat == "mlir":
        for func in functions(module):
            fold_as_mlir(func)
    module = on_functions(empty_to_alloc_tensor)(module, text, compat)
    return on_functions(remove_all_dead)(module, text, compat) if compat == "mlir" else module


def merge_equal(module: Module, text: str, compat: Compat) -> Module:
    for func in functions(module):
        cse(func, merged_by_mlir if compat == "mlir" else None)
    return module


def fold(module: Module, text: str, compat: Compat) -> Module:
    for func in functions(module):
        canonicalize(func)
        patterns = [canonicalize_deallocs, simplify_blocks, *canonical.PATTERNS]
        patterns += [drop_unused_materializations] * (compat == "mlir")
        while sum(pattern(func) for pattern in patterns):
            canonicalize(func)
    return module


def drop_unused_materializations(func: Func) -> bool:
    """Drops each materialize_in_destination on tensors whose result is unused: to MLIR it is an op on values, without
    effects. (Not so in traced functions, where it says what the caller's array holds in the end.)"""
    unused = [op for op in func.walk() if isinstance(op, MaterializeInDestination) and op.results]
    unused = [op for op in unused if not op.result.uses]
    for op in unused:
        op.erase()
    return bool(unused)


Words = tuple[tuple[str, str, bool | int], ...]
"""The options of a pass: name, what it means, default."""

STACK: Words = (
    ("max-alloc-size-in-bytes", "the most bytes (1024)", 1024),
    ("max-rank-of-allocated-memref", "the highest rank where the sizes are ranks (1)", 1),
)
OUT_PARAMS: Words = (
    ("add-result-attr", "mark the new arguments by `bufferize.result`", False),
    ("hoist-dynamic-allocs", "allocations move to the calls, if their sizes are arguments", False),
    ("hoist-static-allocs", "the same where all sizes are constant", False),
    ("modify-public-functions", "those too that others call", False),
)


REALLOC: Words = (("emit-deallocs", "free the old buffer (on)", True),)
OWNERSHIP: Words = (
    ("private-function-dynamic-ownership", "private functions return who owns their results, and clone nothing", False),
)


def values_of(words: Words) -> Callable[[str, Compat], dict[str, Any]]:
    """Reads the options of a pass, each by its default's type, with names as Python has them."""

    def parse(text: str, compat: Compat) -> dict[str, Any]:
        found: dict[str, Any] = {name.replace("-", "_"): default for name, _, default in words}
        for name, value in options_of(text).items():
            key = name.replace("-", "_")
            if key not in found or "_" in name:
                raise UsageError(f"no such option: {name}; there are {', '.join(word for word, _, _ in words)}")
            found[key] = typed(name, value, found[key])
        return found

    return parse


def with_options(words: Words, help: str, step: Callable[[Module, dict[str, Any]], None]) -> Pass:
    """A pass over a module with options."""
    parse = values_of(words)

    def run(module: Module, text: str, compat: Compat) -> Module:
        step(module, parse(text, compat))
        return module

    return Pass(help, run, tuple((name, what) for name, what, _ in words), parse)


def deallocate(module: Module, options: dict[str, Any]) -> None:
    ownership_based_buffer_deallocation(module, options["private_function_dynamic_ownership"])


def deallocation_pipeline(module: Module, text: str, compat: Compat) -> Module:
    """MLIR's pipeline, pass by pass."""
    dynamic = values_of(OWNERSHIP)(text, compat)["private_function_dynamic_ownership"]
    words = f"private-function-dynamic-ownership={'true' if dynamic else 'false'}"
    for name, options in (
        ("expand-realloc", "emit-deallocs=false"),
        ("canonicalize", ""),
        ("ownership-based-buffer-deallocation", words),
        ("canonicalize", ""),
        ("buffer-deallocation-simplification", ""),
        ("bufferization-lower-deallocations", ""),
        ("cse", ""),
        ("canonicalize", ""),
    ):
        module = PASSES[name].run(module, options, compat)
    return module


def expand(module: Module, options: dict[str, Any]) -> None:
    for func in functions(module):
        expand_realloc(func, options["emit_deallocs"])


def promote(module: Module, options: dict[str, Any]) -> None:
    for func in functions(module):
        promote_buffers_to_stack(func, options["max_alloc_size_in_bytes"], options["max_rank_of_allocated_memref"])


PASSES: dict[str, Pass] = {
    "one-shot-bufferize": Pass(
        "tensors become buffers",
        one_shot_bufferize,
        tuple((name, ONE_SHOT_HELP[name]) for name in _KNOWN),
        one_shot_options,
    ),
    "partial-bufferize": Pass(
        "ops of some dialects take buffers, by to_tensor and to_buffer",
        partial_bufferize(""),
        (("dialects", "the dialects (or ops), by name"),),
        named_dialects,
    ),
    **{name: Pass(f"partial-bufferize=dialects={what}", partial_bufferize(what)) for name, what in PARTIAL.items()},
    "eliminate-empty-tensors": Pass("what is stored into a part is computed there", eliminate_empty),
    "empty-tensor-to-alloc-tensor": Pass("each tensor.empty has a buffer of its own", empty_to_alloc),
    "drop-equivalent-buffer-results": Pass(
        "private functions do not return their arguments", on_module(drop_equivalent_buffer_results)
    ),
    "buffer-hoisting": Pass("allocations move up, not out of loops", on_functions(buffer_hoisting)),
    "buffer-loop-hoisting": Pass("allocations move out of loops", on_functions(buffer_loop_hoisting)),
    "promote-buffers-to-stack": with_options(STACK, "small buffers that do not escape are on the stack", promote),
    "buffer-results-to-out-params": with_options(
        OUT_PARAMS,
        "functions store their results into buffers of their callers",
        lambda module, found: out_params.buffer_results_to_out_params(module, out_params.Options(**found)),
    ),
    "ownership-based-buffer-deallocation": with_options(OWNERSHIP, "frees, by who owns what at run time", deallocate),
    "buffer-deallocation-simplification": Pass(
        "fewer memrefs in bufferization.dealloc", on_functions(buffer_deallocation_simplification)
    ),
    "bufferization-lower-deallocations": Pass(
        "bufferization.dealloc becomes memref.dealloc", on_functions(lower_deallocations)
    ),
    "convert-bufferization-to-memref": Pass(
        "clones and deallocs become ops on memrefs", on_functions(convert_bufferization_to_memref)
    ),
    "buffer-deallocation": Pass(
        "frees at one static place each, and copies that allow it", on_module(buffer_deallocation)
    ),
    "optimize-allocation-liveness": Pass("frees move up to the last use", on_functions(optimize_allocation_liveness)),
    "buffer-deallocation-pipeline": Pass(
        "deallocation by ownership, with all that goes with it",
        deallocation_pipeline,
        tuple((name, what) for name, what, _ in OWNERSHIP),
        values_of(OWNERSHIP),
    ),
    "expand-realloc": with_options(REALLOC, "memref.realloc becomes an allocation and a copy", expand),
    "copy-removal": Pass("buffers that are only copied are one", on_functions(copy_removal)),
    "finalizing-bufferize": Pass("no tensor is left, or an error names its op", on_functions(finalizing_bufferize)),
    "canonicalize": Pass("folds, and removes what is not used", fold),
    "cse": Pass("merges equal ops", merge_equal),
}


def help_of_passes() -> str:
    """A line for each pass, and one for each of its options."""
    lines = []
    for name, found in PASSES.items():
        lines.append(f"  -{name:<38} {found.help}")
        lines += [f"      {option:<35} {what}" for option, what in found.options]
    return "\n".join(lines) + "\n"
