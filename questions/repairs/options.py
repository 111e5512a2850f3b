"""How options are written: gives options and what marks the right one the form that the reader knows."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from questions.fences import fence_after, fence_in
from questions.wording.stems import asks_to_choose, ends_asking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Source


# Marks right options that repeat their own letter: `- B: blue (B)` becomes `- blue (correct)`, and `b. blue  B` becomes
# `b. blue (correct)`.

_OPTION_WITH_LETTER = re.compile(
    r"(?P<lead>[ \t]{0,8}(?:[-*+][ ]{1,3})?)(?P<letter>[A-H])[.:)][ ]+(?P<text>[^\s(].{0,400}?)"
    r"(?:[ ]{0,3}\((?P<own>[A-H])\))?[ \t]*"
)
_OPTION_AND_LETTER = re.compile(
    r"(?P<lead>[ \t]{0,8})(?P<letter>[A-Ha-h])[.)][ ]+(?P<text>\S.{0,400}?)(?:[ \t]+(?P<own>[A-H]))?[ \t]*"
)
"""Without brackets; texts may end with a letter too, so that more such options are needed."""
_LONGEST_LINE = 500
"""Length of a line with an option, characters."""
_FEWEST_OWN = 3
"""Fewest questions with such a key."""
_FEWEST_BARE = 6
"""Fewest questions with such a key without brackets."""
_REGULAR_OWN = 0.9
"""Share of the lists of options in which exactly one must repeat its letter."""


@dataclass(slots=True)
class _Run:
    """Lettered options that follow each other, by the indices of their lines."""

    lines: list[int]
    options: list[re.Match[str]]

    @property
    def marked(self) -> list[int]:
        """Places of the options that repeat their own letter."""
        return [at for at, option in enumerate(self.options) if option["own"] == option["letter"].upper()]


def with_own_letters(source: Source) -> Source:
    """Returns the document with the usual mark on options that repeat their letter, if exactly one does in nearly each
    list and no option ends with the letter of another. Programs stay as they are."""
    ends = [line.rstrip()[-3:] for line in source.lines]
    if len([end for end in ends if end[:1] == "("]) < _FEWEST_OWN:
        bare = [end for end in ends if end[-1:] in _CAPITALS and end[-2:-1] in _SPACES]
        return _with_bare_letters(source) if len(bare) >= _FEWEST_BARE else source
    runs = [run for run in _runs(source, _OPTION_WITH_LETTER) if len(run.options) > 1]
    keyed = [run for run in runs if len(run.marked) == 1]
    foreign = any(option["own"] not in (None, option["letter"]) for run in runs for option in run.options)
    if foreign or len(keyed) < max(_FEWEST_OWN, _REGULAR_OWN * len(runs)):
        return source
    lines = list(source.lines)
    for run in keyed:
        for at, option in zip(run.lines, run.options, strict=True):
            mark = " (correct)" if option["own"] else ""
            letter = "" if option["lead"].strip() else f"{option['letter']}) "
            lines[at] = f"{option['lead']}{letter}{option['text']}{mark}"
    return replace(source, lines=tuple(lines))


def _with_bare_letters(source: Source) -> Source:
    """Returns the document with the usual mark on options that end with their own letter, if some but not all do in
    nearly each list and no option ends with the letter of another."""
    runs = [run for run in _runs(source, _OPTION_AND_LETTER) if len(run.options) > 1]
    keyed = [run for run in runs if 0 < len(run.marked) < len(run.options)]
    foreign = any(option["own"] not in (None, option["letter"].upper()) for run in runs for option in run.options)
    if foreign or len(keyed) < max(_FEWEST_BARE, _REGULAR_OWN * len(runs)):
        return source
    marked = {run.lines[at]: run.options[at] for run in keyed for at in run.marked}
    lines = {at: f"{line[: one.end('text')]} (correct)" for at, one in marked.items() if (line := source.lines[at])}
    return source.with_lines(lines)


_SPACES = (" ", "\t")
_CAPITALS = tuple("ABCDEFGH")


def _runs(source: Source, form: re.Pattern[str]) -> list[_Run]:
    """Returns the lettered options outside programs, from each `A` to the last letter that follows in order."""
    runs: list[_Run] = []
    fence, last = "", ""
    for at, line in enumerate(source.lines):
        if mark := fence_in(line):
            fence, last = fence_after(fence, mark["mark"]), ""
        elif not fence and line.strip():
            option = form.fullmatch(line) if len(line) <= _LONGEST_LINE else None
            if option and option["letter"] in ("A", "a"):
                runs.append(_Run([at], [option]))
            elif option and last and ord(option["letter"]) == ord(last) + 1:
                runs[-1].lines.append(at)
                runs[-1].options.append(option)
            else:
                option = None
            last = option["letter"] if option else ""
    return runs


# Gives lines below lists that repeat one item, and nothing else, the form of a key: `**Answer:** blue`.

_BULLET = re.compile(r"[ \t]{0,4}[-*+][ ]+(?P<text>\S.*)")
_FEWEST_REPEATED = 3
"""Fewest lists with such a line below."""
_REGULAR_REPEATED = 0.9
"""Share of the lists below which one item must be repeated."""
_MOST_OPTIONS = 8
"""Most options of a question."""
_LONGEST_OPTION = 300
"""Length of an option, characters."""


def with_repeated_options(source: Source) -> Source:
    """Returns the document with a label before the line right below a list that is exactly one of its items, if nearly
    each list has one. Programs stay as they are."""
    keys: list[int] = []
    lists = 0
    fence = ""
    items: list[str] = []
    for at, line in enumerate(source.lines):
        if mark := fence_in(line):
            fence = fence_after(fence, mark["mark"])
        if fence or not line.strip():
            continue
        if item := _BULLET.fullmatch(line):
            items.append(_without_emphasis(item["text"]))
            continue
        if len(items) > 1:
            lists += 1
            keys += [at] if _repeats(source.lines, at, items) else []
        items = []
    lists += len(items) > 1
    if len(keys) < max(_FEWEST_REPEATED, _REGULAR_REPEATED * lists):
        return source
    chosen = set(keys)
    lines = (f"**Answer:** {line.strip()}" if at in chosen else line for at, line in enumerate(source.lines))
    return replace(source, lines=tuple(lines))


def _repeats(lines: tuple[str, ...], at: int, items: list[str]) -> bool:
    """Returns whether a line with nothing right below it is exactly one of the items above."""
    ends = at + 1 == len(lines) or not lines[at + 1].strip()
    line = lines[at]
    return (
        ends
        and len(items) <= _MOST_OPTIONS
        and len(line) <= _LONGEST_OPTION
        and items.count(_without_emphasis(line)) == 1
    )


def _without_emphasis(text: str) -> str:
    return text.strip().strip("*_").strip()


# Takes lettered options out of fences that hold nothing else, in documents with several such fences.

_FENCED_OPTION = re.compile(r"[ \t]{0,8}(?P<letter>[A-Ha-h])[.)][ \t]+\S.*")
_FEWEST_FENCES = 3
"""Fewest fences of options."""


def with_unfenced_options(source: Source) -> Source:
    """Returns the document with blank lines instead of the marks of fences that hold only options with letters from A
    on, and name no language."""
    lines = source.lines
    found: list[tuple[int, int]] = []
    fence, opened = "", 0
    for at, line in enumerate(lines):
        if mark := fence_in(line):
            before, fence = fence, fence_after(fence, mark["mark"])
            if fence and not before:
                opened = at
            elif before and not fence and _is_bare(lines[opened]) and _holds_options(lines[opened + 1 : at]):
                found.append((opened, at))
    if len(found) < _FEWEST_FENCES:
        return source
    ends = {at for pair in found for at in pair}
    return replace(source, lines=tuple("" if at in ends else line for at, line in enumerate(lines)))


def _is_bare(line: str) -> bool:
    return not line.strip().strip("`~")


def _holds_options(lines: tuple[str, ...]) -> bool:
    options = [_FENCED_OPTION.fullmatch(line) for line in lines if line.strip()]
    letters = "".join(option["letter"] if option else "-" for option in options).casefold()
    return 2 <= len(letters) <= 8 and letters == "abcdefgh"[: len(letters)]


# Gives the items of numbered lists the letters that a style sheet shows instead of their numbers.
#
# In `<div class="upper-alpha" markdown>`, the list `1. … 2. …` is shown as `A. … B. …`, and the key names a letter.

_OPENS = re.compile(
    r"[ ]{0,3}<(?P<tag>div|section)[ ](?=[^<>]{0,200}\b(?:upper|lower)-(?:alpha|latin)\b)[^<>]{1,300}>[ ]*",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?P<indent>[ ]{0,3})(?P<number>\d{1,2})[.)][ \t]+(?=\S)")
_LONGEST_LIST = 100
"""Most lines of such a list."""
_LETTERS = "ABCDEFGHIJ"


def with_css_letters(source: Source) -> Source:
    """Returns the document with letters before the items of such lists, and without the tags around them. Lines keep
    their numbers."""
    if not any("-alpha" in line or "-latin" in line for line in source.lines):
        return source
    lines = list(source.lines)
    done = -1
    for at, line in source.lines_outside_programs:
        if at > done and (found := _OPENS.fullmatch(line)):
            ahead = range(at + 1, min(at + 1 + _LONGEST_LIST, len(lines)))
            last = next((n for n in ahead if lines[n].strip().lower() == f"</{found['tag'].lower()}>"), None)
            done = last if last is not None and _letter(lines, at, last) else at
    return replace(source, lines=tuple(lines))


def _letter(lines: list[str], first: int, last: int) -> bool:
    """Writes the letters between two tags; returns whether the numbers are 1, 2, …, or all 1."""
    items = [(at, found) for at in range(first + 1, last) if (found := _NUMBERED.match(lines[at]))]
    numbers = [int(found["number"]) for _, found in items]
    counted = [*range(1, len(items) + 1)]
    if not 2 <= len(items) <= len(_LETTERS) or numbers not in (counted, [1] * len(items)):
        return False
    for letter, (at, found) in zip(_LETTERS, items, strict=False):
        lines[at] = f"{found['indent']}{letter}. {lines[at][found.end() :]}"
    lines[first] = lines[last] = ""
    return True


# Gives lists below what asks to choose, in which a sign says of each item whether it is right, the form of check boxes:
# `✓ view` above `✗ clone`. In a quiz, a caret before the right items of each list does the same: `- ^view`.

_RIGHT_SIGNS = "✅✔✓☑"
_WRONG_SIGNS = "❌✗✘✖"
_SIGNED_ITEM = re.compile(
    rf"(?P<lead>[ \t]{{0,8}}(?:(?:[-*+]|\d{{1,2}}[.)])[ ]+)?)(?P<sign>[{_RIGHT_SIGNS}{_WRONG_SIGNS}])\ufe0f?[ ]*"
    r"(?P<text>\S.*)"
)
_ITEM_SIGNED = re.compile(
    rf"(?P<lead>[ \t]{{0,8}}(?:[-*+]|\d{{1,2}}[.)])[ ]+)(?P<text>[^{_RIGHT_SIGNS}{_WRONG_SIGNS}]+?)[ ]*"
    rf"(?P<sign>[{_RIGHT_SIGNS}{_WRONG_SIGNS}])\ufe0f?[ ]*"
)
_CARET_ITEM = re.compile(r"(?P<lead>[ \t]{0,8}[-*+][ ]+)(?P<sign>\^)[ ]*(?P<text>[^\s^].*)")
_PLAIN_ITEM = re.compile(r"(?P<lead>[ \t]{0,8}[-*+][ ]+)(?P<sign>)(?P<text>\S.*)")
_FEWEST_CARETS = 2


def with_check_boxes(source: Source) -> Source:
    """Returns the document with check boxes before the items of such lists. Programs stay as they are."""
    changed: dict[int, str] = {}
    if any(sign in line for line in source.lines for sign in _RIGHT_SIGNS):
        for asked, run in _signed_runs(source, (_SIGNED_ITEM, _ITEM_SIGNED)):
            right = [item["sign"] in _RIGHT_SIGNS for _, item in run]
            if any(right) and not all(right) and asks_to_choose(asked):
                changed |= {at: _boxed(item, checked) for (at, item), checked in zip(run, right, strict=True)}
    if any("- ^" in line or "* ^" in line for line in source.lines):
        runs = [
            run
            for asked, run in _signed_runs(source, (_CARET_ITEM, _PLAIN_ITEM))
            if 0 < sum(bool(item["sign"]) for _, item in run) < len(run) and ends_asking(asked)
        ]
        if len(runs) >= _FEWEST_CARETS:
            changed |= {at: _boxed(item, bool(item["sign"])) for run in runs for at, item in run}
    return source.with_lines(changed) if changed else source


def _boxed(item: re.Match[str], checked: bool) -> str:
    lead = item["lead"] if item["lead"].strip() else f"{item['lead']}- "
    return f"{lead}[{'x' if checked else ' '}] {item['text']}"


def _signed_runs(
    source: Source, forms: tuple[re.Pattern[str], ...]
) -> Iterator[tuple[str, list[tuple[int, re.Match[str]]]]]:
    """Yields the lines of each list that have one of the forms, with the line above the list."""
    run: list[tuple[int, re.Match[str]]] = []
    above = ""
    for at, line in (*source.lines_outside_programs, (len(source.lines), ".")):
        item = next((found for form in forms if (found := form.fullmatch(line))), None)
        if item:
            run.append((at, item))
        elif line.strip():
            if 2 <= len(run) <= _MOST_OPTIONS:
                yield above, run
            run, above = [], line


# Gives bullets without a space behind their dash the form of a list: `-Regression` above `-Classification`.

_TIGHT = re.compile(r"(?P<open>\*\*|__)?[-–](?P<text>[^\W\d_a-z][^\W\d_A-Z].*)")
_FEWEST_TIGHT = 4
"""Fewest such lines."""


def with_spaced_bullets(source: Source) -> Source:
    """Returns the document with a space behind the dash of bullets without one, where several stand in groups of at
    least two at the margin. Programs stay as they are."""
    if len([line for line in source.lines if line[:1] in ("-", "–") and line[1:2].isalpha()]) < _FEWEST_TIGHT:
        return source
    found: dict[int, re.Match[str]] = {}
    for at, line in source.lines_outside_programs:
        if line[:1] in ("-", "–", "*", "_") and (tight := _TIGHT.fullmatch(line)):
            found[at] = tight
    bullets = [at for at, tight in found.items() if not tight["open"]]
    beside = {at for one, two in pairwise(bullets) if not _has_text_between(source, one, two) for at in (one, two)}
    if len(beside) < _FEWEST_TIGHT or len(beside) * 2 < len(bullets):
        return source
    return source.with_lines(
        {
            at: f"{tight['open']}{tight['text']}" if tight["open"] else f"- {tight['text']}"
            for at, tight in found.items()
        }
    )


def _has_text_between(source: Source, first: int, last: int) -> bool:
    return any(line.strip() for line in source.lines[first + 1 : last])


# Gives right options that a star marks the usual mark, where it stands behind a bullet, a backslash or the letter, or
# apart from the letter: `- *b) view`, `\\*b) view`, `b)* view` and `* b) view` become `b) view (correct)`. So do
# options with numbers, which become letters: `*2) view`.

_STARRED = re.compile(
    r"(?P<lead>[ \t]{0,8})(?P<bullet>[-+•][ ]{1,3})?(?P<star>\\?\*[ ]?)?\(?(?P<letter>[A-Ha-h1-8])[.)]"
    r"(?P<behind>[ ]?\*(?=[ ]))?[ \t]+(?P<text>[^\s*].{0,400}?)[ \t]*"
)
_FEWEST_STARRED = 2
"""Fewest questions with such a mark."""
_REGULAR_STARRED = 0.8
"""Share of the lists of options in which some must be marked and some not."""


def with_starred_options(source: Source) -> Source:
    """Returns the document with the usual mark on such options, if nearly each list has some. A star before a space may
    be a bullet: it counts only if it is before one option of each list, and not always the same. Programs stay as they
    are."""
    if not any("*" in line and _STARRED.fullmatch(line[:_LONGEST_LINE]) for line in source.lines):
        return source
    runs = [run for run in _starred_runs(source) if len(run) > 1]
    keyed = [run for run in runs if 0 < sum(map(_is_starred, run.values())) < len(run)]
    lettered = [run for run in runs if not next(iter(run.values()))["letter"].isdecimal()]
    if len(keyed) < max(_FEWEST_STARRED, _REGULAR_STARRED * len(lettered)) or not _may_be_keys(keyed):
        return source
    unusual = [run for run in keyed if any(map(_is_unusual, run.values()))]
    return source.with_lines({at: _with_mark(option) for run in unusual for at, option in run.items()})


def _starred_runs(source: Source) -> Iterator[dict[int, re.Match[str]]]:
    """Yields the options of each list by the indices of their lines; blank lines may be between them."""
    run: dict[int, re.Match[str]] = {}
    for at, line in source.lines_outside_programs:
        option = _STARRED.fullmatch(line) if len(line) <= _LONGEST_LINE else None
        letter = option["letter"].upper() if option else ""
        if option and run and letter == chr(ord([*run.values()][-1]["letter"].upper()) + 1):
            run[at] = option
        elif line.strip():
            if run:
                yield run
            run = {at: option} if option and letter in ("A", "1") else {}
    if run:
        yield run


def _is_starred(option: re.Match[str]) -> bool:
    # `*a) view*` is only emphasis.
    return bool(option["behind"]) or (bool(option["star"]) and not option["text"].endswith("*"))


def _is_unusual(option: re.Match[str]) -> bool:
    """Returns whether a star is not read as a mark without this."""
    apart = option["bullet"] or option["letter"].isdecimal() or option["star"] != "*"
    return _is_starred(option) and (bool(option["behind"]) or bool(apart))


def _may_be_keys(keyed: list[dict[int, re.Match[str]]]) -> bool:
    """Returns whether stars before a space, if there are any, cannot be bullets."""
    places = [[at for at, option in enumerate(run.values()) if (option["star"] or "").endswith(" ")] for run in keyed]
    apart = [place for place in places if place]
    return not apart or (all(len(place) == 1 for place in apart) and len({place[0] for place in apart}) > 1)


def _with_mark(option: re.Match[str]) -> str:
    letter = option["letter"]
    letter = _NUMBER_LETTERS[int(letter) - 1] if letter.isdecimal() else letter
    mark = " (correct)" if _is_starred(option) else ""
    return f"{option['lead']}{option['bullet'] or ''}{letter}) {option['text']}{mark}"


_NUMBER_LETTERS = "ABCDEFGH"
