"""The pytest plugin of tracebuf (entry point `tracebuf`): its options and its marker, which alone it knows.

It imports nothing of tracebuf, nor NumPy, in a run that uses none of them; what they do is in tracebuf/testing/plugin,
whose package that would import. Usage: docs/testing.md.
"""

from __future__ import annotations

import pytest

MARKER = """tracebuf(max_allocations, max_copies, max_bytes, max_peak, validate=False): what each call of a bufferized
function in this test may take (tracebuf.testing.assert_memory); validate: and that it is what NumPy gives"""
VALIDATE = "run each call of a bufferized function beside eager NumPy and both interpreters; fail where one differs"
MEMORY = "a table of what bufferized functions allocated at the end; with =FILE.json as JSON too"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tracebuf", "bufferized functions")
    add = group.addoption
    add("--tracebuf-validate", action="store_true", help=VALIDATE)
    add("--tracebuf-validate-calls", type=int, metavar="N", help="that of the first N calls of each function in a test")
    add("--tracebuf-memory", nargs="?", const="", metavar="FILE", help=MEMORY)
    add("--tracebuf-baseline", metavar="FILE", help="fail when a function allocates more than this file says")
    add("--tracebuf-update-baseline", action="store_true", help="write the file of --tracebuf-baseline")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER.replace("\n", " "))
    if (file := config.getoption("tracebuf_memory")) and not file.endswith(".json"):  # it may be a test's, given behind
        raise pytest.UsageError(f"--tracebuf-memory takes {file} as the file to write: name one that ends in .json, "
                                "or write the option last")  # fmt: skip
    names = ("validate", "validate_calls", "memory", "baseline", "update_baseline")
    options = [f"tracebuf_{name}" for name in names]
    if any((given := config.getoption(name)) is not None and given is not False for name in options):
        start(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if any(item.get_closest_marker("tracebuf") is not None for item in items):
        start(config)


def start(config: pytest.Config) -> None:
    """Registers what does the work, once."""
    if not config.pluginmanager.has_plugin("tracebuf-session"):
        from tracebuf.testing.plugin import Session

        config.pluginmanager.register(Session(config), "tracebuf-session")
