"""`python -m questions`: what it prints and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from questions.__main__ import check_main, main

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "good.md").write_text("## 1. What is a view?\nA tensor.\n", "utf-8")
    (tmp_path / "odd.md").write_text("## 1. What is a `view?\n\n## 2. What is a copy?\nb\n", "utf-8")
    return tmp_path


def test_warnings_alone_are_no_failure(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check_main([folder]) == 0
    out = capsys.readouterr().out
    assert "good.md: 1 question · 1 answered, 0 unanswered · heading-prose\n" in out
    assert "warning[Q004]" in out and "\x1b" not in out
    assert out.endswith("total: 2 documents, 2 answered, 1 unanswered, 2 warnings\n")


def test_an_error_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bad.md"
    file.write_text("---\nbank: bad\n---\n\n## ab · riddle\n", "utf-8")
    assert main([str(file)]) == 1
    assert "error[Q111]: `riddle` is not a kind of question" in capsys.readouterr().out


def test_a_missing_file_is_named_and_the_others_are_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = folder / "none.md"
    assert check_main([missing, folder / "good.md"]) == 2
    printed = capsys.readouterr()
    assert printed.err == f"{missing}: No such file or directory: pass a Markdown file or a folder\n"
    assert "good.md: 1 question" in printed.out


def test_json_and_github(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--format", "json", str(folder)]) == 0
    assert json.loads(capsys.readouterr().out)["answered"] == 2
    assert main(["--format", "github", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["::warning", "::warning"]


def test_an_unknown_format_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--format", "xml", "a.md"])
    assert stop.value.code == 2
    assert "xml" in capsys.readouterr().err


def test_our_own_fixture_is_faultless() -> None:
    assert check_main([FIXTURES / "native.md"], "github") == 0
