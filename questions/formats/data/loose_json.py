"""Reads JSON with slips that have only one meaning: commas before a closing bracket or missing ones, comments, names
without quotes, strings in single quotes, line breaks and tabs in strings, an assignment before the data, missing outer
brackets, and several documents after one another. Values are never changed: only commas, brackets and quotes are left
out, added or exchanged."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_SHAPE = (
    r'[ \t\r\n]*(?:(?P<comment>//[^\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)|(?P<text>"%s")'
    r"|(?P<single>'[^'\\\n]*(?:\\.[^'\\\n]*)*')|(?P<mark>[\[\]{},:])|(?P<name>[A-Za-z_$][\w$]*(?=[ \t]*:))"
    r"|(?P<word>[A-Za-z0-9.+-]+)|\Z)"
)
_TOKEN = re.compile(_SHAPE % r'[^"\\\n]*(?:\\.[^"\\\n]*)*')
_TOKEN_OVER_LINES = re.compile(_SHAPE % r'[^"\\]*(?:\\.[^"\\]*)*')
"""Tokens where texts may have line breaks in them."""
_ASSIGNED = re.compile(r"\s*(?:export[ ]+)?(?:(?:const|let|var)[ ]+)?[A-Za-z_$][\w$.]{0,60}[ ]{0,9}=\s{0,9}(?=[\[{])")
"""What a program has before the data that it assigns."""
_MOST_TOKENS = 600_000
"""Most texts, numbers and marks of a document; a question needs about thirty."""
_DEEPEST = 50
"""Depth to which brackets are read."""
_COMMAS = "commas before a closing bracket"
_COMMENTS = "comments"
_BRACKETS = "a missing bracket around the whole"
_DOCUMENTS = "documents after one another"
_NAMES = "names without quotes"
_SINGLE = "texts in single quotes"
_MISSING = "missing commas"
_CONTROLS = "line breaks or tabs in texts"
_ASSIGNMENT = "an assignment before the data"
_CONTROL = re.compile(r"[\x00-\x1f]")
_ESCAPED = re.compile(r"\\(.)|\"")


class Slip(NamedTuple):
    """What is wrong in JSON, although it has only one meaning."""

    what: str
    line: int
    """Line of the first one."""
    times: int


class _Token(NamedTuple):
    text: str
    place: int


class _Slips:
    """The slips found so far, by what is wrong: the place of the first one, and their number."""

    def __init__(self) -> None:
        self.found: dict[str, tuple[int, int]] = {}

    def add(self, what: str, place: int) -> None:
        first, count = self.found.get(what, (place, 0))
        self.found[what] = first, count + 1


def load_loose(text: str) -> tuple[Any, tuple[Slip, ...]] | None:
    """Returns the data of JSON with slips, a list if it is several documents, and what is wrong; None if anything in
    it may have another meaning."""
    return _load(text, _TOKEN) or _load(text, _TOKEN_OVER_LINES)


def begins_assigning(text: str) -> bool:
    """Returns whether a text begins with the assignment of data to a variable: `quiz = [`."""
    return _ASSIGNED.match(text) is not None


def _load(text: str, token: re.Pattern[str]) -> tuple[Any, tuple[Slip, ...]] | None:
    slips = _Slips()
    start, end = 0, len(text)
    if assigned := _ASSIGNED.match(text):
        start, end = assigned.end(), len(text.rstrip().rstrip(";"))
        slips.add(_ASSIGNMENT, 0)
    tokens = _tokens(text, start, end, token, slips)
    if not tokens:
        return None
    parts = _documents(_with_commas(_without_last_commas(tokens, slips), slips), slips)
    try:
        found = [json.loads(part) for part in parts or ()]
    except (ValueError, RecursionError):
        return None
    if not found or not slips.found:
        return None
    named = (Slip(what, text.count("\n", 0, first) + 1, count) for what, (first, count) in slips.found.items())
    return found[0] if len(found) == 1 else found, tuple(named)


def _tokens(text: str, place: int, end: int, token: re.Pattern[str], slips: _Slips) -> list[_Token]:
    """Returns the texts, numbers and marks between two places without comments; none if there is anything else, or too
    much."""
    tokens: list[_Token] = []
    depth = 0
    while place < end:
        found = token.match(text, place, end)
        if found is None:
            return []
        place = found.end()
        kind = found.lastgroup
        if kind is None:
            break
        if kind == "comment":
            slips.add(_COMMENTS, found.start(kind))
            continue
        if kind == "name":
            slips.add(_NAMES, found.start(kind))
        elif kind == "single":
            slips.add(_SINGLE, found.start(kind))
        elif kind == "text" and _CONTROL.search(found[kind]):
            slips.add(_CONTROLS, found.start(kind))
        tokens.append(_Token(_in_quotes(found[kind], kind), found.start(kind)))
        depth += (found[kind] in _OPENING) - (found[kind] in _CLOSING)
        if depth > _DEEPEST or len(tokens) > _MOST_TOKENS:
            return []
    return tokens


def _in_quotes(token: str, kind: str) -> str:
    """Returns a token as JSON writes it: names and texts in double quotes."""
    if kind == "name":
        return f'"{token}"'
    if kind != "single":
        return _CONTROL.sub(lambda one: f"\\u{ord(one[0]):04x}", token) if kind == "text" else token
    # An escaped single quote is a plain one, and a double one must be escaped.
    inner = _ESCAPED.sub(lambda one: "'" if one[1] == "'" else '\\"' if one[1] is None else one[0], token[1:-1])
    return f'"{inner}"'


_OPENING = ("[", "{")
_CLOSING = ("]", "}")
_NO_VALUE = (*_OPENING, ",", ":")
"""Marks behind which a comma is not a comma behind a value."""


def _without_last_commas(tokens: list[_Token], slips: _Slips) -> list[_Token]:
    """Returns the tokens without commas between a value and a closing bracket, or the end."""
    kept: list[_Token] = []
    for at, token in enumerate(tokens):
        last = at + 1 == len(tokens) or tokens[at + 1].text in _CLOSING
        if token.text == "," and last and kept and kept[-1].text not in _NO_VALUE:
            slips.add(_COMMAS, token.place)
        else:
            kept.append(token)
    return kept


def _with_commas(tokens: list[_Token], slips: _Slips) -> list[_Token]:
    """Returns the tokens with commas between brackets within others, and between a value and the name of the next."""
    kept: list[_Token] = []
    depth = 0
    for at, token in enumerate(tokens):
        before = kept[-1].text if kept else ","
        named = at + 1 < len(tokens) and tokens[at + 1].text == ":" and token.text[:1] == '"'
        bracket = token.text in _OPENING and before == _CLOSED_BY[token.text]
        if depth and before not in _NO_VALUE and (named or bracket):
            slips.add(_MISSING, token.place)
            kept.append(_Token(",", token.place))
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        kept.append(token)
    return kept


_CLOSED_BY = {"[": "]", "{": "}"}


def _documents(tokens: list[_Token], slips: _Slips) -> list[str]:
    """Returns the documents as JSON, with the brackets around them; none if they are anything else."""
    found: list[str] = []
    start = depth = 0
    for at, token in enumerate(tokens):
        opens, closes = token.text in _OPENING, token.text in _CLOSING
        if not depth and (closes or (opens and at > start and _begins_anew(tokens, start, at))):
            found.append(_document(tokens[start:at], token.text if closes else "", slips))
            start = at + closes
            if start < len(tokens):
                slips.add(_DOCUMENTS, tokens[start].place)
        depth += opens - (closes and depth > 0)
    if start < len(tokens):
        found.append(_document(tokens[start:], "", slips))
    return [] if depth or not all(found) else found


def _begins_anew(tokens: list[_Token], start: int, at: int) -> bool:
    """Returns whether the bracket at a place begins another document than the one that starts before it: behind a
    bracket, or among names and values, where only a name could follow."""
    before = tokens[at - 1].text
    return before in _CLOSING or (before == "," and tokens[start + 1].text == ":")


def _document(tokens: list[_Token], closing: str, slips: _Slips) -> str:
    """Returns a document with the brackets around it; empty if it needs none of them and is not a value.

    `closing`: the bracket that follows it, where the opening one is missing.
    """
    if tokens and tokens[-1].text == ",":
        slips.add(_COMMAS, tokens[-1].place)
        tokens = tokens[:-1]
    if not tokens:
        return ""
    body = " ".join(token.text for token in tokens)
    if len(tokens) > 1 and tokens[1].text == ":":
        around = "{}"
    elif tokens[0].text == "{" and (closing or _is_list(tokens)):
        around = "[]"
    else:
        return "" if closing else body
    if closing not in ("", around[1]):
        return ""
    slips.add(_BRACKETS, tokens[0].place)
    return f"{around[0]}{body}{around[1]}"


def _is_list(tokens: list[_Token]) -> bool:
    """Returns whether a comma stands outside of all brackets."""
    depth = 0
    for token in tokens:
        depth += (token.text in _OPENING) - (token.text in _CLOSING)
        if token.text == "," and not depth:
            return True
    return False
