"""The settings of a workspace that admins change by commands, as a page shows them."""

from __future__ import annotations

from sqlalchemy.ext.asyncio import AsyncSession

from service.rounds import leaderboard
from service.store import banks, reports, tournaments
from service.store.members import Caller
from service.wire import PLATFORM, WorkspaceSettings


async def view(session: AsyncSession, caller: Caller) -> WorkspaceSettings:
    """Returns the settings of the caller's workspace."""
    place = await reports.find_place_name(session, caller.workspace_id)
    chats = await tournaments.list_chats(session, caller.workspace_id)
    return WorkspaceSettings(
        review_channel=place.channel,
        review_member=place.member,
        generated=await banks.get_generated_policy(session, caller.workspace_id),
        chats=tuple(PLATFORM.validate_python(chat.platform) for chat in chats if chat.left_at is None),
        winner_roles=await leaderboard.list_winner_roles(session, [chat.id for chat in chats]),
    )
