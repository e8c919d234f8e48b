"""What the pytest plugin (pytest_tracebuf.py at the top) does in a run that asks for it.

`Session` are the hooks, `calls` watches the calls of bufferized functions, `memory` is the table and the baseline.
May import: checks and what is below; pytest.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from tracebuf.testing.plugin import memory
from tracebuf.testing.plugin.calls import Watcher

__all__ = ["Session"]


class Session:
    """The hooks of one run."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.getoption
        self.table: str | None = option("tracebuf_memory")
        self.baseline: Path | None = Path(option("tracebuf_baseline")) if option("tracebuf_baseline") else None
        self.updates: bool = option("tracebuf_update_baseline")
        if self.updates and self.baseline is None:
            raise pytest.UsageError("--tracebuf-update-baseline wants --tracebuf-baseline=FILE")
        self.before: memory.Rows = {}
        if self.baseline is not None and not self.updates:
            try:
                self.before = memory.read(self.baseline)
            except (OSError, ValueError) as error:
                instead = "write it with --tracebuf-update-baseline"
                raise pytest.UsageError(f"--tracebuf-baseline={self.baseline}: {error}; {instead}") from None
        self.is_worker = hasattr(config, "workerinput")
        most: int | None = option("tracebuf_validate_calls")
        if most is not None and most < 1:
            raise pytest.UsageError("--tracebuf-validate-calls wants 1 or more")
        validates = option("tracebuf_validate") or most is not None
        self.watcher = Watcher(validates, self.table is not None or self.baseline is not None, most)
        self.broken: list[str] = []
        self.written = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        marker = item.get_closest_marker("tracebuf")
        with self.watcher.during(dict(marker.kwargs) if marker is not None else {}):
            try:
                result = yield
            except BaseException:
                for text in self.watcher.failures():
                    item.add_report_section("call", "tracebuf", text)
                raise
        if failures := self.watcher.failures():
            pytest.fail("\n\n".join(failures), pytrace=False)
        return result

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A worker of pytest-xdist has ended."""
        memory.merge(self.watcher.rows, getattr(node, "workeroutput", {}).get("tracebuf", {}))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        rows, config = self.watcher.rows, session.config
        if self.is_worker:
            config.workeroutput["tracebuf"] = rows  # type: ignore[attr-defined]
            return
        if self.table:
            memory.write(Path(self.table), rows)
        if self.baseline is not None and self.updates:
            self.written = session.exitstatus == pytest.ExitCode.OK
            if self.written:
                memory.write(self.baseline, rows)
        elif self.baseline is not None:
            self.broken = memory.compared(self.before, rows)
            if self.broken and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        write = terminalreporter
        if self.table is not None:
            write.section("memory of bufferized functions")
            write.line(memory.table(self.watcher.rows))
        if self.baseline is not None and self.updates:
            said = f"wrote {self.baseline}: {len(self.watcher.rows)} functions"
            write.line(said if self.written else f"{self.baseline} was not written: the run did not pass")
        if self.broken:
            write.section("more memory than the baseline", red=True)
            for line in self.broken:
                write.line(line, red=True)
        if self.watcher.validates:
            rest = f", {self.watcher.passed_over} were not" if self.watcher.passed_over else ""
            write.line(f"tracebuf: calls compared with NumPy on every rung: {self.watcher.validated}{rest}")

    def pytest_unconfigure(self) -> None:
        self.watcher.close()
