"""Takes the quotes below labeled questions as their answers, where nearly each question ends in one and nothing else
answers them.

    **Q1.** What is a view?

    > It shares memory.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.wording.stems import ends_asking

if TYPE_CHECKING:
    from questions.patterns.parts import Parts

_QUOTE = re.compile(r"\n\n(?P<quote>>[^\n]*(?:\n>[^\n]*)*)\s*\Z")
_SIGN = re.compile(r"(?m)^>[ ]?")
_PASSAGE = re.compile(
    r"[:：]\W*$|\b(?:following|below|passage|excerpt|siguiente|seguinte|suivant|folgende|seguente|volgende)",
    re.IGNORECASE,
)
"""What a question says of a quote that it is about."""
_FEWEST = 5
_REGULAR = 0.8
"""Share of the questions that must end in a quote."""
_FEW = 10
"""One question in this many may name a passage."""
_ASK = 0.5
"""Share of these that must end with a question mark above the quote."""


def with_quoted_answers(read: list[Parts]) -> list[Parts]:
    """Returns the parts of labeled questions with the quotes at their ends as answers, if nearly each has one."""
    found = [_QUOTE.search(parts.prompt) if not parts.answer else None for parts in read]
    above = [parts.prompt[: one.start()].rstrip() for parts, one in zip(read, found, strict=True) if one]
    regular = len(above) >= max(_FEWEST, _REGULAR * len(read)) and not any(parts.answer for parts in read)
    asking = sum(ends_asking(text.rsplit("\n", 1)[-1]) for text in above)
    if not regular or asking < _ASK * len(above) or sum(map(bool, map(_PASSAGE.search, above))) * _FEW > len(above):
        return read
    return [
        parts._replace(prompt=parts.prompt[: one.start()].rstrip(), answer=_SIGN.sub("", one["quote"]))
        if one
        else parts
        for parts, one in zip(read, found, strict=True)
    ]
