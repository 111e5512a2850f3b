"""The commands that start a chat in front of a service: `dailygrad bot web`, `console`, `discord`, `slack`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from bot import console as console_chat
from bot import web as web_chat
from bot.core.command_parser import suggest
from bot.core.dispatcher import Dispatcher
from bot.core.links import Links, hosts_of
from bot.core.quiz import Quiz
from bot.doctor.checks import CheckResult, examine_links, examine_service
from bot.settings import BotSettings, LinkSettings, settings_read
from service.client import ServiceClient
from service.heartbeat import send_heartbeats
from service.logs import hide_settings, log_to
from service.metrics import built, exposed
from service.process import CommandFailed, listening, now, out, served, stop_signal, until

Presence = Callable[[ServiceClient, asyncio.Event, Links | None, Path], Awaitable[None]]
"""Is in a chat until the event is set, and keeps what it must in the folder."""

bot_command = typer.Typer(help="Start a chat in front of a service.", no_args_is_help=True)


@contextlib.asynccontextmanager
async def web_ready(
    data: Path, client: ServiceClient, listener: socket.socket, links: LinkSettings, hosts: Collection[str] = ()
) -> AsyncIterator[str]:
    """The web chat, and with it the editor of links where there are any, serving on the listener; its address."""
    with contextlib.closing(web_chat.ChatStore(data / "webchat.sqlite")) as store:
        chat = web_chat.WebChat(store, now)
        answer = Quiz(client).handle
        linked = web_chat.LinkedEditor(links.links, client, answer, now) if links.links is not None else None
        app = web_chat.build(chat, answer, suggest, (*hosts, *hosts_of(links.link_url)), linked, client.operations)
        async with carried(Dispatcher(client, chat)), served(app, listener, chat.close):
            yield _address(listener)


@contextlib.asynccontextmanager
async def editor_ready(
    client: ServiceClient, listener: socket.socket, settings: LinkSettings, hosts: Collection[str] = ()
) -> AsyncIterator[str]:
    """The editor of links alone, serving on the listener; its address. Raises Refused where there are no links."""
    if settings.links is None:
        raise CommandFailed("there are no links to serve: set DAILYGRAD_LINK_URL and DAILYGRAD_LINK_SECRET")
    linked = web_chat.LinkedEditor(settings.links, client, Quiz(client).handle, now)
    app = web_chat.build_linked(linked, (*hosts, *hosts_of(settings.link_url)))
    async with served(app, listener, lambda: None):
        yield _address(listener)


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{host}:{port}"


async def console_until_end(data: Path, client: ServiceClient) -> None:
    """Chat on this terminal until its input ends. A pipe gets its own lines echoed, so that it is a transcript."""
    piped = not sys.stdin.isatty()
    with console_chat.ConsoleStore(data / "console.sqlite") as store:
        await console_chat.run_console(
            client,
            clock=now,
            lines=console_chat.stdin_lines(),
            write=console_chat.stdout_write,
            store=store,
            width=min(100, out.width),
            echo=piped,
        )


@contextlib.asynccontextmanager
async def carried(courier: Dispatcher) -> AsyncIterator[None]:
    """The courier at work until the block ends; then it finishes what it has in hand."""
    task = asyncio.create_task(courier.run())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@bot_command.command("web")
def bot_web(
    links_only: Annotated[
        bool, typer.Option("--links-only", help="Serve only the editor that links in other chats open.")
    ] = False,
) -> None:
    """Start the web chat, and with it the editor that links in other chats open.

    Settings: DAILYGRAD_SERVICE_URL, …SERVICE_TOKEN, …WEB_HOST, …WEB_PORT, …WEB_HOSTS, …DATA, …LINK_URL, …LINK_SECRET.
    """
    settings = settings_read(BotSettings)
    hide_settings(settings)
    log_to(None, settings.log_level)
    asyncio.run(_bot_web(settings, links_only))


async def _bot_web(settings: BotSettings, links_only: bool) -> None:
    stop = stop_signal()
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Whoever is sent to this address would not find another port.
    with listening(settings.web_host, settings.web_port, tries=1, named_by="DAILYGRAD_WEB_PORT") as listener:
        async with contextlib.AsyncExitStack() as stack:
            client = await stack.enter_async_context(service_client(settings))
            await stack.enter_async_context(metrics_page(settings))
            hosts = settings.web_hosts.split()
            if links_only:
                address = await stack.enter_async_context(editor_ready(client, listener, settings, hosts))
                out.print(f"The editor of {settings.link_url} is at {address}")
            else:
                web = web_ready(settings.data, client, listener, settings, hosts)
                out.print(f"The web chat is at {await stack.enter_async_context(web)}")
            await stop.wait()


@bot_command.command("console")
def bot_console() -> None:
    """Chat on this terminal. Settings: DAILYGRAD_SERVICE_URL, DAILYGRAD_SERVICE_TOKEN."""
    asyncio.run(_bot_console(settings_read(BotSettings)))


async def _bot_console(settings: BotSettings) -> None:
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with service_client(settings) as client:
        await until(stop_signal(), console_until_end(settings.data, client))


@bot_command.command("discord")
def bot_discord() -> None:
    """Be on Discord, in every server the bot is added to.

    Settings: DISCORD_TOKEN (or …_FILE), DISCORD_API_URL, DISCORD_APPLICATION_ID; DAILYGRAD_SERVICE_URL,
    …SERVICE_TOKEN, …DATA, …LINK_URL, …LINK_SECRET.
    """
    _bot_elsewhere("discord")


@bot_command.command("discord-sync")
def bot_discord_sync() -> None:
    """Tell Discord of the commands; once per release is enough. Settings: DISCORD_TOKEN, DISCORD_API_URL."""
    with installed("discord"):
        from bot.discord.client import sync_commands
        from bot.discord.settings import read_discord_settings
    changed = asyncio.run(sync_commands(read_discord_settings()))
    out.print("\n".join(f"  {line}" for line in changed) or "  Discord knows every command as it is", markup=False)


@bot_command.command("slack")
def bot_slack() -> None:
    """Be on Slack, by Socket Mode or by signed HTTP, as the settings say.

    Settings: SLACK_BOT_TOKEN and SLACK_APP_TOKEN for Socket Mode; SLACK_SIGNING_SECRET and DAILYGRAD_SLACK_PORT for
    HTTP; SLACK_CLIENT_ID and SLACK_CLIENT_SECRET for many workspaces; SLACK_API_URL; DAILYGRAD_SLACK_MANAGERS,
    …SERVICE_URL, …SERVICE_TOKEN, …DATA, …LINK_URL, …LINK_SECRET. Each secret may be in a file: …_FILE.
    """
    _bot_elsewhere("slack")


def _bot_elsewhere(chat: str) -> None:
    be_there, ours = presence(chat), settings_read(BotSettings)
    hide_settings(ours)
    log_to(None, ours.log_level)
    asyncio.run(_on(ours, be_there))


async def _on(settings: BotSettings, be_there: Presence) -> None:
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with service_client(settings) as client, metrics_page(settings), send_heartbeats():
        await be_there(client, stop_signal(), settings.links, settings.data)


def presence(chat: str) -> Presence:
    """What is on Discord or Slack until it is asked to stop, with its settings read. Raises Refused."""
    return _on_discord() if chat == "discord" else _on_slack()


def _on_discord() -> Presence:
    with installed("discord"):
        from bot.discord.client import serve
        from bot.discord.settings import read_discord_settings
    settings = read_discord_settings()
    hide_settings(settings)

    async def be_there(client: ServiceClient, stop: asyncio.Event, links: Links | None, data: Path) -> None:
        await serve(settings.model_copy(update={"data": data}), client, now, stop, links)

    return be_there


def _on_slack() -> Presence:
    with installed("slack"):
        from bot.slack.app import serve
        from bot.slack.auth import TokenRejected
        from bot.slack.settings import SlackSettings
        from bot.slack.socket import SocketFailed
    settings = settings_read(SlackSettings)
    hide_settings(settings)

    async def be_there(client: ServiceClient, stop: asyncio.Event, links: Links | None, data: Path) -> None:
        try:
            await serve(settings.model_copy(update={"data": data}), client, now, stop, links)
        except (SocketFailed, TokenRejected) as problem:
            raise CommandFailed(str(problem)) from None

    return be_there


@bot_command.command("slack-manifest")
def bot_slack_manifest(
    http: Annotated[
        str, typer.Option(metavar="URL", help="Where our server is reached, for signed HTTP; else Socket Mode.")
    ] = "",
) -> None:
    """Print the manifest a Slack app is made from."""
    with installed("slack"):
        from bot.slack.manifest import app_manifest
    if http and not http.startswith("https://"):
        raise typer.BadParameter("Slack sends to addresses that begin with https://", param_hint="--http")
    sys.stdout.write(json.dumps(app_manifest(http), indent=2, ensure_ascii=False) + "\n")


async def chat_findings(chat: str) -> list[CheckResult]:
    """What `dailygrad doctor discord` or `doctor slack` found. Raises Refused where the chat's packages are missing."""
    with installed(chat):
        if chat == "discord":
            from bot.discord.settings import read_discord_settings
            from bot.doctor.discord import examine_discord
        else:
            from bot.doctor.slack import examine_slack
            from bot.slack.settings import SlackSettings
    async with contextlib.AsyncExitStack() as stack:
        try:
            service = await stack.enter_async_context(service_client(settings_read(BotSettings))) if _named() else None
            if chat == "discord":
                found = examine_discord(read_discord_settings(), service, now)
            else:
                found = examine_slack(settings_read(SlackSettings), service, now, config_token=_config_token())
            return [finding async for finding in found]
        except CommandFailed as refused:
            return [CheckResult(False, f"settings: {refused}")]


def _named() -> bool:
    """Whether a service is named; `dailygrad run` has its own, which nobody else can ask."""
    return any(os.environ.get(f"DAILYGRAD_SERVICE_{name}") for name in ("URL", "TOKEN", "TOKEN_FILE"))


def _config_token() -> str:
    return os.environ.get("SLACK_CONFIG_TOKEN", "").strip()


@contextlib.contextmanager
def installed(chat: str) -> Iterator[None]:
    """For imports of what only one chat needs. Raises Refused with the cure where a package of it is missing."""
    try:
        yield
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] in ("bot", "service"):
            raise
        raise CommandFailed(
            f"{chat.capitalize()} needs {missing.name}, which is not installed: pip install 'dailygrad[{chat}]', "
            f"or in a checkout .venv/bin/pip install -e '.[{chat}]'"
        ) from None


def metrics_page(settings: BotSettings) -> contextlib.AbstractAsyncContextManager[str]:
    """The metrics of this process, where the settings name a port."""
    built("")
    return exposed(settings.metrics_host, settings.metrics_port)


def service_client(settings: BotSettings) -> ServiceClient:
    """A client of the service the settings name."""
    return ServiceClient.over_http(settings.service_url, settings.tokens)


# Runs every check that the environment configures: the service, links, and each chat that has a token.


_GIVEN = {
    "discord": ("DISCORD_TOKEN",),
    "slack": ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_CLIENT_ID"),
}
"""Settings that mark a chat as configured, directly or by a `_FILE` variant."""


def is_bot() -> bool:
    """Returns whether the environment names a service to call."""
    return is_set("DAILYGRAD_SERVICE_URL")


def is_set(*names: str) -> bool:
    """Returns whether one of these settings, or its `_FILE` variant, is set."""
    return any(os.environ.get(f"{name}{end}") for name in names for end in ("", "_FILE"))


async def bot_findings(now: datetime) -> AsyncIterator[CheckResult]:
    """Runs every check that the environment configures; `now` is this machine's clock."""
    if is_bot():
        try:
            settings = settings_read(BotSettings)
        except CommandFailed as refused:
            yield CheckResult(False, "settings: those of the bot are invalid", str(refused))
        else:
            async with service_client(settings) as client:
                async for found in examine_service(settings, client, now):
                    yield found
    if is_bot() or is_set("DAILYGRAD_LINK_URL", "DAILYGRAD_LINK_SECRET"):
        try:
            yield await examine_links(settings_read(LinkSettings))
        except (CommandFailed, ValueError) as wrong:
            yield CheckResult(False, "links: invalid settings", str(wrong))
    for chat, names in _GIVEN.items():
        if is_set(*names):
            async for found in _chat(chat):
                yield found


async def _chat(chat: str) -> AsyncIterator[CheckResult]:
    try:
        found = await chat_findings(chat)
    except CommandFailed as refused:
        found = [CheckResult(False, str(refused))]
    for one in found:
        yield CheckResult(one.good, f"{chat}: {one.said}", one.cure)
