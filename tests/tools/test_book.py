"""The book of rules, docs/semantics.md and docs/mlir-behaviours.md: what code, tests and documents cite is there, each
rule names tests that exist, and its example does what it says.

Citations are looked for in comments, docstrings and documents: labels of rules ("rule S8", "rules N1-N3, F3", also
"(C1)" alone; not in backticks), numbers of MLIR's behaviours ("MLIR behaviour 29a", "behaviours 51 to 59"), names of
tests (`test_...`), and the labels that begin names of tests and of their programs (`test_s9_...`, `s8_...`).
"""

from __future__ import annotations

import ast
import doctest
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import tracebuf
from tests.mlir.oracle import MARKER, binary, needs_mlir
from tests.support.params import one_in
from tests.support.syntax import statements, tree_of
from tracebuf import opt

ROOT = next(p for p in Path(__file__).resolve().parents if (p / "pyproject.toml").is_file())
TESTS = ROOT / "tests"
CODE = ("tracebuf", "frontends", "backend", "tests")
DTYPES = {"F16", "F32", "F64", "C64", "C128"}
LABEL = r"[CSFNZBX]\d{1,2}[a-z]?"
LABELS = re.compile(rf"(?<![\w.]){LABEL}(?!\w)")
RULES = re.compile(rf"\b[Rr]ules? ((?:{LABEL}(?:, | and |-)?)+)")
RANGE = re.compile(r"(?<!\w)([CSFNZBX])(\d+)(?:-| to )\1(\d+)(?!\w)")
PREFIXES = re.compile(r"\bdef (?:test_)?((?:[csfnzbx]\d{1,2}[a-z]?_)+)")
NUMBER = r"\d+[a-c]?"
BEHAVIOURS = re.compile(rf"\b[Bb]ehaviours? ({NUMBER}(?:(?:,? (?:and|or|to) |, |-){NUMBER})*)")
BARE = re.compile(r"(?<!\w)\((?:\d\d[a-c]?|\d[a-c])\)|\b[Rr]ules? \d+")
NAMES = re.compile(r"(?<![\w/-])(test_\w+)(\.py\b|\*)?")
IN_COMMENT = re.compile(rf"#.*(?:{LABEL}|ehaviour|test_|\(\d|ules? \d)")
SPAN = re.compile(r"`[^`]{1,80}`")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


# -- the book
@cache
def sections(page: str) -> dict[str, str]:
    """The text under each heading of the third level: a label or a number."""
    text = (ROOT / "docs" / page).read_text()
    return dict(re.findall(r"^### (\S+)\n(.*?)(?=^#+ |\Z)", text, re.MULTILINE | re.DOTALL))


def examples(page: str, language: str) -> list[tuple[str, str]]:
    """(label, code) of each block of code."""
    found = ((label, *block) for label, text in sections(page).items() for block in FENCE.findall(text))
    return [(label, code) for label, kind, code in found if kind == language]


def named_tests(section: str) -> list[str]:
    """The names behind "Tests:"."""
    return re.findall(r"`(test_\w+)`", section.partition("Tests:")[2])


RULE = sections("semantics.md")
BEHAVIOUR = sections("mlir-behaviours.md")


# -- what is cited
def prose(text: str, tree: ast.Module) -> Iterator[str]:
    """Comments, lines that follow one another as one, and strings that stand by themselves, spaces made single."""
    for node in statements(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield " ".join(node.value.value.split())
    if not IN_COMMENT.search(text):
        return
    lines: list[str] = []
    before = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != before + 1:
                yield " ".join(lines)
                lines = []
            before = token.start[0]
            lines.append(token.string.lstrip("# "))
    yield " ".join(lines)


def cited_rules(text: str) -> set[str]:
    """Labels in prose, ranges of them filled in."""
    plain = SPAN.sub("``", text)
    found = {*LABELS.findall(plain), *(x for m in RULES.findall(text) for x in re.findall(LABEL, m))}
    for letter, first, last in RANGE.findall(plain):
        found |= {f"{letter}{n}" for n in range(int(first), int(last) + 1)}
    return found - DTYPES


def cited_behaviours(text: str) -> set[str]:
    found = set()
    for numbers in BEHAVIOURS.findall(text):
        found |= set(re.findall(NUMBER, numbers))
        for first, last in re.findall(r"(\d+)(?: to |-)(\d+)", numbers):
            found |= {str(n) for n in range(int(first), int(last) + 1)}
    return found


def rules_in_names(code: str) -> set[str]:
    """Of `def test_n1_f3_shifts`: N1 and F3."""
    labels = {x[0].upper() + x[1:] for names in PREFIXES.findall(code) for x in names.strip("_").split("_")}
    return labels - DTYPES


@cache
def functions_of_tests() -> set[str]:
    return {name for path in TESTS.rglob("*.py") for name in re.findall(r"\bdef (test_\w+)", path.read_text())}


@cache
def files_of_tests() -> set[str]:
    return {name for path in TESTS.rglob("test_*.py") for name in (path.name, path.stem)}


def cited_tests(text: str) -> set[str]:
    """Names of tests, and of files of tests with their suffix."""
    return {name + (end if end == ".py" else "") for name, end in NAMES.findall(text) if end != "*"}


def unknown(text: str) -> list[str]:
    """What a text cites that does not exist."""
    return [
        *(f"rule {x}" for x in cited_rules(text) - RULE.keys()),
        *(f"MLIR behaviour {x}" for x in cited_behaviours(text) - BEHAVIOUR.keys()),
        *(f"test {x}" for x in cited_tests(text) - functions_of_tests() - files_of_tests()),
    ]


def bare_numbers(text: str) -> list[str]:
    return [f"a number that says not of what: {x}" for x in BARE.findall(text)]


def modules() -> list[Path]:
    """Every file of Python, once, wherever it is."""
    found = (path for folder in CODE for path in (ROOT / folder).rglob("*.py"))
    return sorted({path.resolve() for path in found})


def documents() -> list[Path]:
    return [*sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("*.md"))]


@pytest.mark.slow
def test_what_code_and_tests_cite_exists() -> None:
    wrong = []
    for path in modules():
        if path == Path(__file__).resolve():
            continue
        text = path.read_text()
        names = rules_in_names(text) if TESTS in path.parents else set()
        said = [f"rule {x}, in a name" for x in names - RULE.keys()]
        if re.search(rf"\b{LABEL}\b|ehaviour|test_|\(\d|ules? \d", text):
            said += [x for part in prose(text, tree_of(path)) for x in (*unknown(part), *bare_numbers(part))]
        wrong += [f"{path.relative_to(ROOT)}: {x}" for x in said]
    assert not wrong, "\n".join(wrong)


def test_what_documents_cite_exists() -> None:
    wrong = []
    for path in documents():
        text = FENCE.sub("", path.read_text())
        wrong += [f"{path.name}: {x}" for part in text.split("\n\n") for x in unknown(" ".join(part.split()))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("(rule S12)", ["rule S12"]), ("(rules S8, S10, S13 and F2)", ["rule S13"]), ("Rule C5: no such", ["rule C5"]),
        ("as for passed ones (B4, B9).", ["rule B9"]), ("(rules S10-S12)", ["rule S12"]), ("C3 to C5", ["rule C5"]),
        ("rule Z1c", ["rule Z1c"]), ("N9: wraps", ["rule N9"]), ("(MLIR behaviour 62)", ["MLIR behaviour 62"]),
        ("behaviours 57 to 62", ["MLIR behaviour 62"]), ("(behaviours 36, 24a)", ["MLIR behaviour 24a"]),
        ("MLIR behaviours 1, 99 and 2", ["MLIR behaviour 99"]), ("Test: test_of_nothing.", ["test test_of_nothing"]),
        ("Tests: test_accumulate, test_of_none", ["test test_of_none"]),
        ("see tests/test_none.py", []), ("see test_none.py", ["test test_none.py"]),
        ("no conflict (29a)", ["a number that says not of what: (29a)"]),
        ("undefined (rule 22)", ["a number that says not of what: rule 22"]),
        ("F64 and `B7` are types, rules S8-S11, F3, Z1b and MLIR behaviour 29a exist, as test_accumulate does", []),
    ],
)  # fmt: skip
def test_a_wrong_citation_is_found(text: str, wrong: list[str]) -> None:
    assert [*unknown(text), *bare_numbers(text)] == wrong


def test_citations_are_found_in_comments_docstrings_and_names() -> None:
    code = 'def test_n1_s99_shifts():\n    """Text (rule\n    S97)."""\n    x = 1  # rule S98\n    y = "rule S96"\n'
    assert sorted(x for part in prose(code, ast.parse(code)) for x in unknown(part)) == ["rule S97", "rule S98"]
    assert rules_in_names(code) == {"N1", "S99"}


# -- what the book says
@pytest.mark.parametrize("page", ["semantics.md", "mlir-behaviours.md"])
def test_each_rule_names_tests(page: str) -> None:
    known = sections(page)
    assert len(known) >= 37
    assert not [label for label, text in known.items() if not named_tests(text)], "without a test"
    assert not [name for text in known.values() for name in named_tests(text) if name not in functions_of_tests()]


def test_each_rule_has_an_example() -> None:
    shown = {label for label, _ in examples("semantics.md", "python")}
    assert not RULE.keys() - shown


def test_programs_that_share_a_test_are_beside_it() -> None:
    """`test_paths` (`s8_*`): a file has that test and programs whose names begin so."""
    texts = [path.read_text() for path in TESTS.rglob("test_*.py")]
    wrong = []
    for text in RULE.values():
        for name, prefixes in re.findall(r"`(test_\w+)`\s\(([^)]*)\)", text):
            for prefix in re.findall(r"`(\w+_)\*`", prefixes):
                if not any(f"def {name}(" in t and f"def {prefix}" in t for t in texts):
                    wrong.append((name, prefix))
    assert not wrong


def test_citations_stand_on_one_line() -> None:
    """So that a search for "rule S8" or "MLIR behaviour 6" finds them all."""
    broken = r"\b(?:rules?|behaviours?)\n\s*(?:# )?[A-Z]?\d|\bMLIR\n\s*(?:# )?behaviours? \d"
    assert not [path for path in modules() if re.search(broken, path.read_text())]


def test_rules_and_behaviours_name_the_places_that_keep_them() -> None:
    """`trace_if` (frontends/numpy/paths/joins.py): the file defines it."""
    for label, text in [*RULE.items(), *BEHAVIOUR.items()]:
        where = " ".join(text.partition("Where:")[2].partition("Tests:")[0].split())
        places = re.findall(r"((?:`\w+`, )*`\w+`) \(([\w/]+\.py)\)", where)
        assert places and where.count("`") == sum(names.count("`") for names, _ in places), label
        for names, file in places:
            defined = set(re.findall(r"\b(?:def|class) (\w+)", (ROOT / file).read_text()))
            assert not set(re.findall(r"\w+", names)) - defined, label


class FirstLine(doctest.OutputChecker):
    """Of an exception what is said before the user's line, which follows as a note."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        said = got.partition("\nFile ")[0]
        return super().check_output(want, said.rstrip() + "\n" if said else "", optionflags)


@pytest.mark.parametrize(
    ("label", "code"), one_in(3, examples("semantics.md", "python"), rows=True), ids=lambda x: x if len(x) < 5 else ""
)
def test_the_example_of_a_rule(label: str, code: str) -> None:
    names = {"np": np, "bufferize": tracebuf.bufferize}
    test = doctest.DocTestParser().get_doctest(code, names, label, "semantics.md", 0)
    told: list[str] = []
    assert test.examples
    doctest.DocTestRunner(FirstLine(), verbose=False).run(test, out=told.append)
    assert not told, "".join(told)


BUFFERIZE = (
    "-empty-tensor-to-alloc-tensor",
    "-one-shot-bufferize=bufferize-function-boundaries allow-return-allocs-from-loops",
)


def mlir_opt(texts: Sequence[str], *flags: str) -> list[str]:
    """What the passes make of each text, in one run."""
    done = binary(f"\n{MARKER}\n".join(texts), "-split-input-file", *flags)
    assert done.returncode == 0, done.stderr
    return done.stdout.split(f"{MARKER}\n")


def allocations_and_copies(texts: Sequence[str]) -> list[str]:
    cleaned = mlir_opt(texts, "-canonicalize", "-cse", "-canonicalize")
    return [f"{text.count('memref.alloc(')}/{text.count('memref.copy ')}" for text in cleaned]


@needs_mlir
def test_the_examples_of_behaviours() -> None:
    """Allocations and copies, in MLIR, under compat and by default, as the first line of each tells."""
    found = examples("mlir-behaviours.md", "mlir")
    texts = mlir_opt([code for _, code in found], "-mlir-print-op-generic")
    assert len(texts) == len(found) > 10
    ways = [mlir_opt(texts, *BUFFERIZE)]
    for compat in ("mlir", "tracebuf"):
        asked = opt.parse(["-", f"--compat={compat}", *BUFFERIZE])
        ways.append([opt.run(asked, text, "<text>") for text in texts])
    for (number, code), *counts in zip(found, *map(allocations_and_copies, ways), strict=True):
        said = re.match(r"// (\d+/\d+) in MLIR 22 and under compat(?:; (\d+/\d+) by default)?\n", code)
        assert said is not None, number
        assert counts == [said[1], said[1], said[2] or said[1]], number
