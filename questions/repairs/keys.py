"""How keys are written: gives lines and labels of keys the form that the reader knows."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from questions.fences import fence_after, fence_in, lines_outside_programs
from questions.wording.labels import ANSWER_WORDS, KEY_AND_REASON, QUESTION_WORDS, announces_keys, label_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.source import Source


# Makes a heading of a line such as `Answers` or `参考答案` above nothing but keys, so that they are read as a list.
#
# Keys without such a line get a heading in the blank line above them if they are the end of the document, their numbers
# start again at 1, and each is the number of a line above.

_HEADING = re.compile(
    rf"[ ]{{0,3}}(?P<marks>#{{1,6}})[ ](?P<question>[ ]*(?:{QUESTION_WORDS})[ ]?#?\d{{1,4}}[ ]?[:.)]?[ ]*$)?",
    re.IGNORECASE,
)
_NUMBERED_KEY = r"\d{1,4}[ ]?[.):：、．）–—-]?[ ]?[(（]?[A-Ja-j](?:[ ]?[,，、/&]?[ ]?[A-J]){0,5}[)）]?(?![\w'’])[.。]?"
_NUMBERED_KEYS = re.compile(
    rf"[ ]{{0,3}}(?:[-*+][ ]+)?{_NUMBERED_KEY}(?:[ ,，;；\u3000\t]{{1,6}}{_NUMBERED_KEY}){{0,30}}[ ]*"
)
_ONE_KEY = re.compile(_NUMBERED_KEY)
_LONGEST_TITLE = 60
"""Length of such a line, characters."""
_FEWEST_KEYS = 2
"""Fewest keys."""


def with_key_headings(source: Source) -> Source:
    """Returns the document with a heading for each such line. Lines keep their numbers."""
    lines = source.lines
    if at := _above_last_keys(lines):
        return replace(source, lines=(*lines[:at], _ADDED, *lines[at + 1 :]))
    found = [at for at, line in enumerate(lines) if _NUMBERED_KEYS.fullmatch(line[: 10 * _LONGEST_TITLE])]
    if not found or sum(len(_ONE_KEY.findall(lines[at])) for at in found) < _FEWEST_KEYS:
        return source
    titles = {at: f"{'#' * level} {lines[at].strip(' *_')}" for at, level in _titles(lines, frozenset(found))}
    return replace(source, lines=tuple(titles.get(at, line) for at, line in enumerate(lines))) if titles else source


_ADDED = "# Answer Key"
"""The heading of keys without a title."""
_NUMBERED = re.compile(
    r"[ ]{0,3}(?:#{1,6}[ ]+|[-*+][ ]+)?[*_]{0,3}(?:[^\W\d]{1,12}[ ]?)?"
    r"(?P<number>\d{1,4})(?:[ ]?[.):：、．）–—-]|[*_ ]|$)"
)
_WITH_TEXT = re.compile(
    r"[ ]{0,3}(?:[-*+][ ]+)?(?P<number>\d{1,4})[ ]?[.):：、．–—-][ ]?(?!.*[ ][B-Jb-j][)）.])[(（*_]{0,3}[A-Ja-j]"
    r"(?:[ ]?[)）.:*_–—-][)）.:*_ –—-]{0,4}.*|[ ]?[(（].*[)）]|[ ]*)"
)
"""A number and a letter, maybe with the text of the option."""
_FEWEST_ALONE = 4
"""Minimum number of keys without a title."""


def _above_last_keys(lines: Sequence[str]) -> int:
    """Returns the index of the blank line above keys without a title at the end of the document; 0 if there are none.

    Their numbers count up from 1, and each is the number of a line above.
    """
    filled = [at for at, line in enumerate(lines) if line.strip()]
    start = len(filled)
    while start and (found := _WITH_TEXT.fullmatch(lines[filled[start - 1]])):
        start -= 1
        if found["number"] == "1":
            break
    keys = filled[start:]
    first = keys[0] if keys else 0
    if len(keys) < _FEWEST_ALONE or first < 1 or lines[first - 1].strip():
        return 0
    numbers = [int(found["number"]) for at in keys if (found := _WITH_TEXT.fullmatch(lines[at]))]
    above = {int(found["number"]) for at in filled[:start] if (found := _NUMBERED.match(lines[at]))}
    announced = start > 0 and announces_keys(lines[filled[start - 1]])
    regular = numbers == list(range(1, len(numbers) + 1)) and above.issuperset(numbers)
    return first - 1 if regular and not announced else 0


def _titles(lines: Sequence[str], keys: frozenset[int]) -> list[tuple[int, int]]:
    """Returns the lines that announce keys, with a level below the heading above them; beside one such as
    `Question 45`, which would else hold the keys of all."""
    found: list[tuple[int, int]] = []
    level = 2
    for at, line in lines_outside_programs(lines):
        if heading := _HEADING.match(line):
            level = min(len(heading["marks"]) + (not heading["question"]), 6)
        elif _may_announce(lines, at) and _has_only_keys(lines, at + 1, keys):
            found.append((at, level))
    return found


def _may_announce(lines: Sequence[str], at: int) -> bool:
    line = lines[at]
    return 0 < len(line) <= _LONGEST_TITLE and line.strip() != "" and announces_keys(line)


def _has_only_keys(lines: Sequence[str], first: int, keys: frozenset[int]) -> bool:
    """Returns whether several keys and nothing else are between a line and the next heading."""
    count = 0
    for at in range(first, len(lines)):
        if at in keys:
            count += len(_ONE_KEY.findall(lines[at]))
        elif _HEADING.match(lines[at]):
            break
        elif lines[at].strip():
            return False
    return count >= _FEWEST_KEYS


# Puts keys that are in the line below their number behind it: `Q1)` above `- Correct: A` becomes `1. A`.

_NUMBER_ALONE = re.compile(
    rf"[ ]{{0,3}}[*_]{{0,3}}(?:(?:{QUESTION_WORDS}|q)[ ]?)?#?(?P<number>\d{{1,4}})[*_]{{0,3}}[ ]?[.):]?[*_]{{0,3}}[ ]*",
    re.IGNORECASE,
)
_KEY_BELOW = re.compile(
    rf"[ ]{{0,4}}(?:[-*+][ ]+)?[*_]{{0,3}}(?:correct|{ANSWER_WORDS})[*_]{{0,3}}[ ]?[:：=][*_ ]{{0,4}}"
    r"(?P<key>[A-J](?:[ ]?[,&/][ ]?[A-J]){0,5})[.)]?[*_]{0,3}[ ]*",
    re.IGNORECASE,
)


def with_keys_behind_numbers(source: Source) -> Source:
    """Returns the document with such keys in the line of their number, where a heading announces keys and all numbers
    below it ascend from 1. A smaller heading above the first number is left out."""
    shown = [(at, line) for at, line in source.lines_outside_programs if line.strip()]
    rewritten: dict[int, str] = {}
    titled = (at for at, (_, line) in enumerate(shown) if _HEADING.match(line) and announces_keys(line))
    for title in titled:
        level = len(shown[title][1].split(maxsplit=1)[0])
        rewritten |= _keys_below(_section(shown, title + 1, level))
    return source.with_lines(rewritten) if rewritten else source


def _section(shown: list[tuple[int, str]], first: int, level: int) -> list[tuple[int, str]]:
    """Returns the lines from the first one to the next heading of the level or a higher one."""
    for at in range(first, len(shown)):
        if (heading := _HEADING.match(shown[at][1])) and len(heading["marks"]) <= level:
            return shown[first:at]
    return shown[first:]


def _keys_below(shown: list[tuple[int, str]]) -> dict[int, str]:
    """Returns the lines of a section of keys in which the keys are behind their numbers, if each is below its own."""
    rewritten: dict[int, str] = {}
    numbers: list[int] = []
    for (at, line), (below, key_line) in pairwise(shown):
        number, key = _NUMBER_ALONE.fullmatch(line), _KEY_BELOW.fullmatch(key_line)
        if number and key:
            numbers.append(int(number["number"]))
            rewritten |= {at: f"{number['number']}. {key['key']}", below: ""}
        elif key and at not in rewritten:
            return {}
    if len(numbers) < _FEWEST_KEYS or numbers != list(range(1, len(numbers) + 1)):
        return {}
    first, line = shown[0]
    return rewritten | ({first: ""} if _HEADING.match(line) else {})


# Puts marks before the numbers of statements behind them: `（√）1. 视图共享内存。` becomes `1. 视图共享内存。（√）`.

_MARK_FIRST = re.compile(
    r"[ ]{0,3}[（(\[][ \u3000]{0,4}(?P<mark>[√✓✔×✗✘╳对错對錯])[ \u3000]{0,4}[)）\]][ \u3000]{0,4}"
    r"(?P<number>\d{1,3})[.、．:：)）][ \u3000]{0,4}(?P<text>[^\s\d].*?)[ ]*"
)
_FEWEST_MARKS = 3
"""Fewest such statements."""


def with_marks_behind(source: Source) -> Source:
    """Returns the document with the marks that say whether statements are true behind them, if several have one before
    their number."""
    if len([line for line in source.lines if line.lstrip()[:1] in ("（", "(", "[")]) < _FEWEST_MARKS:
        return source
    found = {at: one for at, line in source.lines_outside_programs if (one := _MARK_FIRST.fullmatch(line))}
    if len(found) < _FEWEST_MARKS:
        return source
    return source.with_lines({at: f"{one['number']}. {one['text']}（{one['mark']}）" for at, one in found.items()})


# Gives lines right below lettered options that are nothing but a key the usual form of one.
#
# `Answer - C`, `- answer c`, `✅ C`, `||C||`, `The correct answer is (c).`, `[Answer: C]`, `**C) blue** is correct.`,
# and `✅ blue` below `C) blue`, become `**Answer:** C`.

_OPTION = re.compile(r"[ \t>]*(?:[-*+][ ]+)?[*_(\[]{0,3}(?P<letter>[B-Jb-j])[*_]{0,3}[).:\]][*_)]{0,3}[ \t]*\S")
_SIGNS = "✅✔☑👉➡🔑💡"
_KEY_LINE = re.compile(
    rf"(?P<lead>[ \t]*)(?P<bullet>[-*+][ ])?(?P<mark>>[ ]?|\|\||(?:[{_SIGNS}]\ufe0f?[ ]?)+)?(?P<open>[*_`(\[]{{0,4}})"
    rf"(?P<label>(?:the[ ])?(?:{ANSWER_WORDS})(?:[ ](?:is|are))?[ ]{{0,2}}(?:[:：=→–—-]|->|=>)?)?[*_`]{{0,3}}[ ]{{0,2}}"
    r"[*_`(\[]{0,4}(?P<key>[A-J](?:[ ]?[,&/+][ ]?[A-J]){0,5})"
    rf"[)\]]{{0,2}}[.]?[*_`)\]]{{0,4}}[ ]?(?:\|\||[{_SIGNS}]\ufe0f?|\\)?[)\].]{{0,2}}[ \t]*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(
    r"(?P<lead>[ \t]*)(?:[-*+>][ ])?(?P<open>\*{0,3})(?P<letter>[A-J])[).:][ ]+(?P<text>[^*\n]{1,300}?)(?P=open)[ ]+is"
    r"(?:[ ]the)?[ ](?:correct|right)(?:[ ](?:answer|option|choice))?[.!]?[ \t]*",
    re.IGNORECASE,
)
"""A sentence about an option with its letter and text: `**C) blue** is correct.`"""
_ALONE = re.compile(rf"[ \t]*(?:{ANSWER_WORDS})[ \t]*", re.IGNORECASE)
_LETTERS = re.compile(r"[ \t]*[(\[]?[A-Ja-j](?:[ ]?[,&/+][ ]?[A-Ja-j]){0,5}[)\].]{0,2}[ \t]*")
_FEWEST_SIGNS = 3
"""Fewest lines with the same sign and no word that are keys."""


def with_key_lines(source: Source) -> Source:
    """Returns the document with labels before the keys right below lettered options. A letter without a word or a sign
    stays as it is, because it may be an empty option, unless several stand apart below options in small letters."""
    if not any(map(_OPTION.match, source.lines)):
        return source
    found = _keys_below_options(source)
    signs = Counter(key["mark"].strip() for key in found.values() if key["mark"] and not key["label"])
    lines = list(source.lines)
    alone = _letters_alone(source, found)
    for at, key in found.items():
        if at in alone or key["label"] or (key["mark"] and signs[key["mark"].strip()] >= _FEWEST_SIGNS):
            lines[at] = f"{key['lead']}**Answer:** {key['key'].upper()}"
    lines = [_from_sentence(line, lines, at) for at, line in enumerate(lines)]
    named = _texts_below_options(source)
    if len(named) >= _FEWEST_SIGNS:
        for at, letter in named.items():
            lines[at] = f"**Answer:** {letter}"
    for at in _words_above_letters(source):
        lines[at] = f"**{lines[at].strip()}**"
    return replace(source, lines=tuple(lines)) if tuple(lines) != source.lines else source


_FEWEST_ALONE_BELOW = 5
"""Fewest small letters alone below options that are keys."""
_SMALL = re.compile(r"[a-j](?:[ ]?,[ ]?[a-j]){0,5}[ ]*")


def _letters_alone(source: Source, found: dict[int, re.Match[str]]) -> frozenset[int]:
    """Returns the lines that are only small letters in order, between blank lines, below options without a later
    letter; none if they are few."""
    alone: list[int] = []
    for at in found:
        if not _SMALL.fullmatch(source.lines[at]) or source.lines[at - 1].strip() or source.line(at + 2).strip():
            continue
        letters = [letter for letter in source.lines[at] if letter.isalpha()]
        option = _OPTION.match(source.line(source.last_filled(1, at)))
        if option and letters == sorted(set(letters)) and letters[-1] <= option["letter"]:
            alone.append(at)
    return frozenset(alone if len(alone) >= _FEWEST_ALONE_BELOW else ())


def _from_sentence(line: str, lines: list[str], at: int) -> str:
    """Returns a label and a key instead of a sentence about an option, if its letter and text are those of an option a
    few lines above."""
    if len(line) > _LONGEST_SENTENCE or not (sentence := _SENTENCE.fullmatch(line)):
        return line
    above = (one.strip().lstrip("-*+ ").replace("*", "") for one in lines[max(at - _NEAR, 0) : at])
    named = [one for one in above if one[:1].casefold() == sentence["letter"].casefold() and one[1:2] in tuple(").:")]
    same = named and named[-1][2:].strip().casefold() == sentence["text"].strip().casefold()
    return f"{sentence['lead']}**Answer:** {sentence['letter'].upper()}" if same else line


_LONGEST_SENTENCE = 400
"""Length of a sentence that names an option, characters."""
_NEAR = 20
"""Lines above such a sentence in which its option must be."""


def _keys_below_options(source: Source) -> dict[int, re.Match[str]]:
    """Returns the lines that are only a key, without a known label, whose nearest line with text above is an option."""
    found: dict[int, re.Match[str]] = {}
    fence, option = "", False
    for at, line in enumerate(source.lines):
        if mark := fence_in(line):
            fence, option = fence_after(fence, mark["mark"]), False
        elif not fence and line.strip():
            if option and len(line) <= _LONGEST_KEY and (key := _KEY_LINE.fullmatch(line)) and _is_unusual(line, key):
                found[at] = key
            option = len(line) > 2 and _OPTION.match(line) is not None
    return found


def _is_unusual(line: str, key: re.Match[str]) -> bool:
    """Returns whether a line is not read as a key without this."""
    ends_in_sign = line.rstrip()[-1:] in f"{_SIGNS}\\\ufe0f"
    return not key["label"] or key["bullet"] is not None or ends_in_sign or label_of(line) is None


_SIGNED = re.compile(rf"[ \t]*(?:[-*+][ ])?[{_SIGNS}]\ufe0f?[ ]*(?P<text>\S.{{0,300}})")
_LETTERED = re.compile(
    r"[ \t>]*(?:[-*+][ ]+)?[*_(\[]{0,3}(?P<letter>[A-J])[*_]{0,3}[).:\]][*_)]{0,3}[ \t]*(?P<text>\S.*)"
)


def _texts_below_options(source: Source) -> dict[int, str]:
    """Returns the lines that are a sign and the text of one of the lettered options right above, with its letter."""
    found: dict[int, str] = {}
    options: dict[str, str] = {}
    for at, line in source.lines_outside_programs:
        option = _LETTERED.fullmatch(line) if len(line) <= _LONGEST_SENTENCE else None
        if option:
            options[_bare(option["text"])] = option["letter"]
        elif line.strip():
            signed = _SIGNED.fullmatch(line) if options else None
            if signed and (letter := options.get(_bare(signed["text"]))):
                found[at] = letter
            options = {}
    return found


def _bare(text: str) -> str:
    return text.strip(" *_`.").casefold()


_LONGEST_KEY = 80
"""Length of a line with a key, characters."""


def _words_above_letters(source: Source) -> list[int]:
    """Returns the lines that are only a word for an answer, below an option and above nothing but letters."""
    lines = source.lines
    alone = [at for at, line in enumerate(lines) if 0 < len(line) <= _LONGEST_KEY and _ALONE.fullmatch(line)]
    return [
        at
        for at in alone
        if at + 1 < len(lines) and _LETTERS.fullmatch(lines[at + 1]) and _OPTION.match(_filled_above(lines, at))
    ]


def _filled_above(lines: tuple[str, ...], at: int) -> str:
    return next((line for line in (lines[at - 1 : at] + lines[max(at - 2, 0) : at - 1]) if line.strip()), "")


# Ends the emphasis of a label before its key, where a reason follows: `**Answer: C** — it copies` becomes
# `**Answer:** C — it copies`.


def with_plain_keys(source: Source) -> Source:
    """Returns the document with keys outside the emphasis of their labels, if text follows the emphasis. Programs stay
    as they are."""
    lines: dict[int, str] = {}
    for at, line in source.lines_outside_programs:
        if ("*" in line or "_" in line) and (found := KEY_AND_REASON.fullmatch(line)):
            lines[at] = f"{found['lead']}{found['open']}{found['label']}{found['open']} {found['key']}{found['rest']}"
    return source.with_lines(lines) if lines else source


# Removes what ExamView and the like add to keys: `ANS: B  PTS: 1  DIF: Easy  REF: p. 12`, also in lines below.

_NAMES_BEHIND = "PTS|DIF|REF|OBJ|NAT|STA|LOC|TOP|KEY|MSC|NOT|BLM"
_BEHIND = re.compile(rf"(?P<key>[ \t]*ANS:[ \t]*\S[^\t\n]{{0,200}}?)[ \t]+(?=(?:{_NAMES_BEHIND}):)")
_POINTS = re.compile(r"(?:[ \t]*|.*[ \t])PTS:[ \t]*\d")
_NAMED_LINE = re.compile(rf"[ \t]*(?:{_NAMES_BEHIND}):[ \t]*\S.*")
_FEWEST_POINTS = 2
"""Fewest questions with points."""


def with_bare_keys(source: Source) -> Source:
    """Returns a test bank with nothing but keys behind their labels. Lines keep their numbers. Any other document is
    returned as it is."""
    if sum("PTS:" in line and _POINTS.match(line) is not None for line in source.lines) < _FEWEST_POINTS:
        return source
    lines: list[str] = []
    below = False
    for line in source.lines:
        found = _BEHIND.match(line)
        known = below and _NAMED_LINE.fullmatch(line) is not None
        lines.append(found["key"] if found else "" if known else line)
        below = line.lstrip(" \t").startswith("ANS:") or (below and (known or not line.strip()))
    return replace(source, lines=tuple(lines))
