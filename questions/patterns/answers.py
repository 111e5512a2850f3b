"""Finds where the answer of a question begins: a label, a heading, a fold, a quote, or the text below the question."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from questions.blocks import fold_text
from questions.source import trim
from questions.wording.labels import answer_in_heading, is_answer_summary, is_question_heading, label_of, text_after
from questions.wording.part_titles import is_part_title

if TYPE_CHECKING:
    from questions.blocks import Block, Fold
    from questions.document import Document
    from questions.source import Source
    from questions.wording.labels import Label

_FOOTER = 4
"""Number of blocks after a rule from which they are not closing remarks."""
_PICTURE = re.compile(r"\[?!\[[^\[\]]{0,300}\]\([^()]{0,800}\)(?:\]\([^()\s]{0,500}\))?")
_HTML_PICTURE = re.compile(r"<img\b[^<>]{0,800}>")
_AROUND_PICTURE = re.compile(r"</?(?:div|p|br|center|figure)\b[^<>]{0,200}>", re.IGNORECASE)
_QUOTE = re.compile(r"[ ]{0,3}>[ ]?")
_MAX_BACK_LINK = 300
_BACK_LINK = re.compile(
    r"\s*(?:[*_]{0,3}\[[^\[\]]{0,80}\]\(#[^()\s]{0,150}\)[*_]{0,3}|(?:[-*_][ ]?){3,60}"
    r"|(?:</?(?:div|center|br|hr|b|p|a)\b[^<>]{0,120}>\s*){1,5}"
    r"(?:[^\w<>]{0,9}(?:back |go )?(?:to (?:the )?)?top[^\w<>]{0,9}"
    r"(?:</(?:div|center|b|p|a)>\s*){1,5})?)\s*",
    re.IGNORECASE,
)
_LINK_ALONE = re.compile(r"\s*[*_]{0,3}\[(?P<text>[^\[\]]{1,80})\]\([^()\s]{1,200}\)[*_]{0,3}\s*")
"""A link in a line of its own: `[Answer](answers.md#1)` leads to the answer; it is not the answer."""
_PROMOTION = re.compile(
    r"[^\w\[]{0,12}(?:\[!\[[^\[\]]{0,200}\]\([^()\s]{0,500}\)\]\([^()\s]{0,500}\)[ ]*)+"
    r"|(?:[^\w]|_){0,12}(?:"
    r"(?:please |kindly |don['’]t forget to |and )?(?:(?:follow|support|connect with) (?:me|us|my)\b"
    r"|subscribe to (?:me|us|my|our)\b|(?:give|leave|drop) (?:it|this|the|a|us|me)\b[^.]{0,40}(?:star\b|⭐)"
    r"|star (?:this|the) repo)"
    r"|buy (?:me|us) a coffee|(?:thanks|thank you) for (?:reading|watching|visiting|your)"
    r"|happy (?:coding|learning|hacking)|good luck[!. ]|made with (?:❤|♥|love)"
    r"|(?:if you|did you|do you) (?:like|enjoy|find|found)(?:d|ed)?\b.{0,120}"
    r"(?:\bstar\b|⭐|\bfollow\b|subscrib|share (?:it|this)\b)"
    r").{0,200}",
    re.IGNORECASE,
)
"""A line that offers more or asks for a favor, or holds only linked badges."""


@dataclass(frozen=True, slots=True)
class FoundAnswer:
    """The position and text of an answer."""

    text: str
    first: int
    """Line of its label or heading; the question's text before it is the prompt."""


def find_answer(document: Document, body: tuple[Block, ...], *, first: int = 0) -> FoundAnswer | None:
    """Returns the answer in a question's blocks, from line `first` on: after the first answer label or answer heading,
    or in a fold.

    Another heading ends the search, because the text after it does not belong to a label above. An explanation is the
    answer only if nothing else is.
    """
    last = body[-1].last if body else 0
    for block in body:
        if is_question_heading(block):
            continue
        if block.kind == "heading":
            rest = answer_in_heading(block.text)
            below = document.source.text(block.last + 1, last)
            return None if rest is None else FoundAnswer(_joined(rest, below), block.first)
        fold = document.answer_fold(block)
        for label in labels_within(document, block):
            if label.role == "answer" and label.line >= first and (fold is None or label.line < fold.first):
                return FoundAnswer(text_after(document.source, label, last), label.line)
        if fold:
            return _folded_answer(document, fold, last)
        if block.kind == "quote" and (quoted := _quoted_answer(document, block, last)):
            return quoted
    return _explanation(document, body, last)


def _explanation(document: Document, body: tuple[Block, ...], last: int) -> FoundAnswer | None:
    """Returns the text after a label `Explanation` right below the question."""
    if not body:
        return None
    label = next((label for label in document.labels(body[0]) if label.role == "explanation"), None)
    if label is None or label.line != body[0].first:
        return None
    return FoundAnswer(text_after(document.source, label, last), label.line)


def labels_within(document: Document, block: Block) -> tuple[Label, ...]:
    """Returns the labels of a paragraph, or of the first paragraph of each item of a list."""
    if block.kind != "list":
        return document.labels(block)
    return tuple(label for item in block.children for inner in item.children[:1] for label in document.labels(inner))


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


def _folded_answer(document: Document, fold: Fold, last: int) -> FoundAnswer:
    """Returns the text of a fold without its heading or label, and the text below the fold."""
    hidden = fold_text(document.source, fold)
    text = hidden if document.layout.letters_in_folds and _KEY_A.match(hidden) else answer_under_label(hidden)
    below = document.source.text(fold.last + 1, last) if fold.last < last else ""
    return FoundAnswer(_joined(answer_in_heading(fold.summary) or "", text, below), fold.first)


_KEY_A = re.compile(r"\s*(?:\*\*|__)A[.)](?:\*\*|__)")
"""The letter of the first option, which is the word before an answer as well: `**A.**`."""


def answer_under_label(text: str) -> str:
    """Returns a text without the answer heading or label at its start."""
    first, _, below = text.partition("\n")
    if first.startswith("#") and (rest := answer_in_heading(first.strip("# "))) is not None:
        return trim(f"{rest}\n{below}")
    label = label_of(first)
    if label and label.role == "answer" and not first[: label.start].strip(" -*+"):
        return trim(f"{first[label.end :].rstrip().removesuffix(label.closing)}\n{below}")
    return text


def _quoted_answer(document: Document, block: Block, last: int) -> FoundAnswer | None:
    """Returns the answer in a block quote with a label at the start of one of its lines."""
    lines = [_QUOTE.sub("", document.source.line(n), count=1) for n in range(block.first, block.last + 1)]
    for index, line in enumerate(lines):
        label = label_of(line)
        if label and label.role == "answer":
            quote = trim("\n".join((line[label.end :].rstrip().removesuffix(label.closing), *lines[index + 1 :])))
            below = document.source.text(block.last + 1, last) if block.last < last else ""
            return FoundAnswer(_joined(quote, below), block.first + index)
    return None


def begins_answer(document: Document, block: Block) -> bool:
    """Returns whether a block begins with an answer label, or is an answer folded away."""
    first = next((inner for inner in block.walk() if inner.kind not in ("list", "item")), block)
    labels = document.labels(first)
    if labels and labels[0].line == block.first and labels[0].role == "answer":
        return True
    fold = document.answer_fold(block) if block.kind == "html" else None
    return fold is not None and fold.first == block.first


# Blocks that separate questions and belong to none


def is_rule(block: Block) -> bool:
    """Returns whether a block is a rule, and not a blank to write on."""
    return block.kind == "rule" and not block.text.startswith("______")


def without_separators(body: tuple[Block, ...]) -> tuple[Block, ...]:
    """Returns a question's blocks without what separates it from the next question: rules, and titles of parts such as
    `**Part B**`."""
    end = len(body)
    while end and _separates(body[end - 1]):
        end -= 1
    return body[:end]


def _separates(block: Block) -> bool:
    if block.kind == "paragraph" and (is_part_title(block.text) or _PAGE_BREAK.fullmatch(block.text)):
        return True
    return is_rule(block)


_PAGE_BREAK = re.compile(r"\\(?:newpage|pagebreak|clearpage)\s*")
"""A command for the printed edition, as Pandoc takes it."""

_FIELD = re.compile(r"[A-Za-z_][\w-]{0,30}:(?:[ ]|$)")
_FEWEST_FIELDS = 2
_OF_FIELD = re.compile(r"[ \t]+\S|-[ ]")


def without_front_matter(source: Source, body: tuple[Block, ...]) -> tuple[Block, ...]:
    """Returns a question's blocks without the fields between two rules at their end, which describe the next one."""
    if not body or not _is_dashes(source, body[-1]):
        return body
    start = next((index for index in range(len(body) - 2, -1, -1) if _is_dashes(source, body[index])), None)
    if start is None or not body[start + 1 : -1]:
        return body
    lines = source.text(body[start].last + 1, body[-1].first - 1).split("\n")
    fields = sum(_FIELD.match(line) is not None for line in lines)
    only = all(_FIELD.match(line) or _OF_FIELD.match(line) for line in lines)
    return body[:start] if only and fields >= _FEWEST_FIELDS else body


def _is_dashes(source: Source, block: Block) -> bool:
    return block.kind == "rule" and source.line(block.first).rstrip() == "---"


def without_footer(body: tuple[Block, ...], *, answered: bool = False) -> tuple[Block, ...]:
    """Returns a question's blocks without closing remarks after the last rule: navigation, thanks, a license, a date.
    Any other text there continues the answer.

    `answered`: whether the question is already answered before these blocks.
    """
    rules = [index for index, block in enumerate(body) if is_rule(block)]
    if not rules or len(body) - rules[-1] > _FOOTER or not (answered or without_separators(body[: rules[-1]])):
        return body
    footer = body[rules[-1] + 1 :]
    closes = all(block.kind == "paragraph" and all(map(_closes, block.text.split("\n"))) for block in footer)
    return without_separators(body[: rules[-1]]) if closes else body


_REMARK = re.compile(
    r"(?:[^\w\[]|_){0,12}(?:"
    r"(?:the )?end[.!*_ ]{0,5}$"
    r"|(?:this (?:is|was) )?(?:the )?end of (?:the |this |our )?(?:quiz|exam|test|questions?|document|file|list|part"
    r"|section|chapter|module|lesson|guide|assignment|paper|worksheet)\b"
    r"|this (?:concludes|completes|ends) (?:the|this|our)\b|that(?:['’]s| is) (?:all|it)\b"
    r"|you (?:have|['’]ve) (?:reached|completed)\b"
    r"|(?:many |special )?thanks?\b(?! to (?!all|every))|good luck\b|happy \w+ing\b|all the best\b"
    r"|©|\(c\)[ ]?\d{4}|copyright\b|all rights reserved|(?:released|distributed|licen[cs]ed) under\b"
    r"|(?:last |page |document )(?:updated?|modified|revised|edited|generated)\b"
    r"|(?:generated|created|compiled|prepared|written|maintained|made|built|curated|powered) by\b"
    r"|(?:updated|authors?|maintainers?|licen[cs]e|contact|disclaimer|credits?)\b[ ]?[*_]{0,2}[:：]|version:?[ ]\d"
    r"|(?:contributions?|pull requests?)\b.{0,40}\bwelcome|feel free to (?:contribute|open|fork|share|use)\b"
    r"|(?:next|previous|prev|back|return|continue)\b(?: (?:up|lesson|chapter|part|page|module|section))?[ ]?[:→»>|]"
    r"|(?:back|return|continue|proceed) to\b"
    r"|(?:fin|ende|fine|конец|完|終わり|끝)[.!。*_ ]{0,5}$"
    r"|(?:¡?(?:muchas )?gracias|vielen dank|danke|merci|grazie|obrigad[oa]|dziękuj|спасибо|谢谢|感谢)"
    r"|(?:última actualización|zuletzt (?:aktualisiert|geändert)|dernière mise à jour|ultimo aggiornamento"
    r"|последнее обновление|最后更新|更新时间|作者)"
    r").{0,160}",
    re.IGNORECASE,
)
"""A line that closes a document: its end, thanks, a license, an author, a date, or the way to another page."""
_ABOUT_QUESTIONS = re.compile(
    r"(?P<mark>[*_])(?=[^*_]{1,300}\b(?:questions|quiz|quizzes|exercises)\b)[^*_\s][^*_]{1,600}(?P=mark)", re.IGNORECASE
)
"""A line in italics about all of the questions."""
_LINKS = re.compile(r"!?\[[^\[\]\n]{0,200}\]\([^()\s]{0,500}\)|<?https?://[^\s<>]{1,500}>?")
_MOST_WORDS = 2
"""Most words beside the links of a line that only leads elsewhere."""


def _closes(line: str) -> bool:
    """Returns whether a line after a rule is a closing remark: a promotion, links, or what ends a document."""
    if _ends_nothing(line) or _REMARK.fullmatch(line.strip()) or _ABOUT_QUESTIONS.fullmatch(line.strip()):
        return True
    rest, links = _LINKS.subn(" ", _ANY_TAG.sub(" ", line))
    return links > 0 and len(re.findall(r"\w+", rest)) <= _MOST_WORDS


def last_of_text(source: Source, first: int, last: int) -> int:
    """Returns the last line with text; links back to the top, rules and promotions at the end are not part of it."""
    while last > first and _ends_nothing(source.line(last)):
        last -= 1
    return last


def without_promotion(text: str) -> str:
    """Returns a text without links back to the top, rules and promotions at its end."""
    if "\n" not in text:
        return text
    lines = text.split("\n")
    while len(lines) > 1 and _ends_nothing(lines[-1]):
        lines.pop()
    return "\n".join(lines)


def _ends_nothing(line: str) -> bool:
    """Returns whether a line at the end of an answer is not part of it."""
    if len(line) > _MAX_BACK_LINK:
        return False
    if not line.strip() or _PROMOTION.fullmatch(line.strip()) or says_nothing(line):
        return True
    if not line.rstrip().endswith((")", "*", "_", ">", "-")):
        return False
    elsewhere = _LINK_ALONE.fullmatch(line)
    return _BACK_LINK.fullmatch(line) is not None or (elsewhere is not None and is_answer_summary(elsewhere["text"]))


_TO_PLACE = re.compile(
    r"\[[^\[\]\n]{3,200}\]\(#[^()\s]{0,200}\)"
    r"|<a\b[^<>]{0,200}\bhref=[\"']?#[^<>]{0,200}>[^<>]{0,200}</a>",
    re.IGNORECASE,
)
"""A link to a place in the same document."""
_ANY_TAG = re.compile(r"</?[a-z][^<>]{0,400}>", re.IGNORECASE)
_SAYS = re.compile(r"[^\s()\[\]*_|·•⬆↑🔝\ufe0f-]")


def says_nothing(text: str) -> bool:
    """Returns whether a text is only links to places in the same document, such as one back to the top, and tags."""
    if "#" not in text or not _TO_PLACE.search(text) or "<img" in text:
        return False
    return not _SAYS.search(_ANY_TAG.sub("", _TO_PLACE.sub("", text)))


def only_pictures(text: str) -> bool:
    """Returns whether a text is nothing but pictures, which say nothing that could be compared or shown in a chat."""
    if "<img" in text:
        text = _HTML_PICTURE.sub("![]()", _AROUND_PICTURE.sub("", text))
    return "![" in text and not _PICTURE.sub("", text).strip(" \n*_-.>")
