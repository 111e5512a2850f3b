"""Reads questions in programs: literals of JavaScript in an HTML page, as quiz pages have them, or in a file, and of
Python, PHP and SQL; records that programs in Dart, Java and the like make by calls.

The text of a page is read as Markdown (`questions.formats.pages.reader`).
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from questions.blocks import plain
from questions.formats.constructor_data import LANGUAGES, constructor_records
from questions.formats.data import records
from questions.formats.data.key_columns import with_key_column
from questions.formats.data.roles import role_of_list
from questions.formats.data.shapes import rows_of_columns
from questions.formats.draft import ImportDraft
from questions.formats.javascript_data import javascript_literals
from questions.formats.pages.reader import read_page
from questions.formats.php_data import php_literals
from questions.formats.python_data import python_columns, python_literals, python_objects
from questions.formats.script_objects import script_records
from questions.formats.sql_data import Rows, seems_sql, sql_rows, unnamed_rows
from questions.formats.tables import table
from questions.source import Source
from questions.wording.stems import ends_asking

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

NAME = records.NAME
PROGRAM = "program"
_SCRIPT = re.compile(r"<script\b(?![^<>]{0,300}\bsrc=)[^<>]{0,300}>", re.IGNORECASE)
_PROGRAM = re.compile(
    r"(?m)^(?:export\s+)?(?:(?:const|let|var)\s+[\w$]+(?:[ ]?:[^=\n]{1,80})?[ ]?=|default\b|module\.exports[ ]?="
    r"|(?:window\.)?[\w$]+[ ]?=)\s*[\[{]"
)
"""The start of a list or mapping that a program assigns."""
_WITHIN = re.compile(r"(?m)^[ \t]+(?:const|let|var)\s+[\w$]+(?:[ ]?:[^=\n]{1,80})?[ ]?=\s*\[\s*\{")
"""The start of a list of records that a function of a program assigns."""
_BEFORE = 4_000
"""Characters within which a program begins with its data."""
_ASKS = re.compile(
    r"[\"'`]?(?:question|questionText|q|prompt|text|title|pregunta|pergunta|frage|domanda|soal|вопрос)[\"'`]?\s{0,9}:"
)
_MAKES = re.compile(
    r"\bnew\s+[A-Z]\w*\s*\(\s*[\"'`{]|\b(?:questions?|preguntas|perguntas|fragen|soal)\w*\s*=\s*\[", re.IGNORECASE
)
"""What a program may make questions of, other than by names of fields."""
_MOST_READ = 2_000_000
"""Characters of programs that are looked at, also several times."""
_FEWEST_WORDS = 3


def sniff(source: Source) -> bool:
    """Returns whether a program of the page has questions with options or an answer."""
    return bool(_found(source))


def sniff_program(source: Source) -> bool:
    """Returns whether the document is a program that assigns a list of questions, most with options or an answer, or
    one with questions in a text that it assigns."""
    return bool(_assigned(source)) or _in_text(source) is not None


def assigns_data(source: Source) -> bool:
    """Returns whether the document is a program in JavaScript that begins with its data, whose lines are no prose."""
    suffix = PurePath(source.name).suffix.lower()
    return suffix in _PROGRAMS[1:] and _PROGRAM.search("\n".join(source.lines)[:_BEFORE]) is not None


def read_program(source: Source) -> ImportDraft:
    """Reads all questions in the data of a program."""
    data = _assigned(source)
    if not data and (inner := _in_text(source)):
        return _of_whole(inner.format.read(inner.source), source)
    draft = ImportDraft(source, PROGRAM)
    draft.title = draft.stem
    if not data:
        language = LANGUAGES[PurePath(source.name).suffix.lower()]
        cure = "export the questions as data: JSON, CSV or Markdown"
        return draft.unreadable(f"this program in {language} has no list of questions that can be read", cure)
    lines = data[0].lines if len(data) == 1 and isinstance(data[0], Rows) else ()
    plain_data = [one.rows if isinstance(one, Rows) else one for one in data]
    return records.read_data(draft, plain_data if len(data) > 1 else plain_data[0], lines)


def _of_whole(draft: ImportDraft, source: Source) -> ImportDraft:
    """Returns what was read of a text with the places of the document that has it."""
    draft.source, draft.dialect = source, PROGRAM
    draft.questions = [replace(one, place=replace(one.place, source=source.name)) for one in draft.questions]
    return draft


class _Inner(NamedTuple):
    """A document in a text that a program assigns."""

    source: Source
    """The text, in its own lines."""
    format: ModuleType


_TEXTS = {
    ".py": re.compile(
        r"(?<==)\s{0,99}(?:\(\s{0,99})?[rRuU]?(?P<mark>\"{3}|'{3})(?P<text>(?:[^\\]|\\.)*?)(?P=mark)", re.DOTALL
    ),
    "": re.compile(r"(?<==)\s{0,99}(?:\(\s{0,99})?(?:String\.raw)?`(?P<text>(?:[^`\\]|\\.)*)`", re.DOTALL),
}
"""Texts of several lines that a program assigns, by its suffix."""
_FEWEST_LINES = 3
_ESCAPED_MARK = re.compile(r"\\([`$\\\"'])")


def _in_text(source: Source) -> _Inner | None:
    """Returns the table or the data in the only text of several lines that the program assigns and that has questions;
    None if it has none or several."""
    suffix = PurePath(source.name).suffix.lower()
    text = "\n".join(source.lines)
    if suffix in _SQL and len(text) <= _MOST_READ and (rows := unnamed_rows(text)):
        inner = Source(f"{PurePath(source.name).stem}.csv", rows)
        return _Inner(inner, table) if table.sniff(inner) else None
    if suffix not in _PROGRAMS or len(text) > _MOST_READ:
        return None
    found: list[tuple[re.Match[str], str, ModuleType]] = []
    for one in islice(_TEXTS.get(suffix, _TEXTS[""]).finditer(text), _MOST_TEXTS):
        if one["text"].count("\n") < _FEWEST_LINES or "${" in one["text"]:
            continue
        lines = tuple(_ESCAPED_MARK.sub(r"\1", one["text"]).split("\n"))
        for ending, form in ((".csv", table), (".json", records), (".yaml", records)):
            name = f"{PurePath(source.name).stem}{ending}"
            if form.sniff(Source(name, lines)):
                found.append((one, name, form))
                break
    if len(found) != 1:
        return None
    ((one, name, form),) = found
    before = ("",) * text.count("\n", 0, one.start("text"))
    return _Inner(Source(name, (*before, *_ESCAPED_MARK.sub(r"\1", one["text"]).split("\n"))), form)


_MOST_TEXTS = 200
"""Most texts that are looked at."""
_SQL = (".sql", ".txt", "")
_PROGRAMS = (".py", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs")


def _assigned(source: Source) -> list[Any]:
    text = "\n".join(source.lines)
    suffix = PurePath(source.name).suffix.lower()
    if suffix in _SQL and seems_sql(text):
        rows = sql_rows(text)
        return [one for one in rows if records.holds_records(one.rows)] or [
            one for one in rows if records.only_asks(one.rows)
        ]
    found: list[Any] = []
    if suffix in LANGUAGES:
        found = list(constructor_records(text, suffix))
    elif text.lstrip()[:5] == "<?php":
        found = list(php_literals(text))
    elif suffix == ".py":
        columns = python_columns(text)
        found = [with_key_column(data, columns) for data in python_literals(text)]
        if beside := rows_of_columns(columns, {name: role_of_list(name) for name in columns}):
            # Questions, options and keys in lists of their own.
            found = [beside]
    elif _PROGRAM.search(text[:_BEFORE]) or (suffix in _PROGRAMS and _WITHIN.search(text)):
        found = list(javascript_literals(text, [_MOST_READ]))
    return (
        [data for data in found if records.holds_records(data)]
        or [data for data in _objects(text, suffix) if records.holds_records(data)]
        or [data for data in found if records.only_asks(data)]
    )


def _objects(text: str, suffix: str) -> Iterator[Any]:
    """Returns the records of a program in a language of scripts that makes objects of a class."""
    if suffix == ".py":
        return python_objects(text)
    is_php = text.lstrip()[:5] == "<?php"
    return script_records(text, ".php" if is_php else suffix) if is_php or suffix in _PROGRAMS else iter(())


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
    found = [
        data
        for program in _programs(text)
        if _ASKS.search(program)
        for data in javascript_literals(program, left)
        if records.holds_records(data)
    ]
    return found or [
        data
        for program in _programs(text)
        if _MAKES.search(program)
        for data in script_records(program, ".js")
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
