"""Recognizes lines that name a part of an exam: `Part A`, `Section 2 (10 marks)`, `1 Mark – MCQ`, `Questions:`.

They ask nothing, and separate questions as rules do. A word in another language is added to the table.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from questions.blocks import plain
from questions.wording.labels import names_only_questions, only_announces_question

if TYPE_CHECKING:
    from questions.source import Source

POINTS = (
    r"\d{1,3}(?:[.,]\d{1,2})?[ ]?(?:points?|pts?|marks?|puntos?|pontos?|punt[oi]|punkte?|балл(?:а|ов)?|点|分)(?:\(s\))?"
)
"""How many points a question earns."""
_LONGEST = 120
"""Length of the title of a part, characters."""
_PARTS = r"part|section|teil|abschnitt|partie|parte|secci[oó]n|seção|sezione|deel|część|часть|раздел|bölüm|bagian|phần"
_COUNTED = r"(?:[ivx]{1,5}|[a-h]|\d{1,2}|one|two|three|four|five)"
_PRODUCT = r"\d{1,2}[ ]?[x×*][ ]?\d{1,2}[ ]?=[ ]?\d{1,3}(?:[ ]?(?:marks?|points?))?"
_EARNS = rf"(?:{POINTS}(?:[ ](?:each|in total|total))?|{_PRODUCT})"
_HOLDS = (
    r"\d{1,3}[ ](?:questions?|items?|preguntas?|perguntas?|questões|fragen|domande|vragen|pytań|вопрос(?:а|ов)?|soru"
    r"|soal|câu)(?!\w)[^()\[\]]{0,40}"
)
"""How many questions are below."""
_PART = re.compile(
    rf"(?:{_PARTS})[ ]?[-–—:]?[ ]?{_COUNTED}(?P<named>[ ]?[:.)–—-][ ]?.{{1,80}}?)?"
    rf"(?P<earns>[ ]*[(\[](?:{_EARNS}|{_HOLDS})[)\]])?[ .:]*",
    re.IGNORECASE,
)
_CJK_PART = re.compile(r"第[ ]?[一二三四五六七八九十\d]{1,3}[ ]?(?:部分|大题|章)(?:[ ：:、].{0,40})?")
_EARNED = re.compile(
    rf"[(\[]?{_EARNS}[)\]]?(?:[ ]?[:–—-]+[ ].{{1,60}}|[ ](?:questions?|mcqs?|each)\b.{{0,60}})", re.IGNORECASE
)
_MARKED = re.compile(r"(?P<mark>\*{2,3}|__)(?!\s).*(?P=mark)[ ]?[:：]?")
"""A line in bold."""


@lru_cache(maxsize=4096)
def is_part_title(text: str) -> bool:
    """Returns whether a line only names a part of an exam, or how much each question below it earns.

    `Part A` and `Questions` count only where the line is in bold, or its form leaves no doubt: an answer may name a
    part too.
    """
    line = text.strip()
    if len(line) > _LONGEST or "\n" in line or not line or "?" in line or "？" in line:
        return False
    shown = plain(line).strip(" *_#")
    bold = _MARKED.fullmatch(line) is not None
    if names_only_questions(shown) and not only_announces_question(shown):
        return bold or shown.endswith((":", "："))
    if found := _PART.fullmatch(shown):
        return bold or found["earns"] is not None or shown.isupper()
    return _EARNED.fullmatch(shown) is not None or (bold and _CJK_PART.fullmatch(shown) is not None)


def part_title_lines(source: Source) -> frozenset[int]:
    """Returns the lines at the margin that name a part of an exam: none of them continues the text above."""
    return frozenset(
        number
        for number, line in enumerate(source.lines, 1)
        if (line[:2] in ("**", "__") or line[:1].isdecimal() or line[:1].isupper()) and is_part_title(line)
    )


_CLARIFIES = re.compile(
    r"(?:\d{1,2}[.):]?[ ]|step[ ]\d{1,2}[ ]?[.:–—-][ ]?)?"
    r"(?:(?:ask|some|possible|key|sample|example|good|start with)[ ]){0,2}"
    r"(?:clarif(?:ying|ication)[ ](?:the[ ])?(?:questions?|requirements?|points?|problem|phase)|clarifications?|clarify"
    r"(?:[ ](?:the[ ])?(?:requirements?|problem|scope))?"
    r"|questions?[ ](?:to|you (?:can|could|should|might)|i(?:'d| would))[ ](?:ask|clarify)"
    r"(?:[ ](?:(?:the|your|an)[ ])?(?:interviewer|them|first|before))?"
    r"|уточняющие[ ]вопросы|澄清(?:问题|需求)|preguntas[ ]aclaratorias|perguntas[ ]de[ ]esclarecimento|rückfragen)"
    r"(?:[ ]?[(（][^()（）]{1,40}[)）])?[ ]?[:：]?",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def asks_back(text: str) -> bool:
    """Returns whether a title announces what a candidate would ask about a task: `Clarifying questions`."""
    return len(text) <= _LONGEST and _CLARIFIES.fullmatch(plain(text).strip(" *_#")) is not None
