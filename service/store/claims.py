"""Claims of messages: finds those that may be posted now, at a cost that does not grow with what waits.

Messages of a queue are posted one after the other, so only its oldest unsent message, its head, can be claimed. A claim
looks at the messages that have been ready for longest. One that it finds behind another of its queue is marked as a
follower, and is not looked at again until a message leaves the queue: then a trigger clears the mark of the queue's
first follower. Adding a message marks nothing and waits for nobody.

Every follower waits behind a message without that mark, even under concurrent changes: a mark is set while the head
is locked, so the head can leave only when the trigger sees the mark. A mark that is missing costs a second look.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import (
    CTE,
    BigInteger,
    ColumnElement,
    Integer,
    ScalarSelect,
    Select,
    String,
    Update,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    select,
    true,
    type_coerce,
    union,
    update,
)
from sqlalchemy import cast as cast_sql
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased
from sqlalchemy.orm.util import AliasedClass

from service.store.statements import built_once
from service.store.tables import UNSENT, Chat, Outbox
from service.wire import Shards

CONSIDERED = 100
"""Messages that have been ready for longest, and chats with ready messages, that one claim looks at."""
MARKED = 5000
"""Messages that one statement looks at to mark the followers among them."""

Rows = type[Outbox] | AliasedClass[Outbox]


class _Wanted(NamedTuple):
    """The messages that a dispatcher claims. In a statement, each value is a bound parameter or None."""

    platform: str
    application: str
    now: datetime
    kinds: Collection[str] | None
    shards: int | None
    """Number of all shards; None to claim for all of them."""
    first_shard: int | None
    last_shard: int | None


async def lock_claimable(
    session: AsyncSession,
    platform: str,
    application: str,
    now: datetime,
    limit: int,
    shards: Shards | None = None,
    kinds: Collection[str] | None = None,
) -> Sequence[Outbox]:
    """Returns messages at the head of their queue that may be posted now, locked. Skips rows another dispatcher locks.

    Leaves out the chats that another application serves, and with `shards` those of other shards. With `kinds`, a queue
    whose head is of another kind, see `READABLE_KINDS`, waits for a caller that can read it.

    Chats take turns, so that one with thousands of channels, and its rate limit, delays no other.
    """
    numbers = (shards.count, shards.first, shards.last) if shards else (None, None, None)
    wanted = _Wanted(platform, application, now, kinds, *numbers)
    while True:
        found = (await session.execute(*_select_claimable(limit, *wanted))).all()
        rows = [row for row, _ in found]
        if len(rows) == limit or (found and found[0].considered < CONSIDERED):
            return rows
        # More may wait behind followers.
        if not (await session.scalars(*_mark_followers(*wanted))).all():
            return rows


@built_once
def _select_claimable(
    most: int,
    platform: str,
    application: str,
    now: datetime,
    kinds: Collection[str] | None,
    shards: int | None,
    first_shard: int | None,
    last_shard: int | None,
) -> Select[Outbox, int]:
    """Selects the messages, each with how many of those that have been ready for longest were considered."""
    wanted = _Wanted(platform, application, now, kinds, shards, first_shard, last_shard)
    message, of_chat = aliased(Outbox), aliased(Outbox)
    ready_at = _ready_at(message)
    longest = _select_ready(message, wanted).order_by(ready_at, message.id).limit(_constant(CONSIDERED)).cte("longest")
    # If there are more, these may be of few chats, or of one.
    few = select(and_(func.count() == CONSIDERED, func.count(longest.c.chat_id.distinct()) < most)).scalar_subquery()
    chats = _select_chats(few, wanted)
    each = select(func.greatest(CONSIDERED / func.count(), 1)).select_from(chats).scalar_subquery()
    of_chats = (
        _select_ready(of_chat, wanted)
        .where(of_chat.chat_id == chats.c.chat_id)
        .order_by(_ready_at(of_chat), of_chat.id)
        .limit(cast_sql(each, BigInteger))
        .lateral()
    )
    considered = union(select(longest), select(of_chats).select_from(chats.join(of_chats, true()))).subquery().c
    first = select(
        considered.id,
        func.row_number()
        .over(partition_by=considered.chat_id, order_by=(considered.due_at, considered.id))
        .label("turn"),
        select(func.count()).select_from(longest).scalar_subquery().label("considered"),
    ).where(_head(considered) == considered.id)
    heads = first.subquery()
    return (
        select(Outbox, heads.c.considered)
        .join(heads, heads.c.id == Outbox.id)
        .where(_unsent(Outbox), _ready_at(Outbox) <= now)
        .order_by(heads.c.turn, Outbox.due_at, Outbox.id)
        .limit(most)
        .with_for_update(of=Outbox, skip_locked=True)
    )


def _select_chats(needed: ColumnElement[bool], wanted: _Wanted) -> CTE:
    """Selects chats with messages that are ready, if needed. There may be more than a claim looks at, so it starts
    anywhere.

    It jumps from chat to chat in the index `ix_outbox_turns`, and from the last to the first, until it comes around.
    """

    def following(chat_id: ColumnElement[int]) -> ScalarSelect[Any]:
        message = aliased(Outbox)
        ready = _select_ready(message, wanted).where(message.chat_id > chat_id)
        first = ready.with_only_columns(message.chat_id).order_by(message.chat_id, _ready_at(message))
        return first.limit(_constant(1)).scalar_subquery()

    nowhere = literal_column("0", BigInteger)
    last = select(func.max(Chat.id)).scalar_subquery()
    anywhere = select(cast_sql(func.floor(func.random() * last), BigInteger)).scalar_subquery()
    start = select(func.coalesce(following(anywhere), following(nowhere)).label("chat_id")).where(needed)
    turns = start.cte("turns", recursive=True)
    around = func.coalesce(following(turns.c.chat_id), following(nowhere))
    turns = turns.union(select(around).where(turns.c.chat_id.is_not(None)))
    found = select(turns.c.chat_id).where(turns.c.chat_id.is_not(None))
    return found.limit(_constant(CONSIDERED)).cte("chats")


@built_once
def _mark_followers(
    of_platform: str,
    application: str,
    now: datetime,
    kinds: Collection[str] | None,
    shards: int | None,
    first_shard: int | None,
    last_shard: int | None,
) -> Update:
    """Marks messages that are ready but wait behind another, and returns their ids. Waits for no lock."""
    message = aliased(Outbox)
    wanted = _Wanted(of_platform, application, now, kinds, shards, first_shard, last_shard)
    ready = (
        _select_ready(message, wanted).order_by(_ready_at(message), message.id).limit(_constant(MARKED)).subquery().c
    )
    behind = select(*ready, _head(ready).label("head")).subquery().c
    held = (
        select(behind.id)
        .join(Outbox, and_(Outbox.id == behind.head, *_same_queue(Outbox, behind)))
        .where(behind.head < behind.id, _unsent(Outbox))
        .with_for_update(read=True, of=Outbox, skip_locked=True)
        .cte("held")
    )
    followers = (
        select(Outbox.id)
        .join(held, held.c.id == Outbox.id)
        .where(_unsent(Outbox), ~Outbox.follower)
        .with_for_update(of=Outbox, skip_locked=True)
        .cte("followers")
    )
    marked = update(Outbox).where(Outbox.id == followers.c.id).values(follower=True).returning(Outbox.id)
    return marked.execution_options(synchronize_session=False)


def _select_ready(rows: Rows, wanted: _Wanted) -> Select[*tuple[Any, ...]]:
    """Selects messages that may be posted now if they are at the head of their queue, with what tells queues apart."""
    serves = [Chat.application.in_((wanted.application, ""))]
    if wanted.shards is not None:
        serves.append(_shard(wanted.shards).between(wanted.first_shard, wanted.last_shard))
    # As the value of a column: the planner would join the chats first, and so read everything that waits.
    served = select(and_(*serves)).where(Chat.id == rows.chat_id).scalar_subquery()
    ready = _ready_at(rows) <= wanted.now
    conditions = [_unsent(rows), ~rows.follower, rows.platform == wanted.platform, ready, served]
    if wanted.kinds is not None:
        conditions.append(_reads(rows).in_(wanted.kinds))
    named = (column.label(f"queue_{number}") for number, column in enumerate(_queue(rows)))
    return select(rows.id, rows.chat_id, rows.due_at, *named).where(*conditions)


def _head(message: Any) -> ScalarSelect[int]:
    """Selects the oldest unsent message of a message's queue, from the index `ix_outbox_queue`."""
    oldest = aliased(Outbox)
    same = select(oldest.id).where(_unsent(oldest), *_same_queue(oldest, message))
    return same.order_by(*_queue(oldest), oldest.id).limit(_constant(1)).scalar_subquery()


def _constant(number: int) -> ColumnElement[int]:
    """Returns a number as a part of the statement: the planner must see how few rows are wanted."""
    return literal_column(str(number), Integer)


def _same_queue(rows: Rows, message: Any) -> list[ColumnElement[bool]]:
    return [column == message[f"queue_{number}"] for number, column in enumerate(_queue(rows))]


def _queue(rows: Rows) -> list[ColumnElement[Any]]:
    """Columns that tell queues apart, as the indexes have them. A message waits for older ones in its queue.

    Public messages of a channel form one queue, private messages of each member another. Notices to admins have their
    own, so that they can report what blocks the others, and so have edits, which must delay no message.
    """
    none, notice = literal_column("0", BigInteger), literal_column("'notice'", String)
    chat_id: ColumnElement[Any] = rows.chat_id.expression
    place = [func.coalesce(rows.channel_id, none), func.coalesce(rows.member_id, none)]
    return [chat_id, *place, rows.kind == notice, rows.edits_id.is_not(None)]


def _ready_at(rows: Rows) -> ColumnElement[datetime]:
    """Returns when the message may be claimed: at its time, or when the last attempt's lease ends."""
    return func.greatest(rows.not_before, rows.claimed_until)


def _reads(rows: Rows) -> ColumnElement[Any]:
    """Selects the kind of the message as `READABLE_KINDS` has it."""
    fact = func.concat("notice:", rows.body["fact"]["kind"].astext)
    return case((rows.kind == "notice", fact), else_=rows.kind)


def _unsent(rows: Rows) -> ColumnElement[bool]:
    """Returns the condition of the indexes, with constants: the planner must see that they are the same."""
    return cast(ColumnElement[bool], rows.state.in_(bindparam(None, UNSENT, expanding=True, literal_execute=True)))


def _shard(count: int) -> ColumnElement[int]:
    """Returns the shard of a chat, a server of Discord, by its rule: the id's time, modulo the number of shards."""
    server = case(
        (Chat.external_id.regexp_match("^([0-9]{1,18}|[1-8][0-9]{18})$"), cast_sql(Chat.external_id, BigInteger)),
        else_=0,
    )
    return server.bitwise_rshift(literal_column("22", Integer)) % type_coerce(count, BigInteger)
