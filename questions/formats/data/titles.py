"""Gives questions that have options and no text the title that stands above them, which asks."""

from __future__ import annotations

from typing import Any

from questions.formats.data.field_names import ASKING, FIELD_NAMES, ROLE_OF, spelled

_TITLES = ("instruction", "instructions", "directions", "task", "title", "description", "heading", "prompt", "name")
"""Names of fields with what a list of questions asks, the likeliest first."""
_LONGEST_NAME = 12
"""Most characters of a title that only names a section."""


def with_asking_titles(value: dict[Any, Any]) -> dict[Any, Any]:
    """Returns a mapping; where lists in it have entries with options, a key and an empty question, its title is their
    question: `{title: "Which word is odd?", items: [{question: "", options: […], answer: 2}]}`."""
    lists = [name for name, one in value.items() if isinstance(one, list) and any(map(_lacks_text, one))]
    title = _title_of(value) if lists else ""
    if not title:
        return value
    return {
        name: [_with_text(entry, title) if _lacks_text(entry) else entry for entry in one] if name in lists else one
        for name, one in value.items()
    }


def _title_of(value: dict[Any, Any]) -> str:
    named = {spelled(name): one.strip() for name, one in value.items() if isinstance(one, str)}
    return next((named[name] for name in _TITLES if len(named.get(name, "")) > _LONGEST_NAME), "")


def _lacks_text(entry: Any) -> bool:
    """Returns whether an entry has options, a key and a field for the question, which is empty."""
    if not isinstance(entry, dict):
        return False
    named = {spelled(name): one for name, one in entry.items()}
    roles = {ROLE_OF.get(name) for name, one in named.items() if one}
    asks = any(name in ASKING or name in FIELD_NAMES["question"] for name, one in named.items() if one == "")
    return (
        asks and "options" in roles and not roles.isdisjoint(("correct", "answer", "index")) and "question" not in roles
    )


def _with_text(entry: dict[Any, Any], title: str) -> dict[Any, Any]:
    empty = next(name for name, one in entry.items() if one == "" and spelled(name) in FIELD_NAMES["question"])
    return {**entry, empty: title}
