"""Posting to Discord: found again by what only we put there, threads started once, and refusals with a cure.

How the bot's process bears 429, 5xx and cut connections is tested in `tests/faults`.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.actions import Open, encode
from bot.core.cards import Button, Card, Picture, Text
from bot.core.dispatcher import DeliveryDelayed, DeliveryRefused, Target, part_keys
from bot.discord import bodies
from bot.discord.platform import DiscordPlatform, classify_error
from bot.discord.render import KeyMatcher, component_ids, nonce_of, with_key
from tests.bot.discord.simulated import Simulated, labels, said
from tests.bot.samples import PNG
from tests.doubles.discord.world import BOT_NEEDS, SEND

CARD = Card("Question for Monday", "A question.", (Text("What?"),), (Button("Answer", encode(Open("r1"))),))
LONG = Card("Long", "Long.", tuple(Text(f"{n} " * 900) for n in "abcde"), (Button("Answer", encode(Open("r1"))),))


def platform_of(sim: Simulated) -> DiscordPlatform:
    """Returns a platform without memory, as after a restart."""
    return DiscordPlatform(sim.app.bot, lambda: datetime.now(UTC))


async def test_a_post_is_found_by_another_process(sim: Simulated) -> None:
    target = Target(sim.workspace, str(sim.channel.id))
    ref = await platform_of(sim).post(target, CARD, "post:1")
    for number in range(130):
        await sim.ada.writes(sim.channel, f"chatter {number}")
    assert ref == f"{sim.channel.id}/{sim.last('Question for Monday').id}"
    assert await platform_of(sim).find(target, "post:1") == ref
    assert await platform_of(sim).find(target, "post:2") is None


async def test_old_messages_are_not_searched(sim: Simulated) -> None:
    target = Target(sim.workspace, str(sim.channel.id))
    await platform_of(sim).post(target, CARD, "post:1")
    for number in range(100):
        await sim.ada.writes(sim.channel, f"chatter {number}")
    later = DiscordPlatform(sim.app.bot, lambda: datetime.now(UTC) + timedelta(hours=40))
    assert await later.find(target, "post:1") is None


async def test_only_the_missing_messages_of_a_card_are_posted(sim: Simulated) -> None:
    target = Target(sim.workspace, str(sim.channel.id))
    count = len(bodies(LONG))
    assert count > 2
    first = platform_of(sim)
    ref = await first.post(target, LONG, "long:1")
    made = [one for one in sim.channel.seen() if said(one)]
    assert len(made) == count and ref == f"{sim.channel.id}/{made[0].id}"
    assert await platform_of(sim).find(target, "long:1") == ref

    await sim.app.bot.http.delete_message(sim.channel.id, made[1].id)
    sim.double.forget_nonces()
    second = platform_of(sim)
    assert await second.find(target, "long:1") is None, "one is missing"
    assert await second.post(target, LONG, "long:1") == ref
    assert len([one for one in sim.channel.seen() if said(one)]) == count
    assert await platform_of(sim).find(target, "long:1") == ref
    assert second._partial == {}


async def test_a_thread_is_started_once(sim: Simulated) -> None:
    post = await platform_of(sim).post(Target(sim.workspace, str(sim.channel.id)), CARD, "post:1")
    beneath = Target(sim.workspace, str(sim.channel.id), reply_to=post)
    one = await platform_of(sim).post(beneath, Card("The answer", "It."), "reveal:1")
    other = await platform_of(sim).post(beneath, Card("More", "More."), "more:1")
    (thread,) = sim.threads
    assert one.split("/")[0] == other.split("/")[0] == str(thread.id) == post.split("/")[1]
    assert await platform_of(sim).find(beneath, "reveal:1") == one


async def test_a_thread_is_named_by_its_target(sim: Simulated) -> None:
    post = await platform_of(sim).post(Target(sim.workspace, str(sim.channel.id)), CARD, "post:1")
    beneath = Target(sim.workspace, str(sim.channel.id), reply_to=post, thread="Monday 2 March · tensors")
    await platform_of(sim).post(beneath, Card("The answer", "It."), "reveal:1")
    (thread,) = sim.threads
    assert thread.name == "Monday 2 March · tensors"


async def test_a_broadcast_is_posted_in_the_channel_and_links_the_thread(sim: Simulated) -> None:
    here = Target(sim.workspace, str(sim.channel.id))
    post = await platform_of(sim).post(here, CARD, "post:1")
    everyone = replace(here, reply_to=post, broadcast=True)
    ref = await platform_of(sim).post(everyone, Card("Closed", "It is."), "outcome:1")
    (thread,) = sim.threads
    assert ref.split("/")[0] == str(sim.channel.id)
    shown = sim.last("Closed")
    links = [part["url"] for part in shown.parts if "url" in part]
    assert links == [f"https://discord.com/channels/{sim.workspace}/{thread.id}"]
    assert await platform_of(sim).find(everyone, "outcome:1") == ref


async def test_an_edit_replaces_the_message_which_is_still_found(sim: Simulated) -> None:
    here = Target(sim.workspace, str(sim.channel.id))
    ref = await platform_of(sim).post(here, CARD, "post:1")
    picture = Card("Changed", "It is.", (Picture(PNG, "A board"),), (Button("My result", "r:r1"),))
    await platform_of(sim).edit(here, picture, ref, "post:1")
    (shown,) = [one for one in sim.channel.seen() if said(one)]
    assert "Changed" in said(shown) and labels(shown) == ["My result"]
    (attachment,) = shown.body["attachments"]
    assert sim.double.files[attachment["id"]] == PNG
    assert await platform_of(sim).find(here, "post:1") == ref
    await sim.app.bot.http.delete_message(sim.channel.id, int(ref.split("/")[1]))
    with pytest.raises(DeliveryRefused):
        await platform_of(sim).edit(here, CARD, ref, "post:1")


async def test_without_a_thread_the_answer_quotes_its_question(sim: Simulated) -> None:
    post = await platform_of(sim).post(Target(sim.workspace, str(sim.channel.id)), CARD, "post:1")
    await sim.app.bot.http.delete_message(sim.channel.id, int(post.split("/")[1]))
    beneath = Target(sim.workspace, str(sim.channel.id), reply_to=post)
    ref = await platform_of(sim).post(beneath, Card("The answer", "It."), "reveal:1")
    assert ref.startswith(f"{sim.channel.id}/") and not sim.threads
    assert await platform_of(sim).find(beneath, "reveal:1") == ref


async def test_an_answer_whose_thread_is_locked_quotes_its_question(sim: Simulated) -> None:
    post = await platform_of(sim).post(Target(sim.workspace, str(sim.channel.id)), CARD, "post:1")
    beneath = Target(sim.workspace, str(sim.channel.id), reply_to=post)
    await platform_of(sim).post(beneath, Card("More", "More."), "more:1")
    (thread,) = sim.threads
    thread.locked = True
    ref = await platform_of(sim).post(beneath, Card("The answer", "It."), "reveal:1")
    assert ref.startswith(f"{sim.channel.id}/") and len(thread.messages) == 1
    assert await platform_of(sim).find(beneath, "reveal:1") == ref


async def test_a_private_note_goes_to_the_member(sim: Simulated) -> None:
    target = Target(sim.workspace, str(sim.channel.id), member=str(sim.ada.id))
    ref = await platform_of(sim).post(target, CARD, "note:1")
    (alone,) = sim.ada.alone
    assert ref == alone.ref
    assert await platform_of(sim).find(target, "note:1") == ref


async def test_pictures_are_attached(sim: Simulated) -> None:
    card = Card("The board", "A board.", (Text("See:"), Picture(PNG, "Ada leads with 9 points")))
    await platform_of(sim).post(Target(sim.workspace, str(sim.channel.id)), card, "board:1")
    post = sim.last("The board")
    (attachment,) = post.body["attachments"]
    assert attachment["description"] == "Ada leads with 9 points"
    assert sim.double.files[attachment["id"]] == PNG


async def test_a_forbidden_channel_names_the_fix_to_the_admins(sim: Simulated) -> None:
    """The admins' notice cannot be posted there either, so it goes to the server's owner."""
    shut = await sim.opened_channel("shut", BOT_NEEDS & ~SEND)
    with pytest.raises(DeliveryRefused, match=r"is not allowed to post there: open Server Settings"):
        await platform_of(sim).post(Target(sim.workspace, str(shut.id)), CARD, "post:1")
    notice = Card("The daily question could not be posted", "Why.", (Text("Cure."),))
    await platform_of(sim).post(Target(sim.workspace, str(shut.id), for_admins=True), notice, "gave-up:1")
    assert "could not be posted" in said(sim.owner.alone[-1])


async def test_the_owner_learns_that_a_question_cannot_be_posted(sim: Simulated) -> None:
    """The admin who made the schedule has left the server."""
    sim.channel = await sim.opened_channel("quiet", BOT_NEEDS & ~SEND)
    await sim.starts("one-right")
    told = "\n".join(map(said, sim.owner.alone))
    assert "The daily question cannot be posted" in told and "Send Messages" in told


@pytest.mark.parametrize(
    ("channel", "said"),
    [("999", "the channel was deleted"), ("general", "is not a Discord channel id")],
)
async def test_a_missing_channel_is_refused(sim: Simulated, channel: str, said: str) -> None:
    with pytest.raises(DeliveryRefused, match=said):
        await platform_of(sim).post(Target(sim.workspace, channel), CARD, "post:1")


class Answered:
    """The part of a response that discord.py's errors read."""

    def __init__(self, status: int, wait: str) -> None:
        self.status, self.reason, self.headers = status, "Because", {"Retry-After": wait}


def error_of(status: int, code: int = 0, wait: str = "") -> discord.HTTPException:
    kind = {403: discord.Forbidden, 404: discord.NotFound, 500: discord.DiscordServerError}
    made: Any = kind.get(status, discord.HTTPException)
    error: discord.HTTPException = made(Answered(status, wait), {"code": code, "message": "No"})
    return error


@pytest.mark.parametrize("code", [10003, 10004, 10008, 50001, 50007, 50013, 50278])
def test_permanent_errors_name_a_fix(code: int) -> None:
    verdict = classify_error(error_of(403 if code >= 50000 else 404, code))
    assert isinstance(verdict, DeliveryRefused) and f"({code})" in str(verdict) and ": " in str(verdict)
    assert "doctor" not in str(verdict)


def test_rate_limits_say_when_to_retry() -> None:
    verdict = classify_error(error_of(429, wait="3.5"))
    assert isinstance(verdict, DeliveryDelayed) and verdict.seconds == 3.5
    assert isinstance(classify_error(error_of(400, 20028)), DeliveryDelayed), "slow mode"
    assert isinstance(classify_error(error_of(401)), DeliveryDelayed), "the token is being changed"
    assert isinstance(classify_error(error_of(403)), DeliveryDelayed), "something before Discord"


def test_uncertain_errors_are_passed_on() -> None:
    for error in (error_of(500), TimeoutError(), OSError(104, "reset")):
        assert classify_error(error) is error


@given(st.text(min_size=1, max_size=300))
def test_nonces_are_short_and_unique(key: str) -> None:
    assert len(nonce_of(key)) == 24 and nonce_of(key) != nonce_of(key + "x")
    first, second = component_ids(key, 3)
    assert 0 < first < 2**31 and 0 < second < 2**31 and first != second


@pytest.mark.parametrize("count", [1, 2, 3, 40])
def test_every_message_of_a_card_is_recognized(count: int) -> None:
    marks = KeyMatcher("post:1")
    body = bodies(CARD)[0]
    for number, part in enumerate(part_keys("post:1", count), start=1):
        assert marks.read(with_key(body, part, count)) == (number, count)
    assert marks.read(with_key(body, "post:2")) is None
    assert marks.read({"components": []}) is None and marks.read({}) is None
