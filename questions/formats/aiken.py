"""Reads Aiken: a question, lettered options, `ANSWER: B`. All text is plain, and may continue in the next lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from questions.formats.draft import ImportDraft, Item, OptionDraft, add_choice
from questions.formats.markdown import from_plain

if TYPE_CHECKING:
    from questions.source import Source

NAME = "aiken"

_OPTION = re.compile(r"\s*(?P<letter>[A-Z])[.)]\s+(?P<text>.*)")
_FEWEST_IN_WORD = 3
"""Fewest keys that show that the text of a Word document is Aiken."""
_ANSWER = re.compile(r"\s*ANSWERS?:\s*(?P<letters>[A-ZАВСЕ](?:\s*,\s*[A-ZАВСЕ])*)\s*")
_UNCLEAR = re.compile(r"\s*ANSWERS?:\s")
"""Start of a key that may continue in words, so that it names no option."""
_LATIN = str.maketrans("АВСЕ", "ABCE")
"""Cyrillic letters that look like letters of options, which are always Latin."""
_NUMBER = re.compile(r"\s*(?:Q(?:uestion)?[ ]?)?(?P<number>\d{1,4})[.):][ \t]*(?P<text>\S.*)", re.IGNORECASE)
_FEWEST_NUMBERED = 3
_GAP = 2
"""Most that a number is above the one before: a title may come before the question between both."""
_REGULAR = 0.8
"""Share of questions that must have a number that continues, so that it is not part of their text."""


@dataclass(slots=True)
class _Open:
    """A question that is not complete yet."""

    first: int = 0
    last: int = 0
    prompt: list[str] = field(default_factory=list)
    options: list[tuple[str, list[str]]] = field(default_factory=list)
    letters: str | None = None
    """The key; None without one."""
    rest: list[str] = field(default_factory=list)
    """Lines after the last option."""
    rest_first: int = 0
    apart: bool = False
    """Whether a blank line comes before them."""

    def take_rest(self) -> None:
        """Adds the lines after the last option to it."""
        if self.rest:
            self.options[-1][1].extend(self.rest)
            self.rest = []


def sniff(source: Source) -> bool:
    """Returns whether an `ANSWER:` line follows lettered options, and there are no Markdown headings or fences."""
    if any(re.match(r"#{1,6} |```|~~~", line) for line in source.lines):
        return False
    filled = [line for line in source.lines if line.strip()]
    return any(
        _ANSWER.fullmatch(line) and _OPTION.match(filled[index - 1]) and _OPTION.match(filled[index - 2])
        for index, line in enumerate(filled)
        if index > 2
    )


_ITEM = re.compile(r"(?m)^[ ]*-[ ](?=[A-Z]\)[ ])")
_BOLD = re.compile(r"\*\*(?P<text>[^*\n]+)\*\*")


def plain_word(markdown: str) -> str | None:
    """Returns the text of a Word document without Markdown if it is Aiken with several keys; None for any other."""
    if sum(_ANSWER.fullmatch(line) is not None for line in markdown.split("\n")) < _FEWEST_IN_WORD:
        return None
    return _BOLD.sub(r"\g<text>", _ITEM.sub("", markdown)).replace("\\<", "<")


def read(source: Source) -> ImportDraft:
    """Reads all questions of a document."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    found, unfinished = _questions(source)
    numbers = _numbers(found)
    section = ""
    for index, one in enumerate(found):
        section = _add(draft, one, numbers.get(index), section)
    if unfinished.prompt:
        draft.add_skipped("this is not a question: no options follow", _CURE, (unfinished.first, len(source.lines)))
    elif not draft.questions and not draft.findings:
        draft.unreadable("this is not Aiken text", _CURE)
    return draft


def _questions(source: Source) -> tuple[list[_Open], _Open]:
    """Returns the questions in order, and what is after the last."""
    found: list[_Open] = []
    current = _Open()
    blank = False

    def close(last: int, letters: str | None) -> None:
        current.last, current.letters = last, letters
        found.append(current)

    for number, line in enumerate(source.lines, 1):
        option = _OPTION.match(line)
        if answer := _ANSWER.fullmatch(line):
            if current.rest and current.apart:
                close(current.rest_first - 1, None)
                current = _Open(current.rest_first, prompt=current.rest)
            elif current.rest:
                current.take_rest()
            current.first = current.first or number
            close(number, answer["letters"].translate(_LATIN))
            current = _Open()
        elif current.options and not current.rest and _UNCLEAR.match(line):
            close(number, "")
            current = _Open()
        elif option and current.rest and not _goes_on(current, option["letter"]):
            # The lines after the options were the next question: this one has no answer.
            close(current.rest_first - 1, None)
            current = _Open(current.rest_first, prompt=current.rest, options=[(option["letter"], [option["text"]])])
        elif option and (current.prompt or current.options):
            current.take_rest()
            current.options.append((option["letter"], [option["text"]]))
        elif line.strip() and current.options:
            if not current.rest:
                current.rest_first, current.apart = number, blank
            current.rest.append(line)
        elif line.strip():
            current.first = current.first or number
            current.prompt.append(line)
        blank = not line.strip()
    if current.rest and current.apart:
        close(current.rest_first - 1, None)
        current = _Open(current.rest_first, prompt=current.rest)
    elif current.options:
        current.take_rest()
        close(len(source.lines), None)
        current = _Open()
    return found, current


def _goes_on(current: _Open, letter: str) -> bool:
    return bool(current.options) and ord(letter) == ord(current.options[-1][0]) + 1


def _numbers(found: list[_Open]) -> dict[int, int]:
    """Returns the line of the prompt with its number, by the index of a question; empty if most have none, or the
    numbers do not continue."""
    first = [_NUMBER.fullmatch(one.prompt[0]) if one.prompt else None for one in found]
    numbers = [int(number["number"]) for number in first if number]
    goes_on = sum(one < two <= one + _GAP for one, two in pairwise(numbers))
    if len(numbers) < max(_FEWEST_NUMBERED, _REGULAR * len(found)) or goes_on < _REGULAR * (len(numbers) - 1):
        return {}
    places: dict[int, int] = {}
    before = 0
    for index, one in enumerate(found):
        for at, line in enumerate(one.prompt):
            number = _NUMBER.fullmatch(line)
            if number and (at == 0 or int(number["number"]) == before + 1):
                places[index], before = at, int(number["number"])
                break
    return places


_CURE = "write options as `A. text` below the question and `ANSWER: A` after them"


def _add(draft: ImportDraft, one: _Open, at: int | None, section: str) -> str:
    """Adds a question and returns the title that it is under. `at`: the line of its prompt with its number; what
    comes before it is a title."""
    lines = (one.first, one.last)
    size = sum(map(len, one.prompt)) + sum(len(text) for _, texts in one.options for text in texts)
    if not draft.accepts(*lines, size):
        return section
    if not one.options:
        draft.add_skipped("there are no options before this answer", _CURE, lines)
        return section
    right = set(re.findall("[A-Z]", one.letters or ""))
    unknown = right - {letter for letter, _ in one.options}
    if unknown:
        message = f"there is no option {', '.join(sorted(unknown))}"
        draft.add("Q604", message, "use the letter of an option", (one.last, one.last))
    offers = [OptionDraft(from_plain("\n".join(texts).strip()), letter in right) for letter, texts in one.options]
    item = Item(*lines, from_plain("\n".join(one.prompt)))
    if at is not None and (number := _NUMBER.fullmatch(one.prompt[at])):
        item.prompt = from_plain("\n".join((number["text"], *one.prompt[at + 1 :])))
        item.number = number["number"]
        section = " ".join(one.prompt[:at]) if at else section
        item.section = (section,) if section else ()
    add_choice(draft, item, offers)
    return section
