"""Posting on Slack under faults: every message exists exactly once."""

from __future__ import annotations

import psycopg
import pytest

from service.store.session import libpq_url
from tests.doubles.slack import oracle
from tests.doubles.slack.faults import How
from tests.doubles.slack.surfaces import Body
from tests.faults.backend import LEASE_S
from tests.faults.slack_faults import SlackScene, scene

pytestmark = pytest.mark.slow

__all__ = ["scene"]


HOWS: tuple[How, ...] = ("cut before", "cut after", "500", "error")


async def test_a_question_is_posted_once_however_the_call_ends(scene: SlackScene) -> None:
    """Row 17: the posting call is cut before or after it took effect, fails or is refused: one message exists."""
    channels = [scene.slack.channel(scene.team, f"daily-{number}", scene.bob) for number in range(len(HOWS))]
    for channel, how in zip(channels, HOWS, strict=True):
        scene.slack.fail("chat.postMessage", how).fits = lambda args, id_=channel.id: question_in(args, id_)  # type: ignore[misc]
    await scene.start()
    await scene.backend.import_bank(scene.boss)
    await scene.backend.posts_now(scene.boss, *map(scene.place, channels))
    await outbox_settled(scene)
    assert scene.slack.log.count("fault", method="chat.postMessage") == len(HOWS)
    assert [len(scene.questions(channel)) for channel in channels] == [1] * len(HOWS)
    looked = {entry["channel"] for entry in scene.slack.log.of("call", method="conversations.history", ok=True)}
    assert looked == {channel.id for channel in channels}
    scene.slack.must_be_well()


async def test_a_killed_bots_message_is_found_and_not_made_again(scene: SlackScene) -> None:
    """Row 17: kill -9 between the post and its report: the next bot finds the message by its key."""
    fault = scene.slack.fail("chat.postMessage", "cut after")
    bot = await scene.start()
    await scene.backend.import_bank(scene.boss)
    await scene.backend.posts_now(scene.boss, scene.place())
    await scene.slack.until(lambda: fault.met)
    await bot.kill()
    scene.backend.clock.advance(seconds=LEASE_S)
    await scene.start()
    again = scene.slack.log.clock.real()
    await outbox_settled(scene)
    # What the dead bot had asked for is given to nobody: that would cost another lease.
    assert scene.slack.log.clock.real() - again < LEASE_S / 2
    assert len(scene.questions()) == 1
    scene.slack.must_be_well()


async def test_a_rate_limit_is_obeyed_and_nothing_is_lost(scene: SlackScene) -> None:
    """Row 18: after a 429, the bot waits as long as Slack says, and then posts the question."""
    fault = scene.slack.fail("chat.postMessage", "429", times=2, seconds=1)
    # Not the greeting, which goes out at the same time.
    fault.fits = lambda args: question_in(args, scene.daily.id)
    await scene.start()
    await scene.backend.import_bank(scene.boss)
    await scene.backend.posts_now(scene.boss, scene.place())
    await outbox_settled(scene)
    limited = [entry.at for entry in scene.slack.log.of("fault", method="chat.postMessage")]
    posted = [entry.at for entry in scene.slack.log.of("posted", channel=scene.daily.id) if entry["bot"]]
    assert len(limited) == 2
    assert limited[1] - limited[0] >= 1 and posted[0] - limited[1] >= 1
    assert len(scene.questions()) == 1
    scene.slack.must_be_well()


async def test_many_questions_keep_a_channels_rate_limit(scene: SlackScene) -> None:
    """Row 18: six rounds at once in one channel: one message a second after a short burst, and no 429."""
    await scene.start()
    await scene.backend.import_bank(scene.boss)
    await scene.backend.posts_now(scene.boss, *[scene.place()] * 6)
    await scene.slack.until(lambda: len(scene.questions()) == 6)
    await outbox_settled(scene)
    assert oracle.fastest(scene.slack.log, scene.daily.id, 0.9) <= 3
    assert scene.slack.log.count("limited", method="chat.postMessage") == 0
    scene.slack.must_be_well()


def question_in(args: Body, channel: str) -> bool:
    """Returns whether a call posts a question in a channel."""
    return args.get("channel") == channel and "Question for " in str(args.get("blocks"))


async def outbox_settled(scene: SlackScene) -> None:
    """Waits until the outbox is empty."""
    async with await psycopg.AsyncConnection.connect(libpq_url(scene.backend.database_url), autocommit=True) as own:
        await own.execute(
            b"""do $$ begin
                for i in 1..600 loop
                    exit when not exists (select from outbox where state in ('due', 'sending', 'uncertain'));
                    perform pg_sleep(0.05);
                end loop;
            end $$"""
        )
        left = await (await own.execute(b"select key, state, error from outbox where state <> 'sent'")).fetchall()
    assert left == []
