"""Rows of the outbox: messages waiting to be posted, and their state.

Which of them may be posted now is in `service.store.claims`, retries are in `service.rounds.delivery`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, String, and_, delete, literal_column, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store import locks
from service.store.statements import built_once, insert_batches
from service.store.tables import UNSENT, Channel, Chat, Identity, Outbox, Round, Schedule, ScheduleChannel
from service.wire import Body, Platform

PRIVATE_TIMEOUT = timedelta(days=1)
"""How long a message that belongs to no slot is retried."""
EDIT_TIMEOUT = timedelta(minutes=1)
"""How long one edit of a message that is edited again and again is retried."""

PACE_SIZE = 20
"""Private messages that may become due at once in one chat."""
PACE_INTERVAL = timedelta(seconds=10)
"""Time until as many more may."""


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to a channel, or with `member_id` to one person."""

    key: str
    """Unique: a second message with this key is not added."""
    body: Body
    workspace_id: int
    channel_id: int | None = None
    member_id: int | None = None
    chat_id: int | None = None
    """Preferred chat of a private message."""
    round_id: int | None = None
    edits_id: int | None = None
    """Message that this one replaces in the chat, instead of being posted. It must have been posted."""


async def find_platform(session: AsyncSession, message: int) -> Platform | None:
    """Returns the platform that a message goes to; None if there is no such message."""
    found = await session.scalar(select(Chat.platform).join(Outbox).where(Outbox.id == message))
    return cast(Platform | None, found)


async def enqueue(
    session: AsyncSession, message: NewMessage, due_at: datetime, give_up_at: datetime | None = None
) -> bool:
    """Adds a message to post exactly once. Returns False, changing nothing, if the key exists or there is no
    recipient.

    A private message goes to its preferred chat if the member is known there, or else to their oldest chat; to another
    one if the bot has left that.
    """
    chat_id = message.chat_id
    if message.member_id is not None:
        chat_id = await _chat_of(session, message.member_id, chat_id)
    elif message.channel_id is not None:
        chat_id = await session.scalar(select(Channel.chat_id).where(Channel.id == message.channel_id))
    if chat_id is None:
        return False
    values = _values(message, chat_id, due_at, give_up_at)
    made = await session.scalar(insert(Outbox).values(values).on_conflict_do_nothing().returning(Outbox.id))
    return made is not None


async def enqueue_in_chat(
    session: AsyncSession, chat_id: int, messages: Sequence[NewMessage], due_at: datetime, give_up_at: datetime
) -> None:
    """Adds many messages to one chat, each exactly once. The recipients must be known there."""
    rows = [_values(message, chat_id, due_at, give_up_at) for message in messages]
    for made in insert_batches(Outbox, rows):
        await session.execute(made.on_conflict_do_nothing())


async def enqueue_paced(
    session: AsyncSession, messages: Sequence[NewMessage], due_at: datetime, give_up_at: datetime, *, earlier: int = 0
) -> None:
    """Adds private messages, each exactly once, a few at a time in each chat: many at once delay the chat's other
    messages, and platforms take them for spam. Their chats must be named. `earlier` messages of each chat were added by
    calls before."""
    turns: Counter[int] = Counter()
    rows = []
    for message in messages:
        assert message.chat_id is not None, "the caller chose the chat"
        start = due_at + PACE_INTERVAL * ((earlier + turns[message.chat_id]) // PACE_SIZE)
        turns[message.chat_id] += 1
        rows.append(_values(message, message.chat_id, start, give_up_at))
    for made in insert_batches(Outbox, rows):
        await session.execute(made.on_conflict_do_nothing())


@dataclass(frozen=True, slots=True)
class PlannedEdits:
    """Edits of the messages that post a round's question, at most one of each message with this label."""

    round_id: int
    label: str
    due_at: datetime
    give_up_at: datetime

    @property
    def prefix(self) -> str:
        """What the keys of these edits begin with."""
        return f"round:{self.round_id}:update:{self.label}:"


async def enqueue_updates(session: AsyncSession, edits: PlannedEdits) -> None:
    """Adds an edit of each message that posts the round's question, unless it has one with this label."""
    values = {"round": edits.round_id, "prefix": edits.prefix, "due": edits.due_at, "give_up": edits.give_up_at}
    await session.execute(_ENQUEUE_UPDATES, values)


_ENQUEUE_UPDATES = text("select enqueue_updates(:round, :prefix, :due, :give_up)")


async def delete_waiting_updates(session: AsyncSession, round_id: int) -> None:
    """Deletes the edits of a round's messages that are not being sent."""
    waiting = (Outbox.round_id == round_id, Outbox.kind == "update", Outbox.state == "due")
    await session.execute(delete(Outbox).where(*waiting).execution_options(synchronize_session=False))


async def delete_covered_updates(session: AsyncSession, row: Outbox) -> None:
    """Deletes the other edits of the same message, unless one is being sent: this one shows the current state."""
    same = (Outbox.edits_id == row.edits_id, Outbox.id != row.id)
    others = delete(Outbox).where(*same, Outbox.state.in_(("due", "sent")))
    await session.execute(others.execution_options(synchronize_session=False))


def postpone(row: Outbox, until: datetime) -> None:
    """Ends the lease of a message that cannot be sent yet."""
    row.state, row.claimed_until, row.not_before = "due", None, until


async def show_in_place(session: AsyncSession, message: NewMessage, now: datetime, pace: timedelta) -> None:
    """Edits a posted message again and again by one row, at most once per `pace`.

    Does nothing while an edit is being sent: the next call shows what is current then.
    """
    chat_id = await session.scalar(select(Channel.chat_id).where(Channel.id == message.channel_id))
    assert chat_id is not None, "an edit is of a message in a channel"
    values = _values(message, chat_id, now, now + EDIT_TIMEOUT)
    again = {name: values[name] for name in ("body", "due_at", "not_before", "give_up_at")}
    fresh = {"state": "due", "message_ref": None, "claimed_until": None, "taken_at": None, "error": None}
    made = insert(Outbox).values(values)
    idle = and_(Outbox.state.in_(("due", "sent", "skipped")), Outbox.due_at <= now - pace)
    await session.execute(made.on_conflict_do_update(index_elements=["key"], set_={**again, **fresh}, where=idle))


async def delete_unsent(session: AsyncSession, key: str) -> None:
    """Deletes the message of that key, unless it may have arrived."""
    unsent = delete(Outbox).where(Outbox.key == key, Outbox.state == "due")
    await session.execute(unsent.execution_options(synchronize_session=False))


async def list_known(session: AsyncSession, keys: Collection[str]) -> set[str]:
    """Returns those of the keys that have a message."""
    return set(await session.scalars(select(Outbox.key).where(Outbox.key.in_(keys))))


async def find_by_key(session: AsyncSession, key: str) -> Outbox | None:
    """Returns the message of that key, as it is in the database now."""
    return await session.scalar(select(Outbox).where(Outbox.key == key).execution_options(populate_existing=True))


async def find_question_post(session: AsyncSession, round_id: int, channel_id: int | None) -> Outbox | None:
    """Returns the message that posts the round's question in a channel."""
    posts = await list_question_posts(session, round_id)
    return next((post for post in posts if post.channel_id == channel_id), None)


def _values(message: NewMessage, chat_id: int, due_at: datetime, give_up_at: datetime | None) -> dict[str, Any]:
    return {
        "key": message.key,
        "kind": message.body.kind,
        "body": message.body.model_dump(mode="json"),
        "workspace_id": message.workspace_id,
        "chat_id": chat_id,
        "channel_id": message.channel_id,
        "member_id": message.member_id,
        "round_id": message.round_id,
        "edits_id": message.edits_id,
        "due_at": due_at,
        "not_before": due_at,
        "give_up_at": give_up_at,
    }


def round_message_key(round_id: int, kind: str, schedule: Schedule, channel_id: int) -> str:
    """Returns the key of a round's message to a channel. For the schedule's home channel it does not name the
    channel."""
    key = f"round:{round_id}:{kind}"
    return key if channel_id == schedule.channel_id else f"{key}:{channel_id}"


async def list_round_channels(session: AsyncSession, round_id: int, schedule: Schedule) -> Sequence[int]:
    """Returns the channels the round was posted to, even if the schedule has changed since. Leaves out those that it
    has left before the question could be posted there."""
    posts = await list_question_posts(session, round_id)
    if any(post.state == "skipped" for post in posts):
        shared = select(ScheduleChannel.channel_id).where(ScheduleChannel.schedule_id == schedule.id)
        here = {schedule.channel_id, *await session.scalars(shared)}
        posts = [post for post in posts if post.state != "skipped" or post.channel_id in here]
    return [post.channel_id for post in posts if post.channel_id is not None] or [schedule.channel_id]


async def list_question_posts(session: AsyncSession, round_id: int) -> Sequence[Outbox]:
    """Returns the messages that post the round's question, the schedule's home channel first."""
    query = select(Outbox).where(Outbox.round_id == round_id, Outbox.kind == "question").order_by(Outbox.id)
    return (await session.scalars(query)).all()


async def first_shown_at(session: AsyncSession, round_: Round, chat_id: int | None = None) -> datetime:
    """Returns when members of the chat could first see the question: when a post arrived there, or else anywhere, or
    else when the round opened."""
    arrived = [(post.chat_id, post.sent_at) for post in await list_question_posts(session, round_.id) if post.sent_at]
    there = [at for chat, at in arrived if chat == chat_id]
    return max(round_.opens_at, min(there or [at for _, at in arrived], default=round_.opens_at))


async def lock_expired(session: AsyncSession, now: datetime, *kinds: str) -> Sequence[Outbox]:
    """Returns messages past their deadline that were certainly not posted, locked; with `kinds` only those."""
    expired, values = _select_expired(now, kinds or None)
    if await session.scalar(expired.with_only_columns(Outbox.id).limit(1), values) is None:
        return []
    # Two transactions that give up messages of the same queues, each some of them, would wait for each other.
    await locks.lock(session, locks.GIVING_UP, 0)
    query = expired.order_by(Outbox.id).with_for_update(skip_locked=True)
    found: Sequence[Outbox] = (await session.scalars(query, values)).all()
    return found


@built_once
def _select_expired(now: datetime, kinds: Collection[str] | None) -> Select[Outbox]:
    # A constant, as in the condition of the index.
    due = literal_column("'due'", String)
    query = select(Outbox).where(Outbox.state == due, Outbox.give_up_at <= now)
    return query if kinds is None else query.where(Outbox.kind.in_(kinds))


async def lock_waiting_questions(
    session: AsyncSession,
    schedule_id: int,
    *,
    day: date | None = None,
    round_id: int | None = None,
    channel_id: int | None = None,
    extra: bool = False,
) -> Sequence[Outbox]:
    """Returns the messages with questions of a schedule's rounds that were certainly not posted, locked.

    With `day`, `round_id` or `channel_id` only those of that day, of that round or to that channel. Without `extra`,
    leaves out extra rounds.
    """
    rounds = select(Round.id).where(Round.schedule_id == schedule_id, Round.closed_at.is_(None))
    if day is not None:
        rounds = rounds.where(Round.day == day)
    if round_id is not None:
        rounds = rounds.where(Round.id == round_id)
    if not extra:
        rounds = rounds.where(Round.number == 0)
    # The lock under which messages are given up, so that both do not handle the same ones.
    await locks.lock(session, locks.GIVING_UP, 0)
    waiting = select(Outbox).where(Outbox.round_id.in_(rounds), Outbox.kind == "question", Outbox.state == "due")
    if channel_id is not None:
        waiting = waiting.where(Outbox.channel_id == channel_id)
    return (await session.scalars(waiting.order_by(Outbox.id).with_for_update())).all()


async def lock_unsent(session: AsyncSession, *conditions: ColumnElement[bool]) -> None:
    """Locks the unsent messages that meet the conditions, for a change of many of them.

    They are locked in the order of their queues, in which a message that leaves its queue lets the next one go: a
    report of a dispatcher at the same time would otherwise wait for the change, and the change for it.
    """
    query = select(Outbox.id).where(Outbox.state.in_(UNSENT), *conditions).order_by(Outbox.id).with_for_update()
    await session.execute(query)


async def lock_message(session: AsyncSession, outbox_id: int) -> Outbox | None:
    """Returns the message, locked until the transaction ends."""
    return await session.get(Outbox, outbox_id, with_for_update=True)


@dataclass(frozen=True, slots=True)
class Addressed:
    """A message to a channel with its chat, and when it is given up."""

    message: NewMessage
    chat_id: int
    give_up_at: datetime


async def enqueue_unless_posted(session: AsyncSession, messages: Sequence[Addressed], due_at: datetime) -> None:
    """Adds messages, each in place of an earlier one with its key if that was certainly not posted. It may have been
    for another channel, from which the schedule has moved since."""
    if not messages:
        return
    rows = [_values(one.message, one.chat_id, due_at, one.give_up_at) for one in messages]
    made = set(await session.scalars(insert(Outbox).on_conflict_do_nothing().returning(Outbox.key), rows))
    fresh = {"state": "due", "taken_at": None, "error": None}
    for row in rows:
        if row["key"] not in made:
            names = ("chat_id", "channel_id", "body", "due_at", "not_before", "give_up_at")
            again: dict[str, Any] = {name: row[name] for name in names}
            again["platform"] = select(Chat.platform).where(Chat.id == row["chat_id"]).scalar_subquery()
            skipped = update(Outbox).where(Outbox.key == row["key"], Outbox.state == "skipped")
            await session.execute(skipped.values(**again, **fresh))


async def retry_now(session: AsyncSession, round_id: int, now: datetime) -> bool:
    """Makes the round's question due at once in every channel that could not take it. Returns False if none."""
    waiting = [Outbox.round_id == round_id, Outbox.kind == "question", Outbox.state == "due", Outbox.error.is_not(None)]
    found = await session.scalars(update(Outbox).where(*waiting).values(not_before=now).returning(Outbox.id))
    return bool(found.all())


async def retry_refused(session: AsyncSession, platform: str, workspace: str, channel: str, now: datetime) -> None:
    """Makes the messages that a chat refused due at once; with `channel` only those to that channel."""
    there = select(Chat.id).where(Chat.platform == platform, Chat.external_id == workspace)
    here = select(Channel.id).where(Channel.chat_id.in_(there), Channel.external_id == channel)
    refused = [Outbox.chat_id.in_(there), Outbox.state == "due", Outbox.error.is_not(None), Outbox.not_before > now]
    narrower = [Outbox.channel_id.in_(here)] if channel else []
    await session.execute(update(Outbox).where(*refused, *narrower).values(not_before=now))


def claim(row: Outbox, now: datetime, lease: timedelta) -> bool:
    """Leases the message to a dispatcher. Returns True if an earlier attempt may have arrived."""
    uncertain = row.state != "due"
    row.state, row.attempt, row.claimed_until = "sending", row.attempt + 1, now + lease
    row.taken_at = row.taken_at or now
    return uncertain


async def load_chats_and_channels(session: AsyncSession, rows: Sequence[Outbox]) -> list[Chat | Channel]:
    """Returns the chats and channels of the messages. `resolve_address` reads them from the session while they are
    referenced."""
    chats = await session.scalars(select(Chat).where(Chat.id.in_({row.chat_id for row in rows})))
    channels = await session.scalars(select(Channel).where(Channel.id.in_({row.channel_id for row in rows})))
    return [*chats, *channels]


async def resolve_address(session: AsyncSession, row: Outbox) -> tuple[Chat, str, str | None] | None:
    """Returns the chat, the external id of the channel and of the member. Returns None for a private message whose
    member is no longer known in that chat."""
    chat = await session.get_one(Chat, row.chat_id)
    channel = await session.get(Channel, row.channel_id) if row.channel_id else None
    if row.member_id is None:
        return chat, channel.external_id if channel else "", None
    query = select(Identity.external_id).where(Identity.chat_id == chat.id, Identity.member_id == row.member_id)
    member = await session.scalar(query)
    return None if member is None else (chat, channel.external_id if channel else "", member)


async def mark_sent(
    session: AsyncSession, outbox_id: int, message_ref: str, now: datetime
) -> tuple[str, datetime, datetime | None] | None:
    """Records that the message was posted. Returns its kind, due time and first claim time, or None if it was
    already recorded or does not exist."""
    change = (
        update(Outbox)
        .where(Outbox.id == outbox_id, Outbox.state != "sent")
        .values(state="sent", message_ref=message_ref, sent_at=now, claimed_until=None, error=None)
        .returning(Outbox.kind, Outbox.due_at, Outbox.taken_at)
        .execution_options(synchronize_session=False)
    )
    row = (await session.execute(change)).one_or_none()
    return None if row is None else (row[0], row[1], row[2])


async def count_jobs_ahead(session: AsyncSession, job: int) -> int:
    """Returns how many jobs of the same task are running or go before this one."""
    return int(await session.scalar(_BEFORE, {"job": job}) or 0)


_BEFORE = text(
    """
    select count(*) from procrastinate_jobs as other, procrastinate_jobs as mine
    where mine.id = :job and other.task_name = mine.task_name and other.id <> mine.id
    and (other.status = 'doing' or other.status = 'todo'
         and (other.scheduled_at is null or other.scheduled_at <= now())
         and (other.priority, -other.id) > (mine.priority, -mine.id))
    """
)


async def _chat_of(session: AsyncSession, member_id: int, wanted: int | None) -> int | None:
    query = select(Identity.chat_id).join(Chat, Chat.id == Identity.chat_id).where(Identity.member_id == member_id)
    order = (Identity.chat_id == wanted).desc() if wanted is not None else Identity.id
    return await session.scalar(query.order_by(Chat.left_at.is_not(None), order, Identity.id).limit(1))
