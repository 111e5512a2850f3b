"""The dialects a document can be written in: an ordered table of name, sniff and read.

Each reads what it knows and leaves the rest to the next. The surest come first, so that a later, more
lenient one never sees what an earlier one has recognised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from questions.dialects import (
    bold_line,
    folded,
    front_questions,
    heading_prose,
    item_line,
    labelled_heading,
    native,
    numbered_list,
    question_heading,
    question_label,
    tabled,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from questions.document import Document, Draft


class Dialect(NamedTuple):
    """A way of writing questions down."""

    name: str
    sniff: Callable[[Document], bool]
    """Whether the unread part of a document holds anything of this dialect."""
    read: Callable[[Document], Draft]
    whole: bool = False
    """Whether a document of this dialect is left to no other."""


DIALECTS: tuple[Dialect, ...] = (
    Dialect(native.NAME, native.sniff, native.read, whole=True),
    Dialect(front_questions.NAME, front_questions.sniff, front_questions.read),
    Dialect(question_label.NAME, question_label.sniff, question_label.read),
    Dialect(question_heading.NAME, question_heading.sniff, question_heading.read),
    Dialect(numbered_list.NAME, numbered_list.sniff, numbered_list.read),
    Dialect(labelled_heading.NAME, labelled_heading.sniff, labelled_heading.read),
    Dialect(folded.NAME, folded.sniff, folded.read),
    Dialect(heading_prose.NAME, heading_prose.sniff, heading_prose.read),
    Dialect(bold_line.NAME, bold_line.sniff, bold_line.read),
    Dialect(item_line.NAME, item_line.sniff, item_line.read),
    Dialect(tabled.NAME, tabled.sniff, tabled.read),
)
