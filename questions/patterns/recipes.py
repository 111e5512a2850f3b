"""Reads the questions of a document by the patterns of a recipe."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.document import Document, Draft
from questions.patterns.found_questions import FoundQuestion, add_question
from questions.recipes import ANSWERING, ASKING, InvalidRecipe, Pattern, Recipe, parse_pattern
from questions.source import trim
from questions.wording.stems import level_of, unbold

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = "recipe"

_CURE = "copy the first line of a question, and put `{n}` in place of its number and `{prompt}` in place of its text"
_NUMBER = re.compile(r"\d{1,4}")


def read_recipe(document: Document, recipe: Recipe) -> Draft:
    """Reads the questions that a recipe's patterns describe. Raises InvalidRecipe."""
    asks = parse_pattern(recipe.question, ASKING)
    says = parse_pattern(recipe.answer, ANSWERING) if recipe.answer else None
    draft = Draft()
    found = list(_lines(document, asks))
    if not found:
        raise InvalidRecipe(f"no line outside programs matches the pattern of a question, `{recipe.question}`", _CURE)
    headings = {block.first: block.level for block in document.blocks if block.kind == "heading"}
    for (line, fields), following in zip(found, [*found[1:], None], strict=True):
        last = following[0] - 1 if following else len(document.source.lines)
        depth = headings.get(line, 0)
        above = (n for n in range(line + 1, last + 1) if headings.get(n, 7) < depth)
        _add(document, draft, line, document.source.last_filled(line, next(above, last + 1) - 1), fields, says)
    return draft


def match_line(line: str, pattern: Pattern) -> dict[str, str] | None:
    """Returns the fields of a line; None if it does not match. Each field ends at the first text that follows it."""
    text = " ".join(line.split())
    found: dict[str, str] = {}
    at = 0
    for index, (name, after) in enumerate(pattern):
        if name == "n":
            number = _NUMBER.match(text, at)
            end = number.end() if number else -1
        elif not name:
            end = at
        elif index == len(pattern) - 1:
            end = len(text) - len(after)
        else:
            end = text.find(after, at)
        if end < at or text[end : end + len(after)].casefold() != after.casefold():
            return None
        if name:
            found[name] = text[at:end].strip()
            if not found[name] and name != "answer":
                return None
        at = end + len(after)
    return found if at == len(text) else None


def _lines(document: Document, pattern: Pattern) -> Iterator[tuple[int, dict[str, str]]]:
    """Yields the lines outside programs that match."""
    programs = {n for fence in document.layout.fences for n in range(fence.first, fence.last + 1)}
    start = document.blocks[0].last if document.front is not None else 0
    for number, line in enumerate(document.source.lines, 1):
        if number > start and number not in programs and (fields := match_line(line, pattern)) is not None:
            yield number, fields


def _add(document: Document, draft: Draft, first: int, last: int, fields: dict[str, str], says: Pattern | None) -> None:
    source = document.source
    stem = unbold(fields.get("prompt", ""))
    answer, before, labeled = "", last, False
    for number in range(first + 1, last + 1) if says else ():
        answered = match_line(source.line(number), says or ())
        if answered is not None:
            below = source.text(number + 1, last)
            answer = trim(
                "\n".join(part for part in (answered.get("key") or answered.get("answer") or "", below) if part)
            )
            before, labeled = number - 1, True
            break
    shown = source.text(first + 1, before)
    if not stem:
        stem, _, shown = shown.partition("\n\n")
    if says is None:
        answer, shown = shown, ""
    found = FoundQuestion(
        first=first,
        last=last,
        prompt="\n\n".join(part for part in (stem, shown) if part),
        answer=answer,
        labeled=labeled,
        number=fields.get("n", ""),
        title=fields.get("title", ""),
        level=level_of(fields.get("level", "")),
    )
    add_question(document, draft, found)
