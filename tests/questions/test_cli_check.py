"""`dailygrad bank check`: output and exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from questions.cli import bank_command

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.md").write_text("## 1. What is a view?\nA tensor.\n", "utf-8")
    (tmp_path / "odd.md").write_text("## 1. What is a `view?\n\n## 2. What is a copy?\nb\n", "utf-8")
    return tmp_path


def check(*words: object) -> Result:
    return CliRunner().invoke(bank_command, ["check", *(str(word) for word in words)])


def test_warnings_alone_do_not_fail_the_check(folder: Path) -> None:
    result = check(folder)
    assert result.exit_code == 0
    assert "good.md: 1 question · 1 answered, 0 unanswered · heading\n" in result.stdout
    assert "warning[Q004]" in result.stdout and "\x1b" not in result.stdout
    assert result.stdout.endswith("total: 2 documents, 2 answered, 1 unanswered, 2 warnings\n")


def test_an_error_fails_the_check(tmp_path: Path) -> None:
    file = tmp_path / "bad.md"
    file.write_text("---\nbank: bad\n---\n\n## ab · riddle\n", "utf-8")
    result = check(file)
    assert result.exit_code == 1
    assert "error[Q111]: `riddle` is not a kind of question" in result.stdout


def test_a_missing_file_is_reported_and_the_others_are_checked(folder: Path) -> None:
    missing = folder / "none.md"
    result = check(missing, folder / "good.md")
    assert result.exit_code == 2
    assert result.stderr == f"dailygrad: there is no {missing}: pass a document or a folder\n"
    assert "good.md: 1 question" in result.stdout


def test_a_folder_without_documents_is_a_wrong_argument(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    result = check(tmp_path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"dailygrad: there is no document in {tmp_path}: pass a file, or a folder with documents\n"


def test_json_and_github_formats(folder: Path) -> None:
    assert json.loads(check("--format", "json", folder).stdout)["answered"] == 2
    annotations = check("--format", "github", folder)
    assert annotations.exit_code == 0
    assert [line.partition(" ")[0] for line in annotations.stdout.splitlines()] == ["::warning", "::warning"]


@pytest.mark.parametrize(("paragraphs", "said"), [(2, False), (3, True)])
def test_it_says_so_where_most_of_a_document_is_in_no_question(tmp_path: Path, paragraphs: int, said: bool) -> None:
    file = tmp_path / "notes.md"
    study = "".join(f"Paragraph {n} is about tensors.\n\n" for n in range(paragraphs))
    file.write_text(f"## 1. What is a view?\n\nA tensor.\n\nIt shares memory.\n\n# Notes\n\n{study}", "utf-8")
    shown = check(file).stdout
    assert ("57% of the document" in shown, "if questions are missing" in shown) == (said, said)


def test_a_format_that_takes_no_recipe_does_not_suggest_one(tmp_path: Path) -> None:
    file = tmp_path / "quiz.gift"
    file.write_text("Is it a view? {T}\n\n" + "A sentence without braces.\n\n" * 9, "utf-8")
    shown = check(file).stdout
    assert "% of the document" in shown and "--question" not in shown


def test_what_belongs_to_no_question_is_named_and_listed(tmp_path: Path) -> None:
    file = tmp_path / "part.md"
    file.write_text("# Views\n\n## 1. What is a view?\nA tensor.\n\n# License\n\nMIT.\n", "utf-8")
    named = ' = in no question: lines 6–8 ("License")\n'
    assert named in check(file).stdout
    assert "1  Views" not in check(file).stdout
    assert f"{named}           1  Views\n         6–8  License\n" in check("--verbose", file).stdout
    (document,) = json.loads(check("--format", "json", file).stdout)["documents"]
    assert document["unused"] == [
        {"line": 1, "end_line": 1, "title": "Views", "minor": True},
        {"line": 6, "end_line": 8, "title": "License", "minor": False},
    ]


def test_an_unknown_format_is_rejected() -> None:
    result = check("--format", "xml", "a.md")
    assert result.exit_code == 2
    assert "--format" in result.stderr


def test_the_native_fixture_has_no_findings() -> None:
    result = check(FIXTURES / "native.md", "--format", "github")
    assert (result.exit_code, result.stdout) == (0, "")
