"""The stories in a ContractError: of each allocation and copy that breaks a contract the lines, what it takes, the rule
and the edit, looked for as long as an error may take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracebuf.errors import ContractError
from tracebuf.explain.contracts import HELP
from tracebuf.explain.report import Entry
from tracebuf.stories.story import Story, stories

SECONDS = 2.0
"""How long edits are looked for."""
MOST_KEPT = 64
"""For so many messages a function keeps its stories: a call that is repeated is not looked at anew."""


def with_stories(f: Any, error: ContractError, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ContractError:
    """The error of a call, with the stories of its entries."""
    kept: dict[str, tuple[Story, ...]] = vars(f).setdefault("_stories_told", {})
    if not error.entries:
        return error
    if (told := kept.get(str(error))) is None:
        try:
            told = tuple(stories(f, args, kwargs, SECONDS, saved=False))
        except Exception:  # a call that cannot be looked at again breaks the contract all the same
            return error
        if len(kept) >= MOST_KEPT:
            kept.clear()
        kept[str(error)] = told
    wanted = [s for s in told if any(same(e, mine) for e in error.entries for mine in s.entries)]
    edits = {s.edit.text for s in wanted if s.edit is not None and s.edit.kind != "allocate once"}
    instead = error.instead
    if instead == HELP:
        instead = "change these lines, or allow it"
        if len(edits) == len(wanted):
            instead = f"make {'this edit' if len(edits) == 1 else 'these edits'}, or allow it"
    text = "\n".join([error.reason.partition("\n")[0], *parts(error.entries, wanted)])
    return ContractError(error.contract, text, error.location, instead, error.entries, tuple(wanted))


def same(a: Entry, b: Entry) -> bool:
    """Whether they tell of the same: their ops are of two programs."""
    return (a.kind, a.location, a.reason, a.size) == (b.kind, b.location, b.reason, b.size)


def parts(entries: Sequence[Entry], told: Sequence[Story]) -> list[str]:
    """The entries, each followed by what its story says beyond it; a story of several entries behind the last."""
    lines, left = list[str](), list(told)
    for k, entry in enumerate(entries):
        lines.append(str(entry))
        later = entries[k + 1 :]
        story = next((s for s in left if any(same(entry, e) for e in s.entries)), None)
        if story is None or any(same(e, mine) for e in later for mine in story.entries if not same(mine, entry)):
            continue
        left.remove(story)
        said = [text for style, text in story.told() if style in ("", "edit", "proof")]
        lines += [line for line in said if not line.startswith("  why:")]
    return lines
