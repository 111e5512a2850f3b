"""Benchmark: five hundred members play a sprint on Discord and on Slack, and `kill -9` of every process in the middle.

`python -m tests.bench.bench_sprint [--members 500] [--questions 4] [--seconds 60]`. The service, the worker and the bot
are processes of their own, and each is killed once while members press. Exit status 1 if an answer is lost, counted
twice or after the bell, or if a message is missing, doubled or wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import secrets
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import SecretStr

from bot.slack.manifest import app_manifest
from service.wire import Installation, Where
from tests.bench import rounds
from tests.bench.live_sprint import (
    PATIENCE_S,
    LiveSprint,
    Outcome,
    Parts,
    SprintPlan,
    SprintReport,
    read_outcome,
    replied,
    table,
)
from tests.chaos.members import letter_of
from tests.doubles.discord.people import Impossible
from tests.doubles.discord.world import Member, Message
from tests.doubles.slack import oracle
from tests.doubles.slack.delivery import Delivery
from tests.doubles.slack.double import SlackDouble, slack_double
from tests.doubles.slack.surfaces import Message as SlackMessage
from tests.doubles.slack.surfaces import Shown
from tests.doubles.slack.world import Channel, Team, User
from tests.faults.backend import Backend, Bot, Bots, backend_running, boss_of
from tests.faults.discord_faults import Team as Guild
from tests.faults.discord_faults import team_ready
from tests.machine import free_port


@dataclass
class OnDiscord:
    """A channel on Discord."""

    team: Guild
    people: list[Member]
    name: str = "Discord"

    async def start_bot(self, bots: Bots) -> Bot:
        return await self.team.starts()

    def _messages(self) -> list[Message]:
        return self.team.daily.seen()

    def messages(self) -> list[str]:
        return [one.text for one in self._messages()]

    async def until(self, found: Callable[[], bool], what: str) -> None:
        await self.team.until(found, what, PATIENCE_S)

    async def open_card(self, member: int, question: str) -> object | None:
        post = next(one for one in self._messages() if question in one.text)
        if "Answer" not in post.buttons:
            return None
        opened = await self.team.double.press(self.people[member], post, post.buttons["Answer"])
        came = await replied(lambda: opened.settled, lambda: opened.answer is not None)
        return opened.original if came else None

    async def choose(self, member: int, card: object, option: str, twice: bool) -> Outcome:
        assert isinstance(card, Message)
        letter = letter_of(card.text, option)
        wanted = next((id_ for label, id_ in card.buttons.items() if label.split(" ")[0] == letter), None)
        if wanted is None:
            return "unknown"
        try:
            pressed = await self.team.double.press(self.people[member], card, wanted)
            if twice:
                await self.team.double.again(pressed)
        except Impossible:
            return "unknown"

        def said() -> Outcome:
            shown = [*reversed(pressed.messages)]
            if pressed.settled and pressed.original is not None:
                shown.append(pressed.original)
            return next((found for one in shown if (found := read_outcome(one.text)) != "unknown"), "unknown")

        await replied(lambda: said() != "unknown", lambda: pressed.answer is not None)
        return said()

    def edits(self, question: str) -> int:
        post = next(one for one in self._messages() if question in one.text)
        return len(self.team.double.log.of("edited", ref=post.ref))

    def refused_posts(self) -> int:
        refused = self.team.double.log.of("request", status=429)
        return sum(one["route"].split("/")[1] == "channels" for one in refused)

    def members_by_id(self) -> dict[str, int]:
        return {str(person.id): number for number, person in enumerate(self.people)}


@dataclass
class OnSlack:
    """A channel on Slack, whose bot is reached by signed HTTP."""

    slack: SlackDouble
    team: Team
    daily: Channel
    people: list[User]
    port: int
    name: str = "Slack"
    cards: dict[str, Shown] = field(default_factory=dict)

    async def start_bot(self, bots: Bots) -> Bot:
        bot = await bots.start("bot", "slack", **self.slack.environment(), DAILYGRAD_SLACK_PORT=str(self.port))
        await bot.says("requests on port")
        return bot

    def _messages(self) -> list[SlackMessage]:
        return self.slack.world.messages(self.daily)

    def messages(self) -> list[str]:
        return [one.words for one in self._messages() if one.bot_id]

    async def until(self, found: Callable[[], bool], what: str) -> None:
        await self.slack.until(found, PATIENCE_S, what)

    async def open_card(self, member: int, question: str) -> object | None:
        post = next(one for one in self._messages() if question in one.words)
        if "Answer" not in post.labels:
            return None
        user, before = self.people[member], len(self.slack.world.ephemerals)
        for view in self.slack.world.stack(user):
            view.open = False  # a reply to an earlier press
        if not (await self.slack.click(user, post, "Answer")).acked:
            return None

        def card() -> Shown | None:
            new = (one for one in self.slack.world.ephemerals[before:] if one.user == user.id)
            return next((one for one in (*new, *self.slack.world.stack(user)) if _label(one, "A")), None)

        await replied(lambda: card() is not None, lambda: True)
        return card()

    async def choose(self, member: int, card: object, option: str, twice: bool) -> Outcome:
        assert isinstance(card, Shown)
        user, before = self.people[member], len(self.slack.world.ephemerals)
        label = _label(card, letter_of(card.words, option))
        if label is None:
            return "unknown"
        sent = await self.slack.click(user, card, label)
        if twice:
            await self.slack.post.deliver(Delivery(secrets.token_hex(6), sent.kind, sent.payload, sent.user))
        if not sent.acked:
            return "unknown"

        def said() -> Outcome:
            new = [one for one in self.slack.world.ephemerals[before:] if one.user == user.id]
            shown = (card, *new, *self.slack.world.stack(user))  # a view, if the reply took a while
            return next((found for one in shown if (found := read_outcome(one.words)) != "unknown"), "unknown")

        await replied(lambda: said() != "unknown", lambda: True)
        return said()

    def edits(self, question: str) -> int:
        post = next(one for one in self._messages() if question in one.words)
        return post.edited

    def refused_posts(self) -> int:
        return sum(one["method"].startswith("chat.") for one in self.slack.log.of("limited"))

    def members_by_id(self) -> dict[str, int]:
        return {user.id: number for number, user in enumerate(self.people)}


def _label(card: Shown, letter: str | None) -> str | None:
    """Returns the label of the option with this letter, which may say that it is the member's answer."""
    return next((label for label in card.labels if label.split(" ")[0] == letter), None)


async def on_discord(near: Backend, folder: Path, plan: SprintPlan) -> SprintReport:
    """Plays a sprint on Discord. `near` is a service in this process, which prepares everything and never ticks."""
    port = free_port()
    backend = replace(near, url=f"http://127.0.0.1:{port}")
    bots = Bots(backend, folder)
    async with team_ready(backend, bots, many=plan.questions + 5, check_every=25) as team:
        room = OnDiscord(team, [team.guild.member(f"Member {number:03}") for number in range(plan.members)])
        parts = Parts(bots, room, near.database_url, port)
        report = await LiveSprint(room, parts, plan, near.client, team.boss, team.where(team.daily)).play()
        return replace(report, wrong=[*report.wrong, *map(str, team.double.violations)])


async def on_slack(near: Backend, folder: Path, plan: SprintPlan) -> SprintReport:
    """Plays a sprint on Slack. `near` is a service in this process, which prepares everything and never ticks."""
    port, bot_port = free_port(), free_port()
    bots = Bots(replace(near, url=f"http://127.0.0.1:{port}"), folder)
    async with slack_double(manifest=app_manifest("https://quiz.example.org")) as slack:
        slack.world.check_every = 25
        slack.by_http(f"http://127.0.0.1:{bot_port}")
        team = slack.team("sprint")
        people = [slack.user(team, f"Member {number:03}") for number in range(plan.members)]
        chief = slack.user(team, "Boss", admin=True)
        daily = slack.channel(team, "daily", chief, *people)
        token = SecretStr(slack.bot_token(team))
        await near.client.installation_keep(
            Installation(platform="slack", team=team.id, token=token, bot_id=team.bot_id, bot_user=team.bot.id)
        )
        where, boss = Where(channel=daily.id, name="#daily"), boss_of("slack", team.id, chief.id)
        await near.client.join(boss, where)
        await near.import_many(boss, plan.questions + 5)
        room = OnSlack(slack, team, daily, people, bot_port)
        try:
            parts = Parts(bots, room, near.database_url, port)
            report = await LiveSprint(room, parts, plan, near.client, boss, where).play()
        finally:
            await bots.clear()
        # A trigger can expire on a slow machine; a press that is not acknowledged is repeated.
        broken = [str(one.facts) for one in oracle.violations(slack.log) if one["error"] != "expired_trigger_id"]
        return replace(report, wrong=[*report.wrong, *broken])


async def _run(url: str, plan: SprintPlan, chat: str) -> SprintReport:
    with tempfile.TemporaryDirectory(prefix="dailygrad-sprint-") as folder:
        async with backend_running(url) as near:
            return await (on_discord if chat == "discord" else on_slack)(near, Path(folder), plan)


def main() -> None:
    """Runs the command and prints the table."""
    asked = argparse.ArgumentParser(description="Members who play a sprint while every process is killed.")
    asked.add_argument("--members", type=int, default=500)
    asked.add_argument("--questions", type=int, default=4)
    asked.add_argument("--seconds", type=int, default=60)
    asked.add_argument("--chat", choices=("discord", "slack"), action="append")
    given = asked.parse_args()
    plan = SprintPlan(given.members, given.questions, given.seconds)
    reports = []
    for chat in given.chat or ("discord", "slack"):
        with rounds.database() as url:
            reports.append(asyncio.run(_run(url, plan, chat)))
    print(table(reports))
    for report in reports:
        for line in report.wrong[:20]:
            print(f"{report.chat}: {line}")
    raise SystemExit(1 if any(report.wrong for report in reports) else 0)


if __name__ == "__main__":
    main()
