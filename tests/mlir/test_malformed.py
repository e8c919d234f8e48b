"""Malformed text: `opt` answers with file, line, column and reason, whatever is wrong, and never with an error of
Python's."""

from __future__ import annotations

import random
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.mlir.mutants import mutant
from tests.mlir.oracle import BOUNDARIES, MLIR_OPT, UNREGISTERED
from tests.mlir.test_passes_run import corpus, on_buffers
from tracebuf import mlir, opt
from tracebuf.errors import InternalError, TracebufError
from tracebuf.frontends.mlir import parts
from tracebuf.ir.core import Op

BUFFERIZE = f"-one-shot-bufferize={BOUNDARIES}"
FLAGS = (
    (BUFFERIZE,), ("-one-shot-bufferize",), ("--compat=tracebuf", BUFFERIZE), ("-canonicalize", "-cse"),
    ("-eliminate-empty-tensors",), ("-empty-tensor-to-alloc-tensor", "-canonicalize"),
    ("-drop-equivalent-buffer-results",),
    (f"{BUFFERIZE} test-analysis-only print-conflicts",), (f"{BUFFERIZE} copy-before-write",),
    (BUFFERIZE, "-canonicalize", "-cse", "-drop-equivalent-buffer-results"),
)  # fmt: skip
PLACE = re.compile(r"[\w<>./-]+:\d+:\d+: error: .")
MANY = ("index.", "linalg.conv", "linalg.depthwise", "linalg.pooling")
"""Ops of which one is like the other."""


@cache
def texts() -> list[str]:
    ops = (Path(__file__).parent / "text" / "ops.generic.mlir").read_text()
    return [*corpus().values(), *on_buffers().values(), *parts(ops)]


@cache
def names() -> list[str]:
    return sorted(name for name in Op.registry if not name.startswith(MANY))


def attempt(seed: str) -> tuple[str, tuple[str, ...], Exception | None, bool]:
    """(a mutant, the flags, the error, whether the text could be read): one that is neither an error of the text nor a
    refusal is raised by whoever asks."""
    rng = random.Random(seed)
    text, flags = mutant(rng, rng.choice(texts()), names()), rng.choice(FLAGS)
    try:
        opt.run(opt.parse(["-", *flags, "-mlir-print-op-generic"]), text, "<text>")
    except Exception as e:
        return text, flags, e, False
    return text, flags, None, True


def judge(seeds: list[str]) -> int:
    """How many of the mutants are still programs; fails on the first that is answered by anything but an error at a
    place in the text."""
    fine = 0
    for seed in seeds:
        text, flags, error, read = attempt(seed)
        fine += read
        if error is not None:
            clear = isinstance(error, TracebufError) and not isinstance(error, InternalError)
            said = opt.message(error) if isinstance(error, TracebufError) else repr(error)
            if not clear or not PLACE.match(said) or "its parts do not fit" in said:
                raise AssertionError(f"{seed}: {flags}: {type(error).__name__}: {said}\n{text}") from error
    return fine


@pytest.mark.slow
def test_malformed_text_is_answered_with_its_place_and_a_reason() -> None:
    fine = judge([f"few-{i}" for i in range(300)])
    assert 20 <= fine < 150  # some are programs still


@pytest.mark.slow
def test_what_is_refused_mlir_opt_refuses_too() -> None:
    """But for ops of ours, which are unknown to it, and a region of linalg.fill that computes something else."""
    if not MLIR_OPT:
        pytest.skip("mlir-opt-22 is not installed")
    for seed in range(120):
        rng = random.Random(f"few-{seed}")
        text = mutant(rng, rng.choice(texts()), names())
        try:
            mlir.read(text)
        except TracebufError as error:
            if "tracebuf." in str(error) or "does not compute what the name says" in str(error):
                continue
            run = subprocess.run([MLIR_OPT, "-", UNREGISTERED], input=text, capture_output=True, text=True)
            assert run.returncode != 0, f"{seed}: {error}\n{text}"


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 3000, 1000))
def test_thousands_of_malformed_texts(start: int) -> None:
    judge([f"many-{i}" for i in range(start, start + 1000)])


FUNC = """"func.func"() <{{function_type = ({0}) -> (), sym_name = "f"}}> ({{
^bb0({1}):
{2}
"func.return"() : () -> ()
}}) : () -> ()"""


@pytest.mark.parametrize(
    ("args", "op", "said"),
    [
        (["f64"], '"arith.addf"(%0) : (f64) -> f64', "its operands are (f64), where (any, any) should be"),
        (["f64"], '"arith.negf"(%0) : (f64) -> ()', "its results are (), where (any) should be"),
        (["tensor<4xf64>"], '"tensor.concat"() <{dim = 0 : i64}> : () -> tensor<4xf64>', "where (tensor, tensor*)"),
        (["tensor<4xf64>"], '"tensor.reshape"() : () -> tensor<4xf64>', "where (tensors, tensor) should be"),
        (["memref<4xf64>"], '"tensor.rank"(%0) : (memref<4xf64>) -> index', "where (tensors) should be"),
        (["i1"], '"scf.if"(%0) ({\n"scf.yield"() : () -> ()\n}) : (i1) -> ()', "1 regions where 2 should be"),
        ([], '"scf.execute_region"() ({\n}) : () -> ()', "a region has 0 blocks, where some should be"),
        ([], '"scf.execute_region"() ({\n"func.return"() : () -> ()\n}) : () -> ()', "func.return, where scf.yield"),
        (["tensor<4xf64>", "tensor<4xf64>"],
         '"tensor.concat"(%0, %1) <{dim = 7 : i64}> : (tensor<4xf64>, tensor<4xf64>) -> tensor<8xf64>', "no axis 7"),
        (["f64", "tensor<4xf64>"],
         '"linalg.softmax"(%0, %1) <{dimension = 0 : i64}> : (f64, tensor<4xf64>) -> tensor<4xf64>', "of equal rank"),
    ],
)  # fmt: skip
def test_counts_and_kinds_are_those_that_the_class_declares(args: list[str], op: str, said: str) -> None:
    named = ", ".join(f"%{i}: {t}" for i, t in enumerate(args))
    with pytest.raises(mlir.ReadError) as caught:
        mlir.read(FUNC.format(", ".join(args), named, op), "a.mlir")
    assert str(caught.value).startswith("a.mlir:3:1: ") and said in str(caught.value)


def test_only_text_is_read() -> None:
    for wrong in (5, None, b"module {}"):
        with pytest.raises(TypeError, match="read takes MLIR text, not an object of type"):
            mlir.read(wrong)  # type: ignore[arg-type]
