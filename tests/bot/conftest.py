"""A room with a bank of one question of every kind, its members, and a chat that keeps what was posted."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import time
from pathlib import Path

import pytest

from bot.core.cards import Card
from bot.core.dispatcher import Dispatcher, Platform, Target
from bot.core.quiz import Quiz
from service.app import Service
from service.client import ServiceClient
from service.wire import Platform as PlatformName
from service.wire import ScheduleSpec, Where, Who
from tests.bot.dialog import Dialog
from tests.conftest import MONDAY, Clock, MakeWho

QUESTIONS = ("one-right", "two-right", "the-shape", "two-lines", "why-scale", "add-one")
BANK = Path(__file__).parent / "fixtures" / "room.md"


@dataclass
class Wall:
    """A chat that only keeps what was posted, in order; `name` is the platform whose outbox it serves."""

    name: PlatformName = "web"
    posts: list[tuple[Target, Card]] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)
    edits: list[tuple[str, Card]] = field(default_factory=list)

    async def post(self, target: Target, card: Card, key: str) -> str:
        self.posts.append((target, card))
        self.keys[key] = str(len(self.posts))
        return self.keys[key]

    async def edit(self, target: Target, card: Card, ref: str, key: str) -> None:
        assert self.keys[key] == ref
        self.edits.append((ref, card))

    async def find(self, target: Target, key: str) -> str | None:
        return self.keys.get(key)

    @property
    def questions(self) -> list[str]:
        """The channels questions were posted to, in order; notices left out."""
        return [target.channel for target, card in self.posts if card.title.startswith("Question for ")]

    def last(self, title: str) -> Card:
        """Returns the newest card whose title starts like this."""
        return next(card for _, card in reversed(self.posts) if card.title.startswith(title))


@dataclass
class Room(Dialog):
    """A dialog with a real service behind it."""

    client: ServiceClient = field(kw_only=True)
    service: Service = field(kw_only=True)
    boss: Who = field(kw_only=True)
    moving: Clock = field(kw_only=True)
    wall: Wall = field(default_factory=Wall)

    async def only(self, question: str) -> None:
        """Retires every other question."""
        for other in QUESTIONS:
            await self.client.bank_retire(self.boss, self.event_id(), other, other != question)

    async def opens(self, question: str) -> Card:
        """Posts the question at 10:00 in Berlin, open until 17:00; returns the post."""
        await self.only(question)
        await self.schedules(self.where)
        await self.carries()
        return self.wall.last("Question for ")

    async def schedules(self, *channels: Where) -> None:
        """Puts a question for each channel into the outbox."""
        spec = ScheduleSpec(at=time(10), zone="Europe/Berlin", open_minutes=7 * 60)
        for where in channels:
            await self.client.schedule_add(self.boss, self.event_id(), where, spec)
        self.moving.now = MONDAY.replace(hour=9)
        await self.service.tick()

    async def closes(self) -> Card:
        """Closes the round; returns its reveal."""
        self.moving.advance(hours=7)
        await self.service.tick()
        await self.carries()
        return self.wall.last("The answer")

    async def carries(self, platform: Platform | None = None) -> None:
        """Runs the jobs, then delivers the outbox."""
        await self.service.jobs.run_pending()
        courier = Dispatcher(self.client, platform or self.wall)
        while await courier.once():
            pass


@pytest.fixture
async def room(client: ServiceClient, service: Service, clock: Clock, who: MakeWho, where: Where) -> Room:
    """The room, its bank imported and no question posted."""
    boss = who("Boss", admin=True)
    await client.join(boss, where)
    view = await client.bank_import(boss, "import", BANK.name, BANK.read_text(encoding="utf-8"), True)
    assert view.applied, view.findings
    return Room(Quiz(client), service.clock, where, client=client, service=service, boss=boss, moving=clock)
