"""Recipes: an author states how the questions of a document are written, in lines that are the same everywhere.

For text, the pattern of a question and of an answer:

    question: "### {n}. {prompt}"
    answer: "> **Answer: {key}**"

`{n}` is a number, `{prompt}` the question, `{title}` a name, `{level}` a level, `{key}` the letters of the right
options, and `{answer}` an answer that continues to the next question. A space stands for any space, and everything else
for itself.

For tables and data, the names of columns or fields:

    prompt: Frage
    options: A, B, C, D
    key: Lösung

A recipe comes from strangers, so it is short and has no regular expressions.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from questions.document import entries, scalar
from questions.model import LONGEST_RECIPE
from questions.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import yaml

COLUMNS = ("prompt", "options", "key", "answer", "why", "level", "topic", "tags", "id", "number", "title")
"""What a column can hold."""
ASKING = ("prompt", "n", "title", "level")
"""Fields in the pattern of a question."""
ANSWERING = ("key", "answer", "n")
"""Fields in the pattern of an answer."""

_LONGEST_PATTERN = 200
"""Longest pattern, characters."""
_MOST_OPTIONS = 26
"""Columns of options."""
_LINE = re.compile(r"[ \t]*(?P<name>[^\W\d]\w*)[ \t]*[:=][ \t]*(?P<value>.*)")
_VALUE = re.compile(r'[ \t]*(?P<value>"(?:[^"\\]|\\.)*"|\'[^\']*\'|[^,]*)[ \t]*(?:,|$)')
_FIELD = re.compile(r"\{(?P<name>[a-z]+)\}")
_EXAMPLE = 'write `question: "### {n}. {prompt}"` and `answer: "**Answer:** {answer}"`, or the columns of a table'


class InvalidRecipe(ValueError):
    """The recipe cannot be read, or does not fit the document. The message says why, and `cure` what to do."""

    def __init__(self, message: str, cure: str = _EXAMPLE) -> None:
        super().__init__(message)
        self.cure = cure


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the questions of a document are written: by patterns, or by columns."""

    question: str = ""
    """Pattern of a question; empty for columns."""
    answer: str = ""
    """Pattern of an answer; may be empty."""
    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """What is in which column, by the names in the document; options may have several."""

    @property
    def text(self) -> str:
        """The recipe as it is written; `parse_recipe` is the inverse."""
        return "\n".join(f"{name}: {', '.join(map(_quoted, names))}" for name, names in self._lines())

    def as_data(self) -> dict[str, str | list[str]]:
        """Returns the recipe for the front matter of a document."""
        return {name: names[0] if len(names) == 1 else list(names) for name, names in self._lines()}

    def explain(self, count: int) -> str:
        """Returns the reading in words."""
        words = f"{count} question{'' if count == 1 else 's'} by the recipe"
        if self.columns:
            return f"{words} " + ", ".join(f"{role} from `{'`, `'.join(names)}`" for role, names in self.columns)
        return f"{words} `{self.question}`" + (f", answered by `{self.answer}`" if self.answer else "")

    def column(self, role: str) -> tuple[str, ...]:
        """Returns the names of the columns that hold something; empty if the recipe does not say."""
        return next((names for one, names in self.columns if one == role), ())

    def _lines(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        patterns = (("question", self.question), ("answer", self.answer))
        return self.columns or tuple((name, (pattern,)) for name, pattern in patterns if pattern)


def parse_recipe(text: str) -> Recipe:
    """Returns the recipe that a text states. Raises InvalidRecipe."""
    if len(text) > LONGEST_RECIPE:
        raise InvalidRecipe(f"it is longer than {LONGEST_RECIPE:,} characters", "keep to one line for each column")
    pairs = []
    for line in text.split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _LINE.fullmatch(line)
        if found is None:
            raise InvalidRecipe(f"`{line.strip()[:60]}` has no name and colon")
        name, value = found["name"].casefold(), found["value"].strip()
        pairs.append((name, _values(value) if name == "options" else (_unquoted(value),)))
    return _made(pairs)


def valid_recipe(text: str) -> str:
    """Returns the recipe that an export carries; empty if it cannot be read."""
    try:
        return parse_recipe(text).text if text.strip() else ""
    except InvalidRecipe:
        return ""


def recipe_of(front: yaml.Node | None) -> Recipe | None:
    """Returns the recipe of a front matter: under `recipe:`, or patterns as `question:` and `answer:`.

    Raises InvalidRecipe.
    """
    inner = next((value for key, value in entries(front) if key == "recipe"), None)
    if inner is None:
        question = scalar(front, "question")
        pairs = [("question", (question,)), ("answer", (scalar(front, "answer"),))]
        return _made([pair for pair in pairs if pair[1][0]]) if _FIELD.search(question) else None
    if text := scalar(front, "recipe"):
        return parse_recipe(text)
    return _made([(name.casefold(), _node_values(name, value)) for name, value in entries(inner)])


def _node_values(name: str, value: yaml.Node) -> tuple[str, ...]:
    found = value.value
    if isinstance(found, list):
        return tuple(one.value for one in found if isinstance(one.value, str))
    return _values(str(found)) if name == "options" else (str(found),)


def _made(pairs: Sequence[tuple[str, tuple[str, ...]]]) -> Recipe:
    names = [name for name, _ in pairs]
    known = ("question", *COLUMNS)
    for name, values in pairs:
        if name not in known:
            raise InvalidRecipe(f"`{name[:40]}` is not a part of a recipe", _suggested(name, known))
        if names.count(name) > 1:
            raise InvalidRecipe(f"`{name}` appears twice", "keep one of the lines")
        if not all(values) or not values:
            raise InvalidRecipe(f"`{name}` is empty", "write a pattern or the name of a column behind it")
        if len(values) > (_MOST_OPTIONS if name == "options" else 1) or sum(map(len, values)) > LONGEST_RECIPE:
            raise InvalidRecipe(
                f"`{name}` has too many columns", f"name one column; for options at most {_MOST_OPTIONS}"
            )
    if "question" in names:
        return _patterns(dict(pairs))
    if "prompt" not in names:
        raise InvalidRecipe("it does not say where the question is")
    return Recipe(columns=tuple(sorted(pairs, key=lambda pair: COLUMNS.index(pair[0]))))


def _patterns(parts: dict[str, tuple[str, ...]]) -> Recipe:
    others = [name for name in parts if name not in ("question", "answer")]
    if others:
        cure = "write `prompt: name` instead of `question` to name columns"
        raise InvalidRecipe(f"`question` is a pattern, and `{others[0]}` names a column", cure)
    question, answer = parts["question"][0], parts.get("answer", ("",))[0]
    if not {"prompt", "n"} & {name for name, _ in parse_pattern(question, ASKING)}:
        raise InvalidRecipe("the question needs `{prompt}` or `{n}`")
    if answer:
        parse_pattern(answer, ANSWERING)
    return Recipe(question, answer)


def _suggested(name: str, known: Iterable[str]) -> str:
    listed = list(known)
    return did_you_mean(name, listed, f"write one of {', '.join(f'`{one}`' for one in listed[:20])}")


def _values(text: str) -> tuple[str, ...]:
    """Returns names separated by commas, each with or without quotes."""
    bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
    return tuple(value for found in _VALUE.finditer(bare) if (value := _unquoted(found["value"].strip())))


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1]
    if len(text) > 1 and text[0] == text[-1] == '"':
        try:
            found = json.loads(text)
        except ValueError:
            return text[1:-1]
        return found if isinstance(found, str) else text
    return text


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


# Patterns

Pattern = tuple[tuple[str, str], ...]
"""Fields with the text after each; the first has no name, and its text begins the line."""


def parse_pattern(pattern: str, allowed: tuple[str, ...]) -> Pattern:
    """Returns the fields of a pattern and the text between them. Raises InvalidRecipe."""
    if len(pattern) > _LONGEST_PATTERN:
        raise InvalidRecipe(f"a pattern is longer than {_LONGEST_PATTERN} characters")
    parts = _FIELD.split(" ".join(pattern.split()))
    names = parts[1::2]
    if not names:
        raise InvalidRecipe(f"the pattern `{pattern[:60]}` has no field")
    for name in names:
        if name not in allowed:
            fields = [f"{{{one}}}" for one in allowed]
            raise InvalidRecipe(f"`{{{name}}}` is not a field here", _suggested(f"{{{name}}}", fields))
        if names.count(name) > 1:
            raise InvalidRecipe(f"`{{{name}}}` appears twice", "keep one of them")
    if any(not text for text in parts[2:-1:2]):
        raise InvalidRecipe("two fields need text between them")
    return tuple(zip(["", *names], parts[::2], strict=True))


# Columns


def name_key(name: str) -> str:
    """Returns the name of a column without differences that people do not see."""
    return " ".join(name.split()).casefold()


def find_columns(recipe: Recipe, names: Iterable[str]) -> dict[str, tuple[str, int]]:
    """Returns what the recipe reads from each column: its part, and the index of an option.

    `names` are the document's; the keys of the result come from `name_key`. Raises InvalidRecipe if one is missing.
    """
    known = {name_key(name): name.strip() for name in names if name.strip()}
    found: dict[str, tuple[str, int]] = {}
    for role, wanted in recipe.columns:
        for index, name in enumerate(wanted):
            if name_key(name) not in known:
                message = f"there is no column `{name[:60]}` for `{role}`"
                raise InvalidRecipe(message, _suggested(name, list(known.values())[:100] or ["a column"]))
            found[name_key(name)] = (role, index)
    return found
