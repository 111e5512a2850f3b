"""Every code of a finding has its page in FINDINGS.md, and every page is about a code there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import questions
from questions.report import explained, explanations

PACKAGE = Path(questions.__file__).parent
CODES = {
    code
    for path in PACKAGE.rglob("*.py")
    for code in re.findall(r"[\"']([QP]\d{3})[\"']", path.read_text(encoding="utf-8"))
}


def test_codes_are_found_in_the_source() -> None:
    assert {"Q001", "P101", "P124"} <= CODES


def test_every_code_has_a_section() -> None:
    missing = sorted(CODES - set(explanations()))
    assert missing == [], f"write `## {missing[0]} title` with meaning, example and cure in questions/FINDINGS.md"


def test_every_section_is_about_a_code_there_is() -> None:
    assert sorted(set(explanations()) - CODES) == []


@pytest.mark.parametrize("code", sorted(explanations()))
def test_a_section_has_a_meaning_an_example_and_a_cure(code: str) -> None:
    section = explanations()[code]
    heading, _, rest = section.partition("\n\n")
    assert re.fullmatch(r"## [QP]\d{3}(, [QP]\d{3})* \S.*", heading)
    assert re.match(r"\w[^\n]{20,}", rest), "say what it means first"
    assert len(re.findall(r"^```", rest, re.MULTILINE)) == 2, "show one example, in a fence"
    assert re.search(r"^\*\*Cure:\*\* \S", rest, re.MULTILINE)


@pytest.mark.parametrize("written", ["P102", "p102", " P102 ", "error[P102]"])
def test_a_code_is_explained_however_it_is_written(written: str) -> None:
    assert explained(written).startswith("## P102 ")


def test_sections_stand_in_the_order_of_their_codes() -> None:
    def rank(code: str) -> tuple[bool, str]:
        return code.startswith("P"), code

    assert list(explanations()) == sorted(explanations(), key=rank)


def test_a_code_there_is_none_of() -> None:
    with pytest.raises(KeyError):
        explained("P999")
