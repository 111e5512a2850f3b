"""Rules of sprints: which questions are asked, points for speed, and the order of the standings. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from questions.model import Kind
from service.domain.selection import Candidate, ScheduleFilter, matches_filter, stable_hash, topic_group

KINDS: tuple[Kind, ...] = ("choice", "value")
"""Kinds that can be read and answered within seconds."""


@dataclass(frozen=True, slots=True)
class SprintPolicy:
    """The numbers that determine points in a sprint, as printed by `/quiz rules`."""

    right: int = 50
    """Points of a right answer at the last moment."""
    speed: int = 50
    """Points that a fast right answer earns in addition."""
    thinking_s: float = 3.0
    """Time within which speed earns all of them, at most a quarter of the question's: a guess gains nothing over
    reading."""


@dataclass(frozen=True, slots=True)
class SprintScore:
    """A member's sums over a sprint."""

    member_id: int
    name: str
    points: int
    right: int
    """Fully right answers."""
    ms: int
    """Total answering time, milliseconds."""


def pick_questions(
    candidates: Sequence[Candidate],
    count: int,
    seed: str,
    topic: str = "",
    times_asked: Mapping[str, int] | None = None,
    avoided: Collection[str] = (),
) -> list[str]:
    """Returns the ids of up to `count` questions: the same for the same seed, in any order of the candidates.

    Takes those first that sprints of the channel asked least (`times_asked`, by id), and from different topics.
    `avoided` ids are only taken when nothing else is left.
    """
    asked = times_asked or {}
    wanted = ScheduleFilter(topics=(topic,) if topic else (), kinds=KINDS)
    left = {candidate.id: candidate for candidate in candidates if matches_filter(candidate, wanted)}
    turns: Counter[str] = Counter()
    picked: list[str] = []
    while left and len(picked) < count:
        best = min(
            left.values(),
            key=lambda candidate: (
                candidate.id in avoided,
                asked.get(candidate.id, 0),
                turns[topic_group(candidate.topic, wanted)],
                stable_hash(seed, candidate.id),
                candidate.id,
            ),
        )
        del left[best.id]
        turns[topic_group(best.topic, wanted)] += 1
        picked.append(best.id)
    return picked


def sprint_points(credit: float, ms: int, seconds: int, policy: SprintPolicy = SprintPolicy()) -> int:
    """Returns the points of an answer given `ms` after the start of a question with `seconds` to answer.

    The points for speed fall evenly from the end of the thinking time to zero at the deadline. Only a fully right
    answer earns them.
    """
    if not 0 <= credit <= 1 or seconds <= 0:
        raise ValueError(f"sprint points: a credit of {credit} in {seconds} s")
    if credit < 1:
        return int(policy.right * credit)
    whole = 1000 * seconds
    thinking = min(1000 * policy.thinking_s, whole / 4)
    left = 1 - max(min(ms, whole) - thinking, 0) / (whole - thinking)
    return policy.right + int(policy.speed * left + 0.5)


def rank_scores(scores: Sequence[SprintScore]) -> list[tuple[int, SprintScore]]:
    """Returns the members with points and their ranks, best first.

    Ties are broken by right answers, then by time; otherwise members share a rank.
    """

    def merit(score: SprintScore) -> tuple[int, int, int]:
        return -score.points, -score.right, score.ms

    ranked: list[tuple[int, SprintScore]] = []
    for place, score in enumerate(sorted((s for s in scores if s.points), key=lambda s: (*merit(s), s.member_id)), 1):
        shared = bool(ranked) and merit(ranked[-1][1]) == merit(score)
        ranked.append((ranked[-1][0] if shared else place, score))
    return ranked
