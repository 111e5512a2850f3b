"""Finds the rows that `INSERT` statements of SQL add to tables, which are parsed and never run."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from questions.formats.data.field_names import FLAGS, OPTION_TEXT, ROLE_OF, spelled
from questions.formats.data.options import written_as_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_INSERT = re.compile(
    r"\bINSERT\s+(?:IGNORE\s+|OR\s+\w+\s+)?INTO\s+(?P<table>[\w.`\"\[\]]{1,200})\s*(?:\((?P<columns>[^()]{1,4000})\)\s*)?"
    r"VALUES?(?=(?:\s|--[^\n]*\n|/\*(?:[^*]|\*(?!/))*\*/)*\()",
    re.IGNORECASE,
)
_CREATE = re.compile(
    r"\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?P<table>[\w.`\"\[\]]{1,200})\s*\((?P<columns>[^;]{1,8000})",
    re.IGNORECASE,
)
_NO_COLUMN = re.compile(r"(?:primary|foreign|unique|constraint|key|check|index|fulltext)\b", re.IGNORECASE)
_MYSQL = re.compile(r"`|\bAUTO_INCREMENT\b|\bENGINE\s*=", re.IGNORECASE)
"""What only a dialect has in which a backslash stands before a sign in a text."""
_VALUE = re.compile(
    r"(?P<space>\s+|--[^\n]*|/\*.*?\*/)|(?P<dollars>\$\w{0,20}\$)"
    r"|[NnEe]?'(?P<text>(?:[^'\\]|\\.|'')*)'|\"(?P<double>(?:[^\"\\]|\\.|\"\")*)\""
    r"|(?P<number>-?\d+(?:\.\d+)?)|(?P<word>[A-Za-z_][\w.]*)|(?P<mark>[(),;])|(?P<bracket>[\[\]])"
    r"|(?P<cast>::\s*[A-Za-z_]\w*(?:\s*\[\s*\])*)|(?P<other>.)",
    re.DOTALL,
)
_LONGEST_DOLLAR_TEXT = 20_000
"""Longest text between dollars, characters."""
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_SIGNS = {"n": "\n", "r": "", "t": "\t", "0": ""}
_WORDS = {"true": True, "false": False}
_MOST_ROWS = 50_000


@dataclass(slots=True)
class _Table:
    """A table with the rows that were added to it."""

    name: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    lines: list[tuple[int, int]] = field(default_factory=list)
    """First and last line of each row."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a table, and the lines of each."""

    rows: list[dict[str, Any]]
    lines: list[tuple[int, int]]


def seems_sql(text: str) -> bool:
    """Returns whether a text adds rows to tables."""
    return _INSERT.search(text) is not None


def sql_rows(text: str) -> list[Rows]:
    """Returns the rows of each table. Rows with options of questions in another table are the options of these."""
    tables: dict[str, _Table] = {}
    created = {_bare(one["table"]): _columns(one["columns"]) for one in _CREATE.finditer(text)}
    mysql = _MYSQL.search(text) is not None
    counter = _LineCounter(text)
    at = 0
    while (found := _INSERT.search(text, at)) and sum(len(one.rows) for one in tables.values()) < _MOST_ROWS:
        name = _bare(found["table"])
        columns = [_bare(one) for one in found["columns"].split(",")] if found["columns"] else created.get(name, [])
        table = tables.setdefault(name, _Table(name))
        at = found.end()
        for values, start, end in _tuples(text, found.end(), mysql=mysql):
            at = end
            if len(values) == len(columns):
                table.rows.append(dict(zip(columns, values, strict=True)))
                table.lines.append((counter.line(start), counter.line(end - 1)))
    _join(list(tables.values()))
    return [Rows(one.rows, one.lines) for one in tables.values() if one.rows]


class _LineCounter:
    """Counts the lines up to places in a text, asked for in ascending order."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._line = text, 0, 1

    def line(self, at: int) -> int:
        """Returns the line of a place."""
        if at < self._at:
            return self._line
        self._line += self._text.count("\n", self._at, at)
        self._at = at
        return self._line


def _bare(name: str) -> str:
    return name.strip().strip('`"[]').rpartition(".")[2].strip('`"[]')


def _columns(written: str) -> list[str]:
    """Returns the names of the columns in a definition."""
    depth, start, parts = 0, 0, []
    for at, sign in enumerate(written):
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
        if depth < 0 or (sign == "," and depth == 0):
            parts.append(written[start:at])
            start = at + 1
        if depth < 0:
            break
    defined = [part.strip() for part in parts if part.strip() and not _NO_COLUMN.match(part.strip())]
    return [_bare(part.split()[0]) for part in defined]


def _tokens(text: str, start: int) -> Iterator[tuple[re.Match[str], str | None]]:
    """Yields the tokens from `start` on, each with its text if that stands between dollars: `$$…$$`, `$why$…$why$`."""
    at = start
    while token := _VALUE.match(text, at):
        at, between = token.end(), None
        # Not by the pattern: it would look for the end of each of many such texts sign by sign.
        if (dollars := token["dollars"]) and (end := text.find(dollars, at, at + _LONGEST_DOLLAR_TEXT)) >= 0:
            between, at = text[at:end], end + len(dollars)
        yield token, between


def _tuples(text: str, start: int, *, mysql: bool) -> Iterator[tuple[list[Any], int, int]]:
    """Yields the values in each pair of brackets behind `VALUES`, and where they begin and end. What is not a plain
    value, such as a call, is None."""
    depth, first = 0, start
    values: list[Any] = []
    given: list[Any] = []
    array: list[Any] | None = None
    for token, between in _tokens(text, start):
        mark = token["mark"]
        if token["space"]:
            continue
        if token["bracket"] and depth == 1:
            if array is None and token["bracket"] == "[":
                given, array = [], []
            elif array is not None and token["bracket"] == "]":
                given, array = [array], None
            continue
        if array is not None:
            # The values of `ARRAY['…', '…']`.
            array += [] if mark or token["cast"] else [_value(token, between, mysql=mysql)]
            continue
        if token["cast"] and given:
            given[-1] = _cast(given[-1], token["cast"])
            continue
        if mark == ";" or (depth == 0 and mark != "(" and mark != ","):
            return
        if mark == "(":
            depth += 1
            if depth == 1:
                values, given, first = [], [], token.start()
            else:
                given = [None, None]
        elif mark == ")" or (mark == "," and depth == 1):
            if depth == 1:
                values.append(given[0] if len(given) == 1 else None)
                given = []
            depth -= mark == ")"
            if depth == 0 and mark == ")":
                yield values, first, token.end()
        elif depth == 1:
            given.append(_value(token, between, mysql=mysql))


_ARRAY_ITEM = re.compile(r'\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bare>[^,"{}]*))\s*(?:,|$)', re.DOTALL)


def _cast(value: Any, kind: str) -> Any:
    """Returns a text as what a cast makes of it: the data in it (`::jsonb`), or the list `{one,"two, three"}`
    (`::text[]`); any other value as it is."""
    if isinstance(value, str) and kind.lower().rstrip().endswith(("json", "jsonb")):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    if not isinstance(value, str) or not kind.endswith("]") or value[:1] + value[-1:] != "{}":
        return value
    inner, at, found = value[1:-1], 0, []
    while inner and at <= len(inner) and (item := _ARRAY_ITEM.match(inner, at)):
        found.append(_ESCAPE.sub(r"\1", item["quoted"]) if item["quoted"] is not None else item["bare"].strip())
        at = item.end()
        if not item[0].endswith(","):
            break
    return found


def _value(token: re.Match[str], between: str | None, *, mysql: bool) -> Any:
    if between is not None:
        return between
    if (number := token["number"]) is not None:
        return int(number) if number.lstrip("-").isdecimal() else float(number)
    if token["word"]:
        return _WORDS.get(token["word"].lower())
    text = token["text"] if token["text"] is not None else token["double"]
    if text is None:
        return None
    text = text.replace("''", "'") if token["text"] is not None else text.replace('""', '"')
    if text[:1] in ("[", "{") and written_as_json(text) is not text:
        # In JSON, the backslashes are its own.
        return text
    return _ESCAPE.sub(lambda found: _sign(found, mysql=mysql), text)


def _sign(found: re.Match[str], *, mysql: bool) -> str:
    """Returns what a backslash with a sign stands for; before other signs than quotes only in some dialects."""
    sign = found[1]
    if sign in "'\"":
        return sign
    return _SIGNS.get(sign, sign) if mysql else found[0]


# Rows whose columns have no names

_ROW = re.compile(r"[ \t]*\(")
_FEWEST_ROWS = 5


def unnamed_rows(text: str) -> tuple[str, ...]:
    """Returns the rows in brackets of a document that names no columns (`INSERT INTO questions VALUES (…)`, or nothing
    but rows) as lines of cells with tabs, each in the line in which it begins; none if it has few, or names columns."""
    found = _INSERT.search(text)
    filled = [line for line in text.split("\n") if line.strip()]
    if found is None and sum(_ROW.match(line) is not None for line in filled) * _OF < len(filled) * (_OF - 1):
        return ()
    if found is not None and (found["columns"] or _CREATE.search(text)):
        return ()
    rows: list[tuple[list[Any], int]] = []
    counter = _LineCounter(text)
    at = found.end() if found else 0
    while at < len(text) and len(rows) < _MOST_ROWS:
        before = len(rows)
        for values, start, end in _tuples(text, at, mysql=True):
            rows.append((values, counter.line(start)))
            at = end
        following = _INSERT.search(text, at)
        if following is None or (following["columns"] and len(rows) == before):
            break
        at = following.end()
    if len(rows) < _FEWEST_ROWS or len({len(values) for values, _ in rows}) > 1:
        return ()
    lines = [""] * (rows[-1][1])
    for values, line in rows:
        out = io.StringIO()
        csv.writer(out, delimiter="\t", lineterminator="").writerow([_cell(value) for value in values])
        if lines[line - 1]:
            return ()
        lines[line - 1] = out.getvalue()
    return tuple(lines)


_OF = 10
"""Of this many lines with text, all but one are rows."""


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else " ".join(str(value).split("\n"))


# Options in a table of their own


def _join(tables: Sequence[_Table]) -> None:
    """Gives the questions in one table the options in another, by their number."""
    for options in tables:
        columns = list(options.rows[0]) if options.rows else []
        named = {spelled(name): name for name in columns}
        key = next((name for shown, name in named.items() if _refers(shown)), "")
        text = next((named[name] for name in OPTION_TEXT if name in named), "")
        flag = next((name for shown, name in named.items() if shown in FLAGS and name != text), "")
        if not (key and text and flag):
            continue
        for asked in tables:
            if asked is not options and (ids := _ids(asked, {row[key] for row in options.rows})):
                for row in options.rows:
                    if (question := ids.get(row[key])) is not None:
                        given = question.setdefault("options", [])
                        given.append({"text": row[text], "correct": row[flag] in (True, 1, "1", "true", "t", "Y")})
                options.rows.clear()
                break


def _refers(name: str) -> bool:
    """Returns whether a column holds the number of a question: `question_id`, `id_pregunta`."""
    words = name.split()
    rest = [word for word in words if word not in ("id", "quiz", "fk")]
    return "id" in words and len(rest) == 1 and ROLE_OF.get(rest[0].removesuffix("s")) == "question"


def _ids(table: _Table, wanted: set[Any]) -> dict[Any, dict[str, Any]]:
    """Returns the rows of questions by their number: that in a column `id`, or, without one, that of the row, if the
    options have all numbers from 1 to the last."""
    if not table.rows:
        return {}
    if not any(ROLE_OF.get(spelled(name)) == "question" for name in table.rows[0]):
        texts = [name for name in table.rows[0] if all(isinstance(row[name], str) for row in table.rows)]
        if len(texts) != 1 or ROLE_OF.get(spelled(table.name).removesuffix("s")) != "question":
            return {}
        # The only text of a table that is called questions, whatever the name of its column.
        for row in table.rows:
            row["question"] = row.pop(texts[0])
    name = next((name for name in table.rows[0] if spelled(name) in ("id", "question id", "questionid")), "")
    if name:
        found = {row[name]: row for row in table.rows}
        return found if len(found) == len(table.rows) and wanted & found.keys() else {}
    return dict(enumerate(table.rows, 1)) if wanted == set(range(1, len(table.rows) + 1)) else {}
