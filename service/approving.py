"""Generated questions that wait until somebody has read them, and what a workspace does with new ones."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import NotFound
from service.store import banks
from service.store.members import Caller
from service.wire import Generated

ALL = "all"


async def approve(session: AsyncSession, workspace_id: int | None, question: str) -> int:
    """Have a waiting question of the workspace's own banks, or `all` of them, be asked; how many those were.

    With `workspace_id` None it is those of the banks for everybody, which no workspace approves for the others.
    """
    count = await banks.approve(session, workspace_id, None if question.strip().lower() == ALL else question)
    if not count:
        what = "waiting question" if question.strip().lower() == ALL else f"waiting question {question!r}"
        raise NotFound(
            what=what, cure="The list of banks says how many wait in each; only your own are yours to approve."
        )
    return count


async def set_generated(session: AsyncSession, caller: Caller, generated: Generated) -> None:
    """What this workspace's next imports do with choices made of a document's prose."""
    await banks.set_generated(session, caller.workspace_id, generated)
