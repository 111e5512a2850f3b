"""The commands that start a chat in front of a service: `dailygrad bot web`, `bot console` …."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from collections.abc import AsyncIterator, Collection
from pathlib import Path

import typer
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.core.commands import suggest
from bot.core.courier import Courier
from bot.core.quiz import Quiz
from bot.platforms import console as console_chat
from bot.platforms import web as web_chat
from service.client import ServiceClient
from service.logs import log_to
from service.process import Refused, listening, now, out, served, stop_signal, until

bot_command = typer.Typer(help="Start a chat in front of a service.", no_args_is_help=True)

DATA = Path(".dailygrad")
WEB_PORT = 8765


class BotSettings(BaseSettings):
    """What a bot process needs to reach its service."""

    model_config = SettingsConfigDict(env_prefix="DAILYGRAD_", extra="ignore")

    service_url: str = "http://127.0.0.1:8000"
    service_token: SecretStr = Field(min_length=16)
    data: Path = DATA
    web_host: str = "127.0.0.1"
    web_port: int = WEB_PORT
    web_hosts: str = ""
    """Public names the web chat is reached by, apart by spaces; addresses and local names need not be named."""


def read_bot_settings() -> BotSettings:
    """The settings from the environment. Raises Refused."""
    try:
        return BotSettings()
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False, include_context=False)[0]
        name = f"DAILYGRAD_{first['loc'][0]}".upper()
        raise Refused(f"{name}: {first['msg'].lower()}; `dailygrad bot --help` names the settings") from None


@contextlib.asynccontextmanager
async def web_ready(
    data: Path, client: ServiceClient, listener: socket.socket, hosts: Collection[str] = ()
) -> AsyncIterator[str]:
    """The web chat, serving on the listener; its address."""
    host, port = listener.getsockname()[:2]
    with contextlib.closing(web_chat.ChatStore(data / "webchat.sqlite")) as store:
        chat = web_chat.WebChat(store, now)
        app = web_chat.build(chat, Quiz(client).handle, suggest, hosts)
        async with carried(Courier(client, chat)), served(app, listener, chat.close):
            yield f"http://{host}:{port}"


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
def bot_web() -> None:
    """Start the web chat. Settings: DAILYGRAD_SERVICE_URL, …SERVICE_TOKEN, …WEB_HOST, …WEB_PORT, …WEB_HOSTS, …DATA."""
    settings = read_bot_settings()
    log_to(None)
    asyncio.run(_bot_web(settings))


async def _bot_web(settings: BotSettings) -> None:
    stop = stop_signal()
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Whoever is sent to this address would not find another port.
    with listening(settings.web_host, settings.web_port, tries=1, named_by="DAILYGRAD_WEB_PORT") as listener:
        async with (
            service_client(settings) as client,
            web_ready(settings.data, client, listener, settings.web_hosts.split()) as address,
        ):
            out.print(f"The web chat is at {address}")
            await stop.wait()


@bot_command.command("console")
def bot_console() -> None:
    """Chat on this terminal. Settings: DAILYGRAD_SERVICE_URL, DAILYGRAD_SERVICE_TOKEN."""
    asyncio.run(_bot_console(read_bot_settings()))


async def _bot_console(settings: BotSettings) -> None:
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with service_client(settings) as client:
        await until(stop_signal(), console_until_end(settings.data, client))


def service_client(settings: BotSettings) -> ServiceClient:
    """A client of the service the settings name."""
    return ServiceClient.over_http(settings.service_url, settings.service_token.get_secret_value())
