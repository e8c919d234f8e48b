"""Runs the pages that are programs: the Python blocks of a chapter, in order, in one namespace.

    python docs/chapters.py --write     # puts what each block prints into the `text` block behind it
    python docs/chapters.py             # says whether the pages are up to date (exit status 1 if not)

A block of Python that a block of text follows prints that text; one that nothing follows prints nothing. Lines in what
is printed are counted within the block. `tests/tools/test_site.py` runs this.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import linecache
import os
import re
import sys
import types
from pathlib import Path

os.environ["TRACEBUF_CACHE_PROGRAMS"] = "0"

DOCS = Path(__file__).parent
CHAPTERS = ("tour.md", "bufferization-from-scratch.md", "extending.md")
BLOCK = re.compile(r"^```python\n(.*?)^```\n(\n```text\n.*?^```\n)?", re.M | re.S)


def run(page: str) -> str:
    """The page with what its blocks print.

    Raises what a block raises, with the page and the number of the block as its file.
    """
    module = sys.modules["chapter"] = types.ModuleType("chapter")
    blocks = 0

    def printed(match: re.Match[str]) -> str:
        nonlocal blocks
        blocks += 1
        source, file = match[1], f"<{page}, block {blocks}>"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(source, file, "exec"), vars(module))
        text = "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines())
        return f"```python\n{source}```\n" + (f"\n```text\n{text}\n```\n" if text else "")

    return BLOCK.sub(printed, (DOCS / page).read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description="the pages that are programs")
    parser.add_argument("pages", nargs="*", default=CHAPTERS)
    parser.add_argument("--write", action="store_true", help="write the pages")
    args = parser.parse_args()
    stale = []
    for page in args.pages:
        made = run(page)
        if made != (DOCS / page).read_text():
            stale.append(page)
            if args.write:
                (DOCS / page).write_text(made)
    if stale:
        print(f"{'written' if args.write else 'not up to date'}: {', '.join(stale)}")
    sys.exit(bool(stale) and not args.write)


if __name__ == "__main__":
    main()
