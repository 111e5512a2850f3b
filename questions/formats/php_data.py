"""Finds lists and mappings in programs in PHP, which are parsed and never run."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_START = re.compile(
    r"(?:\$\w+(?:\[[^\[\]\n]{0,80}\])?\s*=|\breturn\b|=>|\bconst\s+\w+\s*="
    r"|(?:->|::)\s*(?P<call>insert|create|createMany|updateOrCreate|firstOrCreate)\s*\()\s*(?=\[|array\s*\()",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"(?P<space>\s+|//[^\n]*|\#(?!\[)[^\n]*|/\*.*?(?:\*/|\Z))|'(?P<single>(?:[^'\\]|\\.)*)'|\"(?P<double>(?:[^\"\\]|\\.)*)\""
    r"|<<<[ \t]*(?P<quote>[\"']?)(?P<end>\w+)(?P=quote)\r?\n(?P<lines>.*?)(?:(?<=\n)[ \t]*(?P=end)\b|\Z)"
    r"|(?P<number>-?\d+(?:\.\d+)?)|(?P<array>array\s*\()|(?P<word>\\?[A-Za-z_]\w*)|(?P<arrow>=>)"
    r"|(?P<mark>[\[\](),;.])|(?P<other>.)",
    re.DOTALL,
)
_DOUBLE = re.compile(r"\\(?P<sign>[nrt\\$\"ef0])")
_SINGLE = re.compile(r"\\(?P<sign>['\\])")
_SIGNS = {"n": "\n", "r": "", "t": "\t", "e": "", "f": "", "0": ""}
_VARIABLE = re.compile(r"(?<!\\)(?:\$[A-Za-z_{]|\{\$)")
_WORDS = {"true": True, "false": False, "null": None}
_DEEPEST = 30
_MOST_READ = 2_000_000
"""Characters that are looked at, also several times."""


class _NoDataError(Exception):
    """A place in a program whose value only the program knows."""


@dataclass(slots=True)
class _Open:
    """An array that is not closed yet."""

    closing: str
    entries: list[tuple[Any, Any]] = field(default_factory=list)
    key: Any = None
    value: list[Any] = field(default_factory=list)
    """The value that is being read; empty, or in a list alone."""
    joins: bool = False

    def put(self, value: Any) -> None:
        """Adds a value, or a part of a text."""
        if not self.value and not self.joins:
            self.value = [value]
        elif self.joins and self.value and isinstance(self.value[0], str) and isinstance(value, str):
            self.value[0] += value
            self.joins = False
        else:
            raise _NoDataError

    def take(self, token: re.Match[str]) -> bool:
        """Adds the value of a token; returns whether it has one. What only the program knows, such as a variable, is
        None behind a key; in a list, places may count."""
        try:
            self.put(_scalar(token))
        except _NoDataError:
            if self.key is None:
                raise
            self.value, self.joins = [None], False
            return False
        return True

    def end(self) -> None:
        """Ends an entry."""
        if self.joins or (self.key is not None and not self.value):
            raise _NoDataError
        if self.value:
            self.entries.append((self.key, self.value[0]))
        self.key, self.value = None, []

    def data(self) -> Any:
        """Returns the array as a list, or as a mapping if it has keys. Numbers from 0 are no keys."""
        keys = [key for key, _ in self.entries]
        if all(key is None for key in keys) or keys == [*range(len(keys))]:
            return [value for _, value in self.entries]
        if None in keys:
            raise _NoDataError
        return {str(key): value for key, value in self.entries}


def php_literals(program: str) -> Iterator[Any]:
    """Yields the outermost arrays that a program assigns, returns, or adds to a table, and that are nothing but data.
    Rows that calls add one by one are a list."""
    at, left = 0, _MOST_READ
    rows: list[Any] = []
    while left > 0 and (start := _START.search(program, at)):
        try:
            data, end = _array(program, start.end(), left)
        except _NoDataError:
            left -= _step(program, start.end())
            at = start.end() + 1
            continue
        if start["call"] and isinstance(data, dict):
            rows.append(data)
        else:
            yield data
        left -= end - at
        at = end
    if rows:
        yield rows


def _step(program: str, start: int) -> int:
    """Returns what reading in vain costs: the rest of a short program, and at most a share of a long one."""
    return min(len(program) - start, _MOST_READ // 20) + 1


def _array(program: str, start: int, most: int) -> tuple[Any, int]:
    """Returns the array that begins at a place, and where it ends."""
    open_: list[_Open] = []
    unknown = 0
    """Depth of the brackets in a value that only the program knows, from 1; 0 outside of one."""
    for token in _TOKEN.finditer(program, start, min(start + most, start + _MOST_READ)):
        mark = token["mark"] or ("[" if token["array"] else "")
        if token["space"]:
            continue
        if unknown and (unknown > 1 or mark not in (",", open_[-1].closing)):
            unknown += (mark in ("[", "(")) - (mark in ("]", ")"))
            continue
        unknown = 0
        if mark == "[" and len(open_) < _DEEPEST:
            open_.append(_Open(")" if token["array"] else "]"))
        elif not open_:
            raise _NoDataError
        elif mark and mark == open_[-1].closing:
            open_[-1].end()
            data = open_.pop().data()
            if not open_:
                return data, token.end()
            open_[-1].put(data)
        elif mark == ",":
            open_[-1].end()
        elif mark == ".":
            open_[-1].joins = True
        elif token["arrow"] and open_[-1].value and open_[-1].key is None and not open_[-1].joins:
            open_[-1].key, open_[-1].value = open_[-1].value[0], []
        elif not open_[-1].take(token):
            unknown = 1 + (mark == "(")
    raise _NoDataError


def _scalar(token: re.Match[str]) -> Any:
    if (text := token["single"]) is not None:
        return _SINGLE.sub(lambda found: found["sign"], text)
    if (text := token["double"]) is not None and not _VARIABLE.search(text):
        return _DOUBLE.sub(lambda found: _SIGNS.get(found["sign"], found["sign"]), text)
    if (lines := token["lines"]) is not None and (token["quote"] == "'" or not _VARIABLE.search(lines)):
        return textwrap.dedent(lines).rstrip("\r\n")
    if (number := token["number"]) is not None:
        return int(number) if number.lstrip("-").isdecimal() else float(number)
    if (word := (token["word"] or "").lower()) in _WORDS:
        return _WORDS[word]
    raise _NoDataError
