"""Loads data from strangers: JSON, JSON Lines, YAML and TOML. Depth, aliases and the number of values are limited."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

from questions.formats.data.loose_json import Slip, begins_assigning, load_loose

if TYPE_CHECKING:
    from questions.formats.draft import ImportDraft
    from questions.source import Source

MOST_VALUES = 500_000
"""Maximum number of values looked at; YAML aliases can repeat one without end."""


class Loaded(NamedTuple):
    """The data of a document, and what is wrong with it."""

    value: Any
    """None if the document has no data, or is broken."""
    slips: tuple[Slip, ...] = ()
    """Slips in JSON and YAML that have only one meaning."""
    broken: tuple[tuple[int, str], ...] = ()
    """Lines of JSON Lines that are not JSON, and what is wrong with each."""
    repeated: tuple[str, ...] = ()
    """Names that are twice in an object, with different values."""


def load_data(source: Source) -> Any:
    """Returns the data of a document; None if it has none, or is broken."""
    return load(source).value


def load(source: Source) -> Loaded:
    """Returns the data of a document, and what is wrong with it although it can be read."""
    text = "\n".join(source.lines)
    suffix = PurePath(source.name).suffix.lower()
    try:
        if suffix == ".toml":
            return Loaded(tomllib.loads(text))
        if text.lstrip()[:1] in ("{", "[") or (
            suffix in _JSON and (_LOOSE_START.match(text) or begins_assigning(text))
        ):
            return _json(source, text)
        if suffix in (".yaml", ".yml") and _ASKS.search(text):
            return _loose_yaml(text)
    except (ValueError, RecursionError, yaml.YAMLError, OverflowError):
        pass
    return Loaded(None)


_JSON = (".json", ".jsonl", ".jsonc", ".json5")
_LOOSE_START = re.compile(r'\s*(?://|/\*|#|"(?:[^"\\\n]|\\.){1,100}"\s*:)')
"""A comment, or a name without the bracket before it."""


def name_slips(draft: ImportDraft, loaded: Loaded) -> None:
    """Adds a finding for all slips, and one for each line that was left out."""
    if loaded.slips:
        shown = ", ".join(f"{one.what} (line {one.line}{_more(one.times)})" for one in loaded.slips)
        cure = "nothing to do; or correct it, so that other programs can read it too"
        line = min(one.line for one in loaded.slips)
        form = "YAML" if PurePath(draft.source.name).suffix.lower() in (".yaml", ".yml") else "JSON"
        draft.add(
            "Q616",
            f"invalid {form} was read, because it has only one meaning: {shown}",
            cure,
            (line, line),
            severity="note",
        )
    if names := list(dict.fromkeys(loaded.repeated)):
        shown = ", ".join(f"`{name[:40]}`" for name in names[:_MOST_NAMES])
        message = f"names are repeated in one mapping, with different values: {shown}"
        note = "lists and mappings were all read; of other values none was"
        line = next((n for n, text in enumerate(draft.source.lines, 1) if names[0] in text), 1)
        draft.add("Q605", message, "give each its own name, or remove one", (line, line), note=note)
    for line, problem in loaded.broken[:_MOST_BROKEN]:
        draft.add_skipped(f"this line is invalid JSON: {problem}", "correct it there", (line, line))
    if more := loaded.broken[_MOST_BROKEN:]:
        problem = f"{len(more)} more lines are invalid JSON"
        draft.add_skipped(problem, "correct them, or save the document again", (more[0][0], more[-1][0]))


def _more(count: int) -> str:
    return f" and {count - 1} more" if count > 1 else ""


_MOST_NAMES = 10
"""Most repeated names that are named."""
_MOST_BROKEN = 100
"""Most lines that are named one by one."""


def name_error(draft: ImportDraft) -> bool:
    """Adds an error if the document is broken JSON, YAML or TOML by its name, and returns whether it is."""
    if (found := _error_in(draft.source)) is not None:
        problem, line = found
        draft.unreadable(problem, "correct it there, or save the document again", draft.source.last_filled(1, line))
    return found is not None


def _error_in(source: Source) -> tuple[str, int] | None:
    text = "\n".join(source.lines)
    suffix = PurePath(source.name).suffix.lower()
    try:
        if suffix == ".toml":
            tomllib.loads(text)
        elif suffix in (".json", ".jsonl"):
            json.loads(text)
        elif suffix in (".yaml", ".yml"):
            _yaml(text, [])
    except json.JSONDecodeError as error:
        return _json_error(source, error)
    except tomllib.TOMLDecodeError as error:
        where = _TOML_LINE.search(str(error))
        return f"invalid TOML: {_TOML_LINE.sub('', str(error))}", int(where[1]) if where else len(source.lines)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        return f"invalid YAML: {error.problem or error.context}", mark.line + 1 if mark else 1
    except RecursionError:
        return f"this {suffix[1:].upper()} is nested too deeply", 1
    except (ValueError, yaml.YAMLError, OverflowError) as error:
        return f"invalid {suffix[1:].upper()}: {str(error).partition(chr(10))[0]}", 1
    return None


_TOML_LINE = re.compile(r" \(at line (\d+), column \d+\)")


def _json_error(source: Source, error: json.JSONDecodeError) -> tuple[str, int] | None:
    """Returns the error; in JSON Lines, that of the first broken line, or None if no line is."""
    if error.msg != "Extra data":
        return f"invalid JSON: {error.msg}", error.lineno
    filled = [(number, line) for number, line in enumerate(source.lines, 1) if line.strip()]
    for number, line in filled:
        try:
            json.loads(line)
        except (ValueError, RecursionError) as broken:
            if number == filled[0][0]:
                return "invalid JSON: more follows behind its end", error.lineno
            return f"invalid JSON: {broken.msg if isinstance(broken, json.JSONDecodeError) else broken}", number
    return None


def _with(mapping: dict[Any, Any], name: Any, value: Any, repeated: list[str]) -> None:
    """Adds a value to a mapping. Where its name is there already, lists and mappings are kept under other names, and
    of different texts and numbers none is."""
    if name not in mapping:
        mapping[name] = value
    elif isinstance(value, dict | list):
        repeated.append(str(name))
        mapping[f"{name} ({len(mapping) + 1})"] = value
    elif mapping[name] != value:
        repeated.append(str(name))
        if isinstance(mapping[name], dict | list):
            mapping[f"{name} ({len(mapping) + 1})"] = mapping[name]
        mapping[name] = None


def _yaml(text: str, repeated: list[str]) -> Any:
    """Returns the data of a YAML document from its events, so that depth, aliases and tags cost nothing.

    An alias of a text or a number is that, any other one nothing. Raises ValueError for more depth or values than
    questions need.
    """
    anchored: dict[str | None, Any] = {}
    stack: list[Any] = [[]]
    keys: list[Any] = [_NO_KEY]
    for count, event in enumerate(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))):
        if count > MOST_VALUES or len(stack) > _DEEPEST_YAML:
            raise ValueError("too many values")
        if isinstance(event, yaml.AliasEvent):
            _put(stack, keys, anchored.get(event.anchor), repeated)
        elif isinstance(event, yaml.ScalarEvent):
            anchored[event.anchor] = _scalar(event)
            _put(stack, keys, _scalar(event), repeated)
        elif isinstance(event, yaml.CollectionStartEvent):
            value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
            _put(stack, keys, value, repeated)
            stack.append(value)
            keys.append(_NO_KEY)
        elif isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
            keys.pop()
    return stack[0][0] if len(stack[0]) == 1 else stack[0]


_COLON = re.compile(
    r"(?P<name>[ \t]*(?:-[ \t]+)*[\w][\w .-]{0,60}:[ \t]+)(?P<value>[^\s\"'\[\]{}|>&*!%@`#,?-](?:(?![ ]#).)*)"
)
"""A value in a line of its own."""
_MOST_COLONS = 200
_LONGEST_LOOSE = 400_000
"""Length of a document in which values with a colon are looked for, characters."""


def _loose_yaml(text: str) -> Loaded:
    """Returns the data of a YAML document; a value with a colon in it, `title: Views: a summary`, is a text, which YAML
    wants in quotes. Raises YAMLError for other mistakes."""
    lines = text.split("\n")
    wrong: list[int] = []
    while True:
        repeated: list[str] = []
        try:
            value = _yaml("\n".join(lines), repeated)
        except yaml.MarkedYAMLError as error:
            at = error.problem_mark.line if error.problem_mark else -1
            found = _COLON.fullmatch(lines[at].rstrip()) if 0 <= at < len(lines) else None
            known = str(error.problem).startswith("mapping values are not allowed") and found is not None
            if not found or not known or ": " not in found["value"] or len(wrong) >= _MOST_COLONS:
                raise
            if len(text) > _LONGEST_LOOSE or at + 1 in wrong:
                raise
            lines[at] = found["name"] + json.dumps(found["value"], ensure_ascii=False)
            wrong.append(at + 1)
            continue
        slips = (Slip("texts with a colon, without quotes", wrong[0], len(wrong)),) if wrong else ()
        return Loaded(value, slips, repeated=tuple(repeated))


_NO_KEY = object()
_DEEPEST_YAML = 20
_ASKS = re.compile(
    r"^[ \t]*(?:-[ \t]+)?(?:\{[ \t]*)?[\"']?[^\W\d][\w ]{0,30}[\"']?[ ]?:[ \t]*\S|^-[ \t]*(?:\n[ \t]+)?-[ \t]+\S",
    re.MULTILINE,
)
"""A field with a value, or a list in a list."""


def _put(stack: list[Any], keys: list[Any], value: Any, repeated: list[str]) -> None:
    top = stack[-1]
    if isinstance(top, list):
        top.append(value)
    elif keys[-1] is _NO_KEY:
        keys[-1] = value if isinstance(value, str | int | float | bool) else str(id(value))
    else:
        _with(top, keys[-1], value, repeated)
        keys[-1] = _NO_KEY


def _scalar(event: yaml.ScalarEvent) -> Any:
    """Returns a plain scalar as a number or truth value, any other as text; words such as `yes` stay words."""
    text = str(event.value)
    if event.implicit[0] and text in ("true", "false", "True", "False"):
        return text.lower() == "true"
    return int(text) if event.implicit[0] and re.fullmatch(r"-?\d{1,9}", text) else text


def _json(source: Source, text: str) -> Loaded:
    repeated: list[str] = []

    def mapping_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            found = {}
            for name, value in pairs:
                _with(found, name, value, repeated)
        return found

    try:
        return Loaded(json.loads(text, object_pairs_hook=mapping_of), repeated=tuple(repeated))
    except json.JSONDecodeError as error:
        repeated.clear()
        if source.lines[0].lstrip()[:1] in ("{", "#") and (lines := _json_lines(source)):
            return lines
        if loose := load_loose(text):
            return Loaded(*loose)
        raise error from None


def _json_lines(source: Source) -> Loaded | None:
    """Returns the values of JSON Lines: a value in each line, or an object in all but a few, which are broken."""
    values: list[Any] = []
    broken: list[tuple[int, str]] = []
    comments: list[int] = []
    for number, line in enumerate(source.lines, 1):
        if not line.strip():
            continue
        if line.lstrip().startswith("#"):
            comments.append(number)
            continue
        try:
            values.append(json.loads(line))
        except json.JSONDecodeError as error:
            broken.append((number, error.msg))
        except (ValueError, RecursionError) as error:
            broken.append((number, str(error).partition(";")[0]))
        if len(broken) > _FEW_BROKEN and len(broken) > len(values):
            return None
    if broken and (len(values) < _FEWEST_LINES or not all(isinstance(one, dict) for one in values)):
        return None
    slips = (Slip("comments", comments[0], len(comments)),) if comments else ()
    return Loaded(values, slips, broken=tuple(broken))


_FEWEST_LINES = 3
"""Fewest objects that show that a broken document is JSON Lines."""
_FEW_BROKEN = 2
"""Lines that may be broken before most are known not to be."""
