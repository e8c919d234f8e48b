"""What a run suggests: functions ranked by what decorating them saves, those refused with what to write, as text and as
data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from types import CodeType
from typing import Any

from tracebuf.frozen import frozen
from tracebuf.measure import Counts, Measurement, shown_bytes, shown_seconds
from tracebuf.process.display import aligned
from tracebuf.suggest.profiler import Seen
from tracebuf.suggest.trials import Trial

__all__ = ["Finding", "Report", "ranked"]

_GAIN = 1.1
"""From how many times as fast on a function is suggested."""
_LOAD = 0.02
"""Seconds that a first call takes which finds its program in the cache on disk."""
_MOST = 0.9
"""Which part of a function's calls come from suggested ones for it to need no decorator of its own."""
_LITTLE = 0.03
"""Which part of the run a refused function is told of, if its own lines take it."""


@frozen(slots=False)
class Finding:
    """One function, and what trying it found. `kind`: "suggested", "inside" (of suggested ones, `within`), "no gain",
    "refused", "differs" or "untried"."""

    seen: Seen
    trial: Trial
    kind: str
    saved: float
    within: tuple[str, ...] = ()

    @property
    def code(self) -> CodeType:
        return self.seen.code

    @property
    def name(self) -> str:
        return self.code.co_qualname.replace("<locals>.", "")

    @property
    def is_nested(self) -> bool:
        """Whether it has no name that a decorator of its definition could give to others: it is made at run time."""
        return "<" in self.code.co_qualname

    def place(self) -> str:
        return f"{self.name} ({os.path.basename(self.code.co_filename)}:{self.code.co_firstlineno})"

    def to_dict(self, run_seconds: float) -> dict[str, Any]:
        """All of it, for JSON."""
        trial, seen = self.trial, self.seen
        found = {
            "function": self.code.co_qualname,
            "file": self.code.co_filename,
            "line": self.code.co_firstlineno,
            "verdict": self.kind,
            "share": seen.seconds / run_seconds if run_seconds else 0.0,
            "own_share": seen.own / run_seconds if run_seconds else 0.0,
            "seconds": seen.seconds,
            "calls": seen.calls,
            "allocations": seen.allocations,
            "allocated_bytes": seen.allocated_bytes,
            "own_bytes": seen.own_bytes,
            "saved_seconds": self.saved,
            "inside": list(self.within),
        }
        if (measured := trial.measured) is not None:
            found["first_call_seconds"] = trial.first_call
            for side in ("eager", "native"):
                counts = getattr(measured, side)
                fields = ("seconds", "allocations", "allocated_bytes", "peak_bytes")
                found[side] = {field: getattr(counts, field) for field in fields}
        else:
            line = None if trial.location is None else trial.location.line
            file = None if trial.location is None else trial.location.file
            found["why"] = {"reason": trial.reason, "instead": trial.instead, "file": file, "line": line}
        return found


@frozen(slots=False)
class Report:
    """What a run suggests."""

    seconds: float
    status: int
    findings: Sequence[Finding]
    decorated: Sequence[str]
    """The names of functions that are bufferized already."""
    allocations: int = 0
    allocated_bytes: int = 0
    peak_bytes: int = 0
    """Of NumPy's arrays, in the whole run."""

    def of(self, *kinds: str) -> list[Finding]:
        return [f for f in self.findings if f.kind in kinds]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "run_seconds": self.seconds,
            "exit_code": self.status,
            "allocations": self.allocations,
            "allocated_bytes": self.allocated_bytes,
            "peak_bytes": self.peak_bytes,
            "decorated": list(self.decorated),
            "functions": [f.to_dict(self.seconds) for f in self.findings],
        }

    def __str__(self) -> str:
        parts = [self._head(), self._table(), self._inside(), self._refused(), self._others()]
        return "\n\n".join(part for part in parts if part)

    def _head(self) -> str:
        suggested = self.of("suggested")
        ran = f"The program ran for {shown_seconds(self.seconds)}"
        if self.allocations:
            ran += f", and NumPy allocated {self.allocations:,} arrays of {shown_bytes(self.allocated_bytes)}"
            ran += f", {shown_bytes(self.peak_bytes)} at once"
        if suggested:
            left = max(0.0, self.seconds - sum(f.saved for f in suggested))
            first = sum(f.trial.first_call for f in suggested)
            names = ", ".join(f"`{f.name}`" for f in suggested)
            took = f"about {shown_seconds(left)}; compiling them, once, {shown_seconds(first)}"
            return f"{ran}. With @tracebuf.bufferize on {names} it takes {took}:"
        if not self.findings:
            return (
                f"{ran}. Nothing to decorate: no function of yours works with NumPy, but for those decorated already."
            )
        if any(f.trial.measured is not None and _gain(f.trial.measured) >= _GAIN for f in self.of("no gain")):
            return f"{ran}. In so short a run no decorator pays: what compiling takes is more than it saves."
        return f"{ran}. There is no function to decorate as it is."

    def _table(self) -> str:
        what = "allocates", "eager", "native", "gain", "allocations", "peak memory", "first call"
        head = ("", "of the run", "calls", *what)
        rows = [self._row(f, f.trial.measured) for f in self.of("suggested") if f.trial.measured is not None]
        return aligned([head, *rows]) if rows else ""

    def _row(self, found: Finding, m: Measurement) -> tuple[str, ...]:
        return (
            found.place(),
            _share(found.seen.seconds, self.seconds),
            f"{found.seen.calls:,}",
            shown_bytes(found.seen.allocated_bytes),
            shown_seconds(m.eager.seconds),
            shown_seconds(_native(m).seconds),
            f"{_gain(m):.1f}x",
            f"{m.eager.allocations:,} -> {_native(m).allocations:,}",
            f"{shown_bytes(m.eager.peak_bytes)} -> {shown_bytes(_native(m).peak_bytes)}",
            f"+{shown_seconds(found.trial.first_call)}",
        )

    def _inside(self) -> str:
        lines = [f"  {f.place()} by {', '.join(f'`{n}`' for n in f.within)}" for f in self.of("inside")]
        return "\n".join(["Compiled with their callers, no decorator needed:", *lines]) if lines else ""

    def _refused(self) -> str:
        refused = sorted(self.of("refused"), key=lambda f: -f.seen.own)
        told = [f for f in refused if f.seen.own >= _LITTLE * self.seconds]
        rest = [f for f in refused if f not in told]
        parts = []
        if told:
            parts.append("Refused as they are; time in their own lines:")
            parts += [self._refusal(f) for f in told]
        if rest:
            parts.append(f"Refused, and their time is in what they call: {', '.join(f.place() for f in rest)}")
        return "\n".join(parts)

    def _refusal(self, found: Finding) -> str:
        trial, place = found.trial, _refused_at(found)
        lines = [f"  {found.place()}, {_share(found.seen.own, self.seconds)}: {place}{trial.reason}"]
        if trial.instead:
            lines.append(f"      Instead: {trial.instead}")
        return "\n".join(lines)

    def _others(self) -> str:
        lines = []
        for f in self.of("differs"):
            lines.append(f"{f.place()} is not suggested: its results differ from NumPy's: {f.trial.reason}")
        for f in self.of("no gain"):
            assert f.trial.measured is not None
            lines.append(f"{f.place()}, {_share(f.seen.seconds, self.seconds)}: {_why_not(f, f.trial.measured)}")
        for f in self.of("untried"):
            lines.append(f"{f.place()}, {_share(f.seen.seconds, self.seconds)}, was not tried: {f.trial.reason}")
        if self.decorated and self.findings:
            lines.append(f"Decorated already: {', '.join(self.decorated)}")
        return "\n".join(lines)


def ranked(tries: Sequence[tuple[Seen, Trial]]) -> list[Finding]:
    """The findings, those that save most first."""
    gains = {s.code for s, t in tries if t.measured is not None and _saved(s, t) > 0 and _gain(t.measured) >= _GAIN}
    within = _within(tries, gains)
    found = []
    for seen, trial in tries:
        callers = tuple(c.co_qualname for c in within.get(seen.code, ()))
        kind = trial.verdict
        if kind == "measured":
            kind = "inside" if callers else "suggested" if seen.code in gains else "no gain"
        elif callers:
            kind = "inside"
        found.append(Finding(seen, trial, kind, max(0.0, _saved(seen, trial)) if kind == "suggested" else 0.0, callers))
    return sorted(found, key=lambda f: (-f.saved, -f.seen.seconds))


def _within(tries: Sequence[tuple[Seen, Trial]], gains: set[CodeType]) -> dict[CodeType, tuple[CodeType, ...]]:
    """By function, the ones to decorate that nearly all of its time is within."""
    found: dict[CodeType, tuple[CodeType, ...]] = {}
    for seen, _ in sorted(tries, key=lambda t: -t[0].seconds):  # callers before those that they call
        outer = {c: s for c, s in seen.callers.items() if c is not None and c in gains | {*found}}
        if seen.seconds and sum(outer.values()) >= _MOST * seen.seconds:
            found[seen.code] = tuple(dict.fromkeys(top for c in outer for top in found.get(c, (c,))))
    return found


def _native(measured: Measurement) -> Counts:
    """The compiled side, which what was tried has."""
    assert measured.native is not None
    return measured.native


def _gain(measured: Measurement) -> float:
    return measured.eager.seconds / max(_native(measured).seconds, 1e-9)


def _saved(seen: Seen, trial: Trial) -> float:
    """Seconds that the run would have saved, had its program been in the cache on disk."""
    if trial.measured is None:
        return 0.0
    eager = min(seen.seconds, seen.calls * trial.measured.eager.seconds)
    return eager * (1 - 1 / max(_gain(trial.measured), 1e-9)) - _LOAD


def _why_not(found: Finding, measured: Measurement) -> str:
    times = f"{shown_seconds(measured.eager.seconds)} eager, {shown_seconds(_native(measured).seconds)} native"
    if _gain(measured) < _GAIN:
        return f"decorating gains nothing ({times})"
    return f"decorated it is {_gain(measured):.1f}x as fast ({times}); that pays in longer runs"


def _share(seconds: float, run: float) -> str:
    return f"{100 * seconds / run:.0f} %" if run else "-"


def _refused_at(found: Finding) -> str:
    """Where a refusal is, if not at the function's first line."""
    location = found.trial.location
    if location is None or not location.line:
        return ""
    file = "" if location.file == found.code.co_filename else f"{os.path.basename(location.file)}, "
    return f"{file}line {location.line}: "
