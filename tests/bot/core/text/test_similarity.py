"""The words of the statistics for moderators: numbers and their meaning, and no accusation."""

from __future__ import annotations

import re

from bot.console.render import card_text
from bot.core.text.similarity import similarity_card
from service.wire import FittingAnswers, QuickAnswers, SimilarAnswers, SimilarPair

NOTHING = SimilarAnswers(days=180, compared=0, level=0.01, least_shared=20, least_wrong=6, within_s=15)
PAIR = SimilarPair(
    first="*Ann*", first_id=1, second="Bob", second_id=2, shared=40, wrong=12, same=11, expected=4.2, chance=0.0005
)
QUICK = QuickAnswers(name="Cy", member_id=3, right=20, quick=6)


def words(found: SimilarAnswers) -> str:
    return " ".join(card_text(similarity_card(found)).split())


def test_the_card_states_the_rate_and_accuses_nobody() -> None:
    found = NOTHING.model_copy(update={"compared": 66, "found": 1, "pairs": (PAIR,), "quick": (QUICK,)})
    text = words(found)
    assert "Of 66 pairs of members, 1 agrees on wrong options more often than chance explains." in text
    assert "11 of 12" in text and "1 in 2,000" in text and "in at most 1% of looks" in text
    assert "This proves nothing about anybody" in text and "Right answers within 15 seconds" in text
    assert not re.search(r"cheat|fraud|copied|suspect", text, re.IGNORECASE)


def test_answers_that_fit_anothers_variant_are_a_table_of_their_own() -> None:
    fit = FittingAnswers(
        member="*Ann*", member_id=1, other="Bob", other_id=2, wrong=9, fitting=7, expected=0.6, chance=0.0001
    )
    found = NOTHING.model_copy(update={"fits_compared": 90, "fits_found": 1, "fits": (fit,)})
    text = words(found)
    assert "1 member gives wrong answers that are right for the variant of another member" in text
    assert "7 of 9" in text and "1 in 10,000" in text and "This proves nothing about anybody" in text
    assert similarity_card(NOTHING.model_copy(update={"fits_compared": 90, "fits_found": 1})).summary == (
        "Of 90 pairs, 1 stands out."
    )
    assert "variant" not in words(NOTHING)


def test_without_enough_answers_the_card_says_what_is_missing() -> None:
    assert "20 choice questions that both answered, 6 of them wrongly" in words(NOTHING)
    assert "none agrees on wrong options" in words(NOTHING.model_copy(update={"compared": 3}))
