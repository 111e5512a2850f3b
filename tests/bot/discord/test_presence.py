"""A bot that may post again, or was removed, tells the service, which posts what waited or stops the schedules."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import suppress

from sqlalchemy import select
from starlette.types import Receive, Scope, Send

from bot.discord.presence import Presence
from service.client import ServiceClient
from service.store.tables import Chat
from tests.bot.discord.simulated import Simulated, said
from tests.conftest import TOKEN
from tests.doubles.discord.world import BOT_NEEDS, EMBED, Message


def posts(sim: Simulated) -> list[Message]:
    """Returns the questions in the channel."""
    return [message for message in sim.channel.seen() if "Question for" in message.text]


async def is_away(sim: Simulated) -> bool:
    """Returns whether the service knows that the bot left the server."""
    await sim.app.bot.finish(10)
    async with sim.service.sessions() as session:
        return (await session.scalars(select(Chat))).one().left_at is not None


async def heard(sim: Simulated, event: str, happening: Awaitable[None]) -> None:
    """Lets something happen and waits until the bot has handled its event."""
    await reached(sim, event, happening)
    await sim.app.bot.finish(10)


async def reached(sim: Simulated, event: str, happening: Awaitable[None]) -> None:
    """Lets something happen and waits until the bot begins to handle its event."""
    waiting = sim.app.bot.wait_for(event, timeout=60)
    await happening
    await waiting
    await asyncio.sleep(0)  # From Python 3.12 on, whoever waits for an event is woken before its handler.


async def test_a_refused_question_is_posted_when_the_bot_gets_the_permission(sim: Simulated) -> None:
    await heard(sim, "guild_channel_update", sim.double.permits(sim.channel, 0))
    await sim.starts("one-right")
    assert posts(sim) == []
    assert await sim.carries() == 0
    await heard(sim, "guild_channel_update", sim.double.permits(sim.channel, BOT_NEEDS))
    await sim.carries()
    assert len(posts(sim)) == 1


async def test_a_removed_bot_stops_its_schedules_until_it_is_back(sim: Simulated) -> None:
    await sim.starts("one-right")
    await heard(sim, "guild_remove", sim.double.leaves(sim.guild))
    assert await is_away(sim)
    await heard(sim, "guild_join", sim.double.joins(sim.guild))
    assert not await is_away(sim)


async def test_a_slow_report_is_not_overtaken(sim: Simulated) -> None:
    await sim.starts("one-right")
    calls: list[str] = []
    second = asyncio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        """The service, whose first call takes until another is answered, or half a second."""
        calls.append(scope["path"])
        if len(calls) == 1:
            with suppress(TimeoutError):
                await asyncio.wait_for(second.wait(), 0.5)
        await sim.service.api(scope, receive, send)
        if len(calls) > 1:
            second.set()

    async with ServiceClient.inside(slow, TOKEN) as client:
        sim.app.bot.presence = Presence(sim.app.bot, client)
        await reached(sim, "guild_remove", sim.double.leaves(sim.guild))
        await reached(sim, "guild_join", sim.double.joins(sim.guild))
        assert not await is_away(sim)
    assert len(calls) == 2


async def test_a_bot_removed_while_it_was_away_notices_at_its_start(sim: Simulated) -> None:
    await sim.starts("one-right")
    guild = sim.double.world.guilds.pop(sim.guild.id)
    await sim.restarts()
    assert await is_away(sim)
    sim.double.world.guilds[guild.id] = guild
    await sim.restarts()
    assert not await is_away(sim)


async def test_a_shard_that_is_ready_only_after_the_end_is_not_compared(sim: Simulated) -> None:
    await sim.starts("one-right")
    bot = sim.app.bot
    await bot.close()
    sim.double.world.guilds.pop(sim.guild.id)
    bot._connection._guilds.clear()
    await bot.on_shard_ready(0)
    assert not await is_away(sim)


async def test_the_setup_and_the_doctor_name_missing_permissions(sim: Simulated) -> None:
    closed = await sim.opened_channel("closed", BOT_NEEDS & ~EMBED)
    asked = said(await sim.boss.slash(closed, "quiz-admin setup"))
    assert "I lack **Embed Links** there." in asked
    assert "Join the channel" not in asked
    added = said(await sim.boss.slash(closed, "quiz-admin schedule add", at="09:00"))
    assert "I lack **Embed Links** there." in added
    assert "posting in #closed" in said(await sim.boss.slash(sim.channel, "quiz-admin doctor"))
    await heard(sim, "guild_channel_update", sim.double.permits(closed, BOT_NEEDS))
    assert "posting in #closed" not in said(await sim.boss.slash(sim.channel, "quiz-admin doctor"))
    assert "I lack" not in said(await sim.boss.slash(closed, "quiz-admin setup"))
