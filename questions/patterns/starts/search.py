"""Finds every place in a document where a question may start: labels, headings, list items, lines and folds.

Nothing is decided here: `questions.patterns.inference` chooses among these places.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import replace
from itertools import pairwise
from string import ascii_lowercase
from typing import TYPE_CHECKING

from questions.blocks import Block, Fold, fold_text, unwrapped
from questions.patterns.answers import begins_answer, without_separators
from questions.patterns.options.search import may_hold_options, options_in
from questions.patterns.starts.items import parted, with_numbered_parts
from questions.patterns.starts.lines import escapes_numbers, find_lines
from questions.patterns.starts.start import Kind, Start
from questions.wording.imperatives import asks_or_demands
from questions.wording.labels import (
    END_OF_QUESTION,
    is_answer_summary,
    is_question_heading,
    is_question_word,
    only_announces_question,
)
from questions.wording.part_titles import asks_back
from questions.wording.stems import (
    QuestionLine,
    ends_asking,
    question_line,
    unbold,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from questions.document import Document, Section, Stretch
    from questions.wording.labels import Label

_OPTION_LIST = re.compile(r"(?:\[[ xX✓✔*]\]|[*_(\[（]{0,4}[AaАа①][)\].:*_）．、：])(?:[ \t*_]|$)?")
_WRAPPER = re.compile(r"[ ]*</?(?:div|p|span|section)\b", re.IGNORECASE)
"""HTML around a part of an answer."""
_DEEPEST = 3
"""Depth of nested lists whose items may ask."""


def find_starts(document: Document, *, again: bool = False) -> dict[Kind, list[Start]]:
    """Returns the places of each kind whose lines are still free, in line order.

    `again`: whether questions were taken out, so that stretches with nothing left need no look.
    """
    escapes = escapes_numbers(document)
    stretches = [
        one
        for one in document.layout.stretches
        if one.blocks and not (again and document.taken_whole(one.blocks[0].first, one.blocks[-1].last))
    ]
    lines = [start for stretch in stretches for start in find_lines(document, stretch, escapes=escapes)]
    return {
        "label": [_up_to_choice(start, lines) for start in _labels(document)],
        "heading": list(_counted(list(_headings(document)))),
        "item": [start for stretch in stretches for start in _items(document, stretch)],
        "line": lines,
        "fold": list(_folds(document)),
    }


# Labels such as `**Q:**`; a heading right above a label that stands alone is its title


def _is_card(labels: Sequence[Label]) -> bool:
    """Returns whether two labels are `Q:` and an answer, which are no parts of a question with a number."""
    return [one.role for one in labels] == ["question", "answer"] and labels[0].word == "q"


def _labels(document: Document) -> Iterator[Start]:
    everything = [one for labels in document.layout.labels.values() for one in labels if one.role == "question"]
    numbered = {label.word for label in everything if label.number}
    for section, headings, body in _bodies(document):
        asked = [label for block in body for label in document.labels(block)]
        # Where `Exercise 1:` starts the questions, `Problem:` is a part of one.
        places = [
            index
            for index, label in enumerate(asked)
            if label.role == "question"
            and (not numbered or label.number or label.word in numbered or _is_card(asked[index : index + 2]))
        ]
        alone = section is not None and len(places) == 1
        for place, following in zip(places, [*places[1:], len(asked)], strict=False):
            label = asked[place]
            end = _first_of(document, asked[following]) - 1 if following < len(asked) else body[-1].last
            within = without_separators(_up_to_end(_between(body, label.line, end)))
            if following == len(asked) and place != places[0]:
                within = _up_to_new_section(within, body, asked[places[0]].line, label.line)
            heading = section.heading if section and alone and _right_below(document, section, label) else None
            above = _first_of(document, label)
            number = label.number or (question_line(document.source.line(above)).number if above < label.line else "")
            stem = question_line(heading.text) if heading else QuestionLine(number, "")
            yield Start(
                "label",
                0,
                section.heading.first if section else 0,
                heading.first if heading else above,
                label.line,
                stem,
                min(end, within[-1].last),
                headings if heading else (*headings, *((section.heading,) if section else ())),
                within,
                title=stem.text,
                label=label,
                document=document,
            )


def _up_to_end(within: tuple[Block, ...]) -> tuple[Block, ...]:
    """Returns the blocks of a labeled question up to the line that ends it."""
    ends = [at for at, block in enumerate(within) if block.kind == "html" and block.text.strip() == END_OF_QUESTION]
    return within[: ends[0]] if ends else within


def _up_to_new_section(within: tuple[Block, ...], body: tuple[Block, ...], first: int, last: int) -> tuple[Block, ...]:
    """Returns the blocks of the last question up to a heading, if those before have none: another section begins."""
    before = _between(body, first, last - 1)
    heading = next((index for index, block in enumerate(within) if index and block.kind == "heading"), 0)
    if not heading or any(block.kind == "heading" for block in before):
        return within
    return without_separators(within[:heading])


def _up_to_choice(start: Start, lines: list[Start]) -> Start:
    """Returns a labeled question that is answered without what follows a line that asks below its answer and has
    options and a key of its own: the label of that question was forgotten."""
    at = bisect_left(lines, start.last + 1, key=lambda line: line.first)
    below = lines[at : bisect_right(lines, start.end, key=lambda line: line.first)]
    if not any(map(_is_choice, below)) or start.answer is None:
        return start
    answered = start.answer.first
    end = next((line.first - 1 for line in below if line.first > answered and _is_choice(line)), start.end)
    return replace(start, end=end, body=_between(start.body, start.last, end)) if end < start.end else start


def _is_choice(line: Start) -> bool:
    """Returns whether a line asks, with options right below it and a key."""
    listed = bool(line.body) and line.body[0].kind == "list"
    return line.asks and line.answer is not None and (line.offers or listed)


def _first_of(document: Document, label: Label) -> int:
    """Returns the line above a question label if it is only its number, such as `Question 5`, or else its own line."""
    above = document.source.line(label.line - 1) if label.line > 1 and not label.number else ""
    stem = question_line(above) if above[:1].isalpha() else None
    return label.line - 1 if stem and stem.labeled and stem.number and not stem.text else label.line


def _between(body: tuple[Block, ...], first: int, last: int) -> tuple[Block, ...]:
    """Returns the blocks with a line from `first` to `last`."""
    start = bisect_left(body, first, key=lambda block: block.last)
    return body[start : bisect_right(body, last, key=lambda block: block.first)]


def _bodies(document: Document) -> Iterator[tuple[Section | None, tuple[Block, ...], tuple[Block, ...]]]:
    """Yields each heading with its blocks up to the next heading that is not deeper or has labels of its own."""
    start = next((i for i, block in enumerate(document.blocks) if block.kind == "heading"), None)
    yield None, (), document.blocks[:start]
    for section in document.sections:
        if document.free(section.heading.first, section.last):
            yield section, section.above, _own(document, section)


def _own(document: Document, section: Section) -> tuple[Block, ...]:
    asking = False
    start = 0
    for index, block in enumerate(section.body):
        if block.kind == "heading":
            if not asking:
                return ()
            start = index
        elif any(label.role == "question" for label in document.labels(block)):
            if start:
                return section.body[:start]
            asking = True
        elif start and document.labels(block):
            return section.body[:start]
    return section.body if asking else ()


def _right_below(document: Document, section: Section, label: Label) -> bool:
    return not document.source.text(section.heading.last + 1, label.line - 1)


# Headings


_JUST_COUNTS = re.compile(r"[#(\[]?[ ]?\d{1,4}[ ]?[.:)\]]?")
"""A heading that is only a number."""


def _headings(document: Document) -> Iterator[Start]:
    depths = document.layout.depths
    for section in document.sections:
        heading = section.heading
        if depths[heading.first] > 6:
            continue
        if asks_back(heading.text):
            continue
        level = heading.level
        if (counted := _below_count(document, section)) is not None:
            section, level = counted, section.above[-1].level + 1
        body = section.body
        if not document.free(heading.first, section.last):
            body = _before_inner(document, section)
            if not body:
                continue
        # Below `## #1`, `## #2` the questions are side by side, one below each.
        over = [above for above in section.above if not _JUST_COUNTS.fullmatch(above.text)]
        run = (over[-1].first if over else 0) * 8 + level
        stem = question_line(heading.text)
        if counted is not None and not stem.number:
            stem = stem._replace(number=section.above[-1].text.strip(" #.)"))
        below = next((block.text for block in body if block.kind != "rule"), "")
        named = only_announces_question(stem.text) and (is_question_word(stem.text) or asks_or_demands(below))
        if named or (stem.labeled and is_question_heading(heading)):
            # The question itself is below `### Question:`.
            stem = stem._replace(text="")
        yield Start(
            "heading",
            level,
            run,
            heading.first,
            heading.last,
            stem,
            section.last if body is section.body else body[-1].last,
            section.above,
            body,
            block=heading,
            document=document,
        )


def _below_count(document: Document, section: Section) -> Section | None:
    """Returns the section of the heading right below one such as `## #1`, with all that is below that number; None for
    another heading, and where a heading further down asks too."""
    heading, over = section.heading, section.above[-1] if section.above else None
    if over is None or not _JUST_COUNTS.fullmatch(over.text):
        return None
    if document.source.next_filled(over.last + 1) != heading.first:
        return None
    at = bisect_left(document.sections, over.first, key=lambda one: one.heading.first)
    body = tuple(block for block in document.sections[at].body if block.first > heading.last)
    beside = (block for block in body if block.kind == "heading" and block.level <= heading.level)
    return None if any(ends_asking(block.text) for block in beside) else replace(section, body=body)


def _before_inner(document: Document, section: Section) -> tuple[Block, ...]:
    """Returns the text below a heading that asks, up to the deeper heading below which other questions were read; empty
    if there is none, or the heading does not ask."""
    heading = section.heading
    if not ends_asking(heading.text) or not document.free(heading.first, heading.last):
        return ()
    inner = None
    for at, block in enumerate(section.body):
        if block.kind == "heading":
            inner = at
        if not document.free(block.first, block.last):
            return section.body[:inner] if inner else ()
    return ()


_BARE_NUMBER = re.compile(r"(?P<number>\d{1,3})(?:[ ]+(?P<rest>\S.*))?", re.DOTALL)
_FEWEST_COUNTED = 4
"""Fewest headings whose numbers continue from one to the next, so that they need no punctuation."""


def _counted(starts: list[Start]) -> Iterator[Start]:
    """Yields headings, with the number of those that begin with one and continue from the one before: `05 What …`."""
    runs: dict[tuple[int, int], list[tuple[Start, int, str]]] = {}
    for start in starts:
        found = None if start.number or start.block is None else _BARE_NUMBER.fullmatch(start.block.text.strip())
        if found:
            runs.setdefault((start.depth, start.run), []).append((start, int(found["number"]), found["rest"] or ""))
    numbered: dict[Start, QuestionLine] = {}
    # Headings that are numbers alone continue from one section of the document to the next.
    bare = [one for run in runs.values() for one in run if not one[2]]
    for run in (*runs.values(), *([bare] if len({start.depth for start, _, _ in bare}) == 1 else [])):
        steps = sum(two == one + 1 for (_, one, _), (_, two, _) in pairwise(run))
        if len(run) >= _FEWEST_COUNTED and steps * 10 >= (len(run) - 1) * 9:
            for start, number, rest in run:
                numbered[start] = (
                    question_line(rest)._replace(number=str(number)) if rest else QuestionLine(str(number), "")
                )
    numbered |= _lettered(starts)
    for start in starts:
        yield replace(start, stem=numbered[start]) if start in numbered else start


_WITH_LETTER = re.compile(r"[(]?(?P<letter>[a-zA-Z])[.)][ \t]+(?P<rest>\S.*)", re.DOTALL)
_FEWEST_LETTERED = 3
"""Fewest headings with letters in a document whose letters count them."""


def _lettered(starts: list[Start]) -> dict[Start, QuestionLine]:
    """Returns the headings with letters that start over (a, b, …) under each heading, if most of them in the document
    ask or set a task; the letter is the number then."""
    runs: dict[tuple[int, int], list[tuple[Start, re.Match[str]]]] = {}
    for start in starts:
        if start.block and not start.number and (found := _WITH_LETTER.fullmatch(start.block.text.strip())):
            runs.setdefault((start.depth, start.run), []).append((start, found))
    regular = [
        run for run in runs.values() if [found["letter"].lower() for _, found in run] == [*ascii_lowercase[: len(run)]]
    ]
    counted = [one for run in regular for one in run]
    asking = sum(asks_or_demands(found["rest"]) for _, found in counted)
    if len(counted) < _FEWEST_LETTERED or asking * 3 < len(counted) * 2:
        return {}
    return {start: question_line(found["rest"])._replace(number=found["letter"]) for start, found in counted}


# List items


def _items(document: Document, stretch: Stretch) -> Iterator[Start]:
    taken = 0
    if stretch.headings and asks_back(stretch.headings[-1].text):
        return
    for index, block in enumerate(stretch.blocks):
        if index and stretch.blocks[index - 1].kind == "paragraph" and asks_back(stretch.blocks[index - 1].text):
            continue
        # A list below a numbered item may already be part of its answer.
        if block.kind == "list" and block.first > taken and not _offers(document, block):
            for start in _of_list(document, stretch, block, index):
                taken = max(taken, start.end)
                yield start


def _of_list(document: Document, stretch: Stretch, block: Block, index: int) -> Iterator[Start]:
    for item in block.children:
        if not item.children:
            continue
        loose = _loose(document, stretch, index) if item is block.children[-1] else ()
        if loose and begins_answer(document, loose[0]) and _asks_together(block):
            loose = ()
        yield from with_numbered_parts(_item(document, stretch, item, 0, loose))
        yield from _nested(document, stretch, item, 1)


def _asks_together(block: Block) -> bool:
    """Returns whether a list without numbers has several items that ask, and nothing below them: what follows the list
    is not an answer to the last one alone."""
    asking = [one.children[0] for one in block.children if len(one.children) == 1 and not one.info]
    return len(asking) == len(block.children) > 1 and all(ends_asking(one.text) for one in asking)


def _nested(document: Document, stretch: Stretch, item: Block, depth: int) -> Iterator[Start]:
    for block in item.children if depth < _DEEPEST else ():
        if block.kind == "list" and not _offers(document, block):
            for inner in block.children:
                if inner.children:
                    yield _item(document, stretch, inner, depth, ())
                    yield from _nested(document, stretch, inner, depth + 1)


def _offers(document: Document, block: Block) -> bool:
    """Returns whether a list consists of options."""
    first = block.children[0].children[:1] if block.children else ()
    return len(block.children) > 1 and bool(first) and _OPTION_LIST.match(first[0].text) is not None


_FARTHEST = 400
"""Maximum number of blocks below a list that are looked at for what belongs to its last item."""


def _loose(document: Document, stretch: Stretch, index: int) -> tuple[Block, ...]:
    """Returns the blocks after a list that belong to its last item, although they are not indented enough."""
    below = stretch.blocks[index + 1 : index + 1 + _FARTHEST]
    end = _loose_end(document, stretch.blocks[index], below)
    free = next((i for i, b in enumerate(below[:end]) if not document.free(b.first, b.last)), end)
    return without_separators(below[:free])


def _loose_end(document: Document, block: Block, below: tuple[Block, ...]) -> int:
    """Returns how many of the blocks below a list belong to its last item."""
    item = block.children[-1]
    if below and begins_answer(document, below[0]) and (end := _up_to_next_number(item, below)):
        return end
    if below and (begins_answer(document, below[0]) or below[0].first == item.last + 1):
        end = _up_to(below, ("rule", "list")) or int(begins_answer(document, below[0]))
        end = next((i for i, b in enumerate(below[:end]) if i and (_is_next(item, b) or _begins_anew(b))), end)
        if end and (begins_answer(document, below[0]) or not _is_next(item, below[0], within=1)):
            return end
    if _is_shown_below(block, below):
        return next((i for i, b in enumerate(below) if b.kind != "fence"), len(below))
    if item.info and item.last <= item.children[0].last and len(block.children) == 1:
        return next((i for i, b in enumerate(below) if _ends_item(document, b) or _is_next(item, b)), len(below))
    following = next((b for b in below if _is_numbered(b)), None)
    if following is None or not _goes_on_from(item, following):
        return 0
    if below[0] is not following and below[0].kind == "list" and below[0].first == item.last + 1:
        # Bullets right below the last item of a list, which is not indented enough, are its answer.
        return _up_to(below[1:], ("rule", "list")) + 1
    return _up_to(below, ("rule", "list"))


def _up_to_next_number(item: Block, below: tuple[Block, ...]) -> int:
    """Returns how many blocks are above the list with the next number, if nothing among them asks; else 0. Lists of
    bullets among them are part of the answer."""
    if not item.info.isdecimal():
        return 0
    end = next((index for index, block in enumerate(below) if _is_numbered(block)), 0)
    if not end or not _goes_on_from(item, below[end]):
        return 0
    lists = [block for block in below[:end] if block.kind == "list"]
    asks = any(ends_asking(one.children[0].text) for block in lists for one in block.children if one.children)
    return 0 if asks or any(block.kind == "rule" for block in below[:end]) else end


def _goes_on_from(item: Block, following: Block) -> bool:
    """Returns whether the first number of a list is the next after that of an item."""
    number = following.children[0].info
    return number.isdecimal() and item.info.isdecimal() and int(number) == int(item.info) + 1 > 1


def _is_shown_below(block: Block, below: tuple[Block, ...]) -> bool:
    """Returns whether the last item of a list without numbers asks and has nothing of its own, so that a program below
    the list, which is not indented enough, answers it; several such items in a row share none."""
    asked = [one.children[0].text for one in block.children[-2:] if len(one.children) == 1]
    lone = len(asked) == 1 or (len(block.children) > 1 and len(block.children[-2].children) > 1)
    fenced = bool(below) and below[0].kind == "fence"
    return fenced and lone and not block.children[-1].info and ends_asking(asked[-1].rstrip(" \t:")) if asked else False


def _is_next(item: Block, block: Block, *, within: int = 2) -> bool:
    """Returns whether one of the first lines of a paragraph begins with the number after that of an item."""
    if block.kind != "paragraph" or not item.info.isdecimal():
        return False
    numbers = (question_line(line).number for line in block.text.split("\n")[:within])
    return str(int(item.info) + 1) in numbers


def _begins_anew(block: Block) -> bool:
    """Returns whether a paragraph has the number 1 and options: a question of another part."""
    if block.kind != "paragraph" or question_line(block.text.partition("\n")[0]).number != "1":
        return False
    return may_hold_options(block.text) and options_in(block.text.split("\n")[1:]) is not None


def _ends_item(document: Document, block: Block) -> bool:
    """Returns whether a block below the only item of a list is not part of it."""
    if block.kind == "html":
        folded = document.answer_fold(block) is not None
        return not folded and not document.labels(block) and not _WRAPPER.match(document.source.line(block.first))
    return block.kind in ("rule", "table") or _is_numbered(block)


def _up_to(blocks: tuple[Block, ...], kinds: tuple[str, ...]) -> int:
    return next((index for index, block in enumerate(blocks) if block.kind in kinds), len(blocks))


def _is_numbered(block: Block) -> bool:
    return block.kind == "list" and bool(block.children and block.children[0].info)


def _item(document: Document, stretch: Stretch, item: Block, depth: int, loose: tuple[Block, ...]) -> Start:
    first = item.children[0]
    text = first.text if first.kind in ("paragraph", "heading") else ""
    asked, rest = parted(text) if first.kind == "paragraph" else (text, "")
    if rest and "\n" not in text and _is_marked_answer(document, (*item.children[1:2], *loose[:1])):
        # In `What is a view? Name two.` above a quote, all of the line asks.
        asked, rest = text, ""
    if "\n" in text and not rest:
        last = first.first + asked.count("\n")
    else:
        last = first.last if first.kind in ("paragraph", "heading") else item.first
    return Start(
        "item",
        depth,
        stretch.first,
        item.first,
        last,
        question_line(asked),
        loose[-1].last if loose else item.last,
        stretch.headings,
        (*item.children[1:], *loose),
        rest,
        bold=first.kind == "heading" or unbold(asked) != asked.strip(),
        block=item,
        own_last=first.last,
        document=document,
    )


def _is_marked_answer(document: Document, below: tuple[Block, ...]) -> bool:
    """Returns whether the first block below an item is an answer by its form: a quote, a label or a fold."""
    return bool(below) and (below[0].kind == "quote" or begins_answer(document, below[0]))


# Folds whose summary asks


def _folds(document: Document) -> Iterator[Start]:
    layout = document.layout
    firsts = [stretch.first for stretch in layout.stretches]
    asking = [fold for fold in layout.folds if fold.summary and not is_answer_summary(fold.summary)]
    for index, fold in enumerate(asking):
        following = asking[index + 1] if index + 1 < len(asking) else None
        nested = following is not None and following.first > fold.first and following.last <= fold.last
        end = following.first - 1 if following and nested else fold.last
        stretch = layout.stretches[max(bisect_right(firsts, fold.first) - 1, 0)]
        text = _until(document, fold, end) if nested else fold_text(document.source, fold)
        yield Start(
            "fold",
            min(fold.depth, 1),
            stretch.first,
            fold.first,
            fold.first,
            question_line(fold.summary),
            end,
            stretch.headings,
            said=text,
            fold=fold,
            document=document,
        )


def _until(document: Document, fold: Fold, last: int) -> str:
    """Returns the text of a fold up to a line, before the folds inside it."""
    first = fold.body[0]
    lines = [document.source.line(number) for number in range(first, last + 1)]
    return unwrapped("\n".join((lines[0][fold.start :], *lines[1:]))) if lines else ""
