"""docs/sandbox.md: each row of its table of walls is executed, judged and put into words as for a member."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from bot.core.text.code_results import cause_words, wall_words
from questions.model import CodeTask
from sandbox.causes import Wall
from sandbox.client import SandboxClient
from service.rounds.grading import grade_code
from tests.docs.pages import DOCS, rows_of, section_of

ROWS = rows_of(section_of(DOCS / "sandbox.md", "Walls and limits"))
TASK = CodeTask(
    entry="f",
    starter="",
    reference="def f():\n    return 1",
    cases="def examples():\n    return [()]\n\ndef cases(rng):\n    return []",
)


def test_the_table_is_read() -> None:
    assert len(ROWS) > 30
    assert len({row[0] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("wall", get_args(Wall))
def test_each_wall_has_a_row(wall: Wall) -> None:
    words = re.escape(wall_words(wall, 987)).replace("987", "[0-9]+")
    assert any(re.fullmatch(f"(Line 1: )?{words}", row[2]) for row in ROWS), wall


@pytest.mark.sandbox
@pytest.mark.parametrize("row", ROWS, ids=lambda row: str(row[0]))
async def test_a_program_meets_what_the_table_says(sandbox: SandboxClient, row: tuple[str, ...]) -> None:
    program, verdict, line = row
    judged = await grade_code(sandbox, TASK, f"{program.strip('`')}\n\ndef f():\n    return 1\n", 1)
    assert (judged.verdict, cause_words(judged.cause) if judged.cause else "") == (verdict, line), judged
