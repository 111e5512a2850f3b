"""The Markdown dialects, in the order they are tried.

Each dialect reads the questions it recognizes and leaves the rest of the document to the next. Strict dialects come
first, so that lenient ones never see what a strict one has read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from questions.dialects import headings, lists, native, others, paragraphs

if TYPE_CHECKING:
    from collections.abc import Callable

    from questions.document import Document, Draft


class Dialect(NamedTuple):
    """A way of writing questions in Markdown."""

    name: str
    sniff: Callable[[Document], bool]
    """Whether the unread part of a document contains this dialect."""
    read: Callable[[Document], Draft]
    whole: bool = False
    """Whether a document in this dialect is not offered to other dialects."""


DIALECTS: tuple[Dialect, ...] = (
    Dialect(native.NAME, native.sniff, native.read, whole=True),
    Dialect(others.FRONT_MATTER, others.sniff_front_matter, others.read_front_matter),
    Dialect(paragraphs.QUESTION_LABELS, paragraphs.sniff_question_labels, paragraphs.read_question_labels),
    Dialect(headings.QUESTION_HEADINGS, headings.sniff_question_headings, headings.read_question_headings),
    Dialect(lists.NUMBERED_LISTS, lists.sniff_numbered_lists, lists.read_numbered_lists),
    Dialect(headings.LABELLED_HEADINGS, headings.sniff_labelled_headings, headings.read_labelled_headings),
    Dialect(others.FOLDS, others.sniff_folds, others.read_folds),
    Dialect(headings.HEADING_PROSE, headings.sniff_heading_prose, headings.read_heading_prose),
    Dialect(paragraphs.BOLD_LINES, paragraphs.sniff_bold_lines, paragraphs.read_bold_lines),
    Dialect(lists.ITEM_LINES, lists.sniff_item_lines, lists.read_item_lines),
    Dialect(others.TABLES, others.sniff_tables, others.read_tables),
)
