"""The commands `dailygrad bot web`, `console`, `discord` and `slack`, which run a bot for a service."""

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
from bot.doctor.checks import CheckResult, examine_links, examine_oidc, examine_service
from bot.settings import BotSettings, LinkSettings, OidcSettings, load_settings
from service import tracing
from service.client import ServiceClient
from service.heartbeat import send_heartbeats
from service.logs import hide_settings, log_to
from service.metrics import record_build, serve_metrics, watch_disk
from service.process import CommandFailed, listen, make_folder, now, out, run_process, run_until, serve_app, stop_signal

RunBot = Callable[[ServiceClient, asyncio.Event, Links | None, Path], Awaitable[None]]
"""Runs a chat bot until the event is set; its data is in the folder."""

bot_command = typer.Typer(help="Run a bot for a service.", no_args_is_help=True)


@contextlib.asynccontextmanager
async def serve_web_chat(
    client: ServiceClient, listener: socket.socket, links: LinkSettings, hosts: Collection[str] = ()
) -> AsyncIterator[str]:
    """Serves the web chat on the listener, with the web editor if links are configured. Yields its URL.

    Raises CommandFailed if the settings of the OpenID provider are not usable.
    """
    oidc = load_settings(OidcSettings)
    hide_settings(oidc)
    chat = web_chat.WebChat(web_chat.ChatStore(client), client.clock)
    answer = Quiz(client).handle
    linked = web_chat.LinkedEditor(links.links, client, answer, client.clock) if links.links is not None else None
    allowed = (*hosts, *hosts_of(links.link_url), *hosts_of(oidc.url))
    with requires_packages("oidc"):
        provider = web_chat.Provider(oidc, client.clock) if oidc.issuer else None
    app = web_chat.build(
        chat, answer, suggest, allowed, linked, client.operations, client, links.limit_concurrency, provider
    )
    web_chat.compile_templates()
    async with dispatching(Dispatcher(client, chat)), serve_app(app, listener, chat.close):
        yield _address(listener)


@contextlib.asynccontextmanager
async def serve_web_editor(
    client: ServiceClient, listener: socket.socket, settings: LinkSettings, hosts: Collection[str] = ()
) -> AsyncIterator[str]:
    """Serves only the web editor on the listener. Yields its URL. Raises CommandFailed if no links are configured."""
    if settings.links is None:
        raise CommandFailed("links are not configured: set DAILYGRAD_LINK_URL and DAILYGRAD_LINK_SECRET")
    linked = web_chat.LinkedEditor(settings.links, client, Quiz(client).handle, client.clock)
    app = web_chat.build_editor(linked, (*hosts, *hosts_of(settings.link_url)), settings.limit_concurrency)
    async with serve_app(app, listener, lambda: None):
        yield _address(listener)


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{host}:{port}"


async def run_terminal_chat(data: Path, client: ServiceClient) -> None:
    """Runs the terminal chat until its input ends. Piped input is echoed, so that the output is a transcript."""
    piped = not sys.stdin.isatty()
    with console_chat.ConsoleStore(data / "console.sqlite") as store:
        await console_chat.run_console(
            client,
            clock=client.clock,
            lines=console_chat.stdin_lines(),
            write=console_chat.stdout_write,
            store=store,
            width=min(100, out.width),
            echo=piped,
        )


@contextlib.asynccontextmanager
async def dispatching(dispatcher: Dispatcher) -> AsyncIterator[None]:
    """Runs the dispatcher until the block exits; it then finishes its current delivery."""
    task = asyncio.create_task(dispatcher.run())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


@bot_command.command("web")
def bot_web(
    links_only: Annotated[
        bool, typer.Option("--links-only", help="Serve only the web editor that links in other chats open.")
    ] = False,
) -> None:
    """Run the web chat and the web editor that links in other chats open.

    Several processes are one chat: the service keeps its people and messages.

    Settings: DAILYGRAD_SERVICE_URL, …SERVICE_TOKEN, …WEB_HOST, …WEB_PORT, …WEB_HOSTS, …LINK_URL, …LINK_SECRET,
    …OIDC_ISSUER, …OIDC_CLIENT_ID, …OIDC_CLIENT_SECRET, …OIDC_URL.
    """
    settings = load_settings(BotSettings)
    hide_settings(settings)
    log_to(None, settings.log_level)
    run_process(_bot_web(settings, links_only))


async def _bot_web(settings: BotSettings, links_only: bool) -> None:
    stop = stop_signal()
    # No other port: members are sent to this address.
    with listen(settings.web_host, settings.web_port, tries=1, named_by="DAILYGRAD_WEB_PORT") as listener:
        async with contextlib.AsyncExitStack() as stack:
            client = await stack.enter_async_context(service_client(settings))
            await stack.enter_async_context(metrics_page(settings))
            await stack.enter_async_context(send_heartbeats())
            hosts = settings.web_hosts.split()
            if links_only:
                address = await stack.enter_async_context(serve_web_editor(client, listener, settings, hosts))
                out.print(f"The web editor for {settings.link_url} is at {address}")
            else:
                web = serve_web_chat(client, listener, settings, hosts)
                out.print(f"The web chat is at {await stack.enter_async_context(web)}")
            await stop.wait()


@bot_command.command("console")
def bot_console() -> None:
    """Chat in this terminal.

    Settings: DAILYGRAD_SERVICE_URL, DAILYGRAD_SERVICE_TOKEN.
    """
    run_process(_bot_console(load_settings(BotSettings)))


async def _bot_console(settings: BotSettings) -> None:
    make_folder(settings.data)
    async with service_client(settings) as client:
        await run_until(stop_signal(), run_terminal_chat(settings.data, client))


@bot_command.command("discord")
def bot_discord(
    shards: Annotated[
        str,
        typer.Option(
            envvar="DISCORD_SHARDS",
            metavar="I/N",
            help="Connect only shard I of N, or several as in 0-7/16. Each other process has its own. Default: all.",
        ),
    ] = "",
) -> None:
    """Run the Discord bot.

    Settings: DISCORD_TOKEN (or …_FILE), DISCORD_API_URL, DISCORD_APPLICATION_ID, DISCORD_SHARDS; DAILYGRAD_SERVICE_URL,
    …SERVICE_TOKEN, …DATA, …LINK_URL, …LINK_SECRET.
    """
    _run(_discord_bot(shards))


@bot_command.command("discord-sync")
def bot_discord_sync() -> None:
    """Register the slash commands with Discord. Run it once per release.

    Settings: DISCORD_TOKEN, DISCORD_API_URL.
    """
    with requires_packages("discord"):
        from bot.discord.client import sync_commands
        from bot.discord.settings import read_discord_settings
    changed = asyncio.run(sync_commands(read_discord_settings()))
    out.print(
        "\n".join(f"  {line}" for line in changed) or "  All commands are registered and up to date", markup=False
    )


@bot_command.command("slack")
def bot_slack() -> None:
    """Run the Slack bot, in Socket Mode or over signed HTTP.

    Settings: SLACK_BOT_TOKEN and SLACK_APP_TOKEN for Socket Mode; SLACK_SIGNING_SECRET and DAILYGRAD_SLACK_PORT for
    HTTP; SLACK_CLIENT_ID and SLACK_CLIENT_SECRET for many workspaces; SLACK_API_URL; DAILYGRAD_SLACK_MANAGERS,
    …SERVICE_URL, …SERVICE_TOKEN, …DATA, …LINK_URL, …LINK_SECRET. Any secret can be read from a file: …_FILE.
    """
    _run(_slack_bot())


def _run(run_bot: RunBot) -> None:
    settings = load_settings(BotSettings)
    hide_settings(settings)
    log_to(None, settings.log_level)
    run_process(_run_until_stopped(settings, run_bot))


async def _run_until_stopped(settings: BotSettings, run_bot: RunBot) -> None:
    make_folder(settings.data)
    async with service_client(settings) as client, metrics_page(settings), send_heartbeats():
        await run_bot(client, stop_signal(), settings.links, settings.data)


def bot_of(chat: str) -> RunBot:
    """Reads the settings of Discord or Slack and returns its bot. Raises CommandFailed."""
    return _discord_bot() if chat == "discord" else _slack_bot()


def _discord_bot(shards: str = "") -> RunBot:
    with requires_packages("discord"):
        from bot.discord.client import serve
        from bot.discord.settings import read_discord_settings
    settings = read_discord_settings(**({"shards": shards} if shards else {}))
    hide_settings(settings)

    async def run_bot(client: ServiceClient, stop: asyncio.Event, links: Links | None, data: Path) -> None:
        await serve(settings.model_copy(update={"data": data}), client, client.clock, stop, links)

    return run_bot


def _slack_bot() -> RunBot:
    with requires_packages("slack"):
        from bot.slack.app import serve
        from bot.slack.auth import TokenRejected
        from bot.slack.settings import SlackSettings
        from bot.slack.socket import SocketFailed
    settings = load_settings(SlackSettings)
    hide_settings(settings)

    async def run_bot(client: ServiceClient, stop: asyncio.Event, links: Links | None, data: Path) -> None:
        try:
            await serve(settings.model_copy(update={"data": data}), client, client.clock, stop, links)
        except (SocketFailed, TokenRejected) as problem:
            raise CommandFailed(str(problem)) from None

    return run_bot


@bot_command.command("slack-manifest")
def bot_slack_manifest(
    http: Annotated[
        str, typer.Option(metavar="URL", help="Public URL of the bot, for signed HTTP. Default: Socket Mode.")
    ] = "",
) -> None:
    """Print the app manifest, from which the Slack app is created."""
    with requires_packages("slack"):
        from bot.slack.manifest import app_manifest
    if http and not http.startswith("https://"):
        raise typer.BadParameter("the URL must start with https://", param_hint="--http")
    sys.stdout.write(json.dumps(app_manifest(http), indent=2, ensure_ascii=False) + "\n")


async def chat_findings(chat: str) -> list[CheckResult]:
    """Runs `dailygrad doctor discord` or `doctor slack`. Raises CommandFailed if the chat's packages are missing."""
    with requires_packages(chat):
        if chat == "discord":
            from bot.discord.settings import read_discord_settings
            from bot.doctor.discord import examine_discord
        else:
            from bot.doctor.slack import examine_slack
            from bot.slack.settings import SlackSettings
    async with contextlib.AsyncExitStack() as stack:
        try:
            service = (
                await stack.enter_async_context(service_client(load_settings(BotSettings)))
                if _service_configured()
                else None
            )
            if chat == "discord":
                found = examine_discord(read_discord_settings(), service, now)
            else:
                found = examine_slack(load_settings(SlackSettings), service, now, config_token=_config_token())
            return [finding async for finding in found]
        except CommandFailed as refused:
            return [CheckResult(False, f"settings: {refused}")]


def _service_configured() -> bool:
    """Returns whether a service is configured. The service inside `dailygrad run` cannot be called from outside."""
    return any(os.environ.get(f"DAILYGRAD_SERVICE_{name}") for name in ("URL", "TOKEN", "TOKEN_FILE"))


def _config_token() -> str:
    return os.environ.get("SLACK_CONFIG_TOKEN", "").strip()


@contextlib.contextmanager
def requires_packages(chat: str) -> Iterator[None]:
    """Guards imports that only one chat needs. Raises CommandFailed, with the fix, if a package is missing."""
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
    """Serves this process's metrics if the settings name a port."""
    record_build("")
    tracing.configure("bot", settings.traces_url)
    watch_disk(settings.data if settings.data.exists() else Path.cwd())
    return serve_metrics(settings.metrics_host, settings.metrics_port)


def service_client(settings: BotSettings) -> ServiceClient:
    """Returns a client of the configured service."""
    return ServiceClient.over_http(settings.service_url, settings.tokens)


# Doctor


_GIVEN = {
    "discord": ("DISCORD_TOKEN",),
    "slack": ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_CLIENT_ID"),
}
"""Settings that mark a chat as configured, directly or by a `_FILE` variant."""


def is_bot() -> bool:
    """Returns whether the environment names a service to call."""
    return is_set("DAILYGRAD_SERVICE_URL")


def keeps_files() -> bool:
    """Returns whether a process with this environment keeps files in its data folder. The web chat keeps none."""
    return not is_bot() or any(is_set(*names) for names in _GIVEN.values())


def is_set(*names: str) -> bool:
    """Returns whether one of these settings, or its `_FILE` variant, is set."""
    return any(os.environ.get(f"{name}{end}") for name in names for end in ("", "_FILE"))


async def bot_findings(now: datetime) -> AsyncIterator[CheckResult]:
    """Runs every check that the environment configures; `now` is this machine's clock."""
    if is_bot():
        try:
            settings = load_settings(BotSettings)
        except CommandFailed as refused:
            yield CheckResult(False, "settings: those of the bot are invalid", str(refused))
        else:
            async with service_client(settings) as client:
                async for found in examine_service(settings, client, now):
                    yield found
    if is_bot() or is_set("DAILYGRAD_LINK_URL", "DAILYGRAD_LINK_SECRET"):
        try:
            yield await examine_links(load_settings(LinkSettings))
        except (CommandFailed, ValueError) as wrong:
            yield CheckResult(False, "links: invalid settings", str(wrong))
    if is_set("DAILYGRAD_OIDC_ISSUER"):
        try:
            yield await examine_oidc(load_settings(OidcSettings), now)
        except CommandFailed as wrong:
            yield CheckResult(False, "sign-in: invalid settings", str(wrong))
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
        yield CheckResult(one.good, f"{chat}: {one.text}", one.cure)
