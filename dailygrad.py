"""The `dailygrad` command: gathers the shells of all rooms, and puts their processes together in one."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import sys
import tempfile
import time as clockwork
from collections.abc import Coroutine, Iterable
from datetime import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
import tzlocal
from pydantic import SecretStr
from sqlalchemy.exc import OperationalError

from bot.cli import (
    bot_command,
    bot_findings,
    chat_findings,
    console_until_end,
    editor_ready,
    is_bot,
    presence,
    web_ready,
)
from bot.doctor.checks import CheckResult
from bot.preview.scenes import PLATFORMS, make_scenes, scene_data, scene_text, write_page
from bot.settings import WEB_PORT, LinkSettings, settings_read
from questions.cli import bank_at, bank_command, question_named
from questions.families import DrawingWrong
from questions.model import Question
from sandbox import embedded as sandboxes
from sandbox.cli import examine_machine, sandbox_command
from sandbox.client import SandboxClient, SandboxUnreachable
from sandbox.host import jail as sandbox_host
from service.app import Service, build
from service.banks.importing import import_path
from service.banks.preview import rehearsed
from service.banks.proving import SandboxFailed, draw_questions
from service.cli import import_text, service_command
from service.client import ServiceClient
from service.config import Settings, SettingsWrong, read_settings
from service.logs import Redaction, hide_settings, log_to
from service.metrics import exposed
from service.ops.backups import backups_command, examine_backups
from service.ops.doctor import (
    examine_database,
    examine_embedded,
    examine_folder,
    examine_sandbox,
    secrets_in,
    service_settings,
)
from service.process import DATA, CommandFailed, errors, listening, now, only_one, out, stop_signal, until
from service.store import migrations
from service.store.session import PostgresFailed, start_postgres
from service.wire import Check, ScheduleSpec, Where, Who

command = typer.Typer(
    help="The daily quiz of a machine-learning team: questions on schedule, private answers, boards, practice.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
command.add_typer(service_command)
command.add_typer(backups_command)
command.add_typer(bot_command, name="bot")
command.add_typer(bank_command, name="bank")
command.add_typer(sandbox_command, name="sandbox")

T = TypeVar("T")


class Chat(StrEnum):
    """Where `dailygrad run` chats."""

    web = "web"
    console = "console"
    discord = "discord"
    slack = "slack"


def main() -> None:
    """The entry point of the `dailygrad` command; what the operator did wrong is said in one sentence."""
    # Of commands that keep no log; those that serve set up their own.
    log_to(None, "warning", plain=True)
    try:
        command()
    except (SettingsWrong, PostgresFailed, sandbox_host.NotIsolated, SandboxUnreachable, CommandFailed) as problem:
        errors.print(f"dailygrad: {problem}", style="bold", markup=False, soft_wrap=True)
        raise SystemExit(2) from None
    except OperationalError as problem:
        reason = str(problem.orig).strip().splitlines()[0]
        errors.print(
            f"dailygrad: the database cannot be used: {reason}. Check DATABASE_URL.", markup=False, soft_wrap=True
        )
        raise SystemExit(2) from None


# Everything on one machine


@command.command("run")
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
    with only_one(data):
        links = settings_read(LinkSettings)
        hide_settings(links)
        log_to(data / "dailygrad.log", links.log_level)
        asyncio.run(everything(data.resolve(), bank, chat, port, links))


async def everything(data: Path, bank: Path | None, chat: Chat, port: int, links: LinkSettings) -> None:
    """Start, serve until asked to stop, and stop in the reverse order."""
    stop = stop_signal()
    # What its settings lack is said before anything is started.
    elsewhere = presence(chat.value) if chat in (Chat.discord, Chat.slack) else None
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
        page = exposed(settings.metrics_host, settings.metrics_port, service.gather)
        await stack.enter_async_context(page)
        await import_bank(service, bank)
        client = await stack.enter_async_context(ServiceClient.inside(service.api, settings.tokens))
        if elsewhere is None:
            await first_schedule(client, chat, shipped=bank is None)
        tell_about_sandbox = asyncio.create_task(say_isolation(sandbox.client))
        stack.callback(tell_about_sandbox.cancel)
        if chat is Chat.web:
            listener = stack.enter_context(listening("127.0.0.1", port))
            address = await stack.enter_async_context(web_ready(data, client, listener, links))
        elif elsewhere is not None:
            address = f"on {chat.value.capitalize()}; /quiz-admin setup in a channel makes the first schedule"
            if links.links is not None:
                listener = stack.enter_context(listening("127.0.0.1", port, tries=1))
                await stack.enter_async_context(editor_ready(client, listener, links))
        else:
            address = "chat below, /as NAME switches the member, /quit leaves"
        seconds = clockwork.monotonic() - started
        out.print(f"\nDailygrad is ready after {seconds:.1f} s: [bold]{address}[/bold]   (Ctrl-C stops it)\n")
        if chat is Chat.console:
            await until(stop, console_until_end(data, client))
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
    views = await step("Bank read", import_path(service.sessions, bank, now(), generated="use"))
    for view in views:
        out.print(import_text(view, dry_run=False), markup=False, soft_wrap=True)
    if not any(view.applied for view in views):
        raise CommandFailed("no document could be imported; `dailygrad bank check` says what is wrong with each")


async def first_schedule(client: ServiceClient, chat: Chat, *, shipped: bool) -> None:
    """The first start posts a question at once, and from then on one a day at the same local time.

    Of the shipped bank it asks what takes a minute: its code is practised on purpose, `/quiz practice kind:code`.
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


# A question before it is asked


@bank_command.command("preview")
def bank_preview(
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of a question.")],
    paths: Annotated[list[Path] | None, typer.Argument(help="Documents, or folders of them; none: ours.")] = None,
    platform: Annotated[str, typer.Option(help=f"One of {', '.join(PLATFORMS)}, or all.")] = "all",
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder the page is written to.")] = Path(),
    count: Annotated[int, typer.Option(min=1, max=5, help="Drawings of a family to show.")] = 1,
    raw: Annotated[bool, typer.Option("--json", help="The bodies that Discord and Slack would be sent.")] = False,
) -> None:
    """Show a question as it would be posted, answered and revealed, without a database.

    The console, Discord and Slack are shown as text; web and all write a page with the pictures of three chats.
    """
    if platform not in (*PLATFORMS, "all"):
        raise typer.BadParameter(f"one of {', '.join(PLATFORMS)} or all", param_hint="--platform")
    if raw and platform not in ("discord", "slack"):
        raise typer.BadParameter("it needs --platform discord or slack", param_hint="--json")
    bank = bank_at(paths)
    question = question_named(bank, id)
    asked = asyncio.run(_drawn(question, count)) if question.draw else (question,)
    shown = [(one.id, make_scenes(*rehearsed(one, bank))) for one in asked]
    if raw:
        bodies = {scene.name: scene_data(scene, platform) for _, found in shown for scene in found}
        sys.stdout.write(json.dumps(bodies, indent=2, ensure_ascii=False) + "\n")
        return
    for chat in [chat for chat in PLATFORMS[1:] if platform in (chat, "all")]:
        for name, found in shown:
            for scene in found:
                out.rule(f"{chat} · {name} · {scene.name}", style="dim")
                out.print(scene_text(scene, chat), markup=False, soft_wrap=True)
    if platform in ("web", "all"):
        out.print(f"Pictures: {write_page(id, shown, output)}", markup=False, soft_wrap=True)


async def _drawn(family: Question, count: int) -> tuple[Question, ...]:
    with tempfile.TemporaryDirectory() as directory:
        async with sandboxes.embedded_sandbox(Path(directory)) as sandbox:
            try:
                return await draw_questions(family, sandbox, seed=1, count=count)
            except (DrawingWrong, SandboxFailed) as problem:
                raise CommandFailed(
                    f"{family.id} could not be drawn: {problem}; `dailygrad bank prove` says more"
                ) from None


# What works here


class Patient(StrEnum):
    """What the doctor can examine beside this machine."""

    discord = "discord"
    slack = "slack"


@command.command()
def doctor(
    chat: Annotated[
        Patient | None, typer.Argument(help="A chat's setup alone: discord or slack, with the settings of its bot.")
    ] = None,
    data: Annotated[Path, typer.Option(envvar="DAILYGRAD_DATA", help="Where everything is kept.")] = DATA,
    backups: Annotated[
        Path | None, typer.Option(envvar="DAILYGRAD_BACKUPS", help="A folder that should hold a backup of today.")
    ] = None,
) -> None:
    """Say what works of all that this environment names, and how to mend the rest. Exit status 1 if something does not.

    Where DATABASE_URL is set: the service's settings, the database, its worker, the sandbox. Where
    DAILYGRAD_SERVICE_URL is: the service, its token, links. Where a chat's tokens are: that chat. Else this machine.
    """
    hiding = Redaction()
    hiding.add(*secrets_in(os.environ))
    good = True
    for found in asyncio.run(examined(chat, data.resolve(), backups)):
        good = good and found.good
        out.print("ok     " if found.good else "[bold]broken[/bold] ", end="")
        out.print(hiding.text(found.said), markup=False, soft_wrap=True)
        if found.cure:
            out.print(f"       {'note' if found.good else 'cure'}: ", end="")
            out.print(hiding.text(found.cure), markup=False, soft_wrap=True)
    raise SystemExit(0 if good else 1)


async def examined(chat: Patient | None, data: Path, backups: Path | None) -> list[CheckResult]:
    """What the doctor found, in the order in which one part stands on another."""
    if chat is not None:
        return await chat_findings(chat.value)
    found: list[CheckResult] = []
    served = bool(os.environ.get("DATABASE_URL") or os.environ.get("DAILYGRAD_DATABASE_URL"))
    elsewhere: Check | None = None
    if served:
        settings, check = service_settings()
        found += findings([check])
        if settings is not None:
            found += findings(examine_database(settings.database_url, now))
            elsewhere = await examine_sandbox(settings)
    if elsewhere is not None:
        found += findings([elsewhere])
    elif served or not is_bot():
        found += [CheckResult(*one) async for one in examine_machine()]
    if not served and not is_bot():
        found += findings(examine_embedded(data, now))
    if elsewhere is None:
        found += findings([examine_folder(data)])
    if backups is not None:
        found += findings([examine_backups(backups, now())])
    return found + [one async for one in bot_findings(now())]


def findings(checks: Iterable[Check]) -> list[CheckResult]:
    """The service's checks as the bot's doctors tell theirs."""
    return [CheckResult(check.ok, f"{check.name}: {check.said}", check.cure) for check in checks]


# Small things


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


if __name__ == "__main__":
    main()
