"""Gives lines right below lettered options that are nothing but a key the usual form of one.

`Answer - C`, `- answer c`, `✅ C`, `||C||`, `The correct answer is (c).`, `[Answer: C]`, `**C) blue** is correct.`, and
`✅ blue` below `C) blue`, become `**Answer:** C`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.fences import fence_after, fence_in, lines_outside_programs
from questions.wording.labels import ANSWER_WORDS, label_of

if TYPE_CHECKING:
    from questions.source import Source

_OPTION = re.compile(r"[ \t>]*(?:[-*+][ ]+)?[*_(\[]{0,3}(?P<letter>[B-Jb-j])[*_]{0,3}[).:\]][*_)]{0,3}[ \t]*\S")
_SIGNS = "✅✔☑👉➡🔑💡"
_KEY = re.compile(
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
_FEWEST = 3
"""Fewest lines with the same sign and no word that are keys."""


def with_key_lines(source: Source) -> Source:
    """Returns the document with labels before the keys right below lettered options. A letter without a word or a sign
    stays as it is, because it may be an empty option."""
    if not any(map(_OPTION.match, source.lines)):
        return source
    found = _keys_below_options(source)
    signs = Counter(key["mark"].strip() for key in found.values() if key["mark"] and not key["label"])
    lines = list(source.lines)
    for at, key in found.items():
        if key["label"] or (key["mark"] and signs[key["mark"].strip()] >= _FEWEST):
            lines[at] = f"{key['lead']}**Answer:** {key['key'].upper()}"
    lines = [_from_sentence(line, lines, at) for at, line in enumerate(lines)]
    named = _texts_below_options(source)
    if len(named) >= _FEWEST:
        for at, letter in named.items():
            lines[at] = f"**Answer:** {letter}"
    for at in _words_above_letters(source):
        lines[at] = f"**{lines[at].strip()}**"
    return replace(source, lines=tuple(lines)) if tuple(lines) != source.lines else source


def _from_sentence(line: str, lines: list[str], at: int) -> str:
    """Returns a label and a key instead of a sentence about an option, if its letter and text are those of an option a
    few lines above."""
    if len(line) > _LONGEST_SENTENCE or not (said := _SENTENCE.fullmatch(line)):
        return line
    above = (one.strip().lstrip("-*+ ").replace("*", "") for one in lines[max(at - _NEAR, 0) : at])
    named = [one for one in above if one[:1].casefold() == said["letter"].casefold() and one[1:2] in tuple(").:")]
    same = named and named[-1][2:].strip().casefold() == said["text"].strip().casefold()
    return f"{said['lead']}**Answer:** {said['letter'].upper()}" if same else line


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
            if option and len(line) <= _LONGEST and (key := _KEY.fullmatch(line)) and _is_unusual(line, key):
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
    for at, line in lines_outside_programs(source.lines):
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


_LONGEST = 80
"""Length of a line with a key, characters."""


def _words_above_letters(source: Source) -> list[int]:
    """Returns the lines that are only a word for an answer, below an option and above nothing but letters."""
    lines = source.lines
    alone = [at for at, line in enumerate(lines) if 0 < len(line) <= _LONGEST and _ALONE.fullmatch(line)]
    return [
        at
        for at in alone
        if at + 1 < len(lines) and _LETTERS.fullmatch(lines[at + 1]) and _OPTION.match(_filled_above(lines, at))
    ]


def _filled_above(lines: tuple[str, ...], at: int) -> str:
    return next((line for line in (lines[at - 1 : at] + lines[max(at - 2, 0) : at - 1]) if line.strip()), "")
