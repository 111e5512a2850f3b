"""Where the sandboxes can compute, as workers last saw it, and which questions that rules out."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import ColumnElement, case, delete, exists, false, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.tables import QuestionVersion, SandboxDevice


async def see(session: AsyncSession, devices: Collection[str], now: datetime, oldest: datetime) -> None:
    """These are there now; those not seen since `oldest` are there no more."""
    if devices:
        rows = [{"device": device, "seen_at": now} for device in sorted(devices)]
        new = insert(SandboxDevice).values(rows)
        # Another worker may have looked later, and then this news is old.
        latest = func.greatest(SandboxDevice.seen_at, new.excluded.seen_at)
        await session.execute(new.on_conflict_do_update(index_elements=["device"], set_={"seen_at": latest}))
    await session.execute(delete(SandboxDevice).where(SandboxDevice.seen_at < oldest))


async def gpu_seen(session: AsyncSession) -> bool:
    """Whether some sandbox has a GPU."""
    return bool(await session.scalar(select(has_gpu())))


def lacks_gpu() -> ColumnElement[bool]:
    """Whether `QuestionVersion` is judged on a GPU alone, and no sandbox has one."""
    # Case by case: of other kinds the body, which may be long, is not looked into.
    device = QuestionVersion.body["task"]["device"].astext
    return ~has_gpu() & case((QuestionVersion.kind == "code", func.coalesce(device == "cuda", false())), else_=false())


def has_gpu() -> ColumnElement[bool]:
    """Whether some sandbox has a GPU."""
    return exists().where(SandboxDevice.device == "cuda")
