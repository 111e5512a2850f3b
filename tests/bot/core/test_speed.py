"""The speed board from one's result: who was fastest, and code that is shown when its author says so."""

from __future__ import annotations

import pytest

from bot.core.quiz import Quiz
from sandbox.client import SandboxClient
from service.app import build
from service.client import ServiceClient
from service.config import Settings
from service.wire import AnswerInput, ScheduleSpec, Where
from tests.bot.conftest import BANK, Room
from tests.conftest import MONDAY, TOKEN, Clock, MakeWho

pytestmark = pytest.mark.sandbox
FAST = "def add_one(x):\n    return x + 1\n"
SLOW = "def add_one(x):\n    for _ in range(500_000):\n        pass\n    return 1 + x\n"


async def test_a_member_sees_the_board_and_shows_their_solution(
    settings: Settings, clock: Clock, sandbox: SandboxClient, who: MakeWho, where: Where
) -> None:
    async with build(settings, clock, sandbox).running() as service, ServiceClient.inside(service.api, TOKEN) as client:
        boss, ann, bob = who("Boss", admin=True), who("Ann"), who("Bob")
        await client.join(boss, where)
        await client.bank_import(boss, "import", BANK.name, BANK.read_text(encoding="utf-8"), True)
        room = Room(Quiz(client), service.clock, where, client=client, service=service, boss=boss, moving=clock)
        await room.only("add-one")
        await client.schedule_add(boss, "add", where, ScheduleSpec(measure=True, open_minutes=420))
        clock.now = MONDAY.replace(hour=9)
        await service.tick()
        (form,) = (await client.today(ann, where)).forms
        for member, code in ((ann, SLOW), (bob, FAST)):
            await client.answer(member, where, f"answer {member.name}", form.ref, AnswerInput(code=code), clock.now)
        assert "No code was measured there yet." in await room.types(ann, "/quiz speed")
        await room.carries()
        reveal = await room.closes()
        room.sees(ann, reveal)
        assert "Speed board" in await room.presses(ann, "My result")
        board = await room.presses(ann, "Speed board")
        lines = [line for line in board.splitlines() if " ms (" in line and "reference" not in line]
        assert "Bob" in lines[0] and "Ann" in lines[1] and "Ann" not in lines[0]
        assert "Medians of 9 runs" in board and "96%" in board and "for _ in range" not in board
        assert "for _ in range" in await room.presses(ann, "Show my solution")
        assert "for _ in range" in await room.types(bob, "/quiz speed memory")
        assert "for _ in range" not in await room.presses(ann, "Hide my solution")
        assert "by memory" in await room.presses(ann, "By memory")
