"""Rows of the roles that winners of seasons are given, one per chat."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import case, delete, func, literal, select, update
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.board_tables import WinnerRole
from service.store.tables import Channel, Chat, Identity, Outbox


async def find(session: AsyncSession, chat_id: int) -> tuple[WinnerRole, Channel] | None:
    """Returns the role of a chat and the channel in which it is announced."""
    query = select(WinnerRole, Channel).join(Channel, Channel.id == WinnerRole.channel_id)
    row = (await session.execute(query.where(WinnerRole.chat_id == chat_id))).one_or_none()
    return None if row is None else (row[0], row[1])


async def save(session: AsyncSession, chat_id: int, channel_id: int, role: str, now: datetime) -> None:
    """Sets the role, or with an empty one removes it. An announcement that waits gives the new one, at once."""
    waiting = (Outbox.chat_id == chat_id, Outbox.kind == "winner", Outbox.state == "due")
    if not role:
        await session.execute(delete(WinnerRole).where(WinnerRole.chat_id == chat_id))
        await session.execute(update(Outbox).where(*waiting).values(state="skipped", error="the role was turned off"))
        return
    values = {"chat_id": chat_id, "channel_id": channel_id, "role": role}
    # Who held another role keeps it.
    holders = case((WinnerRole.role == role, WinnerRole.holders), else_=literal([], JSONB))
    changed = {"channel_id": channel_id, "role": role, "holders": holders}
    made = insert(WinnerRole).values(values).on_conflict_do_update(index_elements=["chat_id"], set_=changed)
    await session.execute(made)
    body = func.jsonb_set(Outbox.body, ["role"], func.to_jsonb(literal(role)), type_=JSONB)
    await session.execute(
        update(Outbox).where(*waiting).values(body=body, not_before=now).execution_options(synchronize_session=False)
    )


async def list_roles(session: AsyncSession, workspace_id: int) -> Sequence[WinnerRole]:
    """Returns the roles of the workspace's chats, locked."""
    query = select(WinnerRole).join(Chat, Chat.id == WinnerRole.chat_id).where(Chat.workspace_id == workspace_id)
    return (await session.scalars(query.order_by(WinnerRole.chat_id).with_for_update(of=WinnerRole))).all()


async def list_external_ids(session: AsyncSession, chat_id: int, member_ids: Collection[int]) -> tuple[str, ...]:
    """Returns how a chat names the members that it knows."""
    query = select(Identity.external_id).where(Identity.chat_id == chat_id, Identity.member_id.in_(member_ids))
    return tuple(await session.scalars(query.order_by(Identity.id)))
