"""Flattens data in which a question is nested otherwise than as a mapping of texts: pairs, fields within fields, and
questions by their numbers or with fields of one letter."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from questions.formats.data.field_names import ROLE_OF, spelled
from questions.formats.data.options import are_plain
from questions.formats.tables.column_names import columns
from questions.formats.tables.columns import infer_roles
from questions.wording.stems import reads_as_question

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FEWEST_CARDS = 3
"""Fewest pairs that are questions and answers."""


def as_cards(values: Sequence[Any]) -> list[dict[str, str]]:
    """Returns pairs of texts as questions and answers, if most of the first texts ask; empty for other lists."""
    pairs = [one for one in values if isinstance(one, list) and len(one) == 2 and all(isinstance(x, str) for x in one)]
    if len(pairs) < max(_FEWEST_CARDS, len(values)) or len({asked for asked, _ in pairs}) < len(pairs):
        return []
    if sum(reads_as_question(asked) for asked, _ in pairs) * 2 <= len(pairs):
        return []
    return [{"question": asked, "answer": answer} for asked, answer in pairs]


_FEWEST_ROWS = 5
"""Fewest lists of texts that are rows of a table."""
_FEWEST_CELLS = 3
_MARKED_ROLES = {"options", "wrong_options", "wrong", "flag", "reason", "reasons"}
"""Roles of columns that only a table has."""


def as_rows(values: Sequence[Any]) -> list[dict[str, Any]]:
    """Returns lists of as many texts each, as a program has them, as questions by the names in the first of them, or by
    what is in them; empty for other lists, and where nothing answers."""
    width = len(values[0]) if values and isinstance(values[0], list) else 0
    if width < _FEWEST_CELLS or len(values) < _FEWEST_ROWS:
        return []
    if not all(isinstance(one, list) and len(one) == width and all(isinstance(x, str) for x in one) for one in values):
        return []
    named = [(column.role, column.place) for column in columns(values[0])]
    known = {role for role, _ in named}
    headed = "question" in known and bool(known & {"answer", "correct"})
    roles = named if headed else list(infer_roles(values))
    rows = values[1:] if headed else values
    given = [role for role, _ in roles]
    if given.count("question") != 1 or not set(given) & {"answer", "correct"} or set(given) & _MARKED_ROLES:
        return []
    if sum(reads_as_question(row[given.index("question")]) for row in rows) * 2 < len(rows):
        return []
    return [_row(roles, row) for row in rows]


def _row(roles: Sequence[tuple[str, int]], cells: Sequence[str]) -> dict[str, Any]:
    """Returns a question from the cells of a row."""
    offered = sorted((place, cell) for (role, place), cell in zip(roles, cells, strict=True) if role == "option")
    named = {role: cell for (role, _), cell in zip(roles, cells, strict=True) if role not in ("", "option")}
    if not offered:
        return named
    key = named.pop("correct", "") or named.pop("answer", "")
    return {**named, "options": [text for _, text in offered], "correct": key}


def one_field_each(values: Sequence[Any]) -> dict[Any, Any]:
    """Returns mappings of one field each, `[{question: …}, {options: …}]`, as one; empty for other lists."""
    pairs = [pair for one in values if isinstance(one, dict) and len(one) == 1 for pair in one.items()]
    merged = dict(pairs)
    return merged if 1 < len(merged) == len(pairs) == len(values) else {}


_FEWEST_LISTED = 5
"""Fewest texts of a list that are questions although no field says so."""


def listed_questions(data: Any) -> list[str]:
    """Returns the texts of the lists in which most texts ask, where data has nothing but lists of texts and mappings
    of them; empty for other data, such as the phrases that a chat program knows."""
    lists: list[list[str]] = []
    waiting = [data]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += reversed(one.values())
        elif isinstance(one, list) and all(isinstance(text, str) for text in one):
            lists.append(one)
        elif isinstance(one, list):
            return []
    return [
        text
        for texts in lists
        if len(texts) >= _FEWEST_LISTED and sum(map(reads_as_question, texts)) * 5 >= len(texts) * 4
        for text in texts
    ]


_NUMBER = re.compile(r"[^\W\d_]{0,12}[ _-]?\d{1,6}")
"""The name of an entry in a mapping of questions: `7`, `q7`, `question_7`."""
_FEWEST_BY_NUMBER = 3


def entries_by_number(value: Mapping[Any, Any]) -> list[Any]:
    """Returns the questions of a mapping by their numbers or ids; empty for another mapping. Beside questions by
    numbers there may be other values, such as a count."""
    entries = [one for one in value.values() if isinstance(one, dict)]
    if len(entries) == len(value):
        return entries if len(entries) > 1 else []
    counted = [one for name, one in value.items() if isinstance(one, dict) and _NUMBER.fullmatch(str(name))]
    regular = len(counted) == len(entries) >= _FEWEST_BY_NUMBER and len(counted) * 2 > len(value)
    return counted if regular else []


_WRAPPERS = ("text", "html", "value", "content", "raw", "markdown")
"""Names of the only field of a mapping that stands for its text."""
_DEEPEST = 10
"""Depth to which mappings are replaced by their texts."""


def without_wrappers(data: Any, depth: int = 0) -> Any:
    """Returns the data with texts for the mappings that hold nothing else, such as `{text: …}`."""
    if depth > _DEEPEST:
        return data
    if isinstance(data, list):
        return [without_wrappers(one, depth + 1) for one in data]
    if not isinstance(data, dict):
        return data
    if len(data) == 1:
        ((name, value),) = data.items()
        if isinstance(value, str) and spelled(name) in _WRAPPERS:
            return value
    return {name: without_wrappers(value, depth + 1) for name, value in data.items()}


_RIGHT = ("c", "k", "r")
"""Names of one letter beside `q` for what is right."""


def by_initials(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns the fields of a question, with whole names for those of one letter: `{q, a: [...], c: 0}`, `{q, o: [...],
    a: 2}`, `{q, a}`. Others keep their names."""
    if not isinstance(fields.get("q"), str) or any(ROLE_OF.get(name) == "question" for name in fields if name != "q"):
        return fields
    answering = any(ROLE_OF.get(name) in ("correct", "index", "answer", "options") for name in fields)
    if isinstance(fields.get("a"), str | int | float) and not answering and not fields.keys() & set("bco"):
        return {"answer" if name == "a" else name: value for name, value in fields.items()}
    lists = [name for name in "aoc" if are_plain(fields.get(name))]
    named = [value for name, value in fields.items() if ROLE_OF.get(name) == "options"]
    if len(lists) + len(named) != 1 or not all(isinstance(value, list | dict) for value in named):
        return fields
    keys = [name for name in ("a", *_RIGHT) if name not in lists and isinstance(fields.get(name), int | str)]
    if len(keys) + sum(ROLE_OF.get(name) in ("correct", "index", "answer") for name in fields) != 1:
        return fields
    whole = {**dict.fromkeys(lists, "options"), **dict.fromkeys(keys, "correct")}
    if isinstance(fields.get("e"), str):
        whole["e"] = "explanation"
    return {whole.get(name, name): value for name, value in fields.items()}


_MARKS = {"true": True, "false": False, "1": True, "0": False}
_LETTERED = "abcdefgh"


def of_marked_letters(data: dict[Any, Any]) -> dict[Any, Any]:
    """Returns a question with its options in a list, where each is in a field of its letter with a mark beside its
    text, as XML becomes JSON: `a: {"-answer": "true", "#text": "…"}`. Others are returned as they are."""
    fields = {str(name).lower(): name for name in data}
    letters = [letter for letter in _LETTERED if letter in fields and isinstance(data[fields[letter]], dict)]
    options: list[Any] = [_marked(data[fields[letter]]) for letter in letters]
    if len(options) < _FEWEST_LETTERS or "".join(letters) != _LETTERED[: len(letters)] or None in options:
        return data
    if any(ROLE_OF.get(spelled(str(name))) in ("options", "correct", "index", "answer") for name in data):
        return data
    rest = {name: value for name, value in data.items() if str(name).lower() not in letters}
    if not any(option["correct"] for option in options if option):
        # If no option is marked as right, the marks are not a key.
        options = [option["text"] for option in options if option]
    asks = fields.get("q") if not any(ROLE_OF.get(spelled(str(name))) == "question" for name in rest) else None
    return {("question" if name == asks else name): value for name, value in rest.items()} | {"options": options}


_FEWEST_LETTERS = 2


def _marked(option: dict[Any, Any]) -> dict[str, Any] | None:
    """Returns an option of a text and a mark; None for anything else."""
    if len(option) != 2:
        return None
    by_name = {spelled(str(name)): value for name, value in option.items()}
    mark = next((by_name[name] for name in ("answer", "correct", "right", "is correct") if name in by_name), None)
    right = mark if isinstance(mark, bool) else _MARKS.get(str(mark).lower())
    text = next((by_name[name] for name in ("text", "#text", "value") if isinstance(by_name.get(name), str)), "")
    return {"text": text, "correct": right} if text and right is not None else None


def unnested(fields: dict[str, Any], roles: Mapping[str, str]) -> dict[str, Any]:
    """Returns the fields of a question. Where a field that asks is a mapping with a field that asks, the others in it
    are fields of the question: `prompt.choices`. A key in a field of its own is the key: `answer.answer`, also beside
    other answers that are accepted: `answer.alternatives`, `answer.aliases`; and beside its explanation:
    `{answer: {text, why}}`.

    `roles`: the role of a field by its name.
    """
    found = dict(fields)
    keyed = any(roles.get(name) in ("correct", "answer") for name in fields)
    for name, value in fields.items():
        role = roles.get(name, "")
        if not isinstance(value, dict) or role not in ("question", "correct", "answer"):
            continue
        inner = {spelled(key): one for key, one in value.items()}
        if role == "question":
            asked = next((key for key, one in inner.items() if roles.get(key) == role and isinstance(one, str)), None)
            if asked is not None:
                found[name] = inner.pop(asked)
                if keyed and "wrong" in map(roles.get, inner):
                    # The place at which a quiz of mdBook shows the answer, among options that are all wrong.
                    inner = {key: one for key, one in inner.items() if roles.get(key) != "index"}
                found = {**{key: one for key, one in inner.items() if roles.get(key)}, **found}
        elif explained := _explained(inner, roles):
            found[name] = explained[0]
            found = {"explanation": explained[1], **found}
        elif role == "answer":
            continue
        elif len(inner) == 1 and roles.get(next(iter(inner))) in ("correct", "index"):
            found[name] = next(iter(inner.values()))
        elif isinstance(inner.get("value"), str) and isinstance(inner.get("aliases"), list):
            found[name] = list(dict.fromkeys([inner["value"], *inner["aliases"]]))
        elif inner.keys() == {"answer", "alternatives"} and isinstance(inner["alternatives"], list):
            found[name] = [inner["answer"], *inner["alternatives"]]
    nested = [name for name, value in fields.items() if isinstance(value, dict)]
    if {"question", "correct"} <= {"correct" if roles.get(name) == "answer" else roles.get(name) for name in nested}:
        # In a quiz of mdBook, `{prompt: {…}, answer: {…}, context: …}`, the context is shown with the answer.
        found = {"explanation" if name == "context" else name: value for name, value in found.items()}
    return found


_KEYS = ("letter", "option", "choice", "label")
"""Names of a field that holds the key, beside its explanation."""


def _explained(inner: dict[str, Any], roles: Mapping[str, str]) -> tuple[str, str] | None:
    """Returns the text and the explanation of a mapping that has nothing else."""
    names = (*_WRAPPERS, *_KEYS)
    texts = [one for key, one in inner.items() if key in names or roles.get(key) in ("correct", "answer")]
    reasons = [one for key, one in inner.items() if roles.get(key) == "why"]
    alone = len(inner) == 2 and len(texts) == len(reasons) == 1
    return (texts[0], reasons[0]) if alone and isinstance(texts[0], str) and isinstance(reasons[0], str) else None
