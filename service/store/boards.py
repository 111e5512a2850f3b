"""Boards that are kept: opens a board, and reads its top, one member's place and their totals.

The database changes boards with the ledger; see `service.store.migrations.boards`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import TypeAdapter
from sqlalchemy import func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.board_tables import BoardBlock, BoardMember, BoardRecord
from service.store.ledger import is_within_topic
from service.store.tables import Member, QuestionVersion
from service.wire import Contest, Period

AROUND = 2
"""Members shown on either side of the caller."""
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
class BoardPage:
    """The top of a board, and the surroundings of one member."""

    top: Sequence[BoardLine]
    near: Sequence[BoardLine]
    """The member with their neighbors; empty if they are not ranked."""
    total: int


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
    query = select(BoardRecord.id).where(
        BoardRecord.workspace_id == key.workspace_id,
        BoardRecord.channel_id.is_not_distinct_from(key.channel_id),
        BoardRecord.topic == key.topic,
        BoardRecord.period == key.period,
        BoardRecord.since.is_not_distinct_from(key.since),
    )
    return await session.scalar(query)


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


async def view_page(
    session: AsyncSession, board_id: int, contest: Contest, member_id: int | None, limit: int
) -> BoardPage:
    """Returns the best `limit` members, and a member with their neighbors."""
    values = {"board": board_id, "contest": contest, "member": member_id, "most": limit, "around": AROUND}
    query = text("select * from view_board(:board, :contest, :member, :most, :around)")
    rows = (await session.execute(query, values)).all()
    lines = [
        (
            row.near,
            BoardLine(
                row.place,
                row.member_id,
                row.name,
                row.points,
                row.answered,
                row.accuracy / ACCURACY_UNITS,
                None if contest != "improved" else row.gain / ACCURACY_UNITS,
            ),
        )
        for row in rows
    ]
    return BoardPage(
        top=[line for near, line in lines if not near],
        near=[line for near, line in lines if near],
        total=int(rows[0].total) if rows else 0,
    )


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
    """Returns where a member stands on a board."""
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
    """Drops all boards of these workspaces. They are summed anew when they are needed."""
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
