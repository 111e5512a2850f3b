"""What the console remembers of its own messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.console.chat import ConsolePlatform
from bot.console.store import ConsoleStore
from bot.core.cards import Button, Card
from bot.core.dispatcher import Target

CARD = Card("Hello", "Hello.", buttons=(Button("A", "o:r1:a"), Button("More", "n::")))
DAILY = Target("console", "daily")


def test_a_key_keeps_its_reference_even_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "console.db"
    with ConsoleStore(path) as store:
        ref = store.keep("round-1", "one")
        assert store.keep("round-1", "again") == ref
        assert store.keep("round-2", "two") != ref
    with ConsoleStore(path) as store:
        assert store.find("round-1") == ref
        assert store.find("round-9") is None


def test_the_first_who_came_stays_the_first(tmp_path: Path) -> None:
    with ConsoleStore(tmp_path / "console.db") as store:
        assert store.is_first("Ann")
        assert not store.is_first("Bob")
    with ConsoleStore(tmp_path / "console.db") as store:
        assert not store.is_first("Bob")
        assert store.is_first("Ann")


def test_a_file_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "console.db").write_text("this is no database, and long enough for sqlite to see that it is none")
    with pytest.raises(OSError, match=r"console\.db: the console's messages cannot be kept there"):
        ConsoleStore(tmp_path / "console.db")


async def test_a_posted_card_is_found_by_its_key() -> None:
    said: list[str] = []
    with ConsoleStore() as store:
        platform = ConsolePlatform(store, said.append)
        ref = await platform.post(DAILY, CARD, "round-1")
        assert await platform.find(DAILY, "round-1") == ref
        assert await platform.find(DAILY, "round-2") is None
    assert "".join(said) == "── (#daily) ──\nHello\n\n[A]   [2] More\n\n"


async def test_private_cards_name_their_reader_and_thread_posts_their_thread() -> None:
    said: list[str] = []
    with ConsoleStore() as store:
        platform = ConsolePlatform(store, said.append)
        platform.names["ann"] = "Ann"
        await platform.post(Target("console", "daily", member="ann"), CARD, "a")
        await platform.post(Target("console", "daily", reply_to="1"), CARD, "b")
        await platform.post(Target("console", "daily", reply_to="1", broadcast=True), CARD, "c")
    places = [text.split("\n")[0] for text in said]
    assert places == ["── (only you, Ann) ──", "── (#daily, in the thread) ──", "── (#daily) ──"]


async def test_a_letter_presses_the_newest_card_one_sees() -> None:
    with ConsoleStore() as store:
        platform = ConsolePlatform(store, lambda text: None)
        await platform.post(DAILY, CARD, "public")
        platform.show(Card("Mine", "Mine.", buttons=(Button("A (your answer)", "o:r2:x"),)), "ann")
        assert platform.choice("ann", "a") == "o:r2:x"
        assert platform.choice("bob", "A") == "o:r1:a"
        assert platform.choice("ann", "2") == "n::"
        assert platform.choice("ann", "C") is None
