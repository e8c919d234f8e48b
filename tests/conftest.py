"""Hypothesis profiles, and the verifier.

`ci`, the default, is deterministic; `pytest --hypothesis-profile=explore` draws anew each time. Neither has a deadline:
the first example of a program pays for its compilation. What tests trace is verified after tracing and after each pass.
One test in six runs fast code, which takes LLVM seven times as long, the others quickly made code, chosen by their
names (`TRACEBUF_TIER=fast` or `quick`: all); a third of those that `climb` run fast code, and all that are marked
`fast_tier`. Machine code is kept for the other tests of a run, and for no other run.

A run of the whole suite takes all fast tests and one slow test in `SHARE`, chosen by their names: others with another
`--turn` (`make test TURN=5`); `--share 1`, which is `make sweeps`, takes all of them. So does a run that names files or
tests.
The collector looks seldom at what is new, and never at the tests themselves: a tenth of a run's time.
"""

import atexit
import gc
import itertools
import os
import shutil
import tempfile
import zlib
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
TIERS = (os.environ["TRACEBUF_TIER"],) if "TRACEBUF_TIER" in os.environ else ("fast", *["quick"] * 5)
os.environ["TRACEBUF_TIER"] = TIERS[0]
if "TRACEBUF_CACHE_DIR" not in os.environ:  # workers have it from the process that makes them
    os.environ["TRACEBUF_CACHE_DIR"] = kept = tempfile.mkdtemp(prefix="tracebuf-")
    atexit.register(shutil.rmtree, kept, ignore_errors=True)
# A program out of the cache is not traced: tests of tracing and of the passes would test nothing. Those of such
# programs are in tests/tools/test_persist.py.
os.environ.setdefault("TRACEBUF_CACHE_PROGRAMS", "0")
gc.set_threshold(100_000, 50, 100)

SHARE = 128
OF_A_FILE = 1
"""How many tests of a file `--sample` leaves; of test_house.py all, as any change may break it."""
teardowns = itertools.count(1)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, obj: object) -> list[pytest.Item] | None:
    """Where slow tests are not asked for, no items are made of them, which takes as long as finding the others."""
    slow = any(mark.name == "slow" for mark in getattr(obj, "pytestmark", ()))
    return [] if slow and collector.config.option.markexpr == "not slow" else None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A sample is of every third file of each room: half of its time would go into reading the others."""
    room, is_test = collection_path.parent, collection_path.name.startswith("test_")
    if not (is_test and config.getoption("--sample")) or room == Path(__file__).parent:
        return None
    return sorted(room.glob("test_*.py")).index(collection_path) % 3 > 0 or None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sample", action="store_true", help="a fast test of every third file: what `make check` runs")
    parser.addoption("--share", type=int, metavar="N", help=f"one slow test in N; 1: all. {SHARE} of the whole suite")
    parser.addoption("--turn", type=int, metavar="K", default=0, help="which of these shares, from 0")


def pytest_configure(config: pytest.Config) -> None:
    """Workers are told by the process that makes them, which knows whether files were named."""
    named = config.args_source is pytest.Config.ArgsSource.ARGS
    share = config.getoption("--share") or (1 if named else SHARE)
    os.environ.setdefault("TRACEBUF_TESTS_SHARE", str(share))
    os.environ.setdefault("TRACEBUF_TESTS_TURN", str(config.getoption("--turn")))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The longest tests begin, else one worker would end with them alone."""
    items.sort(key=lambda item: "tests/tools/" not in item.nodeid)
    for item in items:
        mark = item.get_closest_marker("cases")
        if mark is not None and isinstance(item, pytest.Function):
            if sum(item.callspec.indices.values()) % mark.args[0]:
                item.add_marker("slow")
    share, turn = int(os.environ["TRACEBUF_TESTS_SHARE"]), int(os.environ["TRACEBUF_TESTS_TURN"])
    leave_out(config, [item for item in items if not in_share(item, share, turn)], items)
    if config.getoption("--sample"):
        chosen = sample(items)
        leave_out(config, [item for item in items if item not in chosen], items)


def leave_out(config: pytest.Config, some: list[pytest.Item], items: list[pytest.Item]) -> None:
    left_out = set(some)
    config.hook.pytest_deselected(items=some)
    items[:] = [item for item in items if item not in left_out]


def in_share(item: pytest.Item, share: int, turn: int) -> bool:
    """Whether a test is run: a fast one always."""
    slow = item.get_closest_marker("slow") is not None
    return not slow or zlib.crc32(f"share {item.nodeid}".encode()) % share == turn % share


def sample(items: list[pytest.Item]) -> set[pytest.Item]:
    """The fast tests that stand for all: `OF_A_FILE` of each file, with the first of their parameters that are fast."""
    files = defaultdict[Path, dict[str, pytest.Item]](dict)
    for item in items:
        if item.get_closest_marker("slow") is None:
            name = item.nodeid.partition("[")[0]
            before = files[item.path].setdefault(name, item)
            if place(item) < place(before):
                files[item.path][name] = item
    chosen = set[pytest.Item]()
    for path, by_name in files.items():
        tests = sorted(by_name.values(), key=place)
        n = OF_A_FILE if path.name != "test_house.py" else len(tests)
        chosen.update(tests[(2 * k + 1) * len(tests) // (2 * n)] for k in range(n))
    return chosen


def place(item: pytest.Item) -> tuple[int, ...]:
    """Where a test stands in its file, whatever order the tests run in: its line, then its parameters."""
    indices = item.callspec.indices.values() if isinstance(item, pytest.Function) and hasattr(item, "callspec") else ()
    return (item.reportinfo()[1] or 0, *indices)


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    from tracebuf.testing import ladder

    number, marked = zlib.crc32(item.nodeid.encode()), item.get_closest_marker("fast_tier") is not None
    os.environ["TRACEBUF_TIER"] = "fast" if marked else TIERS[number % len(TIERS)]
    ladder.TIER = "fast" if marked else TIERS[:3][number % len(TIERS[:3])]


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """What the tests of eight files leave behind is not looked at again either."""
    if nextitem is not None and nextitem.path != item.path and next(teardowns) % 8 == 0:
        gc.collect()
        gc.freeze()
