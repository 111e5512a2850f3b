"""A bank in our own Markdown. What is written is read again at once, so that it says what the question says.

The dialect has no place for a question's section, number and title, for a licence of its own, and for headings
of the first three depths within a text; ids that are no words joined by hyphens, topics that are no heading,
tags with commas, links that are no address and spaced dashes in an option are changed or dropped. `held` says
what remains.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from typing import TYPE_CHECKING, Any

import yaml

from questions.dialects import native as dialect
from questions.dialects.native_parts import split_reason
from questions.document import open_document
from questions.export.calm import calmed, fenced
from questions.export.native_parts import question_text
from questions.model import Place
from questions.source import open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from questions.model import Bank, Option, Question

_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_URL = re.compile(r"https?://[^\s<>)\]]+")
_ONLY: dict[str, tuple[str, ...]] = {
    "options": ("choice",),
    "answer": ("value", "output", "open"),
    "program": ("value", "output", "choice", "open"),
    "key_points": ("open",),
    "task": ("code",),
    "draw": ("choice", "value"),
}
"""The kinds a field is written of."""
_NOWHERE = Place("", 0, 0)
_END = "dailygrad-end-of-question"
"""The id of what is read behind each question, to see that it ends where it should."""


def native_text(bank: Bank) -> str:
    """The bank as a document of our dialect; questions without a topic come first."""
    parts = [_front(bank)]
    topic = ""
    for question in sorted(_named(bank.questions), key=lambda question: question.topic != ""):
        text, as_topic = written(question)
        if as_topic != topic:
            topic = as_topic
            parts.append(topic)
        parts.append(text)
    return "\n\n".join(parts) + "\n"


def held(question: Question) -> Question:
    """The question as far as the dialect holds it; place, section and the order of its code aside."""
    empty = {name: _EMPTY[name] for name, kinds in _ONLY.items() if question.kind not in kinds}
    return dataclasses.replace(
        question,
        place=_NOWHERE,
        section=(),
        number="",
        title="",
        licence="",
        code_blocks=(),
        links=tuple(link for link in question.links if _URL.fullmatch(link)),
        tags=tuple(tag for word in question.tags if (tag := " ".join(word.replace(",", " ").split()))),
        topic=" ".join(question.topic.split()),
        **{"options": tuple(map(_option, question.options)), **empty},
    )


def _option(option: Option) -> Option:
    """The option without a dash that would part its text from its reason."""
    if not split_reason(option.text)[1]:
        return option
    return dataclasses.replace(option, text=option.text.replace(" — ", " &mdash; "))


_EMPTY: dict[str, Any] = {"options": (), "answer": None, "program": "", "key_points": (), "task": None, "draw": ""}


def _front(bank: Bank) -> str:
    lines = ["---", f"bank: {_scalar(bank.name)}", f"title: {_scalar(bank.title)}"]
    licences = {question.licence for question in bank.questions}
    licence = bank.licence or (licences.pop() if len(licences) == 1 else "")
    if licence:
        lines.append(f"licence: {_scalar(licence)}")
    return "\n".join([*lines, "---"])


def _scalar(text: str) -> str:
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9 ._/()+-]*(?<! )", text):
        return text
    shown = " ".join(text.encode("utf-8", "replace").decode().split())
    return yaml.safe_dump(shown, default_style='"', allow_unicode=True, width=10**9).strip()


def _named(questions: tuple[Question, ...]) -> Iterator[Question]:
    """The questions with ids the dialect can read, none of them twice."""
    used = {question.id for question in questions}
    for question in questions:
        if _ID.fullmatch(question.id):
            yield question
            continue
        words = "-".join(re.findall(r"[a-z0-9]+", question.id.lower()))
        mark = hashlib.sha256(question.id.encode("utf-8", "replace")).hexdigest()[:6]
        name = f"{words}-{mark}" if words else f"question-{mark}"
        while name in used:
            name += "-x"
        used.add(name)
        yield dataclasses.replace(question, id=name)


_WAYS: tuple[Callable[[str], str], ...] = (str, calmed, fenced)
"""How texts are written: as they stand; without what would end the question; as code, which ends nothing."""


def written(question: Question) -> tuple[str, str]:
    """A question and the heading of its topic, in the first way that reads as it should."""
    wanted = held(question)
    best = ""
    for way in _WAYS:
        topic, text = question_text(wanted, question.code_blocks, way)
        again = _read_again(topic, text)
        if again is not None and _same(again, wanted):
            return text, topic
        if again is not None and not best and _alike(again, wanted):
            best = text
    return best or text, topic


def _same(one: Question, other: Question) -> bool:
    return held(one) == dataclasses.replace(other, topic=one.topic)


def _alike(one: Question, other: Question) -> bool:
    """Whether what decides about an answer is the same."""
    keys = [(option.id, option.right) for option in one.options] == [(o.id, o.right) for o in other.options]
    same = (one.id, one.kind, one.answered) == (other.id, other.kind, other.answered)
    exact = one.kind not in ("value", "output") or one.answer == other.answer
    return keys and same and exact and one.task == other.task


def _read_again(topic: str, text: str) -> Question | None:
    """The question that a reader finds in a text; None where it is not this one alone, or has a fault."""
    end = f"## {_END} · open\n\nEnd."
    source, _ = open_source("\n\n".join(part for part in (topic, text, end) if part), "")
    draft = dialect.read(open_document(source))
    faults = [finding for finding in draft.findings if finding.severity == "error"]
    ids = [question.id for question in draft.questions]
    return draft.questions[0] if not faults and len(ids) == 2 and ids[1] == _END else None
