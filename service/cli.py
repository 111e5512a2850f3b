"""Commands of the service and its database: `dailygrad serve`, `work`, `migrate`, `regrade` …."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from service import tracing
from service.config import Settings, read_command_settings, read_settings
from service.logs import hide_settings, log_to
from service.ops.database import find_database, find_sandbox, refuse_other_version
from service.process import DATA, CommandFailed, listen, now, out, run_process, serve_app, stop_signal
from service.store import migrations

# `migrate` and commands that refuse their options need no more. The others import the service where they build it.
if TYPE_CHECKING:
    from service.app import Service
    from service.people.reencryption import Reencryption
    from service.rounds.regrading import RepeatedVerdict

service_command = typer.Typer()

T = TypeVar("T")


@service_command.command()
def serve() -> None:
    """Start the question service alone.

    Settings: DATABASE_URL, DAILYGRAD_SERVICE_TOKEN, DAILYGRAD_HOST, DAILYGRAD_PORT.
    """
    settings = read_settings()
    hide_settings(settings)
    log_to(None, settings.log_level)
    refuse_other_version(settings.database_url)
    tracing.configure("service", settings.traces_url)
    run_process(_serve(settings))


async def _serve(settings: Settings) -> None:
    from service.app import build
    from service.metrics import serve_metrics
    from service.people.reencryption import reencrypting
    from service.reference_clock import ReferenceClock

    stop = stop_signal()
    service = build(settings, ReferenceClock(now))
    api = service.api  # builds it before anybody waits
    # The bots are configured with this port, so do not try others.
    with listen(settings.host, settings.port, tries=1, named_by="DAILYGRAD_PORT") as listener:
        page = serve_metrics(settings.metrics_host, settings.metrics_port, service.gauges.gather)
        newest_key = reencrypting(service.sessions, service.cipher)
        async with service.running(), newest_key, page, serve_app(api, listener, service.stopping.set):
            out.print(f"The question service listens on {settings.host}:{listener.getsockname()[1]}")
            await stop.wait()


@service_command.command()
def work() -> None:
    """Start a worker: it runs jobs, and the schedules if it is the leader."""
    settings = read_settings()
    hide_settings(settings)
    log_to(None, settings.log_level)
    refuse_other_version(settings.database_url)
    tracing.configure("worker", settings.traces_url)
    run_process(_work(settings))


async def _work(settings: Settings) -> None:
    from service.app import build
    from service.heartbeat import send_heartbeats
    from service.metrics import serve_metrics
    from service.reference_clock import ReferenceClock
    from service.sandboxes import serve_relay

    stop = stop_signal()
    async with contextlib.AsyncExitStack() as stack:
        service = await stack.enter_async_context(build(settings, ReferenceClock(now)).running(work=True))
        relay = serve_relay(service.sandbox, settings.tokens.accepts, settings.host, settings.relay_port)
        await stack.enter_async_context(relay)
        page = serve_metrics(settings.metrics_host, settings.metrics_port, service.gauges.gather)
        await stack.enter_async_context(page)
        await stack.enter_async_context(send_heartbeats())
        out.print("The worker is ready")
        await stop.wait()


@service_command.command()
def migrate() -> None:
    """Upgrade the database in DATABASE_URL to this version."""
    settings = read_command_settings()
    migrations.upgrade(settings.database_url)
    if settings.monitor_password_file is not None:
        from service.store.monitor_role import create_monitor_role

        create_monitor_role(settings.database_url, settings.monitor_password)
    out.print(f"The database is at {migrations.newest()}")


@service_command.command("sign-in")
def sign_in(
    name: Annotated[str, typer.Argument(help="Name of the member of the web chat.")],
    admin: Annotated[bool, typer.Option("--admin", help="Make this member an admin, too.")] = False,
    url: Annotated[str, typer.Option(metavar="URL", help="Address of the web chat.")] = "http://127.0.0.1:8765",
) -> None:
    """Print a link that signs a browser in to the web chat as a member, once within a day.

    For members whose browser forgot them, and to make another admin.
    """
    code = in_database(partial(_sign_in, name=name, admin=admin))
    out.print(f"{url.rstrip('/')}/sign-in/{code}", markup=False, soft_wrap=True)


async def _sign_in(service: Service, *, name: str, admin: bool) -> str:
    from service.people import web_chat

    async with service.sessions.begin() as session:
        code = await web_chat.sign_in_by_name(session, name, admin, service.clock())
    if code is None:
        raise CommandFailed(f"nobody in the web chat is called {name!r}")
    return code


@service_command.command("reencrypt")
def reencrypt_secrets(
    forget: Annotated[
        bool,
        typer.Option("--forget", help="Delete what no key fits: install those apps again; browsers sign in again."),
    ] = False,
) -> None:
    """Encrypt the stored tokens again with the first key in DAILYGRAD_TOKEN_KEY, so that older keys can be dropped.

    A service with several keys does this at its start. Exit status: 2 if no key fits some of them.
    """
    found = in_database(partial(_reencrypt, forget=forget))
    out.print(f"  {found.again} encrypted again, {found.current} had the newest key")
    if found.unreadable and forget:
        out.print(f"  {found.unreadable} forgotten: restart the web chat, and install apps again that are missing")
    elif found.unreadable:
        raise CommandFailed(
            f"{found.unreadable} were encrypted with a key that is not in DAILYGRAD_TOKEN_KEY: add it behind the "
            "others, or forget them with --forget if it is lost"
        )
    out.print("  Only the newest key is needed now")


async def _reencrypt(service: Service, *, forget: bool) -> Reencryption:
    from service.credentials import NoTokenKey
    from service.people.reencryption import reencrypt
    from service.wire import describe

    try:
        return await reencrypt(service.sessions, service.cipher, forget_at=service.clock() if forget else None)
    except NoTokenKey as missing:
        raise CommandFailed(describe(missing.refusal)) from None


@service_command.command("regrade")
def regrade_again(
    answer: Annotated[int | None, typer.Argument(help="Number of a judged code answer.")] = None,
    question: Annotated[str, typer.Option(help="Instead: every judged answer to the question with this id.")] = "",
) -> None:
    """Judge code answers again with the recorded seed and compare the verdicts. Writes nothing.

    Exit status: 1 if a verdict differs, 2 if one could not be reached.
    """
    if (answer is None) is not bool(question):
        raise typer.BadParameter("name the number of an answer, or --question ID", param_hint="ANSWER")
    from service.rounds.regrading import exit_status

    made = in_database(partial(_regrade_again, answer=answer, question=question))
    same = sum(one.same for one in made)
    out.print(f"  {same} of {len(made)} verdicts are the same")
    raise SystemExit(exit_status(made))


async def _regrade_again(service: Service, *, answer: int | None, question: str) -> list[RepeatedVerdict]:
    from sandbox.embedded import embedded_sandbox
    from service.rounds import regrading
    from service.rounds.sandbox_turns import FairSandbox

    made = []
    try:
        async with contextlib.AsyncExitStack() as stack:
            sandbox = service.sandbox
            if sandbox is None:
                directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                sandbox = FairSandbox(await stack.enter_async_context(embedded_sandbox(directory)))
            async for one in regrading.repeat_verdicts(service.sessions, sandbox, answer_id=answer, question=question):
                out.print(f"  {one}", markup=False, soft_wrap=True)
                made.append(one)
    except regrading.NoVerdict as missing:
        raise CommandFailed(str(missing)) from None
    return made


def in_database(do: Callable[[Service], Coroutine[Any, Any, T]]) -> T:
    """Runs `do` with a service on the database in DATABASE_URL, or else on that of `dailygrad run`."""
    data = Path(os.environ.get("DAILYGRAD_DATA") or DATA)
    with find_database(data) as url:
        refuse_other_version(url)
        settings = read_command_settings(database_url=url)
        if not (settings.sandbox_paths or settings.sandbox_nodes or settings.worker_urls):
            settings = settings.model_copy(update={"sandbox_socket": find_sandbox(data)})
        return asyncio.run(_with_service(settings, do))


async def _with_service(settings: Settings, do: Callable[[Service], Coroutine[Any, Any, T]]) -> T:
    from service.app import build
    from service.reference_clock import ReferenceClock

    service = build(settings, ReferenceClock(now))
    async with service.running():
        return await do(service)
