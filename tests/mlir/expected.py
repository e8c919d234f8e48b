"""What `mlir-opt-22` answers on the programs of `tests/mlir/corpus`, kept in `tests/mlir/corpus/expected.json`.

    python -m tests.mlir.expected            # compares the file with the binary, exit code 1 where they differ
    python -m tests.mlir.expected --write    # writes it anew

For each program: its text in generic form (so that comparing needs no binary), the decisions under three heuristics,
and how many allocations and copies are left after the whole rewrite and MLIR's clean-up, in five ways.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

from tests.mlir.oracle import BOUNDARIES, HEURISTICS, analysis_option, ask, generic, may_crash, refusal, run_mlir

CORPUS = Path(__file__).parent / "corpus"
EXPECTED = CORPUS / "expected.json"
CLEAN = ("-canonicalize", "-cse", "-canonicalize")
BUFFERIZE = "-empty-tensor-to-alloc-tensor", f"-one-shot-bufferize={BOUNDARIES} allow-unknown-ops"
WAYS: dict[str, tuple[str, ...]] = {
    **{h: (BUFFERIZE[0], f"{BUFFERIZE[1]} analysis-heuristic={h}", *CLEAN) for h in HEURISTICS},
    "eliminate-empty-tensors": ("-eliminate-empty-tensors", "-canonicalize", "-cse", *BUFFERIZE, *CLEAN),
    "copy-before-write": (BUFFERIZE[0], f"{BUFFERIZE[1]} copy-before-write", *CLEAN),
}
"""The flags of each way from tensors to buffers."""


def programs() -> dict[str, str]:
    """The corpus, by name."""
    return {path.stem: path.read_text() for path in sorted(CORPUS.glob("*.mlir"))}


def expected() -> dict[str, dict[str, Any]]:
    """What the file says, by program."""
    found: dict[str, dict[str, Any]] = json.loads(EXPECTED.read_text())
    return found


def counted(text: str) -> dict[str, int]:
    """Allocations and copies that stand in a module of memrefs."""
    copies = text.count("memref.copy ") + text.count("linalg.copy ")
    return {"alloc": text.count("memref.alloc("), "copy": copies}


def current(some: Collection[str] = ()) -> dict[str, dict[str, Any]]:
    """The same as `expected`, asked of the binary now, of all programs or of some."""
    names, texts = zip(*((name, text) for name, text in programs().items() if not some or name in some))
    found: dict[str, dict[str, Any]] = {}
    for name, text in zip(names, generic(texts), strict=True):
        assert text is not None, f"{name} is not valid"
        found[name] = {"generic": text.strip().splitlines()}
    for heuristic in HEURISTICS:
        for name, text, given in zip(names, texts, ask(texts, heuristic), strict=True):
            found[name][heuristic] = (
                {"error": refusal(text, analysis_option(heuristic))}
                if given is None
                else {f: a.as_json() for f, a in given.items()}
            )
    for way, flags in WAYS.items():
        for name, text, done in zip(names, texts, run_mlir(texts, *flags), strict=True):
            if done is None and may_crash(text, *flags):
                counts = expected()[name]["counts"][way]  # what it answers at another time
            else:
                counts = {"error": refusal(text, *flags)} if done is None else counted(done)
            found[name].setdefault("counts", {})[way] = counts
    return found


def main() -> int:
    now = current()
    if "--write" in sys.argv[1:]:
        EXPECTED.write_text(as_text(now))
        print(f"wrote {EXPECTED}: {len(now)} programs")
        return 0
    before = expected()
    differ = [name for name in now.keys() | before.keys() if now.get(name) != before.get(name)]
    print(f"{len(now)} programs, {len(differ)} differ {sorted(differ)}")
    return int(bool(differ))


def as_text(found: dict[str, dict[str, Any]]) -> str:
    """JSON with one line for each thing that is known of a program."""
    parts = []
    for name, known in found.items():
        lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in known.items())
        parts.append(f" {json.dumps(name)}: {{\n{lines}\n }}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main())
