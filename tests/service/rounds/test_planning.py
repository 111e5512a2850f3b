"""What schedules will post: a month as a calendar, a day's post in advance, and how long the questions last."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import pytest

from service.rounds import planning, schedules
from service.rounds.choosing import choose_for_day
from service.store.members import Caller
from service.store.schedules import find_schedule
from service.store.tables import Schedule
from service.wire import (
    InvalidTimetable,
    NoSlotAhead,
    NotFound,
    NothingFits,
    ScheduleChanges,
    ScheduleDay,
    ScheduleSpec,
)
from tests.service.refusals import refused
from tests.service.scenes import NOON, Stage, question

MARCH = date(2026, 3, 1)
NOTHING = ScheduleChanges()


@pytest.fixture
async def admin(stage: Stage) -> Caller:
    levels = ("mid", "senior", "principal")
    for n in range(18):
        topic = ("tensors", "autograd", "losses")[n % 3]
        await stage.bank(question(f"q{n}", topic=topic, level=levels[n // 3 % 3]), name=f"bank{n}")  # type: ignore[arg-type]
    return await stage.caller("Boss", admin=True)


async def added(stage: Stage, admin: Caller, **spec: object) -> Schedule:
    assert admin.channel_id is not None
    made = ScheduleSpec.model_validate({"zone": "Europe/Berlin", **spec})
    view = await schedules.add(stage.session, admin, admin.channel_id, made, stage.now)
    found = await find_schedule(stage.session, admin.workspace_id, view.id)
    assert found is not None
    return found[0]


async def month(
    stage: Stage, admin: Caller, row: Schedule, first: date = MARCH, changes: ScheduleChanges = NOTHING
) -> dict[int, ScheduleDay]:
    found = await planning.view_month(stage.session, admin, row.id, first, changes, stage.now)
    assert found.first == first.replace(day=1)
    return {day.day.day: day for day in found.days}


async def test_a_month_says_what_each_day_brings(stage: Stage, admin: Caller) -> None:
    row = await added(stage, admin, country="DE")
    await stage.round(row, date(2026, 3, 2), "q0")
    await stage.round(row, date(2026, 3, 3), None, skipped="missed")
    await stage.round(row, date(2026, 3, 4), "q1", closed=False)
    await schedules.skip(stage.session, admin, row.id, date(2026, 3, 6), stage.now)
    days = await month(stage, admin, row)
    assert [days[n].state for n in range(1, 10)] == [
        *("none", "closed", "missed", "open", "planned", "skipped", "none", "none", "planned"),
    ]
    assert days[2].question is not None and days[2].question.id == "q0"
    assert days[3].why == "missed"
    assert days[5].at == datetime(2026, 3, 5, 8, tzinfo=UTC)
    april = await month(stage, admin, row, date(2026, 4, 20))
    assert (april[3].state, april[3].holiday) == ("holiday", "Good Friday")
    assert april[3].at == datetime(2026, 4, 3, 7, tzinfo=UTC)


async def test_clock_changes_move_the_instant_and_a_time_that_the_clocks_skip(stage: Stage, admin: Caller) -> None:
    row = await added(stage, admin, at=time(2, 30), weekdays=tuple(range(7)))
    days = await month(stage, admin, row)
    assert (days[28].clock_minutes, days[28].moved, days[28].at) == (0, False, datetime(2026, 3, 28, 1, 30, tzinfo=UTC))
    # 2:30 does not exist on that day, so it posts at 3:00, which is 1:00 UTC.
    assert (days[29].clock_minutes, days[29].moved, days[29].at) == (60, True, datetime(2026, 3, 29, 1, tzinfo=UTC))
    assert days[30].at == datetime(2026, 3, 30, 0, 30, tzinfo=UTC)
    october = await month(stage, admin, row, date(2026, 10, 1))
    assert (october[25].clock_minutes, october[25].moved) == (-60, False)


async def test_a_month_with_changes_stores_nothing(stage: Stage, admin: Caller) -> None:
    row = await added(stage, admin)
    tuesdays = ScheduleChanges(weekdays=(1,), at=time(18))
    days = await month(stage, admin, row, changes=tuesdays)
    assert [n for n, day in days.items() if day.state == "planned"] == [10, 17, 24, 31]
    assert days[10].at == datetime(2026, 3, 10, 17, tzinfo=UTC)
    assert (await month(stage, admin, row))[10].at == datetime(2026, 3, 10, 8, tzinfo=UTC)
    with refused(InvalidTimetable(field="zone", value="Berln", similar=("Europe/Berlin",))):
        await month(stage, admin, row, changes=ScheduleChanges(zone="Berln"))
    new = await planning.view_month(stage.session, admin, None, MARCH, tuesdays, stage.now)
    assert new.planned_until is None
    assert [day.day.day for day in new.days if day.state == "planned"] == [10, 17, 24, 31]


async def test_a_paused_schedule_plans_nothing(stage: Stage, admin: Caller) -> None:
    row = await added(stage, admin)
    await schedules.pause(stage.session, admin, row.id, True, stage.now)
    assert {day.state for day in (await month(stage, admin, row)).values()} == {"none", "paused"}


async def test_the_planned_questions_are_those_that_are_posted(stage: Stage, admin: Caller) -> None:
    row = await added(stage, admin, memory_days=5)
    planned = {day.day: day.question for day in (await month(stage, admin, row)).values() if day.question}
    assert len(planned) == 19
    for day, wanted in planned.items():
        spec = ScheduleSpec.model_validate(row.spec)
        chosen = await choose_for_day(stage.session, row, spec, day)
        assert chosen is not None and wanted is not None
        shown = await planning.preview(stage.session, admin, row.id, stage.now, day)
        assert shown.question.id == wanted.id
        await stage.round(row, day, wanted.id)
        stage.now = datetime.combine(day, time(12), UTC)
    assert len({question.id for question in planned.values() if question}) == 18


async def test_a_day_that_was_posted_early_has_no_second_question(stage: Stage, admin: Caller) -> None:
    row = await added(stage, admin)
    assert (await planning.preview(stage.session, admin, row.id, stage.now)).day == date(2026, 3, 5)
    await stage.round(row, date(2026, 3, 5), "q1", closed=False)
    assert (await planning.preview(stage.session, admin, row.id, stage.now)).day == date(2026, 3, 6)
    with refused(NoSlotAhead()):
        await planning.preview(stage.session, admin, row.id, stage.now, date(2026, 3, 5))


async def test_a_preview_of_a_day_is_refused_where_nothing_comes(stage: Stage, admin: Caller) -> None:
    row = await added(stage, admin)
    for day in (date(2026, 3, 7), date(2026, 3, 3), date(2027, 3, 1)):
        with refused(NoSlotAhead()):
            await planning.preview(stage.session, admin, row.id, stage.now, day)


async def test_a_skipped_day_can_have_its_question_again(stage: Stage, admin: Caller) -> None:
    row = await added(stage, admin)
    await schedules.skip(stage.session, admin, row.id, date(2026, 3, 6), stage.now)
    await schedules.unskip(stage.session, admin, row.id, date(2026, 3, 6), stage.now)
    assert (await month(stage, admin, row))[6].state == "planned"


async def test_a_new_schedule_has_a_calendar_before_there_is_a_bank(stage: Stage) -> None:
    boss = await stage.caller("Boss", admin=True)
    new = await planning.view_month(stage.session, boss, None, MARCH, NOTHING, stage.now)
    assert {day.state for day in new.days} == {"none", "planned"}
    with refused(NothingFits(needs_gpu=False)):
        await planning.view_month(stage.session, boss, None, MARCH, ScheduleChanges(at=time(18)), stage.now)


async def test_nobody_else_sees_the_plan(stage: Stage, admin: Caller) -> None:
    row = await added(stage, admin)
    eve = await stage.caller("Eve", workspace="away", admin=True)
    missing = NotFound(what="schedule", name=str(row.id))
    with refused(missing):
        await planning.view_month(stage.session, eve, row.id, MARCH, NOTHING, NOON)
    with refused(missing):
        await planning.preview(stage.session, eve, row.id, NOON + timedelta(days=1))


async def test_extra_rounds_are_counted_with_their_day(stage: Stage, admin: Caller) -> None:
    row = await added(stage, admin)
    await stage.round(row, date(2026, 3, 4), "q1", closed=False)
    extra = await stage.round(row, date(2026, 3, 3), "q2")
    extra.number = 1
    await stage.session.flush()
    days = await month(stage, admin, row)
    assert (days[3].state, days[3].extra, days[4].extra) == ("closed", 1, 0)
