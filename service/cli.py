"""Commands of the service and its database: `dailygrad serve`, `work`, `migrate`, `regrade`, `bank import` …."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import sys
import tempfile
import time as clockwork
from collections.abc import Callable, Coroutine, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast, get_args

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import questions
from questions import Reading, read_path
from questions.cli import AnswerPattern, QuestionPattern, RecipeLines, bank_command, recipe_text
from questions.proof_report import ProofReport, proof_report_github, proof_report_json, proof_report_text
from questions.report import FORMATS
from questions.suggestions import did_you_mean
from sandbox.embedded import embedded_sandbox
from service import tracing
from service.app import Service, build
from service.banks import import_history, moderation
from service.banks.imports import ImportOptions, import_path
from service.banks.proof_checks import DRAWS, ProofSettings
from service.banks.proving import ProofOutcome, Work, collect_results, plan_proofs, prove_all
from service.config import Settings, read_command_settings, read_settings
from service.credentials import NoTokenKey
from service.errors import Refused
from service.heartbeat import send_heartbeats
from service.logs import hide_settings, log_to
from service.metrics import serve_metrics
from service.ops.database import find_database, refuse_other_version
from service.people import web_chat
from service.people.reencryption import Reencryption, reencrypt, reencrypting
from service.process import DATA, CommandFailed, errors, listen, now, out, run_process, serve_app, stop_signal
from service.reference_clock import ReferenceClock
from service.rounds import regrading
from service.rounds.sandbox_turns import FairSandbox
from service.sandboxes import serve_relay
from service.store import migrations
from service.store.monitor_role import create_monitor_role
from service.wire import BankLog, Generated, ImportChange, ImportView, NotFound, Refusal, Twin, UndoRefused, describe

service_command = typer.Typer()

SHIPPED = Path(questions.__file__).parent / "banks"

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
    stop = stop_signal()
    service = build(settings, ReferenceClock(now))
    # The bots are configured with this port, so do not try others.
    with listen(settings.host, settings.port, tries=1, named_by="DAILYGRAD_PORT") as listener:
        page = serve_metrics(settings.metrics_host, settings.metrics_port, service.gather)
        newest_key = reencrypting(service.sessions, service.cipher)
        async with service.running(), newest_key, page, serve_app(service.api, listener, service.stopping.set):
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
    stop = stop_signal()
    async with contextlib.AsyncExitStack() as stack:
        service = await stack.enter_async_context(build(settings, ReferenceClock(now)).running(work=True))
        relay = serve_relay(service.sandbox, settings.tokens.accepts, settings.host, settings.relay_port)
        await stack.enter_async_context(relay)
        page = serve_metrics(settings.metrics_host, settings.metrics_port, service.gather)
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
    async with service.sessions.begin() as session:
        code = await web_chat.sign_in_by_name(session, name, admin, service.clock())
    if code is None:
        raise CommandFailed(f"nobody in the web chat is called {name!r}")
    return code


@service_command.command("reencrypt")
def reencrypt_secrets() -> None:
    """Encrypt the stored tokens again with the first key in DAILYGRAD_TOKEN_KEY, so that older keys can be dropped.

    A service with several keys does this at its start. Exit status: 1 if no key fits some of them.
    """
    found = in_database(_reencrypt)
    out.print(f"  {found.again} encrypted again, {found.current} had the newest key")
    if found.unreadable:
        raise CommandFailed(
            f"{found.unreadable} were encrypted with a key that is not in DAILYGRAD_TOKEN_KEY: add it behind the others"
        )
    out.print("  Only the newest key is needed now")


async def _reencrypt(service: Service) -> Reencryption:
    try:
        return await reencrypt(service.sessions, service.cipher)
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
    made = in_database(partial(_regrade_again, answer=answer, question=question))
    same = sum(one.same for one in made)
    out.print(f"  {same} of {len(made)} verdicts are the same")
    raise SystemExit(regrading.exit_status(made))


async def _regrade_again(service: Service, *, answer: int | None, question: str) -> list[regrading.RepeatedVerdict]:
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


# Shared banks: commands on the database


@bank_command.command("import")
def bank_import(
    path: Annotated[Path | None, typer.Argument(help="Document or folder. Default: the shipped bank.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would happen to each question.")] = False,
    format: Annotated[str, typer.Option(help="text, or json with every question.")] = "text",
    generated: Annotated[
        str, typer.Option(help="Choices generated from prose: none, hold (until `bank approve`) or use.")
    ] = "none",
    question: QuestionPattern = "",
    answer: AnswerPattern = "",
    recipe: RecipeLines = None,
) -> None:
    """Import shared banks into the database in DATABASE_URL, or else into that of `dailygrad run`.

    Exit status 1 if a bank was not imported.
    """
    if format not in ("text", "json"):
        raise typer.BadParameter("text or json", param_hint="--format")
    if generated not in get_args(Generated):
        raise typer.BadParameter("use, hold or none", param_hint="--generated")
    if path is not None and not path.exists():
        raise CommandFailed(f"there is no {path}: pass a document or a folder")
    how = cast(Generated, generated)
    stated = recipe_text(question, answer, recipe)
    views = in_database(lambda service: _bank_import(service, path, dry_run, how, stated))
    if format == "json":
        sys.stdout.write(json.dumps([view.model_dump(mode="json") for view in views], indent=2) + "\n")
    else:
        for view in views:
            out.print(import_text(view, dry_run), markup=False, soft_wrap=True)
    raise SystemExit(1 if any(view.errors for view in views) else 0)


async def _bank_import(
    service: Service, path: Path | None, dry_run: bool, generated: Generated, recipe: str
) -> tuple[ImportView, ...]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("reading", total=None)

        def tell(step: str, done: int, total: int) -> None:
            bar.update(task, description=step, completed=done, total=total or None)

        options = ImportOptions(generated, limit=None, progress=tell)
        return await import_path(service.sessions, path, service.clock(), not dry_run, options, recipe)


@bank_command.command("approve")
def bank_approve(
    question: Annotated[str, typer.Argument(help="Id of a waiting question, or all.")],
) -> None:
    """Approve generated questions of shared banks that were imported with `--generated hold`."""
    work = partial(moderation.approve, question=question)
    count = in_database(lambda service: _in_transaction(service, work))
    out.print(f"  {count} approved")


@bank_command.command("log")
def bank_log(name: Annotated[str, typer.Argument(help="Name of a shared bank.")]) -> None:
    """Show the imports into a bank."""
    log = in_database(lambda service: _in_transaction(service, partial(import_history.import_log, name=name)))
    out.print(log_text(log), markup=False, soft_wrap=True)


@bank_command.command("undo")
def bank_undo(name: Annotated[str, typer.Argument(help="Name of a shared bank.")]) -> None:
    """Undo the latest import into a bank. Run it again to redo the import."""

    async def undo(service: Service) -> ImportView:
        return await _in_transaction(service, partial(import_history.undo_import, name=name, now=service.clock()))

    view = in_database(undo)
    out.print(undone_text(view), markup=False, soft_wrap=True)


async def _in_transaction(service: Service, do: Callable[..., Coroutine[Any, Any, T]]) -> T:
    """Runs `do` on the shared banks in one transaction. Raises CommandFailed."""
    try:
        async with service.sessions.begin() as session:
            return await do(session, None)
    except Refused as refused:
        raise CommandFailed(_explain(refused.refusal)) from None


def _explain(refusal: Refusal) -> str:
    """Returns a refusal of a command on the shared banks, for the operator."""
    match refusal:
        case NotFound(what="bank", name=name):
            return f"there is no shared bank {name!r}: import one with `dailygrad bank import`"
        case NotFound(what="waiting question", name=name):
            return f"no question {name!r} of a shared bank waits" if name else "no question of a shared bank waits"
        case UndoRefused(bank=bank, why="no record"):
            return f"the latest import of {bank} did not record its steps: import the earlier document again"
        case UndoRefused(bank=bank):
            return f"no import of {bank} changed anything: there is nothing to undo"
        case _:
            return describe(refusal)


def in_database(do: Callable[[Service], Coroutine[Any, Any, T]]) -> T:
    """Runs `do` with a service on the database in DATABASE_URL, or else on that of `dailygrad run`."""
    with find_database(Path(os.environ.get("DAILYGRAD_DATA") or DATA)) as url:
        refuse_other_version(url)
        return asyncio.run(_with_service(read_command_settings(database_url=url), do))


async def _with_service(settings: Settings, do: Callable[[Service], Coroutine[Any, Any, T]]) -> T:
    service = build(settings, ReferenceClock(now))
    async with service.running():
        return await do(service)


# Documents: commands without a database


@bank_command.command("prove")
def bank_prove(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Documents or folders to prove. Default: the shipped banks.")
    ] = None,
    torch: Annotated[
        str, typer.Option(metavar="VERSION", help="Fail unless this version of torch runs, such as 2.13.")
    ] = "",
    only: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Prove only this question; may be repeated.")
    ] = None,
    mutation: Annotated[
        bool, typer.Option("--mutation/--no-mutation", help="Also change every key and demand that its proof fails.")
    ] = True,
    draws: Annotated[
        int, typer.Option(min=1, max=100, metavar="N", help="Judge each wrong solution by N draws of the cases.")
    ] = DRAWS,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="SEED", help="Draw the first cases from this seed, as a finding names.")
    ] = None,
    format: Annotated[str, typer.Option(help="text, json or github (workflow annotations).")] = "text",
) -> None:
    """Run every proof, challenge, program and claimed output of documents in the sandbox.

    The report names the version of torch. Exit status: 1 if a finding is an error, 2 if something could not be run.
    """
    if format not in FORMATS:
        raise typer.BadParameter("text, json or github", param_hint="--format")
    missing = next((path for path in paths or () if not path.exists()), None)
    if missing is not None:
        raise CommandFailed(f"there is no {missing}: pass a Markdown file or a folder")
    shipped = SHIPPED.relative_to(Path.cwd()) if SHIPPED.is_relative_to(Path.cwd()) else SHIPPED
    readings = [reading for path in paths or [shipped] for reading in read_path(path)]
    ids = {question.id for reading in readings for question in reading.bank.questions}
    unknown = set(only or ()) - ids
    if unknown:
        cure = did_you_mean(min(unknown), ids, "`dailygrad bank list` shows all")
        raise CommandFailed(f"no question has the id {min(unknown)}: {cure}")
    if only:
        readings = [one for one in readings if any(question.id in only for question in one.bank.questions)]
    work = plan_proofs(readings, only=only or (), settings=ProofSettings(mutation, draws, seed))
    proving = asyncio.run(_bank_prove(readings, work, torch, draws))
    if format == "text":
        Console(highlight=False, soft_wrap=True).print(proof_report_text(proving), end="")
    else:
        sys.stdout.write((proof_report_json if format == "json" else proof_report_github)(proving) + "\n")
    raise SystemExit(1 if proving.has_errors else 2 if proving.troubles else 0)


async def _bank_prove(readings: Sequence[Reading], work: Sequence[Work], torch: str, draws: int) -> ProofReport:
    found: list[ProofOutcome] = []
    columns = (TextColumn("Proving"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with tempfile.TemporaryDirectory() as directory:
        async with embedded_sandbox(Path(directory)) as sandbox:
            versions = (await sandbox.health()).versions
            if torch and not re.match(rf"{re.escape(torch)}(?![\w])", versions.get("torch", "")):
                raise CommandFailed(
                    f"torch {versions.get('torch')} runs here, not {torch}: install torch=={torch} beside it"
                )
            started = clockwork.monotonic()
            with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
                task = bar.add_task("Proving", total=len(work))
                async for one in prove_all(work, sandbox):
                    found.append(one)
                    bar.advance(task)
            return collect_results(readings, found, versions, clockwork.monotonic() - started, draws)


def import_text(view: ImportView, dry_run: bool) -> str:
    """Returns what an import did or, with `dry_run`, what it would do to each question."""
    return "\n".join(_import_lines(view, dry_run))


def _import_lines(view: ImportView, dry_run: bool) -> Iterator[str]:
    if view.errors:
        yield f"  {view.name}: not imported"
        yield from (f"    {line}" for line in view.findings.splitlines() if line.startswith("error"))
        return
    yield f"  {view.name}: {_counts(view)}{'; nothing was written' if dry_run else ''}"
    if view.recipe_saved:
        yield "    read by the recipe saved with the bank; `--recipe none` forgets it"
    if view.generated:
        wait = f", {view.waiting} of them waiting for `dailygrad bank approve`" if view.waiting else ""
        yield f"    {view.generated} choices generated from its sentences{wait}"
    if view.for_gpu:
        yield f"    {view.for_gpu} judged on a GPU, and no sandbox has one: not asked until one does"
    if dry_run:
        yield from (f"    {_change(change)}" for change in view.changes)
    if dry_run and view.twins:
        yield f"    duplicates, with their similarity (1 is identical, {view.near_from:.2f} or more is near):"
        yield from (f"      {_twin(twin)}" for twin in view.twins)
    if dry_run and view.findings:
        yield from (f"    {line}".rstrip() for line in view.findings.splitlines())


def undone_text(view: ImportView) -> str:
    """Returns what an undo did to each question."""
    head = f"  {view.name}: {view.changed} changed back, {view.retired} retired, {view.returned} restored"
    return "\n".join((head, *(f"    {_change(change)}" for change in view.changes)))


def log_text(log: BankLog) -> str:
    """Returns the imports of a bank, one per line, newest first."""
    lines = [f"  {log.name}: {len(log.imports)} {'import' if len(log.imports) == 1 else 'imports'}"]
    for entry in log.imports:
        what = f"undo of {entry.undoes}" if entry.undoes else entry.document or "several documents"
        counts = f"{entry.added} new, {entry.changed} changed, {entry.unchanged} unchanged, {entry.retired} retired"
        back = f", {entry.returned} restored" if entry.returned else ""
        lines.append(f"  {entry.number:>4}  {entry.at:%Y-%m-%d %H:%M} UTC  {entry.digest}  {what}: {counts}{back}")
    return "\n".join(lines)


def _counts(view: ImportView) -> str:
    counts = f"{view.added} new, {view.changed} changed, {view.unchanged} unchanged, {view.unanswered} unanswered"
    others = (
        (view.moved, "moved"),
        (view.retired, "retired"),
        (view.returned, "restored"),
        (view.exact, "exact duplicate" if view.exact == 1 else "exact duplicates"),
        (view.near, "near duplicate" if view.near == 1 else "near duplicates"),
    )
    return ", ".join((counts, *(f"{count} {what}" for count, what in others if count)))


def _change(change: ImportChange) -> str:
    line = f"line {change.line}: " if change.line else ""
    fields = f" ({', '.join(change.fields)})" if change.fields else ""
    made = f", which the document now calls {change.made}" if change.made else ""
    return f"{change.what:<8}  {line}{change.id}{made}{fields}: {change.prompt}"


def _twin(twin: Twin) -> str:
    other = f"{twin.other} of bank {twin.bank}" if twin.bank else twin.other
    return f"{twin.score:.2f}  line {twin.line}: {twin.id} and {other}"
