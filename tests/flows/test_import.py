"""Imports by the operator, as processes: dry run, import, log and undo, and errors in one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forked

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DOCUMENT = """# Views

### 1. Does `x.t()` return a view of the tensor, or a copy?

**Answer:** A view.

### 2. What does `clone` do to the memory of a tensor?

**Answer:** It copies it.

### 3. Is what `x.t()` returns a copy of the tensor, or a view?

**Answer:** A view, always.
"""


def bank(*words: str, url: str) -> subprocess.CompletedProcess[str]:
    ours = ("DAILYGRAD_", "DATABASE_URL")
    rest = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return forked.run(
        [sys.executable, "-m", "dailygrad", "bank", *words],
        cwd=ROOT,
        env={**rest, "DATABASE_URL": url, "COLUMNS": "200"},
        text=True,
        timeout=60,
    )


def done(*words: str, url: str) -> str:
    ended = bank(*words, url=url)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    return ended.stdout


def test_look_import_edit_undo_and_read_the_record(database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "views.md"
    file.write_text(DOCUMENT, encoding="utf-8")
    looked = done("import", str(file), "--dry-run", url=database_url)
    assert "views: 3 new, 0 changed, 0 unchanged, 0 unanswered, 1 near duplicate; nothing was written" in looked
    assert "added     line 7: what-does-clone-do-to-the-memory-of-a-tensor: What does clone do to" in looked
    assert "0.65 or more is near" in looked
    assert "line 11: is-what-x-t-returns" in looked

    said = done("import", str(file), url=database_url)
    assert said == "  views: 3 new, 0 changed, 0 unchanged, 0 unanswered, 1 near duplicate\n"
    file.write_text(DOCUMENT.replace("It copies it.", "It doubles it."), encoding="utf-8")
    (view,) = json.loads(done("import", str(file), "--dry-run", "--format", "json", url=database_url))
    assert (view["applied"], view["changed"], view["changes"][0]["what"]) == (False, 1, "changed")
    done("import", str(file), url=database_url)

    undone = done("undo", "views", url=database_url)
    assert undone.startswith("  views: 1 changed back, 0 retired, 0 restored\n    changed   what-does-clone")
    lines = done("log", "views", url=database_url).splitlines()
    assert lines[0] == "  views: 3 imports"
    assert [line.split(": ", 1)[1] for line in lines[1:]] == [
        "0 new, 1 changed, 0 unchanged, 0 retired",
        "0 new, 1 changed, 2 unchanged, 0 retired",
        "3 new, 0 changed, 0 unchanged, 0 retired",
    ]
    assert "undo of 2" in lines[1]


def test_what_cannot_be_done_is_refused_in_a_sentence(database_url: str, tmp_path: Path) -> None:
    for words, said in (
        (("import", str(tmp_path / "none.md")), "none.md: pass a document or a folder"),
        (("undo", "nowhere"), "there is no shared bank 'nowhere': import one"),
        (("log", "nowhere"), "there is no shared bank 'nowhere': import one"),
    ):
        ended = bank(*words, url=database_url)
        assert ended.returncode == 2
        assert ended.stderr.startswith("dailygrad: ")
        assert said in ended.stderr
        assert len(ended.stderr.splitlines()) == 1
    assert bank("import", "--format", "xml", url=database_url).returncode == 2


def test_a_document_that_stays_out_fails_the_command(database_url: str, tmp_path: Path) -> None:
    file = tmp_path / "study.md"
    file.write_text("Only words.\n", encoding="utf-8")
    ended = bank("import", str(file), url=database_url)
    assert ended.returncode == 1
    assert (
        "study: not imported\n    error: no questions recognized, so nothing is imported; state in a recipe"
        in ended.stdout
    )


def test_an_error_in_a_document_is_shown_with_its_place_and_fix(database_url: str, tmp_path: Path) -> None:
    text = "---\nbank: one\n---\n\n# t\n\n## a · value · mid\n\nWhat is it?\n\n### Answer\n\n`1`\n\n### Wy\n\nSo.\n"
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    ended = bank("import", str(tmp_path), url=database_url)
    assert ended.returncode == 1
    first, second = ended.stdout.split("  one: not imported\n")[1:]
    assert "    error[Q307]: the bank `one` is also that of b.md\n" in first
    assert "    error[Q307]: the bank `one` is also that of a.md\n" in second
    assert f"    error[Q113]: `Wy` is not a part of a question\n      --> {tmp_path}/a.md:15:5\n" in first
    assert "       = help: did you mean `Why`?\n" in first
    assert bank("log", "one", url=database_url).returncode == 2, "neither was imported"


def test_a_folder_without_documents_is_refused(database_url: str, tmp_path: Path) -> None:
    ended = bank("import", str(tmp_path), url=database_url)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"dailygrad: there is no document in {tmp_path}: pass a file")
