"""Aiken: a question, lettered options, `ANSWER: B`. Plain text throughout."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from questions.foreign.making import Item, Offer, add_choice
from questions.foreign.sheet import Sheet
from questions.foreign.wording import from_plain

if TYPE_CHECKING:
    from questions.source import Source

NAME = "aiken"

_OPTION = re.compile(r"\s*(?P<letter>[A-Z])[.)]\s+(?P<text>.*)")
_ANSWER = re.compile(r"\s*ANSWERS?:\s*(?P<letters>[A-Z](?:\s*,\s*[A-Z])*)\s*")


@dataclass(slots=True)
class _Open:
    """A question not ended yet."""

    first: int = 0
    prompt: list[str] = field(default_factory=list)
    options: list[tuple[str, str]] = field(default_factory=list)


def sniff(source: Source) -> bool:
    """Whether an `ANSWER:` line stands right behind lettered options, and nothing is a Markdown heading or fence."""
    if any(re.match(r"#{1,6} |```|~~~", line) for line in source.lines):
        return False
    filled = [line for line in source.lines if line.strip()]
    return any(
        _ANSWER.fullmatch(line) and _OPTION.match(filled[index - 1]) and _OPTION.match(filled[index - 2])
        for index, line in enumerate(filled)
        if index > 2
    )


def read(source: Source) -> Sheet:
    """All questions of a document."""
    sheet = Sheet(source, NAME)
    sheet.title = sheet.stem
    current = _Open()
    for number, line in enumerate(source.lines, 1):
        answer = _ANSWER.fullmatch(line)
        option = _OPTION.match(line)
        if answer:
            _close(sheet, current, number, answer["letters"])
            current = _Open()
        elif option and (current.prompt or current.options):
            current.options.append((option["letter"], option["text"]))
        elif line.strip() and current.options:
            # A line behind options that is none begins a question of its own: the one before has no answer.
            _close(sheet, current, number - 1, "")
            current = _Open(number, [line])
        elif line.strip():
            current.first = current.first or number
            current.prompt.append(line)
    if current.options:
        _close(sheet, current, len(source.lines), "")
    elif current.prompt:
        sheet.left_out("this is no question: no option follows", _CURE, (current.first, len(source.lines)))
    elif not sheet.questions and not sheet.findings:
        sheet.unreadable("this is no Aiken text", _CURE)
    return sheet


_CURE = "write options as `A. text` below the question and `ANSWER: A` behind them"


def _close(sheet: Sheet, current: _Open, last: int, letters: str) -> None:
    lines = (current.first or last, last)
    size = sum(map(len, current.prompt)) + sum(len(text) for _, text in current.options)
    if not sheet.takes(*lines, size):
        return
    if not current.options:
        sheet.left_out("this answer belongs to no options", _CURE, lines)
        return
    right = set(re.findall("[A-Z]", letters))
    unknown = right - {letter for letter, _ in current.options}
    if unknown:
        message = f"there is no option {', '.join(sorted(unknown))}"
        sheet.say("Q604", message, "name a letter that stands before an option", (last, last))
    offers = [Offer(from_plain(text), letter in right) for letter, text in current.options]
    add_choice(sheet, Item(*lines, from_plain("\n".join(current.prompt))), offers)
