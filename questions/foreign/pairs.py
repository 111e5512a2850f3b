"""Matching questions: a choice for each thing to be matched, since a chat has no two columns."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from questions.blocks import plain
from questions.foreign.making import Item, Offer, add_choice, add_unanswered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.foreign.sheet import Sheet

_MOST = 26


def add_pairs(sheet: Sheet, item: Item, pairs: Sequence[tuple[str, str]]) -> None:
    """For each pair with a left side a choice among all right sides; texts are Markdown."""
    asked = [(left, right) for left, right in pairs if left.strip() and right.strip()][:_MOST]
    offered = sorted(dict.fromkeys(right for _, right in pairs if right.strip()), key=lambda text: text.casefold())
    if not asked:
        add_unanswered(sheet, item, [left or right for left, right in pairs])
        return
    sheet.say(
        "Q608",
        f"a matching question was read as {len(asked)} of one choice each",
        "leave it so, or ask for the whole assignment in a question of its own",
        item.lines,
        severity="note",
    )
    if len(pairs) > _MOST:
        note = f"the first {_MOST} were kept"
        sheet.say("Q606", "there are too many pairs", "split the question", item.lines, note=note)
    for index, (left, right) in enumerate(asked, 1):
        part = dataclasses.replace(item, prompt=f"{item.prompt}\n\n{left}".strip(), number=f"{index}")
        part.id = f"{item.id}-{index}" if item.id else ""
        add_choice(sheet, part, [Offer(text, plain(text) == plain(right)) for text in offered])
