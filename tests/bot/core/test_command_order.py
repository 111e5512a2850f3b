"""Commands of one person run in the order in which they arrived, and nobody else waits."""

from __future__ import annotations

import asyncio

from bot.core.command_order import CommandOrder
from bot.core.events import Command, Event, Press
from service.wire import Where, Who
from tests.conftest import MONDAY


def typed(member: str, text: str) -> Command:
    who = Who(platform="slack", workspace="T1", member=member, name=member)
    return Command(text, MONDAY, who, Where(channel="C1"), "quiz", text)


def pressed(member: str) -> Press:
    who = Who(platform="slack", workspace="T1", member=member, name=member)
    return Press("press", MONDAY, who, Where(channel="C1"), "v:see")


class Played:
    """Commands that wait until the test lets them go on."""

    def __init__(self) -> None:
        self.order = CommandOrder()
        self.begun: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.tasks: list[asyncio.Task[None]] = []

    def arrives(self, event: Event) -> asyncio.Task[None]:
        self.gates[event.id] = asyncio.Event()
        self.tasks.append(asyncio.create_task(self._runs(event)))
        return self.tasks[-1]

    async def _runs(self, event: Event) -> None:
        async with self.order.turn(event):
            self.begun.append(event.id)
            await self.gates[event.id].wait()

    async def settled(self) -> None:
        """Returns when every task waits for something."""
        for _ in range(10):
            await asyncio.sleep(0)

    async def ends(self) -> None:
        for gate in self.gates.values():
            gate.set()
        await asyncio.gather(*self.tasks)


async def test_a_later_command_of_the_same_person_waits() -> None:
    played = Played()
    first = played.arrives(typed("ann", "pause 1"))
    for text in ("resume 1", "list"):
        played.arrives(typed("ann", text))
    await played.settled()
    assert played.begun == ["pause 1"]
    played.gates["pause 1"].set()
    await first
    await played.settled()
    assert played.begun == ["pause 1", "resume 1"]
    await played.ends()
    assert played.begun == ["pause 1", "resume 1", "list"]


async def test_other_people_and_buttons_do_not_wait() -> None:
    played = Played()
    for event in (typed("ann", "pause 1"), typed("bob", "list"), pressed("ann")):
        played.arrives(event)
    await played.settled()
    assert played.begun == ["pause 1", "list", "press"]
    await played.ends()


async def test_a_cancelled_or_failed_command_lets_the_next_one_run() -> None:
    played = Played()
    first = played.arrives(typed("ann", "pause 1"))
    second = played.arrives(typed("ann", "resume 1"))
    played.arrives(typed("ann", "list"))
    await played.settled()
    second.cancel()
    first.cancel()
    await played.settled()
    assert played.begun == ["pause 1", "list"]
    for gate in played.gates.values():
        gate.set()
    await asyncio.gather(*played.tasks, return_exceptions=True)


async def test_nothing_is_kept_of_those_who_are_done() -> None:
    played = Played()
    for number in range(50):
        played.arrives(typed(f"member {number}", f"list {number}"))
    await played.settled()
    await played.ends()
    assert len(played.order._locks) == 0
