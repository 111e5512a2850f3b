"""Reads the CSV that Brightspace imports questions from: several rows for each, the first with `NewQuestion`.

NewQuestion,MC,,,
QuestionText,Which call shares memory?,,,
Option,100,view,,
Option,0,clone,,It copies.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from questions.formats.draft import (
    ImportDraft,
    Item,
    OptionDraft,
    add_choice,
    add_open,
    add_pairs,
    add_short,
    add_unanswered,
    points_of,
)
from questions.formats.markdown import from_loose
from questions.wording.stems import level_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Source

NAME = "brightspace"

_STARTS = "newquestion"
_MOST_ADVICE = 40
"""Most comments and empty rows before the first question."""
_WHOLE = 99.0
"""Share of the points, in percent, that makes an option the only right one."""

Cells = tuple[str, list[str], int]


def sniff(source: Source) -> bool:
    """Returns whether the first row that is not a comment begins a question."""
    rows = (name for name, cells, _ in _rows(source, most=_MOST_ADVICE))
    return next(rows, "") == _STARTS


def read(source: Source) -> ImportDraft:
    """Reads all questions; findings name unsupported kinds."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    all_rows = [*_rows(source, draft)]
    rows: list[Cells] = []
    hints = [last for name, cells, last in all_rows if name == "hint" and any(cells)]
    if hints:
        draft.add("Q610", "hints are not imported", "merge them into `Feedback`", (hints[0], hints[0]), severity="note")
    for row in all_rows:
        if row[0] == _STARTS and rows:
            _add(draft, rows)
            rows = []
        rows.append(row)
    if rows:
        _add(draft, rows)
    return draft


def _rows(source: Source, draft: ImportDraft | None = None, most: int = 0) -> Iterator[Cells]:
    """Yields the name of each row, its other cells, and its last line; no comments and empty rows. Findings of a draft
    name the rows that cannot be read, and a quote that takes the rest of the document."""
    lines = source.lines[:most] if most else source.lines
    reader = csv.reader(f"{line}\n" for line in lines)
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if draft is not None:
                span = start, reader.line_num
                draft.add_skipped(f"this row cannot be read: {error}", "close its quotes, or shorten it", span)
            continue
        if draft is not None and reader.line_num > start and cells and cells[-1].endswith("\n"):
            draft.add("Q601", "this quote is never closed", 'close it with `"`', (start, reader.line_num))
        if cells and cells[0].strip() and not cells[0].startswith("//"):
            yield cells[0].strip().lower(), [cell.strip() for cell in cells[1:]], reader.line_num


def _add(draft: ImportDraft, rows: list[Cells]) -> None:
    """Adds the question of some rows."""
    first, last = rows[0][2], rows[-1][2]
    if not draft.accepts(first, last, sum(len(cell) for _, cells, _ in rows for cell in cells)):
        return
    kind = rows[0][1][0].upper() if rows[0][1] else ""
    fields = {name: cells[0] for name, cells, _ in reversed(rows) if cells and cells[0]}
    item = Item(first, last, from_loose(fields.get("questiontext", "")), why=from_loose(fields.get("feedback", "")))
    item.title = fields.get("title", "")
    item.id = fields.get("id", "")
    item.level = level_of(fields.get("difficulty", ""))
    if kind in ("MC", "MS"):
        _add_options(draft, item, _cells(rows, "option"), single=kind == "MC")
    elif kind == "TF":
        _add_truth(draft, item, {name: cells for name, cells, _ in rows if name in ("true", "false")})
    elif kind == "SA":
        _add_answers(draft, item, _cells(rows, "answer"))
    elif kind == "WR":
        add_open(draft, item, from_loose(fields.get("answerkey", "")))
    elif kind == "M":
        matches = {cells[0]: cells[1] for cells in _cells(rows, "match")}
        choices = [(cells[1], matches.get(cells[0], "")) for cells in _cells(rows, "choice")]
        add_pairs(draft, item, [(from_loose(one), from_loose(two)) for one, two in choices])
    else:
        draft.add_skipped(f"unsupported question type `{kind[:40]}`", "ask a question of another kind", item.lines)


def _cells(rows: list[Cells], name: str) -> list[list[str]]:
    """Returns the cells of the rows with a name, at least two of each."""
    return [[*cells, "", ""] for found, cells, _ in rows if found == name]


def _add_options(draft: ImportDraft, item: Item, options: list[list[str]], *, single: bool) -> None:
    points = [points_of(cells[0]) for cells in options]
    least = _WHOLE if single else 0.01
    if single and any(0 < one < least for one in points):
        note = "partial credit is not supported; these options count as wrong"
        draft.add("Q606", "some options give partial credit", "mark each as right or wrong", item.lines, note=note)
    offers = [
        OptionDraft(
            from_loose(cells[1]), one >= least, "" if one >= least else from_loose(cells[3] if cells[3:] else "")
        )
        for cells, one in zip(options, points, strict=True)
    ]
    add_choice(draft, item, offers)


def _add_answers(draft: ImportDraft, item: Item, answers: list[list[str]]) -> None:
    right = [cells[1] for cells in answers if points_of(cells[0]) >= _WHOLE]
    if partial := [cells[1] for cells in answers if 0 < points_of(cells[0]) < _WHOLE]:
        note = f"not imported: {'; '.join(partial)[:200]}"
        draft.add("Q606", "some answers give partial credit", "remove them", item.lines, note=note)
    add_short(draft, item, [from_loose(one) for one in right])


def _add_truth(draft: ImportDraft, item: Item, rows: dict[str, list[str]]) -> None:
    right = [name for name, cells in rows.items() if cells and points_of(cells[0]) >= _WHOLE]
    if len(right) != 1 or len(rows) != len(("true", "false")):
        add_unanswered(draft, item, ["True", "False"])
        return
    add_choice(draft, item, [OptionDraft("True", right == ["true"]), OptionDraft("False", right == ["false"])])
