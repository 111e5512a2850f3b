"""Names the texts in data that look like questions and are in none that was read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from questions.formats.data import MOST_VALUES
from questions.patterns.stems import ends_asking

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from questions.formats.draft import ImportDraft

_FEWEST_WORDS = 3
_MOST_LOOKED_AT = 5_000_000
"""How often a line is searched for a text."""
_MOST_NAMED = 100
"""Most texts that are named one by one."""


def name_unread(draft: ImportDraft, data: Any, read: Iterable[Any]) -> None:
    """Adds a finding for each text of the data that asks. `read`: the values of the questions that were read."""
    known = {text.strip() for values in read for text in _texts(values)}
    asked = dict.fromkeys(text for text in _texts(data) if _asks(text) and text.strip() not in known)
    if not asked:
        return
    most = max(min(_MOST_NAMED, _MOST_LOOKED_AT // len(draft.source.lines)), 1)
    needles = {_needle(text): text for text in list(asked)[:most]}
    message, cure = "this looks like a question but was not read as one", "give it the fields of the others"
    for number, line in enumerate(draft.source.lines, 1):
        for needle in [one for one in needles if one in line]:
            del needles[needle]
            draft.add("Q006", message, cure, (number, number), note="it is in no list of questions")
        if not needles:
            break
    if needles or len(asked) > most:
        others = [*needles.values(), *list(asked)[most:]]
        note = f"{len(others)} such texts, among them `{' '.join(others[0].split())[:60]}`"
        draft.add("Q006", message, cure, (1, len(draft.source.lines)), note=note)


def _asks(text: str) -> bool:
    wide = not text.isascii() and len(text) >= _FEWEST_WORDS * 4
    return ends_asking(text.rstrip()) and (len(text.split()) >= _FEWEST_WORDS or wide)


def _needle(text: str) -> str:
    """Returns the beginning of a text as it stands in the document."""
    return json.dumps(text.strip()[:40].split("\n")[0], ensure_ascii=False)[1:-1].strip()


def _texts(data: Any) -> Iterator[str]:
    """Yields the texts in data, and the names of its fields."""
    waiting, left = [data], MOST_VALUES
    while waiting and left > 0:
        one = waiting.pop()
        left -= 1
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += one.values()
            waiting += [name for name in one if isinstance(name, str)]
        elif isinstance(one, list | tuple):
            waiting += one
