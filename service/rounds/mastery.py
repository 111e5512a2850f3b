"""What members and teams know, topic by topic, from first answers and calibrated difficulties.

A member's mastery is shown to that member only; a team's has no names, and needs several members.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncSession

from service.deferred import load_module
from service.domain.difficulty import Difficulty, Scale
from service.domain.topics import area_of
from service.rounds.calibration import MAX_ANSWERS, PERIOD
from service.store import calibrations
from service.store.members import Caller
from service.wire import TopicMastery, TopicsKnown

if TYPE_CHECKING:
    from service.domain.mastery import Mastery

LEAST_MEMBERS = 3
"""Members needed for a team's mastery: fewer would reveal how one member does."""
LEAST_QUESTIONS = 2
"""Questions of a topic that must be asked before a team's mastery is shown."""


async def estimate_member(
    session: AsyncSession, caller: Caller, now: datetime
) -> tuple[tuple[Mastery, ...], Sequence[float] | None]:
    """Returns what the caller knows of each topic that they answered in the last year, weakest first; and how able
    they are, as an audience of one, if they answered anything."""
    since, own = now - PERIOD, caller.member_id
    answers = await calibrations.list_first_answers(session, caller.workspace_id, since, MAX_ANSWERS, own)
    if not answers:
        return (), None
    await load_module("service.domain.mastery")
    from service.domain.mastery import TopicAnswer, estimate_topics, weigh_ability

    calibration = await calibrations.find(session, caller.workspace_id)
    scale = calibration.scale if calibration else Scale()
    known = await calibrations.list_difficulties(session, caller.workspace_id)
    found = [
        TopicAnswer(
            area_of(one.topic),
            known[one.question_id, one.version][0]
            if (one.question_id, one.version) in known
            else scale.predict(one.level, one.topic),
            one.credit,
        )
        for one in answers
    ]
    return estimate_topics(found, scale.spread), weigh_ability(found, scale.spread).tolist()


async def view_member(session: AsyncSession, caller: Caller, now: datetime) -> tuple[TopicMastery, ...]:
    """Returns what the caller knows of each topic, as they see it."""
    topics, _ = await estimate_member(session, caller, now)
    return tuple(_view(one) for one in topics)


async def view_topics(session: AsyncSession, caller: Caller, now: datetime) -> TopicsKnown:
    """Returns what the caller knows, and what the team knows."""
    team = await view_team(session, caller.workspace_id)
    return TopicsKnown(mine=await view_member(session, caller, now), team=tuple(team.values()))


async def view_team(session: AsyncSession, workspace_id: int) -> dict[str, TopicMastery]:
    """Returns what the average member would get right of each topic; empty for teams that are too small."""
    calibration = await calibrations.find(session, workspace_id)
    if calibration is None or calibration.members < LEAST_MEMBERS:
        return {}
    await load_module("service.domain.mastery")
    from service.domain.mastery import Mastery, estimate_team

    topics: dict[str, list[tuple[Difficulty, int]]] = defaultdict(list)
    for topic, difficulty, answers in await calibrations.list_topic_difficulties(session, workspace_id, LEAST_MEMBERS):
        topics[area_of(topic)].append((difficulty, answers))
    found = {}
    for topic, items in topics.items():
        middle, low, high = estimate_team(calibration.scale, topic, [difficulty for difficulty, _ in items])
        mastery = Mastery(topic, sum(answers for _, answers in items), middle, middle, low, high)
        if len(items) >= LEAST_QUESTIONS and mastery.is_known:
            found[topic] = _view(mastery)
    return found


def _view(one: Mastery) -> TopicMastery:
    known = one.is_known
    return TopicMastery(
        topic=one.topic,
        answers=one.answers,
        right=one.right,
        low=one.low if known else None,
        high=one.high if known else None,
    )
