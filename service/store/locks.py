"""Advisory locks that processes share, held until the transaction ends."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from sqlalchemy import BigInteger, cast, func, literal, select
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncSession

CHOOSING: Final = 0x_5A_0001
"""Kind of the lock for choosing questions in a workspace."""
CLOSING: Final = 0x_5A_0002
"""Kind of the lock for closing a round."""
GIVING_UP: Final = 0x_5A_0003
"""Kind of the lock for giving up messages."""


async def try_lock(session: AsyncSession, kind: int, ids: Collection[int]) -> set[int]:
    """Locks these ids, except those that another transaction has locked. Returns the ones it got."""
    wanted = func.unnest(cast(literal(sorted(ids)), ARRAY(BigInteger))).column_valued("id")
    # A kind takes the upper bits, so ids of one kind are never those of another.
    query = select(wanted).where(func.pg_try_advisory_xact_lock((kind << 40) + wanted))
    return set(await session.scalars(query))


async def lock(session: AsyncSession, kind: int, id_: int) -> None:
    """Locks an id, and waits for it."""
    await session.execute(select(func.pg_advisory_xact_lock((kind << 40) + id_)))
