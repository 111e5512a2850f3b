"""Rewrites Typst as Markdown, line by line where it can: titles, lists, bold text, and functions that ask or answer.

Functions are recognized by their names (`#question[…]`, `#solution[…]`) or by those of their arguments
(`prompt: […], distractors: (…), answer: "…"`). Of others, what they show is kept. No program is run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from questions.formats.data.field_names import spelled
from questions.formats.data.roles import role_of

SUFFIXES = (".typ",)

_COMMENT = re.compile(r"(?<!:)//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z)")
_STATEMENT = re.compile(r"#(?:let|set|show|import|include|if|for|while|context|return)\b")
_CALL = re.compile(r"#(?P<name>[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*){0,3})")
_SKIPPED = re.compile(r"(?s)`{3}.*?(?:`{3}|\Z)|`[^`\n]*`|\\.|\$[^$]*\$")
"""Programs, escaped signs and formulas, which stay as they are."""
_ASKS = re.compile(
    r"(?:sub|mc|short|long|open)?-?(?:question|problem|exercise|task|aufgabe|frage|exercice|pregunta|ejercicio|exercicio"
    r"|esercizio|domanda|oppgave|opgave|tehtava|zadanie)"
)
_ANSWERS = re.compile(
    r"(?:sample-?)?(?:answer|solution|sol|ans|reponse|corrige|loesung|antwort|respuesta|solucion|resposta|risposta)"
)
_GAPS = re.compile(r"(?:fill-?in|blank|gap|line-?field|luecke|trou)s?")
_HEADING = re.compile(r"(?P<marks>={1,6})[ \t]+(?P<text>\S.*)")
_ITEM = re.compile(r"(?P<indent>[ \t]*)\+[ \t]+(?P<text>\S.*)")
_BOLD = re.compile(r"(?<![\w*\\`])\*(?P<text>[^\s*](?:[^*\n]{0,400}[^\s*])?)\*(?![\w*])")
_BREAK = re.compile(r"[ \t]+\\[ \t]*$")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_LONGEST = 2_000_000
_DEEPEST = 20


def markdown_of_typst(text: str) -> str:
    """Returns a Typst document as Markdown."""
    writer = _Writer()
    shown = writer.shown(_COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text[:_LONGEST]), 0)
    return "\n".join(_lines(shown))


@dataclass(slots=True)
class _Writer:
    """State while functions are rewritten."""

    asked: int = 0
    """Number of functions so far that ask."""

    def shown(self, text: str, depth: int) -> str:
        """Returns a text with its functions rewritten."""
        ends = _brackets(text)
        parts: list[str] = []
        at = 0
        while at < len(text):
            if (skipped := _SKIPPED.match(text, at)) is not None:
                parts.append(skipped[0])
                at = skipped.end()
            elif (statement := _STATEMENT.match(text, at)) is not None:
                end = _end_of_statement(text, statement.end(), ends)
                parts.append("\n" * text.count("\n", at, end))
                at = end
            elif (call := _CALL.match(text, at)) is not None and depth < _DEEPEST:
                end = _end_of_call(text, call.end(), ends)
                written = self.call(call["name"], text[call.end() : end], depth)
                missing = text.count("\n", at, end) - written.count("\n")
                parts.append(written + "\n" * max(missing, 0))
                at = end
            else:
                parts.append(text[at])
                at += 1
        return "".join(parts)

    def call(self, name: str, rest: str, depth: int) -> str:
        """Returns what a function shows: its label, and the text of its blocks."""
        ends = _brackets(rest)
        called = spelled(name.rpartition(".")[2]).replace(" ", "-")
        arguments, blocks, at = "", [], 0
        while at < len(rest):
            end = ends.get(at, len(rest))
            if rest[at] == "(":
                arguments = rest[at + 1 : end]
            else:
                blocks.append(rest[at + 1 : end])
            at = end + 1
        if (offered := self.choice(arguments, depth)) is not None:
            return offered
        inner = " ".join(self.shown(block, depth + 1).strip("\n") for block in blocks)
        if _ASKS.fullmatch(called) and inner.strip():
            self.asked += 1
            return f"**Question {self.asked}.** {inner.strip()}\n"
        if _ANSWERS.fullmatch(called) and inner.strip():
            return f"\n**Answer:** {inner.strip()}\n"
        return "____" if _GAPS.fullmatch(called) and not inner.strip() else inner

    def choice(self, arguments: str, depth: int) -> str | None:
        """Returns a question with options in the arguments of a function; None if they hold none."""
        named = {role: value for name, value in _named(arguments) if (role := role_of(name))}
        if not {"question", "correct"} <= named.keys() or named.keys().isdisjoint(("wrong", "options")):
            return None
        texts = {role: [self.shown(one, depth + 1).strip() for one in _texts(value)] for role, value in named.items()}
        right = texts["correct"]
        if "options" in named:
            offered = texts["options"]
            if len(right) == 1 and right[0].isdecimal() and right[0] not in offered:
                return None
            marked = [(one, one in right) for one in offered]
        else:
            marked = [*((one, False) for one in texts["wrong"]), *((one, True) for one in right)]
        self.asked += 1
        lines = [f"- [{'x' if is_right else ' '}] {' '.join(one.split())}" for one, is_right in marked if one]
        return "\n".join(
            (f"**Question {self.asked}.** {' '.join(' '.join(texts['question']).split())}", "", *lines, "")
        )


def _brackets(text: str) -> dict[int, int]:
    """Returns the places of closing brackets by those of opening ones, outside of programs, formulas and texts."""
    ends: dict[int, int] = {}
    open_: list[int] = []
    at = 0
    while at < len(text):
        if (skipped := _SKIPPED.match(text, at)) is not None:
            at = skipped.end()
            continue
        if text[at] == '"' and open_ and text[open_[-1]] in "({":
            end = _TEXT.match(text, at)
            at = end.end() if end else at + 1
            continue
        if text[at] in _CLOSING:
            open_.append(at)
        elif open_ and text[at] == _CLOSING[text[open_[-1]]]:
            ends[open_.pop()] = at
        at += 1
    return ends


_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')


def _end_of_statement(text: str, at: int, ends: dict[int, int]) -> int:
    """Returns where a statement ends: at the end of the line on which all of its brackets are closed."""
    while at < len(text) and text[at] != "\n":
        at = ends[at] + 1 if at in ends else at + 1
    return at


def _end_of_call(text: str, at: int, ends: dict[int, int]) -> int:
    """Returns where a call ends: behind its arguments and the blocks right after them."""
    while at < len(text) and text[at] in "([" and at in ends:
        at = ends[at] + 1
    return at


_ARGUMENT = re.compile(r"\s*(?P<name>[A-Za-z][\w-]*)\s*:\s*")


def _named(arguments: str) -> list[tuple[str, str]]:
    """Returns the names and values of the arguments of a function."""
    named = []
    for one in _split(arguments):
        if found := _ARGUMENT.match(one):
            named.append((spelled(found["name"]), one[found.end() :].strip()))
    return named


def _split(text: str) -> list[str]:
    """Returns the parts of a text between its outermost commas."""
    ends = _brackets(f"({text})")
    parts, start, at = [], 0, 0
    while at < len(text):
        if text[at] == '"' and (found := _TEXT.match(text, at)):
            at = found.end()
        elif at + 1 in ends:
            at = ends[at + 1]
        elif text[at] == ",":
            parts.append(text[start:at])
            start = at = at + 1
        else:
            at += 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def _texts(value: str) -> list[str]:
    """Returns the texts of a value: a block, a text, or several of them in round brackets."""
    if value[:1] == "(" and value[-1:] == ")":
        return [text for one in _split(value[1:-1]) for text in _texts(one)]
    if value[:1] in ("[", '"') and value[-1:] in ("]", '"') and len(value) > 1:
        return [value[1:-1].replace('\\"', '"')] if value[0] == '"' else [value[1:-1]]
    return [value] if value else []


def _lines(text: str) -> list[str]:
    """Returns the lines of a text as Markdown."""
    counts: dict[int, int] = {}
    lines = []
    fenced = False
    for line in text.split("\n"):
        fenced ^= line.count("```") % 2 == 1
        if fenced or line.lstrip().startswith("```"):
            lines.append(line)
            continue
        if heading := _HEADING.fullmatch(line.strip()):
            counts.clear()
            lines.append(f"{'#' * len(heading['marks'])} {_inline(heading['text'])}")
        elif item := _ITEM.fullmatch(line):
            depth = len(item["indent"].expandtabs(2))
            counts = {place: count for place, count in counts.items() if place <= depth}
            counts[depth] = counts.get(depth, 0) + 1
            lines.append(f"{item['indent']}{counts[depth]}. {_inline(item['text'])}")
        else:
            lines.append(_inline(line))
    return lines


def _inline(line: str) -> str:
    """Returns a line with the marks of Markdown."""
    return _BREAK.sub("", _BOLD.sub(r"**\g<text>**", line))
