"""Migrations of the database schema with Alembic. The migrations themselves are in `versions`.

Alembic is imported where it migrates: a process that only compares versions does without its 6 MB.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, create_engine, text

from service.process import CommandFailed
from service.store.session import sqlalchemy_url

if TYPE_CHECKING:
    from alembic.config import Config

ONE_AT_A_TIME = 0x_DA117_0001
"""Key of the advisory lock that makes processes migrate, back up and restore one after the other."""
_REVISION = re.compile(r'^(revision|down_revision) = "([^"]+)"', re.MULTILINE)


def upgrade(database_url: str) -> None:
    """Upgrades the database to the newest revision. Several processes may call it at once. Blocks: use a thread.

    Raises CommandFailed if a newer program has upgraded it further: there is no way back but a backup.
    """
    at = current(database_url)
    if at is not None and not known(at):
        raise newer(at)
    from alembic import command

    command.upgrade(_config(database_url), "head")


def upgrade_within(connection: Connection) -> None:
    """Upgrades the database to the newest revision in the connection's open transaction, without committing."""
    from alembic import command

    config = _config("postgresql://")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def newest() -> str:
    """Returns the revision that this code expects."""
    revisions = _list_revisions()
    (head,) = revisions.keys() - revisions.values()
    return head


def known(revision: str) -> bool:
    """Returns whether this code knows the revision. It does not know newer ones."""
    return revision in _list_revisions()


def _list_revisions() -> dict[str, str]:
    """Returns each revision with the one before it, which is empty for the first."""
    found = {}
    for path in (Path(__file__).parent / "versions").glob("*.py"):
        stated = dict(_REVISION.findall(path.read_text(encoding="utf-8")))
        if "revision" in stated:
            found[stated["revision"]] = stated.get("down_revision", "")
    return found


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
            if connection.scalar(text("select to_regclass('alembic_version')")) is None:
                return None
            revision: str | None = connection.scalar(text("select version_num from alembic_version"))
            return revision
    finally:
        engine.dispose()


def _config(database_url: str) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    # An attribute rather than an option: options interpolate percent signs, which a password may contain.
    config.attributes["url"] = sqlalchemy_url(database_url)
    return config
