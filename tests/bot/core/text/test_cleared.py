"""Where what a member wrote was deleted after a time, every place that would show it says so."""

from __future__ import annotations

import pytest

from bot.core.cards import Card, Text
from bot.core.text import archive, my_page, results, reveals
from bot.core.text.results import CLEARED
from service.wire import AnswerInput, Explanation, PastRound, VerdictView
from tests.bot.samples import RESULT, VALUE_KEY

GONE = AnswerInput(cleared=True)
RIGHT = VerdictView(verdict="accepted", credit=1)
MINE = RESULT.model_copy(update={"key": VALUE_KEY, "given": GONE, "verdict": RIGHT})


@pytest.mark.parametrize(
    "card",
    [reveals.result_card(MINE), results.explain_card(Explanation(key=VALUE_KEY, given=GONE, verdict=RIGHT))],
    ids=["my result", "explain"],
)
def test_the_card_says_that_it_was_deleted(card: Card) -> None:
    assert any(isinstance(block, Text) and block.markdown == f"**Right!** {CLEARED}" for block in card.blocks)


def test_the_pages_say_it_too() -> None:
    assert archive.own_sentence(MINE) == CLEARED
    past = PastRound(ref="r12", day=MINE.day, question=VALUE_KEY.question, given=GONE, verdict="accepted", credit=1)
    assert "was deleted" in my_page.answer_words(past)
