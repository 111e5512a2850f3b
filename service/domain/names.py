"""Names that people give themselves: how they are cleaned, why one is refused, and which ones look alike.

Look-alike names are found as in Unicode Technical Standard 39, section 4, with the data in `confusables.json`, which
`deploy/confusables.py` writes.
"""

from __future__ import annotations

import functools
import json
import re
import unicodedata
from importlib import resources
from itertools import pairwise
from typing import Final

from service.wire import NameRefused

LONGEST: Final = 40
"""Limit of a name's length, characters."""
MOST_MARKS: Final = 4
"""Marks on one letter. No alphabet needs more; stacks of them cover the lines above and below."""
INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Default ignorable characters, controls of the writing direction among them, and the blank Braille pattern."""
_MARKS: Final = ("Mn", "Me")


@functools.cache
def _prototypes() -> dict[int, str]:
    """Returns the prototype of each character that looks like another: those that look alike have the same one."""
    data = json.loads(resources.files(__package__).joinpath("confusables.json").read_text("utf-8"))
    return {
        int(code, 16): _characters(prototype) for prototype, codes in data["alike"].items() for code in codes.split()
    }


def _characters(codes: str) -> str:
    return "".join(chr(int(code, 16)) for code in codes.split())


def clean(name: str) -> str:
    """Returns a name as it is kept: without invisible characters, with full-width letters and ligatures as plain ones,
    and with single spaces."""
    return " ".join(unicodedata.normalize("NFKC", INVISIBLE.sub("", name)).split())


def folded(name: str) -> str:
    """Returns a name as it is looked up: cleaned, and without case."""
    return clean(name).casefold()


def skeleton(text: str) -> str:
    """Returns the UTS 39 skeleton of a cleaned text: texts that look the same have the same one."""
    mapped = unicodedata.normalize("NFD", text).translate(_prototypes())
    return unicodedata.normalize("NFD", mapped)


def appearance(name: str) -> str:
    """Returns what is unique among the names of a chat: equal for names that look alike in some case of their letters.

    Case is folded after the skeleton was taken: a Cyrillic В looks like B, but в does not look like b.
    """
    return skeleton(skeleton(name).casefold())


def find_problem(name: str) -> NameRefused | None:
    """Returns why a cleaned name is not allowed; None if it is."""
    if not 1 <= len(name) <= LONGEST:
        return NameRefused(why="length")
    if not name.isprintable() or unicodedata.category(name[0]).startswith("M"):
        return NameRefused(why="unreadable")
    if _stacks_marks(name):
        return NameRefused(why="marks")
    mixed = [word for word in _words(name) if _mixes_alphabets(word)]
    return NameRefused(why="alphabets", name=mixed[0]) if mixed else None


def _stacks_marks(name: str) -> bool:
    """Returns whether a letter has too many marks, or the same one twice."""
    decomposed = unicodedata.normalize("NFD", name)
    run = 0
    for before, mark in pairwise(decomposed):
        run = run + 1 if unicodedata.category(mark) in _MARKS else 0
        if run > MOST_MARKS or (run > 1 and before == mark):
            return True
    return False


def _words(name: str) -> list[str]:
    """Returns the runs of letters in a name."""
    return "".join(one if unicodedata.category(one)[0] in "LM" else " " for one in name).split()


def _mixes_alphabets(word: str) -> bool:
    """Returns whether a word has Latin letters beside letters of another alphabet that look like Latin ones."""
    others = [letter for letter in word if not _is_latin(letter)]
    return len(others) < len(word) and any(map(_looks_latin, others))


def _is_latin(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("LATIN ")


def _looks_latin(letter: str) -> bool:
    """Returns whether a letter of another alphabet looks like Latin ones, whatever marks are on it."""
    letters = [one for one in skeleton(letter) if unicodedata.category(one).startswith("L")]
    return bool(letters) and all(map(_is_latin, letters))
