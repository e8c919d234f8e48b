"""docs/architecture.md and docs/ir.md are what the code does: their blocks are written anew, their names looked up."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import tracebuf.ops.dialects  # noqa: F401 (which fills the registry)
from tracebuf.ir.core import Op
from tracebuf.ir.verifier import LEGAL

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SOURCES = [p for room in ("tracebuf", "frontends", "backend") for p in (ROOT / room).rglob("*.py")]


def load() -> ModuleType:
    """docs/generate.py as a module (docs is no package)."""
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_blocks_are_real_output() -> None:
    for path, text in load().pages():
        assert path.read_text() == text, f"docs/{path.name} is old: run python docs/generate.py --write"


@pytest.mark.slow
def test_the_command_says_what_is_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generate = load()
    for name in ("architecture.md", "ir.md"):
        (tmp_path / name).write_text((DOCS / name).read_text().replace("tensor.empty", "tensor.vacant"))
    (tmp_path / "ir.md").write_text("<!-- real: ops -->\nold\n")
    monkeypatch.setattr(generate, "DOCS", tmp_path)
    assert generate.main([]) == 1
    assert generate.main(["--write"]) == 0 == generate.main([])
    assert "| `arith` |" in (tmp_path / "ir.md").read_text()


@pytest.mark.parametrize("page", sorted(p.name for p in DOCS.glob("*.md")))
def test_each_path_on_a_page_exists(page: str) -> None:
    text = (DOCS / page).read_text()
    paths = re.findall(r"`((?:tracebuf|frontends|backend|tests|docs|examples|benchmarks)/[\w./]+)`", text)
    paths += [f"docs/{link}" for link in re.findall(r"\]\(([-\w.]+\.md)\)", text)]
    assert paths or page != "architecture.md"
    assert not [p for p in paths if not (ROOT / p).exists()]


def test_each_link_of_the_readme_leads_somewhere_and_each_page_is_linked() -> None:
    links = set(re.findall(r"\]\(([-\w./]+\.md)\)", (ROOT / "README.md").read_text()))
    assert not [link for link in links if not (ROOT / link).exists()]
    assert {f"docs/{p.name}" for p in DOCS.glob("*.md")} <= links


def test_each_exception_of_the_table_is_a_class() -> None:
    table = (DOCS / "architecture.md").read_text().partition("| exception |")[2].partition("\n\n")[0]
    names = re.findall(r"^\| `(\w+)` \|", table, re.M)
    code = "\n".join(p.read_text() for p in SOURCES)
    assert len(names) >= 6
    assert not [n for n in names if not re.search(rf"^class {n}\(", code, re.M)]
    callers = [n.rpartition(".")[2] for n in re.findall(r"`([\w.]+)`[:,]", table)]
    assert callers and not [n for n in callers if f"def {n}(" not in code]


def test_the_list_of_ops_is_the_registry() -> None:
    """Each op once, with the levels that the verifier and the op itself allow it at; and no other."""
    listed: dict[str, set[str]] = {}
    levels = {"both levels": {"tensor", "memref"}, "MLIR text only": set[str]()}
    for dialect, level, names in re.findall(r"^\| `(\w+)` \| ([\w ]+) \| (.*) \|$", (DOCS / "ir.md").read_text(), re.M):
        for name in re.findall(r"`([\w.]+)`", names):
            assert f"{dialect}.{name}" not in listed
            listed[f"{dialect}.{name}"] = levels.get(level, {level})
    ours = {name: op for name, op in Op.registry.items() if op.__module__.startswith("tracebuf.")}
    assert listed.keys() == ours.keys()
    for name, op in ours.items():
        for level, legal in LEGAL.items():
            stands = name in legal or f"{name.split('.')[0]}." in legal or level in op.levels
            assert stands == (level in listed[name]), name


def test_the_grammar_names_ops_of_the_registry() -> None:
    grammar = (DOCS / "ir.md").read_text().partition("```ebnf\n")[2].partition("```")[0]
    named = re.findall(r"\b((?:arith|tensor|memref|scf|linalg|bufferization|tracebuf)\.\w+)", grammar)
    assert len(set(named)) > 20 and set(named) <= Op.registry.keys()
    for level in ("tensor", "memref"):
        rules = grammar.partition(f"{level}_op = ")[2].partition("\n\n")[0]
        dialects = {name.partition(".")[0] for name in named if name in rules}
        assert level in dialects and not {"tensor", "memref"} - {level} & dialects
