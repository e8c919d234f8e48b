"""Hypothesis profiles, and the verifier.

`ci`, the default, is deterministic; `pytest --hypothesis-profile=explore` draws anew each time. Neither has a deadline:
the first example of a program pays for its compilation. What tests trace is verified after tracing and after each pass.
Machine code is kept for the other tests of a run, and for no other run.
The collector looks seldom at what is new, and never at the tests themselves: a tenth of a run's time.
"""

import atexit
import gc
import itertools
import os
import shutil
import tempfile
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci", derandomize=True, deadline=None, database=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "explore", derandomize=False, deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ci")

os.environ.setdefault("TRACEBUF_VERIFY", "1")
os.environ.setdefault("TRACEBUF_TIER", "fast")  # both tiers are tried by tests/native/test_tiers.py
if "TRACEBUF_CACHE_DIR" not in os.environ:  # workers have it from the process that makes them
    os.environ["TRACEBUF_CACHE_DIR"] = kept = tempfile.mkdtemp(prefix="tracebuf-")
    atexit.register(shutil.rmtree, kept, ignore_errors=True)
# A program out of the cache is not traced: tests of tracing and of the passes would test nothing. Those of such
# programs are in tests/tools/test_persist.py.
os.environ.setdefault("TRACEBUF_CACHE_PROGRAMS", "0")
gc.set_threshold(100_000, 50, 100)

QUICK = 1
"""With how many of its parameters a test runs in `make check`, if not each is marked slow."""
OF_A_FILE = 2
"""How many tests of a file, spread over it, `make check` runs; of test_house.py all, as any change may break it."""
teardowns = itertools.count(1)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, obj: object) -> list[pytest.Item] | None:
    """Where slow tests are not asked for, no items are made of them, which takes as long as finding the others."""
    slow = any(mark.name == "slow" for mark in getattr(obj, "pytestmark", ()))
    return [] if slow and collector.config.option.markexpr == "not slow" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests begin, else one worker would end with them alone. Of a test with many parameters `QUICK` of
    those that are not marked slow are fast; of a file with many tests `OF_A_FILE`."""
    items.sort(key=lambda item: "tests/tools/" not in item.nodeid)
    found = defaultdict[str, list[pytest.Function]](list)
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec") and item.get_closest_marker("slow") is None:
            found[item.nodeid.partition("[")[0]].append(item)
    for each in found.values():
        for item in sorted(each, key=lambda item: tuple(item.callspec.indices.values()))[QUICK:]:
            item.add_marker(pytest.mark.slow)
    files = defaultdict[Path, list[pytest.Item]](list)
    for item in items:
        if item.get_closest_marker("slow") is None and item.path.name != "test_house.py":
            files[item.path].append(item)
    for tests in files.values():
        tests.sort(key=lambda item: item.reportinfo()[1] or 0)
        chosen = {k * len(tests) // OF_A_FILE for k in range(OF_A_FILE)}
        for k, item in enumerate(tests):
            if len(tests) > OF_A_FILE and k not in chosen:
                item.add_marker(pytest.mark.slow)


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.collect()
    gc.freeze()


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """What the tests of eight files leave behind is not looked at again either."""
    if nextitem is not None and nextitem.path != item.path and next(teardowns) % 8 == 0:
        gc.collect()
        gc.freeze()
