"""The statistics of similar answers over real rounds: whom moderators see, and whom nobody else does."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

import pytest
from sqlalchemy import select

from questions.model import Question
from service.competitions.similarity import view_similarity
from service.store import variants
from service.store.members import Caller
from service.store.tables import QuestionVersion
from tests.service.own_variants import chosen_family, typed_family, variant
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


async def played_with_variants(stage: Stage, family: Question) -> Caller:
    """Plays 24 rounds in which every member has their own variant and is wrong; what Ada types is right for Bob's.
    Returns the admin."""
    boss = await stage.caller("Boss", admin=True)
    await stage.bank(family)
    row = await stage.version(family.id)
    drawn = [variant(family, number) for number in range(30)]
    await variants.add(stage.session, row, [(one, one.id) for one in drawn], stage.now)
    query = select(QuestionVersion).where(QuestionVersion.drawing > 0).order_by(QuestionVersion.drawing)
    versions = (await stage.session.scalars(query)).all()
    schedule = await stage.schedule(boss)
    people = [await stage.caller(name) for name in ("Ada", "Bob", *(f"Member {n}" for n in range(8)))]
    random = Random(5)
    for number in range(24):
        round_ = await stage.round(schedule, date(2026, 1, 5) + timedelta(days=number), family.id)
        round_.version_id, round_.own_variants = versions[-1].id, True
        given = random.sample(range(29), len(people))
        for who, own in zip(people, given, strict=True):
            text = f"({given[1]},3)" if who.name == "Ada" else f"(3, {own})"
            wrong = next((one["id"] for one in versions[own].body["options"] if not one["right"]), "")
            await stage.answer(who, round_, credit=0.0, text=text, option=wrong, variant=versions[own].id)
    return boss


async def test_wrong_answers_that_are_right_for_anothers_variant_are_listed(stage: Stage) -> None:
    boss = await played_with_variants(stage, typed_family())
    found = await view_similarity(stage.session, boss, stage.now)
    (fit,) = found.fits
    assert (fit.member, fit.other, fit.wrong, fit.fitting) == ("Ada", "Bob", 24, 24)
    assert (found.fits_found, found.fits_compared) == (1, 90) and fit.expected < 3 and fit.chance < 1e-6
    other = await stage.caller("Eve", workspace="other", admin=True)
    assert (await view_similarity(stage.session, other, stage.now)).fits_compared == 0


async def test_options_of_different_variants_are_not_compared(stage: Stage) -> None:
    boss = await played_with_variants(stage, chosen_family())
    found = await view_similarity(stage.session, boss, stage.now)
    assert (found.compared, found.pairs) == (0, ())
