"""`dailygrad demo`: weeks of a simulated team in a folder of its own, to look at before deciding.

Everything is played: members answer through the service's calls, rounds open and close at their times, and the web chat
shows what was posted. Only the clock is set. A composition root like `bot.all_in_one`.
"""

from __future__ import annotations

import asyncio
import math
import os
import random
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final, Literal

import psycopg
import typer
import tzlocal
from psycopg.sql import SQL
from psycopg.sql import Literal as SqlLiteral
from pydantic import SecretStr
from sqlalchemy import delete, select, update

from bot.all_in_one import Chat, import_bank, run_with_chat, step, zone_name
from bot.core.dispatcher import Dispatcher
from bot.core.text.words import plural
from bot.settings import WEB_PORT, LinkSettings, load_settings
from bot.web.chat import WHERE, WebChat, who_of
from bot.web.store import ChatStore
from questions.model import Question
from service.app import Service, build
from service.client import ServiceClient
from service.config import read_settings
from service.logs import log_to
from service.process import CommandFailed, lock_folder, make_folder, now, out, run_process
from service.rounds.submissions import submit_answer
from service.store import migrations, questions, sprints
from service.store.answers import Submission
from service.store.competition_tables import Sprint, SprintQuestion
from service.store.members import lock_caller, resolve_caller
from service.store.session import libpq_url, start_postgres
from service.store.tables import Base, Outbox, Round
from service.wire import AnswerInput, Confidence, QuestionRef, ScheduleSpec, TournamentPlan, WebPerson, Who

DATA: Final = Path(".dailygrad-demo")
FILLED: Final = "demo-filled"
"""File that holds the id of the lead, once the folder is filled."""
LEAD: Final = "Lead"
NAMES: Final = (
    "Ada", "Grace", "Katherine", "Dorothy", "Margaret", "Barbara", "Radia", "Frances", "Hedy", "Annie", "Mary", "Jean",
    "Alan", "Edsger", "Donald", "Dennis", "Ken", "Claude", "John", "Leslie", "Tony", "Niklaus", "Robin", "Yann",
)  # fmt: skip
_DIFFICULTY: Final = {"mid": -1.0, "senior": -0.2, "principal": 0.6, None: -0.2}
"""How hard a level is in the mean, on the scale of the members' abilities: both equal is an even chance."""
DAYS_OF_WEEK, TOURNAMENT_DAYS = 7, 14
"""Days of the tournament that is over, and of the one that still runs."""
SPRINT_QUESTIONS, SPRINT_SECONDS = 3, 20
SPRINT_STEP = 5.0
"""Time that passes between two looks at the sprint, seconds."""
_SPRINT_TIMES: Final = (
    (Base.metadata.tables["sprint"], ("until", "started_at")),
    (Base.metadata.tables["sprint_question"], ("opened_at", "closes_at")),
    (Base.metadata.tables["sprint_answer"], ("at",)),
)
_COMPLAINTS: Final = ("Two options look right to me.", "Which version of PyTorch is this about?")

demo_command = typer.Typer()


@demo_command.command("demo")
def run_demo(
    weeks: Annotated[int, typer.Option(min=1, max=26, help="Weeks that were played.")] = 8,
    members: Annotated[int, typer.Option(min=2, max=len(NAMES), help="Members who play.")] = len(NAMES),
    port: Annotated[
        int, typer.Option(envvar="DAILYGRAD_WEB_PORT", min=0, max=65535, help="Port of the web chat.")
    ] = WEB_PORT,
    data: Annotated[Path, typer.Option(help="Folder of the demo, which holds nothing else.")] = DATA,
) -> None:
    """Fill a folder of its own with weeks of a simulated team, and open it as the team's lead."""
    if os.environ.get("DATABASE_URL"):
        raise CommandFailed("a demo has a database of its own: unset DATABASE_URL first")
    make_folder(data)
    with lock_folder(data):
        if not (data / FILLED).exists() and (data / "postgres").exists():
            raise CommandFailed(
                f"{data} holds something else, or a demo that was interrupted: delete it, or use --data"
            )
        log_to(data / "dailygrad.log", "warning")
        run_process(_open(data.resolve(), Demo(weeks, members), port))


async def _open(data: Path, demo: Demo, port: int) -> None:
    if not (data / FILLED).exists():
        out.print("Playing the demo, which takes about a minute. The members are simulated; nothing is sent anywhere.")
        await fill(data, demo, now())
    lead = (data / FILLED).read_text()
    await run_with_chat(data, None, Chat.web, port, load_settings(LinkSettings), lead=lead)


@dataclass(frozen=True, slots=True)
class Demo:
    """How much is played. The same seed plays the same."""

    weeks: int = 8
    members: int = len(NAMES)
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Player:
    """A simulated member."""

    who: Who
    ability: float
    """On the scale of `_DIFFICULTY`."""
    habit: float
    """Share of the days on which they answer."""
    minutes: float
    """Usual time after the post, minutes."""


class DemoClock:
    """The clock of the service while the past is played."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at


async def fill(data: Path, demo: Demo, until: datetime) -> None:
    """Plays the weeks before `until` into an empty folder. Its last question is open and waits for the lead."""
    postgres = await step("PostgreSQL started", asyncio.to_thread(start_postgres, data / "postgres"))
    try:
        await asyncio.to_thread(migrations.upgrade, postgres.url)
        # Thousands of small transactions would each wait for the disk. A demo that is interrupted is deleted anyway.
        await asyncio.to_thread(_set_commit, postgres.url, "off")
        token = SecretStr(secrets.token_urlsafe(32))
        settings = read_settings(database_url=postgres.url, service_token=token, sandbox_socket=None)
        first = until - timedelta(weeks=demo.weeks)
        service = build(settings, DemoClock(first))
        async with service.running(), ServiceClient.inside(service.api, settings.tokens) as client:
            await import_bank(service, None)
            store = ChatStore(client)
            people = [await store.join(name) for name in (LEAD, *NAMES[: demo.members])]
            team = Team(service, client, people, demo)
            await step(f"{plural(demo.weeks, 'week')} played by {demo.members} members", team.play(until))
        await asyncio.to_thread(_set_commit, postgres.url, "on")
        (data / FILLED).write_text(team.lead.id)
    finally:
        await asyncio.to_thread(postgres.stop)


def _set_commit(url: str, mode: Literal["on", "off"]) -> None:
    """Sets whether commits of new connections wait for the disk."""
    with psycopg.connect(libpq_url(url), autocommit=True) as connection:
        connection.execute(SQL("alter role current_user set synchronous_commit = {}").format(SqlLiteral(mode)))


class Team:
    """The simulated members, and the days that they play."""

    def __init__(self, service: Service, client: ServiceClient, people: list[WebPerson], demo: Demo) -> None:
        assert isinstance(service.clock, DemoClock), "a demo sets the clock"
        self._service = service
        self._client = client
        self._clock = service.clock
        self._random = random.Random(demo.seed)  # noqa: S311 - it simulates people, and keeps no secret
        self._weeks = demo.weeks
        self._dispatcher = Dispatcher(client, WebChat(ChatStore(client), self._clock))
        self._events = 0
        self._tournaments = 0
        self.lead, *others = people
        self.players = [self._player(person) for person in others]
        self._lead = Player(who_of(self.lead), 0.9, 0.95, 40)

    async def play(self, until: datetime) -> None:
        """Plays every day; the last question stays open."""
        zone = tzlocal.get_localzone()
        last = until.astimezone(zone).replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)
        slots = [last - timedelta(days=day) for day in reversed(range(7 * self._weeks))]
        self._clock.at = slots[0] - timedelta(minutes=1)
        spec = ScheduleSpec(
            at=last.time(),
            weekdays=tuple(range(7)),
            zone=zone_name(str(zone)),
            kinds=("choice", "value", "output"),
            confidence=True,
        )
        await self._client.schedule_add(self._lead.who, self._event(), WHERE, spec)
        await self._client.season_start(self._lead.who, self._event(), "Demo season")
        for player in (self._lead, *self.players):
            await self._client.join(player.who, WHERE)
        # One that still runs at the end, and before it one that is over, if there is time for both.
        tournaments = {max(0, len(slots) - TOURNAMENT_DAYS // 2 - 1): TOURNAMENT_DAYS}
        if self._weeks > 2:
            tournaments[1] = DAYS_OF_WEEK
        for day, slot in enumerate(slots):
            if day in tournaments:
                await self._plan_tournament(slot.date() + timedelta(days=1), tournaments[day])
            if slot == last:
                await self._play_sprint()
            await self._play_day(slot, until if slot == last else None)
            if day % 7 == 3:
                # The lead plays the last one: the ladder is worth a look with a place of your own.
                one, other = self._random.sample(self.players, 2)
                await self._play_duel(self._lead if day + 7 >= len(slots) else one, other)
            if (day + 1) % 7 == 0:
                out.print(f"  Week {(day + 1) // 7} of {self._weeks} played")
        self._clock.at = until

    async def _play_day(self, slot: datetime, until: datetime | None) -> None:
        """Posts the day's question, has members answer it, and closes it unless it is still open at `until`."""
        self._clock.at = slot
        await self._advance()
        closes = until or slot + timedelta(minutes=ScheduleSpec().open_minutes)
        self._clock.at = closes - timedelta(seconds=1)
        for ask in (await self._client.today(self._lead.who, WHERE)).forms:
            question = await self._read(ask.ref)
            team = [*self.players, self._lead] if until is None else self.players
            here = [player for player in team if self._random.random() < player.habit]
            await self._answer(here, ask.ref, question, slot, closes)
            if here and self._random.random() < 0.05:
                who, text = self._random.choice(here).who, self._random.choice(_COMPLAINTS)
                await self._client.report(who, self._event(), question.id, text)
        if until is None:
            self._clock.at = closes
            await self._advance()

    async def _advance(self) -> None:
        """Does what is due now, and posts it."""
        await self._service.tick()
        await self._service.jobs.run_pending()
        async with self._service.sessions.begin() as session:
            # Nobody reads what the simulated members are told in private, and posting it takes most of the time.
            lead = (await resolve_caller(session, self._lead.who, WHERE, self._clock())).member_id
            await session.execute(delete(Outbox).where(Outbox.member_id != lead, Outbox.kind == "result"))
        while await self._dispatcher.once():
            pass

    async def _answer(
        self, players: list[Player], ref: str, question: Question, slot: datetime, closes: datetime
    ) -> None:
        """Answers for these members by the use case, in one transaction: a call for each answer takes longer."""
        jobs, now_ = self._service.jobs, self._clock()
        async with self._service.sessions.begin() as session:
            for who, submitted in list(self._submissions(players, ref, question, slot, closes)):
                caller = await lock_caller(session, await resolve_caller(session, who, WHERE, now_))
                await submit_answer(session, caller, submitted, now_, jobs)

    def _submissions(
        self, players: list[Player], ref: str, question: Question, slot: datetime, closes: datetime
    ) -> Iterator[tuple[Who, Submission]]:
        difficulty = _DIFFICULTY[question.level] + self._random.gauss(0, 0.8)
        for player in players:
            chance = 1 / (1 + math.exp(difficulty - player.ability))
            given = self._answer_to(question, right=self._random.random() < chance, chance=chance)
            late = timedelta(minutes=self._random.expovariate(1 / player.minutes))
            at = min(slot + late, closes - timedelta(minutes=1))
            yield player.who, Submission(self._event(), ref, given, at)

    def _answer_to(self, question: Question, *, right: bool, chance: float) -> AnswerInput:
        belief = self._random.gauss(chance, 0.15)
        confidence: Confidence = "sure" if belief > 0.8 else "think" if belief > 2 / 3 else "guess"
        if not question.options:
            return AnswerInput(text=(question.answer or "") if right else "-1", confidence=confidence)
        keys = tuple(option.id for option in question.options if option.right)
        wrong = [option.id for option in question.options if not option.right]
        chosen = keys if right or not wrong else (self._random.choice(wrong),)
        return AnswerInput(options=chosen, confidence=confidence)

    async def _play_duel(self, one: Player, other: Player) -> None:
        """Plays a duel of two members, whose answers are drawn."""
        duel = (await self._client.duel_challenge(one.who, WHERE, self._event(), other.who.name)).duel
        await self._client.duel_respond(other.who, self._event(), duel, True)
        for player in (one, other):
            view = (await self._client.duel_show(player.who, duel)).duel
            while ref := view.next_ref:
                ask = (await self._client.duel_ask(player.who, ref)).ask
                assert ask is not None, "a question that comes next can be seen"
                options = [option.id for option in ask.question.options]
                given = AnswerInput(options=(self._random.choice(options),)) if options else AnswerInput(text="2")
                at = self._clock.at + timedelta(seconds=self._random.uniform(5, 60))
                view = (await self._client.duel_answer(player.who, self._event(), ref, given, at)).duel

    async def _plan_tournament(self, first_day: date, days: int) -> None:
        """Plans a tournament of two random teams, which most members join; the daily rounds play it."""
        self._tournaments += 1
        plan = TournamentPlan(title=f"Cup {self._tournaments}", first_day=first_day, days=days)
        await self._client.tournament_plan(self._lead.who, self._event(), WHERE, plan)
        for player in self.players:
            if self._random.random() < 0.8:
                await self._client.tournament_join(player.who, self._event())

    async def _play_sprint(self) -> None:
        """Plays a sprint with half of the members.

        The database's clock times sprints, so time passes by moving what is stored of this one into the past.
        """
        await self._client.sprint_start(self._lead.who, self._event(), WHERE, SPRINT_QUESTIONS, SPRINT_SECONDS)
        here = self._random.sample(self.players, max(2, len(self.players) // 2))
        answered: set[int] = set()
        while True:
            await self._advance()
            async with self._service.sessions() as session:
                sprint = (await session.scalars(select(Sprint).order_by(Sprint.id.desc()).limit(1))).one()
                asked = await session.scalar(
                    select(SprintQuestion).where(
                        SprintQuestion.opened_at.is_not(None), SprintQuestion.settled_at.is_(None)
                    )
                )
            if sprint.ended_at is not None:
                return
            if asked is not None and asked.id not in answered:
                answered.add(asked.id)
                await self._answer_sprint(sprint, asked, here)
            await self._pass_time(SPRINT_STEP)

    async def _answer_sprint(self, sprint: Sprint, asked: SprintQuestion, here: list[Player]) -> None:
        ref = str(QuestionRef("sprint", asked.id))
        for player in here:
            await self._pass_time(self._random.uniform(0.1, 1.2))
            async with self._service.sessions.begin() as session:
                # Each member may have a variant of their own.
                caller = await resolve_caller(session, player.who, WHERE, self._clock())
                version_id = await sprints.get_for_member(session, sprint, asked, caller.member_id)
                question = (await questions.get_version(session, version_id)).question
            difficulty = _DIFFICULTY[question.level]
            chance = 1 / (1 + math.exp(difficulty - player.ability))
            given = self._answer_to(question, right=self._random.random() < chance, chance=chance)
            await self._client.answer(
                player.who, WHERE, self._event(), ref, given.model_copy(update={"confidence": None}), self._clock.at
            )

    async def _pass_time(self, seconds: float) -> None:
        """Moves every instant that is stored of the running sprint into the past."""
        async with self._service.sessions.begin() as session:
            for table, names in _SPRINT_TIMES:
                columns = {name: table.c[name] - timedelta(seconds=seconds) for name in names}
                await session.execute(update(table).values(columns))

    async def _read(self, ref: str) -> Question:
        """Returns the question of a round, with its key."""
        async with self._service.sessions() as session:
            round_ = await session.get_one(Round, QuestionRef.parse(ref).id)
            assert round_.version_id is not None, "an open round asks a question"
            return (await questions.get_version(session, round_.version_id)).question

    def _player(self, person: WebPerson) -> Player:
        draw = self._random
        return Player(
            who_of(person), draw.gauss(0.5, 0.9), min(0.98, max(0.2, draw.gauss(0.7, 0.2))), draw.uniform(5, 150)
        )

    def _event(self) -> str:
        self._events += 1
        return f"demo:{self._events}"
