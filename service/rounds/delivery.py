"""Hands outbox messages to dispatchers and records the results: due → sending → sent, or uncertain, skipped or lost.

A dispatcher leases a message. If the lease expires, the message becomes uncertain: it may have been posted, so the
next dispatcher looks first. Only messages that were certainly not posted are given up by the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import structlog
from pydantic import TypeAdapter
from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import Misconfigured
from service.metrics import DELIVERIES, record_delivery
from service.process import Clock
from service.rounds import alerts, review
from service.rounds.alerts import notify_admins
from service.store import answers, bots, claims, notifications, outbox
from service.store.change_signal import OUTBOX, ChangeSignal, await_change
from service.store.outbox import PlannedEdits
from service.store.session import Sessions
from service.store.tables import Channel, Outbox, Round, Schedule
from service.wire import (
    PLATFORM,
    AttemptOutcome,
    Body,
    Delivery,
    Platform,
    PostedMessage,
    PostFailed,
    PostUpdate,
    QuestionPost,
    Shards,
)

log = structlog.get_logger(__name__)

LEASE = timedelta(seconds=30)
"""Time that a bot has to post a message that it claimed."""
FIRST_RETRY_SECONDS = 2.0
"""Wait before the first retry; it doubles with each."""
MAX_RETRY_SECONDS = 300.0
"""Longest wait before a retry."""
REFUSED_RETRY_SECONDS = 300.0
"""Interval at which a refused message is tried again, seconds. What ends a refusal is not always reported."""
MAX_PLATFORM_WAIT_SECONDS = 3600.0
"""Longest wait that a platform may request, seconds."""
POLL_SECONDS = 1.0
"""Interval at which a waiting dispatcher checks for expired leases and retries, seconds."""
UPDATE_INTERVAL = timedelta(seconds=10)
"""Least time between two edits of a question's message that show the number of answers."""
UPDATE_TIMEOUT = timedelta(minutes=5)
"""How long such an edit is retried: the next one shows the same."""
BODY: TypeAdapter[Body] = TypeAdapter(Body)


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """A failed attempt to post a message."""

    attempt: int
    error: str
    outcome: AttemptOutcome
    retry_s: float | None = None
    """Wait that the platform asked for, seconds."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Which messages a dispatcher asks for: at most `limit` of a platform."""

    platform: Platform
    application: str = ""
    """Only chats that this application serves, or that no application does."""
    limit: int = 20
    shards: Shards | None = None
    """Only servers that belong to these shards."""
    kinds: Collection[str] | None = None
    """A queue waits while its first message is of another kind."""


async def claim_or_wait(
    sessions: Sessions,
    signal: ChangeSignal,
    wanted: Claim,
    clock: Clock,
    *,
    wait_s: float = 0,
    stopping: Callable[[], bool] = lambda: False,
) -> tuple[Delivery, ...]:
    """Leases messages to the caller that may be sent now, waiting up to `wait_s` for some.

    Once `stopping` returns True it stops within a second and leases nothing.
    """
    async with sessions.begin() as session:
        await bots.record_seen(session, wanted.platform, wanted.application, clock())

    async def claim() -> tuple[Delivery, ...]:
        async with sessions.begin() as session:
            leased = await claim_messages(session, wanted, clock())
            if leased and stopping():
                # Nobody would receive them, and they would wait for the end of their lease.
                await session.rollback()
                return ()
            return leased

    found = await claim()
    if found or wait_s <= 0:
        return found
    while not stopping():
        added = signal.next_change(OUTBOX)
        found = await claim()
        if found or wait_s <= 0:
            break
        pause = min(wait_s, POLL_SECONDS)
        await await_change(added, pause)
        wait_s -= pause
    return found


async def claim_messages(session: AsyncSession, wanted: Claim, now: datetime) -> tuple[Delivery, ...]:
    """Leases the first message of every queue that may be sent now."""
    await give_up_expired(session, now)
    rows = await claims.lock_claimable(
        session, wanted.platform, wanted.application, now, wanted.limit, wanted.shards, wanted.kinds
    )
    # The session holds rows weakly: as long as these are referenced, each delivery finds them without a statement.
    _kept = await outbox.load_chats_and_channels(session, rows)
    taken = [await _build_delivery(session, row, now, outbox.claim(row, now, LEASE)) for row in rows]
    return tuple([delivery for delivery in taken if delivery is not None])


async def enqueue_answer_count(session: AsyncSession, round_id: int, now: datetime) -> None:
    """Enqueues edits that show the new number of answers in the question's messages: see `plan_answer_count`."""
    await outbox.enqueue_updates(session, plan_answer_count(round_id, now))


def plan_answer_count(round_id: int, now: datetime) -> PlannedEdits:
    """Returns the edits that show the number of answers, together with all answers of the same interval.

    They are made after the interval has ended, so that no answer of it is left out.
    """
    seconds = UPDATE_INTERVAL.total_seconds()
    interval = int(now.timestamp() // seconds)
    due_at = datetime.fromtimestamp((interval + 1) * seconds, UTC)
    return PlannedEdits(round_id, str(interval), due_at, due_at + UPDATE_TIMEOUT)


async def mark_sent(session: AsyncSession, delivery: int, message_ref: str, now: datetime) -> None:
    """Records that the message was posted as `message_ref`. The first reference is kept."""
    marked = await outbox.mark_sent(session, delivery, message_ref, now)
    if marked is not None:
        record_delivery(*marked, now)
        if marked[0] in notifications.KINDS:
            await notifications.save_refusal(session, await _lock_message(session, delivery), "")
        if marked[0] == "winner":
            row = await _lock_message(session, delivery)
            await alerts.close_role_trouble(session, row.workspace_id, row.chat_id, now)
        return
    row = await _lock_message(session, delivery)
    if row.message_ref != message_ref:
        log.error("a message was made twice", key=row.key, first=row.message_ref, second=message_ref)


async def mark_failed(session: AsyncSession, delivery: int, failure: FailedAttempt, now: datetime) -> None:
    """Records a failed attempt: the message is retried later, or if it was refused for good, never. One that waits for
    an admin is retried every few minutes, and at once when the cause is cured, until it is given up.

    Ignored unless the dispatcher still holds the lease: a later attempt may already be running.
    """
    row = await _lock_message(session, delivery)
    if row.state != "sending" or row.attempt != failure.attempt:
        return
    row.error = failure.error[:1000]
    row.not_before, row.claimed_until = now + _retry_delay(failure), None
    row.state = "uncertain" if failure.outcome == "uncertain" else "due"
    DELIVERIES.labels(row.kind, "uncertain" if failure.outcome == "uncertain" else "failed").inc()
    # A refused edit needs no notice: the message itself was accepted.
    edits = row.edits_id is not None
    waits = failure.outcome == "waits" and not edits
    if waits or (failure.outcome == "refused" and not edits):
        await alerts.record_refusal(session, row, now, waits=waits)
    in_time = waits or row.give_up_at is None or row.not_before < row.give_up_at
    if failure.outcome in ("refused", "waits"):
        await notifications.save_refusal(session, row, row.error)
    if failure.outcome == "refused" or not in_time:
        await _give_up(session, row, now)


async def give_up_expired(session: AsyncSession, now: datetime, *kinds: str) -> None:
    """Gives up messages that were not sent in time; with `kinds` only those."""
    for row in await outbox.lock_expired(session, now, *kinds):
        await _give_up(session, row, now)


async def withdraw_questions(
    session: AsyncSession,
    schedule_id: int,
    *,
    day: date | None = None,
    round_id: int | None = None,
    channel_id: int | None = None,
    extra: bool = False,
) -> None:
    """Gives up the questions of a schedule that wait, such as for the bot to be invited, because an admin stops them;
    see `outbox.lock_waiting_questions`. Nobody is told, and a day can be posted after all, by `posting.post_now`."""
    waiting = await outbox.lock_waiting_questions(
        session, schedule_id, day=day, round_id=round_id, channel_id=channel_id, extra=extra
    )
    for row in waiting:
        row.state, row.error = "skipped", "an admin stopped it"
    for withdrawn in {row.round_id for row in waiting if row.round_id is not None}:
        await _cancel_round(session, withdrawn)


async def _lock_message(session: AsyncSession, delivery: int) -> Outbox:
    row = await outbox.lock_message(session, delivery)
    if row is None:
        raise Misconfigured(
            "no-delivery", f"there is no delivery {delivery}: it may belong to another database; claim again"
        )
    return row


def _retry_delay(failure: FailedAttempt) -> timedelta:
    if failure.retry_s is not None:
        return timedelta(seconds=min(failure.retry_s, MAX_PLATFORM_WAIT_SECONDS))
    if failure.outcome == "waits":
        return timedelta(seconds=REFUSED_RETRY_SECONDS)
    return timedelta(seconds=min(FIRST_RETRY_SECONDS * 2.0 ** min(failure.attempt - 1, 16), MAX_RETRY_SECONDS))


async def _build_delivery(session: AsyncSession, row: Outbox, now: datetime, uncertain: bool) -> Delivery | None:
    """Returns None if the recipient can no longer be reached in that chat: the message must not go to a channel
    instead."""
    address = await outbox.resolve_address(session, row)
    if address is None:
        row.state, row.claimed_until, row.error = "skipped", None, "the member is not known in this chat any more"
        return None
    chat, channel, member = address
    if row.kind == "reminder" and not await notifications.still_wants_reminder(session, row):
        row.state, row.claimed_until = "lost" if uncertain else "skipped", None
        row.error = "the round is closed, or the member has answered or wants no reminders any more"
        return None
    edits = await _prepare_edit(session, row, now)
    if row.edits_id is not None and edits is None:
        return None
    return Delivery(
        id=row.id,
        key=row.key,
        platform=PLATFORM.validate_python(chat.platform),
        workspace=chat.external_id,
        channel=channel,
        member=member,
        reply_to=await _find_thread(session, row),
        edits=edits,
        due_at=row.due_at,
        attempt=row.attempt,
        uncertain=uncertain,
        body=BODY.validate_python(row.body, extra="ignore"),
    )


async def _prepare_edit(session: AsyncSession, row: Outbox, now: datetime) -> PostedMessage | None:
    """Returns the message to edit, or None if it was not posted: it comes later, or never."""
    post = await session.get(Outbox, row.edits_id) if row.edits_id is not None else None
    if post is None:
        return None
    if post.message_ref is None:
        outbox.postpone(row, now + UPDATE_INTERVAL)
        return None
    if row.kind == "update":
        await _write_update(session, row, post)
    return PostedMessage(ref=post.message_ref, key=post.key)


async def _write_update(session: AsyncSession, row: Outbox, question: Outbox) -> None:
    """Writes the question's current state into the edit."""
    assert row.round_id is not None, "a question of the day belongs to a round"
    await outbox.delete_covered_updates(session, row)
    round_ = await session.get_one(Round, row.round_id)
    closed = round_.closed_at is not None
    update = PostUpdate(
        post=QuestionPost.from_stored(question.body),
        answers=await answers.count_answers(session, row.round_id),
        right=await answers.count_right(session, row.round_id) if closed else None,
        unjudged=await answers.count_unjudged(session, row.round_id) if closed else 0,
    )
    row.body = update.model_dump(mode="json")


async def _find_thread(session: AsyncSession, row: Outbox) -> str | None:
    """Returns the round's post in that channel, whose thread the reveal belongs in. The queue's order settles it
    first."""
    if row.kind not in ("reveal", "outcome") or row.round_id is None:
        return None
    question = await outbox.find_question_post(session, row.round_id, row.channel_id)
    return question.message_ref if question else None


async def _give_up(session: AsyncSession, row: Outbox, now: datetime) -> None:
    row.state, row.claimed_until = "lost" if row.state == "uncertain" else "skipped", None
    DELIVERIES.labels(row.kind, "given_up").inc()
    if row.edits_id is not None or row.kind == "reminder":
        log.info("edit or reminder given up", key=row.key, error=row.error)
        return
    log.error("message given up", key=row.key, error=row.error)
    if row.kind == "notice" and row.state == "skipped":
        await review.notify_others(session, row, now)
    if row.kind == "question" and row.round_id is not None:
        await _cancel_round(session, row.round_id)
    round_ = await session.get(Round, row.round_id) if row.round_id is not None else None
    public = row.kind in ("question", "reveal", "outcome")
    if public and round_ is not None and not await alerts.is_refusal_known(session, row):
        schedule = await session.get_one(Schedule, round_.schedule_id)
        await notify_admins(session, schedule, f"gave-up:{row.key}", await _describe_failure(session, row), now)


async def _cancel_round(session: AsyncSession, round_id: int) -> None:
    """Skips a round that nobody could see, so that it breaks no streak. Rounds posted in another channel, or
    answered through /quiz today, continue."""
    round_ = await session.get_one(Round, round_id, with_for_update=True)
    await session.flush()
    elsewhere = any(post.state != "skipped" for post in await outbox.list_question_posts(session, round_id))
    if round_.closed_at is None and not elsewhere and not await answers.count_answers(session, round_id):
        round_.version_id, round_.skipped = None, "not posted"


async def _describe_failure(session: AsyncSession, row: Outbox) -> PostFailed:
    channel = await session.get(Channel, row.channel_id) if row.channel_id is not None else None
    return PostFailed.model_validate(
        {
            "message": row.kind,
            "channel": channel.shown_name if channel else "",
            "attempts": row.attempt,
            "error": row.error or "",
        }
    )
