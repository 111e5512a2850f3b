"""A bank as CSV: a row a question, Markdown in the cells, a column for each option and its reason."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from questions.export.shown import answer_of, letter, letters_right

if TYPE_CHECKING:
    from questions.model import Bank, Question

_BEFORE = ("id", "kind", "topic", "level", "question", "program")
_AFTER = ("correct", "answer", "key points", "why", "tags", "links", "licence")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet would compute a cell that begins so."""


def csv_bank(bank: Bank) -> str:
    """The questions of a bank; a task keeps its starter and its reference, not its cases."""
    most = max((len(question.options) for question in bank.questions), default=0)
    pairs = [name for index in range(most) for name in (f"option {letter(index)}", f"reason {letter(index)}")]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*_BEFORE, *pairs, *_AFTER])
    for question in bank.questions:
        writer.writerow([_safe(cell) for cell in _row(question, most)])
    return out.getvalue()


def _row(question: Question, most: int) -> list[str]:
    program = question.task.starter if question.task else question.program
    options = [text for option in question.options for text in (option.text, option.reason)]
    return [
        question.id,
        question.kind,
        question.topic,
        question.level or "",
        question.prompt,
        program,
        *options,
        *[""] * (2 * most - len(options)),
        letters_right(question),
        answer_of(question),
        "\n".join(" ".join(point.split()) for point in question.key_points),
        question.why,
        ", ".join(question.tags),
        "\n".join(question.links),
        question.licence,
    ]


def _safe(cell: str) -> str:
    """The cell as text: a line ending before it, which readers drop, keeps spreadsheets from computing it."""
    return "\n" + cell if cell.startswith(_FORMULA) and len(cell) > 1 else cell
