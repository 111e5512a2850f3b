"""Repairs: gives what programs and languages write in their own way the usual form, before a document is read.

A repair never changes the number of lines, so that findings name the lines of the document as its author has it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from questions.blocks import front_matter_end
from questions.repairs.admonitions import with_question_blocks
from questions.repairs.folds import with_answers_in_items, with_folds, with_question_folds
from questions.repairs.keys import (
    with_bare_keys,
    with_key_headings,
    with_key_lines,
    with_keys_behind_numbers,
    with_marks_behind,
    with_plain_keys,
)
from questions.repairs.labels import (
    with_answer_labels,
    with_answers_labeled,
    with_bare_labels,
    with_field_labels,
    with_label_letters,
    with_labeled_sides,
    with_plain_labels,
    with_question_labels,
    with_signed_answers,
)
from questions.repairs.layout import with_plain_ends, with_unquoted_lines
from questions.repairs.numbering import (
    with_bare_numbers,
    with_counted_headings,
    with_crowded_choices,
    with_decimal_numbers,
    with_deeper_bullets,
    with_keycap_numbers,
    with_own_numbers,
    with_plain_marks,
    with_plain_numbers,
    with_spaces,
)
from questions.repairs.options import (
    with_check_boxes,
    with_css_letters,
    with_own_letters,
    with_repeated_options,
    with_spaced_bullets,
    with_starred_options,
    with_unfenced_options,
)
from questions.repairs.titles import with_filled_gaps, with_labels_of_parts, with_part_labels, with_plain_headings
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
    with_question_blocks,
    with_question_folds,
    with_answers_in_items,
    with_own_numbers,
    with_keys_behind_numbers,
    with_counted_headings,
    with_crowded_choices,
    with_plain_marks,
    with_plain_numbers,
    with_marks_behind,
    with_plain_headings,
    with_part_labels,
    with_labels_of_parts,
    with_filled_gaps,
    with_starred_options,
    with_spaced_bullets,
    with_field_labels,
    with_labeled_sides,
    with_bare_labels,
    with_question_labels,
    with_plain_labels,
    with_answers_labeled,
    with_decimal_numbers,
    with_repeated_options,
    with_answer_labels,
    with_unfenced_options,
    with_check_boxes,
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
