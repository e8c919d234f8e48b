"""The rows of docs/mlir.md are true: each program decides as MLIR does, or copies as much less as its row says."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

from tests.mlir.expected import CLEAN, counted
from tests.mlir.oracle import HEURISTICS, answers, may_crash, needs_mlir, run_mlir
from tracebuf import opt
from tracebuf.errors import TracebufError

T = TypeVar("T")
ROOT = Path(__file__).parents[2]
GENERIC = "-mlir-print-op-generic"
LEFT_OUT = {
    "no-boundaries": "bufferize-function-boundaries",
    "no-loop-allocs": "allow-return-allocs-from-loops",
    "no-unknown": "allow-unknown-ops",
}
PROGRAMS = {
    match[1]: (match[2] or "", part)
    for part in (Path(__file__).parent / "behaviours.mlir").read_text().split("// -----\n")
    if (match := re.search(r"^// name: (\w+)(?:; with: (.*))?$", part, re.MULTILINE))
}
ROWS = dict(re.findall(r"^\| `(\w+)` \| .* \| (.*) \|$", (ROOT / "docs" / "mlir.md").read_text(), re.MULTILINE))
SOME = (
    "unknown_op_may_alias", "materialize_in_a_read_only_argument", "unranked_cast", "empty_for_one_insert",
    "disjoint_write_through_nested_slices", "disjoint_in_one_round_only", "slice_put_elsewhere",
    "select_written_one_read", "no_analysis_of_some_functions", "loops_that_only_yield", "loop_swaps",
    "to_tensor_without_restrict", "unranked_is_never_copied", "constant_cast_to_unranked",
)  # fmt: skip


def flags(options: str) -> tuple[list[str], str, list[str]]:
    """(passes before, options of -one-shot-bufferize, passes after) for the words behind `with:`."""
    words = options.split()
    ours = [option for word, option in LEFT_OUT.items() if word not in words]
    given = [w for w in words if w not in (*LEFT_OUT, "eliminate", "drop")]
    first = "-eliminate-empty-tensors" if "eliminate" in words else "-empty-tensor-to-alloc-tensor"
    return [first], " ".join(ours + given), ["-drop-equivalent-buffer-results"] if "drop" in words else []


def made(text: str, compat: str, *passes: str) -> str | None:
    """What the command makes of a module; None where it is refused."""
    try:
        return opt.run(opt.parse(["-", f"--compat={compat}", *passes]), text, "<text>")
    except TracebufError:
        return None


def told(text: str | None) -> Any:
    return None if text is None else {name: a.as_json() for name, a in answers(text).items()}


Asked = Generator[tuple[str, tuple[str, ...]], str | None, T]
"""What asks `mlir-opt` as it goes on: yields a text and passes, and is sent what they make of it (None: refused)."""


def count(text: str | None) -> Asked[str]:
    """`allocations/copies` after MLIR's clean-up."""
    assert text is not None
    clean = yield text, CLEAN
    assert clean is not None, text
    return "{alloc}/{copy}".format(**counted(clean))


def check(name: str) -> Asked[None]:
    options, part = PROGRAMS[name]
    text = yield part, (GENERIC,)
    assert text is not None, f"{name} is not valid"
    before, asked, after = flags(options)
    rewrite = [*before, f"-one-shot-bufferize={asked}", *after]
    if "copy-before-write" not in asked:
        before = before if "eliminate" in options else []
        for heuristic in HEURISTICS:
            chosen = asked if "analysis-heuristic" in asked else f"{asked} analysis-heuristic={heuristic}"
            passes = [*before, f"-one-shot-bufferize=test-analysis-only {chosen}", GENERIC]
            theirs = yield part, tuple(passes)
            assert told(made(text, "mlir", *passes)) == told(theirs), f"{name}, {heuristic}"
    row = ROWS[name]
    if "rewrite is refused" in row:
        assert made(text, "mlir", *rewrite) is made(text, "tracebuf", *rewrite) is None, name
    elif "error" in row:
        assert (yield part, tuple(rewrite)) is None, name
        assert made(text, "mlir", *rewrite) is made(text, "tracebuf", *rewrite) is None, name
    elif match := re.search(r"(\d+/\d+) → (\d+/\d+)", row):
        assert (yield from count(made(text, "mlir", *rewrite))) == match[1], name
        assert (yield from count(made(text, "tracebuf", *rewrite))) == match[2], name
    elif match := re.fullmatch(r"same(?:, (\d+/\d+))?", row):
        theirs = yield part, tuple(rewrite)
        if theirs is None and may_crash(part, *rewrite):
            theirs = made(text, "mlir", *rewrite)
        for found in (theirs, made(text, "mlir", *rewrite), made(text, "tracebuf", *rewrite)):
            assert (yield from count(found)) == (match[1] or "0/0"), name


def check_all(names: Sequence[str]) -> None:
    """All of them in step, so that `mlir-opt` is started once for all that ask the same of it."""
    going = [(check(name), cast("str | None", None)) for name in names]
    while going:
        asked = defaultdict[tuple[str, ...], list[tuple[Asked[None], str]]](list)
        for one, answer in going:
            try:
                text, passes = one.send(cast("str", answer))
            except StopIteration:
                continue
            asked[passes].append((one, text))
        going = []
        for passes, each in asked.items():
            going += zip((one for one, _ in each), run_mlir([text for _, text in each], *passes), strict=True)


@needs_mlir
def test_a_row_is_true() -> None:
    check_all(SOME[::7])


@needs_mlir
@pytest.mark.slow
@pytest.mark.parametrize("part", range(2))
def test_every_row_is_true(part: int) -> None:
    check_all(list(ROWS)[part::2])


def test_each_program_has_its_row() -> None:
    assert sorted(ROWS) == sorted(PROGRAMS)
