"""Admin operations on schedules. What they will post is in `service.rounds.planning`, posting in `rounds`."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.calendar import (
    Slot,
    Timetable,
    UnknownHolidays,
    UnknownZone,
    get_zone,
    next_slot,
    slot_instant,
    slots_between,
)
from service.errors import Refused
from service.rounds import delivery, digests
from service.rounds.choosing import is_possible
from service.store import banks
from service.store import schedules as rows
from service.store.members import Caller
from service.store.tables import Channel, Chat, Schedule
from service.wire import (
    PLATFORM,
    ChannelView,
    InvalidTimetable,
    NotFound,
    NothingFits,
    ScheduleChanges,
    ScheduleSpec,
    ScheduleView,
    ShareRefused,
    SkipRefused,
    TopicCount,
)

SLOTS_SHOWN = 3
"""Number of next slots in a view."""


async def add(
    session: AsyncSession, caller: Caller, channel_id: int, spec: ScheduleSpec, now: datetime
) -> ScheduleView:
    """Adds a schedule to the channel from its next slot on. Refused if it could never post."""
    spec = await validate(session, caller, spec, now)
    row = rows.add(session, caller, channel_id, spec.model_dump(mode="json"), now)
    await session.flush()
    await digests.plan_first(session, caller.workspace_id, spec.zone, now)
    return await _view_schedule(session, *await _lock_schedule(session, caller, row.id), now)


async def edit(
    session: AsyncSession, caller: Caller, schedule_id: int, changes: ScheduleChanges, now: datetime
) -> ScheduleView:
    """Changes a schedule. A posted round stays as it is, and its day gets no second one."""
    row, channel = await _lock_schedule(session, caller, schedule_id)
    before = ScheduleSpec.from_stored(row.spec)
    spec = changes.apply(before)
    if spec.every_days != before.every_days and spec.first_day == before.first_day:
        spec = spec.model_copy(update={"first_day": None})
    spec = await validate(session, caller, spec, now)
    row.spec = spec.model_dump(mode="json")
    # Slots that the new times would have had in the past are not posted. A question that is just due still is.
    if not _keeps_due(before, spec, row.since, now):
        row.since = now
    return await _view_schedule(session, row, channel, now)


def _keeps_due(before: ScheduleSpec, after: ScheduleSpec, since: datetime, now: datetime) -> bool:
    """Returns whether slots are due that an edit leaves as they are."""
    try:
        due = slots_between(build_timetable(before), since, now)
    except (UnknownZone, UnknownHolidays):
        return False  # the edit may replace what is not known any more
    return bool(due) and slots_between(build_timetable(after), since, now) == due


async def list_schedules(session: AsyncSession, caller: Caller, now: datetime) -> tuple[ScheduleView, ...]:
    """Returns the workspace's schedules, oldest first."""
    return await view_schedules(session, await rows.list_schedules(session, caller.workspace_id), now)


async def pause(session: AsyncSession, caller: Caller, schedule_id: int, paused: bool, now: datetime) -> ScheduleView:
    """Pauses posting, also of a question that waits, or resumes it at the next slot without catching up."""
    row, channel = await _lock_schedule(session, caller, schedule_id)
    if paused and row.paused_at is None:
        row.paused_at = now
        await delivery.withdraw_questions(session, schedule_id)
    elif not paused and row.paused_at is not None:
        row.paused_at, row.since = None, now
    return await _view_schedule(session, row, channel, now)


async def skip(session: AsyncSession, caller: Caller, schedule_id: int, day: date, now: datetime) -> ScheduleView:
    """Skips the local date `day`, also if its question waits. Refused if that was posted or the day is over."""
    row, channel = await _lock_schedule(session, caller, schedule_id)
    spec = ScheduleSpec.from_stored(row.spec)
    await delivery.withdraw_questions(session, schedule_id, day=day)
    round_ = await rows.find_round(session, schedule_id, day)
    if round_ is not None and round_.skipped is None:
        raise Refused(SkipRefused(day=day, why="posted"))
    if day < now.astimezone(get_zone(spec.zone)).date():
        raise Refused(SkipRefused(day=day, why="past"))
    if slot_instant(build_timetable(spec), day) is None:
        raise Refused(SkipRefused(day=day, why="no slot"))
    await rows.add_skip(session, schedule_id, day)
    return await _view_schedule(session, row, channel, now)


async def unskip(session: AsyncSession, caller: Caller, schedule_id: int, day: date, now: datetime) -> ScheduleView:
    """Reverses `skip`. Refused if that day is over."""
    row, channel = await _lock_schedule(session, caller, schedule_id)
    if day < now.astimezone(get_zone(ScheduleSpec.from_stored(row.spec).zone)).date():
        raise Refused(SkipRefused(day=day, why="past"))
    await rows.remove_skip(session, schedule_id, day)
    return await _view_schedule(session, row, channel, now)


async def share(
    session: AsyncSession, caller: Caller, schedule_id: int, channel_id: int, now: datetime
) -> ScheduleView:
    """Adds a channel to the schedule from its next slot on: one round and one board, with a post and a reveal in
    each channel."""
    row, channel = await _lock_schedule(session, caller, schedule_id)
    if channel_id in await rows.list_channels(session, row):
        raise Refused(ShareRefused(schedule=schedule_id, why="shared"))
    await rows.add_channel(session, row, channel_id, now)
    return await _view_schedule(session, row, channel, now)


async def unshare(
    session: AsyncSession, caller: Caller, schedule_id: int, channel_id: int, now: datetime
) -> ScheduleView:
    """Removes a channel from the schedule. A round posted there is still revealed there; a question that waits for the
    channel is not posted. Refused for the only channel."""
    row, channel = await _lock_schedule(session, caller, schedule_id)
    channels = await rows.list_channels(session, row)
    if channel_id not in channels:
        raise Refused(ShareRefused(schedule=schedule_id, why="not shared"))
    if len(channels) == 1:
        raise Refused(ShareRefused(schedule=schedule_id, why="only channel"))
    await delivery.withdraw_questions(session, schedule_id, channel_id=channel_id, extra=True)
    if channel_id == row.channel_id:
        row.channel_id, channel_id = channels[1], channels[1]
        await session.flush()
        _, channel = await _lock_schedule(session, caller, schedule_id)
    await rows.remove_channel(session, row, channel_id)
    return await _view_schedule(session, row, channel, now)


async def remove(session: AsyncSession, caller: Caller, schedule_id: int, now: datetime) -> None:
    """Removes the schedule. An open round still closes, and all points stay; a question that waits is not posted."""
    row, _ = await _lock_schedule(session, caller, schedule_id)
    row.removed_at = now
    await delivery.withdraw_questions(session, schedule_id, extra=True)


def build_timetable(spec: ScheduleSpec, skips: frozenset[date] = frozenset()) -> Timetable:
    """Returns the timetable of a spec. Raises UnknownZone or UnknownHolidays."""
    return Timetable(
        at=spec.at,
        weekdays=frozenset(spec.weekdays),
        zone=spec.zone,
        country=spec.country or None,
        skips=skips,
        every_days=spec.every_days,
        first_day=spec.first_day or date.min,
        month_days=frozenset(spec.month_days),
    )


def next_slots(timetable: Timetable, now: datetime, processed: Collection[date] = ()) -> tuple[Slot, ...]:
    """Returns the next slots after `now`, fewer if the year has no more. Leaves out days whose slot is processed."""
    found: list[Slot] = []
    after = now
    while len(found) < SLOTS_SHOWN and (slot := next_slot(timetable, after)):
        after = slot.instant
        if slot.day not in processed:
            found.append(slot)
    return tuple(found)


async def next_postings(session: AsyncSession, schedules: Sequence[Schedule], now: datetime) -> dict[int, Slot]:
    """Returns the slot that each schedule posts next, by schedule, in two statements. Leaves out days whose slot is
    processed already, and schedules that are paused, removed or without a slot."""
    active = [one for one in schedules if one.paused_at is None and one.removed_at is None]
    ids = [one.id for one in active]
    if not ids:
        return {}
    skips = await rows.list_skips_by_schedule(session, ids)
    processed = await _list_processed(session, ids, now)
    found = {}
    for one in active:
        timetable = build_timetable(ScheduleSpec.from_stored(one.spec), skips.get(one.id, frozenset()))
        slot = next_slot(timetable, now)
        while slot is not None and slot.day in processed[one.id]:
            slot = next_slot(timetable, slot.instant)
        if slot is not None:
            found[one.id] = slot
    return found


async def _list_processed(session: AsyncSession, ids: Sequence[int], now: datetime) -> dict[int, set[date]]:
    """Returns the days from today on whose slot is processed, by schedule: an edited time, or a question that was
    posted before its time, leaves the day's slot to come."""
    # Where a zone is ahead of UTC or behind it, the local date differs by a day.
    return await rows.list_slot_days(session, ids, now.date() - timedelta(days=1))


async def list_topics(session: AsyncSession, workspace_id: int) -> tuple[TopicCount, ...]:
    """Returns each topic with the number of its questions that may be asked, by name."""
    rows = await banks.count_topics(session, workspace_id)
    return tuple(TopicCount(topic=topic, questions=count) for topic, count in rows)


async def resolve_topics(session: AsyncSession, workspace_id: int, wanted: Iterable[str]) -> tuple[str, ...]:
    """Returns `wanted` spelled as in the bank. Refused, with similar names, for a topic without questions."""
    known = _topic_paths(topic for topic, _ in await banks.count_topics(session, workspace_id))
    found = []
    for topic in wanted:
        if (path := known.get(topic.strip("/ ").lower())) is None:
            raise Refused(NotFound(what="topic", name=topic, similar=_similar_topics(topic, sorted(known))))
        found.append(path)
    return tuple(dict.fromkeys(found))


def _topic_paths(topics: Iterable[str]) -> dict[str, str]:
    """Returns `Tensors/memory` as itself and as `Tensors`, by lower-case form."""
    paths = [topic.split("/") for topic in topics if topic]
    above = ("/".join(path[:depth]) for path in paths for depth in range(1, len(path) + 1))
    return {path.lower(): path for path in above}


def _similar_topics(topic: str, known: list[str]) -> tuple[str, ...]:
    close = difflib.get_close_matches(topic.lower(), known, 3, 0.6)
    close += [path for path in known if topic.lower() in path.split("/") and path not in close]
    return tuple(close[:3])


async def _lock_schedule(session: AsyncSession, caller: Caller, schedule_id: int) -> tuple[Schedule, Channel]:
    found = await rows.lock_schedule(session, caller.workspace_id, schedule_id)
    if found is None:
        raise Refused(NotFound(what="schedule", name=str(schedule_id)))
    return found


async def validate(session: AsyncSession, caller: Caller, spec: ScheduleSpec, now: datetime) -> ScheduleSpec:
    """Returns `spec` with topics spelled as in the bank and the day it counts from. Refused if it could not post twice
    within a year."""
    if not spec.weekdays:
        raise Refused(InvalidTimetable(field="weekdays"))
    if spec.at.tzinfo is not None:
        raise Refused(InvalidTimetable(field="time", value=spec.at.isoformat()))
    spec = spec.model_copy(
        update={"weekdays": tuple(sorted(set(spec.weekdays))), "month_days": tuple(sorted(set(spec.month_days)))}
    )
    try:
        spec = _with_first_day(spec, now)
        timetable = build_timetable(spec)
    except UnknownZone as error:
        raise Refused(InvalidTimetable(field="zone", value=spec.zone, similar=error.similar)) from None
    except UnknownHolidays:
        raise Refused(InvalidTimetable(field="holidays", value=spec.country)) from None
    first = next_slot(timetable, now)
    if first is None or next_slot(timetable, first.instant) is None:
        # A single date is not a schedule: every 365 days on a Monday are seven years.
        raise Refused(InvalidTimetable(field="days"))
    spec = spec.model_copy(update={"topics": await resolve_topics(session, caller.workspace_id, spec.topics)})
    if not await is_possible(session, spec, caller.workspace_id):
        needs_gpu = await is_possible(session, spec, caller.workspace_id, with_gpu=True)
        raise Refused(NothingFits(needs_gpu=needs_gpu))
    return spec


def _with_first_day(spec: ScheduleSpec, now: datetime) -> ScheduleSpec:
    """Returns `spec` with the day that `every_days` counts from: the given one, or else that of the next slot."""
    if spec.every_days == 1:
        return spec.model_copy(update={"first_day": None})
    if spec.first_day is not None:
        return spec
    slot = next_slot(build_timetable(spec.model_copy(update={"every_days": 1})), now)
    return spec.model_copy(update={"first_day": slot.day if slot else now.date()})


async def _view_schedule(session: AsyncSession, row: Schedule, channel: Channel, now: datetime) -> ScheduleView:
    return (await view_schedules(session, [(row, channel)], now))[0]


async def view_schedules(
    session: AsyncSession, found: Sequence[tuple[Schedule, Channel]], now: datetime
) -> tuple[ScheduleView, ...]:
    """Returns the views of schedules with their home channels, in a constant number of statements."""
    ids = [row.id for row, _ in found]
    skips = await rows.list_skips_by_schedule(session, ids)
    shared = await rows.list_shared_channels(session, ids)
    chats = await rows.list_chats(session, [channel.chat_id for _, channel in found])
    processed = await _list_processed(session, ids, now)
    views = []
    for row, channel in found:
        timetable = build_timetable(ScheduleSpec.from_stored(row.spec), skips.get(row.id, frozenset()))
        slots = () if row.paused_at else next_slots(timetable, now, processed[row.id])
        views.append(_build_view(row, channel, chats[channel.chat_id], shared.get(row.id, ()), slots))
    return tuple(views)


def _build_view(
    row: Schedule,
    channel: Channel,
    chat: Chat,
    shared: Sequence[tuple[Channel, str]],
    slots: Sequence[Slot],
) -> ScheduleView:
    return ScheduleView(
        id=row.id,
        channel=channel.external_id,
        channel_name=channel.shown_name,
        spec=ScheduleSpec.from_stored(row.spec),
        paused=row.paused_at is not None,
        platform=PLATFORM.validate_python(chat.platform),
        chat=chat.external_id,
        shared=tuple(
            ChannelView(platform=PLATFORM.validate_python(platform), channel=other.external_id, name=other.shown_name)
            for other, platform in shared
        ),
        next=tuple(slot.instant for slot in slots),
    )
