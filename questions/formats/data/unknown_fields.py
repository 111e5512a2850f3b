"""Finds the fields that ask and answer in data whose fields have no known names for these, by what is in them."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from questions.blocks import plain
from questions.formats.data.field_names import FLAGS, WRONG_FLAGS, spelled
from questions.formats.data.loading import MOST_VALUES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_DEEPEST = 12
"""Depth to which fields are renamed."""


def asking_field(data: Any, roles: Mapping[str, str], offers: Callable[[object, Any], bool]) -> str:
    """Returns the name of the only text that all mappings with options and a key have, nearly each one of its own;
    empty if there is none. Where no field has a known name, it holds the questions.

    `roles`: the role of a field by its name; `offers`: whether a field, by name and value, holds marked options.
    """
    offering: list[dict[str, Any]] = []
    waiting, left = [data], MOST_VALUES
    while waiting and left > 0:
        one = waiting.pop()
        left -= 1
        if isinstance(one, dict):
            waiting += one.values()
            fields = {spelled(key): value for key, value in one.items()}
            known = {roles.get(name, "") for name in fields}
            keyed = {"options", "wrong"} & known and {"correct", "index"} & known
            if keyed or any(isinstance(inner, list) and offers(name, inner) for name, inner in one.items()):
                offering.append(fields)
        elif isinstance(one, list):
            waiting += one
    if len(offering) < _FEWEST_OFFERING:
        return ""
    texts = {
        name: {str(fields.get(name)).strip() for fields in offering}
        for name in offering[0]
        if not roles.get(name) and all(isinstance(fields.get(name), str) for fields in offering)
    }
    # A few questions may be in a large collection twice.
    different = len(offering) if len(offering) < _LARGE else len(offering) * _REGULAR
    asking = [name for name, values in texts.items() if len(values) >= different and _is_wordy(values)]
    return asking[0] if len(asking) == 1 else ""


_LARGE = 30
"""Questions from which some of them may be the same."""
_FEWEST_OFFERING = 3
"""Fewest mappings with options and a key that show which field asks."""
_WORDY = 3
"""Mean number of words from which texts may ask; in scripts without spaces, four characters count as one."""


def _is_wordy(texts: Iterable[str]) -> bool:
    counts = [max(len(text.split()), len(text) // 4 if not text.isascii() else 0) for text in texts]
    return sum(counts) >= _WORDY * len(counts)


def renamed(data: Any, name: str, called: str = "question", depth: int = 0) -> Any:
    """Returns the data in which the field with this name is called `question`, or otherwise."""
    if depth > _DEEPEST:
        return data
    if isinstance(data, list):
        return data if _are_options(data) else [renamed(one, name, called, depth + 1) for one in data]
    if not isinstance(data, dict):
        return data
    return {
        called if spelled(key) == name else key: renamed(value, name, called, depth + 1) for key, value in data.items()
    }


def _are_options(values: list[Any]) -> bool:
    """Returns whether each value of a list says whether it is right, so that its texts are not questions."""
    return bool(values) and all(isinstance(one, dict) and any(map(_is_flag, one.items())) for one in values)


def _is_flag(field: tuple[object, object]) -> bool:
    return isinstance(field[1], bool) and spelled(field[0]) in FLAGS | WRONG_FLAGS


def completing_field(questions: Sequence[tuple[str, Mapping[str, Any], Sequence[str]]]) -> str:
    """Returns the only field whose texts tell apart most questions that are the same in words, and do not answer them;
    empty if the questions differ, or none or several do.

    `questions`: the text of each, its fields with unknown names, and the right answers.
    """
    asked = Counter(_words(text) for text, _, _ in questions)
    repeated = sum(count for count in asked.values() if count > 1)
    if len(questions) < _FEWEST_OFFERING or repeated * 2 <= len(questions):
        return ""
    names = []
    for name in questions[0][1]:
        texts = [(_words(text), fields[name], right) for text, fields, right in questions if _is_text(fields.get(name))]
        different = len({(text, value) for text, value, _ in texts})
        answers = any(_words(one) in _words(value) for _, value, right in texts for one in right if one.strip())
        regular = len(texts) >= _REGULAR * len(questions) and different >= _REGULAR * len(texts)
        if regular and not answers and not _NAMES.search(name):
            names.append(name)
    return names[0] if len(names) == 1 else ""


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


_NAMES = re.compile(
    r"\b(?:ids?|uuid|guid|hint|slug|url|date|created|updated|image|img|file|author|hash|podpowiedz|indice)\b"
)
"""Words in the name of a field that is not part of a question."""
_GIVEN = re.compile(r"\b(?:your|user|my|given|selected|chosen|student|player|respondent)\b")
"""Words in the name of a field that holds a person's answer."""
_REGULAR = 0.9
"""Share of the questions with options in which a key must name some of them."""


def naming_field(questions: Sequence[tuple[Sequence[str], Sequence[str], Mapping[str, Any]]]) -> str:
    """Returns the only field that names options by their texts or letters in nearly every question, but never all of
    them; empty if there is none. It holds the right ones where no field has a known name for that.

    `questions`: the options of each question, their letters in the data, and its fields with unknown names.
    """
    offered = [({*map(_words, texts)}, set(letters), fields) for texts, letters, fields in questions if texts]
    if len(offered) < _FEWEST_OFFERING:
        return ""
    names = [name for name in offered[0][2] if not _GIVEN.search(name)]
    found = [
        name
        for name in names
        if sum(_names_some(fields.get(name), texts) for texts, _, fields in offered) >= _REGULAR * len(offered)
        or _are_letters([(fields.get(name), letters) for _, letters, fields in offered])
    ]
    return found[0] if len(found) == 1 else ""


def _are_letters(named: Sequence[tuple[object, set[str]]]) -> bool:
    """Returns whether values are letters of the options of nearly every question, and not always the same."""
    keys = [value.strip().lower() for value, letters in named if isinstance(value, str)]
    fitting = sum(isinstance(value, str) and value.strip().lower() in letters for value, letters in named)
    return fitting >= _REGULAR * len(named) and len(set(keys)) > 1


def _names_some(value: object, texts: set[str]) -> bool:
    keys = value if isinstance(value, list) else [value]
    named = {_words(one) for one in keys if isinstance(one, str)}
    return bool(named) and len(named) == len(keys) and named < texts


def _words(text: str) -> str:
    return plain(text).casefold().strip(" .")
