"""Conflicts as MLIR's `print-conflicts` shows them: names of unit attributes on the ops that take part.

For the n-th read after write `C_n[READ: k]` stands on the op that reads (k: the operand), `C_n[CONFL-WRITE: k]` on the
one that writes and `C_n[DEF: result k]` on the one that defines (`C_n[DEF: bbArg k]` on the op around the block); for
the n-th read-only buffer `W_n[NOT-WRITABLE: ...]` where it comes from. The numbers go on through all functions, in the
order of decisions. Where an operand has several conflicts, MLIR shows the one that it meets first, by addresses in
memory; here that is always the same one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from tracebuf.analysis.one_shot.base import Conflict
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.ir.core import Op, Value
from tracebuf.ir.func import Func

Place = Op | Func


def conflict_tags(analyses: Iterable[Analysis]) -> dict[Place, list[str]]:
    """The attributes' names for each op, and for functions whose arguments take part. Test:
    test_the_tags_are_mlirs."""
    found: dict[Place, list[str]] = {}
    numbers = Counter[str]()
    for analysis in analyses:
        for use in analysis.out_of_place():
            conflict = analysis.conflict(use)
            if conflict is None or (conflict.read is None and conflict.read_only is None):
                continue
            all_read_only = (replace(conflict, read_only=value) for value in analysis.read_only_met(use))
            for shown in [conflict] if conflict.read_only is None else all_read_only:
                letter = "W" if shown.read is None else "C"
                for place, text in tagged(analysis.flow.func, shown):
                    found.setdefault(place, []).append(f"{letter}_{numbers[letter]}[{text}]")
                numbers[letter] += 1
    return found


def tagged(func: Func, conflict: Conflict) -> list[tuple[Place, str]]:
    """What takes part in a conflict, each with the words of its tag."""
    if conflict.read is None:
        return [] if conflict.read_only is None else [_value(func, conflict.read_only, "NOT-WRITABLE")]
    assert conflict.definition is not None
    return [
        (conflict.read.op, f"READ: {conflict.read.index}"),
        (conflict.write.op, f"CONFL-WRITE: {conflict.write.index}"),
        _value(func, conflict.definition, "DEF"),
    ]


def _value(func: Func, value: Value, what: str) -> tuple[Place, str]:
    if isinstance(value.owner, Op):
        return value.owner, f"{what}: result {value.index}"
    return value.owner.parent_op or func, f"{what}: bbArg {value.index}"
