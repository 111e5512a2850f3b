"""A member's own view: totals, history, rules, privacy and export; and corrections that admins make for one member.

In the history, whether an answer was right is told of closed rounds only, and they are not listed while their question
is asked again.
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

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
    duels,
    ledger,
    markings,
    measurements,
    members,
    notifications,
    questions,
    reports,
    rounds,
    schedules,
    sprints,
    suggestions,
    tournaments,
    web_messages,
)
from service.store import privacy as store_privacy
from service.store.ledger import Adjustment
from service.store.members import Caller, list_identities
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
    PrivacyAction,
    PrivacyView,
    QuestionRef,
    RankChange,
    Rules,
    TextNeeded,
)

# Export of a member's data: JSON with everything, or CSV for a spreadsheet.

COLUMNS = (
    "what", "at", "question", "given", "practice", "verdict", "credit", "marks", "shared",
    "points", "reason", "reviews",
)  # fmt: skip
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters that make a spreadsheet read a text as a formula."""


def export_json(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2)


def export_csv(data: dict[str, Any]) -> str:
    """Returns a line per answer, ledger row, measured answer, credit given to others, card, answer in a duel, report,
    suggestion, feedback and message in the web chat, oldest first. A card's state and ratings are only in the JSON."""
    written = io.StringIO()
    lines = csv.DictWriter(written, COLUMNS, restval="", extrasaction="ignore", lineterminator="\r\n")
    lines.writeheader()
    lines.writerows({name: _cell(value) for name, value in line.items()} for line in _lines(data))
    return written.getvalue()


def _lines(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for answer in data["answers"]:
        marks = "; ".join("covered" if covered else "not covered" for covered in answer["marks"] or ())
        yield {**answer, "what": "answer", "given": _given(answer), "marks": marks}
    for answer in data["sprints"]:
        yield {**answer, "what": "sprint answer", "given": _given(answer)}
    for booking in data["points"]:
        yield {**booking, "what": "points"}
    for measured in data["measurements"]:
        runs = (f"{cpu:g} ms, {peak:g} MB" for cpu, peak in zip(measured["cpu_ms"], measured["peak_mb"], strict=True))
        yield {**measured, "what": "measurement", "given": "; ".join(runs)}
    for given in data["credits_given"]:
        yield {**given, "what": "credit given"}
    for card in data["cards"]:
        yield {**card, "what": "card", "at": card["due"]}
    for turn in data["duels"]:
        yield {**turn, "what": "duel", "given": _given(turn)}
    for report in data["reports"]:
        said = {"given": report["text"], "verdict": report["state"], "reason": report["reason"]}
        yield {"what": "report", "at": report["at"], **said}
    for suggestion in data["suggestions"]:
        said = {"given": suggestion["text"], "verdict": suggestion["state"], "reason": suggestion["reason"]}
        yield {"what": "suggestion", "at": suggestion["at"], **said}
    for said in data["feedback"]:
        yield {**said, "what": "feedback", "given": "a good question" if said["liked"] else "not a good question"}
    for message in data["web_messages"]:
        yield {"what": "message", "at": message["at"], "given": message["text"]}


def _given(answer: dict[str, Any]) -> str:
    kept = {name: value for name, value in answer["given"].items() if name not in ("practicing", "cleared")}
    said = "; ".join(_text(value) for value in kept.values() if value is not None)
    return "(deleted after the time for which it is kept)" if answer["given"].get("cleared") else said


def _text(value: Any) -> str:
    return " ".join(value) if isinstance(value, list) else str(value)


def _cell(value: Any) -> Any:
    """Returns the value quoted if a spreadsheet would compute it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


EXPORTS = {"export": export_json, "csv": export_csv}


async def me(session: AsyncSession, caller: Caller, now: datetime) -> Me:
    """Returns the caller's all-time totals. `rank` is None for hidden members and for members without points."""
    member = await members.get_member(session, caller.member_id)
    board_id = await open_board(session, caller.workspace_id, None, "all", now)
    standing = await boards.get_standing(session, board_id, caller.member_id)
    mine, season_points = standing.sums, 0
    season_id = await open_season_board(session, caller.workspace_id, now)
    if season_id is not None:
        season_points = (await boards.get_sums(session, season_id, caller.member_id)).points
    running = await rounds.list_streak_schedules(session, caller.workspace_id, None)
    streak = (await load_best_streaks(session, running, [caller.member_id]))[caller.member_id]
    total, due = await cards.count_cards(session, caller.member_id, now)
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
    for said, answered, right in await ledger.sum_by_confidence(session, caller.member_id):
        range_ = wilson_interval(right, answered)
        found.append(ConfidenceShare(said=said, answers=answered, right=right, low=range_.low, high=range_.high))
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


async def privacy(session: AsyncSession, caller: Caller, action: PrivacyAction, now: datetime) -> PrivacyView:
    """Shows, exports, hides or deletes the caller's data, as `action` says."""
    if action in ("hide", "show"):
        await store_privacy.set_hidden(session, caller.member_id, action == "hide")
    answers, bookings, held = await store_privacy.count_records(session, caller.member_id)
    if action == "forget":
        await store_privacy.forget_member(session, caller, now)
        return PrivacyView(
            name=store_privacy.FORGOTTEN_NAME,
            hidden=True,
            answers=answers,
            ledger_rows=bookings,
            cards=0,
            forgotten=True,
        )
    member = await members.get_member(session, caller.member_id)
    return PrivacyView(
        name=member.name,
        hidden=member.hidden,
        answers=answers,
        ledger_rows=bookings,
        cards=held,
        export=EXPORTS[action](await _kept(session, member)) if action in EXPORTS else "",
        format="csv" if action == "csv" else "json",
    )


async def _kept(session: AsyncSession, member: Member) -> dict[str, Any]:
    return {
        "member": {
            "name": member.name,
            "hidden": member.hidden,
            "joined_at": member.joined_at.isoformat(),
            "identities": [
                {
                    "platform": chat.platform,
                    "workspace": chat.external_id,
                    "id": identity.external_id,
                    "name": identity.name,
                }
                for identity, chat in await list_identities(session, member.id)
            ],
        },
        "answers": await _answers(session, member.id),
        "points": [
            {"points": row.points, "credit": row.credit, "reason": row.reason, "at": row.at.isoformat()}
            for row in await store_privacy.list_ledger(session, member.id)
        ],
        "sprints": [
            {
                "question": key,
                "given": row.given,
                "at": row.at.isoformat(),
                "credit": row.credit,
                "points": row.points,
            }
            for row, key in await sprints.list_member_answers(session, member.id)
        ],
        "measurements": [
            {
                "question": key,
                "at": at.isoformat(),
                "cpu_ms": row.cpu_ms,
                "peak_mb": row.peak_mb,
                "steady": row.steady,
                "shown": row.shown,
            }
            for row, key, at in await measurements.list_of_member(session, member.id)
        ],
        "credits_given": [
            {"question": key, "credit": row.credit, "by_peer": row.by_peer, "at": row.at.isoformat()}
            for row, key in await markings.list_given(session, member.id)
        ],
        "cards": [
            {"question": key, "due": card.due.isoformat(), "reviews": card.reviews, "state": card.state}
            for card, key in await store_privacy.list_cards(session, member.id)
        ],
        "notifications": await _notifications(session, member.id),
        "duels": await _duels(session, member.id),
        "tournaments": [
            {
                "title": title,
                "team": team,
                "joined_at": row.joined_at.isoformat(),
                "from": row.from_day and row.from_day.isoformat(),
                "until": row.until_day and row.until_day.isoformat(),
            }
            for row, title, team in await tournaments.list_of_member(session, member.id)
        ],
        "ratings": [
            {"duel": row.duel_id, "mu": row.mu, "sigma": row.sigma, "at": row.at.isoformat()}
            for row in await duels.list_own_ratings(session, member.id)
        ],
        "reports": [
            {"text": row.text, "state": row.state, "reason": row.reason, "at": row.at.isoformat()}
            for row in await reports.list_by_member(session, member.id)
        ],
        "suggestions": [
            {"text": row.text, "state": row.state, "reason": row.reason, "at": row.at.isoformat()}
            for row in await suggestions.list_by_member(session, member.id)
        ],
        "feedback": [
            {"question": key, "version": row.version, "liked": row.liked, "at": row.at.isoformat()}
            for row, key in await reports.list_feedback_by_member(session, member.id)
        ],
        "web_messages": [
            {"text": json.loads(content), "at": at.isoformat()}
            for content, at in await web_messages.list_written(session, member.id)
        ],
    }


async def _notifications(session: AsyncSession, member_id: int) -> dict[str, bool]:
    setting = await notifications.get_setting(session, member_id)
    return {"reminders": setting.reminders, "results": setting.results} if setting else {}


async def _duels(session: AsyncSession, member_id: int) -> list[dict[str, Any]]:
    return [
        {
            "duel": duel.id,
            "question": key,
            "given": turn.given or {},
            "at": turn.shown_at.isoformat(),
            "seconds": (turn.answered_at - turn.shown_at).total_seconds() if turn.answered_at else None,
            # What is right stays secret until the end.
            "verdict": ("accepted" if turn.correct else "wrong") if duel.state == "over" else None,
        }
        for duel, turn, key in await duels.list_own_turns(session, member_id)
    ]


async def _answers(session: AsyncSession, member_id: int) -> list[dict[str, Any]]:
    found = await store_privacy.list_answers(session, member_id)
    written = {answer.id for answer, _, _ in found}
    marks, shared = await markings.list_marks(session, written), await markings.list_shared(session, written)
    confirmed = await markings.list_credits(session, written)
    return [
        {
            "question": key,
            "given": answer.given,
            "practice": answer.round_id is None,
            "at": answer.at.isoformat(),
            "verdict": verdict and verdict.verdict,
            "credit": confirmed.get(answer.id) if verdict is None or verdict.credit is None else verdict.credit,
            "marks": marks.get(answer.id),
            "shared": answer.id in shared,
        }
        for answer, key, verdict in found
    ]


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


async def note_role(session: AsyncSession, caller: Caller, member: Member) -> None:
    """Does nothing itself: the chat keeps who is an admin, and the call leaves a line in the audit log."""


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
