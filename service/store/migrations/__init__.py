"""Migrations of the database schema with Alembic. The migrations themselves are in `versions`."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, create_engine

from service.process import CommandFailed
from service.store.session import sqlalchemy_url

ONE_AT_A_TIME = 0x_DA117_0001
"""Key of the advisory lock that makes processes migrate, back up and restore one after the other."""


def upgrade(database_url: str) -> None:
    """Upgrades the database to the newest revision. Several processes may call it at once. Blocks: use a thread.

    Raises CommandFailed if a newer program has upgraded it further: there is no way back but a backup.
    """
    at = current(database_url)
    if at is not None and not known(at):
        raise newer(at)
    command.upgrade(_config(database_url), "head")


def upgrade_within(connection: Connection) -> None:
    """Upgrades the database to the newest revision in the connection's open transaction, without committing."""
    config = _config("postgresql://")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def newest() -> str:
    """Returns the revision that this code expects."""
    head = ScriptDirectory.from_config(_config("postgresql://")).get_current_head()
    assert head is not None, "there is at least one migration"
    return head


def known(revision: str) -> bool:
    """Returns whether this code knows the revision. It does not know newer ones."""
    try:
        return ScriptDirectory.from_config(_config("postgresql://")).get_revision(revision).revision == revision
    except CommandError:
        return False


def newer(revision: str) -> CommandFailed:
    """Returns the error for a database that a newer program has upgraded."""
    return CommandFailed(
        f"the database is at {revision}, which this program does not know: a newer one has upgraded it, from "
        f"{newest()} or later. Use that program, or restore a backup from before the upgrade."
    )


def current(database_url: str) -> str | None:
    """Returns the database's revision, or None if it is empty."""
    engine = create_engine(sqlalchemy_url(database_url))
    try:
        with engine.connect() as connection:
            return MigrationContext.configure(connection).get_current_revision()
    finally:
        engine.dispose()


def _config(database_url: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    # An attribute rather than an option: options interpolate percent signs, which a password may contain.
    config.attributes["url"] = sqlalchemy_url(database_url)
    return config
