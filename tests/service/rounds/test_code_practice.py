"""Code in practice is tried until it passes; the solution comes with success or on request; examples come first."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from sandbox.client import Health, SandboxClient
from sandbox.wire import Outcome, Run
from service.app import build
from service.config import Settings
from service.rounds.grading import Examples
from service.rounds.sandbox_turns import FairSandbox
from service.store.cards import CardRow
from service.store.tables import AnswerRow
from service.wire import AnswerInput, AskForm, ExampleView, NotMet, QuestionPost, QuestionView, VerdictNote
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, DailyChannel, code, daily_channel_of, post_code_question, verdict_notes
from tests.service.refusals import refused

pytestmark = pytest.mark.sandbox
RIGHT = AnswerInput(code="def double(x):\n    return 2 * x\n")
WRONG = AnswerInput(code="def double(x):\n    return x + 1\n")
FORM = AskForm(
    ref="p1",
    question=QuestionView(id="double", version=1, kind="code", prompt="Double it.", level="mid", topic="tensors"),
)
EXAMPLES = (ExampleView(call="double(1)", result="2"), ExampleView(call="double(2)", result="4"))


@pytest.fixture
async def judged(settings: Settings, clock: Clock, sandbox: SandboxClient) -> AsyncIterator[DailyChannel]:
    """A channel whose code is judged."""
    async with build(settings, clock, sandbox).running() as service:
        yield daily_channel_of(service)


async def tries(daily: DailyChannel, ref: str, given: AnswerInput) -> VerdictNote:
    """Submits code and returns the verdict on it."""
    await daily.answer(ref, given)
    await daily.service.jobs.run_pending()
    (note,) = await verdict_notes(daily)
    return note


async def opened(daily: DailyChannel, ref: str) -> AskForm:
    return await daily.client.ask(daily.who(), DAILY, ref)


async def test_code_is_tried_until_it_passes_and_only_then_shows_the_solution(
    judged: DailyChannel, clock: Clock
) -> None:
    await judged.bank(code())
    form = await judged.client.practice(judged.who(), DAILY)
    assert form is not None and form.given is None
    with refused(NotMet(question="double")):
        await judged.client.explain(judged.who(), "double")

    first = await tries(judged, form.ref, WRONG)
    assert (first.verdict.verdict, first.key) == ("wrong", None)
    assert first.next_due is not None and first.next_due - clock.now == timedelta(days=1)
    # The next attempt begins where the last one ended.
    assert (await opened(judged, form.ref)).given == WRONG
    # On request, the solution is there.
    assert "2 * x" in (await judged.client.explain(judged.who(), "double")).key.answer

    # Further attempts of the day are no reviews: how well it was known has shown.
    clock.advance(minutes=5)
    second = await tries(judged, form.ref, WRONG)
    assert second.next_due == first.next_due
    last = await tries(judged, form.ref, RIGHT)
    assert last.verdict.verdict == "accepted" and last.next_due == first.next_due
    assert last.key is not None and "2 * x" in last.key.answer
    (card,) = await judged.rows(CardRow)
    assert card.reviews == 1
    assert (await opened(judged, form.ref)).given is None


async def test_a_verdict_says_what_the_member_practices_as_the_bot_wrote_it(judged: DailyChannel) -> None:
    await judged.bank(code())
    form = await judged.client.practice(judged.who(), DAILY)
    assert form is not None
    note = await tries(judged, form.ref, WRONG.model_copy(update={"practicing": "code,,tensors"}))
    assert note.practicing == "code,,tensors"
    assert (await tries(judged, form.ref, RIGHT)).practicing == ""
    await judged.client.privacy(judged.who(), "forget", "forget")
    assert all("practicing" not in row.given for row in await judged.rows(AnswerRow))


async def test_a_card_that_is_due_again_starts_anew(judged: DailyChannel, clock: Clock) -> None:
    await judged.bank(code())
    form = await judged.client.practice(judged.who(), DAILY)
    assert form is not None
    await tries(judged, form.ref, WRONG)
    clock.advance(days=1)
    again = await judged.client.practice(judged.who(), DAILY)
    assert again is not None and (again.ref, again.given) == (form.ref, None)
    await tries(judged, form.ref, RIGHT)
    (card,) = await judged.rows(CardRow)
    assert card.reviews == 2 and card.due - clock.now > timedelta(days=1)


async def test_no_solution_is_shown_while_a_round_asks_the_question(judged: DailyChannel, clock: Clock) -> None:
    ref = await post_code_question(judged, clock)
    note = await tries(judged, ref, RIGHT)
    assert (note.verdict.verdict, note.key) == ("accepted", None)


async def test_a_form_shows_the_examples_before_anything_is_run(judged: DailyChannel, clock: Clock) -> None:
    ref = await post_code_question(judged, clock)
    assert (await opened(judged, ref)).examples == EXAMPLES
    clock.now = MONDAY + timedelta(hours=9)
    assert not [body for body in await judged.ticked() if isinstance(body, QuestionPost)]
    form = await judged.client.practice(judged.who("Bob"), DAILY)
    assert form is not None and form.examples == EXAMPLES


class CountingSandbox:
    """The real sandbox, which counts its runs and can be held up or out of order."""

    def __init__(self, sandbox: SandboxClient) -> None:
        self._sandbox = sandbox
        self.runs = 0
        self.broken = False
        self.open = asyncio.Event()
        self.open.set()

    async def run(self, run: Run) -> Outcome:
        self.runs += 1
        await self.open.wait()
        if self.broken:
            return Outcome(id=run.id, status="internal", detail="no child could be forked")
        return await self._sandbox.run(run)

    async def health(self) -> Health:
        return await self._sandbox.health()


async def test_examples_are_computed_once_for_all_and_again_after_a_failure(sandbox: SandboxClient) -> None:
    task = code().task
    assert task is not None
    counting = CountingSandbox(sandbox)
    examples = Examples(FairSandbox(counting))
    counting.broken = True
    assert (await examples.add_to(FORM, task)).examples == ()
    counting.broken, counting.runs = False, 0
    found = await asyncio.gather(*(examples.add_to(FORM, task) for _ in range(20)))
    assert [one.examples for one in found] == [EXAMPLES] * 20
    # One run of the cases, one of the reference.
    assert counting.runs == 2


async def test_a_slow_sandbox_does_not_hold_up_a_form(sandbox: SandboxClient) -> None:
    task = code().task
    assert task is not None
    slow = CountingSandbox(sandbox)
    slow.open.clear()
    examples = Examples(FairSandbox(slow), wait_seconds=0)
    assert (await examples.add_to(FORM, task)).examples == ()
    await examples.close()
    assert (await Examples(None).add_to(FORM, task)).examples == ()
