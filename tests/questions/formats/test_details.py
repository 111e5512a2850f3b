"""Details of each format of text, one promise in each case of details/*.txt: places, texts, findings and their help."""

from __future__ import annotations

from pathlib import Path

import pytest

from questions import read_bank
from tests.questions.formats.test_formats import Case, cases, shown


@pytest.mark.parametrize("case", cases(Path(__file__).parent / "details"), ids=lambda case: case.id)
def test_detail_is_read_as_written_beside_it(case: Case) -> None:
    reading = read_bank(case.document, name=case.file)
    assert shown(reading) == case.expected
    assert reading.unaccounted() == ()
