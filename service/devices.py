"""Workers note where their sandboxes can compute, so that every process knows which questions can be judged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

import structlog
from sqlalchemy.exc import SQLAlchemyError

from sandbox.client import SandboxUnreachable
from service.fairness import FairSandbox
from service.store import devices
from service.store.session import Sessions

log = structlog.get_logger(__name__)

EVERY_S = 30
SOON_S = 2
"""While nobody has answered yet: a sandbox needs some seconds to start."""
FORGOTTEN = timedelta(minutes=10)
"""A sandbox that is started again, on a new version or by its host, is back before that."""


async def note_devices(sessions: Sessions, sandbox: FairSandbox, now: datetime) -> bool:
    """Write down what the sandboxes have; whether any answered."""
    try:
        found = (await sandbox.health()).devices
    except SandboxUnreachable:
        found = ()
    async with sessions.begin() as session:
        await devices.see(session, found, now, now - FORGOTTEN)
    return bool(found)


@asynccontextmanager
async def noting_devices(
    sessions: Sessions, sandbox: FairSandbox | None, clock: Callable[[], datetime]
) -> AsyncIterator[None]:
    """Do so every now and then until the block ends; nothing where there is no sandbox."""
    if sandbox is None:
        yield
        return
    task = asyncio.create_task(_keep(sessions, sandbox, clock), name="devices")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _keep(sessions: Sessions, sandbox: FairSandbox, clock: Callable[[], datetime]) -> None:
    while True:
        answered = False
        try:
            answered = await note_devices(sessions, sandbox, clock())
        except (SQLAlchemyError, OSError) as error:
            log.warning("devices not noted", error=str(error))
        await asyncio.sleep(EVERY_S if answered else SOON_S)
