"""What a document says about a question beside it: type, level, tags, points, and a heading `Question` above it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from questions.blocks import plain
from questions.fences import lines_outside_programs
from questions.patterns.starts.start import Start
from questions.source import trim
from questions.wording.labels import is_question_heading, only_announces_question
from questions.wording.part_titles import POINTS
from questions.wording.stems import level_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from questions.blocks import Block
    from questions.document import Document
    from questions.model import Level

_TELLING = (
    r"difficulty|dificultad|dificuldade|difficulté|schwierigkeit|сложность|难度|難度|難易度|난이도"
    r"|tags?|etiquetas|теги|标签|標籤|태그|知识点|考点|分值|(?:question|answer) type"
)
"""Words that name nothing else before a colon."""
_WORDS = (
    rf"{_TELLING}|type|level|topics?|category|categor[ií]a|catégorie|kategorie?|categoria|категория|points?|score|marks"
    r"|source|quelle|fuente|fonte|źródło|источник|kaynak|sumber|来源|來源|出处|出典|출처"
    r"|tipo|nivel|tema|puntos|nível|niveau|thema|punkte|уровень|тема|тип|类型|題型|题型|分野|유형|분류"
)
_FIELD = rf"(?:{_WORDS})[ ]?(?:[:：][*_]{{0,2}}|[*_]{{1,2}}[:：])[ ]*\S"
_META = re.compile(
    r"[ ]{0,8}(?:[-*+>][ ]+)?(?P<open>[*_]{1,3}|[(\[])?"
    rf"(?P<word>{_WORDS})[ ]?(?:[:：](?P<close>[*_]{{1,3}})?|(?P<behind>[*_]{{1,3}})[:：])[ ]*"
    r"(?P<value>\S.{0,200}?)[ ]*[*_)\]]{0,3}[ ]*",
    re.IGNORECASE,
)
_MORE = re.compile(rf"[ ]*(?:[|·•]|[ ]-[ ])[ ]*(?=[*_]{{0,3}}{_FIELD})", re.IGNORECASE)
"""What separates the fields of one line: `Difficulty: easy | Topic: arrays`."""
_LEVEL_META = re.compile(
    r"difficulty|level|dificult?ad|nivel|nível|dificuldade|niveau|difficulté|schwierigkeit|сложность|уровень"
    r"|难度|難度|難易度|난이도",
    re.IGNORECASE,
)
_TELLS = re.compile(_TELLING, re.IGNORECASE)
_MAY_TELL = re.compile(rf"[ ]{{0,8}}(?:[-*+>][ ]+)?[*_(\[]{{0,3}}(?:{_WORDS})[ ]?[*_]{{0,3}}[:：]")
"""The beginning of a field, in small letters."""


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
            found = [_fields(document.source.line(n)) for n in range(block.first, block.last + 1)]
            fields = [field for one in found for field in one]
            if not all(found) or (block is body[-1] and not any(map(_tells, fields))):
                break
            meta = _with_fields(meta, fields)
            first = block.last + 1
        elif is_question_heading(block):
            return block.last + 1, meta._replace(asked=True)
        elif block.kind != "rule":
            break
    return first, meta


def _fields(line: str) -> list[re.Match[str]]:
    """Returns the fields of a line that has nothing else; none if it is another line."""
    if not _may_tell(line):
        return []
    found = [_META.fullmatch(part) for part in _MORE.split(line)]
    return [one for one in found if one] if all(found) else []


def _may_tell(line: str) -> bool:
    """Returns whether a line begins like a field. Few lines have a colon."""
    return (":" in line or "：" in line) and _MAY_TELL.match(line.lower()) is not None


def _with_fields(meta: Metadata, fields: Iterable[re.Match[str]]) -> Metadata:
    for field in fields:
        if _LEVEL_META.fullmatch(field["word"]):
            meta = meta._replace(level=meta.level or level_of(field["value"]))
        values = (plain(raw).strip(" `#*_") for raw in re.split("[,，、;/]", field["value"]))
        meta = meta._replace(tags=(*meta.tags, *(value for value in values if value)))
    return meta


def without_metadata(text: str) -> tuple[str, Metadata]:
    """Returns the text of a prompt or an answer without lines such as `**Difficulty:** easy` above `**Tags:** numpy`,
    and what they say. Lines that could be part of an answer, such as `Type: supervised`, are left out only beside one
    that could not."""
    meta = Metadata()
    lines = text.split("\n")
    if not any(map(_may_tell, lines)):
        return text, meta
    kept: list[str] = []
    run: list[str] = []
    found: list[re.Match[str]] = []
    outside = {at for at, _ in lines_outside_programs(lines)}
    for at, line in enumerate([*lines, "."]):
        fields = _fields(line) if at in outside else []
        if fields or (run and not line.strip()):
            run.append(line)
            found += fields
            continue
        if run and any(_tells(field) for field in found):
            meta = _with_fields(meta, found)
            kept += [""] * (bool(kept) and not run[-1].strip())
        else:
            kept += run
        run, found = [], []
        kept.append(line)
    rest = trim("\n".join(kept[:-1]))
    return (rest, meta) if rest else (text, Metadata())


def _tells(field: re.Match[str]) -> bool:
    """Returns whether a field can only say something about the question: a word in a sentence is not at its start."""
    known = _TELLS.fullmatch(field["word"]) or (_LEVEL_META.fullmatch(field["word"]) and level_of(field["value"]))
    return bool(known) and (bool(field["open"]) or len(field["value"]) <= _SHORT)


_SHORT = 60
"""Length of a value without emphasis before it, characters."""

_EARNED = r"(?:\d{1,3}(?:[.,]\d{1,2})?[ ]?/[ ]?)?"
"""Points that somebody got, before those that can be had."""
_ONLY_POINTS = re.compile(rf"[*_(\[（【]{{0,4}}{_EARNED}{POINTS}[.*_)\]）】]{{0,4}}", re.IGNORECASE)


def without_points(prompt: str) -> str:
    """Returns a prompt without lines that only say how many points the question earns: `(2 points)`, `1/1 point`."""
    if "\n" not in prompt:
        return prompt
    lines = prompt.split("\n")
    outside = {at for at, _ in lines_outside_programs(lines)}
    kept = [line for at, line in enumerate(lines) if at not in outside or not _ONLY_POINTS.fullmatch(line.strip())]
    return trim("\n".join(kept)) if 0 < len(kept) < len(lines) else prompt
