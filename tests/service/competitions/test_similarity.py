"""The statistics of similar answers over real rounds: whom moderators see, and whom nobody else does."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.competitions.similarity import view_similarity
from tests.service.own_variants import chosen_family, typed_family
from tests.service.scenes import Stage
from tests.service.similar_answers import play_alike, play_variants_alike


@pytest.fixture
async def played(stage: Stage) -> Stage:
    await play_alike(stage)
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


async def test_wrong_answers_that_are_right_for_anothers_variant_are_listed(stage: Stage) -> None:
    boss = await play_variants_alike(stage, typed_family())
    found = await view_similarity(stage.session, boss, stage.now)
    (fit,) = found.fits
    assert (fit.member, fit.other, fit.wrong, fit.fitting) == ("Ada", "Bob", 24, 24)
    assert (found.fits_found, found.fits_compared) == (1, 90) and fit.expected < 3 and fit.chance < 1e-6
    other = await stage.caller("Eve", workspace="other", admin=True)
    assert (await view_similarity(stage.session, other, stage.now)).fits_compared == 0


async def test_options_of_different_variants_are_not_compared(stage: Stage) -> None:
    boss = await play_variants_alike(stage, chosen_family())
    found = await view_similarity(stage.session, boss, stage.now)
    assert (found.compared, found.pairs) == (0, ())
