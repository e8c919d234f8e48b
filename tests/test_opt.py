"""`python -m tracebuf opt`: flags, passes and errors as mlir-opt has them; its answers are those of `mlir-opt-22`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from mlir_expected import expected
from mlir_oracle import BOUNDARIES, HEURISTICS, analysis_option, answers, mlir_opt, needs_mlir

from tracebuf import opt

BUFFERIZE = f"-one-shot-bufferize={BOUNDARIES}"
GENERIC = "-mlir-print-op-generic"
SLICE = """
"func.func"() <{function_type = (tensor<8xf64>, index) -> tensor<8xf64>, sym_name = "f"}> ({
^bb0(%x: tensor<8xf64>, %n: index):
  %a = "tensor.extract_slice"(%x) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0>,
    static_sizes = array<i64: 4>, static_strides = array<i64: 1>}> : (tensor<8xf64>) -> tensor<4xf64>
  %r = "tensor.insert_slice"(%a, %x) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>,
    static_offsets = array<i64: 2>, static_sizes = array<i64: 4>, static_strides = array<i64: 1>}>
    : (tensor<4xf64>, tensor<8xf64>) -> tensor<8xf64>
  "func.return"(%r) : (tensor<8xf64>) -> ()
}) : () -> ()
"""
UNKNOWN = """
"func.func"() <{function_type = (tensor<8xf64>) -> (), sym_name = "f"}> ({
^bb0(%x: tensor<8xf64>):
  "lab.use"(%x) : (tensor<8xf64>) -> ()
  "func.return"() : () -> ()
}) : () -> ()
"""


def run(text: str, *flags: str) -> str:
    """What the command prints for a text."""
    return opt.run(opt.parse(["-", *flags]), text, "<text>")


def command(*words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    return subprocess.run([sys.executable, "-m", "tracebuf", "opt", *words], input=text, capture_output=True, text=True)


# -- the command line
def test_a_file_or_standard_input_to_a_file_or_standard_output(tmp_path: Path) -> None:
    source, target = tmp_path / "a.mlir", tmp_path / "b.mlir"
    source.write_text(SLICE)
    assert command(str(source), BUFFERIZE, "-o", str(target)).returncode == 0
    for text in (target.read_text(), command("-", BUFFERIZE, text=SLICE).stdout):
        assert "memref.subview" in text and "conflicts" not in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-", "-nonsense"], "unknown flag -nonsense"),
        ([], "no file"),
        (["-", "--compat=other"], "--compat is mlir or tracebuf"),
        (["-", "-one-shot-bufferize=nonsense"], "no such option: nonsense"),
        (["-", "-cse=nonsense"], "no such option: nonsense"),
        (["-", "-one-shot-bufferize=print-conflicts"], "'print-conflicts' requires 'test-analysis-only'"),
        (["-", "-one-shot-bufferize=allow-unknown-ops=maybe"], "allow-unknown-ops is true or false"),
        (["-", "-one-shot-bufferize=analysis-fuzzer-seed=x"], "analysis-fuzzer-seed is a number"),
        (["-", "-one-shot-bufferize=analysis-heuristic=other"], "other"),
        (["-", "-one-shot-bufferize=dump-alias-sets"], "not supported"),
        (["-", "-one-shot-bufferize=unknown-type-conversion=infer-layout-map"], "'infer-layout-map' is not a valid"),
        (["-", "-one-shot-bufferize=improvements=other"], "improvements are"),
        (["missing.mlir"], "missing.mlir"),
    ],
)
def test_what_makes_no_sense_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert opt.main(words) == 1
    assert said in capsys.readouterr().err


def test_help_names_passes_and_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert opt.main(["-h"]) == 0
    text = capsys.readouterr().out
    assert "-eliminate-empty-tensors" in text and "function-boundary-type-conversion" in text


def test_errors_name_file_line_and_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.mlir"
    head = '"func.func"() <{function_type = () -> (), sym_name = "f"}> ({'
    path.write_text(f'{head}\n  "lab.op"(%x) : (f64) -> ()\n}}) : () -> ()')
    assert opt.main([str(path)]) == 1
    assert capsys.readouterr().err.startswith(f"{path}:2:12: error: ")


def test_parts_are_treated_one_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.mlir"
    path.write_text(f'{SLICE}\n// -----\n"\n// -----\n{SLICE}')
    assert opt.main([str(path), "-split-input-file"]) == 1
    found = capsys.readouterr()
    assert f"{path}:{SLICE.count(chr(10)) + 3}:1: error: " in found.err
    assert found.out.count("tensor.insert_slice") == 2 and found.out.count("// -----") == 2


# -- one-shot-bufferize
@pytest.mark.parametrize("heuristic", HEURISTICS)
def test_decisions_on_the_corpus_are_mlirs(heuristic: str) -> None:
    """In-place decisions, access and equivalence, read out of the printed attributes (behaviours 1 to 44)."""
    different = {}
    for name, known in expected().items():
        if "error" in known[heuristic]:
            continue
        text = run("\n".join(known["generic"]), analysis_option(heuristic), GENERIC)
        found = {f: a.as_json() for f, a in answers(text).items()}
        if found != known[heuristic]:
            different[name] = (found, known[heuristic])
    assert not different


def test_conflicts_are_printed_as_attributes() -> None:
    text = run(SLICE, "-one-shot-bufferize=test-analysis-only print-conflicts bufferize-function-boundaries", GENERIC)
    assert '"C_0[READ: 0]"' in text and '"C_0[CONFL-WRITE: 1]"' in text and '"C_0[DEF: bbArg 0]"' in text


@needs_mlir
def test_text_in_any_form_is_read_where_mlir_opt_is_installed() -> None:
    text = mlir_opt(SLICE)
    assert "func.func @f" in text
    assert mlir_opt(run(text, GENERIC)) == text
