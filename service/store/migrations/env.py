"""Alembic's entry point: migrates on one connection, in one transaction, one process at a time.

Call `migrations.upgrade` instead.
"""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection, create_engine, text

from service.store.migrations import ONE_AT_A_TIME
from service.store.tables import Base


def migrate() -> None:
    given = context.config.attributes.get("connection")
    if given is not None:
        _migrate_on(given)
        return
    engine = create_engine(context.config.attributes["url"])
    try:
        with engine.begin() as connection:
            _migrate_on(connection)
    finally:
        engine.dispose()


def _migrate_on(connection: Connection) -> None:
    connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": ONE_AT_A_TIME})
    context.configure(connection=connection, target_metadata=Base.metadata)
    with context.begin_transaction():
        context.run_migrations()


migrate()
