"""An Anki note as questions: named fields as a row, gaps as a question for each card. Opens no file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from questions.foreign.making import Item, add_short, topic_of
from questions.foreign.rows import Column, Row, add_row, columns
from questions.foreign.wording import from_html, from_plain

if TYPE_CHECKING:
    from questions.foreign.sheet import Sheet

_GAP = re.compile(
    r"\{\{c(?P<number>\d{1,3})::(?P<text>(?:[^{}:]|:(?!:)|\{(?!\{)|\}(?!\}))*)(?:::(?P<hint>[^{}]*))?\}\}"
)
_MEDIA = re.compile(r"\[sound:[^\]]*\]|<(?:img|audio|video|object)\b", re.IGNORECASE)
_ITEM = re.compile(r"<li\b[^<>]*>", re.IGNORECASE)
_GAPS = 40
_EXACT = (("kind", "value"), ("kind", "output"))
_TEMPLATE_TAGS = frozenset({"leech", "marked"})


@dataclass(slots=True)
class Note:
    """A note as Anki keeps it."""

    first: int
    last: int
    html: bool = True
    """Whether its fields are HTML."""
    fields: list[tuple[str, str]] = field(default_factory=list)
    """Names, empty where they are not known, and texts."""
    tags: list[str] = field(default_factory=list)
    deck: str = ""
    """Its parts joined by `::`."""

    @property
    def lines(self) -> tuple[int, int]:
        """Its first and last line."""
        return self.first, self.last

    def words(self, text: str) -> str:
        """A field as Markdown."""
        return from_html(text) if self.html else from_plain(text)


def add_note(sheet: Sheet, note: Note) -> None:
    """Add the questions of a note."""
    texts = [text for _, text in note.fields]
    if not sheet.takes(*note.lines, sum(map(len, texts))):
        return
    if any(_MEDIA.search(text) for text in texts):
        cure = "describe what is to be seen or heard"
        sheet.say("Q609", "pictures and sounds are not kept", cure, note.lines, note="their names stay in the text")
    if texts and _GAP.search(texts[0]):
        _add_gaps(sheet, note)
    elif sum(bool(text.strip()) for text in texts) < 2:
        sheet.left_out("this note has fewer than two fields", "write what is asked and what is right", note.lines)
    else:
        _add_fields(sheet, note)


def _roles(note: Note) -> list[Column]:
    """What the fields hold, by name; where the names say nothing the first asks and the second answers."""
    roles = columns([name for name, _ in note.fields])
    known = {column.role for column in roles}
    if "question" in known and known & {"answer", "options", "option", "correct"}:
        return roles
    filled = [index for index, (_, text) in enumerate(note.fields) if text.strip()]
    wanted = {filled[0]: "question", filled[1]: "answer"}
    kept = {"why", "tags", "topic", "level", "links"}
    return [
        Column(wanted.get(index) or (column.role if column.role in kept else "")) for index, column in enumerate(roles)
    ]


def _add_fields(sheet: Sheet, note: Note) -> None:
    row = Row(*note.lines)
    unused: list[str] = []
    roles = _roles(note)
    exact = any(
        column.role == "kind" and text in ("value", "output")
        for column, (_, text) in zip(roles, note.fields, strict=True)
    )
    for column, (name, text) in zip(roles, note.fields, strict=True):
        if column.role == "options" and note.html and _ITEM.search(text):
            row.options.update(enumerate(map(note.words, _ITEM.split(text)[1:])))
        elif column.role == "reasons" and note.html:
            row.reasons.update(enumerate(map(note.words, _ITEM.split(text)[1:])))
        elif column.role in ("id", "kind", "level", "topic", "correct"):
            row.put(column, _bare(text) if note.html else text)
        elif column.role == "program" or (column.role == "answer" and exact):
            row.put(column, _program(note.words(text)))
        elif column.role:
            row.put(column, note.words(text))
        elif text.strip():
            unused.append(name or "a field without a name")
    if unused:
        shown = ", ".join(unused[:10])
        sheet.say("Q610", f"fields were not kept: {shown}", "join them with others", note.lines, severity="note")
    row.cells["tags"] = ",".join([*_tags(note), row.cells.get("tags", "")])
    row.cells.setdefault("topic", note.deck)
    add_row(sheet, row)


def _said(roles: list[Column], note: Note) -> list[tuple[str, str]]:
    return [(column.role, text.strip()) for column, (_, text) in zip(roles, note.fields, strict=True)]


def _bare(text: str) -> str:
    return re.sub(r"<[^<>]*>", " ", text).replace("&nbsp;", " ").replace("&amp;", "&").strip()


def _program(markdown: str) -> str:
    """A program without the fence around it."""
    lines = markdown.split("\n")
    return "\n".join(lines[1:-1]) if len(lines) > 2 and lines[0].startswith("```") else markdown


def _tags(note: Note) -> list[str]:
    return [tag for tag in note.tags if tag not in _TEMPLATE_TAGS]


def _add_gaps(sheet: Sheet, note: Note) -> None:
    """A question for each number among the gaps: its own are open, the others show their words."""
    text = note.fields[0][1]
    found = list(_GAP.finditer(text))
    if len(found) > _GAPS:
        sheet.left_out(f"this note has more than {_GAPS} gaps", "split it", note.lines)
        return
    extra = "\n\n".join(note.words(more) for _, more in note.fields[1:] if more.strip())
    for number in dict.fromkeys(gap["number"] for gap in found):
        hidden = [note.words(gap["text"]) for gap in found if gap["number"] == number]
        prompt = note.words(_GAP.sub(lambda gap, number=number: _shown(gap, number), text))  # type: ignore[misc]
        item = Item(*note.lines, prompt, why=extra, topic=topic_of(note.deck), number=number)
        item.section = tuple(part for part in note.deck.split("::") if part)
        item.tag(_tags(note))
        # Several gaps of one number are one answer of several parts.
        add_short(sheet, item, ["; ".join(hidden)])


def _shown(gap: re.Match[str], number: str) -> str:
    if gap["number"] != number:
        return gap["text"]
    return f"[{gap['hint'] or '…'}]"
