"""Turns tables of options below a question into lettered lines: a letter in the first column, a text in the second."""

from __future__ import annotations

import re

from questions.patterns.options.choices import only_shows
from questions.patterns.options.search import RIGHT_AFTER
from questions.wording.stems import unbold

_ROW = re.compile(r"[ ]{0,3}\|(?P<cells>.{1,2000})\|[ \t]*")
_RULE = re.compile(r"[ ]{0,3}\|?[ \t]*:?-{1,20}[-:| \t]{0,200}")
_SPLIT = re.compile(r"(?<!\\)\|")
_LETTER = re.compile(r"\(?(?P<letter>[A-Ja-j])[).:]?")
_FEWEST = 2
_FEWEST_BOLD = 3
"""Fewest options for the only bold one to be the right one."""


def with_table_options(text: str) -> str:
    """Returns a text that begins with a table of options with lines such as `a. a view` instead, if a mark or bold
    shows that one of them is right; the text itself if it begins otherwise."""
    if "|" not in text:
        return text
    lines = text.split("\n")
    at = next((i for i, line in enumerate(lines) if i and _RULE.fullmatch(line) and _ROW.fullmatch(lines[i - 1])), None)
    if at is None or not only_shows("\n".join(lines[: at - 1])):
        return text
    header = _option(lines[at - 1])
    end = at + 1
    found = [header] if header else []
    while end < len(lines) and (option := _option(lines[end])):
        found.append(option)
        end += 1
    letters = "".join(letter for letter, _, _ in found)
    rows_go_on = end < len(lines) and _ROW.fullmatch(lines[end]) is not None
    if rows_go_on or len(found) < _FEWEST or letters != "abcdefghij"[: len(letters)]:
        return text
    signed = [RIGHT_AFTER.search(cell) is not None for _, cell, _ in found]
    right = signed if any(signed) else [bold for _, _, bold in found]
    alone = any(signed) or (sum(right) == 1 and len(found) >= _FEWEST_BOLD)
    if not alone or all(right):
        return text
    shown = [
        f"{letter}. {RIGHT_AFTER.sub('', cell)}{' ✓' if marked else ''}"
        for (letter, cell, _), marked in zip(found, right, strict=True)
    ]
    return "\n".join((*lines[: at - 1], *shown, *lines[end:]))


def with_lettered_rows(prompt: str) -> str:
    """Returns a prompt that ends in a table of letters and texts, whose header may be empty, with lines such as
    `a. a view` instead; the prompt itself if it ends otherwise."""
    lines = prompt.split("\n")
    at = next((i for i, line in enumerate(lines) if i and _RULE.fullmatch(line) and _ROW.fullmatch(lines[i - 1])), None)
    if at is None:
        return prompt
    header = _option(lines[at - 1])
    found = [header, *map(_option, lines[at + 1 :])] if header else [*map(_option, lines[at + 1 :])]
    named = [one for one in found if one]
    letters = "".join(letter for letter, _, _ in named)
    if len(named) < max(len(found), _FEWEST) or letters != "abcdefghij"[: len(letters)]:
        return prompt
    return "\n".join((*lines[: at - 1], *(f"{letter}. {text}" for letter, text, _ in named)))


def _option(line: str) -> tuple[str, str, bool] | None:
    """Returns letter and text of a row, and whether its text is bold; None for other rows."""
    row = _ROW.fullmatch(line)
    cells = [cell.strip() for cell in _SPLIT.split(row["cells"])] if row else []
    letter = _LETTER.fullmatch(unbold(cells[0])) if len(cells) == 2 else None
    text = unbold(cells[1]) if letter else ""
    return (letter["letter"].lower(), text, text != cells[1]) if letter and text else None
