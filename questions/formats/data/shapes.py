"""Brings data in other shapes to a list of questions: columns side by side, questions as names of fields,
conversations, and right answers in a list or mapping of their own beside the options."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from questions.formats.data.field_names import FALSE_WORDS, ROLE_OF, TRUE_WORDS, spelled
from questions.patterns.options.search import RIGHT_AFTER, RIGHT_FIRST
from questions.wording.imperatives import may_ask
from questions.wording.stems import ends_asking, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FEWEST = 3
"""Fewest questions that show the shape of data without names for it."""
_FEWEST_SIDE_BY_SIDE = 2
"""Fewest columns, and fewest options."""


def rows_of_columns(value: Mapping[Any, Any], role: Mapping[str, str]) -> list[dict[str, Any]]:
    """Returns the questions of a mapping of columns, which are lists of the same length or mappings of the same names:
    `{questions: [...], answers: [...]}`, `{questions: {1: ...}, answers: {1: ...}}`; empty for other mappings.

    `role`: the role of each column by its name in the mapping.
    """
    columns = {name: cells for name, cells in value.items() if isinstance(cells, list)} or _by_names(value, role)
    asked = [cells for name, cells in columns.items() if role.get(name) == "question"]
    if len(asked) != 1 or len(asked[0]) < _FEWEST or not all(isinstance(one, str) for one in asked[0]):
        return []
    fitting = {name: cells for name, cells in columns.items() if len(cells) == len(asked[0])}
    if len(fitting) < _FEWEST_SIDE_BY_SIDE:
        return []
    return [dict(zip(fitting, row, strict=True)) for row in zip(*fitting.values(), strict=True)]


def _by_names(value: Mapping[Any, Any], role: Mapping[str, str]) -> dict[Any, list[Any]]:
    """Returns columns that are mappings, with the same names as the column that asks, as lists in its order. One of the
    others answers or offers: settings for questions and for other things may have the same names too."""
    asking = [cells for name, cells in value.items() if role.get(name) == "question" and isinstance(cells, dict)]
    if len(asking) != 1:
        return {}
    alike = {
        name: [cells[one] for one in asking[0]]
        for name, cells in value.items()
        if isinstance(cells, dict) and cells.keys() == asking[0].keys()
    }
    return alike if any(role.get(name) not in ("", None, "question") for name in alike) else {}


def asking_names(value: Mapping[Any, Any]) -> list[dict[Any, Any]]:
    """Returns the questions of a mapping whose names ask: `{"What is …?": "…"}`; empty for other mappings."""
    nested = {name: one for name, one in value.items() if isinstance(one, dict)}
    settings = [one for one in value.values() if not isinstance(one, dict | list)]
    if len(nested) >= _FEWEST and settings and len(nested) + len(settings) == len(value):
        # Beside mappings, a few texts and numbers are settings.
        value = nested
    names = [str(name) for name in value]
    if len(nested) == len(value) and all(_offers_and_answers(one) for one in nested.values()):
        return [{**one, "question": name} for name, one in nested.items()] if _mostly_ask(names) else []
    if len(names) < _FEWEST or not all(map(reads_as_question, names)) or sum(map(ends_asking, names)) * 2 < len(names):
        return []
    found: list[dict[Any, Any]] = []
    for name, content in value.items():
        match content:
            case dict():
                found.append({**content, "question": name})
            case list():
                found.append({"question": name, "options": content})
            case _:
                found.append({"question": name, "answer": content})
    return found


def _offers_and_answers(fields: dict[Any, Any]) -> bool:
    """Returns whether a mapping has options and a key, and no question."""
    roles = {ROLE_OF.get(spelled(name)) for name in fields}
    return bool(roles & {"options"}) and bool(roles & {"correct", "index", "answer"}) and "question" not in roles


def _mostly_ask(names: Sequence[str]) -> bool:
    return len(names) >= _FEWEST and sum(map(reads_as_question, names)) * 2 > len(names)


_TURNS = ("messages", "conversations", "conversation", "msg", "dialogue")
_ASKING_ROLES = ("user", "human", "prompter", "question")
_TURN_FIELDS = (("user", "assistant"), ("human", "assistant"), ("human", "gpt"), ("human", "bot"), ("user", "bot"))
"""Names of fields with a question and its answer."""
_ANSWERING_ROLES = ("assistant", "gpt", "bot", "model", "answer")


def of_conversation(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields of a question for a conversation of one question and one answer, or none yet, or for an
    instruction with its output; others keep theirs."""
    turns = next((fields[name] for name in _TURNS if name in fields), None)
    if isinstance(turns, list) and turns and all(isinstance(one, dict) for one in turns):
        messages = [(str(one.get("role", one.get("from"))), one.get("content", one.get("value"))) for one in turns]
        asked = [text for role, text in messages if role in _ASKING_ROLES]
        answered = [text for role, text in messages if role in _ANSWERING_ROLES]
        if len(asked) == len(answered) == 1:
            return {"question": asked[0], "answer": answered[0]}
        if len(asked) == 1 and not answered and isinstance(asked[0], str) and may_ask(asked[0]):
            return {"question": asked[0], **{name: one for name, one in fields.items() if name not in _TURNS}}
        return fields
    for asking, answering in _TURN_FIELDS:
        asked_, answered_ = fields.get(asking), fields.get(answering)
        if _says_something(asked_) and _says_something(answered_) and not any(n in fields for n in _TURNS):
            rest = {name: one for name, one in fields.items() if name not in (asking, answering)}
            return {"question": asked_, "answer": answered_, **rest}
    output = next((name for name in ("output", "response") if name in fields), "")
    if isinstance(fields.get("instruction"), str) and output:
        given = fields.get("input")
        asked_ = "\n\n".join(one for one in (fields["instruction"], given) if isinstance(one, str) and one.strip())
        rest = {name: one for name, one in fields.items() if name not in ("instruction", "input", output)}
        return {"question": asked_, "answer": fields[output], **rest}
    return fields


def _says_something(value: Any) -> bool:
    """Returns whether a value is a text of several words, or in a script without spaces, and no name of a person."""
    return isinstance(value, str) and (len(value.split()) > 1 or (not value.isascii() and len(value) > _LONGEST_NAME))


_LONGEST_NAME = 5
"""Most characters of a name in a script without spaces."""


def mappings_in(value: Any) -> list[dict[Any, Any]]:
    """Returns the mappings in a list; none in any other value."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


_NUMBER = re.compile(r"\s{0,9}(?:Q(?:uestion)?[ ]?)?(?P<number>\d{1,4})[.)]\s{1,9}(?=\S)", re.IGNORECASE)


def without_numbers(texts: Sequence[str]) -> list[str]:
    """Returns texts of questions without the numbers before them, where nearly all have one and each is the next."""
    found = [_NUMBER.match(text) for text in texts]
    numbers = [int(one["number"]) for one in found if one]
    counted = sum(after == before + 1 for before, after in pairwise(numbers))
    if len(numbers) < _FEWEST or len(numbers) < _MOSTLY * len(texts) or counted < _MOSTLY * (len(numbers) - 1):
        return list(texts)
    return [text[one.end() :] if one else text for text, one in zip(texts, found, strict=True)]


# What is right, beside the options


def truth_of(value: Any) -> bool | None:
    """Returns the truth value that a value or a word is; None if it is none."""
    if isinstance(value, bool):
        return value
    word = value.strip().casefold() if isinstance(value, str) else ""
    return True if TRUE_WORDS.fullmatch(word) else False if FALSE_WORDS.fullmatch(word) else None


def flags_beside(value: Any, options: Any) -> list[bool] | None:
    """Returns which options are right, where a list or mapping says it of each by its place: `[false, true, false]`,
    `{answer_a_correct: "true", …}`; None for other values."""
    values = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    flags = [truth_of(one) for one in values]
    if len(flags) < _FEWEST_SIDE_BY_SIDE or len(flags) != len(options) or None in flags:
        return None
    if isinstance(value, dict) and isinstance(options, dict):
        names = [str(name) for name in options]
        if not all(name in str(flag) for name, flag in zip(names, value, strict=True)):
            return None
    return [bool(flag) for flag in flags] if any(flags) else None


_STAR = re.compile(r"\*[ ]?(?=[^\s*])(?P<after>.*[^*])|(?P<before>[^*]*[^\s*])[ ]?\*", re.DOTALL)
_BOX = re.compile(r"\[[xX✓]\][ ]*(?P<rest>\S.*)", re.DOTALL)
_EMPTY_BOX = re.compile(r"\[[ ]?\][ ]*(?=\S)")
_MOSTLY = 0.9
"""Share of the questions in which some options, and never all, have a mark."""


def right_by_mark(questions: Sequence[Sequence[str]]) -> list[tuple[list[str], list[bool]]] | None:
    """Returns the options of each question without the marks on the right ones, such as a star or `(correct)`, and
    which are right; None if most questions have none."""
    read: list[tuple[list[str], list[bool]]] = []
    for texts in questions:
        marked = [_unmarked(text) for text in texts]
        read.append(([one for one, _ in marked], [right for _, right in marked]))
    clear = sum(0 < sum(flags) < len(flags) for _, flags in read)
    if len(read) < _FEWEST or clear < _MOSTLY * len(read):
        return None
    return read


def _unmarked(text: str) -> tuple[str, bool]:
    """Returns an option without the mark that says it is right, and whether it had one."""
    if found := _STAR.fullmatch(text.strip()):
        return (found["after"] or found["before"]).strip(), True
    if found := _BOX.fullmatch(text.strip()):
        return found["rest"].strip(), True
    less = RIGHT_FIRST.sub("", RIGHT_AFTER.sub("", text), count=1)
    return (less.strip(), True) if less != text else (_EMPTY_BOX.sub("", text.strip(), count=1), False)
