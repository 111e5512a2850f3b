"""The commands that start a chat in front of a service: `dailygrad bot web`, `bot console` …."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import Annotated

import typer

from bot.core.commands import suggest
from bot.core.courier import Courier
from bot.core.links import hosts_of
from bot.core.quiz import Quiz
from bot.platforms import console as console_chat
from bot.platforms import web as web_chat
from bot.settings import BotSettings, LinkSettings, settings_read
from service.client import ServiceClient
from service.logs import log_to
from service.process import Refused, listening, now, out, served, stop_signal, until

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
        app = web_chat.build(chat, answer, suggest, (*hosts, *hosts_of(links.link_url)), linked)
        async with carried(Courier(client, chat)), served(app, listener, chat.close):
            yield _address(listener)


@contextlib.asynccontextmanager
async def editor_ready(client: ServiceClient, listener: socket.socket, settings: BotSettings) -> AsyncIterator[str]:
    """The editor of links alone, serving on the listener; its address. Raises Refused where there are no links."""
    if settings.links is None:
        raise Refused("there are no links to serve: set DAILYGRAD_LINK_URL and DAILYGRAD_LINK_SECRET")
    linked = web_chat.LinkedEditor(settings.links, client, Quiz(client).handle, now)
    app = web_chat.build_linked(linked, (*settings.web_hosts.split(), *hosts_of(settings.link_url)))
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
async def carried(courier: Courier) -> AsyncIterator[None]:
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
    log_to(None)
    asyncio.run(_bot_web(settings, links_only))


async def _bot_web(settings: BotSettings, links_only: bool) -> None:
    stop = stop_signal()
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Whoever is sent to this address would not find another port.
    with listening(settings.web_host, settings.web_port, tries=1, named_by="DAILYGRAD_WEB_PORT") as listener:
        async with contextlib.AsyncExitStack() as stack:
            client = await stack.enter_async_context(service_client(settings))
            if links_only:
                address = await stack.enter_async_context(editor_ready(client, listener, settings))
                out.print(f"The editor of {settings.link_url} is at {address}")
            else:
                web = web_ready(settings.data, client, listener, settings, settings.web_hosts.split())
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


def service_client(settings: BotSettings) -> ServiceClient:
    """A client of the service the settings name."""
    return ServiceClient.over_http(settings.service_url, settings.token)
