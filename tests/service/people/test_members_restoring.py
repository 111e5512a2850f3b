"""What admins set right: a streak, and points by hand."""

from __future__ import annotations

from datetime import date

import pytest

from service.people import members
from service.rounds import leaderboard
from service.store.ledger import Adjustment
from service.store.members import Caller, find_named_member
from service.wire import MemberAmbiguous, NoRoundOn, NotFound, PointsOutOfRange, Refusal, TextNeeded
from tests.service.refusals import refused
from tests.service.scenes import Stage, question

DAYS = tuple(date(2026, 3, day) for day in (2, 3, 4))


async def test_a_restored_day_breaks_no_streak_in_any_schedule(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(question())
    member = await find_named_member(stage.session, ada, "ada")
    schedules = [await stage.schedule(ada) for _ in range(2)]
    for schedule in schedules:
        rounds = [await stage.round(schedule, day) for day in DAYS]
        await stage.answer(ada, rounds[0])
        await stage.answer(ada, rounds[2])
    for _ in range(2):
        await members.restore_streak(stage.session, ada, member, DAYS[1])
    for schedule in schedules:
        assert (await leaderboard.load_schedule_streaks(stage.session, schedule.id, [ada.member_id]))[
            ada.member_id
        ].current == 2


async def test_a_day_without_a_round_needs_no_restoring(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.round(await stage.schedule(ada), DAYS[0], None, skipped="the service was down")
    member = await find_named_member(stage.session, ada, "Ada")
    with refused(NoRoundOn(day=DAYS[0])):
        await members.restore_streak(stage.session, ada, member, DAYS[0])


async def book(stage: Stage, caller: Caller, points: int, reason: str = "found a fault") -> None:
    member = await find_named_member(stage.session, caller, "@Ada")
    await members.adjust_points(stage.session, caller, member, Adjustment(points, reason, "e1", stage.now))


@pytest.mark.parametrize("points", [1, -7, members.MOST_POINTS])
async def test_booked_points_are_on_the_board(stage: Stage, points: int) -> None:
    ada = await stage.caller("Ada", where=None)
    await book(stage, ada, points)
    rows = (await leaderboard.get_board(stage.session, ada, stage.now)).rows
    assert [(row.points, row.answered, row.accuracy) for row in rows] == ([(points, 0, 0.0)] if points > 0 else [])
    assert (await members.me(stage.session, ada, stage.now)).points == points


async def test_events_of_two_chats_may_have_one_id(stage: Stage) -> None:
    for workspace in ("here", "away"):
        ada = await stage.caller("Ada", workspace=workspace)
        await book(stage, ada, 5)
        assert (await members.me(stage.session, ada, stage.now)).points == 5


@pytest.mark.parametrize(
    ("points", "reason", "refusal"),
    [
        (0, "why", PointsOutOfRange(points=0, most=members.MOST_POINTS)),
        (members.MOST_POINTS + 1, "why", PointsOutOfRange(points=members.MOST_POINTS + 1, most=members.MOST_POINTS)),
        (-members.MOST_POINTS - 1, "why", PointsOutOfRange(points=-members.MOST_POINTS - 1, most=members.MOST_POINTS)),
        (5, "  ", TextNeeded(what="reason of an adjustment")),
    ],
)
async def test_points_need_a_number_and_a_reason(stage: Stage, points: int, reason: str, refusal: Refusal) -> None:
    with refused(refusal):
        await book(stage, await stage.caller(), points, reason)


async def test_a_name_must_mean_one_member_of_this_workspace(stage: Stage) -> None:
    ada = await stage.caller("Ada")
    await stage.caller("Eve", workspace="away")
    twin = await stage.caller("Twin")
    member = await find_named_member(stage.session, ada, "twin")
    assert member.id == twin.member_id
    member.name = "Ada"
    await stage.session.flush()
    with refused(MemberAmbiguous(name="Ada", ids=("ada", "twin"))):
        await find_named_member(stage.session, ada, "Ada")
    assert (await find_named_member(stage.session, ada, "twin")).id == twin.member_id
    for unknown in ("Eve", "Nobody", ""):
        with refused(NotFound(what="member", name=unknown)):
            await find_named_member(stage.session, ada, unknown)
