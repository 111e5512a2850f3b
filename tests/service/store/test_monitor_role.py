"""The exporter's role reads PostgreSQL's statistics and nothing of ours."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from sqlalchemy.engine import make_url

from service.process import CommandFailed
from service.store.monitor_role import create_monitor_role
from service.store.session import libpq_url

Role = str


@pytest.fixture
def role(database_url: str) -> Iterator[Role]:
    """A name that no other test uses: roles belong to the whole server."""
    name = f"monitor_{uuid4().hex}"
    yield name
    with psycopg.connect(libpq_url(database_url)) as admin:
        admin.execute(SQL("drop role if exists {}").format(Identifier(name)))


def hashed(database_url: str, role: Role) -> str:
    with psycopg.connect(libpq_url(database_url)) as admin:
        found = admin.execute("select rolpassword from pg_authid where rolname = %s", [role]).fetchone()
    assert found is not None
    return str(found[0])


def as_role(database_url: str, role: Role, password: str) -> psycopg.Connection:
    url = make_url(libpq_url(database_url)).set(username=role, password=password)
    return psycopg.connect(url.render_as_string(hide_password=False))


def test_it_reads_statistics_and_no_row(database_url: str, role: Role) -> None:
    create_monitor_role(database_url, "first-password", role)
    with (
        psycopg.connect(libpq_url(database_url)) as ours,
        as_role(database_url, role, "first-password") as monitor,
    ):
        ours.execute("select 'a statement of the service'")
        seen = monitor.execute("select query from pg_stat_activity where pid = %s", [ours.info.backend_pid]).fetchone()
        assert seen is not None and "a statement of the service" in seen[0]
        assert monitor.execute("select count(*) > 10 from pg_stat_user_tables").fetchone() == (True,)
        for table in ("answer", "member", "installation", "outbox"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), monitor.transaction():
                monitor.execute(SQL("select 1 from {}").format(Identifier(table)))
        with pytest.raises(psycopg.errors.InsufficientPrivilege), monitor.transaction():
            monitor.execute("create table mine (x int)")


def test_another_password_takes_the_place_of_the_first_and_is_stored_as_a_hash(database_url: str, role: Role) -> None:
    create_monitor_role(database_url, "first-password", role)
    before = hashed(database_url, role)
    create_monitor_role(database_url, "second-password", role)
    after = hashed(database_url, role)
    assert before != after
    assert before.startswith("SCRAM-SHA-256$") and after.startswith("SCRAM-SHA-256$")


def test_a_user_that_may_not_create_roles_is_told_what_to_do(database_url: str, role: Role) -> None:
    create_monitor_role(database_url, "first-password", role)
    url = make_url(libpq_url(database_url)).set(username=role, password="first-password")
    with pytest.raises(CommandFailed, match="grant pg_monitor to another"):
        create_monitor_role(url.render_as_string(hide_password=False), "x" * 20, "another")
