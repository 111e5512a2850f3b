"""Writes a bank as Moodle GIFT: one line per prompt and option, reasons as feedback."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.export.common import answer_of, prompt_of, tags_of
from questions.formats.draft import literal_of
from questions.formats.gift import RECIPE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.model import Bank, Option, Question


_SPECIAL = re.compile(r"[\\~=#{}:\n]")
_PREFIX = re.compile(r"\s*(?:%-?\d|\[(?:html|markdown|plain|moodle)\])")


def gift_bank(bank: Bank) -> str:
    """Returns the questions of a bank; texts are marked as Markdown. A task keeps its starter and its reference."""
    lines = [f"{RECIPE}{line}" for line in bank.recipe.splitlines()]
    topic = ""
    for question in bank.questions:
        if question.topic != topic:
            topic = question.topic
            lines += [f"$CATEGORY: top/{topic}".rstrip("/"), ""]
        lines += [*_question(question), ""]
    return "\n".join(lines)


def _question(question: Question) -> Iterator[str]:
    notes = [f"[id:{_note(question.id)}]", *(f"[tag:{_note(tag)}]" for tag in tags_of(question))]
    yield "// " + " ".join(notes)
    title = _escaped(" ".join((question.title or question.id).split()))
    yield f"::{title}::[markdown]{_escaped(prompt_of(question))} {{"
    feedback = question.why
    if question.options:
        yield from _options(question.options)
    elif question.kind == "value" and question.answer and _is_number(question.answer):
        yield f"\t#{question.answer}"
    elif question.kind in ("value", "output") and question.answer and "->" not in question.answer:
        # A star is a wildcard in a short answer.
        yield f"\t={_escaped(question.answer.replace('*', chr(92) + '*'))}"
    else:
        feedback = "\n\n".join(text for text in (answer_of(question), _points(question), question.why) if text)
    if feedback:
        yield f"\t####{_escaped(feedback)}"
    yield "}"


def _is_number(text: str) -> bool:
    return literal_of(text) is not None and text[:1] not in "(["


def _points(question: Question) -> str:
    return "\n".join(f"- {' '.join(point.split())}" for point in question.key_points)


def _options(options: tuple[Option, ...]) -> Iterator[str]:
    right = sum(option.right for option in options)
    for option in options:
        if right == 1:
            mark = "=" if option.right else "~"
            weight = ("%100%" if option.right else "%0%") if _PREFIX.match(option.text) else ""
        else:
            mark = "~"
            weight = f"%{_share(right)}%" if option.right else "%-100%"
        text = f"[markdown]{option.text}" if _PREFIX.match(option.text) else option.text
        feedback = f"#{_escaped(option.reason)}" if option.reason else ""
        yield f"\t{mark}{weight}{_escaped(text)}{feedback}"


def _share(right: int) -> str:
    """Returns the weight of one of `right` options as Moodle writes it: `33.33333` for three."""
    return f"{100 / right:.5f}".rstrip("0").rstrip(".")


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: "\\n" if found[0] == "\n" else "\\" + found[0], text)


def _note(text: str) -> str:
    return re.sub(r"[\\\]]", lambda found: "\\" + found[0], " ".join(text.split()))
