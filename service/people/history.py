"""A member's last weeks: the days on which they answered, and their latest closed rounds.

Whether an answer was right is told of closed rounds only, and they are not listed while their question is asked again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.calendar import get_zone
from service.rounds.views import build_question_view
from service.store import answers, ledger, markings, questions, rounds, schedules
from service.store.members import Caller
from service.store.rounds import AskedRound
from service.wire import AnswerInput, DayAnswers, History, PastRound, QuestionRef, RankChange

WEEKS = 17
"""Number of weeks, including the current one. Nothing older is read."""
LATEST = 8
"""Number of rounds listed with what the member answered."""


@dataclass(frozen=True, slots=True)
class _Posted:
    """What the ledger has for one round."""

    points: int = 0
    credit: float = 0.0


async def view_history(session: AsyncSession, caller: Caller, now: datetime) -> History:
    """Returns the caller's last weeks."""
    zone = await schedules.get_zone(session, caller.workspace_id)
    today = now.astimezone(get_zone(zone)).date()
    since = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    asked = await rounds.list_asked_since(session, caller.workspace_id, caller.member_id, since)
    posted: dict[int, _Posted] = defaultdict(_Posted)
    # One more day, because Monday starts in some zones while it is still Sunday in UTC.
    begin = datetime.combine(since, time.min, UTC) - timedelta(days=1)
    for entry in await ledger.list_entries(session, caller.member_id, begin):
        if entry.round_id is not None:
            before = posted[entry.round_id]
            posted[entry.round_id] = _Posted(before.points + entry.points, before.credit + (entry.credit or 0.0))
    latest = [one for one in reversed(asked) if one.closed and one.answer_id is not None and not one.secret][:LATEST]
    return History(
        since=since,
        until=today,
        days=_days(asked, posted),
        rounds=await _past_rounds(session, caller, latest, posted),
    )


def _days(asked: Sequence[AskedRound], posted: Mapping[int, _Posted]) -> tuple[DayAnswers, ...]:
    """Returns the days with questions of those schedules that the member answered in this time."""
    own = {one.schedule_id for one in asked if one.answer_id is not None}
    days = defaultdict(list)
    for one in asked:
        if one.schedule_id in own and (one.closed or one.answer_id is not None):
            days[one.day].append(one)
    return tuple(
        DayAnswers(
            day=day,
            asked=len(found),
            answered=sum(one.answer_id is not None for one in found),
            right=sum(posted[one.id].credit for one in found if one.closed and one.id in posted),
        )
        for day, found in sorted(days.items())
    )


async def _past_rounds(
    session: AsyncSession, caller: Caller, latest: Sequence[AskedRound], posted: Mapping[int, _Posted]
) -> tuple[PastRound, ...]:
    answer_ids = [one.answer_id for one in latest if one.answer_id is not None]
    given = await answers.list_by_id(session, answer_ids)
    verdicts = await answers.latest_verdicts(session, answer_ids)
    confirmed = await markings.list_credits(session, answer_ids)
    # Where members have variants of their own, an answer knows which.
    versions = await questions.list_versions(session, {answer.version_id for answer in given.values()})
    ranks = await answers.list_own_ranks(session, caller.member_id, [one.id for one in latest])
    found = []
    for one in latest:
        assert one.answer_id is not None, "only answered rounds are listed"
        ref, row = str(QuestionRef("round", one.id)), verdicts.get(one.answer_id)
        verdict = answers.read_verdict(row, confirmed.get(one.answer_id)) if row else None
        before, after, total = ranks.get(one.id, (None, None, 0))
        found.append(
            PastRound(
                ref=ref,
                day=one.day,
                question=build_question_view(versions[given[one.answer_id].version_id], ref, caller.member_id),
                given=AnswerInput.from_stored(given[one.answer_id].given).model_copy(update={"code": None}),
                verdict=verdict.verdict if verdict else None,
                credit=verdict.credit if verdict else None,
                points=posted[one.id].points if one.id in posted else 0,
                rank=RankChange(before=before, after=after, total=total),
            )
        )
    return tuple(found)
