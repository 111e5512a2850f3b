"""Makes a database of whichever version it is run in, for the tests of upgrading; README.md here says how.

It keeps to calls that every version has had.
"""

from __future__ import annotations

import os
import subprocess
from datetime import timedelta

import pytest

from service.wire import Given, ScheduleSpec, Where
from tests.conftest import Clock
from tests.service.roads import DAILY, SPEC, Road, choice, code, prose, value

CODE = Where(channel="code", name="#code")


@pytest.mark.skipif("BACKUP" not in os.environ, reason="it makes a file for the repository: see README.md")
async def test_make(road: Road, clock: Clock, database_url: str) -> None:
    await fill(road, clock)
    # The program that takes the backup is the newest, whatever version filled the database.
    subprocess.run(  # noqa: ASYNC221
        [os.environ["PROGRAM"], "backup", os.environ["BACKUP"]],
        env={**os.environ, "DATABASE_URL": database_url},
        check=True,
    )


async def fill(road: Road, clock: Clock) -> None:
    """A team with a history, and beside it another one."""
    client, boss = road.client, road.who("Boss", admin=True)
    await road.bank(*(choice(f"q{number}") for number in range(9)), value(), prose(), code())
    await road.bank(*(choice(f"q{number}") for number in range(8)), value(why="Rows first."), prose(), code())
    await road.schedule(SPEC.model_copy(update={"kinds": ("choice",)}))
    other = road.who("Olga", workspace="other", admin=True)
    await client.schedule_add(other, "other schedule", Where(channel="daily", name="#theirs"), SPEC)
    await client.season_start(boss, "season 1", "Spring")
    for day in range(4):
        await answer_round(road, clock, day)
    await client.privacy(road.who("Dee"), "gone", "forget")
    await client.privacy(road.who("Cy"), "hidden", "hide")
    await practise(road)
    await administer(road, clock)
    await leave_things_open(road, clock)


async def answer_round(road: Road, clock: Clock, day: int) -> None:
    clock.advance(hours=1)
    await road.service.tick()
    post = next(one.body for one in await road.deliver() if one.body.kind == "question" and one.workspace == "home")
    for number, name in enumerate(("Ada", "Bo", "Cy", "Dee", "Eli")):
        clock.advance(minutes=1)
        await road.answer(post.ref, "abc"[(number * (day + 1)) % 3], name)
    await road.answer(post.ref, "a", "Bo")
    clock.advance(hours=8)
    await road.ticked()
    clock.advance(hours=14, minutes=55)


async def practise(road: Road) -> None:
    for kind, given in (("choice", Given(options=("a",))), ("open", Given(text="They share storage."))):
        form = await road.client.practice(road.who("Eli"), DAILY, kind=kind)
        assert form is not None
        await road.client.answer(road.who("Eli"), DAILY, f"practice {kind}", form.ref, given, road.now)
    await road.client.report(road.who("Eli"), "report", "q1", "b is right\ttoo: \\N é\nno?")


async def administer(road: Road, clock: Clock) -> None:
    client, boss = road.client, road.who("Boss", admin=True)
    await client.season_end(boss, "season end")
    clock.advance(seconds=1)
    await client.season_start(boss, "season 2", "Summer")
    await client.member_adjust(boss, "adjust", "Bo", 7, "found a fault")
    await client.member_restore(boss, "restore", "Eli", clock.now.date() - timedelta(days=1))
    await client.bank_retire(boss, "retire", "q3", True)
    await client.schedule_skip(boss, "skip", 1, clock.now.date() + timedelta(days=10))
    clock.advance(seconds=-1)


async def leave_things_open(road: Road, clock: Clock) -> None:
    """A round of code with an answer that was not judged, and a post on its way."""
    boss = road.who("Boss", admin=True)
    at = (clock.now + timedelta(minutes=30)).time().replace(second=0, microsecond=0)
    spec = ScheduleSpec(at=at, kinds=("code",), open_minutes=480)
    schedule = await road.client.schedule_add(boss, "code schedule", CODE, spec)
    clock.advance(minutes=30)
    posted = await road.client.post_now(boss, "code now", schedule.id)
    await road.deliver()
    given = Given(code="def double(x):\n    return 2 * x\n")
    await road.client.answer(road.who("Ada"), CODE, "waits", f"r{posted.id}", given, clock.now)
    clock.advance(minutes=30)
    await road.service.tick()
    await road.claim()
