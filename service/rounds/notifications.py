"""Private messages that members opt in to: a reminder before the close, and their result after it.

Nobody gets one who did not ask for it. A chat that refuses one is a fact for that member alone.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from service.reference_clock import Interval
from service.rounds import leaderboard
from service.rounds.views import build_question_view, channel_variant
from service.store import chats, notifications, outbox, questions, schedules
from service.store.members import Caller, lock_caller
from service.store.session import Sessions
from service.store.tables import Round, Schedule
from service.wire import PLATFORM, NotificationKind, NotificationView, QuestionRef, ReminderNote, ScheduleSpec

LEAD = timedelta(hours=1)
"""Time before the close at which members are reminded."""
LEAST_PART = 4
"""In a short round they are reminded in its last quarter."""
STREAK_AT_RISK = 2
"""Shortest streak, rounds, for which members are reminded."""
CHECK_INTERVAL = timedelta(seconds=10)
"""Interval between checks."""


async def view_settings(session: AsyncSession, caller: Caller) -> NotificationView:
    """Returns what the caller wants to be told in private, and where."""
    found = await notifications.get_setting(session, caller.member_id)
    if found is None:
        platform = await chats.get_platform(session, caller.chat_id)
        return NotificationView(reminders=False, results=False, platform=PLATFORM.validate_python(platform))
    platform = await chats.get_platform(session, found.chat_id)
    return NotificationView(
        reminders=found.reminders,
        results=found.results,
        platform=PLATFORM.validate_python(platform),
        refused=found.refused,
    )


async def change_setting(session: AsyncSession, caller: Caller, what: NotificationKind, on: bool) -> NotificationView:
    """Turns a kind of private message on or off. Messages go to the chat that the caller calls from."""
    caller = await lock_caller(session, caller)
    await notifications.save_setting(session, caller, what, on)
    return await view_settings(session, caller)


class Reminders:
    """Enqueues the reminders of rounds that close soon; called at every tick."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._interval = Interval(CHECK_INTERVAL)

    async def check(self, now: datetime) -> None:
        """Enqueues the reminders that are due, each once."""
        if not self._interval.is_due(now):
            return
        async with self._sessions.begin() as session:
            for round_, schedule in await notifications.list_rounds_to_remind(session, now, LEAD, LEAST_PART):
                await _enqueue_reminders(session, round_, schedule, now)


async def _enqueue_reminders(session: AsyncSession, round_: Round, schedule: Schedule, now: datetime) -> None:
    decided = await notifications.decide_reminders(session, round_, schedule.workspace_id, now)
    if not decided:
        return
    assert round_.version_id is not None, "an open round asks a question"
    version, ref = await questions.get_version(session, round_.version_id), str(QuestionRef("round", round_.id))
    streaks = await leaderboard.load_schedule_streaks(session, schedule.id, decided.keys())
    channels = {
        chat_id: await schedules.find_channel_in_chat(session, schedule, chat_id) for chat_id in set(decided.values())
    }
    messages = []
    for member_id, chat_id in sorted(decided.items()):
        if streaks[member_id].current < STREAK_AT_RISK:
            continue
        note = ReminderNote(
            ref=ref,
            question=build_question_view(version, ref, member_id, variant=channel_variant(round_)),
            streak=streaks[member_id].current,
            closes_at=round_.closes_at,
            zone=ScheduleSpec.from_stored(schedule.spec).zone,
        )
        messages.append(
            outbox.NewMessage(
                key=f"round:{round_.id}:reminder:{member_id}",
                body=note,
                workspace_id=schedule.workspace_id,
                channel_id=channels[chat_id],
                member_id=member_id,
                chat_id=chat_id,
                round_id=round_.id,
            )
        )
    await outbox.enqueue_paced(session, messages, now, round_.closes_at)
