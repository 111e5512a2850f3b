"""How the questions of a workspace did in its closed rounds."""

from __future__ import annotations

from typing import Literal

from service.wire.base import Model

ItemFinding = Literal["broken", "ambiguous", "disliked", "hard", "easy"]
"""What may be wrong with a question: its key, two options that can both be defended, what members think of it, or how
hard it is."""


class WrongOption(Model):
    """The wrong option that was chosen most often."""

    text: str
    share: float
    """Share of the answers that chose it."""


class ItemStatistics(Model):
    """The figures of one question, over the rounds of the workspace that closed in the last `days`.

    Only rounds with its current version count: a corrected question starts anew.
    """

    question: str
    bank: str = ""
    days: int
    retired: bool = False
    rounds: int = 0
    """0 if none closed."""
    answers: int = 0
    judged: int = 0
    """Answers with a credit; those to open questions have none until people give it."""
    right: float | None = None
    """Mean credit of the judged answers."""
    right_low: float = 0.0
    right_high: float = 1.0
    """Ends of the 95 % interval of `right`."""
    expected: float | None = None
    """Share right to expect of all members, also of those who were absent; None before a calibration."""
    expected_low: float = 0.0
    expected_high: float = 1.0
    """Ends of the 95 % interval of `expected`."""
    discrimination: float | None = None
    """Correlation of credit with the member's mean credit on other questions, from -1 to 1; None with too few."""
    compared: int = 0
    """Answers by members with enough other answers to be compared."""
    wrong: WrongOption | None = None
    """None in lists, for other kinds than choices and for families, and if nobody chose one."""
    wrong_beats_right: bool = False
    """Whether a wrong option was chosen more often than any right one."""
    seconds: float | None = None
    """Median of the seconds from the post to the answer; None for open questions."""
    reports: int = 0
    rated: int = 0
    """Members who said whether they found the current version good."""
    liked: int = 0
    """Those of them who did."""
    finding: ItemFinding | None = None


class ItemList(Model):
    """The questions with one finding, most extreme first."""

    finding: ItemFinding
    items: tuple[ItemStatistics, ...] = ()
    more: int = 0
    """How many more there are."""


class BankStatistics(Model):
    """The questions that need work. Each is in the list of its most serious finding."""

    days: int
    asked: int
    """Questions of rounds that closed in the last `days`."""
    answers: int
    lists: tuple[ItemList, ...] = ()
    never_asked: tuple[str, ...] = ()
    more_never_asked: int = 0
