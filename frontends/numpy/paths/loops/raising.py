"""What an iteration raises that a `try` around the loop catches: the loop is left by it as by `break`, and carries the
number of what was raised (record/regions)."""

from __future__ import annotations

from dataclasses import replace

from tracebuf.frontends.numpy.numbers.lattice import BREAK, from_values, zero
from tracebuf.frontends.numpy.numbers.scalars import truth
from tracebuf.frontends.numpy.paths.landing import land, raised_names
from tracebuf.frontends.numpy.paths.loops.plan import LoopSpec
from tracebuf.frontends.numpy.record.conditions import both
from tracebuf.frontends.numpy.record.recorder import Recorder
from tracebuf.frontends.numpy.record.regions import RAISED, Site
from tracebuf.frontends.numpy.record.values import Env, Kind, PyBool
from tracebuf.ir.dims import Dim
from tracebuf.ir.types import INDEX

TEST = "<test>"
"""A name that only the tracer binds: whether there is another iteration."""


class Raising:
    """One attempt at a loop that is planned to raise at `planned`; `spec` is the loop whose iterations may be left so,
    and `sites` what they have been seen to raise."""

    def __init__(self, r: Recorder, spec: LoopSpec, planned: frozenset[Site]) -> None:
        self.r, self.original, self.planned = r, spec, planned
        self.sites: frozenset[Site] = frozenset()
        if not r.catching:
            self.spec = spec
            return
        names = raised_names(planned)
        leaves = spec.exits or bool(planned)
        assigned = (*spec.assigned, *sorted(names)) if leaves else spec.assigned
        self.spec = replace(
            spec, run=self.run, test=None if spec.test is None else self.test, exits=leaves, assigned=assigned,
            head=spec.head | names, after=spec.after | names,
        )  # fmt: skip

    def nothing(self) -> Env:
        """What the names of what is raised hold before the loop."""
        if not self.r.catching:
            return {}
        held: Env = {RAISED: 0}
        for site in self.planned:
            for name, type_ in zip(site.operands, site.types):
                kind = Kind("np", type_)
                held[name] = 0 if type_ is INDEX else from_values(self.r, [zero(self.r, type_)], kind, name)
        return held

    def run(self, env: Env, place: Dim | None) -> None:
        """An iteration."""
        env[RAISED] = 0
        live = self.original.head | self.original.after
        self.sites |= land(self.r, env, lambda inner: self.original.run(inner, place), live, BREAK)

    def test(self, env: Env) -> bool | PyBool:
        """Whether there is another iteration, and nothing was raised where that was asked."""
        r, tested = self.r, self.original.test
        assert tested is not None
        env[RAISED] = 0

        def ask(inner: Env) -> None:
            inner[TEST] = tested(inner)

        self.sites |= land(r, env, ask, self.original.head | self.original.after | {TEST}, BREAK)
        further, raised = env.pop(TEST, False), env[RAISED]
        if further is False or isinstance(raised, int):
            return False if raised else further
        nothing = PyBool(r.compare("eq", raised.expr, 0))
        return nothing if further is True else PyBool(both(r, nothing.value, truth(r, further).value))
