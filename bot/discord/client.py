"""Runs the Discord bot: the gateway connection, the outbox dispatcher and the journal, drained on shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any, Final, TypeVar

import aiohttp
import discord
import yarl
from discord.abc import GuildChannel

from bot.core.dispatcher import Dispatcher
from bot.core.journal import Journal
from bot.core.links import Links
from bot.core.metrics import CONNECTIONS, count_responses
from bot.core.quiz import Quiz
from bot.discord.access import DiscordChannelAccess
from bot.discord.commands import MANAGE_SERVER, Autocompleter, fetch_commands, register_commands
from bot.discord.greeting import Greeter
from bot.discord.handler import MODAL_WAIT_S, ClockSkew, InteractionHandler
from bot.discord.interactions import RawInteraction
from bot.discord.library import DiscordWebSocket, Route
from bot.discord.mentions import CommandMentions
from bot.discord.platform import DiscordPlatform
from bot.discord.presence import Presence
from bot.discord.rate_limit import RateLimiter
from bot.discord.render import EPHEMERAL
from bot.discord.replies import Replies
from bot.discord.settings import API, DiscordSettings
from bot.pictures import Pictures
from service.client import ServiceClient
from service.process import Clock, CommandFailed, in_background, make_folder
from service.wire import Shards, Who

_LOG = logging.getLogger(__name__)
UNREACHABLE: Final = (aiohttp.ClientError, OSError, TimeoutError, discord.DiscordServerError, discord.GatewayNotFound)
"""Failures that end when the network or Discord is back."""
T = TypeVar("T")
InteractionCallback = Callable[[RawInteraction], Awaitable[None]]
GuildCallback = Callable[[discord.Guild, bool], Awaitable[None]]
"""Called with a server the bot is in; the flag says whether it has just been added."""
JOURNAL: Final = "discord.sqlite"
_JOURNAL_RETENTION: Final = timedelta(days=8)
"""Time for which the ids of answered events are kept."""
_PRUNE_INTERVAL_S: Final = 3600.0
"""Interval at which the journal is pruned, seconds."""
_DRAIN_S: Final = 10.0
"""Longest wait for what is being handled when the connection ends, seconds."""
_CLOSE_S: Final = 5.0
"""Longest wait for the gateway connection to close, seconds."""
_MAX_RECONNECT_PAUSE_S: Final = 60.0
"""Longest pause before the next attempt to connect, seconds."""
_UNKNOWN_MEMBER: Final = frozenset({10004, 10007, 10013, 50001})
"""Error codes of Discord for a member who is not in the server."""
_FATAL: Final = {
    4004: "Discord rejects the token: copy a new one from the developer portal into DISCORD_TOKEN",
    4010: "Discord rejects the shard number: if DISCORD_SHARDS is set, count from 0, in the same way in every process",
    4011: "Discord requires more shards: restart the bot, with more in DISCORD_SHARDS if that is set",
    4013: "Discord rejects the intents. This is a bug: please report it",
    4014: "Discord rejects the intents, though none is privileged: check that the token is this application's",
}
"""Close codes after which reconnecting cannot help. Docs: topics/opcodes-and-status-codes."""


async def serve(
    settings: DiscordSettings, client: ServiceClient, clock: Clock, stop: asyncio.Event, links: Links | None = None
) -> None:
    """Runs the bot until `stop` is set, then finishes what it has begun. Raises CommandFailed for a wrong setup."""
    make_folder(settings.data)
    set_api_url(settings.api_url)
    loop = asyncio.get_running_loop()
    with contextlib.closing(Journal(settings.data / journal_name(settings.own_shards))) as journal:
        failures = 0
        while not stop.is_set():
            begun, ended = loop.time(), "Discord ended the connection"
            try:
                await _run_connection(settings, client, journal, clock, stop, links)
            except (discord.LoginFailure, discord.PrivilegedIntentsRequired, discord.ConnectionClosed) as error:
                _raise_if_permanent(error)
                ended = f"Discord closed the connection: {error}"
            except UNREACHABLE as error:
                ended = f"Discord cannot be reached: {str(error) or type(error).__name__}"
            except Exception:  # reconnect after any failure
                _LOG.exception("the connection to Discord failed")
            if not stop.is_set():
                failures = failures + 1 if loop.time() - begun < _MAX_RECONNECT_PAUSE_S else 1
                pause = min(_MAX_RECONNECT_PAUSE_S, 2.0**failures)
                # One line per attempt: without a network there are many.
                _LOG.warning("%s; connecting again in %g s", ended, pause)
                await _wait(stop, pause)


def journal_name(shards: Shards | None) -> str:
    """Returns the name of the journal. Processes that share a folder must not answer each other's events."""
    return JOURNAL if shards is None else f"discord-{str(shards).replace('/', '-of-')}.sqlite"


def _raise_if_permanent(error: Exception) -> None:
    """Raises CommandFailed if reconnecting cannot help."""
    if isinstance(error, discord.LoginFailure):
        raise CommandFailed(_FATAL[4004]) from error
    if isinstance(error, discord.PrivilegedIntentsRequired):
        raise CommandFailed(_FATAL[4014]) from error
    if isinstance(error, discord.ConnectionClosed) and error.code in _FATAL:
        raise CommandFailed(_FATAL[error.code]) from error


async def _run_connection(
    settings: DiscordSettings,
    client: ServiceClient,
    journal: Journal,
    clock: Clock,
    stop: asyncio.Event,
    links: Links | None,
) -> None:
    """Runs one connection, from login until it ends or `stop` is set."""
    pictures = Pictures()
    shards = settings.own_shards
    app = DiscordApp(
        client, journal, clock, asyncio.get_running_loop().time, shards=shards, links=links, pictures=pictures
    )
    # Each posts to its own servers, whose channels and permissions it knows.
    dispatcher = Dispatcher(client, pictures.with_posts(app.platform), shards=shards)
    try:
        await app.bot.login(settings.bot_token)
        client.application = str(app.bot.application_id or "")
        if shards is None or shards.first == 0:
            # Of several processes, one coordinates: the one that also gets direct messages.
            await _update_commands(app.bot)
        await _learn_commands(app)
        await set_gateway_url(app.bot, settings.api_url)
        async with _gateway_connection(app.bot) as connecting:
            # The dispatcher ends first: the messages it is sending need the connection.
            async with in_background(
                _supervise("dispatcher", dispatcher.run),
                _supervise("journal", lambda: _prune_journal(journal, clock)),
                _supervise("replay", lambda: _replay(app), again=False),
            ):
                await _until_disconnected(connecting, stop)
            await app.bot.finish(_DRAIN_S)
    finally:
        await app.close()
        await pictures.close()


async def _update_commands(bot: discord.Client) -> None:
    """Registers the commands if they differ from the registered ones."""
    try:
        for line in await register_commands(bot.http, str(bot.application_id)):
            _LOG.info("commands: %s", line)
    except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
        _LOG.warning(
            "the commands may be out of date, because Discord did not take the new ones (%s): run "
            "`dailygrad bot discord-sync`",
            error,
        )


async def _learn_commands(app: DiscordApp) -> None:
    """Learns the ids of the registered commands, so that cards mention them."""
    try:
        app.mentions.learn(await fetch_commands(app.bot.http, str(app.bot.application_id)))
    except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
        _LOG.warning("cards name commands without a link, because Discord did not list them: %s", error)


async def _replay(app: DiscordApp) -> None:
    """Answers what a crash left unanswered. Greetings wait for the server list from the gateway."""
    await app.handler.replay()
    await app.bot.wait_until_ready()
    await app.greeter.replay()


async def _prune_journal(journal: Journal, clock: Clock) -> None:
    while True:
        journal.prune(clock() - _JOURNAL_RETENTION)
        await asyncio.sleep(_PRUNE_INTERVAL_S)


async def _supervise(name: str, run: Callable[[], Awaitable[None]], *, again: bool = True) -> None:
    """Runs a loop and restarts it after a failure, with growing pauses."""
    failures = 0
    while True:
        try:
            await run()
        except Exception:  # a failing loop must not end the others
            _LOG.exception("the %s failed", name)
        if not again:
            return
        failures += 1
        await asyncio.sleep(min(_MAX_RECONNECT_PAUSE_S, 2.0**failures))


@contextlib.asynccontextmanager
async def _gateway_connection(bot: discord.Client) -> AsyncIterator[asyncio.Task[None]]:
    """Yields the task of the gateway connection, and ends it within seconds when the block exits.

    The client is closed first: during a reconnect, discord.py swallows a cancellation and would connect forever.
    """
    task = asyncio.create_task(bot.connect())
    try:
        yield task
    finally:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await bot.close()
        task.cancel()
        await asyncio.wait({task}, timeout=_CLOSE_S)


@contextlib.asynccontextmanager
async def _cancelling(task: asyncio.Task[T]) -> AsyncIterator[asyncio.Task[T]]:
    """Yields the task, and cancels it when the block exits."""
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _until_disconnected(connecting: asyncio.Task[None], stop: asyncio.Event) -> None:
    """Waits until `stop` is set or the connection ends. Raises the error that ended it."""
    stopping = asyncio.create_task(stop.wait())
    async with _cancelling(stopping):
        await asyncio.wait({connecting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if connecting.done():
        connecting.result()


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()


async def sync_commands(settings: DiscordSettings) -> list[str]:
    """Registers the commands and describes each change, one line per command. Raises CommandFailed."""
    set_api_url(settings.api_url)
    async with discord.Client(intents=discord.Intents.none()) as client:
        try:
            await client.login(settings.bot_token)
            return await register_commands(client.http, str(settings.application_id or client.application_id))
        except discord.LoginFailure as error:
            raise CommandFailed(_FATAL[4004]) from error
        except discord.HTTPException as error:
            raise CommandFailed(f"Discord rejects the commands: {error}") from error


class DiscordApp:
    """The gateway client together with everything that answers its events.

    `steady` is a monotonic clock, seconds. `links` lets code questions link to the web editor, `pictures` illustrates
    cards. `shards` are those of this process if there are several, and `shard_count` saves asking Discord for it. A
    reply that may open a modal may take `modal_wait_s` seconds.
    """

    def __init__(
        self,
        client: ServiceClient,
        journal: Journal,
        clock: Clock,
        steady: Callable[[], float],
        *,
        shards: Shards | None = None,
        shard_count: int | None = None,
        links: Links | None = None,
        pictures: Pictures | None = None,
        modal_wait_s: float = MODAL_WAIT_S,
    ) -> None:
        self.bot = DiscordBot(shards, shard_count=shard_count, trace=RateLimiter().trace())
        self.mentions = CommandMentions()
        self.replies = Replies(self.mentions)
        self.platform = DiscordPlatform(self.bot, clock, self.mentions)
        quiz = Quiz(client, links, DiscordChannelAccess(self.bot)).handle
        answer = pictures.with_answers(quiz) if pictures else quiz
        self.handler = InteractionHandler(
            answer=answer,
            journal=journal,
            replies=self.replies,
            platform=self.platform,
            autocompleter=Autocompleter(client, clock),
            # Looked up at each call: the library replaces `http` when it logs in.
            fetch=lambda url: self.bot.http.get_from_cdn(url),
            fetch_member=self.bot.fetch_member,
            find_home=lambda member: client.member_home("discord", member),
            clock=clock,
            clock_skew=ClockSkew(steady),
            modal_wait_s=modal_wait_s,
        )
        self.greeter = Greeter(self.bot, answer, journal, self.platform, clock)
        self.bot.handle = self.handler.handle
        self.bot.greet_server = self.greeter.greet_server
        self.bot.presence = Presence(self.bot, client)

    async def close(self) -> None:
        """Disconnects and cancels what is still running; the journal keeps it for the next start."""
        await self.bot.close()
        left = list(self.bot.running)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self.replies.close()


# The gateway


class DiscordBot(discord.AutoShardedClient):
    """The gateway client. Its only intent is `guilds`, and it caches neither members nor messages."""

    def __init__(
        self,
        shards: Shards | None = None,
        *,
        shard_count: int | None = None,
        trace: aiohttp.TraceConfig | None = None,
    ) -> None:
        super().__init__(
            intents=discord.Intents(guilds=True),
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            allowed_mentions=discord.AllowedMentions.none(),
            shard_ids=shards.numbers if shards else None,  # type: ignore[arg-type]  # None is its default
            shard_count=shards.count if shards else shard_count,
            http_trace=count_responses(trace or aiohttp.TraceConfig(), "discord"),
        )
        self.handle: InteractionCallback | None = None
        self.greet_server: GuildCallback | None = None
        self.presence: Presence | None = None
        self.running: set[asyncio.Task[Any]] = set()
        """Interactions and other events being handled now."""

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        if self.handle is not None:
            self._track_task()
            await self.handle(raw_interaction(interaction))

    async def on_guild_join(self, guild: discord.Guild) -> None:
        if self.presence is not None:
            self._track_task()
            await self.presence.report(guild.id)
        await self._report_guild(guild, True)

    async def on_guild_remove(self, guild: discord.Guild) -> None:
        if self.presence is not None:
            self._track_task()
            await self.presence.report(guild.id)

    async def on_guild_channel_update(self, before: GuildChannel, after: GuildChannel) -> None:
        if self.presence is not None:
            self._track_task()
            await self.presence.channel_changed(before, after)

    async def on_guild_role_update(self, before: discord.Role, after: discord.Role) -> None:
        if self.presence is not None:
            self._track_task()
            await self.presence.role_changed(before, after)

    async def on_guild_available(self, guild: discord.Guild) -> None:
        await self._report_guild(guild, False)

    async def on_shard_connect(self, shard_id: int) -> None:
        CONNECTIONS.labels("discord", "made").inc()

    async def on_shard_resumed(self, shard_id: int) -> None:
        CONNECTIONS.labels("discord", "resumed").inc()

    async def on_shard_disconnect(self, shard_id: int) -> None:
        CONNECTIONS.labels("discord", "lost").inc()

    async def on_shard_ready(self, shard_id: int) -> None:
        # Sent at every start and after every lost session; the only sign of servers joined or left while the bot was
        # away. discord.py waits two seconds for the servers, and the bot may have ended meanwhile.
        if self.is_closed():
            return
        if self.presence is not None:
            self._track_task()
            await self.presence.compare(shard_id)
        for guild in [guild for guild in self.guilds if guild.shard_id == shard_id and not guild.unavailable]:
            await self._report_guild(guild, False)

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        _LOG.exception("%s failed", event_method)

    async def fetch_member(self, who: Who) -> Who | None:
        """Fetches a member's current name and rights; None if they have left the server."""
        try:
            found = await self.http.get_member(int(who.workspace), int(who.member))
        except discord.HTTPException as error:
            if error.code in _UNKNOWN_MEMBER:
                return None
            _LOG.warning("cannot fetch member %s, so they are not treated as an admin: %s", who.member, error)
            return who.model_copy(update={"admin": False})
        guild = self.get_guild(int(who.workspace))
        admin = guild is not None and _manages(guild, who.member, found["roles"])
        user = found["user"]
        name = found.get("nick") or user.get("global_name") or user["username"]
        return who.model_copy(update={"admin": admin, "name": name[:80]})

    async def finish(self, within_s: float) -> None:
        """Waits up to `within_s` seconds for what is being handled now."""
        left = {task for task in self.running if task is not asyncio.current_task()}
        if left:
            await asyncio.wait(left, timeout=within_s)

    async def _report_guild(self, guild: discord.Guild, added: bool) -> None:
        if self.greet_server is not None:
            self._track_task()
            await self.greet_server(guild, added)

    def _track_task(self) -> None:
        task = asyncio.current_task()
        if task is not None:
            self.running.add(task)
            task.add_done_callback(self.running.discard)


def raw_interaction(interaction: discord.Interaction) -> RawInteraction:
    """Converts the library's interaction to plain data."""
    channel, user, message = interaction.channel, interaction.user, interaction.message
    # A member uses the app in a server that did not install it: they installed it for themselves.
    here = interaction.is_guild_integration()
    thread, thread_name = "", ""
    if isinstance(channel, discord.Thread):
        channel_id, channel_name = channel.parent_id, channel.parent.name if channel.parent else ""
        # A round's thread, which the bot started, is never a channel of its own.
        if interaction.client.user is None or channel.owner_id != interaction.client.user.id:
            thread, thread_name = str(channel.id), f"#{channel.name}"
    else:
        channel_id, channel_name = interaction.channel_id or 0, getattr(channel, "name", None) or ""
    return RawInteraction(
        id=str(interaction.id),
        token=interaction.token,
        application=str(interaction.application_id),
        kind=interaction.type.value,
        data=dict(interaction.data or {}),
        guild=str(interaction.guild_id or "") if here else "",
        channel=str(channel_id) if here and channel_id else "",
        channel_name=f"#{channel_name}" if channel_name else "",
        thread=thread if here else "",
        thread_name=thread_name,
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


def set_api_url(api_url: str) -> None:
    """Makes the library use that REST API, for the whole process."""
    Route.BASE = api_url


async def set_gateway_url(bot: discord.Client, api_url: str) -> None:
    """Makes reconnections use that API's gateway too: the library asks for its address only once."""
    if api_url != API:
        _, url, _ = await bot.http.get_bot_gateway()
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(url)
