"""Decides which role each field of a record has: by its name, and by the names of the fields beside it."""

from __future__ import annotations

import re
from typing import Any

from questions.formats.data.field_names import FIELD_NAMES, ROLE_OF, names_index, names_wrong, option_name, spelled
from questions.formats.data.options import option_text

_MOST_OPTIONS = 26


def by_roles(fields: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], list[tuple[str, Any]]]:
    """Returns the value of each role, and under `_role` the name of its field; the fields without a role; and the
    other keys."""
    lists = {name: value for name, value in fields.items() if name in FIELD_NAMES["options"]}
    values: dict[str, Any] = {}
    unknown: dict[str, Any] = {}
    others: list[tuple[str, Any]] = []
    for name, value in fields.items():
        role = role_among(name, lists)
        if not role:
            unknown[name] = value
        elif _rank(role, name) < _rank(role, values.get(f"_{role}", "")):
            if role == "correct" and role in values:
                others.append((values[f"_{role}"], values[role]))
            values[role], values[f"_{role}"] = value, name
        elif role == "correct":
            others.append((name, value))
    # The options may be in a field that is called an answer.
    unknown |= {name: value for name, value in others if isinstance(value, list)}
    wrong = sorted((one for one in unknown if one[-1:].isdecimal() and names_wrong(one)), key=_number_in)
    if wrong and "wrong" not in values:
        values["wrong"] = [text for name in wrong if (text := unknown.pop(name)) not in (None, "")]
    return values, unknown, others


def _number_in(name: str) -> int:
    return int(re.sub(r"\D", "", name) or 0)


def role_among(name: str, lists: dict[str, Any]) -> str:
    """Returns the role of a field; `answers` beside `options` or `alternatives` holds the right ones."""
    if len(lists) > 1 and name in ("answers", "alternatives"):
        offered = next((value for other, value in lists.items() if other != name), None)
        if name == "answers":
            return "right" if isinstance(offered, list | dict) else "options"
        if isinstance(lists.get("answers"), list) and len(lists) == 2 and not _overlap(offered, lists[name]):
            return "wrong"
    return DATA_ROLES.get(name, "index" if names_index(name) else "")


_NAMES = {**FIELD_NAMES, "correct": (*FIELD_NAMES["correct"], *FIELD_NAMES["answer"])}
DATA_ROLES = {**ROLE_OF, **dict.fromkeys(FIELD_NAMES["answer"], "correct")}
"""The role of a field; in data, an answer names an option where there are some."""


def role_of(name: str) -> str:
    """Returns the role that a field has by its name; empty if the name is unknown."""
    shown = spelled(name)
    return "option" if place_of(shown) is not None else DATA_ROLES.get(shown, "")


def role_of_list(name: str) -> str:
    """Returns the role of a list by its name, which may be a plural: `respostas corretas`."""
    return role_of(name) or role_of(" ".join(word.removesuffix("s") for word in spelled(name).split(" ")))


def _overlap(one: Any, two: Any) -> bool:
    """Returns whether two lists share a text."""
    texts = [{option_text(option) for option in value} if isinstance(value, list) else set() for value in (one, two)]
    return bool(texts[0] & texts[1])


def _rank(role: str, name: str) -> int:
    words = _NAMES.get(role, ())
    return words.index(name) if name in words else len(words) + (not name)


def place_of(name: str) -> int | None:
    if re.fullmatch("[a-h]|[1-8]", name):
        return ord(name) - ord("a") if name.isalpha() else int(name) - 1
    found = option_name(name)
    return found[1] if found and found[0] == "option" and found[1] < _MOST_OPTIONS else None
