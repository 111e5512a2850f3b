"""Chooses the question for a slot: pure and seeded by the slot, so the same input gives the same question.

Criteria in order: not in the schedule's memory; for the first question of all, a proved choice of the lowest level; the
topic asked least; not far from the difficulty that brings the latest rounds to about 70 % right; the level, then the
pair asked least; as close as possible to that difficulty; asked least often; the seed.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Literal, TypeVar

from questions.model import LEVELS, Kind, Level

ChoiceWarning = Literal["bank runs low", "repeat"]

TARGET_SHARE = 0.7
"""Share of right answers that rounds aim for."""
TOLERATED_MISS = 0.1
"""How far from the desired share the question of the level whose turn it is may be."""
BALANCED_ROUNDS = 6
"""Number of latest rounds whose difficulty the next one balances."""

EXPECTED_SHARES: dict[Level | None, float] = {"mid": 0.75, "senior": 0.65, "principal": 0.55, None: TARGET_SHARE}
"""Share right to expect of a level before there are answers."""

Group = TypeVar("Group", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question of the bank that may be asked."""

    id: str
    kind: Kind
    level: Level | None
    topic: str
    """A path, such as `tensors/memory`."""
    expected: float | None = None
    """Share right to expect of those who answer, 0 to 1; None if only its level is known."""
    last_asked: date | None = None
    """Date in this schedule; the history may not reach back that far."""
    times_asked: int = 0
    proved: bool = False
    """Whether a program proves its key."""


@dataclass(frozen=True, slots=True)
class PastRound:
    """A past round of the schedule."""

    id: str
    day: date
    topic: str
    level: Level | None


@dataclass(frozen=True, slots=True)
class ScheduleFilter:
    """Which questions a schedule asks. Empty `topics`, `levels` or `kinds` mean any."""

    topics: tuple[str, ...] = ()
    """Paths. Each includes everything below it and is one topic for balancing."""
    levels: tuple[Level, ...] = ()
    kinds: tuple[Kind, ...] = ()
    memory_days: int = 365
    """Days within which no question is repeated; 0 for none."""
    memory_rounds: int = 0
    """Latest rounds whose questions are not repeated either; 0 for none."""
    low_at: int = 10
    """Warn if fewer questions than this remain."""


@dataclass(frozen=True, slots=True)
class ChosenQuestion:
    """The chosen question."""

    id: str
    warnings: tuple[ChoiceWarning, ...]
    remaining: int
    """Questions left after this one before the schedule repeats itself."""


def choose_question(
    candidates: Sequence[Candidate], history: Sequence[PastRound], schedule_filter: ScheduleFilter, seed: str, day: date
) -> ChosenQuestion | None:
    """Returns the question for the slot of local date `day`, or None if no candidate passes `schedule_filter`.

    `history` is the schedule's own, oldest first; the order of `candidates` does not matter. If every candidate is in
    memory, repeats the question asked longest ago with the warning `repeat`.
    """
    wanted = [candidate for candidate in candidates if matches_filter(candidate, schedule_filter)]
    if not wanted:
        return None
    remembered = _remembered_ids(history, schedule_filter, day)
    fresh = [c for c in wanted if c.id not in remembered and not _is_recent(c.last_asked, schedule_filter, day)]
    if not fresh:
        return ChosenQuestion(_asked_longest_ago(wanted, history, seed).id, ("bank runs low", "repeat"), 0)
    remaining = len({candidate.id for candidate in fresh}) - 1
    best = _pick_best(fresh, _ranking_key(fresh, candidates, history, schedule_filter), seed)
    return ChosenQuestion(best.id, ("bank runs low",) if remaining < schedule_filter.low_at else (), remaining)


def with_history(candidates: Iterable[Candidate], history: Sequence[PastRound]) -> list[Candidate]:
    """Returns the candidates with when and how often the schedule of `history` asked each."""
    times = Counter(past.id for past in history)
    last = {past.id: past.day for past in sorted(history, key=lambda past: past.day)}
    return [replace(each, last_asked=last.get(each.id), times_asked=times[each.id]) for each in candidates]


def plan_ahead(
    candidates: Sequence[Candidate],
    history: Sequence[PastRound],
    schedule_filter: ScheduleFilter,
    slots: Iterable[tuple[str, date]],
) -> dict[date, Candidate]:
    """Returns the question for each of the next slots, by local date, if nothing changes until then.

    `slots` are seeds and dates, oldest first. A slot without a fitting question is left out.
    """
    by_id = {candidate.id: candidate for candidate in with_history(candidates, history)}
    past, planned = list(history), dict[date, Candidate]()
    for seed, day in slots:
        choice = choose_question(tuple(by_id.values()), past, schedule_filter, seed, day)
        if choice is None:
            continue
        chosen = planned[day] = by_id[choice.id]
        by_id[choice.id] = replace(chosen, last_asked=day, times_asked=chosen.times_asked + 1)
        past.append(PastRound(chosen.id, day, chosen.topic, chosen.level))
    return planned


def shuffle_options(option_ids: Iterable[str], member_key: str, round_key: str) -> list[str]:
    """Shuffles the options for this member and round, always in the same order."""
    return sorted(option_ids, key=lambda option: (stable_hash(round_key, member_key, option), option))


def matches_filter(candidate: Candidate, schedule_filter: ScheduleFilter) -> bool:
    """Tests whether the filter lets the question be asked."""
    return (
        (not schedule_filter.kinds or candidate.kind in schedule_filter.kinds)
        and (not schedule_filter.levels or candidate.level in schedule_filter.levels)
        and (not schedule_filter.topics or any(_is_below(candidate.topic, topic) for topic in schedule_filter.topics))
    )


def _is_below(topic: str, above: str) -> bool:
    return topic == above or topic.startswith(above.rstrip("/") + "/")


def _remembered_ids(history: Sequence[PastRound], schedule_filter: ScheduleFilter, day: date) -> set[str]:
    latest = history[-schedule_filter.memory_rounds :] if schedule_filter.memory_rounds else ()
    return {past.id for past in latest} | {past.id for past in history if _is_recent(past.day, schedule_filter, day)}


def _is_recent(last_asked: date | None, schedule_filter: ScheduleFilter, day: date) -> bool:
    return last_asked is not None and day - last_asked < timedelta(days=schedule_filter.memory_days)


def _asked_longest_ago(wanted: Sequence[Candidate], history: Sequence[PastRound], seed: str) -> Candidate:
    last = {past.id: (past.day, index) for index, past in enumerate(history)}

    def moment(candidate: Candidate) -> tuple[date, int, int, str]:
        day, place = last.get(candidate.id, (candidate.last_asked or date.min, -1))
        return max(day, candidate.last_asked or date.min), place, stable_hash(seed, candidate.id), candidate.id

    return min(wanted, key=moment)


def _ranking_key(
    fresh: Sequence[Candidate],
    candidates: Sequence[Candidate],
    history: Sequence[PastRound],
    schedule_filter: ScheduleFilter,
) -> Callable[[Candidate], tuple[object, ...]]:
    """Returns a sort key that puts the best candidates first."""

    def topic(question: Candidate | PastRound) -> str:
        return topic_group(question.topic, schedule_filter)

    def cell(question: Candidate | PastRound) -> tuple[str, Level | None]:
        return topic(question), question.level

    by_topic = _count_turns([topic(a) for a in history], {topic(c) for c in fresh})
    by_level = _count_turns([a.level for a in history], {c.level for c in fresh})
    by_cell = _count_turns([cell(a) for a in history], {cell(c) for c in fresh})
    desired = _desired_share(candidates, history)

    def key(candidate: Candidate) -> tuple[object, ...]:
        return (
            () if history else _uninviting(candidate),
            by_topic[topic(candidate)],
            _far_off(candidate, desired),
            by_level[candidate.level],
            by_cell[cell(candidate)],
            # To a tenth: a measured share is no more exact, and the seed needs ties to choose from.
            round(abs(_expected_share(candidate) - desired), 1),
            candidate.times_asked,
        )

    return key


def _uninviting(candidate: Candidate) -> tuple[bool, bool, bool]:
    """Ranks candidates for a team's first question, which everyone should dare to answer: False is better."""
    return candidate.kind != "choice", candidate.level != LEVELS[0], not candidate.proved


def _pick_best(fresh: Sequence[Candidate], key: Callable[[Candidate], tuple[object, ...]], seed: str) -> Candidate:
    """Returns the best candidate by the key, breaking ties by the seed."""
    keys = [key(candidate) for candidate in fresh]
    best = min(keys)
    ties = [candidate for candidate, its in zip(fresh, keys, strict=True) if its == best]
    return min(ties, key=lambda candidate: (stable_hash(seed, candidate.id), candidate.id))


def topic_group(topic: str, schedule_filter: ScheduleFilter) -> str:
    """Returns the group of a topic for balancing: the closest topic of the filter, or else the first step of its
    path."""
    asked_for = [topic_filter for topic_filter in schedule_filter.topics if _is_below(topic, topic_filter)]
    return max(asked_for, key=len) if asked_for else topic.partition("/")[0]


def _count_turns(past: Sequence[Group], groups: set[Group]) -> dict[Group, int]:
    """Counts how often each of `groups` was asked.

    No group falls more than one turn behind: a topic that is added late, or returns, is next once and then takes
    turns.
    """
    turns = dict.fromkeys(groups, 0)
    for group in past:
        if group in turns:
            turns[group] += 1
            floor = turns[group] - 1
            turns.update({other: floor for other, count in turns.items() if count < floor})
    return turns


def _expected_share(candidate: Candidate) -> float:
    return EXPECTED_SHARES[candidate.level] if candidate.expected is None else candidate.expected


def _far_off(candidate: Candidate, desired: float) -> int:
    """Returns by how many tenths a measured question misses the desired share beyond what is tolerated: a team that is
    too weak or too strong for a level gets it less often than the others."""
    if candidate.expected is None:
        return 0
    return math.ceil(max(0.0, abs(candidate.expected - desired) - TOLERATED_MISS) * 10)


def _desired_share(candidates: Sequence[Candidate], history: Sequence[PastRound]) -> float:
    """Returns the share right that would bring the latest rounds, including this one, to the target."""
    shares = {candidate.id: candidate.expected for candidate in candidates}
    latest = [shares.get(past.id) for past in history[-BALANCED_ROUNDS:]]
    known = [share for share in latest if share is not None]
    return min(0.95, max(0.4, TARGET_SHARE * (len(known) + 1) - math.fsum(known)))


def stable_hash(*parts: str) -> int:
    """Returns a hash of all parts. Python's own hash differs between processes."""
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8])
