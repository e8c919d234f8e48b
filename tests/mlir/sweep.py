"""Many random programs of buffers through all sequences of passes, natively, and beside `mlir-opt-22`.

    python -m tests.mlir.sweep 0 500               # seeds 0 to 499
    python -m tests.mlir.sweep 0 500 --mlir        # and with what mlir-opt-22 makes of them
    python -m tests.mlir.sweep 0 500 --seconds 60  # as many as there is time for
    python -m tests.mlir.sweep 0 5000 --in-turn --mlir  # each through the pipeline and one more of the sequences

Every other one has loops of branches, which MLIR refuses. Says what went wrong with which seed, and how many programs
each sequence took.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial

from tests.mlir import test_memrefs as tests
from tests.mlir.memrefs import program
from tracebuf.errors import UnsupportedError

CHECKS: dict[str, Callable[[str], object]] = {
    **{name: partial(tests.check, passes=passes) for name, passes in tests.SEQUENCES.items()},
    "native": tests.check_native,
    "beside MLIR": lambda text: tests.compare_with_mlir(text) > 0,
}


def wrong(text: str, names: Iterable[str], taken: Counter[str]) -> dict[str, str]:
    """What went wrong with a program, by the name of the sequence."""
    found: dict[str, str] = {}
    for name in names:
        try:
            taken[name] += CHECKS[name](text) is not False
        except UnsupportedError:
            continue
        except Exception as e:
            found[name] = f"{type(e).__name__}: {e}"
    return found


ALWAYS = ("pipeline", "beside MLIR")


def for_turn(names: list[str], seed: int, in_turn: bool) -> list[str]:
    """The sequences for one program: all, or those that every program goes through and one more."""
    if not in_turn:
        return names
    others = [name for name in names if name not in ALWAYS]
    return [name for name in names if name in ALWAYS or name == others[seed % len(others)]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("start", type=int)
    parser.add_argument("stop", type=int)
    parser.add_argument("--mlir", action="store_true", help="compare with mlir-opt-22")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--only", help="the sequences to run, by name", nargs="*")
    parser.add_argument("--in-turn", action="store_true", help="beside the pipeline one sequence for each program")
    chosen = parser.parse_args()
    names = chosen.only or [name for name in CHECKS if chosen.mlir or name != "beside MLIR"]
    begin, taken, faults, done = time.monotonic(), Counter[str](), Counter[str](), 0
    for seed in range(chosen.start, chosen.stop):
        if time.monotonic() - begin > chosen.seconds:
            break
        done += 1
        for name, text in wrong(
            program(random.Random(seed), loops=seed % 2 == 0), for_turn(names, seed, chosen.in_turn), taken
        ).items():
            faults[name] += 1
            print(f"{seed} {name}: {text[:300]}", flush=True)
    print(f"{done} programs from seed {chosen.start}; taken: {dict(taken)}; wrong: {dict(faults) or 'none'}")


if __name__ == "__main__":
    main()
