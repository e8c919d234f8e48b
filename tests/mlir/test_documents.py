"""The documents' programs through the passes they were written for: docs/passes.md is what is printed and executed."""

from __future__ import annotations

import pytest

from tests.mlir import documents
from tests.mlir.oracle import needs_mlir
from tests.support.params import one_in


@pytest.mark.parametrize(("name", "flags"), one_in(10, documents.CASES, rows=True))
@pytest.mark.cases(4)
def test_the_text_and_what_it_does(name: str, flags: tuple[str, ...]) -> None:
    """What a case prints and does, which is compared with what the program did before, stands on the page."""
    sections = documents.case(name, flags)
    assert "\n\n".join(sections) in documents.PAGE.read_text()


@pytest.mark.slow
@needs_mlir
def test_the_page_is_up_to_date_with_mlir_beside_it() -> None:
    assert documents.page() == documents.PAGE.read_text()


def test_every_program_of_the_documents_is_there() -> None:
    assert len(documents.programs()) == 39
    assert {name for name, _ in documents.CASES} <= documents.programs().keys()
