"""Two processes with one shard each: each has its own servers, posts there, and one of them coordinates."""

from __future__ import annotations

import json

import pytest

from bot.discord.commands import application_commands
from service.wire import Where
from tests.doubles.discord import Discord
from tests.doubles.discord.world import Guild
from tests.faults.backend import Backend, Bot, Bots, boss_of
from tests.faults.discord_faults import questions

pytestmark = pytest.mark.slow
PROCESSES = 2


def guild_of(double: Discord, shard: int) -> Guild:
    """Adds a server that belongs to this shard."""
    guild = double.world.guild(f"Server of shard {shard}")
    del double.world.guilds[guild.id]
    while (guild.id >> 22) % PROCESSES != shard:
        guild.id -= 1 << 22
    double.world.guilds[guild.id] = guild
    return guild


def delivered_to(bot: Bot) -> set[str]:
    """Returns the servers to which a process delivered messages, by its log."""
    lines = [json.loads(line) for line in bot.said.splitlines() if line.startswith("{")]
    return {line["workspace"] for line in lines if line["message"] == "message delivered"}


async def test_each_process_serves_its_own_servers_and_one_coordinates(backend: Backend, bots: Bots) -> None:
    async with Discord(shards=PROCESSES) as double:
        bots.settings |= {"DISCORD_TOKEN": double.world.token, "DISCORD_API_URL": double.url}
        guilds = [guild_of(double, shard) for shard in range(PROCESSES)]
        channels = [guild.channel("daily") for guild in guilds]
        members = [guild.member("Ann") for guild in guilds]
        bosses = [boss_of("discord", str(guild.id), str(guild.member("Boss", admin=True).id)) for guild in guilds]
        places = [Where(channel=str(channel.id), name=channel.name) for channel in channels]
        for boss, place in zip(bosses, places, strict=True):
            await backend.client.join(boss, place)
            await backend.client.hello(boss, "greeted", place)
            await backend.import_bank(boss)
        running = [await bots.start("bot", "discord", "--shards", f"{shard}/{PROCESSES}") for shard in range(PROCESSES)]
        await double.until(lambda: len(double.log.of("ready")) == PROCESSES, "ready")
        assert {one["shard"] for one in double.log.of("identify")} == {(0, 2), (1, 2)}
        assert len(double.log.of("commands")) == 1, "one process registers the commands"
        assert {one["name"] for one in double.world.commands[0]} == {one["name"] for one in application_commands()}

        for boss, place in zip(bosses, places, strict=True):
            await backend.posts_now(boss, place)
        await double.until(lambda: all(questions(channel) for channel in channels), "a question in each server")
        for channel, member in zip(channels, members, strict=True):
            (question,) = questions(channel)
            opened = await double.settled(await double.press(member, question, question.buttons["Answer"]))
            assert opened.original is not None or opened.modal is not None
        for bot, guild in zip(running, guilds, strict=True):
            await bot.says(r'"message delivered"')
            assert delivered_to(bot) == {str(guild.id)}

        await running[1].kill()
        for boss, place in zip(bosses, places, strict=True):
            await backend.posts_now(boss, place)
        await double.until(lambda: len(questions(channels[0])) == 2, "the next question of shard 0")
        assert len(questions(channels[1])) == 1, "no process posts where another one's shard is"
        await bots.start("bot", "discord", "--shards", "1/2")
        await double.until(lambda: len(questions(channels[1])) == 2, "the next question of shard 1")
        assert double.violations == []
