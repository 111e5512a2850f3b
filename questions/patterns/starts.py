"""Finds every place in a document where a question may start: labels, headings, list items, lines and folds.

Nothing is decided here: `questions.patterns.inference` chooses among these places.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from questions.blocks import Block, Fold, fold_text, unwrapped
from questions.labels import is_answer_summary, is_question_heading
from questions.patterns.answers import find_answer, without_footer, without_rules
from questions.patterns.item_lines import parted, with_numbered_parts
from questions.patterns.options import begins_with_box, may_hold_options, options_in
from questions.patterns.start import Kind, Start
from questions.patterns.stems import (
    BOLD_LINE,
    QuestionLine,
    ends_asking,
    question_line,
    reads_as_question,
    unbold,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.document import Document, Section, Stretch
    from questions.labels import Label

_OPTION_LIST = re.compile(r"(?:\[[ xX✓✔*]\]|[*_(\[（]{0,4}[AaАа①][)\].:*_）．、：])(?:[ \t*_]|$)?")
_BOLD_ALONE = re.compile(r"[ ]{0,3}(?P<mark>\*\*|__)(?P<text>(?:(?!(?P=mark)).){1,600})(?P=mark)[ ]*")
"""A line that is bold as a whole."""
_WRAPPER = re.compile(r"[ ]*</?(?:div|p|span|section)\b", re.IGNORECASE)
"""HTML around a part of an answer."""
_DEEPEST = 3
"""Depth of nested lists whose items may ask."""


def find_starts(document: Document, *, again: bool = False) -> dict[Kind, list[Start]]:
    """Returns the places of each kind whose lines are still free, in line order.

    `again`: whether questions were taken out, so that stretches of which nothing is left need no look.
    """
    escapes = _escapes_numbers(document)
    stretches = [
        one
        for one in document.layout.stretches
        if one.blocks and not (again and document.taken_whole(one.blocks[0].first, one.blocks[-1].last))
    ]
    return {
        "label": list(_labels(document)),
        "heading": list(_counted(list(_headings(document)))),
        "item": [start for stretch in stretches for start in _items(document, stretch)],
        "line": [start for stretch in stretches for start in _lines(document, stretch, escapes=escapes)],
        "fold": list(_folds(document)),
    }


# Labels such as `**Q:**`; a heading right above a label that stands alone is its title


def _labels(document: Document) -> Iterator[Start]:
    everything = [one for labels in document.layout.labels.values() for one in labels if one.role == "question"]
    numbered = {label.word for label in everything if label.number}
    for section, headings, body in _bodies(document):
        asked = [label for block in body for label in document.labels(block)]
        # Where `Exercise 1:` starts the questions, `Problem:` is a part of one.
        places = [
            index
            for index, label in enumerate(asked)
            if label.role == "question" and (not numbered or label.number or label.word in numbered)
        ]
        alone = section is not None and len(places) == 1
        for place, following in zip(places, [*places[1:], len(asked)], strict=False):
            label = asked[place]
            end = asked[following].line - 1 if following < len(asked) else body[-1].last
            within = without_rules(_between(body, label.line, end))
            heading = section.heading if section and alone and _right_below(document, section, label) else None
            stem = question_line(heading.text) if heading else QuestionLine(label.number, "")
            yield Start(
                "label",
                0,
                section.heading.first if section else 0,
                heading.first if heading else label.line,
                label.line,
                stem,
                min(end, within[-1].last),
                headings if heading else (*headings, *((section.heading,) if section else ())),
                within,
                title=stem.text,
                label=label,
                document=document,
            )


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
        body = section.body
        if not document.free(heading.first, section.last):
            body = _before_inner(document, section)
            if not body:
                continue
        # Below `## #1`, `## #2` the questions stand side by side, one below each.
        over = [above for above in section.above if not _JUST_COUNTS.fullmatch(above.text)]
        run = (over[-1].first if over else 0) * 8 + heading.level
        stem = question_line(heading.text)
        if stem.labeled and is_question_heading(heading):
            # The question itself is below `### Question:`.
            stem = stem._replace(text="")
        yield Start(
            "heading",
            heading.level,
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
"""Fewest headings whose numbers go on from one to the next, so that they need no punctuation."""


def _counted(starts: list[Start]) -> Iterator[Start]:
    """Yields headings, with the number of those that begin with one and go on from the heading before: `05 What …`."""
    runs: dict[tuple[int, int], list[tuple[Start, int, str]]] = {}
    for start in starts:
        found = None if start.number or start.block is None else _BARE_NUMBER.fullmatch(start.block.text.strip())
        if found:
            runs.setdefault((start.depth, start.run), []).append((start, int(found["number"]), found["rest"] or ""))
    numbered: dict[Start, QuestionLine] = {}
    # Headings that are numbers alone go on from one section of the document to the next.
    bare = [one for run in runs.values() for one in run if not one[2]]
    for run in (*runs.values(), *([bare] if len({start.depth for start, _, _ in bare}) == 1 else [])):
        steps = sum(two == one + 1 for (_, one, _), (_, two, _) in pairwise(run))
        if len(run) >= _FEWEST_COUNTED and steps * 10 >= (len(run) - 1) * 9:
            for start, number, rest in run:
                numbered[start] = (
                    question_line(rest)._replace(number=str(number)) if rest else QuestionLine(str(number), "")
                )
    for start in starts:
        yield replace(start, stem=numbered[start]) if start in numbered else start


# List items


def _items(document: Document, stretch: Stretch) -> Iterator[Start]:
    taken = 0
    for index, block in enumerate(stretch.blocks):
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
        yield from with_numbered_parts(_item(document, stretch, item, 0, loose))
        yield from _nested(document, stretch, item, 1)


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


def _loose(document: Document, stretch: Stretch, index: int) -> tuple[Block, ...]:
    """Returns the blocks after a list that belong to its last item, although they are not indented enough."""
    block = stretch.blocks[index]
    item = block.children[-1]
    below = stretch.blocks[index + 1 :]
    end = 0
    if below and (_is_answer(document, below[0]) or below[0].first == item.last + 1):
        end = _up_to(below, ("rule", "list")) or int(_is_answer(document, below[0]))
    if end:
        pass
    elif item.info and item.last <= item.children[0].last and len(block.children) == 1:
        end = next((i for i, b in enumerate(below) if _ends_item(document, b) or _is_next(item, b)), len(below))
    elif item.info and (following := next((b for b in below if _is_numbered(b)), None)):
        number = following.children[0].info
        if number.isdecimal() and item.info.isdecimal() and int(number) == int(item.info) + 1 > 1:
            end = _up_to(below, ("rule", "list"))
            if below[:1] != (following,) and below[0].kind == "list" and below[0].first == item.last + 1:
                # Bullets right below the last item of a list, which is not indented enough, are its answer.
                end = _up_to(below[1:], ("rule", "list")) + 1
    free = next((i for i, b in enumerate(below[:end]) if not document.free(b.first, b.last)), end)
    return below[:free]


def _is_next(item: Block, block: Block) -> bool:
    """Returns whether a paragraph begins with the number after that of an item."""
    if block.kind != "paragraph" or not item.info.isdecimal():
        return False
    numbers = (question_line(line).number for line in block.text.split("\n")[:2])
    return str(int(item.info) + 1) in numbers


def _ends_item(document: Document, block: Block) -> bool:
    """Returns whether a block below the only item of a list is no part of it."""
    if block.kind == "html":
        folded = document.answer_fold(block) is not None
        return not folded and not document.labels(block) and not _WRAPPER.match(document.source.line(block.first))
    return block.kind in ("rule", "table") or _is_numbered(block)


def _up_to(blocks: tuple[Block, ...], kinds: tuple[str, ...]) -> int:
    return next((index for index, block in enumerate(blocks) if block.kind in kinds), len(blocks))


def _is_answer(document: Document, block: Block) -> bool:
    """Returns whether a block begins with an answer label, or is an answer folded away."""
    first = next((inner for inner in block.walk() if inner.kind not in ("list", "item")), block)
    labels = document.labels(first)
    if labels and labels[0].line == block.first and labels[0].role == "answer":
        return True
    fold = document.answer_fold(block) if block.kind == "html" else None
    return fold is not None and fold.first == block.first


def _is_numbered(block: Block) -> bool:
    return block.kind == "list" and bool(block.children and block.children[0].info)


def _item(document: Document, stretch: Stretch, item: Block, depth: int, loose: tuple[Block, ...]) -> Start:
    first = item.children[0]
    text = first.text if first.kind in ("paragraph", "heading") else ""
    asked, said = parted(text) if first.kind == "paragraph" else (text, "")
    if said and "\n" not in text and _is_marked_answer(document, (*item.children[1:2], *loose[:1])):
        # In `What is a view? Name two.` above a quote, all of the line asks.
        asked, said = text, ""
    if "\n" in text and not said:
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
        said,
        bold=first.kind == "heading" or unbold(asked) != asked.strip(),
        block=item,
        own_last=first.last,
        document=document,
    )


def _is_marked_answer(document: Document, below: tuple[Block, ...]) -> bool:
    """Returns whether the first block below an item is an answer by its form: a quote, a label or a fold."""
    return bool(below) and (below[0].kind == "quote" or _is_answer(document, below[0]))


# Lines of their own: bold, numbered, or plain above options or an answer


@dataclass(frozen=True, slots=True)
class _AskingLine:
    """The question in a paragraph."""

    stem: QuestionLine
    title: str = ""
    said: str = ""
    """Text after the question in its line."""
    bold: bool = False
    count: int = 1
    """Number of lines."""


def _lines(document: Document, stretch: Stretch, *, escapes: bool) -> Iterator[Start]:
    found = [
        (index, line)
        for index, block in enumerate(stretch.blocks)
        if block.kind == "paragraph" and document.free(block.first, block.last) and (line := _line(block))
    ]
    kept = [
        (index, line)
        for index, line in found
        if (escapes and _ESCAPED.match(stretch.blocks[index].text)) or _may_ask(document, stretch, index, line)
    ]
    kept = _with_answered(document, stretch, _without_parts_of_labeled(kept))
    ends = [index for index, _ in kept[1:]] + [len(stretch.blocks)]
    for (index, line), end in zip(kept, ends, strict=False):
        block = stretch.blocks[index]
        below = stretch.blocks[index + 1 : end]
        last = block.first + line.count - 1
        free = next((i for i, b in enumerate(below) if not document.free(b.first, b.last)), len(below))
        body = without_footer(without_rules(below[:free]), said=last < block.last or bool(line.said))
        yield Start(
            "line",
            0,
            stretch.first,
            block.first,
            last,
            line.stem,
            body[-1].last if body else block.last,
            stretch.headings,
            body,
            line.said,
            line.title,
            line.bold,
            block=block,
            above_first=index > 0,
            own_last=block.last,
            document=document,
        )


_FEWEST_LABELED = 2
"""Fewest bold lines such as `Question 2` below a heading that say where its questions start."""


def _without_parts_of_labeled(kept: list[tuple[int, _AskingLine]]) -> list[tuple[int, _AskingLine]]:
    """Returns the lines without the plain ones below the first of several in bold such as `Question 2`: its parts."""
    labeled = [index for index, line in kept if line.bold and line.stem.labeled and line.stem.number]
    if len(labeled) < _FEWEST_LABELED:
        return kept
    return [(index, line) for index, line in kept if line.bold or line.stem.number or index < labeled[0]]


_FEWEST_ANSWERED = 3
"""Fewest lines above an answer label from which another line between two answers asks."""


def _with_answered(
    document: Document, stretch: Stretch, kept: list[tuple[int, _AskingLine]]
) -> list[tuple[int, _AskingLine]]:
    """Returns the lines that ask and, if several stand right above an answer label, each other line between the answer
    to one of them and another answer label."""
    blocks = stretch.blocks
    answers = [index for index, block in enumerate(blocks) if _is_answer(document, block)]
    asking = {index for index, _ in kept}
    sure = sum(index - 1 in asking for index in answers)
    if sure < _FEWEST_ANSWERED or sure == len(answers):
        return kept
    starts = sorted(asking)
    more: list[tuple[int, _AskingLine]] = []
    for before, answer in pairwise(answers):
        block = blocks[answer - 1]
        lone = block.kind == "paragraph" and "\n" not in block.text and document.free(block.first, block.last)
        unasked = bisect_left(starts, before) == bisect_left(starts, answer)
        if lone and unasked and answer - before > 1:
            more.append((answer - 1, _AskingLine(question_line(block.text))))
    return sorted((*kept, *more), key=lambda one: one[0]) if len(more) <= sure else kept


_ESCAPED = re.compile(r"[ ]{0,3}\d{1,4}\\[.)]")
"""A number that the author did not want to be that of a list."""
_FEWEST_ESCAPED = 5


def _escapes_numbers(document: Document) -> bool:
    """Returns whether the paragraphs of a document have numbers of their own, with an escaped period."""
    escaped = (block for block in document.blocks if block.kind == "paragraph" and _ESCAPED.match(block.text))
    return sum(1 for _ in escaped) >= _FEWEST_ESCAPED


def _may_ask(document: Document, stretch: Stretch, index: int, line: _AskingLine) -> bool:
    stem = line.stem
    if line.bold and (stem.number or reads_as_question(stem.text)):
        return True
    following = stretch.blocks[index + 1 : index + 2]
    if line.bold and not line.title and following and _is_answer(document, following[0]):
        return True
    return _is_sure(document, stretch, index, stem, stretch.blocks[index])


def _is_sure(document: Document, stretch: Stretch, index: int, stem: QuestionLine, block: Block) -> bool:
    """Returns whether options, a label or a fold right below a plain line show that it asks."""
    asks = ends_asking(stem.text)
    if begins_with_box(block.text.partition("\n")[2].partition("\n")[0]):
        return not begins_with_box(block.text.partition("\n")[0])
    body = stretch.blocks[index + 1 : index + 5]
    if not stem.number and not reads_as_question(stem.text):
        # `The letter of the smallest is:` above lettered options with a mark asks too.
        run = options_in("\n\n".join(b.text for b in body).split("\n")) if stem.text.endswith((":", "：")) else None
        return run is not None and run.start == 0 and any(option.marked for option in run.options)
    if stem.number and may_hold_options(stem.text) and options_in([stem.text]) is not None:
        return True
    if (asks or stem.number) and find_answer(document, (block, *body), first=block.first + 1) is not None:
        return True
    if block.first == block.last and body and _is_answer(document, body[0]):
        return True
    said = block.text.partition("\n")[2]
    shown = (said, *(document.source.text(b.first, b.last) for b in body if b.kind in ("list", "paragraph")))
    text = "\n".join(shown)
    return bool(body or said) and "\n" in text and may_hold_options(text) and options_in(text.split("\n")) is not None


def _line(block: Block) -> _AskingLine | None:
    """Returns the question in a paragraph, if it may be one."""
    found = BOLD_LINE.fullmatch(_bold_once(block.text))
    if found is None:
        first, _, below = block.text.partition("\n")
        stem = question_line(first)
        boxed = begins_with_box(below.partition("\n")[0])
        asks = reads_as_question(first) or first.endswith((":", "："))
        return _AskingLine(stem) if boxed or asks or stem.number else None
    rest = found["rest"]
    stem = question_line(found["bold"])
    lines = found["bold"].count("\n") + 1
    same = rest.partition("\n")[0]
    if not same.strip(" .:："):
        return _AskingLine(stem, bold=True, count=lines)
    said = same.lstrip(" .:：–—-")
    # `**3) A title**. The question` and `**3.** The question`
    if found["bold"].strip().rstrip(".:)：").isdecimal():
        return _AskingLine(question_line(f"{found['bold']} {said}"), bold=True, count=lines)
    if ends_asking(found["bold"]):
        return _AskingLine(stem, said=same.strip(), bold=True, count=lines)
    if not stem.number:
        return None
    whole = rest.lstrip(" .:：–—-")
    asked = QuestionLine(stem.number, whole, stem.links, stem.level, stem.labeled)
    return _AskingLine(asked, title=stem.text.rstrip(".:："), bold=True, count=block.text.count("\n") + 1)


def _bold_once(text: str) -> str:
    """Returns a paragraph whose first lines are bold one by one as if they were bold together."""
    lines = text.split("\n")
    bold = [*takewhile(bool, map(_BOLD_ALONE.fullmatch, lines))]
    texts = [found["text"].strip() for found in bold if found]
    parts = (ends_asking(one) or bool(question_line(two).number) for one, two in pairwise(texts))
    texts = texts[: next((index for index, ends in enumerate(parts, 1) if ends), len(texts))]
    if len(texts) < 2:
        return text
    together = "\n".join(texts)
    return "\n".join((f"**{together}**", *lines[len(texts) :]))


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
        said = _until(document, fold, end) if nested else fold_text(document.source, fold)
        yield Start(
            "fold",
            min(fold.depth, 1),
            stretch.first,
            fold.first,
            fold.first,
            question_line(fold.summary),
            end,
            stretch.headings,
            said=said,
            fold=fold,
            document=document,
        )


def _until(document: Document, fold: Fold, last: int) -> str:
    """Returns the text of a fold up to a line, before the folds inside it."""
    first = fold.body[0]
    lines = [document.source.line(number) for number in range(first, last + 1)]
    return unwrapped("\n".join((lines[0][fold.start :], *lines[1:]))) if lines else ""
