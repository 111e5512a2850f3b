"""Schedules as admins handle them: none that could never post, and helpful refusals."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.rounds import planning, posting, schedules
from service.store.members import Caller
from service.store.tables import Schedule
from service.wire import (
    InvalidTimetable,
    NotFound,
    NothingFits,
    Refusal,
    ScheduleChanges,
    ScheduleSpec,
    ScheduleView,
    SkipRefused,
)
from tests.service.refusals import refused
from tests.service.scenes import NOON, Stage, question

WEEKDAYS = (0, 1, 2, 3, 4)


def utc(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 3, day, hour, minute, tzinfo=UTC)


async def added(stage: Stage, caller: Caller, **spec: object) -> ScheduleView:
    assert caller.channel_id is not None
    made = ScheduleSpec.model_validate(spec)
    return await schedules.add(stage.session, caller, caller.channel_id, made, stage.now)


@pytest.fixture
async def admin(stage: Stage) -> Caller:
    await stage.bank(question("a"), question("b", topic="autograd", level="senior"))
    return await stage.caller("Boss", admin=True)


async def test_a_schedule_says_when_it_posts_next(stage: Stage, admin: Caller) -> None:
    view = await added(stage, admin, at=time(9, 30), zone="Europe/Berlin", weekdays=(4, 0, 4))
    assert (view.channel, view.channel_name, view.paused) == ("daily", "#daily", False)
    assert view.spec.weekdays == (0, 4)
    assert view.next == (utc(6, 8, 30), utc(9, 8, 30), utc(13, 8, 30))
    assert await schedules.list_schedules(stage.session, admin, stage.now) == (view,)


@pytest.mark.parametrize(
    ("spec", "refusal"),
    [
        ({"weekdays": ()}, InvalidTimetable(field="weekdays")),
        # Every second Monday counted from a Tuesday is never a Monday.
        ({"weekdays": (0,), "every_days": 14, "first_day": date(2026, 3, 3)}, InvalidTimetable(field="days")),
        # The next one is a Monday, and then none for seven years.
        ({"weekdays": (0,), "every_days": 365}, InvalidTimetable(field="days")),
        ({"zone": "Berln"}, InvalidTimetable(field="zone", value="Berln", similar=("Europe/Berlin",))),
        ({"zone": "Mars/Olympus"}, InvalidTimetable(field="zone", value="Mars/Olympus")),
        ({"country": "XX"}, InvalidTimetable(field="holidays", value="XX")),
        ({"topics": ("tensor",)}, NotFound(what="topic", name="tensor", similar=("tensors", "tensors/memory"))),
        ({"levels": ("principal",)}, NothingFits(needs_gpu=False)),
        ({"topics": ("autograd",), "levels": ("mid",)}, NothingFits(needs_gpu=False)),
        ({"kinds": ("code",)}, NothingFits(needs_gpu=False)),
        ({"at": "09:00:00Z"}, InvalidTimetable(field="time", value="09:00:00+00:00")),
    ],
    ids=lambda value: str(value),
)
async def test_a_schedule_that_could_never_post_is_rejected_with_a_fix(
    stage: Stage, admin: Caller, spec: dict[str, object], refusal: Refusal
) -> None:
    with refused(refusal):
        await added(stage, admin, **spec)
    assert await schedules.list_schedules(stage.session, admin, stage.now) == ()


async def test_every_few_days_counts_from_the_next_slot_and_goes_on_after_an_edit(stage: Stage, admin: Caller) -> None:
    view = await added(stage, admin, at=time(9, 0), weekdays=tuple(range(7)), every_days=3)
    days = [instant.date() for instant in view.next]
    assert view.spec.first_day == days[0] > stage.now.date() - timedelta(days=1)
    assert [later - days[0] for later in days] == [timedelta(days=3 * n) for n in range(3)]
    later = ScheduleChanges(at=time(10, 0))
    edited = await schedules.edit(stage.session, admin, view.id, later, stage.now + timedelta(days=1))
    assert {(instant.date() - days[0]).days % 3 for instant in edited.next} == {0}
    # Another interval counts anew, unless its first day is given.
    moment = stage.now + timedelta(days=1)
    weekly = ScheduleChanges(every_days=7)
    assert (await schedules.edit(stage.session, admin, view.id, weekly, moment)).spec.first_day == max(
        days[0], moment.date() + timedelta(days=moment.time() >= time(9, 0))
    )
    given_day = ScheduleChanges(every_days=5, first_day=date(2026, 4, 1))
    assert (await schedules.edit(stage.session, admin, view.id, given_day, moment)).next[0].date() == date(2026, 4, 1)


async def test_the_31st_of_a_shorter_month_is_its_last_day(stage: Stage, admin: Caller) -> None:
    view = await added(stage, admin, at=time(9, 0), weekdays=tuple(range(7)), month_days=(31, 31))
    assert view.spec.month_days == (31,)
    assert [(instant.month, instant.day) for instant in view.next] == [(3, 31), (4, 30), (5, 31)]
    preview = await planning.preview(stage.session, admin, view.id, stage.now)
    assert (preview.day, preview.opens_at) == (date(2026, 3, 31), view.next[0])


async def test_a_preview_is_in_the_schedules_zone(stage: Stage, admin: Caller) -> None:
    view = await added(stage, admin, zone="Asia/Tokyo")
    assert (await planning.preview(stage.session, admin, view.id, stage.now)).zone == "Asia/Tokyo"


async def test_topics_are_spelled_as_in_the_bank(stage: Stage, admin: Caller) -> None:
    view = await added(stage, admin, topics=("Tensors/", "AUTOGRAD", "autograd"))
    assert view.spec.topics == ("tensors", "autograd")


async def test_an_edit_counts_from_now_on(stage: Stage, admin: Caller) -> None:
    view = await added(stage, admin, at=time(15, 0))
    stage.now += timedelta(hours=1)
    edited = await schedules.edit(stage.session, admin, view.id, ScheduleChanges(at=time(12, 30)), stage.now)
    assert edited.next[0] == utc(5, 12, 30)
    row = await stage.session.get(Schedule, view.id)
    assert row is not None
    assert row.since == stage.now


async def test_a_day_whose_question_was_posted_has_no_next_slot(stage: Stage, admin: Caller) -> None:
    view = await added(stage, admin, at=time(15, 0))
    await posting.post_now(stage.session, admin, view.id, stage.now)
    assert (await schedules.list_schedules(stage.session, admin, stage.now))[0].next[0] == utc(5, 15)
    edited = await schedules.edit(stage.session, admin, view.id, ScheduleChanges(at=time(18, 0)), stage.now)
    assert edited.next[0] == utc(5, 18), "its day gets no second one"


async def test_nothing_of_a_pause_is_made_up_for(stage: Stage, admin: Caller) -> None:
    view = await added(stage, admin)
    paused = await schedules.pause(stage.session, admin, view.id, True, stage.now)
    assert (paused.paused, paused.next) == (True, ())
    stage.now += timedelta(days=3)
    for _ in range(2):
        going_on = await schedules.pause(stage.session, admin, view.id, False, stage.now)
        assert (going_on.paused, going_on.next[0]) == (False, utc(9, 9))
    row = await stage.session.get(Schedule, view.id)
    assert row is not None
    assert row.since == stage.now


async def test_a_skipped_day_is_left_out(stage: Stage, admin: Caller) -> None:
    view = await added(stage, admin)
    for _ in range(2):
        skipped = await schedules.skip(stage.session, admin, view.id, date(2026, 3, 5), stage.now)
    assert skipped.next == (utc(6, 9), utc(9, 9), utc(10, 9))


async def test_a_day_that_is_over_or_was_posted_cannot_be_skipped(stage: Stage, admin: Caller) -> None:
    row = await stage.schedule(admin, zone="Pacific/Auckland")
    with refused(SkipRefused(day=date(2026, 3, 4), why="past")):
        # In Auckland it is the 5th already.
        await schedules.skip(stage.session, admin, row.id, date(2026, 3, 4), stage.now)
    await stage.round(row, date(2026, 3, 5), "a", closed=False)
    with refused(SkipRefused(day=date(2026, 3, 5), why="posted")):
        await schedules.skip(stage.session, admin, row.id, date(2026, 3, 5), stage.now)


async def test_skipping_a_day_without_a_slot_is_rejected(stage: Stage, admin: Caller) -> None:
    view = await added(stage, admin, country="DE")
    for day in (date(2026, 3, 7), date(2026, 5, 1)):
        with refused(SkipRefused(day=day, why="no slot")):
            await schedules.skip(stage.session, admin, view.id, day, stage.now)


async def test_a_removed_schedule_is_gone(stage: Stage, admin: Caller) -> None:
    view = await added(stage, admin)
    await schedules.remove(stage.session, admin, view.id, stage.now)
    assert await schedules.list_schedules(stage.session, admin, stage.now) == ()
    with refused(NotFound(what="schedule", name=str(view.id))):
        await schedules.pause(stage.session, admin, view.id, True, stage.now)


async def test_another_workspace_cannot_see_or_change_it(stage: Stage, admin: Caller) -> None:
    view = await added(stage, admin)
    eve = await stage.caller("Eve", workspace="away", admin=True)
    assert await schedules.list_schedules(stage.session, eve, stage.now) == ()
    assert await planning.list_low(stage.session, eve, stage.now) == ()
    for attempt in (
        schedules.edit(stage.session, eve, view.id, ScheduleChanges(), stage.now),
        schedules.pause(stage.session, eve, view.id, True, stage.now),
        schedules.skip(stage.session, eve, view.id, date(2026, 3, 9), stage.now),
        schedules.remove(stage.session, eve, view.id, stage.now),
    ):
        with refused(NotFound(what="schedule", name=str(view.id))):
            await attempt
    assert await schedules.list_schedules(stage.session, admin, stage.now) == (view,)


async def test_low_counts_questions_left_before_a_repetition(stage: Stage, admin: Caller) -> None:
    await stage.bank(*(question(key) for key in "abcde"), question("f", topic="autograd", level="senior"))
    all_of_it = await added(stage, admin, topics=("tensors",))
    one = await added(stage, admin, topics=("autograd",), levels=("senior",))
    low = await planning.list_low(stage.session, admin, stage.now)
    assert [(view.schedule, view.left) for view in low] == [(one.id, 1), (all_of_it.id, 5)]
    row = await stage.session.get(Schedule, all_of_it.id)
    assert row is not None
    for day, key in ((2, "a"), (3, "b")):
        await stage.round(row, date(2026, 3, day), key)
    for now, left in ((NOON, 3), (NOON + timedelta(days=400), 5)):
        assert await planning.count_left(stage.session, admin.workspace_id, [row], now) == {row.id: left}


async def test_a_preview_shows_the_next_slots_question_without_its_key(stage: Stage, admin: Caller) -> None:
    view = await added(stage, admin, topics=("autograd",), open_minutes=60)
    await schedules.skip(stage.session, admin, view.id, date(2026, 3, 5), stage.now)
    shown = await planning.preview(stage.session, admin, view.id, stage.now)
    assert (shown.id, shown.day, shown.opens_at, shown.closes_at) == (0, date(2026, 3, 6), utc(6, 9), utc(6, 10))
    assert shown.question.id == "b"
    await stage.bank(question("a"))
    with refused(NothingFits(needs_gpu=False)):
        await planning.preview(stage.session, admin, view.id, stage.now)


@given(
    at=st.times(timezones=st.none()),
    weekdays=st.sets(st.integers(0, 6), min_size=1),
    zone=st.sampled_from(["UTC", "Europe/Berlin", "America/St_Johns", "Pacific/Apia", "Africa/Casablanca"]),
    # Hypothesis takes naive bounds and adds the zone itself.
    now=st.datetimes(datetime(2024, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
)
def test_coming_slots_are_ahead_in_order_and_on_the_days_asked_for(
    at: time, weekdays: set[int], zone: str, now: datetime
) -> None:
    spec = ScheduleSpec(at=at.replace(second=0, microsecond=0), weekdays=tuple(weekdays), zone=zone)
    slots = schedules.next_slots(schedules.build_timetable(spec), now)
    instants = [slot.instant for slot in slots]
    assert len(slots) == schedules.SLOTS_SHOWN
    assert instants == sorted(set(instants))
    assert instants[0] > now
    assert {slot.day.weekday() for slot in slots} <= weekdays
