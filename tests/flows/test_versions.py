"""A rolling upgrade: the next version migrates the database, and old and new processes serve side by side."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import time
from pathlib import Path

import pytest

from bot.cli import dispatching
from bot.core.dispatcher import Dispatcher
from service.client import ServiceClient
from service.store import migrations
from service.wire import Where, Who
from tests.bot.conftest import Wall
from tests.faults.backend import many_questions
from tests.flows.test_processes import (
    PATIENCE,
    ROOT,
    TOKEN,
    Part,
    Parts,
    done,
    environment,
    is_refused,
    once,
    parts,
    row,
)
from tests.flows.test_rolling import MEMBERS, address, burst, counting, ended, last, logged, served
from tests.flows.test_skewed_clock import DUE, MORE, MORNING, change, found, round_of, schedule

__all__ = ["parts"]
pytestmark = pytest.mark.slow

BOSS = Who(platform="web", workspace="local", member="boss", name="Boss", admin=True)
MIGRATION = '''"""What the next version adds."""

import sqlalchemy as sa
from alembic import op

revision = "next"
down_revision = "{before}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("round", sa.Column("added", sa.Text))
    op.create_table("added", sa.Column("id", sa.BigInteger, primary_key=True))
'''
NEW_FIELDS = {
    "admin.py": "    at: time = time(9, 0)\n",
    "bots.py": '    kind: Literal["question"] = "question"\n',
    "questions.py": "    cleared: bool = False\n",
}
"""Lines of a schedule, a post and an answer after which the next version has one more optional field."""


def make_next_version(folder: Path) -> Path:
    """Returns a copy of the source with one more migration, and with one more field in rows, replies and messages."""
    for name in ("bot", "service", "questions", "sandbox"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "dailygrad.py", folder)
    versions = folder / "service" / "store" / "migrations" / "versions"
    (versions / "next.py").write_text(MIGRATION.format(before=migrations.newest()))
    for name, line in NEW_FIELDS.items():
        file = folder / "service" / "wire" / name
        assert file.read_text().count(line) == 1
        file.write_text(file.read_text().replace(line, f'{line}    added: str = "by the next version"\n'))
    return folder


class NextVersion(Parts):
    """Processes of the next version."""

    source: Path

    def start(self, *words: str, **settings: str) -> Part:
        command = [sys.executable, "-m", "dailygrad", *words]
        # Not forked: a forked process has this version's modules.
        process = subprocess.Popen(
            command,
            cwd=self.source,
            env=environment(PYTHONUNBUFFERED="1", **settings),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.started.append(Part(process))
        return self.started[-1]


async def test_two_versions_side_by_side_lose_nothing_and_post_once(
    parts: Parts, new_database: Callable[[], str]
) -> None:
    database_url = new_database()
    done("migrate", DATABASE_URL=database_url)
    settings = {"DATABASE_URL": database_url, "DAILYGRAD_SERVICE_TOKEN": TOKEN}
    new = NextVersion(parts.folder, parts.started)
    new.source = make_next_version(parts.folder / "next")
    old_worker = parts.start("work", **settings)
    services = [served(parts, settings) for _ in range(2)]
    ports = [port for _, port in services]
    wall, stop = Wall(), asyncio.Event()
    async with address(ports) as url, ServiceClient.over_http(url, TOKEN) as client:
        await client.join(BOSS, DUE[0])
        assert (await client.bank_import(BOSS, "import", "many.md", many_questions(60), True)).applied
        async with dispatching(Dispatcher(client, wall)):
            await due(client, database_url, DUE)
            ref = f"r{round_of(database_url, DUE[0])}"
            members = [asyncio.create_task(burst(url, ref, member, stop)) for member in range(MEMBERS)]

            migrate = new.start("migrate", **settings)
            assert await asyncio.to_thread(migrate.process.wait, PATIENCE) == 0, migrate.said
            migrate.close()
            new.started.remove(migrate)
            refused = await asyncio.to_thread(once, "serve", **settings)
            is_refused(refused, "the database is at next, which this program does not know")

            # One service and one worker of each version.
            await asyncio.to_thread(ended, parts, services[0][0])
            first, ports[0] = await asyncio.to_thread(served, new, settings)
            new_worker = new.start("work", **settings)
            await asyncio.to_thread(new_worker.wait_for, "The worker is ready")
            await due(client, database_url, MORE)
            for _ in range(4):
                # Read by both, and so are answers that the other has written.
                assert len(await client.schedule_list(BOSS)) == len(DUE + MORE)
            for killed in (first, new_worker, old_worker):
                parts.kill(killed)
            _, ports[0] = await asyncio.to_thread(served, new, settings)
            new.start("work", **settings)

            await asyncio.to_thread(ended, parts, services[1][0])
            _, ports[1] = await asyncio.to_thread(served, new, settings)
            stop.set()
            acknowledged = [event for events in await asyncio.gather(*members) for event in events]
            sent = (
                f"select 1 from outbox where kind = 'question' and state = 'sent' having count(*) = {len(DUE + MORE)}"
            )
            await asyncio.to_thread(row, database_url, sent)
    parts.stop()
    assert sorted(wall.questions) == sorted(where.channel for where in DUE + MORE)
    assert sorted(logged(database_url)) == sorted(acknowledged)
    assert counting(database_url) == {f"m{member}": last(acknowledged, member) for member in range(MEMBERS)}
    by_both = "select count(*) filter (where given ? 'added') > 0, count(*) filter (where not given ? 'added') > 0"
    assert found(database_url, f"{by_both} from answer") == (True, True)


async def due(client: ServiceClient, url: str, channels: Sequence[Where]) -> None:
    """Makes a question due in each channel, and waits until a worker has made the rounds."""
    for where in channels:
        await schedule(client, where, time(11))
    change(url, MORNING)
    for where in channels:
        await asyncio.to_thread(round_of, url, where)
