"""`dailygrad run`: database, service, scheduler, sandbox and one chat in a single process, on embedded defaults.

The composition root of that process, and so one of the few modules that import from every package.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import tempfile
import time as clockwork
from collections.abc import Coroutine
from datetime import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
import tzlocal
from pydantic import SecretStr

from bot.cli import bot_of, run_terminal_chat, serve_web_chat, serve_web_editor
from bot.settings import WEB_PORT, LinkSettings, load_settings
from sandbox import embedded as sandboxes
from sandbox.client import SandboxClient, SandboxUnreachable
from service.app import Service, build
from service.banks.importing import ImportOptions, import_path
from service.cli import import_text
from service.client import ServiceClient
from service.config import Settings, read_settings
from service.logs import hide_settings, log_to
from service.metrics import serve_metrics
from service.process import DATA, CommandFailed, errors, listen, lock_folder, now, out, run_until, stop_signal
from service.store import migrations
from service.store.session import start_postgres
from service.wire import ScheduleSpec, Where, Who

run_command = typer.Typer()

T = TypeVar("T")


class Chat(StrEnum):
    """Where `dailygrad run` chats."""

    web = "web"
    console = "console"
    discord = "discord"
    slack = "slack"


@run_command.command("run")
def run_everything(
    bank: Annotated[
        Path | None, typer.Option(help="A Markdown file or a folder of them, in place of the shipped bank.")
    ] = None,
    chat: Annotated[
        Chat, typer.Option(help="Chat in the browser, in this terminal, on Discord or on Slack.")
    ] = Chat.web,
    port: Annotated[int, typer.Option(help="Port of the web chat; the next free one is taken.")] = WEB_PORT,
    data: Annotated[Path, typer.Option(envvar="DAILYGRAD_DATA", help="Where everything is kept.")] = DATA,
) -> None:
    """Start everything on this machine and print one address: database, service, scheduler, sandbox and chat."""
    if bank is not None and not bank.exists():
        raise CommandFailed(f"there is no {bank}: give a Markdown file or a folder of them to --bank")
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock_folder(data):
        links = load_settings(LinkSettings)
        hide_settings(links)
        log_to(data / "dailygrad.log", links.log_level)
        asyncio.run(everything(data.resolve(), bank, chat, port, links))


async def everything(data: Path, bank: Path | None, chat: Chat, port: int, links: LinkSettings) -> None:
    """Start, serve until asked to stop, and stop in the reverse order."""
    stop = stop_signal()
    # What its settings lack is said before anything is started.
    elsewhere = bot_of(chat.value) if chat in (Chat.discord, Chat.slack) else None
    started = clockwork.monotonic()
    async with contextlib.AsyncExitStack() as stack:
        # The sandbox needs some seconds to import torch; everything else starts meanwhile.
        sandbox = sandboxes.start(short_directory(data / "sandbox"))
        stack.callback(sandbox.stop)
        settings = await local_settings(data, sandbox.socket, stack)
        hide_settings(settings)
        await step("Database brought to this version", asyncio.to_thread(migrations.upgrade, settings.database_url))
        service = build(settings, now)
        await stack.enter_async_context(service.running(work=True))
        page = serve_metrics(settings.metrics_host, settings.metrics_port, service.gather)
        await stack.enter_async_context(page)
        await import_bank(service, bank)
        client = await stack.enter_async_context(ServiceClient.inside(service.api, settings.tokens))
        if elsewhere is None:
            await first_schedule(client, chat, shipped=bank is None)
        tell_about_sandbox = asyncio.create_task(say_isolation(sandbox.client))
        stack.callback(tell_about_sandbox.cancel)
        if chat is Chat.web:
            listener = stack.enter_context(listen("127.0.0.1", port))
            address = await stack.enter_async_context(serve_web_chat(data, client, listener, links))
        elif elsewhere is not None:
            address = f"on {chat.value.capitalize()}; /quiz-admin setup in a channel makes the first schedule"
            if links.links is not None:
                listener = stack.enter_context(listen("127.0.0.1", port, tries=1))
                await stack.enter_async_context(serve_web_editor(client, listener, links))
        else:
            address = "chat below, /as NAME switches the member, /quit leaves"
        seconds = clockwork.monotonic() - started
        out.print(f"\nDailygrad is ready after {seconds:.1f} s: [bold]{address}[/bold]   (Ctrl-C stops it)\n")
        if chat is Chat.console:
            await run_until(stop, run_terminal_chat(data, client))
        elif elsewhere is not None:
            await elsewhere(client, stop, links.links, data)
        else:
            await stop.wait()
        out.print("Stopping…")
    out.print("Stopped. Everything is kept in " + str(data))


async def local_settings(data: Path, sandbox: Path, stack: contextlib.AsyncExitStack) -> Settings:
    """Settings of the all-in-one: the server DATABASE_URL names, or a PostgreSQL of our own."""
    url = os.environ.get("DATABASE_URL")
    if not url:
        postgres = await step("PostgreSQL started", asyncio.to_thread(start_postgres, data / "postgres"))
        stack.push_async_callback(asyncio.to_thread, postgres.stop)
        url = postgres.url
    # The service is called inside this process, so its token need not outlive it.
    return read_settings(database_url=url, service_token=SecretStr(secrets.token_urlsafe(32)), sandbox_socket=sandbox)


async def import_bank(service: Service, bank: Path | None) -> None:
    """Bring in the bank, saying what was found; a document with an error stays out."""
    views = await step("Bank read", import_path(service.sessions, bank, now(), options=ImportOptions("use")))
    for view in views:
        out.print(import_text(view, dry_run=False), markup=False, soft_wrap=True)
    if not any(view.applied for view in views):
        raise CommandFailed("no document could be imported; `dailygrad bank check` says what is wrong with each")


async def first_schedule(client: ServiceClient, chat: Chat, *, shipped: bool) -> None:
    """The first start posts a question at once, and from then on one a day at the same local time.

    Of the shipped bank it asks what takes a minute: its code is practiced on purpose, `/quiz practice kind:code`.
    """
    operator = Who(platform=chat.value, workspace="local", member="operator", name="Dailygrad", admin=True)
    if await client.schedule_list(operator):
        return
    local = now().astimezone(tzlocal.get_localzone())
    spec = ScheduleSpec(
        at=time(local.hour, local.minute),
        weekdays=(0, 1, 2, 3, 4, 5, 6),
        zone=zone_name(str(tzlocal.get_localzone())),
        kinds=("choice", "value", "output") if shipped else (),
        open_minutes=8 * 60,
        catch_up_minutes=24 * 60,  # on a laptop the question comes whenever it is switched on
    )
    where = Where(channel="daily", name="daily")
    schedule = await client.schedule_add(operator, "local:first-schedule", where, spec)
    await client.post_now(operator, "local:first-question", schedule.id)


def zone_name(zone: str) -> str:
    """A zone of this machine as a schedule names it: UTC bears many names, and other bare ones are no places."""
    return zone if "/" in zone and not zone.endswith("/UTC") else "UTC"


def short_directory(wished: Path) -> Path:
    """`wished`, or where a unix socket's name in it would be too long for the system, a folder of our own elsewhere."""
    if len(str(wished)) < 80:
        return wished
    return Path(tempfile.mkdtemp(prefix="dailygrad-"))


async def step(said: str, doing: Coroutine[Any, Any, T]) -> T:
    """Await one step of the start and say how long it took."""
    started = clockwork.monotonic()
    with errors.status(f"{said}…") if errors.is_terminal else contextlib.nullcontext():
        result = await doing
    out.print(f"  {said} ({clockwork.monotonic() - started:.1f} s)")
    return result


async def say_isolation(sandbox: SandboxClient) -> None:
    """Say when code answers can be run, and how well they are confined."""
    try:
        health = await sandbox.until_ready()
        out.print(f"  Sandbox ready: torch {health.versions.get('torch', '?')}, {health.isolation} isolation")
    except SandboxUnreachable as problem:
        out.print(f"  [bold]Code answers wait:[/bold] the sandbox does not start: {problem}")
