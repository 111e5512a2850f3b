"""Reads lists of questions in data: JSON, JSON Lines, YAML and TOML, with fields in any order and usual spelling.

The key is a flag on an option, a letter, the text of an option, or an index. An index is counted from 0 or 1 only if
the document shows which; otherwise the questions stay unanswered.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from questions.blocks import plain
from questions.formats.data import MOST_VALUES, load_data
from questions.formats.draft import (
    ImportDraft,
    Item,
    OptionDraft,
    add_choice,
    add_open,
    add_short,
    add_unanswered,
    topic_of,
)
from questions.formats.field_names import ASKING, FIELD_NAMES, FLAGS, OPTION_TEXT, ROLE_OF
from questions.formats.markdown import from_tagged
from questions.labels import is_placeholder
from questions.patterns.stems import level_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Source

NAME = "records"

_DEEPEST = 6
"""Depth to which lists of questions are searched."""
_SHORT = 60
_LETTERED = re.compile(
    r"(?:option|choice|answer|opci[oó]n|antwort|alternativa|réponse)?[ ]?(?P<letter>[a-h]|[1-8])", re.IGNORECASE
)
_LETTER = re.compile(r"[(\[]?(?P<letter>[A-Ha-h])[)\].:]?")
_LETTER_BEFORE = re.compile(r"[(\[]?[A-Ha-h][)\].:][ ]+")


@dataclass(frozen=True, slots=True)
class Record:
    """A question as data: values by role, with lettered options gathered."""

    values: dict[str, Any]
    options: tuple[Any, ...]
    letters: tuple[str, ...]
    """Letters of the options in the data; empty if they have none."""

    @property
    def has_key(self) -> bool:
        """Whether it has options or an answer."""
        return bool(self.options) or any(role in self.values for role in ("correct", "wrong", "index"))


def sniff(source: Source) -> bool:
    """Returns whether the document is data with a list of questions."""
    return bool(_records(load_data(source)))


def read(source: Source) -> ImportDraft:
    """Reads all questions of the longest lists of records that ask."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    return read_data(draft, load_data(source))


def read_data(draft: ImportDraft, data: Any) -> ImportDraft:
    """Reads all questions of a document's data."""
    found = _records(data)
    if not found:
        return draft.unreadable(
            "this data has no list of questions", "give each question a field `question`, and `options` or `answer`"
        )
    base = _base(found)
    for record, (first, last) in zip(found, _places(draft.source, found), strict=True):
        _add(draft, record, first, last, base)
    return draft


# The records of a document


def _records(data: Any) -> list[Record]:
    lists = list(_lists(data, 0, [MOST_VALUES]))
    return [record for records in lists for record in records]


def _lists(value: Any, depth: int, left: list[int]) -> Iterator[list[Record]]:
    """Yields the lists of records that ask, wherever they are in the data."""
    left[0] -= 1
    if depth > _DEEPEST or left[0] < 0:
        return
    if isinstance(value, list):
        named = (one if isinstance(one, dict) else _by_place(one) for one in value)
        records = [record for one in named if one and (record := _record(one)) is not None]
        if records and len(records) * 2 >= len(value):
            yield records
        else:
            for one in value:
                yield from _lists(one, depth + 1, left)
    elif isinstance(value, dict):
        alone = _record(value) if depth == 0 else None
        if alone is not None and alone.has_key and alone.values["_question"] not in ("title", "text"):
            yield [alone]
            return
        if len(value) > 1 and all(isinstance(one, dict) for one in value.values()):
            # Questions by their numbers or ids.
            yield from _lists(list(value.values()), depth + 1, left)
            return
        for one in value.values():
            if isinstance(one, dict | list):
                yield from _lists(one, depth + 1, left)


def _by_place(value: Any) -> dict[str, Any]:
    """Returns a question that is a list (its text, the texts of its options, numbers of the right ones) as a mapping;
    an empty one for any other value."""
    match value:
        case [str(asked), [str(), str(), *_] as options, *rest] if all(isinstance(one, str) for one in options):
            numbers = rest[0] if rest and isinstance(rest[0], int | list) else []
            return {"question": asked, "options": options, "correct": numbers}
    return {}


def _record(data: dict[Any, Any]) -> Record | None:
    """Returns the record of a mapping; None if it asks nothing."""
    values: dict[str, Any] = {}
    lettered: dict[str, Any] = {}
    lists = {name: value for key, value in data.items() if (name := _name(key)) in FIELD_NAMES["options"]}
    for key, value in data.items():
        name = _name(key)
        role = _role(name, lists)
        if role:
            if _rank(role, name) < _rank(role, values.get(f"_{role}", "")):
                values[role], values[f"_{role}"] = value, name
        elif (found := _LETTERED.fullmatch(name)) and isinstance(value, str) and value.strip():
            lettered[_letter(found["letter"])] = value
    if isinstance(values.get("question"), dict):
        inner = values["question"]
        values["question"] = next((inner[key] for key in ("text", "prompt", "stem") if key in inner), "")
    asked = values.get("question")
    if not isinstance(asked, str) or not asked.strip():
        return None
    options, letters = _options_of(values.get("options"))
    if "correct" not in values and (right := values.pop("right", None)) is not None:
        values["correct"] = right
    if len(lettered) > 1 and not options:
        letters = tuple(sorted(lettered))
        options = tuple(lettered[letter] for letter in letters)
    record = Record(values, options, letters)
    # A list of questions alone is read as unanswered ones, but only from a field that is named so.
    return record if record.has_key or values["_question"] in ASKING else None


def _role(name: str, lists: dict[str, Any]) -> str:
    """Returns the role of a field; `answers` beside `options` or `alternatives` holds the right ones."""
    if len(lists) > 1 and name in ("answers", "alternatives"):
        offered = next((value for other, value in lists.items() if other != name), None)
        if name == "answers":
            return "right" if isinstance(offered, list | dict) else "options"
        if isinstance(lists.get("answers"), list) and len(lists) == 2 and not _overlap(offered, lists[name]):
            return "wrong"
    return ROLE_OF.get(name, "")


def role_of(name: str) -> str:
    """Returns the role that a field has by its name; empty if the name is unknown."""
    return "option" if _LETTERED.fullmatch(_name(name)) else ROLE_OF.get(_name(name), "")


def _overlap(one: Any, two: Any) -> bool:
    """Returns whether two lists share a text."""
    texts = [{_option_text(option) for option in value} if isinstance(value, list) else set() for value in (one, two)]
    return bool(texts[0] & texts[1])


def _name(key: Any) -> str:
    split = re.sub(r"(?<=[a-zà-ÿ])(?=[A-Z])", " ", str(key))
    return re.sub(r"[\s_-]+", " ", split).strip().casefold()


def _rank(role: str, name: str) -> int:
    words = FIELD_NAMES.get(role, ())
    return words.index(name) if name in words else len(words) + (not name)


def _letter(text: str) -> str:
    return "abcdefgh"[int(text) - 1] if text.isdigit() else text.lower()


def _options_of(value: Any) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    if isinstance(value, dict):
        letters = tuple(str(key).strip().lower() for key in value)
        return tuple(value.values()), letters if all(len(letter) == 1 for letter in letters) else ()
    if isinstance(value, list) and len(value) > 1:
        return _with_texts(value)
    return (), ()


def _with_texts(options: list[Any]) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Returns options and their letters. A field whose values are letters in all options has their letters; where no
    field has a known name, the only other field with a text of its own in each has their texts."""
    if not all(isinstance(option, dict) for option in options):
        return tuple(options), ()
    fields = {
        key: [str(option.get(key, "")).strip() for option in options]
        for key in options[0]
        if all(isinstance(option.get(key), str | int) and not isinstance(option[key], bool) for option in options)
    }
    lettered = next(
        (key for key, values in fields.items() if len(set(values)) == len(values) and all(map(_is_letter, values))),
        None,
    )
    letters = tuple(value.lower() for value in fields[lettered]) if lettered is not None else ()
    unread = [option for option in options if not _option_text(option)]
    named = [key for key, values in fields.items() if key != lettered and len(set(values)) == len(values)]
    if unread and len(named) == 1:
        return tuple({**option, "text": option[named[0]]} for option in options), letters
    return tuple(options), letters


def _is_letter(value: str) -> bool:
    return len(value) == 1 and value.isalpha() and value.isascii()


def _base(records: list[Record]) -> int | None:
    """Returns whether indices of options start at 0 or at 1; None if the document does not show it."""
    indices = [(index, len(record.options)) for record in records for index in _indices(record)]
    lowest, highest = (any(index == 0 for index, _ in indices), any(index == count for index, count in indices))
    if lowest or highest:
        return None if lowest and highest else int(highest)
    # A field named index is counted as programs count.
    return 0 if any("index" in record.values for record in records) else None


def _indices(record: Record) -> Iterator[int]:
    """Yields the numbers in the key of a record with options."""
    said = record.values.get("index", record.values.get("correct"))
    texts = {_option_text(option) for option in record.options}
    for one in said if isinstance(said, list) else [said]:
        if isinstance(one, str) and one.strip().isdecimal() and one.strip() not in texts:
            one = int(one)
        if isinstance(one, int) and not isinstance(one, bool) and record.options:
            yield one


def _places(source: Source, records: list[Record]) -> Iterator[tuple[int, int]]:
    """Yields the lines of each record: from the line with its question to the line before the next."""
    starts: list[int] = []
    at = 1
    for record in records:
        needle = json.dumps(record.values["question"].strip()[:40], ensure_ascii=False)[1:-1].split("\\n")[0].strip()
        needles = (needle, json.dumps(needle)[1:-1])
        at = next((n for n in range(at, len(source.lines) + 1) if any(one in source.line(n) for one in needles)), at)
        at = min(at, len(source.lines))
        starts.append(at)
        at += 1
    for start, following in zip(starts, [*starts[1:], len(source.lines) + 1], strict=True):
        yield start, max(following - 1, start)


# Questions


def _add(draft: ImportDraft, record: Record, first: int, last: int, base: int | None) -> None:
    values = record.values
    if not draft.accepts(first, last, len(str(values))):
        return
    item = Item(first, last, _text(values["question"]), why=_text(values.get("why")))
    item.topic = topic_of(_text(values.get("topic")))
    item.section = (plain(_text(values["topic"])),) if _text(values.get("topic")) else ()
    item.level = level_of(_text(values.get("level")))
    tags = values.get("tags")
    item.tag([str(tag) for tag in tags] if isinstance(tags, list) else re.split("[,;]", _text(tags)))
    flags = [_flag(option) for option in record.options]
    texts = [_option_text(option) for option in record.options]
    wrong = values.get("wrong")
    right_texts = _right_texts(values.get("correct"))
    if not texts and isinstance(wrong, list) and right_texts:
        texts = [*right_texts, *map(_option_text, wrong)]
        flags = [*(True for _ in right_texts), *(False for _ in wrong)]
    if len(texts) > 1:
        right = {index for index, flag in enumerate(flags) if flag}
        if not any(flag is not None for flag in flags):
            right = _right(draft, item, record, texts, base)
        if all(_LETTER_BEFORE.match(text) for text in texts):
            texts = [_LETTER_BEFORE.sub("", text, count=1) for text in texts]
        reasons = [_feedback(option) for option in record.options] or [""] * len(texts)
        offers = [
            OptionDraft(text, index in right, "" if index in right else reason)
            for index, (text, reason) in enumerate(zip(texts, reasons, strict=True))
        ]
        add_choice(draft, item, offers)
        return
    _add_worded(draft, item, values.get("correct", _single(values.get("options"))))


def _right_texts(value: Any) -> list[str]:
    texts = [_option_text(one) for one in (value if isinstance(value, list) else [value])]
    return texts if all(texts) else []


def _single(value: Any) -> Any:
    """Returns the accepted answers of a question whose options are all right."""
    return [_option_text(one) for one in value] if isinstance(value, list) else value


def _add_worded(draft: ImportDraft, item: Item, answer: Any) -> None:
    if isinstance(answer, bool):
        add_choice(draft, item, [OptionDraft("True", answer), OptionDraft("False", not answer)])
        return
    answers = [_text(one) for one in answer] if isinstance(answer, list) else [_text(answer)]
    answers = [one for one in answers if one and not is_placeholder(one)]
    if answers and all(map(_LETTER.fullmatch, answers)):
        # A letter names an option that was not found.
        note = f"`{', '.join(answers)[:60]}`"
        draft.add("Q606", "the right answer is not among the options", "add the options", item.lines, note=note)
        answers = []
    if not answers:
        add_unanswered(draft, item)
    elif len(answers[0]) > _SHORT or "\n" in answers[0]:
        add_open(draft, item, "\n\n".join(answers))
    else:
        add_short(draft, item, answers)


def _right(draft: ImportDraft, item: Item, record: Record, texts: list[str], base: int | None) -> set[int]:
    """Returns the indices of the right options; an empty set, with a finding, if they cannot be established."""
    said = record.values.get("index", record.values.get("correct"))
    if said is None:
        return set()
    found: set[int] = set()
    for one in said if isinstance(said, list) else _split(said, len(texts)):
        place = _place(one, record, texts, base)
        if place is None:
            note = f"`{str(said)[:60]}`"
            cure = "write the letter or the text of the option"
            unsure = base is None and str(one).strip() in map(str, range(len(texts) + 1))
            message = (
                "nothing shows whether the right option is counted from 0 or from 1"
                if unsure
                else "the right answer is not among the options"
            )
            draft.add("Q606", message, cure, item.lines, note=note)
            return set()
        found.add(place)
    return found


def _split(said: Any, count: int) -> list[Any]:
    if isinstance(said, str) and re.fullmatch(r"[A-H](?:[ ]*[,;/&]?[ ]*[A-H])+", said.strip()):
        return re.findall("[A-H]", said)
    return [said]


def _place(said: Any, record: Record, texts: list[str], base: int | None) -> int | None:
    """Returns the option that a key names: a letter is a label, never a text; a number needs a known base."""
    if isinstance(said, bool):
        said = str(said)
    if isinstance(said, int):
        place = said - base if base is not None else -1
        return place if 0 <= place < len(texts) else None
    if isinstance(said, dict):
        said = _option_text(said)
    if not isinstance(said, str):
        return None
    letter = _LETTER.fullmatch(said.strip())
    if letter:
        letters = record.letters or tuple("abcdefgh"[: len(texts)])
        low = letter["letter"].lower()
        if low in letters:
            return letters.index(low)
    shown = plain(said).casefold().strip(" .")
    same = [index for index, text in enumerate(texts) if plain(text).casefold().strip(" .") == shown]
    if len(same) == 1:
        return same[0]
    if said.strip().isdigit():
        return _place(int(said), record, texts, base)
    return None


def _flag(option: Any) -> bool | None:
    """Returns whether an option is marked as right; None if it has no mark."""
    if not isinstance(option, dict):
        return None
    marks = {_name(key): mark for key, value in option.items() if _name(key) in FLAGS for mark in _mark(value)}
    text = _text_key(option)
    # `answer: 4` beside `is_correct: false` is the option itself.
    if text in marks and (len(marks) > 1 or not any(isinstance(value, bool) for value in option.values())):
        del marks[text]
    return next(iter(marks.values()), None)


def _mark(value: Any) -> Iterator[bool]:
    """Yields what a mark says, if it is one."""
    if not isinstance(value, str):
        yield _is_positive(value)
    elif value.casefold() in ("true", "false", "yes", "no"):
        yield value.casefold() in ("true", "yes")


def _is_positive(value: Any) -> bool:
    """Returns whether a mark is set: `true`, or a weight above 0; a wrong option may cost points."""
    return isinstance(value, int | float) and value > 0


def _option_text(option: Any) -> str:
    if not isinstance(option, dict):
        return _text(option)
    named = {_name(key): value for key, value in option.items()}
    return _text(named[key]) if (key := _text_key(option)) else ""


def _text_key(option: dict[str, Any]) -> str:
    """Returns the name of the field that holds an option's text."""
    named = {_name(key): value for key, value in option.items()}
    return next((key for key in OPTION_TEXT if isinstance(named.get(key), str | int | float)), "")


def _feedback(option: Any) -> str:
    if not isinstance(option, dict):
        return ""
    named = {_name(key): value for key, value in option.items()}
    return next((_text(named[key]) for key in ("feedback", "reason", "explanation", "rationale") if named.get(key)), "")


def _text(value: Any) -> str:
    text = "" if value is None or isinstance(value, dict | list) else str(value).strip()
    return from_tagged(text)
