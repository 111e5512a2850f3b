"""Chats of workspaces as rows, and one workspace moved into another. Whether it may be is `joining`'s business."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, literal, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.tables import (
    Answer,
    Bank,
    Base,
    Channel,
    Chat,
    Ledger,
    LinkCode,
    LinkGuess,
    Member,
    Retirement,
    Round,
    Schedule,
    Season,
    Trouble,
    Workspace,
)

MOVED = (
    "chat",
    "channel",
    "member",
    "identity",
    "schedule",
    "schedule_channel",
    "bank",
    "season",
    "ledger",
    "outbox",
    "report",
    "audit",
)
"""Every table filed under a workspace, but for those whose rows are united or end with it."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a workspace has."""

    schedules: int
    members: int
    points: int
    banks: int
    seasons: int
    answers: int

    @property
    def is_history(self) -> bool:
        """Whether anything but members who have done nothing."""
        return any((self.schedules, self.points, self.banks, self.seasons, self.answers))


async def greet(session: AsyncSession, chat_id: int, now: datetime) -> bool:
    """Note that the bot said hello; True for the first time in this chat."""
    first = update(Chat).where(Chat.id == chat_id, Chat.greeted_at.is_(None)).values(greeted_at=now)
    return await session.scalar(first.returning(Chat.id)) is not None


async def of_channel(session: AsyncSession, channel_id: int) -> Chat:
    """The chat a channel is in."""
    query = select(Chat).join(Channel, Channel.chat_id == Chat.id).where(Channel.id == channel_id)
    return (await session.scalars(query)).one()


async def platforms(session: AsyncSession, workspace_ids: Sequence[int]) -> Sequence[Any]:
    """The platforms of these workspaces' chats, each once, in the order they came."""
    query = select(Chat.platform).where(Chat.workspace_id.in_(workspace_ids)).order_by(Chat.id)
    return list(dict.fromkeys(await session.scalars(query)))


async def hold(session: AsyncSession, workspace_ids: Sequence[int]) -> None:
    """Let those who move one of these workspaces wait for one another until the transaction ends."""
    query = select(Workspace.id).where(Workspace.id.in_(workspace_ids)).order_by(Workspace.id).with_for_update()
    await session.execute(query)


async def open_round(session: AsyncSession, workspace_id: int) -> tuple[Round, str] | None:
    """A round of the workspace whose books are open, and the name of its schedule's channel."""
    query = (
        select(Round, func.coalesce(func.nullif(Channel.name, ""), Channel.external_id))
        .join(Schedule, Schedule.id == Round.schedule_id)
        .join(Channel, Channel.id == Schedule.channel_id)
        .where(Schedule.workspace_id == workspace_id, Round.closed_at.is_(None), Round.skipped.is_(None))
        .order_by(Round.closes_at.desc())
        .limit(1)
    )
    row = (await session.execute(query)).one_or_none()
    return None if row is None else (row[0], row[1])


async def holdings(session: AsyncSession, workspace_id: int) -> Holdings:
    """What the workspace has: schedules that were not removed, people, points, banks of its own, seasons, answers."""
    here = select(Member.id).where(Member.workspace_id == workspace_id)
    people = (Member.workspace_id == workspace_id, Member.merged_into.is_(None), Member.forgotten_at.is_(None))
    counted = (
        select(func.count()).where(Schedule.workspace_id == workspace_id, Schedule.removed_at.is_(None)),
        select(func.count()).where(*people),
        select(func.coalesce(func.sum(Ledger.points), 0)).where(Ledger.workspace_id == workspace_id),
        select(func.count()).where(Bank.workspace_id == workspace_id),
        select(func.count()).where(Season.workspace_id == workspace_id),
        select(func.count()).where(Answer.member_id.in_(here)),
    )
    return Holdings(*[int(await session.scalar(query) or 0) for query in counted])


async def move(session: AsyncSession, old: int, new: int) -> None:
    """File everything of one workspace under the other, and delete the one that is then empty.

    Names of banks and seasons that are taken there get a number; what either retired stays retired. Nothing that
    was logged or booked changes but where it is filed. Had a table been left out, the deletion would be refused.
    """
    await session.execute(text("set constraints all deferred"))
    await session.execute(text("select set_config('dailygrad.joining', 'on', true)"))
    await _rename(session, Bank, old, new)
    await _rename(session, Season, old, new)
    retired = select(literal(new), Retirement.question_id, Retirement.at).where(Retirement.workspace_id == old)
    columns = ["workspace_id", "question_id", "at"]
    await session.execute(insert(Retirement).from_select(columns, retired).on_conflict_do_nothing())
    for ending in (Retirement, LinkCode, LinkGuess, Trouble):
        await session.execute(delete(ending).where(ending.workspace_id == old))
    for moved in MOVED:
        rows = Base.metadata.tables[moved]
        await session.execute(update(rows).where(rows.c.workspace_id == old).values(workspace_id=new))
    await session.execute(text("select set_config('dailygrad.joining', 'off', true)"))
    await session.execute(text("set constraints all immediate"))
    await session.execute(delete(Workspace).where(Workspace.id == old))


async def _rename(session: AsyncSession, table: type[Bank] | type[Season], old: int, new: int) -> None:
    rows: list[Bank | Season] = list(await session.scalars(select(table).where(table.workspace_id.in_((old, new)))))
    taken = {row.name.casefold() for row in rows}
    there = {row.name.casefold() for row in rows if row.workspace_id == new}
    for row in rows:
        if row.workspace_id == new or row.name.casefold() not in there:
            continue
        row.name = next(name for number in range(2, 10**6) if (name := f"{row.name} {number}").casefold() not in taken)
        taken.add(row.name.casefold())
    await session.flush()
