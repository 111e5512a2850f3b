"""Rows of tournaments. A change of one locks its row first; where it locks members too, it locks them before."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import Select, and_, delete, distinct, exists, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.calendar import get_zone
from service.domain.tournaments import MemberDay, TeamDay
from service.store.competition_tables import (
    Tournament,
    TournamentDay,
    TournamentMember,
    TournamentPair,
    TournamentSchedule,
    TournamentScore,
    TournamentTeam,
)
from service.store.members import Caller
from service.store.statements import insert_batches
from service.store.tables import Chat, CurrentAnswer, Ledger, Member, Round, Schedule, VerdictRow


async def add(session: AsyncSession, caller: Caller, values: dict[str, Any]) -> Tournament | None:
    """Adds a tournament of the caller's channel. Returns None if the workspace has one that has not ended."""
    made = {
        "workspace_id": caller.workspace_id,
        "channel_id": caller.channel_id,
        "started_by": caller.member_id,
        "state": "joining",
        **values,
    }
    return await session.scalar(insert(Tournament).values(made).on_conflict_do_nothing().returning(Tournament))


def add_schedules(session: AsyncSession, tournament: Tournament, schedule_ids: Collection[int]) -> None:
    """Makes the daily rounds of these schedules count."""
    for schedule_id in schedule_ids:
        row = TournamentSchedule(
            tournament_id=tournament.id, schedule_id=schedule_id, workspace_id=tournament.workspace_id
        )
        session.add(row)


async def list_schedules(session: AsyncSession, tournament_id: int) -> Sequence[Schedule]:
    """Returns the schedules whose rounds count, including those that were removed since."""
    query = select(Schedule).join(TournamentSchedule, TournamentSchedule.schedule_id == Schedule.id)
    return (
        await session.scalars(query.where(TournamentSchedule.tournament_id == tournament_id).order_by(Schedule.id))
    ).all()


async def find_live(session: AsyncSession, workspace_id: int) -> Tournament | None:
    """Returns the workspace's tournament that has not ended."""
    here = (Tournament.workspace_id == workspace_id, Tournament.ended_at.is_(None))
    return await session.scalar(select(Tournament).where(*here))


async def lock_live(session: AsyncSession, workspace_id: int) -> Tournament | None:
    """Returns the workspace's tournament that has not ended, locked until the transaction ends."""
    here = (Tournament.workspace_id == workspace_id, Tournament.ended_at.is_(None))
    query = select(Tournament).where(*here).with_for_update(key_share=True)
    return await session.scalar(query.execution_options(populate_existing=True))


async def lock(session: AsyncSession, tournament_id: int) -> Tournament | None:
    """Returns a tournament that has not ended, locked until the transaction ends."""
    query = select(Tournament).where(Tournament.id == tournament_id, Tournament.ended_at.is_(None))
    return await session.scalar(query.with_for_update(key_share=True).execution_options(populate_existing=True))


async def list_due(session: AsyncSession, now: datetime) -> Sequence[int]:
    """Returns the tournaments that start now or are running."""
    query = select(Tournament.id).where(Tournament.ended_at.is_(None), Tournament.starts_at <= now)
    return (await session.scalars(query.order_by(Tournament.id))).all()


async def find(session: AsyncSession, workspace_id: int, title: str = "") -> Tournament | None:
    """Returns the workspace's newest tournament, or the newest of that title, ignoring case."""
    query = select(Tournament).where(Tournament.workspace_id == workspace_id)
    if title:
        query = query.where(func.lower(Tournament.title) == title.lower())
    return await session.scalar(query.order_by(Tournament.id.desc()).limit(1))


async def get(session: AsyncSession, workspace_id: int, tournament_id: int) -> Tournament | None:
    """Returns a tournament of the workspace."""
    here = (Tournament.workspace_id == workspace_id, Tournament.id == tournament_id)
    return await session.scalar(select(Tournament).where(*here))


async def list_titles(session: AsyncSession, workspace_id: int, without: int, limit: int) -> Sequence[str]:
    """Returns the titles of the workspace's other tournaments, newest first."""
    query = select(Tournament.title).where(Tournament.workspace_id == workspace_id, Tournament.id != without)
    return (await session.scalars(query.order_by(Tournament.id.desc()).limit(limit))).all()


# Members and teams


@dataclass(frozen=True, slots=True)
class Player:
    """A member who takes part, with what others may know of them."""

    row: TournamentMember
    member: Member


async def list_players(session: AsyncSession, tournament_id: int) -> Sequence[Player]:
    """Returns everyone who takes part, in the order they joined."""
    query = (
        select(TournamentMember, Member)
        .join(Member, Member.id == TournamentMember.member_id)
        .where(TournamentMember.tournament_id == tournament_id)
        .order_by(TournamentMember.joined_at, TournamentMember.member_id)
        .execution_options(populate_existing=True)
    )
    return [Player(*row) for row in await session.execute(query)]


async def list_teams(session: AsyncSession, tournament_id: int) -> Sequence[TournamentTeam]:
    """Returns the teams in the order of their numbers."""
    query = select(TournamentTeam).where(TournamentTeam.tournament_id == tournament_id)
    query = query.order_by(TournamentTeam.number).execution_options(populate_existing=True)
    return (await session.scalars(query)).all()


async def add_team(
    session: AsyncSession,
    tournament: Tournament,
    number: int,
    *,
    chat_id: int | None = None,
    captain: int | None = None,
) -> TournamentTeam:
    """Adds a team."""
    row = TournamentTeam(
        workspace_id=tournament.workspace_id,
        tournament_id=tournament.id,
        number=number,
        chat_id=chat_id,
        captain_id=captain,
    )
    session.add(row)
    await session.flush()
    return row


async def add_member(session: AsyncSession, tournament: Tournament, values: dict[str, Any]) -> bool:
    """Makes a member take part. Returns False, changing nothing, if they do already."""
    made = {"tournament_id": tournament.id, "workspace_id": tournament.workspace_id, **values}
    added = insert(TournamentMember).values(made).on_conflict_do_nothing().returning(TournamentMember.member_id)
    return await session.scalar(added) is not None


async def get_member(session: AsyncSession, tournament_id: int, member_id: int) -> TournamentMember | None:
    """Returns how a member takes part."""
    return await session.get(TournamentMember, (tournament_id, member_id), populate_existing=True)


async def delete_member(session: AsyncSession, row: TournamentMember) -> None:
    """Makes a member no longer take part in a tournament that has not begun."""
    await session.delete(row)
    await session.flush()


async def sum_recent_points(
    session: AsyncSession, workspace_id: int, member_ids: Collection[int], since: datetime
) -> dict[int, float]:
    """Returns the points that each member earned since an instant."""
    query = (
        select(Ledger.member_id, func.sum(Ledger.points))
        .where(Ledger.workspace_id == workspace_id, Ledger.at >= since, Ledger.member_id.in_(member_ids))
        .group_by(Ledger.member_id)
    )
    found = {member_id: float(points) for member_id, points in await session.execute(query)}
    return {member_id: found.get(member_id, 0.0) for member_id in member_ids}


async def list_chats(session: AsyncSession, workspace_id: int) -> Sequence[Chat]:
    """Returns the chats of the workspace, oldest first."""
    return (await session.scalars(select(Chat).where(Chat.workspace_id == workspace_id).order_by(Chat.id))).all()


# Days


async def list_rounds(session: AsyncSession, tournament_id: int, day: date) -> Sequence[Round]:
    """Returns the daily rounds of the tournament's schedules on a day, including those that were skipped."""
    query = (
        select(Round)
        .join(TournamentSchedule, TournamentSchedule.schedule_id == Round.schedule_id)
        .where(TournamentSchedule.tournament_id == tournament_id, Round.day == day, Round.number == 0)
        .order_by(Round.id)
        .execution_options(populate_existing=True)
    )
    return (await session.scalars(query)).all()


async def awaits_verdicts(session: AsyncSession, round_ids: Collection[int]) -> bool:
    """Returns whether an answer that counts in one of the rounds has no verdict yet."""
    judged = select(VerdictRow.id).where(VerdictRow.answer_id == CurrentAnswer.answer_id).exists()
    query = select(CurrentAnswer.round_id).where(CurrentAnswer.round_id.in_(round_ids), ~judged).limit(1)
    return await session.scalar(query) is not None


_COUNTS = and_(
    or_(TournamentMember.from_day.is_(None), TournamentMember.from_day <= Round.day),
    or_(TournamentMember.until_day.is_(None), TournamentMember.until_day > Round.day),
)
"""Whether the answers of a member count on the day of a round."""


async def sum_days(
    session: AsyncSession, tournament: Tournament, days: Collection[date]
) -> dict[date, dict[int, list[MemberDay]]]:
    """Returns what each member earned on each of the days, by day and team, in the rounds that count."""
    player = TournamentMember
    query = (
        select(Round.day, player.team_id, func.sum(Ledger.points), func.sum(Ledger.credit), func.sum(Ledger.seconds))
        .join(TournamentSchedule, TournamentSchedule.schedule_id == Round.schedule_id)
        .join(Ledger, Ledger.round_id == Round.id)
        .join(player, and_(player.member_id == Ledger.member_id, player.tournament_id == tournament.id, _COUNTS))
        .where(TournamentSchedule.tournament_id == tournament.id, Round.day.in_(days), Round.number == 0)
        .where(Round.closed_at.is_not(None), player.team_id.is_not(None))
        .group_by(Round.day, player.team_id, player.member_id)
    )
    found: dict[date, dict[int, list[MemberDay]]] = {day: {} for day in days}
    for day, team, points, credit, seconds in await session.execute(query):
        assert team is not None, "members without a team are left out"
        result = MemberDay(int(points), float(credit or 0.0), None if seconds is None else float(seconds))
        found[day].setdefault(team, []).append(result)
    return found


async def count_answered(session: AsyncSession, tournament: Tournament, day: date) -> dict[int, int]:
    """Returns how many members of each team have answered an open round of the day, of those whose answers count."""
    player = TournamentMember
    query = (
        select(player.team_id, func.count(distinct(player.member_id)))
        .join(CurrentAnswer, CurrentAnswer.member_id == player.member_id)
        .join(Round, Round.id == CurrentAnswer.round_id)
        .join(TournamentSchedule, TournamentSchedule.schedule_id == Round.schedule_id)
        .where(
            player.tournament_id == tournament.id,
            TournamentSchedule.tournament_id == tournament.id,
            player.team_id.is_not(None),
            Round.day == day,
            Round.number == 0,
            Round.closed_at.is_(None),
            _COUNTS,
        )
        .group_by(player.team_id)
    )
    return {team: int(count) for team, count in await session.execute(query) if team is not None}


async def list_days(session: AsyncSession, tournament_id: int) -> Sequence[TournamentDay]:
    """Returns the settled days in order."""
    query = select(TournamentDay).where(TournamentDay.tournament_id == tournament_id).order_by(TournamentDay.day)
    return (await session.scalars(query)).all()


async def first_open_day(session: AsyncSession, tournament: Tournament, now: datetime) -> date:
    """Returns today in the tournament's zone, or the day after if today is settled already."""
    settled = select(func.max(TournamentDay.day)).where(TournamentDay.tournament_id == tournament.id)
    last, today = await session.scalar(settled), now.astimezone(get_zone(tournament.zone)).date()
    return today if last is None else max(today, last + timedelta(days=1))


async def add_day(session: AsyncSession, tournament: Tournament, day: date, rounds: int, now: datetime) -> None:
    """Records that the day is settled. Fails if it was settled before."""
    values = {"tournament_id": tournament.id, "day": day, "rounds": rounds, "settled_at": now}
    await session.execute(insert(TournamentDay).values(values))


async def add_scores(
    session: AsyncSession,
    tournament: Tournament,
    day: date,
    scores: Mapping[int, TeamDay],
    *,
    settled_with: date,
    numbers: Mapping[int, int],
) -> None:
    """Records what the teams earned on a settled day, each under its number. Fails if one was recorded before."""
    rows = [
        {
            "tournament_id": tournament.id,
            "day": day,
            "team_id": team,
            "number": numbers.get(team, 0),
            "settled_with": settled_with,
            "points": score.points,
            "credit": score.credit,
            "counted": score.counted,
            "seconds": score.seconds,
        }
        for team, score in scores.items()
    ]
    for made in insert_batches(TournamentScore, rows):
        await session.execute(made)


async def list_scores(session: AsyncSession, tournament_id: int) -> dict[date, dict[int, list[TournamentScore]]]:
    """Returns every recorded score by day and team, the one that counts last."""
    query = select(TournamentScore).where(TournamentScore.tournament_id == tournament_id)
    query = query.order_by(TournamentScore.day, TournamentScore.team_id, TournamentScore.number)
    found: dict[date, dict[int, list[TournamentScore]]] = {}
    for row in await session.scalars(query):
        found.setdefault(row.day, {}).setdefault(row.team_id, []).append(row)
    return found


# Brackets


async def list_pairs(session: AsyncSession, tournament_id: int) -> Sequence[TournamentPair]:
    """Returns the pairs of all stages in order."""
    query = select(TournamentPair).where(TournamentPair.tournament_id == tournament_id)
    query = query.order_by(TournamentPair.stage, TournamentPair.number).execution_options(populate_existing=True)
    return (await session.scalars(query)).all()


async def add_pairs(
    session: AsyncSession, tournament: Tournament, stage: int, pairs: Sequence[tuple[int, int | None]]
) -> None:
    """Adds the pairs of a stage."""
    rows = [
        {
            "tournament_id": tournament.id,
            "stage": stage,
            "number": number,
            "first_id": first,
            "second_id": second,
        }
        for number, (first, second) in enumerate(pairs, 1)
    ]
    for made in insert_batches(TournamentPair, rows):
        await session.execute(made)


# A member's own data


async def list_of_member(
    session: AsyncSession, member_id: int
) -> Sequence[tuple[TournamentMember, str, int | None, bool]]:
    """Returns the tournaments that a member takes part in, with title and number of the team and whether they are its
    captain, oldest first."""
    captain = func.coalesce(TournamentTeam.captain_id == member_id, False)
    query = (
        select(TournamentMember, Tournament.title, TournamentTeam.number, captain)
        .join(Tournament, Tournament.id == TournamentMember.tournament_id)
        .outerjoin(TournamentTeam, TournamentTeam.id == TournamentMember.team_id)
        .where(TournamentMember.member_id == member_id)
        .order_by(Tournament.id)
    )
    return [(row, title, number, leads) for row, title, number, leads in await session.execute(query)]


async def forget_member(session: AsyncSession, member_id: int, now: datetime) -> None:
    """Ends the member's part in tournaments: before the start it is deleted, later their settled points stay as numbers
    without a name. A team whose captain leaves gets another."""
    live = select(Tournament).join(TournamentMember, TournamentMember.tournament_id == Tournament.id)
    live = live.where(TournamentMember.member_id == member_id, Tournament.ended_at.is_(None)).order_by(Tournament.id)
    for tournament in list(await session.scalars(live.with_for_update(of=Tournament, key_share=True))):
        mine = and_(TournamentMember.tournament_id == tournament.id, TournamentMember.member_id == member_id)
        await hand_over(session, tournament.id, member_id)
        if tournament.state == "joining":
            await session.execute(delete(TournamentMember).where(mine))
            await delete_empty_teams(session, [tournament.id])
        else:
            until = await first_open_day(session, tournament, now)
            await session.execute(update(TournamentMember).where(mine).values(until_day=until))
    await session.execute(update(TournamentTeam).where(TournamentTeam.captain_id == member_id).values(captain_id=None))


async def hand_over(session: AsyncSession, tournament_id: int, member_id: int) -> None:
    """Makes the member who joined the team next its captain, if `member_id` is."""
    mate = (
        select(TournamentMember.member_id)
        .join(Member, Member.id == TournamentMember.member_id)
        .where(
            TournamentMember.team_id == TournamentTeam.id,
            TournamentMember.member_id != member_id,
            TournamentMember.until_day.is_(None),
            Member.forgotten_at.is_(None),
        )
        .order_by(TournamentMember.joined_at, TournamentMember.member_id)
        .limit(1)
        .scalar_subquery()
    )
    mine = (TournamentTeam.tournament_id == tournament_id, TournamentTeam.captain_id == member_id)
    await session.execute(update(TournamentTeam).where(*mine).values(captain_id=mate), execution_options=_UNSYNCED)


async def delete_empty_teams(session: AsyncSession, tournament_ids: Collection[int]) -> None:
    """Deletes the teams whose captain left alone, of those of these tournaments that have not begun. Such a team would
    stay the smallest, and no other captain could pick."""
    joining = select(Tournament.id).where(Tournament.id.in_(tournament_ids), Tournament.state == "joining")
    mates = exists().where(TournamentMember.team_id == TournamentTeam.id)
    empty = (TournamentTeam.tournament_id.in_(joining), TournamentTeam.captain_id.is_(None), ~mates)
    await session.execute(delete(TournamentTeam).where(*empty), execution_options=_UNSYNCED)


async def merge_members(session: AsyncSession, kept: int, gone: int) -> None:
    """Makes `kept` take part in the place of `gone`. In a tournament in which both do, the team of `kept` stays."""
    both = select(Tournament.id).join(TournamentMember, TournamentMember.tournament_id == Tournament.id)
    both = both.where(TournamentMember.member_id.in_((kept, gone))).order_by(Tournament.id)
    await session.execute(both.with_for_update(of=Tournament, key_share=True))
    mine = select(TournamentMember.tournament_id).where(TournamentMember.member_id == kept)
    leaving = TournamentMember.member_id == gone
    played = list(await session.scalars(mine.where(TournamentMember.tournament_id.in_(_played_by(gone)))))
    for tournament_id in played:
        await hand_over(session, tournament_id, gone)
    twice = delete(TournamentMember).where(leaving, TournamentMember.tournament_id.in_(mine))
    await session.execute(twice, execution_options=_UNSYNCED)
    await delete_empty_teams(session, played)
    moved = update(TournamentMember).where(leaving).values(member_id=kept)
    await session.execute(moved, execution_options=_UNSYNCED)
    for column in (TournamentTeam.captain_id, Tournament.started_by):
        await session.execute(_repoint(column, kept, gone), execution_options=_UNSYNCED)


def _played_by(member_id: int) -> Select[int]:
    return select(TournamentMember.tournament_id).where(TournamentMember.member_id == member_id)


def _repoint(column: Any, kept: int, gone: int) -> Any:
    return update(column.class_).where(column == gone).values({column: kept})


_UNSYNCED = {"synchronize_session": False}
