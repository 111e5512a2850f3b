"""Scoring rules: from an answer to its credit, and from a credit to points.

A code answer's credit comes from the cases that the sandbox judged, and an open answer's from people; every other kind
is judged here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from questions.model import LEVELS, Kind, Level, Question
from service.domain.answer_matching import UnreadableValue, matches_value, parse_value, undo_smart_text
from service.wire import AnswerInput, AnswerUnreadable, Confidence, Verdict

_BASE: Mapping[Level, int] = MappingProxyType({"mid": 10, "senior": 15, "principal": 20})
# Certainty-based marking (Gardner-Medwin), less the point that it gives to every right answer. Honesty pays best: a
# guess up to two chances in three, "sure" from four in five.
_CONFIDENCE: Mapping[Confidence, tuple[int, int]] = MappingProxyType(
    {"guess": (0, 0), "think": (1, -2), "sure": (2, -6)}
)


@dataclass(frozen=True, slots=True)
class ScoringPolicy:
    """The numbers that determine points, as printed by `/quiz rules`.

    Raises ValueError for numbers that make no sense, such as a base of 0.
    """

    base: Mapping[Level, int] = field(default_factory=lambda: _BASE)
    base_without_level: int = 10
    """Base of a question without a level."""
    aim: float = 0.7
    """Share right at which a question scores exactly its base."""
    span: float = 0.5
    """Share of the base that is added at a share right of 0 instead of 1."""
    speed_bonus: bool = False
    speed_window_s: float = 600.0
    """Seconds after the post in which the speed bonus falls evenly to zero."""
    thinking_s: float = 15.0
    """Seconds after the post in which every answer earns the whole bonus, so that guessing at once gains nothing."""
    speed_share: float = 0.2
    """Bonus for an immediate answer, as a share of the points without it."""
    speed_kinds: frozenset[Kind] = frozenset({"choice", "value", "output"})
    """Kinds with a bonus: writing code or prose is not a race."""
    confidence: Mapping[Confidence, tuple[int, int]] = field(default_factory=lambda: _CONFIDENCE)
    """Points added to a right and to a wrong answer, by how sure the member was."""
    hint_cost: int = 3
    """Points that a hint costs, out of those that the answer earns."""
    participation: float = 0.5
    """Share of an open question's points that every answer earns. Confirmed credit earns the rest."""

    def __post_init__(self) -> None:
        shares = (self.aim, self.span, self.speed_share, self.participation)
        if min(self.base_without_level, *self.base.values()) < 1 or not all(0 <= share <= 1 for share in shares):
            raise ValueError("scoring policy: a base must be 1 or more, and every share lie between 0 and 1")
        if any(right < 0 or wrong > 0 for right, wrong in self.confidence.values()):
            raise ValueError("scoring policy: confidence must not cost a right answer or pay for a wrong one")
        if self.hint_cost < 0:
            raise ValueError("scoring policy: a hint must not pay")
        if not self.speed_window_s > 0:
            raise ValueError(f"scoring policy: a speed window of {self.speed_window_s} s; it must be above 0")


@dataclass(frozen=True, slots=True)
class Points:
    """Points for one answer, without those for confidence. `total` is `base` + `bonus`, never negative."""

    base: int
    bonus: int

    @property
    def total(self) -> int:
        return self.base + self.bonus


@dataclass(frozen=True, slots=True)
class Credit:
    """How much of an answer is right."""

    share: float | None
    """0 to 1. None for an `open` answer: no program decides how much of it is right."""
    verdict: Verdict
    """`accepted` for a share of 1; a partly right answer is `wrong` with its share."""
    problem: AnswerUnreadable | None = None
    """Why the answer is `invalid`."""
    cause: str = ""
    """Why the question is a `system error`, for operators."""
    passed: int = 0
    """Right options chosen, or cases passed."""
    total: int = 0
    """Total of right options or cases."""


@dataclass(frozen=True, slots=True)
class ScoringRules:
    """The numbers shown by `/quiz rules`, taken from the policy in use."""

    base: dict[str, int]
    """By level."""
    base_without_level: int
    aim: float
    points_by_level: tuple[tuple[Level, tuple[int, ...]], ...]
    """For each level, the points of a fully right answer at each of `shares_right`."""
    shares_right: tuple[float, ...]
    """Shares right of all answers."""
    speed_bonus: bool
    speed_window_s: float
    thinking_s: float
    speed_share: float
    speed_kinds: tuple[Kind, ...]
    max_bonus: dict[str, int]
    """For each level, the bonus of an immediate answer to a question that scores its base."""
    confidence: dict[Confidence, tuple[int, int]]
    """Points added to a right and to a wrong answer, by how sure the member was."""
    hint_cost: int
    """Points that a hint costs."""
    participation: float
    """Share of an open question's points that every answer earns."""
    free: tuple[Verdict, ...] = ("system error",)
    """Verdicts that cost nothing."""


def compute_points(
    kind: Kind,
    level: Level | None,
    difficulty: float | None,
    credit: float | None,
    seconds: float | None,
    policy: ScoringPolicy = ScoringPolicy(),
) -> Points:
    """Returns the points of an answer with `credit` (0 to 1), given `seconds` after the post.

    `difficulty` is the measured share of right answers, or None without answers. Only full credit earns a bonus. An
    open answer without confirmed credit (None) earns the points of participation. Raises ValueError for a credit or
    difficulty outside 0 to 1, and for None of another kind.
    """
    full = _full_points(level, difficulty, policy)
    if kind == "open":
        least = _round_half_up(full * policy.participation)
        if credit is None:
            return Points(least, 0)
        _check_share("credit", credit)
        return Points(least + _round_half_up((full - least) * credit), 0)
    if credit is None:
        raise ValueError(f"points: a {kind} answer without a credit")
    _check_share("credit", credit)
    earned = _round_half_up(full * credit)
    if seconds is None or credit < 1 or kind not in policy.speed_kinds:
        return Points(earned, 0)
    return Points(earned, _bonus(full, seconds, policy))


def confidence_points(credit: float, confidence: Confidence | None, policy: ScoringPolicy = ScoringPolicy()) -> int:
    """Returns what a member's confidence in an answer with `credit` (0 to 1) earns, or costs. 0 if they said nothing.

    A partly right answer lies between right and wrong. Raises ValueError for a credit outside 0 to 1.
    """
    _check_share("credit", credit)
    if confidence is None:
        return 0
    right, wrong = policy.confidence[confidence]
    return _round_half_up(wrong + (right - wrong) * credit)


def hint_points(earned: int, policy: ScoringPolicy = ScoringPolicy()) -> int:
    """Returns what a hint costs an answer that earned `earned` points without a bonus: never more than it earned."""
    return -min(policy.hint_cost, max(0, earned))


def compute_credit(question: Question, answer: AnswerInput) -> Credit:
    """Grades an answer. An unreadable answer is `invalid`, never an exception; a question with an unreadable key is a
    `system error`. Raises ValueError for a `code` question."""
    match question.kind:
        case "choice":
            return _choice_credit(question, frozenset(answer.options or ()))
        case "value":
            return _value_credit(question, answer.text or "")
        case "output":
            return _output_credit(question, answer.text or "")
        case "open":
            return _open_credit(answer.text or "")
    raise ValueError(f"question {question.id}: code is judged by its cases; use credit_for_cases")


def credit_for_cases(passed: int, total: int, failure: Verdict = "wrong") -> Credit:
    """Returns the credit of a `code` answer that passed `passed` of `total` cases and otherwise failed with `failure`.

    A `system error` or an `invalid` answer earns nothing, even if cases passed before.
    """
    if total < 1 or not 0 <= passed <= total:
        return Credit(0.0, "system error", cause="no case was judged")
    if failure in ("system error", "invalid"):
        return Credit(0.0, failure, passed=passed, total=total)
    if passed == total:
        return Credit(1.0, "accepted", passed=passed, total=total)
    return Credit(passed / total, failure, passed=passed, total=total)


def describe_rules(policy: ScoringPolicy = ScoringPolicy()) -> ScoringRules:
    """Returns the numbers of `policy` that members are shown."""
    shares = (1.0, policy.aim, 0.4, 0.1)
    points_by_level = tuple((level, tuple(_full_points(level, share, policy) for share in shares)) for level in LEVELS)
    return ScoringRules(
        base={level: policy.base[level] for level in LEVELS},
        base_without_level=policy.base_without_level,
        aim=policy.aim,
        points_by_level=points_by_level,
        shares_right=shares,
        speed_bonus=policy.speed_bonus,
        speed_window_s=policy.speed_window_s,
        thinking_s=policy.thinking_s,
        speed_share=policy.speed_share,
        speed_kinds=tuple(sorted(policy.speed_kinds)),
        confidence=dict(policy.confidence),
        hint_cost=policy.hint_cost,
        participation=policy.participation,
        max_bonus={level: _bonus(policy.base[level], 0.0, policy) for level in LEVELS},
    )


def _full_points(level: Level | None, difficulty: float | None, policy: ScoringPolicy) -> int:
    base = policy.base[level] if level else policy.base_without_level
    if difficulty is None:
        return base
    _check_share("difficulty", difficulty)
    return max(1, base + _round_half_up(base * policy.span * (policy.aim - difficulty)))


def _bonus(full: int, seconds: float, policy: ScoringPolicy) -> int:
    if not policy.speed_bonus:
        return 0
    thinking = min(policy.thinking_s, policy.speed_window_s / 2)
    left = 1 - max(seconds - thinking, 0.0) / (policy.speed_window_s - thinking)
    return _round_half_up(full * policy.speed_share * max(left, 0.0))


def _check_share(name: str, share: float) -> None:
    if math.isnan(share) or not 0 <= share <= 1:
        raise ValueError(f"points: a {name} of {share}; it is a share and lies between 0 and 1")


def _round_half_up(number: float) -> int:
    """Rounds to the nearest integer, halves up. People check points by hand, where 10 * 0.5 * 0.3 is exactly 1.5."""
    return math.floor(round(number, 9) + 0.5)


def _choice_credit(question: Question, chosen: frozenset[str]) -> Credit:
    right = {option.id for option in question.options if option.right}
    if not right:
        return _unscorable(question, "none of its options is marked right")
    if not chosen:
        return Credit(0.0, "invalid", AnswerUnreadable(problem="no option"), total=len(right))
    if unknown := sorted(chosen - {option.id for option in question.options}):
        return Credit(
            0.0,
            "invalid",
            AnswerUnreadable(problem="unknown option", text=", ".join(unknown)),
            total=len(right),
        )
    hits = len(chosen & right)
    share = max(0, hits - len(chosen - right)) / len(right)
    return Credit(share, _verdict_for(share), passed=hits, total=len(right))


def _value_credit(question: Question, text: str) -> Credit:
    try:
        key = parse_value(question.answer or "")
    except UnreadableValue as error:
        return _unscorable(question, f"its key cannot be read: {error}")
    try:
        share = float(matches_value(key, text))
    except UnreadableValue as error:
        return Credit(0.0, "invalid", error.refusal, total=1)
    return Credit(share, _verdict_for(share), passed=int(share), total=1)


def _output_credit(question: Question, text: str) -> Credit:
    if question.answer is None:
        return _unscorable(question, "it has no key")
    key = _normalize_output(question.answer)
    if key and not text.strip():
        return Credit(0.0, "invalid", AnswerUnreadable(problem="no output"), total=1)
    share = float(key in (_normalize_output(text), _normalize_output(undo_smart_text(text))))
    return Credit(share, _verdict_for(share), passed=int(share), total=1)


def _open_credit(text: str) -> Credit:
    if not text.strip():
        return Credit(None, "invalid", AnswerUnreadable(problem="no text"))
    return Credit(None, "awaits marking")


def _normalize_output(text: str) -> str:
    """Normalizes line ends and removes trailing blanks and blank lines."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(line.rstrip() for line in lines).rstrip("\n")


def _verdict_for(share: float) -> Verdict:
    return "accepted" if share == 1 else "wrong"


def _unscorable(question: Question, cause: str) -> Credit:
    return Credit(0.0, "system error", cause=f"question {question.id} cannot be scored: {cause}")
