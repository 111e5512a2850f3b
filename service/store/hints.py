"""Rows of hints that members took."""

from __future__ import annotations

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.round_member_tables import HintTaken


async def add(session: AsyncSession, round_id: int, member_id: int) -> None:
    """Records that the member took the round's hint, once."""
    taken = insert(HintTaken).values(round_id=round_id, member_id=member_id)
    await session.execute(taken.on_conflict_do_nothing())


async def is_taken(session: AsyncSession, round_id: int, member_id: int) -> bool:
    """Returns whether the member took the round's hint."""
    return await session.get(HintTaken, (round_id, member_id)) is not None


async def list_members(session: AsyncSession, round_id: int) -> frozenset[int]:
    """Returns the members who took the round's hint."""
    return frozenset(await session.scalars(select(HintTaken.member_id).where(HintTaken.round_id == round_id)))


async def forget_hints(session: AsyncSession, member_id: int) -> None:
    """Deletes which hints the member took. Points that they cost stay in the ledger."""
    await session.execute(delete(HintTaken).where(HintTaken.member_id == member_id))


async def merge_hints(session: AsyncSession, kept: int, gone: int) -> None:
    """Moves the hints of the member `gone` to `kept`."""
    for round_id in await session.scalars(select(HintTaken.round_id).where(HintTaken.member_id == gone)):
        await add(session, round_id, kept)
    await forget_hints(session, gone)
