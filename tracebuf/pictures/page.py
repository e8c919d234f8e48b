"""The HTML file of a report: its data as JSON, a style, and a script that draws it (report.css, report.js). It loads
nothing."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any

from tracebuf.process.display import escaped


def page(data: dict[str, Any]) -> str:
    """The text of the file."""
    title = escaped(f"{data['name']}: memory")
    shown = as_json({**data, "stages": packed(data["stages"])}).replace("<", "\\u003c")
    parts = {"TITLE": title, "STYLE": part("report.css"), "SCRIPT": part("report.js"), "DATA": shown}
    text = _PAGE
    for name, value in parts.items():
        text = text.replace(f"@{name}@", value)
    return text


def as_json(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"))


def packed(data: Any) -> str:
    """JSON of the programs, ten times smaller: by gzip, in letters. The script unpacks it when it is looked at."""
    return base64.b64encode(gzip.compress(as_json(data).encode(), mtime=0)).decode("ascii")


def part(name: str) -> str:
    """A file beside this one."""
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><title>@TITLE@</title><style>@STYLE@</style></head>
<body><header><h1>@TITLE@</h1><nav id="tabs"></nav><button id="theme" type="button">light / dark</button></header>
<main id="view"></main><script type="application/json" id="data">@DATA@</script>
<script>@SCRIPT@</script>
</body></html>
"""
