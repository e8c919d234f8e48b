"""docs/calling.md, docs/measuring.md, docs/testing.md and docs/threads.md: their code runs as it stands."""

from __future__ import annotations

import ctypes
import linecache
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import tracebuf

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.slow
@pytest.mark.fast_tier
@pytest.mark.parametrize(("page", "count"), [("calling", 11), ("testing", 4), ("measuring", 3), ("threads", 1)])
def test_the_code_of_the_page_runs(page: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / f"{page}.md").read_text(), flags=re.S)
    names = {"np": np, "ctypes": ctypes, "tracebuf": tracebuf, "bufferize": tracebuf.bufferize, "warnings": warnings}
    assert len(blocks) == count
    for k, block in enumerate(blocks):
        file = f"<{page} {k}>"
        linecache.cache[file] = (len(block), None, block.splitlines(True), file)
        exec(compile(block, file, "exec"), names)
