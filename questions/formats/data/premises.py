"""Reads data in which a premise is given, and a field says whether its cause or its effect is asked for (COPA)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from questions.formats.data.field_names import spelled
from questions.formats.tables.column_names import Column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ASKED = {
    "cause": "What was the cause of this?",
    "effect": "What happened as a result?",
    "result": "What happened as a result?",
}
"""The question by the word that a field says."""
_PREMISE = ("premise", "p")
_ASKS = ("question", "asks for", "ask", "type")
_KEYS = ("label", "most plausible alternative")
_ALTERNATIVE = re.compile(r"^(?:a|alternative|choice|option|hypothesis)[ ]?(?=[1-9]$)")
"""The name of an option before its number."""

Row = tuple["Sequence[str]", tuple[int, int]]


def of_premise(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of a record with a premise as those of a question; others are left as they are."""
    named = dict(fields)
    premise = next((name for name in _PREMISE if isinstance(named.get(name), str)), "")
    asks = next((name for name in _ASKS if premise and _asked(named.get(name))), "")
    if not asks:
        return named
    question = _question(named.pop(premise), named.pop(asks))
    named = {_ALTERNATIVE.sub("option ", name): value for name, value in named.items()}
    offers = {"option 1", "option 2"} <= named.keys() or "options" in named
    key = next((name for name in _KEYS if offers and str(named.get(name, "")).strip().isdecimal()), "")
    index = {} if not key or "correct" in named else {"correct": int(str(named.pop(key)))}
    return {"question": question, **named, **index}


def with_premises(
    names: Sequence[str], roles: Sequence[Column], rows: list[Row]
) -> tuple[list[Column], list[Row]] | None:
    """Returns the roles of the columns and the rows of a table with a column of premises and one that asks for their
    causes and effects; None for other tables."""
    shown = [*map(spelled, names)]
    premise = next((shown.index(name) for name in _PREMISE if name in shown), None)
    if premise is None or not rows or any(len(cells) != len(names) for cells, _ in rows):
        return None
    asks = [shown.index(name) for name in _ASKS if name in shown]
    at = next((one for one in asks if all(_asked(cells[one]) for cells, _ in rows)), None)
    if at is None:
        return None
    found = [Column("") if column.role == "question" else column for column in roles]
    found[premise], found[at] = Column("question"), Column("asked")
    key = next((shown.index(name) for name in _KEYS if name in shown), None)
    if key is not None and not any(column.role == "correct" for column in found):
        found[key] = Column("correct")
    return found, [
        ([_question(cell, cells[at]) if n == premise else cell for n, cell in enumerate(cells)], lines)
        for cells, lines in rows
    ]


def _asked(value: Any) -> bool:
    return isinstance(value, str) and value.strip().casefold() in _ASKED


def _question(premise: str, asked: str) -> str:
    return f"{premise.strip()}\n\n{_ASKED[asked.strip().casefold()]}"
