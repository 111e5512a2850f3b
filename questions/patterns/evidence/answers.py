"""Evidence in answers: a label, a heading, a fold, a key or marked options below a start."""

from __future__ import annotations

import re
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from questions.patterns.candidates import Verdict
from questions.patterns.evidence.runs import FEWEST, split_run
from questions.patterns.options.marks import has_one_in_bold, marks_one
from questions.patterns.options.search import MARKED_STATEMENT
from questions.patterns.starts.start import begins_question
from questions.source import WIDE
from questions.wording.imperatives import asks_or_demands
from questions.wording.labels import (
    announces_only_questions,
    is_answer_heading,
    is_explanation_heading,
    is_question_word,
    only_announces_question,
)
from questions.wording.stems import ends_asking, heading_asks, is_bold_question, question_line, reads_as_question

if TYPE_CHECKING:
    from questions.blocks import Block
    from questions.document import Document
    from questions.patterns.candidates import Candidate
    from questions.patterns.starts.start import Kind, Start

_TASK = re.compile(r"(?m)^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[(?P<mark>[ xX])\][ \t]")
_FEWEST_MARKED = 2
"""Lists of boxes with and without a check from which they are options, although their headings do not ask."""


def judge_answered(document: Document, kind: Kind, run: list[Start], known: tuple[Candidate, ...]) -> Verdict:
    """Returns the starts with an answer or options below, and those that are numbered like most of these."""
    if kind == "heading":
        return _answered_headings(document, run)
    if kind == "item":
        return _answered_items(run)
    if kind == "line":
        return _answered_lines(run)
    return Verdict()


def _answered_headings(document: Document, run: list[Start]) -> Verdict:
    bold = sum(bool(start.number) and has_one_in_bold(start.own_text) for start in run)
    if bold >= _FEWEST_BOLD and bold * 5 >= len(run) * 4:
        return Verdict(tuple(start for start in run if start.number))
    answered = {start.first: start for start in run if _is_answered(document, start)}
    topics = not any(start.asks or start.number or start.stem.labeled for start in answered.values())
    if answered and topics and len(answered) * _RARE < len(document.sections):
        # In study text, a solution may be below one of many topics.
        answered = {}
    members = {start for start in run if start.first in answered or start.number}
    # A label deep inside the text may be part of the prose; one right below the heading is not.
    sure = any(start.body and start.answer and start.body[0].first == start.answer.first for start in answered.values())
    keyed = {
        start
        for start in run
        if start.offers and not (_titles_a_line(start) or _lists_tasks(document, start) or _ends_exam(start))
    }
    if len(numbered := [start for start in run if start.number]) >= _FEWEST_BOLD:
        # Check boxes below one topic of many are a list in its text.
        offering = {start for start in keyed if not start.asks}
        keyed -= offering if len(offering) * _FEW < len(numbered) else set()
    if sure or (answered and len(answered) * 2 >= len(members)):
        keyed |= members
    counted = [start for start in run if start.number and not start.stem.text and start.text]
    regular = [start.number for start in counted] == [str(number) for number in range(1, len(counted) + 1)]
    if regular and sum(start in keyed for start in counted) * 3 >= len(counted) * 2:
        # Among headings that are only numbers, one without options is a question too.
        keyed |= set(counted)
    return Verdict(tuple(start for start in run if start in keyed))


_FEWEST_BOLD = 5
"""Fewest numbered headings in a row with nothing below them but a list in which exactly one item is in bold."""
_FEW = 5
_RARE = 10
"""How many headings a document has for each topic with a solution, so that these are not questions."""

_END = re.compile(
    r"\W{0,9}(?:(?:end|conclusion)[ ]of[ ](?:the[ ])?(?:exam|test|quiz|paper|mock exam|question(?:s|naire))"
    r"|fin[ ](?:de l['’]examen|du (?:qcm|test|quiz)|del (?:examen|test|cuestionario))"
    r"|fim d[ao] (?:prova|teste|simulado)"
    r"|ende der (?:klausur|prüfung|fragen)|fine (?:del test|dell['’]esame|del quiz)|конец (?:теста|экзамена)"
    r"|试卷结束|考试结束|試験終了)\W{0,9}",
    re.IGNORECASE,
)


def _ends_exam(start: Start) -> bool:
    """Returns whether a heading only says that an exam ends; a scale of grades with letters may be below it."""
    return not (start.number or start.asks) and _END.fullmatch(start.stem.text) is not None


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


_FIRST_OPTION = re.compile(
    r"(?m)^[ \t]*(?:[-*+][ \t]+)?[*_]{0,3}\(?[Aa][.)：:、．][*_]{0,3}"
    rf"(?:[ \t]+\S|[{WIDE}])"
)


def _is_answered(document: Document, start: Start) -> bool:
    if start.block is None or is_answer_heading(start.block) or start.answer is None:
        return False
    if _is_explained(start) or _NAMES_OPTIONS.fullmatch(start.stem.text):
        return False
    return not _holds_others(document, start) and not _states_a_problem(start)


_NAMES_OPTIONS = re.compile(
    r"(?:answer[ ])?(?:options|choices|opciones|opções|alternativas|optionen|antwortmöglichkeiten|opzioni|варианты"
    r"|选项|選項|選択肢)(?:[ ]?[(（].{0,80}[)）])?[ ]?[:：]?",
    re.IGNORECASE,
)
"""A heading that only names what to choose from."""


def _is_explained(start: Start) -> bool:
    """Returns whether a heading that asks nothing is a topic of study text, with a heading such as `Explanation` below
    it."""
    if start.asks or start.number or start.stem.labeled or start.answer is None:
        return False
    line = start.answer.first
    return any(one.kind == "heading" and one.first == line and is_explanation_heading(one) for one in start.body)


_DIAGNOSIS = re.compile(
    r"(?:[-*+][ ])?(?P<mark>\*\*|__)(?:(?:common|possible|likely|root)[ ])?"
    r"(?:symptoms?|causes?|error(?:[ ]message)?|issue|diagnosis|síntomas?|sintomas?|causas?|symptome?s?|ursachen?"
    r"|симптомы?|причин[аы]|症状|原因|现象)[ ]?(?:[:：](?P=mark)|(?P=mark)[ ]?[:：]?)",
    re.IGNORECASE,
)
"""What is said of a fault before its solution."""
_FAULTS = re.compile(
    r"trouble[ -]?shooting|(?:common|known|typical|frequent)[ ](?:issues|problems|errors|pitfalls|mistakes|failures)"
    r"|debugging[ ]guide|fehlerbehebung|solución de problemas|dépannage|常见(?:问题与解决|错误)|故障排除",
    re.IGNORECASE,
)


def _titles_faults(start: Start) -> bool:
    """Returns whether a heading below `Troubleshooting` names a fault."""
    return any(_FAULTS.search(heading.text) for heading in start.headings)


def _states_a_problem(start: Start) -> bool:
    """Returns whether a heading names a fault and its solution, as in notes: a line such as `**Problem**` is above text
    that asks nothing, or one such as `**Symptoms:**` above the answer."""
    if start.asks or start.number or start.stem.labeled or start.answer is None:
        return False
    before = [block for block in start.body if block.first < start.answer.first]
    if any(_DIAGNOSIS.match(block.text) for block in before) or _titles_faults(start):
        return True
    for over, block in pairwise(before):
        if only_announces_question(over.text) and not is_question_word(over.text):
            return not asks_or_demands(block.text)
    return False


def _holds_others(document: Document, start: Start) -> bool:
    """Returns whether a heading is only a title above questions of another form."""
    if ends_asking(start.stem.text):
        return False
    if start.block and announces_only_questions(start.block):
        return True
    names_only = not (start.asks or start.number or start.stem.labeled)
    if names_only and start.answer and _answers_below(start.body, start.answer.first):
        return True
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


def _answers_below(body: tuple[Block, ...], line: int) -> bool:
    """Returns whether an answer belongs to a question whose heading is deeper, and not to the title above it."""
    above = [block for block in body if block.kind == "heading" and block.first < line]
    return any(begins_question(block) or question_line(block.text).number for block in above)


def _answered_items(run: list[Start]) -> Verdict:
    if heading_asks(run[0].headings) and not any(ends_asking(start.stem.text) for start in run):
        # A list in the answer to the heading: `Example answer:` below it belongs to the heading.
        return Verdict()
    marked = [start for start in run if start.number and marks_one(start.text)]
    if len(marked) >= FEWEST["item"] and len(marked) * 5 >= len(run) * 4:
        return Verdict(tuple(run))
    stated = {start: found for start in run if start.number and (found := MARKED_STATEMENT.fullmatch(_whole(start)))}
    if len(stated) >= _FEWEST_STATED and len(stated) * 5 >= len(run) * 4:
        return Verdict(tuple(start for start in run if start.number))
    told = [start for start, found in stated.items() if found["word"]]
    if len(told) >= _FEWEST_TOLD:
        return Verdict(tuple(told))
    may_ask = [start for start in run if start.asks or start.bold or start.number]
    answered = {start for start in may_ask if start.answer or start.offers}
    if not answered or (len(answered) * 4 < len(run) and not any(start.asks or start.bold for start in answered)):
        return Verdict()
    read = {start for start in run if start in answered or start.asks or start.bold}
    if len(answered) * 2 >= len(run):
        read |= {start for start in run if start.number and asks_or_demands(start.stem.text)}
    return split_run(run, read)


_FEWEST_STATED = 3
"""Fewest items with a mark behind a statement that says whether it is true."""

_FEWEST_TOLD = 5
"""Fewest such items with a word behind an arrow, whatever the others are."""


def _whole(start: Start) -> str:
    """Returns the text of an item: what asks, and what is said behind it."""
    return f"{start.stem.text} {start.said}".strip()


def _answered_lines(run: list[Start]) -> Verdict:
    answered = {start for start in run if start.answer is not None or start.offers}
    regular = len(answered) >= FEWEST["item"] and sum(bool(start.number) for start in answered) == len(answered)
    numbered = {start for start in run if start.number and (start.bold or regular)}
    most = len(answered) * 2 >= len(run)
    return Verdict(tuple(start for start in run if start in answered or (most and start in numbered)))
