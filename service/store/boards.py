"""Tables and queries of the boards: sums of the ledger per member, in order and counted in blocks; and winners' roles.

Triggers keep the boards equal to the ledger in the transaction that posts points; see
`service.store.migrations.boards`. Nothing else writes them. The rows of a board have no foreign keys: the triggers take
their ids from rows that have.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import TypeAdapter
from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    Select,
    UniqueConstraint,
    case,
    delete,
    func,
    literal,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from service.store.ledger import is_within_topic
from service.store.statements import built_once
from service.store.tables import Base, Channel, Chat, Identity, Member, Outbox, QuestionVersion, new_id
from service.wire import Period, WinnerOf


@dataclass(frozen=True, slots=True)
class NewWinnerRole:
    """A role that an admin names for a kind of event, and the channel for its winners. Without a role, none."""

    chat_id: int
    event: WinnerOf
    channel_id: int
    role: str


async def list_winner_roles_of_chats(
    session: AsyncSession, chat_ids: Collection[int]
) -> list[tuple[WinnerRole, Channel]]:
    """Returns the roles of chats, each with the channel in which its winners are announced."""
    query = select(WinnerRole, Channel).join(Channel, Channel.id == WinnerRole.channel_id)
    rows = await session.execute(query.where(WinnerRole.chat_id.in_(chat_ids)).order_by(WinnerRole.event))
    return [(row[0], row[1]) for row in rows]


async def save_winner_role(session: AsyncSession, wanted: NewWinnerRole, now: datetime) -> None:
    """Sets the role, or with an empty one removes it. An announcement that waits gives the new one, at once."""
    chat_id, event, role = wanted.chat_id, wanted.event, wanted.role
    waiting = (
        Outbox.chat_id == chat_id,
        Outbox.kind == "winner",
        Outbox.state == "due",
        Outbox.body["event"].as_string() == event,
    )
    if not role:
        await session.execute(delete(WinnerRole).where(WinnerRole.chat_id == chat_id, WinnerRole.event == event))
        await session.execute(update(Outbox).where(*waiting).values(state="skipped", error="the role was turned off"))
        return
    values = {"chat_id": chat_id, "event": event, "channel_id": wanted.channel_id, "role": role}
    # Who held another role keeps it.
    holders = case((WinnerRole.role == role, WinnerRole.holders), else_=literal([], JSONB))
    changed = {"channel_id": wanted.channel_id, "role": role, "holders": holders}
    made = insert(WinnerRole).values(values).on_conflict_do_update(index_elements=["chat_id", "event"], set_=changed)
    await session.execute(made)
    body = func.jsonb_set(Outbox.body, ["role"], func.to_jsonb(literal(role)), type_=JSONB)
    await session.execute(
        update(Outbox).where(*waiting).values(body=body, not_before=now).execution_options(synchronize_session=False)
    )


async def list_winner_roles(session: AsyncSession, workspace_id: int, event: str) -> Sequence[WinnerRole]:
    """Returns the roles of the workspace's chats for a kind of event, locked."""
    query = select(WinnerRole).join(Chat, Chat.id == WinnerRole.chat_id)
    query = query.where(Chat.workspace_id == workspace_id, WinnerRole.event == event)
    return (await session.scalars(query.order_by(WinnerRole.chat_id).with_for_update(of=WinnerRole))).all()


async def list_external_ids(session: AsyncSession, chat_id: int, member_ids: Collection[int]) -> tuple[str, ...]:
    """Returns how a chat names the members that it knows."""
    query = select(Identity.external_id).where(Identity.chat_id == chat_id, Identity.member_id.in_(member_ids))
    return tuple(await session.scalars(query.order_by(Identity.id)))


class WinnerRole(Base):
    """The role that a chat gives to the winners of an event, and who was given it last."""

    __tablename__ = "winner_role"
    __table_args__ = (CheckConstraint("event in ('season', 'sprint', 'tournament')", name="event"),)
    chat_id: Mapped[int] = mapped_column(ForeignKey("chat.id"), primary_key=True, autoincrement=False)
    event: Mapped[str] = mapped_column(primary_key=True)
    channel_id: Mapped[int] = mapped_column(ForeignKey("channel.id"), index=True)
    """Where the winner is announced."""
    role: Mapped[str]
    """External id of the role."""
    holders: Mapped[list[int]] = mapped_column(JSONB, server_default=text("'[]'"))
    """Ids of the members who were given it last."""


class BoardRecord(Base):
    """A board that is kept: of a channel or (null) the workspace, a topic or ('') all, over one period."""

    __tablename__ = "board"
    __table_args__ = (
        UniqueConstraint("workspace_id", "channel_id", "topic", "period", "since", postgresql_nulls_not_distinct=True),
        CheckConstraint("period in ('day', 'week', 'month', 'season', 'all')", name="period"),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"))
    channel_id: Mapped[int | None] = mapped_column(ForeignKey("channel.id"), index=True)
    topic: Mapped[str]
    """A topic path in lower case; includes everything below it."""
    period: Mapped[str]
    since: Mapped[datetime | None]
    """Inclusive; None without a beginning."""
    until: Mapped[datetime | None]
    """Exclusive; None without an end."""
    previous_id: Mapped[int | None] = mapped_column(ForeignKey("board.id", ondelete="SET NULL"), index=True)
    """The board of the period before, which the most improved are compared with."""


class BoardMember(Base):
    """One member's sums on one board."""

    __tablename__ = "board_member"
    board_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    member_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    points: Mapped[int]
    credit: Mapped[int]
    """Sum of credits, in units of 1e-12, so that the order of additions does not matter."""
    answered: Mapped[int]
    """Rounds with a credit."""
    entries: Mapped[int]
    """Ledger entries that belong to a round. A channel's board ranks members who have one."""
    ms: Mapped[int]
    """Total answering time, milliseconds."""
    accuracy: Mapped[int]
    """Mean credit, in units of 1e-9."""
    ranked: Mapped[bool]
    rookie: Mapped[bool]
    """Whether the member is ranked among the rookies."""
    gain: Mapped[int | None]
    """Gain in accuracy over the previous board; None if the member is not among the most improved."""


class BoardEntry(Base):
    """A ranked member in the order of one contest: smaller is better. Equal (deficit, ms) share a rank."""

    __tablename__ = "board_entry"
    board_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    contest: Mapped[str] = mapped_column(primary_key=True)
    deficit: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    """Negated points and accuracy, or gain, as one number."""
    ms: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    member_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class BoardBlock(Base):
    """The number of entries from this start up to the next block's. A rank is a sum over blocks and a part of one."""

    __tablename__ = "board_block"
    board_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    contest: Mapped[str] = mapped_column(primary_key=True)
    deficit: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    ms: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    member_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    members: Mapped[int]


LONGEST = {"day": timedelta(days=2), "week": timedelta(days=8), "month": timedelta(days=32)}
"""Bounds on the length of each period that has a next one."""
PERIOD: TypeAdapter[Period] = TypeAdapter(Period)
ACCURACY_UNITS = 10**9
"""Units of accuracy in one."""


@dataclass(frozen=True, slots=True)
class BoardKey:
    """Names one board."""

    workspace_id: int
    channel_id: int | None
    topic: str
    """As `fold_topic` returns it."""
    period: Period
    since: datetime | None
    until: datetime | None


@dataclass(frozen=True, slots=True)
class BoardLine:
    """A member on a board."""

    rank: int
    member_id: int
    name: str
    points: int
    answered: int
    accuracy: float
    gain: float | None


@dataclass(frozen=True, slots=True)
class MemberSums:
    """A member's sums on a board, ranked or not."""

    points: int
    answered: int
    accuracy: float


def fold_topic(topic: str) -> str:
    """Returns a topic path as boards name it."""
    return topic.strip("/ ").lower()


async def find_board(session: AsyncSession, key: BoardKey) -> int | None:
    """Returns the id of the board if it is kept."""
    query, values = _select_board(key.workspace_id, key.channel_id, key.topic, key.period, key.since)
    return await session.scalar(query, values)


@built_once
def _select_board(
    workspace_id: int, channel_id: int | None, topic: str, period: Period, since: datetime | None
) -> Select[int]:
    return select(BoardRecord.id).where(
        BoardRecord.workspace_id == workspace_id,
        BoardRecord.channel_id.is_not_distinct_from(channel_id),
        BoardRecord.topic == topic,
        BoardRecord.period == period,
        BoardRecord.since.is_not_distinct_from(since),
    )


async def open_board(session: AsyncSession, key: BoardKey, previous: BoardKey | None = None) -> int:
    """Returns the id of the board. From now on it is kept; the first time, it is summed from the ledger.

    `previous` is the board that the most improved are compared with.
    """
    found = await find_board(session, key)
    if found is not None:
        return found
    before_id = None if previous is None else await open_board(session, previous)
    values = (key.workspace_id, key.channel_id, key.topic, key.period, key.since, key.until, before_id)
    return int(await session.scalar(select(func.open_board(*values))) or 0)


async def list_boards(session: AsyncSession, workspace_id: int) -> list[BoardKey]:
    """Returns the boards of a workspace that are kept."""
    query = select(
        BoardRecord.workspace_id,
        BoardRecord.channel_id,
        BoardRecord.topic,
        BoardRecord.period,
        BoardRecord.since,
        BoardRecord.until,
    )
    rows = await session.execute(query.where(BoardRecord.workspace_id == workspace_id))
    return [BoardKey(row[0], row[1], row[2], PERIOD.validate_python(row[3]), row[4], row[5]) for row in rows]


async def find_old_board(session: AsyncSession, now: datetime) -> tuple[int, int] | None:
    """Returns the id and the workspace of a board that is no longer shown or compared with, if there is one."""
    old = [
        (BoardRecord.period == period) & (BoardRecord.until < now - 2 * length) for period, length in LONGEST.items()
    ]
    query = select(BoardRecord.id, BoardRecord.workspace_id).where(or_(*old)).limit(1)
    row = (await session.execute(query)).one_or_none()
    return None if row is None else (row[0], row[1])


async def list_all(session: AsyncSession, board_id: int) -> list[BoardLine]:
    """Returns every member with points on a board in order, hidden ones too. Takes long on a large board."""
    place = func.rank().over(order_by=(BoardMember.points.desc(), BoardMember.accuracy.desc(), BoardMember.ms))
    query = (
        select(place, Member.id, Member.name, BoardMember.points, BoardMember.answered, BoardMember.accuracy)
        .join(Member, Member.id == BoardMember.member_id)
        .where(BoardMember.board_id == board_id, BoardMember.points > 0, Member.merged_into.is_(None))
        .order_by(place, Member.id)
    )
    rows = await session.execute(query)
    return [BoardLine(*row[:5], row[5] / ACCURACY_UNITS, None) for row in rows]


async def get_sums(session: AsyncSession, board_id: int, member_id: int) -> MemberSums:
    """Returns a member's sums on a board."""
    row = await session.get(BoardMember, (board_id, member_id), populate_existing=True)
    return MemberSums(row.points, row.answered, row.accuracy / ACCURACY_UNITS) if row else MemberSums(0, 0, 0.0)


async def get_ranks(session: AsyncSession, board_id: int, member_ids: Collection[int]) -> dict[int, int]:
    """Returns the ranks of those of these members who have points."""
    query = text("select * from rank_members(:board, :members)")
    rows = await session.execute(query, {"board": board_id, "members": list(member_ids)})
    return {row.member_id: row.place for row in rows}


async def count_ranked(session: AsyncSession, board_id: int) -> int:
    """Returns how many members a board ranks."""
    query = select(func.sum(BoardBlock.members)).where(BoardBlock.board_id == board_id, BoardBlock.contest == "points")
    return int(await session.scalar(query) or 0)


@dataclass(frozen=True, slots=True)
class Standing:
    """A member's sums on a board, with their rank."""

    sums: MemberSums
    rank: int | None
    """None for members without points and for hidden ones."""
    ranked: int
    """Number of members that the board ranks."""


async def get_standing(session: AsyncSession, board_id: int, member_id: int) -> Standing:
    """Returns a member's place on a board."""
    query = text(
        "select mine.points, mine.answered, mine.accuracy,"
        " (select place from rank_members(:board, array[cast(:member as bigint)])) as rank,"
        " (select sum(members) from board_block where board_id = :board and contest = 'points') as ranked"
        " from (select 1) as one left join board_member as mine on mine.board_id = :board and mine.member_id = :member"
    )
    row = (await session.execute(query, {"board": board_id, "member": member_id})).one()
    sums = MemberSums(row.points or 0, row.answered or 0, (row.accuracy or 0) / ACCURACY_UNITS)
    return Standing(sums, row.rank, int(row.ranked or 0))


async def has_topic(session: AsyncSession, topic: str) -> bool:
    """Returns whether any question ever had this topic, or one below it."""
    query = select(QuestionVersion.id).where(is_within_topic(topic)).limit(1)
    return await session.scalar(query) is not None


async def lock_boards(session: AsyncSession, workspace_ids: Sequence[int]) -> None:
    """Locks the boards of these workspaces until the transaction ends. Points are posted before or after it."""
    await session.execute(text("select lock_boards(:ids)"), {"ids": list(workspace_ids)})


async def drop_workspace_boards(session: AsyncSession, workspace_ids: Sequence[int]) -> None:
    """Drops all boards of these workspaces. They are summed again when they are needed."""
    board_ids = await session.scalars(select(BoardRecord.id).where(BoardRecord.workspace_id.in_(workspace_ids)))
    await drop_boards(session, list(board_ids))


async def drop_season_boards(session: AsyncSession, workspace_id: int) -> None:
    """Drops the boards of the workspace's season, which ends."""
    query = select(BoardRecord.id).where(BoardRecord.workspace_id == workspace_id, BoardRecord.period == "season")
    await lock_boards(session, [workspace_id])
    await drop_boards(session, list(await session.scalars(query)))


async def drop_boards(session: AsyncSession, board_ids: Sequence[int]) -> None:
    """Drops these boards. Call with the boards of their workspaces locked."""
    await session.execute(text("select drop_boards(:ids)"), {"ids": list(board_ids)})
