"""Discord, put together and run: gateway, courier, journal, all supervised and drained when asked to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timedelta
from typing import Final, TypeVar

import discord

from bot.core.courier import Courier
from bot.core.journal import Journal
from bot.core.links import Links
from bot.core.quiz import Quiz
from bot.pictures import Pictures
from bot.platforms.discord.client import DiscordBot, learn_gateway, point_at
from bot.platforms.discord.desk import Desk
from bot.platforms.discord.greeting import Greeter
from bot.platforms.discord.lateness import Lateness
from bot.platforms.discord.pace import Pace
from bot.platforms.discord.platform import DiscordPlatform
from bot.platforms.discord.registration import sync
from bot.platforms.discord.replies import Replies
from bot.platforms.discord.settings import DiscordSettings
from bot.platforms.discord.suggesting import Suggester
from service.client import ServiceClient
from service.process import Refused

_LOG = logging.getLogger(__name__)

T = TypeVar("T")

Clock = Callable[[], datetime]

JOURNAL: Final = "discord.sqlite"
_REMEMBERED: Final = timedelta(days=8)
_TIDY_S: Final = 3600.0
_DRAIN_S: Final = 10.0
_LONGEST_WAIT_S: Final = 60.0
# Closing codes after which the same again changes nothing: docs, topics/opcodes-and-status-codes.
_FATAL: Final = {
    4004: "Discord does not accept the token: copy it anew from the developer portal into DISCORD_TOKEN",
    4010: "Discord refuses the shard; that is our fault: please report it",
    4011: "Discord wants more shards than it said; start the bot again",
    4013: "Discord refuses the intents; that is our fault: please report it",
    4014: "Discord refuses the intents: the bot asks for none that need leave, so check which application it is",
}


class Connected:
    """A client with all that answers what it hears.

    `steady` counts seconds, for what depends on how much time passed; with `links` code questions lead to the web
    editor, and with `pictures` cards have them; `shard_count` is for where Discord must not be asked for it.
    """

    def __init__(
        self,
        client: ServiceClient,
        journal: Journal,
        clock: Clock,
        steady: Callable[[], float],
        *,
        shard_count: int | None = None,
        links: Links | None = None,
        pictures: Pictures | None = None,
    ) -> None:
        self.bot = DiscordBot(shard_count=shard_count, trace=Pace().trace())
        self.replies = Replies()
        self.platform = DiscordPlatform(self.bot, clock)
        quiz = Quiz(client, links).handle
        answer = pictures.answering(quiz) if pictures else quiz
        self.desk = Desk(
            answer=answer,
            journal=journal,
            replies=self.replies,
            platform=self.platform,
            suggester=Suggester(client, clock),
            # The client's own `http` may be changed until it is logged in.
            fetch=lambda url: self.bot.http.get_from_cdn(url),
            who_is=self.bot.who_is,
            clock=clock,
            lateness=Lateness(steady),
        )
        self.greeter = Greeter(self.bot, answer, journal, self.platform, clock)
        self.bot.hear = self.desk.hear
        self.bot.welcome = self.greeter.welcome

    async def close(self) -> None:
        """Leave Discord; what is still under way stays in the journal."""
        await self.bot.close()
        left = list(self.bot.under_way)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self.replies.close()


async def serve(
    settings: DiscordSettings, client: ServiceClient, clock: Clock, stop: asyncio.Event, links: Links | None = None
) -> None:
    """Be on Discord until `stop` is set; then finish what was begun. Raises Refused for what only people can mend."""
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    point_at(settings.api_url)
    loop = asyncio.get_running_loop()
    with contextlib.closing(Journal(settings.data / JOURNAL)) as journal:
        failures = 0
        while not stop.is_set():
            begun = loop.time()
            try:
                await _live(settings, client, journal, clock, stop, links)
            except (discord.LoginFailure, discord.PrivilegedIntentsRequired, discord.ConnectionClosed) as error:
                _refuse(error)
                _LOG.warning("Discord closed the connection: %s", error)
            except Exception:  # whatever ended it, people wait for the quiz: begin anew
                _LOG.exception("the connection to Discord failed")
            if not stop.is_set():
                failures = failures + 1 if loop.time() - begun < _LONGEST_WAIT_S else 1
                await _wait(stop, min(_LONGEST_WAIT_S, 2.0**failures))


def _refuse(error: Exception) -> None:
    """Raises Refused where beginning anew would change nothing."""
    if isinstance(error, discord.LoginFailure):
        raise Refused(_FATAL[4004]) from error
    if isinstance(error, discord.PrivilegedIntentsRequired):
        raise Refused(_FATAL[4014]) from error
    if isinstance(error, discord.ConnectionClosed) and error.code in _FATAL:
        raise Refused(_FATAL[error.code]) from error


async def _live(
    settings: DiscordSettings,
    client: ServiceClient,
    journal: Journal,
    clock: Clock,
    stop: asyncio.Event,
    links: Links | None,
) -> None:
    """One connection, from login until it ends or we are asked to stop."""
    pictures = Pictures()
    connected = Connected(client, journal, clock, asyncio.get_running_loop().time, links=links, pictures=pictures)
    courier = Courier(client, pictures.posting(connected.platform))
    try:
        await connected.bot.login(settings.bot_token)
        await learn_gateway(connected.bot, settings.api_url)
        async with _ending(asyncio.create_task(connected.bot.connect())) as connecting:
            # The courier ends first: what it has in hand needs the connection.
            async with _tasks(
                _kept_up("courier", courier.run),
                _kept_up("journal", lambda: _tidy(journal, clock)),
                _kept_up("replay", lambda: _replay(connected), again=False),
            ):
                await _first(connecting, stop)
            await connected.bot.finish(_DRAIN_S)
    finally:
        await connected.close()
        await pictures.close()


@contextlib.asynccontextmanager
async def _ending(task: asyncio.Task[T]) -> AsyncIterator[asyncio.Task[T]]:
    """The task, which ends with the block."""
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _first(connecting: asyncio.Task[None], stop: asyncio.Event) -> None:
    """Wait until we are asked to stop or the connection ends; raises what ended it."""
    stopping = asyncio.create_task(stop.wait())
    async with _ending(stopping):
        await asyncio.wait({connecting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if connecting.done():
        connecting.result()


async def _replay(connected: Connected) -> None:
    """Answer what a crash left; greetings need to know the servers, which the gateway tells."""
    await connected.desk.replay()
    await connected.bot.wait_until_ready()
    await connected.greeter.replay()


async def _tidy(journal: Journal, clock: Clock) -> None:
    while True:
        journal.forget(clock() - _REMEMBERED)
        await asyncio.sleep(_TIDY_S)


async def _kept_up(name: str, run: Callable[[], Awaitable[None]], *, again: bool = True) -> None:
    """Run it, and once more after it failed."""
    failures = 0
    while True:
        try:
            await run()
        except Exception:  # one loop's fault must not end the others
            _LOG.exception("the %s failed", name)
        if not again:
            return
        failures += 1
        await asyncio.sleep(min(_LONGEST_WAIT_S, 2.0**failures))


@contextlib.asynccontextmanager
async def _tasks(*loops: Awaitable[None]) -> AsyncIterator[None]:
    """Loops at work until the block ends; each may finish what it has in hand."""
    tasks = [asyncio.ensure_future(loop) for loop in loops]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()


async def sync_commands(settings: DiscordSettings) -> list[str]:
    """Tell Discord of the commands; a line for each that is new, changed or gone. Raises Refused."""
    point_at(settings.api_url)
    async with discord.Client(intents=discord.Intents.none()) as client:
        try:
            await client.login(settings.bot_token)
            return await sync(client.http, str(settings.application_id or client.application_id))
        except discord.LoginFailure as error:
            raise Refused(_FATAL[4004]) from error
        except discord.HTTPException as error:
            raise Refused(f"Discord refuses the commands: {error}") from error
