"""Rows of rounds, answers and points for analysis, month by month and workspace by workspace."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, Literal

from psycopg import Connection
from psycopg.rows import tuple_row

Kind = Literal["rounds", "answers", "ledger"]
ColumnType = Literal["integer", "number", "text", "texts", "boolean", "day", "instant"]
Row = tuple[Any, ...]

# ruff: noqa: S608 - only constant expressions are formatted into statements, never values

_QUESTION: Final[dict[str, tuple[str, ColumnType]]] = {
    "question": ("question.key", "text"),
    "version": ("question_version.id", "integer"),
    "kind": ("question_version.kind", "text"),
    "level": ("question_version.level", "text"),
    "topic": ("question_version.topic", "text"),
}
# A merged member's rows are those of the person they were merged into.
_MEMBER: Final = "coalesce(member.merged_into, member.id)"

COLUMNS: Final[dict[Kind, dict[str, tuple[str, ColumnType]]]] = {
    "rounds": {
        "round": ("round.id", "integer"),
        "schedule": ("round.schedule_id", "integer"),
        "channel": ("schedule.channel_id", "integer"),
        "day": ("round.day", "day"),
        "number": ("round.number", "integer"),
        "opens_at": ("round.opens_at", "instant"),
        "closes_at": ("round.closes_at", "instant"),
        "closed_at": ("round.closed_at", "instant"),
        "skipped": ("round.skipped", "text"),
        **_QUESTION,
    },
    "answers": {
        "answer": ("answer.id", "integer"),
        "member": (_MEMBER, "integer"),
        "round": ("answer.round_id", "integer"),
        "number": ("answer.number", "integer"),
        "at": ("answer.at", "instant"),
        **_QUESTION,
        "options": (
            "case when jsonb_typeof(answer.given -> 'options') = 'array' then "
            "array(select jsonb_array_elements_text(answer.given -> 'options')) end",
            "texts",
        ),
        "confidence": ("answer.given ->> 'confidence'", "text"),
        "counts": ("standing.answer_id is not null", "boolean"),
        "verdict": ("judged.verdict", "text"),
        "credit": ("judged.credit", "number"),
    },
    "ledger": {
        "entry": ("ledger.id", "integer"),
        "member": ("ledger.member_id", "integer"),
        "round": ("ledger.round_id", "integer"),
        "points": ("ledger.points", "integer"),
        "credit": ("ledger.credit", "number"),
        "seconds": ("ledger.seconds", "number"),
        "reason": ("ledger.reason", "text"),
        "at": ("ledger.at", "instant"),
    },
}
"""Columns of each kind of rows: where each comes from, and its type. Members are numbers. Neither names nor what
members wrote are among them."""

_SOURCES: Final[dict[Kind, tuple[str, str, str, str]]] = {
    "rounds": (
        "round join schedule on schedule.id = round.schedule_id left join question_version on "
        "question_version.id = round.version_id left join question on question.id = question_version.question_id",
        "schedule.workspace_id",
        "round.opens_at",
        "round.id",
    ),
    "answers": (
        "answer join member on member.id = answer.member_id join question_version on "
        "question_version.id = answer.version_id join question on question.id = question_version.question_id "
        "left join standing on standing.answer_id = answer.id left join lateral (select verdict, credit from verdict "
        "where answer_id = answer.id order by at desc, id desc limit 1) judged on true",
        "member.workspace_id",
        "answer.at",
        "answer.id",
    ),
    "ledger": (
        "ledger join member on member.id = ledger.member_id",
        "ledger.workspace_id",
        "ledger.at",
        "ledger.id",
    ),
}
"""Of each kind: its tables, and the columns with the workspace, the time that decides the month, and the order."""

NAME: Final = "member_name"
"""Column with the name, where it is asked for. A member who was forgotten has none."""
_NAME: Final = (
    f"(select nullif(named.name, '') from member named where named.id = {_MEMBER} and named.forgotten_at is null)"
)
_FETCHED: Final = 10_000
"""Rows fetched at a time."""


def read_month(
    connection: Connection, kind: Kind, bounds: tuple[datetime, datetime], workspaces: list[int] | None, *, names: bool
) -> Iterator[tuple[int, Iterator[Row]]]:
    """Yields each workspace that has rows in the month, with these rows; only those named, if some are.

    Rows are read as they are asked for, so a month may be larger than memory.
    """
    tables, workspace, at, order = _SOURCES[kind]
    columns = [source for source, _ in COLUMNS[kind].values()]
    if names and kind != "rounds":
        columns.append(_NAME)
    query = (
        f"select {workspace}, {', '.join(columns)} from {tables} where {at} >= %(first)s and {at} < %(last)s "
        f"and (%(all)s or {workspace} = any(%(workspaces)s)) order by {workspace}, {order}"
    )
    with connection.cursor(name="archive", row_factory=tuple_row) as cursor:
        cursor.itersize = _FETCHED
        given = {"all": workspaces is None, "workspaces": workspaces or [], "first": bounds[0], "last": bounds[1]}
        cursor.execute(query.encode(), given)
        for found, rows in groupby(cursor, key=itemgetter(0)):
            yield int(found), (row[1:] for row in rows)


def first_month(connection: Connection) -> datetime | None:
    """Returns the start of the first month with a round; None if there is no round."""
    found = connection.execute("select min(opens_at) from round").fetchone()
    earliest: datetime | None = found[0] if found else None
    return None if earliest is None else month_of(earliest)


def has_open_round(connection: Connection, bounds: tuple[datetime, datetime]) -> bool:
    """Returns whether a round that was opened in the month has not been closed."""
    query = """
        select exists (
            select from round where closed_at is null and skipped is null and opens_at >= %s and opens_at < %s
        )
    """
    found = connection.execute(query.encode(), bounds).fetchone()
    return bool(found and found[0])


def month_of(instant: datetime) -> datetime:
    """Returns the start of its month, in UTC."""
    return instant.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


def next_month(month: datetime) -> datetime:
    """Returns the start of the month after a month."""
    return month.replace(year=month.year + month.month // 12, month=month.month % 12 + 1)
