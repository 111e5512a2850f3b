r"""Rewrites what LaTeX packages for quizzes use as commands of the `exam` class, so that line numbers stay the same.

Known are the questions of automultiplechoice (`\correctchoice{…}`, `\bonne{…}`), those of the moodle package
(`\item*`), lists whose items are marked as right or wrong (`\item[\correct]`, `\item[$\boxtimes$]`), and commands at
the start of a line before the answer (`\answer …`, `\reponse …`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.wording.stems import asks_to_choose, ends_asking, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Sequence


def in_exam_class(lines: Sequence[str]) -> tuple[str, ...]:
    """Returns the lines of a document with the commands of the `exam` class, as many as before."""
    text = "\n".join(lines)
    if "\\item" in text:
        text = _marked_lists(_moodle(text))
    if _OF_AMC.search(text):
        for pattern, replacement in _AMC:
            text = pattern.sub(replacement, text)
    if "\\question" in text:
        text = _with_solutions(text)
    return tuple(text.split("\n"))


# Commands before answers

_ANSWERS = re.compile(
    r"(?m)^[ \t]*\\(?:answer|ans|solution|sol|reponse|rep|corrige|antwort|loesung|respuesta|solucion|resposta|solucao"
    r"|risposta|soluzione|antwoord|svar|odpowiedz|odpoved|otvet|cevap|jawaban)(?![A-Za-z@*])(?![ \t]*[{\[])[ \t]*"
)
_BEGINS = re.compile(
    r"(?m)^[ \t]*\\(?:(?:titled|bonus)?question|(?:sub){0,2}part|item|choice|(?:chapter|(?:sub){0,2}section)|newpage"
    r"|clearpage|end\{(?:document|questions|(?:sub){0,2}parts|enumerate|itemize)\})(?![A-Za-z@])"
)
"""What is behind an answer without braces."""
_FEWEST_ANSWERS = 2
"""Fewest commands that show that these stand before the answers."""


def _with_solutions(text: str) -> str:
    """Returns a text in which what follows a command for an answer, up to the next question, is a `solution`."""
    found = list(_ANSWERS.finditer(text))
    if len(found) < _FEWEST_ANSWERS:
        return text
    parts: list[str] = []
    at = 0
    for answer in found:
        if answer.start() < at:
            continue
        behind = _BEGINS.search(text, answer.end())
        end = behind.start() if behind else len(text)
        content = text[answer.end() : end]
        solution = f"\\begin{{solution}} {content.rstrip()}\\end{{solution}}{content[len(content.rstrip()) :]}"
        parts += (text[at : answer.start()], solution)
        at = end
    return "".join((*parts, text[at:]))


# automultiplechoice

_OF_AMC = re.compile(r"\\(?:wrongchoice|mauvaise)(?![A-Za-z])")
_AMC = (
    # A group of questions is an argument, in which no question would be looked for.
    (re.compile(r"\\element\{[^{}\n]{0,80}\}[ \t]*\{"), ""),
    (re.compile(r"\\begin\{question(?:mult)?x?\}\{[^{}\n]{0,120}\}"), r"\\begin{question}"),
    (re.compile(r"\\end\{question(?:mult)?x?\}"), r"\\end{question}"),
    (re.compile(r"\\(begin|end)\{(?:reponses|choices)(?:horiz|perso)?\}"), r"\\\1{choices}"),
    (re.compile(r"\\(?:bonne|correctchoice)[ \t]*(?=\{)"), r"\\CorrectChoice"),
    (re.compile(r"\\(?:mauvaise|wrongchoice)[ \t]*(?=\{)"), r"\\choice"),
    (re.compile(r"\\begin\{multicols\}\{\d\}"), r"\\begin{multicols}"),
    (re.compile(r"\\(?:bareme|scoring)\{[^{}\n]{0,120}\}"), ""),
)


# The moodle package

_MULTI = "\\begin{multi}"
_HEAD = re.compile(r"(?:\[[^\[\]\n]{0,200}\])?[ \t]*(?:\{[^{}\n]{0,200}\})?")
_STARRED = re.compile(r"\\item(?:[ \t]*(\*)|(?![A-Za-z]))")


def _moodle(text: str) -> str:
    """Returns a text in which the questions with `\\item*` on right options have choices."""
    parts: list[str] = []
    at = 0
    while (start := text.find(_MULTI, at)) >= 0 and (end := text.find("\\end{multi}", start)) >= 0:
        inner = start + len(_MULTI)
        head = _HEAD.match(text, inner)
        body = text[head.end() if head else inner : end]
        first = body.find("\\item")
        parts.append(text[at:start])
        at = end + len("\\end{multi}")
        if first < 0 or "\\item*" not in body:
            parts.append(text[start:at])
            continue
        options = _STARRED.sub(lambda one: "\\CorrectChoice" if one[1] else "\\choice", body[first:])
        parts.append(f"\\begin{{question}}{body[:first]}\\begin{{choices}}{options}\\end{{choices}}\\end{{question}}")
    return "".join((*parts, text[at:]))


# Lists with marked items

_LIST = re.compile(r"\\(?P<do>begin|end)\{(?P<name>[A-Za-z]{0,20}(?:list|itemize|enumerate|enum|description)\*?)\}")
_ITEM = re.compile(r"\\item(?![A-Za-z])[ \t]*(?:\[(?P<label>[^\[\]\n]{0,60})\])?")
_WORDS = ("correct", "right", "true", "incorrect", "wrong", "false")
"""Labels that say in words whether an option is right."""
_RIGHT = (
    "correct",
    "right",
    "true",
    "checkmark",
    "cmark",
    "boxtimes",
    "CheckedBox",
    "XBox",
    "Checkedbox",
    "blacksquare",
)
_WRONG = ("incorrect", "wrong", "false", "xmark", "square", "Square", "Box", "Circle", "circ", "bigcirc")
_COMMAND = re.compile(r"[\s${}]{0,6}\\([A-Za-z]{2,20})[\s${}]{0,6}")
_ENDS = re.compile(r"[ \t]*\\(?:begin|end|chapter|(?:sub){0,2}section|item|hrule|rule|newpage|clearpage|bigskip)\b")
"""A line above which no text belongs to the list below it."""
_MOST_LINES = 40
"""Lines above a list that may be its question."""


def _marked_lists(text: str) -> str:
    """Returns a text in which lists of options that are marked as right or wrong are choices, with `\\question` above
    where they stand outside other lists."""
    replaced: list[tuple[int, int, str]] = []
    depth, opened = 0, None
    for found in _LIST.finditer(text):
        if found["name"] == "lstlisting":
            continue
        if found["do"] == "begin":
            depth, opened = depth + 1, found
            continue
        if opened is not None and opened["name"] == found["name"]:
            replaced += _as_choices(text, opened, found, inside=depth > 1)
        depth, opened = max(depth - 1, 0), None
    parts: list[str] = []
    at = 0
    for start, end, new in sorted(replaced):
        parts += (text[at:start], new)
        at = end
    return "".join((*parts, text[at:]))


def _as_choices(text: str, opened: re.Match[str], closed: re.Match[str], *, inside: bool) -> list[tuple[int, int, str]]:
    """Returns what to replace to turn a list into choices; empty if its items are not marked options of a question."""
    items = list(_ITEM.finditer(text, opened.end(), closed.start()))
    labels = [_COMMAND.fullmatch(item["label"] or "") for item in items]
    names = [label[1] if label else "" for label in labels]
    known = all(name in (*_RIGHT, *_WRONG) for name in names)
    if len(items) < 2 or not known or not any(name in _RIGHT for name in names):
        return []
    start, above = _text_above(text, opened.start(), inside=inside)
    asks = reads_as_question(above) or asks_to_choose(above) or ends_asking(above)
    if not above or not (asks or set(names) <= set(_WORDS)):
        return []
    changes = [
        (item.start(), item.end(), f"\\{'CorrectChoice' if name in _RIGHT else 'choice'}")
        for item, name in zip(items, names, strict=True)
    ]
    changes += [(*opened.span(), "\\begin{choices}"), (*closed.span(), "\\end{choices}")]
    return changes if inside else [(start, start, "\\question "), *changes]


def _text_above(text: str, end: int, *, inside: bool) -> tuple[int, str]:
    """Returns the paragraph above an offset and where it begins; empty if there is none."""
    lines = text[max(end - 4_000, 0) : end].split("\n")
    kept: list[str] = []
    length = 0
    for number, line in enumerate(reversed(lines[-_MOST_LINES:])):
        if inside and (found := re.search(r"\\item\b(?:\[[^\]]*\])?(.*)", line)):
            kept.append(found[1])
            break
        if (not line.strip() and kept) or (number and _ENDS.match(line)):
            break
        if line.strip():
            kept.append(line)
        length += len(line) + (number > 0)
    above = "\n".join(reversed(kept)).strip()
    start = end - length
    return start + len(text[start:end]) - len(text[start:end].lstrip()), above
