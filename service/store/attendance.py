"""Who answered which rounds of a schedule, for streaks. It counts nothing itself."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.schedules import posts_to
from service.store.tables import Round, Schedule, Standing, StreakGrace
from service.streaks import Attendance

Histories = dict[tuple[int, int], list[Attendance]]


async def histories(session: AsyncSession, schedule_ids: Collection[int], member_ids: Collection[int]) -> Histories:
    """For each (schedule, member) the schedule's rounds oldest first.

    Skipped rounds, restored ones and those before the member's first answer are excused. A round that is still
    open and not answered is left out: it may yet be.
    """
    rounds = (
        await session.execute(
            select(Round.schedule_id, Round.id, Round.skipped, Round.closed_at)
            .where(Round.schedule_id.in_(schedule_ids))
            .order_by(Round.schedule_id, Round.day)
        )
    ).all()
    answered = await _pairs(session, Standing, schedule_ids, member_ids)
    excused = await _pairs(session, StreakGrace, schedule_ids, member_ids)
    found: Histories = {(schedule, member): [] for schedule in schedule_ids for member in member_ids}
    for schedule_id, round_id, skipped, closed_at in rounds:
        for member_id in member_ids:
            pair, history = (round_id, member_id), found[schedule_id, member_id]
            if pair in answered:
                history.append("answered")
            elif skipped is not None or pair in excused or "answered" not in history:
                history.append("excused")
            elif closed_at is not None:
                history.append("missed")
    return found


async def schedules_of(session: AsyncSession, workspace_id: int, channel_id: int | None) -> list[int]:
    """The schedules whose streaks still run: those of the channel, or of the whole workspace, not removed."""
    query = select(Schedule.id).where(Schedule.workspace_id == workspace_id, Schedule.removed_at.is_(None))
    if channel_id is not None:
        query = query.where(posts_to(channel_id))
    return list(await session.scalars(query.order_by(Schedule.id)))


async def _pairs(
    session: AsyncSession,
    table: type[Standing] | type[StreakGrace],
    schedule_ids: Collection[int],
    member_ids: Collection[int],
) -> set[tuple[int, int]]:
    query = (
        select(table.round_id, table.member_id)
        .join(Round, Round.id == table.round_id)
        .where(Round.schedule_id.in_(schedule_ids), table.member_id.in_(member_ids))
    )
    return {(round_id, member_id) for round_id, member_id in await session.execute(query)}
