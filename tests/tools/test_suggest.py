"""`python -m tracebuf suggest`: what it says of small programs, and that these run as they are."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from tracebuf import bufferize
from tracebuf.suggest.decorators import Edited, edited
from tracebuf.suggest.owned import Owner
from tracebuf.suggest.profiler import Profiler, Seen
from tracebuf.suggest.records import Record
from tracebuf.suggest.report import Report, ranked
from tracebuf.suggest.trials import Trial, tried

ROOT = Path(__file__).parents[2]
# It is called so often that what decorating saves is far above what a first call costs, on a fast machine too.
PROGRAM = '''#!/usr/bin/env python
"""A program."""
from __future__ import annotations

import sys
import numpy as np


def lap(u):
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]


def step(u, v, dt):
    v[1:-1, 1:-1] += dt * lap(u)
    u += dt * v
    return u.max()


def save(a):
    b = a * 2 + a
    with open("saved", "ab") as file:
        file.write((b + b + a * 2).tobytes())


def text(n):
    return sum(len(str(k)) for k in range(n))


class Grid:
    def __init__(self, n):
        self.u, self.v = np.ones((n, n)), np.zeros((n, n))

    @staticmethod
    def scale(a, *, k):
        return np.exp(-a * k) + a / (1 + a * a)

    def both(self, k):
        return (self.u * k + self.v * self.u - k).sum()


def main():
    grid = Grid(int(sys.argv[1]))
    for k in range(300):
        step(grid.u, grid.v, 0.1)
        if k < 60:
            save(grid.u)
        grid.scale(grid.u, k=2.0)
        grid.both(3)
    text(1000)
    print("done", sys.argv[1:], __name__, file=sys.stderr)
    sys.exit(3)


if __name__ == "__main__":
    main()
'''


def suggest(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tracebuf", "suggest", *args]
    path = {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, cwd=folder, env=path, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_a_program_runs_as_it_is_and_its_functions_are_ranked(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(PROGRAM)
    ran = suggest(tmp_path, "--json", "found.json", "prog.py", "400", "--top")
    assert ran.returncode == 3 and "done ['400', '--top'] __main__" in ran.stderr, ran.stderr
    assert (tmp_path / "saved").stat().st_size == 60 * 400 * 400 * 8  # the trials write nothing
    data = json.loads((tmp_path / "found.json").read_text())
    found = {f["function"]: f for f in data["functions"]}
    kinds = {name: f["verdict"] for name, f in found.items()}
    assert kinds["step"] == kinds["Grid.scale"] == "suggested" and kinds["lap"] == "inside", kinds
    assert kinds["save"] == kinds["main"] == "refused" and "text" not in kinds
    assert data["exit_code"] == 3 and found["lap"]["inside"] == ["step"]
    step = found["step"]
    assert (step["calls"], step["native"]["allocations"]) == (300, 0) and step["eager"]["allocations"] > 5
    assert 0 < step["share"] < 1 and step["saved_seconds"] > 0
    line = next(k for k, text in enumerate(PROGRAM.splitlines(), 1) if "with open" in text)
    assert found["save"]["why"]["line"] == line and found["save"]["why"]["instead"]
    said = ran.stdout
    told = [said.index(part) for part in ("The program ran", "`step`", "no decorator needed", "Refused")]
    assert told == sorted(told)
    assert f"line {line}: `with` is not supported" in said


@pytest.mark.slow
def test_modules_pytest_and_failures(tmp_path: Path) -> None:
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").write_text(PROGRAM)
    (tmp_path / "pack" / "__main__.py").write_text("from pack import main\nmain()\n")
    ran = suggest(tmp_path, "-m", "pack", "400")
    assert ran.returncode == 3 and "step (__init__.py:" in ran.stdout, ran.stderr
    (tmp_path / "test_it.py").write_text(
        "import numpy as np\nfrom pack import step\n"
        "def test_it():\n    for _ in range(800):\n"
        "        step(np.ones((300, 300)), np.ones((300, 300)), 0.1)\n    assert False\n"
    )
    ran = suggest(tmp_path, "--json", "-", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    assert ran.returncode == 1 and "assert False" in ran.stdout
    functions = json.loads(ran.stdout[ran.stdout.index("{\n") :])["functions"]
    assert [f["verdict"] for f in functions if f["function"] == "step"] == ["suggested"]
    assert not any(f["function"].startswith("test") for f in functions)
    (tmp_path / "bad.py").write_text("def f():\n    return 1 / 0\nf()\n")
    ran = suggest(tmp_path, "bad.py")
    assert ran.returncode == 1 and "Nothing to decorate" in ran.stdout
    trace = [line.strip() for line in ran.stderr.splitlines() if "File" in line]
    file = tmp_path / "bad.py"
    assert trace == [f'File "{file}", line 3, in <module>', f'File "{file}", line 2, in f'], ran.stderr
    for args in (["none.py"], ["-m", "no_such_module"]):
        ran = suggest(tmp_path, *args)
        assert (ran.returncode, ran.stdout) == (2, "") and ran.stderr.startswith("error: ")


@pytest.mark.slow
def test_diff_and_apply(tmp_path: Path) -> None:
    path = tmp_path / "prog.py"
    path.write_text(PROGRAM)
    ran = suggest(tmp_path, "--diff", "prog.py", "400")
    added = [line for line in ran.stdout.splitlines() if line.startswith("+") and not line.startswith("+++")]
    assert sorted(added) == ["+    @tracebuf.bufferize"] * added.count("+    @tracebuf.bufferize") + [
        "+@tracebuf.bufferize", "+import tracebuf"]  # fmt: skip
    assert path.read_text() == PROGRAM and "--- a/prog.py" in ran.stdout
    ran = suggest(tmp_path, "--apply", "prog.py", "400")
    text = path.read_text()
    assert ran.returncode == 3 and "import numpy as np\nimport tracebuf\n\n" in text
    assert (
        "@tracebuf.bufferize\ndef step" in text and "    @staticmethod\n    @tracebuf.bufferize\n    def scale" in text
    )
    ran = suggest(tmp_path, "--apply", "prog.py", "400")
    assert ran.returncode == 3 and path.read_text().count("import tracebuf") == 1, ran.stderr
    assert path.read_text().count("@tracebuf.bufferize\ndef step") == 1
    assert "`step`" not in ran.stdout and "save (prog.py" in ran.stdout


def made(folder: Path, text: str, *names: str) -> tuple[list[Edited], list[str]]:
    """The edit of a module's functions."""
    path = folder / "m.py"
    path.write_bytes(text.encode())
    space: dict[str, Any] = {"__name__": "m"}
    exec(compile(text, str(path), "exec"), space)
    return edited([eval(name, space).__code__ for name in names])


def test_where_decorators_are_written(tmp_path: Path) -> None:
    for before, after in [
        ("# text\ndef f(a):\n    pass\n", "# text\nimport tracebuf\n\n\n@tracebuf.bufferize\ndef f(a):\n    pass\n"),
        ('"""Doc."""\r\ndef f(a): pass',
         '"""Doc."""\r\n\r\nimport tracebuf\r\n\r\n\r\n@tracebuf.bufferize\r\ndef f(a): pass'),
        ("import os\n\ndef f(a): pass\n", "import os\nimport tracebuf\n\n\n@tracebuf.bufferize\ndef f(a): pass\n"),
        ("import os\n\n\nclass C:\n\tdef f(self): pass\n\nf = C.f\n",
         "import os\nimport tracebuf\n\n\nclass C:\n\t@tracebuf.bufferize\n\tdef f(self): pass\n\nf = C.f\n"),
        ("import os, tracebuf\ndef f(a): pass\n", "import os, tracebuf\n@tracebuf.bufferize\ndef f(a): pass\n"),
        ("from __future__ import annotations\nif True:\n\tdef f(a): pass\n",
         "from __future__ import annotations\nimport tracebuf\nif True:\n\t@tracebuf.bufferize\n\tdef f(a): pass\n"),
    ]:  # fmt: skip
        (change,), left = made(tmp_path, before, "f")
        assert change.after == after and not left
        change.write()
        assert (tmp_path / "m.py").read_bytes() == after.encode()
    for before, why in [
        ("tracebuf = 1\ndef f(a): pass\n", "gives the name tracebuf to something else"),
        ("import os; import sys; x = (\n1)\ndef f(a): pass\n", "does not understand"),
        ("f = lambda a: a\n", "a lambda"),
        ("def g():\n    def f(a): pass\n    return f\nf = g()\n", "inside of a function"),
    ]:
        changes, (said,) = made(tmp_path, before, "f")
        assert not changes and why in said


# -- in this process
def watched(*calls: Any) -> dict[str, Seen]:
    """What the profiler sees of calls, by name."""
    with Profiler(Owner(), 1 << 24) as profiler:
        for call in calls:
            call()
    return {s.code.co_name: s for s in profiler.functions()}


def plain(x: Any, n: int = 2, *more: Any, flag: bool = False, **named: Any) -> Any:
    return x * n


def ufunc_only(n: int) -> Any:
    return np.add(n, 1).item() + np.zeros(3).sum()


def no_numpy(n: int) -> int:
    return n + 1


def big(x: Any) -> Any:
    return x + 1


def fails(x: Any) -> Any:
    raise ValueError(x.sum())


class Holder:
    def __init__(self) -> None:
        self.a = np.ones(4)

    def total(self) -> Any:
        return self.a.sum()


@bufferize(fallback="numpy")
def already(x: Any) -> Any:
    return x + id(x)


def test_what_is_recorded() -> None:
    base = np.arange(12.0).reshape(3, 4)

    def inner(x: Any) -> Any:
        return x - base.sum()

    def caught() -> None:
        with pytest.raises(ValueError):
            fails(base)

    calls = [
        lambda: plain(base.T[::2], 3, 4, 5, flag=True, other=base),
        lambda: ufunc_only(3),
        lambda: no_numpy(3),
        lambda: big(np.ones(3_000_000)),
        Holder().total,
        lambda: inner(base),
        caught,
    ]
    with pytest.warns(UserWarning):
        seen = watched(*calls, lambda: already(base))
    assert set(seen) >= {"plain", "ufunc_only", "big", "total", "inner", "fails"} and "no_numpy" not in seen
    kept = seen["plain"].record
    assert kept is not None and kept.args[1:] == (3, 4, 5) and kept.kwargs["flag"] is True
    assert kept.args[0].strides == base.T[::2].strides and np.shares_memory(kept.args[0], kept.kwargs["other"])
    assert not np.shares_memory(kept.args[0], base)
    assert seen["big"].record is None  # 24 MB do not fit
    assert isinstance(seen["inner"].function, FunctionType) and seen["total"].function is Holder.total
    assert seen["already"].function is already
    assert isinstance(seen["fails"].function, FunctionType) and seen["fails"].record is not None
    found = tried(seen["fails"].function, seen["fails"].record)
    assert found.verdict in ("untried", "refused") and found.reason


def test_a_later_larger_call_is_kept_and_recursion_and_threads_are_counted_once() -> None:
    def down(x: Any, n: int) -> Any:
        return x.sum() if n == 0 else down(x, n - 1)

    def threads() -> None:
        thread = threading.Thread(target=plain, args=(np.ones(50),))
        thread.start()
        thread.join()

    sizes = [10, 10, 500_000, 10]
    seen = watched(*(lambda n=n: plain(np.ones(n)) for n in sizes), lambda: down(np.ones(9), 5), threads)
    assert seen["plain"].calls == 5 and seen["down"].calls == 6
    assert seen["plain"].record is not None and seen["plain"].record.args[0].size == 500_000
    assert list(seen["down"].callers) == [None] or seen["down"].seconds == pytest.approx(
        sum(seen["down"].callers.values())
    )


@pytest.mark.slow
def test_a_result_that_differs_is_not_suggested(monkeypatch: pytest.MonkeyPatch) -> None:
    from tracebuf.api import BufferizedFunction

    given = Record((np.arange(5.0),), {}, 40)
    right: Any = BufferizedFunction.__call__
    assert tried(plain, given).verdict == "measured"
    monkeypatch.setattr(BufferizedFunction, "__call__", lambda self, *a, **k: right(self, *a, **k) + 1)
    found = tried(plain, given)
    assert found.verdict == "differs" and found.measured is None
    (only,) = ranked([(seen_of(plain), found)])
    assert only.kind == "differs" and "not suggested: its results differ" in str(Report(1.0, 0, [only], []))


def seen_of(function: Any) -> Seen:
    seen = Seen(function.__code__)
    seen.seconds = seen.own = 1.0
    seen.calls = 1
    return seen


@pytest.mark.slow
def test_trials_leave_no_trace(capsys: pytest.CaptureFixture[str]) -> None:
    x = np.arange(4.0)

    def loud(a: Any) -> Any:
        print("loud", a[0])
        a += 1
        return a * 2

    found = tried(loud, Record((x,), {}, 32))
    assert found.verdict == "measured" and capsys.readouterr() == ("", "")
    np.testing.assert_array_equal(x, np.arange(4.0))
    assert isinstance(found, Trial) and found.measured is not None


def test_allocations_of_the_run_by_function() -> None:
    """Counted while the program runs: those of callees too, in all threads, without the copies that watching makes."""

    def inner(a: Any) -> Any:
        return a + 1.0

    def outer(a: Any) -> Any:
        b = np.zeros(1000)
        return inner(inner(a)) + b

    def threaded(a: Any) -> None:
        other = threading.Thread(target=outer, args=(a,))
        other.start()
        other.join()

    with Profiler(Owner(), 1 << 30) as profiler:
        outer(np.ones(1000))
        threaded(np.ones(1000))
    seen = {s.code.co_name: s for s in profiler.functions()}
    small = sum(s.allocated_bytes % 1000 for s in (seen["inner"],))  # numbers that NumPy makes arrays of
    assert seen["inner"].allocated_bytes == 4 * 8000 + small and seen["inner"].own_bytes == 4 * 8000 + small
    assert seen["outer"].allocated_bytes >= 2 * 4 * 8000 and 0 <= seen["outer"].own_bytes - 2 * 2 * 8000 < 1000
    assert profiler.allocated_bytes >= seen["outer"].allocated_bytes + 2 * 8000
    assert 3 * 8000 <= profiler.peak_bytes < 6 * 8000


def test_a_method_that_works_on_attributes_alone_is_seen() -> None:
    """No array among its arguments, no call of NumPy's, no result."""

    class Grid:
        def __init__(self) -> None:
            self.u, self.v = np.ones((2, 100_000))

        def step(self, dt: float) -> None:
            self.v += dt * (self.u**2 - self.u)
            self.u += dt * self.v

        def count(self) -> int:
            return len([1] * 1000)

    grid = Grid()
    with (profiler := Profiler(Owner(), 1 << 30)):
        for _ in range(4):
            grid.step(0.1)
            grid.count()
    (step,) = [s for s in profiler.functions() if s.code.co_name == "step"]
    assert step.calls == 4 and step.record is not None and step.function is not None
    assert not any(s.code.co_name == "count" for s in profiler.functions())
