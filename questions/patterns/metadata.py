"""What is between a heading and the prompt below it: type, level, tags, and a heading `Question`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from questions.blocks import plain
from questions.patterns.starts.start import Start
from questions.wording.labels import is_question_heading, only_announces_question
from questions.wording.stems import level_of

if TYPE_CHECKING:
    from questions.blocks import Block
    from questions.document import Document
    from questions.model import Level

_META = re.compile(
    r"[ ]{0,3}(?:[-*+][ ]+)?(?P<open>\*{1,2}|_{1,2})?(?P<word>type|question type|difficulty|level|tags?|topics?"
    r"|category|categor[ií]a|catégorie|kategorie?|categoria|категория|points?|score|marks"
    r"|tipo|dificultad|nivel|etiquetas|tema|puntos|dificuldade|nível|niveau|difficulté|schwierigkeit|thema"
    r"|punkte|сложность|уровень|тема"
    r"|тип|теги|类型|題型|题型|难度|難度|标签|標籤|知识点|考点|分值|難易度|分野|유형|난이도|태그"
    r"|분류)[ ]?(?:[:：](?P=open)?|(?P=open)[:：])[ ]*"
    r"(?P<value>\S.{0,200}?)[ ]*(?:\*{2})?$",
    re.IGNORECASE,
)
_LEVEL_META = re.compile(
    r"difficulty|level|dificult?ad|nivel|nível|dificuldade|niveau|difficult|schwierigkeit|сложность|уровень"
    r"|难度|難度|難易度|난이도",
    re.IGNORECASE,
)


class Metadata(NamedTuple):
    level: Level | None = None
    tags: tuple[str, ...] = ()
    asked: bool = False
    """Whether a heading or label `Question` comes before the prompt."""


def read_metadata(document: Document, start: Start, body: tuple[Block, ...]) -> tuple[int, Metadata]:
    """Returns the first line of the prompt below a heading, and what comes before it."""
    first, meta = start.last + 1, Metadata()
    if start.kind != "heading":
        return first, meta
    for block in body:
        if block.kind == "paragraph" and only_announces_question(block.text):
            return block.last + 1, meta._replace(asked=True)
        if block.kind == "paragraph":
            found = [_META.fullmatch(document.source.line(n)) for n in range(block.first, block.last + 1)]
            if not all(found):
                break
            for one in found:
                if one and _LEVEL_META.fullmatch(one["word"]):
                    meta = meta._replace(level=meta.level or level_of(one["value"]))
                if one:
                    values = tuple(word for raw in re.split("[,，、;/]", one["value"]) if (word := plain(raw).strip()))
                    meta = meta._replace(tags=(*meta.tags, *values))
            first = block.last + 1
        elif is_question_heading(block):
            return block.last + 1, meta._replace(asked=True)
        elif block.kind != "rule":
            break
    return first, meta
