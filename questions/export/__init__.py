"""Exports banks to other formats. Each format is a pure function of a bank."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from questions.export import anki, gift, native
from questions.export.common import answer_of, letter, letters_right
from questions.formats.json import ENVELOPE, VERSION
from questions.model import as_data

if TYPE_CHECKING:
    from collections.abc import Callable

    from questions.model import Bank, Question


# JSON


def json_text(bank: Bank) -> str:
    """Returns the complete bank; places refer to the document it was read from."""
    data = {
        "format": ENVELOPE,
        "version": VERSION,
        "bank": {
            "name": bank.name,
            "title": bank.title,
            "license": bank.license,
            "dialects": list(bank.dialects),
            **({"recipe": bank.recipe} if bank.recipe else {}),
        },
        "questions": [as_data(question) for question in bank.questions],
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


# CSV: one row per question, Markdown in the cells

_BEFORE = ("id", "kind", "topic", "level", "question", "program")
_AFTER = ("correct", "answer", "key points", "why", "tags", "links", "license")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""Characters at the start of a cell that make a spreadsheet compute it."""


def csv_bank(bank: Bank) -> str:
    """Returns the questions of a bank; a task keeps its starter and its reference, but not its cases."""
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
        question.license,
    ]


def _safe(cell: str) -> str:
    """Returns the cell as text: readers drop a line break before it, and spreadsheets then compute nothing."""
    return "\n" + cell if cell.startswith(_FORMULA) and len(cell) > 1 else cell


__all__ = ["DEFAULT_DATE", "FORMATS", "Export", "ExportFormat", "export_bank", "unsupported_questions"]

ExportFormat = Literal["markdown", "json", "csv", "gift", "anki"]

DEFAULT_DATE = 1_767_225_600.0
"""Default date of exports, seconds since 1970: 1 January 2026, UTC."""


class Export(NamedTuple):
    """An export format."""

    suffix: str
    holds: Callable[[Question], bool]
    """Whether the format can represent a question."""
    write: Callable[[Bank, float], bytes]
    """Returns the bank as a file, dated in seconds since 1970."""


def _text(write: Callable[[Bank], str]) -> Callable[[Bank, float], bytes]:
    """Returns a writer for a text format, which stores no date. Lone surrogates become question marks."""
    return lambda bank, _at: write(bank).encode("utf-8", "replace")


def _any(_question: Question) -> bool:
    return True


def _no_family(question: Question) -> bool:
    """Returns whether the question is not a family: only our own formats can store programs."""
    return not question.draw


FORMATS: dict[ExportFormat, Export] = {
    "markdown": Export(".md", _any, _text(native.native_text)),
    "json": Export(".json", _any, _text(json_text)),
    "csv": Export(".csv", _no_family, _text(csv_bank)),
    "gift": Export(".gift", _no_family, _text(gift.gift_bank)),
    "anki": Export(".apkg", _no_family, anki.anki_package),
}
assert set(FORMATS) == set(get_args(ExportFormat))


def export_bank(bank: Bank, format: ExportFormat, *, at: float = DEFAULT_DATE) -> bytes:
    """Returns the bank as a file: the same bytes for the same bank and date.

    Only Anki packages contain the date `at`, in seconds since 1970; Anki keeps the later of two versions of a note.
    Questions that the format cannot represent are missing; `unsupported_questions` returns them.
    """
    export = FORMATS[format]
    kept = tuple(question for question in bank.questions if export.holds(question))
    return export.write(bank if kept == bank.questions else _with(bank, kept), at)


def unsupported_questions(bank: Bank, format: ExportFormat) -> tuple[Question, ...]:
    """Returns the questions of a bank that the format cannot represent."""
    return tuple(question for question in bank.questions if not FORMATS[format].holds(question))


def _with(bank: Bank, questions: tuple[Question, ...]) -> Bank:
    return type(bank)(bank.name, bank.title, questions, bank.license, bank.dialects)
