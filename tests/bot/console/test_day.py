"""A team's days in the terminal chat: what it shows is the transcript, committed so that people can read it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bot.console import ConsoleStore, run_console
from sandbox.client import SandboxClient
from service.app import Service, build
from service.client import ServiceClient
from service.config import Settings
from service.wire import Who
from tests.bot import day
from tests.bot.day import Transcript, Values
from tests.conftest import TOKEN, Clock

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]
COMMITTED = Path(__file__).parent / "day.md"
_BUTTON = re.compile(r"\[(\w+)\](?: (.+?))?(?=   \[|$)", re.M)


@dataclass
class ConsoleDay:
    """The day's chat in a terminal that its members share: each says who they are first."""

    service: Service
    client: ServiceClient
    transcript: Transcript
    operator: Who = field(
        default_factory=lambda: Who(platform="console", workspace="local", member="op", name="Op", admin=True)
    )
    typed: asyncio.Queue[str | None] = field(default_factory=asyncio.Queue)
    said: list[str] = field(default_factory=list)
    speaker: str = ""
    written: int = 0

    async def lines(self) -> AsyncIterator[str]:
        while (line := await self.typed.get()) is not None:
            yield line
            self.typed.task_done()
        self.typed.task_done()

    async def says(self, *lines: str) -> None:
        """Types lines, and returns when the chat waits for the next one."""
        for line in lines:
            await self.typed.put(line)
            await self.typed.join()

    def note(self) -> None:
        """Moves what the terminal showed since then into the transcript."""
        text = "".join(self.said)
        shown, self.written = text[self.written :], len(text)
        prompt = text[text.rfind("\n") + 1 :]
        shown = shown.removesuffix(prompt).strip("\n")
        self.written -= len(prompt)
        if shown and not re.fullmatch(r"\w+> ?", shown):
            lines = "\n".join(line.rstrip() for line in day.readable(shown).splitlines())
            self.transcript.parts.append(f"```text\n{lines}\n```")

    async def types(self, name: str, command: str, **options: str | int | bool) -> None:
        await self._as(name)
        await self.says(day.line_of(command, options))
        self.note()

    async def presses(self, name: str, label: str, *, card: str = "") -> None:
        await self._as(name)
        await self.says(self._key(name, label))
        self.note()

    async def chooses(self, name: str, *options: str) -> None:
        texts = [option.replace("`", "") for option in options]
        lines = [line for line in self._shown(name)[0].splitlines() if re.match(r" +[A-Z]  ", line)]
        letter = next(line.split()[0] for line in lines for text in texts if text in line)
        await self._as(name)
        await self.says(letter)
        self.note()

    async def fills(self, name: str, values: Values, *, submit: str = "") -> None:
        for given in values.values():
            await self.says(*self._lines_of(given))
        while self._asks():
            # Whatever is left may stay empty, and then a number sends the form.
            sends = re.search(rf"\[(\d)\] {submit or '[A-Z]'}", self._asked())
            await self.says(sends[1] if sends else "")
        self.note()

    async def comes(self) -> None:
        await self.says("")
        self.note()

    async def _as(self, name: str) -> None:
        if name != self.speaker:
            await self.says(f"/as {name}")
            self.speaker = name

    def _lines_of(self, given: str | tuple[str, ...]) -> list[str]:
        """Returns what to type into the field that is asked for now."""
        letters = re.findall(r"^  ([A-Z])  (.+)$", self._asked(), re.M)
        if letters:
            wanted = (given,) if isinstance(given, str) else given
            return [" ".join(next(key for key, label in letters if text in label) for text in wanted)]
        assert isinstance(given, str)
        return [*given.splitlines(), "."] if "a single dot" in self._asked() else [given]

    def _asked(self) -> str:
        """Returns the last thing that the terminal wrote before its prompt."""
        return "".join(self.said).rpartition("── (only you")[2].rpartition("…> ")[0].rpartition("\n\n")[0][-2000:]

    def _asks(self) -> bool:
        return self.said[-1].endswith("…> ")

    def _shown(self, name: str) -> list[str]:
        """Returns the cards that the member sees, newest first."""
        cards = re.findall(r"── \((.+?)\) ──\n(.*?)(?=\n── \(|\Z)", "".join(self.said), re.S)
        return [
            text for place, text in reversed(cards) if place in (f"only you, {name}", "#daily") or "thread" in place
        ]

    def _key(self, name: str, label: str) -> str:
        """Returns the key of a button. It must not be one of a newer card, which would take it."""
        newer: set[str] = set()
        for text in self._shown(name):
            keys = {(found[1] or found[0]).strip(): found[0] for found in _BUTTON.findall(text)}
            if label in keys:
                assert keys[label] not in newer, f"{label!r} is behind another card"
                return str(keys[label])
            newer |= set(keys.values())
        raise AssertionError(f"no {label!r}")


async def test_a_few_days_read_as_they_should(
    settings: Settings, clock: Clock, sandbox: SandboxClient, tmp_path: Path
) -> None:
    async with (
        build(settings, clock, sandbox).running() as service,
        ServiceClient.inside(service.api, TOKEN) as client,
    ):
        with ConsoleStore() as store:
            chat = ConsoleDay(service, client, Transcript("A few days in the terminal", clock))
            running = asyncio.create_task(
                run_console(
                    client, clock=clock, lines=chat.lines(), write=chat.said.append, store=store, echo=True, live=False
                )
            )
            await day.imports(chat)
            try:
                await day.play(chat)
            finally:
                chat.typed.put_nowait(None)
                await running
    chat.transcript.compare(COMMITTED, tmp_path)
