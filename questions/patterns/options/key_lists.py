"""Reads lists of keys: `Answer Key`, `1. b`, at the end of a chapter or document, and gives each to its question.

A key is given by number to the questions before the list. Where numbers begin again in each section, the list repeats
the sections' titles. A key that fits two questions, or none of the options of its question, is given to nobody.
"""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING

from questions.blocks import plain
from questions.patterns.options.choices import truth_choice
from questions.patterns.options.keys import key_of
from questions.patterns.options.search import FoundOption
from questions.patterns.tables import answer_in_row
from questions.source import Finding, trim
from questions.wording.labels import ANSWER_WORDS, announces_keys, is_placeholder, label_of, text_after
from questions.wording.stems import ends_asking, question_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.blocks import Block, Fold
    from questions.document import Document
    from questions.model import Question
    from questions.wording.labels import Label, Role

_ENTRY = re.compile(
    r"[ ]{0,3}(?:[-*+|][ ]+)?(?:\*\*|__)?(?:q(?:uestion)?[ ]?|问题|题|№)?(?P<number>\d{1,4})(?:\*\*|__)?"
    r"(?:[ ]?(?:[.):：、．）]|-|–|—|→|=)|[ ]{0,30}\|)(?:\*\*|__)?[ ]*"
    rf"(?:(?:{ANSWER_WORDS})[ ]+(?=[A-J](?:\*\*|__|[ ]?[-–—.:,]|[ ]*$)))?(?P<text>\S.*)",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"(?<![\w.])(?P<number>\d{1,4})[ ]?[.):：、．-]?[ ]?(?P<key>[A-Ja-j](?:[ ]?[,/&][ ]?[A-J])*)(?![\w'’])"
)
_SHORT_KEY = re.compile(
    r"[*_`(\[]{0,4}(?:[A-Ja-j](?:[ ]?(?:[,/&]|and)?[ ]?[A-J]){0,5}|true|false|yes|no|verdadero|falso|verdadeiro"
    r"|vrai|faux|wahr|falsch"
    r"|верно|неверно|да|нет|对|错|正确|错误)(?![\w'’]).*",
    re.IGNORECASE | re.DOTALL,
)
_LETTER_FIRST = re.compile(r"[ \t]*(?:[-*+][ ]+)?[(]?[A-Ja-j][.):][ ]*\S")
_KEY_IN_HEADING = re.compile(r"[*_`]{0,3}[(]?[A-J](?:[.):][*_`]{0,3}[ ]|[*_`]{0,3}(?:[ ][-–—][ ]|$))")
"""A letter, maybe with the text of the option: `**B. a copy**`."""
_RULE = re.compile(r"[ ]{0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*")
_FEWEST = 2


@dataclass(frozen=True, slots=True)
class KeyList:
    """A part of a document with the keys of several questions."""

    first: int
    last: int
    keys: tuple[tuple[str, str, int], ...]
    """Number, text and line of each; without numbers, they are in the order of the questions."""
    sections: tuple[tuple[int, str], ...] = ()
    """Line and title of each heading inside."""

    def section_of(self, line: int) -> str:
        """Returns the title above a line of the list; empty if there is none."""
        return next((title for first, title in reversed(self.sections) if first < line), "")


def find_key_lists(document: Document) -> tuple[KeyList, ...]:
    """Returns the lists of keys under headings, in folds and in lines that announce them."""
    titles = [block for block in document.blocks if block.kind == "heading" and announces_keys(block.text)]
    found: list[KeyList] = []
    held = {one.first: tuple(_keys(document, one.last + 1, _end(document, one))) for one in titles}
    titles = [one for one in titles if held[one.first]]
    for heading in titles:
        if found and heading.first <= found[-1].last:
            continue
        last = _end(document, heading)
        keys = held[heading.first]
        short = sum(_SHORT_KEY.fullmatch(text.partition("\n")[0]) is not None for _, text, _ in keys)
        if _mostly_ask(keys):
            continue
        if len(keys) >= _FEWEST and (short * 2 >= len(keys) or (len(titles) == 1 and len(keys) > _FEWEST)):
            found.append(KeyList(heading.first, last, keys, tuple(_sections(document, heading.last + 1, last))))
    for fold in _innermost(document.layout.folds):
        keys = tuple(_keys(document, fold.body[0], fold.body[1]))
        short = sum(_SHORT_KEY.fullmatch(text.partition("\n")[0]) is not None for _, text, _ in keys)
        if (
            len(keys) >= _FEWEST
            and short == len(keys)
            and not any(one.first <= fold.first <= one.last for one in found)
        ):
            found.append(KeyList(fold.first, fold.last, keys))
    answers = sum(label.role == "answer" for labels in document.layout.labels.values() for label in labels)
    for block in document.blocks:
        if block.kind == "paragraph" and (labels := [one for one in document.labels(block) if one.role == "answer"]):
            behind = text_after(document.source, labels[0], block.last)
            found += _in_line(document, labels[0], block.last, behind, alone=answers == 1)
        elif block.kind == "heading" and (label := label_of(block.text, block.first)) and label.role == "answer":
            found += _in_line(document, label, block.last, block.text[label.end :], alone=not answers)
    return tuple(sorted(found, key=lambda one: one.first))


def _mostly_ask(keys: tuple[tuple[str, str, int], ...]) -> bool:
    """Returns whether these are the questions themselves, under a heading such as `Questions and Answers`: most of them
    ask, are headings in a list, or have an answer with a label below them."""
    lines = [text.split("\n", 3) for _, text, _ in keys]
    asking = sum(ends_asking(one[0]) or one[0].startswith("#") or any(map(_is_answer, one[1:3])) for one in lines)
    return asking * 2 > len(keys)


def _is_answer(line: str) -> bool:
    label = label_of(line)
    return label is not None and label.role == "answer"


def _innermost(folds: tuple[Fold, ...]) -> Iterator[Fold]:
    """Yields the folds that hold no other, so that no line is looked at twice."""
    for fold, following in zip(folds, [*folds[1:], None], strict=False):
        if following is None or following.first > fold.last or following.depth <= fold.depth:
            yield fold


def _end(document: Document, heading: Block) -> int:
    """Returns the last line below a heading; headings of questions inside are deeper."""
    following = (
        b.first for b in _below(document, heading.first + 1) if b.kind == "heading" and b.level <= heading.level
    )
    return next(following, len(document.source.lines) + 1) - 1


def _below(document: Document, line: int) -> Iterator[Block]:
    """Yields the blocks from a line on."""
    blocks = document.blocks
    return (blocks[at] for at in range(bisect_left(blocks, line, key=lambda block: block.first), len(blocks)))


def _sections(document: Document, first: int, last: int) -> Iterator[tuple[int, str]]:
    """Yields the line and the title of each heading between two lines."""
    for block in takewhile(lambda block: block.first <= last, _below(document, first)):
        if block.kind == "heading":
            yield block.first, _title(block)


def _title(heading: Block) -> str:
    return plain(heading.text).strip().casefold()


def _titles_above(document: Document, lines: list[int]) -> Iterator[frozenset[str]]:
    """Yields the titles of all headings that each of these lines, in ascending order, is under."""
    headings = [block for block in document.blocks if block.kind == "heading"]
    above: list[Block] = []
    index = 0
    for line in lines:
        while index < len(headings) and headings[index].first < line:
            above = [one for one in above if one.level < headings[index].level] + [headings[index]]
            index += 1
        yield frozenset(map(_title, above))


def _in_line(document: Document, label: Label, last: int, behind: str, *, alone: bool) -> Iterator[KeyList]:
    """Yields the keys behind a label, such as `Answers: 1-B, 2-C, 3-A`, or without numbers `Answers: B, C, A`.

    `behind`: the text after the label, up to line `last`. `alone`: whether it is the only label of an answer.
    """
    lines = [document.source.line(number) for number in range(label.line, last + 1)]
    if sum(_LETTER_FIRST.match(line) is not None for line in lines) > 1:
        # In `A. 1955`, `B. 1956`, a year and the next letter are no number and key.
        return
    text = " ".join(lines)
    pairs = list(_PAIR.finditer(text))
    numbers = [int(one["number"]) for one in pairs]
    several = announces_keys(label.word)
    only_pairs = several and not _PAIR.sub("", behind).strip(" |,;.-*_")
    if len(pairs) > (_FEWEST - 1 if only_pairs else _FEWEST) and _count_up(numbers):
        yield KeyList(label.line, last, tuple((one["number"], one["key"], label.line) for one in pairs))
    elif several and _ends_part(document, last) and (in_order := _IN_ORDER.fullmatch(behind)):
        letters = _LETTER.findall(in_order[0].upper())
        repeated = len(set(letters)) < len(letters)
        # `A, C` may be the key of one question; `C, A, A` gives one to each, and so does `C, A` if no other has a key.
        if repeated or (letters != sorted(letters) and alone):
            yield KeyList(label.line, last, tuple(("", letter, label.line) for letter in letters))


def _ends_part(document: Document, last: int) -> bool:
    """Returns whether nothing follows a line but a heading or a rule."""
    following = next(_below(document, last + 1), None)
    return following is None or following.kind in ("heading", "rule")


def _count_up(numbers: list[int]) -> bool:
    return numbers == list(range(numbers[0], numbers[0] + len(numbers)))


_LETTER = re.compile("[A-J]")
_IN_ORDER = re.compile(r"[*_ ]*(?:[A-J]{3,40}|[A-Ja-j](?:(?:[ ]?[,;/][ ]?|[ ])[A-Ja-j]){1,80})[*_ .]*")
"""Letters of keys without numbers."""


def _keys(document: Document, first: int, last: int) -> Iterator[tuple[str, str, int]]:
    """Yields the keys between two lines: numbered lines, headings `Question 11` with text, pairs in one line."""
    number, start, text, header = "", 0, list[str](), ""
    for line in range(first, last + 1):
        raw = document.source.line(line)
        header = header or raw if raw.startswith("|") else ""
        pairs = list(_PAIR.finditer(raw)) if not raw.startswith("#") else []
        if len(pairs) > 1 and not _PAIR.sub("", raw).strip(" |,;.-*"):
            yield from ((one["number"], one["key"], line) for one in pairs)
            continue
        heading = raw.startswith("#")
        stem = question_line(raw.lstrip("# ")) if heading else None
        entry = (
            None if heading or (number and start and document.source.line(start).startswith("#")) else _ENTRY.match(raw)
        )
        if (stem and stem.number) or entry:
            if number:
                yield number, trim("\n".join(text)), start
            number, start = (stem.number, line) if stem else (entry["number"], line) if entry else ("", 0)
            cell = answer_in_row(header, raw) if header else None
            text = [cell or entry["text"].rstrip(" |")] if entry else []
            if stem and _KEY_IN_HEADING.match(stem.text):
                text = [stem.text]
        elif heading or _RULE.fullmatch(raw):
            if number:
                yield number, trim("\n".join(text)), start
            number, text = "", []
        elif number:
            text.append(raw)
    if number:
        yield number, trim("\n".join(text)), start


def with_keys(
    document: Document, questions: list[Question], lists: tuple[KeyList, ...]
) -> tuple[list[Question], list[Finding]]:
    """Returns the questions, which come in the order of their lines, with the keys of the lists, and findings about
    keys that could not be given."""
    found = list(questions)
    titles = list(_titles_above(document, [question.place.line for question in questions]))
    findings: list[Finding] = []
    before, last = 0, 0
    lines = [question.place.line for question in found]
    for one in lists:
        # Two lists that follow each other are about the same questions.
        before = last if bisect_left(lines, one.first) > bisect_left(lines, last) else before
        if not one.keys[0][0]:
            scope = range(bisect_left(lines, before + 1), bisect_left(lines, one.first))
            findings += _give_in_order(document, found, scope, one)
            last = one.last
            continue
        by_number: dict[str, list[int]] = {}
        for index, question in enumerate(found):
            if before < question.place.line < one.first and question.number:
                by_number.setdefault(question.number, []).append(index)
        for number, text, line in one.keys:
            places = by_number.get(number, [])
            if len(places) > 1 and (section := one.section_of(line)):
                places = [place for place in places if section in titles[place]]
            if len(places) == 1:
                found[places[0]] = _answered(found[places[0]], text)
            else:
                fitting = f"{len(places)} questions have number {number}"
                findings.append(
                    _unused(document, line, fitting if places else f"no question before it has number {number}")
                )
        last = one.last
    return found, findings


def _give_in_order(document: Document, questions: list[Question], scope: range, keys: KeyList) -> Iterator[Finding]:
    """Gives the keys of a list without numbers to the questions of a scope: one to each choice, if there are as many
    and none has a key; else, if no letter repeats, all to the last one. Yields a finding where neither fits."""
    letters = [letter for _, letter, _ in keys.keys]
    choices = [index for index in scope if questions[index].options]
    if len(choices) == len(letters) and not any(questions[index].answered for index in choices):
        for index, letter in zip(choices, letters, strict=True):
            questions[index] = _answered(questions[index], letter)
    elif scope and len(set(letters)) == len(letters):
        questions[scope[-1]] = _answered(questions[scope[-1]], ", ".join(letters))
    else:
        note = f"{len(letters)} keys without numbers, and {len(choices)} questions with options above them"
        yield _unused(document, keys.first, note)


def _answered(question: Question, text: str) -> Question:
    text = _without_label(_without_question(question, text), "answer")
    if question.answered or is_placeholder(text):
        return question
    if not question.options and (choice := truth_choice((), question.prompt, text)):
        return dataclasses.replace(question, kind="choice", options=choice.options, why=choice.why)
    if not question.options:
        return dataclasses.replace(question, answer=text)
    shown = [FoundOption(option.id, option.text, False) for option in question.options]
    key = key_of(text, shown)
    if key is None or not key.ids <= {option.id for option in question.options}:
        return question
    options = tuple(dataclasses.replace(option, right=option.id in key.ids) for option in question.options)
    why = "\n\n".join(part for part in (question.why, _without_label(key.rest, "explanation")) if part)
    return dataclasses.replace(question, options=options, why=why)


_ARROW = re.compile(r"\s*(?:[→➜➡⇒]\ufe0f?|[-=]>)[ ]*")


def _without_question(question: Question, text: str) -> str:
    """Returns a key without the question, where the list repeats it above each."""
    first, _, below = text.partition("\n")
    repeated = plain(question.prompt.partition("\n")[0]).strip(" .:")
    if not below.strip() or plain(first).strip(" .:") != repeated:
        return text
    arrow = _ARROW.match(below)
    return below[arrow.end() :] if arrow else below.strip()


def _without_label(text: str, role: Role) -> str:
    """Returns a text without the word of a role before it and the end of their emphasis: `**Answer: B**`."""
    first, mark, below = text.partition("\n")
    label = label_of(first)
    if label is None or label.role != role or label.start > 0:
        return text
    if len(label.word) == 1 and not first[: label.end].rstrip("*_ ").endswith((":", "：")):
        # `**A**` is a key.
        return text
    rest = first[label.end :].strip()
    return trim(f"{rest.removesuffix(label.closing) if label.closing else rest}{mark}{below}")


def _unused(document: Document, line: int, reason: str) -> Finding:
    return Finding(
        "Q109",
        "warning",
        "this key belongs to no single question",
        document.source.span(line),
        note=f"{reason}; the key was not used",
        help="number the questions and their keys alike, or write each answer below its question",
    )
