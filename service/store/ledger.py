"""Rows of the points ledger and of seasons. Ranks and streaks are in `service.domain.standings`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Subquery,
    case,
    func,
    or_,
    select,
)
from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.standings import LedgerEntry
from service.store.members import Caller, merged_ids
from service.store.statements import built_once, insert_rows, is_any_of
from service.store.tables import (
    AnswerRow,
    CurrentAnswer,
    Ledger,
    Member,
    QuestionVersion,
    Round,
    Schedule,
    Season,
    Workspace,
)
from service.wire import CONFIDENCES, Confidence

FULL_CREDIT_TOLERANCE = 1e-9
"""Rounding error that a sum of credits may have."""


async def insert_entries(session: AsyncSession, rows: Sequence[dict[str, Any]]) -> None:
    """Posts ledger entries, all in one statement, so that boards change once. Leaves out those whose key was posted
    before."""
    if rows:
        await session.execute(insert_rows(Ledger, rows).on_conflict_do_nothing())


async def sum_round(session: AsyncSession, round_id: int, member_ids: Collection[int]) -> dict[int, tuple[int, float]]:
    """Returns the points and the credit posted for a round so far to these members, by member id."""
    query = select(Ledger.member_id, func.sum(Ledger.points), func.sum(Ledger.credit))
    of_members = query.where(Ledger.round_id == round_id, is_any_of(Ledger.member_id, member_ids))
    rows = await session.execute(of_members.group_by(Ledger.member_id))
    return {member_id: (int(points), float(credit or 0)) for member_id, points, credit in rows}


@dataclass(frozen=True, slots=True)
class RoundPoints:
    """One member's points for one round."""

    round: int
    """Posted at the close, or moved from another account of the member."""
    credit: float
    """Share right at the close, or of the answer of that account."""
    corrected: int
    """Posted later by corrections."""
    confirmed: int
    """Posted later for the credit of an open answer."""
    linked: bool
    """Whether points were moved from another account of the member: all in `round`, whatever they were for."""


async def list_round_points(
    session: AsyncSession, round_id: int, member_ids: Collection[int]
) -> dict[int, RoundPoints]:
    """Returns the points of these members for a round, by member id. Leaves out those without any."""
    first, confirmed = Ledger.reason.in_(("round", "link")), Ledger.reason == "credit"
    query = (
        select(
            Ledger.member_id,
            func.coalesce(func.sum(Ledger.points).filter(first), 0),
            func.coalesce(func.sum(Ledger.credit).filter(first), 0.0),
            func.coalesce(func.sum(Ledger.points).filter(~first, ~confirmed), 0),
            func.coalesce(func.sum(Ledger.points).filter(confirmed), 0),
            func.bool_or(Ledger.reason == "link"),
        )
        .where(Ledger.round_id == round_id, Ledger.member_id.in_(member_ids))
        .group_by(Ledger.member_id)
    )
    rows = await session.execute(query)
    return {row[0]: RoundPoints(int(row[1]), float(row[2] or 0), int(row[3]), int(row[4]), row[5]) for row in rows}


async def count_right(session: AsyncSession, round_ids: Collection[int], member_ids: Collection[int]) -> dict[int, int]:
    """Returns how many of these rounds each member answered fully right, by member id."""
    each = (
        select(Ledger.member_id)
        .where(Ledger.round_id.in_(round_ids), Ledger.member_id.in_(member_ids))
        .group_by(Ledger.member_id, Ledger.round_id)
        .having(func.sum(Ledger.credit) > 1 - FULL_CREDIT_TOLERANCE)
        .subquery()
    )
    rows = await session.execute(select(each.c.member_id, func.count()).group_by(each.c.member_id))
    return {member_id: int(count) for member_id, count in rows}


def answers_in(rounds: Subquery) -> Select[*tuple[Any, ...]]:
    """Selects each member's answer in `rounds`, which has an `id` and any other columns, beside those columns.

    `credit` is that after all corrections, or None if nobody judged the answer; `seconds` counts from the post. Leaves
    out members who were forgotten, and accounts that were merged into another: that one has the answer.
    """
    credit = case((func.count(Ledger.credit) > 0, func.sum(Ledger.credit)), else_=None)
    return (
        select(*rounds.c, Ledger.member_id, credit.label("credit"), func.sum(Ledger.seconds).label("seconds"))
        .join(rounds, rounds.c.id == Ledger.round_id)
        .join(Member, Member.id == Ledger.member_id)
        .where(Member.forgotten_at.is_(None), Member.merged_into.is_(None))
        .group_by(*rounds.c, Ledger.member_id)
    )


async def sum_by_confidence(session: AsyncSession, member_id: int) -> tuple[tuple[Confidence, int, float], ...]:
    """Returns how sure a member was of their answers in closed rounds, the number of answers, and their mean credit."""
    found = {
        confidence: (int(count), float(mean))
        for confidence, count, mean in await session.execute(*_sum_confidence(member_id))
    }
    return tuple((confidence, *found[confidence]) for confidence in CONFIDENCES if confidence in found)


@built_once
def _sum_confidence(member_id: int) -> Select[str, int, float]:
    confidence = AnswerRow.given["confidence"].astext
    judged = (
        select(confidence.label("confidence"), func.sum(Ledger.credit).label("credit"))
        .join(CurrentAnswer, CurrentAnswer.answer_id == AnswerRow.id)
        .join(Ledger, Ledger.round_id == CurrentAnswer.round_id)
        .where(
            CurrentAnswer.member_id.in_(merged_ids(member_id)),
            Ledger.member_id == member_id,
            Ledger.credit.is_not(None),
            confidence.in_(CONFIDENCES),
        )
        .group_by(CurrentAnswer.round_id, confidence)
        .subquery()
    )
    return select(judged.c.confidence, func.count(), func.avg(judged.c.credit)).group_by(judged.c.confidence)


async def list_entries(session: AsyncSession, member_id: int, since: datetime) -> list[LedgerEntry]:
    """Returns the member's ledger entries since an instant, in order."""
    rows = await session.execute(*_select_entries(member_id, since))
    return [LedgerEntry(at, points, round_id, credit) for at, points, round_id, credit in rows]


@built_once
def _select_entries(member_id: int, since: datetime) -> Select[datetime, int, int | None, float | None]:
    return (
        select(Ledger.at, Ledger.points, Ledger.round_id, Ledger.credit)
        .where(Ledger.member_id == member_id, Ledger.at >= since)
        .order_by(Ledger.at, Ledger.id)
    )


@dataclass(frozen=True, slots=True)
class Adjustment:
    """Points that an admin gives to a member, or takes."""

    points: int
    reason: str
    event_id: str
    at: datetime


def add_adjustment(session: AsyncSession, caller: Caller, member_id: int, made: Adjustment) -> None:
    """Posts points that belong to no round, once per event."""
    row = Ledger(
        key=f"adjust:{caller.chat_id}:{made.event_id}",
        workspace_id=caller.workspace_id,
        member_id=member_id,
        points=made.points,
        reason=made.reason,
        at=made.at,
    )
    session.add(row)


def is_within_topic(topic: str) -> ColumnElement[bool]:
    """Tests whether a question version belongs to `topic` or a topic below it, ignoring case."""
    wanted, found = topic.strip("/ ").lower(), func.lower(QuestionVersion.topic)
    return or_(found == wanted, func.starts_with(found, f"{wanted}/"))


async def get_running_season(session: AsyncSession, workspace_id: int) -> Season | None:
    """Returns the season without an end."""
    season: Season | None = await session.scalar(*_select_running_season(workspace_id))
    return season


@built_once
def _select_running_season(workspace_id: int) -> Select[Season]:
    return select(Season).where(Season.workspace_id == workspace_id, Season.ends_at.is_(None))


async def lock_seasons(session: AsyncSession, workspace_id: int) -> None:
    """Makes transactions that start or end a season of the workspace wait for one another."""
    await session.execute(select(Workspace.id).where(Workspace.id == workspace_id).with_for_update(key_share=True))


async def find_season(session: AsyncSession, workspace_id: int, name: str) -> Season | None:
    """Returns the season of that name, ignoring case."""
    found = await session.scalars(select(Season).where(Season.workspace_id == workspace_id))
    return next((season for season in found if season.name.casefold() == name.casefold()), None)


async def list_seasons(session: AsyncSession, workspace_id: int) -> list[Season]:
    """Returns all seasons, newest first."""
    query = select(Season).where(Season.workspace_id == workspace_id).order_by(Season.starts_at.desc())
    return list(await session.scalars(query))


def add_season(session: AsyncSession, workspace_id: int, name: str, starts_at: datetime) -> Season:
    """Adds a season running from `starts_at`. The database allows only one running season."""
    season = Season(workspace_id=workspace_id, name=name, starts_at=starts_at)
    session.add(season)
    return season


async def list_unsettled_seasons(session: AsyncSession, lately: datetime) -> Sequence[tuple[int, int]]:
    """Returns the ids and workspaces of ended seasons without a final board, all of whose rounds are closed: those that
    opened while the season ran. Of a season that ended after `lately`, all slots until its end are processed too: the
    round of one that is not still opens in the season."""
    open_round = (
        select(Round.id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(
            Schedule.workspace_id == Season.workspace_id,
            Round.closed_at.is_(None),
            Round.skipped.is_(None),
            Round.opens_at >= Season.starts_at,
            Round.opens_at < Season.ends_at,
        )
    )
    coming = select(Schedule.id).where(
        Schedule.workspace_id == Season.workspace_id, Schedule.next_at <= Season.ends_at, Season.ends_at > lately
    )
    ended = Season.ends_at.is_not(None) & Season.archive.is_(None)
    query = select(Season.id, Season.workspace_id).where(ended, ~open_round.exists(), ~coming.exists())
    rows = await session.execute(query)
    return [(row[0], row[1]) for row in rows]


async def list_hidden_members(session: AsyncSession, workspace_id: int) -> set[int]:
    """Returns members to leave out of every board, including archived ones."""
    query = select(Member.id).where(Member.workspace_id == workspace_id, Member.hidden.is_(True))
    return set(await session.scalars(query))
