"""Interactions on Discord under faults: acknowledged in time and answered once."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.databases import tables_locked
from tests.doubles.discord.faults import Status
from tests.doubles.discord.world import Member
from tests.faults.backend import Backend, Bots
from tests.faults.discord_faults import (
    EDIT_ORIGINAL,
    RESPOND,
    Team,
    option,
    private_of,
    team_ready,
)
from tests.machine import private_mb

pytestmark = pytest.mark.slow


@pytest.fixture
async def team(backend: Backend, bots: Bots) -> AsyncIterator[Team]:
    """A team with a choice question, answered by buttons."""
    async with team_ready(backend, bots, "one-right") as team:
        yield team


@pytest.fixture
async def typing_team(backend: Backend, bots: Bots) -> AsyncIterator[Team]:
    """A team with a value question, answered in a form."""
    async with team_ready(backend, bots, "the-shape") as team:
        yield team


def receipts(team: Team, member: Member) -> list[str]:
    return [message.text for message in private_of(team, member) if "is recorded" in message.text]


async def test_a_click_is_acknowledged_while_the_database_is_locked(team: Team) -> None:
    """Row 1: a click is acknowledged before any database access, and answered when the lock is released."""
    bot = await team.starts()
    question = await team.asks()
    choosing = [await team.opens(member, question) for member in (team.ann, team.bob)]
    async with tables_locked(team.backend.database_url):
        starved_s = team.starved_s(bot)
        pressed = [await team.double.press(asked.member, *option(asked)) for asked in choosing]
        opened = await team.double.press(team.ann, question, question.buttons["Answer"])
        for interaction in (*pressed, opened):
            await team.double.answered(interaction)
        starved_s = team.starved_s(bot) - starved_s
        assert max(interaction.delay for interaction in pressed) - starved_s < 0.5
        assert opened.delay - starved_s < 1.2, "no form can be asked for, so it waits for none"
    for interaction in (*pressed, opened):
        await team.double.settled(interaction)
    await team.double.until(lambda: receipts(team, team.ann) and receipts(team, team.bob), "both receipts")
    assert not team.double.log.of("refused", code=10062)
    team.kept_the_rules()


async def test_a_form_is_awaited_only_until_the_deadline(typing_team: Team) -> None:
    """Row 1: a form must be the first response, so the bot waits a moment for it, and then offers a button."""
    team = typing_team
    bot = await team.starts()
    question = await team.asks()
    async with tables_locked(team.backend.database_url):
        starved_s = team.starved_s(bot)
        opened = await team.double.answered(await team.double.press(team.ann, question, question.buttons["Answer"]))
        assert opened.delay - (team.starved_s(bot) - starved_s) < 2.5
    await team.double.settled(opened)
    assert not team.double.log.of("refused", code=10062)
    team.kept_the_rules()


async def test_a_late_click_is_answered_by_direct_message(team: Team) -> None:
    """Row 1: a click older than three seconds gets no first response, but a direct message."""
    await team.starts()
    question = await team.asks()
    await team.opens(team.ann, question)
    late = await team.double.press(team.ann, question, question.buttons["Answer"], age_s=3.5)
    await team.opens(team.ann, question)
    await team.double.until(lambda: team.double.world.direct(team.ann).messages, "a direct message")
    assert late.answer is None
    assert not team.double.log.of("refused", code=10062)
    team.kept_the_rules()


@pytest.mark.parametrize("second", ["data", "other"], ids=["one journal", "two journals"])
async def test_two_instances_answer_each_click_once(team: Team, second: str) -> None:
    """Row 2: two bots receive every click; the first response wins, the other stops, and the reply is sent once."""
    await team.starts()
    await team.starts(data=second)
    question = await team.asks()
    for member in (team.ann, team.bob):
        opened = await team.opens(member, question)
        chosen = await team.double.settled(await team.double.press(member, *option(opened)))
        assert chosen.answer is not None
    clicks = team.double.world.interactions.values()
    assert {len(interaction.messages) for interaction in clicks} <= {0, 1}
    assert len(receipts(team, team.ann)) == len(receipts(team, team.bob)) == 1
    assert len(team.double.log.of("response")) == len(clicks)
    assert (await team.backend.client.today(team.who(team.ann), team.where(team.daily))).forms[0].given
    team.kept_the_rules()


async def test_a_click_delivered_twice_is_answered_once(team: Team) -> None:
    """Row 2: a click delivered twice is recognized by its id, acknowledged and answered once."""
    await team.starts()
    question = await team.asks()
    opened = await team.opens(team.ann, question)
    chosen = await team.double.settled(await team.double.press(team.ann, *option(opened)))
    for interaction in (opened, chosen):
        await team.double.again(interaction)
    await team.opens(team.bob, question)
    assert len(receipts(team, team.ann)) == 1
    assert len(team.double.log.of("response")) == 3
    assert not team.double.log.of("refused")
    team.kept_the_rules()


async def test_an_answer_after_fifteen_minutes_still_comes(team: Team) -> None:
    """Row 3: a reply whose interaction has expired is sent once, as a direct message with the bot token."""
    await team.starts()
    question = await team.asks()
    opened = await team.opens(team.ann, question)
    async with tables_locked(team.backend.database_url):
        pressed = await team.double.answered(await team.double.press(team.ann, *option(opened)))
        team.double.age_tokens(901)
    direct = team.double.world.direct(team.ann)
    await team.double.until(lambda: direct.messages, "a direct message")
    assert len(direct.messages) == 1
    # The bot cannot know that this token is old; it tries to edit and to follow up, and then no more.
    assert len(team.double.log.of("refused", code=50027)) <= 2
    assert pressed.answer is not None
    team.kept_the_rules()


async def test_buttons_from_before_a_restart_work(team: Team) -> None:
    """Row 4: buttons of a question and of a private card, posted by a killed bot, work with the next one."""
    killed = await team.starts()
    question = await team.asks()
    opened = await team.opens(team.ann, question)
    await killed.kill()
    await team.starts()
    await team.double.settled(await team.double.press(team.ann, *option(opened)))
    await team.double.until(lambda: receipts(team, team.ann), "a receipt")
    await team.opens(team.bob, question)
    team.kept_the_rules()


async def test_cards_and_dismissed_forms_use_no_memory(typing_team: Team) -> None:
    """Rows 5, 6: cards and forms use no memory in the bot, and the oldest form still works."""
    team = typing_team
    bot = await team.starts()
    question = await team.asks()
    opened = [await team.opens(team.ann, question) for _ in range(50)]
    before = private_mb(bot.process.pid)
    for _ in range(150):
        await team.opens(team.bob, question)
    assert private_mb(bot.process.pid) - before < 4
    sent = await team.double.submit_modal(opened[0], {"text": "(3,)"})
    await team.double.settled(sent)
    await team.double.until(lambda: receipts(team, team.ann), "a receipt")
    team.kept_the_rules()


async def test_a_form_opened_before_a_restart_is_accepted(typing_team: Team) -> None:
    """Row 7: a form opened before `kill -9` and submitted after the restart is acknowledged and recorded."""
    team = typing_team
    killed = await team.starts()
    opened = await team.opens(team.ann, await team.asks())
    assert opened.modal is not None
    await killed.kill()
    await team.starts()
    sent = await team.double.settled(await team.double.submit_modal(opened, {"text": "(3,)"}))
    assert sent.delay < 3
    await team.double.until(lambda: receipts(team, team.ann), "a receipt")
    team.kept_the_rules()


async def test_an_acknowledged_click_is_answered_after_a_crash(team: Team) -> None:
    """Row 20: a click acknowledged but not answered when the bot was killed is answered once by the next bot."""
    killed = await team.starts()
    opened = await team.opens(team.ann, await team.asks())
    async with tables_locked(team.backend.database_url):
        pressed = await team.double.answered(await team.double.press(team.ann, *option(opened)))
        await killed.kill()
    await team.starts()
    await team.double.until(lambda: receipts(team, team.ann), "a receipt")
    assert len(receipts(team, team.ann)) == 1
    assert pressed.answer is not None
    team.kept_the_rules()


async def test_a_rejected_answer_is_retried(team: Team) -> None:
    """Row 18: after a 429 and a 502 on the reply to a click, the member gets the reply once."""
    await team.starts()
    opened = await team.opens(team.ann, await team.asks())
    team.double.faults.next(EDIT_ORIGINAL, Status(429, retry_after=0.2))
    team.double.faults.next(EDIT_ORIGINAL, Status(502))
    await team.double.settled(await team.double.press(team.ann, *option(opened)))
    await team.double.until(lambda: receipts(team, team.ann), "a receipt")
    assert len(receipts(team, team.ann)) == 1
    assert team.double.log.of("request", route=RESPOND)
    team.kept_the_rules()
