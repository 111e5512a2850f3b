"""The README: short enough to be read, with pictures that exist and an example that works."""

from __future__ import annotations

import re
import subprocess

import pytest

from questions import read_bank
from tests.docs.pages import README, ROOT, blocks_of, text_of
from tests.questions.shipped import read_shipped_bank

MOST_LINES = 150
MOST_BYTES = 600_000
"""Size of the largest picture."""


def test_it_has_at_most_150_lines() -> None:
    assert len(text_of(README).splitlines()) <= MOST_LINES


def test_its_pictures_exist_and_have_a_description() -> None:
    pictures = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", text_of(README))
    assert len(pictures) >= 3
    for description, path in pictures:
        assert len(description) > 10, path
        assert 0 < (ROOT / path).stat().st_size <= MOST_BYTES, path


def test_its_example_reads_without_a_finding() -> None:
    (example,) = blocks_of(README, "markdown")
    reading = read_bank(example, name="example.md")
    assert reading.findings == ()
    assert len(reading.bank.questions) == 1


def test_it_states_what_it_needs() -> None:
    text = text_of(README)
    for word in ("Linux", "macOS", "Windows", "Python 3.11", "memory", "disk"):
        assert word in text, word


def test_its_figures_are_those_of_the_shipped_bank() -> None:
    questions = read_shipped_bank().questions
    code = sum(question.kind == "code" for question in questions)
    families = sum(bool(question.draw) for question in questions)
    assert f"{len(questions)} questions ship with it, {code} of them coding challenges" in text_of(README)
    added = " ".join(text_of(ROOT / "CHANGELOG.md").split())
    assert f"{len(questions)} questions with proofs, {code} of them coding challenges, {families} of them fam" in added


@pytest.mark.parametrize("target", ["run", "test"])
def test_its_make_targets_exist(target: str) -> None:
    assert f"make {target}" in text_of(README)
    subprocess.run(
        ["make", "--dry-run", "--always-make", target], cwd=ROOT, check=True, capture_output=True, timeout=60
    )
