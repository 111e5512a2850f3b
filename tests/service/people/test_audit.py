"""The gate of admins' calls: refused to others, done once, on record."""

from __future__ import annotations

from datetime import timedelta

from service.people import audit
from service.rounds.idempotency import EventCall
from service.store.members import Caller
from service.wire import AdminsOnly, EventReused
from tests.service.refusals import refused
from tests.service.scenes import NOON, Stage


class Work:
    """Something an admin has done, counted."""

    def __init__(self) -> None:
        self.done = 0

    async def __call__(self) -> int:
        self.done += 1
        return self.done


async def administer(stage: Stage, caller: Caller, event: str, work: Work, **detail: object) -> int:
    call = EventCall(event, "test it", stage.now)
    done: int = await audit.administer(stage.session, caller, call, detail, work, int)
    return done


async def test_the_work_is_done_once_for_an_event_and_noted_once(stage: Stage) -> None:
    boss, work = await stage.caller("Boss", admin=True), Work()
    assert [await administer(stage, boss, event, work, schedule=3) for event in ("e1", "e1", "e2")] == [1, 1, 2]
    trail = await audit.trail(stage.session, boss)
    assert [(line.at, line.by, line.action, line.facts) for line in trail] == [
        (NOON, "Boss", "test it", {"schedule": "3"})
    ] * 2


async def test_a_non_admin_is_refused_before_anything_happens(stage: Stage) -> None:
    ada, work = await stage.caller("Ada"), Work()
    with refused(AdminsOnly()):
        await administer(stage, ada, "e1", work)
    with refused(AdminsOnly()):
        await audit.trail(stage.session, ada)
    assert work.done == 0
    assert await administer(stage, await stage.caller("Ada", admin=True), "e1", work) == 1


async def test_an_event_of_somebody_else_is_not_taken_for_ones_own(stage: Stage) -> None:
    boss, other = [await stage.caller(name, admin=True) for name in ("Boss", "Other")]
    work = Work()
    await administer(stage, boss, "e1", work)
    with refused(EventReused(event_id="e1")):
        await administer(stage, other, "e1", work)
    assert work.done == 1


async def test_the_trail_names_members_as_they_are_called_now_and_leaves_out_what_is_empty(stage: Stage) -> None:
    boss, ada = await stage.caller("Boss", admin=True), await stage.caller("Ada")
    await administer(stage, boss, "e1", Work(), member=ada.member_id, points=5, reason="")
    (line,) = await audit.trail(stage.session, boss)
    assert line.facts == {"member": "Ada", "points": "5"}


async def test_the_trail_is_the_workspaces_own_the_newest_first_and_no_longer_than_asked(stage: Stage) -> None:
    boss, eve = await stage.caller("Boss", admin=True), await stage.caller("Eve", workspace="away", admin=True)
    for number in range(4):
        await administer(stage, boss, f"e{number}", Work(), number=number)
        stage.now += timedelta(minutes=1)
    assert [line.facts["number"] for line in await audit.trail(stage.session, boss, 2)] == ["3", "2"]
    assert await audit.trail(stage.session, eve) == ()


async def test_switches_and_lists_stay_what_they_are_and_empty_lists_are_left_out(stage: Stage) -> None:
    boss = await stage.caller("Boss", admin=True)
    detail = {"confidence": True, "variants": False, "kinds": ["choice", "code"], "topics": [], "days": 0}
    await administer(stage, boss, "e1", Work(), **detail, pause={"first": "2026-03-02", "last": None})
    (line,) = await audit.trail(stage.session, boss)
    known = {"confidence": True, "variants": False, "kinds": ("choice", "code"), "days": "0"}
    assert line.facts == {**known, "pause": ("first 2026-03-02",)}
    assert type(line).model_validate_json(line.model_dump_json()) == line
