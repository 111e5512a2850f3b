"""A member's own view: totals, history and rules; and corrections that admins make for one member.

In the history, whether an answer was right is shown for closed rounds only, and they are not listed while their
question is asked again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.calendar import DEFAULT_CATCH_UP, get_zone
from service.domain.item_statistics import wilson_interval
from service.domain.scoring import describe_rules
from service.domain.sprints import SprintPolicy
from service.domain.standings import FreezePolicy, first_week, weekly_totals
from service.errors import Refused
from service.rounds import mastery
from service.rounds.board_keys import open_board, open_season_board
from service.rounds.leaderboard import load_best_streaks
from service.rounds.views import build_question_view
from service.store import (
    answers,
    boards,
    cards,
    ledger,
    markings,
    members,
    questions,
    rounds,
    schedules,
)
from service.store import privacy as store_privacy
from service.store.ledger import Adjustment
from service.store.members import Caller
from service.store.rounds import AskedRound
from service.store.tables import Member
from service.wire import (
    AnswerInput,
    ConfidenceShare,
    DayAnswers,
    History,
    Me,
    MemberPage,
    NoRoundOn,
    PastRound,
    PointsOutOfRange,
    QuestionRef,
    RankChange,
    Rules,
    TextNeeded,
)


async def me(session: AsyncSession, caller: Caller, now: datetime) -> Me:
    """Returns the caller's all-time totals. `rank` is None for hidden members and for members without points."""
    member = await members.get_member(session, caller.member_id)
    board_id = await open_board(session, caller.workspace_id, None, "all", now)
    standing = await boards.get_standing(session, board_id, caller.member_id)
    mine, season_points = standing.sums, 0
    season_id = await open_season_board(session, caller.workspace_id, now)
    if season_id is not None:
        season_points = (await boards.get_sums(session, season_id, caller.member_id)).points
    running = await rounds.list_streak_schedules(session, caller.workspace_id)
    streak = (await load_best_streaks(session, running, [caller.member_id]))[caller.member_id]
    total, due = await cards.count_cards(session, caller, now)
    return Me(
        name=member.name,
        hidden=member.hidden,
        points=mine.points,
        season_points=season_points,
        rank=standing.rank,
        ranked=standing.ranked,
        answered=mine.answered,
        accuracy=mine.accuracy,
        streak=streak.current,
        best_streak=streak.best,
        freezes=streak.freezes_left,
        cards=total,
        cards_due=due,
        topics=await mastery.view_member(session, caller, now),
        weeks=await _weeks(session, caller, now),
        calibration=await _calibration(session, caller),
    )


async def _calibration(session: AsyncSession, caller: Caller) -> tuple[ConfidenceShare, ...]:
    found = []
    for confidence, answered, right in await ledger.sum_by_confidence(session, caller.member_id):
        range_ = wilson_interval(right, answered)
        found.append(ConfidenceShare(said=confidence, answers=answered, right=right, low=range_.low, high=range_.high))
    return tuple(found)


async def _weeks(session: AsyncSession, caller: Caller, now: datetime) -> tuple[tuple[date, int, int, float], ...]:
    zone = await schedules.get_zone(session, caller.workspace_id)
    # One more day, because Monday starts in some zones while it is still Sunday in UTC.
    since = datetime.combine(first_week(now, zone), time.min, UTC) - timedelta(days=1)
    return weekly_totals(await ledger.list_entries(session, caller.member_id, since), now, zone)


def rules() -> Rules:
    """Returns the numbers that scoring, streaks and sprints use."""
    scoring, freezes, sprint = describe_rules(), FreezePolicy(), SprintPolicy()
    return Rules(
        base={**scoring.base, "no level": scoring.base_without_level},
        speed_bonus=scoring.speed_bonus,
        speed_share=scoring.speed_share,
        speed_window_s=scoring.speed_window_s,
        thinking_s=scoring.thinking_s,
        confidence=scoring.confidence,
        hint_cost=scoring.hint_cost,
        participation=scoring.participation,
        freeze_cap=freezes.cap,
        freeze_every=freezes.earn_every,
        catch_up_minutes=int(DEFAULT_CATCH_UP.total_seconds() // 60),
        sprint_right=sprint.right,
        sprint_speed=sprint.speed,
        sprint_thinking_s=sprint.thinking_s,
    )


# Members as admins see them, and corrections by admins.

PAGE = 25
"""Members on a page."""


async def list_page(
    session: AsyncSession, caller: Caller, text: str, page: int, member_id: int | None = None
) -> MemberPage:
    """Returns a page of the workspace's members, the most active first; with an id, only that member."""
    found, total = await members.list_member_rows(session, caller.workspace_id, text, page, PAGE, member_id)
    return MemberPage(members=tuple(found), total=total, page=page, size=PAGE)


async def hide(session: AsyncSession, caller: Caller, member: Member, hidden: bool) -> None:
    """Leaves a member out of the boards, or shows them again."""
    await store_privacy.set_hidden(session, member.id, hidden)


MOST_POINTS = 1_000_000
"""Most points that one adjustment may add or take."""


async def restore_streak(session: AsyncSession, caller: Caller, member: Member, day: date) -> None:
    """Excuses the member from the rounds of `day`, so that they break no streak. Refused for a day without rounds."""
    rounds = await members.list_rounds_on(session, caller.workspace_id, day)
    if not rounds:
        raise Refused(NoRoundOn(day=day))
    await members.add_streak_graces(session, member.id, rounds)


async def adjust_points(session: AsyncSession, caller: Caller, member: Member, wanted: Adjustment) -> None:
    """Adds points to the member's ledger, or takes them. Refused without a reason or beyond MOST_POINTS."""
    reason, points = wanted.reason.strip(), wanted.points
    if not reason:
        raise Refused(TextNeeded(what="reason of an adjustment"))
    if not 0 < abs(points) <= MOST_POINTS:
        raise Refused(PointsOutOfRange(points=points, most=MOST_POINTS))
    ledger.add_adjustment(session, caller, member.id, replace(wanted, reason=reason))
    await session.flush()


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
