"""Sums over the ledger, and bookings outside of rounds. Ordering and streaks are the pure rules' business."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.standings import LedgerEntry, MemberTotals
from service.store.members import Caller
from service.store.schedules import posts_to
from service.store.tables import Ledger, Member, QuestionVersion, Round, Schedule, Season, Workspace


@dataclass(frozen=True, slots=True)
class Scope:
    """Which bookings a board sums: of one workspace always, and the narrower the more is given."""

    workspace_id: int
    channel_id: int | None = None
    topic: str = ""
    """A path in the topic tree; what lies below it counts too."""
    since: datetime | None = None
    """Inclusive."""
    until: datetime | None = None
    """Exclusive."""
    hidden_too: bool = False
    """Whether members who hid themselves are in it: never on a board that is shown."""


async def sum_by_member(session: AsyncSession, scope: Scope) -> list[MemberTotals]:
    """What every member gathered within `scope`, in no order.

    A correction books the difference under its round, so the sums stay right and the round counts once.
    Adjustments belong to no round: a channel's board has those of the members who answered there.
    """
    answered = func.count(Ledger.round_id.distinct()).filter(Ledger.credit.is_not(None))
    query = (
        select(
            Member.id,
            Member.name,
            func.sum(Ledger.points),
            func.coalesce(func.sum(Ledger.credit), 0.0),
            answered,
            func.coalesce(func.sum(Ledger.seconds), 0.0),
        )
        .join(Member, Member.id == Ledger.member_id)
        .where(Ledger.workspace_id == scope.workspace_id, *_within(scope))
        .group_by(Member.id, Member.name)
    )
    if scope.channel_id is not None:
        query = query.having(answered > 0)
    rows = await session.execute(_with_rounds(query))
    return [
        MemberTotals(str(id_), name, int(points), float(right), int(count), float(seconds))
        for id_, name, points, right, count, seconds in rows
    ]


async def first_answer_times(session: AsyncSession, workspace_id: int) -> dict[str, datetime]:
    """When each member of the workspace was first booked an answer, by the key a `Standing` names them by."""
    query = (
        select(Ledger.member_id, func.min(Ledger.at))
        .where(Ledger.workspace_id == workspace_id, Ledger.credit.is_not(None))
        .group_by(Ledger.member_id)
    )
    return {str(member_id): at for member_id, at in await session.execute(query)}


async def sum_by_topic(session: AsyncSession, member_id: int) -> list[tuple[str, int, float]]:
    """Topic, answered rounds and mean credit of one member, weakest first."""
    answered = func.count(Ledger.round_id.distinct())
    accuracy = func.sum(Ledger.credit) / answered
    query = (
        select(QuestionVersion.topic, answered, accuracy)
        .select_from(Ledger)
        .where(Ledger.member_id == member_id, Ledger.credit.is_not(None))
        .group_by(QuestionVersion.topic)
        .having(answered > 0)
        .order_by(accuracy, QuestionVersion.topic)
    )
    rows = await session.execute(_with_rounds(query))
    return [(topic, int(count), float(mean)) for topic, count, mean in rows]


async def list_entries(session: AsyncSession, member_id: int, since: datetime) -> list[LedgerEntry]:
    """What was booked for a member from an instant on, in order."""
    query = (
        select(Ledger.at, Ledger.points, Ledger.round_id, Ledger.credit)
        .where(Ledger.member_id == member_id, Ledger.at >= since)
        .order_by(Ledger.at, Ledger.id)
    )
    return [LedgerEntry(at, points, round_id, credit) for at, points, round_id, credit in await session.execute(query)]


def add_adjustment(
    session: AsyncSession, caller: Caller, member_id: int, points: int, reason: str, event_id: str, now: datetime
) -> None:
    """Book points that belong to no round, once for the event."""
    key = f"adjust:{caller.chat_id}:{event_id}"
    row = Ledger(key=key, workspace_id=caller.workspace_id, member_id=member_id, points=points, reason=reason, at=now)
    session.add(row)


def is_within_topic(topic: str) -> ColumnElement[bool]:
    """Whether a question version belongs to `topic` or to a topic below it, in whatever case it is written."""
    wanted, found = topic.strip("/ ").lower(), func.lower(QuestionVersion.topic)
    return or_(found == wanted, func.starts_with(found, f"{wanted}/"))


async def get_running_season(session: AsyncSession, workspace_id: int) -> Season | None:
    """The season that has no end yet."""
    query = select(Season).where(Season.workspace_id == workspace_id, Season.ends_at.is_(None))
    return await session.scalar(query)


async def lock_seasons(session: AsyncSession, workspace_id: int) -> None:
    """Let those who start or end a season here wait for one another until the transaction ends."""
    await session.execute(select(Workspace.id).where(Workspace.id == workspace_id).with_for_update(key_share=True))


async def find_season(session: AsyncSession, workspace_id: int, name: str) -> Season | None:
    """The season of that name, in whatever case it is written."""
    found = await session.scalars(select(Season).where(Season.workspace_id == workspace_id))
    return next((season for season in found if season.name.casefold() == name.casefold()), None)


async def list_seasons(session: AsyncSession, workspace_id: int) -> list[Season]:
    """Every season, the newest first."""
    query = select(Season).where(Season.workspace_id == workspace_id).order_by(Season.starts_at.desc())
    return list(await session.scalars(query))


def add_season(session: AsyncSession, workspace_id: int, name: str, starts_at: datetime) -> Season:
    """A season that runs from `starts_at`; the database refuses a second one that runs."""
    season = Season(workspace_id=workspace_id, name=name, starts_at=starts_at)
    session.add(season)
    return season


def end_season(season: Season, ends_at: datetime, archive: list[dict[str, Any]]) -> None:
    """End a season with its final board."""
    season.ends_at, season.archive = ends_at, archive


async def list_hidden_members(session: AsyncSession, workspace_id: int) -> set[int]:
    """Those who are to be left out of every board, the archived ones too."""
    query = select(Member.id).where(Member.workspace_id == workspace_id, Member.hidden.is_(True))
    return set(await session.scalars(query))


def _within(scope: Scope) -> list[ColumnElement[bool]]:
    # Whoever turned out to be another member has their points there, and here rows that add up to nothing.
    found: list[ColumnElement[bool]] = [Member.merged_into.is_(None)]
    if not scope.hidden_too:
        found.append(Member.hidden.is_(False))
    if scope.since is not None:
        found.append(Ledger.at >= scope.since)
    if scope.until is not None:
        found.append(Ledger.at < scope.until)
    if scope.topic:
        found.append(is_within_topic(scope.topic))
    if scope.channel_id is not None:
        found.append(or_(Ledger.round_id.is_(None), posts_to(scope.channel_id)))
    return found


def _with_rounds(query: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    return (
        query.outerjoin(Round, Round.id == Ledger.round_id)
        .outerjoin(Schedule, Schedule.id == Round.schedule_id)
        .outerjoin(QuestionVersion, QuestionVersion.id == Round.version_id)
    )
