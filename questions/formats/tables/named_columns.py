"""Reads tables and data by the names of columns or fields that an author states in a recipe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from questions.formats.data import records
from questions.formats.data.loading import MOST_VALUES, load, name_slips
from questions.formats.data.roles import role_of
from questions.formats.draft import ImportDraft
from questions.formats.tables import table
from questions.formats.tables.column_names import Column, columns
from questions.formats.tables.header import DELIMITERS, header_cells
from questions.recipes import InvalidRecipe, Recipe, find_columns, name_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from questions.source import Source

_MOST_ADVICE = 20
"""Filled lines in which the header is looked for."""
_WORDS = {
    "prompt": "question",
    "key": "correct",
    "answer": "answer",
    "options": "options",
    "why": "explanation",
    "level": "level",
    "topic": "topic",
    "tags": "tags",
    "id": "id",
    "title": "title",
}
"""Our names of columns in tables."""
_FIELDS = {**_WORDS, "answer": "correct answer"}
"""Our names of fields in data."""
_REPLACED = {
    "prompt": ("question",),
    "options": ("options", "option", "wrong"),
    "key": ("correct", "index", "right"),
    "answer": ("answer", "correct", "index", "right"),
}
"""Roles that columns with usual names lose when the recipe names others."""


def read_named(source: Source, recipe: Recipe, sheet: bool) -> ImportDraft | None:
    """Reads data, or a table; None for other text, unless it is known to be a `sheet`.

    The findings name a column that is missing.
    """
    loaded = load(source)
    data = loaded.value
    draft = ImportDraft(source, records.NAME if data is not None else table.NAME)
    draft.title = draft.stem
    try:
        if data is not None:
            name_slips(draft, loaded)
            return _read_data(draft, data, recipe)
        found = _header(source, recipe)
        if found is None and not sheet:
            return None
        if found is None:
            names = [name for mark in DELIMITERS for name in header_cells(_first_line(source), mark)]
            find_columns(recipe, names)
            raise InvalidRecipe("no line has all these columns", "name the columns in one header")
        delimiter, first = found
        _refuse_unread(recipe, ("number",), "tables")
        return table.read_rows(draft, delimiter, first, lambda names: _roles(names, recipe))
    except InvalidRecipe as error:
        return invalid_recipe(draft, error)


def invalid_recipe(draft: ImportDraft, error: InvalidRecipe) -> ImportDraft:
    """Adds the finding that a recipe does not fit the document, and returns the draft."""
    draft.add("Q009", f"the recipe cannot be used: {error}", error.cure, (1, 1), severity="error")
    return draft


def _refuse_unread(recipe: Recipe, unread: tuple[str, ...], where: str) -> None:
    named = next((role for role in unread if recipe.column(role)), "")
    if named:
        raise InvalidRecipe(f"`{named}` is not read from {where}", "leave it out")


# Tables


def _first_line(source: Source) -> str:
    return next((line for line in source.lines if line.strip()), "")


def _header(source: Source, recipe: Recipe) -> tuple[str, int] | None:
    """Returns the delimiter and the line of the header that has all columns; templates begin with advice."""
    wanted = {name_key(name) for _, names in recipe.columns for name in names}
    filled = [number for number, line in enumerate(source.lines[:100], 1) if line.strip()]
    for number in filled[:_MOST_ADVICE]:
        for delimiter in DELIMITERS:
            cells = header_cells(source.line(number), delimiter)
            if len(cells) > 1 and wanted <= set(map(name_key, cells)):
                return delimiter, number
    return None


def _roles(names: Sequence[str], recipe: Recipe) -> list[Column]:
    """Returns the roles of columns: those that the recipe names, and others by their usual names."""
    stated = find_columns(recipe, names)
    lost = {role for part, _ in recipe.columns for role in _REPLACED.get(part, (part,))}
    several = len(recipe.column("options")) > 1
    found = []
    for name, usual in zip(names, columns(names), strict=True):
        part, index = stated.get(name_key(name), ("", 0))
        if not part:
            found.append(Column("") if usual.role in lost else usual)
        elif part == "options" and several:
            found.append(Column("option", index))
        else:
            found.append(columns([_WORDS[part]])[0])
    return found


# Data


def _read_data(draft: ImportDraft, data: Any, recipe: Recipe) -> ImportDraft:
    _refuse_unread(recipe, ("number", "title"), "data")
    left = [MOST_VALUES]
    asked = name_key(recipe.column("prompt")[0])
    names = dict.fromkeys(name for one in _mappings(data, left) for name in map(str, one))
    find_columns(recipe, [name for name in names if len(name) <= 200][:1000])
    renamed = _renamed(data, recipe, asked)
    return records.read_data(draft, renamed)


def _mappings(data: Any, left: list[int]) -> Iterator[dict[Any, Any]]:
    """Yields all mappings in the data, outermost first."""
    waiting = [data]
    while waiting and left[0] > 0:
        one = waiting.pop()
        left[0] -= 1
        if isinstance(one, dict):
            yield one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _renamed(data: Any, recipe: Recipe, asked: str, depth: int = 0) -> Any:
    """Returns the data with our names for the fields that the recipe names, in each mapping that asks."""
    if depth > 20:
        return data
    if isinstance(data, list):
        return [_renamed(one, recipe, asked, depth + 1) for one in data]
    if not isinstance(data, dict):
        return data
    keys = {name_key(str(key)): key for key in data}
    if asked not in keys:
        return {key: _renamed(value, recipe, asked, depth + 1) for key, value in data.items()}
    made: dict[Any, Any] = {}
    for part, names in recipe.columns:
        for index, name in enumerate(names):
            ours = "abcdefghijklmnopqrstuvwxyz"[index] if part == "options" and len(names) > 1 else _FIELDS[part]
            key = keys.get(name_key(name))
            if key is not None:
                made[ours] = data[key]
    lost = {role for part, _ in recipe.columns for role in _REPLACED.get(part, (part,))}
    used = {name_key(name) for _, names in recipe.columns for name in names}
    for name, key in keys.items():
        if name not in used and role_of(name) not in lost:
            made.setdefault(key, data[key])
    # A record that only asks is a question without an answer.
    made.setdefault(_FIELDS["key"], made.get(_FIELDS["answer"], ""))
    return made
