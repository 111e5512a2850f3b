"""Rows about a member that only an export of their data reads. Every function returns the oldest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.answers import HintTaken
from service.store.audits import Audit
from service.store.competition_tables import Duel
from service.store.members import merged_ids
from service.store.notifications import Reminder
from service.store.review_tables import ReportRow, SuggestionRow
from service.store.tables import (
    CurrentAnswer,
    Identity,
    Member,
    QuestionRow,
    QuestionVersion,
    Round,
    Season,
    StreakGrace,
)
from service.store.web_tables import WebAccountRow, WebPersonRow, WebSessionRow


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """What is stored about a member for one round."""

    question: str | None
    """Id of the round's question; None if the round was not posted."""
    day: date
    at: datetime
    rank_before: int | None = None
    rank_after: int | None = None


async def list_hints(session: AsyncSession, member_id: int) -> list[RoundRecord]:
    """Returns the rounds whose hint the member took, at the instant when they opened."""
    query = select(QuestionRow.key, Round.day, Round.opens_at).join(HintTaken, HintTaken.round_id == Round.id)
    return await _list_rounds(session, query.where(HintTaken.member_id.in_(merged_ids(member_id))))


async def list_reminders(session: AsyncSession, member_id: int) -> list[RoundRecord]:
    """Returns the rounds that the member was reminded of."""
    query = select(QuestionRow.key, Round.day, Reminder.at).join(Reminder, Reminder.round_id == Round.id)
    return await _list_rounds(session, query.where(Reminder.member_id.in_(merged_ids(member_id))))


async def list_excused_rounds(session: AsyncSession, member_id: int) -> list[RoundRecord]:
    """Returns the rounds that cannot break the member's streak, at the instant when they opened."""
    query = select(QuestionRow.key, Round.day, Round.opens_at).join(StreakGrace, StreakGrace.round_id == Round.id)
    return await _list_rounds(session, query.where(StreakGrace.member_id.in_(merged_ids(member_id))))


async def list_ranks(session: AsyncSession, member_id: int) -> list[RoundRecord]:
    """Returns the member's ranks before and after each closed round that they answered."""
    ranks = (CurrentAnswer.rank_before, CurrentAnswer.rank_after)
    query = select(QuestionRow.key, Round.day, Round.closed_at, *ranks)
    query = query.join(CurrentAnswer, CurrentAnswer.round_id == Round.id)
    mine = CurrentAnswer.member_id.in_(merged_ids(member_id))
    return await _list_rounds(session, query.where(mine, Round.closed_at.is_not(None)))


async def _list_rounds(session: AsyncSession, query: Any) -> list[RoundRecord]:
    version = QuestionVersion.id == Round.version_id
    asked = query.outerjoin(QuestionVersion, version).outerjoin(
        QuestionRow, QuestionRow.id == QuestionVersion.question_id
    )
    return [RoundRecord(*row) for row in await session.execute(asked.order_by(Round.opens_at, Round.id))]


async def list_actions(session: AsyncSession, member_id: int) -> Sequence[Audit]:
    """Returns what the member did as an admin."""
    mine = Audit.member_id.in_(merged_ids(member_id))
    return (await session.scalars(select(Audit).where(mine).order_by(Audit.id))).all()


@dataclass(frozen=True, slots=True)
class Decision:
    """Another member's report or suggestion that this member decided."""

    what: str
    state: str
    reason: str


async def list_decisions(session: AsyncSession, member_id: int) -> list[Decision]:
    """Returns how the member settled reports and decided suggestions, and the reasons that they wrote."""
    rows, found = merged_ids(member_id), []
    for what, table, by in (
        ("report", ReportRow, ReportRow.settled_by),
        ("suggestion", SuggestionRow, SuggestionRow.decided_by),
    ):
        query = select(table.state, table.reason).where(by.in_(rows)).order_by(table.id)
        found += [Decision(what, state, reason) for state, reason in await session.execute(query)]
    return found


async def list_season_places(session: AsyncSession, member_id: int) -> Sequence[tuple[str, datetime | None, Any]]:
    """Returns name and end of each season whose final board has the member, with the row of that board."""
    query = (
        select(Season.name, Season.ends_at, Season.archive)
        .join(Member, Member.workspace_id == Season.workspace_id)
        .where(Member.id == member_id)
        .order_by(Season.id)
    )
    mine = set(await session.scalars(merged_ids(member_id)))
    return [
        (name, ends_at, row)
        for name, ends_at, archive in await session.execute(query)
        for row in archive or ()
        if row["member"] in mine
    ]


async def list_duels(session: AsyncSession, member_id: int) -> Sequence[tuple[Duel, bool]]:
    """Returns the member's duels, each with whether they were the challenger."""
    rows = set(await session.scalars(merged_ids(member_id)))
    mine = or_(Duel.challenger_id.in_(rows), Duel.opponent_id.in_(rows))
    found = await session.scalars(select(Duel).where(mine).order_by(Duel.id))
    return [(duel, duel.challenger_id in rows) for duel in found]


async def list_web_people(session: AsyncSession, member_id: int) -> Sequence[tuple[WebPersonRow, bool]]:
    """Returns who the member is in web chats, each with whether an account at an OpenID provider signs them in."""
    account = (WebAccountRow.chat_id == WebPersonRow.chat_id) & (WebAccountRow.person == WebPersonRow.id)
    query = (
        select(WebPersonRow, WebAccountRow.person.is_not(None))
        .join(Identity, (Identity.chat_id == WebPersonRow.chat_id) & (Identity.external_id == WebPersonRow.id))
        .outerjoin(WebAccountRow, account)
        .where(Identity.member_id == member_id)
        .order_by(WebPersonRow.joined_at)
    )
    return [(person, has_account) for person, has_account in await session.execute(query)]


async def list_web_sessions(session: AsyncSession, member_id: int) -> Sequence[WebSessionRow]:
    """Returns the browsers that are signed in as the member."""
    person = (Identity.chat_id == WebSessionRow.chat_id) & (Identity.external_id == WebSessionRow.person)
    query = select(WebSessionRow).join(Identity, person).where(Identity.member_id == member_id)
    return (await session.scalars(query.order_by(WebSessionRow.id))).all()
