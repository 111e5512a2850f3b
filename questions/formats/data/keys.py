"""Decides which options the keys of records name: flags, marks, letters, ids, texts, or places counted from 0 or 1."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from questions.blocks import plain
from questions.formats.data.field_names import FIELD_NAMES, option_name, spelled
from questions.formats.data.options import flags_of, option_text
from questions.formats.data.shapes import right_by_mark
from questions.formats.data.unknown_fields import naming_field
from questions.formats.tables.keys import UNKNOWN_BASE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.formats.draft import ImportDraft, Item

LETTER = re.compile(r"[(\[]?(?P<letter>[A-Ha-h])[)\].:]?")
"""A key that is the letter of an option."""


@dataclass(frozen=True, slots=True)
class Record:
    """A question as data: values by role, with lettered options gathered."""

    values: dict[str, Any]
    options: tuple[Any, ...]
    letters: tuple[str, ...]
    """Letters of the options in the data; empty if they have none."""
    unknown: dict[str, Any]
    """Values of fields with other names."""
    asks: bool = True
    """Whether it is a question; others are named in a finding."""
    unsure: bool = False
    """Whether numbers in its key may be texts of options or places."""
    others: tuple[tuple[str, Any], ...] = ()
    """Names and values of more fields for the right answer than the one that counts."""

    @property
    def has_key(self) -> bool:
        """Whether it has options or an answer."""
        return bool(self.options) or any(role in self.values for role in ("correct", "wrong", "index"))


def with_named_key(draft: ImportDraft, records: list[Record]) -> list[Record]:
    """Returns the records; where none has a key, the field that names options in each has it."""
    marked = any(flag is not None for record in records for flag in flags_of(record.options))
    if marked or any({"correct", "index", "wrong"} & record.values.keys() for record in records):
        return records
    name = naming_field([([*map(option_text, record.options)], record.letters, record.unknown) for record in records])
    if not name:
        return _with_marked_options(records)
    message = f"the field `{name[:40]}` was read as the key: it names options of each question"
    cure = "if this is wrong, remove the field, or call the key `correct`"
    draft.add("Q613", message, cure, (1, 1), severity="note")
    return [
        replace(record, values={**record.values, "correct": record.unknown[name], "_correct": name})
        if name in record.unknown
        else record
        for record in records
    ]


def with_naming_keys(records: list[Record]) -> list[Record]:
    """Returns the records; where what is called the key names an option in none of them, such as `key: 2023-1`, and
    another field for answers does in each, with that as the key."""
    concerned = [record for record in records if record.options and isinstance(record.values.get("correct"), str)]
    if not concerned or any(_names_options(record.values["correct"], record) for record in concerned):
        return records
    others = [{**dict(record.others), **record.unknown} for record in concerned]
    fitting = [
        name
        for name in others[0]
        if name in _ANSWERING
        and all(name in one and _names_options(one[name], it) for one, it in zip(others, concerned, strict=True))
    ]
    if len(fitting) != 1:
        return records
    swapped = {
        id(record): replace(
            record,
            values={**record.values, "correct": one[fitting[0]], "_correct": fitting[0]},
            unknown={name: value for name, value in record.unknown.items() if name != fitting[0]},
            others=(),
        )
        for record, one in zip(concerned, others, strict=True)
    }
    return [swapped.get(id(record), record) for record in records]


_ANSWERING = frozenset((*FIELD_NAMES["correct"], *FIELD_NAMES["answer"]))
"""Names of fields that hold the right answer."""


def _names_options(key: Any, record: Record) -> bool:
    """Returns whether a value can name options of a record."""
    named = _named(key, record, [*map(option_text, record.options)], 0)
    return bool(named)


def with_accepted_answers(records: list[Record]) -> list[Record]:
    """Returns the records; where the only option of most of them is the answer, what is called options are spellings
    that are accepted: `answer: "8", options: ["8", "eight"]`."""
    alone = [
        one for one in records if not one.options and _only(one.values.get("options")) == one.values.get("correct")
    ]
    several = [record for record in records if len(record.options) > 1]
    first = all(option_text(record.options[0]) == record.values.get("correct") for record in several)
    if len(alone) < _FEWEST_ALONE or len(alone) <= len(several) or not first:
        return records
    ids = {id(record) for record in several}
    return [
        replace(
            record, values={**record.values, "correct": [*map(option_text, record.options)]}, options=(), letters=()
        )
        if id(record) in ids
        else record
        for record in records
    ]


_FEWEST_ALONE = 3


def _only(value: Any) -> Any:
    """Returns the only item of a list; an empty text for other values."""
    return value[0] if isinstance(value, list) and len(value) == 1 else ""


def with_worded_letters(records: list[Record]) -> list[Record]:
    """Returns the records; where no question of a large document has options and nearly all answers are words or
    numbers, a letter alone, such as the symbol `H`, is an answer too."""
    keys = [str(record.values["correct"]) for record in records if "correct" in record.values]
    letters = sum(LETTER.fullmatch(one.strip()) is not None for one in keys)
    if not letters or letters * _OF_ANSWERS > len(keys) or any(record.options for record in records):
        return records
    return [replace(record, values={**record.values, "_worded": True}) for record in records]


_OF_ANSWERS = 20
"""Of this many answers, one at most is a letter."""


def _with_marked_options(records: list[Record]) -> list[Record]:
    """Returns the records; where a star or a word marks the right options in nearly all of them, with these marks as
    the key."""
    offering = [record for record in records if record.options]
    marked = right_by_mark([[*map(option_text, record.options)] for record in offering])
    if marked is None:
        return records
    offers = {
        id(record): tuple(
            {**(option if isinstance(option, dict) else {}), "text": text, "correct": right}
            for option, text, right in zip(record.options, texts, flags, strict=True)
        )
        for record, (texts, flags) in zip(offering, marked, strict=True)
    }
    return [replace(record, options=offers.get(id(record), record.options)) for record in records]


_NUMBERS = re.compile(r"[0-9]{1,2}(?:[ ]*[,;/&|][ ]*[0-9]{1,2})+")


def with_split_keys(records: list[Record]) -> list[Record]:
    """Returns the records; numbers of several options in one text, such as `1,3`, are a list, unless they are also the
    text of an option or greater than the number of options in any record. Those that do not ascend may be an order."""
    written = [(record, record.values.get("correct")) for record in records if record.options]
    several = [(record, key) for record, key in written if isinstance(key, str) and _NUMBERS.fullmatch(key.strip())]
    several = [(record, key) for record, key in several if _ascend(re.findall("[0-9]+", key))]
    parts = {id(record): re.findall("[0-9]+", key) for record, key in several}
    if any(
        key.strip() in map(option_text, record.options) or max(map(int, parts[id(record)])) > len(record.options)
        for record, key in several
    ):
        return records
    return [
        replace(record, values={**record.values, "correct": parts[id(record)]}) if id(record) in parts else record
        for record in records
    ]


def _ascend(numbers: list[str]) -> bool:
    return all(int(above) < int(below) for above, below in pairwise(numbers))


def with_fitting_labels(records: list[Record]) -> list[Record]:
    """Returns the records; labels that are not letters, such as ids and the numbers of fields (`option1`, `option2`),
    are kept where the key of each question is one of them, and not also the text of another option: otherwise the keys
    may be places or texts."""
    labeled = [record for record in records if any(len(label) != 1 or label.isdecimal() for label in record.letters)]
    keys = [(record, one) for record in labeled for one in _keys_of(record)]
    if all(_is_label(str(one).strip().lower(), record) for record, one in keys):
        return records
    ids = {id(record) for record in labeled}
    return [replace(record, letters=()) if id(record) in ids else record for record in records]


def _is_label(key: str, record: Record) -> bool:
    texts = [option_text(option).strip().lower() for option in record.options]
    same = [label for label, text in zip(record.letters, texts, strict=False) if text == key]
    return key in record.letters and (not key.isdecimal() or same in ([], [key]))


def _keys_of(record: Record) -> list[Any]:
    key = record.values.get("index", record.values.get("correct"))
    return key if isinstance(key, list) else [] if key is None else [key]


def with_number_keys(records: list[Record]) -> list[Record]:
    """Returns the records; numbers that are also texts of options are texts in their keys where the other keys of the
    document are texts, and places where those are places. Otherwise the records are unsure."""
    both: list[tuple[Record, Any]] = []
    texts = places = False
    for record in records:
        options = [option_text(option).strip() for option in record.options]
        for one in _keys_of(record) if options and "index" not in record.values else []:
            key = str(one).strip()
            number = _number(one)
            if key.lower() in record.letters:
                continue
            if number is None:
                texts |= key in options and not LETTER.fullmatch(key)
            elif key in options:
                both.append((record, one))
                texts |= not 0 <= number <= len(options)
            else:
                places |= 0 <= number <= len(options)
    if not both or not (texts or places or any(isinstance(one, int) for _, one in both)):
        return records
    concerned = {id(record) for record, _ in both}
    if texts == places:
        return [replace(one, unsure=True) if id(one) in concerned else one for one in records]
    return [_with_numbers(one, texts=texts) if id(one) in concerned else one for one in records]


def _number(key: Any) -> int | None:
    """Returns a number in a key, including one in quotes; None for anything else."""
    if isinstance(key, str) and re.fullmatch("-?[0-9]{1,9}", key.strip()):
        return int(key)
    return key if isinstance(key, int) and not isinstance(key, bool) else None


def _with_numbers(record: Record, *, texts: bool) -> Record:
    """Returns a record with the numbers in its key as texts, or as numbers."""
    changed = [
        one if (number := _number(one)) is None else str(number) if texts else number for one in _keys_of(record)
    ]
    key = record.values["correct"]
    return replace(record, values={**record.values, "correct": changed if isinstance(key, list) else changed[0]})


def base_of(records: list[Record]) -> int | None:
    """Returns whether indices of options start at 0 or at 1; None if the document does not show it."""
    indices = [(index, len(record.options)) for record in records for index in _indices(record)]
    lowest, highest = (any(index == 0 for index, _ in indices), any(index == count for index, count in indices))
    if lowest or highest:
        return None if lowest and highest else int(highest)
    # A field named index is counted as programs count.
    return 0 if any("index" in record.values for record in records) else None


def _indices(record: Record) -> Iterator[int]:
    """Yields the numbers in the key of a record with options."""
    key = record.values.get("index", record.values.get("correct"))
    texts = {option_text(option) for option in record.options}
    for one in key if isinstance(key, list) else [key]:
        if isinstance(one, str) and one.strip().isdecimal() and one.strip() not in texts:
            one = int(one)
        if isinstance(one, int) and not isinstance(one, bool) and record.options:
            yield one


def right_texts(value: Any) -> list[str]:
    texts = [option_text(one) for one in (value if isinstance(value, list) else [value])]
    return texts if all(texts) else []


def right_of(draft: ImportDraft, item: Item, record: Record, texts: list[str], base: int | None) -> set[int]:
    """Returns the indices of the right options; an empty set, with a finding, if they cannot be established."""
    key = record.values.get("index", record.values.get("correct"))
    if key is None:
        return set()
    found = _named(key, record, texts, base)
    if found is None:
        parts = key if isinstance(key, list) else [key]
        unsure = base is None and any(str(one).strip() in map(str, range(len(texts) + 1)) for one in parts)
        message = UNKNOWN_BASE if unsure else "the right answer is not among the options"
        if record.unsure:
            message = "the number of the right answer is the text of one option and may be the place of another"
        cure = "write the letter or the text of the option"
        draft.add("Q606", message, cure, item.lines, note=f"`{str(key)[:60]}`")
    return found or set()


def _named(key: Any, record: Record, texts: list[str], base: int | None) -> set[int] | None:
    """Returns the options that a key names; None if a part of it names none for sure."""
    found: set[int] = set()
    for one in key if isinstance(key, list) else _split(key, texts):
        place = _place(one, record, texts, base)
        if record.unsure and (number := _number(one)) is not None and str(number) in texts:
            counted = None if base is None else number - base
            place = place if texts.index(str(number)) == counted else None
        if place is None:
            return None
        found.add(place)
    return found


def agreed(
    draft: ImportDraft, item: Item, record: Record, right: set[int], texts: list[str], base: int | None
) -> set[int]:
    """Returns the right options; an empty set, with a finding, if another field of the record names others."""
    fields = [(str(record.values.get(f"_{role}", role)), record.values.get(role)) for role in ("index", "correct")]
    for name, key in (*fields, *record.others):
        if not right or key is None or isinstance(key, bool) or _may_name(key, record, right, texts, base):
            continue
        note = f"`{name[:40]}` says `{str(key)[:60]}`, and another field or mark " + "`, `".join(
            texts[place][:40] for place in sorted(right)
        ).join("``")
        cure = "decide which is right, and correct or remove the other"
        draft.add("Q606", "two fields name different right options", cure, item.lines, note=note)
        return set()
    return right


def _may_name(key: Any, record: Record, right: set[int], texts: list[str], base: int | None) -> bool:
    """Returns whether a key can be understood as the right options, or names none."""
    shown = {_bare(option_text(one)) for one in (key if isinstance(key, list) else [key])}
    if shown == {_bare(texts[place]) for place in right}:
        return True
    named = [_named(key, record, texts, one) for one in ((base,) if base is not None else (0, 1))]
    return None in named or set() in named or right in named


def _bare(text: str) -> str:
    """Returns a text without marks and case; tags alone, such as `<main>`, are a text."""
    return plain(text).casefold().strip(" .") or text.casefold().strip()


_GLUED = re.compile(r"(?=[a-h]{2})a?b?c?d?e?f?g?h?")
"""Letters of several options in order, without marks between them."""


def _split(key: Any, texts: list[str]) -> list[Any]:
    if isinstance(key, str) and re.fullmatch(r"[A-H](?:[ ]*[,;/&]?[ ]*[A-H])+", key.strip()):
        return re.findall("[A-H]", key)
    letters = key.strip() if isinstance(key, str) else ""
    if _GLUED.fullmatch(letters) and letters[-1] in "abcdefgh"[: len(texts)] and letters not in texts:
        return [*letters]
    return [key]


def _place(key: Any, record: Record, texts: list[str], base: int | None) -> int | None:
    """Returns the option that a key names: a letter is a label, never a text; a number needs a known base."""
    if isinstance(key, bool):
        key = str(key)
    if isinstance(key, str | int) and (label := str(key).strip().lower()) in record.letters:
        return record.letters.index(label)
    if isinstance(key, int):
        place = key - base if base is not None else -1
        return place if 0 <= place < len(texts) else None
    if isinstance(key, dict):
        key = option_text(key)
    if not isinstance(key, str):
        return None
    letter = LETTER.fullmatch(key.strip())
    if letter:
        letters = record.letters or tuple("abcdefgh"[: len(texts)])
        low = letter["letter"].lower()
        if low in letters:
            return letters.index(low)
    same = [index for index, text in enumerate(texts) if _bare(text) == _bare(key)]
    if len(same) == 1:
        return same[0]
    if (named := option_name(spelled(key))) and named[0] == "option" and named[1] < len(texts) and not same:
        return named[1]
    if key.strip().isdigit():
        return _place(int(key), record, texts, base)
    return None
