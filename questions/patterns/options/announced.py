"""Finds options by words: a list below `Options:` with a number as the key, or `Option A: …`, each explained; and the
options in the gap of a sentence: `It is [(a) one (b) two].`"""

from __future__ import annotations

import re
from typing import NamedTuple

from questions.ids import nth_letter
from questions.patterns.options.search import OPTION_WORD, FoundOption, OptionRun
from questions.source import trim
from questions.wording.labels import label_of

_KEY = re.compile(
    r"(?P<open>\*{1,3}|_{1,3})(?P<label>[^\d*_\n]{1,40}[:：][ ]?)(?P<number>\d{1,2})(?P=open)"
    r"(?:[ ]?[-–—:.)][ ]?(?P<rest>[^\n]*))?"
)
"""The number of an option with its label in bold, and an explanation behind it: `**Answer: 4** - because …`."""
_NAMED = re.compile(
    rf"[ ]{{0,3}}[*_]{{0,3}}{OPTION_WORD}(?P<letter>[A-J])[*_]{{0,3}}[.):][*_]{{0,3}}[ ]+(?P<text>\S.*)"
)
_FEWEST = 2


class Keyed(NamedTuple):
    """The text up to a key, and the key with all that is below it."""

    asked: str
    answer: str


def part_at_number(text: str) -> Keyed | None:
    """Splits a text at the first number that follows a bold answer label."""
    lines = text.split("\n")
    for index, line in enumerate(lines):
        found = _KEY.fullmatch(line.strip())
        label = label_of(f"{found['label'].rstrip()} x") if found else None
        if found and label is not None and label.role == "answer":
            below = (found["rest"] or "", *lines[index + 1 :])
            return Keyed("\n".join(lines[:index]), "\n".join((found["number"], *below)))
    return None


def explained_options(text: str) -> tuple[OptionRun, str] | None:
    """Returns the options `Option A: …`, `Option B: …` and the explanations that are below each of them."""
    lines = text.split("\n")
    found = [(index, named) for index, line in enumerate(lines) if (named := _NAMED.fullmatch(line))]
    letters = [named["letter"] for _, named in found]
    if len(found) < _FEWEST or letters != [chr(ord("A") + at) for at in range(len(found))]:
        return None
    ends = [*(index for index, _ in found[1:]), len(lines)]
    below = [trim("\n".join(lines[index + 1 : end])) for (index, _), end in zip(found, ends, strict=True)]
    if not all(map(begins_explanation, below)):
        return None
    options = tuple(
        FoundOption(nth_letter(at), named["text"].strip(), marked=False) for at, (_, named) in enumerate(found)
    )
    reasons = (text.partition(":")[2].lstrip("*_ ") for text in below)
    why = "\n\n".join(f"{named['letter']}) {text}" for (_, named), text in zip(found, reasons, strict=True))
    return OptionRun("letter", found[0][0], len(lines), options), why


_GAP = re.compile(r"[【\[{](?P<inside>\(?[aA]\)[^【】\[\]{}\n]{3,400})[】\]}](?!\()")
"""Options in brackets where a word is missing: `It is [(a) one (b) two].`"""
_GAP_LETTER = re.compile(r"(?<![^\s,;/|、，；／])\(?(?P<letter>[A-Ha-h])\)[ ]?")


def options_in_gap(text: str) -> tuple[str, OptionRun] | None:
    """Returns a text with a gap, and the options that stand in brackets there; None if it has no or several gaps."""
    gaps = list(_GAP.finditer(text))
    if len(gaps) != 1:
        return None
    inside = gaps[0]["inside"]
    found = list(_GAP_LETTER.finditer(inside))
    letters = [nth_letter(at) for at in range(len(found))]
    if len(found) < _FEWEST or [one["letter"].lower() for one in found] != letters:
        return None
    ends = [*(one.start() for one in found[1:]), len(inside)]
    texts = [inside[one.end() : end].strip(" ,;/|、，；／") for one, end in zip(found, ends, strict=True)]
    if not all(texts):
        return None
    options = tuple(FoundOption(letter, offered, marked=False) for letter, offered in zip(letters, texts, strict=True))
    asked = f"{text[: gaps[0].start()].rstrip()} ____ {text[gaps[0].end() :].lstrip()}"
    return asked.strip(), OptionRun("letter", 0, 0, options)


def begins_explanation(text: str) -> bool:
    """Returns whether a text begins with a word such as `Explanation:`, also without emphasis."""
    first = text.partition("\n")[0].lstrip("*_ ")
    label = label_of(f"**{first.partition(':')[0]}:** x")
    return ":" in first and label is not None and label.role == "explanation"
