"""A restore to an instant, as docs/operating.md describes it: everything is stopped, restored and started again."""

from __future__ import annotations

import pytest

from tests.container.whole import Report, Whole, project

pytestmark = [pytest.mark.container, pytest.mark.timeout(900)]

SCRIPT = "/point_in_time.sh"
ARCHIVED = """
do $$
declare switched text := pg_walfile_name(pg_switch_wal());
begin
    for i in 1..600 loop
        perform pg_stat_clear_snapshot();
        exit when (select last_archived_wal >= switched from pg_stat_archiver);
        perform pg_sleep(0.2);
    end loop;
end $$
"""
"""Waits until everything written so far is in the archive."""
PROMOTED = """
do $$ begin
    for i in 1..600 loop
        exit when not pg_is_in_recovery();
        perform pg_sleep(0.2);
    end loop;
end $$
"""


def test_the_database_is_restored_to_the_instant_before_a_mistake(measured: Report) -> None:
    with project("instant") as plain:
        one = Whole((*plain.words, "-f", "deploy/point-in-time.yml"), plain.environment)
        up = ("up", "--detach", "--wait", "--wait-timeout", "600", "--no-build", "postgres")
        one.compose(*up)
        one.sql("create table diary (said text); insert into diary values ('before the base backup')")
        one.compose("exec", "-T", "--user", "postgres", "postgres", "sh", SCRIPT, "base")
        one.sql("insert into diary values ('kept')")
        # A base backup is good for the instants after the second in which it ended.
        instant = one.sql("select clock_timestamp() from pg_sleep(1.1)")
        one.sql("update diary set said = 'overwritten by mistake'")
        one.sql(ARCHIVED)
        one.compose("down", "--timeout", "30")
        restored = one.compose(
            *("run", "--rm", "--no-deps", "-T", "--user", "postgres", "--entrypoint", "sh", "postgres"),
            *(SCRIPT, "restore", instant),
        )
        assert "it replays WAL up to" in restored
        one.compose(*up)
        one.sql(PROMOTED)
        assert one.sql("select string_agg(said, ', ' order by said) from diary") == "before the base backup, kept"
        one.sql("insert into diary values ('written after the restore')")
        measured["restored to an instant"] = restored.strip().splitlines()[-1]
