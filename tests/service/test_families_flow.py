"""A family: its variants are drawn after the import, asked, practiced, explained and corrected."""

from __future__ import annotations

from datetime import timedelta

import pytest

from questions.model import Question, SourceLocation
from sandbox.client import SandboxClient
from service.app import build
from service.config import Settings
from service.store.tables import Ledger, QuestionVersion, Round
from service.wire import AnswerInput, NotMet, QuestionPost, RevealPost
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, DailyChannel, choice, daily_channel_of
from tests.service.refusals import refused

pytestmark = pytest.mark.sandbox

NINE = MONDAY + timedelta(hours=1)
DRAW = """
def draw(rng):
    n = rng.randint(2, {most})
    return {{"program": f"import torch\\n\\nx = torch.zeros({{n}}, 3)", "ask": "tuple(x.shape)",
            "wrong": [((3, n), "swapped"), ((n,), "one lost"), (3 * n, "the size")]}}
"""


def family(id_: str = "shape-of-zeros", draw: str = DRAW.format(most=400)) -> Question:
    return Question(
        id=id_,
        kind="choice",
        prompt="What is `tuple(x.shape)`?",
        place=SourceLocation("bank.md", 3, 9),
        topic="tensors/shapes",
        level="mid",
        why="Rows, then columns.",
        draw=draw,
    )


async def drawn(daily: DailyChannel, *questions: Question) -> None:
    """Imports, and runs the jobs of a tick."""
    await daily.bank(*questions)
    await daily.service.tick()
    await daily.service.jobs.run_pending()


async def posted(daily: DailyChannel) -> QuestionPost:
    return next(body for body in await daily.ticked() if isinstance(body, QuestionPost))


async def right_and_wrong(daily: DailyChannel, ref: str) -> tuple[str, str]:
    """Returns the ids of the right option and of a wrong one of a round's question."""
    rounds = {f"r{row.id}": row.version_id for row in await daily.rows(Round)}
    version = next(row for row in await daily.rows(QuestionVersion) if row.id == rounds[ref])
    options = {one["right"]: one["id"] for one in version.body["options"]}
    return options[True], options[False]


async def test_a_daily_asks_a_drawing_and_another_the_next_time(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        await drawn(daily, family())
        rows = await daily.rows(QuestionVersion)
        assert [row.family for row in rows][:2] == [True, False]
        assert len({row.body["id"] for row in rows}) == len(rows) > 100

        await daily.schedule()
        clock.now = NINE
        first = await posted(daily)
        assert first.question.id.startswith("shape-of-zeros-")
        right, wrong = await right_and_wrong(daily, first.ref)
        await daily.answer(first.ref, right, "Ada")
        await daily.answer(first.ref, wrong, "Bob")
        clock.advance(hours=8)
        (reveal,) = [body for body in await daily.ticked() if isinstance(body, RevealPost)]
        assert (reveal.answers, reveal.right) == (2, 1)
        assert reveal.key.why == "Rows, then columns."
        assert "answer = tuple(x.shape)\n\nprint(answer)\n" in reveal.key.proof

        clock.advance(hours=16)
        second = await posted(daily)
        assert second.question.id.startswith("shape-of-zeros-")
        assert second.question.id != first.question.id


async def test_practice_draws_a_new_variant_and_explains_the_practiced_one(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        await drawn(daily, family())
        seen = []
        for _ in range(3):
            asked = await daily.client.practice(daily.who(), DAILY)
            assert asked is not None
            seen.append(asked.question.id)
            await daily.answer(asked.ref, asked.question.options[0].id)
            clock.advance(days=60)
        assert len(set(seen)) == 3

        by_family = await daily.client.explain(daily.who(), "shape-of-zeros")
        assert by_family.key.question.id == seen[-1]
        assert (await daily.client.explain(daily.who(), seen[0].upper())).key.question.id == seen[0]
        with refused(NotMet(question="shape-of-zeros")):
            await daily.client.explain(daily.who("Bob"), "shape-of-zeros")


async def test_a_family_at_fault_is_never_asked_and_not_tried_again(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        await drawn(daily, family(draw="def draw(rng):\n    return 5\n"), choice("plain"))
        await service.tick()
        await service.jobs.run_pending()
        assert [row.drawing for row in await daily.rows(QuestionVersion)] == [0, 0]

        await daily.schedule()
        clock.now = NINE
        assert (await posted(daily)).question.id == "plain"


async def test_without_a_sandbox_a_family_waits_and_everything_else_is_asked(daily: DailyChannel, clock: Clock) -> None:
    await drawn(daily, family(), choice("plain"))
    await daily.schedule()
    clock.now = NINE
    assert (await posted(daily)).question.id == "plain"


async def test_a_changed_family_draws_again_and_leaves_old_rounds_as_they_were(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        await drawn(daily, family())
        await daily.schedule()
        clock.now = NINE
        post = await posted(daily)
        right, _ = await right_and_wrong(daily, post.ref)
        await daily.answer(post.ref, AnswerInput(options=(right,)))
        clock.advance(hours=8)
        await daily.ticked()
        booked = [(row.points, row.credit) for row in await daily.rows(Ledger)]

        await drawn(daily, family(draw=DRAW.format(most=300)))

        assert [(row.points, row.credit) for row in await daily.rows(Ledger)] == booked
        rows = await daily.rows(QuestionVersion)
        assert {row.version for row in rows if row.drawing} == {1, 2}
        clock.advance(hours=16)
        again = await posted(daily)
        asked = {row.body["id"]: row.version for row in rows}
        assert asked[again.question.id] in (1, 2)
        assert [row.version for row in rows if row.id == (await daily.rows(Round))[-1].version_id] == [2]
