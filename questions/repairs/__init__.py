"""Repairs: gives what programs and languages write in their own way the usual form, before a document is read.

A repair never changes the number of lines, so that findings name the lines of the document as its author has it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from questions.blocks import front_matter_end
from questions.repairs.answer_titles import with_answer_labels
from questions.repairs.card_sides import with_labeled_sides
from questions.repairs.counted_answers import with_answers_labeled
from questions.repairs.css_letters import with_css_letters
from questions.repairs.emphasized_keys import with_plain_keys
from questions.repairs.examview import with_bare_keys
from questions.repairs.fenced_options import with_unfenced_options
from questions.repairs.folds import with_folds
from questions.repairs.key_lines import with_key_lines
from questions.repairs.key_titles import with_key_headings
from questions.repairs.keycaps import with_bare_numbers, with_keycap_numbers
from questions.repairs.label_letters import with_label_letters
from questions.repairs.labeled_bullets import with_plain_labels
from questions.repairs.line_breaks import with_plain_ends
from questions.repairs.list_indents import with_deeper_bullets
from questions.repairs.numbering import with_spaces
from questions.repairs.own_letters import with_own_letters
from questions.repairs.practice_titles import with_question_labels
from questions.repairs.quotes import with_unquoted_lines
from questions.repairs.repeated_options import with_repeated_options
from questions.repairs.roman_numbers import with_decimal_numbers
from questions.repairs.signed_answers import with_signed_answers
from questions.repairs.wide_lines import with_plain_lines

if TYPE_CHECKING:
    from questions.source import Source


def repaired(source: Source) -> Source:
    """Returns a document in Markdown with the usual form of what programs and languages write in another.

    Its front matter stays as it is: that is YAML.
    """
    front = source.lines[: front_matter_end(source.lines)]
    for repair in _REPAIRS:
        source = repair(source)
    return replace(source, lines=front + source.lines[len(front) :]) if front else source


_REPAIRS = (
    with_unquoted_lines,
    with_labeled_sides,
    with_question_labels,
    with_plain_labels,
    with_answers_labeled,
    with_decimal_numbers,
    with_repeated_options,
    with_answer_labels,
    with_unfenced_options,
    with_own_letters,
    with_keycap_numbers,
    with_bare_numbers,
    with_bare_keys,
    with_plain_lines,
    with_spaces,
    with_deeper_bullets,
    with_key_headings,
    with_plain_keys,
    with_key_lines,
    with_plain_ends,
    with_signed_answers,
    with_folds,
    with_css_letters,
    with_label_letters,
)
"""In this order: some leave what later ones look for."""
