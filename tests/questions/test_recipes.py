"""Recipes: an author states how questions are written, in the front matter or by command."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from questions import read_bank
from questions.cli import bank_command
from questions.patterns.recipes import Recipe, match_line, parse_pattern

TEXT = """@@ 1 -- Which is even?

A) one
B) two

=> B

@@ 2 -- State the law

=> It holds.
Always.
"""
RECIPE = Recipe("@@ {n} -- {prompt}", "=> {key}")


def test_a_recipe_reads_what_no_pattern_explains() -> None:
    assert read_bank(TEXT, name="a.md").answered == 0
    reading = read_bank(TEXT, name="a.md", recipe=RECIPE)
    one, two = reading.bank.questions
    assert (one.number, one.prompt, [option.right for option in one.options]) == ("1", "Which is even?", [False, True])
    assert (two.prompt, two.answer) == ("State the law", "It holds.\nAlways.")
    assert reading.explanation == ("2 questions by the recipe `@@ {n} -- {prompt}`, answered by `=> {key}`",)
    assert reading.unaccounted() == ()


def test_the_front_matter_states_a_recipe() -> None:
    front = '---\nquestion: "@@ {n} -- {prompt}"\nanswer: "=> {key}"\n---\n\n'
    assert read_bank(front + TEXT, name="a.md").answered == 2


@pytest.mark.parametrize("pattern", ["{number}. {prompt}", "{prompt} {prompt}", "{n}{prompt}", "{title}", "x" * 300])
def test_a_recipe_that_cannot_be_read_is_named(pattern: str) -> None:
    reading = read_bank(f'---\nquestion: "{pattern} {{n}}"\n---\n\ntext\n', name="a.md", recipe=Recipe(pattern))
    assert [finding.code for finding in reading.findings if finding.severity == "error"] == ["Q009"]


def test_fields_end_at_the_first_text_that_follows_them() -> None:
    pattern = parse_pattern("### {n}. {title}: {prompt}", ("n", "title", "prompt"))
    assert match_line("###  7. Views:  Why: so?", pattern) == {"n": "7", "title": "Views", "prompt": "Why: so?"}
    assert match_line("### x. Views: Why?", pattern) is None


def test_a_command_takes_a_recipe(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TEXT, "utf-8")
    arguments = ["check", str(tmp_path / "a.md"), "--question", RECIPE.question, "--answer", RECIPE.answer]
    result = CliRunner().invoke(bank_command, arguments)
    assert result.exit_code == 0 and "2 questions by the recipe" in result.stdout


def test_an_empty_folder_and_a_picture_are_no_success(tmp_path: Path) -> None:
    assert CliRunner().invoke(bank_command, ["check", str(tmp_path)]).exit_code == 1
    (tmp_path / "a.md").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    result = CliRunner().invoke(bank_command, ["check", str(tmp_path / "a.md")])
    assert result.exit_code == 1 and "this is a PNG picture" in result.stdout
