"""Reads what people typed: the fields and answers of forms, and the programs in messages."""

from __future__ import annotations

import re

from bot.core.command_parser import CommandError
from bot.core.events import Submit
from bot.core.text import command_errors, marking
from service.wire import CONFIDENCES, AnswerInput, Confidence

# Not parsed as Markdown: chats accept a fence that opens and closes within a line.
_FENCED = re.compile(r"```(?:(?:python3?|py)[ \t]*\n|[ \t]*\n)?(.*?)```", re.DOTALL | re.IGNORECASE)
# Without a fence, a message counts as prose unless one of its lines can only be Python.
_PLAIN_CODE = re.compile(
    r"""^(?:async\s+)?def\s+\w+\s*\( | ^class\s+\w+\s*[(:] | ^import\s+[\w.]+$ | ^from\s+[\w.]+\s+import\s""",
    re.MULTILINE | re.VERBOSE,
)


def text_in(event: Submit, name: str) -> str:
    """Returns the first value of a field as it was typed; empty if it has none."""
    return next(iter(event.values.get(name, ())), "")


def word_in(event: Submit, name: str) -> str:
    """Returns the first value of a field without spaces around it."""
    return text_in(event, name).strip()


def given_in(event: Submit) -> AnswerInput:
    """Reads an answer from a form. A form has one field, whose name depends on the kind of question. Raises
    CommandError if it is empty."""
    if "code" in event.values:
        return AnswerInput(code=code_in(event))
    if "text" in event.values:
        text = text_in(event, "text")
        if not text.strip():
            raise CommandError(command_errors.NO_TEXT)
        return AnswerInput(text=text, confidence=confidence(word_in(event, "confidence")))
    options = tuple(option for option in event.values.get("options", ()) if option)
    if not options:
        raise CommandError(command_errors.NO_OPTION)
    return AnswerInput(options=options, confidence=confidence(word_in(event, "confidence")))


def confidence(word: str) -> Confidence | None:
    """Returns the confidence that a button or a field names; None if it names none."""
    return next((known for known in CONFIDENCES if known == word), None)


def marks_in(event: Submit) -> tuple[int, ...]:
    """Reads the indexes of the key points that were marked as covered."""
    picked = set(filter(None, event.values.get("points", ())))
    if not picked or (marking.NONE_COVERED in picked and len(picked) > 1):
        raise CommandError.of(command_errors.MARKED_BOTH)
    points = map(read_count, picked - {marking.NONE_COVERED})
    return tuple(sorted(point for point in points if point is not None))


def read_count(text: str) -> int | None:
    """Returns a number of at most nine digits; None for any other text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else None


def code_in(event: Submit) -> str:
    """Reads a program from a form. Raises CommandError if it is empty."""
    code = without_fence(text_in(event, "code"))
    if not code.strip():
        raise CommandError(command_errors.NO_CODE)
    return code


def without_fence(code: str) -> str:
    """Removes the code fence around a program."""
    lines = code.strip().splitlines()
    if len(lines) > 1 and lines[0].startswith("```") and lines[-1].strip() == "```":
        return "\n".join(lines[1:-1])
    return code.strip().strip("`") if code.strip().startswith("`") else code


def programs_of(text: str) -> tuple[str, ...]:
    """Returns the programs in a message: its fenced blocks, or all of it if it is plain code."""
    fenced = tuple(block.rstrip() for block in _FENCED.findall(text) if block.strip())
    if fenced:
        return fenced
    return (text.strip("\n"),) if _PLAIN_CODE.search(text) else ()
