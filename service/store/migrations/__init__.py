"""The schema's history. `upgrade` brings a database to the newest state; the steps are in `versions`."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, create_engine

from service.store.session import sqlalchemy_url

ONE_AT_A_TIME = 0x_DA117_0001
"""Key of the advisory lock: of two processes that start together one migrates and the other finds it done."""


def upgrade(database_url: str, revision: str = "head") -> None:
    """Bring the database to `revision`. Safe to call from several processes at once; blocks, so use a thread."""
    command.upgrade(_config(database_url), revision)


def upgrade_within(connection: Connection, revision: str = "head") -> None:
    """Bring the database to `revision` in the transaction the connection is in; nothing is committed."""
    config = _config("postgresql://")
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def downgrade(database_url: str, revision: str = "base") -> None:
    """Take the database back to `revision`; `base` drops everything of ours."""
    command.downgrade(_config(database_url), revision)


def newest() -> str:
    """The revision this code expects."""
    head = ScriptDirectory.from_config(_config("postgresql://")).get_current_head()
    assert head is not None, "there is at least one migration"
    return head


def known(revision: str) -> bool:
    """Whether this code knows that revision; it knows none that is newer than itself."""
    try:
        return ScriptDirectory.from_config(_config("postgresql://")).get_revision(revision).revision == revision
    except CommandError:
        return False


def current(database_url: str) -> str | None:
    """The revision the database is at; None for an empty one."""
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
    # Not as an option of the file's kind: a password may hold a percent sign.
    config.attributes["url"] = sqlalchemy_url(database_url)
    return config
