"""Finds lines of their own where a question may start: bold, numbered, or plain above options or an answer."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from questions.patterns.answers import begins_answer, find_answer, without_footer, without_separators
from questions.patterns.options.search import begins_with_box, may_hold_options, options_in
from questions.patterns.starts.start import Start
from questions.wording.imperatives import asks_or_demands
from questions.wording.labels import is_question_word, only_announces_answer, only_announces_question
from questions.wording.stems import (
    BOLD_LINE,
    QuestionLine,
    ends_asking,
    question_line,
    reads_as_question,
    without_break,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from questions.blocks import Block
    from questions.document import Document, Stretch

_BOLD_ALONE = re.compile(r"[ ]{0,3}(?P<mark>\*\*|__)(?P<text>(?:(?!(?P=mark)).){1,600})(?P=mark)[ ]*")
"""A line that is bold as a whole."""

_GAP = re.compile(r"(?<!\\)_{3,}(?=[ .,;:?!]|$)")
"""A gap to fill in, in a line that asks without a question mark."""


@dataclass(frozen=True, slots=True)
class _AskingLine:
    """The question in a paragraph."""

    stem: QuestionLine
    title: str = ""
    rest: str = ""
    """Text after the question in its line."""
    bold: bool = False
    count: int = 1
    """Number of lines."""


def find_lines(document: Document, stretch: Stretch, *, escapes: bool) -> Iterator[Start]:
    announced, answered = _announced(document, stretch), _answered(document, stretch)

    def read(index: int, block: Block) -> _AskingLine | None:
        if index in answered:
            return _first_line(block)
        return _line(block) or (_AskingLine(question_line(block.text)) if index in announced else None)

    found = [
        (index, line)
        for index, block in enumerate(stretch.blocks)
        if block.kind == "paragraph" and document.free(block.first, block.last) and (line := read(index, block))
    ]
    kept = [
        (index, line)
        for index, line in found
        if index in announced
        or index in answered
        or (escapes and _ESCAPED.match(stretch.blocks[index].text))
        or _may_ask(document, stretch, index, line)
    ]
    kept = _with_answered(document, stretch, _without_parts_of_labeled(kept))
    firsts = [announced.get(index, index) for index, _ in kept]
    ends = [*firsts[1:], len(stretch.blocks)]
    for (index, line), begin, end in zip(kept, firsts, ends, strict=False):
        block = stretch.blocks[index]
        below = stretch.blocks[index + 1 : end]
        last = block.first + line.count - 1
        free = next((i for i, b in enumerate(below) if not document.free(b.first, b.last)), len(below))
        body = without_footer(without_separators(below[:free]), answered=last < block.last or bool(line.rest))
        yield Start(
            "line",
            0,
            stretch.first,
            stretch.blocks[begin].first,
            last,
            line.stem,
            body[-1].last if body else block.last,
            stretch.headings,
            body,
            line.rest,
            line.title,
            line.bold,
            block=block,
            above_first=index > 0,
            own_last=block.last,
            document=document,
        )


def _first_line(block: Block) -> _AskingLine:
    """Returns the question in the first line of a paragraph, whatever its words."""
    first = block._replace(text=block.text.partition("\n")[0], last=block.first)
    return _line(first) or _AskingLine(question_line(first.text))


def _announced(document: Document, stretch: Stretch) -> dict[int, int]:
    """Returns the indices of the paragraphs below a line such as `**Question**` that ask or are answered, with the
    index of the paragraph that holds that line."""
    found: dict[int, int] = {}
    for index, block in enumerate(stretch.blocks):
        first, _, below = block.text.partition("\n") if block.kind == "paragraph" else ("", "", "")
        following = stretch.blocks[index + 1 : index + 2]
        if not only_announces_question(first) or not (below or (following and following[0].kind == "paragraph")):
            continue
        asked, at = (below, index) if below else (following[0].text, index + 1)
        answered = any(begins_answer(document, one) for one in stretch.blocks[at + 1 : at + _SOON])
        sure = answered and is_question_word(first)
        if (sure or asks_or_demands(asked)) and document.free(block.first, stretch.blocks[at].last):
            found[at] = index
    return found


def _answered(document: Document, stretch: Stretch) -> set[int]:
    """Returns the indices of the paragraphs whose second line begins with an answer label, if there are several and
    they do not ask: `The strides of a view` above `Answer: They differ.`"""
    found: set[int] = set()
    for index, block in enumerate(stretch.blocks):
        labels = document.labels(block) if block.kind == "paragraph" else ()
        if labels and (labels[0].role, labels[0].line) == ("answer", block.first + 1):
            found.add(index)
    return found if len(found) >= _FEWEST_ANSWERED else set()


_SOON = 4
"""Blocks below a question within which its answer begins."""
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
    """Returns the lines that ask and, if several are right above an answer label, each other line between the answer
    to one of them and another answer label; and all lines where lines and answers take turns."""
    blocks = stretch.blocks
    answers = [index for index, block in enumerate(blocks) if begins_answer(document, block)]
    if len(answers) < _FEWEST_ANSWERED or not answers[0]:
        return kept
    asking = {index for index, _ in kept}
    sure = sum(index - 1 in asking for index in answers)
    turns = _take_turns(document, blocks, answers)
    if sure == len(answers) or (sure < _FEWEST_ANSWERED and not turns):
        return kept
    starts = sorted(asking)
    more: list[tuple[int, _AskingLine]] = []
    for before, answer in pairwise((answers[0] - 2, *answers) if turns else answers):
        block = blocks[answer - 1]
        unasked = bisect_left(starts, before) == bisect_left(starts, answer)
        if unasked and answer - before > 1 and _is_lone(document, block):
            more.append((answer - 1, _AskingLine(question_line(block.text))))
    return sorted((*kept, *more), key=lambda one: one[0]) if turns or len(more) <= sure else kept


def _take_turns(document: Document, blocks: Sequence[Block], answers: list[int]) -> bool:
    """Returns whether a line of its own is above each answer, and nothing else is between two answers."""
    between = all(two - one == 2 for one, two in pairwise(answers))
    return between and all(_is_lone(document, blocks[index - 1]) for index in answers)


def _is_lone(document: Document, block: Block) -> bool:
    """Returns whether a block is a paragraph of one line that no question has yet."""
    return block.kind == "paragraph" and "\n" not in block.text and document.free(block.first, block.last)


_ESCAPED = re.compile(r"[ ]{0,3}\d{1,4}\\[.)]")
"""A number that the author did not want to be that of a list."""
_FEWEST_ESCAPED = 5


def escapes_numbers(document: Document) -> bool:
    """Returns whether the paragraphs of a document have numbers of their own, with an escaped period."""
    escaped = (block for block in document.blocks if block.kind == "paragraph" and _ESCAPED.match(block.text))
    return sum(1 for _ in escaped) >= _FEWEST_ESCAPED


def _may_ask(document: Document, stretch: Stretch, index: int, line: _AskingLine) -> bool:
    stem = line.stem
    if index and not stem.number and _continues(stretch.blocks[index - 1].text, stem.text):
        return False
    if line.bold and (stem.number or stem.level or reads_as_question(stem.text)):
        return True
    following = stretch.blocks[index + 1 : index + 2]
    if line.bold and not line.title and following and begins_answer(document, following[0]):
        return True
    return _is_sure(document, stretch, index, stem, stretch.blocks[index])


_UNFINISHED = ("$$", "\\]", ",")
"""Ends of a paragraph after which a sentence may go on."""


def _continues(above: str, text: str) -> bool:
    """Returns whether a line goes on with the sentence above it, such as `where $n$ is …` below a formula."""
    return text[:1].islower() and not ends_asking(text) and above.rstrip().endswith(_UNFINISHED)


def _is_sure(document: Document, stretch: Stretch, index: int, stem: QuestionLine, block: Block) -> bool:
    """Returns whether options, a label or a fold right below a plain line show that it asks."""
    gap = _GAP.search(stem.text) is not None
    asks = ends_asking(stem.text) or gap
    if begins_with_box(block.text.partition("\n")[2].partition("\n")[0]):
        return not begins_with_box(block.text.partition("\n")[0])
    body = stretch.blocks[index + 1 : index + 5]
    if not stem.number and not gap and not reads_as_question(stem.text):
        # `The letter of the smallest is:` above lettered options with a mark asks too.
        run = options_in("\n\n".join(b.text for b in body).split("\n")) if stem.text.endswith((":", "：")) else None
        return run is not None and run.start == 0 and any(option.marked for option in run.options)
    if stem.number and may_hold_options(stem.text) and options_in([stem.text]) is not None:
        return True
    if (asks or stem.number) and find_answer(document, (block, *body), first=block.first + 1) is not None:
        return True
    if block.first == block.last and body and begins_answer(document, body[0]):
        return True
    rest = block.text.partition("\n")[2]
    shown = (rest, *(document.source.text(b.first, b.last) for b in body if b.kind in ("list", "paragraph")))
    text = "\n".join(shown)
    several = "\n" in text or (bool(stem.number) and not body)
    return bool(body or rest) and several and may_hold_options(text) and options_in(text.split("\n")) is not None


def _line(block: Block) -> _AskingLine | None:
    """Returns the question in a paragraph, if it may be one."""
    first = block.text.partition("\n")[0]
    if only_announces_answer(first):
        return None
    if only_announces_question(first):
        below = block.text.partition("\n")[2]
        return _AskingLine(question_line(below), count=block.text.count("\n") + 1) if below else None
    found = BOLD_LINE.fullmatch(_bold_once(block.text))
    if found is None:
        first, _, below = block.text.partition("\n")
        stem = question_line(first)
        boxed = begins_with_box(below.partition("\n")[0])
        asks = reads_as_question(first) or first.endswith((":", "：")) or _GAP.search(first) is not None
        return _AskingLine(stem) if boxed or asks or stem.number else None
    rest = found["rest"]
    stem = question_line(found["bold"])
    lines = found["bold"].count("\n") + 1
    same = without_break(rest.partition("\n")[0].rstrip())
    if not rest.strip() and (alone := _NUMBER_ALONE.fullmatch(found["bold"].strip())):
        # What asks is below `**3.**`.
        return _AskingLine(QuestionLine(alone["number"], ""), bold=True)
    if not same.strip(" .:：") and not (stem.number and _PICTURES.fullmatch(rest)):
        return _AskingLine(stem, bold=True, count=lines)
    if _PICTURES.fullmatch(rest):
        # What a picture below shows is part of the question.
        pictures = rest.strip(" \\").strip()
        return _AskingLine(stem._replace(text=f"{stem.text}\n{pictures}"), bold=True, count=block.text.count("\n") + 1)
    after = same.lstrip(" .:：–—-")
    # `**3) A title**. The question` and `**3.** The question`
    if found["bold"].strip().rstrip(".:)：").isdecimal():
        return _AskingLine(question_line(f"{found['bold']} {after}"), bold=True, count=lines)
    if ends_asking(found["bold"]):
        return _AskingLine(stem, rest=_DASH.sub("", same.strip()), bold=True, count=lines)
    if not stem.number:
        return None
    whole = rest.lstrip(" .:：–—-")
    title = stem.text.rstrip(".:：")
    # `**5. Question:** …` is a label with a number.
    labeled = is_question_word(title)
    asked = QuestionLine(stem.number, whole, stem.links, stem.level, labeled or stem.labeled)
    return _AskingLine(asked, title="" if labeled else title, bold=True, count=block.text.count("\n") + 1)


_NUMBER_ALONE = re.compile(r"(?P<number>\d{1,3})[.)]")
_PICTURES = re.compile(r"[ ]*\\?\s*(?:!\[[^\[\]]{0,200}\]\([^()\s]{1,500}\)\s*){1,5}")
_DASH = re.compile(r"^[–—-]{1,2}[ ]+")
"""What separates a question in bold from an answer in its line."""


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
