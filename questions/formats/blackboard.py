"""Reads the text that Blackboard uploads questions from: a line for each, with its kind first and tabs between cells.

MC	Which call shares memory?	clone	incorrect	view	correct
TF	A view copies the data.	false
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.formats.draft import (
    ImportDraft,
    Item,
    OptionDraft,
    add_choice,
    add_number,
    add_open,
    add_pairs,
    add_short,
    add_unanswered,
)
from questions.formats.markdown import from_loose

if TYPE_CHECKING:
    from questions.source import Source

NAME = "blackboard"

_KINDS = "MC|MA|TF|ESS|FIB|FIL|NUM|MAT|ORD|OP|SR|FIB_PLUS|JUMBLED_SENTENCE|QUIZ_BOWL|CALC|HOT"
_ROW = re.compile(rf"(?:{_KINDS})\t[^\t\s][^\t]*(?:\t.*)?")
_MARKS = {"correct": True, "incorrect": False}
_TRUTHS = {"true": True, "false": False}


def sniff(source: Source) -> bool:
    """Returns whether each line is a question with its kind."""
    lines = [line for line in source.lines if line.strip()]
    return bool(lines) and all(map(_ROW.fullmatch, lines)) and any(line.count("\t") > 1 for line in lines)


def read(source: Source) -> ImportDraft:
    """Reads all questions; findings name unsupported kinds."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    for number, line in enumerate(source.lines, 1):
        kind, *cells = line.rstrip("\t ").split("\t")
        if not line.strip() or not draft.accepts(number, number, len(line)):
            continue
        if not cells or _ROW.fullmatch(line) is None:
            draft.add_skipped(
                "this line has no kind and question", "write `MC`, a tab and the question", (number, number)
            )
            continue
        _add(draft, Item(number, number, from_loose(cells[0])), kind, [cell.strip() for cell in cells[1:]])
    return draft


def _add(draft: ImportDraft, item: Item, kind: str, cells: list[str]) -> None:
    if kind in ("MC", "MA"):
        _add_marked(draft, item, cells)
    elif kind == "TF":
        truth = _TRUTHS.get(cells[0].casefold()) if cells else None
        if truth is None:
            add_unanswered(draft, item, ["True", "False"])
        else:
            add_choice(draft, item, [OptionDraft("True", truth), OptionDraft("False", not truth)])
    elif kind == "NUM":
        add_number(draft, item, [f"{cells[0]}:{cells[1] if len(cells) > 1 and cells[1] else '0'}"] if cells else [])
    elif kind == "FIB":
        add_short(draft, item, [from_loose(cell) for cell in cells])
    elif kind in ("ESS", "SR"):
        add_open(draft, item, from_loose(cells[0]) if cells else "")
    elif kind == "MAT":
        shown = [from_loose(cell) for cell in cells]
        add_pairs(draft, item, [*zip(shown[::2], shown[1::2], strict=False)])
    else:
        draft.add_skipped(f"unsupported question type `{kind}`", "ask a question of another kind", item.lines)


def _add_marked(draft: ImportDraft, item: Item, cells: list[str]) -> None:
    """Adds a question whose options each have a word behind them that says whether they are right."""
    pairs = [*zip(cells[::2], cells[1::2], strict=False)]
    marks = [_MARKS.get(mark.casefold()) for _, mark in pairs]
    texts = [from_loose(text) for text, _ in pairs]
    if len(cells) % 2 or None in marks:
        add_unanswered(draft, item, texts)
    else:
        add_choice(draft, item, [OptionDraft(text, bool(mark)) for text, mark in zip(texts, marks, strict=True)])
