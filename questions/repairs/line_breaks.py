"""Takes the line breaks of HTML from the ends of lines that ask, as in `What is a view?<br>`.

The answer is in the next line, with or without them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from questions.source import Source

_BREAKS = re.compile(r"(?<=[?？])(?P<close>[*_]{0,3})(?:<br[ ]?/?>[ ]?){1,3}[ ]*$", re.IGNORECASE)


def with_plain_ends(source: Source) -> Source:
    """Returns the document without line breaks right behind the question marks that end a line."""
    if not any("<br" in line.lower() for line in source.lines):
        return source
    lines = tuple(_BREAKS.sub(r"\g<close>", line) if line.rstrip().endswith(">") else line for line in source.lines)
    return replace(source, lines=lines) if lines != source.lines else source
