"""Posting on Discord under faults: every message once, none lost, each channel in order."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest

from tests.doubles.discord.faults import Cut, Fault, Hold, Status
from tests.doubles.discord.world import BOT_NEEDS, SEND, VIEW
from tests.faults.backend import LEASE_S, Backend, Bots
from tests.faults.discord_faults import CREATE, Team, questions, team_ready

pytestmark = pytest.mark.slow


@pytest.fixture
async def team(backend: Backend, bots: Bots) -> AsyncIterator[Team]:
    async with team_ready(backend, bots, many=40, beat_s=0.4) as team:
        yield team


def is_answer(custom_id: str) -> bool:
    """Returns whether it is a question's button."""
    return custom_id.startswith(("a:", "d:"))


def posted_once(team: Team, count: int) -> None:
    """Checks that the channels have that many questions, each posted once and never deleted."""
    made = [entry for entry in team.double.log.of("message") if any(map(is_answer, entry["custom_ids"]))]
    assert len(made) == count, team.double.log.tail()
    rounds = Counter(name for entry in made for name in entry["custom_ids"] if is_answer(name))
    assert set(rounds.values()) == {1}
    assert sum(len(questions(channel)) for channel in team.guild.channels.values()) == count
    team.kept_the_rules()


@pytest.mark.parametrize(
    "fault",
    [Status(500), Status(502, after=True), Cut(), Cut(after=True), Status(429), Status(429, scope="shared")],
    ids=["500", "502 after it was made", "cut", "cut after it was made", "429", "429 shared"],
)
async def test_a_failing_post_is_made_once(team: Team, fault: Fault) -> None:
    """Once: after a 500, a cut connection or a 429, before or after the message was created, it exists once."""
    team.double.faults.next(CREATE, fault)
    await team.starts()
    await team.leaves()
    await team.delivered()
    posted_once(team, 1)


async def test_a_bot_killed_between_request_and_answer_posts_once(team: Team) -> None:
    """Once: killed after Discord created the message and before the bot got the response; the next bot finds it."""
    killed = await team.starts()
    team.double.faults.next(CREATE, held := Hold(after=True))
    await team.leaves()
    await held.reached.wait()
    await killed.kill()
    held.let_go()
    team.double.forget_nonces()
    team.backend.clock.advance(seconds=LEASE_S)
    await team.starts()
    await team.delivered()
    posted_once(team, 1)
    assert team.double.log.of("request", route="GET /channels/{channel_id}/messages")


async def test_a_bot_killed_before_discord_had_it_posts_once(team: Team) -> None:
    """Once: killed before Discord got the message; the next bot finds nothing and posts it."""
    killed = await team.starts()
    team.double.faults.next(CREATE, held := Hold())
    await team.leaves()
    await held.reached.wait()
    await killed.kill()
    team.backend.clock.advance(seconds=LEASE_S)
    await team.starts()
    await team.delivered()
    held.let_go()
    posted_once(team, 1)


async def test_a_channels_rate_limit_is_obeyed(team: Team) -> None:
    """Row 18: after a 429, no request goes to the channel before Retry-After ends."""
    others = [team.guild.channel(f"room-{number}") for number in range(5)]
    team.double.faults.next(CREATE, Status(429, retry_after=0.8, scope="user"))
    await team.starts()
    await team.leaves(team.daily, *others)
    await team.delivered(6)
    posted_once(team, 6)
    asked = team.double.log.of("request", route=CREATE)
    refused = next(entry for entry in asked if entry["status"] == 429)
    same = [entry for entry in asked if entry["path"] == refused["path"]]
    assert [entry for entry in same if refused.at < entry["began"] < refused.at + 0.75] == []


async def test_the_global_rate_limit_is_obeyed(team: Team) -> None:
    """Row 18: after a global 429, no request goes to any channel before Retry-After ends."""
    others = [team.guild.channel(f"room-{number}") for number in range(5)]
    team.double.faults.next(CREATE, Status(429, retry_after=4, scope="global"))
    await team.starts()
    await team.leaves()
    await team.double.until(lambda: team.double.log.of("request", route=CREATE), "the refusal")
    await team.leaves(*others)
    await team.delivered(6)
    posted_once(team, 6)
    refused, *later = team.double.log.of("request", route=CREATE)
    assert refused["status"] == 429
    # What was on its way when Discord said so cannot be called back.
    assert [entry for entry in later if refused.at + 0.5 < entry["began"] < refused.at + 3.9] == []


async def test_a_channels_messages_keep_their_order(team: Team) -> None:
    """Once: a reveal due while its question still fails follows it in its thread, and the result follows that."""
    team.double.faults.next(CREATE, Cut(), times=2)
    await team.starts()
    await team.leaves()
    await team.double.until(lambda: team.double.log.of("fault"), "a first attempt")
    assert (await team.backend.client.close_now(team.boss, "close", team.where(team.daily))).closed
    await team.delivered(3)
    question, *rest = team.double.log.of("message")
    assert any(map(is_answer, question["custom_ids"]))
    channel, thread = map(int, question["ref"].split("/"))
    *reveal, result = [entry["channel"] for entry in rest]
    assert (set(reveal), result) == ({thread}, channel)
    assert len(team.double.log.of("thread")) == 1
    posted_once(team, 1)


@pytest.mark.parametrize("fault", ["op 7", "op 9", "op 9, gone", "drop"])
async def test_rounds_due_while_the_gateway_breaks_are_posted_once(team: Team, fault: str) -> None:
    """Rows 8, 9: with reconnects, repeated READY and dropped sockets, posts are made once and clicks answered."""
    gateway, rooms = team.double.gateway, [team.guild.channel(f"room-{number}") for number in range(8)]
    await team.starts()
    await team.leaves(team.daily)
    await team.delivered()
    match fault:
        case "op 7":
            await gateway.ask_to_reconnect()
        case "drop":
            gateway.drop()
        case _:
            await gateway.invalidate(resumable=fault == "op 9")
    await team.leaves(*rooms)
    await team.delivered(9)
    again = 2 if fault == "op 9, gone" else 1
    await team.double.until(lambda: gateway.listening and len(team.double.log.of("ready")) == again, "back")
    await team.opens(team.ann, await team.posted(rooms[0]))
    posted_once(team, 9)


async def test_work_never_delays_the_heartbeat(team: Team) -> None:
    """Row 10: heartbeats are on time while twenty rounds are posted and everybody clicks.

    Time the machine gives to other processes does not count. Discord ends a connection after one missing heartbeat of
    41 s; here, five of 0.4 s may be missing, because a slow machine needs a moment for the posts alone.
    """
    rooms = [team.guild.channel(f"room-{number}") for number in range(20)]
    beats: list[tuple[float, float]] = []
    bot = await team.starts()

    def heard() -> list[float]:
        return [entry.at for entry in team.double.log.of("heartbeat")]

    async def listen() -> None:
        while True:
            await team.until(lambda: len(heard()) > len(beats), "a heartbeat")
            waited = team.starved_s(bot)
            beats.extend((at, waited) for at in heard()[len(beats) :])

    listening = asyncio.create_task(listen())
    question = await team.asks()
    await team.leaves(*rooms)
    for member in [team.ann, team.bob] * 5:
        await team.opens(member, question)
    await team.delivered(21)
    posted_once(team, 21)
    await team.until(lambda: len(beats) > 2, "three heartbeats")
    listening.cancel()
    late = [later[0] - earlier[0] - max(0.0, later[1] - earlier[1]) for earlier, later in pairwise(beats)]
    assert max(late) < 5 * team.double.gateway.beat_s


async def test_a_forbidden_channel_delays_no_other(team: Team) -> None:
    """Once: a forbidden post is given up and reported elsewhere; the other channels get theirs."""
    shut = [
        team.guild.channel("hidden", 0),
        team.guild.channel("mute", BOT_NEEDS & ~SEND),
        team.guild.channel("bare", VIEW),
    ]
    await team.starts()
    await team.leaves(*shut, team.daily)
    await team.posted(team.daily)
    assert [questions(channel) for channel in shut] == [[], [], []]
    assert len(team.double.log.of("refused", route=CREATE)) <= 6, "a refusal is not tried again and again"
    team.kept_the_rules()


async def test_sigterm_waits_for_a_post_in_progress(team: Team) -> None:
    """Row 20: stopped in the middle of a post, the bot waits for the response and reports it; nothing is repeated."""
    bot = await team.starts()
    team.double.faults.next(CREATE, held := Hold(after=True))
    await team.leaves()
    await held.reached.wait()
    bot.asked_to_stop()
    held.let_go()
    await bot.ends_well()
    await team.delivered()
    team.double.forget_nonces()
    await team.starts()
    await team.leaves(team.guild.channel("room"))
    await team.delivered(2)
    posted_once(team, 2)
