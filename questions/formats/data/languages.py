"""Keeps one language of records that ask in several: English, or the first by the alphabet."""

from __future__ import annotations

import re
from typing import Any

from questions.formats.data.field_names import ROLE_OF, spelled

LANGUAGE = re.compile(
    r" (?:english|german|french|spanish|portuguese|italian|russian|chinese|japanese|korean|hindi|arabic|turkish|polish"
    r"|dutch|en|de|fr|es|pt|it|ru|zh|ja|ko|hi|ar|tr|pl|nl|uk|cs)$"
)


def in_one_language(data: dict[Any, Any]) -> dict[str, Any]:
    """Returns the fields by their names. Where a question is there in several languages, such as `qHindi` and
    `qEnglish`, the names of one of them lose the language: English, or the first by the alphabet."""
    fields = {spelled(key): value for key, value in data.items()}
    found = {name: language[0] for name in fields if (language := LANGUAGE.search(name))}
    asking = {end for name, end in found.items() if ROLE_OF.get(name.removesuffix(end)) == "question"}
    if not asking:
        return fields
    chosen = min(asking, key=lambda end: (end not in (" english", " en"), end))
    ours = {name.removesuffix(end): fields[name] for name, end in found.items() if end == chosen}
    return {**ours, **{name: value for name, value in fields.items() if found.get(name) != chosen and name not in ours}}


def in_english(texts: dict[Any, Any]) -> Any:
    """Returns the text of a question that is there in several languages, `{en: …, ru: …}`: in English, or the first."""
    if not all(isinstance(name, str) and LANGUAGE.search(f" {spelled(name)}") for name in texts):
        return ""
    english = (text for name, text in texts.items() if spelled(name) in ("en", "english"))
    return next(english, next(iter(texts.values()), ""))


def in_one_text(value: Any, role: str | None = "") -> Any:
    """Returns the text of a value that is there in several languages; of a list or mapping of such values, their texts;
    any other value as it is, and that of a question, whose other languages are named."""
    if role == "question":
        return value
    if isinstance(value, dict):
        if len(value) > 1 and all(isinstance(one, str) for one in value.values()) and (text := in_english(value)):
            return text
        if value and all(isinstance(one, dict) and in_one_text(one) is not one for one in value.values()):
            return {name: in_one_text(one) for name, one in value.items()}
    if (
        isinstance(value, list)
        and value
        and all(isinstance(one, dict) and in_one_text(one) is not one for one in value)
    ):
        return [in_one_text(one) for one in value]
    return value
