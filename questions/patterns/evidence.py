"""Evidence that places where a question may start are questions: what is read of a run of them for each reason."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import replace
from itertools import groupby, takewhile
from typing import TYPE_CHECKING

from questions.document import contents_key
from questions.labels import announces_only_questions, is_answer_heading
from questions.patterns.candidates import Verdict
from questions.patterns.contents import is_only_link
from questions.patterns.marks import marks_one
from questions.patterns.paragraphs import made_of, up_to_gaps
from questions.patterns.stems import (
    asks_for_questions,
    demands,
    ends_asking,
    heading_asks,
    is_advertisement,
    is_bold_question,
    is_offer,
    question_line,
    reads_as_question,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from questions.blocks import Block
    from questions.document import Document
    from questions.patterns.candidates import Candidate, Reason
    from questions.patterns.start import Kind, Start

FEWEST = {"label": 1, "heading": 3, "item": 3, "line": 2}
"""Starts without number and answer from which they are questions, unless a title announces questions."""
_FEWEST_CONTINUED = 5
_SHORTEST = 3
"""Fewest words of a heading that asks without a number."""
_TASK = re.compile(r"(?m)^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[(?P<mark>[ xX])\][ \t]")
_FEWEST_MARKED = 2
"""Lists of boxes with and without a check from which they are options, although their headings do not ask."""
_COURTESY = 4
"""Most words of a last item that thanks or refers to more."""


_NOTHING = re.compile(r"[\W_]*$")


def _labeled(document: Document, kind: Kind, run: list[Start], known: tuple[Candidate, ...]) -> Verdict:
    if kind == "label":
        # `Question: ...` explains a form.
        shows = [one for one in run if one.label and not _is_form(document, one)]
        return Verdict(tuple(shows))
    if kind == "fold" or (kind == "item" and run[0].depth and heading_asks(run[0].headings)):
        return Verdict()
    if kind == "heading":
        parts = _parts_of_task(document, run)
        if parts:
            return Verdict(parts)
        run = [start for start in run if not _has_parts(start)]
    labeled = [start for start in run if start.stem.labeled and (kind != "line" or start.bold)]
    return Verdict(tuple(start for start in labeled if kind != "line" or start.text or start.asks))


_PART = re.compile(r"\(?(?:[a-h]|\d{1,2})[).][ \t]+(?=\S)")
_HASHES = re.compile(r"(?m)^#{1,6}[ ]+")
_FEWEST_PARTS = 2


def _parts_of_task(document: Document, run: list[Start]) -> tuple[Start, ...]:
    """Returns the headings such as `a) Compute …` below one such as `Task 4: Regression`, with what it gives for all of
    them; none if they do not ask or it asks itself."""
    task = next((heading for heading in reversed(run[0].headings) if _names_a_task(heading.text)), None)
    if task is None:
        return ()
    parts = [start for start in run if start.block is not None and _PART.match(start.block.text)]
    if not _ask_as_parts([start.block.text for start in parts if start.block]):
        return ()
    given = _HASHES.sub("", document.source.text(task.last + 1, run[0].first - 1)).strip()
    stems = (start.stem._replace(text=_PART.sub("", start.stem.text, count=1)) for start in parts)
    return tuple(replace(start, stem=stem, given=given) for start, stem in zip(parts, stems, strict=True))


def _has_parts(start: Start) -> bool:
    below = [block.text for block in start.body if block.kind == "heading" and block.level > start.depth]
    task = start.block is not None and _names_a_task(start.block.text)
    return task and _ask_as_parts([text for text in below if _PART.match(text)])


def _names_a_task(heading: str) -> bool:
    stem = question_line(heading)
    return stem.labeled and not reads_as_question(stem.text)


def _ask_as_parts(headings: list[str]) -> bool:
    asking = sum(reads_as_question(_PART.sub("", heading, count=1)) for heading in headings)
    alone = len(headings) == 1 and headings[0].lstrip("(").startswith("a")
    return (len(headings) >= _FEWEST_PARTS or alone) and asking * 2 > len(headings)


def _is_form(document: Document, start: Start) -> bool:
    """Returns whether nothing but dots stands in the line of a label."""
    rest = document.source.line(start.label.line)[start.label.end :].strip() if start.label else ""
    return rest.startswith(("...", "…", "___")) and _NOTHING.fullmatch(rest) is not None


def _listed(document: Document, kind: Kind, run: list[Start], known: tuple[Candidate, ...]) -> Verdict:
    if kind == "heading":
        return _linked(document, run)
    if kind != "item" or run[0].depth or not document.layout.contents or not _is_told(document, run):
        return Verdict()
    contents = document.layout.contents
    listed = [start for start in run if contents_key(start.stem.text) in contents and not is_only_link(start)]
    if len(listed) < FEWEST["item"] or len(listed) * 10 < len(contents) * 9:
        return Verdict()
    if all(map(_is_anchored, listed)):
        # A table of contents is often older than the last questions.
        listed = [start for start in run if _is_anchored(start)]
    # The other items are lists in the answers, which are rarely indented.
    return Verdict(tuple(_with_rest(document, run, listed)))


_ANCHOR_NAME = re.compile(r"<a[ ]+(?:id|name)[ ]*=[ ]*[\"']?(?P<name>[\w.-]+)", re.IGNORECASE)
_LINK_TO = re.compile(r"(?m)^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[(?P<text>[^\[\]\n]+)\]\(#(?P<name>[\w.-]+)\)[ \t]*$")


def _linked(document: Document, run: list[Start]) -> Verdict:
    """Returns the headings with an anchor under a title that announces questions, if a table of contents with some that
    ask links to nearly all of them, and to nothing else."""
    anchored = {
        found["name"]: start
        for start in run
        if start.block and (found := _ANCHOR_NAME.search(start.block.text)) and start.body
    }
    if len(anchored) < _FEWEST_LINKED or not _is_told(document, run):
        return Verdict()
    links = list(_LINK_TO.finditer("\n".join(document.source.lines)))
    names = {link["name"] for link in links}
    asking = any(reads_as_question(link["text"]) for link in links)
    covered = len(names & anchored.keys()) * 10
    if not asking or covered < 9 * len(names) or covered < 9 * len(anchored):
        return Verdict()
    return Verdict(tuple(start for name, start in anchored.items() if name in names))


_FEWEST_LINKED = 4
"""Fewest headings that a table of contents links to."""
_ANCHOR = re.compile(r"<a[ ]+(?:id|name)[ ]*=", re.IGNORECASE)


def _is_anchored(start: Start) -> bool:
    """Returns whether an item begins with a place that links lead to."""
    return start.block is not None and bool(start.block.children) and bool(_ANCHOR.match(start.block.children[0].text))


def _answered(document: Document, kind: Kind, run: list[Start], known: tuple[Candidate, ...]) -> Verdict:
    if kind == "heading":
        return _answered_headings(document, run)
    if kind == "item":
        return _answered_items(run)
    if kind == "line":
        return _answered_lines(run)
    return Verdict()


def _answered_headings(document: Document, run: list[Start]) -> Verdict:
    answered = {start.first: start for start in run if _is_answered(document, start)}
    topics = not any(start.asks or start.number or start.stem.labeled for start in answered.values())
    if answered and topics and len(answered) * _RARE < len(document.sections):
        # In study text, a solution may stand below one of many topics.
        answered = {}
    members = {start for start in run if start.first in answered or start.number}
    # A label deep inside the text may be part of the prose; one right below the heading is not.
    sure = any(start.body and start.answer and start.body[0].first == start.answer.first for start in answered.values())
    keyed = {start for start in run if start.offers and not _titles_a_line(start) and not _lists_tasks(document, start)}
    if sure or (answered and len(answered) * 2 >= len(members)):
        keyed |= members
    return Verdict(tuple(start for start in run if start in keyed))


_RARE = 10
"""How many headings a document has for each topic with a solution, so that these are no questions."""


def _lists_tasks(document: Document, start: Start) -> bool:
    """Returns whether the check boxes below a heading are things to do, because nothing asks."""
    if start.asks or start.number or start.stem.labeled or start.answer is not None:
        return False
    marks = {found["mark"].strip().lower() for found in _TASK.finditer(start.own_text)}
    return marks in ({""}, {"x"}) or (marks == {"", "x"} and document.layout.marked_lists < _FEWEST_MARKED)


def _titles_a_line(start: Start) -> bool:
    """Returns whether the line above the options asks, so that a heading that does not is only a title."""
    if start.asks or start.number or start.stem.labeled:
        return False
    if len(_FIRST_OPTION.findall(start.own_text)) > 1:
        return True
    return any(block.kind == "paragraph" and reads_as_question(block.text) for block in start.body[:2])


_FIRST_OPTION = re.compile(r"(?m)^[ \t]*(?:[-*+][ \t]+)?[*_]{0,3}\(?[Aa][.)：:、．][*_]{0,3}[ \t]+\S")


def _is_answered(document: Document, start: Start) -> bool:
    if start.block is None or is_answer_heading(start.block) or start.answer is None:
        return False
    return not _holds_others(document, start)


def _holds_others(document: Document, start: Start) -> bool:
    """Returns whether a heading is only a title above questions of another form."""
    if ends_asking(start.stem.text):
        return False
    own = list(takewhile(lambda block: block.kind != "heading", start.body))
    until = start.answer.first if start.answer else start.end
    before = [block for block in own if block.first < until and block.kind == "paragraph"]
    if any(is_bold_question(block.text) for block in before):
        return True
    labels = [label for block in own for label in document.labels(block) if label.role == "answer"]
    folds = sum(document.answer_fold(block) is not None for block in own)
    if folds > 1 and not start.stem.labeled:
        return True
    return len(labels) > 1 and labels[0].line > own[0].first and len({label.word for label in labels}) < len(labels)


def _answered_items(run: list[Start]) -> Verdict:
    if heading_asks(run[0].headings) and not any(ends_asking(start.stem.text) for start in run):
        # A list in the answer to the heading: `Example answer:` below it belongs to the heading.
        return Verdict()
    marked = [start for start in run if start.number and marks_one(start.text)]
    if len(marked) >= FEWEST["item"] and len(marked) * 5 >= len(run) * 4:
        return Verdict(tuple(run))
    may_ask = [start for start in run if start.asks or start.bold or start.number]
    answered = {start for start in may_ask if start.answer or start.offers}
    if not answered or (len(answered) * 4 < len(run) and not any(start.asks or start.bold for start in answered)):
        return Verdict()
    return _split(run, {start for start in run if start in answered or start.asks or start.bold})


def _split(run: list[Start], read: set[Start]) -> Verdict:
    """Returns the starts that are read, and the others to be named. One with text whose number lies between those of
    others that are read is read too."""
    numbers = [int(start.number) for start in run if start in read and _is_count(start.number)]
    if len(numbers) >= FEWEST["item"] and len(numbers) * 2 > len(run):
        low, high = min(numbers), max(numbers) + 1
        read = set(read)
        for start in run:
            if _is_count(start.number) and low <= int(start.number) <= high and _has_answer(start):
                read.add(start)
                high = max(high, int(start.number) + 1)
    return Verdict(tuple(start for start in run if start in read), tuple(start for start in run if start not in read))


def _has_answer(start: Start) -> bool:
    return bool(start.stem.text and start.text) and not is_only_link(start)


def _is_count(number: str) -> bool:
    return number.isdecimal() and len(number) < 5


def _answered_lines(run: list[Start]) -> Verdict:
    answered = {start for start in run if start.answer is not None or start.offers}
    regular = len(answered) >= FEWEST["item"] and sum(bool(start.number) for start in answered) == len(answered)
    numbered = {start for start in run if start.number and (start.bold or regular)}
    most = len(answered) * 2 >= len(run)
    return Verdict(tuple(start for start in run if start in answered or (most and start in numbered)))


def _asking(document: Document, kind: Kind, run: list[Start], known: tuple[Candidate, ...]) -> Verdict:
    told = _is_told(document, run)
    match kind:
        case "heading":
            return _asking_headings(document, run, told)
        case "item":
            return _asking_items(document, run)
        case "line":
            return _asking_lines(run, told)
        case "fold":
            return _asking_folds(run, told)
    return Verdict()


def _is_told(document: Document, run: list[Start]) -> bool:
    """Returns whether the title of the document or a heading above announces questions."""
    return asks_for_questions((document.title, *(block.text for block in run[0].headings)))


def _asking_headings(document: Document, run: list[Start], told: bool) -> Verdict:
    if len(run) == 1 and run[0].depth == 1 and _told_by_title(document, run[0]):
        return Verdict()
    numbered = [start for start in run if start.number]
    asking = sum(start.asks for start in numbered)
    if numbered and asking * 2 > len(numbered):
        # A run of study headings may contain one that asks, and a run of questions one that does not.
        return Verdict(tuple(numbered))
    bare = [start for start in run if not start.number]
    if len(bare) >= FEWEST["heading"] and sum(demands(start.stem.text) for start in bare) * 3 >= len(bare) * 2:
        return Verdict(tuple(start for start in bare if start.asks))
    asks = [start for start in bare if _asks_itself(document, start)]
    enough = len(asks) >= (1 if told else FEWEST["heading"])
    worded = [start for start in bare if start.asks and _is_answered_by_text(document, start, among=bare)]
    sure = sum(ends_asking(start.stem.text) for start in worded)
    if sure >= FEWEST["heading"] and sure * 2 >= len(bare) and len(worded) * 10 >= len(bare) * 9:
        # All of them ask, although some without a question mark.
        return Verdict(tuple(worded))
    if not enough or not (told or len(asks) * 3 >= len(bare) * 2):
        return Verdict()
    asking = sum(ends_asking(start.stem.text) for start in bare)
    if len(asks) >= FEWEST["heading"] and asking * 3 >= len(bare) * 2:
        # Among headings that ask, one such as `Name two examples!` asks too.
        asks = [start for start in bare if start.asks and _is_answered_by_text(document, start, among=bare)]
    return Verdict(tuple(asks))


def _told_by_title(document: Document, start: Start) -> bool:
    """Returns whether a heading is the title of the document, which announces questions."""
    first = document.sections[0].heading if document.sections else None
    return first is not None and first.first == start.first and asks_for_questions((start.stem.text,))


def _asks_itself(document: Document, start: Start) -> bool:
    """Returns whether a heading asks and is answered by text, not by headings of its own or a link.

    Headings that recur below others, such as `What is it?`, are parts of an answer.
    """
    return ends_asking(start.stem.text) and _is_answered_by_text(document, start)


def _is_answered_by_text(document: Document, start: Start, among: Sequence[Start] = ()) -> bool:
    """Returns whether text answers a heading. Among others that ask, a link may answer one that is not the last, and
    one may have no answer."""
    parts = document.layout.recurring
    own = [*takewhile(lambda block: block.kind != "heading" or block.first in parts, start.body)]
    own = own or (start.in_parts if among else [])
    if among and not start.body:
        return ends_asking(start.stem.text)
    dense = bool(among) and start.asks and _DENSE.search(start.stem.text) is not None
    short = _words(start.stem.text) < _SHORTEST and not dense
    if start.first in parts or start.block is None or not own or short:
        return False
    advertises = is_offer(start.stem.text) if among and start is not among[-1] else is_advertisement(start.block, own)
    return not is_bold_question(own[0].text) and not advertises


_DENSE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
"""Scripts in which few characters ask."""


def _words(text: str) -> int:
    return len(text.split()) + sum(not character.isascii() and character.isalpha() for character in text) // 4


def _asking_items(document: Document, run: list[Start]) -> Verdict:
    headed = [start for start in run if _is_headed(start)]
    if headed and not run[0].depth and document.layout.headed_items >= FEWEST["item"]:
        # Items without a heading are lists within the answers, at a smaller indentation.
        return Verdict(tuple(_with_rest(document, run, _with_next(run, headed))))
    run = _without_remarks(run)
    items = [start for start in run if not is_only_link(start)]
    asking = {start for start in items if start.asks or _is_headed(start)}
    answered = [start for start in asking if start.text]
    if len(asking) * 2 <= len(run) or not (answered or len(asking) >= FEWEST["item"]):
        return Verdict()
    over = document.source.line(run[0].first - 1).rstrip() if run[0].depth else ""
    if over.endswith(":") and not answered and not any(_demands_or_ends_asking(start) for start in asking):
        # `Have four options each` and `Are about week 1` go on with the sentence, ending in a colon, above them.
        return Verdict()
    counted = not run[0].depth and all(start.number for start in run) and _is_told(document, run)
    if len(asking) * 3 < len(run) * 2 and not counted:
        return _split(run, asking)
    return _split(run, {start for start in items if start in asking or not _is_courtesy(start, run)})


def _without_remarks(run: list[Start]) -> list[Start]:
    """Returns the items without lists before the others whose numbers begin anew and in which nothing asks: remarks."""
    parts: list[list[Start]] = []
    for start in run:
        if not parts or (start.number == "1" and not start.depth):
            parts.append([])
        parts[-1].append(start)
    while len(parts) > 1 and parts[0][0].number == "1" and not any(map(_asks_or_says, parts[0])):
        del parts[0]
    return [start for part in parts for start in part]


def _demands_or_ends_asking(start: Start) -> bool:
    return ends_asking(start.stem.text) or demands(start.stem.text)


def _asks_or_says(start: Start) -> bool:
    return ends_asking(start.stem.text) or bool(start.text)


def _is_headed(start: Start) -> bool:
    """Returns whether a list item begins with a heading."""
    return start.block is not None and bool(start.block.children) and start.block.children[0].kind == "heading"


def _with_next(run: list[Start], headed: list[Start]) -> list[Start]:
    """Returns the items that begin with a heading, and each item right after one whose number is the next, if no other
    has that number."""
    taken = {start.number for start in headed}
    read: list[Start] = []
    before: Start | None = None
    for start in run:
        counts = before is not None and _is_count(before.number) and _is_count(start.number)
        goes_on = counts and before is not None and int(start.number) == int(before.number) + 1
        if start in headed or (goes_on and before in read and start.number not in taken and _has_answer(start)):
            read.append(start)
        before = start
    return read


def _with_rest(document: Document, run: list[Start], items: list[Start]) -> Iterator[Start]:
    """Yields items that begin with a heading, each with what follows up to the next one or the next heading that is not
    deeper: authors rarely indent all of an answer."""
    blocks = document.blocks
    ends = [*(item.first for item in items[1:]), len(document.source.lines) + 1]
    for item, end in zip(items, ends, strict=True):
        level = item.block.children[0].level if item.block else 0
        # Items of the same list, whose numbers begin anew.
        more = [one.block for one in run if one.block and item.end < one.first < end]
        last = more[-1].last if more else item.end
        for block in blocks[bisect_right(blocks, last, key=lambda block: block.first) :]:
            ends_it = block.first >= end or (block.kind == "heading" and block.level <= level)
            if ends_it or not document.free(block.first, block.last):
                break
            more.append(block)
        yield replace(item, body=(*item.body, *more), end=more[-1].last) if more else item


def _is_courtesy(start: Start, run: list[Start]) -> bool:
    """Returns whether the last item of a list only thanks or refers to more."""
    return start is run[-1] and not start.text and _words(start.stem.text) <= _COURTESY


def _asking_lines(run: list[Start], told: bool) -> Verdict:
    lines = [line for _, below in groupby(run, key=lambda start: start.run) for line in _not_in_an_answer(list(below))]
    numbered = [start for start in lines if start.number]
    bare = [start for start in lines if not start.number and start.bold and start.asks]
    bare = _without_recurring(bare)
    read: list[Start] = []
    if len(numbered) >= (1 if told else FEWEST["line"]) and sum(start.asks for start in numbered) * 2 > len(numbered):
        read += numbered
    if len(bare) >= FEWEST["line"]:
        read += bare
    return Verdict(tuple(sorted(read, key=lambda start: start.first)))


def _without_recurring(starts: list[Start]) -> list[Start]:
    """Returns the starts without lines such as `Why does it matter?` that recur as parts of several answers."""
    counts = Counter(start.stem.text for start in starts)
    return [start for start in starts if counts[start.stem.text] < _FEWEST_RECURRING]


_FEWEST_RECURRING = 3
"""How often the same line recurs that is a part of answers."""


def _not_in_an_answer(lines: list[Start]) -> list[Start]:
    """Returns the lines under a heading, unless the heading asks and text before them begins its answer."""
    headings = lines[0].headings
    return [] if heading_asks(headings) and lines[0].above_first else lines


def _asking_folds(run: list[Start], told: bool) -> Verdict:
    folds = [start for start in run if not _lists_links(start)]
    asking = [start for start in folds if start.asks]
    if not asking or (heading_asks(run[0].headings) and len(asking) == 1):
        return Verdict()
    many = len(asking) > 1 and (len(asking) * 2 >= len(folds) if told else len(asking) * 3 >= len(folds) * 2)
    return Verdict(tuple(folds if many else asking))


def _lists_links(start: Start) -> bool:
    """Returns whether a fold holds nothing but links, as a table of contents."""
    lines = [line for line in start.said.split("\n") if line.strip()]
    return bool(lines) and all("](" in line or "<a " in line for line in lines)


def _titled(document: Document, kind: Kind, run: list[Start], known: tuple[Candidate, ...]) -> Verdict:
    if kind != "heading":
        return Verdict()
    if _are_numbers(run):
        asked = [start for start in run if start.body and start.body[0].kind == "paragraph"]
        sentences = (one for start in asked for one in _SENTENCE.split(start.body[0].text))
        return Verdict(tuple(asked) if any(map(reads_as_question, sentences)) else ())
    titles = [start for start in run if start.asks_below and not start.asks]
    if len(titles) < FEWEST["heading"] or len(titles) * 5 < len(run) * 3:
        return Verdict()
    return Verdict(tuple(start for start in run if start.body and start.body[0].kind != "heading"))


_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def _are_numbers(run: list[Start]) -> bool:
    """Returns whether headings are nothing but numbers."""
    return all(start.kind == "heading" and start.number and not start.stem.text for start in run)


def _continued(document: Document, kind: Kind, run: list[Start], known: tuple[Candidate, ...]) -> Verdict:
    alike = [start for one in known if one.kind == kind for start in one.read if start.depth == run[0].depth]
    if len(alike) < _FEWEST_CONTINUED or kind == "label":
        return Verdict()
    if kind == "fold":
        # One summary without a question mark among many that ask, such as `Explain how dropout works`.
        few = len(run) * _FEWEST_CONTINUED <= len(alike)
        return Verdict(tuple(one for one in run if few and one.said and len(one.stem.text.split()) > _SHORTEST))
    if _are_numbers(run):
        return Verdict(tuple(start for start in run if start.body and start.body[0].kind == "paragraph"))
    if kind in ("heading", "line"):
        numbers = {int(start.number) for start in alike if start.number.isdecimal() and len(start.number) < 5}
        read = [start for start in run if _goes_on(start, numbers)]
        return Verdict(tuple(read)) if len(read) * 2 > len(run) else Verdict()
    if kind == "item" and all(map(_is_headed, alike)) and not any(map(_is_headed, run)):
        return Verdict()
    items = [start for start in run if not is_only_link(start)]
    told = _is_told(document, run) or {start.headings[:-1] for start in alike} >= {run[0].headings[:-1]}
    told = told or all(start.bold for start in (*alike, *items))
    asking = sum(start.asks for start in items)
    if kind == "item" and told and asking * 3 >= len(run) and len(items) * 2 > len(run):
        return Verdict(tuple(items))
    return Verdict()


def _goes_on(start: Start, numbers: set[int]) -> bool:
    """Returns whether the number of a start is next to the numbers of questions, and taken by none of them."""
    if not _is_count(start.number) or int(start.number) in numbers:
        return False
    goes_on = int(start.number) - 1 in numbers or int(start.number) + 1 in numbers
    if goes_on:
        numbers.add(int(start.number))
    return goes_on


def _promised(document: Document, kind: Kind, run: list[Start], known: tuple[Candidate, ...]) -> Verdict:
    titled = _is_section_of_questions(document, kind, run)
    if titled:
        return Verdict(tuple(start for start in run if start.stem.text and not is_only_link(start)))
    if known or kind in ("label", "fold") or len(run) < _FEWEST_CONTINUED:
        return Verdict()
    if not _is_told(document, run) and not _is_counted(run):
        return Verdict()
    numbered = [start for start in run if start.number and not is_only_link(start)]
    lines = sum(start.end - start.first + 1 for start in numbered)
    everything = sum(bool(line.strip()) for line in document.source.lines)
    if len(numbered) < _FEWEST_CONTINUED or len(numbered) * 3 < len(run) * 2 or lines * 2 < everything:
        return Verdict()
    if kind == "heading" and any(_holds_headings(start.body) for start in numbered):
        return Verdict()
    return Verdict(tuple(numbered))


def _is_section_of_questions(document: Document, kind: Kind, run: list[Start]) -> bool:
    """Returns whether numbered items are all there is under a heading such as `Questions`."""
    heading = run[0].headings[-1] if run[0].headings else None
    if kind != "item" or heading is None or len(run) < FEWEST["item"] or not announces_only_questions(heading):
        return False
    at = bisect_left(document.sections, heading.first, key=lambda section: section.heading.first)
    last = document.sections[at].last
    filled = [n for n in range(heading.last + 1, last + 1) if document.source.line(n).strip()]
    within = {n for start in run for n in range(start.first, start.end + 1)}
    return all(start.number for start in run) and sum(n in within for n in filled) * 10 >= len(filled) * 9


def _is_counted(run: list[Start]) -> bool:
    """Returns whether starts are numbered without a gap, have text below, and some of them ask."""
    numbers = [int(start.number) for start in run if _is_count(start.number)]
    regular = len(numbers) == len(run) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    answered = sum(bool(start.text) for start in run)
    return regular and answered * 5 >= len(run) * 4 and sum(start.asks for start in run) * 4 >= len(run)


def _bare(document: Document, kind: Kind, run: list[Start], known: tuple[Candidate, ...]) -> Verdict:
    made = made_of(document, run, told=_is_told(document, run))
    return Verdict(tuple(_without_recurring(up_to_gaps(document, run)))) if made else Verdict()


def _holds_headings(body: tuple[Block, ...]) -> bool:
    return sum(block.kind == "heading" and reads_as_question(block.text) for block in body) > 1


JUDGES: dict[Reason, Callable[[Document, Kind, list[Start], tuple[Candidate, ...]], Verdict]] = {
    "labeled": _labeled,
    "listed": _listed,
    "answered": _answered,
    "asking": _asking,
    "titled": _titled,
    "continued": _continued,
    "promised": _promised,
    "bare": _bare,
    "keyed": lambda *_: Verdict(),
}
