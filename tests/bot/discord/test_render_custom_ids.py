"""A `custom_id` says back what it was made of, within Discord's hundred characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.discord import bodies, modal
from bot.discord.render import Pressed, opening, placed, placed_body, read_custom_id
from tests.bot.discord.limits import parts_of
from tests.bot.rendering import CARDS, FORMS

SNOWFLAKES = st.integers(1, 2**63 - 1).map(str)
ACTIONS = st.builds("{}:{}".format, st.sampled_from("aofxnmgekulvis"), st.text(max_size=70))


@given(ACTIONS, SNOWFLAKES, SNOWFLAKES)
def test_the_server_and_the_channel_come_back(action: str, guild: str, channel: str) -> None:
    custom_id = placed(opening(action), guild, channel)
    assert len(custom_id) <= 100
    assert read_custom_id(custom_id) == Pressed(action, guild, channel, True)


@given(st.text(max_size=120))
def test_what_is_nobodys_making_is_read_all_the_same(custom_id: str) -> None:
    assert isinstance(read_custom_id(custom_id).action, str)


def test_without_room_the_channel_goes_first_and_then_the_server() -> None:
    guild, channel = "9" * 18, "8" * 18
    assert read_custom_id(placed("e:" + "x" * 80, guild, channel)) == Pressed("e:" + "x" * 80, guild)
    assert placed("e:" + "x" * 98, guild, channel) == "e:" + "x" * 98
    assert opening("e:" + "x" * 98) == "e:" + "x" * 98


def test_a_server_without_a_number_is_not_said() -> None:
    assert placed("a:r1", "home", "daily") == "a:r1"
    assert read_custom_id(placed("a:r1", "7", "daily")) == Pressed("a:r1", "7")


def test_every_button_of_a_message_says_its_server() -> None:
    for card in CARDS.values():
        for body in bodies(card):
            before = [part["custom_id"] for part in parts_of(body) if "custom_id" in part]
            after = [part["custom_id"] for part in parts_of(placed_body(body, "7", "8")) if "custom_id" in part]
            assert [read_custom_id(one) for one in after] == [Pressed(one, "7", "8") for one in before]


def test_a_window_says_its_server_and_its_fields_keep_their_names() -> None:
    for form in FORMS.values():
        body, there = modal(form), placed_body(modal(form), "7", "8")
        assert read_custom_id(there["custom_id"]) == Pressed(form.action, "7", "8")
        assert there["components"] == body["components"]
