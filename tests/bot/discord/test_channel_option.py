"""An admin can name another channel than the one in which they type; Discord offers its own list of channels."""

from __future__ import annotations

from typing import Any

from tests.bot.discord.simulated import Simulated, messages_of, said
from tests.conftest import MONDAY
from tests.doubles.discord.world import BOT_NEEDS, SEND, Channel


def questions(channel: Channel) -> list[str]:
    return [said(message) for message in channel.seen() if "[Answer]" in said(message)]


async def test_a_schedule_and_an_extra_question_go_to_the_channel_that_was_picked(sim: Simulated) -> None:
    other = await sim.opened_channel("other", BOT_NEEDS)
    place = {"channel": str(other.id)}
    added = await sim.boss.slash(
        sim.channel, "quiz-admin schedule add", at="10:00", zone="Europe/Berlin", kind="value", **place
    )
    assert "#other" in said(added)
    assert f"<#{other.id}>" in str(messages_of(added)[0].body), "Discord links it"
    sim.moving.now = MONDAY.replace(hour=9)
    await sim.service.tick()
    await sim.carries()
    assert len(questions(other)) == 1
    asked = await sim.boss.slash(sim.channel, "quiz-admin ask", kind="choice", **place)
    assert "Posting an extra question now" in said(asked)
    await sim.carries()
    assert len(questions(other)) == 2 and questions(sim.channel) == []


async def test_a_picked_channel_in_which_the_bot_cannot_post_is_named_with_the_cure(sim: Simulated) -> None:
    closed = await sim.opened_channel("closed", BOT_NEEDS & ~SEND)
    added = await sim.boss.slash(sim.channel, "quiz-admin schedule add", at="10:00", channel=str(closed.id))
    assert "I cannot post in #closed yet" in said(added) and "**Send Messages**" in said(added)


def test_the_option_offers_only_channels_that_take_messages(sim: Simulated) -> None:
    def options(command: dict[str, Any]) -> list[dict[str, Any]]:
        inner = [one for option in command.get("options", ()) for one in options(option)]
        return [*command.get("options", ()), *inner]

    found = [one for command in sim.double.world.commands[0] for one in options(command) if one["name"] == "channel"]
    assert len(found) == 3
    assert all(one["type"] == 7 and one["channel_types"] == [0, 5, 10, 11, 12, 15] for one in found)
