"""Reads a text in which each line is a term and its definition: `Term: definition`, `term - definition`, or with a tab
between both.

Letters, minutes, settings and dialogues have lines of the same form, so a title such as `Glossary` or the form of
nearly all lines must show that they define.
"""

from __future__ import annotations

import re
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

from questions.formats.draft import ImportDraft
from questions.formats.tables.column_names import Column
from questions.formats.tables.columns import holds_texts
from questions.formats.tables.table import add_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.source import Source

NAME = "glossary"

_FEWEST = 3
"""Fewest lines that define."""
_FEWEST_WORDS = 5
"""Fewest lines of a word and another, with a tab between them."""
_MARKS = ("\t", ":", "：", " - ", " – ", " — ")
_TITLE = re.compile(
    r"\W*(?:\w+[ ]){0,3}?(?:glossary|glossar|glosario|glossário|glossaire|glossario|словарь|terms|vocabulary|vocab"
    r"|definitions|flash ?cards|key terms|begriffe|definiciones|définitions|definizioni|术语表?|词汇表?|用語集)\b"
    r".{0,60}",
    re.IGNORECASE,
)
_TERM = re.compile(r"[^\W\d_](?:[^:：?!.;|#*<>=\[\]{}\"\t(]|(?<=[ ])\(){0,58}[\w)'’+]|[^\W\d_]\w?")
_MOST_IN_TERM = 5
"""Most words of a term."""
_COUNTED = re.compile(r".*\b(?:\d{1,3}|[A-Z]|[ivx]{1,4})", re.DOTALL)
"""A term that counts: `Step 1`, `Option B`."""
_NO_TERM = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|today|tomorrow|yesterday|january|february|march|april|may|june|july"
    r"|august|september|october|november|december|notes?|warning|caution|hints?|tips?|to ?do|example|summary|abstract"
    r"|introduction|conclusion|background|agenda|attendees|participants|present|absent|authors?|date|time|place|where"
    r"|when|who|what|status|version|license|copyright|title|subject|from|to|cc|bcc|sent|re|dear|name|e-?mail|phone|fax"
    r"|address|website|url|source|sources|references?|ingredients|serves|duration|location|price|total|questions?"
    r"|answers?|q|a|ans|key|explanation|solution|options?|choices?|correct|topic|level|category|tags?|pros|cons|front"
    r"|back|goal|goals|task|tasks|owner|deadline|priority|description|type|kind|language|languages|skills|experience"
    r"|education|hobbies|objective|requirements?|usage|installation|input|output|error|info|debug|step|chapter|part",
    re.IGNORECASE,
)
"""What comes before a colon in texts that define nothing."""
_SPEAKS = re.compile(
    r"\b(?:i|we|you|my|our|your|me|us|i'm|we're|let's|thanks?|please|yes|no|ok|hello|hi)\b", re.IGNORECASE
)
"""Words of a letter, of minutes or of a dialogue."""
_DEFINES = re.compile(r"(?:[Aa]n?|[Tt]he|[Oo]ne|[Aa]ny|[Hh]ow|[Tt]o)[ ]|[a-zà-ÿа-я]|[^\x00-\u024f\u0400-\u04ff]")
_SHARE = 0.75
"""Share of definitions that begin in small letters or with an article where no title announces them."""
_WORDS = 2.5
"""Mean number of words of definitions where no title announces them."""


class _Entry(NamedTuple):
    number: int
    term: str
    meaning: str


def sniff(source: Source) -> bool:
    """Returns whether each line of a text is a term and its definition, below a title or without one."""
    return bool(_entries(source))


def read(source: Source) -> ImportDraft:
    """Reads each line as a card whose term asks."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    entries = _entries(source)
    if not entries:
        return draft.unreadable("the lines are not terms with definitions", "write `term: definition` in each line")
    message = "each line was read as a card: the term asks, and its definition is the answer"
    cure = "if this is wrong, write a table with columns `question` and `answer`"
    draft.add("Q613", message, cure, (entries[0].number, entries[0].number), severity="note")
    rows = [((one.term, one.meaning), (one.number, one.number)) for one in entries]
    add_rows(draft, [Column("question"), Column("answer")], rows, base=None)
    return draft


def _entries(source: Source) -> list[_Entry]:
    """Returns all lines as terms and definitions; empty unless each is one."""
    lines = [(number, line.strip(" ")) for number, line in enumerate(source.lines, 1) if line.strip()]
    titled = bool(lines) and _TITLE.fullmatch(lines[0][1]) is not None and ":" not in lines[0][1].rstrip(":")
    lines = lines[1:] if titled else lines
    if len(lines) < _FEWEST:
        return []
    for mark in _MARKS:
        if all(mark in line for _, line in lines[:_FEWEST]):
            parted = [(number, *line.partition(mark)[::2]) for number, line in lines]
            entries = [_Entry(number, term.strip(), meaning.strip()) for number, term, meaning in parted]
            if _are_terms(entries) and _are_defined(entries, mark, titled=titled):
                return entries
    return []


def _are_terms(entries: Sequence[_Entry]) -> bool:
    """Returns whether all entries have different terms, each with a meaning in words."""
    terms = [one.term.casefold() for one in entries]
    short = all(_TERM.fullmatch(one.term) and len(one.term.split()) <= _MOST_IN_TERM for one in entries)
    counted = sum(_COUNTED.fullmatch(one.term) is not None for one in entries)
    ordinary = any(_NO_TERM.fullmatch(term) for term in terms)
    return (
        short and not ordinary and counted * 2 <= len(terms) == len(set(terms)) and all(one.meaning for one in entries)
    )


def _are_defined(entries: Sequence[_Entry], mark: str, *, titled: bool) -> bool:
    """Returns whether the meanings are definitions: no numbers, nobody speaks in them, and their form or a title shows
    it."""
    meanings = [one.meaning for one in entries]
    asking = any(text.endswith(("?", "？")) or "\t" in text for text in meanings)
    if asking or not holds_texts(meanings) or any(map(_SPEAKS.search, meanings)):
        return False
    words = mean(len(text.split()) if text.isascii() else max(len(text.split()), len(text) // 3) for text in meanings)
    if mark == "\t":
        return titled or words >= 2 or len(entries) >= _FEWEST_WORDS
    begins = sum(_DEFINES.match(text) is not None for text in meanings)
    return titled or (words >= _WORDS and begins >= _SHARE * len(meanings))
