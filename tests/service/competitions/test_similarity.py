"""The statistics of similar answers over real rounds: whom moderators see, and whom nobody else does."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

import pytest

from service.competitions.similarity import view_similarity
from tests.service.scenes import Stage, question


@pytest.fixture
async def played(stage: Stage) -> Stage:
    """24 rounds: Ada and Bob choose the same wrong options, ten others their own."""
    boss = await stage.caller("Boss", admin=True)
    await stage.bank(question())
    schedule = await stage.schedule(boss)
    people = [await stage.caller(name) for name in ("Ada", "Bob", *(f"Member {n}" for n in range(10)))]
    random = Random(5)
    for number in range(24):
        round_ = await stage.round(schedule, date(2026, 1, 5) + timedelta(days=number))
        for place, who in enumerate(people):
            option = "xyz"[number % 3] if place < 2 else random.choice("xyz")
            await stage.answer(who, round_, credit=0.0, option=option)
            await stage.points(who, 10, round_=round_, seconds=4.0 if who.name == "Bob" and number < 6 else 60.0)
    return stage


async def test_pairs_that_agree_and_fast_answers_are_listed(played: Stage) -> None:
    found = await view_similarity(played.session, await played.caller("Boss", admin=True), played.now)
    assert [(pair.first, pair.second, pair.shared, pair.same) for pair in found.pairs] == [("Ada", "Bob", 24, 24)]
    assert found.found == 1 and found.pairs[0].expected < 16 and found.pairs[0].chance < 0.01 and found.compared == 66
    assert [(one.name, one.quick, one.right) for one in found.quick] == [("Bob", 6, 24)]


async def test_old_rounds_and_other_workspaces_are_not_compared(played: Stage) -> None:
    other = await played.caller("Eve", workspace="other", admin=True)
    assert (await view_similarity(played.session, other, played.now)).compared == 0
    later = played.now + timedelta(days=200)
    found = await view_similarity(played.session, await played.caller("Boss", admin=True), later)
    assert (found.compared, found.quick) == (0, ())
