"""Chats of workspaces as rows, and one workspace moved into another. Whether it may be is `joining`'s business."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, delete, func, literal, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.members import Caller
from service.store.tables import (
    AnswerRow,
    BankRow,
    Base,
    Channel,
    Chat,
    InstallationRow,
    Ledger,
    LinkCodeRow,
    LinkGuess,
    Member,
    OAuthState,
    Retirement,
    Round,
    Schedule,
    Season,
    Trouble,
    Workspace,
)
from service.wire import InstallationKey

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
    def has_history(self) -> bool:
        """Whether anything but members who have done nothing."""
        return any((self.schedules, self.points, self.banks, self.seasons, self.answers))


async def mark_greeted(session: AsyncSession, chat_id: int, now: datetime) -> bool:
    """Note that the bot said hello; True for the first time in this chat."""
    first = update(Chat).where(Chat.id == chat_id, Chat.greeted_at.is_(None)).values(greeted_at=now)
    return await session.scalar(first.returning(Chat.id)) is not None


async def get_chat_of_channel(session: AsyncSession, channel_id: int) -> Chat:
    """The chat a channel is in."""
    query = select(Chat).join(Channel, Channel.chat_id == Chat.id).where(Channel.id == channel_id)
    return (await session.scalars(query)).one()


async def list_platforms(session: AsyncSession, workspace_ids: Sequence[int]) -> Sequence[Any]:
    """The platforms of these workspaces' chats, each once, in the order they came."""
    query = select(Chat.platform).where(Chat.workspace_id.in_(workspace_ids)).order_by(Chat.id)
    return list(dict.fromkeys(await session.scalars(query)))


async def lock_workspaces(session: AsyncSession, workspace_ids: Sequence[int]) -> None:
    """Let those who move one of these workspaces wait for one another until the transaction ends."""
    query = select(Workspace.id).where(Workspace.id.in_(workspace_ids)).order_by(Workspace.id).with_for_update()
    await session.execute(query)


async def find_open_round(session: AsyncSession, workspace_id: int) -> tuple[Round, str] | None:
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


async def count_holdings(session: AsyncSession, workspace_id: int) -> Holdings:
    """What the workspace has: schedules that were not removed, people, points, banks of its own, seasons, answers."""
    here = select(Member.id).where(Member.workspace_id == workspace_id)
    people = (Member.workspace_id == workspace_id, Member.merged_into.is_(None), Member.forgotten_at.is_(None))
    counted = (
        select(func.count()).where(Schedule.workspace_id == workspace_id, Schedule.removed_at.is_(None)),
        select(func.count()).where(*people),
        select(func.coalesce(func.sum(Ledger.points), 0)).where(Ledger.workspace_id == workspace_id),
        select(func.count()).where(BankRow.workspace_id == workspace_id),
        select(func.count()).where(Season.workspace_id == workspace_id),
        select(func.count()).where(AnswerRow.member_id.in_(here)),
    )
    return Holdings(*[int(await session.scalar(query) or 0) for query in counted])


async def merge_workspace(session: AsyncSession, old: int, new: int) -> None:
    """File everything of one workspace under the other, and delete the one that is then empty.

    Names of banks and seasons that are taken there get a number; what either retired stays retired. Nothing that
    was logged or booked changes but where it is filed. Had a table been left out, the deletion would be refused.
    """
    await session.execute(text("set constraints all deferred"))
    await session.execute(text("select set_config('dailygrad.joining', 'on', true)"))
    await _rename(session, BankRow, old, new)
    await _rename(session, Season, old, new)
    retired = select(literal(new), Retirement.question_id, Retirement.at).where(Retirement.workspace_id == old)
    columns = ["workspace_id", "question_id", "at"]
    await session.execute(insert(Retirement).from_select(columns, retired).on_conflict_do_nothing())
    for ending in (Retirement, LinkCodeRow, LinkGuess, Trouble):
        await session.execute(delete(ending).where(ending.workspace_id == old))
    for moved in MOVED:
        rows = Base.metadata.tables[moved]
        await session.execute(update(rows).where(rows.c.workspace_id == old).values(workspace_id=new))
    await session.execute(text("select set_config('dailygrad.joining', 'off', true)"))
    await session.execute(text("set constraints all immediate"))
    await session.execute(delete(Workspace).where(Workspace.id == old))


async def _rename(session: AsyncSession, table: type[BankRow] | type[Season], old: int, new: int) -> None:
    rows: list[BankRow | Season] = list(await session.scalars(select(table).where(table.workspace_id.in_((old, new)))))
    taken = {row.name.casefold() for row in rows}
    there = {row.name.casefold() for row in rows if row.workspace_id == new}
    for row in rows:
        if row.workspace_id == new or row.name.casefold() not in there:
            continue
        row.name = next(name for number in range(2, 10**6) if (name := f"{row.name} {number}").casefold() not in taken)
        taken.add(row.name.casefold())
    await session.flush()


async def save_installation(session: AsyncSession, key: InstallationKey, values: dict[str, Any]) -> None:
    """Write an installation, new or in place of what was known of it."""
    fresh = {**values, "leased_until": None, "revoked_at": None}
    made = insert(InstallationRow).values(platform=key.platform, enterprise=key.enterprise, team=key.team, **fresh)
    await session.execute(made.on_conflict_do_update(index_elements=["platform", "enterprise", "team"], set_=fresh))


async def find_installation(session: AsyncSession, key: InstallationKey) -> InstallationRow | None:
    """The team's installation, the newest first, else that of its whole enterprise."""
    wide = (InstallationRow.team == "") & (InstallationRow.enterprise == key.enterprise)
    mine = InstallationRow.team == key.team
    query = (
        select(InstallationRow)
        .where(
            InstallationRow.platform == key.platform,
            InstallationRow.revoked_at.is_(None),
            or_(mine, wide) if key.enterprise else mine & (InstallationRow.team != ""),
        )
        .order_by((InstallationRow.team == "").asc(), InstallationRow.installed_at.desc())
        .limit(1)
    )
    return await session.scalar(query)


async def revoke_installation(session: AsyncSession, key: InstallationKey, now: datetime) -> None:
    """Throw both tokens away."""
    within = [InstallationRow.enterprise == key.enterprise] if key.enterprise or not key.team else []
    await session.execute(
        update(InstallationRow)
        .where(InstallationRow.platform == key.platform, InstallationRow.team == key.team, *within)
        .values(token=None, refresh=None, leased_until=None, revoked_at=now)
    )


async def list_expiring_installations(
    session: AsyncSession, platform: str, now: datetime, by: datetime
) -> Sequence[InstallationRow]:
    """Those whose token ends by then, that nobody is refreshing, the most urgent first."""
    query = select(InstallationRow).where(InstallationRow.platform == platform, *_refreshable(now, by))
    return (await session.scalars(query.order_by(InstallationRow.expires_at, InstallationRow.id))).all()


async def lease_refresh_token(
    session: AsyncSession, key: InstallationKey, now: datetime, by: datetime, until: datetime
) -> bytes | None:
    """The refresh token of one that is due, to this caller alone until then; another who asks meanwhile waits for this
    transaction, and gets None."""
    taken = (
        update(InstallationRow)
        .where(
            InstallationRow.platform == key.platform,
            InstallationRow.enterprise == key.enterprise,
            InstallationRow.team == key.team,
            *_refreshable(now, by),
        )
        .values(leased_until=until)
        .returning(InstallationRow.refresh)
    )
    return await session.scalar(taken)


def _refreshable(now: datetime, by: datetime) -> list[ColumnElement[bool]]:
    return [
        InstallationRow.revoked_at.is_(None),
        InstallationRow.refresh.is_not(None),
        InstallationRow.expires_at <= by,
        or_(InstallationRow.leased_until.is_(None), InstallationRow.leased_until <= now),
    ]


async def add_oauth_state(
    session: AsyncSession, platform: str, digest: str, now: datetime, expires_at: datetime
) -> None:
    """Keep a state's hash; old ones go."""
    await session.execute(delete(OAuthState).where(OAuthState.expires_at <= now))
    session.add(OAuthState(digest=digest, platform=platform, expires_at=expires_at))


async def take_oauth_state(session: AsyncSession, platform: str, digest: str, now: datetime) -> bool:
    """Whether the state was there and in time; it is not any more."""
    mine = (OAuthState.digest == digest, OAuthState.platform == platform)
    expires_at = await session.scalar(delete(OAuthState).where(*mine).returning(OAuthState.expires_at))
    return expires_at is not None and expires_at > now


async def save_link_code(
    session: AsyncSession, caller: Caller, what: str, digest: str, now: datetime, expires: datetime
) -> None:
    """Keep the caller's new code, in place of what they made before; old ones of everybody go."""
    before = (LinkCodeRow.what == what) & (LinkCodeRow.member_id == caller.member_id)
    await session.execute(delete(LinkCodeRow).where(before | (LinkCodeRow.expires_at <= now)))
    row = LinkCodeRow(
        what=what,
        workspace_id=caller.workspace_id,
        chat_id=caller.chat_id,
        member_id=caller.member_id,
        digest=digest,
        expires_at=expires,
    )
    session.add(row)
    await session.flush()


async def find_link_code_digest(session: AsyncSession, digests: Sequence[str]) -> str | None:
    """Which of these is kept."""
    return await session.scalar(select(LinkCodeRow.digest).where(LinkCodeRow.digest.in_(digests)))


async def lock_link_code(session: AsyncSession, what: str, digests: Sequence[str], now: datetime) -> LinkCodeRow | None:
    """The code that left one of these, kept from everybody else until the transaction ends; None where it is wrong,
    used or too old."""
    query = select(LinkCodeRow).where(
        LinkCodeRow.what == what, LinkCodeRow.digest.in_(digests), LinkCodeRow.expires_at > now
    )
    return await session.scalar(query.with_for_update())


async def use_link_code(session: AsyncSession, code: LinkCodeRow) -> None:
    """Have the code be good no more."""
    await session.delete(code)
    await session.flush()


async def record_link_guess(
    session: AsyncSession, workspace_id: int, now: datetime, within: timedelta, most: int
) -> bool:
    """Note that a code is tried in this workspace; False, and nothing is noted, where that was done too often."""
    await session.execute(select(Workspace.id).where(Workspace.id == workspace_id).with_for_update(key_share=True))
    mine = LinkGuess.workspace_id == workspace_id
    await session.execute(delete(LinkGuess).where(mine, LinkGuess.at <= now - within))
    tried = await session.scalar(select(func.count()).select_from(LinkGuess).where(mine)) or 0
    if tried >= most:
        return False
    session.add(LinkGuess(workspace_id=workspace_id, at=now))
    return True
