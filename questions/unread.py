"""Names every line that looks like a question and was not read as one."""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from questions.blocks import plain
from questions.patterns.starts.search import find_starts
from questions.source import WIDE, Finding, Span
from questions.wording.imperatives import announces_tasks, asks_or_demands, may_ask, sets_task
from questions.wording.labels import QUESTION_WORDS, TASK_WORDS, names_exercises
from questions.wording.stems import (
    asks_for_questions,
    demands,
    ends_asking,
    is_advertisement,
    numbered,
    reads_as_question,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from questions.blocks import Block
    from questions.document import Document
    from questions.model import Question
    from questions.source import Source

_ENDS_ASKING = re.compile(r"[?？؟][\"'”’»)\]*_]*$")
_ENDS_SENTENCE = re.compile(r"(?:[.!?:;。！？：；…\"'”’)\]*_`]|<br[ ]?/?>|[ ]{2}|\\\\)$")
"""End of a line after which the next begins a sentence."""
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_BOLD = re.compile(r"[*_]{2}(?P<text>[^*_\n]+)[*_]{2}(?:\n|$)")
_PLEASE = re.compile(r"(?:please|proszę)[ ]\w", re.IGNORECASE)
_ADMONITION = re.compile(
    rf"(?:!!!|\?\?\?\+?|:::+)[ ]?\{{?\.?(?:{QUESTION_WORDS}|{TASK_WORDS}|quiz|mcq)\b", re.IGNORECASE
)
"""The first line of a block of a site generator that holds a question."""
_WIDE = re.compile(f"[{WIDE}]{{3}}")
_FEWEST_WORDS = 3
_FEWEST_DEMANDING = 3
"""Fewest headings or bold lines with a demand, such as `Explain the scan`, that look like questions."""
_FEWEST_ASKED = 4
"""Fewest headings of questions that show what the heading of a question looks like."""
_WRAPPED = 50
"""Length from which a line may continue in the next, characters."""


class _Places:
    """The places that look like questions, each named by the first rule that finds its line."""

    def __init__(self) -> None:
        self.spans: list[Span] = []

    def new(self, spans: Iterable[Span]) -> list[Span]:
        """Returns those whose lines no rule has found yet."""
        named = {span.line for span in self.spans}
        return [span for span in spans if span.line not in named]

    def add(self, spans: Iterable[Span]) -> None:
        """Adds those whose lines no rule has found yet."""
        self.spans += self.new(spans)


def unread_findings(document: Document, questions: tuple[Question, ...]) -> list[Finding]:
    """Returns a finding for each place that looks like a question or an answer but was not read as one; a single one
    with all their lines if the document has no questions."""
    known = {_key(question.prompt) for question in questions} | {_key(question.title) for question in questions}
    free = list(_free_blocks(document))
    span = document.source.span
    places = _Places()
    places.add(found for block in free for found in _asked(document, block, known))
    demanding = places.new(span(block.first) for block in free if _demands(block))
    if len(demanding) >= _FEWEST_DEMANDING or len(questions) >= _FEWEST_ASKED:
        places.add(demanding)
    alike = {block.first: block for block in _like_questions(document, questions)}
    alike |= {block.first: block for block in _lettered(document, free, questions)}
    places.add(span(block.first, block.last) for block in alike.values())
    if not questions:
        places.add(span(line) for line in _lines_alike(document, free))
    places.add(span(line) for line in _below_numbers(document))
    places.add(span(line) for line in _announced_tasks(document, known, alone=not questions))
    places.add(span(block.first) for block in free if block.kind == "paragraph" and _ADMONITION.match(block.text))
    spans = sorted(places.spans, key=lambda one: one.line)
    return _bounded(document.source, spans) if questions else [_no_questions(document.source, spans)]


MOST_NAMED = 20
"""Most places that are named one by one; the others are counted."""


def _bounded(source: Source, spans: list[Span]) -> list[Finding]:
    """Returns a finding for each of the first places, and one for all others."""
    found = [_unread(one) for one in spans[:MOST_NAMED]]
    others = spans[MOST_NAMED:]
    if len(others) > 1:
        message = f"{len(others)} more places look like questions but were not read, lines {_range(others)}"
        found.append(dataclasses.replace(_unread(source.span(others[0].line)), message=message))
    else:
        found += map(_unread, others)
    return found


def _range(spans: list[Span]) -> str:
    return f"{spans[0].line}–{spans[-1].line}"


def _lines_alike(document: Document, free: list[Block]) -> set[int]:
    """Returns the lines of a document without any read question that look like questions, by what repeats."""
    sentences = {block.first for block in free if _is_numbered_sentence(block)}
    lines = sentences if len(sentences) >= _FEWEST_DEMANDING else set[int]()
    lines |= {*_counted_lines(document), *_between_numbers(document.source), *_headings_alike(document)}
    return lines | {*_lettered_paragraphs(document), *_in_records(document.source), *_listed_tasks(document.source)}


def _free_blocks(document: Document) -> Iterator[Block]:
    over = _titles(document)
    for block in document.blocks:
        if block.first not in over and block.kind != "front_matter":
            whole = document.free(block.first, block.last)
            for inner in block.walk() if whole or not document.taken_whole(block.first, block.last) else ():
                # An item in a list of questions may not be a question, and is left over.
                if whole or document.free(inner.first, inner.last):
                    yield inner


def _titles(document: Document) -> set[int]:
    """Returns the lines of headings directly above a question, and of headings that only advertise."""
    found: set[int] = set()
    for stretch in document.layout.stretches:
        if stretch.headings:
            heading, first = stretch.headings[-1], stretch.blocks[:1]
            over = any(not document.free(block.first, block.last) for block in first)
            empty = not first and not ends_asking(heading.text) and not demands(numbered(heading.text)[1])
            if over or empty or (first and is_advertisement(heading, stretch.blocks)):
                found.add(heading.first)
    return found


def _lettered(document: Document, free: list[Block], questions: tuple[Question, ...]) -> Iterator[Block]:
    """Yields the headings with text below whose number and letter, as in `13c`, continue from questions."""
    numbers = {found[0] for question in questions if (found := _DIGITS.match(question.number))}
    filled = {
        stretch.headings[-1].first for stretch in document.layout.stretches if stretch.headings and stretch.blocks
    }
    for block in free if numbers else ():
        found = _WITH_LETTER.match(block.text) if block.kind == "heading" and block.first in filled else None
        if found and found["number"] in numbers:
            yield block


_ONLY_NUMBER = re.compile(r"[#(\[]?[ ]?\d{1,3}[ ]?[.:)\]]?")
_ANY_LINK = re.compile(r"!?\[[^\[\]]{0,300}\]\([^()\s]{0,500}\)")


def _below_numbers(document: Document) -> Iterator[int]:
    """Yields the first line of text below each heading that is only a number, in a section whose title announces
    questions."""
    found: dict[int, list[int]] = {}
    for stretch in document.layout.stretches:
        if len(stretch.headings) < _FEWEST_LEVELS or not _ONLY_NUMBER.fullmatch(plain(stretch.headings[-1].text)):
            continue
        above = stretch.headings[-2]
        free = stretch.blocks and document.free(stretch.blocks[0].first, stretch.blocks[-1].last)
        if free and asks_for_questions((plain(above.text),)):
            texts = [block for block in stretch.blocks if block.kind == "paragraph"]
            first = next(
                (block for block in texts if len(_ANY_LINK.sub("", block.text).split()) >= _FEWEST_WORDS), None
            )
            if first:
                found.setdefault(above.first, []).append(first.first)
    for lines in found.values():
        yield from lines if len(lines) >= _FEWEST_DEMANDING else ()


def _announced_tasks(document: Document, known: set[str], *, alone: bool) -> Iterator[int]:
    """Yields the items below a heading that calls them questions or exercises, where at least half of them ask or set a
    task. If no question was read (`alone`), a number counts too, unless the heading may only name a problem or an
    example."""
    for stretch in document.layout.stretches:
        title = plain(stretch.headings[-1].text) if stretch.headings else ""
        if not announces_tasks(title) or _EXAMPLE.search(title):
            continue
        sheet = alone and (names_exercises(title) or asks_for_questions((title,)))
        found: list[tuple[int, bool]] = []
        for over, block in pairwise([None, *stretch.blocks]):
            # Bullets below a line such as `Instructions:` say how the exercises are done.
            items = block.children if block and block.kind == "list" and not _introduces(over) else []
            for item in (one for one in items if document.free(one.first, one.last)):
                task = _TASK_ITEM.fullmatch(document.source.line(item.first))
                words = _ANY_LINK.sub("", task["text"]) if task else ""
                if task and _key(task["text"]) not in known and (words == task["text"] or len(words.split()) > 1):
                    found.append((item.first, (sheet and bool(task["number"])) or may_ask(words)))
        asking = sum(asks for _, asks in found)
        if asking >= _FEWEST_TASKS and asking * 2 >= len(found):
            yield from (line for line, _ in found)


_EXAMPLE = re.compile(r"exampl|exempl|ejemplo|esemp|beispiel|przykład|пример", re.IGNORECASE)
_TASK_ITEM = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(?:\[[ xX]\][ \t]+)?(?P<number>\d{1,3}[.)][ \t]*)?(?P<text>\S.*)")


def _introduces(block: Block | None) -> bool:
    """Returns whether a paragraph is about the list below it."""
    return block is not None and block.kind == "paragraph" and block.text.rstrip(" *_").endswith((":", "："))


_FEWEST_TASKS = 2
"""Fewest items below such a heading that ask or set a task."""
_FEWEST_LEVELS = 2
_DIGITS = re.compile(r"\d+")
_WITH_LETTER = re.compile(r"[*_]{0,3}(?P<number>\d{1,4})[ ]?[a-h]\b")


def _like_questions(document: Document, questions: tuple[Question, ...]) -> list[Block]:
    """Returns the headings whose level and number are those of questions: all with text below them if most ask or set a
    task, or if the title announces answers and only a few ask, otherwise those that set one."""
    starts = {question.place.line for question in questions}
    places = sorted(starts)
    asked: Counter[tuple[int, bool]] = Counter()
    free: list[tuple[tuple[int, bool], Block]] = []
    empty: list[tuple[Block, tuple[int, bool]]] = []
    over = _titles(document)
    for stretch in document.layout.stretches:
        if not stretch.headings:
            continue
        heading = stretch.headings[-1]
        form = (heading.level, bool(numbered(heading.text)[0]))
        if not stretch.blocks:
            if document.free(heading.first, heading.last):
                empty.append((heading, form))
            continue
        first, last = stretch.blocks[0].first, stretch.blocks[-1].last
        if heading.first in starts:
            asked[form] += 1
        elif first in starts:
            # A heading above several questions is the title of a section.
            asked[form] += bisect_right(places, last) - bisect_left(places, first) == 1
        elif heading.first not in over and all(
            document.free(block.first, block.last) for block in (heading, *stretch.blocks)
        ):
            free.append((form, heading))
    texts = Counter(_key(numbered(heading.text)[1]) for _, heading in free)
    bare = [heading for heading, form in empty if asked[form] >= _FEWEST_ASKED and _sets_task(heading)]
    answers = _ANSWERS_TOO.search(document.title) is not None
    tasks = Counter(form for form, heading in free if _sets_task(heading) or ends_asking(heading.text))
    others = Counter(form for form, heading in free) - tasks
    return bare + [
        heading
        for form, heading in free
        if (answers and 0 < asked[form] < others[form])
        or (asked[form] >= _FEWEST_ASKED and (_sets_task(heading) or asked[form] + tasks[form] >= 2 * others[form]))
        if texts[_key(numbered(heading.text)[1])] == 1
    ]


_ANSWERS_TOO = re.compile(
    r"\b(?:questions? (?:and|&) answers?|q ?(?:&|and) ?a|preguntas y respuestas|perguntas e respostas"
    r"|questions (?:et|/) réponses|fragen und antworten|domande e risposte|pytania i odpowiedzi|вопросы и ответы)\b",
    re.IGNORECASE,
)
"""A title that announces answers too: the headings with text below may be questions, although only a few ask."""


def _sets_task(heading: Block) -> bool:
    return sets_task(numbered(heading.text)[1])


def _key(markdown: str) -> str:
    return plain(markdown).casefold().strip(" .?:*")


def _asked(document: Document, block: Block, known: set[str]) -> Iterator[Span]:
    """Yields the places in a block that look asked."""
    source = document.source
    if block.kind == "heading":
        if _asks(plain(block.text)) and _key(numbered(block.text)[1]) not in known:
            yield source.span(block.first, block.last)
    elif block.kind in ("table", "html"):
        yield from (source.span(n) for n in range(block.first, block.last + 1) if _cells_ask(source.line(n), known))
    elif block.kind == "paragraph" and "](" in block.text:
        # A picture below the line that asks does not make it an entry of a table of contents.
        for number, line in enumerate(block.text.split("\n"), block.first):
            alone = "](" not in line and ends_asking(line) and len(line.split()) >= _FEWEST_WORDS
            if alone and _key(line) not in known:
                yield source.span(number)
    elif block.kind == "paragraph":
        if document.labels(block) or "\n" not in block.text:
            asks = document.labels(block) or _asks(block.text)
            if asks and _key(numbered(block.text)[1]) not in known:
                yield source.span(block.first, block.last)
            return
        before = ""
        for number, line in enumerate(block.text.split("\n"), block.first):
            starts = len(before) < _WRAPPED or _ENDS_SENTENCE.search(before)
            wordy = len(line.split()) >= _FEWEST_WORDS or _WIDE.search(line)
            if starts and ends_asking(line) and wordy and _key(line) not in known:
                yield source.span(number)
            before = line


def _asks(text: str) -> bool:
    """Returns whether a text ends in a question mark, or otherwise as questions do in its script."""
    return _ENDS_ASKING.search(text) is not None or (not text.isascii() and ends_asking(text))


def _demands(block: Block) -> bool:
    """Returns whether a block is a heading or begins with a bold line that demands, without a question mark."""
    text = block.text if block.kind == "heading" else ""
    if block.kind == "paragraph" and (found := _BOLD.match(block.text)):
        text = found["text"]
    text = numbered(text)[1]
    return demands(text) or (len(text.split()) >= _FEWEST_WORDS and _PLEASE.match(text) is not None)


def _is_numbered_sentence(block: Block) -> bool:
    """Returns whether a block is a heading with a number or a letter and a sentence, as in an exam."""
    number, text = numbered(block.text) if block.kind == "heading" else ("", "")
    counted = number or _LETTERED.match(plain(text))
    return bool(counted) and len(text.split()) >= _SENTENCE


def _counted_lines(document: Document) -> list[int]:
    """Returns the lines of places that a document counts: items whose numbers continue through all its lists if some of
    them ask, and headings with different letters and numbers in brackets, such as `(P1) Models`."""
    starts = find_starts(document)
    items = [start for start in starts["item"] if start.depth == 0 and start.number.isdecimal()]
    asking = sum(ends_asking(start.stem.text) for start in items)
    numbers = [int(start.number) for start in items]
    goes_on = numbers[:1] == [1] and all(before < after for before, after in pairwise(numbers))
    counted = goes_on and asking >= max(_FEWEST_ITEMS, len(items) // 10)
    coded: dict[int, dict[str, int]] = {}
    for start in starts["heading"]:
        if found := _CODED.match(start.stem.text):
            coded.setdefault(start.depth, {}).setdefault(found[0], start.first)
    groups = (group for group in coded.values() if len(group) >= _FEWEST_ASKED)
    return [start.first for start in items if counted] + [line for group in groups for line in group.values()]


def _between_numbers(source: Source) -> list[int]:
    """Returns the lines with words between lines that are only numbers, if several of them ask: a question between the
    key of the one above and its own type."""
    lines = [(0, "0"), *((number, line) for number, line in enumerate(source.lines, 1) if line.strip())]
    found = [
        (number, line)
        for (_, above), (number, line), (_, below) in zip(lines, lines[1:], lines[2:], strict=False)
        if _WORDS.search(line) and _NUMBERS.fullmatch(above) and _NUMBERS.fullmatch(below)
    ]
    asking = sum(ends_asking(line) for _, line in found)
    sure = asking >= _FEWEST_DEMANDING and asking * _FEWEST_ASKED >= len(found)
    return [number for number, _ in found] if sure else []


def _lettered_paragraphs(document: Document) -> list[int]:
    """Returns the paragraphs with the letters a, b, … below each other, if the first of them asks or sets a task."""
    found: list[int] = []
    for stretch in document.layout.stretches:
        parts: list[tuple[Block, str]] = []
        for block in stretch.blocks:
            begun = _LETTERED_TEXT.match(block.text) if block.kind == "paragraph" else None
            if begun and begun["letter"].lower() == "a":
                parts = []
            if begun and ord(begun["letter"].lower()) - ord("a") == len(parts):
                parts.append((block, begun["text"]))
                if len(parts) > 1 and asks_or_demands(parts[0][1]):
                    found += [parts[0][0].first, block.first]
    return found


_LETTERED_TEXT = re.compile(r"\(?(?P<letter>[a-zA-Z])[.)][ \t]+(?P<text>\S.*)", re.DOTALL)


def _in_records(source: Source) -> list[int]:
    """Returns the lines that ask in a text of records without labels, all with as many lines: a number first, the
    letter of the right option last."""
    filled = [(number, line.strip()) for number, line in enumerate(source.lines, 1) if line.strip()]
    for size in _RECORDS:
        records = [filled[at : at + size] for at in range(0, len(filled) - size + 1, size)]
        regular = sum(
            _NUMBERS.fullmatch(one[0][1]) is not None and _KEY.fullmatch(one[-1][1]) is not None for one in records
        )
        if regular < _FEWEST_RECORDS or regular * 20 < len(records) * 19:
            continue
        asking = [sum(ends_asking(one[at][1]) for one in records) for at in range(size)]
        at = asking.index(max(asking))
        if asking[at] >= _FEWEST_DEMANDING and asking[at] * 2 > sum(asking):
            return [one[at][0] for one in records]
    return []


_KEY = re.compile(r"[A-Ja-j](?:[ ,]{0,2}[A-Ja-j]){0,4}")
_RECORDS = range(5, 13)
"""Lines of a record: a number, a question, two options or more, and a letter."""
_FEWEST_RECORDS = 5


def _listed_tasks(source: Source) -> list[int]:
    """Returns the numbered items at the margin, including those of AsciiDoc, below a heading that announces exercises,
    in a document whose first heading does too."""
    headings = [(number, found["text"]) for number, line in enumerate(source.lines, 1) if (found := _TITLE.match(line))]
    if not headings or not announces_tasks(headings[0][1]):
        return []
    ends = [*(number for number, _ in headings[1:]), len(source.lines) + 1]
    sections = [
        range(number + 1, end)
        for (number, text), end in zip(headings, ends, strict=True)
        if number != headings[0][0] and announces_tasks(text)
    ]
    return [number for lines in sections for number in lines if _NUMBERED_ITEM.match(source.line(number))]


_TITLE = re.compile(r"(?:={1,5}|#{1,6})[ ]+(?P<text>\S.*)")
_NUMBERED_ITEM = re.compile(r"(?:[.]|\d{1,3}[.)])[ \t]+\S")


def _headings_alike(document: Document) -> list[int]:
    """Returns the headings with text below that read as questions, or have the level of one that asks, where the title
    announces questions or tasks."""
    if not (asks_for_questions((document.title,)) or announces_tasks(document.title)):
        return []
    headings = [stretch.headings[-1] for stretch in document.layout.stretches if stretch.headings and stretch.blocks]
    headings = [heading for heading in headings if heading.first != document.sections[0].heading.first]
    levels = {heading.level for heading in headings if ends_asking(heading.text)}
    return [one.first for one in headings if one.level in levels or reads_as_question(numbered(one.text)[1])]


_WORDS = re.compile(r"[^\W\d_]{2}")
_NUMBERS = re.compile(r"[ \t]*\d{1,4}(?:[ ,;]{1,3}\d{1,4}){0,20}[ \t]*")
_CODED = re.compile(r"[(\[][A-Z]{1,3}[-. ]?\d{1,3}[)\]]")
_FEWEST_ITEMS = 2
"""Fewest items that ask in a list that continues through a document."""
_LETTERED = re.compile(r"\(?[A-Ha-h][.)][ \t]")
_SENTENCE = 8
"""Fewest words of a heading that is a sentence, not a title."""


def _cells_ask(line: str, known: set[str]) -> bool:
    """Returns whether a cell of a row, or a line of HTML without its tags, ends in a question mark."""
    if "?" not in line and "？" not in line:
        return False
    cells = (cell.strip() for cell in _TAG.sub("|", line).split("|"))
    return any(ends_asking(cell) and len(cell.split()) >= _FEWEST_WORDS and _key(cell) not in known for cell in cells)


def _unread(span: Span) -> Finding:
    return Finding(
        "Q006",
        "warning",
        "this looks like a question but was not read as one",
        span,
        note="it was read as study text",
        help="write it like the other questions of the document",
        skipped=True,
    )


def _no_questions(source: Source, spans: list[Span]) -> Finding:
    named = ", ".join(str(span.line) for span in spans[:MOST_NAMED])
    if others := spans[MOST_NAMED:]:
        named += f" and {len(others)} more, lines {_range(others)}" if len(others) > 1 else f", {others[0].line}"
    return Finding(
        "Q005",
        "note",
        "no questions recognized",
        Span(1, 1, max(len(source.lines), 1), 1),
        note="the whole document was read as study text"
        + (f"; these lines look like questions: {named}" if named else ""),
        help="write questions as `### 1. Question?` with `**Answer:** …`, or state in a recipe how they are written",
    )
