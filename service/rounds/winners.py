"""Announces the winner of a season, whom the chat gives a role that an admin named."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from service.rounds import alerts
from service.store import boards, outbox
from service.store.ledger import list_hidden_members
from service.store.members import Caller
from service.store.tables import Season
from service.wire import BoardRow, WinnerPost, WinnerRoleView

SHOWN = 3
"""Members of the final board who are named."""
TIMEOUT = timedelta(days=7)
"""How long the chat may refuse the role before it is given up."""


async def set_role(session: AsyncSession, caller: Caller, channel_id: int, role: str, now: datetime) -> WinnerRoleView:
    """Names the role of the caller's chat and where the winner is announced; an empty one turns it off."""
    await boards.save_winner_role(session, caller.chat_id, channel_id, role, now)
    await alerts.close_role_trouble(session, caller.workspace_id, caller.chat_id, now)
    return await view_role(session, caller)


async def view_role(session: AsyncSession, caller: Caller) -> WinnerRoleView:
    """Returns the role of the caller's chat."""
    found = await boards.find_winner_role(session, caller.chat_id)
    if found is None:
        return WinnerRoleView()
    row, channel = found
    return WinnerRoleView(role=row.role, channel_name=channel.name or channel.external_id)


async def announce(session: AsyncSession, season: Season, now: datetime) -> None:
    """Enqueues the announcement of a season that has ended, once for each chat with a role."""
    roles = await boards.list_winner_roles(session, season.workspace_id)
    hidden = await list_hidden_members(session, season.workspace_id) if roles else set()
    shown = [row for row in season.archive or () if row["member"] not in hidden]
    if not shown:
        return
    best = min(row["rank"] for row in shown)
    winners = [row["member"] for row in shown if row["rank"] == best]
    top = tuple(BoardRow.model_validate(_row(row)) for row in shown[: max(SHOWN, len(winners))])
    for role in roles:
        former = [member for member in role.holders if member not in winners]
        body = WinnerPost(
            season=season.name,
            top=top,
            role=role.role,
            winners=await boards.list_external_ids(session, role.chat_id, winners),
            former=await boards.list_external_ids(session, role.chat_id, former),
        )
        message = outbox.NewMessage(
            key=f"season:{season.id}:winner:{role.chat_id}",
            body=body,
            workspace_id=season.workspace_id,
            channel_id=role.channel_id,
        )
        await outbox.enqueue(session, message, now, now + TIMEOUT)
        role.holders = winners


def _row(archived: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in archived.items() if name != "member"} | {"me": False}
