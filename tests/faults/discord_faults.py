"""A team in the Discord double with the real service and bot processes, for fault tests."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import psycopg

from bot.discord.commands import application_commands
from service.store.session import libpq_url
from service.wire import RoundView, Where, Who
from tests.doubles.discord import Discord
from tests.doubles.discord.log import PATIENCE_S
from tests.doubles.discord.world import Channel, Guild, Interaction, Member, Message
from tests.faults.backend import Backend, Bot, Bots, boss_of
from tests.machine import waited_s

CREATE = "POST /channels/{channel_id}/messages"
RESPOND = "POST /interactions/{interaction_id}/{interaction_token}/callback"
EDIT_ORIGINAL = "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original"


@dataclass
class Team:
    """A server with one channel and three members, whose bot can be started and killed."""

    double: Discord
    backend: Backend
    bots: Bots
    guild: Guild
    daily: Channel
    ann: Member
    bob: Member
    boss: Who

    async def starts(self, data: str = "data") -> Bot:
        """Starts a bot and waits until it is connected."""
        before = len(self.double.log.of("ready"))
        bot = await self.bots.start("bot", "discord", data=data)
        bot.reader.add_done_callback(lambda _: self.double.log.add("bot ended"))
        await self.double.until(lambda: len(self.double.log.of("ready")) > before or bot.reader.done(), "ready")
        assert not bot.reader.done(), bot.said
        return bot

    def where(self, channel: Channel) -> Where:
        return Where(channel=str(channel.id), name=channel.name)

    def who(self, member: Member) -> Who:
        return Who(platform="discord", workspace=str(self.guild.id), member=str(member.id), name=member.name)

    async def leaves(self, *channels: Channel) -> list[RoundView]:
        """A round in each channel, its question left in the outbox."""
        return await self.backend.posts_now(self.boss, *map(self.where, channels or (self.daily,)))

    async def posted(self, channel: Channel | None = None, count: int = 1) -> Message:
        """Waits for a channel's questions; returns the newest."""
        channel = channel or self.daily
        await self.double.until(lambda: len(questions(channel)) >= count, f"a question in {channel.name}")
        return questions(channel)[-1]

    async def asks(self) -> Message:
        """Posts a round in the channel; returns its question."""
        await self.leaves()
        return await self.posted()

    async def opens(self, member: Member, question: Message) -> Interaction:
        """Clicks a question's button and waits until the member sees the options or the form."""
        pressed = await self.double.press(member, question, question.buttons["Answer"])
        return await self.double.settled(pressed)

    async def delivered(self, count: int = 1) -> None:
        """Waits until the service has recorded that many questions and reveals as sent."""
        async with await psycopg.AsyncConnection.connect(libpq_url(self.backend.database_url), autocommit=True) as rows:
            done = "select count(*) from outbox where state = 'sent' and kind <> 'notice'"
            again = f"""
                do $$ begin
                    for i in 1..600 loop
                        exit when ({done}) >= {count};
                        perform pg_sleep(0.05);
                    end loop;
                end $$"""
            await rows.execute(again.encode())
            found = await (await rows.execute(done.encode())).fetchone()
        assert found, "a count is a row"
        assert found[0] >= count, self.double.log.tail()

    async def until(self, condition: Callable[[], object], what: str, patience_s: float = PATIENCE_S) -> None:
        """Waits until the condition holds, checking after every event on Discord."""
        await self.double.log.until(condition, what, patience_s)

    def starved_s(self, bot: Bot) -> float:
        """Returns how long a bot and this process have waited for a processor so far, seconds."""
        return waited_s(bot.process.pid) + waited_s(os.getpid())

    def kept_the_rules(self) -> None:
        """Checks that the bot broke none of Discord's rules."""
        assert self.double.violations == []


def questions(channel: Channel) -> list[Message]:
    """Returns the questions posted in a channel."""
    return [message for message in channel.seen() if "Answer" in message.buttons]


def option(private: Interaction) -> tuple[Message, str]:
    """Returns a private card and its first option."""
    assert private.original is not None
    pressable = [custom_id for custom_id in private.original.buttons.values() if custom_id.startswith("o:")]
    return private.original, pressable[0]


def private_of(team: Team, member: Member) -> list[Message]:
    """Returns a member's private messages: ephemeral and direct ones."""
    seen = [message for message in team.daily.seen(member) if message.viewer == member.id]
    return seen + team.double.world.direct(member).seen(member)


@contextlib.asynccontextmanager
async def team_ready(
    backend: Backend, bots: Bots, *only: str, many: int = 0, **double_settings: float
) -> AsyncIterator[Team]:
    """Yields a team with registered commands, and `only` these questions of the test bank or `many` sums."""
    async with Discord(**double_settings) as double:  # type: ignore[arg-type]
        double.register(application_commands())
        guild = double.world.guild("Team")
        daily, ann, bob = guild.channel("daily"), guild.member("Ann"), guild.member("Bob")
        chief = guild.member("Boss", admin=True)
        boss = boss_of("discord", str(guild.id), str(chief.id))
        bots.settings |= {"DISCORD_TOKEN": double.world.token, "DISCORD_API_URL": double.url}
        team = Team(double, backend, bots, guild, daily, ann, bob, boss)
        await backend.client.join(boss, team.where(daily))
        # Greeted before: a greeting goes out at its own time, and would meet what is meant for a question.
        await backend.client.hello(boss, "greeted", team.where(daily))
        await (backend.import_many(boss, many) if many else backend.import_bank(boss, *only))
        try:
            yield team
        finally:
            await bots.clear()
