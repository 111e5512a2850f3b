"""Commands on banks that need the database or the sandbox: `dailygrad bank import`, `approve`, `undo`, `prove` …."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
import time as clockwork
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast, get_args

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import questions
from questions import Reading, read_path
from questions.cli import AnswerPattern, QuestionPattern, RecipeLines, bank_command, recipe_text
from questions.formats import UNKNOWN
from questions.proof_report import ProofReport, proof_report_github, proof_report_json, proof_report_text
from questions.report import FORMATS, missing_path, no_documents
from questions.suggestions import did_you_mean
from sandbox.embedded import embedded_sandbox
from service.app import Service
from service.banks import import_history, moderation
from service.banks.imports import ImportOptions, NoDocuments, import_path
from service.banks.proof_checks import DRAWS, ProofSettings
from service.banks.proving import ProofOutcome, Work, collect_results, plan_proofs, prove_all
from service.cli import in_database
from service.errors import Refused
from service.process import CommandFailed, errors, out
from service.wire import BankLog, Generated, ImportChange, ImportView, NotFound, Refusal, Twin, UndoRefused, describe

SHIPPED = Path(questions.__file__).parent / "banks"

T = TypeVar("T")


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
        raise CommandFailed(missing_path(path))
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
        try:
            return await import_path(service.sessions, path, service.clock(), not dry_run, options, recipe)
        except NoDocuments as problem:
            raise CommandFailed(str(problem)) from None


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
def bank_undo(
    name: Annotated[str, typer.Argument(help="Name of a shared bank.")],
    number: Annotated[
        int | None, typer.Option("--import", metavar="N", min=1, help="Undo only if the latest import is this one.")
    ] = None,
) -> None:
    """Undo the latest import into a bank. Run it again to redo the import."""

    async def undo(service: Service) -> ImportView:
        work = partial(import_history.undo_import, name=name, number=number, now=service.clock())
        return await _in_transaction(service, work)

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
        case UndoRefused(bank=bank, why="not latest"):
            return (
                f"that import of {bank} is not the latest any more: it was undone, or another one came after it; "
                f"see `dailygrad bank log {bank}`"
            )
        case UndoRefused(bank=bank):
            return f"no import of {bank} changed anything: there is nothing to undo"
        case _:
            return describe(refusal)


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
        raise CommandFailed(missing_path(missing))
    shipped = SHIPPED.relative_to(Path.cwd()) if SHIPPED.is_relative_to(Path.cwd()) else SHIPPED
    readings = [reading for path in paths or [shipped] for reading in _read(path)]
    ids = {question.id for reading in readings for question in reading.bank.questions}
    unknown = set(only or ()) - ids
    if unknown:
        cure = did_you_mean(min(unknown), ids, "`dailygrad bank list` shows all")
        raise CommandFailed(f"no question has the id {min(unknown)}: {cure}")
    if only:
        readings = [one for one in readings if any(question.id in only for question in one.bank.questions)]
    work = plan_proofs(readings, only=only or (), settings=ProofSettings(mutation, draws, seed))
    proving = asyncio.run(_bank_prove(readings, work, torch, draws))
    if not only:
        proving = _with_reading_errors(proving, readings)
    if format == "text":
        Console(highlight=False, soft_wrap=True).print(proof_report_text(proving), end="")
    else:
        sys.stdout.write((proof_report_json if format == "json" else proof_report_github)(proving) + "\n")
    raise SystemExit(proving.exit_status)


def _read(path: Path) -> list[Reading]:
    """Returns the documents at a path. Raises CommandFailed for a folder without any, and for what is no document."""
    readings = read_path(path)
    if not readings:
        raise CommandFailed(no_documents(path))
    for one in readings:
        if one.bank.dialects == (UNKNOWN,):
            raise CommandFailed(f"{one.source.name}: {one.findings[0].message}; {one.findings[0].help}")
    return readings


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


def _with_reading_errors(proving: ProofReport, readings: Sequence[Reading]) -> ProofReport:
    """Adds what could not be read, as `bank check` reports it: what is not read is not proved either."""
    documents = []
    for document, reading in zip(proving.documents, readings, strict=True):
        errors = [finding for finding in reading.findings if finding.severity == "error"]
        findings = sorted((*document.findings, *errors), key=lambda finding: (finding.span, finding.code))
        documents.append(replace(document, findings=tuple(findings)))
    return replace(proving, documents=tuple(documents))


def import_text(view: ImportView, dry_run: bool) -> str:
    """Returns what an import did or, with `dry_run`, what it would do to each question."""
    return "\n".join(_import_lines(view, dry_run))


def _import_lines(view: ImportView, dry_run: bool) -> Iterator[str]:
    if view.errors:
        yield f"  {view.name}: not imported"
        # A finding ends at a blank line.
        for block in re.split(r"\n{2,}|\n(?=error: )", view.findings):
            if block.startswith("error"):
                yield from (f"    {line}".rstrip() for line in block.splitlines())
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
    if dry_run:
        text = "\n\n".join(part for part in (view.findings, view.summary) if part)
        yield from (f"    {line}".rstrip() for line in text.splitlines())


def undone_text(view: ImportView) -> str:
    """Returns what an undo did to each question."""
    head = f"  {view.name}: {view.changed} changed back, {view.retired} retired, {view.returned} restored"
    return "\n".join((head, *(f"    {_change(change)}" for change in view.changes)))


def log_text(log: BankLog) -> str:
    """Returns the imports of a bank, one per line, newest first."""
    count = log.imports[0].number if log.imports else 0
    newest = f", the newest {len(log.imports)}" if count > len(log.imports) else ""
    lines = [f"  {log.name}: {count} {'import' if count == 1 else 'imports'}{newest}"]
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
