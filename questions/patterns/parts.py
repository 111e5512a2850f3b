"""Splits the lines of a place that was chosen into prompt and answer."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from questions.blocks import content_column, dedent_all
from questions.patterns.answers import (
    FoundAnswer,
    find_answer,
    is_rule,
    without_footer,
    without_front_matter,
    without_separators,
)
from questions.patterns.metadata import read_metadata
from questions.patterns.options.search import RIGHT_AFTER, may_hold_options, options_in
from questions.patterns.starts.start import Start
from questions.source import trim
from questions.wording.imperatives import asks_or_demands
from questions.wording.labels import SIGN, label_of, text_after
from questions.wording.part_titles import POINTS
from questions.wording.stems import asks_to_choose, ends_asking, reads_as_question, unbold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.blocks import Block
    from questions.document import Document
    from questions.model import Level


class Parts(NamedTuple):
    """A question before its options are read."""

    last: int
    prompt: str
    answer: str
    labeled: bool
    title: str = ""
    level: Level | None = None
    tags: tuple[str, ...] = ()


def split_parts(
    document: Document, start: Start, limit: int, *, titled: bool, is_last: bool, mostly_bare: bool
) -> Parts:
    """Splits the lines of a start up to line `limit`.

    `titled`: whether the paragraph below asks. `is_last`: whether it is the last of its candidate. `mostly_bare`:
    whether most questions of the candidate have no text below them.
    """
    if start.label is not None:
        return _of_label(document, start, limit)
    if start.fold is not None:
        return Parts(start.end, start.stem.text, start.said, labeled=False)
    body = _body(document, start, limit, is_last=is_last)
    last = body[-1].last if body else max(start.last, min(start.own_last, limit))
    first, meta = read_metadata(document, start, body)
    if start.kind == "heading" and _END_TAG.fullmatch(document.source.line(first)):
        # A tag around the heading ends in the next line.
        first += 1
    parts = Parts(last, "", "", labeled=False, title=start.title, level=meta.level, tags=meta.tags)
    stem = start.stem.text
    if meta.asked or titled:
        parts, stem = parts._replace(title=stem), ""
    answer = _answer_until(document, start, body, last)
    if answer:
        shown = _OPEN_TAGS.sub("", _shown_before(document, start, first, answer))
        shown, reason = _without_reason(shown)
        prompt = _joined(stem, shown if stem else _unbold_first(shown))
        return parts._replace(prompt=prompt, answer=_joined(answer.text, reason), labeled=True)
    if not parts.title and _is_title(start, body, first):
        parts, stem = parts._replace(title=stem), ""
    if stem:
        shown = _joined(start.said, _text(document, start, first, last))
    else:
        stem, shown = _prompt_below(document, start, body, first, last)
    if not is_last and start.kind == "item" and _is_section_title(document, start, last, bare=mostly_bare):
        return parts._replace(last=start.last, prompt=stem)
    if _belongs_to_prompt(start, body, shown, mostly_bare=mostly_bare):
        return parts._replace(prompt="\n\n".join((stem, shown)))
    return parts._replace(prompt=stem, answer=shown)


def _answer_until(document: Document, start: Start, body: tuple[Block, ...], last: int) -> FoundAnswer | None:
    """Returns the answer with a label that begins up to line `last`."""
    if start.kind == "item":
        answer = start.answer
    elif start.kind == "heading" and start.answer is None:
        answer = None
    else:
        own = (start.block, *body) if start.kind in ("line", "paragraph") and start.block else body
        answer = find_answer(document, own, first=start.last + 1)
    return answer if answer and answer.first <= last else None


def _shown_before(document: Document, start: Start, first: int, answer: FoundAnswer) -> str:
    """Returns the text between a start and its answer."""
    if answer.first == start.first:
        return ""
    return _joined(start.said, _text(document, start, first, answer.first - 1))


_REASON = re.compile(r"(?m)^[ ]{0,3}(?:\*\*|__)[^*_\n]{4,40}[:：](?:\*\*|__)[ ]*$")
"""A label in a line of its own."""


def _without_reason(shown: str) -> tuple[str, str]:
    """Returns a text above a labeled answer up to the label of an explanation, and what follows it: it belongs to the
    answer. Lettered options above it are read together with it."""
    for found in _REASON.finditer(shown):
        label = label_of(found[0])
        if label and label.role == "explanation" and shown[: found.start()].strip():
            asked = shown[: found.start()].rstrip()
            lettered = may_hold_options(asked) and options_in(asked.split("\n")) is not None
            return (shown, "") if lettered else (asked, shown[found.start() :])
    return shown, ""


def _prompt_below(document: Document, start: Start, body: tuple[Block, ...], first: int, last: int) -> tuple[str, str]:
    """Returns the prompt of a start that does not ask itself, and the text below the prompt."""
    if start.kind == "line" and start.block and start.block.last > start.last:
        # The rest of the paragraph below a line that is only a number.
        end = start.block.last
        return _text(document, start, first, end), _text(document, start, end + 1, last)
    asked = next((block for block in body if block.first >= first and not _POINTS.fullmatch(block.text)), None)
    if asked is None:
        return "", _text(document, start, first, last)
    first = asked.first
    if start.kind == "heading" and not ends_asking(asked.text):
        asked = _asked_after(asked, body)
    prompt = _unbold_first(_text(document, start, first, asked.last))
    return prompt, _text(document, start, asked.last + 1, last)


def _joined(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)


def _asked_after(given: Block, body: tuple[Block, ...]) -> Block:
    """Returns the paragraph that asks after what is given, at its end, or right below it or to choose above a list; or
    `given`."""
    only_given = not reads_as_question(given.text)
    for before, block, below in zip((None, *body[:-1]), body, (*body[1:], None), strict=True):
        if block.kind != "paragraph" or block.first <= given.first:
            continue
        lists = below is not None and below.kind in ("list", "html")
        beside = before is given and ends_asking(block.text)
        if (lists and (asks_to_choose(block.text) or beside)) or (only_given and ends_asking(block.text)):
            return block
    return given


def _is_section_title(document: Document, start: Start, last: int, *, bare: bool) -> bool:
    """Returns whether all that is below an item is a line of its own, at the margin, that names the items below it: in
    bold with a colon, or, if most items are `bare`, without an end of a sentence."""
    below = [line for number in range(start.last + 1, last + 1) if (line := document.source.line(number)).strip()]
    if start.said or len(below) != 1:
        return False
    if _BOLD_TITLE.fullmatch(below[0]):
        return True
    return bare and below[0][:1].isalpha() and not below[0].rstrip().endswith((".", "?", "!", ":", ";", ",", "。"))


_BOLD_TITLE = re.compile(r"(?P<mark>\*\*|__)[^*_\n]{1,60}(?:[:：](?P=mark)|(?P=mark)[:：])[ ]*")
_POINTS = re.compile(rf"[*_(\[]{{0,4}}{POINTS}[.*_)\]]{{0,4}}(?:[ ]\(\?\))?", re.IGNORECASE)
"""A paragraph that only says how many points a question earns."""


def are_graded(starts: Sequence[Start], read: Sequence[Parts]) -> bool:
    """Returns whether questions whose headings are only numbers are an exam without answers: most begin with a line
    that says how many points they earn, and nothing marks an answer."""
    bare = [start for start in starts if start.kind == "heading" and not start.stem.text and start.body]
    graded = sum(_POINTS.fullmatch(start.body[0].text) is not None for start in bare)
    unmarked = not any(parts.labeled for parts in read)
    return len(starts) >= _FEWEST_GRADED and unmarked and graded * 3 >= len(starts) * 2


_FEWEST_GRADED = 3
_END_TAG = re.compile(r"[ ]*</(?:a|span|b|strong|font|center)>[ ]*", re.IGNORECASE)
_OPEN_TAGS = re.compile(r"(?:(?:^|\n)[ ]{0,8}<(?:div|p|span|section)\b[^<>\n]{0,200}>[ \t\n]{0,8})+$")
"""HTML at the end of a prompt that only opens what is around the answer."""


def _of_label(document: Document, start: Start, limit: int) -> Parts:
    label, last = start.label, min(start.end, limit)
    # What is above the next label in its own paragraph, such as a source, belongs to the next question.
    body = [block for block in start.body if block.last <= last or (label and block.first <= label.line)]
    if body and len(body) < len(start.body):
        last = min(last, max(block.last for block in without_separators(tuple(body))))
    answers = [
        one
        for block in body
        for one in document.labels(block)
        if label and label.line < one.line <= last and one.role != "question"
    ]
    answer = next((one for one in answers if one.role == "answer"), answers[0] if answers else None)
    found = find_answer(document, tuple(body)) if answer is None else None
    if answer is not None:
        found = FoundAnswer(text_after(document.source, answer, last), answer.line)
    before = found.first - 1 if found else last
    prompt = unbold(text_after(document.source, label, before)) if label else ""
    if label and found is None:
        if label.word == SIGN and label.closing:
            # A line in emphasis with the sign is the whole question.
            asked, _, rest = prompt.partition("\n")
            return Parts(last, asked, trim(rest), False, start.title)
        asked, rest = _parted_below(prompt, closed=bool(label.closing))
        return Parts(last, asked, rest, False, start.title)
    return Parts(last, prompt, found.text if found else "", True, start.title)


_ARROW = re.compile(r"(?:[→➜➡⇒]\ufe0f?|[-=]>(?=[ ]))[ ]*")
_SAYS = re.compile(
    r"(?:>[ ]?)?(?:[→➜➡⇒]|[-=]>[ ]|\*\*|\*-[ ]|\*(?=[^\W\d_]|`)(?![^*\n]{1,30}[:：])|`(?!`)|[^\W\d_](?![).])|[\"'“])"
)
"""Beginning of a paragraph that may answer; programs, lists, tables and pictures may be part of the question, and so
may a word in emphasis with a colon: `*Level:* senior`."""
_LISTS = re.compile(r"[-*+][ \t]+\S|\((?!\w{1,2}\))")
"""Beginning of a list or an aside, which answers a question that ends in its own line. Numbered lists are often options
without a key."""


def _parted_below(text: str, *, closed: bool) -> tuple[str, str]:
    """Returns the line that asks and the paragraphs below it, if they answer it without a label.

    `closed`: whether emphasis ends with the line that asks.
    """
    first, _, below = text.partition("\n")
    rest = trim(below)
    opening = rest.partition("\n")[0]
    lists = ends_asking(first) and _LISTS.match(opening) is not None and options_in(rest.split("\n")) is None
    apart = below.startswith("\n") and reads_as_question(first) and not _GIVES.search(first)
    if not (closed or apart or ends_asking(first) or opening.startswith("**")) or not (lists or _SAYS.match(opening)):
        return text, ""
    if any(map(ends_asking, rest.split("\n\n"))):
        return text, ""
    arrow = _ARROW.match(rest)
    return unbold(first), rest[arrow.end() :] if arrow else rest


def with_tasks_answered(read: list[Parts]) -> list[Parts]:
    """Returns the parts of labeled questions; where the text below most of them answers, it answers a task too:
    `Q2: Explain views.`"""
    answered = sum(bool(parts.answer) for parts in read)
    if answered < _FEWEST_ANSWERED or answered * 3 < len(read) * 2 or any(parts.labeled for parts in read):
        return read
    return [parts if parts.answer else _with_task_answered(parts) for parts in read]


_FEWEST_ANSWERED = 3
"""Fewest questions with an answer below them, which must be two thirds of all."""


def _with_task_answered(parts: Parts) -> Parts:
    first, _, below = parts.prompt.partition("\n")
    answer = trim(below)
    apart = below.startswith("\n") and _SAYS.match(answer) is not None
    if not apart or not asks_or_demands(first) or _GIVES.search(first) or any(map(ends_asking, answer.split("\n\n"))):
        return parts
    return parts._replace(prompt=first, answer=answer)


_GIVES = re.compile(r"[:：]\W*$|\b(?:following|below)\b", re.IGNORECASE)
"""What a task says of the text below if that belongs to the task."""


def _body(document: Document, start: Start, limit: int, *, is_last: bool) -> tuple[Block, ...]:
    body = start.body
    if body and body[-1].first > limit:
        body = tuple(block for block in body if block.first <= limit)
    if start.kind == "heading":
        body = without_separators(without_front_matter(document.source, body))
        body = _up_to_link(_up_to_rules(body)) if is_last else body
        return without_footer(body) if is_last or limit == start.end else body
    return body


def _up_to_rules(body: tuple[Block, ...]) -> tuple[Block, ...]:
    """Returns the blocks of the last question up to two rules in a row, below which something else begins."""
    pairs = enumerate(pairwise(body))
    end = next((at for at, (one, two) in pairs if at and is_rule(one) and is_rule(two)), len(body))
    return body[:end]


def _up_to_link(body: tuple[Block, ...]) -> tuple[Block, ...]:
    """Returns the blocks of the last question without a heading that only leads elsewhere: it is a link, and below it
    are at most tags and pictures."""
    at = next((at for at in range(len(body) - 1, 0, -1) if body[at].kind == "heading"), 0)
    if not at or not _LINK_LAST.search(body[at].text[-_LONGEST_LINK:]):
        return body
    silent = all(block.kind == "html" and not _TAG.sub("", block.text).strip() for block in body[at + 1 :])
    return body[:at] if silent else body


_TAG = re.compile(r"<[^<>]{1,800}>")
_LINK_LAST = re.compile(r"\]\([^()\s]{1,300}\)[ ]*$")
_LONGEST_LINK = 310
"""Length of the end of a heading that may be a link, characters."""


def _text(document: Document, start: Start, first: int, last: int) -> str:
    if start.kind != "item":
        return document.source.text(first, last)
    own, column = start.block.last if start.block else last, _column_of(start)
    if last <= own:
        return _text_of(document, first, last, column)
    # What follows an item and belongs to it is indented less, or not at all.
    below = [line for line in map(document.source.line, range(max(first, own + 1), last + 1)) if line.strip()]
    less = min((len(line) - len(line.lstrip(" ")) for line in below), default=0)
    parts = [_text_of(document, first, own, column)] if first <= own else []
    parts.append(_text_of(document, max(first, own + 1), last, min(less, column)))
    return "\n\n".join(part for part in parts if part)


def _text_of(document: Document, first: int, last: int, column: int) -> str:
    """Returns the Markdown of some lines of a list item without its indentation, also where all of them are indented
    more than the item needs."""
    lines = list(dedent_all((document.source.line(number) for number in range(first, last + 1)), column))
    more = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    return "\n".join(dedent_all(lines, more) if more < _CODE else lines).strip("\n").rstrip()


_CODE = 4
"""Spaces from which an indented line is a program."""


def _column_of(start: Start) -> int:
    """Returns the column where the text of an item starts."""
    return content_column(start.document.source.line(start.first)) if start.document else 0


def _unbold_first(asked: str) -> str:
    """Returns the text with its first paragraph freed from bold marks around all of it."""
    first, gap, others = asked.partition("\n\n")
    return unbold(first) + gap + others


def _is_title(start: Start, body: tuple[Block, ...], first: int) -> bool:
    """Returns whether a heading only names what the paragraph right below it asks."""
    below = next((block for block in body if block.first >= first), None)
    if start.kind != "heading" or start.asks or below is None or below.kind != "paragraph":
        return False
    return ends_asking(below.text)


_BLANK_LINE = re.compile(r"_{6,}|\.{12,}")


def _is_table_to_fill(text: str) -> bool:
    """Returns whether a text is nothing but a table in whose rows most have an empty cell."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    if len(lines) < _FEWEST_ROWS or not all(line.startswith("|") for line in lines):
        return False
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return sum(not all(cells) for cells in rows) * 2 > len(rows)


_FEWEST_ROWS = 4
"""Fewest lines of a table to fill in, with the two of its header."""


def _belongs_to_prompt(start: Start, body: tuple[Block, ...], shown: str, *, mostly_bare: bool) -> bool:
    """Returns whether the text below a question keeps asking: sub-questions, or a form to fill in."""
    if not shown:
        return False
    if _BLANK_LINE.search(shown) or _is_table_to_fill(shown):
        return True
    lists = [block for block in body if block.kind == "list"]
    if start.bold and start.kind == "item":
        # A list below an item in bold, in another form, says something about it.
        mostly_bare = False
    if _only_asks(shown):
        return True
    if start.said and not body and mostly_bare and start.kind == "item":
        return True
    if _STATEMENTS.search(start.stem.text) and body and len(lists) == len(body):
        return True
    if start.said or not body or len(lists) != len(body):
        return mostly_bare and bool(body) and not start.said and all(block.kind in ("list", "fence") for block in body)
    items = [item.children[0].text for block in lists for item in block.children if item.children]
    if sum(RIGHT_AFTER.search(item) is not None for item in items) == 1 < len(items):
        # A mark shows that these are options, even if all of them ask.
        return False
    asking = sum(map(ends_asking, items)) * 2
    return mostly_bare or asking > len(items) or (asking == len(items) > 0 and all(map(reads_as_question, items)))


_STATEMENTS = re.compile(
    r"(?:\bfollowing|folgende[nr]?|suivantes|siguientes|seguintes|seguenti|следующи[ех]|following)[ ]"
    r"(?:statements?|claims?|aussagen?|behauptungen?|affirmations|afirmaciones|afirmações|affermazioni|утверждени[яй])"
    r"[^:：\n]{0,40}[:：]\W*$|(?:affirmations|afirmaciones|afirmações|affermazioni)[ ](?:suivantes|siguientes|seguintes"
    r"|seguenti)[^:：\n]{0,40}[:：]\W*$|(?:下列|以下)(?:各)?(?:说法|叙述|命题|陈述)[^:：\n]{0,20}[:：]\W*$",
    re.IGNORECASE,
)
"""The end of a task about statements, which are below it: `Assess the following statements:`."""
_DEEPER = re.compile(r"[ \t]*(?:\*{2,5}|-{2,5}|\.{2,5})[ \t]+(?P<text>\S.*)")
"""An item of a deeper list in AsciiDoc."""


def _only_asks(text: str) -> bool:
    """Returns whether a text is a list of AsciiDoc below its item, and most of it asks: questions that follow up."""
    items = [_DEEPER.fullmatch(line) for line in text.split("\n")] if text[:2] in ("**", "--", "..") else []
    texts = [item["text"] for item in items if item]
    return len(texts) == len(items) > 0 and sum(map(ends_asking, texts)) * 2 > len(texts)
