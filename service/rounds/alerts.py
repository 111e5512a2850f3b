"""Notifies admins about problems: a late question, a refusing channel, a missing sandbox, a removed app.

Each trouble is reported once when it begins and once when it is resolved, where the admins can be reached: outside the
troubled chat if the workspace has another. Database rows ensure that it is once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from sandbox.client import SandboxUnreachable
from service.domain.calendar import get_zone
from service.rounds.sandbox_turns import FairSandbox
from service.store import chats, outbox, troubles
from service.store.session import Sessions
from service.store.tables import Channel, Chat, Outbox, Schedule, Trouble
from service.wire import Notice, ScheduleSpec

CHECK_INTERVAL = timedelta(seconds=10)
"""Interval between checks."""
LATE_AFTER = timedelta(minutes=10)
"""Delay after which an unposted question is reported."""
SANDBOX_DELAY = timedelta(minutes=2)
"""Waiting time of a code answer without a sandbox after which it is reported. Its author is told later."""
MAX_PER_CHECK = 50
"""Limit on reports of each kind per check: a large outage is reported step by step, between ticks."""
HEALTH_TIMEOUT_SECONDS = 2.0
"""Time a sandbox has to report its health, seconds. The tick waits for it."""


async def notify_admins(session: AsyncSession, schedule: Schedule, key: str, notice: Notice, now: datetime) -> None:
    """Enqueues a notice about a schedule, once per key.

    It goes privately to the admin who made the schedule. It goes to the channel if that admin is no longer known, and
    in the web chat and the console, where everybody shares one room.
    """
    chat = await chats.get_chat_of_channel(session, schedule.channel_id)
    maker = schedule.made_by if chat.platform in ("discord", "slack") else None
    for member_id in dict.fromkeys((maker, None)):
        left = await outbox.enqueue(
            session,
            outbox.NewMessage(
                key=key,
                body=notice,
                workspace_id=schedule.workspace_id,
                channel_id=schedule.channel_id if member_id is None else None,
                member_id=member_id,
                chat_id=chat.id,
            ),
            now,
            now + outbox.PRIVATE_TIMEOUT,
        )
        if left:
            return


class Alerts:
    """Detects and reports troubles; called at every tick."""

    def __init__(
        self,
        sessions: Sessions,
        sandbox: FairSandbox | None,
        *,
        most: int = MAX_PER_CHECK,
        patience_s: float = HEALTH_TIMEOUT_SECONDS,
    ) -> None:
        self._sessions = sessions
        self._patience_s = patience_s
        self._most = most
        self._sandbox = sandbox
        self._looked: datetime | None = None

    async def check(self, now: datetime) -> None:
        """Detects what began and what is resolved, and enqueues the notices."""
        if self._looked is not None and timedelta() <= now - self._looked < CHECK_INTERVAL:
            return
        self._looked = now
        async with self._sessions.begin() as session:
            await _check_late_posts(session, now, self._most)
            await _check_refusals(session, now, self._most)
            await _check_revocations(session, now, self._most)
        await self._judging(now)

    async def _judging(self, now: datetime) -> None:
        async with self._sessions.begin() as session:
            behind = await troubles.list_delayed_answers(session, now - SANDBOX_DELAY)
            known = await troubles.list_open(session, "sandbox")
        if not behind and not known:
            return
        cause = await self._absence()
        async with self._sessions.begin() as session:
            for trouble in known[: self._most] if not cause else ():
                if await troubles.close_trouble(session, trouble, now):
                    await _notify_resolved(session, trouble, _sandbox_resolved_notice(trouble, now), now)
            fresh = [each for each in behind if each.workspace_id not in {trouble.workspace_id for trouble in known}]
            for each in fresh[: self._most] if cause else ():
                detail = {"count": each.count, "oldest": each.oldest.isoformat(), "cause": cause}
                begun = await troubles.open_trouble(session, each.workspace_id, "sandbox", 0, detail, now)
                if begun is not None:
                    await _notify(session, begun, "began", await _sandbox_notice(session, begun), now)

    async def _absence(self) -> str:
        """Returns why no code can be judged, or an empty string."""
        if self._sandbox is None:
            return "none is connected"
        try:
            async with asyncio.timeout(self._patience_s):
                health = await self._sandbox.health()
        except SandboxUnreachable as problem:
            return str(problem)
        except TimeoutError:
            return "it does not say how it is"
        return "" if health.ready or health.running else health.trouble or "it is starting"


async def _check_late_posts(session: AsyncSession, now: datetime, most: int) -> None:
    for row, schedule, channel in await troubles.list_late_posts(session, now - LATE_AFTER, most):
        detail = {"place": _channel_name(channel), "due": _local_time(row.due_at, schedule), "cause": row.error or ""}
        trouble = await troubles.open_trouble(session, row.workspace_id, "late", row.id, detail, now)
        if trouble is not None:
            await _notify(session, trouble, "began", _late_notice(row, schedule, detail), now, schedule, {row.chat_id})
    for trouble, row in await troubles.list_settled_late_posts(session, most):
        if not await troubles.close_trouble(session, trouble, now):
            continue
        if row.state == "sent":
            await _notify_resolved(session, trouble, _late_resolved_notice(trouble, row), now)
        else:  # giving up enqueues its own notice
            await troubles.withdraw_message(session, _notice_key(trouble, "began"))


def _late_notice(row: Outbox, schedule: Schedule, detail: dict[str, Any]) -> Notice:
    if row.error:
        why = f"The last try failed: {row.error}."
    elif row.taken_at is None:
        why = "No bot has come for it: see that the bot of that chat runs."
    else:
        why = "A bot has it in hand and has not said what became of it."
    until = f" It is tried until {_local_time(row.give_up_at, schedule)}." if row.give_up_at is not None else ""
    return Notice(
        title="The daily question is late",
        text=f"It was due in {detail['place']} at {detail['due']} and does not stand there yet. {why}{until} You will "
        "hear when it does. `/quiz-admin doctor` says more.",
    )


def _late_resolved_notice(trouble: Trouble, row: Outbox) -> Notice:
    assert row.sent_at is not None, "it was sent"
    minutes = max(1, int((row.sent_at - row.due_at).total_seconds() // 60))
    return Notice(
        title="The daily question has come",
        text=f"It stands in {trouble.detail['place']} now, {_minutes_text(minutes)} after it was due.",
    )


async def _check_refusals(session: AsyncSession, now: datetime, most: int) -> None:
    for trouble in await troubles.list_recovered_channels(session, most):
        if await troubles.close_trouble(session, trouble, now):
            await _notify_resolved(session, trouble, _channel_resolved_notice(trouble), now)


async def record_refusal(session: AsyncSession, row: Outbox, now: datetime) -> None:
    """Records that the chat permanently refused a message to a channel."""
    if row.channel_id is None or row.member_id is not None or row.kind == "notice":
        return
    channel = await session.get_one(Channel, row.channel_id)
    detail = {"place": _channel_name(channel), "cause": row.error or ""}
    await troubles.open_trouble(session, row.workspace_id, "refused", channel.id, detail, now)


def _channel_resolved_notice(trouble: Trouble) -> Notice:
    return Notice(
        title="The channel takes messages again",
        text=f"{trouble.detail['place']} refused a message before ({trouble.detail['cause']}). That is over.",
    )


async def _check_revocations(session: AsyncSession, now: datetime, most: int) -> None:
    gone = {chat.id: chat for chat in await troubles.list_revoked_chats(session)}
    known = {trouble.subject: trouble for trouble in await troubles.list_open(session, "revoked")}
    for chat_id in sorted(gone.keys() - known.keys())[:most]:
        chat = gone[chat_id]
        detail = {"place": chat.platform.capitalize()}
        trouble = await troubles.open_trouble(session, chat.workspace_id, "revoked", chat_id, detail, now)
        if trouble is not None:
            # Nobody can be told in that chat. If it was the only one, its admins removed the app themselves.
            await _notify_elsewhere(session, trouble, "began", _revoked_notice(chat), now, {chat_id})
    for chat_id in sorted(known.keys() - gone.keys())[:most]:
        if await troubles.close_trouble(session, known[chat_id], now):
            await _notify_resolved(session, known[chat_id], _revoked_resolved_notice(known[chat_id]), now)


def _revoked_notice(chat: Chat) -> Notice:
    name = chat.platform.capitalize()
    return Notice(
        title=f"Dailygrad was removed from {name}",
        text=f"Its token there was revoked, so nothing is posted on {name} until the app is installed again. What is "
        "due here goes on.",
    )


def _revoked_resolved_notice(trouble: Trouble) -> Notice:
    return Notice(
        title=f"Dailygrad is back on {trouble.detail['place']}",
        text="The app was installed again. What waited is posted now, as far as it is still in time.",
    )


async def _sandbox_notice(session: AsyncSession, trouble: Trouble) -> Notice:
    schedule = await troubles.get_oldest_schedule(session, trouble.workspace_id)
    count, oldest = int(trouble.detail["count"]), datetime.fromisoformat(trouble.detail["oldest"])
    many = "A code answer has" if count == 1 else f"{count} code answers have"
    return Notice(
        title="Code answers wait: there is no sandbox",
        text=f"{many} waited for a verdict since {_local_time(oldest, schedule)}. "
        f"The sandbox: {trouble.detail['cause']}. "
        "Whoever runs Dailygrad should see that `dailygrad sandbox serve` runs and read its log. No answer is lost "
        "and none costs anybody points; you will hear when judging goes on.",
    )


def _sandbox_resolved_notice(trouble: Trouble, now: datetime) -> Notice:
    minutes = max(1, int((now - trouble.since).total_seconds() // 60))
    return Notice(
        title="Code answers are judged again",
        text=f"A sandbox answers, {_minutes_text(minutes)} after you were told that there was none.",
    )


async def _notify_resolved(session: AsyncSession, trouble: Trouble, notice: Notice, now: datetime) -> None:
    """Reports that a trouble is resolved. If its beginning was not reported yet, this one notice is enough."""
    await troubles.withdraw_message(session, _notice_key(trouble, "began"))
    await _notify(session, trouble, "over", notice, now)


async def _notify(
    session: AsyncSession,
    trouble: Trouble,
    when: str,
    notice: Notice,
    now: datetime,
    schedule: Schedule | None = None,
    troubled: Collection[int] = (),
) -> None:
    """Notifies the admins outside the troubled chats, or else where they are always notified."""
    if troubled and await _notify_elsewhere(session, trouble, when, notice, now, troubled, schedule):
        return
    key = _notice_key(trouble, when)
    schedule = schedule or await _schedule_of(session, trouble)
    if schedule is not None:
        await notify_admins(session, schedule, key, notice, now)
    elif (channel := await troubles.get_oldest_channel(session, trouble.workspace_id)) is not None:
        await _enqueue(session, key, notice, trouble, troubles.NoticeTarget(channel.chat_id, channel.id, None), now)


async def _notify_elsewhere(
    session: AsyncSession,
    trouble: Trouble,
    when: str,
    notice: Notice,
    now: datetime,
    troubled: Collection[int],
    schedule: Schedule | None = None,
) -> bool:
    """Notifies the admins in a chat without trouble. Returns False if there is none."""
    schedule = schedule or await _schedule_of(session, trouble)
    spot = await troubles.find_notice_target(session, schedule, troubled) if schedule is not None else None
    return spot is not None and await _enqueue(session, _notice_key(trouble, when), notice, trouble, spot, now)


async def _enqueue(
    session: AsyncSession, key: str, notice: Notice, trouble: Trouble, spot: troubles.NoticeTarget, now: datetime
) -> bool:
    return await outbox.enqueue(
        session,
        outbox.NewMessage(
            key=key,
            body=notice,
            workspace_id=trouble.workspace_id,
            channel_id=spot.channel_id,
            member_id=spot.member_id,
            chat_id=spot.chat_id,
        ),
        now,
        now + outbox.PRIVATE_TIMEOUT,
    )


async def _schedule_of(session: AsyncSession, trouble: Trouble) -> Schedule | None:
    if (
        trouble.what == "late"
        and (found := await troubles.get_schedule_of_message(session, trouble.subject)) is not None
    ):
        return found
    return await troubles.get_oldest_schedule(session, trouble.workspace_id)


def _notice_key(trouble: Trouble, when: str) -> str:
    return f"trouble:{trouble.id}:{when}"


def _channel_name(channel: Channel) -> str:
    return f"`{(channel.name or channel.external_id).replace('`', '')}`"


def _local_time(instant: datetime, schedule: Schedule | None) -> str:
    zone = ScheduleSpec.model_validate(schedule.spec).zone if schedule is not None else "UTC"
    return f"{instant.astimezone(get_zone(zone)):%H:%M} {zone}"


def _minutes_text(number: int) -> str:
    return "a minute" if number == 1 else f"{number} minutes"
