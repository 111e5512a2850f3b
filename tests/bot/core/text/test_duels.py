"""What the cards of a duel say."""

from __future__ import annotations

from typing import Literal

import pytest

from bot.core.cards import Table
from bot.core.text.duels import duel_card
from tests.bot.samples import DUEL_OVER


@pytest.mark.parametrize(
    ("winner", "names"),
    [("challenger", ["*Ann*", "Bob <b>"]), ("opponent", ["Bob <b>", "*Ann*"]), ("draw", ["*Ann*", "Bob <b>"])],
)
@pytest.mark.parametrize("you", ["challenger", "opponent", None])
def test_the_winner_comes_first(
    winner: Literal["challenger", "opponent", "draw"], names: list[str], you: Literal["challenger", "opponent"] | None
) -> None:
    view = DUEL_OVER.model_copy(update={"winner": winner, "you": you})
    (table,) = [block for block in duel_card(view).blocks if isinstance(block, Table)]
    assert [row[0] for row in table.rows] == names
    me = {"challenger": "*Ann*", "opponent": "Bob <b>"}.get(you or "")
    assert (None if table.mine is None else table.rows[table.mine][0]) == me
