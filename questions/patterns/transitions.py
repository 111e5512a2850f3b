"""Finds the rule that is between each question and its answer, as on slides: title, question, rule, answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from questions.patterns.answers import is_rule, without_separators
from questions.patterns.programs import asks_about_program
from questions.wording.stems import ends_asking, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.blocks import Block
    from questions.patterns.starts.start import Start

_SHOWS = ("code", "fence", "table", "html")
"""Kinds of blocks that show what a question asks about."""


def find_transitions(starts: Sequence[Start]) -> dict[int, int]:
    """Returns the line of the rule between question and answer for each start with one, by the start's first line.

    Where most starts have a rule, nothing but what asks is above nearly all of these, and at least half of them
    cannot be rules within an answer, these are all with nothing else above. Otherwise they are those below a program
    that is asked about, but for the last start, below which a rule may be above closing remarks.
    """
    found = {start: rule for start in starts if (rule := _inner_rule(start)) is not None}
    fitting = {start: sure for start, rule in found.items() if (sure := _ends_asked(start, rule)) is not None}
    most = len(found) * 3 >= len(starts) * 2 and len(fitting) * 10 >= len(found) * 9
    if not (most and sum(fitting.values()) * 2 >= len(found)):
        fitting = {start: sure for start, sure in fitting.items() if sure and start is not starts[-1]}
        fitting = {start: sure for start, sure in fitting.items() if start.body[found[start] - 1].kind in _SHOWS}
    return {start.first: start.body[found[start]].first for start in fitting}


def _inner_rule(start: Start) -> int | None:
    """Returns the index of the first rule with text below it in the body, if no heading or answer comes first."""
    if start.kind not in ("heading", "line", "paragraph") or start.answer is not None or start.said:
        return None
    for index, block in enumerate(without_separators(start.body)):
        if block.kind == "heading":
            return None
        if is_rule(block):
            return index
    return None


def _ends_asked(start: Start, rule: int) -> bool | None:
    """Returns whether nothing but the question can end at a rule; None if an answer may be above it."""
    above = start.body[:rule]
    texts = [index for index, block in enumerate(above) if block.kind not in _SHOWS]
    if not texts:
        return _may_end(start.stem.text, above) if start.asks else None
    last = above[texts[-1]]
    asks = last.kind == "paragraph" and (reads_as_question(last.text) or last.text.rstrip().endswith((":", "：")))
    if not asks or (ends_asking(start.stem.text) and not ends_asking(last.text)):
        return None
    return _may_end(last.text, above[texts[-1] + 1 :])


def _may_end(asked: str, shown: Sequence[Block]) -> bool:
    return not shown or asked.rstrip().endswith((":", "：")) or asks_about_program(asked)
