"""Instants in what the bot says, as they are read where a chat cannot show them in the reader's time zone."""

from __future__ import annotations

import re

_INSTANT = re.compile(r"\[([^\]]+)\]\(time:[^)]*\)")


def read_aloud(markdown: str) -> str:
    """Returns Markdown with each instant as its words."""
    return _INSTANT.sub(r"\1", markdown)
