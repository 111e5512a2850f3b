"""Our own JSON: a versioned envelope around questions as data. Every field is checked; nothing is trusted."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from questions.foreign.json_items import Element, line_of, outline
from questions.foreign.shapes import question_of
from questions.foreign.sheet import Sheet
from questions.model import Place

if TYPE_CHECKING:
    from questions.source import Source

NAME = "json"
ENVELOPE = "dailygrad-bank"
VERSION = 1

_SIGN = re.compile(rf'"format"\s*:\s*"{ENVELOPE}"')


def sniff(source: Source) -> bool:
    """Whether the text says that it is a bank exported as JSON."""
    text = "\n".join(source.lines).lstrip()
    return text[:1] == "{" and bool(_SIGN.search(text))


def read(source: Source) -> Sheet:
    """All questions of an exported bank."""
    sheet = Sheet(source, NAME)
    sheet.title = sheet.stem
    try:
        found = outline("\n".join(source.lines), "questions")
    except ValueError as error:
        said = str(error).partition(": line ")[0]
        return sheet.unreadable(f"this JSON cannot be read: {said}", "export the bank again", line_of(error))
    version = found.values.get("version")
    if version != VERSION or isinstance(version, bool):
        return sheet.unreadable(
            f"this bank was written in version {str(version)[:20]} of the format",
            f"export it as version {VERSION}, or update Dailygrad",
        )
    bank = found.values.get("bank")
    texts = {key: value for key, value in bank.items() if isinstance(value, str)} if isinstance(bank, dict) else {}
    sheet.name, sheet.title = texts.get("name", ""), texts.get("title", "") or sheet.title
    sheet.licence = texts.get("licence", "")
    for element in found.elements or ():
        _question(sheet, element)
    if not found.elements:
        sheet.unreadable("this bank holds no questions", "export it again")
    return sheet


def _question(sheet: Sheet, element: Element) -> None:
    lines = (element.first, element.last)
    if not sheet.takes(*lines, 0):
        return
    try:
        question = question_of(element.value)
    except ValueError as error:
        sheet.left_out(f"this is no question: {error}", "export the bank again", lines)
        return
    place = sheet.place(*lines)
    blocks = tuple(dataclasses.replace(block, line=place.line) for block in question.code_blocks)
    sheet.questions.append(
        dataclasses.replace(question, place=Place(place.source, place.line, place.end_line), code_blocks=blocks)
    )
