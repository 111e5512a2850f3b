"""A tournament on a channel with a daily question, controlled through the client."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from service.store.competition_tables import TournamentMember, TournamentTeam
from service.store.tables import Member, Outbox
from service.wire import Body, QuestionPost, TournamentPlan, TournamentPost, TournamentView
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, DailyChannel, choice

TUESDAY = date(2026, 3, 3)


@dataclass
class TournamentScene:
    """A channel whose tournament begins on Tuesday."""

    daily: DailyChannel
    clock: Clock
    events: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    async def prepares(self, questions: int = 6) -> None:
        """Adds questions and the channel's schedule."""
        await self.daily.bank(*(choice(f"q{number}") for number in range(questions)))
        await self.daily.schedule()

    async def plans(self, **more: Any) -> TournamentView:
        """Plans a tournament of three days from Tuesday on."""
        plan = TournamentPlan.model_validate({"title": "Spring", "first_day": TUESDAY, "days": 3, **more})
        boss = self.daily.who("Boss", admin=True)
        return await self.daily.client.tournament_plan(boss, self.event(), DAILY, plan)

    async def joins(self, *names: str) -> None:
        for name in names:
            await self.daily.client.tournament_join(self.daily.who(name), self.event())

    async def begins(self) -> list[TournamentPost]:
        """Lets the first day begin; returns the tournament's messages."""
        await self.told()
        self.clock.now = MONDAY + timedelta(hours=16)
        return await self.told()

    async def plays(self, answers: Mapping[str, str]) -> list[TournamentPost]:
        """Plays the next question of the schedule at nine: members answer with options. Returns the messages after its
        close; the clock stands at that of the close."""
        at = self.clock.now.replace(hour=9, minute=0)
        self.clock.now = at if at > self.clock.now else at + timedelta(days=1)
        await self.answers(await self.ticks(), answers)
        self.clock.advance(hours=8)
        return await self.told()

    async def answers(self, bodies: list[Body], answers: Mapping[str, str]) -> None:
        """Answers the question among these messages, one member a minute."""
        (post,) = [body for body in bodies if isinstance(body, QuestionPost)]
        for name, option in answers.items():
            self.clock.advance(minutes=1)
            await self.daily.answer(post.ref, option, name)

    async def ticks(self) -> list[Body]:
        return await self.daily.ticked()

    async def told(self) -> list[TournamentPost]:
        """Ticks twice and returns the tournament's messages."""
        bodies = [*await self.ticks(), *await self.ticks()]
        return [body for body in bodies if isinstance(body, TournamentPost)]

    async def view(self, name: str = "Ada", title: str = "") -> TournamentView:
        return await self.daily.client.tournament(self.daily.who(name), title)

    async def teams(self) -> dict[int, set[str]]:
        """Returns the members of each team by name, hidden ones too."""
        people = {row.id: row for row in await self.daily.rows(Member)}
        numbers = {row.id: row.number for row in await self.daily.rows(TournamentTeam)}
        found: dict[int, set[str]] = {}
        for row in await self.daily.rows(TournamentMember):
            if row.team_id is not None:
                found.setdefault(numbers[row.team_id], set()).add(people[row.member_id].name)
        return found

    async def keys(self) -> list[str]:
        """Returns the keys of the tournament's messages."""
        return [row.key for row in await self.daily.rows(Outbox) if row.key.startswith("tournament:")]

    def event(self) -> str:
        return f"tournament event {next(self.events)}"
