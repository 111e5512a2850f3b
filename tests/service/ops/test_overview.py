"""What the admins' overview counts, and that more schedules take no more statements."""

from __future__ import annotations

from datetime import date, timedelta

from sqlalchemy import Engine, event

from service.banks import moderation
from service.ops import overview
from service.store.members import Caller
from service.wire import NoScheduleCheck, Overview, QuestionsCheck
from tests.service.scenes import Stage, question


async def view(stage: Stage, caller: Caller) -> Overview:
    return await overview.view(stage.session, caller, None, "", stage.now)


async def test_the_overview_counts_what_waits_in_this_workspace_alone(stage: Stage) -> None:
    await stage.bank(question("a"), question("b"))
    boss, eve = await stage.caller("Boss", admin=True), await stage.caller("Eve", workspace="away")
    await moderation.report(stage.session, boss, "a", "It is wrong.", stage.now)
    await moderation.report(stage.session, eve, "a", "It is wrong.", stage.now)
    schedule = await stage.schedule(boss)
    round_ = await stage.round(schedule, stage.now.date(), "a", closed=False)
    await stage.answer(boss, round_)
    old = await stage.round(schedule, stage.now.date() - timedelta(days=40), "b")
    await stage.answer(await stage.caller("Ada"), old)
    found = await view(stage, boss)
    assert (found.reports, found.suggestions, found.answers, found.generated) == (1, 0, 0, 0)
    # Ada has not answered for four weeks.
    assert found.members == 1
    (one,) = found.open
    assert (one.channel, one.question.id, one.answers) == ("#daily", "a", 1)
    assert [(one.schedule, one.left) for one in found.low] == [(schedule.id, 0)]
    assert [check.left for check in found.failed if isinstance(check, QuestionsCheck)] == [0]
    elsewhere = await view(stage, await stage.caller("Eve", workspace="away", admin=True))
    assert (elsewhere.reports, elsewhere.open, elsewhere.members) == (1, (), 0)
    assert NoScheduleCheck(ok=False) in elsewhere.failed


async def test_more_schedules_take_no_more_statements(stage: Stage) -> None:
    await stage.bank(question("a"), question("b"))
    boss = await stage.caller("Boss", admin=True)
    await view(stage, boss)  # the questions of a bank are read once and kept
    counts = []
    for _ in range(2):
        for _ in range(3):
            await stage.round(await stage.schedule(boss), date(2026, 3, 4), "a", closed=False)
        seen: list[str] = []

        def note(*args: object, seen: list[str] = seen) -> None:
            seen.append(str(args[2]))

        event.listen(Engine, "before_cursor_execute", note)
        try:
            await view(stage, boss)
        finally:
            event.remove(Engine, "before_cursor_execute", note)
        counts.append(len(seen))
    assert counts[0] == counts[1]
