"""Interactions on Slack under faults: answered once and in time."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from service.store.session import libpq_url
from tests.doubles.slack import oracle
from tests.doubles.slack.surfaces import Message
from tests.doubles.slack.world import User
from tests.faults.backend import Backend, Bots
from tests.faults.slack_faults import SlackScene, scene, slack_scene

pytestmark = pytest.mark.slow

__all__ = ["scene"]

MODES = ("socket", "http")


async def started(scene: SlackScene, mode: str) -> None:
    """Starts a bot in either mode."""
    await (scene.start() if mode == "socket" else scene.start_http())


def answers_to(scene: SlackScene, user: User) -> list[Message]:
    """Returns the bot's replies in a user's direct messages. Messages with a key come from the outbox."""
    return [one for one in scene.slack.world.messages(scene.slack.world.im(user)) if one.bot_id and not one.key]


async def nothing_more_comes(scene: SlackScene) -> None:
    """Waits for the reply to a later command, by which time earlier replies have arrived."""
    eve = scene.slack.user(scene.team, "Eve")
    scene.daily.members.add(eve.id)
    assert (await scene.slack.slash(eve, scene.daily, "/quiz", "help")).acked
    await scene.slack.until(lambda: scene.slack.private(eve))


@pytest.mark.parametrize("mode", MODES)
async def test_an_event_delivered_four_times_is_answered_once(scene: SlackScene, mode: str) -> None:
    """Row 11: Slack delivers an event four times: each delivery is acknowledged, one is answered."""
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
async def test_an_event_whose_first_delivery_is_lost_is_answered(scene: SlackScene, mode: str) -> None:
    """Row 12: the first delivery never arrives; the retry is marked as one and still answered."""
    await started(scene, mode)
    scene.slack.faults.astray = 1
    written = scene.slack.dm(scene.bob, "hello")
    await scene.slack.until(lambda: answers_to(scene, scene.bob))
    first, second = scene.slack.deliveries(written.metadata["event_id"])
    assert (first.acked, second.acked, second.attempt) == (False, True, 1)
    await nothing_more_comes(scene)
    assert len(answers_to(scene, scene.bob)) == 1


async def test_events_out_of_order_are_all_answered(scene: SlackScene) -> None:
    """Row 12: messages of ten people arrive in reverse order: each is answered once."""
    await scene.start()
    people = [scene.slack.user(scene.team, f"Member {number}") for number in range(10)]
    scene.slack.faults.held = []
    for person in people:
        scene.slack.dm(person, "hello")
    scene.slack.post.release(backwards=True)
    await scene.slack.until(lambda: all(answers_to(scene, person) for person in people))
    assert [len(answers_to(scene, person)) for person in people] == [1] * 10
    scene.slack.must_be_well()


async def test_a_view_is_opened_in_time_while_the_service_is_stuck(scene: SlackScene) -> None:
    """Row 13: with the database locked, a view is opened at once and updated with the form when it is ready."""
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


async def test_an_expired_trigger_is_replaced_by_a_message(scene: SlackScene) -> None:
    """Row 13: Slack and the service are so slow that the trigger expires: the member gets the form as a message."""
    await scene.start()
    question = await scene.asks("the-shape")
    scene.slack.fail("views.open", "slow", seconds=3.2)
    async with scene.locked():
        assert (await scene.slack.click(scene.bob, question, "Answer")).acked
        await scene.slack.until(lambda: oracle.violations(scene.slack.log))
    told = await scene.slack.until(lambda: scene.slack.private(scene.bob))
    assert [entry["error"] for entry in oracle.violations(scene.slack.log)] == ["expired_trigger_id"]
    (field,) = told[-1].fields
    assert (await scene.slack.click(scene.bob, told[-1], told[-1].labels[0], values={field: "(3,)"})).acked
    await scene.slack.sees(scene.bob, "Your answer is recorded")


async def test_two_bots_answer_each_click_once(scene: SlackScene) -> None:
    """Row 16: each delivery goes to one of two bots at random; neither depends on the other's state."""
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
    """Row 11: two bots receive the same event: their shared journal lets one answer."""
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


async def test_auth_test_is_not_called_per_request(scene: SlackScene) -> None:
    """Row 19: twenty commands cause no auth.test call, and about one users.info call per member."""
    await scene.start()
    before = oracle.calls(scene.slack.log, "auth.test")
    for _ in range(10):
        for person in (scene.ann, scene.bob):
            assert (await scene.slack.slash(person, scene.daily, "/quiz", "help")).acked
    await scene.slack.until(lambda: len(scene.slack.private(scene.bob)) == 10)
    assert oracle.calls(scene.slack.log, "auth.test") == before <= 1
    # Who types again before Slack has said who they are is asked for once more.
    assert oracle.calls(scene.slack.log, "users.info") <= 8


async def test_an_acknowledged_event_survives_a_kill(scene: SlackScene) -> None:
    """Row 20: kill -9 right after the acknowledgement: the next bot handles the event once."""
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
    """Row 20: with the database locked, sixty clicks and commands are acknowledged at once and answered afterwards."""
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
    assert max(oracle.ack_times(scene.slack.log, since=since)) < 2.9
    await scene.slack.until(lambda: all(scene.slack.private(person) for person in people))
    assert oracle.unanswered(scene.slack.log) == []


async def test_a_stopping_bot_finishes_its_work(scene: SlackScene) -> None:
    """Row 20: on SIGTERM, a running answer is finished and the process ends well."""
    bot = await scene.start()
    async with scene.locked():
        assert (await scene.slack.slash(scene.bob, scene.daily, "/quiz", "today")).acked
        stopping = asyncio.create_task(bot.stop())
        await scene.slack.until(lambda: not scene.slack.sockets.open)
    await stopping
    assert len(scene.slack.private(scene.bob)) == 1


async def test_buttons_and_forms_from_before_a_restart_work(scene: SlackScene) -> None:
    """Rows 4, 7, 16: a button, a private card and an open form of a killed bot work with the next one."""
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


async def test_a_rejected_response_url_is_replaced_by_the_token(backend: Backend, bots: Bots) -> None:
    """Row 3: if the response_url is used up or fails, the member gets the reply with the bot token."""
    async with slack_scene(backend, bots) as scene:
        await scene.start()
        scene.slack.fail("response_url", "500")
        assert (await scene.slack.slash(scene.bob, scene.daily, "/quiz", "help")).acked
        await scene.slack.until(lambda: scene.slack.private(scene.bob))
        assert oracle.calls(scene.slack.log, "chat.postEphemeral", ok=True) == 1


async def count(scene: SlackScene, table: str) -> int:
    """Counts the rows of a table."""
    async with await psycopg.AsyncConnection.connect(libpq_url(scene.backend.database_url)) as connection:
        found = await (await connection.execute(f"select count(*) from {table}".encode())).fetchone()
    assert found
    return int(found[0])
