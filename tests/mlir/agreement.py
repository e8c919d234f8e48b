"""Compares our decisions with those of `mlir-opt-22` on random programs, and shrinks the first that differs.

    python -m tests.mlir.agreement --programs 5000 --seed 1
    python -m tests.mlir.agreement --programs 1000 --heuristic top-down --heuristic fuzzer-7
    python -m tests.mlir.agreement a.mlir b.mlir          # on files
    python -m tests.mlir.agreement --corpus DIR           # on the .mlir files of a directory

Each program is compared under each heuristic: every decision, every argument's access, every return's equivalent
arguments, and whether it is refused. Exit code 1 where something differs.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.mlir.oracle import HEURISTICS, REFUSED, Answers, analysis_option, ask, generic, ours, refusal
from tests.mlir.regions import program
from tests.mlir.shrink import shrink

CRASH = "crash"


def told(answers: Answers | str) -> Any:
    """What is compared: the words for tensors, access, equivalence; or that it was refused."""
    if isinstance(answers, str):
        return REFUSED if answers.startswith(REFUSED) else answers
    return {name: a.as_json() for name, a in answers.items()}


def theirs(texts: Sequence[str], heuristic: str) -> list[Answers | str]:
    """MLIR's answers; REFUSED, or CRASH where it crashes (which it does without being asked for anything odd)."""
    option = analysis_option(heuristic)
    found = ask(texts, heuristic)
    return [a if a is not None else (CRASH if refusal(t, option) == CRASH else REFUSED) for t, a in zip(texts, found)]


def differing(texts: Sequence[str], heuristic: str) -> list[tuple[int, Any, Any]]:
    """(index, theirs, ours) of each module in generic form on which we differ; a crash of the binary is no answer."""
    found = []
    for i, (text, answer) in enumerate(zip(texts, theirs(texts, heuristic), strict=True)):
        mine = ours(text, heuristic)
        if answer != CRASH and told(answer) != told(mine):
            found.append((i, told(answer), mine if isinstance(mine, str) else told(mine)))
    return found


def differ_as(heuristic: str, kind: str) -> Callable[[Sequence[str]], list[bool]]:
    """For `shrink`: which modules are valid and differ still, in the same way."""

    def still(texts: Sequence[str]) -> list[bool]:
        valid = generic(texts)
        kept = [t for t in valid if t is not None]
        bad = {i for i, a, b in differing(kept, heuristic) if way(a, b) == kind}
        left = iter(range(len(kept)))
        return [t is not None and next(left) in bad for t in valid]

    return still


def way(a: Any, b: Any) -> str:
    """In which way two answers differ: an error of ours by its first words, else the first op decided otherwise."""
    if isinstance(b, str):
        return " ".join(w for w in b.split()[1:9] if not any(c.isdigit() or c in "%@" for c in w))
    if isinstance(a, str):
        return "not refused"
    for name, answer in a.items():
        for x, y in zip(answer.get("ops", ()), b.get(name, {}).get("ops", ())):
            if x != y:
                return f"decides otherwise on {x[0]}"
    return next((key for f in a for key in ("access", "equivalent") if a[f].get(key) != b.get(f, {}).get(key)), "ops")


def show(text: str, heuristic: str) -> None:
    """Prints a module and the lines of the two answers that differ."""
    print(text)
    ((_, a, b),) = differing([text], heuristic)
    if isinstance(a, str) or isinstance(b, str):
        print("mlir:", a if isinstance(a, str) else "answers", "\nours:", b if isinstance(b, str) else "answers")
        return
    for name in a:
        for key in ("ops", "access", "equivalent"):
            x, y = a[name].get(key), b.get(name, {}).get(key)
            if x != y:
                print(f"{name} {key}\n  mlir {x}\n  ours {y}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ops", type=int, default=16, help="at most so many ops in the main function")
    parser.add_argument("--heuristic", action="append", help="all three by default; fuzzer-7 has seed 7")
    parser.add_argument("--kinds", type=int, default=1, help="how many kinds of differences are shrunk and shown")
    args = parser.parse_args()
    files = [*args.files, *sorted(args.corpus.glob("*.mlir") if args.corpus else ())]
    if files:
        texts = [path.read_text() for path in files]
    else:
        texts = [program(random.Random(f"{args.seed}-{i}"), args.ops) for i in range(args.programs)]
    return compare(texts, args.heuristic or HEURISTICS, args.kinds)


def compare(texts: Sequence[str], heuristics: Sequence[str], kinds: int) -> int:
    begin = time.perf_counter()
    valid = [t for t in generic(texts) if t is not None]
    print(f"{len(valid)} of {len(texts)} programs are valid")
    seen: dict[str, int] = {}
    for heuristic in heuristics:
        found = differing(valid, heuristic)
        print(
            f"{heuristic}: {len(valid) - len(found)} agree, {len(found)} differ ({time.perf_counter() - begin:.0f} s)"
        )
        for i, a, b in found:
            kind = way(a, b)
            seen[kind] = seen.get(kind, 0) + 1
            if seen[kind] == 1 and len(seen) <= kinds:
                print(f"\n{kind} under {heuristic}, shrunk:")
                show(shrink(valid[i], differ_as(heuristic, kind)), heuristic)
    for kind, n in seen.items():
        print(f"{n} times: {kind}")
    return int(bool(seen))


if __name__ == "__main__":
    sys.exit(main())
