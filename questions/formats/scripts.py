"""Reads questions in programs: literals of JavaScript in an HTML page, as quiz pages have them, or in a file, and of
Python.

The text of a page is read as Markdown (`questions.formats.pages.reader`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from questions.blocks import plain
from questions.formats.data import records
from questions.formats.draft import ImportDraft
from questions.formats.pages.reader import read_page
from questions.formats.python_data import python_literals
from questions.wording.stems import ends_asking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Source

NAME = records.NAME
PROGRAM = "program"
_SCRIPT = re.compile(r"<script\b(?![^<>]{0,300}\bsrc=)[^<>]{0,300}>", re.IGNORECASE)
_START = re.compile(r"(?:[\w$\])]\s*[=:]|\bexport\s+default)\s*(?=[\[{])")
_PROGRAM = re.compile(
    r"(?m)^(?:export\s+)?(?:(?:const|let|var)\s+[\w$]+(?:[ ]?:[^=\n]{1,80})?[ ]?=|default\b|module\.exports[ ]?="
    r"|(?:window\.)?[\w$]+[ ]?=)\s*[\[{]"
)
"""The start of a list or mapping that a program assigns."""
_BEFORE = 4_000
"""Characters within which a program begins with its data."""
_TOKEN = re.compile(
    r"(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\$])*`)|(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"|(?P<number>-?\d+(?:\.\d+)?)|(?P<name>[A-Za-z_$][\w$]*)|(?P<mark>[\[\]{}():,])|(?P<space>\s+)|(?P<other>.)",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?P<sign>u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_SIGNS = {"n": "\n", "t": "\t", "r": "", "b": "", "f": "", "v": "", "0": "", "\n": ""}
_LITERALS = {
    "true": "true",
    "false": "false",
    "null": "null",
    "undefined": "null",
    "True": "true",
    "False": "false",
    "None": "null",
}
_ASKS = re.compile(
    r"[\"'`]?(?:question|questionText|q|prompt|text|title|pregunta|pergunta|frage|domanda|soal|вопрос)[\"'`]?\s{0,9}:"
)
_MOST_READ = 2_000_000
"""Characters of programs that are looked at, also several times."""
_FEWEST_WORDS = 3


def sniff(source: Source) -> bool:
    """Returns whether a program of the page has questions with options or an answer."""
    return bool(_found(source))


def sniff_program(source: Source) -> bool:
    """Returns whether the document is a program that assigns a list of questions, most with options or an answer."""
    return bool(_assigned(source))


def read_program(source: Source) -> ImportDraft:
    """Reads all questions in the data of a program."""
    draft = ImportDraft(source, PROGRAM)
    draft.title = draft.stem
    data = _assigned(source)
    return records.read_data(draft, data if len(data) > 1 else data[0])


def _assigned(source: Source) -> list[Any]:
    text = "\n".join(source.lines)
    if PurePath(source.name).suffix.lower() == ".py":
        found = list(python_literals(text))
    elif _PROGRAM.search(text[:_BEFORE]):
        found = list(_literals(text, [_MOST_READ]))
    else:
        return []
    return [data for data in found if records.holds_records(data)] or [*filter(records.only_asks, found)]


def read(source: Source) -> ImportDraft:
    """Reads all questions in the programs; findings name lines of the page that look like questions."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    data = _found(source)
    read = records.read_data(draft, data if len(data) > 1 else data[0])
    shown = read_page("\n".join(source.lines), "a.html") or ""
    asked = [plain(line)[:_BEGINNING] for line in shown.split("\n") if ends_asking(line)]
    asked = [text for text in asked if len(text.split()) >= _FEWEST_WORDS][:_MOST_NAMED]
    for number, line in enumerate(source.lines, 1):
        for text in [one for one in asked if one in line]:
            asked.remove(text)
            message, cure = "this looks like a question but was not read as one", "import the text without the programs"
            read.add("Q006", message, cure, (number, number), note="it was read as study text")
    return read


_BEGINNING = 30
_MOST_NAMED = 50


def _found(source: Source) -> list[Any]:
    text = "\n".join(source.lines)
    left = [_MOST_READ]
    return [
        data
        for program in _programs(text)
        if _ASKS.search(program)
        for data in _literals(program, left)
        if records.holds_records(data)
    ]


def _programs(text: str) -> Iterator[str]:
    """Yields the programs of a page."""
    low, at = text.lower(), 0
    while start := _SCRIPT.search(text, at):
        at = low.find("</script", start.end())
        if at < 0:
            return
        yield text[start.end() : at]


def _literals(program: str, left: list[int]) -> Iterator[Any]:
    """Yields the data of the outermost lists and mappings that a program assigns."""
    at = 0
    while left[0] > 0 and (start := _START.search(program, at)):
        written, end = _as_json(program, start.end(), left[0])
        left[0] -= end - at
        try:
            yield json.loads(written)
            at = end
        except (ValueError, RecursionError):
            at = start.end() + 1


def _as_json(program: str, start: int, most: int) -> tuple[str, int]:
    """Returns the literal that begins at a place as JSON, and where it ends; empty if it is none."""
    parts: list[str] = []
    open_: list[_Open] = []
    for token in _TOKEN.finditer(program, start, start + most):
        if token["string"]:
            parts.append(json.dumps(_ESCAPE.sub(_unescaped, token["string"][1:-1])))
        elif token["number"]:
            parts.append(token["number"])
        elif token["name"]:
            named = _named(token["name"], program[token.end() : token.end() + 20].lstrip()[:1], open_)
            if named is None:
                return "", token.end()
            parts += filter(None, [named])
        elif mark := token["mark"]:
            if mark in "[{(":
                open_.append(_Open(mark, len(parts)))
            elif mark == ",":
                open_[-1].several = True
            if mark in "]})" and parts[-1] == ",":
                parts.pop()
            if mark not in "()":
                parts.append(mark)
            if mark in "]})" and not _closed(parts, open_, mark):
                return "", token.end()
            if not open_:
                return "".join(parts), token.end()
        elif token["other"]:
            return "", token.end()
    return "", len(program)


def _named(name: str, following: str, open_: list[_Open]) -> str | None:
    """Returns what a name is in JSON; empty for that of a call, and None if only the program knows."""
    if following == ":":
        return json.dumps(name)
    if following == "(" and open_ and not _MIXES.search(name):
        return ""
    if name in _LITERALS:
        return _LITERALS[name]
    # What the name of a value stands for is in another place; in a list, places may count.
    return "null" if following in (",", "}", ")") and open_ and open_[-1].mark == "{" else None


@dataclass(slots=True)
class _Open:
    """A bracket that is not closed yet."""

    mark: str
    at: int
    """Where its content begins among the parts."""
    several: bool = False


def _closed(parts: list[str], open_: list[_Open], mark: str) -> bool:
    """Closes the innermost bracket; that of a call leaves its argument, or a list of several. Returns whether it is
    closed by the right mark, and what is in it is data."""
    last = open_.pop()
    if mark != _CLOSING[last.mark] or (mark == ")" and len(parts) == last.at):
        return False
    if mark == ")" and len(parts) == last.at + 1 and " " not in parts[last.at]:
        # The key of a translation: `t("quiz.first")`.
        return False
    if mark == ")" and last.several:
        parts[last.at : last.at] = ["["]
        parts.append("]")
    return True


_MIXES = re.compile(r"shuffle|random|sort|reverse|mix", re.IGNORECASE)
"""The name of a function that changes the order of a list."""
_CLOSING = {"[": "]", "{": "}", "(": ")"}


def _unescaped(found: re.Match[str]) -> str:
    sign = found["sign"]
    if sign[0] in "ux" and len(sign) > 1:
        return chr(int(sign[1:], 16))
    return _SIGNS.get(sign, sign)
