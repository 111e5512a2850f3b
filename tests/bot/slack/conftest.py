"""A workspace in the Slack double with the bot, the real service, and a bank with every kind of question."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field
from datetime import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from bot.slack.app import serve
from bot.slack.manifest import app_manifest
from bot.slack.settings import SlackSettings
from service.app import Service
from service.client import ServiceClient
from service.wire import ScheduleSpec, Where, Who
from tests.bot.conftest import BANK, QUESTIONS
from tests.bot.slack.transcript import Transcript
from tests.conftest import MONDAY, Clock
from tests.doubles.slack.double import SlackDouble, slack_double
from tests.doubles.slack.payloads import Value
from tests.doubles.slack.surfaces import Message, Shown, View, feedback_labels, words_of
from tests.doubles.slack.world import Channel, Team, User

_numbers = count(1)


def said(shown: Shown) -> str:
    """Returns the text of a message or view, with buttons in brackets and labels of fields."""
    title = [f"[ {shown.title} ]"] if isinstance(shown, View) else []
    lines = []
    for block in shown.blocks:
        if block["type"] == "actions":
            lines.append("   ".join(f"[{part['text']['text']}]" for part in block["elements"]))
        elif block["type"] == "context_actions":
            lines.append("   ".join(f"[{label}]" for label in feedback_labels(block)))
        elif block["type"] == "input":
            element = block["element"]
            options = [f"  ( ) {option['text']['text']}" for option in element.get("options", ())]
            lines += [f"{block['label']['text']}:", *(options or ["  ________"])]
        elif block["type"] == "image":
            lines.append(f"<picture: {block['alt_text']}>")
        else:
            lines.append(words_of([block]))
    return "\n".join([*title, *lines])


@dataclass
class Workspace:
    """A workspace of the double with its members; `boss` is an admin."""

    slack: SlackDouble
    team: Team
    boss: User
    ann: User
    bob: User
    daily: Channel
    client: ServiceClient
    service: Service
    moving: Clock
    settings: SlackSettings
    transcript: Transcript
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Starts the bot."""
        self.stop = asyncio.Event()
        self.running = asyncio.create_task(serve(self.settings, self.client, self.moving, self.stop))
        await self.slack.connected()

    async def end(self) -> None:
        """Stops the bot and lets it drain."""
        assert self.running is not None
        self.stop.set()
        await self.running

    async def die(self) -> None:
        """Stops the bot at once, as a crash would."""
        assert self.running is not None
        self.running.cancel()
        await asyncio.gather(self.running, return_exceptions=True)

    def who(self, user: User) -> Who:
        return Who(platform="slack", workspace=self.team.id, member=user.id, name=user.name, admin=user.admin)

    @property
    def where(self) -> Where:
        return Where(channel=self.daily.id, name="#daily")

    async def only(self, question: str) -> None:
        """Retires every other question."""
        for other in QUESTIONS:
            await self.client.bank_retire(self.who(self.boss), fresh(), other, other != question)

    async def opens(self, question: str) -> Message:
        """Posts a question at 10:00 in Berlin, open until 17:00; returns the post."""
        await self.only(question)
        spec = ScheduleSpec(at=time(10), zone="Europe/Berlin", open_minutes=7 * 60)
        await self.client.schedule_add(self.who(self.boss), fresh(), self.where, spec)
        self.moving.now = MONDAY.replace(hour=9)
        await self.works()
        post = await self.slack.sees(self.ann, "Question for")
        assert isinstance(post, Message)
        return post

    async def closes(self) -> Message:
        """Closes the round; returns its reveal."""
        self.moving.advance(hours=7)
        await self.works()
        # The line in the channel says "The answer: …".
        reveal = await self.slack.sees(self.ann, "The answer\n")
        assert isinstance(reveal, Message)
        return reveal

    async def works(self) -> None:
        await self.service.tick()
        await self.service.jobs.run_pending()

    async def delivered(self) -> None:
        """Waits until the service has recorded every message that is due as sent."""
        left = "select 1 from outbox where state in ('due', 'sending') and not_before <= :now"
        async with self.service.sessions() as session:
            for _ in range(1200):
                if await session.scalar(text(f"{left} limit 1"), {"now": self.moving.now}) is None:
                    return
                await session.execute(text("select pg_sleep(0.05)"))
        raise AssertionError(f"a message was not sent: {self.slack.log.tail()}")

    async def types(self, user: User, line: str, words: str) -> Shown:
        """Types a command in the channel; returns the new message with these words."""
        self.transcript.did(user, f"types `{line}`")
        before = self.looks(user)
        name, _, text = line.partition(" ")
        sent = await self.slack.slash(user, self.daily, name, text)
        assert sent.acked
        return await self.sees(user, words, before)

    async def presses(
        self, user: User, shown: Shown, label: str, words: str, values: Mapping[str, Value] | None = None
    ) -> Shown:
        """Clicks a button by label or action; returns the new message or view with these words."""
        self.transcript.did(user, f"presses `[{shown.control(label).label}]`{_filled(shown, values)}")
        before = self.looks(user)
        sent = await self.slack.click(user, shown, label, values=values)
        assert sent.acked
        return await self.sees(user, words, before)

    async def fills(self, user: User, values: Mapping[str, Value], words: str) -> Shown:
        """Submits the top view; returns the new message or view with these words."""
        self.transcript.did(user, f"submits{_filled(self.slack.modal(user), values)}")
        before = self.looks(user)
        sent = await self.slack.submit_view(user, values)
        assert sent.acked
        return await self.sees(user, words, before)

    def looks(self, user: User) -> set[tuple[int, str]]:
        """Returns everything the user sees now, to recognize what is new."""
        return {_look(one) for one in self.slack.seen(user)}

    async def sees(self, user: User, words: str, before: Collection[tuple[int, str]] = ()) -> Shown:
        """Waits until the user sees something new with these words."""

        def found() -> Shown | None:
            news = (one for one in reversed(self.slack.seen(user)) if words in f"{said(one)}\n{one.words}")
            return next((one for one in news if _look(one) not in before), None)

        shown = await self.slack.until(found, what=f"{words!r}")
        assert shown is not None
        self.transcript.saw(user, self.team, shown)
        return shown

    def last(self, user: User) -> Shown:
        """Returns the user's newest private message."""
        return self.slack.private(user)[-1]


def _look(shown: Shown) -> tuple[int, str]:
    return id(shown), json.dumps(shown.blocks)


def _filled(shown: Shown, values: Mapping[str, Value] | None) -> str:
    """Returns what a person filled in, as Markdown."""
    texts = [_typed(shown.fields[name].element, value) for name, value in (values or {}).items()]
    if any("\n" in text for text in texts):
        return "".join(f"\n\n```\n{text.rstrip()}\n```" for text in texts)
    return "".join(f" `{text}`" for text in texts)


def _typed(element: Mapping[str, Any], value: Value) -> str:
    labels = {option["value"]: option["text"]["text"] for option in element.get("options", ())}
    picked = value if isinstance(value, list) else [value]
    return ", ".join(labels.get(one, one) if isinstance(one, str) else str(one and one["name"]) for one in picked)


def fresh() -> str:
    return f"test-{next(_numbers)}"


@pytest.fixture
def deadline_s() -> float:
    """Time the double gives a reply, seconds: more than Slack's three, so that a slow machine breaks no test."""
    return 120.0


@pytest.fixture
async def slack(deadline_s: float) -> AsyncIterator[SlackDouble]:
    """A running Slack double with our manifest."""
    async with slack_double(manifest=app_manifest(), deadline_s=deadline_s) as double:
        yield double


@pytest.fixture
def view_wait_s() -> float:
    """Time before a waiting view is opened, seconds: long, so that a slow machine does not change what members see."""
    return 60.0


@pytest.fixture
async def workspace(
    slack: SlackDouble,
    client: ServiceClient,
    service: Service,
    clock: Clock,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    view_wait_s: float,
) -> AsyncIterator[Workspace]:
    """A workspace with the running bot and an imported bank."""
    team = slack.team()
    boss, ann, bob = slack.user(team, "Boss", admin=True), slack.user(team, "Ann"), slack.user(team, "Bob")
    daily = slack.channel(team, "daily", boss, ann, bob)
    # More than a setting may be: Slack's triggers live three seconds.
    settings = settings_of(slack.environment(team), tmp_path).model_copy(update={"view_wait_s": view_wait_s})
    name = request.node.name.removeprefix("test_")
    scene = Workspace(slack, team, boss, ann, bob, daily, client, service, clock, settings, Transcript(name))
    view = await client.bank_import(scene.who(boss), fresh(), BANK.name, BANK.read_text(encoding="utf-8"), True)
    assert view.applied, view.findings
    await scene.start()
    yield scene
    await scene.end()
    scene.transcript.write()
    slack.must_be_well()


def settings_of(environment: Mapping[str, str], data: Path, **more: Any) -> SlackSettings:
    """Returns settings as read from the environment, with a ping interval that no slow machine misses."""
    return SlackSettings.model_validate({**environment, "DAILYGRAD_DATA": data, "DAILYGRAD_SLACK_PING_S": 120, **more})
