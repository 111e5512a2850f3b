"""Reads trivia questions: Red-DiscordBot lists, Open Trivia Database JSON and OpenTriviaQA."""

from __future__ import annotations

import base64
import binascii
import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, unquote_plus

import yaml

from questions.formats.data.loading import load_data, name_error
from questions.formats.data.roles import DATA_ROLES
from questions.formats.data.shapes import right_by_mark
from questions.formats.data.unnamed_fields import describe_fields, entries_of
from questions.formats.data.unread import name_unread
from questions.formats.draft import ImportDraft, Item, OptionDraft, add_choice, add_short, topic_of
from questions.formats.json import JsonElement, line_of, outline
from questions.formats.markdown import from_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from questions.source import Source


# Red-DiscordBot trivia lists: YAML with questions as keys; no YAML objects are created

TRIVIA = "trivia"

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS = re.compile(r"(?:y|yes|n|no|on|off|true|false|null|~)", re.IGNORECASE)
"""Words that YAML 1.1 reads as a boolean or null."""
_DEEPEST = 20
_SETTINGS = frozenset({"AUTHOR", "CONFIG", "DESCRIPTION"})
_ENTRY = re.compile(r"\S.*:\s*\n\s*-\s+\S")


@dataclass(frozen=True, slots=True)
class _Word:
    """A scalar as written."""

    text: str
    line: int
    bare: bool
    """Whether it is unquoted, so that a loader may not read it as text."""
    alias: bool = False


@dataclass(slots=True)
class _Entry:
    key: _Word
    values: list[_Word]
    last: int
    nested: bool = False
    """Whether its value is more than a scalar or a list of scalars."""

    def add(self, word: _Word, last: int) -> None:
        """Adds a scalar of its value, which ends on line `last`."""
        self.nested |= word.alias
        self.values.append(word)
        self.last = max(self.last, last)


def sniff_trivia(source: Source) -> bool:
    """Returns False: any Markdown list would match, so only the suffix `.yaml` selects this format."""
    return source.name.lower().endswith((".yaml", ".yml")) and bool(_ENTRY.search("\n".join(source.lines)))


def read_trivia(source: Source) -> ImportDraft:
    """Reads all questions of a list; findings name what a YAML loader would lose or misread."""
    draft = ImportDraft(source, TRIVIA)
    draft.title = draft.stem
    entries: list[_Entry] = []
    try:
        entries += _entries(draft)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is broken"
        draft.unreadable(
            f"invalid YAML: {problem}",
            "quote keys and values that contain a colon or start with a special character",
            mark.line + 1 if mark else 1,
        )
        return draft
    if _are_settings([entry.key.text for entry in entries]):
        _name_no_questions(draft)
        return draft
    author = _settings(draft, entries)
    seen: dict[str, int] = {}
    asked = [entry for entry in entries if entry.key.text not in _SETTINGS]
    marked = right_by_mark([[word.text for word in entry.values] for entry in asked])
    for at, entry in enumerate(asked):
        _question(draft, entry, seen, author, marked[at] if marked else None)
    if not draft.questions and not draft.findings and not name_error(draft):
        _name_no_questions(draft)
    return draft


def _name_no_questions(draft: ImportDraft) -> None:
    """Adds a finding that nothing was read, with the names of the fields or keys that the document has."""
    data = load_data(draft.source)
    entries = list(entries_of(data))
    if len(entries) < _FEWEST_ENTRIES and isinstance(data, dict):
        entries = [data]
    names = [f"`{str(name)[:_LONGEST_NAME]}`" for name in dict.fromkeys(name for one in entries for name in one)]
    cure = "write `Question?:` and its answers below it as `- answer`"
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    has = f"it has the fields {', '.join(names[:_MOST_NAMED])}{more}" if names else "nothing in it has a name"
    if fields := describe_fields(data, DATA_ROLES):
        draft.add("Q601", fields.message, fields.cure, (1, 1), severity="error", note=fields.note)
    else:
        if names:
            cure = f"give each question a field `question`, and `options` or `answer`; or {cure}"
        draft.unreadable(f"no questions recognized in this YAML: {has}", cure)
    name_unread(draft, data, ())


_FEWEST_ENTRIES = 2
_MOST_NAMED = 8
"""Most names of fields in a finding."""
_LONGEST_NAME = 40


_SETTING = re.compile(r"[a-z][a-z0-9_.-]{0,40}")


def _are_settings(keys: list[str]) -> bool:
    """Returns whether most keys are single words in small letters, as in the configuration of a program."""
    return sum(_SETTING.fullmatch(key) is not None for key in keys) * 2 > len(keys)


def _entries(draft: ImportDraft) -> Iterator[_Entry]:
    """Yields the entries of the outermost mapping. Works on events, so that depth and aliases cost nothing."""
    depth = 0
    entry: _Entry | None = None
    in_key = False
    for event in yaml.parse("\n".join(draft.source.lines), Loader=_LOADER):
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
    """Returns the next nesting depth, up to a limit, because libyaml's time per token grows with the depth."""
    if depth >= _DEEPEST:
        raise yaml.MarkedYAMLError(problem="it is nested too deeply")
    return depth + 1


def _line(mark: Any) -> int:
    """Returns the line of a mark, whose class differs with libyaml."""
    return int(mark.line) + 1 if mark else 1


def _word(event: yaml.ScalarEvent | yaml.AliasEvent) -> _Word:
    line = _line(event.start_mark)
    if isinstance(event, yaml.AliasEvent):
        return _Word(f"*{event.anchor}", line, bare=False, alias=True)
    return _Word(str(event.value), line, bare=bool(event.implicit[0]))


def _settings(draft: ImportDraft, entries: list[_Entry]) -> str:
    """Returns the list's author; findings name unsupported settings."""
    author = ""
    for entry in entries:
        lines = (entry.key.line, entry.last)
        if entry.key.text == "AUTHOR":
            author = ", ".join(word.text for word in entry.values)
        elif entry.key.text in _SETTINGS:
            message = f"`{entry.key.text}` was not imported"
            draft.add("Q610", message, "set points and times in the schedule instead", lines, severity="note")
    return " ".join(author.split())


def _question(
    draft: ImportDraft, entry: _Entry, seen: dict[str, int], author: str, marked: tuple[list[str], list[bool]] | None
) -> None:
    """Adds a question. `marked`: its options, and which are right, where marks in most lists say so."""
    lines = (entry.key.line, entry.last)
    if not draft.accepts(*lines, sum(len(word.text) for word in (entry.key, *entry.values))):
        return
    if entry.nested:
        draft.add_skipped("the answers are not a list of words", "write each as `- answer`", lines)
        return
    first = seen.setdefault(entry.key.text, entry.key.line)
    if first != entry.key.line:
        note = f"the first is on line {first}; YAML loaders keep only the last, here both are kept"
        draft.add("Q605", "duplicate question", "merge their answers", lines, note=note)
    for word in entry.values:
        if word.bare and _WORDS.fullmatch(word.text):
            cure = f'write it in quotes: "{word.text}"'
            message = f"YAML loaders do not read `{word.text}` as text"
            draft.add("Q611", message, cure, (word.line, word.line), severity="note", note="it was read as text")
    item = Item(*lines, from_plain(entry.key.text), section=(draft.stem,), topic="")
    item.tag([f"author: {author}"] if author else [])
    if marked:
        add_choice(draft, item, [OptionDraft(from_plain(text), right) for text, right in zip(*marked, strict=True)])
        return
    add_short(draft, item, [from_plain(word.text) for word in entry.values])


# Open Trivia Database JSON in all encodings of its API: HTML entities, URL, base64

OPENTDB = "opentdb"

_KEY = re.compile(r'"(?:incorrect_answers|response_code)"\s*:')
_BASE64_TYPES = ("bXVsdGlwbGU=", "Ym9vbGVhbg==")
_FIELDS = frozenset({"category", "type", "difficulty", "question", "correct_answer", "incorrect_answers"})


def sniff_opentdb(source: Source) -> bool:
    """Returns whether the text is JSON with lists of incorrect answers."""
    text = "\n".join(source.lines).lstrip()
    return text[:1] in ("{", "[") and bool(_KEY.search(text))


def read_opentdb(source: Source) -> ImportDraft:
    """Reads all questions of an API response, or of a list of its results."""
    draft = ImportDraft(source, OPENTDB)
    draft.title = draft.stem
    # License of the API's data; responses do not state it.
    draft.license = "CC-BY-SA-4.0" if sniff_opentdb(source) else ""
    try:
        found = outline("\n".join(source.lines), "results")
    except ValueError as error:
        problem = str(error).partition(": line ")[0]
        return draft.unreadable(f"invalid JSON: {problem}", "save the complete response again", line_of(error))
    code = found.values.get("response_code", 0)
    if code != 0:
        draft.unreadable(f"the API returned code {str(code)[:20]} instead of questions", "repeat the request")
    elif found.elements is None:
        draft.unreadable("this JSON has no list `results`", "save an OpenTDB response, or a bank exported as JSON")
    decode = _decoder(found.elements or [])
    for element in found.elements or ():
        _opentdb_question(draft, element, decode)
    return draft


def _strings(value: Any) -> list[str]:
    """Returns the texts of an entry and of its lists."""
    inner = value.values() if isinstance(value, dict) else ()
    parts = [part for one in inner for part in (one if isinstance(one, list) else [one])]
    return [part for part in parts if isinstance(part, str)]


def _decoder(elements: list[JsonElement]) -> Callable[[str], str]:
    """Returns the decoder for the encoding that all texts of a response share."""
    texts = [text for element in elements for text in _strings(element.value)]
    if any(text in _BASE64_TYPES for text in texts):
        return _unbase64
    if any(" " in text for text in texts) or not any(re.search(r"%[0-9A-Fa-f]{2}", text) for text in texts):
        return html.unescape
    return unquote if any("%20" in text for text in texts) else unquote_plus


def _unbase64(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return text


def _opentdb_question(draft: ImportDraft, element: JsonElement, decode: Callable[[str], str]) -> None:
    lines = (element.first, element.last)
    data = element.value
    if not draft.accepts(*lines, sum(map(len, _strings(data)))):
        return
    if not isinstance(data, dict) or not isinstance(data.get("question"), str):
        draft.add_skipped("this entry is not a question", 'add a text under "question"', lines)
        return
    texts = {key: " ".join(decode(value).split()) for key, value in data.items() if isinstance(value, str)}
    item = Item(*lines, from_plain(texts["question"]))
    category = texts.get("category", "")
    item.section, item.topic = ((category,) if category else ()), topic_of(category)
    item.tag([texts.get("difficulty", "")])
    unknown = sorted(str(key)[:40] for key in data.keys() - _FIELDS)
    if unknown:
        draft.add("Q610", f"not imported: {', '.join(unknown)}", "remove it", lines, severity="note")
    add_choice(draft, item, _offers(data, texts, decode))


def _offers(data: dict[str, Any], texts: dict[str, str], decode: Callable[[str], str]) -> list[OptionDraft]:
    """Returns the options in a neutral order: True before False, all others alphabetically."""
    wrong = data.get("incorrect_answers")
    words = [decode(one) for one in wrong if isinstance(one, str)] if isinstance(wrong, list) else []
    offers = [OptionDraft(from_plain(" ".join(word.split())), right=False) for word in words]
    if "correct_answer" in texts:
        offers.append(OptionDraft(from_plain(texts["correct_answer"]), right=True))
    if {offer.text for offer in offers} == {"True", "False"}:
        return sorted(offers, key=lambda offer: offer.text, reverse=True)
    return sorted(offers, key=lambda offer: (offer.text.casefold(), offer.text))


# OpenTriviaQA: `#Q question`, `^ right answer`, then lettered options

OPENTRIVIA = "opentriviaqa"

_ASKED = re.compile(r"#Q[ ]+(?P<text>.*)")
_OFFERED = re.compile(r"(?P<letter>[A-J])[ ]+(?P<text>.*)")


def sniff_opentrivia(source: Source) -> bool:
    """Returns whether the text begins with `#Q` and an answer after `^`."""
    filled = [line for line in source.lines[:50] if line.strip()][:2]
    return len(filled) == 2 and filled[0].startswith("#Q ") and any(line.startswith("^ ") for line in source.lines[:50])


def read_opentrivia(source: Source) -> ImportDraft:
    """Reads all questions of a category."""
    draft = ImportDraft(source, OPENTRIVIA)
    draft.title = draft.stem
    starts = [number for number, line in enumerate(source.lines, 1) if _ASKED.match(line)]
    for start, following in zip(starts, [*starts[1:], len(source.lines) + 1], strict=True):
        prompt: list[str] = []
        right, options = "", list[str]()
        for number in range(start, following):
            line = source.line(number).removeprefix("#Q ")
            if line.startswith("^ "):
                right = line[2:].strip()
            elif right and (found := _OFFERED.fullmatch(line)):
                options.append(found["text"].strip())
            elif not right:
                prompt.append(line)
        if draft.accepts(start, following - 1, sum(map(len, (*prompt, *options)))):
            item = Item(start, following - 1, from_plain("\n".join(prompt).strip()))
            add_choice(draft, item, [OptionDraft(from_plain(text), text == right) for text in options])
    return draft
