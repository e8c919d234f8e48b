"""The site: it is built without a warning, its links lead somewhere, nothing in it is fetched, and its chapters run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.support.params import one_in

ROOT = Path(__file__).parents[2]


class Found(HTMLParser):
    """What a page links to, what it loads, and where links into it may point."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {k: v or "" for k, v in attrs}
        self.anchors |= {given[k] for k in ("id", "name") if k in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in ("script", "img", "iframe") and "src" in given:
            self.loads.append(given["src"])
        if tag == "link" and given.get("rel") != "canonical":
            self.loads.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs")
    made = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-f", "docs/site/mkdocs.yml", "-d", str(made)]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=env, timeout=300)
    assert run.returncode == 0 and "WARNING" not in run.stderr, run.stderr
    return made


def test_links_lead_somewhere_and_nothing_is_fetched(site: Path) -> None:
    pages = {page: Found(page) for page in site.rglob("*.html") if page.name != "404.html"}
    assert len(pages) > 100  # every refusal has one
    wrong = []
    for page, found in pages.items():
        for target in found.links + found.loads:
            if re.match(r"https?:|mailto:|data:", target):
                if target in found.loads:
                    wrong.append(f"{page.name} loads {target}")
                continue
            path, _, anchor = target.partition("#")
            there = (page.parent / unquote(path)).resolve() if path else page
            there = there / "index.html" if there.is_dir() else there
            if not there.exists():
                wrong.append(f"{page.name}: {target}")
            elif anchor and there in pages and unquote(anchor) not in pages[there].anchors:
                wrong.append(f"{page.name}: no place {target}")
    assert not wrong, "\n".join(sorted(set(wrong))[:20])


def test_pages_of_the_navigation_exist() -> None:
    text = (ROOT / "docs/site/mkdocs.yml").read_text()
    made = {"index.md", "contributing.md", "changelog.md", "tests.md", "errors/index.md"}
    pages = set(re.findall(r": (\S+\.md)$", text, re.M)) - made
    assert pages and not [p for p in pages if not (ROOT / "docs" / p).exists()]


@pytest.mark.parametrize("page", one_in(3, ["extending.md", "tour.md", "bufferization-from-scratch.md"]))
@pytest.mark.slow
def test_chapters_print_what_they_say(page: str) -> None:
    run = subprocess.run(
        [sys.executable, "docs/chapters.py", page], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stdout + run.stderr[-2000:]


@pytest.mark.slow
def test_pages_say_what_they_are_about(site: Path) -> None:
    assert "NumPy code pays for every intermediate result" in (site / "index.html").read_text()
    assert "What works in its place" in (site / "errors/random.html").read_text()
    assert "def analyze" in re.sub(r"<[^>]*>", "", (site / "bufferization-from-scratch.html").read_text())
    assert "TENSOR_PASSES" in re.sub(r"<[^>]*>", "", (site / "files/tracebuf/pipeline.py.html").read_text())


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("chromium") is None, reason="wants a browser")
@pytest.mark.parametrize("width", [400, 1600])
def test_it_is_searched_from_a_disk(site: Path, width: int) -> None:
    """Nothing is fetched, nothing is wrong, and no page is wider than the window."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page, errors = browser.new_page(viewport={"width": width, "height": 900}), []
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda e: errors.append(str(e)))
        page.goto((site / "errors" / "set.html").as_uri())
        page.wait_for_timeout(300)
        if width < 1000:
            page.click("label.md-header__button[for=__search]")
        else:
            page.keyboard.press("s")
        page.wait_for_timeout(300)
        page.keyboard.type("contract")
        page.wait_for_selector(".md-search-result__item", timeout=10_000)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        browser.close()
    assert not errors and wide <= 0
