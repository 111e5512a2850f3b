"""Rewrites documents in which nothing was recognized, so that the places where their questions start have a usual form.

    Question 1            1 What is a view?        What is a view?
    What is a view?       2 What is a leaf?
                                                   - a copy
                                                   - **a tensor that shares memory**

Words with numbers alone become headings, numbers get a period, numbers in parts (`2.1 What …`, below `2 Views`) become
labels, numbers in brackets before tasks become headings, and where one item of each list is in emphasis, what is
above the list gets a label, and the items get letters. A tab before numbers is left out, and each line of
those that all ask gets a label. Only tried on documents in which nothing else was read.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING

from questions.wording.imperatives import asks_or_demands, may_ask
from questions.wording.labels import END_OF_QUESTION, QUESTION_WORDS
from questions.wording.stems import asks_for_questions, ends_asking, reads_as_question

if TYPE_CHECKING:
    from questions.blocks import Block
    from questions.document import Document
    from questions.source import Source

_WORD = re.compile(
    rf"[ ]{{0,3}}(?:{QUESTION_WORDS})[ ]?(?:#|№|nr?[.]?[ ])?(?P<number>\d{{1,4}})[ ]?[:.)]?[ ]*", re.IGNORECASE
)
_NUMBER = re.compile(r"[ ]{0,3}(?P<number>\d{1,3})[ \t]{1,4}(?P<text>[^\W\d_].*|[¿¡\"'“«(`].*)")
_EMPHASIS = re.compile(r"(?P<mark>[*_]{1,3})(?P<text>[^*_].*?)[*_]{1,3}[.]?", re.DOTALL)
_FEWEST = 5
"""Fewest places of one form."""
_FEWEST_OPTIONS = 2
_MOST_OPTIONS = 10
_ASK = 0.5
"""Share of lines with numbers that must ask."""
_KEYED = 0.9
"""Share of the lists that must have one item in emphasis."""


def with_plain_starts(document: Document) -> Source:
    """Returns the source with questions that start in a usual form; the same source if they have no form that is
    known."""
    source = document.source
    ways = (_with_headings, _with_periods, _with_parts, _with_exercises, _without_tabs, _with_question_labels)
    for rewritten in (*(way(source) for way in (*ways, _with_announced_lines)), _with_labels(document)):
        if rewritten:
            lines = list(source.lines)
            for number, line in rewritten.items():
                lines[number - 1] = line
            return replace(source, lines=tuple(lines))
    return source


def _with_headings(source: Source) -> dict[int, str]:
    """Returns the lines that are only a word for a question and its number as headings, if they count from 1."""
    found = {number: one for number, line in enumerate(source.lines, 1) if (one := _WORD.fullmatch(line))}
    counts = [int(one["number"]) for one in found.values()]
    above = all(source.line(number + 1).strip() for number in found)
    return {n: f"## {source.line(n).strip()}" for n in found} if above and _count(counts) else {}


def _with_periods(source: Source) -> dict[int, str]:
    """Returns the lines that begin with a number and a space with a period behind it, if they count from 1, and most
    of them ask."""
    found = {number: one for number, line in enumerate(source.lines, 1) if (one := _NUMBER.fullmatch(line))}
    counts = [int(one["number"]) for one in found.values()]
    asking = sum(ends_asking(one["text"]) or reads_as_question(one["text"]) for one in found.values())
    sure = _count(counts) and asking > _ASK * len(found)
    return {n: f"{one['number']}. {one['text']}" for n, one in found.items()} if sure else {}


_IN_PARTS = re.compile(
    r"[ ]{0,3}(?P<part>\d{1,2})[.](?P<number>\d{1,3})[.)]?[ \t]{1,4}(?P<text>[^\W\d_].*|[¿¡\"'“«(`].*)"
)
_PART = re.compile(r"[ ]{0,3}(?P<part>\d{1,2})[.)]?[ \t]{1,4}(?P<text>[^\W\d_].{0,80}?)[ \t]*")


def _with_parts(source: Source) -> dict[int, str]:
    """Returns the lines that begin with the number of a part and one of their own with a label, and the titles of their
    parts as headings, if both numbers ascend and most of these lines ask."""
    found = {number: one for number, line in enumerate(source.lines, 1) if (one := _IN_PARTS.fullmatch(line))}
    counts = [(int(one["part"]), int(one["number"])) for one in found.values()]
    asking = sum(may_ask(one["text"]) for one in found.values())
    if len(found) < _FEWEST or asking <= _ASK * len(found) or not all(one < two for one, two in pairwise(counts)):
        return {}
    shown = {n: f"**Question:** {one['text']}" for n, one in found.items()}
    parts = {part for part, _ in counts}
    for number, line in enumerate(source.lines, 1):
        if number not in found and (title := _PART.fullmatch(line)) and int(title["part"]) in parts:
            shown[number] = f"## {line.strip()}"
    return shown


_BRACKETED = re.compile(r"[ ]{0,3}[(（](?P<number>\d{1,2})[)）][.:]?[ \t\u3000]*(?P<text>[^\s\d].*)")


def _with_exercises(source: Source) -> dict[int, str]:
    """Returns the first lines of paragraphs with a number in brackets as headings of exercises, if these count from 1
    and most of them set a task or ask. All below is part of the task."""
    found = {
        number: one
        for number, line in enumerate(source.lines, 1)
        if (one := _BRACKETED.fullmatch(line)) and (number == 1 or not source.line(number - 1).strip())
    }
    counts = [int(one["number"]) for one in found.values()]
    asking = sum(asks_or_demands(one["text"]) for one in found.values())
    sure = _count(counts) and asking > _ASK * len(found)
    return {n: f"## Exercise {one['number']}: {one['text']}" for n, one in found.items()} if sure else {}


_TABBED = re.compile(r"(?:\t|[ ]{4})(?P<number>\d{1,3})[.)．、:：]\s{1,4}\S.*")


def _without_tabs(source: Source) -> dict[int, str]:
    """Returns the lines with one tab, or four spaces, less, if these are before each number of lists that count from
    1."""
    counts = [int(one["number"]) for line in source.lines if (one := _TABBED.fullmatch(line))]
    if len(counts) < _FEWEST or any(two not in (one + 1, 1) for one, two in pairwise([0, *counts])):
        return {}
    shown = {n: line.removeprefix("\t").removeprefix("    ") for n, line in enumerate(source.lines, 1)}
    return {n: line for n, line in shown.items() if line != source.line(n)}


_MARKED = re.compile(r"\s*(?:[#>|*+<`~=-]|\d{1,4}[.)]|!\[)")
_NEARLY_ALL = 0.9
_LONGEST = 400
"""Length of a line that asks, characters."""


def _with_question_labels(source: Source) -> dict[int, str]:
    """Returns the lines with a label, if nearly all of them ask, half of them with a question mark, and none has a mark
    before it."""
    filled = [(number, line) for number, line in enumerate(source.lines, 1) if _WORD_IN.search(line)]
    last = next((number for number, line in reversed(filled) if may_ask(line)), 0)
    texts = [line for _, line in filled]
    if len(filled) < _FEWEST_LINES or any(_MARKED.match(text) or len(text) > _LONGEST for text in texts):
        return {}
    asking = sum(may_ask(text) for text in texts)
    if asking < _NEARLY_ALL * len(texts) or sum(map(ends_asking, texts)) * 2 < len(texts):
        return {}
    bare = (n for n, line in enumerate(source.lines, 1) if line.strip() and not _WORD_IN.search(line))
    rules = {n: END_OF_QUESTION if n > last else "" for n in bare}
    return rules | {number: f"**Question:** {line.strip()}" for number, line in filled if number <= last}


_MOSTLY = 0.5
"""Share of lines that must ask where the name or the title of a document announces questions."""
_SEPARATES = re.compile(r"[ ]{0,3}(?:#{1,6}[ ]|(?:-{3,}|={3,}|\*{3,}|_{3,})(?:.*(?:-{3,}|={3,}))?[ ]*$)")
_TITLE = re.compile(r"[^\n]{1,80}[:：][ \t]*")
_END_OF_SENTENCE = (".", "?", "!", "。", "？", "！", "؟", ";")
_ASKS_WITHIN = re.compile(r"什么|哪些|哪[几个种]|如何|怎[么样]|为何|吗|么|多少|几种|是否|区别|原理|무엇|차이|란$")
"""What asks anywhere in a line in Chinese or Korean."""


def _with_announced_lines(source: Source) -> dict[int, str]:
    """Returns the lines with a label, if the name or the title of the document announces questions and most of its
    lines ask: then the others in between name what is asked, unless they are titles."""
    filled = [(number, line) for number, line in enumerate(source.lines, 1) if _WORD_IN.search(line)]
    titles = (PurePath(source.name).stem.replace("_", " "), *(line for _, line in filled[:1]))
    if len(filled) < _FEWEST_LINES or not asks_for_questions(titles):
        return {}
    asking = [number for number, line in filled if _asks_alone(line)]
    if len(asking) < _FEWEST_LINES:
        return {}
    lines = [(number, line.strip()) for number, line in filled if asking[0] <= number <= asking[-1]]
    if any(_MARKED.match(line) and not _SEPARATES.match(line) for _, line in lines):
        return {}
    ended = sum(source.line(number).rstrip().endswith(_END_OF_SENTENCE) for number in asking) >= _NEARLY_ALL * len(
        asking
    )
    shown: dict[int, str] = {}
    for number, line in lines:
        if ended and line[0] in "([" and not source.line(number - 1).rstrip().endswith(_END_OF_SENTENCE):
            # The second line of a sentence.
            continue
        titled = _SEPARATES.match(line) or _TITLE.fullmatch(line) or (ended and not line.endswith(_END_OF_SENTENCE))
        asks = number in asking or not titled
        shown[number] = f"**Question:** {line}" if asks else f"## {line.strip('#-=*: ')}"
    asked = [line for line in shown.values() if line.startswith("**")]
    if len(asking) < _MOSTLY * len(asked) or any(len(line) > _LONGEST for line in asked):
        return {}
    bare = {n: END_OF_QUESTION for n in range(lines[0][0], lines[-1][0]) if not source.line(n).strip()}
    return bare | shown


def _asks_alone(line: str) -> bool:
    text = line.strip()
    if _SEPARATES.match(text) or _TITLE.fullmatch(text) or len(text) > _LONGEST:
        return False
    return may_ask(text) or (not text.isascii() and _ASKS_WITHIN.search(text) is not None)


_WORD_IN = re.compile(r"\w")

_FEWEST_LINES = 8
"""Fewest lines of a document that only asks."""


def _count(numbers: list[int]) -> bool:
    return len(numbers) >= _FEWEST and numbers[0] == 1 and all(two == one + 1 for one, two in pairwise(numbers))


def _with_labels(document: Document) -> dict[int, str]:
    """Returns the first line of what is above each list with one item in emphasis, with a label, if nearly all lists
    have one."""
    source = document.source
    rewritten: dict[int, str] = {}
    lists = keyed = first = 0
    for block in document.blocks:
        if block.kind == "list":
            lists += 1
            if first and _is_keyed(block):
                keyed += 1
                rewritten |= {first: f"**Question:** {source.line(first)}"} | _with_letters(source, block)
            first = 0
        elif block.kind in ("heading", "rule", "front_matter"):
            first = 0
        elif block.kind == "paragraph" and not first:
            first = block.first
            if rewritten:
                # What is behind a list belongs to no question above it.
                rewritten[first] = f"**Question:** {source.line(first)}"
    return rewritten if keyed >= max(_FEWEST, _KEYED * lists) else {}


_BULLET = re.compile(r"[ \t]*[-*+][ \t]+")


def _with_letters(source: Source, block: Block) -> dict[int, str]:
    """Returns the first lines of the items of a list with letters, and with the one in emphasis in bold."""
    lines: dict[int, str] = {}
    for item, letter in zip(block.children, "ABCDEFGHIJ", strict=False):
        line = source.line(item.first)
        if bullet := _BULLET.match(line):
            marked = _EMPHASIS.fullmatch(line[bullet.end() :].strip())
            lines[item.first] = f"{bullet[0]}{letter}) " + (f"**{marked['text']}**" if marked else line[bullet.end() :])
    return lines


def _is_keyed(block: Block) -> bool:
    """Returns whether one item of a list is in emphasis as a whole, and the others are not."""
    texts = [item.children[0].text for item in block.children if len(item.children) == 1]
    marked = sum(_EMPHASIS.fullmatch(text.strip()) is not None for text in texts)
    return marked == 1 and _FEWEST_OPTIONS <= len(texts) == len(block.children) <= _MOST_OPTIONS
