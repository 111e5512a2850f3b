"""The modules that the four main flows enter; `pytest -s tests/tools` prints them.

The bounds keep the flows readable: each is a little above the current number. Lower one when a flow gets shorter.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import time, timedelta
from pathlib import Path

import pytest

from bot.core.cards import Card
from bot.core.quiz import Quiz
from sandbox.client import SandboxClient
from sandbox.host import jail
from sandbox.host.gpu import GpuInventory
from sandbox.host.supervisor import Supervisor, SupervisorSettings
from sandbox.wire import Run
from service.app import build
from service.client import ServiceClient
from service.config import Settings
from service.wire import ScheduleSpec, Where
from tests.bot.conftest import BANK, Room
from tests.bot.dialog import Dialog
from tests.conftest import MONDAY, TOKEN, Clock, MakeWho
from tests.tools.trace_flow import traced

pytestmark = pytest.mark.slow

TERM = "### What is a mutex?\n\n**Answer:** A mutex is a lock that one thread can hold at a time.\n"
LOADED = "import sys\n[name for name in sorted(sys.modules) if name.startswith('sandbox.')]"


def show(flow: str, modules: list[str]) -> None:
    print(f"\n{flow}: {len(modules)} modules")
    for module in modules:
        print(f"  {module}")


@pytest.fixture
async def sandbox(tmp_path: Path) -> AsyncIterator[SandboxClient]:
    """A sandbox whose supervisor runs in this process, so that it is traced too."""
    path, stop = tmp_path / "s.sock", asyncio.Event()
    supervisor = Supervisor(
        SupervisorSettings(path, 1), jail.probe(weaker=False), GpuInventory(summary="not used here")
    )
    serving = asyncio.create_task(supervisor.serve(stop))
    client = SandboxClient(path)
    await client.until_ready()
    yield client
    stop.set()
    await serving


@pytest.fixture
async def room(settings: Settings, clock: Clock, who: MakeWho, where: Where) -> AsyncIterator[Room]:
    async with build(settings, clock).running() as service, ServiceClient.inside(service.api, TOKEN) as client:
        boss = who("Boss", admin=True)
        await client.join(boss, where)
        await client.bank_import(boss, "import", BANK.name, BANK.read_text(encoding="utf-8"), True)
        yield Room(Quiz(client), service.clock, where, client=client, service=service, boss=boss, moving=clock)


async def test_daily_post(room: Room) -> None:
    await room.only("one-right")
    spec = ScheduleSpec(at=time(10), zone="Europe/Berlin", open_minutes=7 * 60)
    await room.client.schedule_add(room.boss, "daily", room.where, spec)
    for hours in (9, 17):  # the first day also tells the admins, once, that a bank of one question runs low
        room.moving.now = MONDAY.replace(hour=hours)
        await room.service.tick()
        await room.carries()
    room.moving.now = MONDAY.replace(hour=9) + timedelta(days=1)
    with traced() as modules:
        await room.service.play_rounds()
        await room.carries()
    assert room.wall.questions
    show("daily post: due slot, round, outbox, chat", modules)
    assert len(modules) <= 42


async def test_button_answer(room: Room, who: MakeWho) -> None:
    ann = who("Ann")
    room.sees(ann, await room.opens("one-right"))
    await room.presses(ann, "Answer")
    with traced() as modules:
        await room.presses(ann, "A")
    told = room.told[ann.member]
    assert isinstance(told, Card)
    show("button answer: event, service, reply", modules)
    assert len(modules) <= 38


async def test_import_of_a_small_document(room: Room) -> None:
    with traced() as modules:
        view = await room.client.bank_import(room.boss, "small", "terms.md", TERM, True)
    assert view.applied
    show("import of a small document", modules)
    assert len(modules) <= 29


@pytest.mark.sandbox
async def test_code_answer(
    settings: Settings, clock: Clock, sandbox: SandboxClient, who: MakeWho, where: Where
) -> None:
    ann, boss = who("Ann"), who("Boss", admin=True)
    async with build(settings, clock, sandbox).running() as service, ServiceClient.inside(service.api, TOKEN) as client:
        await client.join(boss, where)
        await client.bank_import(boss, "import", BANK.name, BANK.read_text(encoding="utf-8"), True)
        room = Room(Quiz(client), service.clock, where, client=client, service=service, boss=boss, moving=clock)
        room.sees(ann, await room.opens("add-one"))
        await room.presses(ann, "Answer")
        with traced() as modules:
            await Dialog.fills(room, ann, code="def add_one(x):\n    return x + 1\n")
            await room.carries()
        inside = (await sandbox.run(Run(id="loaded", code=LOADED, show_last=True))).stdout
    child = [name for name in inside.replace("'", " ").replace(",", " ").split() if name.startswith("sandbox.inside.")]
    show("code answer: submit, judge, verdict card", [*modules, *(f"{name} (in the jail)" for name in child)])
    assert child
    assert len(modules) + len(child) <= 81  # `sandbox.host.cgroups` only if a child is removed meanwhile
