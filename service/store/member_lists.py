"""Pages of a workspace's members for its admins."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pydantic import TypeAdapter
from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.tables import AnswerRow, Chat, CurrentAnswer, Identity, Ledger, Member
from service.wire import MemberIdentity, MemberRow, Platform

PLATFORM: TypeAdapter[Platform] = TypeAdapter(Platform)


async def list_members(
    session: AsyncSession, workspace_id: int, text: str, page: int, size: int
) -> tuple[Sequence[MemberRow], int]:
    """Returns a page of the members whose name has the text, the most active first, and how many there are."""
    current = [Member.workspace_id == workspace_id, Member.forgotten_at.is_(None), Member.merged_into.is_(None)]
    if text.strip():
        current.append(Member.name.icontains(text.strip(), autoescape=True))
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
