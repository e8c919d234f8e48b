"""Decisions written into a module as attributes, as MLIR's test-analysis-only does.

`__inplace_operands_attr__` on each op with tensor operands, `bufferization.access` on each tensor argument,
`__equivalent_func_args__` on each func.return that returns an argument's buffer; with print-conflicts the tags of
`tags`; with dump-alias-sets `__opresult_alias_set_attr__` on each op with tensor results and `__bbarg_alias_set_attr__`
on each op (and function) with tensors among the arguments of its blocks.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracebuf.analysis.modules.module import ModuleAnalysis
from tracebuf.analysis.modules.tags import conflict_tags
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.ir.attributes import Attr, array_of, string, strings
from tracebuf.ir.core import Value
from tracebuf.ir.func import Func, Module
from tracebuf.options import OneShotOptions

RESULT_SETS, ARGUMENT_SETS = "__opresult_alias_set_attr__", "__bbarg_alias_set_attr__"
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
        if options.dump_alias_sets and f.name in analysis.funcs:
            _dump_alias_sets(f, analysis.funcs[f.name])
    if options.print_conflicts:
        for place, tags in conflict_tags(analysis.funcs.values()).items():
            place.attrs |= {tag: Attr("unit") for tag in tags}


def _annotate(f: Func, decisions: Analysis, analysis: ModuleAnalysis) -> None:
    for op in f.walk():
        if op.tensor_uses():
            op.attrs[IN_PLACE] = strings(
                str(decisions.is_in_place(u)).lower() if u.value.is_tensor else "none" for u in op.uses
            )
        same = analysis.equivalent.get(op)
        if same is not None and any(k >= 0 for k in same):
            op.attrs[EQUIVALENT] = Attr(f"[{', '.join(map(str, same))}]", same)


def _dump_alias_sets(f: Func, decisions: Analysis) -> None:
    """The sets, each in MLIR's order: what is joined later stands first, results before the operand."""
    sets: dict[Value, list[Value]] = {v: [v] for v in f.values() if v.is_tensor}
    for use in decisions.in_place():
        for alias in decisions.flow.aliasing_values(use):
            first, second = sets[alias.value], sets[use.value]
            if first is not second:
                first += second
                sets.update(dict.fromkeys(second, first))
    names = _named(f)

    def listed(values: Sequence[Value]) -> list[Attr]:
        return [strings(names[v] for v in sets[value]) for value in values if value.is_tensor]

    for op in f.walk():
        if found := listed(op.results):
            op.attrs[RESULT_SETS] = array_of(found)
        if any(a.is_tensor for r in op.regions for b in r.blocks for a in b.args):
            op.attrs[ARGUMENT_SETS] = array_of(array_of(array_of(listed(b.args)) for b in r.blocks) for r in op.regions)
    if any(a.is_tensor for b in f.body.blocks for a in b.args):
        f.attrs[ARGUMENT_SETS] = array_of([array_of(array_of(listed(b.args)) for b in f.body.blocks)])


def _named(f: Func) -> dict[Value, str]:
    """Gives every value a name of its own, by which it is printed; results of an op that has several are printed by the
    op's number among such."""
    taken: set[str] = set()
    found: dict[Value, str] = {}
    for k, value in enumerate(f.values()):
        name = value.name if value.name[:1].isalpha() and value.name.isidentifier() else f"v{k}"
        while name in taken:
            name += "_"
        taken.add(name)
        value.name = name
        found[value] = f"%{name}"
    for number, op in enumerate(op for op in f.walk() if len(op.results) > 1):
        found.update((r, f"%{number}#{r.index}") for r in op.results)
    return found


def forget_annotations(module: Module) -> None:
    """Drops the attributes of an earlier analysis (not `bufferization.access`, which a program may state itself)."""
    for f in module.funcs:
        for op in f.walk():
            op.attrs.pop(IN_PLACE, None)
            op.attrs.pop(EQUIVALENT, None)
            op.attrs.pop(RESULT_SETS, None)
            op.attrs.pop(ARGUMENT_SETS, None)
