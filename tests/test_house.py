"""The house: who may import whom, what a folder holds, what importing loads, and that it can be shipped.

One table (`ROOMS`) says which room may import which. Every import is counted, those inside functions and under
TYPE_CHECKING too, because a room that needs another's types needs the other room.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

import tracebuf
from tests.support import syntax
from tests.support.syntax import statements

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PACKAGE_DIRS = PYPROJECT["tool"]["setuptools"]["package-dir"]
MAX_FILES = 20
"""In a folder, beside `__init__.py`."""


@dataclass(frozen=True)
class Rooms:
    """The rooms of a folder. Each of `order` may import itself and those before it, and nobody else's that is not
    `beside` it; where one of `order` is several, they are strangers to one another. `beside` are rooms that nobody of
    `order` imports, with what they may import. `free` ones put the others together: they may import anything, but for
    `but`. The folder's own files are the room "", where they have a place in the order."""

    order: tuple[str | frozenset[str], ...]
    beside: Mapping[str, frozenset[str]] = field(default_factory=dict)
    free: frozenset[str] = frozenset()
    but: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def may_import(self, room: str) -> frozenset[str] | None:
        """What a room may import beside itself; None where that is anything, KeyError where it has no place."""
        if room in self.free:
            return None
        if room in self.beside:
            return self.beside[room]
        below: set[str] = set()
        for rooms in self.order:
            level = {rooms} if isinstance(rooms, str) else rooms
            if room in level:
                return frozenset(below)
            below |= level
        raise KeyError(room)

    def forbidden(self, room: str, target: str) -> bool:
        allowed = self.may_import(room)
        if allowed is None:
            return target in self.but.get(room, frozenset())
        return target != room and target not in allowed


BASE = frozenset({"process", "frozen", "location", "errors", "running", "options", "ir", "ops"})
ROOMS: dict[str, Rooms] = {
    "tracebuf": Rooms(
        (frozenset({"process", "frozen"}), "location", "errors", "running", "options", "ir", "ops", "analysis",
         "bufferize", "deallocate", frozenset({"optimize", "lower"})),
        beside={
            "interpret": BASE,
            "explain": BASE | {"analysis"},
            "frontends": BASE | {"cache"},
            "specs": BASE | {"frontends"},
            "cache": frozenset({"frozen"}),
            "backend": BASE | {"lower", "cache"},
        },
        free=frozenset({
            "", "__main__", "api", "commands", "dask", "extend", "stages", "native_calls", "c_calls", "designs",
            "pipeline", "module_pipeline", "measure", "measuring", "mlir", "njit", "opt", "passes", "persist",
            "pictures", "stories", "suggest", "support", "testing",
        }),
        but=dict.fromkeys(
            ("stages", "pipeline", "module_pipeline", "stories", "pictures", "dask"), frozenset({"", "api"})
        ),
    ),
    "tracebuf.ops": Rooms(("memory", frozenset({"control", "scalars"}), "arrays", "")),
    "tracebuf.analysis": Rooms(("one_shot", "cost", "modules"), beside={"flow": frozenset()}),
    "tracebuf.dask": Rooms((), beside={"rewrites": frozenset({""})}, free=frozenset({""})),
    "tracebuf.deallocate": Rooms(("", "general")),
    "tracebuf.optimize": Rooms((frozenset({"tensors", "buffers", "mlir", "memrefs"}),)),
    "tracebuf.backend": Rooms(
        (frozenset({"objects", "layout"}), "llvm", "runtime"), beside={"numba": frozenset({"runtime"})}
    ),
    "tracebuf.backend.numba": Rooms(("style", "")),
    "tracebuf.backend.llvm": Rooms(("texts", "", "entries")),
    "tracebuf.testing": Rooms(
        ("", frozenset({"strategies", "validation"}), "checks", "plugin",
         frozenset({"docexamples", "fuzz", "numpy_suite"})),  # fmt: skip
        free=frozenset({""}),
    ),
    "tracebuf.frontends": Rooms((frozenset({"numpy", "mlir"}),)),
    "tracebuf.frontends.numpy": Rooms(
        ("source", "call", "record", "numbers", "arrays", frozenset({"paths", "functions"}), "interpreter")
    ),
    "tracebuf.frontends.numpy.interpreter": Rooms((), beside={"lists": frozenset({""})}, free=frozenset({""})),
    "tracebuf.frontends.numpy.paths": Rooms(("", "loops")),
    "tracebuf.frontends.numpy.functions": Rooms(
        ("reductions", "indices", "joining", "host", "products", "python", "formulas", "")
    ),
}  # fmt: skip
"""Every folder with folders in it. A folder that is not named here has none."""


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


def mentions(name: str, tree: ast.AST) -> bool:
    """Whether a module may import another by its name as a string."""
    own = name in MODULES and tree is tree_of(name)
    text = text_of(name) if own else ast.unparse(tree)
    return "import_module" in text or "__import__" in text


@cache
def text_of(name: str) -> str:
    return MODULES[name].read_text()


def is_package(name: str) -> bool:
    return MODULES[name].name == "__init__.py"


def imported(name: str, tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, module) for each import in a module, relative ones and `import_module("...")` resolved."""
    for node in statements(tree):
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
    for call in ast.walk(tree) if mentions(name, tree) else ():
        match call:
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(target)), *_],
            ):
                yield call.lineno, target


@cache
def tree_of(name: str) -> ast.Module:
    return syntax.tree_of(MODULES[name].resolve())


def room_in(folder: str, module: str) -> str:
    """`tracebuf.ir.core` in `tracebuf` -> `ir`; the folder's own `__init__` and files where it is not the top -> ``."""
    inside = module.removeprefix(folder).strip(".").split(".")
    is_file = len(inside) == 1 and not is_package(module)
    return "" if is_file and folder != "tracebuf" else inside[0]


def violations(name: str, tree: ast.Module) -> list[str]:
    """The imports of a module that the table forbids: at each folder that importer and target are both in."""
    found = []
    for line, target in imported(name, tree):
        for folder, rooms in ROOMS.items():
            both = all(m == folder or m.startswith(folder + ".") for m in (name, target))
            if both and target in MODULES and rooms.forbidden(room_in(folder, name), room_in(folder, target)):
                found.append(f"{name}:{line} imports {target}")
    return found


def edges() -> dict[str, set[str]]:
    """Who imports whom, each file and its files."""
    found: dict[str, set[str]] = {name: set() for name in MODULES}
    for name in MODULES:
        for _, target in imported(name, tree_of(name)):
            if target in MODULES and target not in (name, "tracebuf"):
                found[name].add(target)
    return found


def circles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The strongly connected components of more than one node (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in graph.get(node, ()):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            component = [stack.pop()]
            while component[-1] != node:
                component.append(stack.pop())
            if len(component) > 1:
                found.append(sorted(component))

    for node in graph:
        if node not in index:
            visit(node)
    return found


def test_every_module_belongs_to_a_room() -> None:
    stray = []
    for name in MODULES:
        for folder, rooms in ROOMS.items():
            if name.startswith(folder + "."):
                try:
                    rooms.may_import(room_in(folder, name))
                except KeyError:
                    stray.append(name)
    assert not stray, f"give these a place in the table of rooms (tests/test_house.py): {stray}"
    nests = {name.rpartition(".")[0] for name in MODULES if is_package(name)} - {""}
    assert nests == ROOMS.keys(), "each folder with folders in it has a row in the table, and no other"


def test_imports_run_one_way() -> None:
    bad = [line for name in MODULES for line in violations(name, tree_of(name))]
    assert not bad, "\n".join(bad)


def test_no_circle_of_files() -> None:
    assert not circles(edges())


def test_no_circle_of_folders() -> None:
    folders: dict[str, set[str]] = defaultdict(set)
    for name, targets in edges().items():
        here = name if is_package(name) else name.rpartition(".")[0]
        for target in targets:
            there = target if is_package(target) else target.rpartition(".")[0]
            if not here.startswith(there) and not there.startswith(here):
                folders[here].add(there)
    assert not circles(folders)


def test_circles_are_found() -> None:
    assert circles({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]}) == [["a", "b", "c"]]


def test_folders_are_small_and_say_what_they_know() -> None:
    files = Counter(path.parent for path in MODULES.values() if path.name != "__init__.py")
    full = {str(folder.relative_to(ROOT)): n for folder, n in files.items() if n > MAX_FILES}
    assert not full, f"more than {MAX_FILES} files: a room with two ideas? {full}"


def said_of_imports(name: str) -> str:
    """The sentence of an `__init__` that says what the room may import, without what it may not."""
    text = " ".join((ast.get_docstring(tree_of(name)) or "").split())
    found = re.search(r"May import: (.*?)(;|\.( |$)|$)", text)
    return found[1] if found else ""


@pytest.mark.parametrize("folder", ROOMS)
def test_each_room_says_what_it_may_import(folder: str) -> None:
    """The rooms beside it that its `__init__` names, with what lies below these, are those of the table."""
    rooms = ROOMS[folder]
    for name in MODULES:
        parent, _, room = name.rpartition(".")
        if parent != folder or not is_package(name):
            continue
        said, allowed = said_of_imports(name), rooms.may_import(room)
        assert said, f"{name}: its `__init__` says what it knows and what it may import"
        if allowed is None or said.startswith("every"):
            continue
        known = {r for level in rooms.order for r in ({level} if isinstance(level, str) else level)} | {*rooms.beside}
        named = {word for word in re.findall(r"\w+", said) if word in known}
        if "below" in said:
            named |= {r for word in named for r in rooms.may_import(word) or ()}
        assert named | {""} == allowed | {""}, f"{name}: it says {sorted(named)}, the table {sorted(allowed)}"


def test_no_room_is_more_than_a_quarter_of_the_code() -> None:
    lines: Counter[Path] = Counter()
    for path in MODULES.values():
        lines[path.parent] += len(path.read_text().splitlines())
    folder, most = lines.most_common(1)[0]
    assert most <= lines.total() / 4, folder


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("tracebuf.errors", "from tracebuf import api"),
        ("tracebuf.errors", "import tracebuf.ir"),
        ("tracebuf.frontends", "from .. import backend"),
        ("tracebuf.frontends", "def f():\n    from tracebuf.analysis import one_shot"),
        ("tracebuf.backend", "from ..frontends import numpy"),
        ("tracebuf.backend", "import importlib\nimportlib.import_module('tracebuf.analysis')"),
        ("tracebuf.errors", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .ir.core import Value"),
        ("tracebuf.frontends.numpy.paths.joins", "from tracebuf.frontends.numpy.functions import table"),
        ("tracebuf.frontends.numpy.functions.host.fft", "from tracebuf.frontends.numpy.functions import table"),
        ("tracebuf.frontends.numpy.record.recorder", "from tracebuf.frontends.numpy.numbers.ufuncs import elementwise"),
        ("tracebuf.optimize.buffers.fold_memref", "from tracebuf.optimize.tensors.cse import cse"),
        ("tracebuf.ops.scalars.arith", "from tracebuf.ops.arrays import linalg"),
    ],
)
def test_the_walk_sees_every_kind_of_import(name: str, source: str) -> None:
    assert violations(name, ast.parse(source))


CONTEXTS = {
    "frame": ("record/regions.py",),
    "loc": ("record/regions.py", "interpreter/interpreter.py"),
    "env": ("interpreter/evaluator.py",),
}
"""The state of the tracer, and the files of the front end that assign it: others enter a context."""


def assigned_state(tree: ast.AST, recorder: bool = False) -> Iterator[tuple[int, str]]:
    """(line, attribute) for each assignment to `r.frame`, `r.loc` and `scope.env`; in the `recorder` itself to
    `self.frame` and `self.loc`."""
    owners = {"frame": {"r"}, "loc": {"r"}, "env": {"scope"}}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr in owners:
            of = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
            if of.lstrip("_") in owners[node.attr] or (recorder and of == "self" and node.attr != "env"):
                yield node.lineno, node.attr


@pytest.mark.slow
def test_contexts_hold_the_state_of_the_tracer() -> None:
    front = ROOT / "frontends" / "numpy"
    for name, path in MODULES.items():
        if front not in path.parents:
            continue
        file = path.relative_to(front).as_posix()
        recorder = file in ("record/regions.py", "record/sizes.py", "record/recorder.py")
        found = assigned_state(tree_of(name), recorder)
        by_hand = [place for place in found if file not in CONTEXTS[place[1]]]
        assert not by_hand, f"{file}: `with r.inside(...)`, `r.at(...)`, `scope.inside(...)` instead of {by_hand}"


@pytest.mark.parametrize(
    "source", ["r.frame = outer", "self.r.loc = loc", "a, self.scope.env = self.scope.env, env", "i.r.loc: Any = x"]
)
def test_the_walk_sees_every_kind_of_assignment(source: str) -> None:
    assert list(assigned_state(ast.parse(source)))


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


@pytest.mark.slow
def test_import_loads_neither_numba_nor_scipy() -> None:
    code = "import sys, tracebuf; print(sorted({'numba', 'scipy'} & {m.partition('.')[0] for m in sys.modules}))"
    assert succeed("-c", code, cwd=ROOT).strip() == "[]"


COMPILES = ("frontends.numpy.record", "frontends.numpy.interpreter", "frontends.numpy.functions", "frontends.mlir")
COMPILES += ("ops", "analysis", "optimize", "deallocate", "lower", "pipeline", "explain", "backend.llvm")
"""What only a call that must be compiled needs."""


def test_import_loads_nothing_that_compiles() -> None:
    loaded = succeed("-c", "import sys, tracebuf; print(*sys.modules)", cwd=ROOT).split()
    heavy = tuple(f"tracebuf.{room}" for room in COMPILES) + ("llvmlite", "logging", "tracemalloc")
    assert not [name for name in loaded if name.startswith(heavy)]
    assert len([name for name in loaded if name.startswith("tracebuf")]) <= 46, loaded


@pytest.mark.slow
def test_tracing_loads_none_of_what_is_rarely_used() -> None:
    trace = "tracebuf.bufferize(lambda a: a + 1).trace(np.ones(3))"
    code = f"import sys, numpy as np, tracebuf; {trace}; print(*sys.modules)"
    rare = ("scipy", "numba", "numpy.testing", "numpy.random", "unittest")  # a third of what importing the tracer takes
    assert not [name for name in succeed("-c", code, cwd=ROOT).split() if name.startswith(rare)]


KEPT = """
import numpy as np
from tracebuf import bufferize
@bufferize
def f(a, b):
    c = np.sqrt(a + b) * 2 - a / b + 1
    if c[0] > 1e6:
        raise ValueError("large", int(c[0]))
    return np.cumsum(c[1:])[::-1] + c[:-1]
"""
CALL = """
import sys, numpy as np
from kept_program import f
before = {*sys.modules}
for _ in range(2):
    f(np.ones(5), np.ones(5))
(one,) = f.specializations()
assert one.loaded, one
print(*{*sys.modules} - before)
"""


WRITERS = tuple(f"tracebuf.backend.llvm.{name}" for name in ("emit", "code", "compiler", "shared", "loops", "polls"))
"""The files of `backend.llvm` that write code, or call LLVM."""


def compiles(name: str) -> bool:
    """Whether a module is for calls that must be compiled, or of llvmlite."""
    rooms = tuple(f"tracebuf.{room}" for room in COMPILES if room != "backend.llvm")
    return name.startswith((*rooms, *WRITERS, "llvmlite"))


@pytest.mark.slow
@pytest.mark.fast_tier  # the quick code is not kept
def test_a_program_out_of_the_cache_loads_nothing_that_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kept_program.py").write_text(KEPT)
    monkeypatch.setenv("TRACEBUF_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TRACEBUF_CACHE_PROGRAMS", "1")
    path = f"import sys; sys.path[:0] = {[str(ROOT), str(tmp_path)]}\n"
    succeed("-c", path + CALL.replace("assert one.loaded", "assert not one.loaded"), cwd=tmp_path)
    loaded = [m for m in succeed("-c", path + CALL, cwd=tmp_path).split() if not m.startswith("numpy")]
    others = {"json", "inspect", "logging", "mmap", "pickle", "random"}
    assert not [name for name in loaded if compiles(name) or name in others]
    assert len(loaded) <= 30, loaded


def imported_at_once(name: str) -> set[str]:
    """The modules that importing one imports, directly or not."""
    found, pending = set[str](), [name]
    while pending:
        here = pending.pop()
        if here in found or here not in MODULES:
            continue
        found.add(here)
        pending += [here.rpartition(".")[0]]
        tops = [node for node in tree_of(here).body if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.If)]
        pending += [target for _, target in imported(here, ast.Module(tops, []))]
    return found


def test_what_runs_programs_out_of_the_cache_imports_nothing_that_compiles() -> None:
    found = imported_at_once("tracebuf.persist.programs")
    assert not [name for name in found if compiles(name)] and "tracebuf.backend.runtime.kernel" in found
    assert compiles("tracebuf.ops.memory") and "tracebuf.ops.memory" in imported_at_once("tracebuf.ops.dialects")


def test_names_that_are_loaded_late_are_there() -> None:
    assert {*tracebuf.__all__} <= {*dir(tracebuf)}
    for name in tracebuf.__all__:
        found = getattr(tracebuf, name)
        assert getattr(found, "__name__", name).rpartition(".")[2] == name and vars(tracebuf)[name] is found
    with pytest.raises(AttributeError, match="module 'tracebuf' has no attribute 'numpy'"):
        _ = tracebuf.numpy


@pytest.mark.slow
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

    expected.add("pytest_tracebuf.py")  # which imports nothing of the package
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
