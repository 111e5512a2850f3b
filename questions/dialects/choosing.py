"""Options and their key in the text of a question: by boxes, by letters, by a mark. Invents no option."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from questions.blocks import plain
from questions.dialects.optioning import Found, Run, bullets_in, may_hold_options, options_in
from questions.labels import answer_in_heading, label_of
from questions.model import Option
from questions.source import trim

if TYPE_CHECKING:
    from collections.abc import Sequence

_KEY = re.compile(
    r"[*_`(\[\"]{0,4}"
    r"(?:(?:the[ ])?(?:correct|right)[ ](?:answer|option|choice)s?[ ]?(?:is|are)?[ ]?:?[ ]*|option[ ]|choice[ ])?"
    r"[*_`(\[]{0,4}(?P<letters>[A-J](?:[*_`)\]]{0,3}[ ]?(?:,|&|/|\+|and)[ ]?[*_`(\[]{0,3}[A-J]\b)*)(?![\w'’])"
    r"(?P<end>[*_`)\].:,;]{0,6})(?P<rest>.*)",
    re.IGNORECASE,
)
_LETTER = re.compile(r"\b[A-J]\b", re.IGNORECASE)
_LABEL_WORD = re.compile(r"\b(?:and)\b", re.IGNORECASE)
_PART = re.compile(r"(?:^|\s)\(?[b-j]\)\s", re.IGNORECASE | re.MULTILINE)
_TAGS = re.compile(r"\s*(?:</?[a-z][^<>]{0,200}>\s*)+", re.IGNORECASE)


class Problem(NamedTuple):
    """Why a key cannot be used, or what was assumed of it."""

    code: str
    message: str
    at: str
    """Words of the line it is about."""
    cure: str
    assumed: bool = False


class Choice(NamedTuple):
    """A question with options, taken apart."""

    prompt: str
    options: tuple[Option, ...]
    why: str
    problems: tuple[Problem, ...]


class _Key(NamedTuple):
    ids: frozenset[str]
    rest: str
    at: str


def find_choice(prompt: str, answer: str, *, labelled: bool) -> Choice | None:
    """The options of a question and which are right; None where it offers none, or where no key shows that it does.

    Without a label the answer is all that stands below the question, options included.
    """
    lines = prompt.split("\n")
    run = options_in(lines) if may_hold_options(prompt) else None
    if run is not None:
        before, between = "\n".join(lines[: run.start]), trim("\n".join(lines[run.end :]))
        key = _key_of(answer, run.options) if labelled else _key_below(answer.split("\n"), run.options)
        return _joined(trim(f"{before}\n{run.lead}"), between, run, key, answer if key is None else "")
    if labelled:
        return _of_bullets(lines, answer)
    lines = answer.split("\n")
    run = options_in(lines) if may_hold_options(answer) else None
    if run is None:
        return None
    before = "\n".join((*lines[: run.start], run.lead)).strip()
    below = lines[run.end :]
    key = _key_below(below, run.options)
    return _joined(f"{prompt}\n\n{before}".strip(), "", run, key, "" if key else trim("\n".join(below)))


def _of_bullets(lines: list[str], answer: str) -> Choice | None:
    """Plain bullets are options only where the answer repeats one of them word for word."""
    run = bullets_in(lines) if answer else None
    key = _by_text(answer, run.options) if run else None
    if run is None or key is None or trim("\n".join(lines[run.end :])):
        return None
    return _joined(trim("\n".join(lines[: run.start])), "", run, key, "")


def _joined(prompt: str, between: str, run: Run, key: _Key | None, unread: str) -> Choice | None:
    marked = frozenset(option.id for option in run.options if option.marked)
    if key is None and not marked and (run.kind != "box" or between or unread):
        return None
    right, problems = _judged(run, key, marked)
    why = "\n\n".join(part for part in (between, key.rest if key else unread) if part)
    options = tuple(Option(option.id, option.text, option.id in right) for option in run.options)
    return Choice(prompt, options, why, problems)


def _judged(run: Run, key: _Key | None, marked: frozenset[str]) -> tuple[frozenset[str], tuple[Problem, ...]]:
    """The right options, none where the key cannot be trusted, and why."""
    none: frozenset[str] = frozenset()
    ids = [option.id for option in run.options]
    if len(set(ids)) != len(ids):
        return none, (Problem("Q108", "two options have the same letter", "", "letter them a, b, c and so on"),)
    if key and (unknown := sorted(key.ids - set(ids))):
        message = f"the key names option {unknown[0]}, and there is none"
        return none, (Problem("Q105", message, key.at, "name one of the options, or add the one that is missing"),)
    if key and marked and marked != key.ids:
        message = f"the key says {_listed(key.ids)}, the mark says {_listed(marked)}"
        return none, (Problem("Q106", message, key.at, "decide which is right and correct the other"),)
    if not key and run.by_bold:
        message = "the option in bold was taken for the right one"
        return marked, (Problem("Q107", message, run.by_bold, "say so below: `Answer: b`", assumed=True),)
    return (key.ids if key else marked), ()


def _listed(ids: frozenset[str]) -> str:
    return " and ".join(sorted(ids))


def _key_of(answer: str, options: Sequence[Found]) -> _Key | None:
    """The key an answer begins with: a letter or some, or the words of an option."""
    text = _TAGS.sub("", answer, count=1) if answer.startswith("<") else answer
    first, _, below = text.partition("\n")
    found = _KEY.match(first)
    if found is None or not (found["end"] or not found["rest"].strip() or found["rest"].lstrip()[0] in "-–—"):
        return _by_text(answer, options)
    letters = frozenset(letter.lower() for letter in _LETTER.findall(_LABEL_WORD.sub(" ", found["letters"])))
    rest = found["rest"].lstrip(" -–—*_`").strip()
    if len(letters) == 1 and _PART.search(text[found.start("end") :]):
        return None
    right = [option.text for option in options if option.id in letters]
    if right and _same(rest.strip("*_ "), right[0]):
        rest = ""
    return _Key(letters, trim(f"{rest}\n{below}"), first.strip())


def _by_text(answer: str, options: Sequence[Found]) -> _Key | None:
    first, _, below = answer.partition("\n")
    same = [option.id for option in options if _same(first, option.text)]
    return _Key(frozenset(same), trim(below), first.strip()) if len(same) == 1 else None


def _same(one: str, two: str) -> bool:
    return _words(one) == _words(two) != ""


def _words(text: str) -> str:
    return plain(text).casefold().strip(" .`*_")


def _key_below(lines: list[str], options: Sequence[Found]) -> _Key | None:
    """The key behind the first answer label or answer heading in some lines."""
    fence = ""
    for index, line in enumerate(lines):
        mark = line.lstrip(" >")[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
        label = None if fence else label_of(line)
        rest: str | None = None
        if label and label.role == "answer":
            rest = line[label.end :].rstrip().removesuffix(label.closing)
        elif not fence and line.lstrip().startswith("#"):
            rest = answer_in_heading(line.strip(" #"))
        if rest is not None:
            key = _key_of(trim("\n".join((rest, *lines[index + 1 :]))), options)
            above = trim("\n".join(lines[:index]))
            return key and key._replace(rest="\n\n".join(part for part in (above, key.rest) if part))
    return None
