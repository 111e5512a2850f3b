"""A channel with a question every working day at nine, controlled through the client, for tests of rounds."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from typing import TypeVar

from sqlalchemy import inspect, select

from questions.model import CodeTask, Option, Question, SourceLocation, Wrong
from service.app import Service
from service.banks.imports import import_bank
from service.client import ServiceClient
from service.store.members import resolve_caller
from service.store.tables import Base, Schedule
from service.wire import AnswerInput, AnswerResult, Body, Delivery, QuestionPost, ScheduleSpec, VerdictNote, Where, Who
from tests.conftest import MONDAY, TOKEN, Clock
from tests.service.scenes import reading

DAILY = Where(channel="daily", name="#daily")
SPEC = ScheduleSpec(at=time(9, 0), open_minutes=480, catch_up_minutes=120)

Row = TypeVar("Row", bound=Base)


def choice(id_: str = "views", **more: object) -> Question:
    """Returns the question “Which shares memory?”: `a` is right, `b` and `c` are misconceptions."""
    options = (
        Option("a", "`x.view(-1)`", True),
        Option("b", "`x.clone()`", False, "`clone` copies"),
        Option("c", "`x.tolist()`", False, "a list holds its own numbers"),
    )
    return _made(id_, "choice", answer="`x.view(-1)`", options=options, why="A view is another look.", **more)


def value(id_: str = "shape", **more: object) -> Question:
    """Returns the question “What shape?”, whose key is `(2, 3)`."""
    return _made(id_, "value", answer="(2, 3)", **more)


def prose(id_: str = "why-views", **more: object) -> Question:
    """Returns an open question with two key points."""
    facts = {"answer": "They share storage.", "key_points": ("**storage** is shared", "no `copy`"), **more}
    return _made(id_, "open", **facts)


def code(id_: str = "double", **more: object) -> Question:
    """Returns a code question: double a number, without torch."""
    task = CodeTask(
        entry="double",
        starter="def double(x):\n    ...\n",
        reference="def double(x):\n    return 2 * x\n",
        cases=(
            "def examples():\n    return [(1,), (2,)]\n\n"
            "def cases(rng):\n    return [(rng.randrange(3, 99),) for _ in range(3)]\n"
        ),
        wrong=(Wrong("adds one", "def double(x):\n    return x + 1\n"),),
    )
    return _made(id_, "code", **{"task": task, **more})


def _made(id_: str, kind: str, **more: object) -> Question:
    facts = {"topic": "tensors/memory", "level": "mid", "prompt": f"What of {id_}?", **more}
    return Question(id=id_, kind=kind, place=SourceLocation("bank.md", 3, 9), **facts)  # type: ignore[arg-type]


@dataclass
class DailyChannel:
    """A channel with a schedule, and its members."""

    service: Service
    client: ServiceClient
    events: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def now(self) -> datetime:
        return self.service.clock()

    def who(self, name: str = "Ada", *, workspace: str = "home", admin: bool = False) -> Who:
        return Who(platform="web", workspace=workspace, member=name.lower(), name=name, admin=admin)

    async def bank(self, *questions: Question, name: str = "home") -> None:
        """Imports these questions as a shared bank."""
        async with self.service.sessions.begin() as session:
            view = await import_bank(session, reading(*questions, name=name), None, self.now, True)
        assert view.applied, view.findings

    async def schedule(self, spec: ScheduleSpec = SPEC, *, where: Where = DAILY, workspace: str = "home") -> int:
        """Adds a schedule of the channel from now on; returns its id."""
        async with self.service.sessions.begin() as session:
            caller = await resolve_caller(session, self.who("Boss", workspace=workspace), where, self.now)
            assert caller.channel_id is not None
            row = Schedule(
                workspace_id=caller.workspace_id,
                channel_id=caller.channel_id,
                spec=spec.model_dump(mode="json"),
                since=self.now,
            )
            session.add(row)
            await session.flush()
            return row.id

    async def claim(self, limit: int = 20) -> tuple[Delivery, ...]:
        return await self.client.outbox_claim("web", limit)

    async def deliver(self) -> list[Delivery]:
        """Delivers all pending messages. A message's reference is `m` and the delivery's id."""
        made: list[Delivery] = []
        while found := await self.claim():
            for delivery in found:
                await self.client.outbox_sent(delivery.id, f"m{delivery.id}")
            made += found
        return made

    async def ticked(self) -> list[Body]:
        """Ticks and delivers; returns the bodies of the messages."""
        await self.service.tick()
        return [delivery.body for delivery in await self.deliver()]

    async def answer(
        self, ref: str, given: AnswerInput | str, name: str = "Ada", *, at: datetime | None = None, event: str = ""
    ) -> AnswerResult:
        """Submits an answer; a string is an option's id."""
        form = AnswerInput(options=(given,)) if isinstance(given, str) else given
        event = event or f"event {next(self.events)}"
        return await self.client.answer(self.who(name), DAILY, event, ref, form, at or self.now)

    async def rows(self, table: type[Row]) -> list[Row]:
        """Returns every row of a table, ordered by its key."""
        async with self.service.sessions() as session:
            return list(await session.scalars(select(table).order_by(*inspect(table).primary_key)))


async def play_duel(client: ServiceClient, one: Who, other: Who, where: Where, now: datetime) -> int:
    """Plays a duel about questions like `choice` and `value`, which the first member wins; returns its number."""
    await client.join(other, where)
    duel = (await client.duel_challenge(one, where, "duel", other.name)).duel
    await client.duel_respond(other, "duel accept", duel, True)
    for who, option, literal in ((one, "a", "(2, 3)"), (other, "b", "(3, 2)")):
        view = (await client.duel_show(who, duel)).duel
        while ref := view.next_ref:
            ask = (await client.duel_ask(who, ref)).ask
            assert ask is not None
            given = AnswerInput(options=(option,)) if ask.question.options else AnswerInput(text=literal)
            view = (await client.duel_answer(who, f"{who.name} {ref}", ref, given, now)).duel
    return duel


def daily_channel_of(service: Service) -> DailyChannel:
    """Wraps a service that a test has built, for example with a sandbox."""
    return DailyChannel(service, ServiceClient.inside(service.api, TOKEN))


async def post_code_question(daily: DailyChannel, clock: Clock) -> str:
    """Posts a code question at nine; returns the round's ref."""
    await daily.bank(code())
    await daily.schedule()
    clock.now = MONDAY + timedelta(hours=1)
    return next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))


async def verdict_notes(daily: DailyChannel) -> list[VerdictNote]:
    """Delivers the pending verdicts and returns them."""
    return [each.body for each in await daily.deliver() if isinstance(each.body, VerdictNote)]
