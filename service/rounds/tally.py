"""Counts what the reveal of a round says of all its answers, a page at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from service.store.answers import RoundEntry

MAX_WRONG_TEXTS = 3
"""Number of most common wrong texts in a reveal."""
MAX_NAMED = 25
"""Members whose points a reveal names, best first."""
MAX_WRONG_LENGTH = 120
"""Longest wrong text in a reveal, characters."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one member's answer."""

    entry: RoundEntry
    credit: float | None
    """None for an open answer, which people mark later."""
    points: int

    @property
    def submitted(self) -> tuple[datetime, int]:
        """Sorts results by the time of their answers."""
        return self.entry.answer.at, self.entry.answer.id


class Tally:
    """What a reveal says about all answers, counted a page at a time. Holds few answers at once."""

    def __init__(self, *, texts: bool, author: int | None = None, judged_later: bool = False) -> None:
        self.answers = 0
        self.graded = 0
        self.unjudged = 0
        """Answers whose verdict is still to come."""
        self.right = 0
        self.credit = 0.0
        self.chosen: Counter[str] = Counter()
        """Number of members who chose each option, by its id."""
        self.wrong: Counter[str] = Counter()
        """Number of members who wrote each wrong text; empty without `texts`."""
        self.shown = 0
        """Number of graded answers of members who are not hidden."""
        self.first: Result | None = None
        """The earliest right answer of those, without the question's author."""
        self.best: list[Result] = []
        """The `MAX_NAMED` with the most points of those, the earlier first."""
        self._texts = texts
        self._author = author
        self._judged_later = judged_later

    def add(self, entries: Sequence[RoundEntry], results: Sequence[Result]) -> None:
        """Counts a page of answers, and the results of those that were graded."""
        self.answers += len(entries)
        self.graded += len(results)
        if self._judged_later:
            self.unjudged += sum(entry.verdict is None for entry in entries)
        for entry in entries:
            self.chosen.update(entry.answer.given.get("options") or ())
        for result in results:
            self.right += result.credit == 1
            self.credit += result.credit or 0.0
            if self._texts and result.credit != 1:
                self.wrong[(result.entry.answer.given["text"] or "").strip()[:MAX_WRONG_LENGTH]] += 1
        shown = [result for result in results if not result.entry.member.hidden]
        self.shown += len(shown)
        others = [result for result in shown if result.credit == 1 and result.entry.member.id != self._author]
        right = others + ([self.first] if self.first else [])
        self.first = min(right, key=lambda result: result.submitted, default=None)
        best = sorted([*self.best, *shown], key=lambda result: (-result.points, result.submitted))
        self.best = best[:MAX_NAMED]

    @property
    def mean_credit(self) -> float:
        """Mean credit of the graded answers; 0 without any."""
        return self.credit / self.graded if self.graded else 0.0

    @property
    def wrong_texts(self) -> tuple[tuple[str, int], ...]:
        """The most common wrong texts, with their numbers."""
        return tuple(sorted(self.wrong.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_WRONG_TEXTS])
