"""A program in stages, along as many of its axes as can be: it is rewritten where that makes an axis fit to be cut, and
what cannot be is left out. What `distribute` runs, and what `f.cut` and `suggest_chunks` say, is found here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from tracebuf.dask.grid import Begins, Needs, needs_of
from tracebuf.dask.program import Program
from tracebuf.dask.rewrites.carried import carried_apart
from tracebuf.dask.rewrites.extremes import reduced_apart
from tracebuf.dask.rewrites.masks import reduced_of_selected, selected_apart
from tracebuf.dask.rewrites.picks import picked_apart
from tracebuf.dask.rewrites.starts import begun_apart
from tracebuf.dask.rewrites.stores import stored_apart
from tracebuf.dask.rewrites.unroll import unrolled
from tracebuf.dask.split import Stage, Uncut, stages_of
from tracebuf.errors import UnsupportedError
from tracebuf.frozen import plain
from tracebuf.ir.dims import Sym


@plain()
class Staged:
    """A program's stages, and along what they are cut."""

    program: Program
    cut: frozenset[Sym]
    stages: list[Stage] = field(default_factory=list)
    needs: list[tuple[Begins, Needs]] = field(default_factory=list)
    """Of each stage, or an iteration of it: where its inputs begin, and what that needs."""
    reasons: dict[Sym, Uncut] = field(default_factory=dict)
    """Why axes are not cut."""


def staged(
    program: Program, env: Mapping[Sym, int], cut: frozenset[Sym], check: Callable[[Staged], None] | None = None,
    few: int | None = None,
) -> Staged:  # fmt: skip
    """The program in stages, cut along as many of these symbols as can be. `check` raises Uncut for others; `few`: how
    many iterations of loops are written out, where it is only asked what can be cut."""
    found = Staged(program, cut)
    while True:
        found.program = carried_apart(found.program, found.cut) or found.program
        try:
            found.stages, found.needs = stages_of(found.program, found.cut), []
            begins: Begins = {}
            for stage in found.stages:
                needs = needs_of(found.program, stage, found.cut, begins, 1 if stage.loop is not None else None)
                found.needs.append((dict(begins), needs))
                begins.update(needs.begins)
            if check is not None:
                check(found)
            return found
        except Uncut as reason:
            if (written := rewritten(found.program, env, found.cut, reason, few)) is not None:
                found.program = written
                continue
            found.reasons.update(dict.fromkeys(reason.syms & found.cut, reason))
            if not reason.syms & found.cut:
                raise UnsupportedError(reason.reason, location=reason.loc) from None
            found.cut -= reason.syms


def rewritten(
    program: Program, env: Mapping[Sym, int], cut: frozenset[Sym], reason: Uncut, few: int | None
) -> Program | None:
    """The program without what is in the way; None where nothing can be done about it."""
    return (
        unrolled(program, env, cut, few)
        or begun_apart(program, cut)
        or reduced_apart(program, cut)
        or selected_apart(program, cut)
        or reduced_of_selected(program, cut)
        or picked_apart(program, env, cut, reason.loc)
        or stored_apart(program, cut, reason.loc if reason.reason else None)
    )
