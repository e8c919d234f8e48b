"""Programs of every family, one per idiom: on each rung of the ladder, under both strategies, at two sizes that one
compilation serves (rules C1, S2); what each takes of memory is what its formulas say."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any

import numpy as np
import pytest

from tests.programs import PROGRAMS, Program
from tests.support.agreement import agree
from tests.support.formulas import hold_formulas
from tests.support.params import slow_but
from tracebuf import bufferize
from tracebuf.options import Options
from tracebuf.testing.ladder import climb

STRATEGIES = (Options(verify=True), Options(strategy="copy-before-write"))
FAMILIES = {PROGRAMS[name].function.__module__: name for name in reversed(PROGRAMS)}
"""One program of each."""

@pytest.mark.parametrize("name", slow_but(list(FAMILIES.values())[1::20], PROGRAMS))
def test_program(name: str) -> None:
    entry = PROGRAMS[name]
    first, *others = arguments_of(entry)
    if any(isinstance(x, (dict, list)) or is_dataclass(x) for x in first):  # the ladder knows of numbers and arrays
        f = bufferize(verify=True)(entry.function)
        for values in (first, *others):
            agree(f, *values, ulp=100)
    else:
        f = climb(entry.function, first, again=others, strategies=STRATEGIES, tolerance=1e-9)
    assert len(f.specializations()) == entry.compiled, entry.why or f.specializations()
    with np.errstate(all="ignore"):
        for values in arguments_of(entry):
            use = hold_formulas(f, values)
            assert use is None or not any(formula.unknown for formula in vars(use).values()), use


def arguments_of(entry: Program) -> list[tuple[Any, ...]]:
    return [entry.arguments(np.random.default_rng(n), n) for n in entry.sizes]
