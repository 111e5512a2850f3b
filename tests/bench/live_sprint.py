"""A sprint that many members play in a chat while the service, the worker and the bot are killed.

The members are the same for every chat; a `Room` is what they press. Every member always chooses the same option of a
question, so what was counted can be compared with what each of them was told.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from time import monotonic
from typing import Literal, Protocol, TypeVar

import psycopg

from service.client import ServiceClient
from service.store.session import libpq_url
from service.wire import Where, Who
from tests.bench.rush import percentile
from tests.chaos.processes import until, until_awaited
from tests.faults.backend import TOKEN, TOKEN_KEY, Bot, Bots

Part = Literal["service", "worker", "bot"]
T = TypeVar("T")
Outcome = Literal["counted", "late", "unknown"]
"""What a member was told: the answer counts, the time is up, or nothing."""

ACK_S = 3.0
"""Time after which a chat shows that a press failed, seconds."""
READ_S = 10.0
"""Time after which a member presses again if nothing came, seconds. A killed bot takes along who only looked."""
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 20.0
"""Time between two attempts: the first, and the longest, seconds."""
PATIENCE_S = 240.0
"""Time after which a sprint that does not go on has failed, seconds."""
LOOK_S = 0.05
EDIT_EVERY_S = 5.0
KILLS: Mapping[int, tuple[tuple[Part, float], ...]] = {1: (("service", 0.25), ("worker", 0.6)), 2: (("bot", 0.4),)}
"""What is killed in each question, and after which share of its answers."""
COLUMNS = (
    *("chat", "members", "answers counted", "told so", "after the bell", "press to receipt p50", "p99"),
    *("edits of a question", "refused posts and edits", "kill -9"),
)


@dataclass(frozen=True)
class SprintPlan:
    """Parameters of a sprint."""

    members: int = 500
    questions: int = 4
    seconds: int = 60
    late_every: int = 10
    """Of so many members, one presses only after the bell."""
    by_hand: bool = False
    """Whether the bell rings once everybody has answered, and pauses are skipped, instead of by the clock."""
    kills: Mapping[int, tuple[tuple[Part, float], ...]] = field(default_factory=lambda: KILLS)

    def is_late(self, member: int) -> bool:
        """Returns whether the member presses after the bell only."""
        return member % self.late_every == self.late_every - 1

    def is_right(self, member: int, question: int) -> bool:
        """Returns whether the member chooses the right option."""
        return (member + question) % 3 != 0


class Room(Protocol):
    """A channel of a chat in which the sprint runs, and its members."""

    name: str

    async def start_bot(self, bots: Bots) -> Bot:
        """Starts a bot and waits until it is connected."""
        ...

    def messages(self) -> list[str]:
        """Returns the texts of the bot's messages in the channel, in order."""
        ...

    async def until(self, found: Callable[[], bool], what: str) -> None:
        """Waits for something in the channel. Fails with AssertionError."""
        ...

    async def open_card(self, member: int, question: str) -> object | None:
        """Presses *Answer* below the question that contains these words; returns the private card, if one came."""
        ...

    async def choose(self, member: int, card: object, option: str, twice: bool) -> Outcome:
        """Presses an option of the card; with `twice`, the chat delivers the press two times."""
        ...

    def edits(self, question: str) -> int:
        """Returns how often the message that contains these words was edited."""
        ...

    def refused_posts(self) -> int:
        """Returns how many messages and edits of messages the chat refused because of its limits."""
        ...

    def members_by_id(self) -> dict[str, int]:
        """Returns the numbers of the members by their ids in the chat."""
        ...


@dataclass
class Parts:
    """The service, the worker and the bot, each a process of its own that can be killed."""

    bots: Bots
    room: Room
    database_url: str
    port: int
    running: dict[Part, Bot] = field(default_factory=dict)
    killed: Counter[str] = field(default_factory=Counter)

    async def start(self, part: Part) -> None:
        """Starts a part and waits until it is ready."""
        if part == "bot":
            self.running[part] = await self.room.start_bot(self.bots)
            return
        ours = {"DATABASE_URL": self.database_url, "DAILYGRAD_TOKEN_KEY": TOKEN_KEY}
        words, ready = ("serve", "listens on") if part == "service" else ("work", "The worker is ready")
        own = {"DAILYGRAD_PORT": str(self.port)} if part == "service" else {}
        self.running[part] = await self.bots.start(words, data=part, DAILYGRAD_SERVICE_TOKEN=TOKEN, **ours, **own)
        await self.running[part].says(ready)

    async def kill(self, part: Part) -> None:
        """Kills a part with SIGKILL and starts another one."""
        await self.running[part].kill()
        self.killed[part] += 1
        await self.start(part)


@dataclass
class Diary:
    """What the members did and were told, by member and question."""

    told: dict[tuple[int, int], Outcome] = field(default_factory=dict)
    tried: set[tuple[int, int]] = field(default_factory=set)
    """Answers that were pressed before the bell."""
    seconds: list[float] = field(default_factory=list)
    done: int = 0
    """Members who are done with the current question."""
    open_s: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Counted:
    """An answer in the database."""

    member: int
    question: int
    right: bool
    points: int
    in_time: bool


@dataclass
class SprintReport:
    """What happened, and what was wrong."""

    chat: str
    plan: SprintPlan
    counted: int
    told: int
    late: int
    seconds: Sequence[float]
    edits: Sequence[int]
    refused: int
    kills: int
    wrong: Sequence[str]

    def row(self) -> tuple[str, ...]:
        """Returns the row of the table."""
        return (
            self.chat,
            f"{self.plan.members:,}",
            f"{self.counted:,}",
            f"{self.told:,}",
            f"{self.late:,} refused",
            f"{percentile(self.seconds, 0.5):.2f} s",
            f"{percentile(self.seconds, 0.99):.2f} s",
            f"at most {max(self.edits)}",
            str(self.refused),
            str(self.kills),
        )


@dataclass
class LiveSprint:
    """A sprint in a room, played by its members."""

    room: Room
    parts: Parts
    plan: SprintPlan
    client: ServiceClient
    boss: Who
    where: Where
    diary: Diary = field(default_factory=Diary)

    async def play(self) -> SprintReport:
        """Plays the sprint from the announcement to the podium, and compares what was counted with the diary."""
        for part in ("service", "worker", "bot"):
            await self.parts.start(part)
        plan = self.plan
        await self.client.sprint_start(self.boss, "sprint", self.where, plan.questions, plan.seconds, "")
        await self._sees("first one comes in")
        for number in range(1, plan.questions + 1):
            await self._skip_pause(number)
            await self._play_question(number)
        await self._skip_pause(plan.questions + 1)
        await self._sees("Sprint: the podium")
        return await self._report()

    def _title(self, number: int) -> str:
        return f"Sprint · question {number} of {self.plan.questions}"

    async def _play_question(self, number: int) -> None:
        await self._sees(self._title(number))
        begun = monotonic()
        await self._begin(number)
        bell, self.diary.done = asyncio.Event(), 0
        members = range(self.plan.members)
        late = [asyncio.create_task(self._answer_late(one, number, bell)) for one in members if self.plan.is_late(one)]
        in_time = [self._answer(one, number) for one in members if not self.plan.is_late(one)]
        await asyncio.gather(self._kill(number, len(in_time)), *in_time)
        await self._ring(number)
        await self._sees(f"Answer · question {number} of")
        await self.room.until(lambda: self._is_closed(number), f"question {number} closed")
        self.diary.open_s[number] = monotonic() - begun
        bell.set()
        await asyncio.gather(*late)

    async def _kill(self, number: int, members: int) -> None:
        for part, share in self.plan.kills.get(number, ()):
            await self._until_done(share * members)
            await self.parts.kill(part)

    async def _until_done(self, members: float) -> None:
        await until(lambda: self.diary.done >= members, PATIENCE_S)

    async def _answer(self, member: int, number: int) -> None:
        """Answers until the member is told that the answer counts, or that it is too late."""
        if not self.plan.by_hand:
            await asyncio.sleep(Random(f"{member} {number}").uniform(0, 0.6 * self.plan.seconds))
        begun = monotonic()

        async def attempt() -> Outcome | None:
            card = await self.room.open_card(member, self._title(number))
            if card is None:
                return None
            self.diary.tried.add((member, number))
            return await self._choose(member, number, card)

        outcome: Outcome = await self._patiently(attempt, number) or "unknown"
        self.diary.told[member, number] = outcome
        self.diary.done += 1
        if outcome == "counted":
            self.diary.seconds.append(monotonic() - begun)

    async def _answer_late(self, member: int, number: int, bell: asyncio.Event) -> None:
        """Opens the card while there is time, and presses an option after the bell."""
        card = await self._patiently(lambda: self.room.open_card(member, self._title(number)), number)
        await bell.wait()
        if card is not None:
            self.diary.told[member, number] = await self._choose(member, number, card) or "unknown"

    async def _choose(self, member: int, number: int, card: object) -> Outcome | None:
        """Presses an option; returns None if nothing said what came of it."""
        outcome = await self.room.choose(member, card, self._option(member, number), member % 3 == 0)
        return None if outcome == "unknown" else outcome

    async def _patiently(self, attempt: Callable[[], Awaitable[T | None]], number: int) -> T | None:
        """Repeats an attempt while the question is open, waiting longer each time, as people do."""
        wait = FIRST_WAIT_S
        while (found := await attempt()) is None and not self._is_closed(number):
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST_WAIT_S)
        return found

    def _option(self, member: int, number: int) -> str:
        """Returns the option that the member chooses: the sum, or one too many."""
        found = re.search(r"What is (\d+) \+", self._text(self._title(number)))
        assert found, "the bank has only sums"
        return str(2 * int(found[1]) + (not self.plan.is_right(member, number)))

    def _text(self, words: str) -> str:
        return next((text for text in self.room.messages() if words in text), "")

    def _is_closed(self, number: int) -> bool:
        return "Time is up" in self._text(self._title(number))

    async def _sees(self, words: str) -> None:
        await self.room.until(lambda: bool(self._text(words)), words)

    # Time. By hand, stored deadlines are moved, so that nothing depends on how fast this machine is.

    async def _begin(self, number: int) -> None:
        """By hand: waits until the time of the question has begun, and makes it an hour."""
        if self.plan.by_hand:
            await self._move("sprint", "until = until + interval '1 hour'", "phase = 'asking' and number = %s", number)
            await self._move("sprint_question", "closes_at = closes_at + interval '1 hour'", "number = %s", number)

    async def _ring(self, number: int) -> None:
        """By hand: ends the time of the question."""
        if self.plan.by_hand:
            await self._move("sprint_question", "closes_at = clock_timestamp()", "number = %s", number)
            await self._move("sprint", "until = clock_timestamp()", "number = %s", number)

    async def _skip_pause(self, number: int) -> None:
        """By hand: ends the pause before the question of this number."""
        if self.plan.by_hand:
            await self._move("sprint", "until = clock_timestamp()", "phase = 'pausing' and number = %s", number - 1)

    async def _move(self, table: str, change: str, which: str, number: int) -> None:
        """Changes the row as soon as there is one."""
        statement = f"update {table} set {change} where {which} returning id".encode()
        async with await psycopg.AsyncConnection.connect(libpq_url(self.parts.database_url), autocommit=True) as rows:

            async def changed() -> bool:
                return await (await rows.execute(statement, (number,))).fetchone() is not None

            assert await until_awaited(changed, PATIENCE_S), f"never a {table} with {which}: {number}"

    # What happened

    async def _counted(self) -> list[Counted]:
        query = """
            select i.external_id, q.number, a.credit = 1, a.points, a.at <= q.closes_at
            from sprint_answer a join sprint_question q on q.id = a.question_id
            join identity i on i.member_id = a.member_id
        """
        async with await psycopg.AsyncConnection.connect(libpq_url(self.parts.database_url)) as rows:
            found = await (await rows.execute(query.encode())).fetchall()
        numbers = self.room.members_by_id()
        return [Counted(numbers[id_], *rest) for id_, *rest in found]

    async def _report(self) -> SprintReport:
        counted = await self._counted()
        edits = [self.room.edits(self._title(number)) for number in range(1, self.plan.questions + 1)]
        return SprintReport(
            chat=self.room.name,
            plan=self.plan,
            counted=len(counted),
            told=sum(outcome == "counted" for outcome in self.diary.told.values()),
            late=sum(outcome == "late" for outcome in self.diary.told.values()),
            seconds=self.diary.seconds,
            edits=edits,
            refused=self.room.refused_posts(),
            kills=self.parts.killed.total(),
            wrong=[*find_errors(self.plan, self.diary, counted), *self._wrong_messages(counted, edits)],
        )

    def _wrong_messages(self, counted: Sequence[Counted], edits: Sequence[int]) -> list[str]:
        """Returns what is wrong with the channel: a message twice or missing, false numbers, too many edits."""
        questions = range(1, self.plan.questions + 1)
        titles = ["first one comes in", "Sprint: the podium", *(self._title(number) for number in questions)]
        titles += [f"Answer · question {number} of" for number in questions]
        texts = self.room.messages()
        wrong = [f"{title}: {n} messages" for title in titles if (n := sum(title in text for text in texts)) != 1]
        for number, edited in zip(questions, edits, strict=True):
            rows = [one for one in counted if one.question == number]
            said = f"{sum(one.right for one in rows)} of {len(rows)} answered right"
            if said not in self._text(f"Answer · question {number} of"):
                wrong.append(f"the answer to question {number} does not say {said!r}")
            # One for each pace, the one that closes it, and one that was under way when a process was killed.
            if edited > self.diary.open_s[number] / EDIT_EVERY_S + 2:
                wrong.append(f"{edited} edits of question {number} in {self.diary.open_s[number]:.0f} s")
        points = Counter[int]()
        for one in counted:
            points[one.member] += one.points
        podium = self._text("Sprint: the podium")
        wrong += [f"the podium has no {best} points" for _, best in points.most_common(3) if f"{best}" not in podium]
        return wrong


def find_errors(plan: SprintPlan, diary: Diary, counted: Sequence[Counted]) -> list[str]:
    """Returns every answer that is counted twice, after the bell or wrongly, or that is lost."""
    times = Counter((one.member, one.question) for one in counted)
    wrong = [f"{answer} is counted {count} times" for answer, count in times.items() if count > 1]
    wrong += [f"{one} was not pressed before the bell" for one in times if one not in diary.tried]
    wrong += [f"{one} came after the bell" for one in counted if not one.in_time]
    wrong += [f"{one} is graded wrongly" for one in counted if one.right != plan.is_right(one.member, one.question)]
    wrong += [f"{one} has wrong points" for one in counted if (one.points >= 50) != one.right or one.points > 100]
    told = [answer for answer, outcome in diary.told.items() if outcome == "counted"]
    wrong += [f"{answer} was confirmed and is lost" for answer in told if answer not in times]
    return wrong


async def replied(settled: Callable[[], bool], acknowledged: Callable[[], bool]) -> bool:
    """Waits for the reply to a press. A chat gives up a press that is not acknowledged in time."""
    begun = monotonic()
    while not settled():
        if monotonic() - begun > (READ_S if acknowledged() else ACK_S):
            return False
        await asyncio.sleep(LOOK_S)
    return True


def read_outcome(text: str) -> Outcome:
    """Returns what a reply says about the answer."""
    if "is recorded" in text or "is changed" in text:
        return "counted"
    return "late" if "Time is up" in text else "unknown"


def table(reports: Sequence[SprintReport]) -> str:
    """Returns the reports as a Markdown table."""
    rows = [COLUMNS, tuple("---" for _ in COLUMNS), *(report.row() for report in reports)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
