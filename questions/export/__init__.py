"""Banks out to other formats: a table of formats, each a pure function of a bank. Reads and writes no file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from questions.export import anki, csv_table, gift, json_bank, native

if TYPE_CHECKING:
    from collections.abc import Callable

    from questions.model import Bank, Question

__all__ = ["EDITION", "FORMATS", "Export", "ExportFormat", "exported", "left_out"]

ExportFormat = Literal["markdown", "json", "csv", "gift", "anki"]

EDITION = 1_767_225_600.0
"""The instant that stands in what is exported where the caller names none: 1 January 2026, UTC."""


class Export(NamedTuple):
    """A format banks are written in."""

    suffix: str
    media_type: str
    holds: Callable[[Question], bool]
    """Whether it has a place for a question at all."""
    write: Callable[[Bank, float], bytes]
    """The bank as a file, dated at an instant in seconds since 1970."""


def _text(write: Callable[[Bank], str]) -> Callable[[Bank, float], bytes]:
    """A format of text, which keeps no instant. Half characters of a broken document become question marks."""
    return lambda bank, _at: write(bank).encode("utf-8", "replace")


def _any(_question: Question) -> bool:
    return True


def _no_family(question: Question) -> bool:
    """A family is a program that draws questions; only our own formats carry programs."""
    return not question.draw


FORMATS: dict[ExportFormat, Export] = {
    "markdown": Export(".md", "text/markdown", _any, _text(native.native_text)),
    "json": Export(".json", "application/json", _any, _text(json_bank.json_text)),
    "csv": Export(".csv", "text/csv", _no_family, _text(csv_table.csv_bank)),
    "gift": Export(".gift", "text/plain", _no_family, _text(gift.gift_bank)),
    "anki": Export(".apkg", "application/octet-stream", _no_family, anki.anki_package),
}
assert set(FORMATS) == set(get_args(ExportFormat))


def exported(bank: Bank, format: ExportFormat, *, at: float = EDITION) -> bytes:
    """The bank as a file of a format: the same bytes for the same bank and instant.

    `at`, in seconds since 1970, is kept by Anki alone, which takes the later of two editions of a note.
    Questions that a format has no place for are not in it; `left_out` names them.
    """
    export = FORMATS[format]
    kept = tuple(question for question in bank.questions if export.holds(question))
    return export.write(bank if kept == bank.questions else _with(bank, kept), at)


def left_out(bank: Bank, format: ExportFormat) -> tuple[Question, ...]:
    """The questions of a bank that a format has no place for."""
    return tuple(question for question in bank.questions if not FORMATS[format].holds(question))


def _with(bank: Bank, questions: tuple[Question, ...]) -> Bank:
    return type(bank)(bank.name, bank.title, questions, bank.licence, bank.dialects)
