"""What alembic runs to migrate: one connection, one transaction, one migrator at a time. Use `migrations.upgrade`."""

from __future__ import annotations

from alembic import context
from sqlalchemy import create_engine, text

from service.store.tables import Base

ONE_AT_A_TIME = 0x_DA117_0001
"""Key of the advisory lock: of two processes that start together one migrates and the other finds it done."""


def migrate() -> None:
    engine = create_engine(context.config.attributes["url"])
    try:
        with engine.begin() as connection:
            connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": ONE_AT_A_TIME})
            context.configure(connection=connection, target_metadata=Base.metadata)
            with context.begin_transaction():
                context.run_migrations()
    finally:
        engine.dispose()


migrate()
