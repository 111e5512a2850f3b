"""Data whose fields have no known name for questions: the only text of its own in each record asks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.questions.formats.readings import read_as

NUMBERS = ("one", "two", "three")
ASKED = [f"This call number {number} copies it" for number in NUMBERS]


def read(records: list[dict[str, Any]]) -> list[str]:
    return read_as("a.json", json.dumps(records))


@pytest.mark.parametrize(
    ("fields", "options"),
    [
        ({"choices": ["view", "clone"], "answerIndex": 1}, "- view | + clone"),
        ({"options": ["view", "clone"], "correct": "clone"}, "- view | + clone"),
        ({"incorrect": ["view", "slice"], "correct": "clone"}, "+ clone | - view | - slice"),
    ],
)
def test_a_text_of_its_own_beside_options_and_a_key_asks(fields: dict[str, Any], options: str) -> None:
    found = read([{"clue": asked, **fields} for asked in ASKED])
    assert found == [f"{asked} | {options}" for asked in ASKED]


@pytest.mark.parametrize(
    "records",
    [
        [{"clue": asked, "choices": ["view", "clone"], "answerIndex": 1} for asked in ASKED[:2]],  # too few
        [{"clue": f"call {number}", "choices": ["view", "clone"], "answerIndex": 1} for number in NUMBERS],  # no words
        [{"clue": ASKED[0], "choices": ["view", "clone"], "answerIndex": 1} for _ in NUMBERS],  # the same text
        [{"clue": asked, "other": f"And {asked}", "choices": ["a", "b"], "answerIndex": 1} for asked in ASKED],  # two
        [{"clue": asked, "choices": ["view", "clone"]} for asked in ASKED],  # no key
        [{"clue": asked, "answerIndex": 1} for asked in ASKED],  # no options
    ],
)
def test_other_fields_ask_nothing(records: list[dict[str, Any]]) -> None:
    assert read(records) == []


def test_in_scripts_without_spaces_four_characters_are_a_word() -> None:
    asked = [f"この呼び出しはどれを複製{number}しますか" for number in NUMBERS]
    assert len(read([{"clue": one, "choices": ["view", "clone"], "answerIndex": 1} for one in asked])) == 3
    short = [f"どれ{number}" for number in "一二三"]
    assert read([{"clue": one, "choices": ["view", "clone"], "answerIndex": 1} for one in short]) == []
