"""Notifies admins about problems: a late question, a refusing channel, a missing sandbox, a removed app.

Each trouble is reported once when it begins and once when it is resolved, where the admins can be reached: outside the
troubled chat if the workspace has another. Database rows ensure that it is once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from sandbox.client import SandboxUnreachable
from service.reference_clock import Interval
from service.rounds.sandbox_turns import FairSandbox
from service.store import chats, outbox, troubles
from service.store.session import Sessions
from service.store.tables import Channel, Outbox, Round, Schedule, Trouble
from service.wire import (
    PLATFORM,
    AppRemoved,
    AppRestored,
    ChannelRecovered,
    ChannelRefused,
    Notice,
    NoticeFact,
    QuestionArrived,
    QuestionLate,
    RoleRefused,
    SandboxMissing,
    SandboxProblem,
    SandboxRestored,
    ScheduleSpec,
)

CHECK_INTERVAL = timedelta(seconds=10)
"""Interval between checks."""
LATE_AFTER = timedelta(minutes=10)
"""Delay after which an unposted question is reported."""
SANDBOX_DELAY = timedelta(minutes=2)
"""Waiting time of a code answer without a sandbox after which it is reported. The author is notified later."""
MAX_PER_CHECK = 50
"""Limit on reports of each kind per check: a large outage is reported step by step, between ticks."""
HEALTH_TIMEOUT_SECONDS = 2.0
"""Time a sandbox has to report its health, seconds. The tick waits for it."""


@dataclass(frozen=True, slots=True)
class _TroubleNotice:
    """A notice that a trouble began or is over."""

    trouble: Trouble
    over: bool
    fact: NoticeFact
    schedule: Schedule | None
    """Schedule whose admin is notified, if there is one."""

    @property
    def key(self) -> str:
        return _notice_key(self.trouble, over=self.over)


async def notify_admins(session: AsyncSession, schedule: Schedule, key: str, fact: NoticeFact, now: datetime) -> None:
    """Enqueues a notice about a schedule, once per key.

    It goes privately to the admin who made the schedule. It goes to the channel if that admin is no longer known, and
    in the web chat and the console, where everyone shares one room.
    """
    chat = await chats.get_chat_of_channel(session, schedule.channel_id)
    maker = schedule.made_by if chat.platform in ("discord", "slack") else None
    for member_id in dict.fromkeys((maker, None)):
        left = await outbox.enqueue(
            session,
            outbox.NewMessage(
                key=key,
                body=Notice(fact=fact),
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
        timeout_seconds: float = HEALTH_TIMEOUT_SECONDS,
    ) -> None:
        self._sessions = sessions
        self._timeout_seconds = timeout_seconds
        self._most = most
        self._sandbox = sandbox
        self._interval = Interval(CHECK_INTERVAL)

    async def check(self, now: datetime) -> None:
        """Detects what began and what is resolved, and enqueues the notices."""
        if not self._interval.is_due(now):
            return
        async with self._sessions.begin() as session:
            await _check_late_posts(session, now, self._most)
            await _check_refusals(session, now, self._most)
            await _check_revocations(session, now, self._most)
        await self._check_sandbox(now)

    async def _check_sandbox(self, now: datetime) -> None:
        async with self._sessions.begin() as session:
            behind = await troubles.list_delayed_answers(session, now - SANDBOX_DELAY)
            known = await troubles.list_open(session, "sandbox")
        if not behind and not known:
            return
        absence = await self._find_absence()
        async with self._sessions.begin() as session:
            if absence is None:
                for trouble in known[: self._most]:
                    if await troubles.close_trouble(session, trouble, now):
                        minutes = _whole_minutes(now - trouble.since)
                        await _notify_resolved(session, trouble, SandboxRestored(minutes=minutes), now)
                return
            reported = {trouble.workspace_id for trouble in known}
            fresh = [each for each in behind if each.workspace_id not in reported]
            for each in fresh[: self._most]:
                await _report_delayed_answers(session, each, absence, now)

    async def _find_absence(self) -> tuple[SandboxProblem, str] | None:
        """Returns why no code can be judged, with details for operators; None if it can."""
        if self._sandbox is None:
            return "not connected", ""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                health = await self._sandbox.health()
        except SandboxUnreachable as problem:
            return "unreachable", str(problem)
        except TimeoutError:
            return "no response", ""
        if health.ready or health.running:
            return None
        return ("failing", health.trouble) if health.trouble else ("starting", "")


async def _check_late_posts(session: AsyncSession, now: datetime, most: int) -> None:
    for row, schedule, channel in await troubles.list_late_posts(session, now - LATE_AFTER, most):
        detail = {"channel": channel.shown_name, "error": row.error or ""}
        trouble = await troubles.open_trouble(session, row.workspace_id, "late", row.id, detail, now)
        if trouble is not None:
            fact = QuestionLate(
                channel=channel.shown_name,
                due_at=row.due_at,
                until=row.give_up_at,
                zone=_zone_of(schedule),
                claimed=row.taken_at is not None,
                error=row.error or "",
            )
            await _notify(session, _TroubleNotice(trouble, False, fact, schedule), now, {row.chat_id})
    for trouble, row in await troubles.list_settled_late_posts(session, most):
        if not await troubles.close_trouble(session, trouble, now):
            continue
        if row.state == "sent":
            assert row.sent_at is not None, "it was sent"
            minutes = _whole_minutes(row.sent_at - row.due_at)
            await _notify_resolved(
                session, trouble, QuestionArrived(channel=trouble.detail["channel"], minutes=minutes), now
            )
        else:  # giving up enqueues its own notice
            await troubles.withdraw_message(session, _notice_key(trouble, over=False))


async def _check_refusals(session: AsyncSession, now: datetime, most: int) -> None:
    for trouble in await troubles.list_recovered_channels(session, most):
        if await troubles.close_trouble(session, trouble, now):
            fact = ChannelRecovered(channel=trouble.detail["channel"], error=trouble.detail["error"])
            await _notify_resolved(session, trouble, fact, now)


async def record_refusal(session: AsyncSession, row: Outbox, now: datetime, *, waits: bool) -> None:
    """Records that the chat refused a message to a channel. If the message waits for an admin to act, they are told
    once; if not, giving it up tells them."""
    if row.kind == "winner":
        await _record_role_refusal(session, row, now)
        return
    if row.channel_id is None or row.member_id is not None or row.kind == "notice":
        return
    channel = await session.get_one(Channel, row.channel_id)
    detail = {"channel": channel.shown_name, "error": row.error or "", "waits": waits}
    trouble = await troubles.open_trouble(session, row.workspace_id, "refused", channel.id, detail, now)
    if trouble is None or not waits or await troubles.has_left(session, row.chat_id):
        return
    schedule = await troubles.get_schedule_of_message(session, row.id)
    if schedule is not None:
        fact = ChannelRefused(
            message=row.kind,
            channel=channel.shown_name,
            error=row.error or "",
            until=row.give_up_at,
            zone=_zone_of(schedule),
            extra=row.round_id is not None and (await session.get_one(Round, row.round_id)).number > 0,
        )
        await notify_admins(session, schedule, _notice_key(trouble, over=False), fact, now)


async def _record_role_refusal(session: AsyncSession, row: Outbox, now: datetime) -> None:
    """Records that the winner's role could not be given, and tells admins once."""
    assert row.channel_id is not None, "it is announced in a channel"
    channel = await session.get_one(Channel, row.channel_id)
    detail = {"channel": channel.shown_name, "error": row.error or ""}
    trouble = await troubles.open_trouble(session, row.workspace_id, "role", row.chat_id, detail, now)
    if trouble is None:
        return
    schedule = await troubles.get_oldest_schedule(session, row.workspace_id)
    fact = RoleRefused(
        season=row.body["season"],
        error=row.error or "",
        until=row.give_up_at,
        zone=_zone_of(schedule) if schedule is not None else "UTC",
    )
    await _notify(session, _TroubleNotice(trouble, False, fact, schedule), now)


async def close_role_trouble(session: AsyncSession, workspace_id: int, chat_id: int, now: datetime) -> None:
    """Closes the trouble about a chat's role: it was given, or another one was named."""
    for trouble in await troubles.list_open(session, "role", workspace_id):
        if trouble.subject == chat_id and await troubles.close_trouble(session, trouble, now):
            await troubles.withdraw_message(session, _notice_key(trouble, over=False))


async def is_refusal_known(session: AsyncSession, row: Outbox) -> bool:
    """Returns whether admins were notified that the message's channel refuses it until they act."""
    open_troubles = await troubles.list_open(session, "refused", row.workspace_id)
    return any(trouble.subject == row.channel_id and trouble.detail["waits"] for trouble in open_troubles)


async def _check_revocations(session: AsyncSession, now: datetime, most: int) -> None:
    for chat in await troubles.list_left_chats(session, most):
        detail = {"platform": chat.platform}
        trouble = await troubles.open_trouble(session, chat.workspace_id, "revoked", chat.id, detail, now)
        if trouble is not None:
            # Nobody can be told in that chat. If it was the only one, its admins removed the app themselves.
            fact = AppRemoved(platform=PLATFORM.validate_python(chat.platform))
            schedule = await _schedule_of(session, trouble)
            await _notify_elsewhere(session, _TroubleNotice(trouble, False, fact, schedule), now, {chat.id})
    for trouble in await troubles.list_restored_chats(session, most):
        if await troubles.close_trouble(session, trouble, now):
            restored = AppRestored(platform=PLATFORM.validate_python(trouble.detail["platform"]))
            await _notify_resolved(session, trouble, restored, now)


async def _report_delayed_answers(
    session: AsyncSession, delayed: troubles.DelayedAnswers, absence: tuple[SandboxProblem, str], now: datetime
) -> None:
    problem, detail = absence
    facts = {"answers": delayed.count, "problem": problem, "error": detail}
    trouble = await troubles.open_trouble(session, delayed.workspace_id, "sandbox", 0, facts, now)
    if trouble is None:
        return
    schedule = await _schedule_of(session, trouble)
    fact = SandboxMissing(
        answers=delayed.count,
        since=delayed.oldest,
        zone=_zone_of(schedule) if schedule is not None else "UTC",
        problem=problem,
        detail=detail,
    )
    await _notify(session, _TroubleNotice(trouble, False, fact, schedule), now)


async def _notify_resolved(session: AsyncSession, trouble: Trouble, fact: NoticeFact, now: datetime) -> None:
    """Reports that a trouble is resolved. If its beginning was not reported yet, this one notice is enough."""
    await troubles.withdraw_message(session, _notice_key(trouble, over=False))
    schedule = await _schedule_of(session, trouble)
    await _notify(session, _TroubleNotice(trouble, True, fact, schedule), now)


async def _notify(session: AsyncSession, notice: _TroubleNotice, now: datetime, troubled: Collection[int] = ()) -> None:
    """Notifies the admins outside the troubled chats, or else where they are always notified."""
    if troubled and await _notify_elsewhere(session, notice, now, troubled):
        return
    if notice.schedule is not None:
        await notify_admins(session, notice.schedule, notice.key, notice.fact, now)
    elif (channel := await troubles.get_oldest_channel(session, notice.trouble.workspace_id)) is not None:
        await _enqueue(session, notice, troubles.NoticeTarget(channel.chat_id, channel.id, None), now)


async def _notify_elsewhere(
    session: AsyncSession, notice: _TroubleNotice, now: datetime, troubled: Collection[int]
) -> bool:
    """Notifies the admins in a chat without trouble. Returns False if there is none."""
    if notice.schedule is None:
        return False
    target = await troubles.find_notice_target(session, notice.schedule, troubled)
    return target is not None and await _enqueue(session, notice, target, now)


async def _enqueue(session: AsyncSession, notice: _TroubleNotice, target: troubles.NoticeTarget, now: datetime) -> bool:
    return await outbox.enqueue(
        session,
        outbox.NewMessage(
            key=notice.key,
            body=Notice(fact=notice.fact),
            workspace_id=notice.trouble.workspace_id,
            channel_id=target.channel_id,
            member_id=target.member_id,
            chat_id=target.chat_id,
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


def _notice_key(trouble: Trouble, *, over: bool) -> str:
    return f"trouble:{trouble.id}:{'over' if over else 'began'}"


def _zone_of(schedule: Schedule) -> str:
    return ScheduleSpec.from_stored(schedule.spec).zone


def _whole_minutes(time: timedelta) -> int:
    """Returns whole minutes, at least one."""
    return max(1, int(time.total_seconds() // 60))
