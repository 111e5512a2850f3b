"""Recognizes the end of a question by the sign that its script has for it."""

from __future__ import annotations

import re

_MARKS = ("?", "？", "؟", "፧")
"""Signs that end questions in Latin and most other scripts, in Chinese and Japanese, Arabic, and Ethiopic."""
_OTHER = re.compile(r"(?:(?<=[α-ωά-ώ])[;\u037e]|՞[^՞։]{0,200}[։:]?|(?:です|ます|ません|でしょう)か[。]?)$")
"""A semicolon behind Greek, the sign within the last sentence of Armenian, and words of Japanese that ask."""


def ends_in_question_mark(text: str) -> bool:
    """Returns whether a text, without closing marks behind it, ends as questions do in its script."""
    return text.endswith(_MARKS) or (not text.isascii() and _OTHER.search(text[-_LONGEST:]) is not None)


_LONGEST = 250
"""Length of the end of a text that is looked at, characters."""
