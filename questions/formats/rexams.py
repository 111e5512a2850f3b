"""Reads exercises of R/exams in Markdown: a question with its list of answers, a solution, and what the key is.

    Question
    ========
    Which call copies?

    Answerlist
    ----------
    * view
    * clone

    Meta-information
    ================
    extype: schoice
    exsolution: 01

Exercises whose text or key a program makes are named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from questions.formats.draft import (
    ImportDraft,
    Item,
    OptionDraft,
    add_choice,
    add_number,
    add_open,
    add_short,
    add_unanswered,
)
from questions.source import trim

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Source

NAME = "rexams"

_PARTS = ("question", "solution", "meta-information")
_LINE = re.compile(r"[=-]{3,}[ \t]*")
_META = re.compile(r"(?P<name>ex[a-z]{2,20}):[ \t]*(?P<value>.*)")
_ITEM = re.compile(r"[*-][ \t]+(?P<text>\S.*)")
_MADE = re.compile(r"`r[ ][^`\n]*`")
"""Text that a program makes."""
_PROGRAM = re.compile(r"[ \t]*```\{r\b.*")
_TRUTH = re.compile(r"(?:true|false)[.:,;]?[ ]*", re.IGNORECASE)
_BITS = re.compile(r"[01]+")


@dataclass(slots=True)
class _Exercise:
    """The parts of one exercise: lines of text and items of the list below them."""

    first: int
    last: int
    texts: dict[str, list[str]] = field(default_factory=dict)
    lists: dict[str, list[str]] = field(default_factory=dict)
    meta: dict[str, str] = field(default_factory=dict)

    def text(self, part: str) -> str:
        """Returns the text of a part as Markdown."""
        return trim("\n".join(self.texts.get(part, []))).strip()


def sniff(source: Source) -> bool:
    """Returns whether a text has a question and says what its type and its key are."""
    heads = {name for _, name in _heads(source.lines)}
    return {"question", "meta-information"} <= heads and any(line.startswith("extype:") for line in source.lines)


def read(source: Source) -> ImportDraft:
    """Reads all exercises."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    for exercise in _exercises(source.lines):
        size = sum(map(len, source.lines[exercise.first - 1 : exercise.last]))
        if draft.accepts(exercise.first, exercise.last, size):
            _add(draft, exercise)
    return draft


def _heads(lines: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Yields the index and the name of each part and each list of answers."""
    for number, line in enumerate(lines[:-1]):
        name = line.strip().lower()
        if name in (*_PARTS, "answerlist") and _LINE.fullmatch(lines[number + 1]):
            yield number, name


def _exercises(lines: tuple[str, ...]) -> Iterator[_Exercise]:
    heads = list(_heads(lines))
    exercise: _Exercise | None = None
    part = ""
    for (start, name), end in zip(heads, [*(one for one, _ in heads[1:]), len(lines)], strict=True):
        if name == "question":
            if exercise is not None:
                yield exercise
            exercise = _Exercise(start + 1, start + 2)
        if exercise is None:
            continue
        exercise.last = end
        body = list(lines[start + 2 : end])
        if name == "answerlist":
            exercise.lists.setdefault(part, _items(body))
        elif name == "meta-information":
            found = (_META.match(line) for line in body)
            exercise.meta |= {one["name"]: one["value"].strip() for one in found if one}
        else:
            part = name
            exercise.texts[part] = list(_without_programs(body))
    if exercise is not None:
        yield exercise


def _items(lines: list[str]) -> list[str]:
    items: list[str] = []
    for line in lines:
        if found := _ITEM.match(line):
            items.append(found["text"])
        elif line.strip() and items:
            items[-1] += f" {line.strip()}"
    return items


def _without_programs(lines: list[str]) -> Iterator[str]:
    inside = False
    for line in lines:
        if inside or _PROGRAM.fullmatch(line):
            inside = not (inside and line.strip().startswith("```"))
        else:
            yield line


def _add(draft: ImportDraft, exercise: _Exercise) -> None:
    item = Item(exercise.first, exercise.last, exercise.text("question"), why=exercise.text("solution"))
    item.title = exercise.meta.get("exname", "")
    kind, key = exercise.meta.get("extype", ""), exercise.meta.get("exsolution", "")
    offered = exercise.lists.get("question", [])
    if any(map(_MADE.search, (item.prompt, *offered))):
        draft.add_skipped("a program makes the text of this question", "export the exercise with its text", item.lines)
        return
    item.why = "" if _MADE.search(item.why) else item.why
    if kind in ("schoice", "mchoice"):
        _choice(draft, item, exercise, offered, key)
    elif kind == "num" and not _MADE.search(key):
        tolerance = exercise.meta.get("extol", "")
        add_number(draft, item, [f"{key}:{tolerance}" if tolerance not in ("", "0") else key])
    elif kind == "string" and not _MADE.search(key):
        add_short(draft, item, [key])
    elif kind == "cloze":
        draft.add_skipped("questions with several fields are not supported", "ask one thing at a time", item.lines)
    elif item.why:
        why, item.why = item.why, ""
        add_open(draft, item, why)
    else:
        add_unanswered(draft, item)


def _choice(draft: ImportDraft, item: Item, exercise: _Exercise, offered: list[str], key: str) -> None:
    if len(offered) < 2:
        draft.add_skipped("a program makes the options of this question", "write them below `Answerlist`", item.lines)
        return
    bits = key if _BITS.fullmatch(key) and len(key) == len(offered) else ""
    if not bits and key:
        note = f"it says `{key[:60]}`"
        draft.add(
            "Q606", "the key does not say of each option whether it is right", "write 1 or 0", item.lines, note=note
        )
    reasons = exercise.lists.get("solution", [])
    reasons = [_TRUTH.sub("", one, count=1) for one in reasons] if len(reasons) == len(offered) else [""] * len(offered)
    options = [
        OptionDraft(text, bits[at : at + 1] == "1", reason)
        for at, (text, reason) in enumerate(zip(offered, reasons, strict=True))
    ]
    add_choice(draft, item, options)
