"""`dailygrad run`: runs database, service, scheduler, sandbox and one chat on this machine with default settings.

The composition root of that process, so it may import from every package.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import tempfile
from collections.abc import Coroutine
from datetime import time, timedelta
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, TypeVar

import typer
import tzlocal
from pydantic import SecretStr

from bot.cli import bot_of, run_terminal_chat, serve_web_chat, serve_web_editor
from bot.settings import WEB_PORT, LinkSettings, load_settings
from bot.web.store import ChatStore
from sandbox import embedded as sandboxes
from sandbox.client import SandboxClient, SandboxUnreachable
from service import tracing
from service.app import Service, build
from service.bank_cli import import_text
from service.banks.imports import ImportOptions, NoDocuments, import_path
from service.client import ServiceClient
from service.config import Settings, read_settings
from service.logs import hide_settings, log_to
from service.metrics import serve_metrics, watch_disk
from service.people.reencryption import reencrypting
from service.process import (
    DATA,
    CommandFailed,
    errors,
    listen,
    lock_folder,
    make_folder,
    now,
    out,
    run_process,
    run_until,
    stop_signal,
)
from service.reference_clock import ReferenceClock
from service.store import migrations
from service.store.session import start_postgres
from service.wire import INSTALLATION, Kind, ScheduleSpec, Where, Who

run_command = typer.Typer()

T = TypeVar("T")


class Chat(StrEnum):
    """The chat that `dailygrad run` starts."""

    web = "web"
    console = "console"
    discord = "discord"
    slack = "slack"


@run_command.command("run")
def run_everything(
    bank: Annotated[
        Path | None, typer.Option(help="A document or a folder of documents, in place of the shipped bank.")
    ] = None,
    chat: Annotated[
        Chat, typer.Option(help="Chat in the browser, in this terminal, on Discord or on Slack.")
    ] = Chat.web,
    port: Annotated[
        int,
        typer.Option(
            envvar="DAILYGRAD_WEB_PORT", min=0, max=65535, help="Port of the web chat; the next free one is taken."
        ),
    ] = WEB_PORT,
    data: Annotated[Path, typer.Option(envvar="DAILYGRAD_DATA", help="Where everything is kept.")] = DATA,
) -> None:
    """Start everything on this machine and print one address: database, service, scheduler, sandbox and chat."""
    if bank is not None and not bank.exists():
        raise CommandFailed(f"there is no {bank}: pass a document or a folder to --bank")
    make_folder(data)
    with lock_folder(data):
        links = load_settings(LinkSettings)
        hide_settings(links)
        log_to(data / "dailygrad.log", links.log_level)
        run_process(run_with_chat(data.resolve(), bank, chat, port, links))


async def run_with_chat(
    data: Path, bank: Path | None, chat: Chat, port: int, links: LinkSettings, *, lead: str = ""
) -> None:
    """Starts everything, serves until asked to stop, and stops in reverse order.

    The printed address signs a browser in to the web chat as the person with the id `lead`, if one is given.
    """
    stop = stop_signal()
    # Report missing settings before anything starts.
    run_bot = bot_of(chat.value) if chat in (Chat.discord, Chat.slack) else None
    started = monotonic()
    async with contextlib.AsyncExitStack() as stack:
        # The sandbox takes seconds to import torch, so start it first and do not wait.
        sandbox = sandboxes.start(short_directory(data / "sandbox"))
        stack.callback(sandbox.stop)
        settings = await local_settings(data, sandbox.socket, stack)
        hide_settings(settings)
        tracing.configure("all-in-one", settings.traces_url)
        await step("Database up to date", asyncio.to_thread(migrations.upgrade, settings.database_url))
        service = build(settings, ReferenceClock(now))
        await stack.enter_async_context(service.running(work=True))
        await stack.enter_async_context(reencrypting(service.sessions, service.cipher))
        watch_disk(data)
        page = serve_metrics(settings.metrics_host, settings.metrics_port, service.gauges.gather)
        await stack.enter_async_context(page)
        await import_bank(service, bank)
        client = await stack.enter_async_context(ServiceClient.inside(service.api, settings.tokens))
        if run_bot is None:
            await first_schedule(client, chat, shipped=bank is None)
        isolation_report = asyncio.create_task(print_isolation(sandbox.client))
        stack.callback(isolation_report.cancel)
        if chat is Chat.web:
            listener = stack.enter_context(listen("127.0.0.1", port))
            address = await stack.enter_async_context(serve_web_chat(client, listener, links))
            if lead:
                address += f"/sign-in/{await ChatStore(client).make_sign_in(lead, timedelta(days=1))}"
        elif run_bot is not None:
            address = f"on {chat.value.capitalize()}; /quiz-admin setup in a channel makes the first schedule"
            if links.links is not None:
                listener = stack.enter_context(listen("127.0.0.1", port, tries=1))
                await stack.enter_async_context(serve_web_editor(client, listener, links))
        else:
            address = "chat below, /as NAME switches the member, /quit leaves"
        seconds = monotonic() - started
        out.print(
            f"\nDailygrad is ready after {seconds:.1f} s: [bold]{address}[/bold]   (Ctrl-C stops it)\n", soft_wrap=True
        )
        if chat is Chat.console:
            await run_until(stop, run_terminal_chat(data, client))
        elif run_bot is not None:
            await run_bot(client, stop, links.links, data)
        else:
            await stop.wait()
        out.print("Stopping…")
    out.print("Stopped. Everything is kept in " + str(data))


async def local_settings(data: Path, sandbox: Path, stack: contextlib.AsyncExitStack) -> Settings:
    """Returns the settings, with the database in DATABASE_URL or an embedded PostgreSQL."""
    url = os.environ.get("DATABASE_URL")
    if not url:
        postgres = await step("PostgreSQL started", asyncio.to_thread(start_postgres, data / "postgres"))
        stack.push_async_callback(asyncio.to_thread, postgres.stop)
        url = postgres.url
    # The service is called within this process only, so a new token at each start will do.
    return read_settings(database_url=url, service_token=SecretStr(secrets.token_urlsafe(32)), sandbox_socket=sandbox)


async def import_bank(service: Service, bank: Path | None) -> None:
    """Imports the bank and prints the results. Documents with errors are not imported."""
    try:
        views = await step("Bank read", import_path(service.sessions, bank, service.clock(), options=ImportOptions()))
    except NoDocuments as problem:
        raise CommandFailed(str(problem)) from None
    for view in views:
        out.print(import_text(view, dry_run=False), markup=False, soft_wrap=True)
    if not any(view.applied for view in views):
        raise CommandFailed("no document could be imported; `dailygrad bank check` says what is wrong with each")


async def first_schedule(client: ServiceClient, chat: Chat, *, shipped: bool) -> None:
    """Adds a schedule on the first start and posts its first question; later ones come daily at the same local time.

    From the shipped bank it asks what a minute suffices for, and where the chat has an editor also code.
    """
    operator = Who(platform=chat.value, workspace="local", member=INSTALLATION, name="Dailygrad", admin=True)
    if await client.schedule_list(operator):
        return
    local = now().astimezone(tzlocal.get_localzone())
    kinds: tuple[Kind, ...] = ("choice", "value", "output")
    if chat is Chat.web:
        kinds = (*kinds, "code")
    spec = ScheduleSpec(
        at=time(local.hour, local.minute),
        weekdays=(0, 1, 2, 3, 4, 5, 6),
        zone=zone_name(str(tzlocal.get_localzone())),
        kinds=kinds if shipped else (),
        open_minutes=8 * 60,
        catch_up_minutes=24 * 60,  # a laptop may be off at the scheduled time
    )
    where = Where(channel="daily", name="daily")
    schedule = await client.schedule_add(operator, "local:first-schedule", where, spec)
    await client.post_now(operator, "local:first-question", schedule.id)


def zone_name(zone: str) -> str:
    """Returns a time zone as schedules accept it: all names of UTC, and names without a region, become UTC."""
    return zone if "/" in zone and not zone.endswith("/UTC") else "UTC"


def short_directory(directory: Path) -> Path:
    """Returns the directory, or a temporary one if the path is too long for a Unix socket."""
    if len(str(directory)) < 80:
        return directory
    return Path(tempfile.mkdtemp(prefix="dailygrad-"))


async def step(title: str, task: Coroutine[Any, Any, T]) -> T:
    """Awaits a step of the start and prints how long it took."""
    started = monotonic()
    with errors.status(f"{title}…") if errors.is_terminal else contextlib.nullcontext():
        result = await task
    out.print(f"  {title} ({monotonic() - started:.1f} s)")
    return result


async def print_isolation(sandbox: SandboxClient) -> None:
    """Prints when the sandbox is ready, and its isolation."""
    try:
        health = await sandbox.until_ready()
        out.print(f"  Sandbox ready: torch {health.versions.get('torch', '?')}, {health.isolation} isolation")
    except SandboxUnreachable as problem:
        out.print(f"  [bold]Code answers wait:[/bold] the sandbox does not start: {problem}")
