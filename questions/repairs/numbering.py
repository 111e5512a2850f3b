"""How questions and options are numbered: gives their numbers and letters the form that Markdown knows."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from questions.fences import fence_after, fence_in
from questions.wording.labels import ANSWER_WORDS, QUESTION_WORDS

if TYPE_CHECKING:
    from questions.source import Source


# Numbers without a space behind them, `2.What is a view?`, in lists of questions that mostly have one, and letters of
# options without one, `b)a clone`.
#
# Markdown reads such a line as text, so that the question would belong to the answer above it. Headings that are
# nothing but a number, `## 1.`, lose the mark behind it.

_NUMBER = re.compile(r"(?P<number>\d{1,3})[.)](?P<space>[ \t]+)?(?=[^\W\d_]|[\"'“«¿*`(])(?P<text>.*)")
_FEWEST_NUMBERED = 2
"""Fewest lines of either kind."""
_FEWEST_WORDS = 3
"""Fewest words of a line that asks, in scripts with spaces."""
_REGULAR = 0.8
"""Share of numbers that continue, or start over at 1."""


def with_spaces(source: Source) -> Source:
    """Returns the document with a space behind each number at the start of a line that continues from lines with
    one, and behind each letter of an option."""
    return _spaced_letters(_spaced_numbers(_plain_headings(source)))


_HEADING = re.compile(r"(?P<number>#{1,6}[ ]+\d{1,4})(?:[ ]?[.):])?[ \t]*")
_FEWEST_HEADINGS = 3
"""Fewest headings that are nothing but a number, with a mark or without."""


def _plain_headings(source: Source) -> Source:
    """Returns the document without the marks behind the numbers of headings that have no text."""
    found: dict[int, str] = {}
    for at, line in source.lines_outside_programs:
        if line.startswith("#") and (heading := _HEADING.fullmatch(line)):
            found[at] = heading["number"]
    if len(found) < _FEWEST_HEADINGS:
        return source
    return source.with_lines(found)


_LETTER = re.compile(r"[ \t]*(?:[-*+][ ]+)?\(?(?P<letter>[A-Ja-j])(?P<mark>[).])(?P<space>[ \t]*)(?=[^\s.)])")
_FEWEST_LETTERS = {")": 2, ".": 3}
"""Fewest letters in order that are options, by the mark behind them: `a.b` may be a program."""


def _spaced_letters(source: Source) -> Source:
    """Returns the document with a space behind each letter of options in neighboring lines."""
    lines = source.lines
    # Most lines have no mark so early: a regular expression for each would take a hundredth of the whole time.
    early = [at for at, line in enumerate(lines) if ")" in (head := line[:_FIRST]) or "." in head]
    runs: list[list[tuple[int, re.Match[str]]]] = []
    for at in early:
        found = _LETTER.match(lines[at])
        if found is None:
            continue
        last, before = runs[-1][-1] if runs else (at, None)
        follows = before and (found["mark"], ord(found["letter"])) == (before["mark"], ord(before["letter"]) + 1)
        if follows and not any(line.strip() for line in lines[last + 1 : at]):
            runs[-1].append((at, found))
        elif found["letter"] in "Aa":
            runs.append([(at, found)])
    spaced = {
        at: f"{lines[at][: option.end()]} {lines[at][option.end() :]}"
        for run in runs
        if len(run) >= _FEWEST_LETTERS[run[0][1]["mark"]]
        for at, option in run
        if not option["space"]
    }
    return replace(source, lines=tuple(spaced.get(at, line) for at, line in enumerate(lines))) if spaced else source


# Bullets behind the numbers of questions, `1. - What is a view?`, which are lists of one item in an item.

_BULLET_BEHIND = re.compile(r"(?P<number>[ ]{0,3}\d{1,3}[.)][ ]+)[-*+•][ ]+(?=[^\s\[(])")
_FEWEST_BULLETS = 3


def with_plain_numbers(source: Source) -> Source:
    """Returns the document without the bullets right behind numbers, where several follow each other."""
    found = {
        at: match["number"] + line[match.end() :]
        for at, line in source.lines_outside_programs
        if line.lstrip()[:1].isdigit() and (match := _BULLET_BEHIND.match(line))
    }
    return source.with_lines(found) if len(found) >= _FEWEST_BULLETS else source


# Dashes behind the marks of numbers, `1.- What is a view?`, as in Spanish.

_DASHED = re.compile(r"(?P<number>[ \t]{0,8}\d{1,3}[.)])[ ]?[-–—](?:[ ]+(?=[^\s-])|(?=[^\s\d-]))")
_FEWEST_DASHED = 3


def with_plain_marks(source: Source) -> Source:
    """Returns the document without the dashes behind the marks of numbers, if several lines have one."""
    found = {
        at: f"{match['number']} {line[match.end() :]}"
        for at, line in source.lines_outside_programs
        if line.lstrip()[:1].isdigit() and (match := _DASHED.match(line))
    }
    return source.with_lines(found) if len(found) >= _FEWEST_DASHED else source


# Gives numbered lines above lettered options labels, `5 Which one?` becomes `**Question 5:** Which one?`, where most of
# them are right below the text of another question.
#
# Texts copied from PDF files have no blank lines, so that Markdown reads all of them as one paragraph.

_CROWDED = re.compile(r"[ ]{0,3}(?P<number>\d{1,3})(?:[.)]?[ ]+(?=\d)|[.)][ ]*|[ ]+)(?P<text>[^\W_].*|[\"'“«¿(].*)")
_EMPTY_ANSWER = re.compile(rf"[ ]{{0,3}}(?:{ANSWER_WORDS})[ ]?[:：]?[ ]*", re.IGNORECASE)
_PAGE = re.compile(
    r".{0,40}\b(?:page|seite|página|pagina|страница)[ ]\d{1,4}[ ](?:of|von|de|di|van|из)[ ]\d{1,4}\b.{0,60}",
    re.IGNORECASE,
)
"""The line between two pages."""
_FIRST_LETTER_LINE = re.compile(r"[ ]{0,3}\(?[aA][.)][ ]*\S")
_FEWEST_CROWDED = 5
_MOST_LINES = 5
"""Maximum number of lines of such a question."""


def with_crowded_choices(source: Source) -> Source:
    """Returns the document with labels for such lines, if their numbers go on or begin anew at 1, and without the lines
    between pages and the words for an answer that nothing follows."""
    lines = source.lines
    found: dict[int, re.Match[str]] = {}
    for at, line in source.lines_outside_programs:
        if line.lstrip()[:1].isdigit() and (one := _CROWDED.fullmatch(line)) and _has_options_below(lines, at):
            found[at] = one
    numbers = [0, *(int(one["number"]) for one in found.values())]
    crowded = sum(at > 0 and lines[at - 1].strip() != "" for at in found)
    steps = sum(two in (one + 1, 1) for one, two in pairwise(numbers))
    if all(one[0][one.end("number")] in ".)" for one in found.values()):
        # Numbers with marks are read as they are.
        return source
    if len(found) < _FEWEST_CROWDED or crowded * 2 <= len(found) or steps < _REGULAR * len(found):
        return source
    pages = {at for at, line in enumerate(lines) if _PAGE.fullmatch(line)}
    filled = [at for at, line in enumerate(lines) if line.strip() and at not in pages]
    below = [*filled[1:], -1]
    empty = {at for at, two in zip(filled, below, strict=True) if two in found and _EMPTY_ANSWER.fullmatch(lines[at])}
    labels = {at: f"**Question {one['number']}:** {one['text']}" for at, one in found.items()}
    return source.with_lines(dict.fromkeys(pages | empty, "") | labels)


def _has_options_below(lines: tuple[str, ...], at: int) -> bool:
    """Returns whether the first lettered option is right below a line, or below what goes on with it."""
    for line in lines[at + 1 : at + 1 + _MOST_LINES]:
        if _FIRST_LETTER_LINE.match(line):
            return True
        if not line.strip() or _CROWDED.match(line):
            return False
    return False


_FIRST = 10
"""Characters of a line within which the mark behind the letter of an option is."""


def _spaced_numbers(source: Source) -> Source:
    found = _numbered(source)
    tight = [at for at, _, spaced in found if not spaced]
    if len(tight) < _FEWEST_NUMBERED or len(found) - len(tight) < _FEWEST_NUMBERED:
        return source
    steps = [(one, two) for (_, one, _), (_, two, _) in pairwise(found)]
    mixed = any(two == one + 1 and a != b for (_, one, a), (_, two, b) in pairwise(found))
    if not mixed or sum(two in (one + 1, 1) for one, two in steps) < _REGULAR * len(steps):
        return source
    lines = list(source.lines)
    for at in tight:
        number = _NUMBER.match(lines[at])
        lines[at] = f"{lines[at][: number.start('text')]} {number['text']}" if number else lines[at]
    return replace(source, lines=tuple(lines))


def _numbered(source: Source) -> list[tuple[int, int, bool]]:
    """Returns the lines below a blank one that begin with a number: index, number, and whether a space follows it."""
    found: list[tuple[int, int, bool]] = []
    fence, above = "", ""
    for at, line in enumerate(source.lines):
        if mark := fence_in(line):
            fence = fence_after(fence, mark["mark"])
        elif not fence and line[:1].isdigit() and not above.strip() and (number := _NUMBER.match(line)):
            wordy = len(number["text"].split()) >= _FEWEST_WORDS or not line.isascii()
            if number["space"] or wordy:
                found.append((at, int(number["number"]), bool(number["space"])))
        above = line
    return found


# Gives items with Roman numbers decimal ones: `iv. Given a list, …` becomes `4. Given a list, …`.
#
# Markdown reads such lines as one paragraph.

_ROMAN = (
    *("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"),
    *("xi", "xii", "xiii", "xiv", "xv", "xvi", "xvii", "xviii", "xix", "xx"),
)
_ROMAN_ITEM = re.compile(r"(?P<number>[ivx]{1,5})(?P<mark>[.)])[ ]+(?P<text>\S.*)", re.IGNORECASE)
_FEWEST_ROMAN = 5
"""Fewest items of a list with Roman numbers."""
_FEWEST_ROMAN_WORDS = 4
"""Fewest words of each item."""


def with_decimal_numbers(source: Source) -> Source:
    """Returns the document with decimal numbers before items right below a heading that have Roman ones in order, with
    nothing but blank lines between them, if such items are most of the document. Lists below a text stay as they are:
    they may be parts or options of it."""
    lines: dict[int, str] = {}
    run: dict[int, str] = {}
    fence, headed = "", False
    for at, line in enumerate(source.lines):
        if mark := fence_in(line):
            fence = fence_after(fence, mark["mark"])
        if fence or not line.strip():
            continue
        item = _ROMAN_ITEM.fullmatch(line) if line[0] in "ivxIVX" else None
        if item and (run or headed) and _follows(item, len(run)):
            run[at] = f"{len(run) + 1}{item['mark']} {item['text']}"
        else:
            lines |= run if len(run) >= _FEWEST_ROMAN else {}
            run = {}
        headed = line.startswith("#")
    lines |= run if len(run) >= _FEWEST_ROMAN else {}
    if not lines or len(lines) * 2 < sum(bool(line.strip()) for line in source.lines):
        return source
    return source.with_lines(lines)


def _follows(item: re.Match[str], count: int) -> bool:
    """Returns whether an item of several words has the number after `count`."""
    wordy = len(item["text"].split()) >= _FEWEST_ROMAN_WORDS
    return wordy and count < len(_ROMAN) and item["number"].casefold() == _ROMAN[count]


# Lines that are only a word for a question and its number, `Question 7`, right below an option of the question before.
#
# They are so in texts of PDF files; Markdown reads them as part of the text above.

_COUNTED_LINE = re.compile(
    rf"[ ]{{0,3}}(?:{QUESTION_WORDS})[ ]?(?:#|№)?(?P<number>\d{{1,4}})[ ]?[:.)]?[ ]*", re.IGNORECASE
)
_FEWEST_COUNTED = 3


def with_counted_headings(source: Source) -> Source:
    """Returns the document with headings for such lines, if they count up from 1 and most have a text right above
    them. Those that are headings by the line below them stay as they are."""
    lines = source.lines
    short = [(at, line) for at, line in source.lines_outside_programs if 0 < len(line) <= _LONGEST_COUNTED]
    ending = ((at, line) for at, line in short if line.rstrip(" :.)")[-1:].isdigit())
    found = {at: one for at, line in ending if (one := _COUNTED_LINE.fullmatch(line))}
    numbers = [0, *(int(one["number"]) for one in found.values())]
    below_text = sum(at > 0 and lines[at - 1].strip() != "" for at in found)
    underlined = any(lines[at + 1 : at + 2] and _UNDERLINE.match(lines[at + 1]) for at in found)
    regular = all(two in (one + 1, 1) for one, two in pairwise(numbers))
    if len(found) < _FEWEST_COUNTED or below_text * 2 <= len(found) or underlined or not regular:
        return source
    return source.with_lines({at: f"## {lines[at].strip()}" for at in found})


_UNDERLINE = re.compile(r"[ ]{0,3}(?:---|===)")
_LONGEST_COUNTED = 30
"""Length of such a line, characters."""


# Takes the number of all questions from behind that of one: `**Question #5 (of 16)**` becomes `**Question #5**`.

_OF_ALL = re.compile(
    rf"(?P<lead>[ ]{{0,3}}(?:#{{1,6}}[ ]+)?[*_]{{0,3}}(?:{QUESTION_WORDS})[ ]?#?\d{{1,4}})[ ]?"
    r"(?:\((?:of|out of|de|von|di|van|z|из|/)[ ]?\d{1,4}\)|(?:of|out of|de|von|di|van|из|/)[ ]?\d{1,4})"
    r"(?P<rest>[ ]?[*_]{0,3}(?:$|[.:：)–—-].*))",
    re.IGNORECASE,
)
_FEWEST_OF_ALL = 2
"""Fewest lines with such a number."""
_COUNT_OF_ALL = re.compile(r"[^\d(]{3,30}\d{1,4}[ ]?\(?(?:/|[^\W\d]{1,3}[ ])(?:of)?[ ]?\d")
"""Such a line by its first signs."""


def with_own_numbers(source: Source) -> Source:
    """Returns the document without the number of all questions in the lines that begin one, if several have it."""
    counted = [(at, line) for at, line in enumerate(source.lines) if _COUNT_OF_ALL.match(line)]
    found = {at: one for at, line in counted if (one := _OF_ALL.fullmatch(line.rstrip()))}
    if len(found) < _FEWEST_OF_ALL:
        return source
    return source.with_lines({at: f"{one['lead']}{one['rest']}" for at, one in found.items()})


# Numbers and letters that are emoji, `1️⃣ What is a view?` and `🇦 a view`, written as in Markdown: `1. What is a view?`
# and `A) a view`; and headings without an emoji before their number, `## ✅ 1. What is a view?`.
#
# Programs that write notes for people number headings and lines in this way. Lines of programs stay as they are.

_KEYCAP_SIGN = "\u20e3"
"""The mark around a digit."""
_TEN = "\U0001f51f"
_KEYCAP = re.compile(
    rf"(?P<lead>[ ]{{0,3}}(?:#{{1,6}}[ ]+)?(?:\*\*|__)?)(?P<number>(?:[0-9]\ufe0f?{_KEYCAP_SIGN}){{1,3}}|{_TEN})"
    r"\ufe0f?[ ]*[.):]?[ ]*(?=\S)"
)
_FIRST_LETTER = 0x1F1E6
_LETTER_SIGN = re.compile(
    r"(?P<lead>[ ]{0,3}(?:[-*+][ ]+)?(?:\*\*|__)?)(?:(?P<letter>[\U0001f1e6-\U0001f1ef])(?![\U0001f1e6-\U0001f1ff])"
    r"|(?P<square>[\U0001f170\U0001f171]))\ufe0f?[ ]*[.):]?[ ]*(?=\S)"
)
"""A letter of an option: two such letters in a row are the flag of a country."""

_BEFORE_NUMBER = re.compile(
    r"(?P<lead>[ ]{0,3}#{1,6}[ ]+(?:\*\*|__)?)(?:(?![❓❔])[\u2600-\u27bf\U0001f300-\U0001faff]\ufe0f?){1,3}[ ]?"
    r"(?=\d{1,4}[.)][ ]?\S)"
)
_FEWEST_BEFORE_NUMBER = 3
"""Fewest headings with an emoji before their number."""


def with_bare_numbers(source: Source) -> Source:
    """Returns the document without the emoji before the numbers of headings, if several have one."""
    headings = ((at, line) for at, line in enumerate(source.lines) if "#" in line[:4])
    found = [(at, one) for at, line in headings if (one := _BEFORE_NUMBER.match(line))]
    if len(found) < _FEWEST_BEFORE_NUMBER:
        return source
    return source.with_lines({at: one["lead"] + source.lines[at][one.end() :] for at, one in found})


def with_keycap_numbers(source: Source) -> Source:
    """Returns the document with digits and letters for the emoji at the start of headings and lines. Lines keep their
    numbers."""
    if not any(not line.isascii() and (_KEYCAP.match(line) or _LETTER_SIGN.match(line)) for line in source.lines):
        return source
    lines: list[str] = []
    fence = ""
    for line in source.lines:
        if mark := fence_in(line):
            fence = fence_after(fence, mark["mark"])
        lines.append(line if fence or line.isascii() else _in_letters(_in_digits(line)))
    return source if tuple(lines) == source.lines else replace(source, lines=tuple(lines))


def _in_digits(line: str) -> str:
    found = _KEYCAP.match(line)
    if found is None:
        return line
    number = "10" if found["number"] == _TEN else "".join(filter(str.isdecimal, found["number"]))
    return f"{found['lead']}{number}. {line[found.end() :]}"


def _in_letters(line: str) -> str:
    found = _LETTER_SIGN.match(line)
    if found is None:
        return line
    place = ord(found["letter"]) - _FIRST_LETTER if found["letter"] else ord(found["square"]) - 0x1F170
    return f"{found['lead']}{chr(ord('A') + place)}) {line[found.end() :]}"


# Indents what is below items with two digits as far as Markdown needs it: `10. Which one?` and its bullets.
#
# Authors indent all bullets by three spaces, as `1.` needs; below `10.` they would be a list of their own.

_COUNTED_ITEM = re.compile(r"(?P<number>\d{1,2})[.)][ ]\S")
_INDENTED_BULLET = re.compile(r"[ ]{3}[-*+][ ]+\S")


def with_deeper_bullets(source: Source) -> Source:
    """Returns the document with a space more before bullets that follow an item with two digits, if such bullets follow
    one with a single digit. Lines keep their numbers."""
    short = False
    deeper: dict[int, str] = {}
    digits = 0
    for at, line in source.lines_outside_programs:
        if not line.strip():
            continue
        if item := _COUNTED_ITEM.match(line):
            digits = len(item["number"])
        elif not line.startswith("   "):
            digits = 0
        elif digits and _INDENTED_BULLET.match(line):
            short = short or digits == 1
            if digits > 1:
                deeper[at] = f" {line}"
    return source.with_lines(deeper) if short and deeper else source
