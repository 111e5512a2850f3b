"""Statements that are built once, because building most of them takes SQLAlchemy longer than running them, and
statements for many rows at once."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import islice
from typing import Any, ParamSpec, TypeVar, cast

from sqlalchemy import (
    JSON,
    BigInteger,
    ColumnElement,
    Executable,
    Table,
    Text,
    any_,
    bindparam,
    case,
    column,
    func,
    literal,
    select,
)
from sqlalchemy import cast as cast_sql
from sqlalchemy.dialects.postgresql import ARRAY, Insert, insert
from sqlalchemy.orm import DeclarativeBase, InstrumentedAttribute

BATCH = 10_000
"""Rows that one statement is about, so that what it sends stays within some megabytes, and its time within seconds."""

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound=Executable)


def built_once(build: Callable[P, S]) -> Callable[P, tuple[S, dict[str, Any]]]:
    """Decorates a function that builds a statement, so that it runs once, with bound parameters as its arguments.

    The decorated function returns the statement and the values, for `session.execute(*find_it(id_))`. `build` receives
    None for an argument that is None, so that a statement can leave a condition out; it runs once for each set of such
    arguments. Names of arguments must differ from the columns that an INSERT or UPDATE sets, and an INSERT needs the
    execution option `dml_strategy="raw"`: otherwise the ORM takes the values for a row.
    """
    names = tuple(inspect.signature(build).parameters)

    @functools.cache
    def built(given: tuple[str, ...]) -> S:
        return build(**{name: bindparam(name) if name in given else None for name in names})  # type: ignore[arg-type, call-arg]

    @functools.wraps(build)
    def bound(*values: P.args, **named: P.kwargs) -> tuple[S, dict[str, Any]]:
        asked = dict(zip(names, values, strict=False)) | named
        given = {name: asked[name] for name in names if asked.get(name) is not None}
        return built(tuple(given)), given

    return bound


def insert_rows(model: type[DeclarativeBase], rows: Sequence[Mapping[str, Any]]) -> Insert:
    """Returns one statement that inserts any number of rows, at least one, which all name the same columns.

    SQLAlchemy executes an INSERT with a list of rows once for each of them.
    """
    cells = columns_of_rows(model, rows)
    return insert(cast(Table, model.__table__)).from_select(list(cells), select(*cells.values()))


def batches(items: Iterable[T], size: int = BATCH) -> Iterator[list[T]]:
    """Yields the items in batches of at most `size`, in order."""
    left = iter(items)
    while batch := list(islice(left, size)):
        yield batch


def json_array(value: Any) -> ColumnElement[Any]:
    """Returns the JSON array, or an empty one in place of anything else."""
    return case((func.jsonb_typeof(value) == "array", value), else_=func.jsonb_build_array())


def insert_batches(model: type[DeclarativeBase], rows: Sequence[Mapping[str, Any]]) -> Iterator[Insert]:
    """Returns the statements that insert the rows, `BATCH` by each: none if there are no rows."""
    return (insert_rows(model, batch) for batch in batches(rows))


def columns_of_rows(model: type[DeclarativeBase], rows: Sequence[Mapping[str, Any]]) -> dict[str, ColumnElement[Any]]:
    """Returns the columns of rows of a table, by name, as a table to select from."""
    # As JSON and not as an array for each column, because psycopg quotes each item of an array in Python.
    sent = cast_sql(literal(json.dumps(rows, default=_as_sent, allow_nan=False), Text), JSON)
    columns = [column(name, model.__table__.c[name].type) for name in rows[0]]
    cells = func.json_to_recordset(sent).table_valued(*columns, name="given").render_derived(with_types=True).c
    return {name: cells[name] for name in rows[0]}


def is_any_of(column: ColumnElement[int] | InstrumentedAttribute[int], ids: Collection[int]) -> ColumnElement[bool]:
    """Tests whether a column has one of the ids, which are one parameter: PostgreSQL takes at most 65,535."""
    return column == any_(literal(list(ids), ARRAY(BigInteger)))


def _as_sent(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"JSON cannot hold {value!r}")
