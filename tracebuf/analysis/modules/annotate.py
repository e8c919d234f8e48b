"""Decisions written into a module as attributes, as MLIR's test-analysis-only does.

`__inplace_operands_attr__` on each op with tensor operands, `bufferization.access` on each tensor argument,
`__equivalent_func_args__` on each func.return that returns an argument's buffer; with print-conflicts the tags of
`tags`.
"""

from __future__ import annotations

from tracebuf.analysis.modules.module import ModuleAnalysis
from tracebuf.analysis.modules.tags import conflict_tags
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.ir.attributes import Attr, string, strings
from tracebuf.ir.func import Func, Module
from tracebuf.options import OneShotOptions

IN_PLACE, EQUIVALENT, ACCESS = "__inplace_operands_attr__", "__equivalent_func_args__", "bufferization.access"


def annotate(module: Module, analysis: ModuleAnalysis, options: OneShotOptions) -> None:
    """Adds the attributes, except where nothing was analysed."""
    for f in module.funcs:
        if f.name in options.no_analysis_func_filter:
            continue
        for k, word in enumerate(analysis.access.get(f.name, ())):
            if word is not None:
                f.arg_attrs[k][ACCESS] = string(word)
        if f.name in analysis.funcs:
            _annotate(f, analysis.funcs[f.name], analysis)
    if options.print_conflicts:
        for place, tags in conflict_tags(analysis.funcs.values()).items():
            place.attrs |= {tag: Attr("unit") for tag in tags}


def _annotate(f: Func, decisions: Analysis, analysis: ModuleAnalysis) -> None:
    for op in f.walk():
        if any(True for _ in op.tensor_uses()):
            op.attrs[IN_PLACE] = strings(
                str(decisions.is_in_place(u)).lower() if u.value.is_tensor else "none" for u in op.uses
            )
        same = analysis.equivalent.get(op)
        if same is not None and any(k >= 0 for k in same):
            op.attrs[EQUIVALENT] = Attr(f"[{', '.join(map(str, same))}]", same)


def forget_annotations(module: Module) -> None:
    """Drops the attributes of an earlier analysis (not `bufferization.access`, which a program may state itself)."""
    for f in module.funcs:
        for op in f.walk():
            op.attrs.pop(IN_PLACE, None)
            op.attrs.pop(EQUIVALENT, None)
