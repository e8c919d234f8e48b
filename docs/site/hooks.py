"""What MkDocs asks while it builds the site: pages that are made of files outside of docs/.

README.md is the first page; CONTRIBUTING.md, CHANGELOG.md and tests/README.md are pages; each text of
tests/language/golden_errors is one, under errors/; and each file of the repository that a page links to is a page under
files/, so that the site is whole without a repository beside it. Links are rewritten to these.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
PAGES = {
    "README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md",
    "tests/README.md": "tests.md",
}  # fmt: skip
"""By its file in the repository: a page that stands outside of docs/."""
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"(^```.*?^```$)", re.M | re.S)
LANGUAGES = {".py": "python", ".toml": "toml", ".mlir": "mlir", ".c": "c", ".md": "markdown"}
MOST_LISTED = 60
FILES: dict[str, str] = {}
"""By the page of a file of the repository: its path."""


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages that are made."""
    FILES.clear()
    made = {page: (ROOT / path).read_text() for path, page in PAGES.items()}
    made |= error_pages()
    texts = {f.src_uri: f.content_string for f in files.documentation_pages()}
    for page, text in (texts | made).items():
        with_links(text, page)  # notes which files are linked to
    queue = dict(FILES)
    made |= {page: file_page(path) for page, path in queue.items()}
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """The page's text, with links to other pages."""
    return markdown if page.file.src_uri.startswith("files/") else with_links(markdown, page.file.src_uri)


WORKER = """<script>
if (location.protocol === 'file:') window.Worker = class extends EventTarget {
  constructor(url) { super(); const frame = document.createElement('iframe'); frame.hidden = true;
    document.body.append(frame); this.inner = frame.contentWindow;
    this.inner.postMessage = data => this.dispatchEvent(new MessageEvent('message', {data}));
    this.inner.importScripts = (...urls) => Promise.all(urls.map(u => this.load(u)));
    this.ready = this.load(url); }
  load(url) { return new Promise(done => { const s = this.inner.document.createElement('script');
    s.src = new URL(url, location.href); s.onload = done; this.inner.document.body.append(s); }); }
  postMessage(data) { this.ready.then(() => this.inner.dispatchEvent(new MessageEvent('message', {data}))); }
  terminate() {}
};
</script>"""
"""In the place of a worker, which a page from a disk may not start: a frame that runs its script."""


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Nothing is fetched: the theme's own stand-in for workers would be."""
    return re.sub(r'<script src="https://unpkg.com/iframe-worker/shim"></script>', lambda _: WORKER, output)


def on_post_template(output: str, template_name: str, config: Any) -> str:
    """As `on_post_page`, of 404.html."""
    return on_post_page(output, None, config)


def with_links(text: str, page: str) -> str:
    """A page's text with its links rewritten; blocks of code stay."""
    parts = FENCE.split(text)
    return "".join(part if k % 2 else LINK.sub(lambda m: link(m, page), part) for k, part in enumerate(parts))


def link(match: re.Match[str], page: str) -> str:
    """One link: to a page of the site. What does not exist stays as it is, and MkDocs says so."""
    target, anchor = match[1], match[2] or ""
    source = next((path for path, made in PAGES.items() if made == page), f"docs/{page}")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target))
    if page.startswith("errors/") or not (ROOT / path).exists():
        return match[0]
    if path in PAGES:
        found = PAGES[path]
    elif path.startswith("docs/") and path.endswith((".md", ".svg", ".png")):
        found = path.removeprefix("docs/")
    else:
        found = f"files/{path}.md"
        FILES[found] = path
        anchor = ""
    return f"]({posixpath.relpath(found, posixpath.dirname(page) or '.')}{anchor})"


def file_page(path: str) -> str:
    """A file of the repository, or what a directory holds."""
    here = ROOT / path
    if here.is_dir():
        names = sorted(p.name for p in here.iterdir() if not p.name.startswith((".", "__")))[:MOST_LISTED]
        return f"# {path}/\n\n" + "\n".join(f"- `{name}`" for name in names) + "\n"
    if here.suffix == ".ipynb":
        return f"# {path}\n\nA notebook: open `{path}` of the checkout with Jupyter.\n"
    return f"# {path}\n\n{fenced(here.read_text(), LANGUAGES.get(here.suffix, 'text'))}\n"


def fenced(text: str, language: str) -> str:
    return f"````{language}\n{text.rstrip()}\n````"


def error_pages() -> dict[str, str]:
    """A page for each refusal: a program, what is said of it, and what to write in its place."""
    pages, rows = {}, []
    for file in sorted((ROOT / "tests/language/golden_errors").glob("*.txt")):
        parts = dict(re.findall(r"^=== (\w+)\n(.*?)(?=^=== |\Z)", file.read_text(), re.M | re.S))
        message = parts["message"].strip().splitlines()
        reason = next(line for k, line in enumerate(message) if k and not line.startswith(" "))
        title = file.stem.replace("_", " ")
        body = f"# {title[0].upper()}{title[1:]}\n\n```python\n{parts['program'].strip()}\n```\n\n"
        body += f"`{parts['call'].strip().splitlines()[-1]}` says:\n\n{fenced(parts['message'], 'text')}\n"
        if parts.get("rewrite", "").strip():
            body += f"\nWhat works in its place:\n\n{fenced(parts['rewrite'], 'python')}\n"
        pages[f"errors/{file.stem}.md"] = body
        rows.append(f"| [{title}]({file.stem}.md) | {reason.replace('|', chr(92) + '|')} |")
    pages["errors/index.md"] = (
        "# What is refused, and what to write in its place\n\n"
        "Code outside of [the language](../language.md) raises `UnsupportedError` while it is traced, before anything\n"
        "has run: file, line, caret, reason, rewrite. Each page below is a program, the message, and a program that\n"
        "works; a test keeps each of them true.\n\n| | |\n|---|---|\n" + "\n".join(rows) + "\n"
    )
    return pages
