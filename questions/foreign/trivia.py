"""Red-DiscordBot trivia lists: YAML with questions as keys and lists of answers. Nothing is constructed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from questions.foreign.making import Item, add_short
from questions.foreign.sheet import Sheet
from questions.foreign.wording import from_plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Source

NAME = "trivia"

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS = re.compile(r"(?:y|yes|n|no|on|off|true|false|null|~)", re.IGNORECASE)
"""What YAML 1.1 takes for a truth value or for nothing."""
_DEEPEST = 20
_SETTINGS = frozenset({"AUTHOR", "CONFIG", "DESCRIPTION"})
_ENTRY = re.compile(r"\S.*:\s*\n\s*-\s+\S")


@dataclass(frozen=True, slots=True)
class _Word:
    """A scalar as it is written."""

    text: str
    line: int
    bare: bool
    """Whether it stands without quotes, so that a loader may take it for something else than a word."""
    alias: bool = False


@dataclass(slots=True)
class _Entry:
    key: _Word
    values: list[_Word]
    last: int
    nested: bool = False
    """Whether its value is more than a scalar or a list of scalars."""

    def add(self, word: _Word, last: int) -> None:
        """Keep a scalar of its value, which ends on line `last`."""
        self.nested |= word.alias
        self.values.append(word)
        self.last = max(self.last, last)


def sniff(source: Source) -> bool:
    """Never by content alone: any Markdown list would do. A file must be called `.yaml`."""
    return source.name.lower().endswith((".yaml", ".yml")) and bool(_ENTRY.search("\n".join(source.lines)))


def read(source: Source) -> Sheet:
    """All questions of a list; what a loader would lose or mistake is named."""
    sheet = Sheet(source, NAME)
    sheet.title = sheet.stem
    entries: list[_Entry] = []
    try:
        entries += _entries(sheet)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is broken"
        sheet.unreadable(
            f"the YAML cannot be read: {problem}",
            "quote keys and values that hold a colon or begin with a mark",
            mark.line + 1 if mark else 1,
        )
        return sheet
    author = _settings(sheet, entries)
    seen: dict[str, int] = {}
    for entry in entries:
        if entry.key.text not in _SETTINGS:
            _question(sheet, entry, seen, author)
    if not sheet.questions and not sheet.findings:
        sheet.unreadable("this is no trivia list", "write `Question?:` and its answers below it as `- answer`")
    return sheet


def _entries(sheet: Sheet) -> Iterator[_Entry]:
    """The entries of the outermost mapping. Works on events, so that depth and aliases cost nothing."""
    depth = 0
    entry: _Entry | None = None
    in_key = False
    for event in yaml.parse("\n".join(sheet.source.lines), Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth = _deeper(depth)
            if entry is not None and (depth > 2 or isinstance(event, yaml.MappingStartEvent)):
                entry.nested = True
            if depth == 1 and not isinstance(event, yaml.MappingStartEvent):
                return
            if depth == 2 and entry is None:
                line = _line(event.start_mark)
                entry, in_key = _Entry(_Word("", line, bare=False), [], line, nested=True), True
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            if in_key and depth == 1:
                in_key = False
                continue
        elif isinstance(event, yaml.ScalarEvent | yaml.AliasEvent) and depth:
            word = _word(event)
            if depth == 1 and entry is None:
                entry = _Entry(word, [], word.line)
                continue
            if entry is not None:
                entry.add(word, _line(event.end_mark))
        else:
            continue
        if depth == 1 and entry is not None and not isinstance(event, yaml.CollectionStartEvent):
            yield entry
            entry = None


def _deeper(depth: int) -> int:
    """One level deeper; libyaml's time for a token grows with the depth, so there is an end to it."""
    if depth >= _DEEPEST:
        raise yaml.MarkedYAMLError(problem="it is nested too deeply")
    return depth + 1


def _line(mark: Any) -> int:
    """The line of a mark, which is of another class where YAML is read by libyaml."""
    return int(mark.line) + 1 if mark else 1


def _word(event: yaml.ScalarEvent | yaml.AliasEvent) -> _Word:
    line = _line(event.start_mark)
    if isinstance(event, yaml.AliasEvent):
        return _Word(f"*{event.anchor}", line, bare=False, alias=True)
    return _Word(str(event.value), line, bare=bool(event.implicit[0]))


def _settings(sheet: Sheet, entries: list[_Entry]) -> str:
    """Keep who wrote the list; name settings that have no place here."""
    author = ""
    for entry in entries:
        lines = (entry.key.line, entry.last)
        if entry.key.text == "AUTHOR":
            author = ", ".join(word.text for word in entry.values)
        elif entry.key.text in _SETTINGS:
            message = f"`{entry.key.text}` was not kept"
            sheet.say("Q610", message, "set points and times for the schedule instead", lines, severity="note")
    return " ".join(author.split())


def _question(sheet: Sheet, entry: _Entry, seen: dict[str, int], author: str) -> None:
    lines = (entry.key.line, entry.last)
    if not sheet.takes(*lines, sum(len(word.text) for word in (entry.key, *entry.values))):
        return
    if entry.nested:
        sheet.left_out("the answers are no list of words", "write each as `- answer`", lines)
        return
    first = seen.setdefault(entry.key.text, entry.key.line)
    if first != entry.key.line:
        note = f"the first is on line {first}; YAML loaders keep the last alone, here both are kept"
        sheet.say("Q605", "the same question stands here again", "join the answers of the two", lines, note=note)
    for word in entry.values:
        if word.bare and _WORDS.fullmatch(word.text):
            cure = f'write it in quotes: "{word.text}"'
            message = f"YAML loaders do not take `{word.text}` for a word"
            sheet.say("Q611", message, cure, (word.line, word.line), severity="note", note="it was read as written")
    item = Item(*lines, from_plain(entry.key.text), section=(sheet.stem,), topic="")
    item.tag([f"author: {author}"] if author else [])
    add_short(sheet, item, [from_plain(word.text) for word in entry.values])
