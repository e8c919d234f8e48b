"""Asks `mlir-opt-22` for its decisions: on programs as MLIR text (hundreds in one run), or on functions of ours."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pytest

from tracebuf.analysis.modules.module import ModuleAnalysis, analyze_module
from tracebuf.analysis.one_shot.base import AnalysisError
from tracebuf.analysis.one_shot.derived import Analysis
from tracebuf.analysis.one_shot.order import post_order
from tracebuf.errors import UnsupportedError
from tracebuf.frontends.mlir import read
from tracebuf.ir.func import Func
from tracebuf.ir.printer import print_module
from tracebuf.options import OneShotOptions

MLIR_OPT = shutil.which("mlir-opt-22")
needs_mlir = pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt-22 is not installed (Debian: mlir-22-tools)")
UNREGISTERED = "-allow-unregistered-dialect"
MARKER = "// -----"
SECONDS = 2
"""How much processor time one run of the binary may take, and a second more for ten modules: ten times what it does."""
BOUNDARIES = "bufferize-function-boundaries allow-return-allocs-from-loops"
REFUSED = "refused:"
HEURISTICS = ("bottom-up", "top-down", "bottom-up-from-terminators")


# -- programs as text ---------------------------------------------------------------------------------------------
@dataclass
class Answer:
    """What was decided about one function. Ops stand in the order of the text, an op before those inside it."""

    ops: list[tuple[str, list[str]]] = field(default_factory=list)
    """Each op with tensors, with "true" or "false" for each of them."""
    access: list[str | None] = field(default_factory=list)
    """"none", "read", "write" or "read-write" for each argument; None where nothing is said."""
    equivalent: list[list[int]] = field(default_factory=list)
    """For each return the number of the argument that each result is equivalent to, or -1."""

    def as_json(self) -> dict[str, Any]:
        return {k: _lists(v) for k, v in asdict(self).items() if v}


def _lists(value: Any) -> Any:
    return [_lists(v) for v in value] if isinstance(value, (list, tuple)) else value


Answers = dict[str, Answer]
"""The functions of a module, by name, in its order."""

_OP = re.compile(r'^\s*(?:%[^"]*= )?"(?P<name>[\w.$-]+)"\(')
_IN_PLACE = re.compile(r"__inplace_operands_attr__ = \[([^\]]*)\]")
_EQUIVALENT = re.compile(r"__equivalent_func_args__ = \[([^\]]*)\]")
_ARGUMENTS = re.compile(r"arg_attrs = \[(.*?)\], function_type")
_ACCESS = re.compile(r'bufferization\.access = "([\w-]+)"')


def answers(text: str) -> Answers:
    """Reads the attributes that test-analysis-only leaves, from a module printed in generic form."""
    found: Answers = {}
    opened: list[list[str]] = []
    current = Answer()
    for line in text.splitlines():
        if match := _OP.match(line):
            name, words = match["name"], list[str]()
            if name == "func.func":
                current = found[_symbol(line)] = Answer(access=_access(line))
            elif name != "builtin.module":
                current.ops.append((name, words))
            if line.endswith("({"):
                opened.append(words)
                continue
        elif line.lstrip().startswith("})") and opened:
            words = opened.pop()
        else:
            continue
        _take(current, words, line)
    for answer in found.values():
        decided = [(name, [w for w in words if w != "none"]) for name, words in answer.ops]
        answer.ops = [(name, words) for name, words in decided if words]
    return found


def _take(current: Answer, words: list[str], line: str) -> None:
    """Reads the attributes of one op, which stand behind its regions."""
    if match := _IN_PLACE.search(line):
        words += _words(match[1])
    if match := _EQUIVALENT.search(line):
        current.equivalent.append([int(i) for i in _words(match[1])])


def _symbol(line: str) -> str:
    match = re.search(r'sym_name = "([^"]+)"', line)
    assert match is not None, line
    return match[1]


def _access(line: str) -> list[str | None]:
    if (match := _ARGUMENTS.search(line)) is None:
        return []
    each = [_ACCESS.search(attrs) for attrs in re.findall(r"\{[^{}]*\}", match[1])]
    return [m[1] if m else None for m in each] if any(each) else []


def _words(text: str) -> list[str]:
    return [w.strip().strip('"') for w in text.split(",") if w.strip()]


def analysis_option(heuristic: str = "bottom-up", *, extra: str = "") -> str:
    """The flag that asks for decisions only. "fuzzer-7" is the fuzzer with seed 7."""
    name, seed = _seeded(heuristic)
    options = f"test-analysis-only {BOUNDARIES} analysis-heuristic={name} analysis-fuzzer-seed={seed}"
    return f"-one-shot-bufferize={options} {extra}".rstrip()


def _seeded(heuristic: str) -> tuple[str, int]:
    _, _, seed = heuristic.partition("fuzzer-")
    return ("fuzzer", int(seed)) if seed else (heuristic, 0)


def binary(text: str, *flags: str, seconds: int = SECONDS, tries: int = 4) -> subprocess.CompletedProcess[str]:
    """Runs the binary on a text, which is said not to take seconds over a crash: a small stack, no look at its symbols.

    MLIR 22 crashes or loops without end now and then, on texts that it takes at another time: it is asked again.
    """
    assert MLIR_OPT is not None
    env = {**os.environ, "LLVM_DISABLE_SYMBOLIZATION": "1"}
    limited = ["sh", "-c", f'ulimit -s 1024; ulimit -t {seconds}; exec "$@"', "sh", MLIR_OPT, "-", *flags]
    for _ in range(tries):
        done = subprocess.run(limited, input=text, capture_output=True, text=True, env=env)
        if done.returncode not in (-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGSEGV):
            break
    return done


def run_mlir(texts: Sequence[str], *flags: str) -> list[str | None]:
    """Each module after the passes, fifty in a run of the binary; None for one that it refuses or crashes on."""
    found: list[str | None] = []
    for i in range(0, len(texts), 50):
        found += _run_some(texts[i : i + 50], flags)
    return found


def _run_some(texts: Sequence[str], flags: tuple[str, ...]) -> list[str | None]:
    text = f"\n{MARKER}\n".join(texts)
    done = binary(text, UNREGISTERED, "-split-input-file", *flags, seconds=SECONDS + len(texts) // 10, tries=1)
    if done.returncode not in (0, 1):  # a crash: find the module
        half = len(texts) // 2
        return [*_run_some(texts[:half], flags), *_run_some(texts[half:], flags)] if half else [None]
    parts = done.stdout.split(f"{MARKER}\n")
    assert len(parts) == len(texts), done.stderr[-2000:]
    return [part if part.strip() else None for part in parts]


def may_crash(text: str, *flags: str) -> bool:
    """Whether the binary may crash or not end, at one time and not at another: of calls in copy-before-write, MLIR
    22.1.8 reads what it has not written."""
    return any("copy-before-write" in flag for flag in flags) and re.search(r"\bcall @|func\.call", text) is not None


def mlir_opt(text: str, *flags: str) -> str:
    """What the binary makes of a module; fails where it does not parse or verify."""
    done = binary(text, *flags)
    assert done.returncode == 0, f"{done.stderr[-2000:]}\n{text}"
    return done.stdout


def refusal(text: str, *flags: str) -> str:
    """What the binary says about a module that it refuses, without the place."""
    done = binary(text, UNREGISTERED, *flags)
    assert done.returncode != 0, "accepted"
    return next((line.partition("error: ")[2] for line in done.stderr.splitlines() if "error: " in line), "crash")


def generic(texts: Sequence[str]) -> list[str | None]:
    """The modules in generic form, without locations."""
    return run_mlir(texts, "-mlir-print-op-generic")


def ask(texts: Sequence[str], heuristic: str = "bottom-up", *, extra: str = "") -> list[Answers | None]:
    """MLIR's decisions on each module; None where its analysis refuses."""
    option = analysis_option(heuristic, extra=extra)
    return [answers(t) if t is not None else None for t in run_mlir(texts, "-mlir-print-op-generic", option)]


# -- ours -------------------------------------------------------------------------------------------------------------
def ours(text: str, heuristic: str = "bottom-up", **options: Any) -> Answers | str:
    """Our decisions on a module in generic form under compat="mlir"; where we refuse it, the error."""
    name, seed = _seeded(heuristic)
    boundaries = {"bufferize_function_boundaries": True, "allow_return_allocs_from_loops": True}
    asked = OneShotOptions(analysis_heuristic=name, analysis_fuzzer_seed=seed, **{**boundaries, **options})
    try:
        module = read(text)
        analysis = analyze_module(module, asked)
    except Exception as error:
        return f"{REFUSED if isinstance(error, (AnalysisError, UnsupportedError)) else type(error).__name__} {error}"
    return {f.name: _our_answer(f, analysis) for f in module.funcs}


def _our_answer(func: Func, found: ModuleAnalysis) -> Answer:
    access = found.access.get(func.name, [])
    answer = Answer(access=access if any(access) else [])
    for op in func.walk() if func.name in found.funcs else ():
        if words := [str(found.funcs[func.name].is_in_place(u)).lower() for u in op.tensor_uses()]:
            answer.ops.append((op.name, words))
        if max(same := found.equivalent.get(op, []), default=-1) >= 0:
            answer.equivalent.append(same)
    return answer


# -- functions of ours ---------------------------------------------------------------------------------------------
_FUNC = re.compile(r"\bfunc\.func (?:private |public )?@([\w.$-]+)")
Decisions = list[list[str]]
"""For each op with tensors, inner ops before outer ones: "true", "false" or "none" for each operand."""


def mlir_decisions(funcs: Sequence[Func], heuristic: str = "bottom-up") -> dict[str, Decisions]:
    """By function name; the functions must not be more than MLIR knows (no materialize of a loop's result)."""
    (text,) = run_mlir([print_module(funcs)], analysis_option(heuristic))
    assert text is not None
    found: dict[str, Decisions] = {}
    for line in text.splitlines():
        if match := _FUNC.search(line):
            found[match[1]] = []
        for attr in _IN_PLACE.findall(line):
            words = _words(attr)
            if words != ["none"] * len(words):
                found[list(found)[-1]].append(words)
    return found


def our_decisions(func: Func, analysis: Analysis) -> Decisions:
    """The same of an analysis. tensor.dim has its dimension as an attribute here and as an operand there."""
    found = []
    for op in post_order(func):
        words = ["none" if not u.value.is_tensor else str(analysis.is_in_place(u)).lower() for u in op.uses]
        if words != ["none"] * len(words):
            found.append([*words, "none"] if op.name == "tensor.dim" and len(op.uses) == 1 else words)
    return found
