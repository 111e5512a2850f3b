"""Finds paragraphs of their own that ask, in documents without any markup around questions.

    What is a view?
    - a tensor that shares memory

Two blank lines before a paragraph are evidence too, so that `Explain views.` asks there.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.patterns.answers import without_footer, without_separators
from questions.patterns.starts.start import Start
from questions.wording.imperatives import sets_task
from questions.wording.stems import demands, ends_asking, numbered, question_line, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.blocks import Block
    from questions.document import Document, Stretch

_LONGEST = 400
"""Length from which a paragraph does not only ask, characters."""
_MOST_LINES = 4
_SENTENCE_ENDS = re.compile(r"(?<![A-Z])[.!。！][\"'”’)]?\s+\S")
_FEWEST = 3
_FEWEST_TOLD = 2
_FEWEST_LISTED = 10
_LONGEST_LINE = 120
"""Length from which a line without a question mark is prose, characters."""
_TITLE = 40
"""Length from which a line is not a title, characters."""
_COVERED = 0.6
"""Share of lines that such questions and their answers cover in a document that is made of them."""
_REGULAR = 0.95
"""Share of lines that only ask from which a document is a list of questions."""
_MOST_BLOCKS = 8
"""Mean number of blocks of an answer from which the paragraphs are study text."""


def find_paragraphs(document: Document) -> list[Start]:
    """Returns the paragraphs that ask and whose lines are free, each up to the next."""
    if subjects := _subjects(document):
        return [start for stretch in document.layout.stretches for start in _with_subjects(document, stretch, subjects)]
    stretches = document.layout.stretches
    sure = [_asking(document, stretch, "") for stretch in stretches]
    below = Counter(_kind(stretch, index + 1) for stretch, one in zip(stretches, sure, strict=True) for index, _ in one)
    kind = below.most_common(1)[0][0] if below else ""
    listed = lists_paragraphs(document)
    telling = listed and _mostly_unanswered(stretches, sure)
    words = _usual_words(stretches, sure)
    firsts = Counter(block.text.partition("\n")[0].strip() for block in document.blocks if block.kind == "paragraph")
    return [
        start
        for stretch in stretches
        for start in _of_stretch(document, stretch, kind, words, firsts, listed=listed, telling=telling)
    ]


_UNANSWERED = 0.8
"""Share of questions without an answer from which a document is a list of questions only."""


def _mostly_unanswered(stretches: tuple[Stretch, ...], sure: list[list[tuple[int, int]]]) -> bool:
    """Returns whether most paragraphs that ask have nothing below them but tasks in one line, which then are questions
    too."""
    alone = total = 0
    for stretch, asking in zip(stretches, sure, strict=True):
        at = [index for index, _ in asking]
        total += len(at)
        ends = [*at[1:], len(stretch.blocks)] if at else []
        alone += sum(all(map(_answers_nothing, stretch.blocks[i + 1 : end])) for i, end in zip(at, ends, strict=True))
    return total > 0 and alone >= _UNANSWERED * total


def _answers_nothing(block: Block) -> bool:
    """Returns whether a paragraph is a title, or a line that sets a task: `Compare the two.`"""
    return _is_title(block) or (block.kind == "paragraph" and block.first == block.last and _sets_task(block.text))


def _sets_task(text: str) -> bool:
    return len(text) <= _LONGEST and (demands(text, fewest=_FEWEST_WORDS) or sets_task(text))


_FEWEST_WORDS = 2
"""Fewest words of a task among questions that have no answers: `Explain strides.`"""


def _lists_tasks(block: Block) -> bool:
    """Returns whether each line of a paragraph asks or sets a task, maybe below one that is a title."""
    lines = [line.strip() for line in block.text.split("\n") if line.strip()]
    asking = [line for line in lines if ends_asking(line) or _sets_task(line)]
    titles = [line for line in lines if line not in asking]
    titled = titles in ([], lines[:1]) and all(len(line) < _TITLE and line[-1:].isalnum() for line in titles)
    return len(lines) > 1 and titled and bool(asking)


def _asks_inside(text: str) -> bool:
    """Returns whether a line is a question and its answer: `Is it fast? Yes, on a GPU`."""
    question, mark, _ = text.partition("?")
    return bool(mark) and len(question) <= _LONGEST_LINE and reads_as_question(f"{question}?")


_SUBJECT = re.compile(r"(?P<text>.*\S)[ \t]+\[(?P<subject>[^\W\d][^\[\]\n]{1,60})\][ \t]*")
"""A line that ends with its subject in brackets."""
_FEWEST_ASKING = 4
"""In a list of questions and topics with their subjects, one line in this many asks."""


def _subjects(document: Document) -> dict[int, re.Match[str]]:
    """Returns the lines of a document that is a list of exam questions, each with its subject in brackets; empty if it
    is none: the same subjects recur, and some lines ask."""
    filled = [(number, line) for number, line in enumerate(document.source.lines, 1) if line.strip()]
    ending = [(number, line) for number, line in filled if line.rstrip().endswith("]") and len(line) < _LONGEST]
    found = {number: one for number, line in ending if (one := _SUBJECT.fullmatch(line))}
    if len(found) < _FEWEST_LISTED or len(found) < _REGULAR * len(filled):
        return {}
    recurring = len({one["subject"] for one in found.values()}) * 2 <= len(found)
    asking = sum(ends_asking(one["text"]) or reads_as_question(one["text"]) for one in found.values())
    return found if recurring and asking * _FEWEST_ASKING >= len(found) else {}


def _with_subjects(document: Document, stretch: Stretch, subjects: dict[int, re.Match[str]]) -> Iterator[Start]:
    for block in stretch.blocks:
        for number in range(block.first, block.last + 1) if block.kind == "paragraph" else ():
            found = subjects.get(number)
            if found is not None and document.free(number, number):
                yield Start(
                    "paragraph",
                    0,
                    stretch.first,
                    number,
                    number,
                    question_line(found["text"]),
                    number,
                    stretch.headings,
                    block=block,
                    above_first=True,
                    own_last=number,
                    document=document,
                    tags=(found["subject"],),
                )


_RARELY = 5
"""Where gaps separate questions, one answer in this many may have a gap in it."""


def up_to_gaps(document: Document, starts: list[Start]) -> list[Start]:
    """Returns the questions without what comes after a gap of two lines, where gaps separate questions and
    rarely in answers."""
    gaps = [
        next((i for i, b in enumerate(start.body) if i and _stands_apart(document, b.first)), 0) for start in starts
    ]
    apart = sum(_stands_apart(document, start.first) for start in starts)
    if apart * _RARELY < len(starts) * (_RARELY - 1) or sum(map(bool, gaps)) * _RARELY > len(starts):
        return starts
    return [
        replace(start, body=start.body[:gap], end=start.body[gap - 1].last) if gap else start
        for start, gap in zip(starts, gaps, strict=True)
    ]


def _stands_apart(document: Document, line: int) -> bool:
    """Returns whether two blank lines are above a line, or one and a title that stands apart."""
    if line < 3 or document.source.line(line - 1).strip():
        return False
    above = document.source.line(line - 2).strip()
    if not above:
        return True
    blank = not any(document.source.line(n).strip() for n in (line - 3, line - 4) if n > 0)
    return blank and len(above) < _TITLE and above[-1:].isalnum() and above[:1] not in "-*+>#"


def _usual_words(stretches: tuple[Stretch, ...], sure: list[list[tuple[int, int]]]) -> frozenset[str]:
    """Returns the words with which several questions of a document begin, if it has many."""
    firsts = [
        _first_word(stretch.blocks[at].text) for stretch, one in zip(stretches, sure, strict=True) for at, _ in one
    ]
    if len(firsts) < _FEWEST_LISTED:
        return frozenset()
    return frozenset(word for word, count in Counter(firsts).items() if count >= _FEWEST_TOLD and word.isalpha())


def _first_word(text: str) -> str:
    return text.split(maxsplit=1)[0] if text.strip() else ""


def _begins_like(document: Document, block: Block, words: frozenset[str]) -> bool:
    """Returns whether the first line of a paragraph begins like several questions, without a question mark: a line of
    its own, and no wrapped sentence."""
    first, _, below = block.text.partition("\n")
    if words and below and demands(first) and first.rstrip().endswith((".", ";")) and len(first) <= _LONGEST_LINE:
        return not document.source.line(block.first - 1).strip()
    if _first_word(first) not in words or len(first.split()) < _FEWEST or len(first) > _LONGEST_LINE:
        return False
    ends = first.rstrip()[-1:]
    wrapped = below[:1].isalpha() or (below and ends in ":,;")
    return not wrapped and ends not in ".,;!" and not document.source.line(block.first - 1).strip()


def _kind(stretch: Stretch, index: int) -> str:
    return stretch.blocks[index].kind if index < len(stretch.blocks) else ""


def _asking(
    document: Document,
    stretch: Stretch,
    kind: str,
    words: frozenset[str] = frozenset(),
    *,
    telling: bool = False,
) -> list[tuple[int, int]]:
    """Returns the indices of the paragraphs that ask, with the number of their lines that do. Where lists answer the
    others, a line above a list may ask without a question mark. `kind`: what is below the others. `words`: those
    with which several of them begin. `telling`: whether the others have no answers, so that a task is a question."""
    found: list[tuple[int, int]] = []
    for index, block in enumerate(stretch.blocks):
        lists = lists_questions(block) or (telling and _lists_tasks(block))
        if lists and document.free(block.first, block.last):
            found.append((index, 0))
        elif block.kind == "paragraph" and document.free(block.first, block.last):
            lines = _lines_that_ask(document, block) or int(_begins_like(document, block, words))
            alike = kind == "list" == _kind(stretch, index + 1) and block.first == block.last
            asks = reads_as_question(block.text) and not block.text.rstrip().endswith((".", ":"))
            alone = telling and block.first == block.last and _tells(block.text)
            if lines or alone or (alike and (asks or demands(block.text))):
                found.append((index, lines or 1))
    return found


def _tells(text: str) -> bool:
    """Returns whether a line sets a task, or is a question and its answer."""
    return _sets_task(text) or _asks_inside(text)


def _of_stretch(
    document: Document,
    stretch: Stretch,
    kind: str,
    words: frozenset[str],
    firsts: Counter[str],
    *,
    listed: bool,
    telling: bool,
) -> Iterator[Start]:
    asking = _asking(document, stretch, kind, words, telling=telling)
    if not asking:
        return
    above = [_numbered_above(document, stretch, index) for index, _ in asking]
    ends = [index - (number is not None) for (index, _), number in zip(asking[1:], above[1:], strict=True)]
    for (index, lines), number, end in zip(asking, above, [*ends, len(stretch.blocks)], strict=True):
        block = stretch.blocks[index]
        if not lines:
            yield from _of_lines(document, stretch, block, firsts)
            continue
        below = stretch.blocks[index + 1 : end]
        if listed and all(map(_is_title, below)):
            below = ()
        while telling and below and below[-1].text.startswith("**") and _is_title(below[-1]):
            # The last block is the title of the next questions.
            below = below[:-1]
        free = next((i for i, b in enumerate(below) if not document.free(b.first, b.last)), len(below))
        last = block.first + lines - 1
        body = without_footer(without_separators(below[:free]), answered=last < block.last)
        stem = question_line("\n".join(block.text.split("\n")[:lines]))
        if number is not None:
            stem = stem._replace(number=number[0], text=f"{number[1]}\n\n{stem.text}")
        yield Start(
            "paragraph",
            0,
            stretch.first,
            stretch.blocks[index - 1].first if number is not None else block.first,
            last,
            stem,
            body[-1].last if body else block.last,
            stretch.headings,
            body,
            block=block,
            above_first=index > (number is not None),
            own_last=block.last,
            document=document,
        )


_FEWEST_LINES = 4
"""Fewest lines of a paragraph that is a list of questions."""


def lists_questions(block: Block) -> bool:
    """Returns whether a paragraph is a list of questions, one in each line."""
    lines = block.text.split("\n") if block.kind == "paragraph" else []
    if len(lines) < _FEWEST_LINES or sum(map(ends_asking, lines)) * 2 < len(lines):
        return False
    return all(ends_asking(line) or demands(line) or reads_as_question(line) for line in lines)


def _of_lines(document: Document, stretch: Stretch, block: Block, firsts: Counter[str]) -> Iterator[Start]:
    """Yields each line of a list of questions, unless most of them begin a paragraph of their own further down."""
    lines = block.text.split("\n")
    # Its own first line is one of those that begin a paragraph.
    repeated = sum(firsts[line.strip()] > (at == 0) for at, line in enumerate(lines))
    if repeated * 2 >= len(lines):
        return
    for at, line in enumerate(lines, block.first):
        if not (ends_asking(line) or _sets_task(line) or reads_as_question(line)):
            continue  # the title of the others
        yield Start(
            "paragraph",
            0,
            stretch.first,
            at,
            at,
            question_line(line),
            at,
            stretch.headings,
            block=block,
            above_first=True,
            own_last=at,
            document=document,
        )


def _numbered_above(document: Document, stretch: Stretch, index: int) -> tuple[str, str] | None:
    """Returns number and text of a numbered paragraph right above the one that asks, which leads to the question."""
    block = stretch.blocks[index - 1] if index else None
    if block is None or block.kind != "paragraph" or not document.free(block.first, block.last):
        return None
    number, text = numbered(block.text)
    return (number, text) if number and not numbered(stretch.blocks[index].text)[0] else None


def _is_title(block: Block) -> bool:
    """Returns whether a paragraph has only short lines without a period: in a list of questions, a title."""
    lines = [line.strip().strip("*_") for line in block.text.split("\n")]
    return block.kind == "paragraph" and all(len(line) < _TITLE and line[-1:].isalnum() for line in lines)


def _lines_that_ask(document: Document, block: Block) -> int:
    """Returns the number of lines at the start of a paragraph that ask; 0 if they do not."""
    lines = block.text.split("\n")
    if _is_sentence(lines[0]) and ends_asking(lines[0]):
        return 1
    if len(lines) <= _MOST_LINES and ends_asking(lines[-1]) and _is_sentence(" ".join(lines)):
        return len(lines)
    alone = _stands_apart(document, block.first)
    return int(block.first > 2 and alone and len(lines[0]) <= _LONGEST and reads_as_question(lines[0]))


def _is_sentence(text: str) -> bool:
    """Returns whether a text is short and one sentence, or begins by asking."""
    return len(text) <= _LONGEST and (_SENTENCE_ENDS.search(text) is None or reads_as_question(text.split("?")[0]))


def lists_paragraphs(document: Document) -> bool:
    """Returns whether most paragraphs of a document do nothing but ask, so that they are not an answer to a heading."""
    paragraphs = [block for block in document.blocks if block.kind == "paragraph"]
    asking = sum(block.first == block.last and ends_asking(block.text) for block in paragraphs)
    headings = sum(block.kind == "heading" and ends_asking(block.text) for block in document.blocks)
    return asking >= _FEWEST_LISTED and asking * 2 > len(paragraphs) and asking > headings * 2


def _is_only_question(document: Document, start: Start) -> bool:
    """Returns whether a document without headings is one line that asks, and its answer."""
    first = next((block for block in document.blocks if block.kind != "front_matter"), None)
    one_line = first is not None and first is start.block and first.first == first.last and first.text[0].isalpha()
    return one_line and ends_asking(start.stem.text) and bool(start.text) and not document.sections


def made_of(document: Document, run: list[Start], *, told: bool) -> bool:
    """Returns whether a document is made of these paragraphs and what is below them. `told`: whether its title
    announces questions."""
    if len(run) < (_FEWEST_TOLD if told else _FEWEST):
        return len(run) == 1 and _is_only_question(document, run[0])
    if len(run) >= _FEWEST_LISTED and all(start.tags for start in run):
        return True
    headings = {block.first for block in document.blocks if block.kind in ("heading", "front_matter", "rule")}
    filled = [n for n, line in enumerate(document.source.lines, 1) if line.strip() and n not in headings]
    if len(run) >= _FEWEST_LISTED // 2 and sum(ends_asking(start.stem.text) for start in run) * 2 > len(run):
        listed = {start.first for start in run if not start.body and start.first == start.end}
        if sum(n in listed for n in filled) >= _REGULAR * len(filled):
            return True
    answered = sum(bool(start.text) for start in run)
    if not told and not lists_paragraphs(document) and answered * 2 < len(run):
        return False
    if sum(len(start.body) for start in run) > _MOST_BLOCKS * len(run):
        return False
    inside = {n for start in run for n in range(start.first, start.end + 1)}
    return sum(n in inside for n in filled) >= _COVERED * len(filled)
