"""What the page and the cards of a sprint say."""

from __future__ import annotations

from typing import Literal

import pytest

from bot.core.cards import Text
from bot.core.text.sprints import left_words, own_words, podium_card
from service.wire import LiveSprint, SprintPodium, SprintResult

LIVE = LiveSprint(id=1, state="asking", number=1, total=2, seconds=20, left_s=6.2)


@pytest.mark.parametrize(
    ("state", "number", "words"),
    [
        ("announced", 0, "First question in 7 seconds"),
        ("asking", 2, "7 seconds left"),
        ("pausing", 1, "Next question in 7 seconds"),
        ("pausing", 2, "Podium in 7 seconds"),
    ],
)
def test_the_seconds_say_what_they_lead_to(
    state: Literal["announced", "asking", "pausing"], number: int, words: str
) -> None:
    assert "".join(left_words(LIVE.model_copy(update={"state": state, "number": number}))) == words


def test_the_podium_is_not_about_the_last_question() -> None:
    mine = SprintResult(points=50, rank=2, credit=0)
    over = LIVE.model_copy(update={"state": "over", "mine": mine})
    assert own_words(over) == "You have 50 points, rank 2."
    assert own_words(over.model_copy(update={"state": "pausing"})).startswith("Not right this time: 0 points.")


@pytest.mark.parametrize(
    ("players", "words"), [(2, "2 members played. Nobody reached the podium."), (0, "Nobody played.")]
)
def test_a_podium_without_winners_says_so(players: int, words: str) -> None:
    card = podium_card(SprintPodium(asked=3, total=3, players=players))
    assert (card.summary, card.blocks) == (words, (Text(words),))
