"""The house: who may import whom, what the package holds, what importing it loads, and that it can be shipped.

The import direction is data (`BELOW`, `ALSO`, `FREE`), held by walking the syntax tree of every module: imports inside
functions and under TYPE_CHECKING count as well, because a layer that needs another's types needs the other layer.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGE_DIRS = PYPROJECT["tool"]["setuptools"]["package-dir"]

# Each layer may import itself and every layer before it.
CHAIN = ("location", "errors", "options", "ir", "ops", "analysis", "bufferize", "deallocate", "optimize", "lower")
BELOW = {layer: frozenset(CHAIN[: i + 1]) for i, layer in enumerate(CHAIN)}
# Beside the chain: these layers may import what is named here, and nobody but FREE may import them.
ALSO = {
    "interpret": frozenset({"location", "errors", "options", "ir", "ops", "interpret"}),
    "explain": frozenset({"location", "errors", "options", "ir", "ops", "analysis", "explain"}),
    "frontends": frozenset({"location", "errors", "options", "ir", "ops", "frontends"}),
    "backend": frozenset({"location", "errors", "options", "ir", "ops", "lower", "backend"}),
}
# On top: these put the others together and may import anything, but stages and pipeline come before api.
FREE = frozenset(
    {"", "__main__", "api", "extend", "stages", "pipeline", "measure", "mlir", "opt", "passes", "support", "testing"}
)
NOT_FROM = {"stages": frozenset({"", "api"}), "pipeline": frozenset({"", "api"})}


def modules() -> dict[str, Path]:
    """Every module of the library by its dotted name, found in the real directories (not through the links)."""
    found = {}
    for package, folder in PACKAGE_DIRS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            inside = path.relative_to(ROOT / folder).with_suffix("").parts
            parts = inside[:-1] if inside[-1] == "__init__" else inside
            found[".".join((package, *parts))] = path
    return found


MODULES = modules()


def is_package(name: str) -> bool:
    return MODULES[name].name == "__init__.py"


def imported(name: str, tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, module) for each import in a module, relative ones and `import_module("...")` resolved."""
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                yield from ((node.lineno, alias.name) for alias in node.names)
            case ast.ImportFrom():
                base = node.module or ""
                if node.level:
                    parts = name.split(".")
                    keep = len(parts) - node.level + is_package(name)
                    base = ".".join([*parts[:keep], *([base] if base else [])])
                for alias in node.names:
                    inner = f"{base}.{alias.name}"
                    yield node.lineno, inner if inner in MODULES else base
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(target)), *_],
            ):
                yield node.lineno, target


def layer_of(module: str) -> str:
    """`tracebuf.ir.core` -> `ir`; `tracebuf` itself -> ``."""
    return module.split(".")[1] if "." in module else ""


def forbidden(importer: str, target: str) -> bool:
    if importer in FREE:
        return target in NOT_FROM.get(importer, frozenset())
    return target not in (BELOW.get(importer) or ALSO[importer])


def violations(name: str, source: str) -> list[str]:
    layer = layer_of(name)
    return [
        f"{name}:{line} imports {target}"
        for line, target in imported(name, ast.parse(source))
        if target.split(".")[0] == "tracebuf" and forbidden(layer, layer_of(target))
    ]


def test_every_module_belongs_to_a_layer() -> None:
    known = FREE | BELOW.keys() | ALSO.keys()
    stray = [name for name in MODULES if layer_of(name) not in known]
    assert not stray, f"give these a place in the order of imports (tests/test_house.py): {stray}"


def test_imports_run_one_way() -> None:
    bad = [line for name, path in MODULES.items() for line in violations(name, path.read_text())]
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("tracebuf.errors", "from tracebuf import api"),
        ("tracebuf.errors", "import tracebuf.ir"),
        ("tracebuf.frontends", "from .. import backend"),
        ("tracebuf.frontends", "def f():\n    from tracebuf.analysis import oneshot"),
        ("tracebuf.backend", "from ..frontends import numpy"),
        ("tracebuf.backend", "import importlib\nimportlib.import_module('tracebuf.analysis')"),
        ("tracebuf.errors", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .ir import Value"),
    ],
)
def test_the_walk_sees_every_kind_of_import(name: str, source: str) -> None:
    assert violations(name, source)


def test_package_list_is_complete() -> None:
    there = {name if is_package(name) else name.rpartition(".")[0] for name in MODULES}
    listed = PYPROJECT["tool"]["setuptools"]["packages"]
    assert sorted(listed) == sorted(there)
    assert all(package in MODULES and is_package(package) for package in listed), "a package lacks its __init__.py"


def test_links_lead_to_the_top_level_packages() -> None:
    for name in ("frontends", "backend"):
        assert (ROOT / "tracebuf" / name / "__init__.py").is_file()
        run = python("-c", f"import {name}", cwd=ROOT)
        assert run.returncode and f"import tracebuf.{name}, not {name}" in run.stderr


def python(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    return subprocess.run([sys.executable, *args], cwd=cwd, env=env, capture_output=True, text=True)


def succeed(*args: str, cwd: Path) -> str:
    run = python(*args, cwd=cwd)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_import_loads_neither_numba_nor_scipy() -> None:
    code = "import sys, tracebuf; print(sorted({'numba', 'scipy'} & {m.partition('.')[0] for m in sys.modules}))"
    assert succeed("-c", code, cwd=ROOT).strip() == "[]"


def test_the_decorator_is_not_hidden_by_the_package_of_its_name() -> None:
    """Loading a submodule binds its name in the parent, so the package must load before the decorator is bound."""
    code = "import tracebuf, tracebuf.bufferize, tracebuf.api; assert tracebuf.bufferize is tracebuf.api.bufferize"
    succeed("-c", code, cwd=ROOT)


IMPORT_ALL = """
import importlib, sys
target, *names = sys.argv[1:]
sys.path.insert(0, target)
for name in names:
    module = importlib.import_module(name)
    assert module.__file__.startswith(target), (name, module.__file__)
"""


def copy_of_the_tree(where: Path) -> Path:
    """A copy to build in, so that no build directory or egg-info is left in the checkout."""
    ignore = shutil.ignore_patterns(".*", "build", "dist", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, where, symlinks=True, ignore=ignore)
    return where


def build_wheel(source: Path, out: Path) -> Path:
    options = ("--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", str(out))
    succeed("-m", "pip", "wheel", *options, str(source), cwd=out.parent)
    (wheel,) = out.glob("*.whl")
    return wheel


def python_files(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if name.endswith(".py")}


@pytest.mark.slow
def test_wheel_and_sdist_hold_the_tree_and_the_wheel_imports(tmp_path: Path) -> None:
    expected = {name.replace(".", "/") + ("/__init__.py" if is_package(name) else ".py") for name in MODULES}
    tree = copy_of_the_tree(tmp_path / "tree")
    code = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    succeed("-c", code, str(tmp_path), cwd=tree)
    (sdist,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    paths = {str(path.relative_to(ROOT)) for path in MODULES.values()}
    assert not (expected | paths | {"tests/test_house.py", "Makefile", "LICENSE"}) - names

    wheel = build_wheel(tree, tmp_path / "from-tree")
    assert python_files(wheel) == expected
    assert python_files(build_wheel(sdist, tmp_path / "from-sdist")) == expected

    target = tmp_path / "target"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target)
    assert (target / "tracebuf" / "py.typed").is_file()
    assert list(target.glob("*.dist-info/licenses/LICENSE"))
    names = [name for name in MODULES if not name.endswith(".__main__")]
    succeed("-c", IMPORT_ALL, str(target), *names, cwd=tmp_path)
