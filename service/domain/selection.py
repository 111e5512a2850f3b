"""Chooses the question for a slot: pure and seeded by the slot, so the same input gives the same question.

Criteria in order: not in the schedule's memory; for the first question of all, a proved choice of the lowest level; the
topic asked least; not far from the difficulty that brings the latest rounds to about 70% right; the level, then the
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

MOST_HASHED = 500
"""Most equally good questions that are all hashed to choose one. Of more, only those whose ids share an ending are."""

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


@dataclass(frozen=True, slots=True)
class CandidateGroup:
    """Candidates that no rule tells apart: they differ in their ids only."""

    like: Candidate
    """What they have in common, without an id."""
    ids: list[str]


def group_candidates(candidates: Iterable[Candidate]) -> list[CandidateGroup]:
    """Returns the candidates in groups."""
    groups: dict[tuple[object, ...], CandidateGroup] = {}
    for each in candidates:
        rest = (each.kind, each.level, each.topic, each.expected, each.last_asked, each.times_asked, each.proved)
        if rest not in groups:
            groups[rest] = CandidateGroup(replace(each, id=""), [])
        groups[rest].ids.append(each.id)
    return list(groups.values())


def choose_question(
    candidates: Iterable[Candidate], history: Sequence[PastRound], schedule_filter: ScheduleFilter, seed: str, day: date
) -> ChosenQuestion | None:
    """Returns the question for the slot of local date `day`, as `choose_from_groups`."""
    return choose_from_groups(group_candidates(candidates), history, schedule_filter, seed, day)


def choose_from_groups(
    groups: Sequence[CandidateGroup],
    history: Sequence[PastRound],
    schedule_filter: ScheduleFilter,
    seed: str,
    day: date,
) -> ChosenQuestion | None:
    """Returns the question for the slot of local date `day`, or None if no candidate passes `schedule_filter`.

    `history` is the schedule's own, oldest first; the order of `groups` does not matter. If every candidate is in
    memory, repeats the question asked longest ago with the warning `repeat`.
    """
    wanted = [group for group in groups if matches_filter(group.like, schedule_filter)]
    if not wanted:
        return None
    remembered = _remembered_ids(history, schedule_filter, day)
    fresh = [
        CandidateGroup(group.like, left)
        for group in wanted
        if not _is_recent(group.like.last_asked, schedule_filter, day)
        and (left := [id_ for id_ in group.ids if id_ not in remembered] if remembered else group.ids)
    ]
    if not fresh:
        return ChosenQuestion(_asked_longest_ago(wanted, history, seed), ("bank runs low", "repeat"), 0)
    remaining = sum(len(group.ids) for group in fresh) - 1
    best = _pick_best(fresh, _ranking_key(fresh, groups, history, schedule_filter), seed)
    return ChosenQuestion(best, ("bank runs low",) if remaining < schedule_filter.low_at else (), remaining)


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


def _asked_longest_ago(wanted: Sequence[CandidateGroup], history: Sequence[PastRound], seed: str) -> str:
    last = {past.id: (past.day, index) for index, past in enumerate(history)}

    def moment(id_: str, last_asked: date) -> tuple[date, int, int, str]:
        day, place = last.get(id_, (last_asked, -1))
        return max(day, last_asked), place, stable_hash(seed, id_), id_

    return min(moment(id_, group.like.last_asked or date.min) for group in wanted for id_ in group.ids)[-1]


def _ranking_key(
    fresh: Sequence[CandidateGroup],
    groups: Sequence[CandidateGroup],
    history: Sequence[PastRound],
    schedule_filter: ScheduleFilter,
) -> Callable[[Candidate], tuple[object, ...]]:
    """Returns a sort key that puts the best candidates first."""
    topics: dict[str, str] = {}

    def topic(question: Candidate | PastRound) -> str:
        found = topics.get(question.topic)
        if found is None:
            found = topics[question.topic] = topic_group(question.topic, schedule_filter)
        return found

    def cell(question: Candidate | PastRound) -> tuple[str, Level | None]:
        return topic(question), question.level

    by_topic = _count_turns([topic(a) for a in history], {topic(group.like) for group in fresh})
    by_level = _count_turns([a.level for a in history], {group.like.level for group in fresh})
    by_cell = _count_turns([cell(a) for a in history], {cell(group.like) for group in fresh})
    desired = _desired_share(groups, history)

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


def _pick_best(fresh: Sequence[CandidateGroup], key: Callable[[Candidate], tuple[object, ...]], seed: str) -> str:
    """Returns the best candidate's id by the key, breaking ties by the seed."""
    keys = [key(group.like) for group in fresh]
    best = min(keys)
    ties = [id_ for group, its in zip(fresh, keys, strict=True) if its == best for id_ in group.ids]
    hash_id = _hash_after(seed)
    if len(ties) > MOST_HASHED:
        ending = min({id_[-2:] for id_ in ties}, key=hash_id)
        ties = [id_ for id_ in ties if id_[-2:] == ending]
    return min((hash_id(id_), id_) for id_ in ties)[1]


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


def _desired_share(groups: Sequence[CandidateGroup], history: Sequence[PastRound]) -> float:
    """Returns the share right that would bring the latest rounds, including this one, to the target."""
    latest = [past.id for past in history[-BALANCED_ROUNDS:]]
    asked = set(latest)
    measured = [group for group in groups if group.like.expected is not None] if asked else []
    shares = {id_: group.like.expected for group in measured for id_ in group.ids if id_ in asked}
    known = [share for id_ in latest if (share := shares.get(id_)) is not None]
    return min(0.95, max(0.4, TARGET_SHARE * (len(known) + 1) - math.fsum(known)))


def stable_hash(*parts: str) -> int:
    """Returns a hash of all parts. Python's own hash differs between processes."""
    return int.from_bytes(hashlib.sha256(b"".join(map(_framed, parts))).digest()[:8])


def _hash_after(first: str) -> Callable[[str], bytes]:
    """Returns a function whose results order second parts as `stable_hash(first, second)` does. It hashes `first` once:
    a tie can be of a whole bank."""
    begun = hashlib.sha256(_framed(first))

    def hash_second(second: str) -> bytes:
        whole = begun.copy()
        whole.update(f"{len(second)}:{second}".encode("utf-8", "surrogatepass"))
        return whole.digest()

    return hash_second


def _framed(part: str) -> bytes:
    return f"{len(part)}:{part}".encode("utf-8", "surrogatepass")
