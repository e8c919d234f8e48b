"""Runs of a module of NumPy's tests, as it is and through tracebuf, and what they make of each other."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal

from tracebuf.frozen import frozen

__all__ = ["EXCEPTIONS", "MODULES", "Compared", "Run", "compare", "exceptions", "run"]

MODULES = (
    "numpy.lib.tests.test_function_base",
    "numpy.lib.tests.test_nanfunctions",
    "numpy.lib.tests.test_shape_base",
    "numpy.lib.tests.test_twodim_base",
    "numpy.lib.tests.test_index_tricks",
    "numpy.lib.tests.test_stride_tricks",
    "numpy.lib.tests.test_arraysetops",
    "numpy.lib.tests.test_arraypad",
    "numpy.lib.tests.test_type_check",
    "numpy.lib.tests.test_ufunclike",
    "numpy.lib.tests.test_histograms",
    "numpy._core.tests.test_numeric",
    "numpy._core.tests.test_shape_base",
    "numpy._core.tests.test_einsum",
    "numpy._core.tests.test_function_base",
    "numpy._core.tests.test_umath_complex",
    "numpy._core.tests.test_item_selection",
    "numpy.fft.tests.test_helper",
    "numpy.fft.tests.test_pocketfft",
    "numpy.linalg.tests.test_linalg",
    "numpy._core.tests.test_umath",
    "numpy._core.tests.test_ufunc",
)
"""Modules about functions on arrays of numbers; those left out are of strings, records, files, the C API."""
EXCEPTIONS = Path(__file__).with_name("exceptions.txt")
"""Tests that may fail, each with its reason."""
Mode = Literal["", "functions", "methods"]


@frozen(slots=False)
class Run:
    """What became of each test ("passed", "skipped", or the text of its failure), and the counts of calls, where the
    module was rewritten."""

    outcomes: Mapping[str, str] = field(default_factory=dict)
    complete: bool = False
    ran: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)
    reasons: Mapping[str, int] = field(default_factory=dict)


@frozen(slots=False)
class Compared:
    """A module's run through tracebuf beside the one without it.

    `failures`: tests that fail or are not run, and pass without, with the text; `expected` those of them that are
    listed, with the reason; `stale` are listed ones that pass.
    """

    module: str
    tests: int
    mine: Run
    failures: Mapping[str, str]
    expected: Mapping[str, str]
    stale: tuple[str, ...]


def run(module: str, mode: Mode, seconds: float = 120.0, most: int = 400, select: str = "not slow") -> Run:
    """Runs a module in a process of its own. `select` is pytest's `-k`."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    with tempfile.TemporaryDirectory() as folder:
        notes, settings = Path(folder, "notes"), Path(folder, "pytest.ini")
        settings.write_text("[pytest]\n")
        notes.touch()
        args = [sys.executable, "-m", "pytest", "-q", "-c", str(settings), "--rootdir", folder, "--assert=plain"]
        args += ["-p", "no:cacheprovider", "-p", "tracebuf.testing.numpy_suite.plugin", "--tb=short", "-k", select]
        args += ["--outcomes", str(notes), "--seconds", str(seconds), "--most", str(most)]
        args += ["--through", mode, spec.origin] if mode else [spec.origin]
        checkout = str(Path(__file__).parents[3])
        path = os.pathsep.join([checkout, *filter(None, [os.environ.get("PYTHONPATH")])])
        env = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(args, cwd=folder, env=env, capture_output=True, text=True)
        found = read(notes.read_text())
    if not found.outcomes or (mode and not found.complete and done.returncode in (0, 1)):
        raise RuntimeError(f"{module} did not run:\n{(done.stdout + done.stderr)[-2000:]}")
    return found


def read(notes: str) -> Run:
    """The run that the plugin noted; a test that began and did not end crashed."""
    outcomes, counts = dict[str, str](), dict[str, dict[str, int]]()
    for line in notes.splitlines():
        what = json.loads(line)
        if "begins" in what:
            outcomes[what["begins"]] = "crashed, or ended the process"
        elif "ends" in what:
            failed = what["outcome"] == "failed"
            outcomes[what["ends"]] = what["text"] or "failed" if failed else what["outcome"]
        else:
            counts = what
    return Run(outcomes, bool(counts), **counts)


def compare(module: str, mode: Mode, seconds: float = 120.0, most: int = 400, select: str = "not slow") -> Compared:
    """Runs a module both ways."""
    plain, mine = run(module, "", seconds, most, select), run(module, mode, seconds, most, select)
    good = [name for name, outcome in plain.outcomes.items() if outcome in ("passed", "skipped")]
    texts = {name: mine.outcomes.get(name, "not run") for name in good}
    failures = {name: text for name, text in texts.items() if text not in ("passed", "skipped")}
    listed = [(pattern, reason) for (of, pattern), reason in exceptions(mode).items() if fnmatchcase(module, of)]
    expected = {n: why for n in failures for pattern, why in listed if fnmatchcase(escaped(n), escaped(pattern))}
    stale = [p for p, _ in listed if good and not any(fnmatchcase(escaped(n), escaped(p)) for n in failures)]
    return Compared(module, len(plain.outcomes), mine, failures, expected, tuple(stale))


def escaped(name: str) -> str:
    """A test's name in which brackets mean themselves to fnmatch."""
    return name.replace("[", "(").replace("]", ")")


@cache
def exceptions(mode: Mode) -> dict[tuple[str, str], str]:
    """The reason by (module, pattern of a test's name) of the tests that may fail in a mode.

    A line without a colon at its end is a test, `module::name`, under the reason above it; the reasons under the
    heading `# methods` hold where methods are routed too.
    """
    found, reason, both = dict[tuple[str, str], str](), "", True
    for line in map(str.strip, EXCEPTIONS.read_text().splitlines()):
        if line.startswith("#"):
            both = line != "# with --methods"
        elif line.endswith(":"):
            reason = line[:-1]
        elif line and (both or mode == "methods"):
            module, _, name = line.partition("::")
            found[module, name] = reason
    return found


def added(counts: Mapping[str, int], more: Mapping[str, int]) -> Counter[str]:
    return Counter(counts) + Counter(more)
