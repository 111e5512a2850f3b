"""Gives answers below questions a label where a sign or an unusual label stands before nearly each of them.

`💡 It copies.`, `=> It copies.`, `||It copies.||`, `Answer - It copies.`, `A. It copies.` below `Q. …` and
`**Answer: It copies** because …` become `**Answer:** It copies.`, and so on.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from questions.fences import fence_after, fence_in
from questions.wording.labels import ANSWER_WORDS, label_of

if TYPE_CHECKING:
    from questions.source import Source

_SIGNED = re.compile(
    r"(?P<lead>[ \t]*)(?:(?P<sign>(?:[✅💡👉➡🔑📌]\ufe0f?|=>|->|→|➜|⇒))[ ]?(?=[^\s\d(])(?P<text>.+)"
    r"|(?P<bars>\|\|)(?P<hidden>[^|\n]+)\|\||(?P<letter>A)\d{0,3}[.)][ ]+(?P<after>\S.*)"
    rf"|(?P<word>(?:{ANSWER_WORDS}|response))[ ]?(?:[-–—][ ]+|[:：][ ]+)(?P<said>\S.*)"
    rf"|(?P<open>\*\*|__)(?P<label>(?:{ANSWER_WORDS})[ ]?[:：])[ ]*(?P<bold>[^*_\n]{{1,300}})(?P=open)"
    r"(?P<rest>[^\w*_].*))",
    re.IGNORECASE,
)
_QUESTION = re.compile(r"\W{0,4}Q(?:uestion)?[ ]?\d{0,3}[*_]{0,2}[.):]", re.IGNORECASE)
_OPTION_B = re.compile(r"[ \t]*(?:[-*+][ ])?[*_(]{0,3}B[*_]{0,2}[.):]", re.IGNORECASE)
_CROSS = re.compile(r"[ \t]*(?:[-*+][ ])?[❌✗✘✖❎]")
"""A sign of wrong options, beside which others mark right ones."""
_FIRST = "✅💡👉➡🔑📌=-→➜⇒|"
_FEWEST = 3
"""Fewest answers in one form."""
_REGULAR = 0.9
"""Share of the lines with a sign that must be below a line that asks."""


def with_signed_answers(source: Source) -> Source:
    """Returns the document with labels before answers in one of these forms, each right below a line that ends with a
    question mark. Programs stay as they are."""
    found: dict[int, tuple[str, re.Match[str]]] = {}
    total: Counter[str] = Counter()
    fence, asks, asked = "", False, ""
    for at, line in enumerate(source.lines):
        if mark := fence_in(line):
            fence, asks = fence_after(fence, mark["mark"]), False
        elif not fence and line.strip():
            one = _SIGNED.fullmatch(line) if asks or line.lstrip()[:1] in _FIRST else None
            if one and label_of(line) is None and not (one["letter"] and not _QUESTION.match(asked)):
                form = (one["sign"] or one["bars"] or one["letter"] or one["word"] or one["label"]).casefold()
                total[form] += 1
                found |= {at: (form, one)} if asks else {}
            asked = line
            asks = line.rstrip(" *_")[-1:] in ("?", "？", "؟")
    if len(found) < _FEWEST:
        return source
    lettered, crossed = (any(map(pattern.match, source.lines)) for pattern in (_OPTION_B, _CROSS))
    found = {
        at: (form, one)
        for at, (form, one) in found.items()
        if not ((one["letter"] and lettered) or (one["sign"] and crossed))
    }
    below = Counter(form for form, _ in found.values())
    regular = {form for form, count in below.items() if count >= max(_FEWEST, _REGULAR * total[form])}
    lines = {at: _labeled(one) for at, (form, one) in found.items() if form in regular}
    return source.with_lines(lines) if lines else source


def _labeled(found: re.Match[str]) -> str:
    said = found["text"] or found["hidden"] or found["after"] or found["said"] or f"{found['bold']}{found['rest']}"
    return f"{found['lead']}**Answer:** {said}"
