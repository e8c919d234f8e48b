"""`python -m tracebuf opt`: flags, passes and errors as mlir-opt has them; its answers are those of `mlir-opt-22`."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.mlir.expected import CLEAN, counted, expected
from tests.mlir.oracle import BOUNDARIES, HEURISTICS, analysis_option, answers, mlir_opt, needs_mlir, run_mlir
from tests.mlir.regions import program
from tests.support.params import one_in
from tracebuf import opt
from tracebuf.errors import TracebufError

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
@pytest.mark.slow
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
        (["-", "-pass-pipeline=builtin.module(nonsense)"], "no such pass: nonsense"),
        (["-", "-pass-pipeline=builtin.module(cse"], "not a pipeline"),
        (["-", "-cse=nonsense"], "no such option: nonsense"),
        (["-", "-one-shot-bufferize=print-conflicts"], "'print-conflicts' requires 'test-analysis-only'"),
        (["-", "-one-shot-bufferize=allow-unknown-ops=maybe"], "allow-unknown-ops is true or false"),
        (["-", "-one-shot-bufferize=analysis-fuzzer-seed=x"], "analysis-fuzzer-seed is a number"),
        (["-", "-one-shot-bufferize=analysis-heuristic=other"], "other"),
        (["-", "-one-shot-bufferize=analysis-heuristic=optimal"], "requires --compat=tracebuf"),
        (["-", "-one-shot-bufferize=dump-alias-sets"], "'dump-alias-sets' requires 'test-analysis-only'"),
        (["-", "-one-shot-bufferize=unknown-type-conversion=infer-layout-map"], "'infer-layout-map' is not a valid"),
        (["-", "-one-shot-bufferize=improvements=other"], "improvements are"),
        (["missing.mlir"], "missing.mlir"),
    ],
)
def test_what_makes_no_sense_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert opt.main(words) == 1
    assert said in capsys.readouterr().err


def test_a_pipeline_is_its_passes() -> None:
    options = "bufferize-function-boundaries=1 copy-before-write"
    text = f"builtin.module(func.func(canonicalize, cse), one-shot-bufferize{{{options}}})"
    found = opt.parse(["-", "-pass-pipeline", text]).passes
    assert [name for name, _ in found] == ["canonicalize", "cse", "one-shot-bufferize"]
    assert found[2][1] == options


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
@pytest.mark.parametrize("heuristic", one_in(6, HEURISTICS))
@pytest.mark.slow
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


@needs_mlir
def test_an_unused_materialization_is_dead_to_mlir() -> None:
    """On tensors it is an op on values; what it was the only user of is dead too."""
    text = """
func.func @f(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %m = bufferization.materialize_in_destination %a in %e : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %n = bufferization.materialize_in_destination %m in %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %a : tensor<8xf32>
}
"""
    assert "tensor.empty" not in (found := run(text, "-canonicalize")) and "materialize" not in found
    assert "materialize" in run(text, "-canonicalize", "--compat=tracebuf")


def test_conflicts_are_printed_as_attributes() -> None:
    text = run(SLICE, "-one-shot-bufferize=test-analysis-only print-conflicts bufferize-function-boundaries", GENERIC)
    assert '"C_0[READ: 0]"' in text and '"C_0[CONFL-WRITE: 1]"' in text and '"C_0[DEF: bbArg 0]"' in text


SETS = re.compile(r'__(?:opresult|bbarg)_alias_set_attr__ = (\[(?:\[|\]|"[^"]*"|, )*\])')


def alias_sets(text: str) -> list[str]:
    """The alias sets of a module in generic form, with values by the order in which they stand there."""
    names: dict[str, int] = {}
    for line in text.splitlines():
        if found := re.match(r"\s*(%[\w$.-]+)(:\d+)? = ", line):
            n = int(found[2][1:]) if found[2] else 0
            new = [f"{found[1]}#{k}" for k in range(n)] or [found[1]]
        else:
            new = re.findall(r"(%[\w$.-]+): ", line) if line.lstrip().startswith("^") else []
        names.update({name: len(names) + k for k, name in enumerate(new)})
    return [re.sub(r'"(%[^"]*)"', lambda m: str(names[m[1]]), found) for found in SETS.findall(text)]


@pytest.mark.slow
@needs_mlir
@pytest.mark.parametrize("heuristic", ["bottom-up", "top-down"])
def test_alias_sets_are_mlirs(heuristic: str) -> None:
    """With their order, in all programs of the corpus that have one function. (MLIR names values in a set as if their
    function stood alone.)"""
    flags = (f"{BUFFERIZE} analysis-heuristic={heuristic} test-analysis-only dump-alias-sets", GENERIC)
    texts = [text for text in corpus().values() if text.count("func.func") == 1]
    compared = 0
    for text, theirs in zip(texts, run_mlir(texts, *flags), strict=True):
        if theirs is not None:
            assert alias_sets(opt.run(opt.parse(["-", *flags]), text, "<text>")) == alias_sets(theirs), text
            compared += 1
    assert compared > 80


def test_alias_sets_are_dumped() -> None:
    flags = "-one-shot-bufferize=test-analysis-only dump-alias-sets bufferize-function-boundaries"
    assert [found.count("[") for found in alias_sets(run(SLICE, flags, GENERIC))]


@needs_mlir
@pytest.mark.slow
def test_text_in_any_form_is_read_where_mlir_opt_is_installed() -> None:
    text = mlir_opt(SLICE)
    assert "func.func @f" in text
    assert mlir_opt(run(text, GENERIC)) == text


def test_unknown_ops_are_errors_unless_allowed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.mlir"
    path.write_text(UNKNOWN)
    assert opt.main([str(path), BUFFERIZE]) == 1
    assert capsys.readouterr().err.startswith(f"{path}:4:3: error: op was not bufferized")
    assert "bufferization.to_tensor" in run(UNKNOWN, f"{BUFFERIZE} allow-unknown-ops")
    assert "lab.use" in run(UNKNOWN, f"{BUFFERIZE} dialect-filter=func")


# -- the other passes
def corpus() -> dict[str, str]:
    """The programs in generic form, without those that MLIR refuses to analyse."""
    return {name: "\n".join(e["generic"]) for name, e in expected().items() if "error" not in e["bottom-up"]}


@pytest.mark.slow
@needs_mlir
def test_cleaned_up_there_is_no_more_than_mlir_has() -> None:
    """Allocations and copies after MLIR's own clean-up: on no program more than MLIR's."""
    assert not above_mlir("bottom-up")


@needs_mlir
@pytest.mark.slow
@pytest.mark.parametrize("heuristic", HEURISTICS[1:])
def test_cleaned_up_there_is_no_more_under_other_heuristics(heuristic: str) -> None:
    assert not above_mlir(heuristic)


@pytest.mark.slow
@needs_mlir
def test_by_default_there_is_much_less() -> None:
    """At least 15 % fewer than MLIR bottom-up in total."""
    mine, theirs = counts("bottom-up", "--compat=tracebuf", f"{BUFFERIZE} allow-unknown-ops")
    assert sum(mine.values()) <= 0.85 * sum(theirs.values())


def above_mlir(heuristic: str) -> list[tuple[str, int, int]]:
    flags = f"{BUFFERIZE} allow-unknown-ops analysis-heuristic={heuristic}"
    mine, theirs = counts(heuristic, flags)
    return [(name, n, theirs[name]) for name, n in mine.items() if n > theirs[name]]


def counts(way: str, *flags: str) -> tuple[dict[str, int], dict[str, int]]:
    """Ours and MLIR's allocations and copies of each program of the corpus that MLIR bufferizes."""
    theirs = {n: e["counts"][way] for n, e in expected().items() if "error" not in e["counts"][way]}
    texts = {name: run(text, *flags, GENERIC) for name, text in corpus().items() if name in theirs}
    cleaned = dict(zip(texts, run_mlir(list(texts.values()), *CLEAN), strict=True))
    assert not [name for name, text in cleaned.items() if text is None], "not valid"
    mine = {name: sum(counted(text or "").values()) for name, text in cleaned.items()}
    return mine, {name: sum(theirs[name].values()) for name in mine}


@pytest.mark.slow
@needs_mlir
@pytest.mark.parametrize("name", one_in(4, ["eliminate-empty-tensors", "drop-equivalent-buffer-results"]))
def test_passes_do_what_mlirs_do(name: str) -> None:
    """The same text on the whole corpus (behaviours 47 and 48). Of two uses of one empty tensor on the way MLIR takes
    that at the lower address."""
    texts = {name: text for name, text in corpus().items() if name != "empty_through_an_if"}
    before = (f"{BUFFERIZE} allow-unknown-ops",) if name.startswith("drop") else ()
    given = dict(zip(texts, run_mlir(list(texts.values()), *before, GENERIC), strict=True))
    given = {name: text for name, text in given.items() if text is not None}
    mine = [run(text, f"-{name}", GENERIC) for text in given.values()]
    theirs = run_mlir(list(given.values()), f"-{name}")
    different = [n for n, a, b in zip(given, run_mlir(mine), theirs, strict=True) if a != b]
    assert not different


@needs_mlir
@pytest.mark.slow
@pytest.mark.parametrize("compat", ["mlir", "tracebuf"])
@pytest.mark.parametrize(
    "flags",
    [
        ("-canonicalize", "-cse"),
        ("-empty-tensor-to-alloc-tensor", "-canonicalize"),
        ("-eliminate-empty-tensors", "-cse", f"{BUFFERIZE} allow-unknown-ops", "-canonicalize", "-cse"),
    ],
)
def test_passes_leave_valid_programs(flags: tuple[str, ...], compat: str) -> None:
    texts = corpus()
    after = run_mlir([run(text, f"--compat={compat}", *flags, GENERIC) for text in texts.values()])
    assert not [name for name, text in zip(texts, after, strict=True) if text is None]


@needs_mlir
@pytest.mark.slow
def test_cse_merges_empty_tensors_as_mlir_does() -> None:
    """Behaviour 49; ours keeps them apart, for identity is not value."""
    text = """
    func.func @f(%x: f64) -> (tensor<4xf64>, tensor<4xf64>) {
      %a = tensor.empty() : tensor<4xf64>
      %b = tensor.empty() : tensor<4xf64>
      return %a, %b : tensor<4xf64>, tensor<4xf64>
    }"""
    assert run(text, "-cse").count("tensor.empty") == 1
    assert run(text, "-cse", "--compat=tracebuf").count("tensor.empty") == 2


# -- options
@needs_mlir
@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        f"{BOUNDARIES} copy-before-write allow-unknown-ops",
        "allow-return-allocs-from-loops allow-unknown-ops dialect-filter=tensor,bufferization,scf,func,cf",
        f"{BOUNDARIES} function-boundary-type-conversion=identity-layout-map allow-unknown-ops",
        f"{BOUNDARIES} function-boundary-type-conversion=fully-dynamic-layout-map allow-unknown-ops",
        f"{BOUNDARIES} unknown-type-conversion=identity-layout-map allow-unknown-ops",
        f"{BOUNDARIES} no-analysis-func-filter=f allow-unknown-ops",
        f"{BOUNDARIES} check-parallel-regions=false allow-unknown-ops",
        "allow-return-allocs-from-loops allow-unknown-ops",
    ],
)
def test_options_give_valid_programs(options: str) -> None:
    flag, texts = f"-one-shot-bufferize={options}", corpus()
    theirs = dict(zip(texts, run_mlir(list(texts.values()), flag), strict=True))
    refused = {name for name, text in theirs.items() if text is None and "no-analysis" not in options}
    texts = {name: text for name, text in texts.items() if name not in refused}
    after = run_mlir([run(text, flag, GENERIC) for text in texts.values()])
    assert not [name for name, text in zip(texts, after, strict=True) if text is None]


@pytest.mark.slow
@needs_mlir
def test_layouts_at_the_boundary_are_what_is_asked_for() -> None:
    """Results that lie densely under a type that does not say so need no copy for a plain layout."""
    text = """
    func.func @f(%x: tensor<8xf64>, %n: index) -> tensor<8xf64> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %v = arith.constant 1.0 : f64
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<8xf64> {
        %b = tensor.insert %v into %a[%i] : tensor<8xf64>
        scf.yield %b : tensor<8xf64>
      }
      return %r : tensor<8xf64>
    }"""

    def signature(layout: str) -> str:
        found = mlir_opt(run(text, f"{BUFFERIZE} function-boundary-type-conversion={layout}"), *CLEAN)
        assert "memref.copy" not in found
        return next(line.strip() for line in found.splitlines() if "func.func" in line)

    any_layout = "memref<8xf64, strided<[?], offset: ?>>"
    assert signature("identity-layout-map") == "func.func @f(%arg0: memref<8xf64>, %arg1: index) -> memref<8xf64> {"
    for layout in ("infer-layout-map", "fully-dynamic-layout-map"):
        assert signature(layout) == f"func.func @f(%arg0: {any_layout}, %arg1: index) -> {any_layout} {{"


def test_allocations_are_aligned() -> None:
    text = run(SLICE, BUFFERIZE)
    assert "alignment = 64 : i64" in text
    assert "alignment" not in run(SLICE, f"{BUFFERIZE} buffer-alignment=0")


# -- random programs
@needs_mlir
@pytest.mark.slow
def test_random_programs_are_rewritten_to_valid_ones() -> None:
    """What MLIR accepts is accepted, under MLIR's decisions; what comes out of either mode is valid, and empty tensors
    go where they go in MLIR."""
    rng = random.Random(7)
    given = [t for t in run_mlir([program(rng, 14) for _ in range(120)], "-canonicalize", "-cse", GENERIC) if t]
    flag = f"{BUFFERIZE} allow-unknown-ops"
    accepted = [t for t, done in zip(given, run_mlir(given, flag), strict=True) if done is not None]
    assert len(accepted) > 80
    for flags in ((flag,), (flag, "-canonicalize", "-cse"), ("-eliminate-empty-tensors", flag)):
        made = [run(text, *flags, GENERIC) for text in accepted]
        assert None not in run_mlir(made), flags


@needs_mlir
@pytest.mark.slow
def test_by_default_random_programs_are_valid_or_refused() -> None:
    rng = random.Random(8)
    given = [t for t in run_mlir([program(rng, 14) for _ in range(120)], "-canonicalize", "-cse", GENERIC) if t]
    made = []
    for text in given:
        with suppress(TracebufError):
            made.append(run(text, "--compat=tracebuf", f"{BUFFERIZE} allow-unknown-ops", GENERIC))
    assert len(made) > 80 and None not in run_mlir(made)


NUMBER_BACK = """
func.func private @callee(%a: tensor<5xf32>, %f: f32, %i: index) -> (tensor<5xf32>, f32) {
  %r = tensor.insert %f into %a[%i] : tensor<5xf32>
  return %r, %f : tensor<5xf32>, f32
}
func.func @caller(%a: tensor<5xf32>, %f: f32, %i: index) -> (tensor<5xf32>, f32) {
  %x, %y = call @callee(%a, %f, %i) : (tensor<5xf32>, f32, index) -> (tensor<5xf32>, f32)
  return %x, %y : tensor<5xf32>, f32
}
"""


@needs_mlir
@pytest.mark.slow
def test_a_number_that_is_an_argument_is_dropped_as_mlir_does() -> None:
    flags = "-one-shot-bufferize=bufferize-function-boundaries", "-drop-equivalent-buffer-results"
    ours, theirs = run(mlir_opt(NUMBER_BACK, GENERIC), *flags, GENERIC), mlir_opt(NUMBER_BACK, *flags, GENERIC)
    assert [line.count("f32") for line in ours.splitlines() if "func.func" in line or "func.return" in line] == [
        line.count("f32") for line in theirs.splitlines() if "func.func" in line or "func.return" in line
    ]
