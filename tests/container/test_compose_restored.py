"""The end of an installation: processes drain, and a backup restored on an empty engine is identical."""

from __future__ import annotations

import pytest

from tests.container.whole import Report, Whole, project

pytestmark = [pytest.mark.container, pytest.mark.timeout(900)]

TABLES = "select string_agg(tablename, ' ' order by tablename) from pg_tables where schemaname = 'public'"
STOPPED = ("web", "worker", "service", "sandbox")


def contents(whole: Whole) -> dict[str, str]:
    """Returns each table's number of rows and a checksum independent of their order."""
    tables = whole.sql(TABLES).split()
    each = (
        f"select '{table}', count(*), md5(coalesce(string_agg(t::text, '|' order by t::text), '')) from \"{table}\" t"
        for table in tables
    )
    return dict(line.split("|", 1) for line in whole.sql(" union all ".join(each)).splitlines())


def test_stopping_drains_every_process(whole: Whole) -> None:
    whole.compose("stop", "--timeout", "30", *STOPPED)
    for service in STOPPED:
        assert {one["State"]["ExitCode"] for one in whole.inspected(service)} == {0}


def test_a_backup_is_the_same_on_an_empty_engine(whole: Whole, measured: Report) -> None:
    whole.compose("stop", "--timeout", "30", *STOPPED)
    before = contents(whole)
    assert int(before["question"].split("|")[0]) > 100
    made = whole.tried("run", "--rm", "--no-deps", "-T", "service", "backup", "-")
    assert made.returncode == 0, made.stderr.decode()
    # Only when the backup was made is new.
    assert contents(whole) | {"maintenance": before["maintenance"]} == before
    with project("restored") as other:
        other.compose("up", "--detach", "--wait", "--no-build", "postgres")
        done = other.tried("run", "--rm", "--no-deps", "-T", "service", "restore", "-", stdin=made.stdout)
        assert done.returncode == 0, done.stderr.decode()
        assert contents(other) == before
        again = other.tried("run", "--rm", "--no-deps", "-T", "service", "restore", "-", stdin=made.stdout)
        assert (again.returncode, b"--replace" in again.stderr) == (2, True), again.stderr.decode()
        assert contents(other) == before
    rows = sum(int(one.split("|")[0]) for one in before.values())
    measured["restored on an empty engine"] = (
        f"{rows} rows of {len(before)} tables the same, {len(made.stdout) / 1e6:.1f} MB"
    )
