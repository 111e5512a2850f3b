r"""Reads LaTeX documents in which bold numbers begin tasks and bold words answers, with no environment for either:
`\textbf{1.} Show that … \textbf{Proof.} Let …`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from questions.formats.draft import Item, add_open, add_unanswered
from questions.wording.imperatives import asks_or_demands
from questions.wording.labels import ANSWER_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.formats.draft import ImportDraft
    from questions.formats.latex.text import Tex

_WORDS = (
    r"exercise|question|problem|task|aufgabe|übung|exercice|ejercicio|exercício|questão|esercizio|zadanie|задача|вопрос"
)
_BOLD = r"[ \t]{0,20}(?:\\noindent[ \t]*)?(?:\$[^$\n]{1,200}\$[ \t]{0,3})?(?:\\textbf[ ]?\{|\{\\bf(?:series)?[ ])[ ]?"
"""The beginning of a line in bold; a formula before it defines commands."""
_NUMBER = re.compile(
    rf"(?im)^{_BOLD}(?:(?P<word>{_WORDS})[ ~]{{0,2}})?(?P<number>\d{{1,3}})[ ]?[.):]?[ ]?\}}[.):]?[ \t]*", re.IGNORECASE
)
_ANSWER = re.compile(
    r"(?im)^[ \t]{0,20}(?:\\noindent[ \t]*)?(?:\\(?:textbf|textit|emph|underline|textsc)[ ]?\{|\{\\(?:bf|it|em)[ ])[ ]?"
    rf"(?:{ANSWER_WORDS}|proof|beweis|d[ée]monstration|preuve|demostración|demonstração|dimostrazione|dowód"
    r"|доказательство)[ ]?[.:]?[ ]?\}[.:]?[ \t]*"
)
_END = re.compile(r"\\(?:end\{document\}|(?:sub){0,2}section\b|chapter\b|bibliography\b|printbibliography\b)")
_OTHER = re.compile(
    rf"\\(?:question\b|begin\{{(?:{_WORDS}|prob|ex|exer|questions|solution|answer)\*?\}})", re.IGNORECASE
)
"""What begins questions in documents that have an environment or a command for them."""
_FEWEST = 3
"""Fewest numbers."""
_ANSWERED = 2 / 3
"""Share of the numbers that must have an answer before the next one."""


def seem_numbered(lines: Sequence[str]) -> bool:
    """Returns whether several lines of a document begin with a bold number, and as many as must have an answer with a
    bold word for one."""
    numbers = sum(_NUMBER.match(line) is not None for line in lines)
    return numbers >= _FEWEST and sum(_ANSWER.match(line) is not None for line in lines) >= _ANSWERED * numbers


_ASK = 1 / 2
"""Share of the texts below numbers without a word that must ask: theorems have numbers and proofs too."""
_SENTENCE = re.compile(r"(?<=[.,:;])\s+|\n\n|\$?\([a-h]\)\$?\s*")
_MOST_SENTENCES = 40


class _Task(NamedTuple):
    """A bold number with what is below it."""

    start: int
    end: int
    word: bool
    asked: str
    solution: str

    @property
    def asks(self) -> bool:
        """Whether a word for a task is before the number, or a part of the text asks or sets a task."""
        parts = (part for part in _SENTENCE.split(self.asked)[:_MOST_SENTENCES] if part)
        return self.word or any(asks_or_demands(part[0].upper() + part[1:]) for part in parts)


def add_numbered(draft: ImportDraft, tex: Tex) -> bool:
    """Adds the tasks below bold numbers that count up from 1, unless the document has other marks of questions, or few
    ask or have an answer. Returns whether it has such tasks."""
    found = [*_NUMBER.finditer(tex.text)]
    counted = [int(one["number"]) for one in found] == [*range(1, len(found) + 1)]
    if not counted or len(found) < _FEWEST or _OTHER.search(tex.text):
        return False
    ends = [*(one.start() for one in found[1:]), len(tex.text)]
    tasks = [_task(tex, one, end) for one, end in zip(found, ends, strict=True)]
    answered, asking = sum(bool(one.solution) for one in tasks), sum(one.asks for one in tasks)
    if answered < _ANSWERED * len(tasks) or asking < _ASK * len(tasks):
        return False
    for task in tasks:
        _add(draft, task, (tex.line(task.start), tex.line(task.end)))
    return True


def _task(tex: Tex, number: re.Match[str], end: int) -> _Task:
    """Returns what is between a number and the next one, or the end of its section."""
    section = _END.search(tex.text, number.end(), end)
    stop = section.start() if section else end
    answer = _ANSWER.search(tex.text, number.end(), stop)
    asked = tex.convert(number.end(), answer.start() if answer else stop).text.strip()
    solution = tex.convert(answer.end(), stop).text.strip() if answer else ""
    while stop > number.end() and tex.text[stop - 1].isspace():
        stop -= 1
    return _Task(number.start(), max(stop - 1, number.start()), bool(number["word"]), asked, solution)


def _add(draft: ImportDraft, task: _Task, lines: tuple[int, int]) -> None:
    item = Item(*lines, task.asked)
    if not task.asked:
        draft.add_skipped("the question has no prompt", "write the question", lines)
    elif not draft.accepts(*lines, task.end - task.start):
        return
    elif task.solution:
        add_open(draft, item, task.solution)
    else:
        add_unanswered(draft, item)
