"""Posts an extra round, which an admin asks for beside the day's question.

It is answered, graded, revealed and paid like any other round, but it counts for no streak, because nobody could expect
it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.calendar import Slot, get_zone
from service.errors import Refused
from service.rounds.choosing import choose_for_day, only_gpu_questions_fit
from service.rounds.posting import enqueue_posts
from service.rounds.rounds import view_round
from service.rounds.schedules import resolve_topics
from service.store import rounds, schedules, variants
from service.store.members import Caller
from service.store.tables import Schedule
from service.wire import ChannelUnscheduled, ExtraRound, NothingFits, RoundView, ScheduleSpec


async def ask(session: AsyncSession, caller: Caller, channel_id: int, wanted: ExtraRound, now: datetime) -> RoundView:
    """Creates a round beside the channel's schedule and enqueues its post, in every channel of the schedule.

    Settings that are not given come from the schedule. Refused without a schedule, and if only questions fit that the
    schedule has asked lately.
    """
    schedule_id = await schedules.find_for_channel(session, channel_id)
    found = schedule_id and await schedules.lock_schedule(session, caller.workspace_id, schedule_id)
    if not found:
        raise Refused(ChannelUnscheduled())
    schedule: Schedule = found[0]
    spec = await _narrow_spec(session, caller, schedule, wanted)
    slot = Slot(now.astimezone(get_zone(spec.zone)).date(), now)
    number = await rounds.next_extra_number(session, schedule.id, slot.day)
    choice = await choose_for_day(session, schedule, spec, slot.day, number)
    if choice is None or "repeat" in choice.warnings:
        needs_gpu = choice is None and await only_gpu_questions_fit(session, schedule, spec)
        raise Refused(NothingFits(needs_gpu=needs_gpu))
    version_id = await variants.pick_for_round(session, schedule.workspace_id, int(choice.id))
    closes_at = now + timedelta(minutes=spec.open_minutes)
    own = spec.variants and await variants.suffice_for_all(session, version_id)
    round_ = await rounds.create(
        session, schedule.id, slot.day, now, closes_at, version_id=version_id, own_variants=own, number=number
    )
    assert round_ is not None, "the schedule is locked, so the number is free"
    await enqueue_posts(session, [(schedule, round_, slot, False)], now)
    return await view_round(session, round_, schedule)


async def _narrow_spec(session: AsyncSession, caller: Caller, schedule: Schedule, wanted: ExtraRound) -> ScheduleSpec:
    topics = await resolve_topics(session, caller.workspace_id, wanted.topics)
    changes = {
        "topics": topics,
        "levels": wanted.levels,
        "kinds": wanted.kinds,
        "open_minutes": wanted.open_minutes,
    }
    spec = ScheduleSpec.from_stored(schedule.spec)
    return spec.model_copy(update={name: value for name, value in changes.items() if value})
