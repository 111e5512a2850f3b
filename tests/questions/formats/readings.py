"""Short forms of what is read of a document, for tables of cases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from questions import read_bank

if TYPE_CHECKING:
    from questions import Question, Reading


def asked(question: Question) -> str:
    """Returns a question in one line: its prompt, its options with `+` or `-`, its answer, its explanation."""
    parts = [question.prompt]
    for option in question.options:
        parts.append(f"{'+' if option.right else '-'} {option.text}" + (f" ({option.reason})" if option.reason else ""))
    parts += [f"= {question.answer}"] if question.answer is not None else []
    parts += [f"why {question.why}"] if question.why else []
    return " | ".join(parts)


def all_asked(reading: Reading) -> list[str]:
    """Returns all questions of a reading, each in one line."""
    return [asked(question) for question in reading.bank.questions]


def found(reading: Reading) -> list[str]:
    """Returns all findings of a reading: lines, code, message, note and help."""
    return [
        f"{one.span.line}-{one.span.end_line} {one.code} {one.message} | {one.note} | {one.help}"
        for one in reading.findings
    ]


def messages(reading: Reading) -> list[str]:
    """Returns the codes and messages of all findings."""
    return [f"{finding.code} {finding.message}" for finding in reading.findings]


def read_as(name: str, text: str | bytes) -> list[str]:
    """Returns all questions of a document, each in one line."""
    return all_asked(read_bank(text, name=name))
