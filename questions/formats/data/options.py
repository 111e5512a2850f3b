"""Reads the options of a question in data: their texts, letters, marks and feedback."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from questions.formats.data.field_names import FLAGS, OPTION_TEXT, WRONG_FLAGS, option_name, spelled
from questions.formats.data.shapes import truth_of
from questions.formats.markdown import code_span, from_tagged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def options_of(value: Any) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Returns the options that a field holds, and their letters; empty if they have none."""
    if isinstance(value, dict) and len(value) > 1 and all(isinstance(one, bool) for one in value.values()):
        return tuple({"text": str(text), "correct": right} for text, right in value.items()), ()
    if isinstance(value, dict) and _are_scored(value):
        return tuple({"text": str(text), "correct": str(right) == "1"} for text, right in value.items()), ()
    if pairs := _with_letters(value) or _lettered_fields(value):
        value = pairs
    if flagged := _paired_with_flags(list(value.values()) if isinstance(value, dict) else value):
        return flagged, ()
    if isinstance(value, dict) and (rows := _rows_of(value)):
        return _with_texts(rows)
    if isinstance(value, dict):
        letters = tuple(str(key).strip().lower() for key in value)
        return tuple(value.values()), letters if all(len(letter) == 1 for letter in letters) else ()
    if isinstance(value, list) and len(value) > 1:
        return _with_texts(_named_by_texts(value) or _with_marks([*map(_unfolded, value)], value))
    return (), ()


def _are_scored(value: dict[Any, Any]) -> bool:
    """Returns whether a mapping has texts of options with 1 for each right one and 0 for the others. Behind letters and
    numbers, 0 and 1 are the texts."""
    scores = {str(one) for one in value.values() if isinstance(one, str | int) and not isinstance(one, bool)}
    names = [spelled(name) for name in value]
    return scores == {"0", "1"} and all(len(name) > 1 and not option_name(name) for name in names)


def _with_letters(value: Any) -> dict[str, str]:
    """Returns pairs of a letter and a text, `[["A", "one"], ["B", "two"]]`, as a mapping; empty for other values."""
    if not isinstance(value, list) or len(value) < _FEWEST or len(value) > len(_ALPHABET):
        return {}
    if not all(isinstance(one, list) and len(one) == 2 and all(isinstance(x, str) for x in one) for one in value):
        return {}
    named = {one[0].strip(" .)"): one[1] for one in value}
    return named if "".join(named).upper() == _ALPHABET[: len(value)] else {}


def _lettered_fields(value: Any) -> dict[str, Any]:
    """Returns the fields of a mapping whose names are letters from A on, where others only say something of these:
    `{kind: 1, A: "a view", B: "a copy"}`; empty for other values."""
    if not isinstance(value, dict):
        return {}
    named = {str(name): one for name, one in value.items() if len(str(name)) == 1 and str(name).isalpha()}
    lettered = "".join(named).upper() == _ALPHABET[: len(named)] and _FEWEST <= len(named) < len(value)
    return named if lettered and all(isinstance(one, str | int | float) for one in named.values()) else {}


_ALPHABET = "ABCDEFGHIJ"
_LETTER = re.compile(r"(?<![^\s,;(])\(?(?P<letter>[A-Ha-h])[ ]?[).:][ ]?(?=\S)")


def lettered_options(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the options in a text, and their letters: `a ) 38 , b ) 30`. Empty for a text without several."""
    found: list[re.Match[str]] = []
    for one in _LETTER.finditer(text):
        if one["letter"].lower() == "abcdefgh"[len(found) : len(found) + 1]:
            found.append(one)
    if len(found) < _FEWEST or text[: found[0].start()].strip():
        return (), ()
    ends = [*(one.start() for one in found[1:]), len(text)]
    texts = tuple(text[one.end() : end].strip(" \n\t,;") for one, end in zip(found, ends, strict=True))
    return (texts, tuple("abcdefgh"[: len(found)])) if all(texts) else ((), ())


_FEWEST = 2
"""Fewest options."""


def written_as_json(value: Any) -> Any:
    """Returns the list or mapping of a text in JSON, as columns of databases hold options; any other value as it is."""
    if not isinstance(value, str) or value.strip()[:1] + value.strip()[-1:] not in ("[]", "{}"):
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    items = list(found.values()) if isinstance(found, dict) else found
    return found if items and all(isinstance(one, str | int | float | dict) for one in items) else value


def accepted_answers(value: Any) -> list[str] | None:
    """Returns the different texts of answers that were found in a text, `{text: …, answer_start: 12}` or
    `{text: […], answer_start: […]}`: all of them are right, and there may be none. None for other values."""
    if isinstance(value, dict) and "answer_start" in value:
        texts = value.get("text")
        value = [{"text": one, "answer_start": 0} for one in (texts if isinstance(texts, list) else [texts])]
    elif not isinstance(value, list) or not value:
        return None
    if not all(isinstance(one, dict) and "answer_start" in one for one in value):
        return None
    return list(dict.fromkeys(text for one in value if (text := option_text(one))))


def _paired_with_flags(options: Any) -> tuple[Any, ...]:
    """Returns options that are pairs of a text and whether it is right, `["a view", 0]`; empty for others."""
    if not isinstance(options, list) or not all(isinstance(one, list) and len(one) == 2 for one in options):
        return ()
    if not all(isinstance(text, str) and right in (0, 1) for text, right in options):
        return ()
    found = tuple({"text": text, "correct": bool(right)} for text, right in options)
    return found if {one["correct"] for one in found} == {True, False} else ()


def _rows_of(value: dict[Any, Any]) -> list[dict[Any, Any]]:
    """Returns options whose texts, letters and marks are in lists side by side: `{text: […], label: […]}`."""
    lists = list(value.values())
    if not all(isinstance(one, list) for one in lists) or len({len(one) for one in lists}) != 1 or len(lists[0]) < 2:
        return []
    if not {spelled(name) for name in value} & set(OPTION_TEXT):
        return []
    return [dict(zip(value, row, strict=True)) for row in zip(*lists, strict=True)]


def _named_by_texts(options: list[Any]) -> list[Any]:
    """Returns options that are mappings of a text and whether it is right: `- a view: false`; empty for others."""
    pairs = [next(iter(one.items())) for one in options if isinstance(one, dict) and len(one) == 1]
    truths = [truth_of(right) for _, right in pairs]
    if len(pairs) < len(options) or set(truths) != {True, False} or len({str(text) for text, _ in pairs}) < len(pairs):
        return []
    return [{"text": str(text), "correct": right} for (text, _), right in zip(pairs, truths, strict=True)]


_SAYS_ELSE = re.compile(r"select|chosen|visible|hidden|shown|default|disabled|checked|active|expanded|highlight")
"""Words in the name of a truth value that says something else of an option than whether it is right."""


def _with_marks(options: list[Any], given: list[Any]) -> list[Any]:
    """Returns the options, with the only truth value that all have, and that differs among them, as their mark. Beside
    a field for the text, a word such as `correct` or `false` is a truth value; alone, `correct` says it of one option.

    `given`: the options as they are in the data.
    """
    if any(mark_of(one) is not None for one in given):
        return options
    fields = [one if isinstance(one, dict) else {} for one in given]
    names = [name for name in dict.fromkeys(key for one in fields for key in one) if _tells_apart(name, fields)]
    if len(names) != 1 or _SAYS_ELSE.search(spelled(names[0])):
        return options
    return [
        {**one, "correct": bool(truth_of(one.get(names[0])))}
        if isinstance(one, dict)
        else {"text": one, "correct": False}
        for one in options
    ]


def _tells_apart(name: Any, options: list[dict[Any, Any]]) -> bool:
    """Returns whether a field is a mark: true of some options, and false of the others, or missing there."""
    values = [one.get(name) for one in options]
    if spelled(name) == "text":
        # `True` and `False` are the options then.
        return False
    if any(isinstance(value, str) for value in values) and not all("text" in one for one in options if name in one):
        return False
    if None in values:
        given = [str(value).strip().casefold() for value in values if value is not None]
        return all(value in _RIGHT_WORDS for value in given)
    return {truth_of(value) for value in values} == {True, False}


_RIGHT_WORDS = ("correct", "right")
"""Words that say of the options that have them that they are right, where the others have none."""


def _unfolded(option: Any) -> Any:
    """Returns an option such as `correct: a view` with the mark and the text in fields of their own."""
    if isinstance(option, dict) and len(option) == 1:
        ((key, text),) = option.items()
        name = spelled(key)
        marks = name in WRONG_FLAGS or (name in FLAGS and name not in OPTION_TEXT)
        if marks and isinstance(text, str | int | float) and not isinstance(text, bool):
            return {"text": text, "correct": name not in WRONG_FLAGS}
    return option


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
    if lettered is None:
        # Without letters, a short name of each by which a key can refer to it is its label.
        lettered = next((key for key, values in fields.items() if _are_ids(spelled(key), values)), None)
    letters = tuple(value.lower() for value in fields[lettered]) if lettered is not None else ()
    unread = [option for option in options if not option_text(option)]
    unlike = [key for key, values in fields.items() if key != lettered and len(set(values)) == len(values)]
    named = [key for key in unlike if spelled(key) not in (*_FEEDBACK, "type", "kind")]
    if unread and len(named) == 1:
        return tuple({**option, "text": option[named[0]]} for option in options), letters
    return tuple(options), letters


_FEEDBACK = ("feedback", "reason", "explanation", "rationale")
"""Names of fields with what is said of an option, which is never its text."""
_IDS = ("id", "key", "letter", "label", "value", "code", "option id", "uuid")
"""Names of fields by which a key refers to an option."""
_LONGEST_ID = 40


def _are_ids(name: str, values: list[str]) -> bool:
    """Returns whether a field holds an id of each option."""
    return name in _IDS and len(set(values)) == len(values) and all(0 < len(one) <= _LONGEST_ID for one in values)


def _is_letter(value: str) -> bool:
    return len(value) == 1 and value.isalpha() and value.isascii()


def flags_of(options: Iterable[Any]) -> list[bool | None]:
    """Returns which options are marked as right, None for those without a mark. Of points, the most count: an option
    with less is right in part only, and a wrong one may cost points."""
    marks = [mark_of(option) for option in options]
    most = max((mark for mark in marks if mark is not None and not isinstance(mark, bool)), default=0.0)
    enough = max(most * _ALIKE, 1e-9)
    return [mark if mark is None or isinstance(mark, bool) else mark >= enough for mark in marks]


_ALIKE = 0.97
"""Share of the most points that counts as the same: 33.3 and 33.4."""


def mark_of(option: Any) -> bool | float | None:
    """Returns whether an option is marked as right, or its points; None if it has no mark."""
    if not isinstance(option, dict):
        return None
    named = {spelled(key): value for key, value in option.items()}
    if "left" in named and "right" in named:
        # Both sides of a pair.
        return None
    marks = {name: mark for name, value in named.items() if name in FLAGS for mark in _mark(name, value)}
    text = _text_key(option)
    if not marks and any(name in _REPEATING and name != text and named[name] == named.get(text) for name in named):
        # The right option has its text in a field called `correct`, too.
        return True
    # `answer: 4` beside `is_correct: false` is the option itself.
    if text in marks and (len(marks) > 1 or not any(isinstance(value, bool) for value in option.values())):
        del marks[text]
    return next(iter(marks.values()), None)


_REPEATING = ("correct", "is correct", "right", "correcta", "richtig")
"""Names of marks that may repeat the text of an option that is right."""
_POINTS = re.compile(r"-?\d{1,4}(?:\.\d+)?")


def _mark(name: str, value: Any) -> Iterator[bool | float]:
    """Yields what a mark says, if it is one."""
    if isinstance(value, bool):
        yield value
    elif isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, str) and value.strip().casefold() == name:
        yield True
    elif (truth := truth_of(value)) is not None:
        yield truth
    elif isinstance(value, str) and _POINTS.fullmatch(value.strip()):
        yield float(value)


def are_plain(value: Any) -> bool:
    """Returns whether a value is a list of several texts or numbers."""
    return isinstance(value, list) and len(value) > 1 and all(isinstance(one, str | int | float) for one in value)


def option_text(option: Any) -> str:
    """Returns an option's text; empty if it has none."""
    if not isinstance(option, dict):
        return _with_tags(option)
    named = {spelled(key): value for key, value in option.items()}
    return _with_tags(named[key]) if (key := _text_key(option)) else ""


def _with_tags(value: Any) -> str:
    """Returns the text of an option; one of nothing but tags, such as `<main>`, is about them and stays as it is."""
    shown = shown_text(value)
    return code_span(value.strip()) if not shown and isinstance(value, str) and value.strip() else shown


def _text_key(option: dict[str, Any]) -> str:
    """Returns the name of the field that holds an option's text."""
    named = {spelled(key): value for key, value in option.items()}
    texts = [key for key in OPTION_TEXT if isinstance(named.get(key), str | int | float)]
    # Beside a text, a truth value says whether it is right: `{option: "a view", answer: true}`.
    return next((key for key in texts if not isinstance(named[key], bool)), next(iter(texts), ""))


_SIDES = (("left", "right"), ("term", "definition"), ("prompt", "answer"), ("key", "value"))


def pairs_of(unknown: dict[str, Any]) -> list[tuple[str, str]]:
    """Returns the pairs that a field with an unknown name holds, such as `pairs: [{left: …, right: …}]`; empty if none
    or several do."""
    found = []
    for value in unknown.values():
        if not isinstance(value, list) or len(value) < 2 or not all(isinstance(one, dict) for one in value):
            continue
        for left, right in _SIDES:
            if all(isinstance(one.get(left), str) and isinstance(one.get(right), str) for one in value):
                found.append([(shown_text(one[left]), shown_text(one[right])) for one in value])
    return found[0] if len(found) == 1 else []


def sides_of(options: Iterable[Any]) -> list[tuple[str, str]]:
    """Returns options that are pairs, `{left: …, right: …}`; empty for others."""
    sides = [(one.get("left"), one.get("right")) if isinstance(one, dict) else (None, None) for one in options]
    texts = [(left, right) for left, right in sides if isinstance(left, str) and isinstance(right, str)]
    return [(shown_text(left), shown_text(right)) for left, right in texts] if len(texts) == len(sides) > 1 else []


def feedback_of(option: Any) -> str:
    """Returns what is said of an option; empty if nothing is."""
    if not isinstance(option, dict):
        return ""
    named = {spelled(key): value for key, value in option.items()}
    return next((shown_text(named[key]) for key in _FEEDBACK if named.get(key)), "")


def shown_text(value: Any) -> str:
    """Returns a value as Markdown; empty for lists and mappings."""
    text = "" if value is None or isinstance(value, dict | list) else str(value).strip()
    return from_tagged(text)
