"""A duel in the console, from the challenge to the rematch, with what each member sees."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from bot.console import ConsoleStore, run_console
from service.app import Service
from service.client import ServiceClient
from tests.bot.duel_bank import DUEL_BANK, letter_in, sum_in
from tests.conftest import Clock


class Script:
    """Types lines that depend on what was shown."""

    def __init__(self) -> None:
        self.said: list[str] = []

    @property
    def text(self) -> str:
        return "".join(self.said)

    def button(self, label: str) -> str:
        """Returns what presses the newest button with this label."""
        found = re.findall(rf"\[(\w+)\] {re.escape(label)}", self.text)
        assert found, self.text[-2000:]
        return str(found[-1])

    async def lines(self) -> AsyncIterator[str]:
        yield "/as Ada"
        for line in ("/quiz-admin bank import", "duel.md", *DUEL_BANK.read_text().splitlines(), ".", ".", "1"):
            yield line
        yield "/as Bo"
        yield "/as Ada"
        yield "/quiz duel Cy"
        yield "/quiz duel @Bo sums"
        yield self.button("Accept")
        yield "/as Bo"
        yield self.button("Accept")
        async for line in self.plays("Bo", right=5):
            yield line
        yield "/as Ada"
        async for line in self.plays("Ada", right=3):
            yield line
        yield "/quiz board ladder"
        yield "/quiz duel"
        yield self.button("See the latest result")
        yield self.button("Rematch")

    async def plays(self, name: str, right: int) -> AsyncIterator[str]:
        for number in range(1, 6):
            yield self.button(f"{'Start' if number == 1 else 'Next question'} ({number} of 5)")
            asked = self.text[self.text.rindex("What is") :]
            answer = sum_in(asked) if number <= right else "0"
            if "[A]" in asked:
                answer = letter_in(asked, right=number <= right)
            yield answer


async def test_a_duel_in_the_console(client: ServiceClient, service: Service, clock: Clock) -> None:
    script = Script()
    with ConsoleStore() as store:
        await run_console(
            client, clock=clock, lines=script.lines(), write=script.said.append, store=store, echo=True, live=False
        )
    text, position = script.text, 0
    for part in (
        "There is no member Cy here.",
        "You challenged Bo",
        "Ada challenges you to a duel",
        "Ada challenges Bo to a duel",
        "Only Bo can accept",
        "Not allowed\n\nThe other member accepts or declines your challenge.",
        "Duel with Ada",
        "You have until 08:02:00 (UTC). Your first answer counts.",
        "You are done. Ada can answer until",
        "Bo accepted your duel",
        "Bo won the duel against Ada",
        "3 of 5",
        "5 of 5",
        "Ladder of duels",
        "Your duels",
        "Lost",
        "Bo won the duel against Ada",
        "Wrong: What is",
        "You challenged Bo",
    ):
        found = text.find(part, 0 if part == "Bo accepted your duel" else position)
        assert found >= 0, f"{part!r} does not follow in:\n{text[position:]}"
        position = max(position, found)
