"""Taking questions out of a workspace's choosing, and putting them back. Documents retire theirs in `importing`."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import NotFound, NotPossible
from service.store import banks
from service.store.members import Caller


async def set_retired(session: AsyncSession, caller: Caller, question: str, retired: bool, now: datetime) -> None:
    """Ask the question no more in this workspace, or ask it again; refused where its document dropped it."""
    found = await banks.named(session, caller.workspace_id, question)
    if not found:
        raise NotFound(what=f"question {question!r}", cure="Its id stands below every question.")
    row, _ = found[0]
    if retired:
        await banks.retire(session, caller.workspace_id, row.id, now)
        return
    if row.retired_at is not None:
        raise NotPossible(cause=f"The bank's document no longer holds {question}: put it back there and import again.")
    await banks.put_back(session, caller.workspace_id, row.id)
