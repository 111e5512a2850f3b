"""Members as others know them: by name. Who calls, and how they became known, is `members`'."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date

from sqlalchemy import func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.tables import Identity, Member, Round, Schedule, StreakGrace


async def names(session: AsyncSession, workspace_id: int, member_ids: Collection[int]) -> dict[int, str]:
    """The names of these members, of those who belong to the workspace."""
    query = select(Member.id, Member.name).where(Member.workspace_id == workspace_id, Member.id.in_(member_ids))
    return {row.id: row.name for row in await session.execute(query)}


async def called(session: AsyncSession, workspace_id: int, name: str) -> Sequence[Member]:
    """The members of that name in any chat, in whatever case, or of that id on a platform; never the forgotten."""
    wanted = name.strip().removeprefix("@")
    known = select(Identity.member_id).where(
        Identity.workspace_id == workspace_id,
        or_(func.lower(Identity.name) == wanted.lower(), Identity.external_id == wanted),
    )
    query = select(Member).where(
        Member.workspace_id == workspace_id,
        Member.forgotten_at.is_(None),
        Member.merged_into.is_(None),
        or_(func.lower(Member.name) == wanted.lower(), Member.id.in_(known)),
    )
    return (await session.scalars(query.order_by(Member.id))).all()


async def ids(session: AsyncSession, member_ids: Collection[int]) -> Sequence[str]:
    """The platforms' ids of these members, each one's first."""
    first = select(func.min(Identity.id)).where(Identity.member_id.in_(member_ids)).group_by(Identity.member_id)
    query = select(Identity.external_id).where(Identity.id.in_(first)).order_by(Identity.member_id)
    return (await session.scalars(query)).all()


async def one(session: AsyncSession, member_id: int) -> Member:
    """The member's row, which a row of ours names."""
    return (await session.scalars(select(Member).where(Member.id == member_id))).one()


async def excuse(session: AsyncSession, member_id: int, round_ids: Collection[int]) -> None:
    """Let these rounds break no streak of the member; once is enough."""
    rows = [{"round_id": round_id, "member_id": member_id} for round_id in round_ids]
    if rows:
        await session.execute(insert(StreakGrace).values(rows).on_conflict_do_nothing())


async def posted_rounds(session: AsyncSession, workspace_id: int, day: date) -> Sequence[int]:
    """The rounds posted for that local date in any schedule of the workspace."""
    query = (
        select(Round.id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(Schedule.workspace_id == workspace_id, Round.day == day, Round.skipped.is_(None))
    )
    return (await session.scalars(query)).all()
