"""`dailygrad bank preview` as a process: text, data and page, for a question and for a family."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import forked

ROOT = Path(__file__).parents[1]


def preview(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    rest = {name: value for name, value in os.environ.items() if not name.startswith(("DAILYGRAD_", "DATABASE_URL"))}
    return forked.run(
        [sys.executable, "-m", "dailygrad", "bank", "preview", *words],
        cwd=folder,
        env={**rest, "PYTHONPATH": str(ROOT), "COLUMNS": "100"},
        capture_output=True,
        text=True,
        timeout=100,
    )


def test_all_of_a_question_as_text_and_as_a_page(tmp_path: Path) -> None:
    ended = preview("view-without-copy", "--output", "pictures", folder=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    for chat in ("console", "discord", "slack"):
        for scene in ("The post", "The private answer", "The reveal, with invented answers"):
            assert f" {chat} · view-without-copy · {scene} " in ended.stdout
    file = tmp_path / "pictures" / "view-without-copy.preview.html"
    assert ended.stdout.endswith(f"Pictures: {file}\n")
    assert file.is_file()


def test_the_data_of_one_chat(tmp_path: Path) -> None:
    ended = preview("view-without-copy", "--platform", "discord", "--json", folder=tmp_path)
    scenes = json.loads(ended.stdout)
    assert [len(bodies) for bodies in scenes.values()] == [1, 1, 1]
    assert scenes["The post"][0]["allowed_mentions"] == {"parse": []}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "no question has the id nowhere"),
        (("view-without-copy", "--platform", "irc"), "one of web, console, discord, slack or all"),
        (("view-without-copy", "--json"), "it needs --platform discord or slack"),
        (("view-without-copy", "missing.md"), "missing.md"),
        (("view-without-copy", "--platform", "web", "-o", "/dev/null/a"), "another folder with --output"),
    ],
)
def test_an_invalid_preview_is_rejected(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    ended = preview(*words, folder=tmp_path)
    assert ended.returncode == 2
    assert said in " ".join(ended.stderr.replace("│", " ").split())


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_family_shows_the_requested_number_of_variants(tmp_path: Path) -> None:
    ended = preview("strides-of-a-fresh-tensor", "--count", "2", "--platform", "discord", folder=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.count(" · The post ") == 2
    assert "x = torch." in ended.stdout
    data = preview("strides-of-a-fresh-tensor", "--count", "2", "--platform", "discord", "--json", folder=tmp_path)
    assert len(json.loads(data.stdout)) == 6, "three scenes of each"


@pytest.mark.slow
@pytest.mark.sandbox
def test_a_family_that_cannot_be_drawn_says_why(tmp_path: Path) -> None:
    (tmp_path / "bad.md").write_text(
        "---\nbank: b\nlicense: MIT\n---\n\n# tensors/a\n\n## odd · value · mid\n\nWhat?\n\n"
        "### Draw\n\n```python\ndef draw(rng):\n    raise KeyError('nothing')\n```\n\n### Why\n\nSo.\n",
        encoding="utf-8",
    )
    ended = preview("odd", "bad.md", "--platform", "console", folder=tmp_path)
    assert ended.returncode == 2
    assert "odd could not be drawn: draw(rng) raised KeyError" in ended.stderr
