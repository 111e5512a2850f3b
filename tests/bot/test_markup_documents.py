"""Whole documents, a fixture and five real ones: each part reads well as HTML, as text and as one line."""

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import pytest

from bot.core.markup import parse, to_html, to_plain, to_summary
from bot.core.markup.plain import cells
from tests.external import SEEDS, needs_seeds

FIXTURE = Path(__file__).parent / "fixtures" / "document.md"
FILES = sorted(SEEDS.glob("0*.txt"))


class Documents(NamedTuple):
    """The parts of documents and what is known of them."""

    parts: list[str]
    formulas: int
    """A number that their formulas exceed."""
    stray_backticks: int
    """Backticks without a partner, or escaped."""


def parts_of(files: Sequence[Path]) -> list[str]:
    """Returns the documents cut before each heading outside code, where their questions and answers begin."""
    found: list[str] = []
    for file in files:
        fenced = False
        current: list[str] = []
        for line in file.read_text(encoding="utf-8").splitlines(keepends=True):
            fenced ^= line.lstrip().startswith("```")
            if not fenced and re.match(r"#{1,4} ", line) and current:
                found.append("".join(current))
                current = []
            current.append(line)
        found.append("".join(current))
    return found


def lines_outside_code(text: str) -> list[str]:
    """Returns the lines without the bar that stands before code."""
    return [
        line
        for is_code, run in groupby(text.split("\n"), key=lambda line: "  │" in line)
        if not is_code
        for line in run
    ]


@pytest.fixture(params=["fixture", pytest.param("real", marks=needs_seeds.marks)])
def documents(request: pytest.FixtureRequest) -> Documents:
    if request.param == "fixture":
        return Documents(parts_of([FIXTURE]), formulas=14, stray_backticks=0)
    return Documents(parts_of(FILES), formulas=50, stray_backticks=3)


@needs_seeds
def test_all_five_are_here() -> None:
    assert len(FILES) == 5
    assert len(parts_of(FILES)) > 114


def test_no_markup_is_left_in_the_text(documents: Documents) -> None:
    lines = [line for part in documents.parts for line in lines_outside_code(to_plain(parse(part)))]
    assert [line for line in lines if re.search(r"\*\*|\*\w|\$|\\[a-z(\[]|^#|```", line)] == []
    assert sum(line.count("`") for line in lines) == documents.stray_backticks
    assert [line for line in lines if cells(line) > 80] == []


def test_every_formula_becomes_mathml(documents: Documents) -> None:
    pages = [to_html(parse(part)) for part in documents.parts]
    assert [page for page in pages if "math-source" in page] == []
    assert sum(page.count("<math ") for page in pages) > documents.formulas


def test_every_program_is_highlighted(documents: Documents) -> None:
    for part in documents.parts:
        for language, code in re.findall(
            r"<pre [^>]*aria-label=\"Code, (\w+)\"><code>(.*?)</code>", to_html(parse(part)), re.S
        ):
            assert '<span class="' in code, language


def test_every_word_of_a_part_is_in_its_page(documents: Documents) -> None:
    for part in documents.parts:
        shown = set(re.findall(r"\w{4,}", re.sub(r"<[^>]*>", " ", to_html(parse(part)))))
        fences = set(re.findall(r"^\s*```(\w+)", part, re.M))
        latex = set(re.findall(r"\\([a-z]+)", part))
        assert set(re.findall(r"(?<!\\)\b[A-Za-z]{4,}\b", part)) - shown - fences - latex == set(), part


@needs_seeds
def test_the_broken_command_of_a_document_is_shown_as_written() -> None:
    text = " ".join(" ".join(to_plain(parse(part)) for part in parts_of(FILES)).split())
    assert "wrapping an operation in text{with torch.no_grad(): versus calling .detach() on" in text
    assert 'an if __name__ == "__main__": block' in text


def test_each_has_a_summary(documents: Documents) -> None:
    for part in documents.parts:
        assert 0 < len(to_summary(parse(part), 120)) <= 120
