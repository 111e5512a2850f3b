"""What schedules will post: how long their questions last, a month as a calendar, and a day's post in advance."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import cast

from sqlalchemy.ext.asyncio import AsyncSession

from questions.model import Kind, Level
from service.domain.calendar import (
    Slot,
    Timetable,
    clock_change,
    get_zone,
    holiday_name,
    next_slot,
    slot_instant,
    slots_between,
)
from service.domain.selection import Candidate, choose_question, plan_ahead, with_history
from service.errors import Refused
from service.rounds.choosing import build_filter, only_gpu_questions_fit, slot_seed
from service.rounds.schedules import build_timetable, validate
from service.rounds.views import build_question_view
from service.store import calibrations, candidates
from service.store import schedules as rows
from service.store.members import Caller
from service.store.questions import get_version, list_versions
from service.store.tables import Channel, QuestionVersion, Schedule
from service.wire import (
    LowView,
    NoSlotAhead,
    NotFound,
    NothingFits,
    PlannedQuestion,
    QuestionRef,
    RoundView,
    ScheduleChanges,
    ScheduleDay,
    ScheduleMonth,
    ScheduleSpec,
    SkipReason,
)

AHEAD = timedelta(days=93)
"""How far ahead questions are planned. Each day's choice depends on all before it."""
_DAY = timedelta(days=1)


async def list_low(session: AsyncSession, caller: Caller, now: datetime) -> tuple[LowView, ...]:
    """Returns how many questions each schedule has left before it repeats itself, lowest first."""
    found = await rows.list_schedules(session, caller.workspace_id)
    left = await count_left(session, caller.workspace_id, [row for row, _ in found], now)
    views = [LowView(schedule=row.id, channel_name=channel.shown_name, left=left[row.id]) for row, channel in found]
    return tuple(sorted(views, key=lambda view: (view.left, view.schedule)))


async def count_left(
    session: AsyncSession, workspace_id: int, found: Sequence[Schedule], now: datetime
) -> dict[int, int]:
    """Returns how many questions each schedule can still ask without repeating itself, in three statements."""
    known = await candidates.list_candidates(session, workspace_id=workspace_id, schedule_id=None, secret=True)
    history = await candidates.list_past_rounds_each(session, [row.id for row in found])
    left = {}
    for row in found:
        spec, past = ScheduleSpec.from_stored(row.spec), history.get(row.id, [])
        slot = next_slot(build_timetable(spec), now)
        day = slot.day if slot else now.date()
        chosen = choose_question(with_history(known, past), past, build_filter(spec), slot_seed(row.id, day), day)
        left[row.id] = 0 if chosen is None or "repeat" in chosen.warnings else chosen.remaining + 1
    return left


async def preview(
    session: AsyncSession, caller: Caller, schedule_id: int, now: datetime, day: date | None = None
) -> RoundView:
    """Returns the round of the next slot, or of the slot on local date `day`, as it would be if nothing changed until
    then. Its `id` is 0. Refused for a day without a slot, and for days that are over or too far ahead."""
    row, _ = await _find(session, caller, schedule_id)
    spec = ScheduleSpec.from_stored(row.spec)
    timetable = build_timetable(spec, await rows.list_skips(session, row.id))
    slots = await _slots_ahead(session, row, timetable, now, now + AHEAD)
    if not slots and day is None and (first := next_slot(timetable, now)):
        slots = [first]
    wanted = next((slot for slot in slots if day in (None, slot.day)), None)
    if wanted is None:
        raise Refused(NoSlotAhead())
    planned = await _plan(session, row, spec, [slot for slot in slots if slot.day <= wanted.day])
    if wanted.day not in planned:
        raise Refused(NothingFits(needs_gpu=await only_gpu_questions_fit(session, row, spec)))
    version = await get_version(session, int(planned[wanted.day].id))
    return RoundView(
        id=0,
        day=wanted.day,
        question=build_question_view(version, str(QuestionRef("round", 0))),
        opens_at=wanted.instant,
        closes_at=wanted.instant + timedelta(minutes=spec.open_minutes),
        answers=0,
        closed=False,
        zone=spec.zone,
    )


async def view_month(
    session: AsyncSession,
    caller: Caller,
    schedule_id: int | None,
    month: date,
    changes: ScheduleChanges,
    now: datetime,
) -> ScheduleMonth:
    """Returns the month of a schedule as it would be with the changes, or of a new schedule without an id. Stores
    nothing. Refused if the schedule could never post."""
    row = (await _find(session, caller, schedule_id))[0] if schedule_id is not None else None
    spec = changes.apply(ScheduleSpec.from_stored(row.spec) if row else ScheduleSpec())
    if changes.model_fields_set:
        spec = await validate(session, caller, spec, now)
    first = month.replace(day=1)
    days = _days(first, (first + 31 * _DAY).replace(day=1))
    skips = await rows.list_skips(session, row.id) if row else frozenset()
    timetable = build_timetable(spec, skips)
    posted = await _posted_days(session, row, days) if row else {}
    planned: dict[date, PlannedQuestion] = {}
    end = min(datetime.combine(days[-1] + 2 * _DAY, datetime.min.time(), now.tzinfo), now + AHEAD)
    if row and row.paused_at is None:
        slots = await _slots_ahead(session, row, timetable, now, end)
        planned = await _name_questions(session, await _plan(session, row, spec, slots))
    paused = row is not None and row.paused_at is not None
    return ScheduleMonth(
        first=first,
        days=tuple(
            posted.get(day) or _describe_day(timetable, day, planned.get(day), now, paused=paused) for day in days
        ),
        spec=spec,
        planned_until=(now + AHEAD).astimezone(get_zone(spec.zone)).date() if row else None,
    )


def _days(first: date, end: date) -> list[date]:
    return [first + n * _DAY for n in range((end - first).days)]


def _describe_day(
    timetable: Timetable, day: date, question: PlannedQuestion | None, now: datetime, *, paused: bool
) -> ScheduleDay:
    """Describes a day for which nothing was posted."""
    every_day = timetable.without_days_off()
    instant = slot_instant(every_day, day)
    change, moved = clock_change(timetable, day)
    if instant is None or instant <= now:
        return ScheduleDay(day=day, state="none", clock_minutes=change)
    known = ScheduleDay(day=day, state="planned", at=instant, clock_minutes=change, moved=moved, question=question)
    if day in timetable.skips:
        return known.model_copy(update={"state": "skipped"})
    if slot_instant(timetable, day) is None:
        name = holiday_name(timetable.country or "", day)
        return known.model_copy(update={"state": "holiday", "holiday": name})
    return known.model_copy(update={"state": "paused"}) if paused else known


async def _posted_days(session: AsyncSession, row: Schedule, days: Sequence[date]) -> dict[date, ScheduleDay]:
    """Returns the days whose slot was processed."""
    found: dict[date, ScheduleDay] = {}
    timetable = build_timetable(ScheduleSpec.from_stored(row.spec))
    for each in await rows.list_posted(session, [row.id], days[0], days[-1]):
        round_, version = each.row, each.version
        if version is None:
            why = cast(SkipReason, round_.skipped)
            day = ScheduleDay(day=round_.day, state="missed", at=round_.opens_at, why=why)
        else:
            day = ScheduleDay(
                day=round_.day,
                state="open" if round_.closed_at is None else "closed",
                at=round_.opens_at,
                question=named(each.question, version),
                answers=each.answers,
            )
        known = found.get(round_.day)
        if round_.number and known:
            day = known.model_copy(update={"extra": known.extra + 1, "answers": known.answers + each.answers})
        elif round_.number:
            day = day.model_copy(update={"extra": 1})
        found[round_.day] = day.model_copy(update={"clock_minutes": clock_change(timetable, round_.day)[0]})
    return found


async def _slots_ahead(
    session: AsyncSession, row: Schedule, timetable: Timetable, now: datetime, end: datetime
) -> list[Slot]:
    """Returns the slots until `end` that are not processed yet."""
    slots = slots_between(timetable, now, end)
    if not slots:
        return []
    done = await rows.list_posted(session, [row.id], slots[0].day, slots[-1].day)
    taken = {each.row.day for each in done if each.row.number == 0}
    return [slot for slot in slots if slot.day not in taken]


async def _plan(
    session: AsyncSession, row: Schedule, spec: ScheduleSpec, slots: Sequence[Slot]
) -> dict[date, Candidate]:
    """Returns the question of each slot by local date, if nothing changes until then."""
    calibration = await calibrations.find(session, row.workspace_id)
    audience = calibration.audience(row.id) if calibration else None
    known = await candidates.list_candidates(
        session, workspace_id=row.workspace_id, schedule_id=None, secret=True, audience=audience
    )
    history = await candidates.list_past_rounds(session, row.id)
    seeds = [(slot_seed(row.id, slot.day), slot.day) for slot in slots]
    # In a thread: a month of choices from a large bank takes longer than other calls should wait.
    return await asyncio.to_thread(plan_ahead, known, history, build_filter(spec), seeds)


def named(question: str, version: QuestionVersion) -> PlannedQuestion:
    """Returns a posted question for a calendar or a list."""
    kind, level = cast(Kind, version.kind), cast(Level | None, version.level)
    return PlannedQuestion(id=question, kind=kind, level=level, topic=version.topic)


async def _name_questions(session: AsyncSession, planned: dict[date, Candidate]) -> dict[date, PlannedQuestion]:
    versions = await list_versions(session, {int(each.id) for each in planned.values()})

    return {
        day: PlannedQuestion(id=versions[int(each.id)].question.id, kind=each.kind, level=each.level, topic=each.topic)
        for day, each in planned.items()
    }


async def _find(session: AsyncSession, caller: Caller, schedule_id: int) -> tuple[Schedule, Channel]:
    found = await rows.find_schedule(session, caller.workspace_id, schedule_id)
    if found is None:
        raise Refused(NotFound(what="schedule", name=str(schedule_id)))
    return found
