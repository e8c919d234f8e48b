"""What the passes of `python -m tracebuf opt` make does what they were given: both are interpreted, as they stand.

On the corpus, on programs of buffers (or of tensors and buffers), and on random ones; and what `mlir-opt-22` makes of
the same text, read back, does it too.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.mlir.expected import expected
from tests.mlir.oracle import BOUNDARIES, generic, needs_mlir, run_mlir
from tests.mlir.regions import program
from tests.mlir.running import CannotRun, arguments, compare, different, outcomes, run
from tests.support.params import one_in, slow_but
from tracebuf import opt
from tracebuf.frontends.mlir import parts, read
from tracebuf.interpret.memory import MemoryFault

BUFFERIZE = f"-one-shot-bufferize={BOUNDARIES}"
CLEAN = ("-canonicalize", "-cse")
ALL = (*CLEAN, "-eliminate-empty-tensors", *CLEAN, BUFFERIZE, *CLEAN, "-drop-equivalent-buffer-results", *CLEAN)
PARTIAL = (
    *(f"-{d}-bufferize" for d in ("tensor-constant", "linalg", "arith", "scf", "tensor", "vector", "bufferization")),
    *("-func-bufferize", "-canonicalize", "-finalizing-bufferize"),
)
SEQUENCES: dict[str, tuple[str, ...]] = {
    "all": ALL,
    "bufferized and cleaned": (BUFFERIZE, *CLEAN),
    "all, tracebuf": ("--compat=tracebuf", *ALL),
    "canonicalize": ("-canonicalize",),
    "cse": ("-cse",),
    "eliminate-empty-tensors": ("-eliminate-empty-tensors",),
    "empty-tensor-to-alloc-tensor": ("-empty-tensor-to-alloc-tensor", *CLEAN),
    "one-shot-bufferize": (BUFFERIZE,),
    "one-shot-bufferize, tracebuf": ("--compat=tracebuf", BUFFERIZE),
    "copy-before-write": (f"{BUFFERIZE} copy-before-write", *CLEAN),
    "partial": PARTIAL,
    "freed by One-Shot": (f"{BUFFERIZE} create-deallocs", "-canonicalize"),
    "drop-equivalent-buffer-results": (BUFFERIZE, "-drop-equivalent-buffer-results"),
}
PASSES = [f"-{name}" for name in ("canonicalize", "cse", "eliminate-empty-tensors", "empty-tensor-to-alloc-tensor")]


@cache
def on_buffers() -> dict[str, str]:
    """The programs of buffers.mlir, by name."""
    texts = parts((Path(__file__).parent / "buffers.mlir").read_text())
    return {text.split("// name: ")[1].split()[0]: text for text in texts}


@cache
def corpus() -> dict[str, str]:
    return {name: "\n".join(known["generic"]) for name, known in expected().items()}


def wrong(texts: dict[str, str], flags: Sequence[str]) -> dict[str, list[str]]:
    return {name: found for name, text in texts.items() if (found := different(text, flags))}


@pytest.mark.parametrize("name", one_in(6, on_buffers()))
def test_programs_of_buffers_can_be_run(name: str) -> None:
    assert outcomes(on_buffers()[name])


@pytest.mark.parametrize("name", one_in(3, SEQUENCES))
def test_on_buffers(name: str) -> None:
    """Ops on buffers have no results, so that nothing but their effects keeps them."""
    assert not wrong(on_buffers(), SEQUENCES[name])


@pytest.mark.parametrize("name", slow_but(["all"], SEQUENCES))
@pytest.mark.slow
def test_on_the_corpus(name: str) -> None:
    texts = corpus()
    some = {k: texts[k] for k in list(texts)[:: 8 if name == "all" else 1]}
    assert not wrong(some, SEQUENCES[name])


def test_most_of_the_corpus_can_be_run() -> None:
    names = list(corpus())[::5]
    assert sum(bool(outcomes(corpus()[name])) for name in names) > 0.7 * len(names)


@pytest.mark.slow
def test_a_wrong_pass_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when linalg ops were taken to do nothing to buffers."""
    from tracebuf.ir.core import no_effects
    from tracebuf.ops.arrays.linalg import DestinationOp

    monkeypatch.setattr(DestinationOp, "effects", no_effects)
    found = wrong(on_buffers(), (BUFFERIZE, *CLEAN))
    assert {"linalg_ops_on_buffers", "fill_after_a_write", "fill_before_to_tensor", "forall_on_buffers"} <= found.keys()


@pytest.mark.slow
@needs_mlir
def test_random_programs_through_random_passes() -> None:
    texts = generic([program(random.Random(f"run-{i}")) for i in range(40)])
    for i, text in enumerate(texts):
        assert text is not None
        rng = random.Random(i)
        before, after = (rng.choices(PASSES, k=rng.randint(0, 3)) for _ in range(2))
        compat = rng.choice(["--compat=mlir", "--compat=tracebuf"])
        for flags in (before, [compat, *before, BUFFERIZE, *after]):
            assert not any(different(text, flags, seed) for seed in range(3)), (text, flags)


@pytest.mark.slow
@needs_mlir
@pytest.mark.parametrize("flags", [CLEAN, (BUFFERIZE, *CLEAN)], ids=["tensors", "buffers"])
def test_what_mlir_makes_does_the_same_as_what_we_make(flags: Sequence[str]) -> None:
    """The text that `mlir-opt-22` prints is read and run; where it does something else than the program, so do we."""
    texts = corpus() | on_buffers()
    made = run_mlir(list(texts.values()), *flags, "-mlir-print-op-generic")
    compared = 0
    for (name, text), theirs in zip(texts.items(), made, strict=True):
        if theirs is None or not outcomes(text):
            continue
        ours = opt.run(opt.parse(["-", *flags, "-mlir-print-op-generic"]), text, name)
        for func, args, _ in outcomes(text):
            assert does(theirs, func, args) == does(ours, func, args), name
            compared += 1
    assert compared > 80


def does(text: str, name: str, args: Sequence[object]) -> str:
    """What a function of a module in generic form gives for these arguments, or what is wrong with it."""
    module = read(text)
    try:
        return str(run(module, name, args).results)
    except (CannotRun, MemoryFault) as e:
        return type(e).__name__


@pytest.mark.slow
@needs_mlir
def test_mlirs_clean_up_of_what_we_make_changes_nothing() -> None:
    texts = corpus() | on_buffers()
    for flags in ((BUFFERIZE,), ("--compat=tracebuf", BUFFERIZE)):
        ours = []
        for text in texts.values():
            try:
                ours.append(opt.run(opt.parse(["-", *flags, "-mlir-print-op-generic"]), text, "<text>"))
            except opt.TracebufError:
                continue
        for before, after in zip(ours, run_mlir(ours, *CLEAN, "-mlir-print-op-generic"), strict=True):
            assert after is not None, before
            assert not compare(before, after), before


def test_arguments_are_those_of_the_seed() -> None:
    func = read(on_buffers()["loads_and_stores"]).func("f")
    assert str(arguments(func, 1)) == str(arguments(func, 1)) != str(arguments(func, 2))
