"""Two chats and two accounts linked by what people type, over the real service."""

from __future__ import annotations

import re

import pytest

from bot.core.actions import Join, decode
from bot.core.cards import Card
from service.wire import Platform, Where, Who
from tests.bot.conftest import BANK, Room

SLACK = Where(channel="C1", name="#ml-quiz")


def someone(name: str, platform: Platform, *, admin: bool = False) -> Who:
    return Who(platform=platform, workspace=f"{platform} team", member=f"{platform} {name}", name=name, admin=admin)


def code_in(said: str) -> str:
    found = re.search(r"link ([0-9A-Z]{8})", said)
    assert found, said
    return found[1]


@pytest.fixture
def guild(room: Room) -> Where:
    room.where = Where(channel="111", name="#quiz")
    return room.where


async def test_two_chats_share_a_board_and_a_schedule(room: Room, guild: Where) -> None:
    here, there = someone("Boss", "discord", admin=True), someone("Chief", "slack", admin=True)
    await room.client.bank_import(here, "import", "own.md", BANK.read_text(), True)
    made = await room.types(here, "/quiz-admin schedule add 09:00 mon-fri Europe/Berlin")
    number = re.search(r"Schedule (\d+)", made)
    assert number, made
    said = await room.types(here, "/quiz-admin link")
    assert "works once, until 08:15 (UTC)" in said
    room.where = SLACK
    assert "Linked: Discord and Slack share one board" in await room.types(there, f"/quiz-admin link {code_in(said)}")
    shared = await room.types(there, f"/quiz-admin schedule share {number[1]}")
    assert "It posts to #ml-quiz (Slack) too" in shared
    assert "in #quiz" in shared
    # The only schedule of this channel is meant, though its home is the other chat's.
    assert "Schedule paused" in await room.types(there, "/quiz-admin schedule pause")
    assert "#quiz, #ml-quiz" in await room.types(here, "/quiz-admin schedule list")
    assert "No longer shared" in await room.types(there, f"/quiz-admin schedule unshare {number[1]}")


async def test_linking_first_shows_what_a_chat_would_bring(room: Room, guild: Where) -> None:
    here, there = someone("Boss", "discord", admin=True), someone("Chief", "slack", admin=True)
    code = code_in(await room.types(here, "/quiz-admin link"))
    room.where = SLACK
    await room.types(there, "/quiz-admin season start Spring *2026*")
    await room.types(there, "/quiz-admin member adjust Chief 5 a good talk")
    room.moving.advance(minutes=1)
    told = await room.types(there, f"/quiz-admin link {code[:4]}-{code[4:].lower()}")
    assert "This chat has 1 member, 1 season and 5 points." in told
    assert "The season Spring *2026* ends now and its board is kept." in told
    card = room.told[there.member]
    assert isinstance(card, Card)
    assert decode(card.buttons[0].action) == Join(code)
    assert "Linked: Discord and Slack" in await room.presses(there, "Link this chat")
    assert "chat join" in await room.types(here, "/quiz-admin audit")


async def test_one_person_is_one_member_in_both(room: Room, guild: Where) -> None:
    here, there = someone("Boss", "discord", admin=True), someone("Chief", "slack", admin=True)
    ada, ada_too = someone("Ada", "discord"), someone("ada.l", "slack")
    mine = await room.types(ada, "/quiz link")
    assert "Type this in the other chat" in mine
    refused = await room.types(ada_too, f"/quiz link {code_in(mine)}")
    assert "made in a chat that is not linked with this one" in refused
    await room.types(there, f"/quiz-admin link {code_in(await room.types(here, '/quiz-admin link'))}")
    linked = await room.types(ada_too, f"/quiz link {code_in(mine)}")
    assert "You are one member in Discord and Slack now, Ada on the boards." in linked
    assert "These two accounts are linked already" not in linked
    assert "wrong, was used, or is older than 15 minutes" in await room.types(ada_too, f"/quiz link {code_in(mine)}")


async def test_an_invalid_link_code_is_rejected(room: Room) -> None:
    said = await room.types(someone("Ada", "slack"), "/quiz link sesame")
    assert "sesame is not a code. A code has eight letters and digits, such as K7QM2RXN." in said
