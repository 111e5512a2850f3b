"""Which variant of a family is asked: one the workspace has not met, or the one it met longest ago."""

from __future__ import annotations

from datetime import date

import pytest
from sqlalchemy import select

from service.store import variants
from service.store.members import Caller
from service.store.tables import QuestionVersion, Round
from tests.service.scenes import Stage, question

FIRST, SECOND, THIRD = date(2026, 3, 2), date(2026, 3, 3), date(2026, 3, 4)


async def family_of_two(stage: Stage, key: str = "shapes", workspace_id: int | None = None) -> list[int]:
    """Imports a family with two variants; returns the ids of the versions of the family and of its variants."""
    await stage.bank(question(key, draw="def draw(rng): ..."), workspace_id=workspace_id, name=key)
    family = await stage.version(key)
    drawn = [(question(f"{key}-{number}"), f"digest of {key} {number}") for number in (1, 2)]
    await variants.add(stage.session, family, drawn, stage.now)
    ids = [family.id]
    for drawing in (1, 2):
        same = QuestionVersion.question_id == family.question_id
        query = select(QuestionVersion.id).where(same, QuestionVersion.drawing == drawing)
        ids.append((await stage.session.scalars(query)).one())
    return ids


async def ask(stage: Stage, caller: Caller, day: date, version_id: int) -> Round:
    """Adds a round of the family "shapes" that asked one of its variants."""
    round_ = await stage.round(await stage.schedule(caller), day, "shapes")
    round_.version_id = version_id
    await stage.session.flush()
    return round_


@pytest.fixture
async def home(stage: Stage) -> Caller:
    return await stage.caller()


@pytest.fixture
async def away(stage: Stage) -> Caller:
    return await stage.caller("Eve", workspace="away")


async def test_a_round_asks_the_variants_in_turn_and_then_the_one_asked_longest_ago(stage: Stage, home: Caller) -> None:
    family, one, two = await family_of_two(stage)
    asked = []
    for day in (FIRST, SECOND, THIRD):
        asked.append(await variants.pick_for_round(stage.session, home.workspace_id, family))
        await ask(stage, home, day, asked[-1])
    assert asked == [one, two, one]


async def test_what_another_workspace_was_asked_is_new_to_this_one(stage: Stage, home: Caller, away: Caller) -> None:
    family, one, two = await family_of_two(stage)
    await ask(stage, away, FIRST, one)
    assert await variants.pick_for_round(stage.session, home.workspace_id, family) == one
    assert await variants.pick_for_round(stage.session, away.workspace_id, family) == two


async def test_a_round_asks_variants_of_the_chosen_family_only(stage: Stage, home: Caller, away: Caller) -> None:
    ours, *our_variants = await family_of_two(stage, "ours", home.workspace_id)
    theirs, *their_variants = await family_of_two(stage, "theirs", away.workspace_id)
    assert await variants.pick_for_round(stage.session, home.workspace_id, ours) in our_variants
    assert await variants.pick_for_round(stage.session, away.workspace_id, theirs) in their_variants


async def test_a_question_without_variants_is_asked_itself(stage: Stage, home: Caller) -> None:
    await stage.bank(question("views"))
    version = await stage.version("views")
    assert await variants.pick_for_round(stage.session, home.workspace_id, version.id) == version.id


async def test_practice_starts_with_the_last_variant_and_goes_by_the_member(stage: Stage, home: Caller) -> None:
    family, one, two = await family_of_two(stage)
    bob = await stage.caller("Bob")
    assert await variants.pick_for_practice(stage.session, home.member_id, family) == two
    await ask(stage, home, FIRST, two)
    assert await variants.pick_for_practice(stage.session, home.member_id, family) == two  # asked, but not answered
    await stage.answer(home, await ask(stage, home, SECOND, two))
    assert await variants.pick_for_practice(stage.session, home.member_id, family) == one
    assert await variants.pick_for_practice(stage.session, bob.member_id, family) == two
