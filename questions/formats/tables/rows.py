"""Reads the rows of a table as questions: named cells with Markdown, from tables and Anki notes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from questions.blocks import plain
from questions.formats.data.shapes import right_by_mark, truth_of
from questions.formats.draft import (
    ImportDraft,
    Item,
    OptionDraft,
    add_choice,
    add_exact,
    add_open,
    add_short,
    add_unanswered,
    asks,
    below_context,
    topic_of,
)
from questions.formats.tables.keys import UNKNOWN_BASE, KeyStyle, Options, is_place, right_options
from questions.formats.tables.option_cells import parts_of, without_labels
from questions.model import is_literal
from questions.source import URL
from questions.wording.labels import stands_for_no_answer, stands_for_nothing

if TYPE_CHECKING:
    from questions.formats.tables.column_names import Column

_SHORT = 60
"""Maximum length of an answer that counts as a word, characters."""
_TRUE_FALSE = re.compile(r"(?:true|boolean|tf)\b.*|true.?false")
_FILLED_IN = re.compile(r"fill|blank|short")
"""A type of questions whose options are the accepted answers."""

_NO_STYLE = KeyStyle()
_RIGHT = -1
"""Place of the right option, where only the wrong ones have columns of their own."""


@dataclass(slots=True)
class Row:
    """A question as cells."""

    first: int
    last: int
    cells: dict[str, str] = field(default_factory=dict)
    options: dict[int, str] = field(default_factory=dict)
    wrong: set[int] = field(default_factory=set)
    """Places of the options that the header calls wrong."""
    reasons: dict[int, str] = field(default_factory=dict)
    flags: dict[int, str] = field(default_factory=dict)
    """What columns such as `correct 2` say of the options by their places."""
    right: set[int] = field(default_factory=set)
    """Places of the options that flags or marks call right."""
    accepted: tuple[str, ...] = ()
    """Answers of a gap that is to be filled in."""

    @property
    def key(self) -> str:
        """The cell that says which option is right."""
        return self.cells.get("correct") or self.cells.get("answer", "")

    def put(self, column: Column, text: str) -> None:
        """Stores a cell; the first non-empty cell of a role wins."""
        if column.role in ("option", "wrong"):
            self.options.setdefault(column.place, text)
            self.wrong |= {column.place} if column.role == "wrong" else set()
        elif column.role == "reason":
            self.reasons.setdefault(column.place, text)
        elif column.role == "flag":
            self.flags.setdefault(column.place, text)
        elif column.role and text.strip():
            self.cells.setdefault(column.role, text)


def add_row(draft: ImportDraft, row: Row, style: KeyStyle = _NO_STYLE) -> None:
    """Adds the question of a row. `style`: how the keys of all rows are written."""
    cells = row.cells
    size = sum(map(len, (*cells.values(), *row.options.values(), *row.reasons.values())))
    if not draft.accepts(row.first, row.last, size):
        return
    item = Item(row.first, row.last, cells.get("question", ""), why=cells.get("why", ""))
    if not asks(draft, item, offers=any(text and not stands_for_nothing(text) for text in row.options.values())):
        return
    item.prompt = below_context(item.prompt, cells.get("context"))
    item.id = cells.get("id", "").strip()
    item.title = plain(cells.get("title", ""))
    item.topic = topic_of(cells.get("topic", ""))
    item.section = (plain(cells["topic"]),) if cells.get("topic") else ()
    item.license = cells.get("license", "").strip()
    item.links = tuple(URL.findall(cells.get("links", "")))
    item.program = cells.get("program", "").strip("\n")
    item.tag([*_listed(cells.get("tags", ""), ",;\n"), plain(cells.get("level", "")).lower()])
    options = options_in_row(row)
    kind = cells.get("kind", "").strip().lower()
    if not options and _TRUE_FALSE.fullmatch(kind) and row.key.strip().casefold() in ("true", "false"):
        is_true = row.key.strip().casefold() == "true"
        add_choice(draft, item, [OptionDraft("True", is_true), OptionDraft("False", not is_true)])
    elif row.accepted:
        add_short(draft, item, list(row.accepted))
    elif options:
        add_choice(draft, item, _offers(draft, item, row, options, style))
    elif kind in ("value", "output"):
        _exact(draft, item, kind, cells.get("answer", ""))
    else:
        _worded(draft, item, cells, kind)


def _listed(text: str, marks: str) -> list[str]:
    return [word.strip() for word in re.split(f"[{marks}]", text) if word.strip()]


def options_in_row(row: Row) -> Options:
    """Returns the options with their indices; a cell with all options is split at line breaks, bars or semicolons."""
    named = [(index, text.strip()) for index, text in sorted(row.options.items()) if text.strip()]
    if named and len(row.wrong) == len(row.options) and row.key.strip():
        # All options are wrong, and the key is the text of the right one.
        return [(_RIGHT, row.key.strip()), *named]
    listed = row.cells.get("options", "")
    wrong = row.cells.get("wrong_options", "").strip()
    # A single number may count those who were wrong.
    if not named and not listed and row.key.strip() and wrong and not wrong.isdecimal():
        parted = parts_of(wrong) if any(mark in wrong for mark in ("\n", "|", ";")) else [wrong]
        return [(_RIGHT, row.key.strip()), *enumerate(parted)]
    if named or not listed:
        return named
    return list(enumerate(without_labels(parts_of(listed))))


def _offers(draft: ImportDraft, item: Item, row: Row, options: Options, style: KeyStyle) -> list[OptionDraft]:
    key = row.key
    if options[0][0] == _RIGHT:
        return [OptionDraft(text, index == _RIGHT) for index, text in options]
    named = right_options(options, key, style, texts_first="correct" not in row.cells) if key.strip() else set()
    right = row.right or named
    if other := _other_key(row, options, right, named, style):
        cure = "decide which is right, and correct or remove the other"
        note = "; ".join(f"one says `{_shown(options, one)}`" for one in (right or set(), other))
        draft.add("Q606", "two columns name different right options", cure, item.lines, note=note)
        right = set()
    if right is None:
        unsure = style.base is None and is_place(key, len(options))
        message = UNKNOWN_BASE if unsure else "the right answer is not among the options"
        draft.add("Q606", message, "write its letter or its text", item.lines, note=f"`{key[:60]}`")
    return [OptionDraft(text, index in (right or ()), row.reasons.get(index, "").strip()) for index, text in options]


def _other_key(row: Row, options: Options, right: set[int] | None, named: set[int] | None, style: KeyStyle) -> set[int]:
    """Returns the options that a second column names as the right ones; empty if none names others than the first."""
    answer = row.cells.get("answer", "").strip()
    beside = None
    if "correct" in row.cells and answer and not answer.isdecimal():
        beside = right_options(options, answer, style, texts_first=True)
    return next((one for one in (named, beside) if one and right and one != right), set())


def _shown(options: Options, places: set[int]) -> str:
    return "`, `".join(text[:40] for index, text in options if index in places)


def _exact(draft: ImportDraft, item: Item, kind: str, answer: str) -> None:
    if kind == "output" and answer and item.program:
        add_exact(draft, item, "output", answer)
    elif kind == "value" and is_literal(answer.strip()):
        add_exact(draft, item, "value", answer.strip())
    elif answer.strip():
        cure = "add a program" if kind == "output" else "write a Python literal"
        draft.add(
            "Q606", f"this cannot be a `{kind}` question", cure, item.lines, note="it was imported as an open question"
        )
        add_short(draft, item, [answer])
    else:
        add_unanswered(draft, item)


def _worded(draft: ImportDraft, item: Item, cells: dict[str, str], kind: str) -> None:
    answer = cells.get("answer") or cells.get("correct") or ""
    points = _listed(cells.get("key_points", ""), "\n")
    if not points and stands_for_no_answer(answer):
        add_unanswered(draft, item, given=answer.strip())
        return
    if kind == "code":
        note = "it was imported as an open question with the program as its answer"
        cure = "write the cases in Markdown"
        draft.add("Q608", "tables cannot contain code questions", cure, item.lines, severity="note", note=note)
    if points or kind in ("open", "code") or len(answer) > _SHORT or "\n" in answer.strip():
        add_open(draft, item, answer, points or None)
    else:
        add_short(draft, item, [answer])


# Gaps, flags and marks


def with_accepted(rows: list[Row]) -> list[Row]:
    """Returns the rows; options of gaps without a key are accepted answers, where other rows have a key."""
    if not any(row.key.strip() for row in rows):
        return rows
    for row in rows:
        kind = row.cells.get("kind", "").lower()
        if _FILLED_IN.search(kind) and "choice" not in kind and not row.key.strip() and not row.right:
            row.accepted = tuple(text for _, text in options_in_row(row))
            row.options = {} if row.accepted else row.options
    return rows


def with_flags(draft: ImportDraft, rows: list[Row]) -> list[Row]:
    """Returns the rows with the options that are called right: in columns such as `correct 2`, by truth values or by
    texts, or, where no row has a key, by a mark on nearly all right ones."""
    flagged = [row for row in rows if row.flags]
    known = [_flagged(row) for row in flagged]
    if flagged and all(right is not None for right in known):
        for row, right in zip(flagged, known, strict=True):
            row.right = right or set()
    elif flagged:
        message, cure = "columns about right options were not imported", "write 1 or 0 in them, or texts of options"
        draft.add("Q610", message, cure, (flagged[0].first, flagged[0].last), severity="note")
    if any(row.key or row.right or row.wrong for row in rows):
        return rows
    offering = [row for row in rows if len(options_in_row(row)) > 1]
    marked = right_by_mark([[text for _, text in options_in_row(row)] for row in offering])
    for row, (texts, flags) in zip(offering, marked or (), strict=False):
        row.options = dict(enumerate(texts))
        row.right = {place for place, right in enumerate(flags) if right}
    return rows


def _flagged(row: Row) -> set[int] | None:
    """Returns the places of the right options in the columns that flag them; None if these say something else."""
    flags = {place: text.strip() for place, text in row.flags.items()}
    truths = {place: truth_of(_AS_WORD.get(text, text)) for place, text in flags.items()}
    if None not in truths.values():
        return {place for place, right in truths.items() if right}
    if (weighed := _weighed(flags)) is not None:
        return weighed
    places = {plain(text).casefold(): place for place, text in options_in_row(row)}
    named = [places.get(plain(text).casefold()) for text in flags.values() if text]
    return None if None in named else {place for place in named if place is not None}


_PERCENT = re.compile(r"-?\d{1,3}(?:\.\d+)?")
_FULL = 99.0


def _weighed(flags: dict[int, str]) -> set[int] | None:
    """Returns the places of the options with all of 100 percent, or that make up 100 percent together; None for other
    values."""
    weights = {place: float(text) if _PERCENT.fullmatch(text) else None for place, text in flags.items() if text}
    some = [weight for weight in weights.values() if weight is not None]
    if len(some) < len(weights) or not some:
        return None
    most, whole = max(some), sum(weight for weight in some if weight > 0)
    if most < _FULL and not _FULL <= whole <= 101:
        return None
    least = _FULL if most >= _FULL else 0.01
    return {place for place, weight in weights.items() if weight is not None and weight >= least}


_AS_WORD = {"1": "true", "0": "false", "": "false", "1.0": "true", "0.0": "false", "-": "false"}
"""What stands for a truth value in the column of a flag."""
