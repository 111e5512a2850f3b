"""The database role of PostgreSQL's exporter: it reads statistics, and no table of the quiz."""

from __future__ import annotations

from typing import Final

import psycopg
from psycopg.sql import SQL, Identifier, Literal

from service.process import CommandFailed
from service.store.migrations import ONE_AT_A_TIME
from service.store.session import libpq_url

MONITOR_ROLE: Final = "dailygrad_monitor"
MOST_CONNECTIONS: Final = 5
"""Connections that the role may have: a monitoring that goes wrong takes none from the service."""


def create_monitor_role(database_url: str, password: str, role: str = MONITOR_ROLE) -> None:
    """Creates the role with the rights of `pg_monitor` only, or gives it this password. Blocks: use a thread.

    Raises CommandFailed if the database's user may not create roles.
    """
    try:
        with psycopg.connect(libpq_url(database_url)) as connection:
            connection.execute("select pg_advisory_xact_lock(%s)", [ONE_AT_A_TIME])
            # Hashed here, so that the password is in no statement, and in no log of statements.
            hashed = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
            known = connection.execute("select 1 from pg_roles where rolname = %s", [role]).fetchone()
            rights = "login nosuperuser nocreatedb nocreaterole noreplication connection limit {} password {}"
            connection.execute(
                SQL(f"{'alter' if known else 'create'} role {{}} {rights}").format(
                    Identifier(role), Literal(MOST_CONNECTIONS), Literal(hashed)
                )
            )
            connection.execute(SQL("grant pg_monitor to {}").format(Identifier(role)))
    except psycopg.errors.InsufficientPrivilege as error:
        raise CommandFailed(
            f"the database's user may not create the role {role} ({error.diag.message_primary}): unset "
            "DAILYGRAD_MONITOR_PASSWORD_FILE, and have an administrator run "
            f"`create role {role} login password '...'; grant pg_monitor to {role};`"
        ) from None
