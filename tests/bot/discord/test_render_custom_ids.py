"""A `custom_id` round-trips within Discord's 100 characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.discord import bodies, modal
from bot.discord.render import CustomId, body_in_server, id_in_server, opening_id, parse_custom_id
from tests.bot.discord.limits import parts_of
from tests.bot.rendering import CARDS, FORMS

SNOWFLAKES = st.integers(1, 2**63 - 1).map(str)
ACTIONS = st.builds("{}:{}".format, st.sampled_from("aofxnmgekulvis"), st.text(max_size=70))


@given(ACTIONS, SNOWFLAKES, SNOWFLAKES)
def test_the_server_and_the_channel_are_restored(action: str, guild: str, channel: str) -> None:
    custom_id = id_in_server(opening_id(action), guild, channel)
    assert len(custom_id) <= 100
    assert parse_custom_id(custom_id) == CustomId(action, guild, channel, True)


@given(st.text(max_size=120))
def test_unknown_ids_are_parsed(custom_id: str) -> None:
    assert isinstance(parse_custom_id(custom_id).action, str)


def test_the_channel_is_dropped_first_and_then_the_server() -> None:
    guild, channel = "9" * 18, "8" * 18
    assert parse_custom_id(id_in_server("e:" + "x" * 80, guild, channel)) == CustomId("e:" + "x" * 80, guild)
    assert id_in_server("e:" + "x" * 98, guild, channel) == "e:" + "x" * 98
    assert opening_id("e:" + "x" * 98) == "e:" + "x" * 98


def test_only_numeric_servers_are_added() -> None:
    assert id_in_server("a:r1", "home", "daily") == "a:r1"
    assert parse_custom_id(id_in_server("a:r1", "7", "daily")) == CustomId("a:r1", "7")


def test_every_button_of_a_message_names_its_server() -> None:
    for card in CARDS.values():
        for body in bodies(card):
            before = [part["custom_id"] for part in parts_of(body) if "custom_id" in part]
            after = [part["custom_id"] for part in parts_of(body_in_server(body, "7", "8")) if "custom_id" in part]
            assert [parse_custom_id(one) for one in after] == [CustomId(one, "7", "8") for one in before]


def test_a_modal_names_its_server_and_fields_keep_their_names() -> None:
    for form in FORMS.values():
        body, there = modal(form), body_in_server(modal(form), "7", "8")
        assert parse_custom_id(there["custom_id"]) == CustomId(form.action, "7", "8")
        assert there["components"] == body["components"]
