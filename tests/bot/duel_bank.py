"""Five quick questions for duels, and what answers them."""

from __future__ import annotations

import re
from pathlib import Path

DUEL_BANK = Path(__file__).parent / "fixtures" / "duel.md"


def sum_in(text: str) -> str:
    """Returns the right answer to the question in a text."""
    found = re.search(r"What is\s+`?(\d) \+ \d", text)
    assert found, text
    return str(2 * int(found[1]))


def letter_in(text: str, *, right: bool) -> str:
    """Returns the letter of the right or wrong option in a text."""
    found = re.search(rf"\b([AB])\b\W*{'10' if right else '55'}\b", text)
    assert found, text
    return found[1]
