"""A channel with a sprint for tests. Its deadlines are the database's, so tests move them instead of waiting."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from sqlalchemy import update

from questions.model import Question
from service.store.competition_tables import Sprint, SprintAnswer, SprintQuestion
from service.store.questions import get_version
from service.store.tables import Base
from service.wire import (
    AnswerInput,
    AnswerResult,
    Body,
    Delivery,
    SprintPodium,
    SprintQuestionPost,
    SprintReveal,
    SprintView,
    Where,
)
from tests.conftest import Clock
from tests.service.daily_channel import DAILY, DailyChannel, choice

B = TypeVar("B", bound=Body)
TIMES: dict[type[Base], tuple[str, ...]] = {
    Sprint: ("until", "started_at"),
    SprintQuestion: ("opened_at", "closes_at"),
    SprintAnswer: ("at",),
}


def several(count: int) -> list[Question]:
    """Returns choice questions of different topics."""
    return [choice(f"q{number}", topic=f"topic{number}") for number in range(count)]


async def pass_time(daily: DailyChannel, seconds: float) -> None:
    """Lets time pass for everything about sprints: moves each stored instant into the past."""
    async with daily.service.sessions.begin() as session:
        for table, names in TIMES.items():
            moved = {name: getattr(table, name) - timedelta(seconds=seconds) for name in names}
            await session.execute(update(table).values(moved))


@dataclass
class SprintScene:
    """A channel in which a sprint runs."""

    daily: DailyChannel
    clock: Clock
    where: Where = DAILY

    async def starts(self, questions: int = 3, seconds: int = 20, topic: str = "", event: str = "start") -> SprintView:
        """Starts a sprint with questions that are in the bank."""
        boss = self.daily.who("Boss", admin=True)
        return await self.daily.client.sprint_start(boss, event, self.where, questions, seconds, topic)

    async def stops(self) -> SprintView:
        boss = self.daily.who("Boss", admin=True)
        return await self.daily.client.sprint_stop(boss, "stop", self.where)

    async def passes(self, seconds: float) -> None:
        """Lets time pass for the service and the database."""
        self.clock.advance(seconds=seconds)
        await pass_time(self.daily, seconds)

    async def ticks(self) -> list[Delivery]:
        """Ticks and delivers; returns the messages."""
        await self.daily.service.tick()
        return await self.daily.deliver()

    async def asks(self) -> SprintQuestionPost:
        """Goes on to the next question and begins its time; returns its post."""
        for _ in range(20):
            for delivery in await self.ticks():
                if isinstance(delivery.body, SprintQuestionPost) and delivery.edits is None:
                    await self.ticks()
                    return delivery.body
            await self.passes(5)
        raise AssertionError("no question was posted")

    async def reveals(self) -> SprintReveal:
        """Lets the time of the question pass; returns its reveal."""
        (sprint,) = [row for row in await self.daily.rows(Sprint) if row.ended_at is None]
        await self.passes(sprint.seconds)
        return one_of(await self.ticks(), SprintReveal)

    async def ends(self) -> SprintPodium:
        """Lets the last pause pass; returns the podium."""
        await self.passes(10)
        return one_of(await self.ticks(), SprintPodium)

    async def answers(self, post: SprintQuestionPost, given: str | AnswerInput, name: str = "Ada") -> AnswerResult:
        return await self.daily.answer(post.ref, given, name)

    async def chosen(self) -> list[str]:
        """Returns the ids of the questions that were chosen, asked or not."""
        rows = await self.daily.rows(SprintQuestion)
        async with self.daily.service.sessions() as session:
            return [(await get_version(session, row.version_id)).question.id for row in rows]

    async def bank(self, count: int = 3) -> None:
        await self.daily.bank(*several(count))


def one_of(deliveries: list[Delivery], kind: type[B]) -> B:
    """Returns the only body of this kind."""
    (found,) = [each.body for each in deliveries if isinstance(each.body, kind)]
    return found
