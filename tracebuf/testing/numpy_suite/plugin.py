"""pytest's side of a run: rewrites the test modules as they are imported, times the tests, and notes their outcomes.

`-p tracebuf.testing.numpy_suite.plugin --outcomes FILE [--through functions|methods]`: FILE gets a line of JSON for
each test that begins, one for each that ends, and the counts at the end.
"""

from __future__ import annotations

import importlib.machinery
import json
import signal
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from tracebuf.testing.numpy_suite.rewrite import NAME, rewritten
from tracebuf.testing.numpy_suite.through import Through

__all__ = ["Notes", "TestLoader"]


class TestLoader(importlib.machinery.SourceFileLoader):
    """Loads a module of NumPy's tests with its tree rewritten; no compiled file is read or written."""

    __test__ = False
    through: Through

    def get_code(self, fullname: str) -> types.CodeType:
        tree = rewritten(self.get_data(self.path).decode(), self.path, self.through.methods)
        code: types.CodeType = compile(tree, self.path, "exec", dont_inherit=True)
        return code

    def exec_module(self, module: types.ModuleType) -> None:
        vars(module)[NAME] = self.through
        super().exec_module(module)


class TestFinder:
    """Finds modules of NumPy's tests, which are in its packages or, where a folder is none, at the top."""

    __test__ = False

    def __init__(self, through: Through) -> None:
        self.through = through
        self.loader = type("Loader", (TestLoader,), {"through": through})
        self.numpy = Path(np.__file__).parent
        self.found: list[str] = []

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if not name.rpartition(".")[2].startswith("test_"):
            return None
        found = importlib.machinery.PathFinder.find_spec(name, path, target)
        if found is None or found.origin is None or self.numpy not in Path(found.origin).parents:
            return None
        found.loader = self.loader(name, found.origin)
        self.found.append(name)
        return found


class Notes:
    """Writes what happens to a file, at once, so that a crash leaves the name of its test; stops tests that hang."""

    def __init__(self, file: IO[str], seconds: float, finder: TestFinder | None) -> None:
        self.file, self.seconds, self.finder = file, seconds, finder

    def write(self, **what: Any) -> None:
        print(json.dumps(what), file=self.file, flush=True)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.write(begins=short(item.nodeid))
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        def over(*_: Any) -> None:
            pytest.fail(f"takes more than {self.seconds:g} s")

        signal.signal(signal.SIGALRM, over)
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            crash = getattr(report.longrepr, "reprcrash", None)
            text = str(getattr(crash, "message", report.longrepr or ""))
            self.write(ends=short(report.nodeid), outcome=report.outcome, text=text[:2000])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.write(ends="import", outcome="failed", text=str(report.longrepr)[-2000:])

    def pytest_unconfigure(self) -> None:
        if self.finder is not None and self.finder.found:
            t = self.finder.through
            self.write(ran=t.ran, refused=t.refused, reasons=t.reasons)
        self.file.close()


def short(nodeid: str) -> str:
    """The name of a test in its module."""
    return nodeid.partition("::")[2]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tracebuf")
    group.addoption("--outcomes", metavar="FILE", help="where outcomes are written")
    group.addoption("--through", choices=("functions", "methods"), help="what is called through tracebuf")
    group.addoption("--most", type=int, default=400, help="calls of one function that are traced")
    group.addoption("--seconds", type=float, default=60.0, help="the most that a test may take")


def pytest_configure(config: pytest.Config) -> None:
    mode = config.getoption("--through")
    finder = TestFinder(Through(mode == "methods", config.getoption("--most"))) if mode else None
    if finder is not None:
        sys.meta_path.insert(0, finder)
    file = open(config.getoption("--outcomes"), "w")
    config.pluginmanager.register(Notes(file, config.getoption("--seconds"), finder))
