"""What the cards that link chats and accounts say."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.core.text.linking import chat_code_card
from service.wire import LinkCode


def test_the_end_of_a_linking_code_is_in_the_readers_own_zone() -> None:
    made = LinkCode(code="K7QM2RXN", expires_at=datetime(2026, 3, 5, 8, 15, tzinfo=UTC))
    card = chat_code_card(made)
    assert f"[08:15 (UTC)](time:{int(made.expires_at.timestamp())})" in card.blocks[-1].markdown  # type: ignore[union-attr]
    assert card.summary == "Your code is K7QM2RXN, good until 08:15 (UTC)."
