"""Programs of every family, one per idiom: on each rung of the ladder, under both strategies, at two sizes that one
compilation serves (rules C1, S2)."""

from __future__ import annotations

import numpy as np
import pytest
from programs import PROGRAMS

from tracebuf.options import Options
from tracebuf.testing.ladder import climb

STRATEGIES = (Options(verify=True), Options(strategy="copy-before-write"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    entry = PROGRAMS[name]
    first, *others = (entry.arguments(np.random.default_rng(n), n) for n in entry.sizes)
    f = climb(entry.function, first, again=others, strategies=STRATEGIES, tolerance=1e-9)
    assert len(f.specializations()) == entry.compiled, entry.why or f.specializations()
