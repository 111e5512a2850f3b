"""What the admin pages say after something was done."""

from __future__ import annotations

from typing import Final, Literal

Done = Literal[
    "settled",
    "retired",
    "restored",
    "accepted",
    "declined",
    "saved",
    "credited",
    "edited",
    "imported",
    "approved",
    "set",
    "started",
    "ended",
    "hidden",
    "unhidden",
    "promoted",
    "demoted",
    "added",
    "changed",
    "paused",
    "resumed",
    "skipped",
    "unskipped",
    "removed",
    "posted",
]
"""What was done. An address carries the word, never the sentence, so that no link can put words on a page."""

DONE: Final[dict[Done, str]] = {
    "settled": "Settled. Its author is told.",
    "retired": "Retired: it is not asked here again.",
    "restored": "Restored: it can be asked again.",
    "accepted": "Accepted. The question is in the bank, and its author is told.",
    "declined": "Declined. Its author is told why.",
    "saved": "Saved. This is how it is read now.",
    "credited": "The answer has its credit. Its author is told.",
    "edited": "Edited. Answers in closed rounds are judged again.",
    "imported": "Imported. These are the bank's questions now.",
    "approved": "Approved: these questions can be asked from now on.",
    "set": "Set for the next imports.",
    "started": "The season has started. A running one has ended, and its board is kept.",
    "ended": "The season has ended, and its board is kept.",
    "hidden": "Hidden: the boards leave this member out.",
    "unhidden": "The boards show this member again.",
    "promoted": "This member is an admin now.",
    "demoted": "This member is no longer an admin.",
    "added": "The schedule is added. This is when it posts.",
    "changed": "Saved.",
    "paused": "Paused. Nothing is posted until you resume it, and no streak breaks.",
    "resumed": "Resumed from its next date on.",
    "skipped": "That day is skipped. No streak breaks.",
    "unskipped": "That day has its question again.",
    "removed": "The schedule is removed. Its rounds and points stay.",
    "posted": "The question is being posted now.",
}


def done_words(done: str) -> str:
    """Returns what to say; empty for a word that is unknown."""
    return {str(name): text for name, text in DONE.items()}.get(done, "")
