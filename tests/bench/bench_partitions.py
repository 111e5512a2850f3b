"""Benchmark: the ledger as one table and as monthly partitions, at very many rows; see docs/scaling.md.

PostgreSQL accepts a unique constraint on a partitioned table only if it contains the partition key. So a ledger by
month needs a second table for its idempotency keys, which is not partitioned. The tables are like the real one, without
its triggers and foreign keys, which cost the same in both.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import psycopg

from service.store.session import libpq_url
from tests.bench.rounds import database

MEMBERS = 20
"""Answers to a round."""
MONTHS = 30
TIMES = 200
"""Rounds closed, and boards looked up, at the end."""


_START = "timestamptz '2024-01-01'"
_COLUMNS = "key, workspace_id, member_id, round_id, points, credit, seconds, reason, at"
_ROWS = f"""
    select 'round:' || round || ':' || round % 1000 * {MEMBERS} + member, 1 + round % 1000,
        round % 1000 * {MEMBERS} + member, round, 3, 1.0, 12.5, 'correct',
        {_START} + (round - 1) / {{per_month}} * interval '1 month'
            + (round - 1) % {{per_month}} * (interval '28 days' / {{per_month}})
    from generate_series({{first}}::bigint, {{last}}::bigint) round, generate_series(1, {MEMBERS}) member
"""
_PARTITIONED = """
    create table by_month (like ledger including defaults) partition by range (at);
    create sequence by_month_ids owned by by_month.id;
    alter table by_month alter column id set default nextval('by_month_ids'), add primary key (id, at);
    create index on by_month (workspace_id, at);
    create index on by_month (member_id, at);
    create index on by_month (round_id, member_id);
    create table by_month_key (key varchar primary key);
"""


@dataclass
class Ledgers:
    """Both ledgers in one database, with rows for so many rounds a month."""

    connection: psycopg.Connection
    per_month: int
    rounds: int = 0

    @classmethod
    def made(cls, connection: psycopg.Connection, rows: int) -> Ledgers:
        connection.execute("create table plain (like ledger including defaults including indexes)")
        connection.execute("create sequence plain_ids owned by plain.id")
        connection.execute("alter table plain alter column id drop identity if exists")
        connection.execute("alter table plain alter column id set default nextval('plain_ids')")
        connection.execute(_PARTITIONED)
        for month in range(MONTHS + 4):  # also for the rounds that are closed at the end
            bounds = [f"{_START} + interval '{month + each} months'" for each in (0, 1)]
            first, last = (str(one) for one in connection.execute(f"select {', '.join(bounds)}").fetchone() or ())
            connection.execute(
                f"create table by_month_{month} partition of by_month for values from ('{first}') to ('{last}')"
            )
        return cls(connection, rows // MONTHS // MEMBERS)

    def rows(self, first: int, last: int) -> str:
        return _ROWS.format(per_month=self.per_month, first=first, last=last)

    def load(self, table: str) -> float:
        """Fills a ledger month by month. Returns how long that took, seconds."""
        began = perf_counter()
        for month in range(MONTHS):
            self._post(table, month * self.per_month + 1, (month + 1) * self.per_month)
        self.rounds = MONTHS * self.per_month
        return perf_counter() - began

    def _post(self, table: str, first: int, last: int) -> int:
        """Posts points of rounds, each row once. Returns how many rows are new."""
        rows = self.rows(first, last)
        if table == "plain":
            made = self.connection.execute(
                f"insert into plain ({_COLUMNS}) {rows} on conflict (key) do nothing".encode()
            )
            return made.rowcount
        made = self.connection.execute(
            f"""
            with given ({_COLUMNS}) as ({rows}), fresh as (
                insert into by_month_key select key from given on conflict do nothing returning key
            )
            insert into by_month ({_COLUMNS}) select {_COLUMNS} from given join fresh using (key)
            """.encode()
        )
        return made.rowcount

    def close_again(self, table: str, round_id: int) -> int:
        """Closes a round, perhaps once more. Returns how many rows are new."""
        return self._post(table, round_id, round_id)

    def year_of(self, table: str, member: int) -> object:
        """Sums a member's points of the last year."""
        year = f"at >= {_START} + interval '{MONTHS - 12} months'"
        return self.connection.execute(
            f"select sum(points) from {table} where member_id = %s and {year}".encode(), [member]
        ).fetchone()

    def of_round(self, table: str, round_id: int) -> int:
        """Returns how many rows a round has, as a correction reads them."""
        found = self.connection.execute(f"select id, points from {table} where round_id = %s".encode(), [round_id])
        return len(found.fetchall())

    def retire_month(self, table: str) -> None:
        """Removes the oldest month, and gives its space back for new rows."""
        if table == "plain":
            self.connection.execute(f"delete from plain where at < {_START} + interval '1 month'")
            self.connection.execute("vacuum plain")
        else:
            self.connection.execute("drop table by_month_0")

    def megabytes(self, table: str) -> float:
        parts = f"relname = '{table}' or relname ~ '^{table}_(key|[0-9]+)$'"
        found = self.connection.execute(
            f"select sum(pg_total_relation_size(oid)) from pg_class where relkind = 'r' and ({parts})".encode()
        ).fetchone()
        return float(found[0]) / 1e6 if found else 0.0


def milliseconds(calls: int, call: Callable[[int], object]) -> float:
    """Returns the median time of a call with the numbers from 1 on."""
    spent = []
    for number in range(1, calls + 1):
        began = perf_counter()
        call(number)
        spent.append(1000 * (perf_counter() - began))
    return median(spent)


def measure(connection: psycopg.Connection, rows: int, times: int = TIMES) -> dict[str, list[float]]:
    """Returns what each step takes with the plain ledger, and by month."""
    ledgers, chance = Ledgers.made(connection, rows), random.Random(1)
    report: dict[str, list[float]] = {}
    for table in ("plain", "by_month"):
        report.setdefault("load, rows a second", []).append(rows / ledgers.load(table))
        report.setdefault("size, MB", []).append(ledgers.megabytes(table))
        connection.execute(f"vacuum (analyze) {table}")
        last = ledgers.rounds
        closing = milliseconds(times, lambda number, table=table, last=last: ledgers.close_again(table, last + number))  # type: ignore[misc]
        report.setdefault("close a round, ms", []).append(closing)
        chosen = [chance.randint(1, last) for _ in range(times + 1)]
        report.setdefault("close it again, ms", []).append(
            milliseconds(times, lambda number, table=table, chosen=chosen: ledgers.close_again(table, chosen[number]))  # type: ignore[misc]
        )
        report.setdefault("a member's year, ms", []).append(
            milliseconds(times, lambda number, table=table: ledgers.year_of(table, number * 97 % 20_000))  # type: ignore[misc]
        )
        report.setdefault("a round's rows, ms", []).append(
            milliseconds(times, lambda number, table=table, chosen=chosen: ledgers.of_round(table, chosen[number]))  # type: ignore[misc]
        )
        report.setdefault("retire a month, ms", []).append(
            milliseconds(1, lambda number, table=table: ledgers.retire_month(table))  # type: ignore[misc]
        )
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of each; 10 million need 8 GB of disk")
    options = parser.parse_args()
    with database() as url, psycopg.connect(libpq_url(url), autocommit=True) as connection:
        version = connection.execute("show server_version").fetchone()
        print(f"PostgreSQL {version and version[0]}, {options.rows:,} rows in {MONTHS} months\n")
        print("| Step | One table | By month |\n|---|---|---|")
        for step, (plain, by_month) in measure(connection, options.rows).items():
            print(f"| {step} | {plain:,.1f} | {by_month:,.1f} |")


if __name__ == "__main__":
    main()
