"""Names lines in answers that look like the questions around them, so that no question is lost inside another."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from questions.blocks import plain
from questions.fences import fence_after, fence_in
from questions.patterns.contents import is_only_link
from questions.source import Finding
from questions.wording.labels import QUESTION_WORDS
from questions.wording.stems import asks_for_questions, demands, ends_asking, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from questions.document import Document
    from questions.model import Question
    from questions.patterns.candidates import Candidate
    from questions.patterns.starts.start import Kind, Start


def swallowed_findings(
    starts: dict[Kind, list[Start]], won: Sequence[Candidate], questions: Sequence[Question]
) -> Iterator[Finding]:
    """Yields a finding for each place inside an answer that asks in the form of the questions that were read.

    `starts`: the places where a question may start, before questions were read.
    """
    candidates = [one for one in won if one.kind in ("item", "line")]
    if not candidates:
        return
    places = sorted(questions, key=lambda question: question.place.line)
    firsts = [question.place.line for question in places]
    named: set[int] = set()
    for candidate in candidates:
        numbered = _most([bool(start.number) for start in candidate.read])
        bold = _most([start.bold for start in candidate.read])
        for start in starts[candidate.kind]:
            alike = start.depth == candidate.depth and bool(start.number) == numbered and start.bold == bold
            at = bisect_right(firsts, start.first) - 1
            if at < 0 or not alike or start.first in named or not ends_asking(start.stem.text):
                continue
            place = places[at].place
            if place.line < start.first <= place.end_line and start.stem.text not in places[at].prompt:
                named.add(start.first)
                yield _swallowed(start, place.line)


def inner_findings(document: Document, won: Sequence[Candidate], questions: Sequence[Question]) -> Iterator[Finding]:
    """Yields a finding for each question that a quote in an answer asks and answers, or that is below a heading
    such as `#12-1`, and for each line in an answer in plain text that begins as the questions do."""
    for question in questions:
        yield from _quoted_inside(document, question)
    places = sorted((question.place.line, question.place.end_line) for question in questions)
    yield from _parts_inside(document, places)
    yield from _listed_inside(document, places)
    yield from _counted_inside(document, questions)
    for candidate in won:
        if candidate.kind == "paragraph":
            yield from _paragraphs_inside(document, candidate)
        if candidate.kind == "heading":
            yield from _demands_inside(document, candidate)


def _quoted_inside(document: Document, question: Question) -> Iterator[Finding]:
    """Yields a finding for each question in a quote, behind a fold, or with options of its own."""
    place = question.place
    for number in range(place.line + 1, place.end_line):
        line = document.source.line(number)
        found = _QUOTED.fullmatch(line) if line.startswith(">") else None
        if "</details>" in line and _STUCK.search(line):
            yield _inside(document, number, place.line)
        if found and ends_asking(found["text"]) and _DEEPER.match(document.source.line(number + 1)):
            yield _inside(document, number, place.line)
    if question.options and (asked := _above_other_options(document, place.line, place.end_line)):
        yield _inside(document, asked, place.line)


def _parts_inside(document: Document, places: Sequence[tuple[int, int]]) -> Iterator[Finding]:
    """Yields a finding for each question below a heading such as `#12-1` within a question."""
    for over, block in pairwise(document.blocks):
        part = over.kind == "heading" and _PART.fullmatch(over.text) is not None
        if part and block.kind in ("heading", "paragraph") and ends_asking(plain(block.text.partition("\n")[0])):
            above = places[: bisect_left(places, (over.first, 0))][-1:]
            if above and over.first <= above[0][1]:
                yield _inside(document, block.first, above[0][0])


def _paragraphs_inside(document: Document, candidate: Candidate) -> Iterator[Finding]:
    """Yields a finding for each line in the answers of paragraphs that is or begins as their questions do."""
    for start in candidate.read:
        yield from _stuck_to_items(document, start)
        yield from _above_lists(document, start)
    words = Counter(start.stem.text.split(maxsplit=1)[0] for start in candidate.read if start.stem.text.strip())
    for start in candidate.read:
        for block in start.body:
            first, _, below = block.text.partition("\n") if block.kind == "paragraph" else ("", "", "")
            usual = len(first.split()) >= _FEWEST and words[first.split(maxsplit=1)[0]] > 1
            if usual and len(first) <= _LONGEST and below[:1].isupper() and first.rstrip()[-1:].isalnum():
                yield _inside(document, block.first, start.first)


_FEW = 4
"""At least one heading in this many must demand an explanation."""


def _demands_inside(document: Document, candidate: Candidate) -> Iterator[Finding]:
    """Yields a finding for each heading in an answer that demands an explanation, as several of the questions do."""
    demanding = sum(demands(start.stem.text) for start in candidate.read)
    for start in candidate.read if demanding >= _FEWEST and demanding * _FEW >= len(candidate.read) else ():
        for block in start.body:
            if block.kind == "heading" and demands(block.text):
                yield _inside(document, block.first, start.first)


def _listed_inside(document: Document, places: Sequence[tuple[int, int]]) -> Iterator[Finding]:
    """Yields a finding for each item that asks in a list below a heading such as `Further questions` within a
    question."""
    for over, block in pairwise(document.blocks):
        if over.kind != "heading" or block.kind != "list" or not asks_for_questions((plain(over.text),)):
            continue
        above = places[: bisect_left(places, (over.first, 0))][-1:]
        for item in block.children if above and over.first <= above[0][1] else ():
            asked = plain(item.children[0].text) if item.children else ""
            if "?" in asked or "？" in asked or demands(asked):
                yield _inside(document, item.first, above[0][0])


def _counted_inside(document: Document, questions: Sequence[Question]) -> Iterator[Finding]:
    """Yields a finding for each line within a question that has the next number, which no other question has: a
    heading, a label such as `Q5`, or a line that asks. What answers it counts from 1."""
    known = {int(one.number) for one in questions if one.number.isdecimal() and len(one.number) < _LONG}
    if len(known) < _FEWEST:
        return
    for question in questions:
        following = int(question.number) + 1 if question.number.isdecimal() and len(question.number) < _LONG else 0
        fence = ""
        for line in range(question.place.line + 1, question.place.end_line + 1 if following > 1 else 0):
            text = document.source.line(line)
            mark = fence_in(text)
            fence = fence_after(fence, mark["mark"]) if mark else fence
            found = _COUNTED.match(text) if not (fence or mark) else None
            if found is None:
                continue
            number = int(found["number"])
            begins = bool(found["heading"] or found["word"]) or ends_asking(text)
            if number != following or number in known or not begins:
                break
            yield _inside(document, line, question.place.line)
            following += 1


_COUNTED = re.compile(
    rf"[ ]{{0,3}}(?P<heading>#{{1,6}}[ ]+)?[*_]{{0,3}}(?P<word>(?:{QUESTION_WORDS}|Q)[ ]?#?)?(?P<number>\d{{1,4}})"
    r"(?(word)(?!\w)|[.):][*_]{0,3}[ ])[*_.:) ]*\S",
    re.IGNORECASE,
)


def _stuck_to_items(document: Document, start: Start) -> Iterator[Finding]:
    """Yields a finding for each line at the margin right below an item in the answer to a paragraph that asks as the
    paragraph does: a blank line above it is missing."""
    for block in start.body:
        for number in range(block.first + 1, block.last + 1) if block.kind == "list" else ():
            line = document.source.line(number)
            if line[:1].isalpha() and ends_asking(line) and len(line.split()) >= _FEWEST:
                yield _inside(document, number, start.first)


def _above_lists(document: Document, start: Start) -> Iterator[Finding]:
    """Yields a finding for each line in the answer to a paragraph that asks without a question mark, right above a list
    like that below the question itself."""
    if not start.body or start.body[0].kind != "list":
        return
    for block, below in pairwise(start.body):
        lone = block.kind == "paragraph" and "\n" not in block.text and len(block.text) <= _LONGEST
        if lone and below.kind == "list" and below.first == block.last + 1 and reads_as_question(block.text):
            yield _inside(document, block.first, start.first)


def answered_twice_findings(
    document: Document, questions: Sequence[Question], named: Container[int]
) -> Iterator[Finding]:
    """Yields a finding for each line in an answer right above a second answer label, where most questions have one.

    `named`: lines of other findings.
    """
    known = {label.line for found in document.layout.labels.values() for label in found if label.role == "answer"}
    labels = sorted(known)
    inside = [
        labels[bisect_left(labels, question.place.line) : bisect_right(labels, question.place.end_line)]
        for question in questions
    ]
    once, twice = sum(len(one) == 1 for one in inside), sum(len(one) > 1 for one in inside)
    if once < _FEWEST or once < 2 * twice:
        return
    for question, lines in zip(questions, inside, strict=True):
        for label in lines[1:]:
            above = next((n for n in range(label - 1, question.place.line, -1) if document.source.line(n).strip()), 0)
            if above and above not in known and above not in named:
                yield _inside(document, above, question.place.line)


_STUCK = re.compile(r"</details>[ ]*\d{1,3}[.)][ ]+\S")
"""A question in the line in which the answer to the one above ends."""


def _above_other_options(document: Document, first: int, last: int) -> int:
    """Returns the line that asks above the second options within a question; 0 if there is none."""
    options = [line for line in range(first, last + 1) if _FIRST_OPTION.match(document.source.line(line))]
    for line in options[1:]:
        above = line - 1
        while above > options[0] and not document.source.line(above).strip():
            above -= 1
        if ends_asking(asked := document.source.line(above)) and "</details>" not in asked:
            return above
    return 0


_FIRST_OPTION = re.compile(r"[ \t]*(?:[-*+][ \t]+)?[*_]{0,3}\(?[Aa][.)：:、．][*_]{0,3}[ \t]+\S")
_PART = re.compile(r"[#(]?[ ]?\d{1,3}[-.]\d{1,2}[ ]?[.:)]?")
"""A heading that is only the number of a part of a question."""
_QUOTED = re.compile(r">[ \t]*[-*+][ \t]+(?P<text>\S.*)")
_DEEPER = re.compile(r">[ ]?>")
_LONGEST = 120
"""Length from which a line without a question mark is prose, characters."""


def left_findings(
    starts: dict[Kind, list[Start]], won: Sequence[Candidate], questions: Sequence[Question], named: set[int]
) -> Iterator[Finding]:
    """Yields a finding for each place outside questions that has the form of those that were read, and asks or has a
    number that is missing among theirs. `named`: lines of other findings.

    `starts`: the places where a question may start, before questions were read.
    """
    places = sorted((question.place.line, question.place.end_line) for question in questions)
    for candidate in won:
        if candidate.kind not in ("item", "line", "heading"):
            continue
        numbered = _most([bool(start.number) for start in candidate.read])
        numbers = _numbers(candidate)
        for start in starts[candidate.kind]:
            # Headings that ask are named as such, unless they offer more.
            asks = (candidate.kind != "heading" and ends_asking(start.stem.text)) or _goes_on(start, numbers)
            alike = start.depth == candidate.depth and asks and bool(start.number) == numbered
            at = bisect_right(places, (start.first, len(places))) - 1
            inside = at >= 0 and places[at][0] <= start.first <= places[at][1]
            holds = any(start.first <= line <= start.end for line, _ in places[at + 1 : at + 2])
            if alike and not inside and not holds and start.first not in named and not is_only_link(start):
                named.add(start.first)
                yield _left(start)


def missing_findings(
    document: Document, won: Sequence[Candidate], questions: Sequence[Question], named: Container[int]
) -> Iterator[Finding]:
    """Yields a finding for each line with a number that is missing among those of the questions, at its start or
    behind a sentence. `named`: lines that are named as that already."""
    places = sorted((question.place.line, question.place.end_line) for question in questions)
    counted = [numbers for candidate in won if candidate.kind in ("item", "line") and (numbers := _numbers(candidate))]
    if len(counted) != 1:
        return
    (numbers,) = counted
    known = {number for _, number in numbers}
    lines = [line for line, _ in numbers]
    for line, text in enumerate(document.source.lines[: lines[-1]], 1):
        at = bisect_right(lines, line)
        if not at or line in named:
            continue
        low, high = numbers[at - 1][1], numbers[min(at, len(numbers) - 1)][1]
        found = [int(one["number"] or one["tight"]) for one in _NUMBER.finditer(text)]
        if not any(low < number < high and number not in known for number in found):
            continue
        inside = bisect_right(places, (line, len(document.source.lines))) - 1
        if inside >= 0 and places[inside][0] <= line <= places[inside][1]:
            yield _inside(document, line, places[inside][0])
        else:
            yield _left_at(document, line, line)


_NUMBER = re.compile(
    r"(?:^[ ]{0,3}(?P<tight>\d{1,4})[.)](?=[^\W\d_])"
    r"|(?:^[ ]{0,3}|(?<=[.?!…:][ ])|(?<=[ ]{3}))(?P<number>\d{1,4})[.)][ ](?=[^\W\d]))"
)


def _numbers(candidate: Candidate) -> list[tuple[int, int]]:
    """Returns the line and the number of each question with one; empty if there are few."""
    counted = [(start.first, int(start.number)) for start in candidate.read if _counts(start)]
    return sorted(counted) if len({number for _, number in counted}) >= _FEWEST else []


def _counts(start: Start) -> bool:
    return start.number.isdecimal() and len(start.number) < _LONG


def _goes_on(start: Start, numbers: list[tuple[int, int]]) -> bool:
    """Returns whether a number is missing in its place: between the numbers of the questions before and after it,
    right before the first, or right behind the last."""
    if not numbers or not _counts(start):
        return False
    at, number = bisect_left(numbers, (start.first, 0)), int(start.number)
    if at == 0:
        return numbers[0][1] - number == 1
    if at == len(numbers):
        return number - numbers[-1][1] == 1
    return numbers[at - 1][1] < number < numbers[at][1]


_FEWEST = 3
"""Fewest numbers of questions that show that another belongs to them."""
_LONG = 5
"""Length of a number that counts nothing."""


def _left(start: Start) -> Finding:
    assert start.document is not None
    return _left_at(start.document, start.first, start.last)


def _left_at(document: Document, first: int, last: int) -> Finding:
    return Finding(
        "Q006",
        "warning",
        "this looks like a question but was not read as one",
        document.source.span(first, last),
        note="it has the form of the questions of this document",
        help="write it like them in all: with its options, its answer or a question mark",
        skipped=True,
    )


def _most(values: list[bool]) -> bool:
    return sum(values) * 2 > len(values)


def _swallowed(start: Start, line: int) -> Finding:
    assert start.document is not None
    return _inside(start.document, start.first, line, start.last)


def _inside(document: Document, first: int, line: int, last: int = 0) -> Finding:
    return Finding(
        "Q006",
        "note",
        "this looks like a question inside the answer to another",
        document.source.span(first, last or first),
        note=f"it was read as part of the question on line {line}",
        help="write it like the other questions, if it is one",
    )
