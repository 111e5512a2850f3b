"""Slack: everything people do is answered once and in time, whatever repeats, locks, stops or dies."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from service.store.session import libpq_url
from tests.doubles.slack import oracle
from tests.doubles.slack.shown import Message
from tests.doubles.slack.world import User
from tests.faults.backend import Backend, Bots
from tests.faults.slack_faults import SlackScene, scene, slack_scene

__all__ = ["scene"]

MODES = ("socket", "http")


async def started(scene: SlackScene, mode: str) -> None:
    """A bot in front of the scene, by either road."""
    await (scene.start() if mode == "socket" else scene.start_http())


def answers_to(scene: SlackScene, user: User) -> list[Message]:
    """What the bot answered somebody in their conversation; what it tells by itself bears a key."""
    return [one for one in scene.slack.world.messages(scene.slack.world.im(user)) if one.bot_id and not one.key]


async def nothing_more_comes(scene: SlackScene) -> None:
    """Have a later command answered: what an earlier one caused has come by then."""
    eve = scene.slack.user(scene.team, "Eve")
    scene.daily.members.add(eve.id)
    assert (await scene.slack.slash(eve, scene.daily, "/quiz", "help")).acked
    await scene.slack.until(lambda: scene.slack.private(eve))


@pytest.mark.parametrize("mode", MODES)
async def test_an_event_that_comes_four_times_is_answered_once(scene: SlackScene, mode: str) -> None:
    """Row 11: Slack delivers the same event four times: each is acknowledged, one is answered."""
    await started(scene, mode)
    scene.slack.faults.copies = 4
    written = scene.slack.dm(scene.bob, "hello")
    event = written.metadata["event_id"]
    await scene.slack.until(lambda: scene.slack.log.count("acked", event=event) == 4)
    await scene.slack.until(lambda: answers_to(scene, scene.bob))
    await nothing_more_comes(scene)
    assert len(answers_to(scene, scene.bob)) == 1
    scene.slack.must_be_well()


@pytest.mark.parametrize("mode", MODES)
async def test_an_event_whose_first_delivery_went_astray_is_answered(scene: SlackScene, mode: str) -> None:
    """Row 12: the first delivery never arrives; the repetition says it is one, and is not dropped for that."""
    await started(scene, mode)
    scene.slack.faults.astray = 1
    written = scene.slack.dm(scene.bob, "hello")
    await scene.slack.until(lambda: answers_to(scene, scene.bob))
    first, second = scene.slack.deliveries(written.metadata["event_id"])
    assert (first.acked, second.acked, second.attempt) == (False, True, 1)
    await nothing_more_comes(scene)
    assert len(answers_to(scene, scene.bob)) == 1


async def test_events_out_of_order_are_all_answered(scene: SlackScene) -> None:
    """Row 12: ten people's messages arrive in the reverse order: each is answered once."""
    await scene.start()
    people = [scene.slack.user(scene.team, f"Member {number}") for number in range(10)]
    scene.slack.faults.held = []
    for person in people:
        scene.slack.dm(person, "hello")
    scene.slack.post.release(backwards=True)
    await scene.slack.until(lambda: all(answers_to(scene, person) for person in people))
    assert [len(answers_to(scene, person)) for person in people] == [1] * 10
    scene.slack.must_be_well()


async def test_a_form_is_opened_in_time_though_the_service_is_stuck(scene: SlackScene) -> None:
    """Row 13: with the database locked a window is opened at once, and filled with the form when that is there."""
    await scene.start()
    question = await scene.asks("the-shape")
    async with scene.locked():
        assert (await scene.slack.click(scene.bob, question, "Answer")).acked
        waiting = await scene.slack.until(lambda: scene.slack.world.stack(scene.bob))
        assert waiting[-1].fields == {}
    await scene.slack.until(lambda: scene.slack.modal(scene.bob).fields)
    (field,) = scene.slack.modal(scene.bob).fields
    assert (await scene.slack.submit_view(scene.bob, {field: "(3,)"})).acked
    await scene.slack.sees(scene.bob, "Your answer is recorded")
    scene.slack.must_be_well()


async def test_a_trigger_that_expired_leaves_another_way_to_answer(scene: SlackScene) -> None:
    """Row 13: Slack itself is so slow that the trigger expires: the member is told, and gets the form by a button."""
    await scene.start()
    question = await scene.asks("the-shape")
    scene.slack.fail("views.open", "slow", seconds=3.2)
    assert (await scene.slack.click(scene.bob, question, "Answer")).acked
    told = await scene.slack.until(lambda: scene.slack.private(scene.bob))
    # A form that takes the service half a second or more is tried twice: as a waiting view, and when it is ready.
    assert {entry["error"] for entry in oracle.violations(scene.slack.log)} == {"expired_trigger_id"}
    assert (await scene.slack.click(scene.bob, told[-1], told[-1].labels[0])).acked
    await scene.slack.until(lambda: scene.slack.world.stack(scene.bob))
    assert scene.slack.modal(scene.bob).fields


async def test_two_bots_answer_each_click_once(scene: SlackScene) -> None:
    """Row 16: each delivery goes to one of two bots at random; neither needs what the other knows."""
    await scene.start("one")
    await scene.start("two")
    question = await scene.asks("one-right")
    people = [scene.slack.user(scene.team, f"Member {number}") for number in range(12)]
    scene.daily.members |= {person.id for person in people}
    clicks = await asyncio.gather(*(scene.slack.click(person, question, "Answer") for person in people))
    assert all(click.acked for click in clicks)
    for person in people:
        ask = await scene.slack.sees(person, "Your answer")
        assert (await scene.slack.click(person, ask, "A")).acked
    for person in people:
        await scene.slack.sees(person, "Your answer is recorded")
    assert await count(scene, "answer") == 12
    assert all(socket.delivered for socket in scene.slack.sockets.open)
    scene.slack.must_be_well()


async def test_two_bots_and_one_journal_answer_a_repeated_event_once(scene: SlackScene) -> None:
    """Row 11: the same event comes to both of two bots: their common journal lets one answer."""
    await scene.start()
    await scene.start()
    scene.slack.faults.copies = 4
    for number in range(5):
        person = scene.slack.user(scene.team, f"Member {number}")
        scene.slack.dm(person, "hello")
        await scene.slack.until(lambda person=person: answers_to(scene, person))  # type: ignore[misc]
    scene.slack.faults.copies = 1
    await nothing_more_comes(scene)
    told = [len(answers_to(scene, user)) for user in scene.team.users.values() if user.name.startswith("Member")]
    assert told == [1] * 5
    assert all(socket.delivered for socket in scene.slack.sockets.open)


async def test_who_the_app_is_is_not_asked_per_request(scene: SlackScene) -> None:
    """Row 19: twenty commands cause no call of auth.test, and hardly one of users.info for each member."""
    await scene.start()
    before = oracle.calls(scene.slack.log, "auth.test")
    for _ in range(10):
        for person in (scene.ann, scene.bob):
            assert (await scene.slack.slash(person, scene.daily, "/quiz", "help")).acked
    await scene.slack.until(lambda: len(scene.slack.private(scene.bob)) == 10)
    assert oracle.calls(scene.slack.log, "auth.test") == before <= 1
    # Who types again before Slack has said who they are is asked for once more.
    assert oracle.calls(scene.slack.log, "users.info") <= 8


async def test_what_was_acknowledged_survives_a_kill(scene: SlackScene) -> None:
    """Row 20: kill -9 right after the acknowledgement: the next bot does what was asked, once."""
    bot = await scene.start()
    question = await scene.asks("one-right")
    await scene.slack.click(scene.bob, question, "Answer")
    ask = await scene.slack.sees(scene.bob, "Your answer")
    async with scene.locked():
        assert (await scene.slack.click(scene.bob, ask, "A")).acked
        assert (await scene.slack.slash(scene.ann, scene.daily, "/quiz", "today")).acked
        written = scene.slack.dm(scene.ann, "hello")
        await scene.slack.handed(written.metadata["event_id"])
        await bot.kill()
    await scene.start()
    await scene.slack.sees(scene.bob, "Your answer is recorded")
    await scene.slack.until(lambda: scene.slack.private(scene.ann) and answers_to(scene, scene.ann))
    await nothing_more_comes(scene)
    assert await count(scene, "answer") == 1
    assert (len(scene.slack.private(scene.ann)), len(answers_to(scene, scene.ann))) == (1, 1)
    scene.slack.must_be_well()


@pytest.mark.parametrize("mode", MODES)
async def test_every_acknowledgement_is_in_time_with_the_database_locked(scene: SlackScene, mode: str) -> None:
    """Row 20: nobody can use the database: sixty clicks and commands are acknowledged at once, and answered after."""
    await started(scene, mode)
    question = await scene.asks("one-right")
    people = [scene.slack.user(scene.team, f"Member {number}") for number in range(30)]
    scene.daily.members |= {person.id for person in people}
    since = scene.slack.log.clock.real()
    async with scene.locked():
        done = await asyncio.gather(
            *(scene.slack.click(person, question, "Answer") for person in people),
            *(scene.slack.slash(person, scene.daily, "/quiz", "today") for person in people),
        )
    assert all(one.acked for one in done)
    assert max(oracle.ack_times(scene.slack.log, since=since)) < 1.5
    await scene.slack.until(lambda: all(scene.slack.private(person) for person in people), 30)
    assert oracle.unanswered(scene.slack.log) == []


async def test_a_bot_that_is_told_to_stop_finishes_what_it_began(scene: SlackScene) -> None:
    """Row 20: SIGTERM with a question unanswered: it is answered, and the process ends well."""
    bot = await scene.start()
    async with scene.locked():
        assert (await scene.slack.slash(scene.bob, scene.daily, "/quiz", "today")).acked
        stopping = asyncio.create_task(bot.stop())
        await scene.slack.until(lambda: not scene.slack.sockets.open)
    await stopping
    assert len(scene.slack.private(scene.bob)) == 1


async def test_buttons_and_forms_from_before_a_restart_work(scene: SlackScene) -> None:
    """Rows 4, 7, 16: a button, a private card and an open form of a bot that is gone are answered by the next."""
    bot = await scene.start()
    question = await scene.asks("the-shape")
    await scene.slack.click(scene.bob, question, "Answer")
    await scene.slack.until(lambda: scene.slack.world.stack(scene.bob) and scene.slack.modal(scene.bob).fields)
    await bot.stop()
    await scene.start("another")
    (field,) = scene.slack.modal(scene.bob).fields
    assert (await scene.slack.submit_view(scene.bob, {field: "(3,)"})).acked
    recorded = await scene.slack.sees(scene.bob, "Your answer is recorded")
    assert (await scene.slack.click(scene.ann, question, "Answer")).acked
    await scene.slack.until(lambda: scene.slack.world.stack(scene.ann))
    assert (await scene.slack.click(scene.bob, recorded, recorded.labels[0])).acked
    await scene.slack.until(lambda: scene.slack.world.stack(scene.bob))
    scene.slack.must_be_well()


async def test_an_answer_by_url_that_is_refused_goes_by_the_token(backend: Backend, bots: Bots) -> None:
    """Row 3: the payload's own address is used up or away: the member is told by the bot's token all the same."""
    async with slack_scene(backend, bots) as scene:
        await scene.start()
        scene.slack.fail("response_url", "500")
        assert (await scene.slack.slash(scene.bob, scene.daily, "/quiz", "help")).acked
        await scene.slack.until(lambda: scene.slack.private(scene.bob))
        assert oracle.calls(scene.slack.log, "chat.postEphemeral", ok=True) == 1


async def count(scene: SlackScene, table: str) -> int:
    """How many rows a table has."""
    async with await psycopg.AsyncConnection.connect(libpq_url(scene.backend.database_url)) as connection:
        found = await (await connection.execute(f"select count(*) from {table}".encode())).fetchone()
    assert found
    return int(found[0])
