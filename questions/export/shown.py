"""What the formats without a place for programs and key points share: a question in prompt, answer and reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from questions.foreign.wording import fence

if TYPE_CHECKING:
    from questions.model import Question


def prompt_of(question: Question) -> str:
    """The prompt with the program shown beside it, and for a task the code to begin with."""
    parts = [question.prompt]
    if question.program:
        parts.append(fence(question.program, "python"))
    if question.task and question.task.starter:
        parts.append(fence(question.task.starter, "python"))
    return "\n\n".join(part for part in parts if part)


def answer_of(question: Question) -> str:
    """The answer as Markdown; of a task its reference. Empty where the options, or nobody, say what is right."""
    if question.task:
        return fence(question.task.reference, "python")
    return question.answer or ""


def letters_right(question: Question) -> str:
    """The letters of the right options: `A, C`."""
    return ", ".join(letter(index) for index, option in enumerate(question.options) if option.right)


def letter(index: int) -> str:
    """A for 0; behind Z the number."""
    return chr(ord("A") + index) if index < 26 else str(index + 1)


def tags_of(question: Question) -> list[str]:
    """The level and the tags, as words without blanks, for formats that know tags alone."""
    words = [question.level or "", *question.tags]
    return list(dict.fromkeys("-".join(word.split()) for word in words if word.strip()))
