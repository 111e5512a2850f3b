"""What no stranger's text may carry into a tree: control characters, false directions, odd links; not HTML."""

import re

# C0, DEL and C1 would drive a terminal; the bidirectional controls would show code in another order than it runs.
_UNWANTED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_LINKS = re.compile(r"(?:https?://[^\s/?#]|mailto:[^\s@]+@)[^\s<>\"]*\Z", re.IGNORECASE)
_MAX_URL = 2000


def clean(text: str) -> str:
    """Take out the characters that are not for reading, and make every line end a line feed."""
    return _UNWANTED.sub("", _LINE_ENDS.sub("\n", text))


def link_allowed(url: str) -> bool:
    """Say whether a link may be followed: http, https or mailto, whole, and of a sane length."""
    return len(url) <= _MAX_URL and _LINKS.match(url) is not None
