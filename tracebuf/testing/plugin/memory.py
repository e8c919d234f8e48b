"""What bufferized functions took in a run: rows by function, as a table and as JSON, and beside a baseline.

A row has the worst of the function's calls: the most allocations, copies, bytes allocated, bytes alive at once.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tracebuf.explain.report import human
from tracebuf.process.display import aligned
from tracebuf.testing.checks.memory import MemoryUsed

__all__ = ["Rows", "compared", "merge", "note", "read", "table", "write"]

Row = dict[str, int]
Rows = dict[str, Row]
"""By function: `calls`, how many of them ran the original (`in_numpy`), and the worst of each of `FIELDS`."""
FIELDS = ("allocations", "copies", "allocated_bytes", "peak_bytes")
VERSION = 1


def note(rows: Rows, name: str, used: MemoryUsed) -> None:
    """Adds one call."""
    values = {field: getattr(used, field) or 0 for field in FIELDS}
    merge(rows, {name: {"calls": 1, "in_numpy": int(used.copies is None), **values}})


def merge(rows: Rows, more: Rows) -> None:
    for name, new in more.items():
        row = rows.setdefault(name, dict.fromkeys(new, 0))
        for field, value in new.items():
            row[field] = row[field] + value if field in ("calls", "in_numpy") else max(row[field], value)


def table(rows: Rows) -> str:
    """The table; the functions that allocate most bytes first."""
    if not rows:
        return "no bufferized function was called"
    head = ("function", "calls", "in NumPy", "allocations", "copies", "allocated", "peak")
    order = sorted(rows.items(), key=lambda item: (-item[1]["allocated_bytes"], item[0]))
    cells = [
        (name, f"{r['calls']:,}", f"{r['in_numpy']:,}", f"{r['allocations']:,}", f"{r['copies']:,}",
         human(r["allocated_bytes"]), human(r["peak_bytes"]))
        for name, r in order
    ]  # fmt: skip
    return aligned([head, *cells]) + "\n(allocations, copies and bytes: the most in one call)"


def write(path: Path, rows: Rows) -> None:
    data = {"version": VERSION, "functions": dict(sorted(rows.items()))}
    path.write_text(json.dumps(data, indent=1) + "\n")


def read(path: Path) -> Rows:
    """Raises OSError, ValueError for what is no file of `write`."""
    data: Any = json.loads(path.read_text())
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise ValueError("not a file of --tracebuf-memory")
    return dict(data["functions"])


def compared(before: Rows, now: Rows) -> list[str]:
    """What a function takes more than before, in words. Functions that are new, or were not called, are no matter."""
    found = []
    for name in sorted(before.keys() & now.keys()):
        old, new = before[name], now[name]
        for field in FIELDS:
            more = new[field] - old[field]
            if more > 0:
                what = field.replace("_", " ")
                found.append(f"{name}: {new[field]:,} {what}, {more:,} more than {old[field]:,}")
        if new["in_numpy"] and not old["in_numpy"]:
            found.append(f"{name}: {new['in_numpy']:,} of {new['calls']:,} calls ran the original, none before")
    return found
