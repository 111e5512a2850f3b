"""Why tables are not partitioned by month: PostgreSQL cannot keep an idempotency key unique across partitions.

A small run of `tests.bench.bench_partitions`, which docs/scaling.md quotes.
"""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from service.store.session import libpq_url
from tests.bench.bench_partitions import MEMBERS, MONTHS, Ledgers, measure


@pytest.fixture
def connection(database_url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(libpq_url(database_url), autocommit=True) as connection:
        yield connection


def test_a_key_is_unique_in_its_month_only(connection: psycopg.Connection) -> None:
    ledgers = Ledgers.made(connection, MONTHS * MEMBERS)
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="must include all partitioning columns"):
        connection.execute("alter table by_month add unique (key)")
    connection.execute("alter table by_month add unique (key, at)")
    post = "insert into by_month (key, workspace_id, member_id, points, reason, at) values ('once', 1, 1, 3, '', {})"
    for month in ("2024-01-05", "2024-02-05"):
        connection.execute(post.format(f"'{month}'").encode())
    found = connection.execute("select count(*) from by_month where key = 'once'").fetchone()
    assert found == (2,), "the same points twice"
    assert ledgers.per_month == 1


def test_with_a_table_of_keys_both_ledgers_are_the_same(connection: psycopg.Connection) -> None:
    rows = 2 * MONTHS * MEMBERS
    report = measure(connection, rows, times=3)
    assert {len(values) for values in report.values()} == {2}
    count = "select count(*), sum(points), count(distinct key) from {} where at >= '2024-02-01'"
    plain, by_month = (connection.execute(count.format(table).encode()).fetchone() for table in ("plain", "by_month"))
    assert plain == by_month
    assert plain is not None and plain[0] == rows - 2 * MEMBERS + 3 * MEMBERS == plain[2], "the oldest month is retired"
