"""Rows of chats, app installations and link codes, and the merge of two workspaces.

Rules for linking are in `service.people.linking`, token encryption in `service.people.installations`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    ColumnElement,
    ForeignKey,
    Index,
    Select,
    UniqueConstraint,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from service.store import calibrations, outbox
from service.store.boards import drop_workspace_boards, lock_boards
from service.store.members import Caller
from service.store.review_tables import DigestPlan, ReviewPlace
from service.store.tables import (
    AnswerRow,
    BankRow,
    Base,
    Channel,
    Chat,
    CurrentAnswer,
    Identity,
    Ledger,
    Member,
    Outbox,
    Retirement,
    Round,
    Schedule,
    Season,
    Trouble,
    Workspace,
    new_id,
)
from service.wire import InstallationKey


class LinkCodeRow(Base):
    """A code waiting to be typed in another chat. Using it deletes it; only a keyed hash is stored."""

    __tablename__ = "link_code"
    __table_args__ = (UniqueConstraint("digest"), CheckConstraint("what in ('chat', 'member')", name="what"))
    id: Mapped[int] = new_id()
    what: Mapped[str]
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"), index=True)
    chat_id: Mapped[int] = mapped_column(ForeignKey("chat.id"), index=True)
    member_id: Mapped[int] = mapped_column(ForeignKey("member.id"), index=True)
    """Creator of the code."""
    digest: Mapped[str]
    expires_at: Mapped[datetime]


class LinkGuess(Base):
    """An attempt to use a code, right or wrong. Attempts per workspace are limited."""

    __tablename__ = "link_guess"
    __table_args__ = (Index("ix_link_guess_workspace", "workspace_id", "at"),)
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"))
    at: Mapped[datetime]


class InstallationRow(Base):
    """A bot's installation in a team, or in a whole enterprise. Both tokens are encrypted."""

    __tablename__ = "installation"
    __table_args__ = (UniqueConstraint("platform", "enterprise", "team"),)
    id: Mapped[int] = new_id()
    platform: Mapped[str]
    enterprise: Mapped[str]
    team: Mapped[str]
    about: Mapped[dict[str, Any]]
    """Non-secret facts: app, bot, scopes, installer, names."""
    token: Mapped[bytes | None]
    refresh: Mapped[bytes | None]
    expires_at: Mapped[datetime | None]
    installed_at: Mapped[datetime]
    leased_until: Mapped[datetime | None]
    """End of the lease of the caller that is refreshing the token."""
    revoked_at: Mapped[datetime | None]


class OAuthState(Base):
    """An OAuth state sent to a consent page and not returned yet. Using it deletes it."""

    __tablename__ = "oauth_state"
    digest: Mapped[str] = mapped_column(primary_key=True)
    platform: Mapped[str]
    expires_at: Mapped[datetime]


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
    "suggestion",
    "audit",
    "sprint",
    "sprint_question",
    "sprint_answer",
    "sprint_variant",
    "duel",
    "duel_rating",
    "tournament",
    "tournament_schedule",
    "tournament_team",
    "tournament_member",
)
"""Tables with a workspace id, except those that a merge combines or deletes."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """Counts of what a workspace contains."""

    schedules: int
    members: int
    points: int
    banks: int
    seasons: int
    answers: int

    @property
    def has_history(self) -> bool:
        """Whether it contains anything besides members who never did anything."""
        return any((self.schedules, self.points, self.banks, self.seasons, self.answers))


async def list_answering(
    session: AsyncSession, round_id: int, channel_ids: Collection[int], platform: str
) -> dict[int, list[int]]:
    """Returns the members who answered a round, by each chat of that platform that has one of the channels."""
    query = (
        select(Chat.id, CurrentAnswer.member_id)
        .join(Channel, Channel.chat_id == Chat.id)
        .join(Identity, Identity.chat_id == Chat.id)
        .join(CurrentAnswer, CurrentAnswer.member_id == Identity.member_id)
        .where(Channel.id.in_(channel_ids), Chat.platform == platform, CurrentAnswer.round_id == round_id)
        .distinct()
        .order_by(Chat.id, CurrentAnswer.member_id)
    )
    found: dict[int, list[int]] = {}
    for chat_id, member_id in await session.execute(query):
        found.setdefault(chat_id, []).append(member_id)
    return found


async def find_chat(session: AsyncSession, platform: str, workspace: str) -> Chat | None:
    """Returns the chat with that id on its platform, or None."""
    return await session.scalar(select(Chat).where(Chat.platform == platform, Chat.external_id == workspace))


async def rename_channel(session: AsyncSession, platform: str, workspace: str, channel: str, name: str) -> None:
    """Saves the new name of a channel, if it is known."""
    there = select(Chat.id).where(Chat.platform == platform, Chat.external_id == workspace)
    here = update(Channel).where(Channel.chat_id.in_(there), Channel.external_id == channel)
    await session.execute(here.values(name=name))


async def mark_greeted(session: AsyncSession, chat_id: int, now: datetime) -> bool:
    """Records that the bot greeted the chat. Returns True the first time."""
    first = update(Chat).where(Chat.id == chat_id, Chat.greeted_at.is_(None)).values(greeted_at=now)
    return await session.scalar(first.returning(Chat.id)) is not None


async def get_chat_of_channel(session: AsyncSession, channel_id: int) -> Chat:
    """Returns the chat of a channel."""
    query = select(Chat).join(Channel, Channel.chat_id == Chat.id).where(Channel.id == channel_id)
    return (await session.scalars(query)).one()


async def get_platform(session: AsyncSession, chat_id: int) -> str:
    """Returns the platform of a chat."""
    return (await session.scalars(select(Chat.platform).where(Chat.id == chat_id))).one()


async def list_platforms(session: AsyncSession, workspace_ids: Sequence[int]) -> Sequence[Any]:
    """Returns the distinct platforms of these workspaces' chats, oldest chat first."""
    query = select(Chat.platform).where(Chat.workspace_id.in_(workspace_ids)).order_by(Chat.id)
    return list(dict.fromkeys(await session.scalars(query)))


async def lock_workspaces(session: AsyncSession, workspace_ids: Sequence[int]) -> None:
    """Locks the workspaces and their boards until the transaction ends, so that merges of them wait for one another."""
    # Boards first: a transaction that posts points locks the boards, and then refers to the workspaces.
    await lock_boards(session, workspace_ids)
    query = select(Workspace.id).where(Workspace.id.in_(workspace_ids)).order_by(Workspace.id).with_for_update()
    await session.execute(query)


async def find_open_round(session: AsyncSession, workspace_id: int) -> tuple[Round, str] | None:
    """Returns an open round of the workspace and the name of its schedule's channel."""
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
    """Counts the workspace's active schedules, members, points, own banks, seasons and answers."""
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
    """Moves everything from workspace `old` to `new` and deletes `old`.

    Banks and seasons whose names are taken get a number; questions retired in either stay retired; moderators are
    notified where `new` has chosen, if it has. Logs and ledger change only their workspace; boards are summed again.
    Deleting fails if a table was missed.
    """
    await drop_workspace_boards(session, [old, new])
    await calibrations.forget_workspaces(session, [old, new])
    await session.execute(text("set constraints all deferred"))
    await session.execute(text("select set_config('dailygrad.joining', 'on', true)"))
    await _rename(session, BankRow, old, new)
    await _rename(session, Season, old, new)
    retired = select(literal(new), Retirement.question_id, Retirement.at).where(Retirement.workspace_id == old)
    columns = ["workspace_id", "question_id", "at"]
    await session.execute(insert(Retirement).from_select(columns, retired).on_conflict_do_nothing())
    place = select(literal(new), ReviewPlace.channel_id, ReviewPlace.member_id).where(ReviewPlace.workspace_id == old)
    columns = ["workspace_id", "channel_id", "member_id"]
    await session.execute(insert(ReviewPlace).from_select(columns, place).on_conflict_do_nothing())
    plan = select(literal(new), DigestPlan.next_at).where(DigestPlan.workspace_id == old)
    columns = ["workspace_id", "next_at"]
    await session.execute(insert(DigestPlan).from_select(columns, plan).on_conflict_do_nothing())
    for ending in (Retirement, ReviewPlace, DigestPlan, LinkCodeRow, LinkGuess, Trouble):
        await session.execute(delete(ending).where(ending.workspace_id == old))
    await outbox.lock_unsent(session, Outbox.workspace_id == old)
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
    """Saves an installation, replacing an existing one."""
    fresh = {**values, "leased_until": None, "revoked_at": None}
    made = insert(InstallationRow).values(platform=key.platform, enterprise=key.enterprise, team=key.team, **fresh)
    await session.execute(made.on_conflict_do_update(index_elements=["platform", "enterprise", "team"], set_=fresh))


async def lock_installation(session: AsyncSession, key: InstallationKey) -> InstallationRow | None:
    """Returns the installation of exactly this key, locked until the transaction ends."""
    query = select(InstallationRow).where(
        InstallationRow.platform == key.platform,
        InstallationRow.enterprise == key.enterprise,
        InstallationRow.team == key.team,
    )
    return await session.scalar(query.with_for_update())


async def find_installation(session: AsyncSession, key: InstallationKey) -> InstallationRow | None:
    """Returns the team's newest installation, or else that of its enterprise."""
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


async def revoke_installation(session: AsyncSession, key: InstallationKey, removed_at: datetime, now: datetime) -> None:
    """Deletes both tokens of the installation, unless they are newer than `removed_at`."""
    within = [InstallationRow.enterprise == key.enterprise] if key.enterprise or not key.team else []
    known = InstallationRow.installed_at <= removed_at
    await session.execute(
        update(InstallationRow)
        .where(InstallationRow.platform == key.platform, InstallationRow.team == key.team, known, *within)
        .values(token=None, refresh=None, leased_until=None, revoked_at=now)
    )


async def mark_left(session: AsyncSession, platform: str, workspace: str, left_at: datetime | None) -> None:
    """Records when the bot was removed from the chat, or with None that it is a member. Keeps the first instant."""
    changed = Chat.left_at.is_not(None) if left_at is None else Chat.left_at.is_(None)
    here = update(Chat).where(Chat.platform == platform, Chat.external_id == workspace, changed)
    await session.execute(here.values(left_at=left_at))


async def mark_left_by_installation(session: AsyncSession, key: InstallationKey, now: datetime) -> None:
    """Marks the chats of an installation as left, if it was revoked and no other one covers them, or else as not."""
    own = (InstallationRow.platform == Chat.platform) & (InstallationRow.team == Chat.external_id)
    revoked = select(InstallationRow.enterprise).where(own, InstallationRow.revoked_at.is_not(None))
    wide = (InstallationRow.team == "") & (InstallationRow.enterprise != "")
    wide &= InstallationRow.enterprise.in_(revoked.correlate(Chat).scalar_subquery())
    live = exists().where(
        InstallationRow.platform == Chat.platform,
        InstallationRow.revoked_at.is_(None),
        (InstallationRow.team == Chat.external_id) | wide,
    )
    gone = revoked.exists() & ~live
    team = [Chat.external_id == key.team] if key.team else []
    here = update(Chat).where(Chat.platform == key.platform, *team).execution_options(synchronize_session=False)
    await session.execute(here.where(gone, Chat.left_at.is_(None)).values(left_at=now))
    await session.execute(here.where(live, Chat.left_at.is_not(None)).values(left_at=None))


async def lock_tokens(session: AsyncSession, after: int, limit: int) -> Sequence[InstallationRow]:
    """Returns the next installations that have tokens, by id, and locks them until the transaction ends."""
    query = select(InstallationRow).where(InstallationRow.id > after, InstallationRow.token.is_not(None))
    return (await session.scalars(query.order_by(InstallationRow.id).limit(limit).with_for_update())).all()


async def list_expiring_installations(
    session: AsyncSession, platform: str, now: datetime, by: datetime
) -> Sequence[InstallationRow]:
    """Returns installations whose token expires by `by` and that nobody is refreshing, most urgent first."""
    query = select(InstallationRow).where(InstallationRow.platform == platform, *_refreshable(now, by))
    return (await session.scalars(query.order_by(InstallationRow.expires_at, InstallationRow.id))).all()


async def lease_refresh_token(
    session: AsyncSession, key: InstallationKey, now: datetime, by: datetime, until: datetime
) -> bytes | None:
    """Returns the refresh token of a due installation and leases it to this caller until `until`. A concurrent
    caller waits for this transaction and gets None."""
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
    """Saves the hash of an OAuth state and deletes expired ones."""
    await session.execute(delete(OAuthState).where(OAuthState.expires_at <= now))
    session.add(OAuthState(digest=digest, platform=platform, expires_at=expires_at))


async def take_oauth_state(session: AsyncSession, platform: str, digest: str, now: datetime) -> bool:
    """Deletes the OAuth state. Returns whether it existed and had not expired."""
    mine = (OAuthState.digest == digest, OAuthState.platform == platform)
    expires_at = await session.scalar(delete(OAuthState).where(*mine).returning(OAuthState.expires_at))
    return expires_at is not None and expires_at > now


async def save_link_code(
    session: AsyncSession, caller: Caller, what: str, digest: str, now: datetime, expires: datetime
) -> None:
    """Saves a new link code of the caller in place of their previous one, and deletes all expired codes."""
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
    """Returns whichever of these digests is stored."""
    return await session.scalar(select(LinkCodeRow.digest).where(LinkCodeRow.digest.in_(digests)))


async def lock_link_code(session: AsyncSession, what: str, digests: Sequence[str], now: datetime) -> LinkCodeRow | None:
    """Returns the link code with one of these digests, locked until the transaction ends. Returns None if it is
    wrong, used or expired."""
    return await session.scalar(_select_link_code(what, digests, now).with_for_update())


async def find_link_code(session: AsyncSession, what: str, digests: Sequence[str], now: datetime) -> LinkCodeRow | None:
    """Returns the link code as `lock_link_code` does, not locked."""
    return await session.scalar(_select_link_code(what, digests, now))


def _select_link_code(what: str, digests: Sequence[str], now: datetime) -> Select[LinkCodeRow]:
    return select(LinkCodeRow).where(
        LinkCodeRow.what == what, LinkCodeRow.digest.in_(digests), LinkCodeRow.expires_at > now
    )


async def use_link_code(session: AsyncSession, code: LinkCodeRow) -> None:
    """Deletes the link code, so that it cannot be used again."""
    await session.delete(code)
    await session.flush()


async def record_link_guess(
    session: AsyncSession, workspace_id: int, now: datetime, within: timedelta, most: int
) -> bool:
    """Records an attempt to use a code in this workspace. Returns False, recording nothing, if there were too many."""
    await session.execute(select(Workspace.id).where(Workspace.id == workspace_id).with_for_update(key_share=True))
    mine = LinkGuess.workspace_id == workspace_id
    await session.execute(delete(LinkGuess).where(mine, LinkGuess.at <= now - within))
    tried = await session.scalar(select(func.count()).select_from(LinkGuess).where(mine)) or 0
    if tried >= most:
        return False
    session.add(LinkGuess(workspace_id=workspace_id, at=now))
    return True
