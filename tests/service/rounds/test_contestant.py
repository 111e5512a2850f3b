"""A model that takes part: asked once before the question opens, shown at the reveal, ranked nowhere."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta

import pytest
from pydantic import SecretStr

from questions.model import Question
from sandbox.client import Health, SandboxClient, SandboxUnreachable
from sandbox.wire import Outcome, Run
from service.app import build
from service.config import Settings
from service.rounds.contestant import AHEAD, CHECK_INTERVAL
from service.sandboxes import SandboxPort
from service.store.contestants import AskedSlot, ContestantAnswerRow
from service.store.tables import AnswerRow, Ledger
from service.wire import ContestantAnswer, ExtraRound, QuestionPost, RevealPost
from tests.conftest import MONDAY, Clock
from tests.doubles.models import ModelDouble, model_double
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice, code, daily_channel_of, prose, value

NINE = MONDAY + timedelta(hours=1)
ASKING = SPEC.model_copy(update={"contestant": True})
KEY = "sk-secret-of-the-endpoint"
Open = Callable[..., AbstractAsyncContextManager[DailyChannel]]


@pytest.fixture
async def model() -> AsyncIterator[ModelDouble]:
    async with model_double() as double:
        yield double


@pytest.fixture
def opened(settings: Settings, clock: Clock, model: ModelDouble) -> Open:
    """Opens a service whose model is the stand-in, an hour before a question at nine."""

    @asynccontextmanager
    async def opening(
        *questions: Question, asks: bool = True, sandbox: SandboxPort | None = None, **more: object
    ) -> AsyncIterator[DailyChannel]:
        known = {"contestant_url": model.url, "contestant_model": "tiny-1", "contestant_key": SecretStr(KEY), **more}
        async with build(settings.model_copy(update=known), clock, sandbox).running() as service:
            daily = daily_channel_of(service)
            await daily.bank(*questions)
            await daily.schedule(ASKING if asks else SPEC)
            yield daily

    return opening


async def asked(daily: DailyChannel) -> None:
    """Lets the leader notice what to ask, and a worker ask it."""
    await daily.service.tick()
    await daily.service.jobs.run_pending()


async def revealed(daily: DailyChannel, clock: Clock) -> RevealPost:
    """Opens the question at nine if it is not open yet, closes it, and returns the reveal."""
    clock.now = max(clock.now, NINE)
    await daily.ticked()
    clock.now = NINE + timedelta(hours=8)
    (reveal,) = [body for body in await daily.ticked() if isinstance(body, RevealPost)]
    return reveal


async def test_the_model_answers_before_the_question_opens_and_is_shown_at_the_reveal(
    opened: Open, model: ModelDouble, clock: Clock
) -> None:
    async with opened(choice(), asks=True) as daily:
        clock.now = NINE - AHEAD - timedelta(seconds=1)
        await asked(daily)
        assert not model.asked, "too early"
        clock.advance(seconds=16)
        await asked(daily)
        (row,) = await daily.rows(ContestantAnswerRow)
        assert row.answered_at is not None and row.answered_at < NINE
        clock.now = NINE
        (post,) = [body for body in await daily.ticked() if isinstance(body, QuestionPost)]
        await daily.answer(post.ref, "a", "Ada")
        await asked(daily)
        reveal = await revealed(daily, clock)
    found = reveal.contestant
    assert found is not None and found.model == "tiny-1" and found.given is not None and found.given.options
    expected = "accepted" if found.given.options == ("a",) else "wrong"
    assert found.verdict == expected and not found.problem
    assert len(model.asked) == 1, "a question is asked once"
    assert model.keys == [f"Bearer {KEY}"]
    for secret in ("another look", "copies", "holds its own"):
        assert secret not in model.prompt


async def test_the_answer_of_the_model_counts_nowhere(opened: Open, model: ModelDouble, clock: Clock) -> None:
    async with opened(choice()) as daily:
        clock.now = NINE
        (post,) = [body for body in await daily.ticked() if isinstance(body, QuestionPost)]
        await daily.answer(post.ref, "b", "Ada")
        await asked(daily)
        reveal = await revealed(daily, clock)
        assert reveal.contestant is not None and reveal.contestant.given is not None
        assert (reveal.answers, reveal.right, reveal.first) == (1, 0, None)
        assert sum(option.chosen_by for option in reveal.key.options) == 1
        assert [person.name for person in reveal.points] == ["Ada"]
        assert len(await daily.rows(AnswerRow)) == 1
        assert {row.member_id for row in await daily.rows(Ledger)} == {
            row.member_id for row in await daily.rows(AnswerRow)
        }
        board = await daily.client.board(daily.who("Ada"), DAILY)
        assert "tiny-1" not in str(board)
        statistics = await daily.client.question_statistics(daily.who("Boss", admin=True), "views")
        assert statistics.answers == 1


async def test_without_the_option_of_the_schedule_nothing_leaves(
    opened: Open, model: ModelDouble, clock: Clock
) -> None:
    async with opened(choice(), asks=False) as daily:
        clock.now = NINE - timedelta(minutes=1)
        await asked(daily)
        clock.now = NINE + timedelta(minutes=1)
        await asked(daily)
        assert (await revealed(daily, clock)).contestant is None
    assert not model.asked


async def test_without_an_endpoint_the_reveal_says_so(opened: Open, model: ModelDouble, clock: Clock) -> None:
    async with opened(choice(), contestant_url="") as daily:
        clock.now = NINE - timedelta(minutes=1)
        await asked(daily)
        assert (await revealed(daily, clock)).contestant == ContestantAnswer(model="", problem="no model")
    assert not model.asked


async def test_a_dead_endpoint_delays_nothing(opened: Open, model: ModelDouble, clock: Clock) -> None:
    """The worker is still waiting for the model while the question is posted, answered and closed."""
    model.fault = "silent"
    async with opened(choice(), contestant_timeout_s=600.0) as daily:
        clock.now = NINE - timedelta(minutes=1)
        await daily.service.tick()
        worker = asyncio.create_task(daily.service.jobs.run_pending())
        await model.called.wait()
        reveal = await revealed(daily, clock)
        assert not worker.done()
        model.stopping.set()
        await worker
        assert reveal.contestant == ContestantAnswer(model="tiny-1", problem="no answer")
        clock.advance(minutes=1)
        await asked(daily)
    assert len(model.asked) == 1


async def test_an_endpoint_that_fails_is_asked_once(
    opened: Open, model: ModelDouble, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    model.status = 500
    model.body = KEY.encode()
    async with opened(choice()) as daily:
        for minute in (-9, -1, 1):
            clock.now = NINE + timedelta(minutes=minute)
            await asked(daily)
        reveal = await revealed(daily, clock)
    assert reveal.contestant == ContestantAnswer(model="tiny-1", problem="no answer")
    assert len(model.asked) == 1
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("question", "reply"),
    [(choice(), "I think it is 1."), (choice(), '{"answer": [9]}'), (value(), '{"answer": "about six, I think"}')],
)
async def test_what_is_no_valid_answer(
    opened: Open, model: ModelDouble, clock: Clock, question: Question, reply: str
) -> None:
    model.reply = reply
    async with opened(question) as daily:
        clock.now = NINE - timedelta(minutes=1)
        await asked(daily)
        reveal = await revealed(daily, clock)
    assert reveal.contestant == ContestantAnswer(model="tiny-1", problem="invalid answer")


async def test_a_value_is_graded_and_prose_is_not(opened: Open, model: ModelDouble, clock: Clock) -> None:
    model.reply = '{"answer": "(2, 3)"}'
    async with opened(value()) as daily:
        clock.now = NINE - timedelta(minutes=1)
        await asked(daily)
        found = (await revealed(daily, clock)).contestant
    assert found is not None and (found.verdict, found.credit) == ("accepted", 1.0)


async def test_prose_is_shown_without_a_verdict(opened: Open, model: ModelDouble, clock: Clock) -> None:
    model.reply = '{"answer": "They share a storage."}'
    async with opened(prose()) as daily:
        clock.now = NINE - timedelta(minutes=1)
        await asked(daily)
        found = (await revealed(daily, clock)).contestant
    assert found is not None and found.given is not None
    assert (found.verdict, found.credit, found.given.text) == (None, None, "They share a storage.")


async def test_another_question_than_expected_is_asked_as_well(opened: Open, model: ModelDouble, clock: Clock) -> None:
    """The bank changes between the look ahead and the post."""
    model.reply = '{"answer": "(2, 3)"}'
    async with opened(choice()) as daily:
        clock.now = NINE - timedelta(minutes=1)
        await asked(daily)
        await daily.bank(value())
        clock.now = NINE
        await daily.ticked()
        clock.now += CHECK_INTERVAL
        await asked(daily)
        found = (await revealed(daily, clock)).contestant
        rows = await daily.rows(ContestantAnswerRow)
    assert len(rows) == len(model.asked) == 2
    assert found is not None and found.given is not None and found.given.text == "(2, 3)"


async def test_several_processes_ask_once(opened: Open, model: ModelDouble, clock: Clock) -> None:
    async with opened(choice()) as one, build(one.service.settings, clock).running() as other:
        clock.now = NINE - timedelta(minutes=1)
        await asyncio.gather(one.service.tick(), other.tick(), one.service.tick())
        await asyncio.gather(one.service.jobs.run_pending(), other.jobs.run_pending())
        await other.jobs.run_pending()
        # A job whose end was not recorded runs again.
        (row,) = await one.rows(ContestantAnswerRow)
        async with one.service.sessions.begin() as session:
            await one.service.jobs.defer_asking(session, AskedSlot(row.schedule_id, row.day, row.version_id))
        await one.service.jobs.run_pending()
    assert len(model.asked) == 1


async def test_an_extra_question_is_not_asked(opened: Open, model: ModelDouble, clock: Clock) -> None:
    async with opened(choice(), choice("more")) as daily:
        await daily.client.ask_extra(daily.who("Boss", admin=True), "extra", DAILY, ExtraRound(open_minutes=30))
        await daily.ticked()
        await asked(daily)
        assert not await daily.rows(ContestantAnswerRow)
    assert not model.asked


async def test_at_most_four_questions_are_asked_at_once(opened: Open) -> None:
    """Jobs with one lock run one after the other, in any worker."""
    async with opened(choice()) as daily:
        async with daily.service.sessions.begin() as session:
            for schedule in range(1, 11):
                await daily.service.jobs.defer_asking(session, AskedSlot(schedule, NINE.date(), 1))
        locks = [job.lock for job in await daily.service.jobs.app.job_manager.list_jobs_async()]
    assert (len(locks), len(set(locks)), None in locks) == (10, 4, False)


class RecordedRuns:
    """A sandbox that keeps what it is asked to run, and fails."""

    def __init__(self) -> None:
        self.runs: list[Run] = []

    async def run(self, run: Run) -> Outcome:
        self.runs.append(run)
        return Outcome(id=run.id, status="internal", detail="no child")

    async def health(self) -> Health:
        raise SandboxUnreachable("it only records")


async def test_its_code_goes_after_members_answers_and_a_sandbox_that_fails_gives_no_verdict(
    opened: Open, model: ModelDouble, clock: Clock
) -> None:
    model.reply = json.dumps({"answer": "def double(x):\n    return x + x\n"})
    sandbox = RecordedRuns()
    async with opened(code(), sandbox=sandbox) as daily:
        clock.now = NINE - timedelta(minutes=1)
        await asked(daily)
        found = (await revealed(daily, clock)).contestant
    assert {run.priority for run in sandbox.runs} == {"practice"}
    assert found is not None and found.given is not None
    assert (found.given.code, found.verdict, found.credit) == ("def double(x):\n    return x + x\n", None, None)


@pytest.mark.sandbox
async def test_code_is_judged_in_the_sandbox(
    opened: Open, model: ModelDouble, clock: Clock, sandbox: SandboxClient
) -> None:
    model.reply = json.dumps({"answer": "def double(x):\n    return x + x\n"})
    async with opened(code(), sandbox=sandbox) as daily:
        clock.now = NINE - timedelta(minutes=1)
        await asked(daily)
        found = (await revealed(daily, clock)).contestant
        assert not await daily.rows(AnswerRow)
    assert found is not None and (found.verdict, found.credit) == ("accepted", 1.0)
    assert found.given is not None and found.given.code == "def double(x):\n    return x + x\n"
