"""Reads the options of a question in data: their texts, letters, marks and feedback."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from questions.formats.field_names import FLAGS, OPTION_TEXT, WRONG_FLAGS, spelled
from questions.formats.markdown import from_tagged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def options_of(value: Any) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """Returns the options that a field holds, and their letters; empty if they have none."""
    if isinstance(value, dict) and len(value) > 1 and all(isinstance(one, bool) for one in value.values()):
        return tuple({"text": str(text), "correct": right} for text, right in value.items()), ()
    if isinstance(value, dict):
        letters = tuple(str(key).strip().lower() for key in value)
        return tuple(value.values()), letters if all(len(letter) == 1 for letter in letters) else ()
    if isinstance(value, list) and len(value) > 1:
        return _with_texts([_unfolded(one) for one in value])
    return (), ()


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
    letters = tuple(value.lower() for value in fields[lettered]) if lettered is not None else ()
    unread = [option for option in options if not option_text(option)]
    named = [key for key, values in fields.items() if key != lettered and len(set(values)) == len(values)]
    if unread and len(named) == 1:
        return tuple({**option, "text": option[named[0]]} for option in options), letters
    return tuple(options), letters


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
    marks = {name: mark for name, value in named.items() if name in FLAGS for mark in _mark(name, value)}
    text = _text_key(option)
    # `answer: 4` beside `is_correct: false` is the option itself.
    if text in marks and (len(marks) > 1 or not any(isinstance(value, bool) for value in option.values())):
        del marks[text]
    return next(iter(marks.values()), None)


_POINTS = re.compile(r"-?\d{1,4}(?:\.\d+)?")


def _mark(name: str, value: Any) -> Iterator[bool | float]:
    """Yields what a mark says, if it is one."""
    if isinstance(value, bool):
        yield value
    elif isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, str) and value.strip().casefold() in ("true", "false", "yes", "no", name):
        yield value.strip().casefold() in ("true", "yes", name)
    elif isinstance(value, str) and _POINTS.fullmatch(value.strip()):
        yield float(value)


def option_text(option: Any) -> str:
    """Returns an option's text; empty if it has none."""
    if not isinstance(option, dict):
        return shown_text(option)
    named = {spelled(key): value for key, value in option.items()}
    return shown_text(named[key]) if (key := _text_key(option)) else ""


def _text_key(option: dict[str, Any]) -> str:
    """Returns the name of the field that holds an option's text."""
    named = {spelled(key): value for key, value in option.items()}
    return next((key for key in OPTION_TEXT if isinstance(named.get(key), str | int | float)), "")


def feedback_of(option: Any) -> str:
    """Returns what is said of an option; empty if nothing is."""
    if not isinstance(option, dict):
        return ""
    named = {spelled(key): value for key, value in option.items()}
    return next(
        (shown_text(named[key]) for key in ("feedback", "reason", "explanation", "rationale") if named.get(key)), ""
    )


def shown_text(value: Any) -> str:
    """Returns a value as Markdown; empty for lists and mappings."""
    text = "" if value is None or isinstance(value, dict | list) else str(value).strip()
    return from_tagged(text)
