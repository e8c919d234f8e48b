"""docs/calling.md: its code runs as it stands."""

from __future__ import annotations

import ctypes
import linecache
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import tracebuf

PAGE = Path(__file__).parents[2] / "docs" / "calling.md"


@pytest.mark.slow
@pytest.mark.fast_tier
def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.S)
    names = {"np": np, "ctypes": ctypes, "tracebuf": tracebuf, "bufferize": tracebuf.bufferize, "warnings": warnings}
    assert len(blocks) == 11
    for k, block in enumerate(blocks):
        file = f"<calling {k}>"
        linecache.cache[file] = (len(block), None, block.splitlines(True), file)
        exec(compile(block, file, "exec"), names)
