"""`dailygrad archive`: writes closed months to Parquet files for analysis, one folder for each workspace and month."""

from __future__ import annotations

import contextlib
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final

import psycopg
import typer
from psycopg import IsolationLevel

from service.ops.database import find_database, refuse_other_version
from service.process import DATA, CommandFailed, make_folder, now, out
from service.store import analysis
from service.store.analysis import COLUMNS, NAME, ColumnType, Kind, Row
from service.store.session import libpq_url

archive_command = typer.Typer()

_GROUP: Final = 50_000
"""Rows of one row group, which is what a file's writer holds in memory."""


@dataclass(frozen=True, slots=True)
class Archived:
    """What was written for a month."""

    month: str
    rows: int
    files: int


@archive_command.command("archive")
def archive(
    folder: Annotated[Path, typer.Argument(help="Folder of the files, which is made if it is missing.")],
    month: Annotated[
        list[str] | None,
        typer.Option(metavar="YYYY-MM", help="Write this month again; may be repeated. Default: those not yet there."),
    ] = None,
    workspace: Annotated[
        list[int] | None,
        typer.Option(metavar="NUMBER", help="Only this workspace, by its number; may be repeated. Default: all."),
    ] = None,
    names: Annotated[
        bool, typer.Option("--names", help="Add members' names. Without it, a member is a number.")
    ] = False,
    data: Annotated[Path, typer.Option(envvar="DAILYGRAD_DATA", help="Data folder of `dailygrad run`.")] = DATA,
) -> None:
    """Write rounds, answers and points of closed months to Parquet files for analysis.

    Reads the database in DATABASE_URL, or else that of `dailygrad run`. A file has rows of one workspace, and nothing
    that members wrote.
    """
    arrow = Arrow()
    wanted = None if not month else [parse_month(one) for one in month]
    with find_database(data) as url:
        refuse_other_version(url)
        make_folder(folder)
        found = write_archive(arrow, url, folder, now(), wanted, workspace or None, names=names)
    for one in found:
        out.print(f"  {one.month}: {one.rows:,} rows in {one.files} files")
    if not found:
        out.print("  Nothing to write: every closed month is there already")


def parse_month(text: str) -> datetime:
    """Returns the start of a month such as 2026-10."""
    if not re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", text):
        raise typer.BadParameter(f"{text!r} is not a month such as 2026-10", param_hint="--month")
    return datetime(int(text[:4]), int(text[5:]), 1, tzinfo=UTC)


class Arrow:
    """pyarrow, which is installed only where the archive is used."""

    def __init__(self) -> None:
        try:
            self.arrow: Any = importlib.import_module("pyarrow")
            self.parquet: Any = importlib.import_module("pyarrow.parquet")
        except ModuleNotFoundError as missing:
            raise CommandFailed(
                f"the archive needs {missing.name}, which is not installed: pip install 'dailygrad[archive]'"
            ) from None

    def schema(self, kind: Kind, *, names: bool) -> Any:
        """Returns the columns of a kind of rows."""
        arrow = self.arrow
        types: dict[ColumnType, Any] = {
            "integer": arrow.int64(),
            "number": arrow.float64(),
            "text": arrow.string(),
            "texts": arrow.list_(arrow.string()),
            "boolean": arrow.bool_(),
            "day": arrow.date32(),
            "instant": arrow.timestamp("us", tz="UTC"),
        }
        columns = [(name, types[type_]) for name, (_, type_) in COLUMNS[kind].items()]
        return arrow.schema([*columns, *([(NAME, arrow.string())] if names and kind != "rounds" else [])])

    def write(self, file: Path, schema: Any, rows: Iterator[Row]) -> int:
        """Writes rows to a file, in place of the one there once it is complete. Returns how many."""
        new, count = file.with_name(f".{file.name}"), 0
        with contextlib.suppress(FileNotFoundError):
            new.unlink()
        with self.parquet.ParquetWriter(new, schema, compression="zstd") as writer:
            for first in rows:
                group = [first, *islice(rows, _GROUP - 1)]
                count += len(group)
                columns = [
                    self.arrow.array(column, type=field.type)
                    for column, field in zip(zip(*group, strict=True), schema, strict=True)
                ]
                writer.write_table(self.arrow.Table.from_arrays(columns, schema=schema))
        new.chmod(0o600)
        new.replace(file)
        return count


def write_archive(
    arrow: Arrow,
    database_url: str,
    folder: Path,
    at: datetime,
    months: list[datetime] | None = None,
    workspaces: list[int] | None = None,
    *,
    names: bool = False,
) -> list[Archived]:
    """Writes the months that are closed at that instant: those named, or those that are not there.

    Raises CommandFailed for a named month that is not closed.
    """
    written = []
    with psycopg.connect(libpq_url(database_url)) as connection:
        # All files of a month show the same instant.
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        for month in months or _closed_months(connection, at):
            bounds = (month, analysis.next_month(month))
            name = f"{month:%Y-%m}"
            if bounds[1] > at or analysis.has_open_round(connection, bounds):
                if months:
                    raise CommandFailed(f"{name} is not over: it has rounds that are open, or days to come")
                continue
            if months or not (folder / f"complete-{name}").exists():
                written.append(_write_month(arrow, connection, folder, bounds, workspaces, names=names))
                if workspaces is None:
                    (folder / f"complete-{name}").touch(mode=0o600)
            connection.rollback()
    return written


def _closed_months(connection: psycopg.Connection, at: datetime) -> Iterator[datetime]:
    month = analysis.first_month(connection)
    while month is not None and month < analysis.month_of(at):
        yield month
        month = analysis.next_month(month)


def _write_month(
    arrow: Arrow,
    connection: psycopg.Connection,
    folder: Path,
    bounds: tuple[datetime, datetime],
    workspaces: list[int] | None,
    *,
    names: bool,
) -> Archived:
    kinds: tuple[Kind, ...] = ("rounds", "answers", "ledger")
    name = f"{bounds[0]:%Y-%m}"
    counts = []
    for kind in kinds:
        schema = arrow.schema(kind, names=names)
        for workspace, rows in analysis.read_month(connection, kind, bounds, workspaces, names=names):
            place = make_folder(folder / kind / f"workspace={workspace}" / f"month={name}")
            counts.append(arrow.write(place / "rows.parquet", schema, rows))
    return Archived(name, sum(counts), len(counts))
