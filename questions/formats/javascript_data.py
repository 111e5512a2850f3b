"""Finds lists and mappings in programs in JavaScript, which are parsed and never run."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from questions.formats.data.rich_text import joined

if TYPE_CHECKING:
    from collections.abc import Iterator

_START = re.compile(r"(?:[\w$\])]\s*[=:]|\bexport\s+default)\s*(?=[\[{])")
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


def javascript_literals(program: str, left: list[int]) -> Iterator[Any]:
    """Yields the data of the outermost lists and mappings that a program assigns.

    `left` holds the number of characters that may still be read, also in programs to come, and is counted down.
    """
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
