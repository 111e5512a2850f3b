"""The filter of practice, which the buttons of a practice question carry on to the next one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bot.core.actions import REF, Next, NextOf
from service.wire import QuestionRef

_TRAILING_LENGTH = 60
"""Longest ref with its filter, characters: an option's id must fit next to it."""


@dataclass(frozen=True, slots=True)
class PracticeFilter:
    """Restricts practice to a topic, a level or a kind; an empty field means any."""

    topic: str = ""
    level: str = ""
    kind: str = ""

    @property
    def trail(self) -> str:
        """The filter as text, which `read_trail` reads; empty if there is none."""
        return f"{self.kind},{self.level},{self.topic}" if self != PracticeFilter() else ""

    @property
    def next(self) -> Next | NextOf:
        """The action that shows the next matching question."""
        return NextOf(self.kind, self.level, self.topic) if self.kind else Next(self.level, self.topic)


NO_FILTER = PracticeFilter()


def ref_with_filter(ref: str, wanted: PracticeFilter) -> str:
    """Returns the ref of a practice question with its filter, so that the next question matches it too.

    Returns `ref` alone if there is no filter, or if it does not fit an action id.
    """
    trail = f"{ref},{wanted.trail}"
    fit = len(trail) <= _TRAILING_LENGTH and re.fullmatch(REF, trail)
    return trail if fit and wanted != NO_FILTER else ref


def read_trail(trail: str) -> PracticeFilter:
    """Returns the filter of a trail; none for a text that is not one."""
    kind, *rest = trail.split(",", 2)
    return PracticeFilter(rest[1], rest[0], kind) if len(rest) == 2 else NO_FILTER


def split_ref(ref: str) -> tuple[str, PracticeFilter]:
    """Splits a ref into the ref the service knows and the practice filter."""
    bare, _, trail = ref.partition(",")
    return bare, read_trail(trail)


def question_ref(ref: str) -> QuestionRef:
    """Parses a ref, with or without a filter."""
    return QuestionRef.parse(split_ref(ref)[0])
