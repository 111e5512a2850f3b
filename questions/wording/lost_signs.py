"""Tells question marks that ask from those that stand for signs which an encoding lost: `? Keep it short`."""

from __future__ import annotations

import re

_AT_END = re.compile(r"(?<=!)[ ]\?{1,3}[ ]*$")


def without_lost_signs(text: str) -> str:
    """Returns a line without the question marks that stand for emoji: those before it and within it, as in
    `? Look for scans ? Add indexes`, and those behind an exclamation mark, as in `Good luck! ??`."""
    if text.startswith(("? ", "?? ")):
        text = text.lstrip("? ").replace(" ? ", " ")
    return _AT_END.sub("", text) if "! ?" in text else text
