"""What is kept about a member as one text to take along: JSON with all of it, or CSV for a spreadsheet. Pure."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

COLUMNS = ("what", "at", "question", "given", "practice", "verdict", "credit", "points", "reason", "reviews")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What makes a spreadsheet take a text for a formula."""


def as_json(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2)


def as_csv(data: dict[str, Any]) -> str:
    """A line for each answer, booking, card and report, oldest first within each. A card's state is in the JSON."""
    written = io.StringIO()
    lines = csv.DictWriter(written, COLUMNS, restval="", extrasaction="ignore", lineterminator="\r\n")
    lines.writeheader()
    lines.writerows({name: _cell(value) for name, value in line.items()} for line in _lines(data))
    return written.getvalue()


def _lines(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for answer in data["answers"]:
        given = "; ".join(_text(value) for value in answer["given"].values() if value is not None)
        yield {**answer, "what": "answer", "given": given}
    for booking in data["points"]:
        yield {**booking, "what": "points"}
    for card in data["cards"]:
        yield {**card, "what": "card", "at": card["due"]}
    for report in data["reports"]:
        yield {"what": "report", "at": report["at"], "given": report["text"], "verdict": report["state"]}


def _text(value: Any) -> str:
    return " ".join(value) if isinstance(value, list) else str(value)


def _cell(value: Any) -> Any:
    """A text that a spreadsheet shows and does not compute."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
