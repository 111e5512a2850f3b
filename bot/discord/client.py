"""Discord, put together and run: gateway, courier, journal, all supervised and drained when asked to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from bot.core.dispatcher import Dispatcher
from bot.core.journal import Journal
from bot.core.links import Links
from bot.core.metrics import CONNECTIONS, count_responses
from bot.core.quiz import Quiz
from bot.discord.commands import MANAGE_SERVER, Suggester, sync
from bot.discord.greeting import Greeter
from bot.discord.handler import ClockSkew, InteractionHandler
from bot.discord.interactions import RawInteraction
from bot.discord.platform import DiscordPlatform
from bot.discord.rate_limit import Pace
from bot.discord.render import EPHEMERAL
from bot.discord.replies import Replies
from bot.discord.settings import API, DiscordSettings
from bot.pictures import Pictures
from service.client import ServiceClient
from service.process import CommandFailed
from service.wire import Who

# The connection to Discord's gateway: what it brings is handed on, and nothing is kept. It answers nothing itself.


Hear = Callable[[RawInteraction], Awaitable[None]]
Welcome = Callable[[discord.Guild, bool], Awaitable[None]]
"""Called with a server the bot is in; the flag says that it was added at this moment."""

_UNKNOWN_MEMBER: Final = frozenset({10004, 10007, 10013, 50001})


class DiscordBot(discord.AutoShardedClient):
    """Hears interactions and servers joined. The one intent is `guilds`, and neither members nor messages are kept."""

    def __init__(self, *, shard_count: int | None = None, trace: aiohttp.TraceConfig | None = None) -> None:
        super().__init__(
            intents=discord.Intents(guilds=True),
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            allowed_mentions=discord.AllowedMentions.none(),
            shard_count=shard_count,
            http_trace=count_responses(trace or aiohttp.TraceConfig(), "discord"),
        )
        self.hear: Hear | None = None
        self.welcome: Welcome | None = None
        self.under_way: set[asyncio.Task[Any]] = set()
        """Everything that is being answered now."""

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        if self.hear is not None:
            self._hold()
            await self.hear(heard(interaction))

    async def on_guild_join(self, guild: discord.Guild) -> None:
        await self._meet(guild, True)

    async def on_guild_available(self, guild: discord.Guild) -> None:
        await self._meet(guild, False)

    async def on_shard_connect(self, shard_id: int) -> None:
        CONNECTIONS.labels("discord", "made").inc()

    async def on_shard_resumed(self, shard_id: int) -> None:
        CONNECTIONS.labels("discord", "resumed").inc()

    async def on_shard_disconnect(self, shard_id: int) -> None:
        CONNECTIONS.labels("discord", "lost").inc()

    async def on_shard_ready(self, shard_id: int) -> None:
        # Said at every start and after every lost session: all that is heard of servers joined while we were away.
        for guild in [guild for guild in self.guilds if guild.shard_id == shard_id and not guild.unavailable]:
            await self._meet(guild, False)

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        _LOG.exception("%s failed", event_method)

    async def who_is(self, who: Who) -> Who | None:
        """A member as the server knows them now; None when they are in it no more."""
        try:
            found = await self.http.get_member(int(who.workspace), int(who.member))
        except discord.HTTPException as error:
            if error.code in _UNKNOWN_MEMBER:
                return None
            _LOG.warning("%s is taken for no admin, for Discord will not say: %s", who.member, error)
            return who
        guild = self.get_guild(int(who.workspace))
        admin = guild is not None and _manages(guild, who.member, found["roles"])
        user = found["user"]
        name = found.get("nick") or user.get("global_name") or user["username"]
        return who.model_copy(update={"admin": admin, "name": name[:80]})

    async def finish(self, within_s: float) -> None:
        """Wait until what is under way now is answered."""
        left = {task for task in self.under_way if task is not asyncio.current_task()}
        if left:
            await asyncio.wait(left, timeout=within_s)

    async def _meet(self, guild: discord.Guild, added: bool) -> None:
        if self.welcome is not None:
            self._hold()
            await self.welcome(guild, added)

    def _hold(self) -> None:
        task = asyncio.current_task()
        if task is not None:
            self.under_way.add(task)
            task.add_done_callback(self.under_way.discard)


def heard(interaction: discord.Interaction) -> RawInteraction:
    """An interaction without the library."""
    channel, user, message = interaction.channel, interaction.user, interaction.message
    if isinstance(channel, discord.Thread):
        # A round's thread belongs to its channel.
        channel_id, channel_name = channel.parent_id, channel.parent.name if channel.parent else ""
    else:
        channel_id, channel_name = interaction.channel_id or 0, getattr(channel, "name", None) or ""
    return RawInteraction(
        id=str(interaction.id),
        token=interaction.token,
        application=str(interaction.application_id),
        kind=interaction.type.value,
        data=dict(interaction.data or {}),
        guild=str(interaction.guild_id or ""),
        channel=str(channel_id) if interaction.guild_id and channel_id else "",
        channel_name=f"#{channel_name}" if channel_name else "",
        member=str(user.id),
        name=user.display_name,
        admin=interaction.permissions.manage_guild or interaction.permissions.administrator,
        private=message is not None and bool(message.flags.value & EPHEMERAL),
    )


def _manages(guild: discord.Guild, member: str, roles: list[Any]) -> bool:
    if str(guild.owner_id) == member:
        return True
    held = [guild.default_role, *(role for each in roles if (role := guild.get_role(int(each))))]
    return any(role.permissions.value & MANAGE_SERVER or role.permissions.administrator for role in held)


def point_at(api_url: str) -> None:
    """Have the library speak to that REST API; for the whole process."""
    Route.BASE = api_url


async def learn_gateway(bot: discord.Client, api_url: str) -> None:
    """Have reconnections go where that API's gateway is, too: the library asks only at the first."""
    if api_url != API:
        _, url, _ = await bot.http.get_bot_gateway()
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(url)


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
        self.desk = InteractionHandler(
            answer=answer,
            journal=journal,
            replies=self.replies,
            platform=self.platform,
            suggester=Suggester(client, clock),
            # The client's own `http` may be changed until it is logged in.
            fetch=lambda url: self.bot.http.get_from_cdn(url),
            who_is=self.bot.who_is,
            clock=clock,
            lateness=ClockSkew(steady),
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
        raise CommandFailed(_FATAL[4004]) from error
    if isinstance(error, discord.PrivilegedIntentsRequired):
        raise CommandFailed(_FATAL[4014]) from error
    if isinstance(error, discord.ConnectionClosed) and error.code in _FATAL:
        raise CommandFailed(_FATAL[error.code]) from error


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
    courier = Dispatcher(client, pictures.posting(connected.platform))
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
            raise CommandFailed(_FATAL[4004]) from error
        except discord.HTTPException as error:
            raise CommandFailed(f"Discord refuses the commands: {error}") from error
