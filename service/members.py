"""What a member can see of themselves, and what they decide about it: standing, rules, privacy."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal, get_args

from sqlalchemy.ext.asyncio import AsyncSession

from service.calendar import CATCH_UP
from service.errors import NotPossible
from service.exporting import as_csv, as_json
from service.leaderboard import best_streaks
from service.progress import first_monday, last_weeks
from service.ranking import Ranked, rank
from service.scoring import rules_text
from service.store import attendance, cards, keeping, ledger, people, schedules, seasons
from service.store.ledger import Scope
from service.store.members import Caller, identities
from service.store.tables import Member
from service.streaks import FreezePolicy
from service.wire import Me, PrivacyView, Rules

PrivacyAction = Literal["see", "export", "hide", "show", "forget", "csv"]
EXPORTS = {"export": as_json, "csv": as_csv}
PRIVACY_ACTIONS: tuple[PrivacyAction, ...] = get_args(PrivacyAction)


async def me(session: AsyncSession, caller: Caller, now: datetime) -> Me:
    """How the caller stands in the workspace over all time; `rank` is None for whoever hides or has no points yet."""
    member = await people.one(session, caller.member_id)
    mine = await _mine(session, caller, Scope(caller.workspace_id))
    season = await seasons.running(session, caller.workspace_id)
    in_season = season and await _mine(session, caller, Scope(caller.workspace_id, since=season.starts_at))
    running = await attendance.schedules_of(session, caller.workspace_id, None)
    streak = (await best_streaks(session, running, [caller.member_id]))[caller.member_id]
    total, due = await cards.counts(session, caller.member_id, now)
    return Me(
        name=member.name,
        hidden=member.hidden,
        points=mine.points if mine else 0,
        season_points=in_season.points if in_season else 0,
        rank=None if mine is None or member.hidden else mine.rank,
        answered=mine.standing.answered if mine else 0,
        accuracy=mine.standing.accuracy if mine else 0.0,
        streak=streak.current,
        best_streak=streak.best,
        freezes=streak.freezes_left,
        cards=total,
        cards_due=due,
        topics=tuple(await ledger.topic_sums(session, caller.member_id)),
        weeks=await _weeks(session, caller, now),
    )


async def _weeks(session: AsyncSession, caller: Caller, now: datetime) -> tuple[tuple[date, int, int, float], ...]:
    zone = await schedules.zone_of(session, caller.workspace_id)
    # A day more, for a Monday begins in some zones while it is Sunday in UTC.
    since = datetime.combine(first_monday(now, zone), time.min, UTC) - timedelta(days=1)
    return last_weeks(await ledger.bookings(session, caller.member_id, since), now, zone)


def rules() -> Rules:
    """The numbers points and streaks are made of: the very ones used."""
    scoring, freezes = rules_text(), FreezePolicy()
    return Rules(
        base={**scoring.base, "no level": scoring.unlevelled},
        speed_bonus=scoring.speed_bonus,
        speed_share=scoring.speed_share,
        speed_window_s=scoring.speed_window_s,
        freeze_cap=freezes.cap,
        freeze_every=freezes.earn_every,
        catch_up_minutes=int(CATCH_UP.total_seconds() // 60),
    )


async def privacy(session: AsyncSession, caller: Caller, action: str, now: datetime) -> PrivacyView:
    """Show what is kept about the caller, or do with it what they say: see, export (or csv), hide, show or forget."""
    if action not in PRIVACY_ACTIONS:
        raise NotPossible(cause=f"There is no privacy action {action!r}: use {', '.join(PRIVACY_ACTIONS)}.")
    if action in ("hide", "show"):
        await keeping.hide(session, caller.member_id, action == "hide")
    answers, bookings, held = await keeping.counts(session, caller.member_id)
    if action == "forget":
        await keeping.forget(session, caller, now)
        return PrivacyView(
            name=keeping.NOBODY, hidden=True, answers=answers, ledger_rows=bookings, cards=0, forgotten=True
        )
    member = await people.one(session, caller.member_id)
    return PrivacyView(
        name=member.name,
        hidden=member.hidden,
        answers=answers,
        ledger_rows=bookings,
        cards=held,
        export=EXPORTS[action](await _kept(session, member)) if action in EXPORTS else "",
        format="csv" if action == "csv" else "json",
    )


async def _mine(session: AsyncSession, caller: Caller, scope: Scope) -> Ranked | None:
    """The caller's line among those who show themselves, and their own where they hide."""
    everyone = await ledger.standings(session, scope)
    key = str(caller.member_id)
    if all(row.member_key != key for row in everyone):
        hidden = Scope(scope.workspace_id, since=scope.since, hidden_too=True)
        everyone += [row for row in await ledger.standings(session, hidden) if row.member_key == key]
    return next((line for line in rank(everyone) if line.member_key == key), None)


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
                for identity, chat in await identities(session, member.id)
            ],
        },
        "answers": await _answers(session, member.id),
        "points": [
            {"points": row.points, "credit": row.credit, "reason": row.reason, "at": row.at.isoformat()}
            for row in await keeping.bookings(session, member.id)
        ],
        "cards": [
            {"question": key, "due": card.due.isoformat(), "reviews": card.reviews, "state": card.state}
            for card, key in await keeping.cards(session, member.id)
        ],
        "reports": [
            {"text": row.text, "state": row.state, "at": row.at.isoformat()}
            for row in await keeping.reports(session, member.id)
        ],
    }


async def _answers(session: AsyncSession, member_id: int) -> list[dict[str, Any]]:
    return [
        {
            "question": key,
            "given": answer.given,
            "practice": answer.round_id is None,
            "at": answer.at.isoformat(),
            "verdict": verdict and verdict.verdict,
            "credit": verdict and verdict.credit,
        }
        for answer, key, verdict in await keeping.answers(session, member_id)
    ]
