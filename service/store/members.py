"""Rows of members and their identities: resolves callers, registering them at their first call, and lists members."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from sqlalchemy import Select, delete, exists, func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from service.errors import Refused
from service.store import bots
from service.store.statements import built_once
from service.store.tables import (
    AnswerRow,
    Channel,
    Chat,
    CurrentAnswer,
    Identity,
    Ledger,
    Member,
    Round,
    Schedule,
    StreakGrace,
    Workspace,
)
from service.store.web_tables import WebPersonRow
from service.wire import (
    INSTALLATION,
    PLATFORM,
    MemberAmbiguous,
    MemberIdentity,
    MemberRow,
    NotFound,
    Platform,
    Where,
    Who,
)


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request, as row ids. Every query is restricted to `workspace_id`."""

    workspace_id: int
    member_id: int
    channel_id: int | None
    name: str
    admin: bool
    chat_id: int
    identity_id: int


async def resolve_caller(session: AsyncSession, who: Who, where: Where | None, now: datetime) -> Caller:
    """Returns the caller, registered or renamed if needed. Otherwise writes nothing.

    A thread that is known as a channel of its own is the caller's channel.
    """
    if where is not None and where.thread:
        where = where.itself if await _knows_channel(session, who, where.thread) else where
    known = await _known_caller(session, who, where)
    if known is not None:
        return known
    chat = await register_chat(session, who.platform, who.workspace, who.application, now)
    channel_id = await _channel(session, chat, where) if where and where.channel else None
    identity = await _identity(session, chat, who, now)
    return Caller(chat.workspace_id, identity.member_id, channel_id, who.name, who.admin, chat.id, identity.id)


async def _knows_channel(session: AsyncSession, who: Who, channel: str) -> bool:
    here = (Chat.platform == who.platform, Chat.external_id == who.workspace, Channel.external_id == channel)
    return await session.scalar(select(Channel.id).join(Chat, Chat.id == Channel.chat_id).where(*here)) is not None


async def _known_caller(session: AsyncSession, who: Who, where: Where | None) -> Caller | None:
    """Returns the caller by one statement, or None if something must be registered or renamed first."""
    channel = where.channel if where else ""
    row = (await session.execute(*_select_caller(who.platform, who.workspace, who.member, channel))).one_or_none()
    if row is None:
        return None
    workspace_id, member_id, channel_id, chat_id, identity_id, name, channel_name, application = row
    if who.application not in ("", application):
        return None
    if name != who.name or (channel and channel_id is None) or (where and where.name not in ("", channel_name)):
        return None
    return Caller(workspace_id, member_id, channel_id if channel else None, who.name, who.admin, chat_id, identity_id)


@built_once
def _select_caller(platform: str, workspace: str, member: str, channel: str) -> Select[Any]:
    # Columns of tables, not of the ORM, which takes as long again. The same is so of every statement of an answer.
    chats, identities, channels = Chat.__table__, Identity.__table__, Channel.__table__
    here = (channels.c.chat_id == chats.c.id) & (channels.c.external_id == channel)
    return (
        select(chats.c.workspace_id, identities.c.member_id, channels.c.id, chats.c.id, identities.c.id)
        .add_columns(identities.c.name, channels.c.name, chats.c.application)
        .select_from(chats)
        .join(identities, (identities.c.chat_id == chats.c.id) & (identities.c.external_id == member))
        .outerjoin(channels, here)
        .where(chats.c.platform == platform, chats.c.external_id == workspace)
    )


async def lock_caller(session: AsyncSession, caller: Caller) -> Caller:
    """Locks the caller's member row, so that only this transaction writes about them. Returns the member they were
    merged into, if that just happened. Refused if they were just forgotten: nothing would erase what is written now."""
    merged_into, forgotten_at = (await session.execute(*_lock_member(caller.member_id))).one()
    if forgotten_at is not None:
        raise Refused(NotFound(what="member", name=caller.name))
    return caller if merged_into is None else await lock_caller(session, replace(caller, member_id=merged_into))


@built_once
def _lock_member(member_id: int) -> Select[Any]:
    members = Member.__table__
    query = select(members.c.merged_into, members.c.forgotten_at).where(members.c.id == member_id)
    return query.with_for_update(key_share=True)


async def lock_in_order(session: AsyncSession, member_ids: Collection[int]) -> list[Member]:
    """Locks the members in the order of their ids."""
    query = select(Member).where(Member.id.in_(member_ids)).order_by(Member.id).with_for_update(key_share=True)
    return list(await session.scalars(query.execution_options(populate_existing=True)))


async def lock_current(session: AsyncSession, member_ids: Collection[int]) -> dict[int, Member]:
    """Locks the members and returns them by these ids; for those who were just merged, the ones they are now."""
    current = {id_: id_ for id_ in member_ids}
    while True:
        locked = {member.id: member for member in await lock_in_order(session, set(current.values()))}
        merged = {id_: locked[now].merged_into for id_, now in current.items()}
        if not any(merged.values()):
            return {id_: locked[now] for id_, now in current.items()}
        current = {id_: merged[id_] or now for id_, now in current.items()}


async def register_chat(
    session: AsyncSession, platform: str, external_id: str, application: str, now: datetime
) -> Chat:
    """Returns the chat, added with a workspace of its own if it is new."""
    query = select(Chat).where(Chat.platform == platform, Chat.external_id == external_id)
    row = await session.scalar(query)
    if row is not None:
        await bots.bind_chat(session, row, application, now)
        return row
    workspace = Workspace(created_at=now)
    session.add(workspace)
    await session.flush()
    values = {"platform": platform, "external_id": external_id, "created_at": now, "application": application}
    made = await session.scalar(
        insert(Chat).values(workspace_id=workspace.id, **values).on_conflict_do_nothing().returning(Chat.id)
    )
    if made is None:  # a concurrent call created it, with a workspace of its own
        await session.execute(delete(Workspace).where(Workspace.id == workspace.id))
    return (await session.scalars(query)).one()


async def _channel(session: AsyncSession, chat: Chat, where: Where) -> int:
    """Returns the channel's row id, registering the channel if needed. An empty name keeps the stored one."""
    query = select(Channel).where(Channel.chat_id == chat.id, Channel.external_id == where.channel)
    row = await session.scalar(query)
    if row is None:
        values = {"workspace_id": chat.workspace_id, "chat_id": chat.id}
        await session.execute(
            insert(Channel).values(**values, external_id=where.channel, name=where.name).on_conflict_do_nothing()
        )
        row = (await session.scalars(query)).one()
    if where.name and where.name != row.name:
        await session.execute(update(Channel).where(Channel.id == row.id).values(name=where.name))
    return row.id


async def _identity(session: AsyncSession, chat: Chat, who: Who, now: datetime) -> Identity:
    query = select(Identity).where(Identity.chat_id == chat.id, Identity.external_id == who.member)
    row = await session.scalar(query)
    if row is None:
        if chat.platform == "web" and await _has_left(session, chat, who.member):
            # An open page may still ask for someone who was just forgotten.
            raise Refused(NotFound(what="member", name=who.member))
        return await _met(session, chat, who, now, query)
    if row.name != who.name:
        await session.execute(update(Identity).where(Identity.id == row.id).values(name=who.name))
        first = select(func.min(Identity.id)).where(Identity.member_id == row.member_id).scalar_subquery()
        await session.execute(update(Member).where(Member.id == row.member_id, first == row.id).values(name=who.name))
    return row


async def _has_left(session: AsyncSession, chat: Chat, person: str) -> bool:
    """Returns whether a person of a web chat was forgotten: nobody else ever gets their id."""
    here = (WebPersonRow.chat_id == chat.id, WebPersonRow.id == person, WebPersonRow.name.is_(None))
    return await session.scalar(select(WebPersonRow.id).where(*here)) is not None


async def _met(session: AsyncSession, chat: Chat, who: Who, now: datetime, query: Select[Identity]) -> Identity:
    """Registers a new member, unless a concurrent call does."""
    member = Member(workspace_id=chat.workspace_id, name=who.name, joined_at=now)
    session.add(member)
    await session.flush()
    values = {"workspace_id": chat.workspace_id, "chat_id": chat.id, "member_id": member.id}
    made = await session.scalar(
        insert(Identity)
        .values(**values, external_id=who.member, name=who.name)
        .on_conflict_do_nothing()
        .returning(Identity.id)
    )
    if made is None:
        await session.execute(delete(Member).where(Member.id == member.id))
    return (await session.scalars(query)).one()


def merged_ids(member_id: int) -> Select[int]:
    """Selects the member's own id and the ids of members merged into it: the ids that their log is written under."""
    return select(Member.id).where(or_(Member.id == member_id, Member.merged_into == member_id))


async def resolve_merged(session: AsyncSession, member_id: int) -> Member:
    """Returns the member, or the one they were merged into."""
    query = select(func.coalesce(Member.merged_into, Member.id)).where(Member.id == member_id).scalar_subquery()
    return (await session.scalars(select(Member).where(Member.id == query))).one()


async def list_current_ids(session: AsyncSession, member_ids: Collection[int]) -> set[int]:
    """Returns the ids of these members; of those who were merged, of the member they were merged into."""
    query = select(func.coalesce(Member.merged_into, Member.id)).where(Member.id.in_(member_ids))
    return set(await session.scalars(query))


async def share_member(session: AsyncSession, member_id: int) -> Member:
    """Returns the member, or the one they were merged into. They are neither merged nor forgotten until the transaction
    ends."""
    query = select(Member).where(Member.id == member_id).with_for_update(read=True)
    member: Member = (await session.scalars(query.execution_options(populate_existing=True))).one()
    return member if member.merged_into is None else await share_member(session, member.merged_into)


async def get_member(session: AsyncSession, member_id: int) -> Member:
    """Returns the member of an id that another row refers to."""
    member: Member = (await session.scalars(*_select_member(member_id))).one()
    return member


@built_once
def _select_member(member_id: int) -> Select[Member]:
    return select(Member).where(Member.id == member_id)


async def get_names(session: AsyncSession, workspace_id: int, member_ids: Collection[int]) -> dict[int, str]:
    """Returns the names of those members that belong to the workspace."""
    query = select(Member.id, Member.name).where(Member.workspace_id == workspace_id, Member.id.in_(member_ids))
    return {row.id: row.name for row in await session.execute(query)}


async def find_identity(session: AsyncSession, chat_id: int, external_id: str) -> int | None:
    """Returns the member with that platform id in the chat."""
    query = select(Identity.member_id).where(Identity.chat_id == chat_id, Identity.external_id == external_id)
    return await session.scalar(query)


_INSTALLATIONS = select(Identity.member_id).where(Identity.external_id == INSTALLATION)


async def is_installation(session: AsyncSession, member_id: int) -> bool:
    """Returns whether the member stands for the installation, whom no message reaches."""
    return bool(await session.scalar(select(exists(_INSTALLATIONS.where(Identity.member_id == member_id)))))


async def find_members(session: AsyncSession, workspace_id: int, name: str) -> Sequence[Member]:
    """Returns members with that name in any chat, ignoring case, or with that platform id. Leaves out forgotten
    members, and the installation."""
    wanted = name.strip().removeprefix("@")
    known = select(Identity.member_id).where(
        Identity.workspace_id == workspace_id,
        or_(func.lower(Identity.name) == wanted.lower(), Identity.external_id == wanted),
    )
    query = select(Member).where(
        Member.workspace_id == workspace_id,
        Member.forgotten_at.is_(None),
        Member.merged_into.is_(None),
        Member.id.not_in(_INSTALLATIONS),
        or_(func.lower(Member.name) == wanted.lower(), Member.id.in_(known)),
    )
    return (await session.scalars(query.order_by(Member.id))).all()


async def list_identities(session: AsyncSession, member_id: int) -> Sequence[tuple[Identity, Chat]]:
    """Returns a member's identities with their chats, oldest first."""
    query = select(Identity, Chat).join(Chat, Chat.id == Identity.chat_id).where(Identity.member_id == member_id)
    return [(identity, chat) for identity, chat in await session.execute(query.order_by(Identity.id))]


async def list_platform_ids(session: AsyncSession, member_ids: Collection[int]) -> Sequence[str]:
    """Returns the platform id of each member's oldest identity."""
    first = select(func.min(Identity.id)).where(Identity.member_id.in_(member_ids)).group_by(Identity.member_id)
    query = select(Identity.external_id).where(Identity.id.in_(first)).order_by(Identity.member_id)
    return (await session.scalars(query)).all()


async def list_ids_on(session: AsyncSession, platform: Platform, member_ids: Collection[int]) -> dict[int, str]:
    """Returns the oldest id on a platform of each of these members who has one."""
    if not member_ids:
        return {}
    rows = await session.execute(_IDS_ON, {"people": list(member_ids), "platform": platform})
    return {row.member_id: row.external_id for row in rows}


_IDS_ON = text("select * from list_ids_on(:people, :platform)")


async def list_rounds_on(session: AsyncSession, workspace_id: int, day: date) -> Sequence[int]:
    """Returns the rounds posted on that local date by any schedule of the workspace."""
    query = (
        select(Round.id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(Schedule.workspace_id == workspace_id, Round.day == day, Round.skipped.is_(None))
    )
    return (await session.scalars(query)).all()


async def find_home(session: AsyncSession, platform: str, application: str, external_id: str) -> str:
    """Returns the chat of the platform in which a person answered last, or else joined last; empty without one.

    Leaves out the chats that another application serves, or that the bot has left.
    """
    answered = (
        select(func.max(AnswerRow.id))
        .where(AnswerRow.chat_id == Identity.chat_id, AnswerRow.member_id == Identity.member_id)
        .correlate(Identity)
        .scalar_subquery()
    )
    served = (Chat.platform == platform, Chat.application.in_((application, "")), Chat.left_at.is_(None))
    query = (
        select(Chat.external_id)
        .join(Identity, Identity.chat_id == Chat.id)
        .where(*served, Identity.external_id == external_id)
        .order_by(answered.desc().nulls_last(), Identity.id.desc())
        .limit(1)
    )
    return await session.scalar(query) or ""


async def add_streak_graces(session: AsyncSession, member_id: int, round_ids: Collection[int]) -> None:
    """Excuses the member from these rounds, so that they break no streak. Does nothing for rounds already excused."""
    rows = [{"round_id": round_id, "member_id": member_id} for round_id in round_ids]
    if rows:
        await session.execute(insert(StreakGrace).values(rows).on_conflict_do_nothing())


async def forget_streak_graces(session: AsyncSession, member_id: int) -> None:
    """Deletes which rounds the member was excused from."""
    await session.execute(delete(StreakGrace).where(StreakGrace.member_id.in_(merged_ids(member_id))))


async def list_member_rows(
    session: AsyncSession, workspace_id: int, text: str, page: int, size: int, member_id: int | None = None
) -> tuple[Sequence[MemberRow], int]:
    """Returns a page of the members whose name has the text, the most active first, and how many there are. With an id,
    only that member, or the one into whom they were merged. Leaves out the installation."""
    current = [Member.workspace_id == workspace_id, Member.forgotten_at.is_(None), Member.merged_into.is_(None)]
    current.append(Member.id.not_in(_INSTALLATIONS))
    if text.strip():
        current.append(Member.name.icontains(text.strip(), autoescape=True))
    if member_id is not None:
        named = aliased(Member)
        owner = select(func.coalesce(named.merged_into, named.id)).where(named.id == member_id)
        current.append(Member.id == owner.scalar_subquery())
    total = int(await session.scalar(select(func.count()).select_from(Member).where(*current)) or 0)
    answered = (
        select(
            CurrentAnswer.member_id,
            func.count().label("rounds"),
            func.max(AnswerRow.at).label("last_at"),
        )
        .join(AnswerRow, AnswerRow.id == CurrentAnswer.answer_id)
        .join(Member, Member.id == CurrentAnswer.member_id)
        .where(Member.workspace_id == workspace_id)
        .group_by(CurrentAnswer.member_id)
        .subquery()
    )
    query = (
        select(Member, answered.c.rounds, answered.c.last_at)
        .outerjoin(answered, answered.c.member_id == Member.id)
        .where(*current)
        .order_by(answered.c.last_at.desc().nulls_last(), Member.id)
        .limit(size)
        .offset(size * (page - 1))
    )
    rows = (await session.execute(query)).all()
    ids = [member.id for member, *_ in rows]
    known, points = await _list_identities(session, ids), await _sum_points(session, ids)
    return [
        MemberRow(
            name=member.name,
            joined_at=member.joined_at,
            last_at=last_at,
            answered=rounds or 0,
            points=points.get(member.id, 0),
            hidden=member.hidden,
            identities=tuple(known.get(member.id, ())),
        )
        for member, rounds, last_at in rows
    ], total


async def _list_identities(session: AsyncSession, member_ids: Collection[int]) -> dict[int, list[MemberIdentity]]:
    query = select(Identity, Chat).join(Chat, Chat.id == Identity.chat_id).where(Identity.member_id.in_(member_ids))
    found: dict[int, list[MemberIdentity]] = {}
    for identity, chat in await session.execute(query.order_by(Identity.id)):
        found.setdefault(identity.member_id, []).append(
            MemberIdentity(platform=PLATFORM.validate_python(chat.platform), member=identity.external_id)
        )
    return found


async def _sum_points(session: AsyncSession, member_ids: Collection[int]) -> dict[int, int]:
    """Returns the members' points, with those of members merged into them."""
    owner = func.coalesce(Member.merged_into, Member.id)
    query = (
        select(owner, func.sum(Ledger.points))
        .join(Member, Member.id == Ledger.member_id)
        .where(or_(Member.id.in_(member_ids), Member.merged_into.in_(member_ids)))
        .group_by(owner)
    )
    return {id_: int(points) for id_, points in await session.execute(query)}


async def find_named_member(session: AsyncSession, caller: Caller, name: str) -> Member:
    """Returns the member of the caller's workspace with that name. Refused if there is none, or more than one."""
    found = await find_members(session, caller.workspace_id, name)
    if not found:
        raise Refused(NotFound(what="member", name=name))
    if len(found) > 1:
        ids = await list_platform_ids(session, [member.id for member in found])
        raise Refused(MemberAmbiguous(name=name, ids=tuple(ids)))
    return found[0]


async def lock_named_member(session: AsyncSession, caller: Caller, name: str) -> Member:
    """Returns the member of the caller's workspace with that name, locked until the transaction ends; or the one they
    were merged into, if that just happened. Refused as `find_named_member`, and if they were just forgotten."""
    found = (await find_named_member(session, caller, name)).id
    member = (await lock_current(session, [found]))[found]
    if member.forgotten_at is not None:
        raise Refused(NotFound(what="member", name=name))
    return member
