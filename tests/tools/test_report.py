"""The HTML report of a call: what it holds, and every view of it in a browser."""

from __future__ import annotations

import base64
import gzip
import json
import linecache
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import story_functions, story_programs
from tracebuf import bufferize
from tracebuf.commands.report import main as report_command

ROOT = Path(__file__).parents[2]
CHROMIUM = next((p for n in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(n))), None)
BEFORE = "<script>window.errors = []; window.onerror = m => { errors.push(m); };</script>"
CLICKS = """<script>
(async () => {
for (const name of ['Source', 'Conflicts', 'Lifetimes', 'What if', 'Stages']) {
  [...document.querySelectorAll('#tabs button')].find(b => b.textContent === name).click();
  if (view.textContent.length < 20 && name !== 'Stages') errors.push('nothing in ' + name); }
document.getElementById('theme').click();
for (let k = 0; k < 200 && !document.querySelector('.stage'); k++) await new Promise(r => setTimeout(r, 20));
for (const b of document.querySelectorAll('main button')) b.click();
for (const b of document.querySelectorAll('main button')) b.click();
document.querySelector('.stage [data-line]').click();
const hits = [...document.querySelectorAll('.stage')].filter(s => s.querySelector('.hit')).length;
if (document.documentElement.scrollWidth > innerWidth) errors.push('too wide');
document.title = JSON.stringify({errors, stages: hits, theme: document.documentElement.dataset.theme});
})();
</script></body>"""


def test_what_a_report_holds(tmp_path: Path) -> None:
    u, v = np.ones(1000), np.ones(1000)
    made = story_functions.saved_for_later.report(tmp_path / "out.html", u, v)
    text = (tmp_path / "out.html").read_text()
    assert text == made.html and "http" not in re.sub(r"http://www.w3.org/2000/svg", "", text)
    data = json.loads(re.search(r'id="data">(.*?)</script>', text)[1])  # type: ignore[index]
    assert [s["edit"]["kind"] for s in data["stories"]] == ["move"]
    data["stages"] = json.loads(gzip.decompress(base64.b64decode(data["stages"])))
    assert [s["name"] for s in data["stages"]][0] == "traced" and {s["name"] for s in data["stages"]} >= {"bufferize"}
    (buffer,) = data["ours"]["buffers"]
    assert (buffer["bytes"], buffer["at"], buffer["lives"]) == (8000, 0, "arena")
    assert max(s["live"] for s in data["eager"]) == 8000
    rows = {r["name"]: r for r in data["whatif"]}
    assert rows["as it is"]["allocations"] == 1 < rows["strategy: copy-before-write"]["allocations"]
    assert not any(" loc(" in line for s in data["stages"] for line, _ in s["lines"])
    np.testing.assert_array_equal(u, 1)


@pytest.mark.slow
def test_a_loop_is_shown_once(tmp_path: Path) -> None:
    """The chart of NumPy's memory showed all iterations: nothing could be read."""
    made = story_programs.heat.report(None, np.random.default_rng(0).random(1000), 50)
    first = story_programs.heat.__wrapped__.__code__.co_firstlineno + 2
    rows = [(row["line"], row["times"], row.get("loop")) for row in made.data["eager"]]
    assert rows == [(first, 51, first), *((first + k, 50, first) for k in (1, 2, 3)), (first + 4, 1, None)]
    assert max(row["live"] for row in made.data["eager"]) == 16000


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    out = tmp_path / "r.html"
    command = [sys.executable, "-m", "tracebuf", "report", "tests.support.story_functions:fresh", "f8[50]"]
    command += ["-o", str(out)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert (ran.returncode, ran.stdout) == (0, f"wrote {out}\n"), ran.stderr
    assert "fresh: memory" in out.read_text()
    ran = subprocess.run([*command[:4], "nothing"], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 2 and "MODULE:FUNCTION" in ran.stderr


def test_the_command_takes_plain_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain_solver.py").write_text("def doubled(u):\n    return u * 2\n\n\nDT = 0.1\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert report_command(["plain_solver:doubled", "f8[5]", "-o", str(tmp_path / "plain.html")]) == 0
    assert "doubled: memory" in (tmp_path / "plain.html").read_text()
    assert report_command(["plain_solver:DT", "f8[5]"]) == 2


@pytest.mark.slow
def test_a_pipe_that_is_closed_is_no_error() -> None:
    """`| head` ended in a traceback."""
    command = f"{sys.executable} -m tracebuf measure numpy:sort 'f8[9]' --repeat 1 | true"
    ran = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ran.stderr == ""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no browser")
@pytest.mark.parametrize("width", [400, 1600])
def test_every_view_in_a_browser(width: int, tmp_path: Path) -> None:
    def many(u: Any, v: Any, n: int) -> Any:
        w = u.copy()
        u *= 2
        v += w
        for _ in range(n):
            u[1:-1] = (u[:-2] + u[2:]) / 2
        d = np.cumsum(v)
        return d, (d[::-1] * u).sum()

    html = bufferize(many).report(None, np.ones(500), np.ones(500), 3).html
    page = tmp_path / "page.html"
    page.write_text(html.replace("<body>", "<body>" + BEFORE).replace("</body>", CLICKS))
    said = said_by(page, width)
    assert said["errors"] == [] and said["stages"] >= 3 and said["theme"] in ("light", "dark")


def said_by(page: Path, width: int) -> Any:
    """What a page's script leaves in its title, in a browser."""
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},900", "--dump-dom"]
    options.append("--virtual-time-budget=10000")  # programs are unpacked beside the script
    ran = subprocess.run([str(CHROMIUM), *options, str(page)], capture_output=True, text=True, timeout=120)
    return json.loads(re.search(r"<title>(.*?)</title>", ran.stdout)[1])  # type: ignore[index]


SEEN = """<script>
const press = name => [...document.querySelectorAll('#tabs button')].find(b => b.textContent === name).click();
const boxes = () => [...document.querySelectorAll('svg text')].map(t => [t.textContent, t.getBoundingClientRect()]);
const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
const over = found => found.flatMap(([s, a], k) => found.slice(k + 1).filter(([, b]) => meet(a, b)).map(
  ([t]) => s + '|' + t));
press('Conflicts');
const left = Math.min(...boxes().filter(([t]) => t.includes('u')).map(([, b]) => b.left)), here = over(boxes());
press('Lifetimes');
const high = Math.max(...[...document.querySelectorAll('svg')].at(-1).querySelectorAll('rect').values().map(
  r => r.getBoundingClientRect().height));
document.title = JSON.stringify({errors, left, here, there: over(boxes()), high});
</script></body>"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no browser")
@pytest.mark.parametrize("width", [400, 1600])
def test_a_long_function_can_be_read(width: int, tmp_path: Path) -> None:
    """Its source began at the right of the window, words lay over each other, and buffers were as thin as a line."""
    lines = ["    d{k} = np.cumsum(u)", "    u[1:] = u[:-1] + d{k}[1:]", "    for _ in range(n):", "        u *= 2"]
    made = written("many", "u, n", [line.format(k=k) for k in range(20) for line in lines])
    html = made.report(None, np.ones(500), 3).html
    page = tmp_path / "page.html"
    page.write_text(html.replace("<body>", "<body>" + BEFORE).replace("</body>", SEEN))
    said = said_by(page, width)
    assert (said["errors"], said["here"], said["there"]) == ([], [], []) and said["left"] < 300 and said["high"] > 40


@pytest.mark.slow
def test_a_long_program_is_under_three_megabytes() -> None:
    lines = [f"    u[{k}:] = np.cumsum(u[{k}:])[::-1] + {k}" for k in range(1, 40)]
    made = written("long", "u", lines).report(None, np.ones(200))
    assert sum(len(s["lines"]) for s in made.data["stages"]) > 3000
    assert len(made.html) < 3_000_000


def written(name: str, parameters: str, lines: list[str]) -> Any:
    """A bufferized function of these lines."""
    text = "\n".join([f"def {name}({parameters}):", *lines, "    return u.sum()\n"])
    names: dict[str, Any] = {"np": np}
    linecache.cache[f"<{name}>"] = (len(text), None, text.splitlines(True), f"<{name}>")
    exec(compile(text, f"<{name}>", "exec"), names)
    return bufferize(names[name])


def test_what_is_too_long_to_show_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tracebuf.pictures.gather.MOST_LINES", 10)
    made = story_functions.saved_for_later.report(None, np.ones(10), np.ones(10))
    ends = [stage["lines"][-1] for stage in made.data["stages"] if len(stage["lines"]) > 10]
    assert ends and all(re.fullmatch(r"// and \d+ lines more", text) and line == 0 for text, line in ends)


def test_a_report_shows_itself_in_one_line() -> None:
    report = bufferize(lambda a: np.cumsum(a).max()).report(None, np.ones(9))
    assert len(repr(report)) < 200 and "save(path)" in repr(report)
