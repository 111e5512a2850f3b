"""A workspace with something of everything in it, all of it bearing one word: what tests of tenants look for."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import time, timedelta
from typing import Any

from sqlalchemy import inspect

from questions.model import Kind
from service.store.tables import Base, QuestionVersion
from service.wire import (
    AnswerInput,
    PlannedSprint,
    QuestionView,
    ScheduleSpec,
    SprintQuestionPost,
    TournamentPlan,
    Where,
    Who,
)
from tests.conftest import Clock
from tests.service.competitions.sprint_scene import pass_time
from tests.service.daily_channel import DailyChannel, choice

Rows = dict[tuple[str, object], dict[str, Any]]
"""Rows by table and key."""

DOCUMENT = """# {word}

### 1. What is a {word}?

**Answer:** A {word} is striped.
"""

SUGGESTION = """### Q1. What is a {word} made of?

**Answer:** A {word} is made of stripes.
"""


@dataclass
class Team:
    """A workspace, its admin and member, and the numbers of what it has."""

    daily: DailyChannel
    word: str
    open_round: int = 0
    closed_round: int = 0
    schedule: int = 0
    report: int = 0
    suggestion: int = 0
    given: dict[str, Any] = field(default_factory=dict)
    """An answer to what is asked in the open round."""
    question: int = 0
    """A version of a question in its own bank."""
    prose_round: int = 0
    """A closed round with an open question."""
    prose_answer: int = 0
    """An answer to it, marked and shared."""
    planned_sprint: int = 0
    sprint_question: int = 0
    """A question of a sprint that is running."""
    duel: int = 0
    """A duel of its admin and member that goes on."""
    duel_question: int = 0
    """Its first question."""
    tournament: int = 0
    """A tournament that its admin and member have joined."""

    @property
    def boss(self) -> Who:
        return Who(platform="web", workspace=f"{self.word}-home", member=f"{self.word}-boss", name="Boss", admin=True)

    @property
    def member(self) -> Who:
        return Who(platform="web", workspace=f"{self.word}-home", member=f"{self.word}-ada", name=f"{self.word} Ada")

    @property
    def channel(self) -> Where:
        return Where(channel=f"{self.word}-channel", name=f"#{self.word}")

    @property
    def aside(self) -> Where:
        return Where(channel=f"{self.word}-aside", name=f"#{self.word}-aside")

    @property
    def sprint_channel(self) -> Where:
        return Where(channel=f"{self.word}-sprint", name=f"#{self.word}-sprint")

    def event(self) -> str:
        return f"{self.word} event {next(self.daily.events)}"

    async def scheduled(self, where: Where | None = None) -> int:
        """Adds a schedule."""
        # The open round must not ask the question that both practice.
        kinds: tuple[Kind, ...] = ("choice",) if where == self.aside else ()
        spec = ScheduleSpec(at=time(10), topics=(), kinds=kinds)
        return (await self.daily.client.schedule_add(self.boss, self.event(), where or self.channel, spec)).id

    async def reported(self) -> int:
        """Adds a report."""
        text = f"{self.word} is wrong"
        return (await self.daily.client.report(self.member, self.event(), "views", text)).id

    async def suggested(self) -> int:
        """Adds a suggestion."""
        receipt = await self.daily.client.suggest(self.member, self.event(), SUGGESTION.format(word=self.word))
        assert receipt.id, receipt.findings
        return receipt.id

    async def settle(self) -> Team:
        """Fills a team: a closed round, an open one, a bank, a season, points, a report, a practice card and a code."""
        client, boss, member = self.daily.client, self.boss, self.member
        text = DOCUMENT.format(word=self.word)
        view = await client.bank_import(boss, self.event(), f"{self.word}-bank.md", text, True)
        assert view.applied, view.findings
        await client.season_start(boss, self.event(), f"{self.word} season")
        self.schedule = await self.scheduled()
        self.closed_round = await self._round(self.schedule, self.channel)
        await client.close_now(boss, self.event(), self.channel)
        self.report = await self.reported()
        self.suggestion = await self.suggested()
        self.open_round = await self._round(await self.scheduled(self.aside), self.aside)
        await client.schedule_share(boss, self.event(), Where(channel=f"{self.word}-3", name=self.word), self.schedule)
        await client.member_adjust(boss, self.event(), member.name, 5, f"a {self.word}")
        await client.bank_retire(boss, self.event(), "grad", True)
        card = await client.practice(member, self.channel)
        assert card is not None
        await client.answer(member, self.channel, self.event(), card.ref, self._given(card.question), self.daily.now)
        await client.schedule_skip(boss, self.event(), self.schedule, self.daily.now.date() + timedelta(days=7))
        await client.member_restore(boss, self.event(), member.name, self.daily.now.date())
        rows = await self.daily.rows(QuestionVersion)
        self.question = next(row.id for row in rows if self.word in str(row.body))
        for who in (member, boss):
            await client.answer(
                who, self.channel, self.event(), f"p{self.question}", AnswerInput(text=self.word), self.daily.now
            )
        await self._share_prose()
        await self._duel()
        await self._sprint()
        plan = TournamentPlan(title=f"{self.word} cup", teams="captains")
        self.tournament = (await client.tournament_plan(boss, self.event(), self.channel, plan)).id
        for who in (member, boss):
            await client.tournament_join(who, self.event())
        await client.chat_link(boss, self.event())
        await client.link(member, self.event())
        return self

    async def _duel(self) -> None:
        """Plays a duel to its end and leaves another one open."""
        client, where, boss, member = self.daily.client, self.channel, self.boss, self.member
        first = await client.duel_challenge(boss, where, self.event(), member.name)
        view = await client.duel_respond(member, self.event(), first.duel, True)
        for who in (member, boss):
            view = (await client.duel_show(who, first.duel)).duel
            while view.next_ref:
                turn = await client.duel_ask(who, view.next_ref)
                assert turn.ask is not None
                given = self._given(turn.ask.question)
                view = (await client.duel_answer(who, self.event(), view.next_ref, given, self.daily.now)).duel
        assert view.state == "over"
        self.duel = (await client.duel_rematch(member, where, self.event(), first.duel)).duel
        view = await client.duel_respond(boss, self.event(), self.duel, True)
        await client.duel_ask(boss, view.next_ref)
        self.duel_question = int(view.next_ref[1:])

    async def _share_prose(self) -> None:
        client, where = self.daily.client, Where(channel=f"{self.word}-prose", name=f"#{self.word}-prose")
        spec = ScheduleSpec(at=time(10), kinds=("open",))
        schedule = (await client.schedule_add(self.boss, self.event(), where, spec)).id
        self.prose_round = (await client.post_now(self.boss, self.event(), schedule)).id
        ref, given = f"r{self.prose_round}", AnswerInput(text=f"Like a {self.word}.")
        for who in (self.member, self.boss):
            await client.answer(who, where, self.event(), ref, given, self.daily.now)
        await client.close_now(self.boss, self.event(), where)
        await client.mark(self.member, self.event(), ref, (0,))
        await client.share_answer(self.member, self.event(), ref)
        found = await client.peer_answer(self.boss, ref)
        assert found is not None
        self.prose_answer = found.answer

    async def _sprint(self) -> None:
        """Starts a sprint in a channel of its own, and answers its first question."""
        where = self.sprint_channel
        later = PlannedSprint(questions=1, seconds=120, at=time(18))
        self.planned_sprint = (await self.daily.client.sprint_plan(self.boss, self.event(), where, later)).id
        await self.daily.client.sprint_start(self.boss, self.event(), where, 1, 120)
        post: SprintQuestionPost | None = None
        while post is None:
            await pass_time(self.daily, 15)
            await self.daily.service.tick()
            bodies = [each.body for each in await self.daily.deliver() if each.channel == where.channel]
            post = next((body for body in bodies if isinstance(body, SprintQuestionPost)), None)
        self.sprint_question = int(post.ref[1:])
        form = await self.daily.client.ask(self.member, where, post.ref)
        given = self._given(form.question)
        await self.daily.client.answer(self.member, where, self.event(), post.ref, given, self.daily.now)

    async def _round(self, schedule: int, where: Where) -> int:
        client = self.daily.client
        made = await client.post_now(self.boss, self.event(), schedule)
        self.given = self._given(made.question).model_dump()
        given = AnswerInput.model_validate(self.given)
        await client.answer(self.member, where, self.event(), f"r{made.id}", given, self.daily.now)
        return made.id

    def _given(self, question: QuestionView) -> AnswerInput:
        options = tuple(option.id for option in question.options[:1])
        return AnswerInput(options=options) if options else AnswerInput(text=self.word)


async def open_banks(daily: DailyChannel, clock: Clock) -> None:
    """Adds a shared bank, at 11:30."""
    # More than the calls of a test can ask at once.
    more = (f"spare-{number}" for number in range(20))
    await daily.bank(*(choice(key) for key in ("views", "grad", "cast", "copy", "clone", *more)))
    clock.now += timedelta(hours=3, minutes=30)


async def all_rows(daily: DailyChannel) -> Rows:
    """Returns every row of all our tables."""
    found: Rows = {}
    for mapper in Base.registry.mappers:
        for row in await daily.rows(mapper.class_):
            state = inspect(row)
            values = {column.key: getattr(row, column.key) for column in mapper.column_attrs}
            found[mapper.local_table.name, state.identity] = values  # type: ignore[attr-defined]
    return found
