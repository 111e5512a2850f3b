"""Names what became no question of data: texts that look like questions, and lists of entries that were not read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from questions.formats.data.loading import MOST_VALUES
from questions.wording.stems import ends_asking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from questions.formats.draft import ImportDraft

_FEWEST_WORDS = 3
_MOST_LOOKED_AT = 5_000_000
"""How often a line is searched for a text."""
_MOST_NAMED = 100
"""Most texts that are named one by one."""


def name_unread(draft: ImportDraft, data: Any, read: Iterable[Any]) -> None:
    """Adds a finding for each text of the data that asks and, if any question was read, one for all other lists of
    entries. `read`: the values of the questions that were read."""
    known = {text.strip() for values in read for text in _texts(values)}
    if known:
        _name_lists(draft, data, known)
    # Of a question with its options below it in the same text, the first line was read as the question.
    asked = dict.fromkeys(
        text
        for text in _texts(data)
        if _asks(text) and not known & {text.strip(), text.strip().split("\n")[0].rstrip()}
    )
    if not asked:
        return
    most = max(min(_MOST_NAMED, _MOST_LOOKED_AT // len(draft.source.lines)), 1)
    needles = {_needle(text): text for text in list(asked)[:most]}
    message = "this looks like a question but was not read as one"
    cure = "give it the fields of the others" if known else "give it a field `question`"
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


_FEWEST_IN_COLUMN = 3
"""Fewest texts of a list that is one of several side by side."""
_BELONGS = ("correct", "options", "index", "wrong", "why")
"""Roles of lists that have an entry for each question."""


def name_uneven(draft: ImportDraft, data: Any, role_of: Callable[[str], str]) -> None:
    """Adds a finding for each list of questions beside which a list of answers or options has another length.

    `role_of`: returns the role of a field by its name.
    """
    waiting, left = [data], MOST_VALUES
    while waiting and left > 0:
        one = waiting.pop()
        left -= 1
        if isinstance(one, list):
            waiting += one
        if not isinstance(one, dict):
            continue
        waiting += one.values()
        columns = {name: value for name, value in one.items() if isinstance(value, list) and isinstance(name, str)}
        asked = [name for name, texts in columns.items() if role_of(name) == "question" and _are_texts(texts)]
        beside = [name for name, values in columns.items() if role_of(name) in _BELONGS and len(values) > 1]
        uneven = [name for name in beside for question in asked if len(columns[name]) != len(columns[question])]
        if len(asked) == 1 and uneven:
            shown = ", ".join(f"`{name[:40]}` {len(columns[name])}" for name in (asked[0], *uneven[:_MOST_LISTS]))
            message = f"lists side by side have different lengths: {shown}"
            cure = "add what is missing, so that each question and its answer have the same place"
            line = next((n for n, text in enumerate(draft.source.lines, 1) if asked[0] in text), 1)
            draft.add("Q606", message, cure, (line, line), note="nothing shows which of them belong together")


def _are_texts(values: list[Any]) -> bool:
    return len(values) >= _FEWEST_IN_COLUMN and all(isinstance(one, str) for one in values)


def _asks(text: str) -> bool:
    wide = not text.isascii() and len(text) >= _FEWEST_WORDS * 4
    return ends_asking(text.rstrip()) and (len(text.split()) >= _FEWEST_WORDS or wide)


def _needle(text: str) -> str:
    """Returns the beginning of a text as it is in the document."""
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


def _name_lists(draft: ImportDraft, data: Any, known: set[str]) -> None:
    """Adds a finding with the places of lists whose entries have text, none of which was read."""
    found: dict[str, int] = {}
    waiting, left = [("", data)], MOST_VALUES
    while waiting and left > 0:
        path, one = waiting.pop()
        left -= 1
        if isinstance(one, dict):
            waiting += [(f"{path}.{name}".removeprefix("."), value) for name, value in one.items()]
        elif isinstance(one, list):
            entries = [entry for entry in one if isinstance(entry, dict)]
            if entries and len(entries) == len(one) and _says_something_else(entries, known):
                found[path] = found.get(path, 0) + len(entries)
            else:
                waiting += [(path, entry) for entry in one if isinstance(entry, dict | list)]
    if found:
        shown = [f"`{path[:40]}` ({count})" for path, count in sorted(found.items())[:_MOST_LISTS]]
        more = [f"{len(found) - len(shown)} more"] if len(found) > len(shown) else []
        message = f"entries of other lists were not read: {', '.join([*shown, *more])}"
        cure = "if they are questions, move them to the list of the others, with the same fields"
        draft.add("Q615", message, cure, (1, 1), severity="note")


_MOST_LISTS = 5
"""Most lists that are named."""
_FEWEST_IN_ENTRY = 4
"""Fewest words of an entry that may be a question with its answer."""


def _says_something_else(entries: list[dict[Any, Any]], known: set[str]) -> bool:
    """Returns whether an entry has several words, and none of them a text that a question has."""
    values = [[text.strip() for text in _texts(list(entry.values()))] for entry in entries]
    wordy = any(sum(len(text.split()) for text in texts) >= _FEWEST_IN_ENTRY for texts in values)
    return wordy and all(map(known.isdisjoint, values))
