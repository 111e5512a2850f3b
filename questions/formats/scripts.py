"""Reads questions in programs: literals of JavaScript in an HTML page, as quiz pages have them, or in a file, and of
Python.

The text of a page is read as Markdown (`questions.formats.pages.reader`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from questions.blocks import plain
from questions.formats.data import records
from questions.formats.data.rich_text import joined
from questions.formats.draft import ImportDraft
from questions.formats.pages.reader import read_page
from questions.formats.php_data import php_literals
from questions.formats.python_data import python_literals
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
_START = re.compile(r"(?:[\w$\])]\s*[=:]|\bexport\s+default)\s*(?=[\[{])")
_PROGRAM = re.compile(
    r"(?m)^(?:export\s+)?(?:(?:const|let|var)\s+[\w$]+(?:[ ]?:[^=\n]{1,80})?[ ]?=|default\b|module\.exports[ ]?="
    r"|(?:window\.)?[\w$]+[ ]?=)\s*[\[{]"
)
"""The start of a list or mapping that a program assigns."""
_WITHIN = re.compile(r"(?m)^[ \t]+(?:const|let|var)\s+[\w$]+(?:[ ]?:[^=\n]{1,80})?[ ]?=\s*\[\s*\{")
"""The start of a list of records that a function of a program assigns."""
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
    if text.lstrip()[:5] == "<?php":
        found = list(php_literals(text))
    elif suffix == ".py":
        found = list(python_literals(text))
    elif _PROGRAM.search(text[:_BEFORE]) or (suffix in _PROGRAMS and _WITHIN.search(text)):
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
            yield _without_kinds(json.loads(written))
            at = end
        except (ValueError, RecursionError):
            at = start.end() + 1


def _as_json(program: str, start: int, most: int) -> tuple[str, int]:
    """Returns the literal that begins at a place as JSON, and where it ends; empty if it is none."""
    literal = _Literal(program, behind=start)
    for token in _TOKEN.finditer(program, start, start + most):
        if token["space"] or token["comment"] or token.start() < literal.behind:
            continue
        if not literal.take(token):
            return "", token.end()
        if not literal.open:
            return "".join(literal.parts), token.end()
    return "", len(program)


@dataclass(slots=True)
class _Literal:
    """A literal of JavaScript, as far as it is read."""

    program: str
    parts: list[str] = field(default_factory=list)
    """The same in JSON."""
    open: list[_Open] = field(default_factory=list)
    behind: int = 0
    """End of what is read."""
    joins: bool = False
    """Whether a plus sign stands behind the latest part."""

    def take(self, token: re.Match[str]) -> bool:
        """Takes the next token; returns whether the literal is still data."""
        if token["string"]:
            self._string(json.dumps(_ESCAPE.sub(_unescaped, token["string"][1:-1])))
            return True
        if token["name"]:
            return self._name(token)
        if token["other"] == "+" and not self.joins and self.parts:
            self.joins = self.parts[-1][:1] == '"' or self.parts[-1] == "null"
            return self.joins
        if self.joins or token["other"]:
            return False
        if token["number"]:
            self.parts.append(token["number"])
            return True
        return self._mark(token["mark"])

    def _string(self, text: str) -> None:
        if not self.joins:
            self.parts.append(text)
        elif self.parts[-1][:1] == '"':
            self.parts[-1] = self.parts[-1][:-1] + text[1:]
        self.joins = False

    def _name(self, token: re.Match[str]) -> bool:
        if not self.joins and (member := _MEMBER.match(self.program, token.start())):
            # What it is, only the program knows; beside a text, it names the kind of the text.
            self.behind = member.end()
            self.parts.append(json.dumps(_KIND + member[0]))
            return True
        following = self.program[token.end() : token.end() + 20].lstrip()[:1]
        named = _named(token["name"], following, self.open)
        if named is None or (self.joins and named != "null"):
            return False
        if self.joins:
            # Part of the text is in another place.
            self.parts.pop()
            self.joins = False
        self.parts += filter(None, [named])
        return True

    def _mark(self, mark: str) -> bool:
        if mark in "[{(":
            self.open.append(_Open(mark, len(self.parts)))
        elif mark == ",":
            self.open[-1].several = True
        if mark in "]})" and self.parts[-1] == ",":
            self.parts.pop()
        if mark not in "()":
            self.parts.append(mark)
        return mark not in "]})" or _closed(self.parts, self.open, mark)


_MEMBER = re.compile(r"[A-Z][\w$]*(?:\.[A-Za-z_$][\w$]*)+(?=\s*[,}\])])")
"""A constant of a class or an enumeration, as a value."""
_KIND = "\0"
"""Start of the name of a constant, where it stands for its value."""


def _without_kinds(data: Any) -> Any:
    """Returns data without constants: texts in parts, each with a constant for its kind, are joined, and others are
    unknown. Raises ValueError for one in a list, where places may count."""
    if isinstance(data, dict):
        return {name: None if _is_kind(one) else _without_kinds(one) for name, one in data.items()}
    if not isinstance(data, list):
        return data
    if parts := _parts([data] if data and _is_kind(data[0]) else data):
        return joined(parts)
    if any(map(_is_kind, data)):
        raise ValueError("a constant in a list")
    return [_without_kinds(one) for one in data]


def _parts(data: list[Any]) -> list[tuple[str, str]]:
    """Returns the parts of a text with their kinds: `[Kind.TEXT, "…"]`, `[Kind.BREAK]`, or `[Kind.TABLE, {…}]`, whose
    data is a program; empty for another list."""
    parts: list[tuple[str, str]] = []
    for one in data:
        match one:
            case [str(kind)] if _is_kind(kind):
                parts.append(("break", "\n"))
            case [str(kind), str(text)] if _is_kind(kind) and not _is_kind(text):
                parts.append((kind.rpartition(".")[2], text))
            case [str(kind), dict() | list() as value] if _is_kind(kind):
                parts.append(("code block", json.dumps(_without_kinds(value), ensure_ascii=False, indent=1)))
            case _:
                return []
    return parts if any(text.strip() for _, text in parts) else []


def _is_kind(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(_KIND)


def _named(name: str, following: str, open_: list[_Open]) -> str | None:
    """Returns what a name is in JSON; empty for that of a call, and None if only the program knows."""
    if following == ":":
        return json.dumps(name)
    if following == "(" and open_ and not _MIXES.search(name):
        return ""
    if name in _LITERALS:
        return _LITERALS[name]
    # What the name of a value stands for is in another place; in a list, places may count.
    return "null" if following in (",", "}", ")", "+") and open_ and open_[-1].mark == "{" else None


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
